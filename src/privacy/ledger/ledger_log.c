/* Appending to the log, and the state that follows from it. */
#include "privacy/ledger/ledger_log_parts.h"

#include <stdio.h>
#include <string.h>

#include "privacy/ledger/ledger_class_parts.h"

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
        status = tacit_fail(
            error, TACIT_CORRUPT,
            "%s: the log does not end where it should: verify the ledger and restore it from a backup",
            tacit_store_path(store));
cleanup:
    tacit_statement_free(query);
    return status;
}

tacit_status tacit_log_check(tacit_store *store, tacit_error *error) {
    uint64_t entries = 0;
    uint8_t hash[TACIT_HASH_BYTES] = { 0 };
    TACIT_TRY(read_end(&entries, hash, store, error));
    return tacit_log_check_seal(store, error);
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
    if (entry->kind != TACIT_ENTRY_REFUSAL) TACIT_CHECK(tacit_log_seal(store, error));
cleanup:
    tacit_buffer_clear(&body);
    return status;
}

/* A query or change about one account: source, study and unit are bound to ?1, ?2 and ?3. */
static tacit_status prepare_for(tacit_statement **out, tacit_store *store, const char *sql,
                                const char *source, const char *study, tacit_unit unit, tacit_error *error) {
    TACIT_TRY(tacit_statement_prepare(out, store, sql, error));
    tacit_bind_text(*out, 1, source);
    tacit_bind_text(*out, 2, study);
    tacit_bind_integer(*out, 3, unit);
    return TACIT_OK;
}

/* The row of an account: epsilon, delta and, if there is a third column, which accountant. */
static tacit_status read_amounts(tacit_balance *out, tacit_store *store, const char *sql, const char *source,
                                 const char *study, tacit_unit unit, tacit_error *error) {
    tacit_statement *query = NULL;
    bool row = false;
    TACIT_TRY(prepare_for(&query, store, sql, source, study, unit, error));
    tacit_status status = tacit_statement_step(&row, query, error);
    if (status == TACIT_OK && row)
        *out = (tacit_balance){ true, tacit_column_double(query, 0), tacit_column_double(query, 1),
                                (tacit_composition)tacit_column_integer(query, 2) };
    tacit_statement_free(query);
    return status;
}

static tacit_status write_amounts(tacit_store *store, const char *sql, const char *source, const char *study,
                                  tacit_unit unit, double epsilon, double delta, tacit_error *error) {
    tacit_statement *insert = NULL;
    TACIT_TRY(prepare_for(&insert, store, sql, source, study, unit, error));
    tacit_bind_double(insert, 4, epsilon);
    tacit_bind_double(insert, 5, delta);
    tacit_status status = tacit_statement_run(insert, error);
    tacit_statement_free(insert);
    return status;
}

tacit_status tacit_log_add_amounts(double *epsilon, double *delta, tacit_statement *query,
                                   tacit_error *error) {
    for (;;) {
        bool row = false;
        TACIT_TRY(tacit_statement_step(&row, query, error));
        if (!row) return TACIT_OK;
        *epsilon = tacit_add_up(*epsilon, tacit_column_double(query, 0));
        *delta = tacit_add_up(*delta, tacit_column_double(query, 1));
    }
}

/* The sum of the prices; in total, of all data sources that share the limit. */
static tacit_status read_sum(tacit_balance *out, tacit_store *store, const char *source, const char *study,
                             tacit_unit unit, tacit_error *error) {
    tacit_statement *query = NULL;
    tacit_status status;
    TACIT_CHECK(
        prepare_for(&query, store,
                    "SELECT epsilon, delta FROM spending WHERE study = ?2 AND unit = ?3 AND (source = ?1 "
                    "OR (?2 = '' AND source IN (SELECT source FROM people WHERE people = ?1))) "
                    "ORDER BY source",
                    source, study, unit, error));
    TACIT_CHECK(tacit_log_add_amounts(&out->epsilon, &out->delta, query, error));
cleanup:
    tacit_statement_free(query);
    return status;
}

/* Whose limit and balance an account is about: in total that of the people, of a study that of the data
 * source. */
static tacit_status owner_of(char out[TACIT_NAME_MOST + 1], tacit_store *store, const char *source,
                             const char *study, tacit_error *error) {
    if (study[0] == 0) return tacit_log_people(out, store, source, error);
    snprintf(out, TACIT_NAME_MOST + 1, "%s", source);
    return TACIT_OK;
}

