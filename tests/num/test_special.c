/* Reference values: mpmath 1.3 with 60 digits, from the formulas in special.h; arguments are the doubles
 * shown. */
#include "check.h"

#include <float.h>

#include "num/special.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void check_relative(double actual, double expected, double tolerance) {
    CHECK_NEAR(actual, expected, tolerance * fabs(expected) + DBL_MIN);
}

static void normal_tails_are_accurate_on_both_sides(void **state) {
    (void)state;
    static const double tails[][2] = {
        { -8, 0.999999999999999378 },   { -1, 0.841344746068542949 },   { 0, 0.5 },
        { 0.5, 0.308537538725986896 },  { 1, 0.158655253931457051 },    { 3, 0.00134989803163009453 },
        { 8, 6.22096057427178412e-16 }, { 20, 2.7536241186062337e-89 }, { 37, 5.72557122252457682e-300 }
    };
    static const double logs[][2] = { { -8, -6.220960574271786059e-16 }, { -1, -0.1727537790234498895 },
                                      { 0, -0.6931471805599453094 },     { 0.5, -1.175911761593618609 },
                                      { 1, -1.841021645009263506 },      { 3, -6.607726221510349543 },
                                      { 8, -35.0134371599145499 },       { 37, -689.0305855768905936 },
                                      { 100, -5005.524208694205089 },    { 1000, -500007.8266948121843 } };
    for (size_t i = 0; i < COUNT(tails); i++)
        check_relative(tacit_normal_tail(tails[i][0]), tails[i][1], tacit_normal_tail_error(tails[i][0]));
    for (size_t i = 0; i < COUNT(logs); i++)
        check_relative(tacit_normal_log_tail(logs[i][0]), logs[i][1], logs[i][0] < 0 ? 3e-14 : 4e-15);
    CHECK_NEAR(tacit_normal_tail_error(INFINITY) * tacit_normal_tail(INFINITY), 0, 0);
}

static void normal_quantiles_invert_the_tails(void **state) {
    (void)state;
    static const double cases[][2] = { { -0.001, -3.090380786917045137 }, { -0.5, -0.2702880207387358539 },
                                       { -0.7, 0.008559478582480337576 }, { -2, 1.101519628498750266 },
                                       { -20, 5.87920935648533626 },      { -690, 37.02617205029431546 },
                                       { -1e5, 447.1978936785250515 } };
    for (size_t i = 0; i < COUNT(cases); i++)
        CHECK_NEAR(tacit_normal_tail_quantile(cases[i][0]), cases[i][1], 1e-14 * (1 + fabs(cases[i][1])));
}

static void mills_ratio_and_its_slope_have_no_cancellation(void **state) {
    (void)state;
    static const double cases[][3] = { { -5, 672621.636722879252, 3363109.18361439626 },
                                       { -1, 3.47705181170369447, 4.47705181170369447 },
                                       { 0, 1.25331413731550025, 1 },
                                       { 0.9, 0.691733665871348316, 0.3774397007157865 },
                                       { 1, 0.655679542418798472, 0.344320457581201528 },
                                       { 2, 0.421369229288054473, 0.157261541423891054 },
                                       { 5, 0.192808104715315765, 0.0359594764234211756 },
                                       { 10, 0.0990285964717319214, 0.00971403528268078605 },
                                       { 30, 0.0332964190724972134, 0.00110742782508359854 },
                                       { 1000, 0.000999999000002999985, 9.99997000014999895e-7 } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        check_relative(tacit_mills(cases[i][0]), cases[i][1], 2e-14);
        check_relative(tacit_mills_slope(cases[i][0]), cases[i][2], 2e-14);
    }
}

