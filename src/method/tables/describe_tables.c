/*
 * Cross-tables and tests of independence. Without noise the test is Pearson's, with and without Yates'
 * correction of tables of four cells. With noise the statistic is the same, and its law is not a chi-square:
 * noise alone makes it large. So its p-value comes from tables drawn under independence, with the released
 * margins and the same noise (Gaboardi, Lim, Rogers and Vadhan 2016), from a fixed seed: the same report from
 * the same sums.
 */
#include "method/tables/describe_tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/special.h"
#include "rand/fast.h"

enum { NAME = 320, DRAWS = 999, DRAW_SEED = 2016 };

double describe_fit_cells(double *count, size_t cells, double variance, double total, double total_variance) {
    double sum = 0, all = (double)cells * variance + total_variance;
    if (!(variance > 0)) return 0;
    for (size_t k = 0; k < cells; k++) sum += count[k];
    for (size_t k = 0; k < cells; k++) count[k] += (total - sum) * variance / all;
    return variance - variance * variance / all;
}

/* ---- tests ---- */

/* A table without its missing: rows x cols counts, their margins and what independence expects. */
typedef struct independence {
    size_t rows, cols;
    double *count, *expected, *row, *col;
    double total;
    double degrees;
} independence;

static tacit_status make_independence(independence *out, size_t rows, size_t cols, tacit_error *error) {
    *out = (independence){ .rows = rows,
                           .cols = cols,
                           .count = TACIT_NEW(double, rows *cols),
                           .expected = TACIT_NEW(double, rows *cols),
                           .row = TACIT_NEW(double, rows),
                           .col = TACIT_NEW(double, cols) };
    return out->count != NULL && out->expected != NULL && out->row != NULL && out->col != NULL
               ? TACIT_OK
               : tacit_fail_memory(error);
}

static void clear_independence(independence *self) {
    free(self->count);
    free(self->expected);
    free(self->row);
    free(self->col);
}

/* Pearson's statistic, each difference made smaller by `less`; levels without rows are left out. */
static double statistic(independence *self, double less) {
    double sum = 0, rows = 0, cols = 0;
    memset(self->row, 0, self->rows * sizeof *self->row);
    memset(self->col, 0, self->cols * sizeof *self->col);
    self->total = 0;
    for (size_t k = 0; k < self->rows * self->cols; k++) {
        self->row[k / self->cols] += self->count[k];
        self->col[k % self->cols] += self->count[k];
        self->total += self->count[k];
    }
    for (size_t i = 0; i < self->rows; i++) rows += self->row[i] > 0;
    for (size_t j = 0; j < self->cols; j++) cols += self->col[j] > 0;
    self->degrees = (rows - 1) * (cols - 1);
    for (size_t k = 0; k < self->rows * self->cols; k++) {
        double row = fmax(0, self->row[k / self->cols]), col = fmax(0, self->col[k % self->cols]);
        self->expected[k] = self->total > 0 ? row * col / self->total : 0;
        double apart = fabs(self->count[k] - self->expected[k]);
        if (self->expected[k] > 0) sum += pow(apart - fmin(less, apart), 2) / self->expected[k];
    }
    return self->degrees > 0 && self->total > 0 ? sum : NAN;
}

static double chi_square_tail(double value, double degrees) {
    return isnan(value) ? NAN : exp(tacit_log_gamma_tail(degrees / 2, value / 2));
}

/* R's continuity correction: at most 1/2, and no more than the difference, which is the same in all four. */
static double corrected(independence *self) {
    double rows = 0, cols = 0, apart = 0;
    statistic(self, 0);
    for (size_t i = 0; i < self->rows; i++) rows += self->row[i] > 0;
    for (size_t j = 0; j < self->cols; j++) cols += self->col[j] > 0;
    for (size_t k = 0; k < self->rows * self->cols; k++)
        if (self->expected[k] > 0) apart = fabs(self->count[k] - self->expected[k]);
    return rows == 2 && cols == 2 ? statistic(self, fmin(0.5, apart)) : NAN;
}

/* How often a table under independence, with this noise, has a statistic as large. */
static tacit_status drawn_tail(independence *self, double variance, double found, double *out,
                               tacit_error *error) {
    tacit_stream stream = tacit_stream_from_seed(DRAW_SEED);
    independence drawn;
    size_t cells = self->rows * self->cols, above = 0;
    statistic(self, 0);
    tacit_status status = make_independence(&drawn, self->rows, self->cols, error);
    for (int d = 0; d < DRAWS && status == TACIT_OK; d++) {
        double sum = 0;
        for (size_t k = 0; k < cells; k++)
            sum += drawn.count[k] = self->expected[k] + sqrt(self->expected[k]) * tacit_fast_normal(&stream);
        for (size_t k = 0; k < cells; k++)
            drawn.count[k] += (self->total - sum) * self->expected[k] / self->total +
                              sqrt(variance) * tacit_fast_normal(&stream);
        double value = statistic(&drawn, 0);
        above += isnan(value) || value >= found;
    }
    clear_independence(&drawn);
    *out = (1 + (double)above) / (1 + DRAWS);
    return status;
}

/* ---- tables ---- */

