#include "num/noisy/noisy_inference.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/blas.h"
#include "num/noisy/noisy_moments.h"

const double tacit_noisy_gate = 0.5;

/* ---- eigenvalues ---- */

/* out = sum over k of values[k] vector_k vector_k^T, values not negative. */
static void compose(double *out, const double *values, const double *vectors, double *room, size_t d) {
    for (size_t k = 0; k < d; k++)
        for (size_t j = 0; j < d; j++) room[k * d + j] = sqrt(values[k]) * vectors[k * d + j];
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)d, (int)d, 1, room, (int)d, 0, out, (int)d);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < i; j++) out[i * d + j] = out[j * d + i];
}

/* out = a m a, all symmetric. */
static void sandwich(double *out, const double *a, const double *m, double *room, size_t d) {
    int n = (int)d;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, m, n, 0, room, n);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, room, n, a, n, 0, out, n);
}

/* ---- the approach ---- */

void tacit_approach_clear(tacit_approach *self) {
    free(self->curvature);
    free(self->room);
    free(self->w);
    *self = (tacit_approach){ .d = 0 };
}

/* Eigenvalues max(e, .4 op) + op/4, op the size of the noise. */
static tacit_status lift(tacit_approach *self, double op, tacit_error *error) {
    size_t d = self->d;
    double *values = self->step, *vectors = TACIT_NEW(double, d *d), *room = TACIT_NEW(double, d *d);
    tacit_status status = vectors != NULL && room != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK) status = tacit_moments_eigen(values, vectors, self->curvature, d, error);
    for (size_t k = 0; status == TACIT_OK && k < d; k++) values[k] = fmax(values[k], 0.4 * op) + op / 4;
    if (status == TACIT_OK) compose(self->curvature, values, vectors, room, d);
    free(vectors);
    free(room);
    return status;
}

tacit_status tacit_approach_begin(tacit_approach *out, const double *moments, double deviation, double rows,
                                  double intercept, double most, double ridge, size_t d, tacit_error *error) {
    tacit_status status = TACIT_OK;
    *out = (tacit_approach){ .d = d, .most = most, .intercept = intercept, .ridge = ridge, .mass = rows };
    out->curvature = TACIT_NEW(double, d *d);
    out->room = TACIT_NEW(double, d *d);
    out->w = TACIT_NEW(double, 3 * d);
    if (out->curvature == NULL || out->room == NULL || out->w == NULL) TACIT_CHECK(tacit_fail_memory(error));
    out->mean = out->w + d;
    out->step = out->mean + d;
    tacit_moments_unpack(out->curvature, moments, d);
    if (intercept > 0)
        out->mass = fmin(fmax(out->curvature[d * d - 1] / (intercept * intercept), rows / 8), rows);
    TACIT_CHECK(lift(out, deviation * sqrt(2 * (double)d), error));
    memset(out->w, 0, 3 * d * sizeof *out->w);
cleanup:
    if (status != TACIT_OK) tacit_approach_clear(out);
    return status;
}

/* E[h p (1 - p)] for scores N(mean, variance): within 6 standard deviations. */
static double mean_slope(double mean, double variance, double most) {
    enum { NODES = 49 };
    double sum = 0, mass = 0, deviation = sqrt(variance);
    for (int i = 0; i < NODES; i++) {
        double t = 0.25 * (i - NODES / 2), weight = exp(-t * t / 2), p = 1 / (1 + exp(-mean - deviation * t));
        sum += weight * tacit_bounded_factor(p, most) * p * (1 - p);
        mass += weight;
    }
    return sum / mass;
}

static double slope_at(const tacit_approach *self) {
    size_t d = self->d;
    double square = tacit_moments_product(self->curvature, self->w, self->w, d) / self->mass, mean = 0;
    for (size_t j = 0; self->intercept > 0 && j < d; j++)
        mean += self->curvature[(d - 1) * d + j] * self->w[j] / (self->intercept * self->mass);
    mean = fmin(fmax(mean, -sqrt(square)), sqrt(square));
    return fmax(0.02, mean_slope(mean, fmax(square - mean * mean, 1e-6), self->most));
}

