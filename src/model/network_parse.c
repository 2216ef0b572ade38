/* Lists of layers as users write them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/network.h"

enum { MOST_UNITS = 1 << 16, MOST_PARAMETERS = 1 << 26, MOST_SHAPED = 1 << 22, MOST_HELD = 1 << 24 };

/* A whole number from 1 to MOST_UNITS at *at, which moves behind it; 0: none. */
static uint32_t take_number(const char **at) {
    char *end;
    unsigned long number = **at >= '0' && **at <= '9' ? strtoul(*at, &end, 10) : 0;
    if (number == 0 || number > MOST_UNITS) return 0;
    *at = end;
    return (uint32_t)number;
}

/* Whether the text continues so; *at moves behind it then. */
static bool take_word(const char **at, const char *word) {
    const size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0) return false;
    *at += length;
    return true;
}

static tacit_status read_shape(const char *shape, size_t features, tacit_picture *out, tacit_error *error) {
    const char *at = shape;
    tacit_picture picture = { .channels = 1 };
    picture.height = take_number(&at);
    if (take_word(&at, "x")) picture.width = take_number(&at);
    if (take_word(&at, "x")) picture.channels = take_number(&at);
    if (*at != 0 || picture.height == 0 || picture.width == 0 || picture.channels == 0)
        return tacit_fail(error, TACIT_USAGE,
                          "'%s' is no shape of a row: give height and width, and channels if there is more "
                          "than one, like 28x28 or 32x32x3; for a sequence, steps and numbers in each",
                          shape);
    if ((double)picture.height * picture.width * picture.channels != (double)features)
        return tacit_fail(
            error, TACIT_USAGE,
            "a row of shape %s has %.0f numbers, and here are %zu features. Give another shape%s", shape,
            (double)picture.height * picture.width * picture.channels, features,
            ", or set intercept: no in the schema if it is one too many");
    *out = picture;
    return TACIT_OK;
}

/* How often a window fits along `length`, with `padding` zeros beside it in all; 0: not once. */
static uint32_t fits(uint32_t length, uint32_t padding, uint32_t side, uint32_t stride) {
    return length + padding < side ? 0 : (length + padding - side) / stride + 1;
}

/* A layer of windows, or a recurrent one: false where the text is none. */
static bool read_shaped(const char **at, tacit_layer *out) {
    tacit_layer layer = { .kind = TACIT_LAYER_GRU };
    if (take_word(at, "gru:")) {
        layer.out = (tacit_picture){ 1, 1, take_number(at) };
    } else if (take_word(at, "conv:")) {
        layer.kind = TACIT_LAYER_CONVOLUTION;
        layer.out.channels = take_number(at);
        layer.side = take_word(at, "x") ? take_number(at) : 0;
        layer.stride = take_word(at, "/") ? take_number(at) : 1;
    } else if (take_word(at, "pool:")) {
        layer.kind = TACIT_LAYER_POOL;
        layer.side = take_number(at);
        layer.stride = take_word(at, "/") ? take_number(at) : layer.side;
    } else {
        return false;
    }
    *out = layer;
    if (layer.kind == TACIT_LAYER_GRU) return layer.out.channels > 0;
    return layer.side > 0 && layer.stride > 0 && (layer.kind == TACIT_LAYER_POOL || layer.out.channels > 0);
}

/* What the layer makes of the picture before it, which it replaces. */
static bool fit_layer(tacit_layer *layer, tacit_picture *picture) {
    const uint32_t padding = layer->kind == TACIT_LAYER_CONVOLUTION ? (layer->side - 1) / 2 * 2 : 0;
    layer->in = *picture;
    if (layer->kind != TACIT_LAYER_GRU) {
        layer->out.height = fits(picture->height, padding, layer->side, layer->stride);
        layer->out.width = fits(picture->width, padding, layer->side, layer->stride);
        if (layer->kind == TACIT_LAYER_POOL) layer->out.channels = picture->channels;
    }
    *picture = layer->kind == TACIT_LAYER_GRU ? (tacit_picture){ 0, 0, 0 } : layer->out;
    return (double)layer->out.height * layer->out.width * layer->out.channels <= MOST_UNITS &&
           layer->out.height > 0 && layer->out.width > 0;
}

static tacit_status no_list(const char *hidden, tacit_error *error) {
    return tacit_fail(error, TACIT_USAGE,
                      "'%s' lists no hidden layers: give at most %d with commas between, each a number of "
                      "units up to %d, conv:FILTERSxSIDE, pool:SIDE or gru:UNITS, like 50,20 or "
                      "conv:16x5/2,pool:2,32",
                      hidden, TACIT_NETWORK_LAYERS - 1, (int)MOST_UNITS);
}

