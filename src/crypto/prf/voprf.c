#include "crypto/prf/voprf.h"

#include <sodium.h>
#include <string.h>

enum { ELEMENT = TACIT_VOPRF_ELEMENT_BYTES, SCALAR = 32, HASH = crypto_hash_sha512_BYTES, BLOCK = 128 };

/* CreateContextString(modeVOPRF, ristretto255-SHA512). */
#define CONTEXT "OPRFV1-\x01-ristretto255-SHA512"

typedef crypto_hash_sha512_state transcript;

static void add(transcript *t, const void *bytes, size_t length) {
    crypto_hash_sha512_update(t, bytes, length);
}

static void add_u16(transcript *t, size_t value) {
    const uint8_t bytes[2] = { (uint8_t)(value >> 8), (uint8_t)value };
    add(t, bytes, sizeof bytes);
}

/* With its length before it. */
static void add_part(transcript *t, const void *bytes, size_t length) {
    add_u16(t, length);
    add(t, bytes, length);
}

/* expand_message_xmd (RFC 9380, section 5.3.1) for 64 bytes, which are one block of SHA-512: begin, add the
 * message, end under a tag for the use. */
static void begin_message(transcript *t) {
    static const uint8_t padding[BLOCK] = { 0 };
    crypto_hash_sha512_init(t);
    add(t, padding, sizeof padding);
}

static void end_message(transcript *t, uint8_t out[HASH], const char *use) {
    uint8_t first[HASH];
    const uint8_t one = 1, zero = 0, length = (uint8_t)(strlen(use) + sizeof CONTEXT - 1);
    add_u16(t, HASH);
    for (int round = 0; round < 2; round++) {
        add(t, round == 0 ? &zero : &one, 1);
        add(t, use, strlen(use));
        add(t, CONTEXT, sizeof CONTEXT - 1);
        add(t, &length, 1);
        crypto_hash_sha512_final(t, round == 0 ? first : out);
        crypto_hash_sha512_init(t);
        add(t, first, sizeof first);
    }
    sodium_memzero(t, sizeof *t); /* a secret key follows from it, where one is derived */
    sodium_memzero(first, sizeof first);
}

static void end_scalar(transcript *t, uint8_t out[SCALAR], const char *use) {
    uint8_t wide[HASH];
    end_message(t, wide, use);
    crypto_core_ristretto255_scalar_reduce(out, wide);
    sodium_memzero(wide, sizeof wide);
}

static tacit_status hash_to_group(tacit_voprf_element *out, const void *input, size_t length,
                                  tacit_error *error) {
    transcript t;
    uint8_t wide[HASH];
    if (length > TACIT_VOPRF_INPUT_MOST)
        return tacit_fail(error, TACIT_LIMIT, "an input may have at most %d bytes", TACIT_VOPRF_INPUT_MOST);
    begin_message(&t);
    add(&t, input, length);
    end_message(&t, wide, "HashToGroup-");
    crypto_core_ristretto255_from_hash(out->bytes, wide);
    return TACIT_OK;
}

tacit_status tacit_voprf_derive(uint8_t secret[TACIT_VOPRF_KEY_BYTES], tacit_voprf_element *public_key,
                                const uint8_t seed[32], const char *info, tacit_error *error) {
    for (unsigned count = 0; count < 256; count++) {
        const uint8_t counter = (uint8_t)count;
        transcript t;
        begin_message(&t);
        add(&t, seed, 32);
        add_part(&t, info, strlen(info));
        add(&t, &counter, 1);
        end_scalar(&t, secret, "DeriveKeyPair");
        if (!sodium_is_zero(secret, SCALAR) &&
            crypto_scalarmult_ristretto255_base(public_key->bytes, secret) == 0)
            return TACIT_OK;
    }
    return tacit_fail(error, TACIT_INTERNAL, "no key can be made of this seed");
}

bool tacit_voprf_is_valid(const tacit_voprf_element *element) {
    return crypto_core_ristretto255_is_valid_point(element->bytes) == 1 &&
           !sodium_is_zero(element->bytes, ELEMENT);
}

tacit_status tacit_voprf_blind(uint8_t blind[32], tacit_voprf_element *blinded, const void *input,
                               size_t length, const uint8_t *fixed, tacit_error *error) {
    tacit_voprf_element point;
    TACIT_TRY(hash_to_group(&point, input, length, error));
    if (fixed != NULL)
        memcpy(blind, fixed, SCALAR);
    else
        crypto_core_ristretto255_scalar_random(blind);
    if (crypto_scalarmult_ristretto255(blinded->bytes, blind, point.bytes) != 0)
        return tacit_fail(error, TACIT_INTERNAL, "this input cannot be blinded");
    return TACIT_OK;
}

