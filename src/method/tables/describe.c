/*
 * describe: the table before any model. Rows, missing cells, means and standard deviations, quantiles and
 * histograms, level counts, cross-tables, by group if asked; all from one vector of sums over the rows.
 *
 *   describe         one round: the vector with discrete Gaussian noise, in shares by default
 *   describe-exact   no noise: which counts may be told, then those
 *
 * Proof note. Adjacency: replace one row of a party (unit record); the numbers of rows stay. describe_plan.c
 *   has the vector and why it moves by at most 1 in L2 norm. one_release.h has the noise.
 *   The number of rows in the vector is multiplied by 1,024: replacing a row does not move it,
 *   so it needs no noise and gets next to none. Everything else, fits of trees, quantiles, tests, thresholds
 *   on noisy counts, is post-processing of what is released (describe_report.c).
 *
 * describe-exact. Nothing is differentially private (price: an infinite epsilon). A first sum has lower
 * bounds of
 *   the counts, and of the second, the exact one, only cells are told that have enough rows by them, or none
 *   at all (describe_open.c). Where group sizes are too small there are no groups.
 */
#include "method/tables/describe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/exact/estimate.h"
#include "method/private/gradient.h"

static const describe_settings defaults = {
    .noise = DESCRIBE_BY_SHARES, .threshold = 10, .by = "none", .cross = "none"
};
static const describe_settings exact_defaults = {
    .threshold = 10, .by = "none", .cross = "none", .exact = 1
};

#define SETTING_THRESHOLD                                                                                    \
    TACIT_COUNT(describe_settings, threshold, "threshold", 0, 1e9,                                           \
                "counts below it are left out of the report")
#define SETTING_BY                                                                                           \
    TACIT_TEXT(describe_settings, by, "by", "a category, or the label: everything by its levels too; or none")
#define SETTING_CROSS                                                                                        \
    TACIT_TEXT(                                                                                              \
        describe_settings, cross, "cross",                                                                   \
        "pairs of categories whose cross-tables are made, with a chi-square test: sex*stage,sex*outcome")

#define SETTING_SITES                                                                                        \
    TACIT_LATER_CHOICE(describe_settings, sites, "sites", "together|apart", "together",                      \
                       "apart: figures of each party by itself, too, whose owner must allow it")

#define SETTING_MISSING                                                                                      \
    TACIT_LATER_CHOICE(describe_settings, missing, "missing", "plain|counted", "plain",                      \
                       "counted: how many values of each column are missing and how many rows were left "    \
                       "out for it, too; a tenth of the budget")

static const tacit_parameter parameters[] = {
    TACIT_CHOICE(describe_settings, noise, "noise", "shares|party",
                 "who adds it: each party a share, which secure summation adds up, or each party all of it "
                 "(more noise, no trust)"),
    SETTING_THRESHOLD,
    SETTING_BY,
    SETTING_CROSS,
    TACIT_OPEN_COUNT(describe_settings, cells, "cells", 1024, "that a number's bounds are cut into, at least",
                     "chosen from expected rows, epsilon and the number of columns"),
    SETTING_SITES,
    SETTING_MISSING,
    TACIT_SETTINGS_END,
};

static const tacit_parameter exact_parameters[] = {
    SETTING_THRESHOLD, SETTING_BY, SETTING_CROSS, SETTING_SITES, SETTING_MISSING, TACIT_SETTINGS_END,
};

static tacit_status prepare(const tacit_plan *plan, void *out, tacit_error *error) {
    return describe_make(out, plan, error);
}

static void clear_prepared(void *prepared) { describe_clear(prepared); }

static tacit_status check(const tacit_plan *plan, tacit_error *error) {
    const describe_settings *settings = describe_settings_of(plan);
    if (describe_apart(plan) && strcmp(settings->by, "none") != 0)
        return tacit_fail(error, TACIT_USAGE, "sites=apart has the sites for groups: leave by out");
    if (describe_apart(plan) && describe_by_shares(plan))
        return tacit_fail(error, TACIT_USAGE,
                          "sites=apart tells figures of each party, so each must add all of the noise: set "
                          "noise=party");
    return describe_check_missing(plan, error);
}

static tacit_status price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                          tacit_error *error) {
    describe_design design;
    TACIT_TRY(tacit_prepared_take(prepared, plan, &design, error));
    out->charged = out->claimed = design.release.mechanism.price;
    out->event = design.release.event;
    return TACIT_OK;
}

static tacit_release_kind release_kind(const tacit_plan *plan) {
    return describe_by_shares(plan) ? TACIT_RELEASE_SEALED : TACIT_RELEASE_CHARGED;
}

