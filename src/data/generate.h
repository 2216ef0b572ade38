/*
 * Simulated data of the papers. Rows lie in the unit ball; no intercept is added.
 */
#pragma once

#include "data/dataset.h"
#include "rand/stream.h"

/* Rajkumar and Agarwal 2012, section 6: x uniform in the interior of the unit ball, a random direction w,
 * label sign(w.x): class "-1" or "1". The paper has dimension 10. `weights` (may be NULL) receives w, of
 * norm 1. */
tacit_status tacit_generate_ball(tacit_dataset **out, size_t rows, size_t dimension, double *weights,
                                 tacit_stream *stream, tacit_error *error);

/* Wang 2018, section 5.4.1: random covariates and coefficients, Bernoulli responses. The thesis names no
 * distributions; ours: z ~ N(0, I), beta ~ N(0, (4/d) I) so that the margin beta.z has a standard
 * deviation near 2, Pr(y = 1) = 1/(1 + exp(-beta.z)), and the row kept is x = z/(2 sqrt(d)), shortened to
 * norm 1 in the rare case that it is longer. `weights` (may be NULL) receives 2 sqrt(d) beta, the
 * coefficients of x. Classes "0" and "1". */
tacit_status tacit_generate_logistic(tacit_dataset **out, size_t rows, size_t dimension, double *weights,
                                     tacit_stream *stream, tacit_error *error);
