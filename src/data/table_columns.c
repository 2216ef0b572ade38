/*
 * Rows that come as columns, into a table column by column: numbers are copied, a category's code is looked
 * up once for each distinct value of a block. Whatever is rare (missing values that are refused, numbers that
 * are not finite, texts that must be read) goes through a cell, as in rows that come one by one, so that it
 * ends the same way.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/source/arrays.h"
#include "data/source/source_parts.h"
#include "data/table_parts.h"

enum { ROWS_AT_ONCE = 4096, MEMO = 256 /* a power of two */, LONGEST_MISSING = 4 /* bytes of "null" */ };

/* Rows on their way. */
typedef struct adding {
    tacit_table *table;
    tacit_source *source;
    const tacit_row_block *block;
    uint64_t number;             /* of the block's first row */
    uint32_t rows[ROWS_AT_ONCE]; /* of the block that are taken, */
    size_t count;                /* this many, */
    bool all;                    /* which is all of them */
    filling cells;
} adding;

static size_t place_of(const adding *self, size_t i) { return self->block->first + self->rows[i]; }

/* A value as a cell, which stays until the next. */
static tacit_status make_cell(adding *self, const tacit_column *column, size_t row, const tacit_cell **out,
                              tacit_error *error) {
    filling_empty(&self->cells);
    TACIT_TRY(source_add_cell(self->source, &self->cells, &self->block->columns[column->source],
                              self->block->first + row, column->source, self->number + row + 1, error));
    filling_finish(&self->cells);
    *out = self->cells.cells;
    return TACIT_OK;
}

/* The `i`th row that is taken, by a cell. */
static tacit_status add_one(adding *self, tacit_column *column, size_t i, tacit_error *error) {
    const tacit_cell *cell = NULL;
    TACIT_TRY(make_cell(self, column, self->rows[i], &cell, error));
    return (column->kind == TACIT_COLUMN_NUMBER ? table_add_number : table_add_words)(
        self->source, column, cell, self->table->rows + i, error);
}

/* ---- numbers ---- */

#define COPY_AS(type)                                                                                        \
    do {                                                                                                     \
        const type *from = (const type *)array->values + array->offset;                                      \
        if (self->all)                                                                                       \
            for (size_t i = 0; i < self->count; i++) out[i] = (double)from[self->block->first + i];          \
        else                                                                                                 \
            for (size_t i = 0; i < self->count; i++) out[i] = (double)from[place_of(self, i)];               \
    } while (0)

static void copy_decimals(const adding *self, const tacit_array *array, double *out) {
    for (size_t i = 0; i < self->count; i++) {
        bool negative;
        const tacit_uint128 magnitude = tacit_array_magnitude(array, place_of(self, i), &negative);
        out[i] = tacit_decimal_number(magnitude, negative, array->decimals);
    }
}

/* Dates and instants, as the schema counts them; one that no calendar here has becomes a NaN, which its cell
 * explains. */
static bool copy_dates(const adding *self, const tacit_column *column, const tacit_array *array,
                       double *out) {
    if (array->dictionary != NULL || array->kind < TACIT_ARRAY_DAYS || array->kind > TACIT_ARRAY_NANOSECONDS)
        return false;
    for (size_t i = 0; i < self->count; i++) {
        int32_t day;
        out[i] =
            tacit_array_day(array, place_of(self, i), &day) ? tacit_date_number(&column->date, day) : NAN;
    }
    return true;
}

/* False: the values do not lie side by side, or are no numbers. */
static bool copy_numbers(const adding *self, const tacit_array *array, double *out) {
    const size_t width = tacit_array_width(array->kind);
    if (array->is_decimal || array->kind == TACIT_ARRAY_INT128 || array->kind == TACIT_ARRAY_UINT128) {
        copy_decimals(self, array, out);
        return true;
    }
    if (width == 0 || array->dictionary != NULL || array->step != (ptrdiff_t)width ||
        (uintptr_t)array->values % width != 0)
        return false;
    switch (array->kind) {
    case TACIT_ARRAY_DOUBLE:
        if (self->all)
            memcpy(out, (const double *)array->values + array->offset + self->block->first,
                   self->count * sizeof *out);
        else
            COPY_AS(double);
        return true;
    case TACIT_ARRAY_FLOAT: COPY_AS(float); return true;
    case TACIT_ARRAY_INT8: COPY_AS(int8_t); return true;
    case TACIT_ARRAY_INT16: COPY_AS(int16_t); return true;
    case TACIT_ARRAY_INT32: COPY_AS(int32_t); return true;
    case TACIT_ARRAY_INT64: COPY_AS(int64_t); return true;
    case TACIT_ARRAY_UINT8: COPY_AS(uint8_t); return true;
    case TACIT_ARRAY_UINT16: COPY_AS(uint16_t); return true;
    case TACIT_ARRAY_UINT32: COPY_AS(uint32_t); return true;
    case TACIT_ARRAY_UINT64: COPY_AS(uint64_t); return true;
    default: return false;
    }
}

