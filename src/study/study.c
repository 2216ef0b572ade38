#include "study/study.h"

#include <limits.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/points_bytes.h"
#include "data/text.h"
#include "method/methods.h"
#include "model/classifier.h"
#include "session/masked.h"
#include "study/study_parts.h"

enum {
    NAME,
    TITLE,
    DESCRIPTION,
    APPROVAL,
    CONSENT,
    SCHEDULE,
    METHOD,
    SET,
    EPSILON,
    DELTA,
    LAMBDA,
    PARTIES,
    ROWS,
    PATIENCE,
    SUM,
    KEY_BITS,
    DROPOUTS,
    COLLUDERS,
    COMPLETE,
    AUXILIARY,
    CENTER,
    STOP,
    LOOK,
    SCHEMA,
    KEYS
};
static const char *const keys[KEYS] = { "name",     "title",    "description",  "approval", "consent",
                                        "schedule", "method",   "set",          "epsilon",  "delta",
                                        "lambda",   "parties",  "minimum_rows", "patience", "sum",
                                        "key_bits", "dropouts", "colluders",    "complete", "auxiliary",
                                        "center",   "stop",     "look",         "schema" };

tacit_study *tacit_study_free(tacit_study *study) {
    if (study == NULL) return NULL;
    tacit_schema_free(study->schema);
    tacit_buffer_clear(&study->description);
    tacit_buffer_clear(&study->document);
    tacit_buffer_clear(&study->canonical);
    tacit_buffer_clear(&study->center_certificate);
    tacit_buffer_clear(&study->point_bytes);
    tacit_points_clear(&study->points);
    tacit_dataset_free(study->point_rows);
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

bool study_is_plain_line(const char *text, size_t size) {
    static const char *const special[] = { "\"",     "\\",           "\u2028",      "\u2029",
                                           "\ufeff", "\xef\xbf\xbe", "\xef\xbf\xbf" };
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        if (strstr(text, special[i]) != NULL) return false;
    return tacit_name_check("text", text, size - 1, NULL) == TACIT_OK;
}

static tacit_status read_title(reading *r, const yaml_node_t *node) {
    const char *text;
    size_t length;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, "title", &text, &length, r->error));
    if (!study_is_plain_line(text, TACIT_TITLE_SIZE))
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "title must be one line of fewer than %d bytes without quotes, backslashes "
                               "and control characters",
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
    return tacit_fail(r->error, TACIT_REFUSED,
                      "%s:%zu: setting '%.40s' names a program to run; only a party's owner may, on the "
                      "party's own machine (tacit join --local)",
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
        if (!study_is_plain_line(value, TACIT_SETTING_SIZE))
            return tacit_yaml_fail(&r->yaml, key, r->error,
                                   "a setting's value must be one line of fewer than %d bytes without "
                                   "quotes, backslashes and control characters",
                                   TACIT_SETTING_SIZE);
        tacit_status status = tacit_plan_set(&r->study->plan, name, value, r->error);
        if (status != TACIT_OK)
            return tacit_fail_in(r->error, status, "%s:%zu", r->yaml.name, key->start_mark.line + 1);
    }
    return TACIT_OK;
}

/* What parties train is named, never a program to run: that is for each owner to say. */
static tacit_status check_local(reading *r, const yaml_node_t *node) {
    const tacit_plan *plan = &r->study->plan;
    if (plan->method->local == NULL) return TACIT_OK;
    tacit_status status = tacit_classifier_check(plan->method->local(plan), false, r->error);
    if (node == NULL) return tacit_fail_in(r->error, status, "%s", r->yaml.name);
    return tacit_fail_in(r->error, status, "%s:%zu", r->yaml.name, node->start_mark.line + 1);
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
    if (values[EXPECTED] != NULL)
        TACIT_TRY(read_count(r, values[EXPECTED], "expected", &plan->parties));
    else if (r->study->stop.participants > 0 && r->study->stop.target == TACIT_TARGET_NONE)
        plan->parties = r->study->stop.participants;
    else
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "parties needs 'expected': the study starts when this many have joined");
    plan->minimum_parties = plan->parties;
    if (values[MINIMUM] != NULL) TACIT_TRY(read_count(r, values[MINIMUM], "minimum", &plan->minimum_parties));
    if (plan->minimum_parties > plan->parties)
        return tacit_yaml_fail(&r->yaml, values[MINIMUM], r->error, "minimum must not be more than expected");
    r->study->first_parties = plan->parties;
    r->study->stop.looks = tacit_stop_looks(&r->study->stop, plan->parties);
    plan->parties = tacit_stop_parties(&r->study->stop, plan->parties, r->study->stop.look);
    return TACIT_OK;
}

