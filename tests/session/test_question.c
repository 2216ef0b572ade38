/* Sums on a grid: no overflow, no rounding beyond half a step, no order. */
#include "check.h"

#include <float.h>

#include "rand/stream.h"
#include "session/wire/question.h"

static tacit_sum_spec spec_for(size_t length, double bound, size_t parties) {
    tacit_sum_spec spec;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_sum_spec_for(&spec, length, bound, parties, &error), error);
    return spec;
}

static void the_largest_contributions_of_all_parties_do_not_overflow(void **state) {
    (void)state;
    const double bounds[] = { 1e-300, 0.3, 1, 1.0000001, 4096, 1e9, 1e300 };
    const size_t counts[] = { 1, 2, 3, 1000, 1023, 1024, 1025, 20000, 100000000 };
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            tacit_sum_spec spec = spec_for(1, bounds[b], counts[c]);
            int64_t one;
            assert_int_equal(tacit_sum_quantise(&spec, &bounds[b], &one, NULL), TACIT_OK);
            assert_true(one > 0 && (long double)one * (long double)counts[c] <= 0x1p62L);
        }
}

static void a_contribution_is_off_by_at_most_half_a_step(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(2);
    tacit_sum_spec spec = spec_for(1, 3, 20000);
    double step = ldexp(1, -spec.grid_bits);
    CHECK_NEAR(tacit_sum_rounding(&spec), step / 2, 1e-12 * step);
    for (int i = 0; i < 10000; i++) {
        double value = 3 * (2 * tacit_stream_unit(&stream) - 1);
        int64_t grid;
        assert_int_equal(tacit_sum_quantise(&spec, &value, &grid, NULL), TACIT_OK);
        assert_true(fabs(tacit_sum_value(&spec, grid) - value) <= step / 2);
    }
}

static void the_rounding_of_many_coordinates_is_their_norm(void **state) {
    (void)state;
    tacit_sum_spec one = spec_for(1, 3, 7), many = spec_for(144, 3, 7);
    CHECK_NEAR(tacit_sum_rounding(&many) / tacit_sum_rounding(&one), 12, 1e-12);
}

static void every_sum_is_a_double_exactly(void **state) {
    (void)state;
    const size_t parties[] = { 1, 2, 5, 1000, 1 << 20 };
    for (size_t i = 0; i < sizeof parties / sizeof *parties; i++) {
        tacit_sum_spec spec = spec_for(1, 0.75, parties[i]);
        double most = ldexp(spec.bound * (double)parties[i], spec.grid_bits);
        assert_true(most <= 0x1p53 && most > 0x1p50); /* and no coarser than it must be */
    }
}

static void values_beyond_the_bound_or_not_finite_are_an_internal_error(void **state) {
    (void)state;
    tacit_sum_spec spec = spec_for(2, 1.5, 3);
    const double bad[][2] = { { 0, 1.6 }, { -1.6, 0 }, { NAN, 0 }, { 0, INFINITY } };
    int64_t out[2];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(tacit_sum_quantise(&spec, bad[i], out, NULL), TACIT_INTERNAL);
    const double edge[] = { 1.5, -1.5 };
    assert_int_equal(tacit_sum_quantise(&spec, edge, out, NULL), TACIT_OK);
    assert_true(out[0] == -out[1]);
}

static void senseless_bounds_and_no_parties_are_refused(void **state) {
    (void)state;
    tacit_sum_spec spec;
    const double bad[] = { 0, -1, INFINITY, NAN };
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(tacit_sum_spec_for(&spec, 1, bad[i], 5, NULL), TACIT_USAGE);
    assert_int_equal(tacit_sum_spec_for(&spec, 1, 1, 0, NULL), TACIT_USAGE);
}

static void specs_are_equal_only_in_every_part(void **state) {
    (void)state;
    tacit_sum_spec a = { 3, 1.5, 40 }, b = a;
    assert_true(tacit_sum_spec_equal(&a, &b));
    b.length = 4;
    assert_false(tacit_sum_spec_equal(&a, &b));
    b = (tacit_sum_spec){ 3, 1.5000000000000002, 40 };
    assert_false(tacit_sum_spec_equal(&a, &b));
    b = (tacit_sum_spec){ 3, 1.5, 41 };
    assert_false(tacit_sum_spec_equal(&a, &b));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_contributions_of_all_parties_do_not_overflow),
        cmocka_unit_test(a_contribution_is_off_by_at_most_half_a_step),
        cmocka_unit_test(the_rounding_of_many_coordinates_is_their_norm),
        cmocka_unit_test(every_sum_is_a_double_exactly),
        cmocka_unit_test(values_beyond_the_bound_or_not_finite_are_an_internal_error),
        cmocka_unit_test(senseless_bounds_and_no_parties_are_refused),
        cmocka_unit_test(specs_are_equal_only_in_every_part),
    };
    return cmocka_run_group_tests_name("question", tests, NULL, NULL);
}
