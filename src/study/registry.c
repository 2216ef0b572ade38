#include "study/registry.h"

#include <limits.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/memory.h"
#include "study/registry_parts.h"

enum { STATEMENTS_KEPT = 64 };

static const char *const scripts[] = {
    "CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE study (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, definition TEXT NOT NULL,"
    "  state INTEGER NOT NULL, reason TEXT NOT NULL, secret BLOB, model BLOB, created INTEGER NOT NULL);"
    "CREATE TABLE invitation (token_hash BLOB PRIMARY KEY, study TEXT NOT NULL REFERENCES study(name),"
    "  expires INTEGER NOT NULL, request_hash BLOB, party TEXT) WITHOUT ROWID;"
    "CREATE TABLE party (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
    "  study TEXT NOT NULL REFERENCES study(name), fingerprint TEXT NOT NULL UNIQUE, certificate TEXT NOT "
    "NULL,"
    "  joined INTEGER NOT NULL, revoked INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE journal (study TEXT NOT NULL REFERENCES study(name), round INTEGER NOT NULL, record BLOB "
    "NOT NULL,"
    "  PRIMARY KEY (study, round)) WITHOUT ROWID;"
    "CREATE TABLE checkpoint (study TEXT PRIMARY KEY REFERENCES study(name), round INTEGER NOT NULL,"
    "  state BLOB NOT NULL) WITHOUT ROWID;",
    "CREATE TABLE points (study TEXT NOT NULL UNIQUE REFERENCES study(name), bytes BLOB NOT NULL);",
    /* Keys of secure summation by party; the roster of a study that has started; the answers to the closed
     * steps of its unfinished masked sum. */
    "CREATE TABLE signer (party TEXT PRIMARY KEY, key BLOB NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE roster (study TEXT NOT NULL REFERENCES study(name), place INTEGER NOT NULL, party TEXT NOT "
    "NULL,"
    "  key BLOB NOT NULL, PRIMARY KEY (study, place)) WITHOUT ROWID;"
    "CREATE TABLE masked_step (study TEXT NOT NULL REFERENCES study(name), round INTEGER NOT NULL,"
    "  step INTEGER NOT NULL, record BLOB NOT NULL, PRIMARY KEY (study, round, step));",
    /* Versions of a definition; which one a party has consented to, and whether it has left; where a paused
     * study was. */
    "ALTER TABLE study ADD COLUMN version INTEGER NOT NULL DEFAULT 1;"
    "ALTER TABLE study ADD COLUMN resumes INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE party ADD COLUMN version INTEGER NOT NULL DEFAULT 1;"
    "ALTER TABLE party ADD COLUMN away INTEGER NOT NULL DEFAULT 0;"
    "CREATE TABLE earlier_version (study TEXT NOT NULL REFERENCES study(name), version INTEGER NOT NULL,"
    "  definition TEXT NOT NULL, replaced INTEGER NOT NULL, PRIMARY KEY (study, version)) WITHOUT ROWID;",
    /* Further certificates of a party, beside its first; and those that count no more, in the order they were
     * revoked. */
    "CREATE TABLE renewal (fingerprint TEXT PRIMARY KEY, party TEXT NOT NULL, request_hash BLOB NOT NULL,"
    "  certificate TEXT NOT NULL, until INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE revocation (number INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, party TEXT NOT "
    "NULL,"
    "  study TEXT, revoked INTEGER NOT NULL);"
    "INSERT INTO revocation (fingerprint, party, study, revoked)"
    "  SELECT fingerprint, name, study, unixepoch() FROM party WHERE revoked = 1;",
    /* What people call who is invited, and the party that it becomes. */
    ("ALTER TABLE invitation ADD COLUMN called TEXT NOT NULL DEFAULT '';"
     "ALTER TABLE party ADD COLUMN called TEXT NOT NULL DEFAULT '';"),
    /* Tokens of programs that use the coordinator's HTTP interface. */
    "CREATE TABLE pass (id TEXT PRIMARY KEY, hash BLOB NOT NULL, scope INTEGER NOT NULL, study TEXT NOT NULL,"
    "  called TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER NOT NULL,"
    "  revoked INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;",
    /* Who asked to join, and what was decided; and which parties may be offered derived studies. */
    "CREATE TABLE applicant (token_hash BLOB PRIMARY KEY, study TEXT NOT NULL REFERENCES study(name),"
    "  words TEXT NOT NULL, asked INTEGER NOT NULL, state INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE INDEX applicant_asked ON applicant (study, asked);"
    "ALTER TABLE party ADD COLUMN ask_again INTEGER NOT NULL DEFAULT 0;"
    /* What is published of studies that have ended, by permanent id. */
    "CREATE TABLE archived (id TEXT PRIMARY KEY, study TEXT NOT NULL REFERENCES study(name), title TEXT NOT "
    "NULL,"
    "  published INTEGER NOT NULL, bytes BLOB NOT NULL);",
    /* Keys and shares of arms, by party; the groups they are drawn in; who has answered how much of a study
     * that gives receipts, and those given and redeemed; sealed contact details. */
    "CREATE TABLE arm (party TEXT PRIMARY KEY, study TEXT NOT NULL, key BLOB NOT NULL, grp INTEGER NOT NULL "
    "DEFAULT 0,"
    "  share BLOB, told INTEGER NOT NULL DEFAULT 0, UNIQUE (study, key)) WITHOUT ROWID;"
    "CREATE TABLE arm_group (study TEXT NOT NULL, grp INTEGER NOT NULL, draw INTEGER NOT NULL,"
    "  PRIMARY KEY (study, grp)) WITHOUT ROWID;"
    "CREATE TABLE answered (party TEXT NOT NULL, version INTEGER NOT NULL, study TEXT NOT NULL, first "
    "INTEGER NOT NULL,"
    "  last INTEGER NOT NULL, rounds INTEGER NOT NULL, PRIMARY KEY (party, version)) WITHOUT ROWID;"
    "CREATE TABLE receipt (party TEXT PRIMARY KEY, study TEXT NOT NULL, asked BLOB NOT NULL, given BLOB NOT "
    "NULL)"
    "  WITHOUT ROWID;"
    "CREATE TABLE redeemed (study TEXT NOT NULL, receipt BLOB NOT NULL, at INTEGER NOT NULL, PRIMARY KEY "
    "(study, receipt))"
    "  WITHOUT ROWID;"
    "CREATE TABLE contact (party TEXT PRIMARY KEY, study TEXT NOT NULL, sealed BLOB NOT NULL, at INTEGER NOT "
    "NULL)"
    "  WITHOUT ROWID;",
    /* Whoever joins is looked for and counted, among thousands. */
    "CREATE INDEX invitation_free ON invitation (study, expires) WHERE party IS NULL;"
    "CREATE INDEX invitation_used ON invitation (study, party) WHERE party IS NOT NULL;"
    "CREATE INDEX invitation_party ON invitation (party);"
    "CREATE INDEX party_study ON party (study, version, revoked);"
    "CREATE INDEX party_gone ON party (study) WHERE revoked <> 0 OR away <> 0;"
    "CREATE INDEX signer_key ON signer (key);",
};

