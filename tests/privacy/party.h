/* A party with a ledger in a folder of its own, and releases it might make. */
#pragma once

#include "check.h"

#include <sqlite3.h>

#include "base/file.h"
#include "folder.h"
#include "privacy/gate.h"

#define SOURCE "ward-7"
#define STUDY "heart"

static inline tacit_release sample_release(int number) {
    static const uint8_t payload[] = "noisy weights 0123456789";
    tacit_release release = { .kind = TACIT_RELEASE_CHARGED,
                              .noise = TACIT_NOISE_EXACT,
                              .price = { TACIT_UNIT_RECORD, 0.25, 0 },
                              .coordinator = "uni-hospital",
                              .study = STUDY,
                              .method = "avg",
                              .question = "weights",
                              .round = (uint64_t)number,
                              .rows = 100,
                              .parties_declared = 5,
                              .parties_minimum = 3,
                              .parameters = 31,
                              .payload = payload,
                              .payload_length = sizeof payload };
    memset(release.study_hash, 0x5a, sizeof release.study_hash);
    memset(release.question_hash, 0x11, sizeof release.question_hash);
    memcpy(release.answer_id, &number, sizeof number);
    memcpy(release.question_hash, &number, sizeof number);
    return release;
}

typedef struct party {
    folder place;
    tacit_ledger *ledger;
    tacit_policy policy;
    tacit_gate gate;
    tacit_buffer out;
    tacit_error error;
} party;

static inline void party_open(party *self, tacit_ledger_mode mode) {
    self->error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(tacit_ledger_open(&self->ledger, self->place.file, SOURCE, mode, &self->error), self->error);
    CHECK_OK(tacit_gate_init(&self->gate, self->ledger, &self->policy, TACIT_GATE_REAL, &self->error),
             self->error);
}

static inline party party_new(void) {
    return (party){ .place = folder_make(), .policy = tacit_policy_default() };
}

/* Limited to epsilon 10, without delta, per record, with consent to STUDY. The gate points into *self. */
static inline void party_ready(party *self) {
    *self = party_new();
    party_open(self, TACIT_LEDGER_CREATE);
    const tacit_price limit = { TACIT_UNIT_RECORD, 10, 0 };
    tacit_release release = sample_release(0);
    CHECK_OK(tacit_ledger_set_limit(self->ledger, NULL, &limit, &self->error), self->error);
    CHECK_OK(tacit_ledger_consent(self->ledger, STUDY, release.study_hash, &self->error), self->error);
}

static inline void party_end(party *self) {
    tacit_ledger_free(self->ledger);
    tacit_buffer_clear(&self->out);
    folder_remove(&self->place);
}

static inline tacit_status party_release(party *self, const tacit_release *release) {
    self->error = (tacit_error)TACIT_ERROR_INIT;
    return tacit_gate_release(&self->gate, release, &self->out, &self->error);
}

/* A ledger as an earlier format wrote it; see the file for what is in it. */
static inline void make_ledger_of(const char *variable, const char *database) {
    tacit_buffer sql = TACIT_BUFFER_INIT;
    sqlite3 *connection = NULL;
    char *message = NULL;
    assert_int_equal(tacit_file_read(getenv(variable), &sql, NULL), TACIT_OK);
    assert_int_equal(sqlite3_open(database, &connection), SQLITE_OK);
    if (sqlite3_exec(connection, tacit_buffer_text(&sql), NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s", message);
    sqlite3_close(connection);
    tacit_buffer_clear(&sql);
}

static inline void make_old_ledger(const char *database) {
    make_ledger_of("TACIT_LEDGER_FORMAT_1", database);
}

static inline double party_spent(party *self, const char *study, tacit_unit unit) {
    tacit_account account;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_ledger_account(&account, self->ledger, study, unit, &error), error);
    return account.spent_epsilon;
}

/* How many entries of a kind the log of SOURCE holds, and the reason of the last refusal. */
typedef struct log_summary {
    int kinds[TACIT_ENTRY_KINDS];
    char reason[TACIT_ERROR_TEXT_SIZE];
    tacit_noise noise; /* of the last charge */
} log_summary;

static inline tacit_status summarise(void *context, const tacit_entry *entry, tacit_error *error) {
    log_summary *summary = context;
    (void)error;
    summary->kinds[entry->kind]++;
    if (entry->kind == TACIT_ENTRY_REFUSAL)
        snprintf(summary->reason, sizeof summary->reason, "%s", entry->reason);
    if (entry->kind == TACIT_ENTRY_CHARGE) summary->noise = entry->about.noise;
    return TACIT_OK;
}

static inline log_summary party_log(party *self) {
    log_summary summary = { .reason = "" };
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_ledger_list(self->ledger, 0, summarise, &summary, &error), error);
    return summary;
}

/* The release must be refused with a sentence that holds `sentence`, charge nothing, let nothing out, and be
 * logged with that sentence. */
static inline void party_refuses(party *self, const tacit_release *release, tacit_status status,
                                 const char *sentence) {
    size_t length = self->out.length;
    double spent = party_spent(self, NULL, TACIT_UNIT_RECORD);
    int refusals = party_log(self).kinds[TACIT_ENTRY_REFUSAL];
    assert_int_equal(party_release(self, release), status);
    if (strstr(self->error.text, sentence) == NULL)
        fail_msg("'%s' does not say '%s'", self->error.text, sentence);
    assert_int_equal(self->out.length, length);
    CHECK_NEAR(party_spent(self, NULL, TACIT_UNIT_RECORD), spent, 0);
    log_summary after = party_log(self);
    assert_int_equal(after.kinds[TACIT_ENTRY_REFUSAL], refusals + 1);
    assert_string_equal(after.reason, self->error.text);
}

static inline void party_verifies(party *self, uint64_t entries) {
    tacit_verdict verdict;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_ledger_verify(&verdict, self->ledger, &error), error);
    assert_int_equal(verdict.broken, 0);
    if (entries > 0) assert_int_equal(verdict.entries, entries);
}
