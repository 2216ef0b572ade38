/*
 * The K nearest rows vote. Nothing is copied in training: the rows are looked at again for each block of
 * points, so a classifier costs a few bytes.
 *
 * Nearest by Euclidean distance, compared through |t|^2 - 2 x.t, which differs from |x - t|^2 by a constant
 * of the point. That is rounded to a grid of 2^-40, so that rows equally far stay so whatever the order of
 * additions; of these the earlier row is nearer. Among classes with equal votes that of the nearest row wins.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/classifier/classifier_kinds.h"
#include "num/kernel/kernel.h"

enum {
    FALLBACK = 5,
    POINTS = 256,          /* in a block: their neighbours so far are kept */
    ROWS = 64,             /* in a block: stay in the cache while the points pass by */
    EXPANDED = 1024 * 1024 /* at most this many numbers of sparse rows are expanded at a time */
};

typedef struct knn {
    tacit_classifier base;
    tacit_view rows;
    size_t neighbours;
} knn;

typedef struct neighbour {
    double distance;
    uint32_t row;
} neighbour;

/* A search's working space. */
typedef struct search {
    const knn *knn;
    const tacit_kernels *kernels;
    size_t most_rows;        /* in a block */
    double *expanded;        /* a block of sparse rows, dense */
    const double *row[ROWS]; /* of the block */
    double square[ROWS];     /* |t|^2 */
    double product[ROWS];    /* x.t */
    neighbour *nearest;      /* POINTS x neighbours, nearest first */
    size_t found;            /* of each point of the block so far */
    size_t *votes;           /* a class */
} search;

static tacit_status train_knn(tacit_classifier **out, const char *argument, const tacit_view *rows,
                              const tacit_training *training, tacit_error *error) {
    (void)training;
    knn *self = TACIT_NEW(knn, 1);
    if (self == NULL) return tacit_fail_memory(error);
    self->rows = *rows;
    size_t few = (size_t)sqrt((double)rows->rows.count); /* of six rows, five are not near */
    self->neighbours = classifier_number(argument, few < FALLBACK ? few : FALLBACK);
    if (self->neighbours > rows->rows.count) self->neighbours = rows->rows.count;
    *out = &self->base;
    return TACIT_OK;
}

/* ---- distances ---- */

/* Pointers to the rows of a block, sparse ones expanded, and their squared norms. */
static void load_rows(search *s, size_t begin, size_t count) {
    const tacit_rows *rows = &s->knn->rows.rows;
    for (size_t r = 0; r < count; r++) {
        if (rows->dense != NULL) {
            s->row[r] = rows->dense + tacit_rows_stored(rows, begin + r) * rows->stride;
        } else {
            s->row[r] = s->expanded + r * rows->cols;
            tacit_rows_add(rows, begin + r, 1, s->expanded + r * rows->cols);
        }
        double norm = tacit_rows_norm(rows, begin + r);
        s->square[r] = norm * norm;
    }
}

/* Back to zeros, touching only what load_rows touched. */
static void unload_rows(search *s, size_t begin, size_t count) {
    const tacit_rows *rows = &s->knn->rows.rows;
    for (size_t r = 0; r < count && rows->dense == NULL; r++)
        for (classifier_entries at = classifier_entries_of(rows, begin + r); classifier_entries_next(&at);)
            s->expanded[r * rows->cols + at.column] = 0;
}

static void find_products(search *s, const tacit_rows *points, size_t i, size_t count) {
    if (points->dense != NULL) {
        const double *x = points->dense + tacit_rows_stored(points, i) * points->stride;
        s->kernels->dot_rows(s->row, count, points->cols, x, s->product);
        return;
    }
    for (size_t r = 0; r < count; r++) s->product[r] = tacit_rows_dot(points, i, s->row[r]);
}

/* Numbers from 2^12 to 2^13 are 2^-40 apart; the addition rounds. Monotone for any distance. */
static double on_grid(double distance) {
    const double shift = 0x1.8p12;
    return (distance + shift) - shift;
}

