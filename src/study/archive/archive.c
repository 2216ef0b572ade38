#include "study/archive/archive.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "study/json_value.h"
#include "tacit/tacit.h"

/* The form of the document; a later one says so here, and earlier ones stay readable under their ids. */
#define FORM "tacit archived study 1"

static json_t *or_null(const json_t *value) {
    return value != NULL ? json_incref((json_t *)(uintptr_t)value) : json_null();
}

static json_t *text_or_null(const tacit_buffer *text) {
    return text != NULL && text->length > 0 ? json_stringn((const char *)text->bytes, text->length)
                                            : json_null();
}

static void make_id(char out[TACIT_ARCHIVE_ID_SIZE], const void *bytes, size_t length) {
    uint8_t hash[TACIT_HASH_BYTES];
    crypto_generichash(hash, sizeof hash, bytes, length, NULL, 0);
    sodium_bin2hex(out, TACIT_ARCHIVE_ID_SIZE, hash, sizeof hash);
}

tacit_status tacit_archive_make(tacit_buffer *out, char id[TACIT_ARCHIVE_ID_SIZE],
                                const tacit_archive_parts *parts, tacit_error *error) {
    const tacit_study *study = parts->study;
    json_t *model = parts->model != NULL && parts->model->length > 0
                        ? json_loadb((const char *)parts->model->bytes, parts->model->length, 0, NULL)
                        : json_null();
    json_t *document = json_pack(
        "{s:s,s:s,s:s,s:s,s:s,s:s,s:o,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "archive", FORM, "program",
        tacit_version(), "coordinator", parts->coordinator, "study", study->name, "title", study->title,
        "state", parts->state, "reason", parts->reason[0] != 0 ? json_string(parts->reason) : json_null(),
        "version", (json_int_t)parts->version, "parties", (json_int_t)parts->parties, "approval",
        study->approval[0] != 0 ? json_string(study->approval) : json_null(), "definition",
        text_or_null(&study->canonical), "model", model, "table", or_null(parts->table), "evaluation",
        or_null(parts->evaluation), "card", text_or_null(parts->card), "instruments",
        parts->instruments != NULL ? or_null(parts->instruments) : json_array());
    char *text = document != NULL ? json_dumps(document, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(document);
    if (text == NULL) return tacit_fail_memory(error);
    tacit_status status =
        strlen(text) <= TACIT_ARCHIVE_MOST
            ? tacit_buffer_append(out, text, strlen(text), error)
            : tacit_fail(error, TACIT_LIMIT, "the archived study would have more than %d bytes",
                         TACIT_ARCHIVE_MOST);
    if (status == TACIT_OK) make_id(id, text, strlen(text));
    free(text);
    return status;
}

tacit_status tacit_archive_check_id(const char *id, tacit_error *error) {
    if (strlen(id) == TACIT_ARCHIVE_ID_SIZE - 1 &&
        strspn(id, "0123456789abcdef") == TACIT_ARCHIVE_ID_SIZE - 1)
        return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "'%.80s' is not the id of an archived study: that has %d hexadecimal digits", id,
                      TACIT_ARCHIVE_ID_SIZE - 1);
}

tacit_status tacit_archive_verify(const void *bytes, size_t length, const char *id, tacit_error *error) {
    char found[TACIT_ARCHIVE_ID_SIZE];
    make_id(found, bytes, length);
    if (strcmp(found, id) == 0) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED, "this is not the archived study %s: its bytes were changed", id);
}

tacit_status tacit_archive_read(json_t **out, char id[TACIT_ARCHIVE_ID_SIZE], const void *bytes,
                                size_t length, const char *name, tacit_error *error) {
    json_t *read =
        length <= TACIT_ARCHIVE_MOST ? json_loadb(bytes, length, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const char *form = json_string_value(json_object_get(read, "archive"));
    if (form == NULL || strcmp(form, FORM) != 0 || !json_is_string(json_object_get(read, "definition"))) {
        json_decref(read);
        return tacit_fail(error, TACIT_INPUT, "%s is not an archived study (tacit study archive makes one)",
                          name);
    }
    make_id(id, bytes, length);
    *out = read;
    return TACIT_OK;
}
