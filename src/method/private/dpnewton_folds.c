/*
 * Cross-validation of dpnewton at the price of one model: K folds, one model without each, all asked about
 * in the same questions; every row scored once, by the model that has not seen it; and the mean of the K
 * models as the result.
 *
 *   fold(i)     by the place of row i at its party and a public seed (data/folds.h)
 *   once:       A, as ever, of all rows: it says nothing of the response
 *   t = 1..T:   g_1, .., g_K,   g_f = sum of clipped gradients at W_f over the rows outside fold f
 *   last:       c = counts of scores on a public grid, by class (model/report/evaluation.h), of each row
 *               under the model of its fold, a fifth of the budget
 *   model:      mean of the K models
 *
 * Proof note. Adjacency: replace one row of one party, in its place. No row changes its fold, since folds
 *   go by places and the number of rows alone. The row is outside of K - 1 folds: in each of K - 1 blocks
 *   its clipped gradient, divided by 2c, has norm at most 1/2 whatever W_f is (dpnewton.c), so each block
 *   moves by at most 1 and all of them together by at most sqrt(K - 1) in L2 norm. Its own fold's block does
 *   not move. Roundings of the K sums add 2 sqrt(K) GRADIENT_ROUNDING. Counts: the row is in one cell of one
 *   class (with J > 2 classes in J + 1 counts) by the score that public weights give it, or in eight sums of
 *   bounded terms for a number: sqrt(2), sqrt(2 (J + 1)) or 4 in L2 norm, as proved in tables/evaluate.c; a
 *   sum of 2^24 terms within [-1, 1] rounds by less than 2^-6, eight of them by less than .0443, on either
 *   side. Weights beyond WEIGHT_MOST are refused by the message alone, so that scores are numbers and
 *   whether a party answers tells nothing of its rows. Each question has its share of mu^2, and the shares
 *   add up to 1: the composition of dpnewton.c as it stands. The mean of the models and all figures are
 *   post-processing.
 *
 * What it costs in noise. With s the noise of one gradient of a study without folds, a block has s sqrt(K
 *   - 1) on n (K - 1)/K rows. The noises of the blocks are independent, so the mean of K models has s
 *   sqrt(K/(K - 1))/n where one model has s/n: 12% more with five folds, 5% with ten; and the fifth for the
 *   counts is 12% more. One of the K models has s K/(sqrt(K - 1) n): 2.5 with five folds. So figures are of
 *   models with more noise than the result. Its log-loss on new rows is, in expectation, at most that of the
 *   K models: the loss is convex in the score, and the result's score is the mean of theirs. Squared error
 *   and the loss of counts alike.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "method/private/dpnewton.h"

static const double WEIGHT_MOST = 1e12;
static const double COUNT_ROUNDING = 0.0443;

enum { MOST_COLUMNS = 256 };

/* ---- the public numbers ---- */

tacit_status dpnewton_check_folds(const tacit_plan *plan, tacit_error *error) {
    const dpnewton_settings *settings = dpnewton_settings_of(plan);
    if (settings->folds == 0) return TACIT_OK;
    if (settings->folds == 1)
        return tacit_fail(error, TACIT_USAGE, "folds=1 holds all rows out: have at least 2, or 0 for none");
    if (settings->purpose == DPNEWTON_FOR_INFERENCE)
        return tacit_fail(error, TACIT_USAGE,
                          "folds are for purpose=prediction: with purpose=inference the intervals say how "
                          "much is known. Leave 'folds' or 'purpose' out");
    if (settings->unit == DPNEWTON_PER_PERSON || (plan->schema != NULL && plan->schema->person != NULL))
        return tacit_fail(error, TACIT_USAGE,
                          "folds are dealt by the place of each row, so that rows of one person would be on "
                          "both sides and the figures flatter: keep one row a person and leave person: out "
                          "of the schema, or leave 'folds' out and evaluate at other sites");
    if (plan->schema != NULL && plan->features > MOST_COLUMNS)
        return tacit_fail(error, TACIT_USAGE, "folds are for at most %d columns, and there are %zu",
                          (int)MOST_COLUMNS, plan->features);
    return TACIT_OK;
}

double dpnewton_gradient_sensitivity(const dpnewton_design *design) {
    double folds = (double)design->folds.count;
    return folds > 0 ? sqrt(folds - 1) + 2 * (sqrt(folds) - 1) * GRADIENT_ROUNDING : 1;
}

/* How many counts a replaced row moves by 1. */
static double moved(const dpnewton_design *design) {
    return design->classes == 2 ? 2 : 2 * (double)(design->classes + 1);
}

double dpnewton_counts_sensitivity(const dpnewton_design *design) {
    return design->classes > 0 ? sqrt(moved(design)) : 4 + 2 * COUNT_ROUNDING;
}

