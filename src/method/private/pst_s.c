/*
 * pst-s: private stacking over row blocks (Yao et al. 2019, Algorithm 2).
 *
 *   party:        D_l, D_h = its rows, split by position; S_1, ..., S_K = D_l in blocks
 *                 w_k = plr(epsilon) on S_k                                               for k = 1..K
 *                 m_k(x) = sigma(x.w_k)/sqrt(K), or centered (2 sigma(x.w_k) - 1)/sqrt(K)
 *                 h = plr(epsilon) on {(m(x), y): (x, y) in D_h}
 *                 answers w_1, ..., w_K, h
 *   coordinator:  the mean of the answers
 *
 * Proof note: stacking.h. S_1, ..., S_K and D_h are disjoint, so that all of it costs epsilon. The printed
 * meta-features have a norm of up to sqrt(K), and Algorithm 1 then scales rows by what they are found to be;
 * dividing by sqrt(K) needs no look at them.
 *
 * Deviations from the box: meta-features are divided by sqrt(K), and may be centered (setting meta).
 */
#include "method/private/private_tuning.h"

static const tacit_parameter parameters[] = {
    TACIT_COUNT(stacking_settings, blocks, "blocks", 1, TACIT_STACK_MEMBERS_MOST,
                "K: how many blocks of rows, each with its own model"),
    STACKING_PARAMETERS,
    CHOOSING_PARAMETERS,
    TACIT_SETTINGS_END,
};

STACKING_HALVES(stacking_of_blocks);

const tacit_method tacit_method_pst_s = {
    .name = "pst-s",
    .title = "stacking over blocks of rows: a private model of private models",
    .reference = "Yao et al. 2019, Algorithm 2",
    .version = 1,
    .units = "record",
    .fits_alone = true,
    .chooses_lambda = true,
    TACIT_SETTINGS_OF(parameters, stacking_defaults),
    .makes_stacks = true,
    .leaves = "the weights of K models, each fitted to its own block of the party's rows and a random linear "
              "term, and those of a model of their predictions on other rows",
    .seen_by = "[sees=sum: the coordinator sees the sum of all parties' answers, and no single "
               "one][sees=each: the coordinator sees each party's answer], and publishes their mean. Every "
               "answer carries its party's own noise, so at the price charged it may be shown to anybody",
    .guarantee =
        "epsilon-differential privacy (delta = 0) for replacing one row of a party, towards everybody",
    .assumption = "every row lies in the unit ball (the schema's encoding ensures it); two classes; the "
                  "number of a party's rows is no secret",
    .theorem = "every row is in one block, or in the part for the high model, by its position alone: each is "
               "perturbed for epsilon (method plr), and parallel composition makes the whole epsilon",
    .claim = "the same epsilon, from the square of the Jacobian factor (calibration=paper), and a solver "
             "that is taken to be exact",
    .caveats = "here for comparison: each model has a K-th of half of the rows, and plr on all of them is "
               "better; two classes only",
    .prepare = prepare,
    .prepared_size = sizeof(tacit_sum_spec),
    .check = check,
    .price = choosing_prices,
    .noise = noise_law,
    .release_kind = perturb_release_kind,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
