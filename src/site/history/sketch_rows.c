/* The sketch of a table: read twice, once to see what its columns are, once for the hashes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema/text.h"
#include "data/source/source.h"
#include "site/history/sketch_parts.h"

/* ---- the least hashes ---- */

enum { FIRST_CAPACITY = 64 };

static int compare_hashes(const void *a, const void *b) {
    uint64_t first, second;
    memcpy(&first, a, sizeof first);
    memcpy(&second, b, sizeof second);
    return (first > second) - (first < second);
}

void sketch_settle(sketch_least *self) {
    size_t kept = 0;
    if (self->count > 0) qsort(self->items, self->count, sizeof *self->items, compare_hashes);
    for (size_t i = 0; i < self->count; i++) {
        if (kept > 0 && (self->items[kept - 1] | 1) == (self->items[i] | 1))
            self->items[kept - 1] |= 1;
        else if (kept < self->most)
            self->items[kept++] = self->items[i];
        /* ascending: so are all that follow */
        else
            break;
    }
    if (kept == self->most) self->below = (self->items[kept - 1] | 1) + 1;
    self->count = kept;
}

tacit_status sketch_add(sketch_least *self, uint64_t hash, tacit_error *error) {
    hash &= ~UINT64_C(1);
    if (hash >= self->below) return TACIT_OK;
    if (self->count == self->capacity && self->capacity == 2 * self->most) sketch_settle(self);
    if (self->count == self->capacity) {
        size_t capacity = self->capacity == 0 ? FIRST_CAPACITY : 2 * self->capacity;
        if (capacity > 2 * self->most) capacity = 2 * self->most;
        uint64_t *grown = tacit_grow(self->items, capacity, sizeof *grown);
        if (grown == NULL) return tacit_fail_memory(error);
        self->items = grown;
        self->capacity = capacity;
    }
    if (hash < self->below) self->items[self->count++] = hash;
    return TACIT_OK;
}

static sketch_least least_of(size_t most) { return (sketch_least){ .most = most, .below = UINT64_MAX }; }

/* About how many different values there were. */
static double distinct(sketch_least *self) {
    sketch_settle(self);
    if (self->count < self->most) return (double)self->count;
    return (double)(self->count - 1) / ldexp((double)self->below, -64);
}

/* ---- what the columns are ---- */

enum { PROFILE_MOST = 1024, PROFILE_WIDE = 64, WIDE = 1000 };

typedef struct column {
    char *name;
    bool numbers, integers, dates; /* all that it holds */
    double low, high;
    size_t filled;
    sketch_least values;
    bool left_out; /* of rows: it counts them, or it was declared a key */
    uint64_t name_hash;
    unsigned group;
    sketch_view *key; /* as one it has a view of its own; else NULL */
} column;

enum { CELLS, WHOLE, PARTS, SINGLES = PARTS + SKETCH_GROUPS };

typedef struct reading {
    const tacit_sketch_source *about;
    const uint8_t *key;
    sketch_table *table;
    column *columns;
    size_t count, rows;
    bool sparse;                          /* without names of columns */
    sketch_view *views[SKETCH_ROW_VIEWS]; /* NULL: too few columns */
} reading;

static uint64_t hash_bytes(const reading *self, const void *bytes, size_t length) {
    uint8_t out[crypto_shorthash_BYTES];
    uint64_t hash;
    crypto_shorthash(out, bytes, length, self->key);
    memcpy(&hash, out, sizeof hash);
    return hash;
}

static uint64_t hash_number(const reading *self, double number) {
    uint8_t bytes[9] = { 0 };
    number += 0.0; /* no -0 */
    memcpy(bytes + 1, &number, sizeof number);
    return hash_bytes(self, bytes, sizeof bytes);
}

/* A number however it is written; any other text as it is. *number is NaN for the latter. */
static uint64_t hash_cell(const reading *self, const tacit_cell *cell, double *number) {
    *number = NAN;
    if (cell->kind == TACIT_CELL_NUMBER)
        *number = cell->number;
    else if (!tacit_text_to_number(cell->text, cell->length, number)) {
        *number = NAN;
        return hash_bytes(self, cell->text, cell->length);
    }
    return hash_number(self, *number);
}

