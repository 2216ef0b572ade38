/*
 * The sums over rows of dpnewton's inference. Rows come encoded; x has the features with a coefficient,
 * scaled, and v = min(1, 1/|x|^2), a hair less, so that sqrt(v) x is in the unit ball as computed too.
 *
 * Rounding. Rows are added up in runs of RUN, runs in spans of GRADIENT_SLICE, spans in order: chains shorter
 * than those that gradient.h counts, of terms of norm below 1.9, so that its GRADIENT_ROUNDING holds.
 */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/private/dpnewton_inference.h"
#include "num/blas.h"
#include "num/noisy/noisy_inference.h"
#include "num/noisy/noisy_moments.h"

enum { RUN = 8192, RUNS = GRADIENT_SLICE / RUN, BLOCK = 128 };

typedef struct span {
    const tacit_view *rows;
    const dpnewton_inference *design;
    const tacit_design *kept;
    dpnewton_inference_sum which;
    const double *weights;
    size_t begin, count;
    size_t wide;    /* columns of a matrix that is added up: d, and the response's for a linear model */
    size_t length;  /* numbers of one run's sum: a vector of d and two matrices */
    size_t working; /* numbers that a run works with */
    double *sums, *room;
} span;

/* Row i as x; returns v. `encoded` has room for all features. */
static double take_row(const span *self, size_t i, double *encoded, double *x) {
    const dpnewton_inference *design = self->design;
    size_t d = design->width;
    double square = 0;
    tacit_rows_copy(&self->rows->rows, i, encoded);
    for (size_t j = 0; j < d; j++) {
        x[j] =
            encoded[self->kept->kept[j]] * (j == self->kept->intercept ? design->intercept : design->feature);
        square += x[j] * x[j];
    }
    return (1 - 1e-12) / fmax(1, square);
}

/* A score that is no number is like any other: a sum must not fail because of what is in it. */
static double probability(const double *x, const double *weights, size_t d) {
    double score = fmin(fmax(cblas_ddot((int)d, x, 1, weights, 1), -700), 700);
    return 1 / (1 + exp(-score));
}

/* sqrt(v) (x, tau y), or sqrt(v) x. */
static void moments_row(const span *self, size_t i, double v, double *x) {
    const dpnewton_inference *design = self->design;
    double root = sqrt(v);
    for (size_t j = 0; j < design->width; j++) x[j] *= root;
    if (!design->linear) return;
    double y = (tacit_view_response(self->rows, i) - design->middle) / design->half;
    x[design->width] = root * dpnewton_inference_tau * fmin(fmax(y, -1), 1);
}

/* Add v h (p - y) x to `gradient`; where there is a last question, make rows of x what H and of `other` what
 * B is made of. */
static void pulled_row(const span *self, size_t i, double v, double *x, double *other, double *gradient) {
    size_t d = self->design->width;
    double p = probability(x, self->weights, d), h = tacit_bounded_factor(p, self->design->most);
    double residual = v * h * (p - (tacit_view_label(self->rows, i) == 1));
    cblas_daxpy((int)d, residual, x, 1, gradient, 1);
    if (self->which != DPNEWTON_INFERENCE_CURVATURE) return;
    double curved = sqrt(v * h * p * (1 - p));
    for (size_t j = 0; j < d; j++) {
        other[j] = residual * x[j];
        x[j] *= curved;
    }
}

static void add_squares(double *matrix, const double *rows, size_t count, size_t wide) {
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)wide, (int)count, 1, rows, (int)wide, 1, matrix,
                (int)wide);
}

static void add_rows(const span *self, size_t begin, size_t end, double *room, double *out) {
    size_t wide = self->wide;
    double *encoded = room + 2 * BLOCK * wide, *first = out + self->design->width,
           *second = first + wide * wide;
    for (size_t from = begin; from < end; from += BLOCK) {
        size_t count = end - from < BLOCK ? end - from : BLOCK;
        for (size_t i = 0; i < count; i++) {
            double *x = room + i * wide, *other = room + (BLOCK + i) * wide;
            double v = take_row(self, from + i, encoded, x);
            if (self->which == DPNEWTON_INFERENCE_MOMENTS)
                moments_row(self, from + i, v, x);
            else
                pulled_row(self, from + i, v, x, other, out);
        }
        if (self->which != DPNEWTON_INFERENCE_GRADIENT) add_squares(first, room, count, wide);
        if (self->which == DPNEWTON_INFERENCE_CURVATURE)
            add_squares(second, room + BLOCK * wide, count, wide);
    }
}

