/*
 * dphtl: hypothesis transfer from private sources (Wang 2018, Algorithm 4). Sources with many rows help a
 * target with few labels, which runs the coordinator's half on rows of its own.
 *
 *   source k:  its rows fall into two parts by position: `labelled` of them, S_l, and the others, S_u
 *              theta_k = private logistic regression on S_l          (hypothesis=output or plr)
 *              beta_k  = private density ratio of S_u and P           (dpiw.c)
 *              answers both, once
 *   target:    s_k = importance weights of P under beta_k, t the same under its own rows, without noise
 *              w = argmin over the simplex of KL(t, sum_k w_k s_k)    (4.1; transfer.h has the certificate)
 *              mu_j = sum_k w_k theta_kj,  v_j = K/(K-1) sum_k w_k (theta_kj - mu_j)^2    (4.2)
 *              theta = MAP of a logistic regression under N(mu_j, v_j) on its labelled rows
 *
 * Proof note. Adjacency: one row of one source is replaced, its number n stays. The parts are cut by
 * position, so the row is in one of them: with labelled < 1 only theta_k or only beta_k moves, each (epsilon,
 * delta)-private on its own, and both together cost (epsilon, delta) once (parallel composition). With
 * labelled = 1 both see all rows and cost the sum. theta_k by output perturbation has S = min(2/(n_l lambda),
 * 2 w_max) + 2g/lambda (output.c), by objective perturbation the proof of privacy/mechanism/erm.h. What the
 * target does is post-processing towards the sources; the target's own rows are not protected from whoever
 * sees its model.
 *
 * The prior that knows the noise (prior=aware; ours). theta_k carries noise of a known variance q_k in each
 * coordinate, so mu_j carries r = sum_k w_k^2 q_k and the spread of the theta_kj is too large by e = K/(K-1)
 * sum_k w_k (1 - w_k) q_k. Of |mu|^2 about d r is noise, which leaves the share c = max(0, 1 - d r/|mu|^2)
 * (as in James and Stein's estimator). With T = 1/(n lambda), the variance in the prior of WEAK, the target
 * mixes both priors by c:
 *     N(c mu_j,  min(T, c max(v_j - e, floor) + (1 - c) T)).
 * Without noise that is (4.2) except for the bound T, which keeps the chance part of v_j from making the
 * prior flat; as noise grows it becomes the prior of WEAK, so that noisy sources cannot mislead.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/transfer/transfer.h"
#include "num/special.h"

static const dphtl_settings *settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(dphtl_settings, plan);
}

static bool objective(const tacit_plan *plan) { return settings_of(plan)->hypothesis == DPHTL_BY_OBJECTIVE; }

/* Rows of S_l among n; at least one. All of them where both parts are the same. */
static size_t labelled_rows(const tacit_plan *plan, size_t rows) {
    double part = settings_of(plan)->labelled;
    size_t count = (size_t)(part * (double)rows + 1e-9);
    if (part < 1 && count >= rows) count = rows - 1;
    return count > 0 ? count : 1;
}

static size_t unlabelled_rows(const tacit_plan *plan, size_t rows) {
    bool shared = settings_of(plan)->labelled >= 1;
    return shared ? rows : rows - labelled_rows(plan, rows);
}

static double largest_weights(const tacit_plan *plan) {
    double pull = tacit_lambert_w(1 / M_E) * (1 + 1e-12);
    return fmin(1 / plan->lambda, sqrt(pull / plan->lambda)) * (1 + 1e-12);
}

/* g of output perturbation: public, and reached on every input. */
static double tolerance(const tacit_plan *plan) {
    return tacit_fit_tolerance(transfer_size(plan), 2, 0.25, 1, 0, largest_weights(plan));
}

/* Of one of the two releases. */
static tacit_price one_price(const tacit_plan *plan) {
    return (tacit_price){ TACIT_UNIT_RECORD, plan->epsilon, transfer_gaussian(plan) ? plan->delta : 0 };
}

static tacit_price whole_price(const tacit_plan *plan) {
    tacit_price price = one_price(plan);
    double times = settings_of(plan)->labelled < 1 ? 1 : 2;
    return (tacit_price){ price.unit, times * price.epsilon, times * price.delta };
}

