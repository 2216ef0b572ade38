/*
 * The map from a row of a table into the unit ball, as the schema says. Row by row, the same for a row
 * wherever it stands.
 */
#pragma once

#include <math.h>

#include "data/schema/schema.h"

/* What had to be adjusted to fit. For the owner of the rows: these counts are statistics of private data. */
typedef struct tacit_encode_counts {
    uint64_t rows;
    uint64_t outside_bounds; /* cells moved to a bound */
    uint64_t missing;        /* cells filled */
    uint64_t left_out;       /* rows that are not here, because something of them is missing */
    uint64_t outside;        /* rows that are not here, because they are not of the subset */
    uint64_t unknown_levels; /* cells encoded as all zeros */
    uint64_t shortened_rows; /* rows longer than C scaled back */
} tacit_encode_counts;

typedef struct tacit_encoder tacit_encoder;

/* The schema and the table are borrowed; the table must hold every column of the schema that is not
 * skipped. Levels of the table are matched by name, so it may have more than the schema. */
tacit_status tacit_encoder_create(tacit_encoder **out, const tacit_schema *schema, const tacit_table *table,
                                  tacit_error *error);

/* Encode row `row` of the table into `out`, all tacit_schema_features of them. Missing cells and unknown
 * levels are encoded as the schema's header says; where they should be errors the table has already refused
 * them as it was read (tacit_schema_table). */
void tacit_encode_dense(tacit_encoder *encoder, size_t row, double *out);

/* Can rows be encoded column by column? Not where a schema has terms or texts. */
bool tacit_encoder_has_blocks(const tacit_encoder *encoder);

/* Of each row of the table, whether none of its cells is missing. */
void tacit_encoder_complete(const tacit_encoder *encoder, size_t rows, bool *out);

/* The same as tacit_encode_dense for `count` rows from `first` on, none of which lacks a cell, to the last
 * bit. */
void tacit_encode_block(tacit_encoder *encoder, size_t first, size_t count, double *out);

/* The same as (column, value) pairs in ascending order, without zeros; returns how many. */
size_t tacit_encode_sparse(tacit_encoder *encoder, size_t row, uint32_t *column, double *value);

/* Whether a cell of the row is missing; then bit i % 8 of out[i / 8] is set for each schema column i whose
 * cell is. `out` has tacit_absent_bytes. Counts nothing. */
bool tacit_encoder_absent(const tacit_encoder *encoder, size_t row, uint8_t *out);

/* Bytes for a bit a column. */
static inline size_t tacit_absent_bytes(const tacit_schema *schema) { return (schema->cols + 7) / 8; }

/* The norm of a row before it is brought inside the ball. Counts nothing. */
double tacit_encoder_norm(tacit_encoder *encoder, size_t row);

/* The columns of the schema that were missing in the row that was encoded last, ascending; borrowed. */
size_t tacit_encoder_missing(const tacit_encoder *encoder, const uint32_t **columns);

/* With terms: the raw values of the schema's columns in that row, levels by their number (-1: none of them),
 * NaN for what is to be imputed and for columns that the terms do not use; and a row of such values as it is
 * encoded, where rows are not shortened. `number` and `level` have room for a value of each column. */
void tacit_encoder_raw(const tacit_encoder *encoder, double *out);
void tacit_schema_encode_raw(const tacit_schema *schema, const double *raw, double *number, int32_t *level,
                             double *out);

/* The most entries one row can have. */
size_t tacit_encoder_entries(const tacit_encoder *encoder);

typedef enum tacit_label_need {
    TACIT_LABEL_REQUIRED, /* rows to train on */
    TACIT_LABEL_OF_MODEL, /* rows to evaluate a model on: required too, and what was imputed is not */
    TACIT_LABEL_OPTIONAL, /* read if the file has it */
    TACIT_LABEL_IGNORED,
} tacit_label_need;

/* A table that reads from the source the columns that the schema uses, with its kinds, levels and strictness;
 * after them the label as a column of class codes or as its columns of numbers (unless ignored, or optional
 * and not in the file), and the `group` column (NULL: none). `label` and `group_at` receive their positions,
 * SIZE_MAX when absent. */
