/*
 * Rows that DuckDB reads: duckdb:SELECT ..., duckdb:/path/clinic.duckdb?SELECT ..., and files by their names:
 * rows.parquet, visits.ndjson, 'years/y*.parquet', a folder of Parquet files, a .duckdb file with one table.
 *
 * DuckDB hands over vectors of 2,048 values, which are columns here as they lie (arrays.h). Other types are turned into
 * text by DuckDB itself, in a SELECT around the query.
 *
 * A query reads and no more: one SELECT, no extension is fetched or loaded (so nothing is read from the network),
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
#include "data/source/arrays.h"
#include "data/source/duckdb_library.h"
#include "data/source/duckdb_rows.h"
#include "data/source/part.h"
#include "data/source/source_parts.h"

typedef struct duckdb_source {
    tacit_source base;
    const char *what; /* "a Parquet file"; NULL: a query */
    duckdb_library library;
    duckdb_pointer database, connection, statement;
    char *pattern;        /* of the files that are read; NULL: a query */
    uint64_t files;       /* a hash of how they were when the source was opened */
    duckdb_rows *pass;    /* NULL: none has begun */
    tacit_array *columns; /* the rows at hand, from `at` to `size` */
    uint64_t at, size;
    uint64_t rows_before; /* that an earlier pass had; UINT64_MAX: none has ended */
} duckdb_source;

static tacit_status failed(const duckdb_source *self, const char *message, tacit_error *error) {
    if (message == NULL) message = "DuckDB gives no reason";
    return tacit_fail(error, TACIT_INPUT, "%s%s%s: %.*s", self->base.name, self->what != NULL ? ", " : "",
                      self->what != NULL ? self->what : "", (int)strcspn(message, "\n"), message);
}

/* ---- names ---- */

static bool ends_with(const char *name, const char *end) {
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0;
}

static bool is_database(const char *name) { return ends_with(name, ".duckdb"); }
static bool is_parquet(const char *name) { return ends_with(name, ".parquet"); }

static bool is_json(const char *name) {
    static const char *const ends[] = { ".json", ".ndjson", ".jsonl", ".json.gz", ".ndjson.gz", ".jsonl.gz" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(name, ends[i])) return true;
    return false;
}

/* Parquet files in a folder, or in folders of it that are named by values ("year=2024"). NULL: there are none. */
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
           (is_parquet(place->name) || is_json(place->name) || is_database(place->name));
}

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* One number for names, sizes and times of the files: another one when any has changed. */
static uint64_t look_at_files(const char *pattern) {
    glob_t found = { .gl_pathc = 0 };
    uint64_t hash = 0;
    struct stat one;
    if (pattern == NULL || glob(pattern, GLOB_NOCHECK, NULL, &found) != 0) return 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        for (const char *c = found.gl_pathv[i]; *c != 0; c++) hash = mix(hash, (uint8_t)*c);
        if (stat(found.gl_pathv[i], &one) != 0) continue;
        hash = mix(mix(mix(hash, (uint64_t)one.st_ino), (uint64_t)one.st_size), (uint64_t)one.st_mtim.tv_sec);
        hash = mix(hash, (uint64_t)one.st_mtim.tv_nsec);
    }
    globfree(&found);
    return hash;
}

/* ---- the engine ---- */

/* Rows of files come in the order of the files however many threads read them; those of a query, only with one. One of the
 * processors is for whoever takes the rows. */
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

static tacit_status run(duckdb_source *self, const char *text, tacit_error *error) {
    duckdb_result result = { .inside = NULL };
    tacit_status status = TACIT_OK;
    if (self->library.query(self->connection, text, &result) != 0)
        status = failed(self, self->library.result_error(&result), error);
    self->library.destroy_result(&result);
    return status;
}

/* All rows of a database are of one moment, however often they are read. */
static tacit_status connect_to(duckdb_source *self, const char *path, bool is_query, tacit_error *error) {
    duckdb_pointer config = NULL;
    char *said = NULL;
    tacit_status status = configure(self, &config, path, is_query, error);
    if (status == TACIT_OK && self->library.open_ext(path, &self->database, config, &said) != 0)
        status = failed(self, said, error);
    if (said != NULL) self->library.free(said);
    if (config != NULL) self->library.destroy_config(&config);
    TACIT_TRY(status);
    if (self->library.connect(self->database, &self->connection) != 0) return tacit_fail_memory(error);
    TACIT_TRY(run(self, "SET lock_configuration = true", error));
    return run(self, "BEGIN TRANSACTION", error);
}

