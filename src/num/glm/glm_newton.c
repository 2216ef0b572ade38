/*
 * The general path: globalised Newton. A step is tried at length one with a full pass; only if that does not
 * do is the length searched, on the margins alone. A factored Hessian is kept while steps with it still
 * shrink the gradient fast. For the Huber loss the same iteration is a semismooth Newton method: the
 * generalised Hessian is at least lambda I, so directions descend, and the line search makes it globally
 * convergent.
 *
 * Many rows: the minimiser over every eighth row (found the same way) is a start from which the full
 * problem needs the Hessian of a sample and a few gradients, each of which also corrects that Hessian (BFGS).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/glm/glm_parts.h"

enum {
    SAMPLE_EVERY = 8,
    HESSIAN_EVERY = 4, /* blocks, for the first Hessian after starting from a sample */
    LEAST_SAMPLED_ROWS = 2048,
    SAMPLED_ROWS_PER_COORDINATE = 16,
    PATIENCE = 4, /* steps without progress before giving up; */
    /* and with a kinked loss, where every step may end at another kink, below what rounding shows */
    KINK_PATIENCE = 100,
    FIRST_ATTEMPT = 150, /* steps with exact Hessians, which take a dozen, before the path is tried */
};

typedef struct solver {
    const tacit_glm_settings *settings;
    glm_work work;
    glm_newton newton;
    glm_point now, next;
    double *direction, *margin_change;
    bool refresh;         /* the factored Hessian is too old */
    int iterations, most; /* and how many there may be */
    int idle, patience;   /* steps without progress in a row, and how many there may be */
    double *best;         /* the weights of the smallest bound so far */
    double best_bound, best_objective;
} solver;

static void solver_clear(solver *self) {
    glm_newton_clear(&self->newton);
    glm_point_clear(&self->now);
    glm_point_clear(&self->next);
    free(self->direction);
    free(self->margin_change);
    free(self->best);
    glm_work_clear(&self->work);
}

static tacit_status solver_prepare(solver *self, const tacit_glm_problem *problem,
                                   const tacit_glm_settings *settings, const tacit_rows *x,
                                   double weight_scale, tacit_error *error) {
    self->settings = settings;
    TACIT_TRY(glm_work_prepare(&self->work, problem, settings->pool, x, weight_scale, error));
    TACIT_TRY(glm_newton_prepare(&self->newton, &self->work, error));
    TACIT_TRY(glm_point_create(&self->now, &self->work, error));
    TACIT_TRY(glm_point_create(&self->next, &self->work, error));
    self->direction = TACIT_NEW(double, self->work.size);
    self->margin_change = tacit_allocate_aligned(x->count * self->work.outputs, sizeof(double));
    self->best = TACIT_NEW(double, self->work.size);
    self->best_bound = INFINITY;
    self->most = settings->max_iterations;
    self->patience = problem->loss->kinked ? KINK_PATIENCE : PATIENCE;
    if (self->direction == NULL || self->margin_change == NULL || self->best == NULL)
        return tacit_fail_memory(error);
    return TACIT_OK;
}

static void remember_best(solver *self) {
    if (!(self->now.bound < self->best_bound)) return;
    memcpy(self->best, self->now.weights, self->work.size * sizeof *self->best);
    self->best_bound = self->now.bound;
    self->best_objective = self->now.objective;
}

static tacit_status evaluate_at(solver *self, double step, tacit_error *error) {
    for (size_t j = 0; j < self->work.size; j++)
        self->next.weights[j] = self->now.weights[j] + step * self->direction[j];
    return glm_evaluate(&self->work, &self->next, error);
}

/* What rounding may add to or hide of the objective. It is relative to the sizes of the terms: their sum may
 * cancel, with a linear term to nothing. */
static double objective_noise(const solver *self) { return 1e-14 * (self->now.scale + 1e-300); }

