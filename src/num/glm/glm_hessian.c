/* The Hessian of the data term, X^T C X, from packed copies of rows that stay in the cache. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/glm/glm_parts.h"
#include "num/kernel/tiles.h"

enum { MOST_HESSIAN_GROUPS = 32, MOST_HESSIAN_PARTIAL = 1 << 25 };

typedef struct hessian_pass {
    glm_work *work;
    const glm_point *point;
    glm_hessian_kind kind;
    size_t every, groups;
    size_t length; /* of a group's sum: a diagonal, a matrix (scatter) or the tiles of all pairs of classes */
    size_t tiles;  /* numbers in one symmetric matrix of tiles */
    bool classes;  /* softmax, all pairs of classes */
    bool scatter;  /* sparse rows short enough to add their products entry by entry */
    double *partial;
    double *room; /* a worker's scales and packed rows */
    size_t room_size;
} hessian_pass;

/* One number per row that stands for its second derivative. Softmax: the trace of diag(p) - p p^T spread over
 * its K - 1 directions. */
static double row_curvature(const hessian_pass *all, size_t i) {
    const glm_work *work = all->work;
    if (work->problem->loss->classes == NULL) return all->point->curvature[i];
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

static void add_scaled(const hessian_pass *all, const double *const *row, const double *c, size_t count,
                       unsigned worker, double *tiles) {
    tacit_tiles_add(all->work->kernels, row, c, count, all->work->cols, all->room + worker * all->room_size,
                    tiles);
}

/* sum += sum_i c_i x_i x_i^T */
static void add_products(const hessian_pass *all, size_t begin, size_t count, unsigned worker, double *sum) {
    const glm_work *work = all->work;
    if (all->scatter) {
        for (size_t i = 0; i < count; i++) scatter_row(all, begin + i, sum);
        return;
    }
    double *scratch = work->scratch + worker * work->scratch_size;
    double *copy = scratch + work->scratch_size - work->block_rows * work->cols;
    const double *const *row = glm_dense_block(work, begin, count, worker, copy);
    if (!all->classes) {
        for (size_t i = 0; i < count; i++) scratch[i] = row_curvature(all, begin + i);
        add_scaled(all, row, scratch, count, worker, sum);
        return;
    }
    /* Block (k, l) is sum_i weight_i p_k (1{k = l} - p_l) x_i x_i^T; its sign off the diagonal is put in
     * later. */
    for (size_t k = 0; k < work->outputs; k++) {
        for (size_t l = k; l < work->outputs; l++, sum += all->tiles) {
            for (size_t i = 0; i < count; i++) {
                const double *p = all->point->curvature + (begin + i) * work->outputs;
                double weight = glm_row_weight(work, tacit_rows_stored(&work->x, begin + i));
                scratch[i] = weight * p[k] * (k == l ? 1 - p[k] : p[l]);
            }
            add_scaled(all, row, scratch, count, worker, sum);
        }
    }
}

static void add_squares(const hessian_pass *all, size_t i, double *out) {
    const glm_work *work = all->work;
    size_t stored = tacit_rows_stored(&work->x, i);
    for (size_t k = 0; k < work->outputs; k++) {
        double p = all->point->curvature[i * work->outputs + k], *sum = out + k * work->cols;
        double c = work->problem->loss->classes != NULL ? glm_row_weight(work, stored) * p * (1 - p) : p;
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
            else
                add_products(all, first, count, worker, sum);
        }
    }
    return TACIT_OK;
}

static bool rows_are_short(const glm_work *work) {
    if (work->x.dense != NULL || work->x.count == 0) return false;
    double mean = (double)tacit_rows_entries(&work->x) / (double)work->x.count, cols = (double)work->cols;
    return mean * mean * 16 < cols * cols; /* scattering is about sixteen times slower per product */
}

/* The upper triangle of one cols x cols block from its tiles; all of it when `square`. */
static void unpack_tiles(const hessian_pass *all, const double *tiles, double sign, bool square, double *out,
                         size_t stride) {
    size_t cols = all->work->cols;
    for (size_t i = 0; i < cols; i++)
        for (size_t j = square ? 0 : i; j < cols; j++)
            out[i * stride + j] = sign * tacit_tiles_at(tiles, cols, i, j);
}

static void unpack(const hessian_pass *all, const double *sum, double *out) {
    const glm_work *work = all->work;
    if (all->scatter || all->kind == GLM_HESSIAN_DIAGONAL) {
        memcpy(out, sum, all->length * sizeof *out);
    } else if (!all->classes) {
        unpack_tiles(all, sum, 1, false, out, work->cols);
    } else {
        for (size_t k = 0; k < work->outputs; k++)
            for (size_t l = k; l < work->outputs; l++, sum += all->tiles)
                unpack_tiles(all, sum, k == l ? 1 : -1, k != l, out + (k * work->size + l) * work->cols,
                             work->size);
    }
}

static void plan(hessian_pass *all) {
    const glm_work *work = all->work;
    size_t pairs = work->outputs * (work->outputs + 1) / 2;
    all->classes = all->kind == GLM_HESSIAN_FULL && work->outputs > 1;
    all->scatter = all->kind != GLM_HESSIAN_DIAGONAL && !all->classes && rows_are_short(work);
    all->tiles = tacit_tiles_length(work->cols);
    if (all->kind == GLM_HESSIAN_DIAGONAL)
        all->length = work->size;
    else if (all->scatter)
        all->length = work->cols * work->cols;
    else
        all->length = all->classes ? pairs * all->tiles : all->tiles;
    size_t groups = MOST_HESSIAN_PARTIAL / all->length;
    groups = groups < 1 ? 1 : groups > MOST_HESSIAN_GROUPS ? MOST_HESSIAN_GROUPS : groups;
    all->groups = groups < work->groups ? groups : work->groups;
    bool packs = all->kind != GLM_HESSIAN_DIAGONAL && !all->scatter;
    all->room_size = packs ? tacit_tiles_room(work->cols) : 0;
}

tacit_status glm_hessian(glm_work *work, const glm_point *point, glm_hessian_kind kind, size_t every,
                         double *out, tacit_error *error) {
    hessian_pass all = { .work = work, .point = point, .kind = kind, .every = every };
    plan(&all);
    tacit_status status;
    all.partial = tacit_allocate_aligned((all.groups + 1) * all.length, sizeof(double));
    all.room = tacit_allocate_aligned(work->workers * all.room_size, sizeof(double));
    if (all.partial == NULL || all.room == NULL) {
        status = tacit_fail_memory(error);
        goto cleanup;
    }
    double *sum = all.partial + all.groups * all.length;
    TACIT_CHECK(tacit_pool_for(work->pool, all.groups, 1, hessian_groups, &all, error));
    TACIT_CHECK(glm_add_partials(work, all.partial, all.groups, all.length, all.length, sum, error));
    TACIT_CHECK(glm_reduce(work, sum, all.length, error));
    for (size_t i = 0; every > 1 && i < all.length; i++) sum[i] *= (double)every;
    unpack(&all, sum, out);
cleanup:
    free(all.partial);
    free(all.room);
    return status;
}