static tacit_status add_runs(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    const span *self = context;
    (void)worker;
    (void)error;
    for (size_t run = begin; run < end; run++) {
        size_t first = run * RUN, last = first + RUN < self->count ? first + RUN : self->count;
        double *out = self->sums + run * self->length;
        memset(out, 0, self->length * sizeof *out);
        add_rows(self, self->begin + first, self->begin + last, self->room + run * self->working, out);
    }
    return TACIT_OK;
}

static tacit_status add_all(tacit_party *party, span *self, double *out, tacit_error *error) {
    size_t rows = party->rows.rows.count, most = rows < GRADIENT_SLICE ? rows : GRADIENT_SLICE;
    size_t runs = (most + RUN - 1) / RUN;
    tacit_status status = TACIT_OK;
    memset(out, 0, self->length * sizeof *out);
    if (rows == 0) return TACIT_OK;
    self->sums = TACIT_NEW(double, runs * self->length);
    self->room = TACIT_NEW(double, runs * self->working);
    if (self->sums == NULL || self->room == NULL) TACIT_CHECK(tacit_fail_memory(error));
    tacit_blas_one_thread();
    for (size_t begin = 0; begin < rows; begin += GRADIENT_SLICE) {
        self->begin = begin;
        self->count = rows - begin < GRADIENT_SLICE ? rows - begin : GRADIENT_SLICE;
        runs = (self->count + RUN - 1) / RUN;
        TACIT_CHECK(tacit_pool_for(party->pool, runs, 1, add_runs, self, error));
        for (size_t run = 1; run < runs; run++)
            for (size_t j = 0; j < self->length; j++) self->sums[j] += self->sums[run * self->length + j];
        for (size_t j = 0; j < self->length; j++) out[j] += self->sums[j];
    }
cleanup:
    free(self->room);
    free(self->sums);
    return status;
}

/* The numbers of a sum as they are asked for, and how many; the number of rows after moments is the
 * caller's. */
static size_t lay_out(const span *self, const double *sum, double *out) {
    size_t d = self->design->width, length = tacit_moments_length(self->wide);
    const double *first = sum + d, *second = first + self->wide * self->wide;
    if (self->which == DPNEWTON_INFERENCE_MOMENTS) {
        tacit_moments_pack(out, first, self->wide);
        return length;
    }
    memcpy(out, sum, d * sizeof *out);
    if (self->which == DPNEWTON_INFERENCE_GRADIENT) return d;
    tacit_moments_pack(out + d, first, d);
    tacit_moments_pack(out + d + length, second, d);
    for (size_t j = 0; j < length; j++) {
        out[d + j] *= dpnewton_inference_kappa[0];
        out[d + length + j] *= dpnewton_inference_kappa[1];
    }
    return d + 2 * length;
}

tacit_status dpnewton_inference_add_up(tacit_party *party, const dpnewton_inference *design,
                                       dpnewton_inference_sum which, const double *weights, double *out,
                                       tacit_error *error) {
    size_t wide = design->width + design->linear, features = party->plan->features;
    tacit_design kept = { .kept = NULL };
    span self = { .rows = &party->rows, .design = design, .kept = &kept, .which = which, .weights = weights };
    double *sum = NULL;
    tacit_status status;
    TACIT_CHECK(gradient_check_rows(party, error));
    TACIT_CHECK(tacit_design_create(&kept, design->linear ? &tacit_family_linear : &tacit_family_logistic,
                                    party->plan->schema, features, error));
    self.wide = wide;
    self.length = design->width + 2 * wide * wide;
    self.working = 2 * BLOCK * wide + features;
    sum = TACIT_NEW(double, self.length);
    if (sum == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(add_all(party, &self, sum, error));
    size_t count = lay_out(&self, sum, out);
    if (party->reducer != NULL) TACIT_CHECK(party->reducer->sum(party->reducer->context, out, count, error));
    if (which == DPNEWTON_INFERENCE_MOMENTS) out[count] = (double)party->total_rows;
cleanup:
    free(sum);
    tacit_design_clear(&kept);
    return status;
}
