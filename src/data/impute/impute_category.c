/* Missing levels of a category by multinomial logistic regression (impute.h). The levels that occur are
 * numbered from 0; level 0 of them is the base, and level k has `predictors` parameters from (k - 1) on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/impute/impute_parts.h"
#include "rand/fast.h"

enum { MOST_STEPS = 50, MOST_HALVINGS = 30 };

typedef struct regression {
    impute_work *work;
    const tacit_impute_variable *of;
    size_t levels;  /* that occur */
    size_t *number; /* of each that occurs, among all of the variable */
    double *p;      /* probabilities of one row; room for `levels` */
    double *there;  /* parameters that are tried */
    double weight;  /* of a pseudo-row */
    bool derive;    /* matrix and gradient too */
    double loss;
} regression;

/* Numbers the levels that occur, and says which each row has; SIZE_MAX where it is missing. */
static tacit_status find_levels(regression *self, tacit_error *error) {
    impute_work *work = self->work;
    const tacit_impute_problem *problem = work->problem;
    size_t all = self->of->count + 1, next = 0;
    size_t *place = TACIT_NEW(size_t, all);
    self->number = TACIT_NEW(size_t, all);
    if (place == NULL || self->number == NULL) {
        free(place);
        return tacit_fail_memory(error);
    }
    for (size_t i = 0; i < problem->rows; i++) {
        bool missing = next < self->of->cells && self->of->row[next] == i;
        next += missing;
        work->level[i] = missing ? SIZE_MAX : impute_level(self->of, problem->values + i * problem->width);
        if (!missing) place[work->level[i]]++;
    }
    for (size_t k = 0; k < all; k++) {
        bool occurs = place[k] > 0;
        place[k] = self->levels;
        if (occurs) self->number[self->levels++] = k;
    }
    for (size_t i = 0; i < problem->rows; i++)
        if (work->level[i] != SIZE_MAX) work->level[i] = place[work->level[i]];
    free(place);
    return TACIT_OK;
}

/* Mean and standard deviation of the predictors where the variable is there. */
static void measure_predictors(impute_work *work) {
    const tacit_impute_problem *problem = work->problem;
    double seen = 0;
    memset(work->mean, 0, problem->width * sizeof *work->mean);
    memset(work->spread, 0, problem->width * sizeof *work->spread);
    for (size_t i = 0; i < problem->rows; i++) {
        if (work->level[i] == SIZE_MAX) continue;
        seen++;
        for (size_t j = 0; j < work->predictors; j++)
            work->mean[j] += problem->values[i * problem->width + work->predictor[j]];
    }
    for (size_t j = 0; j < work->predictors; j++) work->mean[j] /= seen;
    for (size_t i = 0; i < problem->rows; i++)
        for (size_t j = 0; work->level[i] != SIZE_MAX && j < work->predictors; j++)
            work->spread[j] +=
                pow(problem->values[i * problem->width + work->predictor[j]] - work->mean[j], 2);
    for (size_t j = 0; j < work->predictors; j++) work->spread[j] = sqrt(work->spread[j] / fmax(1, seen - 1));
    for (size_t j = 0; j < work->predictors; j++) /* constant except for rounding */
        if (work->spread[j] <= 1e-12 * fabs(work->mean[j])) work->spread[j] = 0;
}

/* Probabilities of the levels in a row; returns the logarithm of their sum's scale. */
static double probabilities(const regression *self, const double *row, const double *b) {
    double most = 0, sum = 0;
    self->p[0] = 0;
    for (size_t k = 1; k < self->levels; k++) {
        self->p[k] = impute_dot(self->work, row, b + (k - 1) * self->work->predictors);
        most = fmax(most, self->p[k]);
    }
    for (size_t k = 0; k < self->levels; k++) sum += exp(self->p[k] - most);
    double scale = most + log(sum);
    for (size_t k = 0; k < self->levels; k++) self->p[k] = exp(self->p[k] - scale);
    return scale;
}

/* -log p of a row with a level, its gradient and Hessian. */
static void add_row(regression *self, const double *row, size_t level, double weight, const double *b) {
    impute_work *work = self->work;
    size_t p = work->predictors, width = (self->levels - 1) * p;
    double scale = probabilities(self, row, b);
    self->loss += weight * (scale - (level > 0 ? impute_dot(work, row, b + (level - 1) * p) : 0));
    for (size_t k = 1; self->derive && k < self->levels; k++)
        for (size_t i = 0; i < p; i++) {
            double x = weight * row[work->predictor[i]];
            size_t at = (k - 1) * p + i;
            if (x == 0) continue;
            work->gradient[at] += x * (self->p[k] - (k == level));
            for (size_t l = 1; l <= k; l++) {
                double curve = x * self->p[k] * ((k == l) - self->p[l]);
                size_t most = l == k ? i + 1 : p;
                for (size_t j = 0; j < most; j++)
                    work->matrix[at * width + (l - 1) * p + j] += curve * row[work->predictor[j]];
            }
        }
}

