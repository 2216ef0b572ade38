/*
 * The softmax equation with clipped residuals: sum_i clip(p_i - e_{y_i}) (x) x_i = 0, p_i = softmax(W x_i),
 * the residual shortened to norm c where it is longer. With a_k = min(1, c/|p - e_k|) and chances pi of the
 * classes its mean is sum_k pi_k a_k (p - e_k), which is 0 for
 *
 *   pi_k proportional to p_k/a_k,
 *
 * the link that belongs to it. With two classes and c = 1/sqrt(2) it is that of clipped_link.h.
 *
 * Scores of a row are taken to be normal with mean m and covariance V, K numbers and K x K, which the
 * functions here sample at fixed points.
 */
#pragma once

#include <stddef.h>

#include "base/error.h"

enum { TACIT_CLIPPED_CLASSES_MOST = 64 };

/* pi from p, in place. */
void tacit_clipped_classes(double *p, size_t classes, double clip);

/* The mean Jacobian of the clipped residual along the scores, about E[sum_k pi_k a_k (diag(p) - p p^T)], K x
 * K. */
tacit_status tacit_clipped_classes_slope(double *out, const double *mean, const double *covariance,
                                         size_t classes, double clip, tacit_error *error);

/* softmax(slope t + offset) nearest to the link, with the same mean probabilities. The offsets add up to
 * 0. */
tacit_status tacit_clipped_classes_line(double *slope, double *offset, const double *mean,
                                        const double *covariance, size_t classes, double clip,
                                        tacit_error *error);
