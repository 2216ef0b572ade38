/*
 * Run a program with something to read and collect what it prints, under limits: whatever it does, the call
 * returns in time and nothing of it is left behind but what fled its process group. From any thread, several
 * at once.
 */
#pragma once

#include "base/buffer.h"

typedef struct exec_job {
    const char *shown; /* the command, for messages */
    /* the program, looked up on PATH unless it has a '/', and its arguments; ends with NULL */
    char *const *arguments;
    char *const *environment; /* all of it; ends with NULL */
    /* Append the next piece of standard input to `out`, which is empty; nothing appended: that was all. */
    tacit_status (*feed)(void *context, tacit_buffer *out, tacit_error *error);
    void *context;
    double seconds; /* for all of it */
} exec_job;

/* What the program printed on standard output is appended to `output`, whose limit is set. TACIT_INPUT when
 * it is not there, fails, is killed, prints too much or takes too long; TACIT_IO when the system has no room
 * for it now. The program's end ends the job: what its own children would have printed later is not waited
 * for. */
tacit_status exec_process_run(const exec_job *job, tacit_buffer *output, tacit_error *error);
