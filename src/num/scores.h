/*
 * Scores of many linear models on the same rows: out = X W^T. One model at a time would read X once for each;
 * here up to TACIT_SCORES_AT_ONCE models share one pass, dense rows through BLAS, sparse rows through a
 * kernel that touches their entries only.
 */
#pragma once

#include "num/matrix.h"

enum { TACIT_SCORES_AT_ONCE = 32 };

/* Weights of up to TACIT_SCORES_AT_ONCE models, laid out for the kernels. */
typedef struct tacit_weight_panel {
    size_t models, cols;
    /* cols x TACIT_SCORES_AT_ONCE: the weights of one column side by side, zeros after the last */
    double *interleaved;
} tacit_weight_panel;

#define TACIT_WEIGHT_PANEL_INIT                                                                              \
    { 0, 0, NULL }

/* `weights[m]` are the `cols` weights of model m. */
tacit_status tacit_weight_panel_create(tacit_weight_panel *out, const double *const *weights, size_t models,
                                       size_t cols, tacit_error *error);
void tacit_weight_panel_clear(tacit_weight_panel *panel);

/* Scores of `count` view rows from `begin`: row i's scores of all models are out[i * TACIT_SCORES_AT_ONCE
 * ...]. Each score is within (cols + 2) 2^-52 |x||w| of the exact one. Runs on the calling thread. */
void tacit_rows_scores(const tacit_rows *rows, size_t begin, size_t count, const tacit_weight_panel *panel,
                       double *out);
