/* The board of a deployed study: a study's thread asks all parties, and they come by and answer. */
#include "desk.h"

/* ---- promises ---- */

static void a_round_closes_when_all_have_answered(void **state) {
    (void)state;
    desk self;
    desk_open(&self, 2, PATIENT);
    admit(&self, "a");
    admit(&self, "b");
    admit(&self, "a"); /* again is fine */
    assert_int_equal(tacit_board_admitted(self.board), 2);
    ask(&self);
    assert_true(look(&self).open);
    assert_string_equal(look(&self).question, "weights");
    read_and_contribute(&self, "a", 0.5);
    assert_int_equal(look(&self).answered, 1);
    assert_true(look(&self).open);
    tacit_question question;
    assert_false(read_question(&self, "a", &question)); /* it has answered */
    read_and_contribute(&self, "b", -2);
    assert_int_equal(finish(&self), TACIT_OK);
    assert_int_equal(self.sum.parties, 2);
    for (size_t j = 0; j < LENGTH; j++) CHECK_NEAR(self.sum.values[j], -1.5, 1e-15);
    assert_false(look(&self).open);
    assert_false(read_question(&self, "b", &question));
    desk_close(&self);
}

static void a_refusal_counts_as_an_answer_without_content(void **state) {
    (void)state;
    desk self;
    desk_open(&self, 2, PATIENT);
    admit(&self, "a");
    admit(&self, "b");
    admit(&self, "c");
    ask(&self);
    read_and_contribute(&self, "a", 1);
    assert_int_equal(refuse(&self, "b", "the budget is spent"), TACIT_OK);
    assert_int_equal(look(&self).refused, 1);
    assert_true(look(&self).open);
    read_and_contribute(&self, "c", 1);
    assert_int_equal(finish(&self), TACIT_OK);
    assert_int_equal(self.sum.parties, 2);
    CHECK_NEAR(self.sum.values[0], 2, 1e-15);
    desk_close(&self);
}

static void too_many_refusals_end_the_study_with_the_first_reason(void **state) {
    (void)state;
    desk self;
    desk_open(&self, 2, PATIENT);
    admit(&self, "a");
    admit(&self, "b");
    ask(&self);
    assert_int_equal(refuse(&self, "b", "the budget is spent"), TACIT_OK);
    assert_int_equal(finish(&self), TACIT_REFUSED); /* at once: "a" need not be charged for nothing */
    assert_non_null(strstr(self.error.text, "the budget is spent"));
    desk_close(&self);
}

static void a_late_answer_is_told_so(void **state) {
    (void)state;
    desk self;
    tacit_question question;
    desk_open(&self, 1, IMPATIENT);
    admit(&self, "a");
    admit(&self, "b");
    ask(&self);
    assert_true(read_question(&self, "b", &question));
    read_and_contribute(&self, "a", 1);
    assert_int_equal(finish(&self), TACIT_OK); /* patience was over */
    assert_int_equal(self.sum.parties, 1);
    assert_int_equal(contribute(&self, "b", &question, 1), TACIT_NOT_FOUND);
    /* Nor does it count in the next round. */
    tacit_sum_clear(&self.sum);
    ask(&self);
    assert_int_equal(look(&self).round, 1);
    assert_int_equal(contribute(&self, "b", &question, 1), TACIT_NOT_FOUND);
    question.round = 1;
    assert_int_equal(contribute(&self, "b", &question, 1), TACIT_NOT_FOUND); /* the id is of round 0 */
    assert_int_equal(look(&self).answered, 0);
    read_and_contribute(&self, "b", 0.25);
    assert_int_equal(finish(&self), TACIT_OK);
    CHECK_NEAR(self.sum.values[0], 0.25, 1e-15);
    desk_close(&self);
}

static void an_answer_handed_in_twice_is_taken_once(void **state) {
    (void)state;
    desk self;
    tacit_question question;
    desk_open(&self, 2, PATIENT);
    admit(&self, "a");
    admit(&self, "b");
    ask(&self);
    assert_true(read_question(&self, "a", &question));
    assert_int_equal(contribute(&self, "a", &question, 1), TACIT_OK);
    assert_int_equal(contribute(&self, "a", &question, 1), TACIT_OK);
    assert_int_equal(contribute(&self, "a", &question, -2), TACIT_OK);
    assert_int_equal(look(&self).answered, 1);
    read_and_contribute(&self, "b", 0.5);
    assert_int_equal(finish(&self), TACIT_OK);
    CHECK_NEAR(self.sum.values[0], 1.5, 1e-15);
    desk_close(&self);
}

