/*
 * dpnewton with purpose=inference: coefficients with standard errors that include the noise (ours; the
 * statistics are in num/noisy/noisy_inference.h).
 *
 *   rows x = (u, 1)/R, u as the schema encodes them, the first level of each category left out;
 *       v = min(1, 1/|x|^2)
 *   h = min(1, c/max(p, 1 - p)), p = sigma(w.x): |h (p - y)| <= c;
 *       mu = 1/AG(epsilon, delta; 1);   n rows, d columns with the intercept
 *
 *   logistic:  A = sum v x x^T                                                                          share
 *              .06 of mu^2
 *              five times  g = sum v h (p - y) x,   w <- w - (alpha A + l I)^-1 (g + l w)
 *                              .28 together, growing
 *              at the mean w of the last two  g, H = sum v h p (1 - p) x x^T, B = sum v^2 h^2 (p - y)^2 x x^T
 *                                                 .66, one question
 *              theta = w - H^-1 g, and its covariance from H, B and the noise
 *   linear:    M = sum v (x, tau y)(x, tau y)^T, tau = .8, y in [-1, 1]: one question, all of mu^2
 *
 * With t = nu/(nu + nu0), nu = n mu^2/d, all public: R^2 = (1 + G)(r + (1 - r) t^2), c = 1/2 + t/2. Where
 * noise is what matters rows count alike and none pulls harder than one half; where it is not this is maximum
 * likelihood. Either way the equation has mean 0 at the model's coefficients. Logistic: nu0 = 1500, r = 1/4.
 * Linear: nu0 = 8000, r = 2/(1 + G) from 1/4 to 1/2; what was agreed on before that (widths=former): 500 and
 * 1/4.
 *
 * Proof note. Adjacency: replace one row of one party (unit=record). a = sqrt(v) x has |a| <= 1, and v <= 1.
 *   A: two rows' a a^T, packed, are at most sqrt(2) apart. M: |sqrt(v) (x, tau y)|^2 <= 1 + tau^2, so sqrt(2)
 *   (1 + tau^2). g: |v h (p - y) x| <= c, so 2c, whatever w is asked about.
 *   Last question: (g, kH H, kB B), one vector. A row adds u with |u| <= c along its a, kH k a a^T with k
 *   |a|^2 <= 1/4 (h p (1 - p) = min(p, 1 - p) min(max(p, 1 - p), c) <= 1/4) and kB b a a^T with b |a|^2 <=
 *   c^2. Let r be the cosine between two rows' a, without sign. Then |g1 - g2|^2 <= 2 c^2 (1 + r), and m1 a1
 *   a1^T - m2 a2 a2^T has square m1^2 + m2^2 - 2 m1 m2 r^2, convex in each, so at most m^2 max(1, 2 - 2 r^2).
 *   With m = kH^2/16 + kB^2 c^4:   S^2 = max over r in [0, 1] of 2 c^2 (1 + r) + m max(1, 2 - 2 r^2)
 *     = max(4 c^2 + m, and 2 c^2 + 2 m + c^4/(2 m) where c^2/(2 m) < 1/sqrt(2)):
 *   rows that move g most leave H and B nearly as they are, so that both together cost less than each by
 *   itself. Computed and rounded: that + 2 (GRADIENT_ROUNDING + the grid's rounding). Noise, composition,
 *   shares of noise and their proof are those of dpnewton.c; so are counts of missing values, which come last
 *   and take their share off those above (dpnewton_missing.c); everything after is post-processing. A party
 *   counts the rounds itself, and answers each question in its place only.
 */
#include "method/private/dpnewton_inference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/encode.h"
#include "num/noisy/noisy_inference.h"
#include "num/noisy/noisy_moments.h"
#include "privacy/account/gaussian.h"

const double dpnewton_inference_tau = 0.8, dpnewton_inference_kappa[2] = { 2.5, 0.75 };

/* Of the budget, in thousandths: moments, steps, last question. */
static const double UNITS[DPNEWTON_INFERENCE_STEPS + 2] = { 60, 26, 36, 50, 70, 98, 660 };

static const double LEVEL = 0.95;

bool dpnewton_infers(const tacit_plan *plan) {
    return dpnewton_settings_of(plan)->purpose == DPNEWTON_FOR_INFERENCE;
}

static const tacit_family *family_of(const tacit_plan *plan) {
    return plan->classes == 0 ? &tacit_family_linear : &tacit_family_logistic;
}

/* ---- what follows from the plan ---- */

