/* Integer noise on counts: the law, the guarantee computed from it, the grade, the bound, what is refused. */
#include "probabilities.h"

#include <float.h>
#include <string.h>

#include "privacy/account/accountant.h"
#include "privacy/mechanism/integer.h"

enum { DRAWS = 60000, FAR = 400 };

static const tacit_mechanism laplace = { TACIT_LAW_DISCRETE_LAPLACE, 2, { TACIT_UNIT_RECORD, 0.8, 0 } };
static const tacit_mechanism gaussian = { TACIT_LAW_DISCRETE_GAUSSIAN, 1, { TACIT_UNIT_RECORD, 1.5, 1e-5 } };

static double weight(tacit_law law, int64_t k, double scale) {
    double x = fabs((double)k) / scale;
    return exp(law == TACIT_LAW_DISCRETE_LAPLACE ? -x : -x * x / 2);
}

static double total_weight(tacit_law law, double scale) {
    double sum = 0;
    for (int64_t k = -FAR; k <= FAR; k++) sum += weight(law, k, scale);
    return sum;
}

/* Cells -edge, ..., edge; the outer ones hold all that lies beyond too. */
static void cell_chances(double *out, tacit_law law, double scale, int64_t edge) {
    double total = total_weight(law, scale);
    for (int64_t j = 0; j <= 2 * edge; j++) out[j] = 0;
    for (int64_t k = -FAR; k <= FAR; k++)
        out[(k < -edge ? -edge : k > edge ? edge : k) + edge] += weight(law, k, scale) / total;
}

static void check_law(const tacit_noise_source *source, const tacit_mechanism *mechanism, int64_t edge) {
    double seen[41] = { 0 }, right[41], wrong[41], scale = 0;
    int64_t *counts = malloc(DRAWS * sizeof *counts);
    tacit_error error = TACIT_ERROR_INIT;
    tacit_noised *noised = NULL;
    assert_non_null(counts);
    for (size_t i = 0; i < DRAWS; i++) counts[i] = (int64_t)(i % 1000);
    CHECK_OK(tacit_integer_release(&noised, source, mechanism, counts, DRAWS, 100000, &error), error);
    CHECK_OK(tacit_integer_scale(&scale, mechanism, &error), error);
    assert_int_equal(tacit_noised_grade(noised), tacit_noise_source_grade(source));
    assert_int_equal(tacit_noised_grid_bits(noised), 0);
    for (size_t i = 0; i < DRAWS; i++) {
        int64_t k = tacit_noised_steps(noised)[i] - counts[i];
        seen[(k < -edge ? -edge : k > edge ? edge : k) + edge]++;
    }
    cell_chances(right, mechanism->law, scale, edge);
    cell_chances(wrong, mechanism->law, 1.1 * scale, edge);
    check_chances("integer noise", seen, right, wrong, (size_t)(2 * edge + 1), DRAWS);
    tacit_noised_free(noised);
    free(counts);
}

static void integer_noise_has_its_law(void **state) {
    (void)state;
    sources from;
    sources_begin(&from, 1);
    for (size_t s = 0; s < 2; s++) {
        check_law(&from.each[s], &laplace, 7);
        check_law(&from.each[s], &gaussian, 6);
    }
    sources_end(&from);
}

static void discrete_laplace_neighbours_differ_by_at_most_epsilon(void **state) {
    (void)state;
    double scale = 0, most = 0;
    assert_int_equal(tacit_integer_scale(&scale, &laplace, NULL), TACIT_OK);
    for (int64_t k = -50; k <= 50; k++)
        most = fmax(most, fabs(log(weight(laplace.law, k, scale) / weight(laplace.law, k + 2, scale))));
    assert_true(most <= 0.8 * (1 + 1e-12));
    assert_true(most > 0.8 * (1 - 1e-9));
}

/* The delta of one count that moves by `shift`: the sum of what exceeds e^epsilon times the other. */
static double exact_delta(double scale, double epsilon, int64_t shift) {
    double sum = 0, total = total_weight(TACIT_LAW_DISCRETE_GAUSSIAN, scale);
    for (int64_t k = -FAR; k <= FAR; k++)
        sum += fmax(0, weight(TACIT_LAW_DISCRETE_GAUSSIAN, k, scale) -
                           exp(epsilon) * weight(TACIT_LAW_DISCRETE_GAUSSIAN, k - shift, scale)) /
               total;
    return sum;
}

static void discrete_gaussian_neighbours_keep_within_delta(void **state) {
    (void)state;
    static const double epsilons[] = { 0.3, 1, 3 }, deltas[] = { 1e-9, 1e-5, 0.01 };
    for (size_t e = 0; e < 3; e++)
        for (size_t d = 0; d < 3; d++)
            for (int64_t shift = 1; shift <= 2; shift++) {
                const tacit_mechanism mechanism = { TACIT_LAW_DISCRETE_GAUSSIAN,
                                                    (double)shift,
                                                    { TACIT_UNIT_PARTY, epsilons[e], deltas[d] } };
                double scale = 0;
                assert_int_equal(tacit_integer_scale(&scale, &mechanism, NULL), TACIT_OK);
                assert_true(exact_delta(scale, epsilons[e], shift) <= deltas[d]);
                assert_true(exact_delta(0.75 * scale, epsilons[e], shift) >
                            deltas[d]); /* not for too much noise */
            }
}

