/*
 * The way back from an encoded row to its columns: numbers in their own units and levels, for methods that
 * describe columns instead of fitting them. Numbers come back within rounding, at their bounds where they
 * were moved there; which of them were missing the data set remembers (tacit_dataset.absent).
 */
#pragma once

#include "data/dataset.h"

typedef struct tacit_cell_column {
    const char *name;           /* borrowed from the schema, or from `names` */
    const tacit_levels *levels; /* borrowed; NULL: a number */
    bool effect;                /* effect coding */
    size_t column;              /* of the schema; SIZE_MAX: rows without one */
    size_t first, width;        /* features */
    double factor, middle;      /* a number is feature/factor + middle */
    double low, high;
} tacit_cell_column;

typedef struct tacit_cells {
    size_t count, features;
    tacit_cell_column *column; /* all but texts and what is skipped */
    char (*names)[32];         /* of columns without a schema: x1, x2, ... */
} tacit_cells;

/* Without a schema every feature is a number in [-1, 1]. TACIT_USAGE where rows cannot be read back: `rows:
 * unit`, and rows as in LIBSVM. The schema must outlive it. */
tacit_status tacit_cells_create(tacit_cells *out, const tacit_schema *schema, size_t features,
                                tacit_error *error);
void tacit_cells_clear(tacit_cells *cells);

/* TACIT_INPUT where rows of a view cannot be read back: the clip has shortened some, or cells are missing and
 * nobody knows which. */
tacit_status tacit_cells_check_rows(const tacit_schema *schema, const tacit_view *rows, tacit_error *error);

/* Each column of an encoded row: the number or the place of the level, NaN where it is missing or no level.
 * `absent` are the row's bits; NULL: no cell is missing. */
void tacit_cells_read(const tacit_cells *cells, const double *row, const uint8_t *absent, double *out);
