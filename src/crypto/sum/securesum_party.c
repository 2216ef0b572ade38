/* A party: who it is, its keys, its shares, its masked vector. What follows is in securesum_unmask.c. */
#include "crypto/sum/securesum_party.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/sum/mask.h"

/* ---- making one ---- */

tacit_status tacit_sum_party_make(tacit_securesum_party **out, const tacit_securesum *sum, uint32_t index,
                                  const tacit_securesum_signer *signer, tacit_error *error) {
    if (index >= sum->terms.shape.parties)
        return tacit_fail(error, TACIT_USAGE, "party %lu is not one of the %lu of a secure sum",
                          (unsigned long)index, (unsigned long)sum->terms.shape.parties);
    tacit_securesum_party *party = TACIT_NEW(tacit_securesum_party, 1);
    if (party == NULL) return tacit_fail_memory(error);
    party->sum = sum;
    party->index = index;
    party->signer = *signer;
    party->sets = TACIT_NEW(uint8_t, 2 * sum->set_bytes);
    party->peers = TACIT_NEW(tacit_sum_peer, sum->terms.shape.degree);
    if (party->sets == NULL || party->peers == NULL) {
        tacit_securesum_party_free(party);
        return tacit_fail_memory(error);
    }
    party->survivors = party->sets + sum->set_bytes;
    *out = party;
    return TACIT_OK;
}

tacit_securesum_party *tacit_securesum_party_free(tacit_securesum_party *party) {
    if (party == NULL) return NULL;
    if (party->peers != NULL)
        sodium_memzero(party->peers, party->sum->terms.shape.degree * sizeof *party->peers);
    free(party->peers);
    free(party->sets);
    sodium_memzero(party, sizeof *party);
    free(party);
    return NULL;
}

/* 32 bytes for a use, of the seed and the sum: the same seed given to two sums by mistake still makes
 * different keys. */
static void derive(uint8_t out[TACIT_DIGEST_BYTES], const tacit_securesum_party *party, const char *use) {
    tacit_digest digest;
    tacit_digest_begin(&digest, use, party->seed);
    tacit_digest_bytes(&digest, party->sum->context, sizeof party->sum->context);
    tacit_digest_u64(&digest, party->index);
    tacit_digest_end(&digest, out);
}

void tacit_sum_party_derive(tacit_securesum_party *party) {
    uint8_t secret[TACIT_KEY_BYTES];
    derive(secret, party, "tacit secure sum sealing key");
    tacit_key_pair_from(&party->sealing, secret);
    derive(party->secret[TACIT_SUM_MASKING], party, "tacit secure sum masking key");
    tacit_key_pair_from(&party->masking, party->secret[TACIT_SUM_MASKING]);
    derive(party->secret[TACIT_SUM_SELF], party, "tacit secure sum self-mask seed");
    sodium_memzero(secret, sizeof secret);
}

tacit_status tacit_securesum_party_create(tacit_securesum_party **out, const tacit_securesum *sum,
                                          uint32_t index, const uint8_t seed[TACIT_SUM_SEED_BYTES],
                                          const tacit_securesum_signer *signer, tacit_error *error) {
    tacit_securesum_party *party;
    TACIT_TRY(tacit_sum_party_make(&party, sum, index, signer, error));
    memcpy(party->seed, seed, sizeof party->seed);
    tacit_sum_party_derive(party);
    *out = party;
    return TACIT_OK;
}

tacit_securesum_step tacit_securesum_party_step(const tacit_securesum_party *party) { return party->step; }

