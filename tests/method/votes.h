/* Parties with auxiliary points, for the tests of ensemble methods. */
#pragma once

#include "parties.h"

#include "method/ensemble/ensemble.h"
#include "rand/fast.h"

typedef struct voters {
    parties all;
    tacit_dataset *auxiliary;
    tacit_points points;
} voters;

/* Rows of the unit ball with the class of the nearest of `classes` directions, dense or sparse; about half of
 * the entries of a sparse row are zeros. The same directions whatever the seed. */
static inline tacit_dataset *directed_rows(size_t rows, size_t features, size_t classes, bool sparse,
                                           uint64_t seed) {
    static const char *const names[] = { "a", "b", "c", "d", "e" };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_dataset *data = NULL;
    tacit_stream fixed = tacit_stream_from_seed(99), stream = tacit_stream_from_seed(seed);
    double direction[5 * 32];
    assert_true(classes <= 5 && features <= 32);
    for (size_t j = 0; j < classes * features; j++) direction[j] = tacit_fast_normal(&fixed);
    CHECK_OK(tacit_dataset_create(&data, rows, features, names, classes, &error), error);
    for (size_t i = 0; i < rows; i++) {
        double *x = data->dense.values + i * features, square = 0, best = -INFINITY;
        for (size_t j = 0; j < features; j++) {
            x[j] = sparse && j != i % features && tacit_stream_unit(&stream) < 0.5
                       ? 0
                       : tacit_fast_normal(&stream);
            square += x[j] * x[j];
        }
        for (size_t j = 0; j < features; j++) x[j] *= 0.999 / sqrt(square);
        for (size_t k = 0; k < classes; k++) {
            double dot = 0;
            for (size_t j = 0; j < features; j++) dot += x[j] * direction[k * features + j];
            if (dot <= best) continue;
            best = dot;
            data->label[i] = (int32_t)k;
        }
    }
    if (!sparse) return data;
    CHECK_OK(tacit_csr_create(&data->sparse, rows, features, rows * features, &error), error);
    for (size_t i = 0, at = 0; i < rows; i++) {
        for (size_t j = 0; j < features; j++) {
            double value = data->dense.values[i * features + j];
            if (value == 0) continue;
            data->sparse.column[at] = (uint32_t)j;
            data->sparse.value[at++] = value;
        }
        data->sparse.start[i + 1] = at;
    }
    tacit_matrix_clear(&data->dense);
    data->is_sparse = true;
    return data;
}

/* `count` parties of five rows, 60 points; epsilon infinite, lambda 0.1. The points' labels are poison. */
static inline void voters_make(voters *out, const tacit_method *method, size_t count, size_t classes,
                               bool sparse, tacit_pool *pool) {
    enum { EACH = 5, POINTS = 60, FEATURES = 6 };
    tacit_error error = TACIT_ERROR_INIT;
    *out = (voters){ .auxiliary = directed_rows(POINTS, FEATURES, classes, sparse, 2),
                     .points = TACIT_POINTS_INIT };
    parties_make(&out->all, directed_rows(count * EACH, FEATURES, classes, sparse, 1), count, pool);
    tacit_rows rows = tacit_dataset_rows(out->auxiliary);
    CHECK_OK(tacit_points_of(&out->points, &rows, pool, &error), error);
    free(out->auxiliary->label);
    out->auxiliary->label = NULL;
    out->all.plan.method = method;
    out->all.plan.points = &out->points;
    if (method->needs_delta) out->all.plan.delta = 1e-5;
}

static inline void voters_end(voters *self) {
    parties_end(&self->all);
    tacit_points_clear(&self->points);
    tacit_dataset_free(self->auxiliary);
}

static inline void voters_set(voters *self, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(&self->all.plan, name, value, &error), error);
}

static inline tacit_votes voters_ask(voters *self) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_session session = parties_begin(&self->all, 1);
    tacit_votes votes = TACIT_VOTES_INIT;
    CHECK_OK(tacit_ask_votes(&session, &votes, &error), error);
    return votes;
}

static inline void check_same_votes(const tacit_votes *a, const tacit_votes *b) {
    assert_int_equal(a->points, b->points);
    assert_int_equal(a->classes, b->classes);
    assert_int_equal(a->parties, b->parties);
    assert_memory_equal(a->count, b->count, a->points * a->classes * sizeof *a->count);
}
