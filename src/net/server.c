/*
 * Connections and requests. libmicrohttpd calls on_request for the headers, for each piece of the body, and
 * when the request is complete (again when a suspended connection is resumed). One timer thread drops
 * connections that are too slow and ends exchanges that are suspended too long: both are deadlines in one
 * list.
 */
#include "net/server.h"

#include <netdb.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/secret.h"
#include "net/clock.h"
#include "net/server_parts.h"

enum {
    TIMER_REST_MS = 20,      /* between two looks at all deadlines, however many are due */
    DRAIN_MS = 1000,         /* for answers that are under way when the server stops */
    DRAIN_BYTES_MAX = 65536, /* a refused body up to this size is read, so that the refusal is not lost */
    /* memory of libmicrohttpd for one connection: headers and a piece of the body */
    CONNECTION_BYTES = 16384,
    WHOLE_BODY = 1 << 20, /* a body up to this size is in one piece from the first byte on */
    LISTEN_BACKLOG = 1024,
    OPTIONS_MOST = 16
};

tacit_server_settings tacit_server_defaults(void) {
    return (tacit_server_settings){ .address = "127.0.0.1",
                                    .port = 0,
                                    .threads = 2,
                                    .connection_limit = 1000,
                                    .address_limit = 0,
                                    .body_limit = 1 << 20,
                                    .body_budget = (size_t)256 << 20,
                                    .request_ms = 30000,
                                    .pace = 4096,
                                    .body_ms = 300000,
                                    .suspend_ms = 25000 };
}

unsigned long tacit_file_limit_raise(unsigned long wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    rlim_t before = limit.rlim_cur;
    if (before == RLIM_INFINITY || before >= wanted) return before;
    limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || limit.rlim_max > wanted ? wanted : limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

/* ---- messages ---- */

TACIT_PRINTF(2, 0)
TACIT_PRINTF(2, 0)
static void hand_over_message(tacit_server *server, const char *format, va_list arguments) {
    char line[512];
    tacit_format_list(line, sizeof line, format, arguments);
    line[strcspn(line, "\r\n")] = 0;
    if (line[0] == 0) return;
    /* A lock of its own: the library below may complain while we call it under the other one. */
    pthread_mutex_lock(&server->message_mutex);
    if (server->first_message[0] == 0)
        snprintf(server->first_message, sizeof server->first_message, "%.255s", line);
    pthread_mutex_unlock(&server->message_mutex);
    if (server->callbacks.log != NULL) server->callbacks.log(server->callbacks.context, line);
}

void tacit_server_log(tacit_server *server, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    hand_over_message(server, format, arguments);
    va_end(arguments);
}

TACIT_PRINTF(2, 0) static void on_message(void *context, const char *format, va_list arguments) {
    hand_over_message(context, format, arguments);
}

/* ---- deadlines ---- */

int64_t tacit_server_time_for(const tacit_server *server, size_t length) {
    size_t pace = server->settings.pace != 0 ? server->settings.pace : 1;
    return tacit_clock_monotonic_ms() + server->settings.request_ms + (int64_t)(length / pace) * 1000;
}

void tacit_connection_due(tacit_connection *connection, int64_t deadline) {
    tacit_server *server = connection->server;
    connection->deadline = deadline;
    if (deadline < server->next_wake) {
        server->next_wake = deadline;
        pthread_cond_broadcast(&server->changed);
    }
}

/* The same from outside the mutex, for a connection that has a request. */
static void set_due(tacit_connection *connection, int64_t deadline) {
    pthread_mutex_lock(&connection->server->mutex);
    connection->idle = false;
    tacit_connection_due(connection, deadline);
    pthread_mutex_unlock(&connection->server->mutex);
}

static struct timespec at_monotonic(int64_t milliseconds) {
    return (struct timespec){ .tv_sec = (time_t)(milliseconds / 1000),
                              .tv_nsec = (long)(milliseconds % 1000) * 1000000 };
}

/* Deal with all that is due; returns when to look again. Under the mutex. */
static int64_t sweep(tacit_server *server, int64_t now, tacit_exchange **ended, unsigned *dropped) {
    int64_t next = TACIT_NO_DEADLINE;
    for (tacit_connection *connection = server->connections; connection != NULL;
         connection = connection->next) {
        if (connection->deadline > now) {
            if (connection->deadline < next) next = connection->deadline;
        } else if (connection->suspended != NULL) {
            tacit_exchange_end(connection->suspended, ended);
        } else {
            /* The connection's thread notices and closes. The socket is still open, since the connection is
             * taken off the list before. */
            shutdown(connection->socket, SHUT_RDWR);
            connection->deadline = TACIT_NO_DEADLINE;
            if (!connection->idle) ++*dropped; /* one that waited too long between requests is no news */
        }
    }
    return next;
}

/* Wait for the next deadline, or for an earlier one to be set, but at least until `earliest`; false once it
 * is time to look. Under the mutex. */
static bool rest(tacit_server *server, int64_t earliest) {
    int64_t wake = server->next_wake > earliest ? server->next_wake : earliest;
    if (tacit_clock_monotonic_ms() >= wake) return false;
    if (wake == TACIT_NO_DEADLINE) {
        pthread_cond_wait(&server->changed, &server->mutex);
    } else {
        struct timespec until = at_monotonic(wake);
        pthread_cond_timedwait(&server->changed, &server->mutex, &until);
    }
    return true;
}

static void *run_timer(void *argument) {
    tacit_server *server = argument;
    pthread_mutex_lock(&server->mutex);
    while (!server->stopping) {
        tacit_exchange *ended = NULL;
        unsigned dropped = 0;
        int64_t now = tacit_clock_monotonic_ms();
        int64_t next = sweep(server, now, &ended, &dropped);
        if (ended != NULL || dropped != 0) {
            pthread_mutex_unlock(&server->mutex);
            tacit_exchanges_abandon(ended);
            if (dropped != 0) tacit_server_log(server, "dropped %u connections that were too slow", dropped);
            pthread_mutex_lock(&server->mutex);
            next = now; /* deadlines may have changed meanwhile */
        }
        server->next_wake = next;
        while (!server->stopping && rest(server, now + TIMER_REST_MS)) {
        }
    }
    pthread_mutex_unlock(&server->mutex);
    return NULL;
}

/* ---- connections ---- */

static void describe_address(char *out, size_t size, struct MHD_Connection *link) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(link, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    out[0] = 0;
    if (info == NULL || info->client_addr == NULL) return;
    socklen_t length =
        info->client_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    if (getnameinfo(info->client_addr, length, out, (socklen_t)size, NULL, 0, NI_NUMERICHOST) != 0)
        out[0] = 0;
}

static void open_connection(tacit_server *server, struct MHD_Connection *link, void **slot) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(link, MHD_CONNECTION_INFO_CONNECTION_FD);
    tacit_connection *connection = info != NULL ? TACIT_NEW(tacit_connection, 1) : NULL;
    *slot = connection;
    if (connection == NULL) return; /* its requests will be refused */
    connection->server = server;
    connection->link = link;
    connection->socket = info->connect_fd;
    describe_address(connection->address, sizeof connection->address, link);
    pthread_mutex_lock(&server->mutex);
    connection->next = server->connections;
    if (connection->next != NULL) connection->next->previous = connection;
    server->connections = connection;
    tacit_connection_due(connection, tacit_server_time_for(server, 0));
    pthread_mutex_unlock(&server->mutex);
}

