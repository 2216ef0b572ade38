/* Base transfers on ristretto255; the protocol is in ot.h. */
#include <sodium.h>
#include <string.h>

#include "crypto/ot/ot.h"

enum {
    POINT = crypto_core_ristretto255_BYTES,
    SCALAR = crypto_core_ristretto255_SCALARBYTES,
    BATCH = 128 /* transfers whose messages cross at a time: small enough that neither end waits to send */
};

static const char group_hash[] = "tacit base OT to the group";
static const char key_hash[] = "tacit base OT to the key";

static void draw_scalar(uint8_t out[SCALAR], tacit_stream *stream) {
    uint8_t wide[crypto_core_ristretto255_NONREDUCEDSCALARBYTES];
    tacit_stream_bytes(stream, wide, sizeof wide);
    crypto_core_ristretto255_scalar_reduce(out, wide);
    sodium_memzero(wide, sizeof wide);
}

/* Hash_k of one of the two elements, for one transfer. */
static void hash_to_group(uint8_t out[POINT], const uint8_t element[POINT], uint64_t index, uint8_t k) {
    uint8_t wide[crypto_core_ristretto255_HASHBYTES];
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, sizeof wide);
    crypto_generichash_update(&state, (const uint8_t *)group_hash, sizeof group_hash);
    crypto_generichash_update(&state, (const uint8_t *)&index, sizeof index);
    crypto_generichash_update(&state, &k, 1);
    crypto_generichash_update(&state, element, POINT);
    crypto_generichash_final(&state, wide, sizeof wide);
    crypto_core_ristretto255_from_hash(out, wide);
}

/* The key of message k, bound to everything that was said. */
static tacit_wire hash_to_key(const uint8_t shared[POINT], const uint8_t sent[POINT],
                              const uint8_t answer[2 * POINT], uint64_t index, uint8_t k) {
    tacit_wire out;
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, sizeof out);
    crypto_generichash_update(&state, (const uint8_t *)key_hash, sizeof key_hash);
    crypto_generichash_update(&state, (const uint8_t *)&index, sizeof index);
    crypto_generichash_update(&state, &k, 1);
    crypto_generichash_update(&state, sent, POINT);
    crypto_generichash_update(&state, answer, 2 * POINT);
    crypto_generichash_update(&state, shared, POINT);
    crypto_generichash_final(&state, (uint8_t *)&out, sizeof out);
    sodium_memzero(&state, sizeof state);
    return out;
}

static tacit_status bad_element(tacit_error *error) {
    return tacit_fail(error, TACIT_PROTOCOL, "the peer sent something that is no group element");
}

/* Both messages of one transfer, from the receiver's R_0 and R_1. */
static tacit_status derive_pair(tacit_wire pair[2], const uint8_t secret[SCALAR], const uint8_t sent[POINT],
                                const uint8_t answer[2 * POINT], uint64_t index, tacit_error *error) {
    for (uint8_t k = 0; k < 2; k++) {
        uint8_t sum[POINT], shared[POINT];
        hash_to_group(sum, answer + POINT * (1 - k), index, k);
        if (crypto_core_ristretto255_add(sum, sum, answer + POINT * k) != 0 ||
            crypto_scalarmult_ristretto255(shared, secret, sum) != 0)
            return bad_element(error);
        pair[k] = hash_to_key(shared, sent, answer, index, k);
        sodium_memzero(shared, sizeof shared);
    }
    return TACIT_OK;
}

