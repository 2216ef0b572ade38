/*
 * The logistic equation with clipped residuals: sum_i clip(sigma(x_i.w) - y_i, +-1/2) x_i = 0. Whoever is mistaken by more than one half pulls
 * no harder than by one half. Where the chance of y = 1 given the score z is pi(z), the clipped residual has mean 0 for
 *
 *   pi(z) = min(p, 1/2)/(min(p, 1/2) + min(1 - p, 1/2)),   p = sigma(z),
 *
 * which is therefore the link that belongs to it: its scores are not log-odds. log(pi/(1 - pi)) goes from slope 1/2 at 0 to z -+ log 2 far out.
 *
 * The functions here take scores to be N(mean, variance).
 */
#pragma once

/* pi(z). */
double tacit_clipped_link(double score);

/* E[sigma'(z) 1{unclipped}]: how steep the mean residual is, for a preconditioner. At most 1/4. */
double tacit_clipped_slope(double mean, double variance);

/* log-odds = *offset + *slope z, for a model that predicts by the sigmoid. Of the straight lines the one nearest to the link above in
 * expected log-loss; but where the variance is beyond 4 classes are nearly apart, the minimum is far out, and it is the regulariser that holds
 * the weights: from there to a variance of 8 the slope goes over to 1.4 (1 + held), `held` being the share of the curvature along w that is
 * the regulariser's. The offset keeps the mean probability. */
void tacit_clipped_log_odds(double *offset, double *slope, double mean, double variance, double held);
