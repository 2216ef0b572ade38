#include "num/noisy/noisy_hazard.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/blas.h"
#include "num/noisy/noisy_moments.h"

/* ---- the baseline ---- */

/* What is released is C x/s, s^2 = 2 |c|^2 (noisy_life.h), and C C x are prefix sums: encoded again and times
 * s^2 it is how many have come, with |c| s times the noise of a number. */
void tacit_hazard_await(tacit_noisy_curve *curve, const double *released, size_t cells, double rows,
                        double deviation) {
    double come[TACIT_LIFE_MOST_CELLS], scale = 0, hazard = 0;
    for (size_t k = 0; k < cells; k++) come[k] = k == 0;
    tacit_life_encode(come, cells);
    scale = 1 / (come[0] * come[0]);
    const double least = fmax(1, 4 * deviation * scale * M_SQRT1_2);
    memcpy(come, released, cells * sizeof *come);
    tacit_life_encode(come, cells);
    for (size_t k = 0; k < curve->count; k++) {
        double late = fmin(fmax(rows - scale * come[k], 0), rows);
        double left = fmin(fmax(curve->steps[k].at_risk - late, least), fmax(1, curve->steps[k].at_risk));
        hazard += fmin(curve->steps[k].events / left, 1);
        curve->steps[k].hazard = hazard;
    }
}

/* The first cell from `cell` on at whose end the curve has risen to `height`. */
static size_t cell_at(const tacit_noisy_curve *curve, size_t cell, double height) {
    while (cell + 1 < curve->count && curve->steps[cell].hazard < height * (1 - 1e-12)) cell++;
    return cell;
}

static void fill_pieces(double *hazard, const tacit_noisy_curve *curve, double top) {
    static const double LEAST = 0.05; /* of what a piece rises by */
    double before = 0;
    for (size_t k = 1, from = 0; k <= TACIT_HAZARD_PIECES && from < curve->count; k++) {
        size_t last = k == TACIT_HAZARD_PIECES ? curve->count - 1
                                               : cell_at(curve, from, top * (double)k / TACIT_HAZARD_PIECES);
        double rise = fmax(curve->steps[last].hazard - before, LEAST * top / TACIT_HAZARD_PIECES);
        before = fmax(before, curve->steps[last].hazard);
        for (size_t c = from; c <= last; c++) hazard[c] = rise / (double)(last + 1 - from);
        from = last + 1;
    }
}

void tacit_hazard_baseline(double *hazard, double *clock, const tacit_noisy_curve *curve, size_t cells) {
    static const double UNKNOWN = 0.05; /* a curve that never rises, or that is lost in noise */
    const size_t known = curve->count < cells ? curve->count : cells;
    double top = known > 0 ? curve->steps[known - 1].hazard : 0, after = 0, sum = 0;
    if (!(top > 0)) {
        for (size_t c = 0; c < cells; c++) hazard[c] = UNKNOWN / (double)cells;
        top = UNKNOWN;
    } else {
        const size_t fifth = known / 5 > 0 ? known / 5 : 1;
        fill_pieces(hazard, curve, top);
        for (size_t c = known - fifth; c < known; c++) after += hazard[c] / (double)fifth;
        for (size_t c = known; c < cells; c++) hazard[c] = after;
    }
    for (size_t c = 0; c < cells; sum += hazard[c++]) clock[c] = fmin((sum + hazard[c] / 2) / top, 1);
}

/* ---- the steps ---- */

tacit_status tacit_hazard_begin(tacit_hazard_approach *out, double longest, size_t d, tacit_error *error) {
    *out = (tacit_hazard_approach){ .d = d, .longest = longest };
    out->w = TACIT_NEW(double, 4 * d);
    out->square = TACIT_NEW(double, 3 * d * d);
    if (out->w == NULL || out->square == NULL) return tacit_fail_memory(error);
    out->path = out->w + d;
    out->gradient = out->path + d;
    out->step = out->gradient + d;
    out->lifted = out->square + d * d;
    out->room = out->lifted + d * d;
    return TACIT_OK;
}

void tacit_hazard_clear(tacit_hazard_approach *self) {
    free(self->w);
    free(self->square);
}

void tacit_hazard_take(tacit_hazard_approach *self, const double *released, double share, double deviation,
                       double square_deviation) {
    const size_t d = self->d;
    const double counts = self->weight > 0 ? share : share / 2;
    tacit_moments_unpack(self->room, released + d, d);
    for (size_t i = 0; i < d * d; i++) self->square[i] += counts * self->room[i];
    for (size_t j = 0; j < d; j++) self->gradient[j] = -released[j];
    self->weight += counts;
    self->spread += counts * square_deviation * counts * square_deviation;
    self->deviation = deviation;
}

/* Of one number of the mean of all B. */
static double square_deviation(const tacit_hazard_approach *self) {
    return sqrt(self->spread) / self->weight;
}

tacit_status tacit_hazard_step(tacit_hazard_approach *self, double weight, bool last, tacit_error *error) {
    static const double LEAST = 0.4, LIFT = 0.25, RIDGE = 0.1;
    const size_t d = self->d;
    double op = square_deviation(self) * sqrt(2 * (double)d), *out[] = { self->lifted };
    for (size_t i = 0; i < d * d; i++) self->room[i] = self->square[i] / self->weight;
    TACIT_TRY(
        tacit_moments_lift(out, (double[]){ LEAST * op }, (double[]){ LIFT * op }, 1, self->room, d, error));
    memcpy(self->step, self->gradient, d * sizeof *self->step);
    TACIT_TRY(tacit_moments_solve(self->step, self->lifted, 1, RIDGE, self->room, d, error));
    double length = cblas_dnrm2((int)d, self->step, 1),
           trusted = fmin(1, self->longest / 3 / fmax(length, 1e-300));
    for (size_t j = 0; j < d; j++) self->w[j] -= trusted * self->step[j];
    double held = fmin(1, self->longest / fmax(cblas_dnrm2((int)d, self->w, 1), 1e-300));
    for (size_t j = 0; j < d; j++) self->path[j] += weight * (self->w[j] *= held);
    self->counted += weight;
    for (size_t j = 0; last && j < d; j++) self->w[j] = self->path[j] / self->counted;
    return TACIT_OK;
}

