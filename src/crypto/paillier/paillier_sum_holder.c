/* The key holder's last step of a sum under Paillier encryption. */
#include <sodium.h>
#include <stdlib.h>

#include "base/memory.h"
#include "crypto/paillier/paillier_sum_parts.h"

typedef struct opening {
    const tacit_paillier_sum_terms *terms;
    const tacit_paillier_secret *secret;
    const tacit_paillier_public *key;
    tacit_pool *pool;
    tacit_key_pair sealing;
    uint8_t context[TACIT_DIGEST_BYTES];
    tacit_paillier_sum_layout layout;
} opening;

static tacit_status begin(opening *self, tacit_error *error) {
    if (tacit_paillier_bits(self->key) != self->terms->key_bits)
        return tacit_fail(error, TACIT_USAGE, "the key for this study's sums has %u bits, not %u",
                          tacit_paillier_bits(self->key), self->terms->key_bits);
    TACIT_TRY(tacit_paillier_sum_lay_out(&self->layout, self->terms, error));
    tacit_paillier_sum_context(self->context, self->terms, self->key);
    return tacit_paillier_sum_sealing(&self->sealing, self->secret, error);
}

/* At least the minimum of contributors, each named once, whose signatures are on these very boxes. */
static tacit_status check_contributors(tacit_cursor cursor, const opening *self,
                                       const tacit_securesum_roster *roster, tacit_error *error) {
    const tacit_paillier_sum_terms *terms = self->terms;
    const size_t each = TACIT_PAILLIER_WITNESS_BYTES + self->layout.box_bytes;
    uint32_t count = 0, party, next = 0;
    uint8_t signature[TACIT_SIGNATURE_BYTES], digest[TACIT_DIGEST_BYTES];
    const uint8_t *box;
    if (!tacit_cursor_read_u32(&cursor, &count) || count > terms->parties)
        return tacit_fail(error, TACIT_PROTOCOL, "the question to the key holder is malformed");
    if (count < terms->minimum)
        return tacit_fail(
            error, TACIT_REFUSED,
            "the coordinator asks to decrypt a sum of %lu parties, and at least %lu must be in it",
            (unsigned long)count, (unsigned long)terms->minimum);
    if (cursor.left / each != count || cursor.left % each != 0)
        return tacit_fail(error, TACIT_PROTOCOL, "the question to the key holder is malformed");
    for (uint32_t i = 0; i < count; i++) {
        tacit_cursor_read_u32(&cursor, &party);
        tacit_cursor_read(&cursor, signature, sizeof signature);
        if (party < next || party >= terms->parties)
            return tacit_fail(error, TACIT_PROTOCOL, "the contributors to a sum are not named once each");
        next = party + 1;
        tacit_cursor_skip(&cursor, &box, self->layout.box_bytes);
        tacit_paillier_sum_signed(digest, self->context, party, box, self->layout.box_bytes);
        if (!roster->verify(roster->self, party, signature, digest, sizeof digest))
            return tacit_fail(error, TACIT_PROTOCOL,
                              "party %lu has not signed that it contributed this to the sum",
                              (unsigned long)party + 1);
    }
    return TACIT_OK;
}

/* Ciphertexts of one party, or TACIT_PROTOCOL with its name. */
static tacit_status open_box(tacit_ciphertexts **out, const opening *self, uint32_t party, const uint8_t *box,
                             tacit_error *error) {
    const size_t length = self->layout.box_bytes - TACIT_KEY_BYTES - TACIT_SEAL_BYTES;
    const tacit_seal_route route = { self->context, party, self->terms->holder };
    uint8_t *text = malloc(length), seed[TACIT_KEY_BYTES];
    tacit_ciphertexts *given = NULL;
    tacit_error inner = TACIT_ERROR_INIT;
    tacit_status status;
    if (text == NULL) return tacit_fail_memory(error);
    TACIT_CHECK(tacit_agree(seed, &self->sealing, box, self->context, TACIT_PAILLIER_BOX_PURPOSE, &inner));
    TACIT_CHECK(tacit_seal_open(text, length, box + TACIT_KEY_BYTES, seed, &route, &inner));
    TACIT_CHECK(tacit_ciphertexts_read(&given, self->key, text, length, self->layout.ciphertexts, &inner));
    *out = given;
cleanup:
    sodium_memzero(seed, sizeof seed);
    free(text);
    if (status == TACIT_OK || status == TACIT_NO_MEMORY)
        return status == TACIT_OK ? TACIT_OK : tacit_fail_memory(error);
    return tacit_fail(error, TACIT_PROTOCOL, "what party %lu contributed cannot be added up: %s",
                      (unsigned long)party + 1, inner.text);
}

