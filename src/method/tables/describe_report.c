/*
 * The tables of a report, from sums. Everything here sees what is released and public numbers only.
 *
 * Each number has the standard error of its noise: counts from the least-squares fit of their histogram or
 * tree to the known total, means and standard deviations by the delta method,
 *
 *   mean = X/N,   var = T/N + 1/2 - X^2/N^2   in u,   X = sum u, T = sum (u^2 - 1/2), N the rows with a
 *                                                     value,
 *
 * quantiles as half the width of their 95% interval over 1.96 (describe_quantiles.c), and so standard
 * deviations. Noise is nearly normal in var and not in its root, so the interval of an sd has the roots of
 * the ends of var's: [sqrt(max(0, var - b - 1.96 s)), sqrt(var - b + 1.96 s)], s by the delta method, with
 * the noise of X^2, and b what noise adds to var in the mean, up to second order:
 *
 *   b = (T/N v - w - 3 (X/N)^2 v)/N^2,   v and w the variances of the independent noise in N and X.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "method/tables/describe.h"
#include "method/tables/describe_tables.h"

enum { NAME = 320 };

static const double NORMAL = 1.959963984540054;
static const double QUANTILES[] = { .05, .10, .20, .25, .30, .40, .50, .60, .70, .75, .80, .90, .95 };
enum { QUANTILE_COUNT = sizeof QUANTILES / sizeof *QUANTILES };

/* ---- groups ---- */

/* How many rows each group has. */
static tacit_status size_groups(making *self, tacit_error *error) {
    const describe_design *design = self->design;
    self->size = TACIT_NEW(double, design->groups);
    if (self->size == NULL) return tacit_fail_memory(error);
    self->size[0] = self->rows;
    for (size_t g = 0; design->site != NULL && g < design->groups; g++) self->size[g] = design->site[g].rows;
    if (design->by != SIZE_MAX) {
        const describe_variable *by = &design->variable[design->by];
        for (size_t g = 0; g < design->groups; g++)
            self->size[g] = self->sum[by->counts + g] / design->level_weight;
        self->size_variance =
            describe_fit_cells(self->size, design->groups, self->level_variance, self->rows, 0);
    }
    self->closed = design->groups > 1 && describe_has_few(self, self->size, design->groups);
    return TACIT_OK;
}

/* The groups that a row of a table is about: one of them, or all. */
typedef struct part {
    size_t first, count;
    char label[NAME];
    double rows, variance; /* how many rows, and how sure that is */
} part;

/* "age", "age [sex=f]": part 0 is all, part g + 1 is group g. */
static part part_of(const making *self, const describe_variable *one, size_t index) {
    const describe_design *design = self->design;
    char scratch[32];
    part out = { .count = one->groups, .rows = self->rows };
    snprintf(out.label, sizeof out.label, "%s", one->name);
    if (index == 0) return out;
    const describe_variable *by = design->site == NULL ? &design->variable[design->by] : NULL;
    snprintf(out.label, sizeof out.label, "%.140s [%.80s=%.80s]", one->name, by != NULL ? by->name : "site",
             by != NULL ? describe_level(by, index - 1, scratch) : design->site[index - 1].name);
    out.first = index - 1;
    out.count = 1;
    out.rows = self->size[index - 1];
    out.variance = self->size_variance;
    return out;
}

static size_t parts_of(const making *self, const describe_variable *one) {
    return one->groups > 1 && !self->closed ? one->groups + 1 : 1;
}

/* ---- numbers ---- */

typedef struct number_summary {
    tacit_count_fit fit;
    const bool *told;            /* NULL: all */
    bool closed, few_missing;    /* left out, because of this group or another (describe_hide.c) */
    double x, t;                 /* X and T */
    double variance, t_variance; /* of the noise in them */
} number_summary;