static tacit_law law_of(const tacit_plan *plan) {
    return transfer_gaussian(plan) ? TACIT_LAW_GAUSSIAN : TACIT_LAW_GAMMA_NORM;
}

static tacit_mechanism output_mechanism(const tacit_plan *plan, size_t rows) {
    double sensitivity = tacit_output_sensitivity(rows, plan->lambda, 1, largest_weights(plan),
                                                  tolerance(plan), transfer_calibration(plan));
    return (tacit_mechanism){ law_of(plan), sensitivity, one_price(plan) };
}

static tacit_erm erm_of(const tacit_plan *plan, size_t rows) {
    return (tacit_erm){ .rows = rows,
                        .dimension = transfer_size(plan),
                        .lambda = plan->lambda,
                        .curvature = 0.25,
                        .radius = 1,
                        .epsilon = plan->epsilon,
                        .delta = plan->delta,
                        .calibration = transfer_calibration(plan) };
}

/* Room for a hypothesis and its noise, from public numbers; `rows` are the fewest of S_l. */
static tacit_status hypothesis_grid(const tacit_plan *plan, size_t rows, tacit_sum_spec *out,
                                    tacit_error *error) {
    double most = largest_weights(plan) + tolerance(plan) / plan->lambda, noise = 0;
    if (isfinite(plan->epsilon) && objective(plan)) {
        tacit_erm erm = erm_of(plan, rows);
        TACIT_TRY(tacit_objective_largest(&most, &erm, law_of(plan), error));
    } else if (isfinite(plan->epsilon)) {
        tacit_mechanism used = output_mechanism(plan, rows);
        TACIT_TRY(tacit_mechanism_reach(&noise, &used, transfer_size(plan), error));
    }
    return tacit_sum_spec_for(out, transfer_size(plan), 2 * (most + noise), 1, error);
}

typedef struct grids {
    tacit_sum_spec hypothesis, density;
} grids;

static tacit_status prepare(const tacit_plan *plan, void *prepared, tacit_error *error) {
    grids *out = prepared;
    TACIT_TRY(hypothesis_grid(plan, labelled_rows(plan, plan->minimum_rows), &out->hypothesis, error));
    return dpiw_grid(plan, unlabelled_rows(plan, plan->minimum_rows), 1, &out->density, error);
}

static tacit_status price(const tacit_plan *plan, tacit_prices *out, tacit_error *error) {
    (void)error;
    out->charged = out->claimed = whole_price(plan);
    return TACIT_OK;
}

static const char *undeployable_as(const tacit_plan *plan) {
    return settings_of(plan)->model == DPHTL_SOURCES
               ? "model=sources makes a model of each source, and a study has one"
               : NULL;
}

static tacit_release_kind release_kind(const tacit_plan *plan) {
    (void)plan;
    return TACIT_RELEASE_CHARGED;
}

/* q_k: the variance of the noise in each coordinate of a hypothesis of `rows` rows; for an objective's an
 * upper bound, that of b/(n (lambda + Delta)). */
static tacit_status noise_variance(const tacit_plan *plan, size_t rows, double *out, tacit_error *error) {
    double scale = 0, d = (double)transfer_size(plan);
    *out = 0;
    if (isinf(plan->epsilon)) return TACIT_OK;
    if (objective(plan)) {
        tacit_objective_noise noise;
        tacit_erm erm = erm_of(plan, rows);
        TACIT_TRY(tacit_objective_noise_for(&noise, &erm, law_of(plan), error));
        scale = noise.scale / ((double)rows * noise.lambda);
    } else {
        tacit_mechanism used = output_mechanism(plan, rows);
        TACIT_TRY(tacit_mechanism_scale(&scale, &used, error));
    }
    *out = scale * scale * (transfer_gaussian(plan) ? 1 : d + 1);
    return TACIT_OK;
}

static tacit_status noise_law(const tacit_plan *plan, tacit_noise_law *out, tacit_error *error) {
    size_t rows = labelled_rows(plan, plan->minimum_rows);
    double variance, d = (double)transfer_size(plan);
    TACIT_TRY(noise_variance(plan, rows, &variance, error));
    *out = (tacit_noise_law){
        .law = transfer_gaussian(plan) ? "Gaussian N(0, s^2)" : "gamma-norm G(d, s)",
        .added_to = objective(plan) ? "n times the gradient of each source's objective"
                                    : "each source's hypothesis (its importance weights: see dpiw)",
        .dimension = transfer_size(plan),
        .sensitivity = objective(plan) ? 2 : output_mechanism(plan, rows).sensitivity,
        .scale = sqrt(variance / (transfer_gaussian(plan) ? 1 : d + 1)),
        .mean_norm = sqrt(d * variance),
        .norm_in = "one hypothesis",
        .in_objective = objective(plan),
    };
    return TACIT_OK;
}

