/*
 * How often value +- 1.96 errors of the noise holds what a report without noise says, by kind of figure: "numbers: mean" of all columns and groups,
 * "thresholds: ppv" at all thresholds, "figures: auc". Of an sd it is the interval of the table sd_intervals that must hold it.
 *
 * Each figure is to cover in 94 to 96% of all releases, and a kind must on average over its figures. Of 2,000 draws the share of a
 * single one has a standard deviation of .53 and .44% at these limits. It fails beyond them by more than two of those, 92.9 to 96.9%: of figures whose
 * coverage is 94 or 96% one in 44 would, with other seeds, of those with 95% one in 10^4. Seeds are
 * fixed, so a test passes always or never. The control, intervals a fifth shorter, covers 88.3% by the normal law, and must stay below 91%.
 *
 * A share whose truth is exactly 0 or 1 is left out: it is cut to its range, so noise to one side counts as no error, and it is covered in
 * 97.5%. So are quantiles, whose intervals have a test of their own.
 */
#pragma once

#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/report/report.h"

enum { COVERAGE_MOST = 2048, COVERAGE_NAME = 200 };

typedef struct covered_figure {
    char name[COVERAGE_NAME], kind[COVERAGE_NAME];
    size_t drawn, covered, thin; /* thin: by an interval a fifth shorter */
} covered_figure;

typedef struct noise_coverage {
    const tacit_report *exact;
    size_t draws, count;
    covered_figure of[COVERAGE_MOST];
} noise_coverage;

/* Tables that compare like with like: cells of a calibration curve are chosen by the noisy counts themselves. */
static inline bool coverage_counts(const char *table, double truth) {
    static const char *const left_out[] = { "quantile", "sd_intervals", "calibration",
                                            "threshold_intervals" };
    for (size_t k = 0; k < sizeof left_out / sizeof *left_out; k++)
        if (strncmp(table, left_out[k], strlen(left_out[k])) == 0) return false;
    bool edge = strncmp(table, "thresholds", 10) == 0 || strncmp(table, "classes", 7) == 0;
    return !isnan(truth) && !(edge && (truth == 0 || truth == 1));
}

static inline covered_figure *coverage_figure(noise_coverage *self, const tacit_report_table *table,
                                              size_t row, size_t column) {
    char name[COVERAGE_NAME];
    snprintf(name, sizeof name, "%.60s: %.80s, %.50s", table->name, table->label[row], table->column[column]);
    for (size_t k = 0; k < self->count; k++)
        if (strcmp(self->of[k].name, name) == 0) return &self->of[k];
    assert_true(self->count < COVERAGE_MOST);
    covered_figure *made = &self->of[self->count++];
    bool by_row = strcmp(table->column[column], "value") == 0;
    bool cells = strncmp(table->name, "cross", 5) == 0 || strncmp(table->name, "confusion", 9) == 0;
    memcpy(made->name, name, sizeof name);
    snprintf(made->kind, sizeof made->kind, "%.*s: %.50s", (int)strcspn(table->name, "@:"), table->name,
             cells    ? "count"
             : by_row ? table->label[row]
                      : table->column[column]);
    return made;
}

/* The sds, by the table of their intervals; a fifth shorter about the middle for the control. */
static inline void coverage_add_sds(noise_coverage *self, const tacit_report_table *noisy) {
    const tacit_report_table *exact = tacit_report_find(self->exact, "numbers");
    for (size_t i = 0; exact != NULL && i < noisy->rows; i++) {
        double truth = tacit_report_value(exact, noisy->label[i], "sd");
        double low = noisy->value[i * noisy->cols], high = noisy->value[i * noisy->cols + 1];
        if (isnan(truth) || isnan(low)) continue;
        covered_figure *one = coverage_figure(self, noisy, i, 0);
        one->drawn++;
        one->covered += low <= truth && truth <= high;
        one->thin += fabs(truth - (low + high) / 2) <= 0.8 * (high - low) / 2;
    }
}

static inline void coverage_add_table(noise_coverage *self, const tacit_report_table *noisy) {
    const tacit_report_table *exact = tacit_report_find(self->exact, noisy->name);
    for (size_t i = 0; exact != NULL && i < noisy->rows; i++)
        for (size_t j = 0; j < noisy->cols; j++) {
            double truth = tacit_report_value(exact, noisy->label[i], noisy->column[j]);
            double value = noisy->value[i * noisy->cols + j], error = noisy->error[i * noisy->cols + j];
            bool sd = strcmp(noisy->name, "numbers") == 0 && strcmp(noisy->column[j], "sd") == 0;
            if (sd || !coverage_counts(noisy->name, truth) || isnan(value) || !(error > 0)) continue;
            covered_figure *one = coverage_figure(self, noisy, i, j);
            one->drawn++;
            one->covered += fabs(value - truth) <= 1.959964 * error;
            one->thin += fabs(value - truth) <= 0.8 * 1.959964 * error;
        }
}

static inline void coverage_add(noise_coverage *self, const tacit_report *noisy) {
    self->draws++;
    for (size_t t = 0; t < noisy->tables; t++) {
        coverage_add_table(self, &noisy->table[t]);
        if (strcmp(noisy->table[t].name, "sd_intervals") == 0) coverage_add_sds(self, &noisy->table[t]);
    }
}

static inline double coverage_limit(double share, double side) {
    return share + side * 2 * sqrt(share * (1 - share) / 2000);
}

/* Check all kinds; how many there are. */
static inline size_t coverage_check(const noise_coverage *self) {
    const double fewest = coverage_limit(0.94, -1), many = coverage_limit(0.96, 1);
    size_t kinds = 0, wrong = 0;
    for (size_t k = 0; k < self->count; k++) {
        const char *kind = self->of[k].kind;
        double drawn = 0, covered = 0, thin = 0, least = 1, most = 0;
        size_t first = 0;
        while (strcmp(self->of[first].kind, kind) != 0) first++;
        if (first != k) continue;
        for (size_t j = k; j < self->count; j++) {
            const covered_figure *one = &self->of[j];
            if (strcmp(one->kind, kind) != 0) continue;
            double share = (double)one->covered / (double)one->drawn;
            if (share < fewest || share > many) print_message("# %s: %.2f%%\n", one->name, 100 * share);
            least = fmin(least, share);
            most = fmax(most, share);
            drawn += (double)one->drawn;
            covered += (double)one->covered;
            thin += (double)one->thin;
        }
        bool right = covered / drawn >= 0.94 && covered / drawn <= 0.96 && least >= fewest && most <= many &&
                     thin / drawn < 0.91;
        print_message("# %s: %.2f%% covered, each of its figures in %.2f to %.2f%%%s\n", kind,
                      100 * covered / drawn, 100 * least, 100 * most, right ? "" : ": WRONG");
        wrong += !right;
        kinds++;
    }
    assert_int_equal(wrong, 0);
    return kinds;
}
