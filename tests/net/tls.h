/* A bare TLS connection to 127.0.0.1, for clients that misbehave. */
#pragma once

#include <gnutls/gnutls.h>

#include "world.h"

typedef struct tls {
    int socket;
    gnutls_session_t session;
    gnutls_certificate_credentials_t credentials;
} tls;

/* Returns GnuTLS's code of the handshake. `who` may be NULL. */
int tls_open(tls *out, uint16_t port, const party *who, const char *priority);
void tls_send(tls *connection, const char *text);

/* Read until `size` - 1 bytes or the end; the text is NUL-terminated. Returns its length. */
size_t tls_read_all(tls *connection, char *out, size_t size);

/* Close without a word, as a machine that loses power does. */
void tls_vanish(tls *connection);
