/* The tables that counts make. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "model/report/evaluation.h"

enum { NAME = 300 };

typedef struct making {
    tacit_report *report;
    const tacit_tally *tally;
    const tacit_model *model;
    const double *counts;
    double noise;
    const tacit_score_wishes *wishes;
    double *total;                /* of all subgroups */
    tacit_score_figures *figures; /* scratch */
    tacit_error *error;
} making;

static double error_of(const making *self, const tacit_figure *figure) {
    return self->noise > 0 ? figure->noise : NAN;
}

/* "roc", or "roc@sex=f" of a subgroup or class. */
static const char *table_name(char out[NAME], const char *table, const char *of) {
    if (of == NULL)
        tacit_format(out, NAME, "%s", table);
    else
        tacit_format(out, NAME, "%s@%s", table, of);
    return out;
}

static const char *table_title(char out[NAME], const char *title, const char *of) {
    if (of == NULL)
        tacit_format(out, NAME, "%s", title);
    else
        tacit_format(out, NAME, "%s, %s", title, of);
    return out;
}

static tacit_status add_table(making *self, tacit_report_table **out, const char *name, const char *title,
                              const char *of, const char *const *columns) {
    char called[NAME], headed[NAME];
    return tacit_report_add_table(self->report, out, table_name(called, name, of),
                                  table_title(headed, title, of), columns, self->error);
}

/* ---- two classes ---- */

static const char *const figure_columns[] = { "value", "error", "low", "high", "grid_error", NULL };

static tacit_status add_figure(making *self, tacit_report_table *table, const char *label,
                               const tacit_figure *figure, double grid) {
    const double values[] = { figure->value, figure->error, figure->low, figure->high, grid };
    const double errors[] = { error_of(self, figure), NAN, NAN, NAN, NAN };
    return tacit_report_add_row(table, label, values, errors, self->error);
}

static tacit_status add_figures(making *self, const char *of) {
    const tacit_score_figures *at = self->figures;
    tacit_report_table *table;
    TACIT_TRY(add_table(self, &table, "figures", "How good the scores are", of, figure_columns));
    TACIT_TRY(add_figure(self, table, "rows", &at->rows, NAN));
    TACIT_TRY(add_figure(self, table, "prevalence", &at->prevalence, NAN));
    TACIT_TRY(add_figure(self, table, "auc", &at->auc, at->auc_grid));
    if (!tacit_model_has_probabilities(self->model)) return TACIT_OK;
    TACIT_TRY(add_figure(self, table, "brier", &at->brier, at->brier_grid));
    TACIT_TRY(add_figure(self, table, "log_loss", &at->log_loss, NAN));
    TACIT_TRY(add_figure(self, table, "calibration_slope", &at->slope, NAN));
    TACIT_TRY(add_figure(self, table, "calibration_intercept", &at->intercept, NAN));
    return add_figure(self, table, "calibration_in_the_large", &at->in_the_large, NAN);
}

/* Whether one of the four cells of a threshold singles out fewer rows than may be told of, but some. */
static bool too_few(const making *self, const tacit_threshold_figures *at) {
    double rows = self->figures->rows.value, positives = rows * self->figures->prevalence.value;
    double negatives = rows - positives, least = self->wishes->least;
    double hits = positives * at->sensitivity.value, rejected = negatives * at->specificity.value;
    const double four[] = { hits, positives - hits, rejected, negatives - rejected };
    for (size_t k = 0; k < 4; k++)
        if (four[k] > 0.5 && four[k] < least - 0.5) return true;
    return false;
}

