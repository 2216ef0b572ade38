#include "api/outputs.h"

#include <math.h>
#include <string.h>

#include "api/document/document.h"
#include "api/document/results.h"
#include "api/frame/frame.h"
#include "api/option/options.h"
#include "base/memory.h"
#include "model/export/export.h"

size_t tacit_model_outputs(const tacit_model *model) {
    if (model == NULL) return 0;
    return tacit_model_has_probabilities(model) ? model->classes : 1;
}

size_t tacit_model_columns(const tacit_model *model) {
    if (model == NULL) return 0;
    return model->schema != NULL ? frame_schema_columns(model->schema) : model->features;
}

void tacit_outputs_of(const tacit_model *model, const double *scores, double *out) {
    size_t each = tacit_model_scores_per_row(model);
    if (!tacit_model_has_probabilities(model)) {
        out[0] = scores[0];
    } else if (each == 1) {
        out[1] = 1 / (1 + exp(-scores[0]));
        out[0] = 1 / (1 + exp(scores[0])); /* not 1 - out[1], which would lose a small one */
    } else {
        double largest = scores[0], sum = 0;
        for (size_t k = 1; k < each; k++) largest = fmax(largest, scores[k]);
        for (size_t k = 0; k < each; k++) sum += out[k] = exp(scores[k] - largest);
        for (size_t k = 0; k < each; k++) out[k] /= sum;
    }
}

/* ---- predictions ---- */

enum { BLOCK_ROWS = 256 };

typedef struct predicting {
    const tacit_model *model;
    const tacit_frame *frame; /* NULL: rows are encoded */
    const frame_map *map;
    const tacit_rows *rows;
    double *raw, *encoded, *score; /* of each worker, blocks of rows */
    double *out;
    int32_t *labels;
    size_t each, outputs;
} predicting;

/* The scores of `count` rows become outputs and labels of rows from `first` on. */
static void finish(const predicting *all, const double *score, size_t first, size_t count) {
    bool numeric = tacit_model_is_numeric(all->model);
    for (size_t i = 0; i < count; i++) {
        const double *one = score + i * all->each;
        double *to = all->out != NULL ? all->out + (first + i) * all->outputs : NULL;
        if (to != NULL && numeric)
            to[0] = tacit_model_mean(all->model, one[0]);
        else if (to != NULL)
            tacit_outputs_of(all->model, one, to);
        if (all->labels != NULL) all->labels[first + i] = tacit_model_class(all->model, one);
    }
}

static tacit_status predict_blocks(void *context, size_t begin, size_t end, unsigned worker,
                                   tacit_error *error) {
    const predicting *all = context;
    double *score = all->score + worker * BLOCK_ROWS * all->each;
    for (size_t i = begin; i < end; i += BLOCK_ROWS) {
        size_t count = end - i < BLOCK_ROWS ? end - i : BLOCK_ROWS;
        tacit_rows block;
        if (all->rows != NULL) {
            block = tacit_rows_slice(all->rows, i, count);
        } else {
            double *raw = all->raw + worker * BLOCK_ROWS * all->map->columns;
            double *encoded = all->encoded + worker * BLOCK_ROWS * all->map->features;
            tacit_encode_counts adjusted = { 0 };
            TACIT_TRY(frame_gather(all->frame, i, count, raw, error));
            for (size_t r = 0; r < count; r++)
                (void)frame_map_row(all->map, raw + r * all->map->columns, encoded + r * all->map->features,
                                    &adjusted);
            TACIT_TRY(frame_check_complete(all->frame, all->map->schema, adjusted.missing, error));
            tacit_matrix matrix = { count, all->map->features, encoded };
            block = tacit_rows_of_matrix(&matrix);
        }
        TACIT_TRY(tacit_model_scores(all->model, &block, NULL, score, error));
        finish(all, score, i, count);
    }
    return TACIT_OK;
}

