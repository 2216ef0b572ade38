/* Events, their conversion to the adjacency asked for, and their privacy loss. */
#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "num/special.h"
#include "privacy/account/account_parts.h"

tacit_event tacit_event_gaussian(double sigma, uint64_t count) {
    return (tacit_event){ TACIT_EVENT_GAUSSIAN, sigma, 0, 1, count, false };
}

tacit_event tacit_event_laplace(double scale, uint64_t count) {
    return (tacit_event){ TACIT_EVENT_LAPLACE, scale, 0, 1, count, false };
}

tacit_event tacit_event_pure(double epsilon, uint64_t count) {
    return (tacit_event){ TACIT_EVENT_PURE, epsilon, 0, 1, count, false };
}

tacit_event tacit_event_approximate(double epsilon, double delta, uint64_t count) {
    return (tacit_event){ TACIT_EVENT_APPROXIMATE, epsilon, delta, 1, count, false };
}

tacit_event tacit_event_concentrated(double rho, uint64_t count) {
    return (tacit_event){ TACIT_EVENT_CONCENTRATED, rho, 0, 1, count, false };
}

tacit_event tacit_event_sampled(tacit_event event, double probability) {
    event.sampling = probability;
    return event;
}

tacit_event tacit_event_replaced(tacit_event event) {
    event.replaced = true;
    return event;
}

const char *tacit_event_kind_name(tacit_event_kind kind) {
    switch (kind) {
    case TACIT_EVENT_GAUSSIAN: return "Gaussian";
    case TACIT_EVENT_LAPLACE: return "Laplace";
    case TACIT_EVENT_PURE: return "pure";
    case TACIT_EVENT_APPROXIMATE: return "approximate";
    case TACIT_EVENT_CONCENTRATED: return "zCDP";
    }
    return "unknown event";
}

/* Every condition is written so that NaN fails it. */
tacit_status tacit_event_check(const tacit_event *event, tacit_error *error) {
    double x = event->parameter;
    switch (event->kind) {
    case TACIT_EVENT_GAUSSIAN:
    case TACIT_EVENT_LAPLACE:
        if (!(x >= 1e-3 && x <= 1e6))
            return tacit_fail(error, TACIT_USAGE, "the noise is %g times the sensitivity: give 0.001 to 1e6",
                              x);
        break;
    case TACIT_EVENT_PURE:
    case TACIT_EVENT_APPROXIMATE:
        if (!(x > 0 && x <= TACIT_EVENT_EPSILON_MOST))
            return tacit_fail(error, TACIT_USAGE, "epsilon is %g: give a number above 0, at most %g", x,
                              TACIT_EVENT_EPSILON_MOST);
        break;
    case TACIT_EVENT_CONCENTRATED:
        if (!(x >= 5e-13 && x <= 5e5))
            return tacit_fail(error, TACIT_USAGE, "rho is %g: give 5e-13 to 5e5", x);
        if (event->sampling < 1) return tacit_fail(error, TACIT_USAGE, "a zCDP event is not sampled");
        break;
    default: return tacit_fail(error, TACIT_USAGE, "%d is no kind of event", (int)event->kind);
    }
    bool approximate = event->kind == TACIT_EVENT_APPROXIMATE;
    if (!(approximate ? event->delta > 0 && event->delta < 1 : event->delta == 0))
        return tacit_fail(error, TACIT_USAGE, "the event's delta is %g: give a number above 0 and below 1%s",
                          event->delta, approximate ? "" : " to an approximate event only");
    if (!(event->sampling > 0 && event->sampling <= 1))
        return tacit_fail(error, TACIT_USAGE,
                          "the sampling probability is %g: give a number above 0, at most 1",
                          event->sampling);
    if (event->replaced && event->sampling < 1)
        return tacit_fail(error, TACIT_USAGE,
                          "a sampled event is described by what a row changes that comes or goes");
    if (event->count == 0 || event->count > TACIT_EVENT_COUNT_MOST)
        return tacit_fail(error, TACIT_USAGE, "an event counted %llu times: give 1 to %llu",
                          (unsigned long long)event->count, (unsigned long long)TACIT_EVENT_COUNT_MOST);
    return TACIT_OK;
}

