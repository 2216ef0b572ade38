/* Scores of many models on the same rows agree with one product at a time, whatever the rows are made of. */
#include "problems.h"

#include "num/scores.h"

enum { ROWS = 37, COLS = 19, MODELS = TACIT_SCORES_AT_ONCE };

typedef struct world {
    tacit_matrix dense;
    tacit_csr sparse;
    double weights[MODELS][COLS];
    const double *each[MODELS];
} world;

/* About a third of the entries are zeros, and one row has nothing else. */
static void open_world(world *self, uint64_t seed) {
    tacit_error error = TACIT_ERROR_INIT;
    size_t entries = 0;
    *self = (world){ .dense = TACIT_MATRIX_INIT, .sparse = TACIT_CSR_INIT };
    CHECK_OK(tacit_matrix_create(&self->dense, ROWS, COLS, &error), error);
    CHECK_OK(tacit_csr_create(&self->sparse, ROWS, COLS, ROWS * COLS, &error), error);
    for (size_t i = 0; i < ROWS; i++) {
        self->sparse.start[i] = entries;
        for (size_t j = 0; j < COLS; j++) {
            double value = uniform(&seed) < 0.33 || i == 5 ? 0 : 2 * uniform(&seed) - 1;
            self->dense.values[i * COLS + j] = value;
            if (value == 0) continue;
            self->sparse.column[entries] = (uint32_t)j;
            self->sparse.value[entries++] = value;
        }
    }
    self->sparse.start[ROWS] = entries;
    for (size_t m = 0; m < MODELS; m++) {
        self->each[m] = self->weights[m];
        for (size_t j = 0; j < COLS; j++) self->weights[m][j] = 2 * uniform(&seed) - 1;
    }
}

static void close_world(world *self) {
    tacit_matrix_clear(&self->dense);
    tacit_csr_clear(&self->sparse);
}

/* Rows begin..begin+count of a view against the naive product, within the promised (cols + 2) 2^-52
 * |x||w|. */
static void compare(const world *self, const tacit_rows *rows, size_t begin, size_t count, size_t models) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_weight_panel panel = TACIT_WEIGHT_PANEL_INIT;
    double out[ROWS * TACIT_SCORES_AT_ONCE];
    assert_true(count <= ROWS);
    CHECK_OK(tacit_weight_panel_create(&panel, self->each, models, COLS, &error), error);
    tacit_rows_scores(rows, begin, count, &panel, out);
    for (size_t i = 0; i < count; i++)
        for (size_t m = 0; m < TACIT_SCORES_AT_ONCE; m++) {
            const double *x = self->dense.values + tacit_rows_stored(rows, begin + i) * COLS;
            long double exact = 0, xx = 0, ww = 0;
            for (size_t j = 0; j < COLS && m < models; j++) {
                exact += (long double)x[j] * self->weights[m][j];
                xx += (long double)x[j] * x[j];
                ww += (long double)self->weights[m][j] * self->weights[m][j];
            }
            double bound = (COLS + 2) * 0x1p-52 * sqrt((double)xx) * sqrt((double)ww);
            CHECK_NEAR(out[i * TACIT_SCORES_AT_ONCE + m], (double)exact, bound);
        }
    tacit_weight_panel_clear(&panel);
}

static void compare_all(const world *self, const tacit_rows *rows) {
    static const size_t models[] = { 1, 2, 7, 31, TACIT_SCORES_AT_ONCE };
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        compare(self, rows, 0, rows->count, models[k]);
        compare(self, rows, rows->count - 1, 1, models[k]);
        compare(self, rows, 3, rows->count - 5, models[k]);
        compare(self, rows, 2, 0, models[k]);
    }
}

static void dense_and_sparse_rows_agree_with_one_product_at_a_time(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        world self;
        print_message("# seed %d\n", (int)seed);
        open_world(&self, seed);
        tacit_rows dense = tacit_rows_of_matrix(&self.dense), sparse = tacit_rows_of_csr(&self.sparse);
        compare_all(&self, &dense);
        compare_all(&self, &sparse);
        close_world(&self);
    }
}

/* Slices, and indices with runs, jumps, turns and repeats. */
static void views_in_any_order_are_scored_in_that_order(void **state) {
    (void)state;
    static const uint32_t order[] = { 4, 5, 6, 7, 30, 2, 2, 3, 36, 35, 34, 0, 1 };
    uint32_t random[ROWS];
    uint64_t chance = 9;
    for (size_t i = 0; i < ROWS; i++) random[i] = (uint32_t)(uniform(&chance) * ROWS);
    world self;
    open_world(&self, 8);
    tacit_rows whole[2] = { tacit_rows_of_matrix(&self.dense), tacit_rows_of_csr(&self.sparse) };
    for (size_t k = 0; k < 2; k++) {
        tacit_rows slice = tacit_rows_slice(&whole[k], 11, 17);
        tacit_rows chosen = tacit_rows_select(&whole[k], order, sizeof order / sizeof *order);
        tacit_rows shuffled = tacit_rows_select(&whole[k], random, ROWS);
        tacit_rows part = tacit_rows_slice(&chosen, 2, 9);
        compare_all(&self, &slice);
        compare_all(&self, &chosen);
        compare_all(&self, &shuffled);
        compare_all(&self, &part);
    }
    close_world(&self);
}

static void a_row_of_zeros_scores_zero(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_weight_panel panel = TACIT_WEIGHT_PANEL_INIT;
    double out[TACIT_SCORES_AT_ONCE];
    world self;
    open_world(&self, 3);
    CHECK_OK(tacit_weight_panel_create(&panel, self.each, MODELS, COLS, &error), error);
    tacit_rows whole[2] = { tacit_rows_of_matrix(&self.dense), tacit_rows_of_csr(&self.sparse) };
    for (size_t k = 0; k < 2; k++) {
        for (size_t m = 0; m < MODELS; m++) out[m] = NAN;
        tacit_rows_scores(&whole[k], 5, 1, &panel, out);
        for (size_t m = 0; m < MODELS; m++) assert_true(out[m] == 0);
    }
    tacit_weight_panel_clear(&panel);
    tacit_weight_panel_clear(&panel); /* an empty one too */
    tacit_weight_panel_clear(NULL);
    close_world(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_and_sparse_rows_agree_with_one_product_at_a_time),
        cmocka_unit_test(views_in_any_order_are_scored_in_that_order),
        cmocka_unit_test(a_row_of_zeros_scores_zero),
    };
    return cmocka_run_group_tests_name("scores", tests, NULL, NULL);
}
