/* The linear half of mixed_cluster.h. */
#include <math.h>
#include <string.h>

#include "method/exact/mixed_cluster.h"

void mixed_factor(size_t terms, const double *theta, double factor[4]) {
    factor[0] = theta[0];
    factor[1] = 0;
    factor[2] = terms > 1 ? theta[1] : 0;
    factor[3] = terms > 1 ? theta[2] : 0;
}

/* ---- 2 x 2 matrices, row-major ---- */

static void multiply(const double a[4], const double b[4], double out[4]) {
    double c[4] = { a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                    a[2] * b[1] + a[3] * b[3] };
    memcpy(out, c, sizeof c);
}

static void transpose(const double a[4], double out[4]) {
    double c[4] = { a[0], a[2], a[1], a[3] };
    memcpy(out, c, sizeof c);
}

/* a + a^T */
static void symmetrise(double a[4]) {
    a[1] = a[2] = a[1] + a[2];
    a[0] *= 2;
    a[3] *= 2;
}

static void invert(const double a[4], double out[4]) {
    double determinant = a[0] * a[3] - a[1] * a[2];
    double c[4] = { a[3] / determinant, -a[1] / determinant, -a[2] / determinant, a[0] / determinant };
    memcpy(out, c, sizeof c);
}

/* ---- the likelihood ---- */

size_t mixed_linear_length(size_t terms, size_t columns) {
    return (1 + mixed_theta_count(terms)) * (1 + columns * (columns + 1) / 2);
}

/* A logarithm of a determinant, and the lower triangle of T^T P T. */
static double *add_form(double log_determinant, const double p[4], const double *t, size_t columns,
                        double *out) {
    *out++ += log_determinant;
    for (size_t i = 0; i < columns; i++) {
        double first = p[0] * t[i] + p[1] * t[columns + i], second = p[2] * t[i] + p[3] * t[columns + i];
        for (size_t j = 0; j <= i; j++) *out++ += first * t[j] + second * t[columns + j];
    }
    return out;
}

void mixed_linear_add(size_t terms, const double *theta, const double *s, const double *t, size_t columns,
                      double *out) {
    double factor[4], turned[4], m[4], inverse[4], left[4], p[4];
    mixed_factor(terms, theta, factor);
    transpose(factor, turned);
    multiply(turned, s, m);
    multiply(m, factor, m);
    m[0] += 1;
    m[3] += 1;
    invert(m, inverse);
    multiply(factor, inverse, left); /* L M^-1 */
    multiply(left, turned, p);
    out = add_form(log(m[0] * m[3] - m[1] * m[2]), p, t, columns, out);
    for (size_t k = 0; k < mixed_theta_count(terms); k++) {
        /* dM = E^T S L + its transpose; dP = E M^-1 L^T + its transpose - L M^-1 dM M^-1 L^T */
        double unit[MIXED_THETA] = { 0 }, e[4], by[4], dm[4], dp[4], moved[4];
        unit[k] = 1;
        mixed_factor(terms, unit, e);
        transpose(e, dm);
        multiply(dm, s, dm);
        multiply(dm, factor, dm);
        symmetrise(dm);
        transpose(left, by);
        multiply(e, by, dp);
        symmetrise(dp);
        multiply(left, dm, moved);
        multiply(moved, by, moved);
        for (size_t i = 0; i < 4; i++) dp[i] -= moved[i];
        out = add_form(inverse[0] * dm[0] + 2 * inverse[1] * dm[1] + inverse[3] * dm[3], dp, t, columns, out);
    }
}
