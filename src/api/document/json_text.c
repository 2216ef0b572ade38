#include "api/document/json_text.h"

#include <string.h>

#include "base/clean.h"
#include "base/memory.h"

json_t *tacit_json_text(const char *text) {
    json_t *valid = json_string(text);
    if (valid != NULL) return valid;
    size_t size = strlen(text) + 1;
    char *copy = TACIT_NEW(char, size);
    if (copy == NULL) return NULL;
    json_t *cleaned = json_string(tacit_text_clean(copy, size, text));
    free(copy);
    return cleaned;
}
