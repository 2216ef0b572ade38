/*
 * Student's t. With x = v/(v + t^2) the two-sided tail is the incomplete beta function I_x(v/2, 1/2), here by
 * its continued fraction (DLMF 8.17.22, Lentz's method), which needs O(sqrt(v)) terms on the side where it
 * converges.
 */
#include <float.h>
#include <math.h>

#include "num/special.h"

static double not_zero(double value) { return fabs(value) < DBL_MIN ? DBL_MIN : value; }

double tacit_beta_fraction(double a, double b, double x) {
    double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), h = d;
    for (double m = 1; m < 1e6; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / not_zero(1 + even * d);
        c = not_zero(1 + even / c);
        h *= d * c;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / not_zero(1 + odd * d);
        c = not_zero(1 + odd / c);
        h *= d * c;
        if (fabs(d * c - 1) < DBL_EPSILON) break;
    }
    return h;
}

/* log(Gamma(a + 1/2)/Gamma(a)); by its asymptotic series for large a, where the difference of two lgammas
 * would lose digits. */
static double log_gamma_half_step(double a) {
    if (a < 100) return lgamma(a + 0.5) - lgamma(a);
    double r = 1 / a;
    return 0.5 * log(a) - r / 8 + r * r * r / 192 - r * r * r * r * r / 640;
}

double tacit_student_tail(double t, double degrees) {
    if (isnan(t) || !(degrees > 0)) return NAN;
    /* the difference is below 1e-12 relative for any |t| < 10 */
    if (degrees > 1e12) return tacit_normal_tail(t);
    double a = degrees / 2, b = 0.5, square = t * t;
    double x = degrees / (degrees + square), y = square / (degrees + square);
    if (y == 0) return 0.5;
    /* log x = -log1p(t^2/v): x is near 1 when v is large */
    double front = exp(-a * log1p(square / degrees) + b * log(y) + log_gamma_half_step(a)) / sqrt(M_PI);
    double both = x < (a + 1) / (a + b + 2) ? front * tacit_beta_fraction(a, b, x) / a
                                            : 1 - front * tacit_beta_fraction(b, a, y) / b;
    return t > 0 ? both / 2 : 1 - both / 2;
}

double tacit_student_quantile(double tail, double degrees) {
    if (!(tail > 0 && tail < 1) || !(degrees > 0)) return NAN;
    if (tail > 0.5) return -tacit_student_quantile(1 - tail, degrees);
    if (tail == 0.5) return 0;
    double low = 0, high = 1;
    while (tacit_student_tail(high, degrees) > tail && high < 1e300) high *= 2;
    for (int i = 0; i < 2000 && high - low > 1e-15 * high; i++) {
        double middle = low + (high - low) / 2;
        if (middle == low || middle == high) break;
        if (tacit_student_tail(middle, degrees) > tail)
            low = middle;
        else
            high = middle;
    }
    return high;
}

double tacit_chi_square_tail(double x, double degrees) {
    if (isnan(x) || !(degrees > 0)) return NAN;
    return x <= 0 ? 1 : exp(tacit_log_gamma_tail(degrees / 2, x / 2));
}

/* P(F > f) = I_x(below/2, above/2) at x = below/(below + above f) (DLMF 8.17). */
double tacit_fisher_tail(double f, double above, double below) {
    if (isnan(f) || !(above > 0) || !(below > 0)) return NAN;
    if (f <= 0) return 1;
    if (below > 1e9) return tacit_chi_square_tail(f * above, above);
    double a = below / 2, b = above / 2, odds = above * f / below, x = 1 / (1 + odds), y = odds / (1 + odds);
    double front = exp(-a * log1p(odds) + b * log(y) + lgamma(a + b) - lgamma(a) - lgamma(b));
    return x < (a + 1) / (a + b + 2) ? front * tacit_beta_fraction(a, b, x) / a
                                     : 1 - front * tacit_beta_fraction(b, a, y) / b;
}