tacit_status tacit_schema_table(tacit_table **out, size_t *label, size_t *group_at,
                                const tacit_schema *schema, const tacit_source *source, tacit_label_need need,
                                const char *group, tacit_error *error);

/* Bring a numeric response, of tacit_schema_response_columns numbers, within the schema's bounds and count it
 * if it moved. TACIT_INPUT for a count or an event that is none. */
tacit_status tacit_schema_response(const tacit_schema *schema, double *value, uint64_t *moved,
                                   tacit_error *error);

/* How a number is scaled, for rows that need no table because they are numbers in memory. */
typedef struct tacit_scale {
    double low, high;
    double middle, half_width; /* encoded as (x - middle)/half_width */
    double least, most;        /* what that is at the bounds */
    double fill;               /* what a missing value becomes */
} tacit_scale;

tacit_scale tacit_scale_of(const tacit_schema_column *column);

/* A number on [-1, 1], or standardised; what the column says where it is missing (NaN): 0, the midpoint or
 * the mean, by default. */
static inline double tacit_scale_number(const tacit_scale *scale, double value, tacit_encode_counts *counts) {
    if (isnan(value)) {
        counts->missing++;
        return scale->fill;
    }
    if (value < scale->low || value > scale->high) {
        counts->outside_bounds++;
        return value < scale->low ? scale->least : scale->most;
    }
    return fmin(fmax((value - scale->middle) / scale->half_width, scale->least), scale->most);
}

/* The square of the largest norm that a row of columns can have before it is brought inside the ball; and the
 * factor that does that to a row of norm `norm`, to be multiplied by tacit_schema_intercept_value. Counts a
 * shortened row. */
double tacit_schema_reach(const tacit_schema *schema);
double tacit_schema_column_factor(const tacit_schema *schema, double reach, double norm,
                                  tacit_encode_counts *counts);

/* The factor that brings a sparse row of norm `norm` inside the ball, before the intercept's 1/sqrt(2),
 * which is included; for rows that need no table (LIBSVM). Counts a shortened row. */
double tacit_schema_row_factor(const tacit_schema *schema, double norm, tacit_encode_counts *counts);

/* What a feature is made of, where the encoding is linear: value = scale * raw + shift, raw being the number,
 * 1 for the own level of a category and 0 else, or 1 for the intercept. Not of features that are terms
 * (tacit_schema_term_parts). */
typedef struct tacit_feature {
    size_t column; /* of the schema; SIZE_MAX for the intercept and for sparse features */
    size_t level;  /* of a category; SIZE_MAX for the others */
    double scale, shift;
    bool missing; /* of a number: raw is 1 where it is missing, and 0 else */
} tacit_feature;

/* All tacit_schema_features of them. TACIT_USAGE for `rows: unit` and for effect coding, under which features
 * are no linear function of their columns or belong to several levels; with a clip the map is that of the
 * rows that are not shortened. */
tacit_status tacit_schema_linear(const tacit_schema *schema, tacit_feature *out, tacit_error *error);

/* Of a schema with terms: the columns that a feature is a combination of, as tacit_formula_parts, in rows as
 * methods see them. */
size_t tacit_schema_term_parts(const tacit_schema *schema, size_t feature, tacit_formula_part *out);

/* A row of `schema`, which is that of a model with terms and subgroups beside (tacit_schema_take_model), as
 * the model has it: all features of the model. */
void tacit_schema_model_row(const tacit_schema *model, const tacit_schema *schema, const double *row,
                            double *out);

/* The feature that is an offset (SIZE_MAX: none), and the weight that makes it one: the offset itself is the
 * feature times `weight`. It lies between *low and *high. */
size_t tacit_schema_offset(const tacit_schema *schema, double *weight, double *low, double *high);

/* The feature that is the weight of a row (SIZE_MAX: none): the weight is the feature times `scale`,
 * between `least` and `most`. */
size_t tacit_schema_weights(const tacit_schema *schema, double *scale, double *least, double *most);

/* The value of the intercept feature. */
double tacit_schema_intercept_value(const tacit_schema *schema);

const tacit_encode_counts *tacit_encoder_counts(const tacit_encoder *encoder);

tacit_encoder *tacit_encoder_free(tacit_encoder *encoder);
