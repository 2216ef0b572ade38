/* The durable ledger, the asker's side: charging, refusing, sending again. */
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "privacy/ledger/ledger_file_parts.h"

static tacit_status check_consent(tacit_ledger_file *self, const tacit_release *release, tacit_error *error) {
    tacit_consent consent = TACIT_CONSENT_NONE;
    uint8_t study_hash[TACIT_HASH_BYTES] = { 0 };
    TACIT_TRY(tacit_ledger_file_consent(&consent, study_hash, self, release->study, error));
    if (consent == TACIT_CONSENT_NONE)
        return tacit_fail(error, TACIT_REFUSED,
                          "the owner of %s has not consented to study %s: read what it asks, then consent",
                          self->source, release->study);
    if (consent == TACIT_CONSENT_WITHDRAWN)
        return tacit_fail(error, TACIT_REFUSED,
                          "the owner of %s has withdrawn from study %s: to take part again, consent again",
                          self->source, release->study);
    if (memcmp(study_hash, release->study_hash, sizeof study_hash) != 0)
        return tacit_fail(error, TACIT_REFUSED,
                          "study %s has changed since the owner of %s consented to it: read it again, then "
                          "consent to the new definition",
                          release->study, self->source);
    return TACIT_OK;
}

/* The statement stands on the stored answer when *found. */
static tacit_status find_answer(bool *found, bool *same_question, tacit_statement **query,
                                tacit_ledger_file *self, const uint8_t *answer_id,
                                const uint8_t *question_hash, tacit_error *error) {
    uint8_t stored_hash[TACIT_HASH_BYTES];
    TACIT_TRY(tacit_statement_prepare(
        query, self->store, "SELECT question_hash, payload, entry FROM answer WHERE source = ?1 AND id = ?2",
        error));
    tacit_bind_text(*query, 1, self->source);
    tacit_bind_blob(*query, 2, answer_id, TACIT_ANSWER_ID_BYTES);
    TACIT_TRY(tacit_statement_step(found, *query, error));
    if (!*found) return TACIT_OK;
    TACIT_TRY(tacit_column_bytes(stored_hash, sizeof stored_hash, *query, 0, error));
    *same_question = memcmp(stored_hash, question_hash, sizeof stored_hash) == 0;
    return TACIT_OK;
}

/* The stored bytes must be those that were charged for: others were never paid for. */
static tacit_status check_payload(tacit_ledger_file *self, int64_t number, const uint8_t *payload,
                                  size_t length, tacit_error *error) {
    tacit_statement *query = NULL;
    tacit_entry entry = { .number = 0 };
    const uint8_t *body = NULL;
    size_t body_length = 0;
    uint8_t hash[TACIT_HASH_BYTES];
    bool row = false;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(&query, self->store, "SELECT body FROM log WHERE entry = ?1", error));
    tacit_bind_integer(query, 1, number);
    TACIT_CHECK(tacit_statement_step(&row, query, error));
    if (row) TACIT_CHECK(tacit_column_blob(&body, &body_length, query, 0, TACIT_ENTRY_BODY_MOST, error));
    crypto_generichash(hash, sizeof hash, payload, length, NULL, 0);
    if (!row || tacit_entry_decode(&entry, body, body_length, NULL) != TACIT_OK ||
        entry.kind != TACIT_ENTRY_CHARGE || memcmp(hash, entry.payload_hash, sizeof hash) != 0)
        status = tacit_fail(error, TACIT_CORRUPT,
                            "%s: the stored answer of entry %lld is not the one released: verify the ledger "
                            "and restore it from a backup",
                            tacit_store_path(self->store), (long long)number);
cleanup:
    tacit_statement_free(query);
    return status;
}

