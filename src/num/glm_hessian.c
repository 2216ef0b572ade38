/* The Hessian of the data term, X^T C X, from scaled copies of blocks that stay in the cache. */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/glm_internal.h"

enum { MOST_HESSIAN_GROUPS = 32, MOST_HESSIAN_PARTIAL = 1 << 25 };

typedef struct hessian_pass {
    glm_work *work;
    const glm_point *point;
    glm_hessian_kind kind;
    size_t every, groups, length;
    bool scatter; /* sparse rows short enough to add their products entry by entry */
    double *partial;
} hessian_pass;

/* One number per row that stands for its second derivative. Softmax: the trace of diag(p) - p p^T spread over
 * its K - 1 directions. */
static double row_curvature(const hessian_pass *all, size_t i) {
    const glm_work *work = all->work;
    if (work->problem->loss != TACIT_LOSS_SOFTMAX) return all->point->curvature[i];
    const double *p = all->point->curvature + i * work->outputs;
    double trace = 0;
    for (size_t k = 0; k < work->outputs; k++) trace += p[k] * (1 - p[k]);
    size_t directions = work->outputs > 1 ? work->outputs - 1 : 1;
    return glm_row_weight(work, tacit_rows_stored(&work->x, i)) * trace / (double)directions;
}

static void scatter_row(const hessian_pass *all, size_t i, double *out) {
    const tacit_csr *csr = all->work->x.sparse;
    size_t stored = tacit_rows_stored(&all->work->x, i), cols = all->work->cols;
    double c = row_curvature(all, i);
    for (size_t a = csr->start[stored]; a < csr->start[stored + 1]; a++) {
        double *row = out + csr->column[a] * cols, scale = c * csr->value[a];
        for (size_t b = a; b < csr->start[stored + 1]; b++) row[csr->column[b]] += scale * csr->value[b];
    }
}

/* out += sum_i c_i x_i x_i^T by a symmetric product of rows scaled by sqrt(c_i); rows without curvature
 * (Huber) are left out. */
static void add_products(const hessian_pass *all, size_t begin, size_t count, unsigned worker, double *out) {
    const glm_work *work = all->work;
    if (all->scatter) {
        for (size_t i = 0; i < count; i++) scatter_row(all, begin + i, out);
        return;
    }
    size_t cols = work->cols, kept = 0;
    double *copy = work->scratch + (worker + 1) * work->scratch_size - work->block_rows * cols;
    const double *const *row = glm_dense_block(work, begin, count, worker, copy);
    for (size_t i = 0; i < count; i++) {
        double c = row_curvature(all, begin + i);
        if (c > 0) work->kernels->scale_row(row[i], cols, sqrt(c), copy + kept++ * cols);
    }
    if (kept > 0)
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)cols, (int)kept, 1.0, copy, (int)cols, 1.0,
                    out, (int)cols);
}

/* Softmax, all pairs of classes k <= l: block (k, l) is sum_i weight_i p_k (1{k = l} - p_l) x_i x_i^T. */
static void add_class_products(const hessian_pass *all, size_t begin, size_t count, unsigned worker,
                               double *out) {
    const glm_work *work = all->work;
    size_t cols = work->cols, classes = work->outputs;
    double *copy = work->scratch + (worker + 1) * work->scratch_size - work->block_rows * cols;
    double *scaled = out + all->length - work->block_rows * cols; /* room at the end of the partial sum */
    const double *const *row = glm_dense_block(work, begin, count, worker, copy);
    if (work->x.dense != NULL)
        for (size_t i = 0; i < count; i++) memcpy(copy + i * cols, row[i], cols * sizeof *copy);
    for (size_t k = 0; k < classes; k++) {
        for (size_t l = k; l < classes; l++) {
            for (size_t i = 0; i < count; i++) {
                const double *p = all->point->curvature + (begin + i) * classes;
                double weight = glm_row_weight(work, tacit_rows_stored(&work->x, begin + i));
                work->kernels->scale_row(copy + i * cols, cols, weight * p[k] * ((k == l) - p[l]),
                                         scaled + i * cols);
            }
            cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)cols, (int)cols, (int)count, 1.0,
                        scaled, (int)cols, copy, (int)cols, 1.0, out + k * cols * work->size + l * cols,
                        (int)work->size);
        }
    }
}

