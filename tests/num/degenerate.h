/*
 * Problems that nobody would choose and any party may hold: all rows the same, rows on one line, rows of
 * zeros or of numbers whose squares vanish, one class only, one row, more columns than rows, a regulariser of
 * 1e-12 or 1e12; in the form in which each user of the solver hands them over. Everything follows from a
 * number.
 */
#pragma once

#include "problems.h"

#include <math.h>

typedef enum user {
    USER_OUTPUT,    /* output, avg, dphtl: the rows and a regulariser */
    USER_OBJECTIVE, /* plr, gop, pst-*, dphtl: a random linear term, and a public center of the regulariser */
    USER_STATISTIC, /* vote, soft: labels all alike, shares in the linear term */
    USER_DENSITY,   /* dpiw: two sets of rows, each of weight one */
    USER_ROUGH,     /* histogram, soft-stat, local classifiers, maximum a posteriori: as well as it goes */
    USERS
} user;

static const char *const user_names[USERS] = { "output", "objective", "statistic", "density", "rough" };

typedef struct degenerate {
    user user;
    tacit_matrix dense;
    tacit_csr csr;
    int32_t *label;
    double *weight, *linear, *prior, *lambda_each;
    tacit_glm_problem problem;
    tacit_glm_limits limits;
    double wanted;
} degenerate;

static inline size_t one_of(uint64_t *state, const size_t *values, size_t count) {
    return values[next_random(state) % count];
}

static inline double power_of_ten(uint64_t *state, double low, double high) {
    return pow(10, low + (high - low) * uniform(state));
}

/* One row of the kind, of norm at most 1. */
static inline void degenerate_row(double *x, size_t cols, unsigned kind, const double *line,
                                  uint64_t *state) {
    double norm = 0, scale = 1;
    for (size_t j = 0; j < cols; j++) x[j] = roughly_normal(state);
    if (kind == 0 || kind == 1) memcpy(x, line, cols * sizeof *x); /* identical, collinear */
    if (kind == 1) scale = 2 * uniform(state) - 1;
    if (kind == 2) scale = next_random(state) % 2 ? 1 : power_of_ten(state, -320, 0); /* vanishing */
    if (kind == 3) scale = 0;
    if (kind == 4) memset(x, 0, cols * sizeof *x);
    if (kind == 4) x[next_random(state) % cols] = next_random(state) % 2 ? 1 : -1; /* axes */
    if (kind == 5) memcpy(x, line, cols * sizeof *x); /* identical up to the sign, and now and then a zero */
    if (kind == 5) scale = (double)(next_random(state) % 3) - 1;
    if (kind == 6)
        for (size_t j = 0; j < cols; j++) x[j] = x[j] > 0.8 ? x[j] : 0; /* sparse, some rows empty */
    if (kind == 7)                                                      /* nearly identical */
        for (size_t j = 0; j < cols; j++) x[j] = line[j] + 1e-9 * x[j];
    for (size_t j = 0; j < cols; j++) norm += x[j] * x[j];
    norm = norm > 0 ? sqrt(norm) * (1 + 1e-15) : 1;
    for (size_t j = 0; j < cols; j++) x[j] = x[j] / norm * scale;
}

static inline void degenerate_rows(degenerate *out, size_t rows, size_t cols, uint64_t *state) {
    tacit_error error = TACIT_ERROR_INIT;
    double line[64];
    unsigned kind = (unsigned)(next_random(state) % 9);
    for (size_t j = 0; j < cols; j++) line[j] = roughly_normal(state);
    CHECK_OK(tacit_matrix_create(&out->dense, rows, cols, &error), error);
    for (size_t i = 0; i < rows; i++) degenerate_row(out->dense.values + i * cols, cols, kind, line, state);
    out->problem.x = tacit_rows_of_matrix(&out->dense);
    if (next_random(state) % 4 != 0) return;
    size_t entries = 0;
    for (size_t e = 0; e < rows * cols; e++) entries += out->dense.values[e] != 0;
    CHECK_OK(tacit_csr_create(&out->csr, rows, cols, entries, &error), error);
    for (size_t i = 0, at = 0; i < rows; i++) {
        for (size_t j = 0; j < cols; j++) {
            double value = out->dense.values[i * cols + j];
            if (value == 0) continue;
            out->csr.column[at] = (uint32_t)j;
            out->csr.value[at++] = value;
        }
        out->csr.start[i + 1] = at;
    }
    out->problem.x = tacit_rows_of_csr(&out->csr);
}

