#include "crypto/prf/vrf.h"

#include <sodium.h>
#include <string.h>

enum { POINT = 32, SCALAR = 32, CHALLENGE = 16, HASH = crypto_hash_sha512_BYTES };

/* Suite and separators of RFC 9381, section 5.5. */
static const uint8_t suite = 3, encodes = 1, challenges = 2, hashes = 3, ends = 0;

/* The secret scalar, reduced, and what nonces are made of. */
typedef struct expanded {
    uint8_t scalar[SCALAR], nonce[32], key[POINT];
} expanded;

static void reduce(uint8_t out[SCALAR], const uint8_t *bytes, size_t length) {
    uint8_t wide[64] = { 0 };
    memcpy(wide, bytes, length);
    crypto_core_ed25519_scalar_reduce(out, wide);
    sodium_memzero(wide, sizeof wide);
}

static void expand(expanded *out, const uint8_t seed[TACIT_VRF_SEED_BYTES]) {
    uint8_t hash[HASH], secret[crypto_sign_SECRETKEYBYTES];
    crypto_hash_sha512(hash, seed, TACIT_VRF_SEED_BYTES);
    hash[0] &= 248;
    hash[31] &= 127;
    hash[31] |= 64;
    reduce(out->scalar, hash, SCALAR);
    memcpy(out->nonce, hash + 32, sizeof out->nonce);
    crypto_sign_seed_keypair(out->key, secret, seed);
    sodium_memzero(hash, sizeof hash);
    sodium_memzero(secret, sizeof secret);
}

void tacit_vrf_public(uint8_t key[TACIT_VRF_KEY_BYTES], const uint8_t seed[TACIT_VRF_SEED_BYTES]) {
    uint8_t secret[crypto_sign_SECRETKEYBYTES];
    crypto_sign_seed_keypair(key, secret, seed);
    sodium_memzero(secret, sizeof secret);
}

bool tacit_vrf_key_is_valid(const uint8_t key[TACIT_VRF_KEY_BYTES]) {
    return crypto_core_ed25519_is_valid_point(key) == 1;
}

/* The y coordinate below 2^255 - 19: libsodium reads larger ones too, RFC 8032 does not. */
static bool is_canonical(const uint8_t point[POINT]) {
    if (point[0] < 237 || (point[31] & 127) != 127) return true;
    for (int i = 1; i < 31; i++)
        if (point[i] != 255) return true;
    return false;
}

static bool times_cofactor(uint8_t out[POINT], const uint8_t point[POINT]) {
    uint8_t doubled[POINT];
    return crypto_core_ed25519_add(doubled, point, point) == 0 &&
           crypto_core_ed25519_add(doubled, doubled, doubled) == 0 &&
           crypto_core_ed25519_add(out, doubled, doubled) == 0;
}

/* Try-and-increment (section 5.4.1.1): about every second try is a point. */
static bool encode_to_curve(uint8_t out[POINT], const uint8_t key[POINT], const void *input, size_t length) {
    for (unsigned count = 0; count < 256; count++) {
        const uint8_t counter = (uint8_t)count;
        uint8_t hash[HASH];
        crypto_hash_sha512_state state;
        crypto_hash_sha512_init(&state);
        crypto_hash_sha512_update(&state, &suite, 1);
        crypto_hash_sha512_update(&state, &encodes, 1);
        crypto_hash_sha512_update(&state, key, POINT);
        crypto_hash_sha512_update(&state, input, length);
        crypto_hash_sha512_update(&state, &counter, 1);
        crypto_hash_sha512_update(&state, &ends, 1);
        crypto_hash_sha512_final(&state, hash);
        /* Validity of the product excludes the identity, which eight times a point of small order is. */
        if (is_canonical(hash) && times_cofactor(out, hash) && crypto_core_ed25519_is_valid_point(out) == 1)
            return true;
    }
    return false; /* with probability 2^-256 */
}

/* Section 5.4.3. */
static void make_challenge(uint8_t out[CHALLENGE], const uint8_t *const points[5]) {
    uint8_t hash[HASH];
    crypto_hash_sha512_state state;
    crypto_hash_sha512_init(&state);
    crypto_hash_sha512_update(&state, &suite, 1);
    crypto_hash_sha512_update(&state, &challenges, 1);
    for (int i = 0; i < 5; i++) crypto_hash_sha512_update(&state, points[i], POINT);
    crypto_hash_sha512_update(&state, &ends, 1);
    crypto_hash_sha512_final(&state, hash);
    memcpy(out, hash, CHALLENGE);
}

