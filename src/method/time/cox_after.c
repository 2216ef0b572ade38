/*
 * Method cox after the fit, the coordinator's half.
 *
 * Robust errors (Lin and Wei 1989). The score of row i at the optimum,
 *
 *   U_i = e_i (x_i - m(t_i)) - r_i sum over groups at which i is at risk of (x_i - m) dH
 *
 * needs the means m at risk and the steps dH of the hazard, which the sums of the last round gave: they go
 * back to the parties once, and the sum of U_i U_i^T, over rows or over persons, comes back: B of the
 * sandwich A^-1 B A^-1.
 *
 * Proportional hazards (Grambsch and Therneau 1994, as the score test of R's survival from 3.0 on). Were the
 * coefficient of x to change as g(t), x g(t) would be one more column, whose score at 0 is u = sum over
 * events of g x - sum of g m, and whose information follows from each group's V: only the sum over events of
 * g x is asked for, width numbers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/encode.h"
#include "method/time/cox.h"
#include "num/estimator.h"
#include "num/special.h"

enum { MORE_ROOM = 8, MOST_ROOM = 36 };

/* ---- squared scores ---- */

static tacit_status ask_squares(cox_fit *self, int room, tacit_sum *sum, tacit_error *error) {
    const size_t width = self->design.columns.width;
    const size_t steps = self->partition.groups * tacit_cox_steps(width);
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &self->n, 1, error));
    TACIT_CHECK(tacit_message_add_integers(&message, "room", &(int64_t){ room }, 1, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "shift", &self->here.shift, 1, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", self->here.w, width, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "steps", self->here.at.steps, steps, error));
    TACIT_CHECK(cox_partition_write(&self->partition, &self->design, &message, error));
    TACIT_CHECK(cox_ask_all(self, "scores", &message, room, 1 + width * (width + 1) / 2, sum, error));
cleanup:
    tacit_message_clear(&message);
    return status;
}

tacit_status cox_ask_scores(cox_fit *self, double **middle, double *persons, tacit_error *error) {
    const size_t width = self->design.columns.width;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    double *out = TACIT_NEW(double, width *width);
    if (out == NULL) return tacit_fail_memory(error);
    int room = self->room;
    TACIT_CHECK(ask_squares(self, room, &sum, error));
    while (cox_needs_room(self, &sum) && room < MOST_ROOM) {
        room += MORE_ROOM;
        tacit_sum_clear(&sum);
        TACIT_CHECK(ask_squares(self, room, &sum, error));
    }
    const double *value = sum.values + TIME_HEAD + 1;
    *persons = nearbyint(sum.values[TIME_HEAD]);
    if (cox_settings_of(self->session->plan)->errors == COX_ERRORS_CLUSTER && *persons < 2)
        TACIT_CHECK(
            tacit_fail(error, TACIT_INPUT, "all rows are one person's: clustered errors need at least two"));
    for (size_t i = 0; i < width; i++)
        for (size_t j = 0; j <= i; j++) out[i * width + j] = *value++;
    *middle = out;
    out = NULL;
cleanup:
    tacit_sum_clear(&sum);
    free(out);
    return status;
}

/* ---- functions of time ---- */

/* Of each cell, over all strata: rows that leave, events and rows that enter. */
typedef struct pooled {
    double *leaving, *events, *entering;
} pooled;

static void pool(const time_design *design, const double *counts, const double *entering, double n,
                 pooled *out) {
    for (size_t s = 0; s < design->strata; s++)
        for (size_t c = 0; c < design->cells; c++) {
            size_t place = s * design->cells + c;
            out->leaving[c] += counts[2 * place];
            out->events[c] += counts[2 * place + 1];
            if (entering != NULL) out->entering[c] += entering[place];
        }
    if (entering == NULL) out->entering[0] = n;
}

/* As cox.zph has it: 1 - the curve of Kaplan and Meier just before, the time, its logarithm, or its rank. */
static void transform(const time_design *design, int kind, const pooled *count, double *out) {
    double left = 0, entered = 0, curve = 1;
    for (size_t c = 0; c < design->cells; c++) {
        double end = design->low + design->width * (double)(c + 1);
        entered += count->entering[c];
        double at_risk = entered - left;
        out[c] = kind == COX_TREND_KM         ? 1 - curve
                 : kind == COX_TREND_IDENTITY ? end
                 : kind == COX_TREND_LOG      ? log(end)
                                              : left + (count->leaving[c] + 1) / 2;
        if (count->events[c] > 0 && at_risk > 0) curve *= 1 - count->events[c] / at_risk;
        left += count->leaving[c];
    }
}

/* Around the mean of events, within [-1, 1]: neither changes a test. */
static tacit_status standardise(const cox_partition *groups, double *time, double events,
                                tacit_error *error) {
    double mean = 0, most = 0;
    for (size_t g = 0; g < groups->groups; g++) mean += groups->events[g] * time[g] / events;
    for (size_t g = 0; g < groups->groups; g++)
        if (groups->events[g] > 0) most = fmax(most, fabs(time[g] - mean));
    if (!(most > 1e-12 * fabs(mean)))
        return tacit_fail(error, TACIT_INPUT,
                          "all events are in one group of cells: proportional hazards cannot be tested");
    for (size_t g = 0; g < groups->groups; g++) time[g] = groups->events[g] > 0 ? (time[g] - mean) / most : 0;
    return TACIT_OK;
}

tacit_status cox_choose_time(cox_fit *self, const double *counts, const double *entering,
                             tacit_error *error) {
    const time_design *design = &self->design;
    const cox_partition *groups = &self->partition;
    const size_t cells = design->cells;
    double *room = TACIT_NEW(double, 4 * cells), *of_cell = room + 3 * cells;
    self->time = TACIT_NEW(double, groups->groups);
    tacit_status status = TACIT_OK;
    if (room == NULL || self->time == NULL) TACIT_CHECK(tacit_fail_memory(error));
    pooled count = { room, room + cells, room + 2 * cells };
    pool(design, counts, entering, self->n, &count);
    transform(design, (int)cox_settings_of(self->session->plan)->proportional, &count, of_cell);
    for (size_t place = 0; place < design->strata * cells; place++) {
        size_t g = groups->of_cell[place];
        if (counts[2 * place + 1] > 0)
            self->time[g] += of_cell[place % cells] * counts[2 * place + 1] / groups->events[g];
    }
    status = standardise(groups, self->time, self->events, error);
cleanup:
    free(room);
    return status;
}

/* ---- tests ---- */

typedef struct trends {
    size_t width;
    double *score, *information; /* of x g(t) beside x, per unit of R's columns */
    double *map;                 /* x = (R's columns) map, which is upper triangular */
    double *factor, *scale, *room;
    bool *deficient;
    size_t *term;
} trends;

static void clear_trends(trends *self) {
    free(self->score);
    free(self->deficient);
    free(self->term);
}

static tacit_status make_trends(trends *out, size_t width, tacit_error *error) {
    size_t square = width * width;
    *out = (trends){ .width = width };
    out->score = TACIT_NEW(double, 3 * square + 4 * width);
    out->deficient = TACIT_NEW(bool, width);
    out->term = TACIT_NEW(size_t, width);
    if (out->score == NULL || out->deficient == NULL || out->term == NULL) return tacit_fail_memory(error);
    out->information = out->score + width;
    out->map = out->information + square;
    out->factor = out->map + square;
    out->scale = out->factor + square;
    out->room = out->scale + width;
    return TACIT_OK;
}

static tacit_status ask_events(cox_fit *self, double *score, tacit_error *error) {
    const size_t width = self->design.columns.width;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &self->n, 1, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "time", self->time, self->partition.groups, error));
    TACIT_CHECK(cox_partition_write(&self->partition, &self->design, &message, error));
    TACIT_CHECK(cox_ask_all(self, "trend", &message, 0, width, &sum, error));
    for (size_t j = 0; j < width; j++) score[j] = sum.values[TIME_HEAD + j] - self->here.at.trend[j];
