/* Words of neighbours over HTTPS (net/server.h), for a party that listens: one path, by POST. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/carrier/carrier_https.h"

#ifdef TACIT_PARTY_ONLY
tacit_status tacit_https_listen(tacit_listener **out, const tacit_listener_settings *settings,
                                tacit_error *error) {
    (void)out, (void)settings;
    return tacit_fail(error, TACIT_USAGE, "this library is for parties only, and has no server");
}
#else
#include "net/server.h"

typedef struct https_listener {
    tacit_listener listener;
    tacit_listener_settings settings; /* its callbacks alone are used after the start */
    tacit_server *server;
} https_listener;

static size_t body_limit(void *context, const char *method, const char *path, const tacit_peer *peer) {
    const tacit_listener_settings *settings = &((https_listener *)context)->settings;
    (void)method;
    if (!peer->verified || strcmp(path, TACIT_HTTPS_WORD_PATH) != 0) return 1;
    const size_t most = settings->longest(settings->context, peer->name);
    return most > 0 ? most : 1;
}

static void handle(void *context, tacit_exchange *exchange) {
    static const struct {
        unsigned code;
        const char *text;
    } said[] = { [TACIT_RESULT_DONE] = { 200, "kept" },
                 [TACIT_RESULT_CLOSED] = { 409, "no neighbour of that name is known here (yet)" },
                 [TACIT_RESULT_WRONG] = { 400, "this is no word of the study" },
                 [TACIT_RESULT_LATER] = { 500, "the word could not be kept" } };
    const tacit_listener_settings *settings = &((https_listener *)context)->settings;
    if (strcmp(tacit_exchange_method(exchange), "POST") != 0 ||
        strcmp(tacit_exchange_path(exchange), TACIT_HTTPS_WORD_PATH) != 0) {
        tacit_exchange_answer_text(exchange, 404, "nothing is here but " TACIT_HTTPS_WORD_PATH);
        return;
    }
    const tacit_request_result result =
        settings->take(settings->context, tacit_exchange_peer(exchange)->name, tacit_exchange_body(exchange));
    tacit_exchange_answer_text(exchange, said[result].code, said[result].text);
}

/* Asked again at each request, so that it holds on open connections too. */
static bool is_revoked(void *context, const char *fingerprint) {
    const tacit_listener_settings *settings = &((https_listener *)context)->settings;
    return settings->revoked(settings->context, fingerprint);
}

static void refused(void *context, const tacit_refusal *refusal) {
    const tacit_listener_settings *settings = &((https_listener *)context)->settings;
    settings->refused(settings->context, refusal->name, refusal->address,
                      tacit_standing_text(refusal->standing));
}

/* Split HOST:PORT; brackets of IPv6 go. */
static uint16_t split_address(const char *text, char host[TACIT_LISTENER_ADDRESS_SIZE]) {
    const char *colon = strrchr(text, ':');
    size_t length = (size_t)(colon - text);
    bool bracket = text[0] == '[' && length > 2 && text[length - 1] == ']';
    memcpy(host, bracket ? text + 1 : text, bracket ? length - 2 : length);
    host[bracket ? length - 2 : length] = 0;
    return (uint16_t)strtoul(colon + 1, NULL, 10);
}

static void https_stop(tacit_listener *listener) {
    tacit_server_free(((https_listener *)listener)->server);
    free(listener);
}

tacit_status tacit_https_listen(tacit_listener **out, const tacit_listener_settings *given,
                                tacit_error *error) {
    tacit_server_settings settings = tacit_server_defaults();
    tacit_server_identity identity = { NULL, NULL, NULL };
    char host[TACIT_LISTENER_ADDRESS_SIZE];
    tacit_status status;
    https_listener *self = TACIT_NEW(https_listener, 1);
    if (self == NULL) return tacit_fail_memory(error);
    self->listener.stop = https_stop;
    self->settings = *given;
    const tacit_server_callbacks callbacks = {
        .handle = handle, .body_limit = body_limit, .revoked = is_revoked, .refused = refused, .context = self
    };
    settings.port = split_address(given->address, host);
    settings.address = host;
    settings.one_at_a_time = true;
    settings.connection_limit = given->connections;
    TACIT_CHECK(tacit_server_identity_read(&identity, given->key_file, given->certificate_file,
                                           given->authority_file, error));
    TACIT_CHECK(tacit_server_start(&self->server, &identity, &settings, &callbacks, error));
    bool six = strchr(host, ':') != NULL;
    snprintf(self->listener.address, sizeof self->listener.address, "%s%.100s%s:%u", six ? "[" : "", host,
             six ? "]" : "", (unsigned)tacit_server_port(self->server));
    *out = &self->listener;
    self = NULL;
cleanup:
    tacit_server_identity_clear(&identity);
    free(self);
    return status;
}
#endif
