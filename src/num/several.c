#include "num/several.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/kernel/tiles.h"

size_t tacit_several_width(const tacit_several_shape *shape) {
    return shape->parallel ? shape->base - 1 + shape->scores : shape->base * shape->scores;
}

void tacit_several_expand(const tacit_several_shape *shape, const double *weights, double *out) {
    size_t base = shape->base;
    if (!shape->parallel) {
        memcpy(out, weights, shape->scores * base * sizeof *out);
        return;
    }
    for (size_t k = 0; k < shape->scores; k++) {
        for (size_t j = 0; j + 1 < base; j++) out[k * base + j] = -weights[j];
        out[k * base + base - 1] = weights[base - 1 + k];
    }
}

void tacit_several_gather(const tacit_several_shape *shape, const double *all, double *out) {
    size_t base = shape->base;
    if (!shape->parallel) {
        memcpy(out, all, shape->scores * base * sizeof *out);
        return;
    }
    memset(out, 0, (base - 1) * sizeof *out);
    for (size_t k = 0; k < shape->scores; k++) {
        for (size_t j = 0; j + 1 < base; j++) out[j] -= all[k * base + j];
        out[base - 1 + k] = all[k * base + base - 1];
    }
}

static size_t pair(size_t k, size_t l) { return k >= l ? k * (k + 1) / 2 + l : l * (l + 1) / 2 + k; }

tacit_status tacit_several_create(tacit_several_sums *out, const tacit_loss *loss,
                                  const tacit_several_shape *shape, tacit_row_weight weight,
                                  const double *weights, tacit_error *error) {
    *out = (tacit_several_sums){ .loss = loss, .shape = *shape, .weight = weight, .weights = SIZE_MAX };
    size_t m = shape->scores, base = shape->base, pairs = m * (m + 1) / 2, tiles = tacit_tiles_length(base);
    bool matrix = weight != TACIT_WEIGH_NONE;
    out->w = TACIT_NEW(double, m *base);
    out->gradient = TACIT_NEW(double, m *base);
    out->room = TACIT_NEW(double, TACIT_SUMS_BLOCK *(base + 1 + m + m * m));
    out->row = TACIT_NEW(const double *, TACIT_SUMS_BLOCK);
    out->tiles = matrix ? tacit_allocate_aligned(pairs * tiles, sizeof(double)) : NULL;
    out->packing = matrix ? tacit_allocate_aligned(tacit_tiles_room(base), sizeof(double)) : NULL;
    if (out->w == NULL || out->gradient == NULL || out->room == NULL || out->row == NULL ||
        (matrix && (out->tiles == NULL || out->packing == NULL))) {
        tacit_several_clear(out);
        return tacit_fail_memory(error);
    }
    if (matrix) memset(out->tiles, 0, pairs * tiles * sizeof(double));
    tacit_several_expand(shape, weights, out->w);
    return TACIT_OK;
}

void tacit_several_clear(tacit_several_sums *sums) {
    free(sums->w);
    free(sums->gradient);
    free(sums->room);
    free(sums->row);
    free(sums->tiles);
    free(sums->packing);
    *sums = (tacit_several_sums){ .loss = NULL };
}

static void take_rows(tacit_several_sums *sums, const tacit_rows *rows, const size_t *kept) {
    size_t base = sums->shape.base;
    for (size_t i = 0; i < rows->count; i++) {
        double *copy = sums->room + i * base;
        sums->row[i] = copy;
        if (kept == NULL) {
            tacit_rows_copy(rows, i, copy);
        } else if (rows->dense != NULL) {
            const double *lies = rows->dense + tacit_rows_stored(rows, i) * rows->stride;
            for (size_t j = 0; j < base; j++) copy[j] = lies[kept[j]];
        } else {
            const tacit_csr *csr = rows->sparse;
            size_t stored = tacit_rows_stored(rows, i), at = csr->start[stored];
            for (size_t j = 0; j < base; j++) {
                while (at < csr->start[stored + 1] && csr->column[at] < kept[j]) at++;
                bool has = at < csr->start[stored + 1] && csr->column[at] == kept[j];
                copy[j] = has ? csr->value[at] : 0;
            }
        }
    }
}

/* One pair of scores over a block: what multiplies x x^T in each row, with the sign that makes it
 * positive. */
