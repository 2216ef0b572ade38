/* What the two halves of method mixed share. */
#pragma once

#include "method/exact/estimate.h"
#include "method/exact/mixed_cluster.h"
#include "method/missing_sum.h"

enum {
    MIXED_HEAD = 1,
    MIXED_START = 4,
    MIXED_MOST_ROUNDS = 100,
    MIXED_MOST_ROOM = 40,
    MIXED_MOST_WIDTH = 200
};

static const double MIXED_MOST_SCORE = 30, MIXED_MOST_THETA = 1e4;

#define MIXED_FAMILIES "auto|linear|logistic|poisson"

typedef struct mixed_settings {
    enum { MIXED_FAMILY_AUTO } family; /* or the place of its name */
    enum { MIXED_BY_PERSON, MIXED_BY_PARTY } group;
    char slope[TACIT_SETTING_SIZE];
    enum { MIXED_ML, MIXED_REML } likelihood;
    uint64_t nodes;
    double level;
    missing_sum_setting missing;
} mixed_settings;

static inline const mixed_settings *mixed_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(mixed_settings, plan);
}

/* What follows from the plan alone. */
typedef struct mixed_design {
    tacit_design columns;
    const tacit_family *family;
    size_t terms;           /* random ones of a cluster: an intercept, and a slope */
    size_t slope;           /* the weight it belongs to */
    const char *slope_name; /* borrowed from the plan; NULL: there is none */
    size_t theta;           /* numbers of their covariance */
    size_t fields;          /* of F = (X, y), for linear */
} mixed_design;

tacit_status mixed_design_create(mixed_design *out, const tacit_plan *plan, tacit_error *error);
void mixed_design_clear(mixed_design *design);

/* The sums. "rows": rows, clusters, responses, and of counts the logarithms of their factorials; missing
 * values, where they are counted. Of linear ones "squares", F^T F. "sums": what mixed_cluster.h adds up. Each
 * is at most n 2^room. */
tacit_sum_spec mixed_start_sum(const tacit_plan *plan);
tacit_sum_spec mixed_sum(const tacit_plan *plan, double n, int room, size_t length);
size_t mixed_squares_length(const mixed_design *design);
size_t mixed_sums_length(const mixed_design *design);

/* With group=party each sum has one term for each party: how many numbers of one kind are opened up to
 * and with a round, which stays below the parties that do not collude (method meta has the argument). */
double mixed_opened(const mixed_design *design, uint64_t round);

extern const tacit_handler_entry mixed_handlers[];

/* ---- the coordinator's half (mixed_fit.c) ---- */

typedef struct mixed_fit {
    tacit_session *session;
    mixed_design design;
    double n, clusters, responses, factorials;
    size_t parties, iterations;
    int room;
    double *missing; /* how many values are (missing_sum.h); NULL: not counted */
    double *squares; /* fields x fields, lower triangle: linear */

    /* at the optimum, in encoded units: */
    double *beta;       /* width */
    double *covariance; /* of beta: width x width */
    double theta[MIXED_THETA];
    double residual;        /* variance of the scaled response; 1 unless linear */
    double deviance;        /* -2 log-likelihood of the scaled response, or the REML criterion */
    double log_determinant; /* of A, with REML: scaling columns moves it */
} mixed_fit;

tacit_status mixed_fit_run(mixed_fit *self, tacit_error *error);