static tacit_status send_batch(tacit_wire *pairs, size_t count, uint64_t first, tacit_channel *channel,
                               tacit_stream *stream, tacit_error *error) {
    uint8_t secret[BATCH][SCALAR], sent[BATCH][POINT], answer[BATCH][2 * POINT];
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < count; i++) {
        draw_scalar(secret[i], stream);
        if (crypto_scalarmult_ristretto255_base(sent[i], secret[i]) != 0) TACIT_CHECK(bad_element(error));
    }
    TACIT_CHECK(tacit_channel_send(channel, sent, count * sizeof sent[0], error));
    TACIT_CHECK(tacit_channel_receive(channel, answer, count * sizeof answer[0], error));
    for (size_t i = 0; i < count; i++)
        TACIT_CHECK(derive_pair(pairs + 2 * i, secret[i], sent[i], answer[i], first + i, error));
cleanup:
    sodium_memzero(secret, sizeof secret);
    return status;
}

tacit_status tacit_ot_base_send(tacit_wire *pairs, size_t count, tacit_channel *channel, tacit_stream *stream,
                                tacit_error *error) {
    for (size_t at = 0; at < count; at += BATCH) {
        size_t part = count - at < BATCH ? count - at : BATCH;
        TACIT_TRY(send_batch(pairs + 2 * at, part, at, channel, stream, error));
    }
    return TACIT_OK;
}

/* Exchange two elements when `swap` is 1, without a branch. */
static void swap_if(uint8_t swap, uint8_t a[POINT], uint8_t b[POINT]) {
    uint8_t mask = (uint8_t)(0 - (swap & 1));
    for (int i = 0; i < POINT; i++) {
        uint8_t different = (uint8_t)((a[i] ^ b[i]) & mask);
        a[i] ^= different;
        b[i] ^= different;
    }
}

/* R_c = aG - Hash_c(R_{1-c}), R_{1-c} random. */
static tacit_status choose(uint8_t answer[2 * POINT], const uint8_t secret[SCALAR], uint8_t choice,
                           uint64_t index, tacit_stream *stream, tacit_error *error) {
    uint8_t wide[crypto_core_ristretto255_HASHBYTES], hashed[POINT];
    choice &= 1;
    tacit_stream_bytes(stream, wide, sizeof wide);
    crypto_core_ristretto255_from_hash(answer + POINT, wide);
    hash_to_group(hashed, answer + POINT, index, choice);
    if (crypto_scalarmult_ristretto255_base(answer, secret) != 0 ||
        crypto_core_ristretto255_sub(answer, answer, hashed) != 0)
        return bad_element(error);
    swap_if(choice, answer, answer + POINT);
    return TACIT_OK;
}

static tacit_status receive_batch(tacit_wire *chosen, const uint8_t *choices, size_t count, uint64_t first,
                                  tacit_channel *channel, tacit_stream *stream, tacit_error *error) {
    uint8_t secret[BATCH][SCALAR], sent[BATCH][POINT], answer[BATCH][2 * POINT], shared[POINT];
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < count; i++) {
        draw_scalar(secret[i], stream);
        TACIT_CHECK(choose(answer[i], secret[i], choices[i], first + i, stream, error));
    }
    TACIT_CHECK(tacit_channel_send(channel, answer, count * sizeof answer[0], error));
    TACIT_CHECK(tacit_channel_receive(channel, sent, count * sizeof sent[0], error));
    for (size_t i = 0; i < count; i++) {
        if (crypto_scalarmult_ristretto255(shared, secret[i], sent[i]) != 0) TACIT_CHECK(bad_element(error));
        chosen[i] = hash_to_key(shared, sent[i], answer[i], first + i, choices[i] & 1);
    }
cleanup:
    sodium_memzero(secret, sizeof secret);
    sodium_memzero(shared, sizeof shared);
    return status;
}

tacit_status tacit_ot_base_receive(tacit_wire *chosen, const uint8_t *choices, size_t count,
                                   tacit_channel *channel, tacit_stream *stream, tacit_error *error) {
    for (size_t at = 0; at < count; at += BATCH) {
        size_t part = count - at < BATCH ? count - at : BATCH;
        TACIT_TRY(receive_batch(chosen + at, choices + at, part, at, channel, stream, error));
    }
    return TACIT_OK;
}
