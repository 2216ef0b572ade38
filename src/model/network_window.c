/*
 * Convolution and pooling: a square window moves over a picture, channels innermost. A convolution takes the
 * inner product of each filter with what is in the window, with zeros beside the picture, (side - 1)/2 of
 * them before it; pooling takes the largest number of each channel, and its windows stay inside.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/network_parts.h"

static size_t positions(const tacit_layer *layer) { return (size_t)layer->out.height * layer->out.width; }

/* Places of one window: of a convolution all channels, of pooling those of one. */
static size_t places(const tacit_layer *layer) {
    size_t square = (size_t)layer->side * layer->side;
    return layer->kind == TACIT_LAYER_CONVOLUTION ? square * layer->in.channels : square;
}

static size_t windows(const tacit_layer *layer) {
    return layer->kind == TACIT_LAYER_CONVOLUTION ? positions(layer) : tacit_picture_numbers(&layer->out);
}

uint32_t tacit_layer_input(const tacit_layer *layer, size_t window, size_t place) {
    const bool pool = layer->kind == TACIT_LAYER_POOL;
    const size_t channels = layer->in.channels, before = pool ? 0 : (layer->side - 1) / 2;
    const size_t channel = pool ? window % channels : place % channels;
    const size_t at = pool ? window / channels : window, cell = pool ? place : place / channels;
    const size_t top = at / layer->out.width * layer->stride + cell / layer->side;
    const size_t left = at % layer->out.width * layer->stride + cell % layer->side;
    if (top < before || left < before || top - before >= layer->in.height || left - before >= layer->in.width)
        return NETWORK_OUTSIDE;
    return (uint32_t)(((top - before) * layer->in.width + left - before) * channels + channel);
}

/* ---- space ---- */

void network_layer_space_clear(layer_space *space) {
    free(space->window);
    free(space->numbers);
    free(space->spare);
    free(space->pointers);
    *space = (layer_space){ .window = NULL };
}

static tacit_status make_windows(layer_space *out, const tacit_layer *layer, tacit_error *error) {
    const size_t count = windows(layer), each = places(layer), filters = layer->out.channels;
    out->window = TACIT_NEW(uint32_t, count * each);
    if (layer->kind == TACIT_LAYER_CONVOLUTION) {
        out->numbers = TACIT_NEW(double, count *each);
        out->spare = TACIT_NEW(double, each + count);
        out->pointers = TACIT_NEW(const double *, count > filters ? count : filters);
        if (out->numbers == NULL || out->spare == NULL || out->pointers == NULL)
            return tacit_fail_memory(error);
    }
    if (out->window == NULL) return tacit_fail_memory(error);
    for (size_t w = 0; w < count; w++)
        for (size_t k = 0; k < each; k++) out->window[w * each + k] = tacit_layer_input(layer, w, k);
    return TACIT_OK;
}

/* In each step the gates, the candidate's recurrent part and the state; then the same for derivatives. */
static tacit_status make_steps(layer_space *out, const tacit_layer *layer, tacit_error *error) {
    const size_t units = layer->out.channels;
    out->numbers = TACIT_NEW(double, ((size_t)layer->in.height + 1) * 5 * units);
    out->spare = TACIT_NEW(double, 6 * units);
    out->pointers = TACIT_NEW(const double *, 3 * units);
    return out->numbers != NULL && out->spare != NULL && out->pointers != NULL ? TACIT_OK
                                                                               : tacit_fail_memory(error);
}

tacit_status network_layer_space_create(layer_space *out, const tacit_layer *layer, tacit_error *error) {
    layer_space space = { .window = NULL };
    tacit_status status = TACIT_OK;
    if (layer->kind == TACIT_LAYER_GRU)
        status = make_steps(&space, layer, error);
    else if (layer->kind != TACIT_LAYER_DENSE)
        status = make_windows(&space, layer, error);
    if (status == TACIT_OK)
        *out = space;
    else
        network_layer_space_clear(&space);
    return status;
}

/* ---- convolution ---- */

