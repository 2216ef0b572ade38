/*
 * Noise in shares (noise=shares): the sum carries the law that the price asks for, whoever of the declared
 * parties vanishes; all rounds together cost what is declared; the declared sensitivity holds; and nothing is
 * opened from fewer.
 *
 * False alarms below 1e-9 a check. Squares of normals as in test_gradient.c. The empirical distribution
 * function of N numbers is further than sqrt(u/(2N)), u = 21.5 > ln(2e9), from the true one with probability
 * below 1e-9 (Massart 1990). Each check must also reject noise that is 10% off.
 */
#include "check.h"

#include "folder.h"
#include "lab/audit/audit.h"
#include "lab/replay.h"
#include "method/private/dpsgd.h"
#include "method/private/gradient.h"
#include "parties.h"
#include "privacy/account/gaussian.h"
#include "privacy/ledger/ledger.h"
#include "privacy/mechanism/shares.h"

enum { PARTIES = 10, EACH = 20, FEATURES = 8 };

static const double U = 21.5;

static void set(tacit_plan *plan, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(plan, name, value, &error), error);
}

/* Ten parties that add shares, for two of which 2 in 10 allow; `missing` of them, at most two, have too few
 * rows and refuse. */
static parties world_of(const tacit_method *method, size_t features, size_t missing) {
    parties world;
    parties_make(&world, ball(PARTIES * EACH, features, 3), PARTIES, NULL);
    world.plan.method = method;
    world.plan.dropouts = 0.2;
    world.plan.minimum_rows = EACH;
    if (missing > 0) world.split->start[1] = 5;
    if (missing > 1) world.split->start[PARTIES - 1] = PARTIES * EACH - 5;
    set(&world.plan, "noise", "shares");
    return world;
}

/* ---- dpgd ---- */

