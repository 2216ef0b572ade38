#include "data/source/arrays.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema/date.h"
#include "data/source/source_parts.h"

typedef struct arrays_source {
    tacit_source base;
    const tacit_batch *batches;
    size_t count;
    size_t batch, row; /* the next one */
    filling block;
} arrays_source;

static const size_t widths[TACIT_ARRAY_KINDS] = {
    [TACIT_ARRAY_DOUBLE] = 8,       [TACIT_ARRAY_FLOAT] = 4,        [TACIT_ARRAY_INT8] = 1,
    [TACIT_ARRAY_INT16] = 2,        [TACIT_ARRAY_INT32] = 4,        [TACIT_ARRAY_INT64] = 8,
    [TACIT_ARRAY_UINT8] = 1,        [TACIT_ARRAY_UINT16] = 2,       [TACIT_ARRAY_UINT32] = 4,
    [TACIT_ARRAY_UINT64] = 8,       [TACIT_ARRAY_TRUTHS] = 1,       [TACIT_ARRAY_POINTERS] = sizeof(char *),
    [TACIT_ARRAY_UTF8] = 4,         [TACIT_ARRAY_LARGE_UTF8] = 8,   [TACIT_ARRAY_VIEWS] = 16,
    [TACIT_ARRAY_DAYS] = 4,         [TACIT_ARRAY_MILLISECONDS] = 8, [TACIT_ARRAY_SECONDS] = 8,
    [TACIT_ARRAY_MICROSECONDS] = 8, [TACIT_ARRAY_NANOSECONDS] = 8,
};

size_t tacit_array_width(tacit_array_kind kind) { return widths[kind]; }

bool tacit_array_is_whole(tacit_array_kind kind) {
    return kind >= TACIT_ARRAY_INT8 && kind <= TACIT_ARRAY_UINT64;
}

/* ---- single values ---- */

static bool bit(const uint8_t *bits, size_t at) { return (bits[at / 8] >> at % 8 & 1) != 0; }

static bool is_absent(const tacit_array *array, size_t row) {
    return array->kind == TACIT_ARRAY_NOTHING || (array->absent != NULL && array->absent[row] != 0) ||
           (array->valid != NULL && !bit(array->valid, array->offset + row));
}

/* Value `row`, which need not be aligned. */
static void fetch(const tacit_array *array, size_t row, void *out) {
    const char *from = array->values;
    memcpy(out, from + (ptrdiff_t)(array->offset + row) * array->step, widths[array->kind]);
}

/* Of the kinds of whole numbers and instants; *large: it is an unsigned one beyond those of the result. */
static int64_t whole_of(const tacit_array *array, size_t row, bool *large) {
    union {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
    } value = { .u64 = 0 };
    *large = false;
    fetch(array, row, &value);
    switch (array->kind) {
    case TACIT_ARRAY_INT8: return value.i8;
    case TACIT_ARRAY_INT16: return value.i16;
    case TACIT_ARRAY_DAYS:
    case TACIT_ARRAY_UTF8:
    case TACIT_ARRAY_INT32: return value.i32;
    case TACIT_ARRAY_TRUTHS: return value.u8 != 0;
    case TACIT_ARRAY_UINT8: return value.u8;
    case TACIT_ARRAY_UINT16: return value.u16;
    case TACIT_ARRAY_UINT32: return value.u32;
    case TACIT_ARRAY_UINT64: *large = value.u64 > INT64_MAX; return *large ? 0 : (int64_t)value.u64;
    default: return value.i64;
    }
}

/* Days since 1970-01-01 of an instant, rounded down. */
static int64_t day_of(tacit_array_kind kind, int64_t instant) {
    const int64_t per_day = kind == TACIT_ARRAY_DAYS           ? 1
                            : kind == TACIT_ARRAY_SECONDS      ? 86400
                            : kind == TACIT_ARRAY_MILLISECONDS ? INT64_C(86400000)
                            : kind == TACIT_ARRAY_MICROSECONDS ? INT64_C(86400000000)
                                                               : INT64_C(86400000000000);
    return instant / per_day - (instant % per_day < 0);
}

/* A text that lies in a buffer. Checked before. */
static const char *text_of(const tacit_array *array, size_t row, size_t *length) {
    bool large;
    if (array->kind == TACIT_ARRAY_VIEWS) {
        const uint8_t *view = (const uint8_t *)array->values + (ptrdiff_t)(array->offset + row) * array->step;
        int32_t part[4];
        memcpy(part, view, sizeof part);
        *length = (size_t)part[0];
        return part[0] <= 12 ? (const char *)view + 4 : (const char *)array->buffers[part[2]] + part[3];
    }
    const int64_t from = whole_of(array, row, &large), to = whole_of(array, row + 1, &large);
    *length = (size_t)(to - from);
    return *length > 0 ? array->text + from : "";
}

/* ---- checks ---- */

static tacit_status fail_at(const char *name, uint64_t row, const char *what, tacit_error *error) {
    return tacit_fail(error, TACIT_INPUT, "column %.60s, row %" PRIu64 ": %s", name, row + 1, what);
}

