/*
 * The target's half of dphtl, steps 3 to 6 of Algorithm 4: everything here is post-processing of what the
 * sources answered (dphtl.c has the proof), and arithmetic on the target's own rows.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/transfer/dphtl.h"

typedef struct target {
    tacit_session *session;
    const tacit_plan *plan;
    tacit_projection space;
    transfer_rows points, own; /* in the space; own rows that are used as labelled come first */
    int32_t *label;            /* of own rows */
    size_t labelled, labels;   /* how many are used as labelled, and have one */
    size_t size, sources;
    double **theta;      /* of each source, size numbers, then its importance weights */
    double *variance;    /* q_k */
    double *weights;     /* of the hypotheses */
    double *mean, *each; /* the prior: mean, and precision divided by rows */
} target;

static void target_clear(target *self) {
    for (size_t k = 0; self->theta != NULL && k < self->sources; k++) free(self->theta[k]);
    free(self->theta);
    free(self->variance);
    free(self->weights);
    free(self->mean);
    free(self->each);
    free(self->label);
    transfer_rows_clear(&self->points);
    transfer_rows_clear(&self->own);
    tacit_projection_clear(&self->space);
}

static tacit_status see_points(target *self, tacit_error *error) {
    TACIT_TRY(transfer_space(&self->space, self->plan, error));
    return transfer_stack(&self->points, &self->space, &self->plan->points->rows, NULL, error);
}

/* The target's rows that count as labelled come first: all that have a label, where others have none; else
 * `target_labels` of them. */
static tacit_status see_own_rows(target *self, const tacit_view *own, tacit_error *error) {
    const size_t rows = own->rows.count;
    transfer_parts parts = { .index = NULL };
    tacit_status status;
    TACIT_CHECK(transfer_divide(&parts, own, rows, error));
    self->labels = self->labelled = parts.labelled;
    if (!dphtl_is_mixed(self->plan)) {
        self->labelled = (size_t)(dphtl_settings_of(self->plan)->target_labels * (double)rows + 0.5);
        if (self->labelled < 1) self->labelled = 1;
    }
    TACIT_CHECK(transfer_stack(&self->own, &self->space, &parts.all.rows, NULL, error));
    self->label = transfer_labels(&parts.all, rows);
    if (self->label == NULL) TACIT_CHECK(tacit_fail_memory(error));
cleanup:
    transfer_parts_clear(&parts);
    return status;
}

/* What a target without a single label can still have. */
static tacit_status check_without_labels(const tacit_plan *plan, tacit_error *error) {
    const dphtl_model model = dphtl_settings_of(plan)->model;
    if (model != DPHTL_SOURCE && model != DPHTL_WEAK && model != DPHTL_TARGET) return TACIT_OK;
    return tacit_fail(
        error, TACIT_USAGE,
        "model=%s of method dphtl needs labels of the target, and none of its rows has one: choose "
        "model=dphtl, average, soft or pphtl",
        model == DPHTL_SOURCE ? "source"
        : model == DPHTL_WEAK ? "weak"
                              : "target");
}

static tacit_status target_create(target *self, tacit_session *session, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    *self = (target){ .session = session, .plan = plan, .size = transfer_size(plan) };
    /* The hypotheses as they are: nothing of a target's is needed. */
    if (dphtl_settings_of(plan)->model == DPHTL_SOURCES) return see_points(self, error);
    if (session->own == NULL || session->own->rows.count == 0 || session->own->label == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "method dphtl learns for a target, which runs the coordinator on rows of its own: "
                          "name their file with the option 'target'");
    TACIT_TRY(see_points(self, error));
    TACIT_TRY(see_own_rows(self, session->own, error));
    self->mean = TACIT_NEW(double, self->size);
    self->each = TACIT_NEW(double, self->size);
    if (self->mean == NULL || self->each == NULL) return tacit_fail_memory(error);
    return self->labels > 0 ? TACIT_OK : check_without_labels(plan, error);
}
/* One source's answer: numbers on the dphtl_grids, importance weights from them. */
static tacit_status read_answer(target *self, const tacit_message *message, const dphtl_grids *on,
                                tacit_error *error) {
    size_t k = self->sources, points = self->points.rows.count;
    dphtl_answer says;
    TACIT_TRY(dphtl_take_apart(self->plan, message, &says, error));
    if (!says.has_hypothesis) return TACIT_OK; /* weights of a source that proposes nothing */
    double *numbers = TACIT_NEW(double, 2 * self->size + points);
    if (numbers == NULL) return tacit_fail_memory(error);
    self->theta[k] = numbers;
    self->variance[k] = says.variance;
    self->sources++;
    double *density = numbers + self->size + points;
    for (size_t j = 0; j < self->size; j++) {
        numbers[j] = tacit_sum_value(&on->hypothesis, says.theta[j]);
        density[j] = tacit_sum_value(&on->density, says.beta[j]);
    }
    transfer_importance(&self->points.rows, density, numbers + self->size);
    return TACIT_OK;
}

