#include "data/generate.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "rand/fast.h"

static double dot(const double *a, const double *b, size_t count) {
    double sum = 0;
    for (size_t j = 0; j < count; j++) sum += a[j] * b[j];
    return sum;
}

static void scale(double *values, size_t count, double factor) {
    for (size_t j = 0; j < count; j++) values[j] *= factor;
}

static void normals(double *out, size_t count, tacit_stream *stream) {
    for (size_t j = 0; j < count; j++) out[j] = tacit_fast_normal(stream);
}

/* Uniform on the unit sphere. */
static void direction(double *out, size_t dimension, tacit_stream *stream) {
    double norm;
    do {
        normals(out, dimension, stream);
        norm = sqrt(dot(out, out, dimension));
    } while (!(norm > 0));
    scale(out, dimension, 1 / norm);
}

/* The shape of a generated set, and room for its weights. */
static tacit_status prepare(tacit_dataset **out, double **weights, size_t rows, size_t dimension,
                            const char *const *classes, tacit_error *error) {
    if (rows == 0 || dimension == 0)
        return tacit_fail(error, TACIT_USAGE, "generated data need at least one row and one feature");
    double *values = TACIT_NEW(double, dimension);
    if (values == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_dataset_create(out, rows, dimension, classes, 2, error);
    if (status != TACIT_OK) {
        free(values);
        return status;
    }
    *weights = values;
    return TACIT_OK;
}

static void finish(double *weights, double *own, size_t dimension) {
    if (weights != NULL) memcpy(weights, own, dimension * sizeof *weights);
    free(own);
}

tacit_status tacit_generate_ball(tacit_dataset **out, size_t rows, size_t dimension, double *weights,
                                 tacit_stream *stream, tacit_error *error) {
    static const char *const classes[] = { "-1", "1" };
    tacit_dataset *dataset = NULL;
    double *w = NULL;
    TACIT_TRY(prepare(&dataset, &w, rows, dimension, classes, error));
    direction(w, dimension, stream);
    for (size_t i = 0; i < rows; i++) {
        double *x = dataset->dense.values + i * dimension;
        direction(x, dimension, stream);
        /* The volume within radius r grows as r^d; shortened so that rounding cannot leave the ball. */
        scale(x, dimension, pow(tacit_stream_unit(stream), 1 / (double)dimension) * (1 - 1e-12));
        dataset->label[i] = dot(w, x, dimension) > 0;
    }
    finish(weights, w, dimension);
    *out = dataset;
    return TACIT_OK;
}

tacit_status tacit_generate_logistic(tacit_dataset **out, size_t rows, size_t dimension, double *weights,
                                     tacit_stream *stream, tacit_error *error) {
    static const char *const classes[] = { "0", "1" };
    tacit_dataset *dataset = NULL;
    double *beta = NULL;
    TACIT_TRY(prepare(&dataset, &beta, rows, dimension, classes, error));
    double root = sqrt((double)dimension);
    normals(beta, dimension, stream);
    scale(beta, dimension, 2 / root);
    for (size_t i = 0; i < rows; i++) {
        double *x = dataset->dense.values + i * dimension;
        normals(x, dimension, stream);
        double chance = 1 / (1 + exp(-dot(beta, x, dimension)));
        dataset->label[i] = tacit_stream_unit(stream) < chance;
        double norm = sqrt(dot(x, x, dimension)), longest = 2 * root * (1 - 1e-12);
        scale(x, dimension, norm > longest ? (1 - 1e-12) / norm : 1 / (2 * root));
    }
    scale(beta, dimension, 2 * root);
    finish(weights, beta, dimension);
    *out = dataset;
    return TACIT_OK;
}
