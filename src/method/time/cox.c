/*
 * cox: regression of a time until an event, hazards being proportional, from sums alone (Cox 1972; ties by
 * Efron 1977 or Breslow 1974).
 *
 *   all:          a public grid over time; every row leaves in a cell, with an event or without (censored)
 *   parties:      once, of each cell and stratum, how many rows leave and how many events there are; the
 *                 sum of x over all events
 *   coordinator:  puts cells together, so that at least `least` rows leave in each group and, by Efron's
 *                 way, no group has few events but more than one
 *   round:        coordinator sends w; party k answers, of each group, the sums of r, r x and r x x^T over
 *                 the rows that leave in it, r = exp(x.w - shift), and by Efron's way those over its events
 *   coordinator:  adds up backwards who is at risk at each event (num/partial_likelihood.h): log partial
 *                 likelihood l, score U, information I;  w <- w + s (I + n lambda)^-1 (U - n lambda w),
 *                 s = 1, 1/2, ... until l rises;  I^-1 at the end is the covariance
 *
 * Equal to R's coxph on times put on the same grid. No noise: nothing here is differentially private (price:
 * an infinite epsilon). What leaves a party is a contribution to a sum.
 *
 * The fixed point. r has no public bound that is of use, so the coordinator chooses the shift, near the
 * logarithm of the mean of exp(x.w) at the last point, and room: contributions are at most n 2^room. One that
 * is more is moved to the bound, and a sum that shows it is asked for again with more room.
 */
#include "method/time/cox.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/encode.h"
#include "num/estimator.h"
#include "session/session.h"

enum { MOST_STEPS = 30, MOST_HALVINGS = 20, FIRST_ROOM = 4, MORE_ROOM = 8, MOST_ROOM = 36 };

static const cox_settings defaults = { .time = { .strata = "none" }, .least = 10, .level = 0.95 };

static const tacit_parameter parameters[] = {
    TIME_SETTING_WIDTH(cox_settings),
    TACIT_CHOICE(cox_settings, ties, "ties", "efron|breslow", "events in the same cell, as in R's coxph"),
    TACIT_TEXT(cox_settings, time.strata, "strata",
               "a category whose levels have baselines of their own, instead of a coefficient; or none"),
    TACIT_COUNT(cox_settings, least, "least", 1, 1e6,
                "cells are merged until at least this many rows of all parties leave in each"),
    TACIT_NUMBER(cox_settings, level, "level", 0.5, 0.999999, "of the confidence intervals"),
    TACIT_LATER_CHOICE(
        cox_settings, errors, "errors", COX_ERRORS, "model",
        "model: from the information; robust: Lin and Wei's sandwich; cluster: by the schema's person"),
    TACIT_LATER_CHOICE(cox_settings, proportional, "proportional", COX_TRENDS, "none",
                       "tests of proportional hazards against this function of time, as R's cox.zph"),
    TIME_SETTING_UNIT(cox_settings),
    TACIT_LATER_CHOICE(cox_settings, concordance, "concordance", "no|yes", "no",
                       "Harrell's concordance, from counts of scores in 200 bins, and how far off it may be"),
    MISSING_SUM_SETTING(cox_settings, missing),
    TACIT_SETTINGS_END,
};

static tacit_status check_settings(const tacit_plan *plan, tacit_error *error) {
    const cox_settings *settings = cox_settings_of(plan);
    const bool clusters = settings->errors == COX_ERRORS_CLUSTER;
    if (clusters && plan->schema->person == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "errors=cluster needs a schema that says whose row it is: person: COLUMN");
    if (!clusters && plan->schema->formula != NULL && tacit_formula_clusters(plan->schema->formula))
        return tacit_fail(error, TACIT_USAGE,
                          "cluster() in terms needs the setting errors=cluster, which owners read");
    return TACIT_OK;
}

static tacit_status check(const tacit_plan *plan, tacit_error *error) {
    return plan->schema != NULL ? check_settings(plan, error) : TACIT_OK;
}

static tacit_status prepare(const tacit_plan *plan, void *out, tacit_error *error) {
    TACIT_TRY(time_prepare(plan, out, error));
    if (plan->schema == NULL) return TACIT_OK; /* nothing is known of the rows yet */
    const tacit_design columns = ((time_design *)out)->columns;
    const size_t width = columns.width;
    if (columns.weights == SIZE_MAX && width > 0 && width <= COX_MOST_COLUMNS) return TACIT_OK;
    time_clear_prepared(out);
    if (columns.weights != SIZE_MAX)
        return tacit_fail(error, TACIT_USAGE,
                          "method cox takes no weights of rows: leave 'weights' out of the terms");
    return tacit_fail(error, TACIT_USAGE,
                      "method cox inverts a matrix of %zu columns: have at least 1 and at most %d", width,
                      COX_MOST_COLUMNS);
}

