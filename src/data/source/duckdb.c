/*
 * Rows that DuckDB reads: duckdb:SELECT ..., duckdb:/path/clinic.duckdb?SELECT ..., and files by their names:
 * rows.parquet, visits.ndjson, 'years/y*.parquet', a folder of Parquet files, a .duckdb file with one table.
 *
 * DuckDB hands over vectors of 2,048 values, which are columns here as they lie (arrays.h, duckdb_columns.c).
 *
 * A query only reads: one SELECT, no extension is fetched or loaded (so nothing is read from the network),
 * databases are opened for reading only, and nothing is written to disk, where private rows could stay.
 */
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/pool.h"
#include "data/source/duckdb_source.h"

tacit_status duckdb_failed(const duckdb_source *self, const char *message, tacit_error *error) {
    if (message == NULL) message = "DuckDB gives no reason";
    return tacit_fail(error, TACIT_INPUT, "%s%s%s: %.*s", self->base.name, self->what != NULL ? ", " : "",
                      self->what != NULL ? self->what : "", (int)strcspn(message, "\n"), message);
}

/* ---- names ---- */

static bool ends_with(const char *name, const char *end) {
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0;
}

bool duckdb_is_database(const char *name) { return ends_with(name, ".duckdb"); }
static bool is_parquet(const char *name) { return ends_with(name, ".parquet"); }

bool duckdb_is_json(const char *name) {
    static const char *const ends[] = { ".json", ".ndjson", ".jsonl", ".json.gz", ".ndjson.gz", ".jsonl.gz" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(name, ends[i])) return true;
    return false;
}

/* Parquet files in a folder, or in folders of it that are named by values ("year=2024"). NULL: none. */
static const char *folder_pattern(const char *folder) {
    static const char *const patterns[] = { "/*.parquet", "/*=*/*.parquet", "/*=*/*=*/*.parquet" };
    char path[DUCKDB_PATH_SIZE];
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        glob_t found = { .gl_pathc = 0 };
        if (snprintf(path, sizeof path, "%s%s", folder, patterns[i]) >= (int)sizeof path) return NULL;
        bool any = glob(path, GLOB_NOSORT, NULL, &found) == 0 && found.gl_pathc > 0;
        globfree(&found);
        if (any) return patterns[i];
    }
    return NULL;
}

static bool takes(const tacit_place *place) {
    if (place->is_folder) return folder_pattern(place->name) != NULL;
    if (place->bytes != NULL && place->length >= 4 && memcmp(place->bytes, "PAR1", 4) == 0) return true;
    return place->input == NULL &&
           (is_parquet(place->name) || duckdb_is_json(place->name) || duckdb_is_database(place->name));
}

/* ---- the engine ---- */

/* Rows of files come in the order of the files however many threads read them; those of a query, only with
 * one. One of the processors is for whoever takes the rows. */
static tacit_status configure(duckdb_source *self, duckdb_pointer *out, const char *path, bool is_query,
                              tacit_error *error) {
    char threads[24] = "1";
    unsigned processors = tacit_pool_processors();
    if (!is_query && processors > 2) snprintf(threads, sizeof threads, "%u", processors - 1);
    const char *const settings[][2] = {
        { "autoinstall_known_extensions", "false" },
        { "autoload_known_extensions", "false" },
        { "allow_community_extensions", "false" },
        { "temp_directory", "" },
        { "access_mode", path != NULL ? "READ_ONLY" : "AUTOMATIC" },
        { "threads", threads },
    };
    if (self->library.create_config(out) != 0) return tacit_fail_memory(error);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (self->library.set_config(*out, settings[i][0], settings[i][1]) != 0)
            return tacit_fail(error, TACIT_USAGE,
                              "DuckDB %s does not know the setting %s: Tacit needs 1.0 or later",
                              self->library.library_version(), settings[i][0]);
    return TACIT_OK;
}

tacit_status duckdb_run(duckdb_source *self, const char *text, tacit_error *error) {
    duckdb_result result = { .inside = NULL };
    tacit_status status = TACIT_OK;
    if (self->library.query(self->connection, text, &result) != 0)
        status = duckdb_failed(self, self->library.result_error(&result), error);
    self->library.destroy_result(&result);
    return status;
}

/* All rows of a database are of one moment, however often they are read. */
static tacit_status connect_to(duckdb_source *self, const char *path, bool is_query, tacit_error *error) {
    duckdb_pointer config = NULL;
    char *said = NULL;
    tacit_status status = configure(self, &config, path, is_query, error);
    if (status == TACIT_OK && self->library.open_ext(path, &self->database, config, &said) != 0)
        status = duckdb_failed(self, said, error);
    if (said != NULL) self->library.free(said);
    if (config != NULL) self->library.destroy_config(&config);
    TACIT_TRY(status);
    if (self->library.connect(self->database, &self->connection) != 0) return tacit_fail_memory(error);
    TACIT_TRY(duckdb_run(self, "SET lock_configuration = true", error));
    return duckdb_run(self, "BEGIN TRANSACTION", error);
}

