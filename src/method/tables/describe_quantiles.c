/*
 * Noise intervals of quantiles. Noise in cells of few rows makes the counts below a border fall and rise again, so
 * that all places where the share of rows below may be p reach too far. Instead the release is made again from
 * what is known: the fitted counts made to ascend (the nearest that do, by pooling neighbours), the same noise on
 * the same tree, from a fixed seed, so that the same sums make the same report. Between the 2.5% and the 97.5%
 * quantile of what comes out lies what an exact report would say, in about 95% of all releases.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/tables/describe_tables.h"
#include "rand/fast.h"

/* The 25th of 1,000 from either end. The seed is fixed, so that what so many draws lack in exactness is the same in
 * every release: with 200 single deciles cover in 93.8 to 97.6%. */
enum { DRAWS = 1000, TAIL = 25, SEED = 2010 };

typedef struct redrawing {
    const tacit_count_fit *fit;
    size_t leaves, size;
    double *model, *counts; /* of a tree */
    double *below, *pool;   /* ascending counts below borders; and the sizes of pools, at work */
    double *found;          /* DRAWS of each quantile */
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

/* Where so many rows are below; the middle of such places. */
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
    return (low + fmax(low, high)) / 2 / (double)leaves;
}

/* Counts of the whole tree from those below the borders of its leaves. */
static void fill_tree(redrawing *self) {
    tacit_count_tree tree = self->fit->tree;
    double *at = self->model;
    for (size_t l = 1, cells = tree.branch; l <= tree.depth; l++, cells *= tree.branch) {
        size_t width = self->leaves / cells;
        for (size_t i = 0; i < cells; i++) at[i] = self->below[(i + 1) * width] - self->below[i * width];
        at[cells] = self->fit->missing;
        at += cells + 1;
    }
}

static tacit_status draw(redrawing *self, tacit_stream *stream, const double *p, size_t count, size_t number,
                         tacit_error *error) {
    const tacit_count_fit *fit = self->fit;
    tacit_count_fit again;
    double deviation = sqrt(fit->variance), total = fit->present + fit->missing;
    total += sqrt(fit->total_variance) * tacit_fast_normal(stream);
    for (size_t j = 0; j < self->size; j++)
        self->counts[j] = self->model[j] + deviation * tacit_fast_normal(stream);
    TACIT_TRY(tacit_count_fit_make(&again, fit->tree, self->counts, fit->variance, total, fit->total_variance,
                                   error));
    ascend(again.below, self->leaves + 1, again.present, self->below, self->pool);
    for (size_t k = 0; k < count; k++)
        self->found[k * DRAWS + number] = place_of(self->below, self->leaves, p[k] * again.present);
    tacit_count_fit_clear(&again);
    return TACIT_OK;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

tacit_status describe_quantile_intervals(const tacit_count_fit *fit, const double *p, size_t count,
                                         tacit_tree_quantile *out, tacit_error *error) {
    size_t leaves = tacit_count_tree_leaves(fit->tree), size = tacit_count_tree_size(fit->tree);
    tacit_stream stream = tacit_stream_from_seed(SEED);
    redrawing self = { .fit = fit,
                       .leaves = leaves,
                       .size = size,
                       .model = TACIT_NEW(double, size),
                       .counts = TACIT_NEW(double, size),
                       .below = TACIT_NEW(double, leaves + 1),
                       .pool = TACIT_NEW(double, leaves + 1),
                       .found = TACIT_NEW(double, count *DRAWS) };
    bool room = self.model != NULL && self.counts != NULL && self.below != NULL && self.pool != NULL;
    tacit_status status = room && self.found != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK) {
        ascend(fit->below, leaves + 1, fit->present, self.below, self.pool);
        fill_tree(&self);
    }
    for (size_t d = 0; d < DRAWS && status == TACIT_OK; d++)
        status = draw(&self, &stream, p, count, d, error);
    for (size_t k = 0; k < count && status == TACIT_OK; k++) {
        double *found = self.found + k * DRAWS;
        qsort(found, DRAWS, sizeof *found, compare);
        out[k].value = tacit_count_fit_quantile(fit, p[k], 0).value;
        out[k].low = fmin(found[TAIL - 1], out[k].value);
        out[k].high = fmax(found[DRAWS - TAIL], out[k].value);
    }
    free(self.model);
    free(self.counts);
    free(self.below);
    free(self.pool);
    free(self.found);
    return status;
}
