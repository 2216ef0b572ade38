/* Masked sums: a coordinator that lies is refused and logged, and nobody is made to go on. */
#include "secure_bench.h"

static bench *bench_open(void) { return bench_of(TACIT_SUMS_MASKED, PARTIES, 2); }

static void lie_at(bench *self, size_t step, site *party) {
    liar lie;
    if (step == TACIT_SUM_ADVERTISE) {
        liar_hears(&lie, self, party);
        lie.step.roster.length -= TACIT_SIGNING_KEY_BYTES;
        check_refused(&lie, party, "roster has");
        lie.step.roster.length += TACIT_SIGNING_KEY_BYTES;
        memcpy(lie.step.roster.bytes, lie.step.roster.bytes + TACIT_SIGNING_KEY_BYTES,
               TACIT_SIGNING_KEY_BYTES);
        check_refused(&lie, party, "2 times in the coordinator's roster");
        liar_clear(&lie);
        take_turn(self, party);
        /* Once seen, a roster stays. */
        liar_hears(&lie, self, &self->sites[3]);
        lie.step.roster.bytes[3 * TACIT_SIGNING_KEY_BYTES] ^= 1;
        check_refused(&lie, party, "changed the roster");
        liar_clear(&lie);
        return;
    }
    liar_hears(&lie, self, party);
    if (step == TACIT_SUM_MASK) {
        tacit_question asked = lie.question;
        lie.question.masked = NULL;
        check_refused(&lie, party, "in clear");
        lie.question = asked;
        lie.question.sum.bound *= 2;
        check_refused(&lie, party, "not the one that this sum was begun for");
    } else if (step == TACIT_SUM_CONSENT) {
        take_turn(self, party);
        tacit_buffer *sets = &lie.step.body;
        sets->bytes[sets->length - 1] ^= 1u << 3; /* without party 3, for a second time */
        check_refused(&lie, party, "");
    } else if (step == TACIT_SUM_UNMASK) {
        take_turn(self, party);
        lie.step.body.bytes[lie.step.body.length - 1] ^= 1; /* another consent */
        check_refused(&lie, party, "");
    }
    lie.step.sum_id[0] ^= 1;
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
    /* Later rounds cost anew, and there is no way back. */
    late.question.round = 1;
    late.step.step = TACIT_SUM_SHARE;
    check_refused(&late, party, "is not in");
    liar_clear(&late);
    bench_close(self);
}

static void test_rounds_only_go_up(void **state) {
    (void)state;
    bench *self = bench_open();
    site *party = &self->sites[0];
    tacit_buffer bytes = TACIT_BUFFER_INIT, reply = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    liar lie;
    begin(self);
    assert_true(wait_for_question(self, 1));
    liar_hears(&lie, self, party);
    lie.question.round = 7;
    CHECK_OK(tacit_question_encode(&lie.question, &bytes, &error), error);
    assert_int_equal(answer(party, &bytes, &reply), TACIT_OK);
    lie.question.round = 6;
    check_refused(&lie, party, "round 7 is over");
    tacit_board_cancel(self->board);
    assert_int_equal(end(self), TACIT_CANCELLED);
    liar_clear(&lie);
    tacit_buffer_clear(&bytes);
    tacit_buffer_clear(&reply);
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
        cmocka_unit_test(test_rounds_only_go_up),
        cmocka_unit_test(test_who_withdraws_takes_no_further_step),
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
