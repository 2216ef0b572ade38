/* The durable ledger, the owner's side: opening, limits, consent. */
#include "privacy/ledger/ledger_file_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Format 1. `head` repeats the end of the log, so that entries cut off the end are missed. An answer is kept
 * with its charge for as long as it may be asked for again. Format 2 adds the events behind the prices.
 * Format 3 adds what a party goes on from in a study; it is the owner's own and follows from nothing in the
 * log. Format 4 adds what studies hold, how limits are counted, and which data sources share one. */
const char *const tacit_ledger_scripts[] = {
    "CREATE TABLE log (entry INTEGER PRIMARY KEY, body BLOB NOT NULL, hash BLOB NOT NULL) STRICT;"
    "CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), entries INTEGER NOT NULL,"
    " hash BLOB NOT NULL) STRICT;"
    "INSERT INTO head VALUES (1, 0, zeroblob(32));"
    "CREATE TABLE answer (entry INTEGER PRIMARY KEY REFERENCES log (entry), source TEXT NOT NULL,"
    " id BLOB NOT NULL, question_hash BLOB NOT NULL, payload BLOB NOT NULL, UNIQUE (source, id)) "
    "STRICT;" TACIT_LEDGER_STATE_TABLES_1(""),
    TACIT_LEDGER_STATE_TABLES_2(
        "") "CREATE TABLE seal (one INTEGER PRIMARY KEY CHECK (one = 1), hash BLOB NOT NULL) STRICT;",
    ("CREATE TABLE kept (source TEXT NOT NULL, study TEXT NOT NULL, state BLOB NOT NULL,"
     " PRIMARY KEY (source, study)) STRICT, WITHOUT ROWID;"),
    TACIT_LEDGER_STATE_TABLES_4("") "ALTER TABLE kept ADD COLUMN hash BLOB;",
};

const size_t tacit_ledger_script_count = sizeof tacit_ledger_scripts / sizeof *tacit_ledger_scripts;

/* Whatever was charged before format 4 was held by no study. */
static tacit_status adapt_holding(tacit_store *store, tacit_error *error) {
    TACIT_TRY(tacit_store_run(
        store,
        "INSERT INTO loose SELECT source, unit, kind, parameter, delta, sampling, replaced, sum(runs) "
        "FROM event GROUP BY source, unit, kind, parameter, delta, sampling, replaced;"
        "INSERT INTO loose_sum SELECT source, unit, epsilon, delta FROM spending WHERE study = '';",
        error));
    TACIT_TRY(tacit_ledger_file_guard_kept(store, error));
    return tacit_log_seal(store, error);
}

/* The charges of a file of format 1 become events, each what its price says. */
static tacit_status adapt_events(tacit_store *store, int64_t version, tacit_error *error) {
    tacit_statement *query = NULL;
    tacit_status status = TACIT_OK;
    if (version >= 1)
        TACIT_CHECK(
            tacit_statement_prepare(&query, store, "SELECT entry, body FROM log ORDER BY entry", error));
    for (bool row = false; query != NULL;) {
        const uint8_t *body = NULL;
        size_t length = 0;
        tacit_entry entry;
        TACIT_CHECK(tacit_statement_step(&row, query, error));
        if (!row) break;
        TACIT_CHECK(tacit_column_blob(&body, &length, query, 1, TACIT_ENTRY_BODY_MOST, error));
        status = tacit_entry_decode(&entry, body, length, error);
        if (status == TACIT_OK && entry.kind == TACIT_ENTRY_CHARGE)
            status = tacit_log_apply_event(store, &entry, error);
        if (status != TACIT_OK) {
            status = tacit_fail_in(error, status, "entry %lld of %s",
                                   (long long)tacit_column_integer(query, 0), tacit_store_path(store));
            goto cleanup;
        }
    }
cleanup:
    tacit_statement_free(query);
    return status;
}

/* An old seal is looked at before anything is built on what it guards. */
static tacit_status adapt(tacit_store *store, int64_t version, tacit_error *error) {
    if (version >= 4) return TACIT_OK;
    if (version < 2) TACIT_TRY(adapt_events(store, version, error));
    if (version >= 2) TACIT_TRY(tacit_log_check_old_seal(store, error));
    return adapt_holding(store, error);
}

static const tacit_store_schema schema = { .what = "ledger",
                                           .application_id = 0x54634c67, /* "TcLg" */
                                           .scripts = tacit_ledger_scripts,
                                           .script_count =
                                               sizeof tacit_ledger_scripts / sizeof *tacit_ledger_scripts,
                                           .adapt = adapt };

tacit_status tacit_ledger_file_of(tacit_ledger_file **out, tacit_ledger *ledger, const char *doing,
                                  tacit_error *error) {
    if (!ledger->class->durable)
        return tacit_fail(error, TACIT_USAGE, "%s needs a durable ledger, not one in memory", doing);
    *out = (tacit_ledger_file *)ledger;
    return TACIT_OK;
}

