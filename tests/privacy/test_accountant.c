/* Published figures, cases with a closed form, and what is refused. */
#include "check.h"

#include <string.h>

#include "privacy/account/account_pld_parts.h"
#include "privacy/account/gaussian.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static tacit_accountant *account_of(tacit_adjacency adjacency, const tacit_event *events, size_t count) {
    tacit_accountant *accountant = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_accountant_create(&accountant, adjacency, &error), error);
    for (size_t i = 0; i < count; i++) CHECK_OK(tacit_accountant_add(accountant, &events[i], &error), error);
    return accountant;
}

static double epsilon_by(tacit_adjacency adjacency, tacit_event event, tacit_composition by, double delta) {
    tacit_accountant *accountant = account_of(adjacency, &event, 1);
    tacit_error error = TACIT_ERROR_INIT;
    double epsilon = NAN;
    CHECK_OK(tacit_accountant_epsilon_by(&epsilon, accountant, by, delta, &error), error);
    tacit_accountant_free(accountant);
    return epsilon;
}

static double delta_by(tacit_event event, tacit_composition by, double epsilon) {
    tacit_accountant *accountant = account_of(TACIT_ADD_OR_REMOVE, &event, 1);
    tacit_error error = TACIT_ERROR_INIT;
    double delta = NAN;
    CHECK_OK(tacit_accountant_delta_by(&delta, accountant, by, epsilon, &error), error);
    tacit_accountant_free(accountant);
    return delta;
}

/* Google's dp_accounting gives RDP 1.0355 and PLD 0.947; Abadi et al. 2016 printed 1.26. */
static void the_published_figures_are_met(void **state) {
    (void)state;
    tacit_event event = tacit_event_sampled(tacit_event_gaussian(4, 10000), 0.01);
    double rdp = epsilon_by(TACIT_ADD_OR_REMOVE, event, TACIT_COMPOSITION_RDP, 1e-5);
    double pld = epsilon_by(TACIT_ADD_OR_REMOVE, event, TACIT_COMPOSITION_PLD, 1e-5);
    print_message("# q = .01, sigma = 4, T = 10000, delta = 1e-5: RDP %.5f, PLD %.5f\n", rdp, pld);
    CHECK_NEAR(rdp, 1.0355, 0.0103);
    CHECK_NEAR(pld, 0.947, 0.0094);
    tacit_accountant *accountant = account_of(TACIT_ADD_OR_REMOVE, &event, 1);
    tacit_spending best;
    assert_int_equal(tacit_accountant_epsilon(&best, accountant, 1e-5, NULL), TACIT_OK);
    assert_int_equal(best.by, TACIT_COMPOSITION_PLD);
    assert_string_equal(tacit_composition_name(best.by), "PLD");
    CHECK_NEAR(best.epsilon, pld, 0);
    tacit_accountant_free(accountant);
}

static void a_single_gaussian_is_the_analytic_one(void **state) {
    (void)state;
    static const double cases[][2] = {
        { 1, 1e-5 }, { 4, 1e-5 }, { 0.3, 1e-3 }, { 20, 1e-12 }, { 2, 1e-100 }
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        double exact;
        assert_int_equal(tacit_gaussian_epsilon(&exact, cases[i][0], cases[i][1], NULL), TACIT_OK);
        tacit_event event = tacit_event_gaussian(cases[i][0], 1);
        double pld = epsilon_by(TACIT_ADD_OR_REMOVE, event, TACIT_COMPOSITION_PLD, cases[i][1]);
        assert_true(pld >= exact * (1 - 1e-12));
        CHECK_NEAR(pld / exact, 1, 1e-6);
        double replaced = epsilon_by(TACIT_REPLACE, event, TACIT_COMPOSITION_GAUSSIAN, cases[i][1]);
        assert_int_equal(tacit_gaussian_epsilon(&exact, cases[i][0] / 2, cases[i][1], NULL), TACIT_OK);
        CHECK_NEAR(replaced / exact, 1, 1e-9);
    }
}

