/* Views of dense and sparse rows behave alike. */
#include "problems.h"

static void views_agree(const tacit_rows *dense, const tacit_rows *sparse, const double *w) {
    double a[16], b[16];
    assert_int_equal(dense->count, sparse->count);
    assert_int_equal(dense->cols, sparse->cols);
    for (size_t i = 0; i < dense->count; i++) {
        assert_int_equal(tacit_rows_stored(dense, i), tacit_rows_stored(sparse, i));
        tacit_rows_copy(dense, i, a);
        tacit_rows_copy(sparse, i, b);
        assert_memory_equal(a, b, dense->cols * sizeof *a);
        double dot = 0, squares = 0;
        for (size_t j = 0; j < dense->cols; j++) {
            dot += a[j] * w[j];
            squares += a[j] * a[j];
        }
        CHECK_NEAR(tacit_rows_dot(dense, i, w), dot, 1e-15);
        CHECK_NEAR(tacit_rows_dot(sparse, i, w), dot, 1e-15);
        CHECK_NEAR(tacit_rows_norm(dense, i), sqrt(squares), 1e-15);
        CHECK_NEAR(tacit_rows_norm(sparse, i), sqrt(squares), 1e-15);
        tacit_rows_add(dense, i, -1, a);
        tacit_rows_add(sparse, i, -1, b);
        for (size_t j = 0; j < dense->cols; j++) assert_true(a[j] == 0 && b[j] == 0);
    }
}

static void dense_and_sparse_views_hold_the_same_rows(void **state) {
    (void)state;
    recipe r = {
        .loss = &tacit_family_logistic.loss, .rows = 20, .cols = 13, .classes = 2, .sparse = true, .lambda = 1
    };
    made m;
    make(&m, &r, 3);
    double *w = random_vector(&(uint64_t){ 4 }, 16, -1, 1);
    tacit_rows dense = tacit_rows_of_matrix(&m.dense), sparse = tacit_rows_of_csr(&m.csr);
    views_agree(&dense, &sparse, w);
    tacit_rows dense_part = tacit_rows_slice(&dense, 5, 7), sparse_part = tacit_rows_slice(&sparse, 5, 7);
    assert_int_equal(tacit_rows_stored(&dense_part, 0), 5);
    views_agree(&dense_part, &sparse_part, w);
    uint32_t index[] = { 19, 0, 7, 7 };
    tacit_rows dense_chosen = tacit_rows_select(&dense, index, 4),
               sparse_chosen = tacit_rows_select(&sparse, index, 4);
    views_agree(&dense_chosen, &sparse_chosen, w);
    tacit_rows dense_last = tacit_rows_slice(&dense_chosen, 2, 2),
               sparse_last = tacit_rows_slice(&sparse_chosen, 2, 2);
    assert_int_equal(tacit_rows_stored(&dense_last, 0), 7);
    views_agree(&dense_last, &sparse_last, w);
    free(w);
    unmake(&m);
}

static void a_matrix_too_large_for_memory_is_refused(void **state) {
    (void)state;
    tacit_matrix matrix = TACIT_MATRIX_INIT;
    tacit_csr csr = TACIT_CSR_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_matrix_create(&matrix, SIZE_MAX / 4, 3, &error), TACIT_LIMIT);
    assert_null(matrix.values);
    assert_int_equal(tacit_csr_create(&csr, SIZE_MAX, 3, 0, NULL), TACIT_LIMIT);
    assert_int_equal(tacit_csr_create(&csr, 3, (size_t)1 << 40, 0, NULL), TACIT_LIMIT);
    assert_null(csr.value);
}

static void a_new_matrix_is_zero_aligned_and_cleared_twice(void **state) {
    (void)state;
    tacit_matrix matrix = TACIT_MATRIX_INIT;
    assert_int_equal(tacit_matrix_create(&matrix, 7, 5, NULL), TACIT_OK);
    assert_int_equal((uintptr_t)matrix.values % 64, 0);
    for (size_t i = 0; i < 35; i++) assert_true(matrix.values[i] == 0);
    tacit_matrix_clear(&matrix);
    tacit_matrix_clear(&matrix);
    tacit_matrix_clear(NULL);
    tacit_csr_clear(NULL);
    assert_int_equal(tacit_matrix_create(&matrix, 0, 5, NULL), TACIT_OK);
    tacit_matrix_clear(&matrix);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_and_sparse_views_hold_the_same_rows),
        cmocka_unit_test(a_matrix_too_large_for_memory_is_refused),
        cmocka_unit_test(a_new_matrix_is_zero_aligned_and_cleared_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
