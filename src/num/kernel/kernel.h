/*
 * The solver's inner loops, written on vectors of eight doubles and compiled for several instruction sets.
 * Where the processor fuses multiplications and additions they are fused, so variants differ in the last
 * bits; every error bound holds either way.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Relative error of each slope and curvature factor from `logistic` and each value from `exponential`, in
 * units of 2^-53, for exact arguments; the notes beside the code prove them. Below -708 the argument counts
 * as -708. */
#define TACIT_EXP_ULPS 4
#define TACIT_SIGMOID_ULPS 8

/* Models that score_sparse works on at once: enough sums in flight to hide the latency of each. */
enum { TACIT_KERNEL_MODELS = 32, TACIT_KERNEL_SLACK = 16, TACIT_KERNEL_PANEL = 8 };

/* How numbers are scaled, and between which bounds they are expected before and after. */
typedef struct tacit_kernel_scale {
    double middle, half, low, high, least, most;
} tacit_kernel_scale;

typedef struct tacit_kernels {
    /* out[i] = x[i] . w, for `rows` rows of `cols` numbers. */
    void (*dot_rows)(const double *const *x, size_t rows, size_t cols, const double *w, double *out);

    /* out[j] += sum_i scale[i] x[i][j] */
    void (*add_rows)(const double *const *x, size_t rows, size_t cols, const double *scale, double *out);

    /* A block of rows for add_tiles: `cols` is padded with zeros to panels of 8 columns, and panel p of row
     * i, scaled by scale[i], is packed[(p * rows + i) * 8 ...]. */
    void (*pack_rows)(const double *const *x, size_t rows, size_t cols, const double *scale, double *packed);

    /* tiles += the upper triangle of P^T P for packed rows P, in 8 x 8 tiles of 64 numbers: those of panel 0
     * with panels 0, 1, ..., then of panel 1 with 1, 2, ... */
    void (*add_tiles)(size_t rows, size_t panels, const double *packed, double *tiles);

    /* For each z: value log(1 + exp(-z)), slope 1/(1 + exp(z)) (minus the derivative) and curvature
     * exp(z)/(1 + exp(z))^2. */
    void (*logistic)(size_t count, const double *z, double *value, double *slope, double *curvature);

    /* In place, every argument at most 0. */
    void (*exponential)(size_t count, double *z);

    /* A = U^T U in place, upper triangle, row-major with a stride that is a multiple of 8 and rows padded
     * with anything finite. Returns 0 when A is not positive definite. */
    int (*cholesky)(size_t n, size_t stride, double *a);

    /* Solve U^T U x = b in place. */
    void (*cholesky_solve)(size_t n, size_t stride, const double *u, double *b);

    /* One sparse row against TACIT_KERNEL_MODELS weight vectors that lie side by side:
     * out[m] = sum_k value[k] panel[column[k] * TACIT_KERNEL_MODELS + m]. */
    void (*score_sparse)(size_t entries, const uint32_t *column, const double *value, const double *panel,
                         double *out);

    /* sum_k value[k] w[column[k]], columns below 2^31. */
    double (*dot_sparse)(size_t entries, const uint32_t *column, const double *value, const double *w);

    /* The same and out[column[k]] += scale value[k] on compact rows, in single precision; TACIT_KERNEL_SLACK
     * columns past the row's end are read, so they must be there, but not used. */
    float (*dot_compact)(size_t entries, const uint16_t *column, const float *value, const float *w);
    void (*add_compact)(size_t entries, const uint16_t *column, const float *value, float scale, float *out);

    /* total[i] += how many of the TACIT_KERNEL_MODELS scores of row i are above 0. */
    void (*count_positive)(size_t rows, const double *scores, uint64_t *total);

    /* dot_rows, add_rows and pack_rows of rows in single precision that lie side by side; `stride`, a
     * multiple of TACIT_KERNEL_PANEL, is also the length of w and out. All sums are in double precision. */
    void (*dot_floats)(const float *x, size_t rows, size_t stride, const double *w, double *out);
    void (*add_floats)(const float *x, size_t rows, size_t stride, const double *scale, double *out);
    void (*pack_floats)(const float *x, size_t rows, size_t stride, const double *scale, double *packed);

    /* out[i] = (x[i] - middle) / half + 0, the same bits in every variant, for up to 512 numbers, a multiple
     * of 8. Bit k of what is returned is set where one of the eight from 8 k on is beyond a bound, before it
     * is scaled or after. */
    uint64_t (*scale_numbers)(const tacit_kernel_scale *by, size_t count, const double *x, double *out);
} tacit_kernels;

/* The fastest variant this processor runs. */
const tacit_kernels *tacit_kernels_choose(void);

extern const tacit_kernels tacit_kernels_base, tacit_kernels_avx2, tacit_kernels_avx512;