/* Merged in closed form, and by Fourier transforms of the unmerged step, also where delta is far below the
 * rounding of the transforms. */
static void composed_gaussians_are_one_of_less_noise(void **state) {
    (void)state;
    static const double deltas[] = { 1e-3, 1e-6, 1e-30, 1e-150 };
    tacit_event event = tacit_event_gaussian(20, 400);
    tacit_step step = { TACIT_EVENT_GAUSSIAN, 20, 0, 1, 400, false };
    tacit_steps steps = { &step, 1 };
    for (size_t i = 0; i < COUNT(deltas); i++) {
        double exact;
        tacit_pld_plan plan;
        tacit_composed *composed = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(tacit_gaussian_epsilon(&exact, 20 / sqrt(400), deltas[i], &error), error);
        CHECK_NEAR(epsilon_by(TACIT_ADD_OR_REMOVE, event, TACIT_COMPOSITION_GAUSSIAN, deltas[i]) / exact, 1,
                   1e-9);
        CHECK_OK(tacit_pld_plan_make(&plan, &steps, TACIT_REMOVED, deltas[i], 0, false, &error), error);
        CHECK_OK(tacit_compose(&composed, &steps, TACIT_REMOVED, &plan, &error), error);
        for (double epsilon = exact * 0.98; epsilon < exact * 1.02; epsilon += exact * 0.01) {
            double computed = tacit_composed_delta(composed, epsilon);
            double truth = exp(tacit_gaussian_log_delta(1, epsilon));
            assert_true(computed >= truth * (1 - 1e-10));
            CHECK_NEAR(computed / truth, 1, 1e-2);
        }
        tacit_composed_free(composed);
    }
}

/* delta(epsilon) = 1 - e^((epsilon - 1/b)/2) for the Laplace mechanism of scale b. */
static void laplace_has_its_closed_form(void **state) {
    (void)state;
    static const double scales[] = { 0.5, 1, 5 };
    for (size_t i = 0; i < COUNT(scales); i++)
        for (double part = 0; part < 1; part += 0.2) {
            double epsilon = part / scales[i], exact = -expm1((epsilon - 1 / scales[i]) / 2);
            double pld = delta_by(tacit_event_laplace(scales[i], 1), TACIT_COMPOSITION_PLD, epsilon);
            assert_true(pld >= exact * (1 - 1e-12));
            CHECK_NEAR(pld / exact, 1, 1e-4);
        }
    CHECK_NEAR(delta_by(tacit_event_laplace(0.5, 1), TACIT_COMPOSITION_PLD, 2.0001), 0, 0);
}

/* sum over l of C(T, l) p^(T-l) (1-p)^l (1 - e^(epsilon - (T-2l) e))_+ in extended precision. */
static double response_delta(double e, int runs, double epsilon) {
    long double sum = 0, p = 1 / (1 + expl(-(long double)e));
    for (int l = 0; l <= runs; l++) {
        long double loss = (long double)(runs - 2 * l) * (long double)e;
        if (loss <= (long double)epsilon) continue;
        long double choose = expl(lgammal(runs + 1) - lgammal(l + 1) - lgammal(runs - l + 1));
        sum += choose * powl(p, runs - l) * powl(1 - p, l) * -expm1l((long double)epsilon - loss);
    }
    return (double)sum;
}

