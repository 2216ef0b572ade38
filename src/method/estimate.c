/*
 * estimate: distributed M-estimation with standard errors (Wang 2018, 2.1.2: the sum of local objectives is minimised
 * from sums of local derivatives; Newton or L-BFGS).
 *
 *   all:          n = sum n_k
 *   round:        coordinator sends w; party k answers f_k = sum_i l(y_i, x_i.w), its gradient and, where asked, a matrix
 *   coordinator:  F = sum_k f_k + (n lambda/2)|w|^2
 *     Newton      w <- w - s H^-1 g;   L-BFGS  w <- w - s B g, B from the last steps, then Newton to the end;
 *                 s = 1, 1/2, 1/4, ... until F falls enough (Armijo)
 *     at the end  standard errors from H, or from the sandwich H^-1 M H^-1 (model/estimates.h)
 *
 * No noise: nothing here is differentially private (price: an infinite epsilon). What leaves a party is a contribution
 * to a sum; the coordinator's half uses nothing but the sums.
 *
 * The grid. n and R (estimator.h) are public, so every contribution has the public bound n R; beyond it, which happens
 * only at points that the line search rejects, a contribution is moved to the bound, and one that shows n R still proves
 * F to be above that of the start. Contributions are integers on a grid of n R K 2^-62, K parties: together they round by
 * at most n R K^2 2^-63, for 7 parties 2^-57 of n R. The estimate moves by the Hessian's inverse, of order 1/n, times that:
 * some 1e-16 of the scale of the weights, ten digits below the 1e-6 that is promised.
 *
 * Contributions carry their number of rows and a token of the party: a round in which another set of parties answered
 * than in the first is noticed and ends the run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/lbfgs.h"
#include "session/party.h"
#include "session/session.h"

enum {
    MOST_WIDTH = 2000,
    MOST_STEPS = 100,
    MOST_LBFGS = 500,
    MOST_HALVINGS = 40,
    CHECKPOINT_EVERY = 10,
    HEAD = 2, /* rows and token, before anything else in a contribution */
    TERMS = 3 /* tacit_response_terms */
};

static const double MOST_ROWS = 4294967296.0; /* of one party */

static const tacit_parameter parameters[] = {
    { "family", "auto", "auto|logistic|linear|poisson|huber", 0, 0,
      "auto: logistic for two classes, linear for a number, poisson for a count" },
    { "optimiser", "newton", "newton|lbfgs", 0, 0,
      "newton asks for the Hessian in every round, lbfgs only at the end: more rounds, smaller ones" },
    { "level", "0.95", NULL, 0.5, 0.999999, "of the confidence intervals" },
    { NULL, NULL, NULL, 0, 0, NULL },
};

/* ---- what both halves know ---- */

static const tacit_family *family_of(const tacit_plan *plan) {
    const char *name = tacit_plan_text(plan, "family");
    bool counts = plan->schema != NULL && plan->schema->response == TACIT_RESPONSE_COUNT;
    if (strcmp(name, "auto") == 0) name = plan->classes > 0 ? "logistic" : counts ? "poisson" : "linear";
    return tacit_family_find(name);
}

static tacit_status check(const tacit_plan *plan, tacit_error *error) {
    const tacit_family *family = family_of(plan);
    tacit_design design;
    if (family->of_classes && plan->classes != 2)
        return tacit_fail(error, TACIT_USAGE, "family %s needs a label of two classes, and this one has %zu",
                          family->name, plan->classes);
    if (!family->of_classes && (plan->classes > 0 || plan->schema == NULL))
        return tacit_fail(
            error, TACIT_USAGE,
            "family %s needs a numeric label: declare kind, low and high of the label in the schema",
            family->name);
    if (family->of_counts && plan->schema->response != TACIT_RESPONSE_COUNT)
        return tacit_fail(error, TACIT_USAGE, "family poisson needs a label of kind count, and '%s' is a %s",
                          plan->schema->label, tacit_response_name(plan->schema->response));
    TACIT_TRY(tacit_design_create(&design, family, plan->schema, plan->features, error));
    size_t width = design.width;
    tacit_design_clear(&design);
    if (width > MOST_WIDTH)
        return tacit_fail(
            error, TACIT_USAGE,
            "method estimate inverts a matrix of %zu columns: have at most %d, or choose another "
            "method",
            width, MOST_WIDTH);
    return TACIT_OK;
}

