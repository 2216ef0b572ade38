/* The parties' side of sums under Paillier encryption. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/paillier_sum_parts.h"

const char *tacit_paillier_sum_step_name(tacit_paillier_sum_step step) {
    switch (step) {
    case TACIT_PAILLIER_SUM_KEY: return "key";
    case TACIT_PAILLIER_SUM_ENCRYPT: return "encrypt";
    case TACIT_PAILLIER_SUM_DECRYPT: return "decrypt";
    case TACIT_PAILLIER_SUM_OPENED: return "opened";
    }
    return "unknown";
}

/* ---- what is signed ---- */

static void key_digest(uint8_t out[TACIT_DIGEST_BYTES], const tacit_paillier_sum_terms *terms,
                       const uint8_t *key, size_t length) {
    tacit_digest digest;
    tacit_digest_begin(&digest, "tacit paillier sum key", NULL);
    tacit_digest_text(&digest, terms->study);
    tacit_digest_bytes(&digest, terms->roster, sizeof terms->roster);
    tacit_digest_u64(&digest, terms->holder);
    tacit_digest_u64(&digest, length);
    tacit_digest_bytes(&digest, key, length);
    tacit_digest_end(&digest, out);
}

void tacit_paillier_sum_ciphertext_digest(uint8_t out[TACIT_DIGEST_BYTES], const uint8_t *bytes,
                                          size_t length) {
    tacit_digest digest;
    tacit_digest_begin(&digest, "tacit paillier sum ciphertexts", NULL);
    tacit_digest_bytes(&digest, bytes, length);
    tacit_digest_end(&digest, out);
}

void tacit_paillier_sum_signed(uint8_t out[TACIT_DIGEST_BYTES], const tacit_paillier_sum_terms *terms,
                               const tacit_paillier_public *key, uint32_t party,
                               const uint8_t ciphertexts[TACIT_DIGEST_BYTES]) {
    tacit_digest digest;
    tacit_digest_begin(&digest, "tacit paillier sum contribution", NULL);
    tacit_digest_text(&digest, terms->study);
    tacit_digest_u64(&digest, terms->round);
    tacit_digest_bytes(&digest, terms->id, sizeof terms->id);
    tacit_digest_u64(&digest, terms->length);
    tacit_digest_u64(&digest, terms->parties);
    tacit_digest_u64(&digest, terms->minimum);
    tacit_digest_u64(&digest, terms->holder);
    tacit_digest_bytes(&digest, terms->roster, sizeof terms->roster);
    tacit_digest_bytes(&digest, tacit_paillier_fingerprint(key), TACIT_PAILLIER_FINGERPRINT_BYTES);
    tacit_digest_u64(&digest, party);
    tacit_digest_bytes(&digest, ciphertexts, TACIT_DIGEST_BYTES);
    tacit_digest_end(&digest, out);
}

tacit_status tacit_paillier_sum_slots(tacit_slots *out, const tacit_paillier_sum_terms *terms,
                                      const tacit_paillier_public *key, tacit_error *error) {
    return tacit_slots_plan(out, key, 0x1p61, 0, 0, terms->parties, error);
}

/* ---- the key ---- */

tacit_status tacit_paillier_sum_write_key(tacit_buffer *out, const tacit_paillier_sum_terms *terms,
                                          const tacit_paillier_public *key,
                                          const tacit_securesum_signer *signer, tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    uint8_t digest[TACIT_DIGEST_BYTES], signature[TACIT_SIGNATURE_BYTES];
    tacit_status status;
    TACIT_CHECK(tacit_paillier_public_write(key, &bytes, error));
    key_digest(digest, terms, bytes.bytes, bytes.length);
    TACIT_CHECK(signer->sign(signer->self, signature, digest, sizeof digest, error));
    TACIT_CHECK(tacit_buffer_append(out, signature, sizeof signature, error));
    TACIT_CHECK(tacit_buffer_append(out, bytes.bytes, bytes.length, error));
cleanup:
    tacit_buffer_clear(&bytes);
    return status;
}

