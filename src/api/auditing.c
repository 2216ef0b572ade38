#include "api/auditing.h"

#include "api/document/document.h"
#include "api/document/tables.h"
#include "api/fitting.h"
#include "api/option/run_options.h"
#include "base/memory.h"

static tacit_status read_audit(tacit_audit *out, tacit_setting_value **settings,
                               const tacit_arguments *arguments, tacit_error *error) {
    *out = (tacit_audit){
        .setup = { .epsilon = tacit_arguments_number(arguments, "epsilon"),
                   .delta = tacit_arguments_number(arguments, "delta"),
                   .lambda = tacit_arguments_given(arguments, "lambda")
                                 ? tacit_arguments_number(arguments, "lambda")
                                 : 0,
                   .exactly = tacit_arguments_flag(arguments, "exact") },
        .search = (size_t)tacit_arguments_integer(arguments, "search"),
        .runs = (size_t)tacit_arguments_integer(arguments, "runs"),
        .confidence = tacit_arguments_number(arguments, "confidence"),
        .seed = tacit_run_options_seed(arguments),
    };
    TACIT_TRY(tacit_auditable_require(&out->subject, tacit_arguments_operand(arguments, "METHOD"), error));
    TACIT_TRY(tacit_training_choices(settings, &out->setup.setting_count, arguments, error));
    out->setup.settings = *settings;
    return TACIT_OK;
}

const char *tacit_auditing_verdict(const tacit_audit_result *result) {
    return result->broken ? "broken" : "holds";
}

json_t *tacit_auditing_document(const tacit_auditing *auditing) {
    const tacit_audit *audit = &auditing->audit;
    const tacit_audit_result *result = &auditing->result;
    return json_pack("{s:s,s:o,s:o,s:s,s:o,s:o,s:I,s:s,s:s,s:o,s:I,s:b,s:I,s:[I,I]}", "method",
                     audit->subject->name, "epsilon", tacit_json_number(result->charged.epsilon), "delta",
                     tacit_json_number(result->charged.delta), "unit", tacit_unit_name(result->charged.unit),
                     "epsilon_lower", tacit_json_number(result->epsilon_lower), "confidence",
                     tacit_json_number(audit->confidence), "runs", (json_int_t)audit->runs, "verdict",
                     tacit_auditing_verdict(result), "pair", result->pair, "reach",
                     tacit_json_number(result->reach), "seed", (json_int_t)audit->seed, "exact",
                     (int)audit->setup.exactly, "searched", (json_int_t)result->searched, "aborted",
                     (json_int_t)result->aborted[0], (json_int_t)result->aborted[1]);
}

tacit_status tacit_auditing_run(tacit_auditing *out, const tacit_arguments *arguments,
                                const tacit_progress *progress, tacit_error *error) {
    tacit_pool *pool = NULL;
    TACIT_TRY(read_audit(&out->audit, &out->settings, arguments, error));
    TACIT_TRY(tacit_pool_create(&pool, tacit_run_options_threads(arguments), error));
    out->audit.pool = pool;
    out->audit.progress = progress;
    tacit_status status = tacit_audit_run(&out->result, &out->audit, error);
    out->audit.pool = tacit_pool_free(pool);
    return status;
}

void tacit_auditing_clear(tacit_auditing *auditing) {
    free(auditing->settings);
    *auditing = (tacit_auditing)TACIT_AUDITING_INIT;
}

tacit_status tacit_audit_document(char **json, const tacit_options *options, const tacit_progress *progress,
                                  tacit_error *error) {
    TACIT_TRY(tacit_require(json, "where to put the document", error));
    static const tacit_form form = { .name = "audit",
                                     .operands = tacit_audit_operands,
                                     .options = tacit_audit_options };
    tacit_arguments *arguments = NULL;
    tacit_auditing all = TACIT_AUDITING_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_form_take(&arguments, &form, options, error));
    TACIT_CHECK(tacit_auditing_run(&all, arguments, progress, error));
    TACIT_CHECK(tacit_document_text(json, tacit_auditing_document(&all), error));
cleanup:
    tacit_auditing_clear(&all);
    tacit_arguments_free(arguments);
    return status;
}
