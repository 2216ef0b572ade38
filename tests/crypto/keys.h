/* Keys and random numbers for the tests of Paillier. Short keys are quick; nothing depends on the size but
 * the time. */
#pragma once

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/paillier/paillier_parts.h"
#include "paillier_vectors.h"
#include "rand/stream.h"

enum { SHORT_KEY, FULL_KEY };

/* Hexadecimal digits into limbs. */
static inline void limbs_of_text(mp_limb_t *out, size_t limbs, const char *text) {
    mpn_zero(out, (mp_size_t)limbs);
    size_t digits = strlen(text);
    for (size_t i = 0; i < digits; i++) {
        const char one[2] = { text[digits - 1 - i], 0 };
        assert_true(i / 16 < limbs);
        out[i / 16] |= (mp_limb_t)strtoul(one, NULL, 16) << (4 * (i % 16));
    }
}

/* The key of a stored case: 256 bits or 2048. */
static inline tacit_paillier_secret *stored_key(int which) {
    const paillier_case *stored = &paillier_cases[which];
    size_t limbs = stored->bits / 128;
    mp_limb_t p[TACIT_RESIDUE_LIMBS_MOST], q[TACIT_RESIDUE_LIMBS_MOST];
    tacit_paillier_secret *secret = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    limbs_of_text(p, limbs, stored->p);
    limbs_of_text(q, limbs, stored->q);
    CHECK_OK(tacit_paillier_secret_make(&secret, p, q, stored->bits, &error), error);
    return secret;
}

static inline tacit_entropy *new_entropy(void) {
    tacit_entropy *entropy = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_entropy_create(&entropy, &error), error);
    return entropy;
}

static inline tacit_plaintexts *new_plaintexts(const tacit_paillier_public *key, size_t count) {
    tacit_plaintexts *made = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plaintexts_create(&made, key, count, &error), error);
    return made;
}

static inline tacit_ciphertexts *new_ciphertexts(const tacit_paillier_public *key, size_t count) {
    tacit_ciphertexts *made = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_ciphertexts_create(&made, key, count, &error), error);
    return made;
}

/* A new vector that encrypts these. */
static inline tacit_ciphertexts *encrypted(const tacit_paillier_public *key, const int64_t *values,
                                           size_t count) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_entropy *entropy = new_entropy();
    tacit_plaintexts *plaintexts = new_plaintexts(key, count);
    tacit_ciphertexts *made = new_ciphertexts(key, count);
    for (size_t i = 0; i < count; i++) tacit_plaintexts_set(plaintexts, i, values[i]);
    CHECK_OK(tacit_paillier_encrypt(made, plaintexts, TACIT_PAILLIER_SHORT, entropy, NULL, &error), error);
    tacit_plaintexts_free(plaintexts);
    tacit_entropy_free(entropy);
    return made;
}

static inline void decrypted(int64_t *out, const tacit_paillier_secret *secret,
                             const tacit_ciphertexts *ciphertexts) {
    tacit_error error = TACIT_ERROR_INIT;
    size_t count = tacit_ciphertexts_count(ciphertexts);
    tacit_plaintexts *plaintexts = new_plaintexts(tacit_paillier_public_of(secret), count);
    CHECK_OK(tacit_paillier_decrypt(plaintexts, secret, ciphertexts, NULL, &error), error);
    for (size_t i = 0; i < count; i++) CHECK_OK(tacit_plaintexts_get(&out[i], plaintexts, i, &error), error);
    tacit_plaintexts_free(plaintexts);
}

/* A stream for a property test; a failure can be repeated with TACIT_TEST_SEED=the printed number. */
static inline tacit_stream printed_stream(void) {
    const char *given = getenv("TACIT_TEST_SEED");
    tacit_stream random = tacit_stream_from_entropy();
    uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : tacit_stream_u64(&random);
    print_message("# seed %llu\n", (unsigned long long)seed);
    return tacit_stream_from_seed(seed);
}

/* Of every magnitude up to 2^bits. */
static inline int64_t signed_below(tacit_stream *stream, unsigned bits) {
    uint64_t magnitude = tacit_stream_u64(stream) >> (64 - 1 - tacit_stream_below(stream, bits));
    return tacit_stream_u64(stream) % 2 ? (int64_t)magnitude : -(int64_t)magnitude;
}
