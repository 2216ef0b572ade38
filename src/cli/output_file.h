/*
 * A file that a command writes bit by bit: a temporary file beside it that takes its place only when all
 * is well, so that an error, a full disk or Ctrl-C leaves what was there before.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"

typedef struct tacit_output {
    FILE *stream;     /* write here; errors are noticed at the end */
    const char *path; /* borrowed; NULL: the stream belongs to somebody else */
    char *temporary;  /* NULL when written in place: a device or a pipe cannot be replaced */
} tacit_output;

/* Start writing `path` (kept by the caller), or `otherwise` when it is NULL. A new file gets `mode`, less
 * what the umask takes away; an old one keeps its own. */
tacit_status tacit_output_open(tacit_output *output, const char *path, FILE *otherwise, mode_t mode,
                               tacit_error *error);

/* End it: put the file in place when `status`, how the writing went, is TACIT_OK; else remove it. Returns
 * `status`, or why the file could not be finished. */
tacit_status tacit_output_close(tacit_output *output, tacit_status status, tacit_error *error);
