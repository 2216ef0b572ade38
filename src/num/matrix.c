#include "num/matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

tacit_status tacit_matrix_create(tacit_matrix *out, size_t rows, size_t cols, tacit_error *error) {
    if (cols != 0 && rows > SIZE_MAX / sizeof(double) / cols)
        return tacit_fail(error, TACIT_LIMIT, "a matrix of %zu x %zu does not fit in memory", rows, cols);
    double *values = tacit_allocate_aligned(rows * cols, sizeof *values);
    if (values == NULL) return tacit_fail_memory(error);
    memset(values, 0, rows * cols * sizeof *values);
    *out = (tacit_matrix){ rows, cols, values };
    return TACIT_OK;
}

void tacit_matrix_clear(tacit_matrix *matrix) {
    if (matrix == NULL) return;
    free(matrix->values);
    *matrix = (tacit_matrix)TACIT_MATRIX_INIT;
}

tacit_status tacit_csr_create(tacit_csr *out, size_t rows, size_t cols, size_t entries, tacit_error *error) {
    if (cols > (size_t)UINT32_MAX + 1)
        return tacit_fail(error, TACIT_LIMIT, "%zu columns are more than a sparse matrix can number", cols);
    if (rows == SIZE_MAX)
        return tacit_fail(error, TACIT_LIMIT, "a matrix of %zu rows does not fit in memory", rows);
    tacit_csr made = { rows, cols, TACIT_NEW(size_t, rows + 1), TACIT_NEW(uint32_t, entries),
                       TACIT_NEW(double, entries) };
    if (made.start == NULL || made.column == NULL || made.value == NULL) {
        tacit_csr_clear(&made);
        return tacit_fail_memory(error);
    }
    *out = made;
    return TACIT_OK;
}

void tacit_csr_clear(tacit_csr *csr) {
    if (csr == NULL) return;
    free(csr->start);
    free(csr->column);
    free(csr->value);
    *csr = (tacit_csr)TACIT_CSR_INIT;
}

tacit_rows tacit_rows_of_matrix(const tacit_matrix *matrix) {
    return (tacit_rows){
        .count = matrix->rows, .cols = matrix->cols, .dense = matrix->values, .stride = matrix->cols
    };
}

tacit_rows tacit_rows_of_csr(const tacit_csr *csr) {
    return (tacit_rows){ .count = csr->rows, .cols = csr->cols, .sparse = csr };
}

tacit_rows tacit_rows_slice(const tacit_rows *rows, size_t begin, size_t count) {
    tacit_rows slice = *rows;
    slice.count = count;
    if (rows->index != NULL)
        slice.index = rows->index + begin;
    else
        slice.first = rows->first + begin;
    return slice;
}

tacit_rows tacit_rows_select(const tacit_rows *rows, const uint32_t *index, size_t count) {
    tacit_rows chosen = *rows;
    chosen.index = index;
    chosen.count = count;
    return chosen;
}

void tacit_rows_prefetch(const tacit_rows *rows) {
    enum { LINE = 64 };
    const tacit_csr *csr = rows->sparse;
    if (csr == NULL) return;
    for (size_t i = 0; i < rows->count; i++) __builtin_prefetch(csr->start + tacit_rows_stored(rows, i));
    for (size_t i = 0; i < rows->count; i++) {
        size_t stored = tacit_rows_stored(rows, i), end = csr->start[stored + 1];
        for (size_t k = csr->start[stored]; k < end; k += LINE / sizeof *csr->value)
            __builtin_prefetch(csr->value + k);
        for (size_t k = csr->start[stored]; k < end; k += LINE / sizeof *csr->column)
            __builtin_prefetch(csr->column + k);
    }
}

void tacit_rows_copy(const tacit_rows *rows, size_t i, double *out) {
    size_t stored = tacit_rows_stored(rows, i);
    if (rows->dense != NULL) {
        if (rows->cols > 0) memcpy(out, rows->dense + stored * rows->stride, rows->cols * sizeof *out);
        return;
    }
    const tacit_csr *csr = rows->sparse;
    for (size_t j = 0; j < rows->cols; j++) out[j] = 0;
    for (size_t k = csr->start[stored]; k < csr->start[stored + 1]; k++) out[csr->column[k]] = csr->value[k];
}

