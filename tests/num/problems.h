/* Random problems for the solver's tests, and a long double reference. A failing test prints the seed. */
#pragma once

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/family/family.h"
#include "num/glm/glm.h"

typedef struct recipe {
    const tacit_loss *loss;
    size_t rows, cols, classes;
    bool sparse, indexed, weighted, linear, prior, lambda_each;
    double lambda;
    double spread;  /* columns are scaled from 1 down to 1/spread; 0 means 1 */
    bool separable; /* labels follow a hyperplane without noise */
    bool constant;  /* two constant columns, equal ones */
} recipe;

typedef struct made {
    tacit_matrix dense; /* all stored rows, also when the view is sparse */
    tacit_csr csr;
    int32_t *label;
    uint32_t *index;
    double *weight, *linear, *prior, *lambda_each;
    tacit_glm_problem problem;
} made;

static inline const char *loss_name(const tacit_loss *loss) {
    return loss->classes != NULL ? "softmax" : loss->kinked ? "huber" : "logistic";
}

static inline uint64_t next_random(uint64_t *state) { /* splitmix64 */
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline double uniform(uint64_t *state) { return (double)(next_random(state) >> 11) * 0x1p-53; }

static inline double roughly_normal(uint64_t *state) {
    double sum = 0;
    for (int i = 0; i < 6; i++) sum += uniform(state);
    return (sum - 3) * 1.4142135623730951;
}

static inline double *random_vector(uint64_t *state, size_t count, double low, double high) {
    double *out = TACIT_NEW(double, count);
    assert_non_null(out);
    for (size_t j = 0; j < count; j++) out[j] = low + (high - low) * uniform(state);
    return out;
}

static inline void fill_rows(made *out, const recipe *r, size_t stored, uint64_t *state) {
    double spread = r->spread > 0 ? r->spread : 1;
    for (size_t i = 0; i < stored; i++) {
        double *x = out->dense.values + i * r->cols, norm = 0;
        for (size_t j = 0; j < r->cols; j++) {
            bool kept = !r->sparse || uniform(state) < 0.3;
            double scale = r->cols > 1 ? pow(spread, -(double)j / (double)(r->cols - 1)) : 1;
            x[j] = kept ? roughly_normal(state) * scale : 0;
            if (r->constant && j < 2) x[j] = 1;
            norm += x[j] * x[j];
        }
        for (size_t j = 0; j < r->cols; j++) x[j] /= norm > 0 ? sqrt(norm) : 1;
    }
}

static inline void fill_labels(made *out, const recipe *r, size_t stored, uint64_t *state) {
    double *truth = random_vector(state, r->classes * r->cols, -3, 3);
    for (size_t i = 0; i < stored; i++) {
        double best = -INFINITY;
        for (size_t k = 0; k < r->classes; k++) {
            double t = 0;
            for (size_t j = 0; j < r->cols; j++)
                t += out->dense.values[i * r->cols + j] * truth[k * r->cols + j];
            if (!r->separable) t += roughly_normal(state);
            if (t > best) out->label[i] = (int32_t)k;
            best = t > best ? t : best;
        }
    }
    free(truth);
}

static inline void fill_sparse(made *out, size_t stored) {
    size_t entries = 0, cols = out->dense.cols;
    for (size_t i = 0; i < stored * cols; i++) entries += out->dense.values[i] != 0;
    assert_int_equal(tacit_csr_create(&out->csr, stored, cols, entries, NULL), TACIT_OK);
    size_t at = 0;
    for (size_t i = 0; i < stored; i++) {
        for (size_t j = 0; j < cols; j++) {
            double value = out->dense.values[i * cols + j];
            if (value == 0) continue;
            out->csr.column[at] = (uint32_t)j;
            out->csr.value[at++] = value;
        }
        out->csr.start[i + 1] = at;
    }
}

static inline void make(made *out, const recipe *r, uint64_t seed) {
    uint64_t state = seed;
    size_t stored = r->indexed ? 2 * r->rows + 3 : r->rows;
    size_t size = r->loss == &tacit_family_softmax.loss ? r->classes * r->cols : r->cols;
    *out = (made){ 0 };
    assert_int_equal(tacit_matrix_create(&out->dense, stored, r->cols, NULL), TACIT_OK);
    out->label = TACIT_NEW(int32_t, stored);
    out->index = TACIT_NEW(uint32_t, r->rows);
    fill_rows(out, r, stored, &state);
    fill_labels(out, r, stored, &state);
    if (r->sparse) fill_sparse(out, stored);
    for (size_t i = 0; i < r->rows; i++) out->index[i] = (uint32_t)(next_random(&state) % stored);
    if (r->weighted) out->weight = random_vector(&state, stored, 0, 2.0 / (double)r->rows);
    if (r->linear) out->linear = random_vector(&state, size, -0.02, 0.02);
    if (r->prior) out->prior = random_vector(&state, size, -1, 1);
    if (r->lambda_each) out->lambda_each = random_vector(&state, size, r->lambda, 3 * r->lambda);
    out->problem = (tacit_glm_problem){ .loss = r->loss,
                                        .label = out->label,
                                        .weight = out->weight,
                                        .classes = r->classes,
                                        .lambda = r->lambda,
                                        .lambda_each = out->lambda_each,
                                        .linear = out->linear,
                                        .prior = out->prior };
    out->problem.x = r->sparse ? tacit_rows_of_csr(&out->csr) : tacit_rows_of_matrix(&out->dense);
    if (r->indexed) out->problem.x = tacit_rows_select(&out->problem.x, out->index, r->rows);
}

static inline void unmake(made *out) {
    tacit_matrix_clear(&out->dense);
    tacit_csr_clear(&out->csr);
    free(out->label);
    free(out->index);
    free(out->weight);
    free(out->linear);
    free(out->prior);
    free(out->lambda_each);
}

/* --- the reference --- */

static inline long double huber_slope(long double z, long double h, long double *value) {
    if (z > 1 + h) {
        *value = 0;
        return 0;
    }
    if (z < 1 - h) {
        *value = 1 - z;
        return -1;
    }
    *value = (1 + h - z) * (1 + h - z) / (4 * h);
    return -(1 + h - z) / (2 * h);
}

static inline long double two_class_slope(const tacit_glm_problem *p, long double t, int32_t label,
                                          long double *value) {
    long double y = label == 1 ? 1 : -1, z = y * t;
    if (p->loss == &tacit_family_huber.loss)
        return y * huber_slope(z, p->shape != 0 ? (long double)p->shape : 0.5L, value);
    *value = z > 0 ? log1pl(expl(-z)) : log1pl(expl(z)) - z;
    return z > 0 ? -y * expl(-z) / (1 + expl(-z)) : -y / (1 + expl(z));
}

/* Objective and gradient in long double; returns the objective. */
static inline long double reference(const made *m, const double *w, long double *gradient) {
    const tacit_glm_problem *p = &m->problem;
    size_t d = p->x.cols, outputs = p->loss == &tacit_family_softmax.loss ? p->classes : 1;
    size_t total = p->total_rows != 0 ? p->total_rows : p->x.count;
    long double objective = 0, *t = calloc(outputs, sizeof *t), *r = calloc(outputs, sizeof *r);
    for (size_t j = 0; j < outputs * d; j++) {
        long double lambda = p->lambda_each != NULL ? p->lambda_each[j] : p->lambda;
        long double shift = (long double)w[j] - (p->prior != NULL ? p->prior[j] : 0);
        long double tilt = p->linear != NULL ? p->linear[j] : 0;
        gradient[j] = lambda * shift + tilt;
        objective += lambda * shift * shift / 2 + tilt * w[j];
    }
    for (size_t i = 0; i < p->x.count; i++) {
        size_t stored = tacit_rows_stored(&p->x, i);
        const double *x = m->dense.values + stored * d;
        long double weight = p->weight != NULL ? p->weight[stored] : 1 / (long double)total, value = 0;
        for (size_t k = 0; k < outputs; k++) {
            t[k] = 0;
            for (size_t j = 0; j < d; j++) t[k] += (long double)x[j] * w[k * d + j];
        }
        if (outputs == 1) {
            r[0] = two_class_slope(p, t[0], p->label[stored], &value);
        } else {
            long double most = t[0], sum = 0;
            for (size_t k = 1; k < outputs; k++) most = t[k] > most ? t[k] : most;
            for (size_t k = 0; k < outputs; k++) sum += expl(t[k] - most);
            for (size_t k = 0; k < outputs; k++)
                r[k] = expl(t[k] - most) / sum - (k == (size_t)p->label[stored] ? 1 : 0);
            value = most + logl(sum) - t[p->label[stored]];
        }
        objective += weight * value;
        for (size_t k = 0; k < outputs; k++)
            for (size_t j = 0; j < d; j++) gradient[k * d + j] += weight * r[k] * x[j];
    }
    free(t);
    free(r);
    return objective;
}

static inline double reference_norm(const made *m, const double *w) {
    size_t size = tacit_glm_size(&m->problem);
    long double *gradient = calloc(size, sizeof *gradient), sum = 0;
    reference(m, w, gradient);
    for (size_t j = 0; j < size; j++) sum += gradient[j] * gradient[j];
    free(gradient);
    return (double)sqrtl(sum);
}
