#include "crypto/linear/convert.h"

#include <sodium.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/garble/circuits_parts.h"
#include "crypto/garble/circuits_word.h"

enum {
    LIMB = 64,
    SHARE_BITS = 128,
    WIDENING = TACIT_MASK_BITS + 3, /* 2^m + V <= 2^43 V */
    VECTOR_HEAD = 24                /* bytes before the ciphertexts of a vector */
};

tacit_status tacit_masked_slots_plan(tacit_masked_slots *out, const tacit_paillier_public *key, double range,
                                     unsigned fraction_bits, unsigned factor_bits, uint64_t additions,
                                     tacit_error *error) {
    tacit_slots plain, masked;
    if (additions >= UINT64_C(1) << (LIMB - 1 - WIDENING))
        return tacit_fail(error, TACIT_USAGE, "masked slots hold at most 2^%d additions",
                          LIMB - 1 - WIDENING);
    TACIT_TRY(tacit_slots_plan(&plain, key, range, fraction_bits, factor_bits, additions, error));
    TACIT_TRY(
        tacit_slots_plan(&masked, key, range, fraction_bits, factor_bits, additions << WIDENING, error));
    /* slot_bits is two more than the bits of V. */
    *out = (tacit_masked_slots){ masked, plain.slot_bits - 2 + TACIT_MASK_BITS + 1 };
    return TACIT_OK;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static tacit_share low_bits(tacit_share value, unsigned bits) {
    return bits >= SHARE_BITS ? value : value & (((tacit_share)1 << bits) - 1);
}

static void draw_masks(tacit_share *masks, size_t count, unsigned bits, tacit_stream *stream) {
    tacit_stream_bytes(stream, masks, count * sizeof *masks);
    for (size_t k = 0; k < count; k++) masks[k] = low_bits(masks[k], bits);
}

/* ---- numbers that are not negative, in slots ---- */

/* number += value 2^at, in bytes; there is room for the carry. */
static void add_bits(uint8_t *number, size_t length, size_t at, tacit_share value) {
    size_t byte = at / 8;
    unsigned carry = 0, shift = (unsigned)(at % 8);
    for (size_t i = 0; byte + i < length && i <= sizeof value; i++) {
        uint8_t part = (uint8_t)(i < sizeof value ? value >> 8 * i << shift : 0);
        if (i > 0 && shift > 0) part |= (uint8_t)((uint8_t)(value >> 8 * (i - 1)) >> (8 - shift));
        carry += (unsigned)number[byte + i] + part;
        number[byte + i] = (uint8_t)carry;
        carry >>= 8;
    }
}

/* sum_i values[i] 2^(w i) into each plaintext: below 2^(w slots), and so below n. */
static tacit_status pack_wide(tacit_plaintexts *out, const tacit_paillier_public *key,
                              const tacit_slots *slots, const tacit_share *values, size_t count,
                              tacit_error *error) {
    uint8_t bytes[TACIT_PAILLIER_BITS_MOST / 8];
    size_t length = tacit_paillier_bits(key) / 8;
    tacit_status status = TACIT_OK;
    for (size_t at = 0; at < tacit_plaintexts_count(out) && status == TACIT_OK; at++) {
        size_t first = at * slots->slots, here = smaller(count - first, slots->slots);
        memset(bytes, 0, sizeof bytes);
        for (size_t i = 0; i < here; i++) add_bits(bytes, length, i * slots->slot_bits, values[first + i]);
        status = tacit_plaintexts_set_bytes(out, at, bytes, length, error);
    }
    sodium_memzero(bytes, sizeof bytes);
    return status;
}

/* ---- vectors of ciphertexts over a channel ---- */

static tacit_status send_ciphertexts(const tacit_ciphertexts *vector, tacit_channel *channel,
                                     tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_ciphertexts_write(vector, &bytes, error));
    TACIT_CHECK(tacit_channel_send(channel, bytes.bytes, bytes.length, error));
    TACIT_CHECK(tacit_channel_flush(channel, error));
cleanup:
    tacit_buffer_clear(&bytes);
    return status;
}

