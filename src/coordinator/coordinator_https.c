/*
 * The coordinator's end of HTTPS (net/server.h): requests come by paths (session/carrier/carrier_https.h), go
 * to coordinator_serve, and what that says goes back. A poll without news is suspended until there is some.
 * Nothing else of the coordinator knows of HTTP or TLS but who issues certificates.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/memory.h"
#include "coordinator/coordinator_parts.h"
#include "net/clock.h"
#include "net/server.h"
#include "session/carrier/carrier_https.h"

enum { PORT_TRIES = 50, PORT_PAUSE_MS = 100, RETRY_SECONDS = 60 };

const char *coordinator_path(size_t endpoint) {
    return endpoint < TACIT_ENDPOINTS ? tacit_https_endpoints[endpoint].path : "other";
}

/* ---- what is let in ---- */

static bool is_open(void *context, const char *method, const char *path) {
    const tacit_endpoint endpoint = tacit_https_endpoint_at(path);
    (void)context;
    return (tacit_endpoint_rules(endpoint) & TACIT_ENDPOINT_IS_OPEN) != 0 &&
           strcmp(method, tacit_https_endpoints[endpoint].method) == 0;
}

static size_t body_limit(void *context, const char *method, const char *path, const tacit_peer *peer) {
    (void)method;
    return coordinator_body_most(context, tacit_https_endpoint_at(path), peer->verified ? peer->name : NULL);
}

/* Too long for the open question may be the honest answer to the one before: the party is told that its round
 * has closed. */
static unsigned too_large(void *context, const char *path, size_t length) {
    (void)context;
    const tacit_endpoint endpoint = tacit_https_endpoint_at(path);
    bool late = (tacit_endpoint_rules(endpoint) & TACIT_ENDPOINT_IS_LONG) != 0 &&
                length <= (size_t)TACIT_PAYLOAD_MOST + COORDINATOR_SMALL_ANSWER;
    return late ? 409 : 413;
}

static bool retired(void *context, const char *issuer_id, const char *path) {
    return coordinator_retired(context, issuer_id, tacit_https_endpoint_at(path));
}

static void refused(void *context, const tacit_refusal *refusal) {
    coordinator_count_refusal(context, refusal->standing);
    coordinator_warn(context, refusal->address, "refused %.16s %.80s from %s: %s %s", refusal->method,
                     refusal->path, refusal->address, tacit_standing_text(refusal->standing),
                     refusal->fingerprint);
}

tacit_status coordinator_say_revoked(tacit_error *error) {
    return tacit_fail(error, TACIT_REFUSED, "%s", tacit_standing_text(TACIT_STANDING_REVOKED));
}

static bool revoked(void *context, const char *fingerprint) {
    return tacit_registry_revoked(((coordinator *)context)->registry, fingerprint);
}

