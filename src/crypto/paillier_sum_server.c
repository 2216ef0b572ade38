/* The coordinator's side of sums under Paillier encryption. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/paillier_sum_parts.h"

/* What is kept of a contribution; its ciphertexts are in the product. */
typedef struct contribution {
    bool given;
    uint8_t ciphertexts[TACIT_DIGEST_BYTES];
    uint8_t signature[TACIT_SIGNATURE_BYTES];
    uint8_t seed[TACIT_MASK_SEED_BYTES];
} contribution;

struct tacit_paillier_sum_server {
    tacit_paillier_sum_terms terms;
    tacit_securesum_roster roster;
    tacit_pool *pool;
    tacit_paillier_sum_step step;
    tacit_buffer signed_key;
    tacit_paillier_public *key;
    tacit_slots layout;
    contribution *contributions; /* by place */
    tacit_ciphertexts *product;
    bool decrypted;
    uint64_t *total;
};

tacit_status tacit_paillier_sum_server_create(tacit_paillier_sum_server **out,
                                              const tacit_paillier_sum_terms *terms,
                                              const tacit_securesum_roster *roster, tacit_pool *pool,
                                              tacit_error *error) {
    if (terms->length == 0 || terms->length > TACIT_SUM_LENGTH_MOST || terms->parties < 2 ||
        terms->minimum > terms->parties || terms->minimum == 0 || terms->holder >= terms->parties)
        return tacit_fail(
            error, TACIT_USAGE,
            "an encrypted sum takes at least two parties, one of them the key holder, and a minimum");
    tacit_paillier_sum_server *server = TACIT_NEW(tacit_paillier_sum_server, 1);
    if (server == NULL) return tacit_fail_memory(error);
    server->terms = *terms;
    server->roster = *roster;
    server->pool = pool;
    server->contributions = TACIT_NEW(contribution, terms->parties);
    server->total = TACIT_NEW(uint64_t, terms->length);
    if (server->contributions == NULL || server->total == NULL) {
        tacit_paillier_sum_server_free(server);
        return tacit_fail_memory(error);
    }
    *out = server;
    return TACIT_OK;
}

tacit_paillier_sum_server *tacit_paillier_sum_server_free(tacit_paillier_sum_server *server) {
    if (server == NULL) return NULL;
    tacit_ciphertexts_free(server->product);
    tacit_paillier_public_free(server->key);
    tacit_buffer_clear(&server->signed_key);
    free(server->contributions);
    free(server->total);
    free(server);
    return NULL;
}

tacit_paillier_sum_step tacit_paillier_sum_server_step(const tacit_paillier_sum_server *server) {
    return server->step;
}

bool tacit_paillier_sum_server_expects(const tacit_paillier_sum_server *server, uint32_t party) {
    if (server->step == TACIT_PAILLIER_SUM_ENCRYPT) return party < server->terms.parties;
    return server->step != TACIT_PAILLIER_SUM_OPENED && party == server->terms.holder;
}

bool tacit_paillier_sum_server_has(const tacit_paillier_sum_server *server, uint32_t party) {
    if (!tacit_paillier_sum_server_expects(server, party)) return false;
    switch (server->step) {
    case TACIT_PAILLIER_SUM_KEY: return server->key != NULL;
    case TACIT_PAILLIER_SUM_ENCRYPT: return server->contributions[party].given;
    default: return server->decrypted;
    }
}

static tacit_status ask_to_decrypt(const tacit_paillier_sum_server *server, tacit_buffer *out,
                                   tacit_error *error) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < server->terms.parties; i++) count += server->contributions[i].given;
    TACIT_TRY(tacit_buffer_append_u32(out, count, error));
    for (uint32_t i = 0; i < server->terms.parties; i++) {
        const contribution *one = &server->contributions[i];
        if (!one->given) continue;
        TACIT_TRY(tacit_buffer_append_u32(out, i, error));
        TACIT_TRY(tacit_buffer_append(out, one->ciphertexts, sizeof one->ciphertexts, error));
        TACIT_TRY(tacit_buffer_append(out, one->signature, sizeof one->signature, error));
    }
    return tacit_ciphertexts_write(server->product, out, error);
}

