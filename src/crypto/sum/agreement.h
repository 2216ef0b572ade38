/*
 * Secrets between two parties that talk only through a coordinator: X25519 agreement, and authenticated
 * encryption from one to the other under it.
 *
 * Everything is bound to a context of 32 bytes (which says study, round, sum and roster) and to both public
 * keys. Key pairs are fresh for every masked sum, and for every study in which neighbours talk.
 */
#pragma once

#include "base/error.h"
#include "crypto/digest.h"

enum { TACIT_KEY_BYTES = 32, TACIT_SEAL_BYTES = crypto_aead_xchacha20poly1305_ietf_ABYTES };

typedef struct tacit_key_pair {
    uint8_t secret[TACIT_KEY_BYTES], shown[TACIT_KEY_BYTES];
} tacit_key_pair;

/* The pair of a secret of 32 uniform bytes. */
void tacit_key_pair_from(tacit_key_pair *out, const uint8_t secret[TACIT_KEY_BYTES]);

/* A seed that both ends compute alike, for `purpose`. TACIT_PROTOCOL when the peer's key is one of the few
 * with which the result would not be secret. */
tacit_status tacit_agree(uint8_t seed[TACIT_KEY_BYTES], const tacit_key_pair *own,
                         const uint8_t peer[TACIT_KEY_BYTES], const uint8_t context[TACIT_DIGEST_BYTES],
                         const char *purpose, tacit_error *error);

/* Who seals for whom. */
typedef struct tacit_seal_route {
    const uint8_t *context; /* TACIT_DIGEST_BYTES */
    uint32_t from, to;
} tacit_seal_route;

/* Seal `length` bytes into length + TACIT_SEAL_BYTES. The key is that of the seed and the direction, and may
 * seal one text only: the nonce is fixed. */
void tacit_seal(uint8_t *out, const uint8_t *text, size_t length, const uint8_t seed[TACIT_KEY_BYTES],
                const tacit_seal_route *route);

/* Open what tacit_seal made; `length` is that of the text. TACIT_PROTOCOL unless every bit is as it was
 * sealed, for this route. */
tacit_status tacit_seal_open(uint8_t *text, size_t length, const uint8_t *sealed,
                             const uint8_t seed[TACIT_KEY_BYTES], const tacit_seal_route *route,
                             tacit_error *error);
