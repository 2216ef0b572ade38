/*
 * An HTTPS server (TLS 1.3 only) that asks each client for a certificate and hands each whole request to one
 * handler. A few threads serve thousands of connections, so the handler must not block: it either answers at
 * once, or suspends the exchange and lets another thread answer it later (long polling).
 *
 * Who may come in. The client's certificate must be signed by our authority, in its time, made for clients,
 * and not revoked; then `peer.verified` holds. Everyone else gets 403 with a sentence saying why, before the
 * body is read, and the refusal is reported, unless the path is declared open (the join page).
 *
 * What a client can cost us. Bodies are capped before they are read: a larger one gets 413, one without a
 * length 411. All bodies together take at most body_budget: one more gets 503, to be tried again. With
 * one_at_a_time a verified peer's second request to a path ends its first. A request must arrive, and its
 * answer be taken, at a minimum pace; a slower client is dropped.
 *
 * Who owns an exchange.
 *  1. Inside the handler the exchange is borrowed. The handler calls exactly one of tacit_exchange_answer and
 *     tacit_exchange_suspend. (Neither: the client gets 500.)
 *  2. A successful suspend gives the caller one reference. It is given back by exactly one call of
 *     tacit_exchange_complete or tacit_exchange_release, from any thread, even before the handler has
 *     returned, even after the server is freed. Not calling either leaks the exchange; calling twice is a
 *     programmer's error.
 *  3. The server ends an exchange that is not completed within its time (204) or when the server stops (503),
 *     and then calls the suspender's `abandoned` exactly once, with no lock held, from its timer thread or
 *     from tacit_server_free. This is only news: the reference is still the owner's. So an owner keeps its
 *     exchanges in a table under a lock of its own, and holds that lock while it suspends and enters one. An
 *     `abandoned` that finds its exchange in the table takes it out and releases it; one that does not leaves
 *     it to the thread that took it out and is about to complete it: that call does nothing but release, and
 *     returns false. Do not hold the lock while calling tacit_server_free.
 *  4. For each suspended exchange exactly one happens: complete returns true; release ends it (204); or
 *     `abandoned` is called, perhaps a moment after a late release. Its `context` must stay valid until one
 *     of them has, or tacit_server_free has returned.
 *
 * Threads: handlers and callbacks run on the server's threads, several at a time. Every tacit_exchange call
 * on a suspended exchange is thread-safe. tacit_server_free must not be called from a callback.
 */
#pragma once

#include "net/identity.h"

typedef struct tacit_server tacit_server;
typedef struct tacit_exchange tacit_exchange;

typedef enum tacit_standing {
    TACIT_STANDING_VERIFIED,
    TACIT_STANDING_NO_CERTIFICATE,
    TACIT_STANDING_FOREIGN, /* not signed by our authority, or damaged */
    TACIT_STANDING_EXPIRED, /* or not valid yet */
    TACIT_STANDING_REVOKED,
    TACIT_STANDING_WRONG_USE, /* ours, but not made for clients */
    TACIT_STANDING_RETIRED    /* of an authority of ours that is not trusted any more for this request */
} tacit_standing;

/* The sentence a refused client is told, e.g. "this certificate has been revoked". Never NULL. */
const char *tacit_standing_text(tacit_standing standing);

/* Who asks. Name and fingerprint are empty unless `verified`. */
typedef struct tacit_peer {
    bool verified;
    tacit_standing standing;
    char name[TACIT_NAME_SIZE];
    char fingerprint[TACIT_FINGERPRINT_SIZE];
    char address[64]; /* numeric, without port */
} tacit_peer;

/* A request that was answered 403 for lack of a good certificate. All texts borrowed for the call. Method and
 * path are a stranger's: escape them before they go to a log or a page. */
typedef struct tacit_refusal {
    tacit_standing standing;
    const char *method, *path, *address;
    const char *fingerprint; /* of the certificate shown; "" for none */
    const char *name;        /* its common name when our authority signed it; else "" */
} tacit_refusal;

typedef struct tacit_server_callbacks {
    /* Required: answer or suspend; see above. */
    void (*handle)(void *context, tacit_exchange *exchange);
    /* Which requests need no certificate. NULL: none. */
    bool (*open)(void *context, const char *method, const char *path);
    /* The largest body of a request. NULL: settings.body_limit for all. */
    size_t (*body_limit)(void *context, const char *method, const char *path, const tacit_peer *peer);
    /* The status that a larger body gets. NULL: 413. */
    unsigned (*too_large)(void *context, const char *path, size_t length);
    /* Asked again for each request, so that revoking works on open connections. NULL: none is revoked. */
    bool (*revoked)(void *context, const char *fingerprint);
    /* Has the authority, by its key's id, been replaced, so that its certificates do not serve for this path?
     * NULL: never. */
    bool (*retired)(void *context, const char *issuer_id, const char *path);
    /* A request was refused for its certificate. NULL: not told. */
    void (*refused)(void *context, const tacit_refusal *refusal);
    /* Messages of the libraries below, one line each, for the program's log. NULL: dropped. */
    void (*log)(void *context, const char *message);
    void *context;
} tacit_server_callbacks;