static void randomised_response_composes_by_the_binomial_formula(void **state) {
    (void)state;
    static const struct {
        double e;
        int runs;
    } cases[] = { { 0.5, 1 }, { 0.5, 20 }, { 0.1, 300 }, { 2, 7 } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tacit_event event = tacit_event_pure(cases[i].e, (uint64_t)cases[i].runs);
        double top = cases[i].e * cases[i].runs;
        for (double part = 0.1; part < 0.9; part += 0.2) {
            double exact = response_delta(cases[i].e, cases[i].runs, part * top);
            double advanced = delta_by(event, TACIT_COMPOSITION_ADVANCED, part * top);
            double pld = delta_by(event, TACIT_COMPOSITION_PLD, part * top);
            assert_true(advanced >= exact * (1 - 1e-14) && pld >= exact * (1 - 1e-14));
            CHECK_NEAR(advanced / exact, 1, 1e-9);
            CHECK_NEAR(pld / exact, 1, 2e-3);
        }
        CHECK_NEAR(delta_by(event, TACIT_COMPOSITION_PLD, top * (1 + 1e-12)), 0, 0);
    }
}

/* 1 - (1 - delta)^T (1 - delta of the losses). */
static void approximate_events_keep_their_own_delta_apart(void **state) {
    (void)state;
    double exact = -expm1(20 * log1p(-1e-7) + log1p(-response_delta(0.5, 20, 6)));
    tacit_event event = tacit_event_approximate(0.5, 1e-7, 20);
    CHECK_NEAR(delta_by(event, TACIT_COMPOSITION_ADVANCED, 6) / exact, 1, 1e-8);
    double pld = delta_by(event, TACIT_COMPOSITION_PLD, 6);
    assert_true(pld >= exact * (1 - 1e-12));
    CHECK_NEAR(pld / exact, 1, 1e-3);
    assert_true(isinf(epsilon_by(TACIT_ADD_OR_REMOVE, event, TACIT_COMPOSITION_PLD, 1e-6))); /* spent: 2e-6 */
}

/* One sampled run: delta is q delta_0 at log(1 + q(e^epsilon - 1)) (Balle, Barthe and Gaboardi 2018, Theorem
 * 8, tight). */
static void a_sampled_gaussian_is_amplified_exactly(void **state) {
    (void)state;
    for (double q = 0.01; q < 1; q *= 4)
        for (double base = 0.5; base < 4; base += 1) {
            double epsilon = log1p(q * expm1(base)), exact = q * exp(tacit_gaussian_log_delta(1, base));
            tacit_event event = tacit_event_sampled(tacit_event_gaussian(1, 1), q);
            double pld = delta_by(event, TACIT_COMPOSITION_PLD, epsilon);
            assert_true(pld >= exact * (1 - 1e-11));
            CHECK_NEAR(pld / exact, 1, 1e-3);
        }
}

/* Sampled, pure, replaced (METHODS, dpstgd): log((1 + q(e^e - 1))/(1 + q(e^-e - 1))). */
static void a_sampled_pure_step_has_the_stated_price(void **state) {
    (void)state;
    double e = 3, q = 0.01;
    tacit_event event = tacit_event_sampled(tacit_event_pure(e, 1), q);
    CHECK_NEAR(epsilon_by(TACIT_ADD_OR_REMOVE, event, TACIT_COMPOSITION_BASIC, 0), log1p(q * expm1(e)),
               1e-14);
    CHECK_NEAR(epsilon_by(TACIT_REPLACE, event, TACIT_COMPOSITION_BASIC, 0),
               log1p(q * expm1(e)) - log1p(q * expm1(-e)), 1e-14);
    event = tacit_event_sampled(tacit_event_pure(429.3, 1), 0.01); /* 3 x 1431 x .1: about 425, not 3 */
    CHECK_NEAR(epsilon_by(TACIT_ADD_OR_REMOVE, event, TACIT_COMPOSITION_BASIC, 0), 429.3 + log(0.01), 1e-9);
}

