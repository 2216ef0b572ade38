#include "cli/json.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "cli/text.h"

json_t *tacit_json_number(double value) {
    if (isnan(value)) return json_null();
    if (isinf(value)) return json_string(value > 0 ? "inf" : "-inf");
    return json_real(value);
}

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

json_t *tacit_json_append(json_t *list, json_t *item) {
    if (json_array_append_new(list, item) == 0) return list;
    json_decref(list);
    return NULL;
}