static tacit_status send_again(bool *stored, tacit_ledger_file *self, const tacit_release *release,
                               tacit_buffer *out, tacit_error *error) {
    tacit_statement *query = NULL;
    bool found = false, same = false;
    const uint8_t *payload = NULL;
    size_t length = 0;
    tacit_status status;
    TACIT_CHECK(find_answer(&found, &same, &query, self, release->answer_id, release->question_hash, error));
    if (found && !same) {
        status = tacit_fail(error, TACIT_REFUSED,
                            "question %s, round %llu, comes under an answer id that was used for another "
                            "question: the coordinator must give each question its own id",
                            release->question, (unsigned long long)release->round);
        goto cleanup;
    }
    if (found) TACIT_CHECK(tacit_column_blob(&payload, &length, query, 1, TACIT_PAYLOAD_MOST, error));
    if (found) TACIT_CHECK(check_payload(self, tacit_column_integer(query, 2), payload, length, error));
    if (found) TACIT_CHECK(tacit_buffer_append(out, payload, length, error));
    *stored = found;
cleanup:
    tacit_statement_free(query);
    return status;
}

/* What is spent of an account now, and what would be. An answer that is held for its study changes nothing in
 * total. */
static tacit_status look_ahead(tacit_spending *then, tacit_account *account, tacit_ledger_file *self,
                               const tacit_asked *asked, const char *study, tacit_unit unit, bool held,
                               tacit_error *error) {
    tacit_spending before;
    if (account->spent_epsilon < 0) {
        TACIT_TRY(tacit_ledger_file_compose(&before, self, account, study, unit, NULL, error));
        account->spent_epsilon = before.epsilon;
        account->by = before.by;
    }
    if (!held || study[0] != 0)
        return tacit_ledger_file_compose(then, self, account, study, unit, asked, error);
    *then = (tacit_spending){ account->spent_epsilon, account->limit_delta, account->by };
    return TACIT_OK;
}

/* One limit, if it is set: *limited says so, and *after receives what would be spent of it. */
static tacit_status check_limit(bool *limited, tacit_balance *after, tacit_ledger_file *self,
                                const tacit_asked *asked, const char *study, tacit_unit unit, bool held,
                                tacit_error *error) {
    const tacit_release *release = asked->release;
    tacit_account account;
    tacit_spending then;
    char whose[2 * TACIT_NAME_MOST + 32];
    TACIT_TRY(tacit_log_account(&account, self->store, self->source, study, unit, error));
    *limited = account.limited;
    if (!account.limited) return TACIT_OK;
    if (isinf(
            release->price
                .epsilon)) { /* exact sums: the gate has asked the owner's rule, and nothing is left after */
        *after = (tacit_balance){ true, INFINITY, account.limit_delta, account.by };
        return TACIT_OK;
    }
    TACIT_TRY(look_ahead(&then, &account, self, asked, study, unit, held, error));
    snprintf(whose, sizeof whose, study[0] != 0 ? "of %s for study %s" : "of %s", self->source, study);
    TACIT_TRY(tacit_account_check(&account, &release->price, &then, unit, whose, error));
    *after = (tacit_balance){ true, then.epsilon, then.delta, then.by };
    return TACIT_OK;
}

static tacit_status is_held(bool *out, tacit_ledger_file *self, const tacit_asked *asked,
                            tacit_error *error) {
    const tacit_release *release = asked->release;
    tacit_event event = tacit_release_event(release);
    tacit_block block;
    bool found = false;
    *out = false;
    if (asked->whole || event.count == 0) return TACIT_OK;
    TACIT_TRY(tacit_log_block(&found, &block, self->store, self->source, release->study, release->study_hash,
                              error));
    *out = found && tacit_block_covers(&block, &event, &release->price);
    return TACIT_OK;
}

tacit_status tacit_ledger_file_check(tacit_balance after[2][TACIT_UNITS], tacit_ledger_file *self,
                                     const tacit_asked *asked, tacit_error *error) {
    const tacit_price *price = &asked->release->price;
    bool bounded = false, of_total = false, of_study = false, held = false;
    TACIT_TRY(is_held(&held, self, asked, error));
    for (int unit = 0; unit < TACIT_UNITS; unit++) {
        if (!tacit_unit_counts(price->unit, unit)) continue;
        TACIT_TRY(check_limit(&of_total, &after[0][unit], self, asked, "", unit, held, error));
        if (!asked->in_total)
            TACIT_TRY(check_limit(&of_study, &after[1][unit], self, asked, asked->release->study, unit, held,
                                  error));
        bounded = bounded || of_total;
    }
    /* No limit bounds exact sums; they are charged all the same, so that nothing that promises differential
     * privacy leaves after them. */
    if (bounded || isinf(price->epsilon)) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "no privacy limit per %s is set for %s: nothing leaves until the owner sets one",
                      tacit_unit_name(price->unit), self->source);
}