/* Is one of them not finite? Several sums at a time, which are of zeros, or NaN. */
static bool has_strange_numbers(const double *values, size_t count) {
    typedef double pair __attribute__((vector_size(16)));
    enum { SUMS = 4, STEP = 2 * SUMS };
    pair sum[SUMS] = { { 0, 0 } }, some[SUMS];
    double all = 0;
    size_t i = 0;
    for (; i + STEP <= count; i += STEP) {
        memcpy(some, values + i, sizeof some);
        sum[0] += some[0] * 0;
        sum[1] += some[1] * 0;
        sum[2] += some[2] * 0;
        sum[3] += some[3] * 0;
    }
    for (; i < count; i++) all += values[i] * 0;
    for (size_t k = 0; k < SUMS; k++) all += sum[k][0] + sum[k][1];
    return all != 0;
}

/* Numbers that can stay where they are: doubles side by side, that nothing else of the table is made of. */
static bool borrow_numbers(adding *self, tacit_column *column, const tacit_array *array) {
    const tacit_table *table = self->table;
    if (!table->borrows || table->rows > 0 || !self->source->kind->lends || !self->all ||
        array->kind != TACIT_ARRAY_DOUBLE || array->dictionary != NULL || array->valid != NULL ||
        array->absent != NULL || array->step != (ptrdiff_t)sizeof(double) ||
        (uintptr_t)array->values % sizeof(double) != 0)
        return false;
    for (size_t j = 0; j < table->cols; j++)
        if (&table->columns[j] != column && table->columns[j].source == column->source) return false;
    double *lent = (double *)(uintptr_t)array->values + array->offset + self->block->first;
    if (has_strange_numbers(lent, self->count)) return false;
    column->own = column->number;
    column->number = lent;
    column->is_lent = self->table->has_lent = true;
    return true;
}

static tacit_status add_numbers(adding *self, tacit_column *column, const tacit_array *array,
                                tacit_error *error) {
    if (column->date.use == TACIT_DATE_NONE && borrow_numbers(self, column, array)) return TACIT_OK;
    double *out = column->number + self->table->rows;
    const bool gaps = array->valid != NULL || array->absent != NULL;
    const bool is_date = column->date.use != TACIT_DATE_NONE;
    const bool real = array->kind == TACIT_ARRAY_DOUBLE || array->kind == TACIT_ARRAY_FLOAT || is_date;
    if (!(is_date ? copy_dates(self, column, array, out) : copy_numbers(self, array, out))) {
        for (size_t i = 0; i < self->count; i++) TACIT_TRY(add_one(self, column, i, error));
        return TACIT_OK;
    }
    if (!gaps && !(real && has_strange_numbers(out, self->count))) return TACIT_OK;
    for (size_t i = 0; i < self->count; i++) {
        const bool absent = gaps && tacit_array_is_absent(array, place_of(self, i));
        if (!absent && isfinite(out[i])) continue;
        out[i] = NAN;
        /* which finds out what it is */
        if (column->required || !absent)
            TACIT_TRY(add_one(self, column, i, error));
        else
            column->missing++;
    }
    return TACIT_OK;
}

/* ---- categories ---- */

/* Codes of the values that a block has had so far, by their bytes. */
typedef struct memo {
    uint64_t key[MEMO][2];
    int32_t code[MEMO]; /* negative: none */
} memo;

/* The bytes of a value, which are those of no other; false where that is not so. */
static bool key_of(const tacit_array *array, size_t row, uint64_t out[2]) {
    const size_t width = tacit_array_width(array->kind);
    out[0] = out[1] = 0;
    if (width == 0 || array->kind == TACIT_ARRAY_UTF8 || array->kind == TACIT_ARRAY_LARGE_UTF8) return false;
    if (tacit_array_is_absent(array, row)) return false;
    tacit_array_fetch(array, row, out);
    return true;
}

static size_t memo_place(const uint64_t key[2]) {
    const uint64_t mixed = (key[0] ^ key[1] * UINT64_C(0xff51afd7ed558ccd)) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed >> 56) & (MEMO - 1);
}

static tacit_status add_categories(adding *self, tacit_column *column, const tacit_array *array,
                                   tacit_error *error) {
    memo known;
    memset(known.code, 0xff, sizeof known.code);
    for (size_t i = 0; i < self->count && !column->overflow; i++) {
        uint64_t key[2];
        const size_t row = self->table->rows + i;
        const bool has_key = key_of(array, place_of(self, i), key);
        const size_t at = has_key ? memo_place(key) : 0;
        if (has_key && known.code[at] >= 0 && known.key[at][0] == key[0] && known.key[at][1] == key[1]) {
            column->code[row] = known.code[at];
            continue;
        }
        TACIT_TRY(add_one(self, column, i, error));
        if (!has_key || column->overflow) continue;
        known.code[at] = column->code[row];
        memcpy(known.key[at], key, sizeof key);
    }
    return TACIT_OK;
}

/* ---- which rows ---- */