static tacit_status add_thresholds(making *self, const char *of) {
    static const char *const columns[] = { "threshold", "sensitivity", "specificity", "ppv",       "npv",
                                           "accuracy",  "flagged",     "net_benefit", "treat_all", NULL };
    static const char *const bounds[] = { "threshold",       "sensitivity_low",  "sensitivity_high",
                                          "specificity_low", "specificity_high", "ppv_low",
                                          "ppv_high",        "npv_low",          "npv_high",
                                          "net_benefit_low", "net_benefit_high", NULL };
    tacit_report_table *table;
    for (int intervals = 0; intervals < 2; intervals++) {
        TACIT_TRY(add_table(self, &table, intervals ? "threshold_intervals" : "thresholds",
                            intervals ? "Intervals at thresholds" : "At thresholds", of,
                            intervals ? bounds : columns));
        for (size_t i = 0; i < self->figures->threshold_count; i++) {
            const tacit_threshold_figures *at = &self->figures->threshold[i];
            const tacit_figure *all[] = {
                &at->sensitivity, &at->specificity, &at->ppv,         &at->npv,
                &at->accuracy,    &at->flagged,     &at->net_benefit, &at->treat_all
            };
            const tacit_figure *some[] = { all[0], all[1], all[2], all[3], all[6] };
            double values[11] = { at->threshold }, errors[11] = { NAN };
            bool hide = self->noise == 0 && too_few(self, at);
            size_t count = intervals ? 5 : 8;
            for (size_t k = 0; k < count && !intervals; k++) {
                values[k + 1] = hide ? NAN : all[k]->value;
                errors[k + 1] = hide ? NAN : error_of(self, all[k]);
            }
            for (size_t k = 0; k < count && intervals; k++) {
                values[2 * k + 1] = hide ? NAN : some[k]->low;
                values[2 * k + 2] = hide ? NAN : some[k]->high;
                errors[2 * k + 1] = errors[2 * k + 2] = NAN;
            }
            char label[32];
            tacit_format(label, sizeof label, "%.6g", at->threshold);
            TACIT_TRY(tacit_report_add_row(table, label, values, errors, self->error));
        }
    }
    return TACIT_OK;
}

static tacit_status add_calibration(making *self, const char *of) {
    static const char *const columns[] = { "from",     "until",        "rows",          "predicted",
                                           "observed", "observed_low", "observed_high", NULL };
    tacit_report_table *table;
    double cells = (double)self->figures->cells;
    TACIT_TRY(
        add_table(self, &table, "calibration", "Calibration: rows in groups by their score", of, columns));
    for (size_t g = 0; g < self->figures->group_count; g++) {
        const tacit_calibration_group *at = &self->figures->group[g];
        double spread = sqrt(2 * (double)(at->until - at->from)) * self->noise;
        const double values[] = { (double)at->from / cells, (double)at->until / cells, at->rows,
                                  at->predicted.value,      at->observed.value,        at->observed.low,
                                  at->observed.high };
        const double errors[] = { NAN,
                                  NAN,
                                  self->noise > 0 ? spread : NAN,
                                  error_of(self, &at->predicted),
                                  error_of(self, &at->observed),
                                  NAN,
                                  NAN };
        char label[32];
        tacit_format(label, sizeof label, "%zu", g + 1);
        TACIT_TRY(tacit_report_add_row(table, label, values, errors, self->error));
    }
    return TACIT_OK;
}

static tacit_status add_curve(making *self, const char *of) {
    static const char *const columns[] = { "threshold", "false_positives", "sensitivity", NULL };
    tacit_report_table *table;
    TACIT_TRY(add_table(self, &table, "roc", "ROC curve", of, columns));
    for (size_t i = 0; i < self->figures->point_count; i++) {
        const tacit_curve_point *at = &self->figures->point[i];
        char label[32];
        tacit_format(label, sizeof label, "%.6g", at->threshold);
        TACIT_TRY(tacit_report_add_row(
            table, label, (const double[]){ at->threshold, at->false_positives, at->sensitivity }, NULL,
            self->error));
    }
    return TACIT_OK;
}

/* Figures of a grid of two classes into the scratch; *enough: there may be told of them. */
static tacit_status make_figures(making *self, const double *counts, double noise, bool *enough) {
    size_t cells = self->tally->cells;
    const tacit_score_grid grid = { cells, counts, counts + cells, noise };
    double positives = 0, negatives = 0;
    for (size_t i = 0; i < cells; i++) {
        positives += counts[i];
        negatives += counts[cells + i];
    }
    *enough = fmin(positives, negatives) >= self->wishes->least;
    return tacit_score_figures_make(self->figures, &grid, self->wishes, self->error);
}

