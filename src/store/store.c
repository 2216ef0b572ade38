/* Transactions, and what SQLite's result codes mean to the owner of the file. */
#include "store/store.h"

#include "store/store_parts.h"

static tacit_status fail_corrupt(const tacit_store *store, const char *what, tacit_error *error) {
    return tacit_fail(error, TACIT_CORRUPT,
                      "%s is damaged or not a %s (%s): restore it from a backup, or name another file",
                      store->path, store->schema->what, what);
}

tacit_status tacit_store_fail(const tacit_store *store, int code, tacit_error *error) {
    const char *path = store->path;
    const char *what = store->connection != NULL ? sqlite3_errmsg(store->connection) : sqlite3_errstr(code);
    if (code == SQLITE_IOERR_NOMEM) return tacit_fail_memory(error);
    if (code == SQLITE_IOERR_CORRUPTFS) return fail_corrupt(store, what, error);
    switch (code & 0xff) {
    case SQLITE_NOMEM: return tacit_fail_memory(error);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return fail_corrupt(store, what, error);
    case SQLITE_FULL:
        return tacit_fail(error, TACIT_IO, "%s: the disk is full: free some space, then try again", path);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return tacit_fail(error, TACIT_IO,
                          "%s cannot be written: make the file and its folder writable for this user", path);
    case SQLITE_CANTOPEN:
        return tacit_fail(error, TACIT_IO,
                          "%s cannot be opened (%s): check that it is a file, that its folder exists, and "
                          "that this user may write both",
                          path, what);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return tacit_fail(error, TACIT_IO,
                          "%s is in use by another process, which has not finished within %.3g s: try again",
                          path, store->patience / 1000.0);
    case SQLITE_IOERR:
        return tacit_fail(error, TACIT_IO,
                          "%s: reading or writing the disk failed (%s, code %d): check the disk", path,
                          sqlite3_errstr(code), code);
    case SQLITE_TOOBIG:
        return tacit_fail(error, TACIT_LIMIT, "%s: a value is larger than a database may hold", path);
    default: return tacit_fail(error, TACIT_INTERNAL, "%s: %s (code %d)", path, what, code);
    }
}

const char *tacit_store_path(const tacit_store *store) { return store->path; }

sqlite3 *tacit_store_connection(tacit_store *store) { return store->connection; }

void tacit_store_set_patience(tacit_store *store, unsigned milliseconds) { store->patience = milliseconds; }

tacit_status tacit_store_run(tacit_store *store, const char *sql, tacit_error *error) {
    int code = sqlite3_exec(store->connection, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? TACIT_OK : tacit_store_fail(store, code, error);
}

tacit_status tacit_store_begin(tacit_store *store, tacit_error *error) {
    return tacit_store_run(store, "BEGIN IMMEDIATE", error);
}

tacit_status tacit_store_begin_reading(tacit_store *store, tacit_error *error) {
    return tacit_store_run(store, "BEGIN", error);
}

tacit_status tacit_store_commit(tacit_store *store, tacit_error *error) {
    tacit_status status = tacit_store_run(store, "COMMIT", error);
    if (status != TACIT_OK) tacit_store_rollback(store);
    return status;
}

void tacit_store_rollback(tacit_store *store) {
    /* A rollback that fails leaves a transaction that never commits: the next begin reports it, and closing
     * the file takes it back. After some failures SQLite has already rolled back by itself. */
    if (sqlite3_get_autocommit(store->connection) == 0)
        sqlite3_exec(store->connection, "ROLLBACK", NULL, NULL, NULL);
}

tacit_status tacit_store_check(tacit_store *store, tacit_error *error) {
    tacit_statement *query = NULL;
    bool row = false;
    const char *answer = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(&query, store, "PRAGMA integrity_check(1)", error));
    TACIT_CHECK(tacit_statement_step(&row, query, error));
    if (!row) status = fail_corrupt(store, "the check gave no answer", error);
    if (row) TACIT_CHECK(tacit_column_text(&answer, query, 0, 4096, error));
    if (row && sqlite3_stricmp(answer, "ok") != 0) status = fail_corrupt(store, answer, error);
cleanup:
    tacit_statement_free(query);
    return status;
}