tacit_status tacit_approach_step(tacit_approach *self, const double *gradient, double weight,
                                 tacit_error *error) {
    size_t d = self->d;
    double *by = self->step, *w = self->w;
    static const double FARTHEST = 5; /* root mean square score */
    for (size_t j = 0; j < d; j++) by[j] = gradient[j] + self->ridge * w[j];
    TACIT_TRY(tacit_moments_solve(by, self->curvature, slope_at(self), self->ridge, self->room, d, error));
    for (size_t j = 0; j < d; j++) w[j] -= by[j];
    double square = tacit_moments_product(self->curvature, w, w, d) / self->mass;
    double held = square > FARTHEST * FARTHEST ? FARTHEST / sqrt(square) : 1;
    for (size_t j = 0; j < d; j++) self->mean[j] += weight * (w[j] *= held);
    self->counted += weight;
    return TACIT_OK;
}

void tacit_approach_end(tacit_approach *self) {
    for (size_t j = 0; j < self->d; j++) self->w[j] = self->mean[j] / self->counted;
}

/* ---- estimates ---- */

void tacit_noisy_estimate_clear(tacit_noisy_estimate *estimate) {
    free(estimate->theta);
    free(estimate->covariance);
    free(estimate->sampling);
    *estimate = (tacit_noisy_estimate){ .d = 0 };
}

typedef struct workspace {
    double *values, *vectors, *inverse, *middle, *noise, *room;
} workspace;

static void clear(workspace *work) {
    free(work->values);
    free(work->vectors);
}

static tacit_status prepare(tacit_noisy_estimate *out, workspace *work, size_t d, tacit_error *error) {
    *out = (tacit_noisy_estimate){ .d = d, .dispersion = 1 };
    *work = (workspace){ .values = TACIT_NEW(double, d), .vectors = TACIT_NEW(double, 5 * d * d) };
    out->theta = TACIT_NEW(double, d);
    out->covariance = TACIT_NEW(double, d *d);
    out->sampling = TACIT_NEW(double, d *d);
    bool all = out->theta != NULL && out->covariance != NULL && out->sampling != NULL &&
               work->values != NULL && work->vectors != NULL;
    if (!all) return tacit_fail_memory(error);
    work->inverse = work->vectors + d * d;
    work->middle = work->inverse + d * d;
    work->noise = work->middle + d * d;
    work->room = work->noise + d * d;
    return TACIT_OK;
}

/* The inverse of the matrix that is in out->covariance, unless its smallest eigenvalue is too near to its
 * noise. */
static tacit_status invert(tacit_noisy_estimate *out, workspace *work, double deviation, tacit_error *error) {
    size_t d = out->d;
    TACIT_TRY(tacit_moments_eigen(work->values, work->vectors, out->covariance, d, error));
    out->smallest = work->values[0];
    for (size_t j = 0; j < d; j++)
        if (fabs(work->vectors[j]) > fabs(work->vectors[out->weakest])) out->weakest = j;
    out->size = deviation * sqrt(2 * (double)d);
    out->estimable = out->smallest > 0 && out->smallest > tacit_noisy_gate * out->size;
    memset(out->covariance, 0, d * d * sizeof *out->covariance);
    /* Not estimable: e/(e^2 + (size/2)^2) is the inverse of what is well above the noise, and little of the
     * rest. */
    double floor = 0.1 * out->size, square = out->size * out->size / 4;
    for (size_t k = 0; k < d; k++) {
        double e = out->estimable ? work->values[k] : fmax(work->values[k], floor);
        work->values[k] = out->estimable ? 1 / e : e / (e * e + square);
    }
    compose(work->inverse, work->values, work->vectors, work->room, d);
    return TACIT_OK;
}

/* matrix += (s^2/2)((more + |u|^2) I + u u^T): the covariance of E u, and of `more` for a further column. */
static void add_product_noise(double *matrix, const double *u, double more, double s, size_t d) {
    double half = s * s / 2, square = more + cblas_ddot((int)d, u, 1, u, 1);
    for (size_t i = 0; i < d; i++) {
        matrix[i * d + i] += half * square;
        for (size_t j = 0; j < d; j++) matrix[i * d + j] += half * u[i] * u[j];
    }
}

/* cov = inverse (middle + noise) inverse, with the inflation for the noise in the inverse. */
static void cover(tacit_noisy_estimate *out, workspace *work) {
    size_t d = out->d;
    sandwich(out->sampling, work->inverse, work->middle, work->room, d);
    for (size_t i = 0; i < d * d; i++) work->noise[i] += work->middle[i];
    sandwich(out->covariance, work->inverse, work->noise, work->room, d);
    double kk = out->size / out->smallest, inflation = 1 + kk * kk / 16;
    for (size_t i = 0; i < d * d; i++) out->covariance[i] *= inflation;
}

