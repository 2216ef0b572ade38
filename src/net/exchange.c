/*
 * Answers and ownership. An exchange is answered once: whoever finds it open or suspended under the server's
 * mutex, and sets the answer there, is the one; all others find it answered and leave it alone. It is freed
 * when both the connection and the owner have dropped their references.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "net/clock.h"
#include "net/server_parts.h"

static void unreference(tacit_exchange *exchange) {
    if (atomic_fetch_sub(&exchange->references, 1) != 1) return;
    if (exchange->response != NULL && !exchange->response_shared) MHD_destroy_response(exchange->response);
    tacit_buffer_clear(&exchange->body);
    tacit_bodies_release(exchange);
    free(exchange->method);
    free(exchange->path);
    tacit_server_unreference(exchange->server);
    free(exchange);
}

tacit_exchange *tacit_exchange_begin(tacit_connection *connection, const char *method, const char *path) {
    tacit_exchange *exchange = TACIT_NEW(tacit_exchange, 1);
    if (exchange == NULL) return NULL;
    atomic_init(&exchange->references, 1);
    exchange->server = connection->server;
    atomic_fetch_add(&exchange->server->references, 1);
    exchange->connection = connection;
    exchange->method = tacit_copy_text(method);
    exchange->path = tacit_copy_text(path);
    if (exchange->method == NULL || exchange->path == NULL) {
        unreference(exchange);
        return NULL;
    }
    return exchange;
}

/* ---- the request ---- */

const char *tacit_exchange_method(const tacit_exchange *exchange) { return exchange->method; }
const char *tacit_exchange_path(const tacit_exchange *exchange) { return exchange->path; }
const tacit_peer *tacit_exchange_peer(const tacit_exchange *exchange) { return &exchange->peer; }
const tacit_buffer *tacit_exchange_body(const tacit_exchange *exchange) { return &exchange->body; }

static const char *look_up(const tacit_exchange *exchange, enum MHD_ValueKind kind, const char *name) {
    pthread_mutex_lock(&exchange->server->mutex);
    /* else it may be gone */
    struct MHD_Connection *link = exchange->state == EXCHANGE_OPEN ? exchange->connection->link : NULL;
    pthread_mutex_unlock(&exchange->server->mutex);
    return link != NULL ? MHD_lookup_connection_value(link, kind, name) : NULL;
}

const char *tacit_exchange_argument(const tacit_exchange *exchange, const char *name) {
    return look_up(exchange, MHD_GET_ARGUMENT_KIND, name);
}

const char *tacit_exchange_header(const tacit_exchange *exchange, const char *name) {
    return look_up(exchange, MHD_HEADER_KIND, name);
}

/* ---- making a response ---- */

static struct MHD_Response *copy_or_borrow(const tacit_http_answer *answer) {
    /* libmicrohttpd takes non-const bytes but only reads them. */
    void *bytes = (void *)(uintptr_t)answer->bytes;
    if (answer->done == NULL)
        return MHD_create_response_from_buffer(answer->length, bytes, MHD_RESPMEM_MUST_COPY);
    const struct MHD_IoVec parts[] = { { answer->bytes, answer->length },
                                       { answer->rest, answer->rest_length } };
    struct MHD_Response *response =
        answer->rest_length > 0 ? MHD_create_response_from_iovec(parts, 2, answer->done, answer->done_context)
                                : MHD_create_response_from_buffer_with_free_callback_cls(
                                      answer->length, bytes, answer->done, answer->done_context);
    if (response == NULL) answer->done(answer->done_context);
    return response;
}

/* NULL when out of memory; the answer's `done` has then been called. */
static struct MHD_Response *make_response(const tacit_http_answer *answer) {
    struct MHD_Response *response = copy_or_borrow(answer);
    if (response == NULL) return NULL;
    bool complete = true;
    const char *type = answer->content_type;
    if (type == NULL && answer->length > 0) type = "application/octet-stream";
    if (type != NULL)
        complete = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES;
    for (size_t i = 0; i < answer->header_count && complete; i++)
        complete =
            MHD_add_response_header(response, answer->headers[i].name, answer->headers[i].value) == MHD_YES;
    if (complete) return response;
    MHD_destroy_response(response);
    return NULL;
}

/* ---- answering ---- */

typedef struct outcome {
    unsigned status;
    struct MHD_Response *response;
    size_t length;
    bool shared; /* one of the server's ready-made responses, which live as long as any exchange */
} outcome;

static outcome nothing(const tacit_server *server) {
    return (outcome){ MHD_HTTP_NO_CONTENT, server->nothing, 0, true };
}

static outcome stopping(const tacit_server *server) {
    return (outcome){ MHD_HTTP_SERVICE_UNAVAILABLE, server->stopping_text, 0, true };
}

static outcome outcome_of(const tacit_server *server, const tacit_http_answer *answer) {
    struct MHD_Response *response = make_response(answer);
    if (response == NULL) return (outcome){ MHD_HTTP_INTERNAL_SERVER_ERROR, server->failed, 0, true };
    return (outcome){ answer->status, response, answer->length + answer->rest_length, false };
}

/* For one that comes too late. */
static void discard(outcome late) {
    if (!late.shared) MHD_destroy_response(late.response);
}

/* Under the mutex. The exchange takes over the response. */
static void set_answer(tacit_exchange *exchange, outcome answer) {
    exchange->state = EXCHANGE_ANSWERED;
    exchange->status = answer.status;
    exchange->response = answer.response;
    exchange->response_length = answer.length;
    exchange->response_shared = answer.shared;
    exchange->server->answers_due++;
}

