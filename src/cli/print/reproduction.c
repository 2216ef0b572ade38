#include "cli/print/reproduction.h"

#include <math.h>
#include <string.h>

#include "cli/help/text_width.h"
#include "cli/print/runs.h"
#include "cli/row_reading.h"
#include "data/schema/text.h"
#include "lab/reproduce/verdict.h"

/* ---- the table ---- */

static void add_ours(tacit_grid *grid, const tacit_finding *finding, bool of_any_size) {
    if (finding->trials == 0)
        tacit_grid_cell(grid, "not run");
    else if (finding->trials == 1)
        tacit_grid_cell(grid, of_any_size ? "%.4g" : "%.4f", finding->mean);
    else
        tacit_grid_cell(grid, "%.4f ± %.4f", finding->mean, finding->sd);
}

static void add_finding(tacit_grid *grid, const tacit_experiment *experiment, const tacit_finding *finding) {
    char number[TACIT_NUMBER_TEXT];
    tacit_grid_cell(grid, "%s", tacit_setup_name(&experiment->setups[finding->setup]));
    tacit_grid_cell(grid, "%zu", finding->parties);
    tacit_grid_cell(grid, "%s", finding->curve);
    tacit_grid_cell(grid, "%s",
                    isinf(finding->epsilon) ? "inf" : tacit_number_to_text(finding->epsilon, number));
    if (isinf(finding->epsilon))
        tacit_grid_cell(grid, "0");
    else
        tacit_grid_cell(grid, "%.4g", 1 / finding->epsilon);
    if (isnan(finding->lambda))
        tacit_grid_cell(grid, "-");
    else
        tacit_grid_cell(grid, "%.2g", finding->lambda);
    add_ours(grid, finding, experiment->own_rows);
    if (finding->trials > 0)
        tacit_grid_cell(grid, "%zu", finding->trials);
    else
        tacit_grid_cell(grid, "-");
    if (isnan(finding->printed))
        tacit_grid_cell(grid, "-");
    else
        tacit_grid_cell(grid,
                        experiment->own_rows    ? "%.6g"
                        : experiment->shows_auc ? "%.3f"
                                                : "%.2f",
                        finding->printed);
}

static tacit_status print_findings(tacit_console *console, const tacit_reproduction *result,
                                   tacit_error *error) {
    const tacit_experiment *experiment = result->experiment;
    const tacit_grid_column columns[] = {
        { "setup", TACIT_LEFT },
        { "parties", TACIT_RIGHT },
        { "curve", TACIT_LEFT },
        { "epsilon", TACIT_RIGHT },
        { "1/epsilon", TACIT_RIGHT },
        { "lambda", TACIT_RIGHT },
        { experiment->own_rows           ? "ours"
          : experiment->shows_auc        ? "AUC, ours"
          : experiment->measures != NULL ? experiment->measures
          : experiment->shows_errors     ? "error, ours"
                                         : "accuracy, ours",
          TACIT_RIGHT },
        { "trials", TACIT_RIGHT },
        { "paper", TACIT_RIGHT },
    };
    tacit_grid *grid = NULL;
    TACIT_TRY(tacit_grid_create(&grid, columns, sizeof columns / sizeof *columns, error));
    for (size_t s = 0; s < experiment->setup_count; s++)
        for (size_t i = 0; i < result->count; i++)
            if (result->findings[i].setup == s) add_finding(grid, experiment, &result->findings[i]);
    tacit_status status = tacit_console_grid(console, grid, error);
    tacit_grid_free(grid);
    return status;
}

static void print_paragraph(tacit_console *console, const char *heading, const char *text) {
    if (console->json || text == NULL) return;
    tacit_wrap wrap = { .out = console->out, .width = console->width, .indent = 0 };
    fputc('\n', console->out);
    tacit_wrap_token(&wrap, "%s:", heading);
    tacit_wrap_text(&wrap, text);
    fputc('\n', console->out);
}

/* ---- verdicts ---- */

/* "7 as printed, 2 better, 1 not reproducible, 1 not run" of the printed numbers, without what is none.
 * Returns whether one is not reproducible. */