static const tacit_store_schema schema = { "coordinator's registry", 0x74635231 /* "tcR1" */, scripts,
                                           sizeof scripts / sizeof scripts[0], NULL };

tacit_status tacit_registry_open(tacit_registry **out, const char *folder, bool create, tacit_error *error) {
    char path[PATH_MAX];
    TACIT_TRY(tacit_path_join(path, sizeof path, folder, "coordinator.db", error));
    tacit_registry *registry = TACIT_NEW(tacit_registry, 1);
    if (registry == NULL) return tacit_fail_memory(error);
    tacit_error why = TACIT_ERROR_INIT;
    tacit_status status = tacit_store_open(&registry->store, path, &schema,
                                           create ? TACIT_STORE_CREATE : TACIT_STORE_EXISTING, &why);
    if (status != TACIT_OK) {
        free(registry);
        if (status != TACIT_NOT_FOUND) return tacit_fail(error, status, "%s", why.text);
        return tacit_fail(error, status, "%s (tacit study new %s FILE makes one)", why.text, folder);
    }
    pthread_mutex_init(&registry->mutex, NULL);
    tacit_store_keep_statements(registry->store, STATEMENTS_KEPT); /* every poll asks the same few things */
    /* What is erased, a secret above all, is overwritten and not only unlinked from its page. */
    status = tacit_store_run(registry->store, "PRAGMA secure_delete = ON", error);
    if (status != TACIT_OK) {
        tacit_registry_close(registry);
        return status;
    }
    *out = registry;
    return TACIT_OK;
}

