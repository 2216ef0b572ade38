/*
 * evaluate: how good a public model is on the parties' rows, without a row leaving them.
 *
 *   all:          a model, which is part of the study's definition, and a public grid of scores
 *   party k:      c_k = how many of its rows of each class have a score in each cell, by subgroup
 *                 (model/report/evaluation.h; of a numeric response sums of bounded terms)
 *   coordinator:  c = sum_k c_k, with noise where epsilon is finite
 *                 ROC, AUC, calibration, losses, thresholds and net benefit from c, with their errors
 *
 * Proof note. Adjacency: replace one row of a party (unit record). The model, the grid, the subset and the
 * subgroups' levels are public, and a row's score, its membership of the subset and its subgroup are
 * functions of that row's own cells. So a row decides alone which numbers it adds to, if any: of a subset,
 * replacing one row may take one away or bring one, which moves less than what follows.
 *   Two classes: a row is in one cell of one class of one subgroup. Replacing it lowers one count by 1 and
 *   raises one by 1: at most 2 in L1 norm and sqrt(2) in L2 norm, whatever the number of subgroups.
 *   K classes: a row is in one cell of each of the K grids and in one place of the table of classes: K + 1
 *   counts fall and K + 1 rise, 2 (K + 1) in L1 and sqrt(2 (K + 1)) in L2 norm.
 *   A number: the terms of a row are v = (1, t, t^2, e^2, |e|, m, m^2, t m) with |t|, |m| <= 1 (the response
 *   is within the schema's bounds, and the prediction is moved there) and |e| = |t - m|/2 <= 1; each
 *   is within [-1, 1], |v|_2 <= sqrt(8) and |v|_1 <= 8. In another subgroup the old row's terms go and the
 *   new one's come: at most sqrt(8 + 8) = 4 in L2 norm and 16 in L1 norm. In the same one the differences are
 *   at most (0, 2, 1, 1, 1, 2, 1, 2), with 4 again in L2 norm and 10 in L1 norm. Sums are rounded to a grid
 *   of 2^-GRID by each party, and of two neighbouring sums only one party's differs: by sqrt(8) steps more in
 *   L2 norm (8 in L1) within a subgroup, sqrt(16) (16) over two. Counts are whole numbers: nothing is
 *   rounded.
 *   Counts of missing values beside them: evaluate_missing.c.
 *   law=gaussian: discrete Gaussian noise by the L2 norm (delta > 0); law=pure: discrete Laplace noise of
 *   scale S/epsilon by the L1 norm. noise=coordinator: the coordinator is entrusted with c and adds it
 *   (privacy/mechanism/integer.h). noise=shares: each party adds a share, and m = survivors - colluders of
 *   them suffice (privacy/mechanism/shares.h). Everything after is post-processing.
 *
 * evaluate-exact: c is exact, an entrusted release that only an owner who allows exact sums makes. The
 *   coordinator sees c; what it publishes leaves out figures that single out fewer than `least` rows.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/tables/evaluate.h"
#include "privacy/mechanism/integer.h"
#include "privacy/mechanism/shares.h"
#include "session/prepared.h"

enum { GRID = 16, MOST_CELLS = TACIT_SCORE_CELLS_MOST };

static const double MOST_ROWS = 1073741824.0; /* of one party: 2^30 */

static const evaluate_settings defaults = { .groups = 10,
                                            .least = 5,
                                            .level = 0.95,
                                            .by = "none",
                                            .missing_counts = 0.02,
                                            .thresholds = "0.05,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9" };

#define SETTING_SITES                                                                                        \
    TACIT_LATER_CHOICE(evaluate_settings, sites, "sites", "together|apart", "together",                      \
                       "apart: figures of each party by itself, too, whose owner must allow it")

