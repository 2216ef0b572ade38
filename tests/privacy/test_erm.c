/*
 * The calibration of perturbed objectives: its parts add up to epsilon, its constants are the stated ones,
 * and in one dimension, where the density of the released weight can be written down, its logarithm never
 * moves by more than epsilon.
 */
#include "check.h"

#include "num/special.h"
#include "privacy/account/gaussian.h"
#include "privacy/mechanism/erm.h"

static tacit_erm erm_for(size_t rows, double lambda, double epsilon) {
    return (tacit_erm){ .rows = rows,
                        .dimension = 10,
                        .lambda = lambda,
                        .curvature = 0.25,
                        .radius = 1,
                        .epsilon = epsilon,
                        .delta = 0.05 };
}

static tacit_objective_noise noise_for(const tacit_erm *erm, tacit_law law) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_objective_noise noise;
    CHECK_OK(tacit_objective_noise_for(&noise, erm, law, &error), error);
    return noise;
}

static const size_t ROWS[] = { 1, 10, 1000, 1000000 };
static const double LAMBDAS[] = { 1e-6, 1e-3, 0.01, 1, 100 }, EPSILONS[] = { 1e-3, 0.1, 1, 3, 30 };

static void the_parts_add_up_to_epsilon(void **state) {
    (void)state;
    for (size_t r = 0; r < 4; r++)
        for (size_t l = 0; l < 5; l++)
            for (size_t e = 0; e < 5; e++) {
                tacit_erm erm = erm_for(ROWS[r], LAMBDAS[l], EPSILONS[e]);
                tacit_objective_noise tight = noise_for(&erm, TACIT_LAW_GAMMA_NORM);
                erm.calibration = TACIT_CALIBRATION_PAPER;
                tacit_objective_noise paper = noise_for(&erm, TACIT_LAW_GAMMA_NORM);
                double k = 0.25 / (double)erm.rows, slack = tight.last.price.epsilon;
                double spent = 2 / tight.scale + log1p(k / tight.lambda) + slack;
                assert_true(spent <= erm.epsilon && spent >= 0.999 * erm.epsilon);
                assert_true(2 / paper.scale + 2 * log1p(k / paper.lambda) + slack <=
                            erm.epsilon * (1 + 1e-12));
                CHECK_NEAR(slack, 0.01 * erm.epsilon, 1e-12 * erm.epsilon);
                assert_true(tight.lambda >= erm.lambda && paper.lambda >= tight.lambda);
                assert_true(tight.scale <= paper.scale * (1 + 1e-9));
                /* Neither part is starved. */
                assert_true(2 / tight.scale >= 0.49 * erm.epsilon);
            }
}

static void the_printed_constants_are_those_of_the_papers(void **state) {
    (void)state;
    tacit_erm erm = erm_for(1000, 0.01, 0.1);
    erm.calibration = TACIT_CALIBRATION_PAPER;
    double rest = 0.099;
    CHECK_NEAR(2 / noise_for(&erm, TACIT_LAW_GAMMA_NORM).scale, rest - 2 * log(1.025), 1e-9);
    erm.lambda = 1e-4; /* epsilon' would be negative */
    tacit_objective_noise noise = noise_for(&erm, TACIT_LAW_GAMMA_NORM);
    CHECK_NEAR(noise.lambda, 0.25 / (1000 * expm1(rest / 4)), 1e-9);
    CHECK_NEAR(2 / noise.scale, rest / 2, 1e-9);
}

/* Pr(U <= (s^2 e - 2)^2/(4 s^2)) = 1 - delta, U a chi-square of d degrees. */
static void the_chi_square_rule_meets_its_condition(void **state) {
    (void)state;
    for (size_t d = 1; d < 500; d *= 5) {
        tacit_erm erm = erm_for(1000, 0.01, 0.5);
        erm.dimension = d;
        erm.calibration = TACIT_CALIBRATION_PAPER;
        tacit_objective_noise noise = noise_for(&erm, TACIT_LAW_GAUSSIAN);
        double s = noise.scale, e = noise.law.price.epsilon, root = (s * s * e - 2) / (2 * s);
        CHECK_NEAR(exp(tacit_log_gamma_tail((double)d / 2, root * root / 2)), erm.delta, 1e-6);
        erm.calibration = TACIT_CALIBRATION_TIGHT;
        double expected, tight = noise_for(&erm, TACIT_LAW_GAUSSIAN).scale;
        assert_int_equal(tacit_gaussian_sigma(&expected, 0.495 - log1p(0.025), 0.05, 2, NULL), TACIT_OK);
        CHECK_NEAR(tight / expected, 1, 1e-9);
        assert_true(tight < s);
    }
}

