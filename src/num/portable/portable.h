/*
 * The few products and factorisations of BLAS and LAPACK that Tacit calls, in plain C, for builds without
 * OpenBLAS (-Dparty_only=true): small and slow, with the same results up to rounding. cblas.h and lapacke.h
 * beside this file put them behind the usual names; tests/num/test_portable.c compares them with OpenBLAS.
 *
 * Products are of matrices row by row (`lda` numbers from one row to the next), triangles are named as in
 * BLAS.
 */
#pragma once

#include <stdbool.h>

void tacit_portable_axpy(int n, double alpha, const double *x, double *y);
double tacit_portable_dot(int n, const double *x, const double *y);
void tacit_portable_scale(int n, double alpha, double *x);
double tacit_portable_norm(int n, const double *x);

/* C = alpha A B + beta C, A and B transposed where it says so; C is m by n, and k is what they have in
 * common. */
void tacit_portable_product(bool turn_a, bool turn_b, int m, int n, int k, double alpha, const double *a,
                            int lda, const double *b, int ldb, double beta, double *c, int ldc);

/* One triangle of C = alpha A A' + beta C, or with `turn` of A'A; C is n by n. */
void tacit_portable_square(bool upper, bool turn, int n, int k, double alpha, const double *a, int lda,
                           double beta, double *c, int ldc);

/* C = alpha B A + beta C, where A is symmetric, n by n, given by its lower triangle; B is m by n. */
void tacit_portable_symmetric(int m, int n, double alpha, const double *a, int lda, const double *b, int ldb,
                              double beta, double *c, int ldc);

/* x = A^-1 x, x = A'^-1 x, x = A x of a lower triangle. */
void tacit_portable_solve(bool turn, int n, const double *a, int lda, double *x);
void tacit_portable_times(int n, const double *a, int lda, double *x);

/* Cholesky's factor of a symmetric matrix in the triangle whose element (i, j), j <= i, is a[i * row + j *
 * column]. Returns 0, or the place (from 1) of the first pivot that is not above 0. Then solve for b, in
 * place. */
int tacit_portable_cholesky(int n, double *a, long row, long column);
void tacit_portable_backsolve(int n, const double *a, long row, long column, double *b);

/* Eigenvalues of a symmetric matrix in ascending order, and with `vectors` the eigenvectors, by Jacobi's
 * rotations, which stop when what is off the diagonal has vanished beside it. `a` is full, n by n without
 * gaps, and is used up; vector k is at vectors + k * n. Returns 0; 1 when it does not end, -1 without
 * memory. */
int tacit_portable_eigen(int n, double *a, double *values, double *vectors);
