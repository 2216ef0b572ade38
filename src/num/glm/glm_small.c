/* More columns than rows: the iteration in the span of the rows that glm_span_parts.h describes. */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/blas.h"
#include "num/glm/glm_span_parts.h"

enum {
    MOST_ROWS = 1536,
    THIN_ROWS = 128,
    THIN_SHARE = 16,       /* of the columns */
    MOST_COPIED = 1 << 24, /* numbers in a dense copy of sparse or scattered rows */
    CACHED_COPY = 1 << 15, /* contiguous rows are copied only when the copy stays in the cache */
    OWN_GRAM_ROWS = 48,    /* up to here our own loops beat BLAS's start-up cost */
    OWN_CHOLESKY_ROWS = 64
};

static size_t padded(size_t count) { return (count + 7) / 8 * 8; }

static bool copies_rows(const tacit_rows *x) {
    return x->dense == NULL || x->index != NULL || x->count * x->cols <= CACHED_COPY;
}

/* Sparse rows with so few entries that conjugate gradients on them are done long before a Gram matrix is
 * factored. */
static bool is_thin(const tacit_rows *x) {
    if (x->dense != NULL || x->count < THIN_ROWS) return false;
    size_t entries = 0;
    for (size_t i = 0; i < x->count; i++) {
        size_t stored = tacit_rows_stored(x, i);
        entries += x->sparse->start[stored + 1] - x->sparse->start[stored];
    }
    return entries < x->count * (x->cols / THIN_SHARE);
}

bool glm_small_fits(const tacit_glm_problem *problem) {
    const tacit_rows *x = &problem->x;
    if (problem->reducer != NULL || problem->lambda_each != NULL) return false;
    if (x->count >= x->cols || x->count > MOST_ROWS || is_thin(x)) return false;
    return !copies_rows(x) || x->cols <= MOST_COPIED / x->count;
}

/* --- layout --- */

static double *take(double **next, size_t count) {
    double *here = *next;
    if (here != NULL) *next += padded(count);
    return here;
}

/* Lay everything out from `base`, or with NULL only count the numbers needed. */
static size_t lay_out(glm_span *span, double *base, bool copied) {
    size_t n = span->rows, outputs = span->outputs, per_row = padded(n) * outputs;
    size_t vectors = 10 + (outputs > 1 ? 3 : 0), room = glm_loss_room(span->work.problem->loss);
    if (base != NULL) {
        double *next = base;
        span->copy = copied ? take(&next, n * span->cols) : NULL;
        span->gram = take(&next, n * span->row_stride);
        span->matrix = take(&next, n * span->row_stride);
        span->center = take(&next, outputs * span->cols);
        span->weights = take(&next, outputs * span->cols);
        span->gradient = take(&next, outputs * span->cols);
        double **vector[] = { &span->center_margin, &span->a,          &span->gram_a,   &span->margin,
                              &span->residual,      &span->curvature,  &span->rho,      &span->gram_rho,
                              &span->delta,         &span->gram_delta, &span->extra[0], &span->extra[1],
                              &span->extra[2] };
        for (size_t i = 0; i < vectors; i++) *vector[i] = take(&next, per_row);
        span->room = take(&next, room * per_row);
        span->row = (const double **)next;
        span->gram_row = span->row + n;
    }
    size_t square = padded(n * span->row_stride), wide = padded(outputs * span->cols);
    return (copied ? padded(n * span->cols) : 0) + 2 * square + 3 * wide + (vectors + room) * per_row + 2 * n;
}

static void gram_matrix(glm_span *span) {
    size_t n = span->rows, stride = span->row_stride;
    if (n <= OWN_GRAM_ROWS) {
        for (size_t i = 0; i < n; i++)
            span->work.kernels->dot_rows(span->row, i + 1, span->cols, span->row[i], span->gram + i * stride);
    } else {
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (int)n, (int)span->cols, 1.0, span->row[0],
                    (int)span->x_stride, 0.0, span->gram, (int)stride);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) span->gram[i * stride + j] = span->gram[j * stride + i];
}

/* sum_i weight_i |x_i| and |x_i|^2 are read off G's diagonal. */
static void measure(glm_span *span) {
    glm_rounding *rounding = &span->work.rounding;
    *rounding = (glm_rounding){ .dot_terms = (double)span->cols, .holders = 1 };
    for (size_t i = 0; i < span->rows; i++) {
        double weight = glm_row_weight(&span->work, tacit_rows_stored(&span->work.x, i));
        double squares = span->gram[i * span->row_stride + i];
        rounding->weighted_squares += weight * squares;
        rounding->weighted_norms += weight * sqrt(squares);
    }
    rounding->sum_error = ((double)span->rows + 4) * 2 * GLM_UNIT_ROUNDOFF * rounding->weighted_norms;
}

