/* Rows of one source of a linking file, held by person and time. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/growing.h"
#include "base/memory.h"
#include "data/schema/date.h"
#include "data/source/linking.h"
#include "data/source/source_parts.h"

void held_clear(held_rows *self) {
    tacit_source_free(self->inner);
    tacit_buffer_clear(&self->packed);
    free(self->taken);
    free(self->columns);
    free(self->rows);
    free(self->first);
    free(self->cells);
    *self = (held_rows){ .about = NULL };
}

/* ---- columns ---- */

static const char *new_name(const linking_source *about, const char *name) {
    int32_t code = tacit_levels_find(&about->old_names, name, strlen(name));
    return code < 0 ? name : about->new_names.text[code];
}

static void add_column(held_rows *self, const char *name, size_t first, size_t step) {
    self->columns[self->column_count++] = (held_column){ name, first, step };
}

/* Every column that is named must be there. */
static tacit_status require_all(const held_rows *self, const tacit_levels *names, const char *key,
                                size_t *positions, tacit_error *error) {
    size_t found = 0;
    for (size_t i = 0; i < names->count; i++) {
        TACIT_TRY(tacit_source_require(self->inner, names->text[i], key, &found, error));
        if (positions != NULL) positions[i] = found;
    }
    return TACIT_OK;
}

static bool is_named(const char *name, const char *one) { return one != NULL && strcmp(name, one) == 0; }

/* Is a column of the source taken by itself? */
static bool is_taken(const held_rows *self, const linking *all, bool is_first, size_t column) {
    const linking_source *about = self->about;
    const char *name = self->inner->columns.text[column];
    if (tacit_levels_find(&about->wide, name, strlen(name)) >= 0) return false;
    bool of_times = column == self->key || (about->times == NULL && is_named(name, about->time));
    if (is_first) {
        bool of_follow_up = is_named(name, all->origin) || is_named(name, all->from) ||
                            is_named(name, all->until) || is_named(name, all->event);
        if (of_times || of_follow_up) return true;
    }
    if (of_times) return false;
    return !about->chosen || tacit_levels_find(&about->columns, name, strlen(name)) >= 0;
}

static tacit_status take_columns(held_rows *self, const linking *all, bool is_first, tacit_error *error) {
    const linking_source *about = self->about;
    const tacit_levels *columns = &self->inner->columns;
    TACIT_TRY(require_all(self, &about->columns, "columns", NULL, error));
    TACIT_TRY(require_all(self, &about->old_names, "rename", NULL, error));
    self->taken = TACIT_NEW(size_t, columns->count + 1);
    self->columns = TACIT_NEW(held_column, columns->count + 1);
    if (self->taken == NULL || self->columns == NULL) return tacit_fail_memory(error);
    TACIT_TRY(require_all(self, &about->wide, "long", self->taken, error));
    self->taken_count = about->wide.count;
    for (size_t j = 0; j < columns->count; j++) {
        if (!is_taken(self, all, is_first, j)) continue;
        add_column(self, new_name(about, columns->text[j]), self->taken_count, 0);
        self->taken[self->taken_count++] = j;
    }
    for (size_t m = 0; m < about->measures.count; m++)
        add_column(self, about->measures.text[m], m * about->time_count, 1);
    return TACIT_OK;
}

tacit_status held_open(held_rows *self, const linking_source *about, const linking *all, bool is_first,
                       tacit_error *error) {
    self->about = about;
    self->time = SIZE_MAX;
    TACIT_TRY(tacit_source_open(&self->inner, about->rows, NULL, error));
    if (self->inner->kind->sparse)
        return tacit_fail(error, TACIT_USAGE, "%s is a LIBSVM file: it has no columns to link rows by",
                          about->rows);
    TACIT_TRY(tacit_source_require(self->inner, about->key, "key", &self->key, error));
    if (about->time != NULL && about->times == NULL)
        TACIT_TRY(tacit_source_require(self->inner, about->time, "time", &self->time, error));
    if (is_first && all->from != NULL)
        TACIT_TRY(tacit_source_require(self->inner, all->from, "from", &self->time, error));
    return take_columns(self, all, is_first, error);
}

/* ---- reading ---- */

