/*
 * output: output perturbation (Chaudhuri, Monteleoni and Sarwate 2011, Algorithm 1; Rajkumar and Agarwal
 * 2012, 2.2). Each party fits its own model and adds noise to its weights.
 *
 *   party k:      w_k = argmin (1/n_k) sum_i loss(w; x_i, y_i) + (lambda/2)|w|^2
 *                 answers w_k + b_k,  b_k ~ G(D, S/epsilon),  D the number of weights
 *   coordinator:  the mean of the answers
 *
 * Proof note. Adjacency: one row of one party is replaced; its number of rows n_k stays. G(D, S/epsilon) on a
 * statistic of
 *   L2 sensitivity S is epsilon-private (privacy/mechanism/mechanism.h). S (privacy/mechanism/erm.h) is
 *
 *     min(2L/(n_k lambda), 2 w_max) + 2 g/lambda,
 *
 *   L = 1 for a margin loss with |loss'| <= 1 and |x| <= 1, sqrt(2) for softmax, whose gradient is (p - e_y)
 *   x^T; w_max is the largest norm of any minimiser: (lambda w).w = -gradient of the loss times w <= m, the
 *   largest t |loss'(t)| for t > 0, hence |w| <= min(L/lambda, sqrt(m/lambda)). m = W(1/e) for the logistic
 *   loss, W((K-1)/e) for softmax of K classes (W is Lambert's function), and for Huber's of width h the
 *   larger of 1 - h, on the straight part, and (1 + h)^2/(8h) where (1 + h)/2 lies on the parabola. Numbers
 *   and counts have clipped residuals (bounded_label.h): L = 1/2 and m = 1/4; L = 1 and m = max(log H, 1/e),
 *   H the largest count. g is the gradient norm that the solver certifies on every input
 *   (privacy/mechanism/erm.h). `paper` leaves the minimum out. With one party the coordinator does nothing;
 *   with more, the mean is post-processing.
 */
#include <math.h>

#include "method/bounded_label.h"
#include "method/private/perturb.h"
#include "num/special.h"

static double gradient_norm(const tacit_plan *plan) { return perturb_family(plan)->loss.slope; }

/* m of the proof note. Lambert's function is rounded up, Huber's closed form needs no margin of its own. */
static double largest_pull(const tacit_plan *plan) {
    const tacit_family *family = perturb_family(plan);
    return family->pull(perturb_shape(plan), plan->classes) * (family->loss.kinked ? 1 : 1 + 1e-12);
}

static double largest_weights(const tacit_plan *plan) {
    return fmin(gradient_norm(plan) / plan->lambda, sqrt(largest_pull(plan) / plan->lambda)) * (1 + 1e-12);
}

/* g: public, and reached on every input. */
static double tolerance(const tacit_plan *plan) {
    return tacit_fit_tolerance(plan->features, plan->classes, perturb_curvature(plan), 1, 0,
                               largest_weights(plan));
}

static double sensitivity(const tacit_plan *plan, size_t rows) {
    return tacit_output_sensitivity(rows, plan->lambda, gradient_norm(plan), largest_weights(plan),
                                    tolerance(plan), perturb_calibration(plan));
}

/* Room for the weights and the noise of the fewest rows; more rows need less. */
static tacit_status prepare(const tacit_plan *plan, void *spec, tacit_error *error) {
    double largest = largest_weights(plan) + tolerance(plan) / plan->lambda;
    if (isfinite(plan->epsilon))
        largest += tacit_noise_reach(TACIT_LAW_GAMMA_NORM, perturb_size(plan),
                                     sensitivity(plan, plan->minimum_rows) / plan->epsilon);
    return perturb_sum(plan, largest, spec, error);
}

/* 5.5 sqrt(d/M)/(n epsilon), as avg with noise=party: the grid is in docs/methods/output.md. */
static tacit_status choose_lambda(const tacit_plan *plan, double *out, tacit_error *error) {
    const double size = (double)perturb_size(plan);
    (void)error;
    *out =
        bounded_lambda(plan, perturb_lambda(plan, 5.5 * sqrt(size / (double)plan->parties) / plan->epsilon));
    return TACIT_OK;
}

static tacit_status price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                          tacit_error *error) {
    (void)prepared;
    (void)error;
    out->charged = out->claimed = (tacit_price){ TACIT_UNIT_RECORD, plan->epsilon, 0 };
    return TACIT_OK;
}