/* ---- the proof (section 2.2) ---- */

/* The weights of ComputeComposites: they bind every pair to the key. */
static void begin_composites(uint8_t seed[HASH], const tacit_voprf_element *public_key) {
    static const char tag[] = "Seed-" CONTEXT;
    transcript t;
    crypto_hash_sha512_init(&t);
    add_part(&t, public_key->bytes, ELEMENT);
    add_part(&t, tag, sizeof tag - 1);
    crypto_hash_sha512_final(&t, seed);
}

static void composite_weight(uint8_t out[SCALAR], const uint8_t seed[HASH], size_t i,
                             const tacit_voprf_element *blinded, const tacit_voprf_element *evaluated) {
    transcript t;
    begin_message(&t);
    add_part(&t, seed, HASH);
    add_u16(&t, i);
    add_part(&t, blinded->bytes, ELEMENT);
    add_part(&t, evaluated->bytes, ELEMENT);
    add(&t, "Composite", 9);
    end_scalar(&t, out, "HashToScalar-");
}

static bool add_product(tacit_voprf_element *sum, bool first, const uint8_t weight[SCALAR],
                        const tacit_voprf_element *element) {
    tacit_voprf_element product;
    if (crypto_scalarmult_ristretto255(product.bytes, weight, element->bytes) != 0) return false;
    if (first) *sum = product;
    return first || crypto_core_ristretto255_add(sum->bytes, sum->bytes, product.bytes) == 0;
}

/* M, the blinded elements together, and Z, the evaluated ones. */
static bool composites(tacit_voprf_element *m, tacit_voprf_element *z, const tacit_voprf_element *public_key,
                       const tacit_voprf_element *blinded, const tacit_voprf_element *evaluated,
                       size_t count) {
    uint8_t seed[HASH], weight[SCALAR];
    begin_composites(seed, public_key);
    for (size_t i = 0; i < count; i++) {
        composite_weight(weight, seed, i, &blinded[i], &evaluated[i]);
        if (!add_product(m, i == 0, weight, &blinded[i]) || !add_product(z, i == 0, weight, &evaluated[i]))
            return false;
    }
    return true;
}

static void make_challenge(uint8_t out[SCALAR], const uint8_t *const elements[5]) {
    transcript t;
    begin_message(&t);
    for (int i = 0; i < 5; i++) add_part(&t, elements[i], ELEMENT);
    add(&t, "Challenge", 9);
    end_scalar(&t, out, "HashToScalar-");
}

static bool prove(uint8_t proof[TACIT_VOPRF_PROOF_BYTES], const uint8_t secret[SCALAR],
                  const tacit_voprf_element *blinded, const tacit_voprf_element *evaluated, size_t count,
                  const uint8_t *fixed) {
    tacit_voprf_element key, m, z, t2, t3;
    uint8_t nonce[SCALAR], product[SCALAR];
    if (fixed != NULL)
        memcpy(nonce, fixed, SCALAR);
    else
        crypto_core_ristretto255_scalar_random(nonce);
    bool well = crypto_scalarmult_ristretto255_base(key.bytes, secret) == 0 &&
                composites(&m, &z, &key, blinded, evaluated, count) &&
                crypto_scalarmult_ristretto255_base(t2.bytes, nonce) == 0 &&
                crypto_scalarmult_ristretto255(t3.bytes, nonce, m.bytes) == 0;
    if (well) {
        make_challenge(proof, (const uint8_t *const[]){ key.bytes, m.bytes, z.bytes, t2.bytes, t3.bytes });
        crypto_core_ristretto255_scalar_mul(product, proof, secret);
        crypto_core_ristretto255_scalar_sub(proof + SCALAR, nonce, product);
    }
    sodium_memzero(nonce, sizeof nonce);
    sodium_memzero(product, sizeof product);
    return well;
}

static tacit_status check_batch(const tacit_voprf_element *elements, size_t count, tacit_error *error) {
    bool well = count > 0 && count <= TACIT_VOPRF_BATCH_MOST;
    for (size_t i = 0; well && i < count; i++) well = tacit_voprf_is_valid(&elements[i]);
    return well ? TACIT_OK
                : tacit_fail(error, TACIT_PROTOCOL, "what came is not an element of the group ristretto255");
}

