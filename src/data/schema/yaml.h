/*
 * Reading YAML written by people: every error names file:line, what is not understood is refused.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

#include "base/error.h"

/* A parsed document; `name` is shown in errors and borrowed. */
typedef struct tacit_yaml {
    yaml_parser_t parser;
    yaml_document_t document;
    const char *name;
} tacit_yaml;

/* Parse exactly one document. TACIT_INPUT beyond these limits, before it is parsed: the time that libyaml
 * takes grows with the square of the depth. */
enum { TACIT_YAML_DEPTH_MOST = 64, TACIT_YAML_BYTES_MOST = 4 << 20 };
tacit_status tacit_yaml_open(tacit_yaml *out, const char *text, size_t length, const char *name,
                             tacit_error *error);
void tacit_yaml_close(tacit_yaml *yaml);

/* NULL for an empty document. Borrowed, like every node. */
const yaml_node_t *tacit_yaml_root(tacit_yaml *yaml);

/* Record "name:line: ..." and return TACIT_INPUT. */
tacit_status tacit_yaml_fail(const tacit_yaml *yaml, const yaml_node_t *node, tacit_error *error,
                             const char *format, ...) TACIT_PRINTF(4, 5);

/* Values; `what` names them in errors. Text is not empty, UTF-8, without NUL, and borrowed. */
tacit_status tacit_yaml_text(const tacit_yaml *yaml, const yaml_node_t *node, const char *what,
                             const char **out, size_t *length, tacit_error *error);
tacit_status tacit_yaml_number(const tacit_yaml *yaml, const yaml_node_t *node, const char *what, double *out,
                               tacit_error *error);

/* Spread a mapping over `values`, one for each of `keys`, NULL where absent; other keys are refused. */
tacit_status tacit_yaml_mapping(tacit_yaml *yaml, const yaml_node_t *node, const char *what,
                                const char *const *keys, size_t count, const yaml_node_t **values,
                                tacit_error *error);
