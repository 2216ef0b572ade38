/*
 * Masked sums, a board and parties with real gates: right sums whoever vanishes and whichever side is started anew, and
 * a coordinator that lies is refused and logged. Questions are handed to parties in this thread, the study asks in
 * another; nothing here waits for time to pass.
 */
#include "check.h"

#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "folder.h"
#include "session/board.h"
#include "session/party.h"

enum { PARTIES = 4, MANY = 60, LENGTH = 5, PATIENT = 3600 * 1000, FILES = 3, STEPS = TACIT_SUM_OPENED };

#define PRICE 0.5

/* ---- a method whose parties give their number and a constant ---- */

static double value_of(size_t number, size_t j) { return (double)number + 1 + (double)j / 8; }

static tacit_status answer_values(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                  tacit_error *error) {
    (void)error;
    reply->kind = TACIT_RELEASE_ENTRUSTED;
    reply->noise = TACIT_NOISE_EXACT;
    reply->price = (tacit_price){ TACIT_UNIT_RECORD, PRICE, 0 };
    reply->contribution = calloc(question->sum.length, sizeof *reply->contribution);
    for (size_t j = 0; j < question->sum.length; j++) reply->contribution[j] = value_of(party->number, j);
    return TACIT_OK;
}

static tacit_status price_values(const tacit_plan *plan, tacit_prices *out, tacit_error *error) {
    (void)plan;
    (void)error;
    out->charged = out->claimed = (tacit_price){ TACIT_UNIT_RECORD, PRICE, 0 };
    return TACIT_OK;
}

