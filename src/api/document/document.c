#include "api/document/document.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

tacit_status tacit_document_text(char **out, json_t *document, tacit_error *error) {
    char *text = document != NULL ? json_dumps(document, JSON_INDENT(2)) : NULL;
    json_decref(document);
    if (text == NULL) return tacit_fail_memory(error);
    *out = text;
    return TACIT_OK;
}

tacit_status tacit_bytes_copy(char **out, const void *bytes, size_t length, tacit_error *error) {
    char *copy = length < SIZE_MAX ? TACIT_NEW(char, length + 1) : NULL;
    if (copy == NULL) return tacit_fail_memory(error);
    if (length > 0) memcpy(copy, bytes, length);
    *out = copy;
    return TACIT_OK;
}

char *tacit_string_free(char *text) {
    free(text);
    return NULL;
}

void *tacit_bytes_free(void *bytes) {
    free(bytes);
    return NULL;
}
