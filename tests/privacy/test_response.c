/* Randomised response: the law of answers, the analyst's estimate, the grade, what is refused. */
#include "probabilities.h"

#include <string.h>

#include "privacy/mechanism/response.h"

enum { DRAWS = 60000, ANSWERS_MOST = 4 };

static double chance_of(size_t answers, double epsilon, size_t truth, size_t given) {
    double truthful = exp(epsilon);
    return (truth == given ? truthful : 1) / (truthful + (double)answers - 1);
}

static void check_law(const tacit_noise_source *source, size_t answers, double epsilon, size_t truth) {
    const tacit_response response = { answers, { TACIT_UNIT_RECORD, epsilon, 0 } };
    double seen[ANSWERS_MOST] = { 0 }, right[ANSWERS_MOST], wrong[ANSWERS_MOST];
    size_t *truths = malloc(DRAWS * sizeof *truths);
    tacit_error error = TACIT_ERROR_INIT;
    tacit_selected *given = NULL;
    assert_non_null(truths);
    for (size_t i = 0; i < DRAWS; i++) truths[i] = truth;
    CHECK_OK(tacit_response_release(&given, source, &response, truths, DRAWS, &error), error);
    assert_int_equal(tacit_selected_grade(given), tacit_noise_source_grade(source));
    assert_int_equal(tacit_selected_count(given), DRAWS);
    for (size_t i = 0; i < DRAWS; i++) seen[tacit_selected_indices(given)[i]]++;
    for (size_t j = 0; j < answers; j++) {
        right[j] = chance_of(answers, epsilon, truth, j);
        wrong[j] = chance_of(answers, 1.1 * epsilon, truth, j);
    }
    check_chances("randomised response", seen, right, wrong, answers, DRAWS);
    tacit_selected_free(given);
    free(truths);
}

static void answers_have_their_law(void **state) {
    (void)state;
    sources from;
    sources_begin(&from, 1);
    for (size_t s = 0; s < 2; s++) {
        check_law(&from.each[s], 2, 2, 0);
        check_law(&from.each[s], 3, 2.5, 1);
        check_law(&from.each[s], 4, 1.5, 3);
    }
    sources_end(&from);
}

static void neighbours_differ_by_exactly_epsilon(void **state) {
    (void)state;
    for (size_t answers = 2; answers <= ANSWERS_MOST; answers++) {
        double most = 0, sum = 0;
        for (size_t j = 0; j < answers; j++) {
            sum += chance_of(answers, 0.7, 0, j);
            most = fmax(most, fabs(log(chance_of(answers, 0.7, 0, j) / chance_of(answers, 0.7, 1, j))));
        }
        CHECK_NEAR(sum, 1, 1e-15);
        CHECK_NEAR(most, 0.7, 1e-12);
    }
}

/* Within 7 standard errors (false alarm below 1e-11), and the errors are those of the law. */
static void the_estimate_is_unbiased(void **state) {
    (void)state;
    static const double held[3] = { 30000, 12000, 18000 };
    const tacit_response response = { 3, { TACIT_UNIT_RECORD, 1, 0 } };
    sources from;
    sources_begin(&from, 2);
    size_t *truths = malloc(DRAWS * sizeof *truths);
    assert_non_null(truths);
    for (size_t i = 0; i < DRAWS; i++) truths[i] = i < 30000 ? 0 : i < 42000 ? 1 : 2;
    for (size_t s = 0; s < 2; s++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_selected *given = NULL;
        double counts[3], errors[3], p = chance_of(3, 1, 0, 0), q = chance_of(3, 1, 0, 1);
        CHECK_OK(tacit_response_release(&given, &from.each[s], &response, truths, DRAWS, &error), error);
        CHECK_OK(
            tacit_response_estimate(counts, errors, &response, tacit_selected_indices(given), DRAWS, &error),
            error);
        for (size_t j = 0; j < 3; j++) {
            double variance = held[j] * p * (1 - p) + (DRAWS - held[j]) * q * (1 - q);
            CHECK_NEAR(errors[j], sqrt(variance) / (p - q), 0.05 * sqrt(variance) / (p - q));
            CHECK_NEAR(counts[j], held[j], 7 * sqrt(variance) / (p - q));
        }
        CHECK_NEAR(counts[0] + counts[1] + counts[2], DRAWS, 1e-6);
        tacit_selected_free(given);
    }
    free(truths);
    sources_end(&from);
}

