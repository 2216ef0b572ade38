/*
 * Both halves of every method against a peer that lies. Each method is run once in a simulation, and what was
 * asked and answered is kept. Then the first byte names a method, the second what is to be changed
 * (outside.h): 0, all that the coordinator's half hears; else the question of that number, which a party's
 * half is asked. Whatever comes, a half ends, with a model, an answer or a sentence.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/generate.h"
#include "data/points.h"
#include "method/methods.h"
#include "outside.h"
#include "session/local/local.h"
#include "session/party_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
int LLVMFuzzerInitialize(int *count, char ***arguments);

enum { PARTIES = 3, ROWS = 45, FEATURES = 3, METHODS_MOST = 64, QUESTIONS_MOST = 16 };

typedef struct run {
    tacit_plan plan;
    tacit_buffer heard; /* by the coordinator's half, all of it */
    tacit_buffer question[QUESTIONS_MOST];
    size_t questions;
} run;

static run runs[METHODS_MOST];
static size_t run_count;
static tacit_dataset *rows;
static tacit_split split;
static tacit_points points;
static tacit_view own;

/* ---- the honest run ---- */

typedef struct recorder {
    run *into;
    tacit_transport inner;
} recorder;

static void keep_question(run *into, const tacit_question *question) {
    if (into->questions < QUESTIONS_MOST)
        outside_must(tacit_question_encode(question, &into->question[into->questions++], NULL));
}

static tacit_status keep_answers(run *into, const tacit_answers *answers, tacit_error *error) {
    TACIT_TRY(tacit_buffer_append_u32(&into->heard, (uint32_t)answers->count, error));
    for (size_t i = 0; i < answers->count; i++) {
        tacit_buffer one = TACIT_BUFFER_INIT;
        outside_must(tacit_answer_encode(&answers->answer[i], &one, NULL));
        outside_must(tacit_buffer_append_u32(&into->heard, (uint32_t)one.length, NULL));
        outside_must(tacit_buffer_append(&into->heard, one.bytes, one.length, NULL));
        tacit_buffer_clear(&one);
    }
    return TACIT_OK;
}

static tacit_status record_ask(void *context, const tacit_question *question, tacit_answers *out,
                               tacit_error *error) {
    recorder *self = context;
    keep_question(self->into, question);
    TACIT_TRY(self->inner.ask(self->inner.context, question, out, error));
    return keep_answers(self->into, out, error);
}

static tacit_status record_one(void *context, const tacit_question *question, size_t place, bool needed,
                               tacit_answers *out, tacit_error *error) {
    recorder *self = context;
    keep_question(self->into, question);
    TACIT_TRY(self->inner.ask_one(self->inner.context, question, place, needed, out, error));
    return keep_answers(self->into, out, error);
}

static tacit_status record_sum(void *context, const tacit_question *question, uint64_t *total,
                               size_t *parties, tacit_error *error) {
    recorder *self = context;
    keep_question(self->into, question);
    TACIT_TRY(self->inner.ask_sum(self->inner.context, question, total, parties, error));
    TACIT_TRY(tacit_buffer_append_u32(&self->into->heard, (uint32_t)*parties, error));
    return tacit_buffer_append(&self->into->heard, total, question->sum.length * sizeof *total, error);
}

static tacit_status record_exchange(void *context, const tacit_question *question, const tacit_mixing *mixing,
                                    size_t *bytes, tacit_error *error) {
    recorder *self = context;
    keep_question(self->into, question);
    return self->inner.exchange(self->inner.context, question, mixing, bytes, error);
}

/* Few rounds, where that is a setting. */
static bool make_plan(tacit_plan *out, const tacit_method *method) {
    static double weights[FEATURES] = { 1 };
    static const tacit_model model = {
        .family = &tacit_family_logistic, .features = FEATURES, .classes = 2, .weights = weights
    };
    *out = (tacit_plan){ .method = method,
                         .study = "study",
                         .epsilon = method->noise_free ? INFINITY : 1,
                         .delta = method->needs_delta ? 1e-5 : 0,
                         .lambda = 0.1,
                         .features = FEATURES,
                         .classes = 2,
                         .parties = PARTIES,
                         .minimum_parties = 1,
                         .minimum_rows = 5,
                         .points = method->needs_points ? &points : NULL,
                         .model = method->needs_model ? &model : NULL };
    if (tacit_method_takes(method, "rounds")) tacit_plan_set(out, "rounds", "2", NULL);
    if (tacit_method_takes(method, "iterations")) tacit_plan_set(out, "iterations", "2", NULL);
    return method->compute == NULL && tacit_plan_check(out, NULL) == TACIT_OK;
}

static void record(const tacit_method *method) {
    run *into = &runs[run_count];
    tacit_local *local = NULL;
    tacit_session session;
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_stream seed = tacit_stream_from_seed(7);
    if (!make_plan(&into->plan, method)) return;
    outside_must(tacit_local_create(&local, rows, &split, NULL, NULL));
    outside_must(tacit_local_begin(local, &into->plan, &seed, NULL, &session, NULL));
    recorder self = { into, session.transport };
    session.own = &own;
    session.transport.context = &self;
    session.transport.ask = record_ask;
    session.transport.ask_sum = record_sum;
    if (self.inner.ask_one != NULL) session.transport.ask_one = record_one;
    if (self.inner.exchange != NULL) session.transport.exchange = record_exchange;
    session.transport.pooled = NULL;
    /* A method that reads all rows at once has no peers. */
    if (method->coordinate(&session, &outcome, NULL) == TACIT_OK && into->questions > 0) run_count++;
    tacit_outcome_clear(&outcome);
    tacit_local_free(local);
}