tacit_status tacit_log_account(tacit_account *out, tacit_store *store, const char *source, const char *study,
                               tacit_unit unit, tacit_error *error) {
    tacit_balance sum = { .known = false }, limit = sum, spent = sum, way = sum;
    char owner[TACIT_NAME_MOST + 1];
    TACIT_TRY(owner_of(owner, store, source, study, error));
    TACIT_TRY(read_sum(&sum, store, owner, study, unit, error));
    TACIT_TRY(read_amounts(
        &limit, store, "SELECT epsilon, delta, 0 FROM limits WHERE source = ?1 AND study = ?2 AND unit = ?3",
        owner, study, unit, error));
    TACIT_TRY(read_amounts(&spent, store,
                           "SELECT epsilon, delta, accountant FROM balance "
                           "WHERE source = ?1 AND study = ?2 AND unit = ?3",
                           owner, study, unit, error));
    TACIT_TRY(read_amounts(
        &way, store, "SELECT middle, 0.0, way FROM counting WHERE source = ?1 AND study = ?2 AND unit = ?3",
        owner, study, unit, error));
    bool fresh = limit.known && spent.known && spent.delta == limit.delta;
    *out = (tacit_account){ .sum_epsilon = sum.epsilon,
                            .sum_delta = sum.delta,
                            .spent_epsilon = fresh ? spent.epsilon : -1,
                            .spent_delta = limit.known ? limit.delta : sum.delta,
                            .by = spent.by,
                            .limited = limit.known,
                            .limit_epsilon = limit.epsilon,
                            .limit_delta = limit.delta,
                            .counting = { (tacit_count)way.by, way.epsilon } };
    return TACIT_OK;
}

/* ---- events ---- */

tacit_status tacit_log_read_event(tacit_event *out, tacit_store *store, tacit_statement *row, int first,
                                  tacit_error *error) {
    tacit_event event = { .kind = (tacit_event_kind)tacit_column_integer(row, first),
                          .parameter = tacit_column_double(row, first + 1),
                          .delta = tacit_column_double(row, first + 2),
                          .sampling = tacit_column_double(row, first + 3),
                          .replaced = tacit_column_integer(row, first + 4) != 0,
                          .count = (uint64_t)tacit_column_integer(row, first + 5) };
    tacit_error why = TACIT_ERROR_INIT;
    tacit_status status = tacit_charge_check(&event, &why);
    if (status != TACIT_OK)
        return tacit_fail(error, status, "%s: %s: verify the ledger and restore it from a backup",
                          tacit_store_path(store), why.text);
    *out = event;
    return TACIT_OK;
}

void tacit_log_bind_event(tacit_statement *statement, int first, const tacit_event *event) {
    tacit_bind_integer(statement, first, event->kind);
    tacit_bind_double(statement, first + 1, event->parameter);
    tacit_bind_double(statement, first + 2, event->delta);
    tacit_bind_double(statement, first + 3, event->sampling);
    tacit_bind_integer(statement, first + 4, event->replaced);
    tacit_bind_integer(statement, first + 5, (int64_t)event->count);
}

tacit_status tacit_log_read_events(tacit_charges *out, tacit_store *store, tacit_statement *query,
                                   tacit_unit unit, tacit_error *error) {
    for (;;) {
        bool row = false;
        tacit_event event;
        TACIT_TRY(tacit_statement_step(&row, query, error));
        if (!row) return TACIT_OK;
        TACIT_TRY(tacit_log_read_event(&event, store, query, 0, error));
        TACIT_TRY(tacit_charges_append(out, &event, unit, error));
    }
}

tacit_status tacit_log_charges(tacit_charges *out, tacit_store *store, const char *source, const char *study,
                               tacit_unit unit, tacit_error *error) {
    tacit_statement *query = NULL;
    TACIT_TRY(prepare_for(&query, store,
                          "SELECT kind, parameter, delta, sampling, replaced, sum(runs) FROM event "
                          "WHERE source = ?1 AND (?2 = '' OR study = ?2) AND unit >= ?3 "
                          "GROUP BY kind, parameter, delta, sampling, replaced",
                          source, study, unit, error));
    tacit_status status = tacit_log_read_events(out, store, query, unit, error);
    tacit_statement_free(query);
    return status;
}

tacit_status tacit_log_apply_event(tacit_store *store, const tacit_entry *entry, tacit_error *error) {
    tacit_event event = tacit_release_event(&entry->about);
    tacit_statement *insert = NULL;
    if (event.count == 0) return TACIT_OK;
    TACIT_TRY(tacit_charge_check(&event, error)); /* a log that was tampered with */
    TACIT_TRY(prepare_for(&insert, store,
                          "INSERT INTO event (source, study, unit, kind, parameter, delta, sampling, "
                          "replaced, runs) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) "
                          "ON CONFLICT DO UPDATE SET runs = runs + excluded.runs",
                          entry->source, entry->about.study, entry->about.price.unit, error));
    tacit_log_bind_event(insert, 4, &event);
    tacit_status status = tacit_statement_run(insert, error);
    tacit_statement_free(insert);
    return status;
}

