/* Reading the log: for the owner to see, and to check that it and everything beside it still hold. */
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "privacy/ledger/ledger_file_parts.h"

static const char damaged_remedy[] = "restore the ledger from a backup and let nothing leave until then";

/* The current row of "SELECT entry, body, hash FROM main.log". */
static tacit_status read_entry(tacit_entry *out, const uint8_t **body, size_t *length, tacit_statement *query,
                               tacit_error *error) {
    TACIT_TRY(tacit_column_blob(body, length, query, 1, TACIT_ENTRY_BODY_MOST, error));
    TACIT_TRY(tacit_entry_decode(out, *body, *length, error));
    TACIT_TRY(tacit_column_bytes(out->hash, sizeof out->hash, query, 2, error));
    out->number = (uint64_t)tacit_column_integer(query, 0);
    return TACIT_OK;
}

tacit_status tacit_ledger_list(tacit_ledger *ledger, uint64_t after, tacit_entry_visit *visit, void *context,
                               tacit_error *error) {
    tacit_ledger_file *self = NULL;
    tacit_statement *query = NULL;
    tacit_status status;
    TACIT_TRY(tacit_ledger_file_of(&self, ledger, "listing", error));
    TACIT_CHECK(tacit_statement_prepare(
        &query, self->store, "SELECT entry, body, hash FROM log WHERE entry > ?1 ORDER BY entry", error));
    tacit_bind_integer(query, 1, after > INT64_MAX ? INT64_MAX : (int64_t)after);
    while (tacit_statement_next(query, &status, error)) {
        const uint8_t *body = NULL;
        size_t length = 0;
        tacit_entry entry;
        status = read_entry(&entry, &body, &length, query, error);
        if (status != TACIT_OK) {
            status = tacit_fail_in(error, status, "entry %lld of %s",
                                   (long long)tacit_column_integer(query, 0), tacit_store_path(self->store));
            goto cleanup;
        }
        if (strcmp(entry.source, self->source) == 0) TACIT_CHECK(visit(context, &entry, error));
    }
cleanup:
    tacit_statement_free(query);
    return status;
}

tacit_status tacit_ledger_bodies(tacit_ledger *ledger, tacit_body_visit *visit, void *context,
                                 tacit_error *error) {
    tacit_ledger_file *self = NULL;
    tacit_statement *query = NULL;
    tacit_status status;
    TACIT_TRY(tacit_ledger_file_of(&self, ledger, "listing", error));
    TACIT_CHECK(tacit_statement_prepare(&query, self->store,
                                        "SELECT entry, body, hash FROM log ORDER BY entry", error));
    while (tacit_statement_next(query, &status, error)) {
        const uint8_t *body = NULL;
        size_t length = 0;
        tacit_entry entry;
        TACIT_CHECK(read_entry(&entry, &body, &length, query, error));
        TACIT_CHECK(visit(context, &entry, body, length, error));
    }
cleanup:
    tacit_statement_free(query);
    return status;
}

tacit_status tacit_ledger_read_body(tacit_entry *out, const uint8_t *body, size_t length,
                                    tacit_error *error) {
    return tacit_entry_decode(out, body, length, error);
}

void tacit_ledger_chain(uint8_t hash[TACIT_HASH_BYTES], const uint8_t *body, size_t length) {
    uint8_t before[TACIT_HASH_BYTES];
    memcpy(before, hash, sizeof before);
    tacit_entry_hash(hash, before, body, length);
}

static tacit_status visit_names(tacit_ledger_file *self, const char *sql, tacit_name_visit *visit,
                                void *context, tacit_error *error) {
    tacit_statement *query = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(&query, self->store, sql, error));
    if (strstr(sql, "?1") != NULL) tacit_bind_text(query, 1, self->source);
    while (tacit_statement_next(query, &status, error)) {
        const char *name = NULL;
        TACIT_CHECK(tacit_column_text(&name, query, 0, TACIT_NAME_MOST, error));
        TACIT_CHECK(visit(context, name, error));
    }
cleanup:
    tacit_statement_free(query);
    return status;
}

tacit_status tacit_ledger_sources(tacit_ledger *ledger, tacit_name_visit *visit, void *context,
                                  tacit_error *error) {
    tacit_ledger_file *self = NULL;
    TACIT_TRY(tacit_ledger_file_of(&self, ledger, "listing", error));
    return visit_names(self,
                       "SELECT source FROM spending UNION SELECT source FROM limits "
                       "UNION SELECT source FROM consent ORDER BY source",
                       visit, context, error);
}

