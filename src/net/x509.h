/* Shared by the X.509 files of this folder: reading keys and certificates into GnuTLS objects. */
#pragma once

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#include "base/buffer.h"

/* "doing: GnuTLS's reason" as TACIT_INTERNAL, for steps that fail only when memory or randomness do. */
tacit_status tacit_x509_fail(tacit_error *error, const char *doing, int code);

/* A certificate from PEM or DER, capped at TACIT_CERTIFICATE_BYTES_MAX. */
tacit_status tacit_x509_certificate(gnutls_x509_crt_t *out, const void *bytes, size_t length,
                                    tacit_error *error);

/* Append what GnuTLS allocated, and free it; `secret` bytes are overwritten first. */
tacit_status tacit_x509_take(tacit_buffer *out, gnutls_datum_t *taken, bool secret, tacit_error *error);

/* Read a whole private file, and the key in it. TACIT_REFUSED when others can read it. */
tacit_status tacit_x509_read_private(tacit_buffer *out, const char *path, tacit_error *error);
tacit_status tacit_x509_private_key(gnutls_x509_privkey_t *out, const char *path, tacit_error *error);

/* A new P-256 key, also as PEM. */
tacit_status tacit_x509_new_key(gnutls_x509_privkey_t *out, tacit_buffer *pem, tacit_error *error);

/* Free a buffer that held a key. */
void tacit_x509_wipe(tacit_buffer *buffer);

/* Whether these bytes look like PEM rather than DER. */
gnutls_x509_crt_fmt_t tacit_x509_format(const void *bytes, size_t length);
