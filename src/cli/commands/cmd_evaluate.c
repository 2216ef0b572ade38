/* tacit evaluate: how good a model is on a file, and what it was promised under. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/document/results.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/row_reading.h"
#include "data/schema/text.h"
#include "model/report/evaluation.h"

static void print_guarantee(tacit_console *console, const tacit_guarantee *guarantee) {
    char text[TACIT_PRICE_TEXT_SIZE];
    tacit_console_print(console, "\nmade by %s",
                        guarantee->method[0] != 0 ? guarantee->method : "an unnamed method");
    if (guarantee->study[0] != 0) tacit_console_print(console, " in study %s", guarantee->study);
    if (guarantee->parties > 0)
        tacit_console_print(console, " over %zu %s", guarantee->parties,
                            tacit_plural(guarantee->parties, "party", "parties"));
    tacit_console_print(console, ", lambda %g", guarantee->lambda);
    if (guarantee->lambda_from != TACIT_LAMBDA_GIVEN)
        tacit_console_print(console, " (%s)", tacit_lambda_from_name(guarantee->lambda_from));
    tacit_console_print(console, "\n");
    if (!guarantee->is_private) {
        tacit_console_print(console, "guarantee: none, this model is not private%s%s\n",
                            guarantee->reason[0] != 0 ? "; " : "", guarantee->reason);
        return;
    }
    tacit_console_print(console, "guarantee: %s, charged to each party; the paper claims ",
                        tacit_price_text(text, &guarantee->charged));
    tacit_console_print(console, "%s\n", tacit_price_text(text, &guarantee->claimed));
    tacit_console_print(console, "noise: %s%s\n", tacit_noise_name(guarantee->noise),
                        guarantee->noise == TACIT_NOISE_SIMULATED
                            ? ", good for comparing methods but not for a model of private rows"
                            : "");
}

static void add_metric(tacit_grid *grid, double value) {
    if (isnan(value))
        tacit_grid_cell(grid, "-");
    else
        tacit_grid_cell(grid, "%.4f", value);
}

static void add_interval(tacit_grid *grid, const tacit_metrics *metrics) {
    if (isnan(metrics->auc_low))
        tacit_grid_cell(grid, "-");
    else
        tacit_grid_cell(grid, "%.4f to %.4f", metrics->auc_low, metrics->auc_high);
}

static tacit_status print_metrics(tacit_console *console, size_t rows, const tacit_metrics *metrics,
                                  tacit_error *error) {
    static const tacit_grid_column columns[] = { { "rows", TACIT_RIGHT },
                                                 { "accuracy", TACIT_RIGHT },
                                                 { "AUC", TACIT_RIGHT },
                                                 { "95% interval", TACIT_RIGHT },
                                                 { "log-loss", TACIT_RIGHT } };
    static const tacit_grid_column of_numbers[] = { { "rows", TACIT_RIGHT },
                                                    { "RMSE", TACIT_RIGHT },
                                                    { "deviance", TACIT_RIGHT } };
    bool numbers = !isnan(metrics->rmse);
    tacit_grid *grid = NULL;
    TACIT_TRY(tacit_grid_create(&grid, numbers ? of_numbers : columns,
                                (numbers ? sizeof of_numbers : sizeof columns) / sizeof *columns, error));
    tacit_grid_cell(grid, "%zu", rows);
    add_metric(grid, numbers ? metrics->rmse : metrics->accuracy);
    add_metric(grid, numbers ? metrics->deviance : metrics->auc);
    if (!numbers) add_interval(grid, metrics);
    if (!numbers) add_metric(grid, metrics->log_loss);
    tacit_status status = tacit_console_grid(console, grid, error);
    tacit_grid_free(grid);
    return status;
}

/* Of a model with terms, the file once more, with the subgroups of its rows. */
static tacit_status load_subgroups(tacit_schema **schema, tacit_dataset **rows, const tacit_model *model,
                                   const tacit_arguments *arguments, tacit_error *error) {
    const char *by = tacit_arguments_text(arguments, "by");
    tacit_load_options options = tacit_reading_options(arguments, NULL);
    options.of_model = true;
    if (by == NULL || model->schema->formula == NULL) return TACIT_OK;
    TACIT_TRY(tacit_schema_for_model(schema, model->schema, by, error));
    return tacit_dataset_load(rows, NULL, tacit_arguments_operand(arguments, "FILE"), *schema, &options,
                              error);
}

/* The report of the rows, as a study of method evaluate makes it of its parties'
 * (model/report/evaluation.h). */
