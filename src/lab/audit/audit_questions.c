/* What audits of methods that ask several questions share. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "lab/audit/audit_parts.h"
#include "privacy/account/gaussian.h"

tacit_status audit_charge_questions(tacit_audit_case *out, tacit_plan *plan, tacit_plan *exact,
                                    size_t questions, bool thin, double *charged, tacit_error *error) {
    tacit_prices prices = { .event = { .count = 0 } };
    double sigma = 0;
    TACIT_TRY(tacit_plan_check(plan, error));
    TACIT_TRY(tacit_plan_price(plan, &prices, error));
    out->charged = prices.charged;
    *exact = *plan; /* a coordinator is entrusted with exact sums, and bounds stay what they are */
    TACIT_TRY(tacit_plan_set(exact, "noise", "coordinator", error));
    TACIT_TRY(tacit_gaussian_sigma(&sigma, plan->epsilon, plan->delta, 1, error));
    *charged = 1 / sigma;
    return thin ? tacit_gaussian_epsilon(&plan->epsilon, sigma / sqrt((double)questions), plan->delta, error)
                : TACIT_OK;
}

tacit_status audit_ask_at(tacit_session *session, const char *question, const double *weights, size_t count,
                          const tacit_sum_spec *spec, tacit_sum *sum, tacit_error *error) {
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_status status = TACIT_OK;
    if (count > 0) status = tacit_message_add_numbers(&message, "weights", weights, count, error);
    if (status == TACIT_OK) status = tacit_ask_sum(session, question, &message, spec, sum, error);
    tacit_message_clear(&message);
    return status;
}

tacit_status audit_measure_reach(tacit_audit_case *out, audit_draw *draw, double sensitivity,
                                 tacit_error *error) {
    double *at = TACIT_NEW(double, 2 * out->length), square = 0;
    tacit_status status;
    if (at == NULL) return tacit_fail_memory(error);
    for (int side = 0; side < 2; side++)
        TACIT_CHECK(draw(out, side, NULL, at + (size_t)side * out->length, error));
    for (size_t j = 0; j < out->length; j++) square += pow(at[j] - at[out->length + j], 2);
    out->reach = sqrt(square) / sensitivity;
    status = TACIT_OK;
cleanup:
    free(at);
    return status;
}