static bool print_tally(const tacit_reproduction *result, char *out, size_t size) {
    size_t count[TACIT_PAPER_VERDICTS] = { 0 }, used = 0;
    static const tacit_paper_verdict order[] = { TACIT_PAPER_PRINTED, TACIT_PAPER_BETTER,
                                                 TACIT_PAPER_OTHERWISE, TACIT_PAPER_NOT_RUN };
    for (size_t i = 0; i < result->count; i++)
        count[tacit_finding_verdict(result->experiment, &result->findings[i])]++;
    out[0] = 0;
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        if (count[order[k]] == 0 || used >= size) continue;
        used += (size_t)snprintf(out + used, size - used, "%s%zu %s", used > 0 ? ", " : "", count[order[k]],
                                 tacit_paper_verdict_text(order[k]));
    }
    return count[TACIT_PAPER_OTHERWISE] > 0;
}

static void print_claim(tacit_console *console, const tacit_reproduction *result, const tacit_claim *claim) {
    tacit_claim_outcome found = tacit_claim_check(result, claim);
    bool has_reason = tacit_verdict_is_against(found.verdict) && claim->why != NULL;
    tacit_wrap wrap = { .out = console->out, .width = console->width, .indent = 2 };
    char cases[96] = "", text[1000];
    if (found.cases > 0)
        snprintf(cases, sizeof cases, " (%zu of %zu, such as %.4g beside %.4g)", found.held, found.cases,
                 found.above, found.below);
    snprintf(text, sizeof text, "- %s: %s%s%s%s", claim->says, tacit_paper_verdict_text(found.verdict), cases,
             has_reason ? ": " : "", has_reason ? claim->why : "");
    tacit_wrap_text(&wrap, text);
    fputc('\n', console->out);
}

static void print_verdicts(tacit_console *console, const tacit_reproduction *result) {
    const tacit_experiment *experiment = result->experiment;
    char tally[160];
    if (console->json) return;
    const bool otherwise = print_tally(result, tally, sizeof tally);
    if (tally[0] != 0) print_paragraph(console, "Printed numbers", tally);
    if (otherwise && experiment->why != NULL)
        print_paragraph(console, "Not reproducible because", experiment->why);
    if (experiment->claim_count > 0) tacit_console_print(console, "\nClaims, checked on these means:\n");
    for (size_t c = 0; c < experiment->claim_count; c++) print_claim(console, result, &experiment->claims[c]);
}

/* Where the numbers that bring rows into the ball came from: it is a matter of privacy. */
static const char *statistics_text(const tacit_reproduction *result, const tacit_reproduce_options *options) {
    const tacit_experiment *experiment = result->experiment;
    bool by_largest = !experiment->is_in_ball && options->scale == TACIT_ROWS_BY_LARGEST;
    if (result->used_private_statistics)
        return "what scales the rows was computed from ALL training rows: not private, fine only in a "
               "simulation";
    if (experiment->dimensions > 0)
        return by_largest ? "principal components and the largest norm were computed from the public "
                            "auxiliary rows only"
                          : "principal components were computed from the public auxiliary rows only";
    return by_largest ? "the largest norm was taken over the public auxiliary rows only"
                      : "nothing was computed from private rows to scale them";
}

tacit_status tacit_reproduction_print(tacit_console *console, const tacit_reproduction *result,
                                      const tacit_reproduce_options *options, tacit_error *error) {
    const tacit_experiment *experiment = result->experiment;
    tacit_console_print(console, "%s, %s\n%s\n\n", experiment->paper, experiment->figure, experiment->title);
    if (experiment->own_rows)
        tacit_console_print(console, "%s; seed %llu\n", experiment->measures,
                            (unsigned long long)options->seed);
    else if (experiment->dealt != NULL)
        tacit_console_print(console, "%s; %zu features; seed %llu\n", experiment->dealt, result->features,
                            (unsigned long long)options->seed);
    else
        tacit_console_print(console,
                            "%zu rows for parties, %zu auxiliary, %zu test rows, %zu features; seed %llu\n",
                            result->train_rows, result->auxiliary_rows, result->test_rows, result->features,
                            (unsigned long long)options->seed);
    if (experiment->by_round || experiment->own_rows)
        tacit_console_print(console, "no noise; %s%.1f s\n",
                            options->fraction < 1 ? "only a fraction of parties and rows; " : "",
                            result->seconds);
    else
        tacit_console_print(console, "%zu %s of the rows, %zu %s of noise in each%s; %.1f s\n",
                            options->effort.repeats, tacit_plural(options->effort.repeats, "draw", "draws"),
                            options->effort.trials, tacit_plural(options->effort.trials, "draw", "draws"),
                            options->fraction < 1 ? "; only a fraction of parties and rows" : "",
                            result->seconds);
    tacit_console_print(
        console, "%s\n",
        experiment->own_rows
            ? "columns were standardised with statistics of ALL rows: not private, fine only in a simulation"
            : statistics_text(result, options));
    if (experiment->reads_texts)
        tacit_console_print(console, "%s\n",
                            options->strip == TACIT_STRIP_NEWS
                                ? "articles without header, signature and quoted lines"
                                : "articles without header and signature; quoted lines are kept");
    if (result->stand_in != NULL) tacit_console_print(console, "%s\n", result->stand_in);
    tacit_console_print(console, "\n");
    TACIT_TRY(experiment->by_round ? tacit_rounds_print(console, result, error)
                                   : print_findings(console, result, error));
    print_paragraph(console, "The paper says", experiment->says);
    print_paragraph(console, "Where ours differs", experiment->differs);
    print_verdicts(console, result);
    return TACIT_OK;
}

