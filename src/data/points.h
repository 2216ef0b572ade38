/*
 * Public auxiliary points: unlabelled rows that everybody may know, inside the unit ball like all encoded rows. What
 * parties answer about them is private; they themselves are not, so what is computed from them is free.
 */
#pragma once

#include "base/pool.h"
#include "num/matrix.h"

typedef struct tacit_points {
    tacit_rows rows; /* borrowed */

    /* sqrt of the largest eigenvalue of X^T X/N, rounded up, at most 1. For any c in R^N,
     * |(1/N) sum_i c_i x_i| <= |X^T||c|/N = kappa |c|/sqrt(N), so answers that move by at most m each move the
     * statistic (1/N) sum_i c_i x_i by at most kappa m, not m. */
    double kappa;
    size_t bytes; /* as they travel: 8 for a number, 12 for an entry of a sparse row */
} tacit_points;

/* TACIT_INPUT when there are no rows, or one lies outside the unit ball. */
tacit_status tacit_points_of(tacit_points *out, const tacit_rows *rows, tacit_pool *pool, tacit_error *error);

/* `count` of the points, evenly spread; `index` holds `count` numbers and must outlive the result. Kappa stays that of
 * all points. */
tacit_points tacit_points_some(const tacit_points *points, size_t count, uint32_t *index);
