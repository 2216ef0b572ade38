/* The durable ledger: all that counts towards a limit in total, read together. */
#include <math.h>
#include <string.h>

#include "privacy/ledger/ledger_file_parts.h"

/* The data sources that share a limit: `people` itself, and those said to hold the same. */
#define OF_PEOPLE "(source = ?1 OR source IN (SELECT source FROM people WHERE people = ?1))"

static tacit_status prepare_of(tacit_statement **out, tacit_store *store, const char *sql, const char *people,
                               tacit_unit unit, tacit_error *error) {
    TACIT_TRY(tacit_statement_prepare(out, store, sql, error));
    tacit_bind_text(*out, 1, people);
    tacit_bind_integer(*out, 2, unit);
    return TACIT_OK;
}

static tacit_status read_loose(tacit_holding *out, tacit_store *store, const char *people, tacit_unit unit,
                               tacit_error *error) {
    tacit_statement *query = NULL;
    tacit_status status;
    TACIT_CHECK(prepare_of(&query, store,
                           "SELECT kind, parameter, delta, sampling, replaced, sum(runs) FROM loose "
                           "WHERE " OF_PEOPLE
                           " AND unit >= ?2 GROUP BY kind, parameter, delta, sampling, replaced",
                           people, unit, error));
    TACIT_CHECK(tacit_log_read_events(&out->loose, store, query, unit, error));
cleanup:
    tacit_statement_free(query);
    return status;
}

static tacit_status read_loose_sum(tacit_holding *out, tacit_store *store, const char *people,
                                   tacit_unit unit, tacit_error *error) {
    tacit_statement *query = NULL;
    tacit_status status;
    TACIT_CHECK(prepare_of(&query, store,
                           "SELECT epsilon, delta FROM loose_sum WHERE " OF_PEOPLE
                           " AND unit = ?2 ORDER BY source",
                           people, unit, error));
    TACIT_CHECK(tacit_log_add_amounts(&out->loose_sum.epsilon, &out->loose_sum.delta, query, error));
cleanup:
    tacit_statement_free(query);
    return status;
}

/* `but`: a block that is left out, because the caller adds it as it would be. */
static tacit_status read_blocks(tacit_holding *out, tacit_store *store, const char *people, tacit_unit unit,
                                const char *source, const tacit_release *but, tacit_error *error) {
    tacit_statement *query = NULL;
    tacit_status status;
    TACIT_CHECK(prepare_of(&query, store,
                           "SELECT source, study, study_hash FROM block WHERE " OF_PEOPLE
                           " AND unit >= ?2 ORDER BY source, study, study_hash",
                           people, unit, error));
    for (bool row = false;;) {
        const char *from = NULL, *study = NULL;
        uint8_t hash[TACIT_HASH_BYTES];
        tacit_block block = { .open = false };
        bool found = false;
        TACIT_CHECK(tacit_statement_step(&row, query, error));
        if (!row) break;
        TACIT_CHECK(tacit_column_text(&from, query, 0, TACIT_NAME_MOST, error));
        TACIT_CHECK(tacit_column_text(&study, query, 1, TACIT_NAME_MOST, error));
        TACIT_CHECK(tacit_column_bytes(hash, sizeof hash, query, 2, error));
        bool same_study = but != NULL && strcmp(from, source) == 0 && strcmp(study, but->study) == 0;
        if (same_study && memcmp(hash, but->study_hash, sizeof hash) == 0) continue;
        TACIT_CHECK(tacit_log_block(&found, &block, store, from, study, hash, error));
        if (same_study) block.open = false; /* a new version takes the place of the last */
        if (found) TACIT_CHECK(tacit_holding_add(out, &block, error));
    }
cleanup:
    tacit_statement_free(query);
    return status;
}

tacit_status tacit_log_holding(tacit_holding *out, tacit_store *store, const char *source, tacit_unit unit,
                               const tacit_release *but, tacit_error *error) {
    char people[TACIT_NAME_MOST + 1];
    TACIT_TRY(tacit_log_people(people, store, source, error));
    TACIT_TRY(read_loose(out, store, people, unit, error));
    TACIT_TRY(read_loose_sum(out, store, people, unit, error));
    return read_blocks(out, store, people, unit, source, but, error);
}

