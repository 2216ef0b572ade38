/* Ridge fits of numbers and counts, for the yardsticks of a plan. The certified solver (num/glm/glm.h) needs
 * bounded derivatives, which neither has; here Newton's method does, halved until the objective falls. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/plan_response.h"
#include "num/estimator.h"

enum { MOST_STEPS = 30, MOST_HALVINGS = 20 };

typedef struct ridge_fit {
    const tacit_view *rows;
    const tacit_family *family;
    double ridge; /* (ridge/2)|w|^2 beside the sum of losses */
    size_t width;
    double *w, *tried, *direction, *scale;
    double *sums;   /* objective, gradient, lower triangle */
    double *factor; /* width x width */
    bool *deficient;
} ridge_fit;

static void ridge_clear(ridge_fit *self) {
    free(self->w);
    free(self->tried);
    free(self->direction);
    free(self->scale);
    free(self->sums);
    free(self->factor);
    free(self->deficient);
}

static tacit_status ridge_begin(ridge_fit *self, tacit_error *error) {
    size_t d = self->width;
    self->w = TACIT_NEW(double, d);
    self->tried = TACIT_NEW(double, d);
    self->direction = TACIT_NEW(double, d);
    self->scale = TACIT_NEW(double, d);
    self->sums = TACIT_NEW(double, tacit_sums_length(TACIT_WEIGH_CURVATURE, d));
    self->factor = TACIT_NEW(double, d *d);
    self->deficient = TACIT_NEW(bool, d);
    bool made = self->w != NULL && self->tried != NULL && self->direction != NULL && self->scale != NULL &&
                self->sums != NULL && self->factor != NULL && self->deficient != NULL;
    return made ? TACIT_OK : tacit_fail_memory(error);
}

/* Sums over all rows at weights, the penalty not among them. */
static tacit_status sum_at(ridge_fit *self, const double *w, tacit_row_weight weight, double *out,
                           tacit_error *error) {
    double response[TACIT_SUMS_BLOCK];
    size_t all = self->rows->rows.count;
    tacit_sums sums;
    TACIT_TRY(tacit_sums_create(&sums, &self->family->loss, weight, self->width, w, error));
    for (size_t first = 0; first < all; first += TACIT_SUMS_BLOCK) {
        size_t count = all - first < TACIT_SUMS_BLOCK ? all - first : TACIT_SUMS_BLOCK;
        tacit_view block = tacit_view_slice(self->rows, first, count);
        for (size_t i = 0; i < count; i++) response[i] = tacit_view_response(&block, i);
        tacit_sums_add(&sums, &block.rows, NULL, response);
    }
    tacit_sums_pack(&sums, out);
    tacit_sums_clear(&sums);
    return TACIT_OK;
}

static double penalty(const ridge_fit *self, const double *w) {
    double square = 0;
    for (size_t j = 0; j < self->width; j++) square += w[j] * w[j];
    return self->ridge / 2 * square;
}

/* Where Newton's method wants to go; false where the curvature has no inverse. */
static bool find_direction(ridge_fit *self) {
    size_t d = self->width;
    const double *gradient = self->sums + 1, *triangle = gradient + d;
    for (size_t j = 0; j < d; j++) {
        for (size_t k = 0; k <= j; k++) self->factor[j * d + k] = *triangle++;
        self->factor[j * d + j] += self->ridge;
        self->direction[j] = gradient[j] + self->ridge * self->w[j];
    }
    if (tacit_cholesky_factor(self->factor, d, 0, self->scale, self->deficient) > 0) return false;
    tacit_cholesky_solve(self->factor, d, self->scale, self->direction);
    return true;
}

/* One step; *moved: by how much the objective fell, as a part of it. */
static tacit_status take_step(ridge_fit *self, double *moved, tacit_error *error) {
    double before = self->sums[0] + penalty(self, self->w), size = 1, after[1 + TACIT_BELIEF_FEATURES];
    *moved = 0;
    for (int halving = 0; halving < MOST_HALVINGS; halving++, size /= 2) {
        for (size_t j = 0; j < self->width; j++) self->tried[j] = self->w[j] - size * self->direction[j];
        TACIT_TRY(sum_at(self, self->tried, TACIT_WEIGH_NONE, after, error));
        double here = after[0] + penalty(self, self->tried);
        if (!(here < before)) continue;
        memcpy(self->w, self->tried, self->width * sizeof *self->w);
        *moved = (before - here) / (1 + fabs(before));
        return TACIT_OK;
    }
    return TACIT_OK;
}

tacit_status plan_fit(tacit_model **out, const tacit_view *rows, const tacit_schema *schema,
                      const tacit_linear_fit *how, tacit_error *error) {
    static const double ENOUGH = 1e-9;
    ridge_fit self = { .rows = rows,
                       .family = plan_family(schema),
                       .ridge = how->lambda * (double)rows->rows.count,
                       .width = rows->rows.cols };
    if (self.family == NULL) return tacit_model_fit_linear(out, rows, how, error);
    double moved = 1;
    tacit_status status;
    TACIT_CHECK(ridge_begin(&self, error));
    for (int step = 0; step < MOST_STEPS && moved > ENOUGH; step++) {
        if (tacit_progress_cancelled(how->progress))
            TACIT_CHECK(tacit_fail(error, TACIT_CANCELLED, "interrupted"));
        TACIT_CHECK(sum_at(&self, self.w, TACIT_WEIGH_CURVATURE, self.sums, error));
        if (!find_direction(&self)) break;
        TACIT_CHECK(take_step(&self, &moved, error));
    }
    TACIT_CHECK(tacit_model_create(out, self.family, self.width, 0, error));
    memcpy((*out)->weights, self.w, self.width * sizeof *self.w);
cleanup:
    ridge_clear(&self);
    return status;
}
