/* tacit fit: release a private model of one's own rows. */
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/ledger_use.h"
#include "cli/reading.h"
#include "data/text.h"
#include "method/methods.h"
#include "service/fit.h"

enum { MODEL_MODE = 0644 }; /* made to be shared */

static tacit_status read_plan(tacit_plan *out, const tacit_arguments *arguments, tacit_error *error) {
    size_t count = 0;
    const tacit_setting *settings = tacit_arguments_settings(arguments, "set", &count);
    *out = (tacit_plan){ .epsilon = tacit_arguments_number(arguments, "epsilon"),
                         .delta = tacit_arguments_number(arguments, "delta") };
    TACIT_TRY(tacit_method_require(&out->method, tacit_arguments_text(arguments, "method"), error));
    for (size_t i = 0; i < count; i++)
        TACIT_TRY(tacit_plan_set(out, settings[i].key, settings[i].value, error));
    return TACIT_OK;
}

/* "0.01", or "choose:0.1,0.01": *candidates is then what follows the colon. */
static tacit_status read_lambda(double *out, const char **candidates, const tacit_arguments *arguments,
                                tacit_error *error) {
    static const char choose[] = "choose:";
    const char *text = tacit_arguments_text(arguments, "lambda");
    if (strncmp(text, choose, sizeof choose - 1) == 0) {
        *candidates = text + sizeof choose - 1;
        return TACIT_OK;
    }
    if (!tacit_text_to_number(text, strlen(text), out) || !(*out > 0 && *out <= 1e6))
        return tacit_fail(error, TACIT_USAGE,
                          "--lambda is a number above 0, or choose:L1,L2,..., not '%.60s'", text);
    if (tacit_arguments_text(arguments, "public") != NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "--public is there to choose lambda on: give --lambda choose:L1,L2,...");
    return TACIT_OK;
}

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
    return tacit_fail(
        error, status,
        "%s; the model is charged and kept in the ledger: the same command gives it again without a "
        "second charge",
        why.text);
}

static json_t *price_document(const tacit_price *price) {
    return json_pack("{s:s,s:f,s:f}", "unit", tacit_unit_name(price->unit), "epsilon", price->epsilon,
                     "delta", price->delta);
}

static tacit_status report(tacit_console *console, const tacit_fit_result *result, const char *source,
                           const char *path, tacit_error *error) {
    const tacit_guarantee *guarantee = &result->model->guarantee;
    const tacit_account *account = &result->account;
    char price[TACIT_PRICE_TEXT_SIZE];
    tacit_console_print(console, "%s on %zu rows, %s; the model is in %s\n", guarantee->method, result->rows,
                        tacit_price_text(price, &guarantee->charged), path);
    tacit_console_print(
        console, "%s: %s; epsilon %g of %g and delta %g of %g are left per %s\n", source,
        result->again ? "nothing was charged, this model had been released before" : "charged",
        tacit_remaining(account->spent_epsilon, account->limited, account->limit_epsilon),
        account->limit_epsilon, tacit_remaining(account->spent_delta, account->limited, account->limit_delta),
        account->limit_delta, tacit_unit_name(guarantee->charged.unit));
    json_t *document = json_pack(
        "{s:s,s:o,s:I,s:o,s:o,s:b,s:o,s:o}", "method", guarantee->method, "model", tacit_json_text(path),
        "rows", (json_int_t)result->rows, "charged", price_document(&guarantee->charged), "claimed",
        price_document(&guarantee->claimed), "again", result->again, "source", tacit_json_text(source),
        "account", tacit_account_document(account, NULL, guarantee->charged.unit));
    return tacit_console_document(console, document, error);
}