static void fill_windows(const layer_pass *pass) {
    const size_t count = positions(pass->layer) * places(pass->layer);
    const uint32_t *from = pass->space->window;
    for (size_t i = 0; i < count; i++)
        pass->space->numbers[i] = from[i] == NETWORK_OUTSIDE ? 0 : pass->in[from[i]];
}

static void point_at(const double **pointers, const double *first, size_t count, size_t each) {
    for (size_t i = 0; i < count; i++) pointers[i] = first + i * each;
}

static void convolve(const layer_pass *pass, double *out) {
    const size_t filters = pass->layer->out.channels, each = places(pass->layer);
    fill_windows(pass);
    point_at(pass->space->pointers, pass->weights, filters, each);
    for (size_t p = 0; p < positions(pass->layer); p++) {
        double *to = out + p * filters;
        pass->kernels->dot_rows(pass->space->pointers, filters, each, pass->space->numbers + p * each, to);
        for (size_t f = 0; f < filters; f++) to[f] += pass->biases[f];
    }
}

static void convolve_back(const layer_pass *pass, const double *slope, double *weights, double *biases,
                          double *below) {
    const tacit_layer *layer = pass->layer;
    const size_t filters = layer->out.channels, each = places(layer), count = positions(layer);
    double *window = pass->space->spare, *column = window + each;
    fill_windows(pass);
    point_at(pass->space->pointers, pass->space->numbers, count, each);
    for (size_t f = 0; f < filters; f++) {
        for (size_t p = 0; p < count; p++) biases[f] += column[p] = slope[p * filters + f];
        pass->kernels->add_rows(pass->space->pointers, count, each, column, weights + f * each);
    }
    if (below == NULL) return;
    memset(below, 0, tacit_picture_numbers(&layer->in) * sizeof *below);
    point_at(pass->space->pointers, pass->weights, filters, each);
    for (size_t p = 0; p < count; p++) {
        const uint32_t *to = pass->space->window + p * each;
        memset(window, 0, each * sizeof *window);
        pass->kernels->add_rows(pass->space->pointers, filters, each, slope + p * filters, window);
        for (size_t k = 0; k < each; k++)
            if (to[k] != NETWORK_OUTSIDE) below[to[k]] += window[k];
    }
}

/* ---- pooling ---- */

/* Where the largest number of a window is; the first of equal ones. */
static uint32_t largest(const layer_pass *pass, size_t window) {
    const size_t each = places(pass->layer);
    const uint32_t *at = pass->space->window + window * each;
    uint32_t best = at[0];
    for (size_t k = 1; k < each; k++)
        if (pass->in[at[k]] > pass->in[best]) best = at[k];
    return best;
}

static void pool(const layer_pass *pass, double *out) {
    for (size_t w = 0; w < windows(pass->layer); w++) out[w] = pass->in[largest(pass, w)];
}

static void pool_back(const layer_pass *pass, const double *slope, double *below) {
    if (below == NULL) return;
    memset(below, 0, tacit_picture_numbers(&pass->layer->in) * sizeof *below);
    for (size_t w = 0; w < windows(pass->layer); w++) below[largest(pass, w)] += slope[w];
}

/* ---- either ---- */

void network_layer_forward(const layer_pass *pass, double *out) {
    switch (pass->layer->kind) {
    case TACIT_LAYER_DENSE: break; /* in blocks of rows: network.c */
    case TACIT_LAYER_CONVOLUTION: convolve(pass, out); break;
    case TACIT_LAYER_POOL: pool(pass, out); break;
    case TACIT_LAYER_GRU: network_gru_forward(pass, out); break;
    }
}

void network_layer_backward(const layer_pass *pass, const double *slope, double *weights, double *biases,
                            double *below) {
    switch (pass->layer->kind) {
    case TACIT_LAYER_DENSE: break;
    case TACIT_LAYER_CONVOLUTION: convolve_back(pass, slope, weights, biases, below); break;
    case TACIT_LAYER_POOL: pool_back(pass, slope, below); break;
    case TACIT_LAYER_GRU: network_gru_backward(pass, slope, weights, biases, below); break;
    }
}