typedef struct tacit_server_settings {
    const char *address;       /* numeric, IPv4 or IPv6; "127.0.0.1" */
    uint16_t port;             /* 0: any free one; see tacit_server_port */
    unsigned threads;          /* 2 */
    unsigned connection_limit; /* 1000; further clients wait to be accepted */
    unsigned address_limit;    /* 0: no limit; else how many of them one address may hold */
    size_t body_limit;         /* 1 MiB */
    /* 256 MiB: of all bodies at a time, an eighth of it those of strangers; 0: no limit */
    size_t body_budget;
    bool one_at_a_time;  /* false: a verified peer may have several requests to one path */
    unsigned request_ms; /* 30000: a connection must bring its next request within this time, ... */
    size_t pace;         /* 4096: ... and longer by one second for each this many bytes of body, ... */
    unsigned body_ms;    /* 300000: ... but not by more than this */
    unsigned suspend_ms; /* 25000: the longest suspension */
} tacit_server_settings;

tacit_server_settings tacit_server_defaults(void);

/* Start listening. The identity is copied as needed and may be cleared afterwards. NULL: plain HTTP, for
 * pages of this machine's own users, and only on a loopback address (else TACIT_USAGE); no client is verified
 * then, so that exactly the requests that `open` names are served. The same holds for an identity whose
 * `authority` is NULL, of a server that anybody may read: it asks nobody for a certificate. */
tacit_status tacit_server_start(tacit_server **out, const tacit_server_identity *identity,
                                const tacit_server_settings *settings,
                                const tacit_server_callbacks *callbacks, tacit_error *error);

/* Stop listening, end all suspended exchanges, and wait for all callbacks to return. */
tacit_server *tacit_server_free(tacit_server *server);

uint16_t tacit_server_port(const tacit_server *server);

/* ---- the request; valid inside the handler, and later while a reference is held ---- */

const char *tacit_exchange_method(const tacit_exchange *exchange);
const char *tacit_exchange_path(const tacit_exchange *exchange); /* decoded, without arguments */
const tacit_peer *tacit_exchange_peer(const tacit_exchange *exchange);

/* The whole body, NUL-terminated after its length; empty when there is none. */
const tacit_buffer *tacit_exchange_body(const tacit_exchange *exchange);

/* A decoded argument after the '?', or a header; NULL when absent. Inside the handler only, and before it
 * answers or suspends; borrowed for as long. */
const char *tacit_exchange_argument(const tacit_exchange *exchange, const char *name);
const char *tacit_exchange_header(const tacit_exchange *exchange, const char *name);

/* ---- the answer ---- */

typedef struct tacit_header {
    const char *name, *value;
} tacit_header;

typedef struct tacit_http_answer {
    unsigned status;          /* 200, 404, ... */
    const char *content_type; /* NULL: application/octet-stream when there are bytes */
    const void *bytes;
    size_t length;
    /* NULL: the bytes are copied. Else they are borrowed until this is called, exactly once, from any thread
     * and whatever happens to the answer: so that one large answer can serve many clients. */
    void (*done)(void *done_context);
    void *done_context;
    const void *rest; /* follows the bytes, and is borrowed like them: only with `done` */
    size_t rest_length;
    const tacit_header *headers; /* further headers, copied */
    size_t header_count;
} tacit_http_answer;

/* Answer at once, inside the handler. Out of memory, the client gets 500. */
void tacit_exchange_answer(tacit_exchange *exchange, const tacit_http_answer *answer);

/* The shorthand for a line of text. */
void tacit_exchange_answer_text(tacit_exchange *exchange, unsigned status, const char *text);

/* Keep the exchange, inside the handler, for at most `limit_ms` (0, or anything above: settings.suspend_ms).
 * True: the caller owns a reference now (rule 2), and `abandoned` may be called (rule 3). False: the server
 * is stopping, nothing was given, and the client gets 503; the handler just returns. */
bool tacit_exchange_suspend(tacit_exchange *exchange, unsigned limit_ms,
                            void (*abandoned)(void *context, tacit_exchange *exchange), void *context);

/* Answer a suspended exchange and give up the reference. True when the answer is on its way (the client may
 * still be gone without our knowing); false when the server had ended the exchange before. */
bool tacit_exchange_complete(tacit_exchange *exchange, const tacit_http_answer *answer);

/* Give up the reference without an answer. Accepts NULL and returns NULL. */
tacit_exchange *tacit_exchange_release(tacit_exchange *exchange);

/* ---- for the program ---- */

/* Raise this process's limit of open files to at least `wanted` if the system allows, and tell what it is
 * now. Changes the whole process: programs call it once at their start, libraries never. */
unsigned long tacit_file_limit_raise(unsigned long wanted);
