#include "method/secure/logit_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/row_sums.h"
#include "net/clock.h"

typedef struct work {
    const tacit_view *rows;
    const tacit_logit_reference_settings *settings;
    size_t width;
    double n;
    double *w;
    double *sums;            /* objective, gradient, lower triangle (tacit_sums_pack) */
    double *factor, *pivots; /* of the matrix; its scaling */
    bool *deficient;
    bool has_factor;
} work;

static tacit_status add_up(work *self, const double *beta, tacit_row_weight weight, tacit_error *error) {
    for (size_t j = 0; j < self->width; j++) self->w[j] = self->settings->scale * beta[j];
    tacit_row_sums how = { .family = &tacit_family_logistic,
                           .weight = weight,
                           .width = self->width,
                           .w = self->w,
                           .response = tacit_row_class,
                           .pool = self->settings->pool };
    return tacit_row_sums_make(self->sums, &how, self->rows, error);
}

/* The Cholesky factor of (H or the bound)/n + (lambda/n) I. False when it is not positive definite in double
 * precision. */
static bool factor(work *self) {
    size_t d = self->width;
    double unit =
        self->settings->scale * self->settings->scale / self->n * (self->settings->newton ? 1 : 0.25);
    const double *matrix = self->sums + 1 + d;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++)
            self->factor[i * d + j] = *matrix++ * unit + (i == j ? self->settings->lambda / self->n : 0);
    self->has_factor = true;
    return tacit_cholesky_factor(self->factor, d, 0, self->pivots, self->deficient) == 0;
}

/* One iteration from beta to next; *objective is that at beta. */
static tacit_status iterate(work *self, const double *beta, double *next, double *objective, bool *lost,
                            tacit_error *error) {
    const tacit_logit_reference_settings *how = self->settings;
    bool wants_matrix = how->newton || !self->has_factor;
    tacit_row_weight weight = !wants_matrix ? TACIT_WEIGH_NONE
                              : how->newton ? TACIT_WEIGH_CURVATURE
                                            : TACIT_WEIGH_ONE;
    double square = 0, reach = 0, ridge = how->lambda / self->n;
    TACIT_TRY(add_up(self, beta, weight, error));
    for (size_t j = 0; j < self->width; j++) {
        square += beta[j] * beta[j];
        next[j] = self->sums[1 + j] * how->scale / self->n + ridge * beta[j];
    }
    *objective = self->sums[0] / self->n + 0.5 * ridge * square;
    *lost = !isfinite(*objective) || (wants_matrix && !factor(self));
    if (*lost) return TACIT_OK;
    tacit_cholesky_solve(self->factor, self->width, self->pivots, next);
    for (size_t j = 0; j < self->width; j++) {
        next[j] = beta[j] - next[j];
        reach = fmax(reach, fabs(next[j]));
    }
    *lost = !(reach < 1e6);
    return TACIT_OK;
}

static bool stops(const tacit_logit_reference *at, const tacit_logit_reference_settings *how) {
    size_t k = at->iterations, d = at->width;
    double moved = 0;
    if (k == 0) return false;
    for (size_t j = 0; j < d; j++) moved = fmax(moved, fabs(at->path[k * d + j] - at->path[(k - 1) * d + j]));
    double change = fabs(at->objective[k] - at->objective[k - 1]) / at->objective[k - 1];
    return (how->likelihood_change > 0 && change < how->likelihood_change) ||
           (how->step > 0 && moved < how->step);
}

static tacit_status make_room(work *self, tacit_logit_reference *out, tacit_error *error) {
    size_t d = self->width, most = self->settings->most_iterations + 2;
    self->sums = TACIT_NEW(double, tacit_sums_length(TACIT_WEIGH_ONE, d));
    self->w = TACIT_NEW(double, d);
    self->factor = TACIT_NEW(double, d *d);
    self->pivots = TACIT_NEW(double, d);
    self->deficient = TACIT_NEW(bool, d);
    out->path = TACIT_NEW(double, most *d);
    out->objective = TACIT_NEW(double, most);
    return self->sums != NULL && self->w != NULL && self->factor != NULL && self->pivots != NULL &&
                   self->deficient != NULL && out->path != NULL && out->objective != NULL
               ? TACIT_OK
               : tacit_fail_memory(error);
}

static void free_room(work *self) {
    free(self->sums);
    free(self->w);
    free(self->factor);
    free(self->pivots);
    free(self->deficient);
}

tacit_status tacit_logit_reference_run(tacit_logit_reference *out, const tacit_view *rows,
                                       const tacit_logit_reference_settings *settings, tacit_error *error) {
    work self = {
        .rows = rows, .settings = settings, .width = rows->rows.cols, .n = (double)rows->rows.count
    };
    int64_t begun = tacit_clock_monotonic_ms();
    size_t d = self.width;
    bool lost = false;
    tacit_status status;
    *out = (tacit_logit_reference){ .width = d };
    TACIT_CHECK(make_room(&self, out, error));
    for (size_t j = 0; j < d; j++) out->path[j] = settings->start;
    for (; !lost && !out->stopped; out->iterations++) {
        size_t k = out->iterations;
        TACIT_CHECK(
            iterate(&self, out->path + k * d, out->path + (k + 1) * d, &out->objective[k], &lost, error));
        out->stopped = stops(out, settings);
        if (lost || out->stopped || k == settings->most_iterations) break;
    }
    out->seconds = 1e-3 * (double)(tacit_clock_monotonic_ms() - begun);
cleanup:
    free_room(&self);
    if (status != TACIT_OK) tacit_logit_reference_clear(out);
    return status;
}

void tacit_logit_reference_clear(tacit_logit_reference *reference) {
    free(reference->path);
    free(reference->objective);
    *reference = (tacit_logit_reference){ .path = NULL };
}

const double *tacit_logit_reference_last(const tacit_logit_reference *reference) {
    return reference->path + reference->iterations * reference->width;
}