tacit_status tacit_ledger_studies(tacit_ledger *ledger, tacit_name_visit *visit, void *context,
                                  tacit_error *error) {
    tacit_ledger_file *self = NULL;
    TACIT_TRY(tacit_ledger_file_of(&self, ledger, "listing", error));
    return visit_names(self,
                       "SELECT study FROM spending WHERE source = ?1 AND study <> '' "
                       "UNION SELECT study FROM limits WHERE source = ?1 AND study <> '' "
                       "UNION SELECT study FROM consent WHERE source = ?1 ORDER BY study",
                       visit, context, error);
}

/* The way through the log so far. */
typedef struct walk {
    tacit_store *store;
    tacit_verdict verdict;
    int64_t charges;
} walk;

static tacit_status fail_entry(walk *way, uint64_t number, const char *why, tacit_error *error) {
    way->verdict.broken = number;
    return tacit_fail(error, TACIT_CORRUPT, "entry %llu of %s is broken (%s): %s", (unsigned long long)number,
                      tacit_store_path(way->store), why, damaged_remedy);
}

/* The bytes kept for a charge must be those that were released. `answer` finds them by entry number. */
static tacit_status check_answer(walk *way, tacit_statement *answer, const tacit_entry *entry,
                                 tacit_error *error) {
    bool row = false;
    const uint8_t *payload = NULL;
    const char *source = NULL;
    size_t length = 0;
    uint8_t hash[TACIT_HASH_BYTES], question[TACIT_HASH_BYTES], id[TACIT_ANSWER_ID_BYTES];
    tacit_statement_reset(answer);
    tacit_bind_integer(answer, 1, (int64_t)entry->number);
    TACIT_TRY(tacit_statement_step(&row, answer, error));
    if (!row) return fail_entry(way, entry->number, "its answer is missing", error);
    TACIT_TRY(tacit_column_text(&source, answer, 0, TACIT_NAME_MOST, error));
    TACIT_TRY(tacit_column_bytes(id, sizeof id, answer, 1, error));
    TACIT_TRY(tacit_column_bytes(question, sizeof question, answer, 2, error));
    TACIT_TRY(tacit_column_blob(&payload, &length, answer, 3, TACIT_PAYLOAD_MOST, error));
    crypto_generichash(hash, sizeof hash, payload, length, NULL, 0);
    if (strcmp(source, entry->source) != 0 || memcmp(id, entry->about.answer_id, sizeof id) != 0 ||
        memcmp(question, entry->about.question_hash, sizeof question) != 0 ||
        memcmp(hash, entry->payload_hash, sizeof hash) != 0)
        return fail_entry(way, entry->number, "its answer is not the one released", error);
    return TACIT_OK;
}

/* One entry against the chain so far; then it becomes the end of the sound part. */
static tacit_status check_entry(walk *way, tacit_statement *row, tacit_statement *answer,
                                tacit_error *error) {
    tacit_entry entry;
    const uint8_t *body = NULL;
    size_t length = 0;
    uint8_t hash[TACIT_HASH_BYTES];
    tacit_verdict *verdict = &way->verdict;
    uint64_t number = verdict->entries + 1;
    if ((uint64_t)tacit_column_integer(row, 0) != number)
        return fail_entry(way, number, "it is missing", error);
    tacit_error unreadable = TACIT_ERROR_INIT;
    tacit_status status = read_entry(&entry, &body, &length, row, &unreadable);
    if (status == TACIT_CORRUPT) return fail_entry(way, number, "it cannot be read", error);
    if (status != TACIT_OK) return tacit_fail(error, status, "%s", unreadable.text);
    tacit_entry_hash(hash, verdict->head, body, length);
    if (memcmp(hash, entry.hash, sizeof hash) != 0)
        return fail_entry(way, number, "it or the hash before it was changed", error);
    if (entry.kind == TACIT_ENTRY_CHARGE) {
        way->charges++;
        TACIT_TRY(check_answer(way, answer, &entry, error));
    }
    TACIT_TRY(tacit_log_apply(way->store, &entry, error));
    verdict->entries = number;
    memcpy(verdict->head, hash, sizeof hash);
    return TACIT_OK;
}

