/*
 * How much of a model's scores is noise. Newton steps w <- w - s (c H + l I)^-1 (g + b + l w), then w <- k w,
 * each with its own noise b ~ N(0, size^2 I), shrink the noise of the steps before and add their own. Along
 * an eigenvector of H, where the mean gradient is as steep as c/damped times the eigenvalue without noise,
 *
 *   w' = m w + a b,   m = k (1 - s (c e/damped + l)/(c h + l)),   a = k s/(c h + l)
 *
 * so that variances are followed by numbers alone, whatever the vectors are. The model is a weighted mean of
 * the iterates.
 */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* Along d eigenvectors, each array one number for each. */
typedef struct tacit_followed_noise {
    size_t d;
    double *curvature, *steep; /* h and e: what steps divide by, and what there is; set by the caller */
    double *last, *both, *sum; /* of w, of w with the weighted sum of iterates, and of that sum */
} tacit_followed_noise;

typedef struct tacit_noisy_step {
    double factor, damped, ridge; /* c, damped and l */
    double size, taken, kept;     /* of the noise, s and k */
    double counts;                /* of the new w in the sum */
} tacit_noisy_step;

/* All noise is 0 and curvatures are to be set. TACIT_MEMORY. */
tacit_status tacit_followed_noise_create(tacit_followed_noise *out, size_t d, tacit_error *error);
void tacit_followed_noise_clear(tacit_followed_noise *noise);
void tacit_followed_noise_step(tacit_followed_noise *noise, const tacit_noisy_step *step);

/* The variance over rows of the noise in scores of the sum, where rows have second moments e times `by`. */
double tacit_followed_noise_variance(const tacit_followed_noise *noise, double by);
