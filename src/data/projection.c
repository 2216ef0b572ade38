#include "data/projection.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "rand/stream.h"

/* A few vectors more than asked for make the iteration converge by the gap to those, and not among
 * themselves. */
enum { SPARE = 10, ITERATIONS = 8 };

static double dot(const double *a, const double *b, size_t count) {
    double sums[4] = { 0, 0, 0, 0 };
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t k = 0; k < 4; k++) sums[k] += a[i + k] * b[i + k];
    for (; i < count; i++) sums[0] += a[i] * b[i];
    return sums[0] + sums[1] + sums[2] + sums[3];
}

void tacit_projection_clear(tacit_projection *projection) {
    if (projection == NULL) return;
    free(projection->axes);
    *projection = (tacit_projection)TACIT_PROJECTION_INIT;
}

/* Modified Gram and Schmidt, `passes` times; vector k is at k * length. A vector that is dependent on those
 * before becomes zero. */
static void orthonormalise(double *vectors, size_t width, size_t length, int passes) {
    for (size_t k = 0; k < width; k++) {
        double *v = vectors + k * length;
        double before = sqrt(dot(v, v, length));
        for (int pass = 0; pass < passes; pass++)
            for (size_t j = 0; j < k; j++) {
                const double *u = vectors + j * length;
                double along = dot(u, v, length);
                for (size_t i = 0; i < length; i++) v[i] -= along * u[i];
            }
        double norm = sqrt(dot(v, v, length));
        double scale = norm > 1e-10 * before && norm > 0 ? 1 / norm : 0;
        for (size_t i = 0; i < length; i++) v[i] *= scale;
    }
}

/* w_k = X^T X v_k for each of the vectors, and square[k] = |X v_k|^2. */
static void multiply(const tacit_rows *points, size_t width, const double *v, double *w, double *square) {
    size_t d = points->cols;
    memset(w, 0, width * d * sizeof *w);
    for (size_t k = 0; k < width; k++) {
        square[k] = 0;
        for (size_t i = 0; i < points->count; i++) {
            double score = tacit_rows_dot(points, i, v + k * d);
            square[k] += score * score;
            if (score != 0) tacit_rows_add(points, i, score, w + k * d);
        }
    }
}

/* The vectors with the largest squares, in falling order. */
static void choose(tacit_projection *out, size_t width, const double *v, double *square) {
    size_t d = out->features, p = out->dimensions;
    for (size_t k = 0; k < p; k++) {
        size_t best = 0;
        for (size_t j = 1; j < width; j++)
            if (square[j] > square[best]) best = j;
        square[best] = -1;
        const double *from = v + best * d;
        size_t largest = 0;
        for (size_t i = 1; i < d; i++)
            if (fabs(from[i]) > fabs(from[largest])) largest = i;
        double sign = from[largest] < 0 ? -1 : 1;
        for (size_t i = 0; i < d; i++) out->axes[i * p + k] = sign * from[i];
    }
}

tacit_status tacit_projection_of(tacit_projection *out, const tacit_rows *points, size_t dimensions,
                                 tacit_error *error) {
    size_t d = points->cols, most = points->count < d ? points->count : d;
    if (dimensions < 1 || dimensions > most)
        return tacit_fail(error, TACIT_USAGE,
                          "%zu public points of %zu features span no %zu dimensions: project on 1 to %zu",
                          points->count, d, dimensions, most);
    size_t width = dimensions + SPARE < most ? dimensions + SPARE : most;
    tacit_projection made = { d, dimensions, TACIT_NEW(double, d *dimensions) };
    double *v = TACIT_NEW(double, width *d), *w = TACIT_NEW(double, width *d),
           *square = TACIT_NEW(double, width);
    tacit_status status = TACIT_OK;
    if (made.axes == NULL || v == NULL || w == NULL || square == NULL) TACIT_CHECK(tacit_fail_memory(error));
    tacit_stream stream = tacit_stream_from_seed(1);
    for (size_t k = 0; k < width * d; k++) v[k] = 2 * tacit_stream_unit(&stream) - 1;
    orthonormalise(v, width, d, 1);
    for (int i = 0; i < ITERATIONS; i++) {
        multiply(points, width, v, w, square);
        double *swap = v;
        v = w;
        w = swap;
        orthonormalise(v, width, d, i + 1 < ITERATIONS ? 1 : 2);
    }
    multiply(points, width, v, w, square);
    choose(&made, width, v, square);
    *out = made;
    made = (tacit_projection)TACIT_PROJECTION_INIT;
cleanup:
    tacit_projection_clear(&made);
    free(v);
    free(w);
    free(square);
    return status;
}

static void add_axis(const tacit_projection *projection, size_t feature, double value, double *out) {
    const double *axis = projection->axes + feature * projection->dimensions;
    for (size_t k = 0; k < projection->dimensions; k++) out[k] += value * axis[k];
}

void tacit_projection_row(const tacit_projection *projection, const tacit_rows *rows, size_t i, double *out) {
    size_t p = projection->dimensions, stored = tacit_rows_stored(rows, i);
    memset(out, 0, p * sizeof *out);
    if (rows->dense != NULL) {
        const double *row = rows->dense + stored * rows->stride;
        for (size_t j = 0; j < rows->cols; j++) add_axis(projection, j, row[j], out);
    } else {
        const tacit_csr *csr = rows->sparse;
        for (size_t e = csr->start[stored]; e < csr->start[stored + 1]; e++)
            add_axis(projection, csr->column[e], csr->value[e], out);
    }
    double norm = sqrt(dot(out, out, p));
    double scale = norm > 0 ? (1 - 2 * ((double)p + 8) * DBL_EPSILON) / norm : 0;
    for (size_t k = 0; k < p; k++) out[k] *= scale;
}

void tacit_projection_back(const tacit_projection *projection, const double *weights, double *out) {
    for (size_t j = 0; j < projection->features; j++)
        out[j] = dot(projection->axes + j * projection->dimensions, weights, projection->dimensions);
}