static void close_connection(tacit_server *server, tacit_connection *connection) {
    if (connection == NULL) return;
    pthread_mutex_lock(&server->mutex);
    if (connection->previous != NULL)
        connection->previous->next = connection->next;
    else
        server->connections = connection->next;
    if (connection->next != NULL) connection->next->previous = connection->previous;
    pthread_mutex_unlock(&server->mutex);
    free(connection);
}

static void on_connection(void *context, struct MHD_Connection *link, void **slot,
                          enum MHD_ConnectionNotificationCode code) {
    if (code == MHD_CONNECTION_NOTIFY_STARTED) open_connection(context, link, slot);
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        close_connection(context, *slot);
        *slot = NULL;
    }
}

static tacit_connection *connection_of(struct MHD_Connection *link) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(link, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

/* ---- requests ---- */

static void refuse_peer(tacit_exchange *exchange) {
    const tacit_server_callbacks *callbacks = &exchange->server->callbacks;
    const tacit_certificate_info *info = &exchange->connection->presented.info;
    tacit_standing standing = exchange->peer.standing;
    tacit_refusal refusal = { .standing = standing,
                              .method = exchange->method,
                              .path = exchange->path,
                              .address = exchange->peer.address,
                              .fingerprint = info->fingerprint,
                              .name = standing == TACIT_STANDING_FOREIGN ? "" : info->name };
    if (callbacks->refused != NULL) callbacks->refused(callbacks->context, &refusal);
    tacit_header header = { "Tacit-Refused", "certificate" };
    tacit_exchange_refuse(exchange, MHD_HTTP_FORBIDDEN, tacit_standing_text(standing), &header);
}

/* How long the body will be. False: it does not say. libmicrohttpd has checked that it is a number. */
static bool announced_length(size_t *length, struct MHD_Connection *link) {
    if (MHD_lookup_connection_value(link, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL)
        return false;
    const char *text = MHD_lookup_connection_value(link, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    unsigned long long value = text != NULL ? strtoull(text, NULL, 10) : 0;
    *length = value < SIZE_MAX ? (size_t)value : SIZE_MAX;
    return true;
}

static void check_body(tacit_exchange *exchange) {
    const tacit_server *server = exchange->server;
    const tacit_server_callbacks *callbacks = &server->callbacks;
    size_t limit = server->settings.body_limit;
    if (callbacks->body_limit != NULL)
        limit = callbacks->body_limit(callbacks->context, exchange->method, exchange->path, &exchange->peer);
    char text[128];
    if (exchange->body_length > limit) {
        unsigned status =
            callbacks->too_large != NULL
                ? callbacks->too_large(callbacks->context, exchange->path, exchange->body_length)
                : MHD_HTTP_CONTENT_TOO_LARGE;
        snprintf(text, sizeof text, "a body of %zu bytes is larger than the allowed %zu",
                 exchange->body_length, limit);
        tacit_exchange_refuse(exchange, status, text, NULL);
    } else if (!tacit_bodies_admit(exchange)) {
        tacit_exchange_refuse(exchange, MHD_HTTP_SERVICE_UNAVAILABLE,
                              "too much is arriving at once; try again later", NULL);
    }
}

/* The headers are here: decide on peer and size before any of the body is read. */
static enum MHD_Result begin_request(tacit_connection *connection, const char *method, const char *path,
                                     void **slot) {
    tacit_exchange *exchange = tacit_exchange_begin(connection, method, path);
    if (exchange == NULL) return MHD_NO;
    *slot = exchange;
    const tacit_server_callbacks *callbacks = &exchange->server->callbacks;
    tacit_peer_identify(exchange);
    tacit_peer_busy(exchange);
    bool open = callbacks->open != NULL && callbacks->open(callbacks->context, method, path);
    bool length_known = announced_length(&exchange->body_length, connection->link);
    if (!exchange->peer.verified && !open)
        refuse_peer(exchange);
    else if (!length_known)
        tacit_exchange_refuse(exchange, MHD_HTTP_LENGTH_REQUIRED, "a body must announce its length", NULL);
    else
        check_body(exchange);
    exchange->body.limit = exchange->body_length;
    set_due(connection, tacit_bodies_begin(exchange));
    /* Answering now makes libmicrohttpd close the connection with the body unread, and the client may miss
     * the answer unless it waits for "100 Continue", as ours does. So a short body is better read and
     * dropped. */
    bool answer_now = exchange->handled && (!length_known || exchange->body_length > DRAIN_BYTES_MAX);
    return answer_now ? tacit_exchange_send(exchange) : MHD_YES;
}

static enum MHD_Result take_piece(tacit_exchange *exchange, const char *bytes, size_t *length) {
    if (!exchange->handled) {
        tacit_buffer *body = &exchange->body; /* counted by its whole length, and made in one piece */
        uint8_t *room;
        if (body->capacity == 0 && exchange->body_length <= WHOLE_BODY &&
            tacit_buffer_reserve(body, exchange->body_length, &room, NULL) != TACIT_OK)
            return MHD_NO;
        if (tacit_buffer_append(body, bytes, *length, NULL) != TACIT_OK) return MHD_NO;
    }
    *length = 0;
    int64_t deadline;
    if (tacit_bodies_progress(exchange, &deadline)) set_due(exchange->connection, deadline);
    return MHD_YES;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *link, const char *path,
                                  const char *method, const char *version, const char *piece,
                                  size_t *piece_length, void **slot) {
    tacit_server *server = context;
    (void)version;
    tacit_connection *connection = connection_of(link);
    if (connection == NULL) return MHD_NO;
    tacit_exchange *exchange = *slot;
    if (exchange == NULL) return begin_request(connection, method, path, slot);
    if (*piece_length != 0) return take_piece(exchange, piece, piece_length);
    if (!exchange->handled) {
        exchange->handled = true;
        set_due(connection, TACIT_NO_DEADLINE);
        server->callbacks.handle(server->callbacks.context, exchange);
        if (exchange->was_suspended) return MHD_YES; /* called again once it is resumed */
        /* if it has none */
        tacit_exchange_answer_text(exchange, MHD_HTTP_INTERNAL_SERVER_ERROR, "no answer");
    }
    return tacit_exchange_send(exchange);
}

static void on_completed(void *context, struct MHD_Connection *link, void **slot,
                         enum MHD_RequestTerminationCode code) {
    (void)context, (void)link, (void)code;
    if (*slot == NULL) return;
    tacit_exchange_finish(*slot);
    *slot = NULL;
}

/* ---- start and stop ---- */

static struct MHD_Response *fixed_response(const char *text) {
    return MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
}

tacit_server *tacit_server_unreference(tacit_server *server) {
    if (atomic_fetch_sub(&server->references, 1) != 1) return NULL;
    if (server->nothing != NULL) MHD_destroy_response(server->nothing);
    if (server->stopping_text != NULL) MHD_destroy_response(server->stopping_text);
    if (server->failed != NULL) MHD_destroy_response(server->failed);
    tacit_server_identity_clear(&server->identity);
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->mutex);
    pthread_mutex_destroy(&server->message_mutex);
    free(server);
    return NULL;
}

static tacit_status make_locks(tacit_server *server, tacit_error *error) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) return tacit_fail_memory(error);
    bool ready = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                 pthread_cond_init(&server->changed, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    if (!ready) return tacit_fail_memory(error);
    /* On Linux a plain mutex needs nothing and so cannot fail. */
    pthread_mutex_init(&server->mutex, NULL);
    pthread_mutex_init(&server->message_mutex, NULL);
    return TACIT_OK;
}

static tacit_status make_server(tacit_server **out, const tacit_server_identity *identity,
                                const tacit_server_settings *settings,
                                const tacit_server_callbacks *callbacks, tacit_error *error) {
    tacit_server *server = TACIT_NEW(tacit_server, 1);
    if (server == NULL) return tacit_fail_memory(error);
    tacit_status status = make_locks(server, error);
    if (status != TACIT_OK) {
        free(server);
        return status;
    }
    atomic_init(&server->references, 1);
    server->settings = *settings;
    server->callbacks = *callbacks;
    server->next_wake = TACIT_NO_DEADLINE;
    if (identity != NULL) {
        server->identity.key = tacit_copy_text(identity->key);
        server->identity.certificate = tacit_copy_text(identity->certificate);
        if (identity->authority != NULL) server->identity.authority = tacit_copy_text(identity->authority);
        if (server->identity.key != NULL)
            tacit_secret_lock(server->identity.key, strlen(server->identity.key));
    }
    bool identified =
        identity == NULL || (server->identity.key != NULL && server->identity.certificate != NULL &&
                             (server->identity.authority != NULL || identity->authority == NULL));
    server->nothing = fixed_response("");
    server->stopping_text = fixed_response("the server is stopping; try again later");
    server->failed = fixed_response("out of memory");
    if (!identified || server->nothing == NULL || server->stopping_text == NULL || server->failed == NULL) {
        tacit_server_unreference(server);
        return tacit_fail_memory(error);
    }
    *out = server;
    return TACIT_OK;
}

static tacit_status resolve(struct addrinfo **out, const tacit_server_settings *settings,
                            tacit_error *error) {
    char port[8];
    snprintf(port, sizeof port, "%u", settings->port);
    struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                              .ai_socktype = SOCK_STREAM };
    if (getaddrinfo(settings->address, port, &hints, out) != 0)
        return tacit_fail(error, TACIT_USAGE, "cannot listen on \"%.80s\": not a numeric address",
                          settings->address);
    return TACIT_OK;
}

