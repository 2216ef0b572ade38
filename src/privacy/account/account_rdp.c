/* Zero-concentrated and Renyi differential privacy. */
#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "num/special.h"
#include "privacy/account/account_parts.h"

/*
 * Proof note: from Renyi divergences to (epsilon, delta). If D_a(P || Q) <= tau for both orders of the pair
 * then
 *     delta(epsilon) <= e^((a-1)(tau - epsilon)) (1 - 1/a)^a / (a - 1)   for every a > 1
 * (Canonne, Kamath and Steinke 2020, Proposition 12). Divergences add under adaptive composition (Mironov
 * 2017). Solved for epsilon: tau + log(1 - 1/a) - (log delta + log a)/(a - 1). Any set of orders gives an
 * upper bound; more of them a better one. The orders here run geometrically and are refined around the best.
 */

static double log_delta_at(double order, double divergence, double epsilon) {
    return (order - 1) * (divergence - epsilon) + order * log1p(-1 / order) - log(order - 1);
}

static double epsilon_at(double order, double divergence, double log_delta) {
    return divergence + log1p(-1 / order) - (log_delta + log(order)) / (order - 1);
}

/* ---- divergences of one run, times a - 1: log E_Q (P/Q)^a ---- */

/* Laplace of scale 1/r (Mironov 2017): the density ratio is e^r below 0, e^-r above 1, and integrates
 * between. */
static double laplace_moment(double order, double r) {
    return tacit_log_add(log(order / (2 * order - 1)) + (order - 1) * r,
                         log((order - 1) / (2 * order - 1)) - order * r);
}

/* Randomised response of e, the worst pure event (Mironov 2017): p^a q^(1-a) + q^a p^(1-a), p = e^e/(1 +
 * e^e), q = 1 - p. */
static double response_moment(double order, double e) {
    return tacit_log_add(order * e, (1 - order) * e) - tacit_log_add(0, e);
}

/* The moment of a step without sampling, at any order; at order 0 and 1 it is 0. */
static double base_moment(const tacit_step *step, double order) {
    double x = step->parameter;
    if (order == 0 || order == 1) return 0;
    switch (step->kind) {
    case TACIT_EVENT_GAUSSIAN: return order * (order - 1) / (2 * x * x);
    case TACIT_EVENT_LAPLACE: return laplace_moment(order, 1 / x);
    case TACIT_EVENT_PURE:
    case TACIT_EVENT_APPROXIMATE: return response_moment(order, x);
    case TACIT_EVENT_CONCENTRATED: return order * (order - 1) * x;
    }
    return INFINITY;
}

/* Sampled, whole order a: log sum_k C(a, k) (1-q)^(a-k) q^k e^moment(k), the binomial theorem on E_Q0 (1 - q
 * + q P0/Q0)^a (Mironov, Talwar and Zhang 2019, section 3.3, for any pair). That is REMOVED; it is the larger
 * of the two directions for pairs that a reflection exchanges (same paper), as it does Gaussians, Laplace and
 * randomised response. */
static double whole_moment(const tacit_step *step, double order) {
    double log_q = log(step->sampling), log_rest = log1p(-step->sampling), choose = 0, top = -INFINITY,
           sum = 0;
    for (double k = 0; k <= order; k++) {
        double term = choose + (order - k) * log_rest + k * log_q + base_moment(step, k);
        if (term > top) {
            sum = sum * exp(top - term) + 1;
            top = term;
        } else {
            sum += exp(term - top);
        }
        choose += log((order - k) / (k + 1));
    }
    return top + log(sum);
}

/* log((1-q)^(a-k) q^k C(a, k) e^((k^2-k)/(2 sigma^2)) P(Z > at)): the first and, with a-k for k in the
 * powers, the second series of Mironov, Talwar and Zhang 2019, section 3.3. */
static double series_term(const tacit_step *step, double log_choose, double power, double rest, double at) {
    double s = step->parameter;
    return log_choose + power * log(step->sampling) + rest * log1p(-step->sampling) +
           (power * power - power) / (2 * s * s) + tacit_normal_log_tail(at);
}

/* Sampled Gaussian, order a not whole: E over x below and above z0, where the two parts of the mixture are
 * equal, each as a binomial series. By the choice of z0 both terms of index k are one constant times C(a, k)
 * R((k - z0)/sigma) and C(a, k) R((k - a + z0)/sigma), R Mills' ratio, which falls; |C(a, k)| falls and
 * alternates from k > a on. So what is left off is below the last term taken, which is added. Returns
 * infinity where cancellation leaves fewer than 4 digits. */
