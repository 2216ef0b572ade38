/*
 * gop: Gaussian objective perturbation (Rajkumar and Agarwal 2012, Algorithm 4 and Procedures 2 and 3). As
 * plr, with Gaussian noise: less of it in many dimensions, at the price of a delta.
 *
 *   party k:      epsilon~, Delta from n_k, lambda, epsilon          (privacy/mechanism/erm.h, steps 2 and 4)
 *                 b ~ N(0, s^2 I),  s = AG(epsilon~, delta; 2), or by the chi-square rule (calibration=paper)
 *                 w^ = argmin (1/n_k) sum_i loss(y_i w.x_i) + ((lambda + Delta)/2)|w|^2 + b.w/n_k
 *                 answers w^ + G(d, 2r/epsilon_slack)
 *   coordinator:  the mean of the answers
 *
 * Proof note. Adjacency: one row of one party is replaced; n_k stays. privacy/mechanism/erm.h, with R = 1:
 * step 5 for the chi-square rule, step 6 for AG, which holds for margin losses with a derivative in [-1, 0],
 * as both of ours are; and approximate minima, whose adaptive composition holds with a delta as well.
 *
 * Deviations from the boxes: the printed condition on s has lost a square; s is that of the analytic
 * Gaussian mechanism, where Procedure 3 has the chi-square rule (calibration=paper), and one logarithm where
 * Procedure 2 has two; a hundredth of epsilon pays for the minimum being approximate. With several parties
 * each runs the box on its own rows and the answers are averaged.
 */
#include <math.h>

#include "method/private/perturb.h"
#include "privacy/account/gaussian.h"

static const tacit_law LAW = TACIT_LAW_GAUSSIAN;

static tacit_status check(const tacit_plan *plan, tacit_error *error) {
    return perturb_objective_check(plan, LAW, error);
}

static tacit_status prepare(const tacit_plan *plan, void *spec, tacit_error *error) {
    return perturb_objective_prepare(plan, LAW, spec, error);
}

/* 1/(n mu M^(1/4)), mu = 1/AG(epsilon, delta; 1): the grid is in docs/methods/gop.md. */
static tacit_status choose_lambda(const tacit_plan *plan, double *out, tacit_error *error) {
    double noise = 0;
    if (isfinite(plan->epsilon))
        TACIT_TRY(tacit_gaussian_sigma(&noise, plan->epsilon, plan->delta, 1, error));
    *out = perturb_lambda(plan, noise / pow((double)plan->parties, 0.25));
    return TACIT_OK;
}

static tacit_status price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                          tacit_error *error) {
    (void)prepared;
    (void)error;
    out->charged = out->claimed = (tacit_price){ TACIT_UNIT_RECORD, plan->epsilon, plan->delta };
    return TACIT_OK;
}

PERTURB_OBJECTIVE_HALVES(LAW);

static const tacit_handler_entry handlers[] = { { .question = "weights", .answer = answer_weights },
                                                { .question = NULL } };

const tacit_method tacit_method_gop = {
    .name = "gop",
    .title = "Gaussian objective perturbation: as plr, with Gaussian noise and a delta",
    .reference = "Rajkumar & Agarwal 2012, Algorithm 4",
    .version = 1,
    .units = "record",
    .spreads = true,
    .fits_alone = true,
    .needs_delta = true,
    .at_delta_0 = "plr",
    TACIT_SETTINGS_OF(perturb_parameters, perturb_defaults),
    .choose_lambda = choose_lambda,
    .lambda_rule = "1/(n mu M^(1/4)), at most 1: n rows of a party at least, M parties, mu what the price "
                   "buys (1/mu is the noise over the sensitivity)",
    .leaves = "the weights of a model fitted to the party's rows and a random linear term, with a little "
              "noise for the solver's error",
    .seen_by = "[sees=sum: the coordinator sees the sum of all parties' answers, and no single "
               "one][sees=each: the coordinator sees each party's answer], and publishes their mean. Every "
               "answer carries its party's own noise, so at the price charged it may be shown to anybody",
    .guarantee = "(epsilon, delta)-differential privacy for replacing one row of a party, towards everybody",
    .assumption = "every row lies in the unit ball (the schema's encoding ensures it); two classes; the "
                  "number of a party's rows is no secret",
    .theorem = "b ~ N(0, s^2 I) and the Jacobian factor 1 + c/(n (lambda + Delta)) of a replaced row: "
               "epsilon~ = .99 epsilon - log(1 + c/(n lambda)) or, where that is below half, Delta = c/(n "
               "(exp(.99 epsilon/2) - 1)) - lambda and half; s the exact Gaussian calibration (Balle and "
               "Wang 2018) for a shift of 2 at (epsilon~, delta), which covers the shift's dependence on b "
               "for losses with a derivative in [-1, 0] (the worst pair found by computation). The last .01 "
               "epsilon pays for the solver's certified error (approximate minima, Iyengar et al. 2019)",
    .claim = "the same (epsilon, delta) from the square of the Jacobian factor and a chi-square bound on |b| "
             "(calibration=paper, with the square that the printed condition lost): about ten times the "
             "noise in ten dimensions",
    .caveats = "two classes only; delta is a chance of failing altogether: keep it far below 1/n",
    .prepare = prepare,
    .prepared_size = sizeof(tacit_sum_spec),
    .check = check,
    .price = price,
    .noise = noise_law,
    .release_kind = perturb_release_kind,
    .exchanges = tacit_one_exchange,
    .coordinate = TACIT_CENTER_HALF(perturb_objective_coordinate),
    .handlers = handlers,
};
