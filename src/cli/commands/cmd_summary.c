/* tacit summary: the coefficients of a model with their standard errors, or the tables of a report. */
#include <string.h>

#include "api/option/arguments.h"
#include "cli/commands.h"
#include "cli/print/runs.h"
#include "lab/plot/charts.h"
#include "method/methods.h"

/* A report as a picture: the sites of a meta-analysis, or curves of survival. */
static tacit_status write_plot(const tacit_report *report, const char *path, tacit_console *console,
                               tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = strcmp(report->kind, "meta") == 0 ? tacit_forest_plot(report, &text, error)
                                                            : tacit_life_plot(report, &text, error);
    return tacit_console_finish_file(console, path, &text, status, error);
}

static tacit_status run_summary(const tacit_arguments *arguments, tacit_console *console,
                                tacit_error *error) {
    const char *path = tacit_arguments_operand(arguments, "MODEL");
    const char *plot = tacit_arguments_text(arguments, "plot");
    tacit_model *model = NULL;
    char others[TACIT_METHODS_TEXT];
    tacit_status status;
    TACIT_CHECK(tacit_model_load(&model, path, error));
    if (model->report != NULL) {
        if (plot != NULL) TACIT_CHECK(write_plot(model->report, plot, console, error));
        TACIT_CHECK(tacit_report_show(console, model, tacit_arguments_text(arguments, "csv"), error));
        TACIT_CHECK(tacit_console_document(console, tacit_report_document(model), error));
        goto cleanup;
    }
    if (tacit_arguments_text(arguments, "csv") != NULL)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "--csv: %s is a model; tables are in reports", path));
    if (plot != NULL)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "--plot: %s is a model; charts are of reports", path));
    if (tacit_model_shown_report(model) != NULL) {
        TACIT_CHECK(tacit_validation_print(console, model, error));
        TACIT_CHECK(tacit_console_document(console, tacit_report_document(model), error));
        goto cleanup;
    }
    if (model->estimates == NULL)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                               "%s was made by method %s, without standard errors; methods %s can have them",
                               path, model->guarantee.method[0] != 0 ? model->guarantee.method : "unknown",
                               tacit_methods_with("infers", "and", others)));
    TACIT_CHECK(tacit_summary_print(console, model, error));
    TACIT_CHECK(tacit_console_document(console, tacit_summary_document(model), error));
cleanup:
    tacit_model_free(model);
    return status;
}

const tacit_command tacit_command_summary = {
    .name = "summary",
    .section = "Learning",
    .summary = "coefficients as R's summary(glm) has them, or a report",
    .description =
        "For models of methods {infers and}. Coefficients are per unit of the raw column; those of a level "
        "are differences to the category's first level. Beside them: odds or rate ratios, Wald's test of "
        "each column as a whole with its variance inflation, likelihood, AIC, BIC and R squared. Residuals "
        "are not shown: they never left the parties. Where privacy noise is in the estimates (dpnewton with "
        "purpose=inference) errors and intervals include it, and its share of each variance is shown. Under "
        "the table: how imputed sets were pooled, and how many values were missing, where the schema says "
        "what becomes of them.\n\nOf a report, such as one of 'tacit describe', the tables are printed, and "
        "of a model without standard errors those of its cross-validation, where it was asked for (folds), "
        "and how many values were missing, where a private study counted it (missing_counts).",
    .operands =
        (const tacit_operand[]){
            { "MODEL", 1, 1, "a model as 'tacit fit', 'tacit simulate --out' or a study wrote it" },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            { .name = "csv",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "of a report: write its values there, a line each" },
            { .name = "plot",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE.svg",
              .help =
                  "of a report of survival: draw its curves there, with numbers at risk; of a meta-analysis "
                  "that shows its sites: a forest plot" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Fit over five simulated clinics and keep the model.",
              "tacit simulate --method estimate --train patients.csv --schema patients.yaml --parties 5 "
              "--out model.json" },
            { "Read it again.", "tacit summary model.json" },
            { .text = NULL },
        },
    .run = run_summary,
};
