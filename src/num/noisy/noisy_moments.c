#include "num/noisy/noisy_moments.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/blas.h"

size_t tacit_moments_length(size_t d) { return d * (d + 1) / 2; }

void tacit_moments_pack(double *out, const double *matrix, size_t d) {
    for (size_t i = 0; i < d; i++) {
        *out++ = matrix[i * d + i];
        for (size_t j = i + 1; j < d; j++) *out++ = matrix[i * d + j] * M_SQRT2;
    }
}

void tacit_moments_unpack(double *out, const double *packed, size_t d) {
    for (size_t i = 0; i < d; i++) {
        out[i * d + i] = *packed++;
        for (size_t j = i + 1; j < d; j++) out[i * d + j] = out[j * d + i] = *packed++ * M_SQRT1_2;
    }
}

/* out = sum over eigenvectors of (max(e, least) + lift) v v^T; `scaled` has room for them. */
static void rebuild(double *out, const double *values, const double *vectors, double *scaled, double least,
                    double lift, size_t d) {
    for (size_t k = 0; k < d; k++) {
        double root = sqrt(fmax(values[k], least) + lift);
        for (size_t j = 0; j < d; j++) scaled[k * d + j] = root * vectors[k * d + j];
    }
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)d, (int)d, 1, scaled, (int)d, 0, out, (int)d);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < i; j++) out[i * d + j] = out[j * d + i];
}

tacit_status tacit_moments_eigen(double *values, double *vectors, const double *matrix, size_t d,
                                 tacit_error *error) {
    tacit_blas_one_thread();
    memcpy(vectors, matrix, d * d * sizeof *vectors);
    /* By columns: eigenvector k is then the k-th run of d numbers. */
    lapack_int info =
        LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'U', (lapack_int)d, vectors, (lapack_int)d, values);
    if (info == LAPACK_WORK_MEMORY_ERROR) return tacit_fail_memory(error);
    return info == 0 ? TACIT_OK
                     : tacit_fail(error, TACIT_NOT_CONVERGED,
                                  "the eigenvalues of %zu noisy columns were not found", d);
}

tacit_status tacit_moments_lift(double *const *out, const double *least, const double *lift, size_t count,
                                const double *matrix, size_t d, tacit_error *error) {
    double *values = TACIT_NEW(double, d), *vectors = TACIT_NEW(double, d *d),
           *scaled = TACIT_NEW(double, d *d);
    tacit_status status = TACIT_OK;
    if (values == NULL || vectors == NULL || scaled == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(tacit_moments_eigen(values, vectors, matrix, d, error));
    for (size_t i = 0; i < count; i++) rebuild(out[i], values, vectors, scaled, least[i], lift[i], d);
cleanup:
    free(scaled);
    free(vectors);
    free(values);
    return status;
}

tacit_status tacit_moments_clean(double *out, double *values, double noise, const double *matrix, size_t d,
                                 tacit_error *error) {
    double *cleaned = values + d, *vectors = TACIT_NEW(double, d *d), *scaled = TACIT_NEW(double, d *d);
    const double square = noise * noise;
    tacit_status status = TACIT_OK;
    if (vectors == NULL || scaled == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(tacit_moments_eigen(values, vectors, matrix, d, error));
    for (size_t i = 0; i < d; i++) {
        cleaned[i] = values[i];
        for (size_t j = 0; j < d && square > 0; j++) {
            double apart = values[i] - values[j];
            cleaned[i] -= square * apart / (apart * apart + square);
        }
        cleaned[i] = fmax(cleaned[i], 0);
    }
    rebuild(out, cleaned, vectors, scaled, 0, 0, d);
cleanup:
    free(scaled);
    free(vectors);
    return status;
}

double tacit_moments_product(const double *matrix, const double *x, const double *y, size_t d) {
    double sum = 0;
    for (size_t i = 0; i < d; i++) sum += x[i] * cblas_ddot((int)d, matrix + i * d, 1, y, 1);
    return sum;
}

tacit_status tacit_moments_solve(double *b, const double *matrix, double factor, double ridge, double *room,
                                 size_t d, tacit_error *error) {
    tacit_blas_one_thread();
    for (size_t i = 0; i < d * d; i++) room[i] = factor * matrix[i];
    for (size_t i = 0; i < d; i++) room[i * d + i] += ridge;
    lapack_int n = (lapack_int)d, info = LAPACKE_dposv(LAPACK_COL_MAJOR, 'U', n, 1, room, n, b, n);
    if (info == LAPACK_WORK_MEMORY_ERROR) return tacit_fail_memory(error);
    if (info != 0)
        return tacit_fail(error, TACIT_NOT_CONVERGED, "the moments of %zu columns with ridge %g are singular",
                          d, ridge);
    return TACIT_OK;
}