static tacit_status ask_sources(target *self, tacit_error *error) {
    dphtl_grids on;
    tacit_answers answers = TACIT_ANSWERS_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_session_prepared(self->session, &on, error));
    TACIT_CHECK(tacit_ask(self->session, "hypothesis", NULL, &answers, error));
    self->theta = TACIT_NEW(double *, answers.count);
    self->variance = TACIT_NEW(double, answers.count);
    self->weights = TACIT_NEW(double, answers.count);
    if (self->theta == NULL || self->variance == NULL || self->weights == NULL)
        TACIT_CHECK(tacit_fail_memory(error));
    for (size_t k = 0; k < answers.count; k++)
        TACIT_CHECK(read_answer(self, &answers.answer[k].message, &on, error));
    if (self->sources == 0)
        TACIT_CHECK(
            tacit_fail(error, TACIT_INPUT,
                       "no row of any source has a label, so none has a hypothesis to propose: method "
                       "dphtl needs a source with labelled rows"));
cleanup:
    tacit_answers_clear(&answers);
    return status;
}

/* Steps 3 and 4 of the algorithm. */
static tacit_status weigh_sources(target *self, tacit_error *error) {
    size_t points = self->points.rows.count;
    double *beta = TACIT_NEW(double, self->size), *own = TACIT_NEW(double, points), gap;
    const double **source = TACIT_NEW(const double *, self->sources);
    tacit_projection seen = { self->size, 0, NULL }; /* the rows are in the space already */
    tacit_status status = TACIT_OK;
    if (beta == NULL || own == NULL || source == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t k = 0; k < self->sources; k++) source[k] = self->theta[k] + self->size;
    TACIT_CHECK(transfer_density(beta, &seen, &self->own.rows, &self->points.rows,
                                 transfer_settings_of(self->plan)->lambda_iw, 1e-7, self->session->pool,
                                 error));
    transfer_importance(&self->points.rows, beta, own);
    TACIT_CHECK(transfer_mixture(self->weights, self->sources, points, own, source, &gap, error));
cleanup:
    free(beta);
    free(own);
    free(source);
    return status;
}

/* Step 5: (4.2), or the prior that knows the noise. Without a label of the target's only its mean counts. */
static void make_prior(target *self) {
    double K = (double)self->sources, correction = K > 1 ? K / (K - 1) : 1;
    double n = fmax(1, (double)self->labelled);
    double lowest = dphtl_settings_of(self->plan)->floor, T = 1 / (n * self->plan->lambda), r = 0, e = 0;
    bool aware = dphtl_settings_of(self->plan)->prior == DPHTL_PRIOR_AWARE;
    for (size_t k = 0; aware && k < self->sources; k++) {
        double w = self->weights[k], q = self->variance[k];
        r += w * w * q;
        e += correction * w * (1 - w) * q;
    }
    double c = transfer_mean(self->mean, self->size, self->sources, self->weights, self->theta, r);
    for (size_t j = 0; j < self->size; j++) {
        double spread = 0;
        for (size_t k = 0; k < self->sources; k++) {
            double off = self->theta[k][j] - self->mean[j];
            spread += correction * self->weights[k] * off * off;
        }
        double variance = c * fmax(spread - e, lowest) + (1 - c) * T;
        if (aware) variance = fmin(variance, fmax(T, lowest));
        self->mean[j] *= c;
        self->each[j] = 1 / (n * variance);
    }
}

static void ridge_around(target *self, bool mean_hypothesis) {
    for (size_t j = 0; j < self->size; j++) {
        self->mean[j] = 0;
        self->each[j] = self->plan->lambda;
        for (size_t k = 0; mean_hypothesis && k < self->sources; k++)
            self->mean[j] += self->theta[k][j] / (double)self->sources;
    }
}

