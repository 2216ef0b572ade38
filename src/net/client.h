/*
 * An HTTPS client for one identity: one connection, kept open between requests. It trusts the one authority
 * it is given and none of the system's, speaks TLS 1.3 or later, checks the server's name or address, and
 * follows no redirects. One thread at a time.
 *
 * Proxies come from the environment (https_proxy, no_proxy) as curl does it, except that a loopback address
 * is never reached through a proxy unless `proxy` is set.
 */
#pragma once

#include "base/buffer.h"

typedef struct tacit_client tacit_client;

typedef struct tacit_client_settings {
    const char *url;              /* "https://host:port", where paths are appended */
    const char *authority_file;   /* PEM; the only authorities that are trusted */
    const char *certificate_file; /* PEM; NULL with key_file NULL: without a certificate */
    const char *key_file;         /* PEM; refused when others can read it */
    /* listen to whoever answers, for what proves itself (net/handover.h); all files are NULL then */
    bool unverified;
    /* of a program's own interface on this machine: plain HTTP to a loopback address, with this token in
     * every request; all files are NULL then. NULL: HTTPS */
    const char *token;
    const char *proxy; /* http://[NAME:PASSWORD@]HOST:PORT; NULL: from the environment; "": none */
    /* host:port to connect to in place of the url's, which names who must answer; may be NULL */
    const char *address;
    /* Asked at least ten times a second during a request; true ends it. NULL: never. */
    bool (*cancelled)(void *context);
    void *cancelled_context;
} tacit_client_settings;

/* Texts are copied. Fails when a file is missing or unfit, without touching the network. */
tacit_status tacit_client_create(tacit_client **out, const tacit_client_settings *settings,
                                 tacit_error *error);
tacit_client *tacit_client_free(tacit_client *client);

/* Why the last request failed; to decide whether trying again can help. */
typedef enum tacit_client_failure {
    TACIT_CLIENT_NO_FAILURE,
    TACIT_CLIENT_UNREACHABLE,      /* no such host, no one listening, connection lost: try again */
    TACIT_CLIENT_TIMED_OUT,        /* try again */
    TACIT_CLIENT_SERVER_UNTRUSTED, /* not from this coordinator's authority, or another host's */
    TACIT_CLIENT_REFUSED,          /* the server does not accept our certificate, or none was given */
    TACIT_CLIENT_PROXY_REFUSED,    /* the proxy wants a password, or does not connect to that host */
    TACIT_CLIENT_RESPONSE_TOO_LARGE,
    TACIT_CLIENT_CANCELLED,
    TACIT_CLIENT_OTHER
} tacit_client_failure;

tacit_client_failure tacit_client_last_failure(const tacit_client *client);

/* The server's clock, seconds since 1970, when it began its last answer; at most 0 when it did not say. */
int64_t tacit_client_last_date(const tacit_client *client);

typedef struct tacit_client_request {
    const char *method; /* "GET", "POST", ... */
    const char *path;   /* "/studies?after=3": starts with '/', already percent-encoded */
    const void *body;
    size_t body_length;
    const char *content_type; /* NULL: application/octet-stream when there is a body */
    const char *header;       /* one more, "Last-Event-ID: 3"; NULL: none */
    unsigned timeout_ms;      /* for the whole request; longer than the server's suspension when polling */
} tacit_client_request;

/*
 * Send one request and wait for the answer.
 * Out: http_status, and the body appended to `response`, whose limit caps it (0: 16 MiB). On failure both are
 *      as before.
 * Returns TACIT_OK for any answer of the server, also 404, except one that refuses our certificate.
 *      TACIT_NETWORK, one sentence: cannot reach / certificate not from this coordinator's authority / our
 *      certificate was refused / timed out. TACIT_LIMIT when the answer is larger than allowed: it is cut
 * off, not buffered. TACIT_CANCELLED.
 */
tacit_status tacit_client_send(unsigned *http_status, tacit_buffer *response, tacit_client *client,
                               const tacit_client_request *request, tacit_error *error);
