/*
 * Descent for sparse rows of too many columns to factor anything: limited-memory BFGS (Nocedal 1980) whose
 * steps are searched on the margins. A step reads the rows twice, once for the margins of its direction and
 * once for the gradient, which is what a single product with the Hessian costs conjugate gradients; but every
 * step sees the current curvature, and none is spent on solving for a direction more exactly than it
 * deserves. On texts that halves the passes.
 *
 * The margins are carried along, t += s X d, so that a gradient takes half a pass; and as long as the
 * gradient is large the passes are over a compact copy of the rows (glm_compact.c). Both are inexact. Where
 * the tolerance seems near, or the gradient drowns in the copy's rounding, everything is computed afresh from
 * the rows proper: that alone is certified.
 */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/glm/glm_parts.h"

enum {
    MOST_DESCENT_PAIRS = 20,
    LEAST_DESCENT_PAIRS = 5, /* fewer forget too much */
    PATIENCE = 50            /* steps within which the gradient must have been halved */
};

/* A ring of steps and the gradient's changes along them. */
typedef struct memory {
    size_t size, most, pairs, next;
    double *step, *change; /* most * size */
    double curvature[MOST_DESCENT_PAIRS], share[MOST_DESCENT_PAIRS];
} memory;

/* No more than two numbers for each entry of the rows (and class). Holders of rows apart would have to
 * agree. */
size_t glm_descent_pairs(const glm_work *work) {
    if (work->x.sparse == NULL || work->problem->reducer != NULL) return 0;
    size_t pairs = tacit_rows_entries(&work->x) / work->cols;
    return pairs < LEAST_DESCENT_PAIRS ? 0 : pairs < MOST_DESCENT_PAIRS ? pairs : MOST_DESCENT_PAIRS;
}

static double dot(const memory *self, const double *a, const double *b) {
    return cblas_ddot((int)self->size, a, 1, b, 1);
}

/* The pair `age` steps ago. */
static size_t place(const memory *self, size_t age) {
    return (self->next + self->most - 1 - age) % self->most;
}

/* out = -H gradient by the two loops (Nocedal and Wright 2006, algorithm 7.4). */
static void descent_direction(memory *self, const double *gradient, double *out) {
    int size = (int)self->size;
    for (size_t j = 0; j < self->size; j++) out[j] = -gradient[j];
    for (size_t age = 0; age < self->pairs; age++) {
        size_t k = place(self, age);
        self->share[k] = dot(self, self->step + k * self->size, out) / self->curvature[k];
        cblas_daxpy(size, -self->share[k], self->change + k * self->size, 1, out, 1);
    }
    if (self->pairs == 0) return;
    const double *last = self->change + place(self, 0) * self->size;
    cblas_dscal(size, self->curvature[place(self, 0)] / dot(self, last, last), out, 1);
    for (size_t age = self->pairs; age-- > 0;) {
        size_t k = place(self, age);
        double back = dot(self, self->change + k * self->size, out) / self->curvature[k];
        cblas_daxpy(size, self->share[k] - back, self->step + k * self->size, 1, out, 1);
    }
}

static void keep(memory *self, const glm_point *from, const glm_point *to) {
    double *step = self->step + self->next * self->size, *change = self->change + self->next * self->size;
    for (size_t j = 0; j < self->size; j++) {
        step[j] = to->weights[j] - from->weights[j];
        change[j] = to->gradient[j] - from->gradient[j];
    }
    double curvature = dot(self, step, change);
    if (!(curvature > 1e-14 * sqrt(dot(self, step, step) * dot(self, change, change)))) return;
    self->curvature[self->next] = curvature;
    self->next = (self->next + 1) % self->most;
    if (self->pairs < self->most) self->pairs++;
}

typedef struct descent {
    glm_work *work;
    const tacit_glm_settings *settings;
    double tolerance;
    glm_point *now, *next;
    double *direction, *margin_change;
    memory past;
    double ratio; /* by which the last step shrank the gradient */
    double near;  /* evaluate afresh when the next gradient may be below */
} descent;

