#include "data/packed_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { GRAIN = 8192, AHEAD = 8, LINE = 64 / sizeof(double) };

static size_t stride_of(size_t cols) {
    return (cols + TACIT_KERNEL_PANEL - 1) / TACIT_KERNEL_PANEL * TACIT_KERNEL_PANEL;
}

bool tacit_rows_can_be_packed(const tacit_view *view) {
    const tacit_rows *rows = &view->rows;
    return rows->dense != NULL && rows->cols > 0 && rows->count > 0 &&
           rows->count <= TACIT_PACKED_MOST / sizeof(float) / stride_of(rows->cols);
}

tacit_packed_rows *tacit_packed_rows_free(tacit_packed_rows *rows) {
    if (rows == NULL) return NULL;
    free(rows->x);
    free(rows->factor);
    free(rows->label);
    free(rows->response);
    free(rows);
    return NULL;
}

static void fetch(const double *row, size_t cols) {
    for (size_t j = 0; j < cols; j += LINE) __builtin_prefetch(row + j);
}

static const double *row_of(const tacit_rows *rows, size_t i) {
    return rows->dense + tacit_rows_stored(rows, i) * rows->stride;
}

/* Eight sums at once. */
static double square_of(const float *row, size_t stride) {
    double part[TACIT_KERNEL_PANEL] = { 0 }, sum = 0;
    for (size_t j = 0; j < stride; j += TACIT_KERNEL_PANEL)
        for (size_t k = 0; k < TACIT_KERNEL_PANEL; k++) part[k] += (double)row[j + k] * (double)row[j + k];
    for (size_t k = 0; k < TACIT_KERNEL_PANEL; k++) sum += part[k];
    return sum;
}

static void pack_row(tacit_packed_rows *self, size_t i) {
    const double *from = row_of(&self->of, i);
    float *to = self->x + i * self->stride;
    size_t last = self->cols - 1;
    for (size_t j = 0; j < last; j++) to[j] = (float)(from[j] * self->how.feature);
    to[last] = (float)(from[last] * self->how.last);
    memset(to + self->cols, 0, (self->stride - self->cols) * sizeof *to);
    double square = square_of(to, self->stride);
    if (!isfinite(square)) memset(to, 0, self->cols * sizeof *to);
    self->factor[i] = isfinite(square) && square > 1 ? 1 / sqrt(square) : 1;
}

static tacit_status pack(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    tacit_packed_rows *self = context;
    (void)worker;
    (void)error;
    for (size_t i = begin; i < end; i++) {
        if (i + AHEAD < end) fetch(row_of(&self->of, i + AHEAD), self->cols);
        pack_row(self, i);
    }
    return TACIT_OK;
}

static tacit_status take_responses(tacit_packed_rows *self, const tacit_view *view, tacit_error *error) {
    size_t count = view->rows.count, columns = tacit_view_columns(view);
    if (view->label != NULL) {
        self->label = TACIT_NEW(int32_t, count);
        if (self->label == NULL) return tacit_fail_memory(error);
        for (size_t i = 0; i < count; i++) self->label[i] = tacit_view_label(view, i);
    }
    if (view->response != NULL) {
        self->response = TACIT_NEW(double, count *columns);
        if (self->response == NULL) return tacit_fail_memory(error);
        for (size_t i = 0; i < count; i++)
            memcpy(self->response + i * columns, tacit_view_responses(view, i),
                   columns * sizeof *self->response);
    }
    self->view = (tacit_view){ .rows = { .count = count, .cols = view->rows.cols },
                               .label = self->label,
                               .classes = view->classes,
                               .response = self->response,
                               .response_columns = view->response_columns };
    return TACIT_OK;
}

tacit_status tacit_packed_rows_create(tacit_packed_rows **out, const tacit_view *view,
                                      const tacit_packing *how, tacit_pool *pool, tacit_error *error) {
    tacit_status status;
    *out = NULL;
    if (!tacit_rows_can_be_packed(view)) return tacit_fail(error, TACIT_USAGE, "these rows cannot be packed");
    tacit_packed_rows *self = TACIT_NEW(tacit_packed_rows, 1);
    if (self == NULL) return tacit_fail_memory(error);
    self->of = view->rows;
    self->how = *how;
    self->cols = view->rows.cols;
    self->stride = stride_of(self->cols);
    self->x = tacit_allocate_aligned(view->rows.count * self->stride, sizeof *self->x);
    self->factor = TACIT_NEW(double, view->rows.count);
    if (self->x == NULL || self->factor == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(take_responses(self, view, error));
    TACIT_CHECK(tacit_pool_for(pool, view->rows.count, GRAIN, pack, self, error));
    *out = self;
    self = NULL;
cleanup:
    tacit_packed_rows_free(self);
    return status;
}

bool tacit_packed_rows_are(const tacit_packed_rows *rows, const tacit_view *view, const tacit_packing *how) {
    const tacit_rows *of = &rows->of, *asked = &view->rows;
    return of->dense == asked->dense && of->index == asked->index && of->first == asked->first &&
           of->count == asked->count && of->cols == asked->cols && of->stride == asked->stride &&
           rows->how.feature == how->feature && rows->how.last == how->last;
}
