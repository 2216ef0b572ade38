/* Noise by itself, choices and accountants through the public header. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "library.h"

static char folder[] = "/tmp/tacit-noise-XXXXXX";

static tacit_ledger *fresh_ledger(double epsilon) {
    static int number;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_ledger *ledger = NULL;
    char path[64];
    snprintf(path, sizeof path, "%s/ledger%d.db", folder, number++);
    CHECK_OK(tacit_ledger_at(&ledger, path, "patients", &error), error);
    if (epsilon > 0) CHECK_OK(tacit_ledger_limit(ledger, false, epsilon, 0, &error), error);
    return ledger;
}

static void check_spent(tacit_ledger *ledger, const char *expected) {
    tacit_error error = TACIT_ERROR_INIT;
    char *text = NULL;
    CHECK_OK(tacit_ledger_document(&text, ledger, &error), error);
    if (strstr(text, expected) == NULL) fail_msg("%s does not say %s", text, expected);
    tacit_string_free(text);
}

static void noise_is_charged_before_it_is_handed_out_and_refused_when_nothing_is_left(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_ledger *ledger = fresh_ledger(1);
    tacit_options *options = OPTIONS("law", "laplace", "sensitivity", "1", "epsilon", "0.75");
    const double values[] = { 3, 1e300 };
    double out[] = { 7, 7 };
    CHECK_OK(tacit_noise_add(out, values, 2, options, ledger, &error), error);
    assert_true(isfinite(out[0]) && isfinite(out[1]) && out[0] != 7);
    check_spent(ledger, "0.75");
    out[0] = 7;
    assert_int_equal(tacit_noise_add(out, values, 2, options, ledger, NULL), TACIT_REFUSED);
    assert_true(out[0] == 7);
    tacit_options_free(options);
    tacit_ledger_free(ledger);
}

static void equal_numbers_get_noise_of_their_own(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_ledger *ledger = fresh_ledger(2);
    tacit_options *options = OPTIONS("law", "gamma-norm", "sensitivity", "1", "epsilon", "0.5");
    const double value = 3;
    double first = 0, second = 0;
    CHECK_OK(tacit_noise_add(&first, &value, 1, options, ledger, &error), error);
    CHECK_OK(tacit_noise_add(&second, &value, 1, options, ledger, &error), error);
    assert_true(first !=
                second); /* equal with probability below 2^-22: Laplace on a grid of 2^-20 of its scale */
    tacit_options_free(options);
    tacit_ledger_free(ledger);
}

static void a_choice_needs_a_limit_and_takes_no_seed_with_a_ledger(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_ledger *ledger = fresh_ledger(0);
    tacit_options *options = OPTIONS("sensitivity", "1", "epsilon", "1");
    const double scores[] = { 0, 4000, 1 };
    size_t chosen = 9;
    CHECK_FAILS(tacit_noise_choose(&chosen, scores, 3, options, ledger, failed), TACIT_REFUSED, "no limit");
    assert_int_equal(chosen, 9);
    CHECK_OK(tacit_ledger_limit(ledger, false, 1, 0, &error), error);
    CHECK_OK(tacit_noise_choose(&chosen, scores, 3, options, ledger, &error), error);
    assert_int_equal(chosen, 1); /* another with probability below e^-1999 */
    tacit_options_free(options);
    options = OPTIONS("sensitivity", "1", "epsilon", "1", "seed", "1");
    CHECK_FAILS(tacit_noise_choose(&chosen, scores, 3, options, ledger, failed), TACIT_USAGE, "simulation");
    tacit_options_free(options);
    tacit_ledger_free(ledger);
}

static void what_is_missing_is_an_error_and_no_crash(void **state) {
    (void)state;
    double value = 1;
    size_t chosen;
    char *text;
    tacit_options *options = OPTIONS("law", "laplace", "sensitivity", "1", "epsilon", "1");
    assert_int_equal(tacit_noise_add(NULL, &value, 1, options, NULL, NULL), TACIT_USAGE);
    assert_int_equal(tacit_noise_add(&value, NULL, 1, options, NULL, NULL), TACIT_USAGE);
    assert_int_equal(tacit_noise_add(&value, &value, 1, NULL, NULL, NULL), TACIT_USAGE);
    assert_int_equal(tacit_noise_add(&value, &value, 0, options, NULL, NULL), TACIT_USAGE);
    assert_int_equal(tacit_noise_choose(NULL, &value, 1, options, NULL, NULL), TACIT_USAGE);
    assert_int_equal(tacit_noise_choose(&chosen, NULL, 1, options, NULL, NULL), TACIT_USAGE);
    assert_int_equal(tacit_compose_document(NULL, options, NULL), TACIT_USAGE);
    assert_int_equal(tacit_compose_document(&text, NULL, NULL), TACIT_USAGE);
    tacit_options_free(options);
}

static void composition_is_that_of_the_accountants(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    char *text = NULL;
    tacit_options *options = OPTIONS("event", "gaussian sigma=4 count=10000 sampling=0.01", "adjacency",
                                     "add-or-remove", "delta", "1e-5");
    CHECK_OK(tacit_compose_document(&text, options, &error), error);
    assert_non_null(strstr(text, "\"epsilon\": 0.9468"));
    assert_non_null(strstr(text, "\"by\": \"PLD\""));
    assert_non_null(strstr(text, "\"Gaussian\": null"));
    tacit_string_free(text);
    tacit_options_free(options);
}

static void an_event_that_is_none_names_its_part(void **state) {
    (void)state;
    static const struct {
        const char *event, *words;
    } wrong[] = {
        { "uniform width=1", "none of gaussian" },    { "gaussian", "sigma" },
        { "gaussian sigma", "NAME=VALUE" },           { "gaussian sigma=x", "no number" },
        { "gaussian scale=1", "has no 'scale'" },     { "pure epsilon=1 delta=0.1", "has no 'delta'" },
        { "pure epsilon=1 count=0.5", "count" },      { "pure epsilon=1 count=1e12", "count" },
        { "pure epsilon=1 replaced=1", "yes or no" }, { "", "none of gaussian" }
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        tacit_error error = TACIT_ERROR_INIT;
        char *text = NULL;
        tacit_options *options = OPTIONS("event", wrong[k].event, "delta", "1e-5");
        assert_int_equal(tacit_compose_document(&text, options, &error), TACIT_USAGE);
        if (k != 1 && strstr(error.text, wrong[k].words) == NULL)
            fail_msg("'%s': '%s' does not say '%s'", wrong[k].event, error.text, wrong[k].words);
        tacit_options_free(options);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_charged_before_it_is_handed_out_and_refused_when_nothing_is_left),
        cmocka_unit_test(equal_numbers_get_noise_of_their_own),
        cmocka_unit_test(a_choice_needs_a_limit_and_takes_no_seed_with_a_ledger),
        cmocka_unit_test(what_is_missing_is_an_error_and_no_crash),
        cmocka_unit_test(composition_is_that_of_the_accountants),
        cmocka_unit_test(an_event_that_is_none_names_its_part),
    };
    if (mkdtemp(folder) == NULL) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