static bool is_narrow(const tacit_plan *plan, const dpnewton_inference *out) {
    return out->linear && dpnewton_settings_of(plan)->widths == DPNEWTON_NARROW_WIDTHS;
}

/* t of the head. */
static double calmness(const tacit_plan *plan, const dpnewton_inference *out) {
    double usual = !out->linear ? 1500 : is_narrow(plan, out) ? 8000 : 500;
    if (isinf(out->strength)) return 1;
    double each = dpnewton_rows(plan) * out->strength * out->strength / (double)out->width;
    return each / (each + usual);
}

static void set_scale(const tacit_plan *plan, dpnewton_inference *out) {
    const tacit_schema *schema = plan->schema;
    double t = calmness(plan, out);
    out->most = 0.5 + t / 2;
    out->feature = out->intercept = 1;
    if (schema == NULL) return;
    double reach = tacit_schema_reach(schema);
    double least = is_narrow(plan, out) ? fmax(0.25, fmin(0.5, 2 / (1 + reach))) : 0.25;
    double radius = sqrt((1 + reach) * (least + (1 - least) * t * t));
    out->encoded = tacit_schema_intercept_value(schema);
    out->intercept = 1 / (radius * out->encoded);
    out->feature = sqrt(reach) * out->intercept;
}

/* S of the last question. */
static double last_sensitivity(double c) {
    const double *kappa = dpnewton_inference_kappa;
    double square = c * c, m = kappa[0] * kappa[0] / 16 + kappa[1] * kappa[1] * square * square;
    double most = 4 * square + m;
    if (square / (2 * m) < M_SQRT1_2) most = fmax(most, 2 * square + 2 * m + square * square / (2 * m));
    return sqrt(most) * (1 + 1e-14);
}

/* A release of `length` numbers, each at most `largest` for a row. */
static tacit_status set_release(const tacit_plan *plan, dpnewton_release *release, tacit_sum_spec *spec,
                                size_t length, double largest, double sensitivity, tacit_error *error) {
    return dpnewton_set_release(plan, release, spec, length,
                                GRADIENT_MOST_ROWS * (largest + GRADIENT_ROUNDING), sensitivity, error);
}

/* In whole thousandths, what counts of missing values leave of the budget. */
static void set_shares_of_budget(const tacit_plan *plan, dpnewton_inference *out) {
    const double all = 1000, kept = all - dpnewton_missing_units(plan);
    double left = kept;
    const size_t last = out->linear ? 0 : out->steps + 1;
    for (size_t i = 0; i < last; i++) {
        const double units = round(UNITS[i] * kept / all);
        out->release[i].share = units / all;
        left -= units;
    }
    out->release[last].share = left / all;
}

static tacit_status set_linear(const tacit_plan *plan, dpnewton_inference *out, tacit_error *error) {
    double square = 1 + dpnewton_inference_tau * dpnewton_inference_tau;
    set_shares_of_budget(plan, out);
    return set_release(plan, &out->release[0], &out->moments, tacit_moments_length(out->width + 1) + 1,
                       M_SQRT2 * square, M_SQRT2 * square, error);
}

static tacit_status set_logistic(const tacit_plan *plan, dpnewton_inference *out, tacit_error *error) {
    size_t d = out->width, length = tacit_moments_length(d);
    out->steps = DPNEWTON_INFERENCE_STEPS;
    set_shares_of_budget(plan, out);
    TACIT_TRY(set_release(plan, &out->release[0], &out->moments, length + 1, M_SQRT2, M_SQRT2, error));
    /* The last first: all steps have the grid of the one with most noise. */
    for (size_t t = out->steps; t >= 1; t--)
        TACIT_TRY(set_release(plan, &out->release[t], &out->gradient, d, out->most, 2 * out->most, error));
    for (size_t t = 2; t <= out->steps; t++)
        TACIT_TRY(dpnewton_calibrate(plan, &out->release[t], &out->gradient, 2 * out->most, error));
    return set_release(plan, &out->release[out->steps + 1], &out->curvature, d + 2 * length, 2,
                       last_sensitivity(out->most), error);
}

tacit_status dpnewton_inference_describe(const tacit_plan *plan, dpnewton_inference *out,
                                         tacit_error *error) {
    tacit_design kept;
    *out = (dpnewton_inference){ .linear = plan->classes == 0 };
    TACIT_TRY(tacit_design_create(&kept, family_of(plan), plan->schema, plan->features, error));
    out->width = kept.width;
    out->middle = kept.middle;
    out->half = kept.half;
    tacit_design_clear(&kept);
    TACIT_TRY(dpnewton_strength(plan, &out->strength, error));
    set_scale(plan, out);
    TACIT_TRY(out->linear ? set_linear(plan, out, error) : set_logistic(plan, out, error));
    return dpnewton_set_missing(plan, &out->missing, out->linear ? 1 : out->steps + 2, error);
}

