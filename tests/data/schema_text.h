/* Small schemas as text. */
#pragma once

#include <string.h>

#include "check.h"

#include "data/schema/schema.h"

#define LABEL "label: {name: y, classes: [no, yes]}\n"
#define COLUMNS "columns: [{name: a, kind: number, low: 0, high: 1}]\n"

static inline tacit_status parse(tacit_schema **out, const char *text, tacit_error *error) {
    return tacit_schema_parse(out, text, strlen(text), "s.yaml", error);
}
