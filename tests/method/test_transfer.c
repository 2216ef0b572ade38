/*
 * dpiw and dphtl: the certificate of the hypotheses' weights, the sensitivities that a schema proves and
 * their replay on random and adversarial neighbours, prices, what the target learns, and what its audits
 * find.
 *
 * Chance: seeds are fixed and printed; a sound subject of an audit is called broken with probability at most
 * 1e-10.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/audit/audit.h"
#include "lab/simulate.h"
#include "method/transfer/transfer.h"

static const uint64_t SEED = 20241;

/* ---- weights of hypotheses ---- */

enum { POINTS = 300, SOURCES = 4 };

typedef struct mixture {
    double source[SOURCES][POINTS], target[POINTS];
    const double *sources[SOURCES];
} mixture;

/* Random positive weights of mean 1; the target mixes them as `true_weights` says. */
static void make_mixture(mixture *out, const double *true_weights, uint64_t seed) {
    tacit_stream stream = tacit_stream_from_seed(seed);
    memset(out->target, 0, sizeof out->target);
    for (size_t k = 0; k < SOURCES; k++) {
        double sum = 0;
        for (size_t i = 0; i < POINTS; i++) sum += out->source[k][i] = exp(3 * tacit_stream_unit(&stream));
        for (size_t i = 0; i < POINTS; i++) {
            out->source[k][i] *= POINTS / sum;
            out->target[i] += true_weights[k] * out->source[k][i];
        }
        out->sources[k] = out->source[k];
    }
}

static void the_weights_of_an_exact_mixture_are_found(void **state) {
    (void)state;
    static const double wanted[][SOURCES] = { { 0.5, 0, 0, 0.5 },
                                              { 0.25, 0.25, 0.25, 0.25 },
                                              { 0, 1, 0, 0 } };
    for (size_t c = 0; c < 3; c++) {
        mixture one;
        double weights[SOURCES], gap, sum = 0;
        tacit_error error = TACIT_ERROR_INIT;
        make_mixture(&one, wanted[c], SEED + c);
        CHECK_OK(transfer_mixture(weights, SOURCES, POINTS, one.target, one.sources, &gap, &error), error);
        assert_true(gap <= 1e-6);
        for (size_t k = 0; k < SOURCES; k++) {
            CHECK_NEAR(weights[k], wanted[c][k], 0.01);
            sum += weights[k];
        }
        CHECK_NEAR(sum, 1, 1e-12);
    }
}

static double divergence(const mixture *one, const double *weights) {
    double value = 0;
    for (size_t i = 0; i < POINTS; i++) {
        double m = 0;
        for (size_t k = 0; k < SOURCES; k++) m += weights[k] * one->source[k][i];
        value += one->target[i] * log(one->target[i] / m) / POINTS;
    }
    return value;
}

/* No point of the simplex is better by more than the certificate says, also where the target is no
 * mixture. */
static void the_certificate_bounds_what_any_weights_could_gain(void **state) {
    (void)state;
    mixture one, other;
    double weights[SOURCES], gap;
    tacit_error error = TACIT_ERROR_INIT;
    make_mixture(&one, (const double[]){ 0.4, 0.6, 0, 0 }, SEED);
    make_mixture(&other, (const double[]){ 0, 0, 0.5, 0.5 }, SEED + 9);
    memcpy(one.target, other.target, sizeof one.target);
    CHECK_OK(transfer_mixture(weights, SOURCES, POINTS, one.target, one.sources, &gap, &error), error);
    double reached = divergence(&one, weights);
    tacit_stream stream = tacit_stream_from_seed(SEED);
    for (size_t trial = 0; trial < 2000; trial++) {
        double tried[SOURCES], sum = 0;
        for (size_t k = 0; k < SOURCES; k++) sum += tried[k] = -log(tacit_stream_unit(&stream) + 1e-300);
        for (size_t k = 0; k < SOURCES; k++) tried[k] /= sum;
        assert_true(divergence(&one, tried) >= reached - gap - 1e-12);
    }
}

/* Of a mean of known length with noise of known variance, the share that is no noise: 1 without noise, 0
 * where noise would make it as long. */
