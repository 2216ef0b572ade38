/*
 * A network's scores as ONNX operators. Programs have Conv and GRU for floats only, so in double precision
 * windows are columns gathered side by side, and the steps of a recurrent layer are written one after the
 * other.
 */
#include <string.h>

#include "model/export/export_graph.h"

/* A network under way: `rows` is what the layers so far give out, one row a row. */
typedef struct scoring {
    onnx_graph *g;
    const tacit_model *model;
    graph_value rows;
} scoring;

/* An activation, written so that no Gemm meets it (export_graph.h): -tanh(-t), 1 - sigma(-t), max(t, 0). */
static graph_value activate(onnx_graph *g, tacit_activation activation, graph_value units) {
    switch (activation) {
    case TACIT_ACTIVATION_TANH: return GRAPH(g, "Neg", GRAPH(g, "Tanh", GRAPH(g, "Neg", units)));
    case TACIT_ACTIVATION_SIGMOID:
        return GRAPH(g, "Sub", graph_number(g, 1), GRAPH(g, "Sigmoid", GRAPH(g, "Neg", units)));
    case TACIT_ACTIVATION_RELU: return GRAPH(g, "Max", units, graph_number(g, 0));
    }
    return units;
}

static graph_value reshape(onnx_graph *g, graph_value value, size_t count, const int64_t *shape) {
    return GRAPH(g, "Reshape", value, graph_integers(g, count, shape));
}

/* ---- windows ---- */

/* The contents of all windows side by side; what is beside the picture is a column of zeros behind it. */
static graph_value gather_windows(scoring *s, const tacit_layer *layer, size_t windows, size_t places) {
    onnx_graph *g = s->g;
    const size_t numbers = tacit_picture_numbers(&layer->in);
    const int64_t one_behind[] = { 0, 0, 0, 1 };
    uint32_t *column = graph_allocate(g, windows * places, sizeof *column);
    bool outside = false;
    for (size_t i = 0; i < windows * places && column != NULL; i++) {
        column[i] = tacit_layer_input(layer, i / places, i % places);
        if (column[i] == UINT32_MAX) column[i] = (uint32_t)numbers;
        outside = outside || column[i] == numbers;
    }
    if (column == NULL) return "";
    graph_value rows = s->rows;
    if (outside) rows = GRAPH(g, "Pad", rows, graph_integers(g, 4, one_behind), graph_number(g, 0));
    return graph_gather(g, rows, windows * places, column);
}

static graph_value convolve(scoring *s, size_t l) {
    const tacit_network *network = &s->model->network;
    const tacit_layer *layer = &network->layer[l];
    const size_t places = tacit_network_weight_cols(network, l), filters = layer->out.channels;
    const size_t windows = (size_t)layer->out.height * layer->out.width;
    graph_value contents =
        reshape(s->g, gather_windows(s, layer, windows, places), 2, (const int64_t[]){ -1, (int64_t)places });
    graph_value sums = graph_linear(s->g, contents, filters, places,
                                    s->model->weights + tacit_network_weights_at(network, l),
                                    s->model->weights + tacit_network_biases_at(network, l));
    return reshape(s->g, sums, 2, (const int64_t[]){ -1, (int64_t)(windows * filters) });
}

static graph_value pool(scoring *s, const tacit_layer *layer) {
    const size_t places = (size_t)layer->side * layer->side, windows = tacit_picture_numbers(&layer->out);
    graph_value contents = reshape(s->g, gather_windows(s, layer, windows, places), 3,
                                   (const int64_t[]){ -1, (int64_t)windows, (int64_t)places });
    graph_value most = GRAPH(s->g, "ReduceMax", contents);
    graph_set_integers(s->g, "axes", 1, (const int64_t[]){ 2 });
    graph_set(s->g, "keepdims", 0);
    return most;
}

/* ---- recurrent ---- */

static graph_value columns(onnx_graph *g, graph_value rows, size_t first, size_t count) {
    uint32_t *column = graph_allocate(g, count, sizeof *column);
    for (size_t i = 0; i < count && column != NULL; i++) column[i] = (uint32_t)(first + i);
    return column == NULL ? "" : graph_gather(g, rows, count, column);
}

