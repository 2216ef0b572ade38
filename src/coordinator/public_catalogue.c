/* What the public catalogue says of a study: what somebody needs to decide whether to read further. */
#include <sodium.h>

#include "coordinator/coordinator_parts.h"
#include "study/json_value.h"

static json_t *text_or_null(const tacit_buffer *text) {
    return text->length > 0 ? json_stringn((const char *)text->bytes, text->length) : json_null();
}

static json_t *line_or_null(const char *text) { return text[0] != 0 ? json_string(text) : json_null(); }

tacit_status public_study(json_t **out, const tacit_study_record *record, const tacit_study *study,
                          tacit_error *error) {
    char hash[2 * TACIT_HASH_BYTES + 1];
    json_t *explanation = NULL;
    TACIT_TRY(tacit_json_explanation(&explanation, &study->plan, error));
    *out = json_pack("{s:s,s:s,s:s,s:s,s:o,s:o,s:o,s:I,s:I,s:s,s:o,s:o}", "name", record->name, "title",
                     study->title, "state", tacit_study_state_name(record->state), "enrolment",
                     tacit_enrolment_name(study->enrolment), "description", text_or_null(&study->description),
                     "approval", line_or_null(study->approval), "consent_document",
                     text_or_null(&study->document), "parties", (json_int_t)study->plan.parties,
                     "minimum_rows", (json_int_t)study->plan.minimum_rows, "hash",
                     sodium_bin2hex(hash, sizeof hash, study->hash, sizeof study->hash), "settings",
                     tacit_json_study_settings(study), "explanation", explanation);
    return *out != NULL ? TACIT_OK : tacit_fail_memory(error);
}
