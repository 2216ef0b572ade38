/* Each rule of the accountants held against what it says in closed form, or against an enumeration. */
#include "check.h"

#include "privacy/account/account_parts.h"
#include "privacy/mechanism/shares.h"

static double epsilon_of(tacit_adjacency adjacency, const tacit_event *events, size_t count,
                         tacit_composition by, double delta) {
    tacit_accountant *accountant = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    double epsilon = NAN;
    CHECK_OK(tacit_accountant_create(&accountant, adjacency, &error), error);
    for (size_t i = 0; i < count; i++) CHECK_OK(tacit_accountant_add(accountant, &events[i], &error), error);
    CHECK_OK(tacit_accountant_epsilon_by(&epsilon, accountant, by, delta, &error), error);
    tacit_accountant_free(accountant);
    return epsilon;
}

/* |f(x) - f(x')| is up to twice what a row that comes or goes moves: Laplace noise of scale b gives 1/b, then
 * 2/b. */
static void a_replaced_row_costs_laplace_noise_twice(void **state) {
    (void)state;
    tacit_event event = tacit_event_laplace(2.5, 1);
    CHECK_NEAR(epsilon_of(TACIT_ADD_OR_REMOVE, &event, 1, TACIT_COMPOSITION_BASIC, 0), 0.4, 1e-12);
    CHECK_NEAR(epsilon_of(TACIT_REPLACE, &event, 1, TACIT_COMPOSITION_BASIC, 0), 0.8, 1e-12);
    assert_true(epsilon_of(TACIT_REPLACE, &event, 1, TACIT_COMPOSITION_PLD, 1e-9) > 0.79);
}

/* Used twice, (e, d) is (2 e, (1 + e^e) d); just below that delta nothing is proved. */
static void a_replaced_row_costs_an_approximate_guarantee_twice(void **state) {
    (void)state;
    const double e = 1.5, d = 1e-6, twice = d * (1 + exp(e));
    tacit_event event = tacit_event_approximate(e, d, 1);
    CHECK_NEAR(epsilon_of(TACIT_REPLACE, &event, 1, TACIT_COMPOSITION_BASIC, twice * (1 + 1e-9)), 2 * e,
               1e-12);
    assert_true(isinf(epsilon_of(TACIT_REPLACE, &event, 1, TACIT_COMPOSITION_BASIC, twice * (1 - 1e-9))));
}

static void deltas_of_approximate_events_add_up(void **state) {
    (void)state;
    const tacit_event events[] = { tacit_event_approximate(0.5, 1e-6, 3),
                                   tacit_event_approximate(1, 2e-6, 1) };
    CHECK_NEAR(epsilon_of(TACIT_ADD_OR_REMOVE, events, 2, TACIT_COMPOSITION_BASIC, 5.0001e-6), 2.5, 1e-12);
    assert_true(isinf(epsilon_of(TACIT_ADD_OR_REMOVE, events, 2, TACIT_COMPOSITION_BASIC, 4.9999e-6)));
}

/* The delta at epsilon of randomised responses of e_1, ..., e_n: the sum over all signs of (P - e^epsilon
 * Q)+. */
static double enumerated_delta(const double *e, size_t count, double epsilon) {
    double delta = 0;
    for (unsigned signs = 0; signs < 1u << count; signs++) {
        double p = 1, q = 1;
        for (size_t i = 0; i < count; i++) {
            double high = 1 / (1 + exp(-e[i])), low = 1 - high;
            p *= signs >> i & 1 ? high : low;
            q *= signs >> i & 1 ? low : high;
        }
        delta += fmax(0, p - exp(epsilon) * q);
    }
    return delta;
}

/* Several kinds of pure events, no matter how few or how strong: never below the truth. Large epsilons make
 * the mean of the loss count, which is most of it there. */
static void advanced_composition_of_several_kinds_is_an_upper_bound(void **state) {
    (void)state;
    static const double sizes[] = { 0.05, 0.3, 1, 2.5 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const double a = sizes[s], b = 1.2 * sizes[s];
        const tacit_event events[] = { tacit_event_pure(a, 6), tacit_event_pure(b, 6) };
        const double each[12] = { a, a, a, a, a, a, b, b, b, b, b, b };
        for (double delta = 1e-6; delta < 0.5; delta *= 5) {
            double epsilon = epsilon_of(TACIT_ADD_OR_REMOVE, events, 2, TACIT_COMPOSITION_ADVANCED, delta);
            assert_true(enumerated_delta(each, 12, epsilon) <= delta * (1 + 1e-9));
        }
    }
}

/* Hoeffding's bound itself, where a mean of half its size would do: the loss of many small events is near its
 * mean. */
static void advanced_composition_counts_the_mean_of_the_loss(void **state) {
    (void)state;
    const tacit_event events[] = { tacit_event_pure(0.2, 4000), tacit_event_pure(0.21, 4000) };
    const double mean = 4000 * (0.2 * tanh(0.1) + 0.21 * tanh(0.105));
    const double squares = 4000 * (0.2 * 0.2 + 0.21 * 0.21), delta = 1e-6;
    double epsilon = epsilon_of(TACIT_ADD_OR_REMOVE, events, 2, TACIT_COMPOSITION_ADVANCED, delta);
    CHECK_NEAR(epsilon, mean + sqrt(2 * squares * -log(delta)), 1e-6 * mean);
}

/* Removed, then added, each at half of epsilon: the second delta is seen through the first's
 * e^(epsilon/2). */
static void group_privacy_multiplies_the_second_delta(void **state) {
    (void)state;
    CHECK_NEAR(tacit_group_delta(1e-6, 3e-6, 2), 1e-6 + exp(1) * 3e-6, 1e-15);
    CHECK_NEAR(tacit_group_delta(0.5, 0.5, 4), 1, 0);
}

/* rho = (S/(sqrt(m) s) + sqrt(d) tau)^2/2 with tau = 10 sum_(k<m) exp(-2 pi^2 s^2 k/(k+1)); at a small scale
 * and a long vector the second term is what counts. */
static void the_correction_of_shares_counts_in_each_coordinate(void **state) {
    (void)state;
    const double scale = 0.8, length = 1e6;
    const tacit_shared_noise noise = {
        TACIT_LAW_DISCRETE_GAUSSIAN, 1, { TACIT_UNIT_RECORD, 1, 1e-5 }, 4, (size_t)length, 1, 0
    };
    double tau = 0, rho = NAN;
    tacit_error error = TACIT_ERROR_INIT;
    for (int k = 1; k < 4; k++) tau += 10 * exp(-2 * M_PI * M_PI * scale * scale * k / (k + 1));
    const double far = 1 / (2 * scale) + sqrt(length) * tau;
    CHECK_OK(tacit_share_rho(&rho, &noise, scale, &error), error);
    CHECK_NEAR(rho, far * far / 2, 1e-6 * rho);
    assert_true(rho >= far * far / 2 * (1 - 1e-12));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replaced_row_costs_laplace_noise_twice),
        cmocka_unit_test(a_replaced_row_costs_an_approximate_guarantee_twice),
        cmocka_unit_test(deltas_of_approximate_events_add_up),
        cmocka_unit_test(advanced_composition_of_several_kinds_is_an_upper_bound),
        cmocka_unit_test(advanced_composition_counts_the_mean_of_the_loss),
        cmocka_unit_test(group_privacy_multiplies_the_second_delta),
        cmocka_unit_test(the_correction_of_shares_counts_in_each_coordinate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
