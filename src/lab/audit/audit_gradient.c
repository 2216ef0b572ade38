/*
 * Audits of dpgd and psgd. Whoever takes part sees every round, so it is not the final model that is audited
 * but the answers, by the attack of lab/audit/attack.h: one party alone, the row in question turned about,
 * the mean of T answers where its gradient moves by almost 2L (dpgd, psgd with noise=fresh), or of their
 * differences. For unit=party the party has that row only.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "data/generate.h"
#include "lab/audit/attack.h"
#include "lab/audit/audit_parts.h"
#include "method/private/gradient.h"

enum { DIMENSION = TACIT_ATTACK_DIMENSION, ROWS = 50, USUAL_ROUNDS = 10, CLAIM_ROUNDS = 200 };

typedef struct gradient_case {
    tacit_dataset *data;
    tacit_split *split;
    tacit_attack *attack;
} gradient_case;

static void close_case(tacit_audit_case *subject) {
    gradient_case *self = subject->state;
    if (self == NULL) return;
    tacit_attack_free(self->attack);
    tacit_split_free(self->split);
    tacit_dataset_free(self->data);
    free(self);
    subject->state = NULL;
}

static tacit_status draw_answers(tacit_audit_case *subject, int side, const tacit_stream *stream, double *out,
                                 tacit_error *error) {
    gradient_case *self = subject->state;
    tacit_attack_draw_exactly(self->attack, subject->entropy != NULL);
    return tacit_attack_look(self->attack, side, stream, out, error);
}

/* One party with `rows` rows of the ball. */
static tacit_status make_rows(gradient_case *self, size_t rows, tacit_error *error) {
    tacit_stream stream = tacit_stream_from_seed(1);
    TACIT_TRY(tacit_generate_ball(&self->data, rows, DIMENSION, NULL, &stream, error));
    TACIT_TRY(tacit_split_in_order(&self->split, 1, rows, error));
    return tacit_attack_create(&self->attack, self->data, self->split, error);
}

/* How far apart the answers are without noise, of the sensitivity that the method declares. */
static tacit_status measure_reach(tacit_audit_case *out, tacit_error *error) {
    gradient_case *self = out->state;
    const tacit_plan *plan = tacit_attack_plan(self->attack);
    double at[2][DIMENSION], square = 0;
    tacit_noise_law law;
    for (int side = 0; side < 2; side++)
        TACIT_TRY(tacit_attack_look(self->attack, side, NULL, at[side], error));
    TACIT_TRY(tacit_plan_noise(plan, &law, error));
    for (size_t j = 0; j < DIMENSION; j++) square += pow(at[0][j] - at[1][j], 2);
    out->reach = sqrt(square) / law.sensitivity;
    return TACIT_OK;
}

/* 0 leaves them to the method; one is the least to see. */
static size_t set_rounds(const tacit_plan *plan) {
    const uint64_t rounds = plan->method == &tacit_method_psgd ? TACIT_SETTINGS(psgd_settings, plan)->rounds
                                                               : TACIT_SETTINGS(dpgd_settings, plan)->rounds;
    return rounds > 0 ? rounds : 1;
}

static tacit_status open_case(tacit_audit_case *out, const tacit_method *method, size_t rounds, bool claimed,
                              const tacit_audit_setup *setup, tacit_error *error) {
    tacit_plan plan;
    tacit_prices prices = { .event = { .count = 0 } };
    gradient_case *self = TACIT_NEW(gradient_case, 1);
    if (self == NULL) return tacit_fail_memory(error);
    out->state = self;
    TACIT_TRY(tacit_audit_plan(&plan, method, setup, error));
    if (plan.lambda == 0) plan.lambda = 0.01;
    bool whole =
        method == &tacit_method_dpgd && TACIT_SETTINGS(dpgd_settings, &plan)->unit == TACIT_UNIT_PARTY;
    /* An entrusted coordinator adds the same noise as a party would; the attack looks at answers. A party
     * alone adds the only share, which is all of the noise. */
    if (method == &tacit_method_dpgd && !tacit_plan_shares_noise(&plan))
        TACIT_TRY(tacit_plan_set(&plan, "noise", "party", error));
    if (audit_is_set(setup, "rounds")) rounds = set_rounds(&plan);
    TACIT_TRY(make_rows(self, whole ? 1 : ROWS, error));
    TACIT_TRY(tacit_attack_aim(self->attack, &plan, rounds, error));
    TACIT_TRY(tacit_plan_price(tacit_attack_plan(self->attack), &prices, error));
    out->charged = claimed ? prices.claimed : prices.charged;
    out->length = DIMENSION;
    snprintf(out->pair, sizeof out->pair, "%s turned about, seen through %zu answers",
             whole ? "all rows" : "one row", rounds);
    return measure_reach(out, error);
}

static tacit_status open_dpgd(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, &tacit_method_dpgd, USUAL_ROUNDS, false, setup, error);
}

static tacit_status open_psgd(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, &tacit_method_psgd, USUAL_ROUNDS, false, setup, error);
}

static tacit_status open_claim(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, &tacit_method_psgd, CLAIM_ROUNDS, true, setup, error);
}

const tacit_auditable tacit_audit_dpgd = {
    .name = "dpgd",
    .title = "gradient descent with noise in every step, all steps seen",
    .open = open_dpgd,
    .draw = draw_answers,
    .close = close_case,
};

const tacit_auditable tacit_audit_psgd = {
    .name = "psgd",
    .title = "stochastic gradient descent as printed, at its charge, all steps seen",
    .open = open_psgd,
    .draw = draw_answers,
    .close = close_case,
};

const tacit_auditable tacit_audit_psgd_claim = {
    .name = "psgd-claim",
    .title = "the same at the price that the paper claims: a control that an audit must find broken",
    .open = open_claim,
    .draw = draw_answers,
    .close = close_case,
};
