#include "cli/help/help.h"

#include <string.h>

#include "cli/help/option_spelling.h"
#include "cli/help/text_width.h"

static void print_heading(tacit_page page, const char *text) {
    fprintf(page.out, "%s%s%s\n", page.bold ? "\033[1m" : "", text, page.bold ? "\033[0m" : "");
}

static void print_paragraphs(tacit_page page, const char *text, unsigned indent) {
    fprintf(page.out, "%*s", (int)indent, "");
    tacit_wrap wrap = { page.out, page.width, indent, indent, false };
    char help[TACIT_HELP_TEXT];
    tacit_wrap_text(&wrap, tacit_help_text(text, help));
    fputc('\n', page.out);
}

/* A term and its explanation, which starts at column `indent`. */
static tacit_wrap start_entry(tacit_page page, const char *term, unsigned indent) {
    tacit_wrap wrap = { page.out, page.width, indent, indent, false };
    size_t width = 2 + tacit_text_width(term);
    fprintf(page.out, "  %s", term);
    if (width + 2 > indent)
        tacit_wrap_break(&wrap, 1);
    else
        fprintf(page.out, "%*s", (int)(indent - width), "");
    return wrap;
}

void tacit_help_entry(tacit_page page, const char *term, unsigned column, const char *text) {
    tacit_wrap wrap = start_entry(page, term, column);
    tacit_wrap_text(&wrap, text);
    fputc('\n', page.out);
}

static const char *option_term(const tacit_option *option, char *out, size_t size) {
    bool plain = option->placeholder == NULL;
    snprintf(out, size, "--%s%s%s", option->name, plain ? "" : " ", plain ? "" : option->placeholder);
    return out;
}

static const char *operand_term(const tacit_operand *operand, char *out, size_t size) {
    snprintf(out, size, "%s%s%s%s", operand->least == 0 ? "[" : "", operand->name,
             operand->most > 1 ? "..." : "", operand->least == 0 ? "]" : "");
    return out;
}

/* A term that takes more than a third of the line has its explanation below it, not beside it. */
static void widen(unsigned *widest, const char *term, tacit_page page) {
    size_t width = tacit_text_width(term);
    if (width > *widest && width <= page.width / 3) *widest = (unsigned)width;
}

/* All lists of one page share a column. */
static unsigned help_column(tacit_page page, const tacit_command *command) {
    unsigned widest = 8;
    char term[128];
    for (const tacit_operand *operand = command->operands; operand != NULL && operand->name != NULL;
         operand++)
        widen(&widest, operand->name, page);
    for (const tacit_option *option = command->options; option != NULL && option->name != NULL; option++)
        widen(&widest, option_term(option, term, sizeof term), page);
    return widest + 4;
}

void tacit_help_usage(tacit_wrap *wrap, const tacit_command *command) {
    char term[128];
    for (const tacit_operand *operand = command->operands; operand != NULL && operand->name != NULL;
         operand++)
        tacit_wrap_token(wrap, "%s", operand_term(operand, term, sizeof term));
    for (int required = 1; required >= 0; required--) {
        const tacit_option *option = command->options;
        for (; option != NULL && option->name != NULL; option++) {
            if ((option->rules & TACIT_RULE_REQUIRED) != (unsigned)required) continue;
            bool many = option->kind == TACIT_OPTION_SETTING || option->rules & TACIT_RULE_REPEATED;
            option_term(option, term, sizeof term);
            tacit_wrap_token(wrap, "%s%s%s%s", required ? "" : "[", term, required ? "" : "]",
                             many ? "..." : "");
        }
    }
}

static void print_usage(tacit_page page, const tacit_command *command) {
    print_heading(page, "Usage");
    for (size_t i = 0; i == 0 || (command->usage != NULL && command->usage[i] != NULL); i++) {
        unsigned start = (unsigned)strlen("  tacit ") + (unsigned)strlen(command->name);
        fprintf(page.out, "  tacit %s", command->name);
        tacit_wrap wrap = { page.out, page.width, start + 1, start, true };
        if (command->usage != NULL)
            tacit_wrap_text(&wrap, command->usage[i]);
        else
            tacit_help_usage(&wrap, command);
        fputc('\n', page.out);
    }
}