/* ---- opening ---- */

static void end_pass(duckdb_source *self) {
    self->pass = duckdb_rows_end(self->pass);
    self->at = self->size = 0;
}

static void duckdb_close(tacit_source *source) {
    duckdb_source *self = (duckdb_source *)source;
    end_pass(self);
    if (self->statement != NULL) self->library.destroy_prepare(&self->statement);
    if (self->connection != NULL) self->library.disconnect(&self->connection);
    if (self->database != NULL) self->library.close(&self->database);
    duckdb_forget_columns(self);
    free(self->pattern);
}

static tacit_status select_files(tacit_buffer *out, bool json, const char *pattern, tacit_error *error) {
    TACIT_TRY(tacit_buffer_print(out, error, "SELECT * FROM %s(", json ? "read_json_auto" : "read_parquet"));
    TACIT_TRY(duckdb_add_quoted(out, pattern, error));
    return tacit_buffer_append(out, ")", 1, error);
}

/* The one table that a database has, in the schema that is searched. */
static tacit_status select_table(duckdb_source *self, tacit_buffer *out, tacit_error *error) {
    duckdb_result found = { .inside = NULL };
    tacit_status status = TACIT_OK;
    if (self->library.query(
            self->connection,
            "SELECT '\"' || replace(table_name, '\"', '\"\"') || '\"' FROM information_schema.tables "
            "WHERE table_schema = 'main'",
            &found) != 0)
        status = duckdb_failed(self, self->library.result_error(&found), error);
    duckdb_pointer chunk = status == TACIT_OK ? self->library.fetch_chunk(found) : NULL;
    uint64_t count = chunk != NULL ? self->library.data_chunk_get_size(chunk) : 0;
    if (status == TACIT_OK && count != 1) {
        status =
            tacit_fail(error, TACIT_USAGE,
                       "%s has %" PRIu64 " tables: name the rows by a query, duckdb:%s?SELECT * FROM ...",
                       self->base.name, count, self->base.name);
    } else if (status == TACIT_OK) {
        const tacit_array_string *text =
            self->library.vector_get_data(self->library.data_chunk_get_vector(chunk, 0));
        status = tacit_buffer_print(out, error, "SELECT * FROM %.*s", (int)text->length,
                                    tacit_array_string_text(text));
    }
    if (chunk != NULL) self->library.destroy_data_chunk(&chunk);
    self->library.destroy_result(&found);
    return status;
}

static tacit_status open_named(duckdb_source *self, const tacit_place *place, tacit_error *error) {
    tacit_buffer query = TACIT_BUFFER_INIT, pattern = TACIT_BUFFER_INIT;
    bool database = duckdb_is_database(place->name),
         json = duckdb_is_json(place->name) && place->bytes == NULL;
    const char *inside = place->is_folder ? folder_pattern(place->name) : "";
    tacit_status status =
        tacit_buffer_print(&pattern, error, "%s%s", place->name, inside != NULL ? inside : "");
    if (status == TACIT_OK && (self->pattern = tacit_copy_text(tacit_buffer_text(&pattern))) == NULL)
        status = tacit_fail_memory(error);
    if (status == TACIT_OK) {
        status = connect_to(self, database ? place->name : NULL, database, error);
    }
    if (status == TACIT_OK) status = duckdb_look_at_files(self, &self->files, error);
    if (status == TACIT_OK)
        status =
            database ? select_table(self, &query, error) : select_files(&query, json, self->pattern, error);
    if (status == TACIT_OK) status = duckdb_open_query(self, tacit_buffer_text(&query), error);
    tacit_buffer_clear(&query);
    tacit_buffer_clear(&pattern);
    return status;
}

/* QUERY, or /path/clinic.duckdb?QUERY. */
static tacit_status open_asked(duckdb_source *self, const char *rest, tacit_error *error) {
    char *path = NULL, *query = NULL;
    if (rest[0] != '/') {
        TACIT_TRY(connect_to(self, NULL, true, error));
        return duckdb_open_query(self, rest, error);
    }
    TACIT_TRY(
        source_split_query(&path, &query, rest, "duckdb:/data/clinic.duckdb?SELECT * FROM visits", error));
    tacit_status status = connect_to(self, path, true, error);
    if (status == TACIT_OK) status = duckdb_open_query(self, query, error);
    free(path);
    return status;
}

/* What a place is, for a sentence, by its first bytes or its name. NULL: a query. */
static const char *what_it_is(const tacit_place *place) {
    if (place->rest != place->name) return NULL;
    if (place->bytes == NULL && duckdb_is_database(place->name)) return "a DuckDB database";
    if (place->bytes == NULL && duckdb_is_json(place->name)) return "a JSON file";
    return place->is_folder ? "a folder of Parquet files" : "a Parquet file";
}

