/* Rows of a query of a SQLite file: sqlite:/path/clinic.db?SELECT ... */
#include <limits.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/source/source_parts.h"

/* Somebody who writes to the file is waited for this long. */
enum { PATIENCE_MILLISECONDS = 5000 };

typedef struct sqlite_source {
    tacit_source base;
    sqlite3 *file;
    sqlite3_stmt *query;
    filling block;
} sqlite_source;

static tacit_status failed(const sqlite_source *self, int code, tacit_error *error) {
    if (self->file == NULL || (code & 0xff) == SQLITE_NOMEM) return tacit_fail_memory(error);
    return tacit_fail(error, TACIT_INPUT, "%s: %s", self->base.name, sqlite3_errmsg(self->file));
}

/* A column that is declared to hold texts holds no numbers; of others, and of what is computed, rows say what
 * it is. */
static tacit_column_hint hint_of(const char *declared) {
    static const char *const texts[] = { "CHAR", "CLOB", "TEXT" };
    for (size_t k = 0; declared != NULL && k < sizeof texts / sizeof *texts; k++)
        for (const char *at = declared; *at != 0; at++)
            if (sqlite3_strnicmp(at, texts[k], 4) == 0) return TACIT_HINT_CATEGORY;
    return TACIT_HINT_NONE;
}

static tacit_status take_columns(sqlite_source *self, tacit_error *error) {
    for (int j = 0; j < sqlite3_column_count(self->query); j++) {
        const char *name = sqlite3_column_name(self->query, j);
        if (name == NULL) return tacit_fail_memory(error);
        TACIT_TRY(
            source_add_column(&self->base, name, hint_of(sqlite3_column_decltype(self->query, j)), error));
    }
    return TACIT_OK;
}

/* One statement that reads. The transaction lasts until the source is freed: all rows are of one moment,
 * however often they are read. */
static tacit_status connect_to(sqlite_source *self, const char *query, tacit_error *error) {
    const char *rest = "";
    int code = sqlite3_open_v2(self->base.name, &self->file, SQLITE_OPEN_READONLY, NULL);
    if (code == SQLITE_OK) code = sqlite3_busy_timeout(self->file, PATIENCE_MILLISECONDS);
    if (code == SQLITE_OK) code = sqlite3_exec(self->file, "BEGIN", NULL, NULL, NULL);
    if (code == SQLITE_OK) code = sqlite3_prepare_v2(self->file, query, -1, &self->query, &rest);
    if (code != SQLITE_OK) return failed(self, code, error);
    if (self->query == NULL || sqlite3_column_count(self->query) == 0 || rest[strspn(rest, " \t\n;")] != 0)
        return tacit_fail(error, TACIT_USAGE, "%s: the query must be one SELECT", self->base.name);
    return take_columns(self, error);
}

static void sqlite_free(tacit_source *source) {
    sqlite_source *self = (sqlite_source *)source;
    sqlite3_finalize(self->query);
    sqlite3_close(self->file);
    filling_clear(&self->block);
}

static tacit_status sqlite_open(tacit_source **out, const tacit_place *place,
                                const tacit_source_options *options, tacit_error *error) {
    sqlite_source *self = NULL;
    char *path = NULL, *query = NULL;
    tacit_status status;
    (void)options;
    TACIT_CHECK(
        source_split_query(&path, &query, place->rest, "sqlite:/data/clinic.db?SELECT * FROM visits", error));
    if (path[0] != '/')
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                               "name the SQLite file by its full path, e.g. sqlite:/data/clinic.db?..."));
    TACIT_CHECK(source_create(&self, sizeof *self, &tacit_source_sqlite, path, error));
    TACIT_CHECK(connect_to(self, query, error));
    *out = &self->base;
    self = NULL;
cleanup:
    if (self != NULL) tacit_source_free(&self->base);
    free(path);
    return status;
}

/* As it is stored: a number keeps every bit, and a whole one that is no double every digit. */
static tacit_status add_value(sqlite_source *self, int column, tacit_error *error) {
    static const char blob[] = "a BLOB";
    static const sqlite3_int64 largest = INT64_C(1) << 53;
    uint64_t line = self->base.row + 1;
    int kind = sqlite3_column_type(self->query, column);
    sqlite3_int64 whole = kind == SQLITE_INTEGER ? sqlite3_column_int64(self->query, column) : 0;
    double number = kind == SQLITE_FLOAT ? sqlite3_column_double(self->query, column) : (double)whole;
    if (kind == SQLITE_NULL) return filling_add_text(&self->block, TACIT_CELL_PLAIN, "", 0, line, error);
    if (kind == SQLITE_BLOB)
        return filling_add_text(&self->block, TACIT_CELL_OTHER, blob, sizeof blob - 1, line, error);
    if (kind != SQLITE_TEXT && isfinite(number) && whole >= -largest && whole <= largest)
        return filling_add_number(&self->block, number, line, error);
    const char *text = (const char *)sqlite3_column_text(self->query, column);
    if (text == NULL) return tacit_fail_memory(error);
    return source_add_text(&self->base, &self->block, text, (size_t)sqlite3_column_bytes(self->query, column),
                           error);
}

static tacit_status sqlite_next(tacit_source *source, size_t most, tacit_row_block *out, tacit_error *error) {
    sqlite_source *self = (sqlite_source *)source;
    filling_empty(&self->block);
    while (out->rows + out->left_out < most && !filling_is_full(&self->block)) {
        int code = sqlite3_step(self->query);
        out->ended = code == SQLITE_DONE;
        if (out->ended) break;
        if (code != SQLITE_ROW) return failed(self, code, error);
        bool chosen = tacit_row_filter_keeps(source->filter, source->row);
        for (size_t j = 0; chosen && j < source->columns.count; j++)
            TACIT_TRY(add_value(self, (int)j, error));
        out->rows += chosen;
        out->left_out += !chosen;
        source->row++;
    }
    filling_finish(&self->block);
    out->cells = self->block.cells;
    return TACIT_OK;
}

static tacit_status sqlite_rewind(tacit_source *source, tacit_error *error) {
    (void)error;
    sqlite3_reset(((sqlite_source *)source)->query); /* says again what was wrong before */
    return TACIT_OK;
}

/* Who reads a SQLite file writes beside it, where it has a log. */
static void sqlite_allow(tacit_harden_settings *settings, const tacit_place *place) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%.*s", (int)strcspn(place->rest, "?"), place->rest) < (int)sizeof path)
        tacit_harden_allow_around(settings, path, true);
}

const tacit_source_kind tacit_source_sqlite = { .name = "sqlite",
                                                .prefix = "sqlite:",
                                                .row = "row",
                                                .open = sqlite_open,
                                                .next = sqlite_next,
                                                .rewind = sqlite_rewind,
                                                .free = sqlite_free,
                                                .allow = sqlite_allow };
