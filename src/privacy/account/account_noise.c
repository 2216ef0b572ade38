/* The inverse: how much noise a target needs. */
#include <math.h>

#include "privacy/account/account_parts.h"
#include "privacy/account/gaussian.h"

typedef struct target {
    const tacit_event *event;
    tacit_adjacency adjacency;
    double epsilon, delta;
} target;

/* log(epsilon spent/epsilon allowed) of the event with this much noise: at most 0 when the target is met. */
static tacit_status excess(double *out, const target *t, double noise, tacit_error *error) {
    tacit_event tried = *t->event;
    tacit_accountant accountant = { t->adjacency, &tried, 1, 1, tried.count };
    tacit_spending spending;
    tried.parameter = tried.kind == TACIT_EVENT_PURE ? 1 / noise : noise;
    tacit_status status = tacit_accountant_epsilon(&spending, &accountant, t->delta, NULL);
    if (status != TACIT_OK && status != TACIT_USAGE)
        return tacit_fail(error, status, "%s", tacit_status_text(status));
    /* The arguments have been checked: TACIT_USAGE means too little noise for any epsilon. */
    *out = status == TACIT_USAGE ? INFINITY : log(spending.epsilon / t->epsilon);
    return TACIT_OK;
}

static tacit_status check_target(const tacit_event *event, double epsilon, double delta, tacit_error *error) {
    tacit_event tried = *event;
    tried.parameter = 1;
    TACIT_TRY(tacit_event_check(&tried, error));
    if (event->kind == TACIT_EVENT_APPROXIMATE || event->kind == TACIT_EVENT_CONCENTRATED)
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

/* Where a straight line through the two ends, on logarithmic scales, meets the target; the middle if that is
 * no use. */
static double between(double little, double above, double enough, double below) {
    double share = above / (above - below);
    if (!(isfinite(above) && isfinite(below))) share = 0.5;
    return little * pow(enough / little, fmin(fmax(share, 0.01), 0.99));
}

/* Narrow [little, enough] to one part in 1e5. The invariant: `enough` meets the target, `little` does not.
 * Every third step halves, so that a bad line cannot stall. */
static tacit_status narrow(double *out, const target *t, double little, double above, double enough,
                           double below, tacit_error *error) {
    for (int i = 0; enough > little * (1 + 1e-5); i++) {
        double line = between(little, above, enough, below);
        double tried = i % 3 == 2 ? sqrt(little * enough) : line * (i % 3 == 0 ? 1 + 4e-6 : 1 - 4e-6),
               here = 0;
        if (!(tried > little && tried < enough)) tried = sqrt(little * enough);
        TACIT_TRY(excess(&here, t, tried, error));
        if (here <= 0)
            enough = tried, below = here;
        else
            little = tried, above = here;
    }
    *out = enough;
    return TACIT_OK;
}

tacit_status tacit_noise_for(double *out, const tacit_event *event, tacit_adjacency adjacency, double epsilon,
                             double delta, tacit_error *error) {
    TACIT_TRY(check_target(event, epsilon, delta, error));
    if (adjacency != TACIT_ADD_OR_REMOVE && adjacency != TACIT_REPLACE)
        return tacit_fail(error, TACIT_USAGE, "%d is no adjacency", (int)adjacency);
    if (event->kind == TACIT_EVENT_GAUSSIAN && event->sampling == 1)
        return gaussian_noise(out, event, adjacency, epsilon, delta, error);
    bool pure = event->kind == TACIT_EVENT_PURE;
    const target t = { event, adjacency, epsilon, delta };
    const double most = 1e6, least = pure ? 1 / TACIT_EVENT_EPSILON_MOST : 1e-3;
    double little = 1, enough = 1, above = 0, below = 0, noise = 0;
    TACIT_TRY(excess(&above, &t, 1, error));
    below = above;
    while (below > 0 && enough < most) { /* more noise until it is enough */
        little = enough, above = below;
        enough = fmin(2 * enough, most);
        TACIT_TRY(excess(&below, &t, enough, error));
    }
    while (above <= 0 && little > least) { /* less until it is not */
        enough = little, below = above;
        little = fmax(little / 2, least);
        TACIT_TRY(excess(&above, &t, little, error));
    }
    if (below > 0)
        return tacit_fail(error, TACIT_USAGE, "no noise up to %g times the sensitivity reaches epsilon %g",
                          most, epsilon);
    noise = little;
    if (above > 0) TACIT_TRY(narrow(&noise, &t, little, above, enough, below, error));
    *out = pure ? 1 / noise * (1 - 2 * TACIT_ROUND) : noise;
    return TACIT_OK;
}
