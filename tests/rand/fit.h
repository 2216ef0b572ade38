/*
 * Goodness of fit with a stated false-alarm rate, and a negative control for each use.
 *
 * Continuous laws: Kolmogorov's statistic. P(sqrt(n) D > 3.3) <= 2 exp(-2 * 3.3^2) < 1e-9 for every n (the
 * inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant, 1990).
 * Integer laws: Pearson's statistic against the 1 - 1e-9 quantile of chi-square, computed from its closed
 * form for an even number of degrees of freedom.
 */
#pragma once

#include <math.h>
#include <stdlib.h>

#define FIT_LIMIT 3.3

static inline int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double *fit_values(size_t count) {
    double *values = malloc(count * sizeof *values);
    assert_non_null(values);
    return values;
}

/* sqrt(n) D for values / scale. Sorts the values. */
static inline double kolmogorov(double *values, size_t count, double scale, double (*law)(double)) {
    double most = 0, n = (double)count;
    qsort(values, count, sizeof *values, ascending);
    for (size_t i = 0; i < count; i++) {
        double p = law(values[i] / scale);
        most = fmax(most, fmax(fabs(p - (double)i / n), fabs(p - (double)(i + 1) / n)));
    }
    return sqrt(n) * most;
}

/* Accepted as they are, rejected with a scale that is 10% wrong. */
static inline void check_fit(double *values, size_t count, double (*law)(double)) {
    double right = kolmogorov(values, count, 1, law), wrong = kolmogorov(values, count, 1.1, law);
    if (!(right < FIT_LIMIT)) fail_msg("the law does not fit: %g", right);
    if (!(wrong > FIT_LIMIT)) fail_msg("a scale 10%% off went unnoticed: %g", wrong);
}

static inline double normal_law(double x) { return 0.5 * erfc(-x / sqrt(2)); }
static inline double exponential_law(double x) { return x > 0 ? -expm1(-x) : 0; }
static inline double laplace_law(double x) { return x < 0 ? 0.5 * exp(x) : 1 - 0.5 * exp(-x); }
static inline double symmetric_uniform_law(double x) { return fmin(fmax((x + 1) / 2, 0), 1); }

/* P(chi-square with 2m degrees of freedom > x) = exp(-x/2) sum over j < m of (x/2)^j / j!. */
static inline double chi_square_tail(double x, size_t m) {
    double term = exp(-x / 2), sum = 0;
    for (size_t j = 0; j < m; j++) {
        sum += term;
        term *= x / 2 / (double)(j + 1);
    }
    return sum;
}

/* The 1 - 1e-9 quantile for an even number of degrees of freedom. */
static inline double chi_square_limit(size_t degrees) {
    assert_true(degrees > 0 && degrees % 2 == 0);
    double low = 0, high = 1000;
    while (high - low > 1e-6) {
        double middle = (low + high) / 2;
        if (chi_square_tail(middle, degrees / 2) > 1e-9)
            low = middle;
        else
            high = middle;
    }
    return high;
}
