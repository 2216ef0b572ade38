/*
 * Noise intervals of quantiles, by inverting a test. Let B(x) be the fitted rows below x, n those with a
 * value, and s(x) the known deviation of the noise in B(x) - p n. At the place x that an exact report would
 * name,
 *
 *   u(x) = (B(x) - p n) / s(x)
 *
 * is standard normal, whatever the rows are: all x with |u(x)| <= z. Noise in cells of few rows makes B fall
 * and rise again, so that these places have gaps; closing the gaps covers too often at z = 1.96. What the
 * closed set must reach to cover x is the smallest |u| from x on outwards, r(x) <= |u(x)|. Its law follows
 * from how the rows rise on both sides of x: nearly that of |u| where they rise steeply, as within the cell
 * of a value that many rows have, and far below it in the gap between two such values. So z is a function of
 * the place: z(x) is the 95% quantile of r(x) in releases made again from smoothed counts, with the rows that
 * these have below x in place of p n. The interval holds the places with r(x) <= z(x), and what is between
 * them.
 *
 * How far it can be wrong. With z = 1.96 everywhere at least 95% are covered whatever the rows are, since
 * r(x) <= |u(x)|. A smaller z(x) rests on the smoothed counts: on whether cells near x are empty, which noise
 * larger than the rows of a cell hides. No interval made of B alone can do without such a guess: two sets of
 * rows, one with gaps about x and one without, whose cells differ by less than the noise, have nearly the
 * same releases and another law of r(x). tests/method/test_describe_quantiles.c has what it comes to.
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
enum { DRAWS = 499, TAIL = 25, ROUNDS = 9 };
static const double ASCENDING = 0.75, NEAR = 0.005;

/* A quantile: p, its place in the smoothed counts, and the noise at each border of leaves. */
typedef struct sought {
    double p, place;
    double *border; /* leaves + 1 */
} sought;

typedef struct redrawing {
    const tacit_count_fit *fit;
    size_t leaves, size;
    double *model, *counts; /* of a tree */
    double *smooth; /* the model's rows below each border of leaves: leaves + 1, as those that follow */
    double *ascent, *pools, *border;
    double *drawn;     /* DRAWS of: rows below each border, and the same made to ascend */
    double most[TAIL]; /* of the reaches at a place, the largest; ascending */
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
    double *below = self->ascent; /* not yet at work */
    below[0] = 0;
    for (size_t k = 0; k < self->leaves; k++) below[k + 1] = below[k] + leaf[k];
    ascend(below, self->leaves + 1, fit->present, self->smooth, self->pools);
}

