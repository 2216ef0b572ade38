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
    char known[TACIT_METHODS_TEXT];
    tacit_methods_with("all", NULL, known);
    return tacit_fail(error, TACIT_USAGE, "no method is called '%.60s'; there are: %s", name, known);
}

/* ---- lists ---- */

static bool is_any(const tacit_method *method) { return method != NULL; }
static bool is_alone(const tacit_method *method) { return method->fits_alone; }
static bool is_alone_by_party(const tacit_method *method) { return method->fits_alone_by_party; }
static bool is_alone_with_delta(const tacit_method *method) {
    return method->needs_delta && (method->fits_alone || method->fits_alone_by_party);
}
static bool chooses_lambda(const tacit_method *method) { return method->chooses_lambda; }
static bool infers(const tacit_method *method) { return method->infers != NULL; }
static bool has_no_centre(const tacit_method *method) { return method->meetings != NULL; }
static bool has_no_lambda(const tacit_method *method) { return method->lambda_may_vanish; }
static bool needs_points(const tacit_method *method) { return method->needs_points; }
static bool has_roles(const tacit_method *method) { return method->roles != NULL; }
static bool has_two_servers(const tacit_method *method) { return method->compute != NULL; }

static const struct {
    const char *name;
    bool (*holds)(const tacit_method *method);
} traits[] = {
    { "all", is_any },
    { "alone", is_alone },
    { "alone-by-party", is_alone_by_party },
    { "alone-with-delta", is_alone_with_delta },
    { "chooses-lambda", chooses_lambda },
    { "infers", infers },
    { "no-centre", has_no_centre },
    { "no-lambda", has_no_lambda },
    { "points", needs_points },
    { "roles", has_roles },
    { "two-servers", has_two_servers },
};

void tacit_methods_append(char out[TACIT_METHODS_TEXT], size_t i, size_t count, const char *last,
                          const char *name) {
    size_t used = strlen(out);
    bool ends = last != NULL && i + 1 == count;
    snprintf(out + used, TACIT_METHODS_TEXT - used, "%s%s%s%s",
             i == 0 ? ""
             : ends ? " "
                    : ", ",
             i > 0 && ends ? last : "", i > 0 && ends ? " " : "", name);
}

const char *tacit_methods_with(const char *trait, const char *last, char out[TACIT_METHODS_TEXT]) {
    size_t t = 0, count = 0, listed = 0;
    while (t < sizeof traits / sizeof *traits && strcmp(traits[t].name, trait) != 0) t++;
    if (t == sizeof traits / sizeof *traits) return NULL;
    for (size_t i = 0; tacit_methods[i] != NULL; i++) count += traits[t].holds(tacit_methods[i]);
    out[0] = 0;
    for (size_t i = 0; tacit_methods[i] != NULL; i++)
        if (traits[t].holds(tacit_methods[i]))
            tacit_methods_append(out, listed++, count, last, tacit_methods[i]->name);
    return out;
}
