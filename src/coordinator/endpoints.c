/* Requests of parties: who is let in, and which handler answers. All that is asked about a path is asked of the table. */
#include "coordinator/endpoints.h"

#include <string.h>

#include "coordinator/coordinator_parts.h"

enum { SMALL_BODY = 16 * 1024, SMALL_ANSWER = 64 * 1024 };

#define LISTED(METHOD, name, allows, about)                                                                  \
    { .method = #METHOD, .path = "/v1/" #name, .rules = allows, .help = about },
const tacit_endpoint tacit_endpoints[TACIT_ENDPOINT_COUNT] = { TACIT_ENDPOINTS(LISTED, LISTED) };

/* One of the two, in the order of the table. */
typedef struct handler {
    tacit_status (*reply)(coordinator *self, const tacit_buffer *body, const tacit_peer *peer,
                          tacit_buffer *out, tacit_error *error);
    void (*serve)(coordinator *self, tacit_exchange *exchange, const tacit_peer *peer);
} handler;

#define REPLIES(METHOD, name, allows, about) { .reply = coordinator_##name },
#define SERVES(METHOD, name, allows, about) { .serve = coordinator_##name },
static const handler handlers[TACIT_ENDPOINT_COUNT] = { TACIT_ENDPOINTS(REPLIES, SERVES) };

size_t coordinator_endpoint(const char *method, const char *path) {
    size_t i = 0;
    while (i < TACIT_ENDPOINT_COUNT && (strcmp(tacit_endpoints[i].path, path) != 0 ||
                                        (method != NULL && strcmp(tacit_endpoints[i].method, method) != 0)))
        i++;
    return i;
}

static bool allows(const char *method, const char *path, unsigned rule) {
    size_t i = coordinator_endpoint(method, path);
    return i < TACIT_ENDPOINT_COUNT && (tacit_endpoints[i].rules & rule) != 0;
}

/* ---- whom and what the server lets in ---- */

bool coordinator_is_open(void *context, const char *method, const char *path) {
    (void)context;
    return allows(method, path, TACIT_ENDPOINT_OPEN);
}

/* A thief of an earlier authority's key gets nothing by it: whatever it issues is in no registry. So a party that comes late may still use
 * its certificate, which is in there, to ask for the next one, and for nothing else. */
bool coordinator_retired(void *context, const char *issuer_id, const char *path) {
    coordinator *self = context;
    return !allows(NULL, path, TACIT_ENDPOINT_RETIRED) &&
           tacit_authority_keys_retired(atomic_load(&self->keys), issuer_id);
}

/* An answer is as long as the open question makes it; with none open, a refusal that is late is still read. */
size_t coordinator_body_limit(void *context, const char *method, const char *path, const tacit_peer *peer) {
    coordinator *self = context;
    char study[TACIT_ID_SIZE];
    (void)method;
    if (!peer->verified || !allows(NULL, path, TACIT_ENDPOINT_LONG)) return SMALL_BODY;
    if (tacit_registry_party_study(self->registry, peer->name, study, NULL) != TACIT_OK) return SMALL_BODY;
    hosted *host = coordinator_find(self, study);
    size_t most = host != NULL ? tacit_board_answer_most(host->board, peer->name) : 0;
    return most > SMALL_ANSWER ? most : SMALL_ANSWER;
}

/* Too long for the open question may be the honest answer to the one before: the party is told that its round has closed. */
unsigned coordinator_too_large(void *context, const char *path, size_t length) {
    (void)context;
    bool late = allows(NULL, path, TACIT_ENDPOINT_LONG);
    return late && length <= (size_t)TACIT_PAYLOAD_MOST + SMALL_ANSWER ? 409 : 413;
}

/* ---- answering ---- */

static unsigned http_status(tacit_status status) {
    switch (status) {
    case TACIT_OK: return 200;
    case TACIT_REFUSED: return 403;
    case TACIT_NOT_FOUND: return 409;
    case TACIT_PROTOCOL:
    case TACIT_INPUT:
    case TACIT_USAGE: return 400;
    case TACIT_LIMIT: return 413;
    default: return 500;
    }
}

/* What went wrong on our side is for our log, not for whoever is at the other end. */
void coordinator_answer_failure(coordinator *self, tacit_exchange *exchange, tacit_status status,
                                const tacit_error *error) {
    const tacit_peer *peer = tacit_exchange_peer(exchange);
    unsigned http = http_status(status);
    coordinator_count_failure(self, http);
    const char *who = peer->verified ? peer->name : peer->address;
    coordinator_log_at(self, http == 500 ? TACIT_LOG_ERROR : TACIT_LOG_WARN, who, "%.80s %s from %s: %u: %s",
                       tacit_exchange_path(exchange), tacit_status_name(status), who, http, error->text);
    tacit_exchange_answer_text(exchange, http,
                               http == 500 ? "the coordinator failed; its log says why" : error->text);
}

static void reply(coordinator *self, tacit_exchange *exchange, const handler *with) {
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status =
        with->reply(self, tacit_exchange_body(exchange), tacit_exchange_peer(exchange), &out, &error);
    if (status == TACIT_OK) {
        coordinator_count_sent(self, out.length);
        tacit_exchange_answer(
            exchange, &(tacit_http_answer){ .status = 200, .bytes = out.bytes, .length = out.length });
    } else {
        coordinator_answer_failure(self, exchange, status, &error);
    }
    tacit_buffer_clear(&out);
}

void coordinator_handle(void *context, tacit_exchange *exchange) {
    coordinator *self = context;
    const char *method = tacit_exchange_method(exchange);
    size_t i = coordinator_endpoint(method, tacit_exchange_path(exchange));
    if (i < TACIT_ENDPOINT_COUNT && handlers[i].serve != NULL)
        handlers[i].serve(self, exchange, tacit_exchange_peer(exchange));
    else if (i < TACIT_ENDPOINT_COUNT)
        reply(self, exchange, &handlers[i]);
    else if (strcmp(method, "POST") != 0)
        tacit_exchange_answer_text(exchange, 405, "only POST is understood here");
    else
        tacit_exchange_answer_text(exchange, 404, "nothing is here");
}
