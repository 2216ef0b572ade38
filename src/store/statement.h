/*
 * Prepared statements: values in by number (from 1), rows out by column (from 0).
 *
 *     tacit_statement *query = NULL;
 *     TACIT_CHECK(tacit_statement_open(&query, store, "SELECT hash FROM log WHERE entry = ?1",
 *                                      TACIT_VALUES(tacit_sql_integer(entry)), error));
 *     TACIT_CHECK(tacit_statement_step(&found, query, error));
 *
 * A bind that fails (out of memory) is reported by the next step, so that binding reads as a list.
 */
#pragma once

#include "store/store.h"

typedef struct tacit_statement tacit_statement;

/* The store must outlive the statement. */
tacit_status tacit_statement_prepare(tacit_statement **out, tacit_store *store, const char *sql,
                                     tacit_error *error);
tacit_statement *tacit_statement_free(tacit_statement *statement);

/* Keep up to this many freed statements for when the same words are prepared again: preparing costs several
 * times what most statements do. None is kept by default. */
void tacit_store_keep_statements(tacit_store *store, size_t most);

/* The bytes must stay as they are until the statement is reset or freed. A NULL text or blob binds NULL;
 * an empty blob is bound as a blob of length 0 when `bytes` is not NULL. */
void tacit_bind_integer(tacit_statement *statement, int index, int64_t value);
void tacit_bind_double(tacit_statement *statement, int index, double value);
void tacit_bind_text(tacit_statement *statement, int index, const char *text);
void tacit_bind_blob(tacit_statement *statement, int index, const void *bytes, size_t length);

/* A value for a parameter, with the rules of tacit_bind_*; the first of a list is for ?1, the next for ?2. */
typedef struct tacit_sql_value {
    enum { TACIT_SQL_INTEGER, TACIT_SQL_NUMBER, TACIT_SQL_TEXT, TACIT_SQL_BLOB } kind;
    int64_t integer;
    double number;
    const void *bytes;
    size_t length;
} tacit_sql_value;

static inline tacit_sql_value tacit_sql_integer(int64_t value) {
    return (tacit_sql_value){ .kind = TACIT_SQL_INTEGER, .integer = value };
}
static inline tacit_sql_value tacit_sql_number(double value) {
    return (tacit_sql_value){ .kind = TACIT_SQL_NUMBER, .number = value };
}
static inline tacit_sql_value tacit_sql_text(const char *text) {
    return (tacit_sql_value){ .kind = TACIT_SQL_TEXT, .bytes = text };
}
static inline tacit_sql_value tacit_sql_blob(const void *bytes, size_t length) {
    return (tacit_sql_value){ .kind = TACIT_SQL_BLOB, .bytes = bytes, .length = length };
}

/* Two arguments: the values, and how many. */
#define TACIT_VALUES(...)                                                                                    \
    (const tacit_sql_value[]){ __VA_ARGS__ },                                                                \
        sizeof((const tacit_sql_value[]){ __VA_ARGS__ }) / sizeof(tacit_sql_value)

/* Prepare a statement and bind its values. */
tacit_status tacit_statement_open(tacit_statement **out, tacit_store *store, const char *sql,
                                  const tacit_sql_value *values, size_t count, tacit_error *error);

/* The same for one that returns no rows: it is run, and freed. */
tacit_status tacit_store_put(tacit_store *store, const char *sql, const tacit_sql_value *values, size_t count,
                             tacit_error *error);

/* The same for a question: whether there is a row; and the integers in its first columns, 0 where there is
 * none. */
tacit_status tacit_store_has(bool *out, tacit_store *store, const char *sql, const tacit_sql_value *values,
                             size_t count, tacit_error *error);
tacit_status tacit_store_ask(bool *row, int64_t *out, int columns, tacit_store *store, const char *sql,
                             const tacit_sql_value *values, size_t count, tacit_error *error);

/* Advance: *row says whether there is a row to look at. */
tacit_status tacit_statement_step(bool *row, tacit_statement *statement, tacit_error *error);

/* Whether there is another row, for loops: while (tacit_statement_next(list, &status, error)) ... ends after
 * the last one, or where `status` is no longer TACIT_OK. */
bool tacit_statement_next(tacit_statement *statement, tacit_status *status, tacit_error *error);

/* Run a statement that returns no rows, and make it ready for other values. */
tacit_status tacit_statement_run(tacit_statement *statement, tacit_error *error);

/* Make the statement ready to run again; bound values stay. */
void tacit_statement_reset(tacit_statement *statement);

/* Columns of the current row. NULL reads as 0; bytes are borrowed until the next step. */
int64_t tacit_column_integer(tacit_statement *statement, int column);
double tacit_column_double(tacit_statement *statement, int column);

/* TACIT_CORRUPT when NULL, of another type, or (text) holding a NUL or longer than `most` bytes. */
tacit_status tacit_column_text(const char **out, tacit_statement *statement, int column, size_t most,
                               tacit_error *error);
tacit_status tacit_column_blob(const uint8_t **out, size_t *length, tacit_statement *statement, int column,
                               size_t most, tacit_error *error);

/* A blob of exactly `length` bytes, copied. */
tacit_status tacit_column_bytes(void *out, size_t length, tacit_statement *statement, int column,
                                tacit_error *error);