static void library_message(void *context, const char *message) {
    coordinator_warn(context, "net", "net: %.200s", message);
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
static void answer_failure(coordinator *self, tacit_exchange *exchange, tacit_status status,
                           const tacit_error *error) {
    const tacit_peer *peer = tacit_exchange_peer(exchange);
    unsigned http = http_status(status);
    coordinator_count_failure(self, http);
    const char *who = peer->verified ? peer->name : peer->address;
    char shown[COORDINATOR_SHOWN_SIZE];
    coordinator_log_at(self, http == 500 ? TACIT_LOG_ERROR : TACIT_LOG_WARN, who, "%.80s %s from %s: %u: %s",
                       tacit_exchange_path(exchange), tacit_status_name(status),
                       peer->verified ? coordinator_shown(self, who, shown) : who, http, error->text);
    tacit_exchange_answer_text(exchange, http,
                               http == 500 ? "the coordinator failed; its log says why" : error->text);
}

/* Bytes on their way to a party. The end of a study counts as told when they are gone, not when they are
 * ready: else the program might stop before it has sent them, and leave the party waiting for a coordinator
 * that is not there. */
typedef struct parcel {
    coordinator *owner;
    tacit_buffer body;
    tacit_shared_bytes *rest;
    size_t counted; /* as under way, in this beat */
    unsigned beat;
    bool is_end;
    char study[TACIT_ID_SIZE], party[TACIT_NAME_SIZE];
} parcel;

static void hand_out(coordinator *self);

/* What others are sent too is in memory anyway. */
static void count_parcel(parcel *made) {
    coordinator *self = made->owner;
    made->counted = made->body.length +
                    (tacit_shared_bytes_is_shared(made->rest) ? 0 : tacit_shared_bytes_length(made->rest));
    pthread_mutex_lock(&self->mutex);
    made->beat = self->beat;
    self->under_way += made->counted;
    pthread_mutex_unlock(&self->mutex);
}

static void parcel_sent(void *context) {
    parcel *sent = context;
    coordinator *self = sent->owner;
    if (sent->is_end) coordinator_told_end(self, sent->study, sent->party);
    pthread_mutex_lock(&self->mutex);
    if (sent->beat == self->beat) self->under_way -= sent->counted;
    pthread_mutex_unlock(&self->mutex);
    tacit_buffer_clear(&sent->body);
    tacit_shared_bytes_free(sent->rest);
    free(sent);
    hand_out(self);
}

static void stays(void *context) { (void)context; }

/* What was said, as HTTP has it. What a poll is told is taken over. */
static tacit_http_answer http_answer(coordinator *self, const char *party, tacit_endpoint endpoint,
                                     coordinator_reply *reply) {
    if (reply->result == TACIT_RESULT_NOTHING) return (tacit_http_answer){ .status = 204 };
    const tacit_buffer *bytes = reply->lent != NULL ? reply->lent : &reply->bytes;
    bool text = reply->result == TACIT_RESULT_LATER || endpoint == TACIT_ENDPOINT_AUTHORITY;
    tacit_http_answer answer = { .status = reply->result == TACIT_RESULT_LATER ? 503 : 200,
                                 .content_type = text ? "text/plain; charset=utf-8" : NULL,
                                 .bytes = bytes->bytes,
                                 .length = bytes->length,
                                 .done = reply->lent != NULL ? stays : NULL };
    if (reply->result == TACIT_RESULT_DONE)
        coordinator_count_sent(self, answer.length + tacit_shared_bytes_length(reply->rest));
    if (endpoint != TACIT_ENDPOINT_POLL || reply->result != TACIT_RESULT_DONE) return answer;
    parcel *sent = TACIT_NEW(parcel, 1);
    if (sent == NULL) return (tacit_http_answer){ .status = 500 }; /* it asks again */
    sent->owner = self;
    memcpy(sent->party, party, strlen(party) + 1);
    memcpy(sent->study, reply->study, sizeof sent->study);
    sent->is_end = reply->is_end;
    sent->body = reply->bytes;
    sent->rest = reply->rest;
    reply->bytes = (tacit_buffer)TACIT_BUFFER_INIT;
    reply->rest = NULL;
    answer.rest = tacit_shared_bytes_at(sent->rest);
    answer.rest_length = tacit_shared_bytes_length(sent->rest);
    answer.done = parcel_sent;
    answer.done_context = sent;
    count_parcel(sent);
    return answer;
}

/* ---- polls that wait ---- */

enum { WAITER_LISTS = COORDINATOR_WAITER_LISTS };

struct waiter {
    tacit_exchange *exchange;
    char party[TACIT_NAME_SIZE];
    coordinator_reply reply; /* of which study, in which version; nothing yet */
    bool ready;              /* there may be something to say */
    struct waiter *next;
};

/* The list of a waiter: thousands wait, and each is looked for when its time is over. Exchanges are
 * allocated, so that the last bits of their addresses are the same. */
static waiter **waiters_near(coordinator *self, const tacit_exchange *exchange) {
    return &self->waiters[((uintptr_t)exchange >> 6) % WAITER_LISTS];
}

/* Take a waiter out of its list; NULL when another thread has it already. */
static waiter *take_waiter(coordinator *self, const tacit_exchange *exchange) {
    pthread_mutex_lock(&self->mutex);
    waiter **link = waiters_near(self, exchange);
    while (*link != NULL && (*link)->exchange != exchange) link = &(*link)->next;
    waiter *found = *link;
    if (found != NULL) *link = found->next;
    pthread_mutex_unlock(&self->mutex);
    return found;
}

static void poll_abandoned(void *context, tacit_exchange *exchange) {
    waiter *found = take_waiter(context, exchange);
    if (found == NULL) return; /* the thread that took it completes it */
    tacit_exchange_release(found->exchange);
    free(found);
}

/* Answer a waiter with what there is, or with "nothing yet, ask again". */
static void complete_waiter(coordinator *self, waiter *found) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = coordinator_news_for(self, found->party, &found->reply, &error);
    char shown[COORDINATOR_SHOWN_SIZE];
    if (status != TACIT_OK)
        coordinator_warn(self, found->party, "poll of %s: %s", coordinator_shown(self, found->party, shown),
                         error.text);
    tacit_http_answer answer =
        status == TACIT_OK        ? http_answer(self, found->party, TACIT_ENDPOINT_POLL, &found->reply)
        : status == TACIT_REFUSED ? (tacit_http_answer){ .status = 403,
                                                         .content_type = "text/plain; charset=utf-8",
                                                         .bytes = error.text,
                                                         .length = strlen(error.text) }
                                  : (tacit_http_answer){ .status = 500 };
    tacit_exchange_complete(found->exchange, &answer);
    tacit_buffer_clear(&found->reply.bytes);
    tacit_shared_bytes_free(found->reply.rest);
    free(found);
}

