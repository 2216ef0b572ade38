/*
 * survival: curves of survival and of the cumulative hazard, medians, restricted means, and tests of whether
 * groups differ, from one release of counts with noise.
 *
 *   all:          a public grid over time; every row leaves in a cell, with an event or without (censored)
 *   parties:      of each group a histogram of the rows that leave without an event and one of the events of
 *                 each cause, each multiplied by the square root of the matrix of prefix sums
 *                 (num/noisy/noisy_life.h), with noise
 *   coordinator:  curves, medians, means and tests from the sum, with errors that include the noise
 *
 * Proof note. Adjacency: replace one row of a party (unit record; a row is a person); the numbers of rows
 * stay.
 *   A row is one unit in one cell of one histogram, whatever it holds: its time is moved into the grid, and
 *   rows without a level of `by` are a group of their own. num/noisy/noisy_life.h has why the vector of all
 *   histograms as encoded then moves by at most 1 in L2 norm. Counts are whole numbers and exact; encoding a
 *   histogram of at most 2^24 rows in 2^10 cells errs by less than 2^10 2^-52 2^24 = 2^-18 a number, and for
 *   at most 2^14 numbers by less than 2^-11 in L2 norm. one_release.h has the noise. The number of rows, in
 *   the vector as units of 4,096 and what is left, is multiplied by 4,096: replacing a row does not move it,
 *   so it needs no noise and gets next to none. Everything else is
 *   post-processing; the simulation from which errors are taken has a seed of its own, which is public.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "method/one_release.h"
#include "method/private/gradient.h"
#include "method/time/time_cells.h"
#include "model/report/report.h"
#include "num/noisy/noisy_life.h"
#include "num/special.h"
#include "rand/fast.h"
#include "session/session.h"

enum { MOST_NUMBERS = 1 << 14, HEAD = 2, ROWS_UNIT = 1 << 12 };

static const double ROUNDING = 0x1p-11;
static const double ROWS_WEIGHT = 4096; /* of how many units of rows, and of what is left */

typedef struct survival_settings {
    time_settings time;
    double level, until;
    enum { BY_LOG, BY_LOG_LOG, BY_PLAIN } interval; /* in the order of tacit_life_interval */
    enum { NOISE_BY_SHARES, NOISE_BY_PARTY } noise;
} survival_settings;

static const survival_settings defaults = { .time = { .strata = "none" }, .level = 0.95 };

static const tacit_parameter parameters[] = {
    TACIT_CHOICE(survival_settings, noise, "noise", "shares|party",
                 "who adds it: each party a share, which secure summation adds up, or each party all of it "
                 "(more noise, no trust)"),
    TIME_SETTING_WIDTH(survival_settings),
    TACIT_TEXT(survival_settings, time.strata, "by",
               "a category: a curve for each level, and tests; or none"),
    TACIT_NUMBER(survival_settings, level, "level", 0.5, 0.999999, "of the confidence intervals"),
    TACIT_CHOICE(survival_settings, interval, "interval", "log|log-log|plain",
                 "the scale on which intervals are symmetric, as conf.type in R's survfit"),
    TACIT_OPEN_NUMBER(survival_settings, until, "until", 1e12, "mean times count up to it",
                      "the last time at which everybody's curve is known"),
    TACIT_SETTINGS_END,
};

static const survival_settings *settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(survival_settings, plan);
}

static bool by_shares(const tacit_plan *plan) { return settings_of(plan)->noise == NOISE_BY_SHARES; }

/* ---- the public numbers ---- */

typedef struct layout {
    time_design design;
    one_release release;
    size_t length;
} layout;

/* Rows that leave without an event, then events of each cause. */
static size_t kinds_of(const time_design *design) { return 1 + design->causes; }

static void clear_layout(layout *self) { time_design_clear(&self->design); }

static tacit_status make_layout(layout *out, const tacit_plan *plan, tacit_error *error) {
    *out = (layout){ .length = HEAD };
    TACIT_TRY(time_design_create(&out->design, plan, error));
    size_t cells = out->design.cells, numbers = kinds_of(&out->design) * out->design.strata * cells;
    tacit_status status;
    if (cells > TACIT_LIFE_MOST_CELLS || numbers > MOST_NUMBERS)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                               "method %s has at most %d cells of time and %d counts in all groups, and "
                               "cells of width %g make %zu and %zu: choose a larger width",
                               plan->method->name, TACIT_LIFE_MOST_CELLS, MOST_NUMBERS, out->design.width,
                               cells, numbers));
    out->length += numbers;
    status = one_release_make(&out->release, plan, by_shares(plan), out->length, GRADIENT_MOST_ROWS, ROUNDING,
                              error);
cleanup:
    if (status != TACIT_OK) clear_layout(out);
    return status;
}

