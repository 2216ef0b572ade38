#include "model/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/family/family.h"
#include "model/network_parts.h"
#include "rand/fast.h"

struct tacit_network_space {
    const tacit_kernels *kernels;
    double *units[TACIT_NETWORK_LAYERS]; /* what each layer gives out, BLOCK x width */
    double *slope[2];                    /* derivatives by what a layer takes in, of two layers in turn */
    const double **pointers;             /* to rows or units */
    double scale[TACIT_NETWORK_BLOCK];
    double *row;                             /* a sparse row, for a first layer that is not dense */
    layer_space layer[TACIT_NETWORK_LAYERS]; /* of those that are not */
};

const char *tacit_activation_name(tacit_activation activation) {
    switch (activation) {
    case TACIT_ACTIVATION_TANH: return "tanh";
    case TACIT_ACTIVATION_SIGMOID: return "sigmoid";
    case TACIT_ACTIVATION_RELU: return "relu";
    }
    return "unknown";
}

size_t tacit_network_outputs(size_t classes) { return classes > 2 ? classes : 1; }

bool tacit_network_activates(const tacit_network *network, size_t layer) {
    const tacit_layer_kind kind = network->layer[layer].kind;
    return layer + 1 < network->layers && (kind == TACIT_LAYER_DENSE || kind == TACIT_LAYER_CONVOLUTION);
}

size_t tacit_network_weight_rows(const tacit_network *network, size_t layer) {
    const tacit_layer *is = &network->layer[layer];
    switch (is->kind) {
    case TACIT_LAYER_DENSE: break;
    case TACIT_LAYER_CONVOLUTION: return is->out.channels;
    case TACIT_LAYER_POOL: return 0;
    case TACIT_LAYER_GRU: return (size_t)3 * is->out.channels;
    }
    return network->width[layer + 1];
}

size_t tacit_network_weight_cols(const tacit_network *network, size_t layer) {
    const tacit_layer *is = &network->layer[layer];
    switch (is->kind) {
    case TACIT_LAYER_DENSE: break;
    case TACIT_LAYER_CONVOLUTION: return (size_t)is->side * is->side * is->in.channels;
    case TACIT_LAYER_POOL: return 0;
    case TACIT_LAYER_GRU: return (size_t)is->in.width * is->in.channels + is->out.channels;
    }
    return network->width[layer];
}

static size_t weight_count(const tacit_network *network, size_t layer) {
    return tacit_network_weight_rows(network, layer) * tacit_network_weight_cols(network, layer);
}

size_t tacit_network_weights_at(const tacit_network *network, size_t layer) {
    size_t at = 0;
    for (size_t l = 0; l < layer; l++) at += weight_count(network, l) + tacit_network_weight_rows(network, l);
    return at;
}

size_t tacit_network_biases_at(const tacit_network *network, size_t layer) {
    return tacit_network_weights_at(network, layer) + weight_count(network, layer);
}

size_t tacit_network_size(const tacit_network *network) {
    return tacit_network_weights_at(network, network->layers);
}

void tacit_network_start(const tacit_network *network, const double *gain, tacit_stream *stream,
                         double *parameters) {
    for (size_t l = 0; l < network->layers; l++) {
        double *weights = parameters + tacit_network_weights_at(network, l), deviation = 1 / sqrt(gain[l]);
        size_t count = weight_count(network, l);
        tacit_fast_normals(stream, weights, count);
        for (size_t i = 0; i < count; i++) weights[i] *= deviation;
        memset(weights + count, 0, tacit_network_weight_rows(network, l) * sizeof *weights);
    }
}

void tacit_network_gains(const tacit_network *network, double length, double *gain) {
    for (size_t l = 0; l < network->layers; l++) {
        const double inputs = (double)tacit_network_weight_cols(network, l), all = (double)network->width[0];
        gain[l] = l == 0 ? length * length * (inputs / all) : inputs;
        if (inputs == 0) gain[l] = 1; /* pooling has no weights */
    }
}

