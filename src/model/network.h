/*
 * A network of dense layers: tanh, sigmoid or ReLU in the hidden units, and one logistic output (two classes)
 * or a softmax over as many outputs as classes. Forward and backward passes over a block of rows, dense or
 * sparse, in double precision; a block of one row gives that row's own gradient. Who trains it, and how, is
 * not its business; clipped sums of many rows' gradients, in single precision, are in model/clipped_batch.h.
 *
 * Parameters are one array: for each layer its weights, one row a unit, then its biases.
 */
#pragma once

#include "data/dataset.h"
#include "rand/stream.h"

enum {
    TACIT_NETWORK_LAYERS = 32, /* at most */
    TACIT_NETWORK_BLOCK = 64,  /* rows in one pass, at most */
};

typedef enum tacit_activation {
    TACIT_ACTIVATION_TANH,
    TACIT_ACTIVATION_SIGMOID,
    TACIT_ACTIVATION_RELU,
} tacit_activation;

enum { TACIT_ACTIVATIONS = 3 };

/* "tanh", "sigmoid", "relu". */
const char *tacit_activation_name(tacit_activation activation);

typedef struct tacit_network {
    size_t layers;                          /* of weights: hidden layers and the output */
    size_t width[TACIT_NETWORK_LAYERS + 1]; /* features, units of each hidden layer, outputs */
    tacit_activation activation;            /* of all hidden units */
} tacit_network;

/* The network for a number of features and classes whose hidden layers are listed as "128" or "50,20"; "" has
 * none. TACIT_USAGE for a list that is none, a layer without units or with more than 2^16, or more than 2^26
 * parameters. */
tacit_status tacit_network_parse(tacit_network *out, const char *hidden, tacit_activation activation,
                                 size_t features, size_t classes, tacit_error *error);

/* Outputs for a number of classes: one for two, else one a class. */
size_t tacit_network_outputs(size_t classes);

size_t tacit_network_size(const tacit_network *network); /* how many parameters */

/* Where the weights of a layer start, and its biases after them. */
size_t tacit_network_weights_at(const tacit_network *network, size_t layer);
size_t tacit_network_biases_at(const tacit_network *network, size_t layer);

/* Random weights of variance 1/gain[layer], zero biases. */
void tacit_network_start(const tacit_network *network, const double *gain, tacit_stream *stream,
                         double *parameters);

/* What a pass needs besides: one a thread. */
typedef struct tacit_network_space tacit_network_space;

tacit_status tacit_network_space_create(tacit_network_space **out, const tacit_network *network,
                                        tacit_error *error);
tacit_network_space *tacit_network_space_free(tacit_network_space *space);

/* Scores of a block, rows x outputs; borrowed from the space until its next use. */
const double *tacit_network_forward(const tacit_network *network, const double *parameters,
                                    const tacit_rows *block, tacit_network_space *space);

/* The class that scores of one row stand for. */
int32_t tacit_network_class(const tacit_network *network, const double *scores);

/* The loss of one row's scores, and its derivatives by them. */
double tacit_network_loss(const tacit_network *network, const double *scores, int32_t label, double *slope);

/* The sum of the block's losses; its gradient is added to `gradient`. */
double tacit_network_backward(const tacit_network *network, const double *parameters, const tacit_view *block,
                              tacit_network_space *space, double *gradient);