static void free_file(tacit_ledger *ledger) {
    tacit_ledger_file *self = (tacit_ledger_file *)ledger;
    tacit_store_close(self->store);
    free(self);
}

tacit_status tacit_ledger_file_compose(tacit_spending *out, tacit_ledger_file *self,
                                       const tacit_account *account, const char *study, tacit_unit unit,
                                       const tacit_asked *asked, tacit_error *error) {
    if (study[0] == 0) return tacit_ledger_file_total(out, self, account, unit, asked, error);
    tacit_charges charges = TACIT_CHARGES_INIT;
    const tacit_release *release = asked != NULL ? asked->release : NULL;
    tacit_price sum = { unit, account->sum_epsilon, account->sum_delta };
    tacit_status status;
    TACIT_CHECK(tacit_log_charges(&charges, self->store, self->source, study, unit, error));
    if (release != NULL) {
        tacit_event event = tacit_release_event(release);
        sum = tacit_account_sum(account, &release->price, unit);
        TACIT_CHECK(tacit_charges_add(&charges, &event, unit, error));
    }
    double delta = account->limited ? account->limit_delta : sum.delta;
    TACIT_CHECK(tacit_charges_compose(out, &charges, unit, &sum, delta, error));
    /* Accountants answer within rounding and the coarseness of a grid: what was once spent is not handed
     * back. */
    if (account->limited && out->epsilon < account->spent_epsilon)
        *out = (tacit_spending){ account->spent_epsilon, delta, account->by };
cleanup:
    tacit_charges_clear(&charges);
    return status;
}

/* An account with what is spent of it; study "" is the total. */
static tacit_status read_account(tacit_account *out, tacit_ledger_file *self, const char *study,
                                 tacit_unit unit, tacit_error *error) {
    tacit_account read;
    tacit_spending spent;
    TACIT_TRY(tacit_log_account(&read, self->store, self->source, study, unit, error));
    if (read.spent_epsilon < 0) {
        TACIT_TRY(tacit_ledger_file_compose(&spent, self, &read, study, unit, NULL, error));
        read.spent_epsilon = spent.epsilon;
        read.by = spent.by;
    }
    *out = read;
    return TACIT_OK;
}

/* A way that the owner did not name stays; of a first limit it is a theorem whoever asks next. Its order is
 * that of the limit it was first set with: another one, chosen in view of answers, would not be covered. */
static void choose_counting(tacit_entry *entry, const tacit_account *account) {
    const tacit_price *limit = &entry->about.price;
    bool study = entry->about.study[0] != 0, named = entry->counted;
    bool same = account->limited && account->limit_delta == limit->delta &&
                (!named || account->counting.count == entry->counting.count);
    entry->counted = true;
    if (same) {
        entry->counting = account->counting;
        return;
    }
    tacit_count count = named              ? entry->counting.count
                        : account->limited ? account->counting.count
                        : study            ? TACIT_COUNT_LEAST
                                           : TACIT_COUNT_BOTH;
    if (!named && !study && limit->delta == 0) count = TACIT_COUNT_SUM;
    if (!named && !study && limit->delta > 0 && account->limited && account->limit_delta == 0)
        count = TACIT_COUNT_BOTH; /* it had no delta to be counted at */
    entry->counting = tacit_counting_for(count, limit->epsilon, limit->delta);
}

static tacit_status read_totals(tacit_ledger_file *self, tacit_entry *entry, tacit_error *error) {
    for (int unit = 0; unit < TACIT_UNITS; unit++) {
        tacit_account account;
        tacit_spending spent;
        TACIT_TRY(tacit_log_account(&account, self->store, self->source, "", unit, error));
        account.spent_epsilon = -1; /* what was held and is given back is not spent */
        if (!account.limited) continue;
        TACIT_TRY(tacit_ledger_file_compose(&spent, self, &account, "", unit, NULL, error));
        entry->after[0][unit] = (tacit_balance){ true, spent.epsilon, spent.delta, spent.by };
    }
    return TACIT_OK;
}

/* What is spent in total once the entry has taken effect: it does for a moment, and is taken back. */
static tacit_status foresee(tacit_ledger_file *self, tacit_entry *entry, tacit_error *error) {
    TACIT_TRY(tacit_store_run(self->store, "SAVEPOINT ahead", error));
    tacit_status status = tacit_log_apply(self->store, entry, error);
    if (status == TACIT_OK) status = read_totals(self, entry, error);
    if (status != TACIT_OK) return status; /* the caller takes all back */
    return tacit_store_run(self->store, "ROLLBACK TO ahead; RELEASE ahead", error);
}

