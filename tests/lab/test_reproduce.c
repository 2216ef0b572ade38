/* Experiments: that the table is sound, that rows are prepared from public ones alone, and that a
 * reproduction is what its parts give. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "data/generate.h"
#include "data/scratch.h"
#include "failing.h"
#include "lab/reproduce/reproduce.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- the table ---- */

static void every_experiment_is_complete(void **state) {
    (void)state;
    for (size_t i = 0; tacit_experiments[i] != NULL; i++) {
        const tacit_experiment *one = tacit_experiments[i], *found = NULL;
        assert_int_equal(tacit_experiment_require(&found, one->id, NULL), TACIT_OK);
        assert_ptr_equal(found, one);
        assert_non_null(one->paper);
        assert_non_null(one->figure);
        assert_non_null(one->title);
        assert_non_null(one->differs);
        assert_non_null(one->source);
        assert_non_null(one->read);
        assert_true(one->setup_count > 0 && one->epsilon_count > 0);
        assert_true(one->quick.trials > 0 && one->quick.repeats > 0);
        assert_true(one->full.trials >= one->quick.trials && one->full.repeats >= one->quick.repeats);
        for (size_t m = 0; one->curves[m].method != NULL; m++)
            assert_non_null(tacit_method_find(one->curves[m].method));
        for (size_t p = 0; p < one->printed_count; p++) assert_true(one->printed[p].setup < one->setup_count);
        for (size_t s = 0; s < one->setup_count; s++) {
            tacit_split_plan *plan = NULL;
            assert_int_equal(tacit_split_plan_parse(&plan, one->setups[s].split, NULL), TACIT_OK);
            tacit_split_plan_free(plan);
        }
    }
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_experiment *none = NULL;
    assert_int_equal(tacit_experiment_require(&none, "hamm-fig9", &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "hamm-fig2, hamm-fig3"));
}

/* ---- files ---- */

static const tacit_data_file numbers_file = { "numbers", "lines of 3 numbers" };

static void a_missing_file_is_named_with_the_remedy(void **state) {
    scratch *place = *state;
    char path[512];
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_data_find(path, sizeof path, NULL, &numbers_file, &error), TACIT_NOT_FOUND);
    assert_non_null(strstr(error.text, "TACIT_DATA"));
    assert_non_null(strstr(error.text, "lines of 3 numbers"));
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_data_find(path, sizeof path, place->folder, &numbers_file, &error),
                     TACIT_NOT_FOUND);
    assert_non_null(strstr(error.text, place->folder));
    assert_non_null(strstr(error.text, "TACIT_DATA"));
    scratch_write(place, "numbers", "1 2 3\n", 6);
    CHECK_OK(tacit_data_find(path, sizeof path, place->folder, &numbers_file, &error), error);
    assert_string_equal(path, place->path);
    unlink(place->path);
}

static tacit_status read_text(scratch *place, const char *text, size_t skip, double **out, size_t *rows,
                              tacit_error *error) {
    scratch_write(place, "numbers", text, strlen(text));
    tacit_status status = tacit_data_numbers(out, rows, place->folder, &numbers_file, skip, 3, NULL, error);
    unlink(place->path);
    return status;
}

static void numbers_are_read_and_mistakes_have_a_line(void **state) {
    scratch *place = *state;
    double *values = NULL;
    size_t rows = 0;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(read_text(place, "a line, of words\n 1 2e1 -3.5\r\n\n4,5,6", 1, &values, &rows, &error), error);
    assert_int_equal(rows, 2);
    static const double expected[] = { 1, 20, -3.5, 4, 5, 6 };
    assert_memory_equal(values, expected, sizeof expected);
    free(values);
    static const struct {
        const char *text, *says;
    } wrong[] = { { "1 2 3\n4 5\n", ":2: 2 numbers" },
                  { "1 2 3\n4 5 6 7\n", ":2: 4 numbers" },
                  { "1 2 x\n", ":1: 'x' is not a number" },
                  { "1 nan 2\n", "'nan'" },
                  { "", "no numbers" },
                  { "1111111111111111111111111111111111111111111111111111111111111111111 1 1\n",
                    "characters" } };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        error = (tacit_error)TACIT_ERROR_INIT;
        assert_int_equal(read_text(place, wrong[i].text, 0, &values, &rows, &error), TACIT_INPUT);
        if (strstr(error.text, wrong[i].says) == NULL) fail_msg("'%s' lacks '%s'", error.text, wrong[i].says);
    }
}

/* ---- preparing ---- */

enum { ROWS = 60, FEATURES = 5 };