tacit_status tacit_sum_party_ask(const tacit_securesum_party *party, tacit_securesum_step step,
                                 const uint8_t *question, size_t length, uint8_t digest[TACIT_DIGEST_BYTES],
                                 tacit_error *error) {
    if (party->step < step)
        return tacit_fail(error, TACIT_PROTOCOL,
                          "party %lu of a secure sum was asked to %s before it could %s",
                          (unsigned long)party->index, tacit_securesum_step_name(step),
                          tacit_securesum_step_name(party->step));
    tacit_digest asked;
    tacit_digest_begin(&asked, "tacit secure sum question", NULL);
    tacit_digest_bytes(&asked, question, length);
    tacit_digest_end(&asked, digest);
    if (party->step > step && memcmp(digest, party->asked[step], TACIT_DIGEST_BYTES) != 0)
        return tacit_fail(
            error, TACIT_REFUSED,
            "party %lu was asked to %s a second time in another way; a secure sum does each step once",
            (unsigned long)party->index, tacit_securesum_step_name(step));
    return TACIT_OK;
}

void tacit_sum_party_took(tacit_securesum_party *party, tacit_securesum_step step,
                          const uint8_t digest[TACIT_DIGEST_BYTES]) {
    if (party->step > step) return;
    memcpy(party->asked[step], digest, TACIT_DIGEST_BYTES);
    party->step = step + 1;
}

/* ---- advertise ---- */

tacit_status tacit_securesum_party_advertise(tacit_securesum_party *party, tacit_buffer *answer,
                                             tacit_error *error) {
    static const uint8_t nothing[TACIT_DIGEST_BYTES] = { 0 };
    uint8_t digest[TACIT_DIGEST_BYTES];
    size_t before = answer->length;
    tacit_sum_keys keys;
    tacit_status status;
    memcpy(keys.sealing, party->sealing.shown, sizeof keys.sealing);
    memcpy(keys.masking, party->masking.shown, sizeof keys.masking);
    tacit_sum_commit_self(keys.self_mask, party->sum, party->index, party->secret[TACIT_SUM_SELF]);
    if (party->step == TACIT_SUM_ADVERTISE) { /* signatures may be randomised: made once, and kept */
        tacit_sum_keys_digest(digest, party->sum, party->index, &keys);
        TACIT_TRY(
            party->signer.sign(party->signer.self, party->keys_signature, digest, sizeof digest, error));
    }
    memcpy(keys.signature, party->keys_signature, sizeof keys.signature);
    TACIT_CHECK(tacit_sum_write_header(answer, party->sum, TACIT_SUM_KEYS, party->index, error));
    TACIT_CHECK(tacit_sum_write_keys(answer, &keys, error));
    tacit_sum_party_took(party, TACIT_SUM_ADVERTISE, nothing);
cleanup:
    if (status != TACIT_OK) answer->length = before;
    return status;
}

/* ---- share ---- */

static size_t coefficient_bytes(const tacit_securesum_party *party) {
    return (size_t)(party->sum->terms.shape.threshold - 1) * TACIT_SECRET_BYTES;
}

tacit_status tacit_sum_coefficients(uint8_t **out, const tacit_securesum_party *party, tacit_error *error) {
    static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES] = { 0 };
    const size_t length = TACIT_SUM_SECRETS * coefficient_bytes(party);
    uint8_t key[TACIT_DIGEST_BYTES];
    uint8_t *coefficients = TACIT_NEW(uint8_t, length + 1); /* a threshold of 1 takes none */
    if (coefficients == NULL) return tacit_fail_memory(error);
    derive(key, party, "tacit secure sum coefficients");
    crypto_stream_chacha20(coefficients, length, nonce, key);
    sodium_memzero(key, sizeof key);
    *out = coefficients;
    return TACIT_OK;
}

void tacit_sum_coefficients_free(uint8_t *coefficients, const tacit_securesum_party *party) {
    if (coefficients != NULL) sodium_memzero(coefficients, TACIT_SUM_SECRETS * coefficient_bytes(party));
    free(coefficients);
}