/* ---- the source's half ---- */

/* b/n of objective perturbation. */
static tacit_status draw_linear_term(const tacit_party *party, const tacit_objective_noise *noise,
                                     size_t rows, double *out, size_t count, tacit_error *error) {
    tacit_noised *drawn = NULL;
    memset(out, 0, count * sizeof *out);
    TACIT_TRY(tacit_mechanism_release_at(&drawn, &party->noise, &noise->law, noise->scale, out, count,
                                         noise->grid_bits, noise->bound, error));
    for (size_t j = 0; j < count; j++)
        out[j] = ldexp((double)tacit_noised_steps(drawn)[j], -noise->grid_bits) / (double)rows;
    tacit_noised_free(drawn);
    return TACIT_OK;
}

static tacit_status release_hypothesis(tacit_noised **out, tacit_party *party, const tacit_projection *space,
                                       const tacit_view *part, const tacit_sum_spec *grid,
                                       tacit_error *error) {
    const tacit_plan *plan = party->plan;
    size_t rows = part->rows.count;
    bool tilted = objective(plan) && isfinite(plan->epsilon);
    transfer_rows seen = TRANSFER_ROWS_INIT;
    int32_t *label = transfer_labels(part, rows);
    double *theta = TACIT_NEW(double, 2 * grid->length), *linear = theta + grid->length;
    tacit_mechanism used = output_mechanism(plan, rows);
    tacit_objective_noise noise = { .lambda = plan->lambda, .tolerance = tolerance(plan) };
    tacit_glm_settings settings = tacit_glm_defaults();
    tacit_glm_fit fit;
    tacit_status status = TACIT_OK;
    if (label == NULL || theta == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(transfer_stack(&seen, space, &part->rows, NULL, error));
    if (tilted) {
        tacit_erm erm = erm_of(plan, rows);
        TACIT_CHECK(tacit_objective_noise_for(&noise, &erm, law_of(plan), error));
        TACIT_CHECK(draw_linear_term(party, &noise, rows, linear, grid->length, error));
        used = noise.last;
    }
    tacit_glm_problem problem = { .loss = &tacit_family_logistic.loss,
                                  .x = seen.rows,
                                  .label = label,
                                  .classes = 2,
                                  .lambda = noise.lambda,
                                  .linear = tilted ? linear : NULL };
    settings.gradient_tolerance = noise.tolerance;
    settings.best_effort = true;
    settings.pool = party->pool;
    TACIT_CHECK(tacit_glm_solve(&problem, &settings, theta, &fit, error));
    TACIT_CHECK(tacit_mechanism_release(out, &party->noise, &used, theta, grid->length, grid->grid_bits,
                                        grid->bound, error));
cleanup:
    transfer_rows_clear(&seen);
    free(label);
    free(theta);
    return status;
}

/* Both releases must be worth the same: the answer is as good as the worse of them. */
static tacit_noise worse(const tacit_noised *one, const tacit_noised *two) {
    tacit_noise a = tacit_noised_grade(one), b = tacit_noised_grade(two);
    if (a == b) return a;
    return a == TACIT_NOISE_NONE || b == TACIT_NOISE_NONE ? TACIT_NOISE_NONE : TACIT_NOISE_SIMULATED;
}

static tacit_status answer_hypothesis(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                      tacit_error *error) {
    const tacit_plan *plan = party->plan;
    size_t n = party->total_rows, first = labelled_rows(plan, n);
    size_t others = unlabelled_rows(plan, n);
    tacit_projection space = TACIT_PROJECTION_INIT;
    grids on;
    tacit_noised *theta = NULL, *beta = NULL;
    tacit_view labelled = tacit_view_slice(&party->rows, 0, first);
    tacit_view unlabelled = tacit_view_slice(&party->rows, n - others, others);
    double variance = 0;
    tacit_status status = TACIT_OK;
    (void)question;
    if (party->reducer != NULL)
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED, "method dphtl needs all rows of a source on one host"));
    TACIT_CHECK(transfer_space(&space, plan, error));
    TACIT_CHECK(tacit_party_prepared(party, &on, error));
    TACIT_CHECK(noise_variance(plan, first, &variance, error));
    TACIT_CHECK(release_hypothesis(&theta, party, &space, &labelled, &on.hypothesis, error));
    TACIT_CHECK(dpiw_release(&beta, party, &space, &unlabelled.rows, &on.density, error));
    reply->kind = TACIT_RELEASE_CHARGED;
    reply->noise = worse(theta, beta);
    reply->price = whole_price(plan);
    TACIT_CHECK(tacit_message_add_integers(&reply->message, "hypothesis", tacit_noised_steps(theta),
                                           on.hypothesis.length, error));
    TACIT_CHECK(tacit_message_add_integers(&reply->message, "density", tacit_noised_steps(beta),
                                           on.density.length, error));
    TACIT_CHECK(tacit_message_add_numbers(&reply->message, "variance", &variance, 1, error));