/* Section 5.4.2.2. */
static void make_nonce(uint8_t out[SCALAR], const expanded *secret, const uint8_t point[POINT]) {
    uint8_t hash[HASH];
    crypto_hash_sha512_state state;
    crypto_hash_sha512_init(&state);
    crypto_hash_sha512_update(&state, secret->nonce, sizeof secret->nonce);
    crypto_hash_sha512_update(&state, point, POINT);
    crypto_hash_sha512_final(&state, hash);
    reduce(out, hash, HASH);
    sodium_memzero(hash, sizeof hash);
}

tacit_status tacit_vrf_prove(uint8_t proof[TACIT_VRF_PROOF_BYTES], const uint8_t seed[TACIT_VRF_SEED_BYTES],
                             const void *input, size_t length, tacit_error *error) {
    expanded secret;
    uint8_t base[POINT], gamma[POINT], nonce[SCALAR], u[POINT], v[POINT], challenge[SCALAR] = { 0 },
                                                                          product[SCALAR];
    expand(&secret, seed);
    bool well = encode_to_curve(base, secret.key, input, length) &&
                crypto_scalarmult_ed25519_noclamp(gamma, secret.scalar, base) == 0;
    if (well) make_nonce(nonce, &secret, base);
    well = well && crypto_scalarmult_ed25519_base_noclamp(u, nonce) == 0 &&
           crypto_scalarmult_ed25519_noclamp(v, nonce, base) == 0;
    if (well) {
        make_challenge(challenge, (const uint8_t *const[]){ secret.key, base, gamma, u, v });
        crypto_core_ed25519_scalar_mul(product, challenge, secret.scalar);
        memcpy(proof, gamma, POINT);
        memcpy(proof + POINT, challenge, CHALLENGE);
        crypto_core_ed25519_scalar_add(proof + POINT + CHALLENGE, nonce, product);
    }
    sodium_memzero(&secret, sizeof secret);
    sodium_memzero(nonce, sizeof nonce);
    sodium_memzero(product, sizeof product);
    return well ? TACIT_OK : tacit_fail(error, TACIT_INTERNAL, "no proof can be made with this key");
}

static bool is_reduced(const uint8_t scalar[SCALAR]) {
    uint8_t again[SCALAR];
    reduce(again, scalar, SCALAR);
    return sodium_memcmp(again, scalar, SCALAR) == 0;
}

/* s A - c B. */
static bool combine(uint8_t out[POINT], const uint8_t s[SCALAR], const uint8_t *a, const uint8_t c[SCALAR],
                    const uint8_t b[POINT]) {
    uint8_t left[POINT], right[POINT];
    int first = a != NULL ? crypto_scalarmult_ed25519_noclamp(left, s, a)
                          : crypto_scalarmult_ed25519_base_noclamp(left, s);
    return first == 0 && crypto_scalarmult_ed25519_noclamp(right, c, b) == 0 &&
           crypto_core_ed25519_sub(out, left, right) == 0;
}

/* Section 5.2. */
static bool hash_gamma(uint8_t value[TACIT_VRF_BYTES], const uint8_t gamma[POINT]) {
    uint8_t point[POINT];
    crypto_hash_sha512_state state;
    if (!times_cofactor(point, gamma)) return false;
    crypto_hash_sha512_init(&state);
    crypto_hash_sha512_update(&state, &suite, 1);
    crypto_hash_sha512_update(&state, &hashes, 1);
    crypto_hash_sha512_update(&state, point, POINT);
    crypto_hash_sha512_update(&state, &ends, 1);
    crypto_hash_sha512_final(&state, value);
    return true;
}

tacit_status tacit_vrf_verify(uint8_t value[TACIT_VRF_BYTES], const uint8_t key[TACIT_VRF_KEY_BYTES],
                              const void *input, size_t length, const uint8_t proof[TACIT_VRF_PROOF_BYTES],
                              tacit_error *error) {
    const uint8_t *gamma = proof, *s = proof + POINT + CHALLENGE;
    uint8_t base[POINT], u[POINT], v[POINT], c[SCALAR] = { 0 }, again[CHALLENGE];
    memcpy(c, proof + POINT, CHALLENGE);
    bool well = tacit_vrf_key_is_valid(key) && crypto_core_ed25519_is_valid_point(gamma) == 1 &&
                is_reduced(s) && encode_to_curve(base, key, input, length) && combine(u, s, NULL, c, key) &&
                combine(v, s, base, c, gamma);
    if (well) {
        make_challenge(again, (const uint8_t *const[]){ key, base, gamma, u, v });
        well = sodium_memcmp(again, c, CHALLENGE) == 0 && hash_gamma(value, gamma);
    }
    return well ? TACIT_OK
                : tacit_fail(error, TACIT_REFUSED, "the proof does not belong to this key and input");
}
