#include "num/estimator.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/blas.h"
#include "num/kernel/tiles.h"

enum { COLUMNS = 4 /* numbers of each row beside its features */, PIECE = 32 /* rows */ };

tacit_status tacit_sums_create(tacit_sums *out, const tacit_loss *loss, tacit_row_weight weight, size_t width,
                               const double *w, tacit_error *error) {
    *out = (tacit_sums){
        .loss = loss, .weight = weight, .width = width, .w = w, .fixed = SIZE_MAX, .weights = SIZE_MAX
    };
    bool matrix = weight != TACIT_WEIGH_NONE;
    out->kernels = tacit_kernels_choose();
    out->gradient = TACIT_NEW(double, width);
    out->matrix = matrix ? tacit_allocate_aligned(tacit_tiles_length(width), sizeof(double)) : NULL;
    out->packing = matrix ? tacit_allocate_aligned(tacit_tiles_room(width), sizeof(double)) : NULL;
    out->row = TACIT_NEW(const double *, TACIT_SUMS_BLOCK);
    out->room = TACIT_NEW(double, TACIT_SUMS_BLOCK *(width + COLUMNS));
    if (out->gradient != NULL && out->row != NULL && out->room != NULL &&
        (!matrix || (out->matrix != NULL && out->packing != NULL))) {
        if (matrix) memset(out->matrix, 0, tacit_tiles_length(width) * sizeof(double));
        tacit_blas_one_thread();
        return TACIT_OK;
    }
    tacit_sums_clear(out);
    return tacit_fail_memory(error);
}

void tacit_sums_clear(tacit_sums *sums) {
    free(sums->gradient);
    free(sums->matrix);
    free(sums->packing);
    free(sums->row);
    free(sums->room);
    sums->gradient = sums->matrix = sums->packing = sums->room = NULL;
    sums->row = NULL;
}

static double weight_of(tacit_row_weight weight, double slope, double curvature) {
    switch (weight) {
    case TACIT_WEIGH_NONE: return 0;
    case TACIT_WEIGH_CURVATURE: return curvature;
    case TACIT_WEIGH_SLOPE: return slope * slope;
    case TACIT_WEIGH_ONE: return 1;
    }
    return 0;
}

/* Have sums->row point to the features of each row: where it lies, or in the room. */
static void find_rows(tacit_sums *sums, const tacit_rows *rows, const size_t *kept) {
    size_t d = sums->width;
    if (kept != NULL && rows->cols == d) kept = NULL; /* ascending: it is each */
    for (size_t i = 0; i < rows->count; i++) {
        double *copy = sums->room + i * d;
        size_t stored = tacit_rows_stored(rows, i);
        const double *lies = rows->dense != NULL ? rows->dense + stored * rows->stride : NULL;
        sums->row[i] = lies != NULL && kept == NULL ? lies : copy;
        if (lies != NULL && kept != NULL)
            for (size_t j = 0; j < d; j++) copy[j] = lies[kept[j]];
        if (lies != NULL) continue;
        if (kept == NULL) {
            tacit_rows_copy(rows, i, copy);
            continue;
        }
        const tacit_csr *csr = rows->sparse;
        size_t at = csr->start[stored], end = csr->start[stored + 1];
        for (size_t j = 0; j < d; j++) {
            while (at < end && csr->column[at] < kept[j]) at++;
            copy[j] = at < end && csr->column[at] == kept[j] ? csr->value[at] : 0;
        }
    }
}

/* Weights multiply the loss of a row and its derivatives. */
static void apply_weights(const tacit_sums *sums, const tacit_rows *rows, size_t first, size_t count,
                          double *loss, double *slope, double *curvature) {
    for (size_t i = first; i < first + count; i++) {
        double weight = sums->weights_scale * tacit_rows_cell(rows, i, sums->weights);
        loss[i] *= weight;
        slope[i] *= weight;
        curvature[i] *= weight;
    }
}

/* Rows come from memory once: the gradient is summed over pieces that the nearest cache still has from the
 * scores. */
void tacit_sums_add(tacit_sums *sums, const tacit_rows *rows, const size_t *kept, const double *y) {
    size_t n = rows->count, d = sums->width;
    double *score = sums->room + TACIT_SUMS_BLOCK * d, *loss = score + TACIT_SUMS_BLOCK;
    double *slope = loss + TACIT_SUMS_BLOCK, *curvature = slope + TACIT_SUMS_BLOCK;
    find_rows(sums, rows, kept);
    for (size_t i = 0; i < n; i += PIECE) {
        size_t count = n - i < PIECE ? n - i : PIECE;
        sums->kernels->dot_rows(sums->row + i, count, d, sums->w, score + i);
        for (size_t k = i; sums->fixed != SIZE_MAX && k < i + count; k++)
            score[k] += sums->fixed_weight * tacit_rows_cell(rows, k, sums->fixed);
        sums->loss->rows(sums->kernels, sums->loss->shape_default, count, y + i * sums->loss->columns,
                         score + i, loss + i, slope + i, curvature + i);
        if (sums->weights != SIZE_MAX) apply_weights(sums, rows, i, count, loss, slope, curvature);
        sums->kernels->add_rows(sums->row + i, count, d, slope + i, sums->gradient);
        for (size_t k = 0; k < count; k++) sums->objective += loss[i + k];
    }
    if (sums->matrix == NULL) return;
    double *weight = curvature;
    for (size_t i = 0; i < n; i++) weight[i] = weight_of(sums->weight, slope[i], curvature[i]);
    tacit_tiles_add(sums->kernels, sums->row, weight, n, d, sums->packing, sums->matrix);
}

size_t tacit_sums_length(tacit_row_weight weight, size_t width) {
    return 1 + width + (weight != TACIT_WEIGH_NONE ? width * (width + 1) / 2 : 0);
}

void tacit_sums_pack(const tacit_sums *sums, double *out) {
    size_t d = sums->width, at = 0;
    out[at++] = sums->objective;
    for (size_t j = 0; j < d; j++) out[at++] = sums->gradient[j];
    for (size_t i = 0; sums->matrix != NULL && i < d; i++)
        for (size_t j = 0; j <= i; j++) out[at++] = tacit_tiles_at(sums->matrix, d, i, j);
}

size_t tacit_cholesky_factor(double *a, size_t width, double tolerance, double *scale, bool *deficient) {
    size_t missing = 0;
    for (size_t j = 0; j < width; j++) {
        double diagonal = a[j * width + j];
        scale[j] = diagonal > 0 && isfinite(diagonal) ? 1 / sqrt(diagonal) : 0;
    }
    for (size_t i = 0; i < width; i++)
        for (size_t j = 0; j <= i; j++) a[i * width + j] *= scale[i] * scale[j];
    for (size_t j = 0; j < width; j++) {
        double *row = a + j * width;
        double pivot = row[j] - cblas_ddot((int)j, row, 1, row, 1);
        deficient[j] = !(pivot > tolerance);
        missing += deficient[j];
        row[j] = deficient[j] ? 0 : sqrt(pivot);
        for (size_t i = j + 1; i < width; i++) {
            double *below = a + i * width;
            below[j] = deficient[j] ? 0 : (below[j] - cblas_ddot((int)j, row, 1, below, 1)) / row[j];
        }
    }
    return missing;
}

void tacit_cholesky_solve(const double *factor, size_t width, const double *scale, double *b) {
    for (size_t i = 0; i < width; i++) b[i] *= scale[i];
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)width, factor, (int)width, b, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)width, factor, (int)width, b, 1);
    for (size_t i = 0; i < width; i++) b[i] *= scale[i];
}
