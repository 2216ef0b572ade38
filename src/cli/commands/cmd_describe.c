/* tacit describe: the table before any model, of one's own rows, and a schema from it. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/document/tables.h"
#include "api/option/run_options.h"
#include "base/file.h"
#include "base/number.h"
#include "cli/commands.h"
#include "cli/ledger_use.h"
#include "cli/print/runs.h"
#include "cli/row_reading.h"
#include "lab/simulate.h"
#include "model/report/report_schema.h"
#include "site/fit.h"

enum { REPORT_MODE = 0600, SETTINGS = 4 };

/* Settings of the method that were given as options. */
static size_t settings_of(const tacit_arguments *arguments, tacit_setting_value out[SETTINGS]) {
    static const char *const names[] = { "threshold", "by", "cross" };
    size_t count = 0;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *text = tacit_arguments_text(arguments, names[k]);
        if (text != NULL) out[count++] = (tacit_setting_value){ names[k], text };
    }
    return count;
}

/* The same code as in a study, over parties in this process. */
static tacit_status run_parties(tacit_model **out, const tacit_arguments *arguments, const char *method,
                                tacit_console *console, tacit_error *error) {
    tacit_load_options reading = tacit_reading_options(arguments, tacit_console_progress(console));
    bool private = tacit_arguments_given(arguments, "epsilon");
    double epsilon = private ? tacit_arguments_number(arguments, "epsilon") : INFINITY;
    uint64_t parties = tacit_arguments_integer(arguments, "parties");
    tacit_setting_value settings[SETTINGS];
    const tacit_method *methods[1];
    tacit_run runs[1] = { { .method = NULL } };
    tacit_schema *schema = NULL;
    tacit_dataset *rows = NULL;
    tacit_split *split = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_method_require(&methods[0], method, error));
    TACIT_CHECK(tacit_schema_load(&schema, tacit_arguments_text(arguments, "schema"), error));
    schema->rows = TACIT_ROWS_BOUND; /* columns are read back from rows, however models would shorten them */
    TACIT_CHECK(
        tacit_dataset_load(&rows, NULL, tacit_arguments_text(arguments, "data"), schema, &reading, error));
    if (rows->rows < parties)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "--parties: there are %zu rows for %llu parties",
                               rows->rows, (unsigned long long)parties));
    TACIT_CHECK(tacit_split_in_order(&split, parties, rows->rows, error));
    const tacit_simulation simulation = { .dataset = rows,
                                          .schema = schema,
                                          .split = split,
                                          .methods = methods,
                                          .method_count = 1,
                                          .epsilons = &epsilon,
                                          .epsilon_count = private,
                                          .delta = tacit_arguments_number(arguments, "delta"),
                                          .settings = settings,
                                          .setting_count = settings_of(arguments, settings),
                                          .trials = 1,
                                          .seed = tacit_run_options_seed(arguments) };
    TACIT_CHECK(tacit_simulate(&simulation, runs, out, error));
    TACIT_CHECK(tacit_model_describe(*out, &rows->classes, schema, error));
    tacit_guarantee_settle(&(*out)->guarantee, schema);
cleanup:
    tacit_split_free(split);
    tacit_dataset_free(rows);
    tacit_schema_free(schema);
    return status;
}

/* A release of one's own rows, charged to their ledger. */
static tacit_status run_release(tacit_model **out, const tacit_arguments *arguments, tacit_console *console,
                                tacit_error *error) {
    const char *data = tacit_arguments_text(arguments, "data"),
               *given = tacit_arguments_text(arguments, "source");
    tacit_load_options reading = tacit_reading_options(arguments, tacit_console_progress(console));
    tacit_fit_result result = TACIT_FIT_RESULT_INIT;
    tacit_setting_value settings[SETTINGS];
    size_t count = settings_of(arguments, settings);
    tacit_plan plan = { .epsilon = tacit_arguments_number(arguments, "epsilon"),
                        .delta = tacit_arguments_number(arguments, "delta") };
    char home[PATH_MAX], source[PATH_MAX];
    tacit_status status;
    TACIT_CHECK(tacit_method_require(&plan.method, "describe", error));
    TACIT_CHECK(tacit_plan_set(&plan, "noise", "party", error));
    for (size_t k = 0; k < count; k++)
        TACIT_CHECK(tacit_plan_set(&plan, settings[k].name, settings[k].value, error));
    TACIT_CHECK(tacit_home_path(home, sizeof home, "", error));
    TACIT_CHECK(tacit_source_id(source, sizeof source, given != NULL ? given : data, error));
    TACIT_CHECK(tacit_source_check(source, error));
    const tacit_fit_settings fit = { .home = home,
                                     .data = data,
                                     .schema = tacit_arguments_text(arguments, "schema"),
                                     .source = source,
                                     .label = reading.label,
                                     .positive = reading.positive,
                                     .no_header = reading.no_header,
                                     .plan = &plan,
                                     .progress = tacit_console_progress(console) };
    TACIT_CHECK(tacit_fit(&result, &fit, error));
    tacit_console_note(console, "%s: %s", source,
                       result.again ? "nothing was charged, because this was released before" : "charged");
    *out = result.model;
    result.model = NULL;
cleanup:
    tacit_fit_result_clear(&result);
    return status;
}

