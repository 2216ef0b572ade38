/*
 * Exact noise, for real releases. The released value is
 *
 *     floor((value + noise) 2^grid_bits + 1/2)
 *
 * of the real number `value + noise`: the double `value` is taken as the real number it is, `noise` is a real
 * random number of exactly the stated law, and the sum is rounded once, to the nearest multiple of
 * 2^-grid_bits. Random digits are drawn until that rounding is certain (interval.c has the proof), so a
 * release is a post-processing of the ideal mechanism and inherits its guarantee without a term for rounding
 * (Mironov 2012 and Haney et al. 2022 show what goes wrong otherwise). docs/noise.md says what the time
 * taken still tells.
 *
 * All randomness comes from a `tacit_entropy`. The result lives in a `tacit_exact_vector`, which only these
 * functions can fill: holding one is holding exact noise. The samplers of fast.h give plain doubles.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rand/entropy.h"

typedef enum tacit_law {
    TACIT_LAW_NONE,
    /* Of real numbers, with density proportional to, for scale s: */
    TACIT_LAW_UNIFORM,     /* 1 on (-s, s), each coordinate */
    TACIT_LAW_EXPONENTIAL, /* exp(-x/s) for x > 0, each coordinate */
    TACIT_LAW_LAPLACE,     /* exp(-|x|/s), each coordinate */
    TACIT_LAW_GAUSSIAN,    /* exp(-x^2/(2 s^2)), each coordinate */
    TACIT_LAW_GAMMA_NORM,  /* exp(-|b|/s) of the whole vector b, |b| its Euclidean length: G(d, s) */
    /* Of integers, with probability proportional to: */
    TACIT_LAW_GEOMETRIC,         /* exp(-k/s) for k >= 0 */
    TACIT_LAW_DISCRETE_LAPLACE,  /* exp(-|k|/s) */
    TACIT_LAW_DISCRETE_GAUSSIAN, /* exp(-k^2/(2 s^2)) */
    /* Shares of noise: integers of which this many independent ones add up to a law above. */
    TACIT_LAW_POLYA /* `parts` of them: exp(-|k|/s) */
} tacit_law;

enum { TACIT_GRID_BITS_MOST = 1000 }; /* -1000 <= grid_bits <= 1000 */

typedef struct tacit_exact_vector tacit_exact_vector;

/* An empty vector. It keeps its working memory from one filling to the next. */
tacit_status tacit_exact_vector_create(tacit_exact_vector **out, tacit_error *error);
tacit_exact_vector *tacit_exact_vector_free(tacit_exact_vector *vector);

/* What it was filled with; TACIT_LAW_NONE and 0 while empty. */
tacit_law tacit_exact_vector_law(const tacit_exact_vector *vector);
double tacit_exact_vector_scale(const tacit_exact_vector *vector);
int tacit_exact_vector_grid_bits(const tacit_exact_vector *vector);
size_t tacit_exact_vector_count(const tacit_exact_vector *vector);

/* The released numbers, in steps of 2^-grid_bits. Borrowed. */
const int64_t *tacit_exact_vector_steps(const tacit_exact_vector *vector);

/*
 * Fill `vector` with `value` plus noise of a law of real numbers.
 *
 * In: count > 0 finite values; a finite scale > 0; |grid_bits| <= TACIT_GRID_BITS_MOST.
 * Returns TACIT_USAGE or TACIT_INPUT for anything else, before any noise is drawn. TACIT_LIMIT when a sum
 * lies beyond 2^62 steps: that is decided on the noisy sum, so it tells no more than a release would, but
 * it tells as much, and must be charged like one. On any failure the vector is empty.
 */
tacit_status tacit_exact_add(tacit_exact_vector *vector, tacit_entropy *entropy, tacit_law noise,
                             const double *value, size_t count, double scale, int grid_bits,
                             tacit_error *error);

/*
 * Fill `vector` with `value` plus noise of a law of integers, after Canonne, Kamath and Steinke (2020).
 * Values and scale are in steps; grid_bits is only kept beside the result. As above, and scale <= 2^50.
 */
tacit_status tacit_exact_add_integer(tacit_exact_vector *vector, tacit_entropy *entropy, tacit_law noise,
                                     const int64_t *value, size_t count, double scale, int grid_bits,
                                     tacit_error *error);

/*
 * Fill `vector` with `value` plus noise of TACIT_LAW_POLYA: the difference of two negative binomial numbers
 * of shape 1/parts, so that the sum over `parts` independent draws is exactly discrete Laplace of this scale.
 * As above; 1 <= parts <= 2^32.
 */
tacit_status tacit_exact_add_polya(tacit_exact_vector *vector, tacit_entropy *entropy, const int64_t *value,
                                   size_t count, double scale, uint64_t parts, int grid_bits,
                                   tacit_error *error);

/* True with probability p/q; 0 <= p <= q, q > 0. */
tacit_status tacit_exact_bernoulli(bool *out, tacit_entropy *entropy, uint64_t p, uint64_t q,
                                   tacit_error *error);

/* True with probability exp(-a/b), of the real quotient; finite a >= 0, b > 0. */
tacit_status tacit_exact_bernoulli_exp(bool *out, tacit_entropy *entropy, double a, double b,
                                       tacit_error *error);
