/* tacit evaluate: how good a model is on a file, and what it was promised under. */
#include <math.h>

#include "api/results.h"
#include "cli/commands.h"
#include "cli/model_use.h"
#include "cli/row_reading.h"
#include "data/text.h"

static void print_guarantee(tacit_console *console, const tacit_guarantee *guarantee) {
    char text[TACIT_PRICE_TEXT_SIZE];
    tacit_console_print(console, "\nmade by %s",
                        guarantee->method[0] != 0 ? guarantee->method : "an unnamed method");
    if (guarantee->study[0] != 0) tacit_console_print(console, " in study %s", guarantee->study);
    if (guarantee->parties > 0)
        tacit_console_print(console, " over %zu %s", guarantee->parties,
                            tacit_plural(guarantee->parties, "party", "parties"));
    tacit_console_print(console, ", lambda %g\n", guarantee->lambda);
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

static tacit_status run_evaluate(const tacit_arguments *arguments, tacit_console *console,
                                 tacit_error *error) {
    tacit_model_use use = TACIT_MODEL_USE_INIT;
    tacit_pool *pool = NULL;
    tacit_metrics metrics;
    tacit_status status;
    TACIT_CHECK(tacit_model_use_load(&use, arguments, console, false, error));
    TACIT_CHECK(tacit_pool_create(&pool, 0, error));
    tacit_view rows = tacit_dataset_view(use.rows);
    TACIT_CHECK(tacit_model_evaluate(use.model, &rows, pool, &metrics, error));
    TACIT_CHECK(print_metrics(console, use.rows->rows, &metrics, error));
    print_guarantee(console, &use.model->guarantee);
    json_t *document = json_pack(
        "{s:o,s:o,s:I,s:o,s:o,s:[o,o],s:o,s:o}", "model",
        tacit_json_text(tacit_arguments_operand(arguments, "MODEL")), "file",
        tacit_json_text(tacit_arguments_operand(arguments, "FILE")), "n", (json_int_t)use.rows->rows,
        "accuracy", tacit_json_number(metrics.accuracy), "auc", tacit_json_number(metrics.auc),
        "auc_interval", tacit_json_number(metrics.auc_low), tacit_json_number(metrics.auc_high), "logloss",
        tacit_json_number(metrics.log_loss), "guarantee", tacit_guarantee_document(&use.model->guarantee));
    if (document != NULL && tacit_model_is_numeric(use.model)) {
        json_object_set_new(document, "rmse", tacit_json_number(metrics.rmse));
        json_object_set_new(document, "deviance", tacit_json_number(metrics.deviance));
    }
    TACIT_CHECK(tacit_console_document(console, document, error));
cleanup:
    tacit_pool_free(pool);
    tacit_model_use_clear(&use);
    return status;
}

const tacit_command tacit_command_evaluate = {
    .name = "evaluate",
    .section = "Learning",
    .summary = "how good a model is on a file, and its guarantee",
    .description = "Rows are encoded by the schema inside the model. AUC, with DeLong's interval, applies to "
                   "two classes only; a model of a numeric response has the root of the mean squared error "
                   "and the mean deviance of a row instead.",
    .operands =
        (const tacit_operand[]){
            { "MODEL", 1, 1, "a model as 'tacit fit', 'tacit simulate --out' or a study wrote it" },
            { "FILE", 1, 1, "rows with their labels: " TACIT_SOURCES_HELP },
            { .name = NULL },
        },
    .options = (const tacit_option[]){ TACIT_OPTIONS_READING, { .name = NULL } },
    .examples =
        (const tacit_example[]){
            { "See how a model does on rows it was not trained on.",
              "tacit evaluate model.json patients-2024.csv" },
            { .text = NULL },
        },
    .run = run_evaluate,
};