static tacit_status span_create(glm_span *span, const tacit_glm_problem *problem, tacit_error *error) {
    size_t total = problem->total_rows != 0 ? problem->total_rows : problem->x.count;
    bool copied = copies_rows(&problem->x);
    *span = (glm_span){
        .work = { .problem = problem,
                  .kernels = tacit_kernels_choose(),
                  .x = problem->x,
                  .uniform_weight = 1.0 / (double)total,
                  .weight_scale = 1,
                  .cols = problem->x.cols,
                  .shape = tacit_loss_shape(problem->loss, problem->shape),
                  .outputs = problem->loss->classes != NULL ? problem->classes : 1,
                  .measured = true },
        .lambda = problem->lambda,
        .rows = problem->x.count,
        .cols = copied ? padded(problem->x.cols) : problem->x.cols,
        .row_stride = padded(problem->x.count),
        .x_stride = copied ? padded(problem->x.cols) : problem->x.stride,
    };
    span->outputs = span->work.outputs;
    span->work.size = span->work.cols * span->outputs;
    size_t count = lay_out(span, NULL, copied);
    span->arena = tacit_allocate_aligned(count, sizeof(double));
    if (span->arena == NULL) return tacit_fail_memory(error);
    memset(span->arena, 0, count * sizeof(double));
    lay_out(span, span->arena, copied);
    size_t d = span->work.cols;
    tacit_rows_prefetch(&problem->x);
    for (size_t i = 0; i < span->rows; i++) {
        double *room = copied ? span->copy + i * span->cols : NULL;
        if (copied) tacit_rows_copy(&problem->x, i, room);
        span->row[i] =
            copied ? room : problem->x.dense + tacit_rows_stored(&problem->x, i) * problem->x.stride;
        span->gram_row[i] = span->gram + i * span->row_stride;
    }
    for (size_t k = 0; k < span->outputs; k++)
        for (size_t j = 0; j < d; j++) {
            double prior = problem->prior != NULL ? problem->prior[k * d + j] : 0;
            double tilt = problem->linear != NULL ? problem->linear[k * d + j] : 0;
            span->center[k * span->cols + j] = prior - tilt / problem->lambda;
        }
    gram_matrix(span);
    measure(span);
    return TACIT_OK;
}

/* --- products --- */

void glm_span_gram_times(const glm_span *span, const double *v, double *out) {
    if (span->outputs == 1)
        span->work.kernels->dot_rows(span->gram_row, span->rows, span->row_stride, v, out);
    else
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)span->rows, (int)span->outputs,
                    (int)span->rows, 1.0, span->gram, (int)span->row_stride, v, (int)span->outputs, 0.0, out,
                    (int)span->outputs);
}

/* out = X w, rows x outputs */
static void margins_of(const glm_span *span, const double *w, double *out) {
    if (span->outputs == 1)
        span->work.kernels->dot_rows(span->row, span->rows, span->cols, w, out);
    else
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)span->rows, (int)span->outputs,
                    (int)span->cols, 1.0, span->row[0], (int)span->x_stride, w, (int)span->cols, 0.0, out,
                    (int)span->outputs);
}

/* out += v^T X, outputs x cols */
static void add_rows_times(const glm_span *span, const double *v, double *out) {
    if (span->outputs == 1)
        span->work.kernels->add_rows(span->row, span->rows, span->cols, v, out);
    else
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)span->outputs, (int)span->cols,
                    (int)span->rows, 1.0, v, (int)span->outputs, span->row[0], (int)span->x_stride, 1.0, out,
                    (int)span->cols);
}

void glm_span_evaluate(glm_span *span) {
    size_t n = span->rows * span->outputs;
    for (size_t i = 0; i < n; i++) span->margin[i] = span->center_margin[i] + span->gram_a[i];
    double loss =
        glm_loss_block(&span->work, 0, span->rows, span->margin, span->residual, span->curvature, span->room);
    span->objective = loss + 0.5 * span->lambda * glm_dot(span->a, span->gram_a, n);
    for (size_t i = 0; i < n; i++) span->rho[i] = span->residual[i] + span->lambda * span->a[i];
    glm_span_gram_times(span, span->rho, span->gram_rho);
    span->norm = sqrt(fmax(0, glm_dot(span->rho, span->gram_rho, n)));
}

