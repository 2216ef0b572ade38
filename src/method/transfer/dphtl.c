/*
 * dphtl: hypothesis transfer from private sources (Wang 2018, Algorithm 4). Sources with many rows help a
 * target with few labels, which runs the coordinator's half on rows of its own.
 *
 *   source k:  its rows fall into two parts: the first with a label, at most `labelled` of all, are S_l, the
 *              others, whether they have a label or not, S_u
 *              theta_k = private logistic regression on S_l          (hypothesis=output or plr)
 *              beta_k  = private density ratio of S_u and P           (dpiw.c)
 *              answers both, once
 *   target:    s_k = importance weights of P under beta_k, t the same under its own rows, without noise
 *              w = argmin over the simplex of KL(t, sum_k w_k s_k)    (4.1; transfer.h has the certificate)
 *              mu_j = sum_k w_k theta_kj,  v_j = K/(K-1) sum_k w_k (theta_kj - mu_j)^2    (4.2)
 *              theta = MAP of a logistic regression under N(mu_j, v_j) on its labelled rows; mu where it has
 *              none
 * A source none of whose rows has a label has no hypothesis, says so, and takes no further part.
 *
 * Proof note. Adjacency: one row of one source is replaced by one that has a label if and only if it had one;
 * the number n of rows stays, and so does which of them have a label. That pattern is public: it decides n_l
 * and n_u, which the noise shows. The parts are cut by position and pattern, so the row is in one of them:
 * with labelled < 1 only theta_k or only beta_k moves, each (epsilon, delta)-private on its own, and both
 * together cost (epsilon, delta) once (parallel composition). With labelled = 1 the parts overlap: S_l has
 * all rows with a label, S_u all rows, and a row with a label costs the sum. theta_k by output perturbation
 * has S = min(2/(n_l lambda), 2 w_max) + 2g/lambda (output.c), by objective perturbation the proof of
 * privacy/mechanism/erm.h. What the target does is post-processing towards the sources; the target's own rows
 * are not protected from whoever sees its model.
 *
 * The prior that knows the noise (prior=aware; ours). theta_k carries noise of a known variance q_k in each
 * coordinate, so mu_j carries r = sum_k w_k^2 q_k and the spread of the theta_kj is too large by e = K/(K-1)
 * sum_k w_k (1 - w_k) q_k. Of |mu|^2 about d r is noise, which leaves the share c = max(0, 1 - d r/|mu|^2)
 * (as in James and Stein's estimator). With T = 1/(n lambda), the variance in the prior of WEAK, the target
 * mixes both priors by c:
 *     N(c mu_j,  min(T, c max(v_j - e, floor) + (1 - c) T)).
 * Without noise that is (4.2) except for the bound T, which keeps the chance part of v_j from making the
 * prior flat; as noise grows it becomes the prior of WEAK, so that noisy sources cannot mislead.
 *
 * Deviations from the box: rows fall into the labelled and the unlabelled part by position; hypotheses by
 * output perturbation unless hypothesis=plr; variances have a floor and, with prior=aware, know the noise;
 * project=public:P; rows without a label are taken as they are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/transfer/dphtl.h"
#include "num/special.h"
#include "session/prepared.h"

static bool objective(const tacit_plan *plan) {
    return dphtl_settings_of(plan)->hypothesis == DPHTL_BY_OBJECTIVE;
}

/* Most rows of S_l among n; at least one. All of them where both parts are the same. */
static size_t labelled_rows(const tacit_plan *plan, size_t rows) {
    double part = dphtl_settings_of(plan)->labelled;
    size_t count = (size_t)(part * (double)rows + 1e-9);
    if (part < 1 && count >= rows) count = rows - 1;
    return count > 0 ? count : 1;
}

static bool shared(const tacit_plan *plan) { return dphtl_settings_of(plan)->labelled >= 1; }

/* The fewest rows of S_l and of S_u that a source answers with. */
static size_t fewest_labelled(const tacit_plan *plan) {
    return dphtl_is_mixed(plan) ? 1 : labelled_rows(plan, plan->minimum_rows);
}

