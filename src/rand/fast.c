#include "rand/fast.h"

#include <math.h>

double tacit_fast_normal(tacit_stream *stream) {
    /* Marsaglia's polar method; its second value is thrown away so that a stream has no hidden state. */
    for (;;) {
        double u = 2 * tacit_stream_unit(stream) - 1, v = 2 * tacit_stream_unit(stream) - 1;
        double square = u * u + v * v;
        if (square < 1 && square > 0) return u * sqrt(-2 * log(square) / square);
    }
}

double tacit_fast_exponential(tacit_stream *stream) { return -log(tacit_stream_unit(stream)); }

double tacit_fast_gamma(tacit_stream *stream, double shape) {
    if (shape < 1) /* X(a) = X(a + 1) U^(1/a) */
        return tacit_fast_gamma(stream, shape + 1) * pow(tacit_stream_unit(stream), 1 / shape);
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = tacit_fast_normal(stream), v = 1 + c * x;
        if (v <= 0) continue;
        v = v * v * v;
        double u = tacit_stream_unit(stream);
        if (log(u) < 0.5 * x * x + d - d * v + d * log(v)) return d * v;
    }
}

void tacit_fast_gamma_norm(tacit_stream *stream, double *out, size_t dimension, double scale) {
    double square = 0;
    for (size_t j = 0; j < dimension; j++) {
        out[j] = tacit_fast_normal(stream);
        square += out[j] * out[j];
    }
    double stretch = scale * tacit_fast_gamma(stream, (double)dimension) / sqrt(square);
    for (size_t j = 0; j < dimension; j++) out[j] *= stretch;
}

void tacit_fast_dirichlet(tacit_stream *stream, double *out, size_t count, double concentration) {
    double sum = 0;
    for (size_t k = 0; k < count; k++) sum += out[k] = tacit_fast_gamma(stream, concentration);
    /* Tiny concentrations can underflow all draws: then one coordinate takes all. */
    if (!(sum > 0)) {
        size_t winner = (size_t)tacit_stream_below(stream, count);
        for (size_t k = 0; k < count; k++) out[k] = k == winner;
        return;
    }
    for (size_t k = 0; k < count; k++) out[k] /= sum;
}
