/* Masked sums: right whoever vanishes and whichever side is started again. */
#include "secure_bench.h"

static bench *bench_open(void) { return bench_of(TACIT_SUMS_MASKED, PARTIES, 2); }

/* ---- tests ---- */

static void test_the_sum_is_right_and_charged_once(void **state) {
    (void)state;
    bench *self = bench_open();
    begin(self);
    for (size_t step = 1; step <= STEPS; step++) {
        assert_true(wait_for_question(self, step));
        all_take_turns(self);
    }
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, PARTIES);
    for (size_t k = 0; k < self->parties; k++) {
        assert_true(spent(&self->sites[k]) == PRICE);
        assert_memory_equal(tacit_masks_roster(self->sites[k].masks),
                            tacit_masks_roster(self->sites[0].masks), TACIT_DIGEST_BYTES);
    }
    bench_close(self);
}

static void test_whoever_vanishes_the_sum_is_that_of_the_others_or_of_all(void **state) {
    (void)state;
    for (size_t last = 0; last < STEPS; last++) { /* the last step that party 2 answers is the one before */
        bench *self = bench_open();
        begin(self);
        for (size_t step = 0; step < STEPS; step++) {
            assert_true(wait_for_question(self, step + 1));
            self->sites[2].gone = step >= last;
            all_take_turns(self);
        }
        assert_int_equal(end(self), TACIT_OK);
        check_sum(self, last <= TACIT_SUM_MASK ? 2 : PARTIES);
        assert_true(spent(&self->sites[2]) == (last <= TACIT_SUM_MASK ? 0 : PRICE));
        bench_close(self);
    }
}

static void test_too_few_open_nothing(void **state) {
    (void)state;
    bench *self = bench_open();
    begin(self);
    assert_true(wait_for_question(self, 1));
    self->sites[0].gone = self->sites[1].gone = true; /* three of four are needed */
    take_turn(self, &self->sites[0]);
    take_turn(self, &self->sites[1]);
    assert_int_equal(end(self), TACIT_REFUSED);
    assert_non_null(strstr(self->error.text, "2 refused: no"));
    bench_close(self);
}

static void test_both_sides_go_on_after_a_crash_at_any_step(void **state) {
    (void)state;
    for (size_t closed = 1; closed < STEPS; closed++) {
        bench *self = bench_open();
        self->close_after = closed;
        begin(self);
        for (size_t step = 1; step <= closed; step++) {
            assert_true(wait_for_question(self, step));
            all_take_turns(self);
        }
        assert_int_equal(end(self), TACIT_CANCELLED);
        tacit_board_free(self->board);
        self->close_after = 0;
        open_board(self);
        for (size_t k = 0; k < self->parties; k++) start_masks(self, &self->sites[k]);
        begin(self);
        for (size_t step = 1; step <= STEPS - closed; step++) {
            assert_true(wait_for_question(self, step));
            all_take_turns(self);
        }
        assert_int_equal(end(self), TACIT_OK);
        check_sum(self, PARTIES);
        for (size_t k = 0; k < self->parties; k++) assert_true(spent(&self->sites[k]) == PRICE);
        bench_close(self);
    }
}

/* Killed while a step is open, of which some answers are kept already and some are not: those count for
 * nothing, and all who answered do so again. */
static void test_a_coordinator_killed_in_an_open_step_asks_all_again(void **state) {
    (void)state;
    for (unsigned killed = TACIT_SUM_ADVERTISE; killed <= TACIT_SUM_SHARE; killed++) {
        bench *self = bench_open();
        begin(self);
        for (unsigned step = 0; step < killed; step++) {
            assert_true(wait_for_question(self, step + 1));
            all_take_turns(self);
        }
        assert_true(wait_for_question(self, killed + 1));
        const size_t before = self->appended;
        for (size_t k = 0; k + 1 < self->parties; k++) take_turn(self, &self->sites[k]);
        wait_for_parts(self, before + 1);
        tacit_board_cancel(self->board);
        assert_int_equal(end(self), TACIT_CANCELLED);
        assert_false(self->recorded[killed]);
        tacit_board_free(self->board);
        open_board(self);
        begin(self);
        for (size_t step = 1; step <= STEPS - killed; step++) {
            assert_true(wait_for_question(self, step));
            all_take_turns(self);
        }
        assert_int_equal(end(self), TACIT_OK);
        check_sum(self, PARTIES);
        for (size_t k = 0; k < self->parties; k++) assert_true(spent(&self->sites[k]) == PRICE);
        bench_close(self);
    }
}

