/*
 * estimate: distributed M-estimation with standard errors (Wang 2018, 2.1.2: the sum of local objectives is
 * minimised from sums of local derivatives; Newton or L-BFGS).
 *
 *   all:          n = sum n_k
 *   round:        coordinator sends w; party k answers f_k = sum_i l(y_i, x_i.w), its gradient and, where asked, a matrix
 *   coordinator:  F = sum_k f_k + (n lambda/2)|w|^2
 *     Newton      w <- w - s H^-1 g;   L-BFGS  w <- w - s B g, B from the last steps, then Newton to the end;
 *                 s = 1, 1/2, 1/4, ... until F falls enough (Armijo)
 *     at the end  standard errors from H, or from the sandwich H^-1 M H^-1 (model/estimates.h)
 *
 * No noise: nothing here is differentially private (price: an infinite epsilon). What leaves a party is a
 * contribution to a sum; the coordinator's half uses nothing but the sums.
 *
 * The grid. n and R (estimator.h; for counts from their sum, which all learn) are public, so every
 * contribution has the public bound n R; beyond it, which happens
 * only at points that the line search rejects, a contribution is moved to the bound, and one that shows n R
 * still proves F to be above that of the start. Contributions are integers on a grid of at most n R K 2^-60,
 * K parties, so that even K of them at the bound fit 63 bits; together they round by at most n R K^2 2^-61,
 * for 7 parties 2^-55 of n R. The estimate moves by the Hessian's inverse, of order 1/n, times that: some
 * 1e-16 of the scale of the weights, far below the 1e-6 that is promised.
 *
 * Contributions carry their number of rows and a token of the party: a round in which another set of parties
 * answered than in the first is noticed and ends the run.
 */
#include "method/estimate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "method/methods.h"
#include "num/lbfgs.h"
#include "session/session.h"

enum { MOST_WIDTH = 2000, MOST_STEPS = 100, MOST_LBFGS = 500, MOST_HALVINGS = 40, CHECKPOINT_EVERY = 5 };

static const tacit_estimate_settings defaults = { .level = 0.95 };

static const tacit_parameter parameters[] = {
    TACIT_CHOICE(tacit_estimate_settings, family, "family", TACIT_ESTIMATE_FAMILIES,
                 "auto: logistic for two classes, linear for a number, poisson for a count"),
    TACIT_CHOICE(
        tacit_estimate_settings, optimiser, "optimiser", TACIT_ESTIMATE_OPTIMISERS,
        "newton asks for the Hessian in every round, lbfgs only at the end: more rounds, smaller ones"),
    TACIT_NUMBER(tacit_estimate_settings, level, "level", 0.5, 0.999999, "of the confidence intervals"),
    TACIT_SETTINGS_END,
};

static tacit_status check(const tacit_plan *plan, tacit_error *error) {
    const tacit_family *family = tacit_estimate_family(plan);
    tacit_design design;
    if (family == NULL) return tacit_methods_check_label(plan, error); /* no family takes such a label */
    bool classes = family->response == TACIT_RESPONSE_CLASS;
    if (classes && plan->classes != 2)
        return tacit_fail(error, TACIT_USAGE, "family %s needs a label of two classes, and this one has %zu",
                          family->name, plan->classes);
    if (!classes && (plan->classes > 0 || plan->schema == NULL))
        return tacit_fail(
            error, TACIT_USAGE,
            "family %s needs a numeric label: declare kind, low and high of the label in the schema",
            family->name);
    size_t columns = classes ? 1 : tacit_response_columns(plan->schema->response);
    if (family->loss.columns != columns)
        return tacit_fail(error, TACIT_USAGE, "family %s takes a label of %zu column%s, and kind %s has %zu",
                          family->name, family->loss.columns, family->loss.columns > 1 ? "s" : "",
                          tacit_response_name(plan->schema->response), columns);
    if (family->response == TACIT_RESPONSE_COUNT && plan->schema->response != TACIT_RESPONSE_COUNT)
        return tacit_fail(error, TACIT_USAGE, "family %s needs a label of kind count, and '%s' is a %s",
                          family->name, plan->schema->label, tacit_response_name(plan->schema->response));
    TACIT_TRY(tacit_design_create(&design, family, plan->schema, plan->features, error));
    size_t width = design.width;
    tacit_design_clear(&design);
    if (width > MOST_WIDTH)
        return tacit_fail(
            error, TACIT_USAGE,
            "method estimate inverts a matrix of %zu columns: have at most %d, or choose another method",
            width, MOST_WIDTH);
    return TACIT_OK;
}