static tacit_status make_report(tacit_report **out, const tacit_model_use *use,
                                const tacit_arguments *arguments, tacit_pool *pool, tacit_error *error) {
    const tacit_model *model = use->model;
    const char *thresholds = tacit_arguments_text(arguments, "thresholds");
    tacit_score_wishes wishes = tacit_score_wishes_usual();
    double given[TACIT_THRESHOLDS_MOST], *counts = NULL;
    tacit_schema *wider = NULL;
    tacit_dataset *counted = NULL;
    tacit_tally tally;
    tacit_status status;
    if (tacit_model_is_numeric(model) && model->family->response == TACIT_RESPONSE_TIME) /* the AUC is all */
        return tacit_report_create(out, "evaluate", false, (double)use->rows->rows, error);
    wishes.groups = (size_t)tacit_arguments_integer(arguments, "groups");
    if (thresholds != NULL) {
        TACIT_CHECK(tacit_thresholds_parse(thresholds, given, &wishes.threshold_count, error));
        wishes.thresholds = given;
    }
    TACIT_CHECK(load_subgroups(&wider, &counted, model, arguments, error));
    TACIT_CHECK(tacit_tally_create(&tally, wider != NULL ? wider : model->schema, model->classes,
                                   (size_t)tacit_arguments_integer(arguments, "cells"),
                                   tacit_arguments_text(arguments, "by"), error));
    counts = TACIT_NEW(double, tacit_tally_length(&tally));
    if (counts == NULL) TACIT_CHECK(tacit_fail_memory(error));
    const tacit_view rows = tacit_dataset_view(counted != NULL ? counted : use->rows);
    TACIT_CHECK(tacit_tally_add(&tally, model, &rows, pool, counts, error));
    TACIT_CHECK(tacit_evaluation_report(out, &tally, model, counts, 0, &wishes, error));
cleanup:
    free(counts);
    tacit_dataset_free(counted);
    tacit_schema_free(wider);
    return status;
}

/* The tables for people to read: curves are for drawing. */
static tacit_status print_tables(tacit_console *console, const tacit_report *report, tacit_error *error) {
    tacit_report some = *report;
    tacit_buffer text = TACIT_BUFFER_INIT;
    some.table = TACIT_NEW(tacit_report_table, report->tables + 1);
    if (some.table == NULL) return tacit_fail_memory(error);
    some.tables = some.facts = 0;
    for (size_t t = 0; t < report->tables; t++)
        if (strncmp(report->table[t].name, "roc", 3) != 0 &&
            strncmp(report->table[t].name, "threshold_", 10) != 0 &&
            strchr(report->table[t].name, '@') == NULL)
            some.table[some.tables++] = report->table[t];
    tacit_status status = tacit_report_print_text(&some, &text, error);
    if (status == TACIT_OK) tacit_console_print(console, "%s", tacit_buffer_text(&text));
    tacit_buffer_clear(&text);
    free(some.table);
    return status;
}

/* The report as a file of its own. Takes it, also on failure. */
static tacit_status save_report(tacit_report *report, const tacit_model_use *use, const char *path,
                                tacit_console *console, tacit_error *error) {
    const tacit_model *from = use->model;
    tacit_model *made = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_model_create_report(&made, report, from->features, from->classes, error));
    TACIT_CHECK(tacit_model_describe(made, &from->class_names, from->schema, error));
    snprintf(made->guarantee.method, sizeof made->guarantee.method, "evaluate");
    made->guarantee.parties = 1;
    tacit_guarantee_withdraw(&made->guarantee, "exact figures of the rows of one file");
    TACIT_CHECK(tacit_model_save(made, path, error));
    tacit_console_note(console, "wrote %s", path);
cleanup:
    tacit_model_free(made);
    return status;
}

static json_t *make_document(const tacit_model_use *use, const tacit_arguments *arguments,
                             const tacit_metrics *metrics, const tacit_report *report) {
    json_t *document = json_pack(
        "{s:o,s:o,s:I,s:o,s:o,s:[o,o],s:o,s:o,s:o}", "model",
        tacit_json_text(tacit_arguments_operand(arguments, "MODEL")), "file",
        tacit_json_text(tacit_arguments_operand(arguments, "FILE")), "n", (json_int_t)use->rows->rows,
        "accuracy", tacit_json_number(metrics->accuracy), "auc", tacit_json_number(metrics->auc),
        "auc_interval", tacit_json_number(metrics->auc_low), tacit_json_number(metrics->auc_high), "logloss",
        tacit_json_number(metrics->log_loss), "guarantee", tacit_guarantee_document(&use->model->guarantee),
        "report", tacit_report_to_json(report));
    if (document != NULL && tacit_model_is_numeric(use->model)) {
        json_object_set_new(document, "rmse", tacit_json_number(metrics->rmse));
        json_object_set_new(document, "deviance", tacit_json_number(metrics->deviance));
    }
    return document;
}

