/*
 * The board of a deployed study: a study's thread asks, parties come by and answer. No test sleeps: the board
 * says through `changed` that a question is up, and a round that should end is waited for by joining.
 */
#include "check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/board.h"

enum { LENGTH = 3, PATIENT = 3600 * 1000, IMPATIENT = 0 };

static const tacit_method method = { .name = "avg", .version = 1 };

typedef struct desk {
    tacit_board *board;
    tacit_plan plan;
    tacit_session session;
    tacit_sum_spec spec;
    pthread_t thread;
    bool wants_sum, wants_one, needs_one;
    size_t place;
    /* Of the study's thread, read after joining it. */
    tacit_status status;
    tacit_error error;
    tacit_sum sum;
    tacit_answers answers;
    /* Questions pinned so far. */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t pinned;
} desk;

static void note_change(void *context) {
    desk *self = context;
    pthread_mutex_lock(&self->mutex);
    self->pinned++;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

static void desk_open(desk *self, size_t minimum, unsigned patience) {
    tacit_error error = TACIT_ERROR_INIT;
    *self =
        (desk){ .wants_sum = true, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
    const tacit_board_settings settings = { .study = "heart",
                                            .minimum_parties = minimum,
                                            .patience_ms = patience,
                                            .secret = tacit_stream_from_seed(5),
                                            .changed = note_change,
                                            .context = self };
    CHECK_OK(tacit_board_create(&self->board, &settings, &error), error);
    CHECK_OK(tacit_sum_spec_for(&self->spec, LENGTH, 2, 10, &error), error);
    self->plan =
        (tacit_plan){ .method = &method, .study = "heart", .parties = 10, .minimum_parties = minimum };
    self->session = (tacit_session){ .plan = &self->plan, .transport = tacit_board_transport(self->board) };
}

static void desk_close(desk *self) {
    tacit_board_free(self->board);
    tacit_sum_clear(&self->sum);
    tacit_answers_clear(&self->answers);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->mutex);
}

static void admit(desk *self, const char *party) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_board_admit(self->board, party, &error), error);
}

static void *study_thread(void *context) {
    desk *self = context;
    if (self->wants_one)
        self->status = tacit_ask_one(&self->session, "weights", NULL, self->place, self->needs_one,
                                     &self->answers, &self->error);
    else if (self->wants_sum)
        self->status = tacit_ask_sum(&self->session, "weights", NULL, &self->spec, &self->sum, &self->error);
    else
        self->status = tacit_ask(&self->session, "weights", NULL, &self->answers, &self->error);
    return NULL;
}

/* Let the study ask its next question, and wait until it is up. */
static void ask(desk *self) {
    pthread_mutex_lock(&self->mutex);
    size_t before = self->pinned;
    assert_int_equal(pthread_create(&self->thread, NULL, study_thread, self), 0);
    while (self->pinned == before) pthread_cond_wait(&self->changed, &self->mutex);
    pthread_mutex_unlock(&self->mutex);
}

static tacit_status finish(desk *self) {
    assert_int_equal(pthread_join(self->thread, NULL), 0);
    return self->status;
}

/* ---- parties ---- */

/* What a party reads; true when a question waits for it. */
static bool read_question(desk *self, const char *party, tacit_question *out) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    bool pending = false;
    CHECK_OK(tacit_board_read(self->board, party, &pending, &bytes, &error), error);
    assert_int_equal(pending, bytes.length > 0);
    if (pending) CHECK_OK(tacit_question_decode(out, &message, bytes.bytes, bytes.length, &error), error);
    tacit_message_clear(&message);
    tacit_buffer_clear(&bytes);
    return pending;
}

static tacit_status hand_in(desk *self, const char *party, const tacit_answer *answer) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_answer_encode(answer, &bytes, &error), error);
    tacit_status status = tacit_board_answer(self->board, party, bytes.bytes, bytes.length, &error);
    tacit_buffer_clear(&bytes);
    return status;
}

static tacit_answer answer_to(const tacit_question *question) {
    tacit_answer answer = { .round = question->round, .message = TACIT_MESSAGE_INIT };
    memcpy(answer.study, question->study, sizeof answer.study);
    memcpy(answer.answer_id, question->answer_id, sizeof answer.answer_id);
    return answer;
}

/* Answer with the same value everywhere, on the grid. */
static tacit_status contribute(desk *self, const char *party, const tacit_question *question, double value) {
    const double values[LENGTH] = { value, value, value };
    int64_t grid[LENGTH];
    tacit_answer answer = answer_to(question);
    assert_int_equal(tacit_sum_quantise(&question->sum, values, grid, NULL), TACIT_OK);
    answer.contribution = grid;
    answer.length = LENGTH;
    return hand_in(self, party, &answer);
}

static void read_and_contribute(desk *self, const char *party, double value) {
    tacit_question question;
    assert_true(read_question(self, party, &question));
    assert_int_equal(contribute(self, party, &question, value), TACIT_OK);
}

static tacit_status refuse(desk *self, const char *party, const char *why) {
    tacit_question question;
    assert_true(read_question(self, party, &question));
    tacit_answer answer = answer_to(&question);
    snprintf(answer.refusal, sizeof answer.refusal, "%s", why);
    return hand_in(self, party, &answer);
}

static tacit_board_state look(desk *self) {
    tacit_board_state state;
    tacit_board_look(self->board, &state);
    return state;
}

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
    /* The same after the coordinator was started anew. */
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

/* ---- one party at a time ---- */

static void ask_place(desk *self, size_t place, bool needed) {
    self->wants_one = true;
    self->place = place;
    self->needs_one = needed;
    tacit_answers_clear(&self->answers);
    ask(self);
}