static tacit_status choose_lambda(const tacit_plan *plan, double *out, tacit_error *error) {
    (void)plan;
    (void)error;
    *out = 0; /* maximum likelihood */
    return TACIT_OK;
}

static bool infers(const tacit_plan *plan) {
    (void)plan;
    return true;
}

/* ---- the coordinator's half ---- */

/* The objective and its derivatives at a point, the regulariser included. */
typedef struct point {
    double *w, *gradient;
    double *matrix;   /* width x width, lower triangle, as asked for; without the regulariser */
    double objective; /* F */
    double loss;      /* F without the regulariser */
} point;

typedef struct fit {
    tacit_session *session;
    const tacit_family *family;
    tacit_design design;
    double n, token;
    size_t parties;
    double terms[TACIT_ESTIMATE_TERMS];
    point here, there; /* the accepted point, and the one that is tried */
    double *gram;      /* X^T X */
    double null_loss;  /* with an offset: the loss of the model without terms */
    double *factor, *scale, *direction;
    bool *deficient;
    tacit_lbfgs memory;
    size_t iterations;
} fit;

static tacit_status make_point(point *out, size_t width, tacit_error *error) {
    out->w = TACIT_NEW(double, width);
    out->gradient = TACIT_NEW(double, width);
    out->matrix = TACIT_NEW(double, width *width);
    return out->w != NULL && out->gradient != NULL && out->matrix != NULL ? TACIT_OK
                                                                          : tacit_fail_memory(error);
}

static void clear_point(point *at) {
    free(at->w);
    free(at->gradient);
    free(at->matrix);
}

static void end_fit(fit *self) {
    clear_point(&self->here);
    clear_point(&self->there);
    free(self->gram);
    free(self->factor);
    free(self->scale);
    free(self->direction);
    free(self->deficient);
    tacit_lbfgs_clear(&self->memory);
    tacit_design_clear(&self->design);
}

static tacit_status begin_fit(fit *self, tacit_session *session, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    *self = (fit){ .session = session, .family = tacit_estimate_family(plan) };
    TACIT_TRY(tacit_design_create(&self->design, self->family, plan->schema, plan->features, error));
    size_t width = self->design.width;
    TACIT_TRY(make_point(&self->here, width, error));
    TACIT_TRY(make_point(&self->there, width, error));
    TACIT_TRY(tacit_lbfgs_create(&self->memory, width, error));
    self->gram = TACIT_NEW(double, width *width);
    self->factor = TACIT_NEW(double, width *width);
    self->scale = TACIT_NEW(double, width);
    self->direction = TACIT_NEW(double, width);
    self->deficient = TACIT_NEW(bool, width);
    if (self->gram == NULL || self->factor == NULL || self->scale == NULL || self->direction == NULL ||
        self->deficient == NULL)
        return tacit_fail_memory(error);
    return TACIT_OK;
}

static double dot(const double *a, const double *b, size_t count) {
    double sum = 0;
    for (size_t j = 0; j < count; j++) sum += a[j] * b[j];
    return sum;
}

/* Ask for a sum, and see that those answer who answered first. */
static tacit_status ask_all(fit *self, const char *question, const tacit_message *message,
                            const double *terms, size_t length, tacit_sum *sum, tacit_error *error) {
    tacit_sum_spec spec = tacit_estimate_sum(self->session->plan, self->n, terms, length);
    TACIT_TRY(tacit_ask_sum(self->session, question, message, &spec, sum, error));
    double rows = ldexp(sum->values[0], spec.grid_bits), token = ldexp(sum->values[1], spec.grid_bits);
    if (self->token == 0) self->token = token; /* the first such round */
    if (sum->parties == self->parties && rows == self->n && token == self->token) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "other parties answered '%s' than the rounds before: an estimate needs the same ones "
                      "in every round; run the study again",
                      question);
}