static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error) {
    (void)prepared;
    (void)error;
    double d = (double)perturb_size(plan), S = sensitivity(plan, plan->minimum_rows);
    *out = (tacit_noise_law){
        .law = "gamma-norm G(d, s)",
        .added_to = "each party's weights",
        .dimension = perturb_size(plan),
        .sensitivity = S,
        .scale = S / plan->epsilon,
        .mean_norm = sqrt(d * (d + 1) / (double)plan->parties) * S / plan->epsilon,
        .of_fewest = true,
    };
    return TACIT_OK;
}

/* The party's half: fit, add noise. */
static tacit_status answer_weights(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                   tacit_error *error) {
    const tacit_plan *plan = party->plan;
    const tacit_model *model = NULL;
    tacit_model *owned = NULL;
    tacit_sum_spec spec;
    TACIT_TRY(tacit_party_prepared(party, &spec, error));
    TACIT_TRY(perturb_check_sum(question, &spec, error));
    tacit_linear_fit fit = { .lambda = plan->lambda,
                             .family = perturb_family(plan),
                             .shape = perturb_shape(plan),
                             .gradient_tolerance = tolerance(plan),
                             .best_effort = true };
    TACIT_TRY(tacit_party_linear_model(party, &fit, &model, &owned, error));
    tacit_mechanism gamma_norm = { TACIT_LAW_GAMMA_NORM,
                                   sensitivity(plan, party->total_rows),
                                   { TACIT_UNIT_RECORD, plan->epsilon, 0 } };
    reply->kind = TACIT_RELEASE_CHARGED;
    reply->price = gamma_norm.price;
    tacit_status status = tacit_mechanism_release(&reply->noised, &party->noise, &gamma_norm, model->weights,
                                                  spec.length, spec.grid_bits, spec.bound, error);
    tacit_model_free(owned);
    return status;
}

static tacit_status hopeless(const tacit_plan *plan, char out[TACIT_HOPELESS_SIZE], tacit_error *error) {
    return tacit_plan_drowns(plan, largest_weights(plan), "more rows, or plr or gop, which need less noise",
                             out, error);
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    tacit_sum_spec spec;
    TACIT_TRY(tacit_session_prepared(session, &spec, error));
    return perturb_mean(session, &spec, out, error);
}

static const tacit_handler_entry handlers[] = { { .question = "weights", .answer = answer_weights },
                                                { .question = NULL } };

const tacit_method tacit_method_output = {
    .name = "output",
    .title = "output perturbation: a party's own model with noise on its weights",
    .reference = "Chaudhuri, Monteleoni & Sarwate 2011; Rajkumar & Agarwal 2012, 2.2",
    .version = 1,
    .units = "record",
    .takes_numbers = true,
    .spreads = true,
    .fits_alone = true,
    TACIT_SETTINGS_OF(perturb_parameters, perturb_defaults),
    .choose_lambda = choose_lambda,
    .hopeless = hopeless,
    .lambda_rule = "5.5 sqrt(d/M)/(n epsilon), at most 1: d weights, n rows of a party at least, M parties; "
                   "of numbers and counts its power 2/3",
    .leaves = "the weights of a model fitted to the party's rows, with the party's own noise inside",
    .seen_by = "[sees=sum: the coordinator sees the sum of all parties' answers, and no single "
               "one][sees=each: the coordinator sees each party's answer], and publishes their mean. Every "
               "answer carries its party's own noise, so at the price charged it may be shown to anybody",
    .guarantee =
        "epsilon-differential privacy (delta = 0) for replacing one row of a party, towards everybody",
    .assumption = "every row lies in the unit ball (the schema's encoding ensures it); the number of a "
                  "party's rows is no secret",
    .theorem = "gamma-norm noise of scale S/epsilon on weights of L2 sensitivity S = min(2L/(n lambda), 2 "
               "sqrt(m/lambda)) + 2g/lambda (Chaudhuri, Monteleoni and Sarwate 2011, Corollary 8): L = 1, or "
               "sqrt(2) for softmax, 1/2 for numbers and 1 for counts, whose residuals are clipped; m = "
               "W((K-1)/e), W Lambert's function, or for loss=huber max(1 - h, (1 + "
               "h)^2/(8h)), 1/4 for numbers, max(log H, 1/e) for counts up to H; g the solver's certified "
               "gradient norm",
    .claim = "the same epsilon, for two classes, with S = 2/(n lambda) (calibration=paper) and a solver that "
             "is taken to be exact",
    .caveats = "the noise grows with the number of weights and with 1/(n lambda): plr needs less at the same "
               "price, but knows two classes only",
    .prepare = prepare,
    .prepared_size = sizeof(tacit_sum_spec),
    .check = perturb_check,
    .price = price,
    .noise = noise_law,
    .release_kind = perturb_release_kind,
    .exchanges = tacit_one_exchange,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