/* The sum of `length` numbers over n rows. */
static tacit_sum_spec sum_spec(const tacit_plan *plan, double n, size_t length) {
    double high = plan->schema != NULL ? plan->schema->high : 0;
    double bound = fmax(1, n) * family_of(plan)->row_bound(high);
    int bound_bits, party_bits;
    frexp(bound, &bound_bits);
    frexp((double)plan->parties, &party_bits);
    return (tacit_sum_spec){ HEAD + length, bound, 62 - bound_bits - party_bits };
}

static tacit_status price(const tacit_plan *plan, tacit_prices *out, tacit_error *error) {
    return tacit_yardstick_price(plan, out, error);
}

static tacit_release_kind release_kind(const tacit_plan *plan) {
    (void)plan;
    return TACIT_RELEASE_ENTRUSTED;
}

static tacit_status choose_lambda(const tacit_plan *plan, double *out, tacit_error *error) {
    (void)plan;
    (void)error;
    *out = 0; /* maximum likelihood */
    return TACIT_OK;
}

/* ---- the party's half ---- */

/* A number in [0, 1) on a grid of 2^-20 that sets parties apart (the finaliser of splitmix64). */
static double token_of(const tacit_party *party) {
    uint64_t z = party->number + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ldexp((double)((z ^ (z >> 31)) >> 44), -20);
}

/* An empty contribution with its head, and how it leaves. */
static tacit_status begin_reply(const tacit_party *party, size_t length, tacit_reply *reply,
                                tacit_error *error) {
    tacit_prices prices;
    TACIT_TRY(price(party->plan, &prices, error));
    reply->kind = release_kind(party->plan);
    reply->noise = TACIT_NOISE_NONE;
    reply->price = prices.charged;
    reply->contribution = TACIT_NEW(double, length);
    return reply->contribution != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status answer_rows(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                tacit_error *error) {
    tacit_sum_spec spec = { 1, MOST_ROWS, 0 };
    if (!question->wants_sum || !tacit_sum_spec_equal(&question->sum, &spec))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for another sum than the study defines");
    TACIT_TRY(begin_reply(party, 1, reply, error));
    reply->contribution[0] = (double)party->total_rows;
    return TACIT_OK;
}

/* What a pass over the party's rows fills. */
typedef struct pass {
    const tacit_plan *plan;
    const tacit_family *family;
    tacit_design design;
    tacit_sums sums;     /* of "sums" */
    double terms[TERMS]; /* of "response" */
    double *row, *x, *y; /* one row as stored; a block with the kept features; its responses */
} pass;

static double response_of(const pass *self, const tacit_view *rows, size_t i) {
    if (self->family->of_classes) return tacit_view_label(rows, i);
    return (tacit_view_response(rows, i) - self->design.middle) / self->design.half;
}

static tacit_status add_terms(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    pass *self = context;
    (void)first;
    (void)error;
    for (size_t i = 0; i < block->rows.count; i++) {
        double terms[TERMS];
        tacit_response_terms(self->family, response_of(self, block, i), terms);
        for (int k = 0; k < TERMS; k++) self->terms[k] += terms[k];
    }
    return TACIT_OK;
}

static tacit_status add_sums(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    pass *self = context;
    size_t width = self->design.width;
    (void)first;
    (void)error;
    for (size_t i = 0; i < block->rows.count; i++) {
        tacit_rows_copy(&block->rows, i, self->row);
        for (size_t j = 0; j < width; j++) self->x[i * width + j] = self->row[self->design.kept[j]];
        self->y[i] = response_of(self, block, i);
    }
    tacit_sums_add(&self->sums, self->x, self->y, block->rows.count);
    return TACIT_OK;
}

static tacit_status begin_pass(pass *self, const tacit_party *party, tacit_error *error) {
    *self = (pass){ .plan = party->plan, .family = family_of(party->plan) };
    const tacit_view *rows = &party->rows;
    if (self->family->of_classes ? rows->label == NULL : rows->response == NULL)
        return tacit_fail(error, TACIT_INPUT, "the rows have no %s",
                          self->family->of_classes ? "classes" : "response");
    return tacit_design_create(&self->design, self->family, party->plan->schema, party->plan->features,
                               error);
}

static void end_pass(pass *self) {
    tacit_design_clear(&self->design);
    tacit_sums_clear(&self->sums);
    free(self->row);
    free(self->x);
    free(self->y);
}

/* n of the question, believed only within what it can be: not fewer rows than this party has. */
static tacit_status read_total(const tacit_party *party, const tacit_question *question, double *n,
                               tacit_error *error) {
    const double *total;
    TACIT_TRY(tacit_message_numbers(question->message, "rows", 1, &total, error));
    if (!(*total >= (double)party->total_rows && *total <= MOST_ROWS * (double)party->plan->parties))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator speaks of %g rows in all and this party has %zu", *total,
                          party->total_rows);
    *n = *total;
    return TACIT_OK;
}

