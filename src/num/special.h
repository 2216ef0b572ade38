/*
 * Functions that probability needs and libm lacks. Each says how accurate it is; u = 2^-53. All are pure.
 *
 * The statements rest on glibc's exp, log, erfc and lgamma being within a few units in the last place, and
 * are tested against values computed with 60 digits.
 */
#pragma once

#include <stddef.h>

/* log(exp(a) + exp(b)), without overflow. */
double tacit_log_add(double a, double b);

/* log of n over k, 0 <= k <= n, both whole numbers up to 2^53. Absolute error below 1e-13 (1 + n). */
double tacit_log_binomial(double n, double k);

/* log of |a over k| for real a and whole k >= 0; *sign gets -1, 0 or 1 (0: the coefficient is 0). */
double tacit_log_binomial_real(double a, double k, int *sign);

/* Upper tail Q(x) = P(Z > x) of the standard normal; the lower tail is Q(-x). Relative error below
 * tacit_normal_tail_error(x) for x <= 37, absolute below DBL_MIN after. */
double tacit_normal_tail(double x);
double tacit_normal_tail_error(double x);

/* log Q(x) for any finite x; relative error of Q below 1e-14 (1 + x^2). */
double tacit_normal_log_tail(double x);

/* The x with log Q(x) = log_tail, log_tail < 0. For a lower quantile use -x. Error below 1e-14 (1 + |x|),
 * except for log_tail near 0 the error of log_tail itself is magnified; then pass the other tail. */
double tacit_normal_tail_quantile(double log_tail);

/* Mills' ratio R(x) = Q(x)/density(x), and 1 - x R(x) = -R'(x) without cancellation. Relative error below
 * 1e-13 for x >= -5; R overflows to infinity below -38. */
double tacit_mills(double x);
double tacit_mills_slope(double x);

/* log of the regularised upper incomplete gamma function Q(a, x) = Gamma(a, x)/Gamma(a), a > 0, x >= 0. Error
 * about (1 + a) 1e-15 + 1e-13. */
double tacit_log_gamma_tail(double a, double x);

/* The q that a chi-square of d degrees of freedom passes with probability `tail` in (0, 1). Relative error
 * 1e-11. */
double tacit_chi_square_quantile(double d, double tail);

/* The continued fraction of the incomplete beta function I_x(a, b) (DLMF 8.17.22) by Lentz's method:
 * O(sqrt(max(a, b))) terms for x < (a + 1)/(a + b + 2). */
double tacit_beta_fraction(double a, double b, double x);

/* Upper tail P(T > t) of Student's t with `degrees` > 0 degrees of freedom, and the t with a given upper tail
 * in (0, 1). Relative error below 1e-12 for tails above 1e-300 and degrees up to 1e6. NaN outside the
 * domain. */
double tacit_student_tail(double t, double degrees);
double tacit_student_quantile(double tail, double degrees);

/* Upper tail P(F > f) of Fisher's F with this many degrees of freedom above and below the line, and of a
 * chi-square. Relative error below 1e-8 for degrees up to 1e7. NaN outside the domain. */
double tacit_fisher_tail(double f, double above, double below);
double tacit_chi_square_tail(double x, double degrees);

/* Lambert's W, principal branch: w exp(w) = x, x >= -1/e (NaN below). Relative error below 1e-14, but near
 * -1/e, where the derivative is infinite, absolute error below 1e-8. */
double tacit_lambert_w(double x);