static void add_pair(tacit_several_sums *sums, size_t k, size_t l, size_t count, const double *curvature,
                     double *weight) {
    size_t m = sums->shape.scores, tiles = tacit_tiles_length(sums->shape.base);
    double any = 0;
    for (size_t i = 0; i < count; i++) {
        double entry = sums->weight == TACIT_WEIGH_ONE ? k == l : curvature[(i * m + k) * m + l];
        weight[i] = k == l ? entry : -entry;
        any += weight[i];
    }
    if (any == 0) return;
    tacit_tiles_add(tacit_kernels_choose(), sums->row, weight, count, sums->shape.base, sums->packing,
                    sums->tiles + pair(k, l) * tiles);
}

/* A row's weight multiplies its loss and the derivatives of it. */
static void apply_weight(const tacit_several_sums *sums, const tacit_rows *rows, size_t i, double *loss,
                         double *slope, double *curvature) {
    const size_t m = sums->shape.scores;
    const double weight = sums->weights_scale * tacit_rows_cell(rows, i, sums->weights);
    *loss *= weight;
    for (size_t k = 0; k < m; k++) slope[k] *= weight;
    for (size_t k = 0; k < m * m; k++) curvature[k] *= weight;
}

void tacit_several_add(tacit_several_sums *sums, const tacit_rows *rows, const size_t *kept,
                       const double *y) {
    size_t n = rows->count, m = sums->shape.scores, base = sums->shape.base;
    double *weight = sums->room + TACIT_SUMS_BLOCK * base, *slope = weight + TACIT_SUMS_BLOCK;
    double *curvature = slope + TACIT_SUMS_BLOCK * m, score[TACIT_SEVERAL_SCORES];
    const tacit_kernels *kernels = tacit_kernels_choose();
    take_rows(sums, rows, kept);
    for (size_t i = 0; i < n; i++) {
        double loss;
        for (size_t k = 0; k < m; k++)
            kernels->dot_rows(sums->row + i, 1, base, sums->w + k * base, &score[k]);
        sums->loss->several(m, y[i], score, &loss, slope + i * m, curvature + i * m * m);
        if (sums->weights != SIZE_MAX)
            apply_weight(sums, rows, i, &loss, slope + i * m, curvature + i * m * m);
        sums->objective += loss;
        for (size_t k = 0; k < m; k++)
            kernels->add_rows(sums->row + i, 1, base, slope + i * m + k, sums->gradient + k * base);
    }
    for (size_t k = 0; sums->tiles != NULL && k < m; k++)
        for (size_t l = 0; l <= k; l++) add_pair(sums, k, l, n, curvature, weight);
}

/* Entry (i, j) of the block of scores k and l. */
static double block_at(const tacit_several_sums *sums, size_t k, size_t l, size_t i, size_t j) {
    size_t base = sums->shape.base;
    const double *tiles = sums->tiles + pair(k, l) * tacit_tiles_length(base);
    double entry = i >= j ? tacit_tiles_at(tiles, base, i, j) : tacit_tiles_at(tiles, base, j, i);
    return k == l ? entry : -entry;
}

static double parallel_at(const tacit_several_sums *sums, size_t row, size_t column) {
    size_t m = sums->shape.scores, slopes = sums->shape.base - 1;
    double sum = 0;
    if (column >= slopes) return block_at(sums, row - slopes, column - slopes, slopes, slopes);
    if (row >= slopes) {
        for (size_t l = 0; l < m; l++) sum -= block_at(sums, row - slopes, l, slopes, column);
        return sum;
    }
    for (size_t k = 0; k < m; k++)
        for (size_t l = 0; l < m; l++) sum += block_at(sums, k, l, row, column);
    return sum;
}

void tacit_several_pack(const tacit_several_sums *sums, double *out) {
    size_t base = sums->shape.base, width = tacit_several_width(&sums->shape);
    *out++ = sums->objective;
    tacit_several_gather(&sums->shape, sums->gradient, out);
    out += width;
    for (size_t i = 0; sums->tiles != NULL && i < width; i++)
        for (size_t j = 0; j <= i; j++)
            *out++ = sums->shape.parallel ? parallel_at(sums, i, j)
                                          : block_at(sums, i / base, j / base, i % base, j % base);
}