void tacit_network_scale_rows(const tacit_network *network, double scale, double *parameters) {
    size_t l = 0; /* the largest of scaled numbers is the largest number, scaled */
    while (network->layer[l].kind == TACIT_LAYER_POOL) l++;
    const size_t cols = tacit_network_weight_cols(network, l);
    const size_t own = network->layer[l].kind == TACIT_LAYER_GRU ? network->layer[l].out.channels : 0;
    double *weights = parameters + tacit_network_weights_at(network, l);
    for (size_t r = 0; r < tacit_network_weight_rows(network, l); r++)
        for (size_t j = 0; j + own < cols; j++) weights[r * cols + j] *= scale;
}

void tacit_network_scale_scores(const tacit_network *network, double factor, double *parameters) {
    for (size_t j = tacit_network_weights_at(network, network->layers - 1); j < tacit_network_size(network);
         j++)
        parameters[j] *= factor;
}

/* ---- space ---- */

tacit_network_space *tacit_network_space_free(tacit_network_space *space) {
    if (space == NULL) return NULL;
    for (size_t l = 0; l < TACIT_NETWORK_LAYERS; l++) {
        free(space->units[l]);
        network_layer_space_clear(&space->layer[l]);
    }
    free(space->row);
    free(space->slope[0]);
    free(space->slope[1]);
    free(space->pointers);
    free(space);
    return NULL;
}

tacit_status tacit_network_space_create(tacit_network_space **out, const tacit_network *network,
                                        tacit_error *error) {
    tacit_network_space *space = TACIT_NEW(tacit_network_space, 1);
    size_t widest = 1;
    if (space == NULL) return tacit_fail_memory(error);
    space->kernels = tacit_kernels_choose();
    bool enough = true;
    for (size_t l = 0; l < network->layers; l++) {
        size_t width = network->width[l + 1];
        if (width > widest) widest = width;
        space->units[l] = TACIT_NEW(double, TACIT_NETWORK_BLOCK *width);
        enough = enough && space->units[l] != NULL &&
                 network_layer_space_create(&space->layer[l], &network->layer[l], NULL) == TACIT_OK;
    }
    space->row = TACIT_NEW(double, network->width[0]);
    size_t pointers = widest > TACIT_NETWORK_BLOCK ? widest : TACIT_NETWORK_BLOCK;
    space->slope[0] = TACIT_NEW(double, TACIT_NETWORK_BLOCK *widest);
    space->slope[1] = TACIT_NEW(double, TACIT_NETWORK_BLOCK *widest);
    space->pointers = TACIT_NEW(const double *, pointers);
    if (!enough || space->row == NULL || space->slope[0] == NULL || space->slope[1] == NULL ||
        space->pointers == NULL) {
        tacit_network_space_free(space);
        return tacit_fail_memory(error);
    }
    *out = space;
    return TACIT_OK;
}

/* ---- forward ---- */

static void point_at_units(tacit_network_space *space, const double *weights, size_t units, size_t inputs) {
    for (size_t u = 0; u < units; u++) space->pointers[u] = weights + u * inputs;
}

/* out = W x + b for each row of `in`. */
static void forward_layer(tacit_network_space *space, const tacit_rows *in, const double *weights,
                          const double *biases, size_t units, double *out) {
    point_at_units(space, weights, units, in->cols);
    for (size_t i = 0; i < in->count; i++) {
        double *to = out + i * units;
        if (in->dense != NULL) {
            const double *x = in->dense + tacit_rows_stored(in, i) * in->stride;
            space->kernels->dot_rows(space->pointers, units, in->cols, x, to);
        } else {
            for (size_t u = 0; u < units; u++) to[u] = tacit_rows_dot(in, i, space->pointers[u]);
        }
        for (size_t u = 0; u < units; u++) to[u] += biases[u];
    }
}

/* What layer l takes in: the rows themselves, or the units of the layer before. */
static tacit_rows layer_input(const tacit_network *network, const tacit_network_space *space,
                              const tacit_rows *block, size_t layer) {
    if (layer == 0) return *block;
    return (tacit_rows){ .count = block->count,
                         .cols = network->width[layer],
                         .dense = space->units[layer - 1],
                         .stride = network->width[layer] };
}

