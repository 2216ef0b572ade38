#include "data/generate.h"

#include <math.h>
#include <stdlib.h>
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

/* By counting how many exponential waiting times fit into `mean`. */
static double poisson(double mean, tacit_stream *stream) {
    enum { MOST = 200 };
    int count = 0;
    for (double time = tacit_fast_exponential(stream); time < mean && count < MOST; count++)
        time += tacit_fast_exponential(stream);
    return count;
}

tacit_status tacit_generate_response(tacit_dataset **out, size_t rows, size_t dimension,
                                     tacit_response response, double *weights, tacit_stream *stream,
                                     tacit_error *error) {
    static const double NORM = 2, NOISE = 0.25, REACH = 4;
    tacit_dataset *dataset = NULL;
    double *w = NULL;
    if (response != TACIT_RESPONSE_NUMBER && response != TACIT_RESPONSE_COUNT)
        return tacit_fail(error, TACIT_USAGE, "a numeric response is a number or a count");
    TACIT_TRY(tacit_generate_ball(&dataset, rows, dimension, NULL, stream, error));
    tacit_levels_clear(&dataset->classes);
    free(dataset->label);
    dataset->label = NULL;
    dataset->response = TACIT_NEW(double, rows);
    w = TACIT_NEW(double, dimension);
    if (dataset->response == NULL || w == NULL) {
        free(w);
        tacit_dataset_free(dataset);
        return tacit_fail_memory(error);
    }
    direction(w, dimension, stream);
    scale(w, dimension, NORM);
    for (size_t i = 0; i < rows; i++) {
        double t = dot(w, dataset->dense.values + i * dimension, dimension);
        dataset->response[i] = response == TACIT_RESPONSE_COUNT
                                   ? poisson(exp(1 + t), stream)
                                   : fmin(fmax(t + NOISE * tacit_fast_normal(stream), -REACH), REACH);
    }
    finish(weights, w, dimension);
    *out = dataset;
    return TACIT_OK;
}

/* A normal over the root of chi-square(5)/5, cut at six; about standardised. */
static double heavy_tailed(tacit_stream *stream) {
    enum { FREEDOM = 5 };
    double square = 0, number = tacit_fast_normal(stream);
    for (int i = 0; i < FREEDOM; i++) square += pow(tacit_fast_normal(stream), 2);
    return fmax(-6, fmin(6, number / sqrt(square / FREEDOM) * sqrt((FREEDOM - 2.0) / FREEDOM)));
}

tacit_status tacit_generate_fraud(tacit_dataset **out, size_t rows, double fraud, tacit_stream *stream,
                                  tacit_error *error) {
    static const char *const classes[] = { "0", "1" };
    static const double shift[] = { 2.5, -2, 2, -2.5, 1.5, -1.5, 3, -3 };
    tacit_dataset *dataset = NULL;
    TACIT_TRY(tacit_dataset_create(&dataset, rows, TACIT_FRAUD_FEATURES, classes, 2, error));
    for (size_t i = 0; i < rows; i++) {
        double *x = dataset->dense.values + i * TACIT_FRAUD_FEATURES, by = 0;
        dataset->label[i] = tacit_stream_unit(stream) < fraud;
        double kind = tacit_stream_unit(stream);
        if (dataset->label[i] == 1) by = kind < 0.6 ? 1 : kind < 0.85 ? 0.5 : 0;
        for (size_t j = 0; j < TACIT_FRAUD_FEATURES; j++) x[j] = heavy_tailed(stream);
        for (size_t j = 0; j < sizeof shift / sizeof *shift; j++) x[3 * j] += by * shift[j];
        scale(x, TACIT_FRAUD_FEATURES, (1 - 1e-12) / fmax(8, sqrt(dot(x, x, TACIT_FRAUD_FEATURES))));
    }
    *out = dataset;
    return TACIT_OK;
}
