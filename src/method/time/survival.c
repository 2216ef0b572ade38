/*
 * survival-exact: curves of survival and of the cumulative hazard, medians, restricted means, and tests of
 * whether groups differ, from counts alone (Kaplan & Meier 1958; Nelson 1969; Aalen 1978).
 *
 *   all:          a public grid over time; every row leaves in a cell, with an event or without (censored)
 *   parties:      of each cell, and each group if asked, how many rows leave and how many events there are
 *   coordinator:  puts neighbouring cells together until in every group either nobody leaves or at least
 *                 `least` rows do; who is at risk are the rows that leave then or later; everything else
 *                 follows (num/life_table.h)
 *
 * Equal to R's survfit and survdiff on times put on the same grid. No noise: nothing here is differentially
 * private.
 */
#include "num/life_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "method/time/time_cells.h"
#include "model/report/report.h"
#include "num/special.h"
#include "session/session.h"

typedef struct survival_settings {
    time_settings time;
    uint64_t least;
    double level, until;
    enum { BY_LOG, BY_LOG_LOG, BY_PLAIN } interval; /* in the order of tacit_life_interval */
    missing_sum_setting missing;
} survival_settings;

static const survival_settings defaults = { .time = { .strata = "none" }, .least = 10, .level = 0.95 };

static const tacit_parameter parameters[] = {
    TIME_SETTING_WIDTH(survival_settings),
    TACIT_TEXT(survival_settings, time.strata, "by",
               "a category: a curve for each level, and tests; or none"),
    TACIT_COUNT(
        survival_settings, least, "least", 1, 1e6,
        "cells are merged until in each group nobody leaves, or at least this many rows of all parties"),
    TACIT_NUMBER(survival_settings, level, "level", 0.5, 0.999999, "of the confidence intervals"),
    TACIT_CHOICE(survival_settings, interval, "interval", "log|log-log|plain",
                 "the scale on which intervals are symmetric, as conf.type in R's survfit"),
    TACIT_OPEN_NUMBER(survival_settings, until, "until", 1e12, "mean times count up to it",
                      "the last time at which everybody's curve is known"),
    TIME_SETTING_UNIT(survival_settings),
    MISSING_SUM_SETTING(survival_settings, missing),
    TACIT_SETTINGS_END,
};

static const survival_settings *settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(survival_settings, plan);
}

static tacit_counted counts_missing(const tacit_plan *plan) {
    return missing_sum_counted(plan, settings_of(plan)->missing);
}

/* ---- the coordinator's half ---- */

/* Times, that is groups of cells, and of each and each group of rows who is at risk, leaves and has the
 * event. */
typedef struct lives {
    const tacit_plan *plan;
    time_design design;
    size_t times, groups;
    double rows;
    double *time, *at_risk, *events, *leaving; /* times; times x groups */
    double *by_cause;                          /* events: causes x times x groups, cells of them in memory */
    double *missing;                           /* how many values are; NULL: not counted */
    tacit_life_step *steps;                    /* of one group */
    tacit_life_incidence *incidence;           /* of one group: causes x times */
} lives;

static void end_lives(lives *self) {
    free(self->time);
    free(self->at_risk);
    free(self->events);
    free(self->leaving);
    free(self->by_cause);
    free(self->missing);
    free(self->incidence);
    free(self->steps);
}

static tacit_status begin_lives(lives *self, tacit_session *session, tacit_error *error) {
    *self = (lives){ .plan = session->plan };
    TACIT_TRY(tacit_session_prepared(session, &self->design, error));
    self->groups = self->design.strata;
    size_t cells = self->design.cells;
    self->time = TACIT_NEW(double, cells);
    self->at_risk = TACIT_NEW(double, cells * self->groups);
    self->events = TACIT_NEW(double, cells * self->groups);
    self->leaving = TACIT_NEW(double, cells * self->groups);
    self->steps = TACIT_NEW(tacit_life_step, cells);
    self->by_cause = TACIT_NEW(double, self->design.causes *cells * self->groups);
    self->incidence = TACIT_NEW(tacit_life_incidence, self->design.causes * cells);
    if (self->time == NULL || self->at_risk == NULL || self->events == NULL || self->leaving == NULL ||
        self->steps == NULL || self->by_cause == NULL || self->incidence == NULL)
        return tacit_fail_memory(error);
    return TACIT_OK;
}

/* Whether in every group nobody leaves at a time, or enough rows. */
static bool large_enough(const lives *self, size_t time) {
    double least = (double)settings_of(self->plan)->least;
    for (size_t g = 0; g < self->groups; g++) {
        double leaving = self->leaving[time * self->groups + g];
        if (leaving > 0 && leaving < least) return false;
    }
    return true;
}

static void add_row(double *to, const double *from, size_t count) {
    for (size_t g = 0; g < count; g++) to[g] += from[g];
}

