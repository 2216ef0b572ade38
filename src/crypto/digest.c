#include "crypto/digest.h"

#include <string.h>

void tacit_digest_begin(tacit_digest *digest, const char *label, const uint8_t *key) {
    crypto_generichash_init(&digest->state, key, key != NULL ? TACIT_DIGEST_BYTES : 0, TACIT_DIGEST_BYTES);
    tacit_digest_text(digest, label);
}

void tacit_digest_bytes(tacit_digest *digest, const void *bytes, size_t length) {
    crypto_generichash_update(&digest->state, bytes, length);
}

void tacit_digest_u64(tacit_digest *digest, uint64_t value) {
    uint8_t bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(value >> (8 * i));
    tacit_digest_bytes(digest, bytes, sizeof bytes);
}

void tacit_digest_text(tacit_digest *digest, const char *text) {
    size_t length = strlen(text);
    tacit_digest_u64(digest, length);
    tacit_digest_bytes(digest, text, length);
}

void tacit_digest_end(tacit_digest *digest, uint8_t out[TACIT_DIGEST_BYTES]) {
    crypto_generichash_final(&digest->state, out, TACIT_DIGEST_BYTES);
    sodium_memzero(digest, sizeof *digest);
}