static void the_share_of_a_mean_that_is_no_noise_is_found(void **state) {
    (void)state;
    enum { SIZE = 4000 };
    static double one[SIZE], two[SIZE], mean[SIZE];
    double *theta[] = { one, two };
    const double weights[] = { 0.25, 0.75 };
    for (size_t j = 0; j < SIZE; j++) {
        one[j] = j % 2 == 0 ? 3 : -1;
        two[j] = 1;
    }
    assert_true(transfer_mean(mean, SIZE, 2, weights, theta, 0) == 1);
    CHECK_NEAR(mean[0], 1.5, 1e-12);
    CHECK_NEAR(mean[1], 0.5, 1e-12);
    CHECK_NEAR(transfer_mean(mean, SIZE, 2, weights, theta, 0.25), 0.8, 1e-12); /* 1.25 a coordinate */
    assert_true(transfer_mean(mean, SIZE, 2, weights, theta, 1.25) <= 1e-12);
    assert_true(transfer_mean(mean, SIZE, 2, weights, theta, 100) == 0);
    memset(one, 0, sizeof one);
    memset(two, 0, sizeof two);
    assert_true(transfer_mean(mean, SIZE, 2, weights, theta, 1) == 0);
}

/* ---- sensitivities ---- */

static tacit_schema *schema_of(const char *columns, bool intercept) {
    char text[256];
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    int length = snprintf(text, sizeof text,
                          "label: {name: y, classes: [a, b]}\ncolumns:\n%sintercept: %s\nrows: unit\n",
                          columns, intercept ? "yes" : "no");
    CHECK_OK(tacit_schema_parse(&schema, text, (size_t)length, "schema", &error), error);
    return schema;
}

static const char numbers[] =
    "  - {name: u, kind: number, low: 0, high: 1}\n  - {name: v, kind: number, low: 0, high: 1}\n";
static const char texts[] = "  - {name: u, kind: text, hash: 40}\n";

static double constant_of(const tacit_schema *schema, const char *name, const char *value, size_t features) {
    tacit_plan plan = { .method = tacit_method_find("dpiw"),
                        .epsilon = 1,
                        .lambda = 1,
                        .features = features,
                        .classes = 2,
                        .parties = 1,
                        .minimum_rows = 10,
                        .schema = schema };
    tacit_error error = TACIT_ERROR_INIT;
    if (name != NULL) CHECK_OK(tacit_plan_set(&plan, name, value, &error), error);
    CHECK_OK(tacit_plan_set(&plan, "lambda_iw", "10", &error), error);
    return dpiw_sensitivity(&plan, 1000) * 1000 * 10; /* times n lambda */
}

static void the_constant_is_the_smallest_that_the_schema_proves(void **state) {
    (void)state;
    tacit_schema *plain = schema_of(numbers, false), *with = schema_of(numbers, true),
                 *words = schema_of(texts, false), *words_with = schema_of(texts, true);
    CHECK_NEAR(constant_of(NULL, NULL, NULL, 40), 2, 1e-4);
    CHECK_NEAR(constant_of(plain, NULL, NULL, 2), 2, 1e-4);
    CHECK_NEAR(constant_of(with, NULL, NULL, 3), sqrt(2), 1e-4);
    CHECK_NEAR(constant_of(words, NULL, NULL, 40), sqrt(2), 1e-4);
    CHECK_NEAR(constant_of(words_with, NULL, NULL, 41), 1, 1e-4);
    CHECK_NEAR(constant_of(words, "project", "public:4", 40), 2, 1e-4);
    CHECK_NEAR(constant_of(words, "calibration", "paper", 40), sqrt(40), 1e-4);
    CHECK_NEAR(constant_of(plain, "calibration", "paper", 2), 2, 1e-4); /* sqrt(2) would be too little */
    tacit_schema_free(plain);
    tacit_schema_free(with);
    tacit_schema_free(words);
    tacit_schema_free(words_with);
}

/* What the maker of pairs varies. */
typedef struct kind_of_rows {
    bool positive, intercept;
    tacit_schema *schema;
    double strongest; /* n lambda: small makes the pull of one row show */
} kind_of_rows;

enum { ROWS = 12, WIDTH = 4 };

