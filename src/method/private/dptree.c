/*
 * dptree: a decision tree on all rows of all parties, from counts with noise (ours, after Friedman and
 * Schuster 2010, whose trees choose splits from noisy counts too).
 *
 *   all:          public cells along each column: c of equal width in the schema's bounds, or its levels
 *   for t = 0 .. D - 1, about the leaves of the tree so far, at most 2^t of them
 *     party k:      of each leaf, column asked about, cell and class: how many of its rows are there
 *     coordinator:  the sum with noise; splits every leaf where that shows a gain (dptree_grow.c); after the
 *                   first question keeps the columns that split the root best, and asks about those only
 *   at last, about all leaves
 *     party k:      of each leaf and class: how many of its rows are there
 *     coordinator:  the sum with noise; every leaf's shares of the classes, drawn towards those above it
 *
 * Proof note. Adjacency: replace one row of a party (unit record). A row is in one leaf, whatever the tree,
 *   and in one cell of each column: its part of the answer to question t is m_t counts of 1, m_t the columns
 *   asked about (in the last question, one count). Replacing it takes m_t counts down by 1 and as many up by
 *   1, so that the answer moves by at most S_t = sqrt(2 m_t) in L2 norm (sqrt(2) in the last), whichever
 *   columns, leaves and thresholds the coordinator has chosen: the party counts columns and leaves itself,
 *   refuses more of them than the study has, and any of them twice. Counts are whole numbers; the grid of the
 *   sum divides 1, so that nothing is rounded (a hair is added to S_t all the same: dpnewton_plan.c).
 *   Question t has the share a_t of the budget: its noise is Gaussian of deviation S_t sigma/sqrt(a_t),
 *   sigma = AG(epsilon, delta; 1), that is (sqrt(a_t)/sigma)-Gaussian-DP. Shares add up to 1, so that all
 *   questions, each asked in view of the answers before, are together (1/sigma)-Gaussian-DP (Dong, Roth and
 *   Su 2022, corollary 3.3): (epsilon, delta). Splits, columns kept and leaves' shares are made of what was
 *   released: post-processing. noise=shares: as in dpnewton.c, discrete Gaussian shares whose sum counts as
 *   that Gaussian (privacy/mechanism/shares.h).
 */
#include "method/private/dptree.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

static bool by_shares(const tacit_plan *plan) {
    return dptree_settings_of(plan)->engine.noise == DPNEWTON_BY_SHARES;
}

static tacit_status prepare(const tacit_plan *plan, void *out, tacit_error *error) {
    tacit_status status = dptree_describe(plan, out, error);
    if (status != TACIT_OK) dptree_clear(out);
    return status;
}

static void clear_prepared(void *prepared) { dptree_clear(prepared); }

static tacit_release_kind release_kind(const tacit_plan *plan) {
    return dpnewton_kind(&dptree_settings_of(plan)->engine);
}

/* ---- the party's half ---- */