/* ---- the step of the Gaussian proof that is a computation ---- */

/* E_b max_v (1 - e^epsilon nu(b + v)/nu(b))_+ over the corners v of a pair z = (r, 0), z' = q (cos, sin); b ~
 * N(0, s^2 I), in the plane of the pair, by the rectangle rule on [-8, 8]^2 standard deviations. */
static double expected_excess(double r, double q, double angle, double epsilon, double s) {
    enum { POINTS = 240 };
    double z[2] = { r, 0 }, other[2] = { q * cos(angle), q * sin(angle) }, sum = 0, step = 16.0 / POINTS;
    double corner[3][2] = { { -z[0], -z[1] }, { other[0], other[1] }, { other[0] - z[0], other[1] - z[1] } };
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < POINTS; j++) {
            double x = -8 + (i + 0.5) * step, y = -8 + (j + 0.5) * step, loss = 0;
            for (int c = 0; c < 3; c++) {
                const double *v = corner[c];
                double here = (x * v[0] + y * v[1]) / s + (v[0] * v[0] + v[1] * v[1]) / (2 * s * s);
                loss = fmax(loss, here);
            }
            if (loss > epsilon) sum -= expm1(epsilon - loss) * exp(-(x * x + y * y) / 2);
        }
    return sum * step * step / (2 * M_PI);
}

static void antiparallel_rows_are_the_worst_for_gaussian_noise(void **state) {
    (void)state;
    static const double losses[] = { 0.01, 0.3, 1, 4 }, scales[] = { 0.4, 1, 3, 15 };
    double most = 0;
    for (size_t e = 0; e < 4; e++)
        for (size_t k = 0; k < 4; k++) {
            double delta, epsilon = losses[e], s = scales[k];
            assert_int_equal(tacit_gaussian_delta(&delta, s / 2, epsilon, NULL), TACIT_OK);
            if (delta < 1e-5) continue; /* too little of the plane is left for the rule */
            CHECK_NEAR(expected_excess(1, 1, M_PI, epsilon, s) / delta, 1, 5e-3); /* of the rule's error */
            for (int a = 0; a < 8; a++)
                for (int q = 1; q <= 4; q++) {
                    double ratio = expected_excess(1, 0.25 * q, M_PI * a / 8, epsilon, s) / delta;
                    most = fmax(most, ratio);
                    assert_true(ratio <= 1 + 5e-3);
                }
        }
    print_message("# worst pair that is not antiparallel: %.4f of delta\n", most);
}

/* ---- the density of the released weight in one dimension ---- */

/* log p(w)/p'(w) where one of n rows is R or 0 and the others are 0, logistic loss, b ~ G(1, scale). */
static double density_loss(const tacit_erm *erm, const tacit_objective_noise *noise, double w) {
    double radius = erm->radius, stiff = (double)erm->rows * noise->lambda;
    double pull = 1 / (1 + exp(w * radius)), curvature = pull * (1 - pull) * radius * radius;
    return (fabs(stiff * w) - fabs(stiff * w - radius * pull)) / noise->scale + log1p(curvature / stiff);
}

static double worst_density_loss(const tacit_erm *erm, const tacit_objective_noise *noise) {
    double worst = 0;
    for (int i = -3000; i <= 3000; i++)
        worst = fmax(worst, fabs(density_loss(erm, noise, sinh(i / 300.0) / 200)));
    return worst;
}

/* The largest loss over a range of n lambda, in epsilons. `power` is that of R in the Jacobian factor: 2 is
 * right. */