static tacit_status apply_balance(tacit_store *store, const tacit_entry *entry, const char *study,
                                  tacit_unit unit, const tacit_balance *after, tacit_error *error) {
    tacit_statement *insert = NULL;
    char owner[TACIT_NAME_MOST + 1];
    if (!after->known) return TACIT_OK;
    TACIT_TRY(owner_of(owner, store, entry->source, study, error));
    TACIT_TRY(prepare_for(&insert, store,
                          "INSERT OR REPLACE INTO balance (source, study, unit, epsilon, delta, accountant) "
                          "VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                          owner, study, unit, error));
    tacit_bind_double(insert, 4, after->epsilon);
    tacit_bind_double(insert, 5, after->delta);
    tacit_bind_integer(insert, 6, after->by);
    tacit_status status = tacit_statement_run(insert, error);
    tacit_statement_free(insert);
    return status;
}

static tacit_status apply_balances(tacit_store *store, const tacit_entry *entry, tacit_error *error) {
    for (int unit = 0; unit < TACIT_UNITS; unit++) {
        TACIT_TRY(apply_balance(store, entry, "", unit, &entry->after[0][unit], error));
        TACIT_TRY(apply_balance(store, entry, entry->about.study, unit, &entry->after[1][unit], error));
    }
    return TACIT_OK;
}

/* The sums of one data source itself. */
static tacit_status add_spending(tacit_store *store, const tacit_entry *entry, const char *study,
                                 tacit_unit unit, tacit_error *error) {
    const tacit_price *price = &entry->about.price;
    tacit_balance sum = { .known = false };
    TACIT_TRY(read_amounts(
        &sum, store, "SELECT epsilon, delta, 0 FROM spending WHERE source = ?1 AND study = ?2 AND unit = ?3",
        entry->source, study, unit, error));
    return write_amounts(store,
                         "INSERT OR REPLACE INTO spending (source, study, unit, epsilon, delta) "
                         "VALUES (?1, ?2, ?3, ?4, ?5)",
                         entry->source, study, unit, tacit_add_up(sum.epsilon, price->epsilon),
                         tacit_add_up(sum.delta, price->delta), error);
}

static tacit_status apply_charge(tacit_store *store, const tacit_entry *entry, tacit_error *error) {
    const char *const studies[] = { "", entry->about.study };
    for (int unit = 0; unit < TACIT_UNITS; unit++)
        for (size_t i = 0; i < 2 && tacit_unit_counts(entry->about.price.unit, unit); i++)
            TACIT_TRY(add_spending(store, entry, studies[i], unit, error));
    TACIT_TRY(tacit_log_apply_event(store, entry, error));
    TACIT_TRY(tacit_log_apply_use(store, entry, error));
    return apply_balances(store, entry, error);
}

static tacit_status apply_limit(tacit_store *store, const tacit_entry *entry, tacit_error *error) {
    const tacit_price *limit = &entry->about.price;
    char owner[TACIT_NAME_MOST + 1];
    TACIT_TRY(owner_of(owner, store, entry->source, entry->about.study, error));
    TACIT_TRY(write_amounts(store,
                            "INSERT OR REPLACE INTO limits (source, study, unit, epsilon, delta) "
                            "VALUES (?1, ?2, ?3, ?4, ?5)",
                            owner, entry->about.study, limit->unit, limit->epsilon, limit->delta, error));
    if (entry->counted)
        TACIT_TRY(write_amounts(store,
                                "INSERT OR REPLACE INTO counting (source, study, unit, way, middle) "
                                "VALUES (?1, ?2, ?3, CAST(?4 AS INTEGER), ?5)",
                                owner, entry->about.study, limit->unit, (double)entry->counting.count,
                                entry->counting.order, error));
    return apply_balances(store, entry, error);
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
    switch (entry->kind) {
    case TACIT_ENTRY_CHARGE: return apply_charge(store, entry, error);
    case TACIT_ENTRY_LIMIT: return apply_limit(store, entry, error);
    case TACIT_ENTRY_CONSENT:
    case TACIT_ENTRY_WITHDRAWAL:
        TACIT_TRY(apply_consent(store, entry, error));
        TACIT_TRY(tacit_log_apply_holding(store, entry, error));
        return apply_balances(store, entry, error);
    case TACIT_ENTRY_END:
        TACIT_TRY(tacit_log_apply_holding(store, entry, error));
        return apply_balances(store, entry, error);
    case TACIT_ENTRY_LINK:
        TACIT_TRY(tacit_log_apply_link(store, entry, error));
        return apply_balances(store, entry, error);
    case TACIT_ENTRY_CONTACT:
    case TACIT_ENTRY_REFUSAL:
    case TACIT_ENTRY_STATEMENT: return TACIT_OK;
    }
    return tacit_fail(error, TACIT_INTERNAL, "%d is not a kind of entry", (int)entry->kind);
}