/* The question of this name that the study has in this place. */
static tacit_status answer_place(tacit_party *party, const tacit_question *question, bool leaves,
                                 tacit_reply *reply, tacit_error *error) {
    dptree_design design;
    dptree_question asked = { .tree = NULL };
    double *values = NULL;
    tacit_status status;
    TACIT_TRY(tacit_party_prepared(party, &design, error));
    const size_t t = question->round > design.depth ? design.depth + 1 : (size_t)question->round;
    if (t > design.depth || leaves != (t == design.depth))
        return tacit_fail(error, TACIT_REFUSED, "round %llu of this study is not one for %s",
                          (unsigned long long)question->round, question->name);
    const tacit_sum_spec *spec = &design.sum[t];
    TACIT_CHECK(gradient_check_sum(question, spec, error));
    TACIT_CHECK(gradient_check_rows(party, error));
    TACIT_CHECK(dptree_question_read(&asked, &design, t, question->message, error));
    values = TACIT_NEW(double, spec->length);
    if (values == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(dptree_count(party, &design, &asked, values, spec->length, error));
    TACIT_CHECK(dpnewton_give(party, &design.release[t], spec, &values, reply, error));
cleanup:
    free(values);
    dptree_question_clear(&asked);
    return status;
}

static tacit_status answer_splits(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                  tacit_error *error) {
    return answer_place(party, question, false, reply, error);
}

static tacit_status answer_leaves(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                  tacit_error *error) {
    return answer_place(party, question, true, reply, error);
}

/* ---- the coordinator's half ---- */

typedef struct asking {
    tacit_session *session;
    size_t parties; /* that answered last */
} asking;

static tacit_status ask(void *context, const dptree_growth *growth, size_t t, double **counts,
                        tacit_error *error) {
    asking *self = context;
    const dptree_design *design = growth->design;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    if (t < design->depth) tacit_progress_report(self->session->progress, "splits", t, design->depth + 1);
    TACIT_CHECK(dptree_question_write(&growth->next, &message, error));
    TACIT_CHECK(dpnewton_ask(self->session, t == design->depth ? "leaves" : "splits", &message,
                             &design->sum[t], &design->release[t], design->sum[t].length, &sum, error));
    self->parties = sum.parties;
    *counts = sum.values;
    sum.values = NULL;
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    dptree_design design;
    asking self = { .session = session };
    tacit_model *model = NULL;
    TACIT_TRY(tacit_session_prepared(session, &design, error));
    TACIT_TRY(dptree_make(&design, ask, &self, &model, error));
    out->parties = self.parties;
    return tacit_outcome_add(out, model, error);
}

static const tacit_handler_entry handlers[] = { { .question = "splits", .answer = answer_splits },
                                                { .question = "leaves", .answer = answer_leaves },
                                                { .question = NULL } };

static uint64_t exchanges(const tacit_plan *plan) {
    dptree_design design;
    uint64_t count = dptree_describe(plan, &design, NULL) == TACIT_OK ? design.depth + 1 : 0;
    dptree_clear(&design);
    return count;
}

const tacit_method tacit_method_dptree = {
    .name = "dptree",
    .title = "a decision tree on all parties' rows, from counts with noise",
    .reference = "after Friedman & Schuster 2010; docs/methods/dptree.md",
    .version = 1,
    .units = "record",
    .spreads = true,
    .needs_delta = true,
    .terms = TACIT_TERMS_NONE,
    .lambda_may_vanish = true,
    .makes_trees = true,
    .fits_alone_by_party = true,
    TACIT_SETTINGS_OF(dptree_parameters, dptree_defaults),
    .shares_noise = by_shares,
    .leaves =
        "for each split from the root to a leaf, how many of the party's rows of each class are in each "
        "leaf of the tree so far, by cells of its columns; at last, how many are in each leaf[noise=party: "
        ", each with the party's own noise added][noise=shares: , each with the party's share of the "
        "noise added], as contributions to sums",
    .seen_by =
        "[noise=coordinator,sees=sum: the coordinator sees the exact counts of all parties together, "
        "and no single party's][noise=coordinator,sees=each: the coordinator sees each party's exact "
        "counts][noise=party,sees=sum: the coordinator sees the sums of all parties' noisy counts, and "
        "no single party's][noise=party,sees=each: the coordinator sees each party's noisy "
        "counts][noise=shares: the coordinator sees the counts of all parties together, with the noise "
        "in them, and no single party's]. Everybody sees the tree after every question",
    .guarantee =
        "(epsilon, delta)-differential privacy of all questions together, for replacing one row of a "
        "party, towards everybody who sees all of them[noise=party|shares: , the coordinator "
        "included][noise=coordinator: . There is no such guarantee towards the coordinator, which "
        "sees exact values]",
    .assumption =
        "the number of a party's rows is no secret; cells and levels come from the public "
        "schema[noise=coordinator: ; the coordinator adds the noise, publishes only noisy results and keeps "
        "the exact values to itself][noise=shares: ; secure summation, and that no more parties vanish from "
        "a sum or collude than the study declares]",
    .theorem =
        "Gaussian noise on counts of L2 sensitivity sqrt(2 m), m the columns that a question is about, and "
        "sqrt(2) for the leaves, each question with its share of mu^2, mu the largest Gaussian-DP parameter "
        "that (epsilon, delta) allows (Balle and Wang 2018); shares add up to 1, also when adaptive (Dong, "
        "Roth and Su 2022)[noise=shares: ; the noise in shares of discrete Gaussians on a grid so fine that "
        "their sum counts as one Gaussian]",
    .claim = "no paper's",
    .caveats =
        "a question for each split from the root to a leaf and one more: every party must stay "
        "connected. A column that splits the root badly is not asked about again, so that what only two "
        "columns together tell may be missed. Where noise hides every gain the tree is a single leaf, "
        "the share of each class",
    .prepare = prepare,
    .clear_prepared = clear_prepared,
    .prepared_size = sizeof(dptree_design),
    .price = dpnewton_whole_price,
    .settle = dptree_settle,
    .noise = dptree_noise_law,
    .release_kind = release_kind,
    .exchanges = exchanges,
    .fewest = 2,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
