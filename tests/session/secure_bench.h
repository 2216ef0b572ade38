/*
 * A board and parties with real gates, for the tests of secure sums. Questions are handed to parties in this
 * thread, the study asks in another; nothing here waits for time to pass.
 */
#pragma once

#include "check.h"

#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "folder.h"
#include "session/board/board.h"
#include "session/party.h"

enum {
    PARTIES = 4,
    MANY = 60,
    LENGTH = 5,
    PATIENT = 3600 * 1000,
    FILES = 8,
    MOST_SUMS = 4,
    STEPS = TACIT_SUM_OPENED,
    DRAWING = TACIT_MASKED_DRAWN - TACIT_MASKED_DRAW, /* steps before the first sum on a sparse graph */
    RECORDS = STEPS + 1 + DRAWING
};

#define PRICE 0.5

/* ---- a method whose parties give their number and a constant ---- */

static inline double value_of(size_t number, size_t j) { return (double)number + 1 + (double)j / 8; }

static inline tacit_status answer_values(tacit_party *party, const tacit_question *question,
                                         tacit_reply *reply, tacit_error *error) {
    reply->kind = TACIT_RELEASE_ENTRUSTED;
    reply->noise = TACIT_NOISE_EXACT;
    reply->price = (tacit_price){ TACIT_UNIT_RECORD, PRICE, 0 };
    reply->contribution = calloc(question->sum.length, sizeof *reply->contribution);
    if (reply->contribution == NULL) return tacit_fail_memory(error);
    for (size_t j = 0; j < question->sum.length; j++) reply->contribution[j] = value_of(party->number, j);
    return TACIT_OK;
}

static inline tacit_status price_values(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                                        tacit_error *error) {
    (void)plan;
    (void)prepared;
    (void)error;
    out->charged = out->claimed = (tacit_price){ TACIT_UNIT_RECORD, PRICE, 0 };
    return TACIT_OK;
}

static inline tacit_release_kind kind_of_values(const tacit_plan *plan) {
    (void)plan;
    return TACIT_RELEASE_ENTRUSTED;
}

static const tacit_handler_entry handlers[] = { { .question = "values", .answer = answer_values },
                                                { .question = NULL } };
static const tacit_method method = {
    .name = "avg", .version = 1, .handlers = handlers, .price = price_values, .release_kind = kind_of_values
};

/* ---- a site: gate, ledger and what it keeps ---- */

typedef struct site {
    char name[TACIT_ID_SIZE];
    folder place;
    tacit_ledger *ledger;
    tacit_policy policy;
    tacit_gate gate;
    tacit_party party;
    tacit_masks *masks;
    tacit_entropy *entropy;
    uint8_t public_key[TACIT_SIGNING_KEY_BYTES], secret_key[crypto_sign_SECRETKEYBYTES];
    char names[FILES][32];
    tacit_buffer kept[FILES];
    bool gone;
    tacit_dataset *data; /* its rows, where the study's method looks at any */
    tacit_error error;   /* of its last refusal */
} site;

static inline tacit_status read_kept(void *context, const char *name, bool *found, tacit_buffer *out,
                                     tacit_error *error) {
    site *self = context;
    *found = false;
    for (size_t i = 0; i < FILES && !*found; i++) {
        if (strcmp(self->names[i], name) != 0) continue;
        *found = true;
        TACIT_TRY(tacit_buffer_append(out, self->kept[i].bytes, self->kept[i].length, error));
    }
    return TACIT_OK;
}

static inline tacit_status write_kept(void *context, const char *name, const uint8_t *bytes, size_t length,
                                      tacit_error *error) {
    site *self = context;
    size_t i = 0;
    while (self->names[i][0] != 0 && strcmp(self->names[i], name) != 0) i++;
    assert_true(i < FILES);
    tacit_buffer written = TACIT_BUFFER_INIT; /* whole or not at all, as a file is replaced */
    TACIT_TRY(tacit_buffer_append(&written, bytes, length, error));
    snprintf(self->names[i], sizeof self->names[i], "%s", name);
    tacit_buffer_clear(&self->kept[i]);
    self->kept[i] = written;
    return TACIT_OK;
}

typedef struct bench {
    tacit_plan plan;
    tacit_sum_spec spec;
    size_t parties;
    site sites[MANY];
    tacit_board *board;
    tacit_session session;
    tacit_buffer
        records[RECORDS]; /* of closed steps, as a registry keeps them; who is in all sums; the drawing */
    bool recorded[RECORDS];
    tacit_buffer parts; /* of the record of an open step */
    uint64_t parts_round;
    unsigned parts_step;
    size_t appended; /* parts, ever */
    uint64_t recorded_round;
    unsigned patience_ms;
    size_t close_after; /* cancel the study once this many steps are recorded */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    size_t pinned;
    bool ended;
    /* Of the study's thread, read after joining it. */
    tacit_status status;
    tacit_error error;
    tacit_sum sum;
} bench;

