/*
 * Newton directions. Three ways, by size:
 *  - a matrix small enough to factor at full cost: solve with the (possibly a few steps old) Hessian;
 *  - two classes with many columns: conjugate gradients preconditioned by the Hessian of a sample of the
 * rows;
 *  - softmax with many coordinates: conjugate gradients preconditioned by  Pi (x) A^-1 + (1 1^T/K) (x) B^-1
 * with Pi = I - 1 1^T/K, A one d x d Hessian for all classes and B the regulariser, which alone acts along 1;
 *  - too many columns for any d x d matrix: the diagonal.
 */
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/glm/glm_parts.h"

enum {
    MOST_FACTORED = 2048,       /* columns of a d x d factor */
    MOST_CLASS_ORDER = 1536,    /* size of an exact softmax Hessian */
    ANY_ROWS_CLASS_ORDER = 320, /* up to this size for any number of rows */
    MOST_EXACT_ORDER = 192,     /* columns from which sampling pays when rows are many */
    SAMPLE_ROWS_PER_COL = 32,
    MOST_PRODUCTS = 400
};

/* All pairs of classes in one matrix: rows * size^2 products, worth it while they take seconds at most. */
static bool factors_all_classes(const glm_work *work, size_t total) {
    double size = (double)work->size;
    if (work->size > MOST_CLASS_ORDER) return false;
    return work->size <= ANY_ROWS_CLASS_ORDER || size * size * (double)total <= 1e10;
}

tacit_status glm_newton_prepare(glm_newton *newton, const glm_work *work, tacit_error *error) {
    size_t total = work->problem->total_rows != 0 ? work->problem->total_rows : work->x.count;
    *newton = (glm_newton){ .kind = GLM_HESSIAN_DIAGONAL, .every = 1, .order = 0 };
    size_t storage = work->size;
    bool many_rows = total / SAMPLE_ROWS_PER_COL / 2 >= work->cols;
    if (work->outputs == 1 && work->cols <= MOST_FACTORED) {
        newton->kind = GLM_HESSIAN_FULL;
        newton->exact = work->cols <= MOST_EXACT_ORDER || !many_rows;
        newton->order = work->cols;
    } else if (work->outputs > 1 && factors_all_classes(work, total)) {
        newton->kind = GLM_HESSIAN_FULL;
        newton->exact = true;
        newton->order = work->size;
    } else if (work->outputs > 1 && work->cols <= MOST_FACTORED) {
        newton->kind = GLM_HESSIAN_COMMON;
        newton->order = work->cols;
    }
    if (newton->order > 0) storage = newton->order * newton->order;
    if (newton->order > 0 && !newton->exact && many_rows) {
        newton->every = total / (SAMPLE_ROWS_PER_COL * work->cols);
        size_t most = work->blocks / 8; /* spread over at least eight places */
        if (work->problem->reducer == NULL && newton->every > most) newton->every = most > 0 ? most : 1;
    }
    newton->matrix = tacit_allocate_aligned(storage, sizeof(double));
    newton->saved = TACIT_NEW(double, newton->order);
    newton->room = TACIT_NEW(double, 5 * work->size);
    newton->learnt = TACIT_NEW(double, newton->exact ? 2 * GLM_MOST_PAIRS * work->size : 0);
    if (newton->matrix == NULL || newton->saved == NULL || newton->room == NULL || newton->learnt == NULL)
        return tacit_fail_memory(error);
    return TACIT_OK;
}

void glm_newton_clear(glm_newton *newton) {
    free(newton->matrix);
    free(newton->saved);
    free(newton->room);
    free(newton->learnt);
    *newton = (glm_newton){ 0 };
}

/* Over classes for the common matrix, else the coordinate's own. */
static double mean_lambda(const glm_work *work, const glm_newton *newton, size_t j) {
    if (newton->kind != GLM_HESSIAN_COMMON) return glm_lambda(work, j);
    double sum = 0;
    for (size_t k = 0; k < work->outputs; k++) sum += glm_lambda(work, k * work->cols + j);
    return sum / (double)work->outputs;
}

/* Row-major upper is LAPACK's lower. The other triangle keeps a copy, so that a factorisation that rounding
 * broke can start over with a larger diagonal. */
static tacit_status factor(glm_newton *newton, tacit_error *error) {
    size_t n = newton->order;
    double *a = newton->matrix, largest = 0;
    lapack_int order = (lapack_int)n, info = 0;
    for (size_t i = 0; i < n; i++) {
        newton->saved[i] = a[i * n + i];
        largest = fmax(largest, a[i * n + i]);
        for (size_t j = i + 1; j < n; j++) a[j * n + i] = a[i * n + j];
    }
    double shift = 0;
    for (int attempt = 0; attempt < 12; attempt++) {
        char lower = 'L';
        LAPACK_dpotrf(&lower, &order, a, &order, &info);
        if (info == 0) return TACIT_OK;
        shift = shift == 0 ? 1e-15 * largest * (double)n : 10 * shift;
        for (size_t i = 0; i < n; i++) {
            a[i * n + i] = newton->saved[i] + shift;
            for (size_t j = i + 1; j < n; j++) a[i * n + j] = a[j * n + i];
        }
    }
    return tacit_fail(error, TACIT_NOT_CONVERGED, "the Hessian could not be factored: rescale the features");
}

