#include "cli/print/runs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/document/json_text.h"
#include "base/number.h"
#include "cli/print/missing_report.h"
#include "cli/print/summary_text.h"
#include "cli/row_reading.h"
#include "data/schema/text.h"

static const char *number_text(double value, char out[TACIT_NUMBER_TEXT]) {
    if (isinf(value)) return value > 0 ? "inf" : "-inf";
    return tacit_number_to_text(value, out);
}

/* One trial has no spread to show; a metric that does not apply is a dash. */
static void add_spread(tacit_grid *grid, const tacit_spread *spread, size_t trials) {
    if (isnan(spread->mean))
        tacit_grid_cell(grid, "-");
    else if (trials == 1)
        tacit_grid_cell(grid, "%.4f", spread->mean);
    else
        tacit_grid_cell(grid, "%.4f ± %.4f", spread->mean, spread->sd);
}

/* Six digits, as the ledger shows amounts: what many rounds cost together comes out of an accountant. */
static void add_charge(tacit_grid *grid, const tacit_run *run) {
    const tacit_price *price = &run->charged;
    if (run->failed.status != TACIT_OK)
        tacit_grid_cell(grid, "refused: see below");
    else if (isinf(price->epsilon))
        tacit_grid_cell(grid, "not private");
    else if (price->delta > 0)
        tacit_grid_cell(grid, "%.6g, delta %.6g per %s", price->epsilon, price->delta,
                        tacit_unit_name(price->unit));
    else
        tacit_grid_cell(grid, "%.6g per %s", price->epsilon, tacit_unit_name(price->unit));
}

/* Whether the figures are those of a numeric response; all runs have the same rows. */
static bool are_numeric(const tacit_run *runs, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (runs[i].failed.status == TACIT_OK) return tacit_run_is_numeric(&runs[i]);
    return false;
}

tacit_status tacit_runs_print(tacit_console *console, const tacit_run *runs, size_t count, bool lambdas,
                              tacit_error *error) {
    static const tacit_grid_column columns[] = { { "method", TACIT_LEFT },    { "epsilon", TACIT_RIGHT },
                                                 { "accuracy", TACIT_RIGHT }, { "AUC", TACIT_RIGHT },
                                                 { "log-loss", TACIT_RIGHT }, { "charged", TACIT_LEFT },
                                                 { "time", TACIT_RIGHT },     { "lambda", TACIT_RIGHT } };
    static const tacit_grid_column of_numbers[] = { { "method", TACIT_LEFT },  { "epsilon", TACIT_RIGHT },
                                                    { "RMSE", TACIT_RIGHT },   { "deviance", TACIT_RIGHT },
                                                    { "charged", TACIT_LEFT }, { "time", TACIT_RIGHT },
                                                    { "lambda", TACIT_RIGHT } };
    bool numbers = are_numeric(runs, count);
    size_t shown = (numbers ? sizeof of_numbers : sizeof columns) / sizeof *columns - !lambdas;
    tacit_grid *grid = NULL;
    TACIT_TRY(tacit_grid_create(&grid, numbers ? of_numbers : columns, shown, error));
    for (size_t i = 0; i < count; i++) {
        const tacit_run *run = &runs[i];
        char epsilon[TACIT_NUMBER_TEXT];
        tacit_grid_cell(grid, "%s", run->method->name);
        tacit_grid_cell(grid, "%s", number_text(run->epsilon, epsilon));
        if (!numbers) add_spread(grid, &run->accuracy, run->trials);
        if (!numbers) add_spread(grid, &run->auc, run->trials);
        add_spread(grid, numbers ? &run->rmse : &run->log_loss, run->trials);
        if (numbers) add_spread(grid, &run->deviance, run->trials);
        add_charge(grid, run);
        if (run->failed.status != TACIT_OK)
            tacit_grid_cell(grid, "-");
        else
            tacit_grid_cell(grid, "%.2f s", run->seconds);
        if (lambdas && run->failed.status != TACIT_OK)
            tacit_grid_cell(grid, "-");
        else if (lambdas && isnan(run->lambda))
            tacit_grid_cell(grid, "various");
        else if (lambdas)
            tacit_grid_cell(grid, "%.3g", run->lambda);
    }
    tacit_status status = tacit_console_grid(console, grid, error);
    tacit_grid_free(grid);
    return status;
}

