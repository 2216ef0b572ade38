#include "method/private/perturb.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "method/bounded_label.h"

const perturb_settings perturb_defaults = PERTURB_DEFAULTS;

const tacit_parameter perturb_parameters[] = {
    PERTURB_PARAMETERS,
    TACIT_SETTINGS_END,
};

static bounded_choice choice_of(const tacit_plan *plan) {
    const perturb_settings *settings = perturb_settings_of(plan);
    return (bounded_choice){ settings->loss == PERTURB_HUBER ? BOUNDED_HUBER : BOUNDED_OF_LABEL,
                             settings->width };
}

const tacit_family *perturb_family(const tacit_plan *plan) {
    return bounded_family_by(plan, choice_of(plan));
}

double perturb_shape(const tacit_plan *plan) { return bounded_shape_by(plan, choice_of(plan)); }

double perturb_curvature(const tacit_plan *plan) {
    return perturb_family(plan)->loss.curvature(perturb_shape(plan));
}

tacit_calibration perturb_calibration(const tacit_plan *plan) {
    return perturb_settings_of(plan)->calibration;
}

size_t perturb_size(const tacit_plan *plan) {
    return tacit_family_scores(tacit_family_for(plan->classes), plan->classes) * plan->features;
}

double perturb_lambda(const tacit_plan *plan, double times) {
    const double rows = tacit_plan_expected_rows(plan) / (double)plan->parties;
    return fmin(1, (isfinite(plan->epsilon) ? times : 0.1) / rows);
}

tacit_status perturb_check(const tacit_plan *plan, tacit_error *error) {
    if (plan->minimum_rows == 0)
        return tacit_fail(error, TACIT_USAGE, "method %s needs the minimum rows of a party, at least 1",
                          plan->method->name);
    TACIT_TRY(bounded_check_label(plan, error));
    const tacit_family *family = perturb_family(plan);
    if (!tacit_family_takes(family, plan->classes))
        return tacit_fail(error, TACIT_USAGE,
                          "loss=%s is for %s classes and the label has %zu: use loss=logistic", family->name,
                          tacit_family_classes(family), plan->classes);
    return TACIT_OK;
}

tacit_release_kind perturb_release_kind(const tacit_plan *plan) {
    (void)plan;
    return TACIT_RELEASE_CHARGED;
}

/* ---- sums ---- */

/* Twice the bound, so that clipping, which is post-processing, is next to impossible. */
tacit_status perturb_sum(const tacit_plan *plan, double largest, tacit_sum_spec *out, tacit_error *error) {
    return tacit_sum_spec_for(out, perturb_size(plan), 2 * largest, plan->parties, error);
}

tacit_status perturb_check_sum(const tacit_question *question, const tacit_sum_spec *spec,
                               tacit_error *error) {
    if (question->wants_sum && tacit_sum_spec_equal(&question->sum, spec)) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED, "the coordinator asks for another sum than the study defines");
}

tacit_status perturb_mean(tacit_session *session, const tacit_sum_spec *spec, tacit_outcome *out,
                          tacit_error *error) {
    const tacit_plan *plan = session->plan;
    tacit_sum sum = TACIT_SUM_INIT;
    TACIT_TRY(tacit_ask_sum(session, "weights", NULL, spec, &sum, error));
    tacit_status status = bounded_add_mean(out, plan, choice_of(plan), sum.values, sum.parties, error);
    tacit_sum_clear(&sum);
    return status;
}

/* ---- perturbed objectives ---- */

static tacit_erm erm_of(const tacit_plan *plan, size_t rows) {
    return (tacit_erm){ .rows = rows,
                        .dimension = plan->features,
                        .lambda = plan->lambda,
                        .curvature = perturb_curvature(plan),
                        .radius = 1,
                        .epsilon = plan->epsilon,
                        .delta = plan->delta,
                        .calibration = perturb_calibration(plan) };
}

tacit_status perturb_objective_noise(tacit_objective_noise *out, const tacit_plan *plan, tacit_law law,
                                     size_t rows, tacit_error *error) {
    tacit_erm erm = erm_of(plan, rows);
    return tacit_objective_noise_for(out, &erm, law, error);
}

tacit_status perturb_objective_check(const tacit_plan *plan, tacit_law law, tacit_error *error) {
    tacit_objective_noise noise;
    if (plan->classes > 2)
        return tacit_fail(error, TACIT_USAGE,
                          "method %s is for two classes and the label has %zu: use method output",
                          plan->method->name, plan->classes);
    TACIT_TRY(perturb_check(plan, error));
    if (isinf(plan->epsilon)) return TACIT_OK;
    return perturb_objective_noise(&noise, plan, law, plan->minimum_rows, error);
}

/* The noise enters the weights through the inverse of n (lambda + Delta + curvature), so its norm there is at
 * most that of b/(n (lambda + Delta)): a mean of M has a norm near sqrt(E|b|^2/M) of that, E|b|^2 = d (d + 1)
 * s^2 or d s^2. */
