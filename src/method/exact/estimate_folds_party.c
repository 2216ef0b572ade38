/*
 * What parties do for cross-validation (estimate.h).
 *
 * What the folds give away. The sums of all rows less those outside a fold are the fold's own, so a fold is
 * a set of rows like any other: a real party whose smallest fold has fewer rows than its owner's minimum
 * takes no part, and the record of past exact sums holds the rows outside every fold as a set of their own
 * (site/site_sum_history.c). Weights may be lies: those of each fold are looked at as those of any round are
 * (estimate_bounds.c), over the rows outside it, and the scores of held-out rows are counted at one choice
 * of weights in a study.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "method/exact/estimate.h"

tacit_fold_plan tacit_estimate_folds(const tacit_plan *plan) {
    const tacit_estimate_settings *settings = tacit_estimate_settings_of(plan);
    return (tacit_fold_plan){ (size_t)settings->folds, settings->fold_seed };
}

size_t tacit_estimate_fold_length(size_t width) {
    return 1 + tacit_sums_length(TACIT_WEIGH_CURVATURE, width);
}

tacit_status tacit_estimate_check_folds(const tacit_plan *plan, const tacit_family *family,
                                        const tacit_design *design, tacit_error *error) {
    enum { MOST_NUMBERS = 1 << 21 };
    const tacit_estimate_settings *settings = tacit_estimate_settings_of(plan);
    const size_t folds = tacit_estimate_folds(plan).count;
    if (folds == 0) return TACIT_OK;
    if (folds == 1)
        return tacit_fail(error, TACIT_USAGE, "folds=1 holds all rows out: have at least 2, or 0 for none");
    if (!family->likelihood || family->loss.columns != 1)
        return tacit_fail(error, TACIT_USAGE,
                          "folds are for families linear, logistic, poisson, multinomial and ordinal");
    if (settings->bias != TACIT_ESTIMATE_PLAIN || tacit_estimate_apart_wanted(plan) ||
        tacit_estimate_sets(plan) > 0 || design->weights != SIZE_MAX)
        return tacit_fail(error, TACIT_USAGE,
                          "models without a fold are fitted as they are and every held-out row counts once: "
                          "leave 'bias', 'intercepts', imputed values and weights out, or 'folds'");
    if (folds * tacit_estimate_fold_length(design->width) > MOST_NUMBERS)
        return tacit_fail(error, TACIT_USAGE,
                          "%zu folds of %zu columns are sums of more than %d numbers: have fewer of either",
                          folds, design->width, MOST_NUMBERS);
    tacit_tally tally;
    tacit_sum_spec spec;
    return tacit_estimate_tally(&tally, &spec, plan, error);
}

tacit_status tacit_estimate_tally(tacit_tally *out, tacit_sum_spec *spec, const tacit_plan *plan,
                                  tacit_error *error) {
    static const double MOST_ROWS = 1073741824.0; /* of one party: 2^30 */
    int party_bits;
    TACIT_TRY(tacit_tally_create(out, plan->schema, plan->classes, TACIT_SCORE_CELLS, NULL, error));
    frexp((double)plan->parties, &party_bits);
    *spec = (tacit_sum_spec){ tacit_tally_length(out), MOST_ROWS, plan->classes > 0 ? 0 : 32 - party_bits };
    return TACIT_OK;
}

/* ---- a party's folds ---- */

static tacit_status assign_folds(tacit_folds *out, const tacit_party *party, tacit_error *error) {
    const tacit_fold_plan plan = tacit_estimate_folds(party->plan);
    *out = (tacit_folds){ .count = 0 };
    if (plan.count == 0)
        return tacit_fail(error, TACIT_REFUSED, "the coordinator asks for folds, and the study has none");
    if (party->reducer != NULL)
        return tacit_fail(error, TACIT_REFUSED,
                          "folds are made from all rows of a party, and this one's are spread over several "
                          "processes: run it in one");
    return tacit_folds_assign(out, &party->rows, plan, error);
}

tacit_status tacit_estimate_admit_folds(const tacit_party *party, tacit_error *error) {
    const bool real = party->gate != NULL && party->gate->mode == TACIT_GATE_REAL;
    tacit_folds folds;
    if (tacit_estimate_folds(party->plan).count == 0) return TACIT_OK;
    TACIT_TRY(assign_folds(&folds, party, error));
    tacit_status status =
        tacit_folds_admit(&folds, real && !party->follows ? party->gate->policy->minimum_rows : 1, error);
    tacit_folds_clear(&folds);
    return status;
}

/* ---- questions ---- */