/* The product of what the contributors signed, and of nothing else. */
static tacit_status multiply(tacit_ciphertexts **out, const opening *self, tacit_cursor cursor,
                             tacit_error *error) {
    tacit_ciphertexts *product = NULL, *given = NULL;
    uint32_t count = 0, party = 0;
    const uint8_t *box;
    tacit_status status;
    TACIT_CHECK(tacit_ciphertexts_create(&product, self->key, self->layout.ciphertexts, error));
    tacit_cursor_read_u32(&cursor, &count);
    for (uint32_t i = 0; i < count; i++) {
        tacit_cursor_read_u32(&cursor, &party);
        tacit_cursor_skip(&cursor, &box, TACIT_SIGNATURE_BYTES);
        tacit_cursor_skip(&cursor, &box, self->layout.box_bytes);
        TACIT_CHECK(open_box(&given, self, party, box, error));
        TACIT_CHECK(tacit_paillier_add(product, product, given, self->pool, error));
        given = tacit_ciphertexts_free(given);
    }
    *out = product;
    product = NULL;
cleanup:
    tacit_ciphertexts_free(given);
    tacit_ciphertexts_free(product);
    return status;
}

size_t tacit_paillier_sum_decrypted_bytes(const tacit_paillier_sum_terms *terms) { return 8 * terms->length; }

static tacit_status decrypt(tacit_buffer *out, const opening *self, const tacit_ciphertexts *product,
                            tacit_error *error) {
    const size_t length = self->terms->length;
    tacit_plaintexts *plain = NULL;
    tacit_wide *sums = TACIT_NEW(tacit_wide, length);
    uint8_t *room;
    tacit_status status = sums != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    TACIT_CHECK(tacit_plaintexts_create(&plain, self->key, self->layout.ciphertexts, error));
    TACIT_CHECK(tacit_paillier_decrypt(plain, self->secret, product, self->pool, error));
    TACIT_CHECK(tacit_slots_unpack(sums, &self->layout.slots, length, plain, error));
    TACIT_CHECK(tacit_buffer_reserve(out, tacit_paillier_sum_decrypted_bytes(self->terms), &room, error));
    for (size_t j = 0; j < length; j++)
        TACIT_CHECK(tacit_buffer_append_u64(out, (uint64_t)tacit_modulo_2_62(sums[j].low), error));
cleanup:
    if (status == TACIT_INPUT || status == TACIT_LIMIT) status = TACIT_PROTOCOL; /* the contributors' doing */
    free(sums);
    tacit_plaintexts_free(plain);
    return status;
}

tacit_status tacit_paillier_sum_decrypt(tacit_buffer *out, const tacit_paillier_sum_terms *terms,
                                        const tacit_paillier_secret *secret,
                                        const tacit_securesum_roster *roster, const uint8_t *question,
                                        size_t question_length, tacit_pool *pool, tacit_error *error) {
    opening self = {
        .terms = terms, .secret = secret, .key = tacit_paillier_public_of(secret), .pool = pool
    };
    const tacit_cursor cursor = tacit_cursor_over(question, question_length);
    tacit_ciphertexts *product = NULL;
    tacit_status status;
    TACIT_CHECK(begin(&self, error));
    TACIT_CHECK(check_contributors(cursor, &self, roster, error));
    TACIT_CHECK(multiply(&product, &self, cursor, error));
    TACIT_CHECK(decrypt(out, &self, product, error));
cleanup:
    sodium_memzero(&self.sealing, sizeof self.sealing);
    tacit_ciphertexts_free(product);
    return status;
}
