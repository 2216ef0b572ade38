/*
 * bias=firth in method estimate: maximise l(w) + log|I(w)|/2, I the information, in place of l (Firth 1993;
 * Jeffreys' prior; Kosmidis & Firth 2009). The estimate is finite whenever the columns are independent, and
 * its bias is of order 1/n^2. The score is that of l with an adjustment of each row,
 *
 *   sum_i (y_i - mu_i + h_i k_i/2) x_i,   h_i = v_i x_i.I^-1 x_i,  k_i = third cumulant over variance v_i
 *
 * (1 - 2 p_i for logistic, 1 for poisson), where h_i, the leverage, is of all parties' rows together. So the
 * question carries Q = I^-1, which the coordinator has from the sums of the accepted point, and a party's
 * sum of gradients has its rows' adjustments in it already: no more numbers are opened than without. Q is one
 * step old; at the end the steps vanish, and it is that of the estimate. Where a step does not descend, or
 * steps hardly shrink, the point is asked again with its own Q (estimate.c), so that the direction is one of
 * descent: with few rows every point is asked twice, with many none. The coordinator has log|I| at each point
 * from the opened sums alone.
 *
 * Q comes from somebody who may lie. A leverage is within [0, 1] at the right Q, and is held there at any
 * other, so a row's part is at most 3/2 of what it is without (logistic); and what multiplies x, the
 * adjustment by itself and in the gradient, must rest on as many rows as the owner's minimum
 * (estimate_bounds.c).
 */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/exact/estimate.h"
#include "num/blas.h"

/* ---- the coordinator's half ---- */

bool tacit_firth_wanted(const tacit_plan *plan) {
    return tacit_estimate_settings_of(plan)->bias == TACIT_ESTIMATE_FIRTH;
}

tacit_status tacit_firth_check(const tacit_plan *plan, const tacit_family *family, tacit_error *error) {
    if (!tacit_firth_wanted(plan)) return TACIT_OK;
    if (family->skewness == NULL)
        return tacit_fail(
            error, TACIT_USAGE,
            "bias=firth is for the families logistic and poisson, and this study's is %s: leave it out",
            family->name);
    if (tacit_estimate_settings_of(plan)->optimiser != TACIT_ESTIMATE_NEWTON)
        return tacit_fail(error, TACIT_USAGE,
                          "bias=firth needs the information matrix in every round: choose optimiser=newton");
    if (plan->lambda > 0)
        return tacit_fail(error, TACIT_USAGE,
                          "bias=firth is a penalty of its own: leave lambda out, or say bias=none");
    return TACIT_OK;
}

size_t tacit_firth_triangle(size_t width) { return width * (width + 1) / 2; }

tacit_status tacit_firth_create(tacit_firth *out, size_t width, tacit_error *error) {
    *out = (tacit_firth){ .width = width };
    out->inverse = TACIT_NEW(double, tacit_firth_triangle(width));
    out->factor = TACIT_NEW(double, width *width);
    out->scale = TACIT_NEW(double, 2 * width);
    out->deficient = TACIT_NEW(bool, width);
    if (out->inverse != NULL && out->factor != NULL && out->scale != NULL && out->deficient != NULL)
        return TACIT_OK;
    tacit_firth_clear(out);
    return tacit_fail_memory(error);
}

void tacit_firth_clear(tacit_firth *self) {
    free(self->inverse);
    free(self->factor);
    free(self->scale);
    free(self->deficient);
    *self = (tacit_firth){ .width = 0 };
}

static bool factor_matrix(tacit_firth *self, const double *matrix) {
    static const double SINGULAR = 1e-14; /* of a column's square that the columns before it leave */
    memcpy(self->factor, matrix, self->width * self->width * sizeof *matrix);
    return tacit_cholesky_factor(self->factor, self->width, SINGULAR, self->scale, self->deficient) == 0;
}

bool tacit_firth_invert(tacit_firth *self, const double *matrix, double times) {
    const size_t d = self->width;
    double *column = self->scale + d;
    if (!factor_matrix(self, matrix)) return false;
    for (size_t i = 0, at = 0; i < d; at += ++i) {
        memset(column, 0, d * sizeof *column);
        column[i] = 1 / times;
        tacit_cholesky_solve(self->factor, d, self->scale, column);
        memcpy(self->inverse + at, column, (i + 1) * sizeof *column);
    }
    return true;
}

double tacit_firth_penalty(tacit_firth *self, const double *matrix) {
    const size_t d = self->width;
    double sum = 0;
    if (!factor_matrix(self, matrix)) return -INFINITY;
    for (size_t j = 0; j < d; j++) sum += log(self->factor[j * d + j]) - log(self->scale[j]);
    return sum; /* of the roots of the pivots: half of the logarithm of the determinant */
}

/* ---- the party's half ---- */

enum { BLOCK = 64, PART_BLOCKS = 512, MOST_PARTS = 32 };

typedef struct parts {
    const tacit_row_sums *how;
    const double *inverse; /* width x width */
    const tacit_view *rows;
    size_t blocks, count;
    double *sums; /* of each part: sizes and gradient */
} parts;

/* The features of the fit of a block's rows, one after the other. */
static void gather(const tacit_row_sums *how, const tacit_rows *rows, double *copy, double *out) {
    for (size_t i = 0; i < rows->count; i++) {
        tacit_rows_copy(rows, i, copy);
        for (size_t j = 0; j < how->width; j++)
            out[i * how->width + j] = copy[how->kept != NULL ? how->kept[j] : j];
    }
}

