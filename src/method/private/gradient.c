#include "method/private/gradient.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/special.h"

size_t gradient_size(const tacit_plan *plan) {
    return tacit_family_scores(tacit_family_for(plan->classes), plan->classes) * plan->features;
}

double gradient_norm(const tacit_plan *plan) { return tacit_family_for(plan->classes)->loss.slope; }

double gradient_curvature(const tacit_plan *plan) {
    return tacit_family_for(plan->classes)->loss.curvature(0);
}

double gradient_radius(const tacit_plan *plan) {
    double w = tacit_family_for(plan->classes)->pull(0, plan->classes);
    return fmin(gradient_norm(plan) / plan->lambda, sqrt(w / plan->lambda)) * (1 + 1e-12);
}

/* The mean over a slice, times its rows. The solver wants a lambda: the smallest adds nothing. */
static tacit_status add_slice(tacit_party *party, size_t begin, size_t count, const double *weights,
                              double *mean, double *out, tacit_error *error) {
    tacit_view slice = tacit_view_slice(&party->rows, begin, count);
    tacit_glm_problem problem = {
        .loss = &tacit_family_for(party->plan->classes)->loss,
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
    TACIT_TRY(
        tacit_model_create(&model, tacit_family_for(plan->classes), plan->features, plan->classes, error));
    memcpy(model->weights, state->weights, gradient_size(plan) * sizeof *model->weights);
    out->parties = state->parties;
    return tacit_outcome_add(out, model, error);
}

void gradient_state_clear(gradient_state *state) {
    free(state->weights);
    *state = (gradient_state)GRADIENT_STATE_INIT;
}
