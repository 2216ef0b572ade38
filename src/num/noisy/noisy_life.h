/*
 * Curves of survival from counts with noise in them, and how far they may be off.
 *
 * Of each group of rows there are `kinds` histograms over cells of time: of rows that leave without an event,
 * then of events of each cause. A histogram x is released as C x/(sqrt(2) |c|) plus noise, C being the
 * lower triangular Toeplitz matrix of c_0 = 1, c_k = c_{k-1} (2k - 1)/(2k): C C is the matrix of prefix sums,
 * so that every prefix sum has noise of variance |c|^2 = about 1 + ln(cells)/pi times a number's
 * (Fichtenberger, Henzinger and Upadhyay 2023; Henzinger, Upadhyay and Upadhyay 2023), where noise on the
 * counts themselves adds up to that of all cells before.
 *
 * Sensitivity: a row is one unit in one cell of one histogram; another row in its place moves C x by two
 * columns' difference, whose squared length is at most the sum of theirs, 2 |c|^2, for no entry is negative.
 *
 * From the release: the counts C^-1 y, corrected so that they add up to the known number of rows (least
 * squares under the noise's covariance); at risk are those who leave then or later, made monotone; the
 * cumulative incidence of each cause (Aalen and Johansen 1978), made monotone by isotonic regression with
 * weights (at risk)^2, the last tenth of the cells as one; survival is what they leave of 1. A curve ends
 * where fewer are at risk than four standard deviations of the noise in that number.
 *
 * Hazard ratios of groups are Cox's (tacit_life_ratios), from the counts as far as all curves go.
 *
 * Errors by simulation: from the fitted counts draw events again (normal, binomial variance) and the noise as
 * it was added, do all of the above, and take the root mean square of the differences from the fit. Their
 * scale is that of the logarithm of survival; intervals are made of them as of Greenwood's.
 */
#pragma once

#include <stdbool.h>

#include "num/life_table.h"

enum { TACIT_LIFE_MOST_CELLS = 1024, TACIT_LIFE_SIMULATIONS = 400 };

/* A party's half: counts of one histogram become what is released, of sensitivity 1 over all histograms. */
void tacit_life_encode(double *counts, size_t cells);

/* `count` draws of N(0, 1). */
typedef struct tacit_life_source {
    void (*normals)(void *context, double *out, size_t count);
    void *context;
} tacit_life_source;

typedef struct tacit_noisy_life {
    size_t cells, groups, kinds; /* kinds: 1 + causes */
    double rows;                 /* of all groups: known */
    double deviation;            /* of the noise in each number that was released */
    const double *released;      /* groups x kinds x cells */
    const double *time;          /* the ends of cells */
    double from, until;          /* of means; until 0: as far as all curves go */
    double level;
    tacit_life_interval interval;
    tacit_life_source source;
} tacit_noisy_life;

typedef struct tacit_noisy_curve {
    size_t count;                                  /* of cells before the curve ends; 0: there is none */
    tacit_life_step *steps;                        /* count */
    double *censored;                              /* count */
    double *at_risk_error;                         /* of noise alone */
    tacit_life_incidence *incidence;               /* count x causes */
    double events, events_error, rows, rows_error; /* errors of noise alone */
    double mean, mean_error;
} tacit_noisy_curve;

typedef struct tacit_noisy_result {
    tacit_noisy_curve *curve; /* of each group */
    size_t groups;
    double until;
    double statistic[3];             /* by tacit_life_weight; NaN: no test */
    double *log_ratio, *ratio_error; /* of each group's hazard against `first`'s; NaN: not known */
    size_t first;
    size_t degrees;
} tacit_noisy_result;

tacit_status tacit_noisy_life_fit(tacit_noisy_result *out, const tacit_noisy_life *life, tacit_error *error);
void tacit_noisy_result_clear(tacit_noisy_result *result);
