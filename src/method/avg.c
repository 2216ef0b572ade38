/*
 * avg: the mean of the parties' local weights, with noise (Pathak et al. 2010; Hamm 2016, appendix B.4;
 * Rajkumar and Agarwal 2012, equation 5).
 *
 *   party k:      w_k = argmin (1/n_k) sum_i loss(w; x_i, y_i) + (lambda/2)|w|^2
 *   coordinator:  w = (1/M) (sum_k w_k + b),  b ~ G(D, S/epsilon),  D the number of weights
 *
 * The noise is calibrated on the sum, so it does not depend on how many parties answer: dividing by their
 * public number M afterwards is free.
 *
 * Proof note. Adjacency: replace one row (unit=record) or all rows (unit=party) of one party; only w_k moves.
 *   G(D, S/epsilon) has density proportional to exp(-epsilon |b|/S), so a shift of the sum by at most S in L2
 *   norm changes the density at any point by a factor of at most exp(epsilon): pure epsilon-DP. It remains to
 *   bound the shift of the *computed* contribution:
 *
 *   record: exact minimisers move by at most 2L/(n_k lambda), n_k >= n_min, because the objective is
 *     lambda-strongly convex and one of n_k gradients, each of norm at most L, is replaced (Chaudhuri et al.
 *     2011, Corollary 8). L = 1 for the logistic loss and Huber's hinge, |x| <= 1; for softmax the gradient
 *     is (p - e_y) x^T of norm at most sqrt(2); of numbers and counts residuals are clipped
 *     (bounded_label.h), to L = 1/2 and 1.
 *   party: any minimiser has |w| <= L/lambda (its gradient term has norm at most L), and
 *     lambda |w|^2 = -w.grad <= max_t t/(1 + e^t) = W(1/e) = 0.2784645... (two classes; K classes:
 *     W((K-1)/e); a hinge of width h the larger of 1 - h and, where it lies on the parabola, (1 + h)^2/(8h);
 *     numbers 1/4, counts up to H max(log H, 1/e): the families' `pull`), so |w| <=
 *     min(L/lambda, sqrt(W/lambda)) and two of them differ by at most twice that.
 *   The solver stops at a certified gradient norm g, so the computed w_k is within g/lambda of the minimiser,
 *     and the grid of the sum moves it by at most r (tacit_sum_rounding): both count twice.
 *   S = shift + 2 (g/lambda + r), rounded up.
 *
 *   calibration=paper: the shift is the printed one, 2L/(n_min lambda) per record (Pathak; Hamm 2.2) and
 *   2L/lambda per party (Hamm
 *     B.4), without the second bound on |w|. Both are sound; solver and grid are paid for as above, which the
 *     papers leave out.
 *   law=laplace: Pathak's own noise, density proportional to exp(-|b|_1/s). A shift of S in L2 norm is one of
 *   at most sqrt(D) S in L1
 *     norm, so s = sqrt(D) S/epsilon makes it epsilon-DP (tight). The printed s = S/epsilon takes the L2
 *     bound for an L1 bound: what it gives, and what is charged for it (paper), is sqrt(D) epsilon. A row
 *     along the diagonal shows that no less would do:
 *     two opposite ones there move every weight by S/sqrt(D).
 *
 * noise=coordinator: contributions go in clear to a coordinator that is trusted to add b (entrusted).
 * noise=party: each party adds its own b before anything leaves (charged); the mean then carries M noises.
 *
 * Deviations from Pathak et al.: noise of gamma-distributed norm on the sum instead of Laplace noise on each
 * weight (law=laplace), a second bound on |w|, and the unit may be a party as in Hamm's appendix B.4; the
 * smallest party's number of rows is public from the start.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/avg.h"
#include "num/special.h"
#include "privacy/mechanism/erm.h"
#include "session/party.h"
#include "session/session.h"

static const avg_settings defaults = { .noise = AVG_BY_COORDINATOR,
                                       .unit = TACIT_UNIT_RECORD,
                                       .calibration = TACIT_CALIBRATION_TIGHT,
                                       .law = AVG_GAMMA_NORM,
                                       .minimised = BOUNDED_CHOICE_DEFAULT };

static const tacit_parameter parameters[] = {
    TACIT_CHOICE(avg_settings, noise, "noise", "coordinator|party",
                 "who adds it: a coordinator entrusted with the local weights, or each party itself (more "
                 "noise, no trust)"),
    TACIT_CHOICE(avg_settings, unit, "unit", "record|party",
                 "whose replacement is hidden: one row, or all rows of a party"),
    TACIT_LATER_CHOICE(avg_settings, calibration, "calibration", "tight|paper", "tight",
                       "of the noise: our constants, or the printed ones"),
    TACIT_LATER_CHOICE(avg_settings, law, "law", "gamma-norm|laplace", "gamma-norm",
                       "of the noise: one length in a random direction, or Laplace noise on each weight, as "
                       "Pathak et al. printed it (more noise)"),
    BOUNDED_CHOICE_PARAMETERS(
        avg_settings, minimised,
        "what is minimised: by the label (logistic, softmax, clipped residuals of numbers "
        "and counts), or Huber's hinge for two classes"),
    TACIT_SETTINGS_END,
};

static bool by_party(const tacit_plan *plan) {
    return TACIT_SETTINGS(avg_settings, plan)->noise == AVG_BY_PARTY;
}

static tacit_unit unit_of(const tacit_plan *plan) { return TACIT_SETTINGS(avg_settings, plan)->unit; }

static bool is_tight(const tacit_plan *plan) {
    return TACIT_SETTINGS(avg_settings, plan)->calibration == TACIT_CALIBRATION_TIGHT;
}

static bool is_laplace(const tacit_plan *plan) {
    return TACIT_SETTINGS(avg_settings, plan)->law == AVG_LAPLACE;
}

static bounded_choice choice_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(avg_settings, plan)->minimised;
}

static const tacit_family *family_of(const tacit_plan *plan) {
    return bounded_family_by(plan, choice_of(plan));
}

static double shape_of(const tacit_plan *plan) { return bounded_shape_by(plan, choice_of(plan)); }

static size_t weight_count(const tacit_plan *plan) {
    return tacit_family_scores(family_of(plan), plan->classes) * plan->features;
}

static double gradient_norm(const tacit_plan *plan) { return family_of(plan)->loss.slope; }

/* The largest norm of a local minimiser, whatever the rows. */
static double largest_weights(const tacit_plan *plan) {
    double w = family_of(plan)->pull(shape_of(plan), plan->classes) * (1 + 1e-12);
    return fmin(gradient_norm(plan) / plan->lambda, sqrt(w / plan->lambda)) * (1 + 1e-12);
}

