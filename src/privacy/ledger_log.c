/* Appending to the log, and the state that follows from it. */
#include "privacy/ledger_log.h"

#include <string.h>

#include "privacy/ledger_class.h"

/* The end of the log, as the head says and as the last entry says; they must agree. */
static tacit_status read_end(uint64_t *entries, uint8_t hash[TACIT_HASH_BYTES], tacit_store *store,
                             tacit_error *error) {
    tacit_statement *query = NULL;
    bool row = false;
    uint8_t last[TACIT_HASH_BYTES] = { 0 };
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(&query, store, "SELECT entries, hash FROM head", error));
    TACIT_CHECK(tacit_statement_step(&row, query, error));
    if (row) {
        *entries = (uint64_t)tacit_column_integer(query, 0);
        TACIT_CHECK(tacit_column_bytes(hash, TACIT_HASH_BYTES, query, 1, error));
    }
    query = tacit_statement_free(query);
    bool sound = row;
    TACIT_CHECK(tacit_statement_prepare(&query, store,
                                        "SELECT entry, hash FROM log ORDER BY entry DESC LIMIT 1", error));
    TACIT_CHECK(tacit_statement_step(&row, query, error));
    uint64_t number = row ? (uint64_t)tacit_column_integer(query, 0) : 0;
    if (row) TACIT_CHECK(tacit_column_bytes(last, sizeof last, query, 1, error));
    sound = sound && number == *entries && memcmp(last, hash, sizeof last) == 0;
    if (!sound)
        status = tacit_fail(error, TACIT_CORRUPT,
                            "%s: the log does not end where it should: verify the ledger and restore it from "
                            "a backup",
                            tacit_store_path(store));
cleanup:
    tacit_statement_free(query);
    return status;
}

static tacit_status write_entry(tacit_store *store, const tacit_entry *entry, const tacit_buffer *body,
                                tacit_error *error) {
    tacit_statement *insert = NULL, *update = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(&insert, store,
                                        "INSERT INTO log (entry, body, hash) VALUES (?1, ?2, ?3)", error));
    tacit_bind_integer(insert, 1, (int64_t)entry->number);
    tacit_bind_blob(insert, 2, body->bytes, body->length);
    tacit_bind_blob(insert, 3, entry->hash, sizeof entry->hash);
    TACIT_CHECK(tacit_statement_run(insert, error));
    TACIT_CHECK(tacit_statement_prepare(&update, store, "UPDATE head SET entries = ?1, hash = ?2", error));
    tacit_bind_integer(update, 1, (int64_t)entry->number);
    tacit_bind_blob(update, 2, entry->hash, sizeof entry->hash);
    TACIT_CHECK(tacit_statement_run(update, error));
cleanup:
    tacit_statement_free(insert);
    tacit_statement_free(update);
    return status;
}

tacit_status tacit_log_append(tacit_store *store, tacit_entry *entry, tacit_error *error) {
    tacit_buffer body = TACIT_BUFFER_LIMITED(TACIT_ENTRY_BODY_MOST);
    uint64_t entries = 0;
    uint8_t previous[TACIT_HASH_BYTES] = { 0 };
    tacit_status status;
    TACIT_CHECK(read_end(&entries, previous, store, error));
    TACIT_CHECK(tacit_entry_encode(&body, entry, error));
    entry->number = entries + 1;
    tacit_entry_hash(entry->hash, previous, body.bytes, body.length);
    TACIT_CHECK(write_entry(store, entry, &body, error));
    TACIT_CHECK(tacit_log_apply(store, entry, error));
cleanup:
    tacit_buffer_clear(&body);
    return status;
}

/* Two amounts from `table` ("spending" or "limits"), and whether there is such a row. */
static tacit_status read_amounts(bool *found, double *epsilon, double *delta, tacit_store *store,
                                 const char *sql, const char *source, const char *study, tacit_unit unit,
                                 tacit_error *error) {
    tacit_statement *query = NULL;
    TACIT_TRY(tacit_statement_prepare(&query, store, sql, error));
    bool row = false;
    tacit_bind_text(query, 1, source);
    tacit_bind_text(query, 2, study);
    tacit_bind_integer(query, 3, unit);
    tacit_status status = tacit_statement_step(&row, query, error);
    if (status == TACIT_OK && row) {
        *epsilon = tacit_column_double(query, 0);
        *delta = tacit_column_double(query, 1);
    }
    if (status == TACIT_OK) *found = row;
    tacit_statement_free(query);
    return status;
}

