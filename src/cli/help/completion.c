#include "cli/help/completion.h"

#include <string.h>

#include "method/methods.h"

const char *tacit_completion_name(tacit_completion completion) {
    static const char *const names[] = {
        [TACIT_COMPLETE_NOTHING] = "",
        [TACIT_COMPLETE_CHOICE] = "",
        [TACIT_COMPLETE_FILE] = "file",
        [TACIT_COMPLETE_FOLDER] = "folder",
        [TACIT_COMPLETE_METHOD] = "method",
        [TACIT_COMPLETE_METHODS] = "methods",
        [TACIT_COMPLETE_AUDITABLE] = "auditable",
        [TACIT_COMPLETE_EXPERIMENT] = "experiment",
        [TACIT_COMPLETE_COMMAND] = "command",
        [TACIT_COMPLETE_SETTING] = "setting",
    };
    return names[completion];
}

tacit_completion tacit_completion_of_option(const tacit_option *option) {
    if (strcmp(option->name, "method") == 0 && option->kind == TACIT_OPTION_TEXT)
        return TACIT_COMPLETE_METHOD;
    if (strcmp(option->name, "method") == 0 || strcmp(option->name, "methods") == 0)
        return TACIT_COMPLETE_METHODS;
    if (strcmp(option->name, "set") == 0) return TACIT_COMPLETE_SETTING;
    if (strcmp(option->placeholder, "FOLDER") == 0) return TACIT_COMPLETE_FOLDER;
    if (option->kind == TACIT_OPTION_FILE || strcmp(option->placeholder, "FILE") == 0)
        return TACIT_COMPLETE_FILE;
    return strchr(option->placeholder, '|') != NULL ? TACIT_COMPLETE_CHOICE : TACIT_COMPLETE_NOTHING;
}

tacit_completion tacit_completion_of_operand(const tacit_command *command, const tacit_operand *operand) {
    static const struct {
        const char *name;
        tacit_completion completion;
    } known[] = {
        { "FILE", TACIT_COMPLETE_FILE },     { "MODEL", TACIT_COMPLETE_FILE },
        { "INVITE", TACIT_COMPLETE_FILE },   { "DIR", TACIT_COMPLETE_FOLDER },
        { "ID", TACIT_COMPLETE_EXPERIMENT }, { "COMMAND", TACIT_COMPLETE_COMMAND },
        { "METHOD", TACIT_COMPLETE_METHOD },
    };
    if (strcmp(command->name, "audit") == 0) return TACIT_COMPLETE_AUDITABLE; /* controls besides methods */
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(operand->name, known[i].name) == 0) return known[i].completion;
    return TACIT_COMPLETE_NOTHING;
}

void tacit_completion_choices(FILE *out, const char *before, const char *alternatives) {
    static const char meant[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";
    while (*alternatives != 0) {
        size_t length = strcspn(alternatives, "|");
        if (strspn(alternatives, meant) == length) fprintf(out, "%s%.*s ", before, (int)length, alternatives);
        alternatives += length + (alternatives[length] == '|');
    }
}

void tacit_completion_settings(FILE *out, const tacit_method *method) {
    for (const tacit_parameter *one = method->parameters; one != NULL && one->name != NULL; one++) {
        char before[64];
        snprintf(before, sizeof before, "%s=", one->name);
        if (one->choices != NULL)
            tacit_completion_choices(out, before, one->choices);
        else
            fprintf(out, "%s ", before);
    }
}

void tacit_completion_settings_cases(FILE *out, const char *before, const char *after) {
    for (size_t i = 0; tacit_methods[i] != NULL; i++) {
        fprintf(out, "    %s) %s", tacit_methods[i]->name, before);
        tacit_completion_settings(out, tacit_methods[i]);
        fprintf(out, "%s ;;\n", after);
    }
    fprintf(out, "    *) %s", before);
    for (size_t i = 0; tacit_methods[i] != NULL; i++) tacit_completion_settings(out, tacit_methods[i]);
    fprintf(out, "%s ;;\n", after);
}