/* Exactly `count`. */
static tacit_status receive_ciphertexts(tacit_ciphertexts **out, const tacit_paillier_public *key,
                                        size_t count, tacit_channel *channel, tacit_error *error) {
    size_t length = VECTOR_HEAD + count * (tacit_paillier_bits(key) / 4);
    uint8_t *bytes = TACIT_NEW(uint8_t, length);
    tacit_ciphertexts *made = NULL;
    tacit_status status = bytes == NULL ? tacit_fail_memory(error) : TACIT_OK;
    if (status != TACIT_OK) goto cleanup;
    TACIT_CHECK(tacit_channel_receive(channel, bytes, length, error));
    TACIT_CHECK(tacit_ciphertexts_read(&made, key, bytes, length, count, error));
    *out = made;
cleanup:
    free(bytes);
    return status;
}

/* ---- ciphertexts to shares ---- */

/* The numbers that make both shares uniform; A draws their key. */
static tacit_status agree(tacit_stream *common, const tacit_converter *self, tacit_error *error) {
    uint8_t key[TACIT_STREAM_KEY_BYTES];
    if (self->role == TACIT_GARBLER) {
        tacit_stream_bytes(self->stream, key, sizeof key);
        TACIT_TRY(tacit_channel_send(self->channel, key, sizeof key, error));
    } else {
        TACIT_TRY(tacit_channel_receive(self->channel, key, sizeof key, error));
    }
    *common = tacit_stream_from_key(key);
    return TACIT_OK;
}

/* A: masks, adds, re-randomises, sends. */
static tacit_status mask_ciphertexts(tacit_share *masks, size_t count, const tacit_converter *self,
                                     const tacit_masked_slots *layout, const tacit_ciphertexts *ciphertexts,
                                     tacit_error *error) {
    const tacit_paillier_public *key = tacit_ciphertexts_key(ciphertexts);
    tacit_plaintexts *plaintexts = NULL;
    tacit_ciphertexts *masked = NULL;
    size_t vectors = tacit_slots_plaintexts(&layout->slots, count);
    tacit_status status = TACIT_OK;
    if (tacit_ciphertexts_count(ciphertexts) != vectors)
        return tacit_fail(error, TACIT_USAGE, "%zu numbers take %zu ciphertexts in these slots, not %zu",
                          count, vectors, tacit_ciphertexts_count(ciphertexts));
    draw_masks(masks, count, layout->mask_bits, self->stream);
    TACIT_CHECK(tacit_plaintexts_create(&plaintexts, key, vectors, error));
    TACIT_CHECK(tacit_ciphertexts_create(&masked, key, vectors, error));
    TACIT_CHECK(pack_wide(plaintexts, key, &layout->slots, masks, count, error));
    TACIT_CHECK(tacit_paillier_add_plain(masked, ciphertexts, plaintexts, self->pool, error));
    TACIT_CHECK(tacit_paillier_rerandomise(masked, TACIT_PAILLIER_SHORT, self->entropy, self->pool, error));
    TACIT_CHECK(send_ciphertexts(masked, self->channel, error));
cleanup:
    tacit_plaintexts_free(plaintexts);
    tacit_ciphertexts_free(masked);
    return status;
}

/* B: receives, decrypts. */
static tacit_status unmask_ciphertexts(tacit_share *sums, size_t count, const tacit_converter *self,
                                       const tacit_masked_slots *layout, const tacit_paillier_secret *secret,
                                       tacit_error *error) {
    const tacit_paillier_public *key = tacit_paillier_public_of(secret);
    size_t vectors = tacit_slots_plaintexts(&layout->slots, count);
    tacit_ciphertexts *masked = NULL;
    tacit_plaintexts *plaintexts = NULL;
    tacit_wide *wide = TACIT_NEW(tacit_wide, count);
    tacit_status status = wide == NULL && count > 0 ? tacit_fail_memory(error) : TACIT_OK;
    if (status != TACIT_OK) goto cleanup;
    TACIT_CHECK(receive_ciphertexts(&masked, key, vectors, self->channel, error));
    TACIT_CHECK(tacit_plaintexts_create(&plaintexts, key, vectors, error));
    TACIT_CHECK(tacit_paillier_decrypt(plaintexts, secret, masked, self->pool, error));
    TACIT_CHECK(tacit_slots_unpack(wide, &layout->slots, count, plaintexts, error));
    for (size_t k = 0; k < count; k++)
        sums[k] = (tacit_share)(tacit_signed_share)wide[k].high << LIMB | wide[k].low;
cleanup:
    if (wide != NULL) sodium_memzero(wide, count * sizeof *wide);
    free(wide);
    tacit_plaintexts_free(plaintexts);
    tacit_ciphertexts_free(masked);
    return status;
}