tacit_status tacit_paillier_sum_server_question(const tacit_paillier_sum_server *server, uint32_t party,
                                                tacit_buffer *out, tacit_error *error) {
    if (!tacit_paillier_sum_server_expects(server, party))
        return tacit_fail(error, TACIT_NOT_FOUND, "party %lu is not asked in step %s of this sum",
                          (unsigned long)party + 1, tacit_paillier_sum_step_name(server->step));
    switch (server->step) {
    case TACIT_PAILLIER_SUM_ENCRYPT:
        return tacit_buffer_append(out, server->signed_key.bytes, server->signed_key.length, error);
    case TACIT_PAILLIER_SUM_DECRYPT: return ask_to_decrypt(server, out, error);
    default: return TACIT_OK;
    }
}

/* ---- answers ---- */

static tacit_status take_key(tacit_paillier_sum_server *server, const uint8_t *bytes, size_t length,
                             tacit_error *error) {
    const tacit_buffer *known = &server->signed_key;
    if (server->key != NULL) {
        if (known->length == length && memcmp(known->bytes, bytes, length) == 0) return TACIT_OK;
        return tacit_fail(error, TACIT_PROTOCOL, "the key holder sent another key than before");
    }
    tacit_paillier_public *key = NULL;
    TACIT_TRY(tacit_paillier_sum_read_key(&key, &server->terms, &server->roster, bytes, length, error));
    tacit_status status;
    TACIT_CHECK(tacit_paillier_sum_slots(&server->layout, &server->terms, key, error));
    TACIT_CHECK(tacit_buffer_append(&server->signed_key, bytes, length, error));
    server->key = key;
    key = NULL;
cleanup:
    tacit_paillier_public_free(key);
    return status;
}

static tacit_status take_contribution(tacit_paillier_sum_server *server, uint32_t party, const uint8_t *bytes,
                                      size_t length, tacit_error *error) {
    contribution *known = &server->contributions[party], one = { .given = true };
    const size_t count = tacit_slots_plaintexts(&server->layout, server->terms.length);
    const uint8_t *body = bytes + TACIT_PAILLIER_ANSWER_HEADER;
    uint8_t digest[TACIT_DIGEST_BYTES];
    tacit_ciphertexts *given = NULL;
    tacit_status status;
    if (length < TACIT_PAILLIER_ANSWER_HEADER)
        return tacit_fail(error, TACIT_PROTOCOL, "party %lu sent %zu bytes as a contribution",
                          (unsigned long)party + 1, length);
    memcpy(one.signature, bytes, sizeof one.signature);
    memcpy(one.seed, bytes + sizeof one.signature, sizeof one.seed);
    tacit_paillier_sum_ciphertext_digest(one.ciphertexts, body, length - TACIT_PAILLIER_ANSWER_HEADER);
    if (known->given) {
        if (memcmp(known, &one, sizeof one) == 0) return TACIT_OK;
        return tacit_fail(error, TACIT_PROTOCOL, "party %lu sent another contribution than before",
                          (unsigned long)party + 1);
    }
    tacit_paillier_sum_signed(digest, &server->terms, server->key, party, one.ciphertexts);
    if (!server->roster.verify(server->roster.self, party, one.signature, digest, sizeof digest))
        return tacit_fail(error, TACIT_PROTOCOL, "party %lu has not signed its contribution to this sum",
                          (unsigned long)party + 1);
    TACIT_CHECK(tacit_ciphertexts_read(&given, server->key, body, length - TACIT_PAILLIER_ANSWER_HEADER,
                                       count, error));
    if (tacit_ciphertexts_count(given) != count)
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "party %lu sent %zu ciphertexts where a sum has %zu",
                               (unsigned long)party + 1, tacit_ciphertexts_count(given), count));
    if (server->product == NULL)
        TACIT_CHECK(tacit_ciphertexts_create(&server->product, server->key, count, error));
    TACIT_CHECK(tacit_paillier_add(given, given, server->product, server->pool, error));
    tacit_ciphertexts *before = server->product;
    server->product = given;
    given = before;
    *known = one;
cleanup:
    tacit_ciphertexts_free(given);
    return status == TACIT_INPUT || status == TACIT_LIMIT ? TACIT_PROTOCOL : status;
}