static tacit_release_kind kind_of_values(const tacit_plan *plan) {
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
    tacit_sum_spec spec;
    size_t parties;
    site sites[MANY];
    tacit_board *board;
    tacit_session session;
    tacit_buffer records[STEPS]; /* of closed steps, as a registry keeps them */
    bool recorded[STEPS];
    size_t close_after; /* cancel the study once so many steps are recorded */
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

static void start_masks(bench *self, site *party) {
    tacit_masks_store store = { read_kept, write_kept, party };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_masks_free(party->masks);
    CHECK_OK(tacit_masks_create(&party->masks, &self->plan, party->secret_key, &store, &error), error);
    party->party.masks = party->masks;
}

static void open_site(bench *self, size_t k) {
    site *party = &self->sites[k];
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_price limit = { TACIT_UNIT_RECORD, PRICE, 0 };
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

static void note_change(void *context) {
    bench *self = context;
    pthread_mutex_lock(&self->mutex);
    self->pinned++;
    pthread_cond_broadcast(&self->moved);
    pthread_mutex_unlock(&self->mutex);
}

static tacit_status read_step(void *context, uint64_t round, unsigned step, bool *found, tacit_buffer *out,
                              tacit_error *error) {
    bench *self = context;
    (void)round;
    *found = self->recorded[step];
    return tacit_buffer_append(out, self->records[step].bytes, self->records[step].length, error);
}

static tacit_status write_step(void *context, uint64_t round, unsigned step, const uint8_t *bytes,
                               size_t length, tacit_error *error) {
    bench *self = context;
    (void)round;
    self->recorded[step] = true;
    TACIT_TRY(tacit_buffer_append(&self->records[step], bytes, length, error));
    if (step + 1 == self->close_after) tacit_board_cancel(self->board);
    return TACIT_OK;
}

static void open_board(bench *self) {
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_board_steps steps = { read_step, write_step, self };
    const tacit_board_settings settings = { .study = "heart",
                                            .minimum_parties = self->plan.minimum_parties,
                                            .patience_ms = PATIENT,
                                            .secret = tacit_stream_from_seed(5),
                                            .masked = &self->plan,
                                            .steps = &steps,
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

static bench *bench_of(size_t parties, size_t minimum) {
    bench *self = calloc(1, sizeof *self);
    tacit_error error = TACIT_ERROR_INIT;
    assert_non_null(self);
    pthread_mutex_init(&self->mutex, NULL);
    pthread_cond_init(&self->moved, NULL);
    self->parties = parties;
    self->plan = (tacit_plan){ .method = &method,
                               .study = "heart",
                               .parties = parties,
                               .minimum_parties = minimum,
                               .sums_masked = true };
    CHECK_OK(tacit_sum_spec_for(&self->spec, LENGTH, 100, parties, &error), error);
    for (size_t k = 0; k < self->parties; k++) open_site(self, k);
    open_board(self);
    return self;
}

static bench *bench_open(void) { return bench_of(PARTIES, 2); }

static void bench_close(bench *self) {
    tacit_board_free(self->board);
    tacit_sum_clear(&self->sum);
    for (size_t k = 0; k < self->parties; k++) {
        site *party = &self->sites[k];
        tacit_masks_free(party->masks);
        tacit_entropy_free(party->entropy);
        tacit_ledger_free(party->ledger);
        for (size_t i = 0; i < FILES; i++) tacit_buffer_clear(&party->kept[i]);
        folder_remove(&party->place);
    }
    for (size_t i = 0; i < STEPS; i++) tacit_buffer_clear(&self->records[i]);
    pthread_cond_destroy(&self->moved);
    pthread_mutex_destroy(&self->mutex);
    free(self);
}

static void *study_thread(void *context) {
    bench *self = context;
    self->status = tacit_ask_sum(&self->session, "values", NULL, &self->spec, &self->sum, &self->error);
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

/* Until question number `count` is up, or the study has ended: false. */
static bool wait_for_question(bench *self, size_t count) {
    pthread_mutex_lock(&self->mutex);
    while (self->pinned < count && !self->ended) pthread_cond_wait(&self->moved, &self->mutex);
    bool up = self->pinned >= count;
    pthread_mutex_unlock(&self->mutex);
    return up;
}

/* ---- parties at work ---- */

static bool read_question(bench *self, const site *party, tacit_buffer *out) {
    tacit_error error = TACIT_ERROR_INIT;
    bool pending = false;
    CHECK_OK(tacit_board_read(self->board, party->name, &pending, out, &error), error);
    return pending;
}

/* What the party answers to the bytes of a question. */
static tacit_status answer(site *party, const tacit_buffer *bytes, tacit_buffer *out) {
    tacit_question question;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_masked_step step = TACIT_MASKED_STEP_INIT;
    uint8_t hash[TACIT_HASH_BYTES];
    bool found = false;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_question_decode(&question, &message, bytes->bytes, bytes->length, &error), error);
    CHECK_OK(tacit_masked_step_decode(&step, &found, bytes->bytes, bytes->length, &error), error);
    if (found) question.masked = &step;
    crypto_generichash(hash, sizeof hash, bytes->bytes, bytes->length, NULL, 0);
    party->error = (tacit_error)TACIT_ERROR_INIT;
    tacit_status status = tacit_party_answer(&party->party, &question, hash, out, &party->error);
    tacit_masked_step_clear(&step);
    tacit_message_clear(&message);
    return status;
}

/* Say no to the open step. */
static void decline(bench *self, site *party, const tacit_buffer *bytes) {
    tacit_question question;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_buffer refusal = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_question_decode(&question, &message, bytes->bytes, bytes->length, &error), error);
    tacit_answer no = { .round = question.round, .refusal = "no", .message = TACIT_MESSAGE_INIT };
    memcpy(no.study, question.study, sizeof no.study);
    memcpy(no.answer_id, question.answer_id, sizeof no.answer_id);
    CHECK_OK(tacit_answer_encode(&no, &refusal, &error), error);
    CHECK_OK(tacit_board_answer(self->board, party->name, refusal.bytes, refusal.length, &error), error);
    tacit_message_clear(&message);
    tacit_buffer_clear(&refusal);
}

/* One party's turn at the open step. One that is gone declines, so that nobody need wait for it. */
static void take_turn(bench *self, site *party) {
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

static void all_take_turns(bench *self) {
    for (size_t k = 0; k < self->parties; k++) take_turn(self, &self->sites[k]);
}

static void check_sum(const bench *self, size_t without) {
    assert_int_equal(self->sum.parties, without < self->parties ? self->parties - 1 : self->parties);
    for (size_t j = 0; j < LENGTH; j++) {
        double expected = 0;
        for (size_t k = 0; k < self->parties; k++) expected += k != without ? value_of(k, j) : 0;
        assert_true(self->sum.values[j] == expected);
    }
}

static double spent(site *party) {
    tacit_account account;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_ledger_account(&account, party->ledger, NULL, TACIT_UNIT_RECORD, &error), error);
    return account.sum_epsilon;
}

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

/* A party killed between the gate and its own state: the state before and the stored vector are there, the state after
 * only beside them. */
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

/* ---- liars ---- */

typedef struct liar {
    tacit_question question;
    tacit_message message;
    tacit_masked_step step;
} liar;

static void liar_hears(liar *self, bench *from, const site *party) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    bool found = false;
    *self = (liar){ .message = TACIT_MESSAGE_INIT };
    assert_true(read_question(from, party, &bytes));
    CHECK_OK(tacit_question_decode(&self->question, &self->message, bytes.bytes, bytes.length, &error),
             error);
    CHECK_OK(tacit_masked_step_decode(&self->step, &found, bytes.bytes, bytes.length, &error), error);
    assert_true(found);
    self->question.masked = &self->step;
    tacit_buffer_clear(&bytes);
}

static void liar_clear(liar *self) {
    tacit_message_clear(&self->message);
    tacit_masked_step_clear(&self->step);
}

/* Ask the party what the liar made of the question; it must refuse, say why, and note it in its ledger. */
static void check_refused(const liar *self, site *party, const char *says) {
    tacit_buffer bytes = TACIT_BUFFER_INIT, reply = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_verdict before, after;
    CHECK_OK(tacit_ledger_verify(&before, party->ledger, &error), error);
    CHECK_OK(tacit_question_encode(&self->question, &bytes, &error), error);
    assert_int_equal(answer(party, &bytes, &reply), TACIT_REFUSED);
    if (strstr(party->error.text, says) == NULL) fail_msg("'%s' does not say '%s'", party->error.text, says);
    assert_int_equal(reply.length, 0);
    CHECK_OK(tacit_ledger_verify(&after, party->ledger, &error), error);
    assert_int_equal(after.entries, before.entries + 1);
    tacit_buffer_clear(&bytes);
    tacit_buffer_clear(&reply);
}

static void lie_at(bench *self, size_t step, site *party) {
    liar lie;
    if (step == TACIT_SUM_ADVERTISE) {
        liar_hears(&lie, self, party);
        lie.step.roster.length -= TACIT_SIGNING_KEY_BYTES;
        check_refused(&lie, party, "roster has");
        lie.step.roster.length += TACIT_SIGNING_KEY_BYTES;
        memcpy(lie.step.roster.bytes, lie.step.roster.bytes + TACIT_SIGNING_KEY_BYTES,
               TACIT_SIGNING_KEY_BYTES);
        check_refused(&lie, party, "2 times in the coordinator's roster");
        liar_clear(&lie);
        take_turn(self, party);
        /* Once seen, a roster stays. */
        liar_hears(&lie, self, &self->sites[3]);
        lie.step.roster.bytes[3 * TACIT_SIGNING_KEY_BYTES] ^= 1;
        check_refused(&lie, party, "changed the roster");
        liar_clear(&lie);
        return;
    }
    liar_hears(&lie, self, party);
    if (step == TACIT_SUM_MASK) {
        tacit_question asked = lie.question;
        lie.question.masked = NULL;
        check_refused(&lie, party, "in clear");
        lie.question = asked;
        lie.question.sum.bound *= 2;
        check_refused(&lie, party, "not the one that this masked sum was begun for");
    } else if (step == TACIT_SUM_CONSENT) {
        take_turn(self, party);
        tacit_buffer *sets = &lie.step.body;
        sets->bytes[sets->length - 1] ^= 1u << 3; /* without party 3, for a second time */
        check_refused(&lie, party, "");
    } else if (step == TACIT_SUM_UNMASK) {
        take_turn(self, party);
        lie.step.body.bytes[lie.step.body.length - 1] ^= 1; /* another consent */
        check_refused(&lie, party, "");
    }
    lie.step.sum_id[0] ^= 1;
    check_refused(&lie, party, "second sum in round 1");
    liar_clear(&lie);
}

static void test_a_lying_coordinator_is_refused_and_logged(void **state) {
    (void)state;
    bench *self = bench_open();
    site *party = &self->sites[1];
    liar late;
    begin(self);
    for (size_t step = 0; step < STEPS; step++) {
        assert_true(wait_for_question(self, step + 1));
        lie_at(self, step, party);
        if (step == TACIT_SUM_UNMASK) liar_hears(&late, self, &self->sites[0]);
        all_take_turns(self);
    }
    /* None of it has disturbed the sum. */
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, PARTIES);
    assert_true(spent(party) == PRICE);
    /* Later rounds cost anew, and there is no way back. */
    late.question.round = 1;
    late.step.step = TACIT_SUM_SHARE;
    check_refused(&late, party, "is not in");
    liar_clear(&late);
    bench_close(self);
}

static void test_rounds_only_go_up(void **state) {
    (void)state;
    bench *self = bench_open();
    site *party = &self->sites[0];
    tacit_buffer bytes = TACIT_BUFFER_INIT, reply = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    liar lie;
    begin(self);
    assert_true(wait_for_question(self, 1));
    liar_hears(&lie, self, party);
    lie.question.round = 7;
    CHECK_OK(tacit_question_encode(&lie.question, &bytes, &error), error);
    assert_int_equal(answer(party, &bytes, &reply), TACIT_OK);
    lie.question.round = 6;
    check_refused(&lie, party, "round 7 is over");
    tacit_board_cancel(self->board);
    assert_int_equal(end(self), TACIT_CANCELLED);
    liar_clear(&lie);
    tacit_buffer_clear(&bytes);
    tacit_buffer_clear(&reply);
    bench_close(self);
}

static void test_who_withdraws_takes_no_further_step(void **state) {
    (void)state;
    bench *self = bench_open();
    site *party = &self->sites[3];
    tacit_error error = TACIT_ERROR_INIT;
    liar asked;
    begin(self);
    assert_true(wait_for_question(self, 1));
    all_take_turns(self);
    assert_true(wait_for_question(self, 2));
    CHECK_OK(tacit_ledger_withdraw(party->ledger, "heart@ca", &error), error);
    liar_hears(&asked, self, party);
    check_refused(&asked, party, "withdrawn");
    liar_clear(&asked);
    party->gone = true;
    for (size_t step = 2; step <= STEPS; step++) {
        assert_true(wait_for_question(self, step));
        all_take_turns(self);
    }
    assert_int_equal(end(self), TACIT_OK);
    check_sum(self, 3);
    bench_close(self);
}

/* More than fifty parties mask with some of the others, and a few may vanish. */
static void test_many_parties_on_a_sparse_graph(void **state) {
    (void)state;
    bench *self = bench_of(MANY, 50);
    tacit_graph_shape shape;
    assert_int_equal(tacit_masked_shape(&shape, &self->plan, NULL), TACIT_OK);
    assert_true(shape.degree < MANY - 1);
    begin(self);
    for (size_t step = 0; step < STEPS; step++) {
        assert_true(wait_for_question(self, step + 1));
        self->sites[17].gone = step >= TACIT_SUM_MASK;
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
    } cases[] = { { 2, 2, 2, 2, true }, { 3, 2, 2, 2, true },     { 5, 2, 3, 3, true },
                  { 5, 5, 3, 5, true }, { 20, 12, 12, 12, true }, { 50, 10, 28, 28, true } };
    tacit_graph_shape shape;
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tacit_plan plan = { .parties = cases[i].parties, .minimum_parties = cases[i].minimum };
        CHECK_OK(tacit_masked_shape(&shape, &plan, &error), error);
        assert_int_equal(shape.threshold, cases[i].threshold);
        assert_int_equal(shape.minimum, cases[i].least);
        assert_int_equal(shape.degree, cases[i].parties - 1);
    }
    tacit_plan many = { .parties = 1000, .minimum_parties = 900 };
    CHECK_OK(tacit_masked_shape(&shape, &many, &error), error);
    assert_true(shape.degree < 200 && shape.minimum == 900);
    tacit_plan one = { .parties = 1, .minimum_parties = 1 };
    assert_int_equal(tacit_masked_shape(&shape, &one, &error), TACIT_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_sum_is_right_and_charged_once),
        cmocka_unit_test(test_whoever_vanishes_the_sum_is_that_of_the_others_or_of_all),
        cmocka_unit_test(test_too_few_open_nothing),
        cmocka_unit_test(test_both_sides_go_on_after_a_crash_at_any_step),
        cmocka_unit_test(test_a_party_killed_after_the_charge_sends_the_same_bytes),
        cmocka_unit_test(test_a_lying_coordinator_is_refused_and_logged),
        cmocka_unit_test(test_rounds_only_go_up),
        cmocka_unit_test(test_who_withdraws_takes_no_further_step),
        cmocka_unit_test(test_many_parties_on_a_sparse_graph),
        cmocka_unit_test(test_shapes),
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