/* log(1 - q + q e^t). */
static double mixture_loss(double q, double t) {
    if (q == 1) return t;
    if (t > 30) return t + log(q + (1 - q) * exp(-t));
    return log1p(q * expm1(t));
}

double tacit_sampled_loss(double sampling, tacit_direction direction, double t) {
    return direction == TACIT_ADDED ? -mixture_loss(sampling, -t) : mixture_loss(sampling, t);
}

/* The t with log(1 - q + q e^t) = loss: e^t = 1 + (e^loss - 1)/q. */
static double unmixed_loss(double q, double loss) {
    if (q == 1) return loss;
    if (loss > 30) return loss + log1p(-(1 - q) * exp(-loss)) - log(q);
    double v = expm1(loss) / q;
    return v <= -1 ? -INFINITY : log1p(v);
}

double tacit_unsampled_loss(double sampling, tacit_direction direction, double loss) {
    return direction == TACIT_ADDED ? -unmixed_loss(sampling, -loss) : unmixed_loss(sampling, loss);
}

/*
 * Proof note: an event under replacement. D and D' differ in one row, x against x'; M(S) is what the
 * mechanism gives on the sample S of the other rows, and by joint convexity S may be fixed.
 *
 * Without sampling, |f(x) - f(x')| is at most twice the sensitivity to a row that comes or goes (Gaussian,
 * Laplace: noise halves relative to it), and a pure or approximate guarantee is used twice: 2 epsilon, (1 +
 * e^epsilon) delta; of zCDP twice in a row is four times rho (Bun and Steinke 2016, Proposition 1.9).
 *
 * Sampled, pure: (1-q) M(S) + q M(S+x) over (1-q) M(S) + q M(S+x') is at most (1 - q + q e^epsilon)/(1 - q +
 * q e^-epsilon), both terms being within e^epsilon of M(S): a pure event again.
 *
 * Sampled, otherwise: let mu0 = M(S), mu1 = M(S+x), mu1' = M(S+x'), a = 1 + q(a0 - 1) >= 1. Advanced joint
 * convexity (Balle, Barthe and Gaboardi 2018, Theorem 2): the hockey-stick divergence H_a of the two mixtures
 * is q H_a0(mu1 || (1-b) mu0 + b mu1') for some b in [0, 1], at most q max(H_a0(mu1 || mu0), H_a0(mu1 ||
 * mu1')), at most q H_a0(P0 || Q0) with (P0, Q0) dominating the unsampled mechanism under replacement: and
 * that is H_a of the pair REMOVED. For a < 1, H_a(P || Q) = 1 - a + a H_(1/a)(Q || P) and replacement is
 * symmetric, so there it is at most H_a of the reversed pair, ADDED. The curve made of both is convex in a,
 * as the mass at loss 0 is not negative (P0, Q0 symmetric with P0(loss > 0) >= Q0(loss > 0)), hence belongs
 * to a pair, the pair EITHER, and pairs that dominate compose (Zhu, Dong and Wang 2022).
 *
 * Sampled, Gaussian: better, and tight. In units of the sensitivity S gives N(0, s^2 I) (its own value is
 * taken off), x moves it by u and x' by v, |u|, |v| <= 1. With c = (1-q)(1-a), h(y) = max(0, y) and Z
 * standard normal
 *     H_a = E h(c + q X - a q Y),   X = exp(u.Z/s - |u|^2/(2 s^2)),   Y = exp(v.Z/s - |v|^2/(2 s^2)).
 * (log X, log Y) is normal, with variances C11 = |u|^2/s^2, C22 = |v|^2/s^2, covariance C12 = u.v/s^2, and X
 * and Y have mean
 * 1. By the heat equation of the normal density, for smooth convex h (max(0, .) is a limit of such)
 *     dH/dC12 = E XY d2h/dXdY = -a q^2 E XY h'' <= 0,
 *     dH/dC11 = E X^2 h_XX/2 = q^2 E X^2 h''/2 >= 0,        dH/dC22 = a^2 q^2 E Y^2 h''/2 >= 0.
 * So for lengths |u|, |v| H_a is largest where C12 is least, at -|u||v|/s^2: opposite directions. There it
 * grows with |u|, as C11 grows and C12 falls, and with |v| likewise. Hence for all a >= 0 and any dimension
 * H_a is at most that of
 *     (1-q) N(0, s^2) + q N(1, s^2)    against    (1-q) N(0, s^2) + q N(-1, s^2),
 * which one pair of data sets attains: the pair EITHER of a Gaussian. Less sampling gives less: mixing both
 * sides with N(0, s^2) lowers no H_a that is not 1 - a, the least there is. A reflection exchanges the two
 * sides.
 */
