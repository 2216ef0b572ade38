/* The program without its process: words in, exit code out. main.c and the tests call it. */
#pragma once

#include <stdio.h>

#include "base/ranks.h"
#include "cli/command.h"

/* Find the command that `words` (without the program's name) ask for, parse the rest, run it, report how
 * it ended. Returns the exit code: 0 done, 1 failed, 2 usage, 3 refused. */
int tacit_program_run(const tacit_command *const *commands, const char *const *words, size_t count, FILE *out,
                      FILE *err);

/* The same on each of several ranks (NULL: alone). All return when the last has come to its end, with the
 * same exit code; who prints is decided by the streams. */
int tacit_program_run_on(tacit_ranks *ranks, const tacit_command *const *commands, const char *const *words,
                         size_t count, FILE *out, FILE *err);
