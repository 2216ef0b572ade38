/*
 * An audit of dpcox: all seven answers, at a baseline and coefficients of the audit's choice. One party
 * alone, one row that leaves in the first cell of time: with the event where none was expected, or without
 * where many were. So it pulls as hard as a row may, one way or nearly the opposite one. Every number is
 * divided by its noise: along the line through both outputs that is the best there is.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "lab/audit/audit_parts.h"
#include "lab/audit/turned_rows.h"
#include "method/methods.h"
#include "method/time/dpcox.h"

enum { FEATURES = 2, ROWS = 50, QUESTIONS = DPCOX_STEPS + 1, CELLS = 8, COUNTS = DPCOX_HEAD + 2 * CELLS };
enum { WIDTH = FEATURES - 1 + DPCOX_CLOCK, SCORES = WIDTH + WIDTH * (WIDTH + 1) / 2 };

static const char schema_text[] = "label: {name: [t, e], kind: time, low: 0, high: 8}\n"
                                  "columns:\n"
                                  "  - {name: u, kind: number, low: -1, high: 1}\n"
                                  "intercept: yes\n";

typedef struct hazard_case {
    tacit_turned_rows rows;
    tacit_schema *schema;
    tacit_plan plan, exact;
    dpcox_design design, silent;
    double charged; /* mu that the price buys */
} hazard_case;

static void close_case(tacit_audit_case *subject) {
    hazard_case *self = subject->state;
    if (self == NULL) return;
    tacit_turned_rows_clear(&self->rows);
    dpcox_clear(&self->design);
    dpcox_clear(&self->silent);
    tacit_schema_free(self->schema);
    free(self);
    subject->state = NULL;
}

static tacit_status ask(const hazard_case *self, tacit_session *session, const dpcox_design *design, size_t q,
                        double *out, tacit_error *error) {
    static const double weights[WIDTH] = { 40 }, hazard[CELLS] = { 1 },
                        clock[CELLS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    const tacit_sum_spec *spec = q == 0 ? &design->counts : &design->scores;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status = TACIT_OK;
    if (q > 0) {
        TACIT_CHECK(tacit_message_add_numbers(&message, "weights", weights, WIDTH, error));
        TACIT_CHECK(tacit_message_add_numbers(&message, "hazard", hazard, CELLS, error));
        TACIT_CHECK(tacit_message_add_numbers(&message, "clock", clock, CELLS, error));
    }
    TACIT_CHECK(tacit_ask_sum(session, q == 0 ? "counts" : "scores", &message, spec, &sum, error));
    for (size_t j = 0; j < spec->length; j++) out[j] = sum.values[j] / self->design.release[q].deviation;
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}

static tacit_status draw_answers(tacit_audit_case *subject, int side, const tacit_stream *stream, double *out,
                                 tacit_error *error) {
    hazard_case *self = subject->state;
    const dpcox_design *design = stream != NULL ? &self->design : &self->silent;
    tacit_session session;
    TACIT_TRY(tacit_turned_rows_begin(&self->rows, side, &self->plan, &self->exact, stream,
                                      subject->entropy != NULL, &session, error));
    for (size_t q = 0; q < QUESTIONS; out += q == 0 ? COUNTS : SCORES, q++)
        TACIT_TRY(ask(self, &session, design, q, out, error));
    return TACIT_OK;
}

static tacit_status set_plan(hazard_case *self, const tacit_audit_setup *setup, bool thin,
                             tacit_audit_case *out, tacit_error *error) {
    tacit_plan *plan = &self->plan;
    TACIT_TRY(tacit_audit_plan(plan, &tacit_method_dpcox, setup, error));
    TACIT_TRY(tacit_plan_set(plan, "rows", "1", error)); /* L is 1 then */
    TACIT_TRY(tacit_plan_set(plan, "width", "1", error));
    TACIT_TRY(tacit_turned_rows_plan(plan, FEATURES, ROWS, error));
    plan->classes = 0;
    plan->schema = self->schema;
    TACIT_TRY(audit_charge_questions(out, plan, &self->exact, QUESTIONS, thin, &self->charged, error));
    TACIT_TRY(dpcox_describe(plan, &self->design, error));
    return dpcox_describe(&self->exact, &self->silent, error);
}

/* Everybody leaves in the first cell; the first row is as the head says. */
static tacit_status set_rows(hazard_case *self, tacit_error *error) {
    for (int side = 0; side < 2; side++) {
        tacit_dataset *data = self->rows.data[side];
        data->response = TACIT_NEW(double, 2 * data->rows);
        if (data->response == NULL) return tacit_fail_memory(error);
        data->response_columns = 2;
        for (size_t i = 0; i < data->rows; i++) {
            data->response[2 * i] = 1;
            data->dense.values[i * FEATURES] = data->dense.values[i * FEATURES + 1] = M_SQRT1_2;
        }
        data->dense.values[0] = side == 0 ? -M_SQRT1_2 : M_SQRT1_2;
        data->response[1] = side == 0;
    }
    return TACIT_OK;
}

static tacit_status open_case(tacit_audit_case *out, const tacit_audit_setup *setup, bool thin,
                              tacit_error *error) {
    hazard_case *self = TACIT_NEW(hazard_case, 1);
    if (self == NULL) return tacit_fail_memory(error);
    out->state = self;
    out->length = COUNTS + DPCOX_STEPS * SCORES;
    TACIT_TRY(tacit_schema_parse(&self->schema, schema_text, sizeof schema_text - 1, "audit", error));
    TACIT_TRY(tacit_turned_rows_make(&self->rows, ROWS, 0, error));
    TACIT_TRY(set_rows(self, error));
    TACIT_TRY(tacit_turned_rows_start(&self->rows, error));
    TACIT_TRY(set_plan(self, setup, thin, out, error));
    snprintf(out->pair, sizeof out->pair,
             "one row with an event that was not expected or without one that was, through all %d questions",
             QUESTIONS);
    return audit_measure_reach(out, draw_answers, self->charged, error);
}

static tacit_status open_sound(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, setup, false, error);
}

static tacit_status open_thin(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, setup, true, error);
}

const tacit_auditable tacit_audit_dpcox = {
    .name = "dpcox",
    .title = "counts by time and sums of scores of hazards, all seven questions seen",
    .open = open_sound,
    .draw = draw_answers,
    .close = close_case,
};

const tacit_auditable tacit_audit_dpcox_thin = {
    .name = "dpcox-thin",
    .title = "the same with noise as if one question were all: a control that an audit must find broken",
    .open = open_thin,
    .draw = draw_answers,
    .close = close_case,
};
