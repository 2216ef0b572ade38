#include "method/private/gradient.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/special.h"

static tacit_response response_of(const tacit_plan *plan) {
    return plan->schema != NULL ? plan->schema->response : TACIT_RESPONSE_CLASS;
}

static bool is_numeric(const tacit_plan *plan) { return response_of(plan) != TACIT_RESPONSE_CLASS; }

static bool counts(const tacit_plan *plan) { return response_of(plan) == TACIT_RESPONSE_COUNT; }

/* s, or H. */
static double largest_response(const tacit_plan *plan) {
    return fmax(fabs(plan->schema->low), fabs(plan->schema->high));
}

static bounded_choice choice_of(const tacit_plan *plan) { return *TACIT_SETTINGS(bounded_choice, plan); }

/* Of classes; numbers and counts have their clipped slopes below. */
static const tacit_family *family_of(const tacit_plan *plan) {
    return is_numeric(plan) ? tacit_family_of(response_of(plan), 0)
                            : bounded_family_by(plan, choice_of(plan));
}

static double shape_of(const tacit_plan *plan) {
    return is_numeric(plan) ? 0 : bounded_shape_by(plan, choice_of(plan));
}

tacit_status gradient_check_label(const tacit_plan *plan, tacit_error *error) {
    return bounded_check_choice(plan, choice_of(plan), error);
}

size_t gradient_size(const tacit_plan *plan) {
    return tacit_family_scores(family_of(plan), plan->classes) * plan->features;
}

double gradient_norm(const tacit_plan *plan) {
    if (is_numeric(plan)) return counts(plan) ? 1 : 0.5;
    return family_of(plan)->loss.slope;
}

double gradient_curvature(const tacit_plan *plan) {
    if (is_numeric(plan)) return counts(plan) ? sqrt(largest_response(plan)) + 1 : 1;
    return family_of(plan)->loss.curvature(shape_of(plan));
}

double gradient_usual_curvature(const tacit_plan *plan) {
    double classes = (double)plan->classes;
    if (is_numeric(plan)) return counts(plan) ? 1 / sqrt(largest_response(plan)) : 1;
    return (classes - 1) / (classes * classes);
}

double gradient_radius(const tacit_plan *plan) {
    double w = !is_numeric(plan) ? family_of(plan)->pull(shape_of(plan), plan->classes)
               : counts(plan)    ? fmax(log(largest_response(plan)), 1 / M_E)
                                 : 0.25;
    return fmin(gradient_norm(plan) / plan->lambda, sqrt(w / plan->lambda)) * (1 + 1e-12);
}

/* What is no number pulls like any other. */
static double clipped(double residual, double clip) {
    return residual > -clip ? (residual < clip ? residual : clip) : -clip;
}

/* r of a row at the score t; gradient.h. */
static double numeric_slope(const tacit_plan *plan, double most, double y, double t) {
    return counts(plan) ? clipped((exp(t) - y) / sqrt(most), 1) : clipped(t - y / most, 0.5);
}

static void add_numeric_slice(const tacit_plan *plan, const tacit_view *slice, const double *weights,
                              double *out) {
    const double most = largest_response(plan);
    for (size_t i = 0; i < slice->rows.count; i++) {
        double t = tacit_rows_dot(&slice->rows, i, weights);
        tacit_rows_add(&slice->rows, i, numeric_slope(plan, most, tacit_view_response(slice, i), t), out);
    }
}

/* The mean over a slice, times its rows. The solver wants a lambda: the smallest adds nothing. */
static tacit_status add_slice(tacit_party *party, size_t begin, size_t count, const double *weights,
                              double *mean, double *out, tacit_error *error) {
    tacit_view slice = tacit_view_slice(&party->rows, begin, count);
    if (is_numeric(party->plan)) {
        memset(mean, 0, gradient_size(party->plan) * sizeof *mean);
        add_numeric_slice(party->plan, &slice, weights, mean);
        for (size_t j = 0; j < gradient_size(party->plan); j++) out[j] += mean[j];
        return TACIT_OK;
    }
    tacit_glm_problem problem = {
        .loss = &family_of(party->plan)->loss,
        .shape = shape_of(party->plan),
        .x = slice.rows,
        .label = slice.label,
        .classes = party->plan->classes,
        .lambda = DBL_MIN,
    };
    tacit_glm_fit fit;
    TACIT_TRY(tacit_glm_certify(&problem, party->pool, weights, mean, &fit, error));
    for (size_t j = 0; j < gradient_size(party->plan); j++) out[j] += mean[j] * (double)count;
    return TACIT_OK;
}

