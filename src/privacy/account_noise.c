/* The inverse: how much noise a target needs. */
#include <math.h>

#include "privacy/account_internal.h"
#include "privacy/gaussian.h"

/* Whether the event with this parameter keeps within the target; *out is set on success. */
static tacit_status keeps_within(bool *out, const tacit_event *event, double parameter,
                                 tacit_adjacency adjacency, double epsilon, double delta,
                                 tacit_error *error) {
    tacit_accountant accountant = { adjacency, NULL, 1, 1 };
    tacit_event tried = *event;
    tacit_spending spending;
    tried.parameter = parameter;
    accountant.events = &tried;
    if (delta > 0) {
        TACIT_TRY(tacit_accountant_delta(&spending, &accountant, epsilon, error));
        *out = spending.delta <= delta;
        return TACIT_OK;
    }
    double exact;
    TACIT_TRY(tacit_basic_epsilon(&exact, &accountant, 0, error));
    *out = exact <= epsilon;
    return TACIT_OK;
}

static tacit_status check_target(const tacit_event *event, double epsilon, double delta, tacit_error *error) {
    tacit_event tried = *event;
    tried.parameter = 1;
    TACIT_TRY(tacit_event_check(&tried, error));
    if (event->kind == TACIT_EVENT_APPROXIMATE)
        return tacit_fail(error, TACIT_USAGE, "noise is found for Gaussian, Laplace and pure events");
    if (!(epsilon > 0 && isfinite(epsilon)))
        return tacit_fail(error, TACIT_USAGE, "epsilon is %g: give a finite number above 0", epsilon);
    bool gaussian = event->kind == TACIT_EVENT_GAUSSIAN;
    if (!(gaussian ? delta >= 1e-280 && delta < 1 : delta == 0 || (delta >= 1e-280 && delta < 1)))
        return tacit_fail(error, TACIT_USAGE, "delta is %g: give a number from 1e-280 to below 1", delta);
    return TACIT_OK;
}

/* Unsampled Gaussians have a closed form: sigma sqrt(T), twice that under replacement. */
static tacit_status gaussian_noise(double *out, const tacit_event *event, tacit_adjacency adjacency,
                                   double epsilon, double delta, tacit_error *error) {
    double sensitivity =
        sqrt((double)event->count) * (adjacency == TACIT_REPLACE ? 2 : 1) * (1 + 16 * TACIT_ROUND);
    return tacit_gaussian_sigma(out, epsilon, delta, sensitivity, error);
}

/* Bisection on the logarithm of the noise (for a pure event: of 1/epsilon). The invariant: `enough` meets the target. */
tacit_status tacit_noise_for(double *out, const tacit_event *event, tacit_adjacency adjacency, double epsilon,
                             double delta, tacit_error *error) {
    TACIT_TRY(check_target(event, epsilon, delta, error));
    if (adjacency != TACIT_ADD_OR_REMOVE && adjacency != TACIT_REPLACE)
        return tacit_fail(error, TACIT_USAGE, "%d is no adjacency", (int)adjacency);
    bool pure = event->kind == TACIT_EVENT_PURE, within = false;
    if (event->kind == TACIT_EVENT_GAUSSIAN && event->sampling == 1)
        return gaussian_noise(out, event, adjacency, epsilon, delta, error);
    const double most = 1e6, least = pure ? 1 / TACIT_EVENT_EPSILON_MOST : 1e-3;
    double enough = 1, little = 1;
    TACIT_TRY(keeps_within(&within, event, 1, adjacency, epsilon, delta, error));
    for (bool first = within; within == first && enough <= most && little >= least;) {
        if (first)
            enough = little, little /= 2;
        else
            little = enough, enough *= 2;
        double tried = first ? little : enough;
        if (tried < least || tried > most) break;
        TACIT_TRY(keeps_within(&within, event, pure ? 1 / tried : tried, adjacency, epsilon, delta, error));
        if (!first && within) break;
    }
    if (enough > most)
        return tacit_fail(error, TACIT_USAGE, "no noise up to %g times the sensitivity reaches epsilon %g",
                          most, epsilon);
    little = fmax(little, least);
    while (enough > little * (1 + 1e-6)) {
        double middle = sqrt(enough * little);
        TACIT_TRY(keeps_within(&within, event, pure ? 1 / middle : middle, adjacency, epsilon, delta, error));
        if (within)
            enough = middle;
        else
            little = middle;
    }
    *out = pure ? 1 / enough : enough;
    return TACIT_OK;
}
