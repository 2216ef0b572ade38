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
} arrays_source;

static const size_t widths[TACIT_ARRAY_KINDS] = {
    [TACIT_ARRAY_DOUBLE] = 8,       [TACIT_ARRAY_FLOAT] = 4,        [TACIT_ARRAY_INT8] = 1,
    [TACIT_ARRAY_INT16] = 2,        [TACIT_ARRAY_INT32] = 4,        [TACIT_ARRAY_INT64] = 8,
    [TACIT_ARRAY_UINT8] = 1,        [TACIT_ARRAY_UINT16] = 2,       [TACIT_ARRAY_UINT32] = 4,
    [TACIT_ARRAY_UINT64] = 8,       [TACIT_ARRAY_TRUTHS] = 1,       [TACIT_ARRAY_POINTERS] = sizeof(char *),
    [TACIT_ARRAY_UTF8] = 4,         [TACIT_ARRAY_LARGE_UTF8] = 8,   [TACIT_ARRAY_VIEWS] = 16,
    [TACIT_ARRAY_DAYS] = 4,         [TACIT_ARRAY_MILLISECONDS] = 8, [TACIT_ARRAY_SECONDS] = 8,
    [TACIT_ARRAY_MICROSECONDS] = 8, [TACIT_ARRAY_NANOSECONDS] = 8,  [TACIT_ARRAY_STRINGS] = 16,
    [TACIT_ARRAY_BYTES] = 16,       [TACIT_ARRAY_INT128] = 16,      [TACIT_ARRAY_UINT128] = 16,
};

size_t tacit_array_width(tacit_array_kind kind) { return widths[kind]; }

bool tacit_array_is_whole(tacit_array_kind kind) {
    return kind >= TACIT_ARRAY_INT8 && kind <= TACIT_ARRAY_UINT64;
}

/* ---- single values ---- */

void tacit_array_fetch(const tacit_array *array, size_t row, void *out) {
    const char *from = array->values;
    memcpy(out, from + (ptrdiff_t)(array->offset + row) * array->step, widths[array->kind]);
}

int64_t tacit_array_whole(const tacit_array *array, size_t row, bool *large) {
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
    tacit_array_fetch(array, row, &value);
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

int64_t tacit_array_per_day(tacit_array_kind kind) {
    switch (kind) {
    case TACIT_ARRAY_SECONDS: return 86400;
    case TACIT_ARRAY_MILLISECONDS: return INT64_C(86400000);
    case TACIT_ARRAY_MICROSECONDS: return INT64_C(86400000000);
    case TACIT_ARRAY_NANOSECONDS: return INT64_C(86400000000000);
    default: return 1;
    }
}

bool tacit_array_day(const tacit_array *array, size_t row, int32_t *day) {
    bool large;
    const int64_t per_day = tacit_array_per_day(array->kind), instant = tacit_array_whole(array, row, &large);
    const int64_t found = instant / per_day - (instant % per_day < 0); /* rounded down */
    if (found < TACIT_FIRST_DAY || found > TACIT_LAST_DAY) return false;
    *day = (int32_t)found;
    return true;
}

const char *tacit_array_text(const tacit_array *array, size_t row, size_t *length) {
    bool large;
    if (array->kind == TACIT_ARRAY_STRINGS || array->kind == TACIT_ARRAY_BYTES) {
        const tacit_array_string *string = (const tacit_array_string *)array->values + array->offset + row;
        *length = string->length;
        return tacit_array_string_text(string);
    }
    if (array->kind == TACIT_ARRAY_VIEWS) {
        const uint8_t *view = (const uint8_t *)array->values + (ptrdiff_t)(array->offset + row) * array->step;
        int32_t part[4];
        memcpy(part, view, sizeof part);
        *length = (size_t)part[0];
        return part[0] <= 12 ? (const char *)view + 4 : (const char *)array->buffers[part[2]] + part[3];
    }
    const int64_t from = tacit_array_whole(array, row, &large),
                  to = tacit_array_whole(array, row + 1, &large);
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
        const int64_t from = tacit_array_whole(array, i, &large),
                      to = tacit_array_whole(array, i + 1, &large);
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
        if (tacit_array_is_absent(array, i)) continue;
        tacit_array_fetch(array, i, part);
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
        if (tacit_array_is_absent(array, i)) continue;
        const int64_t place = tacit_array_whole(array, i, &large);
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

/* ---- the source ---- */

/* Up to the end of a batch. */
static tacit_status arrays_next(tacit_source *source, size_t most, tacit_row_block *out, tacit_error *error) {
    arrays_source *self = (arrays_source *)source;
    (void)error;
    while (self->batch < self->count && self->row == self->batches[self->batch].rows) {
        self->batch++;
        self->row = 0;
    }
    out->ended = self->batch == self->count;
    if (out->ended) return TACIT_OK;
    size_t left = self->batches[self->batch].rows - self->row;
    out->rows = left < most ? left : most;
    out->columns = self->batches[self->batch].columns;
    out->first = self->row;
    self->row += out->rows;
    return TACIT_OK;
}

static tacit_status arrays_rewind(tacit_source *source, tacit_error *error) {
    arrays_source *self = (arrays_source *)source;
    (void)error;
    self->batch = self->row = 0;
    return TACIT_OK;
}

static void arrays_free(tacit_source *source) { (void)source; }

static const tacit_source_kind arrays_kind = {
    .name = "arrays", .row = "row", .next_columns = arrays_next, .rewind = arrays_rewind, .free = arrays_free
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
