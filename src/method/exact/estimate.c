/*
 * estimate: distributed M-estimation with standard errors (Wang 2018, 2.1.2: the sum of local objectives is
 * minimised from sums of local derivatives; Newton or L-BFGS).
 *
 *   all:          n = sum n_k
 *   round:        coordinator sends w; party k answers f_k = sum_i l(y_i, x_i.w), its gradient and, where
 *                 asked, a matrix
 *   coordinator:  F = sum_k f_k + (n lambda/2)|w|^2
 *     Newton      w <- w - s H^-1 g;   L-BFGS  w <- w - s B g, B from the last steps, then Newton to the end;
 *                 s = 1, 1/2, 1/4, ... until F falls enough (Armijo)
 *     at the end  standard errors from H, or from the sandwich H^-1 M H^-1 (model/report/estimates.h)
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
#include "method/exact/estimate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "method/exact/estimate_fit.h"
#include "method/methods.h"
#include "num/glm/lbfgs.h"
#include "session/session.h"

enum { MOST_STEPS = 100, MOST_FIRTH = 140, MOST_LBFGS = 500, MOST_HALVINGS = 40, CHECKPOINT_EVERY = 5 };

static const tacit_estimate_settings defaults = { .level = 0.95, .impute = 20, .fold_seed = 1 };

static const tacit_parameter parameters[] = {
    TACIT_CHOICE(tacit_estimate_settings, family, "family", TACIT_ESTIMATE_FAMILIES,
                 "auto: logistic for two classes, multinomial for more, linear for a number, poisson for a "
                 "count; ordinal: classes in the schema's order"),
    TACIT_CHOICE(
        tacit_estimate_settings, optimiser, "optimiser", TACIT_ESTIMATE_OPTIMISERS,
        "newton asks for the Hessian in every round, lbfgs only at the end: more rounds, smaller ones"),
    TACIT_NUMBER(tacit_estimate_settings, level, "level", 0.5, 0.999999, "of the confidence intervals"),
    TACIT_LATER_CHOICE(tacit_estimate_settings, bias, "bias", TACIT_ESTIMATE_BIASES, "none",
                       "firth: Firth's penalty, which has an estimate where classes are separated"),
    TACIT_LATER_CHOICE(tacit_estimate_settings, errors, "errors", TACIT_ESTIMATE_ERRORS, "model",
                       "model: from the Hessian; HC0 to HC3: robust; cluster: robust, by the schema's "
                       "person; gee: the same, not corrected for few persons"),
    TACIT_LATER_CHOICE(tacit_estimate_settings, influence, "influence", "no|yes", "no",
                       "yes: Pearson's chi-square, leverages, rows with a large Cook's distance"),
    TACIT_LATER_COUNT(tacit_estimate_settings, impute, "impute", 2, 200, "20",
                      "completed sets, where the schema says missing: impute"),
    TACIT_LATER_CHOICE(tacit_estimate_settings, anova, "anova", TACIT_ESTIMATE_ANOVA, "none",
                       "likelihood-ratio tests by term: drop1 leaves out each term that no other contains, "
                       "sequential adds one after the other"),
    TACIT_LATER_CHOICE(tacit_estimate_settings, intercepts, "intercepts", "common|party", "common",
                       "party: each party has one of its own, which nobody sees, and whether parties differ "
                       "is tested"),
    TACIT_LATER_COUNT(tacit_estimate_settings, folds, "folds", 0, TACIT_FOLDS_MOST, "0",
                      "of cross-validation: the model is fitted without each fold of the parties' rows and "
                      "evaluated on it; 0: none"),
    TACIT_LATER_COUNT(tacit_estimate_settings, fold_seed, "fold_seed", 0, 1e9, "1",
                      "public seed by which parties deal their rows out to folds"),
    TACIT_LATER_CHOICE(
        tacit_estimate_settings, rounds, "rounds", "many|few", "many",
        "few: a linear fit in two rounds, a logistic one in five or six, for studies that people "
        "carry; less is looked at on the way"),
    TACIT_LATER_CHOICE(tacit_estimate_settings, start, "start", "zero|model", "zero",
                       "model: a logistic fit with rounds=few starts at the study's public model, and takes "
                       "three rounds where that is near"),
    TACIT_SETTINGS_END,
};

static bool infers(const tacit_plan *plan) {
    (void)plan;
    return true;
}

/* ---- the coordinator's half ---- */