static void chi_square_quantiles_are_accurate(void **state) {
    (void)state;
    static const double cases[][3] = {
        { 1, 0.05, 3.84145882069412596 },    { 1, 1e-10, 41.8214563647612942 },
        { 2, 0.5, 1.38629436111989062 },     { 10, 0.05, 18.3070380532751469 },
        { 10, 1e-12, 78.4716465628384807 },  { 300, 0.01, 359.906425950334875 },
        { 300, 0.999, 229.963435178044782 }, { 10000, 1e-6, 10686.6898298668976 },
        { 3, 1e-200, 927.417010856686235 }
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check_relative(tacit_chi_square_quantile(cases[i][0], cases[i][1]), cases[i][2], 1e-11);
    CHECK_NEAR(tacit_log_gamma_tail(3, 0), 0, 0);
    check_relative(tacit_log_gamma_tail(1, 50), -50, 1e-14); /* Q(1, x) = e^-x */
}

static void lambert_solves_its_equation(void **state) {
    (void)state;
    static const double cases[][2] = { { -0.3, -0.489402227180214934 },
                                       { -0.01, -0.0101015271985387535 },
                                       { 0, 0 },
                                       { 1e-10, 9.99999999900000036e-11 },
                                       { 0.36787944117144233, 0.278464542761073802 },
                                       { 1, 0.567143290409783873 },
                                       { 10, 1.74552800274069938 },
                                       { 1e5, 9.28457142862210898 },
                                       { 1e300, 684.247208629760849 } };
    for (size_t i = 0; i < COUNT(cases); i++)
        check_relative(tacit_lambert_w(cases[i][0]), cases[i][1], 1e-14);
    CHECK_NEAR(tacit_lambert_w(-0.36787944), -0.999920198484151446, 1e-8);
    CHECK_NEAR(tacit_lambert_w(-0.36787944117144233), -1, 1e-8);
    assert_true(isnan(tacit_lambert_w(-0.4)));
    assert_true(isnan(tacit_lambert_w(NAN)));
    assert_true(isinf(tacit_lambert_w(INFINITY)));
    for (double x = 1e-300; x < 1e300; x *= 7) { /* and everywhere in between */
        double w = tacit_lambert_w(x);
        CHECK_NEAR((log(w) + w) - log(x), 0, 1e-13 * (1 + w));
    }
}

static void binomials_and_sums_of_exponentials(void **state) {
    (void)state;
    static const double whole[][3] = { { 10, 3, 4.78749174278204599 },
                                       { 100, 50, 66.783841652017426 },
                                       { 10000, 17, 123.057105387286781 },
                                       { 1e6, 5e5, 693140.047013063683 } };
    static const double real[][3] = { { 1.5, 1, 1.5 },
                                      { 1.5, 3, -0.0625 },
                                      { 1.5, 4, 0.0234375 },
                                      { 2.25, 7, 0.001888275146484375 },
                                      { 1.0625, 12, 0.000417613071468921765 },
                                      { 40.5, 50, -6.50281228317217633e-12 } };
    for (size_t i = 0; i < COUNT(whole); i++)
        CHECK_NEAR(tacit_log_binomial(whole[i][0], whole[i][1]), whole[i][2], 1e-14 * (1 + whole[i][0]));
    for (size_t i = 0; i < COUNT(real); i++) {
        int sign = 0;
        double value = exp(tacit_log_binomial_real(real[i][0], real[i][1], &sign));
        check_relative(sign * value, real[i][2], 1e-12);
    }
    int sign = 1;
    assert_true(isinf(tacit_log_binomial_real(3, 5, &sign)) && sign == 0);
    assert_true(isinf(tacit_log_add(-INFINITY, -INFINITY)));
    CHECK_NEAR(tacit_log_add(1000, 1000), 1000 + M_LN2, 1e-12);
}

static void student_tails_and_quantiles_are_accurate(void **state) {
    (void)state;
    static const double tails[][3] = { { 0, 5, 0.5 },
                                       { 0.5, 1, 0.352416382349566726 },
                                       { -1, 3, 0.804498890522114679 },
                                       { 2, 3, 0.0696629842794215884 },
                                       { 2, 0.5, 0.222757445091565616 },
                                       { 5, 10, 0.000268666801378226309 },
                                       { 0.001, 7, 0.499615008622499422 },
                                       { 12.5, 30, 9.99248174698321588e-14 },
                                       { 3, 1000, 0.00138335452211909623 },
                                       { 40, 2, 0.000312207336092370319 },
                                       { 8, 235, 2.83322335422284868e-14 },
                                       { 6, 1e6, 9.86924906177217335e-10 },
                                       { 30, 500, 3.60714444421400947e-114 },
                                       { -30, 4, 0.999996323571951169 } };
    static const double quantiles[][3] = { { 0.025, 3, 3.18244630528370952 },
                                           { 0.025, 235, 1.97011006226810373 },
                                           { 0.0005, 1, 636.619248768719603 },
                                           { 0.3, 12, 0.538617668201916362 },
                                           { 1e-10, 40, 8.44358624677363852 } };
    for (size_t i = 0; i < COUNT(tails); i++)
        check_relative(tacit_student_tail(tails[i][0], tails[i][1]), tails[i][2], 1e-12);
    for (size_t i = 0; i < COUNT(quantiles); i++) {
        check_relative(tacit_student_quantile(quantiles[i][0], quantiles[i][1]), quantiles[i][2], 1e-12);
        check_relative(tacit_student_quantile(1 - quantiles[i][0], quantiles[i][1]), -quantiles[i][2], 1e-5);
    }
    CHECK_NEAR(tacit_student_quantile(0.5, 3), 0, 0);
    assert_true(isnan(tacit_student_tail(1, 0)) && isnan(tacit_student_quantile(0, 3)));
    CHECK_NEAR(tacit_student_tail(2, 1e15), tacit_normal_tail(2), 1e-14);
}

/* R 4.2.2, pf and pchisq with lower.tail = FALSE. */
static void fisher_and_chi_square_tails_are_those_of_r(void **state) {
    (void)state;
    static const double fisher[][4] = { { 3.2, 3, 100, 0.026600917206141852 },
                                        { 0.5, 7, 2.5, 0.79559765384034875 },
                                        { 20, 2, 1e6, 2.0619782268080338e-09 },
                                        { 1e-3, 4, 9, 0.99999756025749564 } };
    for (size_t i = 0; i < COUNT(fisher); i++)
        check_relative(tacit_fisher_tail(fisher[i][0], fisher[i][1], fisher[i][2]), fisher[i][3], 1e-8);
    check_relative(tacit_chi_square_tail(7.5, 3), 0.057558451972636406, 1e-12);
    check_relative(tacit_chi_square_tail(700, 2), 9.9295903962649796e-153, 1e-10);
    check_relative(tacit_fisher_tail(2.5, 3, 1e12), tacit_chi_square_tail(7.5, 3), 1e-9);
    CHECK_NEAR(tacit_fisher_tail(-1, 2, 3), 1, 0);
    CHECK_NEAR(tacit_chi_square_tail(0, 3), 1, 0);
    assert_true(isnan(tacit_fisher_tail(1, 0, 3)) && isnan(tacit_chi_square_tail(NAN, 3)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_tails_are_accurate_on_both_sides),
        cmocka_unit_test(normal_quantiles_invert_the_tails),
        cmocka_unit_test(mills_ratio_and_its_slope_have_no_cancellation),
        cmocka_unit_test(chi_square_quantiles_are_accurate),
        cmocka_unit_test(lambert_solves_its_equation),
        cmocka_unit_test(student_tails_and_quantiles_are_accurate),
        cmocka_unit_test(fisher_and_chi_square_tails_are_those_of_r),
        cmocka_unit_test(binomials_and_sums_of_exponentials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