tacit_status dpnewton_inference_check(const tacit_plan *plan, tacit_error *error) {
    const tacit_schema *schema = plan->schema;
    if (plan->classes != 2 && plan->classes != 0)
        return tacit_fail(error, TACIT_USAGE,
                          "method dpnewton with purpose=inference is for two classes or a number; for more "
                          "classes make two of them (others: in the schema)");
    if (schema != NULL && schema->formula != NULL && !schema->intercept)
        return tacit_fail(
            error, TACIT_USAGE,
            "method dpnewton with purpose=inference needs an intercept: leave '- 1' or '0 +' out of "
            "the terms");
    if (plan->classes == 0 && (schema == NULL || schema->response != TACIT_RESPONSE_NUMBER))
        return tacit_fail(
            error, TACIT_USAGE,
            "method dpnewton with purpose=inference takes a label of kind number or of two classes");
    if (schema != NULL && (schema->rows != TACIT_ROWS_BOUND || !schema->intercept))
        return tacit_fail(error, TACIT_USAGE,
                          "coefficients per unit of a column need rows as they are: write rows: bound and "
                          "intercept: yes in the schema");
    if (dpnewton_settings_of(plan)->unit == DPNEWTON_PER_PERSON)
        return tacit_fail(
            error, TACIT_USAGE,
            "purpose=inference protects single rows: leave unit=person out, or keep one row a person");
    if (dpnewton_settings_of(plan)->rounds != 0)
        return tacit_fail(error, TACIT_USAGE,
                          "method dpnewton with purpose=inference has rounds of its own: leave 'rounds' out");
    return TACIT_OK;
}

tacit_noise_law dpnewton_inference_noise(const tacit_plan *plan, const dpnewton_inference *design) {
    bool by_party = dpnewton_settings_of(plan)->noise == DPNEWTON_BY_PARTY,
         shares = tacit_plan_shares_noise(plan);
    const dpnewton_release *last = &design->release[design->linear ? 0 : design->steps + 1];
    double rows = dpnewton_rows(plan), d = (double)design->width;
    return (tacit_noise_law){
        .law = shares
                   ? "discrete Gaussian in shares, together near N(0, s^2), in every question; s of the last"
                   : "Gaussian N(0, s^2), in every question; s of the last",
        .added_to = by_party ? "each party's sums" : "the sums over all parties",
        .dimension = design->linear ? tacit_moments_length(design->width + 1)
                                    : design->width + 2 * tacit_moments_length(design->width),
        .sensitivity = last->mechanism.sensitivity,
        .scale = shares ? last->deviation : last->scale,
        .mean_norm = sqrt(d) * last->deviation / (rows / (8 * d)),
    };
}

/* ---- the party's half ---- */

/* Whether this is the question that the study has in this place. */
static tacit_status check_place(const tacit_question *question, const dpnewton_inference *design,
                                dpnewton_inference_sum which, tacit_error *error) {
    const tacit_sum_spec *const specs[] = { &design->moments, &design->gradient, &design->curvature };
    uint64_t last = design->linear ? 0 : design->steps + 1;
    dpnewton_inference_sum here = question->round == 0     ? DPNEWTON_INFERENCE_MOMENTS
                                  : question->round < last ? DPNEWTON_INFERENCE_GRADIENT
                                                           : DPNEWTON_INFERENCE_CURVATURE;
    if (question->round > last || here != which)
        return tacit_fail(error, TACIT_REFUSED, "round %llu of this study is not one for %s",
                          (unsigned long long)question->round, question->name);
    return gradient_check_sum(question, specs[which], error);
}