/* Log an act of the owner and let it take effect, within a transaction. */
static tacit_status settle(tacit_ledger_file *self, tacit_entry *entry, tacit_error *error) {
    TACIT_TRY(tacit_log_check(self->store, error));
    if (entry->kind == TACIT_ENTRY_LIMIT) { /* what is spent of it, at the new delta */
        const tacit_price *limit = &entry->about.price;
        tacit_account account;
        tacit_spending spent;
        TACIT_TRY(
            tacit_log_account(&account, self->store, self->source, entry->about.study, limit->unit, error));
        choose_counting(entry, &account);
        if (!account.limited || account.limit_delta != limit->delta ||
            account.counting.count != entry->counting.count)
            account.spent_epsilon = -1;
        account.limited = true;
        account.limit_delta = limit->delta;
        account.counting = entry->counting;
        TACIT_TRY(
            tacit_ledger_file_compose(&spent, self, &account, entry->about.study, limit->unit, NULL, error));
        entry->after[entry->about.study[0] != 0][limit->unit] =
            (tacit_balance){ true, spent.epsilon, spent.delta, spent.by };
    } else if (entry->kind == TACIT_ENTRY_CONSENT && entry->about.price.epsilon > 0)
        TACIT_TRY(
            tacit_ledger_file_check(entry->after, self, &(tacit_asked){ &entry->about, true, true }, error));
    else
        TACIT_TRY(foresee(self, entry, error));
    return tacit_log_append(self->store, entry, error);
}

tacit_status tacit_ledger_file_record(tacit_ledger_file *self, tacit_entry *entry, tacit_error *error) {
    TACIT_TRY(tacit_store_begin(self->store, error));
    tacit_status status = settle(self, entry, error);
    if (status == TACIT_OK) return tacit_store_commit(self->store, error);
    tacit_store_rollback(self->store);
    return status;
}

static tacit_status record(tacit_ledger_file *self, tacit_entry_kind kind, const tacit_release *about,
                           tacit_error *error) {
    tacit_entry entry = tacit_entry_make(kind, self->source, about, NULL);
    return tacit_ledger_file_record(self, &entry, error);
}

static tacit_status account(tacit_account *out, tacit_ledger *ledger, const char *study, tacit_unit unit,
                            tacit_error *error) {
    tacit_ledger_file *self = (tacit_ledger_file *)ledger;
    TACIT_TRY(tacit_store_begin_reading(self->store, error));
    tacit_status status = tacit_log_check(self->store, error);
    if (status == TACIT_OK) status = read_account(out, self, study != NULL ? study : "", unit, error);
    tacit_store_rollback(self->store);
    return status;
}

static tacit_status set_limit(tacit_ledger *ledger, const char *study, const tacit_price *limit,
                              const tacit_count *count, tacit_error *error) {
    tacit_ledger_file *self = (tacit_ledger_file *)ledger;
    tacit_release about = { .price = *limit, .study = study };
    tacit_entry entry = tacit_entry_make(TACIT_ENTRY_LIMIT, self->source, &about, NULL);
    if (count != NULL) {
        entry.counted = true;
        entry.counting.count = *count;
    }
    return tacit_ledger_file_record(self, &entry, error);
}

static const tacit_ledger_class file_class = { .durable = true,
                                               .charge = tacit_ledger_file_charge,
                                               .refuse = tacit_ledger_file_refuse,
                                               .has_answer = tacit_ledger_file_has_answer,
                                               .state = tacit_ledger_file_state,
                                               .account = account,
                                               .set_limit = set_limit,
                                               .free = free_file };

static tacit_store_mode store_mode(tacit_ledger_mode mode) {
    switch (mode) {
    case TACIT_LEDGER_CREATE: return TACIT_STORE_CREATE;
    case TACIT_LEDGER_EXISTING: return TACIT_STORE_EXISTING;
    case TACIT_LEDGER_READING: break;
    }
    return TACIT_STORE_READING;
}

/* A file of an older format is brought up to date first, also when it is only to be read. */
static tacit_status open_store(tacit_store **out, const char *path, tacit_ledger_mode mode,
                               tacit_error *error) {
    tacit_error quiet = TACIT_ERROR_INIT;
    tacit_status status = tacit_store_open(out, path, &schema, store_mode(mode), &quiet);
    if (status == TACIT_OK) return TACIT_OK;
    if (mode != TACIT_LEDGER_READING || status != TACIT_INPUT)
        return tacit_fail(error, status, "%s", quiet.text);
    tacit_store *writing = NULL;
    TACIT_TRY(tacit_store_open(&writing, path, &schema, TACIT_STORE_EXISTING, error));
    tacit_store_close(writing);
    return tacit_store_open(out, path, &schema, TACIT_STORE_READING, error);
}

