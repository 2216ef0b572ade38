#include "api/methods_list.h"

#include <string.h>

#include "api/document.h"
#include "data/text.h"
#include "method/methods.h"

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
static json_t *parameter_document(const tacit_parameter *parameter) {
    double number;
    if (parameter->choices != NULL && parameter->choices[0] == 0)
        return json_pack("{s:s,s:s,s:s}", "name", parameter->name, "default", parameter->fallback, "help",
                         parameter->help);
    if (parameter->choices != NULL)
        return json_pack("{s:s,s:s,s:o,s:s}", "name", parameter->name, "default", parameter->fallback,
                         "choices", choices_document(parameter->choices), "help", parameter->help);
    bool is_number = tacit_text_to_number(parameter->fallback, strlen(parameter->fallback), &number);
    return json_pack("{s:s,s:o,s:[o,o],s:s}", "name", parameter->name, "default",
                     is_number ? json_real(number) : json_string(parameter->fallback), "range",
                     tacit_json_number(parameter->least), tacit_json_number(parameter->most), "help",
                     parameter->help);
}

static json_t *method_document(const tacit_method *method) {
    json_t *parameters = json_array(), *roles = json_array();
    for (const tacit_parameter *one = method->parameters; one != NULL && one->name != NULL; one++)
        parameters = tacit_json_append(parameters, parameter_document(one));
    roles = tacit_json_append(roles, json_string("coordinator"));
    if (method->handlers != NULL) roles = tacit_json_append(roles, json_string("party"));
    return json_pack("{s:s,s:s,s:s,s:s,s:o,s:o}", "name", method->name, "title", method->title, "reference",
                     method->reference, "unit", method->noise_free ? "none" : method->units, "roles", roles,
                     "parameters", parameters);
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
