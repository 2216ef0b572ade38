/* In place of LAPACKE's header where there is no OpenBLAS, as cblas.h beside it. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "num/portable/cblas.h"

typedef int lapack_int;
enum { LAPACK_ROW_MAJOR = 101, LAPACK_COL_MAJOR = 102 };
enum { LAPACK_WORK_MEMORY_ERROR = -1010, LAPACK_TRANSPOSE_MEMORY_ERROR = -1011 };

/* Is the triangle the one below the diagonal when memory is read row by row? */
static inline bool portable_is_low(int order, char triangle) {
    return (order == LAPACK_ROW_MAJOR) == (triangle == 'L');
}

static inline void LAPACK_dpotrf(const char *triangle, const lapack_int *n, double *a, const lapack_int *lda,
                                 lapack_int *info) {
    *info =
        *triangle == 'L' ? tacit_portable_cholesky(*n, a, 1, *lda) : tacit_portable_cholesky(*n, a, *lda, 1);
}

static inline void LAPACK_dpotrs(const char *triangle, const lapack_int *n, const lapack_int *count,
                                 const double *a, const lapack_int *lda, double *b, const lapack_int *ldb,
                                 lapack_int *info) {
    for (int i = 0; i < *count; i++)
        tacit_portable_backsolve(*n, a, *triangle == 'L' ? 1 : *lda, *triangle == 'L' ? *lda : 1,
                                 b + (long)i * *ldb);
    *info = 0;
}

static inline lapack_int LAPACKE_dpotrf(int order, char triangle, lapack_int n, double *a, lapack_int lda) {
    return portable_is_low(order, triangle) ? tacit_portable_cholesky(n, a, lda, 1)
                                            : tacit_portable_cholesky(n, a, 1, lda);
}

/* Columns first, one right side. */
static inline lapack_int LAPACKE_dposv(int order, char triangle, lapack_int n, lapack_int count, double *a,
                                       lapack_int lda, double *b, lapack_int ldb) {
    assert(order == LAPACK_COL_MAJOR);
    (void)order;
    lapack_int info = 0;
    LAPACK_dpotrf(&triangle, &n, a, &lda, &info);
    if (info == 0) LAPACK_dpotrs(&triangle, &n, &count, a, &lda, b, &ldb, &info);
    return info;
}

/* Eigenvalues first to last (from 1) in ascending order to `values`; vectors, where they are wanted, one
 * after the other to `vectors`. The matrix is lost. */
static inline lapack_int portable_eigen(bool low, lapack_int n, double *a, lapack_int lda, lapack_int first,
                                        lapack_int last, double *values, double *vectors) {
    const size_t size = (size_t)n * (size_t)n;
    double *room = calloc(2 * size + (size_t)n + 1, sizeof *room);
    if (room == NULL) return LAPACK_WORK_MEMORY_ERROR;
    double *found = room + size, *all = found + n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            room[(long)i * n + j] = room[(long)j * n + i] = low ? a[(long)i * lda + j] : a[(long)j * lda + i];
    const int info = tacit_portable_eigen(n, room, found, vectors != NULL ? all : NULL);
    const size_t count = (size_t)(last - first + 1);
    memcpy(values, found + first - 1, count * sizeof *values);
    if (vectors != NULL)
        memcpy(vectors, all + (size_t)(first - 1) * (size_t)n, count * (size_t)n * sizeof *vectors);
    free(room);
    return info;
}

/* Vectors only with columns first and no gaps between them. */
static inline lapack_int LAPACKE_dsyevd(int order, char job, char triangle, lapack_int n, double *a,
                                        lapack_int lda, double *values) {
    assert(job == 'N' || (order == LAPACK_COL_MAJOR && lda == n));
    return portable_eigen(portable_is_low(order, triangle), n, a, lda, 1, n, values, job == 'V' ? a : NULL);
}

static inline lapack_int LAPACKE_dsyev(int order, char job, char triangle, lapack_int n, double *a,
                                       lapack_int lda, double *values) {
    return LAPACKE_dsyevd(order, job, triangle, n, a, lda, values);
}

static inline lapack_int LAPACKE_dsyevr(int order, char job, char range, char triangle, lapack_int n,
                                        double *a, lapack_int lda, double low, double high, lapack_int first,
                                        lapack_int last, double tolerance, lapack_int *found, double *values,
                                        double *vectors, lapack_int ldz, lapack_int *support) {
    assert(range == 'I' && (job == 'N' || (order == LAPACK_COL_MAJOR && ldz == n)));
    (void)range, (void)low, (void)high, (void)tolerance, (void)ldz, (void)support;
    *found = last - first + 1;
    return portable_eigen(portable_is_low(order, triangle), n, a, lda, first, last, values,
                          job == 'V' ? vectors : NULL);
}
