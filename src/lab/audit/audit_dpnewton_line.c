/*
 * An audit of dpnewton where the line is asked for (line=asked): one party alone, of whose rows one has the
 * other label in the second data set. At weights 0 its gradient is half the row, one way or the other, and
 * the line's question takes its score, 0, to be far out: both move by all that they may. The moments do not
 * move, and are not looked at. Steps are averaged by their shares of the budget and the line's two numbers
 * scaled to noise of the same size, as in audit_dpnewton.c. dpnewton-line-thin has the noise of one question
 * in each of them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/generate.h"
#include "lab/audit/audit_parts.h"
#include "lab/audit/turned_rows.h"
#include "method/methods.h"
#include "method/private/dpnewton.h"
#include "privacy/account/gaussian.h"

/* So many columns, and 7 times as many of n mu, that the line is asked for. */
enum { DIMENSION = 20, ROWS = 50, USUAL_ROUNDS = 10, EACH = 7, LENGTH = 3 };

typedef struct line_case {
    tacit_turned_rows rows;
    tacit_plan plan, exact;
    dpnewton_design design, silent;
} line_case;

static void close_case(tacit_audit_case *subject) {
    line_case *self = subject->state;
    if (self == NULL) return;
    tacit_turned_rows_clear(&self->rows);
    free(self);
    subject->state = NULL;
}

/* The first row is a unit vector, and its label what differs. */
static tacit_status make_rows(line_case *self, tacit_error *error) {
    TACIT_TRY(tacit_split_in_order(&self->rows.split, 1, ROWS, error));
    for (int side = 0; side < 2; side++) {
        tacit_stream stream = tacit_stream_from_seed(1);
        TACIT_TRY(tacit_generate_ball(&self->rows.data[side], ROWS, DIMENSION, NULL, &stream, error));
        double *first = self->rows.data[side]->dense.values;
        for (size_t j = 0; j < DIMENSION; j++) first[j] = j == 0 ? 1 - 1e-12 : 0;
        self->rows.data[side]->label[0] = side;
    }
    return tacit_turned_rows_start(&self->rows, error);
}

static tacit_status ask_step(tacit_session *session, const dpnewton_design *design, double *out,
                             tacit_error *error) {
    static const double at[DIMENSION];
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status = audit_ask_at(session, "gradient", at, DIMENSION, &design->gradient, &sum, error);
    if (status == TACIT_OK) *out = sum.values[0];
    tacit_sum_clear(&sum);
    return status;
}

/* Scores said to be about -10 with a spread of 1. */
static const double FAR_OUT[DIMENSION + 2] = { [DIMENSION] = -10, [DIMENSION + 1] = 1 };

static tacit_status ask_line(tacit_session *session, const dpnewton_design *design, double out[2],
                             tacit_error *error) {
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status = audit_ask_at(session, "line", FAR_OUT, DIMENSION + 2, &design->line, &sum, error);
    if (status == TACIT_OK) memcpy(out, sum.values, 2 * sizeof *out);
    tacit_sum_clear(&sum);
    return status;
}

/* Without noise no study would ask: the sum is made here. */
static tacit_status add_line(const line_case *self, int side, double out[2], tacit_error *error) {
    const tacit_dataset *data = self->rows.data[side];
    tacit_party party = { .plan = &self->plan, .rows = tacit_dataset_view(data), .total_rows = data->rows };
    return dpnewton_sum_line(&party, &self->design, FAR_OUT, out, error);
}

static tacit_status draw_answers(tacit_audit_case *subject, int side, const tacit_stream *stream, double *out,
                                 tacit_error *error) {
    line_case *self = subject->state;
    const dpnewton_design *design = stream != NULL ? &self->design : &self->silent;
    const dpnewton_release *releases = self->design.release, *line = &releases[self->design.rounds + 1];
    const double steps = 1 - releases[0].share - line->share;
    tacit_session session;
    TACIT_TRY(tacit_turned_rows_begin(&self->rows, side, &self->plan, &self->exact, stream,
                                      subject->entropy != NULL, &session, error));
    session.round = 1;
    out[0] = 0;
    for (size_t t = 1; t <= design->rounds; t++) {
        double value = 0;
        TACIT_TRY(ask_step(&session, design, &value, error));
        out[0] += value * releases[t].share / steps;
    }
    TACIT_TRY(stream != NULL ? ask_line(&session, design, out + 1, error)
                             : add_line(self, side, out + 1, error));
    for (size_t j = 1; j < LENGTH; j++)
        out[j] *= sqrt(line->share / steps) * releases[1].mechanism.sensitivity / line->mechanism.sensitivity;
    return TACIT_OK;
}

