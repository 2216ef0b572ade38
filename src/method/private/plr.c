/*
 * plr: objective perturbation (Chaudhuri, Monteleoni and Sarwate 2011, Algorithm 2; Yao et al. 2019,
 * Algorithm 1). Each party minimises its objective with a random linear term.
 *
 *   party k:      epsilon', Delta from n_k, lambda, epsilon          (privacy/mechanism/erm.h, steps 2 and 4)
 *                 b ~ G(d, 2/epsilon')
 *                 w^ = argmin (1/n_k) sum_i loss(y_i w.x_i) + ((lambda + Delta)/2)|w|^2 + b.w/n_k
 *                 answers w^ + G(d, 2r/epsilon_slack)
 *   coordinator:  the mean of the answers
 *
 * Proof note. Adjacency: one row of one party is replaced; n_k stays. The exact minimiser is private for 99%
 * of epsilon and its computed approximation for the last hundredth: privacy/mechanism/erm.h has both proofs,
 * with R = 1. The loss must be twice differentiable except for isolated margins: c = 1/4 for the logistic
 * loss, 1/(2h) for Huber's of width h. The printed sign of the exponent of b's density is wrong; it is
 * exp(-epsilon' |b|/2).
 *
 * Deviations from the box: the sign in the exponent of b's density; the last hundredth of epsilon pays for
 * an approximate minimum; with several parties each runs it on its own rows and the answers are averaged.
 */
#include "method/private/private_tuning.h"

static const tacit_parameter parameters[] = {
    PERTURB_PARAMETERS,
    CHOOSING_PARAMETERS,
    TACIT_SETTINGS_END,
};

static const tacit_law LAW = TACIT_LAW_GAMMA_NORM;

static tacit_status check(const tacit_plan *plan, tacit_error *error) {
    TACIT_TRY(perturb_objective_check(plan, LAW, error));
    return choosing_count(plan) > 0 ? stacking_plan_check(plan, stacking_of_one, error)
                                    : choosing_check(plan, error);
}

/* Lambda that is chosen on the way has another sum, that of stacks. */
static tacit_status prepare(const tacit_plan *plan, void *spec, tacit_error *error) {
    return choosing_count(plan) > 0 ? stacking_plan_prepare(plan, stacking_of_one, spec, error)
                                    : perturb_objective_prepare(plan, LAW, spec, error);
}

/* 2.5 d^(1/4)/(n epsilon M^(1/4)): the grid is in docs/methods/plr.md. */
static tacit_status choose_lambda(const tacit_plan *plan, double *out, tacit_error *error) {
    const double size = (double)perturb_size(plan);
    (void)error;
    *out = perturb_lambda(plan, 2.5 * pow(size / (double)plan->parties, 0.25) / plan->epsilon);
    return TACIT_OK;
}

PERTURB_OBJECTIVE_HALVES(LAW);

/* With lambda chosen on the way: a stack of one member is the same model. */
static tacit_status answer_chosen(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                  tacit_error *error) {
    return stacking_plan_answer(party, question, stacking_of_one, reply, error);
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    if (choosing_count(session->plan) > 0)
        return stacking_plan_coordinate(session, stacking_of_one, out, error);
    return perturb_objective_coordinate(session, out, error);
}

static const tacit_handler_entry handlers[] = { { .question = "weights", .answer = answer_weights },
                                                { .question = "stack", .answer = answer_chosen },
                                                { .question = NULL } };

const tacit_method tacit_method_plr = {
    .name = "plr",
    .title = "objective perturbation: a party's own model of a randomly tilted objective",
    .reference = "Chaudhuri, Monteleoni & Sarwate 2011; Yao et al. 2019, Algorithm 1",
    .version = 1,
    .units = "record",
    .spreads = true,
    .fits_alone = true,
    .chooses_lambda = true,
    TACIT_SETTINGS_OF(parameters, perturb_defaults),
    .choose_lambda = choose_lambda,
    .lambda_rule =
        "2.5 d^(1/4)/(n epsilon M^(1/4)), at most 1: d weights, n rows of a party at least, M parties",
    .leaves = "the weights of a model fitted to the party's rows and a random linear term, with a little "
              "noise for the solver's error",
    .seen_by = "[sees=sum: the coordinator sees the sum of all parties' answers, and no single "
               "one][sees=each: the coordinator sees each party's answer], and publishes their mean. Every "
               "answer carries its party's own noise, so at the price charged it may be shown to anybody",
    .guarantee =
        "epsilon-differential privacy (delta = 0) for replacing one row of a party, towards everybody",
    .assumption = "every row lies in the unit ball (the schema's encoding ensures it); two classes; the "
                  "number of a party's rows is no secret",
    .theorem = "b ~ G(d, 2/epsilon') and the Jacobian factor 1 + c/(n (lambda + Delta)) of a replaced row: "
               "epsilon' = .99 epsilon - log(1 + c/(n lambda)) or, where that is below half, Delta = c/(n "
               "(exp(.99 epsilon/2) - 1)) - lambda and half; c = 1/4, or 1/(2h) for loss=huber. The last .01 "
               "epsilon pays for the solver's certified error r, by G(d, 2r/(.01 epsilon)) on the weights "
               "(approximate minima, Iyengar et al. 2019)",
    .claim = "the same epsilon from the square of the Jacobian factor (calibration=paper: more noise than "
             "needed), and a solver that is taken to be exact",
    .caveats = "two classes only; a small n lambda is raised by Delta, which shrinks the weights",
    .prepare = prepare,
    .prepared_size = sizeof(tacit_sum_spec),
    .check = check,
    .price = choosing_prices,
    .noise = noise_law,
    .release_kind = perturb_release_kind,
    .exchanges = tacit_one_exchange,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
