/* What the exact samplers refuse, the ends of their range, and that fixed bits give fixed figures. */
#include "check.h"

#include <float.h>

#include "source.h"

static tacit_entropy *new_entropy(void) {
    tacit_entropy *entropy = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_entropy_create(&entropy, &error), error);
    return entropy;
}

/* Fill with something first: a failed call must not leave an old release to be taken for a new one. */
static void check_refused(tacit_status expected, tacit_law noise, double value, size_t count, double scale,
                          int grid_bits) {
    tacit_entropy *entropy = new_entropy();
    tacit_exact_vector *vector = new_vector();
    tacit_error error = TACIT_ERROR_INIT;
    const double fine = 1;
    CHECK_OK(tacit_exact_add(vector, entropy, TACIT_LAW_LAPLACE, &fine, 1, 1, 10, &error), error);
    assert_int_equal(tacit_exact_vector_count(vector), 1);
    assert_int_equal(tacit_exact_vector_law(vector), TACIT_LAW_LAPLACE);
    tacit_status status = tacit_exact_add(vector, entropy, noise, &value, count, scale, grid_bits, &error);
    assert_int_equal(status, expected);
    assert_int_equal(error.status, expected);
    assert_true(error.text[0] != 0);
    assert_int_equal(tacit_exact_vector_count(vector), 0);
    assert_int_equal(tacit_exact_vector_law(vector), TACIT_LAW_NONE);
    tacit_exact_vector_free(vector);
    tacit_entropy_free(entropy);
}

static void bad_input_is_refused_and_nothing_released(void **state) {
    (void)state;
    const tacit_law laws[] = { TACIT_LAW_UNIFORM, TACIT_LAW_EXPONENTIAL, TACIT_LAW_LAPLACE,
                               TACIT_LAW_GAUSSIAN, TACIT_LAW_GAMMA_NORM };
    const double bad_scales[] = { 0, -0.0, -1, NAN, INFINITY, -INFINITY };
    for (size_t i = 0; i < 5; i++) {
        for (size_t k = 0; k < 6; k++) check_refused(TACIT_INPUT, laws[i], 1, 1, bad_scales[k], 10);
        check_refused(TACIT_INPUT, laws[i], NAN, 1, 1, 10);
        check_refused(TACIT_INPUT, laws[i], INFINITY, 1, 1, 10);
        check_refused(TACIT_USAGE, laws[i], 1, 0, 1, 10);
        check_refused(TACIT_USAGE, laws[i], 1, 1, 1, 1001);
        check_refused(TACIT_USAGE, laws[i], 1, 1, 1, -1001);
    }
    check_refused(TACIT_USAGE, TACIT_LAW_NONE, 1, 1, 1, 10);
    check_refused(TACIT_USAGE, TACIT_LAW_DISCRETE_GAUSSIAN, 1, 1, 1, 10);
    check_refused(TACIT_USAGE, (tacit_law)99, 1, 1, 1, 10);
}

static void bad_integer_requests_are_refused(void **state) {
    (void)state;
    tacit_entropy *entropy = new_entropy();
    tacit_exact_vector *vector = new_vector();
    const int64_t value = 3;
    const double bad_scales[] = { 0, -1, NAN, INFINITY, 0x1p51 };
    const uint64_t bad_parts[] = { 0, (UINT64_C(1) << 32) + 1 };
    for (size_t k = 0; k < 2; k++)
        assert_int_equal(tacit_exact_add_polya(vector, entropy, &value, 1, 2, bad_parts[k], 0, NULL),
                         TACIT_USAGE);
    assert_int_equal(tacit_exact_add_polya(vector, entropy, &value, 1, 0x1p51, 3, 0, NULL), TACIT_INPUT);
    assert_int_equal(tacit_exact_add_integer(vector, entropy, TACIT_LAW_POLYA, &value, 1, 2, 0, NULL),
                     TACIT_USAGE);
    for (int noise = TACIT_LAW_GEOMETRIC; noise <= TACIT_LAW_DISCRETE_GAUSSIAN; noise++)
        for (size_t k = 0; k < 5; k++)
            assert_int_equal(
                tacit_exact_add_integer(vector, entropy, (tacit_law)noise, &value, 1, bad_scales[k], 0, NULL),
                TACIT_INPUT);
    assert_int_equal(tacit_exact_add_integer(vector, entropy, TACIT_LAW_GAUSSIAN, &value, 1, 1, 0, NULL),
                     TACIT_USAGE);
    assert_int_equal(tacit_exact_add_integer(vector, entropy, TACIT_LAW_GEOMETRIC, NULL, 1, 1, 0, NULL),
                     TACIT_USAGE);
    assert_int_equal(tacit_exact_add_integer(vector, NULL, TACIT_LAW_GEOMETRIC, &value, 1, 1, 0, NULL),
                     TACIT_USAGE);
    assert_int_equal(tacit_exact_vector_count(vector), 0);
    tacit_exact_vector_free(vector);
    tacit_entropy_free(entropy);
}