/* Of a number by groups: whether one of them has too few values, or too few that are missing. */
static void see_groups(const making *self, const describe_variable *one, number_summary *out) {
    tacit_count_tree tree = self->design->tree;
    size_t size = tacit_count_tree_size(tree), leaves = tacit_count_tree_leaves(tree);
    size_t leaf = tacit_count_tree_level(tree, tree.depth);
    for (size_t g = 0; g < one->groups; g++) {
        const double *count = self->sum + one->counts + g * size;
        double present = 0, missing = count[tree.branch] / self->design->tree_weight;
        for (size_t j = 0; j < leaves; j++) present += count[leaf + j] / self->design->tree_weight;
        out->closed = out->closed || describe_has_few(self, &present, 1);
        out->few_missing = out->few_missing || describe_has_few(self, &missing, 1);
    }
}

static tacit_status summarise(const making *self, const describe_variable *one, const part *of,
                              number_summary *out, tacit_error *error) {
    const describe_design *design = self->design;
    size_t size = tacit_count_tree_size(design->tree);
    double groups = (double)of->count, square = design->moment_weight * design->square;
    double *counts = TACIT_NEW(double, size);
    *out =
        (number_summary){ .told = self->told != NULL ? self->told + one->place : NULL,
                          .variance = groups * self->moment_variance,
                          .t_variance = groups * self->moment_variance / (design->square * design->square) };
    tacit_status status = counts != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t g = of->first; status == TACIT_OK && g < of->first + of->count; g++) {
        const double *moments = self->sum + one->moments + g * DESCRIBE_MOMENTS;
        out->x += moments[0] / design->moment_weight;
        out->t += moments[1] / square;
        for (size_t j = 0; j < size; j++)
            counts[j] += self->sum[one->counts + g * size + j] / design->tree_weight;
    }
    if (status == TACIT_OK)
        status = self->noisy
                     ? tacit_count_fit_make(&out->fit, design->tree, counts, groups * self->tree_variance,
                                            of->rows, of->variance, error)
                     : tacit_count_fit_exact(&out->fit, design->tree, counts, of->rows, out->told, error);
    if (status == TACIT_OK && !self->noisy) out->fit.present = of->rows - out->fit.missing;
    out->few_missing = describe_is_hidden(self, out->fit.missing);
    if (of->count < one->groups) see_groups(self, one, out);
    free(counts);
    return status;
}

static bool enough(const making *self, const number_summary *summary) {
    return (summary->told == NULL || summary->told[0]) && !summary->closed &&
           summary->fit.present >= fmax(1, self->threshold);
}

enum { COUNT, MISSING, MEAN, DEVIATION, NUMBER_COLUMNS };

/* Of noise about the sd, in 95% of all releases; a variance is at most 1 in u. */
static void sd_interval(const describe_variable *one, const number_summary *from, double out[2]) {
    const double n = from->fit.present, v = from->fit.present_variance, w = from->variance;
    const double mean = from->x / n, t = from->t / n, by_rows = 2 * mean * mean - t;
    const double drift = (t * v - w - 3 * mean * mean * v) / (n * n), center = t + 0.5 - mean * mean - drift;
    const double first = from->t_variance + 4 * mean * mean * w + by_rows * by_rows * v;
    const double margin = NORMAL * sqrt(first + 2 * w * w / (n * n)) / n;
    const double unit = (one->high - one->low) / 2 * sqrt(n > 1 ? n / (n - 1) : 1);
    out[0] = unit * sqrt(fmin(fmax(center - margin, 0), 1));
    out[1] = unit * sqrt(fmin(fmax(center + margin, 0), 1));
}

