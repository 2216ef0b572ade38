/*
 * Intervals always hold the real number they stand for, and decisions are taken only when both ends agree.
 * Reals are given the least and the greatest digits behind those that an interval knows, where a bound
 * rounded the wrong way would show at once.
 */
#include "check.h"

#include "source.h"

enum { EXACT = 8000, DIGITS = 40, COORDINATES = 3 };

static void constant_fill(void *context, uint64_t *words, size_t count) {
    for (size_t i = 0; i < count; i++) words[i] = *(const uint64_t *)context;
}

/* A real with a given whole part and first digit, and then `rest`, DIGITS in all. */
static tacit_lazy real_with(uint64_t whole, uint64_t first, uint64_t rest) {
    tacit_lazy x = { .whole = whole, .first = first, .known = 1 };
    tacit_bits bits;
    tacit_bits_init(&bits, constant_fill, &rest);
    tacit_lazy_digit(&x, DIGITS - 1, &bits);
    assert_false(bits.failed);
    return x;
}

static void exact_of(mpfr_t out, tacit_lazy *x) {
    mpfr_set_ui(out, x->whole, MPFR_RNDN);
    for (size_t i = 0; i < DIGITS; i++) {
        mpfr_mul_2ui(out, out, 64, MPFR_RNDN);
        mpfr_add_ui(out, out, tacit_lazy_digit(x, i, NULL), MPFR_RNDN);
    }
    mpfr_div_2ui(out, out, 64 * DIGITS, MPFR_RNDN);
}

static const uint64_t rests[] = { 0, UINT64_MAX };

static void known_digits_bound_the_real(void **state) {
    (void)state;
    mpfr_t exact;
    mpfr_init2(exact, EXACT);
    tacit_stream stream = tacit_stream_from_seed(1);
    for (int trial = 0; trial < 200; trial++) {
        tacit_space space = { .limbs = NULL };
        tacit_lazy x = real_with(tacit_stream_below(&stream, 3), tacit_stream_u64(&stream), rests[trial % 2]);
        assert_int_equal(tacit_space_start(&space, 1, -1, NULL), TACIT_OK);
        exact_of(exact, &x);
        for (size_t known = 1; known < 32; known *= 2) {
            assert_int_equal(space.known, known);
            assert_true(space.words > known);
            tacit_interval_of(&space.noise, &x, &space, NULL);
            assert_true(mpfr_lessequal_p(space.noise.low, exact) && mpfr_less_p(exact, space.noise.high));
            mpfr_sub(space.noise.high, space.noise.high, space.noise.low, MPFR_RNDU);
            assert_true(mpfr_cmp_ui_2exp(space.noise.high, 1, -64 * (mpfr_exp_t)known) == 0);
            assert_int_equal(tacit_space_refine(&space, NULL), TACIT_OK);
        }
        tacit_space_clear(&space);
        tacit_lazy_reset(&x);
    }
    mpfr_clear(exact);
}

/* An interval of low precision and random ends, 0 <= low <= high. */
static void random_interval(tacit_interval *x, tacit_stream *stream) {
    mpfr_inits2(20, x->low, x->high, NULL);
    mpfr_set_d(x->low, tacit_stream_unit(stream) * pow(10, (double)tacit_stream_below(stream, 12) - 6),
               MPFR_RNDD);
    mpfr_mul_d(x->high, x->low, 1 + 1e-3 * tacit_stream_unit(stream), MPFR_RNDU);
}

/* Whether x's ends lie on the outer side of what exact arithmetic made of them. */
static void check_outside(const tacit_interval *x, mpfr_t low, mpfr_t high) {
    assert_true(mpfr_lessequal_p(x->low, low));
    assert_true(mpfr_greaterequal_p(x->high, high));
}

/* Operations on x and another interval; x is given back as it was. */
static void check_pairs(tacit_interval *x, tacit_stream *stream) {
    tacit_interval y, out;
    mpfr_t low, high;
    mpfr_inits2(EXACT, low, high, NULL);
    random_interval(&y, stream);
    mpfr_inits2(20, out.low, out.high, NULL);
    mpfr_div(low, x->low, y.high, MPFR_RNDU); /* not exact, but far finer than 20 bits */
    mpfr_div(high, x->high, y.low, MPFR_RNDD);
    tacit_interval_divide(&out, x, &y);
    check_outside(&out, low, high);
    mpfr_add(low, x->low, out.low, MPFR_RNDN);
    mpfr_add(high, x->high, out.high, MPFR_RNDN);
    tacit_interval_add(&out, x);
    check_outside(&out, low, high);
    mpfr_mul(low, y.low, out.low, MPFR_RNDN);
    mpfr_mul(high, y.high, out.high, MPFR_RNDN);
    tacit_interval_multiply(&out, &y);
    check_outside(&out, low, high);
    mpfr_clears(low, high, y.low, y.high, out.low, out.high, NULL);
}