/* When there is enough. Which look this is, only the coordinator says, in the text that parties consent to. */
static tacit_status read_stop(reading *r, const yaml_node_t *node, const yaml_node_t *look) {
    tacit_stop *stop = &r->study->stop;
    tacit_plan *plan = &r->study->plan;
    *stop = (tacit_stop)TACIT_STOP_INIT;
    if (node != NULL) TACIT_TRY(tacit_stop_read(stop, &r->yaml, node, r->error));
    if (look != NULL && r->folder != NULL)
        return tacit_yaml_fail(&r->yaml, look, r->error,
                               "the coordinator counts the looks: leave 'look' out");
    if (look != NULL) TACIT_TRY(read_count(r, look, "look", &stop->look));
    if (stop->look > TACIT_STOP_MOST_LOOKS)
        return tacit_yaml_fail(&r->yaml, look, r->error, "look must be at most %d", TACIT_STOP_MOST_LOOKS);
    plan->most_rounds = stop->rounds;
    plan->enough = stop->converged;
    return TACIT_OK;
}

static tacit_status check_stop(reading *r, const yaml_node_t *node, const yaml_node_t *parties) {
    const tacit_stop *stop = &r->study->stop;
    const size_t first = r->study->first_parties;
    if (stop->participants > 0 && stop->more == 0 && stop->participants != first)
        return tacit_yaml_fail(&r->yaml, parties, r->error,
                               "%zu parties are expected, and recruiting stops with %zu: make them the same, "
                               "or say how many come from look to look (more)",
                               first, stop->participants);
    if (stop->participants > 0 && stop->participants < first)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "participants must not be fewer than the %zu that are expected", first);
    if (stop->look > stop->looks)
        return tacit_fail(r->error, TACIT_INPUT, "%s: the study has no look %zu", r->yaml.name, stop->look);
    tacit_status status = tacit_stop_check(stop, &r->study->plan, r->error);
    if (node == NULL) return status;
    return tacit_fail_in(r->error, status, "%s:%zu", r->yaml.name, node->start_mark.line + 1);
}

/* Whether the coordinator sees contributions or only their sum: as little as possible unless the study says otherwise.
 * How many parties may vanish, or help the coordinator, is for secure sums and for shares of noise alike. */
