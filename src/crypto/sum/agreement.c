#include "crypto/sum/agreement.h"

#include <stdbool.h>
#include <string.h>

void tacit_key_pair_from(tacit_key_pair *out, const uint8_t secret[TACIT_KEY_BYTES]) {
    memcpy(out->secret, secret, TACIT_KEY_BYTES);
    crypto_scalarmult_base(out->shown, secret);
}

tacit_status tacit_agree(uint8_t seed[TACIT_KEY_BYTES], const tacit_key_pair *own,
                         const uint8_t peer[TACIT_KEY_BYTES], const uint8_t context[TACIT_DIGEST_BYTES],
                         const char *purpose, tacit_error *error) {
    uint8_t point[crypto_scalarmult_BYTES];
    if (crypto_scalarmult(point, own->secret, peer) != 0)
        return tacit_fail(error, TACIT_PROTOCOL, "the peer's key is a point of small order");
    bool own_first = memcmp(own->shown, peer, TACIT_KEY_BYTES) < 0; /* public keys */
    tacit_digest digest;
    tacit_digest_begin(&digest, purpose, point);
    tacit_digest_bytes(&digest, context, TACIT_DIGEST_BYTES);
    tacit_digest_bytes(&digest, own_first ? own->shown : peer, TACIT_KEY_BYTES);
    tacit_digest_bytes(&digest, own_first ? peer : own->shown, TACIT_KEY_BYTES);
    tacit_digest_end(&digest, seed);
    sodium_memzero(point, sizeof point);
    return TACIT_OK;
}

enum { ROUTE_BYTES = TACIT_DIGEST_BYTES + 8 };

static void route_bytes(uint8_t out[ROUTE_BYTES], const tacit_seal_route *route) {
    memcpy(out, route->context, TACIT_DIGEST_BYTES);
    for (size_t i = 0; i < 4; i++) {
        out[TACIT_DIGEST_BYTES + i] = (uint8_t)(route->from >> (8 * i));
        out[TACIT_DIGEST_BYTES + 4 + i] = (uint8_t)(route->to >> (8 * i));
    }
}

static void direction_key(uint8_t key[TACIT_KEY_BYTES], const uint8_t seed[TACIT_KEY_BYTES],
                          const uint8_t route[ROUTE_BYTES]) {
    tacit_digest digest;
    tacit_digest_begin(&digest, "tacit seal direction", seed);
    tacit_digest_bytes(&digest, route, ROUTE_BYTES);
    tacit_digest_end(&digest, key);
}

static const uint8_t only_nonce[crypto_aead_xchacha20poly1305_ietf_NPUBBYTES] = { 0 };

void tacit_seal(uint8_t *out, const uint8_t *text, size_t length, const uint8_t seed[TACIT_KEY_BYTES],
                const tacit_seal_route *route) {
    uint8_t key[TACIT_KEY_BYTES], associated[ROUTE_BYTES];
    route_bytes(associated, route);
    direction_key(key, seed, associated);
    crypto_aead_xchacha20poly1305_ietf_encrypt(out, NULL, text, length, associated, sizeof associated, NULL,
                                               only_nonce, key);
    sodium_memzero(key, sizeof key);
}

tacit_status tacit_seal_open(uint8_t *text, size_t length, const uint8_t *sealed,
                             const uint8_t seed[TACIT_KEY_BYTES], const tacit_seal_route *route,
                             tacit_error *error) {
    uint8_t key[TACIT_KEY_BYTES], associated[ROUTE_BYTES];
    route_bytes(associated, route);
    direction_key(key, seed, associated);
    int failed = crypto_aead_xchacha20poly1305_ietf_decrypt(
        text, NULL, NULL, sealed, length + TACIT_SEAL_BYTES, associated, sizeof associated, only_nonce, key);
    sodium_memzero(key, sizeof key);
    if (failed != 0)
        return tacit_fail(error, TACIT_PROTOCOL, "what party %u sealed for party %u does not open",
                          (unsigned)route->from, (unsigned)route->to);
    return TACIT_OK;
}
