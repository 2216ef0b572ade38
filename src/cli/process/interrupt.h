/*
 * Ctrl-C and SIGTERM ask for an orderly end; a second one ends the program at once. This is the program's
 * only global mutable state: a signal handler can reach nothing else.
 */
#pragma once

#include <stdbool.h>

/* Catch SIGINT and SIGTERM, unless the parent had them ignored (nohup, background jobs), and ignore
 * SIGPIPE, so that a closed pipe is an error of the write that meets it. */
void tacit_interrupt_install(void);

/* Has an orderly end been asked for? Any thread may ask. */
bool tacit_interrupted(void);