static void fill_number(const making *self, const describe_variable *one, const number_summary *from,
                        double value[NUMBER_COLUMNS], double error[NUMBER_COLUMNS], double interval[2]) {
    double half = (one->high - one->low) / 2, n = from->fit.present, v = from->fit.present_variance;
    for (size_t j = 0; j < NUMBER_COLUMNS; j++) value[j] = error[j] = NAN;
    interval[0] = interval[1] = NAN;
    if (!from->closed && !from->few_missing) value[MISSING] = from->fit.missing;
    if (self->noisy && !from->few_missing) error[MISSING] = sqrt(from->fit.missing_variance);
    if (!enough(self, from)) return;
    double mean = from->x / n, spread = from->t / n + 0.5 - mean * mean;
    value[COUNT] = from->few_missing ? NAN : n; /* the one follows from the other */
    value[MEAN] = one->low + half * (1 + mean);
    value[DEVIATION] = spread >= 0 && n > 1 ? half * sqrt(spread * n / (n - 1)) : NAN;
    if (!self->noisy) return;
    /* Noise can carry both beyond what the bounds allow. The truth is within, so moving them there brings
     * them nearer to it, and intervals of the same errors cover as often or more often. */
    value[MEAN] = fmin(fmax(value[MEAN], one->low), one->high);
    const double widest = n > 1 ? half * sqrt(n / (n - 1)) : INFINITY;
    if (value[DEVIATION] > widest) value[DEVIATION] = widest;
    error[COUNT] = from->few_missing ? NAN : sqrt(v);
    error[MEAN] = half * sqrt(from->variance + mean * mean * v) / n;
    sd_interval(one, from, interval);
    interval[0] = fmin(interval[0], fmax(value[DEVIATION], 0)); /* fmin and fmax pass over NaN */
    interval[1] = fmax(interval[1], value[DEVIATION]);
    if (!isnan(value[DEVIATION])) error[DEVIATION] = (interval[1] - interval[0]) / (2 * NORMAL);
}

/* Whether exact counts tell where in the range a place is, to a tenth: pieces may be wider. */
static bool is_located(const making *self, const number_summary *from, double place) {
    static const double NEAR = 0.1;
    return from->told == NULL || tacit_count_tree_width(self->design->tree, from->told, place) <= NEAR;
}

/* Rows need not be spread evenly within a cell of the tree, which a place inside it supposes. Where noise is
 * much wider than a cell that hardly matters; elsewhere an interval ends where cells do, and then holds the
 * quantile of any rows whose counts it holds. They ascend as before: what is moved is moved outwards. */
static void end_with_cells(tacit_tree_quantile all[QUANTILE_COUNT], size_t cells) {
    enum { FEW = 2 };
    const double count = (double)cells;
    for (size_t j = 0; j < QUANTILE_COUNT; j++) {
        if ((all[j].high - all[j].low) * count >= FEW) continue;
        all[j].low = floor(all[j].low * count) / count;
        all[j].high = ceil(all[j].high * count) / count;
    }
    for (size_t j = 1; j < QUANTILE_COUNT; j++) all[j].high = fmax(all[j].high, all[j - 1].high);
    for (size_t j = QUANTILE_COUNT - 1; j > 0; j--) all[j - 1].low = fmin(all[j - 1].low, all[j].low);
}

/* Where the rows tell it, NaN elsewhere: values in the column's units. */
static tacit_status find_quantiles(const making *self, const describe_variable *one,
                                   const number_summary *from, tacit_tree_quantile out[QUANTILE_COUNT],
                                   tacit_error *error) {
    double range = one->high - one->low;
    bool any = enough(self, from);
    if (any && self->noisy) {
        TACIT_TRY(describe_quantile_intervals(&from->fit, QUANTILES, QUANTILE_COUNT, out, error));
        end_with_cells(out, tacit_count_tree_leaves(self->design->tree));
    }
    for (size_t j = 0; j < QUANTILE_COUNT; j++) {
        if (any && !self->noisy) out[j] = tacit_count_fit_quantile(&from->fit, QUANTILES[j], 0);
        if (!any || !is_located(self, from, out[j].value)) out[j] = (tacit_tree_quantile){ NAN, NAN, NAN };
        out[j] = (tacit_tree_quantile){ one->low + range * out[j].value, one->low + range * out[j].low,
                                        one->low + range * out[j].high };
    }
    return TACIT_OK;
}

