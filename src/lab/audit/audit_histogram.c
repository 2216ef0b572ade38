/* The worst pairs of methods histogram and evaluate: one row lies in another cell. Everything else is equal,
 * so two counts differ by 1. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/number.h"
#include "lab/audit/audit_methods.h"
#include "method/tables/evaluate.h"
#include "method/tables/histogram.h"

/* (|x - at[1]|_1 - |x - at[0]|_1)/|at[1] - at[0]|_1, in [-1, 1]: under discrete Laplace noise the logarithm
 * of the likelihood ratio, up to its scale. */
static double score_by_l1(const tacit_audit_case *subject, const double *release, const double *const at[2]) {
    double gain = 0, apart = 0;
    for (size_t j = 0; j < subject->length; j++) {
        gain += fabs(release[j] - at[1][j]) - fabs(release[j] - at[0][j]);
        apart += fabs(at[1][j] - at[0][j]);
    }
    return gain / apart;
}

static tacit_status one_row(tacit_split **out, tacit_error *error) {
    tacit_split *split = TACIT_NEW(tacit_split, 1);
    if (split == NULL) return tacit_fail_memory(error);
    split->parts = 1;
    split->start = TACIT_NEW(size_t, 2);
    split->index = TACIT_NEW(uint32_t, 1);
    if (split->start == NULL || split->index == NULL) {
        tacit_split_free(split);
        return tacit_fail_memory(error);
    }
    split->start[1] = 1;
    *out = split;
    return TACIT_OK;
}

/* The only row, in the last cell or in the first; two cells are the least. */
static tacit_status only_row(tacit_pair *out, uint64_t *cells, tacit_error *error) {
    static const char *const classes[] = { "0", "1" };
    if (*cells < 2) TACIT_TRY(tacit_plan_set(&out->plan, "cells", "2", error));
    if (*cells < 2) *cells = 2;
    out->statistic = TACIT_STATISTIC_PUBLISHED;
    for (int side = 0; side < 2; side++) {
        TACIT_TRY(tacit_dataset_create(&out->data[side], 1, 1, classes, 2, error));
        out->data[side]->dense.values[0] = side == 0 ? 1 : -1;
        out->data[side]->label[0] = 1;
    }
    out->plan.features = out->plan.parties = out->plan.minimum_rows = 1;
    return one_row(&out->split, error);
}

static tacit_status histogram_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT],
                                   const tacit_audit_setup *setup, tacit_error *error) {
    TACIT_TRY(tacit_audit_plan(&out->plan, &tacit_method_histogram, setup, error));
    uint64_t cells = TACIT_SETTINGS(histogram_settings, &out->plan)->cells;
    TACIT_TRY(only_row(out, &cells, error));
    if (out->plan.lambda == 0) out->plan.lambda = 0.1;
    tacit_format(text, TACIT_AUDIT_TEXT, "the only row lies in the first or in the last of %llu cells",
                 (unsigned long long)cells);
    return TACIT_OK;
}

const tacit_auditable tacit_audit_histogram = {
    .name = "histogram",
    .title = "counts of cells with discrete Laplace noise",
    .score = score_by_l1,
    .pair = histogram_pair,
};

/* Scores of 1 and 0. */
static tacit_status evaluate_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT],
                                  const tacit_audit_setup *setup, tacit_error *error) {
    static double weights[] = { 100 };
    static const tacit_model model = {
        .family = &tacit_family_logistic, .features = 1, .classes = 2, .weights = weights
    };
    TACIT_TRY(tacit_audit_plan(&out->plan, &tacit_method_evaluate, setup, error));
    uint64_t cells = evaluate_settings_of(&out->plan)->cells;
    TACIT_TRY(only_row(out, &cells, error));
    out->plan.model = &model;
    tacit_format(text, TACIT_AUDIT_TEXT, "the only row has a score in the last or in the first of %llu cells",
                 (unsigned long long)cells);
    return TACIT_OK;
}

static double score_counts(const tacit_audit_case *subject, const double *release,
                           const double *const at[2]) {
    return subject->charged.delta > 0 ? tacit_score_projection(subject, release, at)
                                      : score_by_l1(subject, release, at);
}

const tacit_auditable tacit_audit_evaluate = {
    .name = "evaluate",
    .title = "counts of scores on a grid with discrete noise",
    .score = score_counts,
    .pair = evaluate_pair,
};
