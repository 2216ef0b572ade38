/* What sums over several sets tell together. */
#include "check.h"

#include <string.h>

#include "privacy/differences.h"

enum { WIDTH = 8 };

/* "11110000": the first four of eight. */
static bool isolates(const char *const *past, size_t count, const char *now, size_t most) {
    uint8_t bytes[TACIT_SETS_MOST + 2][WIDTH];
    const uint8_t *sets[TACIT_SETS_MOST + 2];
    tacit_error error = TACIT_ERROR_INIT;
    bool found = false;
    assert_true(count <= TACIT_SETS_MOST + 1);
    for (size_t i = 0; i <= count; i++) {
        const char *text = i < count ? past[i] : now;
        for (size_t j = 0; j < WIDTH; j++) bytes[i < count ? i : TACIT_SETS_MOST + 1][j] = text[j] == '1';
        sets[i] = bytes[i];
    }
    CHECK_OK(tacit_sets_isolate(&found, sets, count, bytes[TACIT_SETS_MOST + 1], WIDTH, most, &error), error);
    return found;
}

static void test_a_first_set_and_the_same_again_tell_nothing_new(void **state) {
    (void)state;
    const char *past[] = { "11111000" };
    assert_false(isolates(NULL, 0, "10000000", 2));
    assert_false(isolates(past, 1, "11111000", 5));
}

static void test_two_sets_tell_about_those_who_are_in_one_only(void **state) {
    (void)state;
    const char *past[] = { "11111000" };
    assert_true(isolates(past, 1, "11110000", 1));
    assert_false(isolates(past, 1, "11100000", 1));
    assert_true(isolates(past, 1, "11100000", 2));
    assert_true(isolates(past, 1, "11110100", 2)); /* one for another */
    assert_false(isolates(past, 1, "11110100", 1));
    assert_false(isolates(past, 1, "11111111", 2));
    assert_true(isolates(past, 1, "11111111", 3));
}

/* A = {0..5}, B = {0..2, 6, 7}, C = {3..7}: no two differ by fewer than five, and A - B - C is minus twice 6 and 7. */
static void test_combinations_of_three_count(void **state) {
    (void)state;
    const char *past[] = { "11111100", "11100011" };
    assert_false(isolates(past, 1, "00011111", 2));
    assert_false(isolates(past + 1, 1, "00011111", 2));
    assert_true(isolates(past, 2, "00011111", 2));
    assert_false(isolates(past, 2, "00011111", 1));
}

/* What the past sums gave away already is no reason to refuse another that adds nothing to it. */
static void test_only_what_is_new_counts(void **state) {
    (void)state;
    const char *past[] = { "11111000", "11110000" };
    assert_false(isolates(past, 2, "00001000", 1)); /* their difference */
    assert_true(isolates(past, 2, "11100000", 1));  /* party 3 now, too */
    assert_false(isolates(past, 2, "11000000", 1));
}

/* B + C - A is twice the seventh: neither a difference nor a sum modulo 2. */
static void test_rational_combinations_count(void **state) {
    (void)state;
    const char *past[] = { "11111100", "11100010" };
    assert_true(isolates(past, 2, "00011110", 1));
}

static void test_too_many_sets_are_not_told_apart(void **state) {
    (void)state;
    const char *texts[TACIT_SETS_MOST + 1];
    static char storage[TACIT_SETS_MOST + 1][WIDTH + 1];
    for (size_t i = 0; i <= TACIT_SETS_MOST; i++) {
        for (size_t j = 0; j < WIDTH; j++) storage[i][j] = (i + 1) >> j & 1 ? '1' : '0';
        texts[i] = storage[i];
    }
    assert_true(isolates(texts, TACIT_SETS_MOST + 1, "11111111", 1));
}

/* Party j is in set i where j has bit i. Every combination of these sets, and of all parties, is about 15 or more (a code of Reed and
 * Muller); but whether one is about five takes 206,367 attempts, more than are made. */
static void test_what_takes_too_long_to_tell_is_refused(void **state) {
    (void)state;
    enum { SETS = 5, PARTIES = 31 };
    uint8_t bytes[SETS + 1][PARTIES];
    const uint8_t *past[SETS];
    tacit_error error = TACIT_ERROR_INIT;
    bool found = true;
    for (unsigned i = 0; i <= SETS; i++)
        for (unsigned j = 0; j < PARTIES; j++) bytes[i][j] = i == SETS || ((j + 1) >> i & 1);
    for (size_t i = 0; i < SETS; i++) past[i] = bytes[i];
    CHECK_OK(tacit_sets_isolate(&found, past, SETS, bytes[SETS], PARTIES, 2, &error), error);
    assert_false(found);
    CHECK_OK(tacit_sets_isolate(&found, past, SETS, bytes[SETS], PARTIES, 5, &error), error);
    assert_true(found);
}

/* All pairs of sets of six: two differ by as many as a count says. */
static void test_pairs_agree_with_counting(void **state) {
    (void)state;
    for (unsigned a = 1; a < 64; a++)
        for (unsigned b = 1; b < 64; b++) {
            char first[WIDTH + 1] = "00000000", second[WIDTH + 1] = "00000000";
            const char *past[] = { first };
            size_t differ = 0;
            for (size_t j = 0; j < 6; j++) {
                first[j] = a >> j & 1 ? '1' : '0';
                second[j] = b >> j & 1 ? '1' : '0';
                differ += first[j] != second[j];
            }
            /* A set of one or two is about few by itself, and sums are never over so few. */
            if (__builtin_popcount(b) <= 2) continue;
            assert_int_equal(isolates(past, 1, second, 2), differ > 0 && differ <= 2);
        }
}

static void test_rows_are_counted_with_repetitions(void **state) {
    (void)state;
    const uint64_t a[] = { 1, 2, 2, 3, 9 }, b[] = { 1, 2, 3, 4, 9 };
    assert_int_equal(tacit_rows_difference(a, 5, a, 5), 0);
    assert_int_equal(tacit_rows_difference(a, 5, b, 5), 2);
    assert_int_equal(tacit_rows_difference(a, 5, b, 0), 5);
    assert_int_equal(tacit_rows_difference(a, 0, b, 5), 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_first_set_and_the_same_again_tell_nothing_new),
        cmocka_unit_test(test_two_sets_tell_about_those_who_are_in_one_only),
        cmocka_unit_test(test_combinations_of_three_count),
        cmocka_unit_test(test_only_what_is_new_counts),
        cmocka_unit_test(test_rational_combinations_count),
        cmocka_unit_test(test_too_many_sets_are_not_told_apart),
        cmocka_unit_test(test_what_takes_too_long_to_tell_is_refused),
        cmocka_unit_test(test_pairs_agree_with_counting),
        cmocka_unit_test(test_rows_are_counted_with_repetitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
