/* Reference values: mpmath 1.3 with 60 to 420 digits, from the formula of Balle and Wang 2018, Theorem 8. */
#include "check.h"

#include "privacy/account/gaussian.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void delta_is_right_from_one_down_to_1e_minus_300(void **state) {
    (void)state;
    static const double cases[][3] = {
        { 1, 1, -2.064066446500390534 },      { 1, 0, -0.9599163336956223193 },
        { 4, 0.5, -5.911219933055270049 },    { 0.05, 1, -2.509523774204950355e-23 },
        { 0.05, 250, -5.215418516217652578 }, { 0.5, 10, -11.51892313346791948 },
        { 0.5, 50, -294.6667328061271838 },   { 100, 0, -5.524112885852486338 },
        { 100, 0.01, -7.085299146160221647 }, { 100, 0.3, -462.1798364190219986 },
        { 1e5, 1e-5, -13.99804149069080438 }, { 1e5, 3e-4, -469.2374292255806259 },
        { 1, 37, -674.2677784588983021 },     { 0.3, 100, -407.9065025130981345 },
        { 0.1, 400, -618.4803045419914317 },  { 2, 18, -647.8126342176002339 }
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        double log_delta = tacit_gaussian_log_delta(cases[i][0], cases[i][1]);
        assert_true(log_delta >= cases[i][2]); /* never below */
        CHECK_NEAR(log_delta, cases[i][2], 1e-11);
    }
}

static void the_calibrated_noise_is_the_smallest(void **state) {
    (void)state;
    static const double cases[][3] = {
        { 1, 1e-5, 3.730631634815941814 },    { 0.1, 1e-5, 30.74956613197744847 },
        { 0.5, 1e-10, 11.43623999509202887 }, { 10, 1e-6, 0.5410868318183659822 },
        { 3, 0.05, 0.6568482529789708595 },   { 1, 1e-300, 36.86549789411109965 },
        { 0.01, 1e-8, 412.3569420797154594 }, { 50, 1e-9, 0.1747836249393316999 }
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tacit_error error = TACIT_ERROR_INIT;
        double sigma, delta, epsilon;
        CHECK_OK(tacit_gaussian_sigma(&sigma, cases[i][0], cases[i][1], 1, &error), error);
        assert_true(sigma >= cases[i][2]);
        CHECK_NEAR(sigma / cases[i][2], 1, 1e-11);
        CHECK_OK(tacit_gaussian_delta(&delta, sigma, cases[i][0], &error), error);
        assert_true(delta <= cases[i][1] * (1 + 1e-12));
        CHECK_OK(tacit_gaussian_epsilon(&epsilon, sigma, cases[i][1], &error), error);
        CHECK_NEAR(epsilon / cases[i][0], 1, 1e-10);
        CHECK_OK(tacit_gaussian_sigma(&sigma, cases[i][0], cases[i][1], 2.5, &error), error);
        CHECK_NEAR(sigma / (2.5 * cases[i][2]), 1, 1e-11);
    }
}

static void less_noise_than_calibrated_breaks_the_target(void **state) {
    (void)state;
    double sigma, delta;
    assert_int_equal(tacit_gaussian_sigma(&sigma, 1, 1e-5, 1, NULL), TACIT_OK);
    assert_int_equal(tacit_gaussian_delta(&delta, sigma * (1 - 1e-9), 1, NULL), TACIT_OK);
    assert_true(delta > 1e-5);
}

static void epsilon_can_be_zero_when_delta_covers_everything(void **state) {
    (void)state;
    double epsilon = 7;
    assert_int_equal(tacit_gaussian_epsilon(&epsilon, 100, 0.01, NULL), TACIT_OK);
    CHECK_NEAR(epsilon, 0, 0);
}

static void wrong_arguments_give_no_result(void **state) {
    (void)state;
    static const double bad_sigma[] = { 0, -1, NAN, INFINITY },
                        bad_delta[] = { 0, 1, -1e-9, 2, NAN, INFINITY };
    static const double bad_epsilon[] = { 0, -1, NAN, INFINITY };
    double out = 7;
    for (size_t i = 0; i < COUNT(bad_sigma); i++) {
        assert_int_equal(tacit_gaussian_delta(&out, bad_sigma[i], 1, NULL), TACIT_USAGE);
        assert_int_equal(tacit_gaussian_epsilon(&out, bad_sigma[i], 1e-5, NULL), TACIT_USAGE);
        assert_int_equal(tacit_gaussian_sigma(&out, 1, 1e-5, bad_sigma[i], NULL), TACIT_USAGE);
    }
    for (size_t i = 0; i < COUNT(bad_delta); i++) {
        assert_int_equal(tacit_gaussian_epsilon(&out, 1, bad_delta[i], NULL), TACIT_USAGE);
        assert_int_equal(tacit_gaussian_sigma(&out, 1, bad_delta[i], 1, NULL), TACIT_USAGE);
    }
    for (size_t i = 0; i < COUNT(bad_epsilon); i++)
        assert_int_equal(tacit_gaussian_sigma(&out, bad_epsilon[i], 1e-5, 1, NULL), TACIT_USAGE);
    for (size_t i = 1; i < COUNT(bad_epsilon); i++)
        assert_int_equal(tacit_gaussian_delta(&out, 1, bad_epsilon[i], NULL), TACIT_USAGE);
    CHECK_NEAR(out, 7, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delta_is_right_from_one_down_to_1e_minus_300),
        cmocka_unit_test(the_calibrated_noise_is_the_smallest),
        cmocka_unit_test(less_noise_than_calibrated_breaks_the_target),
        cmocka_unit_test(epsilon_can_be_zero_when_delta_covers_everything),
        cmocka_unit_test(wrong_arguments_give_no_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