static inline void degenerate_labels(degenerate *out, size_t rows, size_t classes, uint64_t *state) {
    unsigned kind = (unsigned)(next_random(state) % 4);
    out->label = TACIT_NEW(int32_t, rows);
    assert_non_null(out->label);
    for (size_t i = 0; i < rows; i++) {
        size_t label = next_random(state) % classes;
        if (kind == 0) label = 0;
        if (kind == 1) label = i == 0 ? classes - 1 : 0;
        if (kind == 2) label = out->dense.values[i * out->dense.cols] > 0;
        out->label[i] = (int32_t)label;
    }
    out->problem.label = out->label;
}

static inline double norm_of_vector(const double *v, size_t count) {
    double square = 0;
    for (size_t j = 0; j < count; j++) square += v[j] * v[j];
    return sqrt(square);
}

/* A vector of a given norm: along one row or anywhere. */
static inline double *degenerate_vector(const degenerate *from, size_t size, double norm, uint64_t *state) {
    double *out = random_vector(state, size, -1, 1), length;
    if (next_random(state) % 3 == 0) memset(out, 0, size * sizeof *out);
    if (next_random(state) % 2 == 0)
        for (size_t j = 0; j < from->dense.cols; j++) out[j] += from->dense.values[j];
    length = norm_of_vector(out, size);
    for (size_t j = 0; j < size; j++) out[j] *= length > 0 ? norm / length : 0;
    return out;
}

/* The linear term of a fit to shares, as model/report/statistic.c makes it. */
static inline void degenerate_shares(degenerate *out, size_t size, uint64_t *state) {
    size_t rows = out->dense.rows, cols = out->dense.cols, classes = out->problem.classes;
    bool softmax = out->problem.loss == &tacit_family_softmax.loss, hard = next_random(state) % 2 == 0;
    double parties = (double)(1 + next_random(state) % 40);
    out->linear = TACIT_NEW(double, size);
    assert_non_null(out->linear);
    for (size_t i = 0; i < rows; i++) {
        const double *x = out->dense.values + i * cols;
        size_t most = next_random(state) % classes;
        double share = hard ? 1 : floor((parties + 1) * uniform(state)) / parties, each = 1 / (double)rows;
        out->label[i] = softmax ? 0 : 1;
        for (size_t j = 0; j < cols; j++) {
            out->linear[j] += each * x[j];
            if (softmax || most == 1) out->linear[(softmax ? most * cols : 0) + j] -= each * share * x[j];
            if (softmax) out->linear[(most + 1) % classes * cols + j] -= each * (1 - share) * x[j];
        }
    }
    out->problem.linear = out->linear;
}

static inline double degenerate_pull(const tacit_glm_problem *problem) {
    double h = problem->shape;
    if (problem->loss == &tacit_family_softmax.loss)
        return log((double)problem->classes + 1); /* above W((K-1)/e) */
    if (problem->loss == &tacit_family_logistic.loss) return 0.2785;
    return (1 + h) / 2 > 1 - h ? (1 + h) * (1 + h) / (8 * h) : 1 - h;
}

static inline void degenerate_terms(degenerate *out, size_t size, uint64_t *state) {
    tacit_glm_problem *problem = &out->problem;
    size_t rows = out->dense.rows;
    double slope = problem->loss == &tacit_family_softmax.loss ? 2 : 1, pull = degenerate_pull(problem);
    out->limits.weight = 1;
    out->limits.largest = fmin(slope / problem->lambda, sqrt(pull / problem->lambda)) * (1 + 1e-9);
    if (out->user == USER_OBJECTIVE || out->user == USER_ROUGH) {
        out->limits.linear = power_of_ten(state, -8, 5);
        problem->linear = out->linear = degenerate_vector(out, size, out->limits.linear, state);
        double prior = next_random(state) % 2 ? power_of_ten(state, -3, 4) : 0;
        problem->prior = out->prior = degenerate_vector(out, size, prior, state);
        out->limits.prior_pull = problem->lambda * prior;
        out->limits.largest = prior + (slope + out->limits.linear) / problem->lambda;
    }
    if (out->user == USER_STATISTIC) degenerate_shares(out, size, state);
    if (out->user == USER_STATISTIC) out->limits.linear = 2;
    if (out->user == USER_DENSITY || (out->user == USER_ROUGH && next_random(state) % 2)) {
        problem->weight = out->weight = random_vector(state, rows, 0, 0);
        for (size_t i = 0; i < rows; i++) {
            size_t mine = out->user == USER_DENSITY ? (rows + 1) / 2 : rows;
            out->weight[i] = i < mine ? 1 / (double)mine : 1 / (double)(rows - mine);
            if (out->user == USER_DENSITY) out->label[i] = i < mine;
        }
        out->limits.weight = 2;
        out->limits.largest = fmin(2 / problem->lambda, sqrt(0.557 / problem->lambda)) * (1 + 1e-9);
    }
    if (out->user == USER_ROUGH && next_random(state) % 3 == 0) {
        problem->lambda_each = out->lambda_each = random_vector(state, size, 0, 0);
        for (size_t j = 0; j < size; j++) out->lambda_each[j] = power_of_ten(state, -9, 9);
    }
}