static tacit_status answer(tacit_party *party, const tacit_question *question, dpnewton_inference_sum which,
                           tacit_reply *reply, tacit_error *error) {
    dpnewton_prepared how;
    const double *weights = NULL;
    double *values = NULL;
    tacit_status status;
    if (!dpnewton_infers(party->plan))
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED, "a study for prediction has no such question"));
    TACIT_CHECK(tacit_party_prepared(party, &how, error));
    const dpnewton_inference design = how.inference;
    TACIT_CHECK(check_place(question, &design, which, error));
    if (which != DPNEWTON_INFERENCE_MOMENTS)
        TACIT_CHECK(tacit_message_numbers(question->message, "weights", design.width, &weights, error));
    const tacit_sum_spec *const specs[] = { &design.moments, &design.gradient, &design.curvature };
    values = TACIT_NEW(double, specs[which]->length);
    if (values == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(dpnewton_inference_add_up(party, &design, which, weights, values, error));
    TACIT_CHECK(dpnewton_give(party, &design.release[question->round], specs[which], &values, reply, error));
cleanup:
    free(values);
    return status;
}

tacit_status dpnewton_inference_moments(tacit_party *party, const tacit_question *question,
                                        tacit_reply *reply, tacit_error *error) {
    return answer(party, question, DPNEWTON_INFERENCE_MOMENTS, reply, error);
}

tacit_status dpnewton_inference_gradient(tacit_party *party, const tacit_question *question,
                                         tacit_reply *reply, tacit_error *error) {
    return answer(party, question, DPNEWTON_INFERENCE_GRADIENT, reply, error);
}

tacit_status dpnewton_inference_curvature(tacit_party *party, const tacit_question *question,
                                          tacit_reply *reply, tacit_error *error) {
    return answer(party, question, DPNEWTON_INFERENCE_CURVATURE, reply, error);
}

/* ---- the coordinator's half ---- */

typedef struct inference_state {
    double rows;
    size_t parties;
    tacit_approach approach;
    tacit_noisy_estimate estimate;
} inference_state;

static tacit_status ask_moments(tacit_session *session, const dpnewton_inference *design,
                                inference_state *state, tacit_error *error) {
    const dpnewton_release *release = &design->release[0];
    double intercept = design->encoded * design->intercept, mu = design->strength;
    size_t d = design->width, length = design->moments.length - 1;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(
        dpnewton_ask(session, "inference-moments", &message, &design->moments, release, length, &sum, error));
    state->parties = sum.parties;
    /* Their number is no secret where a row is replaced; it may carry noise. */
    state->rows =
        fmax(sum.values[length], (double)sum.parties * fmax(1, (double)session->plan->minimum_rows));
    if (design->linear)
        TACIT_CHECK(tacit_noisy_linear(&state->estimate, sum.values, release->deviation,
                                       dpnewton_inference_tau, state->rows, intercept, d, error));
    else
        TACIT_CHECK(tacit_approach_begin(&state->approach, sum.values, release->deviation, state->rows,
                                         intercept, design->most, 0.2 / mu + 0.1, d, error));
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}

/* Round t, at w. */
static tacit_status ask_at(tacit_session *session, const dpnewton_inference *design, size_t t,
                           const inference_state *state, tacit_sum *sum, tacit_error *error) {
    bool last = t > design->steps;
    const tacit_sum_spec *spec = last ? &design->curvature : &design->gradient;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", state->approach.w, design->width, error));
    TACIT_CHECK(dpnewton_ask(session, last ? "inference-curvature" : "inference-gradient", &message, spec,
                             &design->release[t], spec->length, sum, error));
cleanup:
    tacit_message_clear(&message);
    return status;
}

static tacit_status approach(tacit_session *session, const dpnewton_inference *design, inference_state *state,
                             tacit_error *error) {
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status = TACIT_OK;
    for (size_t t = 1; t <= design->steps; t++) {
        tacit_progress_report(session->progress, "steps", t, design->steps + 2);
        TACIT_CHECK(ask_at(session, design, t, state, &sum, error));
        TACIT_CHECK(tacit_approach_step(&state->approach, sum.values,
                                        t + 2 > design->steps ? design->release[t].share : 0, error));
        tacit_sum_clear(&sum);
    }
    tacit_approach_end(&state->approach);
cleanup:
    tacit_sum_clear(&sum);
    return status;
}

static tacit_status estimate(tacit_session *session, const dpnewton_inference *design, inference_state *state,
                             tacit_error *error) {
    size_t d = design->width, length = tacit_moments_length(d), last = design->steps + 1;
    const double *kappa = dpnewton_inference_kappa;
    double deviation = design->release[last].deviation;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(ask_at(session, design, last, state, &sum, error));
    state->parties = sum.parties;
    for (size_t j = 0; j < length; j++) {
        sum.values[d + j] /= kappa[0];
        sum.values[d + length + j] /= kappa[1];
    }
    tacit_noisy_curvature released = { .w = state->approach.w,
                                       .gradient = sum.values,
                                       .curvature = sum.values + d,
                                       .middle = sum.values + d + length,
                                       .gradient_deviation = deviation,
                                       .curvature_deviation = deviation / kappa[0] };
    TACIT_CHECK(tacit_noisy_logistic(&state->estimate, &released, d, error));
cleanup:
    tacit_sum_clear(&sum);
    return status;
}

