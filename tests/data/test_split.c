#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/generate.h"
#include "data/split.h"

static tacit_dataset *make_rows(size_t rows) {
    static const char *const classes[] = { "a", "b" };
    tacit_dataset *dataset = NULL;
    assert_int_equal(tacit_dataset_create(&dataset, rows, 1, classes, 2, NULL), TACIT_OK);
    return dataset;
}

static tacit_split_plan *plan_of(const char *text) {
    tacit_split_plan *plan = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_split_plan_parse(&plan, text, &error), error);
    return plan;
}

/* Every row in exactly one part, no part empty. */
static void check_partition(const tacit_split *split, size_t rows) {
    bool *seen = TACIT_NEW(bool, rows);
    assert_int_equal(split->start[0], 0);
    assert_int_equal(split->start[split->parts], rows);
    for (size_t k = 0; k < split->parts; k++) assert_true(split->start[k + 1] > split->start[k]);
    for (size_t i = 0; i < rows; i++) {
        assert_true(split->index[i] < rows);
        assert_false(seen[split->index[i]]);
        seen[split->index[i]] = true;
    }
    free(seen);
}

static tacit_split *deal(const char *text, size_t rows, size_t parties, uint64_t seed) {
    tacit_dataset *dataset = make_rows(rows);
    tacit_split_plan *plan = plan_of(text);
    tacit_view view = tacit_dataset_view(dataset);
    tacit_stream stream = tacit_stream_from_seed(seed);
    tacit_split *split = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_split_make(&split, plan, &view, 0, parties, &stream, &error), error);
    check_partition(split, rows);
    tacit_split_plan_free(plan);
    tacit_dataset_free(dataset);
    return split;
}

static void even_parts_differ_by_at_most_one_row(void **state) {
    (void)state;
    static const size_t cases[][2] = { { 10, 3 }, { 5, 5 }, { 1, 1 }, { 100000, 20000 }, { 100001, 20000 } };
    for (size_t i = 0; i < 5; i++) {
        tacit_split *split = deal("even", cases[i][0], cases[i][1], i);
        assert_int_equal(split->parts, cases[i][1]);
        for (size_t k = 0; k < split->parts; k++) {
            size_t count = tacit_split_count(split, k), least = cases[i][0] / cases[i][1];
            assert_true(count == least || count == least + 1);
        }
        tacit_split_free(split);
    }
}

static void dirichlet_parts_are_never_empty(void **state) {
    (void)state;
    static const char *const plans[] = { "dirichlet:0.01", "dirichlet:1", "dirichlet:1000" };
    for (size_t i = 0; i < 3; i++) {
        tacit_split_free(deal(plans[i], 50, 50, i));
        tacit_split *split = deal(plans[i], 10000, 20, i);
        size_t largest = 0;
        for (size_t k = 0; k < 20; k++)
            if (tacit_split_count(split, k) > largest) largest = tacit_split_count(split, k);
        if (i == 0) assert_true(largest > 2000); /* a small concentration is uneven */
        if (i == 2) assert_true(largest < 600);  /* a large one is not */
        tacit_split_free(split);
    }
}

/* The largest share that a class has of a party's rows, in the mean over parties. */
static double purity(const tacit_split *split, const tacit_dataset *dataset) {
    double sum = 0;
    for (size_t k = 0; k < split->parts; k++) {
        tacit_view part = tacit_split_view(split, dataset, k);
        double counts[4] = { 0 }, most = 0;
        for (size_t i = 0; i < part.rows.count; i++)
            most = fmax(most, ++counts[tacit_view_label(&part, i) + 1]);
        sum += most / (double)part.rows.count / (double)split->parts;
    }
    return sum;
}

