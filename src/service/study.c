#include "service/study.h"

#include <limits.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/text.h"
#include "data/yaml.h"

enum { NAME, TITLE, METHOD, SET, EPSILON, DELTA, LAMBDA, PARTIES, ROWS, PATIENCE, SCHEMA, KEYS };
static const char *const keys[KEYS] = { "name",   "title",   "method",       "set",      "epsilon", "delta",
                                        "lambda", "parties", "minimum_rows", "patience", "schema" };

typedef struct reading {
    tacit_yaml yaml;
    const char *folder; /* where a schema file is looked for; NULL: none may be named */
    tacit_study *study;
    tacit_error *error;
} reading;

tacit_study *tacit_study_free(tacit_study *study) {
    if (study == NULL) return NULL;
    tacit_schema_free(study->schema);
    tacit_buffer_clear(&study->canonical);
    free(study);
    return NULL;
}

static tacit_status read_name(reading *r, const yaml_node_t *node) {
    const char *text;
    size_t length;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, "name", &text, &length, r->error));
    if (length > 40 || strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") != length || text[0] == '-')
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "name must be 1 to 40 of a-z, 0-9 and -, e.g. breast-cancer");
    memcpy(r->study->name, text, length + 1);
    memcpy(r->study->plan.study, text, length + 1);
    return TACIT_OK;
}

/* The canonical text holds the title as it is between quotes, so nothing may need an escape there: no control
 * characters, and none of the characters that YAML takes for a line break or a byte order mark, or does not
 * allow. */
static bool is_plain_line(const char *text) {
    static const char *const special[] = { "\"",     "\\",           "\u2028",      "\u2029",
                                           "\ufeff", "\xef\xbf\xbe", "\xef\xbf\xbf" };
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        if (strstr(text, special[i]) != NULL) return false;
    return tacit_name_check("title", text, TACIT_TITLE_SIZE - 1, NULL) == TACIT_OK;
}

static tacit_status read_title(reading *r, const yaml_node_t *node) {
    const char *text;
    size_t length;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, "title", &text, &length, r->error));
    if (!is_plain_line(text))
        return tacit_yaml_fail(
            &r->yaml, node, r->error,
            "title must be one line of fewer than %d bytes without quotes, backslashes and control "
            "characters",
            TACIT_TITLE_SIZE);
    memcpy(r->study->title, text, length + 1);
    return TACIT_OK;
}

static tacit_status read_method(reading *r, const yaml_node_t *node) {
    const char *text;
    size_t length;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, "method", &text, &length, r->error));
    tacit_status status = tacit_method_require(&r->study->plan.method, text, r->error);
    if (status != TACIT_OK)
        return tacit_fail_in(r->error, status, "%s:%zu", r->yaml.name, node->start_mark.line + 1);
    const tacit_method *method = r->study->plan.method;
    if (method->undeployable != NULL)
        return tacit_fail(r->error, TACIT_REFUSED,
                          "%s:%zu: method %s cannot be deployed: %s (simulate it instead)", r->yaml.name,
                          node->start_mark.line + 1, method->name, method->undeployable);
    return TACIT_OK;
}

/* A study can never make a party run code, in whatever setting it asks for it and whether or not this version knows the
 * setting. */
static tacit_status refuse_programs(reading *r, const yaml_node_t *key, const char *name, const char *value) {
    if (strstr(value, "exec:") == NULL) return TACIT_OK;
    return tacit_fail(
        r->error, TACIT_REFUSED,
        "%s:%zu: setting '%.40s' names a program to run; only a party's owner may, on the party's own "
        "machine (tacit join --local)",
        r->yaml.name, key->start_mark.line + 1, name);
}

static tacit_status read_settings(reading *r, const yaml_node_t *node) {
    if (node->type != YAML_MAPPING_NODE)
        return tacit_yaml_fail(&r->yaml, node, r->error, "set must be a mapping (setting: value)");
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top;
         pair++) {
        const yaml_node_t *key = yaml_document_get_node(&r->yaml.document, pair->key);
        const char *name, *value;
        size_t length;
        TACIT_TRY(tacit_yaml_text(&r->yaml, key, "a setting", &name, &length, r->error));
        TACIT_TRY(tacit_yaml_text(&r->yaml, yaml_document_get_node(&r->yaml.document, pair->value),
                                  "a setting's value", &value, &length, r->error));
        TACIT_TRY(refuse_programs(r, key, name, value));
        tacit_status status = tacit_plan_set(&r->study->plan, name, value, r->error);
        if (status != TACIT_OK)
            return tacit_fail_in(r->error, status, "%s:%zu", r->yaml.name, key->start_mark.line + 1);
    }
    return TACIT_OK;
}