tacit_registry *tacit_registry_close(tacit_registry *registry) {
    if (registry == NULL) return NULL;
    tacit_store_close(registry->store);
    pthread_mutex_destroy(&registry->mutex);
    free(registry);
    return NULL;
}

static int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void tacit_registry_lock(tacit_registry *registry) {
    pthread_mutex_lock(&registry->mutex);
    registry->since = nanoseconds();
}

void tacit_registry_unlock(tacit_registry *registry) {
    atomic_fetch_add(&registry->uses, 1);
    atomic_fetch_add(&registry->used_ns, (uint64_t)(nanoseconds() - registry->since));
    pthread_mutex_unlock(&registry->mutex);
}

void tacit_registry_use(tacit_registry *registry, uint64_t *uses, uint64_t *used_ns) {
    *uses = atomic_load(&registry->uses);
    *used_ns = atomic_load(&registry->used_ns);
}

tacit_status tacit_registry_finish(tacit_registry *registry, tacit_status status, tacit_error *error) {
    if (status == TACIT_OK) return tacit_store_commit(registry->store, error);
    tacit_store_rollback(registry->store);
    return status;
}

tacit_status tacit_registry_check(tacit_registry *registry, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_status status = tacit_store_check(registry->store, error);
    tacit_registry_unlock(registry);
    return status;
}

/* ---- settings ---- */

tacit_status tacit_registry_set(tacit_registry *registry, const char *key, const char *value,
                                tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_status status = tacit_store_put(registry->store, "REPLACE INTO setting VALUES (?1, ?2)",
                                          TACIT_VALUES(tacit_sql_text(key), tacit_sql_text(value)), error);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status registry_find_text(tacit_registry *registry, const char *sql, const char *key, bool *found,
                                char *out, size_t size, tacit_error *error) {
    tacit_statement *get = NULL;
    const char *text = "";
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(&get, registry->store, sql, TACIT_VALUES(tacit_sql_text(key)), error));
    TACIT_CHECK(tacit_statement_step(found, get, error));
    if (*found) TACIT_CHECK(tacit_column_text(&text, get, 0, size - 1, error));
    snprintf(out, size, "%s", text);
cleanup:
    tacit_statement_free(get);
    return status;
}

tacit_status tacit_registry_get(tacit_registry *registry, const char *key, char *out, size_t size,
                                tacit_error *error) {
    bool row = false;
    tacit_registry_lock(registry);
    tacit_status status =
        registry_find_text(registry, "SELECT value FROM setting WHERE key = ?1", key, &row, out, size, error);
    tacit_registry_unlock(registry);
    return status;
}

/* ---- studies ---- */

const char *tacit_study_state_name(tacit_study_state state) {
    switch (state) {
    case TACIT_STUDY_DRAFT: return "draft";
    case TACIT_STUDY_PAUSED: return "paused";
    case TACIT_STUDY_RECRUITING: return "recruiting";
    case TACIT_STUDY_RUNNING: return "running";
    case TACIT_STUDY_DONE: return "done";
    case TACIT_STUDY_FAILED: return "failed";
    case TACIT_STUDY_CLOSED: return "closed";
    }
    return "unknown";
}

static bool has_ended(tacit_study_state state) { return state >= TACIT_STUDY_DONE; }

tacit_status registry_put_points(tacit_registry *registry, const char *study, const tacit_buffer *points,
                                 tacit_error *error) {
    return tacit_store_put(registry->store, "INSERT INTO points VALUES (?1, ?2)",
                           TACIT_VALUES(tacit_sql_text(study), tacit_sql_blob(points->bytes, points->length)),
                           error);
}