static tacit_status add_two_classes(making *self, const double *counts, const char *of) {
    bool enough;
    TACIT_TRY(make_figures(self, counts, self->noise, &enough));
    if (!enough && of != NULL) return TACIT_OK; /* its line among the subgroups says so */
    TACIT_TRY(add_figures(self, of));
    TACIT_TRY(add_thresholds(self, of));
    if (tacit_model_has_probabilities(self->model)) TACIT_TRY(add_calibration(self, of));
    return add_curve(self, of);
}

/* What may be told of a subgroup: all, the number of its rows, or nothing. */
typedef enum detail { NOTHING, ROWS, ALL } detail;

typedef struct class_rows {
    double positives, negatives;
} class_rows;

static class_rows classes_of(const making *self, size_t g) {
    const size_t cells = self->tally->cells;
    const double *counts = self->counts + g * tacit_tally_each(self->tally);
    class_rows sum = { 0, 0 };
    for (size_t i = 0; i < cells; i++) {
        sum.positives += counts[i];
        sum.negatives += counts[cells + i];
    }
    return sum;
}

static bool is_few(double rows, double least) { return rows > 0 && rows < least; }

/* The smallest subgroup that is told of; `groups` where there is none. */
static size_t smallest_shown(const making *self, const detail *shown, size_t groups) {
    size_t best = groups;
    double fewest = INFINITY;
    for (size_t g = 0; g < groups; g++) {
        class_rows sum = classes_of(self, g);
        if (shown[g] != ALL || sum.positives + sum.negatives >= fewest) continue;
        fewest = sum.positives + sum.negatives;
        best = g;
    }
    return best;
}

/* Exact figures of a subgroup need `least` rows of either class. Those of all rows less the subgroups that
 * are told of are figures of the others together: while these have some rows of a class, but fewer, the next
 * smallest is not told of either. */
static void choose_shown(const making *self, detail *shown, size_t groups) {
    const double least = self->wishes->least;
    class_rows held = { 0, 0 };
    bool few = false; /* a subgroup whose number of rows is not said */
    for (size_t g = 0; g < groups; g++) {
        class_rows sum = classes_of(self, g);
        shown[g] = self->noise > 0 || fmin(sum.positives, sum.negatives) >= least ? ALL : ROWS;
        if (shown[g] == ALL) continue;
        held.positives += sum.positives;
        held.negatives += sum.negatives;
        few = few || is_few(sum.positives + sum.negatives, least);
    }
    while (is_few(held.positives, least) || is_few(held.negatives, least)) {
        size_t next = smallest_shown(self, shown, groups);
        if (next == groups) break;
        class_rows sum = classes_of(self, next);
        held.positives += sum.positives;
        held.negatives += sum.negatives;
        shown[next] = ROWS;
    }
    for (size_t g = 0; g < groups && few; g++)
        if (shown[g] == ROWS) shown[g] = NOTHING;
}

static tacit_status add_subgroup_line(making *self, tacit_report_table *table, const char *label,
                                      const double *counts, detail given) {
    enum { FIGURES = 12 };
    const tacit_score_figures *at = self->figures;
    bool enough, probable = tacit_model_has_probabilities(self->model);
    TACIT_TRY(make_figures(self, counts, self->noise, &enough));
    enough = enough && given == ALL;
    double values[FIGURES], errors[FIGURES];
    for (size_t k = 0; k < FIGURES; k++) values[k] = errors[k] = NAN;
    if (given != NOTHING) {
        values[0] = at->rows.value;
        errors[0] = error_of(self, &at->rows);
    }
    const tacit_figure *shown[] = { &at->prevalence, &at->auc, &at->brier, &at->slope, &at->in_the_large };
    static const size_t place[] = { 1, 2, 5, 6, 9 };
    for (size_t k = 0; k < 5 && enough; k++) {
        if (k >= 2 && !probable) break;
        values[place[k]] = shown[k]->value;
        errors[place[k]] = error_of(self, shown[k]);
        if (k == 0 || k == 2) continue;
        values[place[k] + 1] = shown[k]->low;
        values[place[k] + 2] = shown[k]->high;
    }
    return tacit_report_add_row(table, label, values, errors, self->error);
}

