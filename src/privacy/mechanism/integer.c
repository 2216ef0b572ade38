#include "privacy/mechanism/integer.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "privacy/mechanism/mechanism_parts.h"
#include "rand/fast.h"

#define SCALE_MOST 0x1p50
#define BOUND_MOST ((int64_t)1 << 61)

/* rho(a) of the proof note at a = 1 + exp(log_excess), less 2^-44 of each of its terms: hundreds of times
 * their rounding errors. */
static double rho_at_order(double log_excess, double epsilon, double delta) {
    double excess = exp(log_excess), order = 1 + excess;
    double terms[3] = { log(delta), log_excess,
                        order * log1p(1 / excess) }; /* -ln(1 - 1/a) = ln(1 + 1/(a - 1)) */
    double sum = epsilon, size = epsilon;
    for (size_t i = 0; i < 3; i++) {
        sum += terms[i] / excess;
        size += fabs(terms[i]) / excess;
    }
    return (sum - 0x1p-44 * size) / order;
}

tacit_status tacit_zcdp_for(double *rho, double epsilon, double delta, tacit_error *error) {
    if (!(epsilon > 0) || !isfinite(epsilon) || !(delta > 0 && delta < 1))
        return tacit_fail(error, TACIT_USAGE, "no zCDP gives epsilon %g at delta %g", epsilon, delta);
    const double least = -20, most = 60, step = 0.25;
    double best = least, most_rho = -INFINITY;
    for (double at = least; at <= most; at += step) {
        double here = rho_at_order(at, epsilon, delta);
        if (here > most_rho) most_rho = here, best = at;
    }
    double low = best - step, high = best + step;
    while (high - low > 1e-9) { /* each rho is sound: a wrong turn would cost tightness only */
        double third = (high - low) / 3;
        if (rho_at_order(low + third, epsilon, delta) < rho_at_order(high - third, epsilon, delta))
            low += third;
        else
            high -= third;
    }
    most_rho = fmax(most_rho, rho_at_order(low, epsilon, delta));
    if (!(most_rho > 0) || !isfinite(most_rho))
        return tacit_fail(error, TACIT_USAGE, "no zCDP gives epsilon %g at delta %g", epsilon, delta);
    *rho = most_rho;
    return TACIT_OK;
}

static tacit_status laplace_scale(double *out, const tacit_mechanism *mechanism, tacit_error *error) {
    double sensitivity = mechanism->sensitivity;
    if (sensitivity != floor(sensitivity))
        return tacit_fail(error, TACIT_USAGE, "the L1 sensitivity of counts is a whole number, not %g",
                          sensitivity);
    *out = nextafter(sensitivity / mechanism->price.epsilon, INFINITY);
    return TACIT_OK;
}

static tacit_status gaussian_scale(double *out, const tacit_mechanism *mechanism, tacit_error *error) {
    double rho = 0;
    if (!(mechanism->price.delta > 0))
        return tacit_fail(
            error, TACIT_USAGE,
            "discrete Gaussian noise needs a delta above 0; at delta 0 use discrete Laplace noise");
    TACIT_TRY(tacit_zcdp_for(&rho, mechanism->price.epsilon, mechanism->price.delta, error));
    *out = mechanism->sensitivity / sqrt(2 * rho) * (1 + 0x1p-50);
    return TACIT_OK;
}

tacit_status tacit_integer_scale(double *out, const tacit_mechanism *mechanism, tacit_error *error) {
    double scale = 0;
    TACIT_TRY(tacit_mechanism_check(mechanism, error));
    switch (mechanism->law) {
    case TACIT_LAW_DISCRETE_LAPLACE: TACIT_TRY(laplace_scale(&scale, mechanism, error)); break;
    case TACIT_LAW_DISCRETE_GAUSSIAN: TACIT_TRY(gaussian_scale(&scale, mechanism, error)); break;
    default: return tacit_fail(error, TACIT_USAGE, "no mechanism on counts is priced for this law of noise");
    }
    if (!(scale > 0 && scale <= SCALE_MOST))
        return tacit_fail(error, TACIT_USAGE,
                          "sensitivity %g at epsilon %g asks for impossible integer noise",
                          mechanism->sensitivity, mechanism->price.epsilon);
    *out = scale;
    return TACIT_OK;
}

static int64_t clip(int64_t value, int64_t bound) {
    return value > bound ? bound : value < -bound ? -bound : value;
}

static void add_simulated(tacit_noised *noised, tacit_stream *stream, tacit_law law, double scale) {
    for (size_t j = 0; j < noised->count; j++)
        noised->steps[j] += law == TACIT_LAW_DISCRETE_LAPLACE ? tacit_fast_discrete_laplace(stream, scale)
                                                              : tacit_fast_discrete_gaussian(stream, scale);
    noised->grade = TACIT_NOISE_SIMULATED;
}

static tacit_status add_exact(tacit_noised *noised, tacit_entropy *entropy, tacit_law law, double scale,
                              tacit_error *error) {
    tacit_exact_vector *vector = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_exact_vector_create(&vector, error));
    TACIT_CHECK(tacit_exact_add_integer(vector, entropy, law, noised->steps, noised->count, scale, 0, error));
    for (size_t j = 0; j < noised->count; j++) noised->steps[j] = tacit_exact_vector_steps(vector)[j];
    noised->grade = TACIT_NOISE_EXACT;
cleanup:
    tacit_exact_vector_free(vector);
    return status;
}

tacit_status tacit_integer_release(tacit_noised **out, const tacit_noise_source *source,
                                   const tacit_mechanism *mechanism, const int64_t *counts, size_t count,
                                   int64_t bound, tacit_error *error) {
    TACIT_TRY(tacit_noise_source_check(source, error));
    TACIT_TRY(tacit_price_check(&mechanism->price, error));
    if (count == 0 || bound <= 0 || bound > BOUND_MOST)
        return tacit_fail(error, TACIT_USAGE, "no release has %zu counts within %lld", count,
                          (long long)bound);
    bool silent = mechanism->price.epsilon == INFINITY && source->entropy == NULL;
    double scale = 0;
    if (!silent) TACIT_TRY(tacit_integer_scale(&scale, mechanism, error));
    tacit_noised *noised = NULL;
    TACIT_TRY(tacit_noised_create(&noised, count, 0, error));
    for (size_t j = 0; j < count; j++) noised->steps[j] = clip(counts[j], bound);
    tacit_status status = TACIT_OK;
    if (source->entropy != NULL)
        status = add_exact(noised, source->entropy, mechanism->law, scale, error);
    else if (!silent)
        add_simulated(noised, source->stream, mechanism->law, scale);
    if (status != TACIT_OK) {
        tacit_noised_free(noised);
        return status;
    }
    for (size_t j = 0; j < count; j++) noised->steps[j] = clip(noised->steps[j], bound);
    *out = noised;
    return TACIT_OK;
}