/* What is said in plain must stay on this machine. */
static bool is_loopback(const struct sockaddr *address) {
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    if (address->sa_family == AF_INET) {
        memcpy(&four, address, sizeof four);
        return ntohl(four.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    memcpy(&six, address, sizeof six);
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six.sin6_addr);
}

static size_t tls_options(const tacit_server *server, struct MHD_OptionItem *out) {
    const struct MHD_OptionItem options[] = {
        { MHD_OPTION_HTTPS_MEM_KEY, 0, server->identity.key },
        { MHD_OPTION_HTTPS_MEM_CERT, 0, server->identity.certificate },
        { MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t) "NORMAL:-VERS-ALL:+VERS-TLS1.3" },
        { MHD_OPTION_HTTPS_MEM_TRUST, 0,
          server->identity.authority }, /* also asks clients for certificates */
    };
    memcpy(out, options, sizeof options);
    return sizeof options / sizeof options[0] - (server->identity.authority == NULL);
}

static tacit_status start_daemon(tacit_server *server, const struct sockaddr *address, tacit_error *error) {
    const tacit_server_settings *settings = &server->settings;
    struct MHD_OptionItem options[OPTIONS_MOST] = {
        { MHD_OPTION_SOCK_ADDR, 0, (void *)(uintptr_t)address },
        { MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)on_completed, server },
        { MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, server },
        { MHD_OPTION_CONNECTION_LIMIT, (intptr_t)settings->connection_limit, NULL },
        { MHD_OPTION_PER_IP_CONNECTION_LIMIT, (intptr_t)settings->address_limit, NULL },
        { MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES, NULL },
        { MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)settings->request_ms / 1000 + 2,
          NULL }, /* behind our own */
        { MHD_OPTION_LISTEN_BACKLOG_SIZE, LISTEN_BACKLOG, NULL },
    };
    size_t used = 8;           /* what follows is zero: MHD_OPTION_END */
    if (settings->threads > 1) /* one thread is no pool */
        options[used++] =
            (struct MHD_OptionItem){ MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)settings->threads, NULL };
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    if (server->identity.key != NULL) {
        flags |= MHD_USE_TLS;
        used += tls_options(server, options + used);
    }
    if (address->sa_family == AF_INET6) flags |= MHD_USE_IPv6;
    server->daemon =
        MHD_start_daemon(flags, settings->port, NULL, NULL, on_request, server, MHD_OPTION_EXTERNAL_LOGGER,
                         on_message, server, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
    if (server->daemon == NULL)
        return tacit_fail(error, TACIT_NETWORK, "cannot listen on %s port %u: %s", settings->address,
                          settings->port,
                          server->first_message[0] != 0 ? server->first_message : "the server did not start");
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    server->port = info != NULL ? info->port : settings->port;
    return TACIT_OK;
}

