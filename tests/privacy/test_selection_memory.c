/* Every allocation of a mechanism fails once: the call says so, and nothing is released. */
#include "probabilities.h"

#include "failing.h"
#include "privacy/mechanism/integer.h"
#include "privacy/mechanism/response.h"

/* One release by each mechanism; whether something came out. */
typedef tacit_status mechanism_call(bool *released, const tacit_noise_source *source);

static tacit_status select_by(tacit_selection_rule rule, bool *released, const tacit_noise_source *source) {
    const double scores[4] = { 0, 1, 2, 2.5 };
    const tacit_selection selection = { rule, 2, 1, false, { TACIT_UNIT_RECORD, 1, 0 } };
    tacit_selected *selected = NULL;
    tacit_status status = tacit_selection_release(&selected, source, &selection, scores, 4, NULL);
    *released = selected != NULL;
    tacit_selected_free(selected);
    return status;
}

static tacit_status by_exponential(bool *released, const tacit_noise_source *source) {
    return select_by(TACIT_SELECT_EXPONENTIAL, released, source);
}

static tacit_status by_flips(bool *released, const tacit_noise_source *source) {
    return select_by(TACIT_SELECT_PERMUTE_AND_FLIP, released, source);
}

static tacit_status respond(bool *released, const tacit_noise_source *source) {
    const size_t truths[3] = { 0, 1, 2 };
    const tacit_response response = { 3, { TACIT_UNIT_RECORD, 1, 0 } };
    tacit_selected *given = NULL;
    tacit_status status = tacit_response_release(&given, source, &response, truths, 3, NULL);
    *released = given != NULL;
    tacit_selected_free(given);
    return status;
}

static tacit_status count(bool *released, const tacit_noise_source *source) {
    const int64_t counts[3] = { 0, 1, 2 };
    const tacit_mechanism mechanism = { TACIT_LAW_DISCRETE_GAUSSIAN, 1, { TACIT_UNIT_RECORD, 1, 1e-6 } };
    tacit_noised *noised = NULL;
    tacit_status status = tacit_integer_release(&noised, source, &mechanism, counts, 3, 1000, NULL);
    *released = noised != NULL;
    tacit_noised_free(noised);
    return status;
}

static tacit_status measure(bool *released, const tacit_noise_source *source) {
    const double values[3] = { 0, 1, 2 };
    const tacit_mechanism mechanism = { TACIT_LAW_GAUSSIAN, 1, { TACIT_UNIT_RECORD, 1, 1e-6 } };
    tacit_noised *noised = NULL;
    tacit_status status = tacit_mechanism_release(&noised, source, &mechanism, values, 3, 20, 1000, NULL);
    *released = noised != NULL;
    tacit_noised_free(noised);
    return status;
}

static void survives(mechanism_call *call) {
    sources from;
    sources_begin(&from, 1);
    for (size_t s = 0; s < 2; s++) {
        bool failed = true;
        long at = 1;
        for (; failed; at++) {
            bool released = false;
            fail_allocation(at);
            tacit_status status = call(&released, &from.each[s]);
            failed = allocation_failed();
            assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
            assert_int_equal(released, !failed);
        }
        assert_true(at > 3); /* some did fail */
    }
    sources_end(&from);
}

static void selection_survives_each_failure(void **state) {
    (void)state;
    survives(by_exponential);
    survives(by_flips);
}

static void response_survives_each_failure(void **state) {
    (void)state;
    survives(respond);
}

static void integer_noise_survives_each_failure(void **state) {
    (void)state;
    survives(count);
}

static void gaussian_noise_survives_each_failure(void **state) {
    (void)state;
    survives(measure);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selection_survives_each_failure),
        cmocka_unit_test(response_survives_each_failure),
        cmocka_unit_test(integer_noise_survives_each_failure),
        cmocka_unit_test(gaussian_noise_survives_each_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
