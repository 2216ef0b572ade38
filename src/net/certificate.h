/*
 * X.509 certificates as bytes, and what one needs to know about one. PEM and DER are both accepted wherever
 * a certificate is read; sizes are capped before anything is parsed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

enum {
    TACIT_NAME_SIZE = 65,               /* a common name: at most 64 bytes and NUL (X.520) */
    TACIT_FINGERPRINT_SIZE = 65,        /* SHA-256 of the DER, in lower-case hex, and NUL */
    TACIT_SERIAL_SIZE = 65,             /* serial number in lower-case hex, and NUL */
    TACIT_KEY_ID_SIZE = 41,             /* of a key, in lower-case hex, and NUL */
    TACIT_CERTIFICATE_BYTES_MAX = 16384 /* larger ones are refused unread */
};

typedef struct tacit_certificate_info {
    char name[TACIT_NAME_SIZE]; /* the subject's common name; "" when it has none */
    char fingerprint[TACIT_FINGERPRINT_SIZE];
    char serial[TACIT_SERIAL_SIZE];
    char key_id[TACIT_KEY_ID_SIZE];    /* of its own key; "" when it does not say */
    char issuer_id[TACIT_KEY_ID_SIZE]; /* of the key that signed it, as it says itself; "" for none */
    int64_t valid_from, valid_until;   /* seconds since 1970 */
    bool client_use;                   /* names clientAuth */
    bool server_use;                   /* names serverAuth */
    bool authority;                    /* may sign certificates */
} tacit_certificate_info;

/* When a certificate should be renewed: with a third of its time left. */
static inline int64_t tacit_certificate_renewal(const tacit_certificate_info *info) {
    return info->valid_until - (info->valid_until - info->valid_from) / 3;
}

/* Read a certificate (PEM or DER). It is not verified against anything. TACIT_INPUT when it is none. */
tacit_status tacit_certificate_inspect(tacit_certificate_info *out, const void *bytes, size_t length,
                                       tacit_error *error);

/* Was this certificate signed by that authority? Both PEM or DER; of several in PEM, the first. */
bool tacit_certificate_is_from(const void *bytes, size_t length, const void *authority,
                               size_t authority_length);

/* Append the other form of a certificate (PEM or DER) to `out`. */
tacit_status tacit_certificate_to_der(tacit_buffer *out, const void *bytes, size_t length,
                                      tacit_error *error);
tacit_status tacit_certificate_to_pem(tacit_buffer *out, const void *bytes, size_t length,
                                      tacit_error *error);

/* TACIT_OK when the certificate was made for the private key in `key_path`; TACIT_INPUT when not. */
tacit_status tacit_certificate_check_key(const void *bytes, size_t length, const char *key_path,
                                         tacit_error *error);
