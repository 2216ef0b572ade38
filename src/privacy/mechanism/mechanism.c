#include "privacy/mechanism/mechanism.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "privacy/account/gaussian.h"
#include "privacy/mechanism/mechanism_parts.h"
#include "rand/fast.h"

tacit_status tacit_noise_source_check(const tacit_noise_source *source, tacit_error *error) {
    if ((source->entropy != NULL) == (source->stream != NULL))
        return tacit_fail(error, TACIT_USAGE, "noise comes from entropy or from a stream: give exactly one");
    return TACIT_OK;
}

tacit_noise tacit_noise_source_grade(const tacit_noise_source *source) {
    return source->entropy != NULL ? TACIT_NOISE_EXACT : TACIT_NOISE_SIMULATED;
}

tacit_status tacit_noised_create(tacit_noised **out, size_t count, int grid_bits, tacit_error *error) {
    tacit_noised *noised = TACIT_NEW(tacit_noised, 1);
    if (noised == NULL) return tacit_fail_memory(error);
    *noised = (tacit_noised){
        .grade = TACIT_NOISE_NONE, .grid_bits = grid_bits, .count = count, .steps = TACIT_NEW(int64_t, count)
    };
    if (noised->steps == NULL) {
        free(noised);
        return tacit_fail_memory(error);
    }
    *out = noised;
    return TACIT_OK;
}

tacit_noised *tacit_noised_free(tacit_noised *noised) {
    if (noised == NULL) return NULL;
    free(noised->steps);
    free(noised);
    return NULL;
}

tacit_status tacit_noised_join(tacit_noised **out, const tacit_noised *const *parts, size_t count,
                               tacit_error *error) {
    size_t all = 0;
    tacit_noised *made = NULL;
    for (size_t p = 0; p < count; p++) {
        if (parts[p]->grid_bits != parts[0]->grid_bits)
            return tacit_fail(error, TACIT_USAGE, "values with noise on different grids cannot be joined");
        all += parts[p]->count;
    }
    if (all == 0) return tacit_fail(error, TACIT_USAGE, "there are no values to join");
    TACIT_TRY(tacit_noised_create(&made, all, parts[0]->grid_bits, error));
    made->grade = TACIT_NOISE_EXACT;
    made->price.epsilon = NAN; /* equal to no price, so that it has no event */
    for (size_t p = 0, at = 0; p < count; at += parts[p++]->count) {
        memcpy(made->steps + at, parts[p]->steps, parts[p]->count * sizeof *made->steps);
        if (parts[p]->grade < made->grade) made->grade = parts[p]->grade;
    }
    *out = made;
    return TACIT_OK;
}

const int64_t *tacit_noised_steps(const tacit_noised *noised) { return noised->steps; }
size_t tacit_noised_count(const tacit_noised *noised) { return noised->count; }
int tacit_noised_grid_bits(const tacit_noised *noised) { return noised->grid_bits; }
tacit_noise tacit_noised_grade(const tacit_noised *noised) { return noised->grade; }

tacit_event tacit_noised_event(const tacit_noised *noised, const tacit_price *price) {
    const tacit_price *paid = &noised->price;
    bool same = paid->unit == price->unit && paid->epsilon == price->epsilon && paid->delta == price->delta;
    return same ? noised->event : (tacit_event){ .count = 0 };
}

tacit_status tacit_mechanism_check(const tacit_mechanism *mechanism, tacit_error *error) {
    TACIT_TRY(tacit_price_check(&mechanism->price, error));
    if (!(mechanism->sensitivity > 0) || !isfinite(mechanism->sensitivity))
        return tacit_fail(error, TACIT_USAGE, "a sensitivity must be positive and finite, not %g",
                          mechanism->sensitivity);
    if (isinf(mechanism->price.epsilon))
        return tacit_fail(error, TACIT_USAGE, "an infinite epsilon has no noise");
    return TACIT_OK;
}

static tacit_status gaussian_scale(double *out, const tacit_mechanism *mechanism, tacit_error *error) {
    const tacit_price *price = &mechanism->price;
    if (!(price->delta > 0))
        return tacit_fail(error, TACIT_USAGE,
                          "Gaussian noise needs a delta above 0; at delta 0 use Laplace or gamma-norm noise");
    return tacit_gaussian_sigma(out, price->epsilon, price->delta, mechanism->sensitivity, error);
}