/* g: public, and reached on every input. */
static double tolerance(const tacit_plan *plan) {
    return tacit_fit_tolerance(plan->features, plan->classes, family_of(plan)->loss.curvature(shape_of(plan)),
                               1, 0, largest_weights(plan));
}

static double largest_computed(const tacit_plan *plan) {
    return largest_weights(plan) + tolerance(plan) / plan->lambda;
}

/* By how much a neighbour moves the exact minimiser: record and party of the proof note. */
static double shift(const tacit_plan *plan) {
    double least = unit_of(plan) == TACIT_UNIT_PARTY ? 1 : (double)plan->minimum_rows;
    double printed = 2 * gradient_norm(plan) / (least * plan->lambda);
    return is_tight(plan) ? fmin(printed, 2 * largest_weights(plan)) : printed;
}

/* S of the proof note, for contributions on the given grid. */
static double sensitivity(const tacit_plan *plan, const tacit_sum_spec *spec) {
    return (shift(plan) + 2 * (tolerance(plan) / plan->lambda + tacit_sum_rounding(spec))) * (1 + 1e-12);
}

/* Of an L1 norm to an L2 norm, rounded up. */
static double diagonal(const tacit_plan *plan) {
    return is_laplace(plan) ? sqrt((double)weight_count(plan)) * (1 + 1e-12) : 1;
}

static tacit_price charged(const tacit_plan *plan) {
    return (tacit_price){ unit_of(plan), is_tight(plan) ? plan->epsilon : plan->epsilon * diagonal(plan), 0 };
}

static tacit_mechanism mechanism(const tacit_plan *plan, const tacit_sum_spec *spec) {
    return (tacit_mechanism){ is_laplace(plan) ? TACIT_LAW_LAPLACE : TACIT_LAW_GAMMA_NORM,
                              sensitivity(plan, spec) * diagonal(plan), charged(plan) };
}

/* The sum that is asked for. With noise inside, the bound must hold it (what falls beyond is clipped); the
 * bound depends on the scale and the scale on the grid's rounding, so the grid is fixed from a first scale
 * and the bound from the final one. */
static tacit_status prepare(const tacit_plan *plan, void *spec, tacit_error *error) {
    tacit_sum_spec *out = spec;
    size_t count = weight_count(plan);
    double bound = largest_computed(plan);
    TACIT_TRY(tacit_sum_spec_for(out, count, bound, plan->parties, error));
    if (!by_party(plan) || isinf(plan->epsilon)) return TACIT_OK;
    tacit_mechanism noise = mechanism(plan, out);
    double reach;
    TACIT_TRY(tacit_mechanism_reach(&reach, &noise, count, error));
    bound += 2 * reach;
    return tacit_sum_spec_for(out, count, bound, plan->parties, error);
}

