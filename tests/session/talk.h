/* A study in which four neighbours mix one number: a board, and parties with real gates that are started
 * again at will. For test_mail.c. */
#pragma once

#include "check.h"

#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "session/board/board.h"
#include "session/party.h"

enum { PARTIES = 4, ROUNDS = 3, FILES = 4, FIRST = 0, RECORDS = 2 * (ROUNDS + 1), PATIENT = 3600 * 1000 };

/* ---- a method that mixes one number ---- */

static tacit_status say(tacit_party *party, tacit_reply *reply, tacit_error *error) {
    double *number = NULL;
    TACIT_TRY(tacit_party_state(party, 1, &number, error));
    reply->kind = TACIT_RELEASE_ENTRUSTED;
    reply->noise = TACIT_NOISE_NONE;
    reply->price = (tacit_price){ TACIT_UNIT_RECORD, INFINITY, 0 };
    return tacit_message_add_numbers(&reply->message, "number", number, 1, error);
}

static double first_number(size_t party) { return 1 / (3 + (double)party); }

static tacit_status begin_talk(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                               tacit_error *error) {
    double *number = NULL;
    (void)question;
    TACIT_TRY(tacit_party_state(party, 1, &number, error));
    *number = first_number(party->number);
    return say(party, reply, error);
}

static tacit_status mix(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                        tacit_error *error) {
    double *number = NULL;
    const double *heard = NULL;
    (void)question;
    TACIT_TRY(tacit_party_state(party, 1, &number, error));
    *number *= party->heard->own;
    for (size_t i = 0; i < party->heard->count; i++) {
        TACIT_TRY(tacit_message_numbers(party->heard->word[i], "number", 1, &heard, error));
        *number += party->heard->weight[i] * *heard;
    }
    return say(party, reply, error);
}

static tacit_status tell_rows(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                              tacit_error *error) {
    (void)question;
    return say(party, reply, error);
}

static tacit_status schedule(tacit_round_schedule **out, const tacit_plan *plan, tacit_error *error) {
    tacit_round_schedule_plan about = { .graph = { .kind = TACIT_TOPOLOGY_RING },
                                        .nodes = plan->parties,
                                        .draw = 4,
                                        .rounds = ROUNDS,
                                        .link_probability = 1,
                                        .rounds_away = 1 };
    return tacit_round_schedule_create(out, &about, error);
}

static tacit_release_kind kind_of_words(const tacit_plan *plan) {
    (void)plan;
    return TACIT_RELEASE_ENTRUSTED;
}

static const tacit_handler_entry handlers[] = {
    { .question = "begin", .answer = begin_talk, .to_neighbours = true },
    { .question = "step", .answer = mix, .to_neighbours = true },
    { .question = "rows", .answer = tell_rows },
    { .question = NULL },
};
static const tacit_method method = { .name = "talk",
                                     .version = 1,
                                     .handlers = handlers,
                                     .price = tacit_nonprivate_price,
                                     .release_kind = kind_of_words,
                                     .schedule = schedule,
                                     .first_scheduled_round = FIRST };

/* ---- a site: gate, ledger and what it keeps ---- */

typedef struct site {
    char name[TACIT_ID_SIZE];
    folder place;
    tacit_ledger *ledger;
    tacit_policy policy;
    tacit_gate gate;
    tacit_party party;
    tacit_memo memo;
    tacit_masks *masks;
    tacit_mail *mail;
    uint8_t public_key[TACIT_SIGNING_KEY_BYTES], secret_key[crypto_sign_SECRETKEYBYTES];
    char names[FILES][32];
    tacit_buffer kept[FILES];
    tacit_error error; /* of its last refusal */
} site;