static tacit_step replacing(const tacit_event *event) {
    double q = event->sampling, x = event->parameter, up = 1 + 16 * TACIT_ROUND;
    tacit_step step = { event->kind, x, event->delta, q, event->count, q < 1 };
    switch (event->kind) {
    case TACIT_EVENT_GAUSSIAN: step.parameter = q < 1 ? x : x / 2; break;
    case TACIT_EVENT_LAPLACE: step.parameter = x / 2; break;
    case TACIT_EVENT_PURE:
        step.parameter = q < 1 ? (mixture_loss(q, x) - mixture_loss(q, -x)) * up + 16 * TACIT_ROUND : 2 * x;
        step.sampling = 1;
        step.either = false;
        break;
    case TACIT_EVENT_CONCENTRATED: step.parameter = 4 * x; break;
    case TACIT_EVENT_APPROXIMATE:
        step.parameter = 2 * x;
        step.delta = fmin(1, event->delta * (1 + exp(x)) * up);
        break;
    }
    return step;
}

tacit_status tacit_steps_make(tacit_steps *out, const tacit_accountant *accountant, tacit_adjacency adjacency,
                              tacit_error *error) {
    tacit_step *items = TACIT_NEW(tacit_step, accountant->count + 1);
    if (items == NULL) return tacit_fail_memory(error);
    double precision = 0; /* of the unsampled Gaussians together: sum of count/sigma^2 */
    size_t count = 1;     /* place 0 is theirs */
    for (size_t i = 0; i < accountant->count; i++) {
        const tacit_event *event = &accountant->events[i];
        tacit_step step = {
            event->kind, event->parameter, event->delta, event->sampling, event->count, false
        };
        if (adjacency == TACIT_REPLACE && !event->replaced) step = replacing(event);
        if (step.kind == TACIT_EVENT_GAUSSIAN && step.sampling == 1)
            precision += (double)step.count / (step.parameter * step.parameter);
        else
            items[count++] = step;
    }
    if (precision > 0) {
        /* Each term and sum rounds by u; sigma is rounded down. */
        double sigma = 1 / sqrt(precision) * (1 - ((double)accountant->count + 8) * TACIT_ROUND);
        items[0] = (tacit_step){ TACIT_EVENT_GAUSSIAN, sigma, 0, 1, 1, false };
    } else {
        items[0] = items[--count];
    }
    *out = (tacit_steps){ items, count };
    return TACIT_OK;
}

/* Amplification: an epsilon-DP mechanism on a Poisson sample is log(1 + q(e^epsilon - 1))-DP, and (epsilon,
 * delta) gives q delta (Balle, Barthe and Gaboardi 2018, on Poisson sampling, whose delta holds at the
 * amplified epsilon). Under EITHER the same formula holds with the replacement pair, by the note above. */
bool tacit_step_pure(const tacit_step *step, double *epsilon, double *delta) {
    if (step->kind == TACIT_EVENT_GAUSSIAN || step->kind == TACIT_EVENT_CONCENTRATED) return false;
    double whole = step->kind == TACIT_EVENT_LAPLACE ? 1 / step->parameter : step->parameter;
    *epsilon = step->sampling < 1 || step->kind == TACIT_EVENT_LAPLACE
                   ? mixture_loss(step->sampling, whole) * (1 + 16 * TACIT_ROUND)
                   : whole;
    *delta = step->sampling * step->delta * (1 + (step->sampling < 1 ? 4 * TACIT_ROUND : 0));
    return true;
}

/* The unsampled point masses: loss, P0, Q0. Laplace: P0 = Lap(0), Q0 = Lap(1), losses +-1/scale outside (0,
 * 1). Pure: randomised response, which dominates every epsilon-DP pair; approximate: the same with
 * probability 1 - delta, and delta on a point of its own for each (Kairouz, Oh and Viswanath 2015). */
