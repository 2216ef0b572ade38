/* Principal components against what they are by definition. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include "failing.h"
#include "num/pca.h"

enum { ROWS = 700, COLS = 9 };

static uint64_t mixer = 1;

static double uniform(void) {
    mixer = mixer * 6364136223846793005u + 1442695040888963407u;
    return (double)(mixer >> 11) * 0x1p-53 - 0.5;
}

/* Correlated columns of different scales around a mean that is not 0. */
static void fill(tacit_matrix *matrix) {
    assert_int_equal(tacit_matrix_create(matrix, ROWS, COLS, NULL), TACIT_OK);
    for (size_t i = 0; i < ROWS; i++) {
        double common = uniform();
        for (size_t j = 0; j < COLS; j++)
            matrix->values[i * COLS + j] =
                3 + (double)j + common * (double)j + uniform() * (1 + (double)(j * j % 7));
    }
}

static double dot(const double *a, const double *b, size_t count) {
    double sum = 0;
    for (size_t j = 0; j < count; j++) sum += a[j] * b[j];
    return sum;
}

static void axes_are_orthonormal_eigenvectors(void **state) {
    (void)state;
    tacit_matrix matrix = TACIT_MATRIX_INIT;
    tacit_pca pca = TACIT_PCA_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    fill(&matrix);
    tacit_rows rows = tacit_rows_of_matrix(&matrix);
    CHECK_OK(tacit_pca_fit(&pca, &rows, COLS, &error), error);
    double covariance[COLS][COLS] = { { 0 } }, sum = 0;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLS; j++)
            for (size_t k = 0; k < COLS; k++)
                covariance[j][k] += (matrix.values[i * COLS + j] - pca.mean[j]) *
                                    (matrix.values[i * COLS + k] - pca.mean[k]) / ROWS;
    for (size_t a = 0; a < COLS; a++) {
        const double *axis = pca.axes + a * COLS;
        for (size_t b = 0; b <= a; b++) CHECK_NEAR(dot(axis, pca.axes + b * COLS, COLS), a == b, 1e-12);
        for (size_t j = 0; j < COLS; j++)
            CHECK_NEAR(dot(covariance[j], axis, COLS), pca.variance[a] * axis[j], 1e-11 * pca.variance[0]);
        if (a > 0) assert_true(pca.variance[a] <= pca.variance[a - 1]);
        double largest = 0;
        for (size_t j = 0; j < COLS; j++)
            if (fabs(axis[j]) > fabs(largest)) largest = axis[j];
        assert_true(largest > 0);
        sum += pca.variance[a];
    }
    CHECK_NEAR(sum, pca.total, 1e-11 * sum);
    tacit_pca_clear(&pca);
    tacit_matrix_clear(&matrix);
}

/* Coordinates have the variance that their axis states and mean 0; fewer axes are the first of more. */
static void projected_rows_have_the_stated_variance(void **state) {
    (void)state;
    tacit_matrix matrix = TACIT_MATRIX_INIT;
    tacit_pca pca = TACIT_PCA_INIT, whole = TACIT_PCA_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    static double scratch[ROWS * COLS], out[ROWS * 3];
    fill(&matrix);
    tacit_rows rows = tacit_rows_of_matrix(&matrix);
    CHECK_OK(tacit_pca_fit(&pca, &rows, 3, &error), error);
    CHECK_OK(tacit_pca_fit(&whole, &rows, COLS, &error), error);
    tacit_pca_project(&pca, &rows, 0, ROWS, scratch, out);
    for (size_t a = 0; a < 3; a++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < ROWS; i++) {
            mean += out[3 * i + a] / ROWS;
            square += out[3 * i + a] * out[3 * i + a] / ROWS;
        }
        CHECK_NEAR(mean, 0, 1e-11);
        CHECK_NEAR(square, pca.variance[a], 1e-11 * pca.variance[0]);
        for (size_t j = 0; j < COLS; j++) CHECK_NEAR(pca.axes[a * COLS + j], whole.axes[a * COLS + j], 1e-10);
    }
    tacit_pca_project(&pca, &rows, 10, 1, scratch, scratch + COLS);
    for (size_t a = 0; a < 3; a++) CHECK_NEAR(scratch[COLS + a], out[30 + a], 1e-12);
    tacit_pca_clear(&pca);
    tacit_pca_clear(&whole);
    tacit_matrix_clear(&matrix);
}