static double *of_cause(const lives *self, size_t cause, size_t time) {
    return self->by_cause + (cause * self->design.cells + time) * self->groups;
}

/* Cells put together, and who is at risk. `counts` has of each cell the rows that leave and the events of
 * each cause. */
static void gather(lives *self, const double *counts) {
    const size_t cells = self->design.cells, groups = self->groups, causes = self->design.causes;
    bool open = false;
    for (size_t c = 0; c < cells; c++) {
        if (!open) self->times++;
        size_t at = self->times - 1;
        for (size_t g = 0; g < groups; g++) {
            const double *here = counts + (1 + causes) * (g * cells + c);
            self->leaving[at * groups + g] += here[0];
            for (size_t j = 0; j < causes; j++) {
                self->events[at * groups + g] += here[1 + j];
                of_cause(self, j, at)[g] += here[1 + j];
            }
        }
        self->time[at] = time_of_cell(&self->design, self->plan, c);
        open = !large_enough(self, at);
    }
    while (self->times > 1 && !large_enough(self, self->times - 1)) {
        size_t last = --self->times;
        self->time[last - 1] = self->time[last];
        add_row(self->leaving + (last - 1) * groups, self->leaving + last * groups, groups);
        add_row(self->events + (last - 1) * groups, self->events + last * groups, groups);
        for (size_t j = 0; j < causes; j++)
            add_row(of_cause(self, j, last - 1), of_cause(self, j, last), groups);
    }
    for (size_t t = self->times; t-- > 0;) {
        memcpy(self->at_risk + t * groups, self->leaving + t * groups, groups * sizeof *self->at_risk);
        if (t + 1 < self->times)
            add_row(self->at_risk + t * groups, self->at_risk + (t + 1) * groups, groups);
    }
}

static tacit_status ask(lives *self, tacit_session *session, size_t *parties, tacit_error *error) {
    tacit_sum_spec count = time_first_sum(self->plan);
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum rows = TACIT_SUM_INIT, cells = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_ask_sum(session, "rows", NULL, &count, &rows, error));
    self->rows = rows.values[0];
    *parties = rows.parties;
    TACIT_CHECK(missing_sum_keep(&self->missing, self->plan, &rows, 1, error));
    if (!(self->rows > 0)) TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "no party has any rows"));
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &self->rows, 1, error));
    tacit_sum_spec spec = time_sum(self->plan, self->rows, 0, time_length_of_cells(&self->design));
    TACIT_CHECK(tacit_ask_sum(session, "cells", &message, &spec, &cells, error));
    if (cells.parties != *parties || cells.values[0] != self->rows)
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED,
                               "other parties answered 'cells' than 'rows': run the study again"));
    gather(self, cells.values + TIME_HEAD);
    if (!large_enough(self, 0) && self->times == 1)
        TACIT_CHECK(tacit_fail(error, TACIT_INPUT,
                               "some group has fewer than %llu rows in all: put levels together, or set a "
                               "smaller `least`",
                               (unsigned long long)settings_of(self->plan)->least));
cleanup:
    tacit_message_clear(&message);
    tacit_sum_clear(&rows);
    tacit_sum_clear(&cells);
    return status;
}

/* ---- the report ---- */

/* The curve of a group into self->steps; how many times it has, up to the last at which somebody is at
 * risk. */
static size_t make_curve(lives *self, size_t group) {
    size_t count = 0;
    for (; count < self->times && self->at_risk[count * self->groups + group] > 0; count++)
        self->steps[count] = (tacit_life_step){ .time = self->time[count],
                                                .at_risk = self->at_risk[count * self->groups + group],
                                                .events = self->events[count * self->groups + group] };
    tacit_life_fill(self->steps, count, settings_of(self->plan)->level,
                    (tacit_life_interval)settings_of(self->plan)->interval);
    return count;
}

static tacit_status add_curve(lives *self, tacit_report *report, size_t group, tacit_error *error) {
    static const char *const columns[] = { "at risk",      "events",     "censored",    "survival",
                                           "error",        "low",        "high",        "hazard",
                                           "hazard error", "hazard low", "hazard high", NULL };
    char name[200], title[240], label[40];
    tacit_report_table *table;
    size_t count = make_curve(self, group);
    if (count == 0) return TACIT_OK;
    snprintf(name, sizeof name, "curve %.150s", time_stratum_name(&self->design, group));
    snprintf(title, sizeof title, "Survival of %.150s", time_stratum_name(&self->design, group));
    TACIT_TRY(tacit_report_add_table(report, &table, name, title, columns, error));
    for (size_t k = 0; k < count; k++) {
        const tacit_life_step *one = &self->steps[k];
        double leaving = self->leaving[k * self->groups + group];
        double values[] = { one->at_risk,
                            one->events,
                            leaving - one->events,
                            one->survival,
                            one->survival * one->error,
                            one->low,
                            one->high,
                            one->hazard,
                            one->hazard_error,
                            one->hazard_low,
                            one->hazard_high };
        if (!isfinite(values[4])) values[4] = NAN;
        tacit_format(label, sizeof label, "%.10g", one->time);
        TACIT_TRY(tacit_report_add_row(table, label, values, NULL, error));
    }
    return TACIT_OK;
}

