/*
 * dpcox's sums over persons. A person, with all of its rows, is followed through the cells of time until it
 * leaves, and its score U is one vector, whatever happens on the way (dpcox.c has the equations).
 *
 * A row is at risk from the cell after that of its start to that of its stop. Each cell of a person is that
 * of one row, the one that begins first: what a column was when the cell began. A person leaves with its
 * first event, or after its last row. All of this is said of any rows whatsoever, also of such as overlap,
 * have gaps between them, or begin and end in one cell: nothing is refused because of what is in them.
 *
 * Rounding. Persons are added up in blocks of BLOCK, blocks in order: chains shorter than those that
 * gradient.h counts, of terms of norm at most 1, so that its GRADIENT_ROUNDING holds.
 */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/persons.h"
#include "method/time/dpcox.h"
#include "num/blas.h"
#include "num/noisy/noisy_life.h"
#include "num/noisy/noisy_moments.h"

enum { BLOCK = 4096 };

static const double FARTHEST = 20; /* of a score, either way */

/* ---- a person's cells ---- */

/* The cells in which a person is at risk by one of its rows. */
typedef struct visit {
    size_t row, from, to; /* of the view; cells, the last included */
    bool event;           /* in the last */
} visit;

static int by_beginning(const void *left, const void *right) {
    const visit *a = left, *b = right;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    if (a->to != b->to) return a->to < b->to ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* Of rows `first` to `last` of a view, which are one person's; how many visits there are. `row` and `x` hold
 * the last row afterwards. */
static size_t take_visits(const dpcox_design *design, const tacit_view *view, size_t first, size_t last,
                          double *row, double *x, visit *out) {
    size_t until = SIZE_MAX, next = 0, kept = 0, count = last - first;
    for (size_t i = first; i < last; i++) {
        time_row one = time_take_row(&design->time, view, i, row, x);
        out[i - first] = (visit){ .row = i, .from = one.entry, .to = one.place };
        if (one.event > 0 && one.place < until) until = one.place;
    }
    if (count > 1) qsort(out, count, sizeof *out, by_beginning);
    for (size_t k = 0; k < count; k++) {
        visit one = out[k];
        if (one.from < next) one.from = next;
        if (one.to > until) one.to = until;
        if (one.from > one.to) continue;
        one.event = one.to == until;
        next = one.to + 1;
        out[kept++] = one;
    }
    return kept;
}

/* The rows of the person who has most. */
static size_t most_rows(const person_rows *all) {
    size_t most = 1;
    for (size_t k = 0; k < all->count; k++)
        if (all->start[k + 1] - all->start[k] > most) most = all->start[k + 1] - all->start[k];
    return most;
}

/* ---- counts ---- */

/* A person who is never at risk leaves in the first cell before it has come. */
static tacit_status count_persons(tacit_party *party, const dpcox_design *design, double *histogram,
                                  double *persons, tacit_error *error) {
    const size_t cells = design->time.cells;
    person_rows all = { .count = 0 };
    double *features = TACIT_NEW(double, 2 * party->plan->features);
    visit *visits = NULL;
    tacit_status status = features != NULL ? TACIT_OK : tacit_fail_memory(error);
    TACIT_CHECK(status);
    TACIT_CHECK(person_rows_make(&all, party, error));
    visits = TACIT_NEW(visit, most_rows(&all));
    if (visits == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t k = 0; k < all.count; k++) {
        size_t count = take_visits(design, &all.view, all.start[k], all.start[k + 1], features,
                                   features + party->plan->features, visits);
        visit last = count > 0 ? visits[count - 1] : (visit){ .to = 0 };
        histogram[(last.event ? cells : 0) + last.to]++;
        if (design->time.entries) histogram[2 * cells + (count > 0 ? visits[0].from : cells > 1)]++;
    }
    *persons = (double)all.count;
cleanup:
    person_rows_clear(&all);
    free(visits);
    free(features);
    return status;
}

static tacit_status count_rows(tacit_party *party, const dpcox_design *design, double *histogram,
                               tacit_error *error) {
    const size_t cells = design->time.cells;
    time_design bare = design->time;
    bare.columns.width = 0; /* no sums over events */
    bare.columns.offset = SIZE_MAX;
    double *counts = TACIT_NEW(double, 2 * cells);
    if (counts == NULL) return tacit_fail_memory(error);
    tacit_status status = time_count(party, &bare, counts, NULL, NULL, error);
    if (status == TACIT_OK && party->reducer != NULL)
        status = party->reducer->sum(party->reducer->context, counts, 2 * cells, error);
    for (size_t c = 0; c < cells; c++) {
        histogram[c] = counts[2 * c] - counts[2 * c + 1];
        histogram[cells + c] = counts[2 * c + 1];
    }
    free(counts);
    return status;
}

tacit_status dpcox_count(tacit_party *party, const dpcox_design *design, double *out, tacit_error *error) {
    const size_t cells = design->time.cells, histograms = dpcox_histograms(design);
    double *histogram = out + DPCOX_HEAD, count = (double)party->total_rows;
    TACIT_TRY(time_check_rows(party, error));
    memset(histogram, 0, histograms * cells * sizeof *histogram);
    TACIT_TRY(design->persons ? count_persons(party, design, histogram, &count, error)
                              : count_rows(party, design, histogram, error));
    out[0] = DPCOX_ROWS_WEIGHT * floor(count / DPCOX_ROWS_UNIT);
    out[1] = DPCOX_ROWS_WEIGHT * fmod(count, DPCOX_ROWS_UNIT);
    for (size_t h = 0; h < histograms; h++) tacit_life_encode(histogram + h * cells, cells);
    return TACIT_OK;
}

/* ---- scores ---- */

typedef struct pass {
    const dpcox_design *design;
    const double *weights;
    double *step, *column;   /* of each cell: the hazard of a row with x.b = 0, and the clock's column */
    double *before, *moved;  /* up to each cell and not with it: sums of `step`, and of step times column */
    double *row, *x, *block; /* all features of a row, its columns, scores of a block */
    visit *visits;           /* of a person */
    double *sum, *square, *total; /* of a block, and both of all */
} pass;

static void clear(pass *self) {
    free(self->step);
    free(self->row);
    free(self->total);
    free(self->visits);
}

/* A number that is none, or below 0, is 0. */
static double sane(double value, double most) { return value > 0 ? fmin(value, most) : 0; }

double dpcox_clock_column(const dpcox_design *design, double clock) {
    static const double REACH = 0.5;
    return REACH * (2 * sane(clock, 1) - 1) / design->radius;
}

/* For persons of at most `most_visits` rows. */
static tacit_status begin(pass *self, const tacit_party *party, const dpcox_baseline *baseline,
                          size_t most_visits, tacit_error *error) {
    const dpcox_design *design = self->design;
    const size_t cells = design->time.cells, d = design->width, features = party->plan->features;
    const double *at = self->weights + design->columns, most = 1e6;
    self->step = TACIT_NEW(double, 4 * (cells + 1));
    self->row = TACIT_NEW(double, features + design->columns + BLOCK * d);
    self->total = TACIT_NEW(double, 2 * (d + d * d));
    self->visits = TACIT_NEW(visit, most_visits);
    if (self->step == NULL || self->row == NULL || self->total == NULL || self->visits == NULL)
        return tacit_fail_memory(error);
    self->column = self->step + cells + 1;
    self->before = self->column + cells + 1;
    self->moved = self->before + cells + 1;
    self->x = self->row + features;
    self->block = self->x + design->columns;
    self->sum = self->total + d + d * d;
    self->square = self->sum + d;
    memset(self->total, 0, 2 * (d + d * d) * sizeof *self->total);
    self->before[0] = self->moved[0] = 0;
    for (size_t c = 0; c < cells; c++) {
        double column = dpcox_clock_column(design, baseline->clock[c]);
        double score = fmin(fmax(at[0] / design->radius + at[1] * column, -FARTHEST), FARTHEST);
        self->column[c] = column;
        self->step[c] = sane(baseline->hazard[c] * exp(score), most);
        self->before[c + 1] = self->before[c] + self->step[c];
        self->moved[c + 1] = self->moved[c] + self->step[c] * column;
    }
    return TACIT_OK;
}

/* What a person's score is made of, as far as it has been followed. */
typedef struct walk {
    double spent;       /* the expected number of events */
    double pull, along; /* of a visit: the sum of residuals, and that of residuals times the clock's column */
    bool stopped;       /* `spent` has come to L */
} walk;

/* The first cell from that of the visit on in which a row with this risk passes L, or the number of cells. */
static size_t stopping_cell(const pass *self, double risk, size_t from, double spent) {
    size_t low = from, high = self->design->time.cells;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (spent + risk * (self->before[middle + 1] - self->before[from]) > self->design->most)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void follow(const pass *self, double risk, const visit *one, walk *at) {
    const size_t stop = stopping_cell(self, risk, one->from, at->spent),
                 last = stop < one->to ? stop : one->to;
    const double expected = risk * self->step[last],
                 passed = risk * (self->before[last] - self->before[one->from]);
    double factor = 1, residual = -expected;
    at->stopped = last == stop;
    if (at->stopped) factor = fmin(fmax((self->design->most - at->spent - passed) / expected, 0), 1);
    if (one->event && last == one->to) residual = expected > 1e-12 ? expected / expm1(expected) : 1;
    at->along = factor * residual * self->column[last] - risk * (self->moved[last] - self->moved[one->from]);
    at->pull = factor * residual - passed;
    at->spent += passed + expected;
}

/* To `out` add what a visit adds to U/L; the row that it is of has been taken. */
static void add_visit(const pass *self, const visit *one, walk *at, double *out) {
    const dpcox_design *design = self->design;
    const size_t p = design->columns;
    double score = time_offset(&design->time, self->row);
    for (size_t j = 0; j < p; j++) score += self->x[j] * design->feature * self->weights[j];
    follow(self, exp(fmin(fmax(score, -FARTHEST), FARTHEST)), one, at);
    for (size_t j = 0; j < p; j++) out[j] += at->pull / design->most * design->feature * self->x[j];
    out[p] += at->pull / design->most / design->radius;
    out[p + 1] += at->along / design->most;
}

/* U/L of a person, no longer than 1 as computed; one that is no number is 0. */
static void take_person(const pass *self, const tacit_view *view, size_t first, size_t last, double *out) {
    const dpcox_design *design = self->design;
    const size_t d = design->width,
                 count = take_visits(design, view, first, last, self->row, self->x, self->visits);
    walk at = { .spent = 0 };
    double square = 0;
    memset(out, 0, d * sizeof *out);
    for (size_t k = 0; k < count && !at.stopped; k++) {
        if (last - first > 1) time_take_row(&design->time, view, self->visits[k].row, self->row, self->x);
        add_visit(self, &self->visits[k], &at, out);
    }
    for (size_t j = 0; j < d; j++) square += out[j] * out[j];
    double by = square > 1 ? 1 / sqrt(square) : 1;
    by = isfinite(square) ? by * (1 - 1e-12) : 0;
    for (size_t j = 0; j < d; j++) out[j] = by > 0 ? out[j] * by : 0;
}

/* At most BLOCK persons: person k has rows start[k] to start[k + 1] of the view, or without `start` row k. */
static void add_persons(pass *self, const tacit_view *view, const size_t *start, size_t count) {
    const size_t d = self->design->width;
    memset(self->sum, 0, (d + d * d) * sizeof *self->sum);
    for (size_t k = 0; k < count; k++) {
        double *one = self->block + k * d;
        take_person(self, view, start != NULL ? start[k] : k, start != NULL ? start[k + 1] : k + 1, one);
        for (size_t j = 0; j < d; j++) self->sum[j] += one[j];
    }
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)d, (int)count, 1, self->block, (int)d, 1,
                self->square, (int)d);
    for (size_t j = 0; j < d + d * d; j++) self->total[j] += self->sum[j];
}

