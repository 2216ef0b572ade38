/* Rows of a query of a PostgreSQL server: postgres:CONNINFO?SELECT ..., read one by one as they arrive. */
#include <libpq-fe.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/source/source_parts.h"

typedef struct postgres_source {
    tacit_source base;
    char *connection, *query; /* one allocation */
    PGconn *server;
    PGresult *row; /* the next one; NULL after the last */
    filling block;
} postgres_source;

/* A server's message ends in a line feed, and may have several lines; the first says what is wrong. */
static tacit_status failed(const postgres_source *self, tacit_status status, tacit_error *error) {
    const char *message = PQerrorMessage(self->server);
    if (message == NULL || message[0] == 0) message = "the query must be one SELECT";
    return tacit_fail(error, status, "PostgreSQL: %.*s", (int)strcspn(message, "\n"), message);
}

static tacit_status command(const postgres_source *self, const char *text, tacit_error *error) {
    PGresult *result = PQexec(self->server, text);
    bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    return done ? TACIT_OK : failed(self, TACIT_IO, error);
}

/* Have the next row at hand, or none after the last. */
static tacit_status fetch(postgres_source *self, tacit_error *error) {
    PQclear(self->row);
    self->row = PQgetResult(self->server);
    ExecStatusType status = PQresultStatus(self->row);
    if (self->row != NULL && status != PGRES_SINGLE_TUPLE && status != PGRES_TUPLES_OK)
        return failed(self, TACIT_INPUT, error);
    return TACIT_OK;
}

static bool has_row(const postgres_source *self) { return self->row != NULL && PQntuples(self->row) > 0; }

/* What comes of the query and was not read stays unread. */
static void drain(postgres_source *self) {
    PQclear(self->row);
    while ((self->row = PQgetResult(self->server)) != NULL) PQclear(self->row);
}

/* One statement, for the protocol with parameters takes no more. */
static tacit_status ask(postgres_source *self, tacit_error *error) {
    if (PQsendQueryParams(self->server, self->query, 0, NULL, NULL, NULL, NULL, 0) != 1 ||
        PQsetSingleRowMode(self->server) != 1)
        return failed(self, TACIT_IO, error);
    TACIT_TRY(fetch(self, error));
    if (self->row == NULL || PQnfields(self->row) == 0)
        return tacit_fail(error, TACIT_INPUT, "PostgreSQL: the query must be one SELECT");
    return TACIT_OK;
}

/* By the number that every server has for the type. Texts, dates, truth values and all others are categories. */
static tacit_column_hint hint_of(Oid type) {
    enum { INT8 = 20, INT2 = 21, INT4 = 23, OID = 26, FLOAT4 = 700, FLOAT8 = 701, NUMERIC = 1700 };
    switch (type) {
    case INT8:
    case INT2:
    case INT4:
    case OID:
    case FLOAT4:
    case FLOAT8:
    case NUMERIC: return TACIT_HINT_NUMBER;
    default: return TACIT_HINT_CATEGORY;
    }
}

/* All rows are of one moment, however often they are read, and nothing can be written. */
static tacit_status connect_to(postgres_source *self, tacit_error *error) {
    self->server = PQconnectdb(self->connection);
    if (PQstatus(self->server) != CONNECTION_OK) return failed(self, TACIT_IO, error);
    if (PQsetClientEncoding(self->server, "UTF8") != 0) return failed(self, TACIT_IO, error);
    TACIT_TRY(command(self, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", error));
    TACIT_TRY(command(self, "SET LOCAL extra_float_digits = 3", error)); /* every bit of a number */
    TACIT_TRY(ask(self, error));
    for (int j = 0; j < PQnfields(self->row); j++)
        TACIT_TRY(
            source_add_column(&self->base, PQfname(self->row, j), hint_of(PQftype(self->row, j)), error));
    return TACIT_OK;
}

static void postgres_free(tacit_source *source) {
    postgres_source *self = (postgres_source *)source;
    PQclear(self->row);
    PQfinish(self->server);
    filling_clear(&self->block);
    free(self->connection);
}

static tacit_status postgres_open(tacit_source **out, const tacit_place *place,
                                  const tacit_source_options *options, tacit_error *error) {
    postgres_source *self = NULL;
    (void)options;
    TACIT_TRY(source_create(&self, sizeof *self, &tacit_source_postgres, "PostgreSQL", error));
    tacit_status status = source_split_query(&self->connection, &self->query, place->rest,
                                             "postgres:service=clinic?SELECT * FROM visits", error);
    if (status == TACIT_OK) status = connect_to(self, error);
    if (status == TACIT_OK)
        *out = &self->base;
    else
        tacit_source_free(&self->base);
    return status;
}

static tacit_status postgres_next(tacit_source *source, size_t most, tacit_row_block *out,
                                  tacit_error *error) {
    postgres_source *self = (postgres_source *)source;
    filling_empty(&self->block);
    while (has_row(self) && out->rows + out->left_out < most && !filling_is_full(&self->block)) {
        bool chosen = tacit_row_filter_keeps(source->filter, source->row);
        for (int j = 0; chosen && j < (int)source->columns.count; j++) /* what is NULL has no length */
            TACIT_TRY(source_add_text(source, &self->block, PQgetvalue(self->row, 0, j),
                                      (size_t)PQgetlength(self->row, 0, j), error));
        out->rows += chosen;
        out->left_out += !chosen;
        source->row++;
        TACIT_TRY(fetch(self, error));
    }
    out->ended = !has_row(self);
    filling_finish(&self->block);
    out->cells = self->block.cells;
    return TACIT_OK;
}

static tacit_status postgres_rewind(tacit_source *source, tacit_error *error) {
    postgres_source *self = (postgres_source *)source;
    drain(self);
    return ask(self, error);
}

/* Where libpq looks for services, passwords and certificates. */
static void postgres_allow(tacit_harden_settings *settings, const tacit_place *place) {
    static const char *const named[] = { "PGPASSFILE", "PGSERVICEFILE", "PGSYSCONFDIR" };
    static const char *const at_home[] = { ".pgpass", ".pg_service.conf", ".postgresql" };
    const char *home = getenv("HOME");
    char path[PATH_MAX];
    (void)place;
    for (size_t i = 0; i < 3; i++) tacit_harden_allow(settings, getenv(named[i]), false);
    for (size_t i = 0; home != NULL && i < 3; i++)
        if (snprintf(path, sizeof path, "%s/%s", home, at_home[i]) < (int)sizeof path)
            tacit_harden_allow(settings, path, false);
}

const tacit_source_kind tacit_source_postgres = { .name = "postgres",
                                                  .prefix = "postgres:",
                                                  .row = "row",
                                                  .open = postgres_open,
                                                  .next = postgres_next,
                                                  .rewind = postgres_rewind,
                                                  .free = postgres_free,
                                                  .allow = postgres_allow };
