#include "model/cross_validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/glm/glm.h"

enum { FOLDS = 5, LAMBDAS = 11, MANY_ROWS = 20000 };

/* Within its own tolerance t the objective is off by at most t^2/(2 lambda): this of it, squared and
 * halved. */
static const double TOLERANCE = 1e-3;

typedef struct validation {
    const tacit_view *rows;
    const tacit_linear_fit *fit;
    const tacit_family *family;
    double total;              /* rows of all holders */
    uint8_t *fold;             /* of each row of the view */
    uint32_t *index;           /* stored rows of one side of a fold */
    double counts[FOLDS];      /* rows of each fold, of all holders */
    double *weights, *scratch; /* of a model; a row */
    double loss[LAMBDAS];      /* summed over held-out rows */
} validation;

static uint64_t mixed(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ (hash >> 29);
}

/* From the numbers of the row that are not 0, their places, and the class: the same for dense and sparse
 * rows. */
static uint64_t hash_row(const validation *self, size_t i) {
    const tacit_rows *rows = &self->rows->rows;
    uint64_t hash = mixed(1, (uint64_t)(uint32_t)tacit_view_label(self->rows, i));
    tacit_rows_copy(rows, i, self->scratch);
    for (size_t j = 0; j < rows->cols; j++) {
        uint64_t bits;
        if (self->scratch[j] == 0) continue;
        memcpy(&bits, &self->scratch[j], sizeof bits);
        hash = mixed(mixed(hash, j), bits);
    }
    return mixed(hash, 0);
}

static tacit_status assign_folds(validation *self, tacit_error *error) {
    const tacit_reducer *reducer = self->fit->reducer;
    for (size_t i = 0; i < self->rows->rows.count; i++) {
        self->fold[i] = (uint8_t)((hash_row(self, i) >> 32) % FOLDS);
        self->counts[self->fold[i]]++;
    }
    if (reducer != NULL) TACIT_TRY(reducer->sum(reducer->context, self->counts, FOLDS, error));
    return TACIT_OK;
}

/* The rows of a fold, or all others. */
static tacit_rows side(validation *self, size_t fold, bool held_out) {
    const tacit_rows *all = &self->rows->rows;
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        if ((self->fold[i] == fold) == held_out) self->index[count++] = (uint32_t)tacit_rows_stored(all, i);
    tacit_rows out = *all;
    out.index = self->index;
    out.first = 0;
    out.count = count;
    return out;
}

static double lambda_at(const validation *self, size_t place) {
    return fmin(1, 100 / self->total) * pow(10, -(double)place / 2);
}

static tacit_glm_problem problem_of(validation *self, size_t fold, bool held_out) {
    double inside = self->counts[fold];
    return (tacit_glm_problem){ .loss = &self->family->loss,
                                .x = side(self, fold, held_out),
                                .label = self->rows->label,
                                .classes = self->rows->classes,
                                .total_rows = (size_t)(held_out ? inside : self->total - inside),
                                .shape = self->fit->shape,
                                .reducer = self->fit->reducer };
}

/* The minimisers along the path, each from the one before; then what the held-out rows lose under each. */
static tacit_status try_fold(validation *self, size_t fold, tacit_error *error) {
    const size_t size = tacit_family_scores(self->family, self->rows->classes) * self->rows->rows.cols;
    tacit_glm_settings settings = tacit_glm_defaults();
    tacit_glm_fit found;
    tacit_glm_problem problem = problem_of(self, fold, false);
    settings.best_effort = true;
    settings.pool = self->fit->pool;
    memset(self->weights, 0, LAMBDAS * size * sizeof(double));
    for (size_t k = 0; k < LAMBDAS; k++) {
        double *weights = self->weights + k * size;
        if (k > 0) memcpy(weights, weights - size, size * sizeof(double));
        problem.lambda = lambda_at(self, k);
        settings.gradient_tolerance = TOLERANCE * sqrt(problem.lambda);
        TACIT_TRY(tacit_glm_solve(&problem, &settings, weights, &found, error));
    }
    problem = problem_of(self, fold, true);
    for (size_t k = 0; k < LAMBDAS; k++) {
        const double *weights = self->weights + k * size;
        double square = 0;
        problem.lambda = lambda_at(self, k);
        TACIT_TRY(tacit_glm_certify(&problem, self->fit->pool, weights, NULL, &found, error));
        for (size_t j = 0; j < size; j++) square += weights[j] * weights[j];
        self->loss[k] += self->counts[fold] * (found.objective - problem.lambda / 2 * square);
    }
    return TACIT_OK;
}

static tacit_status validate(validation *self, double *out, tacit_error *error) {
    size_t best = 0, tried = 0;
    TACIT_TRY(assign_folds(self, error));
    for (size_t fold = 0; fold < FOLDS && !(tried > 0 && self->total > MANY_ROWS); fold++) {
        if (self->counts[fold] == 0 || self->counts[fold] == self->total) continue;
        TACIT_TRY(try_fold(self, fold, error));
        tried++;
    }
    for (size_t k = 1; k < LAMBDAS; k++)
        if (self->loss[k] < self->loss[best]) best = k;
    *out = tried > 0 ? lambda_at(self, best) : 1 / self->total;
    return TACIT_OK;
}

tacit_status tacit_model_validate_lambda(double *out, const tacit_view *rows, const tacit_linear_fit *fit,
                                         tacit_error *error) {
    const tacit_family *family = fit->family != NULL ? fit->family : tacit_family_for(rows->classes);
    const size_t size = tacit_family_scores(family, rows->classes) * rows->rows.cols;
    const size_t count = rows->rows.count + 1;
    tacit_status status = TACIT_OK;
    validation self = { .rows = rows,
                        .fit = fit,
                        .family = family,
                        .total = (double)(fit->total_rows > 0 ? fit->total_rows : rows->rows.count),
                        .fold = TACIT_NEW(uint8_t, count),
                        .index = TACIT_NEW(uint32_t, count),
                        .weights = TACIT_NEW(double, LAMBDAS *size),
                        .scratch = TACIT_NEW(double, rows->rows.cols) };
    if (self.fold == NULL || self.index == NULL || self.weights == NULL || self.scratch == NULL)
        TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(validate(&self, out, error));
cleanup:
    free(self.fold);
    free(self.index);
    free(self.weights);
    free(self.scratch);
    return status;
}
