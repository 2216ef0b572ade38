/* Exact samplers on digits that a test chooses, and what they leave in memory. */
#include "check.h"

#include "source.h"

/*
 * An exponential number just below 1/2 against 1/2: it loses. Its first digits leave an interval that ends at
 * 1/2, and whoever decides for the upper end of it gets it wrong.
 *
 * The words: a uniform number above x ends von Neumann's run at once, so that x is kept; then the digits of
 * x.
 */
static void a_race_is_decided_on_certain_digits_only(void **state) {
    (void)state;
    static const uint64_t words[] = { UINT64_MAX, UINT64_MAX >> 1, UINT64_MAX, UINT64_MAX, 0 };
    source bits;
    tacit_space space = { .limbs = NULL };
    tacit_error error = TACIT_ERROR_INIT;
    bool wins = true;
    source_begin(&bits, 1, words, sizeof words / sizeof *words);
    CHECK_OK(tacit_exact_race(&wins, &space, 1, 2, &bits.bits, &error), error);
    assert_false(wins);
    tacit_space_clear(&space);
}

static void check_wiped(const tacit_space *space) {
    for (size_t i = 0; i < sizeof space->first / sizeof *space->first; i++)
        assert_int_equal(space->first[i], 0);
    for (size_t i = 0; space->limbs != NULL && i < TACIT_SPACE_NUMBERS * space->room; i++)
        assert_int_equal(space->limbs[i], 0);
}

/* The working numbers hold value and noise, which together with the released sum tell the value. */
static void nothing_of_the_noise_stays_in_memory(void **state) {
    (void)state;
    static const double values[3] = { 0.3, -7, 1e6 }, tiny[3] = { 1e-110, 0, -1e-112 };
    static const tacit_law laws[] = { TACIT_LAW_LAPLACE, TACIT_LAW_GAUSSIAN, TACIT_LAW_GAMMA_NORM };
    for (size_t i = 0; i < 3; i++)
        for (int slow = 0; slow < 2; slow++) { /* with this many digits that there is more room to wipe */
            source bits;
            tacit_error error = TACIT_ERROR_INIT;
            tacit_exact_vector *vector = new_vector();
            tacit_exact_request request = real_request(laws[i], values, 3, 2.5, slow ? 400 : 20);
            source_begin(&bits, 3 + i, NULL, 0);
            if (slow) request.value = tiny, request.scale = 1e-110;
            CHECK_OK(tacit_exact_fill(vector, &request, &bits.bits, &error), error);
            check_wiped(&vector->space);
            tacit_exact_vector_free(vector);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_race_is_decided_on_certain_digits_only),
        cmocka_unit_test(nothing_of_the_noise_stays_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