static void activate(tacit_activation activation, double *units, size_t count) {
    switch (activation) {
    case TACIT_ACTIVATION_TANH:
        for (size_t i = 0; i < count; i++) units[i] = tanh(units[i]);
        break;
    case TACIT_ACTIVATION_SIGMOID:
        for (size_t i = 0; i < count; i++) units[i] = 1 / (1 + exp(-units[i]));
        break;
    case TACIT_ACTIVATION_RELU:
        for (size_t i = 0; i < count; i++) units[i] = fmax(0, units[i]);
        break;
    }
}

/* Row `row` of what a layer that is not dense takes in, and the layer itself. */
static layer_pass pass_of(const tacit_network *network, tacit_network_space *space, const double *parameters,
                          size_t layer, const tacit_rows *in, size_t row) {
    layer_pass pass = { .kernels = space->kernels,
                        .layer = &network->layer[layer],
                        .space = &space->layer[layer],
                        .weights = parameters + tacit_network_weights_at(network, layer),
                        .biases = parameters + tacit_network_biases_at(network, layer),
                        .in = space->row };
    if (in->dense != NULL)
        pass.in = in->dense + tacit_rows_stored(in, row) * in->stride;
    else
        tacit_rows_copy(in, row, space->row);
    return pass;
}

const double *tacit_network_forward(const tacit_network *network, const double *parameters,
                                    const tacit_rows *block, tacit_network_space *space) {
    for (size_t l = 0; l < network->layers; l++) {
        tacit_rows in = layer_input(network, space, block, l);
        size_t units = network->width[l + 1];
        if (network->layer[l].kind == TACIT_LAYER_DENSE)
            forward_layer(space, &in, parameters + tacit_network_weights_at(network, l),
                          parameters + tacit_network_biases_at(network, l), units, space->units[l]);
        for (size_t i = 0; network->layer[l].kind != TACIT_LAYER_DENSE && i < in.count; i++) {
            layer_pass pass = pass_of(network, space, parameters, l, &in, i);
            network_layer_forward(&pass, space->units[l] + i * units);
        }
        if (tacit_network_activates(network, l))
            activate(network->activation, space->units[l], block->count * units);
    }
    return space->units[network->layers - 1];
}

int32_t tacit_network_class(const tacit_network *network, const double *scores) {
    size_t outputs = network->width[network->layers], best = 0;
    if (outputs == 1) return scores[0] > 0;
    for (size_t k = 1; k < outputs; k++)
        if (scores[k] > scores[best]) best = k;
    return (int32_t)best;
}

/* ---- backward ---- */

/* log(1 + exp(-yt)) and its derivative by t. */
static double logistic_loss(double score, int32_t label, double *slope) {
    double y = label == 1 ? 1 : -1, away = exp(-fabs(score));
    *slope = y * score > 0 ? -y * away / (1 + away) : -y / (1 + away);
    return fmax(0, -y * score) + log1p(away);
}

/* -log softmax(scores)_label and its derivatives. */
static double softmax_loss(const double *scores, size_t outputs, int32_t label, double *slope) {
    double largest = scores[0], sum = 0;
    for (size_t k = 1; k < outputs; k++) largest = fmax(largest, scores[k]);
    for (size_t k = 0; k < outputs; k++) sum += slope[k] = exp(scores[k] - largest);
    for (size_t k = 0; k < outputs; k++) slope[k] /= sum;
    slope[label] -= 1;
    return log(sum) + largest - scores[label];
}

/* With a slope that is bounded whatever the score, so that no row's gradient is infinite. */
static double numeric_loss(const tacit_network *network, double score, double y, double *slope) {
    const tacit_family *family = tacit_family_of(network->response, 0)->clipped;
    double loss, curvature;
    family->loss.rows(tacit_kernels_choose(), network->largest, 1, &y, &score, &loss, slope, &curvature);
    return loss;
}