static bool is_missing(const tacit_cell *cell) {
    return cell->kind != TACIT_CELL_NUMBER && tacit_text_is_missing(cell->text, cell->length);
}

/* "2026-11-16", and whatever follows. */
static bool is_date(const tacit_cell *cell) {
    static const char form[] = "dddd-dd-dd";
    if (cell->kind == TACIT_CELL_NUMBER) return false;
    for (size_t i = 0; form[i] != 0; i++)
        if (form[i] == 'd' ? cell->text[i] < '0' || cell->text[i] > '9' : cell->text[i] != form[i])
            return false;
    return true;
}

static tacit_status begin(reading *self, const tacit_levels *names, tacit_error *error) {
    self->columns = TACIT_NEW(column, names->count);
    if (self->columns == NULL) return tacit_fail_memory(error);
    for (; self->count < names->count; self->count++) {
        column *one = &self->columns[self->count];
        *one = (column){ .name = tacit_copy_text(names->text[self->count]),
                         .numbers = true,
                         .integers = true,
                         .dates = true,
                         .low = INFINITY,
                         .high = -INFINITY,
                         .values = least_of(names->count < WIDE ? PROFILE_MOST : PROFILE_WIDE) };
        if (one->name == NULL) return tacit_fail_memory(error);
        one->name_hash = hash_bytes(self, one->name, strlen(one->name));
        one->group = (unsigned)(one->name_hash % SKETCH_GROUPS);
    }
    return TACIT_OK;
}

typedef tacit_status take_row(reading *self, const tacit_row_block *block, size_t row, tacit_error *error);

static tacit_status look_at_row(reading *self, const tacit_row_block *block, size_t row, tacit_error *error) {
    const tacit_cell *cells = self->sparse ? NULL : block->cells + row * self->count;
    self->rows++;
    for (size_t j = 0; j < self->count; j++) {
        column *one = &self->columns[j];
        double number;
        if (is_missing(&cells[j])) continue;
        one->filled++;
        TACIT_TRY(sketch_add(&one->values, hash_cell(self, &cells[j], &number), error));
        one->dates = one->dates && is_date(&cells[j]);
        one->numbers = one->numbers && !isnan(number);
        one->integers = one->numbers && one->integers && number == floor(number);
        one->low = fmin(one->low, number);
        one->high = fmax(one->high, number);
    }
    return TACIT_OK;
}

/* All rows of the source, in order. */
static tacit_status visit(reading *self, tacit_source *source, const char *stage, take_row *take,
                          tacit_error *error) {
    const tacit_progress *progress = self->about->options->progress;
    tacit_row_block block = { .ended = false };
    for (uint64_t rows = 0; !block.ended; rows += block.rows) {
        tacit_progress_report(progress, stage, rows, 0);
        if (tacit_progress_cancelled(progress))
            return tacit_fail(error, TACIT_CANCELLED, "reading it was cancelled");
        TACIT_TRY(tacit_source_next(source, SIZE_MAX, &block, error));
        for (size_t row = 0; row < block.rows; row++) TACIT_TRY(take(self, &block, row, error));
    }
    return TACIT_OK;
}

static tacit_status add_view(sketch_view **out, sketch_table *table, bool declared, const char *kind,
                             const char *name, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    sketch_view *view = &table->views[table->count];
    TACIT_TRY(tacit_buffer_print(&text, error, "%s%s", kind, name));
    *view = (sketch_view){ .name = (char *)text.bytes, .declared = declared, .least = least_of(SKETCH_MOST) };
    table->count++;
    *out = view;
    return TACIT_OK;
}

