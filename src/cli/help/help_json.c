/* The same table for programs: what a command takes, as JSON. */
#include "cli/console.h"
#include "cli/help/help.h"
#include "cli/help/option_spelling.h"

static const char *kind_name(tacit_option_kind kind) {
    static const char *const names[] = {
        [TACIT_OPTION_FLAG] = "flag",       [TACIT_OPTION_TEXT] = "text",
        [TACIT_OPTION_FILE] = "file",       [TACIT_OPTION_CHOICE] = "choice",
        [TACIT_OPTION_WORDS] = "words",     [TACIT_OPTION_NUMBER] = "number",
        [TACIT_OPTION_NUMBERS] = "numbers", [TACIT_OPTION_INTEGER] = "integer",
        [TACIT_OPTION_SETTING] = "setting",
    };
    return names[kind];
}

static json_t *list_options(const tacit_option *options) {
    json_t *list = json_array();
    char help[TACIT_HELP_TEXT];
    for (; options != NULL && options->name != NULL; options++)
        list = tacit_json_append(list, json_pack("{s:s,s:s,s:s?,s:s?,s:b,s:s}", "name", options->name, "kind",
                                                 kind_name(options->kind), "placeholder",
                                                 options->placeholder, "default", options->fallback,
                                                 "required", (options->rules & TACIT_RULE_REQUIRED) != 0,
                                                 "help", tacit_help_text(options->help, help)));
    return list;
}

static json_t *list_operands(const tacit_operand *operands) {
    json_t *list = json_array();
    char help[TACIT_HELP_TEXT];
    for (; operands != NULL && operands->name != NULL; operands++)
        list =
            tacit_json_append(list, json_pack("{s:s,s:I,s:I,s:s}", "name", operands->name, "least",
                                              (json_int_t)operands->least, "most", (json_int_t)operands->most,
                                              "help", tacit_help_text(operands->help, help)));
    return list;
}

static json_t *list_examples(const tacit_example *examples) {
    json_t *list = json_array();
    for (; examples->text != NULL; examples++)
        list = tacit_json_append(
            list, json_pack("{s:s,s:s}", "text", examples->text, "command", examples->command));
    return list;
}

json_t *tacit_help_document(const tacit_command *command) {
    char help[TACIT_HELP_TEXT];
    const char *about = command->description;
    if (about != NULL) about = tacit_help_text(about, help);
    return json_pack("{s:s,s:s,s:s,s:s?,s:o,s:o,s:o}", "name", command->name, "section", command->section,
                     "summary", command->summary, "description", about, "arguments",
                     list_operands(command->operands), "options", list_options(command->options), "examples",
                     list_examples(command->examples));
}

static json_t *list_commands(const tacit_command *const *commands, const char *word) {
    json_t *list = json_array();
    for (; *commands != NULL; commands++)
        if (word == NULL || tacit_command_starts_with((*commands)->name, word))
            list = tacit_json_append(
                list, json_pack("{s:s,s:s}", "name", (*commands)->name, "summary", (*commands)->summary));
    return json_pack("{s:o}", "commands", list);
}

tacit_status tacit_help_show(tacit_console *console, const tacit_command *command, const char *word,
                             tacit_error *error) {
    if (console->json)
        return tacit_console_document(
            console, command == NULL ? list_commands(console->commands, word) : tacit_help_document(command),
            error);
    tacit_page page = { console->out, console->width, console->bold };
    if (command != NULL)
        tacit_help_command(page, command);
    else if (word != NULL)
        tacit_help_group(page, console->commands, word);
    else
        tacit_help_overview(page, console->commands);
    return TACIT_OK;
}
