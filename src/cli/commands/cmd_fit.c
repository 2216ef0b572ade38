/* tacit fit: release a private model of one's own rows. */
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "api/document/tables.h"
#include "api/fitting.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/ledger_use.h"
#include "cli/row_reading.h"
#include "model/one_sided.h"
#include "site/fit.h"

enum { MODEL_MODE = 0644 }; /* made to be shared */

/* Before anything is charged: is there a folder to write into? */
static tacit_status check_folder(const char *path, tacit_error *error) {
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX] = ".";
    if (slash != NULL) snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    return access(folder, W_OK) == 0 ? TACIT_OK : tacit_fail_errno(error, "writing into", folder);
}

/* What was charged stays charged: say how to get the model after all. */
static tacit_status write_model(const tacit_model *model, const char *path, tacit_error *error) {
    tacit_error why = TACIT_ERROR_INIT;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = tacit_model_print(model, &text, &why);
    if (status == TACIT_OK) status = tacit_file_write(path, text.bytes, text.length, MODEL_MODE, &why);
    tacit_buffer_clear(&text);
    if (status == TACIT_OK) return TACIT_OK;
    return tacit_fail(error, status,
                      "%s; the model is charged and kept in the ledger: the same command gives it again "
                      "without a second charge",
                      why.text);
}

static tacit_status report(tacit_console *console, const tacit_fit_result *result, const char *source,
                           const char *path, tacit_error *error) {
    const tacit_guarantee *guarantee = &result->model->guarantee;
    const tacit_account *account = &result->account;
    char price[TACIT_PRICE_TEXT_SIZE], remark[TACIT_REMARK_SIZE];
    tacit_console_print(console, "%s on %zu rows, %s; the model is in %s\n", guarantee->method, result->rows,
                        tacit_price_text(price, &guarantee->charged), path);
    if (result->persons > 0)
        tacit_console_print(console,
                            "a record is a person here: each of %zu is protected with all of their rows\n",
                            result->persons);
    if (result->left_out > 0 || result->filled > 0)
        tacit_console_note(
            console,
            "note: %llu incomplete %s left out and %llu missing %s filled, as the schema says; "
            "these numbers are for you, they were not released",
            (unsigned long long)result->left_out, tacit_plural(result->left_out, "row", "rows"),
            (unsigned long long)result->filled, tacit_plural(result->filled, "value", "values"));
    tacit_console_print(
        console, "%s: %s; of the limit, epsilon %g at delta %g per %s, epsilon %g is left\n", source,
        result->again ? "nothing was charged, because this model was released before" : "charged",
        account->limit_epsilon, account->limit_delta, tacit_unit_name(guarantee->charged.unit),
        tacit_remaining(account->spent_epsilon, account->limited, account->limit_epsilon));
    tacit_console_print(console, "lambda %g (%s)\n", guarantee->lambda,
                        tacit_lambda_from_name(guarantee->lambda_from));
    if (tacit_model_doubtful(result->model, remark)) tacit_console_warn(console, "%s", remark);
    json_t *document = json_pack(
        "{s:s,s:o,s:I,s:o,s:o,s:b,s:o,s:o,s:o,s:s}", "method", guarantee->method, "model",
        tacit_json_text(path), "rows", (json_int_t)result->rows, "charged",
        tacit_json_price(&guarantee->charged), "claimed", tacit_json_price(&guarantee->claimed), "again",
        result->again, "source", tacit_json_text(source), "account",
        tacit_account_document(account, NULL, guarantee->charged.unit), "lambda",
        tacit_json_number(guarantee->lambda), "lambda_from", tacit_lambda_from_name(guarantee->lambda_from));
    if (result->persons > 0)
        json_object_set_new(document, "persons", json_integer((json_int_t)result->persons));
    return tacit_console_document(console, document, error);
}

/* Without a ledger nothing is released. */
static void warn_of_overlaps(tacit_console *console, const tacit_fit_settings *settings,
                             const tacit_load_options *reading) {
    char ledger[PATH_MAX];
    const tacit_sketch_source about = { settings->home, settings->source, settings->data, NULL, reading };
    if (tacit_path_join(ledger, sizeof ledger, settings->home, TACIT_LEDGER_NAME, NULL) == TACIT_OK &&
        access(ledger, F_OK) == 0)
        tacit_overlaps_warn(console, &about);
}

static tacit_status run_fit(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *data = tacit_arguments_text(arguments, "train"),
               *given = tacit_arguments_text(arguments, "source"),
               *path = tacit_arguments_text(arguments, "out");
    const char *candidates = NULL;
    char home[PATH_MAX], source[PATH_MAX];
    tacit_load_options reading = tacit_reading_options(arguments, tacit_console_progress(console));
    tacit_fit_result result = TACIT_FIT_RESULT_INIT;
    tacit_plan plan;
    tacit_status status;
    TACIT_CHECK(tacit_fitting_plan(&plan, &candidates, arguments, error));
    TACIT_CHECK(check_folder(path, error));
    TACIT_CHECK(tacit_home_path(home, sizeof home, "", error));
    TACIT_CHECK(tacit_source_id(source, sizeof source, given != NULL ? given : data, error));
    TACIT_CHECK(tacit_source_check(source, error));
    tacit_fit_settings settings = { .home = home,
                                    .data = data,
                                    .schema = tacit_arguments_text(arguments, "schema"),
                                    .terms = tacit_arguments_text(arguments, "terms"),
                                    .subset = tacit_arguments_text(arguments, "subset"),
                                    .source = source,
                                    .label = reading.label,
                                    .positive = reading.positive,
                                    .no_header = reading.no_header,
                                    .candidates = candidates,
                                    .public_rows = tacit_arguments_text(arguments, "public"),
                                    .plan = &plan,
                                    .progress = tacit_console_progress(console) };
    warn_of_overlaps(console, &settings, &reading);
    TACIT_CHECK(tacit_fit(&result, &settings, error));
    TACIT_CHECK(write_model(result.model, path, error));
    TACIT_CHECK(report(console, &result, source, path, error));
cleanup:
    tacit_fit_result_clear(&result);
    return status;
}

const tacit_command tacit_command_fit = {
    .name = "fit",
    .section = "Learning",
    .summary = "release a private model of one's own rows",
    .description = "Fits a model to the rows, with noise that makes it differentially private for each of "
                   "them, charges the ledger of the data source, and writes the model with its guarantee "
                   "inside. This is a real release: the noise comes from the operating system and cannot be "
                   "repeated, and without a limit (tacit ledger limit) nothing is released.\n\n"
                   "The same command on the same rows gives the same model again and charges nothing. "
                   "Anything else, another epsilon or one row more, is a new release with its own charge. "
                   "Choose epsilon, lambda and the method on public or made-up rows: what is chosen by "
                   "looking at these rows tells about them, and nobody charges for it.",
    .options = tacit_fit_options,
    .examples =
        (const tacit_example[]){
            { "Allow a loss of 1 in all.", "tacit ledger limit --source patients.csv --epsilon 1" },
            { "Spend it.", "tacit fit --method plr --train patients.csv --schema patients.schema.yaml "
                           "--epsilon 1 --lambda 0.05" },
            { .text = NULL },
        },
    .run = run_fit,
};
