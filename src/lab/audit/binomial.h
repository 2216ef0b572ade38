/*
 * Exact confidence bounds for a probability, from how often an event was seen (Clopper and Pearson 1934).
 *
 *   k of n runs hit   lower: the p with P(X >= k | n, p) = alpha,  0 for k = 0
 *                     upper: the p with P(X <= k | n, p) = alpha,  1 for k = n
 *
 * Each bound is wrong with probability at most alpha, whatever the true p: nothing is approximated by a
 * normal law.
 */
#pragma once

#include <stdint.h>

/* I_x(a, b), the regularised incomplete beta function, for a, b > 0 and x + y = 1; both are passed so that
 * the smaller keeps its digits. Relative error about 1e-12 for a + b up to 1e9. */
double tacit_beta_tail(double a, double b, double x, double y);

/* Rounded outwards; n > 0, k <= n, 0 < alpha < 1 (asserted). */
double tacit_binomial_lower(uint64_t k, uint64_t n, double alpha);
double tacit_binomial_upper(uint64_t k, uint64_t n, double alpha);
