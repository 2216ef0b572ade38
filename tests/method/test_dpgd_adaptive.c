/*
 * dpgd with a budget that adapts: no path of questions, however chosen, gets more than the budget out of a
 * party, simulated or real, while a coordinator that asks so would have got several times as much without the
 * filter; the events of a path that uses it up cost the price; a round is asked again only as it was; units
 * grow where gradients drown, and only there; a run's model is as near to the minimum as that of even steps.
 *
 * Seeds are fixed, so the outcome is always the same.
 */
#include "check.h"

#include <math.h>

#include "method/private/dpgd.h"
#include "parties.h"
#include "privacy/account/accountant.h"
#include "privacy/account/gaussian.h"

static void set(tacit_plan *plan, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(plan, name, value, &error), error);
}

static parties world_of(const char *noise, const char *schedule) {
    parties world;
    parties_make(&world, ball(2000, 3, 1), 4, NULL);
    world.plan.method = &tacit_method_dpgd;
    world.plan.epsilon = 1;
    world.plan.delta = 1e-5;
    world.plan.lambda = 0.01;
    set(&world.plan, "noise", noise);
    set(&world.plan, "schedule", schedule);
    return world;
}

/* ---- the filter ---- */

/* A real party's store, of one record. */
typedef struct store {
    uint8_t bytes[128];
    size_t length;
} store;

static tacit_status read_record(void *context, const char *name, bool *found, tacit_buffer *out,
                                tacit_error *error) {
    store *self = context;
    (void)name;
    *found = self->length > 0;
    return *found ? tacit_buffer_append(out, self->bytes, self->length, error) : TACIT_OK;
}

static tacit_status write_record(void *context, const char *name, const uint8_t *bytes, size_t length,
                                 tacit_error *error) {
    store *self = context;
    (void)name, (void)error;
    assert_true(length <= sizeof self->bytes);
    memcpy(self->bytes, bytes, length);
    self->length = length;
    return TACIT_OK;
}

static tacit_status asks(tacit_party *party, uint64_t round, uint8_t id, uint64_t units) {
    tacit_question question = { .round = round, .answer_id = { id } };
    return dpgd_filter(party, &question, units, DPGD_UNITS, NULL);
}

/* Any units, also none and too many, in any round and under any id; what passed. A question that was answered
 * before, in the same round and under the same id, is what a ledger answers by what it has. */
static uint64_t greedy_path(tacit_party *party, uint64_t seed, uint64_t *asked) {
    tacit_stream stream = tacit_stream_from_seed(seed);
    uint64_t passed = 0, last = UINT64_MAX, last_id = 0;
    *asked = 0;
    for (int i = 0; i < 600; i++) {
        uint64_t most = (uint64_t)1 << tacit_stream_below(&stream, 16),
                 units = tacit_stream_below(&stream, most),
                 id = party->keep == NULL ? 0 : tacit_stream_below(&stream, 3),
                 round = i == 0 ? 0 : 1 + tacit_stream_below(&stream, (uint64_t)i + 2);
        tacit_status status = asks(party, round, (uint8_t)id, units);
        *asked += units;
        assert_true(status == TACIT_OK || status == TACIT_REFUSED);
        if (status != TACIT_OK || (round == last && id == last_id)) continue;
        assert_true(last == UINT64_MAX || round > last);
        passed += units;
        last = round;
        last_id = id;
    }
    return passed;
}

static void no_path_gets_more_than_the_budget(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t asked = 0, passed = 0;
        store kept = { .length = 0 };
        tacit_memo memo = { .model = NULL };
        const tacit_keep keep = { read_record, write_record, &kept };
        parties world = world_of("shares", "adaptive");
        tacit_party simulated = { .plan = &world.plan, .memo = &memo };
        tacit_party real = { .plan = &world.plan, .keep = &keep };
        for (int i = 0; i < 2; i++) {
            passed = greedy_path(i == 0 ? &simulated : &real, seed, &asked);
            assert_true(passed > 0 && passed <= DPGD_UNITS);
            assert_true(asked > 3 * (uint64_t)DPGD_UNITS); /* without a filter it would have been as much */
        }
        tacit_memo_clear(&memo);
        parties_end(&world);
    }
}

static void a_round_is_asked_again_only_as_it_was(void **state) {
    (void)state;
    store kept = { .length = 0 };
    const tacit_keep keep = { read_record, write_record, &kept };
    parties world = world_of("shares", "adaptive");
    tacit_party real = { .plan = &world.plan, .keep = &keep };
    assert_int_equal(asks(&real, 0, 1, 10), TACIT_OK);
    assert_int_equal(asks(&real, 0, 1, 10), TACIT_OK);      /* after a crash */
    assert_int_equal(asks(&real, 0, 1, 11), TACIT_REFUSED); /* with less noise */
    assert_int_equal(asks(&real, 0, 2, 10), TACIT_REFUSED); /* for a second answer */
    assert_int_equal(asks(&real, 3, 1, 20), TACIT_OK);      /* after rounds that it missed */
    assert_int_equal(asks(&real, 2, 1, 10), TACIT_REFUSED);
    assert_int_equal(asks(&real, 4, 1, DPGD_UNITS - 29), TACIT_REFUSED);
    assert_int_equal(asks(&real, 4, 1, DPGD_UNITS - 30), TACIT_OK);
    assert_int_equal(asks(&real, 5, 1, 1), TACIT_REFUSED);
    /* Of a definition that was amended the old rounds count no more: the ledger has charged them. */
    real.study_hash[0] = 1;
    assert_int_equal(asks(&real, 0, 1, 10), TACIT_OK);
    kept.length--;
    assert_int_equal(asks(&real, 1, 1, 10), TACIT_CORRUPT);
    parties_end(&world);
}

