#include "data/schema/yaml.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "data/schema/names.h"
#include "data/schema/text.h"

static tacit_status parse_failed(const tacit_yaml *yaml, tacit_error *error) {
    const yaml_parser_t *parser = &yaml->parser;
    if (parser->error == YAML_MEMORY_ERROR) return tacit_fail_memory(error);
    const char *problem = parser->problem != NULL ? parser->problem : "not readable";
    if (parser->error == YAML_READER_ERROR)
        return tacit_fail(error, TACIT_INPUT, "%s: not a text file (%s at byte %zu)", yaml->name, problem,
                          parser->problem_offset);
    return tacit_fail(error, TACIT_INPUT, "%s:%zu: not valid YAML: %s", yaml->name,
                      parser->problem_mark.line + 1, problem);
}

/* Walk the events until the end, or until they are too deep. What is no YAML is left to the parser proper,
 * for its sentence. */
static tacit_status check_depth(const char *text, size_t length, const char *name, tacit_error *error) {
    yaml_parser_t parser;
    tacit_status status = TACIT_OK;
    size_t depth = 0;
    if (!yaml_parser_initialize(&parser)) return tacit_fail_memory(error);
    yaml_parser_set_input_string(&parser, (const unsigned char *)(length > 0 ? text : ""), length);
    for (bool more = true; more && status == TACIT_OK;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) break;
        if (event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT) depth++;
        if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT) depth--;
        if (depth > TACIT_YAML_DEPTH_MOST)
            status = tacit_fail(error, TACIT_INPUT, "%s:%zu: lists and mappings are nested more than %d deep",
                                name, event.start_mark.line + 1, TACIT_YAML_DEPTH_MOST);
        more = event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return status;
}

tacit_status tacit_yaml_open(tacit_yaml *out, const char *text, size_t length, const char *name,
                             tacit_error *error) {
    *out = (tacit_yaml){ .name = name };
    if (length > TACIT_YAML_BYTES_MOST)
        return tacit_fail(error, TACIT_INPUT, "%s: %zu bytes are more than the %d that are read", name,
                          length, TACIT_YAML_BYTES_MOST);
    TACIT_TRY(check_depth(text, length, name, error));
    if (!yaml_parser_initialize(&out->parser)) return tacit_fail_memory(error);
    /* libyaml ends the program for a null pointer, which an empty buffer has. */
    yaml_parser_set_input_string(&out->parser, (const unsigned char *)(length > 0 ? text : ""), length);
    if (!yaml_parser_load(&out->parser, &out->document)) {
        tacit_status status = parse_failed(out, error);
        yaml_parser_delete(&out->parser);
        return status;
    }
    yaml_document_t second;
    tacit_status status = TACIT_OK;
    if (!yaml_parser_load(&out->parser, &second)) {
        status = parse_failed(out, error);
    } else {
        const yaml_node_t *root = yaml_document_get_root_node(&second);
        if (root != NULL)
            status = tacit_yaml_fail(out, root, error, "one YAML document is wanted here, not several");
        yaml_document_delete(&second);
    }
    if (status != TACIT_OK) tacit_yaml_close(out);
    return status;
}

void tacit_yaml_close(tacit_yaml *yaml) {
    yaml_document_delete(&yaml->document);
    yaml_parser_delete(&yaml->parser);
}

const yaml_node_t *tacit_yaml_root(tacit_yaml *yaml) { return yaml_document_get_root_node(&yaml->document); }

tacit_status tacit_yaml_fail(const tacit_yaml *yaml, const yaml_node_t *node, tacit_error *error,
                             const char *format, ...) {
    char said[TACIT_ERROR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    tacit_format_list(said, sizeof said, format, arguments);
    va_end(arguments);
    return tacit_fail(error, TACIT_INPUT, "%s:%zu: %s", yaml->name, node->start_mark.line + 1, said);
}

tacit_status tacit_yaml_text(const tacit_yaml *yaml, const yaml_node_t *node, const char *what,
                             const char **out, size_t *length, tacit_error *error) {
    if (node->type != YAML_SCALAR_NODE)
        return tacit_yaml_fail(yaml, node, error, "%s must be a single text", what);
    const char *text = (const char *)node->data.scalar.value;
    size_t size = node->data.scalar.length;
    if (size == 0) return tacit_yaml_fail(yaml, node, error, "%s must not be empty", what);
    if (memchr(text, 0, size) != NULL)
        return tacit_yaml_fail(yaml, node, error, "%s holds a NUL character", what);
    if (!tacit_text_is_utf8(text, size)) return tacit_yaml_fail(yaml, node, error, "%s is not UTF-8", what);
    *out = text;
    *length = size;
    return TACIT_OK;
}

tacit_status tacit_yaml_number(const tacit_yaml *yaml, const yaml_node_t *node, const char *what, double *out,
                               tacit_error *error) {
    const char *text;
    size_t length;
    double value;
    char shown[TACIT_CELL_TEXT];
    TACIT_TRY(tacit_yaml_text(yaml, node, what, &text, &length, error));
    if (!tacit_text_to_number(text, length, &value))
        return tacit_yaml_fail(yaml, node, error, "%s must be a finite number, not '%s'", what,
                               tacit_text_shown(text, length, shown));
    *out = value == 0 ? 0 : value; /* no -0 */
    return TACIT_OK;
}

static tacit_status unknown_key(const tacit_yaml *yaml, const yaml_node_t *key, const char *text,
                                size_t length, const char *what, const char *const *keys, size_t count,
                                tacit_error *error) {
    char known[300] = "", shown[TACIT_CELL_TEXT];
    size_t used = 0;
    tacit_text_shown(text, length, shown);
    for (size_t i = 0; i < count && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", keys[i]);
    if (used < sizeof known)
        return tacit_yaml_fail(yaml, key, error, "unknown key '%s' in %s; the keys are %s", shown, what,
                               known);
    const char *near = tacit_names_closest(keys, count, shown);
    if (near != NULL)
        return tacit_yaml_fail(yaml, key, error, "unknown key '%s' in %s; did you mean '%s'?", shown, what,
                               near);
    return tacit_yaml_fail(yaml, key, error, "unknown key '%s' in %s, which has %zu keys: see its reference",
                           shown, what, count);
}

tacit_status tacit_yaml_mapping(tacit_yaml *yaml, const yaml_node_t *node, const char *what,
                                const char *const *keys, size_t count, const yaml_node_t **values,
                                tacit_error *error) {
    for (size_t k = 0; k < count; k++) values[k] = NULL;
    if (node->type != YAML_MAPPING_NODE)
        return tacit_yaml_fail(yaml, node, error, "%s must be a mapping (key: value)", what);
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top;
         pair++) {
        const yaml_node_t *key = yaml_document_get_node(&yaml->document, pair->key);
        const char *text;
        size_t length, k = 0;
        TACIT_TRY(tacit_yaml_text(yaml, key, "a key", &text, &length, error));
        while (k < count && strcmp(text, keys[k]) != 0) k++;
        if (k == count) return unknown_key(yaml, key, text, length, what, keys, count, error);
        if (values[k] != NULL)
            return tacit_yaml_fail(yaml, key, error, "key '%s' appears twice in %s", text, what);
        values[k] = yaml_document_get_node(&yaml->document, pair->value);
    }
    return TACIT_OK;
}
