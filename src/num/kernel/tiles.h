/*
 * Symmetric sums of outer products, sum_i c_i x_i x_i^T, kept in the tiles of the kernels (kernel.h): rows
 * are scaled by the roots of their weights, packed so that they stay in the nearest cache, and multiplied
 * there.
 */
#pragma once

#include <stddef.h>

#include "num/kernel/kernel.h"

/* How many numbers a sum of `cols` columns has, and the room in which its rows are packed. Aligned memory is
 * faster. */
size_t tacit_tiles_length(size_t cols);
size_t tacit_tiles_room(size_t cols);

/* tiles += sum_i c[i] x[i] x[i]^T; rows of no weight are left out. */
void tacit_tiles_add(const tacit_kernels *kernels, const double *const *x, const double *c, size_t rows,
                     size_t cols, double *room, double *tiles);

/* tiles += sum_i (scale[i] x[i])(scale[i] x[i])^T of rows in single precision side by side, `stride` apart, a
 * multiple of TACIT_KERNEL_PANEL; `stride` counts as the columns of the sum. */
void tacit_tiles_add_floats(const tacit_kernels *kernels, const float *x, size_t stride, const double *scale,
                            size_t rows, double *room, double *tiles);

/* Element (i, j) of the sum. */
double tacit_tiles_at(const double *tiles, size_t cols, size_t i, size_t j);
