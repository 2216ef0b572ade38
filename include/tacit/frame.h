/* Rows of the caller: numbers or columns in memory, or a file, with what is public about them. See
 * tacit.h. */
#ifndef TACIT_FRAME_H
#define TACIT_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tacit/arrow.h"
#include "tacit/options.h"
#include "tacit/progress.h"
#include "tacit/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacit_frame tacit_frame;

typedef enum tacit_number_type { TACIT_NUMBER_DOUBLE, TACIT_NUMBER_FLOAT } tacit_number_type;
typedef enum tacit_index_type { TACIT_INDEX_INT32, TACIT_INDEX_INT64 } tacit_index_type;

/* Rows of numbers in the caller's memory, which is read and never copied as a whole: it must stay as it is
 * until the frame is freed. NaN is a missing value: the middle of its column's bounds, as in a schema.
 *   Out: *out    freed with tacit_frame_free
 *   In: values   element (i, j) lies i * row_bytes + j * column_bytes bytes behind, so that rows first,
 *                columns first and slices of either will do */
tacit_status tacit_frame_dense(tacit_frame **out, const void *values, tacit_number_type type, size_t rows,
                               size_t columns, ptrdiff_t row_bytes, ptrdiff_t column_bytes,
                               tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);

/* Rows of numbers, most of which are 0, in the caller's memory: compressed sparse rows. Every index is
 * checked.
 *   Out: *out           freed with tacit_frame_free
 *   In: value, column   of the entries; columns of a row in any order, none twice
 *       start           row i has value[k] in column[k] for start[i] <= k < start[i + 1] */
tacit_status tacit_frame_sparse(tacit_frame **out, const double *value, const void *column, const void *start,
                                tacit_index_type type, size_t rows, size_t columns,
                                tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 4);

/* Rows as `tacit simulate --train` reads them. The file is read again where another schema than its own is to
 * be used, as by tacit_model_predict; TACIT_INPUT when it then has more rows or fewer.
 *   Out: *out       freed with tacit_frame_free
 *   In: path        a file, a folder of CSV files or documents, sqlite:PATH?QUERY or
 *                   postgres:CONNINFO?QUERY (docs/data.md)
 *       options     schema (a file), label, positive, no-header, response, group (the column whose values are
 *                   the parties), terms, subset; may be NULL. Without a schema bounds and classes are read
 *                   off the rows: not private. So is what a schema marks `from: rows`
 *       progress    may be NULL */
