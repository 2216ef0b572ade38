/*
 * Comma-separated values (RFC 4180), one record at a time for those who know the file, and in blocks behind
 * source.h: quotes, embedded newlines and doubled quotes, CRLF or LF, a UTF-8 byte order mark, separator `,`
 * `;` or tab. Beyond the RFC: spaces around an unquoted field are dropped, blank lines are skipped, a quote
 * inside an unquoted field stands for itself.
 *
 * Errors name file:line:column, where line is the physical line and column the 1-based position of the
 * field, followed by the column's name once known.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/source/source.h"

typedef struct tacit_csv_options {
    char separator;      /* 0: whichever of `,` `;` tab is most frequent in the first line */
    bool no_header;      /* columns are then called column1, column2, ... */
    size_t field_limit;  /* bytes of one field */
    size_t column_limit; /* refused beyond, before memory is spent on them */
} tacit_csv_options;

tacit_csv_options tacit_csv_defaults(void); /* detect, header, 1 MiB, 100,000 columns */

typedef struct tacit_record {
    const tacit_cell *cells;
    size_t count;
    uint64_t line;
} tacit_record;

typedef struct tacit_csv tacit_csv;

/* Reads the header (or the first record, to count its columns). The input is borrowed and must outlive the
 * reader; the options may be NULL. An empty file, an empty or repeated column name is TACIT_INPUT. */
tacit_status tacit_csv_open(tacit_csv **out, tacit_input *input, const tacit_csv_options *options,
                            tacit_error *error);

/* The next record, borrowed until the next call, with as many cells as there are columns; count 0 at the
 * end. */
tacit_status tacit_csv_next(tacit_csv *csv, tacit_record *out, tacit_error *error);

/* Pass over the next record without looking at its fields: whether there are as many as columns is not
 * asked. */
tacit_status tacit_csv_skip(tacit_csv *csv, bool *ended, tacit_error *error);

size_t tacit_csv_column_count(const tacit_csv *csv);
const char *tacit_csv_column_name(const tacit_csv *csv, size_t column);

/* The 0-based position of a column, or -1. */
int64_t tacit_csv_find_column(const tacit_csv *csv, const char *name);

/* The same, or TACIT_USAGE with a sentence that says what columns there are; `flag` is how the name was
 * given, e.g. "the option 'label'". */
tacit_status tacit_csv_require(const tacit_csv *csv, const char *name, const char *flag, size_t *out,
                               tacit_error *error);

/* Record a failure at field `column` (0-based) of physical line `line`: "file:line:column (name): ...". */
tacit_status tacit_csv_fail(const tacit_csv *csv, uint64_t line, size_t column, tacit_error *error,
                            tacit_status status, const char *format, ...) TACIT_PRINTF(6, 7);

tacit_csv *tacit_csv_free(tacit_csv *csv);

/* Append one field, quoted when it has to be so that it reads back the same. */
struct tacit_buffer;
tacit_status tacit_csv_write_field(struct tacit_buffer *out, const char *text, size_t length, char separator,
                                   tacit_error *error);