static void add_squares(const hessian_pass *all, size_t i, double *out) {
    const glm_work *work = all->work;
    size_t stored = tacit_rows_stored(&work->x, i);
    for (size_t k = 0; k < work->outputs; k++) {
        double p = all->point->curvature[i * work->outputs + k], *sum = out + k * work->cols;
        double c = work->problem->loss == TACIT_LOSS_SOFTMAX ? glm_row_weight(work, stored) * p * (1 - p) : p;
        if (work->x.dense != NULL) {
            const double *x = work->x.dense + stored * work->x.stride;
            for (size_t j = 0; j < work->cols; j++) sum[j] += c * x[j] * x[j];
        } else {
            const tacit_csr *csr = work->x.sparse;
            for (size_t e = csr->start[stored]; e < csr->start[stored + 1]; e++)
                sum[csr->column[e]] += c * csr->value[e] * csr->value[e];
        }
    }
}

static tacit_status hessian_groups(void *context, size_t begin, size_t end, unsigned worker,
                                   tacit_error *error) {
    const hessian_pass *all = context;
    const glm_work *work = all->work;
    (void)error;
    for (size_t group = begin; group < end; group++) {
        double *sum = all->partial + group * all->length;
        memset(sum, 0, all->length * sizeof *sum);
        size_t last = (group + 1) * work->blocks / all->groups;
        for (size_t b = group * work->blocks / all->groups; b < last; b++) {
            size_t first = glm_block_begin(work, b), count = glm_block_begin(work, b + 1) - first;
            if (b % all->every != 0 || count == 0) continue;
            if (all->kind == GLM_HESSIAN_DIAGONAL)
                for (size_t i = first; i < first + count; i++) add_squares(all, i, sum);
            else if (all->kind == GLM_HESSIAN_FULL && work->outputs > 1)
                add_class_products(all, first, count, worker, sum);
            else
                add_products(all, first, count, worker, sum);
        }
    }
    return TACIT_OK;
}

static bool rows_are_short(const glm_work *work) {
    if (work->x.dense != NULL || work->x.count == 0) return false;
    size_t entries = 0;
    for (size_t i = 0; i < work->x.count; i++) {
        size_t stored = tacit_rows_stored(&work->x, i);
        entries += work->x.sparse->start[stored + 1] - work->x.sparse->start[stored];
    }
    double mean = (double)entries / (double)work->x.count;
    return mean * mean * 16 <
           (double)work->cols * (double)work->cols; /* scattering runs at a sixteenth of BLAS's rate */
}

tacit_status glm_hessian(glm_work *work, const glm_point *point, glm_hessian_kind kind, size_t every,
                         double *out, tacit_error *error) {
    bool classes = kind == GLM_HESSIAN_FULL && work->outputs > 1;
    size_t order = kind == GLM_HESSIAN_FULL ? work->size : work->cols;
    size_t wanted = kind == GLM_HESSIAN_DIAGONAL ? work->size : order * order;
    hessian_pass all = { .work = work,
                         .point = point,
                         .kind = kind,
                         .every = every,
                         .scatter = rows_are_short(work),
                         .length = wanted + (classes ? work->block_rows * work->cols : 0) };
    size_t groups = MOST_HESSIAN_PARTIAL / all.length;
    groups = groups < 1 ? 1 : groups > MOST_HESSIAN_GROUPS ? MOST_HESSIAN_GROUPS : groups;
    all.groups = groups < work->groups ? groups : work->groups;
    all.partial = tacit_allocate_aligned(all.groups * all.length, sizeof(double));
    if (all.partial == NULL) return tacit_fail_memory(error);
    tacit_status status;
    TACIT_CHECK(tacit_pool_for(work->pool, all.groups, 1, hessian_groups, &all, error));
    TACIT_CHECK(glm_add_partials(work, all.partial, all.groups, all.length, wanted, out, error));
    TACIT_CHECK(glm_reduce(work, out, wanted, error));
    if (every > 1)
        for (size_t i = 0; i < wanted; i++) out[i] *= (double)every;
cleanup:
    free(all.partial);
    return status;
}