/* Two classes around different centers, far outside the unit ball. */
static tacit_status make_rows(tacit_material *out, const tacit_reading_context *context, tacit_error *error) {
    tacit_stream stream = context->stream;
    TACIT_TRY(tacit_generate_ball(&out->train, ROWS, FEATURES, NULL, &stream, error));
    for (size_t i = 0; i < ROWS * FEATURES; i++)
        out->train->dense.values[i] *= 10 * (double)(1 + i % FEATURES);
    return TACIT_OK;
}

static tacit_material made_rows(void) {
    tacit_material raw = TACIT_MATERIAL_INIT;
    tacit_reading_context context = { NULL, 0, tacit_stream_from_seed(3), TACIT_STRIP_NEWS, NULL };
    assert_int_equal(make_rows(&raw, &context, NULL), TACIT_OK);
    return raw;
}

static double longest(const tacit_dataset *data) {
    tacit_rows rows = tacit_dataset_rows(data);
    double most = 0;
    for (size_t i = 0; i < rows.count; i++) most = fmax(most, tacit_rows_norm(&rows, i));
    return most;
}

/* As a sparse set, every third number left out. */
static tacit_dataset *sparse_copy(const tacit_dataset *dense) {
    static const char *const classes[] = { "-1", "1" };
    tacit_row_builder builder = TACIT_ROW_BUILDER_INIT;
    tacit_dataset *out = NULL;
    for (size_t i = 0; i < dense->rows; i++) {
        for (uint32_t j = 0; j < FEATURES; j++)
            if ((i + j) % 3 != 0)
                assert_int_equal(
                    tacit_row_builder_entry(&builder, j, dense->dense.values[i * FEATURES + j], NULL),
                    TACIT_OK);
        assert_int_equal(tacit_row_builder_end_row(&builder, dense->label[i], NULL), TACIT_OK);
    }
    assert_int_equal(tacit_row_builder_finish(&out, &builder, FEATURES, classes, 2, NULL), TACIT_OK);
    assert_null(builder.value);
    return out;
}

static void prepared_rows_lie_in_the_ball(void **state) {
    (void)state;
    static const uint32_t known[] = { 3, 1, 4, 15, 9, 2, 6, 5 };
    tacit_material raw = made_rows(), sparse = { .train = sparse_copy(raw.train) };
    for (int is_sparse = 0; is_sparse < 2; is_sparse++)
        for (size_t dimensions = 0; dimensions <= 2; dimensions += 2)
            for (int scale = 0; scale < 2; scale++) {
                tacit_preparation how = { .dimensions = dimensions,
                                          .scale = (tacit_row_scale)scale,
                                          .public_rows = known,
                                          .public_count = COUNT(known) };
                tacit_material ready = TACIT_MATERIAL_INIT;
                assert_int_equal(tacit_material_prepare(&ready, is_sparse ? &sparse : &raw, &how, NULL, NULL),
                                 TACIT_OK);
                assert_int_equal(ready.train->features, dimensions > 0 ? dimensions : FEATURES);
                assert_memory_equal(ready.train->label, raw.train->label, ROWS * sizeof(int32_t));
                double most = longest(ready.train);
                assert_true(most <= 1 && most > 0.999);
                tacit_material_clear(&ready);
            }
    tacit_material_clear(&sparse);
    tacit_material_clear(&raw);
}

