#include "num/special.h"

#include <float.h>
#include <math.h>

static const double HALF_LOG_2PI = 0.91893853320467274178;

double tacit_log_add(double a, double b) {
    double high = fmax(a, b), low = fmin(a, b);
    return isinf(high) ? high : high + log1p(exp(low - high));
}

/* lgamma writes a global sign; lgamma_r does not. */
static double log_gamma(double x, int *sign) { return lgamma_r(x, sign); }

double tacit_log_binomial(double n, double k) {
    int sign;
    if (k <= 0 || k >= n) return 0;
    return log_gamma(n + 1, &sign) - log_gamma(k + 1, &sign) - log_gamma(n - k + 1, &sign);
}

double tacit_log_binomial_real(double a, double k, int *sign) {
    double rest = a - k + 1;
    int top, bottom, ignored;
    if (rest <= 0 && rest == floor(rest)) { /* a pole below: a is whole and k > a */
        *sign = 0;
        return -INFINITY;
    }
    double value = log_gamma(a + 1, &top) - log_gamma(k + 1, &ignored) - log_gamma(rest, &bottom);
    *sign = top * bottom;
    return value;
}

double tacit_normal_tail(double x) { return 0.5 * erfc(x * M_SQRT1_2); }

/* The argument is rounded twice and d log Q/dx is at most |x| + 1, so 2u|x|(|x| + 1) <= u(4 + 4x^2), and
 * erfc's own. */
double tacit_normal_tail_error(double x) {
    double upper = fmin(fmax(x, 0), 40);
    return (DBL_EPSILON / 2) * (12 + 4 * upper * upper);
}

/* R(x) = 1/(x + K), K = 1/(x + 2/(x + 3/(x + ...))) (Laplace). n terms leave about
 * e^(-2x sqrt(n)), which is below 1e-17 from n = (20/x)^2 on. */
static double laplace_fraction(double x) {
    double k = 0;
    int terms = x < 21 ? 8 + (int)(441 / (x * x)) : 8;
    for (int i = terms; i >= 2; i--) k = i / (x + k);
    return 1 / (x + k);
}

double tacit_mills(double x) {
    if (x >= 2) return 1 / (x + laplace_fraction(x));
    return tacit_normal_tail(x) * exp(x * x / 2 + HALF_LOG_2PI);
}

double tacit_mills_slope(double x) {
    if (x < 2) return 1 - x * tacit_mills(x);
    double k = laplace_fraction(x);
    return k / (x + k);
}

double tacit_normal_log_tail(double x) {
    if (x < -1) return log1p(-tacit_normal_tail(-x));
    if (x < 2) return log(tacit_normal_tail(x));
    return -x * x / 2 - HALF_LOG_2PI - log(x + laplace_fraction(x));
}

/* log Q is concave and decreasing: Newton from the left of the root overshoots once and then comes down to
 * it. */
double tacit_normal_tail_quantile(double log_tail) {
    if (log_tail > -M_LN2) { /* the root is negative: solve the other tail, which is the smaller one */
        double other = log(-expm1(log_tail));
        return -tacit_normal_tail_quantile(fmin(other, -M_LN2));
    }
    double x = sqrt(fmax(0, -2 * log_tail - 2 * M_LN2)) / 2;
    for (int i = 0; i < 100; i++) {
        double step = (tacit_normal_log_tail(x) - log_tail) * tacit_mills(x);
        x += step;
        if (fabs(step) <= 4 * DBL_EPSILON * (1 + fabs(x))) break;
    }
    return x;
}

/* log of x^a e^-x / Gamma(a + 1). */
static double log_gamma_front(double a, double x) {
    int sign;
    return a * log(x) - x - log_gamma(a + 1, &sign);
}

/* P(a, x) by its power series, good for x < a + 1. */
static double gamma_head(double a, double x) {
    double term = 1, sum = 1;
    for (double n = 1; n < 1e7 && term > sum * 1e-17; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return exp(log_gamma_front(a, x)) * sum;
}

double tacit_log_gamma_tail(double a, double x) {
    if (x <= 0) return 0;
    if (x < a + 1) return log1p(-fmin(gamma_head(a, x), 1));
    /* Q(a, x) = x^a e^-x / Gamma(a) / (x + 1 - a - 1(1-a)/(x + 3 - a - ...)), Lentz's recurrence. */
    double b = x + 1 - a, c = 1 / DBL_MIN, d = 1 / b, h = d;
    for (double n = 1; n < 1e7; n++) {
        double an = -n * (n - a);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        h *= d * c;
        if (fabs(d * c - 1) < 4 * DBL_EPSILON) break;
    }
    return log_gamma_front(a, x) + log(a) + log(h);
}

double tacit_chi_square_quantile(double d, double tail) {
    double target = log(tail), low = 0, high = d + 1;
    while (tacit_log_gamma_tail(d / 2, high / 2) > target) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < 200 && high - low > 2 * DBL_EPSILON * high; i++) {
        double middle = (low + high) / 2;
        if (tacit_log_gamma_tail(d / 2, middle / 2) > target)
            low = middle;
        else
            high = middle;
    }
    return high;
}

double tacit_lambert_w(double x) {
    double edge = x + 0.36787944117144233 - 1.2428753672788363e-17; /* x + 1/e, in two parts */
    if (!(x >= -0.36787944117144233)) return NAN;
    if (isinf(x)) return x;
    double p = sqrt(fmax(0, 2 * M_E * edge));
    if (p < 1e-3) return -1 + p * (1 - p / 3 + 11 * p * p / 72 - 43 * p * p * p / 540);
    double w =
        x < 1 ? -1 + p * (1 - p / 3 + 11 * p * p / 72) : log1p(x) * (1 - log1p(log1p(x)) / (2 + log1p(x)));
    if (x >= 0) w = fmin(w, log1p(x));
    for (int i = 0; i < 50; i++) { /* Halley on w - x exp(-w) */
        double f = w - x * exp(-w), slope = 1 + x * exp(-w), bend = -x * exp(-w);
        double step = f / (slope - f * bend / (2 * slope));
        w -= step;
        if (fabs(step) <= DBL_EPSILON * fabs(w)) break;
    }
    return w;
}