static tacit_status answers(parties *self, uint64_t seed, double *out, size_t *answered, tacit_error *error) {
    tacit_session session = parties_begin(self, seed);
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_sum_spec spec;
    const double weights[FEATURES] = { 0.5 };
    tacit_status status;
    TACIT_CHECK(dpgd_sum(&self->plan, &spec, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", weights, FEATURES, error));
    TACIT_CHECK(tacit_ask_sum(&session, "gradient", &message, &spec, &sum, error));
    memcpy(out, sum.values, FEATURES * sizeof *out);
    *answered = sum.parties;
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}

static bool plausible(double sum, double k) { return fabs(sum - k) <= 2 * sqrt(k * U) + 2 * U; }

/* Of n parties, k answer: the noise is that of k shares. */
static void check_gradient_noise(size_t missing) {
    enum { RUNS = 600 };
    tacit_error error = TACIT_ERROR_INIT;
    parties world = world_of(&tacit_method_dpgd, FEATURES, missing);
    double exact[FEATURES], noisy[FEATURES], sum = 0;
    size_t answered = 0;
    tacit_noise_law law;
    set(&world.plan, "rounds", "3");
    CHECK_OK(answers(&world, 1, exact, &answered, &error), error);
    assert_int_equal(answered, PARTIES - missing);
    world.plan.epsilon = 2;
    world.plan.delta = 1e-5;
    CHECK_OK(tacit_plan_noise(&world.plan, &law, &error), error);
    double unit = law.scale * sqrt((double)answered / PARTIES);
    for (uint64_t run = 0; run < RUNS; run++) {
        CHECK_OK(answers(&world, 100 + run, noisy, &answered, &error), error);
        for (size_t j = 0; j < FEATURES; j++) sum += pow((noisy[j] - exact[j]) / unit, 2);
    }
    assert_true(plausible(sum, RUNS * FEATURES));
    assert_false(plausible(sum * 1.21, RUNS * FEATURES));
    assert_false(plausible(sum * 0.81, RUNS * FEATURES));
    parties_end(&world);
}

static void a_sum_of_gradients_carries_the_shares_of_those_who_answered(void **state) {
    (void)state;
    check_gradient_noise(0);
    check_gradient_noise(2);
}

/* What the sum of as few as may be left carries buys the price: the exact sigma at (2, 1e-5), three sums. */
static void the_fewest_that_may_be_left_carry_enough(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    parties world = world_of(&tacit_method_dpgd, FEATURES, 0);
    tacit_noise_law law;
    tacit_prices prices = { .event = { .count = 0 } };
    set(&world.plan, "rounds", "3");
    world.plan.epsilon = 2;
    world.plan.delta = 1e-5;
    world.plan.colluders = 0.1;
    assert_int_equal(tacit_plan_survivors(&world.plan), 8);
    assert_int_equal(tacit_plan_noise_shares(&world.plan), 7);
    CHECK_OK(tacit_plan_noise(&world.plan, &law, &error), error);
    CHECK_OK(tacit_plan_price(&world.plan, &prices, &error), error);
    double least = law.scale * sqrt(7.0 / PARTIES) / law.sensitivity;
    assert_int_equal(prices.event.kind, TACIT_EVENT_GAUSSIAN);
    assert_int_equal(prices.event.count, 3);
    assert_true(prices.event.parameter <= least * (1 - 0.9e-4)); /* what is not quite Gaussian is paid for */
    CHECK_NEAR(prices.event.parameter / least, 1, 1.1e-4);
    double sigma = 0;
    CHECK_OK(tacit_gaussian_sigma(&sigma, 2, 1e-5, 1, &error), error);
    CHECK_NEAR(prices.event.parameter / (sigma * sqrt(3)), 1, 1e-6); /* as a trusted party's noise */
    parties_end(&world);
}

static void all_rounds_together_cost_what_is_declared(void **state) {
    (void)state;
    static const char *const rounds[] = { "1", "2", "17", "0" };
    static const double prices[][2] = { { 0.1, 0.05 }, { 1, 1e-5 }, { 8, 1e-9 } };
    for (size_t p = 0; p < 3; p++)
        for (size_t r = 0; r < 4; r++) {
            tacit_error error = TACIT_ERROR_INIT;
            parties world = world_of(&tacit_method_dpgd, 3, 0);
            tacit_account account;
            set(&world.plan, "rounds", rounds[r]);
            world.plan.epsilon = prices[p][0];
            world.plan.delta = prices[p][1];
            tacit_model_free(parties_run(&world, 1, NULL));
            CHECK_OK(tacit_local_charged(world.local, TACIT_UNIT_RECORD, &account, &error), error);
            assert_true(tacit_amount_within(account.spent_epsilon, prices[p][0]));
            assert_true(account.spent_epsilon > (1 - 1e-6) * prices[p][0]); /* no noise is wasted */
            CHECK_NEAR(account.sum_delta / prices[p][1], 1, 1e-9);
            parties_end(&world);
        }
}

/* By the accountant of the ledger, without any slack; and, where the sum's grid is fine enough for shares to
 * count as Gaussian noise, all but a millionth of it is used. */
static void a_study_never_costs_more_than_its_epsilon(void **state) {
    (void)state;
    static const double epsilons[] = { 0.01, 0.1, 1, 8, 20 }, deltas[] = { 1e-70, 1e-12, 1e-5, 0.05 };
    static const char *const rounds[] = { "1", "3", "100", "10000", "0" };
    parties world = world_of(&tacit_method_dpgd, FEATURES, 0);
    size_t gaussian = 0, all = 0;
    for (size_t i = 0; i < 5 * 4 * 5; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_prices prices = { .event = { .count = 0 } };
        tacit_accountant *accountant = NULL;
        tacit_spending spent;
        world.plan.epsilon = epsilons[i % 5];
        world.plan.delta = deltas[i / 5 % 4];
        world.plan.colluders = i % 2 == 0 ? 0 : 0.1;
        set(&world.plan, "rounds", rounds[i / 20]);
        tacit_status status = tacit_plan_price(&world.plan, &prices, &error);
        if (status == TACIT_USAGE && world.plan.delta < 1e-60) continue; /* no zCDP is known there */
        CHECK_OK(status, error);
        CHECK_OK(tacit_accountant_create(&accountant, TACIT_REPLACE, &error), error);
        CHECK_OK(tacit_accountant_add(accountant, &prices.event, &error), error);
        CHECK_OK(tacit_accountant_epsilon(&spent, accountant, world.plan.delta, &error), error);
        accountant = tacit_accountant_free(accountant);
        assert_true(spent.epsilon <= world.plan.epsilon);
        all++;
        if (prices.event.kind != TACIT_EVENT_GAUSSIAN) continue;
        gaussian++;
        assert_true(spent.epsilon >= world.plan.epsilon * (1 - 1e-6));
    }
    print_message("# %zu of %zu by Gaussian noise\n", gaussian, all);
    assert_true(gaussian > all / 2 && gaussian < all);
    parties_end(&world);
}

/* ---- beside another study ---- */

static tacit_prices prices_of(const tacit_method *method, const char *noise, const char *rounds) {
    tacit_error error = TACIT_ERROR_INIT;
    parties world = world_of(method, FEATURES, 0);
    tacit_prices prices = { .event = { .count = 0 } };
    set(&world.plan, "noise", noise);
    set(&world.plan, rounds != NULL ? "rounds" : "sampling", rounds != NULL ? rounds : "0.025");
    world.plan.epsilon = 1;
    world.plan.delta = 1e-5;
    CHECK_OK(tacit_plan_price(&world.plan, &prices, &error), error);
    parties_end(&world);
    return prices;
}

/* Both held in a ledger of this delta, one after the other. */
static double cost_in_order(const tacit_prices *first, const tacit_prices *second, double limit,
                            double delta) {
    const tacit_prices *const studies[] = { first, second };
    const tacit_price most = { TACIT_UNIT_RECORD, limit, delta };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_ledger *ledger = NULL;
    tacit_account account;
    folder place = folder_make();
    CHECK_OK(tacit_ledger_open(&ledger, place.file, "ward-7", TACIT_LEDGER_CREATE, &error), error);
    CHECK_OK(tacit_ledger_set_limit(ledger, NULL, &most, &error), error);
    for (int i = 0; i < 2; i++) {
        const uint8_t hash[TACIT_HASH_BYTES] = { (uint8_t)i };
        CHECK_OK(tacit_ledger_reserve(ledger, i == 0 ? "first" : "second", hash, &studies[i]->charged,
                                      &studies[i]->event, &error),
                 error);
    }
    CHECK_OK(tacit_ledger_account(&account, ledger, NULL, TACIT_UNIT_RECORD, &error), error);
    tacit_ledger_free(ledger);
    folder_remove(&place);
    return account.spent_epsilon;
}

/* Gradient descent with shares of noise and a stochastic one on samples, of (1, 1e-5) each, in both orders: a
 * limit of a tenth more than one account of both costs takes both. */
static void it_costs_with_another_study_nearly_what_one_account_of_both_costs(void **state) {
    (void)state;
    static const double deltas[] = { 1e-4, 1e-5 };
    const tacit_prices one = prices_of(&tacit_method_dpgd, "shares", "20"),
                       other = prices_of(&tacit_method_dpsgd, "coordinator", NULL);
    assert_true(other.event.sampling < 1);
    for (int i = 0; i < 2; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_accountant *accountant = NULL;
        tacit_spending both;
        CHECK_OK(tacit_accountant_create(&accountant, TACIT_REPLACE, &error), error);
        CHECK_OK(tacit_accountant_add(accountant, &one.event, &error), error);
        CHECK_OK(tacit_accountant_add(accountant, &other.event, &error), error);
        CHECK_OK(tacit_accountant_epsilon(&both, accountant, deltas[i], &error), error);
        tacit_accountant_free(accountant);
        double there = cost_in_order(&one, &other, 1.1 * both.epsilon, deltas[i]),
               back = cost_in_order(&other, &one, 1.1 * both.epsilon, deltas[i]);
        print_message("# delta %g: %.4f and %.4f, under one account %.4f\n", deltas[i], there, back,
                      both.epsilon);
        assert_true(there <= 1.1 * both.epsilon && there >= both.epsilon * (1 - 1e-3));
        assert_true(back <= 1.1 * both.epsilon && back >= both.epsilon * (1 - 1e-3));
    }
}

/* ---- histogram ---- */

/* P(X <= x) of discrete Laplace noise. */
static double distribution(double x, double scale) {
    double p = exp(-1 / scale);
    return x < 0 ? pow(p, -x) / (1 + p) : 1 - pow(p, x + 1) / (1 + p);
}

static double furthest(const int64_t *sorted, size_t count, double scale) {
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && sorted[i + 1] == sorted[i]) continue;
        most = fmax(most, fabs((double)(i + 1) / (double)count - distribution((double)sorted[i], scale)));
    }
    return most;
}

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void keep_counts(void *context, const double *values, size_t count) {
    memcpy(context, values, count * sizeof *values);
}