static tacit_status check_offsets(const tacit_array *array, const char *name, uint64_t first_row,
                                  tacit_error *error) {
    bool large;
    for (size_t i = 0; i < array->count; i++) {
        const int64_t from = whole_of(array, i, &large), to = whole_of(array, i + 1, &large);
        if (from < 0 || to < from)
            return fail_at(name, first_row + i, "the offsets of its texts do not ascend from 0", error);
        if (to > from && array->text == NULL)
            return fail_at(name, first_row + i, "there is no buffer with its texts", error);
    }
    return TACIT_OK;
}

static tacit_status check_views(const tacit_array *array, const char *name, uint64_t first_row,
                                tacit_error *error) {
    for (size_t i = 0; i < array->count; i++) {
        int32_t part[4];
        if (is_absent(array, i)) continue;
        fetch(array, i, part);
        if (part[0] < 0) return fail_at(name, first_row + i, "a text has a negative length", error);
        if (part[0] <= 12) continue;
        if (part[2] < 0 || (size_t)part[2] >= array->buffer_count || part[3] < 0 ||
            array->buffers[part[2]] == NULL || (int64_t)part[3] + part[0] > array->sizes[part[2]])
            return fail_at(name, first_row + i, "a text lies outside its buffer", error);
    }
    return TACIT_OK;
}

static tacit_status check_places(const tacit_array *array, const char *name, uint64_t first_row,
                                 tacit_error *error) {
    for (size_t i = 0; i < array->count; i++) {
        bool large;
        if (is_absent(array, i)) continue;
        const int64_t place = whole_of(array, i, &large);
        if (large ||
            (place >= array->first && (uint64_t)place - (uint64_t)array->first >= array->dictionary->count))
            return tacit_fail(error, TACIT_INPUT,
                              "column %.60s, row %" PRIu64 ": level %" PRId64
                              " of a category that has %zu, counted from %" PRId64,
                              name, first_row + i + 1, place, array->dictionary->count, array->first);
    }
    return TACIT_OK;
}

tacit_status tacit_array_check(const tacit_array *array, const char *name, uint64_t first_row,
                               tacit_error *error) {
    if (array->dictionary != NULL) {
        if (!tacit_array_is_whole(array->kind))
            return tacit_fail(error, TACIT_INPUT, "column %.60s: levels are numbered by whole numbers", name);
        TACIT_TRY(tacit_array_check(array->dictionary, name, 0, error));
        return check_places(array, name, first_row, error);
    }
    if (array->kind == TACIT_ARRAY_UTF8 || array->kind == TACIT_ARRAY_LARGE_UTF8)
        return array->count > 0 ? check_offsets(array, name, first_row, error) : TACIT_OK;
    return array->kind == TACIT_ARRAY_VIEWS ? check_views(array, name, first_row, error) : TACIT_OK;
}

/* ---- cells ---- */

static tacit_status add_missing(arrays_source *self, tacit_error *error) {
    return filling_add_text(&self->block, TACIT_CELL_PLAIN, "", 0, self->base.row + 1, error);
}

static tacit_status add_number(arrays_source *self, double number, tacit_error *error) {
    static const char *const words[] = { "inf", "-inf" };
    const uint64_t line = self->base.row + 1;
    if (isnan(number)) return add_missing(self, error);
    if (isfinite(number)) return filling_add_number(&self->block, number, line, error);
    const char *word = words[number < 0]; /* refused where it is used, as in a file */
    return filling_add_text(&self->block, TACIT_CELL_PLAIN, word, strlen(word), line, error);
}

/* A whole number keeps every digit, if it is a category's. */
static tacit_status add_whole(arrays_source *self, const tacit_array *array, size_t row, tacit_error *error) {
    static const int64_t largest = INT64_C(1) << 53;
    char digits[32];
    bool large;
    const int64_t value = whole_of(array, row, &large);
    if (!large && value >= -largest && value <= largest)
        return filling_add_number(&self->block, (double)value, self->base.row + 1, error);
    if (large) {
        uint64_t all = 0;
        fetch(array, row, &all);
        snprintf(digits, sizeof digits, "%" PRIu64, all);
    } else {
        snprintf(digits, sizeof digits, "%" PRId64, value);
    }
    return filling_add_text(&self->block, TACIT_CELL_PLAIN, digits, strlen(digits), self->base.row + 1,
                            error);
}

static tacit_status add_day(arrays_source *self, const tacit_array *array, size_t row, tacit_error *error) {
    static const char odd[] = "a date outside the years 1 to 9999";
    char text[TACIT_DAY_TEXT];
    bool large;
    const int64_t day = day_of(array->kind, whole_of(array, row, &large));
    if (day < TACIT_FIRST_DAY || day > TACIT_LAST_DAY)
        return filling_add_text(&self->block, TACIT_CELL_OTHER, odd, sizeof odd - 1, self->base.row + 1,
                                error);
    tacit_day_text((int32_t)day, text);
    return filling_add_text(&self->block, TACIT_CELL_PLAIN, text, strlen(text), self->base.row + 1, error);
}