tacit_status tacit_sum_own_share(uint8_t out[TACIT_SECRET_BYTES], const tacit_securesum_party *party,
                                 uint32_t holder, tacit_sum_secret which, const uint8_t *coefficients,
                                 tacit_error *error) {
    tacit_secret_share share;
    TACIT_TRY(tacit_shamir_share(&share, tacit_sum_place(holder), party->secret[which],
                                 coefficients + (size_t)which * coefficient_bytes(party),
                                 party->sum->terms.shape.threshold, error));
    memcpy(out, share.bytes, sizeof share.bytes);
    sodium_memzero(&share, sizeof share);
    return TACIT_OK;
}

tacit_status tacit_sum_read_list(tacit_cursor *cursor, const tacit_securesum_party *party,
                                 tacit_sum_kind kind, size_t size, const char *what, uint32_t *count,
                                 tacit_error *error) {
    const tacit_graph_shape *shape = &party->sum->terms.shape;
    TACIT_TRY(tacit_sum_read_header(cursor, party->sum, kind, party->index, error));
    TACIT_TRY(tacit_sum_read_count(cursor, shape->degree, 4 + size, 0, count, error));
    if (*count + 1 >= shape->threshold) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED, "party %lu has %lu %s, and needs %lu",
                      (unsigned long)party->index, (unsigned long)*count, what,
                      (unsigned long)shape->threshold - 1);
}

/* The neighbours' keys, each signed by its owner for this sum: the coordinator can leave some out but not
 * make any up. */
static tacit_status read_key_list(tacit_sum_peer *peers, const tacit_securesum_party *party,
                                  const uint8_t *question, size_t length, tacit_error *error) {
    const tacit_securesum *sum = party->sum;
    tacit_cursor cursor = tacit_cursor_over(question, length);
    uint32_t count, next = 0, slot;
    TACIT_TRY(tacit_sum_read_list(&cursor, party, TACIT_SUM_KEY_LIST, TACIT_SUM_KEYS_BYTES,
                                  "neighbours with keys in a secure sum", &count, error));
    for (uint32_t i = 0; i < count; i++) {
        tacit_sum_keys keys;
        uint8_t digest[TACIT_DIGEST_BYTES];
        TACIT_TRY(tacit_sum_read_neighbour(&cursor, sum, party->index, sum->terms.shape.degree, &next, &slot,
                                           error));
        if (!tacit_sum_read_keys(&cursor, &keys)) return tacit_sum_malformed(error, "a list of keys");
        uint32_t other = tacit_graph_neighbour(sum->graph, party->index, slot);
        tacit_sum_keys_digest(digest, sum, other, &keys);
        if (!tacit_sum_verify(sum, other, digest, keys.signature))
            return tacit_fail(error, TACIT_PROTOCOL,
                              "the keys that party %lu was given for party %lu are not signed by that party",
                              (unsigned long)party->index, (unsigned long)other);
        peers[slot].advertised = true;
        memcpy(peers[slot].sealing, keys.sealing, sizeof keys.sealing);
        memcpy(peers[slot].masking, keys.masking, sizeof keys.masking);
    }
    return TACIT_OK;
}

/* A neighbour's shares of both secrets, sealed for it, and the commitments to them. */
static tacit_status deal(tacit_buffer *out, const tacit_securesum_party *party, const tacit_sum_peer *peer,
                         uint32_t other, const uint8_t *coefficients, tacit_error *error) {
    const tacit_securesum *sum = party->sum;
    tacit_seal_route route = { sum->context, party->index, other };
    uint8_t text[TACIT_SUM_SECRETS][TACIT_SECRET_BYTES], sealed[TACIT_SUM_SEALED_BYTES],
        commitment[TACIT_SUM_SECRETS][TACIT_DIGEST_BYTES], seed[TACIT_KEY_BYTES];
    tacit_status status;
    TACIT_CHECK(
        tacit_agree(seed, &party->sealing, peer->sealing, sum->context, "tacit secure sum sealing", error));
    for (int which = 0; which < TACIT_SUM_SECRETS; which++) {
        TACIT_CHECK(
            tacit_sum_own_share(text[which], party, other, (tacit_sum_secret)which, coefficients, error));
        tacit_sum_commit_share(commitment[which], sum, party->index, other, (tacit_sum_secret)which,
                               text[which]);
    }
    tacit_seal(sealed, text[0], sizeof text, seed, &route);
    TACIT_CHECK(tacit_buffer_append_u32(out, other, error));
    TACIT_CHECK(tacit_buffer_append(out, sealed, sizeof sealed, error));
    TACIT_CHECK(tacit_buffer_append(out, commitment, sizeof commitment, error));
cleanup:
    sodium_memzero(text, sizeof text);
    sodium_memzero(seed, sizeof seed);
    return status;
}

