/* What a schema says of its label. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema/schema_read_parts.h"

static const double largest_count = 1e9;

/* What a missing label does: most methods can make nothing of the row, so it is an error or left out; those
 * that learn from unlabelled rows have it kept. */
static tacit_status read_label_missing(const schema_reading *r, const yaml_node_t *node) {
    static const tacit_missing may[] = { TACIT_MISSING_ERROR, TACIT_MISSING_COMPLETE_CASE,
                                         TACIT_MISSING_UNLABELLED };
    const char *text = "";
    size_t length = 0, k = 0;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_text(r->yaml, node, "the label's missing", &text, &length, r->error));
    while (k < 3 && strcmp(text, tacit_missing_name(may[k])) != 0) k++;
    if (k == 3)
        return tacit_yaml_fail(r->yaml, node, r->error,
                               "the label's missing must be complete-case, error or unlabelled");
    if (may[k] == TACIT_MISSING_UNLABELLED && r->schema->response != TACIT_RESPONSE_CLASS)
        return tacit_yaml_fail(
            r->yaml, node, r->error,
            "missing: unlabelled belongs to a label with classes; of a label of kind %s write "
            "complete-case or error",
            tacit_response_name(r->schema->response));
    r->schema->label_missing = may[k];
    return TACIT_OK;
}

static tacit_status read_classes(const schema_reading *r, const yaml_node_t *classes,
                                 const yaml_node_t *others) {
    TACIT_TRY(schema_read_list(r, classes, "classes", TACIT_LEVEL_LIMIT, &r->schema->classes));
    if (r->schema->classes.count < 2)
        return tacit_yaml_fail(r->yaml, classes, r->error, "there must be at least two classes");
    return schema_read_others(r, others, &r->schema->classes, "classes", &r->schema->others);
}

/* A response is as public in its range as any column. */
static tacit_status read_response(const schema_reading *r, const yaml_node_t *node, const yaml_node_t *low,
                                  const yaml_node_t *high) {
    tacit_schema *schema = r->schema;
    TACIT_TRY(schema_read_bounds(r, node, low, high, schema->label, &schema->low, &schema->high));
    if (schema->response == TACIT_RESPONSE_NUMBER) return TACIT_OK;
    if (schema->response == TACIT_RESPONSE_TIME && schema->low < 0)
        return tacit_yaml_fail(r->yaml, low, r->error, "the bounds of a time are not negative");
    if (schema->response == TACIT_RESPONSE_TIME) return TACIT_OK;
    if (schema->low < 0 || schema->low != floor(schema->low) || schema->high != floor(schema->high) ||
        schema->high > largest_count)
        return tacit_yaml_fail(r->yaml, low, r->error,
                               "the bounds of a count are whole numbers from 0 to 1e9");
    return TACIT_OK;
}

/* One name, or a list of as many as the label has columns. */
static tacit_status read_label_names(const schema_reading *r, const yaml_node_t *node) {
    tacit_schema *schema = r->schema;
    tacit_levels names = TACIT_LEVELS_INIT;
    size_t columns = tacit_response_columns(schema->response);
    const char *text = "";
    size_t length = 0;
    static const char of_time[] =
        "a label of kind %s has two columns, name: [TIME, EVENT], or three: [ENTRY, TIME, EVENT]";
    if (node->type == YAML_SEQUENCE_NODE ? columns == 1 : columns > 1)
        return tacit_yaml_fail(r->yaml, node, r->error,
                               columns > 1 ? of_time
                                           : "a label of kind %s has one column, and its name is no list",
                               tacit_response_name(schema->response));
    if (columns == 1) {
        TACIT_TRY(tacit_yaml_text(r->yaml, node, "the label's name", &text, &length, r->error));
        schema->label = tacit_copy_text(text);
        return schema->label != NULL ? TACIT_OK : tacit_fail_memory(r->error);
    }
    tacit_status status = schema_read_list(r, node, "the label's names", columns + 1, &names);
    if (status == TACIT_OK && names.count < columns)
        status = tacit_yaml_fail(r->yaml, node, r->error, of_time, tacit_response_name(schema->response));
    if (status == TACIT_OK) {
        const bool entry = names.count > columns;
        schema->label = tacit_copy_text(names.text[entry]);
        schema->event = tacit_copy_text(names.text[1 + entry]);
        if (entry) schema->entry = tacit_copy_text(names.text[0]);
        if (schema->label == NULL || schema->event == NULL || (entry && schema->entry == NULL))
            status = tacit_fail_memory(r->error);
    }
    tacit_levels_clear(&names);
    return status;
}

static tacit_status read_causes(const schema_reading *r, const yaml_node_t *node) {
    if (node != NULL && r->schema->response == TACIT_RESPONSE_TIME)
        TACIT_TRY(schema_read_list(r, node, "causes", 20, &r->schema->causes));
    if (node == NULL || r->schema->causes.count > 1) return TACIT_OK;
    return tacit_yaml_fail(r->yaml, node, r->error, "causes are at least two, of a label of kind time");
}

tacit_status schema_read_label(const schema_reading *r, const yaml_node_t *node) {
    enum { NAME, KIND, CLASSES, OTHERS, LOW, HIGH, FROM, MISSING, CAUSES, RECODE, KEYS };
    static const char *const keys[] = { "name", "kind", "classes", "others", "low",
                                        "high", "from", "missing", "causes", "recode" };
    const yaml_node_t *values[KEYS];
    const char *text = "";
    size_t length = 0;
    int kind = TACIT_RESPONSE_CLASS;
    TACIT_TRY(tacit_yaml_mapping(r->yaml, node, "label", keys, KEYS, values, r->error));
    if (values[NAME] == NULL) return tacit_yaml_fail(r->yaml, node, r->error, "label has no name");
    if (values[KIND] != NULL) {
        TACIT_TRY(tacit_yaml_text(r->yaml, values[KIND], "kind", &text, &length, r->error));
        while (kind < TACIT_RESPONSES && strcmp(text, tacit_response_name((tacit_response)kind)) != 0) kind++;
        if (kind == TACIT_RESPONSES)
            return tacit_yaml_fail(
                r->yaml, values[KIND], r->error,
                "the label's kind must be class, number or count, or time (with an event)");
    }
    r->schema->response = (tacit_response)kind;
    TACIT_TRY(read_label_names(r, values[NAME]));
    TACIT_TRY(schema_read_mark(r, values[FROM], &r->schema->label_from_rows));
    TACIT_TRY(read_label_missing(r, values[MISSING]));
    TACIT_TRY(read_causes(r, values[CAUSES]));
    bool numeric = kind != TACIT_RESPONSE_CLASS;
    if (numeric && (values[CLASSES] != NULL || values[OTHERS] != NULL || values[RECODE] != NULL))
        return tacit_yaml_fail(r->yaml, node, r->error, "a label that is a %s has no classes", text);
    if (!numeric && (values[LOW] != NULL || values[HIGH] != NULL))
        return tacit_yaml_fail(r->yaml, node, r->error,
                               "low and high belong to a label of kind number or count, or time");
    if (numeric) return read_response(r, node, values[LOW], values[HIGH]);
    if (values[CLASSES] == NULL) return tacit_yaml_fail(r->yaml, node, r->error, "label has no classes");
    TACIT_TRY(read_classes(r, values[CLASSES], values[OTHERS]));
    return schema_read_recode(r, values[RECODE], &r->schema->classes, "classes", &r->schema->recode);
}
