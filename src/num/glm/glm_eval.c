/*
 * Passes over the rows. A task is one group of consecutive blocks; each block is read from memory once and
 * used, while it is in the cache, for the margins and then for the gradient.
 */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/blas.h"
#include "num/glm/glm_parts.h"

enum {
    BLOCK_BYTES = 256 * 1024, /* of features: half of a small second-level cache */
    MOST_BLOCK_ROWS = 512,
    MOST_GROUPS = 64,
    MOST_PARTIAL = 1 << 25, /* doubles in all groups' sums together */
    ENTRIES_PER_SUM = 12,
    MOST_CHAINED_ROWS = 1 << 15, /* of sparse rows, in one sum: longer chains round more */
    MOST_COPIED_COLS = 4096      /* a sparse block is expanded only below this */
};

static void choose_blocks(glm_work *work) {
    size_t rows = work->x.count;
    size_t most = MOST_BLOCK_ROWS;
    if (work->x.dense != NULL || work->cols <= MOST_COPIED_COLS)
        most = BLOCK_BYTES / sizeof(double) / work->cols;
    most = most > MOST_BLOCK_ROWS ? MOST_BLOCK_ROWS : most < 16 ? 16 : most / 8 * 8;
    work->block_rows = rows < most ? (rows > 0 ? rows : 1) : most;
    work->blocks = (rows + work->block_rows - 1) / work->block_rows;
    if (work->blocks == 0) work->blocks = 1;
    size_t groups = MOST_PARTIAL / work->partial_size;
    if (work->x.sparse !=
        NULL) { /* sums of their own for every this many entries: adding them up is little work */
        size_t worth = tacit_rows_entries(&work->x) / (ENTRIES_PER_SUM * work->cols);
        size_t needed = (rows + MOST_CHAINED_ROWS - 1) / MOST_CHAINED_ROWS;
        worth = worth > needed ? worth : needed;
        groups = groups < worth ? groups : worth;
    }
    groups = groups < 1 ? 1 : groups > MOST_GROUPS ? MOST_GROUPS : groups;
    work->groups = groups < work->blocks ? groups : work->blocks;
    work->workers = work->groups == 1 ? 1 : tacit_pool_threads(work->pool);
}

double glm_longest_chain(double rows, double size) {
    double groups = fmin(MOST_GROUPS, fmax(1, floor(MOST_PARTIAL / (size + GLM_SUMS))));
    double chained = fmin(rows, fmax(MOST_CHAINED_ROWS, ceil(rows / groups)));
    return chained + 2 * MOST_BLOCK_ROWS + MOST_GROUPS + 8;
}

tacit_status glm_work_prepare(glm_work *work, const tacit_glm_problem *problem, tacit_pool *pool,
                              const tacit_rows *x, double weight_scale, tacit_error *error) {
    size_t total = problem->total_rows != 0 ? problem->total_rows : problem->x.count;
    *work = (glm_work){
        .problem = problem,
        .kernels = tacit_kernels_choose(),
        .pool = pool,
        .x = *x,
        .uniform_weight = 1.0 / (double)total,
        .weight_scale = weight_scale,
        .shape = tacit_loss_shape(problem->loss, problem->shape),
        .cols = x->cols,
        .outputs = problem->loss->classes != NULL ? problem->classes : 1,
    };
    work->size = work->cols * work->outputs;
    work->partial_size = work->size + GLM_SUMS;
    choose_blocks(work);
    bool copies = work->x.dense != NULL || work->cols <= MOST_COPIED_COLS;
    /* margins, residuals, the losses' room; then the block's gradient; then a dense copy of the block */
    work->scratch_size = (2 + glm_loss_room(problem->loss)) * work->block_rows * work->outputs +
                         (work->x.dense != NULL ? work->size : 0) +
                         (copies ? work->block_rows * work->cols : 0);
    work->partial = tacit_allocate_aligned(work->groups * work->partial_size, sizeof(double));
    work->scratch = tacit_allocate_aligned(work->workers * work->scratch_size, sizeof(double));
    work->row_pointers = tacit_allocate(work->workers * work->block_rows, sizeof *work->row_pointers);
    if (work->partial == NULL || work->scratch == NULL || work->row_pointers == NULL)
        return tacit_fail_memory(error);
    tacit_blas_one_thread();
    return TACIT_OK;
}