static void every_operation_rounds_outwards(void **state) {
    (void)state;
    mpfr_t low, high;
    mpfr_inits2(EXACT, low, high, NULL);
    tacit_stream stream = tacit_stream_from_seed(2);
    for (int trial = 0; trial < 2000; trial++) {
        tacit_interval x;
        random_interval(&x, &stream);
        double factor = tacit_stream_unit(&stream), value = 100 * (tacit_stream_unit(&stream) - 0.5);
        int grid = (int)tacit_stream_below(&stream, 40) - 20;
        mpfr_mul_d(low, x.low, factor, MPFR_RNDN);
        mpfr_mul_d(high, x.high, factor, MPFR_RNDN);
        tacit_interval_scale(&x, factor);
        check_outside(&x, low, high);
        mpfr_sqr(low, x.low, MPFR_RNDN);
        mpfr_sqr(high, x.high, MPFR_RNDN);
        tacit_interval_square(&x);
        check_outside(&x, low, high);
        check_pairs(&x, &stream);
        mpfr_neg(low, x.high, MPFR_RNDN);
        mpfr_neg(high, x.low, MPFR_RNDN);
        tacit_interval_negate(&x);
        check_outside(&x, low, high);
        mpfr_add_d(low, low, value, MPFR_RNDN);
        mpfr_add_d(high, high, value, MPFR_RNDN);
        mpfr_mul_2si(low, low, grid, MPFR_RNDN);
        mpfr_mul_2si(high, high, grid, MPFR_RNDN);
        mpfr_add_d(low, low, 0.5, MPFR_RNDN);
        mpfr_add_d(high, high, 0.5, MPFR_RNDN);
        tacit_interval_place(&x, value, grid);
        check_outside(&x, low, high);
        mpfr_clears(x.low, x.high, NULL);
    }
    mpfr_clears(low, high, NULL);
}

/* The factor s T/|Z| of a gamma-norm vector, with the undrawn digits of the normals and of the exponentials
 * at either extreme. */
static void the_common_factor_is_bounded(void **state) {
    (void)state;
    mpfr_t t, square, sum;
    mpfr_inits2(EXACT, t, square, sum, NULL);
    tacit_stream stream = tacit_stream_from_seed(3);
    for (int trial = 0; trial < 400; trial++) {
        tacit_space space = { .limbs = NULL };
        tacit_lazy x[2 * COORDINATES];
        const double scale = 0.7;
        mpfr_set_zero(square, 1);
        mpfr_set_zero(sum, 1);
        for (size_t i = 0; i < 2 * COORDINATES; i++) {
            uint64_t rest = rests[i < COORDINATES ? trial % 2 : trial / 2 % 2];
            x[i] = real_with(tacit_stream_below(&stream, 3), tacit_stream_u64(&stream), rest);
            exact_of(t, &x[i]);
            if (i < COORDINATES)
                mpfr_fma(square, t, t, square, MPFR_RNDN);
            else
                mpfr_add(sum, sum, t, MPFR_RNDN);
        }
        mpfr_mul_d(sum, sum, scale, MPFR_RNDN);
        mpfr_sqrt(square, square, MPFR_RNDN);
        mpfr_div(t, sum, square, MPFR_RNDN);
        assert_int_equal(tacit_space_start(&space, scale, trial % 3 * 10, NULL), TACIT_OK);
        tacit_exact_norm_factor(&space, x, COORDINATES, scale, NULL);
        assert_true(mpfr_less_p(space.factor.low, t) && mpfr_less_p(t, space.factor.high));
        mpfr_div(space.factor.high, space.factor.high, space.factor.low, MPFR_RNDU);
        assert_true(mpfr_get_d(space.factor.high, MPFR_RNDU) < 1 + 1e-15); /* and not by too much */
        for (size_t i = 0; i < 2 * COORDINATES; i++) tacit_lazy_reset(&x[i]);
        tacit_space_clear(&space);
    }
    mpfr_clears(t, square, sum, NULL);
}