static tacit_status write_dealt(tacit_buffer *out, const tacit_securesum_party *party,
                                const tacit_sum_peer *peers, tacit_error *error) {
    const uint32_t degree = party->sum->terms.shape.degree;
    uint8_t *coefficients = NULL, share[TACIT_SECRET_BYTES], commitment[TACIT_DIGEST_BYTES];
    uint32_t count = 0;
    tacit_status status;
    for (uint32_t slot = 0; slot < degree; slot++) count += peers[slot].advertised;
    TACIT_CHECK(tacit_sum_coefficients(&coefficients, party, error));
    TACIT_CHECK(tacit_sum_own_share(share, party, party->index, TACIT_SUM_SELF, coefficients, error));
    tacit_sum_commit_share(commitment, party->sum, party->index, party->index, TACIT_SUM_SELF, share);
    TACIT_CHECK(tacit_sum_write_header(out, party->sum, TACIT_SUM_DEALT, party->index, error));
    TACIT_CHECK(tacit_buffer_append(out, commitment, sizeof commitment, error));
    TACIT_CHECK(tacit_buffer_append_u32(out, count, error));
    for (uint32_t slot = 0; slot < degree; slot++)
        if (peers[slot].advertised)
            TACIT_CHECK(deal(out, party, &peers[slot],
                             tacit_graph_neighbour(party->sum->graph, party->index, slot), coefficients,
                             error));
cleanup:
    tacit_sum_coefficients_free(coefficients, party);
    sodium_memzero(share, sizeof share);
    return status;
}

tacit_status tacit_securesum_party_share(tacit_securesum_party *party, const uint8_t *question,
                                         size_t question_length, tacit_buffer *answer, tacit_error *error) {
    const uint32_t degree = party->sum->terms.shape.degree;
    const size_t before = answer->length;
    uint8_t digest[TACIT_DIGEST_BYTES];
    TACIT_TRY(tacit_sum_party_ask(party, TACIT_SUM_SHARE, question, question_length, digest, error));
    tacit_sum_peer *peers = TACIT_NEW(tacit_sum_peer, degree);
    if (peers == NULL) return tacit_fail_memory(error);
    tacit_status status;
    TACIT_CHECK(read_key_list(peers, party, question, question_length, error));
    TACIT_CHECK(write_dealt(answer, party, peers, error));
    if (party->step == TACIT_SUM_SHARE) memcpy(party->peers, peers, degree * sizeof *peers);
    tacit_sum_party_took(party, TACIT_SUM_SHARE, digest);
cleanup:
    if (status != TACIT_OK) answer->length = before;
    free(peers); /* public keys only */
    return status;
}

/* ---- mask ---- */

/* Open the shares that a neighbour dealt. Shares that do not open, or are not what the dealer is committed
 * to, are not kept; the coordinator is told, and finds out whether enough others hold good ones. */
