#include "num/pca.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/blas.h"

/* Rows are centered and multiplied this many at a time, in order, on one thread: the sums are always the
 * same. */
enum { BLOCK = 256 };

void tacit_pca_clear(tacit_pca *pca) {
    if (pca == NULL) return;
    free(pca->mean);
    free(pca->axes);
    free(pca->variance);
    *pca = (tacit_pca)TACIT_PCA_INIT;
}

static void copy_centered(const tacit_pca *pca, const tacit_rows *rows, size_t begin, size_t count,
                          double *out) {
    for (size_t i = 0; i < count; i++) {
        double *row = out + i * pca->features;
        tacit_rows_copy(rows, begin + i, row);
        for (size_t j = 0; j < pca->features; j++) row[j] -= pca->mean[j];
    }
}

/* Upper triangle, row-major, divided by the number of rows. */
static tacit_status covariance(const tacit_pca *pca, const tacit_rows *rows, double *out,
                               tacit_error *error) {
    size_t d = pca->features;
    double *block = TACIT_NEW(double, BLOCK *d);
    if (block == NULL) return tacit_fail_memory(error);
    tacit_blas_one_thread();
    for (size_t begin = 0; begin < rows->count; begin += BLOCK) {
        size_t count = rows->count - begin < BLOCK ? rows->count - begin : BLOCK;
        copy_centered(pca, rows, begin, count, block);
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)d, (int)count, 1 / (double)rows->count, block,
                    (int)d, 1, out, (int)d);
    }
    free(block);
    return TACIT_OK;
}

static void fix_sign(double *axis, size_t count) {
    size_t largest = 0;
    for (size_t j = 1; j < count; j++)
        if (fabs(axis[j]) > fabs(axis[largest]) * (1 + 1e-9)) largest = j;
    if (axis[largest] < 0)
        for (size_t j = 0; j < count; j++) axis[j] = -axis[j];
}

/* The largest eigenvalues of `matrix`, which is overwritten. LAPACK gives them in rising order. */
static tacit_status decompose(tacit_pca *pca, double *matrix, tacit_error *error) {
    lapack_int d = (lapack_int)pca->features, k = (lapack_int)pca->dimensions, found = 0;
    double *values = TACIT_NEW(double, pca->features),
           *vectors = TACIT_NEW(double, pca->features * pca->dimensions);
    lapack_int *support = TACIT_NEW(lapack_int, 2 * pca->dimensions);
    tacit_status status = TACIT_OK;
    if (values == NULL || vectors == NULL || support == NULL) TACIT_CHECK(tacit_fail_memory(error));
    /* The upper triangle by rows is the lower one by columns. */
    lapack_int info = LAPACKE_dsyevr(LAPACK_COL_MAJOR, 'V', 'I', 'L', d, matrix, d, 0, 0, d - k + 1, d, 0,
                                     &found, values, vectors, d, support);
    if (info == LAPACK_WORK_MEMORY_ERROR) TACIT_CHECK(tacit_fail_memory(error));
    if (info != 0 || found != k)
        TACIT_CHECK(tacit_fail(error, TACIT_NOT_CONVERGED, "the eigenvectors of %zu columns were not found",
                               pca->features));
    for (size_t i = 0; i < pca->dimensions; i++) {
        size_t from = pca->dimensions - 1 - i;
        double *axis = pca->axes + i * pca->features;
        memcpy(axis, vectors + from * pca->features, pca->features * sizeof *axis);
        fix_sign(axis, pca->features);
        pca->variance[i] = fmax(values[from], 0); /* rounding may give -1e-17 */
    }
cleanup:
    free(values);
    free(vectors);
    free(support);
    return status;
}

static tacit_status fit(tacit_pca *pca, const tacit_rows *rows, double *matrix, tacit_error *error) {
    for (size_t i = 0; i < rows->count; i++) tacit_rows_add(rows, i, 1 / (double)rows->count, pca->mean);
    TACIT_TRY(covariance(pca, rows, matrix, error));
    for (size_t j = 0; j < pca->features; j++) pca->total += matrix[j * pca->features + j];
    if (!isfinite(pca->total))
        return tacit_fail(error, TACIT_INPUT, "principal components need finite numbers of moderate size");
    return decompose(pca, matrix, error);
}

tacit_status tacit_pca_fit(tacit_pca *out, const tacit_rows *rows, size_t dimensions, tacit_error *error) {
    if (dimensions == 0 || dimensions > rows->cols)
        return tacit_fail(error, TACIT_USAGE, "%zu principal components of %zu columns do not exist",
                          dimensions, rows->cols);
    if (rows->count == 0) return tacit_fail(error, TACIT_INPUT, "principal components need at least one row");
    if (rows->cols > 20000)
        return tacit_fail(error, TACIT_LIMIT, "principal components of %zu columns would take too long",
                          rows->cols);
    tacit_pca pca = { .features = rows->cols, .dimensions = dimensions };
    tacit_status status = TACIT_OK;
    double *matrix = TACIT_NEW(double, pca.features *pca.features);
    pca.mean = TACIT_NEW(double, pca.features);
    pca.axes = TACIT_NEW(double, pca.features *dimensions);
    pca.variance = TACIT_NEW(double, dimensions);
    if (matrix == NULL || pca.mean == NULL || pca.axes == NULL || pca.variance == NULL)
        TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(fit(&pca, rows, matrix, error));
    *out = pca;
    pca = (tacit_pca)TACIT_PCA_INIT;
cleanup:
    free(matrix);
    tacit_pca_clear(&pca);
    return status;
}

void tacit_pca_project(const tacit_pca *pca, const tacit_rows *rows, size_t begin, size_t count,
                       double *scratch, double *out) {
    tacit_blas_one_thread();
    copy_centered(pca, rows, begin, count, scratch);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)count, (int)pca->dimensions, (int)pca->features,
                1, scratch, (int)pca->features, pca->axes, (int)pca->features, 0, out, (int)pca->dimensions);
}