static tacit_status choose_lambda(const tacit_plan *plan, double *out, tacit_error *error) {
    (void)plan;
    (void)error;
    *out = 0; /* maximum likelihood */
    return TACIT_OK;
}

static bool infers(const tacit_plan *plan) {
    (void)plan;
    return true;
}

static tacit_counted counts_missing(const tacit_plan *plan) {
    return missing_sum_counted(plan, cox_settings_of(plan)->missing);
}

static bool by_efron(const tacit_plan *plan) { return cox_settings_of(plan)->ties == COX_EFRON; }

/* ---- the coordinator's half ---- */

typedef cox_point point;
typedef cox_fit fit;

static void clear_point(point *one) {
    free(one->w);
    free(one->at.information);
    free(one->at.hazard);
    free(one->at.trend);
}

static void end_fit(fit *self) {
    clear_point(&self->here);
    clear_point(&self->there);
    free(self->event_x);
    free(self->factor);
    free(self->deficient);
    free(self->time);
    free(self->missing);
    cox_partition_clear(&self->partition);
}

static tacit_status make_point(point *out, size_t width, tacit_error *error) {
    out->w = TACIT_NEW(double, 2 * width);
    out->at.information = TACIT_NEW(double, width *width);
    if (out->w == NULL || out->at.information == NULL) return tacit_fail_memory(error);
    out->at.score = out->w + width;
    return TACIT_OK;
}

static tacit_status begin_fit(fit *self, tacit_session *session, tacit_error *error) {
    *self = (fit){ .session = session, .room = FIRST_ROOM };
    TACIT_TRY(tacit_session_prepared(session, &self->design, error));
    size_t width = self->design.columns.width;
    TACIT_TRY(make_point(&self->here, width, error));
    TACIT_TRY(make_point(&self->there, width, error));
    self->event_x = TACIT_NEW(double, 3 * width);
    self->factor = TACIT_NEW(double, width *width);
    self->deficient = TACIT_NEW(bool, width);
    if (self->event_x == NULL || self->factor == NULL || self->deficient == NULL)
        return tacit_fail_memory(error);
    self->direction = self->event_x + width;
    self->scale = self->direction + width;
    return TACIT_OK;
}

tacit_status cox_ask_all(fit *self, const char *question, const tacit_message *message, int room,
                         size_t length, tacit_sum *sum, tacit_error *error) {
    tacit_sum_spec spec = time_sum(self->session->plan, self->n, room, length);
    TACIT_TRY(tacit_ask_sum(self->session, question, message, &spec, sum, error));
    if (sum->parties == self->parties && sum->values[0] == self->n) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "other parties answered '%s' than the rounds before: an estimate needs the same ones "
                      "in every round; run the study again",
                      question);
}

/* What stays too small when all cells of a stratum are together. */
static tacit_status check_partition(const fit *self, tacit_error *error) {
    const tacit_plan *plan = self->session->plan;
    double least = (double)cox_settings_of(plan)->least;
    const cox_partition *groups = &self->partition;
    for (size_t g = 0; g < groups->groups; g++)
        if (groups->leaving[g] > 0 && cox_too_small(groups, g, true, least, by_efron(plan)))
            return tacit_fail(error, TACIT_INPUT,
                              "there are %s%.0f rows or events in all, fewer than `least`, or a stratum has: "
                              "put levels of the strata together, or set a smaller `least`",
                              groups->groups > 1 ? "fewer than " : "",
                              groups->groups > 1 ? least : groups->events[g]);
    size_t length = cox_length_of_groups(plan, &self->design, groups);
    if (length > COX_MOST_LENGTH)
        return tacit_fail(
            error, TACIT_USAGE,
            "%zu groups of cells and %zu columns make sums of %zu numbers, and at most %d can be "
            "asked for: choose a larger width of cells, or a larger `least`",
            groups->groups, self->design.columns.width, length, COX_MOST_LENGTH);
    return TACIT_OK;
}