static tacit_status run_evaluate(const tacit_arguments *arguments, tacit_console *console,
                                 tacit_error *error) {
    const char *to = tacit_arguments_text(arguments, "out");
    tacit_model_use use = TACIT_MODEL_USE_INIT;
    tacit_pool *pool = NULL;
    tacit_report *report = NULL;
    tacit_metrics metrics;
    tacit_status status;
    TACIT_CHECK(tacit_model_use_load(&use, arguments, console, false, error));
    TACIT_CHECK(tacit_pool_create(&pool, 0, error));
    tacit_view rows = tacit_dataset_view(use.rows);
    TACIT_CHECK(tacit_model_evaluate(use.model, &rows, pool, &metrics, error));
    TACIT_CHECK(make_report(&report, &use, arguments, pool, error));
    TACIT_CHECK(print_metrics(console, use.rows->rows, &metrics, error));
    TACIT_CHECK(print_tables(console, report, error));
    print_guarantee(console, &use.model->guarantee);
    if (metrics.one_class)
        tacit_console_warn(console,
                           "every row gets the same class: accuracy is that class's share of the rows");
    TACIT_CHECK(tacit_console_document(console, make_document(&use, arguments, &metrics, report), error));
    if (to != NULL) {
        status = save_report(report, &use, to, console, error);
        report = NULL;
    }
cleanup:
    tacit_report_free(report);
    tacit_pool_free(pool);
    tacit_model_use_clear(&use);
    return status;
}

const tacit_command tacit_command_evaluate = {
    .name = "evaluate",
    .section = "Learning",
    .summary = "how good a model is on a file, and its guarantee",
    .description =
        "Rows are encoded by the schema inside the model. AUC, with DeLong's interval, applies to two "
        "classes only; a model of a numeric response has the root of the mean squared error and the mean "
        "deviance of a row instead.\n\n"
        "The tables are those of a study of method evaluate. For classes they come from counts of scores on "
        "a grid: AUC with its interval, Brier score, log-loss, calibration (intercept and slope of the "
        "outcome on the logit of the score, and groups of rows), and at thresholds sensitivity, specificity, "
        "predictive values and net benefit. grid_error is how far the figure can be from that of the scores "
        "themselves. More than two classes have accuracy, a table of rows by class and predicted class, and "
        "each class against all others; a number has R squared, mean squared and absolute error, and the "
        "line of the response on its prediction. The table roc, for drawing, is in --json and --out.",
    .operands =
        (const tacit_operand[]){
            { "MODEL", 1, 1, "a model as 'tacit fit', 'tacit simulate --out' or a study wrote it" },
            { "FILE", 1, 1, "rows with their labels: " TACIT_SOURCES_HELP },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            TACIT_OPTIONS_READING,
            { .name = "by",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "COLUMN",
              .help = "figures of each level of this category of the schema too" },
            { .name = "thresholds",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "T1,T2,...",
              .help = "scores from which a row counts as positive (0.05, and 0.1 to 0.9 by default)" },
            { .name = "groups",
              .kind = TACIT_OPTION_INTEGER,
              .placeholder = "N",
              .rules = TACIT_RULE_RANGE,
              .fallback = "10",
              .least = 1,
              .most = TACIT_CALIBRATION_GROUPS_MOST,
              .help = "groups of the calibration curve" },
            { .name = "cells",
              .kind = TACIT_OPTION_INTEGER,
              .placeholder = "N",
              .rules = TACIT_RULE_RANGE,
              .fallback = "1000",
              .least = 2,
              .most = TACIT_SCORE_CELLS_MOST,
              .help = "cells of the grid of scores" },
            { .name = "out",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "write the tables there as a report, for 'tacit card' and 'tacit summary'" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "See how a model does on rows it was not trained on.",
              "tacit evaluate model.json patients-2024.csv" },
            { "By sex, at two thresholds, kept for a model card.",
              "tacit evaluate model.json patients-2024.csv --by sex --thresholds 0.1,0.25 --out "
              "evaluation.json" },
            { .text = NULL },
        },
    .run = run_evaluate,
};
