/*
 * Noise intervals of quantiles, by inverting a test. Let B(x) be the fitted rows below x, n those with a
 * value, and s(x) the known deviation of the noise in B(x) - p n. At the place x that an exact report would
 * name,
 *
 *   u(x) = (B(x) - p n) / s(x)
 *
 * is standard normal, whatever the rows are: all x with |u(x)| <= z. Noise in cells of few rows makes B fall
 * and rise again, so that these places have gaps; closing the gaps covers too often at z = 1.96. What the
 * closed set must reach to cover x is the smallest |u| from x on outwards, a number whose distribution
 * depends little on the rows. It is found by making the release again from smoothed counts, and z is its 95%
 * quantile: intervals of both columns of many values and of few cover as they say, which the quantiles of the
 * redrawn releases themselves do not.
 *
 * In the empty tail of a long range B wanders until the end. Counts made to ascend do not; where their |u|
 * passes z / ASCENDING the interval ends too, and the calibration includes that.
 *
 * A higher quantile is no smaller than a lower one: where the interval of a higher one begins before that of
 * a lower one, it is cut to begin there, and ends are cut likewise. What is left covers whenever both did.
 *
 * Redraws are seeded with the release itself: the same sums make the same report, and what so many draws lack
 * in exactness differs from release to release, not always to the same side.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/tables/describe_tables.h"
#include "rand/fast.h"

/* The 25th of 499 from the upper end. */
enum { DRAWS = 499, TAIL = 25 };
static const double ASCENDING = 0.75;

/* A quantile: p, its place in the smoothed counts with the noise there, and the noise at each border of
 * leaves. */
typedef struct sought {
    double p, place, deviation;
    double *border; /* leaves + 1 */
} sought;

typedef struct redrawing {
    const tacit_count_fit *fit;
    size_t leaves, size, count;
    double *model, *counts;         /* of a tree */
    double *below, *ascent, *pools; /* at work: leaves + 1 each */
    double *reach;                  /* DRAWS of each quantile */
    double *borders;
    sought *sought;
} redrawing;

/* The nearest counts that ascend, within 0 and `present`. */
static void ascend(const double *from, size_t count, double present, double *out, double *size) {
    size_t pools = 0;
    for (size_t k = 0; k < count; k++) {
        out[pools] = from[k];
        size[pools++] = 1;
        while (pools > 1 && out[pools - 2] >= out[pools - 1]) {
            double both = size[pools - 2] + size[pools - 1];
            out[pools - 2] = (out[pools - 2] * size[pools - 2] + out[pools - 1] * size[pools - 1]) / both;
            size[--pools - 1] = both;
        }
    }
    for (size_t k = count; pools > 0; pools--) {
        double value = fmin(fmax(out[pools - 1], 0), present);
        for (size_t j = (size_t)size[pools - 1]; j > 0; j--) out[--k] = value;
    }
    out[0] = 0;
    out[count - 1] = fmax(present, 0);
}

/* ---- the smoothed counts ---- */

/* What siblings differ by, shrunk (James and Stein 1961), or nothing where noise alone would explain it
 * (5%). */
static double kept(const double *cell, size_t b, double mean, double variance) {
    double squares = 0, free = (double)b - 1, chance = free + 1.645 * sqrt(2 * free);
    for (size_t k = 0; k < b; k++) squares += (cell[k] - mean) * (cell[k] - mean);
    return squares <= variance * chance ? 0 : fmax(0, 1 - (free - 2) * variance / squares);
}

/* From the root down; each level's counts are made of the smoothed ones above. */
static void smooth(redrawing *self) {
    const tacit_count_fit *fit = self->fit;
    size_t b = fit->tree.branch;
    for (size_t l = 1, cells = b; l <= fit->tree.depth; l++, cells *= b) {
        const double *cell = fit->cell + tacit_count_tree_level(fit->tree, l);
        double *out = self->model + tacit_count_tree_level(fit->tree, l);
        for (size_t i = 0; i < cells; i += b) {
            size_t up = l > 1 ? tacit_count_tree_level(fit->tree, l - 1) + i / b : 0;
            double from = (l > 1 ? fit->cell[up] : fit->present) / (double)b;
            double to = (l > 1 ? self->model[up] : fit->present) / (double)b;
            double part = kept(cell + i, b, from, fit->level[l]);
            for (size_t k = i; k < i + b; k++) out[k] = to + part * (cell[k] - from);
        }
    }
    const double *leaf = self->model + tacit_count_tree_level(fit->tree, fit->tree.depth);
    self->below[0] = 0;
    for (size_t k = 0; k < self->leaves; k++) self->below[k + 1] = self->below[k] + leaf[k];
    ascend(self->below, self->leaves + 1, fit->present, self->ascent, self->pools);
}