tacit_status glm_newton_refresh(glm_newton *newton, glm_work *work, const glm_point *point,
                                tacit_error *error) {
    newton->pairs = 0;
    TACIT_TRY(glm_hessian(work, point, newton->kind, newton->every, newton->matrix, error));
    if (newton->kind == GLM_HESSIAN_DIAGONAL) {
        for (size_t j = 0; j < work->size; j++) newton->matrix[j] += glm_lambda(work, j);
        return TACIT_OK;
    }
    for (size_t j = 0; j < newton->order; j++)
        newton->matrix[j * newton->order + j] += mean_lambda(work, newton, j);
    return factor(newton, error);
}

static void solve_factored(const glm_newton *newton, size_t columns, double *z) {
    char lower = 'L';
    lapack_int order = (lapack_int)newton->order, count = (lapack_int)columns, info = 0;
    LAPACK_dpotrs(&lower, &order, &count, newton->matrix, &order, z, &order, &info);
}

static void precondition(const glm_newton *newton, const glm_work *work, const double *r, double *z) {
    size_t cols = work->cols, classes = work->outputs;
    memcpy(z, r, work->size * sizeof *z);
    if (newton->kind == GLM_HESSIAN_DIAGONAL) {
        for (size_t j = 0; j < work->size; j++) z[j] /= newton->matrix[j];
    } else if (newton->kind == GLM_HESSIAN_FULL) {
        solve_factored(newton, 1, z);
    } else {
        double *mean = newton->saved;
        for (size_t j = 0; j < cols; j++) {
            mean[j] = 0;
            for (size_t k = 0; k < classes; k++) mean[j] += r[k * cols + j];
            mean[j] /= (double)classes;
            for (size_t k = 0; k < classes; k++) z[k * cols + j] -= mean[j];
            mean[j] /= mean_lambda(work, newton, j);
        }
        solve_factored(newton, classes, z);
        for (size_t k = 0; k < classes; k++)
            for (size_t j = 0; j < cols; j++) z[k * cols + j] += mean[j];
    }
}

/* Preconditioned conjugate gradients on H p = -g, to |H p + g| <= tolerance |g|. */
static tacit_status conjugate_gradients(glm_newton *newton, glm_work *work, const glm_point *point,
                                        double tolerance, double *p, int *steps, tacit_error *error) {
    size_t n = work->size;
    double *r = newton->room, *z = r + n, *d = z + n, *hd = d + n;
    memset(p, 0, n * sizeof *p);
    for (size_t j = 0; j < n; j++) r[j] = -point->gradient[j];
    precondition(newton, work, r, z);
    memcpy(d, z, n * sizeof *d);
    double rz = glm_dot(r, z, n);
    for (*steps = 0; *steps < MOST_PRODUCTS; ++*steps) {
        TACIT_TRY(glm_hessian_times(work, point, d, hd, error));
        double curvature = glm_dot(d, hd, n);
        if (!(curvature > 0)) break;
        double alpha = rz / curvature;
        for (size_t j = 0; j < n; j++) {
            p[j] += alpha * d[j];
            r[j] -= alpha * hd[j];
        }
        if (glm_norm(r, n) <= tolerance * point->norm) break;
        precondition(newton, work, r, z);
        double next = glm_dot(r, z, n), beta = next / rz;
        rz = next;
        for (size_t j = 0; j < n; j++) d[j] = z[j] + beta * d[j];
    }
    return TACIT_OK;
}

void glm_newton_learn(glm_newton *newton, const glm_work *work, const double *direction, double step,
                      const double *gradient_before, const double *gradient_after) {
    size_t n = work->size;
    if (!newton->exact || newton->pairs == GLM_MOST_PAIRS) return;
    double *moved = newton->learnt + 2 * newton->pairs * n, *change = moved + n;
    for (size_t j = 0; j < n; j++) {
        moved[j] = step * direction[j];
        change[j] = gradient_after[j] - gradient_before[j];
    }
    double curvature = glm_dot(moved, change, n);
    if (!(curvature > 1e-12 * glm_norm(moved, n) * glm_norm(change, n))) return; /* rounding, not curvature */
    newton->scale[newton->pairs++] = 1 / curvature;
}

/* -B^-1 gradient, B the factored matrix after the BFGS updates of all pairs (the two-loop recursion, Nocedal
 * and Wright 2006, algorithm 7.4). */
static void corrected_solve(glm_newton *newton, const glm_work *work, const double *gradient, double *out) {
    size_t n = work->size;
    double part[GLM_MOST_PAIRS], *rest = newton->room;
    memcpy(rest, gradient, n * sizeof *rest);
    for (size_t i = newton->pairs; i-- > 0;) {
        const double *moved = newton->learnt + 2 * i * n, *change = moved + n;
        part[i] = newton->scale[i] * glm_dot(moved, rest, n);
        for (size_t j = 0; j < n; j++) rest[j] -= part[i] * change[j];
    }
    precondition(newton, work, rest, out);
    for (size_t i = 0; i < newton->pairs; i++) {
        const double *moved = newton->learnt + 2 * i * n, *change = moved + n;
        double gap = part[i] - newton->scale[i] * glm_dot(change, out, n);
        for (size_t j = 0; j < n; j++) out[j] += gap * moved[j];
    }
    for (size_t j = 0; j < n; j++) out[j] = -out[j];
}

tacit_status glm_newton_direction(glm_newton *newton, glm_work *work, const glm_point *point,
                                  double tolerance, double *direction, int *steps, tacit_error *error) {
    *steps = 0;
    if (!newton->exact) return conjugate_gradients(newton, work, point, tolerance, direction, steps, error);
    corrected_solve(newton, work, point->gradient, direction);
    return TACIT_OK;
}
