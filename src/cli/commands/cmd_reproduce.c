/* tacit reproduce: a figure of a paper, run again and set beside the printed numbers. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/document/json_text.h"
#include "api/option/arguments.h"
#include "api/option/run_options.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/help/text_width.h"
#include "cli/print/runs.h"
#include "cli/row_reading.h"
#include "data/schema/text.h"
#include "lab/reproduce/reproduce.h"

enum { FIGURE_MODE = 0644 }; /* made to be shared */

/* ---- list ---- */

static json_t *experiment_document(const tacit_experiment *experiment) {
    json_t *methods = json_array(), *files = json_array();
    for (const tacit_variant *curve = experiment->curves; curve->method != NULL; curve++)
        methods = tacit_json_append(methods, json_string(curve->method));
    for (const tacit_data_file *file = experiment->files; file != NULL && file->name != NULL; file++)
        files = tacit_json_append(files, json_pack("{s:s,s:s}", "name", file->name, "shape", file->shape));
    return json_pack("{s:s,s:s,s:s,s:s,s:o,s:o}", "id", experiment->id, "paper", experiment->paper, "figure",
                     experiment->figure, "title", experiment->title, "methods", methods, "files", files);
}

static void print_needs(const tacit_console *console, const tacit_experiment *experiment) {
    tacit_wrap wrap = { .out = console->out, .width = console->width, .indent = 4 };
    fputc('\n', console->out);
    tacit_wrap_token(&wrap, "%s:", experiment->id);
    tacit_wrap_text(&wrap, experiment->source);
    for (const tacit_data_file *file = experiment->files; file != NULL && file->name != NULL; file++) {
        tacit_wrap_break(&wrap, 1);
        tacit_wrap_token(&wrap, "%s", file->name);
        tacit_wrap_token(&wrap, "(%s)", file->shape);
    }
    fputc('\n', console->out);
}

static tacit_status list_experiments(tacit_console *console, tacit_error *error) {
    static const tacit_grid_column columns[] = { { "id", TACIT_LEFT },
                                                 { "paper", TACIT_LEFT },
                                                 { "figure", TACIT_LEFT },
                                                 { "what it shows", TACIT_LEFT } };
    tacit_grid *grid = NULL;
    json_t *list = json_array();
    TACIT_TRY(tacit_grid_create(&grid, columns, sizeof columns / sizeof *columns, error));
    for (size_t i = 0; tacit_experiments[i] != NULL; i++) {
        tacit_grid_cell(grid, "%s", tacit_experiments[i]->id);
        tacit_grid_cell(grid, "%s", tacit_experiments[i]->paper);
        tacit_grid_cell(grid, "%s", tacit_experiments[i]->figure);
        tacit_grid_cell(grid, "%s", tacit_experiments[i]->title);
        list = tacit_json_append(list, experiment_document(tacit_experiments[i]));
    }
    tacit_status status = tacit_console_grid(console, grid, error);
    tacit_grid_free(grid);
    if (status != TACIT_OK) {
        json_decref(list);
        return status;
    }
    tacit_console_print(console,
                        "\nFiles are looked for in the folder that TACIT_DATA names, plain, .xz or .gz.\n");
    for (size_t i = 0; !console->json && tacit_experiments[i] != NULL; i++)
        print_needs(console, tacit_experiments[i]);
    return tacit_console_document(console, list, error);
}

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

static tacit_status print_report(tacit_console *console, const tacit_reproduction *result,
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
    return TACIT_OK;
}

/* ---- the document ---- */

static json_t *finding_document(const tacit_experiment *experiment, const tacit_finding *finding) {
    return json_pack("{s:s,s:s,s:I,s:s,s:o,s:o,s:I,s:o,s:o,s:o}", "panel",
                     experiment->setups[finding->setup].panel, "setup",
                     tacit_setup_name(&experiment->setups[finding->setup]), "parties",
                     (json_int_t)finding->parties, "curve", finding->curve, "epsilon",
                     tacit_json_number(finding->epsilon), "lambda", tacit_json_number(finding->lambda),
                     "trials", (json_int_t)finding->trials, "mean", tacit_json_number(finding->mean), "sd",
                     tacit_json_number(finding->sd), "printed", tacit_json_number(finding->printed));
}

static const char *metric_of(const tacit_experiment *experiment) {
    if (experiment->is_unbounded || experiment->own_rows) return experiment->measures;
    return experiment->shows_errors ? "error" : experiment->shows_auc ? "auc" : "accuracy";
}

