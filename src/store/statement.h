/*
 * Prepared statements: values in by number (from 1), rows out by column (from 0).
 *
 *     tacit_statement *query = NULL;
 *     TACIT_CHECK(tacit_statement_prepare(&query, store, "SELECT hash FROM log WHERE entry = ?1", error));
 *     tacit_bind_integer(query, 1, entry);
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
