/* The insides of the server, shared by server.c (connections, requests), exchange.c (answers, ownership) and
 * peer.c (certificates). Nothing outside this folder includes it. */
#pragma once

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "net/server.h"

#define TACIT_NO_DEADLINE INT64_MAX
enum { TACIT_BUSY_LISTS = 1024 };

/* What is known of a connection's certificate; worked out once a connection, by its own thread. */
typedef struct tacit_presented {
    bool known;
    tacit_standing standing;     /* time and revocation are checked again for each request */
    tacit_certificate_info info; /* empty without a certificate */
} tacit_presented;

typedef struct tacit_connection {
    struct tacit_connection *previous, *next; /* in the server's list; under its mutex */
    tacit_server *server;
    struct MHD_Connection *link;
    int socket;
    int64_t deadline;          /* under the mutex: when to drop it, or to end what is suspended */
    tacit_exchange *suspended; /* under the mutex: what waits for its owner; NULL: nothing */
    bool idle;                 /* under the mutex: between two requests */
    char address[64];
    tacit_presented presented;
} tacit_connection;

typedef enum exchange_state {
    EXCHANGE_OPEN,      /* in the hands of its connection's thread */
    EXCHANGE_SUSPENDED, /* its owner, the timer or the shutdown will answer, whoever comes first */
    EXCHANGE_ANSWERED,  /* the answer is set for good */
    EXCHANGE_FINISHED   /* the connection no longer knows it */
} exchange_state;

struct tacit_exchange {
    atomic_uint references;       /* one of the connection until finished, one of the owner once suspended */
    tacit_server *server;         /* counted */
    exchange_state state;         /* under the server's mutex, as are all to the blank line */
    tacit_connection *connection; /* NULL once finished */
    struct MHD_Response *response;
    size_t response_length;
    bool response_shared; /* one of the server's, not to be destroyed */
    unsigned status;
    void (*abandoned)(void *context, tacit_exchange *exchange);
    void *abandoned_context;
    tacit_exchange *next_ended; /* in the list of those whose `abandoned` is to be called */

    char *method, *path;
    tacit_peer peer;
    tacit_buffer body;
    size_t body_length; /* as announced */
    int64_t body_end;   /* when the last of it must be here */
    size_t body_mark;   /* how much there was when the deadline was last moved */
    bool counted;       /* its length is in the server's count of bytes */
    bool busy;          /* under the mutex, as the next: in the list of its peer */
    tacit_exchange *next_busy;
    bool handled; /* the handler has been called, or is not to be: the request was refused */
    bool was_suspended;
};

struct tacit_server {
    atomic_uint references; /* one of the program, one of each exchange */
    tacit_server_settings settings;
    tacit_server_callbacks callbacks;
    struct MHD_Daemon *daemon;
    uint16_t port;
    tacit_server_identity identity;
    pthread_t timer;
    /* For 204, 503 and 500; made beforehand, since they are needed when memory or time is short. */
    struct MHD_Response *nothing, *stopping_text, *failed;
    pthread_mutex_t mutex;  /* protects all to the blank line, and what is said above */
    pthread_cond_t changed; /* an earlier deadline, an answer sent, or stopping */
    tacit_connection *connections;
    int64_t next_wake;  /* when the timer will look again */
    size_t answers_due; /* answered but not yet sent */
    bool stopping;
    size_t peers_bytes, strangers_bytes;    /* of bodies that were admitted and are not freed */
    tacit_exchange *busy[TACIT_BUSY_LISTS]; /* requests of verified peers, by name */

    pthread_mutex_t message_mutex;
    char first_message[256]; /* what went wrong, should the daemon not start */
};

/* Whether libmicrohttpd is there, where it is loaded on demand (server_on_demand.c); elsewhere there is no
 * such function. */
tacit_status tacit_server_library(tacit_error *error) __attribute__((weak));

/* ---- server.c ---- */

/* Set when a connection is due, waking the timer if that is earlier than it would look. Under the mutex. */
void tacit_connection_due(tacit_connection *connection, int64_t deadline);

/* The moment by which this many bytes must have passed, at the slowest pace we accept. */
int64_t tacit_server_time_for(const tacit_server *server, size_t length);

tacit_server *tacit_server_unreference(tacit_server *server);
void tacit_server_log(tacit_server *server, const char *format, ...) TACIT_PRINTF(2, 3);

/* ---- exchange.c ---- */

tacit_exchange *tacit_exchange_begin(tacit_connection *connection, const char *method, const char *path);

/* The server's own answers. */
void tacit_exchange_refuse(tacit_exchange *exchange, unsigned status, const char *text,
                           const tacit_header *header);

/* Send the answer, from the connection's thread. */
enum MHD_Result tacit_exchange_send(tacit_exchange *exchange);

/* End a suspended exchange (204, or 503 when stopping) and put it, with a reference, on the list. Under the
 * mutex. */
void tacit_exchange_end(tacit_exchange *exchange, tacit_exchange **ended);

/* Tell the owners of the listed exchanges, and drop the references. Without the mutex. */
void tacit_exchanges_abandon(tacit_exchange *ended);

/* The connection is done with it. */
void tacit_exchange_finish(tacit_exchange *exchange);

/* ---- bodies.c ---- */

/* Make room for a body that was announced; false: there is none now. */
bool tacit_bodies_admit(tacit_exchange *exchange);
/* Its bytes are free again. */
void tacit_bodies_release(tacit_exchange *exchange);

/* A verified peer's request begins, and ends an earlier one to the same path; it is over (the mutex is held,
 * and the connection known yet). */
void tacit_peer_busy(tacit_exchange *exchange);
void tacit_peer_free(tacit_exchange *exchange);

/* The first deadline of a body; and, after a piece of it, whether there is a later one: each stretch of
 * request_ms must bring its bytes at the pace, and all of it be here within body_ms more than that. */
int64_t tacit_bodies_begin(tacit_exchange *exchange);
bool tacit_bodies_progress(tacit_exchange *exchange, int64_t *deadline);

/* ---- peer.c ---- */

/* Who is at the other end, now. Fills exchange->peer. */
void tacit_peer_identify(tacit_exchange *exchange);
