/* Sums over rows in parts: the same bits on any number of threads, and the sums that plain loops give. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/row_sums.h"

enum { WIDTH = 3, MOST = 100001 };
static const double W[WIDTH] = { 0.4, -1.2, 0.7 };

static double *values;
static int32_t *labels;

static int make(void **state) {
    (void)state;
    values = TACIT_NEW(double, MOST *WIDTH);
    labels = TACIT_NEW(int32_t, MOST);
    for (size_t i = 0; i < MOST; i++) {
        for (size_t j = 0; j < WIDTH; j++) values[i * WIDTH + j] = sin((double)(3 * i + 7 * j + 1)) / 2;
        labels[i] = (int32_t)(i * i % 7 < 3);
    }
    return 0;
}

static int unmake(void **state) {
    (void)state;
    free(values);
    free(labels);
    return 0;
}

static tacit_view rows_of(size_t count) {
    return (tacit_view){ .rows = { .count = count, .cols = WIDTH, .dense = values, .stride = WIDTH },
                         .label = labels };
}

static tacit_row_sums how(tacit_pool *pool) {
    return (tacit_row_sums){ .family = tacit_family_find("logistic"),
                             .weight = TACIT_WEIGH_CURVATURE,
                             .width = WIDTH,
                             .w = W,
                             .response = tacit_row_class,
                             .pool = pool };
}

enum { LENGTH = 1 + WIDTH + WIDTH * (WIDTH + 1) / 2 };

static void plain(size_t count, double out[LENGTH]) {
    memset(out, 0, LENGTH * sizeof *out);
    for (size_t i = 0; i < count; i++) {
        const double *x = values + i * WIDTH;
        double t = 0, loss, slope, curvature;
        size_t at = 1 + WIDTH;
        for (size_t j = 0; j < WIDTH; j++) t += x[j] * W[j];
        double y = labels[i];
        tacit_family_logistic.loss.rows(tacit_kernels_choose(), 0, 1, &y, &t, &loss, &slope, &curvature);
        out[0] += loss;
        for (size_t j = 0; j < WIDTH; j++) out[1 + j] += slope * x[j];
        for (size_t j = 0; j < WIDTH; j++)
            for (size_t k = 0; k <= j; k++) out[at++] += curvature * x[j] * x[k];
    }
}

static void threads_do_not_change_a_bit(void **state) {
    (void)state;
    static const size_t counts[] = { 0, 1, 257, 65535, 65536, MOST };
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        tacit_view rows = rows_of(counts[c]);
        double exact[LENGTH], alone[LENGTH], out[LENGTH];
        plain(counts[c], exact);
        tacit_row_sums one = how(NULL);
        CHECK_OK(tacit_row_sums_make(alone, &one, &rows, &error), error);
        for (size_t j = 0; j < LENGTH; j++) CHECK_NEAR(alone[j], exact[j], 1e-11 * (1 + (double)counts[c]));
        for (unsigned threads = 2; threads <= 3; threads++) {
            tacit_pool *pool = NULL;
            CHECK_OK(tacit_pool_create(&pool, threads, &error), error);
            tacit_row_sums many = how(pool);
            CHECK_OK(tacit_row_sums_make(out, &many, &rows, &error), error);
            assert_memory_equal(out, alone, sizeof out);
            tacit_pool_free(pool);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_change_a_bit),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