/* F, its gradient and a matrix at point->w. */
static tacit_status ask_point(fit *self, point *at, tacit_row_weight weight, tacit_error *error) {
    size_t width = self->design.width;
    double lambda = self->session->plan->lambda;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &self->n, 1, error));
    TACIT_CHECK(tacit_message_add_integers(&message, "matrix", &(int64_t){ weight }, 1, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", at->w, width, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "response", self->terms, TACIT_ESTIMATE_TERMS, error));
    TACIT_CHECK(ask_all(self, "sums", &message, self->terms, tacit_sums_length(weight, width), &sum, error));
    const double *value = sum.values + TACIT_ESTIMATE_HEAD;
    at->loss = *value++;
    at->objective = at->loss + 0.5 * self->n * lambda * dot(at->w, at->w, width);
    for (size_t j = 0; j < width; j++) at->gradient[j] = *value++ + self->n * lambda * at->w[j];
    for (size_t i = 0; weight != TACIT_WEIGH_NONE && i < width; i++)
        for (size_t j = 0; j <= i; j++) at->matrix[i * width + j] = *value++;
cleanup:
    tacit_message_clear(&message);
    tacit_sum_clear(&sum);
    return status;
}

/* One clear sentence that names the columns that follow from others. */
static tacit_status say_deficient(const fit *self, tacit_error *error) {
    enum { MOST_NAMED = 5 };
    tacit_buffer names = TACIT_BUFFER_INIT;
    size_t named = 0;
    tacit_status status = TACIT_OK;
    for (size_t j = 0; j < self->design.width && status == TACIT_OK; j++) {
        if (!self->deficient[j]) continue;
        if (named == MOST_NAMED) status = tacit_buffer_print(&names, error, " and others");
        if (named++ >= MOST_NAMED) break;
        if (named > 1) status = tacit_buffer_print(&names, error, ", ");
        if (status == TACIT_OK) status = tacit_design_name(&self->design, j, &names, error);
    }
    if (status == TACIT_OK)
        status = tacit_fail(error, TACIT_INPUT,
                            "columns that never vary or follow from the columns before them have no "
                            "coefficient: %s; skip them in the schema, or give a lambda above 0",
                            tacit_buffer_text(&names));
    tacit_buffer_clear(&names);
    return status;
}

static tacit_status no_estimate(const fit *self, tacit_error *error) {
    return tacit_fail(error, TACIT_NOT_CONVERGED,
                      "there is no finite estimate: %s; leave columns out, or give a lambda above 0",
                      self->family->unbounded);
}

/* With an offset or weights the model without terms has no closed form: Newton along the intercept, from where the offset
 * is in the middle of its range. Without an intercept it is the offset alone. Leaves the weights there. */
static tacit_status fit_null(fit *self, tacit_error *error) {
    static const double NEAR = 1e-20;
    size_t at = self->design.intercept, width = self->design.width;
    bool constant = at != SIZE_MAX;
    if (constant) self->here.w[at] = -self->design.offset_middle / self->design.intercept_value;
    for (int k = 0; k < MOST_STEPS; k++) {
        TACIT_TRY(ask_point(self, &self->here, TACIT_WEIGH_CURVATURE, error));
        self->null_loss = self->here.loss;
        if (!constant) break;
        double lambda = self->n * self->session->plan->lambda * self->here.w[at];
        double slope = self->here.gradient[at] - lambda, curvature = self->here.matrix[at * width + at];
        if (!(curvature > 0)) return no_estimate(self, error);
        if (slope * slope <= NEAR * curvature) break;
        /* a score moves by at most 1 in a step, so that exp() stays within reach */
        double step = slope / curvature, most = 1 / self->design.intercept_value;
        self->here.w[at] -= self->family->quadratic ? step : fmin(fmax(step, -most), most);
    }
    if (self->session->plan->lambda > 0) memset(self->here.w, 0, width * sizeof *self->here.w);
    return TACIT_OK;
}

/* Those who take part, what there is to explain, and whether the columns can. Starts from the model without
 * columns. */
static tacit_status start(fit *self, tacit_error *error) {
    const tacit_plan *plan = self->session->plan;
    size_t width = self->design.width;
    tacit_sum_spec count = tacit_estimate_rows();
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum rows = TACIT_SUM_INIT, terms = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_ask_sum(self->session, "rows", NULL, &count, &rows, error));
    self->n = rows.values[0];
    self->parties = rows.parties;
    if (!(self->n > 0)) TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "no party has any rows"));
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &self->n, 1, error));
    TACIT_CHECK(ask_all(self, "response", &message, NULL, TACIT_ESTIMATE_TERMS, &terms, error));
    memcpy(self->terms, terms.values + TACIT_ESTIMATE_HEAD, sizeof self->terms);
    bool weighted = self->design.weights != SIZE_MAX, classes = self->family->loss.of_classes;
    double mean = self->terms[0] / (weighted && classes ? self->terms[2] : self->n);
    double first = self->family->likelihood ? self->family->link(mean) : 0;
    if (!isfinite(first)) TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "%s", self->family->all_alike));
    if (tacit_design_has_beside(&self->design))
        TACIT_CHECK(fit_null(self, error));
    else if (self->design.intercept != SIZE_MAX && plan->lambda == 0)
        self->here.w[self->design.intercept] = first / self->design.intercept_value;
    TACIT_CHECK(ask_point(self, &self->here, TACIT_WEIGH_ONE, error));
    memcpy(self->gram, self->here.matrix, width * width * sizeof *self->gram);
    memcpy(self->factor, self->gram, width * width * sizeof *self->factor);
    static const double COLLINEAR =
        1e-12; /* of a column's square that the columns before it leave unexplained */
    if (tacit_cholesky_factor(self->factor, width, COLLINEAR, self->scale, self->deficient) > 0 &&
        plan->lambda == 0)
        TACIT_CHECK(say_deficient(self, error));