static double dot(const double *a, const double *b, size_t count) {
    double sum = 0;
    for (size_t j = 0; j < count; j++) sum += a[j] * b[j];
    return sum;
}

/* Ask for a sum, and see that those answer who answered first. */
static tacit_status ask_all(estimate_fit *self, const char *question, const tacit_message *message,
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

/* F, its gradient and a matrix at point->w; with bias=firth and its Hessian, log|H|/2 is taken off F, and its
 * derivative off the gradient, by the parties. */
tacit_status estimate_ask_point(estimate_fit *self, estimate_point *at, tacit_row_weight weight,
                                tacit_error *error) {
    size_t width = self->design.width;
    double lambda = self->session->plan->lambda;
    const bool firth = self->firth.inverse != NULL && weight == TACIT_WEIGH_CURVATURE;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &self->n, 1, error));
    TACIT_CHECK(tacit_message_add_integers(&message, "matrix", &(int64_t){ weight }, 1, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", at->w, width, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "response", self->terms, TACIT_ESTIMATE_TERMS, error));
    if (firth)
        TACIT_CHECK(tacit_message_add_numbers(&message, "inverse", self->firth.inverse,
                                              tacit_firth_triangle(width), error));
    if (tacit_estimate_apart_wanted(self->session->plan))
        TACIT_CHECK(tacit_message_add_integers(&message, "apart", &(int64_t){ self->apart }, 1, error));
    if (tacit_estimate_sets(self->session->plan) > 0)
        TACIT_CHECK(tacit_message_add_integers(&message, "set", &(int64_t){ (int64_t)self->set }, 1, error));
    TACIT_CHECK(ask_all(self, "sums", &message, self->terms, tacit_sums_length(weight, width), &sum, error));
    const double *value = sum.values + TACIT_ESTIMATE_HEAD;
    at->loss = *value++;
    at->objective = at->loss + 0.5 * self->n * lambda * dot(at->w, at->w, width);
    for (size_t j = 0; j < width; j++) at->gradient[j] = *value++ + self->n * lambda * at->w[j];
    for (size_t i = 0; weight != TACIT_WEIGH_NONE && i < width; i++)
        for (size_t j = 0; j <= i; j++) at->matrix[i * width + j] = *value++;
    if (firth) at->objective -= tacit_firth_penalty(&self->firth, at->matrix);
cleanup:
    tacit_message_clear(&message);
    tacit_sum_clear(&sum);
    return status;
}

/* What there is to say of columns and levels. */
static tacit_estimate_facts facts_of(const estimate_fit *self) {
    return (tacit_estimate_facts){ .plan = self->session->plan,
                                   .family = self->family,
                                   .design = &self->design,
                                   .real = self->session->entropy != NULL,
                                   .rows = self->n,
                                   .responses = self->terms[0],
                                   .w = self->here.w,
                                   .gram = self->gram,
                                   .gradient = self->here.gradient,
                                   .factor = self->factor,
                                   .scale = self->scale,
                                   .deficient = self->deficient };
}

static tacit_status no_estimate(const estimate_fit *self, const double *direction, tacit_error *error) {
    tacit_estimate_facts facts = facts_of(self);
    return tacit_estimate_say_separated(&facts, direction, error);
}

/* With an offset or weights the model without terms has no closed form: Newton along the intercept, from
 * where the offset is in the middle of its range. Without an intercept it is the offset alone. Leaves the
 * weights there. */
static tacit_status fit_null(estimate_fit *self, tacit_error *error) {
    static const double NEAR = 1e-20;
    size_t at = self->design.intercept, width = self->design.width;
    bool constant = at != SIZE_MAX;
    if (constant) self->here.w[at] = -self->design.offset_middle / self->design.intercept_value;
    for (int k = 0; k < MOST_STEPS; k++) {
        TACIT_TRY(estimate_ask_point(self, &self->here, TACIT_WEIGH_CURVATURE, error));
        self->null_loss = self->here.loss;
        if (!constant) break;
        double lambda = self->n * self->session->plan->lambda * self->here.w[at];
        double slope = self->here.gradient[at] - lambda, curvature = self->here.matrix[at * width + at];
        if (!(curvature > 0)) return no_estimate(self, NULL, error);
        if (slope * slope <= NEAR * curvature) break;
        /* a score moves by at most 1 in a step, so that exp() stays within reach */
        double step = slope / curvature, most = 1 / self->design.intercept_value;
        self->here.w[at] -= self->family->quadratic ? step : fmin(fmax(step, -most), most);
    }
    if (self->session->plan->lambda > 0) memset(self->here.w, 0, width * sizeof *self->here.w);
    return TACIT_OK;
}

/* Starts from the model without columns. */
static tacit_status begin_response(estimate_fit *self, const double *terms, tacit_error *error) {
    memcpy(self->terms, terms, sizeof self->terms);
    bool weighted = self->design.weights != SIZE_MAX, classes = self->family->loss.of_classes;
    double mean = self->terms[0] / (weighted && classes ? self->terms[2] : self->n);
    double first = self->family->likelihood ? self->family->link(mean) : 0;
    if (!isfinite(first)) return tacit_fail(error, TACIT_INPUT, "%s", self->family->all_alike);
    if (tacit_design_has_beside(&self->design)) return fit_null(self, error);
    if (self->design.intercept != SIZE_MAX && self->session->plan->lambda == 0)
        self->here.w[self->design.intercept] = first / self->design.intercept_value;
    return TACIT_OK;
}

static tacit_status check_columns(estimate_fit *self, tacit_error *error) {
    tacit_estimate_facts facts = facts_of(self);
    return tacit_estimate_check_columns(&facts, &self->firth, error);
}

static const estimate_steps steps;

/* Those who take part, what there is to explain, and whether the columns can. Starts from the model without
 * columns. */
static tacit_status start(estimate_fit *self, tacit_error *error) {
    const tacit_plan *plan = self->session->plan;
    size_t width = self->design.width;
    tacit_sum_spec count = tacit_estimate_rows();
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum rows = TACIT_SUM_INIT, terms = TACIT_SUM_INIT;
    tacit_status status;
    if (tacit_estimate_starts_at_model(plan)) return tacit_estimate_start_at_model(self, &steps, error);
    TACIT_CHECK(tacit_ask_sum(self->session, "rows", NULL, &count, &rows, error));
    self->n = rows.values[0];
    self->parties = rows.parties;
    if (!(self->n > 0)) TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "no party has any rows"));
    if (tacit_estimate_wants_few(plan)) {
        status = tacit_estimate_start_few(self, &steps, error);
        goto cleanup;
    }
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &self->n, 1, error));
    const bool several = self->design.shape.scores > 0;
    TACIT_CHECK(ask_all(self, several ? "classes" : "response", &message, NULL,
                        several ? plan->classes : TACIT_ESTIMATE_TERMS, &terms, error));
    if (several) {
        TACIT_CHECK(tacit_estimate_begin_classes(&self->design, plan->lambda,
                                                 terms.values + TACIT_ESTIMATE_HEAD, self->terms,
                                                 self->here.w, error));
        self->null_loss = self->terms[2];
    } else
        TACIT_CHECK(begin_response(self, terms.values + TACIT_ESTIMATE_HEAD, error));
    memcpy(self->start, self->here.w, width * sizeof *self->start);
    TACIT_CHECK(estimate_ask_point(self, &self->here, TACIT_WEIGH_ONE, error));
    memcpy(self->gram, self->here.matrix, width * width * sizeof *self->gram);
    status = check_columns(self, error);