void glm_work_clear(glm_work *work) {
    free(work->partial);
    free(work->scratch);
    free(work->row_pointers);
    work->partial = work->scratch = NULL;
    work->row_pointers = NULL;
}

tacit_status glm_point_create(glm_point *point, const glm_work *work, tacit_error *error) {
    size_t per_row = work->x.count * work->outputs;
    *point = (glm_point){
        .weights = TACIT_NEW(double, work->size),
        .gradient = TACIT_NEW(double, work->size + GLM_SUMS),
        .margin = tacit_allocate_aligned(per_row, sizeof(double)),
        .curvature = tacit_allocate_aligned(per_row, sizeof(double)),
    };
    if (point->weights == NULL || point->gradient == NULL || point->margin == NULL ||
        point->curvature == NULL)
        return tacit_fail_memory(error);
    return TACIT_OK;
}

void glm_point_clear(glm_point *point) {
    free(point->weights);
    free(point->gradient);
    free(point->margin);
    free(point->curvature);
    *point = (glm_point){ 0 };
}

tacit_status glm_reduce(const glm_work *work, double *values, size_t count, tacit_error *error) {
    const tacit_reducer *reducer = work->problem->reducer;
    return reducer != NULL ? reducer->sum(reducer->context, values, count, error) : TACIT_OK;
}

const double *const *glm_dense_block(const glm_work *work, size_t begin, size_t count, unsigned worker,
                                     double *room) {
    const double **row = work->row_pointers + worker * work->block_rows;
    for (size_t i = 0; i < count; i++) {
        if (work->x.dense != NULL) {
            row[i] = work->x.dense + tacit_rows_stored(&work->x, begin + i) * work->x.stride;
        } else {
            tacit_rows_copy(&work->x, begin + i, room + i * work->cols);
            row[i] = room + i * work->cols;
        }
    }
    return row;
}

/* --- one pass --- */

typedef struct pass {
    glm_work *work;
    const double *vector; /* w, or the vector that the Hessian multiplies; NULL: the margins are there */
    const glm_point *at;  /* not NULL: a Hessian product there */
    double *margin;       /* where a gradient pass leaves margins and curvature */
    double *curvature;
} pass;

typedef struct block {
    size_t begin, count;
    const double *const *row; /* dense only */
    const double *values;     /* dense with many outputs: contiguous rows */
    size_t stride;
    double *margin, *residual, *room, *gradient;
} block;

static void open_block(const glm_work *work, size_t begin, size_t count, unsigned worker, block *out) {
    double *scratch = work->scratch + worker * work->scratch_size;
    size_t per_row = work->block_rows * work->outputs;
    *out = (block){ .begin = begin,
                    .count = count,
                    .margin = scratch,
                    .residual = scratch + per_row,
                    .room = scratch + 2 * per_row,
                    .gradient = scratch + (2 + glm_loss_room(work->problem->loss)) * per_row };
    if (work->x.dense == NULL) return;
    double *copy = out->gradient + work->size;
    out->row = glm_dense_block(work, begin, count, worker, copy);
    if (work->outputs == 1) return;
    out->values = out->row[0];
    out->stride = work->x.stride;
    if (work->x.index != NULL) {
        for (size_t i = 0; i < count; i++)
            memcpy(copy + i * work->cols, out->row[i], work->cols * sizeof *copy);
        out->values = copy;
        out->stride = work->cols;
    }
}

static void sparse_margins(const glm_work *work, size_t i, const double *w, double *margin) {
    const tacit_csr *csr = work->x.sparse;
    size_t stored = tacit_rows_stored(&work->x, i), at = csr->start[stored],
           count = csr->start[stored + 1] - at;
    bool numbered = work->cols <= INT32_MAX; /* as far as the kernel counts */
    for (size_t k = 0; k < work->outputs; k++)
        margin[k] =
            numbered ? work->kernels->dot_sparse(count, csr->column + at, csr->value + at, w + k * work->cols)
                     : tacit_rows_dot(&work->x, i, w + k * work->cols);
}

