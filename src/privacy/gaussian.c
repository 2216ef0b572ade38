#include "privacy/gaussian.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#include "num/special.h"

/*
 * Proof note. The worst pair is N(0, sigma^2) and N(1, sigma^2); with m = 1/sigma the privacy loss is N(m^2/2, m^2), and
 *     delta(epsilon) = Q(a) - e^epsilon Q(b),  a = epsilon/m - m/2,  b = a + m,  Q the upper normal tail
 * (Balle and Wang 2018, Theorem 8). Since b^2/2 - a^2/2 = epsilon, e^epsilon density(b) = density(a), and with Mills'
 * ratio R = Q/density
 *     delta(epsilon) = density(a) (R(a) - R(b)) = density(a) x integral over [a, b] of (1 - x R(x)) dx.
 * The integrand is positive and computed without cancellation, so that the integral has small relative error where
 * the difference has none left (small m). It decreases in epsilon and increases in m.
 */

/* Gauss-Legendre, 10 points: on an interval of length 1 or less the error is below 1e-15 of the integral, for the
 * integrand is analytic and completely monotone with scale 1. */
static double mills_drop(double a, double m) {
    static const double node[] = { 0.1488743389816312, 0.4333953941292472, 0.6794095682990244,
                                   0.8650633666889845, 0.9739065285171717 };
    static const double weight[] = { 0.2955242247147529, 0.2692667193099964, 0.2190863625159820,
                                     0.1494513491505806, 0.0666713443086881 };
    double sum = 0, middle = a + m / 2;
    for (int i = 0; i < 5; i++)
        sum += weight[i] *
               (tacit_mills_slope(middle - node[i] * m / 2) + tacit_mills_slope(middle + node[i] * m / 2));
    return sum * m / 2;
}

/* The relative error allowed for: 1e-12 for the special functions and the quadrature (some 100u in truth), and that of
 * a, at most 3u(epsilon/m + m/2), which moves log delta by less than |a| + 2 of it. */
static double log_error(double a, double m, double epsilon) {
    return 1e-12 + 4 * DBL_EPSILON * (fabs(a) + 2) * (epsilon / m + m / 2);
}

double tacit_gaussian_log_delta(double sigma, double epsilon) {
    assert(sigma > 0 && epsilon >= 0);
    double m = 1 / sigma, a = epsilon / m - m / 2;
    const double half_log_2pi = 0.91893853320467274178;
    double log_density = -a * a / 2 - half_log_2pi, log_delta;
    if (a < -4) /* then m > 8 and b > 4: Q(a) is near 1 and what is taken off is small */
        log_delta = log1p(-tacit_normal_tail(-a) - exp(log_density) * tacit_mills(a + m));
    else if (m <= 1)
        log_delta = log_density + log(mills_drop(a, m));
    else
        log_delta = log_density + log(tacit_mills(a) - tacit_mills(a + m));
    return fmin(0, log_delta + log_error(a, m, epsilon));
}

static tacit_status check_sigma(double sigma, tacit_error *error) {
    if (!(sigma > 0 && isfinite(sigma)))
        return tacit_fail(error, TACIT_USAGE, "sigma is %g: give a finite number above 0", sigma);
    return TACIT_OK;
}

static tacit_status check_delta(double delta, tacit_error *error) {
    if (!(delta > 0 && delta < 1))
        return tacit_fail(error, TACIT_USAGE, "delta is %g: give a number above 0 and below 1", delta);
    return TACIT_OK;
}

tacit_status tacit_gaussian_delta(double *out, double sigma, double epsilon, tacit_error *error) {
    TACIT_TRY(check_sigma(sigma, error));
    if (!(epsilon >= 0 && isfinite(epsilon)))
        return tacit_fail(error, TACIT_USAGE, "epsilon is %g: give a finite number from 0 on", epsilon);
    double log_delta = tacit_gaussian_log_delta(sigma, epsilon);
    *out = fmin(1, exp(log_delta) * (1 + 4 * DBL_EPSILON) + DBL_TRUE_MIN);
    return TACIT_OK;
}