static tacit_status read_kept(void *context, const char *name, bool *found, tacit_buffer *out,
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

static tacit_status write_kept(void *context, const char *name, const uint8_t *bytes, size_t length,
                               tacit_error *error) {
    site *self = context;
    size_t i = 0;
    while (self->names[i][0] != 0 && strcmp(self->names[i], name) != 0) i++;
    assert_true(i < FILES);
    snprintf(self->names[i], sizeof self->names[i], "%s", name);
    tacit_buffer_clear(&self->kept[i]);
    return tacit_buffer_append(&self->kept[i], bytes, length, error);
}

typedef struct bench {
    tacit_plan plan;
    unsigned patience_ms;
    site sites[PARTIES];
    tacit_board *board;
    tacit_buffer records[RECORDS]; /* as a registry keeps them */
    bool recorded[RECORDS];
    tacit_session session;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    size_t pinned;
    bool ended;
    tacit_status status; /* of the study's thread, read after joining it */
    tacit_error error;
} bench;

/* As after a restart: nothing but what is kept. */
static void start_party(bench *self, site *party) {
    tacit_masks_store store = { read_kept, write_kept, party };
    static const uint8_t study_hash[TACIT_HASH_BYTES];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_mail_free(party->mail);
    tacit_masks_free(party->masks);
    tacit_memo_clear(&party->memo);
    party->mail = NULL;
    party->masks = NULL;
    CHECK_OK(tacit_masks_create(&party->masks, &self->plan, party->secret_key, &store, &error), error);
    tacit_mail_settings settings = {
        .plan = &self->plan, .masks = party->masks, .study_hash = study_hash, .name = party->name
    };
    CHECK_OK(tacit_mail_create(&party->mail, &settings, &error), error);
    party->party.masks = party->masks;
    party->party.mail = party->mail;
}

static void open_site(bench *self, size_t k) {
    site *party = &self->sites[k];
    tacit_error error = TACIT_ERROR_INIT;
    *party = (site){ .place = folder_make(), .policy = tacit_policy_default() };
    party->policy.allow_neighbours = true;
    snprintf(party->name, sizeof party->name, "party-%zu", k);
    CHECK_OK(tacit_ledger_open(&party->ledger, party->place.file, "rows", TACIT_LEDGER_CREATE, &error),
             error);
    CHECK_OK(tacit_gate_init(&party->gate, party->ledger, &party->policy, TACIT_GATE_REAL, &error), error);
    CHECK_OK(tacit_ledger_consent(party->ledger, "heart@ca", (uint8_t[TACIT_HASH_BYTES]){ 0 }, &error),
             error);
    party->party = (tacit_party){ .plan = &self->plan,
                                  .coordinator = "uni",
                                  .number = k,
                                  .study = "heart@ca",
                                  .total_rows = 50,
                                  .memo = &party->memo,
                                  .gate = &party->gate };
    crypto_sign_keypair(party->public_key, party->secret_key);
    start_party(self, party);
}

/* ---- the study ---- */

static void note_change(void *context) {
    bench *self = context;
    pthread_mutex_lock(&self->mutex);
    self->pinned++;
    pthread_cond_broadcast(&self->moved);
    pthread_mutex_unlock(&self->mutex);
}

static size_t record_of(uint64_t round, unsigned step) {
    return 2 * (size_t)round + (step == TACIT_BOARD_WORDS);
}

static tacit_status read_step(void *context, uint64_t round, unsigned step, bool *found, tacit_buffer *out,
                              tacit_error *error) {
    bench *self = context;
    const tacit_buffer *record = &self->records[record_of(round, step)];
    *found = self->recorded[record_of(round, step)];
    return tacit_buffer_append(out, record->bytes, record->length, error);
}

static tacit_status write_step(void *context, uint64_t round, unsigned step, const uint8_t *bytes,
                               size_t length, tacit_error *error) {
    bench *self = context;
    self->recorded[record_of(round, step)] = true;
    return tacit_buffer_append(&self->records[record_of(round, step)], bytes, length, error);
}

static void open_board(bench *self) {
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_board_steps steps = { read_step, write_step, NULL, self };
    const tacit_board_settings settings = { .study = "heart",
                                            .minimum_parties = PARTIES,
                                            .patience_ms = self->patience_ms,
                                            .secret = tacit_stream_from_seed(5),
                                            .masked = &self->plan,
                                            .steps = &steps,
                                            .changed = note_change,
                                            .context = self };
    CHECK_OK(tacit_board_create(&self->board, &settings, &error), error);
    for (size_t k = 0; k < PARTIES; k++) {
        CHECK_OK(tacit_board_admit(self->board, self->sites[k].name, &error), error);
        CHECK_OK(tacit_board_enlist(self->board, self->sites[k].name, self->sites[k].public_key, &error),
                 error);
    }
    self->session = (tacit_session){ .plan = &self->plan, .transport = tacit_board_transport(self->board) };
}

static tacit_status run_study(bench *self) {
    tacit_round_schedule *plan = NULL;
    tacit_status status = schedule(&plan, &self->plan, &self->error);
    if (status == TACIT_OK)
        status = tacit_ask_neighbours(&self->session, "begin", NULL, &plan->mixing, &self->error);
    while (status == TACIT_OK && plan->round < ROUNDS) {
        tacit_round_schedule_advance(plan);
        status = tacit_ask_neighbours(&self->session, "step", NULL, &plan->mixing, &self->error);
    }
    tacit_round_schedule_free(plan);
    return status;
}

static void *study_thread(void *context) {
    bench *self = context;
    self->status = run_study(self);
    pthread_mutex_lock(&self->mutex);
    self->ended = true;
    pthread_cond_broadcast(&self->moved);
    pthread_mutex_unlock(&self->mutex);
    return NULL;
}

static void begin(bench *self) {
    self->ended = false;
    self->pinned = 0;
    assert_int_equal(pthread_create(&self->thread, NULL, study_thread, self), 0);
}

static tacit_status end(bench *self) {
    assert_int_equal(pthread_join(self->thread, NULL), 0);
    return self->status;
}

static bench *bench_of(unsigned patience_ms) {
    bench *self = calloc(1, sizeof *self);
    assert_non_null(self);
    self->patience_ms = patience_ms;
    pthread_mutex_init(&self->mutex, NULL);
    pthread_cond_init(&self->moved, NULL);
    self->plan = (tacit_plan){ .method = &method,
                               .study = "heart",
                               .epsilon = INFINITY,
                               .parties = PARTIES,
                               .minimum_parties = PARTIES,
                               .sums = TACIT_SUMS_MASKED };
    for (size_t k = 0; k < PARTIES; k++) open_site(self, k);
    open_board(self);
    begin(self);
    return self;
}

static bench *bench_open(void) { return bench_of(PATIENT); }

static void bench_close(bench *self) {
    tacit_board_free(self->board);
    for (size_t k = 0; k < PARTIES; k++) {
        site *party = &self->sites[k];
        tacit_mail_free(party->mail);
        tacit_masks_free(party->masks);
        tacit_memo_clear(&party->memo);
        tacit_ledger_free(party->ledger);
        for (size_t i = 0; i < FILES; i++) tacit_buffer_clear(&party->kept[i]);
        folder_remove(&party->place);
    }
    for (size_t i = 0; i < RECORDS; i++) tacit_buffer_clear(&self->records[i]);
    pthread_cond_destroy(&self->moved);
    pthread_mutex_destroy(&self->mutex);
    free(self);
}

/* ---- parties at work ---- */

/* Until question number `count` is up. */
static void wait_for_question(bench *self, size_t count) {
    pthread_mutex_lock(&self->mutex);
    while (self->pinned < count && !self->ended) pthread_cond_wait(&self->moved, &self->mutex);
    bool up = self->pinned >= count;
    pthread_mutex_unlock(&self->mutex);
    if (!up) fail_msg("the study ended: %s", self->error.text);
}

/* A question as it came, for one who may change it. */
typedef tacit_received received;

static void read_received(received *out, const tacit_buffer *bytes) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_question_decode(out, bytes->bytes, bytes->length, &error), error);
}