static tacit_status add_block(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    (void)first, (void)error;
    add_persons(context, block, NULL, block->rows.count);
    return TACIT_OK;
}

tacit_status dpcox_add_up(tacit_party *party, const dpcox_design *design, const dpcox_baseline *baseline,
                          const double *weights, double *out, tacit_error *error) {
    pass self = { .design = design, .weights = weights };
    person_rows all = { .count = 0 };
    const size_t d = design->width;
    tacit_status status;
    TACIT_CHECK(gradient_check_rows(party, error));
    TACIT_CHECK(time_check_rows(party, error));
    if (design->persons) TACIT_CHECK(person_rows_make(&all, party, error));
    TACIT_CHECK(begin(&self, party, baseline, most_rows(&all), error));
    tacit_blas_one_thread();
    for (size_t k = 0; k < all.count; k += BLOCK)
        add_persons(&self, &all.view, all.start + k, all.count - k < BLOCK ? all.count - k : BLOCK);
    if (!design->persons) TACIT_CHECK(tacit_dataset_map(&party->rows, BLOCK, add_block, &self, error));
    memcpy(out, self.total, d * sizeof *out);
    tacit_moments_pack(out + d, self.total + d, d);
    if (party->reducer != NULL)
        status = party->reducer->sum(party->reducer->context, out, d + tacit_moments_length(d), error);
cleanup:
    person_rows_clear(&all);
    clear(&self);
    return status;
}
