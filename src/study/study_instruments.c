/* The questionnaires of a study, as part of its definition: whoever archives it has them. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "person/instrument/instrument.h"
#include "study/study_parts.h"

enum { INSTRUMENTS_MOST = 16, INSTRUMENT_BYTES_MOST = 256 << 10 };

/* A signature is over the bytes, so a text is taken as it is or not at all. */
static tacit_status check(reading *r, const yaml_node_t *node, const tacit_buffer *kept, const char *text,
                          size_t length) {
    tacit_instrument *read = NULL;
    if (kept->length != length || memcmp(kept->bytes, text, length) != 0)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "a questionnaire must have no tabs, no blanks at the end of a line and one "
                               "line feed at its end: its signature is over these bytes");
    tacit_status status = tacit_instrument_parse(&read, text, length, "a questionnaire", r->error);
    tacit_instrument_free(read);
    return status == TACIT_OK ? TACIT_OK : study_fail_at(r, node, status);
}

/* A text of several lines is the questionnaire itself; one line names its file. */
static tacit_status take(reading *r, const yaml_node_t *node, tacit_buffer *out) {
    tacit_buffer file = TACIT_BUFFER_LIMITED(INSTRUMENT_BYTES_MOST);
    const char *text;
    size_t length;
    tacit_status status;
    TACIT_CHECK(study_text_or_file(r, node, "instruments", &file, &text, &length));
    TACIT_CHECK(study_take_text(r, node, "a questionnaire", text, length, INSTRUMENT_BYTES_MOST, out));
    TACIT_CHECK(check(r, node, out, text, length));
cleanup:
    tacit_buffer_clear(&file);
    return status;
}

tacit_status study_read_instruments(reading *r, const yaml_node_t *node) {
    tacit_study *study = r->study;
    if (node == NULL) return TACIT_OK;
    if (node->type != YAML_SEQUENCE_NODE)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "instruments must be a list, such as [sleep.instrument.yaml]");
    const size_t count = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
    if (count < 1 || count > INSTRUMENTS_MOST)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "instruments must list 1 to %d questionnaires, not %zu", INSTRUMENTS_MOST,
                               count);
    study->instruments = TACIT_NEW(tacit_buffer, count);
    if (study->instruments == NULL) return tacit_fail_memory(r->error);
    for (; study->instrument_count < count; study->instrument_count++) {
        const yaml_node_t *each = yaml_document_get_node(
            &r->yaml.document, node->data.sequence.items.start[study->instrument_count]);
        tacit_buffer *out = &study->instruments[study->instrument_count];
        *out = (tacit_buffer)TACIT_BUFFER_INIT;
        tacit_status status = take(r, each, out);
        if (status != TACIT_OK) tacit_buffer_clear(out);
        TACIT_TRY(status);
    }
    return TACIT_OK;
}

static tacit_status print_one(const tacit_buffer *text, tacit_buffer *out, tacit_error *error) {
    tacit_buffer copy = TACIT_BUFFER_INIT, indented = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_buffer_append(&copy, text->bytes, text->length, error));
    TACIT_CHECK(study_print_block(&indented, tacit_buffer_text(&copy), error));
    TACIT_CHECK(tacit_buffer_print(out, error, "  - |2\n"));
    TACIT_CHECK(study_print_block(out, tacit_buffer_text(&indented), error));
cleanup:
    tacit_buffer_clear(&indented);
    tacit_buffer_clear(&copy);
    return status;
}

tacit_status study_print_instruments(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    if (study->instrument_count == 0) return TACIT_OK;
    TACIT_TRY(tacit_buffer_print(out, error, "instruments:\n"));
    for (size_t i = 0; i < study->instrument_count; i++)
        TACIT_TRY(print_one(&study->instruments[i], out, error));
    return TACIT_OK;
}