static double worst_over_lambda(double radius, double epsilon, int power, tacit_calibration calibration) {
    double worst = 0;
    for (int i = -20; i <= 20; i++) {
        tacit_erm erm = { .rows = 100,
                          .dimension = 1,
                          .lambda = pow(10, i / 5.0),
                          .curvature = 0.25 * pow(radius, power - 2),
                          .radius = radius,
                          .epsilon = epsilon,
                          .calibration = calibration };
        tacit_objective_noise noise = noise_for(&erm, TACIT_LAW_GAMMA_NORM);
        worst = fmax(worst, worst_density_loss(&erm, &noise) / epsilon);
    }
    return worst;
}

static void the_density_moves_by_no_more_than_epsilon(void **state) {
    (void)state;
    static const double radii[] = { 1, 10, 50 };
    for (size_t r = 0; r < 3; r++)
        for (size_t e = 1; e < 4; e++) {
            double tight = worst_over_lambda(radii[r], EPSILONS[e], 2, TACIT_CALIBRATION_TIGHT);
            double paper = worst_over_lambda(radii[r], EPSILONS[e], 2, TACIT_CALIBRATION_PAPER);
            print_message("# R %g, epsilon %g: %.3f tight, %.3f as printed\n", radii[r], EPSILONS[e], tight,
                          paper);
            assert_true(tight <= 0.99 && paper <= 0.99 && tight >= paper - 1e-9);
        }
}

/* The mistake of a public library: c R where c R^2 belongs. */
static void a_curvature_that_forgets_a_radius_is_caught(void **state) {
    (void)state;
    static const double radii[] = { 10, 50 }, least[] = { 1.2, 2.5 };
    for (size_t r = 0; r < 2; r++)
        for (size_t e = 1; e < 4; e++) {
            double spent = worst_over_lambda(radii[r], EPSILONS[e], 1, TACIT_CALIBRATION_PAPER);
            print_message("# c R in place of c R^2 at R = %g, epsilon %g spends %.2f epsilon\n", radii[r],
                          EPSILONS[e], spent);
            if (EPSILONS[e] <= 1) assert_true(spent > least[r]);
        }
}

/* ---- input ---- */

static void impossible_numbers_are_refused(void **state) {
    (void)state;
    static const double wrong[] = { 0, -1, NAN, INFINITY };
    tacit_objective_noise noise;
    double largest;
    for (size_t i = 0; i < 4; i++) {
        tacit_erm bad[5];
        for (size_t k = 0; k < 5; k++) bad[k] = erm_for(100, 0.1, 1);
        bad[0].lambda = bad[1].epsilon = bad[2].curvature = bad[3].radius = bad[4].delta = wrong[i];
        for (size_t k = 0; k < 5; k++) {
            assert_int_equal(tacit_objective_noise_for(&noise, &bad[k], TACIT_LAW_GAUSSIAN, NULL),
                             TACIT_USAGE);
            assert_int_equal(tacit_objective_largest(&largest, &bad[k], TACIT_LAW_GAUSSIAN, NULL),
                             TACIT_USAGE);
        }
    }
    tacit_erm none = erm_for(0, 0.1, 1), good = erm_for(100, 0.1, 1);
    assert_int_equal(tacit_objective_noise_for(&noise, &none, TACIT_LAW_GAMMA_NORM, NULL), TACIT_USAGE);
    assert_int_equal(tacit_objective_noise_for(&noise, &good, TACIT_LAW_LAPLACE, NULL), TACIT_USAGE);
}

/* ---- groups ---- */

static void one_group_is_one_model_to_the_last_bit(void **state) {
    (void)state;
    for (size_t r = 0; r < 4; r++)
        for (size_t l = 0; l < 5; l++)
            for (int paper = 0; paper < 2; paper++) {
                tacit_error error = TACIT_ERROR_INIT;
                tacit_erm erm = erm_for(ROWS[r], LAMBDAS[l], 0.7);
                if (paper) erm.calibration = TACIT_CALIBRATION_PAPER;
                tacit_erm_group group = { erm.dimension, erm.lambda, 1, 0 };
                tacit_objective_noise alone = noise_for(&erm, TACIT_LAW_GAMMA_NORM), grouped;
                CHECK_OK(tacit_group_noise_for(&grouped, &erm, &group, 1, &error), error);
                assert_true(grouped.scale == alone.scale && grouped.lambda == alone.lambda);
                assert_true(grouped.tolerance == alone.tolerance && grouped.grid_bits == alone.grid_bits);
                assert_true(grouped.last.sensitivity == alone.last.sensitivity &&
                            grouped.last.price.epsilon == alone.last.price.epsilon);
            }
}