cleanup:
    tacit_message_clear(&message);
    tacit_sum_clear(&rows);
    tacit_sum_clear(&terms);
    return status;
}

static void swap_points(estimate_fit *self) {
    estimate_point other = self->here;
    self->here = self->there;
    self->there = other;
}

static tacit_status newton_direction(estimate_fit *self, bool *damped, tacit_error *error);

/* With bias=firth and a step that does not descend, or steps that hardly shrink: the gradient at this point
 * again, with the inverse of this point, and the direction that follows. */
static tacit_status renew(estimate_fit *self, tacit_error *error) {
    bool damped;
    if (!tacit_firth_invert(&self->firth, self->here.matrix, 1)) return no_estimate(self, NULL, error);
    TACIT_TRY(estimate_ask_point(self, &self->here, TACIT_WEIGH_CURVATURE, error));
    return newton_direction(self, &damped, error);
}

/* Move along the direction, halving the step until F falls by a ten-thousandth of what its slope promises, or
 * by what rounding hides near the optimum. *moved is false when no step did. */
static tacit_status search(estimate_fit *self, tacit_row_weight weight, bool *moved, tacit_error *error) {
    static const double ENOUGH = 1e-4, HIDDEN = 1e-12;
    size_t width = self->design.width;
    double slope = dot(self->here.gradient, self->direction, width), step = 1;
    const bool firth = self->firth.inverse != NULL && tacit_firth_invert(&self->firth, self->here.matrix, 1);
    *moved = false;
    for (int k = 0; k < MOST_HALVINGS && !*moved; k++, step /= 2) {
        if (firth && k == 1) {
            TACIT_TRY(renew(self, error));
            slope = dot(self->here.gradient, self->direction, width);
        }
        for (size_t j = 0; j < width; j++) self->there.w[j] = self->here.w[j] + step * self->direction[j];
        TACIT_TRY(estimate_ask_point(self, &self->there, weight, error));
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

/* Those that stay 0 have no part in a step. */
static void hold_weights(estimate_fit *self) {
    const size_t width = self->design.width;
    for (size_t i = 0; self->held != NULL && i < width; i++) {
        if (!self->held[i]) continue;
        for (size_t j = 0; j < width; j++) self->factor[i > j ? i * width + j : j * width + i] = i == j;
        self->direction[i] = 0;
    }
}

/* direction = -(H + n lambda I)^-1 g. Where curvature is missing, a hinge's flat parts, the matrix that
 * bounds it everywhere, steepest * X^T X, steps in (*damped): F then falls as a quadratic above it does. */
static tacit_status newton_direction(estimate_fit *self, bool *damped, tacit_error *error) {
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
        hold_weights(self);
        static const double FLAT = 1e-13;
        if (tacit_cholesky_factor(self->factor, width, FLAT, self->scale, self->deficient) == 0) break;
        if (self->apart)
            return tacit_fail(error, TACIT_INPUT,
                              "a column that varies inside no party has no coefficient beside the parties' "
                              "own intercepts: leave it out");
        if (*damped || steepest == 0) return no_estimate(self, NULL, error);
        *damped = true;
    }
    tacit_cholesky_solve(self->factor, width, self->scale, self->direction);
    return TACIT_OK;
}

/* The study's own bound on iterations (stop: {rounds: ...}). Short of the optimum there are no standard
 * errors, so there is no table either. */
static tacit_status out_of_rounds(const estimate_fit *self, tacit_error *error) {
    return tacit_fail(error, TACIT_NOT_CONVERGED,
                      "%zu iterations, which are all that the study allows, are not enough to converge: "
                      "allow more rounds, or let it stop further from the optimum (converged)",
                      self->iterations);
}

/* Newton from here to the end. g.H^-1 g is the squared distance to the optimum in standard errors (times the
 * dispersion, for linear): stop at 1e-8 of one, or as far from it as the plan says is enough, or where
 * rounding lets it fall no further and it is below 1e-5 of one. A likelihood without a maximum shows by steps
 * that stay long while their promise vanishes. */
static tacit_status descend_newton(estimate_fit *self, tacit_error *error) {
    static const double PROMISE = 1e-12, LONG = 1e-3;
    size_t width = self->design.width;
    double before = INFINITY, near = fmax(1e-8, self->session->plan->enough);
    bool moved, damped, linear = self->family->quadratic, firth = self->firth.inverse != NULL;
    const double STALLED = firth ? 1e-15 : 1e-10; /* Firth's steps shrink by a factor, not as their squares */
    static const double SLOW = 0.05; /* then the inverse that is a step old may be what holds it up */
    TACIT_TRY(estimate_ask_point(self, &self->here, TACIT_WEIGH_CURVATURE, error));
    tacit_estimate_facts facts = facts_of(self);
    for (size_t k = 0; k < (firth ? MOST_FIRTH : MOST_STEPS); k++) {
        if (tacit_estimate_separates(&facts, self->here.loss)) return no_estimate(self, NULL, error);
        TACIT_TRY(newton_direction(self, &damped, error));
        double left = -dot(self->here.gradient, self->direction, width);
        if (firth && left > before * SLOW) {
            TACIT_TRY(renew(self, error));
            left = -dot(self->here.gradient, self->direction, width);
        }
        double unit = linear ? fmin(1, 2 * self->here.loss / self->n) : 1;
        bool far = largest(self->direction, width) > LONG * (1 + largest(self->here.w, width));
        bool stalled = left <= STALLED * unit && left > before / 2;
        if ((left <= PROMISE * unit || stalled) && far && !linear && !firth)
            return no_estimate(self, self->direction, error);
        if (stalled || left <= near * near * unit + 1e-28 * self->n)
            return damped ? no_estimate(self, NULL, error) : TACIT_OK;
        if (tacit_plan_stops(self->session->plan, self->iterations, NULL, NULL, 0))
            return out_of_rounds(self, error);
        TACIT_TRY(search(self, TACIT_WEIGH_CURVATURE, &moved, error));
        if (!moved) break;
        before = left;
        self->iterations++;
    }
    return no_estimate(self, NULL, error);
}

static bool separates(const estimate_fit *self) {
    const tacit_estimate_facts facts = facts_of(self);
    return tacit_estimate_separates(&facts, self->here.loss);
}

static const estimate_steps steps = { separates, newton_direction, search, no_estimate, check_columns };

/* ---- L-BFGS, with checkpoints: it may take many rounds ---- */

/* Until the gradient is a thousandth of what chance makes of it (sqrt(n)); Newton does the rest. */
static tacit_status descend_lbfgs(estimate_fit *self, tacit_error *error) {
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
        if (++self->iterations % CHECKPOINT_EVERY == 0) TACIT_CHECK(estimate_fit_keep(self, error));
    }
cleanup:
    free(step);
    return status;
}