/* Sufficient decrease; or, where the objective's rounding hides it, a smaller slope (the approximate Wolfe
 * condition of Hager and Zhang 2005) or a smaller gradient: a decrease that is seen there may be rounding, on
 * a step to a steeper place. With a kinked loss a step must also have used up half of the slope: it can jump
 * across kinks. */
static bool acceptable(const solver *self, double slope) {
    const glm_point *now = &self->now, *next = &self->next;
    if (!isfinite(next->objective) || !isfinite(next->norm)) return false;
    double slope_there = glm_dot(next->gradient, self->direction, self->work.size);
    double noise = objective_noise(self);
    bool flatter = fabs(slope_there) <= 0.8 * fabs(slope) || next->norm <= 0.5 * now->norm;
    if (next->objective <= now->objective + noise && flatter && fabs(slope) < 1e4 * noise) return true;
    if (fabs(slope) < noise && fabs(slope_there) > fabs(slope)) return false;
    if (self->work.problem->loss->kinked && fabs(slope_there) > 0.5 * fabs(slope)) return false;
    return next->objective <= now->objective + 1e-4 * slope;
}

/* Leaves the accepted point in `next`; *step = 0 when no step decreases the objective. */
static tacit_status take_step(solver *self, double *step, tacit_error *error) {
    size_t size = self->work.size, margins = self->work.x.count * self->work.outputs;
    double slope = glm_dot(self->now.gradient, self->direction, size);
    if (!(slope < 0)) {
        for (size_t j = 0; j < size; j++) self->direction[j] = -self->now.gradient[j];
        slope = -self->now.norm * self->now.norm;
    }
    *step = 1;
    TACIT_TRY(evaluate_at(self, 1, error));
    if (acceptable(self, slope)) return TACIT_OK;
    for (size_t i = 0; i < margins; i++) self->margin_change[i] = self->next.margin[i] - self->now.margin[i];
    TACIT_TRY(glm_search_margins(&self->work, &self->now, self->direction, self->margin_change, step, error));
    return *step > 0 ? evaluate_at(self, *step, error) : TACIT_OK;
}

/* Would steps with the old Hessian cost more than a new one? Each shrinks the gradient by `ratio`; forming
 * and factoring takes about as long as 1 + cols/30 passes. */
static bool worth_refreshing(const solver *self, double ratio, double tolerance) {
    if (!(ratio < 0.7)) return true;
    double left = log(fmax(self->now.norm / tolerance, 1)) / log(1 / ratio);
    return left > 2 + (double)self->newton.order / 30;
}

static tacit_status give_up(const solver *self, double tolerance, tacit_error *error) {
    return tacit_fail(error, TACIT_NOT_CONVERGED,
                      "the gradient bound is %.3g after %d iterations, not %.3g: raise the tolerance, lambda "
                      "or the iteration limit, or scale the features",
                      self->best_bound, self->iterations, tolerance);
}

/* Inexact Newton: solve the linear system as well as the distance to the minimiser deserves. */
static double forcing(const solver *self, double first_norm, double tolerance) {
    double relative = self->now.norm / first_norm;
    double wanted = fmin(0.1, sqrt(relative));
    double enough = 0.2 * tolerance / self->now.norm; /* no better than the last step needs */
    return fmax(fmin(wanted, 0.1), fmin(enough, 0.1));
}

static tacit_status check_limits(const solver *self, double tolerance, tacit_error *error) {
    if (tacit_progress_cancelled(self->settings->progress))
        return tacit_fail(error, TACIT_CANCELLED, "the fit was cancelled");
    if (self->iterations >= self->most || self->idle >= self->patience)
        return give_up(self, tolerance, error);
    return TACIT_OK;
}

