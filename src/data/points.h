/*
 * Public auxiliary points: unlabelled rows that everybody may know, inside the unit ball like all encoded
 * rows. What parties answer about them is private; they themselves are not, so what is computed from them is
 * free.
 */
#pragma once

#include "base/pool.h"
#include "num/matrix.h"

typedef struct tacit_points {
    tacit_rows rows; /* borrowed */

    /* sqrt of the largest eigenvalue of X^T X/N, rounded up, at most the norm of the longest point. For any c
     * in R^N, |(1/N) sum_i c_i x_i| <= |X^T||c|/N = kappa |c|/sqrt(N), so answers that move by at most m each
     * move the statistic (1/N) sum_i c_i x_i by at most kappa m, not m. */
    double kappa;

    /* Lower triangular L, d x d row-major, with L L^T >= X^T X/N as matrices; NULL when there are too many
     * columns. So |L^-1 (1/N) sum_i c_i x_i| <= |c|/sqrt(N): seen through L^-1 the statistic moves by at most
     * m in every direction, and noise L z of size m reaches each direction only as far as the points do. */
    double *shape;
    size_t bytes; /* as they travel: 8 for a number, 12 for an entry of a sparse row */
} tacit_points;

#define TACIT_POINTS_INIT                                                                                    \
    { .kappa = 1, .shape = NULL }

/* Points may lie outside the unit ball by the rounding of their encoding, and bounds allow for it. */
#define TACIT_POINTS_LONGEST (1 + 1e-9)

/* TACIT_INPUT when there are no rows, or one lies outside the unit ball. */
tacit_status tacit_points_check(const tacit_rows *rows, tacit_error *error);

/* The same check, then what is said above. */
tacit_status tacit_points_of(tacit_points *out, const tacit_rows *rows, tacit_pool *pool, tacit_error *error);
void tacit_points_clear(tacit_points *points);

/* In place, `count` vectors of d numbers: L^-1 v, or L v. Without a shape L is 1. */
void tacit_points_shape(const tacit_points *points, double *vectors, size_t count);
void tacit_points_unshape(const tacit_points *points, double *vectors, size_t count);

/* The most by which rounding moves a statistic (1/N) sum_i c_i x_i, |c_i| <= 1, that is summed in any order,
 * in L2 norm; and the same seen through L^-1. `further` counts roundings that each number goes through
 * besides. */
double tacit_points_rounding(const tacit_points *points, size_t further);
double tacit_points_shaped_rounding(const tacit_points *points, size_t further);

/* The sensitivity of a statistic seen so, when answers move by at most 1 each: 1, or kappa without a
 * shape. */
double tacit_points_reach(const tacit_points *points);

/* `count` of the points, evenly spread; `index` holds `count` numbers. Kappa and shape stay those of all
 * points. Borrows index and points. */
tacit_points tacit_points_some(const tacit_points *points, size_t count, uint32_t *index);
