/* Public points that the parties label: in a file that the definition names, then number and hash, and
 * separately the bytes. */
#include <limits.h>
#include <sodium.h>
#include <string.h>

#include "data/points_bytes.h"
#include "study/study_parts.h"

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

/* The file that is named, encoded with the study's schema. What is used from here on is read back from the
 * bytes, as parties do it. */
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
    TACIT_TRY(study_read_whole(r, values[POINTS], "points", 1, 1e9, &r->study->point_count));
    TACIT_TRY(tacit_yaml_text(&r->yaml, values[HASH], "hash", &text, &length, r->error));
    if (sodium_hex2bin(r->study->point_hash, TACIT_HASH_BYTES, text, length, NULL, &bytes, &end) != 0 ||
        bytes != TACIT_HASH_BYTES || end != text + length)
        return tacit_yaml_fail(&r->yaml, values[HASH], r->error, "hash must be %d hexadecimal digits",
                               2 * TACIT_HASH_BYTES);
    return TACIT_OK;
}

tacit_status study_read_auxiliary(reading *r, const yaml_node_t *node) {
    const tacit_plan *plan = &r->study->plan;
    const tacit_method *method = plan->method;
    if (node == NULL && method->needs_points)
        return tacit_fail(r->error, TACIT_USAGE,
                          "%s:%zu: method %s needs public points for the parties to label: name a file of "
                          "them with auxiliary: FILE",
                          r->yaml.name, study_node(r, "method")->start_mark.line + 1, method->name);
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

tacit_status study_print_auxiliary(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    char digest[2 * TACIT_HASH_BYTES + 1];
    if (study->point_count == 0) return TACIT_OK;
    return tacit_buffer_print(
        out, error, "auxiliary: {points: %zu, hash: %s}\n", study->point_count,
        sodium_bin2hex(digest, sizeof digest, study->point_hash, sizeof study->point_hash));
}