static void nobody_answers_for_another(void **state) {
    (void)state;
    desk self;
    tacit_question of_a, of_b;
    bool pending = true;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    desk_open(&self, 2, PATIENT);
    admit(&self, "a");
    admit(&self, "b");
    ask(&self);
    assert_true(read_question(&self, "a", &of_a));
    assert_true(read_question(&self, "b", &of_b));
    assert_memory_not_equal(of_a.answer_id, of_b.answer_id, sizeof of_a.answer_id);
    assert_int_equal(contribute(&self, "a", &of_b, 1), TACIT_NOT_FOUND);
    assert_int_equal(contribute(&self, "stranger", &of_b, 1), TACIT_NOT_FOUND);
    assert_int_equal(tacit_board_read(self.board, "stranger", &pending, &bytes, NULL), TACIT_NOT_FOUND);
    assert_true(pending);
    memcpy(of_a.study, "lungs", 6);
    assert_int_equal(contribute(&self, "a", &of_a, 1), TACIT_NOT_FOUND);
    assert_int_equal(look(&self).answered, 0);
    read_and_contribute(&self, "a", 0);
    read_and_contribute(&self, "b", 0);
    assert_int_equal(finish(&self), TACIT_OK);
    desk_close(&self);
}

static void what_was_not_asked_for_counts_for_nothing_and_may_be_tried_again(void **state) {
    (void)state;
    desk self;
    tacit_question question;
    desk_open(&self, 1, PATIENT);
    admit(&self, "a");
    ask(&self);
    assert_true(read_question(&self, "a", &question));
    tacit_answer answer = answer_to(&question);
    int64_t grid[LENGTH + 1] = { 0 };
    assert_int_equal(hand_in(&self, "a", &answer), TACIT_PROTOCOL); /* no contribution */
    answer.contribution = grid;
    answer.length = LENGTH - 1;
    assert_int_equal(hand_in(&self, "a", &answer), TACIT_PROTOCOL);
    answer.length = LENGTH + 1;
    assert_int_equal(hand_in(&self, "a", &answer), TACIT_PROTOCOL);
    answer.length = LENGTH;
    const int64_t most = (int64_t)ldexp(question.sum.bound, question.sum.grid_bits);
    const int64_t beyond[] = { most + 1, -most - 1, INT64_MAX, INT64_MIN };
    for (size_t i = 0; i < 4; i++) {
        grid[1] = beyond[i];
        assert_int_equal(hand_in(&self, "a", &answer), TACIT_PROTOCOL);
    }
    assert_int_equal(tacit_board_answer(self.board, "a", (const uint8_t *)"rubbish", 7, NULL),
                     TACIT_PROTOCOL);
    assert_int_equal(tacit_board_answer(self.board, "a", NULL, 0, NULL), TACIT_PROTOCOL);
    assert_int_equal(look(&self).answered, 0);
    assert_true(look(&self).open);
    grid[1] = -most;
    assert_int_equal(hand_in(&self, "a", &answer), TACIT_OK);
    assert_int_equal(finish(&self), TACIT_OK);
    CHECK_NEAR(self.sum.values[0], 0, 0); /* nothing of the rejected ones is in it */
    CHECK_NEAR(self.sum.values[1], -2, 0);
    desk_close(&self);
}

static void patience_alone_does_not_close_a_round_below_the_minimum(void **state) {
    (void)state;
    desk self;
    desk_open(&self, 2, IMPATIENT);
    admit(&self, "a");
    admit(&self, "b");
    admit(&self, "c");
    ask(&self);
    read_and_contribute(&self, "a", 1);
    /* Whatever the study's thread has noticed by now, it cannot have closed the round. */
    assert_true(look(&self).open);
    read_and_contribute(&self, "c", 1);
    assert_int_equal(finish(&self), TACIT_OK);
    assert_int_equal(self.sum.parties, 2);
    desk_close(&self);
}

static void a_party_that_vanished_finds_the_same_question_when_it_returns(void **state) {
    (void)state;
    desk self;
    tacit_question first, again;
    desk_open(&self, 2, IMPATIENT);
    admit(&self, "a");
    admit(&self, "b");
    ask(&self);
    assert_true(read_question(&self, "a", &first));
    read_and_contribute(&self, "b", 1);
    assert_true(read_question(&self, "a", &again));
    assert_memory_equal(first.answer_id, again.answer_id, sizeof first.answer_id);
    assert_int_equal(contribute(&self, "a", &first, 1), TACIT_OK);
    assert_int_equal(finish(&self), TACIT_OK);
    desk_close(&self);
    /* The same after the coordinator was started again. */
    desk_open(&self, 1, PATIENT);
    admit(&self, "a");
    ask(&self);
    assert_true(read_question(&self, "a", &again));
    assert_memory_equal(first.answer_id, again.answer_id, sizeof first.answer_id);
    assert_int_equal(contribute(&self, "a", &first, 1), TACIT_OK);
    assert_int_equal(finish(&self), TACIT_OK);
    desk_close(&self);
}

