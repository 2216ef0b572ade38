/* BLAKE2b-256 of labelled parts. Integers are fixed-width and little-endian, and a text goes in with its
 * length, so that two different lists of parts never give the same bytes. */
#pragma once

#include <sodium.h>
#include <stdint.h>

enum { TACIT_DIGEST_BYTES = 32 };

typedef struct tacit_digest {
    crypto_generichash_state state;
} tacit_digest;

/* Begin under a label that names the use; `key` is 32 secret bytes, or NULL. */
void tacit_digest_begin(tacit_digest *digest, const char *label, const uint8_t *key);
void tacit_digest_bytes(tacit_digest *digest, const void *bytes, size_t length);
void tacit_digest_u64(tacit_digest *digest, uint64_t value);
void tacit_digest_text(tacit_digest *digest, const char *text);

/* Write the digest and wipe the state. */
void tacit_digest_end(tacit_digest *digest, uint8_t out[TACIT_DIGEST_BYTES]);
