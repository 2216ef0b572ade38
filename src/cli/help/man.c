/* The man page: the same table in troff. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/help/help.h"
#include "cli/help/option_spelling.h"
#include "cli/help/text_width.h"

/* Characters that mean something to troff are escaped; what is not ASCII is named by its code point, so
 * that the page does not depend on an encoding. */
static void put_character(FILE *out, uint32_t character) {
    switch (character) {
    case '\\': fputs("\\e", out); return;
    case '-': fputs("\\-", out); return;
    case '\'': fputs("\\(aq", out); return;
    case '"': fputs("\\(dq", out); return;
    case '`': fputs("\\(ga", out); return;
    case '^': fputs("\\(ha", out); return;
    case '~': fputs("\\(ti", out); return;
    default: break;
    }
    if (character < 0x80)
        fputc((int)character, out);
    else
        fprintf(out, "\\[u%04X]", (unsigned)character);
}

/* Text in a paragraph: an empty line becomes a new paragraph, and no line begins with a control
 * character. */
static void put_text(FILE *out, const char *text) {
    size_t length;
    char help[TACIT_HELP_TEXT];
    text = tacit_help_text(text, help);
    for (uint32_t character; (character = tacit_text_character(text, &length)), length > 0; text += length) {
        if (character == '\n' && text[1] == '\n') {
            fputs("\n.PP\n", out);
            text++;
        } else {
            put_character(out, character);
        }
    }
}

static void put_paragraph(FILE *out, const char *text) {
    if (text[0] == '.') fputs("\\&", out);
    put_text(out, text);
    fputc('\n', out);
}

static void put_example(FILE *out, const tacit_example *example) {
    fputs(".PP\n", out);
    put_paragraph(out, example->text);
    fputs(".PP\n.RS 4\n.EX\n", out);
    put_paragraph(out, example->command);
    fputs(".EE\n.RE\n", out);
}

static void put_option(FILE *out, const tacit_option *option) {
    fputs(".TP 10\n\\fB\\-\\-", out);
    put_text(out, option->name);
    fputs("\\fP", out);
    if (option->placeholder != NULL) {
        fputs(" \\fI", out);
        put_text(out, option->placeholder);
        fputs("\\fP", out);
    }
    fputc('\n', out);
    put_text(out, option->help);
    if (option->fallback != NULL) {
        fputs(" (default: ", out);
        put_text(out, option->fallback);
        fputc(')', out);
    }
    fputs(option->rules & TACIT_RULE_REQUIRED ? " (required)\n" : "\n", out);
}

/* The usage flows like text: troff breaks the line where it must, never inside "--flag VALUE". */
static void put_usage(FILE *out, const tacit_command *command) {
    char *usage = NULL;
    size_t size = 0;
    FILE *lines = open_memstream(&usage, &size);
    if (lines == NULL) return;
    tacit_wrap wrap = { lines, 0, 0, 0, false }; /* width 0: one token a line */
    if (command->usage == NULL) tacit_help_usage(&wrap, command);
    for (size_t i = 0; command->usage != NULL && command->usage[i] != NULL; i++)
        fprintf(lines, "%s%s", i == 0 ? "" : "\n|\n", command->usage[i]);
    if (fclose(lines) == 0) {
        fprintf(out, ".HP 4\n\\fBtacit %s\\fP", command->name);
        char *rest = usage;
        for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
            /* The zero-width mark keeps troff from seeing the end of a sentence in "...". */
            fputs(line[0] == 0 ? "" : "\n", out);
            for (char *space; command->usage == NULL && (space = strchr(line, ' ')) != NULL;) {
                *space = 0;
                put_text(out, line);
                fputs("\\ ", out);
                line = space + 1;
            }
            put_text(out, line);
            fputs(line[0] == 0 ? "" : "\\&", out);
        }
        fputc('\n', out);
    }
    free(usage);
}

static void put_command(FILE *out, const tacit_command *command) {
    fprintf(out, ".SS tacit %s\n", command->name);
    put_paragraph(out, command->summary);
    put_usage(out, command);
    if (command->description != NULL) {
        fputs(".PP\n", out);
        put_paragraph(out, command->description);
    }
    for (const tacit_operand *operand = command->operands; operand != NULL && operand->name != NULL;
         operand++) {
        fprintf(out, ".TP 10\n\\fI%s\\fP\n", operand->name);
        put_paragraph(out, operand->help);
    }
    for (const tacit_option *option = command->options; option != NULL && option->name != NULL; option++)
        put_option(out, option);
    for (const tacit_example *example = command->examples; example->text != NULL; example++)
        put_example(out, example);
}

static void put_exit_status(FILE *out) {
    static const char *const meaning[] = { "done", "failed", "wrong use of the command line",
                                           "refused by budget, consent or policy" };
    fputs(".SH EXIT STATUS\n", out);
    for (int i = 0; i < 4; i++) fprintf(out, ".TP\n%d\n%s\n", i, meaning[i]);
}

static void put_environment(FILE *out) {
    static const char *const variables[][2] = {
        { "TACIT_HOME", "where ledger, keys and studies live; without it the XDG directories of the user" },
        { "TACIT_DATA", "the folder with the data sets of 'tacit reproduce'" },
        { "HTTPS_PROXY, NO_PROXY",
          "the HTTP proxy through which a coordinator is reached, unless --proxy says another, and the hosts "
          "that are reached without it; a loopback address is too" },
        { "COLUMNS", "the width that help is wrapped to; without it that of the terminal" },
    };
    fputs(".SH ENVIRONMENT\n", out);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        fprintf(out, ".TP\n.B %s\n", variables[i][0]);
        put_paragraph(out, variables[i][1]);
    }
}

/* The date that whoever packages the program wants it to bear (SOURCE_DATE_EPOCH), or none: two builds of the
 * same source give the same page. */
static void put_date(FILE *out) {
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    char *end = NULL, date[sizeof "2000-01-01"];
    errno = 0;
    long long seconds = epoch == NULL ? -1 : strtoll(epoch, &end, 10);
    time_t when = (time_t)seconds;
    struct tm parts;
    if (seconds < 0 || errno != 0 || *end != 0 || gmtime_r(&when, &parts) == NULL) return;
    if (strftime(date, sizeof date, "%Y-%m-%d", &parts) > 0) fputs(date, out);
}

void tacit_help_man(FILE *out, const tacit_command *const *commands, const char *version) {
    fputs(".TH TACIT 1 \"", out);
    put_date(out);
    fprintf(out, "\" \"Tacit %s\" \"User Commands\"\n", version);
    fputs(".SH NAME\ntacit \\- train one model together while the data stay where they are\n", out);
    fputs(".SH SYNOPSIS\n\\fBtacit\\fP \\fICOMMAND\\fP [\\fIARGUMENTS\\fP] [\\fIOPTIONS\\fP]\n", out);
    fputs(".SH DESCRIPTION\n", out);
    put_paragraph(out, tacit_about);
    fputs(".SH OPTIONS OF EVERY COMMAND\n", out);
    for (const tacit_option *option = tacit_common_options; option->name != NULL; option++)
        put_option(out, option);
    fputs(".SH COMMANDS\n", out);
    for (; *commands != NULL; commands++) put_command(out, *commands);
    put_exit_status(out);
    put_environment(out);
}