/* The mean over the law, not over draws: one unit that holds answer 1 of 3. */
static void the_estimate_of_one_unit_averages_to_the_truth(void **state) {
    (void)state;
    const tacit_response response = { 3, { TACIT_UNIT_RECORD, 0.8, 0 } };
    double mean[3] = { 0 };
    for (size_t given = 0; given < 3; given++) {
        double counts[3];
        assert_int_equal(tacit_response_estimate(counts, NULL, &response, &given, 1, NULL), TACIT_OK);
        for (size_t j = 0; j < 3; j++) mean[j] += chance_of(3, 0.8, 1, given) * counts[j];
    }
    CHECK_NEAR(mean[0], 0, 1e-14);
    CHECK_NEAR(mean[1], 1, 1e-14);
    CHECK_NEAR(mean[2], 0, 1e-14);
}

static void the_plain_truth_is_only_for_simulations(void **state) {
    (void)state;
    const tacit_response open = { 5, { TACIT_UNIT_RECORD, INFINITY, 0 } };
    const size_t truths[3] = { 4, 0, 2 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_selected *given = NULL;
    sources from;
    sources_begin(&from, 3);
    assert_int_equal(tacit_response_release(&given, &from.each[1], &open, truths, 3, NULL), TACIT_USAGE);
    assert_null(given);
    CHECK_OK(tacit_response_release(&given, &from.each[0], &open, truths, 3, &error), error);
    assert_int_equal(tacit_selected_grade(given), TACIT_NOISE_NONE);
    assert_memory_equal(tacit_selected_indices(given), truths, sizeof truths);
    tacit_selected_free(given);
    sources_end(&from);
}

static void refuses(const sources *from, const tacit_response *bad, size_t truth, size_t count) {
    for (size_t s = 0; s < 2; s++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_selected *given = NULL;
        double counts[8];
        tacit_status status = tacit_response_release(&given, &from->each[s], bad, &truth, count, &error);
        assert_true(status == TACIT_USAGE || status == TACIT_INPUT);
        assert_true(strlen(error.text) > 0);
        assert_null(given);
        assert_int_not_equal(tacit_response_estimate(counts, NULL, bad, &truth, count, NULL), TACIT_OK);
    }
}

static void nonsense_is_refused(void **state) {
    (void)state;
    const tacit_response good = { 2, { TACIT_UNIT_RECORD, 1, 0 } };
    const double wrong[] = { 0, -1, NAN, -INFINITY };
    tacit_response bad;
    sources from;
    sources_begin(&from, 4);
    for (size_t i = 0; i < 4; i++) bad = good, bad.price.epsilon = wrong[i], refuses(&from, &bad, 0, 1);
    bad = good, bad.price.delta = 1, refuses(&from, &bad, 0, 1);
    bad = good, bad.answers = 1, refuses(&from, &bad, 0, 1);
    bad = good, bad.answers = 0, refuses(&from, &bad, 0, 1);
    refuses(&from, &good, 2, 1);
    refuses(&from, &good, 0, 0);
    tacit_selected *given = NULL;
    const tacit_noise_source none = { .entropy = NULL };
    assert_int_equal(tacit_response_release(&given, &none, &good, &(size_t){ 0 }, 1, NULL), TACIT_USAGE);
    assert_null(given);
    sources_end(&from);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_have_their_law),
        cmocka_unit_test(neighbours_differ_by_exactly_epsilon),
        cmocka_unit_test(the_estimate_is_unbiased),
        cmocka_unit_test(the_estimate_of_one_unit_averages_to_the_truth),
        cmocka_unit_test(the_plain_truth_is_only_for_simulations),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
