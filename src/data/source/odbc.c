/*
 * Rows of a query by ODBC, for databases that have a driver for it (SQL Server, Oracle, MariaDB, ...):
 * odbc:DSN=clinic?SELECT ...
 *
 * One SELECT, in a transaction that is never committed, of the strongest isolation that the driver takes, on
 * a connection that is marked read-only. ODBC cannot say whether a driver honours that, so give the account
 * no right but to read.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "data/source/odbc_library.h"
#include "data/source/source_parts.h"

enum { UNITS = 2048, NAME_UNITS = 256 };

typedef struct odbc_source {
    tacit_source base;
    odbc_library library;
    odbc_handle environment, connection, statement;
    bool connected, running;
    uint16_t *query;
    short *types;         /* of the columns */
    bool has_row;         /* the next one is at hand */
    uint64_t rows_before; /* that an earlier pass had; UINT64_MAX: none has ended */
    tacit_buffer text;    /* of a value */
    filling block;
} odbc_source;

static bool succeeded(short code) { return code == ODBC_SUCCESS || code == ODBC_SUCCESS_WITH_INFO; }

/* What the driver says, its first line. */
static tacit_status failed(const odbc_source *self, short kind, odbc_handle handle, tacit_status status,
                           tacit_error *error) {
    uint16_t state[8], said[512];
    short length = 0;
    int number = 0;
    tacit_buffer text = TACIT_BUFFER_INIT;
    if (handle == NULL ||
        !succeeded(self->library.SQLGetDiagRecW(kind, handle, 1, state, &number, said, 512, &length)))
        return tacit_fail(error, status, "ODBC: the driver gives no reason");
    if (length < 0 || length > 511) length = 511;
    tacit_status read = odbc_text_read(&text, said, (size_t)length, error);
    if (read == TACIT_OK)
        read = tacit_fail(error, status, "ODBC: %.*s", (int)strcspn(tacit_buffer_text(&text), "\n"),
                          tacit_buffer_text(&text));
    tacit_buffer_clear(&text);
    return read;
}

static tacit_status statement_failed(const odbc_source *self, tacit_error *error) {
    return failed(self, ODBC_STATEMENT, self->statement, TACIT_INPUT, error);
}

/* ---- opening ---- */

/* Drivers run what they are given, so what is no query is not given to them. */
static tacit_status check_query(const char *query, tacit_error *error) {
    const char *first = query + strspn(query, " \t\r\n(");
    size_t length = strlen(query);
    while (length > 0 && strchr(" \t\r\n;", query[length - 1]) != NULL) length--;
    bool one = memchr(query, ';', length) == NULL;
    if (one && (strncasecmp(first, "SELECT", 6) == 0 || strncasecmp(first, "WITH", 4) == 0)) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE, "ODBC: the query must be one SELECT%s",
                      one ? "" : ", without a semicolon inside");
}

static void *number(intptr_t value) { return (void *)value; } /* how ODBC wants its settings */

/* Drivers refuse settings that they do not have; what they accept holds. */
static void protect(const odbc_source *self) {
    const odbc_library *library = &self->library;
    library->SQLSetConnectAttr(self->connection, ODBC_SET_ACCESS, number(ODBC_READ_ONLY), 0);
    library->SQLSetConnectAttr(self->connection, ODBC_SET_AUTOCOMMIT, number(0), 0);
    if (!succeeded(
            library->SQLSetConnectAttr(self->connection, ODBC_SET_ISOLATION, number(ODBC_SERIALIZABLE), 0)))
        library->SQLSetConnectAttr(self->connection, ODBC_SET_ISOLATION, number(ODBC_REPEATABLE_READ), 0);
}

static tacit_status connect_to(odbc_source *self, const char *connection, tacit_error *error) {
    const odbc_library *library = &self->library;
    uint16_t *text = NULL;
    if (!succeeded(library->SQLAllocHandle(ODBC_ENVIRONMENT, NULL, &self->environment)) ||
        !succeeded(library->SQLSetEnvAttr(self->environment, ODBC_SET_VERSION, number(ODBC_VERSION_3), 0)) ||
        !succeeded(library->SQLAllocHandle(ODBC_CONNECTION, self->environment, &self->connection)))
        return tacit_fail_memory(error);
    TACIT_TRY(odbc_text_make(&text, connection, error));
    self->connected = succeeded(library->SQLDriverConnectW(self->connection, NULL, text, ODBC_NUL_TERMINATED,
                                                           NULL, 0, NULL, ODBC_NO_PROMPT));
    free(text);
    if (!self->connected) return failed(self, ODBC_CONNECTION, self->connection, TACIT_IO, error);
    protect(self);
    if (!succeeded(library->SQLAllocHandle(ODBC_STATEMENT, self->connection, &self->statement)))
        return failed(self, ODBC_CONNECTION, self->connection, TACIT_IO, error);
    return TACIT_OK;
}

static tacit_status fetch(odbc_source *self, tacit_error *error) {
    short code = self->library.SQLFetch(self->statement);
    self->has_row = succeeded(code);
    return self->has_row || code == ODBC_NO_DATA ? TACIT_OK : statement_failed(self, error);
}