/* Counts of the whole tree from those below the borders of its leaves. */
static void fill_tree(redrawing *self) {
    tacit_count_tree tree = self->fit->tree;
    double *at = self->model;
    for (size_t l = 1, cells = tree.branch; l <= tree.depth; l++, cells *= tree.branch) {
        size_t width = self->leaves / cells;
        for (size_t i = 0; i < cells; i++) at[i] = self->ascent[(i + 1) * width] - self->ascent[i * width];
        at[cells] = self->fit->missing;
        at += cells + 1;
    }
}

/* Where this many rows are below, in leaves; the middle of such places. */
static double place_of(const double *below, size_t leaves, double rows) {
    size_t first = 0,
           last = 0; /* of the leaves before the first border with as many, and until the last with no more */
    for (size_t step = leaves; step > 0; step /= 2) {
        while (first + step < leaves && below[first + step] < rows) first += step;
        while (last + step < leaves && below[last + step] <= rows) last += step;
    }
    last++;
    double up = below[first + 1] - below[first], down = below[last] - below[last - 1];
    double low = (double)first + (up > 0 ? fmin(1, fmax(0, (rows - below[first]) / up)) : 0);
    double high = (double)(last - 1) + (down > 0 ? fmin(1, fmax(0, (rows - below[last - 1]) / down)) : 1);
    return (low + fmax(low, high)) / 2;
}

static size_t leaf_of(const redrawing *self, double place) {
    return (size_t)fmin(place, (double)self->leaves - 1);
}

static void seek(redrawing *self, sought *one, double p, double *border) {
    const tacit_count_fit *fit = self->fit;
    double place = place_of(self->ascent, self->leaves, p * fit->present);
    size_t leaf = leaf_of(self, place);
    *one = (sought){ p, place, tacit_count_fit_deviation(fit, leaf, place - (double)leaf, p), border };
    border[0] = tacit_count_fit_deviation(fit, 0, 0, p);
    for (size_t k = 0; k < self->leaves; k++) border[k + 1] = tacit_count_fit_deviation(fit, k, 1, p);
}

/* ---- the calibration ---- */

static double between(const double *below, size_t leaf, double within) {
    return below[leaf] * (1 - within) + below[leaf + 1] * within;
}

/* The z from which on the closed set covers the place. */
static double reach_of(const redrawing *self, const sought *one, const double *below, double present) {
    size_t leaf = leaf_of(self, one->place);
    double rows = one->p * present, u = between(below, leaf, one->place - (double)leaf) - rows;
    double sign = u < 0 ? -1 : 1, least = fabs(u) / one->deviation;
    size_t from = u < 0 ? 0 : leaf + 1, to = u < 0 ? leaf : self->leaves;
    for (size_t k = from; k <= to; k++) least = fmin(least, sign * (below[k] - rows) / one->border[k]);
    return least;
}

static tacit_status draw(redrawing *self, tacit_stream *stream, size_t number, tacit_error *error) {
    const tacit_count_fit *fit = self->fit;
    tacit_count_fit again;
    double deviation = sqrt(fit->variance), total = fit->present + fit->missing;
    total += sqrt(fit->total_variance) * tacit_fast_normal(stream);
    tacit_fast_normals(stream, self->counts, self->size);
    for (size_t j = 0; j < self->size; j++) self->counts[j] = self->model[j] + deviation * self->counts[j];
    TACIT_TRY(tacit_count_fit_make(&again, fit->tree, self->counts, fit->variance, total, fit->total_variance,
                                   error));
    ascend(again.below, self->leaves + 1, again.present, self->ascent, self->pools);
    for (size_t k = 0; k < self->count; k++) {
        const sought *one = &self->sought[k];
        self->reach[k * DRAWS + number] = fmax(reach_of(self, one, again.below, again.present),
                                               ASCENDING * reach_of(self, one, self->ascent, again.present));
    }
    tacit_count_fit_clear(&again);
    return TACIT_OK;
}

/* ---- the interval ---- */

/* Where in a leaf `sign` u passes z on the way out, as a share of the leaf. */
static double passing(const redrawing *self, const double *below, const sought *one, size_t leaf, double z,
                      double sign) {
    double inner = sign < 0 ? 1 : 0, outer = 1 - inner, rows = one->p * self->fit->present;
    for (int i = 0; i < 50; i++) {
        double middle = (inner + outer) / 2;
        bool outside = sign * (between(below, leaf, middle) - rows) >
                       z * tacit_count_fit_deviation(self->fit, leaf, middle, one->p);
        *(outside ? &outer : &inner) = middle;
    }
    return inner;
}

