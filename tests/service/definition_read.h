/* Reading definitions in the tests: one that is right, and one that is refused with a sentence. */
#pragma once

#include "definition.h"
#include "setting.h"

static inline tacit_study *parse(const char *text) {
    tacit_study *study = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(definition_parse(&study, text, &error), error);
    return study;
}

static inline void fails(const char *text, tacit_status expected, const char *says) {
    tacit_study *study = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = definition_parse(&study, text, &error);
    if (status != expected || strstr(error.text, says) == NULL)
        fail_msg("%s\nexpected %s with '%s', got %s: %s", text, tacit_status_name(expected), says,
                 tacit_status_name(status), error.text);
    assert_null(study);
    assert_null(strchr(error.text, '\n'));
}

static inline void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}
