/*
 * What bodies take while they arrive and are used. Each is counted by its announced length, against what all
 * bodies may take together and, for strangers, against an eighth of that, so that they cannot keep parties
 * out. Where the settings say so, a verified peer has one request to a path at a time, and a second ends the
 * first: a client that was cut off and dials again need not wait for our deadline, and none can hold many
 * connections, bodies and answers.
 */
#include <string.h>
#include <sys/socket.h>

#include "net/clock.h"
#include "net/server_parts.h"

enum { STRANGERS_SHARE = 8 };

static tacit_exchange **list_of(tacit_server *server, const char *name) {
    unsigned hash = 5381;
    for (const char *at = name; *at != 0; at++) hash = hash * 33 + (unsigned char)*at;
    return &server->busy[hash % TACIT_BUSY_LISTS];
}

/* Under the mutex. The timer ends what waits; the thread of any other notices and closes. */
static void end_earlier(tacit_server *server, const tacit_exchange *exchange) {
    for (tacit_exchange *each = *list_of(server, exchange->peer.name); each != NULL; each = each->next_busy) {
        if (strcmp(each->peer.name, exchange->peer.name) != 0 || strcmp(each->path, exchange->path) != 0)
            continue;
        if (each->state == EXCHANGE_SUSPENDED)
            tacit_connection_due(each->connection, tacit_clock_monotonic_ms());
        else if (each->connection != exchange->connection)
            shutdown(each->connection->socket, SHUT_RDWR);
    }
}

void tacit_peer_busy(tacit_exchange *exchange) {
    tacit_server *server = exchange->server;
    if (!server->settings.one_at_a_time || !exchange->peer.verified) return;
    pthread_mutex_lock(&server->mutex);
    tacit_exchange **list = list_of(server, exchange->peer.name);
    end_earlier(server, exchange);
    exchange->next_busy = *list;
    *list = exchange;
    exchange->busy = true;
    pthread_mutex_unlock(&server->mutex);
}

void tacit_peer_free(tacit_exchange *exchange) {
    if (!exchange->busy) return;
    tacit_exchange **link = list_of(exchange->server, exchange->peer.name);
    while (*link != exchange) link = &(*link)->next_busy;
    *link = exchange->next_busy;
    exchange->busy = false;
}

bool tacit_bodies_admit(tacit_exchange *exchange) {
    tacit_server *server = exchange->server;
    const size_t budget = server->settings.body_budget, length = exchange->body_length;
    const bool stranger = !exchange->peer.verified;
    bool admitted = true;
    if (length == 0) return true;
    pthread_mutex_lock(&server->mutex);
    size_t *taken = stranger ? &server->strangers_bytes : &server->peers_bytes;
    size_t most = stranger ? budget / STRANGERS_SHARE : budget;
    /* One that is longer than all may take comes in when it is alone. */
    if (budget != 0 && *taken != 0 && (length > most || *taken > most - length)) admitted = false;
    if (admitted) {
        *taken += length;
        exchange->counted = true;
    }
    pthread_mutex_unlock(&server->mutex);
    return admitted;
}

void tacit_bodies_release(tacit_exchange *exchange) {
    tacit_server *server = exchange->server;
    if (!exchange->counted) return;
    pthread_mutex_lock(&server->mutex);
    *(exchange->peer.verified ? &server->peers_bytes : &server->strangers_bytes) -= exchange->body_length;
    exchange->counted = false;
    pthread_mutex_unlock(&server->mutex);
}

/* ---- how long it may take ---- */

static size_t pace_of(const tacit_server *server) {
    return server->settings.pace != 0 ? server->settings.pace : 1;
}

/* The bytes that each stretch of request_ms must bring. */
static size_t stretch(const tacit_server *server) {
    size_t pace = pace_of(server), milliseconds = server->settings.request_ms;
    return pace > SIZE_MAX / 1000 / (milliseconds / 1000 + 1) ? SIZE_MAX : pace * milliseconds / 1000;
}

int64_t tacit_bodies_begin(tacit_exchange *exchange) {
    const tacit_server *server = exchange->server;
    int64_t now = tacit_clock_monotonic_ms(),
            by_pace = (int64_t)(exchange->body_length / pace_of(server)) * 1000;
    if (by_pace > (int64_t)server->settings.body_ms) by_pace = server->settings.body_ms;
    exchange->body_end = now + server->settings.request_ms + by_pace;
    exchange->body_mark = 0;
    return now + server->settings.request_ms;
}

bool tacit_bodies_progress(tacit_exchange *exchange, int64_t *deadline) {
    const tacit_server *server = exchange->server;
    if (exchange->body.length - exchange->body_mark < stretch(server)) return false;
    exchange->body_mark = exchange->body.length;
    *deadline = tacit_clock_monotonic_ms() + server->settings.request_ms;
    if (*deadline > exchange->body_end) *deadline = exchange->body_end;
    return true;
}
