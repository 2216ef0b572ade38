/* The desk of a coordinator that runs elsewhere, over its HTTP interface. */
#include <stdlib.h>
#include <string.h>

#include "api/study/client_parts.h"

enum { TIMEOUT_MS = 300000 };

tacit_status client_connect(tacit_client **out, const tacit_coordinator *coordinator,
                            bool (*cancelled)(void *context), void *context, tacit_error *error) {
    const tacit_client_settings settings = { .url = coordinator->address,
                                             .token = coordinator->token,
                                             .cancelled = cancelled,
                                             .cancelled_context = context };
    return tacit_client_create(out, &settings, error);
}

static bool is_plain(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '-' || letter == '_';
}

/* The path with the study's name for {study}, whatever letters that has. */
static tacit_status fill_path(tacit_buffer *out, const char *path, const char *study, tacit_error *error) {
    size_t head = strcspn(path, "{");
    TACIT_TRY(tacit_buffer_append(out, path, head, error));
    if (path[head] == 0) return TACIT_OK;
    for (const char *at = study; *at != 0; at++)
        TACIT_TRY(tacit_buffer_print(out, error, is_plain(*at) ? "%c" : "%%%02X", (unsigned char)*at));
    return tacit_buffer_print(out, error, "%s", strchr(path, '}') + 1);
}

static tacit_status status_of(unsigned http) {
    switch (http) {
    case 400:
    case 422: return TACIT_INPUT;
    case 401:
    case 403: return TACIT_REFUSED;
    case 404: return TACIT_NOT_FOUND;
    case 409: return TACIT_USAGE;
    case 413: return TACIT_LIMIT;
    default: return TACIT_NETWORK;
    }
}

/* The server's own sentence. */
static tacit_status fail_as_told(unsigned http, const tacit_buffer *answer, tacit_error *error) {
    json_t *said = json_loadb(tacit_buffer_text(answer), answer->length, 0, NULL);
    const char *sentence = json_string_value(json_object_get(said, "error"));
    tacit_status status = sentence != NULL
                              ? tacit_fail(error, status_of(http), "%s", sentence)
                              : tacit_fail(error, status_of(http), "the coordinator answered %u", http);
    json_decref(said);
    return status;
}

tacit_status client_ask(tacit_buffer *out, tacit_client *client, const char *method, const char *path,
                        const char *study, const json_t *said, const char *header, tacit_error *error) {
    tacit_buffer filled = TACIT_BUFFER_INIT, answer = TACIT_BUFFER_LIMITED(CLIENT_ANSWER_MOST);
    char *body = said != NULL ? json_dumps(said, JSON_COMPACT) : NULL;
    unsigned http = 0;
    tacit_status status;
    if (said != NULL && body == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(fill_path(&filled, path, study != NULL ? study : "", error));
    const tacit_client_request request = { .method = method,
                                           .path = tacit_buffer_text(&filled),
                                           .body = body,
                                           .body_length = body != NULL ? strlen(body) : 0,
                                           .content_type = "application/json",
                                           .header = header,
                                           .timeout_ms = TIMEOUT_MS };
    TACIT_CHECK(tacit_client_send(&http, &answer, client, &request, error));
    if (http != 200) TACIT_CHECK(fail_as_told(http, &answer, error));
    TACIT_CHECK(tacit_buffer_append(out, answer.bytes, answer.length, error));
cleanup:
    free(body);
    tacit_buffer_clear(&filled);
    tacit_buffer_clear(&answer);
    return status;
}