static tacit_status read_sum(reading *r, const yaml_node_t *const values[KEYS]) {
    static const double MOST = 0.9; /* of all parties; what is sensible depends on their number */
    tacit_plan *plan = &r->study->plan;
    const yaml_node_t *node = values[SUM];
    const char *text = "masked";
    size_t length, minimum;
    if (node != NULL) TACIT_TRY(tacit_yaml_text(&r->yaml, node, "sum", &text, &length, r->error));
    if (node == NULL && plan->method->compute != NULL) text = "clear"; /* it has none: all is encrypted */
    plan->sums = strcmp(text, "clear") == 0      ? TACIT_SUMS_CLEAR
                 : strcmp(text, "paillier") == 0 ? TACIT_SUMS_PAILLIER
                                                 : TACIT_SUMS_MASKED;
    if (strcmp(text, tacit_sum_way_name(plan->sums)) != 0)
        return tacit_yaml_fail(&r->yaml, node, r->error, "sum must be masked, paillier or clear, not '%.40s'",
                               text);
    TACIT_TRY(study_read_key_bits(r, values[KEY_BITS]));
    TACIT_TRY(study_read_complete(r, values[COMPLETE]));
    plan->dropouts = plan->colluders = plan->sums == TACIT_SUMS_CLEAR ? 0 : TACIT_STUDY_FRACTION;
    for (int k = DROPOUTS; k <= COLLUDERS; k++) {
        if (values[k] == NULL) continue;
        if (plan->sums == TACIT_SUMS_CLEAR)
            return tacit_yaml_fail(&r->yaml, values[k], r->error,
                                   "%s belongs to secure sums, and these are in clear: leave it out",
                                   keys[k]);
        TACIT_TRY(
            read_number(r, values[k], keys[k], 0, MOST, k == DROPOUTS ? &plan->dropouts : &plan->colluders));
    }
    if (plan->sums == TACIT_SUMS_CLEAR && tacit_plan_shares_noise(plan))
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "sum: clear would show the coordinator contributions with a share of the "
                               "noise only (noise: shares): choose sum: masked or paillier");
    if (plan->sums == TACIT_SUMS_CLEAR) return TACIT_OK;
    tacit_status status = tacit_secure_minimum(&minimum, plan, r->error);
    if (status == TACIT_OK) return TACIT_OK;
    node = values[DROPOUTS] != NULL ? values[DROPOUTS] : values[COLLUDERS];
    if (node == NULL) return tacit_fail_in(r->error, status, "%s", r->yaml.name);
    return tacit_fail_in(r->error, status, "%s:%zu", r->yaml.name, node->start_mark.line + 1);
}

tacit_status study_find_file(reading *r, const yaml_node_t *node, const char *text, char path[PATH_MAX]) {
    if (r->folder == NULL)
        return tacit_yaml_fail(&r->yaml, node, r->error, "a study from elsewhere may not name a file");
    if (text[0] != '/') return tacit_path_join(path, PATH_MAX, r->folder, text, r->error);
    if (strlen(text) >= PATH_MAX) return tacit_fail(r->error, TACIT_LIMIT, "path too long: %s", text);
    memcpy(path, text, strlen(text) + 1);
    return TACIT_OK;
}

/* A text of several lines is the schema itself; one line names its file. */
static tacit_status read_schema(reading *r, const yaml_node_t *node) {
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
    return tacit_fail_in(r->error, tacit_schema_check_public(r->study->schema, r->error), "%s", path);
}

/* ---- auxiliary points ---- */

size_t tacit_study_point_limit(const tacit_study *study) {
    return tacit_points_bytes_most(study->point_count, study->plan.features);
}

tacit_status tacit_study_take_points(tacit_study *study, tacit_buffer *bytes, tacit_pool *pool,
                                     tacit_error *error) {
    uint8_t hash[TACIT_HASH_BYTES];
    tacit_dataset *rows = NULL;
    crypto_generichash(hash, sizeof hash, bytes->bytes, bytes->length, NULL, 0);
    if (sodium_memcmp(hash, study->point_hash, sizeof hash) != 0)
        return tacit_fail(error, TACIT_REFUSED,
                          "these are not the auxiliary points of study '%s': their hash is another",
                          study->name);
    TACIT_TRY(tacit_points_decode(&rows, bytes->bytes, bytes->length, error));
    tacit_status status = TACIT_OK;
    if (rows->rows != study->point_count || rows->features != study->plan.features)
        TACIT_CHECK(
            tacit_fail(error, TACIT_REFUSED,
                       "the auxiliary points are %zu with %zu features, and study '%s' declares %zu with %zu",
                       rows->rows, rows->features, study->name, study->point_count, study->plan.features));
    tacit_rows view = tacit_dataset_rows(rows);
    TACIT_CHECK(tacit_points_of(&study->points, &view, pool, error));
    study->plan.points = &study->points;
    study->point_rows = rows;
    study->point_bytes = *bytes;
    *bytes = (tacit_buffer)TACIT_BUFFER_INIT;
    rows = NULL;
cleanup:
    tacit_dataset_free(rows);
    return status;
}

