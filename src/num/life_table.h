/* Curves of survival from counts of who is at risk and who has the event at each time: Kaplan and Meier
 * 1958, Nelson 1969 and Aalen 1978, with Greenwood's variance, and tests of whether groups differ. As R's
 * survfit and survdiff. */
#pragma once

#include <stddef.h>

#include "base/error.h"

typedef struct tacit_life_step {
    double time, at_risk, events;   /* given, in order of time */
    double survival, error;         /* S(t), and the standard error of its logarithm */
    double low, high;               /* of the confidence interval of S; NaN where S is 0 */
    double hazard, hazard_error;    /* the cumulative hazard and its standard error */
    double hazard_low, hazard_high; /* of its confidence interval; NaN where it has no upper end */
} tacit_life_step;

/* On which scale an interval is symmetric. */
typedef enum tacit_life_interval { TACIT_LIFE_LOG, TACIT_LIFE_LOG_LOG, TACIT_LIFE_PLAIN } tacit_life_interval;

/* The bounds of a step from its survival, hazard and their errors, `quantile` standard errors wide. Those of
 * the cumulative hazard H are what the interval of exp(-H), on the scale that is named, says of H (survfit
 * with stype = 2): `log` is symmetric in H itself, `log-log` in its logarithm. */
void tacit_life_set_interval(tacit_life_step *one, double quantile, tacit_life_interval interval);

/* Fill all but what is given. */
void tacit_life_fill(tacit_life_step *steps, size_t count, double level, tacit_life_interval interval);

/* By a step's time had an event of one of several causes (Aalen and Johansen 1978). */
typedef struct tacit_life_incidence {
    double share, error, low, high; /* the error of the share itself; bounds as those of a step's survival */
} tacit_life_incidence;

/* The bounds from share and error, `quantile` standard errors wide. A share of 0 with an error begins at
 * 0. */
void tacit_life_set_incidence(tacit_life_incidence *one, double quantile, tacit_life_interval interval);

/* Fill one cause's curve, `events` of it at each step; the steps, whose events are those of all causes, are
 * filled before. The error is that of survfit, the infinitesimal jackknife, which for rows of weight 1 is
 * Greenwood's. */
void tacit_life_fill_incidence(tacit_life_incidence *out, const tacit_life_step *steps, const double *events,
                               size_t count, double level, tacit_life_interval interval);

/* The time at which a curve falls to `share` or below, and where it stays at it for a while the middle of
 * that; NaN: it never does. */
typedef enum tacit_life_curve { TACIT_LIFE_SURVIVAL, TACIT_LIFE_LOW, TACIT_LIFE_HIGH } tacit_life_curve;
double tacit_life_quantile(const tacit_life_step *steps, size_t count, tacit_life_curve curve, double share);

/* The mean time until the event or `until`, whichever comes first: the area under the curve from `from`; and
 * its standard error. */
double tacit_life_mean(const tacit_life_step *steps, size_t count, double from, double until, double *error);

/* Cox's log hazard ratios of groups against the first, ties by Breslow: the partial likelihood of a model
 * with the group alone rests on these counts. `error` of each, by the information; both are 0 for the first
 * group and NaN where there is no maximum, as for a group without events. */
tacit_status tacit_life_ratios(double *log_ratio, double *ratio_error, const double *at_risk,
                               const double *events, size_t times, size_t groups, tacit_error *error);

/* What the differences of observed and expected events are weighed by at a time. */
typedef enum tacit_life_weight {
    TACIT_LIFE_LOG_RANK, /* 1 */
    TACIT_LIFE_PETO,     /* the survival of all just before (Peto and Peto 1972; survdiff with rho = 1) */
    TACIT_LIFE_GEHAN     /* how many are at risk (Gehan 1965) */
} tacit_life_weight;

/* Observed less expected events of each group, weighed and added up; to `covariance`, groups x groups, its
 * lower triangle by the hypergeometric law is added (NULL: not asked for). Counts may have noise in them. */
void tacit_life_differences(double *difference, double *covariance, tacit_life_weight weight,
                            const double *at_risk, const double *events, size_t times, size_t groups);

/* Differences that came with noise, and what it adds to their covariance. */
typedef struct tacit_life_noise {
    const double *difference, *covariance; /* groups, groups x groups */
} tacit_life_noise;

/* The chi-square of groups, `at_risk` and `events` being times x groups; its degrees of freedom, groups with
 * anybody at risk less one. 0 degrees: there is no test, and *statistic is NaN. `noise` NULL: there is
 * none. */
tacit_status tacit_life_test(double *statistic, size_t *degrees, tacit_life_weight weight,
                             const double *at_risk, const double *events, size_t times, size_t groups,
                             const tacit_life_noise *noise, tacit_error *error);