static void bad_coins_are_refused(void **state) {
    (void)state;
    tacit_entropy *entropy = new_entropy();
    bool out = true;
    assert_int_equal(tacit_exact_bernoulli(&out, entropy, 1, 0, NULL), TACIT_INPUT);
    assert_int_equal(tacit_exact_bernoulli(&out, entropy, 3, 2, NULL), TACIT_INPUT);
    const double bad[][2] = { { -1, 1 }, { NAN, 1 }, { INFINITY, 1 }, { 1, 0 }, { 1, -1 }, { 1, NAN } };
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(tacit_exact_bernoulli_exp(&out, entropy, bad[i][0], bad[i][1], NULL), TACIT_INPUT);
    assert_true(out);
    tacit_entropy_free(entropy);
}

/* A sum that does not fit is told apart by the noisy sum, on both sides, and leaves nothing behind. */
static void a_sum_beyond_the_range_is_an_error(void **state) {
    (void)state;
    check_refused(TACIT_LIMIT, TACIT_LAW_LAPLACE, 1e300, 1, 1, 0);
    check_refused(TACIT_LIMIT, TACIT_LAW_GAUSSIAN, -1e300, 1, 1, 0);
    check_refused(TACIT_LIMIT, TACIT_LAW_GAMMA_NORM, DBL_MAX, 1, 1, 1000);
    check_refused(TACIT_LIMIT, TACIT_LAW_EXPONENTIAL, 0, 1, 1e300, 0);
    tacit_entropy *entropy = new_entropy();
    tacit_exact_vector *vector = new_vector();
    const int64_t ends[] = { INT64_MAX, INT64_MIN, INT64_C(1) << 62, -(INT64_C(1) << 62) };
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(
            tacit_exact_add_integer(vector, entropy, TACIT_LAW_DISCRETE_LAPLACE, &ends[i], 1, 1e-3, 0, NULL),
            TACIT_LIMIT);
    tacit_exact_vector_free(vector);
    tacit_entropy_free(entropy);
}

static int64_t one_step(tacit_law noise, double value, double scale, int grid_bits) {
    tacit_entropy *entropy = new_entropy();
    tacit_exact_vector *vector = new_vector();
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_exact_add(vector, entropy, noise, &value, 1, scale, grid_bits, &error), error);
    int64_t step = tacit_exact_vector_steps(vector)[0];
    assert_int_equal(tacit_exact_vector_grid_bits(vector), grid_bits);
    assert_true(tacit_exact_vector_scale(vector) == scale);
    tacit_exact_vector_free(vector);
    tacit_entropy_free(entropy);
    return step;
}

static void the_ends_of_the_range_work(void **state) {
    (void)state;
    const double tiny = 5e-324; /* the least double above 0 */
    for (int noise = TACIT_LAW_UNIFORM; noise <= TACIT_LAW_GAMMA_NORM; noise++) {
        tacit_law law = (tacit_law)noise;
        assert_int_equal(one_step(law, 0.25, 1e-300, 10), 256);
        assert_int_equal(one_step(law, 0.25, tiny, 40), INT64_C(1) << 38);
        assert_int_equal(one_step(law, tiny, tiny, 1000), 0);
        assert_int_equal(one_step(law, DBL_MIN / 4, DBL_MIN / 8, 0), 0);
        /* 1e300 is 2^996.6: noise below 2^62 2^-36 1e300 in all but exp(-2^20) of cases. */
        one_step(law, 0, 1e300, -960);
        one_step(law, tiny, DBL_MAX, -1000);
        int64_t step = one_step(law, -DBL_MAX, 1, -1000);
        assert_int_equal(step, -(INT64_C(1) << 24));
    }
}

/* Stored once; the same bits must give the same release in every version, or a test that replays a party's
 * noise would compare apples with pears. */
static void fixed_bits_give_fixed_figures(void **state) {
    (void)state;
    static const double value[3] = { 0, 1, -1 };
    static const int64_t whole[3] = { 0, 100, -100 };
    static const int64_t expected[][3] = {
        { -3211530, -932401, 2767628 },
        { 3211530, 15160950, 5773616 },
        { -3211530, 4864780, -49436726 },
        { -17490594, 9390025, -14663922 },
        { -49465777, 20224201, 19654552 },
        { 3, 113, -94 },
        { 3, 103, -146 },
        { 3, 99, -118 },
    };
    for (int noise = TACIT_LAW_UNIFORM; noise <= TACIT_LAW_DISCRETE_GAUSSIAN; noise++) {
        tacit_exact_vector *vector = new_vector();
        tacit_error error = TACIT_ERROR_INIT;
        source from;
        source_begin(&from, 2020, NULL, 0);
        tacit_exact_request request = noise >= TACIT_LAW_GEOMETRIC
                                          ? whole_request((tacit_law)noise, whole, 3, 12.5)
                                          : real_request((tacit_law)noise, value, 3, 12.5, 20);
        CHECK_OK(tacit_exact_fill(vector, &request, &from.bits, &error), error);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(tacit_exact_vector_steps(vector)[i], expected[noise - TACIT_LAW_UNIFORM][i]);
        tacit_exact_vector_free(vector);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_input_is_refused_and_nothing_released),
        cmocka_unit_test(bad_integer_requests_are_refused),
        cmocka_unit_test(bad_coins_are_refused),
        cmocka_unit_test(a_sum_beyond_the_range_is_an_error),
        cmocka_unit_test(the_ends_of_the_range_work),
        cmocka_unit_test(fixed_bits_give_fixed_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