/* Shifts of 2 q_k, Jacobians and slacks of all groups together. */
static void the_parts_of_all_groups_add_up_to_epsilon(void **state) {
    (void)state;
    static const double scales[] = { 0.7, 0.2, 0.05, 0.05 - 1e-12 };
    for (size_t r = 0; r < 4; r++)
        for (size_t l = 0; l < 5; l++)
            for (size_t e = 0; e < 5; e++)
                for (int paper = 0; paper < 2; paper++) {
                    tacit_error error = TACIT_ERROR_INIT;
                    tacit_erm erm = erm_for(ROWS[r], LAMBDAS[l], EPSILONS[e]);
                    tacit_erm_group groups[4];
                    tacit_objective_noise noise[4];
                    double spent = 0, factors = paper ? 2 : 1;
                    if (paper) erm.calibration = TACIT_CALIBRATION_PAPER;
                    for (size_t k = 0; k < 4; k++)
                        groups[k] = (tacit_erm_group){ 5 + k, erm.lambda * (double)(k + 1), scales[k],
                                                       3.0 * (double)k };
                    CHECK_OK(tacit_group_noise_for(noise, &erm, groups, 4, &error), error);
                    for (size_t k = 0; k < 4; k++) {
                        double q = scales[k], curvature = 0.25 * q * q / (double)erm.rows;
                        spent += 2 * q / noise[k].scale + factors * log1p(curvature / noise[k].lambda) +
                                 noise[k].last.price.epsilon;
                        assert_true(noise[k].lambda >= groups[k].lambda &&
                                    noise[k].largest >= groups[k].prior);
                        CHECK_NEAR(noise[k].scale, noise[0].scale, 1e-9 * noise[0].scale);
                    }
                    assert_true(spent <= erm.epsilon * (1 + 1e-12));
                    if (!paper) assert_true(2 / noise[0].scale >= 0.49 * erm.epsilon);
                }
}

static void impossible_groups_are_refused(void **state) {
    (void)state;
    tacit_erm erm = erm_for(100, 0.1, 1);
    tacit_objective_noise noise[2];
    const tacit_erm_group wrong[][2] = {
        { { 3, 0.1, 0.6, 0 }, { 3, 0.1, 0.5, 0 } },  { { 3, 0.1, 0, 0 }, { 3, 0.1, 0.5, 0 } },
        { { 3, 0.1, -0.1, 0 }, { 3, 0.1, 0.5, 0 } }, { { 3, 0, 0.5, 0 }, { 3, 0.1, 0.5, 0 } },
        { { 0, 0.1, 0.5, 0 }, { 3, 0.1, 0.5, 0 } },  { { 3, 0.1, 0.5, NAN }, { 3, 0.1, 0.5, 0 } },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(tacit_group_noise_for(noise, &erm, wrong[i], 2, NULL), TACIT_USAGE);
    assert_int_equal(tacit_group_noise_for(noise, &erm, wrong[0], 0, NULL), TACIT_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_group_is_one_model_to_the_last_bit),
        cmocka_unit_test(the_parts_of_all_groups_add_up_to_epsilon),
        cmocka_unit_test(impossible_groups_are_refused),
        cmocka_unit_test(the_parts_add_up_to_epsilon),
        cmocka_unit_test(the_printed_constants_are_those_of_the_papers),
        cmocka_unit_test(the_chi_square_rule_meets_its_condition),
        cmocka_unit_test(antiparallel_rows_are_the_worst_for_gaussian_noise),
        cmocka_unit_test(the_density_moves_by_no_more_than_epsilon),
        cmocka_unit_test(a_curvature_that_forgets_a_radius_is_caught),
        cmocka_unit_test(impossible_numbers_are_refused),
    };
    return cmocka_run_group_tests_name("erm", tests, NULL, NULL);
}