tacit_status tacit_server_start(tacit_server **out, const tacit_server_identity *identity,
                                const tacit_server_settings *settings,
                                const tacit_server_callbacks *callbacks, tacit_error *error) {
    if (callbacks->handle == NULL) return tacit_fail(error, TACIT_USAGE, "a server needs a handler");
    if (settings->threads == 0 || settings->connection_limit < settings->threads ||
        settings->request_ms == 0 || settings->suspend_ms == 0)
        return tacit_fail(error, TACIT_USAGE,
                          "a server needs threads, at least as many connections, and times above zero");
    struct addrinfo *address = NULL;
    tacit_server *server = NULL;
    if (tacit_server_library != NULL) TACIT_TRY(tacit_server_library(error));
    TACIT_TRY(resolve(&address, settings, error));
    if (identity == NULL && !is_loopback(address->ai_addr)) {
        freeaddrinfo(address);
        return tacit_fail(error, TACIT_USAGE,
                          "without TLS only a loopback address such as 127.0.0.1 is served, not %.80s",
                          settings->address);
    }
    tacit_status status = make_server(&server, identity, settings, callbacks, error);
    /* The timer comes first: a client may be quick, and what is suspended must have its end. */
    if (status == TACIT_OK && pthread_create(&server->timer, NULL, run_timer, server) != 0) {
        status = tacit_fail(error, TACIT_NO_MEMORY, "cannot start the server's timer thread");
        server = tacit_server_unreference(server);
    }
    if (status == TACIT_OK) status = start_daemon(server, address->ai_addr, error);
    freeaddrinfo(address);
    if (status == TACIT_OK)
        *out = server;
    else
        tacit_server_free(server);
    return status;
}

uint16_t tacit_server_port(const tacit_server *server) { return server->port; }

tacit_server *tacit_server_free(tacit_server *server) {
    if (server == NULL) return NULL;
    tacit_exchange *ended = NULL;
    pthread_mutex_lock(&server->mutex);
    server->stopping = true; /* from here on nothing is suspended any more */
    for (tacit_connection *connection = server->connections; connection != NULL;
         connection = connection->next)
        if (connection->suspended != NULL) tacit_exchange_end(connection->suspended, &ended);
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->mutex);
    pthread_join(server->timer, NULL);
    tacit_exchanges_abandon(ended);
    /* libmicrohttpd closes all at once: let the last answers out first. */
    struct timespec until = at_monotonic(tacit_clock_monotonic_ms() + DRAIN_MS);
    pthread_mutex_lock(&server->mutex);
    while (server->answers_due != 0)
        if (pthread_cond_timedwait(&server->changed, &server->mutex, &until) != 0) break;
    pthread_mutex_unlock(&server->mutex);
    if (server->daemon != NULL) MHD_stop_daemon(server->daemon);
    return tacit_server_unreference(server);
}
