/* Layers with a shape, one row at a time; for the network's files only. */
#pragma once

#include "model/network.h"
#include "num/kernel/kernel.h"

/* A place of a window that lies beside the picture, where there is zero. */
#define NETWORK_OUTSIDE UINT32_MAX

/* What passes through one such layer need besides. */
typedef struct layer_space {
    uint32_t *window;        /* which number of the picture is at each place of each window */
    double *numbers;         /* convolution: the windows' contents; gru: what every step gave */
    double *spare;           /* derivatives by them */
    const double **pointers; /* to windows or rows of weights */
} layer_space;

/* All zeros for a dense layer. */
tacit_status network_layer_space_create(layer_space *out, const tacit_layer *layer, tacit_error *error);
void network_layer_space_clear(layer_space *space);

/* What a pass over one row reads and, on the way back, adds to. */
typedef struct layer_pass {
    const tacit_kernels *kernels;
    const tacit_layer *layer;
    layer_space *space;
    const double *weights, *biases; /* of the layer */
    const double *in;
} layer_pass;

/* What the layer gives out, before its activation if it has one. */
void network_layer_forward(const layer_pass *pass, double *out);

/* From the derivatives by that: the gradient is added to `weights` and `biases`, and derivatives by what the
 * layer takes in are written to `below`, unless that is NULL. */
void network_layer_backward(const layer_pass *pass, const double *slope, double *weights, double *biases,
                            double *below);

/* network_gru.c. */
void network_gru_forward(const layer_pass *pass, double *out);
void network_gru_backward(const layer_pass *pass, const double *slope, double *weights, double *biases,
                          double *below);
