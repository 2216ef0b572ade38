/*
 * dpnewton: logistic, softmax, linear and Poisson regression by Newton steps under noise, the curvature
 * released once (ours, after the fixed Hessian bound of Boehning and Lindsay 1988 that PrivLogit uses).
 *
 *   rows x = (u, 1)/R, u as the schema encodes them;   v = min(1, 1/|x|);
 *                                                          mu = 1/AG(epsilon, delta; 1);   n rows, d columns
 *                                                                                          with the intercept
 *
 *   once:        A = sum v^2 x x^T + E                                              its share of mu^2; upper
 *                                                                                   triangle, off the
 *                                                                                   diagonal times sqrt(2)
 *   t = 1..T:    g = 2c (sum clip_c(mean(W x) - y)/2c (x) v x + b_t)          share growing from step to step
 *                W <- W - (C(W) + l I)^-1 (g + l W),   l = n lambda / sqrt(V)
 *   model:       the share-weighted mean of the last iterates, by the line from clipped scores to those that
 *                predict
 *
 * with V = mean v^2, read off A's intercept; eigenvalues e of A replaced by max(e, ..) + a part of op = s
 * sqrt(2 d), the size of E, s the noise of one number; H = A/sqrt(V) near sum v x x^T and, with op/10 added,
 * Q = A/(n V) near the rows' second moments. Mean, clip c, curvature C(W), which is made of H, Q and W alone,
 * and the line are the family's (dpnewton_family.c): logistic 1/2 and a number at most 1/4 times H. A step
 * changes scores by at most 2 in root mean square, and no root mean square score exceeds 10 (linear: 1 and
 * 1.5, of responses in [-1, 1]).
 *
 * Proof note. Adjacency: replace one row of one party (unit=record). The numbers of rows and of parties stay
 * as they are.
 *   moments: |v x| <= 1, and packed as above two rows' v^2 x x^T are at most sqrt(2) apart
 *   (num/noisy/noisy_moments.h). step: |clip_c(.)/2c| <= 1/2 for every row, in L2 over the classes, so
 *   |(clip_c(.)/2c) (x) v x| <= 1/2, whatever W is asked about, whatever the response and whatever the
 *   rounding of the score: the sum moves by at most 1. c is public: a constant, or the root of a count's cap.
 *   Computed and rounded: S = that + 2 (GRADIENT_ROUNDING + the grid's rounding). Question i adds N(0, (S_i
 *   sigma/sqrt(a_i))^2), a_i its share of the budget, sum a_i = 1, sigma = AG(epsilon, delta; 1): it is mu
 *   sqrt(a_i)-Gaussian-DP, and together, each asked in view of the answers before, they are mu-Gaussian-DP
 *   (Dong, Roth and Su 2022, corollary 3.3), which is (epsilon, delta). Which share a question has follows
 *   from its place in the study: the party counts rounds itself. unit=person: replace all rows of one person
 *   by those of another, however many either has; the number of persons stays. A person's sums over its rows
 *   are divided by person-rows and then shortened, the moments to Frobenius norm 1, the gradient to norm 1/2:
 *   what a row's are. So the sum of gradients moves by at most 1; a person's moments stay positive
 *   semidefinite, <A, B> >= 0, and two are at most sqrt(2) apart as above. The number that leaves is that of
 *   persons. In a ledger it counts per record, which it implies. All else, eigenvalues, steps, projections,
 *   lines, is post-processing, and every party may see every W. noise=shares: the noise of a sum is discrete
 *   Gaussian shares on its grid, and the m that nobody who looks knows are as private as a Gaussian of
 *   sigma/sqrt(a_i) (tacit_share_gaussian), except for 1e-87 of delta. With all n parties in it the sum has
 *   sqrt(n/m) times the noise needed. A, released once, is public: moments=reused makes another
 *   model of the same columns with it, asks nothing in round 0 and has a_i over the steps alone
 *   (dpnewton_moments.c). Every step is bounded whatever W is: nothing rests on whose moments they are.
 *   folds=K makes K models at once (dpnewton_folds.c, which has the proof of what differs); line=asked may
 *   ask for two numbers more (dpnewton_line.c), and missing_counts for as many as there are choices about
 *   missing values (dpnewton_missing.c).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/private/dpnewton.h"
#include "method/private/dpnewton_inference.h"
#include "num/noisy/noisy_moments.h"

static bool by_shares(const tacit_plan *plan) {
    return dpnewton_settings_of(plan)->noise == DPNEWTON_BY_SHARES;
}

static bool per_person(const tacit_plan *plan) {
    return dpnewton_settings_of(plan)->unit == DPNEWTON_PER_PERSON;
}

static bool reuses(const tacit_plan *plan) {
    return dpnewton_settings_of(plan)->moments == DPNEWTON_REUSED_MOMENTS;
}

static tacit_status prepare_plan(const tacit_plan *plan, void *prepared, tacit_error *error) {
    dpnewton_prepared *out = prepared;
    return dpnewton_infers(plan) ? dpnewton_inference_describe(plan, &out->inference, error)
                                 : dpnewton_describe(plan, &out->prediction, error);
}

static tacit_status check(const tacit_plan *plan, tacit_error *error) {
    if (dpnewton_infers(plan) && reuses(plan))
        return tacit_fail(error, TACIT_USAGE,
                          "moments=reused is for purpose=prediction: inference weighs rows otherwise");
    TACIT_TRY(dpnewton_check_folds(plan, error));
    if (dpnewton_infers(plan)) return dpnewton_inference_check(plan, error);
    return reuses(plan) && plan->model != NULL ? dpnewton_check_moments(plan, error) : TACIT_OK;
}

static tacit_status price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                          tacit_error *error) {
    dpnewton_prepared how;
    out->charged = out->claimed =
        (tacit_price){ TACIT_UNIT_RECORD, plan->epsilon, isfinite(plan->epsilon) ? plan->delta : 0 };
    if (dpnewton_infers(plan)) return dpnewton_whole_event(plan, &out->event, error);
    TACIT_TRY(tacit_prepared_take(prepared, plan, &how, error));
    out->event = how.prediction.all;
    return TACIT_OK;
}

static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error) {
    dpnewton_prepared how;
    TACIT_TRY(tacit_prepared_take(prepared, plan, &how, error));
    *out = dpnewton_infers(plan) ? dpnewton_inference_noise(plan, &how.inference)
                                 : dpnewton_noise_law(plan, &how.prediction);
    return TACIT_OK;
}

tacit_release_kind dpnewton_kind(const dpnewton_settings *settings) {
    if (settings->noise == DPNEWTON_BY_SHARES) return TACIT_RELEASE_SEALED;
    return settings->noise == DPNEWTON_BY_PARTY ? TACIT_RELEASE_CHARGED : TACIT_RELEASE_ENTRUSTED;
}

static tacit_release_kind release_kind(const tacit_plan *plan) {
    return dpnewton_kind(dpnewton_settings_of(plan));
}

/* ---- the party's half ---- */

