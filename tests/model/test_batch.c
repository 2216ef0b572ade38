/* Clipped sums of a batch: right to single precision, and with the sensitivity that is claimed, to the last
 * bit. */
#include "classes.h"

#include <string.h>

#include "model/clipped_batch.h"
#include "model/optimiser.h"
#include "num/kernel/layer.h"

enum { ROWS = 257, FEATURES = 21 };

static const tacit_activation activations[] = { TACIT_ACTIVATION_TANH, TACIT_ACTIVATION_SIGMOID,
                                                TACIT_ACTIVATION_RELU };

typedef struct bench {
    classes_set set;
    tacit_network network;
    size_t size;
    double *parameters, *sum, *other, *gradient;
    tacit_network_space *space;
    tacit_pool *pool;
    tacit_batch *batch;
    tacit_view rows;
} bench;

static void set_up(bench *out, size_t classes, const char *hidden, tacit_activation activation, bool sparse,
                   unsigned threads, const double *class_weight) {
    *out = (bench){ .set = classes_clouds(ROWS, FEATURES, classes, 0.5, 71) };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(72);
    static double gain[TACIT_NETWORK_LAYERS];
    for (size_t l = 0; l < TACIT_NETWORK_LAYERS; l++) gain[l] = 4;
    out->rows = classes_view(&out->set, sparse);
    CHECK_OK(tacit_network_parse(&out->network, hidden, "7x3", activation, FEATURES, classes, &error), error);
    out->size = tacit_network_size(&out->network);
    out->parameters = calloc(out->size, sizeof(double));
    out->sum = calloc(out->size, sizeof(double));
    out->other = calloc(out->size, sizeof(double));
    out->gradient = calloc(out->size, sizeof(double));
    tacit_network_start(&out->network, gain, &stream, out->parameters);
    for (size_t l = 0; l < out->network.layers; l++)
        for (size_t u = 0; u < tacit_network_weight_rows(&out->network, l); u++)
            out->parameters[tacit_network_biases_at(&out->network, l) + u] = 0.1 * (double)(u % 5);
    /* The batch works on parameters in single precision: so does what it is compared with. */
    for (size_t j = 0; j < out->size; j++) out->parameters[j] = (double)(float)out->parameters[j];
    CHECK_OK(tacit_network_space_create(&out->space, &out->network, &error), error);
    CHECK_OK(tacit_pool_create(&out->pool, threads, &error), error);
    CHECK_OK(tacit_batch_create(&out->batch, &out->network, class_weight, out->pool, &error), error);
    tacit_batch_load(out->batch, out->parameters);
}

static void tear_down(bench *b) {
    tacit_batch_free(b->batch);
    tacit_pool_free(b->pool);
    tacit_network_space_free(b->space);
    free(b->parameters);
    free(b->sum);
    free(b->other);
    free(b->gradient);
    classes_clear(&b->set);
}

static double norm(const double *x, size_t count) {
    double sum = 0;
    for (size_t j = 0; j < count; j++) sum += x[j] * x[j];
    return sqrt(sum);
}

/* Row i's own gradient in double precision. */
static void gradient_of(bench *b, size_t i, double weight) {
    tacit_view row = tacit_view_slice(&b->rows, i, 1);
    memset(b->gradient, 0, b->size * sizeof(double));
    tacit_network_backward(&b->network, b->parameters, &row, b->space, b->gradient);
    for (size_t j = 0; j < b->size; j++) b->gradient[j] *= weight;
}

static void check_sums(size_t classes, const char *hidden, tacit_activation activation, bool sparse) {
    const double weight[] = { 1, 2.5, 0.5 }, bound = 0.7, clamp = 0.01;
    bench b;
    set_up(&b, classes, hidden, activation, sparse, 2, weight);
    tacit_error error = TACIT_ERROR_INIT;
    double norms[ROWS], *clipped = calloc(b.size, sizeof(double)), *clamped = calloc(b.size, sizeof(double)),
                        *plain = calloc(b.size, sizeof(double));
    size_t beyond = 0;
    CHECK_OK(tacit_batch_norms(b.batch, &b.rows, norms, &error), error);
    for (size_t i = 0; i < ROWS; i++) {
        gradient_of(&b, i, weight[tacit_view_label(&b.rows, i)]);
        double length = norm(b.gradient, b.size), factor = fmin(1 / bound, 1 / length);
        CHECK_NEAR(norms[i], length, 5e-4 * fmax(1, length));
        beyond += length > bound;
        for (size_t j = 0; j < b.size; j++) {
            plain[j] += b.gradient[j];
            clipped[j] += factor * b.gradient[j];
            clamped[j] += fmax(-1, fmin(1, b.gradient[j] / clamp));
        }
    }
    assert_in_range(beyond, 10, ROWS); /* or the bound tests nothing */
    CHECK_OK(tacit_batch_sum_plain(b.batch, &b.rows, b.sum, &error), error);
    for (size_t j = 0; j < b.size; j++) CHECK_NEAR(b.sum[j], plain[j], 1e-2);
    CHECK_OK(tacit_batch_sum(b.batch, &b.rows, bound, b.sum, &error), error);
    for (size_t j = 0; j < b.size; j++) CHECK_NEAR(b.sum[j], clipped[j], 1e-2);
    CHECK_OK(tacit_batch_sum_clamped(b.batch, &b.rows, clamp, b.sum, &error), error);
    for (size_t j = 0; j < b.size; j++) CHECK_NEAR(b.sum[j], clamped[j], 0.1);
    free(clipped);
    free(clamped);
    free(plain);
    tear_down(&b);
}