cleanup:
    tacit_message_clear(&message);
    tacit_sum_clear(&sum);
    return status;
}

static double entry(const double *lower, size_t width, size_t i, size_t j) {
    return i >= j ? lower[i * width + j] : lower[j * width + i];
}

/* sum of g^2 V - (sum of g V) (sum of V)^-1 (sum of g V): what is left beside the coefficients themselves. */
static tacit_status profile(trends *self, const tacit_cox_point *at, tacit_error *error) {
    const size_t d = self->width;
    const double *by_time = at->trend + d, *by_square = by_time + d * d;
    memcpy(self->factor, at->information, d * d * sizeof *self->factor);
    if (tacit_cholesky_factor(self->factor, d, 0, self->scale, self->deficient) > 0)
        return tacit_fail(error, TACIT_NOT_CONVERGED, "the curvature at the estimate is not positive");
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < d; i++) self->room[i] = entry(by_time, d, i, j);
        tacit_cholesky_solve(self->factor, d, self->scale, self->room);
        for (size_t i = 0; i < d; i++) {
            double less = 0;
            for (size_t k = 0; k < d; k++) less += entry(by_time, d, i, k) * self->room[k];
            self->information[i * d + j] = entry(by_square, d, i, j) - less;
        }
    }
    return TACIT_OK;
}

/* Solve map^T z = z in place, for entries `step` apart. */
static void to_columns(const trends *self, double *z, size_t step) {
    for (size_t j = 0; j < self->width; j++) {
        for (size_t k = 0; k < j; k++) z[j * step] -= self->map[k * self->width + j] * z[k * step];
        z[j * step] /= self->map[j * self->width + j];
    }
}

