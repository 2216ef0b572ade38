/*
 * A gated recurrent layer (Cho et al. 2014, with the reset gate behind the recurrent product, as cuDNN and
 * PyTorch have it). A row is a sequence of T steps of I numbers; the state h starts at 0 and has H units:
 *
 *   z = sigma(Wz x + Uz h + bz),   r = sigma(Wr x + Ur h + br),   n = tanh(Wn x + bn + r (Un h))
 *   h <- (1 - z) n + z h
 *
 * and the layer gives out h after the last step. Its weights have 3 H rows, of z, r and n, with I numbers for
 * x and then H for h.
 */
#include <math.h>
#include <string.h>

#include "model/network_parts.h"

typedef struct gru_size {
    size_t steps, inputs, units, row; /* row: numbers of a row of weights */
} gru_size;

static gru_size size_of(const tacit_layer *layer) {
    const size_t inputs = (size_t)layer->in.width * layer->in.channels, units = layer->out.channels;
    return (gru_size){ layer->in.height, inputs, units, inputs + units };
}

/* What one step leaves behind, each of H numbers: z, r, n, Un h, and the state after it. */
typedef struct gru_step {
    double *update, *reset, *candidate, *recurrent, *state;
} gru_step;

/* Step 0 is before the first. */
static gru_step step_of(const layer_pass *pass, size_t step) {
    const size_t units = pass->layer->out.channels;
    double *at = pass->space->numbers + step * 5 * units;
    return (gru_step){ at, at + units, at + 2 * units, at + 3 * units, at + 4 * units };
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static void point_at(const layer_pass *pass, size_t first, size_t count, size_t offset, size_t row) {
    for (size_t i = 0; i < count; i++) pass->space->pointers[i] = pass->weights + (first + i) * row + offset;
}

static void run_step(const layer_pass *pass, const gru_size *size, size_t t) {
    const size_t units = size->units;
    const gru_step last = step_of(pass, t - 1), now = step_of(pass, t);
    const double *x = pass->in + (t - 1) * size->inputs;
    double *from_x = pass->space->spare, *from_h = from_x + 3 * units;
    point_at(pass, 0, 3 * units, 0, size->row);
    pass->kernels->dot_rows(pass->space->pointers, 3 * units, size->inputs, x, from_x);
    point_at(pass, 0, 3 * units, size->inputs, size->row);
    pass->kernels->dot_rows(pass->space->pointers, 3 * units, units, last.state, from_h);
    for (size_t u = 0; u < units; u++) {
        now.update[u] = sigmoid(from_x[u] + from_h[u] + pass->biases[u]);
        now.reset[u] = sigmoid(from_x[units + u] + from_h[units + u] + pass->biases[units + u]);
        now.recurrent[u] = from_h[2 * units + u];
        now.candidate[u] =
            tanh(from_x[2 * units + u] + pass->biases[2 * units + u] + now.reset[u] * now.recurrent[u]);
        now.state[u] = (1 - now.update[u]) * now.candidate[u] + now.update[u] * last.state[u];
    }
}

static void run_steps(const layer_pass *pass, const gru_size *size) {
    memset(step_of(pass, 0).state, 0, size->units * sizeof(double));
    for (size_t t = 1; t <= size->steps; t++) run_step(pass, size, t);
}

void network_gru_forward(const layer_pass *pass, double *out) {
    const gru_size size = size_of(pass->layer);
    run_steps(pass, &size);
    memcpy(out, step_of(pass, size.steps).state, size.units * sizeof *out);
}

/* Derivatives by what the gates take in (from x, then from h) and, in place, by the state before the step. */
static void step_slopes(const gru_size *size, const gru_step *last, const gru_step *now, double *state,
                        double *by_x, double *by_h) {
    const size_t units = size->units;
    for (size_t u = 0; u < units; u++) {
        const double z = now->update[u], r = now->reset[u], n = now->candidate[u], slope = state[u];
        const double by_n = slope * (1 - z) * (1 - n * n);
        by_x[u] = by_h[u] = slope * (last->state[u] - n) * z * (1 - z);
        by_x[units + u] = by_h[units + u] = by_n * now->recurrent[u] * r * (1 - r);
        by_x[2 * units + u] = by_n;
        by_h[2 * units + u] = by_n * r;
        state[u] = slope * z;
    }
}

void network_gru_backward(const layer_pass *pass, const double *slope, double *weights, double *biases,
                          double *below) {
    const gru_size size = size_of(pass->layer);
    const size_t gates = 3 * size.units;
    double *by_x = pass->space->spare, *by_h = by_x + gates;
    /* The first step's room is free except for its state: nothing was before it. */
    double *state = step_of(pass, 0).update;
    run_steps(pass, &size); /* of this row, again: other rows were there since */
    memcpy(state, slope, size.units * sizeof *state);
    if (below != NULL) memset(below, 0, size.steps * size.inputs * sizeof *below);
    for (size_t t = size.steps; t > 0; t--) {
        const gru_step last = step_of(pass, t - 1), now = step_of(pass, t);
        const double *x = pass->in + (t - 1) * size.inputs, *before = last.state;
        step_slopes(&size, &last, &now, state, by_x, by_h);
        for (size_t g = 0; g < gates; g++) {
            double *row = weights + g * size.row;
            biases[g] += by_x[g];
            pass->kernels->add_rows(&x, 1, size.inputs, by_x + g, row);
            pass->kernels->add_rows(&before, 1, size.units, by_h + g, row + size.inputs);
        }
        point_at(pass, 0, gates, size.inputs, size.row);
        pass->kernels->add_rows(pass->space->pointers, gates, size.units, by_h, state);
        if (below == NULL) continue;
        point_at(pass, 0, gates, 0, size.row);
        pass->kernels->add_rows(pass->space->pointers, gates, size.inputs, by_x,
                                below + (t - 1) * size.inputs);
    }
}
