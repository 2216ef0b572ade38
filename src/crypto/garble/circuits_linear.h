/*
 * Linear algebra on fixed-point numbers (circuits_fixed.h), as circuits: symmetric positive definite matrices
 * are factored, solved with and inverted. Vectors and matrices are lanes: bit i of number e of `count` is
 * wires[i * count + e]; a symmetric matrix of order d is its lower triangle by rows, d (d + 1) / 2 numbers,
 * entry (i, j) at tacit_triangle(i, j).
 *
 * Gates. Sums of products are Karatsuba's on whole vectors: halves are added, multiplied and put together
 * once a sum, not once a product, partial products are compressed in columns (one AND takes a bit out), and
 * the sum is rounded once. A sum of 64 takes 4,413 AND a product at 64 and 32 bits instead of 5,405 (5,029 of
 * two). The factorisation is L D L^T, which needs no roots: a reciprocal a column, then products.
 *
 * Range. Let the eigenvalues of A be at least `least` and its diagonal entries at most `largest`; R = 3/2
 * largest, u = 2^-f, and
 *     E = u (1 + R (R + 1)(1 + sqrt d)),   2 d E < least,   2 max(R, 1 / least) < 2^(w-1-f).
 * Claim. No number overflows in factoring, nor in solving with |b| <= 1, nor in inverting, and what is
 * computed is the factorisation of a matrix A + F with |F_ij| <= E, whose eigenvalues are at least half of
 * `least`. Proof. A is factored as c_ij = a_ij - sum_k L_ik c_jk + s, L_ij = c_ij r_j - s', r_j = 1 / D_j -
 * s'', D_j = c_jj, each s in [0, u]. So L_ij D_j = c_ij - e_ij with |e_ij| <= u (|c_ij| + 1) D_j, and L D L^T
 * = A + F with F_ij = s - e_ij - sum_{k<j} L_ik e_jk. In L D L^T entries of Schur complements obey |c_ij| <=
 * R, D_j <= R, and sum_k L_ik^2 D_k <= R, thus sum_k |L_ik| D_k <= R sqrt d by Cauchy and Schwarz: |F_ij| <=
 * E. The norm of F is at most d E < least / 2, so that by Weyl's theorem A + F keeps eigenvalues of least / 2
 * and diagonal entries of at most R, which closes the induction over columns. Then 1 / D_j <= 2 / least and
 * L_ij^2 <= R / D_j. With M = L^-1, (A + F)^-1 = M^T D^-1 M gives M_kj^2 <= 2 D_k / least; y = M b has y_k^2
 * <= 2 D_k / least, and D^-1 y and D^-1 M are at most 2 / least. The larger of R and 1 / least, twice, bounds
 * all of them.
 */
#pragma once

#include "crypto/garble/circuits_fixed.h"

static inline size_t tacit_triangle(size_t row, size_t column) { return row * (row + 1) / 2 + column; }

/* 1 / a for a > 0, rounded down: (w - 1)^2, 3,969 */
tacit_status tacit_fixed_reciprocal(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                    tacit_fixed format, size_t lanes);

/* The sum over k < terms of a_k b_k, rounded down once. Bit i of term k in lane l is a[(i * terms + k) *
 * lanes + l]; terms > 0. */
tacit_status tacit_fixed_dot(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                             const tacit_wire *b, tacit_fixed format, size_t terms, size_t lanes);

/* out = a b, a of rows x inner and b of inner x columns, each by rows. `out` is no operand. */
tacit_status tacit_fixed_product(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                 const tacit_wire *b, tacit_fixed format, size_t rows, size_t inner,
                                 size_t columns);

/* Where `narrow` bits, at most format.width, hold the numbers of a sum of products, only these are
 * multiplied; numbers that do not fit become meaningless. In factoring and inverting these are A, c, L, M and
 * M + L; 1 / D, D^-1 M and A^-1 have format.width. By the claim above |c| <= R and L^2, M^2 <= 2 R / least: 2
 * max(R, sqrt(2 R / least)) < 2^(narrow-1-f) is enough. A caller who knows nothing of it passes
 * format.width. */

/* A = L D L^T with a unit triangle L. Out: a triangle with L below the diagonal and 1 / D on it; may not be
 * `a`. */
tacit_status tacit_fixed_factor(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                tacit_fixed format, size_t narrow, size_t order);

/* x with A x = b, from the factor of A; b, L, y = L^-1 b, D^-1 y and x fit `narrow` bits. `out` may be b. */
tacit_status tacit_fixed_solve(tacit_builder *builder, tacit_wire *out, const tacit_wire *factor,
                               const tacit_wire *b, tacit_fixed format, size_t narrow, size_t order);

/* The triangle of A^-1, from the factor of A. */
tacit_status tacit_fixed_inverse(tacit_builder *builder, tacit_wire *out, const tacit_wire *factor,
                                 tacit_fixed format, size_t narrow, size_t order);

/* TACIT_LIMIT, with what to do about it, unless the claim above holds. */
tacit_status tacit_fixed_check_range(tacit_fixed format, size_t order, double largest, double least,
                                     tacit_error *error);