cleanup:
    tacit_message_clear(&message);
    tacit_sum_clear(&rows);
    tacit_sum_clear(&terms);
    return status;
}

static void swap_points(fit *self) {
    point other = self->here;
    self->here = self->there;
    self->there = other;
}

/* Move along the direction, halving the step until F falls by a ten-thousandth of what its slope promises, or
 * by what rounding hides near the optimum. *moved is false when no step did. */
static tacit_status search(fit *self, tacit_row_weight weight, bool *moved, tacit_error *error) {
    static const double ENOUGH = 1e-4, HIDDEN = 1e-12;
    size_t width = self->design.width;
    double slope = dot(self->here.gradient, self->direction, width), step = 1;
    *moved = false;
    for (int k = 0; k < MOST_HALVINGS && !*moved; k++, step /= 2) {
        for (size_t j = 0; j < width; j++) self->there.w[j] = self->here.w[j] + step * self->direction[j];
        TACIT_TRY(ask_point(self, &self->there, weight, error));
        *moved = self->there.objective <=
                 self->here.objective + ENOUGH * step * slope + HIDDEN * (1 + fabs(self->here.objective));
    }
    if (*moved) swap_points(self);
    return TACIT_OK;
}

static double largest(const double *values, size_t count) {
    double most = 0;
    for (size_t j = 0; j < count; j++) most = fmax(most, fabs(values[j]));
    return most;
}

/* direction = -(H + n lambda I)^-1 g. Where curvature is missing, a hinge's flat parts, the matrix that
 * bounds it everywhere, steepest * X^T X, steps in (*damped): F then falls as a quadratic above it does. */
static tacit_status newton_direction(fit *self, bool *damped, tacit_error *error) {
    size_t width = self->design.width;
    const tacit_loss *loss = &self->family->loss;
    double steepest = self->family->likelihood ? 0 : loss->curvature(loss->shape_default);
    *damped = false;
    for (;;) {
        for (size_t i = 0; i < width; i++) {
            for (size_t j = 0; j <= i; j++)
                self->factor[i * width + j] =
                    self->here.matrix[i * width + j] + (*damped ? steepest * self->gram[i * width + j] : 0);
            self->factor[i * width + i] += self->n * self->session->plan->lambda;
            self->direction[i] = -self->here.gradient[i];
        }
        static const double FLAT = 1e-13;
        if (tacit_cholesky_factor(self->factor, width, FLAT, self->scale, self->deficient) == 0) break;
        if (*damped || steepest == 0) return no_estimate(self, error);
        *damped = true;
    }
    tacit_cholesky_solve(self->factor, width, self->scale, self->direction);
    return TACIT_OK;
}

