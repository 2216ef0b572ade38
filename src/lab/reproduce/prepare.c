/* From rows as published to rows within the unit ball; what is learnt for it is learnt from public rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/reproduce/material.h"
#include "num/pca.h"

enum { BLOCK = 1024 };
static const double INSIDE = 1 - 1e-12; /* rounding cannot leave the ball */

static tacit_status name_classes(tacit_dataset *out, const tacit_dataset *from, tacit_error *error) {
    tacit_levels_clear(&out->classes);
    TACIT_TRY(tacit_levels_copy(&out->classes, &from->classes, error));
    memcpy(out->label, from->label, from->rows * sizeof *out->label);
    return TACIT_OK;
}

static tacit_status copy_sparse(tacit_dataset **out, const tacit_dataset *from, tacit_error *error) {
    size_t entries = from->sparse.start[from->rows];
    tacit_dataset *made = TACIT_NEW(tacit_dataset, 1);
    if (made == NULL) return tacit_fail_memory(error);
    tacit_status status = TACIT_OK;
    made->rows = from->rows;
    made->features = from->features;
    made->is_sparse = true;
    made->label = TACIT_NEW(int32_t, from->rows);
    if (made->label == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(name_classes(made, from, error));
    TACIT_CHECK(tacit_csr_create(&made->sparse, from->rows, from->features, entries, error));
    memcpy(made->sparse.start, from->sparse.start, (from->rows + 1) * sizeof *made->sparse.start);
    memcpy(made->sparse.column, from->sparse.column, entries * sizeof *made->sparse.column);
    memcpy(made->sparse.value, from->sparse.value, entries * sizeof *made->sparse.value);
    *out = made;
    made = NULL;
cleanup:
    tacit_dataset_free(made);
    return status;
}

static tacit_status copy_dense(tacit_dataset **out, const tacit_dataset *from, tacit_error *error) {
    tacit_dataset *made = NULL;
    TACIT_TRY(tacit_dataset_create(&made, from->rows, from->features, NULL, 0, error));
    tacit_status status = name_classes(made, from, error);
    if (status == TACIT_OK) {
        memcpy(made->dense.values, from->dense.values, from->rows * from->features * sizeof(double));
        *out = made;
    } else {
        tacit_dataset_free(made);
    }
    return status;
}

static tacit_status project(tacit_dataset **out, const tacit_dataset *from, const tacit_pca *pca,
                            const tacit_progress *progress, tacit_error *error) {
    tacit_dataset *made = NULL;
    tacit_status status;
    double *scratch = TACIT_NEW(double, BLOCK * pca->features);
    if (scratch == NULL) return tacit_fail_memory(error);
    TACIT_CHECK(tacit_dataset_create(&made, from->rows, pca->dimensions, NULL, 0, error));
    TACIT_CHECK(name_classes(made, from, error));
    tacit_rows rows = tacit_dataset_rows(from);
    for (size_t begin = 0; begin < rows.count; begin += BLOCK) {
        size_t count = rows.count - begin < BLOCK ? rows.count - begin : BLOCK;
        tacit_pca_project(pca, &rows, begin, count, scratch, made->dense.values + begin * pca->dimensions);
        tacit_progress_report(progress, "projecting", begin + count, rows.count);
        if (tacit_progress_cancelled(progress))
            TACIT_CHECK(tacit_fail(error, TACIT_CANCELLED, "interrupted"));
    }
    *out = made;
    made = NULL;
cleanup:
    tacit_dataset_free(made);
    free(scratch);
    return status;
}

static tacit_status copy_or_project(tacit_dataset **out, const tacit_dataset *from, const tacit_pca *pca,
                                    const tacit_progress *progress, tacit_error *error) {
    if (pca->dimensions > 0) return project(out, from, pca, progress, error);
    return from->is_sparse ? copy_sparse(out, from, error) : copy_dense(out, from, error);
}

static double *values_of(const tacit_dataset *dataset, size_t row, size_t *count) {
    if (!dataset->is_sparse) {
        *count = dataset->features;
        return dataset->dense.values + row * dataset->features;
    }
    *count = dataset->sparse.start[row + 1] - dataset->sparse.start[row];
    return dataset->sparse.value + dataset->sparse.start[row];
}

/* Divide by `bound`, and once more what is still too long; bound 0: every row by its own norm. */
static void scale_rows(tacit_dataset *dataset, double bound) {
    tacit_rows rows = tacit_dataset_rows(dataset);
    for (size_t i = 0; i < dataset->rows; i++) {
        size_t count;
        double *values = values_of(dataset, i, &count), norm = tacit_rows_norm(&rows, i);
        double by = bound == 0 ? norm : fmax(bound, norm);
        for (size_t j = 0; by > 0 && j < count; j++) values[j] *= INSIDE / by;
    }
}

static double largest_norm(const tacit_dataset *dataset, const uint32_t *chosen, size_t count) {
    tacit_rows rows = tacit_dataset_rows(dataset);
    double largest = 0;
    for (size_t i = 0; i < count; i++) largest = fmax(largest, tacit_rows_norm(&rows, chosen[i]));
    return largest;
}

tacit_status tacit_material_prepare(tacit_material *out, const tacit_material *raw,
                                    const tacit_preparation *how, const tacit_progress *progress,
                                    tacit_error *error) {
    tacit_material made = TACIT_MATERIAL_INIT;
    tacit_pca pca = TACIT_PCA_INIT;
    tacit_status status = TACIT_OK;
    if (how->dimensions > 0) {
        tacit_rows all = tacit_dataset_rows(raw->train);
        tacit_rows known = tacit_rows_select(&all, how->public_rows, how->public_count);
        TACIT_CHECK(tacit_pca_fit(&pca, &known, how->dimensions, error));
    }
    TACIT_CHECK(copy_or_project(&made.train, raw->train, &pca, progress, error));
    if (raw->test != NULL) TACIT_CHECK(copy_or_project(&made.test, raw->test, &pca, progress, error));
    if (!how->is_in_ball) {
        double bound = how->scale == TACIT_ROWS_BY_LARGEST
                           ? largest_norm(made.train, how->public_rows, how->public_count)
                           : 0;
        scale_rows(made.train, bound);
        if (made.test != NULL) scale_rows(made.test, bound);
    }
    *out = made;
    made = (tacit_material)TACIT_MATERIAL_INIT;
cleanup:
    tacit_pca_clear(&pca);
    tacit_material_clear(&made);
    return status;
}