/* The share of rows with an event of each cause by each time, where the schema has several. */
static tacit_status add_incidence(lives *self, tacit_report *report, size_t group, tacit_error *error) {
    const survival_settings *settings = settings_of(self->plan);
    size_t count = make_curve(self, group), causes = self->design.causes, cells = self->design.cells;
    double *events = TACIT_NEW(double, cells);
    if (events == NULL) return tacit_fail_memory(error);
    for (size_t j = 0; j < causes; j++) {
        for (size_t k = 0; k < count; k++) events[k] = of_cause(self, j, k)[group];
        tacit_life_fill_incidence(self->incidence + j * cells, self->steps, events, count, settings->level,
                                  (tacit_life_interval)settings->interval);
    }
    free(events);
    if (count == 0 || causes == 1) return TACIT_OK;
    return time_add_incidence(report, &self->design, self->plan, group, self->incidence, cells, self->time,
                              count, error);
}

/* Up to when means count: the setting, or the last time at which somebody of every group is at risk. */
static double mean_until(const lives *self) {
    double until = settings_of(self->plan)->until;
    if (until > 0) return until;
    for (size_t t = 0; t < self->times; t++)
        for (size_t g = 0; g < self->groups; g++)
            if (self->at_risk[g] > 0 && !(self->at_risk[t * self->groups + g] > 0))
                return self->time[t > 0 ? t - 1 : 0];
    return self->time[self->times - 1];
}

static tacit_status add_summary(lives *self, tacit_report *report, tacit_error *error) {
    static const char *const columns[] = { "rows",        "events", "median",     "median low",
                                           "median high", "mean",   "mean error", NULL };
    tacit_report_table *table;
    double until = mean_until(self);
    TACIT_TRY(tacit_report_add_fact(report, "mean until", until, NULL, error));
    TACIT_TRY(tacit_report_add_table(report, &table, "groups", "Groups", columns, error));
    for (size_t g = 0; g < self->groups; g++) {
        size_t count = make_curve(self, g);
        double events = 0, mean_error;
        if (count == 0) continue;
        for (size_t k = 0; k < count; k++) events += self->steps[k].events;
        double mean = tacit_life_mean(self->steps, count, self->design.low, until, &mean_error);
        double values[] = { self->steps[0].at_risk,
                            events,
                            tacit_life_quantile(self->steps, count, TACIT_LIFE_SURVIVAL, 0.5),
                            tacit_life_quantile(self->steps, count, TACIT_LIFE_LOW, 0.5),
                            tacit_life_quantile(self->steps, count, TACIT_LIFE_HIGH, 0.5),
                            mean,
                            mean_error };
        TACIT_TRY(tacit_report_add_row(table, time_stratum_name(&self->design, g), values, NULL, error));
    }
    return TACIT_OK;
}

static tacit_status add_tests(lives *self, tacit_report *report, tacit_error *error) {
    static const char *const columns[] = { "chi-square", "df", "p", NULL };
    static const char *const names[] = { "log-rank", "Peto-Peto", "Gehan" };
    tacit_report_table *table;
    if (self->design.column == NULL) return TACIT_OK;
    TACIT_TRY(tacit_report_add_table(report, &table, "tests", "Whether groups differ", columns, error));
    for (int k = TACIT_LIFE_LOG_RANK; k <= TACIT_LIFE_GEHAN; k++) {
        double statistic;
        size_t degrees;
        TACIT_TRY(tacit_life_test(&statistic, &degrees, (tacit_life_weight)k, self->at_risk, self->events,
                                  self->times, self->groups, NULL, error));
        double p = isnan(statistic) ? NAN : exp(tacit_log_gamma_tail((double)degrees / 2, statistic / 2));
        double values[] = { statistic, (double)degrees, p };
        TACIT_TRY(tacit_report_add_row(table, names[k], values, NULL, error));
    }
    return TACIT_OK;
}