static tacit_status design_of(tacit_party *party, dpnewton_design *out, tacit_error *error) {
    dpnewton_prepared how;
    if (dpnewton_infers(party->plan))
        return tacit_fail(error, TACIT_REFUSED, "a study for inference has no such question");
    TACIT_TRY(tacit_party_prepared(party, &how, error));
    *out = how.prediction;
    return TACIT_OK;
}

static tacit_status add_share(tacit_party *party, const dpnewton_release *release, const tacit_sum_spec *spec,
                              const double *values, tacit_reply *reply, tacit_error *error) {
    int64_t *steps = TACIT_NEW(int64_t, spec->length);
    if (steps == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_sum_quantise(spec, values, steps, error);
    if (status == TACIT_OK)
        status =
            tacit_share_add(&reply->noised, &party->noise, &release->shared, steps, spec->grid_bits, error);
    free(steps);
    return status;
}

tacit_status dpnewton_give(tacit_party *party, const dpnewton_release *release, const tacit_sum_spec *spec,
                           double **values, tacit_reply *reply, tacit_error *error) {
    const tacit_plan *plan = party->plan;
    bool silent = isinf(plan->epsilon);
    reply->kind = plan->method->release_kind(plan);
    reply->price = release->mechanism.price;
    reply->event = release->event;
    if (reply->kind == TACIT_RELEASE_SEALED) {
        reply->assumption = "secure summation: only the sum is seen, with enough shares of the noise in it";
        return add_share(party, release, spec, *values, reply, error);
    }
    if (reply->kind == TACIT_RELEASE_CHARGED)
        return silent ? tacit_mechanism_release(&reply->noised, &party->noise, &release->mechanism, *values,
                                                spec->length, spec->grid_bits, spec->bound, error)
                      : tacit_mechanism_release_at(&reply->noised, &party->noise, &release->mechanism,
                                                   release->scale, *values, spec->length, spec->grid_bits,
                                                   spec->bound, error);
    reply->noise = silent ? TACIT_NOISE_NONE : tacit_noise_source_grade(&party->noise);
    reply->contribution = *values;
    *values = NULL;
    return TACIT_OK;
}

/* Which step a question is by its place in the study: 0 is for the moments, where they are asked for. */
static size_t step_of(const tacit_question *question, const dpnewton_design *design) {
    return (size_t)question->round + design->reuses;
}

/* Whether this is the question that the study has in this place, from step `first` to `last`. */
static tacit_status check_place(const tacit_question *question, const dpnewton_design *design,
                                const tacit_sum_spec *spec, size_t first, size_t last, tacit_error *error) {
    size_t step = step_of(question, design);
    TACIT_TRY(gradient_check_sum(question, spec, error));
    if (step >= first && step <= last) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED, "round %llu of this study is not one for %s",
                      (unsigned long long)question->round, question->name);
}