tacit_status tacit_mechanism_scale(double *out, const tacit_mechanism *mechanism, tacit_error *error) {
    double scale = 0;
    TACIT_TRY(tacit_mechanism_check(mechanism, error));
    switch (mechanism->law) {
    case TACIT_LAW_LAPLACE:
    case TACIT_LAW_GAMMA_NORM:
        scale = nextafter(mechanism->sensitivity / mechanism->price.epsilon, INFINITY);
        break;
    case TACIT_LAW_GAUSSIAN: TACIT_TRY(gaussian_scale(&scale, mechanism, error)); break;
    default: return tacit_fail(error, TACIT_USAGE, "no mechanism is priced for this law of noise");
    }
    if (!isfinite(scale) || scale <= 0)
        return tacit_fail(error, TACIT_USAGE, "sensitivity %g at epsilon %g asks for impossible noise",
                          mechanism->sensitivity, mechanism->price.epsilon);
    *out = scale;
    return TACIT_OK;
}

/* Laurent and Massart 2000: Gamma(d, 1) > d + sqrt(2 d u) + u, and a chi-square of d degrees > d + 2 sqrt(d
 * u) + 2 u, each with probability at most e^-u; u = 40. */
double tacit_noise_reach(tacit_law law, size_t dimension, double scale) {
    double d = (double)dimension;
    return law == TACIT_LAW_GAUSSIAN ? scale * sqrt(d + 2 * sqrt(40 * d) + 80)
                                     : scale * (d + sqrt(80 * d) + 40);
}

tacit_status tacit_mechanism_reach(double *out, const tacit_mechanism *mechanism, size_t count,
                                   tacit_error *error) {
    double scale;
    *out = 0;
    if (isinf(mechanism->price.epsilon)) return TACIT_OK;
    TACIT_TRY(tacit_mechanism_scale(&scale, mechanism, error));
    *out = tacit_noise_reach(mechanism->law, count, scale);
    return TACIT_OK;
}

/* The event of noise of this scale. Its ratio to the sensitivity is rounded down: less noise than there
 * is. */
static tacit_event event_at(const tacit_mechanism *mechanism, double scale) {
    const tacit_release priced = { .price = mechanism->price };
    tacit_event event = tacit_release_event(&priced);
    double ratio = nextafter(scale / mechanism->sensitivity, 0);
    if (mechanism->law == TACIT_LAW_GAUSSIAN) event = tacit_event_replaced(tacit_event_gaussian(ratio, 1));
    if (mechanism->law == TACIT_LAW_LAPLACE) event = tacit_event_replaced(tacit_event_laplace(ratio, 1));
    if (tacit_event_check(&event, NULL) != TACIT_OK) event.count = 0;
    return event;
}

tacit_status tacit_mechanism_event(tacit_event *out, const tacit_mechanism *mechanism, tacit_error *error) {
    bool scaled = mechanism->law == TACIT_LAW_GAUSSIAN || mechanism->law == TACIT_LAW_LAPLACE;
    double scale = INFINITY;
    TACIT_TRY(tacit_price_check(&mechanism->price, error));
    if (scaled && isfinite(mechanism->price.epsilon))
        TACIT_TRY(tacit_mechanism_scale(&scale, mechanism, error));
    *out = event_at(mechanism, scale);
    return TACIT_OK;
}

/* Clip, then round a double to the grid. */
static int64_t to_step(double value, int grid_bits, double bound) {
    return llrint(ldexp(fmax(-bound, fmin(bound, value)), grid_bits));
}

static tacit_status add_simulated(tacit_noised *out, tacit_stream *stream, tacit_law law, double scale,
                                  const double *values, double bound, tacit_error *error) {
    double *noise = TACIT_NEW(double, out->count);
    if (noise == NULL) return tacit_fail_memory(error);
    if (law == TACIT_LAW_GAMMA_NORM) {
        tacit_fast_gamma_norm(stream, noise, out->count, scale);
    } else if (law == TACIT_LAW_GAUSSIAN) {
        tacit_fast_normals(stream, noise, out->count);
        for (size_t j = 0; j < out->count; j++) noise[j] *= scale;
    } else {
        for (size_t j = 0; j < out->count; j++)
            noise[j] = scale * (tacit_fast_exponential(stream) - tacit_fast_exponential(stream));
    }
    for (size_t j = 0; j < out->count; j++)
        out->steps[j] = to_step(values[j] + noise[j], out->grid_bits, bound);
    out->grade = TACIT_NOISE_SIMULATED;
    free(noise);
    return TACIT_OK;
}