static tacit_status ask(odbc_source *self, tacit_error *error) {
    short columns = 0;
    short code = self->library.SQLExecDirectW(self->statement, self->query, ODBC_NUL_TERMINATED);
    if (!succeeded(code)) return statement_failed(self, error);
    self->running = true;
    if (!succeeded(self->library.SQLNumResultCols(self->statement, &columns)))
        return statement_failed(self, error);
    if (columns <= 0) return tacit_fail(error, TACIT_USAGE, "ODBC: the query must be one SELECT");
    return TACIT_OK;
}

static tacit_column_hint hint_of(short type) {
    switch ((odbc_type)type) {
    case ODBC_NUMERIC:
    case ODBC_DECIMAL:
    case ODBC_INTEGER:
    case ODBC_SMALLINT:
    case ODBC_FLOAT:
    case ODBC_REAL:
    case ODBC_DOUBLE:
    case ODBC_BIGINT:
    case ODBC_TINYINT: return TACIT_HINT_NUMBER;
    case ODBC_DATE:
    case ODBC_TIMESTAMP: return TACIT_HINT_NONE; /* dates are found by what they look like */
    default: return TACIT_HINT_CATEGORY;
    }
}

static tacit_status take_column(odbc_source *self, short j, tacit_error *error) {
    uint16_t name[NAME_UNITS];
    short length = 0, digits = 0, nullable = 0;
    unsigned long size = 0;
    if (!succeeded(self->library.SQLDescribeColW(self->statement, (unsigned short)(j + 1), name, NAME_UNITS,
                                                 &length, &self->types[j], &size, &digits, &nullable)))
        return statement_failed(self, error);
    if (length < 0 || length >= NAME_UNITS)
        return tacit_fail(error, TACIT_INPUT, "ODBC: the name of column %d is too long", j + 1);
    self->text.length = 0;
    TACIT_TRY(odbc_text_read(&self->text, name, (size_t)length, error));
    return source_add_column(&self->base, tacit_buffer_text(&self->text), hint_of(self->types[j]), error);
}

static tacit_status take_columns(odbc_source *self, tacit_error *error) {
    short columns = 0;
    self->library.SQLNumResultCols(self->statement, &columns);
    self->types = tacit_allocate((size_t)columns, sizeof *self->types);
    if (self->types == NULL) return tacit_fail_memory(error);
    for (short j = 0; j < columns; j++) TACIT_TRY(take_column(self, j, error));
    return TACIT_OK;
}

static void odbc_free(tacit_source *source) {
    odbc_source *self = (odbc_source *)source;
    const odbc_library *library = &self->library;
    if (self->statement != NULL) library->SQLFreeHandle(ODBC_STATEMENT, self->statement);
    if (self->connected) {
        library->SQLEndTran(ODBC_CONNECTION, self->connection, ODBC_ROLLBACK);
        library->SQLDisconnect(self->connection);
    }
    if (self->connection != NULL) library->SQLFreeHandle(ODBC_CONNECTION, self->connection);
    if (self->environment != NULL) library->SQLFreeHandle(ODBC_ENVIRONMENT, self->environment);
    free(self->query);
    free(self->types);
    tacit_buffer_clear(&self->text);
    filling_clear(&self->block);
}

static tacit_status odbc_open(tacit_source **out, const tacit_place *place,
                              const tacit_source_options *options, tacit_error *error) {
    odbc_source *self = NULL;
    odbc_library library;
    char *connection = NULL, *query = NULL;
    tacit_status status;
    (void)options;
    TACIT_CHECK(
        source_split_query(&connection, &query, place->rest, "odbc:DSN=clinic?SELECT * FROM visits", error));
    TACIT_CHECK(check_query(query, error));
    TACIT_CHECK(odbc_library_load(&library, error));
    TACIT_CHECK(source_create(&self, sizeof *self, &tacit_source_odbc, "ODBC", error));
    self->library = library;
    self->rows_before = UINT64_MAX;
    TACIT_CHECK(odbc_text_make(&self->query, query, error));
    TACIT_CHECK(connect_to(self, connection, error));
    TACIT_CHECK(ask(self, error));
    TACIT_CHECK(take_columns(self, error));
    TACIT_CHECK(fetch(self, error));
    *out = &self->base;
    self = NULL;
cleanup:
    if (self != NULL) tacit_source_free(&self->base);
    free(connection);
    return status;
}

/* ---- rows ---- */