/* Room for what a point knows of each group. */
static tacit_status make_groups(const fit *self, tacit_cox_point *at, tacit_error *error) {
    const size_t width = self->design.columns.width, groups = self->partition.groups;
    const bool robust = cox_settings_of(self->session->plan)->errors != COX_ERRORS_MODEL;
    at->hazard = TACIT_NEW(double, groups *(1 + (robust ? tacit_cox_steps(width) : 0)));
    at->trend = TACIT_NEW(double, self->time != NULL ? width * (1 + 2 * width) : 1);
    if (at->hazard == NULL || at->trend == NULL) return tacit_fail_memory(error);
    if (robust) at->steps = at->hazard + groups;
    return TACIT_OK;
}

/* Those who take part, who leaves when, and the groups. */
static tacit_status start(fit *self, tacit_error *error) {
    const tacit_plan *plan = self->session->plan;
    const size_t places = self->design.strata * self->design.cells;
    tacit_sum_spec count = time_first_sum(plan);
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum rows = TACIT_SUM_INIT, cells = TACIT_SUM_INIT;
    tacit_status status;
    if (cox_settings_of(plan)->proportional != COX_TREND_NONE && plan->lambda > 0)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "tests of proportional hazards need lambda 0"));
    TACIT_CHECK(tacit_ask_sum(self->session, "rows", NULL, &count, &rows, error));
    self->n = rows.values[0];
    self->parties = rows.parties;
    TACIT_CHECK(missing_sum_keep(&self->missing, plan, &rows, 1, error));
    if (!(self->n > 0)) TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "no party has any rows"));
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &self->n, 1, error));
    TACIT_CHECK(cox_ask_all(self, "cells", &message, 0, time_length_of_cells(&self->design), &cells, error));
    const double *counts = cells.values + TIME_HEAD;
    memcpy(self->event_x, counts + 2 * places, self->design.columns.width * sizeof *self->event_x);
    if (self->design.columns.offset != SIZE_MAX)
        self->event_offset = counts[2 * places + self->design.columns.width];
    for (size_t c = 0; c < places; c++) self->events += counts[2 * c + 1];
    if (!(self->events > 0))
        TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "%s", tacit_family_of(TACIT_RESPONSE_TIME, 0)->all_alike));
    const double *entering = self->design.entries ? cells.values + cells.length - places : NULL;
    TACIT_CHECK(cox_partition_make(&self->partition, &self->design, counts, entering,
                                   (double)cox_settings_of(plan)->least, by_efron(plan), error));
    TACIT_CHECK(check_partition(self, error));
    if (cox_settings_of(plan)->proportional != COX_TREND_NONE)
        TACIT_CHECK(cox_choose_time(self, counts, entering, error));
    TACIT_CHECK(make_groups(self, &self->here.at, error));
    TACIT_CHECK(make_groups(self, &self->there.at, error));
cleanup:
    tacit_message_clear(&message);
    tacit_sum_clear(&rows);
    tacit_sum_clear(&cells);
    return status;
}