static tacit_status check_chain(walk *way, tacit_error *error) {
    tacit_store *store = way->store;
    tacit_verdict *verdict = &way->verdict;
    tacit_statement *log = NULL, *answer = NULL, *head = NULL;
    bool row = false;
    tacit_status status;
    TACIT_CHECK(
        tacit_statement_prepare(&log, store, "SELECT entry, body, hash FROM main.log ORDER BY entry", error));
    TACIT_CHECK(tacit_statement_prepare(
        &answer, store, "SELECT source, id, question_hash, payload FROM main.answer WHERE entry = ?1",
        error));
    while (tacit_statement_next(log, &status, error)) {
        TACIT_CHECK(check_entry(way, log, answer, error));
    }
    if (status != TACIT_OK) goto cleanup;
    uint8_t end[TACIT_HASH_BYTES] = { 0 };
    TACIT_CHECK(
        tacit_statement_prepare(&head, store, "SELECT entries, hash FROM main.head WHERE one = 1", error));
    TACIT_CHECK(tacit_statement_step(&row, head, error));
    if (row) TACIT_CHECK(tacit_column_bytes(end, sizeof end, head, 1, error));
    if (!row || (uint64_t)tacit_column_integer(head, 0) != verdict->entries ||
        memcmp(end, verdict->head, sizeof end) != 0)
        status = fail_entry(way, verdict->entries + 1, "the log was cut off before it", error);
cleanup:
    tacit_statement_free(log);
    tacit_statement_free(answer);
    tacit_statement_free(head);
    return status;
}

/* `sql` selects what should not be there: a row is a difference between a table and the log. */
static tacit_status check_none(const walk *way, const char *sql, const char *what, tacit_error *error) {
    tacit_statement *query = NULL;
    bool row = false;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(&query, way->store, sql, error));
    if (strstr(sql, "?1") != NULL) tacit_bind_integer(query, 1, way->charges);
    TACIT_CHECK(tacit_statement_step(&row, query, error));
    if (row)
        status = tacit_fail(error, TACIT_CORRUPT, "%s: the %s are not what the log says: %s",
                            tacit_store_path(way->store), what, damaged_remedy);
cleanup:
    tacit_statement_free(query);
    return status;
}

#define ROWS_THAT_DIFFER(table)                                                                              \
    "SELECT * FROM (SELECT * FROM main." table " EXCEPT SELECT * FROM temp." table ")"                       \
    " UNION ALL SELECT * FROM (SELECT * FROM temp." table " EXCEPT SELECT * FROM main." table ")"

static tacit_status check_state(const walk *way, tacit_error *error) {
    TACIT_TRY(check_none(way, ROWS_THAT_DIFFER("spending"), "totals", error));
    TACIT_TRY(check_none(way, ROWS_THAT_DIFFER("event"), "events", error));
    TACIT_TRY(check_none(way, ROWS_THAT_DIFFER("balance"), "balances", error));
    TACIT_TRY(check_none(way, ROWS_THAT_DIFFER("limits"), "limits", error));
    TACIT_TRY(check_none(way, ROWS_THAT_DIFFER("consent"), "consents", error));
    TACIT_TRY(check_none(way, ROWS_THAT_DIFFER("counting"), "ways of counting", error));
    TACIT_TRY(check_none(way, ROWS_THAT_DIFFER("block"), "amounts held for studies", error));
    TACIT_TRY(check_none(way, ROWS_THAT_DIFFER("loose"), "other charges", error));
    TACIT_TRY(check_none(way, ROWS_THAT_DIFFER("loose_sum"), "sums of other charges", error));
    TACIT_TRY(check_none(way, ROWS_THAT_DIFFER("people"), "links between data sources", error));
    /* Each charge was matched to its own answer already; there must be no others. */
    TACIT_TRY(
        check_none(way, "SELECT 1 WHERE (SELECT count(*) FROM main.answer) <> ?1", "stored answers", error));
    TACIT_TRY(tacit_ledger_file_check_kept(way->store, error));
    return tacit_log_check_seal(way->store, error);
}

/* What the file says of its own shape must be what the scripts make: a changed definition of a table would
 * change what is done next. */