tacit_status tacit_gaussian_epsilon(double *out, double sigma, double delta, tacit_error *error) {
    TACIT_TRY(check_sigma(sigma, error));
    TACIT_TRY(check_delta(delta, error));
    double target = log(delta) - 4 * DBL_EPSILON * fabs(log(delta));
    double m = 1 / sigma, low = 0, high = m * m / 2 + m * (sqrt(-2 * target) + 1); /* delta < Q(a) */
    if (tacit_gaussian_log_delta(sigma, 0) <= target) high = 0;
    while (tacit_gaussian_log_delta(sigma, high) > target) high *= 2; /* only rounding can ask for this */
    for (int i = 0; i < 200 && high - low > 2 * DBL_EPSILON * high; i++) {
        double middle = (low + high) / 2;
        if (tacit_gaussian_log_delta(sigma, middle) > target)
            low = middle;
        else
            high = middle;
    }
    if (!isfinite(high))
        return tacit_fail(error, TACIT_USAGE, "sigma is %g: too little noise for any epsilon", sigma);
    *out = high;
    return TACIT_OK;
}

/* Narrow a bracket around the root to about the rounding of delta, by the secant method, where that comes to rest. Ends
 * move only to where they were found to be on their side. */
static void narrow(double *low, double *high, double epsilon, double target) {
    enum { STEPS = 12 };
    double before = *low, x = *high, f_before = tacit_gaussian_log_delta(before, epsilon) - target;
    for (int i = 0; i < STEPS && fabs(x - before) > 1e-9 * x; i++) {
        double f = tacit_gaussian_log_delta(x, epsilon) - target,
               next = x - f * (x - before) / (f - f_before);
        if (!(next >= *low && next <= *high)) return;
        before = x;
        f_before = f;
        x = next;
    }
    double under = x * (1 - 1e-13), over = x * (1 + 1e-13);
    if (under > *low && tacit_gaussian_log_delta(under, epsilon) > target) *low = under;
    if (over < *high && tacit_gaussian_log_delta(over, epsilon) <= target) *high = over;
}

/* Bisection keeps the invariant that `high` meets the target, and returns it. */
static double smallest_sigma(double epsilon, double target) {
    double low = 1, high = 1;
    while (tacit_gaussian_log_delta(high, epsilon) > target && high < 1e150) {
        low = high;
        high *= 2;
    }
    while (tacit_gaussian_log_delta(low, epsilon) <= target && low > 1e-150) {
        high = low;
        low /= 2;
    }
    narrow(&low, &high, epsilon, target);
    for (int i = 0; i < 200 && high - low > 2 * DBL_EPSILON * high; i++) {
        double middle = (low + high) / 2;
        if (tacit_gaussian_log_delta(middle, epsilon) > target)
            low = middle;
        else
            high = middle;
    }
    return high;
}

tacit_status tacit_gaussian_sigma(double *out, double epsilon, double delta, double sensitivity,
                                  tacit_error *error) {
    if (!(epsilon > 0 && isfinite(epsilon)))
        return tacit_fail(error, TACIT_USAGE, "epsilon is %g: give a finite number above 0", epsilon);
    TACIT_TRY(check_delta(delta, error));
    if (!(sensitivity > 0 && isfinite(sensitivity)))
        return tacit_fail(error, TACIT_USAGE, "the sensitivity is %g: give a finite number above 0",
                          sensitivity);
    double target = log(delta) - 4 * DBL_EPSILON * fabs(log(delta));
    double sigma = smallest_sigma(epsilon, target);
    double noise = sigma * sensitivity * (1 + 2 * DBL_EPSILON);
    if (!(sigma < 1e150 && isfinite(noise)))
        return tacit_fail(error, TACIT_USAGE, "no finite noise reaches epsilon %g at delta %g", epsilon,
                          delta);
    *out = noise;
    return TACIT_OK;
}
