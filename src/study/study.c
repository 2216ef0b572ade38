/* A definition as a whole: read, made canonical, hashed. Its settings are lines of study_table.h. */
#include "study/study.h"

#include <limits.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "method/methods.h"
#include "study/study_parts.h"

tacit_study *tacit_study_free(tacit_study *study) {
    if (study == NULL) return NULL;
    tacit_condition_free(study->eligible); /* it looks into the schema */
    tacit_schema_free(study->schema);
    tacit_buffer_clear(&study->description);
    tacit_buffer_clear(&study->document);
    tacit_buffer_clear(&study->canonical);
    tacit_buffer_clear(&study->center_certificate);
    tacit_buffer_clear(&study->point_bytes);
    tacit_points_clear(&study->points);
    tacit_dataset_free(study->point_rows);
    for (size_t i = 0; i < study->instrument_count; i++) tacit_buffer_clear(&study->instruments[i]);
    free(study->instruments);
    tacit_model_free(study->model);
    tacit_buffer_clear(&study->model_text);
    free(study);
    return NULL;
}

bool study_is_plain_line(const char *text, size_t size) {
    static const char *const special[] = { "\"",     "\\",           "\u2028",      "\u2029",
                                           "\ufeff", "\xef\xbf\xbe", "\xef\xbf\xbf" };
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        if (strstr(text, special[i]) != NULL) return false;
    return tacit_name_check("text", text, size - 1, NULL) == TACIT_OK;
}

tacit_status study_find_file(reading *r, const yaml_node_t *node, const char *text, char path[PATH_MAX]) {
    if (r->folder == NULL)
        return tacit_yaml_fail(&r->yaml, node, r->error, "a study from elsewhere may not name a file");
    if (text[0] != '/') return tacit_path_join(path, PATH_MAX, r->folder, text, r->error);
    if (strlen(text) >= PATH_MAX) return tacit_fail(r->error, TACIT_LIMIT, "path too long: %s", text);
    memcpy(path, text, strlen(text) + 1);
    return TACIT_OK;
}

tacit_status study_fail_at(reading *r, const yaml_node_t *node, tacit_status status) {
    if (node == NULL) return tacit_fail_in(r->error, status, "%s", r->yaml.name);
    return tacit_fail_in(r->error, status, "%s:%zu", r->yaml.name, node->start_mark.line + 1);
}

/* A text of several lines is the schema itself; one line names its file. */
tacit_status study_read_schema(reading *r, const yaml_node_t *node) {
    const char *text;
    size_t length;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, "schema", &text, &length, r->error));
    char path[PATH_MAX] = "the study's schema";
    if (strchr(text, '\n') != NULL) {
        TACIT_TRY(tacit_schema_parse(&r->study->schema, text, length, path, r->error));
    } else {
        TACIT_TRY(study_find_file(r, node, text, path));
        TACIT_TRY(tacit_schema_load(&r->study->schema, path, r->error));
    }
    /* Everybody in the study, and whoever gets the model, would read it. */
    TACIT_TRY(tacit_fail_in(r->error, tacit_schema_check_public(r->study->schema, r->error), "%s", path));
    tacit_plan *plan = &r->study->plan;
    plan->schema = r->study->schema;
    plan->features = tacit_schema_features(plan->schema);
    plan->classes = plan->schema->classes.count;
    return TACIT_OK;
}

/* Terms and subset become part of the schema, and travel with it; `there`: it has some already. */
static tacit_status read_into_schema(reading *r, const yaml_node_t *node, const char *key, bool there,
                                     tacit_status (*set)(tacit_schema *, const char *, tacit_error *)) {
    const char *text;
    size_t length;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, key, &text, &length, r->error));
    if (there)
        return tacit_yaml_fail(
            &r->yaml, node, r->error,
            "the schema has '%s' already: write it in the study or in the schema, not in both", key);
    tacit_status status = set(r->study->schema, text, r->error);
    if (status != TACIT_OK) return study_fail_at(r, node, status == TACIT_USAGE ? TACIT_INPUT : status);
    r->study->plan.features = tacit_schema_features(r->study->schema);
    return TACIT_OK;
}

