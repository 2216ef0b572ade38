/*
 * Rows of sources that have columns: handed over as they are, or as cells for whoever takes rows one by one.
 * The cells are made here, once for all such sources.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema/date.h"
#include "data/source/arrays.h"
#include "data/source/source_parts.h"

/* What was fetched as columns and is handed out as cells. */
struct source_cells {
    tacit_row_block from;
    size_t at; /* rows of it that are gone */
    filling block;
};

/* ---- single values ---- */

/* Where a cell goes, and where its value is. */
typedef struct place {
    tacit_source *source;
    filling *to;
    size_t column;
    uint64_t line;
} place;

static tacit_status add_missing(const place *at, tacit_error *error) {
    return filling_add_text(at->to, TACIT_CELL_PLAIN, "", 0, at->line, error);
}

static tacit_status add_odd(const place *at, const char *what, tacit_error *error) {
    return filling_add_text(at->to, TACIT_CELL_OTHER, what, strlen(what), at->line, error);
}

static tacit_status add_text(const place *at, const char *text, size_t length, tacit_error *error) {
    return source_add_text_at(at->source, at->to, text, length, at->column, at->line, error);
}

static tacit_status add_number(const place *at, double number, tacit_error *error) {
    static const char *const words[] = { "inf", "-inf" };
    if (isnan(number)) return add_missing(at, error);
    if (isfinite(number)) return filling_add_number(at->to, number, at->line, error);
    const char *word = words[number < 0]; /* refused where it is used, as in a file */
    return add_text(at, word, strlen(word), error);
}

/* The digits, with a point before the last `decimals`. */
static tacit_status add_digits(const place *at, tacit_uint128 magnitude, bool negative, size_t decimals,
                               tacit_error *error) {
    char text[48], *first = text + sizeof text;
    const char *end = first;
    for (size_t k = 0; k <= decimals || magnitude != 0; k++, magnitude /= 10) {
        if (k == decimals && k > 0) *--first = '.';
        *--first = (char)('0' + (int)(magnitude % 10));
    }
    if (negative) *--first = '-';
    return add_text(at, first, (size_t)(end - first), error);
}

/* A whole number keeps every digit, if it is a category's; so does a decimal that no double has. */
static tacit_status add_whole(const place *at, const tacit_array *array, size_t row, tacit_error *error) {
    enum { DOUBLE_DIGITS = 15 };
    bool negative = false;
    const tacit_uint128 magnitude = tacit_array_magnitude(array, row, &negative);
    const bool fits =
        array->is_decimal ? array->digits <= DOUBLE_DIGITS : magnitude <= (tacit_uint128)1 << 53;
    if (!fits) return add_digits(at, magnitude, negative, array->decimals, error);
    return filling_add_number(at->to, tacit_decimal_number(magnitude, negative, array->decimals), at->line,
                              error);
}

static tacit_status add_day(const place *at, const tacit_array *array, size_t row, tacit_error *error) {
    char text[TACIT_DAY_TEXT + 24];
    bool large;
    int32_t day = 0;
    if (!tacit_array_day(array, row, &day)) return add_odd(at, "a date outside the years 1 to 9999", error);
    tacit_day_text(day, text);
    size_t length = strlen(text);
    if (array->has_times) {
        const int64_t per_second = tacit_array_per_day(array->kind) / 86400;
        const int64_t instant =
            tacit_array_whole(array, row, &large) - day * tacit_array_per_day(array->kind);
        const int second = (int)(instant / per_second);
        const int64_t rest = instant % per_second * (1000000000 / per_second);
        length += (size_t)snprintf(text + length, sizeof text - length, " %02d:%02d:%02d.%09d", second / 3600,
                                   second / 60 % 60, second % 60, (int)rest);
        while (text[length - 1] == '0') length--;
        if (text[length - 1] == '.') length--;
        if (rest == 0) length = strlen("2024-02-29 12:30:00");
    }
    return add_text(at, text, length, error);
}

static bool bit(const uint8_t *bits, size_t at) { return (bits[at / 8] >> at % 8 & 1) != 0; }