static void open_dealt(tacit_sum_peer *peer, const tacit_securesum_party *party, uint32_t other,
                       const uint8_t *sealed, const uint8_t *commitments) {
    const tacit_securesum *sum = party->sum;
    tacit_seal_route route = { sum->context, other, party->index };
    uint8_t seed[TACIT_KEY_BYTES], seen[TACIT_DIGEST_BYTES];
    peer->dealt = true;
    peer->held = tacit_agree(seed, &party->sealing, peer->sealing, sum->context, "tacit secure sum sealing",
                             NULL) == TACIT_OK &&
                 tacit_seal_open(peer->share[0], sizeof peer->share, sealed, seed, &route, NULL) == TACIT_OK;
    for (int which = 0; which < TACIT_SUM_SECRETS && peer->held; which++) {
        tacit_sum_commit_share(seen, sum, other, party->index, (tacit_sum_secret)which, peer->share[which]);
        peer->held = memcmp(seen, commitments + (size_t)which * TACIT_DIGEST_BYTES, sizeof seen) == 0;
    }
    if (!peer->held) sodium_memzero(peer->share, sizeof peer->share);
    sodium_memzero(seed, sizeof seed);
}

static tacit_status read_dealt_list(tacit_sum_peer *peers, const tacit_securesum_party *party,
                                    const uint8_t *question, size_t length, tacit_error *error) {
    const tacit_securesum *sum = party->sum;
    tacit_cursor cursor = tacit_cursor_over(question, length);
    uint32_t count, next = 0, slot;
    TACIT_TRY(tacit_sum_read_list(&cursor, party, TACIT_SUM_DEALT_LIST, TACIT_SUM_DEALT_BYTES,
                                  "neighbours left to mask with in a secure sum", &count, error));
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *dealt;
        TACIT_TRY(tacit_sum_read_neighbour(&cursor, sum, party->index, sum->terms.shape.degree, &next, &slot,
                                           error));
        if (!tacit_cursor_skip(&cursor, &dealt, TACIT_SUM_DEALT_BYTES))
            return tacit_sum_malformed(error, "a list of shares");
        uint32_t other = tacit_graph_neighbour(sum->graph, party->index, slot);
        if (!peers[slot].advertised)
            return tacit_fail(error, TACIT_PROTOCOL,
                              "party %lu was given shares of party %lu, but not its keys",
                              (unsigned long)party->index, (unsigned long)other);
        open_dealt(&peers[slot], party, other, dealt, dealt + TACIT_SUM_SEALED_BYTES);
    }
    return TACIT_OK;
}

/* The self-mask, and one with each neighbour: the smaller number adds it, the larger subtracts. */
static tacit_status collect_masks(tacit_mask *masks, size_t *count, const tacit_securesum_party *party,
                                  const tacit_sum_peer *peers, tacit_error *error) {
    memcpy(masks[0].seed, party->secret[TACIT_SUM_SELF], sizeof masks[0].seed);
    masks[0].subtract = false;
    *count = 1;
    for (uint32_t slot = 0; slot < party->sum->terms.shape.degree; slot++) {
        if (!peers[slot].dealt) continue;
        tacit_mask *mask = &masks[(*count)++];
        TACIT_TRY(tacit_sum_pair_seed(mask->seed, party->sum, &party->masking, peers[slot].masking, error));
        mask->subtract = party->index > tacit_graph_neighbour(party->sum->graph, party->index, slot);
    }
    return TACIT_OK;
}

static tacit_status mask_values(uint64_t *words, const tacit_securesum_party *party,
                                const tacit_sum_peer *peers, const int64_t *values, tacit_error *error) {
    const size_t room = (size_t)party->sum->terms.shape.degree + 1, length = party->sum->terms.length;
    size_t count = 0;
    tacit_mask *masks = TACIT_NEW(tacit_mask, room);
    if (masks == NULL) return tacit_fail_memory(error);
    memcpy(words, values, length * sizeof *words);
    tacit_status status = collect_masks(masks, &count, party, peers, error);
    if (status == TACIT_OK) status = tacit_mask_apply(words, length, masks, count, NULL, error);
    if (status != TACIT_OK) sodium_memzero(words, length * sizeof *words);
    sodium_memzero(masks, room * sizeof *masks);
    free(masks);
    return status;
}

