/* Rows that a query gives: of a SQLite file, or of a PostgreSQL server. */
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "site/source_parts.h"

/* ---- SQLite ---- */

static tacit_status sqlite_rows(gathering *self, sqlite3_stmt *query, const char *path, tacit_error *error) {
    int columns = sqlite3_column_count(query), code;
    const char **cells = TACIT_NEW(const char *, columns > 0 ? (size_t)columns : 1);
    tacit_status status;
    if (cells == NULL) return tacit_fail_memory(error);
    for (int j = 0; j < columns; j++) cells[j] = sqlite3_column_name(query, j);
    TACIT_CHECK(gathering_begin(self, cells, (size_t)columns, path, error));
    while ((code = sqlite3_step(query)) == SQLITE_ROW) {
        for (int j = 0; j < columns; j++) {
            bool missing = sqlite3_column_type(query, j) == SQLITE_NULL;
            cells[j] = (const char *)sqlite3_column_text(query, j);
            if (cells[j] == NULL && !missing) TACIT_CHECK(tacit_fail_memory(error));
        }
        TACIT_CHECK(gathering_row(self, cells, path, error));
    }
    if (code != SQLITE_DONE)
        status = tacit_fail(error, TACIT_INPUT, "%s: %s", path, sqlite3_errmsg(sqlite3_db_handle(query)));
cleanup:
    free(cells);
    return status;
}

tacit_status gathering_sqlite(gathering *self, const char *path, const char *query, tacit_error *error) {
    sqlite3 *file = NULL;
    sqlite3_stmt *statement = NULL;
    const char *rest = "";
    tacit_status status = TACIT_OK;
    if (path[0] != '/')
        return tacit_fail(error, TACIT_USAGE,
                          "name the SQLite file by its full path, e.g. sqlite:/data/clinic.db?...");
    if (sqlite3_open_v2(path, &file, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(file, query, -1, &statement, &rest) != SQLITE_OK)
        status = tacit_fail(error, TACIT_INPUT, "%s: %s", path,
                            file != NULL ? sqlite3_errmsg(file) : "out of memory");
    else if (statement == NULL || sqlite3_column_count(statement) == 0 || rest[strspn(rest, " \t\n;")] != 0)
        status = tacit_fail(error, TACIT_USAGE, "%s: the query must be one SELECT", path);
    else
        status = sqlite_rows(self, statement, path, error);
    sqlite3_finalize(statement);
    sqlite3_close(file);
    return status;
}

/* ---- PostgreSQL ---- */

/* A server's message ends in a line feed, and may have several lines; the first says what is wrong. */
static tacit_status postgres_failed(const char *message, tacit_status status, tacit_error *error) {
    return tacit_fail(error, status, "PostgreSQL: %.*s", (int)strcspn(message, "\n"), message);
}

static tacit_status postgres_rows(gathering *self, const PGresult *result, tacit_error *error) {
    int columns = PQnfields(result), rows = PQntuples(result);
    const char **cells = TACIT_NEW(const char *, columns > 0 ? (size_t)columns : 1);
    tacit_status status;
    if (cells == NULL) return tacit_fail_memory(error);
    for (int j = 0; j < columns; j++) cells[j] = PQfname(result, j);
    TACIT_CHECK(gathering_begin(self, cells, (size_t)columns, "PostgreSQL", error));
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++)
            cells[j] = PQgetisnull(result, i, j) ? NULL : PQgetvalue(result, i, j);
        TACIT_CHECK(gathering_row(self, cells, "PostgreSQL", error));
    }
cleanup:
    free(cells);
    return status;
}

/* One statement, for the protocol with parameters takes no more; in a session that may not write. */
tacit_status gathering_postgres(gathering *self, const char *connection, const char *query,
                                tacit_error *error) {
    PGconn *server = PQconnectdb(connection);
    PGresult *result = NULL;
    tacit_status status = TACIT_OK;
    if (PQstatus(server) != CONNECTION_OK) {
        status = postgres_failed(PQerrorMessage(server), TACIT_IO, error);
        goto cleanup;
    }
    result = PQexec(server, "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY");
    bool read_only = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    result = read_only ? PQexecParams(server, query, 0, NULL, NULL, NULL, NULL, 0) : NULL;
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        status = postgres_failed(PQerrorMessage(server)[0] != 0 ? PQerrorMessage(server)
                                                                : "the query must be one SELECT",
                                 TACIT_INPUT, error);
    else
        status = postgres_rows(self, result, error);
cleanup:
    PQclear(result);
    PQfinish(server);
    return status;
}