static tacit_status read_number(reading *r, const yaml_node_t *node, const char *what, double least,
                                double most, double *out) {
    double value = 0;
    TACIT_TRY(tacit_yaml_number(&r->yaml, node, what, &value, r->error));
    if (!(value >= least && value <= most))
        return tacit_yaml_fail(&r->yaml, node, r->error, "%s must be from %g to %g, not %g", what, least,
                               most, value);
    *out = value;
    return TACIT_OK;
}

static tacit_status read_count(reading *r, const yaml_node_t *node, const char *what, size_t *out) {
    double value = 0;
    TACIT_TRY(read_number(r, node, what, 1, 1e9, &value));
    if (value != floor(value))
        return tacit_yaml_fail(&r->yaml, node, r->error, "%s must be a whole number, not %g", what, value);
    *out = (size_t)value;
    return TACIT_OK;
}

static tacit_status read_parties(reading *r, const yaml_node_t *node) {
    enum { EXPECTED, MINIMUM, COUNT };
    static const char *const names[COUNT] = { "expected", "minimum" };
    const yaml_node_t *values[COUNT];
    tacit_plan *plan = &r->study->plan;
    TACIT_TRY(tacit_yaml_mapping(&r->yaml, node, "parties", names, COUNT, values, r->error));
    if (values[EXPECTED] == NULL)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "parties needs 'expected': the study starts when so many joined");
    TACIT_TRY(read_count(r, values[EXPECTED], "expected", &plan->parties));
    plan->minimum_parties = plan->parties;
    if (values[MINIMUM] != NULL) TACIT_TRY(read_count(r, values[MINIMUM], "minimum", &plan->minimum_parties));
    if (plan->minimum_parties > plan->parties)
        return tacit_yaml_fail(&r->yaml, values[MINIMUM], r->error, "minimum must not be more than expected");
    return TACIT_OK;
}

/* A text of several lines is the schema itself; one line names its file. */
static tacit_status read_schema(reading *r, const yaml_node_t *node) {
    const char *text;
    size_t length;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, "schema", &text, &length, r->error));
    if (strchr(text, '\n') != NULL)
        return tacit_schema_parse(&r->study->schema, text, length, "the study's schema", r->error);
    if (r->folder == NULL)
        return tacit_yaml_fail(&r->yaml, node, r->error, "a study from elsewhere may not name a file");
    char path[PATH_MAX];
    if (text[0] == '/') return tacit_schema_load(&r->study->schema, text, r->error);
    TACIT_TRY(tacit_path_join(path, sizeof path, r->folder, text, r->error));
    return tacit_schema_load(&r->study->schema, path, r->error);
}

/* A method without noise has no budget to state, and a study of one may not pretend to. */
static tacit_status read_budget(reading *r, const yaml_node_t *epsilon, const yaml_node_t *delta) {
    tacit_plan *plan = &r->study->plan;
    if (plan->method->noise_free) {
        plan->epsilon = INFINITY;
        if (epsilon == NULL && delta == NULL) return TACIT_OK;
        return tacit_yaml_fail(&r->yaml, epsilon != NULL ? epsilon : delta, r->error,
                               "method %s adds no noise: leave epsilon and delta out", plan->method->name);
    }
    if (epsilon == NULL)
        return tacit_fail(r->error, TACIT_INPUT, "%s: the study has no 'epsilon'", r->yaml.name);
    TACIT_TRY(read_number(r, epsilon, "epsilon", 1e-6, 1e6, &plan->epsilon));
    return delta != NULL ? read_number(r, delta, "delta", 0, 0.5, &plan->delta) : TACIT_OK;
}

static tacit_status read_study(reading *r) {
    const yaml_node_t *root = tacit_yaml_root(&r->yaml), *values[KEYS];
    tacit_plan *plan = &r->study->plan;
    double patience = 30;
    if (root == NULL) return tacit_fail(r->error, TACIT_INPUT, "%s: the study is empty", r->yaml.name);
    TACIT_TRY(tacit_yaml_mapping(&r->yaml, root, "a study", keys, KEYS, values, r->error));
    for (int k = 0; k < KEYS; k++)
        if (values[k] == NULL && k != SET && k != EPSILON && k != DELTA && k != PATIENCE)
            return tacit_fail(r->error, TACIT_INPUT, "%s: the study has no '%s'", r->yaml.name, keys[k]);
    TACIT_TRY(read_name(r, values[NAME]));
    TACIT_TRY(read_title(r, values[TITLE]));
    TACIT_TRY(read_method(r, values[METHOD]));
    if (values[SET] != NULL) TACIT_TRY(read_settings(r, values[SET]));
    TACIT_TRY(read_budget(r, values[EPSILON], values[DELTA]));
    TACIT_TRY(read_number(r, values[LAMBDA], "lambda", plan->method->lambda_may_vanish ? 0 : 1e-12, 1e6,
                          &plan->lambda));
    TACIT_TRY(read_parties(r, values[PARTIES]));
    TACIT_TRY(read_count(r, values[ROWS], "minimum_rows", &plan->minimum_rows));
    if (values[PATIENCE] != NULL)
        TACIT_TRY(read_number(r, values[PATIENCE], "patience", 0.1, 86400, &patience));
    r->study->patience_ms = (unsigned)lround(patience * 1000);
    TACIT_TRY(read_schema(r, values[SCHEMA]));
    plan->features = tacit_schema_features(r->study->schema);
    plan->classes = r->study->schema->classes.count;
    plan->schema = r->study->schema;
    return tacit_fail_in(r->error, tacit_plan_check(plan, r->error), "%s", r->yaml.name);
}