static void sparse_rows_give_the_same(void **state) {
    (void)state;
    tacit_matrix matrix = TACIT_MATRIX_INIT;
    tacit_csr csr = TACIT_CSR_INIT;
    tacit_pca dense = TACIT_PCA_INIT, sparse = TACIT_PCA_INIT;
    fill(&matrix);
    assert_int_equal(tacit_csr_create(&csr, ROWS, COLS, ROWS * COLS, NULL), TACIT_OK);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < COLS; j++) {
            if (uniform() < 0) matrix.values[i * COLS + j] = 0;
            if (matrix.values[i * COLS + j] == 0) continue;
            csr.column[csr.start[i + 1]] = (uint32_t)j;
            csr.value[csr.start[i + 1]++] = matrix.values[i * COLS + j];
        }
        if (i + 1 < ROWS) csr.start[i + 2] = csr.start[i + 1];
    }
    tacit_rows a = tacit_rows_of_matrix(&matrix), b = tacit_rows_of_csr(&csr);
    assert_int_equal(tacit_pca_fit(&dense, &a, 4, NULL), TACIT_OK);
    assert_int_equal(tacit_pca_fit(&sparse, &b, 4, NULL), TACIT_OK);
    for (size_t j = 0; j < 4 * COLS; j++) CHECK_NEAR(dense.axes[j], sparse.axes[j], 1e-11);
    tacit_pca_clear(&dense);
    tacit_pca_clear(&sparse);
    tacit_csr_clear(&csr);
    tacit_matrix_clear(&matrix);
}

static void impossible_requests_are_refused(void **state) {
    (void)state;
    double values[] = { 1, 2, 3, (double)NAN };
    tacit_matrix matrix = { 2, 2, values };
    tacit_rows rows = tacit_rows_of_matrix(&matrix), none = tacit_rows_slice(&rows, 0, 0),
               first = tacit_rows_slice(&rows, 0, 1);
    tacit_pca pca = TACIT_PCA_INIT;
    assert_int_equal(tacit_pca_fit(&pca, &rows, 0, NULL), TACIT_USAGE);
    assert_int_equal(tacit_pca_fit(&pca, &rows, 3, NULL), TACIT_USAGE);
    assert_int_equal(tacit_pca_fit(&pca, &none, 1, NULL), TACIT_INPUT);
    assert_int_equal(tacit_pca_fit(&pca, &rows, 1, NULL), TACIT_INPUT);
    assert_null(pca.axes);
    assert_int_equal(tacit_pca_fit(&pca, &first, 2, NULL),
                     TACIT_OK); /* one row: no variance, still two axes */
    CHECK_NEAR(pca.total, 0, 0);
    tacit_pca_clear(&pca);
    tacit_pca_clear(NULL);
}

static void each_failed_allocation_is_reported(void **state) {
    (void)state;
    tacit_matrix matrix = TACIT_MATRIX_INIT;
    fill(&matrix);
    tacit_rows rows = tacit_rows_of_matrix(&matrix);
    bool failed = true;
    for (long at = 1; failed; at++) {
        tacit_pca pca = TACIT_PCA_INIT;
        fail_allocation(at);
        tacit_status status = tacit_pca_fit(&pca, &rows, 2, NULL);
        failed = allocation_failed();
        assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
        tacit_pca_clear(&pca);
    }
    tacit_matrix_clear(&matrix);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_are_orthonormal_eigenvectors),
        cmocka_unit_test(projected_rows_have_the_stated_variance),
        cmocka_unit_test(sparse_rows_give_the_same),
        cmocka_unit_test(impossible_requests_are_refused),
        cmocka_unit_test(each_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests_name("pca", tests, NULL, NULL);
}