tacit_status tacit_shares_from_ciphertexts(tacit_share *out, size_t count, const tacit_converter *self,
                                           const tacit_masked_slots *layout,
                                           const tacit_ciphertexts *ciphertexts,
                                           const tacit_paillier_secret *secret, unsigned drop,
                                           tacit_error *error) {
    bool first = self->role == TACIT_GARBLER;
    tacit_stream common;
    if ((first ? (const void *)ciphertexts : (const void *)secret) == NULL || drop >= SHARE_BITS)
        return tacit_fail(
            error, TACIT_USAGE,
            "server A gives the ciphertexts and server B the key; fewer than 128 bits are dropped");
    tacit_share *numbers = TACIT_NEW(tacit_share, count);
    tacit_status status = numbers == NULL && count > 0 ? tacit_fail_memory(error) : TACIT_OK;
    if (status != TACIT_OK) goto cleanup;
    TACIT_CHECK(agree(&common, self, error));
    TACIT_CHECK(first ? mask_ciphertexts(numbers, count, self, layout, ciphertexts, error)
                      : unmask_ciphertexts(numbers, count, self, layout, secret, error));
    for (size_t k = 0; k < count; k++) {
        tacit_share shift;
        tacit_stream_bytes(&common, &shift, sizeof shift);
        tacit_share cut = (tacit_share)((tacit_signed_share)numbers[k] >> drop);
        out[k] = first ? shift - cut : cut - shift;
    }
cleanup:
    if (numbers != NULL) sodium_memzero(numbers, count * sizeof *numbers);
    free(numbers);
    return status;
}

/* ---- shares and wires ---- */

/* The low `width` bits of each, as an input of `owner`; the other server passes NULL. */
static tacit_status input_shares(tacit_wire *out, tacit_builder *builder, tacit_role owner,
                                 const tacit_share *values, size_t count, size_t width) {
    if (values == NULL) return tacit_input_wires(builder, owner, out, NULL, count * width);
    uint8_t *bits = TACIT_NEW(uint8_t, count * width);
    if (bits == NULL) return tacit_fail_memory(&builder->error);
    for (size_t i = 0; i < width; i++)
        for (size_t k = 0; k < count; k++) bits[i * count + k] = (uint8_t)(values[k] >> i & 1);
    tacit_status status = tacit_input_wires(builder, owner, out, bits, count * width);
    sodium_memzero(bits, count * width);
    free(bits);
    return status;
}

/* To B: numbers of `width` bits, their sign extended; A passes NULL. */
static tacit_status reveal_shares(tacit_share *out, tacit_builder *builder, const tacit_wire *wires,
                                  size_t count, size_t width) {
    if (out == NULL) return tacit_reveal(builder, TACIT_EVALUATOR, NULL, wires, count * width);
    uint8_t *bits = TACIT_NEW(uint8_t, count * width);
    if (bits == NULL) return tacit_fail_memory(&builder->error);
    tacit_status status = tacit_reveal(builder, TACIT_EVALUATOR, bits, wires, count * width);
    for (size_t k = 0; status == TACIT_OK && k < count; k++) {
        tacit_share value = 0;
        for (size_t i = 0; i < SHARE_BITS; i++)
            value |= (tacit_share)bits[smaller(i, width - 1) * count + k] << i;
        out[k] = value;
    }
    sodium_memzero(bits, count * width);
    free(bits);
    return status;
}