static tacit_release_kind exact_kind(const tacit_plan *plan) {
    (void)plan;
    return TACIT_RELEASE_ENTRUSTED;
}

static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error) {
    describe_design design;
    TACIT_TRY(tacit_prepared_take(prepared, plan, &design, error));
    *out = one_release_law(&design.release);
    return TACIT_OK;
}

/* ---- the party's half ---- */

static tacit_status answer_sums(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                tacit_error *error) {
    describe_design design;
    tacit_status status;
    TACIT_TRY(tacit_party_prepared(party, &design, error));
    double *values = TACIT_NEW(double, design.length);
    if (values == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(gradient_check_sum(question, &design.release.spec, error));
    TACIT_CHECK(describe_sums(party, &design, values, error));
    TACIT_CHECK(one_release_give(party, &design.release, values, reply, error));
cleanup:
    free(values);
    return status;
}

static describe_rule rule_of(const tacit_party *party) {
    bool real = party->gate != NULL && party->gate->mode == TACIT_GATE_REAL;
    return describe_rule_of(party->plan, real, real ? (double)party->gate->policy->minimum_rows : 0);
}

/* The design that an exact question is about, with groups or without, and the party's sums. */
static tacit_status look(tacit_party *party, const tacit_question *question, describe_design *design,
                         double **sums, tacit_error *error) {
    const int64_t *grouped;
    TACIT_TRY(tacit_message_integers(question->message, "grouped", 1, &grouped, error));
    TACIT_TRY(*grouped != 0 ? describe_make(design, party->plan, error)
                            : describe_make_whole(design, party->plan, error));
    *sums = TACIT_NEW(double, design->length);
    if (*sums == NULL) return tacit_fail_memory(error);
    return describe_sums(party, design, *sums, error);
}

static void reply_exact(double **values, tacit_reply *reply) {
    reply->kind = TACIT_RELEASE_ENTRUSTED;
    reply->noise = TACIT_NOISE_NONE;
    reply->price = (tacit_price){ TACIT_UNIT_RECORD, INFINITY, 0 };
    reply->contribution = *values;
    *values = NULL;
}

static tacit_status answer_bounds(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                  tacit_error *error) {
    describe_design design = { .variables = 0 };
    const describe_rule rule = rule_of(party);
    double *sums = NULL, *bounds = NULL;
    tacit_status status;
    TACIT_CHECK(look(party, question, &design, &sums, error));
    TACIT_CHECK(gradient_check_sum(question, &design.bounds, error));
    bounds = TACIT_NEW(double, design.length);
    if (bounds == NULL) TACIT_CHECK(tacit_fail_memory(error));
    describe_bounds(&design, sums, &rule, bounds);
    reply_exact(&bounds, reply);
cleanup:
    free(sums);
    free(bounds);
    describe_clear(&design);
    return status;
}

/* What the coordinator has chosen to be told, once for all. */
static tacit_status read_told(const tacit_party *party, const tacit_question *question,
                              const describe_design *design, bool *told, tacit_error *error) {
    const int64_t *asked;
    TACIT_TRY(tacit_message_integers(question->message, "told", design->places, &asked, error));
    double *chosen = TACIT_NEW(double, design->places + 1);
    if (chosen == NULL) return tacit_fail_memory(error);
    for (size_t k = 0; k < design->places; k++) chosen[k] = told[k] = asked[k] != 0;
    chosen[design->places] = design->by != SIZE_MAX;
    tacit_status status = tacit_party_asked_once(party, "described", (const double *const[]){ chosen, NULL },
                                                 (size_t[]){ design->places + 1 }, error);
    free(chosen);
    return status;
}

tacit_status describe_answer_counts(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                    tacit_error *error) {
    describe_design design = { .variables = 0 };
    const describe_rule rule = rule_of(party);
    double *sums = NULL;
    bool *told = NULL;
    tacit_status status;
    TACIT_CHECK(look(party, question, &design, &sums, error));
    TACIT_CHECK(gradient_check_sum(question, &design.release.spec, error));
    told = TACIT_NEW(bool, design.places + 1);
    if (told == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(read_told(party, question, &design, told, error));
    TACIT_CHECK(describe_merge(&design, told, &rule, sums, error));
    reply_exact(&sums, reply);
cleanup:
    free(told);
    free(sums);
    describe_clear(&design);
    return status;
}

/* ---- the coordinator's half ---- */

tacit_status describe_finish(tacit_session *session, const describe_design *design, const tacit_sum *sum,
                             const bool *told, tacit_outcome *out, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    tacit_report *report = NULL;
    tacit_model *model = NULL;
    TACIT_TRY(describe_report(&report, design, plan, sum->values, told, error));
    if (design->exact && describe_missing_counts(plan) > 0) {
        tacit_status status = describe_ask_missing(session, sum->parties, report, error);
        if (status != TACIT_OK) {
            tacit_report_free(report);
            return status;
        }
    }
    TACIT_TRY(tacit_model_create_report(&model, report, plan->features, plan->classes, error));
    out->parties = sum->parties;
    return tacit_outcome_add(out, model, error);
}

/* Ask what may be told under a design. */
tacit_status describe_ask_told(tacit_session *session, const describe_design *design, tacit_message *message,
                               bool **out, tacit_error *error) {
    tacit_sum bounds = TACIT_SUM_INIT;
    tacit_status status;
    size_t count = design->places;
    int64_t *asked = TACIT_NEW(int64_t, count + 1), grouped = design->by != SIZE_MAX;
    *out = TACIT_NEW(bool, count + 1);
    TACIT_CHECK(asked != NULL && *out != NULL ? TACIT_OK : tacit_fail_memory(error));
    TACIT_CHECK(tacit_message_add_integers(message, "grouped", &grouped, 1, error));
    TACIT_CHECK(tacit_ask_sum(session, "bounds", message, &design->bounds, &bounds, error));
    describe_choose(design, bounds.values, *out);
    for (size_t k = 0; k < count; k++) asked[k] = (*out)[k];
    TACIT_CHECK(tacit_message_add_integers(message, "told", asked, count, error));
cleanup:
    free(asked);
    tacit_sum_clear(&bounds);
    return status;
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    describe_design design;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    if (describe_apart(session->plan)) return describe_coordinate_sites(session, out, error);
    TACIT_TRY(tacit_session_prepared(session, &design, error));
    TACIT_CHECK(tacit_ask_sum(session, "sums", NULL, &design.release.spec, &sum, error));
    tacit_session_notify(session, sum.values, design.length);
    TACIT_CHECK(describe_finish(session, &design, &sum, NULL, out, error));
cleanup:
    tacit_sum_clear(&sum);
    return status;
}

static tacit_status coordinate_exact(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    describe_design design, whole = { .variables = 0 };
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    bool *told = NULL;
    tacit_status status;
    if (describe_apart(session->plan)) return describe_coordinate_sites(session, out, error);
    TACIT_TRY(tacit_session_prepared(session, &design, error));
    TACIT_CHECK(describe_ask_told(session, &design, &message, &told, error));
    if (!describe_groups_told(&design, told)) {
        tacit_message_clear(&message);
        free(told);
        told = NULL;
        TACIT_CHECK(describe_make_whole(&whole, session->plan, error));
        design = whole;
        TACIT_CHECK(describe_ask_told(session, &design, &message, &told, error));
    }
    TACIT_CHECK(tacit_ask_sum(session, "counts", &message, &design.release.spec, &sum, error));
    TACIT_CHECK(describe_finish(session, &design, &sum, told, out, error));
cleanup:
    free(told);
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    describe_clear(&whole);
    return status;
}

/* What may be told, of groups and then of all where those are too small; the sums; and what is missing. */
static uint64_t exchanges_exact(const tacit_plan *plan) {
    describe_design design;
    if (describe_apart(plan) || describe_make(&design, plan, NULL) != TACIT_OK) return 0;
    const bool grouped = design.by != SIZE_MAX;
    describe_clear(&design);
    return 2 + grouped + (describe_missing_counts(plan) > 0);
}

static const tacit_handler_entry handlers[] = {
    { .question = "sums", .answer = answer_sums },
    { .question = "site",
      .answer = describe_answer_site,
      .usable = describe_usable_site,
      .answer_numbers = describe_site_numbers },
    { .question = NULL },
};

static const tacit_handler_entry exact_handlers[] = {
    { .question = "bounds", .answer = answer_bounds },
    { .question = "counts", .answer = describe_answer_counts },
    { .question = "missing", .answer = tacit_estimate_answer_missing },
    { .question = "site",
      .answer = describe_answer_exact_site,
      .usable = describe_usable_site,
      .answer_numbers = describe_site_numbers },
    { .question = NULL },
};

const tacit_method tacit_method_describe = {
    .name = "describe",
    .title = "descriptive statistics under noise: the table before any model",
    .reference = "ours; trees of counts after Hay et al. 2010",
    .version = 1,
    .units = "record",
    .needs_delta = true,
    .takes_numbers = true,
    .terms = TACIT_TERMS_NONE,
    .lambda_may_vanish = true,
    .fits_alone_by_party = true,
    .spreads = true,
    .reports = "describe",
    .single = describe_apart,
    .sites_apart = describe_apart,
    TACIT_SETTINGS_OF(parameters, defaults),
    .shares_noise = describe_by_shares,
    .leaves = "once, how many rows the party has, the sums of each number and of its square, and how many "
              "rows lie in each cell of a public tree over each number's bounds, at each level of each "
              "category, in each cell of the cross-tables[missing=counted: , how many values of each column "
              "are missing, and how many rows were left out for it][noise=party: , with the party's own "
              "noise added][noise=shares: , with the party's share of the noise added], [sites=together: as "
              "one contribution to a sum][sites=apart: as an answer of its own, under the party's name]",
    .seen_by =
        "[sites=apart: everybody sees each party's noisy numbers, under its name][noise=shares: the "
        "coordinator sees the sums over all parties, with the noise in them, and no single "
        "party's][noise=party,sees=sum: the coordinator sees the sums of all parties' noisy numbers, and no "
        "single party's][noise=party,sees=each,sites=together: the coordinator sees each party's noisy "
        "numbers]. Everybody sees the report; the number of rows of all parties together is in it as it is",
    .guarantee = "(epsilon, delta)-differential privacy of all numbers together, for replacing one row of a "
                 "party, towards everybody who sees them, the coordinator included",
    .assumption =
        "the number of rows is no secret; bounds and levels come from the public schema[noise=shares: "
        "; secure summation, and that no more parties vanish from the sum or collude than the study "
        "declares]",
    .theorem =
        "Gaussian noise on one vector of L2 sensitivity 1 (Balle and Wang 2018): moments of all numbers have "
        "25 percent of its square, trees of counts 60, levels and cross-tables 15[noise=shares: ; the noise "
        "in shares of discrete Gaussians on a grid so fine that their sum counts as one Gaussian]",
    .claim = "no paper's",
    .caveats =
        "every column takes its part of one budget: skip those that nobody needs. Values beyond the "
        "schema's bounds count at the bound. Standard errors are of the noise alone, not of the sample",
    .prepare = prepare,
    .clear_prepared = clear_prepared,
    .prepared_size = sizeof(describe_design),
    .check = check,
    .price = price,
    .choose_lambda = tacit_plan_no_lambda,
    .noise = noise_law,
    .release_kind = release_kind,
    .exchanges = tacit_one_exchange,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};

const tacit_method tacit_method_describe_exact = {
    .name = "describe-exact",
    .title = "descriptive statistics from exact sums: the table before any model",
    .reference = "ours",
    .version = 2,
    .units = "record",
    .noise_free = true,
    .takes_numbers = true,
    .terms = TACIT_TERMS_NONE,
    .lambda_may_vanish = true,
    .spreads = true,
    .reports = "describe",
    .single = describe_apart,
    .sites_apart = describe_apart,
    TACIT_SETTINGS_OF(exact_parameters, exact_defaults),
    .leaves = "of each cell whether it has none of the party's rows, some, or at least a third, two thirds "
              "or the whole of the study's threshold (of an owner with a higher minimum, and where single "
              "contributions are seen: whether it has fewer than that minimum); then how many of its rows "
              "lie in each cell, cells with too few rows put together, and the sums of each number and of "
              "its square, [sites=together: as contributions to sums][sites=apart: as an answer of its own, "
              "under the party's name]",
    .seen_by =
        "[sites=apart: everybody sees each party's exact sums, under its name][sees=sum: the coordinator "
        "sees the exact sums over all parties, and no single party's][sees=each,sites=together: the "
        "coordinator sees each party's exact sums]. Everybody sees the report",
    .guarantee = "no differential privacy: the sums are exact, and no noise is added. Rows stay at the "
                 "parties. A count that is published is 0 or at least [sees=sum: the study's threshold, over "
                 "all parties; an owner with a higher minimum has it held in each count of its own "
                 "rows][sees=each: the owner's minimum of each party's rows]",
    .assumption =
        "the coordinator keeps the [sees=sum: totals][sees=each: sums] to itself and does not try to "
        "infer rows from them",
    .theorem = "none",
    .claim = "no paper's",
    .caveats = "exact sums can be compared with other exact sums of nearly the same rows. Rare levels are "
               "counted together. Numbers of missing values, and those of cells under a coordinator that "
               "lies, are exact sums over all parties however small",
    .prepare = prepare,
    .clear_prepared = clear_prepared,
    .prepared_size = sizeof(describe_design),
    .check = check,
    .price = tacit_nonprivate_price,
    .choose_lambda = tacit_plan_no_lambda,
    .release_kind = exact_kind,
    .exchanges = exchanges_exact,
    .fewest = 2,
    .coordinate = TACIT_CENTER_HALF(coordinate_exact),
    .handlers = exact_handlers,
};