/* The weights of the three gates' units for x, or those for h. */
static double *gate_weights(scoring *s, size_t l, size_t first, size_t count) {
    const tacit_network *network = &s->model->network;
    const size_t rows = tacit_network_weight_rows(network, l), cols = tacit_network_weight_cols(network, l);
    const double *weights = s->model->weights + tacit_network_weights_at(network, l);
    double *own = graph_allocate(s->g, rows * count, sizeof *own);
    for (size_t r = 0; r < rows && own != NULL; r++)
        memcpy(own + r * count, weights + r * cols + first, count * sizeof *own);
    return own;
}

/* One step of network_gru.c; `last` NULL: the state is 0. */
static graph_value step(onnx_graph *g, graph_value from_x, graph_value from_h, graph_value last,
                        size_t units) {
    graph_value gate[3];
    for (size_t k = 0; k < 3; k++) {
        gate[k] = columns(g, from_x, k * units, units);
        if (from_h == NULL) continue;
        graph_value own = columns(g, from_h, k * units, units);
        gate[k] = GRAPH(g, "Add", gate[k], k == 2 ? GRAPH(g, "Mul", gate[1], own) : own);
        if (k == 1) gate[k] = GRAPH(g, "Sigmoid", gate[k]);
    }
    graph_value update = GRAPH(g, "Sigmoid", gate[0]), candidate = GRAPH(g, "Tanh", gate[2]);
    graph_value away = last == NULL ? GRAPH(g, "Neg", candidate) : GRAPH(g, "Sub", last, candidate);
    return GRAPH(g, "Add", candidate, GRAPH(g, "Mul", update, away));
}

static graph_value recur(scoring *s, size_t l) {
    const tacit_network *network = &s->model->network;
    const tacit_layer *layer = &network->layer[l];
    const size_t inputs = (size_t)layer->in.width * layer->in.channels, units = layer->out.channels;
    /* Once for all steps: a file that repeated them would be as many times as large. */
    graph_value for_x = graph_matrix(s->g, 3 * units, inputs, gate_weights(s, l, 0, inputs));
    graph_value for_h = graph_matrix(s->g, 3 * units, units, gate_weights(s, l, inputs, units));
    graph_value biases =
        graph_matrix(s->g, 1, 3 * units, s->model->weights + tacit_network_biases_at(network, l));
    graph_value state = NULL;
    for (size_t t = 0; t < layer->in.height && !s->g->failed; t++) {
        graph_value x = columns(s->g, s->rows, t * inputs, inputs), from_h = NULL;
        graph_value from_x = GRAPH(s->g, "Gemm", x, for_x, biases);
        graph_set(s->g, "transB", 1);
        if (state != NULL) {
            from_h = GRAPH(s->g, "Gemm", state, for_h);
            graph_set(s->g, "transB", 1);
        }
        state = step(s->g, from_x, from_h, state, units);
    }
    return state == NULL ? "" : state;
}

/* ---- all layers ---- */

static graph_value apply_layer(scoring *s, size_t l) {
    const tacit_network *network = &s->model->network;
    switch (network->layer[l].kind) {
    case TACIT_LAYER_CONVOLUTION: return convolve(s, l);
    case TACIT_LAYER_POOL: return pool(s, &network->layer[l]);
    case TACIT_LAYER_GRU: return recur(s, l);
    case TACIT_LAYER_DENSE: break;
    }
    return graph_linear(s->g, s->rows, network->width[l + 1], network->width[l],
                        s->model->weights + tacit_network_weights_at(network, l),
                        s->model->weights + tacit_network_biases_at(network, l));
}

graph_value graph_network(onnx_graph *g, const tacit_model *model, graph_value rows) {
    scoring s = { g, model, rows };
    for (size_t l = 0; l < model->network.layers && !g->failed; l++) {
        s.rows = apply_layer(&s, l);
        if (tacit_network_activates(&model->network, l))
            s.rows = activate(g, model->network.activation, s.rows);
    }
    return s.rows;
}