static void print_operands(tacit_page page, const tacit_command *command, unsigned column) {
    if (command->operands == NULL) return;
    fputc('\n', page.out);
    print_heading(page, "Arguments");
    for (const tacit_operand *operand = command->operands; operand->name != NULL; operand++) {
        char help[TACIT_HELP_TEXT];
        tacit_help_entry(page, operand->name, column, tacit_help_text(operand->help, help));
    }
}

static void print_options(tacit_page page, const char *heading, const tacit_option *options,
                          unsigned column) {
    if (options == NULL) return;
    fputc('\n', page.out);
    print_heading(page, heading);
    for (const tacit_option *option = options; option->name != NULL; option++) {
        char term[128], help[TACIT_HELP_TEXT];
        tacit_wrap wrap = start_entry(page, option_term(option, term, sizeof term), column);
        tacit_wrap_text(&wrap, tacit_help_text(option->help, help));
        if (option->fallback != NULL) tacit_wrap_token(&wrap, "(default: %s)", option->fallback);
        if (option->rules & TACIT_RULE_REQUIRED) tacit_wrap_token(&wrap, "(required)");
        fputc('\n', page.out);
    }
}

void tacit_help_command(tacit_page page, const tacit_command *command) {
    fprintf(page.out, "tacit %s: %s\n\n", command->name, command->summary);
    print_usage(page, command);
    if (command->description != NULL) {
        fputc('\n', page.out);
        print_paragraphs(page, command->description, 0);
    }
    unsigned column = help_column(page, command);
    print_operands(page, command, column);
    print_options(page, "Options", command->options, column);
    print_options(page, "Options of every command", tacit_common_options, column);
    fputc('\n', page.out);
    print_heading(page, command->examples[1].text != NULL ? "Examples" : "Example");
    for (const tacit_example *example = command->examples; example->text != NULL; example++) {
        if (example != command->examples) fputc('\n', page.out);
        print_paragraphs(page, example->text, 2);
        /* Not wrapped: what is pasted must be one line. */
        fprintf(page.out, "    %s\n", example->command);
    }
}

/* The list of commands; with a word, only those that begin with it. */
static void print_commands(tacit_page page, const tacit_command *const *commands, const char *word) {
    unsigned widest = 8;
    const char *section = NULL;
    for (size_t i = 0; commands[i] != NULL; i++) widen(&widest, commands[i]->name, page);
    for (size_t i = 0; commands[i] != NULL; i++) {
        const char *name = commands[i]->name;
        if (word != NULL && !tacit_command_starts_with(name, word)) continue;
        if (word == NULL && (section == NULL || strcmp(section, commands[i]->section) != 0)) {
            section = commands[i]->section;
            fputc('\n', page.out);
            print_heading(page, section);
        }
        tacit_wrap wrap = start_entry(page, name, widest + 4);
        tacit_wrap_text(&wrap, commands[i]->summary);
        fputc('\n', page.out);
    }
}

const char tacit_about[] =
    "Tacit trains one model over the data of many parties while the data stay where they are. Every number "
    "that leaves a party is priced against that party's privacy budget, sealed by cryptography, or, where "
    "the owner allows it, entrusted to a named coordinator.";

void tacit_help_overview(tacit_page page, const tacit_command *const *commands) {
    fputs("Usage: tacit COMMAND [ARGUMENTS] [OPTIONS]\n\n", page.out);
    print_paragraphs(page, tacit_about, 0);
    print_commands(page, commands, NULL);
    fputs("\n'tacit COMMAND --help' explains a command and shows an example.\n", page.out);
}

bool tacit_help_is_group(const tacit_command *const *commands, const char *word) {
    size_t length = strlen(word);
    for (; *commands != NULL; commands++)
        if (strncmp((*commands)->name, word, length) == 0 && (*commands)->name[length] == ' ') return true;
    return false;
}

void tacit_help_group(tacit_page page, const tacit_command *const *commands, const char *word) {
    fprintf(page.out, "Usage: tacit %s COMMAND [ARGUMENTS] [OPTIONS]\n\n", word);
    print_commands(page, commands, word);
    fprintf(page.out, "\n'tacit %s COMMAND --help' explains one and shows an example.\n", word);
}
