/* Rows that stay together, and undersampling. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/grouped_split.h"
#include "failing.h"

enum { ROWS = 600, GROUPS = 90 };

/* Group i % 90 for even groups only, so that half of them have no row; every tenth row is of class 1. */
static tacit_dataset *make_rows(void) {
    static const char *const classes[] = { "fine", "fraud" };
    tacit_dataset *dataset = NULL;
    assert_int_equal(tacit_dataset_create(&dataset, ROWS, 1, classes, 2, NULL), TACIT_OK);
    dataset->group = TACIT_NEW(int32_t, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        dataset->group[i] = (int32_t)(2 * i % GROUPS);
        dataset->label[i] = i % 30 == 7; /* groups 14, 74 and 44 */
    }
    return dataset;
}

/* No group is in two parts, and all rows are there. */
static void check_together(const tacit_split *split, const tacit_dataset *dataset) {
    size_t part_of[GROUPS], seen = 0;
    for (size_t g = 0; g < GROUPS; g++) part_of[g] = SIZE_MAX;
    for (size_t k = 0; k < split->parts; k++)
        for (size_t i = split->start[k]; i < split->start[k + 1]; i++, seen++) {
            size_t *part = &part_of[dataset->group[split->index[i]]];
            if (*part == SIZE_MAX) *part = k;
            assert_int_equal(*part, k);
        }
    assert_int_equal(seen, ROWS);
}

static void accounts_are_dealt_out_and_held_back_whole(void **state) {
    (void)state;
    static const char *const texts[] = { "even", "dirichlet:1", "0.2,0.3,0.5" };
    tacit_dataset *dataset = make_rows();
    tacit_view view = tacit_dataset_view(dataset);
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t i = 0; i < 3; i++) {
        tacit_stream stream = tacit_stream_from_seed(i);
        tacit_split_plan *plan = NULL;
        tacit_split *split = NULL;
        CHECK_OK(tacit_split_plan_parse(&plan, texts[i], &error), error);
        CHECK_OK(tacit_grouped_split_make(&split, plan, &view, GROUPS, 3, &stream, &error), error);
        assert_int_equal(split->parts, 3);
        check_together(split, dataset);
        tacit_split_free(split);
        tacit_split_plan_free(plan);
    }
    tacit_stream stream = tacit_stream_from_seed(9);
    tacit_split *split = NULL;
    CHECK_OK(tacit_grouped_split_holdout(&split, &view, GROUPS, 0.2, 0, &stream, &error), error);
    check_together(split, dataset);
    size_t tests = tacit_split_count(split, TACIT_PART_TEST);
    assert_true(tests > ROWS / 10 && tests < 3 * ROWS / 10); /* 9 of 45 groups of 13 or 14 rows */
    tacit_split_free(split);
    tacit_dataset_free(dataset);
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    tacit_dataset *dataset = make_rows();
    tacit_view view = tacit_dataset_view(dataset);
    tacit_stream stream = tacit_stream_from_seed(1);
    tacit_split_plan *plan = NULL;
    tacit_split *split = NULL;
    assert_int_equal(tacit_split_plan_parse(&plan, "by:site", NULL), TACIT_OK);
    assert_int_equal(tacit_grouped_split_make(&split, plan, &view, GROUPS, 0, &stream, NULL), TACIT_USAGE);
    tacit_split_plan_free(plan);
    assert_int_equal(tacit_split_plan_parse(&plan, "even", NULL), TACIT_OK);
    assert_int_equal(tacit_grouped_split_make(&split, plan, &view, GROUPS, 46, &stream, NULL), TACIT_INPUT);
    tacit_split_plan_free(plan);
    assert_null(split);
    tacit_dataset_free(dataset);
}

/* 580 rows kept with chance 0.3: 174, standard deviation 11; seven of those either way. */
static void frequent_rows_are_thinned_out_and_rare_ones_kept(void **state) {
    (void)state;
    tacit_dataset *dataset = make_rows();
    tacit_view view = tacit_dataset_view(dataset);
    tacit_stream stream = tacit_stream_from_seed(3);
    tacit_error error = TACIT_ERROR_INIT;
    tacit_split *kept = NULL;
    CHECK_OK(tacit_undersample(&kept, &view, 0, 0, 0.3, &stream, &error), error);
    size_t rare = 0, rows = tacit_split_count(kept, 0);
    for (size_t i = 0; i < rows; i++) rare += dataset->label[kept->index[i]] == 1;
    assert_int_equal(rare, 20);
    assert_true(rows > 194 - 77 && rows < 194 + 77);
    tacit_split_free(kept);
    kept = NULL;
    CHECK_OK(tacit_undersample(&kept, &view, GROUPS, 0, 0.3, &stream, &error), error);
    size_t of_group[GROUPS] = { 0 };
    for (size_t i = 0; i < tacit_split_count(kept, 0); i++) of_group[dataset->group[kept->index[i]]]++;
    for (size_t g = 0; g < GROUPS; g++) assert_true(of_group[g] == 0 || of_group[g] >= 13); /* whole */
    assert_true(of_group[14] > 0 && of_group[44] > 0 && of_group[74] > 0);
    assert_true(tacit_split_count(kept, 0) < ROWS);
    tacit_split_free(kept);
    kept = NULL;
    uint32_t fine[1] = { 0 };
    tacit_view one = tacit_dataset_subset(dataset, fine, 1);
    assert_int_equal(tacit_undersample(&kept, &one, 0, 0, 1e-300, &stream, NULL), TACIT_INPUT);
    assert_null(kept);
    tacit_dataset_free(dataset);
}

static tacit_status split_all(const tacit_view *view, const tacit_split_plan *plan) {
    tacit_stream stream = tacit_stream_from_seed(1);
    tacit_split *split = NULL;
    tacit_status status = tacit_grouped_split_make(&split, plan, view, GROUPS, 3, &stream, NULL);
    split = tacit_split_free(split);
    if (status == TACIT_OK)
        status = tacit_grouped_split_holdout(&split, view, GROUPS, 0.2, 0.1, &stream, NULL);
    split = tacit_split_free(split);
    if (status == TACIT_OK) status = tacit_undersample(&split, view, GROUPS, 0, 0.5, &stream, NULL);
    tacit_split_free(split);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    tacit_dataset *dataset = make_rows();
    tacit_view view = tacit_dataset_view(dataset);
    tacit_split_plan *plan = NULL;
    assert_int_equal(tacit_split_plan_parse(&plan, "even", NULL), TACIT_OK);
    bool failed = true;
    for (long at = 1; failed; at++) {
        fail_allocation(at);
        tacit_status status = split_all(&view, plan);
        failed = allocation_failed();
        assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
    }
    tacit_split_plan_free(plan);
    tacit_dataset_free(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accounts_are_dealt_out_and_held_back_whole),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(frequent_rows_are_thinned_out_and_rare_ones_kept),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