static tacit_status duckdb_open(tacit_source **out, const tacit_place *place,
                                const tacit_source_options *options, tacit_error *error) {
    duckdb_source *self = NULL;
    duckdb_library library;
    bool asked = place->rest != place->name;
    (void)options;
    TACIT_TRY(source_check_parquet(place, error));
    char what[600] = "such a query";
    if (!asked) tacit_format(what, sizeof what, "%.500s is %s, which", place->name, what_it_is(place));
    TACIT_TRY(duckdb_library_load(&library, what, error));
    TACIT_TRY(
        source_create(&self, sizeof *self, &tacit_source_duckdb, asked ? "DuckDB" : place->name, error));
    self->library = library;
    self->rows_before = UINT64_MAX;
    self->what = what_it_is(place);
    tacit_status status = asked ? open_asked(self, place->rest, error) : open_named(self, place, error);
    if (status == TACIT_OK)
        *out = &self->base;
    else
        tacit_source_free(&self->base);
    return status;
}

/* ---- rows ---- */

static tacit_status begin_pass(duckdb_source *self, tacit_error *error) {
    char *said = NULL;
    if (duckdb_rows_begin(&self->pass, &self->library, self->statement, &said)) return TACIT_OK;
    tacit_status status = said != NULL ? duckdb_failed(self, said, error) : tacit_fail_memory(error);
    free(said);
    return status;
}

/* Have rows at hand, or none after the last. Bits of validity lie as in Arrow, as DuckDB's processors put the
 * lowest byte first. */
static tacit_status fetch(duckdb_source *self, tacit_error *error) {
    while (self->at == self->size) {
        const char *said = NULL;
        duckdb_pointer chunk = duckdb_rows_next(self->pass, &said);
        if (said != NULL) return duckdb_failed(self, said, error);
        if (chunk == NULL) return TACIT_OK;
        self->at = 0;
        self->size = self->library.data_chunk_get_size(chunk);
        for (size_t j = 0; j < self->base.columns.count; j++) {
            duckdb_pointer vector = self->library.data_chunk_get_vector(chunk, j);
            tacit_array *column = &self->columns[j];
            column->values = self->library.vector_get_data(vector);
            column->valid = (const uint8_t *)self->library.vector_get_validity(vector);
            column->step = (ptrdiff_t)tacit_array_width(column->kind);
            column->count = self->size;
        }
    }
    return TACIT_OK;
}

static tacit_status duckdb_next(tacit_source *source, size_t most, tacit_row_block *out, tacit_error *error) {
    duckdb_source *self = (duckdb_source *)source;
    if (self->pass == NULL) TACIT_TRY(begin_pass(self, error));
    TACIT_TRY(fetch(self, error));
    out->ended = self->at == self->size;
    if (out->ended) return source_check_count(source, &self->rows_before, error);
    out->rows = self->size - self->at < most ? self->size - self->at : most;
    out->columns = self->columns;
    out->first = self->at;
    self->at += out->rows;
    return TACIT_OK;
}

static tacit_status duckdb_rewind(tacit_source *source, tacit_error *error) {
    duckdb_source *self = (duckdb_source *)source;
    uint64_t now = 0;
    end_pass(self);
    TACIT_TRY(duckdb_look_at_files(self, &now, error));
    if (now == self->files) return TACIT_OK;
    return tacit_fail(error, TACIT_INPUT, "%s has changed since it was opened", source->name);
}

/* A query may read files anywhere; files by name lie in the folder before the first star. */
static void duckdb_allow(tacit_harden_settings *settings, const tacit_place *place) {
    char path[DUCKDB_PATH_SIZE];
    tacit_harden_allow(settings, getenv("TACIT_DUCKDB"), false);
    /* how much memory it may use; it dies where this is closed */
    tacit_harden_allow(settings, "/sys/fs/cgroup", false);
    if (duckdb_library_path(path)) tacit_harden_allow(settings, path, false);
    settings->reads_all = settings->reads_all || place->rest != place->name;
    int length = (int)strcspn(place->name, "*?[");
    if (place->rest == place->name &&
        snprintf(path, sizeof path, "%.*s", length, place->name) < (int)sizeof path)
        tacit_harden_allow_around(settings, path, false);
}

const tacit_source_kind tacit_source_duckdb = { .name = "duckdb",
                                                .prefix = "duckdb:",
                                                .row = "row",
                                                .lends = true,
                                                .takes = takes,
                                                .open = duckdb_open,
                                                .next_columns = duckdb_next,
                                                .rewind = duckdb_rewind,
                                                .free = duckdb_close,
                                                .allow = duckdb_allow };
