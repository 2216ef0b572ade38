/*
 * The features of a formula as expressions in raw columns, for programs that know nothing of formulas:
 * whoever writes them (a graph, a document) gives the few operations there are, and gets a name for each
 * feature.
 */
#pragma once

#include "data/formula/formula.h"

/* Each gives the name of a new value, or NULL where that failed, which ends it. */
typedef struct tacit_formula_builder {
    /* A number of a row within its bounds, with what a missing one counts as. */
    const char *(*column)(void *context, size_t column);
    /* 1 where a category has that level, and 0 else. */
    const char *(*level)(void *context, size_t column, size_t level);
    const char *(*number)(void *context, double value);
    /* "+", "-", "*", "/", "^", "min", "max", "equal" (1 or 0) of two values; "log", "sqrt", "exp", "abs" of
     * one, the second being NULL. */
    const char *(*apply)(void *context, const char *operation, const char *a, const char *b);
    void *context;
} tacit_formula_builder;

/* Out: a name for each feature, before rows are scaled. The weight of rows is 0: it predicts nothing.
 * TACIT_NO_MEMORY where an operation failed. */
tacit_status tacit_formula_build(const tacit_formula *formula, const tacit_formula_builder *builder,
                                 const char **out, tacit_error *error);

/* Whether a prediction looks at a column. */
bool tacit_formula_predicts_by(const tacit_formula *formula, size_t column);

/* Whether a feature is a column of the schema by itself (*level: SIZE_MAX), an indicator of one level of a
 * category, or of levels of several at once (*column: SIZE_MAX). */
bool tacit_formula_plain(const tacit_formula *formula, size_t feature, size_t *column, size_t *level);

/* What a missing number of a column counts as. */
struct tacit_schema_column;
double tacit_formula_fill(const struct tacit_schema_column *column);