/* ---- what comes out ---- */

static tacit_status make_model(const estimate_fit *self, tacit_estimates **estimates, tacit_model **out,
                               tacit_error *error) {
    tacit_model *model = NULL;
    TACIT_TRY(tacit_estimate_model(&model, self->session->plan, &self->design, self->here.w, error));
    model->estimates = *estimates;
    *estimates = NULL;
    *out = model;
    return TACIT_OK;
}

static tacit_status infer(estimate_fit *self, tacit_estimates **out, tacit_error *error) {
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
        .firth = self->firth.inverse != NULL,
        .iterations = self->iterations,
        .party_intercepts = self->apart ? (double)self->parties : 0,
        .common_objective = self->common_loss,
    };
    if (optimum.firth) optimum.penalty = tacit_firth_penalty(&self->firth, self->here.matrix);
    if (!self->family->likelihood) {
        memcpy(self->there.w, self->here.w, width * sizeof *self->there.w);
        TACIT_TRY(estimate_ask_point(self, &self->there, TACIT_WEIGH_SLOPE, error));
        optimum.middle = self->there.matrix;
    }
    tacit_estimate_optimum at = { .session = self->session,
                                  .design = &self->design,
                                  .sums = &optimum,
                                  .token = self->token,
                                  .parties = self->parties,
                                  .set = self->set };
    TACIT_TRY(tacit_estimate_table(out, &at, error));
    return tacit_estimate_ratios(self, descend_newton, &optimum, *out, error);
}

