/*
 * A fit in few rounds (rounds=few), for studies that people carry: each round is a hand-over. What the careful fit
 * asks for by itself follows from the sums at w = 0, where the curvature of every row is the same: the response's
 * from the intercept's gradient and the loss, X^T X from the Hessian. Newton starts there.
 *
 * linear      the sums at 0 are all there is: rows, then sums. F at the solution is computed, not asked for, so that
 *             the residual sum of squares has the digits that y^T y leaves of it.
 * logistic    Newton ends with a step that is not looked at again, once a step is so short (1e-5 standard errors)
 *             that the next would be a 1e-10th of one; errors are those of the point before it.
 */
#include <math.h>
#include <string.h>

#include "method/exact/estimate_fit.h"
#include "method/methods.h"

bool tacit_estimate_wants_few(const tacit_plan *plan) {
    return tacit_estimate_settings_of(plan)->rounds == TACIT_ROUNDS_FEW;
}

tacit_status tacit_estimate_check_few(const tacit_plan *plan, const tacit_family *family,
                                      const tacit_design *design, tacit_error *error) {
    const tacit_estimate_settings *settings = tacit_estimate_settings_of(plan);
    if (!tacit_estimate_wants_few(plan)) return TACIT_OK;
    if (family->few && settings->optimiser == TACIT_ESTIMATE_NEWTON &&
        settings->bias == TACIT_ESTIMATE_PLAIN && !tacit_estimate_looks_again(plan) &&
        tacit_estimate_sets(plan) == 0 && !tacit_estimate_apart_wanted(plan) && settings->folds == 0 &&
        settings->anova == TACIT_ANOVA_NONE && !tacit_design_has_beside(design) &&
        (design->intercept != SIZE_MAX || plan->schema == NULL))
        return TACIT_OK;
    return tacit_fail(
        error, TACIT_USAGE,
        "rounds=few fits family linear or logistic by newton, with an intercept, and nothing "
        "beside the table of coefficients: leave 'rounds' out, or the other settings, weights and "
        "offsets");
}

static double dot(const double *a, const double *b, size_t count) {
    double sum = 0;
    for (size_t j = 0; j < count; j++) sum += a[j] * b[j];
    return sum;
}

/* From the sums at w = 0. */
static void derive_terms(estimate_fit *self) {
    const size_t width = self->design.width, at = self->design.intercept;
    const double pull = self->here.gradient[at] / self->design.intercept_value;
    const double curvature = self->family->quadratic ? 1 : 0.25;
    self->terms[0] = (self->family->quadratic ? 0 : self->n / 2) - pull;
    self->terms[1] = self->family->quadratic ? 2 * self->here.loss : 0;
    self->terms[2] = 0;
    for (size_t i = 0; i < width * width; i++) self->gram[i] = self->here.matrix[i] / curvature;
}

tacit_status tacit_estimate_start_few(estimate_fit *self, tacit_error *error) {
    memset(self->terms, 0, sizeof self->terms);
    if (self->design.intercept == SIZE_MAX) /* without a schema nobody could tell before */
        return tacit_fail(error, TACIT_USAGE, "rounds=few needs rows with an intercept");
    TACIT_TRY(estimate_ask_point(self, &self->here, TACIT_WEIGH_CURVATURE, error));
    derive_terms(self);
    const double mean = self->terms[0] / self->n;
    return isfinite(self->family->link(mean)) ? TACIT_OK
                                              : tacit_fail(error, TACIT_INPUT, "%s", self->family->all_alike);
}

/* Take the step without looking: F is that of the quadratic, which for a linear response is exact. */
static void step_blindly(estimate_fit *self) {
    const size_t width = self->design.width;
    const double penalty = self->n * self->session->plan->lambda;
    estimate_point *here = &self->here;
    for (size_t i = 0; i < width; i++) {
        double curved = 0;
        for (size_t j = 0; j < width; j++)
            curved += here->matrix[i > j ? i * width + j : j * width + i] * self->direction[j];
        here->loss += self->direction[i] * (here->gradient[i] - penalty * here->w[i] + curved / 2);
    }
    for (size_t j = 0; j < width; j++) here->w[j] += self->direction[j];
    here->objective = here->loss + 0.5 * penalty * dot(here->w, here->w, width);
    memset(here->gradient, 0, width * sizeof *here->gradient);
    self->iterations++;
}

tacit_status tacit_estimate_descend_few(estimate_fit *self, const estimate_steps *steps, tacit_error *error) {
    static const double SHORT = 1e-10;
    enum { MOST_STEPS = 30 };
    const size_t width = self->design.width;
    bool moved, damped;
    for (size_t k = 0; k < MOST_STEPS; k++) {
        if (steps->separates(self)) return steps->no_estimate(self, NULL, error);
        TACIT_TRY(steps->direct(self, &damped, error));
        const double left = -dot(self->here.gradient, self->direction, width);
        if (self->family->quadratic || left <= SHORT) {
            step_blindly(self);
            return TACIT_OK;
        }
        TACIT_TRY(steps->search(self, TACIT_WEIGH_CURVATURE, &moved, error));
        if (!moved) break;
        self->iterations++;
    }
    return steps->no_estimate(self, self->direction, error);
}
