/* Basic and advanced composition, and the exact composition of Gaussians. */
#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "num/special.h"
#include "privacy/account/account_parts.h"
#include "privacy/account/gaussian.h"

/* ---- basic ----
 *
 * Proof note. Epsilons add and deltas add (Dwork and Roth 2014, Theorem 3.16). What delta is left after the
 * approximate events is shared equally among the runs of the Gaussian events; each has the epsilon of its
 * analytic curve at its share (Balle and Wang 2018), sampled ones log(1 + q(e^e - 1)) with e taken at share/q
 * (Balle, Barthe and Gaboardi 2018, on Poisson sampling; under replacement the note in account_event.c).
 */

static double pure_sum(const tacit_steps *steps, double *delta, double *gaussian_runs) {
    double epsilon = 0;
    *delta = *gaussian_runs = 0;
    for (size_t i = 0; i < steps->count; i++) {
        double e, d, runs = (double)steps->items[i].count;
        if (tacit_step_pure(&steps->items[i], &e, &d)) {
            /* A product of doubles is rounded by u at most, which the factor makes up for. */
            epsilon = tacit_add_up(epsilon, runs == 1 ? e : runs * e * (1 + 2 * TACIT_ROUND));
            *delta = tacit_add_up(*delta, runs == 1 ? d : runs * d * (1 + 2 * TACIT_ROUND));
        } else {
            *gaussian_runs += runs;
        }
    }
    return epsilon;
}

/* Amplified, under EITHER from twice the sensitivity (account_event.c, on events sampled otherwise). */
static tacit_status gaussian_run(double *out, const tacit_step *step, double share, tacit_error *error) {
    double q = step->sampling, base = share / q, sigma = step->either ? step->parameter / 2 : step->parameter;
    if (base >= 1) {
        *out = 0;
        return TACIT_OK;
    }
    double whole;
    TACIT_TRY(tacit_gaussian_epsilon(&whole, sigma, base, error));
    *out = tacit_sampled_loss(q, TACIT_REMOVED, whole) * (1 + 16 * TACIT_ROUND);
    return TACIT_OK;
}

static tacit_status basic_of(double *out, const tacit_steps *steps, double delta, tacit_error *error) {
    double spent, runs, epsilon = pure_sum(steps, &spent, &runs);
    if (spent > delta || (runs > 0 && !(spent < delta))) {
        *out = INFINITY;
        return TACIT_OK;
    }
    double share = (delta - spent) / runs * (1 - 8 * TACIT_ROUND);
    for (size_t i = 0; i < steps->count && runs > 0; i++) {
        double one;
        if (steps->items[i].kind != TACIT_EVENT_GAUSSIAN) continue;
        if (!(share > 1e-300)) {
            *out = INFINITY;
            return TACIT_OK;
        }
        TACIT_TRY(gaussian_run(&one, &steps->items[i], share, error));
        epsilon = tacit_add_up(epsilon, (double)steps->items[i].count * one * (1 + 2 * TACIT_ROUND));
    }
    *out = epsilon;
    return TACIT_OK;
}

tacit_status tacit_basic_epsilon(double *out, const tacit_accountant *accountant, double delta,
                                 tacit_error *error) {
    tacit_steps steps;
    TACIT_TRY(tacit_accountant_refuse_concentrated(accountant, error));
    TACIT_TRY(tacit_steps_make(&steps, accountant, accountant->adjacency, error));
    tacit_status status = basic_of(out, &steps, delta, error);
    free(steps.items);
    return status;
}