static size_t base_atoms(double loss[], double p[], double q[], const tacit_step *step) {
    double r = step->kind == TACIT_EVENT_LAPLACE ? 1 / step->parameter : step->parameter;
    double keep = 1 - step->delta, high = keep / (1 + exp(-r)), low = keep * (exp(-r) / (1 + exp(-r)));
    if (step->kind == TACIT_EVENT_GAUSSIAN) return 0;
    if (step->kind == TACIT_EVENT_LAPLACE) high = 0.5, low = 0.5 * exp(-r);
    loss[0] = r, p[0] = high, q[0] = low;
    loss[1] = -r, p[1] = low, q[1] = high;
    if (step->kind != TACIT_EVENT_APPROXIMATE) return 2;
    loss[2] = INFINITY, p[2] = step->delta, q[2] = 0;
    loss[3] = -INFINITY, p[3] = 0, q[3] = step->delta;
    return 4;
}

size_t tacit_step_atoms(tacit_atom out[TACIT_ATOMS_MOST], const tacit_step *step, tacit_direction direction) {
    double t[TACIT_ATOMS_MOST], p[TACIT_ATOMS_MOST], q[TACIT_ATOMS_MOST], s = step->sampling;
    size_t bases = base_atoms(t, p, q, step), count = 0;
    for (size_t i = 0; i < bases; i++) {
        double mass = direction == TACIT_ADDED ? p[i] : (1 - s) * q[i] + s * p[i];
        if (!(mass > 0)) continue;
        double loss = tacit_sampled_loss(s, direction, t[i]);
        /* The logarithm magnifies rounding by 1/(1 - q + q e^t), which is e^-loss in REMOVED and e^loss in
         * ADDED. */
        double magnified = exp(direction == TACIT_ADDED ? loss : -loss);
        if (isfinite(loss) && (s < 1 || step->kind == TACIT_EVENT_LAPLACE))
            loss +=
                8 * TACIT_ROUND *
                (1 + fabs(loss) + (isfinite(t[i]) ? fabs(t[i]) : 0) + fmin(magnified, 1 / (1 - s + DBL_MIN)));
        out[count++] = (tacit_atom){ loss, mass * (1 + 16 * TACIT_ROUND * (1 + step->parameter)) };
    }
    return count;
}

/* P(low < Z < high) from the smaller tails. */
static void normal_slice(double *mass, double *error, double low, double high) {
    if (low > 0) {
        double swap = -low;
        low = -high;
        high = swap;
    }
    double a = tacit_normal_tail(-low), e = a * tacit_normal_tail_error(-low) + 4 * DBL_MIN;
    if (high <= 0) {
        double b = tacit_normal_tail(-high);
        *mass = fmax(0, b - a);
        *error = e + b * tacit_normal_tail_error(-high);
    } else {
        double b = tacit_normal_tail(high);
        *mass = fmax(0, 1 - a - b);
        *error = e + b * tacit_normal_tail_error(high) + 2 * TACIT_ROUND;
    }
}

/* Gaussian: the loss is N(m^2/2, m^2) under P0, m = 1/sigma. The standardised bound z is what counts as
 * exact; what its rounding does to the loss is part of the caller's `slack`. Laplace: 1/2 e^-(r-t)/2
 * differences. */
tacit_slice tacit_step_slice(const tacit_step *step, double low, double high) {
    tacit_slice slice = { 0, 0, 0, 0 };
    if (step->kind == TACIT_EVENT_GAUSSIAN) {
        double m = 1 / step->parameter, a = low / m - m / 2, b = high / m - m / 2;
        if (!(a < b)) return slice;
        normal_slice(&slice.p, &slice.p_error, a, b);
        normal_slice(&slice.q, &slice.q_error, a + m, b + m);
        slice.q_error *= 1 + m; /* a + m is rounded by up to u(|a| + m) */
    } else if (step->kind == TACIT_EVENT_LAPLACE) {
        double r = 1 / step->parameter;
        low = fmax(low, -r);
        high = fmin(high, r);
        if (!(low < high)) return slice;
        double share = -0.5 * expm1((low - high) / 2);
        slice.p = share * exp((high - r) / 2);
        slice.q = share * exp((-low - r) / 2);
        slice.p_error = slice.p * 16 * TACIT_ROUND * (1 + r);
        slice.q_error = slice.q * 16 * TACIT_ROUND * (1 + r);
    }
    return slice;
}