static tacit_status add_exact(tacit_noised *out, tacit_entropy *entropy, tacit_law law, double scale,
                              const double *values, double bound, tacit_error *error) {
    tacit_exact_vector *vector = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_exact_vector_create(&vector, error));
    TACIT_CHECK(tacit_exact_add(vector, entropy, law, values, out->count, scale, out->grid_bits, error));
    int64_t most = llrint(ldexp(bound, out->grid_bits));
    const int64_t *steps = tacit_exact_vector_steps(vector);
    for (size_t j = 0; j < out->count; j++)
        out->steps[j] = steps[j] > most ? most : steps[j] < -most ? -most : steps[j];
    out->grade = TACIT_NOISE_EXACT;
cleanup:
    tacit_exact_vector_free(vector);
    return status;
}

static tacit_status check_values(const double *values, size_t count, int grid_bits, double bound,
                                 tacit_error *error) {
    if (count == 0 || !(bound > 0) || abs(grid_bits) > TACIT_GRID_BITS_MOST ||
        !(ldexp(bound, grid_bits) < 0x1p62))
        return tacit_fail(error, TACIT_USAGE, "no release has %zu values within %g on a grid of 2^%d", count,
                          bound, -grid_bits);
    for (size_t j = 0; j < count; j++)
        if (!isfinite(values[j])) return tacit_fail(error, TACIT_INPUT, "value %zu is not finite", j + 1);
    return TACIT_OK;
}

/* Is the scale enough for the price? A Gaussian's log delta is an upper bound with 1e-12 to spare, so that
 * 1e-13 of it may go to a scale's own rounding. */
static tacit_status check_scale(const tacit_mechanism *mechanism, double scale, tacit_error *error) {
    const tacit_price *price = &mechanism->price;
    bool gaussian = mechanism->law == TACIT_LAW_GAUSSIAN, enough;
    double least = 0;
    TACIT_TRY(tacit_mechanism_check(mechanism, error));
    if (!gaussian) TACIT_TRY(tacit_mechanism_scale(&least, mechanism, error));
    enough = scale > 0 && isfinite(scale) && scale >= least;
    if (gaussian && enough)
        enough = tacit_gaussian_log_delta(scale / mechanism->sensitivity, price->epsilon) <=
                 log(price->delta) + 1e-13;
    if (enough) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "noise of scale %g is not enough for epsilon %g, delta %g at sensitivity %g", scale,
                      price->epsilon, price->delta, mechanism->sensitivity);
}

static tacit_status release(tacit_noised **out, const tacit_noise_source *source,
                            const tacit_mechanism *mechanism, double scale, const double *values,
                            size_t count, int grid_bits, double bound, tacit_error *error) {
    tacit_noised *noised = NULL;
    tacit_status status;
    TACIT_TRY(tacit_noised_create(&noised, count, grid_bits, error));
    noised->price = mechanism->price;
    noised->event = event_at(mechanism, scale);
    if (source->entropy != NULL)
        status = add_exact(noised, source->entropy, mechanism->law, scale, values, bound, error);
    else
        status = add_simulated(noised, source->stream, mechanism->law, scale, values, bound, error);
    if (status != TACIT_OK) {
        tacit_noised_free(noised);
        return status;
    }
    *out = noised;
    return TACIT_OK;
}

tacit_status tacit_mechanism_release_at(tacit_noised **out, const tacit_noise_source *source,
                                        const tacit_mechanism *mechanism, double scale, const double *values,
                                        size_t count, int grid_bits, double bound, tacit_error *error) {
    TACIT_TRY(check_values(values, count, grid_bits, bound, error));
    TACIT_TRY(tacit_noise_source_check(source, error));
    TACIT_TRY(check_scale(mechanism, scale, error));
    return release(out, source, mechanism, scale, values, count, grid_bits, bound, error);
}

tacit_status tacit_mechanism_release(tacit_noised **out, const tacit_noise_source *source,
                                     const tacit_mechanism *mechanism, const double *values, size_t count,
                                     int grid_bits, double bound, tacit_error *error) {
    double scale;
    TACIT_TRY(check_values(values, count, grid_bits, bound, error));
    TACIT_TRY(tacit_noise_source_check(source, error));
    TACIT_TRY(tacit_price_check(&mechanism->price, error));
    if (mechanism->price.epsilon == INFINITY && source->entropy == NULL) {
        TACIT_TRY(tacit_noised_create(out, count, grid_bits, error));
        (*out)->price = mechanism->price;
        for (size_t j = 0; j < count; j++) (*out)->steps[j] = to_step(values[j], grid_bits, bound);
        return TACIT_OK;
    }
    TACIT_TRY(tacit_mechanism_scale(&scale, mechanism, error));
    return release(out, source, mechanism, scale, values, count, grid_bits, bound, error);
}