static size_t fewest_others(const tacit_plan *plan) {
    const size_t rows = plan->minimum_rows;
    return shared(plan) ? rows : rows - labelled_rows(plan, rows);
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
    double times = shared(plan) ? 2 : 1;
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

static tacit_status price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                          tacit_error *error) {
    (void)prepared;
    (void)error;
    out->charged = out->claimed = whole_price(plan);
    return TACIT_OK;
}

static const char *undeployable_as(const tacit_plan *plan) {
    return dphtl_settings_of(plan)->model == DPHTL_SOURCES
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

tacit_status dphtl_prepare(const tacit_plan *plan, void *prepared, tacit_error *error) {
    dphtl_grids *out = prepared;
    const size_t rows = labelled_rows(plan, plan->minimum_rows);
    TACIT_TRY(noise_variance(plan, rows, &out->variance, error));
    out->sensitivity = objective(plan) ? 2 : output_mechanism(plan, rows).sensitivity;
    TACIT_TRY(hypothesis_grid(plan, fewest_labelled(plan), &out->hypothesis, error));
    return dpiw_grid(plan, fewest_others(plan), 1, &out->density, error);
}

static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error) {
    dphtl_grids on;
    double d = (double)transfer_size(plan);
    TACIT_TRY(tacit_prepared_take(prepared, plan, &on, error));
    *out = (tacit_noise_law){
        .law = transfer_gaussian(plan) ? "Gaussian N(0, s^2)" : "gamma-norm G(d, s)",
        .added_to = objective(plan) ? "n times the gradient of each source's objective"
                                    : "each source's hypothesis (its importance weights: see dpiw)",
        .dimension = transfer_size(plan),
        .sensitivity = on.sensitivity,
        .scale = sqrt(on.variance / (transfer_gaussian(plan) ? 1 : d + 1)),
        .mean_norm = sqrt(d * on.variance),
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

/* What a source makes of its two parts; no hypothesis where no row has a label. */
typedef struct findings {
    tacit_noised *theta, *beta;
    double variance, labels;
} findings;

static tacit_status find_both(findings *out, tacit_party *party, const transfer_parts *parts,
                              const dphtl_grids *on, tacit_error *error) {
    const tacit_plan *plan = party->plan;
    const size_t first = parts->labelled, skipped = shared(plan) ? 0 : first;
    tacit_projection space = TACIT_PROJECTION_INIT;
    tacit_view labelled = tacit_view_slice(&parts->all, 0, first);
    tacit_view others = tacit_view_slice(&parts->all, skipped, party->total_rows - skipped);
    tacit_status status;
    out->labels = (double)first;
    TACIT_CHECK(transfer_space(&space, plan, error));
    if (first > 0) {
        TACIT_CHECK(noise_variance(plan, first, &out->variance, error));
        TACIT_CHECK(release_hypothesis(&out->theta, party, &space, &labelled, &on->hypothesis, error));
    }
    TACIT_CHECK(dpiw_release(&out->beta, party, &space, &others.rows, &on->density, error));
cleanup:
    tacit_projection_clear(&space);
    return status;
}

static tacit_status write_answer(tacit_message *out, const findings *found, const tacit_plan *plan,
                                 const dphtl_grids *on, tacit_error *error) {
    int64_t *nothing = TACIT_NEW(int64_t, on->hypothesis.length); /* zeros, of a source without labels */
    const int64_t *theta = found->theta != NULL ? tacit_noised_steps(found->theta) : nothing;
    tacit_status status = TACIT_OK;
    if (nothing == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(tacit_message_add_integers(out, "hypothesis", theta, on->hypothesis.length, error));
    TACIT_CHECK(tacit_message_add_integers(out, "density", tacit_noised_steps(found->beta),
                                           on->density.length, error));
    TACIT_CHECK(tacit_message_add_numbers(out, "variance", &found->variance, 1, error));
    if (dphtl_is_mixed(plan)) TACIT_CHECK(tacit_message_add_numbers(out, "labels", &found->labels, 1, error));
cleanup:
    free(nothing);
    return status;
}

static tacit_status answer_hypothesis(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                      tacit_error *error) {
    const tacit_plan *plan = party->plan;
    dphtl_grids on;
    findings found = { .theta = NULL };
    transfer_parts parts = { .index = NULL };
    tacit_status status = TACIT_OK;
    (void)question;
    if (party->reducer != NULL)
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED, "method dphtl needs all rows of a source on one host"));
    TACIT_CHECK(tacit_party_prepared(party, &on, error));
    TACIT_CHECK(transfer_divide(&parts, &party->rows, labelled_rows(plan, party->total_rows), error));
    TACIT_CHECK(find_both(&found, party, &parts, &on, error));
    reply->kind = TACIT_RELEASE_CHARGED;
    reply->noise = found.theta != NULL ? worse(found.theta, found.beta) : tacit_noised_grade(found.beta);
    reply->price = whole_price(plan);
    TACIT_CHECK(write_answer(&reply->message, &found, plan, &on, error));
cleanup:
    tacit_noised_free(found.theta);
    tacit_noised_free(found.beta);
    transfer_parts_clear(&parts);
    return status;
}

tacit_status dphtl_take_apart(const tacit_plan *plan, const tacit_message *message, dphtl_answer *out,
                              tacit_error *error) {
    const size_t size = transfer_size(plan);
    const double *variance, *labels;
    TACIT_TRY(tacit_message_integers(message, "hypothesis", size, &out->theta, error));
    TACIT_TRY(tacit_message_integers(message, "density", size, &out->beta, error));
    TACIT_TRY(tacit_message_numbers(message, "variance", 1, &variance, error));
    if (!(*variance >= 0)) return tacit_fail(error, TACIT_PROTOCOL, "a source's noise has no variance");
    out->variance = *variance;
    out->has_hypothesis = true;
    if (!dphtl_is_mixed(plan)) return TACIT_OK;
    TACIT_TRY(tacit_message_numbers(message, "labels", 1, &labels, error));
    out->has_hypothesis = *labels > 0;
    return TACIT_OK;
}

static tacit_status usable(const tacit_plan *plan, const tacit_message *answer, tacit_error *error) {
    dphtl_answer says;
    dphtl_grids on;
    TACIT_TRY(dphtl_take_apart(plan, answer, &says, error));
    TACIT_TRY(tacit_plan_prepared(plan, &on, error));
    TACIT_TRY(tacit_sum_check(&on.hypothesis, says.theta, error));
    return tacit_sum_check(&on.density, says.beta, error);
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
    .takes_unlabelled = true,
    TACIT_SETTINGS_OF(dphtl_parameters, dphtl_defaults),
    .leaves =
        "once: weights of a model of [labelled!=1: some of ]the source's rows, and of one that tells "
        "[labelled!=1: its other rows][labelled=1: them] from the public points, with noise inside; and "
        "the variance of the noise in the former, which tells how many rows it was made from",
    .seen_by = "the target, which runs the coordinator, sees each source's weights and may show them to "
               "anybody. The target's own rows stay with it",
    .guarantee = "[law=pure: epsilon-differential privacy (delta = 0)][law=gaussian: (epsilon, "
                 "delta)-differential privacy], at the price charged, for replacing one row of a source, "
                 "towards everybody, the target included. Nothing is promised for the target's own rows",
    .assumption = "rows lie in the unit ball (the schema's encoding ensures it); the points are public; the "
                  "number of a source's rows is no secret, nor which of them have a label",
    .theorem = "a row is used by [labelled!=1: one of two releases (parallel composition)][labelled=1: both "
               "of two releases]: a hypothesis by output or objective perturbation (see output and plr, "
               "without Huber's loss), or importance weights (see dpiw). The rest is post-processing",
    .claim = "the same epsilon, with weights of sensitivity sqrt(d)/(n lambda_iw) and an exact solver",
    .caveats = "[law=pure: in the full vocabulary of texts pure noise drowns every hypothesis below epsilon "
               "= 5: use project=public:P, or a delta above 0. ]The target's model reveals the target's rows",
    .prepare = dphtl_prepare,
    .prepared_size = sizeof(dphtl_grids),
    .check = transfer_check,
    .undeployable_as = undeployable_as,
    .price = price,
    .noise = noise_law,
    .single = tacit_plan_always_single,
    .release_kind = release_kind,
    .coordinate = TACIT_CENTER_HALF(dphtl_coordinate),
    .handlers = handlers,
};
