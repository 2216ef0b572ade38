/* The durable ledger: what studies hold of a data source, what was charged outside, and how a limit is
 * counted. */
#include <math.h>
#include <string.h>

#include "privacy/ledger/ledger_file_parts.h"

/* ---- whose rows they are ---- */

tacit_status tacit_log_people(char out[TACIT_NAME_MOST + 1], tacit_store *store, const char *source,
                              tacit_error *error) {
    tacit_statement *query = NULL;
    const char *people = source;
    bool row = false;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(&query, store, "SELECT people FROM people WHERE source = ?1", error));
    tacit_bind_text(query, 1, source);
    TACIT_CHECK(tacit_statement_step(&row, query, error));
    if (row) TACIT_CHECK(tacit_column_text(&people, query, 0, TACIT_NAME_MOST, error));
    if (strlen(people) > TACIT_NAME_MOST) people = source;
    memmove(out, people, strlen(people) + 1);
cleanup:
    tacit_statement_free(query);
    return status;
}

static tacit_status run_for_people(tacit_store *store, const char *sql, const char *first, const char *second,
                                   tacit_error *error) {
    tacit_statement *change = NULL;
    TACIT_TRY(tacit_statement_prepare(&change, store, sql, error));
    tacit_bind_text(change, 1, first);
    tacit_bind_text(change, 2, second);
    tacit_status status = tacit_statement_run(change, error);
    tacit_statement_free(change);
    return status;
}

tacit_status tacit_log_apply_link(tacit_store *store, const tacit_entry *entry, tacit_error *error) {
    char mine[TACIT_NAME_MOST + 1], theirs[TACIT_NAME_MOST + 1];
    const char *other = entry->about.question;
    TACIT_TRY(tacit_log_people(mine, store, entry->source, error));
    TACIT_TRY(tacit_log_people(theirs, store, other, error));
    TACIT_TRY(run_for_people(store, "UPDATE people SET people = ?2 WHERE people = ?1", mine, theirs, error));
    TACIT_TRY(run_for_people(store, "INSERT OR REPLACE INTO people (source, people) VALUES (?1, ?2)", mine,
                             theirs, error));
    TACIT_TRY(run_for_people(store, "INSERT OR REPLACE INTO people (source, people) VALUES (?1, ?2)",
                             entry->source, theirs, error));
    return run_for_people(store, "INSERT OR REPLACE INTO people (source, people) VALUES (?1, ?2)", theirs,
                          theirs, error);
}

/* ---- blocks ---- */

#define BLOCK_COLUMNS                                                                                        \
    "unit, open, kind, parameter, delta, sampling, replaced, runs, used, epsilon, price_delta, "             \
    "used_epsilon, used_delta"

static tacit_status read_block(tacit_block *out, tacit_store *store, tacit_statement *row,
                               tacit_error *error) {
    tacit_unit unit = (tacit_unit)tacit_column_integer(row, 0);
    tacit_block block = { .open = tacit_column_integer(row, 1) != 0,
                          .used = (uint64_t)tacit_column_integer(row, 8),
                          .price = { unit, tacit_column_double(row, 9), tacit_column_double(row, 10) },
                          .charged = { unit, tacit_column_double(row, 11), tacit_column_double(row, 12) } };
    TACIT_TRY(tacit_log_read_event(&block.event, store, row, 2, error));
    if (block.used > block.event.count)
        return tacit_fail(
            error, TACIT_CORRUPT,
            "%s: what a study holds makes no sense: verify the ledger and restore it from a backup",
            tacit_store_path(store));
    *out = block;
    return TACIT_OK;
}

tacit_status tacit_log_block(bool *found, tacit_block *out, tacit_store *store, const char *source,
                             const char *study, const uint8_t *study_hash, tacit_error *error) {
    tacit_statement *query = NULL;
    tacit_status status;
    *found = false;
    TACIT_CHECK(tacit_statement_prepare(
        &query, store,
        "SELECT " BLOCK_COLUMNS " FROM block WHERE source = ?1 AND study = ?2 AND study_hash = ?3", error));
    tacit_bind_text(query, 1, source);
    tacit_bind_text(query, 2, study);
    tacit_bind_blob(query, 3, study_hash, TACIT_HASH_BYTES);
    TACIT_CHECK(tacit_statement_step(found, query, error));
    if (*found) TACIT_CHECK(read_block(out, store, query, error));
cleanup:
    tacit_statement_free(query);
    return status;
}

tacit_block tacit_block_for(const tacit_release *release) {
    return (tacit_block){ .event = tacit_release_event(release),
                          .price = release->price,
                          .charged = { release->price.unit, 0, 0 },
                          .open = true };
}

static tacit_status close_others(tacit_store *store, const tacit_entry *entry, bool all, tacit_error *error) {
    tacit_statement *change = NULL;
    TACIT_TRY(tacit_statement_prepare(
        &change, store,
        "UPDATE block SET open = 0 WHERE source = ?1 AND study = ?2 AND (?4 OR study_hash <> ?3)", error));
    tacit_bind_text(change, 1, entry->source);
    tacit_bind_text(change, 2, entry->about.study);
    tacit_bind_blob(change, 3, entry->about.study_hash, TACIT_HASH_BYTES);
    tacit_bind_integer(change, 4, all);
    tacit_status status = tacit_statement_run(change, error);
    tacit_statement_free(change);
    return status;
}

