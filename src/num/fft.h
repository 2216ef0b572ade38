/*
 * Discrete Fourier transforms of power-of-two length in double precision, with a bound on their error that
 * a caller can add to its result.
 *
 * The bound. A transform of length 2^L is L levels of butterflies a + wb, a - wb (Higham 2002, section 24.1).
 * With u = 2^-53, a computed twiddle factor errs by at most 4u, a complex product by at most sqrt(5) u of its
 * modulus (Brent, Percival and Zimmermann 2007), a sum by u. Each level therefore multiplies what enters by
 * factors within 7.3u of the exact ones, and every output is a sum over the inputs of L such factors:
 *     |computed_k - exact_k| <= f sum_j |x_j|,  and in the Euclidean norm  |computed - exact| <= f |exact|,
 * f = (1 + 7.3u)^L - 1. (Higham's Theorem 24.2 is the second.) It supposes sine and cosine within one unit in
 * the last place on [0, pi/4], and no overflow or underflow; underflow adds at most 2^-1000 per output.
 */
#pragma once

#include <stddef.h>

#include "base/error.h"

typedef struct tacit_complex {
    double re, im;
} tacit_complex;

enum { TACIT_FFT_LOG_MOST = 26 };

/* The twiddle factors of one length; may be shared by threads once made. */
typedef struct tacit_fft tacit_fft;

/* length: a power of two, at most 2^TACIT_FFT_LOG_MOST. */
tacit_status tacit_fft_create(tacit_fft **out, size_t length, tacit_error *error);
tacit_fft *tacit_fft_free(tacit_fft *fft);

/* In place: x_k <- sum_j x_j exp(-2 pi i jk/n); the inverse has +i and divides by n. */
void tacit_fft_forward(const tacit_fft *fft, tacit_complex *x);
void tacit_fft_inverse(const tacit_fft *fft, tacit_complex *x);

/* f above, for this length; rounded up. The division of the inverse is exact. */
double tacit_fft_error(const tacit_fft *fft);
