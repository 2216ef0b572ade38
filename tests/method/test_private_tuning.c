/* Lambda chosen on private rows: it is one of the candidates, the better the more is paid, and what is paid
 * is charged. */
#include "check.h"

#include "failing.h"
#include "method/private/private_tuning.h"
#include "parties.h"

static const tacit_method *const METHODS[] = { &tacit_method_plr, &tacit_method_pst_s, &tacit_method_pst_f };

static void set(tacit_plan *plan, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(plan, name, value, &error), error);
}

static parties world_of(const tacit_method *method, size_t rows, double epsilon, const char *candidates,
                        const char *select) {
    parties world;
    parties_make(&world, ball(rows, 6, 4), 1, NULL);
    world.plan.method = method;
    world.plan.epsilon = epsilon;
    set(&world.plan, "candidates", candidates);
    set(&world.plan, "select", select);
    return world;
}

/* Run once: the chosen lambda and, if wanted, the charge and the model. */
static double run(parties *world, uint64_t seed, double *charged, tacit_model **model) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_session session = parties_begin(world, seed);
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_account account;
    CHECK_OK(world->plan.method->coordinate(&session, &outcome, &error), error);
    CHECK_OK(tacit_local_charged(world->local, TACIT_UNIT_RECORD, &account, &error), error);
    if (charged != NULL) *charged = account.spent_epsilon;
    if (model != NULL) {
        *model = outcome.models[0];
        outcome.count = 0;
    }
    double lambda = outcome.lambda;
    tacit_outcome_clear(&outcome);
    return lambda;
}

static void the_choice_is_charged_beside_the_model(void **state) {
    (void)state;
    for (int m = 0; m < 3; m++) {
        parties world = world_of(METHODS[m], 300, 0.7, "0.5,0.05", "private:0.2");
        tacit_prices prices;
        double charged;
        for (uint64_t seed = 1; seed <= 3; seed++) {
            double lambda = run(&world, seed, &charged, NULL);
            assert_true(lambda == 0.5 || lambda == 0.05);
            CHECK_NEAR(charged, 0.9, 1e-12);
            assert_true(charged >= 0.7 + 0.2 - 1e-15);
        }
        assert_int_equal(tacit_plan_price(&world.plan, &prices, NULL), TACIT_OK);
        assert_true(prices.charged.epsilon == charged);
        parties_end(&world);
    }
}

/* A lambda of 1000 shrinks weights to nothing: for a high price it is not chosen; for next to none it is a
 * coin. Of 200 fair coins fewer than 57 or more than 143 are heads with probability below 1e-9. */
static void the_choice_is_the_better_the_more_is_paid(void **state) {
    (void)state;
    enum { RUNS = 200 };
    static const char *const prices[] = { "private:100", "private:0.0001" };
    for (int p = 0; p < 2; p++) {
        parties world = world_of(&tacit_method_plr, 300, 1, "1000,0.01", prices[p]);
        int good = 0;
        for (uint64_t seed = 1; seed <= RUNS; seed++) good += run(&world, seed, NULL, NULL) == 0.01;
        print_message("# %s: the better one %d times of %d\n", prices[p], good, RUNS);
        assert_true(p == 0 ? good > 150 : good >= 57 && good <= 143);
        parties_end(&world);
    }
}

/* What follows the choice is the method at that lambda and epsilon, on all rows. */
static void without_noise_the_model_is_that_of_the_chosen_lambda(void **state) {
    (void)state;
    for (int m = 0; m < 3; m++) {
        parties world = world_of(METHODS[m], 300, INFINITY, "1000,0.01", "private:1");
        tacit_model *chosen = NULL, *plain = NULL;
        double lambda = run(&world, 3, NULL, &chosen);
        world.plan = choosing_plan(&world.plan, lambda == 0.01);
        assert_true(world.plan.lambda == lambda && choosing_count(&world.plan) == 0);
        plain = parties_run(&world, 3, NULL);
        assert_int_equal(tacit_model_size(chosen), tacit_model_size(plain));
        for (size_t j = 0; j < tacit_model_size(plain); j++)
            CHECK_NEAR(chosen->weights[j], plain->weights[j], 1e-9);
        tacit_model_free(chosen);
        tacit_model_free(plain);
        parties_end(&world);
    }
}

static void a_silent_choice_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *candidates, *select, *says;
        size_t parties;
    } wrong[] = {
        { "0.1,0.01", "none", "must be paid for", 1 },
        { "0.1,0.01", "public", "must be paid for", 1 },
        { "0.1,0.01", "private:0", "must be paid for", 1 },
        { "0.1,0.01", "private:x", "must be paid for", 1 },
        { "none", "private:1", "nothing to choose from", 1 },
        { "0.1", "private:1", "2 to 32 candidates", 1 },
        { "0.1,-1", "private:1", "not a number above 0", 1 },
        { "0.1,,2", "private:1", "not a number above 0", 1 },
        { "0.1,0.01", "private:1", "for one party", 2 },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (int m = 0; m < 3; m++) {
            tacit_error error = TACIT_ERROR_INIT;
            parties world = world_of(METHODS[m], 300, 1, wrong[i].candidates, wrong[i].select);
            world.plan.parties = wrong[i].parties;
            assert_int_equal(tacit_plan_check(&world.plan, &error), TACIT_USAGE);
            if (strstr(error.text, wrong[i].says) == NULL) fail_msg("%s", error.text);
            parties_end(&world);
        }
    parties few = world_of(&tacit_method_plr, 10, 1, "0.1,0.01", "private:1");
    assert_int_equal(tacit_plan_check(&few.plan, NULL), TACIT_USAGE);
    parties_end(&few);
}

static void each_failed_allocation_is_survived(void **state) {
    (void)state;
    parties world = world_of(&tacit_method_plr, 30, 1, "0.1,0.01", "private:1");
    long at = 1;
    for (bool failed = true; failed; at++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_stream root = tacit_stream_from_seed(1);
        tacit_outcome outcome = TACIT_OUTCOME_INIT;
        tacit_session session;
        fail_allocation(at);
        tacit_status status = tacit_local_begin(world.local, &world.plan, &root, NULL, &session, &error);
        if (status == TACIT_OK) status = world.plan.method->coordinate(&session, &outcome, &error);
        failed = allocation_failed();
        if (status != TACIT_OK && !(failed && status == TACIT_NO_MEMORY)) fail_msg("%ld: %s", at, error.text);
        tacit_outcome_clear(&outcome);
    }
    assert_true(at > 20);
    parties_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_choice_is_charged_beside_the_model),
        cmocka_unit_test(the_choice_is_the_better_the_more_is_paid),
        cmocka_unit_test(without_noise_the_model_is_that_of_the_chosen_lambda),
        cmocka_unit_test(a_silent_choice_is_refused),
        cmocka_unit_test(each_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