/* A value that is there and no place in a dictionary. */
static tacit_status add_value(const place *at, const tacit_array *array, size_t row, tacit_error *error) {
    const char *text = NULL;
    size_t length = 0;
    double number = 0;
    float single = 0;
    switch (array->kind) {
    case TACIT_ARRAY_DOUBLE: tacit_array_fetch(array, row, &number); return add_number(at, number, error);
    case TACIT_ARRAY_FLOAT:
        tacit_array_fetch(array, row, &single);
        return add_number(at, (double)single, error);
    case TACIT_ARRAY_BITS: return add_number(at, bit(array->values, array->offset + row), error);
    case TACIT_ARRAY_POINTERS:
        tacit_array_fetch(array, row, &text);
        return text == NULL ? add_missing(at, error) : add_text(at, text, strlen(text), error);
    case TACIT_ARRAY_BYTES:
    case TACIT_ARRAY_STRINGS:
    case TACIT_ARRAY_UTF8:
    case TACIT_ARRAY_LARGE_UTF8:
    case TACIT_ARRAY_VIEWS:
        text = tacit_array_text(array, row, &length);
        if (array->kind == TACIT_ARRAY_BYTES && !tacit_text_is_utf8(text, length))
            return add_odd(at, "bytes that are no text", error);
        return add_text(at, text, length, error);
    case TACIT_ARRAY_DAYS:
    case TACIT_ARRAY_MILLISECONDS:
    case TACIT_ARRAY_SECONDS:
    case TACIT_ARRAY_MICROSECONDS:
    case TACIT_ARRAY_NANOSECONDS: return add_day(at, array, row, error);
    case TACIT_ARRAY_ODD: return add_odd(at, array->text, error);
    default: return add_whole(at, array, row, error);
    }
}

tacit_status source_add_cell(tacit_source *source, filling *to, const tacit_array *array, size_t row,
                             size_t column, uint64_t line, tacit_error *error) {
    const place at = { source, to, column, line };
    bool large;
    if (tacit_array_is_absent(array, row)) return add_missing(&at, error);
    if (array->dictionary == NULL) return add_value(&at, array, row, error);
    const int64_t entry = tacit_array_whole(array, row, &large);
    if (entry < array->first) return add_missing(&at, error);
    const size_t level = (size_t)((uint64_t)entry - (uint64_t)array->first);
    if (level >= array->dictionary->count) return add_odd(&at, "a level that its category has not", error);
    if (tacit_array_is_absent(array->dictionary, level)) return add_missing(&at, error);
    return add_value(&at, array->dictionary, level, error);
}

/* ---- blocks ---- */

static tacit_status begin_cells(tacit_source *source, tacit_error *error) {
    if (source->cells == NULL) source->cells = TACIT_NEW(struct source_cells, 1);
    return source->cells == NULL ? tacit_fail_memory(error) : TACIT_OK;
}

static tacit_status fetch(tacit_source *source, tacit_error *error) {
    struct source_cells *self = source->cells;
    if (self->at < self->from.rows || self->from.ended) return TACIT_OK;
    self->at = 0;
    self->from = (tacit_row_block){ .rows = 0 };
    return source->kind->next_columns(source, SIZE_MAX, &self->from, error);
}

tacit_status source_next_cells(tacit_source *source, size_t most, tacit_row_block *out, tacit_error *error) {
    TACIT_TRY(begin_cells(source, error));
    struct source_cells *self = source->cells;
    filling_empty(&self->block);
    while (out->rows + out->left_out < most && !filling_is_full(&self->block)) {
        TACIT_TRY(fetch(source, error));
        if (self->at == self->from.rows) {
            out->ended = self->from.ended;
            break;
        }
        const bool chosen = tacit_row_filter_keeps(source->filter, source->row);
        for (size_t j = 0; chosen && j < source->columns.count; j++)
            TACIT_TRY(source_add_cell(source, &self->block, &self->from.columns[j],
                                      self->from.first + self->at, j, source->row + 1, error));
        out->rows += chosen;
        out->left_out += !chosen;
        self->at++;
        source->row++;
    }
    filling_finish(&self->block);
    out->cells = self->block.cells;
    return TACIT_OK;
}

tacit_status tacit_source_next_columns(tacit_source *source, size_t most, tacit_row_block *out,
                                       tacit_error *error) {
    struct source_cells *begun = source->cells;
    *out = (tacit_row_block){ .rows = 0 };
    if (begun != NULL && (begun->at < begun->from.rows || begun->from.ended)) { /* what cells have left */
        size_t left = begun->from.rows - begun->at;
        *out = begun->from;
        out->first += begun->at;
        out->rows = left < most ? left : most;
        begun->at += out->rows;
    } else {
        TACIT_TRY(source->kind->next_columns(source, most, out, error));
    }
    source->row += out->rows;
    return TACIT_OK;
}

bool tacit_source_has_columns(const tacit_source *source) { return source->kind->next_columns != NULL; }

void source_forget_cells(tacit_source *source) {
    if (source->cells == NULL) return;
    source->cells->from = (tacit_row_block){ .rows = 0 };
    source->cells->at = 0;
}

void source_free_cells(tacit_source *source) {
    if (source->cells != NULL) filling_clear(&source->cells->block);
    free(source->cells);
    source->cells = NULL;
}