static void begin(void) {
    static size_t start[PARTIES + 1];
    static uint32_t index[ROWS];
    tacit_stream stream = tacit_stream_from_seed(3);
    outside_must(tacit_generate_ball(&rows, ROWS, FEATURES, NULL, &stream, NULL));
    for (size_t k = 0; k <= PARTIES; k++) start[k] = ROWS * k / PARTIES;
    for (uint32_t i = 0; i < ROWS; i++) index[i] = i;
    split = (tacit_split){ .parts = PARTIES, .start = start, .index = index };
    own = tacit_dataset_view(rows);
    outside_must(tacit_points_of(&points, &own.rows, NULL, NULL));
    for (size_t k = 0; tacit_methods[k] != NULL; k++) record(tacit_methods[k]);
    if (run_count < 10) abort();
}

/* ---- with changes ---- */

/* As a board hands them on: decoded, and no more than there are parties. */
static tacit_status next_answers(tacit_cursor *said, size_t most, tacit_answers *out, tacit_error *error) {
    uint32_t count, length;
    const uint8_t *bytes;
    tacit_answers answers = { 0, TACIT_NEW(tacit_answer, PARTIES) };
    tacit_status status = answers.answer != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK && (!tacit_cursor_read_u32(said, &count) || count > most))
        status = tacit_fail(error, TACIT_NETWORK, "nobody answers any more");
    for (uint32_t i = 0; status == TACIT_OK && i < count; i++) {
        if (!tacit_cursor_read_u32(said, &length) || !tacit_cursor_skip(said, &bytes, length))
            status = tacit_fail(error, TACIT_NETWORK, "nobody answers any more");
        if (status == TACIT_OK) status = tacit_answer_decode(&answers.answer[i], bytes, length, error);
        if (status == TACIT_OK) answers.count++;
    }
    if (status == TACIT_OK)
        *out = answers;
    else
        tacit_answers_clear(&answers);
    return status;
}

static tacit_status lie(void *context, const tacit_question *question, tacit_answers *out,
                        tacit_error *error) {
    (void)question;
    return next_answers(context, PARTIES, out, error);
}

static tacit_status lie_alone(void *context, const tacit_question *question, size_t place, bool needed,
                              tacit_answers *out, tacit_error *error) {
    (void)question, (void)place, (void)needed;
    return next_answers(context, 1, out, error);
}

static tacit_status lie_in_sum(void *context, const tacit_question *question, uint64_t *total,
                               size_t *parties, tacit_error *error) {
    uint32_t count;
    if (!tacit_cursor_read_u32(context, &count) || count == 0 || count > PARTIES ||
        !tacit_cursor_read(context, total, question->sum.length * sizeof *total))
        return tacit_fail(error, TACIT_NETWORK, "nobody answers any more");
    *parties = count;
    return TACIT_OK;
}

static tacit_status say_nothing(void *context, const tacit_question *question, const tacit_mixing *mixing,
                                size_t *bytes, tacit_error *error) {
    (void)context, (void)question, (void)mixing, (void)error;
    *bytes = 0;
    return TACIT_OK;
}

static void to_coordinator(const run *of, const tacit_buffer *said) {
    tacit_cursor cursor = tacit_cursor_over(said->bytes, said->length);
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_session session = { .plan = &of->plan,
                              .own = &own,
                              .secret = tacit_stream_from_seed(7),
                              .transport = { .ask = lie,
                                             .ask_one = lie_alone,
                                             .ask_sum = lie_in_sum,
                                             .exchange = say_nothing,
                                             .context = &cursor } };
    outside_explained(of->plan.method->coordinate(&session, &outcome, &error), &error);
    for (size_t i = 0; i < outcome.count; i++) {
        tacit_buffer text = TACIT_BUFFER_INIT;
        tacit_error why = TACIT_ERROR_INIT;
        outside_explained(tacit_model_print(outcome.models[i], &text, &why), &why);
        tacit_buffer_clear(&text);
    }
    tacit_outcome_clear(&outcome);
    tacit_prepared_free(session.prepared);
}

static void to_party(const run *of, const tacit_buffer *asked) {
    tacit_received received;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_reply reply = { .message = TACIT_MESSAGE_INIT };
    tacit_memo memo = { .model = NULL };
    tacit_stream stream = tacit_stream_from_seed(9);
    const tacit_heard nobody = { .own = 1 };
    if (tacit_question_decode(&received, asked->bytes, asked->length, &error) != TACIT_OK) return;
    tacit_party party = { .plan = &of->plan,
                          .coordinator = "coordinator",
                          .study = "study",
                          .rows = tacit_split_view(&split, rows, 0),
                          .total_rows = ROWS / PARTIES,
                          .noise = { .stream = &stream },
                          .run = &stream,
                          .memo = &memo,
                          .heard = &nobody };
    tacit_status status = tacit_party_compute(&party, &received.question, &reply, &error);
    outside_explained(status, &error);
    tacit_reply_clear(&reply);
    tacit_memo_clear(&memo);
    tacit_received_clear(&received);
}

/* libFuzzer's clock for one input does not count this. */
int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count, (void)arguments;
    begin();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_buffer said = TACIT_BUFFER_INIT;
    if (run_count == 0) begin();
    if (length < 2) return 0;
    const run *of = &runs[bytes[0] % run_count];
    size_t which = bytes[1] % (of->questions + 1);
    const tacit_buffer *honest = which == 0 ? &of->heard : &of->question[which - 1];
    if (honest->length == 0) return 0;
    outside_must(tacit_buffer_append(&said, honest->bytes, honest->length, NULL));
    outside_change(&said, bytes + 2, length - 2);
    if (which == 0)
        to_coordinator(of, &said);
    else
        to_party(of, &said);
    tacit_buffer_clear(&said);
    return 0;
}