/* May a value be missing? Only by its cell is it known for certain. */
static bool may_be_missing(const tacit_array *array, size_t row) {
    double number = 0;
    float single = 0;
    size_t length = 0;
    bool large;
    const char *text = NULL;
    if (tacit_array_is_absent(array, row)) return true;
    if (array->dictionary != NULL) {
        const int64_t level = tacit_array_whole(array, row, &large) - array->first;
        return level < 0 || (uint64_t)level >= array->dictionary->count ||
               may_be_missing(array->dictionary, (size_t)level);
    }
    switch (array->kind) {
    case TACIT_ARRAY_DOUBLE: tacit_array_fetch(array, row, &number); return isnan(number);
    case TACIT_ARRAY_FLOAT: tacit_array_fetch(array, row, &single); return isnan(single);
    case TACIT_ARRAY_STRINGS:
    case TACIT_ARRAY_BYTES: tacit_array_text(array, row, &length); return length <= LONGEST_MISSING;
    case TACIT_ARRAY_POINTERS:
        tacit_array_fetch(array, row, &text);
        return text == NULL || strnlen(text, LONGEST_MISSING + 1) <= LONGEST_MISSING;
    case TACIT_ARRAY_DAYS:
    case TACIT_ARRAY_MILLISECONDS:
    case TACIT_ARRAY_SECONDS:
    case TACIT_ARRAY_MICROSECONDS:
    case TACIT_ARRAY_NANOSECONDS:
    case TACIT_ARRAY_INT128:
    case TACIT_ARRAY_UINT128: return false;
    default: return !tacit_array_is_whole(array->kind);
    }
}

static tacit_status leaves_out(adding *self, size_t row, bool *out, tacit_error *error) {
    const tacit_table *table = self->table;
    bool maybe = false;
    *out = false;
    for (size_t j = 0; j < table->cols && !maybe; j++)
        maybe = table->columns[j].leaves_out &&
                may_be_missing(&self->block->columns[table->columns[j].source], self->block->first + row);
    if (!maybe) return TACIT_OK;
    filling_empty(&self->cells);
    for (size_t j = 0; j < self->source->columns.count; j++)
        TACIT_TRY(source_add_cell(self->source, &self->cells, &self->block->columns[j],
                                  self->block->first + row, j, self->number + row + 1, error));
    filling_finish(&self->cells);
    *out = table_leaves_out(self->table, self->cells.cells);
    return TACIT_OK;
}

static tacit_status choose_rows(adding *self, tacit_error *error) {
    const tacit_row_filter *filter = self->source->filter;
    bool leaves = false;
    for (size_t j = 0; j < self->table->cols; j++) leaves = leaves || self->table->columns[j].leaves_out;
    for (size_t row = 0; row < self->block->rows; row++) {
        bool left_out = !tacit_row_filter_keeps(filter, self->number + row);
        self->table->left_out += left_out;
        if (!left_out && leaves) TACIT_TRY(leaves_out(self, row, &left_out, error));
        if (!left_out) self->rows[self->count++] = (uint32_t)row;
    }
    self->all = self->count == self->block->rows;
    return TACIT_OK;
}

/* ---- blocks ---- */

static tacit_status add_columns(adding *self, tacit_error *error) {
    tacit_table *table = self->table;
    TACIT_TRY(choose_rows(self, error));
    TACIT_TRY(table_make_room(table, self->count, error));
    for (size_t j = 0; j < table->cols; j++) {
        tacit_column *column = &table->columns[j];
        const tacit_array *array = &self->block->columns[column->source];
        if (column->idle) continue;
        if (column->kind == TACIT_COLUMN_NUMBER)
            TACIT_TRY(add_numbers(self, column, array, error));
        else if (column->kind == TACIT_COLUMN_CATEGORY)
            TACIT_TRY(add_categories(self, column, array, error));
        else
            for (size_t i = 0; i < self->count; i++) TACIT_TRY(add_one(self, column, i, error));
    }
    table->rows += self->count;
    return TACIT_OK;
}

bool table_takes_columns(const tacit_table *table, const tacit_source *source) {
    if (!tacit_source_has_columns(source) || table->probe != NULL || table->identified) return false;
    for (size_t i = 0; i < table->cols; i++)
        if (table->columns[i].kind == TACIT_COLUMN_DETECT || table->columns[i].has_date_at) return false;
    return true;
}

tacit_status table_read_columns(tacit_table *table, tacit_source *source, size_t most, size_t *count,
                                bool *ended, tacit_error *error) {
    tacit_row_block block;
    TACIT_TRY(tacit_source_next_columns(source, most < ROWS_AT_ONCE ? most : ROWS_AT_ONCE, &block, error));
    adding self = { .table = table, .source = source, .block = &block, .number = source->row - block.rows };
    tacit_status status = block.rows > 0 ? add_columns(&self, error) : TACIT_OK;
    filling_clear(&self.cells);
    *count += block.rows;
    *ended = block.ended;
    return status;
}