tacit_status tacit_ledger_fits(tacit_ledger *ledger, const char *study, const tacit_price *price,
                               const tacit_event *event, tacit_error *error) {
    tacit_ledger_file *self = NULL;
    tacit_balance after[2][TACIT_UNITS];
    tacit_release release = { .price = *price, .study = study };
    TACIT_TRY(tacit_ledger_file_of(&self, ledger, "asking whether a charge fits", error));
    TACIT_TRY(tacit_name_check("the study's name", study, TACIT_NAME_MOST, error));
    TACIT_TRY(tacit_price_check(price, error));
    if (event != NULL) release.event = *event;
    TACIT_TRY(tacit_store_begin_reading(self->store, error));
    tacit_status status = tacit_log_check(self->store, error);
    if (status == TACIT_OK)
        status = tacit_ledger_file_check(after, self, &(tacit_asked){ &release, true, false }, error);
    tacit_store_rollback(self->store);
    return status;
}

static tacit_status keep_answer(tacit_ledger_file *self, const tacit_release *release, uint64_t entry,
                                tacit_error *error) {
    tacit_statement *insert = NULL;
    TACIT_TRY(tacit_statement_prepare(&insert, self->store,
                                      "INSERT INTO answer (entry, source, id, question_hash, payload) "
                                      "VALUES (?1, ?2, ?3, ?4, ?5)",
                                      error));
    tacit_bind_integer(insert, 1, (int64_t)entry);
    tacit_bind_text(insert, 2, self->source);
    tacit_bind_blob(insert, 3, release->answer_id, sizeof release->answer_id);
    tacit_bind_blob(insert, 4, release->question_hash, sizeof release->question_hash);
    tacit_bind_blob(insert, 5, release->payload, release->payload_length);
    tacit_status status = tacit_statement_run(insert, error);
    tacit_statement_free(insert);
    return status;
}

/* Within a transaction: everything up to the commit. */
static tacit_status settle(bool *stored, tacit_ledger_file *self, const tacit_release *release,
                           tacit_buffer *out, tacit_error *error) {
    TACIT_TRY(tacit_log_check(self->store, error));
    TACIT_TRY(check_consent(self, release, error));
    TACIT_TRY(send_again(stored, self, release, out, error));
    if (*stored) return TACIT_OK;
    if (release->payload_length == 0)
        return tacit_fail(error, TACIT_INPUT, "no answer to question %s is stored: hand over the bytes",
                          release->question);
    tacit_entry entry = tacit_entry_make(TACIT_ENTRY_CHARGE, self->source, release, NULL);
    TACIT_TRY(tacit_ledger_file_check(entry.after, self, &(tacit_asked){ release, false, false }, error));
    TACIT_TRY(tacit_log_append(self->store, &entry, error));
    TACIT_TRY(keep_answer(self, release, entry.number, error));
    return tacit_ledger_file_keep(self, release, error);
}

tacit_status tacit_ledger_file_charge(bool *stored, tacit_ledger *ledger, const tacit_release *release,
                                      tacit_buffer *out, tacit_error *error) {
    tacit_ledger_file *self = (tacit_ledger_file *)ledger;
    bool again = false;
    /* The write lock from the start: what is read about the budget stays true until it is charged. */
    TACIT_TRY(tacit_store_begin(self->store, error));
    tacit_status status = settle(&again, self, release, out, error);
    if (status == TACIT_OK && !again) status = tacit_store_commit(self->store, error);
    tacit_store_rollback(self->store); /* nothing to take back after a commit */
    if (status == TACIT_OK) *stored = again;
    return status;
}

enum { LOGGED_MOST = TACIT_REASON_MOST };

/* A text as the log may show it: what is refused may be refused because of its name. */
static const char *loggable(char out[LOGGED_MOST + 1], const char *text) {
    if (text == NULL) return "";
    if (tacit_name_check("", text, LOGGED_MOST, NULL) == TACIT_OK) return text;
    size_t length = 0;
    for (; length < LOGGED_MOST && text[length] != 0; length++)
        out[length] = text[length] >= ' ' && text[length] <= '~' ? text[length] : '?';
    out[length] = 0;
    return out;
}

