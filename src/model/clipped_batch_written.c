/*
 * Gradients of single rows of a network with windows or recurrent layers, whose weights meet a row many
 * times, so that a norm does not follow from what goes in and out of a layer: each row's gradient is written
 * down, in double precision.
 *
 * Proof note. The gradient is that of tacit_network_backward for a block of one row: it follows from that row
 * and the parameters alone. Its norm errs by a relative 1e-10 at most: at most 2^22 squares in LANES chains,
 * each rounded a few times at 2^-53. Times (1 - 1e-9)/norm or 1/C, whichever is less, it is no longer than 1,
 * and so is what is left of it after each number is rounded towards zero to a multiple of the step. Those are
 * added as integers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/clipped_batch_parts.h"

void batch_written_clear(batch_written *written) {
    tacit_network_space_free(written->space);
    free(written->gradient);
    free(written->row);
    *written = (batch_written){ .space = NULL };
}

tacit_status batch_written_create(batch_written *out, const batch_shape *shape, tacit_error *error) {
    batch_written written = { .gradient = TACIT_NEW(double, shape->size),
                              .row = TACIT_NEW(double, shape->network.width[0]) };
    tacit_status status =
        written.gradient != NULL && written.row != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK) status = tacit_network_space_create(&written.space, &shape->network, error);
    if (status == TACIT_OK)
        *out = written;
    else
        batch_written_clear(&written);
    return status;
}

static double norm_of(const double *numbers, size_t count) {
    enum { LANES = 16 };
    double lane[LANES] = { 0 }, sum = 0;
    size_t j = 0;
    for (; j + LANES <= count; j += LANES)
        for (size_t k = 0; k < LANES; k++) lane[k] += numbers[j + k] * numbers[j + k];
    for (; j < count; j++) sum += numbers[j] * numbers[j];
    for (size_t k = 0; k < LANES; k++) sum += lane[k];
    return sqrt(sum);
}

double batch_write_row(const batch_shape *shape, batch_written *written, const tacit_view *row) {
    const size_t features = shape->network.width[0];
    const bool numeric = shape->network.response != TACIT_RESPONSE_CLASS;
    const int32_t label = numeric ? 0 : tacit_view_label(row, 0);
    const tacit_view scaled = {
        .rows = { .count = 1, .cols = features, .dense = written->row, .stride = features },
        .label = &label,
        .response = numeric ? tacit_view_responses(row, 0) : NULL,
        .classes = row->classes
    };
    tacit_rows_copy(&row->rows, 0, written->row);
    for (size_t j = 0; j < features; j++) written->row[j] *= shape->scale;
    memset(written->gradient, 0, shape->size * sizeof *written->gradient);
    tacit_network_backward(&shape->network, shape->parameters, &scaled, written->space, written->gradient);
    for (size_t j = 0; j < shape->size && shape->class_weight != NULL; j++)
        written->gradient[j] *= shape->class_weight[label];
    const double norm = norm_of(written->gradient, shape->size);
    if (isfinite(norm)) return norm;
    memset(written->gradient, 0, shape->size * sizeof *written->gradient);
    return 0;
}

void batch_add_written(size_t count, const double *gradient, double factor, double step, int64_t *total) {
    const double steps = 1 / step; /* a power of two */
    for (size_t j = 0; j < count; j++) total[j] += (int64_t)(fmax(-1, fmin(1, gradient[j] * factor)) * steps);
}
