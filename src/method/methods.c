#include "method/methods.h"

#include <stdio.h>
#include <string.h>

const tacit_method *const tacit_methods[] = {
#define TACIT_METHOD_ENTRY(name) &tacit_method_##name,
    TACIT_METHODS(TACIT_METHOD_ENTRY)
#undef TACIT_METHOD_ENTRY
        NULL,
};

const tacit_method *tacit_method_find(const char *name) {
    for (size_t i = 0; tacit_methods[i] != NULL; i++)
        if (strcmp(tacit_methods[i]->name, name) == 0) return tacit_methods[i];
    return NULL;
}

tacit_status tacit_method_require(const tacit_method **out, const char *name, tacit_error *error) {
    const tacit_method *method = tacit_method_find(name);
    if (method != NULL) {
        *out = method;
        return TACIT_OK;
    }
    char known[600];
    size_t used = 0;
    known[0] = 0;
    for (size_t i = 0; tacit_methods[i] != NULL && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "",
                                 tacit_methods[i]->name);
    return tacit_fail(error, TACIT_USAGE, "no method is called '%.60s'; there are: %s", name, known);
}
