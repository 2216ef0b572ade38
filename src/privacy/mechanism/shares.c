#include "privacy/mechanism/shares.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "privacy/mechanism/integer.h"
#include "privacy/mechanism/mechanism_parts.h"
#include "rand/fast.h"

#define SCALE_LEAST TACIT_SHARE_SCALE_LEAST
#define SCALE_MOST TACIT_SHARE_SCALE_MOST
#define SHARES_MOST (UINT64_C(1) << 32)
#define UP (1 + 0x1p-40) /* far more than what the few operations before it can lose */

static tacit_status check(const tacit_shared_noise *noise, tacit_error *error) {
    const tacit_mechanism mechanism = { noise->law, noise->sensitivity, noise->price };
    if (noise->law != TACIT_LAW_POLYA && noise->law != TACIT_LAW_DISCRETE_GAUSSIAN)
        return tacit_fail(error, TACIT_USAGE,
                          "noise of this law is not shared; use Polya or discrete Gaussian shares");
    if (noise->shares < 1 || noise->shares > SHARES_MOST || noise->length == 0 || noise->runs == 0)
        return tacit_fail(error, TACIT_USAGE,
                          "shared noise takes 1 to 2^32 shares, and at least one number and one run");
    return tacit_mechanism_check(&mechanism, error);
}

/* ---- discrete Gaussian shares ---- */

/* tau of the proof note. The terms fall with k, so those beyond the first thousand are bounded by the first
 * of them. */
static double correction(double scale, uint64_t shares) {
    const double exponent = -2 * 9.869604401089357 * scale * scale; /* pi^2, rounded down */
    const uint64_t last = shares - 1, summed = last < 1000 ? last : 1000;
    double sum = 0;
    for (uint64_t k = 1; k <= summed; k++)
        sum += exp(exponent * ((double)k / (double)(k + 1)) * (1 - 0x1p-50));
    if (last > summed) sum += (double)(last - summed) * exp(exponent * (1001.0 / 1002) * (1 - 0x1p-50));
    return 10 * sum * UP;
}

/* S/(sqrt(m) s) + sqrt(d) tau, rounded up; it falls with s. */
static double distance(const tacit_shared_noise *noise, double scale) {
    double near = noise->sensitivity / (sqrt((double)noise->shares) * scale);
    return (near + sqrt((double)noise->length) * correction(scale, noise->shares)) * UP;
}

static tacit_status gaussian_scale(double *out, const tacit_shared_noise *noise, tacit_error *error) {
    double rho = 0, low = SCALE_LEAST, high = SCALE_MOST;
    if (!(noise->price.delta > 0))
        return tacit_fail(error, TACIT_USAGE,
                          "discrete Gaussian shares need a delta above 0; at delta 0 use Polya shares");
    TACIT_TRY(tacit_zcdp_for(&rho, noise->price.epsilon, noise->price.delta, error));
    const double most = sqrt(2 * rho / (double)noise->runs) / UP;
    if (distance(noise, high) > most)
        return tacit_fail(error, TACIT_USAGE,
                          "sensitivity %g at epsilon %g asks for shares beyond 2^50 steps",
                          noise->sensitivity, noise->price.epsilon);
    while (high - low > 1e-9 * low) { /* `high` always keeps the promise */
        double middle = low + (high - low) / 2;
        if (distance(noise, middle) <= most)
            high = middle;
        else
            low = middle;
    }
    *out = high;
    return TACIT_OK;
}

/* ---- either law ---- */

static tacit_status polya_scale(double *out, const tacit_shared_noise *noise, tacit_error *error) {
    const double sensitivity = noise->sensitivity;
    double scale = sensitivity / noise->price.epsilon * (double)noise->runs * UP;
    if (sensitivity != floor(sensitivity))
        return tacit_fail(error, TACIT_USAGE, "the L1 sensitivity of whole numbers is whole, not %g",
                          sensitivity);
    if (!(scale <= SCALE_MOST))
        return tacit_fail(error, TACIT_USAGE,
                          "sensitivity %g at epsilon %g asks for shares beyond 2^50 steps", sensitivity,
                          noise->price.epsilon);
    *out = scale;
    return TACIT_OK;
}

tacit_status tacit_share_scale(double *out, const tacit_shared_noise *noise, tacit_error *error) {
    TACIT_TRY(check(noise, error));
    return noise->law == TACIT_LAW_POLYA ? polya_scale(out, noise, error) : gaussian_scale(out, noise, error);
}

static tacit_status check_scale(const tacit_shared_noise *noise, double scale, tacit_error *error) {
    const double least = noise->law == TACIT_LAW_POLYA ? 0 : SCALE_LEAST;
    if (!(noise->sensitivity > 0) || !isfinite(noise->sensitivity) || noise->shares < 1 ||
        noise->shares > SHARES_MOST || noise->length == 0 ||
        !(scale > 0 && scale >= least && scale <= SCALE_MOST))
        return tacit_fail(error, TACIT_USAGE, "nothing is known of %llu shares of scale %g at sensitivity %g",
                          (unsigned long long)noise->shares, scale, noise->sensitivity);
    return TACIT_OK;
}

tacit_status tacit_share_rho(double *out, const tacit_shared_noise *noise, double scale, tacit_error *error) {
    TACIT_TRY(check_scale(noise, scale, error));
    if (noise->law != TACIT_LAW_DISCRETE_GAUSSIAN)
        return tacit_fail(error, TACIT_USAGE, "only discrete Gaussian shares are priced by zCDP");
    double far = distance(noise, scale);
    *out = far * far / 2 * UP;
    return TACIT_OK;
}