/* What is said before anything is known of the rows: a curve without groups on a usual grid. */
static tacit_status prepare(const tacit_plan *plan, void *prepared, tacit_error *error) {
    enum { USUAL_CELLS = 100 };
    layout *out = prepared;
    if (plan->schema != NULL) return make_layout(out, plan, error);
    *out = (layout){ .design = { .strata = 1, .cells = USUAL_CELLS, .causes = 1 } };
    out->length = HEAD + kinds_of(&out->design) * USUAL_CELLS;
    return one_release_make(&out->release, plan, by_shares(plan), out->length, GRADIENT_MOST_ROWS, ROUNDING,
                            error);
}

static void clear_prepared(void *prepared) { clear_layout(prepared); }

static tacit_status price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                          tacit_error *error) {
    layout self;
    TACIT_TRY(tacit_prepared_take(prepared, plan, &self, error));
    out->charged = out->claimed = self.release.mechanism.price;
    out->event = self.release.event;
    return TACIT_OK;
}

static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error) {
    layout self;
    TACIT_TRY(tacit_prepared_take(prepared, plan, &self, error));
    *out = one_release_law(&self.release);
    return TACIT_OK;
}

static tacit_release_kind release_kind(const tacit_plan *plan) {
    return by_shares(plan) ? TACIT_RELEASE_SEALED : TACIT_RELEASE_CHARGED;
}

/* ---- the party's half ---- */

/* Of each stratum's cells, from (leaving, events of each cause) to a histogram without and those with an
 * event. */
static void encode(const layout *self, const double *counts, double *out) {
    size_t cells = self->design.cells, kinds = kinds_of(&self->design);
    for (size_t g = 0; g < self->design.strata; g++) {
        double *block = out + kinds * g * cells;
        for (size_t c = 0; c < cells; c++) {
            const double *here = counts + kinds * (g * cells + c);
            block[c] = here[0];
            for (size_t j = 1; j < kinds; j++) {
                block[c] -= here[j];
                block[j * cells + c] = here[j];
            }
        }
        for (size_t j = 0; j < kinds; j++) tacit_life_encode(block + j * cells, cells);
    }
}