bool held_is_missing(const tacit_cell *cell) {
    return cell->kind == TACIT_CELL_PLAIN && tacit_text_is_missing(cell->text, cell->length);
}

tacit_status held_time(const held_rows *self, const tacit_cell *cell, size_t column, held_clock *clock,
                       double *out, tacit_error *error) {
    int32_t day = 0;
    held_clock found = HELD_CLOCK_NUMBER;
    if (held_is_missing(cell))
        return tacit_source_fail(self->inner, cell->line, column, error, TACIT_INPUT,
                                 "the time is missing. Give it, or leave the row out");
    if (cell->kind == TACIT_CELL_NUMBER) {
        *out = cell->number;
    } else if (cell->kind == TACIT_CELL_PLAIN && tacit_text_to_day(cell->text, cell->length, &day)) {
        *out = day;
        found = HELD_CLOCK_DATE;
    } else if (cell->kind != TACIT_CELL_PLAIN || !tacit_text_to_number(cell->text, cell->length, out)) {
        return tacit_source_fail(self->inner, cell->line, column, error, TACIT_INPUT,
                                 "this is no time: write a number, or a date as 2024-02-29");
    }
    if (*clock == HELD_CLOCK_UNKNOWN) *clock = found;
    if (*clock == found) return TACIT_OK;
    return tacit_source_fail(self->inner, cell->line, column, error, TACIT_INPUT,
                             "some times are dates and some are numbers: write all of them alike");
}

static tacit_status find_person(const held_rows *self, const tacit_cell *cell, tacit_levels *persons,
                                bool is_first, int32_t *out, tacit_error *error) {
    char scratch[TACIT_NUMBER_TEXT];
    tacit_cell text = tacit_cell_as_text(cell, scratch);
    if (text.kind == TACIT_CELL_OTHER || held_is_missing(&text))
        return tacit_source_fail(self->inner, cell->line, self->key, error, TACIT_INPUT,
                                 "a row has no key, so that nobody knows whom it is about. Give it, or leave "
                                 "the row out");
    if (is_first) return tacit_levels_add(persons, text.text, text.length, out, error);
    *out = tacit_levels_find(persons, text.text, text.length);
    return TACIT_OK;
}

static tacit_status add_row(held_rows *self, held_row row, tacit_error *error) {
    held_row *rows = tacit_grow_by_one(self->rows, self->count, &self->capacity, 1024, sizeof *rows);
    if (rows == NULL) return tacit_fail_memory(error);
    self->rows = rows;
    rows[self->count++] = row;
    return TACIT_OK;
}

/* A row of the source becomes one here, or one for each of the times of a wide one. */
static tacit_status keep_row(held_rows *self, const tacit_cell *cells, tacit_cell *kept, int32_t person,
                             held_clock *clock, tacit_error *error) {
    const linking_source *about = self->about;
    held_row row = { .at = self->packed.length, .person = person, .line = cells[self->key].line };
    if (self->time != SIZE_MAX) {
        /* it never happened */
        if (about->since != NULL && held_is_missing(&cells[self->time])) return TACIT_OK;
        TACIT_TRY(held_time(self, &cells[self->time], self->time, clock, &row.time, error));
    }
    for (size_t i = 0; i < self->taken_count; i++) kept[i] = cells[self->taken[i]];
    TACIT_TRY(tacit_row_keep(&self->packed, kept, self->taken_count, error));
    if (about->times == NULL) return add_row(self, row, error);
    for (; row.part < about->time_count; row.part++) {
        row.time = about->times[row.part];
        TACIT_TRY(add_row(self, row, error));
    }
    return TACIT_OK;
}

