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

/* What is seen of the clipped residuals at scores z over `rows` rows (0: nothing is), z ~ N(mean, variance):
 * the means of clip(sigma(z) - y) and of clip(sigma(z) - y) z, and the covariance of the noise in them (a
 * symmetric
 * matrix: 3 numbers). With a `reach` above 0 it is not z that residuals are multiplied by but t = (z -
 * mean)/sqrt(variance), held within +-reach. The noise must not have had a part in the scores. `held` is the
 * share of the curvature along the weights that is the regulariser's, `noisy` the share of the scores'
 * variance that noise has made. */
typedef struct tacit_clipped_pulls {
    double mean, variance, rows, reach, pull[2], noise[3], held, noisy;
    const struct tacit_clipped_pulls *more; /* seen at other scores, at most once; NULL: no more */
} tacit_clipped_pulls;

/* log-odds = *offset + *slope z, for a model that predicts by the sigmoid and has scores N(mean, variance),
 * near those that pulls were seen at. Two beliefs are weighed by how likely they make the pulls. One is the
 * straight line nearest to the link above in expected log-loss; the pulls move it, but never to more than its
 * slope. By the other one, classes are nearly apart: the minimum is far out, weights are held back by the
 * regulariser and by steps that have not got there yet, and the slope is 1.4 (1 + held). How likely that one
 * is at first goes from 0 to .95 where `widest`, the variance that scores may have, goes from 4 to 8, and is
 * the less the rarer a class is and the more of the scores is noise. The offset keeps the mean probability of
 * what is believed. */
void tacit_clipped_log_odds(double *offset, double *slope, double mean, double variance, double widest,
                            const tacit_clipped_pulls *seen);
