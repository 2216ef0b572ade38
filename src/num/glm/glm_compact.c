/*
 * Sparse rows with columns of 16 bits and values in single precision. Passes over sparse rows wait for the
 * memory, and a descent makes many of them; half the bytes are nearly half the time. Each value is off by at
 * most 2^-24 of itself, and so are sums, a little more, which are taken in single precision over one group of
 * rows only. The descent (glm_descent.c) knows how far such gradients lead it, and certifies with the rows
 * proper.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/glm/glm_parts.h"

bool glm_compact_fits(const glm_work *work) {
    return work->x.sparse != NULL && work->outputs == 1 && work->cols <= (size_t)UINT16_MAX + 1;
}

typedef struct copying {
    const glm_work *work;
    const glm_compact *to;
} copying;

static tacit_status copy_blocks(void *context, size_t begin, size_t end, unsigned worker,
                                tacit_error *error) {
    const copying *all = context;
    const glm_work *work = all->work;
    const tacit_csr *from = work->x.sparse;
    (void)worker, (void)error;
    for (size_t i = glm_block_begin(work, begin); i < glm_block_begin(work, end); i++) {
        size_t source = from->start[tacit_rows_stored(&work->x, i)], at = all->to->start[i];
        size_t count = all->to->start[i + 1] - at;
        for (size_t k = 0; k < count; k++) all->to->column[at + k] = (uint16_t)from->column[source + k];
        for (size_t k = 0; k < count; k++) all->to->value[at + k] = (float)from->value[source + k];
    }
    return TACIT_OK;
}

tacit_status glm_compact_create(glm_compact *out, const glm_work *work, tacit_error *error) {
    size_t rows = work->x.count, entries = 0;
    *out = (glm_compact){ .start = TACIT_NEW(size_t, rows + 1) };
    if (out->start == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < rows; i++) {
        size_t stored = tacit_rows_stored(&work->x, i);
        out->start[i] = entries;
        entries += work->x.sparse->start[stored + 1] - work->x.sparse->start[stored];
    }
    out->start[rows] = entries;
    out->column = tacit_allocate_aligned(entries + TACIT_KERNEL_SLACK, sizeof *out->column);
    out->value = tacit_allocate_aligned(entries, sizeof *out->value);
    out->vector = tacit_allocate_aligned(work->cols, sizeof *out->vector);
    out->sum = TACIT_NEW(float, work->workers * work->cols);
    if (out->column == NULL || out->value == NULL || out->vector == NULL || out->sum == NULL)
        return tacit_fail_memory(error);
    memset(out->column + entries, 0, TACIT_KERNEL_SLACK * sizeof *out->column);
    copying all = { work, out };
    return tacit_pool_for(work->pool, work->blocks, 1, copy_blocks, &all, error);
}

void glm_compact_clear(glm_compact *compact) {
    free(compact->start);
    free(compact->column);
    free(compact->value);
    free(compact->vector);
    free(compact->sum);
    *compact = (glm_compact){ 0 };
}

void glm_compact_margins(const glm_work *work, size_t begin, size_t count, double *out) {
    const glm_compact *x = work->compact;
    for (size_t i = 0; i < count; i++) {
        size_t at = x->start[begin + i], entries = x->start[begin + i + 1] - at;
        out[i] = (double)work->kernels->dot_compact(entries, x->column + at, x->value + at, x->vector);
    }
}

void glm_compact_add(const glm_work *work, size_t begin, size_t count, const double *residual,
                     unsigned worker) {
    const glm_compact *x = work->compact;
    float *sum = x->sum + worker * work->cols;
    for (size_t i = 0; i < count; i++) {
        size_t at = x->start[begin + i], entries = x->start[begin + i + 1] - at;
        work->kernels->add_compact(entries, x->column + at, x->value + at, (float)residual[i], sum);
    }
}

void glm_compact_take(const glm_work *work, unsigned worker, double *out) {
    float *sum = work->compact->sum + worker * work->cols;
    for (size_t j = 0; j < work->cols; j++) out[j] += (double)sum[j];
    memset(sum, 0, work->cols * sizeof *sum);
}