/* From public numbers alone. In the score of a row of norm 1 the noise has a standard deviation near s sqrt(D
 * + 1)/m, m = M, or sqrt(M) where every party adds its own, s = 2L/(n_min lambda epsilon) per record: lambda
 * makes it a constant, which the grid of docs/methods/avg.md chose. Per party noise and weights shrink alike,
 * and the usual lambda stays. */
static tacit_status choose_lambda(const tacit_plan *plan, double *out, tacit_error *error) {
    static const double MOST = 1, TIMES = 5.5;
    (void)error;
    const double parties = (double)plan->parties, rows = tacit_plan_expected_rows(plan) / parties;
    if (unit_of(plan) == TACIT_UNIT_PARTY) return TACIT_OK;
    *out = isinf(plan->epsilon) ? 0.1 / rows
                                : TIMES * sqrt((double)weight_count(plan)) /
                                      ((by_party(plan) ? sqrt(parties) : parties) * rows * plan->epsilon);
    *out = bounded_lambda(plan, fmin(MOST, *out));
    return TACIT_OK;
}

static tacit_status check(const tacit_plan *plan, tacit_error *error) {
    if (plan->minimum_rows == 0)
        return tacit_fail(error, TACIT_USAGE, "method avg needs the minimum rows of a party, at least 1");
    return bounded_check_choice(plan, choice_of(plan), error);
}

static tacit_status price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                          tacit_error *error) {
    (void)prepared;
    (void)error;
    out->charged = charged(plan);
    out->claimed = (tacit_price){ unit_of(plan), plan->epsilon, 0 };
    return TACIT_OK;
}

static tacit_release_kind release_kind(const tacit_plan *plan) {
    return by_party(plan) ? TACIT_RELEASE_CHARGED : TACIT_RELEASE_ENTRUSTED;
}

/* G(d, s) has mean norm d s. Of M independent ones with variance (d + 1) s^2 in each coordinate, the mean has
 * a norm near sqrt(d (d + 1)/M) s. Laplace noise has variance 2 s^2 in each coordinate. */
static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error) {
    tacit_sum_spec spec;
    TACIT_TRY(tacit_prepared_take(prepared, plan, &spec, error));
    const tacit_mechanism noise = mechanism(plan, &spec);
    double d = (double)spec.length, m = (double)plan->parties, s = noise.sensitivity / noise.price.epsilon;
    double spread = sqrt(is_laplace(plan) ? 2 * d : d * (d + 1)) * s;
    *out = (tacit_noise_law){
        .law = is_laplace(plan) ? "Laplace of scale s in each weight" : "gamma-norm G(d, s)",
        .added_to = by_party(plan) ? "each party's weights" : "the sum of the parties' weights",
        .dimension = spec.length,
        .sensitivity = noise.sensitivity,
        .scale = s,
        .mean_norm = by_party(plan)     ? spread / sqrt(m)
                     : is_laplace(plan) ? spread / m
                                        : d * s / m,
    };
    return TACIT_OK;
}

/* The party's half: its weights as a contribution to the sum, with its own noise if it trusts nobody. */
static tacit_status answer_weights(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                   tacit_error *error) {
    const tacit_plan *plan = party->plan;
    tacit_sum_spec spec;
    const tacit_model *model = NULL;
    tacit_model *owned = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_party_prepared(party, &spec, error));
    if (!question->wants_sum || !tacit_sum_spec_equal(&question->sum, &spec))
        TACIT_CHECK(
            tacit_fail(error, TACIT_REFUSED, "the coordinator asks for another sum than the study defines"));
    tacit_linear_fit fit = { .lambda = plan->lambda,
                             .family = family_of(plan),
                             .shape = shape_of(plan),
                             .gradient_tolerance = tolerance(plan),
                             .best_effort = true };
    TACIT_CHECK(tacit_party_linear_model(party, &fit, &model, &owned, error));
    tacit_mechanism noise = mechanism(plan, &spec);
    reply->kind = release_kind(plan);
    reply->price = noise.price;
    if (by_party(plan)) {
        TACIT_CHECK(tacit_mechanism_release(&reply->noised, &party->noise, &noise, model->weights,
                                            spec.length, spec.grid_bits, spec.bound, error));
    } else {
        reply->noise = isinf(plan->epsilon) ? TACIT_NOISE_NONE : tacit_noise_source_grade(&party->noise);
        reply->contribution = TACIT_NEW(double, spec.length);
        if (reply->contribution == NULL) TACIT_CHECK(tacit_fail_memory(error));
        memcpy(reply->contribution, model->weights, spec.length * sizeof *model->weights);
    }
cleanup:
    tacit_model_free(owned);
    return status;
}