/* Nearly every row has its own value: a number of rows or days, or a key. */
static tacit_status judge(reading *self, column *one, tacit_error *error) {
    bool declared = self->about->link != NULL && strcmp(one->name, self->about->link) == 0;
    bool own = one->filled >= 8 && 2 * one->filled >= self->rows &&
               distinct(&one->values) >= 0.8 * (double)one->filled;
    bool counts =
        own && (one->dates || (one->integers && one->high - one->low + 1 <= 2 * (double)one->filled));
    bool key = declared || (own && !counts && (one->integers || !one->numbers));
    one->left_out = counts || declared;
    if (!key || (!declared && self->table->count == SKETCH_VIEWS - 1)) return TACIT_OK; /* one is kept free */
    if (self->table->count == SKETCH_VIEWS) return TACIT_OK;
    return add_view(&one->key, self->table, declared, "key ", one->name, error);
}

static tacit_status add_part(reading *self, int view, const char *kind, int number, tacit_error *error) {
    const char name[] = { (char)('0' + number), 0 };
    return add_view(&self->views[view], self->table, false, kind, name, error);
}

/* Views of rows: their cells whatever the columns are called, with their names, without each group of columns
 * and, of a narrow table, without each column. What is left has at least two columns. */
static tacit_status plan(reading *self, tacit_error *error) {
    size_t in_rows = 0, of_group[SKETCH_GROUPS] = { 0 };
    for (size_t j = 0; j < self->count; j++) TACIT_TRY(judge(self, &self->columns[j], error));
    for (size_t j = 0; j < self->count; j++) {
        in_rows += !self->columns[j].left_out;
        of_group[self->columns[j].group] += !self->columns[j].left_out;
    }
    if (self->sparse || in_rows > 0)
        TACIT_TRY(add_view(&self->views[CELLS], self->table, false, "cells", "", error));
    if (in_rows > 0) TACIT_TRY(add_view(&self->views[WHOLE], self->table, false, "rows", "", error));
    for (int g = 0; g < SKETCH_GROUPS; g++)
        if (in_rows - of_group[g] >= 2) TACIT_TRY(add_part(self, PARTS + g, "rows but ", g, error));
    for (int k = 0; in_rows >= 3 && in_rows <= SKETCH_SINGLE && k < (int)in_rows; k++)
        TACIT_TRY(add_part(self, SINGLES + k, "rows without ", k, error));
    return TACIT_OK;
}

/* ---- the hashes ---- */

static uint64_t hash_pair(const reading *self, uint64_t first, uint64_t second) {
    const uint64_t pair[2] = { first, second };
    return hash_bytes(self, pair, sizeof pair);
}

static tacit_status add_to(sketch_view *view, uint64_t hash, tacit_error *error) {
    return view != NULL ? sketch_add(&view->least, hash, error) : TACIT_OK;
}

/* What of a row does not depend on the order, or the names, of columns. */
typedef struct row_hash {
    uint64_t bare, all, of_group[SKETCH_GROUPS], single[SKETCH_SINGLE];
} row_hash;

static tacit_status hash_columns(reading *self, const tacit_cell *cells, row_hash *out, tacit_error *error) {
    size_t place = 0;
    double number;
    for (size_t j = 0; j < self->count; j++) {
        const column *one = &self->columns[j];
        const size_t here = !one->left_out ? place++ : SIZE_MAX;
        if (is_missing(&cells[j])) continue;
        uint64_t hash = hash_cell(self, &cells[j], &number);
        if (one->key != NULL) TACIT_TRY(sketch_add(&one->key->least, hash, error));
        if (one->left_out) continue;
        out->bare += hash; /* a sum does not know an order */
        hash = hash_pair(self, one->name_hash, hash);
        out->all += hash;
        out->of_group[one->group] += hash;
        if (here < SKETCH_SINGLE) out->single[here] = hash;
    }
    return TACIT_OK;
}

static void hash_entries(const reading *self, const tacit_row_block *block, size_t row, row_hash *out) {
    out->bare = hash_number(self, block->label[row]);
    for (size_t i = block->start[row]; i < block->start[row + 1]; i++)
        out->bare += hash_pair(self, block->column[i], hash_number(self, block->value[i]));
}

