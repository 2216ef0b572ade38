/*
 * A network of dense layers: tanh in the hidden units, and one logistic output (two classes) or a softmax over as many
 * outputs as classes. Forward and backward passes over a block of rows, dense or sparse; a block of one row gives that
 * row's own gradient. Who trains it, and how, is not its business.
 *
 * Parameters are one array: for each layer its weights, one row a unit, then its biases.
 */
#pragma once

#include "data/dataset.h"
#include "rand/stream.h"

enum {
    TACIT_NETWORK_LAYERS = 8, /* at most */
    TACIT_NETWORK_BLOCK = 64, /* rows in one pass, at most */
};

typedef struct tacit_network {
    size_t layers;                          /* of weights: hidden layers and the output */
    size_t width[TACIT_NETWORK_LAYERS + 1]; /* features, units of each hidden layer, outputs */
} tacit_network;

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

/* The sum of the block's losses; its gradient is added to `gradient`. */
double tacit_network_backward(const tacit_network *network, const double *parameters, const tacit_view *block,
                              tacit_network_space *space, double *gradient);