/* A value as text, in as many parts as it takes; false in `there` where it is NULL. */
static tacit_status get_text(odbc_source *self, unsigned short column, bool *there, tacit_error *error) {
    uint16_t part[UNITS];
    self->text.length = 0;
    *there = true;
    for (;;) {
        long length = 0;
        short code = self->library.SQLGetData(self->statement, column, ODBC_TEXT, part, sizeof part, &length);
        if (code == ODBC_NO_DATA) return TACIT_OK;
        if (!succeeded(code)) return statement_failed(self, error);
        if (length == ODBC_NULL_DATA) {
            *there = false;
            return TACIT_OK;
        }
        bool cut = length == ODBC_NO_TOTAL || length >= (long)sizeof part;
        size_t units = cut ? UNITS - 1 : (size_t)length / sizeof *part;
        TACIT_TRY(odbc_text_read(&self->text, part, units, error));
        if (!cut) return TACIT_OK;
        if (self->text.length > FIELD_LIMIT) return TACIT_OK; /* refused by its length */
    }
}

static tacit_status add_text(odbc_source *self, unsigned short column, tacit_error *error) {
    bool there = false;
    TACIT_TRY(get_text(self, column, &there, error));
    return source_add_text(&self->base, &self->block, there ? tacit_buffer_text(&self->text) : "",
                           there ? self->text.length : 0, error);
}

static tacit_status add_real(odbc_source *self, unsigned short column, tacit_error *error) {
    double value = 0;
    long length = 0;
    if (!succeeded(self->library.SQLGetData(self->statement, column, ODBC_REAL_NUMBER, &value, sizeof value,
                                            &length)))
        return statement_failed(self, error);
    if (length != ODBC_NULL_DATA && isfinite(value))
        return filling_add_number(&self->block, value, self->base.row + 1, error);
    const char *text = length == ODBC_NULL_DATA ? "" : isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
    return source_add_text(&self->base, &self->block, text, strlen(text), error);
}

static tacit_status add_whole(odbc_source *self, unsigned short column, tacit_error *error) {
    static const int64_t largest = INT64_C(1) << 53;
    int64_t value = 0;
    long length = 0;
    char text[32];
    if (!succeeded(self->library.SQLGetData(self->statement, column, ODBC_WHOLE_NUMBER, &value, sizeof value,
                                            &length)))
        return statement_failed(self, error);
    if (length == ODBC_NULL_DATA) return source_add_text(&self->base, &self->block, "", 0, error);
    if (value >= -largest && value <= largest)
        return filling_add_number(&self->block, (double)value, self->base.row + 1, error);
    int written = snprintf(text, sizeof text, "%" PRId64, value);
    return source_add_text(&self->base, &self->block, text, (size_t)written, error);
}

static tacit_status add_bytes(odbc_source *self, unsigned short column, tacit_error *error) {
    static const char odd[] = "bytes";
    bool there = false;
    TACIT_TRY(get_text(self, column, &there, error));
    return filling_add_text(&self->block, there ? TACIT_CELL_OTHER : TACIT_CELL_PLAIN, odd,
                            there ? sizeof odd - 1 : 0, self->base.row + 1, error);
}

static tacit_status add_value(odbc_source *self, size_t j, tacit_error *error) {
    unsigned short column = (unsigned short)(j + 1);
    switch ((odbc_type)self->types[j]) {
    case ODBC_FLOAT:
    case ODBC_REAL:
    case ODBC_DOUBLE: return add_real(self, column, error);
    case ODBC_INTEGER:
    case ODBC_SMALLINT:
    case ODBC_TINYINT:
    case ODBC_BIGINT: return add_whole(self, column, error);
    case ODBC_BINARY:
    case ODBC_VARBINARY:
    case ODBC_LONG_VARBINARY: return add_bytes(self, column, error);
    default: return add_text(self, column, error);
    }
}

static tacit_status odbc_next(tacit_source *source, size_t most, tacit_row_block *out, tacit_error *error) {
    odbc_source *self = (odbc_source *)source;
    filling_empty(&self->block);
    while (self->has_row && out->rows + out->left_out < most && !filling_is_full(&self->block)) {
        bool chosen = tacit_row_filter_keeps(source->filter, source->row);
        for (size_t j = 0; chosen && j < source->columns.count; j++) TACIT_TRY(add_value(self, j, error));
        out->rows += chosen;
        out->left_out += !chosen;
        source->row++;
        TACIT_TRY(fetch(self, error));
    }
    out->ended = !self->has_row;
    if (out->ended) TACIT_TRY(source_check_count(source, &self->rows_before, error));
    filling_finish(&self->block);
    out->cells = self->block.cells;
    return TACIT_OK;
}

static tacit_status odbc_rewind(tacit_source *source, tacit_error *error) {
    odbc_source *self = (odbc_source *)source;
    if (self->running) self->library.SQLFreeStmt(self->statement, ODBC_CLOSE);
    self->running = false;
    TACIT_TRY(ask(self, error));
    return fetch(self, error);
}

/* Which files a driver reads only it knows. */
static void odbc_allow(tacit_harden_settings *settings, const tacit_place *place) {
    (void)place;
    settings->reads_all = true;
}

const tacit_source_kind tacit_source_odbc = { .name = "odbc",
                                              .prefix = "odbc:",
                                              .row = "row",
                                              .open = odbc_open,
                                              .next = odbc_next,
                                              .rewind = odbc_rewind,
                                              .free = odbc_free,
                                              .allow = odbc_allow };
