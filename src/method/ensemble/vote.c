/*
 * vote: a global model fitted to the labels that most parties give to public points, with noise (Hamm 2016,
 * Algorithm 1).
 *
 *   party k:      trains a classifier h_k of any type on its rows and answers h_k(x_i), i = 1..N
 *   coordinator:  v_i = the class with most answers of x_i, the first of equals
 *                 w* = argmin (1/N) sum_i loss(w; x_i, v_i) + (lambda/2)|w|^2
 *                 publishes w* + b,  b ~ G(D, S/epsilon)
 *
 * Proof note. Adjacency: all rows of one party are replaced (unit party). Where parties are split evenly its
 * answers
 *   decide, so every label may change: shares that are 0 or 1 move by 1 in two classes, and the argument of
 *   soft.c gives
 *     S = kappa/lambda,  K > 2: sqrt(2) kappa/lambda
 *   whatever M; also S <= 2 sqrt(W((K-1)/e)/lambda), twice the largest norm of a minimiser (ensemble.h),
 *   which is the smaller for lambda below .9 kappa^2 (two classes). Paper: 2/lambda and sqrt(2)/lambda.
 *   aux_private: a replaced point changes by a whole gradient, of norm at most 2 (K > 2: 2 sqrt(2)) over N,
 *   the others by the above without kappa: a factor of (N + 1)/N. The printed two-class 2/lambda covers it
 *   already.
 *
 * Deviations from the box: S is the smaller of kappa/lambda and twice the norm of a minimiser, where the box
 * has 2/lambda (calibration=paper); ties go to the first class; more than two classes as in appendix B;
 * lambda is chosen from public points and rehearsals unless it is given; solver and rounding are paid for.
 */
#include <math.h>

#include "method/ensemble/ensemble.h"
#include "method/ensemble/rehearsal.h"

static const tacit_parameter parameters[] = {
    TACIT_ENSEMBLE_PARAMETERS,
    TACIT_ENSEMBLE_NOISE_PARAMETERS,
    TACIT_SETTINGS_END,
};

/* S of the proof note. */
static double sensitivity(const tacit_plan *plan) {
    double n = plan->points != NULL ? (double)plan->points->rows.count : INFINITY;
    bool printed = !tacit_ensemble_tight(plan) && plan->classes == 2;
    return tacit_ensemble_sensitivity(plan, plan->lambda, printed ? 1 : 1 + 1 / n);
}

static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error) {
    (void)prepared;
    (void)error;
    *out = tacit_ensemble_law(plan, sensitivity(plan), tacit_ensemble_tight(plan));
    return TACIT_OK;
}

/* The coordinator's half, once the votes are there. */
static tacit_status learn(tacit_session *session, tacit_votes *votes, tacit_model **out, tacit_error *error) {
    tacit_votes_to_labels(votes);
    return tacit_ensemble_perturb(session, votes, sensitivity(session->plan),
                                  tacit_ensemble_tight(session->plan), out, error);
}

TACIT_ENSEMBLE_HALVES(learn);

static tacit_status hopeless(const tacit_plan *plan, char out[TACIT_HOPELESS_SIZE], tacit_error *error) {
    return tacit_plan_drowns(
        plan, tacit_ensemble_largest(plan),
        "soft-stat or pate, whose noise falls with the number of parties (vote's does not)", out, error);
}

const tacit_method tacit_method_vote = {
    .name = "vote",
    .title = "one model from the parties' majority labels of public points, with noise",
    .reference = "Hamm et al. 2016, Algorithm 1",
    .version = 1,
    .units = "party",
    .needs_points = true,
    TACIT_SETTINGS_OF(parameters, tacit_ensemble_defaults),
    .local = tacit_ensemble_local,
    .leaves = TACIT_ENSEMBLE_LEAVES,
    .seen_by = TACIT_ENSEMBLE_SEEN_BY,
    .guarantee = TACIT_ENSEMBLE_GUARANTEE,
    .assumption = TACIT_ENSEMBLE_ASSUMPTION,
    .theorem =
        "gamma-norm noise of scale S/epsilon on the minimiser. S = the lesser of kappa/lambda (sqrt(2) "
        "kappa/lambda for more than two classes) and 2 sqrt(W((K-1)/e)/lambda), W Lambert's function; plus "
        "twice the solver's certified distance. Noise in the (K-1)d dimensions where the weights move",
    .claim = "the same epsilon, with S = 2/lambda for two classes and sqrt(2)/lambda for more: at lambda = "
             "1e-4 that is 20,000 where 106 is enough",
    .caveats =
        "more parties do not lessen the noise: one party may decide every label. Use soft or soft-stat",
    .check = tacit_ensemble_check,
    .price = tacit_ensemble_price,
    .choose_lambda = choose_lambda,
    .hopeless = hopeless,
    .noise = noise_law,
    .release_kind = tacit_ensemble_kind,
    .exchanges = tacit_one_exchange,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = tacit_ensemble_handlers,
};
