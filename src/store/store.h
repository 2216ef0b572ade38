/*
 * A SQLite database that survives crashes, used by the ledger and the study store.
 *
 * Rules of this interface:
 *  - A store is used by one thread at a time; any number of processes may open the same file. A store must
 *    not be carried across fork().
 *  - A commit that returned TACIT_OK is on the disk (write-ahead log, synced at each commit).
 *  - Every failure is one sentence that names the file and the remedy. Status: TACIT_CORRUPT for a damaged
 *    file, TACIT_INPUT for somebody else's file or one of a newer program, TACIT_IO for a full, read-only,
 *    failing or busy disk.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct sqlite3;

typedef struct tacit_store tacit_store;

/* What a kind of file looks like. Script k brings a file from version k to version k + 1, so a new file
 * runs them all; a script, once shipped, never changes. */
typedef struct tacit_store_schema {
    const char *what;       /* in sentences: "ledger" */
    int32_t application_id; /* marks the file as ours; not 0 */
    const char *const *scripts;
    size_t script_count;
    /* What SQL alone cannot do: called after the scripts, in their transaction, with the version that the
     * file had (0: new). May be NULL. */
    tacit_status (*adapt)(tacit_store *store, int64_t version, tacit_error *error);
} tacit_store_schema;

typedef enum tacit_store_mode {
    TACIT_STORE_CREATE,   /* read and write; a missing file is made, with mode 0600 */
    TACIT_STORE_EXISTING, /* read and write; TACIT_NOT_FOUND when missing */
    TACIT_STORE_READING,  /* read only; TACIT_NOT_FOUND when missing; an older version is refused */
} tacit_store_mode;

/* Open `path`. A new file is built under a temporary name and linked into place whole, so an empty file is
 * never taken for a new one. The schema must outlive the store. */
tacit_status tacit_store_open(tacit_store **out, const char *path, const tacit_store_schema *schema,
                              tacit_store_mode mode, tacit_error *error);
tacit_store *tacit_store_close(tacit_store *store);

const char *tacit_store_path(const tacit_store *store);

/* The connection, borrowed: for backup and hooks. */
struct sqlite3 *tacit_store_connection(tacit_store *store);

/* How long to wait for another process before giving up; 10,000 ms at first. */
void tacit_store_set_patience(tacit_store *store, unsigned milliseconds);

/* Start a transaction that may write: it holds the only write lock from the start, so what it reads stays
 * true until it commits. Transactions do not nest. */
tacit_status tacit_store_begin(tacit_store *store, tacit_error *error);

/* Start a transaction that only reads, and sees one state throughout. */
tacit_status tacit_store_begin_reading(tacit_store *store, tacit_error *error);

/* Make the transaction durable. On failure nothing may be assumed but that it is over: it was taken back,
 * or (a failing disk) cannot be known to have been. */
tacit_status tacit_store_commit(tacit_store *store, tacit_error *error);

/* Take back the open transaction; nothing happens when there is none. */
void tacit_store_rollback(tacit_store *store);

/* Let SQLite examine every page; TACIT_CORRUPT names the first complaint. Reads the whole file. */
tacit_status tacit_store_check(tacit_store *store, tacit_error *error);

/* Run SQL that returns no rows and takes no values. */
tacit_status tacit_store_run(tacit_store *store, const char *sql, tacit_error *error);