static const double within[] = { 1e-2, 1e-4, 1e-6, 1e-8, 1e-10 };
enum { LEVELS = sizeof within / sizeof *within };

/* The last point of the next curve from *at on, which then moves behind it; NULL: no more. */
static const tacit_trace_point *next_curve(const tacit_trace *trace, size_t *at) {
    if (*at >= trace->count) return NULL;
    size_t last = *at;
    while (last + 1 < trace->count && trace->points[last + 1].round > trace->points[last].round) last++;
    *at = last + 1;
    return &trace->points[last];
}

tacit_status tacit_rounds_print(tacit_console *console, const tacit_reproduction *result,
                                tacit_error *error) {
    static const tacit_grid_column columns[] = {
        { "curve", TACIT_LEFT },  { "rounds", TACIT_RIGHT },    { "to the optimum", TACIT_RIGHT },
        { "apart", TACIT_RIGHT }, { "objective", TACIT_RIGHT }, { "within 1e-2", TACIT_RIGHT },
        { "1e-4", TACIT_RIGHT },  { "1e-6", TACIT_RIGHT },      { "1e-8", TACIT_RIGHT },
        { "1e-10", TACIT_RIGHT },
    };
    tacit_grid *grid = NULL;
    TACIT_TRY(tacit_grid_create(&grid, columns, sizeof columns / sizeof *columns, error));
    size_t at = 0;
    for (const tacit_trace_point *end; (end = next_curve(&result->trace, &at)) != NULL;) {
        tacit_grid_cell(grid, "%s", end->curve);
        tacit_grid_cell(grid, "%llu", (unsigned long long)end->round);
        tacit_grid_cell(grid, "%.1e", end->distance);
        tacit_grid_cell(grid, "%.1e", end->disagreement);
        tacit_grid_cell(grid, "%.1e", end->gap);
        for (size_t i = 0; i < LEVELS; i++) {
            uint64_t round = tacit_trace_reached(end, within[i]);
            if (round <= end->round)
                tacit_grid_cell(grid, "%llu", (unsigned long long)round);
            else
                tacit_grid_cell(grid, "-");
        }
    }
    tacit_status status = tacit_console_grid(console, grid, error);
    tacit_grid_free(grid);
    return status;
}

static json_t *reached_document(const tacit_trace_point *end) {
    json_t *reached = json_object();
    for (size_t i = 0; reached != NULL && i < LEVELS; i++) {
        char name[16];
        uint64_t round = tacit_trace_reached(end, within[i]);
        snprintf(name, sizeof name, "%.0e", within[i]);
        json_t *told = round <= end->round ? json_integer((json_int_t)round) : json_null();
        if (json_object_set_new(reached, name, told) == 0) continue;
        json_decref(reached);
        reached = NULL;
    }
    return reached;
}

json_t *tacit_rounds_document(const tacit_reproduction *result) {
    json_t *list = json_array();
    size_t at = 0;
    for (const tacit_trace_point *end; (end = next_curve(&result->trace, &at)) != NULL;)
        list = tacit_json_append(
            list, json_pack("{s:s,s:I,s:o,s:o,s:o,s:o}", "curve", end->curve, "rounds",
                            (json_int_t)end->round, "distance", tacit_json_number(end->distance),
                            "disagreement", tacit_json_number(end->disagreement), "gap",
                            tacit_json_number(end->gap), "reached", reached_document(end)));
    return list;
}

/* As R spells the families; the Huberised hinge it does not have. */
static const char *family_name(const tacit_estimates *estimates) {
    const tacit_family *family = tacit_family_find(estimates->family);
    return family != NULL && family->r_family != NULL ? family->r_family : estimates->family;
}

