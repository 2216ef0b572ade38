/*
 * The follow-up of a person in pieces (start, stop], in each of which no column changes: what tmerge and
 * survSplit of R's survival do. A value counts from just after its time, so that nothing that is known only
 * at the end of a piece is used for it. On a grid, changes wait for the end of their cell: a method that
 * counts in cells (cox) then never meets a piece that ends in the cell in which it began.
 */
#include <math.h>
#include <stdlib.h>

#include "base/growing.h"
#include "base/memory.h"
#include "data/source/linking.h"

void pieces_clear(pieces *self) {
    free(self->items);
    free(self->times);
    *self = (pieces){ .count = 0 };
}

static tacit_status add_piece(pieces *self, piece one, tacit_error *error) {
    piece *items = tacit_grow_by_one(self->items, self->count, &self->capacity, 16, sizeof *items);
    if (items == NULL) return tacit_fail_memory(error);
    self->items = items;
    items[self->count++] = one;
    return TACIT_OK;
}

/* The end of the cell that a time is in, as cox has them (a time at the end of a cell is in it). */
static double put_off(double time, double origin, double grid) {
    return grid > 0 ? origin + grid * ceil((time - origin) / grid * (1 - 1e-12)) : time;
}

/* A time to cut at, if it is inside. */
static tacit_status add_time(pieces *self, double time, double grid, const piece *whole, tacit_error *error) {
    time = put_off(time, whole->origin, grid);
    if (!(time > whole->start && time < whole->stop)) return TACIT_OK;
    double *times = tacit_grow_by_one(self->times, self->time_count, &self->time_capacity, 16, sizeof *times);
    if (times == NULL) return tacit_fail_memory(error);
    self->times = times;
    times[self->time_count++] = time;
    return TACIT_OK;
}

static int compare_times(const void *a, const void *b) {
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static bool brings_something(const held_rows *held, size_t i) {
    for (size_t c = 0; c < held->column_count; c++)
        if (!held_is_missing(held_cell(held, i, c))) return true;
    return false;
}

/* Is a value of the i-th row still the last one when it expires? */
static bool is_missed(const held_rows *held, size_t i, double expiry) {
    for (size_t c = 0; c < held->column_count; c++) {
        const tacit_cell *own = held_cell(held, i, c);
        if (!held_is_missing(own) && held_at(held, c, expiry, false) == own) return true;
    }
    return false;
}

/* Where something of a source changes. */
static tacit_status add_changes(pieces *self, const held_rows *held, double grid, const piece *whole,
                                tacit_error *error) {
    const double carry = held->about->carry;
    const bool since = held->about->since != NULL;
    size_t count = held->end - held->begin;
    if (held->about->time == NULL) return TACIT_OK;
    for (size_t i = 0; i < count; i++) {
        const held_row *row = &held->rows[held->begin + i];
        double expiry = row->time + carry;
        bool begins = i == 0 || row->time > row[-1].time + carry;
        bool ends = i + 1 == count || row[1].time > expiry;
        if ((since && begins) || brings_something(held, i))
            TACIT_TRY(add_time(self, row->time, grid, whole, error));
        if (isfinite(carry) && ((since && ends) || is_missed(held, i, expiry)))
            TACIT_TRY(add_time(self, expiry, grid, whole, error));
    }
    return TACIT_OK;
}

static tacit_status cut(pieces *self, const linking *about, const held_rows *held, const piece *whole,
                        tacit_error *error) {
    piece next = *whole;
    self->time_count = 0;
    for (size_t k = 1; k < about->count; k++)
        TACIT_TRY(add_changes(self, &held[k], about->grid, whole, error));
    for (size_t i = 0; i < about->cut_count; i++)
        TACIT_TRY(add_time(self, whole->origin + about->cuts[i], about->grid, whole, error));
    if (self->time_count > 0) qsort(self->times, self->time_count, sizeof(double), compare_times);
    for (size_t i = 0; i < self->time_count; i++) {
        if (self->times[i] == next.start) continue; /* two sources change at once */
        next.stop = self->times[i];
        next.last = false;
        TACIT_TRY(add_piece(self, next, error));
        next.start = next.stop;
    }
    next.stop = whole->stop;
    next.last = true;
    return add_piece(self, next, error);
}

/* ---- the whole follow-up ---- */

static size_t inner_column(const held_rows *first, size_t column) {
    return first->taken[first->columns[column].first];
}

static tacit_status time_of(const held_rows *first, size_t row, size_t column, double otherwise,
                            held_clock *clock, double *out, tacit_error *error) {
    *out = otherwise;
    if (column == SIZE_MAX) return TACIT_OK;
    return held_time(first, held_cell(first, row, column), inner_column(first, column), clock, out, error);
}

static tacit_status fail_at(const held_rows *first, size_t row, size_t column, tacit_error *error,
                            const char *said) {
    return tacit_source_fail(first->inner, first->rows[first->begin + row].line, inner_column(first, column),
                             error, TACIT_INPUT, "%s", said);
}

static tacit_status follow(piece *out, const held_rows *first, size_t row, const follow_up *columns,
                           double grid, held_clock *clock, tacit_error *error) {
    piece whole = { .row = row };
    TACIT_TRY(time_of(first, row, columns->origin, 0, clock, &whole.origin, error));
    TACIT_TRY(time_of(first, row, columns->from, whole.origin, clock, &whole.start, error));
    TACIT_TRY(time_of(first, row, columns->until, 0, clock, &whole.stop, error));
    if (*clock == HELD_CLOCK_DATE && columns->origin == SIZE_MAX)
        return fail_at(first, row, columns->until, error,
                       "times are dates: name in intervals the column with the date from which they are "
                       "counted, origin: COLUMN");
    whole.start = put_off(whole.start, whole.origin, grid);
    if (!(whole.stop > whole.start))
        return fail_at(first, row, columns->until, error,
                       "the follow-up ends before it has begun, or at once, or in the same cell of the grid. "
                       "Mend the times, or leave the row out");
    if (held_is_missing(held_cell(first, row, columns->event)))
        return fail_at(
            first, row, columns->event, error,
            "the event is missing: write 1 where it was seen and 0 where not, or leave the row out");
    *out = whole;
    return TACIT_OK;
}

tacit_status pieces_make(pieces *out, const linking *about, const held_rows *held, const follow_up *columns,
                         held_clock *clock, tacit_error *error) {
    const held_rows *first = &held[0];
    double until = -INFINITY;
    out->count = 0;
    for (size_t i = 0; i < first->end - first->begin; i++) {
        double time = first->rows[first->begin + i].time;
        piece whole = { .row = i, .start = time, .stop = time, .last = true };
        if (!about->has_intervals) {
            TACIT_TRY(add_piece(out, whole, error));
            continue;
        }
        TACIT_TRY(follow(&whole, first, i, columns, about->grid, clock, error));
        if (whole.start < until)
            return fail_at(
                first, i, columns->until, error,
                "two rows of this person overlap: one begins before another ends. Name in intervals "
                "the column with the time at which a row begins, from: COLUMN, or mend the times");
        until = whole.stop;
        TACIT_TRY(cut(out, about, held, &whole, error));
    }
    return TACIT_OK;
}
