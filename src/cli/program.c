#include "cli/program.h"

#include <string.h>

#include "api/option/arguments.h"
#include "base/memory.h"
#include "cli/console.h"
#include "cli/help/help.h"

/* The common flags are looked for before anything else is understood, so that even a mistake in the rest
 * of the line is reported in the form that was asked for. */
static bool has_flag(const char *const *words, size_t count, const char *flag) {
    for (size_t i = 0; i < count && strcmp(words[i], "--") != 0; i++)
        if (strcmp(words[i], flag) == 0) return true;
    return false;
}

static bool is_any_of(const char *word, const char *const *words) {
    for (; *words != NULL; words++)
        if (strcmp(word, *words) == 0) return true;
    return false;
}

/* `tacit --help`, `tacit --version` and `tacit data --help` are other spellings of the commands help and
 * version; there is one way for each. `out` has the room of `words`, and one word if that is empty. */
static size_t translate(const char **out, const char *const *words, size_t count,
                        const tacit_command *const *commands) {
    static const char help[] = "help", version[] = "version";
    static const char *const help_flags[] = { "--help", "-h", NULL };
    static const char *const version_flags[] = { "--version", "-V", NULL };
    if (count == 0) {
        out[0] = help;
        return 1;
    }
    memcpy(out, words, count * sizeof *words);
    const tacit_command *command;
    size_t used;
    bool known = tacit_command_find(&command, &used, commands, words, count, NULL) == TACIT_OK;
    if (is_any_of(words[0], help_flags)) {
        out[0] = help;
    } else if (is_any_of(words[0], version_flags)) {
        out[0] = version;
    } else if (!known && count > 1 && is_any_of(words[1], help_flags)) {
        out[0] = help;
        out[1] = words[0];
    }
    return count;
}

static tacit_status run_command(tacit_console *console, const char *const *words, size_t count,
                                tacit_error *error) {
    const tacit_command *command = NULL;
    tacit_arguments *arguments = NULL;
    size_t used = 0;
    TACIT_TRY(tacit_command_find(&command, &used, console->commands, words, count, error));
    if (tacit_ranks_count(console->ranks) > 1 && !command->takes_ranks)
        return tacit_fail(error, TACIT_USAGE, "tacit %s runs in one process: start it without mpirun",
                          command->name);
    TACIT_TRY(tacit_arguments_parse(&arguments, command, words + used, count - used, error));
    tacit_status status = tacit_arguments_flag(arguments, "help")
                              ? tacit_help_show(console, command, NULL, error)
                              : command->run(arguments, console, error);
    tacit_arguments_free(arguments);
    return status;
}

int tacit_program_run(const tacit_command *const *commands, const char *const *words, size_t count, FILE *out,
                      FILE *err) {
    return tacit_program_run_on(NULL, commands, words, count, out, err);
}

int tacit_program_run_on(tacit_ranks *ranks, const tacit_command *const *commands, const char *const *words,
                         size_t count, FILE *out, FILE *err) {
    static const char *const common[] = { "--json", "--quiet", NULL };
    tacit_console console;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_console_open(&console, out, err, commands);
    console.ranks = ranks;
    console.json = has_flag(words, count, "--json");
    console.quiet = has_flag(words, count, "--quiet");
    for (; count > 0 && is_any_of(words[0], common); words++) count--;
    const char **translated = TACIT_NEW(const char *, count + 1);
    tacit_status status = TACIT_OK;
    if (translated == NULL)
        status = tacit_fail_memory(&error);
    else
        status = run_command(&console, translated, translate(translated, words, count, commands), &error);
    free(translated);
    status = tacit_ranks_agree(ranks, status, &error);
    int code = tacit_console_finish(&console, status, &error);
    tacit_console_close(&console);
    return code;
}
