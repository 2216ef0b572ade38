#include "session/run.h"

#include <math.h>
#include <stdio.h>

tacit_party tacit_run_party(const tacit_plan *plan, const char *coordinator, const char *study,
                            tacit_view rows, size_t total_rows, tacit_noise_source noise, tacit_memo *memo,
                            tacit_gate *gate) {
    return (tacit_party){ .plan = plan,
                          .coordinator = coordinator,
                          .study = study,
                          .rows = rows,
                          .total_rows = total_rows,
                          .noise = noise,
                          .memo = memo,
                          .gate = gate };
}

tacit_session tacit_run_session(const tacit_plan *plan, const tacit_transport *transport,
                                const tacit_stream *stream, tacit_pool *pool,
                                const tacit_progress *progress) {
    tacit_session session = { .plan = plan,
                              .transport = *transport,
                              .pool = pool,
                              .progress = progress,
                              .bytes_per_party = plan->points != NULL ? plan->points->bytes : 0 };
    if (stream != NULL) session.secret = tacit_stream_fork(stream, "coordinator", 0, 0);
    return session;
}

/* The method's law of noise, for as many rows as the study expects. Where it says nothing of them, and a law
 * is that of the fewest, nobody knows: the noise may be a small part of that. A single party's fewest are
 * those that it has. */
static tacit_status find_law(tacit_session *session, tacit_noise_law *out, bool *found) {
    const tacit_plan *plan = session->plan;
    tacit_plan usual = *plan;
    *out = (tacit_noise_law){ .law = NULL };
    *found = false;
    if (plan->method->noise == NULL) return TACIT_OK;
    tacit_status status = tacit_session_noise(session, out, NULL);
    usual.minimum_rows = plan->expected_rows / plan->parties;
    if (status == TACIT_OK && (!out->of_fewest || plan->parties == 1))
        *found = true;
    else if (status == TACIT_OK && usual.minimum_rows <= plan->minimum_rows)
        *found = plan->expected_rows > 0;
    else if (status == TACIT_OK) {
        status = tacit_plan_noise(&usual, out, NULL);
        *found = status == TACIT_OK;
    }
    return status == TACIT_NO_MEMORY ? status : TACIT_OK;
}

/* Of linear models of two classes, the noise's part in the squared length of the weights: what the method's
 * law of noise says beside what was released. A method that knows better has said so. */
static tacit_status settle_noise_share(tacit_session *session, tacit_model *model, tacit_error *error) {
    tacit_noise_law law;
    double square = 0;
    bool found;
    if (model->noise_share > 0 || !isfinite(session->plan->epsilon) || !tacit_model_is_linear(model) ||
        model->classes != 2 || tacit_model_scores_per_row(model) != 1)
        return TACIT_OK;
    if (find_law(session, &law, &found) != TACIT_OK) return tacit_fail_memory(error);
    if (!found) return TACIT_OK;
    for (size_t j = 0; j < model->features; j++) square += model->weights[j] * model->weights[j];
    if (law.norm_in == NULL && !law.in_objective && square > 0)
        model->noise_share = fmin(law.mean_norm * law.mean_norm / square, 1);
    return TACIT_OK;
}

tacit_status tacit_run_coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    tacit_status status = session->plan->method->coordinate(session, out, error);
    if (status == TACIT_OK && out->count == 1) status = settle_noise_share(session, out->models[0], error);
    session->prepared = tacit_prepared_free(session->prepared);
    return status;
}

tacit_guarantee tacit_run_guarantee(const tacit_plan *plan, const tacit_price *charged,
                                    const tacit_price *claimed, const tacit_outcome *outcome,
                                    bool simulated) {
    const bool noisy = isfinite(charged->epsilon);
    const bool paid = outcome->lambda > 0 && !plan->method->tunes_lambda && !tacit_plan_lambda_after(plan);
    tacit_guarantee guarantee = { .is_private = noisy,
                                  .charged = *charged,
                                  .claimed = *claimed,
                                  .noise = !noisy      ? TACIT_NOISE_NONE
                                           : simulated ? TACIT_NOISE_SIMULATED
                                                       : TACIT_NOISE_EXACT,
                                  .parties = outcome->parties,
                                  .lambda = outcome->lambda > 0 ? outcome->lambda : plan->lambda,
                                  .lambda_from = paid ? TACIT_LAMBDA_PAID : plan->lambda_from };
    snprintf(guarantee.method, sizeof guarantee.method, "%s", plan->method->name);
    if (!noisy) tacit_guarantee_withdraw(&guarantee, "no noise was added");
    return guarantee;
}
