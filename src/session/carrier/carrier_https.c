/* The party's end of HTTPS (net/client.h): an endpoint is a path, and all requests go over one connection. */
#include "session/carrier/carrier_https.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "net/client.h"

#define LISTED(NAME, name, METHOD, rules, about) { .method = #METHOD, .path = "/v1/" #name, .help = about },
const tacit_https_endpoint tacit_https_endpoints[TACIT_ENDPOINTS] = { TACIT_ENDPOINT_TABLE(LISTED) };

tacit_endpoint tacit_https_endpoint_at(const char *path) {
    int i = 0;
    while (i < TACIT_ENDPOINTS && strcmp(tacit_https_endpoints[i].path, path) != 0) i++;
    return (tacit_endpoint)i;
}

typedef struct https_carrier {
    tacit_carrier carrier;
    tacit_client *client;
} https_carrier;

static void https_free(tacit_carrier *carrier) {
    tacit_client_free(((https_carrier *)carrier)->client);
    free(carrier);
}

static tacit_status https_open(tacit_carrier **out, const tacit_carrier_settings *given, tacit_error *error) {
    https_carrier *self = TACIT_NEW(https_carrier, 1);
    if (self == NULL) return tacit_fail_memory(error);
    self->carrier.kind = &tacit_https_carrier;
    const tacit_client_settings settings = { .url = given->address,
                                             .address = given->connect,
                                             .authority_file = given->authority_file,
                                             .certificate_file = given->certificate_file,
                                             .key_file = given->key_file,
                                             .unverified = given->unverified,
                                             .proxy = given->proxy,
                                             .cancelled = given->cancelled,
                                             .cancelled_context = given->cancelled_context };
    tacit_status status = tacit_client_create(&self->client, &settings, error);
    if (status == TACIT_OK)
        *out = &self->carrier;
    else
        https_free(&self->carrier);
    return status;
}

static tacit_request_result result_of(unsigned http) {
    return http == 200   ? TACIT_RESULT_DONE
           : http == 204 ? TACIT_RESULT_NOTHING
           : http == 403 ? TACIT_RESULT_REFUSED
           : http == 409 ? TACIT_RESULT_CLOSED
           : http >= 500 ? TACIT_RESULT_LATER
                         : TACIT_RESULT_WRONG;
}

static tacit_status run_request(tacit_carrier *carrier, const char *method, const char *path,
                                const tacit_buffer *body, unsigned timeout_ms, tacit_carried *out,
                                tacit_error *error) {
    const tacit_client_request request = { .method = method,
                                           .path = path,
                                           .body = body != NULL ? body->bytes : NULL,
                                           .body_length = body != NULL ? body->length : 0,
                                           .timeout_ms = timeout_ms };
    TACIT_TRY(
        tacit_client_send(&out->code, &out->reply, ((https_carrier *)carrier)->client, &request, error));
    out->result = result_of(out->code);
    return TACIT_OK;
}

static tacit_status https_send(tacit_carrier *carrier, tacit_endpoint endpoint, const tacit_buffer *body,
                               unsigned timeout_ms, tacit_carried *out, tacit_error *error) {
    return run_request(carrier, tacit_https_endpoints[endpoint].method, tacit_https_endpoints[endpoint].path,
                       body, timeout_ms, out, error);
}

static tacit_status https_bring(tacit_carrier *carrier, const tacit_buffer *word, unsigned timeout_ms,
                                tacit_carried *out, tacit_error *error) {
    return run_request(carrier, "POST", TACIT_HTTPS_WORD_PATH, word, timeout_ms, out, error);
}

static tacit_carrier_failure https_failure(const tacit_carrier *carrier) {
    switch (tacit_client_last_failure(((const https_carrier *)carrier)->client)) {
    case TACIT_CLIENT_NO_FAILURE: return TACIT_FAILURE_NONE;
    case TACIT_CLIENT_UNREACHABLE:
    case TACIT_CLIENT_TIMED_OUT: return TACIT_FAILURE_AWAY;
    case TACIT_CLIENT_SERVER_UNTRUSTED: return TACIT_FAILURE_STRANGER;
    case TACIT_CLIENT_REFUSED: return TACIT_FAILURE_REFUSED;
    default: return TACIT_FAILURE_OTHER;
    }
}

static int64_t https_clock(const tacit_carrier *carrier) {
    return tacit_client_last_date(((const https_carrier *)carrier)->client);
}

const tacit_carrier_kind tacit_https_carrier = { .scheme = "https://",
                                                 .open = https_open,
                                                 .free = https_free,
                                                 .send = https_send,
                                                 .bring = https_bring,
                                                 .failure = https_failure,
                                                 .clock = https_clock,
                                                 .listen = tacit_https_listen };