static tacit_status add_study(tacit_registry *registry, const char *name, const char *definition,
                              const tacit_buffer *points, tacit_study_state state, tacit_error *error) {
    uint8_t secret[TACIT_STREAM_KEY_BYTES];
    randombytes_buf(secret, sizeof secret);
    tacit_registry_lock(registry);
    bool taken = false;
    tacit_status status;
    TACIT_CHECK(tacit_store_begin(registry->store, error));
    TACIT_CHECK(tacit_store_has(&taken, registry->store, "SELECT 1 FROM study WHERE name = ?1",
                                TACIT_VALUES(tacit_sql_text(name)), error));
    if (taken)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                               "a study called '%s' is already there; choose another name", name));
    TACIT_CHECK(tacit_store_put(registry->store,
                                "INSERT INTO study (name, definition, state, reason, secret, created)"
                                " VALUES (?1, ?2, ?3, '', ?4, ?5)",
                                TACIT_VALUES(tacit_sql_text(name), tacit_sql_text(definition),
                                             tacit_sql_integer(state), tacit_sql_blob(secret, sizeof secret),
                                             tacit_sql_integer((int64_t)time(NULL))),
                                error));
    if (points != NULL && points->length > 0) TACIT_CHECK(registry_put_points(registry, name, points, error));
cleanup:
    status = tacit_registry_finish(registry, status, error);
    tacit_registry_unlock(registry);
    sodium_memzero(secret, sizeof secret);
    return status;
}

tacit_status tacit_registry_add_study(tacit_registry *registry, const char *name, const char *definition,
                                      const tacit_buffer *points, tacit_error *error) {
    return add_study(registry, name, definition, points, TACIT_STUDY_RECRUITING, error);
}

tacit_status tacit_registry_add_draft(tacit_registry *registry, const char *name, const char *definition,
                                      const tacit_buffer *points, tacit_error *error) {
    return add_study(registry, name, definition, points, TACIT_STUDY_DRAFT, error);
}

#define STUDY_COLUMNS                                                                                        \
    "SELECT name, state, reason, (SELECT count(*) FROM party p WHERE study = s.name AND revoked = 0 AND "    \
    "p.version = s.version),"                                                                                \
    " (SELECT count(*) FROM invitation WHERE study = s.name AND party IS NULL AND expires > unixepoch()),"   \
    " coalesce((SELECT max(round) + 1 FROM journal WHERE study = s.name AND round < (1 << 62)), 0), "        \
    "definition, (SELECT max(step) + 1 FROM masked_step WHERE study = s.name AND step BETWEEN 0 AND 15 AND " \
    "round ="                                                                                                \
    " coalesce((SELECT max(round) + 1 FROM journal WHERE study = s.name AND round < (1 << 62)), 0)), "       \
    "version, (SELECT count(*) FROM party p WHERE study = s.name AND revoked = 0 AND p.version < "           \
    "s.version), EXISTS (SELECT 1 FROM masked_step WHERE study = s.name)"                                    \
    " AND instr(definition, char(10) || 'sum: paillier' || char(10)) > 0 "                                   \
    "FROM study s "

/* The same without what has to be counted. */
#define BRIEF_COLUMNS "SELECT name, state, reason, 0, 0, 0, definition, NULL, version, 0, 0 FROM study s "

/* The step of a secure sum that is open, by its number among those of its protocol; "" for none. */
static const char *step_name(int64_t step, bool encrypted) {
    const tacit_plan way = { .sums = encrypted ? TACIT_SUMS_PAILLIER : TACIT_SUMS_MASKED };
    const int64_t last = encrypted ? TACIT_PAILLIER_SUM_OPENED : TACIT_SUM_OPENED;
    return step > 0 && step < last ? tacit_sum_step_name(&way, (unsigned)step) : "";
}

static tacit_status read_record(tacit_statement *row, tacit_study_record *out, tacit_error *error) {
    const char *name, *reason;
    TACIT_TRY(tacit_column_text(&name, row, 0, TACIT_ID_SIZE - 1, error));
    TACIT_TRY(tacit_column_text(&reason, row, 2, TACIT_ERROR_TEXT_SIZE - 1, error));
    int64_t step = tacit_column_integer(row, 7); /* 0 for none */
    *out = (tacit_study_record){ .step = step_name(step, tacit_column_integer(row, 10) != 0),
                                 .state = (tacit_study_state)tacit_column_integer(row, 1),
                                 .version = (unsigned)tacit_column_integer(row, 8),
                                 .outdated = (size_t)tacit_column_integer(row, 9),
                                 .joined = (size_t)tacit_column_integer(row, 3),
                                 .invited = (size_t)tacit_column_integer(row, 4),
                                 .rounds = (uint64_t)tacit_column_integer(row, 5) };
    memcpy(out->name, name, strlen(name) + 1);
    memcpy(out->reason, reason, strlen(reason) + 1);
    return TACIT_OK;
}