/* From x to encoded rows: w and both covariances. */
static void rescale(const dpnewton_inference *design, const tacit_design *kept,
                    tacit_noisy_estimate *estimate) {
    size_t d = design->width;
    for (size_t i = 0; i < d; i++) {
        double by = i == kept->intercept ? design->intercept : design->feature;
        estimate->theta[i] *= by;
        for (size_t j = 0; j < d; j++) {
            estimate->covariance[i * d + j] *= by;
            estimate->covariance[j * d + i] *= by;
            estimate->sampling[i * d + j] *= by;
            estimate->sampling[j * d + i] *= by;
        }
    }
}

/* By the gate: the eigenvalue grows with the rows, its noise falls with mu. A fifth more, and of an
 * eigenvalue lost in noise not too much is believed. */
static tacit_status say_what_is_needed(const tacit_plan *plan, const inference_state *state,
                                       tacit_optimum *out, tacit_error *error) {
    const tacit_noisy_estimate *estimate = &state->estimate;
    double factor = 1.2 * tacit_noisy_gate * estimate->size / fmax(estimate->smallest, estimate->size / 8);
    double sigma = 0;
    if (estimate->estimable) return TACIT_OK;
    out->weakest = estimate->weakest;
    out->needs_rows = tacit_round_up(state->rows * factor);
    out->needs_epsilon = INFINITY;
    if (isinf(plan->epsilon)) return TACIT_OK;
    TACIT_TRY(tacit_gaussian_sigma(&sigma, plan->epsilon, plan->delta, 1, error));
    TACIT_TRY(tacit_gaussian_epsilon(&out->needs_epsilon, sigma / factor, plan->delta, error));
    out->needs_epsilon = tacit_round_up(out->needs_epsilon);
    return TACIT_OK;
}

static tacit_status make_model(tacit_session *session, const dpnewton_inference *design,
                               inference_state *state, tacit_model **out, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    tacit_design kept;
    tacit_model *model = NULL;
    tacit_status status;
    TACIT_TRY(tacit_design_create(&kept, family_of(plan), plan->schema, plan->features, error));
    rescale(design, &kept, &state->estimate);
    tacit_optimum optimum = { .family = family_of(plan),
                              .rows = state->rows,
                              .level = LEVEL,
                              .w = state->estimate.theta,
                              .covariance = state->estimate.covariance,
                              .sampling = state->estimate.sampling,
                              .dispersion = state->estimate.dispersion,
                              .iterations = design->steps + 1 };
    TACIT_CHECK(say_what_is_needed(plan, state, &optimum, error));
    TACIT_CHECK(tacit_model_create(&model, optimum.family, plan->features, plan->classes, error));
    for (size_t j = 0; j < kept.width; j++)
        model->weights[kept.kept[j]] =
            kept.half * optimum.w[j] + (j == kept.intercept ? kept.middle / kept.intercept_value : 0);
    TACIT_CHECK(tacit_estimates_infer(&model->estimates, &kept, &optimum, error));
    memcpy(model->estimates->optimiser, "newton", sizeof "newton");
    model->estimates->sandwich = !design->linear;
    TACIT_CHECK(dpnewton_ask_missing(session, &design->missing, state->rows, model, error));
    model->estimates->rounds = (size_t)session->round;
    *out = model;
    model = NULL;
cleanup:
    tacit_model_free(model);
    tacit_design_clear(&kept);
    return status;
}

tacit_status dpnewton_inference_coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    inference_state state = { .rows = 0 };
    dpnewton_prepared how;
    tacit_model *model = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_session_prepared(session, &how, error));
    const dpnewton_inference design = how.inference;
    TACIT_CHECK(ask_moments(session, &design, &state, error));
    if (!design.linear) {
        TACIT_CHECK(approach(session, &design, &state, error));
        TACIT_CHECK(estimate(session, &design, &state, error));
    }
    TACIT_CHECK(make_model(session, &design, &state, &model, error));
    out->parties = state.parties;
    status = tacit_outcome_add(out, model, error);
cleanup:
    tacit_approach_clear(&state.approach);
    tacit_noisy_estimate_clear(&state.estimate);
    return status;
}