/* (lambda I + C G) delta = -rho, C = S S the diagonal of curvatures, by
 *   delta = -(rho - S (lambda I + S G S)^-1 S G rho)/lambda. */
bool glm_span_step_two_class(glm_span *span) {
    size_t n = span->rows, stride = span->row_stride;
    double *root = span->room, *v = span->gram_delta;
    for (size_t i = 0; i < n; i++) root[i] = sqrt(span->curvature[i]);
    for (size_t i = 0; i < n; i++) {
        const double *gram = span->gram + i * stride;
        double *row = span->matrix + i * stride;
        for (size_t j = i; j < n; j++) row[j] = root[i] * gram[j] * root[j];
        row[i] += span->lambda;
        v[i] = root[i] * span->gram_rho[i];
    }
    if (n <= OWN_CHOLESKY_ROWS) {
        if (!span->work.kernels->cholesky(n, stride, span->matrix)) return false;
        span->work.kernels->cholesky_solve(n, stride, span->matrix, v);
    } else {
        char lower = 'L';
        lapack_int order = (lapack_int)n, leading = (lapack_int)stride, one = 1, info = 0;
        LAPACK_dpotrf(&lower, &order, span->matrix, &leading, &info);
        if (info != 0) return false;
        LAPACK_dpotrs(&lower, &order, &one, span->matrix, &leading, v, &order, &info);
    }
    for (size_t i = 0; i < n; i++) span->delta[i] = -(span->rho[i] - root[i] * v[i]) / span->lambda;
    glm_span_gram_times(span, span->delta, span->gram_delta);
    return true;
}

/* --- the iteration --- */

typedef struct span_line {
    glm_span *span;
    double slope, curvature; /* of (lambda/2) a^T G a along delta */
} span_line;

static tacit_status span_trial(void *context, double s, glm_line *out, tacit_error *error) {
    span_line *line = context;
    glm_span *span = line->span;
    (void)error;
    *out = (glm_line){ 0 };
    for (size_t i = 0; i < span->rows * span->outputs; i++)
        span->margin[i] = span->center_margin[i] + span->gram_a[i];
    glm_loss_along(&span->work, 0, span->rows, span->margin, span->gram_delta, s, span->room, out);
    out->value += s * (line->slope + 0.5 * s * line->curvature);
    out->slope += line->slope + s * line->curvature;
    out->curvature += line->curvature;
    return TACIT_OK;
}

static void move(glm_span *span, double s) {
    for (size_t i = 0; i < span->rows * span->outputs; i++) {
        span->a[i] += s * span->delta[i];
        span->gram_a[i] += s * span->gram_delta[i];
    }
    glm_span_evaluate(span);
}

/* Take the step in delta, searched if length one does not decrease the objective. False when none does. */
static bool advance(glm_span *span, double slope) {
    size_t n = span->rows * span->outputs;
    double before = span->objective;
    double noise = 1e-13 * fabs(before);
    span_line line = { span, span->lambda * glm_dot(span->gram_a, span->delta, n),
                       span->lambda * glm_dot(span->gram_delta, span->delta, n) };
    move(span, 1);
    bool kinked = span->work.problem->loss->kinked;
    double slope_there = glm_dot(span->rho, span->gram_delta, n);
    bool good =
        span->objective <= before + 1e-4 * slope && !(kinked && fabs(slope_there) > 0.5 * fabs(slope));
    if (good || (fabs(slope) < 100 * noise && span->objective <= before + noise)) return true;
    move(span, -1);
    double step = 0;
    glm_search(span_trial, &line, &step, NULL);
    if (!(step > 0)) return false;
    move(span, step);
    return true;
}

/* The certified bound at w = c + X^T a itself, from its own margins, not from those carried along. */
static double certify(glm_span *span) {
    const tacit_glm_problem *problem = span->work.problem;
    size_t n = span->rows, d = span->work.cols, wide = span->cols * span->outputs;
    memcpy(span->weights, span->center, wide * sizeof(double));
    add_rows_times(span, span->a, span->weights);
    margins_of(span, span->weights, span->margin);
    double *curvature = span->delta; /* free between steps */
    double value = glm_loss_block(&span->work, 0, n, span->margin, span->residual, curvature, span->room);
    memset(span->gradient, 0, wide * sizeof(double));
    add_rows_times(span, span->residual, span->gradient);
    double data = glm_norm(span->gradient, wide), regular = 0, linear = 0, ridge = 0, along = 0;
    for (size_t k = 0; k < span->outputs; k++)
        for (size_t j = 0; j < d; j++) {
            double w = span->weights[k * span->cols + j];
            double shift = w - (problem->prior != NULL ? problem->prior[k * d + j] : 0);
            double pull = span->lambda * shift,
                   tilt = problem->linear != NULL ? problem->linear[k * d + j] : 0;
            ridge += pull * shift;
            along += tilt * w;
            regular += pull * pull;
            linear += tilt * tilt;
            span->gradient[k * span->cols + j] += pull + tilt;
        }
    span->objective = value + 0.5 * ridge + along;
    return glm_gradient_bound(&span->work, glm_norm(span->weights, wide), glm_norm(span->gradient, wide),
                              sqrt(regular), sqrt(linear), data);
}