static void a_party_may_join_an_open_round(void **state) {
    (void)state;
    desk self;
    desk_open(&self, 1, PATIENT);
    ask(&self); /* nobody is there yet */
    assert_true(look(&self).open);
    admit(&self, "a");
    read_and_contribute(&self, "a", 1.25);
    assert_int_equal(finish(&self), TACIT_OK);
    CHECK_NEAR(self.sum.values[2], 1.25, 1e-15);
    desk_close(&self);
}

static void answers_come_back_in_the_order_of_admission(void **state) {
    (void)state;
    desk self;
    tacit_question question;
    static const char *const names[] = { "c", "a", "b" }, *const order[] = { "b", "c" };
    desk_open(&self, 2, IMPATIENT);
    self.wants_sum = false;
    for (size_t i = 0; i < 3; i++) admit(&self, names[i]);
    ask(&self);
    for (size_t i = 0; i < 2; i++) {
        assert_true(read_question(&self, order[i], &question));
        assert_false(question.wants_sum);
        tacit_answer answer = answer_to(&question);
        assert_int_equal(tacit_message_add_text(&answer.message, "who", order[i], NULL), TACIT_OK);
        assert_int_equal(hand_in(&self, order[i], &answer), TACIT_OK);
        tacit_message_clear(&answer.message);
    }
    assert_int_equal(finish(&self), TACIT_OK);
    assert_int_equal(self.answers.count, 2);
    const char *who = NULL;
    assert_int_equal(tacit_message_text(&self.answers.answer[0].message, "who", &who, NULL), TACIT_OK);
    assert_string_equal(who, "c");
    assert_int_equal(tacit_message_text(&self.answers.answer[1].message, "who", &who, NULL), TACIT_OK);
    assert_string_equal(who, "b");
    desk_close(&self);
}

static tacit_status says_who(const tacit_plan *plan, const tacit_message *answer, tacit_error *error) {
    const char *who;
    (void)plan;
    return tacit_message_text(answer, "who", &who, error);
}

/* Well-formed, and of no use: it counts for nothing, and its party may still give a better one. */
static void an_answer_of_no_use_is_not_taken(void **state) {
    (void)state;
    desk self;
    tacit_question question;
    const tacit_handler_entry handlers[] = { { .question = "weights", .usable = says_who },
                                             { .question = NULL } };
    const tacit_method choosy = { .name = "avg", .version = 1, .handlers = handlers };
    desk_open(&self, 1, PATIENT);
    self.plan.method = &choosy;
    self.wants_sum = false;
    admit(&self, "a");
    ask(&self);
    assert_true(read_question(&self, "a", &question));
    tacit_answer answer = answer_to(&question);
    assert_int_equal(tacit_message_add_numbers(&answer.message, "who", (double[]){ 1 }, 1, NULL), TACIT_OK);
    assert_int_equal(hand_in(&self, "a", &answer), TACIT_PROTOCOL);
    assert_int_equal(look(&self).answered, 0);
    tacit_message_clear(&answer.message);
    assert_int_equal(tacit_message_add_text(&answer.message, "who", "a", NULL), TACIT_OK);
    assert_int_equal(hand_in(&self, "a", &answer), TACIT_OK);
    tacit_message_clear(&answer.message);
    assert_int_equal(finish(&self), TACIT_OK);
    assert_int_equal(self.answers.count, 1);
    desk_close(&self);
}

static void nobody_waits_for_who_has_left(void **state) {
    (void)state;
    desk self;
    tacit_question question;
    bool pending;
    desk_open(&self, 2, PATIENT);
    admit(&self, "a");
    admit(&self, "b");
    admit(&self, "c");
    ask(&self);
    read_and_contribute(&self, "a", 1);
    tacit_board_dismiss(self.board, "a"); /* its answer counts, for this round */
    read_and_contribute(&self, "b", 1);
    assert_true(look(&self).open);
    tacit_board_dismiss(self.board, "c");
    tacit_board_dismiss(self.board, "nobody");
    assert_int_equal(finish(&self), TACIT_OK);
    assert_int_equal(self.sum.parties, 2);
    tacit_sum_clear(&self.sum);
    admit(&self, "c"); /* comes back */
    ask(&self);
    assert_int_equal(look(&self).admitted, 2);
    assert_int_equal(tacit_board_read(self.board, "a", &pending, NULL, NULL), TACIT_NOT_FOUND);
    assert_true(read_question(&self, "c", &question));
    tacit_board_dismiss(self.board, "c");
    assert_int_equal(finish(&self), TACIT_REFUSED); /* one is left of at least two */
    desk_close(&self);
}