/* One SELECT, and no other statement. */
static tacit_status prepare(duckdb_source *self, const char *text, tacit_error *error) {
    duckdb_pointer statements = NULL;
    uint64_t count = self->library.extract_statements(self->connection, text, &statements);
    tacit_status status = TACIT_OK;
    if (self->statement != NULL) self->library.destroy_prepare(&self->statement);
    if (count == 0 && self->library.extract_statements_error(statements) != NULL)
        status = failed(self, self->library.extract_statements_error(statements), error);
    else if (count != 1)
        status = tacit_fail(error, TACIT_USAGE, "%s: the query must be one SELECT", self->base.name);
    else if (self->library.prepare_extracted_statement(self->connection, statements, 0, &self->statement) !=
             0)
        status = failed(self, self->library.prepare_error(self->statement), error);
    else if (self->library.prepared_statement_type(self->statement) != DUCKDB_STATEMENT_SELECT)
        status = tacit_fail(error, TACIT_USAGE, "%s: the query must be one SELECT", self->base.name);
    self->library.destroy_extracted(&statements);
    return status;
}

/* ---- columns ---- */

/* Fifteen digits and a power of ten are doubles, and their quotient is the nearest one to the decimal. */
static bool is_short_decimal(const duckdb_source *self, uint64_t j) {
    duckdb_pointer type = self->library.prepared_statement_column_logical_type(self->statement, j);
    uint8_t width = self->library.decimal_width(type);
    self->library.destroy_logical_type(&type);
    return width > 0 && width <= 15;
}

/* The kind of a vector that is a column as it lies, or NOTHING. */
static tacit_array_kind as_it_lies(duckdb_kind kind) {
    switch (kind) {
    case DUCKDB_INT8: return TACIT_ARRAY_INT8;
    case DUCKDB_INT16: return TACIT_ARRAY_INT16;
    case DUCKDB_INT32: return TACIT_ARRAY_INT32;
    case DUCKDB_INT64: return TACIT_ARRAY_INT64;
    case DUCKDB_UINT8: return TACIT_ARRAY_UINT8;
    case DUCKDB_UINT16: return TACIT_ARRAY_UINT16;
    case DUCKDB_UINT32: return TACIT_ARRAY_UINT32;
    case DUCKDB_UINT64: return TACIT_ARRAY_UINT64;
    case DUCKDB_FLOAT: return TACIT_ARRAY_FLOAT;
    case DUCKDB_DOUBLE: return TACIT_ARRAY_DOUBLE;
    case DUCKDB_VARCHAR: return TACIT_ARRAY_STRINGS;
    case DUCKDB_BLOB:
        return TACIT_ARRAY_BYTES; /* early writers of Parquet did not say which bytes are texts */
    case DUCKDB_DATE: return TACIT_ARRAY_DAYS;
    default: return TACIT_ARRAY_NOTHING;
    }
}

/* What a column is asked for as: what comes of it, what is known of it, and the SQL around its name. */
static const char *choose(const duckdb_source *self, uint64_t j, tacit_array *out, tacit_column_hint *hint) {
    duckdb_kind kind = (duckdb_kind)self->library.prepared_statement_column_type(self->statement, j);
    *out = (tacit_array){ .kind = as_it_lies(kind) };
    *hint = TACIT_HINT_NUMBER;
    if (kind >= DUCKDB_INT8 && kind <= DUCKDB_DOUBLE) return "";
    if (kind == DUCKDB_DECIMAL && is_short_decimal(self, j)) {
        out->kind = TACIT_ARRAY_DOUBLE;
        return "::DOUBLE";
    }
    *hint = TACIT_HINT_CATEGORY;
    if (kind == DUCKDB_VARCHAR || kind == DUCKDB_BLOB) return "";
    out->kind = TACIT_ARRAY_STRINGS;
    switch (kind) {
    case DUCKDB_DECIMAL:
    case DUCKDB_HUGEINT:
    case DUCKDB_UHUGEINT: *hint = TACIT_HINT_NUMBER; return "::VARCHAR";
    case DUCKDB_DATE:
        out->kind = TACIT_ARRAY_DAYS;
        *hint = TACIT_HINT_NONE; /* dates are found by their look */
        return "";
    case DUCKDB_TIMESTAMP:
    case DUCKDB_TIMESTAMP_S:
    case DUCKDB_TIMESTAMP_MS:
    case DUCKDB_TIMESTAMP_NS:
    case DUCKDB_TIMESTAMP_ZONE: *hint = TACIT_HINT_NONE; return "::VARCHAR";
    case DUCKDB_BOOLEAN:
    case DUCKDB_ENUM:
    case DUCKDB_UUID:
    case DUCKDB_BIT:
    case DUCKDB_TIME:
    case DUCKDB_TIME_ZONE:
    case DUCKDB_INTERVAL: return "::VARCHAR";
    default: break;
    }
    *out = (tacit_array){ .kind = TACIT_ARRAY_ODD, .text = "a list or a structure" };
    return " IS NOT NULL OR NULL"; /* true, or nothing */
}