/* The next layer of the list, given what the rows are by now (0 x 0 where that is no longer known). */
static tacit_status read_layer(const char **at, const char *hidden, tacit_network *network,
                               tacit_picture *picture, tacit_error *error) {
    const size_t l = network->layers;
    const char *begin = *at;
    tacit_layer *layer = &network->layer[l];
    if (l + 1 == TACIT_NETWORK_LAYERS) return no_list(hidden, error);
    if (**at >= '0' && **at <= '9') {
        network->width[l + 1] = take_number(at);
        *picture = (tacit_picture){ 0, 0, 0 };
    } else if (!read_shaped(at, layer)) {
        return no_list(hidden, error);
    } else if (picture->height == 0) {
        return tacit_fail(error, TACIT_USAGE,
                          "hidden layer '%.40s': windows and recurrent layers need rows with a shape, and "
                          "come before dense ones. Set shape, like 28x28",
                          begin);
    } else if (!fit_layer(layer, picture)) {
        return tacit_fail(error, TACIT_USAGE,
                          "hidden layer '%.40s' does not fit the %u x %u places before it, or gives out more "
                          "than %d numbers: take a smaller window, a larger stride or fewer filters",
                          begin, layer->in.height, layer->in.width, (int)MOST_UNITS);
    } else {
        network->width[l + 1] = tacit_picture_numbers(&layer->out);
    }
    if (network->width[l + 1] == 0 || (**at != 0 && (**at != ',' || (*at)[1] == 0)))
        return no_list(hidden, error);
    if (**at == ',') ++*at;
    network->layers++;
    return TACIT_OK;
}

/* Numbers that a pass over one row keeps besides: what is in all windows, or what every step gave. Few
 * parameters may ask for more of them than there is memory. */
static tacit_status check_held(const tacit_network *network, const char *hidden, tacit_error *error) {
    double held = 0;
    for (size_t l = 0; l < network->layers; l++) {
        const tacit_layer *is = &network->layer[l];
        if (is->kind == TACIT_LAYER_GRU)
            held += 5.0 * is->out.channels * (is->in.height + 1.0);
        else if (is->kind != TACIT_LAYER_DENSE)
            held += (double)is->out.height * is->out.width * is->side * is->side * is->in.channels;
    }
    if (held <= MOST_HELD) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "the windows or steps of hidden layers '%s' have %.0f numbers of a row in all, and at "
                      "most %d are kept: take smaller windows, larger strides or fewer recurrent units",
                      hidden, held, (int)MOST_HELD);
}

tacit_status tacit_network_parse(tacit_network *out, const char *hidden, const char *shape,
                                 tacit_activation activation, size_t features, size_t classes,
                                 tacit_error *error) {
    tacit_network network = { .layers = 0, .activation = activation };
    tacit_picture picture = { 0, 0, 0 };
    network.width[0] = features;
    if (shape[0] != 0) TACIT_TRY(read_shape(shape, features, &picture, error));
    for (const char *at = hidden; *at != 0;) TACIT_TRY(read_layer(&at, hidden, &network, &picture, error));
    network.width[++network.layers] = tacit_network_outputs(classes);
    double size = 0; /* in doubles, which do not wrap round */
    for (size_t l = 0; l < network.layers; l++)
        size += ((double)tacit_network_weight_cols(&network, l) + 1) *
                (double)tacit_network_weight_rows(&network, l);
    const int most = tacit_network_is_dense(&network) ? MOST_PARAMETERS : MOST_SHAPED;
    if (features == 0 || classes == 1 || size > most)
        return tacit_fail(
            error, TACIT_USAGE,
            "no network has %zu features, hidden layers '%s' and %zu classes: give at least "
            "one feature and two classes (none for a number), and layers of at most %d parameters together",
            features, hidden, classes, most);
    TACIT_TRY(check_held(&network, hidden, error));
    *out = network;
    return TACIT_OK;
}

void tacit_network_layer_name(const tacit_network *network, size_t layer, char out[TACIT_LAYER_NAME]) {
    const tacit_layer *is = &network->layer[layer];
    switch (is->kind) {
    case TACIT_LAYER_DENSE: snprintf(out, TACIT_LAYER_NAME, "%zu", network->width[layer + 1]); break;
    case TACIT_LAYER_CONVOLUTION:
        snprintf(out, TACIT_LAYER_NAME, "conv:%ux%u/%u", is->out.channels, is->side, is->stride);
        break;
    case TACIT_LAYER_POOL: snprintf(out, TACIT_LAYER_NAME, "pool:%u/%u", is->side, is->stride); break;
    case TACIT_LAYER_GRU: snprintf(out, TACIT_LAYER_NAME, "gru:%u", is->out.channels); break;
    }
}

void tacit_network_shape_name(const tacit_network *network, char out[TACIT_LAYER_NAME]) {
    const tacit_picture *rows = &network->layer[0].in; /* layers with a shape come first */
    out[0] = 0;
    if (rows->height > 0)
        snprintf(out, TACIT_LAYER_NAME, "%ux%ux%u", rows->height, rows->width, rows->channels);
}

bool tacit_network_is_dense(const tacit_network *network) {
    return network->layer[0].kind == TACIT_LAYER_DENSE;
}

bool tacit_network_same(const tacit_network *a, const tacit_network *b) {
    bool same = a->layers == b->layers && a->width[0] == b->width[0] && a->activation == b->activation &&
                a->response == b->response;
    for (size_t l = 0; same && l < a->layers; l++)
        same =
            a->width[l + 1] == b->width[l + 1] && memcmp(&a->layer[l], &b->layer[l], sizeof a->layer[l]) == 0;
    return same;
}