/* Counts of the whole tree from those below the borders of its leaves. */
static void fill_tree(redrawing *self) {
    tacit_count_tree tree = self->fit->tree;
    double *at = self->model;
    for (size_t l = 1, cells = tree.branch; l <= tree.depth; l++, cells *= tree.branch) {
        size_t width = self->leaves / cells;
        for (size_t i = 0; i < cells; i++) at[i] = self->smooth[(i + 1) * width] - self->smooth[i * width];
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

static sought seek(const redrawing *self, double p) {
    const tacit_count_fit *fit = self->fit;
    sought one = { p, place_of(self->smooth, self->leaves, p * fit->present), self->border };
    one.border[0] = tacit_count_fit_deviation(fit, 0, 0, p);
    for (size_t k = 0; k < self->leaves; k++) one.border[k + 1] = tacit_count_fit_deviation(fit, k, 1, p);
    return one;
}

/* ---- the calibration ---- */

static double between(const double *below, size_t leaf, double within) {
    return below[leaf] * (1 - within) + below[leaf + 1] * within;
}

static tacit_status draw(redrawing *self, tacit_stream *stream, size_t number, tacit_error *error) {
    const tacit_count_fit *fit = self->fit;
    tacit_count_fit again;
    const size_t borders = self->leaves + 1;
    double deviation = sqrt(fit->variance), total = fit->present + fit->missing;
    double *out = self->drawn + number * 2 * borders;
    total += sqrt(fit->total_variance) * tacit_fast_normal(stream);
    tacit_fast_normals(stream, self->counts, self->size);
    for (size_t j = 0; j < self->size; j++) self->counts[j] = self->model[j] + deviation * self->counts[j];
    TACIT_TRY(tacit_count_fit_make(&again, fit->tree, self->counts, fit->variance, total, fit->total_variance,
                                   error));
    memcpy(out, again.below, borders * sizeof *out);
    ascend(again.below, borders, again.present, out + borders, self->pools);
    tacit_count_fit_clear(&again);
    return TACIT_OK;
}

/* The z from which on the closed set covers a place, where `u` is the rows below it that are too many. */
static double reach_of(const redrawing *self, const sought *one, size_t leaf, const double *below, double u,
                       double deviation, double rows) {
    double sign = u < 0 ? -1 : 1, least = fabs(u) / deviation;
    size_t from = u < 0 ? 0 : leaf + 1, to = u < 0 ? leaf : self->leaves;
    for (size_t k = from; k <= to; k++) least = fmin(least, sign * (below[k] - rows) / one->border[k]);
    return least;
}

/* Keep the largest. */
static void keep(double most[TAIL], double reach) {
    size_t k = 0;
    for (; k + 1 < TAIL && most[k + 1] < reach; k++) most[k] = most[k + 1];
    most[k] = reach;
}

/* z at a place, in leaves. A reach is at most |u| there, so most draws need not be followed outwards. */
static double z_at(redrawing *self, const sought *one, double place) {
    const size_t leaf = leaf_of(self, place), borders = self->leaves + 1;
    const double within = place - (double)leaf, smooth = between(self->smooth, leaf, within);
    const double deviation = tacit_count_fit_deviation(self->fit, leaf, within, one->p);
    for (size_t k = 0; k < TAIL; k++) self->most[k] = 0;
    for (size_t d = 0; d < DRAWS; d++) {
        const double *below = self->drawn + d * 2 * borders, *ascent = below + borders;
        double rows = smooth + one->p * (below[self->leaves] - self->smooth[self->leaves]);
        double u = between(below, leaf, within) - rows, v = between(ascent, leaf, within) - rows;
        if (fmax(fabs(u), ASCENDING * fabs(v)) <= self->most[0] * deviation) continue;
        double reach = reach_of(self, one, leaf, below, u, deviation, rows);
        double ascending = reach_of(self, one, leaf, ascent, v, deviation, rows);
        reach = fmax(reach, ASCENDING * ascending);
        if (reach > self->most[0]) keep(self->most, reach);
    }
    return self->most[0];
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

/* One end of the closed sets, as a place in [0, 1]; outwards as z grows. */
static double end_at(const redrawing *self, const sought *one, bool upper, double z) {
    double low, high, lower, higher;
    close_set(self, self->fit->below, one, z, &low, &high);
    close_set(self, self->ascent, one, z / ASCENDING, &lower, &higher);
    return upper ? fmin(high, higher) : fmax(low, lower);
}

/* The end for the largest z that is no larger than the z of its own end, which is that of the last place with
 * r <= z. Where the end jumps across a gap as z grows, it is the one before the gap. */
static double end_of(redrawing *self, const sought *one, bool upper) {
    double within = 0, beyond = 2.5, z = 1.959964;
    for (int i = 0; i < ROUNDS && beyond - within > NEAR; i++) {
        double found = z_at(self, one, end_at(self, one, upper, z) * (double)self->leaves);
        *(found >= z ? &within : &beyond) = z;
        z = found > within + NEAR && found < beyond - NEAR ? found : (within + beyond) / 2;
    }
    return end_at(self, one, upper, within);
}

static tacit_tree_quantile interval_of(redrawing *self, double p) {
    const sought one = seek(self, p);
    double value = tacit_count_fit_quantile(self->fit, p, 0).value;
    return (tacit_tree_quantile){ value, fmin(end_of(self, &one, false), value),
                                  fmax(end_of(self, &one, true), value) };
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

static tacit_status find_all(redrawing *self, const double *p, size_t count, tacit_tree_quantile *out,
                             tacit_error *error) {
    tacit_stream stream = stream_of(self->fit, self->size);
    smooth(self);
    fill_tree(self);
    for (size_t d = 0; d < DRAWS; d++) TACIT_TRY(draw(self, &stream, d, error));
    ascend(self->fit->below, self->leaves + 1, self->fit->present, self->ascent, self->pools);
    for (size_t k = 0; k < count; k++) out[k] = interval_of(self, p[k]);
    for (size_t k = 1; k < count; k++) out[k].low = fmax(out[k].low, out[k - 1].low);
    for (size_t k = count - 1; k > 0; k--) out[k - 1].high = fmin(out[k - 1].high, out[k].high);
    return TACIT_OK;
}

tacit_status describe_quantile_intervals(const tacit_count_fit *fit, const double *p, size_t count,
                                         tacit_tree_quantile *out, tacit_error *error) {
    size_t leaves = tacit_count_tree_leaves(fit->tree), size = tacit_count_tree_size(fit->tree);
    redrawing self = { .fit = fit,
                       .leaves = leaves,
                       .size = size,
                       .model = TACIT_NEW(double, size),
                       .counts = TACIT_NEW(double, size),
                       .smooth = TACIT_NEW(double, leaves + 1),
                       .ascent = TACIT_NEW(double, leaves + 1),
                       .pools = TACIT_NEW(double, leaves + 1),
                       .border = TACIT_NEW(double, leaves + 1),
                       .drawn = TACIT_NEW(double, DRAWS * 2 * (leaves + 1)) };
    bool room = self.model != NULL && self.counts != NULL && self.smooth != NULL && self.ascent != NULL &&
                self.pools != NULL && self.border != NULL && self.drawn != NULL;
    tacit_status status = room ? find_all(&self, p, count, out, error) : tacit_fail_memory(error);
    free(self.model);
    free(self.counts);
    free(self.smooth);
    free(self.ascent);
    free(self.pools);
    free(self.border);
    free(self.drawn);
    return status;
}