static void block_margins(const glm_work *work, const block *rows, const double *w) {
    size_t outputs = work->outputs;
    if (work->x.dense == NULL) {
        for (size_t i = 0; i < rows->count; i++)
            sparse_margins(work, rows->begin + i, w, rows->margin + i * outputs);
    } else if (outputs == 1) {
        work->kernels->dot_rows(rows->row, rows->count, work->cols, w, rows->margin);
    } else {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows->count, (int)outputs, (int)work->cols,
                    1.0, rows->values, (int)rows->stride, w, (int)work->cols, 0.0, rows->margin,
                    (int)outputs);
    }
}

/* sum += residual^T X. A dense block is summed on its own first: shorter chains of additions, a tighter
 * bound. */
static void block_gradient(const glm_work *work, const block *rows, double *sum) {
    size_t outputs = work->outputs, cols = work->cols;
    if (work->x.dense == NULL) {
        for (size_t i = 0; i < rows->count; i++)
            for (size_t k = 0; k < outputs; k++)
                tacit_rows_add(&work->x, rows->begin + i, rows->residual[i * outputs + k], sum + k * cols);
        return;
    }
    if (outputs == 1) {
        memset(rows->gradient, 0, work->size * sizeof(double));
        work->kernels->add_rows(rows->row, rows->count, cols, rows->residual, rows->gradient);
    } else {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)outputs, (int)cols, (int)rows->count, 1.0,
                    rows->residual, (int)outputs, rows->values, (int)rows->stride, 0.0, rows->gradient,
                    (int)cols);
    }
    for (size_t j = 0; j < work->size; j++) sum[j] += rows->gradient[j];
}

/* The sums over rows that the rounding analysis needs; see glm_certify.c. */
static void block_measure(const glm_work *work, const block *rows, double *sums) {
    for (size_t i = 0; i < rows->count; i++) {
        double weight = glm_row_weight(work, tacit_rows_stored(&work->x, rows->begin + i)), squares;
        if (work->x.dense != NULL) {
            work->kernels->dot_rows(rows->row + i, 1, work->cols, rows->row[i], &squares);
        } else {
            double norm = tacit_rows_norm(&work->x, rows->begin + i);
            squares = norm * norm;
        }
        sums[GLM_SUM_SQUARES] += weight * squares;
        sums[GLM_SUM_NORMS] += weight * sqrt(squares);
    }
}

static tacit_status pass_groups(void *context, size_t begin, size_t end, unsigned worker,
                                tacit_error *error) {
    const pass *all = context;
    const glm_work *work = all->work;
    bool compact = work->compact != NULL && all->vector == NULL;
    (void)error;
    for (size_t group = begin; group < end; group++) {
        double *sum = work->partial + group * work->partial_size, *extra = sum + work->size;
        memset(sum, 0, work->partial_size * sizeof *sum);
        size_t last = (group + 1) * work->blocks / work->groups;
        for (size_t b = group * work->blocks / work->groups; b < last; b++) {
            size_t first = glm_block_begin(work, b), count = glm_block_begin(work, b + 1) - first;
            if (count == 0) continue;
            size_t at = first * work->outputs, per_row = count * work->outputs;
            block rows;
            open_block(work, first, count, worker, &rows);
            if (all->at == NULL) rows.margin = all->margin + at;
            if (all->vector != NULL) block_margins(work, &rows, all->vector);
            if (all->at != NULL) {
                glm_loss_second(work, first, count, all->at->curvature + at, rows.margin);
                memcpy(rows.residual, rows.margin, per_row * sizeof(double));
            } else {
                extra[GLM_SUM_VALUE] += glm_loss_block(work, first, count, rows.margin, rows.residual,
                                                       all->curvature + at, rows.room);
                if (!work->measured) block_measure(work, &rows, extra);
            }
            if (compact)
                glm_compact_add(work, first, count, rows.residual, worker);
            else
                block_gradient(work, &rows, sum);
        }
        if (compact) glm_compact_take(work, worker, sum);
    }
    return TACIT_OK;
}