static tacit_status write_amounts(tacit_store *store, const char *sql, const char *source, const char *study,
                                  tacit_unit unit, double epsilon, double delta, tacit_error *error) {
    tacit_statement *insert = NULL;
    TACIT_TRY(tacit_statement_prepare(&insert, store, sql, error));
    tacit_bind_text(insert, 1, source);
    tacit_bind_text(insert, 2, study);
    tacit_bind_integer(insert, 3, unit);
    tacit_bind_double(insert, 4, epsilon);
    tacit_bind_double(insert, 5, delta);
    tacit_status status = tacit_statement_run(insert, error);
    tacit_statement_free(insert);
    return status;
}

tacit_status tacit_log_account(tacit_account *out, tacit_store *store, const char *source, const char *study,
                               tacit_unit unit, tacit_error *error) {
    tacit_account account = { .limited = false };
    bool spent = false;
    TACIT_TRY(
        read_amounts(&spent, &account.spent_epsilon, &account.spent_delta, store,
                     "SELECT epsilon, delta FROM spending WHERE source = ?1 AND study = ?2 AND unit = ?3",
                     source, study, unit, error));
    TACIT_TRY(read_amounts(&account.limited, &account.limit_epsilon, &account.limit_delta, store,
                           "SELECT epsilon, delta FROM limits WHERE source = ?1 AND study = ?2 AND unit = ?3",
                           source, study, unit, error));
    *out = account;
    return TACIT_OK;
}

static tacit_status apply_charge(tacit_store *store, const tacit_entry *entry, tacit_error *error) {
    const tacit_price *price = &entry->about.price;
    const char *const studies[] = { "", entry->about.study };
    for (int unit = 0; unit < TACIT_UNITS; unit++) {
        if (!tacit_unit_counts(price->unit, unit)) continue;
        for (size_t i = 0; i < 2; i++) {
            tacit_account account;
            TACIT_TRY(tacit_log_account(&account, store, entry->source, studies[i], unit, error));
            tacit_account_add(&account, price);
            TACIT_TRY(write_amounts(store,
                                    "INSERT OR REPLACE INTO spending (source, study, unit, epsilon, delta) "
                                    "VALUES (?1, ?2, ?3, ?4, ?5)",
                                    entry->source, studies[i], unit, account.spent_epsilon,
                                    account.spent_delta, error));
        }
    }
    return TACIT_OK;
}

static tacit_status apply_consent(tacit_store *store, const tacit_entry *entry, tacit_error *error) {
    tacit_statement *insert = NULL;
    TACIT_TRY(tacit_statement_prepare(
        &insert, store,
        "INSERT OR REPLACE INTO consent (source, study, given, study_hash) VALUES (?1, ?2, ?3, ?4)", error));
    tacit_bind_text(insert, 1, entry->source);
    tacit_bind_text(insert, 2, entry->about.study);
    tacit_bind_integer(insert, 3, entry->kind == TACIT_ENTRY_CONSENT);
    tacit_bind_blob(insert, 4, entry->about.study_hash, sizeof entry->about.study_hash);
    tacit_status status = tacit_statement_run(insert, error);
    tacit_statement_free(insert);
    return status;
}

tacit_status tacit_log_apply(tacit_store *store, const tacit_entry *entry, tacit_error *error) {
    const tacit_price *price = &entry->about.price;
    switch (entry->kind) {
    case TACIT_ENTRY_CHARGE: return apply_charge(store, entry, error);
    case TACIT_ENTRY_LIMIT:
        return write_amounts(store,
                             "INSERT OR REPLACE INTO limits (source, study, unit, epsilon, delta) "
                             "VALUES (?1, ?2, ?3, ?4, ?5)",
                             entry->source, entry->about.study, price->unit, price->epsilon, price->delta,
                             error);
    case TACIT_ENTRY_CONSENT:
    case TACIT_ENTRY_WITHDRAWAL: return apply_consent(store, entry, error);
    case TACIT_ENTRY_REFUSAL: return TACIT_OK;
    }
    return tacit_fail(error, TACIT_INTERNAL, "%d is not a kind of entry", (int)entry->kind);
}
