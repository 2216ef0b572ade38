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

/* A = {0..5}, B = {0..2, 6, 7}, C = {3..7}: no two differ by fewer than five, and A - B - C is minus twice 6
 * and 7. */
static void test_combinations_of_three_count(void **state) {
    (void)state;
    const char *past[] = { "11111100", "11100011" };
    assert_false(isolates(past, 1, "00011111", 2));
    assert_false(isolates(past + 1, 1, "00011111", 2));
    assert_true(isolates(past, 2, "00011111", 2));
    assert_false(isolates(past, 2, "00011111", 1));
}

/* Rows from `from` to before `to`, without those of number `without`. */
typedef struct row_numbers {
    uint64_t hash[200];
    size_t count;
} row_numbers;

static row_numbers rows_between(uint64_t from, uint64_t to, uint64_t without) {
    row_numbers out = { .count = 0 };
    for (uint64_t i = from; i < to; i++)
        if (i != without) out.hash[out.count++] = i / 2; /* each hash twice: rows that are alike */
    return out;
}

static bool rows_isolate(const row_numbers *past, size_t count, const row_numbers *now, size_t most) {
    tacit_row_list lists[TACIT_SETS_MOST + 1];
    tacit_error error = TACIT_ERROR_INIT;
    bool found = false;
    for (size_t i = 0; i < count && i <= TACIT_SETS_MOST; i++)
        lists[i] = (tacit_row_list){ past[i].hash, past[i].count };
    CHECK_OK(
        tacit_rows_isolate(&found, lists, count, (tacit_row_list){ now->hash, now->count }, most, &error),
        error);
    return found;
}

/* The women, the men, and all but one: no two differ by few, and the sum of the first two less the third is that
 * one row. */
static void test_subsets_of_rows_are_combined(void **state) {
    (void)state;
    const row_numbers women = rows_between(0, 60, 999), men = rows_between(60, 120, 999),
                      all = rows_between(0, 120, 999), but_one = rows_between(0, 120, 77),
                      old = rows_between(30, 100, 999);
    const row_numbers past[] = { women, men };
    assert_false(rows_isolate(past, 2, &all, 9)); /* it follows from the two */
    assert_false(rows_isolate(past, 1, &but_one, 9));
    assert_false(rows_isolate(past + 1, 1, &but_one, 9));
    assert_true(rows_isolate(past, 2, &but_one, 9));
    assert_true(rows_isolate(past, 2, &but_one, 1));
    assert_false(rows_isolate(past, 2, &old, 9));
    const row_numbers whole[] = { all }, nearly = rows_between(0, 111, 999),
                      fewer = rows_between(0, 110, 999);
    assert_true(rows_isolate(whole, 1, &nearly, 9));
    assert_false(rows_isolate(whole, 1, &fewer, 9));
}

static void test_more_sets_of_rows_than_can_be_compared_are_refused(void **state) {
    (void)state;
    row_numbers past[TACIT_SETS_MOST + 1];
    for (size_t i = 0; i <= TACIT_SETS_MOST; i++) past[i] = rows_between(0, 100, 999);
    assert_false(rows_isolate(past, TACIT_SETS_MOST, &past[0], 9));
    assert_true(rows_isolate(past, TACIT_SETS_MOST + 1, &past[0], 9));
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

/* Party j is in set i where j has bit i. Every combination of these sets, and of all parties, is about 15 or
 * more (a code of Reed and Muller); but whether one is about five takes 206,367 attempts, more than are
 * made. */
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

/* The rank of integers, by elimination without fractions (Bareiss), of the columns that `kept` has a bit
 * for. */
static size_t integer_rank(size_t rows, long matrix[][WIDTH], unsigned kept) {
    long a[6][WIDTH], before = 1;
    size_t columns = 0, rank = 0;
    for (size_t j = 0; j < WIDTH; j++)
        if (kept >> j & 1) {
            for (size_t i = 0; i < rows; i++) a[i][columns] = matrix[i][j];
            columns++;
        }
    for (size_t j = 0; j < columns && rank < rows; j++) {
        size_t pivot = rank;
        while (pivot < rows && a[pivot][j] == 0) pivot++;
        if (pivot == rows) continue;
        for (size_t k = 0; k < columns; k++) {
            long other = a[pivot][k];
            a[pivot][k] = a[rank][k];
            a[rank][k] = other;
        }
        for (size_t i = rank + 1; i < rows; i++)
            for (size_t k = columns; k-- > j;)
                a[i][k] = (a[rank][j] * a[i][k] - a[i][j] * a[rank][k]) / before;
        before = a[rank++][j];
    }
    return rank;
}

/* By trying every group of at most `most`: whether more forms are about it alone with the last row than
 * without. */
static bool isolates_by_trying(size_t rows, long matrix[][WIDTH], size_t most) {
    const unsigned all = (1U << WIDTH) - 1;
    size_t with = integer_rank(rows, matrix, all), without = integer_rank(rows - 1, matrix, all);
    for (unsigned group = 1; group <= all; group++) {
        if ((size_t)__builtin_popcount(group) > most) continue;
        size_t about = with - integer_rank(rows, matrix, all & ~group);
        if (about > without - integer_rank(rows - 1, matrix, all & ~group)) return true;
    }
    return false;
}

/* Any few sets of eight agree with every combination tried; a third of them are about few. */
static void test_combinations_agree_with_trying_all(void **state) {
    (void)state;
    enum { CASES = 3000, ROWS = 6 };
    uint64_t draw = 20261116;
    size_t found = 0;
    for (int turn = 0; turn < CASES; turn++) {
        char texts[ROWS][WIDTH + 1];
        const char *past[ROWS];
        long matrix[ROWS][WIDTH];
        const size_t rows = 2 + (size_t)turn % (ROWS - 1), most = 1 + (size_t)(turn / 7) % 2;
        for (size_t i = 0; i < rows; i++) {
            past[i] = texts[i];
            texts[i][WIDTH] = 0;
            for (size_t j = 0; j < WIDTH; j++) {
                draw = draw * 6364136223846793005U + 1442695040888963407U;
                matrix[i][j] = (draw >> 33) % 3 != 0;
                texts[i][j] = (char)('0' + matrix[i][j]);
            }
        }
        const bool expected = isolates_by_trying(rows, matrix, most);
        found += expected;
        if (isolates(past, rows - 1, past[rows - 1], most) != expected)
            fail_msg("case %d: %zu sets, the last %s", turn, rows, past[rows - 1]);
    }
    assert_in_range(found, CASES / 10, CASES * 9 / 10);
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
        cmocka_unit_test(test_subsets_of_rows_are_combined),
        cmocka_unit_test(test_more_sets_of_rows_than_can_be_compared_are_refused),
        cmocka_unit_test(test_only_what_is_new_counts),
        cmocka_unit_test(test_rational_combinations_count),
        cmocka_unit_test(test_too_many_sets_are_not_told_apart),
        cmocka_unit_test(test_what_takes_too_long_to_tell_is_refused),
        cmocka_unit_test(test_pairs_agree_with_counting),
        cmocka_unit_test(test_combinations_agree_with_trying_all),
        cmocka_unit_test(test_rows_are_counted_with_repetitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