/* The counts that come out of the sum, noise inside. */
static void published_counts(parties *self, uint64_t seed, double *out, size_t *answered) {
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_watch watch = { keep_counts, out };
    tacit_session session = parties_begin(self, seed);
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    session.watch = &watch;
    CHECK_OK(self->plan.method->coordinate(&session, &outcome, &error), error);
    *answered = outcome.parties;
    tacit_outcome_clear(&outcome);
}

static void the_fewest_counts_carry_discrete_laplace_noise(void **state) {
    (void)state;
    enum { LENGTH = 2000, RUNS = 100 };
    parties world = world_of(&tacit_method_histogram, 1, 2); /* eight of ten are left, as declared */
    int64_t *noise = calloc((size_t)LENGTH * RUNS, sizeof *noise);
    double exact[LENGTH], seen[LENGTH];
    size_t answered = 0;
    assert_non_null(noise);
    set(&world.plan, "cells", "1000");
    published_counts(&world, 0, exact, &answered);
    world.plan.epsilon = 0.5;
    for (uint64_t run = 0; run < RUNS; run++) {
        published_counts(&world, run, seen, &answered);
        assert_int_equal(answered, 8);
        for (size_t j = 0; j < LENGTH; j++) noise[run * LENGTH + j] = llrint(seen[j] - exact[j]);
    }
    qsort(noise, (size_t)LENGTH * RUNS, sizeof *noise, ascending);
    double allowed = sqrt(U / (2.0 * LENGTH * RUNS)), scale = 2 / 0.5;
    assert_true(furthest(noise, (size_t)LENGTH * RUNS, scale) <= allowed);
    assert_true(furthest(noise, (size_t)LENGTH * RUNS, scale * 1.1) > allowed);
    assert_true(furthest(noise, (size_t)LENGTH * RUNS, scale * 0.9) > allowed);
    free(noise);
    parties_end(&world);
}