/* The coordinator's half: sum, noise if entrusted with it, mean. */
static tacit_status hopeless(const tacit_plan *plan, char out[TACIT_HOPELESS_SIZE], tacit_error *error) {
    return tacit_plan_drowns(
        plan, largest_weights(plan),
        "more rows at every party, more parties, or dpnewton or dpgd, which need less noise", out, error);
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    tacit_sum_spec spec;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_session_prepared(session, &spec, error));
    TACIT_CHECK(tacit_ask_sum(session, "weights", NULL, &spec, &sum, error));
    if (!by_party(plan)) {
        tacit_mechanism noise = mechanism(plan, &spec);
        TACIT_CHECK(tacit_session_publish(session, &noise, sum.values, spec.length,
                                          spec.bound * (double)plan->parties, sum.values, error));
    }
    status = bounded_add_mean(out, plan, choice_of(plan), sum.values, sum.parties, error);
cleanup:
    tacit_sum_clear(&sum);
    return status;
}

static const tacit_handler_entry handlers[] = { { .question = "weights", .answer = answer_weights },
                                                { .question = NULL } };

const tacit_method tacit_method_avg = {
    .name = "avg",
    .title = "mean of the parties' local weights, with noise",
    .reference = "Pathak et al. 2010; Hamm 2016, B.4; Rajkumar & Agarwal 2012, (5)",
    .version = 1,
    .units = "record|party",
    .takes_numbers = true,
    .spreads = true,
    .fits_alone_by_party = true,
    TACIT_SETTINGS_OF(parameters, defaults),
    .leaves = "the weights of a model fitted to the party's rows[noise=party: , with the party's own noise "
              "added], as one contribution to a sum",
    .seen_by = "[noise=coordinator,sees=sum: the coordinator sees the exact sum of all parties' weights, and "
               "no single party's][noise=coordinator,sees=each: the coordinator sees each party's exact "
               "weights][noise=party,sees=sum: the coordinator sees the sum of all parties' noisy weights, "
               "and no single party's][noise=party,sees=each: the coordinator sees each party's noisy "
               "weights]. Everybody sees the final model",
    .guarantee = "[calibration=paper,law=laplace: sqrt(D) ]epsilon-differential privacy (delta = 0) for "
                 "replacing [unit=record: one row][unit=party: all rows] of a party, towards everybody who "
                 "sees the model[noise=party: , the coordinator included][noise=coordinator: . There is no "
                 "such guarantee towards the coordinator, which sees exact values]",
    .assumption =
        "every row lies in the unit ball (the schema's encoding ensures it); every party has at least the "
        "declared minimum of rows (a party with fewer refuses)[noise=coordinator,sees=sum: ; the coordinator "
        "adds the noise, publishes only noisy results and keeps the exact sum to "
        "itself][noise=coordinator,sees=each: ; the coordinator adds the noise, publishes only noisy results "
        "and keeps the exact weights to itself]",
    .theorem =
        "[law=gamma-norm: gamma-norm noise of scale S/epsilon on a sum of L2 sensitivity S (Chaudhuri, "
        "Monteleoni and Sarwate 2011)][law=laplace,calibration=tight: Laplace noise of scale sqrt(D) "
        "S/epsilon on each of D weights, whose sum has L2 sensitivity S and hence L1 sensitivity sqrt(D) "
        "S][law=laplace,calibration=paper: Laplace noise of scale S/epsilon on each of D weights, whose "
        "sum has L2 sensitivity S and hence L1 sensitivity sqrt(D) S]. [calibration=tight: S = 2L/(n_min "
        "lambda) per record, 2 min(L/lambda, sqrt(W((K-1)/e)/lambda)) per party, L = 1 or sqrt(2) for "
        "softmax, W Lambert's function; for loss=huber max(1 - h, (1 + h)^2/(8h)) for W(); of numbers, whose "
        "residuals are clipped, L = 1/2 and 1/4 for W(), of "
        "counts up to H L = 1 and max(log H, 1/e)][calibration=paper: S = 2L/(n_min lambda) per record, "
        "2L/lambda "
        "per party, L = 1 or sqrt(2) for softmax]; plus twice the solver's certified distance and twice "
        "the grid's rounding",
    .claim = "the same epsilon; per party the papers' S is 2L/lambda, larger by L/sqrt(lambda W) for small "
             "lambda; Pathak's Laplace noise has scale S/epsilon, as if S bounded an L1 norm",
    .caveats = "the smallest party sets the noise; the mean of models of unlike parties is not the model of "
               "all rows",
    .prepare = prepare,
    .prepared_size = sizeof(tacit_sum_spec),
    .check = check,
    .choose_lambda = choose_lambda,
    .hopeless = hopeless,
    .lambda_rule = "per record 5.5 sqrt(d)/(M n epsilon), at most 1 (noise=party: sqrt(M) instead of M): d "
                   "weights, M parties of n rows at least; of numbers and counts its power 2/3",
    .price = price,
    .noise = noise_law,
    .release_kind = release_kind,
    .exchanges = tacit_one_exchange,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