static tacit_status check_shape(tacit_ledger_file *self, tacit_error *error) {
    static const char shape[] =
        "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name";
    sqlite3 *model = NULL, *file = tacit_store_connection(self->store);
    sqlite3_stmt *expected = NULL, *there = NULL;
    bool same = sqlite3_open(":memory:", &model) == SQLITE_OK;
    for (size_t i = 0; same && i < tacit_ledger_script_count; i++)
        same = sqlite3_exec(model, tacit_ledger_scripts[i], NULL, NULL, NULL) == SQLITE_OK;
    same = same && sqlite3_prepare_v2(model, shape, -1, &expected, NULL) == SQLITE_OK &&
           sqlite3_prepare_v2(file, shape, -1, &there, NULL) == SQLITE_OK;
    for (int code = SQLITE_ROW, found = SQLITE_ROW; same && code == SQLITE_ROW;) {
        code = sqlite3_step(expected);
        found = sqlite3_step(there);
        same = code == found && (code == SQLITE_ROW || code == SQLITE_DONE);
        for (int c = 0; same && code == SQLITE_ROW && c < 4; c++) {
            const char *a = (const char *)sqlite3_column_text(expected, c),
                       *b = (const char *)sqlite3_column_text(there, c);
            same = a != NULL && b != NULL && strcmp(a, b) == 0;
        }
    }
    bool memory =
        model == NULL || sqlite3_errcode(model) == SQLITE_NOMEM || sqlite3_errcode(file) == SQLITE_NOMEM;
    sqlite3_finalize(expected);
    sqlite3_finalize(there);
    sqlite3_close(model);
    if (same) return TACIT_OK;
    if (memory) return tacit_fail_memory(error);
    return tacit_fail(error, TACIT_CORRUPT, "%s: its tables are not those of a ledger: %s",
                      tacit_store_path(self->store), damaged_remedy);
}

/* Bytes of SQLite's head that keep a file from being written, or rows from being read, only later: how it may
 * be read and written (1 or 2), bytes left free in each page, the format of the schema. */
static tacit_status check_head(tacit_ledger_file *self, tacit_error *error) {
    enum { READ = 19, WRITE = 18, FREE = 20, FORMAT = 47 };
    uint8_t head[100] = { 0 };
    FILE *file = fopen(tacit_store_path(self->store), "rb");
    if (file == NULL) return tacit_fail_errno(error, "reading", tacit_store_path(self->store));
    size_t length = fread(head, 1, sizeof head, file);
    fclose(file);
    bool right = length == sizeof head && (head[READ] == 1 || head[READ] == 2) && head[WRITE] == head[READ] &&
                 head[FREE] == 0 && head[FORMAT] == 4;
    if (right) return TACIT_OK;
    return tacit_fail(error, TACIT_CORRUPT, "%s: the head of the file was changed: %s",
                      tacit_store_path(self->store), damaged_remedy);
}

/* Settings in the head of the file that SQLite would act on. */
static tacit_status check_settings(const walk *way, tacit_error *error) {
    TACIT_TRY(check_none(way, "SELECT 1 FROM pragma_auto_vacuum WHERE auto_vacuum <> 0",
                         "settings of the file", error));
    return check_none(way, "SELECT 1 FROM pragma_encoding WHERE encoding <> 'UTF-8'", "settings of the file",
                      error);
}

tacit_status tacit_ledger_verify(tacit_verdict *out, tacit_ledger *ledger, tacit_error *error) {
    tacit_ledger_file *self = NULL;
    TACIT_TRY(tacit_ledger_file_of(&self, ledger, "verifying", error));
    tacit_store *store = self->store;
    walk way = { .store = store };
    tacit_status status = tacit_store_check(store, error);
    if (status == TACIT_OK) status = check_head(self, error);
    if (status == TACIT_OK) status = check_shape(self, error);
    if (status == TACIT_OK) status = tacit_store_begin_reading(store, error);
    if (status == TACIT_OK) status = check_settings(&way, error);
    /* SQLite looks for a table among the temporary ones first, so that applying the log fills these. The
     * rollback removes them. */
    if (status == TACIT_OK)
        status = tacit_store_run(store,
                                 TACIT_LEDGER_STATE_TABLES_1("TEMP") TACIT_LEDGER_STATE_TABLES_2("TEMP")
                                     TACIT_LEDGER_STATE_TABLES_4("TEMP"),
                                 error);
    if (status == TACIT_OK) status = check_chain(&way, error);
    if (status == TACIT_OK) status = check_state(&way, error);
    tacit_store_rollback(store);
    if (status == TACIT_OK || status == TACIT_CORRUPT) *out = way.verdict;
    return status;
}
