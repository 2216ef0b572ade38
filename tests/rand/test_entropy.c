#include "check.h"

#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rand/bits_parts.h"

static tacit_entropy *new_entropy(void) {
    tacit_entropy *entropy = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_entropy_create(&entropy, &error), error);
    return entropy;
}

static void draw(uint8_t out[32], tacit_entropy *entropy) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_entropy_bytes(out, 32, entropy, &error), error);
}

static void two_handles_never_agree(void **state) {
    (void)state;
    tacit_entropy *a = new_entropy(), *b = new_entropy();
    uint8_t from_a[32], from_b[32], again[32];
    draw(from_a, a);
    draw(from_b, b);
    draw(again, a);
    assert_memory_not_equal(from_a, from_b, sizeof from_a);
    assert_memory_not_equal(from_a, again, sizeof from_a);
    tacit_entropy_free(a);
    tacit_entropy_free(b);
}

/* What a child of this process draws next. */
static void draw_in_a_child(uint8_t out[32], tacit_entropy *entropy) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        uint8_t drawn[32];
        bool done = tacit_entropy_bytes(drawn, sizeof drawn, entropy, NULL) == TACIT_OK &&
                    write(ends[1], drawn, sizeof drawn) == sizeof drawn;
        _exit(done ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(read(ends[0], out, 32), 32);
    close(ends[0]);
    close(ends[1]);
}

/* With a part of a block drawn, which the child would otherwise go on with. */
static void a_forked_child_draws_other_numbers(void **state) {
    (void)state;
    tacit_entropy *entropy = new_entropy();
    uint8_t before[32], first[32], second[32], parent[32];
    draw(before, entropy);
    draw_in_a_child(first, entropy);
    draw_in_a_child(second, entropy);
    draw(parent, entropy);
    assert_memory_not_equal(first, second, sizeof first);
    assert_memory_not_equal(first, parent, sizeof first);
    assert_memory_not_equal(second, parent, sizeof first);
    tacit_entropy_free(entropy);
}

/* Past several refills and renewals of the key: ones and zeros balance (Hoeffding at 1e-9: 3.3 sqrt(n)) and
 * no block comes twice. */
static void a_long_draw_is_balanced_and_does_not_repeat(void **state) {
    (void)state;
    enum { BYTES = 3 << 20, WORDS = BYTES / 8 };
    tacit_entropy *entropy = new_entropy();
    tacit_error error = TACIT_ERROR_INIT;
    uint64_t *words = test_malloc(BYTES);
    for (size_t i = 0; i < 3; i++)
        CHECK_OK(tacit_entropy_bytes(words + i * WORDS / 3, BYTES / 3, entropy, &error), error);
    double ones = 0, bits = 8.0 * BYTES;
    for (size_t i = 0; i < WORDS; i++) {
        ones += __builtin_popcountll(words[i]);
        if (i >= TACIT_BITS_WORDS) assert_true(words[i] != words[i - TACIT_BITS_WORDS]);
    }
    assert_true(fabs(ones - bits / 2) < 3.3 * sqrt(bits));
    test_free(words);
    tacit_entropy_free(entropy);
}

static void integers_below_a_bound_are_uniform(void **state) {
    (void)state;
    tacit_entropy *entropy = new_entropy();
    tacit_error error = TACIT_ERROR_INIT;
    double counts[7] = { 0 }, sum = 0;
    const int draws = 70000;
    for (int i = 0; i < draws; i++) {
        uint64_t value = 7;
        CHECK_OK(tacit_entropy_below(&value, entropy, 7, &error), error);
        assert_true(value < 7);
        counts[value]++;
    }
    for (size_t k = 0; k < 7; k++) sum += (counts[k] - 1e4) * (counts[k] - 1e4) / 1e4;
    assert_true(sum < 53.4); /* the 1 - 1e-9 quantile of chi-square with 6 degrees of freedom */
    uint64_t value = 9;
    CHECK_OK(tacit_entropy_below(&value, entropy, 1, &error), error);
    assert_int_equal(value, 0);
    CHECK_OK(tacit_entropy_below(&value, entropy, UINT64_MAX, &error), error);
    value = 9;
    assert_int_equal(tacit_entropy_below(&value, entropy, 0, &error), TACIT_USAGE);
    assert_int_equal(value, 9);
    tacit_entropy_free(entropy);
}

static void no_handle_is_an_error(void **state) {
    (void)state;
    uint8_t byte = 1;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_entropy_bytes(&byte, 1, NULL, &error), TACIT_USAGE);
    assert_int_equal(byte, 1);
    assert_null(tacit_entropy_free(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_handles_never_agree),
        cmocka_unit_test(a_forked_child_draws_other_numbers),
        cmocka_unit_test(a_long_draw_is_balanced_and_does_not_repeat),
        cmocka_unit_test(integers_below_a_bound_are_uniform),
        cmocka_unit_test(no_handle_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
