/* The coordinator's side of sums under Paillier encryption. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/paillier/paillier_sum_parts.h"

typedef struct contribution {
    uint8_t seed[TACIT_MASK_SEED_BYTES];
    uint8_t signature[TACIT_SIGNATURE_BYTES];
    uint8_t *box; /* NULL: none yet */
} contribution;

struct tacit_paillier_sum_server {
    tacit_paillier_sum_terms terms;
    tacit_securesum_roster roster;
    tacit_pool *pool;
    tacit_paillier_sum_step step;
    tacit_buffer signed_key;
    tacit_paillier_sum_key key; /* numbers NULL: none yet */
    tacit_paillier_sum_layout layout;
    uint8_t context[TACIT_DIGEST_BYTES];
    contribution *contributions; /* by place */
    bool decrypted;
    uint64_t *total;
};

static tacit_status check_terms(tacit_paillier_sum_layout *layout, const tacit_paillier_sum_terms *terms,
                                tacit_error *error) {
    if (terms->length == 0 || terms->length > TACIT_SUM_LENGTH_MOST || terms->parties < 2 ||
        terms->minimum > terms->parties || terms->minimum == 0 || terms->holder >= terms->parties ||
        terms->key_bits < TACIT_PAILLIER_BITS || terms->key_bits > TACIT_PAILLIER_BITS_MOST)
        return tacit_fail(
            error, TACIT_USAGE,
            "an encrypted sum takes at least two parties, one of them the key holder, and a minimum");
    TACIT_TRY(tacit_paillier_sum_lay_out(layout, terms, error));
    if (layout->box_bytes + TACIT_PAILLIER_WITNESS_BYTES > TACIT_PAILLIER_SUM_BYTES_MOST / terms->parties)
        return tacit_fail(error, TACIT_LIMIT,
                          "an encrypted sum of %zu numbers from %lu parties is more than the %d MiB that the "
                          "key holder takes at once: use sum: masked",
                          terms->length, (unsigned long)terms->parties,
                          TACIT_PAILLIER_SUM_BYTES_MOST / (1024 * 1024));
    return TACIT_OK;
}

tacit_status tacit_paillier_sum_server_create(tacit_paillier_sum_server **out,
                                              const tacit_paillier_sum_terms *terms,
                                              const tacit_securesum_roster *roster, tacit_pool *pool,
                                              tacit_error *error) {
    tacit_paillier_sum_layout layout;
    TACIT_TRY(check_terms(&layout, terms, error));
    tacit_paillier_sum_server *server = TACIT_NEW(tacit_paillier_sum_server, 1);
    if (server == NULL) return tacit_fail_memory(error);
    server->terms = *terms;
    server->roster = *roster;
    server->pool = pool;
    server->layout = layout;
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
    for (uint32_t i = 0; server->contributions != NULL && i < server->terms.parties; i++)
        free(server->contributions[i].box);
    tacit_paillier_sum_key_clear(&server->key);
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
    case TACIT_PAILLIER_SUM_KEY: return server->key.numbers != NULL;
    case TACIT_PAILLIER_SUM_ENCRYPT: return server->contributions[party].box != NULL;
    default: return server->decrypted;
    }
}

static uint32_t count_given(const tacit_paillier_sum_server *server) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < server->terms.parties; i++) count += server->contributions[i].box != NULL;
    return count;
}