static size_t name_width(const tacit_estimates *estimates) {
    size_t width = 11;
    for (size_t k = 0; k < estimates->count; k++) {
        size_t length = strlen(estimates->coefficient[k].name);
        if (length > width) width = length;
    }
    return width;
}

static void print_call(tacit_console *console, const tacit_estimates *estimates) {
    const char *between = "";
    if (estimates->formula != NULL) {
        const char *left = strchr(estimates->formula, '~');
        bool named = left != NULL && left != estimates->formula;
        tacit_console_print(console, "\nCall: %s%s%s, family = %s\n\n", named ? "" : estimates->response,
                            named          ? ""
                            : left != NULL ? " "
                                           : " ~ ",
                            estimates->formula, family_name(estimates));
        return;
    }
    tacit_console_print(console, "\nCall: %s ~", estimates->response);
    bool classes = tacit_estimates_intercepts(estimates) > 1; /* which all have the same columns */
    for (size_t k = 0; k < (classes ? estimates->terms : estimates->count); k++) {
        const char *name = classes ? estimates->term[k].name : estimates->coefficient[k].name;
        if (!classes && estimates->coefficient[k].intercept) continue;
        tacit_console_print(console, "%s %s", between, name);
        between = " +";
    }
    tacit_console_print(console, ", family = %s\n\n", family_name(estimates));
}

/* Where noise is too large for an estimate: what would be enough, by the rule that there is one. */
static void print_needs(tacit_console *console, const tacit_estimates *estimates) {
    char epsilon[64] = "";
    if (isfinite(estimates->needs_epsilon))
        snprintf(epsilon, sizeof epsilon, " or epsilon %.2g", estimates->needs_epsilon);
    tacit_console_print(console, "Coefficients:\n");
    for (size_t k = 0; k < estimates->count; k++)
        tacit_console_print(console, "%-*s  not estimable at this price: needs about %.0f rows%s\n",
                            (int)name_width(estimates), estimates->coefficient[k].name,
                            tacit_two_digits(estimates->needs_rows), epsilon);
    tacit_console_print(console,
                        "\nThe least is known of %s. With fewer columns, or without that one, the others may "
                        "be estimable. The model still predicts.\n\n",
                        estimates->coefficient[estimates->weakest].name);
}

static void print_coefficients(tacit_console *console, const tacit_estimates *estimates) {
    char statistic[8], tail[16], low[16], high[16], p[32], noise[16];
    int width = (int)name_width(estimates);
    double half = 50 * (1 - estimates->level);
    snprintf(statistic, sizeof statistic, "%s value", estimates->student ? "t" : "z");
    snprintf(tail, sizeof tail, "Pr(>|%s|)", estimates->student ? "t" : "z");
    snprintf(low, sizeof low, "%.4g %%", half);
    snprintf(high, sizeof high, "%.4g %%", 100 - half);
    tacit_console_print(console, "Coefficients:\n%-*s %12s %12s %8s %9s     %12s %12s%s\n", width, "",
                        "Estimate", "Std. Error", statistic, tail, low, high,
                        estimates->noisy ? "  Noise" : "");
    for (size_t k = 0; k < estimates->count; k++) {
        const tacit_coefficient *one = &estimates->coefficient[k];
        snprintf(noise, sizeof noise, "  %4.0f%%", 100 * one->noise);
        tacit_console_print(console, "%-*s %12.6g %12.6g %8.3f %9s %-3s %12.6g %12.6g%s\n", width, one->name,
                            one->estimate, one->error, one->statistic, tacit_p_text(one->p, p),
                            tacit_p_stars(one->p), one->low, one->high, estimates->noisy ? noise : "");
    }
    tacit_console_print(console, "---\nSignif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1\n\n");
}

static void print_noise(tacit_console *console, const tacit_estimates *estimates) {
    tacit_console_print(
        console, "Standard errors and intervals include the noise; Noise is its share of a variance.\n");
    if (estimates->sandwich)
        tacit_console_print(console, "(They are the sandwich's: right also where the model is not.)\n\n");
    else
        tacit_console_print(console, "(Dispersion parameter for %s family estimated as %.4g)\n\n",
                            family_name(estimates), estimates->dispersion);
}