/* --- adding up --- */

typedef struct addition {
    const double *partial;
    size_t groups, stride;
    double *out;
} addition;

static tacit_status add_range(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    const addition *all = context;
    (void)worker, (void)error;
    memcpy(all->out + begin, all->partial + begin, (end - begin) * sizeof(double));
    for (size_t group = 1; group < all->groups; group++) {
        const double *part = all->partial + group * all->stride;
        for (size_t j = begin; j < end; j++) all->out[j] += part[j];
    }
    return TACIT_OK;
}

tacit_status glm_add_partials(glm_work *work, const double *partial, size_t groups, size_t stride,
                              size_t length, double *out, tacit_error *error) {
    addition all = { partial, groups, stride, out };
    return tacit_pool_for(work->pool, length, 4096, add_range, &all, error);
}

static void take_rounding(glm_work *work, const double *sums) {
    if (work->measured) return;
    work->rounding = (glm_rounding){
        .weighted_squares = sums[GLM_SUM_SQUARES],
        .weighted_norms = sums[GLM_SUM_NORMS],
        .sum_error = sums[GLM_SUM_ERROR],
        .dot_terms = sums[GLM_SUM_TERMS],
        .holders = sums[GLM_SUM_HOLDERS],
    };
    work->measured = true;
}

/* Everything at point->weights but the margins, which are there when `known`. */
static tacit_status evaluate(glm_work *work, glm_point *point, bool known, tacit_error *error) {
    const tacit_glm_problem *problem = work->problem;
    double *g = point->gradient, *sums = g + work->size;
    pass all = { work, known ? NULL : point->weights, NULL, point->margin, point->curvature };
    TACIT_TRY(tacit_pool_for(work->pool, work->groups, 1, pass_groups, &all, error));
    TACIT_TRY(glm_add_partials(work, work->partial, work->groups, work->partial_size, work->partial_size, g,
                               error));
    sums[GLM_SUM_ERROR] = glm_sum_error(work) * sums[GLM_SUM_NORMS];
    sums[GLM_SUM_TERMS] = glm_dot_terms(work);
    sums[GLM_SUM_HOLDERS] = 1;
    TACIT_TRY(glm_reduce(work, g, work->partial_size, error));
    take_rounding(work, sums);
    double data = glm_norm(g, work->size), regular = 0, linear = 0, ridge = 0, along = 0, sizes = 0;
    for (size_t j = 0; j < work->size; j++) {
        double shift = point->weights[j] - (problem->prior != NULL ? problem->prior[j] : 0);
        double pull = glm_lambda(work, j) * shift, tilt = problem->linear != NULL ? problem->linear[j] : 0;
        ridge += pull * shift;
        along += tilt * point->weights[j];
        sizes += fabs(tilt * point->weights[j]);
        regular += pull * pull;
        linear += tilt * tilt;
        g[j] += pull + tilt;
    }
    point->loss = sums[GLM_SUM_VALUE];
    point->objective = point->loss + 0.5 * ridge + along;
    point->norm = glm_norm(g, work->size);
    double length = glm_norm(point->weights, work->size);
    point->scale = point->loss + 0.5 * ridge + sizes + work->rounding.weighted_norms * length;
    point->bound = glm_gradient_bound(work, length, point->norm, sqrt(regular), sqrt(linear), data);
    return TACIT_OK;
}

tacit_status glm_evaluate(glm_work *work, glm_point *point, tacit_error *error) {
    bool zero = true;
    for (size_t j = 0; zero && j < work->size; j++) zero = point->weights[j] == 0;
    if (zero && work->x.sparse != NULL)
        memset(point->margin, 0, work->x.count * work->outputs * sizeof(double));
    return evaluate(work, point, zero && work->x.sparse != NULL, error);
}