/* Replacing every private row changes no public one: nothing was learnt from them. */
static void private_rows_do_not_change_how_public_ones_are_prepared(void **state) {
    (void)state;
    static const uint32_t known[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    tacit_preparation how = { 2, TACIT_ROWS_BY_LARGEST, false, known, COUNT(known) };
    tacit_material raw = made_rows(), before = TACIT_MATERIAL_INIT, after = TACIT_MATERIAL_INIT;
    assert_int_equal(tacit_material_prepare(&before, &raw, &how, NULL, NULL), TACIT_OK);
    for (size_t i = COUNT(known) * FEATURES; i < ROWS * FEATURES; i++)
        raw.train->dense.values[i] = 1000.0 + (double)i;
    assert_int_equal(tacit_material_prepare(&after, &raw, &how, NULL, NULL), TACIT_OK);
    assert_memory_equal(before.train->dense.values, after.train->dense.values,
                        COUNT(known) * 2 * sizeof(double));
    assert_true(longest(after.train) <= 1);
    /* Negative control: among the public ones they would. */
    how.public_count = 1;
    tacit_material_clear(&after);
    assert_int_equal(tacit_material_prepare(&after, &raw, &how, NULL, NULL), TACIT_OK);
    assert_memory_not_equal(before.train->dense.values, after.train->dense.values,
                            COUNT(known) * 2 * sizeof(double));
    tacit_material_clear(&raw);
    tacit_material_clear(&before);
    tacit_material_clear(&after);
}

/* ---- running ---- */

static const tacit_variant some_curves[] = { { .method = "batch", .lambda = 0.01 },
                                             { .method = "avg", .label = "mean", .lambda = 0.01 },
                                             { .method = NULL } };
static const tacit_setup two_setups[] = { { "M = 4", NULL, 4, "even" }, { "M = 8", NULL, 8, "even" } };
static const double two_epsilons[] = { (double)INFINITY, 1 };
static const tacit_printed some_printed[] = { { 0, "batch", (double)INFINITY, 0.9 },
                                              { 1, "vote", (double)INFINITY, 0.8 } };

static tacit_experiment small_experiment(void) {
    return (tacit_experiment){ .id = "small",
                               .paper = "Nobody",
                               .figure = "figure 0",
                               .title = "a small one",
                               .differs = "in everything",
                               .source = "made here",
                               .curves = some_curves,
                               .setups = two_setups,
                               .setup_count = 2,
                               .epsilons = two_epsilons,
                               .epsilon_count = 2,
                               .rows_each = 4,
                               .auxiliary_rows = 8,
                               .held_out_rows = 20,
                               .dimensions = 3,
                               .is_generated = true,
                               .quick = { 3, 4, 0 },
                               .full = { 3, 4, 0 },
                               .printed = some_printed,
                               .printed_count = 2,
                               .read = make_rows };
}

static tacit_reproduction *reproduce(const tacit_experiment *experiment, uint64_t seed, unsigned threads) {
    tacit_reproduce_options options = tacit_reproduce_defaults(experiment, false);
    tacit_reproduction *out = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    options.seed = seed;
    CHECK_OK(tacit_pool_create(&options.pool, threads, &error), error);
    CHECK_OK(tacit_reproduce(&out, experiment, &options, &error), error);
    tacit_pool_free(options.pool);
    return out;
}

static void findings_are_complete_and_stand_beside_what_is_printed(void **state) {
    (void)state;
    tacit_experiment experiment = small_experiment();
    tacit_reproduction *out = reproduce(&experiment, 1, 1);
    assert_int_equal(out->count, 2 * 3 + 1);
    assert_int_equal(out->train_rows, 32);
    assert_int_equal(out->auxiliary_rows, 8);
    assert_int_equal(out->test_rows, 20);
    assert_int_equal(out->features, 3);
    assert_false(out->used_private_statistics);
    const tacit_finding *batch = &out->findings[0], *noisy = &out->findings[2], *vote = &out->findings[6];
    assert_string_equal(batch->curve, "batch");
    assert_int_equal(batch->trials, 3);
    CHECK_NEAR(batch->printed, 0.9, 0);
    assert_true(batch->sd > 0); /* the rows differ from repeat to repeat */
    assert_string_equal(noisy->curve, "mean");
    assert_int_equal(noisy->trials, 12);
    assert_true(isnan(noisy->printed));
    assert_int_equal(out->findings[3].parties, 8);
    assert_string_equal(vote->curve, "vote");
    assert_int_equal(vote->trials, 0);
    CHECK_NEAR(vote->printed, 0.8, 0);
    tacit_reproduction_free(out);
}

static void the_seed_decides_and_threads_do_not(void **state) {
    (void)state;
    tacit_experiment experiment = small_experiment();
    tacit_reproduction *first = reproduce(&experiment, 7, 1);
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        tacit_reproduction *again = reproduce(&experiment, 7, threads);
        for (size_t i = 0; i < first->count; i++) {
            if (first->findings[i].trials == 0) continue;
            CHECK_NEAR(again->findings[i].mean, first->findings[i].mean, 0);
            CHECK_NEAR(again->findings[i].sd, first->findings[i].sd, 0);
        }
        tacit_reproduction_free(again);
    }
    tacit_reproduction *other = reproduce(&experiment, 8, 1);
    bool differs = false;
    for (size_t i = 0; i < first->count; i++)
        differs = differs || first->findings[i].mean != other->findings[i].mean;
    assert_true(differs);
    tacit_reproduction_free(other);
    tacit_reproduction_free(first);
}

