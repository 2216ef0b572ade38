/*
 * The released step is the rounding of the real sum. Each case is computed a second time from the same
 * digits, 32 of them (2,048 bits) for every real, at more than 2,000 bits and to nearest, by other code; in
 * the adversarial cases the value is chosen so that the sum all but hits the middle between two steps.
 */
#include "check.h"

#include <stdlib.h>

#include "source.h"

enum { DIGITS = 32, PRECISION = 4400, MOST = 40 };

/* |x| from its first 32 digits. */
static void real_of(mpfr_t out, tacit_lazy *x, tacit_bits *bits) {
    mpfr_t digit;
    mpfr_init2(digit, PRECISION);
    mpfr_set_ui(out, x->whole, MPFR_RNDN);
    for (size_t i = 0; i < DIGITS; i++) {
        mpfr_set_ui_2exp(digit, tacit_lazy_digit(x, i, bits), -64 * ((mpfr_exp_t)i + 1), MPFR_RNDN);
        mpfr_add(out, out, digit, MPFR_RNDN);
    }
    mpfr_clear(digit);
}

/* The nearest step to (noise + value) 2^grid; the sum must not be closer to a boundary than the digits
 * tell. */
static int64_t nearest(mpfr_t noise, double value, int grid) {
    mpfr_t sum, gap;
    mpfr_inits2(PRECISION, sum, gap, NULL);
    mpfr_add_d(sum, noise, value, MPFR_RNDN);
    mpfr_mul_2si(sum, sum, grid, MPFR_RNDN);
    mpfr_add_d(sum, sum, 0.5, MPFR_RNDN);
    mpfr_frac(gap, sum, MPFR_RNDN);
    assert_true(!mpfr_zero_p(gap) && mpfr_get_exp(gap) > -1800);
    int64_t steps = mpfr_get_sj(sum, MPFR_RNDD);
    mpfr_clears(sum, gap, NULL);
    return steps;
}

static void coordinate_noise(mpfr_t out, tacit_law noise, double scale, source *from) {
    tacit_lazy x = { 0 };
    switch (noise) {
    case TACIT_LAW_UNIFORM: tacit_lazy_uniform(&x, &from->bits); break;
    case TACIT_LAW_EXPONENTIAL: tacit_lazy_exponential(&x, &from->bits); break;
    case TACIT_LAW_LAPLACE: tacit_lazy_laplace(&x, &from->bits); break;
    default: tacit_lazy_normal(&x, &from->bits); break;
    }
    real_of(out, &x, &from->bits);
    mpfr_mul_d(out, out, x.negative ? -scale : scale, MPFR_RNDN);
    tacit_lazy_reset(&x);
}

/* The samplers draw digits of a gamma-norm vector in rounds, 1, 2, 4, ... of each real; so does this. */
static void gamma_norm_noise(mpfr_t *out, size_t d, double scale, source *from) {
    tacit_lazy *x = calloc(2 * d, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < d; i++) {
        tacit_lazy_normal(&x[i], &from->bits);
        tacit_lazy_exponential(&x[d + i], &from->bits);
    }
    for (size_t known = 1; known <= DIGITS; known *= 2)
        for (size_t i = 0; i < d; i++) {
            tacit_lazy_digit(&x[i], known - 1, &from->bits);
            tacit_lazy_digit(&x[d + i], known - 1, &from->bits);
        }
    mpfr_t radius, length, t;
    mpfr_inits2(PRECISION, radius, length, t, NULL);
    mpfr_set_zero(radius, 1);
    mpfr_set_zero(length, 1);
    for (size_t i = 0; i < d; i++) {
        real_of(t, &x[d + i], &from->bits);
        mpfr_add(radius, radius, t, MPFR_RNDN);
        real_of(out[i], &x[i], &from->bits);
        mpfr_fma(length, out[i], out[i], length, MPFR_RNDN);
    }
    mpfr_rec_sqrt(length, length, MPFR_RNDN);
    mpfr_mul_d(radius, radius, scale, MPFR_RNDN);
    for (size_t i = 0; i < d; i++) {
        mpfr_mul(out[i], out[i], length, MPFR_RNDN);
        mpfr_mul(out[i], out[i], radius, MPFR_RNDN);
        if (x[i].negative) mpfr_neg(out[i], out[i], MPFR_RNDN);
        tacit_lazy_reset(&x[i]);
        tacit_lazy_reset(&x[d + i]);
    }
    mpfr_clears(radius, length, t, NULL);
    free(x);
}

/* A value that brings noise + value as close to the middle of two steps as a double can. */
static double value_near_a_boundary(mpfr_t noise, int grid) {
    mpfr_t steps, middle;
    mpfr_inits2(PRECISION, steps, middle, NULL);
    mpfr_mul_2si(steps, noise, grid, MPFR_RNDN);
    mpfr_floor(middle, steps);
    mpfr_add_d(middle, middle, 0.5, MPFR_RNDN);
    mpfr_sub(middle, middle, steps, MPFR_RNDN);
    mpfr_mul_2si(middle, middle, -grid, MPFR_RNDN);
    double value = mpfr_get_d(middle, MPFR_RNDN);
    mpfr_clears(steps, middle, NULL);
    return value;
}

