/* The public model that a study is about: a file that the definition names, then the model itself, as JSON in
 * ASCII, which nothing of YAML can change. */
#include <jansson.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "study/study_parts.h"

/* A definition must hold it, its schema once more, and the rest. */
enum { MODEL_MOST = 1 << 20 };

/* The same text for the same model, whoever prints it. */
static tacit_status print_model(const tacit_model *model, tacit_buffer *out, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    json_t *document = NULL;
    char *lines = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_model_print(model, &text, error));
    document = json_loadb((const char *)text.bytes, text.length, 0, NULL);
    if (document != NULL) lines = json_dumps(document, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
    if (lines == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(tacit_buffer_append(out, lines, strlen(lines), error));
cleanup:
    free(lines);
    json_decref(document);
    tacit_buffer_clear(&text);
    return status;
}

/* A text of several lines is the model itself; one line names its file. */
static tacit_status load_model(reading *r, const yaml_node_t *node) {
    tacit_study *study = r->study;
    const char *text;
    size_t length;
    char path[PATH_MAX] = "the study's model";
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, "model", &text, &length, r->error));
    if (strchr(text, '\n') != NULL) {
        TACIT_TRY(tacit_model_parse(&study->model, text, length, path, r->error));
    } else {
        TACIT_TRY(study_find_file(r, node, text, path));
        TACIT_TRY(tacit_model_load(&study->model, path, r->error));
    }
    TACIT_TRY(tacit_fail_in(r->error, tacit_model_check_predicts(study->model, r->error), "%s", path));
    TACIT_TRY(print_model(study->model, &study->model_text, r->error));
    if (study->model_text.length > MODEL_MOST)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "the model has %zu bytes, and a definition holds one of at most %d",
                               study->model_text.length, MODEL_MOST);
    crypto_generichash(study->model_hash, sizeof study->model_hash, study->model_text.bytes,
                       study->model_text.length, NULL, 0);
    study->plan.model = study->model;
    return TACIT_OK;
}

tacit_status study_read_model(reading *r, const yaml_node_t *node) {
    const tacit_method *method = r->study->plan.method;
    bool needed = tacit_plan_needs_model(&r->study->plan);
    if (node == NULL && needed)
        return tacit_fail(
            r->error, TACIT_USAGE,
            "%s:%zu: method %s needs the model that it is about: name its file with model: FILE",
            r->yaml.name, study_node(r, "method")->start_mark.line + 1, method->name);
    if (node == NULL) return TACIT_OK;
    if (!needed)
        return tacit_fail(r->error, TACIT_USAGE, "%s:%zu: method %s is about no model: leave model out",
                          r->yaml.name, node->start_mark.line + 1, method->name);
    return load_model(r, node);
}

tacit_status study_take_model_terms(reading *r) {
    tacit_study *study = r->study;
    tacit_plan *plan = &study->plan;
    const tacit_method *method = plan->method;
    if (!method->needs_model || study->model->schema == NULL) return TACIT_OK;
    const char *by = method->subgroups != NULL ? method->subgroups(plan) : NULL;
    TACIT_TRY(study_fail_at(r, study_node(r, "model"),
                            tacit_schema_take_model(study->schema, study->model->schema, by, r->error)));
    plan->features = tacit_schema_features(study->schema);
    return TACIT_OK;
}

tacit_status study_print_model(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    tacit_buffer copy = TACIT_BUFFER_INIT; /* with a NUL at its end */
    tacit_status status;
    if (study->model_text.length == 0) return TACIT_OK;
    TACIT_CHECK(tacit_buffer_append(&copy, study->model_text.bytes, study->model_text.length, error));
    TACIT_CHECK(tacit_buffer_print(out, error, "model: |2\n"));
    TACIT_CHECK(study_print_block(out, tacit_buffer_text(&copy), error));
cleanup:
    tacit_buffer_clear(&copy);
    return status;
}