/* How far apart both are without noise, of the sensitivity that the method declares for them. */
static tacit_status measure_reach(tacit_audit_case *out, tacit_error *error) {
    line_case *self = out->state;
    const dpnewton_release *releases = self->design.release, *line = &releases[self->design.rounds + 1];
    double at[2][LENGTH], square = 0, steps = 1 - releases[0].share - line->share;
    for (int side = 0; side < 2; side++) TACIT_TRY(draw_answers(out, side, NULL, at[side], error));
    for (size_t j = 0; j < LENGTH; j++) square += pow(at[0][j] - at[1][j], 2);
    out->reach = sqrt(square / (1 + line->share / steps)) / releases[1].mechanism.sensitivity;
    return TACIT_OK;
}

static tacit_status set_plan(line_case *self, const tacit_audit_setup *setup, bool thin,
                             tacit_audit_case *out, tacit_error *error) {
    tacit_plan *plan = &self->plan;
    tacit_prices prices = { .event = { .count = 0 } };
    char number[32];
    double strength = 0, sigma = 0;
    TACIT_TRY(tacit_audit_plan(plan, &tacit_method_dpnewton, setup, error));
    TACIT_TRY(tacit_turned_rows_plan(plan, DIMENSION, ROWS, error));
    plan->classes = 2;
    if (plan->lambda == 0) plan->lambda = 0.01;
    if (dpnewton_settings_of(plan)->rounds == 0) {
        snprintf(number, sizeof number, "%d", USUAL_ROUNDS);
        TACIT_TRY(tacit_plan_set(plan, "rounds", number, error));
    }
    TACIT_TRY(tacit_plan_price(plan, &prices, error));
    out->charged = prices.charged;
    if (thin) {
        TACIT_TRY(tacit_gaussian_sigma(&sigma, plan->epsilon, plan->delta, 1, error));
        sigma /= sqrt((double)dpnewton_settings_of(plan)->rounds + 1);
        TACIT_TRY(tacit_gaussian_epsilon(&plan->epsilon, sigma, plan->delta, error));
    }
    TACIT_TRY(dpnewton_strength(plan, &strength, error));
    tacit_format(number, sizeof number, "%.0f", fmax(1, ceil(EACH * DIMENSION / strength)));
    TACIT_TRY(tacit_plan_set(plan, "rows", number, error));
    TACIT_TRY(tacit_plan_check(plan, error));
    TACIT_TRY(dpnewton_describe(plan, &self->design, error));
    self->exact = *plan;
    self->exact.epsilon = INFINITY;
    TACIT_TRY(dpnewton_describe(&self->exact, &self->silent, error));
    return TACIT_OK;
}

static tacit_status open_case(tacit_audit_case *out, const tacit_audit_setup *setup, bool thin,
                              tacit_error *error) {
    line_case *self = TACIT_NEW(line_case, 1);
    if (self == NULL) return tacit_fail_memory(error);
    out->state = self;
    out->length = LENGTH;
    TACIT_TRY(make_rows(self, error));
    TACIT_TRY(set_plan(self, setup, thin, out, error));
    if (!self->design.asks_line)
        return tacit_fail(error, TACIT_USAGE,
                          "nobody is asked for the line at epsilon %g and delta %g: leave line=asked, and "
                          "neither folds nor unit=person",
                          self->plan.epsilon, self->plan.delta);
    snprintf(out->pair, sizeof out->pair, "the label of one row, seen through %zu steps and the line",
             self->design.rounds);
    return measure_reach(out, error);
}

static tacit_status open_sound(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, setup, false, error);
}

static tacit_status open_thin(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, setup, true, error);
}

const tacit_auditable tacit_audit_dpnewton_line = {
    .name = "dpnewton-line",
    .title = "the same with the line asked for, the steps and its two numbers seen",
    .open = open_sound,
    .draw = draw_answers,
    .close = close_case,
};

const tacit_auditable tacit_audit_dpnewton_line_thin = {
    .name = "dpnewton-line-thin",
    .title = "the same with the noise of one question in each: a control that an audit must find broken",
    .open = open_thin,
    .draw = draw_answers,
    .close = close_case,
};