static tacit_status add_quantiles(const making *self, tacit_report_table *table,
                                  tacit_report_table *intervals, const describe_variable *one, const part *of,
                                  const number_summary *from, tacit_error *error) {
    tacit_tree_quantile found[QUANTILE_COUNT];
    double value[QUANTILE_COUNT], noise[QUANTILE_COUNT];
    TACIT_TRY(find_quantiles(self, one, from, found, error));
    for (size_t j = 0; j < QUANTILE_COUNT; j++) {
        value[j] = found[j].value;
        noise[j] = self->noisy ? (found[j].high - found[j].low) / (2 * NORMAL) : NAN;
    }
    TACIT_TRY(tacit_report_add_row(table, of->label, value, noise, error));
    for (size_t j = 0; intervals != NULL && j < QUANTILE_COUNT; j++) {
        char label[NAME + 16];
        tacit_format(label, sizeof label, "%s: %g%%", of->label, 100 * QUANTILES[j]);
        TACIT_TRY(
            tacit_report_add_row(intervals, label, (double[]){ found[j].low, found[j].high }, NULL, error));
    }
    return TACIT_OK;
}

/* The level of a tree that a histogram is made of: 8 cells or more. */
static size_t histogram_level(tacit_count_tree tree) {
    size_t level = 1, cells = tree.branch;
    for (; level < tree.depth && cells < 8; level++) cells *= tree.branch;
    return level;
}

/* Rows of one group, or of all, in the cells of a histogram: of exact sums. */
static void count_cells(const making *self, const describe_variable *one, size_t group, size_t cells,
                        double *out) {
    tacit_count_tree tree = self->design->tree;
    size_t leaves = tacit_count_tree_leaves(tree), width = leaves / cells;
    const double *leaf = self->sum + one->counts + group * tacit_count_tree_size(tree) +
                         tacit_count_tree_level(tree, tree.depth);
    for (size_t j = 0; j < leaves; j++) out[j / width] += leaf[j] / self->design->tree_weight;
}

/* Leave out of a group's counts what is left out of every group's: in `shown`, that has NaN where the parties
 * tell no count. */
static tacit_status hide_in_groups(const making *self, const describe_variable *one, const double *group,
                                   double *shown, size_t cells, tacit_error *error) {
    double *all = TACIT_NEW(double, cells);
    if (all == NULL) return tacit_fail_memory(error);
    for (size_t k = 0; k < one->groups * cells; k++) all[k % cells] += group[k];
    describe_hide(self, all, cells);
    for (size_t k = 0; k < cells; k++)
        if (isnan(shown[k])) all[k] = NAN;
    describe_hide_groups(self, group, one->groups, all, cells);
    for (size_t k = 0; k < cells; k++)
        if (isnan(all[k])) shown[k] = NAN;
    free(all);
    return TACIT_OK;
}

static tacit_status hide_histogram(const making *self, const describe_variable *one, const part *of,
                                   double *shown, size_t cells, tacit_error *error) {
    if (self->noisy || of->count == one->groups) {
        describe_hide(self, shown, cells);
        return TACIT_OK;
    }
    double *group = TACIT_NEW(double, one->groups *cells);
    if (group == NULL) return tacit_fail_memory(error);
    for (size_t g = 0; g < one->groups; g++) count_cells(self, one, g, cells, group + g * cells);
    tacit_status status = hide_in_groups(self, one, group, shown, cells, error);
    free(group);
    return status;
}

