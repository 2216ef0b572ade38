/*
 * Sums under Paillier encryption: right whoever vanishes and whichever side is started again; the key holder
 * decrypts one product a sum, of enough parties, and sees only noise; what is wrong is refused. The keys are
 * stored ones: a new one takes seconds.
 */
#include "secure_bench.h"

#include "keys.h"

enum { ROUNDS = TACIT_PAILLIER_SUM_OPENED, HOLDER = TACIT_KEY_HOLDER };

static bench *bench_open(void) {
    bench *self = bench_of(TACIT_SUMS_PAILLIER, PARTIES, 2);
    tacit_paillier_secret *secret = stored_key(FULL_KEY);
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_paillier_secret_write(secret, &bytes, &error), error);
    CHECK_OK(write_kept(&self->sites[HOLDER], "paillier.key", bytes.bytes, bytes.length, &error), error);
    tacit_buffer_clear(&bytes);
    tacit_paillier_secret_free(secret);
    return self;
}

static void test_the_sum_is_right_and_charged_once(void **state) {
    (void)state;
    bench *self = bench_open();
    begin(self);
    for (size_t step = 0; step < ROUNDS; step++) {
        assert_true(wait_for_question(self, step + 1));
        take_encrypted_turns(self, step);
    }
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, PARTIES);
    for (size_t k = 0; k < self->parties; k++) assert_true(spent(&self->sites[k]) == PRICE);
    bench_close(self);
}

static void test_the_sum_is_that_of_the_survivors(void **state) {
    (void)state;
    bench *self = bench_open();
    begin(self);
    self->sites[2].gone = true;
    for (size_t step = 0; step < ROUNDS; step++) {
        assert_true(wait_for_question(self, step + 1));
        take_encrypted_turns(self, step);
    }
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, 2);
    assert_true(spent(&self->sites[2]) == 0);
    bench_close(self);
}

static void test_too_few_or_no_key_holder_open_nothing(void **state) {
    (void)state;
    bench *self = bench_open();
    begin(self);
    assert_true(wait_for_question(self, 1));
    take_encrypted_turns(self, TACIT_PAILLIER_SUM_KEY);
    assert_true(wait_for_question(self, 2));
    for (size_t k = 1; k <= 2; k++) { /* three of four are needed */
        self->sites[k].gone = true;
        take_turn(self, &self->sites[k]);
    }
    assert_int_equal(end(self), TACIT_REFUSED);
    assert_non_null(strstr(self->error.text, "2 refused: no"));
    bench_close(self);
    self = bench_open();
    begin(self);
    assert_true(wait_for_question(self, 1));
    self->sites[HOLDER].gone = true;
    take_turn(self, &self->sites[HOLDER]);
    assert_int_equal(end(self), TACIT_REFUSED);
    bench_close(self);
}

static void test_both_sides_go_on_after_a_crash_at_any_step(void **state) {
    (void)state;
    for (size_t closed = 1; closed < ROUNDS; closed++) {
        bench *self = bench_open();
        self->close_after = closed;
        begin(self);
        for (size_t step = 0; step < closed; step++) {
            assert_true(wait_for_question(self, step + 1));
            take_encrypted_turns(self, step);
        }
        assert_int_equal(end(self), TACIT_CANCELLED);
        tacit_board_free(self->board);
        self->close_after = 0;
        open_board(self);
        for (size_t k = 0; k < self->parties; k++) start_masks(self, &self->sites[k]);
        begin(self);
        for (size_t step = closed; step < ROUNDS; step++) {
            assert_true(wait_for_question(self, step - closed + 1));
            take_encrypted_turns(self, step);
        }
        assert_int_equal(end(self), TACIT_OK);
        check_sum(self, PARTIES);
        for (size_t k = 0; k < self->parties; k++) assert_true(spent(&self->sites[k]) == PRICE);
        bench_close(self);
    }
}

/* Asked again, a party sends the bytes that were charged, and the key holder the same sum. */
static void test_the_same_question_gets_the_same_bytes(void **state) {
    (void)state;
    bench *self = bench_open();
    site *party = &self->sites[HOLDER];
    begin(self);
    for (size_t step = 1; step <= ROUNDS; step++) {
        tacit_buffer question = TACIT_BUFFER_INIT, first = TACIT_BUFFER_INIT, again = TACIT_BUFFER_INIT;
        assert_true(wait_for_question(self, step));
        assert_true(read_question(self, party, &question));
        assert_int_equal(answer(party, &question, &first), TACIT_OK);
        start_masks(self, party);
        assert_int_equal(answer(party, &question, &again), TACIT_OK);
        assert_int_equal(first.length, again.length);
        assert_memory_equal(first.bytes, again.bytes, first.length);
        tacit_buffer_clear(&question);
        tacit_buffer_clear(&first);
        tacit_buffer_clear(&again);
        take_encrypted_turns(self, step - 1);
    }
    assert_int_equal(end(self), TACIT_OK);
    assert_true(spent(party) == PRICE);
    bench_close(self);
}

/* ---- liars ---- */

/* The last party's signed box in the place of everybody's, as if it were the whole sum. */
static void leave_one_alone(tacit_buffer *body) {
    const size_t each = (body->length - 4) / PARTIES, named = 4 + TACIT_SIGNATURE_BYTES;
    const uint8_t *last = body->bytes + body->length - each;
    for (size_t k = 0; k + 1 < PARTIES; k++)
        memcpy(body->bytes + 4 + k * each + named, last + named, each - named);
}

