/* What a definition says to people: arms, compensation, contact. */
#include <sodium.h>
#include <string.h>

#include "data/formula/condition.h"
#include "study/study_parts.h"

/* ---- keys ---- */

static tacit_status read_key(reading *r, const yaml_node_t *node, const char *what, uint8_t out[32]) {
    const char *text;
    size_t length, bytes = 0;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, what, &text, &length, r->error));
    if (length != 64 || sodium_hex2bin(out, 32, text, length, NULL, &bytes, NULL) != 0 || bytes != 32)
        return tacit_yaml_fail(&r->yaml, node, r->error, "%s must be a key of 64 hexadecimal digits", what);
    return TACIT_OK;
}

static tacit_status print_key(tacit_buffer *out, const char *before, const uint8_t key[32], const char *after,
                              tacit_error *error) {
    char hex[65];
    return tacit_buffer_print(out, error, "%s\"%s\"%s", before, sodium_bin2hex(hex, sizeof hex, key, 32),
                              after);
}

/* ---- arms ---- */

const char *tacit_study_arm_name(const tacit_study *study, size_t arm) {
    return study->schema->columns[study->arms.column].levels.text[arm];
}

static tacit_status find_column(reading *r, const yaml_node_t *node) {
    const tacit_schema *schema = r->study->schema;
    const char *text;
    size_t length, at = 0;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, "column", &text, &length, r->error));
    while (at < schema->cols && strcmp(schema->columns[at].name, text) != 0) at++;
    if (at == schema->cols || !study_is_plain_line(text, TACIT_TITLE_SIZE) ||
        schema->columns[at].kind != TACIT_SCHEMA_CATEGORY)
        return tacit_yaml_fail(
            &r->yaml, node, r->error,
            "'%.60s' must be a column of the schema of kind category, whose levels are the arms", text);
    const size_t count = schema->columns[at].levels.count;
    if (count < 2 || count > TACIT_ARMS_MOST)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "a study has from 2 to %d arms, and column '%s' has %zu levels",
                               TACIT_ARMS_MOST, text, count);
    for (size_t i = 0; i < count; i++) /* a record of arms has them whole */
        if (!study_is_plain_line(schema->columns[at].levels.text[i], TACIT_TITLE_SIZE))
            return tacit_yaml_fail(&r->yaml, node, r->error,
                                   "level %zu of column '%s' must be one line of fewer than %d bytes, "
                                   "without quotes, to be the name of an arm",
                                   i + 1, text, TACIT_TITLE_SIZE);
    r->study->arms.column = at;
    r->study->arms.count = count;
    return TACIT_OK;
}

/* Before the arm is drawn, a condition about it would be decided by a value that is none; afterwards, staying
 * away would tell the arm. */
static tacit_status check_condition(reading *r, const yaml_node_t *node, const tacit_condition *condition,
                                    const char *what) {
    const size_t *columns = NULL,
                 count = condition != NULL ? tacit_condition_columns(condition, &columns) : 0;
    for (size_t i = 0; i < count; i++)
        if (columns[i] == r->study->arms.column)
            return tacit_yaml_fail(
                &r->yaml, node, r->error,
                "'%s' may not look at column '%s': the arm is drawn after a party has joined, and "
                "only its own device knows it",
                what, r->study->schema->columns[columns[i]].name);
    return TACIT_OK;
}

static tacit_status read_weights(reading *r, const yaml_node_t *node) {
    tacit_study_arms *arms = &r->study->arms;
    for (size_t i = 0; i < arms->count; i++) arms->weights[i] = 1;
    if (node == NULL) return TACIT_OK;
    if (node->type != YAML_SEQUENCE_NODE ||
        (size_t)(node->data.sequence.items.top - node->data.sequence.items.start) != arms->count)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "weights must be a list of %zu numbers, one for each arm", arms->count);
    for (size_t i = 0; i < arms->count; i++) {
        size_t weight = 0;
        TACIT_TRY(
            study_read_whole(r, yaml_document_get_node(&r->yaml.document, node->data.sequence.items.start[i]),
                             "a weight", 1, TACIT_ARM_WEIGHT_MOST, &weight));
        arms->weights[i] = (unsigned)weight;
    }
    return TACIT_OK;
}

