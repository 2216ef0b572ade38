/*
 * Packed rows are those of their view, in its order, scaled and with their labels; none counts with more than
 * norm 1, whatever numbers it has; each follows from its own row alone.
 */
#include "check.h"

#include <float.h>

#include "data/packed_rows.h"

enum { ROWS = 7, COLS = 5 };

typedef struct world {
    double values[ROWS * COLS];
    int32_t label[ROWS];
    uint32_t index[3];
    tacit_view view;
} world;

static void make_world(world *out) {
    *out = (world){ .index = { 6, 0, 3 } };
    for (size_t i = 0; i < ROWS * COLS; i++) out->values[i] = 0.1 * (double)(i % 9) - 0.3;
    for (size_t i = 0; i < ROWS; i++) out->label[i] = (int32_t)i;
    out->view = (tacit_view){
        .rows = { .count = 3, .cols = COLS, .dense = out->values, .stride = COLS, .index = out->index },
        .label = out->label,
        .classes = ROWS
    };
}

static const tacit_packing twice = { 2, 3 };

static tacit_packed_rows *pack(const world *from) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_packed_rows *rows = NULL;
    CHECK_OK(tacit_packed_rows_create(&rows, &from->view, &twice, NULL, &error), error);
    return rows;
}

static void rows_are_those_of_the_view_in_its_order(void **state) {
    (void)state;
    world self;
    make_world(&self);
    tacit_packed_rows *rows = pack(&self);
    assert_int_equal(rows->stride, 8);
    for (size_t i = 0; i < 3; i++) {
        double square = 0;
        assert_int_equal(tacit_view_label(&rows->view, i), self.index[i]);
        for (size_t j = 0; j < rows->stride; j++) {
            double expected = j < COLS ? self.values[self.index[i] * COLS + j] * (j == COLS - 1 ? 3 : 2) : 0;
            assert_true(rows->x[i * rows->stride + j] == (float)expected);
            square += pow(rows->x[i * rows->stride + j], 2);
        }
        CHECK_NEAR(rows->factor[i], square > 1 ? 1 / sqrt(square) : 1, 1e-15);
    }
    assert_true(tacit_packed_rows_are(rows, &self.view, &twice));
    assert_false(tacit_packed_rows_are(rows, &self.view, &(tacit_packing){ 2, 2 }));
    self.view.rows.count = 2;
    assert_false(tacit_packed_rows_are(rows, &self.view, &twice));
    tacit_packed_rows_free(rows);
}

static void no_row_counts_with_more_than_norm_one(void **state) {
    (void)state;
    static const double odd[] = { 1, 1e30, 1e200, DBL_MAX, INFINITY, -INFINITY, NAN, 1e-300, 0 };
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
        world self;
        make_world(&self);
        tacit_packed_rows *before = pack(&self);
        for (size_t j = 0; j < COLS; j++) self.values[j] = odd[k]; /* the second of the view */
        tacit_packed_rows *rows = pack(&self);
        double square = 0;
        for (size_t j = 0; j < rows->stride; j++) {
            double x = rows->factor[1] * (double)rows->x[rows->stride + j];
            square += x * x;
            assert_true(rows->x[j] == before->x[j] &&
                        rows->x[2 * rows->stride + j] == before->x[2 * rows->stride + j]);
        }
        assert_true(square <= 1 + 1e-14);
        assert_true(rows->factor[0] == before->factor[0] && rows->factor[2] == before->factor[2]);
        tacit_packed_rows_free(before);
        tacit_packed_rows_free(rows);
    }
}

static void sparse_rows_and_too_many_are_not_packed(void **state) {
    (void)state;
    world self;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_packed_rows *rows = NULL;
    make_world(&self);
    self.view.rows.count = TACIT_PACKED_MOST / 8 / sizeof(float) + 1;
    assert_false(tacit_rows_can_be_packed(&self.view));
    assert_int_equal(tacit_packed_rows_create(&rows, &self.view, &twice, NULL, &error), TACIT_USAGE);
    self.view.rows.count = 3;
    assert_true(tacit_rows_can_be_packed(&self.view));
    self.view.rows.dense = NULL;
    assert_false(tacit_rows_can_be_packed(&self.view));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_the_view_in_its_order),
        cmocka_unit_test(no_row_counts_with_more_than_norm_one),
        cmocka_unit_test(sparse_rows_and_too_many_are_not_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
