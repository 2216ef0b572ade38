#include "num/scores.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/blas.h"
#include "num/kernel/kernel.h"

_Static_assert((int)TACIT_SCORES_AT_ONCE == (int)TACIT_KERNEL_MODELS, "the kernel's width");

tacit_status tacit_weight_panel_create(tacit_weight_panel *out, const double *const *weights, size_t models,
                                       size_t cols, tacit_error *error) {
    /* Aligned: a vector of weights that straddles two cache lines would cost two loads. */
    double *interleaved = tacit_allocate_aligned(cols * TACIT_SCORES_AT_ONCE, sizeof *interleaved);
    if (interleaved == NULL) return tacit_fail_memory(error);
    for (size_t j = 0; j < cols; j++)
        for (size_t m = 0; m < TACIT_SCORES_AT_ONCE; m++)
            interleaved[j * TACIT_SCORES_AT_ONCE + m] = m < models ? weights[m][j] : 0;
    *out = (tacit_weight_panel){ models, cols, interleaved };
    return TACIT_OK;
}

void tacit_weight_panel_clear(tacit_weight_panel *panel) {
    if (panel == NULL) return;
    free(panel->interleaved);
    *panel = (tacit_weight_panel)TACIT_WEIGHT_PANEL_INIT;
}

static void multiply(const double *x, size_t stride, size_t count, const tacit_weight_panel *panel,
                     double *out) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)count, TACIT_SCORES_AT_ONCE,
                (blasint)panel->cols, 1, x, (blasint)stride, panel->interleaved, TACIT_SCORES_AT_ONCE, 0, out,
                TACIT_SCORES_AT_ONCE);
}

void tacit_rows_scores(const tacit_rows *rows, size_t begin, size_t count, const tacit_weight_panel *panel,
                       double *out) {
    if (rows->sparse != NULL) {
        const tacit_kernels *kernels = tacit_kernels_choose();
        const tacit_csr *csr = rows->sparse;
        for (size_t i = 0; i < count; i++) {
            size_t stored = tacit_rows_stored(rows, begin + i), at = csr->start[stored];
            kernels->score_sparse(csr->start[stored + 1] - at, csr->column + at, csr->value + at,
                                  panel->interleaved, out + i * TACIT_SCORES_AT_ONCE);
        }
        return;
    }
    tacit_blas_one_thread();
    if (rows->index == NULL) {
        multiply(rows->dense + (rows->first + begin) * rows->stride, rows->stride, count, panel, out);
        return;
    }
    /* Runs of neighbouring rows are multiplied together; rows in random order one by one. */
    for (size_t i = 0, run; i < count; i += run) {
        size_t stored = rows->index[begin + i];
        for (run = 1; i + run < count && rows->index[begin + i + run] == stored + run;) run++;
        multiply(rows->dense + stored * rows->stride, rows->stride, run, panel,
                 out + i * TACIT_SCORES_AT_ONCE);
    }
}
