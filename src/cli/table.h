/*
 * A table of text with aligned columns: collect the cells row by row, then print.
 *
 *     accuracy   epsilon
 *     --------   -------
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

typedef struct tacit_table tacit_table;

typedef struct tacit_column {
    const char *title;
    enum { TACIT_LEFT, TACIT_RIGHT } align; /* numbers go right */
} tacit_column;

/* `columns` is copied, its titles are not. */
tacit_status tacit_table_create(tacit_table **out, const tacit_column *columns, size_t count,
                                tacit_error *error);
tacit_table *tacit_table_free(tacit_table *table);

/* The next cell; a row is full after as many cells as there are columns. Running out of memory is
 * remembered and reported when the table is printed. */
void tacit_table_cell(tacit_table *table, const char *format, ...) TACIT_PRINTF(2, 3);

/* Print with a rule under the header; `bold` makes the header bold, for a terminal. Cells missing in the
 * last row are left empty. */
tacit_status tacit_table_print(const tacit_table *table, FILE *out, bool bold, tacit_error *error);

/* How many terminal columns UTF-8 text takes: combining marks none, East Asian wide characters two.
 * A byte that is not UTF-8 counts as one. */
size_t tacit_text_width(const char *text);