/* The study's own bound on iterations (stop: {rounds: ...}). Short of the optimum there are no standard
 * errors, so there is no table either. */
static tacit_status out_of_rounds(const fit *self, tacit_error *error) {
    return tacit_fail(error, TACIT_NOT_CONVERGED,
                      "%zu iterations, which are all that the study allows, are not enough to converge: "
                      "allow more rounds, or let it stop further from the optimum (converged)",
                      self->iterations);
}

/* Newton from here to the end. g.H^-1 g is the squared distance to the optimum in standard errors (times the
 * dispersion, for linear): stop at 1e-8 of one, or as far from it as the plan says is enough, or where
 * rounding lets it fall no further and it is below 1e-5 of one. A likelihood without a maximum shows by steps
 * that stay long while their promise vanishes. */
static tacit_status descend_newton(fit *self, tacit_error *error) {
    static const double STALLED = 1e-10, PROMISE = 1e-12, LONG = 1e-3;
    size_t width = self->design.width;
    double before = INFINITY, near = fmax(1e-8, self->session->plan->enough);
    bool moved, damped, linear = self->family->quadratic;
    TACIT_TRY(ask_point(self, &self->here, TACIT_WEIGH_CURVATURE, error));
    for (size_t k = 0; k < MOST_STEPS; k++) {
        TACIT_TRY(newton_direction(self, &damped, error));
        double left = -dot(self->here.gradient, self->direction, width);
        double unit = linear ? fmin(1, 2 * self->here.loss / self->n) : 1;
        bool far = largest(self->direction, width) > LONG * (1 + largest(self->here.w, width));
        bool stalled = left <= STALLED * unit && left > before / 2;
        if (left <= PROMISE * unit && far && !linear) return no_estimate(self, error);
        if (stalled || left <= near * near * unit + 1e-28 * self->n)
            return damped ? no_estimate(self, error) : TACIT_OK;
        if (tacit_plan_stops(self->session->plan, self->iterations, NULL, NULL, 0))
            return out_of_rounds(self, error);
        TACIT_TRY(search(self, TACIT_WEIGH_CURVATURE, &moved, error));
        if (!moved) break;
        before = left;
        self->iterations++;
    }
    return no_estimate(self, error);
}

/* ---- L-BFGS, with checkpoints: it may take many rounds ---- */

static tacit_status keep_state(const fit *self, tacit_error *error) {
    size_t width = self->design.width;
    double about[] = { self->n,
                       self->token,
                       (double)self->parties,
                       (double)self->iterations,
                       (double)self->memory.pairs,
                       self->here.objective,
                       self->here.loss,
                       self->terms[0],
                       self->terms[1],
                       self->terms[2],
                       self->null_loss };
    size_t known = sizeof about / sizeof *about - !tacit_design_has_beside(&self->design);
    tacit_message state = TACIT_MESSAGE_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&state, "about", about, known, error));
    TACIT_CHECK(tacit_message_add_numbers(&state, "weights", self->here.w, width, error));
    TACIT_CHECK(tacit_message_add_numbers(&state, "gradient", self->here.gradient, width, error));
    TACIT_CHECK(tacit_message_add_numbers(&state, "gram", self->gram, width * width, error));
    TACIT_CHECK(
        tacit_message_add_numbers(&state, "steps", self->memory.step, TACIT_LBFGS_PAIRS * width, error));
    TACIT_CHECK(
        tacit_message_add_numbers(&state, "changes", self->memory.change, TACIT_LBFGS_PAIRS * width, error));
    TACIT_CHECK(tacit_checkpoint(self->session, &state, error));
cleanup:
    tacit_message_clear(&state);
    return status;
}

static tacit_status copy_field(const tacit_message *state, const char *name, double *out, size_t count,
                               tacit_error *error) {
    const double *values;
    TACIT_TRY(tacit_message_numbers(state, name, count, &values, error));
    memcpy(out, values, count * sizeof *out);
    return TACIT_OK;
}