static const char *group_label(const making *self, size_t g, char out[NAME]) {
    const tacit_levels *levels = self->tally->levels;
    if (g < levels->count)
        tacit_format(out, NAME, "%s=%s", self->tally->by, levels->text[g]);
    else
        tacit_format(out, NAME, "%s: no level", self->tally->by);
    return out;
}

static tacit_status add_subgroups(making *self) {
    static const char *const columns[] = {
        "rows",      "prevalence", "auc",          "auc_low",          "auc_high",          "brier", "slope",
        "slope_low", "slope_high", "in_the_large", "in_the_large_low", "in_the_large_high", NULL
    };
    tacit_report_table *table;
    size_t each = tacit_tally_each(self->tally);
    char label[NAME];
    TACIT_TRY(add_table(self, &table, "subgroups", "By subgroup", NULL, columns));
    size_t groups = self->tally->groups;
    /* rows of no level, if there may be any */
    double without = self->tally->levels->count < groups ? 0 : NAN;
    for (size_t j = 0; j < each; j++) without += fabs(self->counts[(groups - 1) * each + j]);
    if (without == 0) groups--;
    detail *shown = TACIT_NEW(detail, groups + 1);
    if (shown == NULL) return tacit_fail_memory(self->error);
    choose_shown(self, shown, groups);
    tacit_status status = TACIT_OK;
    for (size_t g = 0; g < groups && status == TACIT_OK; g++)
        status =
            add_subgroup_line(self, table, group_label(self, g, label), self->counts + g * each, shown[g]);
    for (size_t g = 0; g < groups && status == TACIT_OK; g++)
        if (shown[g] == ALL)
            status = add_two_classes(self, self->counts + g * each, group_label(self, g, label));
    free(shown);
    return status;
}

/* ---- more classes ---- */

static const char *class_label(const making *self, size_t k, char out[NAME]) {
    if (k < self->model->class_names.count)
        tacit_format(out, NAME, "%s", self->model->class_names.text[k]);
    else
        tacit_format(out, NAME, "%zu", k);
    return out;
}

static tacit_status add_confusion(making *self, const double *confusion, const char *of) {
    size_t classes = self->tally->classes;
    char(*name)[NAME] = malloc(classes * sizeof *name);
    const char **columns = TACIT_NEW(const char *, classes + 1);
    double *values = TACIT_NEW(double, 2 * classes), *errors = values + classes;
    tacit_report_table *table;
    tacit_status status =
        name != NULL && columns != NULL && values != NULL ? TACIT_OK : tacit_fail_memory(self->error);
    if (status != TACIT_OK) goto cleanup;
    for (size_t k = 0; k < classes; k++) columns[k] = class_label(self, k, name[k]);
    TACIT_CHECK(add_table(self, &table, "confusion", "Rows by class, and predicted class", of, columns));
    for (size_t a = 0; a < classes; a++) {
        for (size_t b = 0; b < classes; b++) {
            double count = confusion[a * classes + b];
            bool hide = self->noise == 0 && count > 0.5 && count < self->wishes->least - 0.5;
            values[b] = hide ? NAN : count;
            errors[b] = self->noise > 0 ? self->noise : NAN;
        }
        TACIT_CHECK(tacit_report_add_row(table, name[a], values, errors, self->error));
    }
cleanup:
    free(name);
    free(columns);
    free(values);
    return status;
}