/* Under the mutex: as above, for one that is suspended. */
static void set_answer_and_resume(tacit_exchange *exchange, outcome answer) {
    tacit_connection *connection = exchange->connection;
    connection->suspended = NULL;
    tacit_connection_due(connection, TACIT_NO_DEADLINE);
    set_answer(exchange, answer);
    /* From here on the connection's thread may send, finish, and close. It cannot pass us, since finishing
     * takes the mutex, too. */
    MHD_resume_connection(connection->link);
}

void tacit_exchange_answer(tacit_exchange *exchange, const tacit_http_answer *answer) {
    outcome made = outcome_of(exchange->server, answer);
    pthread_mutex_lock(&exchange->server->mutex);
    bool open = exchange->state == EXCHANGE_OPEN;
    if (open) set_answer(exchange, made);
    pthread_mutex_unlock(&exchange->server->mutex);
    if (!open) discard(made);
}

static tacit_http_answer text_answer(unsigned status, const char *text) {
    return (tacit_http_answer){
        .status = status, .content_type = "text/plain; charset=utf-8", .bytes = text, .length = strlen(text)
    };
}

void tacit_exchange_answer_text(tacit_exchange *exchange, unsigned status, const char *text) {
    tacit_http_answer answer = text_answer(status, text);
    tacit_exchange_answer(exchange, &answer);
}

void tacit_exchange_refuse(tacit_exchange *exchange, unsigned status, const char *text,
                           const tacit_header *header) {
    tacit_http_answer answer = text_answer(status, text);
    answer.headers = header;
    answer.header_count = header != NULL;
    exchange->handled = true;
    tacit_exchange_answer(exchange, &answer);
}

bool tacit_exchange_suspend(tacit_exchange *exchange, unsigned limit_ms,
                            void (*abandoned)(void *context, tacit_exchange *exchange), void *context) {
    tacit_server *server = exchange->server;
    if (limit_ms == 0 || limit_ms > server->settings.suspend_ms) limit_ms = server->settings.suspend_ms;
    pthread_mutex_lock(&server->mutex);
    bool open = exchange->state == EXCHANGE_OPEN;
    bool allowed = open && !server->stopping;
    if (allowed) {
        atomic_fetch_add(&exchange->references, 1);
        exchange->abandoned = abandoned;
        exchange->abandoned_context = context;
        exchange->state = EXCHANGE_SUSPENDED;
        exchange->was_suspended = true;
        exchange->connection->suspended = exchange;
        tacit_connection_due(exchange->connection, tacit_clock_monotonic_ms() + limit_ms);
        /* Under the mutex, so that no one resumes what is not yet suspended. */
        MHD_suspend_connection(exchange->connection->link);
    } else if (open) {
        set_answer(exchange, stopping(server));
    }
    pthread_mutex_unlock(&server->mutex);
    return allowed;
}

bool tacit_exchange_complete(tacit_exchange *exchange, const tacit_http_answer *answer) {
    outcome made = outcome_of(exchange->server, answer);
    pthread_mutex_lock(&exchange->server->mutex);
    bool in_time = exchange->state == EXCHANGE_SUSPENDED;
    if (in_time) set_answer_and_resume(exchange, made);
    pthread_mutex_unlock(&exchange->server->mutex);
    if (!in_time) discard(made);
    unreference(exchange);
    return in_time;
}

tacit_exchange *tacit_exchange_release(tacit_exchange *exchange) {
    if (exchange == NULL) return NULL;
    tacit_server *server = exchange->server;
    pthread_mutex_lock(&server->mutex);
    if (exchange->state == EXCHANGE_SUSPENDED) set_answer_and_resume(exchange, nothing(server));
    pthread_mutex_unlock(&server->mutex);
    unreference(exchange);
    return NULL;
}

/* ---- the server's side ---- */

void tacit_exchange_end(tacit_exchange *exchange, tacit_exchange **ended) {
    tacit_server *server = exchange->server;
    atomic_fetch_add(&exchange->references, 1);
    exchange->next_ended = *ended;
    *ended = exchange;
    set_answer_and_resume(exchange, server->stopping ? stopping(server) : nothing(server));
}

void tacit_exchanges_abandon(tacit_exchange *ended) {
    while (ended != NULL) {
        tacit_exchange *next = ended->next_ended;
        if (ended->abandoned != NULL) ended->abandoned(ended->abandoned_context, ended);
        unreference(ended);
        ended = next;
    }
}

enum MHD_Result tacit_exchange_send(tacit_exchange *exchange) {
    tacit_server *server = exchange->server;
    tacit_connection *connection = exchange->connection;
    pthread_mutex_lock(&server->mutex);
    tacit_connection_due(connection, tacit_server_time_for(server, exchange->response_length));
    pthread_mutex_unlock(&server->mutex);
    return MHD_queue_response(connection->link, exchange->status, exchange->response);
}

void tacit_exchange_finish(tacit_exchange *exchange) {
    tacit_server *server = exchange->server;
    pthread_mutex_lock(&server->mutex);
    tacit_peer_free(exchange);
    exchange->connection->idle = true;
    tacit_connection_due(exchange->connection, tacit_server_time_for(server, 0)); /* the next request */
    if (exchange->state == EXCHANGE_ANSWERED && --server->answers_due == 0)
        pthread_cond_broadcast(&server->changed);
    exchange->state = EXCHANGE_FINISHED;
    exchange->connection = NULL;
    pthread_mutex_unlock(&server->mutex);
    unreference(exchange);
}