/* Fill the head, add up over the holders of this party's rows, and keep to the bound. */
static tacit_status finish_reply(const tacit_party *party, const tacit_sum_spec *spec, tacit_reply *reply,
                                 tacit_error *error) {
    double *values = reply->contribution;
    if (party->reducer != NULL)
        TACIT_TRY(party->reducer->sum(party->reducer->context, values + HEAD, spec->length - HEAD, error));
    values[0] = (double)party->total_rows;
    values[1] = token_of(party);
    for (size_t j = 0; j < spec->length; j++) values[j] = fmax(-spec->bound, fmin(spec->bound, values[j]));
    return TACIT_OK;
}

static tacit_status begin_sum(const tacit_party *party, const tacit_question *question, size_t length,
                              tacit_sum_spec *spec, tacit_reply *reply, tacit_error *error) {
    double n = 0;
    TACIT_TRY(read_total(party, question, &n, error));
    *spec = sum_spec(party->plan, n, length);
    if (!question->wants_sum || !tacit_sum_spec_equal(&question->sum, spec))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for another sum than the study defines");
    return begin_reply(party, spec->length, reply, error);
}

static tacit_status answer_response(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                    tacit_error *error) {
    tacit_sum_spec spec;
    pass self;
    TACIT_TRY(begin_pass(&self, party, error));
    tacit_status status;
    TACIT_CHECK(begin_sum(party, question, TERMS, &spec, reply, error));
    TACIT_CHECK(tacit_dataset_map(&party->rows, 0, add_terms, &self, error));
    memcpy(reply->contribution + HEAD, self.terms, sizeof self.terms);
    TACIT_CHECK(finish_reply(party, &spec, reply, error));
cleanup:
    end_pass(&self);
    return status;
}