static tacit_status add_histogram(const making *self, tacit_report_table *table, const describe_variable *one,
                                  const part *of, const number_summary *from, tacit_error *error) {
    tacit_count_tree tree = self->design->tree;
    size_t level = histogram_level(tree), cells = 1;
    for (size_t l = 0; l < level; l++) cells *= tree.branch;
    const double *count = from->fit.cell + tacit_count_tree_level(tree, level);
    double *shown = TACIT_NEW(double, cells), width = (one->high - one->low) / (double)cells;
    if (shown == NULL) return tacit_fail_memory(error);
    for (size_t k = 0; k < cells; k++) {
        bool known = enough(self, from) && tacit_count_tree_known(tree, from->told, level, k);
        shown[k] = known ? count[k] : NAN;
    }
    tacit_status status = hide_histogram(self, one, of, shown, cells, error);
    double noise = self->noisy ? sqrt(tacit_count_fit_variance(&from->fit, level)) : NAN;
    for (size_t k = 0; k < cells && status == TACIT_OK; k++) {
        char label[NAME + 80];
        double low = one->low + width * (double)k, high = low + width;
        tacit_format(label, sizeof label, "%s: %.6g to %.6g", of->label, low, high);
        status = tacit_report_add_row(table, label, (double[]){ low, high, shown[k] },
                                      (double[]){ NAN, NAN, isnan(shown[k]) ? NAN : noise }, error);
    }
    free(shown);
    return status;
}

typedef enum number_table { TABLE_NUMBERS, TABLE_QUANTILES, TABLE_HISTOGRAMS } number_table;

static tacit_status add_number(const making *self, tacit_report_table *table, tacit_report_table *intervals,
                               number_table kind, const describe_variable *one, const part *of,
                               tacit_error *error) {
    double value[NUMBER_COLUMNS], noise[NUMBER_COLUMNS], interval[2];
    number_summary summary;
    tacit_status status;
    TACIT_TRY(summarise(self, one, of, &summary, error));
    switch (kind) {
    case TABLE_HISTOGRAMS: status = add_histogram(self, table, one, of, &summary, error); break;
    case TABLE_QUANTILES: status = add_quantiles(self, table, intervals, one, of, &summary, error); break;
    default:
        fill_number(self, one, &summary, value, noise, interval);
        status = tacit_report_add_row(table, of->label, value, noise, error);
        if (status == TACIT_OK && intervals != NULL)
            status = tacit_report_add_row(intervals, of->label, interval, NULL, error);
    }
    tacit_count_fit_clear(&summary.fit);
    return status;
}

/* Of noisy sds and quantiles; NULL: there are none. */
static tacit_status add_interval_table(making *self, number_table kind, tacit_report_table **out,
                                       tacit_error *error) {
    static const char *const columns[] = { "low", "high", NULL };
    const bool sds = kind == TABLE_NUMBERS;
    *out = NULL;
    if (kind == TABLE_HISTOGRAMS || !self->noisy) return TACIT_OK;
    return tacit_report_add_table(self->report, out, sds ? "sd_intervals" : "quantile_intervals",
                                  sds ? "Standard deviations: within these bounds in 95% of all releases"
                                      : "Quantiles: within these bounds in 95% of all releases",
                                  columns, error);
}

static tacit_status add_numbers(making *self, number_table kind, tacit_error *error) {
    static const char *const columns[][QUANTILE_COUNT + 1] = {
        { "count", "missing", "mean", "sd", NULL },
        { "5%", "10%", "20%", "25%", "30%", "40%", "50%", "60%", "70%", "75%", "80%", "90%", "95%", NULL },
        { "low", "high", "count", NULL },
    };
    static const char *const names[] = { "numbers", "quantiles", "histograms" };
    static const char *const titles[] = { "Numbers", "Quantiles", "Histograms" };
    tacit_report_table *table = NULL, *intervals;
    if (self->design->numbers == 0) return TACIT_OK;
    TACIT_TRY(tacit_report_add_table(self->report, &table, names[kind], titles[kind], columns[kind], error));
    TACIT_TRY(add_interval_table(self, kind, &intervals, error));
    /* they may have moved */
    table = &self->report->table[self->report->tables - (intervals != NULL ? 2 : 1)];
    for (size_t k = 0; k < self->design->variables; k++) {
        const describe_variable *one = &self->design->variable[k];
        for (size_t p = 0; one->number && p < parts_of(self, one); p++) {
            const part of = part_of(self, one, p);
            TACIT_TRY(add_number(self, table, intervals, kind, one, &of, error));
        }
    }
    return TACIT_OK;
}

/* ---- categories ---- */

