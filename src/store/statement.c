#include "store/statement.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/store_parts.h"

struct tacit_statement {
    tacit_store *store;
    sqlite3_stmt *handle;
    int bind_code;         /* the first bind that failed */
    tacit_statement *next; /* in the store's list, while idle */
};

/* The idle statement with these words, taken out of the list; NULL: none. */
static tacit_statement *take_kept(tacit_store *store, const char *sql) {
    tacit_statement **link = &store->kept;
    while (*link != NULL && strcmp(sqlite3_sql((*link)->handle), sql) != 0) link = &(*link)->next;
    tacit_statement *found = *link;
    if (found == NULL) return NULL;
    *link = found->next;
    found->next = NULL;
    store->kept_count--;
    return found;
}

tacit_status tacit_statement_prepare(tacit_statement **out, tacit_store *store, const char *sql,
                                     tacit_error *error) {
    tacit_statement *statement = take_kept(store, sql);
    if (statement != NULL) {
        *out = statement;
        return TACIT_OK;
    }
    statement = TACIT_NEW(tacit_statement, 1);
    if (statement == NULL) return tacit_fail_memory(error);
    statement->store = store;
    int code = sqlite3_prepare_v2(store->connection, sql, -1, &statement->handle, NULL);
    if (code != SQLITE_OK) {
        tacit_status status = tacit_store_fail(store, code, error);
        tacit_statement_free(statement);
        return status;
    }
    *out = statement;
    return TACIT_OK;
}

static void finalize(tacit_statement *statement) {
    sqlite3_finalize(statement->handle);
    free(statement);
}

/* What was bound belongs to the caller and is forgotten; the words are kept. */
tacit_statement *tacit_statement_free(tacit_statement *statement) {
    if (statement == NULL) return NULL;
    tacit_store *store = statement->store;
    if (statement->handle == NULL || store->kept_count >= store->kept_most) {
        finalize(statement);
        return NULL;
    }
    tacit_statement_reset(statement);
    sqlite3_clear_bindings(statement->handle);
    statement->next = store->kept;
    store->kept = statement;
    store->kept_count++;
    return NULL;
}

void tacit_store_keep_statements(tacit_store *store, size_t most) { store->kept_most = most; }

void tacit_statements_drop(tacit_store *store) {
    for (tacit_statement *each = store->kept, *next; each != NULL; each = next) {
        next = each->next;
        finalize(each);
    }
    store->kept = NULL;
    store->kept_count = 0;
}

static void remember(tacit_statement *statement, int code) {
    if (statement->bind_code == SQLITE_OK) statement->bind_code = code;
}

void tacit_bind_integer(tacit_statement *statement, int index, int64_t value) {
    remember(statement, sqlite3_bind_int64(statement->handle, index, value));
}

void tacit_bind_double(tacit_statement *statement, int index, double value) {
    remember(statement, sqlite3_bind_double(statement->handle, index, value));
}

void tacit_bind_text(tacit_statement *statement, int index, const char *text) {
    remember(statement, sqlite3_bind_text(statement->handle, index, text, -1, SQLITE_STATIC));
}

void tacit_bind_blob(tacit_statement *statement, int index, const void *bytes, size_t length) {
    remember(statement, sqlite3_bind_blob64(statement->handle, index, bytes, length, SQLITE_STATIC));
}

tacit_status tacit_statement_open(tacit_statement **out, tacit_store *store, const char *sql,
                                  const tacit_sql_value *values, size_t count, tacit_error *error) {
    TACIT_TRY(tacit_statement_prepare(out, store, sql, error));
    for (size_t i = 0; i < count; i++) {
        const int index = (int)i + 1;
        switch (values[i].kind) {
        case TACIT_SQL_INTEGER: tacit_bind_integer(*out, index, values[i].integer); break;
        case TACIT_SQL_NUMBER: tacit_bind_double(*out, index, values[i].number); break;
        case TACIT_SQL_TEXT: tacit_bind_text(*out, index, values[i].bytes); break;
        case TACIT_SQL_BLOB: tacit_bind_blob(*out, index, values[i].bytes, values[i].length); break;
        }
    }
    return TACIT_OK;
}

tacit_status tacit_store_put(tacit_store *store, const char *sql, const tacit_sql_value *values, size_t count,
                             tacit_error *error) {
    tacit_statement *statement = NULL;
    tacit_status status = tacit_statement_open(&statement, store, sql, values, count, error);
    if (status == TACIT_OK) status = tacit_statement_run(statement, error);
    tacit_statement_free(statement);
    return status;
}

