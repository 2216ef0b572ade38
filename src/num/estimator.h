/*
 * M-estimators: minimise sum_i l(y_i, x_i.w) for a loss l (loss.h) that is convex in the score t = x.w. What
 * a block of rows contributes to the objective, its derivatives and the middle of the sandwich are plain sums
 * over rows, so that rows may live anywhere and only sums need to meet.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "num/loss.h"
#include "num/matrix.h"

/* What multiplies x x^T in the matrix of a sum. */
typedef enum tacit_row_weight {
    TACIT_WEIGH_NONE,      /* no matrix */
    TACIT_WEIGH_CURVATURE, /* Hessian */
    TACIT_WEIGH_SLOPE,     /* l'^2: middle of the sandwich */
    TACIT_WEIGH_ONE,       /* X^T X */
} tacit_row_weight;

/* A sum under way over dense rows of `width` features. */
typedef struct tacit_sums {
    const tacit_loss *loss; /* with one score a row, of its usual shape */
    tacit_row_weight weight;
    size_t width;
    const double *w;
    size_t fixed; /* a feature whose weight is known and not in w, an offset; SIZE_MAX: none */
    double fixed_weight;
    size_t weights; /* a feature that is the weight of its row, which multiplies its loss; SIZE_MAX: none */
    double weights_scale;
    double objective;
    double *gradient; /* width */
    double *matrix;   /* in tiles (num/kernel/tiles.h); NULL without */
    const tacit_kernels *kernels;
    const double **row; /* of the block under way */
    double *room;       /* rows that do not lie as they are needed; scores, losses, slopes, curvatures */
    double *packing;    /* room of the tiles */
} tacit_sums;

enum { TACIT_SUMS_BLOCK = 256 }; /* most rows of one call */

tacit_status tacit_sums_create(tacit_sums *out, const tacit_loss *loss, tacit_row_weight weight, size_t width,
                               const double *w, tacit_error *error);
void tacit_sums_clear(tacit_sums *sums);

/* Add at most TACIT_SUMS_BLOCK rows with their responses: of each row the `width` features named by `kept`,
 * ascending, or all (NULL). Dense rows are used where they lie. In blocks of the same boundaries the result
 * is always the same to the last bit. */
void tacit_sums_add(tacit_sums *sums, const tacit_rows *rows, const size_t *kept, const double *y);

/* Objective, gradient and, row by row, the lower triangle: 1 + width + (width (width + 1)/2 or 0) numbers. */
size_t tacit_sums_length(tacit_row_weight weight, size_t width);
void tacit_sums_pack(const tacit_sums *sums, double *out);

/* Symmetric positive definite systems, scaled to a unit diagonal first. factor: a (lower triangle, row-major)
 * becomes its Cholesky factor; column j is deficient where its pivot is below `tolerance`, that is where it
 * follows from the columns before it, and counts as absent then. Returns how many are deficient. `scale` has
 * room for `width`. */
size_t tacit_cholesky_factor(double *a, size_t width, double tolerance, double *scale, bool *deficient);

/* Solve for b in place with a complete factor. */
void tacit_cholesky_solve(const double *factor, size_t width, const double *scale, double *b);
