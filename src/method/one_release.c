#include "method/one_release.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "privacy/account/gaussian.h"

tacit_status one_release_shares(tacit_shared_noise *out, const tacit_plan *plan, double sensitivity,
                                double sigma, double *counted, tacit_error *error) {
    out->sensitivity = sensitivity;
    out->shares = tacit_plan_noise_shares(plan);
    out->scale = sigma * 1.0002 * sensitivity / sqrt((double)out->shares);
    if (plan->delta >= 1e-60 && tacit_share_gaussian(counted, out, out->scale) && *counted >= sigma)
        return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "shares of noise for epsilon %g at delta %g are not near enough to a Gaussian: "
                      "choose a larger delta, or noise=party",
                      plan->epsilon, plan->delta);
}

static tacit_status share_noise(one_release *out, const tacit_plan *plan, double sigma, tacit_error *error) {
    double step = ldexp(1, -out->spec.grid_bits), counted = 0;
    TACIT_TRY(one_release_shares(&out->shared, plan, out->sensitivity / step, sigma, &counted, error));
    out->event = tacit_event_replaced(tacit_event_gaussian(counted, 1));
    out->deviation = out->shared.scale * step * sqrt((double)plan->parties);
    return TACIT_OK;
}

tacit_status one_release_make(one_release *out, const tacit_plan *plan, bool shared_out, size_t length,
                              double bound, double rounding, tacit_error *error) {
    double sigma = 0, room = 0;
    bool noisy = isfinite(plan->epsilon);
    tacit_price price = { TACIT_UNIT_RECORD, plan->epsilon, noisy ? plan->delta : 0 };
    *out = (one_release){ .shared_out = shared_out };
    TACIT_TRY(tacit_sum_spec_for(&out->spec, length, bound, plan->parties, error));
    out->sensitivity = (1 + 2 * (rounding + tacit_sum_rounding(&out->spec))) * (1 + 1e-12);
    out->mechanism = (tacit_mechanism){ TACIT_LAW_GAUSSIAN, out->sensitivity, price };
    out->shared = (tacit_shared_noise){
        .law = TACIT_LAW_DISCRETE_GAUSSIAN, .price = price, .shares = 1, .length = length, .runs = 1
    };
    if (!noisy) return TACIT_OK;
    TACIT_TRY(tacit_gaussian_sigma(&sigma, plan->epsilon, plan->delta, 1, error));
    if (shared_out) return share_noise(out, plan, sigma * (1 + 1e-9), error);
    TACIT_TRY(tacit_mechanism_reach(&room, &out->mechanism, length, error));
    TACIT_TRY(tacit_sum_spec_for(&out->spec, length, bound + 2 * room, plan->parties, error));
    out->event = tacit_event_replaced(tacit_event_gaussian(sigma, 1));
    out->deviation = sigma * out->sensitivity * sqrt((double)plan->parties);
    return TACIT_OK;
}

tacit_noise_law one_release_law(const one_release *release) {
    size_t length = release->spec.length;
    return (tacit_noise_law){
        .law = release->shared_out ? "discrete Gaussian in shares, together near N(0, s^2)"
                                   : "Gaussian N(0, s^2)",
        .added_to = release->shared_out
                        ? "each number of the sum, weighed by its part of the budget"
                        : "each number of each party's sums, weighed by its part of the budget",
        .dimension = length,
        .sensitivity = release->sensitivity,
        .scale = release->deviation,
        .mean_norm = release->deviation * sqrt((double)length),
        .norm_in = "the vector of sums",
    };
}

tacit_status one_release_give(tacit_party *party, const one_release *release, double *values,
                              tacit_reply *reply, tacit_error *error) {
    const tacit_sum_spec *spec = &release->spec;
    reply->kind = release->shared_out ? TACIT_RELEASE_SEALED : TACIT_RELEASE_CHARGED;
    reply->price = release->mechanism.price;
    reply->event = release->event;
    if (!release->shared_out)
        return tacit_mechanism_release(&reply->noised, &party->noise, &release->mechanism, values,
                                       spec->length, spec->grid_bits, spec->bound, error);
    int64_t *steps = TACIT_NEW(int64_t, spec->length);
    if (steps == NULL) return tacit_fail_memory(error);
    reply->assumption = "secure summation: only the sum is seen, with enough shares of the noise in it";
    tacit_status status = tacit_sum_quantise(spec, values, steps, error);
    if (status == TACIT_OK)
        status =
            tacit_share_add(&reply->noised, &party->noise, &release->shared, steps, spec->grid_bits, error);
    free(steps);
    return status;
}
