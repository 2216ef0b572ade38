/*
 * The map from a row of a table into the unit ball, as the schema says. Row by row, the same for a row
 * wherever it stands.
 */
#pragma once

#include "data/schema.h"

/* What had to be bent to fit. For the owner of the rows: these counts are statistics of private data. */
typedef struct tacit_encode_counts {
    uint64_t rows;
    uint64_t outside_bounds; /* cells moved to a bound */
    uint64_t missing;        /* cells filled */
    uint64_t unknown_levels; /* cells encoded as all zeros */
    uint64_t shortened_rows; /* rows longer than C scaled back */
} tacit_encode_counts;

typedef struct tacit_encoder tacit_encoder;

/* The schema and the table are borrowed; the table must hold every column of the schema that is not
 * skipped. Levels of the table are matched by name, so it may have more than the schema. */
tacit_status tacit_encoder_create(tacit_encoder **out, const tacit_schema *schema, const tacit_table *table,
                                  tacit_error *error);

/* Encode row `row` of the table into `out`, all tacit_schema_features of them. `file_row` is the number
 * shown in errors (strict levels, missing values when they are errors). */
tacit_status tacit_encode_dense(tacit_encoder *encoder, size_t row, uint64_t file_row, double *out,
                                tacit_error *error);

/* The same as (column, value) pairs in ascending order; *count of them, at most tacit_encoder_entries. */
tacit_status tacit_encode_sparse(tacit_encoder *encoder, size_t row, uint64_t file_row, uint32_t *column,
                                 double *value, size_t *count, tacit_error *error);

/* The most entries one row can have. */
size_t tacit_encoder_entries(const tacit_encoder *encoder);

/* The factor that brings a sparse row of norm `norm` inside the ball, before the intercept's 1/sqrt(2),
 * which is included; for rows that need no table (LIBSVM). Counts a shortened row. */
double tacit_schema_row_factor(const tacit_schema *schema, double norm, tacit_encode_counts *counts);

/* The value of the intercept feature. */
double tacit_schema_intercept_value(const tacit_schema *schema);

const tacit_encode_counts *tacit_encoder_counts(const tacit_encoder *encoder);

tacit_encoder *tacit_encoder_free(tacit_encoder *encoder);