static const char *pair_name(const describe_design *design, const describe_pair *pair, char out[NAME]) {
    snprintf(out, NAME, "%.150s*%.150s", design->variable[pair->first].name,
             design->variable[pair->second].name);
    return out;
}

/* Of exact counts, with or without the parties' consent: see describe_hide.c. */
static bool pair_known(const making *self, const describe_pair *pair, const double *count, size_t cells) {
    return (self->told == NULL || self->told[pair->place]) && !describe_has_few(self, count, cells);
}

/* All cells of a cross-table, the missing included, moved to the total; returns the variance of each. */
static double pair_counts(const making *self, const describe_pair *pair, size_t cells, double *out) {
    for (size_t k = 0; k < cells; k++) out[k] = self->sum[pair->counts + k] / self->design->level_weight;
    return self->noisy ? describe_fit_cells(out, cells, self->level_variance, self->rows, 0) : 0;
}

static tacit_status add_rows(const making *self, tacit_report_table *table, const describe_variable *rows,
                             double *count, double variance, tacit_error *error) {
    size_t cols = table->cols;
    double *noise = TACIT_NEW(double, cols);
    tacit_status status = noise != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t i = 0; i < rows->cells && status == TACIT_OK; i++) {
        char scratch[32];
        for (size_t j = 0; j < cols; j++)
            noise[j] = self->noisy && !isnan(count[i * cols + j]) ? sqrt(variance) : NAN;
        status =
            tacit_report_add_row(table, describe_level(rows, i, scratch), count + i * cols, noise, error);
    }
    free(noise);
    return status;
}

static tacit_status add_pair(making *self, const describe_pair *pair, tacit_error *error) {
    const describe_design *design = self->design;
    const describe_variable *rows = &design->variable[pair->first], *cols = &design->variable[pair->second];
    size_t cells = rows->cells * cols->cells;
    char name[NAME], title[2 * NAME], pairs[NAME];
    tacit_report_table *table = NULL;
    double *count = TACIT_NEW(double, cells);
    const char **columns = TACIT_NEW(const char *, cols->cells + 1);
    char(*scratch)[32] = tacit_allocate(cols->cells, sizeof *scratch);
    tacit_status status =
        count != NULL && columns != NULL && scratch != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    for (size_t j = 0; j < cols->cells; j++) columns[j] = describe_level(cols, j, scratch[j]);
    snprintf(name, sizeof name, "cross:%.300s", pair_name(design, pair, pairs));
    snprintf(title, sizeof title, "%.150s by %.150s", rows->name, cols->name);
    TACIT_CHECK(tacit_report_add_table(self->report, &table, name, title, columns, error));
    double variance = pair_counts(self, pair, cells, count);
    bool known = pair_known(self, pair, count, cells);
    for (size_t k = 0; k < cells; k++)
        if (!known || describe_is_hidden(self, count[k])) count[k] = NAN;
    TACIT_CHECK(add_rows(self, table, rows, count, variance, error));
cleanup:
    free(count);
    free(columns);
    free(scratch);
    return status;
}

static tacit_status test_pair(const making *self, tacit_report_table *table, const describe_pair *pair,
                              tacit_error *error) {
    const describe_design *design = self->design;
    size_t rows = design->variable[pair->first].levels, cols = design->variable[pair->second].levels;
    size_t width = design->variable[pair->second].cells, cells = design->variable[pair->first].cells * width;
    double value[] = { NAN, NAN, NAN, NAN, NAN };
    char name[NAME];
    independence test;
    tacit_status status = make_independence(&test, rows, cols, error);
    double *count = TACIT_NEW(double, cells);
    if (status == TACIT_OK && count == NULL) status = tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    double variance = pair_counts(self, pair, cells, count);
    for (size_t k = 0; k < rows * cols; k++) test.count[k] = count[k / cols * width + k % cols];
    if (pair_known(self, pair, count, cells)) {
        value[0] = statistic(&test, 0);
        value[1] = test.degrees;
        value[2] = self->noisy ? NAN : chi_square_tail(value[0], value[1]);
        if (self->noisy && !isnan(value[0]))
            TACIT_CHECK(drawn_tail(&test, variance, value[0], &value[2], error));
        value[3] = self->noisy ? NAN : corrected(&test);
        value[4] = chi_square_tail(value[3], 1);
    }
    TACIT_CHECK(tacit_report_add_row(table, pair_name(design, pair, name), value, NULL, error));
cleanup:
    free(count);
    clear_independence(&test);
    return status;
}

tacit_status describe_add_pairs(making *self, tacit_error *error) {
    static const char *const columns[] = { "chi-square", "df", "p", "chi-square (Yates)", "p (Yates)", NULL };
    const describe_design *design = self->design;
    tacit_report_table *table = NULL;
    for (size_t k = 0; k < design->pairs; k++) TACIT_TRY(add_pair(self, &design->pair[k], error));
    if (design->pairs == 0) return TACIT_OK;
    TACIT_TRY(tacit_report_add_table(self->report, &table, "tests", "Tests of independence", columns, error));
    for (size_t k = 0; k < design->pairs; k++) TACIT_TRY(test_pair(self, table, &design->pair[k], error));
    return TACIT_OK;
}