static void a_question_for_one_party_is_that_partys_alone(void **state) {
    (void)state;
    desk self;
    tacit_question question;
    desk_open(&self, 2, PATIENT);
    admit(&self, "a");
    admit(&self, "b");
    ask_place(&self, 1, false);
    assert_false(read_question(&self, "a", &question));
    assert_true(read_question(&self, "b", &question));
    tacit_answer answer = answer_to(&question);
    assert_int_equal(hand_in(&self, "a", &answer), TACIT_NOT_FOUND);
    assert_int_equal(hand_in(&self, "b", &answer), TACIT_OK);
    assert_int_equal(finish(&self), TACIT_OK);
    assert_int_equal(self.answers.count, 1);
    desk_close(&self);
}

static void a_party_that_is_silent_or_refuses_is_passed_over(void **state) {
    (void)state;
    desk self;
    desk_open(&self, 1, IMPATIENT);
    admit(&self, "a");
    ask_place(&self, 0, false);
    assert_int_equal(finish(&self), TACIT_OK); /* patience was over */
    assert_int_equal(self.answers.count, 0);
    ask_place(&self, 7, false); /* nobody has that place */
    assert_int_equal(finish(&self), TACIT_OK);
    assert_int_equal(self.answers.count, 0);
    desk_close(&self);
    desk_open(&self, 1, PATIENT);
    admit(&self, "a");
    ask_place(&self, 0, false);
    assert_int_equal(refuse(&self, "a", "the budget is spent"), TACIT_OK);
    assert_int_equal(finish(&self), TACIT_OK);
    assert_int_equal(self.answers.count, 0);
    desk_close(&self);
}

static void a_party_that_is_needed_is_waited_for(void **state) {
    (void)state;
    desk self;
    tacit_question question;
    desk_open(&self, 1, IMPATIENT);
    admit(&self, "a");
    ask_place(&self, 0, true);
    assert_true(read_question(&self, "a", &question));
    tacit_answer answer = answer_to(&question);
    assert_int_equal(hand_in(&self, "a", &answer), TACIT_OK);
    assert_int_equal(finish(&self), TACIT_OK);
    assert_int_equal(self.answers.count, 1);
    ask_place(&self, 0, true);
    assert_int_equal(refuse(&self, "a", "the budget is spent"), TACIT_OK);
    assert_int_equal(finish(&self), TACIT_REFUSED);
    assert_non_null(strstr(self.error.text, "the budget is spent"));
    desk_close(&self);
}

static void who_leaves_keeps_its_place_and_is_passed_over(void **state) {
    (void)state;
    desk self;
    tacit_question question;
    desk_open(&self, 1, PATIENT);
    admit(&self, "a");
    admit(&self, "b");
    ask_place(&self, 1, false);
    tacit_board_dismiss(self.board, "a"); /* the turn stays b's */
    assert_true(read_question(&self, "b", &question));
    tacit_answer answer = answer_to(&question);
    assert_int_equal(hand_in(&self, "b", &answer), TACIT_OK);
    assert_int_equal(finish(&self), TACIT_OK);
    assert_int_equal(self.answers.count, 1);
    assert_int_equal(tacit_board_admitted(self.board), 1);
    ask_place(&self, 0, false);
    assert_int_equal(finish(&self), TACIT_OK);
    assert_int_equal(self.answers.count, 0);
    ask_place(&self, 0, true);
    assert_int_equal(finish(&self), TACIT_REFUSED);
    assert_non_null(strstr(self.error.text, "party a has left"));
    admit(&self, "a"); /* comes back, to its own place */
    ask_place(&self, 0, true);
    assert_true(read_question(&self, "a", &question));
    answer = answer_to(&question);
    assert_int_equal(hand_in(&self, "a", &answer), TACIT_OK);
    assert_int_equal(finish(&self), TACIT_OK);
    desk_close(&self);
}

static void places_can_be_changed_before_the_first_question(void **state) {
    (void)state;
    desk self;
    tacit_question question;
    desk_open(&self, 1, PATIENT);
    const char *came[] = { "c", "a", "b" }, *sit[] = { "a", "b", "c" };
    for (size_t i = 0; i < 3; i++) admit(&self, came[i]);
    for (size_t i = 0; i < 3; i++) tacit_board_place(self.board, sit[i], i);
    tacit_board_place(self.board, "nobody", 0);
    tacit_board_place(self.board, "a", 3);
    for (size_t i = 0; i < 3; i++) {
        ask_place(&self, i, true);
        for (size_t other = 0; other < 3; other++)
            if (other != i) assert_false(read_question(&self, sit[other], &question));
        assert_true(read_question(&self, sit[i], &question));
        tacit_answer answer = answer_to(&question);
        assert_int_equal(hand_in(&self, sit[i], &answer), TACIT_OK);
        assert_int_equal(finish(&self), TACIT_OK);
        assert_int_equal(self.answers.count, 1);
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
        cmocka_unit_test(nobody_waits_for_who_has_left),
        cmocka_unit_test(a_cancelled_study_stops_waiting),
        cmocka_unit_test(many_parties_at_once_lose_and_double_nothing),
        cmocka_unit_test(a_question_for_one_party_is_that_partys_alone),
        cmocka_unit_test(a_party_that_is_silent_or_refuses_is_passed_over),
        cmocka_unit_test(a_party_that_is_needed_is_waited_for),
        cmocka_unit_test(who_leaves_keeps_its_place_and_is_passed_over),
        cmocka_unit_test(places_can_be_changed_before_the_first_question),
    };
    return cmocka_run_group_tests_name("board", tests, NULL, NULL);
}