static void print_fit(tacit_console *console, const tacit_estimates *estimates) {
    tacit_summary_print_errors(console, estimates);
    if (estimates->sets > 0) {
        tacit_console_print(console,
                            "(Standard errors of the pooled sets; deviance and AIC are those of no set)\n\n");
    } else if (isnan(estimates->deviance)) {
        tacit_console_print(console, "(Standard errors from the sandwich: the loss is no likelihood)\n\n");
    } else {
        tacit_console_print(console, "(Dispersion parameter for %s family taken to be %.7g)\n\n",
                            family_name(estimates), estimates->dispersion);
        if (estimates->sets == 0) {
            tacit_console_print(console, "    Null deviance: %.5g  on %.0f  degrees of freedom\n",
                                estimates->null_deviance, tacit_estimates_null_degrees(estimates));
            tacit_console_print(console, "Residual deviance: %.5g  on %.0f  degrees of freedom\nAIC: %.5g\n",
                                estimates->deviance, tacit_estimates_degrees(estimates), estimates->aic);
            if (estimates->firth)
                tacit_console_print(console, "Firth's penalty; penalised log-likelihood: %.5g\n\n",
                                    estimates->penalised);
            tacit_summary_print_measures(console, estimates);
            tacit_console_print(console, "\n");
        }
    }
    tacit_summary_print_influence(console, estimates);
    tacit_console_print(console, "Number of %s iterations: %zu\n\n",
                        strcmp(estimates->optimiser, "lbfgs") == 0 ? "L-BFGS and Newton" : "Newton",
                        estimates->iterations);
}

static void print_trends(tacit_console *console, const tacit_estimates *estimates) {
    size_t width = strlen("GLOBAL");
    for (size_t k = 0; k < estimates->trends; k++)
        if (strlen(estimates->trend[k].name) > width) width = strlen(estimates->trend[k].name);
    tacit_console_print(console, "Tests of proportional hazards against %s time:\n%*s %10s %5s %9s\n",
                        estimates->trend_of, (int)width, "", "chi-square", "df", "p");
    for (size_t k = 0; k < estimates->trends; k++) {
        const tacit_term *one = &estimates->trend[k];
        tacit_console_print(console, "%-*s %10.4g %5zu %9.3g\n", (int)width, one->name, one->statistic,
                            one->count, one->p);
    }
    tacit_console_print(console, "\n");
}

/* Of a Cox regression: deviances are minus twice the log partial likelihood. */
static void print_hazards(tacit_console *console, const tacit_estimates *estimates) {
    const tacit_baseline *baseline = estimates->baseline;
    if (baseline != NULL) /* between two servers nobody knows it */
        tacit_console_print(console, "%s%.0f events; %zu groups of times, the last ending at %g\n",
                            estimates->noisy ? "about " : "", tacit_baseline_events(baseline),
                            baseline->count, baseline->step[baseline->count - 1].time);
    if (!estimates->noisy) /* noisy sums of scores have no likelihood beside them */
        tacit_console_print(
            console,
            "Log partial likelihood: %.7g, without columns %.7g; their difference twice: %.5g on %zu df\n",
            -estimates->deviance / 2, -estimates->null_deviance / 2,
            estimates->null_deviance - estimates->deviance, estimates->count);
    if (estimates->concordance > 0)
        tacit_console_print(console, "Concordance: %.4f, at most %.4f off, as scores are counted in bins\n",
                            estimates->concordance, estimates->concordance_bound);
    tacit_console_print(console, "\n");
    tacit_summary_print_errors(console, estimates);
    if (estimates->trends > 0) print_trends(console, estimates);
}

static void print_promise(tacit_console *console, const tacit_guarantee *guarantee, const char *otherwise) {
    char text[TACIT_PRICE_TEXT_SIZE];
    tacit_console_print(console, "\nPromised: %s\n",
                        guarantee->is_private ? tacit_price_text(text, &guarantee->charged) : otherwise);
}

