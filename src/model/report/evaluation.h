/*
 * How good a model is on rows, from sums over the rows alone: what is counted, and the report that the counts
 * make. Parties count their own rows and the counts are added up; `tacit evaluate` counts those of a file.
 *
 * Numbers of a subgroup stand together, one subgroup after the other (one without them); in a subgroup
 *
 *   two classes    positives of each cell of the grid of scores (data/measure/score_grid.h), then negatives
 *   K classes      the same for each class against all others, the class's probability being the score;
 *                  then K x K rows by class and predicted class
 *   a number       rows, and sums of t, t^2, e^2, |e|, m, m^2, t m: t the response and m its prediction, both
 *                  on the scale on which the label's bounds are -1 and 1, e = (t - m)/2; a prediction
 *                  outside the bounds is moved to the nearest, as responses are
 */
#pragma once

#include "data/measure/score_grid.h"
#include "model/model.h"
#include "model/report/report.h"

enum { TACIT_TALLY_SUMS = 8 };

typedef struct tacit_tally {
    size_t classes, cells;
    size_t groups; /* subgroups, the last of rows of no level; 1: there are none */
    size_t first;  /* the feature of the first level */
    /* of rows with terms and subgroups, which have more features than the model; NULL: they have its own */
    const tacit_schema *wider;
    const char *by; /* the column of the subgroups, borrowed from the schema; NULL: there are none */
    const tacit_levels *levels;
    double low, high; /* of a numeric response */
} tacit_tally;

/* What is counted under a schema, borrowed; `by` NULL or "": no subgroups, else a category of the schema,
 * which stands in its formula, if it has one (tacit_schema_take_model). */
tacit_status tacit_tally_create(tacit_tally *out, const tacit_schema *schema, size_t classes, size_t cells,
                                const char *by, tacit_error *error);

/* Numbers of a subgroup, and of all. */
size_t tacit_tally_each(const tacit_tally *tally);
size_t tacit_tally_length(const tacit_tally *tally);

/* Count the rows of a view into `out`, which has tacit_tally_length numbers: adds to what is there. */
tacit_status tacit_tally_add(const tacit_tally *tally, const tacit_model *model, const tacit_view *rows,
                             tacit_pool *pool, double *out, tacit_error *error);

/* "0.1, 0.2" as thresholds; *count at most TACIT_THRESHOLDS_MOST. TACIT_USAGE for anything else. */
tacit_status tacit_thresholds_parse(const char *text, double out[TACIT_THRESHOLDS_MOST], size_t *count,
                                    tacit_error *error);

/* Tables of everything that follows from the counts, of which each has noise of this standard deviation (0:
 * they are exact). Subgroups of fewer than wishes->least rows of either class, and thresholds that single out
 * fewer, have no figures. `model` says how the classes are called and whether its scores are
 * probabilities. */
tacit_status tacit_evaluation_report(tacit_report **out, const tacit_tally *tally, const tacit_model *model,
                                     const double *counts, double noise, const tacit_score_wishes *wishes,
                                     tacit_error *error);