static inline void start_masks(bench *self, site *party) {
    tacit_masks_store store = { read_kept, write_kept, party };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_masks_free(party->masks);
    CHECK_OK(tacit_masks_create(&party->masks, &self->plan, party->secret_key, &store, &error), error);
    party->party.masks = party->masks;
}

static inline void open_site(bench *self, size_t k) {
    site *party = &self->sites[k];
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_price limit = { TACIT_UNIT_RECORD, MOST_SUMS * PRICE, 0 };
    *party = (site){ .place = folder_make(), .policy = tacit_policy_default() };
    party->policy.allow_entrusted = true;
    snprintf(party->name, sizeof party->name, "party-%zu", k);
    CHECK_OK(tacit_ledger_open(&party->ledger, party->place.file, "rows", TACIT_LEDGER_CREATE, &error),
             error);
    CHECK_OK(tacit_gate_init(&party->gate, party->ledger, &party->policy, TACIT_GATE_REAL, &error), error);
    CHECK_OK(tacit_ledger_set_limit(party->ledger, NULL, &limit, &error), error);
    CHECK_OK(tacit_ledger_consent(party->ledger, "heart@ca", (uint8_t[TACIT_HASH_BYTES]){ 0 }, &error),
             error);
    CHECK_OK(tacit_entropy_create(&party->entropy, &error), error);
    party->party = (tacit_party){ .plan = &self->plan,
                                  .noise = { .entropy = party->entropy },
                                  .coordinator = "uni",
                                  .number = k,
                                  .study = "heart@ca",
                                  .total_rows = 50,
                                  .gate = &party->gate };
    crypto_sign_keypair(party->public_key, party->secret_key);
    start_masks(self, party);
}

/* ---- the study ---- */

static inline void note_change(void *context) {
    bench *self = context;
    pthread_mutex_lock(&self->mutex);
    self->pinned++;
    pthread_cond_broadcast(&self->moved);
    pthread_mutex_unlock(&self->mutex);
}

/* From TACIT_BOARD_SET on they stay. */
static inline unsigned record_of(unsigned step) {
    return step >= TACIT_BOARD_SET ? step - TACIT_BOARD_SET + STEPS : step;
}

static inline tacit_status read_step(void *context, uint64_t round, unsigned step, bool *found,
                                     tacit_buffer *out, tacit_error *error) {
    bench *self = context;
    step = record_of(step);
    *found = self->recorded[step] && (step >= STEPS || round == self->recorded_round);
    if (!*found) return TACIT_OK;
    return tacit_buffer_append(out, self->records[step].bytes, self->records[step].length, error);
}

static inline tacit_status write_step(void *context, uint64_t round, unsigned step, const uint8_t *bytes,
                                      size_t length, tacit_error *error) {
    bench *self = context;
    step = record_of(step);
    for (size_t i = 0; i < STEPS && self->recorded_round != round; i++) { /* as of an earlier round */
        tacit_buffer_clear(&self->records[i]);
        self->recorded[i] = false;
    }
    if (step < STEPS) self->recorded_round = round;
    self->recorded[step] = true;
    if (self->parts.length > 0 && self->parts_round == round && self->parts_step == step) {
        TACIT_TRY(tacit_buffer_append(&self->records[step], self->parts.bytes, self->parts.length, error));
        self->parts.length = 0;
    }
    TACIT_TRY(tacit_buffer_append(&self->records[step], bytes, length, error));
    if (step + 1 == self->close_after) tacit_board_cancel(self->board);
    return TACIT_OK;
}

/* Parts of a record are none until it is written. A board that was made again begins with the first. */
static inline tacit_status append_step(void *context, uint64_t round, unsigned step, bool first,
                                       const uint8_t *bytes, size_t length, tacit_error *error) {
    bench *self = context;
    assert_true(step < STEPS);
    assert_true(first || (self->parts_round == round && self->parts_step == step));
    if (first) self->parts.length = 0;
    self->parts_round = round;
    self->parts_step = step;
    TACIT_TRY(tacit_buffer_append(&self->parts, bytes, length, error));
    pthread_mutex_lock(&self->mutex);
    self->appended++;
    pthread_cond_broadcast(&self->moved);
    pthread_mutex_unlock(&self->mutex);
    return TACIT_OK;
}

/* Until this many parts of records are kept. */
static inline void wait_for_parts(bench *self, size_t count) {
    pthread_mutex_lock(&self->mutex);
    while (self->appended < count) pthread_cond_wait(&self->moved, &self->mutex);
    pthread_mutex_unlock(&self->mutex);
}

