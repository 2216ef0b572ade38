/*
 * Rows without a label in transfer (dphtl, dpiw): how a source's rows fall into two parts, so that one row is in one of
 * them only; that blank labels give what invented ones gave; sources and a target with few labels or none; prices; and
 * that no other method meets such rows.
 *
 * Chance: seeds are fixed.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/simulate.h"
#include "method/methods.h"
#include "method/transfer/transfer.h"

static const uint64_t SEED = 20261;

/* ---- two parts ---- */

enum { FEW = 7 };

/* Every pattern of labels on seven rows and every limit: each row is in one part only, whatever the labels say, and
 * those without one are never in the first. This is what parallel composition rests on. */
static void a_row_is_in_one_of_two_parts(void **state) {
    (void)state;
    static const char *const classes[] = { "0", "1" };
    tacit_dataset *data = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_dataset_create(&data, FEW, 1, classes, 2, &error), error);
    for (unsigned pattern = 0; pattern < 1u << FEW; pattern++)
        for (size_t most = 0; most <= FEW; most++) {
            unsigned seen[2] = { 0, 0 };
            size_t labels = 0;
            for (size_t i = 0; i < FEW; i++) {
                data->label[i] = pattern >> i & 1 ? (int32_t)(i % 2) : TACIT_UNLABELLED;
                labels += pattern >> i & 1;
            }
            tacit_view view = tacit_dataset_view(data);
            transfer_parts parts;
            CHECK_OK(transfer_divide(&parts, &view, most, &error), error);
            assert_int_equal(tacit_view_labelled(&view), labels);
            assert_int_equal(parts.labelled, labels < most ? labels : most);
            assert_int_equal(parts.all.rows.count, FEW);
            for (size_t i = 0; i < FEW; i++) {
                unsigned bit = 1u << tacit_rows_stored(&parts.all.rows, i);
                seen[i >= parts.labelled] |= bit;
                if (i < parts.labelled) assert_true((pattern & bit) != 0);
            }
            assert_int_equal(seen[0] & seen[1], 0);
            assert_int_equal(seen[0] | seen[1], (1u << FEW) - 1);
            transfer_parts_clear(&parts);
        }
    tacit_dataset_free(data);
}

/* ---- learning ---- */

enum { EACH = 200, TARGET_ROWS = 200, TESTS = 300, PUBLIC = 120, PARTS = 3, DIMENSIONS = 6 };

static tacit_schema *schema_of(bool unlabelled) {
    char text[1024];
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    size_t used = (size_t)snprintf(text, sizeof text, "label: {name: y, classes: ['0', '1']%s}\ncolumns:\n",
                                   unlabelled ? ", missing: unlabelled" : "");
    for (int j = 0; j < DIMENSIONS; j++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "  - {name: x%d, kind: number, low: -1, high: 1}\n", j + 1);
    used += (size_t)snprintf(text + used, sizeof text - used, "intercept: no\nrows: unit\n");
    CHECK_OK(tacit_schema_parse(&schema, text, used, "schema", &error), error);
    return schema;
}

/* Source k lies around its own axis 3 + k, and its classes part along axis k; the target is like source 0. */
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

/* Who keeps how many of its labels, those of the first rows. */
typedef struct world {
    size_t source[PARTS], target;
    bool blank; /* the schema has rows without a label; else all labels are kept */
    const char *model, *method, *labelled, *target_labels;
    double epsilon;
} world;