/* As method evaluate chooses them: the noise in the area grows with the root of the number of cells. */
static size_t cells_of(const tacit_plan *plan, const dpnewton_design *design, double strength) {
    enum { STEP = 20 };
    if (isinf(strength) || design->classes == 0) return TACIT_SCORE_CELLS;
    double noise = fmax(1, sqrt(moved(design)) / strength);
    double steps = round(sqrt(dpnewton_rows(plan) / noise) / STEP);
    return (size_t)fmin(fmax(steps, 1) * STEP, TACIT_SCORE_CELLS);
}

tacit_status dpnewton_set_tally(const tacit_plan *plan, dpnewton_design *out, double strength,
                                tacit_error *error) {
    if (out->folds.count == 0) return TACIT_OK;
    return tacit_tally_create(&out->tally, plan->schema, plan->classes, cells_of(plan, out, strength), NULL,
                              error);
}

/* ---- the party's half ---- */

tacit_status dpnewton_sum_fold_gradients(tacit_party *party, const dpnewton_design *design,
                                         const double *weights, double *out, tacit_error *error) {
    const size_t size = design->scores * design->width;
    tacit_party part = *party;
    tacit_folds folds;
    part.memo = NULL; /* packed rows are those of all folds */
    TACIT_TRY(tacit_folds_assign_places(&folds, &party->rows, design->folds, error));
    tacit_status status = TACIT_OK;
    for (size_t f = 0; status == TACIT_OK && f < folds.count; f++) {
        part.rows = tacit_folds_outside(&folds, &party->rows, f);
        status = dpnewton_sum_gradient(&part, design, weights + f * size, out + f * size, error);
    }
    tacit_folds_clear(&folds);
    return status;
}

static tacit_status count_fold(tacit_party *party, const dpnewton_design *design, const tacit_view *inside,
                               const double *weights, double *out, tacit_error *error) {
    tacit_model *model = NULL;
    TACIT_TRY(tacit_model_create(&model, design->family->family, design->width, design->classes, error));
    memcpy(model->weights, weights, design->scores * design->width * sizeof *weights);
    tacit_status status = tacit_tally_add(&design->tally, model, inside, party->pool, out, error);
    tacit_model_free(model);
    return status;
}

tacit_status dpnewton_count_held_out(tacit_party *party, const dpnewton_design *design, const double *weights,
                                     double *out, tacit_error *error) {
    const size_t size = design->scores * design->width;
    tacit_folds folds;
    for (size_t j = 0; j < design->models * size; j++)
        if (!(fabs(weights[j]) <= WEIGHT_MOST))
            return tacit_fail(error, TACIT_REFUSED,
                              "the coordinator asks for scores of a model without bounds");
    TACIT_TRY(gradient_check_rows(party, error));
    memset(out, 0, design->counts.length * sizeof *out);
    TACIT_TRY(tacit_folds_assign_places(&folds, &party->rows, design->folds, error));
    tacit_status status = TACIT_OK;
    for (size_t f = 0; status == TACIT_OK && f < folds.count; f++) {
        const tacit_view inside = tacit_folds_inside(&folds, &party->rows, f);
        if (inside.rows.count > 0)
            status = count_fold(party, design, &inside, weights + f * size, out, error);
    }
    tacit_folds_clear(&folds);
    if (status != TACIT_OK || party->reducer == NULL) return status;
    return party->reducer->sum(party->reducer->context, out, design->counts.length, error);
}

/* ---- the coordinator's half ---- */

tacit_status dpnewton_validate(tacit_session *session, const dpnewton_design *design, const double *weights,
                               tacit_model *model, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    tacit_score_wishes wishes = tacit_score_wishes_usual();
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    char text[320];
    tacit_status status;
    wishes.least = 5;
    if (plan->schema != NULL)
        TACIT_CHECK(tacit_model_describe(model, &plan->schema->classes, plan->schema, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", weights, design->gradient.length, error));
    TACIT_CHECK(dpnewton_ask(session, "held-out", &message, &design->counts, &design->held_out,
                             design->counts.length, &sum, error));
    TACIT_CHECK(tacit_evaluation_report(&model->validation, &design->tally, model, sum.values,
                                        design->held_out.deviation, &wishes, error));
    tacit_format(text, sizeof text,
                 "%zu folds of each party's rows, dealt by fold_seed %llu; each row is scored by the model "
                 "that was made without its fold. The published model is the mean of these %zu, and has less "
                 "noise than each of them",
                 design->folds.count, (unsigned long long)design->folds.seed, design->folds.count);
    TACIT_CHECK(tacit_report_add_fact(model->validation, "cross-validation", (double)design->folds.count,
                                      text, error));
cleanup:
    tacit_message_clear(&message);
    tacit_sum_clear(&sum);
    return status;
}