tacit_status study_read_terms(reading *r, const yaml_node_t *node) {
    return read_into_schema(r, node, "terms", r->study->schema->formula != NULL, tacit_schema_set_terms);
}

tacit_status study_read_subset(reading *r, const yaml_node_t *node) {
    return read_into_schema(r, node, "subset", r->study->schema->subset != NULL, tacit_schema_set_subset);
}

tacit_status study_print_subset(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    return study_print_terms(study, out, error);
}

tacit_status study_read_weights(reading *r, const yaml_node_t *node) {
    const char *text;
    size_t length;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, "weights", &text, &length, r->error));
    tacit_status status = tacit_schema_set_model(r->study->schema, NULL, text, r->error);
    if (status != TACIT_OK) return study_fail_at(r, node, status == TACIT_USAGE ? TACIT_INPUT : status);
    r->study->plan.features = tacit_schema_features(r->study->schema);
    return TACIT_OK;
}

tacit_status study_print_weights(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    return study_print_terms(study, out, error);
}

tacit_status study_print_terms(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    (void)study, (void)out, (void)error; /* the schema's text has them */
    return TACIT_OK;
}

tacit_status study_print_schema(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    tacit_buffer schema = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_buffer_print(out, error, "schema: |\n"));
    TACIT_CHECK(tacit_schema_canonical(study->schema, &schema, error));
    TACIT_CHECK(study_print_block(out, tacit_buffer_text(&schema), error));
cleanup:
    tacit_buffer_clear(&schema);
    return status;
}

/* Choose a lambda where the study is made and has none; the number then travels with it. A 0 that is said is
 * none, for methods that can do without. */
static tacit_status finish_plan(tacit_plan *plan, bool open, tacit_error *error) {
    bool chosen = plan->lambda == 0 &&
                  (!plan->method->lambda_may_vanish || (open && plan->method->choose_lambda != NULL));
    TACIT_TRY(tacit_methods_check(plan, error));
    if (chosen) plan->lambda = 1; /* any, so that all else is checked before a choice rests on it */
    TACIT_TRY(tacit_plan_check(plan, error));
    const tacit_method *method = plan->method;
    const char *why = method->undeployable_as != NULL ? method->undeployable_as(plan) : NULL;
    if (why != NULL)
        return tacit_fail(error, TACIT_REFUSED,
                          "method %s as set here cannot be deployed: %s (simulate it instead)", method->name,
                          why);
    if (!chosen) return TACIT_OK;
    plan->lambda = 0;
    TACIT_TRY(tacit_plan_choose_lambda(plan, error));
    return tacit_plan_check(plan, error);
}

static tacit_status read_study(reading *r) {
    const yaml_node_t *root = tacit_yaml_root(&r->yaml);
    if (root == NULL) return tacit_fail(r->error, TACIT_INPUT, "%s: the study is empty", r->yaml.name);
    TACIT_TRY(study_find_values(r, root));
    r->study->lambda_chosen = study_node(r, "lambda") == NULL;
    TACIT_TRY(study_read_stage(r, TACIT_STUDY_READ_FIRST));
    TACIT_TRY(study_read_stage(r, TACIT_STUDY_READ_STOP));
    TACIT_TRY(study_read_stage(r, TACIT_STUDY_READ_PARTIES));
    TACIT_TRY(study_check_sums(r));
    TACIT_TRY(study_check_neighbours(r));
    TACIT_TRY(study_read_graph(r));
    TACIT_TRY(study_read_stage(r, TACIT_STUDY_READ_SCHEMA));
    TACIT_TRY(study_read_stage(r, TACIT_STUDY_READ_POINTS));
    TACIT_TRY(study_take_model_terms(r));
    TACIT_TRY(study_check_stop(r));
    return tacit_fail_in(r->error, finish_plan(&r->study->plan, r->study->lambda_chosen, r->error), "%s",
                         r->yaml.name);
}

tacit_status tacit_study_next_look(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    tacit_study next = *study; /* shares all that it points to */
    next.stop.look++;
    return study_print_settings(&next, out, error);
}

static tacit_status settle_text(tacit_study *study, tacit_error *error) {
    tacit_buffer_clear(&study->canonical);
    TACIT_TRY(study_print_settings(study, &study->canonical, error));
    crypto_generichash(study->hash, sizeof study->hash, study->canonical.bytes, study->canonical.length, NULL,
                       0);
    return TACIT_OK;
}

