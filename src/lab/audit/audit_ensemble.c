/*
 * Worst known pairs of the ensemble methods: one of two parties turns around what it says of every point. The
 * points are all the same, x = 1 in one dimension, so that no direction of the noise is wasted and the shifts
 * of all of them add up. What is audited is what the session published, which for soft-stat and pate is more
 * than the model.
 *
 *   vote       2 votes against none for class 1, then 1 against 1: the label of every point changes. The
 *              minimiser is +-w with lambda w = sigma(-w); at lambda = W/(1 + W)^2, W = W(1/e), it is w = 1 +
 *              W and attains S = 2 sqrt(W/lambda).
 *   soft       Shares change from 1 to 1/2. The minimiser moves by S/(1 + sigma'/lambda), which is all of S =
 *              1/(M lambda) for a large lambda.
 *   soft-stat  The statistic moves by 1/M through L^-1, whatever lambda.
 *   pate       Every count moves by one: S = sqrt(2 T).
 */
#include "lab/audit/audit_methods.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/number.h"

enum { PARTIES = 2, POINTS = 4 };

/* A party whose only row is x = 1 of class y says y of every point x = 1, whatever its classifier. */
static tacit_status turning_party(tacit_pair *out, char text[TACIT_AUDIT_TEXT], const tacit_method *method,
                                  double lambda, const tacit_audit_setup *setup, tacit_error *error) {
    static const char *const classes[] = { "0", "1" };
    TACIT_TRY(tacit_audit_plan(&out->plan, method, setup, error));
    if (out->plan.lambda == 0) out->plan.lambda = lambda;
    out->plan.features = 1;
    out->plan.parties = PARTIES;
    out->plan.minimum_rows = 1;
    out->statistic = TACIT_STATISTIC_PUBLISHED;
    for (int side = 0; side < 2; side++) {
        TACIT_TRY(tacit_dataset_create(&out->data[side], PARTIES, 1, classes, 2, error));
        for (size_t k = 0; k < PARTIES; k++) {
            out->data[side]->dense.values[k] = 1;
            out->data[side]->label[k] = k > 0 || side == 0;
        }
    }
    TACIT_TRY(tacit_dataset_create(&out->auxiliary[0], POINTS, 1, classes, 2, error));
    for (size_t i = 0; i < POINTS; i++) out->auxiliary[0]->dense.values[i] = 1;
    tacit_format(text, TACIT_AUDIT_TEXT,
                 "one of two parties turns around what it says of %d equal points; lambda %.4g", POINTS,
                 out->plan.lambda);
    return tacit_split_in_order(&out->split, PARTIES, PARTIES, error);
}

static tacit_status vote_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT], const tacit_audit_setup *setup,
                              tacit_error *error) {
    static const double W = 0.27846454276107379510; /* W(1/e) */
    return turning_party(out, text, &tacit_method_vote, W / ((1 + W) * (1 + W)), setup, error);
}

static tacit_status soft_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT], const tacit_audit_setup *setup,
                              tacit_error *error) {
    return turning_party(out, text, &tacit_method_soft, 10, setup, error);
}

static tacit_status soft_stat_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT],
                                   const tacit_audit_setup *setup, tacit_error *error) {
    return turning_party(out, text, &tacit_method_soft_stat, 1, setup, error);
}

static tacit_status pate_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT], const tacit_audit_setup *setup,
                              tacit_error *error) {
    return turning_party(out, text, &tacit_method_pate, 1, setup, error);
}

/* In one dimension the gamma-norm law is Laplace's, and distance and projection serve it alike; the Gaussian
 * of pate and of soft-stat loses along the projection. */
const tacit_auditable tacit_audit_vote = {
    .name = "vote",
    .title = "a model of the parties' majority labels",
    .score = tacit_score_distance,
    .pair = vote_pair,
};

const tacit_auditable tacit_audit_soft = {
    .name = "soft",
    .title = "a model of the parties' shares of votes",
    .score = tacit_score_distance,
    .pair = soft_pair,
};

const tacit_auditable tacit_audit_soft_stat = {
    .name = "soft-stat",
    .title = "a noisy statistic of the parties' votes",
    .pair = soft_stat_pair,
};

const tacit_auditable tacit_audit_pate = {
    .name = "pate",
    .title = "noisy counts of votes",
    .pair = pate_pair,
};