cleanup:
    tacit_noised_free(theta);
    tacit_noised_free(beta);
    tacit_projection_clear(&space);
    return status;
}

/* ---- the target's half ---- */

typedef struct target {
    tacit_session *session;
    const tacit_plan *plan;
    tacit_projection space;
    transfer_rows points, own; /* in the space */
    int32_t *label;            /* of own rows */
    size_t labelled;           /* the first of them */
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

static tacit_status target_create(target *self, tacit_session *session, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    *self = (target){ .session = session, .plan = plan, .size = transfer_size(plan) };
    /* The hypotheses as they are: nothing of a target's is needed. */
    if (settings_of(plan)->model == DPHTL_SOURCES) return see_points(self, error);
    if (session->own == NULL || session->own->rows.count == 0 || session->own->label == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "method dphtl learns for a target, which runs the coordinator on rows of its own: "
                          "name their file with the option 'target'");
    size_t rows = session->own->rows.count;
    self->labelled = (size_t)(settings_of(plan)->target_labels * (double)rows + 0.5);
    if (self->labelled < 1) self->labelled = 1;
    TACIT_TRY(see_points(self, error));
    TACIT_TRY(transfer_stack(&self->own, &self->space, &session->own->rows, NULL, error));
    self->label = transfer_labels(session->own, rows);
    self->mean = TACIT_NEW(double, self->size);
    self->each = TACIT_NEW(double, self->size);
    if (self->label == NULL || self->mean == NULL || self->each == NULL) return tacit_fail_memory(error);
    return TACIT_OK;
}

/* What an answer says. */
static tacit_status take_apart(const tacit_message *message, size_t size, const int64_t **theta,
                               const int64_t **beta, const double **variance, tacit_error *error) {
    TACIT_TRY(tacit_message_integers(message, "hypothesis", size, theta, error));
    TACIT_TRY(tacit_message_integers(message, "density", size, beta, error));
    TACIT_TRY(tacit_message_numbers(message, "variance", 1, variance, error));
    return **variance >= 0 ? TACIT_OK : tacit_fail(error, TACIT_PROTOCOL, "a source's noise has no variance");
}

static tacit_status usable(const tacit_plan *plan, const tacit_message *answer, tacit_error *error) {
    const int64_t *theta, *beta;
    const double *variance;
    grids on;
    TACIT_TRY(take_apart(answer, transfer_size(plan), &theta, &beta, &variance, error));
    TACIT_TRY(prepare(plan, &on, error));
    TACIT_TRY(tacit_sum_check(&on.hypothesis, theta, error));
    return tacit_sum_check(&on.density, beta, error);
}

/* One source's answer: numbers on the grids, importance weights from them. */
static tacit_status read_answer(target *self, const tacit_message *message, const grids *on,
                                tacit_error *error) {
    size_t k = self->sources, points = self->points.rows.count;
    const int64_t *theta, *beta;
    const double *variance;
    TACIT_TRY(take_apart(message, self->size, &theta, &beta, &variance, error));
    double *numbers = TACIT_NEW(double, 2 * self->size + points);
    if (numbers == NULL) return tacit_fail_memory(error);
    self->theta[k] = numbers;
    self->variance[k] = *variance;
    self->sources++;
    double *density = numbers + self->size + points;
    for (size_t j = 0; j < self->size; j++) {
        numbers[j] = tacit_sum_value(&on->hypothesis, theta[j]);
        density[j] = tacit_sum_value(&on->density, beta[j]);
    }
    transfer_importance(&self->points.rows, density, numbers + self->size);
    return TACIT_OK;
}

static tacit_status ask_sources(target *self, tacit_error *error) {
    const tacit_plan *plan = self->plan;
    grids on;
    tacit_answers answers = TACIT_ANSWERS_INIT;
    tacit_status status;
    TACIT_CHECK(prepare(plan, &on, error));
    TACIT_CHECK(tacit_ask(self->session, "hypothesis", NULL, &answers, error));
    self->theta = TACIT_NEW(double *, answers.count);
    self->variance = TACIT_NEW(double, answers.count);
    self->weights = TACIT_NEW(double, answers.count);
    if (self->theta == NULL || self->variance == NULL || self->weights == NULL)
        TACIT_CHECK(tacit_fail_memory(error));
    for (size_t k = 0; k < answers.count; k++)
        TACIT_CHECK(read_answer(self, &answers.answer[k].message, &on, error));
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

/* Step 5: (4.2), or the prior that knows the noise. */
static void make_prior(target *self) {
    double K = (double)self->sources, correction = K > 1 ? K / (K - 1) : 1, n = (double)self->labelled;
    double lowest = settings_of(self->plan)->floor, T = 1 / (n * self->plan->lambda), r = 0, e = 0;
    bool aware = settings_of(self->plan)->prior == DPHTL_PRIOR_AWARE;
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
    TACIT_CHECK(
        transfer_map(theta, &some, self->label, NULL, self->mean, self->each, self->session->pool, error));
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
    const dphtl_model model = settings_of(self->plan)->model;
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
    return fit_target(self, model == DPHTL_TARGET ? self->own.rows.count : self->labelled, out, error);
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    target self;
    const dphtl_model model = settings_of(session->plan)->model;
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

static const tacit_handler_entry handlers[] = {
    { .question = "hypothesis", .answer = answer_hypothesis, .usable = usable }, { .question = NULL }
};

const tacit_method tacit_method_dphtl = {
    .name = "dphtl",
    .title = "transfer: private hypotheses of the sources as a prior for a target with few labels",
    .reference = "Wang 2018, Algorithm 4",
    .version = 1,
    .units = "record",
    .needs_points = true,
    .needs_target = true,
    TACIT_SETTINGS_OF(dphtl_parameters, dphtl_defaults),
    .leaves = "once: weights of a model of [labelled!=1: some of ]the source's rows, and of one that tells "
              "[labelled!=1: its other rows][labelled=1: them] from the public points, with noise inside",
    .seen_by = "the target, which runs the coordinator, sees each source's weights and may show them to "
               "anybody. The target's own rows stay with it",
    .guarantee = "[law=pure: epsilon-differential privacy (delta = 0)][law=gaussian: (epsilon, "
                 "delta)-differential privacy], at the price charged, for replacing one row of a source, "
                 "towards everybody, the target included. Nothing is promised for the target's own rows",
    .assumption = "rows lie in the unit ball (the schema's encoding ensures it); the points are public; the "
                  "number of a source's rows is no secret",
    .theorem = "a row is used by [labelled!=1: one of two releases (parallel composition)][labelled=1: both "
               "of two releases]: a hypothesis by output or objective perturbation (see output and plr, "
               "without Huber's loss), or importance weights (see dpiw). The rest is post-processing",
    .claim = "the same epsilon, with weights of sensitivity sqrt(d)/(n lambda_iw) and an exact solver",
    .caveats = "[law=pure: in the full vocabulary of texts pure noise drowns every hypothesis below epsilon "
               "= 5: use project=public:P, or a delta above 0. ]The target's model reveals the target's rows",
    .prepare = prepare,
    .prepared_size = sizeof(grids),
    .check = transfer_check,
    .undeployable_as = undeployable_as,
    .price = price,
    .noise = noise_law,
    .single = tacit_plan_always_single,
    .release_kind = release_kind,
    .coordinate = coordinate,
    .handlers = handlers,
};
