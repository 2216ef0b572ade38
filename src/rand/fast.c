#include "rand/fast.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "rand/ziggurat_parts.h"

/* Straight from the stream's cache while it lasts; the same words as tacit_stream_u64. */
static inline uint64_t next_word(tacit_stream *stream) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (stream->used + sizeof(uint64_t) <= sizeof stream->cache) {
        uint64_t word;
        memcpy(&word, stream->cache + stream->used, sizeof word);
        memset(stream->cache + stream->used, 0, sizeof word);
        stream->used += sizeof word;
        return word;
    }
#endif
    return tacit_stream_u64(stream);
}

/* Beyond the ziggurat's last edge r (Marsaglia 1964): x = E1/r, kept when 2 E2 > x^2. */
static double normal_tail(tacit_stream *stream) {
    const double r = ziggurat_edge[1];
    for (;;) {
        double x = tacit_fast_exponential(stream) / r;
        if (2 * tacit_fast_exponential(stream) > x * x) return r + x;
    }
}

/* A point of a layer that sticks out over the next one: by chance above or below the curve. */
static bool under_curve(tacit_stream *stream, unsigned layer, double x) {
    double low = ziggurat_height[layer], high = ziggurat_height[layer + 1];
    return low + tacit_stream_unit(stream) * (high - low) < exp(-0.5 * x * x);
}

/* Of one word, 8 bits choose the layer, one the sign and 53 the place. */
static inline double normal(tacit_stream *stream) {
    for (;;) {
        uint64_t word = next_word(stream);
        unsigned layer = (unsigned)(word & (ZIGGURAT_LAYERS - 1));
        double sign = 1 - 2 * (double)(word >> 8 & 1),
               x = (double)(word >> 11) * 0x1p-53 * ziggurat_edge[layer];
        if (__builtin_expect(x < ziggurat_edge[layer + 1], 1)) return sign * x;
        if (layer == 0) return sign * normal_tail(stream);
        if (under_curve(stream, layer, x)) return sign * x;
    }
}

double tacit_fast_normal(tacit_stream *stream) { return normal(stream); }

void tacit_fast_normals(tacit_stream *stream, double *out, size_t count) {
    for (size_t i = 0; i < count; i++) out[i] = normal(stream);
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
    tacit_fast_normals(stream, out, dimension);
    for (size_t j = 0; j < dimension; j++) square += out[j] * out[j];
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

int64_t tacit_fast_discrete_laplace(tacit_stream *stream, double scale) {
    for (;;) {
        int64_t size = (int64_t)floor(scale * tacit_fast_exponential(stream));
        bool negative = tacit_stream_below(stream, 2) == 1;
        if (size == 0 && negative) continue; /* 0 must not count twice */
        return negative ? -size : size;
    }
}

int64_t tacit_fast_discrete_gaussian(tacit_stream *stream, double scale) {
    const double t = floor(scale) + 1;
    for (;;) {
        int64_t candidate = tacit_fast_discrete_laplace(stream, t);
        double off = (fabs((double)candidate) - scale * scale / t) / scale;
        if (tacit_fast_exponential(stream) > off * off / 2) return candidate;
    }
}

static int64_t fast_negative_binomial(tacit_stream *stream, double scale, uint64_t parts) {
    int64_t left = (int64_t)floor(scale * tacit_fast_exponential(stream)), kept = 0;
    while (left > 0) {
        int64_t cycle = (int64_t)tacit_stream_below(stream, (uint64_t)left) + 1;
        if (tacit_stream_below(stream, parts) == 0) kept += cycle;
        left -= cycle;
    }
    return kept;
}

int64_t tacit_fast_polya(tacit_stream *stream, double scale, uint64_t parts) {
    int64_t up = fast_negative_binomial(stream, scale, parts);
    return up - fast_negative_binomial(stream, scale, parts);
}
