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

typedef struct tacit_grid tacit_grid;

typedef struct tacit_grid_column {
    const char *title;
    enum { TACIT_LEFT, TACIT_RIGHT } align; /* numbers go right */
} tacit_grid_column;

/* `columns` is copied, its titles are not. */
tacit_status tacit_grid_create(tacit_grid **out, const tacit_grid_column *columns, size_t count,
                               tacit_error *error);
tacit_grid *tacit_grid_free(tacit_grid *grid);

/* The next cell; a row is full after as many cells as there are columns. Running out of memory is
 * remembered and reported when the table is printed. */
void tacit_grid_cell(tacit_grid *grid, const char *format, ...) TACIT_PRINTF(2, 3);

/* Print with a rule under the header; `bold` makes the header bold, for a terminal. Cells missing in the
 * last row are left empty. */
tacit_status tacit_grid_print(const tacit_grid *grid, FILE *out, bool bold, tacit_error *error);
