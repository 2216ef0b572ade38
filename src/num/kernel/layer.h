/*
 * The inner loops of a network's passes, in single precision, compiled for several instruction sets like
 * num/kernel/kernel.h.
 *
 * Rows are independent: what is computed for one follows from that row and the weights alone. Every row goes
 * through the same instructions, in an order of its own sums that depends neither on its place nor on how
 * many rows there are, so that another row that comes or goes cannot move even the last bit. General matrix
 * products promise no such thing: they treat the last few rows otherwise. Private sums of gradients rest on
 * this (model/clipped_batch.h).
 *
 * Numbers in a row are padded with zeros to a multiple of TACIT_LAYER_PANEL, rows to a multiple of
 * TACIT_LAYER_ROWS (their contents do not matter).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    TACIT_LAYER_PANEL = 16, /* columns that are computed together */
    TACIT_LAYER_ROWS = 12,  /* a multiple of the rows that any variant computes together */
};

/* What a unit gives out is rounded to multiples of this: products of two such numbers are then exact in
 * double precision. */
#define TACIT_LAYER_STEP 0x1p-18F

typedef struct tacit_layer_kernels {
    /* Scaled numbers to single precision, rounded to TACIT_LAYER_STEP. */
    void (*take)(size_t count, double scale, const double *x, float *out);

    /* The sum of squares, in double precision; `count` a multiple of the panel's width. */
    double (*square)(size_t count, const float *x);

    /* out[i] = factor d[i], below 128 in size, rounded towards zero to multiples of 2^-24. */
    void (*scale)(size_t count, double factor, const float *d, double *out);

    /* out[i][j] = start[j] + sum over k < inner of x[i][k] w[k][j], k ascending. `w` is in panels: column j
     * of row k is w[(j/P inner + k) P + j % P], P the panel's width. The strides are of rows. start NULL:
     * zeros. */
    void (*multiply)(size_t rows, size_t inner, size_t cols, const float *x, size_t x_stride, const float *w,
                     const float *start, float *out, size_t out_stride);

    /* In place, `count` a multiple of the panel's width; rounded to TACIT_LAYER_STEP. */
    void (*tanh)(size_t count, float *z);
    void (*sigmoid)(size_t count, float *z);
    void (*relu)(size_t count, float *z);

    /* d *= the derivative, in terms of what the unit gives out. */
    void (*tanh_slope)(size_t count, const float *unit, float *d);
    void (*sigmoid_slope)(size_t count, const float *unit, float *d);
    void (*relu_slope)(size_t count, const float *unit, float *d);

    /* sum[u][j] += sum over rows of d[i][u] x[i][j] for u < units, j < inputs, in double precision, the sums
     * over rows in any order; `sum` has rows of `inputs` numbers. */
    void (*add_exact)(size_t rows, size_t units, size_t inputs, const double *d, size_t d_stride,
                      const float *x, size_t x_stride, double *sum);

    /* The same with products and their sums over these rows in single precision. */
    void (*add_plain)(size_t rows, size_t units, size_t inputs, const float *d, size_t d_stride,
                      const float *x, size_t x_stride, double *sum);

    /* total[j] += sum over rows of x[i][j] d[i] clamped to [-1, 1], in steps of 2^-20 towards zero; at most
     * 1024 rows. */
    void (*add_clamped)(size_t rows, size_t cols, const float *x, size_t x_stride, const float *d,
                        int64_t *total);
} tacit_layer_kernels;

/* The fastest variant this processor runs. */
const tacit_layer_kernels *tacit_layer_kernels_choose(void);

extern const tacit_layer_kernels tacit_layer_kernels_base, tacit_layer_kernels_avx2,
    tacit_layer_kernels_avx512;