tacit_status tacit_study_expect_rows(tacit_study *study, size_t rows, tacit_error *error) {
    tacit_plan *plan = &study->plan;
    if (study->expected_rows > 0 || rows < study->first_parties * plan->minimum_rows) return TACIT_OK;
    study->expected_rows = rows;
    plan->expected_rows = (size_t)((double)rows * (double)plan->parties / (double)study->first_parties);
    if (study->lambda_chosen) {
        plan->lambda = 0;
        TACIT_TRY(tacit_plan_choose_lambda(plan, error));
    }
    TACIT_TRY(tacit_plan_check(plan, error));
    return settle_text(study, error);
}

tacit_status tacit_study_set_lambda(tacit_study *study, double lambda, tacit_error *error) {
    study->plan.lambda = lambda;
    study->plan.lambda_from = TACIT_LAMBDA_PUBLIC;
    TACIT_TRY(tacit_plan_check(&study->plan, error));
    return settle_text(study, error);
}

tacit_status tacit_study_settle(tacit_study *study, tacit_error *error) {
    if (study->stop.target != TACIT_TARGET_NONE) return TACIT_OK; /* each look has rounds for its own rows */
    TACIT_TRY(tacit_plan_settle(&study->plan, error));
    return settle_text(study, error);
}

tacit_status tacit_study_set_keys(tacit_study *study, const uint8_t arms[TACIT_VRF_KEY_BYTES],
                                  const tacit_voprf_element *receipts, tacit_error *error) {
    study->arms.has_key = study->arms.count > 0;
    if (study->arms.has_key) memcpy(study->arms.key, arms, sizeof study->arms.key);
    study->has_receipts = study->compensation[0] != 0;
    if (study->has_receipts) memcpy(study->receipt_key, receipts->bytes, sizeof study->receipt_key);
    return settle_text(study, error);
}

static tacit_status parse(tacit_study **out, const char *text, size_t length, const char *name,
                          const char *folder, bool written, tacit_error *error) {
    reading r = { .folder = folder, .written = written, .study = TACIT_NEW(tacit_study, 1), .error = error };
    if (r.study == NULL) return tacit_fail_memory(error);
    tacit_status status = length <= TACIT_STUDY_BYTES_LIMIT
                              ? tacit_yaml_open(&r.yaml, text, length, name, error)
                              : tacit_fail(error, TACIT_INPUT,
                                           "%s: a definition of %zu bytes is longer than the %d that are "
                                           "read; a column of texts with hash: N needs no list of words",
                                           name, length, TACIT_STUDY_BYTES_LIMIT);
    if (status == TACIT_OK) {
        status = read_study(&r);
        tacit_yaml_close(&r.yaml);
    }
    if (status == TACIT_OK) status = settle_text(r.study, error);
    if (status != TACIT_OK) {
        tacit_study_free(r.study);
        return status;
    }
    *out = r.study;
    return TACIT_OK;
}

tacit_status tacit_study_parse(tacit_study **out, const char *text, size_t length, const char *name,
                               tacit_error *error) {
    return parse(out, text, length, name, NULL, false, error);
}

tacit_status tacit_study_compose(tacit_study **out, const char *text, size_t length, const char *name,
                                 tacit_error *error) {
    return parse(out, text, length, name, NULL, true, error);
}

tacit_status tacit_study_load(tacit_study **out, const char *path, tacit_error *error) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = slash != NULL ? (size_t)(slash - path) : 0;
    if (length >= sizeof folder) return tacit_fail(error, TACIT_LIMIT, "path too long: %s", path);
    if (slash != NULL)
        memcpy(folder, path, length);
    else
        folder[length++] = '.';
    folder[length] = 0;
    if (slash == path) memcpy(folder, "/", 2);
    tacit_buffer text = TACIT_BUFFER_LIMITED(TACIT_STUDY_BYTES_LIMIT);
    tacit_status status = tacit_file_read(path, &text, error);
    if (status == TACIT_OK)
        status = parse(out, tacit_buffer_text(&text), text.length, path, folder, true, error);
    tacit_buffer_clear(&text);
    return status;
}