/* The smaller the concentration, the more of one class a party has; no row is lost, and nobody has none. */
static void parties_differ_in_their_classes(void **state) {
    (void)state;
    static const char *const texts[] = { "labels:0.05", "labels:1", "labels:1000" };
    static const char *const classes[] = { "a", "b", "c" };
    tacit_dataset *dataset = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    double pure[3];
    CHECK_OK(tacit_dataset_create(&dataset, 3000, 1, classes, 3, &error), error);
    for (size_t i = 0; i < 3000; i++) dataset->label[i] = i % 10 == 0 ? TACIT_UNLABELLED : (int32_t)(i % 3);
    tacit_view view = tacit_dataset_view(dataset);
    for (size_t t = 0; t < 3; t++)
        for (size_t parties = 20; parties <= 3000; parties += 2980) {
            tacit_split_plan *plan = plan_of(texts[t]);
            tacit_stream stream = tacit_stream_from_seed(t);
            tacit_split *split = NULL;
            CHECK_OK(tacit_split_make(&split, plan, &view, 0, parties, &stream, &error), error);
            assert_int_equal(split->parts, parties);
            check_partition(split, 3000);
            for (size_t k = 0; k < parties; k++) assert_true(tacit_split_count(split, k) > 0);
            if (parties == 20) pure[t] = purity(split, dataset);
            tacit_split_free(split);
            tacit_split_plan_free(plan);
        }
    print_message("# most of one class: %.2f, %.2f, %.2f\n", pure[0], pure[1], pure[2]);
    assert_true(pure[0] > 0.8 && pure[0] > pure[1] && pure[1] > pure[2] && pure[2] < 0.4);
    view.label = NULL;
    tacit_split_plan *plan = plan_of("labels:1");
    tacit_stream stream = tacit_stream_from_seed(1);
    tacit_split *split = NULL;
    assert_int_equal(tacit_split_make(&split, plan, &view, 0, 20, &stream, &error), TACIT_USAGE);
    tacit_split_plan_free(plan);
    tacit_dataset_free(dataset);
}

static void fractions_are_kept(void **state) {
    (void)state;
    tacit_split *split = deal("0.01,0.29,0.2,0.25,0.25", 1000, 0, 3);
    static const size_t sizes[] = { 10, 290, 200, 250, 250 };
    for (size_t k = 0; k < 5; k++) assert_int_equal(tacit_split_count(split, k), sizes[k]);
    tacit_split_free(split);
    split = deal("0.0001,0.9998,0.0001", 10, 3, 3); /* nobody is left without a row */
    assert_int_equal(tacit_split_count(split, 1), 8);
    tacit_split_free(split);
}

static void a_seed_repeats_a_split_and_another_changes_it(void **state) {
    (void)state;
    tacit_split *one = deal("even", 1000, 4, 1), *same = deal("even", 1000, 4, 1),
                *other = deal("even", 1000, 4, 2);
    assert_memory_equal(one->index, same->index, 1000 * sizeof(uint32_t));
    assert_memory_not_equal(one->index, other->index, 1000 * sizeof(uint32_t));
    tacit_split_free(one);
    tacit_split_free(same);
    tacit_split_free(other);
    assert_null(tacit_split_free(NULL));
}

static void sorted_parts_have_the_same_rows_in_their_order(void **state) {
    (void)state;
    tacit_split *split = deal("0.1,0.2,0.7", 1000, 3, 5), *sorted = deal("0.1,0.2,0.7", 1000, 3, 5);
    tacit_split_sort(sorted);
    check_partition(sorted, 1000);
    for (size_t k = 0; k < 3; k++) {
        uint64_t sum[2] = { 0, 0 };
        for (size_t i = split->start[k]; i < split->start[k + 1]; i++) {
            sum[0] += split->index[i];
            sum[1] += sorted->index[i];
            assert_true(i == split->start[k] || sorted->index[i] > sorted->index[i - 1]);
        }
        assert_int_equal(sum[0], sum[1]);
    }
    tacit_split_free(split);
    tacit_split_free(sorted);
}

static void groups_become_parties_also_within_a_subset(void **state) {
    (void)state;
    tacit_dataset *dataset = make_rows(9);
    static const int32_t group[] = { 0, 1, 2, 0, 1, 2, 0, 1, 2 };
    dataset->group = TACIT_NEW(int32_t, 9);
    memcpy(dataset->group, group, sizeof group);
    static const uint32_t some[] = { 8, 7, 3, 2, 1 };
    tacit_view view = tacit_dataset_subset(dataset, some, 5);
    tacit_split_plan *plan = plan_of("by:site");
    tacit_split *split = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_split_make(&split, plan, &view, 3, 0, NULL, &error), error);
    static const uint32_t expected[] = { 3, 7, 1, 8, 2 };
    assert_memory_equal(split->index, expected, sizeof expected);
    assert_int_equal(tacit_split_count(split, 0), 1);
    tacit_view party = tacit_split_view(split, dataset, 2);
    assert_int_equal(party.rows.count, 2);
    assert_int_equal(tacit_rows_stored(&party.rows, 1), 2);
    assert_int_equal(tacit_split_make(&split, plan, &view, 3, 4, NULL, &error), TACIT_USAGE);
    assert_string_equal(error.text, "the option 'parties=4' does not fit the option 'split', which makes 3");
    view.group = NULL;
    assert_int_equal(tacit_split_make(&split, plan, &view, 3, 0, NULL, NULL), TACIT_USAGE);
    split = tacit_split_free(split);
    view = tacit_dataset_subset(dataset, some, 2); /* rows of groups 2 and 1 only */
    CHECK_OK(tacit_split_make(&split, plan, &view, 3, 0, NULL, &error), error);
    assert_int_equal(split->parts, 2);
    assert_int_equal(split->index[0], 7);
    assert_int_equal(split->start[2], 2);
    tacit_split_free(split);
    tacit_split_plan_free(plan);
    tacit_dataset_free(dataset);
}

