/* The parties' side of sums under Paillier encryption. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/paillier/paillier_sum_parts.h"

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
    tacit_digest_begin(&digest, "tacit paillier sum keys", NULL);
    tacit_digest_text(&digest, terms->study);
    tacit_digest_bytes(&digest, terms->roster, sizeof terms->roster);
    tacit_digest_u64(&digest, terms->holder);
    tacit_digest_u64(&digest, length);
    tacit_digest_bytes(&digest, key, length);
    tacit_digest_end(&digest, out);
}

void tacit_paillier_sum_context(uint8_t out[TACIT_DIGEST_BYTES], const tacit_paillier_sum_terms *terms,
                                const tacit_paillier_public *key) {
    tacit_digest digest;
    tacit_digest_begin(&digest, "tacit paillier sum terms", NULL);
    tacit_digest_text(&digest, terms->study);
    tacit_digest_u64(&digest, terms->round);
    tacit_digest_bytes(&digest, terms->id, sizeof terms->id);
    tacit_digest_u64(&digest, terms->length);
    tacit_digest_u64(&digest, terms->parties);
    tacit_digest_u64(&digest, terms->minimum);
    tacit_digest_u64(&digest, terms->holder);
    tacit_digest_bytes(&digest, terms->roster, sizeof terms->roster);
    tacit_digest_bytes(&digest, tacit_paillier_fingerprint(key), TACIT_PAILLIER_FINGERPRINT_BYTES);
    tacit_digest_end(&digest, out);
}

void tacit_paillier_sum_signed(uint8_t out[TACIT_DIGEST_BYTES], const uint8_t context[TACIT_DIGEST_BYTES],
                               uint32_t party, const uint8_t *box, size_t length) {
    tacit_digest digest;
    tacit_digest_begin(&digest, "tacit paillier sum contribution", NULL);
    tacit_digest_bytes(&digest, context, TACIT_DIGEST_BYTES);
    tacit_digest_u64(&digest, party);
    tacit_digest_u64(&digest, length);
    tacit_digest_bytes(&digest, box, length);
    tacit_digest_end(&digest, out);
}

tacit_status tacit_paillier_sum_lay_out(tacit_paillier_sum_layout *out, const tacit_paillier_sum_terms *terms,
                                        tacit_error *error) {
    TACIT_TRY(tacit_slots_plan_for(&out->slots, terms->key_bits, 0x1p61, 0, 0, terms->parties, error));
    out->ciphertexts = tacit_slots_plaintexts(&out->slots, terms->length);
    out->box_bytes =
        TACIT_KEY_BYTES + tacit_ciphertexts_bytes(terms->key_bits, out->ciphertexts) + TACIT_SEAL_BYTES;
    return TACIT_OK;
}

/* ---- the keys ---- */

void tacit_paillier_sum_key_clear(tacit_paillier_sum_key *key) {
    tacit_paillier_public_free(key->numbers);
    *key = (tacit_paillier_sum_key){ .numbers = NULL };
}

/* The key for boxes follows from the secret key, so that there is one secret to keep. */
tacit_status tacit_paillier_sum_sealing(tacit_key_pair *out, const tacit_paillier_secret *secret,
                                        tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    uint8_t seed[TACIT_KEY_BYTES], *room;
    tacit_digest digest;
    tacit_status status;
    _Static_assert((int)TACIT_KEY_BYTES == (int)TACIT_DIGEST_BYTES, "a digest is a key");
    TACIT_CHECK(tacit_buffer_reserve(&bytes, TACIT_PAILLIER_BITS_MOST / 8 + 256, &room, error));
    TACIT_CHECK(tacit_paillier_secret_write(secret, &bytes, error));
    tacit_digest_begin(&digest, "tacit paillier sum box key", NULL);
    tacit_digest_u64(&digest, bytes.length);
    tacit_digest_bytes(&digest, bytes.bytes, bytes.length);
    tacit_digest_end(&digest, seed);
    tacit_key_pair_from(out, seed);
    sodium_memzero(seed, sizeof seed);
cleanup:
    if (bytes.bytes != NULL) sodium_memzero(bytes.bytes, bytes.capacity);
    tacit_buffer_clear(&bytes);
    return status;
}

tacit_status tacit_paillier_sum_write_key(tacit_buffer *out, const tacit_paillier_sum_terms *terms,
                                          const tacit_paillier_secret *secret,
                                          const tacit_securesum_signer *signer, tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_key_pair sealing;
    uint8_t digest[TACIT_DIGEST_BYTES], signature[TACIT_SIGNATURE_BYTES];
    tacit_status status;
    TACIT_TRY(tacit_paillier_sum_sealing(&sealing, secret, error));
    TACIT_CHECK(tacit_buffer_append(&bytes, sealing.shown, sizeof sealing.shown, error));
    TACIT_CHECK(tacit_paillier_public_write(tacit_paillier_public_of(secret), &bytes, error));
    key_digest(digest, terms, bytes.bytes, bytes.length);
    TACIT_CHECK(signer->sign(signer->self, signature, digest, sizeof digest, error));
    TACIT_CHECK(tacit_buffer_append(out, signature, sizeof signature, error));
    TACIT_CHECK(tacit_buffer_append(out, bytes.bytes, bytes.length, error));
cleanup:
    sodium_memzero(&sealing, sizeof sealing);
    tacit_buffer_clear(&bytes);
    return status;
}