/* Indent each line of the schema, so that it is a literal block of YAML. */
static tacit_status print_block(tacit_buffer *out, const char *text, tacit_error *error) {
    while (*text != 0) {
        size_t length = strcspn(text, "\n");
        TACIT_TRY(tacit_buffer_print(out, error, "  %.*s\n", (int)length, text));
        text += length + (text[length] == '\n');
    }
    return TACIT_OK;
}

/* The same bytes for the same study: keys in one order, every setting spelt out, numbers in their shortest
 * form. */
static tacit_status print_canonical(tacit_study *study, tacit_error *error) {
    const tacit_plan *plan = &study->plan;
    tacit_buffer *out = &study->canonical, schema = TACIT_BUFFER_INIT;
    char epsilon[TACIT_NUMBER_TEXT], delta[TACIT_NUMBER_TEXT], lambda[TACIT_NUMBER_TEXT],
        patience[TACIT_NUMBER_TEXT];
    tacit_status status;
    TACIT_CHECK(tacit_buffer_print(out, error, "name: \"%s\"\ntitle: \"%s\"\nmethod: %s\n", study->name,
                                   study->title, plan->method->name));
    const tacit_parameter *parameter = plan->method->parameters;
    if (parameter != NULL && parameter->name != NULL) TACIT_CHECK(tacit_buffer_print(out, error, "set:\n"));
    for (; parameter != NULL && parameter->name != NULL; parameter++)
        TACIT_CHECK(tacit_buffer_print(out, error, "  %s: \"%s\"\n", parameter->name,
                                       tacit_plan_text(plan, parameter->name)));
    if (!plan->method->noise_free)
        TACIT_CHECK(tacit_buffer_print(out, error, "epsilon: %s\ndelta: %s\n",
                                       tacit_number_to_text(plan->epsilon, epsilon),
                                       tacit_number_to_text(plan->delta, delta)));
    TACIT_CHECK(tacit_buffer_print(out, error,
                                   "lambda: %s\nparties: {expected: %zu, minimum: %zu}\nminimum_rows: "
                                   "%zu\npatience: "
                                   "%s\nschema: |\n",
                                   tacit_number_to_text(plan->lambda, lambda), plan->parties,
                                   plan->minimum_parties, plan->minimum_rows,
                                   tacit_number_to_text(study->patience_ms / 1000.0, patience)));
    TACIT_CHECK(tacit_schema_canonical(study->schema, &schema, error));
    TACIT_CHECK(print_block(out, tacit_buffer_text(&schema), error));
    crypto_generichash(study->hash, sizeof study->hash, out->bytes, out->length, NULL, 0);
cleanup:
    tacit_buffer_clear(&schema);
    return status;
}

static tacit_status parse(tacit_study **out, const char *text, size_t length, const char *name,
                          const char *folder, tacit_error *error) {
    reading r = { .folder = folder, .study = TACIT_NEW(tacit_study, 1), .error = error };
    if (r.study == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_yaml_open(&r.yaml, text, length, name, error);
    if (status == TACIT_OK) {
        status = read_study(&r);
        tacit_yaml_close(&r.yaml);
    }
    if (status == TACIT_OK) status = print_canonical(r.study, error);
    if (status != TACIT_OK) {
        tacit_study_free(r.study);
        return status;
    }
    *out = r.study;
    return TACIT_OK;
}

tacit_status tacit_study_parse(tacit_study **out, const char *text, size_t length, const char *name,
                               tacit_error *error) {
    return parse(out, text, length, name, NULL, error);
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
    if (status == TACIT_OK) status = parse(out, tacit_buffer_text(&text), text.length, path, folder, error);
    tacit_buffer_clear(&text);
    return status;
}