tacit_status tacit_voprf_evaluate(tacit_voprf_element *evaluated, uint8_t proof[TACIT_VOPRF_PROOF_BYTES],
                                  const uint8_t secret[TACIT_VOPRF_KEY_BYTES],
                                  const tacit_voprf_element *blinded, size_t count, const uint8_t *fixed,
                                  tacit_error *error) {
    TACIT_TRY(check_batch(blinded, count, error));
    bool well = true;
    for (size_t i = 0; well && i < count; i++)
        well = crypto_scalarmult_ristretto255(evaluated[i].bytes, secret, blinded[i].bytes) == 0;
    return well && prove(proof, secret, blinded, evaluated, count, fixed)
               ? TACIT_OK
               : tacit_fail(error, TACIT_INTERNAL, "the key cannot be used");
}

/* s A + c B; A NULL: the base point. */
static bool combine(tacit_voprf_element *out, const uint8_t s[SCALAR], const uint8_t *a,
                    const uint8_t c[SCALAR], const tacit_voprf_element *b) {
    tacit_voprf_element left, right;
    int first = a != NULL ? crypto_scalarmult_ristretto255(left.bytes, s, a)
                          : crypto_scalarmult_ristretto255_base(left.bytes, s);
    return first == 0 && crypto_scalarmult_ristretto255(right.bytes, c, b->bytes) == 0 &&
           crypto_core_ristretto255_add(out->bytes, left.bytes, right.bytes) == 0;
}

static bool is_reduced(const uint8_t scalar[SCALAR]) {
    uint8_t wide[64] = { 0 }, again[SCALAR];
    memcpy(wide, scalar, SCALAR);
    crypto_core_ristretto255_scalar_reduce(again, wide);
    return memcmp(again, scalar, SCALAR) == 0;
}

tacit_status tacit_voprf_check(const tacit_voprf_element *public_key, const tacit_voprf_element *blinded,
                               const tacit_voprf_element *evaluated, size_t count,
                               const uint8_t proof[TACIT_VOPRF_PROOF_BYTES], tacit_error *error) {
    const uint8_t *c = proof, *s = proof + SCALAR;
    tacit_voprf_element m, z, t2, t3;
    uint8_t again[SCALAR];
    TACIT_TRY(check_batch(blinded, count, error));
    TACIT_TRY(check_batch(evaluated, count, error));
    bool well = tacit_voprf_is_valid(public_key) && is_reduced(c) && is_reduced(s) &&
                composites(&m, &z, public_key, blinded, evaluated, count) &&
                combine(&t2, s, NULL, c, public_key) && combine(&t3, s, m.bytes, c, &z);
    if (well) {
        make_challenge(again,
                       (const uint8_t *const[]){ public_key->bytes, m.bytes, z.bytes, t2.bytes, t3.bytes });
        well = sodium_memcmp(again, c, SCALAR) == 0;
    }
    return well ? TACIT_OK
                : tacit_fail(error, TACIT_REFUSED, "this was not made with the key that everybody knows");
}

/* ---- the value ---- */

static void hash_value(uint8_t value[TACIT_VOPRF_BYTES], const void *input, size_t length,
                       const tacit_voprf_element *element) {
    transcript t;
    crypto_hash_sha512_init(&t);
    add_part(&t, input, length);
    add_part(&t, element->bytes, ELEMENT);
    add(&t, "Finalize", 8);
    crypto_hash_sha512_final(&t, value);
}

tacit_status tacit_voprf_finish(uint8_t value[TACIT_VOPRF_BYTES], const void *input, size_t length,
                                const uint8_t blind[32], const tacit_voprf_element *evaluated,
                                tacit_error *error) {
    uint8_t inverse[SCALAR];
    tacit_voprf_element element;
    bool well = length <= TACIT_VOPRF_INPUT_MOST && tacit_voprf_is_valid(evaluated) &&
                crypto_core_ristretto255_scalar_invert(inverse, blind) == 0 &&
                crypto_scalarmult_ristretto255(element.bytes, inverse, evaluated->bytes) == 0;
    if (well) hash_value(value, input, length, &element);
    sodium_memzero(inverse, sizeof inverse);
    return well ? TACIT_OK : tacit_fail(error, TACIT_PROTOCOL, "what came back cannot be unblinded");
}

tacit_status tacit_voprf_value(uint8_t value[TACIT_VOPRF_BYTES], const uint8_t secret[TACIT_VOPRF_KEY_BYTES],
                               const void *input, size_t length, tacit_error *error) {
    tacit_voprf_element point, element;
    TACIT_TRY(hash_to_group(&point, input, length, error));
    if (crypto_scalarmult_ristretto255(element.bytes, secret, point.bytes) != 0)
        return tacit_fail(error, TACIT_INTERNAL, "the key cannot be used");
    hash_value(value, input, length, &element);
    return TACIT_OK;
}
