#include "lab/audit/binomial.h"

#include <assert.h>
#include <math.h>

#include "num/special.h"

/* log Gamma(z + 1) minus Stirling's (z + 1/2) log z - z + log(2 pi)/2, without the cancellation of two large
 * numbers. */
static double stirling_rest(double z) {
    if (z < 16) return lgamma(z + 1) - (z + 0.5) * log(z) + z - 0.5 * log(2 * M_PI);
    double r = 1 / z, s = r * r;
    return r * (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s / 1188))));
}

/* k log(k/m) + m - k >= 0. Near k = m the terms cancel; with v = (k - m)/(k + m) it is
 * (k - m) v + 2 k (v^3/3 + v^5/5 + ...) (Loader 2000). */
static double deviance(double k, double m) {
    if (fabs(k - m) > 0.1 * (k + m)) return k * log(k / m) + m - k;
    double v = (k - m) / (k + m), sum = (k - m) * v, term = 2 * k * v;
    for (int j = 3; j < 200; j += 2) {
        term *= v * v;
        double next = sum + term / j;
        if (next == sum) break;
        sum = next;
    }
    return sum;
}

/* x^a y^b / B(a, b), by Loader's saddle-point form of the binomial density, which keeps its digits for any a
 * + b. */
static double beta_front(double a, double b, double x, double y) {
    double n = a + b;
    double logarithm =
        stirling_rest(n) - stirling_rest(a) - stirling_rest(b) - deviance(a, n * x) - deviance(b, n * y);
    return exp(logarithm) * sqrt(a * b / (2 * M_PI * n));
}

double tacit_beta_tail(double a, double b, double x, double y) {
    if (x <= 0) return 0;
    if (y <= 0) return 1;
    if (x < (a + 1) / (a + b + 2)) return beta_front(a, b, x, y) * tacit_beta_fraction(a, b, x) / a;
    return 1 - beta_front(b, a, y, x) * tacit_beta_fraction(b, a, y) / b;
}

/* P(X >= k) grows with p, P(X <= k) falls. */
static double upper_tail(double k, double n, double p) { return tacit_beta_tail(k, n - k + 1, p, 1 - p); }
static double lower_tail(double k, double n, double p) { return tacit_beta_tail(n - k, k + 1, 1 - p, p); }

/* The tail's relative error moves the odds by far less than this. */
static const double OUTWARDS = 1e-11;
static const int HALVINGS = 400;

/* The chance next to which the tail falls below alpha, on the side where it is below: between `below`, where
 * it is, and the share that was seen. */
static double halve(double (*tail)(double, double, double), double k, double n, double alpha, double below) {
    double other = k / n;
    for (int i = 0; i < HALVINGS && fabs(other - below) > 1e-14 * fmax(below, other); i++) {
        double low = fmin(below, other), middle = low + fabs(other - below) / 2;
        if (tail(k, n, middle) < alpha)
            below = middle;
        else
            other = middle;
    }
    return below;
}

double tacit_binomial_lower(uint64_t k, uint64_t n, double alpha) {
    assert(n > 0 && k <= n && alpha > 0 && alpha < 1);
    if (k == 0) return 0;
    double low = halve(upper_tail, (double)k, (double)n, alpha, 0);
    return low - OUTWARDS * low * (1 - low);
}

double tacit_binomial_upper(uint64_t k, uint64_t n, double alpha) {
    assert(n > 0 && k <= n && alpha > 0 && alpha < 1);
    if (k == n) return 1;
    double high = halve(lower_tail, (double)k, (double)n, alpha, 1);
    return fmin(1, high + OUTWARDS * high * (1 - high));
}
