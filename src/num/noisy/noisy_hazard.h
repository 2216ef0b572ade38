/*
 * Regression of hazards from sums that were released with Gaussian noise in them. All of it is
 * post-processing.
 *
 * The baseline. From the cumulative hazard of all rows as noisy counts give it (num/noisy/noisy_life.h): as
 * many pieces as `TACIT_HAZARD_PIECES`, in each of which it rises equally, and in each a hazard that is
 * constant. The clock of a cell is the part of the rise that is over in the middle of it. Columns change who
 * is left as time goes on, so that the baseline of a model with columns is another; what it differs by is
 * smooth in the clock, and has a coefficient of its own.
 *
 * The steps. U_i is a person's score, with mean 0 at the model's coefficients. Where the model is right the
 * mean of the sum of U U^T is the information (Berndt, Hall, Hall and Hausman 1974), so that g = -sum U and
 * B = sum U U^T are enough for Newton's steps:   w <- w - (B + lift)^-1 g,   B the mean over all questions
 * so far, weighed by their shares; the first, far from the solution, counts half.
 *
 * The end. theta = w - F g, F = (B + rho I)^-1 with rho = 0 where B's smallest eigenvalue is above twice the
 * size op of its noise, else op/2 (and eigenvalues not below 0). With E the noise in B, e that in g, and c =
 * t - w what is left to the solution t, theta - t = -F(e + sampling) - F(E + rho) c, so
 *   cov = F [B + s_e^2 I + (s_E^2/2)(tr(T) I + T) + rho^2 T] F
 * with T in place of c c^T: along an eigenvector with eigenvalue v, step (v + rho)/v squared plus (s_e^2 +
 * v)/v^2, which is what is known of c from the rows, but no more than m^2 + w^2, m how long coefficients are
 * taken to be: where rows at this price leave a direction open, its coefficient is drawn towards 0, and the
 * error says by how much.
 */
#pragma once

#include "num/noisy/noisy_inference.h"
#include "num/noisy/noisy_life.h"

enum { TACIT_HAZARD_PIECES = 8 };

/* Where persons may come late: take those who have not come yet out of who is at risk, in the cumulative
 * hazard of the curve. `released` is the histogram, as encoded and with noise of this deviation, of the cells
 * from which on `rows` persons are at risk. Where fewer are left than four deviations of the noise in how
 * many have come, that many count. */
void tacit_hazard_await(tacit_noisy_curve *curve, const double *released, size_t cells, double rows,
                        double deviation);

/* Of `cells` cells. A curve that ends before goes on as its last fifth. */
void tacit_hazard_baseline(double *hazard, double *clock, const tacit_noisy_curve *curve, size_t cells);

typedef struct tacit_hazard_approach {
    size_t d;
    double longest;                     /* |w| at most, and a third of it in a step */
    double *w, *path, *gradient, *step; /* path: the sum of iterates with their shares */
    double *square, *lifted, *room;     /* d x d: the sum of all B with their shares */
    double counted, weight, spread;     /* of `path`, of `square`; the variance of one number of `square` */
    double deviation;                   /* of the last gradient */
} tacit_hazard_approach;

tacit_status tacit_hazard_begin(tacit_hazard_approach *out, double longest, size_t d, tacit_error *error);
void tacit_hazard_clear(tacit_hazard_approach *self);

/* What a question about self->w gave: -g and B, packed, with noise of these deviations on each number. */
void tacit_hazard_take(tacit_hazard_approach *self, const double *released, double share, double deviation,
                       double square_deviation);

/* One step; it counts `weight` in the mean that self->w becomes with `last`. */
tacit_status tacit_hazard_step(tacit_hazard_approach *self, double weight, bool last, tacit_error *error);

/* `usual`: m. Always estimable. */
tacit_status tacit_hazard_end(tacit_noisy_estimate *out, const tacit_hazard_approach *self, double usual,
                              tacit_error *error);