tacit_status tacit_noisy_logistic(tacit_noisy_estimate *out, const tacit_noisy_curvature *released, size_t d,
                                  tacit_error *error) {
    workspace work;
    tacit_status status;
    TACIT_CHECK(prepare(out, &work, d, error));
    tacit_moments_unpack(out->covariance, released->middle, d);
    TACIT_CHECK(tacit_moments_eigen(work.values, work.vectors, out->covariance, d, error));
    for (size_t k = 0; k < d; k++) work.values[k] = fmax(work.values[k], 0);
    compose(work.middle, work.values, work.vectors, work.room, d);
    tacit_moments_unpack(out->covariance, released->curvature, d);
    TACIT_CHECK(invert(out, &work, released->curvature_deviation, error));
    memcpy(out->theta, released->w, d * sizeof *out->theta);
    if (!out->estimable) goto cleanup;
    double *step = work.values;
    for (size_t i = 0; i < d; i++)
        step[i] = -cblas_ddot((int)d, work.inverse + i * d, 1, released->gradient, 1);
    for (size_t i = 0; i < d; i++) out->theta[i] += step[i];
    memset(work.noise, 0, d * d * sizeof *work.noise);
    for (size_t i = 0; i < d; i++)
        work.noise[i * d + i] = released->gradient_deviation * released->gradient_deviation;
    add_product_noise(work.noise, step, 0, released->curvature_deviation, d);
    cover(out, &work);
cleanup:
    clear(&work);
    if (status != TACIT_OK) tacit_noisy_estimate_clear(out);
    return status;
}

/* s2 from what is left of y'y, undoing the noise's part of it. */
static double dispersion(const tacit_noisy_estimate *out, const workspace *work, const double *b,
                         double square, double mass) {
    size_t d = out->d;
    double left = square - cblas_ddot((int)d, b, 1, out->theta, 1), undone = 0;
    for (size_t i = 0; i < d * d; i++) undone += work->inverse[i] * work->noise[i];
    return (left + undone) / fmax(mass - (double)d, 1);
}

tacit_status tacit_noisy_linear(tacit_noisy_estimate *out, const double *moments, double deviation,
                                double tau, double rows, double intercept, size_t d, tacit_error *error) {
    size_t wide = d + 1;
    workspace work = { .values = NULL };
    double *all = TACIT_NEW(double, wide *wide), *b = TACIT_NEW(double, d);
    tacit_status status;
    TACIT_CHECK(prepare(out, &work, d, error));
    if (all == NULL || b == NULL) TACIT_CHECK(tacit_fail_memory(error));
    tacit_moments_unpack(all, moments, wide);
    for (size_t i = 0; i < d; i++) {
        b[i] = all[i * wide + d] / tau;
        memcpy(out->covariance + i * d, all + i * wide, d * sizeof *all);
    }
    double square = all[d * wide + d] / (tau * tau), mass = rows;
    if (intercept > 0)
        mass = fmin(fmax(all[(d - 1) * wide + d - 1] / (intercept * intercept), rows / 8), rows);
    memcpy(work.middle, out->covariance, d * d * sizeof *all);
    TACIT_CHECK(invert(out, &work, deviation, error));
    for (size_t i = 0; i < d; i++) out->theta[i] = cblas_ddot((int)d, work.inverse + i * d, 1, b, 1);
    if (!out->estimable) goto cleanup;
    memset(work.noise, 0, d * d * sizeof *work.noise);
    add_product_noise(work.noise, out->theta, 1 / (tau * tau), deviation, d);
    double unsure = deviation * (cblas_ddot((int)d, out->theta, 1, out->theta, 1) + 1 / (tau * tau)) / mass;
    out->dispersion = fmax(dispersion(out, &work, b, square, mass), 0) + unsure;
    for (size_t i = 0; i < d * d; i++) work.middle[i] *= out->dispersion;
    cover(out, &work);
cleanup:
    free(all);
    free(b);
    clear(&work);
    if (status != TACIT_OK) tacit_noisy_estimate_clear(out);
    return status;
}
