/* What a program with a token sends to the coordinator's interface: 'd' the body of a definition that is to be
 * checked, 's' that of a schema, of which another column may be asked for as the outcome, 'w' a definition by
 * itself as it is written for a new study. What is accepted is a text that parties
 * read as the same study, to the last bit of its hash. */
#include <stdlib.h>
#include <string.h>

#include "api/study/desk.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void check_body(const char *text, size_t length) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_desk_reply reply = { .document = NULL };
    json_t *said = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    const tacit_desk_request request = { .folder = "/nonexistent", .said = said };
    tacit_status status = tacit_desk_check_definition(&reply, &request, &error);
    if (status != TACIT_OK && error.text[0] == 0) abort();
    if ((status == TACIT_OK) != (reply.document != NULL)) abort();
    tacit_desk_reply_clear(&reply);
    json_decref(said);
}

/* What is answered is a schema too, and has the outcome that was asked for. */
static void check_schema(const char *text, size_t length) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_desk_reply reply = { .document = NULL };
    tacit_schema *schema = NULL;
    json_t *said = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    const tacit_desk_request request = { .folder = "/nonexistent", .said = said };
    tacit_status status = tacit_desk_check_schema(&reply, &request, &error);
    if (status != TACIT_OK && error.text[0] == 0) abort();
    if ((status == TACIT_OK) != (reply.document != NULL)) abort();
    if (status == TACIT_OK) {
        const char *made = json_string_value(json_object_get(reply.document, "schema"));
        const json_t *outcome = json_object_get(said, "outcome");
        if (made == NULL || tacit_schema_parse(&schema, made, strlen(made), "again", NULL) != TACIT_OK)
            abort();
        if (outcome != NULL &&
            strcmp(schema->label, json_string_value(json_object_get(outcome, "column"))) != 0)
            abort();
    }
    tacit_schema_free(schema);
    tacit_desk_reply_clear(&reply);
    json_decref(said);
}

static void check_written(const char *text, size_t length) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_study *study = NULL, *again = NULL;
    if (tacit_study_compose(&study, text, length, "fuzz.yaml", &error) != TACIT_OK) {
        if (error.text[0] == 0) abort();
        return;
    }
    if (tacit_study_parse(&again, tacit_buffer_text(&study->canonical), study->canonical.length, "again",
                          NULL) != TACIT_OK)
        abort();
    if (memcmp(again->hash, study->hash, sizeof study->hash) != 0) abort();
    tacit_study_free(again);
    tacit_study_free(study);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static const char slow[] = "expected_rows"; /* is tried out on drawn rows, which takes seconds */
    tacit_buffer text = TACIT_BUFFER_INIT;
    if (length < 1 || memmem(bytes, length, slow, sizeof slow - 1) != NULL) return 0;
    if (tacit_buffer_append(&text, bytes + 1, length - 1, NULL) == TACIT_OK) {
        if (bytes[0] == 'd') check_body(tacit_buffer_text(&text), text.length);
        if (bytes[0] == 's') check_schema(tacit_buffer_text(&text), text.length);
        if (bytes[0] == 'w') check_written(tacit_buffer_text(&text), text.length);
    }
    tacit_buffer_clear(&text);
    return 0;
}