static tacit_status take_up(fit *self, bool *found, tacit_error *error) {
    size_t width = self->design.width;
    double about[11];
    size_t known = sizeof about / sizeof *about - !tacit_design_has_beside(&self->design);
    tacit_message state = TACIT_MESSAGE_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_resume(self->session, found, &state, error));
    if (!*found) goto cleanup;
    TACIT_CHECK(copy_field(&state, "about", about, known, error));
    TACIT_CHECK(copy_field(&state, "weights", self->here.w, width, error));
    TACIT_CHECK(copy_field(&state, "gradient", self->here.gradient, width, error));
    TACIT_CHECK(copy_field(&state, "gram", self->gram, width * width, error));
    TACIT_CHECK(copy_field(&state, "steps", self->memory.step, TACIT_LBFGS_PAIRS * width, error));
    TACIT_CHECK(copy_field(&state, "changes", self->memory.change, TACIT_LBFGS_PAIRS * width, error));
    self->n = about[0];
    self->token = about[1];
    self->parties = (size_t)about[2];
    self->iterations = (size_t)about[3];
    self->memory.pairs = (size_t)fmin(TACIT_LBFGS_PAIRS, fmax(0, about[4]));
    self->here.objective = about[5];
    self->here.loss = about[6];
    memcpy(self->terms, about + 7, sizeof self->terms);
    if (tacit_design_has_beside(&self->design)) self->null_loss = about[10];
cleanup:
    tacit_message_clear(&state);
    return status;
}

/* Until the gradient is a thousandth of what chance makes of it (sqrt(n)); Newton does the rest. */
static tacit_status descend_lbfgs(fit *self, tacit_error *error) {
    static const double NEAR = 1e-3;
    size_t width = self->design.width;
    double *step = TACIT_NEW(double, 2 * width), *change = step + width;
    tacit_status status = step != NULL ? TACIT_OK : tacit_fail_memory(error);
    bool moved = true;
    while (status == TACIT_OK && moved && self->iterations < MOST_LBFGS &&
           !tacit_plan_stops(self->session->plan, self->iterations, NULL, NULL, 0) &&
           dot(self->here.gradient, self->here.gradient, width) > NEAR * NEAR * self->n) {
        tacit_lbfgs_direction(&self->memory, self->here.gradient, self->direction);
        for (size_t j = 0; self->memory.pairs == 0 && j < width; j++) self->direction[j] /= self->n;
        memcpy(step, self->here.w, width * sizeof *step);
        memcpy(change, self->here.gradient, width * sizeof *change);
        TACIT_CHECK(search(self, TACIT_WEIGH_NONE, &moved, error));
        for (size_t j = 0; j < width; j++) {
            step[j] = self->here.w[j] - step[j];
            change[j] = self->here.gradient[j] - change[j];
        }
        if (moved) tacit_lbfgs_keep(&self->memory, step, change);
        if (++self->iterations % CHECKPOINT_EVERY == 0) TACIT_CHECK(keep_state(self, error));
    }
cleanup:
    free(step);
    return status;
}

/* ---- what comes out ---- */

/* Weights of all features, those left out being 0, whose score is the mean of a linear response as it is. */
static tacit_status make_model(const fit *self, tacit_estimates **estimates, tacit_model **out,
                               tacit_error *error) {
    const tacit_plan *plan = self->session->plan;
    const tacit_design *design = &self->design;
    tacit_model *model = NULL;
    TACIT_TRY(tacit_model_create(&model, self->family, plan->features, plan->classes, error));
    for (size_t j = 0; j < design->width; j++)
        model->weights[design->kept[j]] =
            design->half * self->here.w[j] +
            (j == design->intercept ? design->middle / design->intercept_value : 0);
    if (design->offset != SIZE_MAX) model->weights[design->offset] = design->half * design->offset_weight;
    model->estimates = *estimates;
    *estimates = NULL;
    *out = model;
    return TACIT_OK;
}