tacit_status perturb_objective_law(const tacit_plan *plan, tacit_law law, tacit_noise_law *out,
                                   tacit_error *error) {
    tacit_objective_noise noise;
    TACIT_TRY(perturb_objective_noise(&noise, plan, law, plan->minimum_rows, error));
    double d = (double)plan->features, n = (double)plan->minimum_rows, m = (double)plan->parties;
    double square = law == TACIT_LAW_GAUSSIAN ? d : d * (d + 1);
    *out = (tacit_noise_law){
        .law = law == TACIT_LAW_GAUSSIAN ? "Gaussian N(0, s^2)" : "gamma-norm G(d, s)",
        .added_to = "n times the gradient of each party's objective",
        .dimension = plan->features,
        .sensitivity = 2,
        .scale = noise.scale,
        .mean_norm = sqrt(square / m) * noise.scale / (n * noise.lambda),
        .in_objective = true,
    };
    return TACIT_OK;
}

/* The grid must not depend on a party's own number of rows, so it is that of the fewest. */
tacit_status perturb_objective_prepare(const tacit_plan *plan, tacit_law law, tacit_sum_spec *out,
                                       tacit_error *error) {
    tacit_erm erm = erm_of(plan, plan->minimum_rows);
    double largest = 1.01 / plan->lambda;
    if (isfinite(plan->epsilon)) TACIT_TRY(tacit_objective_largest(&largest, &erm, law, error));
    return perturb_sum(plan, largest, out, error);
}

/* out = b/n; the same for all who hold some of the rows, who minimise one objective. */
static tacit_status draw_linear_term(const tacit_party *party, const tacit_objective_noise *noise,
                                     double *out, tacit_error *error) {
    tacit_noised *drawn = NULL;
    size_t count = party->plan->features;
    for (size_t j = 0; j < count; j++) out[j] = 0;
    TACIT_TRY(tacit_mechanism_release_at(&drawn, &party->noise, &noise->law, noise->scale, out, count,
                                         noise->grid_bits, noise->bound, error));
    for (size_t j = 0; j < count; j++)
        out[j] = party->follows ? 0
                                : ldexp((double)tacit_noised_steps(drawn)[j], -noise->grid_bits) /
                                      (double)party->total_rows;
    tacit_noised_free(drawn);
    return party->reducer != NULL ? party->reducer->sum(party->reducer->context, out, count, error)
                                  : TACIT_OK;
}

/* Weights as they are, for a simulation with an infinite epsilon. */
static tacit_status answer_exactly(tacit_party *party, const tacit_sum_spec *spec, tacit_reply *reply,
                                   tacit_error *error) {
    const tacit_plan *plan = party->plan;
    const tacit_model *model = NULL;
    tacit_model *owned = NULL;
    tacit_linear_fit fit = { .lambda = plan->lambda,
                             .family = perturb_family(plan),
                             .shape = perturb_shape(plan),
                             .gradient_tolerance = 1e-9,
                             .best_effort = true };
    tacit_mechanism none = { TACIT_LAW_GAMMA_NORM, 1, reply->price };
    TACIT_TRY(tacit_party_linear_model(party, &fit, &model, &owned, error));
    tacit_status status = tacit_mechanism_release(&reply->noised, &party->noise, &none, model->weights,
                                                  spec->length, spec->grid_bits, spec->bound, error);
    tacit_model_free(owned);
    return status;
}

tacit_status perturb_objective_answer(tacit_party *party, const tacit_question *question, tacit_law law,
                                      tacit_reply *reply, tacit_error *error) {
    const tacit_plan *plan = party->plan;
    tacit_sum_spec spec;
    tacit_prices prices;
    tacit_objective_noise noise;
    TACIT_TRY(tacit_party_prepared(party, &spec, error));
    TACIT_TRY(perturb_check_sum(question, &spec, error));
    TACIT_TRY(tacit_party_price(party, &prices, error));
    reply->kind = TACIT_RELEASE_CHARGED;
    reply->price = prices.charged;
    if (isinf(plan->epsilon)) return answer_exactly(party, &spec, reply, error);

    double *linear = TACIT_NEW(double, spec.length);
    tacit_model *model = NULL;
    tacit_status status = linear != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    TACIT_CHECK(perturb_objective_noise(&noise, plan, law, party->total_rows, error));
    TACIT_CHECK(draw_linear_term(party, &noise, linear, error));
    tacit_linear_fit fit = { .lambda = noise.lambda,
                             .family = perturb_family(plan),
                             .shape = perturb_shape(plan),
                             .linear = linear,
                             .gradient_tolerance = noise.tolerance,
                             .best_effort = true,
                             .total_rows = party->total_rows,
                             .reducer = party->reducer,
                             .pool = party->pool };
    TACIT_CHECK(tacit_model_fit_linear(&model, &party->rows, &fit, error));
    TACIT_CHECK(tacit_mechanism_release(&reply->noised, &party->noise, &noise.last, model->weights,
                                        spec.length, spec.grid_bits, spec.bound, error));
cleanup:
    tacit_model_free(model);
    free(linear);
    return status;
}

tacit_status perturb_objective_coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    tacit_sum_spec spec;
    TACIT_TRY(tacit_session_prepared(session, &spec, error));
    return perturb_mean(session, &spec, out, error);
}