/* Of fewer units than the first round's the noise would not fit into a sum; of more there are none. */
static void a_round_has_units_that_its_sum_has_room_for(void **state) {
    (void)state;
    parties world = world_of("party", "adaptive");
    dpgd_descent first, round;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(dpgd_prepare(&world.plan, &first, &error), error);
    CHECK_OK(dpgd_prepare_round(&world.plan, (double)first.runs, &round, &error), error);
    CHECK_NEAR(round.scale, first.scale, 0);
    CHECK_OK(dpgd_prepare_round(&world.plan, 4 * (double)first.runs, &round, &error), error);
    CHECK_NEAR(round.scale / first.scale, 0.5, 1e-6);
    assert_int_equal(dpgd_prepare_round(&world.plan, (double)first.runs - 1, &round, NULL), TACIT_REFUSED);
    assert_int_equal(dpgd_prepare_round(&world.plan, DPGD_UNITS + 1, &round, NULL), TACIT_REFUSED);
    parties_end(&world);
}

/* ---- what it costs ---- */

static void all_units_together_cost_the_price(void **state) {
    static const char *const ways[] = { "shares", "party", "coordinator" };
    (void)state;
    for (size_t w = 0; w < 3; w++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_prices prices = { .event = { .count = 0 } };
        tacit_accountant *accountant = NULL;
        tacit_spending spent;
        parties world = world_of(ways[w], "adaptive");
        CHECK_OK(tacit_plan_price(&world.plan, &prices, &error), error);
        assert_int_equal(prices.event.count, DPGD_UNITS);
        CHECK_OK(tacit_accountant_create(&accountant, TACIT_REPLACE, &error), error);
        CHECK_OK(tacit_accountant_add(accountant, &prices.event, &error), error);
        CHECK_OK(tacit_accountant_epsilon(&spent, accountant, 1e-5, &error), error);
        assert_true(spent.epsilon <= 1 && spent.epsilon > 0.99);
        tacit_accountant_free(accountant);
        /* the event of no round has less noise in a unit */
        for (uint64_t units = 1; units <= DPGD_UNITS; units += 1 + units / 3) {
            dpgd_descent round;
            if (dpgd_prepare_round(&world.plan, (double)units, &round, NULL) != TACIT_OK) continue;
            assert_int_equal(round.event.count, units);
            assert_true(round.event.parameter >= prices.event.parameter);
            assert_true(round.event.parameter < 1.001 * prices.event.parameter);
        }
        parties_end(&world);
    }
}

static void units_grow_where_gradients_drown(void **state) {
    (void)state;
    const size_t rounds = 100;
    double wanted = (double)dpgd_first_units(rounds);
    assert_int_equal(dpgd_first_units(rounds), DPGD_UNITS / 200);
    assert_int_equal(dpgd_first_units(100000), 1);
    for (int i = 0; i < 20; i++)
        assert_int_equal(dpgd_next_units(&wanted, rounds, 1000, 100, 1), DPGD_UNITS / 200); /* clear */
    for (int i = 0; i < 500; i++)
        assert_true(dpgd_next_units(&wanted, rounds, 1000, 1, 1) <= 4 * dpgd_first_units(rounds));
    assert_int_equal(dpgd_next_units(&wanted, rounds, 1000, 1, 1), 4 * dpgd_first_units(rounds));
    assert_int_equal(dpgd_next_units(&wanted, rounds, DPGD_UNITS - 7, 1, 1), 7);
}

/* ---- runs ---- */

static void a_run_ends_near_the_minimum(void **state) {
    static const char *const ways[] = { "shares", "party", "coordinator" };
    (void)state;
    for (size_t w = 0; w < 3; w++) {
        tacit_error error = TACIT_ERROR_INIT;
        double loss[2], base = log(2);
        for (int s = 0; s < 2; s++) {
            parties world = world_of(ways[w], s == 0 ? "even" : "adaptive");
            tacit_view rows = tacit_dataset_view(world.data);
            tacit_metrics metrics;
            tacit_model *model = parties_run(&world, 3, NULL);
            CHECK_OK(tacit_model_evaluate(model, &rows, NULL, &metrics, &error), error);
            loss[s] = metrics.log_loss;
            tacit_model_free(model);
            parties_end(&world);
        }
        print_message("# noise=%s: log-loss %.4f even, %.4f adaptive\n", ways[w], loss[0], loss[1]);
        assert_true(loss[1] < base && loss[1] < 1.2 * loss[0]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_path_gets_more_than_the_budget),
        cmocka_unit_test(a_round_is_asked_again_only_as_it_was),
        cmocka_unit_test(a_round_has_units_that_its_sum_has_room_for),
        cmocka_unit_test(all_units_together_cost_the_price),
        cmocka_unit_test(units_grow_where_gradients_drown),
        cmocka_unit_test(a_run_ends_near_the_minimum),
    };
    return cmocka_run_group_tests_name("dpgd_adaptive", tests, NULL, NULL);
}
