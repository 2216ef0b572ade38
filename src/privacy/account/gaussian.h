/*
 * The Gaussian mechanism, exactly: which delta a noise level buys at an epsilon, and the smallest noise for a
 * target (Balle and Wang 2018, Theorem 8). Noise N(0, (sigma S)^2 I) on a statistic of L2 sensitivity S;
 * sigma is relative to S. The adjacency is that of S: S under replace gives a guarantee under replace.
 */
#pragma once

#include "base/error.h"

/* An upper bound on log delta at `epsilon` >= 0, above the exact value by less than 1e-11 for sigma in
 * [0.01, 1e6] and delta down to 1e-300; no arguments are checked beyond assertions. */
double tacit_gaussian_log_delta(double sigma, double epsilon);

/* exp of that, at most 1. TACIT_USAGE unless sigma > 0 and finite, epsilon >= 0 and finite. */
tacit_status tacit_gaussian_delta(double *out, double sigma, double epsilon, tacit_error *error);

/* The smallest epsilon >= 0 that a noise level buys at delta in (0, 1), rounded up. */
tacit_status tacit_gaussian_epsilon(double *out, double sigma, double delta, tacit_error *error);

/* AG(epsilon, delta; S): the smallest standard deviation of the noise, rounded up. epsilon > 0, delta in (0,
 * 1) and S > 0, all finite, or TACIT_USAGE. */
tacit_status tacit_gaussian_sigma(double *out, double epsilon, double delta, double sensitivity,
                                  tacit_error *error);

/* A sigma (relative to S) that is enough and quickly computed: at most about twice the smallest. epsilon > 0
 * and delta in (0, 1), both finite. */
double tacit_gaussian_sigma_enough(double epsilon, double delta);
