/* Rows and schemas from a text. */
#pragma once

#include <string.h>

#include "check.h"
#include "data/dataset.h"

static inline tacit_status read_text(tacit_dataset **out, tacit_schema **drafted, const char *text,
                                     const tacit_schema *schema, const tacit_load_options *options,
                                     tacit_error *error) {
    tacit_input *input = NULL;
    TACIT_TRY(tacit_input_open_memory(&input, text, strlen(text), "t.csv", error));
    tacit_status status = tacit_dataset_read(out, drafted, input, schema, options, error);
    tacit_input_free(input);
    return status;
}

static inline tacit_schema *schema_of(const char *text) {
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_schema_parse(&schema, text, strlen(text), "s.yaml", &error), error);
    return schema;
}
