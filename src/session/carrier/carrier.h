/*
 * What a party says reaches its coordinator by a carrier, and the reply comes back, whatever is between them.
 * A carrier is one file and its line in the table (carrier.c); how the coordinator's address begins says
 * which. Who uses one knows errands, bytes and what became of them; the coordinator's end is in
 * coordinator_https.c. Words to a neighbour that listens go by a carrier too (site_links.c).
 */
#pragma once

#include "base/buffer.h"
#include "session/carrier/errands.h"

/* What became of one. Except for the first two, the reply is a sentence for people. */
typedef enum tacit_fate {
    TACIT_FATE_DONE,
    TACIT_FATE_NOTHING, /* there is nothing to say yet */
    TACIT_FATE_CLOSED,  /* the round or the study has, meanwhile */
    TACIT_FATE_REFUSED,
    TACIT_FATE_LATER, /* the coordinator cannot now: try again */
    TACIT_FATE_WRONG, /* it does not understand */
} tacit_fate;

typedef struct tacit_carried {
    tacit_fate fate;
    unsigned code;      /* as the carrier tells it, for people */
    tacit_buffer reply; /* appended to; its limit is the most that is taken */
} tacit_carried;

/* Why an errand did not get through. */
typedef enum tacit_trouble {
    TACIT_TROUBLE_NONE,
    TACIT_TROUBLE_AWAY,     /* nobody is there, or the connection was lost: try again */
    TACIT_TROUBLE_STRANGER, /* who answers is not this coordinator, or has a certificate of another authority */
    TACIT_TROUBLE_PAUSED,   /* nobody was gone to: our side is paused */
    TACIT_TROUBLE_REFUSED, /* the coordinator does not take our certificate, or wants one */
    TACIT_TROUBLE_OTHER
} tacit_trouble;

/* Texts are copied. Files are PEM. */
typedef struct tacit_carrier_settings {
    const char *address;          /* of the coordinator, as invitations have it; or a neighbour's name */
    const char *connect;          /* host:port to go to in place of the address's; NULL: there */
    const char *authority_file;   /* the only authorities that are trusted */
    const char *certificate_file; /* NULL with key_file NULL: without a certificate */
    const char *key_file;
    bool unverified; /* listen to whoever answers, for what proves itself; all files are NULL then */
    const char *proxy;
    bool (*cancelled)(void *context); /* asked now and then during an errand; true ends it. NULL: never */
    void *cancelled_context;
    bool (*paused)(void *context); /* asked before an errand; true: it is not run. NULL: never */
    void *paused_context;
    struct tacit_pouch *pouch; /* of a carrier of files (carrier_files.h); NULL: nobody carries any now */
} tacit_carrier_settings;

typedef struct tacit_carrier tacit_carrier;

/* One kind of carrier; what it makes begins with a struct tacit_carrier. */
typedef struct tacit_carrier_kind {
    const char *scheme; /* with which the addresses of its coordinators begin */
    tacit_status (*open)(tacit_carrier **out, const tacit_carrier_settings *settings, tacit_error *error);
    void (*free)(tacit_carrier *carrier);
    tacit_status (*send)(tacit_carrier *carrier, tacit_errand errand, const tacit_buffer *body,
                         unsigned timeout_ms, tacit_carried *out, tacit_error *error);
    tacit_status (*bring)(tacit_carrier *carrier, const tacit_buffer *word, unsigned timeout_ms,
                          tacit_carried *out, tacit_error *error);
    tacit_trouble (*trouble)(const tacit_carrier *carrier);
    int64_t (*clock)(const tacit_carrier *carrier);
} tacit_carrier_kind;

struct tacit_carrier {
    const tacit_carrier_kind *kind;
    bool (*paused)(void *context); /* as in the settings; these three are set by tacit_carrier_open */
    void *paused_context;
    bool held; /* the last errand was not run for it */
};

extern const tacit_carrier_kind tacit_https_carrier, tacit_files_carrier;

/* TACIT_USAGE for an address that no carrier knows. Does not go there yet. */
tacit_status tacit_carrier_open(tacit_carrier **out, const tacit_carrier_settings *settings,
                                tacit_error *error);
tacit_carrier *tacit_carrier_free(tacit_carrier *carrier); /* accepts NULL */

/* Run an errand with these bytes (NULL: none) and wait for what comes of it. TACIT_NETWORK in one sentence
 * when it does not get through, or our side is paused; TACIT_LIMIT for a reply that is longer than allowed; TACIT_CANCELLED. */
tacit_status tacit_carrier_send(tacit_carrier *carrier, tacit_errand errand, const tacit_buffer *body,
                                unsigned timeout_ms, tacit_carried *out, tacit_error *error);

/* Bring a sealed word to the neighbour that the carrier leads to. TACIT_FATE_CLOSED: it does not know us yet.
 * Fails as tacit_carrier_send. */
tacit_status tacit_carrier_bring(tacit_carrier *carrier, const tacit_buffer *word, unsigned timeout_ms,
                                 tacit_carried *out, tacit_error *error);

/* Of the last errand: what was wrong, and the coordinator's clock, seconds since 1970, at most 0 when it did
 * not say. */
tacit_trouble tacit_carrier_trouble(const tacit_carrier *carrier);
int64_t tacit_carrier_clock(const tacit_carrier *carrier);