tacit_status tacit_paillier_sum_read_key(tacit_paillier_public **out, const tacit_paillier_sum_terms *terms,
                                         const tacit_securesum_roster *roster, const uint8_t *bytes,
                                         size_t length, tacit_error *error) {
    uint8_t digest[TACIT_DIGEST_BYTES];
    tacit_error inner = TACIT_ERROR_INIT;
    tacit_paillier_public *key = NULL;
    const size_t size = terms->key_bits / 8;
    /* Its bytes are few more than its number: what is longer is not even hashed. */
    if (length < TACIT_SIGNATURE_BYTES + size || length > TACIT_SIGNATURE_BYTES + size + 64)
        return tacit_fail(error, TACIT_PROTOCOL, "%zu bytes are no signed key of %u bits", length,
                          terms->key_bits);
    key_digest(digest, terms, bytes + TACIT_SIGNATURE_BYTES, length - TACIT_SIGNATURE_BYTES);
    if (!roster->verify(roster->self, terms->holder, bytes, digest, sizeof digest))
        return tacit_fail(
            error, TACIT_PROTOCOL,
            "the key for this study's sums is not signed by its key holder, party %lu of the roster",
            (unsigned long)terms->holder + 1);
    tacit_status status = tacit_paillier_public_read(&key, bytes + TACIT_SIGNATURE_BYTES,
                                                     length - TACIT_SIGNATURE_BYTES, &inner);
    if (status == TACIT_NO_MEMORY) return tacit_fail_memory(error);
    if (status != TACIT_OK) return tacit_fail(error, TACIT_PROTOCOL, "%s", inner.text);
    if (tacit_paillier_bits(key) != terms->key_bits) {
        status = tacit_fail(error, TACIT_PROTOCOL, "the key for this study's sums has %u bits, not %u",
                            tacit_paillier_bits(key), terms->key_bits);
        tacit_paillier_public_free(key);
        return status;
    }
    *out = key;
    return TACIT_OK;
}

/* ---- a party ---- */

/* x + r modulo 2^62, packed and encrypted, as bytes. */
static tacit_status encrypt_masked(tacit_buffer *out, const tacit_paillier_sum_terms *terms,
                                   const tacit_paillier_public *key, const int64_t *values,
                                   const tacit_mask *mask, tacit_entropy *entropy, tacit_pool *pool,
                                   tacit_error *error) {
    uint64_t *hidden = TACIT_NEW(uint64_t, terms->length);
    int64_t *numbers = TACIT_NEW(int64_t, terms->length);
    tacit_plaintexts *plain = NULL;
    tacit_ciphertexts *cipher = NULL;
    tacit_slots layout;
    tacit_status status = hidden != NULL && numbers != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    TACIT_CHECK(tacit_paillier_sum_slots(&layout, terms, key, error));
    memcpy(hidden, values, terms->length * sizeof *hidden);
    TACIT_CHECK(tacit_mask_apply(hidden, terms->length, mask, 1, pool, error));
    for (size_t j = 0; j < terms->length; j++) numbers[j] = tacit_modulo_2_62(hidden[j]);
    const size_t count = tacit_slots_plaintexts(&layout, terms->length);
    TACIT_CHECK(tacit_plaintexts_create(&plain, key, count, error));
    TACIT_CHECK(tacit_ciphertexts_create(&cipher, key, count, error));
    TACIT_CHECK(tacit_slots_pack(plain, &layout, numbers, terms->length, error));
    TACIT_CHECK(tacit_paillier_encrypt(cipher, plain, TACIT_PAILLIER_SHORT, entropy, pool, error));
    TACIT_CHECK(tacit_ciphertexts_write(cipher, out, error));
cleanup:
    if (hidden != NULL) sodium_memzero(hidden, terms->length * sizeof *hidden);
    if (numbers != NULL) sodium_memzero(numbers, terms->length * sizeof *numbers);
    free(hidden);
    free(numbers);
    tacit_plaintexts_free(plain);
    tacit_ciphertexts_free(cipher);
    return status;
}

tacit_status tacit_paillier_sum_encrypt(tacit_buffer *out, const tacit_paillier_sum_terms *terms,
                                        const tacit_paillier_public *key, uint32_t index,
                                        const int64_t *values, const tacit_securesum_signer *signer,
                                        tacit_entropy *entropy, tacit_pool *pool, tacit_error *error) {
    tacit_mask mask = { .subtract = false };
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    uint8_t ciphertexts[TACIT_DIGEST_BYTES], digest[TACIT_DIGEST_BYTES], signature[TACIT_SIGNATURE_BYTES];
    tacit_status status;
    TACIT_CHECK(tacit_entropy_bytes(mask.seed, sizeof mask.seed, entropy, error));
    TACIT_CHECK(encrypt_masked(&bytes, terms, key, values, &mask, entropy, pool, error));
    tacit_paillier_sum_ciphertext_digest(ciphertexts, bytes.bytes, bytes.length);
    tacit_paillier_sum_signed(digest, terms, key, index, ciphertexts);
    TACIT_CHECK(signer->sign(signer->self, signature, digest, sizeof digest, error));
    TACIT_CHECK(tacit_buffer_append(out, signature, sizeof signature, error));
    TACIT_CHECK(tacit_buffer_append(out, mask.seed, sizeof mask.seed, error));
    TACIT_CHECK(tacit_buffer_append(out, bytes.bytes, bytes.length, error));
cleanup:
    sodium_memzero(&mask, sizeof mask);
    tacit_buffer_clear(&bytes);
    return status;
}