/* The error of the share c/R of a count c that was moved to the total R (describe_fit_cells): with v the
 * noise in each of k counts before, and r that in R, they have the covariance v r/(k v + r), and c/R by the
 * delta method the variance (var c - 2 share cov + share^2 r)/R^2. */
static double share_error(const making *self, const part *of, size_t cells, double variance, double share) {
    double each = self->level_variance * (double)of->count, sum = (double)cells * each + of->variance;
    double together = sum > 0 ? each * of->variance / sum : 0;
    return sqrt(fmax(0, variance - 2 * share * together + share * share * of->variance)) / of->rows;
}

static tacit_status add_levels_of(const making *self, tacit_report_table *table, const describe_variable *one,
                                  const part *of, tacit_error *error) {
    const describe_design *design = self->design;
    size_t cells = one->cells;
    double *count = TACIT_NEW(double, cells);
    if (count == NULL) return tacit_fail_memory(error);
    for (size_t g = of->first; g < of->first + of->count; g++) {
        for (size_t j = 0; j < cells; j++)
            count[j] += self->sum[one->counts + g * cells + j] / design->level_weight;
    }
    double variance = self->noisy ? describe_fit_cells(count, cells, self->level_variance * (double)of->count,
                                                       of->rows, of->variance)
                                  : 0;
    for (size_t j = 0; self->told != NULL && j < cells; j++)
        if (!self->told[one->place + j]) count[j] = NAN;
    tacit_status status = TACIT_OK;
    if (self->noisy || of->count == one->groups)
        describe_hide(self, count, cells);
    else
        status = hide_in_groups(self, one, self->sum + one->counts, count, cells, error);
    for (size_t j = 0; j < cells && status == TACIT_OK; j++) {
        char label[NAME * 2], scratch[32];
        double rows = of->rows >= 1 ? of->rows : NAN; /* noise may leave a group without any */
        double share = count[j] / rows, noise = self->noisy && !isnan(count[j]) ? sqrt(variance) : NAN;
        tacit_format(label, sizeof label, "%s=%s%s", one->name, describe_level(one, j, scratch),
                     of->label + strlen(one->name));
        status = tacit_report_add_row(
            table, label, (double[]){ count[j], share },
            (double[]){ noise, isnan(noise) ? NAN : share_error(self, of, cells, variance, share) }, error);
    }
    free(count);
    return status;
}

static tacit_status add_levels(making *self, tacit_error *error) {
    static const char *const columns[] = { "count", "share", NULL };
    tacit_report_table *table = NULL;
    if (self->design->categories == 0) return TACIT_OK;
    TACIT_TRY(tacit_report_add_table(self->report, &table, "levels", "Levels, and their share of all rows",
                                     columns, error));
    for (size_t k = 0; k < self->design->variables; k++) {
        const describe_variable *one = &self->design->variable[k];
        for (size_t p = 0; !one->number && p < parts_of(self, one); p++) {
            const part of = part_of(self, one, p);
            TACIT_TRY(add_levels_of(self, table, one, &of, error));
        }
    }
    return TACIT_OK;
}

/* ---- all ---- */

/* Levels, numbers and cross-tables that are not told by themselves, and how coarse numbers are. */
static tacit_status add_held_back(making *self, tacit_error *error) {
    const describe_design *design = self->design;
    size_t held = 0, fewest = SIZE_MAX, leaves = tacit_count_tree_leaves(design->tree);
    char text[200];
    for (size_t k = 0; k < design->variables; k++) {
        const describe_variable *one = &design->variable[k];
        size_t told = 0, all = one->number ? leaves : one->cells;
        for (size_t j = 0; j < all; j++) told += self->told[one->place + j];
        held += one->number ? told == 0 : all - told;
        if (one->number && told > 0 && told < fewest) fewest = told;
    }
    for (size_t k = 0; k < design->pairs; k++) held += !self->told[design->pair[k].place];
    if (fewest < leaves) {
        tacit_format(text, sizeof text,
                     "%zu of %zu cells are left of the number with the fewest: cells are put together until "
                     "they have enough rows",
                     fewest, leaves);
        TACIT_TRY(tacit_report_add_fact(self->report, "coarsened", (double)fewest, text, error));
    }
    if (held == 0) return TACIT_OK;
    tacit_format(
        text, sizeof text,
        "%zu levels, numbers or cross-tables with a cell of too few rows, the missing included; to see "
        "them, join rare levels (others) or leave incomplete rows out (missing: complete-case)",
        held);
    return tacit_report_add_fact(self->report, "held back", (double)held, text, error);
}

