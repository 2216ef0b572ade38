/*
 * What a coordinator kept of a study, read again after a crash. The first byte says what the rest is: the
 * journal's record of 's' a sum, 'a' answers or 'o' opened numbers, behind the right question's hash; 'c' a
 * checkpoint; the board's record of 'm' the first step of a masked sum, 'n' of an encrypted one, 'w' the
 * words of neighbours and 'd' their cards. And of a party: 'l' the noise that it drew once, 'k' the roster
 * and 'p' the cards that it was shown.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/graph/round_schedule.h"
#include "outside.h"
#include "rand/entropy.h"
#include "session/board/board.h"
#include "session/party.h"
#include "study/study.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { PARTIES = 3, LENGTH = 2 };

static tacit_study *summing, *encrypting, *talking;

static tacit_study *make_study(const char *rest) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_study *study = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    outside_must(tacit_buffer_print(&text, NULL,
                                    "name: study\ntitle: Study\nlambda: 0.05\nparties: {expected: 3}\n"
                                    "minimum_rows: 5\n%sschema: |\n  label: {name: y, classes: [n, p]}\n"
                                    "  columns:\n    - {name: a, kind: number, low: 0, high: 1}\n",
                                    rest));
    if (tacit_study_parse(&study, tacit_buffer_text(&text), text.length, "study", &error) != TACIT_OK)
        abort();
    tacit_buffer_clear(&text);
    return study;
}

static void begin(void) {
    if (sodium_init() < 0) abort();
    summing = make_study("method: avg\nset: {noise: party}\nepsilon: 2\n");
    encrypting = make_study("method: avg\nset: {noise: party}\nepsilon: 2\nsum: paillier\n");
    talking = make_study("method: gossip\n");
}

/* ---- the journal ---- */

typedef struct kept {
    uint8_t hash[TACIT_HASH_BYTES]; /* of the question, as the first run wrote it */
    const uint8_t *bytes;           /* NULL: nothing is there yet */
    size_t length;
} kept;

static tacit_status read_record(void *context, uint64_t round, bool *found, tacit_buffer *out,
                                tacit_error *error) {
    const kept *self = context;
    (void)round;
    *found = self->bytes != NULL;
    if (!*found) return TACIT_OK;
    TACIT_TRY(tacit_buffer_append(out, self->hash, sizeof self->hash, error));
    return tacit_buffer_append(out, self->bytes, self->length, error);
}

static tacit_status write_record(void *context, uint64_t round, const uint8_t *bytes, size_t length,
                                 tacit_error *error) {
    kept *self = context;
    (void)round, (void)error;
    if (length < sizeof self->hash) abort();
    memcpy(self->hash, bytes, sizeof self->hash);
    return TACIT_OK;
}

static tacit_status read_checkpoint(void *context, bool *found, uint64_t *round, tacit_buffer *out,
                                    tacit_error *error) {
    const kept *self = context;
    *found = true;
    *round = 1;
    return tacit_buffer_append(out, self->bytes, self->length, error);
}

static tacit_status answer(void *context, const tacit_question *question, tacit_answers *out,
                           tacit_error *error) {
    (void)context, (void)question;
    out->answer = TACIT_NEW(tacit_answer, PARTIES);
    if (out->answer == NULL) return tacit_fail_memory(error);
    out->count = PARTIES;
    for (size_t i = 0; i < PARTIES; i++) strcpy(out->answer[i].study, "study");
    return TACIT_OK;
}

static tacit_status add_up(void *context, const tacit_question *question, uint64_t *total, size_t *parties,
                           tacit_error *error) {
    (void)context, (void)error;
    memset(total, 0, question->sum.length * sizeof *total);
    *parties = PARTIES;
    return TACIT_OK;
}