static tacit_status answer_moments(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                   tacit_error *error) {
    dpnewton_design design;
    double *values = NULL;
    tacit_status status;
    TACIT_CHECK(design_of(party, &design, error));
    TACIT_CHECK(check_place(question, &design, &design.moments, 0, 0, error));
    values = TACIT_NEW(double, design.moments.length);
    if (values == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(dpnewton_sum_moments(party, &design, values, error));
    TACIT_CHECK(dpnewton_give(party, &design.release[0], &design.moments, &values, reply, error));
cleanup:
    free(values);
    return status;
}

/* A sum that depends on weights, in its place; `sum` computes it. */
static tacit_status answer_at(tacit_party *party, const tacit_question *question,
                              const dpnewton_design *design, size_t numbers, const tacit_sum_spec *spec,
                              const dpnewton_release *release,
                              tacit_status (*sum)(tacit_party *, const dpnewton_design *, const double *,
                                                  double *, tacit_error *),
                              tacit_reply *reply, tacit_error *error) {
    const double *weights;
    TACIT_TRY(tacit_message_numbers(question->message, "weights", numbers, &weights, error));
    double *values = TACIT_NEW(double, spec->length);
    if (values == NULL) return tacit_fail_memory(error);
    tacit_status status = sum(party, design, weights, values, error);
    if (status == TACIT_OK) status = dpnewton_give(party, release, spec, &values, reply, error);
    free(values);
    return status;
}

static tacit_status answer_gradient(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                    tacit_error *error) {
    dpnewton_design design;
    TACIT_TRY(design_of(party, &design, error));
    TACIT_TRY(check_place(question, &design, &design.gradient, 1, design.rounds, error));
    size_t step = step_of(question, &design);
    TACIT_TRY(answer_at(
        party, question, &design, design.gradient.length, &design.gradient, &design.release[step],
        design.folds.count > 0 ? dpnewton_sum_fold_gradients : dpnewton_sum_gradient, reply, error));
    if (step == design.rounds) tacit_party_unpack(party);
    return TACIT_OK;
}

static tacit_status answer_held_out(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                    tacit_error *error) {
    dpnewton_design design;
    TACIT_TRY(design_of(party, &design, error));
    if (design.folds.count == 0) return tacit_fail(error, TACIT_REFUSED, "the study holds no rows out");
    const size_t last = design.rounds + 1;
    TACIT_TRY(check_place(question, &design, &design.counts, last, last, error));
    return answer_at(party, question, &design, design.gradient.length, &design.counts, &design.held_out,
                     dpnewton_count_held_out, reply, error);
}

static tacit_status answer_line(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                tacit_error *error) {
    dpnewton_design design;
    TACIT_TRY(design_of(party, &design, error));
    if (!design.asks_line)
        return tacit_fail(error, TACIT_REFUSED, "the study has no question about its line");
    const size_t last = design.rounds + 1;
    TACIT_TRY(check_place(question, &design, &design.line, last, last, error));
    return answer_at(party, question, &design, design.gradient.length + 2, &design.line,
                     &design.release[last], dpnewton_sum_line, reply, error);
}

static tacit_status answer_missing(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                   tacit_error *error) {
    dpnewton_prepared how;
    TACIT_TRY(tacit_party_prepared(party, &how, error));
    return dpnewton_give_missing(
        party, question, dpnewton_infers(party->plan) ? &how.inference.missing : &how.prediction.missing,
        reply, error);
}

/* ---- the coordinator's half ---- */

static void clear(dpnewton_state *state) {
    free(state->curvature);
    free(state->law);
    free(state->likely);
    free(state->spare);
    free(state->weights);
    free(state->mean);
    free(state->step);
    free(state->room);
    tacit_followed_noise_clear(&state->noise);
    tacit_released_moments_free(state->released);
}

static tacit_status prepare(dpnewton_state *state, const dpnewton_design *design, tacit_error *error) {
    size_t d = design->width, size = d * design->scores;
    state->curvature = TACIT_NEW(double, d *d);
    state->law = TACIT_NEW(double, d *d);
    state->likely = TACIT_NEW(double, d *d);
    state->room = TACIT_NEW(double, d *(d + 2));
    state->spare = TACIT_NEW(double, d *(d + 2));
    state->weights = TACIT_NEW(double, size);
    state->mean = TACIT_NEW(double, size);
    state->step = TACIT_NEW(double, size);
    bool all = state->curvature != NULL && state->law != NULL && state->likely != NULL &&
               state->room != NULL && state->spare != NULL && state->weights != NULL && state->mean != NULL &&
               state->step != NULL;
    if (!all) return tacit_fail_memory(error);
    return design->family->watch != NULL ? tacit_followed_noise_create(&state->noise, d, error) : TACIT_OK;
}

tacit_status dpnewton_ask(tacit_session *session, const char *question, const tacit_message *message,
                          const tacit_sum_spec *spec, const dpnewton_release *release, size_t count,
                          tacit_sum *sum, tacit_error *error) {
    TACIT_TRY(tacit_ask_sum(session, question, message, spec, sum, error));
    if (session->plan->method->release_kind(session->plan) == TACIT_RELEASE_ENTRUSTED)
        return tacit_session_publish(session, &release->mechanism, sum->values, count,
                                     spec->bound * (double)session->plan->parties, sum->values, error);
    tacit_session_notify(session, sum->values, count);
    return TACIT_OK;
}

/* The factor that holds the root mean square score of `w` within `most`. */
static double held_within(const dpnewton_design *design, const dpnewton_state *state, const double *w,
                          double most) {
    double square = 0;
    for (size_t k = 0; k < design->scores; k++)
        square +=
            tacit_moments_product(state->law, w + k * design->width, w + k * design->width, design->width);
    return square > most * most ? most / sqrt(square) : 1;
}

/* One Newton step, from the gradient in `state->step`. */
static tacit_status step(const dpnewton_design *design, size_t t, dpnewton_state *state, tacit_error *error) {
    const dpnewton_family *family = design->family;
    size_t size = design->scores * design->width;
    double *w = state->weights, *by = state->step, counts = dpnewton_tail(design, t);
    double noise = 2 * design->clip * dpnewton_units(design) * design->release[t].deviation;
    if (family->watch != NULL && counts > 0) family->watch(design, state, counts, noise);
    for (size_t j = 0; j < size; j++) by[j] += state->ridge * w[j];
    TACIT_TRY(family->direction(design, state, t == 1, error));
    double trusted = held_within(design, state, by, family->most_step);
    for (size_t j = 0; j < size; j++) w[j] -= trusted * by[j];
    double within = held_within(design, state, w, family->most_score);
    for (size_t j = 0; j < size; j++) state->mean[j] += counts * (w[j] *= within);
    state->counted += counts;
    if (family->watch != NULL)
        tacit_followed_noise_step(&state->noise, &(tacit_noisy_step){ .factor = state->factor,
                                                                      .damped = DPNEWTON_DAMPED,
                                                                      .ridge = state->ridge,
                                                                      .size = noise,
                                                                      .taken = trusted,
                                                                      .kept = within,
                                                                      .counts = counts });
    return TACIT_OK;
}

/* One step of every model. */
static tacit_status one_round(tacit_session *session, const dpnewton_design *design, size_t t,
                              dpnewton_state *state, double *weights, tacit_error *error) {
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    size_t size = design->scores * design->width, all = design->models * size;
    tacit_status status;
    for (size_t m = 0; m < design->models; m++)
        memcpy(weights + m * size, state[m].weights, size * sizeof *weights);
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", weights, all, error));
    TACIT_CHECK(dpnewton_ask(session, "gradient", &message, &design->gradient, &design->release[t], all, &sum,
                             error));
    state->parties = sum.parties;
    for (size_t m = 0; m < design->models; m++) {
        for (size_t j = 0; j < size; j++)
            state[m].step[j] = 2 * design->clip * dpnewton_units(design) * sum.values[m * size + j];
        TACIT_CHECK(step(design, t, &state[m], error));
    }
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}

/* The mean of the tail as a model predicts by it, in the weights of encoded rows. */
static tacit_status weights_of(const dpnewton_design *design, dpnewton_state *state, double *out,
                               tacit_error *error) {
    const dpnewton_scaling *by = &design->scaling;
    size_t d = design->width;
    double slope = 1, offset[DPNEWTON_MOST_CLASSES] = { 0 };
    TACIT_TRY(design->family->calibrate(design, state, &slope, offset, error));
    for (size_t k = 0; k < design->scores; k++) {
        const double *from = state->mean + k * d;
        double *to = out + k * d;
        for (size_t j = 0; j < d; j++) to[j] = slope * from[j] * by->feature;
        if (by->encoded > 0) to[d - 1] = slope * from[d - 1] * by->intercept + offset[k] / by->encoded;
    }
    return TACIT_OK;
}

/* The mean of all models. */
static tacit_status finish(tacit_session *session, const dpnewton_design *design, dpnewton_state *state,
                           double *weights, tacit_outcome *out, tacit_error *error) {
    size_t size = design->scores * design->width;
    tacit_model *model = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_model_create(&model, design->family->family, design->width, design->classes, error));
    for (size_t m = 0; m < design->models; m++) {
        for (size_t j = 0; j < size; j++) state[m].mean[j] /= state[m].counted;
        if (design->asks_line) TACIT_CHECK(dpnewton_ask_line(session, design, &state[m], error));
        TACIT_CHECK(weights_of(design, &state[m], weights + m * size, error));
        for (size_t j = 0; j < size; j++) model->weights[j] += weights[m * size + j] / (double)design->models;
        model->noise_share += state[m].noisy / (double)design->models;
    }
    model->moments = state->released;
    state->released = NULL;
    out->parties = state->parties;
    if (design->folds.count > 0) TACIT_CHECK(dpnewton_validate(session, design, weights, model, error));
    TACIT_CHECK(dpnewton_ask_missing(session, &design->missing, state->rows / design->part, model, error));
    return tacit_outcome_add(out, model, error);
cleanup:
    tacit_model_free(model);
    return status;
}