tacit_status gradient_check_rows(const tacit_party *party, tacit_error *error) {
    if (party->total_rows <= GRADIENT_MOST_ROWS) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "this party has %zu rows and method %s takes at most %d: sample them",
                      party->total_rows, party->plan->method->name, (int)GRADIENT_MOST_ROWS);
}

tacit_status gradient_sum(tacit_party *party, const double *weights, double *out, tacit_error *error) {
    size_t size = gradient_size(party->plan), rows = party->rows.rows.count;
    TACIT_TRY(gradient_check_rows(party, error));
    double *mean = TACIT_NEW(double, size);
    tacit_status status = mean != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    memset(out, 0, size * sizeof *out);
    for (size_t begin = 0; begin < rows; begin += GRADIENT_SLICE) {
        size_t count = rows - begin < GRADIENT_SLICE ? rows - begin : GRADIENT_SLICE;
        TACIT_CHECK(add_slice(party, begin, count, weights, mean, out, error));
    }
    if (party->reducer != NULL) TACIT_CHECK(party->reducer->sum(party->reducer->context, out, size, error));
cleanup:
    free(mean);
    return status;
}

tacit_status gradient_check_sum(const tacit_question *question, const tacit_sum_spec *spec,
                                tacit_error *error) {
    if (question->wants_sum && tacit_sum_spec_equal(&question->sum, spec)) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED, "the coordinator asks for another sum than the study defines");
}

tacit_status gradient_rows_spec(const tacit_plan *plan, tacit_sum_spec *out, tacit_error *error) {
    return tacit_sum_spec_for(out, 1, GRADIENT_MOST_ROWS, plan->parties, error);
}

tacit_status gradient_answer_rows(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                  tacit_error *error) {
    tacit_sum_spec spec;
    TACIT_TRY(gradient_rows_spec(party->plan, &spec, error));
    TACIT_TRY(gradient_check_sum(question, &spec, error));
    TACIT_TRY(gradient_check_rows(party, error));
    reply->kind = TACIT_RELEASE_SEALED;
    reply->assumption = "a promise per record does not hide how many rows there are";
    reply->contribution = TACIT_NEW(double, 1);
    if (reply->contribution == NULL) return tacit_fail_memory(error);
    reply->contribution[0] = (double)party->total_rows;
    return TACIT_OK;
}

tacit_status gradient_resume(tacit_session *session, gradient_state *out, tacit_error *error) {
    size_t size = gradient_size(session->plan);
    tacit_message message = TACIT_MESSAGE_INIT;
    gradient_state state = { .weights = TACIT_NEW(double, size) };
    const double *weights, *rows;
    const int64_t *counts;
    bool found = false;
    tacit_status status = state.weights != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    TACIT_CHECK(tacit_resume(session, &found, &message, error));
    if (found) {
        TACIT_CHECK(tacit_message_numbers(&message, "weights", size, &weights, error));
        TACIT_CHECK(tacit_message_integers(&message, "steps and parties", 2, &counts, error));
        TACIT_CHECK(tacit_message_numbers(&message, "rows", 1, &rows, error));
        memcpy(state.weights, weights, size * sizeof *weights);
        state.steps = (uint64_t)counts[0];
        state.parties = (size_t)counts[1];
        state.rows = *rows;
    }
    *out = state;
    state.weights = NULL;
cleanup:
    free(state.weights);
    tacit_message_clear(&message);
    return status;
}

tacit_status gradient_checkpoint(tacit_session *session, const gradient_state *state, tacit_error *error) {
    if (session->journal == NULL) return TACIT_OK;
    tacit_message message = TACIT_MESSAGE_INIT;
    int64_t counts[] = { (int64_t)state->steps, (int64_t)state->parties };
    tacit_status status;
    TACIT_CHECK(
        tacit_message_add_numbers(&message, "weights", state->weights, gradient_size(session->plan), error));
    TACIT_CHECK(tacit_message_add_integers(&message, "steps and parties", counts, 2, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &state->rows, 1, error));
    TACIT_CHECK(tacit_checkpoint(session, &message, error));
cleanup:
    tacit_message_clear(&message);
    return status;
}

tacit_status gradient_finish(tacit_session *session, const gradient_state *state, tacit_outcome *out,
                             tacit_error *error) {
    const tacit_plan *plan = session->plan;
    tacit_model *model = NULL;
    double scale = 1;
    TACIT_TRY(bounded_model(&model, plan, choice_of(plan), &scale, error));
    for (size_t j = 0; j < gradient_size(plan); j++) model->weights[j] = scale * state->weights[j];
    out->parties = state->parties;
    return tacit_outcome_add(out, model, error);
}

void gradient_state_clear(gradient_state *state) {
    free(state->weights);
    *state = (gradient_state)GRADIENT_STATE_INIT;
}