static void clear_received(received *self) { tacit_received_clear(self); }

static tacit_status answer(site *party, const received *asked, tacit_buffer *out) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    uint8_t hash[TACIT_HASH_BYTES];
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_question_encode(&asked->question, &bytes, &error), error);
    crypto_generichash(hash, sizeof hash, bytes.bytes, bytes.length, NULL, 0);
    party->error = (tacit_error)TACIT_ERROR_INIT;
    tacit_status status = tacit_party_answer(&party->party, &asked->question, hash, out, &party->error);
    tacit_buffer_clear(&bytes);
    return status;
}

static void read_question(bench *self, const site *party, received *out) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    bool pending = false;
    CHECK_OK(tacit_board_read(self->board, party->name, &pending, &bytes, &error), error);
    assert_true(pending);
    read_received(out, &bytes);
    tacit_buffer_clear(&bytes);
}

static void take_turn(bench *self, size_t k) {
    site *party = &self->sites[k];
    received asked;
    tacit_buffer reply = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    read_question(self, party, &asked);
    if (answer(party, &asked, &reply) != TACIT_OK) fail_msg("%s: %s", party->name, party->error.text);
    CHECK_OK(tacit_board_answer(self->board, party->name, reply.bytes, reply.length, &error), error);
    tacit_buffer_clear(&reply);
    clear_received(&asked);
}

