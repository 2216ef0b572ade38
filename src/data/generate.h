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

/* A numeric response: x uniform in the unit ball, w a random vector of norm 2, mean t = w.x. Numbers are t
 * plus normal noise of standard deviation 1/4, moved into [-4, 4]; counts are Poisson with mean exp(1 + t),
 * at most 200. There are no classes and no labels. `weights` (may be NULL) receives w. TACIT_USAGE for
 * classes. */
tacit_status tacit_generate_response(tacit_dataset **out, size_t rows, size_t dimension,
                                     tacit_response response, double *weights, tacit_stream *stream,
                                     tacit_error *error);

/* A stand-in for card transactions: 29 numbers like the principal components and the amount that public sets
 * have, standardised, with heavy tails (Student's t with 5 degrees of freedom). A share `fraud` of the rows
 * is of class "1": three in five of these far off in eight numbers, one in four half as far, and the rest
 * like any other row. Divided by 8 and, where still longer, shortened to norm 1. */
enum { TACIT_FRAUD_FEATURES = 29 };
tacit_status tacit_generate_fraud(tacit_dataset **out, size_t rows, double fraud, tacit_stream *stream,
                                  tacit_error *error);