static void too_few_rows_are_said_to_be_too_few(void **state) {
    (void)state;
    tacit_dataset *dataset = make_rows(3);
    tacit_view view = tacit_dataset_view(dataset);
    tacit_stream stream = tacit_stream_from_seed(1);
    static const char *const texts[] = { "even", "dirichlet:1", "0.25,0.25,0.25,0.25" };
    for (size_t i = 0; i < 3; i++) {
        tacit_split_plan *plan = plan_of(texts[i]);
        tacit_split *split = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_equal(tacit_split_make(&split, plan, &view, 0, 4, &stream, &error), TACIT_INPUT);
        assert_string_equal(error.text, "3 rows cannot be divided among 4 parties; each needs at least one");
        if (i < 2) assert_int_equal(tacit_split_make(&split, plan, &view, 0, 0, &stream, NULL), TACIT_USAGE);
        assert_null(split);
        tacit_split_plan_free(plan);
    }
    tacit_dataset_free(dataset);
}

static void the_split_text_is_checked(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        { "", "'' is not one of even" },
        { "odd", "'odd' is not one of even, dirichlet:A" },
        { "dirichlet:", "needs a positive number, not ''" },
        { "dirichlet:0", "needs a positive number, not '0'" },
        { "dirichlet:-1", "needs a positive number" },
        { "labels:", "'split=labels:A' needs a positive number, not ''" },
        { "by:", "needs the name of a column" },
        { "0.5,0.4", "the 2 fractions sum to 0.9, not to 1" },
        { "0.5,,0.5", "'' is not a positive fraction" },
        { "1.5,-0.5", "'-0.5' is not a positive fraction" },
        { "0.5,0.5x", "'0.5x' is not a positive fraction" },
        { "0.50000000000000000000000000000000000000000000,0.5", "is not a positive fraction" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_split_plan *plan = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_equal(tacit_split_plan_parse(&plan, cases[i][0], &error), TACIT_USAGE);
        if (strstr(error.text, cases[i][1]) == NULL) fail_msg("'%s' lacks '%s'", error.text, cases[i][1]);
        assert_null(plan);
    }
    tacit_split_plan *plan = plan_of("by:hospital");
    assert_string_equal(plan->column, "hospital");
    tacit_split_plan_free(plan);
    tacit_split_plan_free(plan_of("0.1,0.2,0.7"));
}

static void a_holdout_takes_what_it_should(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(9);
    tacit_split *split = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_split_holdout(&split, 100, 0.2, 0.1, &stream, &error), error);
    check_partition(split, 100);
    assert_int_equal(tacit_split_count(split, TACIT_PART_TRAIN), 70);
    assert_int_equal(tacit_split_count(split, TACIT_PART_TEST), 20);
    assert_int_equal(tacit_split_count(split, TACIT_PART_AUX), 10);
    split = tacit_split_free(split);
    CHECK_OK(tacit_split_holdout(&split, 2, 0.001, 0, &stream, &error), error);
    assert_int_equal(tacit_split_count(split, TACIT_PART_TEST), 1);
    assert_int_equal(tacit_split_count(split, TACIT_PART_AUX), 0);
    split = tacit_split_free(split);
    assert_int_equal(tacit_split_holdout(&split, 2, 0.1, 0.1, &stream, &error), TACIT_INPUT);
    assert_int_equal(tacit_split_holdout(&split, 100, 0.6, 0.4, &stream, NULL), TACIT_USAGE);
    assert_int_equal(tacit_split_holdout(&split, 100, NAN, 0, &stream, NULL), TACIT_USAGE);
    assert_int_equal(tacit_split_holdout(&split, 100, -0.1, 0, &stream, NULL), TACIT_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(even_parts_differ_by_at_most_one_row),
        cmocka_unit_test(dirichlet_parts_are_never_empty),
        cmocka_unit_test(parties_differ_in_their_classes),
        cmocka_unit_test(fractions_are_kept),
        cmocka_unit_test(a_seed_repeats_a_split_and_another_changes_it),
        cmocka_unit_test(sorted_parts_have_the_same_rows_in_their_order),
        cmocka_unit_test(groups_become_parties_also_within_a_subset),
        cmocka_unit_test(too_few_rows_are_said_to_be_too_few),
        cmocka_unit_test(the_split_text_is_checked),
        cmocka_unit_test(a_holdout_takes_what_it_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