static tacit_status run(const world *one, tacit_run *out, tacit_model **model, tacit_error *error) {
    static const char *const classes[] = { "0", "1" };
    tacit_stream stream = tacit_stream_from_seed(SEED);
    tacit_dataset *data = NULL;
    tacit_schema *schema = schema_of(one->blank);
    size_t total = PARTS * EACH + TARGET_ROWS + TESTS + PUBLIC, start[PARTS + 1] = { 0 };
    uint32_t *index = TACIT_NEW(uint32_t, total);
    CHECK_OK(tacit_dataset_create(&data, total, DIMENSIONS, classes, 2, error), *error);
    for (size_t i = 0; i < total; i++) {
        size_t part = i / EACH; /* as many rows at the target as at a source */
        index[i] = (uint32_t)i;
        fill_row(data, i, i < PARTS * EACH ? part : i < total - PUBLIC ? 0 : i % PARTS, &stream);
        size_t kept = part < PARTS ? one->source[part] : one->target;
        if (one->blank && part <= PARTS && i % EACH >= kept) data->label[i] = TACIT_UNLABELLED;
    }
    for (size_t k = 0; k < PARTS; k++) start[k + 1] = (k + 1) * EACH;
    tacit_split split = { PARTS, start, index, 0 };
    const tacit_method *method = tacit_method_find(one->method != NULL ? one->method : "dphtl");
    tacit_setting_value settings[] = { { "model", one->model },
                                       { "labelled", one->labelled },
                                       { "target_labels", one->target_labels } };
    tacit_simulation simulation = { .dataset = data,
                                    .schema = schema,
                                    .split = &split,
                                    .target = tacit_dataset_subset(data, index + PARTS * EACH, TARGET_ROWS),
                                    .test =
                                        tacit_dataset_subset(data, index + PARTS * EACH + TARGET_ROWS, TESTS),
                                    .auxiliary = tacit_dataset_subset(data, index + total - PUBLIC, PUBLIC),
                                    .methods = &method,
                                    .method_count = 1,
                                    .epsilons = &one->epsilon,
                                    .epsilon_count = 1,
                                    .lambda = 0.02,
                                    .settings = settings,
                                    .setting_count = one->method != NULL ? 0 : 3,
                                    .trials = 1,
                                    .seed = SEED };
    tacit_status status = tacit_simulate(&simulation, out, model, error);
    tacit_dataset_free(data);
    tacit_schema_free(schema);
    free(index);
    return status;
}

static double accuracy_of(const world *one) {
    tacit_run out;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(run(one, &out, NULL, &error), error);
    print_message("# %s, epsilon %g, labels %zu %zu %zu, target %zu: %.3f\n", one->model, one->epsilon,
                  one->source[0], one->source[1], one->source[2], one->target, out.accuracy.mean);
    if (isfinite(one->epsilon))
        CHECK_NEAR(out.charged.epsilon, one->epsilon * (strcmp(one->labelled, "1") == 0 ? 2 : 1), 1e-9);
    return out.accuracy.mean;
}

static double apart(const tacit_model *a, const tacit_model *b) {
    double most = 0;
    for (size_t j = 0; j < DIMENSIONS; j++) most = fmax(most, fabs(a->weights[j] - b->weights[j]));
    return most;
}

/* Labels that no part uses may as well not be there: the same model, noise included, but for the rounding to the grid
 * of answers, which has room for sources with fewer labels. */
static void blank_labels_give_what_unused_ones_gave(void **state) {
    (void)state;
    world whole = { { EACH, EACH, EACH }, TARGET_ROWS, false, "dphtl", NULL, "0.5", "0.05", 2 };
    world blank = {
        { EACH / 2, EACH / 2, EACH / 2 }, TARGET_ROWS / 20, true, "dphtl", NULL, "0.5", "0.05", 2
    };
    tacit_model *models[2] = { NULL, NULL };
    tacit_run out;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(run(&whole, &out, &models[0], &error), error);
    CHECK_OK(run(&blank, &out, &models[1], &error), error);
    CHECK_NEAR(apart(models[0], models[1]), 0, 1e-8);
    blank.source[0] -= 1; /* and a label that is used is missed */
    models[1] = tacit_model_free(models[1]);
    CHECK_OK(run(&blank, &out, &models[1], &error), error);
    assert_true(apart(models[0], models[1]) > 1e-5);
    tacit_model_free(models[0]);
    tacit_model_free(models[1]);
}