/* At the minimiser a = -residual/lambda, so the residuals at a good starting point give a good a. */
static void start(glm_span *span, const double *weights) {
    size_t n = span->rows * span->outputs, d = span->work.cols;
    margins_of(span, span->center, span->center_margin);
    glm_span_evaluate(span);
    bool warm = false;
    for (size_t j = 0; j < span->work.size; j++) warm = warm || weights[j] != 0;
    if (!warm) return;
    double cold = span->objective;
    for (size_t k = 0; k < span->outputs; k++)
        memcpy(span->weights + k * span->cols, weights + k * d, d * sizeof(double));
    margins_of(span, span->weights, span->margin);
    glm_loss_block(&span->work, 0, span->rows, span->margin, span->residual, span->curvature, span->room);
    for (size_t i = 0; i < n; i++) span->a[i] = -span->residual[i] / span->lambda;
    glm_span_gram_times(span, span->a, span->gram_a);
    glm_span_evaluate(span);
    if (span->objective < cold) return;
    memset(span->a, 0, n * sizeof(double));
    memset(span->gram_a, 0, n * sizeof(double));
    glm_span_evaluate(span);
}

static tacit_status span_iterate(glm_span *span, const tacit_glm_settings *settings, tacit_glm_fit *fit,
                                 tacit_error *error) {
    enum { ATTEMPTS = 3 };
    size_t n = span->rows * span->outputs;
    double first = span->norm, tolerance = settings->gradient_tolerance;
    int attempts = 0;
    for (int iteration = 0; iteration <= settings->max_iterations && isfinite(span->norm); iteration++) {
        if (tacit_progress_cancelled(settings->progress))
            return tacit_fail(error, TACIT_CANCELLED, "the fit was cancelled");
        if (span->norm <= 0.5 * tolerance) {
            double bound = certify(span);
            if (bound <= tolerance) {
                *fit = (tacit_glm_fit){ span->objective, bound, iteration };
                return TACIT_OK;
            }
            if (++attempts == ATTEMPTS) break;
            glm_span_gram_times(span, span->a, span->gram_a); /* drop what rounding has gathered there */
            glm_span_evaluate(span);
        }
        double forcing = fmin(0.1, sqrt(span->norm / first));
        forcing = fmax(forcing, fmin(0.1, 0.1 * tolerance / span->norm));
        bool stepped = span->work.problem->loss->classes != NULL ? glm_span_step_softmax(span, forcing)
                                                                 : glm_span_step_two_class(span);
        if (!stepped) break;
        /* rho may be gone: softmax uses it as room. The slope rho^T G delta from residual + lambda a instead.
         */
        double slope = glm_dot(span->residual, span->gram_delta, n) +
                       span->lambda * glm_dot(span->a, span->gram_delta, n);
        if (!(slope < 0) || !advance(span, slope)) break;
    }
    return TACIT_NOT_CONVERGED;
}

tacit_status glm_solve_small(const tacit_glm_problem *problem, const tacit_glm_settings *settings,
                             double *weights, tacit_glm_fit *fit, tacit_error *error) {
    glm_span span = { 0 };
    tacit_status status;
    tacit_blas_one_thread();
    TACIT_CHECK(span_create(&span, problem, error));
    if (!isfinite(span.work.rounding.weighted_squares)) {
        status = tacit_fail(error, TACIT_INPUT, "a feature is not finite, or too large to square");
        goto cleanup;
    }
    start(&span, weights);
    TACIT_CHECK(span_iterate(&span, settings, fit, error));
    for (size_t k = 0; k < span.outputs; k++)
        memcpy(weights + k * span.work.cols, span.weights + k * span.cols, span.work.cols * sizeof *weights);
cleanup:
    free(span.arena);
    return status;
}
