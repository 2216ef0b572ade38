/*
 * A fit in few rounds (rounds=few), for studies that people carry: each round is a hand-over. What the
 * careful fit asks for by itself follows from the sums at w = 0, where the curvature of every row is the
 * same: the response's from the intercept's gradient and the loss, X^T X from the Hessian. Newton starts
 * there.
 *
 * linear      the sums at 0 are all there is: rows, then sums. F at the solution is computed, not asked for,
 *             so that the residual sum of squares has the digits that y^T y leaves of it.
 * logistic    Newton ends with a step that is not looked at again, once a step is so short (1e-5 standard
 *             errors) that the next would be a 1e-10th of one; errors are those of the point before it.
 * start=model a logistic fit starts at a public model in place of 0. The number of rows comes with the sum of
 * responses, on a grid for as many
 *             rows as parties can have, on which whole numbers are exact: so three rounds, response and two
 *             points, are all where the model is within some tenth of a standard error. Let d0 and d1 be the
 *             lengths of two steps in standard errors: Newton's error is c d^2, with c = d1/d0^2, so the last
 *             step leaves d1^3/d0^2, and is taken blindly where that is below 1e-8 and d1 below 1e-3. From a
 *             model that is of no use, worse than weights of 0 or without a step down, the fit begins again
 *             at 0. Parties answer the same questions as ever, and look at the weights as ever.
 */
#include <math.h>
#include <string.h>

#include "method/exact/estimate_fit.h"
#include "method/methods.h"

bool tacit_estimate_wants_few(const tacit_plan *plan) {
    return tacit_estimate_settings_of(plan)->rounds == TACIT_ROUNDS_FEW;
}

bool tacit_estimate_starts_at_model(const tacit_plan *plan) {
    return tacit_estimate_settings_of(plan)->start == TACIT_START_MODEL;
}

/* Whether Newton takes several steps from the sums at w = 0: of a quadratic loss these are all there is. */
static bool goes_in_steps(const tacit_family *family) { return family->few && !family->quadratic; }

/* Of the model that a plan starts at, where it has one by now. */
static tacit_status check_start(const tacit_plan *plan, const tacit_family *family, tacit_error *error) {
    const tacit_model *model = plan->model;
    if (!tacit_estimate_starts_at_model(plan)) return TACIT_OK;
    if (!tacit_estimate_wants_few(plan) || !goes_in_steps(family))
        return tacit_fail(
            error, TACIT_USAGE,
            "start=model is for logistic fits with rounds=few: leave 'start' out, or set 'rounds'");
    if (model == NULL ||
        (model->family == family && tacit_model_is_linear(model) && model->features == plan->features))
        return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "the model to start at is of family %s with %zu features, and the study needs a %s one "
                      "with %zu, of the same columns in the same order",
                      model->family->name, (size_t)model->features, family->name, plan->features);
}

tacit_status tacit_estimate_check_few(const tacit_plan *plan, const tacit_family *family,
                                      const tacit_design *design, tacit_error *error) {
    const tacit_estimate_settings *settings = tacit_estimate_settings_of(plan);
    TACIT_TRY(check_start(plan, family, error));
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

/* At weights of 0. */
tacit_status tacit_estimate_start_few(estimate_fit *self, const estimate_steps *steps, tacit_error *error) {
    memset(self->terms, 0, sizeof self->terms);
    memset(self->here.w, 0, self->design.width * sizeof *self->here.w);
    self->from_model = false;
    if (self->design.intercept == SIZE_MAX) /* without a schema nobody could tell before */
        return tacit_fail(error, TACIT_USAGE, "rounds=few needs rows with an intercept");
    TACIT_TRY(estimate_ask_point(self, &self->here, TACIT_WEIGH_CURVATURE, error));
    derive_terms(self);
    const double mean = self->terms[0] / self->n;
    if (!isfinite(self->family->link(mean)))
        return tacit_fail(error, TACIT_INPUT, "%s", self->family->all_alike);
    return steps->check(self, error);
}

/* Rows, parties and responses in one sum. */
static tacit_status ask_response(estimate_fit *self, tacit_error *error) {
    const double most = tacit_estimate_rows().bound;
    const tacit_sum_spec spec = tacit_estimate_sum(self->session->plan, most, NULL, TACIT_ESTIMATE_TERMS);
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &most, 1, error));
    TACIT_CHECK(tacit_ask_sum(self->session, "response", &message, &spec, &sum, error));
    self->n = ldexp(sum.values[0], spec.grid_bits);
    self->token = ldexp(sum.values[1], spec.grid_bits);
    self->parties = sum.parties;
    memcpy(self->terms, sum.values + TACIT_ESTIMATE_HEAD, sizeof self->terms);
    if (!(self->n > 0)) TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "no party has any rows"));
    if (!isfinite(self->family->link(self->terms[0] / self->n)))
        TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "%s", self->family->all_alike));
