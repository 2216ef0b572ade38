/* Shared by the files of this folder only. */
#pragma once

#include <sqlite3.h>

#include "store/statement.h"

struct tacit_store {
    sqlite3 *connection;
    tacit_statement *kept;        /* prepared and idle: preparing costs several times what most of them do */
    size_t kept_count, kept_most; /* 0: none is kept */
    const tacit_store_schema *schema;
    unsigned patience;     /* milliseconds to wait for another process */
    int64_t waiting_since; /* monotonic milliseconds, while the busy handler is at work */
    char *path;
};

/* Finalize the statements that are kept. */
void tacit_statements_drop(tacit_store *store);

/* The sentence and status for a SQLite result code (extended or not) about the file at `path`. */
tacit_status tacit_store_fail(const tacit_store *store, int code, tacit_error *error);