/* One completed set, from the optimum of the one before. */
static tacit_status fit_set(void *context, size_t set, tacit_estimates **out, tacit_error *error) {
    estimate_fit *self = context;
    self->set = set;
    TACIT_TRY(descend_newton(self, error));
    return infer(self, out, error);
}

/* From the optimum with a common intercept to that with one of each party's own. */
static tacit_status fit_apart(estimate_fit *self, tacit_error *error) {
    if (!tacit_estimate_apart_wanted(self->session->plan)) return TACIT_OK;
    if (self->parties < 2)
        return tacit_fail(error, TACIT_INPUT, "intercepts=party needs at least two parties");
    double *intercept = &self->here.w[self->design.intercept];
    self->common_loss = self->here.loss;
    self->common_intercept = *intercept;
    *intercept = 0; /* it counts no more */
    self->apart = true;
    return descend_newton(self, error);
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    estimate_fit self;
    tacit_estimates *estimates = NULL;
    tacit_model *model = NULL;
    bool found = false;
    tacit_status status;
    TACIT_CHECK(estimate_fit_begin(&self, session, error));
    TACIT_CHECK(estimate_fit_take_up(&self, &found, error));
    if (!found) TACIT_CHECK(start(&self, error));
    if (tacit_estimate_settings_of(session->plan)->optimiser == TACIT_ESTIMATE_LBFGS)
        TACIT_CHECK(descend_lbfgs(&self, error));
    TACIT_CHECK(tacit_estimate_wants_few(session->plan) ? tacit_estimate_descend_few(&self, &steps, error)
                                                        : descend_newton(&self, error));
    TACIT_CHECK(fit_apart(&self, error));
    TACIT_CHECK(infer(&self, &estimates, error));
    if (self.apart) self.here.w[self.design.intercept] = self.common_intercept; /* for predictions */
    TACIT_CHECK(tacit_estimate_pool_sets(session->plan, fit_set, &self, self.design.width, &self.here.w,
                                         &estimates, error));
    TACIT_CHECK(tacit_estimate_count_missing(session, self.parties, estimates, error));
    TACIT_CHECK(make_model(&self, &estimates, &model, error));
    TACIT_CHECK(tacit_estimate_validate(&self, model, error));
    model->estimates->rounds = (size_t)session->round;
    out->parties = self.parties;
    status = tacit_outcome_add(out, model, error);
    model = NULL;
cleanup:
    tacit_model_free(model);
    tacit_estimates_free(estimates);
    estimate_fit_end(&self);
    return status;
}

