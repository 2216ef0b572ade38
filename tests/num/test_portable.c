/* The portable kernels against OpenBLAS and LAPACK, on matrices of many shapes. */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "num/portable/portable.h"

enum { MOST = 23, ROOM = MOST * MOST };

/* A fixed stream of numbers in [-1, 1). */
static double draw(void) {
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

static void fill(double *out, size_t count) {
    for (size_t i = 0; i < count; i++) out[i] = draw();
}

static void same(const double *a, const double *b, size_t count, double within) {
    for (size_t i = 0; i < count; i++) assert_true(fabs(a[i] - b[i]) <= within);
}

/* Symmetric with eigenvalues above 1. */
static void fill_positive(double *out, int n) {
    double root[ROOM];
    fill(root, (size_t)n * (size_t)n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            out[i * n + j] = i == j;
            for (int k = 0; k < n; k++) out[i * n + j] += root[i * n + k] * root[j * n + k];
        }
}

static void products_are_those_of_blas(void **state) {
    double a[ROOM], b[ROOM], c[ROOM], d[ROOM];
    (void)state;
    for (int m = 1; m <= MOST; m += 2)
        for (int n = 1; n <= MOST; n += 3)
            for (int k = 1; k <= MOST; k += 5)
                for (int turns = 0; turns < 4; turns++) {
                    const bool ta = turns & 1, tb = turns & 2;
                    fill(a, ROOM), fill(b, ROOM), fill(c, ROOM), memcpy(d, c, sizeof c);
                    tacit_portable_product(ta, tb, m, n, k, .7, a, MOST, b, MOST, turns == 1 ? 0 : -.3, c,
                                           MOST);
                    cblas_dgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans,
                                m, n, k, .7, a, MOST, b, MOST, turns == 1 ? 0 : -.3, d, MOST);
                    same(c, d, ROOM, 1e-13);
                    tacit_portable_square(ta, tb, n, k, .7, a, MOST, .5, c, MOST);
                    cblas_dsyrk(CblasRowMajor, ta ? CblasUpper : CblasLower, tb ? CblasTrans : CblasNoTrans,
                                n, k, .7, a, MOST, .5, d, MOST);
                    same(c, d, ROOM, 1e-13);
                    tacit_portable_symmetric(m, n, .7, a, MOST, b, MOST, .5, c, MOST);
                    cblas_dsymm(CblasRowMajor, CblasRight, CblasLower, m, n, .7, a, MOST, b, MOST, .5, d,
                                MOST);
                    same(c, d, ROOM, 1e-12);
                }
}

static void vectors_are_those_of_blas(void **state) {
    double x[MOST], y[MOST], z[MOST];
    (void)state;
    for (int n = 0; n <= MOST; n++) {
        fill(x, MOST), fill(y, MOST), memcpy(z, y, sizeof y);
        assert_true(fabs(tacit_portable_dot(n, x, y) - cblas_ddot(n, x, 1, y, 1)) < 1e-13);
        assert_true(fabs(tacit_portable_norm(n, x) - cblas_dnrm2(n, x, 1)) < 1e-13);
        tacit_portable_axpy(n, .3, x, y), cblas_daxpy(n, .3, x, 1, z, 1);
        tacit_portable_scale(n, -2, y), cblas_dscal(n, -2, z, 1);
        same(y, z, MOST, 1e-14);
    }
    const double huge[] = { 3e200, 4e200 }, tiny[] = { 3e-200, 4e-200 };
    assert_true(fabs(tacit_portable_norm(2, huge) / 5e200 - 1) < 1e-14);
    assert_true(fabs(tacit_portable_norm(2, tiny) / 5e-200 - 1) < 1e-14);
}

static void triangles_are_those_of_lapack(void **state) {
    double a[ROOM], b[ROOM], x[MOST], y[MOST];
    (void)state;
    for (int n = 1; n <= MOST; n++) {
        fill_positive(a, n), memcpy(b, a, sizeof a), fill(x, MOST), memcpy(y, x, sizeof x);
        assert_int_equal(tacit_portable_cholesky(n, a, n, 1), 0);
        assert_int_equal(LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', n, b, n), 0);
        for (int i = 0; i < n; i++) same(a + i * n, b + i * n, (size_t)i + 1, 1e-12);
        tacit_portable_solve(false, n, a, n, x), tacit_portable_solve(true, n, a, n, x);
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, b, n, y, 1);
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, n, b, n, y, 1);
        same(x, y, (size_t)n, 1e-11);
        tacit_portable_times(n, a, n, x);
        cblas_dtrmv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, b, n, y, 1);
        same(x, y, (size_t)n, 1e-11);
        LAPACKE_dpotrs(LAPACK_ROW_MAJOR, 'L', n, 1, b, n, y, 1);
        tacit_portable_backsolve(n, a, n, 1, x);
        same(x, y, (size_t)n, 1e-11);
    }
    double not_positive[] = { 4, 2, 2, 1 }; /* columns or rows first: the second pivot is 0 */
    assert_int_equal(tacit_portable_cholesky(2, not_positive, 1, 2), 2);
}

static void eigenvalues_are_those_of_lapack(void **state) {
    double a[ROOM], b[ROOM], kept[ROOM], values[MOST], others[MOST], vectors[ROOM];
    (void)state;
    for (int n = 1; n <= MOST; n++) {
        fill(a, ROOM);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++) a[i * n + j] = a[j * n + i];
        memcpy(b, a, sizeof a), memcpy(kept, a, sizeof a);
        assert_int_equal(tacit_portable_eigen(n, a, values, vectors), 0);
        assert_int_equal(LAPACKE_dsyevd(LAPACK_ROW_MAJOR, 'N', 'U', n, b, n, others), 0);
        same(values, others, (size_t)n, 1e-12);
        for (int k = 0; k < n; k++)
            for (int i = 0; i < n; i++) {
                double product = tacit_portable_dot(n, kept + i * n, vectors + k * n);
                assert_true(fabs(product - values[k] * vectors[k * n + i]) < 1e-12);
                double unit = tacit_portable_dot(n, vectors + k * n, vectors + i * n);
                assert_true(fabs(unit - (i == k)) < 1e-12);
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_blas),
        cmocka_unit_test(vectors_are_those_of_blas),
        cmocka_unit_test(triangles_are_those_of_lapack),
        cmocka_unit_test(eigenvalues_are_those_of_lapack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