static tacit_status hash_row(reading *self, const tacit_row_block *block, size_t row, tacit_error *error) {
    sketch_table *table = self->table;
    row_hash hash = { .bare = 0 };
    if (self->sparse)
        hash_entries(self, block, row, &hash);
    else
        TACIT_TRY(hash_columns(self, block->cells + row * self->count, &hash, error));
    uint64_t whole = hash_pair(self, 0, hash.bare);
    table->rows++;
    table->digest += whole;
    table->ordered = hash_pair(self, table->ordered, whole);
    TACIT_TRY(add_to(self->views[CELLS], whole, error));
    TACIT_TRY(add_to(self->views[WHOLE], hash_pair(self, 1, hash.all), error));
    for (int g = 0; g < SKETCH_GROUPS; g++)
        TACIT_TRY(add_to(self->views[PARTS + g], hash_pair(self, 1, hash.all - hash.of_group[g]), error));
    for (int k = 0; k < SKETCH_SINGLE; k++)
        TACIT_TRY(add_to(self->views[SINGLES + k], hash_pair(self, 1, hash.all - hash.single[k]), error));
    return TACIT_OK;
}

void sketch_clear(sketch_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        free(table->views[i].name);
        free(table->views[i].least.items);
    }
    *table = (sketch_table){ .rows = 0 };
}

static void clear_columns(reading *self) {
    for (size_t j = 0; j < self->count; j++) {
        free(self->columns[j].name);
        free(self->columns[j].values.items);
    }
    free(self->columns);
}

tacit_status sketch_make(sketch_table *out, const tacit_sketch_source *about,
                         const uint8_t key[crypto_shorthash_KEYBYTES], tacit_error *error) {
    sketch_table table = { .rows = 0 };
    reading self = { .about = about, .key = key, .table = &table };
    const tacit_source_options opening = { .no_header = about->options->no_header,
                                           .separator = about->options->separator };
    tacit_source *source = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_source_open(&source, about->data, &opening, error));
    self.sparse = source->kind->sparse;
    if (!self.sparse) TACIT_CHECK(begin(&self, &source->columns, error));
    TACIT_CHECK(visit(&self, source, "looking at columns", look_at_row, error));
    TACIT_CHECK(plan(&self, error));
    TACIT_CHECK(tacit_source_rewind(source, error));
    TACIT_CHECK(visit(&self, source, "comparing rows", hash_row, error));
    for (size_t i = 0; i < table.count; i++) sketch_settle(&table.views[i].least);
    if (self.views[CELLS] != NULL) table.distinct = self.views[CELLS]->least.count;
    *out = table;
    table.count = 0;
cleanup:
    tacit_source_free(source);
    sketch_clear(&table);
    clear_columns(&self);
    return status;
}

/* ---- two of them ---- */

static const double CHANCE = 1e-9, PART_LEAST = 0.02;

/* A bound of the chance of this many heads, or more, in that many tosses (Chernoff). */
static double tail(double heads, double tosses) {
    double x = heads / tosses, rest = 1 - x;
    if (x <= 0.5) return 1;
    return exp(-tosses * (x * log(2 * x) + (rest > 0 ? rest * log(2 * rest) : 0)));
}

bool sketch_is_common(const sketch_least *one, const sketch_least *other, double *part) {
    const uint64_t below = one->below < other->below ? one->below : other->below;
    size_t common = 0, repeated = 0, mine = 0, theirs = 0, j = 0;
    for (size_t i = 0; i < one->count && one->items[i] < below; i++) {
        mine++;
        repeated += one->items[i] & 1;
        while (j < other->count && (other->items[j] | 1) < (one->items[i] | 1)) j++;
        common += j < other->count && (other->items[j] | 1) == (one->items[i] | 1);
    }
    for (size_t i = 0; i < other->count && other->items[i] < below; i++) {
        theirs++;
        repeated += other->items[i] & 1;
    }
    const size_t least = mine < theirs ? mine : theirs;
    *part = least > 0 ? (double)common / (double)least : 0;
    return common > 0 && *part >= PART_LEAST && tail((double)common, (double)(common + repeated)) <= CHANCE;
}
