/* Opening a file: is it there, is it ours, is it of our time; and making a new one whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "store/store_parts.h"

enum { FIRST_PATIENCE = 10000 };

static int64_t monotonic_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Called by SQLite while another process holds the lock; 0 gives up. Short waits first, because a charge
 * takes a few milliseconds. */
static int wait_for_others(void *context, int times) {
    tacit_store *store = context;
    int64_t now = monotonic_milliseconds();
    if (times == 0) store->waiting_since = now;
    if (now - store->waiting_since >= (int64_t)store->patience) return 0;
    long milliseconds = times < 4 ? 1L << times : 16 + times % 8;
    struct timespec pause = { 0, milliseconds * 1000000 };
    nanosleep(&pause, NULL);
    return 1;
}

/* A PRAGMA whose answer is one integer. */
static tacit_status read_pragma(int64_t *out, tacit_store *store, const char *sql, tacit_error *error) {
    tacit_statement *query = NULL;
    TACIT_TRY(tacit_statement_prepare(&query, store, sql, error));
    bool row = false;
    tacit_status status = tacit_statement_step(&row, query, error);
    if (status == TACIT_OK) *out = row ? tacit_column_integer(query, 0) : 0;
    tacit_statement_free(query);
    return status;
}

/* Open the file as it is; every connection setting that does not write to it. */
static tacit_status connect_to(tacit_store **out, const char *path, const tacit_store_schema *schema,
                               int flags, tacit_error *error) {
    tacit_store *store = TACIT_NEW(tacit_store, 1);
    if (store == NULL) return tacit_fail_memory(error);
    tacit_status status = TACIT_OK;
    store->schema = schema;
    store->patience = FIRST_PATIENCE;
    store->path = tacit_copy_text(path);
    if (store->path == NULL) status = tacit_fail_memory(error);
    if (status == TACIT_OK) {
        int code = sqlite3_open_v2(path, &store->connection, flags | SQLITE_OPEN_NOMUTEX, NULL);
        if (code != SQLITE_OK) status = tacit_store_fail(store, code, error);
    }
    if (status == TACIT_OK) {
        sqlite3_extended_result_codes(store->connection, 1);
        sqlite3_busy_handler(store->connection, wait_for_others, store);
        sqlite3_db_config(store->connection, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        sqlite3_db_config(store->connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        status = tacit_store_run(store,
                                 "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL;"
                                 "PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;",
                                 error);
    }
    if (status != TACIT_OK) {
        tacit_store_close(store);
        return status;
    }
    *out = store;
    return TACIT_OK;
}

tacit_store *tacit_store_close(tacit_store *store) {
    if (store == NULL) return NULL;
    if (store->connection != NULL) tacit_store_rollback(store);
    tacit_statements_drop(store);
    sqlite3_close_v2(store->connection);
    free(store->path);
    free(store);
    return NULL;
}

static tacit_status fail_newer(const tacit_store *store, int64_t version, tacit_error *error) {
    return tacit_fail(error, TACIT_INPUT,
                      "%s was written by a newer version of this program (format %lld, this one knows %zu): "
                      "update the program",
                      store->path, (long long)version, store->schema->script_count);
}

/* Run the scripts that the file has not seen, and write the marks, in one transaction. */
static tacit_status migrate(tacit_store *store, tacit_error *error) {
    const tacit_store_schema *schema = store->schema;
    int64_t count = (int64_t)schema->script_count, version = 0;
    char marks[96];
    snprintf(marks, sizeof marks, "PRAGMA application_id = %d; PRAGMA user_version = %lld;",
             (int)schema->application_id, (long long)count);
    TACIT_TRY(tacit_store_begin(store, error));
    /* Read again under the lock: another process, even a newer one, may have migrated since. */
    tacit_status status = read_pragma(&version, store, "PRAGMA user_version", error);
    if (status == TACIT_OK && version > count) status = fail_newer(store, version, error);
    for (int64_t i = version; status == TACIT_OK && i < count; i++)
        status = tacit_store_run(store, schema->scripts[i], error);
    if (status == TACIT_OK && version < count && schema->adapt != NULL)
        status = schema->adapt(store, version, error);
    if (status == TACIT_OK) status = tacit_store_run(store, marks, error);
    if (status == TACIT_OK) return tacit_store_commit(store, error);
    tacit_store_rollback(store);
    return tacit_fail_in(error, status, "updating the %s", schema->what);
}

/* WAL: readers and the writer do not block each other, and a commit is one append and one sync. */
static tacit_status use_write_ahead_log(tacit_store *store, tacit_error *error) {
    tacit_statement *query = NULL;
    TACIT_TRY(tacit_statement_prepare(&query, store, "PRAGMA journal_mode = WAL", error));
    bool row = false;
    const char *mode = "";
    tacit_status status = tacit_statement_step(&row, query, error);
    if (status == TACIT_OK && row) status = tacit_column_text(&mode, query, 0, 32, error);
    if (status == TACIT_OK && strcmp(mode, "wal") != 0)
        status = tacit_fail(error, TACIT_IO,
                            "%s: this file system cannot hold a write-ahead log: keep the %s on a local disk",
                            store->path, store->schema->what);
    tacit_statement_free(query);
    return status;
}

static bool exists(const char *path) {
    struct stat about;
    return stat(path, &about) == 0;
}

static void remove_with_companions(const char *path) {
    static const char *const endings[] = { "", "-journal", "-wal", "-shm" };
    char name[PATH_MAX];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        int needed = snprintf(name, sizeof name, "%s%s", path, endings[i]);
        if (needed > 0 && (size_t)needed < sizeof name) unlink(name);
    }
}

/* Build the file at `temporary`, which exists and is empty. */
static tacit_status build(const char *temporary, const tacit_store_schema *schema, tacit_error *error) {
    tacit_store *store = NULL;
    TACIT_TRY(connect_to(&store, temporary, schema, SQLITE_OPEN_READWRITE, error));
    tacit_status status = migrate(store, error);
    /* The switch to WAL is itself written through a rollback journal, so the main file is complete. */
    if (status == TACIT_OK) status = use_write_ahead_log(store, error);
    tacit_store_close(store);
    return status;
}

static tacit_status fail_create(const char *path, tacit_error *error) {
    if (errno == ENOENT || errno == ENOTDIR)
        return tacit_fail(error, TACIT_IO, "%s cannot be created: its folder does not exist; make it first",
                          path);
    if (errno == EACCES || errno == EPERM || errno == EROFS)
        return tacit_fail(error, TACIT_IO, "%s cannot be created: make its folder writable for this user",
                          path);
    if (errno == ENOSPC || errno == EDQUOT)
        return tacit_fail(error, TACIT_IO, "%s: the disk is full: free some space, then try again", path);
    return tacit_fail_errno(error, "creating", path);
}

/* Make the file under another name and link it into place: others see all of it or nothing, whoever comes
 * second finds the first one's file, and an empty file always means damage. */
static tacit_status create_if_missing(const char *path, const tacit_store_schema *schema,
                                      tacit_error *error) {
    if (exists(path)) return TACIT_OK;
    char temporary[PATH_MAX], log[PATH_MAX];
    int needed = snprintf(temporary, sizeof temporary, "%s.new-XXXXXX", path);
    if (needed < 0 || (size_t)needed >= sizeof temporary)
        return tacit_fail(error, TACIT_LIMIT, "path too long: %s", path);
    snprintf(log, sizeof log, "%s-wal", path);
    /* A log without its file would be replayed into the new one. */
    if (exists(log) && !exists(path))
        return tacit_fail(error, TACIT_CORRUPT,
                          "%s is gone but its log %s is there: restore the file from a backup, or remove the "
                          "log to start over",
                          path, log);
    int file = mkostemp(temporary, O_CLOEXEC); /* mode 0600 */
    if (file < 0) return fail_create(path, error);
    close(file);
    tacit_status status = build(temporary, schema, error);
    if (status == TACIT_OK && link(temporary, path) != 0 && errno != EEXIST)
        status = fail_create(path, error);
    remove_with_companions(temporary);
    if (status == TACIT_OK) status = tacit_folder_sync_of(path, error);
    return status;
}

/* Before anything is written: is the file there, not empty, marked as ours, and not of a newer program? */
static tacit_status recognise(int64_t *version, tacit_store *store, tacit_error *error) {
    const tacit_store_schema *schema = store->schema;
    int64_t application = 0;
    TACIT_TRY(read_pragma(&application, store, "PRAGMA application_id", error));
    if (application != schema->application_id)
        return tacit_fail(error, TACIT_INPUT,
                          "%s is a database of another program, not a %s: name another file", store->path,
                          schema->what);
    TACIT_TRY(read_pragma(version, store, "PRAGMA user_version", error));
    if (*version < 1) return tacit_store_fail(store, SQLITE_CORRUPT, error);
    if (*version > (int64_t)schema->script_count) return fail_newer(store, *version, error);
    return TACIT_OK;
}

static tacit_status prepare_for_writing(tacit_store *store, int64_t version, tacit_error *error) {
    struct stat about;
    /* Not through a file handle: closing one would drop SQLite's locks on the file. */
    if (stat(store->path, &about) == 0 && (about.st_mode & 077) != 0 && about.st_uid == geteuid() &&
        chmod(store->path, 0600) != 0)
        return tacit_fail_errno(error, "making private", store->path);
    TACIT_TRY(use_write_ahead_log(store, error));
    if (version < (int64_t)store->schema->script_count) TACIT_TRY(migrate(store, error));
    return TACIT_OK;
}

tacit_status tacit_store_open(tacit_store **out, const char *path, const tacit_store_schema *schema,
                              tacit_store_mode mode, tacit_error *error) {
    if (path[0] == 0) return tacit_fail(error, TACIT_USAGE, "a %s needs a file name", schema->what);
    if (mode == TACIT_STORE_CREATE) TACIT_TRY(create_if_missing(path, schema, error));
    struct stat about;
    bool seen = stat(path, &about) == 0;
    if (!seen && errno == ENOENT)
        return tacit_fail(error, TACIT_NOT_FOUND, "there is no %s at %s", schema->what, path);
    if (seen && S_ISREG(about.st_mode) && about.st_size == 0)
        return tacit_fail(error, TACIT_CORRUPT,
                          "%s is empty: restore the %s from a backup, or remove the file", path,
                          schema->what);
    tacit_store *store = NULL;
    int flags = mode == TACIT_STORE_READING ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    TACIT_TRY(connect_to(&store, path, schema, flags, error));
    int64_t version = 0;
    tacit_status status = recognise(&version, store, error);
    if (status == TACIT_OK && mode != TACIT_STORE_READING)
        status = prepare_for_writing(store, version, error);
    else if (status == TACIT_OK && version < (int64_t)schema->script_count)
        status = tacit_fail(error, TACIT_INPUT,
                            "%s is of an older format (%lld of %zu): open it once for writing to update it",
                            path, (long long)version, schema->script_count);
    if (status != TACIT_OK) {
        tacit_store_close(store);
        return status;
    }
    *out = store;
    return TACIT_OK;
}