/* A file is looked for beside the study; a query is as it is. */
static tacit_status find_rows(reading *r, const yaml_node_t *node, const char *text, char path[PATH_MAX]) {
    TACIT_TRY(study_find_file(r, node, text, path));
    if (!tacit_source_is_query(text)) return TACIT_OK;
    if (strlen(text) >= PATH_MAX) return tacit_fail(r->error, TACIT_LIMIT, "the query is too long: %s", text);
    memcpy(path, text, strlen(text) + 1);
    return TACIT_OK;
}

/* The file that is named, encoded with the study's schema. What is used from here on is read back from the bytes, as
 * parties do it. */
static tacit_status load_points(reading *r, const yaml_node_t *node) {
    const char *text;
    size_t length;
    char path[PATH_MAX];
    tacit_study *study = r->study;
    tacit_dataset *rows = NULL;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    tacit_status status;
    options.label_ignored = true;
    TACIT_CHECK(tacit_yaml_text(&r->yaml, node, "auxiliary", &text, &length, r->error));
    TACIT_CHECK(find_rows(r, node, text, path));
    TACIT_CHECK(tacit_dataset_load(&rows, NULL, path, study->schema, &options, r->error));
    tacit_rows view = tacit_dataset_rows(rows);
    TACIT_CHECK(tacit_fail_in(r->error, tacit_points_encode(&view, &bytes, r->error), "%s", path));
    study->point_count = rows->rows;
    crypto_generichash(study->point_hash, sizeof study->point_hash, bytes.bytes, bytes.length, NULL, 0);
    TACIT_CHECK(tacit_study_take_points(study, &bytes, NULL, r->error));
cleanup:
    tacit_buffer_clear(&bytes);
    tacit_dataset_free(rows);
    return status;
}

/* Number and hash of points that come separately. */
static tacit_status read_point_hash(reading *r, const yaml_node_t *node) {
    enum { POINTS, HASH, COUNT };
    static const char *const names[COUNT] = { "points", "hash" };
    const yaml_node_t *values[COUNT];
    const char *text, *end = NULL;
    size_t length, bytes = 0;
    if (r->folder != NULL)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "auxiliary must name the file with the public points");
    TACIT_TRY(tacit_yaml_mapping(&r->yaml, node, "auxiliary", names, COUNT, values, r->error));
    if (values[POINTS] == NULL || values[HASH] == NULL)
        return tacit_yaml_fail(&r->yaml, node, r->error, "auxiliary needs 'points' and 'hash'");
    TACIT_TRY(read_count(r, values[POINTS], "points", &r->study->point_count));
    TACIT_TRY(tacit_yaml_text(&r->yaml, values[HASH], "hash", &text, &length, r->error));
    if (sodium_hex2bin(r->study->point_hash, TACIT_HASH_BYTES, text, length, NULL, &bytes, &end) != 0 ||
        bytes != TACIT_HASH_BYTES || end != text + length)
        return tacit_yaml_fail(&r->yaml, values[HASH], r->error, "hash must be %d hexadecimal digits",
                               2 * TACIT_HASH_BYTES);
    return TACIT_OK;
}