static void random_row(double *row, const kind_of_rows *kind, tacit_stream *stream) {
    double square = 0;
    for (size_t j = 0; j < WIDTH; j++) {
        row[j] = (kind->positive ? 1 : 2) * tacit_stream_unit(stream) - (kind->positive ? 0 : 1);
        if (tacit_stream_unit(stream) < 0.4) row[j] = 0;
        square += row[j] * row[j];
    }
    if (square == 0) row[0] = square = 1;
    for (size_t j = 0; j < WIDTH; j++)
        row[j] *= (kind->intercept ? M_SQRT1_2 : 1) * (1 - 1e-12) / sqrt(square);
    if (kind->intercept) row[WIDTH] = M_SQRT1_2 * (1 - 1e-12);
}

/* Every third pair is adversarial: the replaced row jumps from one axis to another, or to its opposite. */
static tacit_status random_pair(void *context, size_t number, tacit_pair *out, tacit_error *error) {
    static const char *const classes[] = { "0", "1" };
    const kind_of_rows *kind = context;
    tacit_stream root = tacit_stream_from_seed(SEED), stream = tacit_stream_fork(&root, "pair", number, 0);
    size_t width = WIDTH + kind->intercept;
    tacit_audit_setup setup = { .epsilon = 1, .lambda = 1 };
    TACIT_TRY(tacit_audit_plan(&out->plan, tacit_method_find("dpiw"), &setup, error));
    TACIT_TRY(tacit_plan_set(&out->plan, "lambda_iw", number % 2 == 0 ? "1" : "0.1", error));
    out->plan.features = width;
    out->plan.parties = 1;
    out->plan.minimum_rows = ROWS;
    out->plan.schema = kind->schema;
    out->statistic = TACIT_STATISTIC_MODEL;
    TACIT_TRY(tacit_dataset_create(&out->data[0], ROWS, width, classes, 2, error));
    for (size_t i = 0; i < ROWS; i++) random_row(out->data[0]->dense.values + i * width, kind, &stream);
    TACIT_TRY(tacit_pair_copy(&out->data[1], out->data[0], error));
    random_row(out->data[1]->dense.values, kind, &stream);
    if (number % 3 == 0) {
        double *x = out->data[0]->dense.values, *y = out->data[1]->dense.values,
               length = kind->intercept ? M_SQRT1_2 : 1;
        for (size_t j = 0; j < WIDTH; j++) x[j] = y[j] = 0;
        x[0] = length * (1 - 1e-12);
        y[kind->positive ? 1 : 0] = (kind->positive ? 1 : -1) * length * (1 - 1e-12);
    }
    TACIT_TRY(tacit_dataset_create(&out->auxiliary[0], 5, width, classes, 2, error));
    for (size_t i = 0; i < 5; i++) random_row(out->auxiliary[0]->dense.values + i * width, kind, &stream);
    tacit_split *split = TACIT_NEW(tacit_split, 1);
    if (split == NULL) return tacit_fail_memory(error);
    out->split = split;
    *split = (tacit_split){ 1, TACIT_NEW(size_t, 2), TACIT_NEW(uint32_t, ROWS), 0 };
    if (split->start == NULL || split->index == NULL) return tacit_fail_memory(error);
    split->start[1] = ROWS;
    for (size_t i = 0; i < ROWS; i++) split->index[i] = (uint32_t)i;
    return TACIT_OK;
}

/* The rounding of the fit aside, slopes near one half leave half of each constant: within two of the
 * bound. */
static void no_pair_moves_more_than_declared(void **state) {
    (void)state;
    tacit_schema *schemas[] = { NULL, NULL, schema_of(texts, false), schema_of(texts, true) };
    print_message("# seed %llu\n", (unsigned long long)SEED);
    for (int c = 0; c < 4; c++) {
        kind_of_rows kind = { .positive = c >= 2, .intercept = c % 2 == 1, .schema = schemas[c] };
        if (c == 1) kind.schema = schemas[1] = schema_of(numbers, true);
        tacit_replay result;
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(tacit_replay_run(&result, random_pair, &kind, 120, SEED, NULL, &error), error);
        print_message("# kind %d: %.4f of the declared %.4f, pair %zu\n", c, result.ratio, result.declared,
                      result.pair);
        assert_true(result.ratio <= 1);
        assert_true(result.ratio >= 0.45);
    }
    for (int c = 0; c < 4; c++) tacit_schema_free(schemas[c]);
}