static void a_cancelled_study_stops_waiting(void **state) {
    (void)state;
    desk self;
    tacit_question question;
    desk_open(&self, 2, PATIENT);
    admit(&self, "a");
    admit(&self, "b");
    ask(&self);
    assert_true(read_question(&self, "a", &question));
    tacit_board_cancel(self.board);
    assert_int_equal(finish(&self), TACIT_CANCELLED);
    assert_int_equal(contribute(&self, "a", &question, 1), TACIT_NOT_FOUND);
    assert_int_equal(self.session.round, 0);
    desk_close(&self);
}

/* ---- many at once ---- */

enum { MANY = 32, ROUNDS = 20 };

typedef struct crowd_member {
    desk *desk;
    char name[8];
    pthread_t thread;
} crowd_member;

/* Read, answer twice, and refuse to be confused by the others. */
static void *crowd_thread(void *context) {
    crowd_member *self = context;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_question question;
    int64_t grid[LENGTH] = { 1, 2, 3 };
    bool pending = false;
    if (tacit_board_read(self->desk->board, self->name, &pending, &bytes, NULL) != TACIT_OK || !pending ||
        tacit_question_decode(&question, &message, bytes.bytes, bytes.length, NULL) != TACIT_OK)
        abort();
    tacit_answer answer = answer_to(&question);
    answer.contribution = grid;
    answer.length = LENGTH;
    tacit_buffer_clear(&bytes);
    if (tacit_answer_encode(&answer, &bytes, NULL) != TACIT_OK ||
        tacit_board_answer(self->desk->board, self->name, bytes.bytes, bytes.length, NULL) != TACIT_OK)
        abort();
    /* The second may find the round closed already. */
    tacit_status again = tacit_board_answer(self->desk->board, self->name, bytes.bytes, bytes.length, NULL);
    if (again != TACIT_OK && again != TACIT_NOT_FOUND) abort();
    tacit_buffer_clear(&bytes);
    tacit_message_clear(&message);
    return NULL;
}

static void many_parties_at_once_lose_and_double_nothing(void **state) {
    (void)state;
    desk self;
    crowd_member crowd[MANY];
    desk_open(&self, MANY, IMPATIENT);
    for (size_t k = 0; k < MANY; k++) {
        crowd[k].desk = &self;
        snprintf(crowd[k].name, sizeof crowd[k].name, "p%zu", k);
        admit(&self, crowd[k].name);
    }
    for (uint64_t round = 0; round < ROUNDS; round++) {
        ask(&self);
        for (size_t k = 0; k < MANY; k++)
            assert_int_equal(pthread_create(&crowd[k].thread, NULL, crowd_thread, &crowd[k]), 0);
        for (size_t k = 0; k < MANY; k++) assert_int_equal(pthread_join(crowd[k].thread, NULL), 0);
        assert_int_equal(finish(&self), TACIT_OK);
        assert_int_equal(self.sum.parties, MANY);
        for (size_t j = 0; j < LENGTH; j++)
            CHECK_NEAR(ldexp(self.sum.values[j], self.spec.grid_bits), MANY * (double)(j + 1), 0);
        tacit_sum_clear(&self.sum);
    }
    desk_close(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_closes_when_all_have_answered),
        cmocka_unit_test(a_refusal_counts_as_an_answer_without_content),
        cmocka_unit_test(too_many_refusals_end_the_study_with_the_first_reason),
        cmocka_unit_test(a_late_answer_is_told_so),
        cmocka_unit_test(an_answer_handed_in_twice_is_taken_once),
        cmocka_unit_test(nobody_answers_for_another),
        cmocka_unit_test(what_was_not_asked_for_counts_for_nothing_and_may_be_tried_again),
        cmocka_unit_test(patience_alone_does_not_close_a_round_below_the_minimum),
        cmocka_unit_test(a_party_that_vanished_finds_the_same_question_when_it_returns),
        cmocka_unit_test(a_party_may_join_an_open_round),
        cmocka_unit_test(answers_come_back_in_the_order_of_admission),
        cmocka_unit_test(an_answer_of_no_use_is_not_taken),
        cmocka_unit_test(nobody_waits_for_who_has_left),
        cmocka_unit_test(a_cancelled_study_stops_waiting),
        cmocka_unit_test(many_parties_at_once_lose_and_double_nothing),
    };
    return cmocka_run_group_tests_name("board", tests, NULL, NULL);
}
