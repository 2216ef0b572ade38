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
 * Other learners. Yao et al. name decision trees and networks as low models for later. With members=tree the
 * S_k get a private decision tree each, at (epsilon, delta), with members=mixed every second one
 * (stacking_trees.c, which holds the proof): the sigmoid is then of a leaf's log-odds. Parties' trees have no
 * mean, so that the coordinator keeps the members of all.
 *
 * Deviations from the box: meta-features are divided by sqrt(K), and may be centered (setting meta).
 */
#include <math.h>

#include "method/private/private_tuning.h"

static const tacit_parameter parameters[] = {
    TACIT_COUNT(stacking_settings, blocks, "blocks", 1, TACIT_STACK_MEMBERS_MOST,
                "K: how many blocks of rows, each with its own model"),
    STACKING_PARAMETERS,
    CHOOSING_PARAMETERS,
    TACIT_LATER_CHOICE(
        stacking_settings, low_models, "members", "plr|tree|mixed", "plr",
        "what each block gets: a linear model, a private decision tree (needs a delta), or the "
        "one and the other by turns"),
    TACIT_LATER_OPEN_COUNT(stacking_settings, depth, "depth", DPTREE_MOST_DEPTH, "0",
                           "splits from the root of a tree to a leaf, for members=tree and mixed",
                           "chosen from public numbers"),
    TACIT_LATER_OPEN_COUNT(
        stacking_settings, columns, "columns", DPTREE_MOST_COLUMNS, "0",
        "that a tree may split by after its first split: those that split all its rows best",
        "a third of them, at least 3"),
    TACIT_SETTINGS_END,
};

static tacit_status check(const tacit_plan *plan, tacit_error *error) {
    if (stacking_has_trees(plan) && choosing_count(plan) > 0)
        return tacit_fail(error, TACIT_USAGE,
                          "candidates of method pst-s are for members=plr: give one lambda, or choose it on "
                          "public rows");
    return stacking_plan_check(plan, stacking_of_blocks, error);
}

static tacit_status prepare(const tacit_plan *plan, void *spec, tacit_error *error) {
    return stacking_plan_prepare(plan, stacking_of_blocks, spec, error);
}

static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error) {
    (void)prepared;
    return stacking_plan_law(plan, stacking_of_blocks, out, error);
}

/* Of a tree's delta, where there is one. */
static tacit_status price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                          tacit_error *error) {
    TACIT_TRY(choosing_prices(plan, prepared, out, error));
    if (stacking_has_trees(plan) && isfinite(plan->epsilon))
        out->charged.delta = out->claimed.delta = plan->delta;
    return TACIT_OK;
}

/* The numbers of trees that are left open; without trees they stay 0, which a definition does not say. */
static tacit_status settle(tacit_plan *plan, tacit_error *error) {
    stacking how = STACKING_INIT;
    if (!stacking_has_trees(plan)) return TACIT_OK;
    tacit_status status = stacking_of_blocks(&how, plan, error);
    if (status == TACIT_OK) status = tacit_plan_settle_number(plan, "depth", (double)how.design.depth, error);
    if (status == TACIT_OK)
        status = tacit_plan_settle_number(plan, "columns", (double)how.design.kept, error);
    stacking_clear(&how);
    return status;
}

static tacit_status answer_stack(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                 tacit_error *error) {
    if (stacking_has_trees(party->plan))
        return tacit_fail(error, TACIT_REFUSED,
                          "the members of this study's stacks are trees, and have no sum");
    return stacking_plan_answer(party, question, stacking_of_blocks, reply, error);
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    return stacking_has_trees(session->plan)
               ? stacking_trees_coordinate(session, out, error)
               : stacking_plan_coordinate(session, stacking_of_blocks, out, error);
}

static const tacit_handler_entry handlers[] = { { .question = "stack", .answer = answer_stack },
                                                { .question = "members",
                                                  .answer = stacking_trees_answer,
                                                  .usable = stacking_trees_usable,
                                                  .answer_numbers = stacking_trees_numbers },
                                                { .question = NULL } };

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
    .leaves =
        "[members=plr: the weights of K models, each fitted to its own block of the party's rows and a "
        "random "
        "linear term][members=tree: K decision trees, each from counts of its own block of the party's rows, "
        "with noise added to every count][members=mixed: K models, each of its own block of the party's "
        "rows: "
        "weights fitted with a random linear term and, by turns with these, decision trees from counts with "
        "noise added to every count], and those of a model of their predictions on other rows",
    .seen_by = "[sees=sum: the coordinator sees the sum of all parties' answers, and no single "
               "one][sees=each: the coordinator sees each party's answer], and publishes [members=plr: their "
               "mean][members=tree|mixed: one stack of the members of all]. Every "
               "answer carries its party's own noise, so at the price charged it may be shown to anybody",
    .guarantee = "[members=plr: epsilon-differential privacy (delta = 0)][members=tree|mixed: (epsilon, "
                 "delta)-differential privacy] for replacing one row of a party, towards everybody",
    .assumption =
        "every row lies in the unit ball (the schema's encoding ensures it); two classes; the "
        "number of a party's rows is no secret[members=tree|mixed: ; cells and levels come from the "
        "public schema]",
    .theorem = "every row is in one block, or in the part for the high model, by its position alone: each is "
               "perturbed for epsilon (method plr)[members=tree|mixed: , or has a tree for (epsilon, delta): "
               "Gaussian "
               "noise on counts, in steps that together use up mu^2 (method dptree)], and parallel "
               "composition makes "
               "the whole [members=plr: epsilon][members=tree|mixed: (epsilon, delta)]",
    .claim = "the same epsilon, from the square of the Jacobian factor (calibration=paper), and a solver "
             "that is taken to be exact; of trees nothing",
    .caveats =
        "[members=plr: here for comparison: each model has a K-th of half of the rows, and plr on all of "
        "them "
        "is better][members=tree|mixed: each tree has a K-th of half of the rows, so that few blocks are "
        "better than many; for one tree of all rows see dptree; it takes no terms]; two classes only",
    .prepare = prepare,
    .prepared_size = sizeof(tacit_sum_spec),
    .check = check,
    .price = price,
    .noise = noise_law,
    .settle = settle,
    .single = stacking_has_trees,
    .release_kind = perturb_release_kind,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