/* The sums of the rows outside one fold, and what is looked at before they leave. */
static tacit_status sum_outside(double *out, const tacit_party *party, const tacit_question *question,
                                tacit_estimate_pass *pass, const tacit_view *outside, const double *w,
                                const tacit_sum_spec *spec, tacit_error *error) {
    tacit_party part = *party;
    part.rows = *outside;
    tacit_row_sums how = { .family = pass->family,
                           .several = pass->design.shape.scores > 0 ? &pass->design.shape : NULL,
                           .weight = TACIT_WEIGH_CURVATURE,
                           .width = pass->design.width,
                           .w = w,
                           .kept = pass->design.kept,
                           .design = &pass->design,
                           .response = tacit_estimate_response,
                           .context = pass,
                           .pool = party->pool };
    out[0] = ldexp((double)outside->rows.count, -spec->grid_bits); /* whole steps, as in a head */
    TACIT_TRY(tacit_row_sums_make(out + 1, &how, outside, error));
    return tacit_estimate_bounds(&part, question, &how, error);
}

tacit_status tacit_estimate_answer_folds(tacit_party *party, const tacit_question *question,
                                         tacit_reply *reply, tacit_error *error) {
    const size_t count = tacit_estimate_folds(party->plan).count;
    const double *w, *terms;
    tacit_folds folds = { .count = 0 };
    tacit_sum_spec spec;
    tacit_estimate_pass pass;
    TACIT_TRY(tacit_estimate_begin_pass(&pass, party, error));
    tacit_status status;
    const size_t width = pass.design.width, each = tacit_estimate_fold_length(width);
    TACIT_CHECK(assign_folds(&folds, party, error));
    TACIT_CHECK(tacit_message_numbers(question->message, "weights", count * width, &w, error));
    TACIT_CHECK(tacit_message_numbers(question->message, "response", TACIT_ESTIMATE_TERMS, &terms, error));
    TACIT_CHECK(tacit_estimate_begin_sum(party, question, terms, count * each, &spec, reply, error));
    double *out = reply->contribution + TACIT_ESTIMATE_HEAD;
    for (size_t k = 0; k < count; k++) {
        const tacit_view outside = tacit_folds_outside(&folds, &party->rows, k);
        TACIT_CHECK(
            sum_outside(out + k * each, party, question, &pass, &outside, w + k * width, &spec, error));
    }
    TACIT_CHECK(tacit_estimate_finish_reply(party, &spec, reply, error));
cleanup:
    tacit_folds_clear(&folds);
    tacit_estimate_end_pass(&pass);
    return status;
}

/* The weights are looked at over the rows that they were fitted to; what is summed there stays here. */
static tacit_status count_fold(double *out, double *scratch, const tacit_party *party,
                               const tacit_question *question, tacit_estimate_pass *pass, tacit_folds *folds,
                               size_t fold, const double *w, const tacit_tally *tally, tacit_error *error) {
    static const tacit_sum_spec nowhere = { .grid_bits = 0 };
    const tacit_view outside = tacit_folds_outside(folds, &party->rows, fold);
    const tacit_view inside = tacit_folds_inside(folds, &party->rows, fold);
    tacit_model *model = NULL;
    TACIT_TRY(sum_outside(scratch, party, question, pass, &outside, w, &nowhere, error));
    TACIT_TRY(tacit_estimate_model(&model, party->plan, &pass->design, w, error));
    tacit_status status = tacit_tally_add(tally, model, &inside, party->pool, out, error);
    tacit_model_free(model);
    return status;
}

tacit_status tacit_estimate_answer_held_out(tacit_party *party, const tacit_question *question,
                                            tacit_reply *reply, tacit_error *error) {
    const size_t count = tacit_estimate_folds(party->plan).count;
    const double *w;
    double *scratch = NULL;
    tacit_folds folds = { .count = 0 };
    tacit_tally tally;
    tacit_sum_spec spec;
    tacit_estimate_pass pass;
    TACIT_TRY(tacit_estimate_begin_pass(&pass, party, error));
    tacit_status status;
    const size_t width = pass.design.width;
    TACIT_CHECK(assign_folds(&folds, party, error));
    TACIT_CHECK(tacit_message_numbers(question->message, "weights", count * width, &w, error));
    TACIT_CHECK(tacit_estimate_tally(&tally, &spec, party->plan, error));
    if (!question->wants_sum || !tacit_sum_spec_equal(&question->sum, &spec))
        TACIT_CHECK(
            tacit_fail(error, TACIT_REFUSED, "the coordinator asks for another grid than the study defines"));
    const double *const chosen[] = { w, NULL };
    const size_t counts[] = { count * width };
    TACIT_CHECK(tacit_party_asked_once(party, "held-out", chosen, counts, error));
    TACIT_CHECK(tacit_estimate_begin_reply(party, spec.length, reply, error));
    scratch = TACIT_NEW(double, tacit_estimate_fold_length(width));
    if (scratch == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t k = 0; k < count; k++)
        TACIT_CHECK(count_fold(reply->contribution, scratch, party, question, &pass, &folds, k, w + k * width,
                               &tally, error));
cleanup:
    free(scratch);
    tacit_folds_clear(&folds);
    tacit_estimate_end_pass(&pass);
    return status;
}