tacit_status tacit_registry_studies(tacit_registry *registry, tacit_study_record **out, size_t *count,
                                    tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_statement *list = NULL;
    tacit_study_record *records = NULL;
    size_t used = 0;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(&list, registry->store, STUDY_COLUMNS "ORDER BY number", error));
    while (tacit_statement_next(list, &status, error)) {
        tacit_study_record *grown = tacit_grow(records, used + 1, sizeof *records);
        if (grown == NULL) TACIT_CHECK(tacit_fail_memory(error));
        records = grown;
        TACIT_CHECK(read_record(list, &records[used], error));
        used++;
    }
    if (status != TACIT_OK) goto cleanup;
    *out = records;
    *count = used;
    records = NULL;
cleanup:
    free(records);
    tacit_statement_free(list);
    tacit_registry_unlock(registry);
    return status;
}

static tacit_status read_study(tacit_registry *registry, const char *sql, const char *name,
                               tacit_study_record *out, tacit_buffer *definition, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_statement *get = NULL;
    const char *text;
    bool row = false;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(&get, registry->store, sql, error));
    tacit_bind_text(get, 1, name);
    TACIT_CHECK(tacit_statement_step(&row, get, error));
    if (!row)
        TACIT_CHECK(tacit_fail(error, TACIT_NOT_FOUND,
                               "no study is called '%s' (tacit study status lists them)", name));
    TACIT_CHECK(read_record(get, out, error));
    if (definition != NULL) {
        TACIT_CHECK(tacit_column_text(&text, get, 6, SIZE_MAX / 2, error));
        TACIT_CHECK(tacit_buffer_append(definition, text, strlen(text), error));
    }
cleanup:
    tacit_statement_free(get);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_study(tacit_registry *registry, const char *name, tacit_study_record *out,
                                  tacit_buffer *definition, tacit_error *error) {
    return read_study(registry, STUDY_COLUMNS "WHERE name = ?1", name, out, definition, error);
}

tacit_status tacit_registry_brief(tacit_registry *registry, const char *name, tacit_study_record *out,
                                  tacit_buffer *definition, tacit_error *error) {
    return read_study(registry, BRIEF_COLUMNS "WHERE name = ?1", name, out, definition, error);
}

tacit_status registry_state(tacit_registry *registry, const char *name, tacit_study_state *out,
                            tacit_error *error) {
    bool row = false;
    int64_t state;
    TACIT_TRY(tacit_store_ask(&row, &state, 1, registry->store, "SELECT state FROM study WHERE name = ?1",
                              TACIT_VALUES(tacit_sql_text(name)), error));
    if (!row) return tacit_fail(error, TACIT_NOT_FOUND, "no study is called '%s'", name);
    *out = (tacit_study_state)state;
    return TACIT_OK;
}