/* From the first border with u >= -z to the last with u <= z, and as far into the leaves beyond as that
 * holds. */
static void close_set(const redrawing *self, const double *below, const sought *one, double z, double *low,
                      double *high) {
    size_t first = 0, after = self->leaves + 1;
    double rows = one->p * self->fit->present, leaves = (double)self->leaves;
    while (first <= self->leaves && rows - below[first] > z * one->border[first]) first++;
    while (after > 0 && below[after - 1] - rows > z * one->border[after - 1]) after--;
    *low = first == 0 ? 0 : 1;
    if (first > 0 && first <= self->leaves)
        *low = ((double)(first - 1) + passing(self, below, one, first - 1, z, -1)) / leaves;
    *high = after == 0 ? 0 : 1;
    if (after > 0 && after <= self->leaves)
        *high = ((double)(after - 1) + passing(self, below, one, after - 1, z, 1)) / leaves;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static tacit_tree_quantile interval_of(redrawing *self, size_t k) {
    const sought *one = &self->sought[k];
    double *reach = self->reach + k * DRAWS, low = 0, high = 1, lower = 0, upper = 1;
    qsort(reach, DRAWS, sizeof *reach, compare);
    double z = fmax(0, reach[DRAWS - TAIL]), value = tacit_count_fit_quantile(self->fit, one->p, 0).value;
    close_set(self, self->fit->below, one, z, &low, &high);
    ascend(self->fit->below, self->leaves + 1, self->fit->present, self->ascent, self->pools);
    close_set(self, self->ascent, one, z / ASCENDING, &lower, &upper);
    return (tacit_tree_quantile){ value, fmin(fmax(low, lower), value), fmax(fmin(high, upper), value) };
}

/* The same for the same release. */
static tacit_stream stream_of(const tacit_count_fit *fit, size_t size) {
    uint64_t seed = 2010, bits;
    for (size_t j = 0; j < size; j++) {
        memcpy(&bits, &fit->cell[j], sizeof bits);
        seed = (seed ^ bits) * 0x100000001b3;
    }
    return tacit_stream_from_seed(seed);
}

static tacit_status find_all(redrawing *self, const double *p, tacit_tree_quantile *out, tacit_error *error) {
    tacit_stream stream = stream_of(self->fit, self->size);
    smooth(self);
    fill_tree(self);
    for (size_t k = 0; k < self->count; k++)
        seek(self, &self->sought[k], p[k], self->borders + k * (self->leaves + 1));
    for (size_t d = 0; d < DRAWS; d++) TACIT_TRY(draw(self, &stream, d, error));
    for (size_t k = 0; k < self->count; k++) out[k] = interval_of(self, k);
    for (size_t k = 1; k < self->count; k++) out[k].low = fmax(out[k].low, out[k - 1].low);
    for (size_t k = self->count - 1; k > 0; k--) out[k - 1].high = fmin(out[k - 1].high, out[k].high);
    return TACIT_OK;
}

tacit_status describe_quantile_intervals(const tacit_count_fit *fit, const double *p, size_t count,
                                         tacit_tree_quantile *out, tacit_error *error) {
    size_t leaves = tacit_count_tree_leaves(fit->tree), size = tacit_count_tree_size(fit->tree);
    redrawing self = { .fit = fit,
                       .leaves = leaves,
                       .size = size,
                       .count = count,
                       .model = TACIT_NEW(double, size),
                       .counts = TACIT_NEW(double, size),
                       .below = TACIT_NEW(double, leaves + 1),
                       .ascent = TACIT_NEW(double, leaves + 1),
                       .pools = TACIT_NEW(double, leaves + 1),
                       .reach = TACIT_NEW(double, count *DRAWS),
                       .borders = TACIT_NEW(double, count *(leaves + 1)),
                       .sought = TACIT_NEW(sought, count) };
    bool room = self.model != NULL && self.counts != NULL && self.below != NULL && self.ascent != NULL &&
                self.pools != NULL && self.reach != NULL && self.borders != NULL && self.sought != NULL;
    tacit_status status = room ? find_all(&self, p, out, error) : tacit_fail_memory(error);
    free(self.model);
    free(self.counts);
    free(self.below);
    free(self.ascent);
    free(self.pools);
    free(self.reach);
    free(self.borders);
    free(self.sought);
    return status;
}
