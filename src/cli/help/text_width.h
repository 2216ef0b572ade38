/* Small helpers on text that several parts of the command line need. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/clean.h"
#include "base/error.h"

/* How many terminal columns text takes: combining marks none, East Asian wide characters two. A byte that
 * is not UTF-8 counts as one. */
size_t tacit_text_width(const char *text);

/* Words flowing into lines of at most `width` columns; a word that fits no line gets its own. */
typedef struct tacit_wrap {
    FILE *out;
    unsigned width;
    unsigned indent; /* of every line but the first */
    size_t column;   /* where the next word would start */
    bool begun;      /* this line has a word already */
} tacit_wrap;

/* Add words; an empty line in the text starts a paragraph. The caller ends the last line. */
void tacit_wrap_text(tacit_wrap *wrap, const char *text);

/* Add something that must stay on one line, such as "--schema FILE". Cut at 255 bytes. */
void tacit_wrap_token(tacit_wrap *wrap, const char *format, ...) TACIT_PRINTF(2, 3);

/* End the line `lines` times and indent. */
void tacit_wrap_break(tacit_wrap *wrap, unsigned lines);
