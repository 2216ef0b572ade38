/*
 * What becomes of a missing value, column by column, and which values of a data set were missing.
 *
 *   error          a missing value is refused where it stands
 *   complete-case  the row is left out before anything is computed or hashed
 *   indicator      number: the midpoint (or mean), and a second feature that is 1 where it was missing
 *   level          category: a level of its own, after the others
 *   fill           number: the midpoint (or mean); category, text: zeros
 *   fill: VALUE    that number or level
 *   impute         drawn several times from the other rows of the site, by methods that can (impute.h);
 *                  filled as above until then. A row that a model is to say something of must have it
 *   unlabelled     of a label with classes: the row is kept, without a label, for methods that learn from
 *                  such rows
 *
 * All but the last are functions of the row and of public constants, so a row moves no other row; whether a
 * row is left out depends on it alone, too, so that one row more or less stays one row more or less.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

struct tacit_schema;
struct tacit_schema_column;

typedef enum tacit_missing {
    TACIT_MISSING_DEFAULT, /* of a column: as the schema says */
    TACIT_MISSING_ERROR,
    TACIT_MISSING_COMPLETE_CASE,
    TACIT_MISSING_INDICATOR,
    TACIT_MISSING_LEVEL,
    TACIT_MISSING_FILL,
    TACIT_MISSING_IMPUTE,
    TACIT_MISSING_VALUE,      /* fill: VALUE */
    TACIT_MISSING_UNLABELLED, /* of a label only */
} tacit_missing;

/* As the schema writes it; "fill" for a value, too. */
const char *tacit_missing_name(tacit_missing missing);

/* One of error, complete-case, indicator, level, fill, impute. */
bool tacit_missing_find(const char *name, tacit_missing *out);

/* What a column does, the schema's default taken in: never TACIT_MISSING_DEFAULT. */
tacit_missing tacit_schema_missing(const struct tacit_schema *schema,
                                   const struct tacit_schema_column *column);

/* Are rows without a label left out? Else they are errors. */
bool tacit_schema_leaves_out_unlabelled(const struct tacit_schema *schema);

/* Are rows without a label kept, as TACIT_UNLABELLED (dataset.h)? */
bool tacit_schema_keeps_unlabelled(const struct tacit_schema *schema);

/* May rows be left out at all? */
bool tacit_schema_leaves_out(const struct tacit_schema *schema);

/* Is any column imputed? */
bool tacit_schema_imputes(const struct tacit_schema *schema);

/* Does the schema say more of missing values than one word for all columns? Results count them then. */
bool tacit_schema_counts_missing(const struct tacit_schema *schema);

/* Append what decides how a row that is kept is encoded: the canonical text, without what only leaves rows
 * out. Rows of schemas that differ in nothing else can be compared. */
tacit_status tacit_schema_encoding_text(const struct tacit_schema *schema, tacit_buffer *out,
                                        tacit_error *error);

/* Cells that were missing in the rows of a data set, in ascending order of rows, and the rows that were left
 * out. Statistics of private rows. */
typedef struct tacit_missing_cells {
    size_t count, capacity;
    uint32_t *row, *column;   /* of the data set; of the schema */
    size_t columns;           /* of the schema, and one for the label; 0: nothing is known */
    uint64_t left_out;        /* rows */
    uint64_t *left_out_cells; /* cells missing in them, one number for each of `columns` */
} tacit_missing_cells;

tacit_status tacit_missing_cells_add(tacit_missing_cells *cells, size_t row, uint32_t column,
                                     tacit_error *error);
void tacit_missing_cells_clear(tacit_missing_cells *cells);

/* The first cell of a row that is at least `row`. */
size_t tacit_missing_cells_of(const tacit_missing_cells *cells, size_t row);