static tacit_status infer(fit *self, tacit_estimates **out, tacit_error *error) {
    const tacit_plan *plan = self->session->plan;
    size_t width = self->design.width;
    tacit_optimum optimum = {
        .family = self->family,
        .null_objective = self->null_loss,
        .rows = self->n,
        .lambda = plan->lambda,
        .level = tacit_estimate_settings_of(plan)->level,
        .w = self->here.w,
        .objective = self->here.loss,
        .hessian = self->here.matrix,
        .response = { self->terms[0], self->terms[1], self->terms[2] },
        .iterations = self->iterations,
    };
    if (!self->family->likelihood) {
        memcpy(self->there.w, self->here.w, width * sizeof *self->there.w);
        TACIT_TRY(ask_point(self, &self->there, TACIT_WEIGH_SLOPE, error));
        optimum.middle = self->there.matrix;
    }
    TACIT_TRY(tacit_estimates_infer(out, &self->design, &optimum, error));
    char name[TACIT_SETTING_SIZE];
    tacit_setting_word(TACIT_ESTIMATE_OPTIMISERS, tacit_estimate_settings_of(plan)->optimiser, name);
    tacit_format((*out)->optimiser, sizeof(*out)->optimiser, "%s", name);
    (*out)->rounds = (size_t)self->session->round;
    return TACIT_OK;
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    fit self;
    tacit_estimates *estimates = NULL;
    tacit_model *model = NULL;
    bool found = false;
    tacit_status status;
    TACIT_CHECK(begin_fit(&self, session, error));
    TACIT_CHECK(take_up(&self, &found, error));
    if (!found) TACIT_CHECK(start(&self, error));
    if (tacit_estimate_settings_of(session->plan)->optimiser == TACIT_ESTIMATE_LBFGS)
        TACIT_CHECK(descend_lbfgs(&self, error));
    TACIT_CHECK(descend_newton(&self, error));
    TACIT_CHECK(infer(&self, &estimates, error));
    TACIT_CHECK(make_model(&self, &estimates, &model, error));
    out->parties = self.parties;
    status = tacit_outcome_add(out, model, error);
cleanup:
    tacit_estimates_free(estimates);
    end_fit(&self);
    return status;
}

const tacit_method tacit_method_estimate = {
    .name = "estimate",
    .title = "regression of all rows with standard errors, from sums alone, without noise",
    .reference = "Wang 2018, 2.1.2; McCullagh & Nelder 1989; Huber 1967",
    .version = 1,
    .units = "record",
    .spreads = true,
    .noise_free = true,
    .terms = TACIT_TERMS_ALL,
    .takes_numbers = true,
    .lambda_may_vanish = true,
    .stops_early = true,
    TACIT_SETTINGS_OF(parameters, defaults),
    .leaves = "in each round the sums over the party's rows of loss, gradient and, where asked, a matrix of "
              "second moments, as one contribution to a sum; its number of rows",
    .seen_by = "[sees=sum: the coordinator sees the exact totals of all parties' sums in every round, and no "
               "single party's][sees=each: the coordinator sees each party's exact sums in every round]. "
               "Everybody sees the weights of every round, the final coefficients and their standard errors",
    .guarantee =
        "no differential privacy: the sums are exact, and no noise is added. No row leaves as it is; what "
        "leaves are sums over rows, and from exact sums something about single rows may be inferred",
    .assumption = "the coordinator keeps the [sees=sum: totals][sees=each: sums] to itself and does not try "
                  "to infer rows from them; every party has many more rows than there are columns (owners "
                  "can require that: tacit rules)",
    .theorem = "no privacy theorem applies. The estimate is that of all rows pooled: the derivatives of a "
               "sum are the sums of the derivatives, and integers add up without rounding",
    .claim = "the same",
    .caveats =
        "exact sums over few rows, or over two sets that differ in one row, can reveal that row. A "
        "coordinator that departs from the protocol can choose weights; each party refuses those under which "
        "fewer of its rows count than its owner's minimum, and a liar can steer within that: use a private "
        "method where that matters. A missing value counts as the middle of its bounds, a missing or unknown "
        "level as the first level: set missing: error and strict: yes in the schema for R's numbers. The "
        "same parties must answer in every round. With lambda above 0, standard errors leave out the bias",
    .check = check,
    .infers = infers,
    .price = tacit_nonprivate_price,
    .choose_lambda = choose_lambda,
    .release_kind = tacit_estimate_kind,
    .coordinate = coordinate,
    .handlers = tacit_estimate_handlers,
};
