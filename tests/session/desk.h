/*
 * A board whose study asks in a thread of its own, and parties that come by and answer, for the tests of
 * boards. No test sleeps: the board says through `changed` that a question is up, and a round that should end
 * is waited for by joining.
 */
#pragma once

#include "check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/board/board.h"

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

static inline void note_change(void *context) {
    desk *self = context;
    pthread_mutex_lock(&self->mutex);
    self->pinned++;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

static inline void desk_open(desk *self, size_t minimum, unsigned patience) {
    tacit_error error = TACIT_ERROR_INIT;
    *self =
        (desk){ .wants_sum = true, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
    const tacit_board_settings settings = { .study = "heart",
                                            .minimum_parties = minimum,
                                            .patience_ms = patience,
                                            .plan = &self->plan,
                                            .secret = tacit_stream_from_seed(5),
                                            .changed = note_change,
                                            .context = self };
    CHECK_OK(tacit_board_create(&self->board, &settings, &error), error);
    CHECK_OK(tacit_sum_spec_for(&self->spec, LENGTH, 2, 10, &error), error);
    self->plan =
        (tacit_plan){ .method = &method, .study = "heart", .parties = 10, .minimum_parties = minimum };
    self->session = (tacit_session){ .plan = &self->plan, .transport = tacit_board_transport(self->board) };
}

static inline void desk_close(desk *self) {
    tacit_board_free(self->board);
    tacit_sum_clear(&self->sum);
    tacit_answers_clear(&self->answers);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->mutex);
}

static inline void admit(desk *self, const char *party) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_board_admit(self->board, party, &error), error);
}

static inline void *study_thread(void *context) {
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
static inline void ask(desk *self) {
    pthread_mutex_lock(&self->mutex);
    size_t before = self->pinned;
    assert_int_equal(pthread_create(&self->thread, NULL, study_thread, self), 0);
    while (self->pinned == before) pthread_cond_wait(&self->changed, &self->mutex);
    pthread_mutex_unlock(&self->mutex);
}

static inline tacit_status finish(desk *self) {
    assert_int_equal(pthread_join(self->thread, NULL), 0);
    return self->status;
}

/* ---- parties ---- */

/* What a party reads; true when a question waits for it. */
static inline bool read_question(desk *self, const char *party, tacit_question *out) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_received received = TACIT_RECEIVED_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    bool pending = false;
    CHECK_OK(tacit_board_read(self->board, party, &pending, &bytes, &error), error);
    assert_int_equal(pending, bytes.length > 0);
    if (pending) CHECK_OK(tacit_question_decode(&received, bytes.bytes, bytes.length, &error), error);
    if (pending) *out = received.question;
    tacit_received_clear(&received);
    tacit_buffer_clear(&bytes);
    return pending;
}

static inline tacit_status hand_in(desk *self, const char *party, const tacit_answer *answer) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_answer_encode(answer, &bytes, &error), error);
    tacit_status status = tacit_board_answer(self->board, party, bytes.bytes, bytes.length, &error);
    tacit_buffer_clear(&bytes);
    return status;
}

static inline tacit_answer answer_to(const tacit_question *question) {
    tacit_answer answer = { .round = question->round, .message = TACIT_MESSAGE_INIT };
    memcpy(answer.study, question->study, sizeof answer.study);
    memcpy(answer.answer_id, question->answer_id, sizeof answer.answer_id);
    return answer;
}

/* Answer with the same value everywhere, on the grid. */
static inline tacit_status contribute(desk *self, const char *party, const tacit_question *question,
                                      double value) {
    const double values[LENGTH] = { value, value, value };
    int64_t grid[LENGTH];
    tacit_answer answer = answer_to(question);
    assert_int_equal(tacit_sum_quantise(&question->sum, values, grid, NULL), TACIT_OK);
    answer.contribution = grid;
    answer.length = LENGTH;
    return hand_in(self, party, &answer);
}

static inline void read_and_contribute(desk *self, const char *party, double value) {
    tacit_question question;
    assert_true(read_question(self, party, &question));
    assert_int_equal(contribute(self, party, &question, value), TACIT_OK);
}

static inline tacit_status refuse(desk *self, const char *party, const char *why) {
    tacit_question question;
    assert_true(read_question(self, party, &question));
    tacit_answer answer = answer_to(&question);
    snprintf(answer.refusal, sizeof answer.refusal, "%s", why);
    return hand_in(self, party, &answer);
}

static inline tacit_board_state look(desk *self) {
    tacit_board_state state;
    tacit_board_look(self->board, &state);
    return state;
}