tacit_status tacit_store_ask(bool *row, int64_t *out, int columns, tacit_store *store, const char *sql,
                             const tacit_sql_value *values, size_t count, tacit_error *error) {
    tacit_statement *statement = NULL;
    tacit_status status = tacit_statement_open(&statement, store, sql, values, count, error);
    if (status == TACIT_OK) status = tacit_statement_step(row, statement, error);
    for (int i = 0; status == TACIT_OK && i < columns; i++)
        out[i] = *row ? tacit_column_integer(statement, i) : 0;
    tacit_statement_free(statement);
    return status;
}

tacit_status tacit_store_has(bool *out, tacit_store *store, const char *sql, const tacit_sql_value *values,
                             size_t count, tacit_error *error) {
    return tacit_store_ask(out, NULL, 0, store, sql, values, count, error);
}

tacit_status tacit_statement_step(bool *row, tacit_statement *statement, tacit_error *error) {
    if (statement->bind_code != SQLITE_OK)
        return tacit_store_fail(statement->store, statement->bind_code, error);
    int code = sqlite3_step(statement->handle);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        tacit_status status = tacit_store_fail(statement->store, code, error);
        sqlite3_reset(statement->handle);
        return status;
    }
    *row = code == SQLITE_ROW;
    return TACIT_OK;
}

bool tacit_statement_next(tacit_statement *statement, tacit_status *status, tacit_error *error) {
    bool row = false;
    *status = tacit_statement_step(&row, statement, error);
    return *status == TACIT_OK && row;
}

tacit_status tacit_statement_run(tacit_statement *statement, tacit_error *error) {
    bool row = false;
    TACIT_TRY(tacit_statement_step(&row, statement, error));
    tacit_statement_reset(statement);
    return row ? tacit_fail(error, TACIT_INTERNAL, "%s: unexpected row", statement->store->path) : TACIT_OK;
}

void tacit_statement_reset(tacit_statement *statement) {
    statement->bind_code = SQLITE_OK;
    sqlite3_reset(statement->handle);
}

int64_t tacit_column_integer(tacit_statement *statement, int column) {
    return sqlite3_column_int64(statement->handle, column);
}

double tacit_column_double(tacit_statement *statement, int column) {
    return sqlite3_column_double(statement->handle, column);
}

static tacit_status fail_column(const tacit_statement *statement, int column, const char *expected,
                                tacit_error *error) {
    const char *name = sqlite3_column_name(statement->handle, column);
    return tacit_fail(error, TACIT_CORRUPT, "%s is damaged (%s is not %s): restore it from a backup",
                      statement->store->path, name != NULL ? name : "a column", expected);
}

tacit_status tacit_column_text(const char **out, tacit_statement *statement, int column, size_t most,
                               tacit_error *error) {
    if (sqlite3_column_type(statement->handle, column) != SQLITE_TEXT)
        return fail_column(statement, column, "text", error);
    const char *text = (const char *)sqlite3_column_text(statement->handle, column);
    if (text == NULL) return tacit_fail_memory(error);
    size_t length = (size_t)sqlite3_column_bytes(statement->handle, column);
    if (length > most || memchr(text, 0, length) != NULL)
        return fail_column(statement, column, "text of the allowed length", error);
    *out = text;
    return TACIT_OK;
}

tacit_status tacit_column_blob(const uint8_t **out, size_t *length, tacit_statement *statement, int column,
                               size_t most, tacit_error *error) {
    if (sqlite3_column_type(statement->handle, column) != SQLITE_BLOB)
        return fail_column(statement, column, "bytes", error);
    const uint8_t *bytes = sqlite3_column_blob(statement->handle, column);
    size_t size = (size_t)sqlite3_column_bytes(statement->handle, column);
    if (bytes == NULL && size > 0) return tacit_fail_memory(error);
    /* SQLite gives NULL both for an empty blob and when memory runs out while reading a long one. */
    if (bytes == NULL && sqlite3_errcode(statement->store->connection) == SQLITE_NOMEM)
        return tacit_fail_memory(error);
    if (size > most) return fail_column(statement, column, "of the allowed length", error);
    *out = bytes;
    *length = size;
    return TACIT_OK;
}

tacit_status tacit_column_bytes(void *out, size_t length, tacit_statement *statement, int column,
                                tacit_error *error) {
    const uint8_t *bytes = NULL;
    size_t size = 0;
    TACIT_TRY(tacit_column_blob(&bytes, &size, statement, column, length, error));
    if (size != length) return fail_column(statement, column, "of the right length", error);
    if (length > 0) memcpy(out, bytes, length);
    return TACIT_OK;
}