/* A mask is as many inputs of A; this many numbers at a time keep memory small. */
enum { AT_A_TIME = 256 };

static tacit_status wires_of_some(tacit_wire *out, size_t all, tacit_builder *builder, tacit_role role,
                                  const tacit_share *shares, size_t count, size_t width) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    tacit_wire *x = tacit_scratch(builder, width * count), *y = tacit_scratch(builder, width * count);
    if (x == NULL || y == NULL) return TACIT_NO_MEMORY;
    TACIT_TRY(input_shares(x, builder, TACIT_GARBLER, role == TACIT_GARBLER ? shares : NULL, count, width));
    TACIT_TRY(
        input_shares(y, builder, TACIT_EVALUATOR, role == TACIT_EVALUATOR ? shares : NULL, count, width));
    TACIT_TRY(tacit_word_add(builder, x, x, y, width, count));
    for (size_t i = 0; i < width; i++) tacit_copy(out + i * all, x + i * count, count);
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

tacit_status tacit_shares_to_wires(tacit_wire *out, tacit_builder *builder, tacit_role role,
                                   const tacit_share *shares, size_t count, size_t width) {
    for (size_t at = 0; at < count; at += AT_A_TIME)
        TACIT_TRY(wires_of_some(out + at, count, builder, role, shares + at, smaller(count - at, AT_A_TIME),
                                width));
    return TACIT_OK;
}

/* `masks` at A: shares are what is left when they are subtracted, or added, over `bits` bits. */
static tacit_status open_masked(tacit_share *out, tacit_builder *builder, const tacit_share *masks,
                                bool subtract, size_t bits, const tacit_wire *wires, size_t all, size_t count,
                                size_t width) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    tacit_wire *x = tacit_scratch(builder, bits * count), *y = tacit_scratch(builder, bits * count);
    if (x == NULL || y == NULL) return TACIT_NO_MEMORY;
    for (size_t i = 0; i < bits; i++) tacit_copy(x + i * count, wires + smaller(i, width - 1) * all, count);
    TACIT_TRY(input_shares(y, builder, TACIT_GARBLER, masks, count, bits));
    TACIT_TRY((subtract ? tacit_word_subtract : tacit_word_add)(builder, x, x, y, bits, count));
    TACIT_TRY(reveal_shares(out, builder, x, count, bits));
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

tacit_status tacit_shares_from_wires(tacit_share *out, tacit_builder *builder, tacit_role role,
                                     tacit_stream *stream, const tacit_wire *wires, size_t count,
                                     size_t width) {
    bool first = role == TACIT_GARBLER;
    if (first) draw_masks(out, count, SHARE_BITS, stream);
    for (size_t at = 0; at < count; at += AT_A_TIME)
        TACIT_TRY(open_masked(first ? NULL : out + at, builder, first ? out + at : NULL, true, SHARE_BITS,
                              wires + at, count, smaller(count - at, AT_A_TIME), width));
    return TACIT_OK;
}

/* ---- shares to ciphertexts ---- */

/* x + r at B, r at A, in `numbers`. V takes mask_bits - 41 bits, x one more for its sign; the sum m + 1 and a
 * sign. */
