/* On a sparse graph the parties draw who masks with whom, before their first sum, and hold the coordinator to
 * it. */
#include "secure_bench.h"

enum { ALL_STEPS = DRAWING + STEPS };

static bench *bench_open(void) { return bench_of(TACIT_SUMS_MASKED, MANY, 50); }

static void play(bench *self, size_t steps) {
    for (size_t step = 1; step <= steps; step++) {
        assert_true(wait_for_question(self, step));
        all_take_turns(self);
    }
}

static void next_round(bench *self) {
    tacit_sum_clear(&self->sum);
    self->sum = (tacit_sum){ .values = NULL };
    begin(self);
}

static size_t question_bytes(bench *self, size_t k) {
    tacit_buffer question = TACIT_BUFFER_INIT;
    assert_true(read_question(self, &self->sites[k], &question));
    const size_t length = question.length;
    tacit_buffer_clear(&question);
    return length;
}

static void same_answer(bench *self, site *party) {
    tacit_buffer question = TACIT_BUFFER_INIT, first = TACIT_BUFFER_INIT, again = TACIT_BUFFER_INIT;
    assert_true(read_question(self, party, &question));
    assert_int_equal(answer(party, &question, &first), TACIT_OK);
    start_masks(self, party);
    assert_int_equal(answer(party, &question, &again), TACIT_OK);
    assert_int_equal(first.length, again.length);
    assert_memory_equal(first.bytes, again.bytes, first.length);
    tacit_buffer_clear(&question);
    tacit_buffer_clear(&first);
    tacit_buffer_clear(&again);
}

static void test_the_graph_is_drawn_once_and_a_party_started_anew_says_the_same(void **state) {
    (void)state;
    bench *self = bench_open();
    const size_t proof = MANY * (TACIT_DRAWING_ENTRY_BYTES + TACIT_DRAWING_OPENING_BYTES);
    begin(self);
    for (size_t step = 1; step <= DRAWING + 1; step++) {
        assert_true(wait_for_question(self, step));
        same_answer(self, &self->sites[3]);
        if (step > DRAWING) assert_true(question_bytes(self, 0) > proof);
        all_take_turns(self);
    }
    for (size_t step = DRAWING + 2; step <= ALL_STEPS; step++) {
        assert_true(wait_for_question(self, step));
        all_take_turns(self);
    }
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, MANY);
    /* After a restart of the coordinator its records are enough, and the parties see it again. */
    tacit_board_free(self->board);
    open_board(self);
    self->session.round = 1;
    next_round(self);
    play(self, STEPS);
    assert_int_equal(end(self), TACIT_OK);
    next_round(self);
    assert_true(wait_for_question(self, 1));
    assert_true(question_bytes(self, 0) < proof);
    play(self, STEPS);
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, MANY);
    bench_close(self);
}

/* What a party wrote to its disk is what it goes on from. */
static void test_both_sides_go_on_after_a_crash_at_any_step_of_the_drawing(void **state) {
    (void)state;
    for (size_t closed = 0; closed <= DRAWING; closed++) {
        bench *self = bench_open();
        self->close_after = closed > 0 ? closed + STEPS + 1 : 0;
        begin(self);
        play(self, closed);
        if (closed == 0) { /* answers that a coordinator took, but did not keep */
            assert_true(wait_for_question(self, 1));
            for (size_t k = 0; k < MANY / 2; k++) take_turn(self, &self->sites[k]);
            tacit_board_cancel(self->board);
        }
        assert_int_equal(end(self), TACIT_CANCELLED);
        tacit_board_free(self->board);
        self->close_after = 0;
        open_board(self);
        for (size_t k = 0; k < self->parties; k++) start_masks(self, &self->sites[k]);
        begin(self);
        play(self, ALL_STEPS - closed);
        assert_int_equal(end(self), TACIT_OK);
        check_sum(self, MANY);
        bench_close(self);
    }
}

/* It was away while the others drew, and checks what they did. */
static void test_a_party_that_comes_late_takes_part_on_the_graph_of_the_others(void **state) {
    (void)state;
    bench *self = bench_open();
    begin(self);
    for (size_t step = 0; step < ALL_STEPS; step++) {
        assert_true(wait_for_question(self, step + 1));
        self->sites[17].gone = step < DRAWING;
        all_take_turns(self);
    }
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, MANY);
    bench_close(self);
}

/* Whoever could go on without it could choose between two graphs. */
static void test_who_committed_and_does_not_open_ends_the_study(void **state) {
    (void)state;
    bench *self = bench_open();
    begin(self);
    play(self, 1);
    assert_true(wait_for_question(self, 2));
    self->sites[17].gone = true;
    take_turn(self, &self->sites[17]);
    assert_int_equal(end(self), TACIT_REFUSED);
    assert_non_null(
        strstr(self->error.text, "59 parties are left in step reveal of a secure sum that needs 60"));
    bench_close(self);
}

static void shorten(tacit_buffer *body, size_t bytes) { body->length -= bytes; }

