/* Made-up rows with classes, dense and sparse, for the tests of classifiers. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "model/classifier/classifier.h"
#include "rand/fast.h"

typedef struct classes_set {
    size_t classes;
    tacit_matrix dense;
    tacit_csr sparse;
    int32_t *label;
} classes_set;

static inline classes_set classes_make(size_t rows, size_t features, size_t classes) {
    classes_set set = { .classes = classes, .label = calloc(rows, sizeof(int32_t)) };
    tacit_error error = TACIT_ERROR_INIT;
    assert_non_null(set.label);
    CHECK_OK(tacit_matrix_create(&set.dense, rows, features, &error), error);
    return set;
}

/* The sparse copy, once the dense numbers are in place. */
static inline void classes_finish(classes_set *set) {
    size_t entries = 0, total = set->dense.rows * set->dense.cols;
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t i = 0; i < total; i++) entries += set->dense.values[i] != 0;
    CHECK_OK(tacit_csr_create(&set->sparse, set->dense.rows, set->dense.cols, entries, &error), error);
    entries = 0;
    for (size_t i = 0; i < set->dense.rows; i++) {
        set->sparse.start[i] = entries;
        for (size_t j = 0; j < set->dense.cols; j++) {
            double value = set->dense.values[i * set->dense.cols + j];
            if (value == 0) continue;
            set->sparse.column[entries] = (uint32_t)j;
            set->sparse.value[entries++] = value;
        }
    }
    set->sparse.start[set->dense.rows] = entries;
}

static inline void classes_clear(classes_set *set) {
    tacit_matrix_clear(&set->dense);
    tacit_csr_clear(&set->sparse);
    free(set->label);
}

static inline tacit_view classes_view(const classes_set *set, bool sparse) {
    return (tacit_view){ .rows = sparse ? tacit_rows_of_csr(&set->sparse) : tacit_rows_of_matrix(&set->dense),
                         .label = set->label,
                         .classes = set->classes };
}

/* Clouds around one corner a class, inside the unit ball; about a third of the numbers are zero, and the last
 * feature is an intercept. */
static inline classes_set classes_clouds(size_t rows, size_t features, size_t classes, double spread,
                                         uint64_t seed) {
    classes_set set = classes_make(rows, features, classes);
    tacit_stream stream = tacit_stream_from_seed(seed);
    for (size_t i = 0; i < rows; i++) {
        size_t k = set.label[i] = (int32_t)(i % classes);
        for (size_t j = 0; j < features; j++) {
            double center = j % classes == k ? 0.8 : -0.4, noise = spread * tacit_fast_normal(&stream);
            bool zero = tacit_stream_unit(&stream) < 0.33;
            double value = j + 1 == features ? 1 : zero ? 0 : fmax(-1, fmin(1, center + noise));
            set.dense.values[i * features + j] = value / sqrt((double)features);
        }
    }
    classes_finish(&set);
    return set;
}

/* What `kind` says of the points after training on the rows; owned. */
static inline int32_t *classes_predict(const char *kind, const tacit_view *rows, const tacit_rows *points,
                                       const tacit_training *training) {
    tacit_classifier *classifier = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    int32_t *labels = calloc(points->count + 1, sizeof *labels);
    assert_non_null(labels);
    CHECK_OK(tacit_classifier_train(&classifier, kind, rows, training, &error), error);
    CHECK_OK(tacit_classifier_predict(classifier, points, labels, &error), error);
    tacit_classifier_free(classifier);
    return labels;
}

static inline double classes_accuracy(const int32_t *labels, const tacit_view *truth) {
    size_t right = 0;
    for (size_t i = 0; i < truth->rows.count; i++) right += labels[i] == tacit_view_label(truth, i);
    return (double)right / (double)truth->rows.count;
}

static inline tacit_training classes_training(void) {
    return (tacit_training){ .lambda = 1e-3, .stream = tacit_stream_from_seed(5) };
}
