/* One block of rows, forward and backward: a row's numbers follow from that row alone
 * (num/kernel/layer.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/clipped_batch_parts.h"

static size_t widest(const batch_shape *shape) {
    size_t most = 0;
    for (size_t l = 0; l <= shape->network.layers; l++)
        if (shape->stride[l] > most) most = shape->stride[l];
    return most;
}

void batch_space_clear(batch_space *space) {
    for (size_t l = 0; l < TACIT_NETWORK_LAYERS; l++) {
        free(space->unit[l]);
        free(space->slope[l]);
    }
    free(space->unit[TACIT_NETWORK_LAYERS]);
    free(space->norm);
    free(space->column);
    free(space->scaled);
    free(space->row);
    free(space->scores);
    free(space->score_slope);
    *space = (batch_space){ .norm = NULL };
}

tacit_status batch_space_create(batch_space *out, const batch_shape *shape, tacit_error *error) {
    size_t layers = shape->network.layers, outputs = shape->network.width[layers], block = shape->block;
    batch_space space = { .norm = TACIT_NEW(double, block),
                          .column = TACIT_NEW(float, block),
                          .scaled = TACIT_NEW(double, block *widest(shape)),
                          .row = TACIT_NEW(double, widest(shape)),
                          .scores = TACIT_NEW(double, outputs),
                          .score_slope = TACIT_NEW(double, outputs) };
    bool enough = space.norm != NULL && space.column != NULL && space.scaled != NULL && space.row != NULL &&
                  space.scores != NULL && space.score_slope != NULL;
    for (size_t l = 0; l <= layers; l++) {
        space.unit[l] = TACIT_NEW(float, block * shape->stride[l]);
        enough = enough && space.unit[l] != NULL;
        if (l == layers) break;
        space.slope[l] = TACIT_NEW(float, block * shape->stride[l + 1]);
        enough = enough && space.slope[l] != NULL;
    }
    if (!enough) {
        batch_space_clear(&space);
        return tacit_fail_memory(error);
    }
    *out = space;
    return TACIT_OK;
}

static size_t whole_tiles(size_t rows) {
    return (rows + TACIT_LAYER_ROWS - 1) / TACIT_LAYER_ROWS * TACIT_LAYER_ROWS;
}

/* The rows themselves, in single precision; what pads a row is zero from the start and stays so. */
static void take_rows(const batch_shape *shape, batch_space *space, const tacit_rows *block) {
    for (size_t i = 0; i < block->count; i++) {
        const double *from = space->row;
        if (block->dense != NULL)
            from = block->dense + tacit_rows_stored(block, i) * block->stride;
        else
            tacit_rows_copy(block, i, space->row);
        shape->kernels->take(block->cols, shape->scale, from, space->unit[0] + i * shape->stride[0]);
    }
}

static void activate(const batch_shape *shape, float *units, size_t rows, size_t layer) {
    const tacit_layer_kernels *kernels = shape->kernels;
    size_t stride = shape->stride[layer + 1], width = shape->network.width[layer + 1];
    switch (shape->network.activation) {
    case TACIT_ACTIVATION_TANH: kernels->tanh(rows * stride, units); break;
    case TACIT_ACTIVATION_RELU: kernels->relu(rows * stride, units); break;
    case TACIT_ACTIVATION_SIGMOID:
        kernels->sigmoid(rows * stride, units);
        for (size_t i = 0; i < rows && width < stride; i++) /* sigmoid(0) is not 0 */
            memset(units + i * stride + width, 0, (stride - width) * sizeof *units);
        break;
    }
}

void batch_forward(const batch_shape *shape, batch_space *space, const tacit_rows *block) {
    const tacit_network *network = &shape->network;
    size_t rows = whole_tiles(block->count);
    take_rows(shape, space, block);
    for (size_t l = 0; l < network->layers; l++) {
        shape->kernels->multiply(rows, network->width[l], shape->stride[l + 1], space->unit[l],
                                 shape->stride[l], shape->forward[l], shape->biases[l], space->unit[l + 1],
                                 shape->stride[l + 1]);
        if (l + 1 < network->layers) activate(shape, space->unit[l + 1], rows, l);
    }
}

static void output_slopes(const batch_shape *shape, batch_space *space, const tacit_view *block) {
    const tacit_network *network = &shape->network;
    size_t last = network->layers, outputs = network->width[last], stride = shape->stride[last];
    for (size_t i = 0; i < block->rows.count; i++) {
        double weight = shape->class_weight != NULL ? shape->class_weight[tacit_view_label(block, i)] : 1;
        for (size_t k = 0; k < outputs; k++) space->scores[k] = space->unit[last][i * stride + k];
        tacit_network_loss(network, space->scores, block, i, space->score_slope);
        for (size_t k = 0; k < outputs; k++)
            space->slope[last - 1][i * stride + k] = (float)(weight * space->score_slope[k]);
    }
}

/* Derivatives by what layer `layer` - 1 gives out, from those of `layer`. */
static void slope_below(const batch_shape *shape, batch_space *space, size_t rows, size_t layer) {
    const tacit_layer_kernels *kernels = shape->kernels;
    size_t stride = shape->stride[layer];
    const float *units = space->unit[layer];
    float *below = space->slope[layer - 1];
    kernels->multiply(rows, shape->network.width[layer + 1], stride, space->slope[layer],
                      shape->stride[layer + 1], shape->backward[layer], NULL, below, stride);
    switch (shape->network.activation) {
    case TACIT_ACTIVATION_TANH: kernels->tanh_slope(rows * stride, units, below); break;
    case TACIT_ACTIVATION_SIGMOID: kernels->sigmoid_slope(rows * stride, units, below); break;
    case TACIT_ACTIVATION_RELU: kernels->relu_slope(rows * stride, units, below); break;
    }
}

static void find_norm(const batch_shape *shape, batch_space *space, size_t row) {
    const tacit_layer_kernels *kernels = shape->kernels;
    double sum = 0;
    for (size_t l = 0; l < shape->network.layers; l++) {
        size_t in = shape->stride[l], out = shape->stride[l + 1];
        sum += (kernels->square(in, space->unit[l] + row * in) + 1) *
               kernels->square(out, space->slope[l] + row * out);
    }
    space->norm[row] = sqrt(sum);
    if (isfinite(space->norm[row])) return;
    space->norm[row] = 0;
    for (size_t l = 0; l < shape->network.layers; l++) {
        size_t in = shape->stride[l], out = shape->stride[l + 1];
        memset(space->unit[l] + row * in, 0, in * sizeof(float));
        memset(space->slope[l] + row * out, 0, out * sizeof(float));
    }
}

void batch_backward(const batch_shape *shape, batch_space *space, const tacit_view *block) {
    batch_forward(shape, space, &block->rows);
    output_slopes(shape, space, block);
    for (size_t l = shape->network.layers - 1; l > 0; l--)
        slope_below(shape, space, whole_tiles(block->rows.count), l);
    for (size_t i = 0; i < block->rows.count; i++) find_norm(shape, space, i);
}
