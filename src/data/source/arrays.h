/*
 * Rows of a program as a source: columns of numbers, texts, categories and dates where they lie, in the
 * layouts that C, R, numpy and Arrow have. A cell is made when its row is read, so that what becomes of it
 * (schemas, missing values, formulas, errors that name row and column) is the same as for a file.
 */
#pragma once

#include "data/source/source.h"

typedef enum tacit_array_kind {
    TACIT_ARRAY_NOTHING, /* every value is missing */
    TACIT_ARRAY_DOUBLE,
    TACIT_ARRAY_FLOAT,
    TACIT_ARRAY_INT8,
    TACIT_ARRAY_INT16,
    TACIT_ARRAY_INT32,
    TACIT_ARRAY_INT64,
    TACIT_ARRAY_UINT8,
    TACIT_ARRAY_UINT16,
    TACIT_ARRAY_UINT32,
    TACIT_ARRAY_UINT64,
    TACIT_ARRAY_TRUTHS,       /* a byte each */
    TACIT_ARRAY_BITS,         /* a bit each, the lowest first */
    TACIT_ARRAY_POINTERS,     /* texts with a NUL behind; NULL is missing */
    TACIT_ARRAY_UTF8,         /* int32 offsets into `text` */
    TACIT_ARRAY_LARGE_UTF8,   /* int64 offsets */
    TACIT_ARRAY_VIEWS,        /* 16 bytes each: length and text, or length, 4 bytes, buffer and offset */
    TACIT_ARRAY_DAYS,         /* int32 since 1970-01-01 */
    TACIT_ARRAY_MILLISECONDS, /* int64 since then, as the rest */
    TACIT_ARRAY_SECONDS,
    TACIT_ARRAY_MICROSECONDS,
    TACIT_ARRAY_NANOSECONDS,
    TACIT_ARRAY_KINDS
} tacit_array_kind;

/* One column of a batch. All is borrowed. */
typedef struct tacit_array {
    tacit_array_kind kind;
    const void *values;
    ptrdiff_t step;        /* bytes from one value to the next, of kinds that have values of a fixed size */
    size_t offset;         /* of the first row, in values and `valid` */
    size_t count;          /* rows */
    const uint8_t *absent; /* a byte each, not 0 where the value is missing; NULL: none is */
    const uint8_t *valid;  /* a bit each, 0 where the value is missing; NULL: none is */
    const char *text;      /* of offsets */
    const void *const *buffers; /* of views, with the bytes that each has */
    const int64_t *sizes;
    size_t buffer_count;
    const struct tacit_array
        *dictionary; /* the values are places in it, from `first` on; NULL: they are values */
    int64_t first;
} tacit_array;

/* Rows that lie together. */
typedef struct tacit_batch {
    size_t rows;
    tacit_array *columns;
} tacit_batch;

/* Whether a kind is of whole numbers: those may be places in a dictionary. */
bool tacit_array_is_whole(tacit_array_kind kind);

/* Bytes of a value; 0 for kinds without such. */
size_t tacit_array_width(tacit_array_kind kind);

/* TACIT_INPUT, or TACIT_LIMIT, naming row and column, for what would lead outside the memory that is there:
 * offsets that fall, places outside the dictionary, views outside their buffers. Every array is checked
 * once, before it is read. `first_row` is the number of its first row. */
tacit_status tacit_array_check(const tacit_array *array, const char *name, uint64_t first_row,
                               tacit_error *error);

/* The batches as one source of the columns in `names`. They must stay as they are until it is freed. */
tacit_status tacit_source_open_batches(tacit_source **out, const char *name, const tacit_levels *names,
                                       const tacit_batch *batches, size_t count, tacit_error *error);