static tacit_shared_bytes *rest_for(bench *self, size_t k) {
    tacit_buffer head = TACIT_BUFFER_INIT, whole = TACIT_BUFFER_INIT;
    tacit_shared_bytes *rest = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    bool pending = false;
    const char *name = self->sites[k].name;
    CHECK_OK(tacit_board_read_parts(self->board, name, &pending, &head, &rest, &error), error);
    assert_true(pending);
    CHECK_OK(tacit_board_read(self->board, name, &pending, &whole, &error), error);
    assert_int_equal(head.length + tacit_shared_bytes_length(rest), whole.length);
    assert_memory_equal(whole.bytes, head.bytes, head.length);
    assert_memory_equal(whole.bytes + head.length, tacit_shared_bytes_at(rest),
                        tacit_shared_bytes_length(rest));
    tacit_buffer_clear(&head);
    tacit_buffer_clear(&whole);
    return rest;
}

/* The roster is in memory once, however many are asked, and longer than the board if need be. */
static void test_what_all_are_asked_is_in_memory_once(void **state) {
    (void)state;
    bench *self = bench_open();
    tacit_shared_bytes *first[2], *second[2];
    begin(self);
    assert_true(wait_for_question(self, 1));
    for (size_t k = 0; k < 2; k++) first[k] = rest_for(self, k);
    assert_ptr_equal(first[0], first[1]);
    assert_true(tacit_shared_bytes_length(first[0]) > PARTIES * TACIT_SIGNING_KEY_BYTES);
    all_take_turns(self);
    assert_true(wait_for_question(self, 2));
    for (size_t k = 0; k < 2; k++) second[k] = rest_for(self, k); /* each one's neighbours */
    assert_ptr_not_equal(second[0], second[1]);
    assert_false(tacit_shared_bytes_is_shared(second[0]));
    tacit_shared_bytes_free(first[0]);
    assert_false(tacit_shared_bytes_is_shared(first[1])); /* the board has let go */
    tacit_board_cancel(self->board);
    assert_int_equal(end(self), TACIT_CANCELLED);
    bench_close(self);
    assert_non_null(tacit_shared_bytes_at(first[1]));
    tacit_shared_bytes_free(first[1]);
    for (size_t k = 0; k < 2; k++) tacit_shared_bytes_free(second[k]);
}

/* A party killed between the gate and its own state: the state before and the stored vector are there, the
 * state after only beside them. */
static void test_a_party_killed_after_the_charge_sends_the_same_bytes(void **state) {
    (void)state;
    bench *self = bench_open();
    site *party = &self->sites[1];
    begin(self);
    for (size_t step = 1; step <= STEPS; step++) {
        assert_true(wait_for_question(self, step));
        if (step == TACIT_SUM_MASK + 1) {
            tacit_buffer question = TACIT_BUFFER_INIT, first = TACIT_BUFFER_INIT, again = TACIT_BUFFER_INIT,
                         before = TACIT_BUFFER_INIT;
            bool found = false;
            assert_int_equal(read_kept(party, "sum.state", &found, &before, NULL), TACIT_OK);
            assert_true(read_question(self, party, &question));
            assert_int_equal(answer(party, &question, &first), TACIT_OK);
            assert_int_equal(write_kept(party, "sum.state", before.bytes, before.length, NULL), TACIT_OK);
            start_masks(self, party);
            assert_int_equal(answer(party, &question, &again), TACIT_OK);
            assert_int_equal(first.length, again.length);
            assert_memory_equal(first.bytes, again.bytes, first.length);
            tacit_buffer_clear(&question);
            tacit_buffer_clear(&first);
            tacit_buffer_clear(&again);
            tacit_buffer_clear(&before);
        }
        all_take_turns(self);
    }
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, PARTIES);
    assert_true(spent(party) == PRICE);
    bench_close(self);
}