/* ---- the key holder ---- */

/* At least the minimum of contributors, each named once and proved by its signature. */
static tacit_status check_witnesses(tacit_cursor *cursor, const tacit_paillier_sum_terms *terms,
                                    const tacit_paillier_public *key, const tacit_securesum_roster *roster,
                                    tacit_error *error) {
    uint32_t count = 0, party, next = 0;
    uint8_t ciphertexts[TACIT_DIGEST_BYTES], signature[TACIT_SIGNATURE_BYTES], digest[TACIT_DIGEST_BYTES];
    if (!tacit_cursor_read_u32(cursor, &count) || count > terms->parties ||
        cursor->left / TACIT_PAILLIER_WITNESS_BYTES < count)
        return tacit_fail(error, TACIT_PROTOCOL, "the question to the key holder is malformed");
    if (count < terms->minimum)
        return tacit_fail(
            error, TACIT_REFUSED,
            "the coordinator asks to decrypt a sum of %lu parties, and at least %lu must be in it",
            (unsigned long)count, (unsigned long)terms->minimum);
    for (uint32_t i = 0; i < count; i++) {
        tacit_cursor_read_u32(cursor, &party);
        tacit_cursor_read(cursor, ciphertexts, sizeof ciphertexts);
        tacit_cursor_read(cursor, signature, sizeof signature);
        if (party < next || party >= terms->parties)
            return tacit_fail(error, TACIT_PROTOCOL, "the contributors to a sum are not named once each");
        next = party + 1;
        tacit_paillier_sum_signed(digest, terms, key, party, ciphertexts);
        if (!roster->verify(roster->self, party, signature, digest, sizeof digest))
            return tacit_fail(error, TACIT_PROTOCOL,
                              "party %lu has not signed that it contributed to this sum",
                              (unsigned long)party + 1);
    }
    return TACIT_OK;
}

size_t tacit_paillier_sum_decrypted_bytes(const tacit_paillier_sum_terms *terms) { return 8 * terms->length; }

tacit_status tacit_paillier_sum_decrypt(tacit_buffer *out, const tacit_paillier_sum_terms *terms,
                                        const tacit_paillier_secret *secret,
                                        const tacit_securesum_roster *roster, const uint8_t *question,
                                        size_t question_length, tacit_pool *pool, tacit_error *error) {
    const tacit_paillier_public *key = tacit_paillier_public_of(secret);
    tacit_cursor cursor = tacit_cursor_over(question, question_length);
    tacit_ciphertexts *product = NULL;
    tacit_plaintexts *plain = NULL;
    tacit_wide *sums = NULL;
    tacit_slots layout;
    tacit_status status;
    TACIT_CHECK(check_witnesses(&cursor, terms, key, roster, error));
    TACIT_CHECK(tacit_paillier_sum_slots(&layout, terms, key, error));
    const size_t count = tacit_slots_plaintexts(&layout, terms->length);
    TACIT_CHECK(tacit_ciphertexts_read(&product, key, cursor.bytes, cursor.left, count, error));
    if (tacit_ciphertexts_count(product) != count)
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "%zu ciphertexts were sent where a sum has %zu",
                               tacit_ciphertexts_count(product), count));
    TACIT_CHECK(tacit_plaintexts_create(&plain, key, count, error));
    TACIT_CHECK(tacit_paillier_decrypt(plain, secret, product, pool, error));
    sums = TACIT_NEW(tacit_wide, terms->length);
    if (sums == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(tacit_slots_unpack(sums, &layout, terms->length, plain, error));
    for (size_t j = 0; j < terms->length; j++)
        TACIT_CHECK(tacit_buffer_append_u64(out, (uint64_t)tacit_modulo_2_62(sums[j].low), error));
cleanup:
    if (status == TACIT_INPUT || status == TACIT_LIMIT) status = TACIT_PROTOCOL; /* the asker's doing */
    free(sums);
    tacit_plaintexts_free(plain);
    tacit_ciphertexts_free(product);
    return status;
}
