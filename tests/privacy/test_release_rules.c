/* Noise as it is released: its bound, its grade when joined, and every term of the sensitivities of
 * minimisers. */
#include "check.h"

#include "privacy/mechanism/erm.h"
#include "privacy/mechanism/mechanism.h"
#include "rand/entropy.h"

enum { DRAWS = 400, GRID = 20 };

static const tacit_mechanism laplace = { TACIT_LAW_LAPLACE, 1, { TACIT_UNIT_RECORD, 1, 0 } };

static tacit_noised *draw(const tacit_noise_source *source, double bound) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_noised *noised = NULL;
    static const double zeros[DRAWS];
    CHECK_OK(tacit_mechanism_release(&noised, source, &laplace, zeros, DRAWS, GRID, bound, &error), error);
    return noised;
}

/* Of scale 1 and a bound of 1/2 a part e^-1/2 lies beyond. None of 400 does so with probability (1 -
 * e^-1/2)^400 < 1e-160. */
static void exact_noise_stays_within_its_bound(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_entropy *entropy = NULL;
    CHECK_OK(tacit_entropy_create(&entropy, &error), error);
    tacit_noised *noised = draw(&(tacit_noise_source){ .entropy = entropy }, 0.5);
    int64_t most = 0;
    for (size_t i = 0; i < DRAWS; i++) {
        int64_t step = tacit_noised_steps(noised)[i];
        most = step > most ? step : -step > most ? -step : most;
    }
    assert_int_equal(most, (int64_t)1 << (GRID - 1));
    tacit_noised_free(noised);
    tacit_entropy_free(entropy);
}

static void joined_values_are_as_good_as_the_worst_and_have_no_event(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_entropy *entropy = NULL;
    tacit_stream stream = tacit_stream_from_seed(7);
    CHECK_OK(tacit_entropy_create(&entropy, &error), error);
    tacit_noised *exact = draw(&(tacit_noise_source){ .entropy = entropy }, 100);
    tacit_noised *other = draw(&(tacit_noise_source){ .entropy = entropy }, 100);
    tacit_noised *simulated = draw(&(tacit_noise_source){ .stream = &stream }, 100), *joined = NULL;
    CHECK_OK(tacit_noised_join(&joined, (const tacit_noised *[]){ exact, simulated }, 2, &error), error);
    assert_int_equal(tacit_noised_grade(joined), TACIT_NOISE_SIMULATED);
    tacit_noised_free(joined);
    CHECK_OK(tacit_noised_join(&joined, (const tacit_noised *[]){ exact, other }, 2, &error), error);
    assert_int_equal(tacit_noised_grade(joined), TACIT_NOISE_EXACT);
    assert_int_equal(tacit_noised_count(joined), 2 * DRAWS);
    /* Two releases of epsilon 1 are not one. */
    assert_int_equal(tacit_noised_event(exact, &laplace.price).count, 1);
    assert_int_equal(tacit_noised_event(joined, &laplace.price).count, 0);
    tacit_noised_free(joined);
    tacit_noised_free(simulated);
    tacit_noised_free(other);
    tacit_noised_free(exact);
    tacit_entropy_free(entropy);
}

/* Both neighbours' minima are off by up to (g + |b^ - b|/n)/(lambda + Delta), where |b^ - b| is 2^10 steps of
 * b's grid in each of d coordinates. With g small and the noise large, the second term is what counts. */
static void the_last_noise_covers_solver_and_rounding_of_both_neighbours(void **state) {
    (void)state;
    static const double epsilons[] = { 1e-6, 0.1, 3 };
    for (size_t e = 0; e < 3; e++) {
        tacit_erm erm = { .rows = 2, .dimension = 40, .lambda = 0.01, .curvature = 0.25, .radius = 1 };
        tacit_objective_noise noise;
        tacit_error error = TACIT_ERROR_INIT;
        erm.epsilon = epsilons[e];
        CHECK_OK(tacit_objective_noise_for(&noise, &erm, TACIT_LAW_GAMMA_NORM, &error), error);
        double rounding = sqrt((double)erm.dimension) * ldexp(1024, -noise.grid_bits) / (double)erm.rows;
        double least = 2 * (noise.tolerance + rounding) / noise.lambda;
        assert_true(noise.last.sensitivity >= least);
        CHECK_NEAR(noise.last.sensitivity / least, 1, 1e-9);
    }
}

/* Weights of up to 1/lambda = 1e9 make a certificate round by about d u c |w| > 1e-6: g must leave room for
 * that. */
static void the_tolerance_covers_the_rounding_of_the_certificate(void **state) {
    (void)state;
    const tacit_erm erm = {
        .rows = 1000000, .dimension = 40, .lambda = 1e-9, .curvature = 0.25, .radius = 1, .epsilon = 30
    };
    tacit_objective_noise noise;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_objective_noise_for(&noise, &erm, TACIT_LAW_GAMMA_NORM, &error), error);
    CHECK_NEAR(noise.lambda, erm.lambda, 1e-20);
    assert_true(noise.tolerance >= 40 * 0x1p-53 * 0.25 / erm.lambda);
}

static void the_sensitivity_of_a_minimiser_has_all_its_terms(void **state) {
    (void)state;
    /* 2 L/(n lambda) + 2 g/lambda */
    double shift = tacit_output_sensitivity(50, 0.02, 1, 1e9, 1e-3, TACIT_CALIBRATION_TIGHT);
    CHECK_NEAR(shift, 2 / (50 * 0.02) + 2 * 1e-3 / 0.02, 1e-9);
    assert_true(shift >= 2 / (50 * 0.02) + 2 * 1e-3 / 0.02);
    /* Twice the largest weights, where that is less; the printed constant does without. */
    CHECK_NEAR(tacit_output_sensitivity(50, 0.02, 1, 0.5, 0, TACIT_CALIBRATION_TIGHT), 1, 1e-9);
    CHECK_NEAR(tacit_output_sensitivity(50, 0.02, 1, 0.5, 0, TACIT_CALIBRATION_PAPER), 2, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_noise_stays_within_its_bound),
        cmocka_unit_test(joined_values_are_as_good_as_the_worst_and_have_no_event),
        cmocka_unit_test(the_last_noise_covers_solver_and_rounding_of_both_neighbours),
        cmocka_unit_test(the_tolerance_covers_the_rounding_of_the_certificate),
        cmocka_unit_test(the_sensitivity_of_a_minimiser_has_all_its_terms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