static tacit_status add_facts(making *self, const tacit_plan *plan, tacit_error *error) {
    const describe_design *design = self->design;
    char text[200];
    size_t leaves = tacit_count_tree_leaves(design->tree);
    if (self->threshold > 0)
        TACIT_TRY(tacit_report_add_fact(self->report, "threshold", self->threshold, NULL, error));
    if (design->numbers > 0) {
        tacit_format(text, sizeof text,
                     "%zu cells between the bounds of a number, %.3g%% of the range each%s; quantiles are "
                     "interpolated within a cell",
                     leaves, 100.0 / (double)leaves,
                     self->noisy || !(self->threshold > 0)
                         ? ""
                         : ", more (up to 10%) where cells of few rows were merged");
        TACIT_TRY(tacit_report_add_fact(self->report, "grid", (double)leaves, text, error));
    }
    if (design->site != NULL) {
        tacit_format(text, sizeof text, "%zu parties, whose figures %s", design->groups,
                     self->closed ? "are left out: one has fewer rows than the threshold"
                                  : "stand by themselves as their owners allow");
        TACIT_TRY(tacit_report_add_fact(self->report, "sites", (double)design->groups, text, error));
    }
    const char *by = describe_settings_of(plan)->by;
    if (strcmp(by, "none") != 0)
        TACIT_TRY(tacit_report_add_fact(
            self->report, "by", NAN,
            design->by != SIZE_MAX && !self->closed ? by : "left out: a group is too small", error));
    return self->told != NULL ? add_held_back(self, error) : TACIT_OK;
}

static double variance_of(const describe_design *design, double weight) {
    return weight > 0 ? pow(design->release.deviation / weight, 2) : 0;
}

static tacit_status fill(making *self, const tacit_plan *plan, tacit_error *error) {
    TACIT_TRY(size_groups(self, error));
    TACIT_TRY(add_facts(self, plan, error));
    TACIT_TRY(add_numbers(self, TABLE_NUMBERS, error));
    TACIT_TRY(add_numbers(self, TABLE_QUANTILES, error));
    TACIT_TRY(add_levels(self, error));
    TACIT_TRY(describe_add_pairs(self, error));
    if (self->design->missing_counts > 0) {
        const describe_design *design = self->design;
        TACIT_TRY(describe_report_missing(self->report, plan, self->sum + design->missing,
                                          design->missing_weight,
                                          sqrt(variance_of(design, design->missing_weight)), error));
    }
    return add_numbers(self, TABLE_HISTOGRAMS, error);
}

tacit_status describe_report(tacit_report **out, const describe_design *design, const tacit_plan *plan,
                             const double *sum, const bool *told, tacit_error *error) {
    making self = { .design = design,
                    .sum = sum,
                    .told = told,
                    .noisy = design->release.deviation > 0,
                    .rows = round(sum[0] / design->rows_weight),
                    .threshold = (double)describe_settings_of(plan)->threshold,
                    .moment_variance = variance_of(design, design->moment_weight),
                    .tree_variance = variance_of(design, design->tree_weight),
                    .level_variance = variance_of(design, design->level_weight) };
    TACIT_TRY(tacit_report_create(&self.report, "describe", self.noisy, self.rows, error));
    tacit_status status = fill(&self, plan, error);
    free(self.size);
    if (status == TACIT_OK)
        *out = self.report;
    else
        tacit_report_free(self.report);
    return status;
}