/* Folds: every row is tested on once, so that an error rate over all folds is a share of all rows. */
static void errors_over_folds_are_shares_of_all_rows(void **state) {
    (void)state;
    tacit_experiment experiment = small_experiment();
    experiment.is_generated = false;
    experiment.folds = 5;
    experiment.held_out_rows = 0;
    experiment.shows_errors = true;
    experiment.quick = (tacit_effort){ 5, 1, 0 };
    tacit_reproduction *out = reproduce(&experiment, 5, 1);
    assert_int_equal(out->test_rows, ROWS / 5);
    double wrong = out->findings[0].mean * ROWS;
    CHECK_NEAR(wrong, round(wrong), 1e-9);
    assert_true(out->findings[0].mean < 0.5);
    tacit_reproduction_free(out);
}

static void mistakes_are_found_before_the_work(void **state) {
    (void)state;
    static const tacit_variant unknown[] = { { .method = "clairvoyance" }, { .method = NULL } };
    static const tacit_data_file missing[] = { { "no/such/file", "nothing" }, { NULL, NULL } };
    tacit_experiment experiment = small_experiment();
    tacit_reproduce_options options = tacit_reproduce_defaults(&experiment, true);
    tacit_reproduction *out = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    experiment.curves = unknown;
    assert_int_equal(tacit_reproduce(&out, &experiment, &options, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "experiment small"));
    assert_non_null(strstr(error.text, "clairvoyance"));
    error = (tacit_error)TACIT_ERROR_INIT;
    experiment = small_experiment();
    experiment.files = missing;
    assert_int_equal(tacit_reproduce(&out, &experiment, &options, &error), TACIT_NOT_FOUND);
    assert_non_null(strstr(error.text, "no/such/file"));
    error = (tacit_error)TACIT_ERROR_INIT;
    experiment = small_experiment();
    experiment.rows_each = 40;
    assert_int_equal(tacit_reproduce(&out, &experiment, &options, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "the option 'fraction'"));
    assert_null(out);
}

static void statistics_of_private_rows_are_owned_up_to(void **state) {
    (void)state;
    tacit_experiment experiment = small_experiment();
    tacit_reproduce_options options = tacit_reproduce_defaults(&experiment, false);
    tacit_reproduction *out = NULL;
    options.statistics_of_all = true;
    assert_int_equal(tacit_reproduce(&out, &experiment, &options, NULL), TACIT_OK);
    assert_true(out->used_private_statistics);
    out = tacit_reproduction_free(out);
    options.statistics_of_all = false;
    experiment.auxiliary_rows = 0; /* no public rows at all */
    assert_int_equal(tacit_reproduce(&out, &experiment, &options, NULL), TACIT_OK);
    assert_true(out->used_private_statistics);
    out = tacit_reproduction_free(out);
    experiment.dimensions = 0; /* every row by its own norm: nothing to learn */
    assert_int_equal(tacit_reproduce(&out, &experiment, &options, NULL), TACIT_OK);
    assert_false(out->used_private_statistics);
    tacit_reproduction_free(out);
}

static void each_failed_allocation_is_survived(void **state) {
    (void)state;
    tacit_experiment experiment = small_experiment();
    tacit_reproduce_options options = tacit_reproduce_defaults(&experiment, false);
    options.effort = (tacit_effort){ 1, 1, 10 };
    experiment.by_setup = true;
    bool failed = true;
    for (long at = 1; failed; at++) {
        tacit_reproduction *out = NULL;
        tacit_buffer figure = TACIT_BUFFER_INIT;
        fail_allocation(at);
        tacit_status status = tacit_reproduce(&out, &experiment, &options, NULL);
        if (status == TACIT_OK) status = tacit_reproduction_plot(out, "note", &figure, NULL);
        failed = allocation_failed();
        assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
        tacit_buffer_clear(&figure);
        tacit_reproduction_free(out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_experiment_is_complete),
        cmocka_unit_test(a_missing_file_is_named_with_the_remedy),
        cmocka_unit_test(numbers_are_read_and_mistakes_have_a_line),
        cmocka_unit_test(prepared_rows_lie_in_the_ball),
        cmocka_unit_test(private_rows_do_not_change_how_public_ones_are_prepared),
        cmocka_unit_test(findings_are_complete_and_stand_beside_what_is_printed),
        cmocka_unit_test(the_seed_decides_and_threads_do_not),
        cmocka_unit_test(errors_over_folds_are_shares_of_all_rows),
        cmocka_unit_test(mistakes_are_found_before_the_work),
        cmocka_unit_test(statistics_of_private_rows_are_owned_up_to),
        cmocka_unit_test(each_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests_name("reproduce", tests, scratch_open, scratch_close);
}