#ifndef RECORD_PART_BYTES
#define RECORD_PART_BYTES 500 /* some answers */
#endif

static inline void open_board(bench *self) {
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_board_steps steps = { read_step, write_step, append_step, self };
    const tacit_board_settings settings = { .study = "heart",
                                            .minimum_parties = self->plan.minimum_parties,
                                            .patience_ms = self->patience_ms,
                                            .secret = tacit_stream_from_seed(5),
                                            .masked = &self->plan,
                                            .steps = &steps,
                                            .record_part = RECORD_PART_BYTES,
                                            .changed = note_change,
                                            .context = self };
    CHECK_OK(tacit_board_create(&self->board, &settings, &error), error);
    for (size_t k = 0; k < self->parties; k++) {
        CHECK_OK(tacit_board_admit(self->board, self->sites[k].name, &error), error);
        CHECK_OK(tacit_board_enlist(self->board, self->sites[k].name, self->sites[k].public_key, &error),
                 error);
    }
    self->session = (tacit_session){ .plan = &self->plan, .transport = tacit_board_transport(self->board) };
}

/* A tenth of the parties may vanish, and a tenth collude. */
/* With `exchanges` of 1 or 2, masked sums of this many. */
static inline bench *bench_in(tacit_sum_way sums, size_t parties, size_t minimum, unsigned exchanges,
                              double dropouts) {
    bench *self = calloc(1, sizeof *self);
    tacit_error error = TACIT_ERROR_INIT;
    assert_non_null(self);
    pthread_mutex_init(&self->mutex, NULL);
    pthread_cond_init(&self->moved, NULL);
    self->parties = parties;
    self->patience_ms = PATIENT;
    self->plan = (tacit_plan){ .method = &method,
                               .study = "heart",
                               .parties = parties,
                               .minimum_parties = minimum,
                               .sums = sums,
                               .exchanges = exchanges,
                               .dropouts = dropouts,
                               .colluders = 0.1 };
    CHECK_OK(tacit_sum_spec_for(&self->spec, LENGTH, 100, parties, &error), error);
    for (size_t k = 0; k < self->parties; k++) open_site(self, k);
    open_board(self);
    return self;
}

static inline bench *bench_of(tacit_sum_way sums, size_t parties, size_t minimum) {
    return bench_in(sums, parties, minimum, 0, 0.1);
}

static inline void bench_close(bench *self) {
    tacit_board_free(self->board);
    tacit_sum_clear(&self->sum);
    for (size_t k = 0; k < self->parties; k++) {
        site *party = &self->sites[k];
        tacit_masks_free(party->masks);
        tacit_entropy_free(party->entropy);
        tacit_ledger_free(party->ledger);
        tacit_dataset_free(party->data);
        for (size_t i = 0; i < FILES; i++) tacit_buffer_clear(&party->kept[i]);
        folder_remove(&party->place);
    }
    for (size_t i = 0; i < RECORDS; i++) tacit_buffer_clear(&self->records[i]);
    tacit_buffer_clear(&self->parts);
    pthread_cond_destroy(&self->moved);
    pthread_mutex_destroy(&self->mutex);
    free(self);
}

static inline void *study_thread(void *context) {
    bench *self = context;
    self->status = tacit_ask_sum(&self->session, "values", NULL, &self->spec, &self->sum, &self->error);
    pthread_mutex_lock(&self->mutex);
    self->ended = true;
    pthread_cond_broadcast(&self->moved);
    pthread_mutex_unlock(&self->mutex);
    return NULL;
}

static inline void begin(bench *self) {
    self->ended = false;
    self->pinned = 0;
    assert_int_equal(pthread_create(&self->thread, NULL, study_thread, self), 0);
}

static inline tacit_status end(bench *self) {
    assert_int_equal(pthread_join(self->thread, NULL), 0);
    return self->status;
}

/* Until question number `count` is up, or the study has ended: false. */
static inline bool wait_for_question(bench *self, size_t count) {
    pthread_mutex_lock(&self->mutex);
    while (self->pinned < count && !self->ended) pthread_cond_wait(&self->moved, &self->mutex);
    bool up = self->pinned >= count;
    pthread_mutex_unlock(&self->mutex);
    return up;
}

/* ---- parties at work ---- */

static inline bool read_question(bench *self, const site *party, tacit_buffer *out) {
    tacit_error error = TACIT_ERROR_INIT;
    bool pending = false;
    CHECK_OK(tacit_board_read(self->board, party->name, &pending, out, &error), error);
    return pending;
}

