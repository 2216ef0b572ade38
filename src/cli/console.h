/*
 * Where a command's output goes. Results go to standard output, everything else to standard error; with
 * --json standard output gets exactly one JSON document and nothing else.
 *
 * Writing never fails in the middle: a broken pipe or a full disk is noticed once, when the program
 * ends, and makes it exit 1. Functions here may be called from any thread, except where a document or a
 * table is handed over.
 */
#pragma once

#include <stdio.h>

#include "api/document/json_text.h"
#include "base/log_file.h"
#include "base/progress.h"
#include "base/ranks.h"
#include "cli/command.h"
#include "cli/print/bar.h"
#include "cli/print/grid.h"
#include "cli/print/lines.h"

struct tacit_console {
    FILE *out, *err;
    bool json; /* --json: text for standard output is skipped, the document says the same */
    /* --log-format json: the program's name in the lines on standard error; NULL: lines are text */
    const char *logs;
    tacit_log_level log_level; /* --log-level: notes and warnings below it are dropped */
    bool serves;               /* lines on standard error wait for nobody (lines.h) */
    tacit_lines lines;
    bool quiet;     /* --quiet: no notes and no progress; warnings and errors stay */
    bool bold;      /* standard output is a terminal that shows bold */
    unsigned width; /* columns to wrap text to */
    const tacit_command *const *commands;
    tacit_bar bar;
    tacit_progress progress;
    tacit_ranks *ranks; /* of this program; NULL: it is alone. Only rank 0's streams lead anywhere */
    json_t *document;   /* what tacit_console_document was given */
};

/* Look at the streams (terminal or not, how wide) and start with nothing printed. Close ends the progress
 * line and frees the document; it does not close the streams. */
void tacit_console_open(tacit_console *console, FILE *out, FILE *err, const tacit_command *const *commands);
void tacit_console_close(tacit_console *console);

/* A result for people, on standard output; skipped with --json. */
void tacit_console_print(tacit_console *console, const char *format, ...) TACIT_PRINTF(2, 3);

/* The result for programs: one document, taken over (also on failure) and printed when the command ends; if
 * it fails after all, with the error added. Without --json it is only freed. TACIT_NO_MEMORY for NULL, so
 * that a failed json_pack needs no check of its own. */
tacit_status tacit_console_document(tacit_console *console, json_t *document, tacit_error *error);

/* Print a table on standard output; skipped with --json. TACIT_NO_MEMORY when a cell could not be kept. */
tacit_status tacit_console_grid(tacit_console *console, const tacit_grid *grid, tacit_error *error);

/* News for people ("listening on …"): one line on standard error, none with --quiet. */
void tacit_console_note(tacit_console *console, const char *format, ...) TACIT_PRINTF(2, 3);

/* Write a file that is made to be shared, and note that. */
tacit_status tacit_console_write_file(tacit_console *console, const char *path, const tacit_buffer *content,
                                      tacit_error *error);

/* The same of what was made with `status`, if that is TACIT_OK; the content is cleared. */
tacit_status tacit_console_finish_file(tacit_console *console, const char *path, tacit_buffer *content,
                                       tacit_status status, tacit_error *error);

/* A line of what a program that serves tells, by its level. */
void tacit_console_log(tacit_console *console, tacit_log_level level, const char *line);

/* "warning: …" on standard error, also with --quiet. */
void tacit_console_warn(tacit_console *console, const char *format, ...) TACIT_PRINTF(2, 3);

/* What to hand to a long call: shows the progress, and says `cancelled` after Ctrl-C or SIGTERM. */
const tacit_progress *tacit_console_progress(tacit_console *console);

/* Report the end of a command: its document, or on failure one "tacit: …" line on standard error and with
 * --json the error document; then check that all output arrived. Returns the exit code. */
int tacit_console_finish(tacit_console *console, tacit_status status, const tacit_error *error);