static void audits_find_no_more_than_the_price(void **state) {
    (void)state;
    static const tacit_setting_value shares[] = { { "noise", "shares" } };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_audit audit = { .setup = { .epsilon = 1, .settings = shares, .setting_count = 1 },
                          .runs = 20000,
                          .confidence = 1 - 1e-9,
                          .seed = 9 };
    tacit_audit_result result;
    CHECK_OK(tacit_auditable_require(&audit.subject, "histogram", &error), error);
    CHECK_OK(tacit_audit_run(&result, &audit, &error), error);
    assert_false(result.broken);
    assert_true(result.epsilon_lower > 0.7);
}

/* ---- sensitivity ---- */

static tacit_status replace_row(void *context, size_t number, tacit_pair *out, tacit_error *error) {
    const parties *self = context;
    tacit_stream stream = tacit_stream_from_seed(number);
    const size_t d = self->data->features;
    out->plan = self->plan;
    out->plan.epsilon = 1;
    out->plan.delta = 1e-5;
    out->statistic = TACIT_STATISTIC_PUBLISHED;
    out->split = split_in_blocks(PARTIES * EACH, PARTIES);
    for (int side = 0; side < 2; side++) TACIT_TRY(tacit_pair_copy(&out->data[side], self->data, error));
    size_t row = tacit_stream_below(&stream, PARTIES * EACH);
    for (size_t j = 0; j < d; j++) /* turned about, which moves the gradient most */
        out->data[1]->dense.values[row * d + j] *= number % 2 == 0 ? -1 : 0.5;
    if (number % 3 == 0) out->data[1]->label[row] = 1 - out->data[1]->label[row];
    return TACIT_OK;
}

