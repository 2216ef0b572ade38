#include "api/document/results.h"

#include <math.h>

bool tacit_run_is_numeric(const tacit_run *run) { return !isnan(run->rmse.mean); }

static json_t *spread_document(const tacit_spread *spread) {
    if (isnan(spread->mean)) return json_null();
    return json_pack("{s:o,s:o}", "mean", tacit_json_number(spread->mean), "sd",
                     tacit_json_number(spread->sd));
}

static json_t *run_document(const tacit_run *run) {
    const tacit_price *charged = &run->charged, *claimed = &run->claimed;
    json_t *document = json_pack(
        "{s:s,s:o,s:o,s:o,s:I,s:o,s:o,s:o,s:{s:s,s:o,s:o},s:{s:o,s:o},s:f,s:I,s:I}", "method",
        run->method->name, "epsilon", tacit_json_number(run->epsilon), "delta", tacit_json_number(run->delta),
        "lambda", tacit_json_number(run->lambda), "trials", (json_int_t)run->trials, "accuracy",
        spread_document(&run->accuracy), "auc", spread_document(&run->auc), "logloss",
        spread_document(&run->log_loss), "charged", "unit", tacit_unit_name(charged->unit), "epsilon",
        tacit_json_number(charged->epsilon), "delta", tacit_json_number(charged->delta), "claimed", "epsilon",
        tacit_json_number(claimed->epsilon), "delta", tacit_json_number(claimed->delta), "seconds",
        run->seconds, "rounds", (json_int_t)run->rounds, "bytes_per_party", (json_int_t)run->bytes_per_party);
    if (document != NULL) {
        json_object_set_new(document, "noise_share",
                            run->noise_share > 0 ? json_real(run->noise_share) : json_null());
        json_object_set_new(document, "noise", run->noise != NULL ? json_string(run->noise) : json_null());
        json_object_set_new(document, "warning",
                            run->remark[0] != 0 ? json_string(run->remark) : json_null());
    }
    if (document != NULL && run->failed.status != TACIT_OK)
        json_object_set_new(document, "failed", tacit_json_text(run->failed.text));
    if (document != NULL)
        json_object_set_new(document, "lambda_from", json_string(tacit_lambda_from_name(run->lambda_from)));
    if (document != NULL && tacit_run_is_numeric(run)) {
        json_object_set_new(document, "rmse", spread_document(&run->rmse));
        json_object_set_new(document, "deviance", spread_document(&run->deviance));
    }
    return document;
}

json_t *tacit_runs_document(const tacit_run *runs, size_t count, uint64_t seed) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) list = tacit_json_append(list, run_document(&runs[i]));
    return json_pack("{s:o,s:I}", "runs", list, "seed", (json_int_t)seed);
}

json_t *tacit_summary_document(const tacit_model *model) {
    json_t *document = tacit_estimates_to_json(model->estimates);
    const tacit_guarantee *guarantee = &model->guarantee;
    if (document == NULL) return NULL;
    json_object_set_new(document, "ratios", tacit_ratios_document(model->estimates));
    json_object_set_new(document, "measures", tacit_measures_document(model->estimates));
    json_object_set_new(document, "parties", json_integer((json_int_t)guarantee->parties));
    json_object_set_new(document, "lambda", json_real(guarantee->lambda));
    json_object_set_new(document, "method", tacit_json_text(guarantee->method));
    json_object_set_new(document, "study",
                        guarantee->study[0] != 0 ? tacit_json_text(guarantee->study) : json_null());
    json_object_set_new(document, "private", json_boolean(guarantee->is_private));
    if (model->validation != NULL)
        json_object_set_new(document, "validation", tacit_report_to_json(model->validation));
    if (model->missing_counts != NULL)
        json_object_set_new(document, "missing_counts", tacit_report_to_json(model->missing_counts));
    return document;
}

static json_t *price_document(bool applies, const tacit_price *price) {
    return applies ? tacit_json_price(price) : json_null();
}

json_t *tacit_guarantee_document(const tacit_guarantee *guarantee) {
    bool is_private = guarantee->is_private;
    return json_pack(
        "{s:o,s:o,s:b,s:o,s:o,s:o,s:s,s:I,s:o,s:s}", "method", tacit_json_text(guarantee->method), "study",
        guarantee->study[0] != 0 ? tacit_json_text(guarantee->study) : json_null(), "private", is_private,
        "reason", guarantee->reason[0] != 0 ? tacit_json_text(guarantee->reason) : json_null(), "charged",
        price_document(is_private, &guarantee->charged), "claimed",
        price_document(is_private, &guarantee->claimed), "noise", tacit_noise_name(guarantee->noise),
        "parties", (json_int_t)guarantee->parties, "lambda", tacit_json_number(guarantee->lambda),
        "lambda_from", tacit_lambda_from_name(guarantee->lambda_from));
}

const tacit_report *tacit_model_shown_report(const tacit_model *model) {
    if (model->report != NULL) return model->report;
    if (model->estimates != NULL) return NULL;
    return model->validation != NULL ? model->validation : model->missing_counts;
}

json_t *tacit_report_document(const tacit_model *model) {
    const tacit_report *shown = tacit_model_shown_report(model);
    json_t *document = tacit_report_to_json(shown);
    if (document != NULL && model->missing_counts != NULL && shown != model->missing_counts)
        json_object_set_new(document, "missing_counts", tacit_report_to_json(model->missing_counts));
    if (document != NULL &&
        json_object_set_new(document, "guarantee", tacit_guarantee_document(&model->guarantee)) == 0)
        return document;
    json_decref(document);
    return NULL;
}
