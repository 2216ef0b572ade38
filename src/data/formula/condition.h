/*
 * Which rows a study is about, written as R's `subset`:
 *
 *   age > 50 & (stage == "III" | stage %in% c("IVa", "IVb")) & !is.na(pgr)
 *
 * A condition is a function of one row and of public constants. So one row decides about itself alone: where
 * one row is exchanged for another, at most one row of the subset is, or one comes or goes.
 *
 * Logic is R's, of three values: a comparison with a missing value is not known, `FALSE & NA` is FALSE, and a
 * row of which it is not known whether it belongs is left out. Numbers are those of the row, also where they
 * are beyond the schema's bounds; a text that is no level is unequal to all of them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct tacit_schema;
typedef struct tacit_condition tacit_condition;

/* Read a condition against a schema, which is borrowed: its columns must stay as they are. TACIT_USAGE names
 * the place and the remedy; `what` is what messages call the condition, and must stay too. */
tacit_status tacit_condition_create(tacit_condition **out, const char *text,
                                    const struct tacit_schema *schema, const char *what, tacit_error *error);
tacit_condition *tacit_condition_free(tacit_condition *condition);

/* As R would print it: the same text for the same condition however it was spaced. */
const char *tacit_condition_text(const tacit_condition *condition);

/* The columns of the schema that it looks at, ascending; returns how many. */
size_t tacit_condition_columns(const tacit_condition *condition, const size_t **columns);

/* Whether a row belongs. `value` has one number for each of these columns: of a category its level, -1 for a
 * text that is none; NaN where it is missing. */
bool tacit_condition_holds(const tacit_condition *condition, const double *value);