static tacit_status make_report(tacit_model **out, const tacit_arguments *arguments, tacit_console *console,
                                tacit_error *error) {
    const char *report = tacit_arguments_text(arguments, "report");
    bool private = tacit_arguments_given(arguments, "epsilon");
    if (report != NULL) {
        TACIT_TRY(tacit_model_load(out, report, error));
        if ((*out)->report != NULL) return TACIT_OK;
        return tacit_fail(error, TACIT_USAGE, "--report: %s is a model, not a report", report);
    }
    if (tacit_arguments_text(arguments, "data") == NULL || tacit_arguments_text(arguments, "schema") == NULL)
        return tacit_fail(error, TACIT_USAGE, "give --data and --schema, or --report");
    if (private && !tacit_arguments_given(arguments, "parties"))
        return run_release(out, arguments, console, error);
    return run_parties(out, arguments, private ? "describe" : "describe-exact", console, error);
}

static tacit_status write_schema(const tacit_model *model, const char *path, tacit_console *console,
                                 tacit_error *error) {
    tacit_buffer comment = TACIT_BUFFER_INIT;
    tacit_schema *schema = NULL;
    tacit_status status = tacit_schema_propose(&schema, model, &comment, error);
    if (status == TACIT_OK) status = tacit_schema_save(schema, tacit_buffer_text(&comment), path, error);
    if (status == TACIT_OK) tacit_console_note(console, "wrote %s", path);
    tacit_schema_free(schema);
    tacit_buffer_clear(&comment);
    return status;
}

static tacit_status write_report(const tacit_model *model, const char *path, tacit_console *console,
                                 tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = tacit_model_print(model, &text, error);
    if (status == TACIT_OK) status = tacit_file_write(path, text.bytes, text.length, REPORT_MODE, error);
    if (status == TACIT_OK) tacit_console_note(console, "wrote %s", path);
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status run_describe(const tacit_arguments *arguments, tacit_console *console,
                                 tacit_error *error) {
    const char *out = tacit_arguments_text(arguments, "out"),
               *schema = tacit_arguments_text(arguments, "propose-schema");
    tacit_model *model = NULL;
    tacit_status status;
    TACIT_CHECK(make_report(&model, arguments, console, error));
    TACIT_CHECK(tacit_report_show(console, model, tacit_arguments_text(arguments, "csv"), error));
    if (out != NULL) TACIT_CHECK(write_report(model, out, console, error));
    if (schema != NULL) TACIT_CHECK(write_schema(model, schema, console, error));
    TACIT_CHECK(tacit_console_document(console, tacit_report_document(model), error));
cleanup:
    tacit_model_free(model);
    return status;
}

const tacit_command tacit_command_describe = {
    .name = "describe",
    .section = "Learning",
    .summary = "the table before any model: means, quantiles, counts",
    .description =
        "Describes the columns of the schema: rows, missing cells, means and standard deviations, quantiles, "
        "histograms, counts of levels, and cross-tables with a chi-square test where asked.\n\n"
        "Without --epsilon the numbers are exact, for your own eyes. With it they are a release: noise makes "
        "all "
        "of them together differentially private for each row, the ledger of the data source is charged as "
        "by "
        "'tacit fit', and the standard error of the noise is beside each number. With --parties the rows are "
        "dealt out to simulated parties, as in a study with method describe or describe-exact, and nothing "
        "is "
        "charged or promised.\n\n"
        "--propose-schema writes a schema for the next study: bounds about where the values are, mean and sd "
        "to "
        "standardise by, rare levels joined. From a private report it costs nothing more; what comes from "
        "exact "
        "numbers is marked from: rows.",
    .options =
        (const tacit_option[]){
            { .name = "data",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "the rows: " TACIT_SOURCES_HELP },
            { .name = "schema",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "what is public about the columns, YAML" },
            { .name = "report",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "a report that was made before, by this command or a study, instead of rows" },
            { .name = "by",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "COLUMN",
              .help = "a category, or the label: everything by its levels too" },
            { .name = "cross",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "A*B,...",
              .help = "pairs of categories whose cross-tables are made" },
            { .name = "threshold",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "N",
              .help = "counts below it are left out; 10 by default" },
            { .name = "epsilon",
              .kind = TACIT_OPTION_NUMBER,
              .placeholder = "E",
              .rules = TACIT_RULE_RANGE | TACIT_RULE_ABOVE,
              .least = 0,
              .most = 1e6,
              .help = "the price per record; without it numbers are exact" },
            { .name = "delta",
              .kind = TACIT_OPTION_NUMBER,
              .placeholder = "D",
              .fallback = "0",
              .rules = TACIT_RULE_RANGE | TACIT_RULE_BELOW,
              .least = 0,
              .most = 1,
              .help = "with --epsilon: above 0" },
            { .name = "source",
              .kind = TACIT_OPTION_TEXT,
              .placeholder = "NAME",
              .help = "the data source as the ledger calls it; the file by default" },
            { .name = "parties",
              .kind = TACIT_OPTION_INTEGER,
              .placeholder = "M",
              .fallback = "1",
              .rules = TACIT_RULE_RANGE,
              .least = 1,
              .most = 20000,
              .help = "simulate this many parties" },
            TACIT_OPTION_SEED,
            TACIT_OPTIONS_READING,
            { .name = "out",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "write the report there, for 'tacit summary' and --report" },
            { .name = "csv",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "write the values there, a line each" },
            { .name = "propose-schema",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "write a schema made of the report there" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Look at your own rows.",
              "tacit describe --data patients.csv --schema patients.yaml --by outcome" },
            { "Release the table, and make a schema of it.",
              "tacit describe --data patients.csv --schema patients.yaml --epsilon 0.5 --delta 1e-5 --out "
              "report.json --propose-schema next.yaml" },
            { .text = NULL },
        },
    .run = run_describe,
};