/* Rows around the means, half a standard deviation off in one predictor, of every level: White, Daniel and
 * Royston's remedy for levels that a predictor tells apart without error. */
static void add_pseudo_rows(regression *self, const double *b) {
    impute_work *work = self->work;
    for (size_t j = 0; j < work->predictors; j++) work->pseudo[work->predictor[j]] = work->mean[j];
    for (size_t j = 0; j < work->predictors; j++) {
        double *at = &work->pseudo[work->predictor[j]];
        if (work->spread[j] == 0) continue;
        for (int side = -1; side <= 1; side += 2) {
            *at = work->mean[j] + side * work->spread[j] / 2;
            for (size_t k = 0; k < self->levels; k++) add_row(self, work->pseudo, k, self->weight, b);
        }
        *at = work->mean[j];
    }
}

static void evaluate(regression *self, const double *b, bool derive) {
    impute_work *work = self->work;
    const tacit_impute_problem *problem = work->problem;
    size_t width = (self->levels - 1) * work->predictors;
    self->loss = 0;
    self->derive = derive;
    if (derive) {
        memset(work->matrix, 0, width * width * sizeof *work->matrix);
        memset(work->gradient, 0, width * sizeof *work->gradient);
    }
    for (size_t i = 0; i < problem->rows; i++)
        if (work->level[i] != SIZE_MAX)
            add_row(self, problem->values + i * problem->width, work->level[i], 1, b);
    add_pseudo_rows(self, b);
}

/* Newton with halved steps; the loss is convex. At the end the factor is that of the Hessian at `b`. */
static void maximise(regression *self) {
    static const double NEAR = 1e-10;
    impute_work *work = self->work;
    size_t width = (self->levels - 1) * work->predictors;
    memset(work->b, 0, width * sizeof *work->b);
    for (int step = 0; step < MOST_STEPS; step++) {
        evaluate(self, work->b, true);
        double before = self->loss, promise = 0, size = 1;
        impute_factor(work->matrix, width, work->absent);
        memcpy(work->draw, work->gradient, width * sizeof *work->draw);
        impute_forward(work->matrix, width, work->absent, work->draw);
        impute_backward(work->matrix, width, work->absent, work->draw);
        for (size_t j = 0; j < width; j++) promise += work->draw[j] * work->gradient[j];
        if (promise <= NEAR) return;
        for (int k = 0; k < MOST_HALVINGS; k++, size /= 2) {
            for (size_t j = 0; j < width; j++) self->there[j] = work->b[j] - size * work->draw[j];
            evaluate(self, self->there, false);
            if (self->loss <= before) break;
        }
        memcpy(work->b, self->there, width * sizeof *work->b);
    }
    evaluate(self, work->b, true);
    impute_factor(work->matrix, width, work->absent);
}

static void draw_levels(regression *self, tacit_stream *stream) {
    impute_work *work = self->work;
    const tacit_impute_problem *problem = work->problem;
    size_t width = (self->levels - 1) * work->predictors;
    tacit_fast_normals(stream, work->draw, width);
    impute_backward(work->matrix, width, work->absent, work->draw);
    for (size_t j = 0; j < width; j++) work->b[j] += work->draw[j];
    for (size_t c = 0; c < self->of->cells; c++) {
        double *row = problem->values + self->of->row[c] * problem->width;
        double left = tacit_stream_unit(stream);
        size_t k = 0;
        probabilities(self, row, work->b);
        while (k + 1 < self->levels && left >= self->p[k]) left -= self->p[k++];
        impute_set_level(self->of, row, self->number[k]);
    }
}

tacit_status impute_category(impute_work *work, const tacit_impute_variable *of, tacit_stream *stream,
                             tacit_error *error) {
    regression self = { .work = work, .of = of };
    tacit_status status;
    TACIT_CHECK(find_levels(&self, error));
    if (self.levels == 1) {
        for (size_t c = 0; c < of->cells; c++)
            impute_set_level(of, work->problem->values + of->row[c] * work->problem->width, self.number[0]);
        goto cleanup;
    }
    size_t width = (self.levels - 1) * work->predictors;
    self.p = TACIT_NEW(double, self.levels + width);
    if (self.p == NULL) TACIT_CHECK(tacit_fail_memory(error));
    self.there = self.p + self.levels;
    measure_predictors(work);
    double spread_out = 0;
    for (size_t j = 0; j < work->predictors; j++) spread_out += work->spread[j] > 0;
    if (spread_out > 0) self.weight = (spread_out + 1) / (2 * spread_out * (double)self.levels);
    maximise(&self);
    draw_levels(&self, stream);
cleanup:
    free(self.number);
    free(self.p);
    return status;
}