static tacit_status take_decrypted(tacit_paillier_sum_server *server, const uint8_t *bytes, size_t length,
                                   tacit_error *error) {
    tacit_cursor cursor = tacit_cursor_over(bytes, length);
    if (length != tacit_paillier_sum_decrypted_bytes(&server->terms))
        return tacit_fail(error, TACIT_PROTOCOL,
                          "the key holder sent %zu bytes where a sum of %zu is asked for", length,
                          server->terms.length);
    for (size_t j = 0; j < server->terms.length; j++) {
        uint64_t value;
        tacit_cursor_read_u64(&cursor, &value);
        if (server->decrypted && server->total[j] != value)
            return tacit_fail(error, TACIT_PROTOCOL, "the key holder sent another sum than before");
        server->total[j] = value;
    }
    server->decrypted = true;
    return TACIT_OK;
}

tacit_status tacit_paillier_sum_server_receive(tacit_paillier_sum_server *server, uint32_t party,
                                               const uint8_t *answer, size_t length, tacit_error *error) {
    if (!tacit_paillier_sum_server_expects(server, party))
        return tacit_fail(error, TACIT_REFUSED, "party %lu is not asked in step %s of this sum",
                          (unsigned long)party + 1, tacit_paillier_sum_step_name(server->step));
    switch (server->step) {
    case TACIT_PAILLIER_SUM_KEY: return take_key(server, answer, length, error);
    case TACIT_PAILLIER_SUM_ENCRYPT: return take_contribution(server, party, answer, length, error);
    default: return take_decrypted(server, answer, length, error);
    }
}

/* ---- closing ---- */

/* sum (x + r) - sum r, over the survivors. */
static tacit_status unmask(tacit_paillier_sum_server *server, tacit_error *error) {
    const size_t length = server->terms.length;
    tacit_mask *masks = TACIT_NEW(tacit_mask, server->terms.parties);
    size_t count = 0;
    if (masks == NULL) return tacit_fail_memory(error);
    for (uint32_t i = 0; i < server->terms.parties; i++) {
        if (!server->contributions[i].given) continue;
        masks[count].subtract = true;
        memcpy(masks[count++].seed, server->contributions[i].seed, TACIT_MASK_SEED_BYTES);
    }
    tacit_status status = tacit_mask_apply(server->total, length, masks, count, server->pool, error);
    for (size_t j = 0; j < length; j++) server->total[j] = (uint64_t)tacit_modulo_2_62(server->total[j]);
    free(masks);
    return status;
}

tacit_status tacit_paillier_sum_server_close(tacit_paillier_sum_server *server, tacit_error *error) {
    uint32_t given = 0;
    switch (server->step) {
    case TACIT_PAILLIER_SUM_KEY:
        if (server->key == NULL)
            return tacit_fail(error, TACIT_REFUSED,
                              "the key holder has not given a key for this study's sums");
        break;
    case TACIT_PAILLIER_SUM_ENCRYPT:
        for (uint32_t i = 0; i < server->terms.parties; i++) given += server->contributions[i].given;
        if (given < server->terms.minimum)
            return tacit_fail(error, TACIT_REFUSED,
                              "%lu parties contributed to a sum that needs at least %lu",
                              (unsigned long)given, (unsigned long)server->terms.minimum);
        break;
    case TACIT_PAILLIER_SUM_DECRYPT:
        if (!server->decrypted)
            return tacit_fail(error, TACIT_REFUSED, "the key holder has not decrypted the sum");
        TACIT_TRY(unmask(server, error));
        break;
    case TACIT_PAILLIER_SUM_OPENED: return TACIT_OK;
    }
    server->step++;
    return TACIT_OK;
}

const int64_t *tacit_paillier_sum_server_sum(const tacit_paillier_sum_server *server) {
    return server->step == TACIT_PAILLIER_SUM_OPENED ? (const int64_t *)server->total : NULL;
}

bool tacit_paillier_sum_server_survived(const tacit_paillier_sum_server *server, uint32_t party) {
    return server->step == TACIT_PAILLIER_SUM_OPENED && server->contributions[party].given;
}
