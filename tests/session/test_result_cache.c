/* What is kept is found under the same inputs and under no others. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "failing.h"
#include "session/result_cache.h"

static tacit_cache_key key_of(const char *purpose, const char *first, const char *second) {
    tacit_cache_key key = tacit_cache_key_begin(purpose);
    if (first != NULL) tacit_cache_key_add(&key, first, strlen(first));
    if (second != NULL) tacit_cache_key_add(&key, second, strlen(second));
    return key;
}

static tacit_result_cache *make(void) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_result_cache *cache = NULL;
    CHECK_OK(tacit_result_cache_create(&cache, &error), error);
    return cache;
}

static void what_is_kept_is_found_under_its_key_only(void **state) {
    (void)state;
    tacit_result_cache *cache = make();
    const double kept[] = { 1, 2, 3 };
    double found[3] = { 0 };
    tacit_cache_key key = key_of("sum", "ab", "c"), same = key_of("sum", "ab", "c");
    assert_false(tacit_result_cache_find(cache, &key, found, sizeof found));
    tacit_result_cache_keep(cache, &key, kept, sizeof kept);
    assert_true(tacit_result_cache_find(cache, &same, found, sizeof found));
    assert_memory_equal(found, kept, sizeof kept);
    tacit_cache_key others[] = { key_of("sum", "a", "bc"),   key_of("sum", "abc", NULL),
                                 key_of("sum", "ab", NULL),  key_of("total", "ab", "c"),
                                 key_of("sumab", "c", NULL), key_of("sum", "c", "ab"),
                                 key_of("sum", "ab", "c\1") };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(tacit_result_cache_find(cache, &others[i], found, sizeof found));
    tacit_result_cache_free(cache);
}

static void another_length_is_not_found(void **state) {
    (void)state;
    tacit_result_cache *cache = make();
    char kept[8] = "1234567", found[16];
    tacit_cache_key key = key_of("x", NULL, NULL);
    tacit_result_cache_keep(cache, &key, kept, sizeof kept);
    memset(found, 9, sizeof found);
    assert_false(tacit_result_cache_find(cache, &key, found, sizeof found));
    assert_false(tacit_result_cache_find(cache, &key, found, sizeof kept - 1));
    assert_int_equal(found[0], 9);
    tacit_result_cache_free(cache);
}

static void the_first_of_a_key_stays(void **state) {
    (void)state;
    tacit_result_cache *cache = make();
    int one = 1, two = 2, found = 0;
    tacit_cache_key key = key_of("x", NULL, NULL);
    tacit_result_cache_keep(cache, &key, &one, sizeof one);
    one = 7; /* a copy is kept */
    tacit_result_cache_keep(cache, &key, &two, sizeof two);
    assert_true(tacit_result_cache_find(cache, &key, &found, sizeof found));
    assert_int_equal(found, 1);
    tacit_result_cache_free(cache);
}

static void many_keys_are_told_apart(void **state) {
    (void)state;
    tacit_result_cache *cache = make();
    for (int i = 0; i < 100; i++) {
        tacit_cache_key key = tacit_cache_key_begin("n");
        tacit_cache_key_add(&key, &i, sizeof i);
        tacit_result_cache_keep(cache, &key, &i, sizeof i);
    }
    for (int i = 0; i < 100; i++) {
        int found = -1;
        tacit_cache_key key = tacit_cache_key_begin("n");
        tacit_cache_key_add(&key, &i, sizeof i);
        assert_true(tacit_result_cache_find(cache, &key, &found, sizeof found));
        assert_int_equal(found, i);
    }
    tacit_result_cache_free(cache);
}

static void nothing_is_kept_without_a_cache(void **state) {
    (void)state;
    int value = 1;
    tacit_cache_key key = key_of("x", NULL, NULL);
    tacit_result_cache_keep(NULL, &key, &value, sizeof value);
    assert_false(tacit_result_cache_find(NULL, &key, &value, sizeof value));
    assert_null(tacit_result_cache_free(NULL));
}

static void running_out_of_memory_forgets_and_no_more(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_result_cache *cache = NULL;
    fail_allocation(1);
    assert_int_equal(tacit_result_cache_create(&cache, &error), TACIT_NO_MEMORY);
    assert_true(allocation_failed());
    cache = make();
    int value = 5, found = 0;
    tacit_cache_key key = key_of("x", NULL, NULL);
    for (long at = 1; at <= 2; at++) {
        fail_allocation(at);
        tacit_result_cache_keep(cache, &key, &value, sizeof value);
        assert_true(allocation_failed());
        assert_false(tacit_result_cache_find(cache, &key, &found, sizeof found));
    }
    tacit_result_cache_keep(cache, &key, &value, sizeof value);
    assert_true(tacit_result_cache_find(cache, &key, &found, sizeof found));
    tacit_result_cache_free(cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_found_under_its_key_only),
        cmocka_unit_test(another_length_is_not_found),
        cmocka_unit_test(the_first_of_a_key_stays),
        cmocka_unit_test(many_keys_are_told_apart),
        cmocka_unit_test(nothing_is_kept_without_a_cache),
        cmocka_unit_test(running_out_of_memory_forgets_and_no_more),
    };
    return cmocka_run_group_tests_name("result_cache", tests, NULL, NULL);
}