/* The accountant, which searches orders in its own way, finds the same epsilon. */
static void the_conversion_agrees_with_the_accountant(void **state) {
    (void)state;
    static const double epsilons[] = { 0.05, 1, 8 };
    for (size_t e = 0; e < 3; e++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_accountant *accountant = NULL;
        double rho = 0, epsilon = 0;
        CHECK_OK(tacit_zcdp_for(&rho, epsilons[e], 1e-6, &error), error);
        CHECK_OK(tacit_accountant_create(&accountant, TACIT_ADD_OR_REMOVE, &error), error);
        const tacit_event event = tacit_event_gaussian(1 / sqrt(2 * rho), 1);
        CHECK_OK(tacit_accountant_add(accountant, &event, &error), error);
        CHECK_OK(tacit_accountant_epsilon_by(&epsilon, accountant, TACIT_COMPOSITION_ZCDP, 1e-6, &error),
                 error);
        CHECK_NEAR(epsilon, epsilons[e], 2e-3 * epsilons[e]);
        tacit_accountant_free(accountant);
    }
}

static void counts_stay_within_the_bound(void **state) {
    (void)state;
    const tacit_mechanism loud = { TACIT_LAW_DISCRETE_LAPLACE, 1e6, { TACIT_UNIT_RECORD, 1, 0 } };
    const int64_t counts[4] = { INT64_MAX, INT64_MIN, 0, 5 };
    sources from;
    sources_begin(&from, 2);
    for (size_t s = 0; s < 2; s++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_noised *noised = NULL;
        CHECK_OK(tacit_integer_release(&noised, &from.each[s], &loud, counts, 4, 10, &error), error);
        for (size_t j = 0; j < 4; j++) assert_true(llabs(tacit_noised_steps(noised)[j]) <= 10);
        noised = tacit_noised_free(noised);
        CHECK_OK(tacit_integer_release(&noised, &from.each[s], &loud, counts, 4, (int64_t)1 << 61, &error),
                 error);
        tacit_noised_free(noised);
    }
    sources_end(&from);
}

static void no_noise_is_only_for_simulations(void **state) {
    (void)state;
    tacit_mechanism open = laplace;
    open.price.epsilon = INFINITY;
    const int64_t counts[2] = { 20, -3 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_noised *noised = NULL;
    sources from;
    sources_begin(&from, 3);
    assert_int_equal(tacit_integer_release(&noised, &from.each[1], &open, counts, 2, 10, NULL), TACIT_USAGE);
    assert_null(noised);
    CHECK_OK(tacit_integer_release(&noised, &from.each[0], &open, counts, 2, 10, &error), error);
    assert_int_equal(tacit_noised_grade(noised), TACIT_NOISE_NONE);
    assert_int_equal(tacit_noised_steps(noised)[0], 10);
    assert_int_equal(tacit_noised_steps(noised)[1], -3);
    tacit_noised_free(noised);
    sources_end(&from);
}

static void refuses(const sources *from, const tacit_mechanism *bad, size_t count, int64_t bound) {
    for (size_t s = 0; s < 2; s++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_noised *noised = NULL;
        const int64_t counts[1] = { 3 };
        tacit_status status =
            tacit_integer_release(&noised, &from->each[s], bad, counts, count, bound, &error);
        assert_true(status == TACIT_USAGE || status == TACIT_INPUT);
        assert_true(strlen(error.text) > 0);
        assert_null(noised);
    }
}

static void nonsense_is_refused(void **state) {
    (void)state;
    const tacit_mechanism *good[] = { &laplace, &gaussian };
    const double wrong[] = { 0, -1, NAN, -INFINITY };
    tacit_mechanism bad;
    sources from;
    sources_begin(&from, 4);
    for (size_t g = 0; g < 2; g++) {
        for (size_t i = 0; i < 4; i++) {
            bad = *good[g], bad.price.epsilon = wrong[i], refuses(&from, &bad, 1, 10);
            bad = *good[g], bad.sensitivity = wrong[i], refuses(&from, &bad, 1, 10);
        }
        bad = *good[g], bad.sensitivity = INFINITY, refuses(&from, &bad, 1, 10);
        bad = *good[g], bad.sensitivity = 0x1p60, refuses(&from, &bad, 1, 10);
        bad = *good[g], bad.price.delta = 1, refuses(&from, &bad, 1, 10);
        refuses(&from, good[g], 0, 10);
        refuses(&from, good[g], 1, 0);
        refuses(&from, good[g], 1, INT64_MAX);
    }
    bad = laplace, bad.price.epsilon = DBL_TRUE_MIN, refuses(&from, &bad, 1, 10);
    bad = laplace, bad.sensitivity = 1.5, refuses(&from, &bad, 1, 10);
    bad = laplace, bad.law = TACIT_LAW_GEOMETRIC, refuses(&from, &bad, 1, 10);
    bad = laplace, bad.law = TACIT_LAW_LAPLACE, refuses(&from, &bad, 1, 10);
    bad = gaussian, bad.price.delta = 0, refuses(&from, &bad, 1, 10);
    double rho = 0;
    assert_int_equal(tacit_zcdp_for(&rho, 1, 0, NULL), TACIT_USAGE);
    assert_int_equal(tacit_zcdp_for(&rho, NAN, 1e-6, NULL), TACIT_USAGE);
    sources_end(&from);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integer_noise_has_its_law),
        cmocka_unit_test(discrete_laplace_neighbours_differ_by_at_most_epsilon),
        cmocka_unit_test(discrete_gaussian_neighbours_keep_within_delta),
        cmocka_unit_test(the_conversion_agrees_with_the_accountant),
        cmocka_unit_test(counts_stay_within_the_bound),
        cmocka_unit_test(no_noise_is_only_for_simulations),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
