/* The source that DuckDB reads, shared by its files: opening and rows (duckdb.c), what becomes of types
 * (duckdb_columns.c), files and their parts (duckdb_files.c). */
#pragma once

#include "base/buffer.h"
#include "data/source/arrays.h"
#include "data/source/duckdb_library.h"
#include "data/source/duckdb_rows.h"
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
    tacit_array *levels;  /* of columns that are ENUMs: their dictionaries */
    size_t column_count;  /* of both */
    uint64_t at, size;
    uint64_t rows_before; /* that an earlier pass had; UINT64_MAX: none has ended */
} duckdb_source;

/* TACIT_INPUT, with the first line of what DuckDB says; NULL: nothing. */
tacit_status duckdb_failed(const duckdb_source *self, const char *message, tacit_error *error);

/* A statement that gives nothing. */
tacit_status duckdb_run(duckdb_source *self, const char *text, tacit_error *error);

/* A text between quotes of SQL. */
tacit_status duckdb_add_quoted(tacit_buffer *out, const char *text, tacit_error *error);

bool duckdb_is_database(const char *name);
bool duckdb_is_json(const char *name);

/* One SELECT, whose columns become those of the source. */
tacit_status duckdb_open_query(duckdb_source *self, const char *query, tacit_error *error);
void duckdb_forget_columns(duckdb_source *self);

/* One number for names, sizes and times of the files of the pattern, as DuckDB understands it: another one
 * when any has changed. 0: no file is read by a pattern. */
tacit_status duckdb_look_at_files(duckdb_source *self, uint64_t *out, tacit_error *error);
