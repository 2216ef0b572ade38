/*
 * What can be made of second moments that were released with noise in them: A + E, A = sum x x^T over rows
 * with |x| <= 1, E symmetric noise. Everything here is post-processing.
 *
 * Packed, a symmetric matrix is its upper triangle by rows with the elements off the diagonal times sqrt(2).
 * The L2 norm of that vector is the Frobenius norm of the matrix, so that two rows, x x^T and y y^T, are at
 * most sqrt(|x|^4 + |y|^4 - 2 (x.y)^2) <= sqrt(2) apart. Noise of standard deviation s on each packed number
 * is noise of s on the diagonal and s/sqrt(2) off it, whose operator norm is about s sqrt(2 d).
 */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* The eigenvalues of a symmetric matrix, ascending, and its eigenvectors: vectors[k d + j] is number j of the
 * k-th. */
tacit_status tacit_moments_eigen(double *values, double *vectors, const double *matrix, size_t d,
                                 tacit_error *error);

/* d (d + 1)/2 */
size_t tacit_moments_length(size_t d);

/* From the upper triangle of a d x d matrix by rows, and back into all of it. */
void tacit_moments_pack(double *out, const double *matrix, size_t d);
void tacit_moments_unpack(double *out, const double *packed, size_t d);

/* Replace each eigenvalue e of a symmetric matrix by max(e, least[i]) + lift[i], for `count` different pairs
 * of them: the i-th result is the d x d matrix out[i]. The noise has made small eigenvalues uncertain; those
 * below 0 it has made impossible. */
tacit_status tacit_moments_lift(double *const *out, const double *least, const double *lift, size_t count,
                                const double *matrix, size_t d, tacit_error *error);

/* What A is likely to be: the eigenvectors stay, and an eigenvalue e_i becomes what A has along its vector on
 * average, e_i - s^2 sum_j (e_i - e_j)/((e_i - e_j)^2 + s^2), but not less than 0; s, `noise`, is the
 * standard deviation of a packed number. Noise pushes eigenvalues apart, and its own vectors bend towards
 * large ones (second-order perturbation; for many columns Bun, Bouchaud and Potters 2017). The trace stays as
 * it is except for what was below 0. `values` gets the d eigenvalues as they were and the d that they become,
 * in one order. */
tacit_status tacit_moments_clean(double *out, double *values, double noise, const double *matrix, size_t d,
                                 tacit_error *error);

/* x . A y for a full symmetric d x d matrix. */
double tacit_moments_product(const double *matrix, const double *x, const double *y, size_t d);

/* Solve (factor A + ridge I) x = b in place, A positive semidefinite and ridge above 0. `room` has d x d
 * numbers. */
tacit_status tacit_moments_solve(double *b, const double *matrix, double factor, double ridge, double *room,
                                 size_t d, tacit_error *error);