static tacit_status ask_to_decrypt(const tacit_paillier_sum_server *server, tacit_buffer *out,
                                   tacit_error *error) {
    const uint32_t count = count_given(server);
    const size_t box_bytes = server->layout.box_bytes;
    uint8_t *room;
    TACIT_TRY(
        tacit_buffer_reserve(out, 4 + count * (TACIT_PAILLIER_WITNESS_BYTES + box_bytes), &room, error));
    TACIT_TRY(tacit_buffer_append_u32(out, count, error));
    for (uint32_t i = 0; i < server->terms.parties; i++) {
        const contribution *one = &server->contributions[i];
        if (one->box == NULL) continue;
        TACIT_TRY(tacit_buffer_append_u32(out, i, error));
        TACIT_TRY(tacit_buffer_append(out, one->signature, sizeof one->signature, error));
        TACIT_TRY(tacit_buffer_append(out, one->box, box_bytes, error));
    }
    return TACIT_OK;
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
    if (server->key.numbers != NULL) {
        if (known->length == length && memcmp(known->bytes, bytes, length) == 0) return TACIT_OK;
        return tacit_fail(error, TACIT_PROTOCOL, "the key holder sent another key than before");
    }
    tacit_paillier_sum_key key = { .numbers = NULL };
    TACIT_TRY(tacit_paillier_sum_read_key(&key, &server->terms, &server->roster, bytes, length, error));
    tacit_status status = tacit_buffer_append(&server->signed_key, bytes, length, error);
    if (status != TACIT_OK) {
        tacit_paillier_sum_key_clear(&key);
        return status;
    }
    server->key = key;
    tacit_paillier_sum_context(server->context, &server->terms, key.numbers);
    return TACIT_OK;
}

/* What is in a box only the key holder can check, who names a party whose box has no ciphertexts. */
static tacit_status take_contribution(tacit_paillier_sum_server *server, uint32_t party, const uint8_t *bytes,
                                      size_t length, tacit_error *error) {
    contribution *known = &server->contributions[party], one = { .box = NULL };
    const size_t box_bytes = server->layout.box_bytes;
    tacit_cursor cursor = tacit_cursor_over(bytes, length);
    uint8_t digest[TACIT_DIGEST_BYTES];
    const uint8_t *box = NULL;
    if (!tacit_cursor_read(&cursor, one.seed, sizeof one.seed) ||
        !tacit_cursor_read(&cursor, one.signature, sizeof one.signature) ||
        !tacit_cursor_skip(&cursor, &box, box_bytes) || cursor.left != 0)
        return tacit_fail(error, TACIT_PROTOCOL, "party %lu sent %zu bytes as a contribution of %zu",
                          (unsigned long)party + 1, length, TACIT_PAILLIER_ANSWER_HEADER + box_bytes);
    if (known->box != NULL) {
        if (memcmp(known->seed, one.seed, sizeof one.seed) == 0 &&
            memcmp(known->signature, one.signature, sizeof one.signature) == 0 &&
            memcmp(known->box, box, box_bytes) == 0)
            return TACIT_OK;
        return tacit_fail(error, TACIT_PROTOCOL, "party %lu sent another contribution than before",
                          (unsigned long)party + 1);
    }
    tacit_paillier_sum_signed(digest, server->context, party, box, box_bytes);
    if (!server->roster.verify(server->roster.self, party, one.signature, digest, sizeof digest))
        return tacit_fail(error, TACIT_PROTOCOL, "party %lu has not signed its contribution to this sum",
                          (unsigned long)party + 1);
    one.box = malloc(box_bytes);
    if (one.box == NULL) return tacit_fail_memory(error);
    memcpy(one.box, box, box_bytes);
    *known = one;
    return TACIT_OK;
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
        if (server->contributions[i].box == NULL) continue;
        masks[count].subtract = true;
        memcpy(masks[count++].seed, server->contributions[i].seed, TACIT_MASK_SEED_BYTES);
    }
    tacit_status status = tacit_mask_apply(server->total, length, masks, count, server->pool, error);
    for (size_t j = 0; j < length; j++) server->total[j] = (uint64_t)tacit_modulo_2_62(server->total[j]);
    free(masks);
    return status;
}

tacit_status tacit_paillier_sum_server_close(tacit_paillier_sum_server *server, tacit_error *error) {
    const uint32_t given = count_given(server);
    switch (server->step) {
    case TACIT_PAILLIER_SUM_KEY:
        if (server->key.numbers == NULL)
            return tacit_fail(error, TACIT_REFUSED,
                              "the key holder has not given a key for this study's sums");
        break;
    case TACIT_PAILLIER_SUM_ENCRYPT:
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
    return server->step == TACIT_PAILLIER_SUM_OPENED && server->contributions[party].box != NULL;
}
