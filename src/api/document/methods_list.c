#include "api/document/methods_list.h"

#include <string.h>

#include "api/document/document.h"
#include "base/number.h"
#include "lab/audit/audit.h"
#include "method/methods.h"
#include "session/plan/wording.h"

static json_t *choices_document(const char *choices) {
    json_t *list = json_array();
    while (*choices != 0) {
        size_t length = strcspn(choices, "|");
        list = tacit_json_append(list, json_stringn(choices, length));
        choices += length + (choices[length] == '|');
    }
    return list;
}

/* A parameter is one of its choices, a number in its range, or any text. */
static json_t *parameter_document(const tacit_method *method, const tacit_parameter *one) {
    char usual[TACIT_SETTING_SIZE];
    tacit_setting_print(method->defaults, one, usual);
    switch (one->type) {
    case TACIT_SETTING_TEXT:
        return json_pack("{s:s,s:s,s:s,s:s}", "name", one->name, "type", "text", "default", usual, "help",
                         one->help);
    case TACIT_SETTING_CHOICE:
        return json_pack("{s:s,s:s,s:s,s:o,s:s}", "name", one->name, "type", "choice", "default", usual,
                         "choices", choices_document(one->choices), "help", one->help);
    case TACIT_SETTING_NUMBER:
    case TACIT_SETTING_COUNT: break;
    }
    return json_pack("{s:s,s:s,s:f,s:[o,o],s:s}", "name", one->name, "type",
                     one->type == TACIT_SETTING_COUNT ? "count" : "number", "default",
                     tacit_setting_number(method->defaults, one), "range", tacit_json_number(one->least),
                     tacit_json_number(one->most), "help", one->help);
}

static json_t *count_document(uint64_t count) {
    return count > 0 ? json_integer((json_int_t)count) : json_null();
}

static json_t *method_document(const tacit_method *method) {
    json_t *parameters = json_array(), *roles = json_array();
    for (const tacit_parameter *one = method->parameters; one != NULL && one->name != NULL; one++)
        parameters = tacit_json_append(parameters, parameter_document(method, one));
    roles = tacit_json_append(roles, json_string("coordinator"));
    if (method->handlers != NULL) roles = tacit_json_append(roles, json_string("party"));
    char terms[TACIT_TERMS_TEXT];
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:o,s:o,s:o,s:o}", "name", method->name, "title", method->title,
                     "reference", method->reference, "unit", method->noise_free ? "none" : method->units,
                     "terms", tacit_method_terms_text(method, terms), "roles", roles, "rounds",
                     count_document(tacit_method_rounds(method)), "fewest_rounds",
                     count_document(tacit_method_fewest(method)), "parameters", parameters);
}

json_t *tacit_methods_list(void) {
    json_t *list = json_array();
    for (size_t i = 0; tacit_methods[i] != NULL; i++)
        list = tacit_json_append(list, method_document(tacit_methods[i]));
    return list;
}

tacit_status tacit_methods_document(char **json, tacit_error *error) {
    TACIT_TRY(tacit_require(json, "where to put the document", error));
    return tacit_document_text(json, tacit_methods_list(), error);
}

/* ---- lists of methods in texts ---- */

/* A library for parties alone audits nothing. */
static const char *list_audited(char out[TACIT_METHODS_TEXT]) {
    out[0] = 0;
#ifndef TACIT_PARTY_ONLY
    size_t listed = 0;
    for (size_t i = 0; tacit_auditables[i] != NULL; i++)
        if (tacit_method_find(tacit_auditables[i]->name) != NULL)
            tacit_methods_append(out, listed++, 0, NULL, tacit_auditables[i]->name);
#endif
    return out;
}

const char *tacit_methods_help(const char *text, char out[TACIT_HELP_TEXT]) {
    size_t used = 0;
    if (strchr(text, '{') == NULL) return text;
    while (*text != 0 && used < TACIT_HELP_TEXT - 1) {
        size_t plain = strcspn(text, "{"), length = strcspn(text + plain, "}");
        char key[64], list[TACIT_METHODS_TEXT], *last;
        const char *braces = text + plain;
        used += (size_t)tacit_format(out + used, TACIT_HELP_TEXT - used, "%.*s", (int)plain, text);
        text += plain;
        if (*text == 0 || used >= TACIT_HELP_TEXT) break;
        tacit_format(key, sizeof key, "%.*s", (int)length - 1, text + 1);
        text += length + (text[length] == '}');
        last = strchr(key, ' ');
        if (last != NULL) *last++ = 0;
        const char *names =
            strcmp(key, "audited") == 0 ? list_audited(list) : tacit_methods_with(key, last, list);
        used += (size_t)(names != NULL ? tacit_format(out + used, TACIT_HELP_TEXT - used, "%s", names)
                                       : tacit_format(out + used, TACIT_HELP_TEXT - used, "%.*s",
                                                      (int)length + 1, braces));
    }
    return out;
}