static inline void make_degenerate(degenerate *out, uint64_t number) {
    static const size_t row_counts[] = { 1, 1, 2, 2, 3, 4, 5, 8, 10, 20, 40, 100 };
    static const size_t col_counts[] = { 1, 1, 2, 2, 3, 4, 7, 12, 30 };
    static const double widths[] = { 0.5, 0.5, 1, 0.1, 1e-3 };
    uint64_t seed = number * 0x2545f4914f6cdd1du + 1, *state = &seed;
    *out = (degenerate){ .user = (user)(next_random(state) % USERS), .wanted = 1e-9 };
    size_t rows = one_of(state, row_counts, 12), cols = one_of(state, col_counts, 9);
    unsigned loss = (unsigned)(next_random(state) % 4);
    tacit_glm_problem *problem = &out->problem;
    problem->loss = loss == 0   ? &tacit_family_softmax.loss
                    : loss == 1 ? &tacit_family_huber.loss
                                : &tacit_family_logistic.loss;
    if (out->user == USER_DENSITY || (out->user == USER_STATISTIC && loss == 1))
        problem->loss = &tacit_family_logistic.loss;
    if (out->user == USER_DENSITY && rows == 1) rows = 2;
    problem->classes = problem->loss == &tacit_family_softmax.loss ? 3 + next_random(state) % 6 : 2;
    problem->shape = problem->loss == &tacit_family_huber.loss ? widths[next_random(state) % 5] : 0;
    problem->lambda =
        power_of_ten(state, next_random(state) % 4 == 0 ? -12 : -6, next_random(state) % 4 == 0 ? 12 : 1);
    degenerate_rows(out, rows, cols, state);
    degenerate_labels(out, rows, problem->classes, state);
    out->limits.rows = rows;
    out->limits.cols = cols;
    out->limits.classes = problem->classes;
    out->limits.radius = 1;
    out->limits.slope = problem->loss == &tacit_family_softmax.loss ? 0.5
                        : problem->loss == &tacit_family_huber.loss ? 1 / (2 * problem->shape)
                                                                    : 0.25;
    degenerate_terms(out, tacit_glm_size(problem), state);
}

/* Sparse rows of so many columns that nothing is factored: few entries each, rows that repeat, columns that
 * nobody has. */
static inline void make_wide_degenerate(degenerate *out, uint64_t number) {
    uint64_t seed = number * 0x2545f4914f6cdd1du + 3, *state = &seed;
    bool softmax = number % 3 == 0;
    size_t rows = 130 + next_random(state) % 200, each = 1 + next_random(state) % (number % 2 ? 40 : 3);
    size_t cols = softmax ? 600 : 2100 + next_random(state) % 900, distinct = 1 + next_random(state) % rows;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_glm_problem *problem = &out->problem;
    *out = (degenerate){ .user = USER_OUTPUT, .wanted = 1e-9 };
    problem->loss = softmax           ? &tacit_family_softmax.loss
                    : number % 3 == 1 ? &tacit_family_huber.loss
                                      : &tacit_family_logistic.loss;
    problem->classes = softmax ? 4 : 2;
    problem->shape = number % 3 == 1 ? 0.5 : 0;
    problem->lambda = power_of_ten(state, -8, 2);
    CHECK_OK(tacit_matrix_create(&out->dense, rows, 1, &error), error); /* for labels */
    CHECK_OK(tacit_csr_create(&out->csr, rows, cols, rows * each, &error), error);
    for (size_t i = 0; i < rows; i++) {
        for (size_t k = 0; k < each; k++) {
            out->csr.column[i * each + k] = (uint32_t)((i % distinct * 7 + k * (cols / each)) % cols);
            out->csr.value[i * each + k] = (i % distinct % 2 ? 1 : -1) * (1 - 1e-12) / sqrt((double)each);
        }
        out->csr.start[i + 1] = (i + 1) * each;
    }
    problem->x = tacit_rows_of_csr(&out->csr);
    degenerate_labels(out, rows, problem->classes, state);
    out->limits = (tacit_glm_limits){ .rows = rows, .cols = cols, .classes = problem->classes, .radius = 1 };
    out->limits.slope = softmax ? 0.5 : number % 3 == 1 ? 1 : 0.25;
    degenerate_terms(out, tacit_glm_size(problem), state);
}

static inline void unmake_degenerate(degenerate *self) {
    tacit_matrix_clear(&self->dense);
    tacit_csr_clear(&self->csr);
    free(self->label);
    free(self->weight);
    free(self->linear);
    free(self->prior);
    free(self->lambda_each);
}