/* Of both methods. */
#define EVALUATE_PARAMETERS                                                                                  \
    TACIT_OPEN_COUNT(evaluate_settings, cells, "cells", MOST_CELLS, "of the grid of scores",                 \
                     "1,000 without noise, else from epsilon and the declared rows"),                        \
        TACIT_COUNT(evaluate_settings, groups, "groups", 1, TACIT_CALIBRATION_GROUPS_MOST,                   \
                    "of the calibration curve"),                                                             \
        TACIT_COUNT(                                                                                         \
            evaluate_settings, least, "least", 1, 1e6,                                                       \
            "rows that a group of a curve, a cell of a threshold's table and a class of a subgroup have, "   \
            "or it is not published"),                                                                       \
        TACIT_NUMBER(evaluate_settings, level, "level", 0.5, 0.999999, "of the confidence intervals"),       \
        TACIT_TEXT(evaluate_settings, by, "by",                                                              \
                   "a category of the schema whose levels are subgroups, or none"),                          \
        TACIT_TEXT(evaluate_settings, thresholds, "thresholds",                                              \
                   "scores from which a row counts as positive, comma-separated")

static const tacit_parameter parameters[] = {
    EVALUATE_PARAMETERS,
    TACIT_CHOICE(evaluate_settings, noise, "noise", "shares|coordinator|party",
                 "who adds it: each party a share, which secure summation adds up, a coordinator entrusted "
                 "with the counts, or each party all of it, with sites=apart"),
    TACIT_CHOICE(evaluate_settings, law, "law", "auto|pure|gaussian",
                 "of the noise; auto: gaussian where the study has a delta"),
    SETTING_SITES,
    MISSING_COUNTS_SETTING(evaluate_settings, missing_counts),
    TACIT_SETTINGS_END,
};

/* The column of the subgroups; NULL: there are none. */
static const char *by_column(const tacit_plan *plan) {
    const char *by = evaluate_settings_of(plan)->by;
    return strcmp(by, "none") == 0 ? NULL : by;
}

static bool by_shares(const tacit_plan *plan) {
    return evaluate_is_noisy(plan) && evaluate_settings_of(plan)->noise == EVALUATE_BY_SHARES;
}

/* ---- the public numbers ---- */

/* In the norm of the law, in steps of the grid. */
static double sensitivity_of(const tacit_tally *tally, bool gaussian) {
    if (tally->classes > 0) {
        double moved = tally->classes == 2 ? 2 : 2 * (double)(tally->classes + 1);
        return gaussian ? sqrt(moved) * (1 + 1e-15) : moved;
    }
    bool several = tally->groups > 1;
    double steps = ldexp(1, GRID);
    if (gaussian) return (4 * steps + sqrt(several ? 16 : 8)) * (1 + 1e-12);
    return (several ? 16 : 10) * steps + (several ? 16 : 8);
}

/* With C cells the noise in the area is about that of a count, sigma, times sqrt(C) over the number of rows,
 * and the grid's error falls with C: C = sqrt(n/sigma), a multiple of 20, so that hundredths in fives lie on
 * edges. */
static size_t cells_of(const tacit_plan *plan, bool gaussian) {
    enum { STEP = 20 };
    uint64_t given = evaluate_settings_of(plan)->cells;
    if (given > 0) return given > 1 ? (size_t)given : 2;
    if (!evaluate_is_noisy(plan)) return TACIT_SCORE_CELLS;
    double counts = plan->classes > 2 ? (double)plan->classes + 1 : 1;
    double sigma = gaussian ? sqrt(4 * counts * log(1.25 / plan->delta)) / plan->epsilon
                            : sqrt(2) * 2 * counts / plan->epsilon;
    double steps = round(sqrt(tacit_plan_expected_rows(plan) / fmax(sigma, 1)) / STEP);
    return (size_t)fmin(fmax(steps, 1) * STEP, TACIT_SCORE_CELLS);
}

/* No number of one party's is beyond its rows. */
tacit_status evaluate_make_setup(evaluate_setup *out, const tacit_plan *plan, tacit_error *error) {
    bool gaussian = evaluate_is_noisy(plan) && tacit_plan_gaussian(plan, evaluate_settings_of(plan)->law);
    TACIT_TRY(tacit_tally_create(&out->tally, plan->schema, plan->classes, cells_of(plan, gaussian),
                                 by_column(plan), error));
    out->gaussian = gaussian;
    out->spec = (tacit_sum_spec){ tacit_tally_length(&out->tally), MOST_ROWS, 0 };
    if (plan->classes == 0) {
        int party_bits;
        frexp((double)plan->parties, &party_bits);
        out->spec.grid_bits = evaluate_is_noisy(plan) ? GRID : 62 - 30 - party_bits;
    }
    out->sensitivity = sensitivity_of(&out->tally, gaussian);
    evaluate_set_missing(out, plan);
    return TACIT_OK;
}