static void audits_hold_and_come_near(void **state) {
    (void)state;
    static const char *const names[] = { "dpiw", "dphtl" };
    for (size_t i = 0; i < 2; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_audit audit = { .setup = { .epsilon = 3 }, .runs = 2500, .confidence = 1 - 1e-10, .seed = 5 };
        tacit_audit_result result;
        CHECK_OK(tacit_auditable_require(&audit.subject, names[i], &error), error);
        CHECK_OK(tacit_audit_run(&result, &audit, &error), error);
        print_message("# %s: at least %.4f of 3\n", names[i], result.epsilon_lower);
        assert_false(result.broken);
        assert_true(result.epsilon_lower > 1.0);
    }
}

/* ---- prices ---- */

static void rows_used_twice_cost_twice(void **state) {
    (void)state;
    static const struct {
        const char *labelled;
        double epsilon, delta;
    } cases[] = { { "0.4", 0.5, 1e-6 }, { "1", 1, 2e-6 } };
    for (size_t i = 0; i < 2; i++) {
        tacit_plan plan = { .method = tacit_method_find("dphtl"),
                            .epsilon = 0.5,
                            .delta = 1e-6,
                            .lambda = 0.1,
                            .features = 3,
                            .classes = 2,
                            .parties = 2,
                            .minimum_rows = 10 };
        tacit_prices prices = { .event = { .count = 0 } };
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(tacit_plan_set(&plan, "labelled", cases[i].labelled, &error), error);
        CHECK_OK(tacit_plan_price(&plan, &prices, &error), error);
        CHECK_NEAR(prices.charged.epsilon, cases[i].epsilon, 0);
        CHECK_NEAR(prices.charged.delta, cases[i].delta, 0);
    }
}

/* ---- what the target learns ---- */

enum { EACH = 200, TARGET_ROWS = 200, TESTS = 300, PUBLIC = 120, PARTS = 3, DIMENSIONS = 6 };

/* Source k lies around its own axis 3 + k, and its classes part along axis k: a target like source 0 learns
 * from it, and the others tell it nothing. */
static void fill_row(tacit_dataset *data, size_t row, size_t source, tacit_stream *stream) {
    double *x = data->dense.values + row * DIMENSIONS, square = 0;
    int32_t label = tacit_stream_unit(stream) < 0.5;
    for (size_t j = 0; j < DIMENSIONS; j++) x[j] = 0.3 * (2 * tacit_stream_unit(stream) - 1);
    x[3 + source] += 0.8;
    x[source] += label == 1 ? 0.35 : -0.35;
    for (size_t j = 0; j < DIMENSIONS; j++) square += x[j] * x[j];
    for (size_t j = 0; j < DIMENSIONS; j++) x[j] *= (1 - 1e-12) / sqrt(square);
    data->label[row] = label;
}

static double accuracy_of(const char *model, double epsilon, const char *project) {
    static const char *const classes[] = { "0", "1" };
    tacit_stream stream = tacit_stream_from_seed(SEED);
    tacit_dataset *data = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    size_t total = PARTS * EACH + TARGET_ROWS + TESTS + PUBLIC, start[PARTS + 1] = { 0 };
    uint32_t *index = TACIT_NEW(uint32_t, total);
    CHECK_OK(tacit_dataset_create(&data, total, DIMENSIONS, classes, 2, &error), error);
    for (size_t i = 0; i < total; i++) {
        index[i] = (uint32_t)i;
        size_t source = i < PARTS * EACH ? i / EACH : i < total - PUBLIC ? 0 : i % PARTS;
        fill_row(data, i, source, &stream);
    }
    for (size_t k = 0; k < PARTS; k++) start[k + 1] = (k + 1) * EACH;
    tacit_split split = { PARTS, start, index, 0 };
    const tacit_method *method = tacit_method_find("dphtl");
    tacit_setting_value settings[] = { { "model", model }, { "project", project }, { "labelled", "0.5" } };
    tacit_run run;
    tacit_simulation simulation = { .dataset = data,
                                    .split = &split,
                                    .target = tacit_dataset_subset(data, index + PARTS * EACH, TARGET_ROWS),
                                    .test =
                                        tacit_dataset_subset(data, index + PARTS * EACH + TARGET_ROWS, TESTS),
                                    .auxiliary = tacit_dataset_subset(data, index + total - PUBLIC, PUBLIC),
                                    .methods = &method,
                                    .method_count = 1,
                                    .epsilons = &epsilon,
                                    .epsilon_count = 1,
                                    .lambda = 0.02,
                                    .settings = settings,
                                    .setting_count = 3,
                                    .trials = 1,
                                    .seed = SEED };
    CHECK_OK(tacit_simulate(&simulation, &run, NULL, &error), error);
    print_message("# %s, epsilon %g, project %s: %.3f\n", model, epsilon, project, run.accuracy.mean);
    if (isfinite(epsilon) && strcmp(model, "weak") != 0) CHECK_NEAR(run.charged.epsilon, epsilon, 1e-9);
    tacit_dataset_free(data);
    free(index);
    return run.accuracy.mean;
}

