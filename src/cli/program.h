/* The program without its process: words in, exit code out. main.c and the tests call it. */
#pragma once

#include <stdio.h>

#include "cli/command.h"

/* Find the command that `words` (without the program's name) ask for, parse the rest, run it, report how
 * it ended. Returns the exit code: 0 done, 1 failed, 2 usage, 3 refused. */
int tacit_program_run(const tacit_command *const *commands, const char *const *words, size_t count, FILE *out,
                      FILE *err);