/* The smallest delta whose basic epsilon is within the one given, by bisection on log delta. */
tacit_status tacit_basic_delta(double *out, const tacit_accountant *accountant, double epsilon,
                               tacit_error *error) {
    tacit_steps steps;
    tacit_status status = TACIT_OK;
    TACIT_TRY(tacit_accountant_refuse_concentrated(accountant, error));
    TACIT_TRY(tacit_steps_make(&steps, accountant, accountant->adjacency, error));
    double spent, runs, reached, result = 1;
    if (pure_sum(&steps, &spent, &runs) <= epsilon) {
        if (runs == 0) {
            result = fmin(1, spent);
        } else {
            double low = log(1e-290), high = 0;
            for (int i = 0; i < 60 && status == TACIT_OK; i++) {
                double middle = (low + high) / 2;
                status = basic_of(&reached, &steps, exp(middle), error);
                if (status == TACIT_OK && reached <= epsilon)
                    high = middle;
                else
                    low = middle;
            }
            result = fmin(1, exp(high) * (1 + 4 * TACIT_ROUND));
        }
    }
    free(steps.items);
    if (status == TACIT_OK) *out = result;
    return status;
}

/* ---- advanced ----
 *
 * Proof note. Every (e_i, d_i)-DP event is dominated by randomised response of e_i with probability 1 - d_i
 * (Kairouz, Oh and Viswanath 2015), so the composition is with probability prod (1 - d_i) a sum of
 * independent losses +-e_i.
 *   One e, T runs: delta = 1 - (1-d)^T (1 - sum_l C(T, l) p^(T-l) (1-p)^l (1 - e^(epsilon - (T-2l) e))_+), p
 *   = e^e/(1+e^e);
 * this is optimal (same paper). Several e: the mean of the loss is sum e_i tanh(e_i/2), and by Hoeffding it
 * is passed by sqrt(2 sum e_i^2 log(1/d')) with probability at most d' (one of the terms of their bound).
 */

typedef struct pure_events {
    double epsilon, runs;        /* one kind */
    double mean, squares, total; /* several: sums of e tanh(e/2), e^2, e */
    double log_keep;             /* log prod (1 - d_i), rounded down */
    bool homogeneous;
} pure_events;

enum { BINOMIAL_MOST = 200000 }; /* runs up to which the sum is taken term by term */

static bool gather_pure(pure_events *out, const tacit_steps *steps) {
    *out = (pure_events){ .homogeneous = true };
    for (size_t i = 0; i < steps->count; i++) {
        double e, d, runs = (double)steps->items[i].count;
        if (!tacit_step_pure(&steps->items[i], &e, &d)) return false;
        if (i > 0 && e != out->epsilon) out->homogeneous = false;
        out->epsilon = e;
        out->runs += runs;
        out->mean += runs * e * tanh(e / 2);
        out->squares += runs * e * e;
        out->total += runs * e;
        out->log_keep += runs * log1p(-d);
    }
    double up = 1 + ((double)steps->count + 8) * DBL_EPSILON;
    out->mean *= up;
    out->squares *= up;
    out->total *= up;
    out->log_keep *= up;
    return true;
}

/* The sum over l, from the largest term outwards to where the rest is below a 1e-20th of it. The loss falls
 * with l, so terms count for l < (T - epsilon/e)/2. Errors: log C within 1e-13 T at most 200000 runs, hence
 * the factor. */
static double binomial_delta(const pure_events *events, double epsilon) {
    double e = events->epsilon, runs = events->runs, sum = 0;
    double log_p = -log1p(exp(-e)), log_q = -log1p(exp(e));
    double last = ceil((runs - epsilon / e) / 2) - 1; /* largest l with (T-2l) e > epsilon */
    double mode = floor(runs / (1 + exp(e))), start = fmin(mode, last);
    for (int way = -1; way <= 1; way += 2) {
        for (double l = way < 0 ? start : start + 1; l >= 0 && l <= last; l += way) {
            double log_mass = tacit_log_binomial(runs, l) + (runs - l) * log_p + l * log_q;
            double term = exp(log_mass) * -expm1(epsilon - (runs - 2 * l) * e);
            sum += term;
            if (term < sum * 1e-24 && fabs(l - start) > 16 && exp(log_mass) < sum * 1e-24) break;
        }
    }
    return sum * (1 + 1e-18 * runs) * (1 + 1e-12 + 1e-13 * (1 + runs) + 16 * TACIT_ROUND * runs * e) +
           DBL_MIN;
}

