/*
 * What a party says reaches its coordinator by a carrier, and the reply comes back, whatever is between them.
 * A carrier is one file and its line in the table (carrier.c); how the coordinator's address begins says
 * which. Who uses one knows endpoints, bytes and results; the coordinator's end is in
 * coordinator_https.c. Words to a neighbour that listens go by a carrier too (site_links.c).
 */
#pragma once

#include "base/buffer.h"
#include "session/carrier/endpoints.h"

/* What came of a request to an endpoint. Except for the first two, the reply is a sentence for people. */
typedef enum tacit_request_result {
    TACIT_RESULT_DONE,
    TACIT_RESULT_NOTHING, /* there is nothing to say yet */
    TACIT_RESULT_CLOSED,  /* the round or the study has, meanwhile */
    TACIT_RESULT_REFUSED,
    TACIT_RESULT_LATER, /* the coordinator cannot now: try again */
    TACIT_RESULT_WRONG, /* it does not understand */
} tacit_request_result;

typedef struct tacit_carried {
    tacit_request_result result;
    unsigned code;      /* as the carrier tells it, for people */
    tacit_buffer reply; /* appended to; its limit is the most that is taken */
} tacit_carried;

/* Why a request did not get through. */
typedef enum tacit_carrier_failure {
    TACIT_FAILURE_NONE,
    TACIT_FAILURE_AWAY, /* nobody is there, or the connection was lost: try again */
    /* who answers is not this coordinator, or has a certificate of another authority */
    TACIT_FAILURE_STRANGER,
    TACIT_FAILURE_PAUSED,  /* nothing was sent: our side is paused */
    TACIT_FAILURE_REFUSED, /* the coordinator does not take our certificate, or wants one */
    TACIT_FAILURE_OTHER
} tacit_carrier_failure;

/* Texts are copied. Files are PEM. */
typedef struct tacit_carrier_settings {
    const char *address;          /* of the coordinator, as invitations have it; or a neighbour's name */
    const char *connect;          /* host:port to go to in place of the address's; NULL: there */
    const char *authority_file;   /* the only authorities that are trusted */
    const char *certificate_file; /* NULL with key_file NULL: without a certificate */
    const char *key_file;
    bool unverified; /* listen to whoever answers, for what proves itself; all files are NULL then */
    const char *proxy;
    bool (*cancelled)(void *context); /* asked now and then during a request; true ends it. NULL: never */
    void *cancelled_context;
    bool (*paused)(void *context); /* asked before a request; true: it is not made. NULL: never */
    void *paused_context;
    /* of a carrier of files (carrier_files.h); NULL: nobody carries any now */
    struct tacit_envelope_pair *envelopes;
} tacit_carrier_settings;

typedef struct tacit_carrier tacit_carrier;

/* Where a party takes words of its neighbours. Texts are copied as needed; the callbacks are called from the
 * carrier's own threads, several at a time. */
typedef struct tacit_listener_settings {
    const char *address; /* HOST:PORT, numeric; port 0: any free one */
    const char *key_file, *certificate_file, *authority_file;
    unsigned connections; /* at most */
    /* How long a word may be of who has a certificate for this name; 0: it is no neighbour. */
    size_t (*longest)(void *context, const char *name);
    /* A word. Done; closed: no neighbour of that name is known; wrong; or later: it could not be kept. */
    tacit_request_result (*take)(void *context, const char *name, const tacit_buffer *word);
    bool (*revoked)(void *context, const char *fingerprint);
    void (*refused)(void *context, const char *name, const char *address, const char *why);
    void *context;
} tacit_listener_settings;

#define TACIT_LISTENER_ADDRESS_SIZE 128

typedef struct tacit_listener {
    void (*stop)(struct tacit_listener *listener);
    char address[TACIT_LISTENER_ADDRESS_SIZE]; /* where it is, as HOST:PORT */
} tacit_listener;

/* One kind of carrier; what it makes begins with a struct tacit_carrier. */
typedef struct tacit_carrier_kind {
    const char *scheme; /* with which the addresses of its coordinators begin */
    tacit_status (*open)(tacit_carrier **out, const tacit_carrier_settings *settings, tacit_error *error);
    void (*free)(tacit_carrier *carrier);
    tacit_status (*send)(tacit_carrier *carrier, tacit_endpoint endpoint, const tacit_buffer *body,
                         unsigned timeout_ms, tacit_carried *out, tacit_error *error);
    tacit_status (*bring)(tacit_carrier *carrier, const tacit_buffer *word, unsigned timeout_ms,
                          tacit_carried *out, tacit_error *error);
    tacit_carrier_failure (*failure)(const tacit_carrier *carrier);
    int64_t (*clock)(const tacit_carrier *carrier);
    /* NULL: nobody can come to a party */
    tacit_status (*listen)(tacit_listener **out, const tacit_listener_settings *settings, tacit_error *error);
} tacit_carrier_kind;

struct tacit_carrier {
    const tacit_carrier_kind *kind;
    bool (*paused)(void *context); /* as in the settings; these three are set by tacit_carrier_open */
    void *paused_context;
    bool held; /* the last request was not made for it */
};

extern const tacit_carrier_kind tacit_https_carrier, tacit_files_carrier;

/* TACIT_USAGE for an address that no carrier knows. Does not go there yet. */
tacit_status tacit_carrier_open(tacit_carrier **out, const tacit_carrier_settings *settings,
                                tacit_error *error);
tacit_carrier *tacit_carrier_free(tacit_carrier *carrier); /* accepts NULL */

/* Send these bytes (NULL: none) to an endpoint and wait for the result. TACIT_NETWORK in one sentence
 * when they do not get through, or our side is paused; TACIT_LIMIT for a reply that is longer than allowed;
 * TACIT_CANCELLED. */
tacit_status tacit_carrier_send(tacit_carrier *carrier, tacit_endpoint endpoint, const tacit_buffer *body,
                                unsigned timeout_ms, tacit_carried *out, tacit_error *error);

/* Bring a sealed word to the neighbour that the carrier leads to. TACIT_RESULT_CLOSED: it does not know us
 * yet. Fails as tacit_carrier_send. */
tacit_status tacit_carrier_bring(tacit_carrier *carrier, const tacit_buffer *word, unsigned timeout_ms,
                                 tacit_carried *out, tacit_error *error);

/* Take words of neighbours, by the first carrier that can. */
tacit_status tacit_listener_open(tacit_listener **out, const tacit_listener_settings *settings,
                                 tacit_error *error);
tacit_listener *tacit_listener_free(tacit_listener *listener); /* accepts NULL */

/* Of the last request: what was wrong, and the coordinator's clock, seconds since 1970, at most 0 when it did
 * not say. */
tacit_carrier_failure tacit_carrier_last_failure(const tacit_carrier *carrier);
int64_t tacit_carrier_clock(const tacit_carrier *carrier);