/* One Newton step from now.weights, already evaluated. *step = 0: none decreases the objective. */
static tacit_status newton_step(solver *self, double forcing, double tolerance, double *step,
                                tacit_error *error) {
    bool fresh = self->refresh;
    int products;
    if (fresh) {
        TACIT_TRY(glm_newton_refresh(&self->newton, &self->work, &self->now, error));
        if (self->newton.exact) self->newton.every = 1; /* only the first may come from a sample */
    }
    TACIT_TRY(glm_newton_direction(&self->newton, &self->work, &self->now, forcing, self->direction,
                                   &products, error));
    TACIT_TRY(take_step(self, step, error));
    self->iterations++;
    if (*step == 0) {
        self->idle = fresh ? self->patience : self->idle + 1;
        self->refresh = true;
        return TACIT_OK;
    }
    double ratio = self->next.norm / self->now.norm;
    glm_newton_learn(&self->newton, &self->work, self->direction, *step, self->now.gradient,
                     self->next.gradient);
    bool better = self->next.norm < 0.9 * self->now.norm ||
                  self->next.objective < self->now.objective - 10 * objective_noise(self);
    self->idle = better ? 0 : self->idle + 1;
    glm_point swap = self->now;
    self->now = self->next;
    self->next = swap;
    self->refresh =
        self->newton.exact ? *step != 1 || worth_refreshing(self, ratio, tolerance) : products > 8;
    tacit_progress_report(self->settings->progress, "fitting", (uint64_t)self->iterations, 0);
    return TACIT_OK;
}

/* From now.weights, already evaluated, until now.bound <= tolerance. */
static tacit_status iterate(solver *self, double tolerance, tacit_error *error) {
    double first_norm = self->now.norm;
    self->refresh = true;
    self->idle = 0;
    for (remember_best(self); !(self->now.bound <= tolerance); remember_best(self)) {
        double step;
        TACIT_TRY(check_limits(self, tolerance, error));
        TACIT_TRY(newton_step(self, forcing(self, first_norm, tolerance), tolerance, &step, error));
    }
    return TACIT_OK;
}

static bool worth_sampling(const tacit_glm_problem *problem, const tacit_rows *x, size_t total) {
    size_t size = tacit_glm_size(problem), sampled = total / SAMPLE_EVERY;
    bool numbered = x->index != NULL || x->first + x->count <= UINT32_MAX;
    return numbered && sampled >= LEAST_SAMPLED_ROWS && sampled / SAMPLED_ROWS_PER_COORDINATE >= size;
}

static tacit_status start_from_sample(const tacit_glm_problem *problem, const tacit_glm_settings *settings,
                                      const tacit_rows *x, size_t total, double weight_scale, double *weights,
                                      tacit_error *error);

/* Evaluate at the start: the better of `weights` and the minimiser over a sample, where that is worth its
 * time. */
static tacit_status find_start(solver *self, size_t total, double weight_scale, double *weights,
                               tacit_error *error) {
    const tacit_glm_problem *problem = self->work.problem;
    const tacit_rows *x = &self->work.x;
    size_t size = self->work.size;
    bool warm = false, sample = worth_sampling(problem, x, total);
    for (size_t j = 0; j < size; j++) warm = warm || weights[j] != 0;
    memcpy(self->now.weights, weights, size * sizeof *weights);
    if (warm || !sample) TACIT_TRY(glm_evaluate(&self->work, &self->now, error));
    if (sample) {
        TACIT_TRY(start_from_sample(problem, self->settings, x, total, weight_scale, weights, error));
        memcpy(self->next.weights, weights, size * sizeof *weights);
        TACIT_TRY(glm_evaluate(&self->work, &self->next, error));
        if (self->newton.exact) self->newton.every = HESSIAN_EVERY;
        if (!warm || self->next.objective < self->now.objective) {
            glm_point swap = self->now;
            self->now = self->next;
            self->next = swap;
        }
    }
    if (isfinite(self->now.bound) && isfinite(self->now.objective)) return TACIT_OK;
    return tacit_fail(error, TACIT_INPUT,
                      "a feature, a weight or the starting point is not finite, or too large to square");
}

/* The minimiser over the rows of `x`, whose weights count weight_scale times; `roughly`: only as well as a
 * sample of that many rows deserves. TACIT_NOT_CONVERGED leaves the best that was found in `weights` and
 * `fit`. */