void tacit_step_reach(double *low, double *high, const tacit_step *step, tacit_direction direction,
                      double tail) {
    *low = 1, *high = -1;
    if (step->kind == TACIT_EVENT_LAPLACE) {
        *high = 1 / step->parameter;
        *low = -*high;
    } else if (step->kind == TACIT_EVENT_GAUSSIAN) {
        /* REMOVED sees the tail of P0 with weight q; that of Q0 is below it. */
        double seen = direction == TACIT_ADDED ? tail : tail / step->sampling;
        double m = 1 / step->parameter, z = tacit_normal_tail_quantile(log(fmin(seen, 0.1)));
        double z_low = fmin(z, 9.5); /* below 1e-20 the lower tail is moved up and costs nothing */
        *high = m * m / 2 + m * z;
        *low = (direction == TACIT_ADDED || step->sampling == 1 ? m * m / 2 : -m * m / 2) - m * z_low;
    }
}

/* ---- the pair EITHER of a Gaussian, in terms of z = value/s; m = 1/s ----
 *
 * Its loss is log(1 - q + k e^t) - log(1 - q + k e^-t), t = m z, k = q e^(-m^2/2): odd, and growing by at
 * most 2 for 1 of t. */

static double log_lift(const tacit_step *step) {
    return log(step->sampling) - 0.5 / (step->parameter * step->parameter);
}

/* log(1 - q + e^x). */
static double log_mixed(double q, double x) { return tacit_log_add(log1p(-q), x); }

double tacit_opposed_loss(const tacit_step *step, double z) {
    double t = z / step->parameter, k = log_lift(step);
    return log_mixed(step->sampling, k + t) - log_mixed(step->sampling, k - t);
}

/* For a loss L > 0, with E = e^L - 1, e^t is the root ((1-q) E + sqrt((1-q)^2 E^2 + 4 k^2 (1+E)))/(2k): all
 * terms are positive, so that t errs by a few units of rounding of the logarithms it is made of, and the loss
 * at t by twice as much. */
double tacit_opposed_place(double *slack, const tacit_step *step, double loss) {
    double size = fabs(loss), m = 1 / step->parameter, log_k = log_lift(step), log_e = 0, t = 0;
    if (size > 0) {
        double rest = 1 - step->sampling;
        log_e = size + log(-expm1(-size));
        t = log_e - log_k + log((rest + hypot(rest, 2 * exp(log_k - log_e + size / 2))) / 2);
    }
    *slack = 32 * TACIT_ROUND * (1 + size + fabs(t) + m * m + fabs(log_e) + fabs(log_k));
    return copysign(t, loss) / m;
}

tacit_slice tacit_opposed_slice(const tacit_step *step, double low, double high) {
    double m = 1 / step->parameter, s = step->sampling, other = 1 - s;
    double still, lifted, sunk, still_error, lifted_error, sunk_error;
    if (!(low < high)) return (tacit_slice){ 0, 0, 0, 0 };
    normal_slice(&still, &still_error, low, high);
    normal_slice(&lifted, &lifted_error, low - m, high - m);
    normal_slice(&sunk, &sunk_error, low + m, high + m);
    tacit_slice slice = { .p = other * still + s * lifted, .q = other * still + s * sunk };
    /* z -+ m is rounded by up to u(|z| + m). */
    slice.p_error = other * still_error + s * lifted_error * (1 + m) + 4 * TACIT_ROUND * slice.p;
    slice.q_error = other * still_error + s * sunk_error * (1 + m) + 4 * TACIT_ROUND * slice.q;
    return slice;
}

void tacit_opposed_reach(double *low, double *high, const tacit_step *step, double tail) {
    double z = tacit_normal_tail_quantile(log(fmin(tail, 0.1)));
    double lifted = tacit_normal_tail_quantile(log(fmin(tail / step->sampling, 0.1)));
    *high = fmax(z, 1 / step->parameter + lifted);
    *low = -fmin(z, 9.5); /* below 1e-20 the lower tail is moved up and costs nothing */
}
