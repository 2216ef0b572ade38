/*
 * soft: a global model fitted to what share of the parties says what about public points, with noise (Hamm
 * 2016, Algorithm 2).
 *
 *   party k:      trains a classifier h_k of any type on its rows and answers h_k(x_i), i = 1..N
 *   coordinator:  a_ik = (parties that say class k of x_i)/M
 *                 w* = argmin (1/N) sum_i sum_k a_ik loss(w; x_i, k) + (lambda/2)|w|^2
 *                 publishes w* + b,  b ~ G(D, S/epsilon)
 *
 * Proof note. Adjacency: all rows of one party are replaced (unit party), so its answers may change in every
 * point. One
 *   answer moves the shares of a point by 1/M in two classes. Private data enter the objective only through
 *   s = (1/N) sum_i a_i x_i (model.h: tacit_model_fit_statistic), which moves by at most kappa/M in L2 norm
 *   for two classes and sqrt(2) kappa/M in Frobenius norm for more (points.h). The objective is
 *   lambda-strongly convex and the move of s is a move of its gradient that does not depend on w, so the
 *   minimiser moves by at most
 *     S = kappa/(M lambda),  K > 2: sqrt(2) kappa/(M lambda)                                          (tight)
 *   against the paper's 2/(M lambda) and sqrt(2)/(M lambda): its two-class bound adds |l'(t)| and |l'(-t)|,
 *   but l'(t) + l'(-t) = -1. S is also at most twice the norm of any minimiser. Softmax minimisers sum to
 *   zero over classes (sum_k of the gradient is lambda sum_k w_k), so noise in the (K - 1) d contrasts
 *   suffices. G(D, S/epsilon) makes it epsilon-DP (mechanism.h). Solver and rounding add 2 (g + r)/lambda to
 *   S (ensemble.c). aux_private: one of the N points may be replaced too. The other N - 1 contribute (N -
 *   1)/N of the above without kappa, the replaced one the change of a whole gradient, 2 (K > 2: 2 sqrt(2))
 *   over N lambda: together a factor of (N + 2M - 1)/N; with the printed two-class S the printed factor (N +
 *   M - 1)/N says the same.
 *
 * Deviations from the box: S is half of the printed one for two classes, and bounded for small lambda
 * (calibration=paper keeps the printed); lambda is chosen from public points and rehearsals unless it is
 * given; solver and rounding are paid for.
 */
#include <math.h>

#include "method/ensemble/ensemble.h"
#include "method/ensemble/rehearsal.h"

static const tacit_parameter parameters[] = {
    TACIT_ENSEMBLE_PARAMETERS,
    TACIT_ENSEMBLE_NOISE_PARAMETERS,
    TACIT_SETTINGS_END,
};

/* S of the proof note when `parties` answered. */
static double sensitivity(const tacit_plan *plan, size_t parties) {
    double m = (double)parties, n = plan->points != NULL ? (double)plan->points->rows.count : INFINITY;
    bool printed = !tacit_ensemble_tight(plan) && plan->classes == 2;
    return tacit_ensemble_sensitivity(plan, m * plan->lambda, 1 + ((printed ? 1 : 2) * m - 1) / n);
}

static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error) {
    (void)prepared;
    (void)error;
    *out = tacit_ensemble_law(plan, sensitivity(plan, plan->parties), tacit_ensemble_tight(plan));
    return TACIT_OK;
}

/* The coordinator's half, once the votes are there. */
static tacit_status learn(tacit_session *session, tacit_votes *votes, tacit_model **out, tacit_error *error) {
    tacit_votes_to_shares(votes);
    return tacit_ensemble_perturb(session, votes, sensitivity(session->plan, votes->parties),
                                  tacit_ensemble_tight(session->plan), out, error);
}

TACIT_ENSEMBLE_HALVES(learn);

static tacit_status hopeless(const tacit_plan *plan, char out[TACIT_HOPELESS_SIZE], tacit_error *error) {
    return tacit_plan_drowns(plan, tacit_ensemble_largest(plan),
                             "more parties, or soft-stat, which needs less noise", out, error);
}

const tacit_method tacit_method_soft = {
    .name = "soft",
    .title = "one model from the parties' shares of votes on public points, with noise",
    .reference = "Hamm et al. 2016, Algorithm 2",
    .version = 1,
    .units = "party",
    .needs_points = true,
    TACIT_SETTINGS_OF(parameters, tacit_ensemble_defaults),
    .local = tacit_ensemble_local,
    .leaves = TACIT_ENSEMBLE_LEAVES,
    .seen_by = TACIT_ENSEMBLE_SEEN_BY,
    .guarantee = TACIT_ENSEMBLE_GUARANTEE,
    .assumption = TACIT_ENSEMBLE_ASSUMPTION,
    .theorem = "gamma-norm noise of scale S/epsilon on the minimiser. S = kappa/(M lambda), sqrt(2) kappa/(M "
               "lambda) for more than two classes, M parties answering, kappa <= 1 the root of the largest "
               "eigenvalue of X^T X/N of the points; plus twice the solver's certified distance. Noise in "
               "the (K-1)d dimensions where the weights move",
    .claim = "the same epsilon, with S = 2/(M lambda) for two classes and without kappa",
    .caveats = "noise grows as 1/lambda: at the paper's lambda = 1e-4 it drowns the model unless M epsilon "
               "is large; without a lambda one is chosen from the public points alone. soft-stat gives more "
               "for the same price where points are public",
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