/* Names and kinds of the columns; the SELECT that gives them as cells can hold them, or an empty text where the query
 * does already. */
static tacit_status take_columns(duckdb_source *self, tacit_buffer *around, tacit_error *error) {
    uint64_t count = self->library.prepared_statement_column_count(self->statement);
    bool changed = false;
    self->columns = tacit_allocate(count, sizeof *self->columns);
    if (self->columns == NULL) return tacit_fail_memory(error);
    TACIT_TRY(tacit_buffer_print(around, error, "SELECT "));
    for (uint64_t j = 0; j < count; j++) {
        tacit_column_hint hint;
        const char *name = self->library.prepared_statement_column_name(self->statement, j);
        const char *as = choose(self, j, &self->columns[j], &hint);
        tacit_status status =
            name == NULL ? tacit_fail_memory(error) : source_add_column(&self->base, name, hint, error);
        self->library.free((void *)(uintptr_t)name);
        TACIT_TRY(status);
        TACIT_TRY(tacit_buffer_print(around, error, "%sc%" PRIu64 "%s", j > 0 ? ", " : "", j, as));
        changed = changed || as[0] != 0;
    }
    TACIT_TRY(tacit_buffer_print(around, error, " FROM tacit_rows"));
    if (!changed) tacit_buffer_clear(around);
    return TACIT_OK;
}