static tacit_status answer_counts(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                  tacit_error *error) {
    layout self;
    tacit_status status;
    TACIT_TRY(tacit_party_prepared(party, &self, error));
    double *counts = TACIT_NEW(double, self.length), *values = TACIT_NEW(double, self.length);
    if (counts == NULL || values == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(gradient_check_sum(question, &self.release.spec, error));
    TACIT_CHECK(gradient_check_rows(party, error));
    TACIT_CHECK(time_check_one_row_each(party, error));
    TACIT_CHECK(tacit_design_check_rows(party->plan->schema, &party->rows, error));
    TACIT_CHECK(time_count(party, &self.design, counts, NULL, NULL, error));
    if (party->reducer != NULL)
        TACIT_CHECK(party->reducer->sum(party->reducer->context, counts, self.length, error));
    values[0] = ROWS_WEIGHT * (double)(party->total_rows / ROWS_UNIT);
    values[1] = ROWS_WEIGHT * (double)(party->total_rows % ROWS_UNIT);
    encode(&self, counts, values + HEAD);
    TACIT_CHECK(one_release_give(party, &self.release, values, reply, error));
cleanup:
    free(counts);
    free(values);
    return status;
}

/* ---- the report ---- */

/* Rows without a level are told of where there are more than noise. */
static bool is_shown(const layout *self, const tacit_noisy_curve *curve, size_t group) {
    bool level = self->design.column == NULL || group < self->design.column->levels.count;
    return curve->count > 0 || level;
}

static tacit_status add_groups(const layout *self, const tacit_noisy_result *found, tacit_report *report,
                               tacit_error *error) {
    static const char *const columns[] = { "rows",        "events", "median",     "median low",
                                           "median high", "mean",   "mean error", NULL };
    tacit_report_table *table;
    TACIT_TRY(tacit_report_add_fact(report, "mean until", found->until, NULL, error));
    TACIT_TRY(tacit_report_add_table(report, &table, "groups", "Groups", columns, error));
    for (size_t g = 0; g < found->groups; g++) {
        const tacit_noisy_curve *one = &found->curve[g];
        bool there = one->count > 0;
        if (!is_shown(self, one, g)) continue;
        double values[] = { one->rows,
                            one->events,
                            tacit_life_quantile(one->steps, one->count, TACIT_LIFE_SURVIVAL, 0.5),
                            tacit_life_quantile(one->steps, one->count, TACIT_LIFE_LOW, 0.5),
                            tacit_life_quantile(one->steps, one->count, TACIT_LIFE_HIGH, 0.5),
                            there ? one->mean : NAN,
                            there ? one->mean_error : NAN };
        double errors[] = { one->rows_error, one->events_error, NAN, NAN, NAN, NAN, NAN };
        TACIT_TRY(tacit_report_add_row(table, time_stratum_name(&self->design, g), values, errors, error));
    }
    return TACIT_OK;
}

static tacit_status add_tests(const layout *self, const tacit_noisy_result *found, tacit_report *report,
                              tacit_error *error) {
    static const char *const columns[] = { "chi-square", "df", "p", NULL };
    static const char *const names[] = { "log-rank", "Peto-Peto", "Gehan" };
    tacit_report_table *table;
    if (self->design.column == NULL) return TACIT_OK;
    TACIT_TRY(tacit_report_add_table(report, &table, "tests", "Whether groups differ", columns, error));
    for (size_t k = 0; k < 3; k++) {
        double statistic = found->statistic[k], degrees = (double)found->degrees;
        double p = isnan(statistic) ? NAN : exp(tacit_log_gamma_tail(degrees / 2, statistic / 2));
        double values[] = { statistic, degrees, p };
        TACIT_TRY(tacit_report_add_row(table, names[k], values, NULL, error));
    }
    return TACIT_OK;
}

static tacit_status add_curve(const layout *self, const tacit_noisy_result *found, tacit_report *report,
                              size_t group, tacit_error *error) {
    static const char *const columns[] = { "at risk",      "events",     "censored",    "survival",
                                           "error",        "low",        "high",        "hazard",
                                           "hazard error", "hazard low", "hazard high", NULL };
    const tacit_noisy_curve *curve = &found->curve[group];
    char name[200], title[240], label[40];
    tacit_report_table *table;
    if (curve->count == 0) return TACIT_OK;
    snprintf(name, sizeof name, "curve %.150s", time_stratum_name(&self->design, group));
    snprintf(title, sizeof title, "Survival of %.150s", time_stratum_name(&self->design, group));
    TACIT_TRY(tacit_report_add_table(report, &table, name, title, columns, error));
    for (size_t k = 0; k < curve->count; k++) {
        const tacit_life_step *one = &curve->steps[k];
        double values[] = {
            one->at_risk,    one->events, curve->censored[k], one->survival,     one->survival * one->error,
            one->low,        one->high,   one->hazard,        one->hazard_error, one->hazard_low,
            one->hazard_high
        };
        double errors[] = { curve->at_risk_error[k], NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
        tacit_format(label, sizeof label, "%.10g", one->time);
        TACIT_TRY(tacit_report_add_row(table, label, values, errors, error));
    }
    return TACIT_OK;
}

static tacit_status add_incidence(const layout *self, const tacit_noisy_result *found, const tacit_plan *plan,
                                  tacit_report *report, size_t group, tacit_error *error) {
    const tacit_noisy_curve *curve = &found->curve[group];
    size_t causes = self->design.causes, count = curve->count;
    if (count == 0) return TACIT_OK;
    tacit_life_incidence *turned = TACIT_NEW(tacit_life_incidence, causes * count);
    double *time = TACIT_NEW(double, count);
    tacit_status status = turned != NULL && time != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t k = 0; k < count && status == TACIT_OK; k++) {
        time[k] = curve->steps[k].time;
        for (size_t j = 0; j < causes; j++) turned[j * count + k] = curve->incidence[k * causes + j];
    }
    if (status == TACIT_OK)
        status = time_add_incidence(report, &self->design, plan, group, turned, count, time, count, error);
    free(turned);
    free(time);
    return status;
}

static tacit_status make_report(const layout *self, const tacit_noisy_result *found, const tacit_plan *plan,
                                double rows, tacit_report **out, tacit_error *error) {
    tacit_report *report = NULL;
    TACIT_TRY(tacit_report_create(&report, "survival", self->release.deviation > 0, rows, error));
    tacit_status status = add_groups(self, found, report, error);
    if (status == TACIT_OK) status = add_tests(self, found, report, error);
    if (status == TACIT_OK && self->design.column != NULL)
        status = time_add_ratios(report, &self->design, found->first, found->log_ratio, found->ratio_error,
                                 settings_of(plan)->level, error);
    for (size_t g = 0; g < found->groups && status == TACIT_OK; g++)
        status = add_curve(self, found, report, g, error);
    for (size_t g = 0; g < found->groups && status == TACIT_OK && self->design.causes > 1; g++)
        status = add_incidence(self, found, plan, report, g, error);
    if (status == TACIT_OK)
        *out = report;
    else
        tacit_report_free(report);
    return status;
}

/* ---- the coordinator's half ---- */

static void draw_normals(void *context, double *out, size_t count) {
    tacit_fast_normals(context, out, count);
}

static tacit_status fit(const layout *self, const tacit_plan *plan, const double *sum, double rows,
                        tacit_noisy_result *out, tacit_error *error) {
    enum { SEED = 1958 }; /* of simulations: any will do, and everybody gets the same errors */
    const survival_settings *settings = settings_of(plan);
    tacit_stream stream = tacit_stream_from_seed(SEED);
    size_t cells = self->design.cells;
    double *time = TACIT_NEW(double, cells);
    if (time == NULL) return tacit_fail_memory(error);
    for (size_t c = 0; c < cells; c++) time[c] = time_of_cell(&self->design, plan, c);
    tacit_noisy_life life = { .cells = cells,
                              .groups = self->design.strata,
                              .kinds = kinds_of(&self->design),
                              .rows = rows,
                              .deviation = self->release.deviation,
                              .released = sum + HEAD,
                              .time = time,
                              .from = self->design.low,
                              .until = settings->until,
                              .level = settings->level,
                              .interval = (tacit_life_interval)settings->interval,
                              .source = { draw_normals, &stream } };
    tacit_status status = tacit_noisy_life_fit(out, &life, error);
    free(time);
    return status;
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    layout self;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_noisy_result found = { .curve = NULL };
    tacit_report *report = NULL;
    tacit_model *model = NULL;
    tacit_status status;
    TACIT_TRY(tacit_session_prepared(session, &self, error));
    TACIT_CHECK(tacit_ask_sum(session, "counts", NULL, &self.release.spec, &sum, error));
    tacit_session_notify(session, sum.values, self.length);
    double rows =
        fmax(0, ROWS_UNIT * round(sum.values[0] / ROWS_WEIGHT) + round(sum.values[1] / ROWS_WEIGHT));
    TACIT_CHECK(fit(&self, plan, sum.values, rows, &found, error));
    TACIT_CHECK(make_report(&self, &found, plan, rows, &report, error));
    TACIT_CHECK(tacit_model_create_report(&model, report, plan->features, plan->classes, error));
    out->parties = sum.parties;
    status = tacit_outcome_add(out, model, error);
cleanup:
    tacit_noisy_result_clear(&found);
    tacit_sum_clear(&sum);
    return status;
}

static const tacit_handler_entry handlers[] = {
    { .question = "counts", .answer = answer_counts },
    { .question = NULL },
};

const tacit_method tacit_method_survival = {
    .name = "survival",
    .title = "curves of survival, medians and tests of groups, from counts with noise",
    .reference = "Kaplan & Meier 1958; Fichtenberger, Henzinger & Upadhyay 2023",
    .version = 1,
    .units = "record",
    .needs_delta = true,
    .takes_times = true,
    .terms = TACIT_TERMS_NONE,
    .lambda_may_vanish = true,
    .fits_alone_by_party = true,
    .spreads = true,
    .reports = "survival",
    TACIT_SETTINGS_OF(parameters, defaults),
    .shares_noise = by_shares,
    .leaves =
        "once, how many rows the party has, and weighed sums of how many of them leave in each cell of time "
        "(and group), without an event and with one[noise=party: , with the party's own noise "
        "added][noise=shares: , with the party's share of the noise added], as one contribution to a sum",
    .seen_by =
        "[noise=shares: the coordinator sees the sums over all parties, with the noise in them, and no "
        "single party's][noise=party,sees=sum: the coordinator sees the sums of all parties' noisy "
        "numbers, and no single party's][noise=party,sees=each: the coordinator sees each party's noisy "
        "numbers]. Everybody sees the curves; the number of rows of all parties together is in the report as "
        "it is",
    .guarantee = "(epsilon, delta)-differential privacy of all counts together, for replacing one row of a "
                 "party, towards everybody who sees them, the coordinator included",
    .assumption =
        "a person is one row; the number of rows is no secret; the range of times and the levels come from "
        "the public schema[noise=shares: ; secure summation, and that no more parties vanish from the sum "
        "or collude than the study declares]",
    .theorem =
        "Gaussian noise on one vector of L2 sensitivity 1 (Balle and Wang 2018), the counts multiplied by "
        "the square root of the matrix of prefix sums[noise=shares: ; the noise in shares of discrete "
        "Gaussians on a grid so fine that their sum counts as one Gaussian]",
    .claim = "no paper's",
    .caveats = "a curve ends where the noise is a quarter of the rows still at risk. Times are rounded up to "
               "the end of their cell; rows without an event count as at risk at that time. Intervals come "
               "from a simulation of the rows and of the noise",
    .prepare = prepare,
    .clear_prepared = clear_prepared,
    .prepared_size = sizeof(layout),
    .needs_schema = true,
    .price = price,
    .choose_lambda = tacit_plan_no_lambda,
    .noise = noise_law,
    .release_kind = release_kind,
    .exchanges = tacit_one_exchange,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