/* Of the groups with rows, by Cox's model of the group alone. */
static tacit_status add_ratios(lives *self, tacit_report *report, tacit_error *error) {
    size_t groups = self->groups, present = 0;
    double *ratio = TACIT_NEW(double, 4 * groups), *n = TACIT_NEW(double, self->times *groups),
           *d = TACIT_NEW(double, self->times *groups);
    size_t *kept = TACIT_NEW(size_t, groups);
    tacit_status status = TACIT_OK;
    if (ratio == NULL || n == NULL || d == NULL || kept == NULL) TACIT_CHECK(tacit_fail_memory(error));
    double *errors = ratio + groups, *found = errors + groups, *found_errors = found + groups;
    for (size_t g = 0; g < groups; g++)
        if (self->at_risk[g] > 0) kept[present++] = g;
    for (size_t t = 0; t < self->times; t++)
        for (size_t i = 0; i < present; i++) {
            n[t * present + i] = self->at_risk[t * groups + kept[i]];
            d[t * present + i] = self->events[t * groups + kept[i]];
        }
    for (size_t g = 0; g < groups; g++) ratio[g] = NAN;
    if (present > 1) TACIT_CHECK(tacit_life_ratios(found, found_errors, n, d, self->times, present, error));
    for (size_t i = 0; i < present && present > 1; i++) {
        ratio[kept[i]] = found[i];
        errors[kept[i]] = found_errors[i];
    }
    status =
        time_add_ratios(report, &self->design, kept[0], ratio, errors, settings_of(self->plan)->level, error);
cleanup:
    free(ratio);
    free(n);
    free(d);
    free(kept);
    return status;
}

static tacit_status make_report(lives *self, tacit_report **out, tacit_error *error) {
    tacit_report *report = NULL;
    TACIT_TRY(tacit_report_create(&report, "survival", false, self->rows, error));
    tacit_status status = add_summary(self, report, error);
    if (status == TACIT_OK) status = add_tests(self, report, error);
    if (status == TACIT_OK && self->design.column != NULL) status = add_ratios(self, report, error);
    for (size_t g = 0; g < self->groups && status == TACIT_OK; g++)
        status = add_curve(self, report, g, error);
    for (size_t g = 0; g < self->groups && status == TACIT_OK && self->design.causes > 1; g++)
        status = add_incidence(self, report, g, error);
    if (status == TACIT_OK)
        status = missing_sum_add_table(report, self->plan->schema, self->missing,
                                       (double)settings_of(self->plan)->least, error);
    if (status == TACIT_OK)
        *out = report;
    else
        tacit_report_free(report);
    return status;
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    lives self;
    tacit_report *report = NULL;
    tacit_model *model = NULL;
    size_t parties = 0;
    tacit_status status;
    TACIT_CHECK(begin_lives(&self, session, error));
    TACIT_CHECK(ask(&self, session, &parties, error));
    TACIT_CHECK(make_report(&self, &report, error));
    TACIT_CHECK(tacit_model_create_report(&model, report, plan->features, plan->classes, error));
    out->parties = parties;
    status = tacit_outcome_add(out, model, error);
cleanup:
    end_lives(&self);
    return status;
}

static const tacit_handler_entry handlers[] = {
    { .question = "rows", .answer = time_answer_rows },
    { .question = "cells", .answer = time_answer_cells },
    { .question = NULL },
};

/* Rows, and then what happened when. */
const tacit_method tacit_method_survival_exact = {
    .name = "survival-exact",
    .title = "curves of survival, medians and tests of groups, from counts alone, without noise",
    .reference = "Kaplan & Meier 1958; Nelson 1969; Aalen 1978; Mantel 1966",
    .version = 1,
    .units = "record",
    .spreads = true,
    .noise_free = true,
    .takes_times = true,
    .terms = TACIT_TERMS_NONE,
    .lambda_may_vanish = true,
    .reports = "survival",
    TACIT_SETTINGS_OF(parameters, defaults),
    .leaves =
        "for each cell of time (and group), how many of the party's rows leave in it and how many have an "
        "event, as one contribution to a sum; its number of rows" MISSING_SUM_LEAVE,
    .seen_by =
        "[sees=sum: the coordinator sees the exact totals of all parties' counts, and no single "
        "party's][sees=each: the coordinator sees each party's exact counts]. Everybody sees the curves, "
        "in which neighbouring cells are together that few rows leave" MISSING_SUM_SEEN,
    .guarantee = "no differential privacy: the counts are exact, and no noise is added",
    .assumption = "the coordinator keeps the [sees=sum: totals][sees=each: counts] of single cells to itself",
    .theorem =
        "no privacy theorem applies. The curves are those of all rows pooled on the same grid of times: "
        "counts add up",
    .claim = "the same",
    .caveats =
        "a count of one tells when somebody had the event. Times are rounded up to the end of their cell, "
        "or group of cells; rows without an event count as at risk at that time",
    .prepare = time_prepare,
    .clear_prepared = time_clear_prepared,
    .prepared_size = sizeof(time_design),
    .needs_schema = true,
    .price = tacit_nonprivate_price,
    .choose_lambda = tacit_plan_no_lambda,
    .counts_missing = counts_missing,
    .release_kind = time_kind,
    .exchanges = tacit_two_exchanges,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
