/*
 * A command is one entry of a table. The table alone yields parsing, `--help`, `tacit help`, the overview
 * and the man page, so none of them can disagree with another.
 *
 * To add a command: write src/cli/cmd_NAME.c defining `const tacit_command tacit_command_NAME`, add
 * NAME to the list in commands.h and the file to meson.build. Nothing else knows about it.
 *
 * All texts are UTF-8, constant, and live as long as the program. Optional members may be left out of a
 * designated initialiser. Arrays end with an entry whose first member is NULL.
 */
#pragma once

#include "api/option/arguments.h"

typedef struct tacit_console tacit_console; /* console.h: where output goes */

typedef struct tacit_example {
    const char *text;    /* "Compare two methods over 50 simulated parties" */
    const char *command; /* "tacit simulate --method …"; what a reader can paste */
} tacit_example;

typedef struct tacit_command {
    const char *name;         /* "simulate", or two words: "study new" */
    const char *section;      /* heading in the overview; neighbours in the table with one heading share it */
    const char *summary;      /* one line, no capital, no full stop */
    const char *const *usage; /* lines after "tacit NAME "; NULL: made from operands and options */
    const char *description;  /* paragraphs, separated by an empty line; help wraps them */
    const tacit_operand *operands; /* NULL: none */
    const tacit_option *options;   /* NULL: only the common ones, which every command has */
    const tacit_example *examples; /* at least one */
    bool takes_ranks;              /* mpirun may start it on several ranks */
    /* Do it. Output goes through `console`; on failure `error` says why in one sentence, and the caller
     * prints it and picks the exit code from the status. */
    tacit_status (*run)(const tacit_arguments *arguments, tacit_console *console, tacit_error *error);
} tacit_command;

/* --help, --json, --quiet: on every command, read from the console rather than the arguments. */
extern const tacit_option tacit_common_options[];

/* Parse what follows the command's name (api/option/arguments.h). */
tacit_status tacit_arguments_parse(tacit_arguments **out, const tacit_command *command,
                                   const char *const *words, size_t count, tacit_error *error);

/* Is `word` the whole of a command's name, or the first of its two words? */
bool tacit_command_starts_with(const char *name, const char *word);

/* Which command do `words` name? On success *used says how many words its name took. TACIT_USAGE with a
 * suggestion when none fits. `commands` ends with NULL. */
tacit_status tacit_command_find(const tacit_command **out, size_t *used, const tacit_command *const *commands,
                                const char *const *words, size_t count, tacit_error *error);