static void no_neighbour_moves_a_sum_beyond_what_is_declared(void **state) {
    (void)state;
    for (int which = 0; which < 2; which++) {
        tacit_error error = TACIT_ERROR_INIT;
        parties world = world_of(which == 0 ? &tacit_method_dpgd : &tacit_method_histogram, 2, 0);
        tacit_replay replay;
        set(&world.plan, which == 0 ? "rounds" : "cells", which == 0 ? "1" : "5");
        CHECK_OK(tacit_replay_run(&replay, replace_row, &world, 200, 1, NULL, &error), error);
        print_message("# %s: %.3f of the declared sensitivity\n", world.plan.method->name, replay.ratio);
        assert_true(replay.ratio <= 1 + 1e-12);
        assert_true(replay.ratio > 0.4); /* at weights of 0 a gradient is at most half as long as anywhere */
        parties_end(&world);
    }
}

/* ---- refusals ---- */

static void nothing_is_opened_from_fewer_than_declared(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    parties world = world_of(&tacit_method_dpgd, FEATURES, 2);
    double seen[FEATURES];
    size_t answered = 0;
    world.plan.epsilon = 2;
    world.plan.delta = 1e-5;
    world.plan.dropouts = 0.1; /* one may vanish, and two do */
    assert_int_equal(answers(&world, 1, seen, &answered, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "8 parties answered and the study needs at least 9"));
    parties_end(&world);
}

static void plans_that_leave_no_noise_are_refused(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    parties world = world_of(&tacit_method_histogram, 2, 0);
    world.plan.sums = TACIT_SUMS_CLEAR;
    assert_int_equal(tacit_plan_check(&world.plan, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "sum: clear"));
    world.plan.sums = TACIT_SUMS_PAILLIER;
    error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_check(&world.plan, &error), error);
    world.plan.dropouts = world.plan.colluders = 0.5;
    assert_int_equal(tacit_plan_check(&world.plan, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "nobody's share of the noise is left"));
    world.plan.dropouts = 1;
    assert_int_equal(tacit_plan_check(&world.plan, &error), TACIT_USAGE);
    parties_end(&world);
}

/* Fractions are of whole parties, and a product that is a hair below a whole number is that number. Of four
 * parties or more one colludes at least, unless the fraction is 0. */
static void fractions_are_whole_parties(void **state) {
    (void)state;
    static const struct {
        double fraction;
        size_t parties, whole, colluding;
    } cases[] = { { 0.1, 3, 0, 0 },  { 0.1, 4, 0, 1 },     { 0.1, 5, 0, 1 }, { 0.01, 9, 0, 1 },
                  { 0.1, 10, 1, 1 }, { 0.1, 30, 3, 3 },    { 0, 7, 0, 0 },   { 0.9, 5, 4, 4 },
                  { 0.3, 7, 2, 2 },  { 0.29, 100, 29, 29 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tacit_plan plan = { .parties = cases[i].parties, .dropouts = cases[i].fraction };
        assert_int_equal(tacit_plan_dropouts(&plan), cases[i].whole);
        plan = (tacit_plan){ .parties = cases[i].parties, .colluders = cases[i].fraction };
        assert_int_equal(tacit_plan_colluders(&plan), cases[i].colluding);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_of_gradients_carries_the_shares_of_those_who_answered),
        cmocka_unit_test(the_fewest_that_may_be_left_carry_enough),
        cmocka_unit_test(all_rounds_together_cost_what_is_declared),
        cmocka_unit_test(a_study_never_costs_more_than_its_epsilon),
        cmocka_unit_test(it_costs_with_another_study_nearly_what_one_account_of_both_costs),
        cmocka_unit_test(the_fewest_counts_carry_discrete_laplace_noise),
        cmocka_unit_test(audits_find_no_more_than_the_price),
        cmocka_unit_test(no_neighbour_moves_a_sum_beyond_what_is_declared),
        cmocka_unit_test(nothing_is_opened_from_fewer_than_declared),
        cmocka_unit_test(plans_that_leave_no_noise_are_refused),
        cmocka_unit_test(fractions_are_whole_parties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
