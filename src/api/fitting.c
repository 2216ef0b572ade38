#include "api/fitting.h"

#include <string.h>

#include "api/document/tables.h"
#include "api/frame/frame.h"
#include "api/option/run_options.h"
#include "base/memory.h"
#include "data/schema/text.h"
#include "method/methods.h"
#include "site/fit.h"

tacit_status tacit_training_plan(tacit_plan *plan, const tacit_arguments *arguments, tacit_error *error) {
    size_t count = 0;
    const tacit_setting *settings = tacit_arguments_settings(arguments, "set", &count);
    for (size_t i = 0; i < count; i++)
        TACIT_TRY(tacit_plan_set(plan, settings[i].key, settings[i].value, error));
    return TACIT_OK;
}

tacit_status tacit_methods_named(const tacit_method ***out, size_t *count, const tacit_arguments *arguments,
                                 const char *option, tacit_error *error) {
    size_t named = 0;
    const char *const *names = tacit_arguments_words(arguments, option, &named);
    const tacit_method **methods = TACIT_NEW(const tacit_method *, named);
    tacit_status status = methods != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t m = 0; m < named && status == TACIT_OK; m++)
        status = tacit_method_require(&methods[m], names[m], error);
    if (status != TACIT_OK) {
        free(methods);
        return status;
    }
    *out = methods;
    *count = named;
    return TACIT_OK;
}

tacit_status tacit_training_choices(tacit_setting_value **out, size_t *count,
                                    const tacit_arguments *arguments, tacit_error *error) {
    const tacit_setting *given = tacit_arguments_settings(arguments, "set", count);
    tacit_setting_value *choices = TACIT_NEW(tacit_setting_value, *count);
    if (choices == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < *count; i++) choices[i] = (tacit_setting_value){ given[i].key, given[i].value };
    *out = choices;
    return TACIT_OK;
}

static tacit_status read_plan(tacit_plan *out, const tacit_arguments *arguments, tacit_error *error) {
    *out = (tacit_plan){ .epsilon = tacit_arguments_number(arguments, "epsilon"),
                         .delta = tacit_arguments_number(arguments, "delta") };
    TACIT_TRY(tacit_method_require(&out->method, tacit_arguments_text(arguments, "method"), error));
    return tacit_training_plan(out, arguments, error);
}

/* "0.01", or "choose:0.1,0.01": *candidates is then what follows the colon. Left out: the method chooses from
 * public numbers. */
static tacit_status read_lambda(double *out, const char **candidates, const tacit_arguments *arguments,
                                tacit_error *error) {
    static const char choose[] = "choose:";
    const char *text = tacit_arguments_text(arguments, "lambda");
    if (text == NULL && tacit_arguments_text(arguments, "public") == NULL) return TACIT_OK;
    if (text == NULL) text = "";
    if (strncmp(text, choose, sizeof choose - 1) == 0) {
        *candidates = text + sizeof choose - 1;
        return TACIT_OK;
    }
    if (tacit_arguments_text(arguments, "public") != NULL)
        return tacit_fail(
            error, TACIT_USAGE,
            "the option 'public' is there to choose lambda on: give the option 'lambda=choose:L1,L2,...'");
    if (!tacit_text_to_number(text, strlen(text), out) || !(*out > 0 && *out <= 1e6))
        return tacit_fail(error, TACIT_USAGE,
                          "the option 'lambda' is a number above 0, or choose:L1,L2,..., not '%.60s'", text);
    return TACIT_OK;
}

tacit_status tacit_fitting_plan(tacit_plan *out, const char **candidates, const tacit_arguments *arguments,
                                tacit_error *error) {
    TACIT_TRY(read_plan(out, arguments, error));
    return read_lambda(&out->lambda, candidates, arguments, error);
}

/* ---- for programs ---- */

static const tacit_option more_options[] = { TACIT_OPTION_SEED, TACIT_OPTION_THREADS, { .name = NULL } };
static const char *const files[] = { "train", "schema",   "public",    "out", "source",
                                     "label", "positive", "no-header", NULL };
static const tacit_form fit_form = {
    .name = "fit", .options = tacit_fit_options, .more = more_options, .without = files
};

static tacit_status fit(tacit_model **out, const tacit_frame *frame, const tacit_arguments *arguments,
                        tacit_fit_job *job, tacit_error *error) {
    tacit_fit_result result = TACIT_FIT_RESULT_INIT;
    tacit_schema *drafted = NULL;
    tacit_dataset *rows = NULL;
    tacit_plan plan;
    tacit_status status;
    TACIT_CHECK(tacit_fitting_plan(&plan, &job->candidates, arguments, error));
    TACIT_CHECK(frame_schema_with(&drafted, frame, tacit_arguments_text(arguments, "terms"),
                                  tacit_arguments_text(arguments, "subset"), job->pool, error));
    job->schema = drafted != NULL ? drafted : frame->schema;
    TACIT_CHECK(frame_encode(&rows, frame, job->schema, NEED_LABELS, job->pool, error));
    job->rows = rows;
    job->plan = &plan;
    TACIT_CHECK(tacit_fit_rows(&result, job, error));
    *out = result.model;
    result.model = NULL;
cleanup:
    tacit_fit_result_clear(&result);
    tacit_dataset_free(rows);
    tacit_schema_free(drafted);
    return status;
}

tacit_status tacit_frame_fit(tacit_model **out, const tacit_frame *frame, const tacit_options *options,
                             tacit_ledger *ledger, const tacit_progress *progress, tacit_error *error) {
    TACIT_TRY(tacit_require(out, "where to put the result", error));
    TACIT_TRY(tacit_require(frame, "the frame", error));
    tacit_arguments *arguments = NULL;
    tacit_fit_job job = { .ledger = ledger, .progress = progress };
    tacit_status status;
    TACIT_CHECK(tacit_form_take(&arguments, &fit_form, options, error));
    job.simulated = tacit_arguments_given(arguments, "seed");
    if (job.simulated) job.seed = tacit_run_options_seed(arguments);
    TACIT_CHECK(tacit_pool_create(&job.pool, tacit_run_options_threads(arguments), error));
    TACIT_CHECK(fit(out, frame, arguments, &job, error));
cleanup:
    tacit_pool_free(job.pool);
    tacit_arguments_free(arguments);
    return status;
}
