#include "cli/command.h"

#include <string.h>

#include "api/option/suggestion.h"
#include "base/buffer.h"
#include "cli/commands.h"

const tacit_option tacit_common_options[] = {
    { .name = "json",
      .kind = TACIT_OPTION_FLAG,
      .help = "print one JSON document on standard output and nothing else there" },
    { .name = "quiet",
      .kind = TACIT_OPTION_FLAG,
      .help = "no progress and no notes; warnings and errors stay" },
    { .name = "help", .kind = TACIT_OPTION_FLAG, .help = "print this help" },
    { .name = NULL },
};

tacit_status tacit_arguments_parse(tacit_arguments **out, const tacit_command *command,
                                   const char *const *words, size_t count, tacit_error *error) {
    const tacit_form form = { command->name, command->operands, command->options, tacit_common_options,
                              NULL };
    return tacit_form_parse(out, &form, words, count, error);
}

bool tacit_command_starts_with(const char *name, const char *word) {
    size_t length = strlen(word);
    return strncmp(name, word, length) == 0 && (name[length] == 0 || name[length] == ' ');
}

static bool is_two_words(const char *name, const char *first, const char *second) {
    size_t length = strlen(first);
    return tacit_command_starts_with(name, first) && name[length] == ' ' &&
           strcmp(name + length + 1, second) == 0;
}

/* The second words that may follow `word`: "info, check, convert". */
static tacit_status list_seconds(tacit_buffer *out, const tacit_command *const *commands, const char *word,
                                 tacit_error *error) {
    for (; *commands != NULL; commands++) {
        const char *name = (*commands)->name, *second = name + strlen(word);
        if (!tacit_command_starts_with(name, word) || *second == 0) continue;
        TACIT_TRY(tacit_buffer_print(out, error, "%s%s", out->length > 0 ? ", " : "", second + 1));
    }
    return TACIT_OK;
}

static tacit_status fail_second(const tacit_command *const *commands, const char *first, const char *second,
                                tacit_error *error) {
    tacit_suggestion suggestion = tacit_suggestion_for(second == NULL ? "" : second);
    for (size_t i = 0; commands[i] != NULL; i++) {
        const char *rest = commands[i]->name + strlen(first);
        if (tacit_command_starts_with(commands[i]->name, first) && *rest != 0)
            tacit_suggestion_consider(&suggestion, rest + 1, strlen(rest + 1));
    }
    if (second != NULL && tacit_suggestion_found(&suggestion))
        return tacit_fail(error, TACIT_USAGE,
                          "unknown command %s %.40s; did you mean %s %.*s? (tacit %s --help lists them)",
                          first, second, first, (int)suggestion.length, suggestion.word, first);
    tacit_buffer seconds = TACIT_BUFFER_INIT;
    tacit_status status = list_seconds(&seconds, commands, first, error);
    if (status == TACIT_OK)
        status = tacit_fail(error, TACIT_USAGE, "tacit %s must be followed by one of %s%s%.40s%s", first,
                            tacit_buffer_text(&seconds), second == NULL ? "" : ", not '",
                            second == NULL ? "" : second, second == NULL ? "" : "'");
    tacit_buffer_clear(&seconds);
    return status;
}

static tacit_status fail_first(const tacit_command *const *commands, const char *word, tacit_error *error) {
    tacit_suggestion suggestion = tacit_suggestion_for(word);
    for (size_t i = 0; commands[i] != NULL; i++)
        tacit_suggestion_consider(&suggestion, commands[i]->name, strcspn(commands[i]->name, " "));
    const char *what = word[0] == '-' ? "flag" : "command";
    if (word[0] != '-' && tacit_suggestion_found(&suggestion))
        return tacit_fail(error, TACIT_USAGE,
                          "unknown command %.40s; did you mean %.*s? (tacit help lists them)", word,
                          (int)suggestion.length, suggestion.word);
    return tacit_fail(error, TACIT_USAGE, "unknown %s %.40s (tacit help lists the commands)", what, word);
}

tacit_status tacit_command_find(const tacit_command **out, size_t *used, const tacit_command *const *commands,
                                const char *const *words, size_t count, tacit_error *error) {
    const tacit_command *single = NULL;
    bool has_seconds = false;
    const char *second = count > 1 && words[1][0] != '-' ? words[1] : NULL;
    for (size_t i = 0; count > 0 && commands[i] != NULL; i++) {
        const char *name = commands[i]->name;
        if (second != NULL && is_two_words(name, words[0], second)) {
            *out = commands[i];
            *used = 2;
            return TACIT_OK;
        }
        if (strcmp(name, words[0]) == 0)
            single = commands[i];
        else if (tacit_command_starts_with(name, words[0]))
            has_seconds = true;
    }
    /* `ledger` alone may be a command beside `ledger show`; then a stray second word is a slip. */
    bool slip = second != NULL && has_seconds && (single == NULL || single->operands == NULL);
    if (count > 0 && (slip || (single == NULL && has_seconds)))
        return fail_second(commands, words[0], second, error);
    if (single == NULL) return fail_first(commands, count > 0 ? words[0] : "", error);
    *out = single;
    *used = 1;
    return TACIT_OK;
}

#define TACIT_COMMAND_ENTRY(name) &tacit_command_##name,
const tacit_command *const tacit_commands[] = { TACIT_COMMANDS(TACIT_COMMAND_ENTRY) NULL };
#undef TACIT_COMMAND_ENTRY