static tacit_status answer_sums(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                tacit_error *error) {
    const int64_t *weight;
    const double *w;
    tacit_sum_spec spec;
    pass self;
    TACIT_TRY(begin_pass(&self, party, error));
    tacit_status status;
    size_t width = self.design.width;
    TACIT_CHECK(tacit_message_integers(question->message, "matrix", 1, &weight, error));
    TACIT_CHECK(tacit_message_numbers(question->message, "weights", width, &w, error));
    if (*weight < TACIT_WEIGH_NONE || *weight > TACIT_WEIGH_ONE)
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "the coordinator asks for an unknown matrix"));
    tacit_row_weight kind = (tacit_row_weight)*weight;
    TACIT_CHECK(begin_sum(party, question, tacit_sums_length(kind, width), &spec, reply, error));
    self.row = TACIT_NEW(double, party->plan->features);
    self.x = TACIT_NEW(double, TACIT_SUMS_BLOCK *width);
    self.y = TACIT_NEW(double, TACIT_SUMS_BLOCK);
    if (self.row == NULL || self.x == NULL || self.y == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(tacit_sums_create(&self.sums, self.family, kind, width, w, error));
    TACIT_CHECK(tacit_dataset_map(&party->rows, TACIT_SUMS_BLOCK, add_sums, &self, error));
    tacit_sums_pack(&self.sums, reply->contribution + HEAD);
    TACIT_CHECK(finish_reply(party, &spec, reply, error));
cleanup:
    end_pass(&self);
    return status;
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
    double terms[TERMS];
    point here, there; /* the accepted point, and the one that is tried */
    double *gram;      /* X^T X */
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
    *self = (fit){ .session = session, .family = family_of(plan) };
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
static tacit_status ask_all(fit *self, const char *question, const tacit_message *message, size_t length,
                            tacit_sum *sum, tacit_error *error) {
    tacit_sum_spec spec = sum_spec(self->session->plan, self->n, length);
    TACIT_TRY(tacit_ask_sum(self->session, question, message, &spec, sum, error));
    if (self->token == 0) self->token = sum->values[1]; /* the first such round */
    if (sum->parties == self->parties && sum->values[0] == self->n && sum->values[1] == self->token)
        return TACIT_OK;
    return tacit_fail(
        error, TACIT_REFUSED,
        "other parties answered '%s' than the rounds before: an estimate needs the same ones in "
        "every round; run the study again",
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
    TACIT_CHECK(ask_all(self, "sums", &message, tacit_sums_length(weight, width), &sum, error));
    const double *value = sum.values + HEAD;
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
        status =
            tacit_fail(error, TACIT_INPUT,
                       "columns that never vary or follow from the columns before them have no coefficient: "
                       "%s; skip them in the schema, or give a lambda above 0",
                       tacit_buffer_text(&names));
    tacit_buffer_clear(&names);
    return status;
}

static tacit_status no_estimate(const fit *self, tacit_error *error) {
    const char *why = !self->family->likelihood ? "the least loss is reached by more than one set of weights"
                      : self->family->of_counts
                          ? "some combination of columns has counts of 0 only"
                          : "some combination of columns tells the classes apart without error";
    return tacit_fail(error, TACIT_NOT_CONVERGED,
                      "there is no finite estimate: %s; leave columns out, or give a lambda above 0", why);
}

/* Those who take part, what there is to explain, and whether the columns can. Starts from the model without columns. */
static tacit_status start(fit *self, tacit_error *error) {
    const tacit_plan *plan = self->session->plan;
    size_t width = self->design.width;
    tacit_sum_spec count = { 1, MOST_ROWS, 0 };
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum rows = TACIT_SUM_INIT, terms = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_ask_sum(self->session, "rows", NULL, &count, &rows, error));
    self->n = rows.values[0];
    self->parties = rows.parties;
    if (!(self->n > 0)) TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "no party has any rows"));
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &self->n, 1, error));
    TACIT_CHECK(ask_all(self, "response", &message, TERMS, &terms, error));
    memcpy(self->terms, terms.values + HEAD, sizeof self->terms);
    double mean = self->terms[0] / self->n;
    if (self->family->likelihood && self->family->of_classes && (mean == 0 || mean == 1))
        TACIT_CHECK(
            tacit_fail(error, TACIT_INPUT, "all rows are of one class: there is nothing to tell apart"));
    if (self->family->of_counts && mean == 0)
        TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "all counts are 0: there is nothing to explain"));
    if (self->design.intercept != SIZE_MAX && plan->lambda == 0 && self->family->likelihood)
        self->here.w[self->design.intercept] = (self->family->of_counts    ? log(mean)
                                                : self->family->of_classes ? log(mean / (1 - mean))
                                                                           : mean) /
                                               self->design.intercept_value;
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

/* Move along the direction, halving the step until F falls by a ten-thousandth of what its slope promises, or by what
 * rounding hides near the optimum. *moved is false when no step did. */
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

/* direction = -(H + n lambda I)^-1 g. Where curvature is missing, a hinge's flat parts, the matrix that bounds it
 * everywhere, steepest * X^T X, steps in (*damped): F then falls as a quadratic above it does. */
static tacit_status newton_direction(fit *self, bool *damped, tacit_error *error) {
    size_t width = self->design.width;
    double steepest = self->family->likelihood ? 0 : self->family->steepest;
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

/* Newton from here to the end. g.H^-1 g is the squared distance to the optimum in standard errors (times the dispersion,
 * for linear): stop at 1e-8 of one. A likelihood without a maximum shows by steps that stay long while their promise
 * vanishes. */
static tacit_status descend_newton(fit *self, tacit_error *error) {
    static const double CLOSE = 1e-16, PROMISE = 1e-12, LONG = 1e-3;
    size_t width = self->design.width;
    bool moved, damped, linear = !self->family->of_classes && !self->family->of_counts;
    TACIT_TRY(ask_point(self, &self->here, TACIT_WEIGH_CURVATURE, error));
    for (size_t k = 0; k < MOST_STEPS; k++) {
        TACIT_TRY(newton_direction(self, &damped, error));
        double left = -dot(self->here.gradient, self->direction, width);
        double unit = linear ? fmin(1, 2 * self->here.loss / self->n) : 1;
        bool far = largest(self->direction, width) > LONG * (1 + largest(self->here.w, width));
        if (left <= PROMISE * unit && far && !linear) return no_estimate(self, error);
        if (left <= CLOSE * unit + 1e-28 * self->n) return damped ? no_estimate(self, error) : TACIT_OK;
        TACIT_TRY(search(self, TACIT_WEIGH_CURVATURE, &moved, error));
        if (!moved) break;
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
                       self->terms[2] };
    tacit_message state = TACIT_MESSAGE_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&state, "about", about, sizeof about / sizeof *about, error));
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
    double about[10];
    tacit_message state = TACIT_MESSAGE_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_resume(self->session, found, &state, error));
    if (!*found) goto cleanup;
    TACIT_CHECK(copy_field(&state, "about", about, sizeof about / sizeof *about, error));
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