/* Rows of a file, and sparse rows that stay sparse, are encoded as a whole; others block by block. */
static tacit_status predict(predicting *all, const tacit_frame *frame, tacit_pool *pool, tacit_error *error) {
    const tacit_schema *schema = all->model->schema;
    const size_t workers = tacit_pool_threads(pool);
    tacit_dataset *whole = NULL;
    frame_map map = FRAME_MAP_INIT;
    tacit_rows rows;
    tacit_frame *table = NULL;
    tacit_status status = TACIT_OK;
    if (frame_needs_table(frame, schema)) {
        TACIT_CHECK(frame_as_table(&table, frame, schema, error));
        frame = table;
    }
    if (frame_has_source(frame) || (frame->kind == FRAME_SPARSE && schema->sparse > 0)) {
        TACIT_CHECK(frame_encode(&whole, frame, schema, NEED_ROWS, pool, error));
        rows = tacit_dataset_rows(whole);
        all->rows = &rows;
    } else {
        TACIT_CHECK(frame_map_create(&map, schema, frame, error));
        all->map = &map;
        all->frame = frame;
        all->raw = TACIT_NEW(double, workers *BLOCK_ROWS *map.columns);
        all->encoded = TACIT_NEW(double, workers *BLOCK_ROWS *map.features);
        if (all->raw == NULL || all->encoded == NULL) TACIT_CHECK(tacit_fail_memory(error));
    }
    all->score = TACIT_NEW(double, workers *BLOCK_ROWS * all->each);
    if (all->score == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(tacit_pool_for(pool, frame->rows, 0, predict_blocks, all, error));
cleanup:
    free(all->raw);
    free(all->encoded);
    free(all->score);
    frame_map_clear(&map);
    tacit_dataset_free(whole);
    tacit_frame_free(table);
    return status;
}

/* A model may have come from anywhere: how much it says is its own business, how much room there is the
 * caller's. */
static tacit_status check_room(const char *what, const void *room, size_t capacity, size_t rows, size_t each,
                               tacit_error *error) {
    if (room == NULL || rows == 0 || (each <= SIZE_MAX / rows && capacity >= rows * each)) return TACIT_OK;
    return tacit_fail(error, TACIT_LIMIT, "there is room for %zu %s, and the model has %zu times %zu",
                      capacity, what, rows, each);
}

tacit_status tacit_model_predict(double *scores, size_t score_capacity, int32_t *labels,
                                 size_t label_capacity, const tacit_model *model, const tacit_frame *frame,
                                 unsigned threads, tacit_error *error) {
    TACIT_TRY(tacit_require(model, "the model", error));
    TACIT_TRY(tacit_require(frame, "the frame", error));
    predicting all = { .model = model,
                       .out = scores,
                       .labels = labels,
                       .each = tacit_model_scores_per_row(model),
                       .outputs = tacit_model_outputs(model) };
    tacit_pool *pool = NULL;
    TACIT_TRY(tacit_model_check_predicts(model, error));
    if (model->schema == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "the model does not say how rows are encoded: it was saved without a schema");
    if (labels != NULL && tacit_model_is_numeric(model))
        return tacit_fail(error, TACIT_USAGE, "a model of a number has no classes: ask for scores alone");
    TACIT_TRY(check_room("scores", scores, score_capacity, frame->rows, all.outputs, error));
    TACIT_TRY(check_room("labels", labels, label_capacity, frame->rows, 1, error));
    TACIT_TRY(tacit_pool_create(&pool, threads, error));
    tacit_status status = predict(&all, frame, pool, error);
    tacit_pool_free(pool);
    return status;
}

/* ---- coefficients ---- */

/* score = sum_j w_j (scale_j x_j + shift_j) + w_b inside: the constant takes the shifts. */
static void to_columns(const double *weights, const tacit_feature *feature, size_t features, size_t columns,
                       bool intercept, double *out) {
    double constant = 0;
    for (size_t j = 0; j < columns; j++) {
        out[j] = weights[j] * feature[j].scale;
        constant += weights[j] * feature[j].shift;
    }
    if (intercept) constant += weights[features - 1] * feature[features - 1].scale;
    out[columns] = constant;
}

static tacit_status check_linear(const tacit_model *model, tacit_error *error) {
    const tacit_schema *schema = model->schema;
    TACIT_TRY(tacit_model_check_predicts(model, error));
    if (!tacit_model_is_linear(model))
        return tacit_fail(error, TACIT_USAGE, "the model is not linear: it has no coefficients of columns");
    if (schema == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "the model does not say how rows are encoded, so its columns are not known");
    for (size_t i = 0; i < schema->cols; i++)
        if (schema->columns[i].kind != TACIT_SCHEMA_NUMBER && schema->columns[i].kind != TACIT_SCHEMA_SKIP)
            return tacit_fail(error, TACIT_USAGE,
                              "column %.60s is no number: it has more than one coefficient",
                              schema->columns[i].name);
    for (size_t i = 0; i < schema->cols; i++)
        if (schema->columns[i].missing == TACIT_MISSING_INDICATOR)
            return tacit_fail(error, TACIT_USAGE,
                              "column %.60s has a coefficient more for missing values: see the table of "
                              "coefficients of the model",
                              schema->columns[i].name);
    return TACIT_OK;
}

/* Two classes with weights each: what tells the second from the first is one row, as of the logistic loss. */
static tacit_status pair_to_columns(const tacit_model *model, const tacit_feature *feature, size_t columns,
                                    double *out, tacit_error *error) {
    double *difference = TACIT_NEW(double, model->features);
    if (difference == NULL) return tacit_fail_memory(error);
    for (size_t j = 0; j < model->features; j++)
        difference[j] = model->weights[model->features + j] - model->weights[j];
    to_columns(difference, feature, model->features, columns, model->schema->intercept, out);
    free(difference);
    return TACIT_OK;
}

tacit_status tacit_model_coefficients(double *out, size_t capacity, const tacit_model *model,
                                      tacit_error *error) {
    TACIT_TRY(tacit_require(out, "where to put the coefficients", error));
    TACIT_TRY(tacit_require(model, "the model", error));
    TACIT_TRY(check_linear(model, error));
    const size_t columns = tacit_model_columns(model), each = tacit_model_scores_per_row(model);
    TACIT_TRY(check_room("coefficients", out, capacity, each == 2 ? 1 : each, columns + 1, error));
    tacit_feature *feature = TACIT_NEW(tacit_feature, model->features);
    if (feature == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_schema_linear(model->schema, feature, error);
    if (status == TACIT_OK && each == 2)
        status = pair_to_columns(model, feature, columns, out, error);
    else
        for (size_t k = 0; status == TACIT_OK && k < each; k++)
            to_columns(model->weights + k * model->features, feature, model->features, columns,
                       model->schema->intercept, out + k * (columns + 1));
    free(feature);
    return status;
}

/* ---- files and documents ---- */

/* Bytes of the form that `export` writes, with a NUL behind. */
static tacit_status exported(char **out, size_t *length, const tacit_model *model,
                             tacit_status export(const tacit_model *, tacit_buffer *, tacit_error *),
                             tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_status status = export(model, &bytes, error);
    if (status == TACIT_OK) status = tacit_bytes_copy(out, bytes.bytes, bytes.length, error);
    if (status == TACIT_OK) *length = bytes.length;
    tacit_buffer_clear(&bytes);
    return status;
}

tacit_status tacit_model_to_onnx(void **bytes, size_t *length, const tacit_model *model, tacit_error *error) {
    TACIT_TRY(tacit_require(bytes, "where to put the bytes", error));
    TACIT_TRY(tacit_require(length, "where to put the length", error));
    TACIT_TRY(tacit_require(model, "the model", error));
    char *copy = NULL;
    TACIT_TRY(exported(&copy, length, model, tacit_model_export_onnx, error));
    *bytes = copy;
    return TACIT_OK;
}

tacit_status tacit_model_to_pmml(char **xml, const tacit_model *model, tacit_error *error) {
    TACIT_TRY(tacit_require(xml, "where to put the document", error));
    TACIT_TRY(tacit_require(model, "the model", error));
    size_t length;
    return exported(xml, &length, model, tacit_model_export_pmml, error);
}

tacit_status tacit_model_to_json(char **json, const tacit_model *model, tacit_error *error) {
    TACIT_TRY(tacit_require(json, "where to put the document", error));
    TACIT_TRY(tacit_require(model, "the model", error));
    size_t length;
    return exported(json, &length, model, tacit_model_print, error);
}

tacit_status tacit_model_from_json(tacit_model **out, const char *json, size_t length, tacit_error *error) {
    TACIT_TRY(tacit_require(out, "where to put the result", error));
    TACIT_TRY(tacit_require(json, "the document", error));
    return tacit_model_parse(out, json, length, "the model", error);
}

static const char *kind_name(const tacit_model *model) {
    if (model->report != NULL) return "report";
    if (model->stack != NULL) return "stack";
    if (model->tree != NULL) return "tree";
    return model->network.layers > 0 ? "network" : "linear";
}

static json_t *names_document(const tacit_model *model) {
    json_t *names = json_array();
    const tacit_schema *schema = model->schema;
    if (schema == NULL || schema->sparse > 0) {
        json_decref(names);
        return json_null();
    }
    for (size_t i = 0; i < schema->cols; i++)
        if (schema->columns[i].kind != TACIT_SCHEMA_SKIP)
            names = tacit_json_append(names, tacit_json_text(schema->columns[i].name));
    return names;
}

tacit_status tacit_model_promise(tacit_promise *out, const tacit_model *model, tacit_error *error) {
    TACIT_TRY(tacit_require(out, "where to put the promise", error));
    TACIT_TRY(tacit_require(model, "the model", error));
    const tacit_guarantee *guarantee = &model->guarantee;
    tacit_promise promise = TACIT_PROMISE_INIT;
    promise.is_private = guarantee->is_private;
    promise.simulated = guarantee->noise == TACIT_NOISE_SIMULATED;
    promise.whole_party = guarantee->is_private && guarantee->charged.unit == TACIT_UNIT_PARTY;
    promise.epsilon = guarantee->is_private ? guarantee->charged.epsilon : INFINITY;
    promise.delta = guarantee->is_private ? guarantee->charged.delta : 1;
    return tacit_fill_sized(out, out->size, &promise, sizeof promise, sizeof promise, "TACIT_PROMISE_INIT",
                            error);
}

tacit_status tacit_model_document(char **json, const tacit_model *model, tacit_error *error) {
    TACIT_TRY(tacit_require(json, "where to put the document", error));
    TACIT_TRY(tacit_require(model, "the model", error));
    json_t *classes = json_array();
    for (size_t k = 0; k < model->class_names.count; k++)
        classes = tacit_json_append(classes, tacit_json_text(model->class_names.text[k]));
    json_t *document = json_pack(
        "{s:s,s:s,s:I,s:I,s:I,s:o,s:o,s:b,s:o}", "kind", kind_name(model), "loss", model->family->name,
        "features", (json_int_t)model->features, "columns", (json_int_t)tacit_model_columns(model), "outputs",
        (json_int_t)tacit_model_outputs(model), "names", names_document(model), "classes", classes,
        "probabilities", (int)tacit_model_has_probabilities(model), "guarantee",
        tacit_guarantee_document(&model->guarantee));
    if (document != NULL && model->estimates != NULL)
        json_object_set_new(document, "summary", tacit_summary_document(model));
    if (document != NULL && tacit_model_shown_report(model) != NULL)
        json_object_set_new(document, "report", tacit_report_document(model));
    return tacit_document_text(json, document, error);
}