double tacit_network_loss(const tacit_network *network, const double *scores, const tacit_view *view,
                          size_t i, double *slope) {
    size_t outputs = network->width[network->layers];
    if (network->response != TACIT_RESPONSE_CLASS)
        return numeric_loss(network, scores[0], tacit_view_response(view, i), slope);
    int32_t label = tacit_view_label(view, i);
    return outputs == 1 ? logistic_loss(scores[0], label, slope)
                        : softmax_loss(scores, outputs, label, slope);
}

static double output_slopes(const tacit_network *network, const tacit_view *block, const double *scores,
                            double *slope) {
    size_t outputs = network->width[network->layers];
    double loss = 0;
    for (size_t i = 0; i < block->rows.count; i++)
        loss += tacit_network_loss(network, scores + i * outputs, block, i, slope + i * outputs);
    return loss;
}

/* gradient += slope^T x for the weights, column sums of slope for the biases. */
static void add_layer_gradient(tacit_network_space *space, const tacit_rows *in, const double *slope,
                               size_t units, double *weights, double *biases) {
    for (size_t i = 0; i < in->count && in->dense != NULL; i++)
        space->pointers[i] = in->dense + tacit_rows_stored(in, i) * in->stride;
    for (size_t u = 0; u < units; u++) {
        double *to = weights + u * in->cols;
        for (size_t i = 0; i < in->count; i++) biases[u] += space->scale[i] = slope[i * units + u];
        if (in->dense != NULL)
            space->kernels->add_rows(space->pointers, in->count, in->cols, space->scale, to);
        else
            for (size_t i = 0; i < in->count; i++) tacit_rows_add(in, i, space->scale[i], to);
    }
}

/* The activation's derivative, in terms of what the unit gives out. */
static double activation_slope(tacit_activation activation, double unit) {
    switch (activation) {
    case TACIT_ACTIVATION_TANH: return 1 - unit * unit;
    case TACIT_ACTIVATION_SIGMOID: return unit * (1 - unit);
    case TACIT_ACTIVATION_RELU: return unit > 0;
    }
    return 0;
}

/* Derivatives by what a dense layer takes in: slope W. */
static void slope_below(tacit_network_space *space, size_t rows, const double *slope, const double *weights,
                        size_t units, size_t inputs, double *out) {
    point_at_units(space, weights, units, inputs);
    memset(out, 0, rows * inputs * sizeof *out);
    for (size_t i = 0; i < rows; i++)
        space->kernels->add_rows(space->pointers, units, inputs, slope + i * units, out + i * inputs);
}

/* The gradient of layer l, and to `below` the derivatives by what it takes in, unless it is the first. */
static void layer_back(const tacit_network *network, tacit_network_space *space, const double *parameters,
                       size_t l, const tacit_rows *in, const double *slope, double *gradient, double *below) {
    const size_t units = network->width[l + 1], at = tacit_network_weights_at(network, l);
    double *weights = gradient + at, *biases = gradient + tacit_network_biases_at(network, l);
    if (network->layer[l].kind == TACIT_LAYER_DENSE) {
        add_layer_gradient(space, in, slope, units, weights, biases);
        if (l > 0) slope_below(space, in->count, slope, parameters + at, units, in->cols, below);
        return;
    }
    for (size_t i = 0; i < in->count; i++) {
        layer_pass pass = pass_of(network, space, parameters, l, in, i);
        network_layer_backward(&pass, slope + i * units, weights, biases,
                               l > 0 ? below + i * in->cols : NULL);
    }
}

double tacit_network_backward(const tacit_network *network, const double *parameters, const tacit_view *block,
                              tacit_network_space *space, double *gradient) {
    const double *scores = tacit_network_forward(network, parameters, &block->rows, space);
    double *slope = space->slope[0], *below = space->slope[1];
    double loss = output_slopes(network, block, scores, slope);
    for (size_t l = network->layers; l-- > 0;) {
        tacit_rows in = layer_input(network, space, &block->rows, l);
        layer_back(network, space, parameters, l, &in, slope, gradient, below);
        if (l == 0) break;
        for (size_t i = 0; i < in.count * in.cols && tacit_network_activates(network, l - 1); i++)
            below[i] *= activation_slope(network->activation, in.dense[i]);
        double *swap = slope;
        slope = below;
        below = swap;
    }
    return loss;
}