/* ---- what would be spent ---- */

static tacit_status add_asked(tacit_holding *holding, tacit_ledger_file *self, const tacit_asked *asked,
                              tacit_unit unit, tacit_error *error) {
    const tacit_release *release = asked->release;
    tacit_event event = tacit_release_event(release);
    tacit_block block = tacit_block_for(release);
    bool found = false;
    if (!asked->whole) {
        holding->loose_sum.epsilon = tacit_add_up(holding->loose_sum.epsilon, release->price.epsilon);
        holding->loose_sum.delta = tacit_add_up(holding->loose_sum.delta, release->price.delta);
        return tacit_charges_add(&holding->loose, &event, unit, error);
    }
    TACIT_TRY(tacit_log_block(&found, &block, self->store, self->source, release->study, release->study_hash,
                              error));
    block.open = true;
    return tacit_holding_add(holding, &block, error);
}

tacit_status tacit_ledger_file_total(tacit_spending *out, tacit_ledger_file *self,
                                     const tacit_account *account, tacit_unit unit, const tacit_asked *asked,
                                     tacit_error *error) {
    tacit_holding holding = TACIT_HOLDING_INIT;
    bool whole = asked != NULL && asked->whole;
    bool counts = asked != NULL && tacit_unit_counts(asked->release->price.unit, unit);
    tacit_status status;
    TACIT_CHECK(
        tacit_log_holding(&holding, self->store, self->source, unit, whole ? asked->release : NULL, error));
    double delta = account->limited
                       ? account->limit_delta
                       : tacit_add_up(account->sum_delta, counts ? asked->release->price.delta : 0);
    /* The first of all may decide that prices add up; what comes later may not. */
    bool first = holding.count == 0 && holding.loose.count == 0;
    holding.settled = !counts || first || tacit_holding_is_summed(&holding, delta);
    if (counts) TACIT_CHECK(add_asked(&holding, self, asked, unit, error));
    TACIT_CHECK(tacit_holding_spent(out, &holding, unit, delta, &account->counting, error));
    /* Accountants answer within rounding and the coarseness of a grid: what was once spent is not handed
     * back. */
    if (!whole && account->limited && out->epsilon < account->spent_epsilon)
        *out = (tacit_spending){ account->spent_epsilon, delta, account->by };
cleanup:
    tacit_holding_clear(&holding);
    return status;
}

/* ---- for information ---- */

static tacit_status count_alternatives(bool *known, double out[TACIT_ALTERNATIVES], tacit_ledger_file *self,
                                       tacit_unit unit, tacit_error *error) {
    tacit_holding holding = TACIT_HOLDING_INIT;
    tacit_account account;
    tacit_status status;
    TACIT_CHECK(tacit_log_check(self->store, error));
    TACIT_CHECK(tacit_log_account(&account, self->store, self->source, "", unit, error));
    TACIT_CHECK(tacit_log_holding(&holding, self->store, self->source, unit, NULL, error));
    double delta = account.limited ? account.limit_delta : account.sum_delta;
    *known = delta > 0 && delta < 1 && isfinite(account.sum_epsilon) &&
             (holding.count > 0 || holding.loose.count > 0);
    if (*known) TACIT_CHECK(tacit_holding_alternatives(out, &holding, unit, delta, error));
cleanup:
    tacit_holding_clear(&holding);
    return status;
}

tacit_status tacit_ledger_alternatives(bool *known, double out[TACIT_ALTERNATIVES], tacit_ledger *ledger,
                                       tacit_unit unit, tacit_error *error) {
    tacit_ledger_file *self = NULL;
    TACIT_TRY(tacit_ledger_file_of(&self, ledger, "counting in other ways", error));
    TACIT_TRY(tacit_store_begin_reading(self->store, error));
    tacit_status status = count_alternatives(known, out, self, unit, error);
    tacit_store_rollback(self->store);
    return status;
}