static tacit_status read_points(reading *r, const yaml_node_t *node, const yaml_node_t *method_node) {
    const tacit_plan *plan = &r->study->plan;
    const tacit_method *method = plan->method;
    if (node == NULL && method->needs_points)
        return tacit_fail(r->error, TACIT_USAGE,
                          "%s:%zu: method %s needs public points for the parties to label: name a file of "
                          "them with auxiliary: FILE",
                          r->yaml.name, method_node->start_mark.line + 1, method->name);
    if (node == NULL) return TACIT_OK;
    if (!method->needs_points && !method->takes_points)
        return tacit_fail(r->error, TACIT_USAGE,
                          "%s:%zu: method %s uses no auxiliary points: leave auxiliary out", r->yaml.name,
                          node->start_mark.line + 1, method->name);
    TACIT_TRY(node->type == YAML_MAPPING_NODE ? read_point_hash(r, node) : load_points(r, node));
    /* One label a point and class but the first, 8 bytes each, must pass the gate as one answer. */
    size_t most = ((size_t)TACIT_PAYLOAD_MOST - 65536) / 8 / (plan->classes - 1);
    if (r->study->point_count > most)
        return tacit_yaml_fail(
            &r->yaml, node, r->error,
            "%zu auxiliary points are more than the %zu that parties can label in one answer",
            r->study->point_count, most);
    return TACIT_OK;
}

/* Choose a lambda where the study is made and has none; the number then travels with it. */
static tacit_status finish_plan(tacit_plan *plan, tacit_error *error) {
    bool chosen = plan->lambda == 0 && !plan->method->lambda_may_vanish;
    TACIT_TRY(tacit_methods_check_label(plan, error));
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
        if (values[k] == NULL && !(k >= DESCRIPTION && k <= SCHEDULE) && k != SET && k != EPSILON &&
            k != DELTA && k != PATIENCE && !(k >= SUM && k <= LOOK) && !(k == LAMBDA && r->folder != NULL))
            return tacit_fail(r->error, TACIT_INPUT, "%s: the study has no '%s'", r->yaml.name, keys[k]);
    TACIT_TRY(read_name(r, values[NAME]));
    TACIT_TRY(read_title(r, values[TITLE]));
    TACIT_TRY(study_read_about(r, values[DESCRIPTION], values[APPROVAL], values[CONSENT], values[SCHEDULE]));
    TACIT_TRY(read_method(r, values[METHOD]));
    if (values[SET] != NULL) TACIT_TRY(read_settings(r, values[SET]));
    TACIT_TRY(check_local(r, values[SET]));
    TACIT_TRY(read_budget(r, values[EPSILON], values[DELTA]));
    if (values[LAMBDA] != NULL)
        TACIT_TRY(read_number(r, values[LAMBDA], "lambda", plan->method->lambda_may_vanish ? 0 : 1e-12, 1e6,
                              &plan->lambda));
    TACIT_TRY(read_stop(r, values[STOP], values[LOOK]));
    TACIT_TRY(read_parties(r, values[PARTIES]));
    TACIT_TRY(read_count(r, values[ROWS], "minimum_rows", &plan->minimum_rows));
    if (values[PATIENCE] != NULL)
        TACIT_TRY(read_number(r, values[PATIENCE], "patience", 0.1, 86400, &patience));
    r->study->patience_ms = (unsigned)lround(patience * 1000);
    TACIT_TRY(read_sum(r, values));
    TACIT_TRY(study_check_neighbours(r, values[PARTIES], values[SUM]));
    TACIT_TRY(study_read_graph(r, values[SET]));
    TACIT_TRY(read_schema(r, values[SCHEMA]));
    plan->features = tacit_schema_features(r->study->schema);
    plan->classes = r->study->schema->classes.count;
    plan->schema = r->study->schema;
    TACIT_TRY(study_read_center(r, values[CENTER], values[METHOD]));
    TACIT_TRY(read_points(r, values[AUXILIARY], values[METHOD]));
    TACIT_TRY(check_stop(r, values[STOP], values[PARTIES]));
    return tacit_fail_in(r->error, finish_plan(plan, r->error), "%s", r->yaml.name);
}

/* The same bytes for the same study: keys in one order, every setting spelt out, numbers in their shortest
 * form. */