/* Under the mutex: take one that is ready out of its list; NULL: nobody is. */
static waiter *take_ready(coordinator *self) {
    for (; self->ready_from < WAITER_LISTS; self->ready_from++) {
        waiter **link = &self->waiters[self->ready_from];
        while (*link != NULL && !(*link)->ready) link = &(*link)->next;
        waiter *found = *link;
        if (found == NULL) continue;
        *link = found->next;
        return found;
    }
    return NULL;
}

/*
 * Tell those who are ready. Thousands are at once, and what each is told, its neighbours' keys or shares, has
 * tens of kilobytes: it is made when what was made before has gone, so that little of it is in memory. One
 * that is slow to take it keeps nobody waiting: what has not gone within a beat counts no more.
 */
static void hand_out(coordinator *self) {
    enum { UNDER_WAY_MOST = 8 << 20 };
    waiter *each;
    pthread_mutex_lock(&self->mutex);
    const bool mine = !self->handing_out;
    self->handing_out = true;
    while (mine && self->under_way < UNDER_WAY_MOST && (each = take_ready(self)) != NULL) {
        pthread_mutex_unlock(&self->mutex);
        complete_waiter(self, each);
        pthread_mutex_lock(&self->mutex);
    }
    if (mine) self->handing_out = false;
    pthread_mutex_unlock(&self->mutex);
}

void coordinator_wake(coordinator *self, const char *study) {
    pthread_mutex_lock(&self->mutex);
    for (size_t k = 0; k < WAITER_LISTS; k++)
        for (waiter *each = self->waiters[k]; each != NULL; each = each->next)
            each->ready = each->ready || strcmp(each->reply.study, study) == 0;
    self->ready_from = 0;
    pthread_mutex_unlock(&self->mutex);
    hand_out(self);
}

void coordinator_beat(coordinator *self) {
    enum { BEAT_MS = 1000 };
    const int64_t now = tacit_clock_monotonic_ms();
    pthread_mutex_lock(&self->mutex);
    const bool due = now - self->beat_at >= BEAT_MS;
    if (due) {
        self->beat_at = now;
        self->beat++;
        self->under_way = 0;
    }
    pthread_mutex_unlock(&self->mutex);
    if (due) hand_out(self);
}

/* Suspend a poll. The waiter is listed before the board is looked at again, so that a question pinned in
 * between is seen either here or by coordinator_wake. */
static void wait_for_news(coordinator *self, tacit_exchange *exchange, const char *party,
                          const coordinator_reply *nothing) {
    waiter *each = TACIT_NEW(waiter, 1);
    if (each == NULL) {
        tacit_exchange_answer_text(exchange, 500, "out of memory");
        return;
    }
    coordinator_reply probe = *nothing;
    memcpy(each->party, party, strlen(party) + 1);
    each->reply = *nothing;
    each->exchange = exchange;
    pthread_mutex_lock(&self->mutex); /* held over both, so that `abandoned` finds what was suspended */
    bool suspended = tacit_exchange_suspend(exchange, nothing->wait_ms, poll_abandoned, self);
    if (suspended) {
        waiter **list = waiters_near(self, exchange);
        each->next = *list;
        *list = each;
    }
    pthread_mutex_unlock(&self->mutex);
    if (!suspended) {
        free(each);
        return;
    }
    probe.only_look = true;
    tacit_status status = coordinator_news_for(self, party, &probe, NULL);
    if (status == TACIT_OK && probe.result == TACIT_RESULT_NOTHING) return;
    waiter *again = take_waiter(self, exchange);
    if (again != NULL) complete_waiter(self, again);
}