static tacit_status ask_sums(fit *self, const double *w, tacit_sum *out, tacit_error *error) {
    const tacit_plan *plan = self->session->plan;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &self->n, 1, error));
    TACIT_CHECK(tacit_message_add_integers(&message, "room", &(int64_t){ self->room }, 1, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "shift", &self->shift, 1, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", w, self->design.columns.width, error));
    TACIT_CHECK(cox_partition_write(&self->partition, &self->design, &message, error));
    TACIT_CHECK(cox_ask_all(self, "sums", &message, self->room,
                            cox_length_of_groups(plan, &self->design, &self->partition), out, error));
cleanup:
    tacit_message_clear(&message);
    return status;
}

bool cox_needs_room(const fit *self, const tacit_sum *sum) {
    double most = 0, bound = ldexp(self->n, self->room);
    for (size_t j = TIME_HEAD; j < sum->length; j++) most = fmax(most, fabs(sum->values[j]));
    return most >= bound / 2;
}

static double dot(const double *a, const double *b, size_t count) {
    double sum = 0;
    for (size_t j = 0; j < count; j++) sum += a[j] * b[j];
    return sum;
}

/* l, its derivatives and the objective at point->w. */
static tacit_status ask_point(fit *self, point *one, tacit_error *error) {
    const tacit_plan *plan = self->session->plan;
    const size_t width = self->design.columns.width, length = tacit_risk_length(width);
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(ask_sums(self, one->w, &sum, error));
    while (cox_needs_room(self, &sum) && self->room < MOST_ROOM) {
        self->room += MORE_ROOM;
        tacit_sum_clear(&sum);
        TACIT_CHECK(ask_sums(self, one->w, &sum, error));
    }
    const double *leaving = sum.values + TIME_HEAD;
    tacit_cox_groups groups = { .width = width,
                                .strata = self->design.strata,
                                .end = self->partition.end,
                                .events = self->partition.events,
                                .leaving = leaving,
                                .died = by_efron(plan) ? leaving + self->partition.groups * length : NULL,
                                .event_x = self->event_x,
                                .time = self->time,
                                .shift = self->shift };
    if (self->design.entries)
        groups.entering = leaving + (1 + by_efron(plan)) * self->partition.groups * length;
    one->shift = self->shift;
    TACIT_CHECK(tacit_cox_evaluate(&one->at, &groups, one->w, error));
    one->at.log_likelihood += self->event_offset;
    one->objective = 0.5 * self->n * plan->lambda * dot(one->w, one->w, width) - one->at.log_likelihood;
    double mean = 0;
    for (size_t g = 0; g < self->partition.groups; g++) mean += leaving[g * length] / self->n;
    self->shift += log(mean); /* for the next point */
cleanup:
    tacit_sum_clear(&sum);
    return status;
}

static tacit_status no_estimate(tacit_error *error) {
    return tacit_fail(error, TACIT_NOT_CONVERGED,
                      "there is no finite estimate: %s; leave columns out, or give a lambda above 0",
                      tacit_family_of(TACIT_RESPONSE_TIME, 0)->unbounded);
}

/* The first column that never varies among the rows at risk, or follows from others. */
static tacit_status say_deficient(const fit *self, tacit_error *error) {
    tacit_buffer name = TACIT_BUFFER_INIT;
    size_t at = 0;
    while (at + 1 < self->design.columns.width && !self->deficient[at]) at++;
    tacit_status status = tacit_design_name(&self->design.columns, at, &name, error);
    if (status == TACIT_OK)
        status = tacit_fail(error, TACIT_INPUT,
                            "columns that never vary or follow from the columns before them have no "
                            "coefficient: %s; skip them in the schema, or give a lambda above 0",
                            tacit_buffer_text(&name));
    tacit_buffer_clear(&name);
    return status;
}

/* direction = (I + n lambda)^-1 (U - n lambda w). */
static tacit_status find_direction(fit *self, tacit_error *error) {
    const size_t width = self->design.columns.width;
    const double ridge = self->n * self->session->plan->lambda;
    static const double COLLINEAR = 1e-12;
    memcpy(self->factor, self->here.at.information, width * width * sizeof *self->factor);
    for (size_t j = 0; j < width; j++) {
        self->factor[j * width + j] += ridge;
        self->direction[j] = self->here.at.score[j] - ridge * self->here.w[j];
    }
    if (tacit_cholesky_factor(self->factor, width, COLLINEAR, self->scale, self->deficient) > 0)
        return self->iterations == 0 ? say_deficient(self, error) : no_estimate(error);
    tacit_cholesky_solve(self->factor, width, self->scale, self->direction);
    return TACIT_OK;
}

/* Move along the direction, halving the step until the objective falls. Far from the optimum a whole step of
 * Newton's overshoots, and a few rows would make up almost all of a party's hazards, which its owner refuses:
 * scores of those at risk may move by half in a step, in the root of the mean square, which is that of
 * left/events. */
static tacit_status search(fit *self, double left, bool *moved, tacit_error *error) {
    static const double HIDDEN = 1e-12, MOST_MOVE = 0.5;
    const size_t width = self->design.columns.width;
    double step = fmin(1, MOST_MOVE / sqrt(left / self->events));
    *moved = false;
    for (int k = 0; k < MOST_HALVINGS && !*moved; k++, step /= 2) {
        for (size_t j = 0; j < width; j++) self->there.w[j] = self->here.w[j] + step * self->direction[j];
        double shift = self->shift;
        tacit_status status = ask_point(self, &self->there, error);
        if (status != TACIT_OK && status != TACIT_NOT_CONVERGED) return status;
        *moved = status == TACIT_OK &&
                 self->there.objective <= self->here.objective + HIDDEN * (1 + fabs(self->here.objective));
        if (!*moved) self->shift = shift;
    }
    if (!*moved) return TACIT_OK;
    point other = self->here;
    self->here = self->there;
    self->there = other;
    return TACIT_OK;
}

/* Until U.I^-1 U, the squared distance to the optimum in standard errors, is 1e-20, or rounding lets it fall
 * no further. A likelihood without a maximum shows by steps that stay long while their promise vanishes. */
static tacit_status climb(fit *self, tacit_error *error) {
    static const double NEAR = 1e-20, STALLED = 1e-10, PROMISE = 1e-10, LONG = 0.1;
    const size_t width = self->design.columns.width;
    double before = INFINITY;
    bool moved;
    TACIT_TRY(ask_point(self, &self->here, error));
    self->first = -self->here.at.log_likelihood;
    for (self->iterations = 0; self->iterations < MOST_STEPS; self->iterations++) {
        TACIT_TRY(find_direction(self, error));
        double left = 0, longest = 0;
        for (size_t j = 0; j < width; j++) {
            double pull = self->here.at.score[j] - self->n * self->session->plan->lambda * self->here.w[j];
            left += pull * self->direction[j];
            longest = fmax(longest, fabs(self->direction[j]));
        }
        if (left <= PROMISE * self->events && longest > LONG) return no_estimate(error);
        if (left <= NEAR || (left <= STALLED && left > before / 2)) return TACIT_OK;
        TACIT_TRY(tacit_plan_allows(self->session->plan, self->iterations, error));
        TACIT_TRY(search(self, left, &moved, error));
        if (!moved) break;
        before = left;
    }
    return no_estimate(error);
}

/* ---- what comes out ---- */

/* The hazard where all columns are 0, not where the encoded features are. */
static tacit_status make_baseline(const fit *self, tacit_baseline **out, tacit_error *error) {
    const tacit_plan *plan = self->session->plan;
    const cox_partition *groups = &self->partition;
    double moved;
    tacit_status status = time_score_of_zeros(&self->design, plan, self->here.w, &moved, error);
    size_t count = 0;
    for (size_t g = 0; g < groups->groups; g++) count += groups->leaving[g] > 0; /* strata may have no rows */
    if (status == TACIT_OK) status = tacit_baseline_create(out, count, error);
    for (size_t g = 0, stratum = 0, k = 0; g < groups->groups && status == TACIT_OK; g++) {
        while (groups->end[stratum] <= g) stratum++;
        if (!(groups->leaving[g] > 0)) continue;
        (*out)->step[k++] = (tacit_baseline_step){
            .stratum = stratum,
            .time = time_of_cell(&self->design, plan, (size_t)groups->last[g]),
            .leaving = groups->leaving[g],
            .events = groups->events[g],
            .hazard = self->here.at.hazard[g] * exp(moved),
        };
    }
    return status;
}

static tacit_status make_model(fit *self, tacit_model **out, tacit_error *error) {
    const tacit_plan *plan = self->session->plan;
    const tacit_design *columns = &self->design.columns;
    const tacit_family *family = tacit_family_of(TACIT_RESPONSE_TIME, 0);
    const bool robust = cox_settings_of(plan)->errors != COX_ERRORS_MODEL;
    tacit_model *model = NULL;
    tacit_estimates *estimates = NULL;
    tacit_optimum optimum = { .family = family,
                              .rows = self->n,
                              .lambda = plan->lambda,
                              .level = cox_settings_of(plan)->level,
                              .w = self->here.w,
                              .objective = -self->here.at.log_likelihood,
                              .hessian = self->here.at.information,
                              .response = { self->first },
                              .null_objective = self->first,
                              .iterations = self->iterations };
    double *middle = NULL, persons = 0;
    char word[TACIT_SETTING_SIZE];
    if (robust) TACIT_TRY(cox_ask_scores(self, &middle, &persons, error));
    optimum.middle = middle;
    tacit_status status = tacit_estimates_infer(&estimates, columns, &optimum, error);
    free(middle);
    TACIT_TRY(status);
    if (robust)
        tacit_format(estimates->errors, sizeof estimates->errors, "%s",
                     tacit_setting_word(COX_ERRORS, cox_settings_of(plan)->errors, word));
    estimates->clusters = persons;
    if (self->time != NULL) status = cox_test_trends(self, estimates, error);
    if (status == TACIT_OK && cox_settings_of(plan)->concordance == COX_CONCORDANCE)
        status = cox_ask_concordance(self, estimates, error);
    if (status == TACIT_OK) status = missing_sum_put(estimates, plan->schema, self->missing, error);
    tacit_format(estimates->optimiser, sizeof estimates->optimiser, "newton");
    estimates->rounds = (size_t)self->session->round;
    if (status == TACIT_OK) status = make_baseline(self, &estimates->baseline, error);
    if (status == TACIT_OK) status = tacit_model_create(&model, family, plan->features, 0, error);
    if (status == TACIT_OK) {
        for (size_t j = 0; j < columns->width; j++) model->weights[columns->kept[j]] = self->here.w[j];
        if (columns->offset != SIZE_MAX) model->weights[columns->offset] = columns->offset_weight;
        model->estimates = estimates;
        *out = model;
    } else
        tacit_estimates_free(estimates);
    return status;
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    fit self;
    tacit_model *model = NULL;
    tacit_status status;
    TACIT_CHECK(begin_fit(&self, session, error));
    TACIT_CHECK(start(&self, error));
    TACIT_CHECK(climb(&self, error));
    TACIT_CHECK(make_model(&self, &model, error));
    out->parties = self.parties;
    status = tacit_outcome_add(out, model, error);
cleanup:
    end_fit(&self);
    return status;
}

const tacit_method tacit_method_cox = {
    .name = "cox",
    .title = "Cox regression of a time until an event, from sums alone, without noise",
    .reference = "Cox 1972; Efron 1977; Breslow 1974",
    .version = 1,
    .units = "record",
    .spreads = true,
    .noise_free = true,
    .takes_times = true,
    .takes_strata = true,
    .terms = TACIT_TERMS_ALL,
    .lambda_may_vanish = true,
    .stops_early = true,
    TACIT_SETTINGS_OF(parameters, defaults),
    .leaves = "once, for each cell of time (and stratum), how many of the party's rows leave in it and how "
              "many have an event, and where rows are observed from a later time on, how many enter; in each "
              "round, for each group of cells, sums of hazards, of columns and of their products over the "
              "rows that leave in it[ties=efron: , and over those with an event], and over those that enter, "
              "as one contribution to a sum; its number of rows[errors=robust: ; once, at the end, the sum "
              "of squared scores of its rows][errors=cluster: ; once, at the end, how many persons it has "
              "rows of, and the sum of squared scores of these persons][proportional=km|identity|log|rank: ; "
              "once, at the end, the sum of columns over its events, each by a function of its "
              "time][concordance=yes: ; once, at the end, for each group of cells, how many of its rows with "
              "and without an event have a score in each of 200 bins, and of those that enter "
              "later]" MISSING_SUM_LEAVE,
    .seen_by =
        "[sees=sum: the coordinator sees the exact totals of all parties' sums in every round, and no "
        "single party's][sees=each: the coordinator sees each party's exact sums in every round]. "
        "Everybody sees the weights of every round, how many rows and events each group of cells "
        "has[errors=robust|cluster: , the means of columns among those at risk at each group of cells], "
        "the final coefficients and their standard errors" MISSING_SUM_SEEN,
    .guarantee =
        "no differential privacy: the sums are exact, and no noise is added. No row leaves as it is; what "
        "leaves are sums over rows, and from exact sums something about single rows may be inferred",
    .assumption =
        "the coordinator keeps the [sees=sum: totals][sees=each: sums] to itself, puts cells together as the "
        "study says, and does not try to infer rows from sums over the few that leave at the same time",
    .theorem = "no privacy theorem applies. The estimate is that of all rows pooled on the same grid of "
               "times: who is at risk is a sum over parties, and integers add up without rounding",
    .claim = "the same",
    .caveats =
        "sums over the rows of a group in k rounds are k (d + 1)(d + 2)/2 numbers of d columns: groups of "
        "few rows can be solved for. Set a larger `least` where that matters. Parties refuse groups that the "
        "coordinator says are smaller than their owner's minimum, but must take its word for their size. "
        "Times are rounded up to the end of their cell, or group; at a tie, rows without an event count as "
        "at risk. [errors=robust|cluster: From the means at risk anybody who sees the questions can compute "
        "the sum of hazards times columns over the rows of each group. ]The same parties must answer in "
        "every round. With lambda above 0, standard errors leave out the bias",
    .prepare = prepare,
    .clear_prepared = time_clear_prepared,
    .prepared_size = sizeof(time_design),
    .needs_schema = true,
    .check = check,
    .infers = infers,
    .counts_missing = counts_missing,
    .price = tacit_nonprivate_price,
    .choose_lambda = choose_lambda,
    .release_kind = time_kind,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = cox_handlers,
};