/* A list with the entry of one place taken out. */
static void leave_out(tacit_buffer *list, size_t place) {
    uint8_t *at = list->bytes + 4 + place * TACIT_DRAWING_ENTRY_BYTES;
    memmove(at, at + TACIT_DRAWING_ENTRY_BYTES, list->length - 4 - (place + 1) * TACIT_DRAWING_ENTRY_BYTES);
    shorten(list, TACIT_DRAWING_ENTRY_BYTES);
    list->bytes[0]--;
}

static void lie_about_the_list(bench *self, site *party) {
    liar lie;
    liar_hears(&lie, self, party);
    leave_out(&lie.masked.body, 1);
    check_refused(&lie, party, "missing from the list");
    liar_clear(&lie);
    liar_hears(&lie, self, party);
    lie.masked.body.bytes[4 + 2 * TACIT_DRAWING_ENTRY_BYTES + 4] ^= 1;
    check_refused(&lie, party, "party 2 has not signed");
    liar_clear(&lie);
    liar_hears(&lie, self, party);
    for (size_t k = MANY - 1; k >= 33; k--) leave_out(&lie.masked.body, k); /* (60 + 6)/2 + 1 = 34 */
    check_refused(&lie, party, "33 parties have committed to the drawing of the graph, and it takes 34");
    liar_clear(&lie);
    take_turn(self, party);
    /* Once it has signed one, there is no other, also after a restart. */
    liar_hears(&lie, self, &self->sites[2]);
    leave_out(&lie.masked.body, 40);
    check_refused(&lie, party, "second list of commitments");
    start_masks(self, party);
    check_refused(&lie, party, "second list of commitments");
    liar_clear(&lie);
}

static void lie_about_the_proof(bench *self, site *party) {
    liar lie;
    const size_t openings = 4 + MANY * TACIT_DRAWING_ENTRY_BYTES;
    liar_hears(&lie, self, party);
    const size_t whole = lie.masked.body.length;
    shorten(&lie.masked.body, TACIT_DRAWING_OPENING_BYTES);
    check_refused(&lie, party, "does not have the openings of all");
    lie.masked.body.length = 0;
    check_refused(&lie, party, "has not shown how it was drawn");
    lie.masked.body.length = whole;
    lie.masked.body.bytes[openings + 5 * TACIT_DRAWING_OPENING_BYTES] ^= 1;
    check_refused(&lie, party, "party 5 has not committed to what is shown as its opening");
    lie.masked.body.bytes[openings + 5 * TACIT_DRAWING_OPENING_BYTES] ^= 1;
    lie.masked.body.bytes[openings + 6 * TACIT_DRAWING_OPENING_BYTES - 1] ^= 1;
    check_refused(&lie, party, "party 5 has not signed this list");
    liar_clear(&lie);
}

static void test_a_coordinator_that_lies_about_the_drawing_is_refused_and_logged(void **state) {
    (void)state;
    bench *self = bench_open();
    site *party = &self->sites[1];
    liar lie;
    begin(self);
    assert_true(wait_for_question(self, 1));
    liar_hears(&lie, self, party);
    lie.masked.step = TACIT_MASKED_REVEAL;
    check_refused(&lie, party, "never made");
    lie.masked.step = TACIT_SUM_ADVERTISE;
    check_refused(&lie, party, "has not shown how it was drawn");
    liar_clear(&lie);
    all_take_turns(self);
    assert_true(wait_for_question(self, 2));
    lie_about_the_list(self, party);
    all_take_turns(self);
    assert_true(wait_for_question(self, 3));
    lie_about_the_proof(self, party);
    for (size_t step = 3; step <= ALL_STEPS; step++) {
        assert_true(wait_for_question(self, step));
        all_take_turns(self);
    }
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, MANY);
    bench_close(self);
}

/* Of the next drawing of the same parties, as after an amendment, there is nothing to be known beforehand. */
static void test_another_version_draws_anew(void **state) {
    (void)state;
    bench *self = bench_open();
    site *party = &self->sites[1];
    liar lie;
    begin(self);
    play(self, DRAWING);
    assert_true(wait_for_question(self, DRAWING + 1));
    liar_hears(&lie, self, party);
    party->party.study_hash[0] ^= 1;
    check_refused(&lie, party, "has not signed");
    party->party.study_hash[0] ^= 1;
    liar_clear(&lie);
    tacit_board_cancel(self->board);
    assert_int_equal(end(self), TACIT_CANCELLED);
    bench_close(self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_graph_is_drawn_once_and_a_party_started_anew_says_the_same),
        cmocka_unit_test(test_both_sides_go_on_after_a_crash_at_any_step_of_the_drawing),
        cmocka_unit_test(test_a_party_that_comes_late_takes_part_on_the_graph_of_the_others),
        cmocka_unit_test(test_who_committed_and_does_not_open_ends_the_study),
        cmocka_unit_test(test_a_coordinator_that_lies_about_the_drawing_is_refused_and_logged),
        cmocka_unit_test(test_another_version_draws_anew),
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
