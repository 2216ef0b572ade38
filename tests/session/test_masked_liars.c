/* Masked sums: a coordinator that lies is refused and logged, and nobody is made to go on. */
#include "secure_bench.h"

static bench *bench_open(void) { return bench_of(TACIT_SUMS_MASKED, PARTIES, 2); }

static void lie_at(bench *self, size_t step, site *party) {
    liar lie;
    if (step == TACIT_SUM_ADVERTISE) {
        liar_hears(&lie, self, party);
        lie.masked.roster.length -= TACIT_SIGNING_KEY_BYTES;
        check_refused(&lie, party, "roster has");
        lie.masked.roster.length += TACIT_SIGNING_KEY_BYTES;
        memcpy(lie.masked.roster.bytes, lie.masked.roster.bytes + TACIT_SIGNING_KEY_BYTES,
               TACIT_SIGNING_KEY_BYTES);
        check_refused(&lie, party, "2 times in the coordinator's roster");
        liar_clear(&lie);
        take_turn(self, party);
        /* Once seen, a roster stays. */
        liar_hears(&lie, self, &self->sites[3]);
        lie.masked.roster.bytes[3 * TACIT_SIGNING_KEY_BYTES] ^= 1;
        check_refused(&lie, party, "changed the roster");
        liar_clear(&lie);
        return;
    }
    liar_hears(&lie, self, party);
    if (step == TACIT_SUM_MASK) {
        tacit_question asked = lie.question;
        lie.question.kind = TACIT_ROUND_PLAIN;
        check_refused(&lie, party, "in clear");
        lie.question = asked;
        lie.question.sum.bound *= 2;
        check_refused(&lie, party, "not the one that this sum was begun for");
    } else if (step == TACIT_SUM_CONSENT) {
        take_turn(self, party);
        tacit_buffer *sets = &lie.masked.body;
        sets->bytes[sets->length - 1] ^= 1u << 3; /* without party 3, for a second time */
        check_refused(&lie, party, "");
    } else if (step == TACIT_SUM_UNMASK) {
        take_turn(self, party);
        lie.masked.body.bytes[lie.masked.body.length - 1] ^= 1; /* another consent */
        check_refused(&lie, party, "");
    }
    lie.masked.sum_id[0] ^= 1;
    check_refused(&lie, party, "second sum in round 1");
    liar_clear(&lie);
}

static void test_a_lying_coordinator_is_refused_and_logged(void **state) {
    (void)state;
    bench *self = bench_open();
    site *party = &self->sites[1];
    liar late;
    begin(self);
    for (size_t step = 0; step < STEPS; step++) {
        assert_true(wait_for_question(self, step + 1));
        lie_at(self, step, party);
        if (step == TACIT_SUM_UNMASK) liar_hears(&late, self, &self->sites[0]);
        all_take_turns(self);
    }
    /* None of it has disturbed the sum. */
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, PARTIES);
    assert_true(spent(party) == PRICE);
    /* Later rounds cost again, and there is no way back. */
    late.question.round = 1;
    late.masked.step = TACIT_SUM_SHARE;
    check_refused(&late, party, "is not in");
    liar_clear(&late);
    bench_close(self);
}

/* What the party says to a sum's first step in this round. */
static tacit_status starts(site *party, liar *lie, uint64_t round) {
    tacit_buffer bytes = TACIT_BUFFER_INIT, reply = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    lie->question.round = round;
    CHECK_OK(tacit_question_encode(&lie->question, &bytes, &error), error);
    tacit_status status = answer(party, &bytes, &reply);
    tacit_buffer_clear(&bytes);
    tacit_buffer_clear(&reply);
    return status;
}

static void check_refused_in(site *party, liar *lie, uint64_t round, const char *says) {
    lie->question.round = round;
    check_refused(lie, party, says);
}

