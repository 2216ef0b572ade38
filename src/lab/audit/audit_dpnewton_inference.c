/*
 * An audit of dpnewton with purpose=inference: all seven answers, at weights of the audit's choice. One party
 * alone, one row (s, c) or (s, -c) that the weights take for wrong, so that it pulls as hard as a row may, in
 * one direction or nearly the opposite one. Every number is divided by its noise: along the line through both
 * outputs that is the best there is.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/audit/audit_parts.h"
#include "lab/audit/turned_rows.h"
#include "method/methods.h"
#include "method/private/dpnewton_inference.h"
#include "num/noisy/noisy_moments.h"

enum { DIMENSION = 2, ROWS = 50, QUESTIONS = DPNEWTON_INFERENCE_STEPS + 2 };

static const double SINE = 0.2;

typedef struct inference_case {
    tacit_turned_rows rows;
    tacit_plan plan, exact;
    dpnewton_inference design, silent;
    double charged; /* mu that the price buys */
} inference_case;

static void close_case(tacit_audit_case *subject) {
    inference_case *self = subject->state;
    if (self == NULL) return;
    tacit_turned_rows_clear(&self->rows);
    free(self);
    subject->state = NULL;
}

/* Question q as it leaves, each number divided by its noise; returns how many through *count. */
static tacit_status ask(const inference_case *self, tacit_session *session, const dpnewton_inference *design,
                        size_t q, double *out, size_t *count, tacit_error *error) {
    static const double at[DIMENSION] = { 100, 0 };
    bool last = q == QUESTIONS - 1;
    const tacit_sum_spec *spec = q == 0 ? &design->moments : last ? &design->curvature : &design->gradient;
    const char *question = q == 0 ? "inference-moments" : last ? "inference-curvature" : "inference-gradient";
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status = audit_ask_at(session, question, at, q > 0 ? DIMENSION : 0, spec, &sum, error);
    *count = spec->length - (q == 0);
    for (size_t j = 0; status == TACIT_OK && j < *count; j++)
        out[j] = sum.values[j] / self->design.release[q].deviation;
    tacit_sum_clear(&sum);
    return status;
}

static tacit_status draw_answers(tacit_audit_case *subject, int side, const tacit_stream *stream, double *out,
                                 tacit_error *error) {
    inference_case *self = subject->state;
    const dpnewton_inference *design = stream != NULL ? &self->design : &self->silent;
    tacit_session session;
    size_t count = 0;
    TACIT_TRY(tacit_turned_rows_begin(&self->rows, side, &self->plan, &self->exact, stream,
                                      subject->entropy != NULL, &session, error));
    for (size_t q = 0; q < QUESTIONS; q++, out += count)
        TACIT_TRY(ask(self, &session, design, q, out, &count, error));
    return TACIT_OK;
}

static tacit_status set_plan(inference_case *self, const tacit_audit_setup *setup, bool thin,
                             tacit_audit_case *out, tacit_error *error) {
    tacit_plan *plan = &self->plan;
    TACIT_TRY(tacit_audit_plan(plan, &tacit_method_dpnewton, setup, error));
    TACIT_TRY(tacit_plan_set(plan, "purpose", "inference", error));
    TACIT_TRY(tacit_plan_set(plan, "rows", "1", error)); /* c is one half then */
    TACIT_TRY(tacit_turned_rows_plan(plan, DIMENSION, ROWS, error));
    plan->classes = 2;
    if (plan->lambda == 0) plan->lambda = 0.01;
    TACIT_TRY(audit_charge_questions(out, plan, &self->exact, QUESTIONS, thin, &self->charged, error));
    TACIT_TRY(dpnewton_inference_describe(plan, &self->design, error));
    return dpnewton_inference_describe(&self->exact, &self->silent, error);
}

static tacit_status open_case(tacit_audit_case *out, const tacit_audit_setup *setup, bool thin,
                              tacit_error *error) {
    inference_case *self = TACIT_NEW(inference_case, 1);
    if (self == NULL) return tacit_fail_memory(error);
    out->state = self;
    out->length = 3 + DIMENSION * DPNEWTON_INFERENCE_STEPS + 8;
    TACIT_TRY(tacit_turned_rows_make(&self->rows, ROWS, SINE, error));
    TACIT_TRY(tacit_turned_rows_start(&self->rows, error));
    TACIT_TRY(set_plan(self, setup, thin, out, error));
    snprintf(out->pair, sizeof out->pair, "one row turned about, seen through all %d questions", QUESTIONS);
    return audit_measure_reach(out, draw_answers, self->charged, error);
}

static tacit_status open_sound(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, setup, false, error);
}

static tacit_status open_thin(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, setup, true, error);
}

const tacit_auditable tacit_audit_dpnewton_inference = {
    .name = "dpnewton-inference",
    .title = "the sums of dpnewton with purpose=inference, all seven seen",
    .open = open_sound,
    .draw = draw_answers,
    .close = close_case,
};

const tacit_auditable tacit_audit_dpnewton_inference_thin = {
    .name = "dpnewton-inference-thin",
    .title = "the same with noise as if one question were all: a control that an audit must find broken",
    .open = open_thin,
    .draw = draw_answers,
    .close = close_case,
};