tacit_status study_read_arms(reading *r, const yaml_node_t *node) {
    enum { COLUMN, WEIGHTS, KEY, COUNT };
    static const char *const names[COUNT] = { "column", "weights", "key" };
    const yaml_node_t *values[COUNT] = { NULL };
    tacit_study_arms *arms = &r->study->arms;
    if (node == NULL) return TACIT_OK;
    if (r->study->by_files)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "arms are drawn over a network: leave 'transport: files' out");
    TACIT_TRY(tacit_yaml_mapping(&r->yaml, node, "arms", names, COUNT, values, r->error));
    if (values[COLUMN] == NULL)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "arms need 'column', the column that says who is in which");
    TACIT_TRY(find_column(r, values[COLUMN]));
    TACIT_TRY(check_condition(r, values[COLUMN], r->study->eligible, "eligible"));
    TACIT_TRY(check_condition(r, values[COLUMN], r->study->schema->subset, "subset"));
    TACIT_TRY(read_weights(r, values[WEIGHTS]));
    if (values[KEY] == NULL) return TACIT_OK;
    if (r->written)
        return tacit_yaml_fail(&r->yaml, values[KEY], r->error,
                               "the coordinator writes the key of the arms: leave it out");
    TACIT_TRY(read_key(r, values[KEY], "key", arms->key));
    if (!tacit_vrf_key_is_valid(arms->key))
        return tacit_yaml_fail(&r->yaml, values[KEY], r->error, "the key of the arms is none");
    arms->has_key = true;
    return TACIT_OK;
}

tacit_status study_print_arms(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    const tacit_study_arms *arms = &study->arms;
    if (arms->count == 0) return TACIT_OK;
    TACIT_TRY(tacit_buffer_print(out, error, "arms: {column: \"%s\", weights: [",
                                 study->schema->columns[arms->column].name));
    for (size_t i = 0; i < arms->count; i++)
        TACIT_TRY(tacit_buffer_print(out, error, "%s%u", i > 0 ? ", " : "", arms->weights[i]));
    return arms->has_key ? print_key(out, "], key: ", arms->key, "}\n", error)
                         : tacit_buffer_print(out, error, "]}\n");
}

/* ---- receipts and contact ---- */

tacit_status study_read_receipts(reading *r, const yaml_node_t *node) {
    tacit_voprf_element key;
    if (r->study->by_files && r->study->compensation[0] != 0)
        return tacit_yaml_fail(&r->yaml, study_node(r, "compensation"), r->error,
                               "receipts are given over a network: leave 'compensation' or "
                               "'transport: files' out");
    if (r->study->plan.method->in_turns && r->study->compensation[0] != 0)
        return tacit_yaml_fail(&r->yaml, study_node(r, "compensation"), r->error,
                               "receipts are for those who answer in every round, and method %s asks parties "
                               "in turn: leave 'compensation' out",
                               r->study->plan.method->name);
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(read_key(r, node, "receipts", key.bytes));
    if (!tacit_voprf_is_valid(&key))
        return tacit_yaml_fail(&r->yaml, node, r->error, "the key of the receipts is none");
    memcpy(r->study->receipt_key, key.bytes, sizeof key.bytes);
    r->study->has_receipts = true;
    return TACIT_OK;
}

tacit_status study_print_receipts(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    return study->has_receipts ? print_key(out, "receipts: ", study->receipt_key, "\n", error) : TACIT_OK;
}

tacit_status study_read_contact(reading *r, const yaml_node_t *node) {
    if (node == NULL) return TACIT_OK;
    if (r->study->by_files)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "contact details are sent over a network: leave 'transport: files' out");
    TACIT_TRY(read_key(r, node, "contact", r->study->contact_key));
    r->study->has_contact = true;
    return TACIT_OK;
}

tacit_status study_print_contact(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    return study->has_contact ? print_key(out, "contact: ", study->contact_key, "\n", error) : TACIT_OK;
}