static tacit_status ask(tacit_session *session, int what, tacit_error *error) {
    const tacit_sum_spec spec = { LENGTH, 1, 20 };
    tacit_sum sum = { NULL, 0, 0 };
    tacit_answers answers = TACIT_ANSWERS_INIT;
    tacit_message state = TACIT_MESSAGE_INIT;
    int64_t opened[LENGTH] = { 0 };
    bool found = false;
    tacit_status status;
    if (what == 's') {
        status = tacit_ask_sum(session, "question", NULL, &spec, &sum, error);
        free(sum.values);
    } else if (what == 'a') {
        status = tacit_ask(session, "question", NULL, &answers, error);
        tacit_answers_clear(&answers);
    } else if (what == 'o') {
        status = tacit_session_opened(session, &found, opened, LENGTH, error);
        if (status == TACIT_OK && !found) status = tacit_session_keep_opened(session, opened, LENGTH, error);
    } else {
        status = tacit_resume(session, &found, &state, error);
        tacit_message_clear(&state);
    }
    return status;
}

static void try_journal(int what, const uint8_t *bytes, size_t length) {
    kept record = { .bytes = NULL };
    tacit_journal journal = {
        .read = read_record, .write = write_record, .read_checkpoint = read_checkpoint, .context = &record
    };
    for (int run = 0; run < 2; run++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_session session = { .plan = &summing->plan,
                                  .transport = { .ask = answer, .ask_sum = add_up },
                                  .journal = &journal };
        if (run == 1 || what == 'c') {
            record.bytes = bytes;
            record.length = length;
        }
        tacit_status status = ask(&session, what, &error);
        outside_explained(status, &error);
        if (run == 0 && what != 'c') outside_must(status);
    }
}

/* ---- the board ---- */

static tacit_status read_step(void *context, uint64_t round, unsigned step, bool *found, tacit_buffer *out,
                              tacit_error *error) {
    const kept *self = context;
    (void)round;
    *found = (self->hash[0] == 'w') == (step == TACIT_BOARD_WORDS) &&
             (step == TACIT_SUM_ADVERTISE || step >= TACIT_BOARD_CARDS);
    return *found ? tacit_buffer_append(out, self->bytes, self->length, error) : TACIT_OK;
}

static tacit_status write_step(void *context, uint64_t round, unsigned step, const uint8_t *bytes,
                               size_t length, tacit_error *error) {
    (void)context, (void)round, (void)step, (void)bytes, (void)length, (void)error;
    return TACIT_OK;
}

/* Nobody comes: whatever is not in the record is not waited for. */
static void try_board(int what, const tacit_study *study, const uint8_t *bytes, size_t length) {
    kept record = { .hash = { (uint8_t)what }, .bytes = bytes, .length = length };
    const tacit_board_steps steps = { read_step, write_step, NULL, &record };
    tacit_board_settings settings = { .study = "study",
                                      .minimum_parties = 2,
                                      .patience_ms = 1,
                                      .secret = tacit_stream_from_seed(1),
                                      .masked = &study->plan,
                                      .steps = &steps };
    tacit_question question = { .study = "study", .method = "avg", .name = "question", .wants_sum = true };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_board *board = NULL;
    tacit_round_schedule *schedule = NULL;
    uint64_t total[LENGTH];
    size_t parties = 0;
    question.sum = (tacit_sum_spec){ LENGTH, 1, 20 };
    outside_must(tacit_board_create(&board, &settings, NULL));
    for (uint8_t i = 0; i < PARTIES; i++) {
        const char name[2] = { (char)('a' + i), 0 };
        const uint8_t key[TACIT_SIGNING_KEY_BYTES] = { i };
        outside_must(tacit_board_admit(board, name, NULL));
        outside_must(tacit_board_enlist(board, name, key, NULL));
    }
    tacit_board_cancel(board);
    tacit_transport transport = tacit_board_transport(board);
    if (study == talking) {
        question.wants_sum = false;
        question.round = study->plan.method->first_scheduled_round;
        outside_must(study->plan.method->schedule(&schedule, &study->plan, NULL));
        outside_explained(
            transport.exchange(transport.context, &question, &schedule->mixing, &parties, &error), &error);
        tacit_round_schedule_free(schedule);
    } else {
        outside_explained(transport.ask_sum(transport.context, &question, total, &parties, &error), &error);
    }
    tacit_board_free(board);
}