static void the_target_learns_from_the_source_that_is_like_it(void **state) {
    (void)state;
    double weak = accuracy_of("weak", INFINITY, "none"), whole = accuracy_of("target", INFINITY, "none");
    double transfer = accuracy_of("dphtl", INFINITY, "none"),
           average = accuracy_of("average", INFINITY, "none");
    assert_true(whole > weak);
    assert_true(transfer > weak && transfer > average - 0.02);
    assert_true(accuracy_of("sources", INFINITY, "none") < transfer); /* their mean: two know nothing */
    assert_true(accuracy_of("source", INFINITY, "none") > 0.7);
    assert_true(accuracy_of("soft", INFINITY, "none") > 0.5 && accuracy_of("pphtl", INFINITY, "none") > 0.5);
    assert_true(accuracy_of("dphtl", INFINITY, "public:6") > transfer - 0.05);
}

/* However much noise, the prior that knows it ends near what the target could do alone. */
static void noise_does_not_mislead(void **state) {
    (void)state;
    assert_true(accuracy_of("dphtl", 1e-3, "none") >= accuracy_of("weak", 1, "none") - 0.05);
}

static void a_run_without_a_target_says_so(void **state) {
    (void)state;
    tacit_session session = { .plan = &(tacit_plan){
                                  .method = tacit_method_find("dphtl"), .features = 2, .classes = 2 } };
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(session.plan->method->coordinate(&session, &outcome, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "the option 'target'"));
}

/* A source is held to the grid on which it may say a hypothesis and a density: what lies beyond either is of
 * no use. */
static void a_source_beyond_its_grid_is_of_no_use(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_plan plan = { .method = tacit_method_find("dphtl"),
                        .epsilon = 0.5,
                        .delta = 1e-6,
                        .lambda = 0.1,
                        .features = 3,
                        .classes = 2,
                        .parties = 2,
                        .minimum_rows = 10 };
    CHECK_OK(plan.method->check(&plan, &error), error);
    for (size_t k = 0; k < 5; k++) {
        int64_t theta[3] = { 5, -5, 0 }, beta[3] = { 0, 1, -1 };
        if (k == 1 || k == 2) theta[2] = k == 1 ? (int64_t)1 << 53 : INT64_MIN;
        if (k == 3 || k == 4) beta[0] = k == 3 ? (int64_t)1 << 53 : INT64_MIN;
        tacit_message message = TACIT_MESSAGE_INIT;
        CHECK_OK(tacit_message_add_integers(&message, "hypothesis", theta, 3, &error), error);
        CHECK_OK(tacit_message_add_integers(&message, "density", beta, 3, &error), error);
        CHECK_OK(tacit_message_add_numbers(&message, "variance", (double[]){ 1 }, 1, &error), error);
        assert_int_equal(plan.method->handlers->usable(&plan, &message, NULL),
                         k == 0 ? TACIT_OK : TACIT_PROTOCOL);
        tacit_message_clear(&message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_weights_of_an_exact_mixture_are_found),
        cmocka_unit_test(the_certificate_bounds_what_any_weights_could_gain),
        cmocka_unit_test(the_share_of_a_mean_that_is_no_noise_is_found),
        cmocka_unit_test(the_constant_is_the_smallest_that_the_schema_proves),
        cmocka_unit_test(no_pair_moves_more_than_declared),
        cmocka_unit_test(audits_hold_and_come_near),
        cmocka_unit_test(rows_used_twice_cost_twice),
        cmocka_unit_test(the_target_learns_from_the_source_that_is_like_it),
        cmocka_unit_test(noise_does_not_mislead),
        cmocka_unit_test(a_run_without_a_target_says_so),
        cmocka_unit_test(a_source_beyond_its_grid_is_of_no_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