/* ---- the document ---- */

static json_t *finding_document(const tacit_experiment *experiment, const tacit_finding *finding) {
    const char *verdict = tacit_paper_verdict_text(tacit_finding_verdict(experiment, finding));
    const bool was_run = finding->trials > 0;
    return json_pack(
        "{s:s,s:s,s:I,s:s,s:o,s:o,s:I,s:o,s:o,s:o,s:s?}", "panel", experiment->setups[finding->setup].panel,
        "setup", tacit_setup_name(&experiment->setups[finding->setup]), "parties",
        (json_int_t)finding->parties, "curve", finding->curve, "epsilon", tacit_json_number(finding->epsilon),
        "lambda", tacit_json_number(finding->lambda), "trials", (json_int_t)finding->trials, "mean",
        tacit_json_number(was_run ? finding->mean : NAN), "sd",
        tacit_json_number(was_run ? finding->sd : NAN), "printed", tacit_json_number(finding->printed),
        "verdict", verdict[0] != 0 ? verdict : NULL);
}

static json_t *claim_document(const tacit_reproduction *result, const tacit_claim *claim) {
    tacit_claim_outcome found = tacit_claim_check(result, claim);
    bool against = tacit_verdict_is_against(found.verdict);
    return json_pack("{s:s,s:s,s:I,s:I,s:o,s:o,s:s?}", "says", claim->says, "verdict",
                     tacit_paper_verdict_text(found.verdict), "held", (json_int_t)found.held, "cases",
                     (json_int_t)found.cases, "above", tacit_json_number(found.above), "below",
                     tacit_json_number(found.below), "why", against ? claim->why : NULL);
}

static const char *metric_of(const tacit_experiment *experiment) {
    if (experiment->is_unbounded || experiment->own_rows) return experiment->measures;
    return experiment->shows_errors ? "error" : experiment->shows_auc ? "auc" : "accuracy";
}

json_t *tacit_reproduction_document(const tacit_reproduction *result,
                                    const tacit_reproduce_options *options) {
    const tacit_experiment *experiment = result->experiment;
    json_t *findings = json_array(), *claims = json_array();
    for (size_t i = 0; i < result->count; i++)
        findings = tacit_json_append(findings, finding_document(experiment, &result->findings[i]));
    for (size_t c = 0; c < experiment->claim_count; c++)
        claims = tacit_json_append(claims, claim_document(result, &experiment->claims[c]));
    json_t *told =
        json_pack("{s:s,s:s,s:s,s:s,s:I,s:I,s:I,s:b,s:f,s:b,s:s,s:s?,s:o,s:o}", "id", experiment->id, "paper",
                  experiment->paper, "figure", experiment->figure, "metric", metric_of(experiment), "seed",
                  (json_int_t)options->seed, "repeats", (json_int_t)options->effort.repeats, "trials",
                  (json_int_t)options->effort.trials, "private_statistics", result->used_private_statistics,
                  "fraction", options->fraction, "full", options->full, "differs", experiment->differs, "why",
                  experiment->why, "claims", claims, "findings", findings);
    if (experiment->reads_texts)
        json_object_set_new(told, "text",
                            json_string(options->strip == TACIT_STRIP_NEWS ? "stripped" : "plain"));
    if (result->stand_in != NULL) json_object_set_new(told, "stand_in", json_string(result->stand_in));
    if (experiment->by_round && json_object_set_new(told, "traces", tacit_rounds_document(result)) != 0) {
        json_decref(told);
        told = NULL;
    }
    return told;
}