static tacit_status write_vector(tacit_buffer *out, const tacit_securesum_party *party,
                                 const tacit_sum_peer *peers, const uint64_t *words, tacit_error *error) {
    const tacit_securesum *sum = party->sum;
    const uint32_t degree = sum->terms.shape.degree;
    const size_t length = sum->terms.length;
    uint32_t bad = 0;
    uint8_t *at;
    for (uint32_t slot = 0; slot < degree; slot++) bad += peers[slot].dealt && !peers[slot].held;
    TACIT_TRY(tacit_buffer_reserve(
        out, TACIT_SUM_HEADER_BYTES + 4 + 4 * (size_t)bad + 8 + length * sizeof *words, &at, error));
    TACIT_TRY(tacit_sum_write_header(out, sum, TACIT_SUM_VECTOR, party->index, error));
    TACIT_TRY(tacit_buffer_append_u32(out, bad, error));
    for (uint32_t slot = 0; slot < degree; slot++)
        if (peers[slot].dealt && !peers[slot].held)
            TACIT_TRY(
                tacit_buffer_append_u32(out, tacit_graph_neighbour(sum->graph, party->index, slot), error));
    TACIT_TRY(tacit_buffer_append_u64(out, length, error));
    TACIT_TRY(tacit_buffer_reserve(out, length * sizeof *words, &at, error));
    for (size_t i = 0; i < length; i++) {
        uint64_t word = htole64(words[i]);
        memcpy(at + i * sizeof word, &word, sizeof word);
    }
    out->length += length * sizeof *words;
    return TACIT_OK;
}

/* Two vectors under the same masks would tell the difference of the values. */
static tacit_status check_same_vector(tacit_securesum_party *party, const tacit_buffer *answer, size_t before,
                                      tacit_error *error) {
    tacit_digest digest;
    uint8_t seen[TACIT_DIGEST_BYTES];
    tacit_digest_begin(&digest, "tacit secure sum vector", NULL);
    tacit_digest_bytes(&digest, answer->bytes + before, answer->length - before);
    tacit_digest_end(&digest, seen);
    if (party->step > TACIT_SUM_MASK && memcmp(seen, party->vector, sizeof seen) != 0)
        return tacit_fail(
            error, TACIT_REFUSED,
            "party %lu has masked other values in this secure sum; send the stored answer again",
            (unsigned long)party->index);
    memcpy(party->vector, seen, sizeof seen);
    return TACIT_OK;
}

tacit_status tacit_securesum_party_mask(tacit_securesum_party *party, const uint8_t *question,
                                        size_t question_length, const int64_t *values, tacit_buffer *answer,
                                        tacit_error *error) {
    const uint32_t degree = party->sum->terms.shape.degree;
    const size_t before = answer->length, length = party->sum->terms.length;
    uint8_t digest[TACIT_DIGEST_BYTES];
    TACIT_TRY(tacit_sum_party_ask(party, TACIT_SUM_MASK, question, question_length, digest, error));
    tacit_status status;
    tacit_sum_peer *peers = TACIT_NEW(tacit_sum_peer, degree);
    uint64_t *words = TACIT_NEW(uint64_t, length);
    if (peers == NULL || words == NULL) TACIT_CHECK(tacit_fail_memory(error));
    memcpy(peers, party->peers, degree * sizeof *peers);
    TACIT_CHECK(read_dealt_list(peers, party, question, question_length, error));
    TACIT_CHECK(mask_values(words, party, peers, values, error));
    TACIT_CHECK(write_vector(answer, party, peers, words, error));
    TACIT_CHECK(check_same_vector(party, answer, before, error));
    memcpy(party->peers, peers, degree * sizeof *peers);
    tacit_sum_party_took(party, TACIT_SUM_MASK, digest);
cleanup:
    if (status != TACIT_OK) answer->length = before;
    if (peers != NULL) sodium_memzero(peers, degree * sizeof *peers);
    free(peers);
    free(words); /* masked, or wiped */
    return status;
}