/* Four sums at once: one would wait for each addition before it starts the next. */
static double dot_entries(const uint32_t *restrict column, const double *restrict value, size_t count,
                          const double *restrict weights) {
    double a = 0, b = 0, c = 0, d = 0;
    size_t k = 0;
    for (; k + 4 <= count; k += 4) {
        a += value[k] * weights[column[k]];
        b += value[k + 1] * weights[column[k + 1]];
        c += value[k + 2] * weights[column[k + 2]];
        d += value[k + 3] * weights[column[k + 3]];
    }
    for (; k < count; k++) a += value[k] * weights[column[k]];
    return (a + b) + (c + d);
}

/* Columns of a row differ, so four places can be read before any is written. */
static void add_entries(const uint32_t *restrict column, const double *restrict value, size_t count,
                        double scale, double *restrict out) {
    size_t k = 0;
    for (; k + 4 <= count; k += 4) {
        double a = out[column[k]] + scale * value[k], b = out[column[k + 1]] + scale * value[k + 1];
        double c = out[column[k + 2]] + scale * value[k + 2], d = out[column[k + 3]] + scale * value[k + 3];
        out[column[k]] = a;
        out[column[k + 1]] = b;
        out[column[k + 2]] = c;
        out[column[k + 3]] = d;
    }
    for (; k < count; k++) out[column[k]] += scale * value[k];
}

double tacit_rows_dot(const tacit_rows *rows, size_t i, const double *weights) {
    size_t stored = tacit_rows_stored(rows, i);
    double sum = 0;
    if (rows->dense != NULL) {
        const double *x = rows->dense + stored * rows->stride;
        for (size_t j = 0; j < rows->cols; j++) sum += x[j] * weights[j];
    } else {
        const tacit_csr *csr = rows->sparse;
        size_t first = csr->start[stored];
        sum = dot_entries(csr->column + first, csr->value + first, csr->start[stored + 1] - first, weights);
    }
    return sum;
}

void tacit_rows_add(const tacit_rows *rows, size_t i, double scale, double *out) {
    size_t stored = tacit_rows_stored(rows, i);
    if (rows->dense != NULL) {
        const double *x = rows->dense + stored * rows->stride;
        for (size_t j = 0; j < rows->cols; j++) out[j] += scale * x[j];
    } else {
        const tacit_csr *csr = rows->sparse;
        size_t first = csr->start[stored];
        add_entries(csr->column + first, csr->value + first, csr->start[stored + 1] - first, scale, out);
    }
}

double tacit_rows_norm(const tacit_rows *rows, size_t i) {
    size_t stored = tacit_rows_stored(rows, i);
    const double *x;
    size_t count;
    if (rows->dense != NULL) {
        x = rows->dense + stored * rows->stride;
        count = rows->cols;
    } else {
        x = rows->sparse->value + rows->sparse->start[stored];
        count = rows->sparse->start[stored + 1] - rows->sparse->start[stored];
    }
    double sum[4] = { 0 };
    size_t j = 0;
    for (; j + 4 <= count; j += 4)
        for (size_t k = 0; k < 4; k++) sum[k] += x[j + k] * x[j + k];
    for (; j < count; j++) sum[0] += x[j] * x[j];
    return sqrt((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

size_t tacit_rows_entries(const tacit_rows *rows) {
    const size_t *start = rows->sparse->start;
    if (rows->index == NULL) return start[rows->first + rows->count] - start[rows->first];
    size_t entries = 0;
    for (size_t i = 0; i < rows->count; i++) entries += start[rows->index[i] + 1] - start[rows->index[i]];
    return entries;
}

double tacit_rows_cell(const tacit_rows *rows, size_t i, size_t feature) {
    size_t stored = tacit_rows_stored(rows, i);
    if (rows->dense != NULL) return rows->dense[stored * rows->stride + feature];
    const tacit_csr *csr = rows->sparse;
    for (size_t at = csr->start[stored]; at < csr->start[stored + 1]; at++)
        if (csr->column[at] == feature) return csr->value[at];
    return 0;
}