/* Step 6, on the first `rows` of the target's rows. */
static tacit_status fit_target(target *self, size_t rows, tacit_outcome *out, tacit_error *error) {
    tacit_rows some = tacit_rows_slice(&self->own.rows, 0, rows);
    double *theta = TACIT_NEW(double, self->size);
    tacit_status status = TACIT_OK;
    if (theta == NULL) TACIT_CHECK(tacit_fail_memory(error));
    if (rows == 0) /* the most likely under the prior alone */
        memcpy(theta, self->mean, self->size * sizeof *theta);
    else
        TACIT_CHECK(transfer_map(theta, &some, self->label, NULL, self->mean, self->each, self->session->pool,
                                 error));
    TACIT_CHECK(transfer_add_model(self->plan, &self->space, theta, out, error));
cleanup:
    free(theta);
    return status;
}

/* SOFT (4.4): an unlabelled row counts as both classes, by the hypotheses' votes. */
static tacit_status fit_soft(target *self, tacit_outcome *out, tacit_error *error) {
    size_t n = self->own.rows.count;
    tacit_projection seen = { self->size, 0, NULL };
    transfer_rows twice = TRANSFER_ROWS_INIT;
    int32_t *label = TACIT_NEW(int32_t, 2 * n);
    double *weight = TACIT_NEW(double, 2 * n), *theta = TACIT_NEW(double, self->size);
    tacit_status status = TACIT_OK;
    if (label == NULL || weight == NULL || theta == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(transfer_stack(&twice, &seen, &self->own.rows, &self->own.rows, error));
    for (size_t i = 0; i < n; i++) {
        double votes = 0;
        for (size_t k = 0; k < self->sources; k++)
            votes += tacit_rows_dot(&self->own.rows, i, self->theta[k]) > 0;
        double share = i < self->labelled ? self->label[i] : votes / (double)self->sources;
        label[i] = 1;
        label[n + i] = 0;
        weight[i] = share / (double)n;
        weight[n + i] = (1 - share) / (double)n;
    }
    ridge_around(self, false);
    TACIT_CHECK(
        transfer_map(theta, &twice.rows, label, weight, NULL, self->each, self->session->pool, error));
    TACIT_CHECK(transfer_add_model(self->plan, &self->space, theta, out, error));
cleanup:
    transfer_rows_clear(&twice);
    free(label);
    free(weight);
    free(theta);
    return status;
}

/* The hypothesis that is right most often on the target's labels; the first of equals. */
static size_t best_source(const target *self) {
    size_t best = 0, most = 0;
    for (size_t k = 0; k < self->sources; k++) {
        size_t right = 0;
        for (size_t i = 0; i < self->labelled; i++)
            right += (tacit_rows_dot(&self->own.rows, i, self->theta[k]) > 0) == (self->label[i] == 1);
        if (right > most) {
            most = right;
            best = k;
        }
    }
    return best;
}

static tacit_status learn(target *self, tacit_outcome *out, tacit_error *error) {
    const dphtl_model model = dphtl_settings_of(self->plan)->model;
    if (model == DPHTL_SOFT) return fit_soft(self, out, error);
    if (model == DPHTL_SOURCE)
        return transfer_add_model(self->plan, &self->space, self->theta[best_source(self)], out, error);
    for (size_t k = 0; model == DPHTL_SOURCES && k < self->sources; k++)
        TACIT_TRY(transfer_add_model(self->plan, &self->space, self->theta[k], out, error));
    if (model == DPHTL_SOURCES) return TACIT_OK;
    for (size_t k = 0; k < self->sources; k++) self->weights[k] = 1 / (double)self->sources;
    if (model == DPHTL_WHOLE) TACIT_TRY(weigh_sources(self, error));
    if (model == DPHTL_WHOLE || model == DPHTL_AVERAGE)
        make_prior(self);
    else
        ridge_around(self, model == DPHTL_PPHTL);
    return fit_target(self, model == DPHTL_TARGET ? self->labels : self->labelled, out, error);
}

tacit_status dphtl_coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    target self;
    const dphtl_model model = dphtl_settings_of(session->plan)->model;
    tacit_status status;
    TACIT_CHECK(target_create(&self, session, error));
    if (model != DPHTL_WEAK && model != DPHTL_TARGET) TACIT_CHECK(ask_sources(&self, error));
    out->parties = self.sources;
    TACIT_CHECK(learn(&self, out, error));
cleanup:
    target_clear(&self);
    return status;
}

tacit_status dphtl_weights(tacit_session *session, double *weights, size_t *sources, tacit_error *error) {
    target self;
    tacit_status status;
    TACIT_CHECK(target_create(&self, session, error));
    TACIT_CHECK(ask_sources(&self, error));
    TACIT_CHECK(weigh_sources(&self, error));
    memcpy(weights, self.weights, self.sources * sizeof *weights);
    *sources = self.sources;
cleanup:
    target_clear(&self);
    return status;
}