/* ---- requests ---- */

static void handle(void *context, tacit_exchange *exchange) {
    coordinator *self = context;
    const tacit_peer *peer = tacit_exchange_peer(exchange);
    const char *method = tacit_exchange_method(exchange);
    char party[sizeof peer->name];
    const tacit_endpoint endpoint = tacit_https_endpoint_at(tacit_exchange_path(exchange));
    coordinator_reply reply = { .result = TACIT_RESULT_DONE, .address = peer->address, .in_parts = true };
    tacit_error error = TACIT_ERROR_INIT;
    if (endpoint == TACIT_ENDPOINTS || strcmp(method, tacit_https_endpoints[endpoint].method) != 0) {
        bool post = strcmp(method, "POST") == 0;
        tacit_exchange_answer_text(exchange, post ? 404 : 405,
                                   post ? "nothing is here" : "only POST is understood here");
        return;
    }
    memcpy(party, peer->name, sizeof party);
    tacit_status status = coordinator_serve(self, endpoint, peer->verified ? party : NULL,
                                            tacit_exchange_body(exchange), &reply, &error);
    if (status != TACIT_OK) {
        answer_failure(self, exchange, status, &error);
    } else if (reply.waits) {
        wait_for_news(self, exchange, party, &reply);
    } else {
        tacit_http_answer answer = http_answer(self, party, endpoint, &reply);
        tacit_exchange_answer(exchange, &answer);
    }
    tacit_buffer_clear(&reply.bytes);
    tacit_shared_bytes_free(reply.rest);
}

/* How long the handler took; a poll that waits for news is not at work. */
static void handle_timed(void *context, tacit_exchange *exchange) {
    const tacit_endpoint endpoint = tacit_https_endpoint_at(tacit_exchange_path(exchange));
    const size_t received = tacit_exchange_body(exchange)->length;
    int64_t started = coordinator_nanoseconds();
    handle(context, exchange);
    coordinator_count_request(context, endpoint, received, coordinator_nanoseconds() - started);
}

/* ---- listening ---- */

/* The host part of an https URL, for the server's certificate. */
static tacit_status url_host(const char *url, char *out, size_t size, tacit_error *error) {
    static const char scheme[] = "https://";
    if (strlen(url) > TACIT_INVITATION_URL_MAX)
        return tacit_fail(error, TACIT_USAGE, "the address parties use is longer than %d bytes",
                          TACIT_INVITATION_URL_MAX);
    if (strncmp(url, scheme, sizeof scheme - 1) != 0)
        return tacit_fail(error, TACIT_USAGE, "the address parties use must start with https://, not '%s'",
                          url);
    const char *host = url + sizeof scheme - 1;
    bool bracket = *host == '[';
    size_t length = bracket ? strcspn(++host, "]") : strcspn(host, ":/");
    if (length == 0 || length >= size)
        return tacit_fail(error, TACIT_USAGE, "no host in the address '%s'", url);
    memcpy(out, host, length);
    out[length] = 0;
    return TACIT_OK;
}

/* The server's certificate is made again at each start, for the names in use now. */
static tacit_status make_identity(coordinator *self, const char *address, tacit_server_identity *out,
                                  tacit_error *error) {
    char host[256];
    const char *names[4] = { "localhost", "127.0.0.1" };
    size_t count = 2;
    if (strcmp(address, "127.0.0.1") != 0 && strcmp(address, "0.0.0.0") != 0 && strcmp(address, "::") != 0)
        names[count++] = address;
    if (self->settings.url != NULL) {
        TACIT_TRY(url_host(self->settings.url, host, sizeof host, error));
        if (strcmp(host, names[0]) != 0 && strcmp(host, names[1]) != 0) names[count++] = host;
    }
    TACIT_TRY(tacit_authority_issue_server(coordinator_signer(self), self->settings.folder, names, count,
                                           coordinator_validity(self, tacit_clock_wall_seconds()), error));
    TACIT_TRY(tacit_server_identity_load(out, self->settings.folder, error));
    free(out->authority);
    out->authority = tacit_copy_text(tacit_buffer_text(&atomic_load(&self->keys)->all));
    return out->authority != NULL ? coordinator_note_identity(self, out, error) : tacit_fail_memory(error);
}

/* At the port of last time, where parties look for us. What has it may be about to end (a process before this
 * one, or a call that was given it by chance), so it is waited for; but not taken another in its place, where
 * nobody would come. */