/* a/b of sums of counts, `na` and `nb` of them, the first being among the second. */
static tacit_figure share_of(const making *self, double a, double b, size_t na, size_t nb) {
    double value = b > 0 ? a / b : NAN, rest = (double)(nb - na);
    double noise = self->noise * sqrt((double)na * (1 - value) * (1 - value) + rest * value * value) / b;
    return tacit_figure_of(value, sqrt(fmax(0, value * (1 - value)) / b), noise, self->wishes->confidence, 0,
                           1);
}

static tacit_status add_class_lines(making *self, const double *counts, const double *confusion,
                                    double *macro, const char *of) {
    static const char *const columns[] = { "rows",     "prevalence", "auc",       "auc_low",
                                           "auc_high", "recall",     "precision", NULL };
    size_t classes = self->tally->classes, cells = self->tally->cells;
    tacit_report_table *table;
    double sum = 0;
    TACIT_TRY(add_table(self, &table, "classes", "Each class against all others", of, columns));
    for (size_t k = 0; k < classes; k++) {
        bool enough;
        char label[NAME];
        double own = 0, called = 0, all = 0;
        TACIT_TRY(make_figures(self, counts + k * 2 * cells, self->noise, &enough));
        for (size_t j = 0; j < classes; j++) {
            own += confusion[k * classes + j];
            called += confusion[j * classes + k];
        }
        for (size_t j = 0; j < classes * classes; j++) all += confusion[j];
        tacit_figure recall = share_of(self, confusion[k * classes + k], own, 1, classes);
        tacit_figure precision = share_of(self, confusion[k * classes + k], called, 1, classes);
        tacit_figure part = share_of(self, own, all, classes, classes * classes);
        const tacit_figure *auc = &self->figures->auc;
        double rows_error = self->noise > 0 ? self->noise * sqrt((double)classes) : NAN;
        const double values[] = { enough ? own : NAN,
                                  enough ? part.value : NAN,
                                  enough ? auc->value : NAN,
                                  enough ? auc->low : NAN,
                                  enough ? auc->high : NAN,
                                  enough ? recall.value : NAN,
                                  enough ? precision.value : NAN };
        const double errors[] = { rows_error, error_of(self, &part),   error_of(self, auc),       NAN,
                                  NAN,        error_of(self, &recall), error_of(self, &precision) };
        TACIT_TRY(tacit_report_add_row(table, class_label(self, k, label), values, errors, self->error));
        sum += enough ? auc->value : NAN;
    }
    *macro = sum / (double)classes;
    return TACIT_OK;
}

static tacit_status add_class_curves(making *self, const double *counts, const char *of) {
    for (size_t k = 0; k < self->tally->classes; k++) {
        bool enough;
        char label[NAME], both[NAME];
        class_label(self, k, label);
        tacit_format(both, sizeof both, "%.140s%s%.140s", label, of != NULL ? ", " : "",
                     of != NULL ? of : "");
        TACIT_TRY(make_figures(self, counts + k * 2 * self->tally->cells, self->noise, &enough));
        if (enough) TACIT_TRY(add_curve(self, both));
    }
    return TACIT_OK;
}

