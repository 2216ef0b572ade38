/*
 * A public shelf: documents that anybody may read over HTTPS, without a certificate and without logging in,
 * such as the catalogue of studies. The program puts documents on it; a request finds what lies there and
 * nothing else, so that no stranger's request touches a database or a file. GET only, without a body.
 * Documents have an ETag and may be cached. At most this many requests a second are answered, further ones
 * get 429: the shelf may be slow when it is flooded, and the parties' own server, which is another one, is
 * not.
 */
#pragma once

#include "base/buffer.h"
#include "net/identity.h"

typedef struct web_shelf web_shelf;

typedef struct web_shelf_settings {
    const char *address; /* numeric; NULL: 127.0.0.1 */
    uint16_t port;       /* 0: any free one */
} web_shelf_settings;

/* The identity's key and certificate are copied; its authority is not looked at. */
tacit_status web_shelf_start(web_shelf **out, const tacit_server_identity *identity,
                             const web_shelf_settings *settings, tacit_error *error);
web_shelf *web_shelf_free(web_shelf *shelf);
uint16_t web_shelf_port(const web_shelf *shelf);

/* Put a copy of these bytes at a path, in place of what is there. `immutable`: they never change, and may be
 * cached for as long; else for a minute. */
tacit_status web_shelf_put(web_shelf *shelf, const char *path, const char *type, const void *bytes,
                           size_t length, bool immutable, tacit_error *error);