static void sums_are_those_of_single_rows(void **state) {
    (void)state;
    for (size_t a = 0; a < TACIT_ACTIVATIONS; a++)
        for (size_t classes = 2; classes <= 3; classes++) {
            check_sums(classes, "", activations[a], false);
            check_sums(classes, "17", activations[a], classes == 3);
            check_sums(classes, "9,5,33", activations[a], classes == 2);
            check_sums(classes, "conv:3x2/2,4", activations[a], classes == 2);
            check_sums(classes, a == 0 ? "gru:4" : "conv:2x3,pool:2", activations[a], classes == 3);
        }
}

/* The sum less that without a row is that row's own contribution, exactly, and no longer than 1: on any
 * number of threads, wherever the row is. */
static void a_row_moves_a_sum_by_its_own_contribution_only(void **state) {
    (void)state;
    static const char *const layers[] = { "19,6", "conv:3x3,pool:2,4", "gru:4" };
    for (size_t a = 0; a < TACIT_ACTIVATIONS * sizeof layers / sizeof *layers; a++)
        for (int clamped = 0; clamped < 2; clamped++) {
            bench b;
            set_up(&b, 3, layers[a / TACIT_ACTIVATIONS], activations[a % TACIT_ACTIVATIONS], false, 1 + a % 2,
                   NULL);
            tacit_error error = TACIT_ERROR_INIT;
            tacit_status (*add)(tacit_batch *, const tacit_view *, double, double *, tacit_error *) =
                clamped ? tacit_batch_sum_clamped : tacit_batch_sum;
            const double bound = clamped ? 0.01 : 0.3;
            CHECK_OK(add(b.batch, &b.rows, bound, b.sum, &error), error);
            for (size_t without = 0; without < ROWS; without += 1 + without / 3) {
                uint32_t index[ROWS];
                size_t count = 0;
                for (uint32_t i = 0; i < ROWS; i++)
                    if (i != without) index[count++] = i;
                tacit_view rest = b.rows, one = tacit_view_slice(&b.rows, without, 1);
                rest.rows = tacit_rows_select(&b.rows.rows, index, count);
                CHECK_OK(add(b.batch, &rest, bound, b.other, &error), error);
                CHECK_OK(add(b.batch, &one, bound, b.gradient, &error), error);
                for (size_t j = 0; j < b.size; j++) assert_true(b.sum[j] == b.other[j] + b.gradient[j]);
                if (!clamped)
                    assert_true(norm(b.gradient, b.size) <= 1);
                else
                    for (size_t j = 0; j < b.size; j++) assert_true(fabs(b.gradient[j]) <= 1);
            }
            tear_down(&b);
        }
}

/* All variants of the kernels treat a row alike, whatever its place. */
static void kernels_do_not_look_at_other_rows(void **state) {
    (void)state;
    enum { INNER = 37, COLS = 32, COUNT = 24 };
    const tacit_layer_kernels *kernels = tacit_layer_kernels_choose();
    float x[COUNT * INNER], w[INNER * COLS], out[COUNT * COLS], again[COUNT * COLS];
    for (size_t i = 0; i < COUNT * INNER; i++) x[i] = (float)sin((double)i);
    for (size_t i = 0; i < INNER * COLS; i++) w[i] = (float)cos((double)i);
    kernels->multiply(COUNT, INNER, COLS, x, INNER, w, NULL, out, COLS);
    for (size_t shift = 1; shift < 12; shift++) {
        kernels->multiply(12, INNER, COLS, x + shift * INNER, INNER, w, NULL, again, COLS);
        assert_memory_equal(again, out + shift * COLS, sizeof(float) * 12 * COLS);
    }
}

/* Parameters so large that nothing is finite any more: such a row contributes nothing, and no NaN. */
static void what_is_not_finite_contributes_nothing(void **state) {
    (void)state;
    bench b;
    set_up(&b, 2, "8", TACIT_ACTIVATION_RELU, false, 1, NULL);
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t j = 0; j < b.size; j++) b.parameters[j] = 1e300;
    tacit_batch_load(b.batch, b.parameters);
    CHECK_OK(tacit_batch_sum(b.batch, &b.rows, 1, b.sum, &error), error);
    for (size_t j = 0; j < b.size; j++) assert_true(b.sum[j] == 0);
    CHECK_OK(tacit_batch_sum_clamped(b.batch, &b.rows, 1, b.sum, &error), error);
    for (size_t j = 0; j < b.size; j++) assert_true(b.sum[j] == 0);
    assert_int_equal(tacit_batch_sum(b.batch, &b.rows, 0, b.sum, &error), TACIT_USAGE);
    tear_down(&b);
}