/* The delta of the losses alone; the events' own deltas are put on by the caller. */
static double losses_delta(const pure_events *events, double epsilon) {
    if (epsilon >= events->total) return 0;
    if (events->homogeneous && events->runs <= BINOMIAL_MOST) return fmin(1, binomial_delta(events, epsilon));
    double over = epsilon - events->mean;
    return over <= 0 ? 1 : exp(-over * over / (2 * events->squares)) * (1 + 1e-12);
}

static double advanced_curve(const void *context, double epsilon) {
    const pure_events *events = context;
    double log_good = events->log_keep + log1p(-losses_delta(events, epsilon));
    return fmin(1, -expm1(log_good) * (1 + 8 * TACIT_ROUND));
}

static tacit_status gather_accountant(pure_events *out, const tacit_accountant *accountant,
                                      tacit_error *error) {
    tacit_steps steps;
    TACIT_TRY(tacit_steps_make(&steps, accountant, accountant->adjacency, error));
    bool pure = gather_pure(out, &steps);
    free(steps.items);
    if (!pure)
        return tacit_fail(error, TACIT_USAGE,
                          "advanced composition is for pure, approximate and Laplace events; use RDP or PLD");
    return TACIT_OK;
}

tacit_status tacit_advanced_epsilon(double *out, const tacit_accountant *accountant, double delta,
                                    tacit_error *error) {
    pure_events events;
    TACIT_TRY(gather_accountant(&events, accountant, error));
    if (advanced_curve(&events, events.total) > delta)
        *out = INFINITY;
    else
        *out = tacit_solve_epsilon(advanced_curve, &events, delta, events.total);
    return TACIT_OK;
}

tacit_status tacit_advanced_delta(double *out, const tacit_accountant *accountant, double epsilon,
                                  tacit_error *error) {
    pure_events events;
    TACIT_TRY(gather_accountant(&events, accountant, error));
    *out = advanced_curve(&events, epsilon);
    return TACIT_OK;
}

/* ---- Gaussian ----
 *
 * Proof note. Gaussian releases of sigma_1, ..., on sensitivity 1 are one release of a vector; its privacy
 * loss on the worst pair is that of a single Gaussian with 1/sigma^2 = sum 1/sigma_i^2, also when chosen
 * adaptively (Dong, Roth and Su 2022, on composing Gaussian differential privacy). tacit_steps_make has
 * merged them.
 */
static tacit_status merged_sigma(double *out, const tacit_accountant *accountant, tacit_error *error) {
    tacit_steps steps;
    TACIT_TRY(tacit_steps_make(&steps, accountant, accountant->adjacency, error));
    tacit_step step = steps.items[0];
    bool only = steps.count == 1 && step.kind == TACIT_EVENT_GAUSSIAN && step.sampling == 1;
    free(steps.items);
    if (!only) return tacit_fail(error, TACIT_USAGE, "there are events other than unsampled Gaussians");
    *out = step.parameter;
    return TACIT_OK;
}

tacit_status tacit_exact_epsilon(double *out, const tacit_accountant *accountant, double delta,
                                 tacit_error *error) {
    double sigma = 0;
    TACIT_TRY(merged_sigma(&sigma, accountant, error));
    if (delta == 0) {
        *out = INFINITY;
        return TACIT_OK;
    }
    return tacit_gaussian_epsilon(out, sigma, delta, error);
}

tacit_status tacit_exact_delta(double *out, const tacit_accountant *accountant, double epsilon,
                               tacit_error *error) {
    double sigma = 0;
    TACIT_TRY(merged_sigma(&sigma, accountant, error));
    return tacit_gaussian_delta(out, sigma, epsilon, error);
}