/* The proof is that of method/private/dpsgd_setup.c at a sampling probability of 1: there mu is about a row
 * that comes or goes, and the two sides of a replacement pull to opposite sides, so that mu is half of
 * sensitivity/noise here. */
bool tacit_share_gaussian(double *sigma, const tacit_shared_noise *noise, double scale) {
    const double more = 1e-4; /* of the noise, for shares not being quite Gaussian */
    double shares = (double)noise->shares, all = scale * sqrt(shares), root = sqrt((double)noise->length);
    double mu = noise->sensitivity * (1 + more) / (2 * all), tau = 10 * shares * exp(-9.8 * scale * scale);
    double eta = root * root * tau + pow((root + 40) / all, 2) / 5;
    double density = exp(-mu * mu / 2) / sqrt(2 * M_PI);
    *sigma = all / (noise->sensitivity * (1 + more)) * (1 - 1e-12);
    return noise->law == TACIT_LAW_DISCRETE_GAUSSIAN && mu <= 10 &&
           6 * eta <= more * (1 - 1e-9) * mu * density;
}

/* A pure epsilon-DP law has divergence at most min(epsilon, a epsilon^2/2) at order a (Bun and Steinke 2016,
 * Proposition 3.3). */
tacit_status tacit_share_renyi(double *out, const tacit_shared_noise *noise, double scale, double order,
                               tacit_error *error) {
    if (!(order >= 1) || !isfinite(order))
        return tacit_fail(error, TACIT_USAGE, "a Renyi divergence has an order from 1 on, not %g", order);
    TACIT_TRY(check_scale(noise, scale, error));
    if (noise->law == TACIT_LAW_POLYA) {
        double epsilon = noise->sensitivity / scale * UP;
        *out = fmin(epsilon, order * epsilon * epsilon / 2 * UP);
        return TACIT_OK;
    }
    double rho;
    TACIT_TRY(tacit_share_rho(&rho, noise, scale, error));
    *out = order * rho * UP;
    return TACIT_OK;
}

/* ---- drawing ---- */

static void draw_simulated(int64_t *steps, tacit_stream *stream, const tacit_shared_noise *noise,
                           double scale) {
    for (size_t j = 0; j < noise->length; j++)
        steps[j] = noise->law == TACIT_LAW_POLYA ? tacit_fast_polya(stream, scale, noise->shares)
                                                 : tacit_fast_discrete_gaussian(stream, scale);
}

/* The share alone: whether the sampler can go on must not depend on the values. */
static tacit_status draw_exact(tacit_exact_vector **out, tacit_entropy *entropy,
                               const tacit_shared_noise *noise, double scale, const int64_t *zeros,
                               tacit_error *error) {
    tacit_exact_vector *vector = NULL;
    TACIT_TRY(tacit_exact_vector_create(&vector, error));
    tacit_status status =
        noise->law == TACIT_LAW_POLYA
            ? tacit_exact_add_polya(vector, entropy, zeros, noise->length, scale, noise->shares, 0, error)
            : tacit_exact_add_integer(vector, entropy, noise->law, zeros, noise->length, scale, 0, error);
    if (status != TACIT_OK) {
        tacit_exact_vector_free(vector);
        return status;
    }
    *out = vector;
    return TACIT_OK;
}

static tacit_status draw(tacit_noised *noised, const tacit_noise_source *source,
                         const tacit_shared_noise *noise, double scale, tacit_error *error) {
    if (source->stream != NULL) {
        draw_simulated(noised->steps, source->stream, noise, scale);
    } else {
        tacit_exact_vector *vector = NULL;
        TACIT_TRY(draw_exact(&vector, source->entropy, noise, scale, noised->steps, error));
        for (size_t j = 0; j < noise->length; j++) noised->steps[j] = tacit_exact_vector_steps(vector)[j];
        tacit_exact_vector_free(vector);
    }
    noised->grade = tacit_noise_source_grade(source);
    return TACIT_OK;
}

/* Scale 0: no noise. */
static tacit_status add_share(tacit_noised **out, const tacit_noise_source *source,
                              const tacit_shared_noise *noise, double scale, const int64_t *values,
                              int grid_bits, tacit_error *error) {
    tacit_noised *noised = NULL;
    TACIT_TRY(tacit_noised_create(&noised, noise->length, grid_bits, error));
    tacit_status status = scale == 0 ? TACIT_OK : draw(noised, source, noise, scale, error);
    if (status != TACIT_OK) {
        tacit_noised_free(noised);
        return status;
    }
    for (size_t j = 0; j < noise->length; j++)
        noised->steps[j] = (int64_t)((uint64_t)noised->steps[j] + (uint64_t)values[j]);
    *out = noised;
    return TACIT_OK;
}

tacit_status tacit_share_add(tacit_noised **out, const tacit_noise_source *source,
                             const tacit_shared_noise *noise, const int64_t *values, int grid_bits,
                             tacit_error *error) {
    double scale = 0;
    TACIT_TRY(tacit_noise_source_check(source, error));
    TACIT_TRY(tacit_price_check(&noise->price, error));
    if (noise->length == 0)
        return tacit_fail(error, TACIT_USAGE, "there is nothing to add a share of noise to");
    bool silent = noise->price.epsilon == INFINITY && source->entropy == NULL;
    if (!silent) {
        scale = noise->scale;
        if (scale == 0) TACIT_TRY(tacit_share_scale(&scale, noise, error));
        TACIT_TRY(check_scale(noise, scale, error));
    }
    return add_share(out, source, noise, scale, values, grid_bits, error);
}