cleanup:
    tacit_message_clear(&message);
    tacit_sum_clear(&sum);
    return status;
}

tacit_status tacit_estimate_start_at_model(estimate_fit *self, const estimate_steps *steps,
                                           tacit_error *error) {
    const tacit_model *model = self->session->plan->model;
    if (model == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "start=model needs the model to start at: name its file with model");
    TACIT_TRY(ask_response(self, error));
    for (size_t j = 0; j < self->design.width; j++) self->here.w[j] = model->weights[self->design.kept[j]];
    TACIT_TRY(estimate_ask_point(self, &self->here, TACIT_WEIGH_CURVATURE, error));
    self->from_model = self->here.loss < self->n * log(2); /* which is that of weights of 0 */
    return self->from_model ? TACIT_OK : tacit_estimate_start_few(self, steps, error);
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

/* Is what one more step would leave so little that it is taken without looking? Squared lengths in standard
 * errors. */
static bool ends_blindly(const estimate_fit *self, double before, double left) {
    static const double SHORT = 1e-10, NEAR = 1e-6, LEAVES = 1e-16;
    if (self->family->quadratic || left <= SHORT) return true;
    return self->from_model && before <= 1 && left <= NEAR && left * left * left <= LEAVES * before * before;
}

/* One step; *ended: that was the last. *moved is false where there is no way down. */
static tacit_status step_few(estimate_fit *self, const estimate_steps *steps, double *before, bool *ended,
                             bool *moved, tacit_error *error) {
    bool damped;
    *moved = *ended = false;
    if (steps->separates(self)) return steps->no_estimate(self, NULL, error);
    TACIT_TRY(steps->direct(self, &damped, error));
    const double left = -dot(self->here.gradient, self->direction, self->design.width);
    *ended = ends_blindly(self, *before, left);
    *before = left;
    if (*ended) {
        step_blindly(self);
        return TACIT_OK;
    }
    TACIT_TRY(steps->search(self, TACIT_WEIGH_CURVATURE, moved, error));
    self->iterations += *moved;
    return TACIT_OK;
}

tacit_status tacit_estimate_descend_few(estimate_fit *self, const estimate_steps *steps, tacit_error *error) {
    enum { MOST_STEPS = 30 };
    double before = INFINITY;
    for (size_t k = 0; k < MOST_STEPS; k++) {
        bool ended, moved;
        tacit_error why = TACIT_ERROR_INIT;
        tacit_status status = step_few(self, steps, &before, &ended, &moved, &why);
        const bool lost = status == TACIT_NOT_CONVERGED || status == TACIT_INPUT;
        if (self->from_model && (lost || (status == TACIT_OK && !ended && !moved))) {
            TACIT_TRY(tacit_estimate_start_few(self, steps, error)); /* where what is wrong can be said */
            before = INFINITY;
            continue;
        }
        if (status != TACIT_OK) return tacit_fail(error, status, "%s", why.text);
        if (ended) return TACIT_OK;
        if (!moved) break;
    }
    return steps->no_estimate(self, self->direction, error);
}