static tacit_status print_validation(tacit_console *console, const tacit_report *report, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = tacit_report_print_text(report, &text, error);
    if (status == TACIT_OK)
        tacit_console_print(console, "\nCross-validation\n\n%s", tacit_buffer_text(&text));
    tacit_buffer_clear(&text);
    return status;
}

tacit_status tacit_validation_print(tacit_console *console, const tacit_model *model, tacit_error *error) {
    const tacit_guarantee *guarantee = &model->guarantee;
    tacit_console_print(
        console, "A model of method %s, %zu %s. Weights predict, and have no standard errors.\n",
        guarantee->method, guarantee->parties, tacit_plural(guarantee->parties, "party", "parties"));
    print_promise(console, guarantee, "no differential privacy");
    if (model->validation != NULL) TACIT_TRY(print_validation(console, model->validation, error));
    return tacit_missing_counts_print(console, model, error);
}

tacit_status tacit_summary_print(tacit_console *console, const tacit_model *model, tacit_error *error) {
    const tacit_estimates *estimates = model->estimates;
    const tacit_guarantee *guarantee = &model->guarantee;
    print_call(console, estimates);
    if (estimates->needs_rows > 0)
        print_needs(console, estimates);
    else
        print_coefficients(console, estimates);
    if (!(estimates->needs_rows > 0))
        tacit_summary_print_ratios(console, estimates, (int)name_width(estimates));
    tacit_summary_print_terms(console, estimates, (int)name_width(estimates));
    tacit_summary_print_anova(console, estimates, (int)name_width(estimates));
    if (estimates->baseline != NULL ||
        strcmp(estimates->family, tacit_family_of(TACIT_RESPONSE_TIME, 0)->name) == 0)
        print_hazards(console, estimates);
    else if (!estimates->noisy)
        print_fit(console, estimates);
    else if (!(estimates->needs_rows > 0))
        print_noise(console, estimates);
    TACIT_TRY(tacit_missing_print(console, model, error));
    tacit_console_print(console, "%s%.0f rows", estimates->noisy ? "about " : "", estimates->rows);
    if (guarantee->parties > 0)
        tacit_console_print(console, " of %zu %s", guarantee->parties,
                            tacit_plural(guarantee->parties, "party", "parties"));
    tacit_console_print(console, ", %zu %s", estimates->rounds,
                        tacit_plural(estimates->rounds, "round", "rounds"));
    if (guarantee->study[0] != 0) tacit_console_print(console, ", study %s", guarantee->study);
    if (guarantee->lambda > 0 && !estimates->noisy)
        tacit_console_print(console, ", lambda %g (standard errors leave its bias out)", guarantee->lambda);
    print_promise(console, guarantee, "exact sums and no rows left the parties; no differential privacy");
    return model->validation != NULL ? print_validation(console, model->validation, error) : TACIT_OK;
}

static tacit_status write_csv(tacit_console *console, const tacit_report *report, const char *path,
                              tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = tacit_report_print_csv(report, &text, error);
    return tacit_console_finish_file(console, path, &text, status, error);
}

tacit_status tacit_report_show(tacit_console *console, const tacit_model *model, const char *csv,
                               tacit_error *error) {
    const tacit_guarantee *guarantee = &model->guarantee;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = tacit_report_print_text(model->report, &text, error);
    if (status == TACIT_OK) tacit_console_print(console, "%s", tacit_buffer_text(&text));
    tacit_buffer_clear(&text);
    TACIT_TRY(status);
    tacit_missing_uncounted_print(console, model);
    if (guarantee->parties > 0)
        tacit_console_print(console, "\n%zu %s", guarantee->parties,
                            tacit_plural(guarantee->parties, "party", "parties"));
    if (guarantee->study[0] != 0) tacit_console_print(console, ", study %s", guarantee->study);
    print_promise(console, guarantee,
                  model->report->noisy ? guarantee->reason : "exact numbers; no differential privacy");
    return csv != NULL ? write_csv(console, model->report, csv, error) : TACIT_OK;
}