/* What the party answers to the bytes of a question. */
static inline tacit_status answer(site *party, const tacit_buffer *bytes, tacit_buffer *out) {
    tacit_received received;
    uint8_t hash[TACIT_HASH_BYTES];
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_question_decode(&received, bytes->bytes, bytes->length, &error), error);
    crypto_generichash(hash, sizeof hash, bytes->bytes, bytes->length, NULL, 0);
    party->error = (tacit_error)TACIT_ERROR_INIT;
    tacit_status status = tacit_party_answer(&party->party, &received.question, hash, out, &party->error);
    tacit_received_clear(&received);
    return status;
}

/* Say no to the open step. */
static inline void decline(bench *self, site *party, const tacit_buffer *bytes) {
    tacit_received received;
    tacit_buffer refusal = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_question_decode(&received, bytes->bytes, bytes->length, &error), error);
    const tacit_question *question = &received.question;
    tacit_answer no = { .round = question->round, .refusal = "no", .message = TACIT_MESSAGE_INIT };
    memcpy(no.study, question->study, sizeof no.study);
    memcpy(no.answer_id, question->answer_id, sizeof no.answer_id);
    CHECK_OK(tacit_answer_encode(&no, &refusal, &error), error);
    CHECK_OK(tacit_board_answer(self->board, party->name, refusal.bytes, refusal.length, &error), error);
    tacit_received_clear(&received);
    tacit_buffer_clear(&refusal);
}

/* One party's turn at the open step. One that is gone declines, so that nobody need wait for it. */
static inline void take_turn(bench *self, site *party) {
    tacit_buffer question = TACIT_BUFFER_INIT, reply = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    if (read_question(self, party, &question)) {
        if (party->gone) {
            decline(self, party, &question);
        } else {
            if (answer(party, &question, &reply) != TACIT_OK)
                fail_msg("%s: %s", party->name, party->error.text);
            CHECK_OK(tacit_board_answer(self->board, party->name, reply.bytes, reply.length, &error), error);
        }
    }
    tacit_buffer_clear(&question);
    tacit_buffer_clear(&reply);
}

static inline void all_take_turns(bench *self) {
    for (size_t k = 0; k < self->parties; k++) take_turn(self, &self->sites[k]);
}

/* The same in a step of an encrypted sum, counted from 0. Only the key holder has a turn in the first and the
 * last: its answer closes the step, and the others must not be ahead of the test. */
static inline void take_encrypted_turns(bench *self, size_t step) {
    if (step == TACIT_PAILLIER_SUM_ENCRYPT)
        all_take_turns(self);
    else
        take_turn(self, &self->sites[TACIT_KEY_HOLDER]);
}

static inline void check_sum(const bench *self, size_t without) {
    assert_int_equal(self->sum.parties, without < self->parties ? self->parties - 1 : self->parties);
    for (size_t j = 0; j < LENGTH; j++) {
        double expected = 0;
        for (size_t k = 0; k < self->parties; k++) expected += k != without ? value_of(k, j) : 0;
        assert_true(self->sum.values[j] == expected);
    }
}

static inline double spent(site *party) {
    tacit_account account;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_ledger_account(&account, party->ledger, NULL, TACIT_UNIT_RECORD, &error), error);
    return account.sum_epsilon;
}

/* ---- liars ---- */

typedef tacit_received liar; /* a question as it came, to be changed */

static inline void liar_hears(liar *self, bench *from, const site *party) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    assert_true(read_question(from, party, &bytes));
    CHECK_OK(tacit_question_decode(self, bytes.bytes, bytes.length, &error), error);
    assert_int_equal(self->question.kind, TACIT_ROUND_SECURE);
    tacit_buffer_clear(&bytes);
}

static inline void liar_clear(liar *self) { tacit_received_clear(self); }

/* Ask the party what the liar made of the question; it must not answer, say why, and note it in its
 * ledger. */
static inline tacit_status unanswered(const liar *self, site *party, const char *says) {
    tacit_buffer bytes = TACIT_BUFFER_INIT, reply = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_verdict before, after;
    CHECK_OK(tacit_ledger_verify(&before, party->ledger, &error), error);
    CHECK_OK(tacit_question_encode(&self->question, &bytes, &error), error);
    tacit_status status = answer(party, &bytes, &reply);
    if (strstr(party->error.text, says) == NULL) fail_msg("'%s' does not say '%s'", party->error.text, says);
    assert_int_equal(reply.length, 0);
    CHECK_OK(tacit_ledger_verify(&after, party->ledger, &error), error);
    assert_int_equal(after.entries, before.entries + 1);
    tacit_buffer_clear(&bytes);
    tacit_buffer_clear(&reply);
    return status;
}

static inline void check_refused(const liar *self, site *party, const char *says) {
    assert_int_equal(unanswered(self, party, says), TACIT_REFUSED);
}

/* The same for what is malformed or badly signed. */
static inline void check_not_answered(const liar *self, site *party, const char *says) {
    assert_int_equal(unanswered(self, party, says), TACIT_PROTOCOL);
}