static double fractional_moment(const tacit_step *step, double order) {
    double s = step->parameter, q = step->sampling;
    double z0 = s * s * (log1p(-q) - log(q)) + 0.5, plus = -INFINITY, minus = -INFINITY, last = -INFINITY;
    for (double k = 0; k < 64 + 2 * order; k++) {
        int sign;
        double choose = tacit_log_binomial_real(order, k, &sign);
        double below = series_term(step, choose, k, order - k, (k - z0) / s);
        double above = series_term(step, choose, order - k, k, (z0 - (order - k)) / s);
        double *side = sign > 0 ? &plus : &minus;
        last = tacit_log_add(below, above);
        *side = tacit_log_add(*side, last);
        if (k > order && last < plus - 40) break;
    }
    plus = tacit_log_add(plus, last);
    if (!(minus < plus - 1e-9)) return INFINITY;
    double moment = plus + log(-expm1(minus - plus));
    /* the errors of both sides against the difference */
    double lost = 1e-12 * (1 + order) * exp(plus - moment);
    return lost < 1e-4 ? moment + lost : INFINITY;
}

enum { WHOLE_MOST = 10000 };

static double sampled_moment(const tacit_step *step, double order) {
    double below = floor(order), part = order - below;
    if (order > WHOLE_MOST) return INFINITY;
    if (part == 0) return whole_moment(step, order) + 1e-12 * (1 + order);
    /* The moment is convex in the order, so the chord between whole orders is an upper bound. */
    double chord =
        part * whole_moment(step, below + 1) + (below > 1 ? (1 - part) * whole_moment(step, below) : 0);
    double moment = chord + 1e-12 * (1 + order);
    if (step->kind == TACIT_EVENT_GAUSSIAN && order < 100)
        moment = fmin(moment, fractional_moment(step, order));
    return moment;
}

/* ---- the whole account ---- */

/* The fixed orders are 1 + 2^(j/3), j from -18 to 39. */
enum { ORDERS = 58 };

static double fixed_order(int index) { return 1 + exp2((index - 18) / 3.0); }

typedef struct renyi {
    tacit_steps steps;
    double extra; /* delta of the approximate events, on top */
    bool linear;  /* zCDP: divergence rho times the order */
    double rho;
    double grid[ORDERS]; /* divergences at the fixed orders */
} renyi;

/* The divergence of the composition at an order, rounded up. Approximate events and sampled generic ones come
 * in as pure events of their own epsilon with their delta apart: with probability 1 - delta the mechanism is
 * epsilon-DP (Kairouz, Oh and Viswanath 2015). */
static double divergence(const renyi *account, double order) {
    if (account->linear) return account->rho * order;
    double sum = 0;
    for (size_t i = 0; i < account->steps.count; i++) {
        const tacit_step *step = &account->steps.items[i];
        double moment = step->sampling == 1                  ? base_moment(step, order)
                        : !step->either                      ? sampled_moment(step, order)
                        : step->kind == TACIT_EVENT_GAUSSIAN ? tacit_opposed_moment(step, order)
                                                             : INFINITY;
        /* Sampled Laplace between orders 1 and 2, and under replacement, may be cheaper as a pure event; both
         * bounds hold. */
        double e, d;
        if (step->sampling < 1 && tacit_step_pure(step, &e, &d))
            moment = fmin(moment, response_moment(order, e));
        sum += (double)step->count * (fmax(moment, 0) + 8 * TACIT_ROUND * (1 + moment));
    }
    return sum / (order - 1) * (1 + 1e-13);
}

typedef double order_value(double order, double divergence, double given);

/* The smallest value over the fixed orders and, if `refine`, by golden section between the best one's
 * neighbours; whole orders, where the sampled Gaussian is exact at any size, are tried too. */
static double best_order(const renyi *account, order_value *value, double given, bool refine) {
    double best = INFINITY;
    int at = 0;
    for (int j = 0; j < ORDERS; j++) {
        double here = value(fixed_order(j), account->grid[j], given);
        if (here < best) best = here, at = j;
    }
    if (isinf(best) || !refine) return best;
    double low = (at - 19) / 3.0, high = (at - 17) / 3.0;
    for (int i = 0; i < 16; i++) {
        double left = 1 + exp2(high - 0.618 * (high - low)), right = 1 + exp2(low + 0.618 * (high - low));
        double at_left = value(left, divergence(account, left), given);
        double at_right = value(right, divergence(account, right), given);
        best = fmin(best, fmin(at_left, at_right));
        if (at_left < at_right)
            high = log2(right - 1);
        else
            low = log2(left - 1);
    }
    double whole = round(1 + exp2(low));
    for (double order = fmax(2, whole - 1); order <= whole + 1; order++)
        best = fmin(best, value(order, divergence(account, order), given));
    return best;
}

/* A step that sampling or a delta of its own keeps from its closed form becomes a pure one. */
static void simplify(renyi *account) {
    account->extra = 0;
    for (size_t i = 0; i < account->steps.count; i++) {
        tacit_step *step = &account->steps.items[i];
        double e, d;
        if (step->kind != TACIT_EVENT_APPROXIMATE) continue;
        tacit_step_pure(step, &e, &d);
        account->extra = tacit_add_up(account->extra, (double)step->count * d * (1 + 2 * TACIT_ROUND));
        *step = (tacit_step){ TACIT_EVENT_PURE, e, 0, 1, step->count, false };
    }
}

/* zCDP: a Gaussian has rho = 1/(2 sigma^2), an e-DP event e^2/2 (Bun and Steinke 2016, Propositions 1.6 and
 * 1.4). */
