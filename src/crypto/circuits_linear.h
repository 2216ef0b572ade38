/*
 * Linear algebra on fixed-point numbers (circuits_fixed.h), as circuits: symmetric positive definite matrices are
 * factored, solved with and inverted. Vectors and matrices are lanes: bit i of number e of `count` is
 * wires[i * count + e]; a symmetric matrix of order d is its lower triangle by rows, d (d + 1) / 2 numbers, entry
 * (i, j) at tacit_triangle(i, j).
 *
 * Gates. Sums of products are Karatsuba's on whole vectors: halves are added, multiplied and put together once a sum,
 * not once a product, partial products are compressed in columns (one AND takes a bit out), and the sum is rounded
 * once. A long sum takes 4,314 AND a product at 64 and 32 bits instead of 5,405. The factorisation is L D L^T, which
 * needs no roots: a reciprocal a column, then products.
 *
 * Range. Let A be positive definite with eigenvalues of at least `least` and no diagonal entry above `largest`, and
 *     u = 2^-f,   E = u (d + 1)(largest + 2),   d E < least / 2,   2 max(largest, 1 / least) < 2^(w-1-f).
 * Claim. No number overflows in factoring, and what is computed is exactly the factorisation of A + F with
 * |F_ij| <= E, whose least eigenvalue is above least / 2.
 * Proof. Every Schur complement of a positive definite matrix has diagonal entries between its least eigenvalue and its own
 * largest diagonal entry, and |c_ij| <= sqrt(c_ii c_jj) <= largest. So the pivots obey least <= D_j <= largest,
 * 1/D_j <= 1/least, and |L_ij| <= sqrt(A_ii / D_j) <= sqrt(largest / least), which the larger of largest and 1/least
 * bounds. Rounding: a sum is rounded once (u), 1/D_j by at most u, which moves L_ij D_j by at most |c_ij| D_j u + D_j u
 * <= (largest D_j + D_j) u; entry (i, j) collects j such terms weighted with |L_jk| sqrt(.) <= 1 in units of the
 * matrix, so |F_ij| <= u (j + 1)(largest + 2) <= E for largest <= 1, and the norm of F is at most d E. By Weyl A + F keeps half of
 * `least`; the claim for it, with 2 max(...) for the halved eigenvalue, is what the last condition asks.
 */
#pragma once

#include "crypto/circuits_fixed.h"

static inline size_t tacit_triangle(size_t row, size_t column) { return row * (row + 1) / 2 + column; }

/* 1 / a for a > 0, rounded down: (w - 1)^2, 3,969 */
tacit_status tacit_fixed_reciprocal(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                    tacit_fixed format, size_t lanes);

/* The sum over k < terms of a_k b_k, rounded down once. Bit i of term k in lane l is a[(i * terms + k) * lanes + l];
 * terms > 0. */
tacit_status tacit_fixed_dot(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                             const tacit_wire *b, tacit_fixed format, size_t terms, size_t lanes);

/* A = L D L^T with a unit triangle L. Out: a triangle with L below the diagonal and 1 / D on it; may not be `a`. */
tacit_status tacit_fixed_factor(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                tacit_fixed format, size_t order);

/* x with A x = b, from the factor of A. `out` may be b. */
tacit_status tacit_fixed_solve(tacit_builder *builder, tacit_wire *out, const tacit_wire *factor,
                               const tacit_wire *b, tacit_fixed format, size_t order);

/* The triangle of A^-1, from the factor of A. */
tacit_status tacit_fixed_inverse(tacit_builder *builder, tacit_wire *out, const tacit_wire *factor,
                                 tacit_fixed format, size_t order);

/* TACIT_LIMIT, with what to do about it, unless the claim above holds. */
tacit_status tacit_fixed_check_range(tacit_fixed format, size_t order, double largest, double least,
                                     tacit_error *error);
