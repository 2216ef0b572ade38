/* A study's definition for the tests, with one of its keys said otherwise. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "study/study.h"

enum { DEFINITION_SIZE = 4096, DEFINITION_KEYS = 11 };

static const char *const definition_keys[DEFINITION_KEYS][2] = {
    { "name", "two-sites" },
    { "title", "Two sites" },
    { "method", "avg" },
    { "set", "{noise: party}" },
    { "epsilon", "2" },
    { "delta", "0" },
    { "lambda", "0.05" },
    { "parties", "{expected: 3, minimum: 2}" },
    { "minimum_rows", "5" },
    { "patience", "1.5" },
    { "schema",
      "|\n  label: {name: y, classes: [n, p]}\n  columns:\n    - {name: a, kind: number, low: 0, high: 1}" },
};

/* `key` gets `value`, or is left out when that is NULL; `key` NULL changes nothing. A key that is not there
 * comes last. */
static inline const char *definition_with(char out[DEFINITION_SIZE], const char *key, const char *value) {
    size_t used = 0;
    bool known = key == NULL || value == NULL;
    out[0] = 0;
    for (size_t i = 0; i < DEFINITION_KEYS; i++) {
        bool changed = key != NULL && strcmp(key, definition_keys[i][0]) == 0;
        known = known || changed;
        const char *text = changed ? value : definition_keys[i][1];
        if (text != NULL)
            used +=
                (size_t)snprintf(out + used, DEFINITION_SIZE - used, "%s: %s\n", definition_keys[i][0], text);
    }
    if (!known) snprintf(out + used, DEFINITION_SIZE - used, "%s: %s\n", key, value);
    return out;
}

static inline tacit_status definition_parse(tacit_study **out, const char *text, tacit_error *error) {
    return tacit_study_parse(out, text, strlen(text), "s.yaml", error);
}