tacit_status held_drain(held_rows *self, tacit_levels *persons, bool is_first, held_clock *clock,
                        tacit_error *error) {
    size_t width = self->inner->columns.count, seen = 0, matched = 0;
    tacit_row_block block = { .ended = false };
    tacit_cell *kept = TACIT_NEW(tacit_cell, self->taken_count + 1);
    tacit_status status = TACIT_OK;
    if (kept == NULL) return tacit_fail_memory(error);
    if (self->about->times != NULL) *clock = *clock == HELD_CLOCK_UNKNOWN ? HELD_CLOCK_NUMBER : *clock;
    while (!block.ended) {
        TACIT_CHECK(tacit_source_next(self->inner, BLOCK_CELLS, &block, error));
        for (size_t i = 0; i < block.rows; i++, seen++) {
            const tacit_cell *cells = block.cells + i * width;
            int32_t person = 0;
            TACIT_CHECK(find_person(self, &cells[self->key], persons, is_first, &person, error));
            if (person < 0) continue;
            matched++;
            TACIT_CHECK(keep_row(self, cells, kept, person, clock, error));
        }
    }
    if (seen > 0 && matched == 0)
        status = tacit_fail(error, TACIT_INPUT,
                            "%s: no row is about a person of the first source. Is '%s' its key, and are keys "
                            "written alike ('7' and '007' are two)?",
                            self->inner->name, self->about->key);
cleanup:
    free(kept);
    return status;
}

/* ---- by person and time ---- */

static int compare_rows(const void *a, const void *b) {
    const held_row *left = a, *right = b;
    if (left->person != right->person) return left->person < right->person ? -1 : 1;
    if (left->time != right->time) return left->time < right->time ? -1 : 1;
    if (left->at != right->at) return left->at < right->at ? -1 : 1;
    return (left->line > right->line) - (left->line < right->line);
}

static tacit_status refuse_double(const held_rows *self, const held_row *row, const held_row *before,
                                  tacit_error *error) {
    char place[TACIT_PLACE_SIZE];
    tacit_source_place(self->inner, before->line, place);
    if (self->about->time == NULL)
        return tacit_source_fail(self->inner, row->line, self->key, error, TACIT_INPUT,
                                 "this person has a row already (%s). Keep one, or say which column has the "
                                 "time of a row, time: COLUMN",
                                 place);
    return tacit_source_fail(self->inner, row->line, self->time != SIZE_MAX ? self->time : self->key, error,
                             TACIT_INPUT,
                             "this person has a row of the same time already (%s). Keep one of them", place);
}

tacit_status held_settle(held_rows *self, size_t persons, bool is_first, tacit_error *error) {
    bool once = self->about->time != NULL || !is_first;
    size_t at = 0;
    self->first = TACIT_NEW(size_t, persons + 1);
    if (self->first == NULL) return tacit_fail_memory(error);
    if (self->count > 0) qsort(self->rows, self->count, sizeof *self->rows, compare_rows);
    for (size_t i = 1; once && i < self->count; i++) {
        const held_row *row = &self->rows[i], *before = row - 1;
        if (row->person != before->person) continue;
        if (self->about->time == NULL || row->time == before->time)
            return refuse_double(self, row, before, error);
    }
    for (size_t p = 0; p <= persons; p++) {
        while (at < self->count && (size_t)self->rows[at].person < p) at++;
        self->first[p] = at;
    }
    return TACIT_OK;
}

tacit_status held_visit(held_rows *self, size_t person, tacit_error *error) {
    self->begin = self->first[person];
    self->end = self->first[person + 1];
    size_t needed = self->end - self->begin;
    if (needed > self->cell_capacity) {
        tacit_cell *cells = tacit_grow(self->cells, needed * 2 * (self->taken_count + 1), sizeof *cells);
        if (cells == NULL) return tacit_fail_memory(error);
        self->cells = cells;
        self->cell_capacity = needed * 2;
    }
    for (size_t i = 0; i < needed; i++)
        tacit_row_restore(self->packed.bytes + self->rows[self->begin + i].at,
                          self->cells + i * self->taken_count, self->taken_count);
    return TACIT_OK;
}

const tacit_cell *held_cell(const held_rows *self, size_t i, size_t column) {
    const held_column *of = &self->columns[column];
    return &self->cells[i * self->taken_count + of->first + of->step * self->rows[self->begin + i].part];
}

const tacit_cell *held_at(const held_rows *self, size_t column, double time, bool after) {
    size_t i = self->end - self->begin;
    if (self->about->time == NULL) return i > 0 ? held_cell(self, 0, column) : NULL;
    while (i-- > 0) {
        double then = self->rows[self->begin + i].time, until = then + self->about->carry;
        if (then > time) continue;
        if (after ? time >= until : time > until) return NULL;
        const tacit_cell *cell = held_cell(self, i, column);
        if (!held_is_missing(cell)) return cell;
    }
    return NULL;
}