static void an_empty_batch_sums_to_zero(void **state) {
    (void)state;
    bench b;
    set_up(&b, 2, "8", TACIT_ACTIVATION_TANH, false, 2, NULL);
    tacit_error error = TACIT_ERROR_INIT;
    tacit_view none = tacit_view_slice(&b.rows, 0, 0);
    b.sum[0] = 7;
    CHECK_OK(tacit_batch_sum(b.batch, &none, 1, b.sum, &error), error);
    assert_true(norm(b.sum, b.size) == 0);
    tear_down(&b);
}

static void layers_are_read_from_a_list(void **state) {
    (void)state;
    static const char *const wrong[] = { "0", "5,", ",5", "5,,5", "x", "5 6", "-3", "70000", "65536,65536" };
    tacit_network network;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_network_parse(&network, "50,20", "", TACIT_ACTIVATION_RELU, 264, 2, &error), error);
    assert_int_equal(network.layers, 3);
    assert_int_equal(tacit_network_size(&network), 265 * 50 + 51 * 20 + 21);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(tacit_network_parse(&network, wrong[i], "", TACIT_ACTIVATION_RELU, 264, 2, NULL),
                         TACIT_USAGE);
}

/* Both rules find the bottom of a bowl, and the schedules end where they should. */
static void optimisers_descend(void **state) {
    (void)state;
    for (int rule = TACIT_RULE_SGD; rule <= TACIT_RULE_ADAM; rule++)
        for (int schedule = TACIT_SCHEDULE_CONSTANT; schedule <= TACIT_SCHEDULE_ROOT; schedule++) {
            tacit_optimiser optimiser = { rule, schedule, rule == TACIT_RULE_ADAM ? 0.3 : 0.05, 0.9, 400 };
            double at[2] = { 3, -2 }, memory[4] = { 0 };
            assert_int_equal(tacit_optimiser_memory(&optimiser, 2), rule == TACIT_RULE_ADAM ? 4 : 2);
            for (uint64_t t = 0; t < 400; t++) {
                double gradient[2] = { at[0] - 1, 2 * (at[1] - 1) };
                tacit_optimiser_step(&optimiser, t, gradient, memory, at, 2);
            }
            CHECK_NEAR(at[0], 1, 0.05);
            CHECK_NEAR(at[1], 1, 0.05);
            assert_true(tacit_optimiser_rate(&optimiser, 0) == optimiser.rate);
            if (schedule == TACIT_SCHEDULE_LINEAR || schedule == TACIT_SCHEDULE_COSINE)
                CHECK_NEAR(tacit_optimiser_rate(&optimiser, 200), optimiser.rate / 2, 1e-12);
        }
}

/* Beyond what doubles hold exactly, sums go to integers; what was there before does not matter. */
static void a_large_batch_is_the_sum_of_small_ones(void **state) {
    (void)state;
    enum { MANY = 5000, PIECE = 1250 };
    static uint32_t index[MANY];
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        bench b;
        tacit_error error = TACIT_ERROR_INIT;
        set_up(&b, 3, "7", TACIT_ACTIVATION_TANH, false, threads, NULL);
        for (size_t i = 0; i < MANY; i++) index[i] = (uint32_t)(i * 31 % ROWS);
        tacit_view many = b.rows;
        many.rows.index = index;
        many.rows.count = MANY;
        CHECK_OK(tacit_batch_sum_clamped(b.batch, &b.rows, 1, b.other, &error), error);
        memset(b.sum, 0, b.size * sizeof *b.sum);
        for (size_t first = 0; first < MANY; first += PIECE) {
            tacit_view piece = tacit_view_slice(&many, first, PIECE);
            CHECK_OK(tacit_batch_sum(b.batch, &piece, 0.5, b.other, &error), error);
            for (size_t j = 0; j < b.size; j++) b.sum[j] += b.other[j];
        }
        for (int again = 0; again < 2; again++) {
            CHECK_OK(tacit_batch_sum(b.batch, &many, 0.5, b.other, &error), error);
            for (size_t j = 0; j < b.size; j++) CHECK_NEAR(b.other[j], b.sum[j], 1e-9);
        }
        tear_down(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_single_rows),
        cmocka_unit_test(a_row_moves_a_sum_by_its_own_contribution_only),
        cmocka_unit_test(kernels_do_not_look_at_other_rows),
        cmocka_unit_test(what_is_not_finite_contributes_nothing),
        cmocka_unit_test(an_empty_batch_sums_to_zero),
        cmocka_unit_test(a_large_batch_is_the_sum_of_small_ones),
        cmocka_unit_test(layers_are_read_from_a_list),
        cmocka_unit_test(optimisers_descend),
    };
    return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