static tacit_status add_classes(making *self, const double *counts, const char *of) {
    size_t classes = self->tally->classes, cells = self->tally->cells;
    const double *confusion = counts + classes * 2 * cells;
    double all = 0, right = 0, macro;
    for (size_t j = 0; j < classes * classes; j++) all += confusion[j];
    for (size_t j = 0; j < classes; j++) right += confusion[j * classes + j];
    if (self->noise == 0 && all < self->wishes->least) return TACIT_OK;
    tacit_score_grid *grid = TACIT_NEW(tacit_score_grid, classes);
    if (grid == NULL) return tacit_fail_memory(self->error);
    for (size_t k = 0; k < classes; k++)
        grid[k] =
            (tacit_score_grid){ cells, counts + k * 2 * cells, counts + k * 2 * cells + cells, self->noise };
    tacit_figure brier, log_loss, accuracy = share_of(self, right, all, classes, classes * classes);
    tacit_report_table *table;
    tacit_status status =
        tacit_score_figures_classes(&brier, &log_loss, grid, classes, self->wishes->confidence, self->error);
    free(grid);
    if (status != TACIT_OK) return status;
    TACIT_TRY(add_class_lines(self, counts, confusion, &macro, of));
    tacit_figure rows =
        tacit_figure_of(all, 0, self->noise * (double)classes, self->wishes->confidence, 0, INFINITY);
    tacit_figure mean = { macro, NAN, NAN, NAN, NAN };
    TACIT_TRY(add_table(self, &table, "figures", "How good the scores are", of, figure_columns));
    TACIT_TRY(add_figure(self, table, "rows", &rows, NAN));
    TACIT_TRY(add_figure(self, table, "accuracy", &accuracy, NAN));
    TACIT_TRY(add_figure(self, table, "auc_mean_of_classes", &mean, NAN));
    TACIT_TRY(add_figure(self, table, "brier", &brier, NAN));
    TACIT_TRY(add_figure(self, table, "log_loss", &log_loss, NAN));
    TACIT_TRY(add_confusion(self, confusion, of));
    return add_class_curves(self, counts, of);
}

/* ---- a number ---- */

typedef enum measure { MEAN, SD, MSE, RMSE, MAE, R_SQUARED, CORRELATION, SLOPE, INTERCEPT, MEASURES } measure;

/* From sums on the scale where the bounds are -1 and 1, back in the label's units. */
static double measure_of(const double s[TACIT_TALLY_SUMS], measure what, double middle, double half) {
    double n = s[0], t = s[1] / n, m = s[5] / n;
    double total = s[2] - n * t * t, spread = s[6] - n * m * m, common = s[7] - n * t * m;
    double square = 4 * s[3] * half * half / n;
    switch (what) {
    case MEAN: return middle + half * t;
    case SD: return half * sqrt(total / (n - 1));
    case MSE: return square;
    case RMSE: return sqrt(square);
    case MAE: return 2 * s[4] * half / n;
    case R_SQUARED: return 1 - 4 * s[3] / total;
    case CORRELATION: return common / sqrt(total * spread);
    case SLOPE: return common / spread;
    default: return middle + half * t - common / spread * (middle + half * m);
    }
}

/* With the noise of its sums by numerical differences. */
static tacit_figure number_figure(const making *self, const double *sums, measure what) {
    double middle = (self->tally->low + self->tally->high) / 2,
           half = (self->tally->high - self->tally->low) / 2;
    double value = measure_of(sums, what, middle, half), variance = 0;
    for (size_t k = 0; k < TACIT_TALLY_SUMS && self->noise > 0; k++) {
        double moved[TACIT_TALLY_SUMS], step = fmax(self->noise, 1e-6) / 100;
        memcpy(moved, sums, sizeof moved);
        moved[k] += step;
        double up = measure_of(moved, what, middle, half);
        moved[k] -= 2 * step;
        double slope = (up - measure_of(moved, what, middle, half)) / (2 * step);
        variance += slope * slope * self->noise * self->noise;
    }
    return (tacit_figure){ isfinite(value) ? value : NAN, NAN, sqrt(variance), NAN, NAN };
}

static tacit_status add_number(making *self, const double *sums, double scale, const char *of) {
    static const char *const labels[MEASURES] = { "mean",
                                                  "sd",
                                                  "mse",
                                                  "rmse",
                                                  "mae",
                                                  "r_squared",
                                                  "correlation",
                                                  "calibration_slope",
                                                  "calibration_intercept" };
    tacit_report_table *table;
    (void)scale;
    tacit_figure rows = { sums[0], 0, self->noise, NAN, NAN };
    if (self->noise == 0 && sums[0] < fmax(1, self->wishes->least)) return TACIT_OK;
    TACIT_TRY(add_table(self, &table, "figures", "How good the predictions are", of, figure_columns));
    TACIT_TRY(add_figure(self, table, "rows", &rows, NAN));
    for (int k = 0; k < MEASURES; k++) {
        tacit_figure figure = number_figure(self, sums, (measure)k);
        TACIT_TRY(add_figure(self, table, labels[k], &figure, NAN));
    }
    return TACIT_OK;
}