static void test_exact_sums_go_round_by_round(void **state) {
    (void)state;
    bench *self = bench_open();
    site *party = &self->sites[0];
    liar lie;
    begin(self);
    assert_true(wait_for_question(self, 1));
    liar_hears(&lie, self, party);
    check_refused_in(party, &lie, 7, "in round 8, and the next one of this party is in round 1");
    assert_int_equal(starts(party, &lie, 0), TACIT_OK);
    assert_int_equal(starts(party, &lie, 0), TACIT_OK); /* the same again */
    check_refused_in(party, &lie, (uint64_t)1 << 40, "the next one of this party is in round 2");
    check_refused_in(party, &lie, 2, "the next one of this party is in round 2");
    assert_int_equal(starts(party, &lie, 1), TACIT_OK);
    check_refused_in(party, &lie, 0, "round 1 is over");
    tacit_board_cancel(self->board);
    assert_int_equal(end(self), TACIT_CANCELLED);
    liar_clear(&lie);
    bench_close(self);
}

static tacit_status price_ten(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                              tacit_error *error) {
    TACIT_TRY(price_values(plan, prepared, out, error));
    out->event = tacit_event_pure(PRICE / 10, 10);
    return TACIT_OK;
}

static tacit_release_kind kind_charged(const tacit_plan *plan) {
    (void)plan;
    return TACIT_RELEASE_CHARGED;
}

static const tacit_method noisy = {
    .name = "avg", .version = 1, .handlers = handlers, .price = price_ten, .release_kind = kind_charged
};

/* It may have missed rounds, and the study has no more of them than the price pays for. */
static void test_where_sums_carry_noise_a_party_that_was_away_comes_back(void **state) {
    (void)state;
    bench *self = bench_open();
    site *party = &self->sites[0];
    liar lie;
    self->plan.method = &noisy;
    self->plan.epsilon = PRICE;
    begin(self);
    assert_true(wait_for_question(self, 1));
    liar_hears(&lie, self, party);
    check_refused_in(party, &lie, (uint64_t)1 << 40, "the study has at most 11");
    assert_int_equal(starts(party, &lie, 3), TACIT_OK);
    check_refused_in(party, &lie, 2, "round 3 is over");
    assert_int_equal(starts(party, &lie, 8), TACIT_OK);
    check_refused_in(party, &lie, 11, "the study has at most 11");
    assert_int_equal(starts(party, &lie, 10), TACIT_OK);
    tacit_board_cancel(self->board);
    assert_int_equal(end(self), TACIT_CANCELLED);
    liar_clear(&lie);
    bench_close(self);
}

static void test_a_key_that_is_twice_in_the_roster_is_refused(void **state) {
    (void)state;
    bench *self = bench_open();
    site *party = &self->sites[0];
    liar lie;
    begin(self);
    assert_true(wait_for_question(self, 1));
    liar_hears(&lie, self, party);
    memcpy(lie.masked.roster.bytes + 2 * TACIT_SIGNING_KEY_BYTES,
           lie.masked.roster.bytes + 3 * TACIT_SIGNING_KEY_BYTES, TACIT_SIGNING_KEY_BYTES);
    check_refused(&lie, party, "two parties of the coordinator's roster have the same key");
    tacit_board_cancel(self->board);
    assert_int_equal(end(self), TACIT_CANCELLED);
    liar_clear(&lie);
    bench_close(self);
}

static void test_who_withdraws_takes_no_further_step(void **state) {
    (void)state;
    bench *self = bench_open();
    site *party = &self->sites[3];
    tacit_error error = TACIT_ERROR_INIT;
    liar asked;
    begin(self);
    assert_true(wait_for_question(self, 1));
    all_take_turns(self);
    assert_true(wait_for_question(self, 2));
    CHECK_OK(tacit_ledger_withdraw(party->ledger, "heart@ca", &error), error);
    liar_hears(&asked, self, party);
    check_refused(&asked, party, "withdrawn");
    liar_clear(&asked);
    party->gone = true;
    for (size_t step = 2; step <= STEPS; step++) {
        assert_true(wait_for_question(self, step));
        all_take_turns(self);
    }
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, 3);
    bench_close(self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_lying_coordinator_is_refused_and_logged),
        cmocka_unit_test(test_exact_sums_go_round_by_round),
        cmocka_unit_test(test_where_sums_carry_noise_a_party_that_was_away_comes_back),
        cmocka_unit_test(test_a_key_that_is_twice_in_the_roster_is_refused),
        cmocka_unit_test(test_who_withdraws_takes_no_further_step),
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
