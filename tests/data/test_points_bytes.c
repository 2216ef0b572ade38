/* Auxiliary points as bytes: the same points, the same bytes; nothing else is read. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "data/points_bytes.h"
#include "rand/stream.h"

enum { HEADER = 40 };

static tacit_buffer encode(const tacit_rows *rows) {
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_points_encode(rows, &out, &error), error);
    return out;
}

static tacit_dataset *decode(const tacit_buffer *bytes) {
    tacit_dataset *points = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_points_decode(&points, bytes->bytes, bytes->length, &error), error);
    return points;
}

static void refuses(const tacit_buffer *bytes) {
    tacit_dataset *points = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_points_decode(&points, bytes->bytes, bytes->length, &error), TACIT_INPUT);
    assert_null(points);
    assert_true(error.text[0] != 0);
}

/* 3 points of 4 columns: dense when full, sparse with one number each. */
static tacit_matrix some_points(bool full) {
    tacit_matrix matrix;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_matrix_create(&matrix, 3, 4, &error), error);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 4; j++)
            if (full || i == j) matrix.values[i * 4 + j] = 0.1 * (double)(i + 1) + 0.01 * (double)j;
    return matrix;
}

static void equal_rows(const tacit_rows *first, const tacit_rows *second) {
    double a[4], b[4];
    assert_int_equal(first->count, second->count);
    assert_int_equal(first->cols, 4);
    assert_int_equal(second->cols, 4);
    for (size_t i = 0; i < first->count; i++) {
        tacit_rows_copy(first, i, a);
        tacit_rows_copy(second, i, b);
        assert_memory_equal(a, b, sizeof a);
    }
}

static void what_is_written_is_read(void **state) {
    (void)state;
    for (int full = 0; full < 2; full++) {
        tacit_matrix matrix = some_points(full);
        tacit_rows rows = tacit_rows_of_matrix(&matrix);
        tacit_buffer bytes = encode(&rows);
        assert_int_equal(bytes.length, HEADER + (full ? 3 * 4 * 8 : 3 * 4 + 3 * 12));
        tacit_dataset *points = decode(&bytes);
        assert_true(points->is_sparse == !full);
        assert_null(points->label);
        tacit_rows read = tacit_dataset_rows(points);
        equal_rows(&rows, &read);
        tacit_buffer again = encode(&read);
        assert_int_equal(again.length, bytes.length);
        assert_memory_equal(again.bytes, bytes.bytes, bytes.length);
        tacit_buffer_clear(&again);
        tacit_buffer_clear(&bytes);
        tacit_dataset_free(points);
        tacit_matrix_clear(&matrix);
    }
}

/* However the numbers are kept, and in whichever view: the hash is of the points alone. */
static void the_bytes_do_not_tell_how_the_points_were_kept(void **state) {
    (void)state;
    static const double zero[] = { 0.0, -0.0 };
    tacit_matrix matrix = some_points(false);
    tacit_rows rows = tacit_rows_of_matrix(&matrix);
    tacit_buffer bytes = encode(&rows);
    for (size_t z = 0; z < 2; z++) {
        tacit_csr csr;
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(tacit_csr_create(&csr, 3, 4, 6, &error), error);
        for (size_t i = 0; i < 3; i++) { /* stored backwards, each row with a 0 spelt out */
            size_t row = 2 - i;
            csr.start[i] = 2 * i;
            csr.column[2 * i] = (uint32_t)row;
            csr.value[2 * i] = matrix.values[row * 4 + row];
            csr.column[2 * i + 1] = 3;
            csr.value[2 * i + 1] = zero[z];
        }
        csr.start[3] = 6;
        uint32_t order[] = { 2, 1, 0 };
        tacit_rows stored = tacit_rows_of_csr(&csr), view = tacit_rows_select(&stored, order, 3);
        tacit_buffer same = encode(&view);
        assert_int_equal(same.length, bytes.length);
        assert_memory_equal(same.bytes, bytes.bytes, bytes.length);
        tacit_buffer_clear(&same);
        tacit_csr_clear(&csr);
    }
    tacit_buffer_clear(&bytes);
    tacit_matrix_clear(&matrix);
}

static void put(tacit_buffer *bytes, size_t at, const void *value, size_t length) {
    memcpy(bytes->bytes + at, value, length);
}

