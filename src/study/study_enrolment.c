/* Who may join a study: by invitation, by asking, and whom its rows make eligible; and what it is derived
 * from. */
#include <string.h>

#include "data/formula/condition.h"
#include "study/study_parts.h"

static const char *const names[] = { "invite", "apply", "open" };

const char *tacit_enrolment_name(tacit_enrolment enrolment) { return names[enrolment]; }

tacit_status study_read_enrolment(reading *r, const yaml_node_t *node) {
    const char *text;
    size_t length;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, "enrolment", &text, &length, r->error));
    for (int i = TACIT_ENROL_INVITED; i <= TACIT_ENROL_ANYBODY; i++) {
        r->study->enrolment = (tacit_enrolment)i;
        if (strcmp(text, names[i]) == 0) return TACIT_OK;
    }
    return tacit_yaml_fail(&r->yaml, node, r->error, "enrolment must be invite, apply or open, not '%.40s'",
                           text);
}

tacit_status study_print_enrolment(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    if (study->enrolment == TACIT_ENROL_INVITED) return TACIT_OK;
    return tacit_buffer_print(out, error, "enrolment: %s\n", names[study->enrolment]);
}

tacit_status study_read_eligible(reading *r, const yaml_node_t *node) {
    const char *text;
    size_t length;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, "eligible", &text, &length, r->error));
    if (r->study->schema->sparse > 0)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "eligible needs named columns, and rows of a LIBSVM file have none");
    tacit_status status =
        tacit_condition_create(&r->study->eligible, text, r->study->schema, "eligible", r->error);
    return status == TACIT_OK ? TACIT_OK
                              : study_fail_at(r, node, status == TACIT_USAGE ? TACIT_INPUT : status);
}

tacit_status study_print_eligible(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    if (study->eligible == NULL) return TACIT_OK;
    return tacit_schema_print_line(out, "eligible", tacit_condition_text(study->eligible), error);
}

tacit_status study_read_derived_from(reading *r, const yaml_node_t *node) {
    const char *text;
    size_t length;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, "derived_from", &text, &length, r->error));
    if (length != sizeof r->study->derived_from - 1 || strspn(text, "0123456789abcdef") != length)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "derived_from must be the permanent id of an archived study, %zu hexadecimal "
                               "digits in lower case",
                               sizeof r->study->derived_from - 1);
    memcpy(r->study->derived_from, text, length + 1);
    return TACIT_OK;
}

tacit_status study_print_derived_from(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    if (study->derived_from[0] == 0) return TACIT_OK;
    return tacit_buffer_print(out, error, "derived_from: \"%s\"\n", study->derived_from);
}