static void a_target_without_labels_learns_from_its_sources(void **state) {
    (void)state;
    world one = { { EACH / 2, EACH / 2, EACH / 2 }, 0, true, "dphtl", NULL, "0.5", "0.05", INFINITY };
    static const char *const models[] = { "dphtl", "average", "soft", "pphtl" };
    for (size_t k = 0; k < 4; k++) {
        one.model = models[k];
        assert_true(accuracy_of(&one) > (k == 0 ? 0.8 : 0.5));
    }
    one.epsilon = 10;
    one.model = "dphtl";
    assert_true(accuracy_of(&one) > 0.6);
    one.labelled = "1"; /* the parts overlap: twice the price */
    assert_true(accuracy_of(&one) > 0.6);
}

static void what_needs_labels_of_the_target_says_so(void **state) {
    (void)state;
    static const char *const models[] = { "source", "weak", "target" };
    for (size_t k = 0; k < 3; k++) {
        world one = { { 100, 100, 100 }, 0, true, models[k], NULL, "0.5", "0.05", INFINITY };
        tacit_run out;
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_equal(run(&one, &out, NULL, &error), TACIT_USAGE);
        assert_non_null(strstr(error.text, "none of its rows has one"));
    }
}

/* A source without labels proposes nothing and takes nothing away. */
static void a_source_without_labels_is_passed_over(void **state) {
    (void)state;
    world one = { { EACH / 2, 0, 3 }, 0, true, "dphtl", NULL, "0.5", "0.05", INFINITY };
    tacit_run out;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(run(&one, &out, NULL, &error), error);
    assert_int_equal(out.parties, 2);
    assert_true(out.accuracy.mean > 0.8);
    one.source[0] = one.source[2] = 0;
    assert_int_equal(run(&one, &out, NULL, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "no row of any source has a label"));
}

/* All labels of a target that lacks some count, whatever target_labels says of a whole one. */
static void all_labels_of_a_target_that_lacks_some_count(void **state) {
    (void)state;
    world few = { { 100, 100, 100 }, 5, true, "weak", NULL, "0.5", "0.05", INFINITY };
    world many = { { 100, 100, 100 }, 150, true, "weak", NULL, "0.5", "0.05", INFINITY };
    world all = { { 100, 100, 100 }, 150, true, "target", NULL, "0.5", "0.05", INFINITY };
    assert_true(accuracy_of(&many) > accuracy_of(&few));
    CHECK_NEAR(accuracy_of(&many), accuracy_of(&all), 0);
}

/* Methods that need a label in every row are refused before they see one without, and say what to do; dpiw has no use
 * for labels and takes rows of either kind. */
static void other_methods_are_refused(void **state) {
    (void)state;
    size_t refused = 0;
    for (size_t m = 0; tacit_methods[m] != NULL; m++) {
        const tacit_method *method = tacit_methods[m];
        world one = { { 100, 100, 100 }, 5, true, "", method->name, "0.5", "0.05", 1 };
        tacit_run out;
        tacit_error error = TACIT_ERROR_INIT;
        if (method->takes_unlabelled) continue;
        assert_int_not_equal(run(&one, &out, NULL, &error), TACIT_OK);
        refused += strstr(error.text, "missing: unlabelled") != NULL;
    }
    print_message("# %zu methods name the schema's word\n", refused);
    assert_true(refused >= 20); /* others want a delta, a model or another label first */
    world density = { { 0, 100, 0 }, 0, true, "", "dpiw", "0.5", "0.05", 1 };
    tacit_run out;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(run(&density, &out, NULL, &error), error);
    CHECK_NEAR(out.charged.epsilon, 1, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_in_one_of_two_parts),
        cmocka_unit_test(blank_labels_give_what_unused_ones_gave),
        cmocka_unit_test(a_target_without_labels_learns_from_its_sources),
        cmocka_unit_test(what_needs_labels_of_the_target_says_so),
        cmocka_unit_test(a_source_without_labels_is_passed_over),
        cmocka_unit_test(all_labels_of_a_target_that_lacks_some_count),
        cmocka_unit_test(other_methods_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