static tacit_status run_fit(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *data = tacit_arguments_text(arguments, "train"),
               *given = tacit_arguments_text(arguments, "source"),
               *path = tacit_arguments_text(arguments, "out");
    const char *candidates = NULL;
    char home[PATH_MAX], source[PATH_MAX];
    tacit_load_options reading = tacit_reading_options(arguments, console);
    tacit_fit_result result = TACIT_FIT_RESULT_INIT;
    tacit_plan plan;
    tacit_status status;
    TACIT_CHECK(read_plan(&plan, arguments, error));
    TACIT_CHECK(read_lambda(&plan.lambda, &candidates, arguments, error));
    TACIT_CHECK(check_folder(path, error));
    TACIT_CHECK(tacit_home_path(home, sizeof home, "", error));
    TACIT_CHECK(tacit_source_id(source, sizeof source, given != NULL ? given : data, error));
    tacit_fit_settings settings = { .home = home,
                                    .data = data,
                                    .schema = tacit_arguments_text(arguments, "schema"),
                                    .source = source,
                                    .label = reading.label,
                                    .positive = reading.positive,
                                    .no_header = reading.no_header,
                                    .candidates = candidates,
                                    .public_rows = tacit_arguments_text(arguments, "public"),
                                    .plan = &plan,
                                    .progress = tacit_console_progress(console) };
    TACIT_CHECK(tacit_fit(&result, &settings, error));
    TACIT_CHECK(write_model(result.model, path, error));
    TACIT_CHECK(report(console, &result, source, path, error));
cleanup:
    tacit_fit_result_clear(&result);
    return status;
}

static const tacit_option options[] = {
    { .name = "method",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "NAME",
      .rules = TACIT_RULE_REQUIRED,
      .help = "output, plr, gop, pst-s or pst-f: see 'tacit explain'" },
    { .name = "train",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "FILE",
      .rules = TACIT_RULE_REQUIRED,
      .help = "the rows: CSV or LIBSVM, also compressed" },
    { .name = "schema",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "FILE",
      .rules = TACIT_RULE_REQUIRED,
      .help = "what is public about the columns, YAML: never taken from the rows" },
    { .name = "epsilon",
      .kind = TACIT_OPTION_NUMBER,
      .placeholder = "E",
      .rules = TACIT_RULE_REQUIRED | TACIT_RULE_RANGE | TACIT_RULE_ABOVE,
      .least = 0,
      .most = 1e6,
      .help = "the price per record" },
    { .name = "delta",
      .kind = TACIT_OPTION_NUMBER,
      .placeholder = "D",
      .fallback = "0",
      .rules = TACIT_RULE_RANGE | TACIT_RULE_BELOW,
      .least = 0,
      .most = 1,
      .help = "for gop, which needs one" },
    { .name = "lambda",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "L|choose:L1,L2,...",
      .fallback = "0.01",
      .help = "weight of the regulariser (lambda/2)|w|^2; or candidates, to choose among on public rows "
              "(--public), free, or on "
              "the private ones for a price of its own (--set select=private:E)" },
    { .name = "public",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "FILE",
      .help = "public rows with labels, to choose lambda on" },
    { .name = "set",
      .kind = TACIT_OPTION_SETTING,
      .placeholder = "NAME=VALUE",
      .help = "a setting of the method, see 'tacit methods'" },
    { .name = "out",
      .kind = TACIT_OPTION_FILE,
      .placeholder = "MODEL",
      .fallback = "model.json",
      .help = "where to write the model" },
    { .name = "source",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "NAME",
      .help = "the data source that is charged; the file of --train unless told" },
    TACIT_OPTIONS_READING,
    { .name = NULL },
};

const tacit_command tacit_command_fit = {
    .name = "fit",
    .section = "Learning",
    .summary = "release a private model of one's own rows",
    .description =
        "Fits a model to the rows, with noise that makes it differentially private for each of "
        "them, charges the ledger "
        "of the data source, and writes the model with its guarantee inside. This is a real "
        "release: the noise comes from "
        "the operating system and cannot be repeated, and without a limit (tacit ledger limit) "
        "nothing is released.\n\n"
        "The same command on the same rows gives the same model again and charges nothing. Anything else, "
        "another epsilon "
        "or one row more, is a new release with its own charge. Choose epsilon, lambda and the method on "
        "public or made-up "
        "rows: what is chosen by looking at these rows tells about them, and nobody charges for it.",
    .options = options,
    .examples =
        (const tacit_example[]){
            { "Allow a loss of 1 in all.", "tacit ledger limit --source patients.csv --epsilon 1" },
            { "Spend it.", "tacit fit --method plr --train patients.csv --schema patients.schema.yaml "
                           "--epsilon 1 --lambda "
                           "0.05" },
            { .text = NULL },
        },
    .run = run_fit,
};
