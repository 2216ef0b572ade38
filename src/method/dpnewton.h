/*
 * What follows from dpnewton's plan (dpnewton_plan.c), and its sums over a party's rows (dpnewton_rows.c). The method itself is
 * in dpnewton.c.
 */
#pragma once

#include "method/gradient.h"
#include "privacy/mechanism/shares.h"

enum { DPNEWTON_MOST_ROUNDS = 64, DPNEWTON_MOST_COLUMNS = 1024 };

typedef struct dpnewton_settings {
    uint64_t rounds, rows; /* 0: chosen, declared by the parties' least */
    enum { DPNEWTON_BY_COORDINATOR, DPNEWTON_BY_PARTY, DPNEWTON_BY_SHARES } noise;
    enum { DPNEWTON_FOR_PREDICTION, DPNEWTON_FOR_INFERENCE } purpose;
} dpnewton_settings;

static inline const dpnewton_settings *dpnewton_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(dpnewton_settings, plan);
}

/* What one question releases: question 0 the moments, question t the gradient of step t. */
typedef struct dpnewton_release {
    tacit_mechanism mechanism;
    double share;              /* of the budget */
    double deviation;          /* of the noise on one number of the published sum; 0 without noise */
    double scale;              /* of what one party or the coordinator draws, in the sum's units */
    tacit_event event;         /* count 0 without noise */
    tacit_shared_noise shared; /* noise=shares, in steps of the grid */
} dpnewton_release;

/* The rows as the method sees them: x = (feature u_j, intercept 1)/R, times min(1, 1/|x|) in every sum. */
typedef struct dpnewton_scaling {
    double feature, intercept; /* what an encoded row's features and its intercept are multiplied by */
    double encoded;            /* the intercept of an encoded row; 0: it has none, or it is not known */
    double longest;            /* |x| at most */
} dpnewton_scaling;

typedef struct dpnewton_design {
    size_t width, rounds;
    tacit_sum_spec moments, gradient;
    dpnewton_release release[DPNEWTON_MOST_ROUNDS + 1];
    dpnewton_scaling scaling;
    tacit_event all; /* of all questions together */
    double
        strength; /* mu of all noise that there is: 1/sigma over how much more of it than needed; INFINITY without */
} dpnewton_design;

/* A function of the plan alone. TACIT_USAGE for one that the method does not take. */
tacit_status dpnewton_describe(const tacit_plan *plan, dpnewton_design *out, tacit_error *error);

/* The ridge lambda from public numbers. */
tacit_status dpnewton_lambda(const tacit_plan *plan, double *out, tacit_error *error);

/* How many rows all parties have together, as declared. */
double dpnewton_rows(const tacit_plan *plan);

/* mu of all noise that there is, as in dpnewton_design. */
tacit_status dpnewton_strength(const tacit_plan *plan, double *out, tacit_error *error);

/* The noise, price and event of a release whose share of the budget is set, `sensitivity` before roundings; the largest that its noise may be,
 * twice over, where parties add it themselves, else 0; and the event of the whole budget. */
tacit_status dpnewton_calibrate(const tacit_plan *plan, dpnewton_release *out, const tacit_sum_spec *spec,
                                double sensitivity, tacit_error *error);
tacit_status dpnewton_room(const tacit_plan *plan, const dpnewton_release *release, size_t length,
                           double *out, tacit_error *error);
tacit_status dpnewton_whole_event(const tacit_plan *plan, tacit_event *out, tacit_error *error);

/* The party's: take *values, with the noise of this release, into the reply. */
tacit_status dpnewton_give(tacit_party *party, const dpnewton_release *release, const tacit_sum_spec *spec,
                           double **values, tacit_reply *reply, tacit_error *error);

/* The coordinator's: ask, and add the noise if entrusted with it; `count` numbers are published. */
tacit_status dpnewton_ask(tacit_session *session, const char *question, const tacit_message *message,
                          const tacit_sum_spec *spec, const dpnewton_release *release, size_t count,
                          tacit_sum *sum, tacit_error *error);

/* What step t, from 1, counts in the mean that is the model: its share if it is in the tail, else 0. */
double dpnewton_tail(const dpnewton_design *design, size_t step);

/* The sum of x x^T over the party's rows, packed (num/noisy_moments.h), and their number; the sum of clip(sigma(w.x) - y, +-1/2) x min(1, 1/|x|).
 * In all holders. */
tacit_status dpnewton_sum_moments(tacit_party *party, const dpnewton_design *design, double *out,
                                  tacit_error *error);
tacit_status dpnewton_sum_gradient(tacit_party *party, const dpnewton_design *design, const double *weights,
                                   double *out, tacit_error *error);