/* From features to R's columns: a term's test is about those. */
static tacit_status turn(trends *self, const tacit_design *design, tacit_error *error) {
    const size_t d = self->width;
    for (size_t k = 0; k < d; k++) TACIT_TRY(tacit_design_raw_row(design, k, self->map + k * d, error));
    to_columns(self, self->score, 1);
    for (size_t j = 0; j < d; j++) to_columns(self, self->information + j, d);
    for (size_t i = 0; i < d; i++) to_columns(self, self->information + i * d, 1);
    return TACIT_OK;
}

/* Which coefficients are of one term: by columns of the schema, or by terms of the formula. */
static tacit_status find_terms(trends *self, const tacit_design *design, tacit_error *error) {
    const tacit_schema *schema = design->schema;
    tacit_feature *feature = TACIT_NEW(tacit_feature, design->features);
    tacit_status status = feature != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK && schema->formula == NULL) status = tacit_schema_linear(schema, feature, error);
    for (size_t j = 0; j < self->width && status == TACIT_OK; j++)
        self->term[j] = schema->formula != NULL ? tacit_formula_term(schema->formula, design->kept[j])
                                                : feature[design->kept[j]].column;
    free(feature);
    return status;
}

/* u.E^-1 u of a term's coefficients, or of all (SIZE_MAX). */
static tacit_status test(trends *self, size_t term, tacit_term *out, tacit_error *error) {
    const size_t d = self->width;
    double *solved = self->room, *value = self->room + d;
    size_t n = 0;
    for (size_t i = 0; i < d; i++) {
        if (term != SIZE_MAX && self->term[i] != term) continue;
        size_t m = 0;
        for (size_t j = 0; j <= i; j++)
            if (term == SIZE_MAX || self->term[j] == term)
                self->factor[n * d + m++] = self->information[i * d + j];
        value[n++] = self->score[i];
    }
    for (size_t i = 0; i < n; i++)
        memmove(self->factor + i * n, self->factor + i * d, n * sizeof *self->factor);
    memcpy(solved, value, n * sizeof *solved);
    *out = (tacit_term){ .name = out->name, .count = n, .inflation = NAN, .statistic = 0 };
    if (tacit_cholesky_factor(self->factor, n, 0, self->scale, self->deficient) > 0)
        return tacit_fail(error, TACIT_NOT_CONVERGED,
                          "the events are too few for tests of proportional hazards: set proportional=none");
    tacit_cholesky_solve(self->factor, n, self->scale, solved);
    for (size_t i = 0; i < n; i++) out->statistic += value[i] * solved[i];
    out->p = tacit_chi_square_tail(out->statistic, (double)n);
    return TACIT_OK;
}

static tacit_status name_term(const tacit_schema *schema, size_t term, char **out, tacit_error *error) {
    tacit_buffer name = TACIT_BUFFER_INIT;
    tacit_status status = term == SIZE_MAX ? tacit_buffer_print(&name, error, "GLOBAL")
                          : schema->formula != NULL
                              ? tacit_formula_term_name(schema->formula, term, &name, error)
                              : tacit_buffer_print(&name, error, "%s", schema->columns[term].name);
    if (status == TACIT_OK && (*out = tacit_copy_text(tacit_buffer_text(&name))) == NULL)
        status = tacit_fail_memory(error);
    tacit_buffer_clear(&name);
    return status;
}

static tacit_status add_test(trends *self, const tacit_schema *schema, size_t term,
                             tacit_estimates *estimates, tacit_error *error) {
    tacit_term *out = &estimates->trend[estimates->trends];
    TACIT_TRY(name_term(schema, term, &out->name, error));
    estimates->trends++;
    return test(self, term, out, error);
}

tacit_status cox_test_trends(cox_fit *self, tacit_estimates *estimates, tacit_error *error) {
    const tacit_design *columns = &self->design.columns;
    trends all;
    char word[TACIT_SETTING_SIZE];
    tacit_status status;
    TACIT_CHECK(make_trends(&all, columns->width, error));
    TACIT_CHECK(ask_events(self, all.score, error));
    TACIT_CHECK(profile(&all, &self->here.at, error));
    TACIT_CHECK(turn(&all, columns, error));
    TACIT_CHECK(find_terms(&all, columns, error));
    estimates->trend = TACIT_NEW(tacit_term, columns->width + 1);
    if (estimates->trend == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t j = 0; j < columns->width; j++) {
        bool seen = false;
        for (size_t k = 0; k < j && !seen; k++) seen = all.term[k] == all.term[j];
        if (!seen) TACIT_CHECK(add_test(&all, columns->schema, all.term[j], estimates, error));
    }
    TACIT_CHECK(add_test(&all, columns->schema, SIZE_MAX, estimates, error));
    tacit_format(estimates->trend_of, sizeof estimates->trend_of, "%s",
                 tacit_setting_word(COX_TRENDS, cox_settings_of(self->session->plan)->proportional, word));
cleanup:
    clear_trends(&all);
    return status;
}