/* The exponent of the discrete Gaussian against rational arithmetic: small and large, and where |Y| t and s^2
 * agree. */
static void the_discrete_gaussian_exponent_is_bounded(void **state) {
    (void)state;
    mpq_t s, t, y;
    mpq_inits(s, t, y, NULL);
    const double scales[] = {
        1e-300, 0x1p-1074, 0.3, 1, 1.5, 2, 12, 1234.5678, 0x1.fffffffffffffp49, 0x1p50
    };
    const int64_t candidates[] = { 0, 1, 2, 7, 12345, (INT64_C(1) << 62) - 1 };
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        for (size_t k = 0; k < sizeof candidates / sizeof *candidates; k++) {
            tacit_space space = { .limbs = NULL };
            assert_int_equal(tacit_space_start(&space, 1, 0, NULL), TACIT_OK);
            tacit_exact_gaussian_exponent(&space, scales[i], candidates[k]);
            mpq_set_d(s, scales[i]);
            mpq_mul(s, s, s);
            mpq_set_d(t, floor(scales[i]) + 1);
            mpq_set_si(y, candidates[k], 1);
            mpq_div(t, s, t);
            mpq_sub(y, y, t);
            mpq_mul(y, y, y);
            mpq_div(y, y, s);
            mpq_div_2exp(y, y, 1);
            assert_true(mpfr_cmp_q(space.factor.low, y) <= 0 && mpfr_cmp_q(space.factor.high, y) >= 0);
            mpfr_sub(space.factor.low, space.factor.high, space.factor.low, MPFR_RNDU);
            mpfr_div(space.factor.low, space.factor.low, space.factor.high, MPFR_RNDU);
            if (mpq_sgn(y) != 0) assert_true(mpfr_get_d(space.factor.low, MPFR_RNDU) < 1e-30);
            tacit_space_clear(&space);
        }
    mpq_clears(s, t, y, NULL);
}

static int decision(double low, double high, int64_t *steps) {
    tacit_space space = { .limbs = NULL };
    assert_int_equal(tacit_space_start(&space, 1, 0, NULL), TACIT_OK);
    mpfr_set_d(space.sum.low, low, MPFR_RNDN);
    mpfr_set_d(space.sum.high, high, MPFR_RNDN);
    bool decided = tacit_interval_floor(steps, &space.sum, &space);
    tacit_space_clear(&space);
    return decided;
}

static void only_certain_floors_are_given(void **state) {
    (void)state;
    const int64_t end = INT64_C(1) << 62;
    const struct {
        double low, high;
        bool decided;
        int64_t steps;
    } cases[] = {
        { 1, 1.75, true, 1 },
        { 0.75, 1, false, 0 },
        { -0.25, 0.25, false, 0 },
        { -0.75, -0.25, true, -1 },
        { -1, -0.5, true, -1 },
        { -1.25, -0.5, false, 0 },
        { 0, 0.5, true, 0 },
        { 0x1p53, 0x1p53, true, INT64_C(1) << 53 },
        { 0x1p62, 1e300, true, end },
        { 0x1.fffffp61, 0x1p62, false, 0 },
        { -1e300, -0x1p62, true, -end },
        { 1, INFINITY, false, 0 },
        { 0x1p63, INFINITY, true, end },
        { -INFINITY, 0, false, 0 },
        { -INFINITY, -0x1p70, true, -end },
        { NAN, NAN, false, 0 },
        { 0, NAN, false, 0 },
        { -1e-300, 1e-300, false, 0 },
        { -1e-300, -1e-310, true, -1 },
        { 1e-310, 1e-300, true, 0 },
        { 1e18, 1e18, true, INT64_C(1000000000000000000) },
        { -1e18 - 128, -1e18 - 128, true, INT64_C(-1000000000000000128) },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t steps = 0;
        assert_int_equal(decision(cases[i].low, cases[i].high, &steps), cases[i].decided);
        if (cases[i].decided) assert_int_equal(steps, cases[i].steps);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_digits_bound_the_real),
        cmocka_unit_test(every_operation_rounds_outwards),
        cmocka_unit_test(the_common_factor_is_bounded),
        cmocka_unit_test(the_discrete_gaussian_exponent_is_bounded),
        cmocka_unit_test(only_certain_floors_are_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