typedef struct setting {
    double scale;
    int grid;
} setting;

static const setting settings[] = { { 1, 20 },       { 0.37, 40 },    { 1e-3, 60 },     { 12345.678, 0 },
                                    { 1e300, -960 }, { 1e-290, 980 }, { 5e-324, 1000 }, { 1e6, -10 } };
enum { SETTINGS = sizeof settings / sizeof *settings };

/* The sampler against the second computation, with plain values and then with adversarial ones. */
static void check_vector(tacit_law noise, size_t d, setting how, uint64_t seed) {
    source from;
    double value[MOST];
    mpfr_t real[MOST];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_exact_vector *vector = new_vector();
    for (size_t i = 0; i < d; i++) mpfr_init2(real[i], PRECISION);
    source_begin(&from, seed, NULL, 0);
    if (noise == TACIT_LAW_GAMMA_NORM)
        gamma_norm_noise(real, d, how.scale, &from);
    else
        coordinate_noise(real[0], noise, how.scale, &from);
    for (int adversarial = 0; adversarial < 2; adversarial++) {
        for (size_t i = 0; i < d; i++)
            value[i] = adversarial ? value_near_a_boundary(real[i], how.grid) : how.scale * (double)i * 0.3;
        source_begin(&from, seed, NULL, 0);
        tacit_exact_request request = real_request(noise, value, d, how.scale, how.grid);
        CHECK_OK(tacit_exact_fill(vector, &request, &from.bits, &error), error);
        for (size_t i = 0; i < d; i++)
            assert_int_equal(tacit_exact_vector_steps(vector)[i], nearest(real[i], value[i], how.grid));
    }
    for (size_t i = 0; i < d; i++) mpfr_clear(real[i]);
    tacit_exact_vector_free(vector);
}

static void each_coordinate_is_the_rounding_of_the_real_sum(void **state) {
    (void)state;
    const tacit_law laws[] = { TACIT_LAW_UNIFORM, TACIT_LAW_EXPONENTIAL, TACIT_LAW_LAPLACE,
                               TACIT_LAW_GAUSSIAN };
    for (size_t law = 0; law < 4; law++)
        for (size_t k = 0; k < SETTINGS; k++)
            for (uint64_t seed = 0; seed < 60; seed++) check_vector(laws[law], 1, settings[k], seed);
}

static void each_gamma_norm_vector_is_the_rounding_of_the_real_sum(void **state) {
    (void)state;
    const size_t dimensions[] = { 1, 2, 10, MOST };
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < SETTINGS; k++)
            for (uint64_t seed = 0; seed < 12; seed++)
                check_vector(TACIT_LAW_GAMMA_NORM, dimensions[i], settings[k], seed);
}

/* Uniform noise with chosen digits: the first word gives the sign, the next are the digits. Two values in
 * a row would share nothing, so one value is enough. */
static int64_t uniform_step(const uint64_t *words, size_t count, double value, double scale,
                            uint64_t *refinements) {
    source from;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_exact_vector *vector = new_vector();
    tacit_exact_request request = real_request(TACIT_LAW_UNIFORM, &value, 1, scale, 0);
    source_begin(&from, 1, words, count);
    CHECK_OK(tacit_exact_fill(vector, &request, &from.bits, &error), error);
    int64_t step = tacit_exact_vector_steps(vector)[0];
    *refinements = vector->space.refinements;
    tacit_exact_vector_free(vector);
    return step;
}

static void digits_are_added_until_the_rounding_is_certain(void **state) {
    (void)state;
    uint64_t words[12], refinements;
    for (size_t i = 1; i < 12; i++) words[i] = UINT64_MAX;
    words[0] = 0; /* positive: 1 - 2^-704 or more, in eleven digits of ones */
    assert_int_equal(uniform_step(words, 12, -0.5, 1, &refinements), 0);
    assert_int_equal(refinements, 3); /* 2, 4, 8, 16 digits */
    words[0] = 1;                     /* negative */
    assert_int_equal(uniform_step(words, 12, 0.5, 1, &refinements), 0);
    assert_int_equal(refinements, 0); /* -0.5 + something is never below the middle */
    for (size_t i = 1; i < 12; i++) words[i] = 0;
    assert_int_equal(uniform_step(words, 12, 0.5, 1, &refinements), 0);
    assert_int_equal(refinements, 3);
    words[0] = 0;
    assert_int_equal(uniform_step(words, 12, 0.5, 1, &refinements), 1);
    assert_int_equal(refinements, 0);
}