const char *tacit_ledger_source(const tacit_ledger *ledger) {
    return tacit_ledger_is_durable(ledger) ? ((const tacit_ledger_file *)ledger)->source : "";
}

tacit_status tacit_ledger_open(tacit_ledger **out, const char *path, const char *source,
                               tacit_ledger_mode mode, tacit_error *error) {
    TACIT_TRY(tacit_name_check("the data source's name", source, TACIT_NAME_MOST, error));
    tacit_ledger_file *self = TACIT_NEW(tacit_ledger_file, 1);
    if (self == NULL) return tacit_fail_memory(error);
    self->base.class = &file_class;
    memcpy(self->source, source, strlen(source) + 1);
    tacit_status status = open_store(&self->store, path, mode, error);
    if (status != TACIT_OK) {
        free_file(&self->base);
        return status;
    }
    *out = &self->base;
    return TACIT_OK;
}

/* An entry about a study, and about these bytes where there are any. */
static tacit_status record_study(tacit_ledger *ledger, const char *doing, tacit_entry_kind kind,
                                 const char *study, const uint8_t *hash, tacit_error *error) {
    tacit_ledger_file *self = NULL;
    TACIT_TRY(tacit_ledger_file_of(&self, ledger, doing, error));
    TACIT_TRY(tacit_name_check("the study's name", study, TACIT_NAME_MOST, error));
    tacit_release about = { .study = study };
    if (hash != NULL) memcpy(about.study_hash, hash, sizeof about.study_hash);
    return record(self, kind, &about, error);
}

tacit_status tacit_ledger_consent(tacit_ledger *ledger, const char *study,
                                  const uint8_t study_hash[TACIT_HASH_BYTES], tacit_error *error) {
    return record_study(ledger, "consenting", TACIT_ENTRY_CONSENT, study, study_hash, error);
}

tacit_status tacit_ledger_withdraw(tacit_ledger *ledger, const char *study, tacit_error *error) {
    return record_study(ledger, "withdrawing", TACIT_ENTRY_WITHDRAWAL, study, NULL, error);
}

tacit_status tacit_ledger_note_statement(tacit_ledger *ledger, const tacit_release *about,
                                         tacit_error *error) {
    tacit_ledger_file *self = NULL;
    TACIT_TRY(tacit_ledger_file_of(&self, ledger, "saying something", error));
    TACIT_TRY(tacit_name_check("the study's name", about->study, TACIT_NAME_MOST, error));
    TACIT_TRY(tacit_name_check("what is said", about->question, TACIT_NAME_MOST, error));
    return record(self, TACIT_ENTRY_STATEMENT, about, error);
}

tacit_status tacit_ledger_note_contact(tacit_ledger *ledger, const char *study,
                                       const uint8_t hash[TACIT_HASH_BYTES], tacit_error *error) {
    return record_study(ledger, "contact details", TACIT_ENTRY_CONTACT, study, hash, error);
}

tacit_status tacit_ledger_file_consent(tacit_consent *out, uint8_t study_hash[TACIT_HASH_BYTES],
                                       tacit_ledger_file *self, const char *study, tacit_error *error) {
    tacit_statement *query = NULL;
    bool row = false;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(
        &query, self->store, "SELECT given, study_hash FROM consent WHERE source = ?1 AND study = ?2",
        error));
    tacit_bind_text(query, 1, self->source);
    tacit_bind_text(query, 2, study);
    TACIT_CHECK(tacit_statement_step(&row, query, error));
    if (row) TACIT_CHECK(tacit_column_bytes(study_hash, TACIT_HASH_BYTES, query, 1, error));
    *out = !row                                  ? TACIT_CONSENT_NONE
           : tacit_column_integer(query, 0) != 0 ? TACIT_CONSENT_GIVEN
                                                 : TACIT_CONSENT_WITHDRAWN;
cleanup:
    tacit_statement_free(query);
    return status;
}

tacit_status tacit_ledger_consent_state(tacit_consent *out, tacit_ledger *ledger, const char *study,
                                        tacit_error *error) {
    uint8_t study_hash[TACIT_HASH_BYTES];
    return tacit_ledger_consent_hash(out, study_hash, ledger, study, error);
}

tacit_status tacit_ledger_consent_hash(tacit_consent *out, uint8_t study_hash[TACIT_HASH_BYTES],
                                       tacit_ledger *ledger, const char *study, tacit_error *error) {
    tacit_ledger_file *self = NULL;
    TACIT_TRY(tacit_ledger_file_of(&self, ledger, "consent", error));
    TACIT_TRY(tacit_store_begin_reading(self->store, error));
    tacit_status status = tacit_log_check(self->store, error);
    if (status == TACIT_OK) status = tacit_ledger_file_consent(out, study_hash, self, study, error);
    tacit_store_rollback(self->store);
    return status;
}
