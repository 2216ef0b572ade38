/*
 * The terms of a model, written as R writes them:
 *
 *   y ~ age + sex*stage + log(pgr) + spline(age, df = 4) + poly(bmi, 2) + factor(site) + offset(log(time))
 *
 * read against a schema into design columns. Each column is a function of one row's raw values and of public
 * constants, so no statistic of private rows enters; columns, their order, their coding (treatment contrasts
 * to the first level) and their names are those of R's model.matrix. docs/terms.md has the whole grammar.
 *
 * Encoding. A design column z is a product of factors. A number z_i becomes u_i = (z_i - m_i)/h_i, an
 * indicator stays 0 or 1. m_i and h_i are the middle and half the width of the range that z_i has over the
 * schema's bounds (mean and sd for a column that the schema standardises). Where the model lacks the terms
 * that a shift would need, m_i = 0 and h_i is the largest |z_i|. The features span what R's columns span:
 * each is a combination of them (tacit_formula_parts), so that a fit of the features is a fit of R's columns.
 *
 * Proof note. Every u_i is clamped to |u_i| <= b_i, b_i = 1 except for standardised columns. Of the
 * indicators of a category at most one is not 0. So the squares of the features of one term add up to at most
 * the product over its factors of: b^2 for a number, 1 for a category, the sum of b_j^2 for the columns of a
 * basis. The reach is the sum of that over the terms, and a row divided by sqrt(reach) has norm at most 1,
 * whatever the row holds. The ranges only decide how much of the ball is used: were one too narrow, values
 * would be clamped, and the bound would hold.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

struct tacit_schema;
typedef struct tacit_formula tacit_formula;

enum {
    TACIT_FORMULA_BYTES = 65536,   /* longest text */
    TACIT_FORMULA_FACTORS = 6,     /* most in one term */
    TACIT_FORMULA_PARTS = 1 << 6,  /* most of one feature */
    TACIT_FORMULA_BASIS = 30,      /* most columns of a basis */
    TACIT_FORMULA_FEATURES = 50000 /* most of a formula */
};

/* A formula as text with weights(COLUMN) at its end, "~ ." where there is none. */
tacit_status tacit_formula_add_weights(tacit_buffer *out, const char *terms, const char *column,
                                       tacit_error *error);

/* A formula as text with subgroups(COLUMN) at its end. */
tacit_status tacit_formula_add_subgroups(tacit_buffer *out, const char *terms, const char *column,
                                         tacit_error *error);

/* Read a formula against a schema, which is borrowed: its columns must stay as they are. TACIT_USAGE names
 * the place and the remedy. */
tacit_status tacit_formula_create(tacit_formula **out, const char *text, const struct tacit_schema *schema,
                                  tacit_error *error);
tacit_formula *tacit_formula_free(tacit_formula *formula);

/* As R would print it: the same text for the same formula however it was spaced. */
const char *tacit_formula_text(const tacit_formula *formula);

bool tacit_formula_intercept(const tacit_formula *formula);

/* Whether a column of the schema is used. */
bool tacit_formula_uses(const tacit_formula *formula, size_t column);

/* Features, without the intercept; the most entries of a row; the square of the largest norm of a row. */
size_t tacit_formula_features(const tacit_formula *formula);
size_t tacit_formula_entries(const tacit_formula *formula);
double tacit_formula_reach(const tacit_formula *formula);

/* The name of a feature's column as R prints it. */
tacit_status tacit_formula_name(const tacit_formula *formula, size_t feature, tacit_buffer *out,
                                tacit_error *error);

/* The term that a feature belongs to: 0, 1, ... as R orders them. The offset is after the last. */
size_t tacit_formula_terms(const tacit_formula *formula);
size_t tacit_formula_term(const tacit_formula *formula, size_t feature);

/* As R prints it: "sex:stage". */
tacit_status tacit_formula_term_name(const tacit_formula *formula, size_t term, tacit_buffer *out,
                                     tacit_error *error);

/* Whether no other term contains it, as sex:stage contains sex: what R's drop1 takes away. */
bool tacit_formula_droppable(const tacit_formula *formula, size_t term);

/* The feature that is the offset; SIZE_MAX: none. Before rows are scaled it is the offset
 * itself times `scale`; it lies between *low and *high. */
size_t tacit_formula_offset(const tacit_formula *formula, double *scale, double *low, double *high);

/* The feature that is the weight of a row, after the offset; SIZE_MAX: none. Before rows are scaled it is the
 * weight divided by *most, the column's upper bound; `column` is that of the schema. */
size_t tacit_formula_weights(const tacit_formula *formula, double *most, size_t *column);

/* The first of the features that say which stratum of strata() a row is in, after the weights: *count of
 * them, of which at most one is not 0, and none where the row lacks a level. SIZE_MAX: there are no
 * strata. */
size_t tacit_formula_strata(const tacit_formula *formula, size_t *count);

/* The same for subgroups(COLUMN), of which there are no strata then: a feature for each level of the column
 * of the schema, in its order. */
size_t tacit_formula_subgroups(const tacit_formula *formula, size_t *column, size_t *count);

/* Whether cluster() stands in it, of the column that the schema names as person. */
bool tacit_formula_clusters(const tacit_formula *formula);

/* A feature before rows are scaled is the sum of coefficient * column over at most TACIT_FORMULA_PARTS of R's
 * columns; column SIZE_MAX is the constant 1. Returns how many. */
typedef struct tacit_formula_part {
    size_t column;
    double coefficient;
} tacit_formula_part;
size_t tacit_formula_parts(const tacit_formula *formula, size_t feature, tacit_formula_part *out);

/* The entries of a row that are not 0, ascending, before it is scaled; returns how many. `number` holds the
 * raw values of the schema's columns, that of column c at place[c], or at c where `place` is NULL; those
 * outside their bounds count as the bound, NaN as the middle. `level` holds the levels of categories,
 * negative for none. */
size_t tacit_formula_row(const tacit_formula *formula, const double *number, const size_t *place,
                         const int32_t *level, uint32_t *column, double *value);

/* The same with a place for every feature. */
void tacit_formula_dense_row(const tacit_formula *formula, const double *number, const size_t *place,
                             const int32_t *level, double *out);

/* (1 | site), (column | person): whether the groups with random effects are parties, rather than the schema's
 * persons, and the column whose effect differs between them (NULL: their intercepts alone). False: there are
 * none. */
bool tacit_formula_random(const tacit_formula *formula, bool *party, const char **slope);