static void damage_is_refused(void **state) {
    (void)state;
    static const double wrong[] = { NAN, INFINITY, -0.0, 2, 1e300 };
    for (int full = 0; full < 2; full++) {
        tacit_matrix matrix = some_points(full);
        tacit_rows rows = tacit_rows_of_matrix(&matrix);
        tacit_buffer good = encode(&rows);
        for (size_t length = 0; length < good.length; length++) {
            tacit_buffer cut = { good.bytes, length, good.length, 0 };
            refuses(&cut);
        }
        uint8_t end = 0;
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(tacit_buffer_append(&good, &end, 1, &error), error);
        refuses(&good); /* a byte too many */
        good.length--;
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
            double before;
            memcpy(&before, good.bytes + good.length - 8, 8);
            put(&good, good.length - 8, &wrong[i], 8);
            refuses(&good);
            put(&good, good.length - 8, &before, 8);
        }
        for (size_t at = 0; at < HEADER; at++) {
            if (!full && at >= 24 && at < 32) continue; /* sparse points may have empty columns at the end */
            for (unsigned bit = 0; bit < 8; bit++) {
                good.bytes[at] ^= (uint8_t)(1u << bit);
                refuses(&good);
                good.bytes[at] ^= (uint8_t)(1u << bit);
            }
        }
        tacit_dataset_free(decode(&good));
        tacit_buffer_clear(&good);
        tacit_matrix_clear(&matrix);
    }
}

static void sparse_columns_ascend_and_stay_in_range(void **state) {
    (void)state;
    tacit_matrix matrix;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_matrix_create(&matrix, 1, 8, &error), error);
    matrix.values[2] = matrix.values[5] = 0.5;
    tacit_rows rows = tacit_rows_of_matrix(&matrix);
    tacit_buffer good = encode(&rows);
    static const uint32_t columns[][2] = { { 5, 2 }, { 2, 2 }, { 2, 8 }, { 2, UINT32_MAX } };
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        put(&good, HEADER + 4, columns[i], 8);
        refuses(&good);
    }
    uint32_t right[] = { 2, 5 }, counts[] = { 1, 3, UINT32_MAX };
    put(&good, HEADER + 4, right, 8);
    tacit_dataset_free(decode(&good));
    for (size_t i = 0; i < 3; i++) {
        put(&good, HEADER, &counts[i], 4);
        refuses(&good);
    }
    tacit_buffer_clear(&good);
    tacit_matrix_clear(&matrix);
}

static void points_outside_the_ball_are_not_written(void **state) {
    (void)state;
    tacit_matrix matrix = some_points(true);
    tacit_rows rows = tacit_rows_of_matrix(&matrix), none = tacit_rows_slice(&rows, 0, 0);
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    matrix.values[7] = 1.5;
    assert_int_equal(tacit_points_encode(&rows, &out, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "point 2"));
    assert_int_equal(tacit_points_encode(&none, &out, &error), TACIT_INPUT);
    assert_int_equal(out.length, 0);
    tacit_matrix_clear(&matrix);
}

/* Any damage is refused, or gives points that are written as they were read. */
static void random_damage_is_refused_or_harmless(void **state) {
    (void)state;
    tacit_stream draw = tacit_stream_from_seed(7);
    print_message("# seed 7\n");
    for (int full = 0; full < 2; full++) {
        tacit_matrix matrix = some_points(full);
        tacit_rows rows = tacit_rows_of_matrix(&matrix);
        tacit_buffer good = encode(&rows);
        for (int trial = 0; trial < 5000; trial++) {
            size_t at = (size_t)tacit_stream_below(&draw, good.length);
            uint8_t before = good.bytes[at];
            good.bytes[at] = (uint8_t)tacit_stream_below(&draw, 256);
            tacit_dataset *points = NULL;
            if (tacit_points_decode(&points, good.bytes, good.length, NULL) == TACIT_OK) {
                tacit_rows read = tacit_dataset_rows(points);
                tacit_buffer again = encode(&read);
                assert_int_equal(again.length, good.length);
                assert_memory_equal(again.bytes, good.bytes, good.length);
                tacit_buffer_clear(&again);
                tacit_dataset_free(points);
            }
            good.bytes[at] = before;
        }
        tacit_buffer_clear(&good);
        tacit_matrix_clear(&matrix);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(the_bytes_do_not_tell_how_the_points_were_kept),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(sparse_columns_ascend_and_stay_in_range),
        cmocka_unit_test(points_outside_the_ball_are_not_written),
        cmocka_unit_test(random_damage_is_refused_or_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