static double adjustment(const tacit_family *family, double score, double curvature, double square) {
    const double leverage = fmin(1, fmax(0, curvature * square));
    return 0.5 * leverage * family->skewness(family->mean(score));
}

static void add_row(double *sums, size_t width, const double *x, double slope, double adjusted) {
    sums[TACIT_FIRTH_ADJUSTED] += fabs(adjusted);
    sums[TACIT_FIRTH_ADJUSTED_SQUARED] += adjusted * adjusted;
    sums[TACIT_FIRTH_SLOPES] += fabs(slope - adjusted);
    sums[TACIT_FIRTH_SLOPES_SQUARED] += (slope - adjusted) * (slope - adjusted);
    cblas_daxpy((int)width, -adjusted, x, 1, sums + TACIT_FIRTH_SIZES, 1);
}

/* room: of BLOCK rows twice, and one with all features. */
static void add_block(const parts *all, const tacit_view *block, double *room, double *sums) {
    const tacit_row_sums *how = all->how;
    const tacit_loss *loss = &how->family->loss;
    const size_t d = how->width, count = block->rows.count;
    double *x = room, *product = room + BLOCK * d;
    double y[BLOCK * TACIT_RESPONSE_COLUMNS], score[BLOCK], lost[BLOCK], slope[BLOCK], curvature[BLOCK];
    gather(how, &block->rows, product + BLOCK * d, x);
    for (size_t i = 0; i < count; i++) {
        how->response(how->context, block, i, y + i * loss->columns);
        score[i] =
            cblas_ddot((int)d, x + i * d, 1, how->w, 1) + tacit_row_offset(how->design, &block->rows, i);
    }
    loss->rows(tacit_kernels_choose(), loss->shape_default, count, y, score, lost, slope, curvature);
    cblas_dsymm(CblasRowMajor, CblasRight, CblasLower, (int)count, (int)d, 1, all->inverse, (int)d, x, (int)d,
                0, product, (int)d);
    for (size_t i = 0; i < count; i++) {
        double square = cblas_ddot((int)d, x + i * d, 1, product + i * d, 1);
        double weight = tacit_row_weight_of(how->design, &block->rows, i);
        add_row(sums, d, x + i * d, weight * slope[i],
                adjustment(how->family, score[i], weight * curvature[i], square));
    }
}

static tacit_status sum_parts(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    const parts *all = context;
    const size_t d = all->how->width;
    (void)worker;
    double *room = TACIT_NEW(double, 2 * BLOCK * d + all->rows->rows.cols);
    if (room == NULL) return tacit_fail_memory(error);
    for (size_t part = begin; part < end; part++) {
        const size_t last = (part + 1) * all->blocks / all->count;
        for (size_t b = part * all->blocks / all->count; b < last; b++) {
            const size_t first = b * BLOCK, left = all->rows->rows.count - first;
            tacit_view block = tacit_view_slice(all->rows, first, left < BLOCK ? left : BLOCK);
            add_block(all, &block, room, all->sums + part * (TACIT_FIRTH_SIZES + d));
        }
    }
    free(room);
    return TACIT_OK;
}

/* Q as a square whose lower triangle is filled, from its packed triangle. */
static tacit_status unpack(double **out, const double *triangle, size_t width, tacit_error *error) {
    double *square = TACIT_NEW(double, width *width);
    if (square == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < width; i++)
        for (size_t j = 0; j <= i; j++) {
            square[i * width + j] = *triangle++;
            if (isfinite(square[i * width + j])) continue;
            free(square);
            return tacit_fail(
                error, TACIT_REFUSED,
                "the coordinator's inverse of the information matrix has a number that is none");
        }
    *out = square;
    return TACIT_OK;
}

tacit_status tacit_firth_adjust(double *gradient, double sizes[TACIT_FIRTH_SIZES], const tacit_row_sums *how,
                                const double *triangle, const tacit_view *rows, tacit_error *error) {
    double *inverse = NULL;
    TACIT_TRY(unpack(&inverse, triangle, how->width, error));
    parts all = {
        .how = how, .inverse = inverse, .rows = rows, .blocks = (rows->rows.count + BLOCK - 1) / BLOCK
    };
    const size_t wanted = all.blocks / PART_BLOCKS, length = TACIT_FIRTH_SIZES + how->width;
    all.count = wanted < 1 ? 1 : wanted > MOST_PARTS ? MOST_PARTS : wanted;
    all.sums = TACIT_NEW(double, all.count *length);
    tacit_status status = all.sums != NULL ? TACIT_OK : tacit_fail_memory(error);
    tacit_blas_one_thread();
    memset(sizes, 0, TACIT_FIRTH_SIZES * sizeof *sizes);
    if (status == TACIT_OK) status = tacit_pool_for(how->pool, all.count, 1, sum_parts, &all, error);
    for (size_t part = 0; status == TACIT_OK && part < all.count; part++) {
        const double *sums = all.sums + part * length;
        for (size_t k = 0; k < TACIT_FIRTH_SIZES; k++) sizes[k] += sums[k];
        for (size_t j = 0; j < how->width; j++) gradient[j] += sums[TACIT_FIRTH_SIZES + j];
    }
    free(all.sums);
    free(inverse);
    return status;
}