static tacit_status prepare(const tacit_plan *plan, void *out, tacit_error *error) {
    return evaluate_make_setup(out, plan, error);
}

/* The tally borrows from the schema: nothing to free, but not to be kept beyond it. */
static void clear_prepared(void *prepared) { (void)prepared; }

/* In L2 norm, in the sum's units, whatever the law is. */
static double norm_of(const evaluate_setup *how) {
    const double tallied = sensitivity_of(&how->tally, true);
    const int finer = how->tally.classes > 0 ? how->spec.grid_bits : 0;
    return ldexp(hypot(ldexp(tallied, finer), how->steps * sqrt((double)how->counts.length)),
                 -how->spec.grid_bits);
}

static tacit_status check_wishes(const tacit_plan *plan, tacit_error *error) {
    double thresholds[TACIT_THRESHOLDS_MOST];
    size_t count;
    return tacit_thresholds_parse(evaluate_settings_of(plan)->thresholds, thresholds, &count, error);
}

/* A model scores rows as it encodes them itself, whichever rows the study is about. */
static tacit_status check_model(const tacit_plan *plan, tacit_error *error) {
    const tacit_model *model = plan->model;
    const char *by = by_column(plan);
    TACIT_TRY(tacit_model_check_predicts(model, error));
    if (model->schema != NULL && plan->schema != NULL)
        TACIT_TRY(tacit_schema_check_model(plan->schema, model->schema, by, error));
    const bool wider = by != NULL && plan->schema != NULL && plan->schema->formula != NULL;
    if (model->classes != plan->classes || (model->features != plan->features && !wider))
        return tacit_fail(error, TACIT_USAGE,
                          "the model has %zu features and %zu classes, and the rows %zu and %zu: give the "
                          "schema that the model was made with",
                          model->features, model->classes, plan->features, plan->classes);
    return TACIT_OK;
}

/* Sites are the subgroups, and each adds all of the noise. */
static tacit_status check_sites(const tacit_plan *plan, tacit_error *error) {
    if (evaluate_apart(plan) && by_column(plan) != NULL)
        return tacit_fail(error, TACIT_USAGE, "sites=apart has the sites for subgroups: leave by out");
    if (evaluate_is_noisy(plan) &&
        evaluate_apart(plan) != (evaluate_settings_of(plan)->noise == EVALUATE_BY_PARTY))
        return tacit_fail(error, TACIT_USAGE,
                          "sites=apart tells figures of each party, so each must add all of the noise: set "
                          "sites=apart and noise=party together, or neither");
    return TACIT_OK;
}

static tacit_status check(const tacit_plan *plan, tacit_error *error) {
    TACIT_TRY(check_sites(plan, error));
    if (evaluate_is_noisy(plan) && evaluate_settings_of(plan)->law == TACIT_LAW_BELL && plan->delta == 0)
        return tacit_fail(error, TACIT_USAGE,
                          "law=gaussian needs a delta above 0: give the option 'delta=1e-5', or delta: in "
                          "the study");
    if (plan->schema != NULL && plan->schema->response == TACIT_RESPONSE_TIME)
        return tacit_fail(error, TACIT_USAGE, "method evaluate takes classes, numbers and counts, not times");
    TACIT_TRY(check_wishes(plan, error));
    return plan->model != NULL ? check_model(plan, error) : TACIT_OK;
}

static tacit_mechanism mechanism(const tacit_plan *plan, const evaluate_setup *how) {
    return (tacit_mechanism){ how->gaussian ? TACIT_LAW_DISCRETE_GAUSSIAN : TACIT_LAW_DISCRETE_LAPLACE,
                              how->sensitivity,
                              { TACIT_UNIT_RECORD, plan->epsilon, how->gaussian ? plan->delta : 0 } };
}