/* ---- all of it ---- */

static tacit_status add_facts(making *self) {
    const tacit_tally *tally = self->tally;
    tacit_report *report = self->report;
    const tacit_model *model = self->model;
    char label[NAME];
    if (tally->classes > 0)
        TACIT_TRY(tacit_report_add_fact(report, "cells", (double)tally->cells, NULL, self->error));
    if (tally->classes == 2)
        TACIT_TRY(tacit_report_add_fact(report, "positive", NAN, class_label(self, 1, label), self->error));
    if (model->schema != NULL && model->schema->label != NULL)
        TACIT_TRY(tacit_report_add_fact(report, "label", NAN, model->schema->label, self->error));
    if (tally->by != NULL) TACIT_TRY(tacit_report_add_fact(report, "by", NAN, tally->by, self->error));
    TACIT_TRY(tacit_report_add_fact(report, "confidence", self->wishes->confidence, NULL, self->error));
    if (self->noise > 0) TACIT_TRY(tacit_report_add_fact(report, "noise_sd", self->noise, NULL, self->error));
    if (!(self->wishes->least > 1)) return TACIT_OK;
    char text[160];
    tacit_format(
        text, sizeof text,
        "%g; figures of fewer rows are left out, and of another subgroup that they would follow from",
        self->wishes->least);
    return tacit_report_add_fact(report, "least", self->wishes->least, text, self->error);
}

static tacit_status add_part(making *self, const double *counts, const char *of) {
    if (self->tally->classes == 0) return add_number(self, counts, 1, of);
    return self->tally->classes == 2 ? add_two_classes(self, counts, of) : add_classes(self, counts, of);
}

/* All rows first, whose counts are those of the subgroups added up, noise included. */
static tacit_status add_all(making *self) {
    size_t each = tacit_tally_each(self->tally), groups = self->tally->groups;
    double noise = self->noise;
    for (size_t g = 0; g < groups; g++)
        for (size_t j = 0; j < each; j++) self->total[j] += self->counts[g * each + j];
    TACIT_TRY(add_facts(self));
    self->noise = noise * sqrt((double)groups);
    TACIT_TRY(add_part(self, self->total, NULL));
    self->noise = noise;
    if (groups == 1) return TACIT_OK;
    if (self->tally->classes == 2) return add_subgroups(self);
    char label[NAME];
    for (size_t g = 0; g < groups; g++)
        TACIT_TRY(add_part(self, self->counts + g * each, group_label(self, g, label)));
    return TACIT_OK;
}

static double rows_of(const tacit_tally *tally, const double *counts) {
    double rows = 0;
    size_t each = tacit_tally_each(tally), many = tally->classes == 0 ? 1 : 2 * tally->cells;
    for (size_t g = 0; g < tally->groups; g++)
        for (size_t j = 0; j < many; j++) rows += counts[g * each + j];
    return rows;
}

tacit_status tacit_evaluation_report(tacit_report **out, const tacit_tally *tally, const tacit_model *model,
                                     const double *counts, double noise, const tacit_score_wishes *wishes,
                                     tacit_error *error) {
    making self = { .tally = tally,
                    .model = model,
                    .counts = counts,
                    .noise = noise,
                    .wishes = wishes,
                    .total = TACIT_NEW(double, tacit_tally_each(tally)),
                    .figures = TACIT_NEW(tacit_score_figures, 1),
                    .error = error };
    tacit_status status = self.total != NULL && self.figures != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK)
        status = tacit_report_create(&self.report, "evaluate", noise > 0, rows_of(tally, counts), error);
    if (status == TACIT_OK) status = add_all(&self);
    free(self.total);
    free(self.figures);
    if (status == TACIT_OK)
        *out = self.report;
    else
        tacit_report_free(self.report);
    return status;
}
