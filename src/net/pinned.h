/*
 * Documents of a server whose address says who it is: https://HOST:PORT/#FINGERPRINT, the fingerprint of the
 * authority (SHA-256 of the certificate's DER, in hexadecimal) that its certificate must come from. The
 * authority's certificate is asked of the server itself, from whoever answers, and counts only if it has that
 * fingerprint; all else is asked over a connection that it vouches for. So the address is all that must be
 * had from a place that one trusts.
 */
#pragma once

#include "base/buffer.h"
#include "net/certificate.h"

enum { TACIT_PINNED_URL_SIZE = 300 };

typedef struct tacit_pinned {
    char url[TACIT_PINNED_URL_SIZE]; /* https://HOST:PORT */
    char fingerprint[TACIT_FINGERPRINT_SIZE];
} tacit_pinned;

/* TACIT_USAGE, with an example, for anything else than such an address. */
tacit_status tacit_pinned_parse(tacit_pinned *out, const char *address, tacit_error *error);

typedef struct tacit_pinned_request {
    const char *path;   /* "/catalogue.json" */
    const char *folder; /* for a file that is there during the call; it must exist */
    bool (*cancelled)(void *context);
    void *cancelled_context;
} tacit_pinned_request;

/* Append the document, whose length the buffer's limit bounds; `authority` receives the certificate, PEM, and
 * may be NULL. TACIT_REFUSED when who answers is somebody else; TACIT_NETWORK, TACIT_NOT_FOUND. */
tacit_status tacit_pinned_fetch(tacit_buffer *out, tacit_buffer *authority, const tacit_pinned *from,
                                const tacit_pinned_request *request, tacit_error *error);
