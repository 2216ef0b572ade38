/*
 * Mechanisms that add integer noise to counts: nothing is rounded, so nothing can leak through rounding.
 *
 *   law                          sensitivity          guarantee
 *   TACIT_LAW_DISCRETE_LAPLACE   L1, whole number S   epsilon-DP, scale S/epsilon (the geometric mechanism)
 *   TACIT_LAW_DISCRETE_GAUSSIAN  L2, S                rho-zCDP, hence (epsilon, delta)-DP, delta > 0, scale
 *                                                     S/sqrt(2 rho)
 *
 * The adjacency is that of S. The one-sided TACIT_LAW_GEOMETRIC hides nothing below the count and is refused.
 *
 * Proof notes. Discrete Laplace: the probability of a vector of noise k is proportional to exp(-|k|_1/s), so
 * a shift by at most S changes it by a factor of at most exp(S/s) <= exp(epsilon) (Ghosh, Roughgarden and
 * Sundararajan 2009).
 *
 * Discrete Gaussian: the Renyi divergence of order a between two discrete Gaussians of scale s whose centers
 * are a whole number m apart is at most a m^2/(2 s^2) (Canonne, Kamath and Steinke 2020). Divergences of
 * independent coordinates add, so noise of scale s on each of any number of counts, of L2 sensitivity S
 * together, is (S^2/(2 s^2))-zCDP (their multivariate theorem). A rho-zCDP mechanism is (epsilon, delta)-DP
 * with
 *     delta = exp((a - 1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1)       for every order a > 1
 * (the same paper, Proposition 12 at divergence a rho). Solved for rho at the wanted delta,
 *     rho(a) = (epsilon + (ln delta + ln(a - 1) - a ln(1 - 1/a))/(a - 1))/a,
 * and each rho(a) > 0 is sound, so the search for the best a need not be exact; rho is then reduced by more
 * than the rounding errors of the formula, and s is rounded up.
 */
#pragma once

#include "privacy/mechanism/mechanism.h"

/* The largest rho for which the theorem above gives (epsilon, delta)-DP, rounded down. TACIT_USAGE unless
 * epsilon > 0 and finite and delta in (0, 1). */
tacit_status tacit_zcdp_for(double *rho, double epsilon, double delta, tacit_error *error);

/* The scale of the noise, rounded up. TACIT_USAGE for a law not in the table, a sensitivity or price that is
 * not positive and finite, an L1 sensitivity that is no whole number, a discrete Gaussian at delta 0, a scale
 * beyond 2^50. */
tacit_status tacit_integer_scale(double *out, const tacit_mechanism *mechanism, tacit_error *error);

/* Add noise to `count` counts. Counts beyond `bound` either way are moved to it, before the noise (which no
 * sensitivity grows by) and after; 0 < bound <= 2^61. The result has grid_bits 0. */
tacit_status tacit_integer_release(tacit_noised **out, const tacit_noise_source *source,
                                   const tacit_mechanism *mechanism, const int64_t *counts, size_t count,
                                   int64_t bound, tacit_error *error);