tacit_status glm_evaluate_known(glm_work *work, glm_point *point, tacit_error *error) {
    TACIT_TRY(evaluate(work, point, true, error));
    point->bound = INFINITY;
    return TACIT_OK;
}

typedef struct margin_pass {
    const glm_work *work;
    const double *vector;
    double *out;
} margin_pass;

static tacit_status margin_blocks(void *context, size_t begin, size_t end, unsigned worker,
                                  tacit_error *error) {
    const margin_pass *all = context;
    const glm_work *work = all->work;
    (void)error;
    for (size_t b = begin; b < end; b++) {
        size_t first = glm_block_begin(work, b), count = glm_block_begin(work, b + 1) - first;
        block rows;
        if (count == 0) continue;
        if (work->compact != NULL) {
            glm_compact_margins(work, first, count, all->out + first);
            continue;
        }
        open_block(work, first, count, worker, &rows);
        rows.margin = all->out + first * work->outputs;
        block_margins(work, &rows, all->vector);
    }
    return TACIT_OK;
}

tacit_status glm_margins(glm_work *work, const double *v, double *out, tacit_error *error) {
    margin_pass all = { work, v, out };
    for (size_t j = 0; work->compact != NULL && j < work->cols; j++) work->compact->vector[j] = (float)v[j];
    return tacit_pool_for(work->workers > 1 ? work->pool : NULL, work->blocks, 1, margin_blocks, &all, error);
}

tacit_status glm_hessian_times(glm_work *work, const glm_point *point, const double *v, double *out,
                               tacit_error *error) {
    pass all = { work, v, point, NULL, NULL };
    TACIT_TRY(tacit_pool_for(work->pool, work->groups, 1, pass_groups, &all, error));
    TACIT_TRY(
        glm_add_partials(work, work->partial, work->groups, work->partial_size, work->size, out, error));
    TACIT_TRY(glm_reduce(work, out, work->size, error));
    for (size_t j = 0; j < work->size; j++) out[j] += glm_lambda(work, j) * v[j];
    return TACIT_OK;
}

/* --- along a line --- */

typedef struct line_pass {
    glm_work *work;
    const double *margin, *change;
    double s;
} line_pass;

static tacit_status line_groups(void *context, size_t begin, size_t end, unsigned worker,
                                tacit_error *error) {
    const line_pass *all = context;
    const glm_work *work = all->work;
    double *room = work->scratch + worker * work->scratch_size + 2 * work->block_rows * work->outputs;
    (void)error;
    for (size_t group = begin; group < end; group++) {
        glm_line sum = { 0 };
        size_t last = (group + 1) * work->blocks / work->groups;
        for (size_t b = group * work->blocks / work->groups; b < last; b++) {
            size_t first = glm_block_begin(work, b), count = glm_block_begin(work, b + 1) - first;
            size_t at = first * work->outputs;
            if (count > 0)
                glm_loss_along(work, first, count, all->margin + at, all->change + at, all->s, room, &sum);
        }
        memcpy(work->partial + group * 3, (double[]){ sum.value, sum.slope, sum.curvature },
               3 * sizeof(double));
    }
    return TACIT_OK;
}

tacit_status glm_along(glm_work *work, const glm_point *point, const double *margin_change, double s,
                       glm_line *out, tacit_error *error) {
    line_pass all = { work, point->margin, margin_change, s };
    TACIT_TRY(tacit_pool_for(work->pool, work->groups, 1, line_groups, &all, error));
    double sums[3];
    TACIT_TRY(glm_add_partials(work, work->partial, work->groups, 3, 3, sums, error));
    TACIT_TRY(glm_reduce(work, sums, 3, error));
    *out = (glm_line){ sums[0], sums[1], sums[2] };
    return TACIT_OK;
}

double glm_dot(const double *a, const double *b, size_t count) {
    double sum[4] = { 0 };
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t k = 0; k < 4; k++) sum[k] += a[i + k] * b[i + k];
    for (; i < count; i++) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

double glm_norm(const double *a, size_t count) { return sqrt(glm_dot(a, a, count)); }
