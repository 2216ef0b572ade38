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
                                const tacit_stream *chance, tacit_pool *pool,
                                const tacit_progress *progress) {
    tacit_session session = { .plan = plan,
                              .transport = *transport,
                              .pool = pool,
                              .progress = progress,
                              .bytes_per_party = plan->points != NULL ? plan->points->bytes : 0 };
    if (chance != NULL) session.secret = tacit_stream_fork(chance, "coordinator", 0, 0);
    return session;
}

tacit_status tacit_run_coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    return session->plan->method->coordinate(session, out, error);
}

tacit_guarantee tacit_run_guarantee(const tacit_plan *plan, const tacit_price *charged,
                                    const tacit_price *claimed, const tacit_outcome *outcome,
                                    bool simulated) {
    const bool noisy = isfinite(charged->epsilon);
    const bool paid = outcome->lambda > 0 && !plan->method->tunes_lambda;
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
