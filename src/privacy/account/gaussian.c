#include "privacy/account/gaussian.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#include "num/special.h"

/*
 * Proof note. The worst pair is N(0, sigma^2) and N(1, sigma^2); with m = 1/sigma the privacy loss is
 * N(m^2/2, m^2), and
 *     delta(epsilon) = Q(a) - e^epsilon Q(b),  a = epsilon/m - m/2,  b = a + m,  Q the upper normal tail
 * (Balle and Wang 2018, Theorem 8). Since b^2/2 - a^2/2 = epsilon, e^epsilon density(b) = density(a), and
 * with Mills' ratio R = Q/density
 *     delta(epsilon) = density(a) (R(a) - R(b)) = density(a) x integral over [a, b] of (1 - x R(x)) dx.
 * The integrand is positive and computed without cancellation, so that the integral has small relative error
 * where the difference has none left (small m). It decreases in epsilon and increases in m.
 */

/* Gauss-Legendre, 10 points: on an interval of length 1 or less the error is below 1e-15 of the integral, for
 * the integrand is analytic and completely monotone with scale 1. */
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

/* The relative error allowed for: 1e-12 for the special functions and the quadrature (some 100u in truth),
 * and that of a, at most 3u(epsilon/m + m/2), which moves log delta by less than |a| + 2 of it. */
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

double tacit_gaussian_sigma_enough(double epsilon, double delta) {
    double l = fmin(-log(delta), 1e300);
    return (sqrt(l + epsilon) + sqrt(l)) / (sqrt(2) * epsilon) * (1 + 8 * DBL_EPSILON);
}

/* The root of log delta - target in log sigma, by the ITP method (Oliveira and Takahashi 2020): never more
 * steps than bisection takes, a fifth of them where the function is as smooth as here. `high` always meets
 * the target, and is returned. */
static double smallest_sigma(double epsilon, double target) {
    /* Noise of sigma is 1/(2 sigma^2)-zCDP, which needs a little more of it (Bun and Steinke 2016): a bracket
     * within a factor of 2 as a rule. */
    double high = tacit_gaussian_sigma_enough(epsilon, exp(target)), low = high / 2;
    double below = tacit_gaussian_log_delta(high, epsilon) - target, above;
    while (below > 0 && high < 1e150) below = tacit_gaussian_log_delta(high *= 2, epsilon) - target;
    for (; (above = tacit_gaussian_log_delta(low, epsilon) - target) <= 0 && low > 1e-150; low /= 2) {
        high = low;
        below = above;
    }
    const double tolerance = 2 * DBL_EPSILON;
    double a = log(low), b = log(high), width = b - a;
    int most = (int)ceil(log2(fmax(width, tolerance) / tolerance)) + 1;
    for (int step = 0; b - a > 2 * tolerance && step < 200; step++) {
        double middle = (a + b) / 2, secant = a + (b - a) * above / (above - below);
        double towards = middle > secant ? 1 : -1, nudge = 0.2 / width * (b - a) * (b - a);
        double from = nudge <= fabs(middle - secant) ? secant + towards * nudge : middle;
        double radius = fmax(0, ldexp(tolerance, most - step) - (b - a) / 2);
        double at = fabs(from - middle) <= radius ? from : middle - towards * radius;
        if (!(at > a && at < b)) at = middle;
        double sigma = exp(at), value = tacit_gaussian_log_delta(sigma, epsilon) - target;
        if (value > 0) {
            a = at;
            above = value;
        } else {
            b = at;
            below = value;
            high = sigma;
        }
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
