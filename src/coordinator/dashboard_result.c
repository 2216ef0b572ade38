#include "coordinator/dashboard_parts.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "coordinator/coordinator.h"
#include "data/measure/metrics.h"
#include "data/reading/load.h"
#include "model/model.h"
#include "study/json_value.h"

enum { WEIGHTS_MOST = 4000, CURVE_MOST = 400 };

/* ---- coefficients and weights ---- */

/* [{"name", "values"}]: a feature, with its weight for each class that has one; null for very many, or
 * without a schema. */
static json_t *weights_document(const tacit_model *model) {
    size_t size = tacit_model_size(model), rows = model->features > 0 ? size / model->features : 0;
    char **names = NULL;
    if (model->schema == NULL || size == 0 || size > WEIGHTS_MOST ||
        tacit_schema_features(model->schema) != model->features)
        return json_null();
    if (tacit_schema_feature_names(&names, model->schema, NULL) != TACIT_OK) return NULL;
    json_t *list = json_array();
    for (size_t j = 0; j < model->features; j++) {
        json_t *values = json_array();
        for (size_t k = 0; k < rows; k++)
            values = tacit_json_append(values, tacit_json_number(model->weights[k * model->features + j]));
        list = tacit_json_append(list, json_pack("{s:s,s:o}", "name", names[j], "values", values));
    }
    tacit_feature_names_free(names, model->features);
    return list;
}

/* What exp(coefficient) is called, as the family's link says; null where it means nothing. */
static json_t *ratio_document(const json_t *estimates) {
    const char *name = json_string_value(json_object_get(estimates, "family"));
    const tacit_family *family = name != NULL ? tacit_family_find(name) : NULL;
    const char *link = family != NULL && family->r_link != NULL ? family->r_link : "";
    return strcmp(link, "logit") == 0 ? json_string("odds ratio")
           : strcmp(link, "log") == 0 ? json_string("rate ratio")
                                      : json_null();
}

tacit_status dashboard_result(const tacit_buffer *bytes, const char *name, json_t **out, tacit_error *error) {
    tacit_model *model = NULL;
    TACIT_TRY(tacit_model_parse(&model, bytes->bytes, bytes->length, name, error));
    json_t *file = json_loadb(tacit_buffer_text(bytes), bytes->length, 0, NULL);
    json_t *estimates = json_object_get(file, "estimates"), *report = json_object_get(file, "report"),
           *validation = json_object_get(file, "validation"),
           *missing = json_object_get(file, "missing_counts");
    *out = json_pack("{s:O,s:O,s:O,s:O,s:O,s:o,s:o}", "loss", json_object_get(file, "loss"), "class_names",
                     json_object_get(file, "class_names"), "guarantee", json_object_get(file, "guarantee"),
                     "estimates", estimates != NULL ? estimates : json_null(), "report",
                     report != NULL ? report : json_null(), "weights", weights_document(model), "ratio",
                     ratio_document(estimates));
    if (*out != NULL && validation != NULL) json_object_set(*out, "validation", validation);
    if (*out != NULL && missing != NULL) json_object_set(*out, "missing_counts", missing);
    json_decref(file);
    tacit_model_free(model);
    return *out != NULL ? TACIT_OK : tacit_fail_memory(error);
}

/* ---- the curve ---- */

static json_t *points_document(const tacit_roc_point *points, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        list = tacit_json_append(list, json_pack("[o,o]", tacit_json_number(points[i].negatives),
                                                 tacit_json_number(points[i].positives)));
    return list;
}

static tacit_status draw(const tacit_model *model, const tacit_dataset *rows, json_t **out,
                         tacit_error *error) {
    static const double CONFIDENCE = 0.95;
    tacit_view view = tacit_dataset_view(rows);
    tacit_auc_estimate auc;
    tacit_roc_point *points = NULL;
    size_t count = 0;
    double *scores = TACIT_NEW(double, rows->rows);
    tacit_status status = scores != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    TACIT_CHECK(tacit_model_scores(model, &view.rows, NULL, scores, error));
    TACIT_CHECK(tacit_auc_interval(&auc, rows->label, scores, rows->rows, CONFIDENCE, error));
    TACIT_CHECK(tacit_roc(&points, &count, rows->label, scores, rows->rows, CURVE_MOST, error));
    *out = json_pack("{s:I,s:o,s:o,s:o,s:o,s:o}", "rows", (json_int_t)rows->rows, "auc",
                     tacit_json_number(auc.area), "low", tacit_json_number(auc.low), "high",
                     tacit_json_number(auc.high), "level", tacit_json_number(CONFIDENCE), "points",
                     points_document(points, count));
    if (*out == NULL) status = tacit_fail_memory(error);
cleanup:
    free(points);
    free(scores);
    return status;
}

tacit_status dashboard_curve(const char *test, const tacit_buffer *bytes, const char *name, json_t **out,
                             tacit_error *error) {
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    tacit_model *model = NULL;
    tacit_dataset *rows = NULL;
    tacit_status status;
    *out = NULL;
    TACIT_CHECK(tacit_model_parse(&model, bytes->bytes, bytes->length, name, error));
    if (test == NULL || model->schema == NULL || model->report != NULL || tacit_model_is_numeric(model) ||
        model->class_names.count != 2 || tacit_model_scores_per_row(model) != 1) {
        *out = json_pack("{s:i,s:n,s:[]}", "rows", 0, "auc", "points");
        if (*out == NULL) status = tacit_fail_memory(error);
        goto cleanup;
    }
    TACIT_CHECK(tacit_dataset_load(&rows, NULL, test, model->schema, &options, error));
    TACIT_CHECK(draw(model, rows, out, error));
cleanup:
    tacit_dataset_free(rows);
    tacit_model_free(model);
    return status;
}

/* ---- the target ---- */

/* What a look found, from its file; NULL: it is not over, or cannot be read. */
static json_t *look_document(const char *folder, const tacit_study *study, size_t look) {
    char path[PATH_MAX];
    tacit_model *model = NULL;
    tacit_stop_verdict verdict;
    json_t *found = NULL;
    if (tacit_coordinator_look_path(folder, study->name, look, path, sizeof path, NULL) == TACIT_OK &&
        tacit_model_load(&model, path, NULL) == TACIT_OK &&
        tacit_stop_judge(&verdict, &study->stop, model->estimates, NULL) == TACIT_OK)
        found =
            json_pack("{s:I,s:I,s:o,s:o,s:b}", "look", (json_int_t)look, "parties",
                      (json_int_t)model->guarantee.parties, "rows", tacit_json_number(model->estimates->rows),
                      "value", tacit_json_number(verdict.value), "met", (int)verdict.met);
    tacit_model_free(model);
    return found;
}

json_t *dashboard_target(const char *folder, const tacit_study *study, bool ended) {
    static const char *const names[] = { "none", "se", "width", "power" };
    const tacit_stop *stop = &study->stop;
    if (stop->target == TACIT_TARGET_NONE) return json_null();
    json_t *looks = json_array();
    for (size_t look = 1; look < stop->look + (ended ? 1 : 0); look++) {
        json_t *found = look_document(folder, study, look);
        if (found != NULL) looks = tacit_json_append(looks, found);
    }
    return json_pack("{s:s,s:s,s:o,s:o,s:I,s:I,s:o}", "kind", names[stop->target], "column", stop->column,
                     "limit", tacit_json_number(stop->limit), "effect",
                     stop->target == TACIT_TARGET_POWER ? tacit_json_number(stop->effect) : json_null(),
                     "look", (json_int_t)stop->look, "looks", (json_int_t)stop->looks, "found", looks);
}