tacit_status tacit_registry_state(tacit_registry *registry, const char *name, tacit_study_state *out,
                                  tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_status status = registry_state(registry, name, out, error);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status registry_run_for(tacit_registry *registry, const char *sql, const char *study,
                              tacit_error *error) {
    return tacit_store_put(registry->store, sql, TACIT_VALUES(tacit_sql_text(study)), error);
}

/* A sum entrusted to the coordinator, kept beside the published model, would tell the noise as the secret
 * does. That there was a round may be known, so the emptied records stay. */
static tacit_status erase_journal(tacit_registry *registry, const char *study, tacit_error *error) {
    TACIT_TRY(registry_run_for(registry, "UPDATE journal SET record = x'' WHERE study = ?1", study, error));
    TACIT_TRY(registry_run_for(registry, "DELETE FROM masked_step WHERE study = ?1", study, error));
    return registry_run_for(registry, "DELETE FROM checkpoint WHERE study = ?1", study, error);
}

tacit_status tacit_registry_set_state(tacit_registry *registry, const char *name, tacit_study_state state,
                                      const char *reason, const tacit_buffer *model, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_study_state before;
    tacit_status status;
    TACIT_CHECK(tacit_store_begin(registry->store, error));
    TACIT_CHECK(registry_state(registry, name, &before, error));
    if (has_ended(before))
        TACIT_CHECK(
            tacit_fail(error, TACIT_USAGE, "study '%s' is already %s", name, tacit_study_state_name(before)));
    TACIT_CHECK(tacit_store_put(
        registry->store,
        "UPDATE study SET state = ?2, reason = ?3, model = ?4,"
        " secret = CASE WHEN ?5 THEN NULL ELSE secret END WHERE name = ?1",
        TACIT_VALUES(tacit_sql_text(name), tacit_sql_integer(state), tacit_sql_text(reason),
                     tacit_sql_blob(model != NULL ? model->bytes : NULL, model != NULL ? model->length : 0),
                     tacit_sql_integer(has_ended(state))),
        error));
    if (has_ended(state)) TACIT_CHECK(erase_journal(registry, name, error));
cleanup:
    status = tacit_registry_finish(registry, status, error);
    /* The write-ahead log still holds pages with the secret: move it into the file and cut it off. Where
     * another process reads just now, closing the file or the next study's end does it. */
    if (status == TACIT_OK && has_ended(state))
        (void)tacit_store_run(registry->store, "PRAGMA wal_checkpoint(TRUNCATE)", NULL);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_secret(tacit_registry *registry, const char *name, tacit_stream *out,
                                   tacit_error *error) {
    uint8_t key[TACIT_STREAM_KEY_BYTES];
    tacit_registry_lock(registry);
    tacit_statement *get = NULL;
    bool row = false;
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(&get, registry->store,
                                     "SELECT secret FROM study WHERE name = ?1 AND secret IS NOT NULL",
                                     TACIT_VALUES(tacit_sql_text(name)), error));
    TACIT_CHECK(tacit_statement_step(&row, get, error));
    if (!row) TACIT_CHECK(tacit_fail(error, TACIT_NOT_FOUND, "study '%s' has ended", name));
    TACIT_CHECK(tacit_column_bytes(key, sizeof key, get, 0, error));
    *out = tacit_stream_from_key(key);
cleanup:
    sodium_memzero(key, sizeof key);
    tacit_statement_free(get);
    tacit_registry_unlock(registry);
    return status;
}

/* The first column of the one row that `sql` finds for a study, appended; *found false when there is no
 * row. */
tacit_status registry_take_bytes(tacit_statement *get, bool *found, tacit_buffer *out, tacit_error *error) {
    const uint8_t *bytes;
    size_t length;
    *found = false;
    TACIT_TRY(tacit_statement_step(found, get, error));
    if (!*found) return TACIT_OK;
    TACIT_TRY(tacit_column_blob(&bytes, &length, get, 0, SIZE_MAX / 2, error));
    return tacit_buffer_append(out, bytes, length, error);
}

static tacit_status read_bytes(tacit_registry *registry, const char *sql, const char *study, bool *found,
                               tacit_buffer *out, tacit_error *error) {
    tacit_registry_lock(registry);
    tacit_statement *get = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(&get, registry->store, sql, TACIT_VALUES(tacit_sql_text(study)), error));
    TACIT_CHECK(registry_take_bytes(get, found, out, error));
cleanup:
    tacit_statement_free(get);
    tacit_registry_unlock(registry);
    return status;
}

tacit_status tacit_registry_model(tacit_registry *registry, const char *name, tacit_buffer *out,
                                  tacit_error *error) {
    bool found;
    TACIT_TRY(read_bytes(registry, "SELECT model FROM study WHERE name = ?1 AND model IS NOT NULL", name,
                         &found, out, error));
    return found ? TACIT_OK : tacit_fail(error, TACIT_NOT_FOUND, "study '%s' has no model", name);
}

tacit_status tacit_registry_points(tacit_registry *registry, const char *name, tacit_buffer *out,
                                   tacit_error *error) {
    bool found;
    return read_bytes(registry, "SELECT bytes FROM points WHERE study = ?1", name, &found, out, error);
}