/* A heterogeneous account is no better than its worst part and no worse than the parts' epsilons added. */
static void different_events_compose(void **state) {
    (void)state;
    tacit_event events[] = { tacit_event_sampled(tacit_event_gaussian(2, 200), 0.05),
                             tacit_event_laplace(10, 20), tacit_event_pure(0.05, 10),
                             tacit_event_gaussian(15, 3) };
    tacit_accountant *all = account_of(TACIT_ADD_OR_REMOVE, events, COUNT(events));
    double together, sum = 0, largest = 0, rdp;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_accountant_epsilon_by(&together, all, TACIT_COMPOSITION_PLD, 4e-6, &error), error);
    CHECK_OK(tacit_accountant_epsilon_by(&rdp, all, TACIT_COMPOSITION_RDP, 4e-6, &error), error);
    for (size_t i = 0; i < COUNT(events); i++) {
        sum += epsilon_by(TACIT_ADD_OR_REMOVE, events[i], TACIT_COMPOSITION_PLD, 1e-6);
        largest = fmax(largest, epsilon_by(TACIT_ADD_OR_REMOVE, events[i], TACIT_COMPOSITION_PLD, 4e-6));
    }
    assert_true(together > largest && together < sum && together < rdp);
    tacit_accountant_free(all);
}

/* Gaussians among other events, exactly: pure events of nearly no epsilon change nothing. */
static void equal_events_are_counted_together(void **state) {
    (void)state;
    tacit_event half = tacit_event_sampled(tacit_event_gaussian(3, 500), 0.02), whole = half;
    whole.count = 1000;
    tacit_accountant *twice = account_of(TACIT_ADD_OR_REMOVE, (tacit_event[]){ half, half }, 2);
    double epsilon = 0;
    assert_int_equal(tacit_accountant_epsilon_by(&epsilon, twice, TACIT_COMPOSITION_PLD, 1e-6, NULL),
                     TACIT_OK);
    CHECK_NEAR(epsilon, epsilon_by(TACIT_ADD_OR_REMOVE, whole, TACIT_COMPOSITION_PLD, 1e-6), 0);
    tacit_accountant_free(twice);
}

static void disjoint_rows_cost_the_largest(void **state) {
    (void)state;
    tacit_event small = tacit_event_pure(0.5, 1), large = tacit_event_pure(2, 1);
    tacit_spending out;
    for (int adjacency = 0; adjacency < 2; adjacency++) {
        tacit_accountant *one = account_of((tacit_adjacency)adjacency, &small, 1);
        tacit_accountant *two = account_of((tacit_adjacency)adjacency, &large, 1);
        const tacit_accountant *both[] = { one, two, one };
        double unit = adjacency == TACIT_REPLACE ? 2 : 1;
        assert_int_equal(tacit_accountant_parallel(&out, both, 3, false, 0, NULL), TACIT_OK);
        CHECK_NEAR(out.epsilon, 2 * unit, 0);
        assert_int_equal(tacit_accountant_parallel(&out, both, 3, true, 0, NULL), TACIT_OK);
        CHECK_NEAR(out.epsilon, adjacency == TACIT_REPLACE ? 5 : 2, 0); /* a replaced row may change sets */
        assert_int_equal(tacit_accountant_parallel(&out, both, 0, false, 0, NULL), TACIT_USAGE);
        tacit_accountant_free(one);
        tacit_accountant_free(two);
    }
}

