/* The durable ledger, the owner's side: holding a study's budget, ending it, and data sources with the same
 * people in them. */
#include <math.h>
#include <string.h>

#include "privacy/ledger/ledger_file_parts.h"

tacit_status tacit_ledger_reserve(tacit_ledger *ledger, const char *study,
                                  const uint8_t study_hash[TACIT_HASH_BYTES], const tacit_price *price,
                                  const tacit_event *event, tacit_error *error) {
    tacit_ledger_file *self = NULL;
    TACIT_TRY(tacit_ledger_file_of(&self, ledger, "consenting", error));
    TACIT_TRY(tacit_name_check("the study's name", study, TACIT_NAME_MOST, error));
    if (price->epsilon == 0 && price->delta == 0)
        return tacit_ledger_consent(ledger, study, study_hash, error);
    TACIT_TRY(tacit_price_check(price, error));
    tacit_release about = { .study = study };
    if (isfinite(price->epsilon)) {
        about.price = *price;
        if (event != NULL) about.event = *event;
        if (about.event.count > 0) TACIT_TRY(tacit_event_check(&about.event, error));
    }
    memcpy(about.study_hash, study_hash, sizeof about.study_hash);
    tacit_entry entry = tacit_entry_make(TACIT_ENTRY_CONSENT, self->source, &about, NULL);
    return tacit_ledger_file_record(self, &entry, error);
}

static tacit_status holds_something(bool *out, tacit_ledger_file *self, const char *study,
                                    tacit_error *error) {
    tacit_statement *query = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(
        &query, self->store, "SELECT 1 FROM block WHERE source = ?1 AND study = ?2 AND open", error));
    tacit_bind_text(query, 1, self->source);
    tacit_bind_text(query, 2, study);
    TACIT_CHECK(tacit_statement_step(out, query, error));
cleanup:
    tacit_statement_free(query);
    return status;
}

tacit_status tacit_ledger_end(tacit_ledger *ledger, const char *study, tacit_error *error) {
    tacit_ledger_file *self = NULL;
    bool holds = false;
    TACIT_TRY(tacit_ledger_file_of(&self, ledger, "ending a study", error));
    TACIT_TRY(tacit_name_check("the study's name", study, TACIT_NAME_MOST, error));
    TACIT_TRY(holds_something(&holds, self, study, error));
    if (!holds) return TACIT_OK;
    tacit_release about = { .study = study };
    tacit_entry entry = tacit_entry_make(TACIT_ENTRY_END, self->source, &about, NULL);
    return tacit_ledger_file_record(self, &entry, error);
}

/* ---- the same people ---- */

/* Two limits would become one: it must be that of `other`. */
static tacit_status check_limits(tacit_ledger_file *self, const char *other, tacit_error *error) {
    for (int unit = 0; unit < TACIT_UNITS; unit++) {
        tacit_account mine, theirs;
        TACIT_TRY(tacit_log_account(&mine, self->store, self->source, "", unit, error));
        TACIT_TRY(tacit_log_account(&theirs, self->store, other, "", unit, error));
        if (mine.limited && !theirs.limited)
            return tacit_fail(error, TACIT_REFUSED,
                              "%s has a limit per %s and %s, whose limit would hold for both, has none: set "
                              "that one first (tacit ledger limit --source %s)",
                              self->source, tacit_unit_name(unit), other, other);
    }
    return TACIT_OK;
}

tacit_status tacit_ledger_link(tacit_ledger *ledger, const char *other, tacit_error *error) {
    tacit_ledger_file *self = NULL;
    char mine[TACIT_NAME_MOST + 1], theirs[TACIT_NAME_MOST + 1];
    tacit_status status;
    TACIT_TRY(tacit_ledger_file_of(&self, ledger, "linking data sources", error));
    TACIT_TRY(tacit_name_check("the other data source's name", other, TACIT_NAME_MOST, error));
    TACIT_TRY(tacit_store_begin_reading(self->store, error));
    TACIT_CHECK(tacit_log_people(mine, self->store, self->source, error));
    TACIT_CHECK(tacit_log_people(theirs, self->store, other, error));
    TACIT_CHECK(check_limits(self, other, error));
cleanup:
    tacit_store_rollback(self->store);
    if (status != TACIT_OK || strcmp(mine, theirs) == 0) return status; /* linked already */
    tacit_release about = { .question = other };
    tacit_entry entry = tacit_entry_make(TACIT_ENTRY_LINK, self->source, &about, NULL);
    return tacit_ledger_file_record(self, &entry, error);
}

tacit_status tacit_ledger_people(char out[TACIT_NAME_MOST + 1], tacit_ledger *ledger, tacit_error *error) {
    tacit_ledger_file *self = NULL;
    TACIT_TRY(tacit_ledger_file_of(&self, ledger, "asking whose rows they are", error));
    return tacit_log_people(out, self->store, self->source, error);
}