static tacit_status open_for_encryption(tacit_share *numbers, const tacit_converter *self,
                                        tacit_builder *builder, const tacit_masked_slots *layout,
                                        const tacit_share *shares, size_t count) {
    bool first = self->role == TACIT_GARBLER;
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    size_t width = smaller(layout->mask_bits - TACIT_MASK_BITS, LIMB), bits = layout->mask_bits + 2;
    tacit_wire *wires = tacit_scratch(builder, width * count);
    if (wires == NULL) return TACIT_NO_MEMORY;
    TACIT_TRY(tacit_shares_to_wires(wires, builder, self->role, shares, count, width));
    if (first) draw_masks(numbers, count, layout->mask_bits, self->stream);
    /* 2^(the bits of V) more, so that the sum is not negative. */
    for (size_t k = 0; k < count && first; k++)
        numbers[k] += (tacit_share)1 << (layout->mask_bits - TACIT_MASK_BITS - 1);
    for (size_t at = 0; at < count; at += AT_A_TIME)
        TACIT_TRY(open_masked(first ? NULL : numbers + at, builder, first ? numbers + at : NULL, false, bits,
                              wires + at, count, smaller(count - at, AT_A_TIME), width));
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

/* B: encrypts x + r, and sends. */
static tacit_status encrypt_masked(const tacit_share *numbers, size_t count, const tacit_converter *self,
                                   const tacit_paillier_public *key, const tacit_masked_slots *layout,
                                   tacit_error *error) {
    size_t vectors = tacit_slots_plaintexts(&layout->slots, count);
    tacit_plaintexts *plaintexts = NULL;
    tacit_ciphertexts *ciphertexts = NULL;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_plaintexts_create(&plaintexts, key, vectors, error));
    TACIT_CHECK(tacit_ciphertexts_create(&ciphertexts, key, vectors, error));
    TACIT_CHECK(pack_wide(plaintexts, key, &layout->slots, numbers, count, error));
    TACIT_CHECK(tacit_paillier_encrypt(ciphertexts, plaintexts, TACIT_PAILLIER_SHORT, self->entropy,
                                       self->pool, error));
    TACIT_CHECK(send_ciphertexts(ciphertexts, self->channel, error));
cleanup:
    tacit_plaintexts_free(plaintexts);
    tacit_ciphertexts_free(ciphertexts);
    return status;
}

/* A: subtracts r. */
static tacit_status subtract_masks(tacit_ciphertexts *out, const tacit_share *masks, size_t count,
                                   const tacit_converter *self, const tacit_paillier_public *key,
                                   const tacit_masked_slots *layout, tacit_error *error) {
    size_t vectors = tacit_slots_plaintexts(&layout->slots, count);
    tacit_plaintexts *plaintexts = NULL;
    tacit_ciphertexts *masked = NULL;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(receive_ciphertexts(&masked, key, vectors, self->channel, error));
    TACIT_CHECK(tacit_plaintexts_create(&plaintexts, key, vectors, error));
    TACIT_CHECK(pack_wide(plaintexts, key, &layout->slots, masks, count, error));
    tacit_plaintexts_negate(plaintexts);
    TACIT_CHECK(tacit_paillier_add_plain(out, masked, plaintexts, self->pool, error));
cleanup:
    tacit_plaintexts_free(plaintexts);
    tacit_ciphertexts_free(masked);
    return status;
}

tacit_status tacit_shares_to_ciphertexts(tacit_ciphertexts *out, const tacit_converter *self,
                                         tacit_builder *builder, const tacit_paillier_public *key,
                                         const tacit_masked_slots *layout, const tacit_share *shares,
                                         size_t count, tacit_error *error) {
    bool first = self->role == TACIT_GARBLER;
    if (first &&
        (out == NULL || tacit_ciphertexts_count(out) != tacit_slots_plaintexts(&layout->slots, count)))
        return tacit_fail(error, TACIT_USAGE, "%zu numbers take %zu ciphertexts in these slots", count,
                          tacit_slots_plaintexts(&layout->slots, count));
    tacit_share *numbers = TACIT_NEW(tacit_share, count);
    tacit_status status = numbers == NULL && count > 0 ? tacit_fail_memory(error) : TACIT_OK;
    if (status != TACIT_OK) goto cleanup;
    status = open_for_encryption(numbers, self, builder, layout, shares, count);
    if (status != TACIT_OK && error != NULL) *error = builder->error;
    if (status != TACIT_OK) goto cleanup;
    TACIT_CHECK(first ? subtract_masks(out, numbers, count, self, key, layout, error)
                      : encrypt_masked(numbers, count, self, key, layout, error));
cleanup:
    if (numbers != NULL) sodium_memzero(numbers, count * sizeof *numbers);
    free(numbers);
    return status;
}