static tacit_status solve_over(const tacit_glm_problem *problem, const tacit_glm_settings *settings,
                               const tacit_rows *x, size_t total, double weight_scale, bool roughly,
                               double *weights, glm_found *fit, tacit_error *error) {
    solver self = { 0 };
    tacit_status status;
    TACIT_CHECK(solver_prepare(&self, problem, settings, x, weight_scale, error));
    TACIT_CHECK(find_start(&self, total, weight_scale, weights, error));
    double tolerance = settings->gradient_tolerance;
    /* the gradient's spread over samples of that size, and a margin */
    if (roughly) tolerance = fmax(tolerance, 0.05 * self.work.rounding.weighted_norms / sqrt((double)total));
    if (self.newton.kind == GLM_HESSIAN_DIAGONAL && glm_descent_pairs(&self.work) > 0)
        TACIT_CHECK(glm_descend(&self.work, settings, tolerance, &self.now, &self.next, self.direction,
                                self.margin_change, &self.iterations, error));
    if (self.newton.exact && self.most > FIRST_ATTEMPT) self.most = FIRST_ATTEMPT;
    status = iterate(&self, tolerance, error);
    if (roughly && status == TACIT_NOT_CONVERGED) status = TACIT_OK; /* only a start */
    if (status != TACIT_OK && status != TACIT_NOT_CONVERGED) goto cleanup;
    memcpy(weights, self.best, self.work.size * sizeof *weights);
    if (fit != NULL)
        *fit = (glm_found){ { self.best_objective, self.best_bound, self.iterations },
                            self.work.rounding.weighted_squares };
cleanup:
    solver_clear(&self);
    return status;
}

static tacit_status start_from_sample(const tacit_glm_problem *problem, const tacit_glm_settings *settings,
                                      const tacit_rows *x, size_t total, double weight_scale, double *weights,
                                      tacit_error *error) {
    size_t count = (x->count + SAMPLE_EVERY - 1) / SAMPLE_EVERY;
    uint32_t *index = TACIT_NEW(uint32_t, count);
    if (index == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < count; i++) index[i] = (uint32_t)tacit_rows_stored(x, i * SAMPLE_EVERY);
    tacit_rows sample = tacit_rows_select(x, index, count);
    tacit_error unread = TACIT_ERROR_INIT;
    tacit_status status = solve_over(problem, settings, &sample, total / SAMPLE_EVERY,
                                     weight_scale * SAMPLE_EVERY, true, weights, NULL, &unread);
    if (status != TACIT_OK) status = tacit_fail(error, status, "%s", unread.text);
    free(index);
    return status;
}

tacit_status glm_solve_once(const tacit_glm_problem *problem, const tacit_glm_settings *settings,
                            double *weights, glm_found *found, tacit_error *error) {
    size_t total = problem->total_rows != 0 ? problem->total_rows : problem->x.count;
    return solve_over(problem, settings, &problem->x, total, 1, false, weights, found, error);
}

tacit_status glm_solve_general(const tacit_glm_problem *problem, const tacit_glm_settings *settings,
                               double *weights, tacit_glm_fit *fit, tacit_error *error) {
    size_t size = tacit_glm_size(problem);
    double *work = TACIT_NEW(double, size);
    glm_found found;
    if (work == NULL) return tacit_fail_memory(error);
    memcpy(work, weights, size * sizeof *work);
    tacit_status status = glm_solve_once(problem, settings, work, &found, error);
    if (status == TACIT_NOT_CONVERGED && found.fit.iterations < settings->max_iterations)
        status = glm_solve_path(problem, settings, work, &found, error);
    if (status == TACIT_NOT_CONVERGED && settings->best_effort) status = TACIT_OK;
    if (status == TACIT_OK) memcpy(weights, work, size * sizeof *work);
    if (status == TACIT_OK) *fit = found.fit;
    free(work);
    return status;
}