/* More than fifty parties mask with some of the others, and a few may vanish. */
static void test_many_parties_on_a_sparse_graph(void **state) {
    (void)state;
    bench *self = bench_of(TACIT_SUMS_MASKED, MANY, 50);
    tacit_graph_shape shape;
    assert_int_equal(tacit_masked_shape(&shape, &self->plan, NULL), TACIT_OK);
    assert_true(shape.degree < MANY - 1);
    begin(self);
    for (size_t step = 0; step < DRAWING + STEPS; step++) {
        assert_true(wait_for_question(self, step + 1));
        self->sites[17].gone = step >= DRAWING + TACIT_SUM_MASK;
        all_take_turns(self);
    }
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, 17);
    bench_close(self);
}

static void test_shapes(void **state) {
    (void)state;
    const struct {
        size_t parties, minimum;
        uint32_t threshold, least;
        bool complete;
    } cases[] = { { 3, 2, 2, 3, true },     { 4, 2, 3, 3, true },    { 5, 2, 4, 4, true },
                  { 5, 5, 4, 5, true },     { 7, 2, 5, 5, true },    { 9, 2, 6, 6, true },
                  { 20, 12, 12, 12, true }, { 50, 10, 28, 28, true } };
    tacit_graph_shape shape;
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tacit_plan plan = { .parties = cases[i].parties,
                            .minimum_parties = cases[i].minimum,
                            .dropouts = 0.1,
                            .colluders = 0.1 };
        CHECK_OK(tacit_masked_shape(&shape, &plan, &error), error);
        assert_int_equal(shape.threshold, cases[i].threshold);
        assert_int_equal(shape.minimum, cases[i].least);
        assert_int_equal(shape.degree, cases[i].parties - 1);
        assert_true(2 * shape.threshold > plan.parties + tacit_plan_colluders(&plan));
    }
    /* Nobody colludes where the definition says 0. */
    tacit_plan trusting = { .parties = 5, .minimum_parties = 2, .dropouts = 0.2 };
    CHECK_OK(tacit_masked_shape(&shape, &trusting, &error), error);
    assert_int_equal(shape.threshold, 3);
    tacit_plan many = { .parties = 1000, .minimum_parties = 900, .dropouts = 0.1, .colluders = 0.1 };
    CHECK_OK(tacit_masked_shape(&shape, &many, &error), error);
    assert_true(shape.degree < 200 && shape.minimum == 900);
    many.complete = true;
    CHECK_OK(tacit_masked_shape(&shape, &many, &error), error);
    assert_int_equal(shape.degree, 999);
}

/* Of two contributions, who gave one and sees the sum has the other. */
static void test_a_sum_of_two_is_refused(void **state) {
    (void)state;
    tacit_graph_shape shape;
    size_t minimum;
    for (int sums = TACIT_SUMS_MASKED; sums <= TACIT_SUMS_PAILLIER; sums++) {
        tacit_error error = TACIT_ERROR_INIT;
        if (sums == TACIT_SUMS_CLEAR) continue;
        tacit_plan plan = { .parties = 2, .minimum_parties = 2, .sums = (tacit_sum_way)sums };
        assert_int_equal(tacit_secure_minimum(&minimum, &plan, &error), TACIT_USAGE);
        assert_non_null(strstr(error.text, "3 to 65535 parties"));
        plan.parties = 3; /* all three must be there */
        assert_int_equal(tacit_secure_minimum(&minimum, &plan, &error), TACIT_OK);
        assert_int_equal(minimum, 3);
        plan.dropouts = 0.34;
        error = (tacit_error)TACIT_ERROR_INIT;
        assert_int_equal(tacit_secure_minimum(&minimum, &plan, &error), TACIT_USAGE);
        assert_non_null(strstr(error.text, "too few"));
    }
    tacit_plan one = { .parties = 1, .minimum_parties = 1 };
    assert_int_equal(tacit_masked_shape(&shape, &one, NULL), TACIT_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_sum_is_right_and_charged_once),
        cmocka_unit_test(test_whoever_vanishes_the_sum_is_that_of_the_others_or_of_all),
        cmocka_unit_test(test_too_few_open_nothing),
        cmocka_unit_test(test_both_sides_go_on_after_a_crash_at_any_step),
        cmocka_unit_test(test_a_coordinator_killed_in_an_open_step_asks_all_again),
        cmocka_unit_test(test_what_all_are_asked_is_in_memory_once),
        cmocka_unit_test(test_a_party_killed_after_the_charge_sends_the_same_bytes),
        cmocka_unit_test(test_many_parties_on_a_sparse_graph),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_a_sum_of_two_is_refused),
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
