/*
 * The Poisson equation with clipped residuals: sum_i clip(exp(x_i.w) - y_i, +-c) x_i = 0. A Poisson response
 * leans to the right, so the rate r = exp(z) that makes the clipped residual's mean 0 is below the response's
 * mean: r is no mean, and this says which mean belongs to it.
 *
 * The functions here take scores to be N(mean, variance).
 */
#pragma once

/* The mean of a Poisson response Y with E clip(rate - Y, +-clip) = 0. */
double tacit_clipped_count_mean(double rate, double clip);

/* E[r P(|r - Y| < clip)]/E[r]: the part of the curvature that clipping leaves. */
double tacit_clipped_count_slope(double mean, double variance, double clip);

/* log-mean = *offset + *slope z: of the straight lines the one nearest to the above where the counts are. */
void tacit_clipped_count_line(double *offset, double *slope, double mean, double variance, double clip);