/* The digits of the real number (1/2 - value)/scale, which noise must agree with to bring a sum near 1/2. */
static void boundary_digits(uint64_t *out, size_t count, double value, double scale) {
    mpfr_t x, whole;
    mpfr_inits2(PRECISION, x, whole, NULL);
    mpfr_set_d(x, 0.5, MPFR_RNDN);
    mpfr_sub_d(x, x, value, MPFR_RNDN);
    mpfr_div_d(x, x, scale, MPFR_RNDN);
    for (size_t i = 0; i < count; i++) {
        mpfr_mul_2ui(x, x, 64, MPFR_RNDN);
        mpfr_floor(whole, x);
        mpfr_sub(x, x, whole, MPFR_RNDN);
        out[i] = mpfr_get_ui(whole, MPFR_RNDD);
    }
    mpfr_clears(x, whole, NULL);
}

/* Noise that agrees with the boundary in eight digits and leaves it, up or down, in the ninth. */
static void sums_within_2_to_the_minus_512_of_a_boundary_are_rounded_right(void **state) {
    (void)state;
    for (int k = 0; k < 200; k++) {
        uint64_t words[10] = { 0 }, refinements;
        double value = 0.001 * k - 0.1, scale = 3.001 + 0.01 * k;
        boundary_digits(words + 1, 9, value, scale);
        bool up = k % 2 == 0;
        words[9] += up ? 1 : (uint64_t)-1; /* a digit at random is neither 0 nor the greatest */
        assert_int_equal(uniform_step(words, 10, value, scale, &refinements), up);
        assert_int_equal(refinements, 3); /* 2, 4, 8, 16 digits */
    }
}

/* The same in one dimension for gamma-norm noise, s E Z/|Z|: words of a seed for the normal until it is
 * positive, then a run that accepts the digits given for the exponential; further digits are drawn in rounds,
 * first the normal's, then the exponential's. */
static void gamma_norm_sums_close_to_a_boundary_are_rounded_right(void **state) {
    (void)state;
    size_t tried = 0;
    for (uint64_t seed = 0; tried < 50; seed++) {
        const double value = 0.2, scale = 3;
        uint64_t words[TACIT_BITS_WORDS + 20], digit[9];
        source from;
        tacit_lazy normal = { 0 };
        source_begin(&from, seed, NULL, 0);
        tacit_lazy_normal(&normal, &from.bits);
        size_t at = from.bits.used, fits = at + 20 < TACIT_BITS_WORDS;
        bool negative = normal.negative, up = seed % 2 == 0;
        tacit_lazy_reset(&normal);
        if (negative || !fits) continue;
        tried++;
        source_begin(&from, seed, NULL, 0);
        source_fill(&from, words, TACIT_BITS_WORDS);
        boundary_digits(digit, 9, value, scale);
        words[at++] = UINT64_MAX;
        words[at++] = digit[0];
        for (size_t known = 1; known < 8; known *= 2) {
            at += known; /* the normal's digits: what the seed gives */
            for (size_t i = 0; i < known; i++) words[at++] = digit[known + i];
        }
        words[at - 1] += up ? 1 : (uint64_t)-1; /* leaves the boundary in the eighth digit */
        tacit_exact_vector *vector = new_vector();
        tacit_error error = TACIT_ERROR_INIT;
        tacit_exact_request request = real_request(TACIT_LAW_GAMMA_NORM, &value, 1, scale, 0);
        source_begin(&from, seed, words, at);
        CHECK_OK(tacit_exact_fill(vector, &request, &from.bits, &error), error);
        assert_int_equal(tacit_exact_vector_steps(vector)[0], up);
        assert_true(vector->space.refinements >= 2);
        tacit_exact_vector_free(vector);
    }
}

/* With a scale of 1e-300 and a value in the middle of two steps, the sign of the noise alone decides. */
static void noise_far_below_the_grid_still_decides_a_tie(void **state) {
    (void)state;
    const double value = 2.5;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_exact_vector *vector = new_vector();
    tacit_exact_request request = real_request(TACIT_LAW_GAUSSIAN, &value, 1, 1e-300, 0);
    source from;
    int up = 0;
    source_begin(&from, 9, NULL, 0);
    for (int i = 0; i < 1000; i++) {
        CHECK_OK(tacit_exact_fill(vector, &request, &from.bits, &error), error);
        int64_t step = tacit_exact_vector_steps(vector)[0];
        assert_true(step == 2 || step == 3);
        up += step == 3;
    }
    assert_true(abs(up - 500) < 105); /* 3.3 sqrt(1000), Hoeffding at 1e-9 */
    /* The precision to begin with is chosen by scale and grid, so that this takes no longer than the rest. */
    assert_int_equal(vector->space.refinements, 0);
    tacit_exact_vector_free(vector);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_coordinate_is_the_rounding_of_the_real_sum),
        cmocka_unit_test(each_gamma_norm_vector_is_the_rounding_of_the_real_sum),
        cmocka_unit_test(digits_are_added_until_the_rounding_is_certain),
        cmocka_unit_test(sums_within_2_to_the_minus_512_of_a_boundary_are_rounded_right),
        cmocka_unit_test(gamma_norm_sums_close_to_a_boundary_are_rounded_right),
        cmocka_unit_test(noise_far_below_the_grid_still_decides_a_tie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
