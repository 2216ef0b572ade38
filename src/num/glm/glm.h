/*
 * Regularised linear classification with a certificate.
 *
 *   F(w) = sum_i weight_i loss(w; x_i, label_i) + (1/2) sum_j lambda_j (w_j - prior_j)^2 + linear . w
 *
 * weight_i = 1/n by default. The loss (loss.h) has one score a row, t = w.x and one weight vector, or a score
 * a class: then there are K weight vectors, row-major K x d. Its bounds L and c must be finite.
 *
 * The privacy theorems need the exact minimiser, so a fit returns an upper bound on the gradient norm at
 * the returned weights in exact arithmetic: the computed norm plus a bound on its rounding error. With
 * lambda-strong convexity |w - w*| <= bound / lambda.
 */
#pragma once

#include "base/pool.h"
#include "base/progress.h"
#include "num/loss.h"
#include "num/matrix.h"

/* Adds `values` up over all holders of the rows (MPI ranks) in place; every holder sees the same sum. */
typedef struct tacit_reducer {
    tacit_status (*sum)(void *context, double *values, size_t count, tacit_error *error);
    void *context;
} tacit_reducer;

typedef struct tacit_glm_problem {
    const tacit_loss *loss;
    tacit_rows x;
    const int32_t *label;   /* class of each *stored* row: label[tacit_rows_stored(&x, i)] in 0..classes-1 */
    const double *response; /* or its `columns` numbers, for a loss that is not of classes */
    const double *weight;   /* of each stored row, >= 0; NULL: 1/total_rows each */
    size_t classes;         /* 2 or, with a score a class, at least 2; 0 for a response of numbers */
    size_t total_rows;      /* rows over all holders; 0 means x.count */
    double shape;           /* of a loss that has one; 0: the usual */
    double lambda;          /* > 0 */
    const double *lambda_each;    /* per coordinate, replaces lambda; NULL: none */
    const double *linear;         /* NULL: zero */
    const double *prior;          /* NULL: zero */
    const tacit_reducer *reducer; /* NULL: all rows are here */
} tacit_glm_problem;

typedef struct tacit_glm_settings {
    double gradient_tolerance; /* stop when the certified bound is at most this */
    int max_iterations;
    /* no failure to reach the tolerance: the best weights found, with their bound. For fits on which no
     * theorem rests */
    bool best_effort;
    tacit_pool *pool; /* NULL: calling thread */
    const tacit_progress *progress;
} tacit_glm_settings;

tacit_glm_settings tacit_glm_defaults(void); /* 1e-8, 1000 iterations */

typedef struct tacit_glm_fit {
    double objective;
    double gradient_bound; /* certified */
    int iterations;
} tacit_glm_fit;

/* The length of the weight vector: cols, or classes * cols with a score a class. */
size_t tacit_glm_size(const tacit_glm_problem *problem);

/* Minimise F. `weights` holds the starting point on entry (warm start; zeros are fine) and the minimiser on
 * success; on failure it is left as it was. TACIT_USAGE or TACIT_INPUT for a malformed problem (index and
 * sparse columns are trusted), TACIT_NOT_CONVERGED when the tolerance is not reached, TACIT_CANCELLED. Result
 * and certificate do not depend on the number of threads. Safe to call from inside a pool's tasks.
 *
 * With a reducer every holder calls with the same problem but its own rows and must give total_rows; a holder
 * may have none. Holders that find their rows malformed say so to the others before anything is fitted. */
tacit_status tacit_glm_solve(const tacit_glm_problem *problem, const tacit_glm_settings *settings,
                             double *weights, tacit_glm_fit *fit, tacit_error *error);

/* What is public of a problem, to say how well it can be solved. */
typedef struct tacit_glm_limits {
    size_t rows, cols, classes; /* classes 2: one weight vector */
    double slope;               /* of the loss's derivative: 1/4 logistic, 1/(2h) Huber, 1/2 softmax */
    double weight, radius;      /* the rows' weights together, and the norm of the longest */
    double largest;             /* the longest minimiser */
    double linear, prior_pull;  /* |linear|, and lambda |prior| */
} tacit_glm_limits;

/* The lesser of tolerances that the solver reaches on *every* input within the limits, and that are at least
 * `wanted`. A function of public numbers, so that it may enter a sensitivity: see glm_tolerance.c. */
double tacit_glm_tolerance(const tacit_glm_limits *limits, double wanted);

/* Objective and certified bound on the gradient norm at given weights; `gradient` may be NULL. */
tacit_status tacit_glm_certify(const tacit_glm_problem *problem, tacit_pool *pool, const double *weights,
                               double *gradient, tacit_glm_fit *fit, tacit_error *error);