/* ---- a bounded number of refusals ----
 *
 * Whoever asks can make a party refuse as often as it likes, and a refusal must not fill the party's disk. So
 * at most REFUSALS_MOST of the last LOOK_BACK entries are refusals of one hour; what is refused beyond that
 * is refused all the same, counted, and told by the next refusal that is logged. The chain has no gap:
 * nothing is left out of it that was once in it. */
enum { REFUSALS_MOST = 32, LOOK_BACK = 256, HOUR_S = 3600 };

static tacit_status count_refusals(size_t *out, tacit_store *store, int64_t now, tacit_error *error) {
    tacit_statement *query = NULL;
    tacit_status status;
    size_t refusals = 0;
    TACIT_CHECK(
        tacit_statement_prepare(&query, store, "SELECT body FROM log ORDER BY entry DESC LIMIT ?1", error));
    tacit_bind_integer(query, 1, LOOK_BACK);
    for (bool row = true; row;) {
        const uint8_t *body;
        size_t length;
        tacit_entry entry;
        TACIT_CHECK(tacit_statement_step(&row, query, error));
        if (!row) break;
        TACIT_CHECK(tacit_column_blob(&body, &length, query, 0, TACIT_ENTRY_BODY_MOST, error));
        TACIT_CHECK(tacit_entry_decode(&entry, body, length, error));
        refusals += entry.kind == TACIT_ENTRY_REFUSAL && entry.time > now - HOUR_S;
    }
    *out = refusals;
cleanup:
    tacit_statement_free(query);
    return status;
}

/* Within the transaction. *logged is false when there have been enough. */
static tacit_status append_refusal(bool *logged, tacit_ledger_file *self, const tacit_release *about,
                                   const char *reason, tacit_error *error) {
    char more[TACIT_REASON_MOST + 1];
    size_t refusals = 0;
    tacit_entry entry = tacit_entry_make(TACIT_ENTRY_REFUSAL, self->source, about, reason);
    TACIT_TRY(count_refusals(&refusals, self->store, entry.time, error));
    *logged = refusals < REFUSALS_MOST;
    if (!*logged) return TACIT_OK;
    if (self->unlogged > 0) {
        snprintf(more, sizeof more, "%.*s (and %zu more refusals before, not logged)", TACIT_REASON_MOST - 64,
                 reason, self->unlogged);
        entry.reason = more;
    }
    return tacit_log_append(self->store, &entry, error);
}

tacit_status tacit_ledger_file_refuse(tacit_ledger *ledger, const tacit_release *release, const char *reason,
                                      tacit_error *error) {
    tacit_ledger_file *self = (tacit_ledger_file *)ledger;
    char texts[6][LOGGED_MOST + 1];
    tacit_release about = *release;
    about.assumption = loggable(texts[0], release->assumption);
    about.coordinator = loggable(texts[1], release->coordinator);
    about.study = loggable(texts[2], release->study);
    about.method = loggable(texts[3], release->method);
    about.question = loggable(texts[4], release->question);
    reason = loggable(texts[5], reason);
    bool logged = false;
    TACIT_TRY(tacit_store_begin(self->store, error));
    tacit_status status = append_refusal(&logged, self, &about, reason, error);
    if (status == TACIT_OK) self->unlogged = logged ? 0 : self->unlogged + 1;
    if (status == TACIT_OK && logged) status = tacit_store_commit(self->store, error);
    tacit_store_rollback(self->store);
    return status;
}

tacit_status tacit_ledger_file_has_answer(bool *out, tacit_ledger *ledger, const uint8_t *answer_id,
                                          const uint8_t *question_hash, tacit_error *error) {
    tacit_ledger_file *self = (tacit_ledger_file *)ledger;
    tacit_statement *query = NULL;
    bool found = false, same = false;
    tacit_status status = find_answer(&found, &same, &query, self, answer_id, question_hash, error);
    if (status == TACIT_OK) *out = found && same;
    tacit_statement_free(query);
    return status;
}