static void the_noise_found_meets_the_target_and_hardly_less_does(void **state) {
    (void)state;
    static const double samplings[] = { 1, 0.1 };
    for (size_t i = 0; i < COUNT(samplings); i++)
        for (int adjacency = 0; adjacency < 2; adjacency++) {
            tacit_event event = tacit_event_sampled(tacit_event_gaussian(1, 30), samplings[i]);
            tacit_error error = TACIT_ERROR_INIT;
            tacit_spending at, below;
            CHECK_OK(tacit_noise_for(&event.parameter, &event, (tacit_adjacency)adjacency, 2, 1e-5, &error),
                     error);
            tacit_accountant *enough = account_of((tacit_adjacency)adjacency, &event, 1);
            event.parameter *= 1 - 1e-3;
            tacit_accountant *less = account_of((tacit_adjacency)adjacency, &event, 1);
            CHECK_OK(tacit_accountant_epsilon(&at, enough, 1e-5, &error), error);
            CHECK_OK(tacit_accountant_epsilon(&below, less, 1e-5, &error), error);
            assert_true(at.epsilon <= 2 * (1 + 1e-12) && below.epsilon > 2);
            tacit_accountant_free(enough);
            tacit_accountant_free(less);
        }
    double scale, each;
    tacit_event laplace = tacit_event_laplace(1, 4), pure = tacit_event_pure(1, 4);
    assert_int_equal(tacit_noise_for(&scale, &laplace, TACIT_ADD_OR_REMOVE, 2, 0, NULL), TACIT_OK);
    CHECK_NEAR(scale, 2, 3e-5);
    assert_int_equal(tacit_noise_for(&each, &pure, TACIT_REPLACE, 2, 0, NULL), TACIT_OK);
    CHECK_NEAR(each, 0.25, 4e-6);
    assert_true(each <= 0.25);
}

static void events_that_mean_nothing_are_refused(void **state) {
    (void)state;
    static const tacit_event wrong[] = {
        { TACIT_EVENT_GAUSSIAN, 0, 0, 1, 1, false },
        { TACIT_EVENT_GAUSSIAN, -1, 0, 1, 1, false },
        { TACIT_EVENT_GAUSSIAN, NAN, 0, 1, 1, false },
        { TACIT_EVENT_GAUSSIAN, INFINITY, 0, 1, 1, false },
        { TACIT_EVENT_GAUSSIAN, 1, 1e-5, 1, 1, false },
        { TACIT_EVENT_GAUSSIAN, 1, 0, 0, 1, false },
        { TACIT_EVENT_GAUSSIAN, 1, 0, -0.1, 1, false },
        { TACIT_EVENT_GAUSSIAN, 1, 0, 1.1, 1, false },
        { TACIT_EVENT_GAUSSIAN, 1, 0, NAN, 1, false },
        { TACIT_EVENT_GAUSSIAN, 1, 0, 1, 0, false },
        { TACIT_EVENT_GAUSSIAN, 1, 0, 1, UINT64_MAX, false },
        { TACIT_EVENT_LAPLACE, 0, 0, 1, 1, false },
        { TACIT_EVENT_PURE, 0, 0, 1, 1, false },
        { TACIT_EVENT_PURE, -1, 0, 1, 1, false },
        { TACIT_EVENT_PURE, NAN, 0, 1, 1, false },
        { TACIT_EVENT_PURE, INFINITY, 0, 1, 1, false },
        { TACIT_EVENT_APPROXIMATE, 1, 0, 1, 1, false },
        { TACIT_EVENT_APPROXIMATE, 1, 1, 1, 1, false },
        { TACIT_EVENT_APPROXIMATE, 1, NAN, 1, 1, false },
        { (tacit_event_kind)9, 1, 0, 1, 1, false },
        { TACIT_EVENT_GAUSSIAN, 1, 0, 0.5, 1, true }, /* sampled, of a replaced row */
        { TACIT_EVENT_GAUSSIAN, 1, 0, 1, 1, true }
    }; /* where rows come or go */
    tacit_accountant *accountant = account_of(TACIT_ADD_OR_REMOVE, NULL, 0);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_equal(tacit_accountant_add(accountant, &wrong[i], &error), TACIT_USAGE);
        assert_true(strlen(error.text) > 10);
    }
    tacit_event most = tacit_event_gaussian(1, TACIT_EVENT_COUNT_MOST), one = tacit_event_gaussian(1, 1);
    assert_int_equal(tacit_accountant_add(accountant, &most, NULL), TACIT_OK);
    assert_int_equal(tacit_accountant_add(accountant, &one, NULL), TACIT_USAGE);
    tacit_accountant_free(accountant);
    assert_int_equal(tacit_accountant_create(&accountant, (tacit_adjacency)5, NULL), TACIT_USAGE);
    assert_null(tacit_accountant_free(NULL));
}

