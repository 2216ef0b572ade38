/*
 * M-estimators: minimise sum_i l(y_i, x_i.w) for a loss l that is convex in the score t = x.w. What a block of rows
 * contributes to the objective, its derivatives and the middle of the sandwich are plain sums over rows, so that rows
 * may live anywhere and only sums need to meet.
 *
 *   family    y            l(y, t)                                                 l''
 *   linear    [-1, 1]      (t - y)^2/2                                             1
 *   logistic  0 or 1       log(1 + exp(t)) - y t                                   p (1 - p) <= 1/4
 *   huber     0 or 1       with z = (2y - 1) t: 0 for z > 1 + h, 1 - z for         1/(2h) in between, else 0
 *                          z < 1 - h, (1 + h - z)^2/(4h) in between; h = 1/2
 *   poisson   0, 1, 2 ...  exp(t) - y t                                            exp(t)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "num/kernel.h"
#include "num/matrix.h"

typedef struct tacit_family {
    const char *name;
    bool of_classes; /* y is 0 or 1; else a numeric response */
    bool of_counts;
    bool
        likelihood; /* the loss is a negative log-likelihood, up to terms without w: the inverse Hessian is the
                      * covariance; else the sandwich is */
    double steepest; /* upper bound of l''; INFINITY: none */

    /* loss, slope l' and curvature l'' at (y, t) */
    void (*row)(double y, double t, double *loss, double *slope, double *curvature);

    /* A bound R such that, for |x| <= 1 and 0 <= y <= high (classes and linear: any admitted y), every w whose total
     * loss over n rows is at most that of w = 0 has objective, gradient and Hessian sums of any subset of the rows
     * within n R; and such that one subset whose loss is n R proves a total above that of w = 0 (estimator.c). */
    double (*row_bound)(double high);
} tacit_family;

/* The same bound for n rows together, n R; tighter for counts once their sums are known: terms[0] = sum y, terms[1] = sum
 * (y log y - y). terms NULL: not known. */
double tacit_family_bound(const tacit_family *family, double n, double high, const double *terms);

/* By name; NULL when there is none so called. */
const tacit_family *tacit_family_find(const char *name);

/* What multiplies x x^T in the matrix of a sum. */
typedef enum tacit_row_weight {
    TACIT_WEIGH_NONE,      /* no matrix */
    TACIT_WEIGH_CURVATURE, /* Hessian */
    TACIT_WEIGH_SLOPE,     /* l'^2: middle of the sandwich */
    TACIT_WEIGH_ONE,       /* X^T X */
} tacit_row_weight;

/* A sum under way over dense rows of `width` features. */
typedef struct tacit_sums {
    const tacit_family *family;
    tacit_row_weight weight;
    size_t width;
    const double *w;
    double objective;
    double *gradient; /* width */
    double *matrix;   /* in tiles (num/tiles.h); NULL without */
    const tacit_kernels *kernels;
    const double **row; /* of the block under way */
    double *room;       /* rows that do not lie as they are needed; scores, losses, slopes, curvatures */
    double *packing;    /* room of the tiles */
} tacit_sums;

enum { TACIT_SUMS_BLOCK = 256 }; /* most rows of one call */

tacit_status tacit_sums_create(tacit_sums *out, const tacit_family *family, tacit_row_weight weight,
                               size_t width, const double *w, tacit_error *error);
void tacit_sums_clear(tacit_sums *sums);

/* Add at most TACIT_SUMS_BLOCK rows with their responses: of each row the `width` features named by `kept`, ascending, or all (NULL).
 * Dense rows are used where they lie. In blocks of the same boundaries the result is always the same to the last bit. */
void tacit_sums_add(tacit_sums *sums, const tacit_rows *rows, const size_t *kept, const double *y);

/* Objective, gradient and, row by row, the lower triangle: 1 + width + (width (width + 1)/2 or 0) numbers. */
size_t tacit_sums_length(tacit_row_weight weight, size_t width);
void tacit_sums_pack(const tacit_sums *sums, double *out);

/* Symmetric positive definite systems, scaled to a unit diagonal first. factor: a (lower triangle, row-major) becomes
 * its Cholesky factor; column j is deficient where its pivot is below `tolerance`, that is where it follows from the
 * columns before it, and counts as absent then. Returns how many are deficient. `scale` has room for `width`. */
size_t tacit_cholesky_factor(double *a, size_t width, double tolerance, double *scale, bool *deficient);

/* Solve for b in place with a complete factor. */
void tacit_cholesky_solve(const double *factor, size_t width, const double *scale, double *b);