/* ---- a party ---- */

typedef struct shelf {
    const char *name; /* of what is on it; anything else is not there */
    const uint8_t *bytes;
    size_t length;
    const tacit_buffer *roster; /* NULL: not yet */
} shelf;

static tacit_status read_shelf(void *context, const char *name, bool *found, tacit_buffer *out,
                               tacit_error *error) {
    const shelf *self = context;
    bool roster = strcmp(name, "roster") == 0 && self->roster != NULL;
    *found = roster || strcmp(name, self->name) == 0;
    if (roster) return tacit_buffer_append(out, self->roster->bytes, self->roster->length, error);
    return *found ? tacit_buffer_append(out, self->bytes, self->length, error) : TACIT_OK;
}

static tacit_status write_shelf(void *context, const char *name, const uint8_t *bytes, size_t length,
                                tacit_error *error) {
    (void)context, (void)name, (void)bytes, (void)length, (void)error;
    return TACIT_OK;
}

static void try_noise(const uint8_t *bytes, size_t length) {
    shelf on = { "lasting-noise", bytes, length, NULL };
    const tacit_keep keep = { read_shelf, write_shelf, &on };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_entropy *entropy = NULL;
    double noise[LENGTH];
    outside_must(tacit_entropy_create(&entropy, NULL));
    tacit_party party = { .keep = &keep, .noise = { .entropy = entropy } };
    outside_explained(tacit_party_persistent_noise(&party, 1, LENGTH, 20, noise, &error), &error);
    tacit_entropy_free(entropy);
}

/* The roster itself, or cards behind a right one. */
static void try_shown(int what, const uint8_t *bytes, size_t length) {
    uint8_t keys[PARTIES][crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES];
    tacit_buffer roster = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_masks *masks = NULL;
    tacit_mail *mail = NULL;
    for (uint8_t i = PARTIES; i-- > 0;) {
        const uint8_t seed[crypto_sign_SEEDBYTES] = { i };
        crypto_sign_seed_keypair(keys[i], secret, seed);
    }
    outside_must(tacit_buffer_append(&roster, keys, sizeof keys, NULL));
    shelf on = { what == 'k' ? "roster" : "mail.cards", bytes, length, what == 'k' ? NULL : &roster };
    const tacit_masks_store store = { read_shelf, write_shelf, &on };
    tacit_status status = tacit_masks_create(&masks, &talking->plan, secret, &store, &error);
    outside_explained(status, &error);
    if (status == TACIT_OK && what == 'p') {
        const tacit_mail_settings settings = {
            .plan = &talking->plan, .masks = masks, .study_hash = talking->hash, .name = "a"
        };
        outside_explained(tacit_mail_create(&mail, &settings, &error), &error);
    }
    tacit_mail_free(mail);
    tacit_masks_free(masks);
    tacit_buffer_clear(&roster);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    if (summing == NULL) begin();
    if (length == 0) return 0;
    switch (bytes[0]) {
    case 'm': try_board('m', summing, bytes + 1, length - 1); break;
    case 'n': try_board('n', encrypting, bytes + 1, length - 1); break;
    case 'w':
    case 'd': try_board(bytes[0], talking, bytes + 1, length - 1); break;
    case 'l': try_noise(bytes + 1, length - 1); break;
    case 'k':
    case 'p': try_shown(bytes[0], bytes + 1, length - 1); break;
    default: try_journal(memchr("sao", bytes[0], 3) != NULL ? bytes[0] : 'c', bytes + 1, length - 1); break;
    }
    return 0;
}
