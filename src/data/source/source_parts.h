/* Shared by the kinds of sources. */
#pragma once

#include "base/buffer.h"
#include "data/source/source.h"

enum {
    BLOCK_BYTES = 1 << 16,    /* of text in a block, and */
    BLOCK_CELLS = 1 << 12,    /* cells: one row more than reaches either ends it */
    FIELD_LIMIT = 1 << 20,    /* bytes of one cell */
    RECORD_LIMIT = 256 << 20, /* bytes of one row, which is held in memory whole */
    COLUMN_LIMIT = 100000,
};

/* Files of SAS, Stata and SPSS, where ReadStat was there when Tacit was built. */
#ifdef TACIT_READSTAT
#define TACIT_SOURCE_STATISTICAL(X) X(statistical)
#else
#define TACIT_SOURCE_STATISTICAL(X)
#endif

/* The table of kinds: a line here and the file NAME.c make a source. Those that are named by paths are asked
 * in this order. A library for parties alone reads CSV files and personal stores; other rows come in
 * memory. */
#ifdef TACIT_PARTY_ONLY
#define TACIT_SOURCES(X)                                                                                     \
    X(personal)                                                                                              \
    X(csv)
#else
#define TACIT_SOURCES(X)                                                                                     \
    X(sqlite)                                                                                                \
    X(postgres)                                                                                              \
    X(odbc)                                                                                                  \
    X(duckdb)                                                                                                \
    X(personal)                                                                                              \
    X(linking)                                                                                               \
    X(folder)                                                                                                \
    X(documents)                                                                                             \
    TACIT_SOURCE_STATISTICAL(X)                                                                              \
    X(libsvm)                                                                                                \
    X(csv)
#endif

#define TACIT_SOURCE_DECLARE(name) extern const tacit_source_kind tacit_source_##name;
TACIT_SOURCES(TACIT_SOURCE_DECLARE)
#undef TACIT_SOURCE_DECLARE

/* The file that a line of the source is in, and its number there. */
const char *source_file(const tacit_source *source, uint64_t *line);

/* The kind with this number, or NULL after the last. */
const tacit_source_kind *source_kind(size_t number);

/* A source of `size` bytes whose first member is a tacit_source. It takes the place's input, if there is one,
 * when it is opened; before that the place keeps it. */
tacit_status source_create(void *out, size_t size, const tacit_source_kind *kind, const char *name,
                           tacit_error *error);

/* TACIT_INPUT, with what to do, for a file whose first bytes are those of another program's: Parquet, Excel,
 * SAS, ... */
tacit_status source_refuse_foreign(const tacit_place *place, tacit_error *error);

/* TACIT_USAGE for the name of rows that a library for parties alone does not read: a query of a database. */
tacit_status source_refuse_absent(const char *name, tacit_error *error);

/* Of a file that was told by its first bytes, Parquet's: DuckDB opens it by its path, so they must lie there
 * as they are. */
tacit_status source_check_parquet(const tacit_place *place, tacit_error *error);

/* Let a source that was just opened give one part of its rows alone (part.h). *done: it does. */
tacit_status folder_keep_part(tacit_source *source, size_t own, size_t count, bool *done, tacit_error *error);
tacit_status duckdb_keep_part(tacit_source *source, size_t own, size_t count, bool *done, tacit_error *error);

/* Name the next column: UTF-8 and another than those before. */
tacit_status source_add_column(tacit_source *source, const char *name, tacit_column_hint hint,
                               tacit_error *error);

/* "PATH?QUERY": the two apart, in one allocation that is the caller's. `example` is what a right one looks
 * like. */
tacit_status source_split_query(char **copy, char **query, const char *rest, const char *example,
                                tacit_error *error);

/* A block being filled. */
typedef struct filling {
    tacit_buffer bytes; /* the texts, each followed by a NUL */
    tacit_cell *cells;
    size_t count, capacity;
} filling;

void filling_empty(filling *self);
void filling_clear(filling *self);
static inline bool filling_is_full(const filling *self) {
    return self->bytes.length >= BLOCK_BYTES || self->count >= BLOCK_CELLS;
}
/* Room for one cell more. */
tacit_status filling_grow(filling *self, tacit_error *error);
tacit_status filling_add_text(filling *self, tacit_cell_kind kind, const char *text, size_t length,
                              uint64_t line, tacit_error *error);
tacit_status filling_add_number(filling *self, double number, uint64_t line, tacit_error *error);
/* The texts no longer move: let the cells point to them. */
void filling_finish(filling *self);

/* A text of a database, which may be anything: TACIT_LIMIT when it is too long; one with a NUL inside is a
 * cell of kind other. */
tacit_status source_add_text(tacit_source *source, filling *to, const char *text, size_t length,
                             tacit_error *error);

tacit_status source_add_text_at(tacit_source *source, filling *to, const char *text, size_t length,
                                size_t column, uint64_t line, tacit_error *error);

/* Cells of columns (columns.c): one value of an array, and a block of rows. */
struct tacit_array;
tacit_status source_add_cell(tacit_source *source, filling *to, const struct tacit_array *array, size_t row,
                             size_t column, uint64_t line, tacit_error *error);
tacit_status source_next_cells(tacit_source *source, size_t most, tacit_row_block *out, tacit_error *error);
void source_forget_cells(tacit_source *source);
void source_free_cells(tacit_source *source);

/* At the end of a pass: another one over the same rows must find as many. `before` is what an earlier one
 * found, UINT64_MAX before the first. */
tacit_status source_check_count(const tacit_source *source, uint64_t *before, tacit_error *error);

/* A source that drains another one, which it takes in any case, and gives of all rows with the same value of
 * a column the last. */
tacit_status source_link(tacit_source **out, tacit_source *inner, const char *link, tacit_error *error);

/* A source with one column more, of the same text in every row; takes the other one in any case. TACIT_INPUT
 * when that has such a column already. */
tacit_status source_fill(tacit_source **out, tacit_source *inner, const char *column, const char *value,
                         tacit_error *error);
