/*
 * The logistic equation with clipped residuals: sum_i clip(sigma(x_i.w) - y_i, +-1/2) x_i = 0. Whoever is
 * mistaken by more than one half pulls no harder than by one half. Where the chance of y = 1 given the score
 * z is pi(z), the clipped residual has mean 0 for
 *
 *   pi(z) = min(p, 1/2)/(min(p, 1/2) + min(1 - p, 1/2)),   p = sigma(z),
 *
 * which is therefore the link that belongs to it: its scores are not log-odds. log(pi/(1 - pi)) goes from
 * slope 1/2 at 0 to z -+ log 2 far out.
 *
 * The functions here take scores to be N(mean, variance).
 */
#pragma once

/* pi(z). */
double tacit_clipped_link(double score);

/* E[sigma'(z) 1{unclipped}]: how steep the mean residual is, for a preconditioner. At most 1/4. */
double tacit_clipped_slope(double mean, double variance);

/* What is seen of the clipped residuals at scores z, over rows: the means of clip(sigma(z) - y) and of
 * clip(sigma(z) - y) z, how unsure each is (a standard deviation above 0; INFINITY: not seen), and the share
 * of the curvature along w that is the regulariser's. */
typedef struct tacit_clipped_pulls {
    double pull[2], unsure[2], held;
} tacit_clipped_pulls;

/* log-odds = *offset + *slope z, for a model that predicts by the sigmoid. Of the straight lines the one
 * nearest to the link above in expected log-loss. But where the variance is beyond 4 classes may be nearly
 * apart: the minimum is then far out, and weights are held back by the regulariser and by steps that have not
 * got there yet. From there to a variance of 8 the line goes over to a slope of 1.4 (1 + held), which is then
 * corrected by the pulls that are left, as sure as they are: 0 where the equation is solved, and else those
 * that the line's chances would make. */
void tacit_clipped_log_odds(double *offset, double *slope, double mean, double variance,
                            const tacit_clipped_pulls *seen);