static tacit_status start_at_known_port(coordinator *self, const tacit_server_identity *identity,
                                        const tacit_server_settings *settings,
                                        const tacit_server_callbacks *callbacks, tacit_error *error) {
    const struct timespec little = { 0, PORT_PAUSE_MS * 1000000L };
    tacit_error why = TACIT_ERROR_INIT;
    for (int tries = 0; tries < PORT_TRIES; tries++) {
        tacit_status status = tacit_server_start(&self->server, identity, settings, callbacks, &why);
        if (status == TACIT_OK) return TACIT_OK;
        if (status != TACIT_NETWORK) return tacit_fail(error, status, "%s", why.text);
        if (self->settings.cancelled != NULL && self->settings.cancelled(self->settings.context)) break;
        if (tries == 0) coordinator_warn(self, NULL, "waiting for the port of last time: %s", why.text);
        nanosleep(&little, NULL);
    }
    return tacit_fail(
        error, TACIT_NETWORK,
        "%s; parties look for this coordinator there, so it takes no other by itself: end what uses port %u, "
        "or name another with the option 'listen=ADDRESS:PORT' and send new invitations",
        why.text, (unsigned)settings->port);
}

/* Listen where parties expect us: at the port asked for, or that of last time; the first time any. */
tacit_status coordinator_start_server(coordinator *self, tacit_error *error) {
    tacit_server_settings settings = tacit_server_defaults();
    tacit_server_callbacks callbacks = { .handle = handle_timed,
                                         .open = is_open,
                                         .body_limit = body_limit,
                                         .too_large = too_large,
                                         .revoked = revoked,
                                         .retired = retired,
                                         .refused = refused,
                                         .log = library_message,
                                         .context = self };
    tacit_server_identity identity = { NULL, NULL, NULL };
    char last[16] = "";
    tacit_status status;
    if (self->settings.address != NULL) settings.address = self->settings.address;
    if (self->settings.connections > 0) settings.connection_limit = self->settings.connections;
    settings.one_at_a_time = true;
    settings.port = self->settings.port;
    TACIT_CHECK(make_identity(self, settings.address, &identity, error));
    TACIT_CHECK(tacit_registry_get(self->registry, "port", last, sizeof last, error));
    if (settings.port == 0 && last[0] != 0) {
        settings.port = (uint16_t)atoi(last);
        TACIT_CHECK(start_at_known_port(self, &identity, &settings, &callbacks, error));
    } else {
        TACIT_CHECK(tacit_server_start(&self->server, &identity, &settings, &callbacks, error));
    }
cleanup:
    tacit_server_identity_clear(&identity);
    return status;
}

void coordinator_restart_server(coordinator *self, const char *done, const char *failed) {
    tacit_error error = TACIT_ERROR_INIT;
    if (self->server != NULL) self->settings.port = tacit_server_port(self->server);
    self->server = tacit_server_free(self->server);
    if (coordinator_start_server(self, &error) == TACIT_OK) {
        coordinator_news(self, "%s", done);
        coordinator_renew_public(self);
    } else {
        self->server_renewal = tacit_clock_wall_seconds() + RETRY_SECONDS;
        coordinator_complain(self, "%s: %s", failed, error.text);
    }
}

void coordinator_stop_server(coordinator *self) { self->server = tacit_server_free(self->server); }

tacit_status coordinator_announce(coordinator *self, tacit_error *error) {
    char url[TACIT_INVITATION_URL_MAX + 1], port[16], path[PATH_MAX];
    const char *address = self->settings.address != NULL ? self->settings.address : "127.0.0.1";
    unsigned number = tacit_server_port(self->server);
    bool six = strchr(address, ':') != NULL;
    if (self->settings.url != NULL)
        snprintf(url, sizeof url, "%s", self->settings.url);
    else
        snprintf(url, sizeof url, "https://%s%s%s:%u", six ? "[" : "", address, six ? "]" : "", number);
    snprintf(port, sizeof port, "%u", number);
    TACIT_TRY(tacit_registry_set(self->registry, "port", port, error));
    TACIT_TRY(tacit_registry_set(self->registry, "url", url, error));
    TACIT_TRY(tacit_path_join(path, sizeof path, self->settings.folder, "address", error));
    TACIT_TRY(tacit_file_write(path, url, strlen(url), 0644, error));
    coordinator_news(self, "serving at %s", url);
    return TACIT_OK;
}