/* Insert into the list of the nearest; rows come in ascending order, so an equal one goes behind. */
static void insert(neighbour *nearest, size_t found, size_t most, double distance, uint32_t row) {
    size_t at = found < most ? found : most - 1;
    for (; at > 0 && distance < nearest[at - 1].distance; at--) nearest[at] = nearest[at - 1];
    nearest[at] = (neighbour){ distance, row };
}

/* All points of a block against all rows of a block. */
static void meet(search *s, const tacit_rows *points, size_t first_row, size_t count) {
    size_t most = s->knn->neighbours;
    for (size_t i = 0; i < points->count; i++) {
        neighbour *nearest = s->nearest + i * most;
        find_products(s, points, i, count);
        for (size_t r = 0; r < count; r++) {
            size_t found = s->found + r < most ? s->found + r : most;
            double distance = on_grid(s->square[r] - 2 * s->product[r]);
            if (found < most || distance < nearest[most - 1].distance)
                insert(nearest, found, most, distance, (uint32_t)(first_row + r));
        }
    }
    s->found += count;
}

/* ---- voting ---- */

static int32_t vote(const search *s, const neighbour *nearest) {
    const tacit_view *rows = &s->knn->rows;
    int32_t best = tacit_view_label(rows, nearest[0].row);
    memset(s->votes, 0, rows->classes * sizeof *s->votes);
    for (size_t n = 0; n < s->knn->neighbours; n++) s->votes[tacit_view_label(rows, nearest[n].row)]++;
    for (size_t n = 1; n < s->knn->neighbours; n++) {
        int32_t label = tacit_view_label(rows, nearest[n].row);
        if (s->votes[label] > s->votes[best]) best = label;
    }
    return best;
}

static void label_block(search *s, const tacit_rows *points, int32_t *labels) {
    size_t rows = s->knn->rows.rows.count;
    s->found = 0;
    for (size_t begin = 0; begin < rows; begin += s->most_rows) {
        size_t count = rows - begin < s->most_rows ? rows - begin : s->most_rows;
        load_rows(s, begin, count);
        meet(s, points, begin, count);
        unload_rows(s, begin, count);
    }
    for (size_t i = 0; i < points->count; i++) labels[i] = vote(s, s->nearest + i * s->knn->neighbours);
}

static tacit_status predict_knn(const tacit_classifier *base, const tacit_rows *points, int32_t *labels,
                                tacit_error *error) {
    const knn *self = (const knn *)base;
    search s = { .knn = self, .kernels = tacit_kernels_choose(), .most_rows = ROWS };
    tacit_status status = TACIT_OK;
    bool sparse = self->rows.rows.dense == NULL;
    while (sparse && s.most_rows > 1 && s.most_rows * base->features > EXPANDED) s.most_rows /= 2;
    s.expanded = TACIT_NEW(double, sparse ? s.most_rows * base->features : 1);
    s.nearest = TACIT_NEW(neighbour, POINTS * self->neighbours);
    s.votes = TACIT_NEW(size_t, base->classes);
    if (s.expanded == NULL || s.nearest == NULL || s.votes == NULL) {
        status = tacit_fail_memory(error);
        goto cleanup;
    }
    for (size_t begin = 0; begin < points->count; begin += POINTS) {
        size_t count = points->count - begin < POINTS ? points->count - begin : POINTS;
        tacit_rows block = tacit_rows_slice(points, begin, count);
        label_block(&s, &block, labels + begin);
    }
cleanup:
    free(s.expanded);
    free(s.nearest);
    free(s.votes);
    return status;
}

static void clear_knn(tacit_classifier *base) { (void)base; }

const classifier_kind classifier_knn = {
    .name = "knn",
    .shown = "knn[:K]",
    .most = 1000000,
    .train = train_knn,
    .predict = predict_knn,
    .clear = clear_knn,
};