/* Every model begins with the moments of all rows, for its part of them. */
static tacit_status begin_models(tacit_session *session, const dpnewton_design *design, dpnewton_state *state,
                                 tacit_error *error) {
    size_t square = design->width * design->width;
    for (size_t m = 0; m < design->models; m++) TACIT_TRY(prepare(&state[m], design, error));
    TACIT_TRY(dpnewton_find_moments(session, design, state, error));
    for (size_t i = 0; i < square; i++) state->curvature[i] *= design->part;
    state->rows *= design->part;
    /* The plan's lambda is for the mean over the rows that are declared. */
    state->ridge = session->plan->lambda * design->part * dpnewton_rows(session->plan) / state->shortening;
    for (size_t m = 1; m < design->models; m++) {
        memcpy(state[m].curvature, state->curvature, square * sizeof *state->curvature);
        memcpy(state[m].law, state->law, square * sizeof *state->law);
        memcpy(state[m].likely, state->likely, square * sizeof *state->likely);
        state[m].rows = state->rows;
        state[m].shortening = state->shortening;
        state[m].ridge = state->ridge;
    }
    for (size_t m = 0; m < design->models; m++)
        if (design->family->start != NULL) design->family->start(design, &state[m]);
    return TACIT_OK;
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    dpnewton_state *state = NULL;
    double *weights = NULL;
    dpnewton_design design = { .models = 0 };
    dpnewton_prepared how;
    tacit_status status;
    if (dpnewton_infers(session->plan)) return dpnewton_inference_coordinate(session, out, error);
    TACIT_CHECK(tacit_session_prepared(session, &how, error));
    design = how.prediction;
    state = TACIT_NEW(dpnewton_state, design.models);
    weights = TACIT_NEW(double, design.gradient.length);
    if (state == NULL || weights == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(begin_models(session, &design, state, error));
    for (size_t t = 1; t <= design.rounds; t++) {
        tacit_progress_report(session->progress, "steps", t - 1, design.rounds);
        TACIT_CHECK(one_round(session, &design, t, state, weights, error));
    }
    TACIT_CHECK(finish(session, &design, state, weights, out, error));
cleanup:
    for (size_t m = 0; state != NULL && m < design.models; m++) clear(&state[m]);
    free(state);
    free(weights);
    return status;
}

static const tacit_handler_entry handlers[] = { { .question = "moments", .answer = answer_moments },
                                                { .question = "gradient", .answer = answer_gradient },
                                                { .question = "held-out", .answer = answer_held_out },
                                                { .question = "line", .answer = answer_line },
                                                { .question = "missing", .answer = answer_missing },
                                                DPNEWTON_INFERENCE_HANDLERS,
                                                { .question = NULL } };

/* The moments, if they are not those of an earlier study, the steps, held-out rows where there are folds, the
 * line, and missing values where they are counted. */
static uint64_t exchanges(const tacit_plan *plan) {
    dpnewton_design design;
    if (dpnewton_infers(plan) || dpnewton_describe(plan, &design, NULL) != TACIT_OK) return 0;
    return design.missing.round + (design.missing.counts.length > 0);
}

const tacit_method tacit_method_dpnewton = {
    .name = "dpnewton",
    .title = "regression on all parties' rows by Newton steps with noise",
    .reference = "after Boehning & Lindsay 1988; docs/methods/dpnewton.md",
    .version = 1,
    .units = "record|person",
    .spreads = true,
    .takes_numbers = true,
    .needs_delta = true,
    .most_columns = DPNEWTON_MOST_COLUMNS,
    .fits_alone_by_party = true,
    TACIT_SETTINGS_OF(dpnewton_parameters, dpnewton_defaults),
    .shares_noise = by_shares,
    .per_person = per_person,
    .counts_missing = dpnewton_counts_missing,
    .builds_on = reuses,
    .leaves =
        "[moments=new,unit=record: once, the second moments of the party's rows and the number of rows]"
        "[moments=new,unit=person: once, the second moments of the party's rows and the number of persons]"
        "[moments=new,purpose=prediction: ; then, in every round, the sum of its rows' clipped gradients at "
        "weights that all parties know][moments=reused: in every round, the sum of its rows' clipped "
        "gradients at weights that all parties know (no second moments: those that an earlier study "
        "released are used again)][purpose=inference: , for a response that is a number with the "
        "response beside the columns, and no more; then, in five rounds, the sum of its rows' gradients, "
        "each of bounded length, at weights that all parties know, and at last that sum with the second "
        "moments of the gradients and the curvature][folds!=0: , of the rows outside each fold at the "
        "weights of a model of its own; at last, how many of its rows have a score in each cell of a public "
        "grid, by class, from the model that has not seen "
        "them][purpose=prediction,unit=record,folds=0,line=asked: ; for two "
        "classes, where rows are few for so many columns, at last two sums of its rows' clipped residuals, "
        "plain and by the score]" MISSING_COUNTS_LEAVE "[noise=party: , each with the party's own "
        "noise added][noise=shares: , each with the party's share of the noise added], as contributions to "
        "sums",
    .seen_by =
        "[noise=coordinator,sees=sum: the coordinator sees the exact sums over all parties, and no single "
        "party's][noise=coordinator,sees=each: the coordinator sees each party's exact moments and "
        "gradients][noise=party,sees=sum: the coordinator sees the sums of all parties' noisy moments and "
        "gradients, and no single party's][noise=party,sees=each: the coordinator sees each party's noisy "
        "moments and gradients][noise=shares: the coordinator sees the sums over all parties, with the noise "
        "in them, and no single party's]. Everybody sees the weights after every step"
        "[purpose=prediction,moments=new: , and whoever has the model's file the second moments with their "
        "noise][folds!=0: , and the report on held-out rows, with the noise in it]" MISSING_COUNTS_SEEN,
    .guarantee = "(epsilon, delta)-differential privacy of all rounds together, for replacing [unit=record: "
                 "one row][unit=person: all rows of one person, however many,] of a party, towards everybody "
                 "who sees all steps[noise=party|shares: , the coordinator included][noise=coordinator: . "
                 "There is no such guarantee towards the coordinator, which sees exact values]",
    .assumption =
        "the number of a party's [unit=record: rows][unit=person: persons] is no secret (rows of any length "
        "are shortened to the unit ball)[unit=person: ; a person's rows are all at one party, and its column "
        "of persons tells them apart][noise=coordinator: ; the coordinator adds the noise, publishes only "
        "noisy results and keeps the exact values to itself][noise=shares: ; secure summation, and that no "
        "more parties vanish from a sum or collude than the study declares]",
    .theorem =
        "Gaussian noise on [moments=new: moments of L2 sensitivity sqrt(2)][moments=new,purpose=prediction: "
        ", and on T clipped gradients of sensitivity 1][moments=reused: T clipped gradients of L2 "
        "sensitivity 1 (the moments were released before, and what is made of them costs "
        "nothing)][purpose=inference: , or 2.32 with a response beside them, on five gradients of "
        "sensitivity 1 to 2 and on one with two matrices, together 1.2 to 2.3][folds!=0: , sqrt(K - 1) times "
        "that for K folds, since a row is in the sums of all models but one, and on counts of held-out "
        "scores of sensitivity sqrt(2) (sqrt(2 (J + 1)) with J > 2 classes, 4 for a "
        "number)][purpose=prediction,unit=record,folds=0,line=asked: , and, where they are asked for, on two "
        "sums of residuals of sensitivity 1]" MISSING_COUNTS_BOUND
        "[counts=missing|perhaps,unit=person:  times person-rows], each with its share of mu^2, mu the "
        "largest Gaussian-DP parameter that (epsilon, delta) allows (Balle and Wang 2018); shares add up to "
        "1, also when adaptive (Dong, Roth and Su 2022)[noise=shares: ; the noise in shares of discrete "
        "Gaussians on a grid so fine that their sum counts as one Gaussian]",
    .claim = "no paper's",
    .caveats =
        "at most 1,024 features and 64 classes[purpose=inference: , for inference two]; as many questions as "
        "rounds[moments=new:  and one more][folds!=0: , and one about held-out "
        "rows][purpose=prediction,unit=record,folds=0,line=asked: , and where rows are few "
        "for so many columns a last one]" MISSING_COUNTS_MORE
        ": every party must stay connected. [folds!=0: The model is the mean of those without a fold; each "
        "of them, which the figures are of, has more noise than it. ][purpose=prediction: Residuals are "
        "clipped: weights predict well, and are no odds ratios][purpose=inference: Coefficients are on the "
        "scale of the columns, and their standard errors include the noise; where there are too few rows for "
        "the price there are none, and the summary says how many rows or which epsilon would do. For a "
        "response that is a number they rest on errors of equal variance]",
    .prepare = prepare_plan,
    .prepared_size = sizeof(dpnewton_prepared),
    .check = check,
    .infers = dpnewton_infers,
    .price = price,
    .choose_lambda = dpnewton_lambda,
    .settle = dpnewton_settle,
    .lambda_rule = "the ridge of the steps over the declared rows",
    .noise = noise_law,
    .release_kind = release_kind,
    .exchanges = exchanges,
    .fewest = 1,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
