/*
 * pst-f: private stacking over groups of features (Yao et al. 2019, Algorithm 3).
 *
 *   public:       feature groups F_1, ..., F_K and their importances q_k, sum q_k = 1; lambda_k
 *   party:        D_l, D_h = its rows, split by position; n = |D_l|
 *                 rows of F_k scaled to |x_(k)| <= q_k
 *                 epsilon' = epsilon - sum_k log(1 + c q_k^2/(n lambda_k));  where that is below half:
 *                   Delta_k = c q_k^2/(n (exp(epsilon q_k/2) - 1)) - lambda_k (at least 0), epsilon' =
 *                   epsilon/2
 *                 b_k ~ G(d_k, 2/epsilon')
 *                 w_k = argmin (1/n) sum_{D_l} loss(y w.x_(k)) + ((lambda_k + Delta_k)/2)|w|^2 + b_k.w/n
 *                 m_k(x) = sigma(x_(k).w_k)/sqrt(K), or centered (2 sigma(x_(k).w_k) - 1)/sqrt(K)
 *                 h = plr(epsilon) on {(m(x), y): (x, y) in D_h}
 *                 answers w_1, ..., w_K, h
 *   coordinator:  the mean of the answers
 *
 * importance=uniform is the paper's PST-F(U): random groups, q_k = 1/K. The others are PST-F(W): features by
 * falling importance, cut into groups of equal size, q_k by equation (6).
 *
 * Proof note: stacking.h and, for the members, privacy/mechanism/erm.h (groups). The noise of a group is the
 * same whatever its q_k, and its rows are q_k long: important groups are heard better. Groups and q must be
 * public knowledge: taken from the private rows they would be a release of their own that nobody paid for.
 *
 * Deviations from the box: meta-features are divided by sqrt(K), and may be centered; epsilon' is one budget
 * for all groups with the sum of their logarithms; Delta_k is 0 where it would be negative; importances must
 * be public, where the paper takes them from the training rows and says that this voids the guarantee.
 */
#include "method/private/private_tuning.h"

static const tacit_parameter parameters[] = {
    STACKING_GROUP_PARAMETERS,
    STACKING_PARAMETERS,
    CHOOSING_PARAMETERS,
    TACIT_SETTINGS_END,
};

STACKING_HALVES(stacking_of_groups);

const tacit_method tacit_method_pst_f = {
    .name = "pst-f",
    .title = "stacking over groups of features: important ones are heard better",
    .reference = "Yao et al. 2019, Algorithm 3",
    .version = 1,
    .units = "record",
    .takes_points = true,
    .fits_alone = true,
    .chooses_lambda = true,
    TACIT_SETTINGS_OF(parameters, stacking_defaults),
    .makes_stacks = true,
    .leaves = "the weights of K models, each fitted to one group of the features of half of the party's rows "
              "and a random linear term, and those of a model of their predictions on the other half",
    .seen_by = "[sees=sum: the coordinator sees the sum of all parties' answers, and no single "
               "one][sees=each: the coordinator sees each party's answer], and publishes their mean. Every "
               "answer carries its party's own noise, so at the price charged it may be shown to anybody",
    .guarantee =
        "epsilon-differential privacy (delta = 0) for replacing one row of a party, towards everybody",
    .assumption =
        "every row lies in the unit ball (the schema's encoding ensures it); two classes; the number of a "
        "party's rows is no secret; groups and importances are public knowledge, not taken from the rows",
    .theorem = "b_k ~ G(d_k, 2/epsilon') loses q_k epsilon' and the Jacobian log(1 + c q_k^2/(n (lambda_k + "
               "Delta_k))) of a replaced row; over groups the first add up to epsilon', and epsilon' = .99 "
               "epsilon minus the second, or half of that with Delta_k = c q_k^2/(n (exp(.99 epsilon q_k/2) "
               "- 1)) - lambda_k. The last .01 epsilon pays for the solver's error. The high model has rows "
               "of its own: parallel composition",
    .claim = "the same epsilon from squares of the Jacobian factors (calibration=paper: more noise than "
             "needed), and a solver that is taken to be exact",
    .caveats = "wrong importances hurt; a well regularised plr on all rows is often as good "
               "(docs/methods/pst-f.md); two classes only",
    .prepare = prepare,
    .prepared_size = sizeof(tacit_sum_spec),
    .check = check,
    .price = choosing_prices,
    .noise = noise_law,
    .release_kind = perturb_release_kind,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