static json_t *result_document(const tacit_reproduction *result, const tacit_reproduce_options *options) {
    const tacit_experiment *experiment = result->experiment;
    json_t *findings = json_array();
    for (size_t i = 0; i < result->count; i++)
        findings = tacit_json_append(findings, finding_document(experiment, &result->findings[i]));
    json_t *told =
        json_pack("{s:s,s:s,s:s,s:s,s:I,s:I,s:I,s:b,s:s,s:o}", "id", experiment->id, "paper",
                  experiment->paper, "figure", experiment->figure, "metric", metric_of(experiment), "seed",
                  (json_int_t)options->seed, "repeats", (json_int_t)options->effort.repeats, "trials",
                  (json_int_t)options->effort.trials, "private_statistics", result->used_private_statistics,
                  "differs", experiment->differs, "findings", findings);
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

/* ---- the figure ---- */

/* The path of the figure, and whether it can be written: said before the work. */
static tacit_status prepare_figure(char path[PATH_MAX], const char *folder,
                                   const tacit_experiment *experiment, tacit_error *error) {
    char name[64];
    snprintf(name, sizeof name, "%s.svg", experiment->id);
    TACIT_TRY(tacit_folder_make(folder, error));
    TACIT_TRY(tacit_path_join(path, PATH_MAX, folder, name, error));
    return tacit_file_check_writable(path, error);
}

static bool has_printed(const tacit_reproduction *result) {
    for (size_t i = 0; i < result->count; i++)
        if (!isnan(result->findings[i].printed)) return true;
    return false;
}

static tacit_status write_figure(tacit_console *console, const tacit_reproduction *result,
                                 const tacit_reproduce_options *options, const char *path,
                                 tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status;
    char note[512];
    if (result->experiment->by_round)
        snprintf(note, sizeof note, "Run with Tacit: rounds of all parties, without noise; seed %llu.%s",
                 (unsigned long long)options->seed,
                 options->fraction < 1 ? " Only a fraction of parties and rows." : "");
    else
        snprintf(
            note, sizeof note,
            "Run again with Tacit: %zu %s of the rows, %zu of noise in each; bars: one sd; seed %llu.%s%s%s",
            options->effort.repeats, tacit_plural(options->effort.repeats, "draw", "draws"),
            options->effort.trials, (unsigned long long)options->seed,
            options->fraction < 1 ? " Only a fraction of parties and rows." : "",
            has_printed(result) ? " Circles: numbers in the paper's text." : "",
            result->used_private_statistics ? " Scaling used all training rows: not private."
            : result->stand_in != NULL      ? " Generated rows: the file is not there."
                                            : "");
    TACIT_CHECK(tacit_reproduction_plot(result, note, &text, error));
    TACIT_CHECK(tacit_file_write(path, text.bytes, text.length, FIGURE_MODE, error));
    tacit_console_note(console, "wrote %s", path);
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

/* ---- the command ---- */

/* Experiments whose setups are runs of their own may take hours: each figure is told as it comes. */
static void report_finding(void *context, const tacit_experiment *experiment, const tacit_finding *finding) {
    if (!experiment->own_rows) return;
    tacit_console_note(context, "%s, %s: %.4g", tacit_setup_name(&experiment->setups[finding->setup]),
                       finding->curve, finding->mean);
}

static void read_options(tacit_reproduce_options *out, const tacit_experiment *experiment,
                         const tacit_arguments *arguments, tacit_console *console) {
    *out = tacit_reproduce_defaults(experiment, tacit_arguments_flag(arguments, "full"));
    out->folder = getenv("TACIT_DATA");
    out->seed = tacit_run_options_seed(arguments);
    if (tacit_arguments_given(arguments, "trials"))
        out->effort.trials = (size_t)tacit_arguments_integer(arguments, "trials");
    if (tacit_arguments_given(arguments, "rows"))
        out->scale = strcmp(tacit_arguments_text(arguments, "rows"), "normalise") == 0
                         ? TACIT_ROWS_NORMALISED
                         : TACIT_ROWS_BY_LARGEST;
    if (tacit_arguments_given(arguments, "draws"))
        out->effort.repeats = (size_t)tacit_arguments_integer(arguments, "draws");
    if (strcmp(tacit_arguments_text(arguments, "text"), "plain") == 0) out->strip = TACIT_STRIP_FRAME;
    out->statistics_of_all = strcmp(tacit_arguments_text(arguments, "statistics"), "all") == 0;
    out->fraction = tacit_arguments_number(arguments, "fraction");
    out->only = tacit_arguments_text(arguments, "only");
    out->progress = tacit_console_progress(console);
    out->found = report_finding;
    out->found_context = console;
}

static tacit_status run_reproduce(const tacit_arguments *arguments, tacit_console *console,
                                  tacit_error *error) {
    const char *id = tacit_arguments_operand(arguments, "ID"),
               *folder = tacit_arguments_text(arguments, "out");
    unsigned threads = tacit_run_options_threads(arguments);
    const tacit_experiment *experiment = NULL;
    tacit_reproduction *result = NULL;
    tacit_reproduce_options options;
    tacit_pool *pool = NULL;
    char path[PATH_MAX];
    tacit_status status;
    if (strcmp(id, "list") == 0) return list_experiments(console, error);
    TACIT_CHECK(tacit_experiment_require(&experiment, id, error));
    read_options(&options, experiment, arguments, console);
    if (tacit_arguments_given(arguments, "text") && !experiment->reads_texts)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                               "experiment %s reads no articles: leave --text out (it is for the newsgroups)",
                               id));
    TACIT_CHECK(tacit_experiment_check(experiment, options.folder, error));
    if (folder != NULL) TACIT_CHECK(prepare_figure(path, folder, experiment, error));
    TACIT_CHECK(tacit_pool_create(&pool, threads, error));
    options.pool = pool;
    TACIT_CHECK(tacit_reproduce(&result, experiment, &options, error));
    TACIT_CHECK(print_report(console, result, &options, error));
    TACIT_CHECK(tacit_console_document(console, result_document(result, &options), error));
    if (folder != NULL) TACIT_CHECK(write_figure(console, result, &options, path, error));
cleanup:
    tacit_reproduction_free(result);
    tacit_pool_free(pool);
    return status;
}

