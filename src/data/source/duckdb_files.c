/*
 * The files that DuckDB reads by a name or a pattern, found by DuckDB itself (its ** goes into folders, that
 * of glob(3) does not): how they are, and which rows of them are whose where several processes read their own
 * part.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "data/source/duckdb_source.h"
#include "data/source/part.h"

/* ---- which files ---- */

tacit_status duckdb_add_quoted(tacit_buffer *out, const char *text, tacit_error *error) {
    TACIT_TRY(tacit_buffer_append(out, "'", 1, error));
    for (const char *c = text; *c != 0; c++)
        TACIT_TRY(tacit_buffer_append(out, *c == '\'' ? "''" : c, *c == '\'' ? 2 : 1, error));
    return tacit_buffer_append(out, "'", 1, error);
}

static tacit_status take_names(duckdb_source *self, duckdb_result *found, tacit_levels *out,
                               tacit_error *error) {
    duckdb_pointer chunk = NULL;
    tacit_status status = TACIT_OK;
    while (status == TACIT_OK && (chunk = self->library.fetch_chunk(*found)) != NULL) {
        const uint64_t count = self->library.data_chunk_get_size(chunk);
        const tacit_array_string *name =
            self->library.vector_get_data(self->library.data_chunk_get_vector(chunk, 0));
        for (uint64_t i = 0; status == TACIT_OK && i < count; i++)
            status = tacit_levels_add(out, tacit_array_string_text(&name[i]), name[i].length, NULL, error);
        self->library.destroy_data_chunk(&chunk);
    }
    return status;
}

/* In the order of their names, which is the same for every process. A database is one file, whatever signs
 * are in its name. */
static tacit_status list_files(duckdb_source *self, tacit_levels *out, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    duckdb_result found = { .inside = NULL };
    if (duckdb_is_database(self->pattern))
        return tacit_levels_add(out, self->pattern, strlen(self->pattern), NULL, error);
    tacit_status status = tacit_buffer_print(&text, error, "SELECT DISTINCT file FROM glob(");
    if (status == TACIT_OK) status = duckdb_add_quoted(&text, self->pattern, error);
    if (status == TACIT_OK) status = tacit_buffer_print(&text, error, ") ORDER BY file");
    if (status == TACIT_OK && self->library.query(self->connection, tacit_buffer_text(&text), &found) != 0)
        status = duckdb_failed(self, self->library.result_error(&found), error);
    if (status == TACIT_OK) status = take_names(self, &found, out, error);
    self->library.destroy_result(&found);
    tacit_buffer_clear(&text);
    return status;
}

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

tacit_status duckdb_look_at_files(duckdb_source *self, uint64_t *out, tacit_error *error) {
    tacit_levels files = TACIT_LEVELS_INIT;
    uint64_t hash = 0;
    struct stat one;
    tacit_status status = self->pattern != NULL ? list_files(self, &files, error) : TACIT_OK;
    for (size_t i = 0; status == TACIT_OK && i < files.count; i++) {
        for (const char *c = files.text[i]; *c != 0; c++) hash = mix(hash, (uint8_t)*c);
        if (stat(files.text[i], &one) != 0) continue;
        hash = mix(mix(mix(hash, (uint64_t)one.st_ino), (uint64_t)one.st_size), (uint64_t)one.st_mtim.tv_sec);
        hash = mix(hash, (uint64_t)one.st_mtim.tv_nsec);
    }
    tacit_levels_clear(&files);
    if (status == TACIT_OK) *out = hash;
    return status;
}

/* ---- parts ---- */

/* The rows of one Parquet file. */
static tacit_status count_rows(duckdb_source *self, const char *path, uint64_t *out, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    duckdb_result found = { .inside = NULL };
    tacit_status status =
        tacit_buffer_print(&text, error, "SELECT num_rows::BIGINT FROM parquet_file_metadata(");
    if (status == TACIT_OK) status = duckdb_add_quoted(&text, path, error);
    if (status == TACIT_OK) status = tacit_buffer_append(&text, ")", 1, error);
    if (status == TACIT_OK && self->library.query(self->connection, tacit_buffer_text(&text), &found) != 0)
        status = duckdb_failed(self, self->library.result_error(&found), error);
    duckdb_pointer chunk = status == TACIT_OK ? self->library.fetch_chunk(found) : NULL;
    if (status == TACIT_OK && (chunk == NULL || self->library.data_chunk_get_size(chunk) != 1))
        status = duckdb_failed(self, "the number of its rows is not known", error);
    if (status == TACIT_OK)
        memcpy(out, self->library.vector_get_data(self->library.data_chunk_get_vector(chunk, 0)),
               sizeof *out);
    if (chunk != NULL) self->library.destroy_data_chunk(&chunk);
    self->library.destroy_result(&found);
    tacit_buffer_clear(&text);
    return status;
}

/* As many files as parts, or more: whole ones. Fewer: ranges of rows. False where a part would have none, and
 * so there are no parts. */
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
    TACIT_TRY(duckdb_add_quoted(out, path, error));
    return tacit_buffer_print(out, error,
                              ", file_row_number = true) WHERE file_row_number >= %" PRIu64
                              " AND file_row_number < %" PRIu64,
                              rows / ranges * range + rows % ranges * range / ranges,
                              rows / ranges * (range + 1) + rows % ranges * (range + 1) / ranges);
}

static tacit_status select_part(duckdb_source *self, tacit_buffer *out, const tacit_levels *files, size_t own,
                                size_t count, tacit_error *error) {
    const size_t all = files->count, file = own % all;
    uint64_t *rows = TACIT_NEW(uint64_t, all);
    size_t *part_of = TACIT_NEW(size_t, all), taken = 0;
    bool any = false;
    tacit_status status = rows != NULL && part_of != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t i = 0; status == TACIT_OK && i < all; i++)
        status = count_rows(self, files->text[i], &rows[i], error);
    if (status == TACIT_OK) status = deal_rows(&any, part_of, rows, all, count, error);
    if (status == TACIT_OK && any && all < count) {
        status = select_range(out, files->text[file], rows[file], own / all, (count - file + all - 1) / all,
                              error);
    } else if (status == TACIT_OK && any) {
        status = tacit_buffer_print(out, error, "SELECT * FROM read_parquet([");
        for (size_t i = 0; status == TACIT_OK && i < all; i++) {
            if (part_of[i] != own) continue;
            if (taken++ > 0) status = tacit_buffer_append(out, ", ", 2, error);
            if (status == TACIT_OK) status = duckdb_add_quoted(out, files->text[i], error);
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
    duckdb_forget_columns(self);
    tacit_status status = duckdb_run(self, "DROP VIEW IF EXISTS tacit_rows", error);
    if (status == TACIT_OK) status = duckdb_open_query(self, query, error);
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
    tacit_levels files = TACIT_LEVELS_INIT;
    if (self->pattern == NULL || duckdb_is_database(self->pattern) || duckdb_is_json(self->pattern))
        return TACIT_OK;
    tacit_status status = list_files(self, &files, error);
    if (status == TACIT_OK && files.count > 0) status = select_part(self, &query, &files, own, count, error);
    const bool any = status == TACIT_OK && query.length > 0;
    if (any) status = replace_query(self, tacit_buffer_text(&query), error);
    tacit_levels_clear(&files);
    tacit_buffer_clear(&query);
    *done = any && status == TACIT_OK;
    return status;
}