static tacit_status read_numbers_key(tacit_paillier_public **out, const tacit_paillier_sum_terms *terms,
                                     const uint8_t *bytes, size_t length, tacit_error *error) {
    tacit_error inner = TACIT_ERROR_INIT;
    tacit_paillier_public *key = NULL;
    tacit_status status = tacit_paillier_public_read(&key, bytes, length, &inner);
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

tacit_status tacit_paillier_sum_read_key(tacit_paillier_sum_key *out, const tacit_paillier_sum_terms *terms,
                                         const tacit_securesum_roster *roster, const uint8_t *bytes,
                                         size_t length, tacit_error *error) {
    enum { BEFORE = TACIT_SIGNATURE_BYTES + TACIT_KEY_BYTES };
    uint8_t digest[TACIT_DIGEST_BYTES];
    const size_t size = terms->key_bits / 8;
    /* Its bytes are few more than its number: what is longer is not even hashed. */
    if (length < BEFORE + size || length > BEFORE + size + 64)
        return tacit_fail(error, TACIT_PROTOCOL, "%zu bytes are no signed key of %u bits", length,
                          terms->key_bits);
    key_digest(digest, terms, bytes + TACIT_SIGNATURE_BYTES, length - TACIT_SIGNATURE_BYTES);
    if (!roster->verify(roster->self, terms->holder, bytes, digest, sizeof digest))
        return tacit_fail(
            error, TACIT_PROTOCOL,
            "the key for this study's sums is not signed by its key holder, party %lu of the roster",
            (unsigned long)terms->holder + 1);
    TACIT_TRY(read_numbers_key(&out->numbers, terms, bytes + BEFORE, length - BEFORE, error));
    memcpy(out->sealing, bytes + TACIT_SIGNATURE_BYTES, TACIT_KEY_BYTES);
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
    tacit_paillier_sum_layout layout;
    tacit_status status = hidden != NULL && numbers != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    TACIT_CHECK(tacit_paillier_sum_lay_out(&layout, terms, error));
    memcpy(hidden, values, terms->length * sizeof *hidden);
    TACIT_CHECK(tacit_mask_apply(hidden, terms->length, mask, 1, pool, error));
    for (size_t j = 0; j < terms->length; j++) numbers[j] = tacit_modulo_2_62(hidden[j]);
    TACIT_CHECK(tacit_plaintexts_create(&plain, key, layout.ciphertexts, error));
    TACIT_CHECK(tacit_ciphertexts_create(&cipher, key, layout.ciphertexts, error));
    TACIT_CHECK(tacit_slots_pack(plain, &layout.slots, numbers, terms->length, error));
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

/* The ciphertexts for the key holder's eyes only: nobody can make a contribution of its own out of somebody
 * else's. */
static tacit_status seal_box(tacit_buffer *out, const tacit_paillier_sum_terms *terms,
                             const tacit_paillier_sum_key *key, uint32_t index, const tacit_buffer *text,
                             tacit_entropy *entropy, tacit_error *error) {
    const size_t length = TACIT_KEY_BYTES + text->length + TACIT_SEAL_BYTES;
    uint8_t context[TACIT_DIGEST_BYTES], seed[TACIT_KEY_BYTES], *at;
    tacit_key_pair once;
    tacit_status status;
    TACIT_TRY(tacit_entropy_bytes(seed, sizeof seed, entropy, error));
    tacit_key_pair_from(&once, seed);
    tacit_paillier_sum_context(context, terms, key->numbers);
    TACIT_CHECK(tacit_agree(seed, &once, key->sealing, context, TACIT_PAILLIER_BOX_PURPOSE, error));
    TACIT_CHECK(tacit_buffer_reserve(out, length, &at, error));
    const tacit_seal_route route = { context, index, terms->holder };
    memcpy(at, once.shown, TACIT_KEY_BYTES);
    tacit_seal(at + TACIT_KEY_BYTES, text->bytes, text->length, seed, &route);
    out->length += length;
cleanup:
    sodium_memzero(&once, sizeof once);
    sodium_memzero(seed, sizeof seed);
    return status;
}

tacit_status tacit_paillier_sum_encrypt(tacit_buffer *out, const tacit_paillier_sum_terms *terms,
                                        const tacit_paillier_sum_key *key, uint32_t index,
                                        const int64_t *values, const tacit_securesum_signer *signer,
                                        tacit_entropy *entropy, tacit_pool *pool, tacit_error *error) {
    tacit_mask mask = { .subtract = false };
    tacit_buffer text = TACIT_BUFFER_INIT, box = TACIT_BUFFER_INIT;
    uint8_t context[TACIT_DIGEST_BYTES], digest[TACIT_DIGEST_BYTES], signature[TACIT_SIGNATURE_BYTES];
    tacit_status status;
    TACIT_CHECK(tacit_entropy_bytes(mask.seed, sizeof mask.seed, entropy, error));
    TACIT_CHECK(encrypt_masked(&text, terms, key->numbers, values, &mask, entropy, pool, error));
    TACIT_CHECK(seal_box(&box, terms, key, index, &text, entropy, error));
    tacit_paillier_sum_context(context, terms, key->numbers);
    tacit_paillier_sum_signed(digest, context, index, box.bytes, box.length);
    TACIT_CHECK(signer->sign(signer->self, signature, digest, sizeof digest, error));
    TACIT_CHECK(tacit_buffer_append(out, mask.seed, sizeof mask.seed, error));
    TACIT_CHECK(tacit_buffer_append(out, signature, sizeof signature, error));
    TACIT_CHECK(tacit_buffer_append(out, box.bytes, box.length, error));
cleanup:
    sodium_memzero(&mask, sizeof mask);
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&box);
    return status;
}
