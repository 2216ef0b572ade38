/* Gaussian differential privacy of events, for the filter of counting.c. */
#include <math.h>

#include "base/memory.h"
#include "num/special.h"
#include "privacy/account/account_pld_parts.h"
#include "privacy/account/gaussian.h"

/*
 * Proof notes. A pair (P, Q) is mu-GDP when N(0, 1) against N(mu, 1) dominates it (Dong, Roth and Su 2022).
 *
 * Gaussian: mu = 1/sigma, exactly. Pure: randomised response, which dominates, has the trade-off curve of
 * straight lines (0, 1) - (c, c) - (1, 0), c = 1/(1 + e^epsilon); that of a Gaussian is convex and passes the
 * same three points when Phi(-mu/2) = c, so it lies below. Laplace: as pure, of 1/scale. Sampling lowers
 * every H_a, so that a sampled Gaussian has the mu of the same without sampling.
 *
 * A block: all runs of a study, whose number is known before the first. Let D(a) be its H_a, a >= 1, under
 * replacement; the pair EITHER is symmetric. If D(a) <= (1 - g) H_a(mu) + g for all a >= 1, the block is
 * dominated by a pair that gives all away with probability g and else is the Gaussian one, since that pair's
 * H_a is the right-hand side: the block is mu-GDP except for g. D is convex in a, so between two points it is
 * below the chord through upper bounds of it (PLD's); H_a(mu) is convex too, so that it is above both
 * tangents at these points, and the difference from the chord is least where the tangents meet. Beyond the
 * last point D is at most g.
 */

double tacit_pure_mu(double epsilon) {
    /* log Phi(-mu/2) = -log(1 + e^epsilon) */
    return 2 * tacit_normal_tail_quantile(-tacit_log_add(0, epsilon)) * (1 + 1e-12) + 1e-12;
}

static double squared(const tacit_step *step) {
    double e, d, mu = INFINITY;
    if (step->kind == TACIT_EVENT_APPROXIMATE || step->kind == TACIT_EVENT_CONCENTRATED) return INFINITY;
    if (step->kind == TACIT_EVENT_GAUSSIAN)
        mu = (step->either ? 2 : 1) / step->parameter;
    else if (tacit_step_pure(step, &e, &d))
        mu = tacit_pure_mu(e);
    return (double)step->count * mu * mu * (1 + 8 * TACIT_ROUND);
}

tacit_status tacit_gdp_of(double *mu_squared, const tacit_event *event, tacit_error *error) {
    tacit_event one = *event;
    tacit_accountant accountant = { TACIT_REPLACE, &one, 1, 1, one.count };
    tacit_steps steps;
    TACIT_TRY(tacit_steps_make(&steps, &accountant, TACIT_REPLACE, error));
    *mu_squared = 0;
    for (size_t i = 0; i < steps.count; i++) *mu_squared += squared(&steps.items[i]);
    free(steps.items);
    return TACIT_OK;
}

/* ---- blocks ---- */

enum { PLANS = 6, POINTS = 96 };

/* Upper bounds on the block's delta, at growing epsilons from 0; the last is at most the spare delta. */
typedef struct curve {
    double epsilon[POINTS + 1], delta[POINTS + 1];
    size_t count;
} curve;

static tacit_status trace(curve *out, const tacit_steps *steps, double end, double spare,
                          tacit_error *error) {
    tacit_composed *composed[PLANS] = { NULL };
    tacit_status status = TACIT_OK;
    *out = (curve){ .count = POINTS + 1 };
    for (int k = 0; k < PLANS; k++) {
        tacit_pld_plan plan;
        /* From a delta of about a half down to the spare one, in equal ratios. */
        double delta = exp(log(0.3) + (double)k / (PLANS - 1) * (log(spare) - log(0.3)));
        TACIT_CHECK(tacit_pld_plan_make(&plan, steps, TACIT_EITHER, delta, 0, false, error));
        TACIT_CHECK(tacit_compose(&composed[k], steps, TACIT_EITHER, &plan, error));
    }
    for (int i = 0; i <= POINTS; i++) {
        double epsilon = end * (double)i / POINTS, least = 1;
        for (int k = 0; k < PLANS; k++) least = fmin(least, tacit_composed_delta(composed[k], epsilon));
        out->epsilon[i] = epsilon;
        out->delta[i] = least;
    }
cleanup:
    for (int k = 0; k < PLANS; k++) tacit_composed_free(composed[k]);
    return status;
}

/* Whether a Gaussian of mu, with `spare` beside it, is above the curve. Its tangent at a = e^epsilon has the
 * slope -P(N > epsilon/mu + mu/2); values are lowered and slopes steepened by their errors. */
static bool dominates(const curve *block, double mu, double spare) {
    double value[POINTS + 1], slope[POINTS + 1];
    for (size_t i = 0; i < block->count; i++) {
        double x = block->epsilon[i] / mu + mu / 2;
        value[i] = exp(tacit_gaussian_log_delta(1 / mu, block->epsilon[i])) * (1 - 1e-10);
        slope[i] = -tacit_normal_tail(x) * (1 + 1e-10);
        if ((1 - spare) * value[i] + spare < block->delta[i]) return false;
    }
    for (size_t i = 0; i + 1 < block->count; i++) {
        double from = exp(block->epsilon[i]), to = exp(block->epsilon[i + 1]), width = to - from;
        double bend = slope[i + 1] - slope[i];
        double at = bend > 0 ? (value[i] - value[i + 1] + slope[i + 1] * width) / bend : width;
        at = fmin(fmax(at, 0), width);
        double lowest = fmin(value[i] + slope[i] * at, value[i + 1] - slope[i + 1] * (width - at));
        double chord = block->delta[i] + (block->delta[i + 1] - block->delta[i]) * (at / width);
        if ((1 - spare) * lowest * (1 - 1e-10) + spare < chord) return false;
    }
    return true;
}

static double least_mu(const curve *block, double spare, double most) {
    double low = 0, high = most;
    if (!dominates(block, high, spare)) return INFINITY;
    for (int i = 0; i < 40 && high - low > 1e-6 * high; i++) {
        double middle = (low + high) / 2;
        if (middle > 1e-6 && dominates(block, middle, spare))
            high = middle;
        else
            low = middle;
    }
    return high;
}

tacit_status tacit_gdp_of_block(double *mu_squared, const tacit_event *event, double spare,
                                tacit_error *error) {
    tacit_event one = *event;
    tacit_accountant accountant = { TACIT_REPLACE, &one, 1, 1, one.count };
    tacit_steps steps = { NULL, 0 };
    curve *points = NULL;
    double plain = 0, end = 0;
    tacit_status status;
    TACIT_CHECK(tacit_gdp_of(&plain, event, error));
    *mu_squared = plain; /* holds in any case */
    if (event->kind != TACIT_EVENT_GAUSSIAN || event->sampling == 1 || !(spare >= 1e-200)) return TACIT_OK;
    points = TACIT_NEW(curve, 1);
    if (points == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(tacit_steps_make(&steps, &accountant, TACIT_REPLACE, error));
    TACIT_CHECK(tacit_pld_epsilon(&end, &accountant, spare / 2, error));
    if (!(end > 0 && end < 200)) goto cleanup; /* nothing gained, or beyond what the curve can hold */
    TACIT_CHECK(trace(points, &steps, end, spare, error));
    if (points->delta[POINTS] > spare) goto cleanup;
    double mu = least_mu(points, spare, sqrt(fmin(plain, 40 * 40)));
    *mu_squared = fmin(plain, mu * mu * (1 + 1e-9));
cleanup:
    free(steps.items);
    free(points);
    return status;
}
