/*
 * What the solver (glm.h) and the sums over rows (estimator.h) need to know of a loss l(y, t) that is convex
 * in the score t = x.w of a row with the response y. They know no loss by name: the families of model/family/
 * each bring one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "num/kernel/kernel.h"

typedef struct tacit_loss {
    bool of_classes; /* y is a class: 0 or 1, or with a score a class its number; else `columns` numbers */
    bool kinked;     /* l'' jumps */
    size_t columns;  /* of a response, at least 1 */

    /* One score a row: l, its slope l' and its curvature l'' by t, of `count` rows whose responses lie one
     * after the other. The results overlap neither each other nor y and t. NULL with a score a class. */
    void (*rows)(const tacit_kernels *kernels, double shape, size_t count, const double *y, const double *t,
                 double *loss, double *slope, double *curvature);

    /* A score a class: of each row the classes' probabilities p and log Z, so that l = log Z - t_y, with the
     * gradient p - e_y and the Hessian diag(p) - p p^T, which the solver makes of them. NULL with one score a
     * row. */
    void (*classes)(const tacit_kernels *kernels, size_t classes, size_t count, const double *t, double *p,
                    double *log_partition);

    /* K classes and K - 1 scores t, of one row of class y: l, its gradient and its Hessian (row-major) by t.
     * With `ordered` scores differ by constants only (num/several.h). NULL: there are no such sums. */
    void (*several)(size_t scores, double y, const double *t, double *loss, double *slope, double *curvature);
    bool ordered;

    double slope;                      /* L: |l'| <= L, over classes its norm; INFINITY: there is no bound */
    double (*curvature)(double shape); /* c: l'' <= c, as a matrix in its norm; INFINITY: there is no bound */

    /* By how much a computed slope is off for an exact t, in units of 2^-53. NULL without L or c: such a loss
     * has sums, but no certificate. */
    double (*rounding)(double shape, size_t classes);

    /* A positive number that the loss has beside y and t, as a model's file calls it: (0, shape_most]. NULL:
     * none. */
    const char *shape_name;
    double shape_most, shape_default;
} tacit_loss;

/* The shape to compute with: `shape`, or the usual one for 0. */
static inline double tacit_loss_shape(const tacit_loss *loss, double shape) {
    return shape != 0 ? shape : loss->shape_default;
}