tacit_status tacit_frame_load(tacit_frame **out, const char *path, const tacit_options *options,
                              const tacit_progress *progress, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(1, 2);

/* A table of columns with names, of numbers, categories, texts and dates, in the caller's memory, which is
 * read and not copied: it must stay as it is until the frame is freed. It has no columns at first; add them
 * with the calls below. What a value becomes is said by a schema: that of a model to predict, that of a
 * study to join, or by tacit_frame_describe that of the table itself. Columns are found by their names; the
 * label is one of them. A value is read as the same one in a CSV file: one that is empty or reads NA is
 * missing, a date is 2024-02-29, a truth value 0 or 1.
 *   Out: *out   freed with tacit_frame_free
 *   In: rows    from 1 to 2^32 - 1 */
tacit_status tacit_frame_table(tacit_frame **out, size_t rows, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(1);

typedef enum tacit_value_type {
    TACIT_VALUE_DOUBLE,
    TACIT_VALUE_FLOAT,
    TACIT_VALUE_INT8,
    TACIT_VALUE_INT16,
    TACIT_VALUE_INT32,
    TACIT_VALUE_INT64,
    TACIT_VALUE_UINT8,
    TACIT_VALUE_UINT16,
    TACIT_VALUE_UINT32,
    TACIT_VALUE_UINT64,
    TACIT_VALUE_BOOL /* a byte: 0, or something else */
} tacit_value_type;

/* Add a column of numbers. NaN is a missing value.
 *   In: name      copied; no other column may have it
 *       values    one of each row; value i lies i * step bytes after the first
 *       step      bytes; 0: values lie next to each other
 *       missing   a byte for each row, not 0 where the value is missing; NULL: none is */
tacit_status tacit_frame_add_numbers(tacit_frame *frame, const char *name, const void *values,
                                     tacit_value_type type, ptrdiff_t step, const uint8_t *missing,
                                     tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2, 3);

/* Add a column of categories: a whole number for each row, and what the numbers stand for. TACIT_INPUT names
 * the row of one beyond the last level.
 *   In: name     copied; no other column may have it
 *       codes    of an integer type; `first` is the first level, below it is a missing value
 *       step     as for numbers
 *       first    0 in most languages, 1 for the factors of R
 *       levels   copied; `level_count` of them */
tacit_status tacit_frame_add_categories(tacit_frame *frame, const char *name, const void *codes,
                                        tacit_value_type type, ptrdiff_t step, int64_t first,
                                        const char *const *levels, size_t level_count,
                                        tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2, 3);

/* Add a column of texts.
 *   In: name    copied; no other column may have it
 *       texts   one of each row, UTF-8 with a NUL behind; NULL is a missing one */
tacit_status tacit_frame_add_texts(tacit_frame *frame, const char *name, const char *const *texts,
                                   tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2, 3);

/* Add a column of dates.
 *   In: name      copied; no other column may have it
 *       days      of each row, since 1970-01-01
 *       missing   as for numbers; may be NULL */
tacit_status tacit_frame_add_dates(tacit_frame *frame, const char *name, const int32_t *days,
                                   const uint8_t *missing, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(1, 2, 3);

/* A table from another library, by the Arrow C data interface (pyarrow, pandas, polars, DuckDB, ...), without
 * a copy. Taken are int8 to uint64, float, double, bool, utf8, large_utf8, utf8_view, date32, date64,
 * timestamp (without a zone, or UTC; the day counts), null, and dictionaries of these; TACIT_INPUT names
 * another column with what to do. Lengths, offsets and places in dictionaries are checked; that buffers are
 * as large as they must be is the producer's word.
 *   Out: *out           freed with tacit_frame_free
 *   In: schema, array   a struct of columns. Handed over, also on failure: each is marked as released, and
 *                       what it held is released with the frame at the latest. TACIT_USAGE for one that was
 *                       released before */
tacit_status tacit_frame_arrow(tacit_frame **out, struct ArrowSchema *schema, struct ArrowArray *array,
                               tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2, 3);

/* The same from a stream, whose batches are one table.
 *   Out: *out    freed with tacit_frame_free
 *   In: stream   read to its end; handed over, also on failure */
tacit_status tacit_frame_arrow_stream(tacit_frame **out, struct ArrowArrayStream *stream,
                                      tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);

/* Say what is publicly known about the columns of a table, which tacit_frame_fit and tacit_frame_simulate
 * ask for; tacit_model_predict and tacit_site_invited do not. No column can be added afterwards.
 *   In: options    schema (a file) or schema-text (YAML or JSON), label, positive, response, group, terms,
 *                  subset: as for tacit_frame_load. Without a schema bounds and levels are read off the
 *                  rows: not private. May be NULL
 *       progress   may be NULL */
tacit_status tacit_frame_describe(tacit_frame *frame, const tacit_options *options,
                                  const tacit_progress *progress, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(1);

/* The rows are labelled with classes. TACIT_INPUT names the row of a label that is none.
 *   In: label     of each row, 0 to classes - 1; -1 of a row without a label, for methods that learn from
 *                 such rows (dphtl, dpiw); borrowed like the rows
 *       classes   at least 2
 *       names     copied; NULL stands for "0", "1", ... */
tacit_status tacit_frame_set_classes(tacit_frame *frame, const int32_t *label, size_t classes,
                                     const char *const *names, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(1, 2);

/* The rows are labelled with numbers.
 *   In: response    of each row, finite; borrowed like the rows
 *       low, high   publicly known bounds; what lies outside is moved to them
 *       counts      they count something: whole numbers from 0 on */
tacit_status tacit_frame_set_response(tacit_frame *frame, const double *response, double low, double high,
                                      bool counts, tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);

/* The rows are labelled with times, for cox and survival-exact: until something happened, or was last known
 * not to have.
 *   In: time, event   the time of each row, and 1 where the event was seen then, 0 where not; borrowed
 *       entry         since when each row is observed, before its time; borrowed. NULL: from 0 on
 *       low, high     publicly known bounds: a later time counts as `high`, with no event seen yet */
tacit_status tacit_frame_set_times(tacit_frame *frame, const double *time, const int32_t *event,
                                   const double *entry, double low, double high,
                                   tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2, 3);

/* Which party has which row: for simulations. Without it, rows are dealt out; all rows of a person of the
 * schema go to one party then. A table is described before, and a file has its option `group` instead.
 *   In: party   of each row, 0 to parties - 1; borrowed like the rows */
tacit_status tacit_frame_set_parties(tacit_frame *frame, const int32_t *party, size_t parties,
                                     tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);

/* Rows come into the unit ball, on which every guarantee rests, by bounds of their columns. Each column
 * becomes (2 x - low - high)/(high - low), divided by the root of the number of features; what lies outside
 * is moved to the bound.
 *   In: low, high   of each column, publicly known; copied
 *       intercept   whether there is one feature more, a constant */
tacit_status tacit_frame_set_bounds(tacit_frame *frame, const double *low, const double *high, bool intercept,
                                    tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2, 3);

/* Rows come into the unit ball by a norm. Longer rows are shortened. Rows are used where they lie if they can
 * be: doubles, norm 1, none longer (rounding included: than 1 - (columns + 8) 2^-51), nothing missing, no
 * intercept, columns next to each other and rows too, sparse ones with ascending columns.
 *   In: norm        publicly known; rows are divided by it
 *       intercept   as above */
tacit_status tacit_frame_set_norm(tacit_frame *frame, double norm, bool intercept,
                                  tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1);

/* Rows come into the unit ball by the extremes of these very rows, of sparse ones by the largest norm. NOT
 * PRIVATE: for trying things out. The model says so, and neither a ledger nor a study takes such a frame
 * (TACIT_REFUSED).
 *   In: intercept   as above */
tacit_status tacit_frame_set_bounds_from_data(tacit_frame *frame, bool intercept,
                                              tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1);

/* Say that something was read off the rows, which only the caller can know. NOT PRIVATE, with the same
 * consequences as bounds from data.
 *   In: label     classes, or the bounds of a response
 *       columns   bounds, the levels behind indicators, a basis */
tacit_status tacit_frame_mark_from_data(tacit_frame *frame, bool label, bool columns,
                                        tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1);

/* Have a NaN be an error (TACIT_INPUT, naming row and column) wherever the rows are read, before anything is
 * charged, instead of a missing value. It is one in any case where the schema of a model or a study says
 * `missing: error`. */
tacit_status tacit_frame_refuse_missing(tacit_frame *frame, tacit_error *error) TACIT_CHECKED
    TACIT_NONNULL(1);

/* Name the columns; names go into the model.
 *   In: columns   copied; NULL stands for x1, x2, ... */
tacit_status tacit_frame_set_names(tacit_frame *frame, const char *const *columns,
                                   tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1);

/* How many rows a frame has.
 *   Returns: 0 for NULL */
size_t tacit_frame_rows(const tacit_frame *frame);

/* How many columns a frame has.
 *   Returns: 0 for NULL */
size_t tacit_frame_columns(const tacit_frame *frame);

/* Free a frame; what it borrowed is the caller's again.
 *   In: frame   may be NULL
 *   Returns: NULL */
tacit_frame *tacit_frame_free(tacit_frame *frame);

#ifdef __cplusplus
}
#endif
#endif