static void lie_at(bench *self, size_t step) {
    site *holder = &self->sites[HOLDER], *other = &self->sites[1];
    liar lie;
    if (step == TACIT_PAILLIER_SUM_KEY) {
        /* Nobody but the key holder makes a key. */
        liar_hears(&lie, self, holder);
        check_refused(&lie, other, "that party 1 of the roster holds");
        liar_clear(&lie);
    } else if (step == TACIT_PAILLIER_SUM_ENCRYPT) {
        liar_hears(&lie, self, other);
        lie.masked.body.bytes[lie.masked.body.length - 1] ^= 2; /* another key under the old signature */
        check_not_answered(&lie, other, "not signed by its key holder");
        lie.masked.body.bytes[lie.masked.body.length - 1] ^= 2;
        lie.masked.body.length -= 64;
        check_not_answered(&lie, other, "no signed key");
        lie.masked.body.length += 64;
        lie.question.sum.bound *= 2;
        check_refused(&lie, other, "not the one that this sum was begun for");
        lie.question.sum.bound /= 2;
        lie.question.kind = TACIT_ROUND_PLAIN;
        check_refused(&lie, other, "in clear");
        liar_clear(&lie);
    } else {
        liar_hears(&lie, self, holder);
        uint8_t *count = lie.masked.body.bytes;
        count[0] = 1; /* a sum of one */
        check_refused(&lie, holder, "at least 3 must be in it");
        count[0] = PARTIES;
        count[4] ^= 1; /* party 2 twice, and another who has not signed */
        check_not_answered(&lie, holder, "");
        count[4] ^= 1;
        lie.masked.body.length -= 8;
        check_not_answered(&lie, holder, "");
        lie.masked.body.length += 8;
        leave_one_alone(&lie.masked.body);
        check_not_answered(&lie, holder, "has not signed that it contributed this");
        take_turn(self, holder);
        /* Another product, as if somebody were left out. */
        check_refused(&lie, holder, "second product in round 1");
        lie.question.round = 1;
        lie.masked.step = TACIT_PAILLIER_SUM_ENCRYPT;
        check_refused(&lie, other, "not the one that this sum was begun for");
        liar_clear(&lie);
    }
}

static void test_a_lying_coordinator_is_refused_and_logged(void **state) {
    (void)state;
    bench *self = bench_open();
    begin(self);
    for (size_t step = 0; step < ROUNDS; step++) {
        assert_true(wait_for_question(self, step + 1));
        lie_at(self, step);
        take_encrypted_turns(self, step);
    }
    /* None of it has disturbed the sum. */
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, PARTIES);
    assert_true(spent(&self->sites[1]) == PRICE);
    bench_close(self);
}

/* A key that comes later is another key, however well signed. */
static void test_a_second_key_is_refused(void **state) {
    (void)state;
    bench *self = bench_open();
    site *party = &self->sites[1];
    uint8_t other[TACIT_PAILLIER_FINGERPRINT_BYTES] = { 1 };
    tacit_error error = TACIT_ERROR_INIT;
    liar asked;
    CHECK_OK(write_kept(party, "paillier.pin", other, sizeof other, &error), error);
    begin(self);
    assert_true(wait_for_question(self, 1));
    take_encrypted_turns(self, TACIT_PAILLIER_SUM_KEY);
    assert_true(wait_for_question(self, 2));
    liar_hears(&asked, self, party);
    check_refused(&asked, party, "has changed since its first sum");
    liar_clear(&asked);
    tacit_board_cancel(self->board);
    assert_int_equal(end(self), TACIT_CANCELLED);
    bench_close(self);
}

/* ---- a party that lies ---- */

static void hand_in(bench *self, site *party, const tacit_buffer *bytes, tacit_status expected) {
    assert_int_equal(tacit_board_answer(self->board, party->name, bytes->bytes, bytes->length, NULL),
                     expected);
}

/* Ciphertexts that are none, are too many, or are not signed, count for nothing; the right ones do
 * afterwards. */
static void test_wrong_ciphertexts_are_refused(void **state) {
    (void)state;
    bench *self = bench_open();
    site *party = &self->sites[1];
    tacit_buffer question = TACIT_BUFFER_INIT, reply = TACIT_BUFFER_INIT;
    begin(self);
    assert_true(wait_for_question(self, 1));
    take_encrypted_turns(self, TACIT_PAILLIER_SUM_KEY);
    assert_true(wait_for_question(self, 2));
    assert_true(read_question(self, party, &question));
    assert_int_equal(answer(party, &question, &reply), TACIT_OK);
    reply.bytes[reply.length - 1] ^= 1;
    hand_in(self, party, &reply, TACIT_PROTOCOL);
    reply.bytes[reply.length - 1] ^= 1;
    hand_in(self, party, &reply, TACIT_OK);
    all_take_turns(self);
    assert_true(wait_for_question(self, 3));
    take_encrypted_turns(self, TACIT_PAILLIER_SUM_DECRYPT);
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, PARTIES);
    tacit_buffer_clear(&question);
    tacit_buffer_clear(&reply);
    bench_close(self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_sum_is_right_and_charged_once),
        cmocka_unit_test(test_the_sum_is_that_of_the_survivors),
        cmocka_unit_test(test_too_few_or_no_key_holder_open_nothing),
        cmocka_unit_test(test_both_sides_go_on_after_a_crash_at_any_step),
        cmocka_unit_test(test_the_same_question_gets_the_same_bytes),
        cmocka_unit_test(test_a_lying_coordinator_is_refused_and_logged),
        cmocka_unit_test(test_a_second_key_is_refused),
        cmocka_unit_test(test_wrong_ciphertexts_are_refused),
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
