/* Renyi divergence of the pair EITHER of a sampled Gaussian (account_event.c), by quadrature that errs
 * upwards only. */
#include <float.h>
#include <math.h>

#include "num/special.h"
#include "privacy/account/account_parts.h"

/*
 * Proof note. With r = Q/P the moment is E_P r^(1-a), and r^(1-a) is convex. The loss -log r grows with z. In
 * a cell of z between losses l and h the mass P goes to the two ends so that P and Q are kept: a
 * mean-preserving spread of r, which only raises the mean of a convex function. The upper end gets (P - e^l
 * Q)/(1 - e^(l-h)), as in account_losses.c, its rounding added. Below the first cell the loss counts as that
 * of its lower end. Above the last, at z > Z,
 *     p^a q^(1-a) <= phi(z) (1-s)^(1-a) (c e^(m z))^a,   c = s e^(-m^2/2) + (1-s) e^(-m Z),
 * because p = phi(z) (1 - s + s e^(m z - m^2/2)) and q >= (1-s) phi(z); that integrates to e^(a^2 m^2/2) P(N
 * > Z - a m). Sampling lowers every H_a, hence every Renyi divergence: 2 a (a-1) m^2 of the pair without
 * sampling is a bound as well.
 */

enum { CELLS_MOST = 20000 };

/* The share of a cell's mass that goes to its upper end, and the sum of both ends' moments, as a
 * logarithm. */
static double cell_moment(const tacit_slice *slice, double low, double high, double slack, double power) {
    double mass = slice->p + slice->p_error, growth = exp(low);
    double error = slice->p_error + growth * slice->q_error + 2.1 * slack * slice->p +
                   4 * TACIT_ROUND * (slice->p + growth * slice->q) * (1 + fabs(low));
    double upper =
        (slice->p - growth * slice->q + error) / -expm1(low - high) * (1 + 8 * TACIT_ROUND) + slice->p_error;
    upper = isfinite(upper) ? fmin(fmax(upper, 0), mass) : mass;
    double at_high = log(upper) + power * (high + slack), at_low = log(mass - upper) + power * (low + slack);
    return tacit_log_add(at_high, at_low);
}

static double tail_moment(const tacit_step *step, double order, double end) {
    double m = 1 / step->parameter, s = step->sampling;
    double log_c = tacit_log_add(log(s) - m * m / 2, log1p(-s) - m * end);
    return (1 - order) * log1p(-s) + order * log_c + order * order * m * m / 2 +
           tacit_normal_log_tail(end - order * m);
}

double tacit_opposed_moment(const tacit_step *step, double order) {
    double m = 1 / step->parameter, plain = 2 * order * (order - 1) * m * m, power = order - 1;
    if (order * m > 60 || 1 - step->sampling < 1e-12) return plain;
    double from = -9.5, end = order * m + 10, width = fmin(fmin(0.1, 0.02 / m), 0.1 / (power * m));
    double count = ceil(fmin(CELLS_MOST, (end - from) / width)), slack;
    width = (end - from) / count;
    tacit_opposed_place(&slack, step,
                        fmax(fabs(tacit_opposed_loss(step, from)), tacit_opposed_loss(step, end)));
    double low = tacit_opposed_loss(step, from), top = -INFINITY, sum = 0;
    tacit_slice below = tacit_opposed_slice(step, -INFINITY, from);
    double terms[2] = { log(below.p + below.p_error) + power * (low + slack), tail_moment(step, order, end) };
    for (long i = -2; i < (long)count; i++) {
        double term;
        if (i < 0) {
            term = terms[i + 2];
        } else {
            double z = from + (double)i * width,
                   next = i + 1 < (long)count ? from + (double)(i + 1) * width : end;
            double high = fmax(tacit_opposed_loss(step, next), low);
            tacit_slice slice = tacit_opposed_slice(step, z, next);
            term = high > low ? cell_moment(&slice, low, high, slack, power)
                              : log(slice.p + slice.p_error) + power * (high + slack);
            low = high;
        }
        if (term > top) {
            sum = sum * exp(top - term) + 1;
            top = term;
        } else {
            sum += exp(term - top);
        }
    }
    return fmin(plain, top + log(sum) + 1e-13 + 64 * TACIT_ROUND * (1 + fabs(top)));
}