/* A value that is there and no place in a dictionary. */
static tacit_status add_value(arrays_source *self, const tacit_array *array, size_t row, tacit_error *error) {
    const char *text = NULL;
    size_t length = 0;
    double number = 0;
    float single = 0;
    switch (array->kind) {
    case TACIT_ARRAY_DOUBLE: fetch(array, row, &number); return add_number(self, number, error);
    case TACIT_ARRAY_FLOAT: fetch(array, row, &single); return add_number(self, (double)single, error);
    case TACIT_ARRAY_BITS: return add_number(self, bit(array->values, array->offset + row), error);
    case TACIT_ARRAY_POINTERS:
        fetch(array, row, &text);
        if (text == NULL) return add_missing(self, error);
        return source_add_text(&self->base, &self->block, text, strlen(text), error);
    case TACIT_ARRAY_UTF8:
    case TACIT_ARRAY_LARGE_UTF8:
    case TACIT_ARRAY_VIEWS:
        text = text_of(array, row, &length);
        return source_add_text(&self->base, &self->block, text, length, error);
    case TACIT_ARRAY_DAYS:
    case TACIT_ARRAY_MILLISECONDS:
    case TACIT_ARRAY_SECONDS:
    case TACIT_ARRAY_MICROSECONDS:
    case TACIT_ARRAY_NANOSECONDS: return add_day(self, array, row, error);
    default: return add_whole(self, array, row, error);
    }
}

static tacit_status add_cell(arrays_source *self, const tacit_array *array, size_t row, tacit_error *error) {
    bool large;
    if (is_absent(array, row)) return add_missing(self, error);
    if (array->dictionary == NULL) return add_value(self, array, row, error);
    const int64_t place = whole_of(array, row, &large);
    if (place < array->first) return add_missing(self, error);
    const size_t level = (size_t)((uint64_t)place - (uint64_t)array->first);
    if (is_absent(array->dictionary, level)) return add_missing(self, error);
    return add_value(self, array->dictionary, level, error);
}

/* ---- the source ---- */

static tacit_status arrays_next(tacit_source *source, size_t most, tacit_row_block *out, tacit_error *error) {
    arrays_source *self = (arrays_source *)source;
    filling_empty(&self->block);
    while (out->rows + out->left_out < most && !filling_is_full(&self->block)) {
        while (self->batch < self->count && self->row == self->batches[self->batch].rows) {
            self->batch++;
            self->row = 0;
        }
        out->ended = self->batch == self->count;
        if (out->ended) break;
        const tacit_array *columns = self->batches[self->batch].columns;
        const bool chosen = tacit_row_filter_keeps(source->filter, source->row);
        for (size_t j = 0; chosen && j < source->columns.count; j++)
            TACIT_TRY(add_cell(self, &columns[j], self->row, error));
        out->rows += chosen;
        out->left_out += !chosen;
        self->row++;
        source->row++;
    }
    filling_finish(&self->block);
    out->cells = self->block.cells;
    return TACIT_OK;
}

static tacit_status arrays_rewind(tacit_source *source, tacit_error *error) {
    arrays_source *self = (arrays_source *)source;
    (void)error;
    self->batch = self->row = 0;
    return TACIT_OK;
}

static void arrays_free(tacit_source *source) { filling_clear(&((arrays_source *)source)->block); }

static const tacit_source_kind arrays_kind = {
    .name = "arrays", .row = "row", .next = arrays_next, .rewind = arrays_rewind, .free = arrays_free
};

/* What the type alone says; dates are found by their texts. */
static tacit_column_hint hint_of(const tacit_array *array) {
    if (array->dictionary != NULL) return TACIT_HINT_CATEGORY;
    if (array->kind >= TACIT_ARRAY_DOUBLE && array->kind <= TACIT_ARRAY_BITS) return TACIT_HINT_NUMBER;
    return array->kind >= TACIT_ARRAY_POINTERS && array->kind <= TACIT_ARRAY_VIEWS ? TACIT_HINT_CATEGORY
                                                                                   : TACIT_HINT_NONE;
}

tacit_status tacit_source_open_batches(tacit_source **out, const char *name, const tacit_levels *names,
                                       const tacit_batch *batches, size_t count, tacit_error *error) {
    arrays_source *self = NULL;
    TACIT_TRY(source_create(&self, sizeof *self, &arrays_kind, name, error));
    self->batches = batches;
    self->count = count;
    tacit_status status = TACIT_OK;
    for (size_t j = 0; j < names->count && status == TACIT_OK; j++)
        status = source_add_column(&self->base, names->text[j],
                                   count > 0 ? hint_of(&batches[0].columns[j]) : TACIT_HINT_NONE, error);
    if (status != TACIT_OK)
        tacit_source_free(&self->base);
    else
        *out = &self->base;
    return status;
}