static tacit_loss loss_of(const tacit_family *family) {
    if (family->of_counts) return TACIT_LOSS_POISSON;
    if (!family->of_classes) return TACIT_LOSS_LINEAR;
    return family->likelihood ? TACIT_LOSS_LOGISTIC : TACIT_LOSS_HUBER;
}

/* Weights of all features, those left out being 0, whose score is the mean of a linear response as it is. */
static tacit_status make_model(const fit *self, tacit_estimates **estimates, tacit_model **out,
                               tacit_error *error) {
    const tacit_plan *plan = self->session->plan;
    const tacit_design *design = &self->design;
    tacit_model *model = NULL;
    TACIT_TRY(tacit_model_create(&model, loss_of(self->family), plan->features,
                                 self->family->of_classes ? 2 : 0, error));
    for (size_t j = 0; j < design->width; j++)
        model->weights[design->kept[j]] =
            design->half * self->here.w[j] +
            (j == design->intercept ? design->middle / design->intercept_value : 0);
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
        .rows = self->n,
        .lambda = plan->lambda,
        .level = tacit_plan_number(plan, "level"),
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
    snprintf((*out)->optimiser, sizeof(*out)->optimiser, "%s", tacit_plan_text(plan, "optimiser"));
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
    if (tacit_plan_is(session->plan, "optimiser", "lbfgs")) TACIT_CHECK(descend_lbfgs(&self, error));
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

static const tacit_handler_entry handlers[] = {
    { .question = "rows", .answer = answer_rows },
    { .question = "response", .answer = answer_response },
    { .question = "sums", .answer = answer_sums },
    { .question = NULL },
};

const tacit_method tacit_method_estimate = {
    .name = "estimate",
    .title = "regression of all rows with standard errors, from sums alone, without noise",
    .reference = "Wang 2018, 2.1.2; McCullagh & Nelder 1989; Huber 1967",
    .version = 1,
    .units = "record",
    .noise_free = true,
    .takes_numbers = true,
    .lambda_may_vanish = true,
    .parameters = parameters,
    .leaves =
        "in each round the sums over the party's rows of loss, gradient and, where asked, a matrix of second "
        "moments, as one contribution to a sum; its number of rows",
    .seen_by = "the coordinator receives each party's sums in clear (entrusted) and its method uses only "
               "their total. "
               "Everybody sees the weights of every round, the final coefficients and their standard errors",
    .guarantee = "none in the sense of differential privacy: sums are exact. No row leaves, and sums over "
                 "many rows are "
                 "all that does",
    .assumption = "the coordinator adds up what it receives and does not look at a single party's sums; "
                  "every party has "
                  "many more rows than there are columns (owners can bound that: the disclosure policy)",
    .theorem = "no privacy theorem applies. The estimate is that of all rows pooled: the derivatives of a "
               "sum are the "
               "sums of the derivatives, and integers add up without rounding",
    .claim = "the same",
    .caveats =
        "exact sums over few rows, or over two sets that differ in one row, can reveal that row: use a "
        "private "
        "method where that matters. A missing value counts as the middle of its bounds, a missing or unknown "
        "level as the first level: have missing: error and strict: yes in the schema for R's numbers. The "
        "same "
        "parties must answer in every round. With lambda above 0 standard errors leave the bias out",
    .check = check,
    .price = price,
    .choose_lambda = choose_lambda,
    .release_kind = release_kind,
    .coordinate = coordinate,
    .handlers = handlers,
};