static tacit_shared_noise shared_noise(const tacit_plan *plan, const evaluate_setup *how) {
    return (tacit_shared_noise){ .law = how->gaussian ? TACIT_LAW_DISCRETE_GAUSSIAN : TACIT_LAW_POLYA,
                                 .sensitivity = how->sensitivity,
                                 .price = mechanism(plan, how).price,
                                 .shares = evaluate_apart(plan) ? 1 : tacit_plan_noise_shares(plan),
                                 .length = how->spec.length,
                                 .runs = 1 };
}

static tacit_status price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                          tacit_error *error) {
    if (!evaluate_is_noisy(plan)) return tacit_nonprivate_price(plan, prepared, out, error);
    bool gaussian = tacit_plan_gaussian(plan, evaluate_settings_of(plan)->law);
    out->charged = out->claimed =
        (tacit_price){ TACIT_UNIT_RECORD, plan->epsilon, gaussian ? plan->delta : 0 };
    return TACIT_OK;
}

static tacit_release_kind release_kind(const tacit_plan *plan) {
    if (evaluate_is_noisy(plan) && evaluate_apart(plan)) return TACIT_RELEASE_CHARGED;
    return by_shares(plan) ? TACIT_RELEASE_SEALED : TACIT_RELEASE_ENTRUSTED;
}

/* Discrete Laplace noise of scale s has variance 2p/(1 - p)^2, p = exp(-1/s). */
static double laplace_deviation(double scale) {
    double p = exp(-1 / scale);
    return sqrt(2 * p) / (1 - p);
}

/* The standard deviation of the noise in each number of a sum over this many parties, in the sum's units, and
 * the scale of the law. */
tacit_status evaluate_deviation(const tacit_plan *plan, const evaluate_setup *how, size_t parties,
                                double *out, double *scale, tacit_error *error) {
    *out = *scale = 0;
    if (!evaluate_is_noisy(plan)) return TACIT_OK;
    double found, step = ldexp(1, -how->spec.grid_bits);
    if (by_shares(plan) || evaluate_apart(plan)) {
        const tacit_shared_noise shared = shared_noise(plan, how);
        TACIT_TRY(tacit_share_scale(&found, &shared, error));
        *out = how->gaussian ? found * sqrt((double)parties)
                             : laplace_deviation(found) * sqrt((double)parties / (double)shared.shares);
        *scale = how->gaussian ? found * sqrt((double)shared.shares) : found;
    } else {
        const tacit_mechanism whole = mechanism(plan, how);
        TACIT_TRY(tacit_integer_scale(&found, &whole, error));
        *out = how->gaussian ? found : laplace_deviation(found);
        *scale = found;
    }
    *out *= step;
    *scale *= step;
    return TACIT_OK;
}

static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error) {
    evaluate_setup how;
    double deviation, scale;
    TACIT_TRY(tacit_prepared_take(prepared, plan, &how, error));
    TACIT_TRY(evaluate_deviation(plan, &how, plan->parties, &deviation, &scale, error));
    *out = (tacit_noise_law){
        .law = how.gaussian ? "discrete Gaussian of scale s" : "discrete Laplace of scale s",
        .added_to = "each count",
        .dimension = how.spec.length,
        .sensitivity = norm_of(&how),
        .scale = scale,
        .mean_norm = deviation * sqrt((double)how.spec.length),
        .norm_in = "the counts",
    };
    return TACIT_OK;
}

/* ---- the party's half ---- */

tacit_status evaluate_need_model(const tacit_plan *plan, tacit_error *error) {
    if (plan->model != NULL) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "method %s needs a model: give one with the option 'model', or model: FILE in "
                      "the study",
                      plan->method->name);
}