/* How many points a fit looks at depends on the rows, except for a quadratic. */
static uint64_t exchanges(const tacit_plan *plan) {
    const tacit_family *family = tacit_estimate_family(plan);
    return tacit_estimate_wants_few(plan) && family != NULL && family->quadratic ? 2 : 0;
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
    .imputes = true,
    .starts_at = tacit_estimate_starts_at_model,
    TACIT_SETTINGS_OF(parameters, defaults),
    .leaves = "in each round the sums over the party's rows of loss, gradient and, where asked, a matrix of "
              "second moments, as one contribution to a sum; its number of rows, and the sum of its "
              "responses or its rows of each class[errors=HC0|HC1|HC2|HC3: ; once, at the end, the sum of "
              "squared gradients of its rows][errors=cluster|gee: ; once, at the end, how many persons it "
              "has rows of, and the sum of squared gradients of these persons][influence=yes: ; once, at the "
              "end, sums of squared residuals and of leverages over its rows, and how many rows have a large "
              "Cook's distance, if they are none or at least its owner's minimum][intercepts=party: ; then "
              "the same sums with the party's own intercept in the scores, and taken out of the "
              "matrix][folds!=0: ; then the same sums of its rows outside each fold, and how many of its "
              "rows have a score in each cell of a public grid, by class, from the model that has not seen "
              "them]; where the schema says what becomes of missing values, how many there are, unless few",
    .seen_by = "[sees=sum: the coordinator sees the exact totals of all parties' sums in every round, and no "
               "single party's][sees=each: the coordinator sees each party's exact sums in every round]. "
               "Everybody sees the weights of every round, the final coefficients with their standard errors "
               "and tests",
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
        "coordinator that departs from the protocol can choose weights[bias=firth:  and the matrix that "
        "leverages come from]; each party refuses those under which fewer of its rows count than its owner's "
        "minimum, and a liar can steer within that: use a private method where that matters.[folds!=0:  The "
        "sums of all rows and of those outside a fold differ by the fold: a party takes part if each of its "
        "folds has its owner's minimum of rows.] Missing values are what the schema says; with missing: "
        "fill, its default, a missing value counts as the middle of its bounds, a missing or unknown level "
        "as the first level: set missing: complete-case and strict: yes in the schema for R's numbers. The "
        "same parties must answer in every round. With lambda above 0, standard errors leave out the bias",
    .check = tacit_estimate_check,
    .infers = infers,
    .folds = tacit_estimate_folds,
    .price = tacit_nonprivate_price,
    .release_kind = tacit_estimate_kind,
    .exchanges = exchanges,
    .fewest = 2,
    .asks =
        "[rounds=few: two questions to each party for a linear fit, five or six for most logistic ones, one "
        "after the other][start=model: ; two or three from a public model that is near][rounds=many: as many "
        "questions to each party, one after the other, as the fit takes: five for a linear one, some ten for "
        "others][rounds=many,optimiser=lbfgs: , and several times that with lbfgs][rounds=many: . In a study "
        "that people carry each is a hand-over: rounds=few takes the fewest]",
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = tacit_estimate_handlers,
};
