/*
 * Estimates with their covariance from sums that were released with Gaussian noise in them, noise included.
 * Everything here is post-processing of what was released.
 *
 * Logistic. A row x with |x| anything has the weight v = min(1, 1/|x|^2), its residual the factor
 *   h = min(1, c/max(p, 1 - p)),   p = sigma(x.w),   1/2 <= c <= 1,
 * so that |h (p - y)| <= c: a bounded pull with mean 0 where y has the odds exp(x.w), whatever x is. Clipping
 * would shift that mean. First some noisy steps towards the solution of sum v h (p - y) x = 0, preconditioned
 * by A = sum v x x^T ("approach"). Then, at their end w,
 *   g = sum v h (p - y) x + e,   H = sum v h p (1 - p) x x^T + E,   B = sum v^2 h^2 (p - y)^2 x x^T + F
 * and theta = w - H^-1 g. With d = theta - w and H0, g0 the sums without noise and t the solution without
 * noise, H0 (theta - t) = -(e + E d) up to the third order, for which there is no expansion in E: so
 *   cov = H^-1 [B + s_e^2 I + (s_E^2/2)(|d|^2 I + d d^T)] H^-1
 * because Cov(E d) is just that for noise of s_E on each packed number (noisy_moments.h). B is the sandwich's
 * middle: the standard errors do not rest on the logistic model being right (nor on v or h being 1).
 *
 * Linear. M = sum v V V^T + E, V = (x, tau y); A theta = b by its blocks. A0 (theta - t) = e - E theta:
 *   cov = A^-1 [s2 A + N] A^-1,   N = (s^2/2)((1/tau^2 + |theta|^2) I + theta theta^T),
 *                                     s2 = (rss + tr(A^-1 N))/(sum v - d).
 *
 * H^-1 in the outer places stands for H0^-1. It is larger on average (the inverse is convex), which makes up
 * for its spread: intervals cover by themselves up to kk = 2, kk = s_E sqrt(2 d)/(smallest eigenvalue of H).
 * But they are given where H came out well, so cov is multiplied by 1 + kk^2/16; and where kk >= 2 there are
 * none.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* h: what a residual p - y is multiplied with to be at most `most`. */
static inline double tacit_bounded_factor(double p, double most) {
    double larger = p > 0.5 ? p : 1 - p;
    return larger > most ? most / larger : 1;
}

/* ---- the approach ---- */

typedef struct tacit_approach {
    size_t d;
    double most;        /* c */
    double intercept;   /* the last feature of every row, before v; 0: not known */
    double ridge, mass; /* mass: sum v */
    double *curvature, *room, *w, *mean, *step;
    double counted;
} tacit_approach;

/* From A, packed, with noise of `deviation` on each number, over `rows` rows. w starts at 0. */
tacit_status tacit_approach_begin(tacit_approach *out, const double *moments, double deviation, double rows,
                                  double intercept, double most, double ridge, size_t d, tacit_error *error);
void tacit_approach_clear(tacit_approach *self);

/* One step by the noisy gradient at self->w; it counts `weight` in the mean that tacit_approach_end makes
 * self->w. */
tacit_status tacit_approach_step(tacit_approach *self, const double *gradient, double weight,
                                 tacit_error *error);
void tacit_approach_end(tacit_approach *self);

/* ---- estimates ---- */

typedef struct tacit_noisy_estimate {
    size_t d;
    double *theta;      /* d */
    double *covariance; /* d x d, all of it */
    double *sampling;   /* d x d: what it would be without noise */
    double dispersion;  /* s2; 1 for logistic */
    double smallest;    /* eigenvalue of H or A, as released */
    double size;        /* of the noise in it, sqrt(2 d) times one number's */
    size_t weakest;     /* the column that is most of its eigenvector */
    bool estimable;     /* else theta may serve to predict, and the covariances are 0 */
} tacit_noisy_estimate;

void tacit_noisy_estimate_clear(tacit_noisy_estimate *estimate);

/* smallest/size must be above this. */
extern const double tacit_noisy_gate;

/* H and B packed; the deviations are of one packed number. */
typedef struct tacit_noisy_curvature {
    const double *w, *gradient, *curvature, *middle;
    double gradient_deviation, curvature_deviation;
} tacit_noisy_curvature;

tacit_status tacit_noisy_logistic(tacit_noisy_estimate *out, const tacit_noisy_curvature *released, size_t d,
                                  tacit_error *error);

/* M packed, of d + 1 columns; `intercept` the last feature of every x; at most `rows` is sum v. */
tacit_status tacit_noisy_linear(tacit_noisy_estimate *out, const double *moments, double deviation,
                                double tau, double rows, double intercept, size_t d, tacit_error *error);