static bool concentrate(renyi *account) {
    account->linear = true;
    for (size_t i = 0; i < account->steps.count; i++) {
        const tacit_step *step = &account->steps.items[i];
        double e, d;
        if (!tacit_step_pure(step, &e, &d)) {
            if (step->sampling < 1) return false;
            e = step->kind == TACIT_EVENT_GAUSSIAN ? 1 / step->parameter : sqrt(2 * step->parameter);
        }
        account->rho += (double)step->count * e * e / 2;
    }
    account->rho *= 1 + ((double)account->steps.count + 8) * DBL_EPSILON;
    return true;
}

/* Replacement with sampled Gaussian or Laplace events has no closed moments: such accounts are kept under
 * add/remove and go through group privacy at the end. Beside an event about a replaced row, which has no
 * removed and no added half, the moments of the pair are found by quadrature. */
static bool needs_group(const tacit_accountant *accountant, bool linear) {
    if (linear || accountant->adjacency != TACIT_REPLACE || tacit_accountant_replaces(accountant))
        return false;
    for (size_t i = 0; i < accountant->count; i++) {
        tacit_event_kind kind = accountant->events[i].kind;
        if (accountant->events[i].sampling < 1 &&
            (kind == TACIT_EVENT_GAUSSIAN || kind == TACIT_EVENT_LAPLACE))
            return true;
    }
    return false;
}

static tacit_status renyi_make(renyi *out, const tacit_accountant *accountant, bool linear,
                               tacit_error *error) {
    *out = (renyi){ .linear = false };
    tacit_adjacency adjacency = needs_group(accountant, linear) ? TACIT_ADD_OR_REMOVE : accountant->adjacency;
    TACIT_TRY(tacit_steps_make(&out->steps, accountant, adjacency, error));
    simplify(out);
    if (linear && !concentrate(out)) {
        free(out->steps.items);
        return tacit_fail(error, TACIT_USAGE, "sampled Gaussian events have no useful zCDP: use RDP or PLD");
    }
    for (int j = 0; j < ORDERS; j++) out->grid[j] = divergence(out, fixed_order(j));
    return TACIT_OK;
}

tacit_status tacit_renyi_at(double *divergence_out, double *extra, const tacit_accountant *accountant,
                            double order, tacit_error *error) {
    renyi account = { .linear = false };
    TACIT_TRY(tacit_steps_make(&account.steps, accountant, accountant->adjacency, error));
    simplify(&account);
    *divergence_out = divergence(&account, order);
    *extra = account.extra;
    free(account.steps.items);
    return TACIT_OK;
}

static double delta_of(const renyi *account, double epsilon, bool refine) {
    double log_delta = best_order(account, log_delta_at, epsilon, refine);
    return fmin(1, tacit_add_up(account->extra, exp(log_delta) * (1 + 1e-12)));
}

static double group_curve(const void *context, double epsilon) {
    double half = delta_of(context, epsilon / 2, false);
    return tacit_group_delta(half, half, epsilon);
}

static tacit_status renyi_epsilon(double *out, const tacit_accountant *accountant, double delta, bool linear,
                                  tacit_error *error) {
    renyi account;
    TACIT_TRY(renyi_make(&account, accountant, linear, error));
    double left = delta - account.extra, epsilon = INFINITY;
    if (left > 0) epsilon = best_order(&account, epsilon_at, log(left) - 1e-12 * (1 + fabs(log(left))), true);
    if (needs_group(accountant, linear) && isfinite(epsilon)) {
        double high = 2 * epsilon + 1;
        while (group_curve(&account, high) > delta && high < 1e6) high *= 1.5;
        epsilon = high < 1e6 ? tacit_solve_epsilon(group_curve, &account, delta, high) : INFINITY;
    }
    free(account.steps.items);
    *out = fmax(0, epsilon * (1 + 1e-12));
    return TACIT_OK;
}

static tacit_status renyi_delta(double *out, const tacit_accountant *accountant, double epsilon, bool linear,
                                tacit_error *error) {
    renyi account;
    TACIT_TRY(renyi_make(&account, accountant, linear, error));
    *out =
        needs_group(accountant, linear) ? group_curve(&account, epsilon) : delta_of(&account, epsilon, true);
    free(account.steps.items);
    return TACIT_OK;
}

tacit_status tacit_zcdp_epsilon(double *out, const tacit_accountant *accountant, double delta,
                                tacit_error *error) {
    return renyi_epsilon(out, accountant, delta, true, error);
}

tacit_status tacit_zcdp_delta(double *out, const tacit_accountant *accountant, double epsilon,
                              tacit_error *error) {
    return renyi_delta(out, accountant, epsilon, true, error);
}

tacit_status tacit_rdp_epsilon(double *out, const tacit_accountant *accountant, double delta,
                               tacit_error *error) {
    return renyi_epsilon(out, accountant, delta, false, error);
}

tacit_status tacit_rdp_delta(double *out, const tacit_accountant *accountant, double epsilon,
                             tacit_error *error) {
    return renyi_delta(out, accountant, epsilon, false, error);
}
