/*
 * The partial likelihood of Cox (1972) from sums over groups of rows that leave at the same time. With r_i =
 * exp(x_i.w), a group's sums are of r, r x and r x x^T over the rows that leave in it, and, for Efron's way
 * with ties, over those with an event: who was at risk then is all groups from this one on, added up
 * backwards.
 *
 *   l(w) = sum over events x_i.w - sum over groups, j = 0 .. m-1, of log(S - (j/m) D)
 *
 * S the sum of r at risk, D that of the m events of the group; Breslow has S for S - (j/m) D. Rows that are
 * at risk only from some group on are subtracted from the groups before it.
 */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* Of r, r x and the lower triangle of r x x^T, row by row: 1 + d + d (d + 1)/2 numbers. */
size_t tacit_risk_length(size_t width);
void tacit_risk_add(double *sum, size_t width, double risk, const double *x);

/* Groups of all strata one stratum after the other, each stratum's in order of time. */
typedef struct tacit_cox_groups {
    size_t width, strata;
    const size_t *end;      /* of each stratum one past its last group */
    const double *events;   /* of each group */
    const double *leaving;  /* of each group tacit_risk_length numbers, all divided by exp(shift) */
    const double *died;     /* the same over events, where a group has two or more; NULL: Breslow */
    const double *entering; /* the same over the rows at risk from this group on; not of a stratum's first;
                             * NULL: all rows are at risk from the beginning */
    const double *event_x;  /* the sum of x over all events */
    const double *time;     /* of each group a function of time, for trends; NULL: none is wanted */
    double shift;
} tacit_cox_groups;

typedef struct tacit_cox_point {
    double log_likelihood;
    double *score;       /* width */
    double *information; /* width x width, lower triangle */
    double *hazard; /* of each group: the step of the baseline's cumulative hazard at x = 0; may be NULL */
    double *steps;  /* of each group tacit_cox_steps numbers, for scores of single rows; may be NULL */
    /* with `time`: sum of t m, of each column, m the mean at risk; sums of t V and of t^2 V, V a group's
     * information, width x width, lower triangles */
    double *trend;
} tacit_cox_point;

/*
 * What of a group goes into the score of a row (the residuals of Therneau, Grambsch and Fleming 1990). With
 * z_j = S - (j/m) D, f = j/m and x_j the mean at risk with these weights, in units of exp(shift):
 *
 *   sum 1/z_j;  sum x_j/z_j;  mean of x_j;  sum (1 - f)/z_j;  sum (1 - f) x_j/z_j
 *
 * the last two being those of the events themselves by Efron's way. 2 + 3 width numbers, 0 without events.
 */
size_t tacit_cox_steps(size_t width);

/* TACIT_NOT_CONVERGED where nobody is at risk at an event, as rounding may have it at far weights. */
tacit_status tacit_cox_evaluate(tacit_cox_point *out, const tacit_cox_groups *groups, const double *w,
                                tacit_error *error);
