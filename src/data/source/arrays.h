/*
 * Columns where they lie, in the layouts that C, R, numpy, Arrow and DuckDB have: numbers, texts, categories
 * and dates. Sources that have columns hand them over as they are (tacit_source_next_columns); whoever takes
 * rows one by one gets cells made of them (columns.c), so that what becomes of a value (schemas, missing
 * values, formulas, errors that name row and column) is the same as for a file. The rows of a program are
 * such a source.
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
    /* 16 bytes each: length and up to 12 bytes of text, or length, 4 bytes and a pointer */
    TACIT_ARRAY_STRINGS,
    TACIT_ARRAY_BYTES,  /* the same, and what is no UTF-8 is no text */
    TACIT_ARRAY_INT128, /* 16 bytes each, the lowest first */
    TACIT_ARRAY_UINT128,
    TACIT_ARRAY_ODD, /* what no cell can hold; `text` says what */
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
    /* the values are places in it, from `first` on; NULL: they are values */
    const struct tacit_array *dictionary;
    int64_t first;
    bool has_times;           /* of instants: their cells have the time of day too */
    bool is_decimal;          /* of whole numbers: */
    uint8_t digits, decimals; /* they have so many digits, of which so many are behind the point */
} tacit_array;

/* Rows that lie together. */
typedef struct tacit_batch {
    size_t rows;
    tacit_array *columns;
} tacit_batch;

/* Of kind strings and bytes. */
typedef struct tacit_array_string {
    uint32_t length;
    char start[4]; /* up to 12 bytes lie in it */
    union {
        char rest[8];
        const char *pointer;
    };
} tacit_array_string;

enum { TACIT_STRING_INSIDE = 12 };

static inline const char *tacit_array_string_text(const tacit_array_string *string) {
    return string->length <= TACIT_STRING_INSIDE ? string->start : string->pointer;
}

static inline bool tacit_array_is_absent(const tacit_array *array, size_t row) {
    const size_t at = array->offset + row;
    return array->kind == TACIT_ARRAY_NOTHING || (array->absent != NULL && array->absent[row] != 0) ||
           (array->valid != NULL && (array->valid[at / 8] >> at % 8 & 1) == 0);
}

/* Value `row`, which need not be aligned. */
void tacit_array_fetch(const tacit_array *array, size_t row, void *out);

/* Of the kinds of whole numbers and instants; *large: it is an unsigned one beyond those of the result. */
int64_t tacit_array_whole(const tacit_array *array, size_t row, bool *large);

__extension__ typedef __int128 tacit_int128;
__extension__ typedef unsigned __int128 tacit_uint128;

/* Of the kinds of whole numbers: the value without its sign, which is told apart. */
tacit_uint128 tacit_array_magnitude(const tacit_array *array, size_t row, bool *negative);

/* The double that is nearest to a whole number divided by a power of ten, of two the even one. 38 decimals at
 * most. */
double tacit_decimal_number(tacit_uint128 magnitude, bool negative, uint8_t decimals);

/* How many of a day's instants there are; 1 of days. */
int64_t tacit_array_per_day(tacit_array_kind kind);

/* The day of a date or an instant, counted from 1970-01-01. False outside the years 1 to 9999. */
bool tacit_array_day(const tacit_array *array, size_t row, int32_t *day);

/* A text that lies in a buffer. Checked before. */
const char *tacit_array_text(const tacit_array *array, size_t row, size_t *length);

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