/* The view has names of its own for the columns, so that those of the query need no quotes. */
static tacit_status make_view(duckdb_source *self, const char *query, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = tacit_buffer_print(&text, error, "CREATE TEMP VIEW tacit_rows(");
    for (size_t j = 0; status == TACIT_OK && j < self->base.columns.count; j++)
        status = tacit_buffer_print(&text, error, "%sc%zu", j > 0 ? ", " : "", j);
    if (status == TACIT_OK) status = tacit_buffer_print(&text, error, ") AS %s", query);
    if (status == TACIT_OK) status = run(self, tacit_buffer_text(&text), error);
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status open_query(duckdb_source *self, const char *query, tacit_error *error) {
    tacit_buffer around = TACIT_BUFFER_INIT;
    TACIT_TRY(prepare(self, query, error));
    tacit_status status = take_columns(self, &around, error);
    if (status == TACIT_OK && around.length > 0) status = make_view(self, query, error);
    if (status == TACIT_OK && around.length > 0) status = prepare(self, tacit_buffer_text(&around), error);
    tacit_buffer_clear(&around);
    return status;
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
    free(self->columns);
    free(self->pattern);
}

static tacit_status add_quoted(tacit_buffer *out, const char *text, tacit_error *error) {
    TACIT_TRY(tacit_buffer_append(out, "'", 1, error));
    for (const char *c = text; *c != 0; c++)
        TACIT_TRY(tacit_buffer_append(out, *c == '\'' ? "''" : c, *c == '\'' ? 2 : 1, error));
    return tacit_buffer_append(out, "'", 1, error);
}

static tacit_status select_files(tacit_buffer *out, bool json, const char *pattern, tacit_error *error) {
    TACIT_TRY(tacit_buffer_print(out, error, "SELECT * FROM %s(", json ? "read_json_auto" : "read_parquet"));
    TACIT_TRY(add_quoted(out, pattern, error));
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
        status = failed(self, self->library.result_error(&found), error);
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
    bool database = is_database(place->name), json = is_json(place->name) && place->bytes == NULL;
    const char *inside = place->is_folder ? folder_pattern(place->name) : "";
    tacit_status status =
        tacit_buffer_print(&pattern, error, "%s%s", place->name, inside != NULL ? inside : "");
    if (status == TACIT_OK && (self->pattern = tacit_copy_text(tacit_buffer_text(&pattern))) == NULL)
        status = tacit_fail_memory(error);
    if (status == TACIT_OK) {
        self->files = look_at_files(self->pattern);
        status = connect_to(self, database ? place->name : NULL, database, error);
    }
    if (status == TACIT_OK)
        status =
            database ? select_table(self, &query, error) : select_files(&query, json, self->pattern, error);
    if (status == TACIT_OK) status = open_query(self, tacit_buffer_text(&query), error);
    tacit_buffer_clear(&query);
    tacit_buffer_clear(&pattern);
    return status;
}

/* QUERY, or /path/clinic.duckdb?QUERY. */
static tacit_status open_asked(duckdb_source *self, const char *rest, tacit_error *error) {
    char *path = NULL, *query = NULL;
    if (rest[0] != '/') {
        TACIT_TRY(connect_to(self, NULL, true, error));
        return open_query(self, rest, error);
    }
    TACIT_TRY(
        source_split_query(&path, &query, rest, "duckdb:/data/clinic.duckdb?SELECT * FROM visits", error));
    tacit_status status = connect_to(self, path, true, error);
    if (status == TACIT_OK) status = open_query(self, query, error);
    free(path);
    return status;
}

/* What a place is, for a sentence, by its first bytes or its name. NULL: a query. */
static const char *what_it_is(const tacit_place *place) {
    if (place->rest != place->name) return NULL;
    if (place->bytes == NULL && is_database(place->name)) return "a DuckDB database";
    if (place->bytes == NULL && is_json(place->name)) return "a JSON file";
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

/* ---- parts ---- */

/* The rows of one Parquet file. */
static tacit_status count_rows(duckdb_source *self, const char *path, uint64_t *out, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    duckdb_result found = { .inside = NULL };
    tacit_status status =
        tacit_buffer_print(&text, error, "SELECT num_rows::BIGINT FROM parquet_file_metadata(");
    if (status == TACIT_OK) status = add_quoted(&text, path, error);
    if (status == TACIT_OK) status = tacit_buffer_append(&text, ")", 1, error);
    if (status == TACIT_OK && self->library.query(self->connection, tacit_buffer_text(&text), &found) != 0)
        status = failed(self, self->library.result_error(&found), error);
    duckdb_pointer chunk = status == TACIT_OK ? self->library.fetch_chunk(found) : NULL;
    if (status == TACIT_OK && (chunk == NULL || self->library.data_chunk_get_size(chunk) != 1))
        status = failed(self, "the number of its rows is not known", error);
    if (status == TACIT_OK)
        memcpy(out, self->library.vector_get_data(self->library.data_chunk_get_vector(chunk, 0)),
               sizeof *out);
    if (chunk != NULL) self->library.destroy_data_chunk(&chunk);
    self->library.destroy_result(&found);
    tacit_buffer_clear(&text);
    return status;
}

/* As many files as parts, or more: whole ones. Fewer: ranges of rows. False where a part would have none, and so there are no parts. */
static tacit_status deal_rows(bool *out, size_t *part_of, const uint64_t *rows, size_t files, size_t count,
                              tacit_error *error) {
    bool filled = true;
    for (size_t i = 0; i < files && files < count; i++)
        filled = filled && rows[i] >= (count - i + files - 1) / files;
    if (files >= count) TACIT_TRY(tacit_deal_files(part_of, rows, files, count, error));
    *out = files < count ? filled : tacit_deal_fills(part_of, rows, files, count, 1);
    return TACIT_OK;
}

static tacit_status select_range(tacit_buffer *out, const char *path, uint64_t rows, size_t range,
                                 size_t ranges, tacit_error *error) {
    TACIT_TRY(tacit_buffer_print(out, error, "SELECT * EXCLUDE (file_row_number) FROM read_parquet("));
    TACIT_TRY(add_quoted(out, path, error));
    return tacit_buffer_print(out, error,
                              ", file_row_number = true) WHERE file_row_number >= %" PRIu64
                              " AND file_row_number < %" PRIu64,
                              rows / ranges * range + rows % ranges * range / ranges,
                              rows / ranges * (range + 1) + rows % ranges * (range + 1) / ranges);
}

static tacit_status select_part(duckdb_source *self, tacit_buffer *out, const glob_t *files, size_t own,
                                size_t count, tacit_error *error) {
    const size_t all = files->gl_pathc, file = own % all;
    uint64_t *rows = TACIT_NEW(uint64_t, all);
    size_t *part_of = TACIT_NEW(size_t, all), taken = 0;
    bool any = false;
    tacit_status status = rows != NULL && part_of != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t i = 0; status == TACIT_OK && i < all; i++)
        status = count_rows(self, files->gl_pathv[i], &rows[i], error);
    if (status == TACIT_OK) status = deal_rows(&any, part_of, rows, all, count, error);
    if (status == TACIT_OK && any && all < count) {
        status = select_range(out, files->gl_pathv[file], rows[file], own / all,
                              (count - file + all - 1) / all, error);
    } else if (status == TACIT_OK && any) {
        status = tacit_buffer_print(out, error, "SELECT * FROM read_parquet([");
        for (size_t i = 0; status == TACIT_OK && i < all; i++) {
            if (part_of[i] != own) continue;
            if (taken++ > 0) status = tacit_buffer_append(out, ", ", 2, error);
            if (status == TACIT_OK) status = add_quoted(out, files->gl_pathv[i], error);
        }
        if (status == TACIT_OK) status = tacit_buffer_append(out, "])", 2, error);
    }
    free(rows);
    free(part_of);
    return status;
}

/* Open the query in place of the one that was opened; its columns must be the same. */
static tacit_status replace_query(duckdb_source *self, const char *query, tacit_error *error) {
    tacit_levels before = self->base.columns;
    self->base.columns = (tacit_levels)TACIT_LEVELS_INIT;
    free(self->columns);
    self->columns = NULL;
    tacit_status status = run(self, "DROP VIEW IF EXISTS tacit_rows", error);
    if (status == TACIT_OK) status = open_query(self, query, error);
    bool same = self->base.columns.count == before.count;
    for (size_t j = 0; same && j < before.count; j++)
        same = strcmp(before.text[j], self->base.columns.text[j]) == 0;
    if (status == TACIT_OK && !same)
        status =
            tacit_fail(error, TACIT_INPUT,
                       "%s: its files have different columns, so that they cannot be dealt out to several "
                       "processes: run in one process",
                       self->base.name);
    tacit_levels_clear(&before);
    return status;
}

tacit_status duckdb_keep_part(tacit_source *source, size_t own, size_t count, bool *done,
                              tacit_error *error) {
    duckdb_source *self = (duckdb_source *)source;
    tacit_buffer query = TACIT_BUFFER_INIT;
    glob_t files = { .gl_pathc = 0 };
    if (self->pattern == NULL || is_database(self->pattern) || is_json(self->pattern)) return TACIT_OK;
    if (glob(self->pattern, 0, NULL, &files) != 0 || files.gl_pathc == 0) return TACIT_OK;
    tacit_status status = select_part(self, &query, &files, own, count, error);
    const bool any = status == TACIT_OK && query.length > 0;
    if (any) status = replace_query(self, tacit_buffer_text(&query), error);
    globfree(&files);
    tacit_buffer_clear(&query);
    *done = any && status == TACIT_OK;
    return status;
}

/* ---- rows ---- */

static tacit_status begin_pass(duckdb_source *self, tacit_error *error) {
    char *said = NULL;
    if (duckdb_rows_begin(&self->pass, &self->library, self->statement, &said)) return TACIT_OK;
    tacit_status status = said != NULL ? failed(self, said, error) : tacit_fail_memory(error);
    free(said);
    return status;
}

/* Have rows at hand, or none after the last. Bits of validity lie as in Arrow, as DuckDB's processors put the lowest byte
 * first. */
static tacit_status fetch(duckdb_source *self, tacit_error *error) {
    while (self->at == self->size) {
        const char *said = NULL;
        duckdb_pointer chunk = duckdb_rows_next(self->pass, &said);
        if (said != NULL) return failed(self, said, error);
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
    end_pass(self);
    if (look_at_files(self->pattern) == self->files) return TACIT_OK;
    return tacit_fail(error, TACIT_INPUT, "%s has changed since it was opened", source->name);
}

/* A query may read files anywhere; files by name lie in the folder before the first star. */
static void duckdb_allow(tacit_harden_settings *settings, const tacit_place *place) {
    char path[DUCKDB_PATH_SIZE];
    tacit_harden_allow(settings, getenv("TACIT_DUCKDB"), false);
    tacit_harden_allow(settings, "/sys/fs/cgroup",
                       false); /* how much memory it may use; it dies where this is closed */
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
