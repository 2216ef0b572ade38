/* In place of CBLAS's header where there is no OpenBLAS: what Tacit calls of it, as it calls it (rows first,
 * vectors without gaps), by portable.h. */
#pragma once

#include <assert.h>

#include "num/portable/portable.h"

typedef int blasint;
enum { CblasRowMajor = 101 };
enum { CblasNoTrans = 111, CblasTrans = 112 };
enum { CblasUpper = 121, CblasLower = 122 };
enum { CblasNonUnit = 131 };
enum { CblasLeft = 141, CblasRight = 142 };

static inline int openblas_get_num_threads(void) { return 1; }
static inline void openblas_set_num_threads(int count) { (void)count; }

static inline double cblas_ddot(int n, const double *x, int step_x, const double *y, int step_y) {
    assert(step_x == 1 && step_y == 1);
    (void)step_x, (void)step_y;
    return tacit_portable_dot(n, x, y);
}

static inline void cblas_daxpy(int n, double alpha, const double *x, int step_x, double *y, int step_y) {
    assert(step_x == 1 && step_y == 1);
    (void)step_x, (void)step_y;
    tacit_portable_axpy(n, alpha, x, y);
}

static inline void cblas_dscal(int n, double alpha, double *x, int step) {
    assert(step == 1);
    (void)step;
    tacit_portable_scale(n, alpha, x);
}

static inline double cblas_dnrm2(int n, const double *x, int step) {
    assert(step == 1);
    (void)step;
    return tacit_portable_norm(n, x);
}

static inline void cblas_dger(int order, int m, int n, double alpha, const double *x, int step_x,
                              const double *y, int step_y, double *a, int lda) {
    assert(order == CblasRowMajor && step_x == 1 && step_y == 1);
    (void)order, (void)step_x, (void)step_y;
    for (int i = 0; i < m; i++) tacit_portable_axpy(n, alpha * x[i], y, a + (long)i * lda);
}

static inline void cblas_dgemv(int order, int turn, int m, int n, double alpha, const double *a, int lda,
                               const double *x, int step_x, double beta, double *y, int step_y) {
    assert(order == CblasRowMajor && step_x == 1 && step_y == 1);
    (void)order, (void)step_x, (void)step_y;
    const int out = turn == CblasTrans ? n : m, in = turn == CblasTrans ? m : n;
    tacit_portable_product(turn == CblasTrans, false, out, 1, in, alpha, a, lda, x, 1, beta, y, 1);
}

static inline void cblas_dgemm(int order, int turn_a, int turn_b, int m, int n, int k, double alpha,
                               const double *a, int lda, const double *b, int ldb, double beta, double *c,
                               int ldc) {
    assert(order == CblasRowMajor);
    (void)order;
    tacit_portable_product(turn_a == CblasTrans, turn_b == CblasTrans, m, n, k, alpha, a, lda, b, ldb, beta,
                           c, ldc);
}

static inline void cblas_dsyrk(int order, int triangle, int turn, int n, int k, double alpha, const double *a,
                               int lda, double beta, double *c, int ldc) {
    assert(order == CblasRowMajor);
    (void)order;
    tacit_portable_square(triangle == CblasUpper, turn == CblasTrans, n, k, alpha, a, lda, beta, c, ldc);
}

static inline void cblas_dsymm(int order, int side, int triangle, int m, int n, double alpha, const double *a,
                               int lda, const double *b, int ldb, double beta, double *c, int ldc) {
    assert(order == CblasRowMajor && side == CblasRight && triangle == CblasLower);
    (void)order, (void)side, (void)triangle;
    tacit_portable_symmetric(m, n, alpha, a, lda, b, ldb, beta, c, ldc);
}

static inline void cblas_dtrsv(int order, int triangle, int turn, int unit, int n, const double *a, int lda,
                               double *x, int step) {
    assert(order == CblasRowMajor && triangle == CblasLower && unit == CblasNonUnit && step == 1);
    (void)order, (void)triangle, (void)unit, (void)step;
    tacit_portable_solve(turn == CblasTrans, n, a, lda, x);
}

static inline void cblas_dtrmv(int order, int triangle, int turn, int unit, int n, const double *a, int lda,
                               double *x, int step) {
    assert(order == CblasRowMajor && triangle == CblasLower && turn == CblasNoTrans && unit == CblasNonUnit &&
           step == 1);
    (void)order, (void)triangle, (void)turn, (void)unit, (void)step;
    tacit_portable_times(n, a, lda, x);
}
