/*
 * Every allocation fails once in each step of a secure sum, on a party's side and where the board takes the
 * answer: the call fails cleanly, nothing leaks or is charged twice, and the sum is right in the end.
 */
#define RECORD_PART_BYTES 0 /* the study appends none in its own thread, where an allocation may fail too */
#include "secure_bench.h"

#include "failing.h"
#include "keys.h"

/* One party's turn, with each allocation of it failing first. The answer of one that is alone in its step
 * closes it, so that the study goes on in its own thread, and allocates. */
static void take_failing_turn(bench *self, site *party, bool alone, long *failures) {
    tacit_buffer question = TACIT_BUFFER_INIT, reply = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    if (!read_question(self, party, &question)) return;
    tacit_received asked;
    uint8_t hash[TACIT_HASH_BYTES];
    CHECK_OK(tacit_question_decode(&asked, question.bytes, question.length, &error), error);
    crypto_generichash(hash, sizeof hash, question.bytes, question.length, NULL, 0);
    long at = 1;
    for (bool failed = true; failed; at++) {
        party->error = (tacit_error)TACIT_ERROR_INIT;
        tacit_buffer_clear(&reply);
        fail_allocation(at);
        tacit_status status = tacit_party_answer(&party->party, &asked.question, hash, &reply, &party->error);
        failed = allocation_failed();
        if (status != (failed ? TACIT_NO_MEMORY : TACIT_OK))
            fail_msg("step %u, allocation %ld: %s", asked.masked.step, at, party->error.text);
    }
    *failures += at;
    at = 1;
    for (bool failed = true; failed; at++) {
        if (!alone) fail_allocation(at);
        tacit_status status =
            tacit_board_answer(self->board, party->name, reply.bytes, reply.length, &party->error);
        failed = allocation_failed();
        /* A parser that gets no memory cannot tell that from damage. */
        if (status != (failed ? TACIT_NO_MEMORY : TACIT_OK) && !(failed && status == TACIT_PROTOCOL))
            fail_msg("board, step %u, allocation %ld: %s", asked.masked.step, at, party->error.text);
    }
    *failures += at;
    tacit_received_clear(&asked);
    tacit_buffer_clear(&question);
    tacit_buffer_clear(&reply);
}

static void check_way(tacit_sum_way way, size_t parties, size_t minimum, size_t steps) {
    bench *self = bench_of(way, parties, minimum);
    tacit_error error = TACIT_ERROR_INIT;
    long failures = 0;
    if (way == TACIT_SUMS_PAILLIER) {
        tacit_paillier_secret *secret = stored_key(FULL_KEY);
        tacit_buffer bytes = TACIT_BUFFER_INIT;
        CHECK_OK(tacit_paillier_secret_write(secret, &bytes, &error), error);
        CHECK_OK(write_kept(&self->sites[0], "paillier.key", bytes.bytes, bytes.length, &error), error);
        tacit_buffer_clear(&bytes);
        tacit_paillier_secret_free(secret);
    }
    begin(self);
    for (size_t step = 1; step <= steps; step++) {
        assert_true(wait_for_question(self, step));
        bool alone = way == TACIT_SUMS_PAILLIER && step - 1 != TACIT_PAILLIER_SUM_ENCRYPT;
        take_failing_turn(self, &self->sites[0], alone, &failures);
        if (!alone) all_take_turns(self);
    }
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, parties);
    assert_true(failures > 60);
    for (size_t k = 0; k < self->parties; k++) assert_true(spent(&self->sites[k]) == PRICE);
    bench_close(self);
}

static void masked_sums_survive_each_failure(void **state) {
    (void)state;
    check_way(TACIT_SUMS_MASKED, PARTIES, 2, TACIT_SUM_OPENED);
}

static void drawing_a_graph_survives_each_failure(void **state) {
    (void)state;
    check_way(TACIT_SUMS_MASKED, MANY, 50, DRAWING + TACIT_SUM_OPENED);
}

static void encrypted_sums_survive_each_failure(void **state) {
    (void)state;
    check_way(TACIT_SUMS_PAILLIER, PARTIES, 2, TACIT_PAILLIER_SUM_OPENED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masked_sums_survive_each_failure),
        cmocka_unit_test(drawing_a_graph_survives_each_failure),
        cmocka_unit_test(encrypted_sums_survive_each_failure),
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
