/*
 * dpcox's sums over rows. A row is a person: it is followed through the cells of time until it leaves, and
 * its score U is one vector, whatever happens on the way (dpcox.c has the equations).
 *
 * Rounding. Persons are added up in blocks of BLOCK, blocks in order: chains shorter than those that
 * gradient.h counts, of terms of norm at most 1, so that its GRADIENT_ROUNDING holds.
 */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/time/dpcox.h"
#include "num/blas.h"
#include "num/noisy/noisy_life.h"
#include "num/noisy/noisy_moments.h"

enum { BLOCK = 4096 };

static const double FARTHEST = 20; /* of a score, either way */

/* ---- counts ---- */

tacit_status dpcox_count(tacit_party *party, const dpcox_design *design, double *out, tacit_error *error) {
    const size_t cells = design->time.cells;
    time_design bare = design->time;
    bare.columns.width = 0; /* no sums over events */
    bare.columns.offset = SIZE_MAX;
    double *counts = TACIT_NEW(double, 2 * cells);
    if (counts == NULL) return tacit_fail_memory(error);
    tacit_status status = time_count(party, &bare, counts, NULL, NULL, error);
    if (status == TACIT_OK && party->reducer != NULL)
        status = party->reducer->sum(party->reducer->context, counts, 2 * cells, error);
    out[0] = (double)DPCOX_ROWS_WEIGHT * (double)(party->total_rows / DPCOX_ROWS_UNIT);
    out[1] = (double)DPCOX_ROWS_WEIGHT * (double)(party->total_rows % DPCOX_ROWS_UNIT);
    double *censored = out + DPCOX_HEAD, *events = censored + cells;
    for (size_t c = 0; c < cells; c++) {
        censored[c] = counts[2 * c] - counts[2 * c + 1];
        events[c] = counts[2 * c + 1];
    }
    tacit_life_encode(censored, cells);
    tacit_life_encode(events, cells);
    free(counts);
    return status;
}

/* ---- scores ---- */

typedef struct pass {
    const dpcox_design *design;
    const double *weights;
    double *step, *column;   /* of each cell: the hazard of a row with x.b = 0, and the clock's column */
    double *before, *moved;  /* up to each cell and not with it: sums of `step`, and of step times column */
    double *row, *x, *block; /* all features of a row, its columns, scores of a block */
    double *sum, *square, *total; /* of a block, and both of all */
} pass;

static void clear(pass *self) {
    free(self->step);
    free(self->row);
    free(self->total);
}

/* A number that is none, or below 0, is 0. */
static double sane(double value, double most) { return value > 0 ? fmin(value, most) : 0; }

double dpcox_clock_column(const dpcox_design *design, double clock) {
    static const double REACH = 0.5;
    return REACH * (2 * sane(clock, 1) - 1) / design->radius;
}

static tacit_status begin(pass *self, const tacit_party *party, const dpcox_baseline *baseline,
                          tacit_error *error) {
    const dpcox_design *design = self->design;
    const size_t cells = design->time.cells, d = design->width, features = party->plan->features;
    const double *at = self->weights + design->columns, most = 1e6;
    self->step = TACIT_NEW(double, 4 * (cells + 1));
    self->row = TACIT_NEW(double, features + design->columns + BLOCK * d);
    self->total = TACIT_NEW(double, 2 * (d + d * d));
    if (self->step == NULL || self->row == NULL || self->total == NULL) return tacit_fail_memory(error);
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

/* The first cell in which a row with this risk passes L, or the number of cells. */
static size_t stopping_cell(const pass *self, double risk) {
    size_t low = 0, high = self->design->time.cells;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (risk * self->before[middle + 1] > self->design->most)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The sum of a person's residuals over its cells; *along is that of residuals times the clock's column. */
static double follow(const pass *self, double risk, size_t leaves, bool event, double *along) {
    const size_t stop = stopping_cell(self, risk), at = stop < leaves ? stop : leaves;
    const double expected = risk * self->step[at];
    double factor = 1, residual = -expected;
    if (at == stop) factor = fmin(fmax((self->design->most - risk * self->before[at]) / expected, 0), 1);
    if (event && at == leaves) residual = expected > 1e-12 ? expected / expm1(expected) : 1;
    *along = factor * residual * self->column[at] - risk * self->moved[at];
    return factor * residual - risk * self->before[at];
}

/* U/L of a person, no longer than 1 as computed; one that is no number is 0. */
static void take_person(const pass *self, const tacit_view *block, size_t i, double *out) {
    const dpcox_design *design = self->design;
    const size_t p = design->columns;
    time_row one = time_take_row(&design->time, block, i, self->row, self->x);
    double score = time_offset(&design->time, self->row), along, square = 0;
    for (size_t j = 0; j < p; j++) {
        out[j] = self->x[j] * design->feature;
        score += out[j] * self->weights[j];
    }
    double risk = exp(fmin(fmax(score, -FARTHEST), FARTHEST));
    double pull = follow(self, risk, one.place, one.event > 0, &along) / design->most;
    for (size_t j = 0; j < p; j++) out[j] *= pull;
    out[p] = pull / design->radius;
    out[p + 1] = along / design->most;
    for (size_t j = 0; j < p + DPCOX_CLOCK; j++) square += out[j] * out[j];
    double by = square > 1 ? 1 / sqrt(square) : 1;
    by = isfinite(square) ? by * (1 - 1e-12) : 0;
    for (size_t j = 0; j < p + DPCOX_CLOCK; j++) out[j] = by > 0 ? out[j] * by : 0;
}

static tacit_status add_block(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    pass *self = context;
    const size_t d = self->design->width, count = block->rows.count;
    (void)first, (void)error;
    memset(self->sum, 0, (d + d * d) * sizeof *self->sum);
    for (size_t i = 0; i < count; i++) {
        double *one = self->block + i * d;
        take_person(self, block, i, one);
        for (size_t j = 0; j < d; j++) self->sum[j] += one[j];
    }
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)d, (int)count, 1, self->block, (int)d, 1,
                self->square, (int)d);
    for (size_t j = 0; j < d + d * d; j++) self->total[j] += self->sum[j];
    return TACIT_OK;
}

tacit_status dpcox_add_up(tacit_party *party, const dpcox_design *design, const dpcox_baseline *baseline,
                          const double *weights, double *out, tacit_error *error) {
    pass self = { .design = design, .weights = weights };
    const size_t d = design->width;
    tacit_status status;
    TACIT_CHECK(gradient_check_rows(party, error));
    TACIT_CHECK(time_check_rows(party, error));
    TACIT_CHECK(begin(&self, party, baseline, error));
    tacit_blas_one_thread();
    TACIT_CHECK(tacit_dataset_map(&party->rows, BLOCK, add_block, &self, error));
    memcpy(out, self.total, d * sizeof *out);
    tacit_moments_pack(out + d, self.total + d, d);
    if (party->reducer != NULL)
        status = party->reducer->sum(party->reducer->context, out, d + tacit_moments_length(d), error);
cleanup:
    clear(&self);
    return status;
}