static tacit_status print_canonical(const tacit_study *study, const tacit_stop *stop, tacit_buffer *out,
                                    tacit_error *error) {
    const tacit_plan *plan = &study->plan;
    tacit_buffer schema = TACIT_BUFFER_INIT;
    char epsilon[TACIT_NUMBER_TEXT], delta[TACIT_NUMBER_TEXT], lambda[TACIT_NUMBER_TEXT],
        patience[TACIT_NUMBER_TEXT], digest[2 * TACIT_HASH_BYTES + 1];
    tacit_status status;
    TACIT_CHECK(tacit_buffer_print(out, error, "name: \"%s\"\ntitle: \"%s\"\n", study->name, study->title));
    TACIT_CHECK(study_print_about(study, out, error));
    TACIT_CHECK(tacit_buffer_print(out, error, "method: %s\n", plan->method->name));
    const tacit_parameter *parameter = plan->method->parameters;
    if (parameter != NULL && parameter->name != NULL) TACIT_CHECK(tacit_buffer_print(out, error, "set:\n"));
    for (char text[TACIT_SETTING_SIZE]; parameter != NULL && parameter->name != NULL; parameter++)
        TACIT_CHECK(tacit_buffer_print(out, error, "  %s: \"%s\"\n", parameter->name,
                                       tacit_plan_print(plan, parameter, text)));
    if (!plan->method->noise_free)
        TACIT_CHECK(tacit_buffer_print(out, error, "epsilon: %s\ndelta: %s\n",
                                       tacit_number_to_text(plan->epsilon, epsilon),
                                       tacit_number_to_text(plan->delta, delta)));
    TACIT_CHECK(tacit_buffer_print(
        out, error,
        "lambda: %s\nparties: {expected: %zu, minimum: %zu}\nminimum_rows: %zu\npatience: %s\nsum: %s\n",
        tacit_number_to_text(plan->lambda, lambda), study->first_parties, plan->minimum_parties,
        plan->minimum_rows, tacit_number_to_text(study->patience_ms / 1000.0, patience),
        tacit_sum_way_name(plan->sums)));
    if (plan->sums == TACIT_SUMS_PAILLIER)
        TACIT_CHECK(tacit_buffer_print(out, error, "key_bits: %u\n", plan->key_bits));
    if (plan->sums != TACIT_SUMS_CLEAR)
        TACIT_CHECK(tacit_buffer_print(out, error, "dropouts: %s\ncolluders: %s\n",
                                       tacit_number_to_text(plan->dropouts, epsilon),
                                       tacit_number_to_text(plan->colluders, delta)));
    if (plan->complete) TACIT_CHECK(tacit_buffer_print(out, error, "complete: yes\n"));
    if (study->point_count > 0)
        TACIT_CHECK(tacit_buffer_print(
            out, error, "auxiliary: {points: %zu, hash: %s}\n", study->point_count,
            sodium_bin2hex(digest, sizeof digest, study->point_hash, sizeof study->point_hash)));
    TACIT_CHECK(study_print_center(study, out, error));
    TACIT_CHECK(tacit_stop_print(stop, out, error));
    TACIT_CHECK(tacit_buffer_print(out, error, "schema: |\n"));
    TACIT_CHECK(tacit_schema_canonical(study->schema, &schema, error));
    TACIT_CHECK(study_print_block(out, tacit_buffer_text(&schema), error));
cleanup:
    tacit_buffer_clear(&schema);
    return status;
}

tacit_status tacit_study_next_look(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    tacit_stop next = study->stop;
    next.look++;
    return print_canonical(study, &next, out, error);
}

static tacit_status parse(tacit_study **out, const char *text, size_t length, const char *name,
                          const char *folder, tacit_error *error) {
    reading r = { .folder = folder, .study = TACIT_NEW(tacit_study, 1), .error = error };
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
    tacit_study *study = r.study;
    if (status == TACIT_OK) status = print_canonical(study, &study->stop, &study->canonical, error);
    if (status == TACIT_OK)
        crypto_generichash(study->hash, sizeof study->hash, study->canonical.bytes, study->canonical.length,
                           NULL, 0);
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
