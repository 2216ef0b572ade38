/*
 * A network of layers: dense ones, convolutions and pooling over rows that are pictures, a gated recurrent
 * layer over rows that are sequences; tanh, sigmoid or ReLU in the hidden units of dense layers and
 * convolutions, and one logistic output (two classes), a softmax over as many outputs as classes, or the
 * score of a number or a count. Forward and backward passes over a block of rows, dense or sparse, in
 * double precision; a block of one row gives that row's own gradient. Who trains it, and how, is not its
 * business; clipped sums of many rows' gradients are in model/clipped_batch.h.
 *
 * Parameters are one array: for each layer its weights, one row a unit, filter or gate, then its biases.
 */
#pragma once

#include "data/dataset.h"
#include "data/schema/schema.h"
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

typedef enum tacit_layer_kind {
    TACIT_LAYER_DENSE,
    TACIT_LAYER_CONVOLUTION,
    TACIT_LAYER_POOL,
    TACIT_LAYER_GRU,
} tacit_layer_kind;

/* Numbers of a row, the channels of a place side by side, then along the width, then down the height. To a
 * recurrent layer each line of it is a step. */
typedef struct tacit_picture {
    uint32_t height, width, channels;
} tacit_picture;

static inline size_t tacit_picture_numbers(const tacit_picture *picture) {
    return (size_t)picture->height * picture->width * picture->channels;
}

/* What a layer is besides its width; all zeros for a dense one. */
typedef struct tacit_layer {
    tacit_layer_kind kind;
    uint32_t side, stride; /* of the window of a convolution or of pooling */
    tacit_picture in, out; /* a recurrent layer gives out one place with a channel a unit */
} tacit_layer;

typedef struct tacit_network {
    size_t layers;                          /* hidden layers and the output */
    size_t width[TACIT_NETWORK_LAYERS + 1]; /* features, what each hidden layer gives out, outputs */
    tacit_layer layer[TACIT_NETWORK_LAYERS];
    tacit_activation activation; /* of hidden units, except for pooling and recurrent ones */
    tacit_response response;     /* what the output is a score of: classes, a number or a count */
    /* the largest |response| that is allowed: its loss is the clipped one of its family, in these units */
    double largest;
} tacit_network;

/* The network for a number of features and classes, 0 for a number or a count (the caller then says which,
 * and the largest), whose hidden layers are listed in `hidden`, with commas
 * between; "" has none. A layer is
 *   128          dense, of 128 units
 *   conv:16x5    16 filters over windows of 5 x 5, as many zeros beside the picture as make windows fit;
 *   conv:16x5/2  moved by 2 places instead of 1
 *   pool:2       the largest numbers of windows of 2 x 2, moved by 2; or pool:3/2
 *   gru:32       a recurrent layer of 32 units
 * and `shape` is what the rows are, as "28x28" or "32x32x3", height, width and channels; "" where no layer
 * asks. TACIT_USAGE for a list that is none, layers that do not fit, one with more than 2^16 units, or more
 * than 2^26 parameters (2^22 with layers that are not dense, whose windows and steps have at most 2^24
 * numbers of a row in all). */
tacit_status tacit_network_parse(tacit_network *out, const char *hidden, const char *shape,
                                 tacit_activation activation, size_t features, size_t classes,
                                 tacit_error *error);

/* The layer as `hidden` lists it, and the shape of the rows ("" if no layer asks). */
enum { TACIT_LAYER_NAME = 40 };
void tacit_network_layer_name(const tacit_network *network, size_t layer, char out[TACIT_LAYER_NAME]);
void tacit_network_shape_name(const tacit_network *network, char out[TACIT_LAYER_NAME]);

bool tacit_network_is_dense(const tacit_network *network); /* in all layers */
bool tacit_network_same(const tacit_network *a, const tacit_network *b);

/* Whether the activation applies to what a layer gives out. */
bool tacit_network_activates(const tacit_network *network, size_t layer);

/* Which number of the picture is at a place of a window of a convolution or of pooling (whose windows are
 * those of one channel); UINT32_MAX: none, there is zero. */
uint32_t tacit_layer_input(const tacit_layer *layer, size_t window, size_t place);

/* Outputs for a number of classes: one for two, else one a class. */
size_t tacit_network_outputs(size_t classes);

size_t tacit_network_size(const tacit_network *network); /* how many parameters */

/* Rows of weights, of which each has a bias, and the numbers in one. */
size_t tacit_network_weight_rows(const tacit_network *network, size_t layer);
size_t tacit_network_weight_cols(const tacit_network *network, size_t layer);

/* Where the weights of a layer start, and its biases after them. */
size_t tacit_network_weights_at(const tacit_network *network, size_t layer);
size_t tacit_network_biases_at(const tacit_network *network, size_t layer);

/* Random weights of variance 1/gain[layer], zero biases. */
void tacit_network_start(const tacit_network *network, const double *gain, tacit_stream *stream,
                         double *parameters);

/* Gains with which what a unit takes in starts out with a variance of at most 1, for rows of norm `length` at
 * most; about that where a window sees its part of a row. */
void tacit_network_gains(const tacit_network *network, double length, double *gain);

/* Multiply the scores by `factor`. */
void tacit_network_scale_scores(const tacit_network *network, double factor, double *parameters);

/* Make parameters for rows times `scale`, above 0, into those for the rows themselves. */
void tacit_network_scale_rows(const tacit_network *network, double scale, double *parameters);

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

/* The loss of the scores of row i of the view, and its derivatives by them. */
double tacit_network_loss(const tacit_network *network, const double *scores, const tacit_view *view,
                          size_t i, double *slope);

/* The sum of the block's losses; its gradient is added to `gradient`. */
double tacit_network_backward(const tacit_network *network, const double *parameters, const tacit_view *block,
                              tacit_network_space *space, double *gradient);