static tacit_status open_block(tacit_store *store, const tacit_entry *entry, tacit_error *error) {
    tacit_block block = tacit_block_for(&entry->about);
    tacit_statement *insert = NULL;
    if (block.event.count == 0 || !isfinite(block.price.epsilon)) return TACIT_OK;
    TACIT_TRY(tacit_charge_check(&block.event, error)); /* a log that was tampered with */
    TACIT_TRY(
        tacit_statement_prepare(&insert, store,
                                "INSERT INTO block (source, study, study_hash, " BLOCK_COLUMNS ") "
                                "VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?7, ?8, ?9, ?10, 0, ?11, ?12, 0.0, 0.0) "
                                "ON CONFLICT DO UPDATE SET open = 1",
                                error));
    tacit_bind_text(insert, 1, entry->source);
    tacit_bind_text(insert, 2, entry->about.study);
    tacit_bind_blob(insert, 3, entry->about.study_hash, TACIT_HASH_BYTES);
    tacit_bind_integer(insert, 4, block.price.unit);
    tacit_log_bind_event(insert, 5, &block.event);
    tacit_bind_double(insert, 11, block.price.epsilon);
    tacit_bind_double(insert, 12, block.price.delta);
    tacit_status status = tacit_statement_run(insert, error);
    tacit_statement_free(insert);
    return status;
}

tacit_status tacit_log_apply_holding(tacit_store *store, const tacit_entry *entry, tacit_error *error) {
    bool consent = entry->kind == TACIT_ENTRY_CONSENT;
    TACIT_TRY(close_others(store, entry, !consent, error));
    return consent ? open_block(store, entry, error) : TACIT_OK;
}

static tacit_status use_block(tacit_store *store, const tacit_entry *entry, const tacit_block *block,
                              tacit_error *error) {
    tacit_statement *change = NULL;
    TACIT_TRY(tacit_statement_prepare(&change, store,
                                      "UPDATE block SET used = ?4, used_epsilon = ?5, used_delta = ?6 "
                                      "WHERE source = ?1 AND study = ?2 AND study_hash = ?3",
                                      error));
    uint64_t used = block->used + tacit_release_event(&entry->about).count;
    tacit_bind_text(change, 1, entry->source);
    tacit_bind_text(change, 2, entry->about.study);
    tacit_bind_blob(change, 3, entry->about.study_hash, TACIT_HASH_BYTES);
    /* Of one price no answers are counted. */
    tacit_bind_integer(change, 4, used < block->event.count ? (int64_t)used : (int64_t)block->event.count);
    tacit_bind_double(change, 5, tacit_add_up(block->charged.epsilon, entry->about.price.epsilon));
    tacit_bind_double(change, 6, tacit_add_up(block->charged.delta, entry->about.price.delta));
    tacit_status status = tacit_statement_run(change, error);
    tacit_statement_free(change);
    return status;
}

/* ---- loose charges ---- */

static tacit_status add_loose_sum(tacit_store *store, const tacit_entry *entry, tacit_unit unit,
                                  tacit_error *error) {
    tacit_price sum = { unit, 0, 0 };
    tacit_statement *change = NULL;
    TACIT_TRY(tacit_log_loose_sum(&sum, store, entry->source, unit, error));
    TACIT_TRY(tacit_statement_prepare(&change, store,
                                      "INSERT OR REPLACE INTO loose_sum (source, unit, epsilon, delta) "
                                      "VALUES (?1, ?2, ?3, ?4)",
                                      error));
    tacit_bind_text(change, 1, entry->source);
    tacit_bind_integer(change, 2, unit);
    tacit_bind_double(change, 3, tacit_add_up(sum.epsilon, entry->about.price.epsilon));
    tacit_bind_double(change, 4, tacit_add_up(sum.delta, entry->about.price.delta));
    tacit_status status = tacit_statement_run(change, error);
    tacit_statement_free(change);
    return status;
}

static tacit_status add_loose(tacit_store *store, const tacit_entry *entry, tacit_error *error) {
    tacit_event event = tacit_release_event(&entry->about);
    tacit_statement *insert = NULL;
    if (event.count == 0) return TACIT_OK;
    for (int unit = 0; unit < TACIT_UNITS; unit++)
        if (tacit_unit_counts(entry->about.price.unit, unit))
            TACIT_TRY(add_loose_sum(store, entry, unit, error));
    TACIT_TRY(tacit_statement_prepare(
        &insert, store,
        "INSERT INTO loose (source, unit, kind, parameter, delta, sampling, replaced, runs) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO UPDATE SET runs = runs + excluded.runs",
        error));
    tacit_bind_text(insert, 1, entry->source);
    tacit_bind_integer(insert, 2, entry->about.price.unit);
    tacit_log_bind_event(insert, 3, &event);
    tacit_status status = tacit_statement_run(insert, error);
    tacit_statement_free(insert);
    return status;
}

tacit_status tacit_log_apply_use(tacit_store *store, const tacit_entry *entry, tacit_error *error) {
    tacit_block block;
    bool found = false;
    tacit_event event = tacit_release_event(&entry->about);
    TACIT_TRY(tacit_log_block(&found, &block, store, entry->source, entry->about.study,
                              entry->about.study_hash, error));
    if (found && event.count > 0 && tacit_block_covers(&block, &event, &entry->about.price))
        return use_block(store, entry, &block, error);
    return add_loose(store, entry, error);
}

tacit_status tacit_log_loose_sum(tacit_price *out, tacit_store *store, const char *source, tacit_unit unit,
                                 tacit_error *error) {
    tacit_statement *query = NULL;
    *out = (tacit_price){ unit, 0, 0 };
    TACIT_TRY(tacit_statement_prepare(
        &query, store, "SELECT epsilon, delta FROM loose_sum WHERE source = ?1 AND unit = ?2", error));
    tacit_bind_text(query, 1, source);
    tacit_bind_integer(query, 2, unit);
    tacit_status status = tacit_log_add_amounts(&out->epsilon, &out->delta, query, error);
    tacit_statement_free(query);
    return status;
}
