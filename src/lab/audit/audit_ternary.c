/*
 * Audits of dpstgd: answers, not models, are looked at, for whoever takes part sees every one. One party with
 * one row, a network without hidden layers at zero weights, where a row's gradient is -+(x, 1)/2, far beyond
 * the clip wherever x is not 0; so each number of the sum is -1, 0 or 1.
 *
 *   dpstgd        all rows take part and all signs are uploaded; the row has the other label, and every
 *                 number turns from -1 to 1.
 *   dpstgd-claim  the paper's accounting at its word: a sample with q = 0.004, a tenth of 200 numbers chosen.
 *                 The row is not 0 in twenty of them, or in none but the last. All twenty stand out together
 *                 when the row is in the sample, and not at all when it is not: one sample for all, where the
 *                 paper's price has one for each.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "lab/audit/audit_parts.h"
#include "method/private/dpsgd.h"
#include "method/private/ternary_upload.h"

enum { CLAIM_NUMBERS = 200, CLAIM_MOVED = 20 };

typedef struct ternary_case {
    tacit_dataset *data[2];
    tacit_local *local[2];
    tacit_split split;
    size_t ends[2], kept;
    uint32_t row[1];
    tacit_plan plan, exact; /* the latter without noise and without chance */
} ternary_case;

static void close_case(tacit_audit_case *subject) {
    ternary_case *self = subject->state;
    if (self == NULL) return;
    for (int side = 0; side < 2; side++) {
        tacit_local_free(self->local[side]);
        tacit_dataset_free(self->data[side]);
    }
    free(self);
    subject->state = NULL;
}

static const dpstgd_settings *settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(dpstgd_settings, plan);
}

static tacit_status make_plan(ternary_case *self, const tacit_audit_setup *setup, bool claim,
                              tacit_error *error) {
    tacit_plan *plan = &self->plan;
    TACIT_TRY(tacit_audit_plan(plan, &tacit_method_dpstgd, setup, error));
    plan->features = claim ? CLAIM_NUMBERS - 1 : 1;
    plan->classes = 2;
    plan->parties = plan->minimum_parties = plan->minimum_rows = 1;
    TACIT_TRY(tacit_plan_set(plan, "hidden", "none", error));
    TACIT_TRY(tacit_plan_set(plan, "clip", "1e-6", error));
    TACIT_TRY(audit_set_default(plan, setup, "rounds", "1", error));
    TACIT_TRY(audit_set_default(plan, setup, "sampling", claim ? "0.004" : "1", error));
    TACIT_TRY(audit_set_default(plan, setup, "keep", claim ? "0.1" : "1", error));
    if (claim) TACIT_TRY(tacit_plan_set(plan, "calibration", "paper", error));
    TACIT_TRY(tacit_plan_check(plan, error));
    self->exact = *plan;
    self->exact.epsilon = INFINITY;
    return tacit_plan_set(&self->exact, "sampling", "1", error);
}

static tacit_status make_rows(ternary_case *self, bool claim, tacit_error *error) {
    static const char *const classes[] = { "0", "1" };
    self->ends[1] = 1;
    self->split = (tacit_split){ 1, self->ends, self->row, 0 };
    for (int side = 0; side < 2; side++) {
        TACIT_TRY(tacit_dataset_create(&self->data[side], 1, self->plan.features, classes, 2, error));
        self->data[side]->label[0] = claim ? 1 : side;
        size_t moved = claim ? (side == 0 ? CLAIM_MOVED : 0) : 1;
        for (size_t j = 0; j < moved; j++)
            self->data[side]->dense.values[j] = (1 - 1e-12) / sqrt((double)moved);
        TACIT_TRY(tacit_local_create(&self->local[side], self->data[side], &self->split, NULL, error));
    }
    return TACIT_OK;
}

