/*
 * Lines of a program that serves, written without ever waiting for whoever reads them: a terminal that was
 * stopped, or a pipe that nobody empties, must not stop a study. A line that cannot be taken now is dropped
 * and counted, and the count is told as soon as one can.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct tacit_lines {
    int file;
    unsigned long dropped; /* since the last line that got through */
    bool halved;           /* that one was cut off */
} tacit_lines;

/* `line` ends with its line feed. One thread at a time. */
void tacit_lines_write(tacit_lines *lines, const char *line, size_t length);

/* What is written in place of those that were dropped; without a line feed. */
enum { TACIT_LINES_NOTE_SIZE = 80 };
void tacit_lines_note(char out[TACIT_LINES_NOTE_SIZE], const tacit_lines *lines);