static const tacit_option options[] = {
    { .name = "full",
      .kind = TACIT_OPTION_FLAG,
      .help = "as many draws of rows and noise as in the paper; without it a shorter run" },
    TACIT_OPTION_SEED,
    { .name = "trials",
      .kind = TACIT_OPTION_INTEGER,
      .placeholder = "T",
      .rules = TACIT_RULE_RANGE,
      .least = 1,
      .most = 1000000,
      .help = "how often noise is drawn for each draw of the rows; the experiment's number by default" },
    { .name = "only",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "SETUP",
      .help = "of all setups only that of this name, as the table has it: SimuX100 of wang-table51" },
    { .name = "out",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "FOLDER",
      .help = "write the figure there, as ID.svg" },
    { .name = "statistics",
      .kind = TACIT_OPTION_CHOICE,
      .placeholder = "auxiliary|all",
      .fallback = "auxiliary",
      .help = "rows from which principal components and largest norms are computed: the public auxiliary "
              "ones, or all training rows, which is not private" },
    { .name = "draws",
      .kind = TACIT_OPTION_INTEGER,
      .placeholder = "N",
      .rules = TACIT_RULE_RANGE,
      .least = 1,
      .most = 100000,
      .help = "how often the rows are drawn and divided; the experiment's number by default" },
    { .name = "text",
      .kind = TACIT_OPTION_CHOICE,
      .placeholder = "stripped|plain",
      .fallback = "stripped",
      .help = "articles of newsgroups without header, signature and quoted lines, or with the quoted lines" },
    { .name = "rows",
      .kind = TACIT_OPTION_CHOICE,
      .placeholder = "normalise|scale",
      .help = "bring rows into the unit ball one by one, or all by the largest norm; the experiment's way by "
              "default" },
    { .name = "fraction",
      .kind = TACIT_OPTION_NUMBER,
      .placeholder = "F",
      .fallback = "1",
      .rules = TACIT_RULE_RANGE | TACIT_RULE_ABOVE,
      .least = 0,
      .most = 1,
      .help = "of the parties, auxiliary rows and test rows; a look at the experiment rather than a "
              "reproduction" },
    TACIT_OPTION_THREADS,
    { .name = NULL },
};

const tacit_command tacit_command_reproduce = {
    .name = "reproduce",
    .section = "Learning",
    .summary = "run a paper's figure again, beside its printed numbers",
    .description = "Runs an experiment of a paper on the data it used, or on a stand-in where those cannot "
                   "be had, and prints "
                   "our figures beside the numbers that the paper's text gives; a dash means that it gives "
                   "none. It also says "
                   "where our experiment differs from the paper's.\n\n"
                   "The data are not part of Tacit. The environment variable TACIT_DATA names the folder "
                   "that holds them; 'tacit "
                   "reproduce list' says which files each experiment wants and where they can be had. "
                   "Simulated data need no "
                   "files.",
    .operands =
        (const tacit_operand[]){
            { "ID", 1, 1, "an experiment, such as hamm-fig2; or the word list" },
            { .name = NULL },
        },
    .options = options,
    .examples =
        (const tacit_example[]){
            { "See what there is.", "tacit reproduce list" },
            { "Simulated data: no files needed.", "tacit reproduce rajkumar-fig1 --seed 1" },
            { "With a figure.", "TACIT_DATA=data tacit reproduce hamm-fig2 --seed 1 --out figures" },
            { "All draws of the paper.", "TACIT_DATA=data tacit reproduce hamm-fig3 --full" },
            { "One data set of a table.",
              "TACIT_DATA=data tacit reproduce wang-table51 --full --only SimuX100" },
            { .text = NULL },
        },
    .run = run_reproduce,
};