/* Values that are off by 2^-24 of themselves, at random, move the gradient by some 2^-24/sqrt(n) of its rows'
 * weighted norms. Nothing rests on that but the time: a compact gradient that is further off does not pass
 * for the exact one. */
static double rounding_of_copy(const glm_work *work) {
    return 4 * 0x1p-24 * work->rounding.weighted_norms / sqrt((double)work->x.count);
}

/* *moved is false when no step decreases the objective: rounding, or numbers that are not finite. */
static tacit_status descend_once(descent *self, bool *moved, tacit_error *error) {
    glm_work *work = self->work;
    glm_point *now = self->now, *next = self->next;
    double step = 0;
    *moved = false;
    descent_direction(&self->past, now->gradient, self->direction);
    TACIT_TRY(glm_margins(work, self->direction, self->margin_change, error));
    TACIT_TRY(glm_search_margins(work, now, self->direction, self->margin_change, &step, error));
    if (!(step > 0)) return TACIT_OK;
    for (size_t j = 0; j < work->size; j++) next->weights[j] = now->weights[j] + step * self->direction[j];
    for (size_t i = 0; i < work->x.count * work->outputs; i++)
        next->margin[i] = now->margin[i] + step * self->margin_change[i];
    bool near = now->norm * self->ratio <= self->near;
    if (!near) TACIT_TRY(glm_evaluate_known(work, next, error));
    if (near || next->norm <= self->tolerance) TACIT_TRY(glm_evaluate(work, next, error));
    if (!isfinite(next->objective) || !isfinite(next->norm)) return TACIT_OK;
    keep(&self->past, now, next);
    self->ratio = next->norm / now->norm;
    glm_point swap = *now;
    *now = *next;
    *next = swap;
    *moved = true;
    return TACIT_OK;
}

static tacit_status descend(descent *self, int *iterations, tacit_error *error) {
    double best = self->now->norm;
    bool moved = true;
    for (int idle = 0; moved && idle < PATIENCE && *iterations < self->settings->max_iterations; idle++) {
        if (self->now->bound <= self->tolerance) return TACIT_OK;
        if (tacit_progress_cancelled(self->settings->progress))
            return tacit_fail(error, TACIT_CANCELLED, "the fit was cancelled");
        TACIT_TRY(descend_once(self, &moved, error));
        ++*iterations;
        tacit_progress_report(self->settings->progress, "fitting", (uint64_t)*iterations, 0);
        if (self->now->norm > 0.5 * best) continue;
        best = self->now->norm;
        idle = 0;
    }
    return isfinite(self->now->bound) ? TACIT_OK : glm_evaluate(self->work, self->now, error);
}

tacit_status glm_descend(glm_work *work, const tacit_glm_settings *settings, double tolerance, glm_point *now,
                         glm_point *next, double *direction, double *margin_change, int *iterations,
                         tacit_error *error) {
    descent self = { .work = work,
                     .settings = settings,
                     .tolerance = tolerance,
                     .now = now,
                     .next = next,
                     .direction = direction,
                     .margin_change = margin_change,
                     .past = { .size = work->size, .most = glm_descent_pairs(work) },
                     .ratio = 1,
                     .near = 1.5 * fmax(tolerance, rounding_of_copy(work)) };
    glm_compact compact = { 0 };
    tacit_status status = TACIT_OK;
    if (now->bound <= tolerance) return TACIT_OK;
    self.past.step = TACIT_NEW(double, self.past.most * work->size);
    self.past.change = TACIT_NEW(double, self.past.most * work->size);
    if (self.past.step == NULL || self.past.change == NULL) {
        status = tacit_fail_memory(error);
        goto cleanup;
    }
    if (glm_compact_fits(work)) {
        TACIT_CHECK(glm_compact_create(&compact, work, error));
        work->compact = &compact;
    }
    status = descend(&self, iterations, error);
cleanup:
    work->compact = NULL;
    glm_compact_clear(&compact);
    free(self.past.step);
    free(self.past.change);
    return status;
}
