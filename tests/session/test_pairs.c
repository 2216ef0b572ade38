/* Masked sums of one exchange or two, between a board and parties with real gates: right, charged once, resumed, and
 * closed to a coordinator that lies. */
#include "secure_bench.h"

enum { FIVE = 5 };

static bench *bench_one(void) { return bench_in(TACIT_SUMS_MASKED, FIVE, FIVE, 1, 0); }
static bench *bench_two(void) { return bench_in(TACIT_SUMS_MASKED, FIVE, FIVE - 1, 2, 0.2); }

static void test_one_exchange_sums_all_and_charges_once(void **state) {
    (void)state;
    bench *self = bench_one();
    begin(self);
    assert_true(wait_for_question(self, 1));
    all_take_turns(self);
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, FIVE);
    for (size_t k = 0; k < FIVE; k++) assert_true(spent(&self->sites[k]) == PRICE);
    bench_close(self);
}

static void test_one_exchange_fails_when_one_declines(void **state) {
    (void)state;
    bench *self = bench_one();
    begin(self);
    assert_true(wait_for_question(self, 1));
    for (size_t k = 0; k < FIVE; k++)
        if (k != 3) take_turn(self, &self->sites[k]);
    self->sites[3].gone = true; /* the last, for the round ends with it */
    take_turn(self, &self->sites[3]);
    assert_int_equal(end(self), TACIT_REFUSED);
    bench_close(self);
}

static void test_two_exchanges_go_on_without_one(void **state) {
    (void)state;
    bench *self = bench_two();
    begin(self);
    assert_true(wait_for_question(self, 1));
    self->sites[2].gone = true;
    all_take_turns(self);
    assert_true(wait_for_question(self, 2));
    for (size_t k = 0; k < FIVE; k++)
        if (k != 2) take_turn(self, &self->sites[k]);
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, 2);
    assert_true(spent(&self->sites[2]) == 0);
    bench_close(self);
}

static void test_a_question_again_gets_the_same_bytes_and_another_answer_id_none(void **state) {
    (void)state;
    bench *self = bench_one();
    site *party = &self->sites[0];
    tacit_buffer question = TACIT_BUFFER_INIT, first = TACIT_BUFFER_INIT, second = TACIT_BUFFER_INIT;
    liar lie = TACIT_RECEIVED_INIT;
    begin(self);
    assert_true(wait_for_question(self, 1));
    assert_true(read_question(self, party, &question));
    liar_hears(&lie, self, party);
    assert_int_equal(answer(party, &question, &first), TACIT_OK);
    start_masks(self, party); /* as after a restart */
    assert_int_equal(answer(party, &question, &second), TACIT_OK);
    assert_int_equal(first.length, second.length);
    assert_memory_equal(first.bytes, second.bytes, first.length);
    assert_true(spent(party) == PRICE);
    lie.question.answer_id[0] ^= 1;
    assert_int_equal(unanswered(&lie, party, "one round has one answer"), TACIT_REFUSED);
    lie.question.answer_id[0] ^= 1;
    lie.masked.step = TACIT_PAIRS_UNMASK;
    unanswered(&lie, party, "no step of this masked sum");
    assert_true(spent(party) == PRICE);
    liar_clear(&lie);
    all_take_turns(self);
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, FIVE);
    tacit_buffer_clear(&question);
    tacit_buffer_clear(&first);
    tacit_buffer_clear(&second);
    bench_close(self);
}

static void test_a_party_opens_one_set_ever(void **state) {
    (void)state;
    enum { SET = 2 + TACIT_DIGEST_BYTES + 4, SEALED = 32 + crypto_aead_xchacha20poly1305_ietf_ABYTES };
    bench *self = bench_two();
    site *party = &self->sites[0];
    liar lie = TACIT_RECEIVED_INIT;
    begin(self);
    assert_true(wait_for_question(self, 1));
    all_take_turns(self);
    assert_true(wait_for_question(self, 2));
    liar_hears(&lie, self, party);
    take_turn(self, party);
    lie.masked.body.bytes[SET] &= (uint8_t) ~(1 << 4); /* the same without the last */
    lie.masked.body.length -= SEALED;
    assert_int_equal(unanswered(&lie, party, "over two sets of parties"), TACIT_REFUSED);
    lie.masked.body.bytes[SET] &= (uint8_t) ~(1 << 3); /* without two */
    lie.masked.body.length -= SEALED;
    assert_int_equal(unanswered(&lie, party, "at least 4"), TACIT_REFUSED);
    liar_clear(&lie);
    all_take_turns(self);
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, FIVE);
    bench_close(self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_exchange_sums_all_and_charges_once),
        cmocka_unit_test(test_one_exchange_fails_when_one_declines),
        cmocka_unit_test(test_two_exchanges_go_on_without_one),
        cmocka_unit_test(test_a_question_again_gets_the_same_bytes_and_another_answer_id_none),
        cmocka_unit_test(test_a_party_opens_one_set_ever),
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