static void all_take_turns(bench *self, size_t from, size_t count) {
    wait_for_question(self, count);
    for (size_t k = from; k < PARTIES; k++) take_turn(self, k);
}

static void count_entry(size_t counts[2], tacit_entry_kind kind) {
    if (kind == TACIT_ENTRY_CHARGE) counts[0]++;
    if (kind == TACIT_ENTRY_REFUSAL) counts[1]++;
}

static tacit_status visit(void *context, const tacit_entry *entry, tacit_error *error) {
    (void)error;
    if (entry->kind == TACIT_ENTRY_CHARGE) {
        assert_true(isinf(entry->about.price.epsilon));
        assert_int_equal(entry->about.kind, TACIT_RELEASE_ENTRUSTED);
        assert_non_null(strstr(entry->about.assumption, "of roster"));
    }
    count_entry(context, entry->kind);
    return TACIT_OK;
}

static void check_log(site *party, size_t charges, size_t refusals) {
    size_t counts[2] = { 0, 0 };
    tacit_verdict verdict;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_ledger_list(party->ledger, 0, visit, counts, &error), error);
    CHECK_OK(tacit_ledger_verify(&verdict, party->ledger, &error), error);
    assert_int_equal(counts[0], charges);
    assert_int_equal(counts[1], refusals);
}

/* Where everybody must be at the end: W^ROUNDS times the first numbers. */
static void check_numbers(bench *self) {
    tacit_round_schedule *plan = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    double numbers[PARTIES], next[PARTIES];
    CHECK_OK(schedule(&plan, &self->plan, &error), error);
    for (size_t k = 0; k < PARTIES; k++) numbers[k] = first_number(k);
    while (plan->round < ROUNDS) {
        tacit_round_schedule_advance(plan);
        for (size_t k = 0; k < PARTIES; k++) {
            next[k] = plan->mixing.own[k] * numbers[k];
            for (size_t slot = plan->mixing.start[k]; slot < plan->mixing.start[k + 1]; slot++)
                next[k] += plan->mixing.weight[slot] * numbers[plan->mixing.neighbour[slot]];
        }
        memcpy(numbers, next, sizeof numbers);
    }
    tacit_round_schedule_free(plan);
    for (size_t k = 0; k < PARTIES; k++) {
        assert_int_equal(self->sites[k].memo.state_count, 1);
        assert_true(self->sites[k].memo.state[0] == numbers[k]);
    }
}