static tacit_status open_case(tacit_audit_case *out, bool claim, const tacit_audit_setup *setup,
                              tacit_error *error) {
    tacit_prices prices = { .event = { .count = 0 } };
    ternary_case *self = TACIT_NEW(ternary_case, 1);
    if (self == NULL) return tacit_fail_memory(error);
    out->state = self;
    TACIT_TRY(make_plan(self, setup, claim, error));
    TACIT_TRY(make_rows(self, claim, error));
    TACIT_TRY(tacit_plan_price(&self->plan, &prices, error));
    out->charged = claim ? prices.claimed : prices.charged;
    out->length = self->plan.features + 1;
    out->reach = NAN;
    self->kept = dpstgd_kept(&self->plan, out->length);
    tacit_format(out->pair, sizeof out->pair, "%s, seen through %llu answers",
                 claim ? "the only row has twenty numbers, or none" : "the only row has the other label",
                 (unsigned long long)settings_of(&self->plan)->rounds);
    return TACIT_OK;
}

static tacit_status open_dpstgd(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, false, setup, error);
}

static tacit_status open_claim(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, true, setup, error);
}

/* Ask once at zero weights and add the answer. */
static tacit_status ask(const ternary_case *self, tacit_session *session, size_t length, double *into,
                        tacit_error *error) {
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_answers answers = TACIT_ANSWERS_INIT;
    const uint8_t *packed;
    size_t bytes;
    tacit_status status = TACIT_OK;
    double *weights = TACIT_NEW(double, length);
    int8_t *signs = TACIT_NEW(int8_t, length);
    if (weights == NULL || signs == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", weights, length, error));
    TACIT_CHECK(tacit_ask_one(session, "signs", &message, 0, true, &answers, error));
    TACIT_CHECK(tacit_message_bytes(&answers.answer[0].message, "signs", &packed, &bytes, error));
    TACIT_CHECK(ternary_unpack(signs, length, self->kept, packed, bytes, error));
    for (size_t j = 0; j < length; j++) into[j] += signs[j];
cleanup:
    free(weights);
    free(signs);
    tacit_answers_clear(&answers);
    tacit_message_clear(&message);
    return status;
}

static tacit_status draw_answers(tacit_audit_case *subject, int side, const tacit_stream *stream, double *out,
                                 tacit_error *error) {
    ternary_case *self = subject->state;
    const tacit_plan *plan = stream != NULL ? &self->plan : &self->exact;
    tacit_stream fixed = tacit_stream_from_seed(0);
    const uint64_t rounds = settings_of(plan)->rounds;
    tacit_session session;
    TACIT_TRY(tacit_local_draw_exactly(self->local[side], stream != NULL && subject->entropy != NULL, error));
    TACIT_TRY(
        tacit_local_begin(self->local[side], plan, stream != NULL ? stream : &fixed, NULL, &session, error));
    memset(out, 0, subject->length * sizeof *out);
    for (uint64_t t = 0; t < rounds; t++) TACIT_TRY(ask(self, &session, subject->length, out, error));
    return TACIT_OK;
}

/* How many of the twenty are chosen with the row's own sign. */
static double score_moved(const tacit_audit_case *subject, const double *release, const double *const at[2]) {
    double sum = 0;
    (void)subject;
    (void)at;
    for (size_t j = 0; j < CLAIM_MOVED; j++) sum += release[j] < 0;
    return sum / CLAIM_MOVED;
}

const tacit_auditable tacit_audit_dpstgd = {
    .name = "dpstgd",
    .title = "noisy signs of the largest gradients, at the sound price, all answers seen",
    .open = open_dpstgd,
    .draw = draw_answers,
    .close = close_case,
};

const tacit_auditable tacit_audit_dpstgd_claim = {
    .name = "dpstgd-claim",
    .title = "the same at the price that the paper claims: a control that an audit must find broken",
    .score = score_moved,
    .open = open_claim,
    .draw = draw_answers,
    .close = close_case,
};
