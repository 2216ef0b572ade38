/* Events of which zCDP is known: composed by rho, never below what a Gaussian of that rho costs, and priced
 * by it at the gate. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "privacy/account/accountant.h"
#include "privacy/account/gaussian.h"
#include "privacy/account/release.h"
#include "privacy/mechanism/integer.h"

static tacit_accountant *account_of(tacit_adjacency adjacency, const tacit_event *events, size_t count) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_accountant *accountant = NULL;
    CHECK_OK(tacit_accountant_create(&accountant, adjacency, &error), error);
    for (size_t i = 0; i < count; i++) CHECK_OK(tacit_accountant_add(accountant, &events[i], &error), error);
    return accountant;
}

static double epsilon_of(tacit_adjacency adjacency, const tacit_event *events, size_t count, double delta) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_spending spent;
    tacit_accountant *accountant = account_of(adjacency, events, count);
    CHECK_OK(tacit_accountant_epsilon(&spent, accountant, delta, &error), error);
    tacit_accountant_free(accountant);
    return spent.epsilon;
}

/* A Gaussian is rho-zCDP and better: the event may cost more, by the looseness of the conversion, and never
 * less. */
static void it_costs_at_least_what_its_gaussian_costs(void **state) {
    (void)state;
    static const double sigmas[] = { 0.7, 3, 40 };
    for (size_t i = 0; i < 3; i++)
        for (uint64_t runs = 1; runs <= 100; runs *= 10) {
            double rho = 1 / (2 * sigmas[i] * sigmas[i]);
            tacit_event gaussian = tacit_event_gaussian(sigmas[i], runs),
                        known = tacit_event_concentrated(rho, runs);
            double exact = epsilon_of(TACIT_ADD_OR_REMOVE, &gaussian, 1, 1e-6),
                   here = epsilon_of(TACIT_ADD_OR_REMOVE, &known, 1, 1e-6);
            assert_true(here >= exact * (1 - 1e-9) && here < 1.3 * exact + 0.01);
        }
}

/* Rhos add, and replacing a row is removing one and adding one: four times rho. */
static void rhos_add_and_replacement_takes_four_times(void **state) {
    (void)state;
    tacit_event two[] = { tacit_event_concentrated(0.01, 3), tacit_event_concentrated(0.02, 1) },
                one = tacit_event_concentrated(0.05, 1), four = tacit_event_concentrated(0.2, 1),
                replaced = tacit_event_replaced(one);
    double added = epsilon_of(TACIT_ADD_OR_REMOVE, two, 2, 1e-5),
           together = epsilon_of(TACIT_ADD_OR_REMOVE, &one, 1, 1e-5);
    CHECK_NEAR(added / together, 1, 1e-9);
    CHECK_NEAR(epsilon_of(TACIT_REPLACE, &one, 1, 1e-5) / epsilon_of(TACIT_ADD_OR_REMOVE, &four, 1, 1e-5), 1,
               1e-9);
    CHECK_NEAR(epsilon_of(TACIT_REPLACE, &replaced, 1, 1e-5) / together, 1, 1e-9);
}

/* Beside others: Gaussians and pure events have a rho too. */
static void it_composes_with_the_others(void **state) {
    (void)state;
    tacit_event mixed[] = { tacit_event_replaced(tacit_event_concentrated(0.02, 5)),
                            tacit_event_replaced(tacit_event_gaussian(5, 2)),
                            tacit_event_replaced(tacit_event_pure(0.1, 4)) },
                whole = tacit_event_replaced(tacit_event_concentrated(0.1 + 0.04 + 0.02, 1));
    double here = epsilon_of(TACIT_REPLACE, mixed, 3, 1e-5),
           bound = epsilon_of(TACIT_REPLACE, &whole, 1, 1e-5);
    assert_true(here <= bound * (1 + 1e-9) && here > 0.9 * bound);
}

static void accountants_of_losses_say_that_they_do_not_apply(void **state) {
    (void)state;
    tacit_event known = tacit_event_concentrated(0.1, 1);
    tacit_accountant *accountant = account_of(TACIT_REPLACE, &known, 1);
    double out;
    static const tacit_composition others[] = { TACIT_COMPOSITION_BASIC, TACIT_COMPOSITION_ADVANCED,
                                                TACIT_COMPOSITION_GAUSSIAN, TACIT_COMPOSITION_PLD };
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(tacit_accountant_epsilon_by(&out, accountant, others[i], 1e-5, NULL), TACIT_USAGE);
        assert_int_equal(tacit_accountant_delta_by(&out, accountant, others[i], 1, NULL), TACIT_USAGE);
    }
    tacit_accountant_free(accountant);
    tacit_event wrong[] = { tacit_event_concentrated(0, 1), tacit_event_concentrated(NAN, 1),
                            tacit_event_concentrated(1e6, 1),
                            tacit_event_sampled(tacit_event_concentrated(0.1, 1), 0.5) };
    for (size_t i = 0; i < 4; i++) assert_int_equal(tacit_event_check(&wrong[i], NULL), TACIT_USAGE);
}

/* At the gate: the event that buys the price passes, one of 10% more rho does not. */
static void the_gate_proves_the_price(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    double rho = 0;
    CHECK_OK(tacit_zcdp_for(&rho, 1 - 1e-6, 1e-5, &error), error); /* the accountant searches coarsely */
    tacit_release release = { .price = { TACIT_UNIT_RECORD, 1, 1e-5 },
                              .event = tacit_event_replaced(tacit_event_concentrated(rho, 1)) };
    CHECK_OK(tacit_release_prove(&release, &error), error);
    release.event.parameter *= 1.1;
    assert_int_equal(tacit_release_prove(&release, NULL), TACIT_INPUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_costs_at_least_what_its_gaussian_costs),
        cmocka_unit_test(rhos_add_and_replacement_takes_four_times),
        cmocka_unit_test(it_composes_with_the_others),
        cmocka_unit_test(accountants_of_losses_say_that_they_do_not_apply),
        cmocka_unit_test(the_gate_proves_the_price),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
