/* tacit help, tacit version. */
#include <string.h>

#include "api/option/arguments.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/help/help.h"
#include "tacit/tacit.h"

static tacit_status run_help(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    size_t count;
    const char *const *words = tacit_arguments_operands(arguments, "COMMAND", &count);
    if (tacit_arguments_flag(arguments, "man")) {
        if (console->json) return tacit_fail(error, TACIT_USAGE, "--man writes troff; leave out --json");
        tacit_help_man(console->out, console->commands, tacit_version());
        return TACIT_OK;
    }
    const char *shell = tacit_arguments_text(arguments, "completion");
    if (shell != NULL) {
        if (console->json)
            return tacit_fail(error, TACIT_USAGE, "--completion writes a script for %s; leave out --json",
                              shell);
        (strcmp(shell, "bash") == 0 ? tacit_help_bash : tacit_help_zsh)(console->out, console->commands);
        return TACIT_OK;
    }
    if (count == 0) return tacit_help_show(console, NULL, NULL, error);
    if (count == 1 && tacit_help_is_group(console->commands, words[0]))
        return tacit_help_show(console, NULL, words[0], error);
    if (count == 1 && tacit_help_is_topic(words[0])) return tacit_help_topic(console, words[0], error);
    const tacit_command *command = NULL;
    size_t used = 0;
    TACIT_TRY(tacit_command_find(&command, &used, console->commands, words, count, error));
    return tacit_help_show(console, command, NULL, error);
}

static tacit_status run_version(const tacit_arguments *arguments, tacit_console *console,
                                tacit_error *error) {
    (void)arguments;
    tacit_console_print(console, "tacit %s\n", tacit_version());
    return tacit_console_document(console, json_pack("{s:s}", "version", tacit_version()), error);
}

const tacit_command tacit_command_help = {
    .name = "help",
    .section = "About",
    .summary = "list the commands, or explain one",
    .operands =
        (const tacit_operand[]){
            { "COMMAND", 0, 2,
              "the command to explain, such as 'data info', or study-settings: what the definition of a "
              "study may say" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            { .name = "man", .kind = TACIT_OPTION_FLAG, .help = "write the man page, tacit(1), as troff" },
            { .name = "completion",
              .kind = TACIT_OPTION_CHOICE,
              .placeholder = "bash|zsh",
              .help = "write the script that completes command lines in this shell" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Explain how a data file is described.", "tacit help data info" },
            { "Read the man page without installing it.", "tacit help --man | man -l -" },
            { "Complete commands, flags, methods and files in this bash.",
              "source <(tacit help --completion bash)" },
            { .text = NULL },
        },
    .run = run_help,
};

const tacit_command tacit_command_version = {
    .name = "version",
    .section = "About",
    .summary = "print the version",
    .examples =
        (const tacit_example[]){
            { "Print the version for a script.", "tacit version --json" },
            { .text = NULL },
        },
    .run = run_version,
};
