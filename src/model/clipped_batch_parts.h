/* A block of rows on its way through the network; for the batch's files only. */
#pragma once

#include "model/clipped_batch.h"
#include "num/kernel/layer.h"

/* Numbers of a row are padded to whole panels. */
static inline size_t batch_padded(size_t count) {
    return (count + TACIT_LAYER_PANEL - 1) / TACIT_LAYER_PANEL * TACIT_LAYER_PANEL;
}

/* What all workers read. */
typedef struct batch_shape {
    const tacit_layer_kernels *kernels;
    tacit_network network;
    size_t size;                             /* parameters */
    size_t block;                            /* rows of a block, at most; a multiple of TACIT_LAYER_ROWS */
    size_t stride[TACIT_NETWORK_LAYERS + 1]; /* of what each layer takes in, and of the outputs */
    float *forward[TACIT_NETWORK_LAYERS];    /* weights in panels of units */
    float *backward[TACIT_NETWORK_LAYERS];   /* weights in panels of inputs; none for the first layer */
    float *biases[TACIT_NETWORK_LAYERS];
    double scale;         /* of rows */
    double *class_weight; /* NULL: all 1 */
    double *parameters;   /* of a network whose layers are not all dense, in double precision; else NULL */
} batch_shape;

/* One worker's memory. */
typedef struct batch_space {
    float *unit[TACIT_NETWORK_LAYERS + 1]; /* what each layer takes in, then the outputs: block x stride */
    float *slope[TACIT_NETWORK_LAYERS]; /* derivatives by what each layer gives out before its activation */
    double *norm;                       /* of each row's gradient */
    float *column;                      /* one number a row */
    double *scaled;                     /* derivatives of a layer, clipped: block x widest */
    double *row;                        /* widest numbers, for sparse rows */
    double *scores, *score_slope;       /* outputs */
} batch_space;

tacit_status batch_space_create(batch_space *out, const batch_shape *shape, tacit_error *error);
void batch_space_clear(batch_space *space);

/* Outputs of a block. */
void batch_forward(const batch_shape *shape, batch_space *space, const tacit_rows *block);

/* Outputs, derivatives and norms of a block. A row whose norm is not finite gets zeros everywhere, and norm
 * 0. */
void batch_backward(const batch_shape *shape, batch_space *space, const tacit_view *block);

/* ---- networks with layers that are not dense ---- */

/* One worker's memory: here a row's gradient is written down. */
typedef struct batch_written {
    tacit_network_space *space;
    double *gradient; /* of the row at hand */
    double *row;      /* scaled */
} batch_written;

tacit_status batch_written_create(batch_written *out, const batch_shape *shape, tacit_error *error);
void batch_written_clear(batch_written *written);

/* The gradient of one row to written->gradient, and its norm. Where that is not finite: zeros, and 0. */
double batch_write_row(const batch_shape *shape, batch_written *written, const tacit_view *row);

/* total[j] += g_j factor, cut to [-1, 1], in multiples of `step` towards zero. */
void batch_add_written(size_t count, const double *gradient, double factor, double step, int64_t *total);
