/* What is kept is found under the same inputs and under no others. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "failing.h"
#include "session/recall.h"

static tacit_recall_key key_of(const char *purpose, const char *first, const char *second) {
    tacit_recall_key key = tacit_recall_begin(purpose);
    if (first != NULL) tacit_recall_add(&key, first, strlen(first));
    if (second != NULL) tacit_recall_add(&key, second, strlen(second));
    return key;
}

static tacit_recall *make(void) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_recall *recall = NULL;
    CHECK_OK(tacit_recall_create(&recall, &error), error);
    return recall;
}

static void what_is_kept_is_found_under_its_key_only(void **state) {
    (void)state;
    tacit_recall *recall = make();
    const double kept[] = { 1, 2, 3 };
    double found[3] = { 0 };
    tacit_recall_key key = key_of("sum", "ab", "c"), same = key_of("sum", "ab", "c");
    assert_false(tacit_recall_find(recall, &key, found, sizeof found));
    tacit_recall_keep(recall, &key, kept, sizeof kept);
    assert_true(tacit_recall_find(recall, &same, found, sizeof found));
    assert_memory_equal(found, kept, sizeof kept);
    tacit_recall_key others[] = { key_of("sum", "a", "bc"),   key_of("sum", "abc", NULL),
                                  key_of("sum", "ab", NULL),  key_of("total", "ab", "c"),
                                  key_of("sumab", "c", NULL), key_of("sum", "c", "ab"),
                                  key_of("sum", "ab", "c\1") };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(tacit_recall_find(recall, &others[i], found, sizeof found));
    tacit_recall_free(recall);
}

static void another_length_is_not_found(void **state) {
    (void)state;
    tacit_recall *recall = make();
    char kept[8] = "1234567", found[16];
    tacit_recall_key key = key_of("x", NULL, NULL);
    tacit_recall_keep(recall, &key, kept, sizeof kept);
    memset(found, 9, sizeof found);
    assert_false(tacit_recall_find(recall, &key, found, sizeof found));
    assert_false(tacit_recall_find(recall, &key, found, sizeof kept - 1));
    assert_int_equal(found[0], 9);
    tacit_recall_free(recall);
}

static void the_first_of_a_key_stays(void **state) {
    (void)state;
    tacit_recall *recall = make();
    int one = 1, two = 2, found = 0;
    tacit_recall_key key = key_of("x", NULL, NULL);
    tacit_recall_keep(recall, &key, &one, sizeof one);
    one = 7; /* a copy is kept */
    tacit_recall_keep(recall, &key, &two, sizeof two);
    assert_true(tacit_recall_find(recall, &key, &found, sizeof found));
    assert_int_equal(found, 1);
    tacit_recall_free(recall);
}

static void many_keys_are_told_apart(void **state) {
    (void)state;
    tacit_recall *recall = make();
    for (int i = 0; i < 100; i++) {
        tacit_recall_key key = tacit_recall_begin("n");
        tacit_recall_add(&key, &i, sizeof i);
        tacit_recall_keep(recall, &key, &i, sizeof i);
    }
    for (int i = 0; i < 100; i++) {
        int found = -1;
        tacit_recall_key key = tacit_recall_begin("n");
        tacit_recall_add(&key, &i, sizeof i);
        assert_true(tacit_recall_find(recall, &key, &found, sizeof found));
        assert_int_equal(found, i);
    }
    tacit_recall_free(recall);
}

static void nothing_is_kept_without_a_recall(void **state) {
    (void)state;
    int value = 1;
    tacit_recall_key key = key_of("x", NULL, NULL);
    tacit_recall_keep(NULL, &key, &value, sizeof value);
    assert_false(tacit_recall_find(NULL, &key, &value, sizeof value));
    assert_null(tacit_recall_free(NULL));
}

static void running_out_of_memory_forgets_and_no_more(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_recall *recall = NULL;
    fail_allocation(1);
    assert_int_equal(tacit_recall_create(&recall, &error), TACIT_NO_MEMORY);
    assert_true(allocation_failed());
    recall = make();
    int value = 5, found = 0;
    tacit_recall_key key = key_of("x", NULL, NULL);
    for (long at = 1; at <= 2; at++) {
        fail_allocation(at);
        tacit_recall_keep(recall, &key, &value, sizeof value);
        assert_true(allocation_failed());
        assert_false(tacit_recall_find(recall, &key, &found, sizeof found));
    }
    tacit_recall_keep(recall, &key, &value, sizeof value);
    assert_true(tacit_recall_find(recall, &key, &found, sizeof found));
    tacit_recall_free(recall);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_found_under_its_key_only),
        cmocka_unit_test(another_length_is_not_found),
        cmocka_unit_test(the_first_of_a_key_stays),
        cmocka_unit_test(many_keys_are_told_apart),
        cmocka_unit_test(nothing_is_kept_without_a_recall),
        cmocka_unit_test(running_out_of_memory_forgets_and_no_more),
    };
    return cmocka_run_group_tests_name("recall", tests, NULL, NULL);
}