static void questions_that_mean_nothing_are_refused(void **state) {
    (void)state;
    static const double bad_delta[] = { -1e-9, 1, 2, NAN, INFINITY, 1e-295 },
                        bad_epsilon[] = { -1, NAN, INFINITY };
    tacit_event event = tacit_event_sampled(tacit_event_gaussian(2, 10), 0.1);
    tacit_accountant *accountant = account_of(TACIT_ADD_OR_REMOVE, &event, 1);
    tacit_accountant *empty = account_of(TACIT_ADD_OR_REMOVE, NULL, 0);
    tacit_spending out = { 7, 7, TACIT_COMPOSITION_BASIC };
    double number = 7;
    for (size_t i = 0; i < COUNT(bad_delta); i++) {
        assert_int_equal(tacit_accountant_epsilon(&out, accountant, bad_delta[i], NULL), TACIT_USAGE);
        assert_int_equal(
            tacit_accountant_epsilon_by(&number, accountant, TACIT_COMPOSITION_PLD, bad_delta[i], NULL),
            TACIT_USAGE);
        assert_int_equal(tacit_noise_for(&number, &event, TACIT_REPLACE, 1, bad_delta[i], NULL), TACIT_USAGE);
    }
    for (size_t i = 0; i < COUNT(bad_epsilon); i++) {
        assert_int_equal(tacit_accountant_delta(&out, accountant, bad_epsilon[i], NULL), TACIT_USAGE);
        assert_int_equal(
            tacit_accountant_delta_by(&number, accountant, TACIT_COMPOSITION_RDP, bad_epsilon[i], NULL),
            TACIT_USAGE);
        assert_int_equal(tacit_noise_for(&number, &event, TACIT_REPLACE, bad_epsilon[i], 1e-5, NULL),
                         TACIT_USAGE);
    }
    assert_int_equal(tacit_noise_for(&number, &event, TACIT_REPLACE, 0, 1e-5, NULL), TACIT_USAGE);
    assert_int_equal(tacit_accountant_epsilon(&out, accountant, 0, NULL),
                     TACIT_USAGE); /* a Gaussian needs delta */
    assert_int_equal(tacit_accountant_epsilon(&out, empty, 1e-5, NULL), TACIT_USAGE);
    assert_int_equal(tacit_accountant_delta(&out, empty, 1, NULL), TACIT_USAGE);
    assert_int_equal(tacit_accountant_epsilon_by(&number, accountant, (tacit_composition)9, 1e-5, NULL),
                     TACIT_USAGE);
    assert_int_equal(tacit_accountant_epsilon_by(&number, accountant, TACIT_COMPOSITION_ZCDP, 1e-5, NULL),
                     TACIT_USAGE);
    CHECK_NEAR(out.epsilon + number, 14, 0);
    tacit_accountant_free(accountant);
    tacit_accountant_free(empty);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_figures_are_met),
        cmocka_unit_test(a_single_gaussian_is_the_analytic_one),
        cmocka_unit_test(composed_gaussians_are_one_of_less_noise),
        cmocka_unit_test(laplace_has_its_closed_form),
        cmocka_unit_test(randomised_response_composes_by_the_binomial_formula),
        cmocka_unit_test(approximate_events_keep_their_own_delta_apart),
        cmocka_unit_test(a_sampled_gaussian_is_amplified_exactly),
        cmocka_unit_test(a_sampled_pure_step_has_the_stated_price),
        cmocka_unit_test(different_events_compose),
        cmocka_unit_test(equal_events_are_counted_together),
        cmocka_unit_test(disjoint_rows_cost_the_largest),
        cmocka_unit_test(the_noise_found_meets_the_target_and_hardly_less_does),
        cmocka_unit_test(events_that_mean_nothing_are_refused),
        cmocka_unit_test(questions_that_mean_nothing_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