tacit_status evaluate_add_share(tacit_party *party, const evaluate_setup *how, tacit_reply *reply,
                                tacit_error *error) {
    const tacit_shared_noise noise = shared_noise(party->plan, how);
    int64_t *steps = TACIT_NEW(int64_t, how->spec.length);
    if (steps == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_sum_quantise(&how->spec, reply->contribution, steps, error);
    if (status == TACIT_OK)
        status = tacit_share_add(&reply->noised, &party->noise, &noise, steps, how->spec.grid_bits, error);
    free(steps);
    free(reply->contribution);
    reply->contribution = NULL;
    reply->assumption = "secure summation: only the sum is seen, with enough shares of the noise in it";
    return status;
}

/* How many of the party's rows are in each cell, into out->contribution. */
tacit_status evaluate_count_rows(tacit_party *party, const evaluate_setup *how, tacit_reply *reply,
                                 tacit_error *error) {
    const tacit_plan *plan = party->plan;
    tacit_prices prices;
    if ((double)party->total_rows > MOST_ROWS)
        return tacit_fail(error, TACIT_REFUSED, "method evaluate takes at most %.0f rows of a party",
                          MOST_ROWS);
    TACIT_TRY(tacit_party_price(party, &prices, error));
    reply->kind = release_kind(plan);
    reply->noise = evaluate_is_noisy(plan) ? tacit_noise_source_grade(&party->noise) : TACIT_NOISE_NONE;
    reply->price = prices.charged;
    reply->contribution = TACIT_NEW(double, how->spec.length);
    if (reply->contribution == NULL) return tacit_fail_memory(error);
    const size_t tallied = tacit_tally_length(&how->tally);
    TACIT_TRY(
        tacit_tally_add(&how->tally, plan->model, &party->rows, party->pool, reply->contribution, error));
    if (party->reducer != NULL)
        TACIT_TRY(party->reducer->sum(party->reducer->context, reply->contribution, tallied, error));
    return evaluate_count_missing(party, how, reply->contribution + tallied, error);
}

static tacit_status answer_counts(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                  tacit_error *error) {
    const tacit_plan *plan = party->plan;
    evaluate_setup how;
    TACIT_TRY(evaluate_need_model(plan, error));
    TACIT_TRY(tacit_party_prepared(party, &how, error));
    if (!question->wants_sum || !tacit_sum_spec_equal(&question->sum, &how.spec))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for another grid than the study defines");
    TACIT_TRY(evaluate_count_rows(party, &how, reply, error));
    return by_shares(plan) ? evaluate_add_share(party, &how, reply, error) : TACIT_OK;
}

/* ---- the coordinator's half ---- */

tacit_status evaluate_make_report(tacit_report **out, const tacit_plan *plan, const evaluate_setup *how,
                                  const double *counts, double noise, tacit_error *error) {
    const evaluate_settings *settings = evaluate_settings_of(plan);
    double thresholds[TACIT_THRESHOLDS_MOST];
    size_t count;
    tacit_score_wishes wishes = tacit_score_wishes_usual();
    TACIT_TRY(tacit_thresholds_parse(settings->thresholds, thresholds, &count, error));
    if (count > 0) {
        wishes.thresholds = thresholds;
        wishes.threshold_count = count;
    }
    wishes.confidence = settings->level;
    wishes.groups = (size_t)settings->groups;
    wishes.least = (double)settings->least;
    return tacit_evaluation_report(out, &how->tally, plan->model, counts, noise, &wishes, error);
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_report *report = NULL;
    tacit_model *model = NULL;
    evaluate_setup how;
    double noise, scale;
    tacit_status status;
    if (evaluate_apart(plan)) return evaluate_coordinate_sites(session, out, error);
    TACIT_CHECK(evaluate_need_model(plan, error));
    TACIT_CHECK(tacit_session_prepared(session, &how, error));
    TACIT_CHECK(tacit_ask_sum(session, "counts", NULL, &how.spec, &sum, error));
    if (evaluate_is_noisy(plan) && !by_shares(plan)) {
        const tacit_mechanism whole = mechanism(plan, &how);
        for (size_t j = 0; j < sum.length; j++) sum.values[j] = ldexp(sum.values[j], how.spec.grid_bits);
        TACIT_CHECK(
            tacit_session_release(session, &whole, sum.values, sum.length, 0, 0x1p61, sum.values, error));
        for (size_t j = 0; j < sum.length; j++) sum.values[j] = ldexp(sum.values[j], -how.spec.grid_bits);
    } else {
        tacit_session_notify(session, sum.values, sum.length);
    }
    TACIT_CHECK(evaluate_deviation(plan, &how, sum.parties, &noise, &scale, error));
    TACIT_CHECK(evaluate_make_report(&report, plan, &how, sum.values, noise, error));
    TACIT_CHECK(evaluate_report_missing(report, plan, &how, sum.values + tacit_tally_length(&how.tally),
                                        noise, error));
    status = tacit_model_create_report(&model, report, plan->features, plan->classes, error);
    report = NULL; /* taken, whatever came of it */
    if (status != TACIT_OK) goto cleanup;
    out->parties = sum.parties;
    status = tacit_outcome_add(out, model, error);
cleanup:
    tacit_report_free(report);
    tacit_sum_clear(&sum);
    return status;
}

/* Figures of each site come after an exact sum. */
static uint64_t exchanges_exact(const tacit_plan *plan) { return evaluate_apart(plan) ? 2 : 1; }

static const tacit_handler_entry handlers[] = {
    { .question = "counts", .answer = answer_counts },
    { .question = "site",
      .answer = evaluate_answer_site,
      .usable = evaluate_usable_site,
      .answer_numbers = evaluate_site_numbers },
    { .question = NULL },
};

#define EVALUATE_LEAVES                                                                                      \
    "how many of the party's rows have a score of the given model in each cell of a public grid, by class "  \
    "and declared subgroup (of a numeric response: sums of squared and absolute errors and the like)"
#define EVALUATE_MISSING                                                                                     \
    "[counts=perhaps: , and, where the schema says what becomes of missing values, for {missing_counts%} "   \
    "of "                                                                                                    \
    "the budget, how many values of each column are missing and how many rows were left out for it]"         \
    "[counts=missing: , and, for {missing_counts%} of the budget, how many values of each column are "       \
    "missing "                                                                                               \
    "and how many rows were left out for it]"
#define EVALUATE_MOVES                                                                                       \
    "[counts=missing|perhaps: , and, where missing values are counted, D counts by 1, weighed by their "     \
    "share]"
#define EVALUATE_CAVEATS                                                                                     \
    "figures are those of scores on the grid: grid_error bounds the difference. The model must not have "    \
    "been trained on the same rows if the figures are to say how it does on new ones"
#define EVALUATE_REFERENCE "DeLong 1988; Vickers and Elkin 2006"

const tacit_method tacit_method_evaluate = {
    .name = "evaluate",
    .title = "how good a given model is on the parties' rows: ROC, calibration, thresholds",
    .reference = EVALUATE_REFERENCE,
    .version = 1,
    .units = "record",
    .spreads = true,
    .takes_numbers = true,
    .terms = TACIT_TERMS_ALL, /* those of the model */
    .subgroups = by_column,
    .lambda_may_vanish = true,
    .reports = "evaluate",
    .single = evaluate_apart,
    .sites_apart = evaluate_apart,
    .needs_model = true,
    TACIT_SETTINGS_OF(parameters, defaults),
    .shares_noise = by_shares,
    .counts_missing = evaluate_counts_missing,
    .leaves = EVALUATE_LEAVES EVALUATE_MISSING
    "[noise=shares: , with the party's share of the noise added][noise=party: , "
    "with the party's own noise added][sites=together: , as one contribution to a "
    "sum][sites=apart: , as an answer of its own, under the party's name]",
    .seen_by = "[noise=coordinator,sees=sum: the coordinator sees the exact counts of all parties' rows "
               "together, and no single party's][noise=coordinator,sees=each: the coordinator sees each "
               "party's exact counts][noise=shares: the coordinator sees the counts of all parties' rows "
               "together, with the noise in them, and no single party's][noise=party: everybody sees each "
               "party's counts, with the noise in them, under its name]. Everybody sees the report that is "
               "made of them, with the noise in it" MISSING_COUNTS_SEEN,
    .guarantee = "[law=pure: epsilon-differential privacy (delta = 0) for replacing one row of a party, "
                 "towards everybody who sees the report][law=gaussian: (epsilon, delta)-differential privacy "
                 "for replacing one row of a party, towards everybody who sees the report][noise=shares: , "
                 "the coordinator included][noise=party: , the coordinator included][noise=coordinator: . "
                 "There is no such guarantee towards the coordinator, which sees exact counts]",
    .assumption =
        "[noise=coordinator: the coordinator adds the noise, publishes only noisy results and keeps "
        "the exact counts to itself][noise=shares: secure summation, and that no more parties "
        "vanish from the sum or collude than the study declares][noise=party: none]; the model and the grid "
        "are public",
    .theorem =
        "replacing a row moves two counts by 1 each (with K > 2 classes 2 (K + 1) of them)" EVALUATE_MOVES
        ": [law=gaussian: "
        "discrete Gaussian noise by the L2 norm (Canonne, Kamath and Steinke 2020; shares: Kairouz, Liu and "
        "Steinke 2021)][law=pure: discrete Laplace noise by the L1 norm (Ghosh, Roughgarden and Sundararajan "
        "2009; shares: Goryczka and Xiong 2017)]; all figures are post-processing",
    .claim = "no paper: standard figures from counts",
    .caveats = EVALUATE_CAVEATS ". Noise in the counts of rare outcomes makes predictive values and the "
                                "calibration slope vague; intervals say how vague",
    .prepare = prepare,
    .clear_prepared = clear_prepared,
    .prepared_size = sizeof(evaluate_setup),
    .check = check,
    .price = price,
    .noise = noise_law,
    .release_kind = release_kind,
    .exchanges = tacit_one_exchange,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};

/* The settings before those of the noise. */
static const tacit_parameter exact_parameters[] = { EVALUATE_PARAMETERS, SETTING_SITES,
                                                    MISSING_SUM_SETTING(evaluate_settings, missing),
                                                    TACIT_SETTINGS_END };

const tacit_method tacit_method_evaluate_exact = {
    .name = "evaluate-exact",
    .title = "how good a given model is on the parties' rows, from exact counts, without noise",
    .reference = EVALUATE_REFERENCE,
    .version = 1,
    .units = "record",
    .noise_free = true,
    .spreads = true,
    .takes_numbers = true,
    .terms = TACIT_TERMS_ALL, /* those of the model */
    .subgroups = by_column,
    .lambda_may_vanish = true,
    .reports = "evaluate",
    .single = evaluate_apart,
    .sites_apart = evaluate_apart,
    .needs_model = true,
    .counts_missing = evaluate_exact_counts_missing,
    TACIT_SETTINGS_OF(exact_parameters, defaults),
    .leaves =
        EVALUATE_LEAVES "[sites=together: , as one contribution to a sum][sites=apart: , as an answer of its "
                        "own, under the party's name]" MISSING_SUM_LEAVE,
    .seen_by = "[sites=apart: the coordinator sees each party's exact counts, and everybody figures of each, "
               "under its name][sees=sum: the coordinator sees the exact counts of all parties' rows "
               "together, and no single party's][sees=each,sites=together: the coordinator sees each party's "
               "exact counts]. Everybody sees the report that is made of them" MISSING_SUM_SEEN,
    .guarantee =
        "no differential privacy: sums are exact. Figures that single out fewer rows than the study's "
        "least are left out of the report",
    .assumption =
        "the coordinator keeps the counts of small cells to itself; the model and the grid are public",
    .theorem = "none: nothing is promised about single rows",
    .claim = "no paper: standard figures from counts",
    .caveats =
        EVALUATE_CAVEATS ". A cell with one row tells the coordinator its score and its outcome, though "
                         "not whose it is: use method evaluate where that is too much",
    .prepare = prepare,
    .clear_prepared = clear_prepared,
    .prepared_size = sizeof(evaluate_setup),
    .check = check,
    .price = price,
    .release_kind = release_kind,
    .exchanges = exchanges_exact,
    .fewest = 1,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