/* ---- the end ---- */

typedef struct workspace {
    double *values, *known, *vectors, *factor, *middle, *product; /* vectors[k d + j]: number j of the k-th */
} workspace;

static tacit_status find_eigenvalues(const tacit_hazard_approach *self, workspace *work, tacit_error *error) {
    const size_t d = self->d;
    tacit_blas_one_thread();
    for (size_t i = 0; i < d * d; i++) work->vectors[i] = self->square[i] / self->weight;
    lapack_int info =
        LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'U', (lapack_int)d, work->vectors, (lapack_int)d, work->values);
    if (info == LAPACK_WORK_MEMORY_ERROR) return tacit_fail_memory(error);
    return info == 0 ? TACIT_OK
                     : tacit_fail(error, TACIT_NOT_CONVERGED,
                                  "the eigenvalues of %zu noisy columns were not found", d);
}

/* out = V diag(values) V^T */
static void compose(double *out, const double *values, const double *vectors, size_t d) {
    memset(out, 0, d * d * sizeof *out);
    for (size_t k = 0; k < d; k++)
        cblas_dger(CblasRowMajor, (int)d, (int)d, values[k], vectors + k * d, 1, vectors + k * d, 1, out,
                   (int)d);
}

/* out = f m f, all symmetric. */
static void sandwich(double *out, const double *f, const double *m, double *room, size_t d) {
    const int n = (int)d;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, f, n, m, n, 0, room, n);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, room, n, f, n, 0, out, n);
}

/* T of the head along each eigenvector, into work->known. */
static void know_rest(const tacit_hazard_approach *self, const double *step, double ridge, double usual,
                      workspace *work) {
    const size_t d = self->d;
    for (size_t k = 0; k < d; k++) {
        const double *vector = work->vectors + k * d, v = work->values[k];
        double along = cblas_ddot((int)d, vector, 1, step, 1), at = cblas_ddot((int)d, vector, 1, self->w, 1);
        double told = along * (v + ridge) / v, unsure = (self->deviation * self->deviation + v) / (v * v);
        double most = usual * usual + at * at, rest = ridge > 0 ? told * told + unsure : along * along;
        work->known[k] = ridge > 0 && !(rest < most) ? most : rest;
    }
}

static void estimate(tacit_noisy_estimate *out, const tacit_hazard_approach *self, double usual,
                     workspace *work) {
    const size_t d = self->d;
    double s = square_deviation(self), ridge = out->smallest > 2 * out->size ? 0 : out->size / 2, trace = 0;
    double *shrunk = work->known, inflation = 1;
    for (size_t k = 0; k < d; k++) {
        if (ridge > 0) work->values[k] = fmax(work->values[k], 0);
        shrunk[k] = 1 / fmax(work->values[k] + ridge, 1e-12);
    }
    compose(work->factor, shrunk, work->vectors, d);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)d, (int)d, -1, work->factor, (int)d, self->gradient, 1, 0,
                out->theta, 1);
    know_rest(self, out->theta, ridge, usual, work);
    for (size_t j = 0; j < d; j++) out->theta[j] += self->w[j];
    compose(work->middle, work->values, work->vectors, d);
    sandwich(out->sampling, work->factor, work->middle, work->product, d);
    for (size_t k = 0; k < d; k++) trace += work->known[k];
    if (ridge == 0) inflation += out->size / out->smallest * out->size / out->smallest / 16;
    for (size_t k = 0; k < d; k++)
        work->known[k] = work->values[k] + self->deviation * self->deviation +
                         s * s / 2 * (trace + work->known[k]) + ridge * ridge * work->known[k];
    compose(work->middle, work->known, work->vectors, d);
    sandwich(out->covariance, work->factor, work->middle, work->product, d);
    for (size_t i = 0; i < d * d; i++) out->covariance[i] *= inflation;
}

tacit_status tacit_hazard_end(tacit_noisy_estimate *out, const tacit_hazard_approach *self, double usual,
                              tacit_error *error) {
    const size_t d = self->d;
    workspace work = { .values = TACIT_NEW(double, 2 * d), .vectors = TACIT_NEW(double, 4 * d * d) };
    tacit_status status = TACIT_OK;
    *out = (tacit_noisy_estimate){ .d = d, .dispersion = 1, .estimable = true };
    out->theta = TACIT_NEW(double, d);
    out->covariance = TACIT_NEW(double, d *d);
    out->sampling = TACIT_NEW(double, d *d);
    if (work.values == NULL || work.vectors == NULL || out->theta == NULL || out->covariance == NULL ||
        out->sampling == NULL)
        TACIT_CHECK(tacit_fail_memory(error));
    work.known = work.values + d;
    work.factor = work.vectors + d * d;
    work.middle = work.factor + d * d;
    work.product = work.middle + d * d;
    TACIT_CHECK(find_eigenvalues(self, &work, error));
    out->smallest = work.values[0];
    out->size = square_deviation(self) * sqrt(2 * (double)d);
    estimate(out, self, usual, &work);
cleanup:
    free(work.values);
    free(work.vectors);
    if (status != TACIT_OK) tacit_noisy_estimate_clear(out);
    return status;
}
