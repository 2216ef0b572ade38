/*
 * The extension. With choices r and base seeds (k0_i, k1_i), i < 128, at the receiver and delta and the seeds of
 * its bits at the sender, G AES in counter mode:
 *     receiver    t_i = G(k0_i),  sends  u_i = t_i ^ G(k1_i) ^ r
 *     sender      q_i = G(k_{delta_i}) ^ delta_i u_i = t_i ^ delta_i r
 * so that row k of the transposed matrices obeys q_k = t_k ^ r_k delta. Correlated transfers use these rows as they
 * are; chosen messages are masked with H(q_k, k) and H(q_k ^ delta, k).
 *
 * The check, for each batch. h is the polynomial hash of a row, as 128-bit blocks of the field of 2^128 elements, at a point y that
 * is the hash of all u_i; the last block of r is random, and its transfers are thrown away.
 *     receiver    sends  a = h(r)  and a digest of all b_i = h(t_i)
 *     sender      compares with the digest of all h(q_i) ^ delta_i a
 * Claim. Say the receiver used r_i in column i. The sender's b_i is h(t_i) ^ delta_i (h(r_i) ^ a). Where h(r_i) != a it
 * passes for one value of delta_i at most, which the receiver must guess, independently for each i. Where h(r_i) = a the r_i
 * are the same: two that differ have the same hash at no more than 64 points of 2^128, or for all 128^2/2 pairs with
 * a chance of 2^-109 for every y that the receiver tries. So whoever deviates in c columns is caught but for a chance of
 * 2^-c, and has learnt these c bits of delta if it is not: no more than it could have guessed.
 * To the sender a is uniform, for the last block has the factor 1 and is random; the digest follows from a and what it has.
 */
#include <sodium.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/cipher_parts.h"
#include "crypto/digest.h"
#include "crypto/field128_parts.h"
#include "crypto/ot/ot.h"

enum {
    WIDTH = 128,     /* base transfers */
    BATCH = 8192,    /* transfers at a time: 1 KiB a row, 128 KiB in all */
    ROW = BATCH / 8, /* bytes */
    ROUND_TO = 512,  /* what a transposition takes */
    SPARE = 128,     /* transfers of a batch with random choices, which hide the others in the check */
    MOST = BATCH - SPARE
};

/* What the receiver says after its columns. */
typedef struct consistency {
    tacit_wire choices;
    uint8_t rows[TACIT_DIGEST_BYTES];
} consistency;

struct tacit_ot_sender {
    tacit_channel *channel;
    const tacit_cipher *cipher;
    tacit_wire delta;
    tacit_hash_key hash;
    uint64_t used;   /* AES blocks of each seed so far */
    uint64_t hashed; /* tweaks so far */
    tacit_aes_key seed[WIDTH];
    _Alignas(64) uint8_t matrix[WIDTH][ROW];
    _Alignas(64) uint8_t columns[WIDTH * ROW]; /* a copy, which a peer with shared memory cannot change */
};

struct tacit_ot_receiver {
    tacit_channel *channel;
    const tacit_cipher *cipher;
    tacit_hash_key hash;
    uint64_t used, hashed;
    tacit_aes_key spare; /* of the random choices */
    tacit_aes_key seed[2][WIDTH];
    _Alignas(64) uint8_t matrix[WIDTH][ROW];
    _Alignas(64) uint8_t other[ROW], choices[ROW];
};

static size_t padded(size_t count) { return (count + SPARE + ROUND_TO - 1) / ROUND_TO * ROUND_TO; }

static void *allocate_zeroed(size_t size) {
    void *block = tacit_allocate_aligned((size + 63) / 64 * 64, 1);
    if (block != NULL) memset(block, 0, size);
    return block;
}

/* The sender draws the point from which the tweaks of its hashes count, for both. */
static tacit_status agree_on_hash(tacit_hash_key *hash, tacit_channel *channel, tacit_stream *stream,
                                  tacit_error *error) {
    if (stream == NULL) return tacit_channel_receive(channel, &hash->start, sizeof hash->start, error);
    tacit_stream_bytes(stream, &hash->start, sizeof hash->start);
    TACIT_TRY(tacit_channel_send(channel, &hash->start, sizeof hash->start, error));
    return tacit_channel_flush(channel, error);
}

tacit_status tacit_ot_sender_create(tacit_ot_sender **out, tacit_channel *channel, tacit_stream *stream,
                                    tacit_engine engine, tacit_error *error) {
    tacit_ot_sender *self = allocate_zeroed(sizeof *self);
    if (self == NULL) return tacit_fail_memory(error);
    tacit_wire seeds[WIDTH];
    uint8_t bits[WIDTH];
    tacit_status status = TACIT_OK;
    self->channel = channel;
    self->cipher = tacit_cipher_of(engine);
    tacit_stream_bytes(stream, &self->delta, sizeof self->delta);
    self->delta.half[0] |= 1;
    for (int i = 0; i < WIDTH; i++) bits[i] = self->delta.half[i / 64] >> i % 64 & 1;
    TACIT_CHECK(tacit_ot_base_receive(seeds, bits, WIDTH, channel, stream, error));
    TACIT_CHECK(agree_on_hash(&self->hash, channel, stream, error));
    for (int i = 0; i < WIDTH; i++) self->cipher->expand_key(&self->seed[i], seeds[i]);
    *out = self;
    self = NULL;
cleanup:
    sodium_memzero(seeds, sizeof seeds);
    sodium_memzero(bits, sizeof bits);
    tacit_ot_sender_free(self);
    return status;
}

tacit_ot_sender *tacit_ot_sender_free(tacit_ot_sender *sender) {
    if (sender == NULL) return NULL;
    sodium_memzero(sender, sizeof *sender);
    free(sender);
    return NULL;
}

tacit_status tacit_ot_receiver_create(tacit_ot_receiver **out, tacit_channel *channel, tacit_stream *stream,
                                      tacit_engine engine, tacit_error *error) {
    tacit_ot_receiver *self = allocate_zeroed(sizeof *self);
    if (self == NULL) return tacit_fail_memory(error);
    tacit_wire seeds[2 * WIDTH], spare;
    tacit_status status = TACIT_OK;
    self->channel = channel;
    self->cipher = tacit_cipher_of(engine);
    tacit_stream_bytes(stream, &spare, sizeof spare);
    self->cipher->expand_key(&self->spare, spare);
    TACIT_CHECK(tacit_ot_base_send(seeds, WIDTH, channel, stream, error));
    TACIT_CHECK(agree_on_hash(&self->hash, channel, NULL, error));
    for (int i = 0; i < 2 * WIDTH; i++) self->cipher->expand_key(&self->seed[i % 2][i / 2], seeds[i]);
    *out = self;
    self = NULL;
cleanup:
    sodium_memzero(seeds, sizeof seeds);
    sodium_memzero(&spare, sizeof spare);
    tacit_ot_receiver_free(self);
    return status;
}

tacit_ot_receiver *tacit_ot_receiver_free(tacit_ot_receiver *receiver) {
    if (receiver == NULL) return NULL;
    sodium_memzero(receiver, sizeof *receiver);
    free(receiver);
    return NULL;
}

tacit_wire tacit_ot_delta(const tacit_ot_sender *sender) { return sender->delta; }

/* ---- correlated ---- */

/* to ^= from & mask */
static void add_row(uint8_t *to, const uint8_t *from, uint64_t mask, size_t bytes) {
    for (size_t k = 0; k < bytes; k += 8) {
        uint64_t a, b;
        memcpy(&a, to + k, 8);
        memcpy(&b, from + k, 8);
        a ^= b & mask;
        memcpy(to + k, &a, 8);
    }
}

static void fill_row(uint8_t *row, const tacit_cipher *cipher, const tacit_aes_key *seed, uint64_t used,
                     size_t bytes) {
    cipher->counter((tacit_wire *)(void *)row, seed, used, bytes / sizeof(tacit_wire));
}

/* Transpose `columns` columns, of which the caller gets `count`. */
static void rows_to_wires(tacit_wire *out, const uint8_t *matrix, const tacit_cipher *cipher, size_t count) {
    size_t whole = count / ROUND_TO * ROUND_TO;
    cipher->transpose(out, matrix, ROW, whole);
    if (whole == count) return;
    tacit_wire rest[ROUND_TO];
    cipher->transpose(rest, matrix + whole / 8, ROW, ROUND_TO);
    memcpy(out + whole, rest, (count - whole) * sizeof *out);
    sodium_memzero(rest, sizeof rest);
}

/* ---- the check ---- */

/* y and its powers, from all that was sent of this batch and which one it is. */
static void draw_point(tacit_wire power[4], const tacit_hash_key *hash, uint64_t used, const uint8_t *columns,
                       size_t bytes) {
    uint8_t out[TACIT_DIGEST_BYTES];
    tacit_digest digest;
    tacit_digest_begin(&digest, "tacit OT extension check", NULL);
    tacit_digest_bytes(&digest, &hash->start, sizeof hash->start);
    tacit_digest_u64(&digest, used);
    tacit_digest_u64(&digest, bytes);
    tacit_digest_bytes(&digest, columns, WIDTH * bytes);
    tacit_digest_end(&digest, out);
    memcpy(&power[0], out, sizeof power[0]);
    for (int k = 1; k < 4; k++) power[k] = tacit_field_multiply(power[k - 1], power[0]);
}

static tacit_wire hash_row(const uint8_t *row, const tacit_cipher *cipher, const tacit_wire power[4],
                           size_t bytes) {
    return cipher->polynomial(power, (const tacit_wire *)(const void *)row, bytes / sizeof(tacit_wire));
}

/* A digest of the 128 hashed rows, each with `shift` added where delta has a 1. */
static void hash_rows(uint8_t out[TACIT_DIGEST_BYTES], const uint8_t *matrix, const tacit_cipher *cipher,
                      const tacit_wire power[4], tacit_wire delta, tacit_wire shift, size_t bytes) {
    tacit_wire rows[WIDTH];
    tacit_digest digest;
    for (size_t i = 0; i < WIDTH; i++)
        rows[i] = tacit_wire_xor(hash_row(matrix + i * ROW, cipher, power, bytes),
                                 tacit_wire_if(delta.half[i / 64] >> i % 64 & 1, shift));
    tacit_digest_begin(&digest, "tacit OT extension rows", NULL);
    tacit_digest_bytes(&digest, rows, sizeof rows);
    tacit_digest_end(&digest, out);
    sodium_memzero(rows, sizeof rows);
}

static tacit_status check_rows(tacit_ot_sender *self, const tacit_wire power[4], size_t bytes,
                               tacit_error *error) {
    consistency said;
    uint8_t rows[TACIT_DIGEST_BYTES];
    TACIT_TRY(tacit_channel_receive(self->channel, &said, sizeof said, error));
    hash_rows(rows, self->matrix[0], self->cipher, power, self->delta, said.choices, bytes);
    if (sodium_memcmp(rows, said.rows, sizeof rows) != 0)
        return tacit_fail(error, TACIT_PROTOCOL,
                          "the peer cheats in oblivious transfer: its columns are not of one set of choices");
    return TACIT_OK;
}

static tacit_status show_rows(tacit_ot_receiver *self, const tacit_wire power[4], size_t bytes,
                              tacit_error *error) {
    const tacit_wire none = { { 0, 0 } };
    consistency said = { .choices = hash_row(self->choices, self->cipher, power, bytes) };
    hash_rows(said.rows, self->matrix[0], self->cipher, power, none, none, bytes);
    return tacit_channel_send(self->channel, &said, sizeof said, error);
}

/* ---- a batch ---- */

static tacit_status send_batch(tacit_wire *zero, size_t count, tacit_ot_sender *self, tacit_error *error) {
    size_t bytes = padded(count) / 8;
    const uint8_t *columns = self->columns;
    tacit_wire power[4];
    for (int i = 0; i < WIDTH; i++)
        fill_row(self->matrix[i], self->cipher, &self->seed[i], self->used, bytes);
    TACIT_TRY(tacit_channel_receive(self->channel, self->columns, WIDTH * bytes, error));
    draw_point(power, &self->hash, self->used, columns, bytes);
    self->used += bytes / sizeof(tacit_wire);
    for (size_t i = 0; i < WIDTH; i++)
        add_row(self->matrix[i], columns + i * bytes, 0 - (self->delta.half[i / 64] >> i % 64 & 1), bytes);
    TACIT_TRY(check_rows(self, power, bytes, error));
    rows_to_wires(zero, self->matrix[0], self->cipher, count);
    return TACIT_OK;
}

tacit_status tacit_ot_send_correlated(tacit_wire *zero, size_t count, tacit_ot_sender *sender,
                                      tacit_error *error) {
    for (size_t at = 0; at < count; at += MOST)
        TACIT_TRY(send_batch(zero + at, count - at < MOST ? count - at : MOST, sender, error));
    return TACIT_OK;
}

/* Eight bytes, each 0 or 1, to eight bits: the product moves byte i to bit 56 + i. */
static void pack_bits(uint8_t *out, const uint8_t *bits, size_t count) {
    memset(out, 0, padded(count) / 8);
    size_t k = 0;
    for (; k + 8 <= count; k += 8) {
        uint64_t eight;
        memcpy(&eight, bits + k, 8);
        out[k / 8] = (uint8_t)((eight & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080) >> 56);
    }
    for (; k < count; k++) out[k / 8] |= (uint8_t)((bits[k] & 1) << k % 8);
}

static tacit_status receive_batch(tacit_wire *chosen, const uint8_t *choices, size_t count,
                                  tacit_ot_receiver *self, tacit_error *error) {
    size_t bytes = padded(count) / 8;
    uint8_t *columns = NULL;
    tacit_wire power[4];
    TACIT_TRY(tacit_channel_space(&columns, self->channel, WIDTH * bytes, error));
    pack_bits(self->choices, choices, count);
    fill_row(self->choices + bytes - SPARE / 8, self->cipher, &self->spare, self->used, SPARE / 8);
    for (size_t i = 0; i < WIDTH; i++) {
        uint8_t *column = columns + i * bytes;
        fill_row(self->matrix[i], self->cipher, &self->seed[0][i], self->used, bytes);
        fill_row(self->other, self->cipher, &self->seed[1][i], self->used, bytes);
        add_row(self->other, self->matrix[i], UINT64_MAX, bytes);
        add_row(self->other, self->choices, UINT64_MAX, bytes);
        memcpy(column, self->other, bytes);
    }
    draw_point(power, &self->hash, self->used, columns, bytes);
    self->used += bytes / sizeof(tacit_wire);
    tacit_channel_sent(self->channel, WIDTH * bytes);
    TACIT_TRY(show_rows(self, power, bytes, error));
    /* The sender can work while this end transposes. */
    TACIT_TRY(tacit_channel_flush(self->channel, error));
    rows_to_wires(chosen, self->matrix[0], self->cipher, count);
    return TACIT_OK;
}

tacit_status tacit_ot_receive_correlated(tacit_wire *chosen, const uint8_t *choices, size_t count,
                                         tacit_ot_receiver *receiver, tacit_error *error) {
    for (size_t at = 0; at < count; at += MOST)
        TACIT_TRY(
            receive_batch(chosen + at, choices + at, count - at < MOST ? count - at : MOST, receiver, error));
    return TACIT_OK;
}

/* ---- messages of one's choice ---- */

enum { PART = 2048 - SPARE };

tacit_status tacit_ot_send(const tacit_wire *messages, size_t count, tacit_ot_sender *sender,
                           tacit_error *error) {
    for (size_t at = 0; at < count; at += PART) {
        size_t part = count - at < PART ? count - at : PART;
        tacit_wire mask[2][PART], masked[2 * PART];
        TACIT_TRY(tacit_ot_send_correlated(mask[0], part, sender, error));
        for (size_t k = 0; k < part; k++) mask[1][k] = tacit_wire_xor(mask[0][k], sender->delta);
        for (int side = 0; side < 2; side++)
            sender->cipher->hash(mask[side], mask[side], &sender->hash, sender->hashed, part);
        sender->hashed += part;
        for (size_t k = 0; k < 2 * part; k++)
            masked[k] = tacit_wire_xor(messages[2 * at + k], mask[k % 2][k / 2]);
        sodium_memzero(mask, sizeof mask);
        TACIT_TRY(tacit_channel_send(sender->channel, masked, 2 * part * sizeof *masked, error));
    }
    return tacit_channel_flush(sender->channel, error);
}

tacit_status tacit_ot_receive(tacit_wire *chosen, const uint8_t *choices, size_t count,
                              tacit_ot_receiver *receiver, tacit_error *error) {
    for (size_t at = 0; at < count; at += PART) {
        size_t part = count - at < PART ? count - at : PART;
        tacit_wire mask[PART], masked[2 * PART];
        TACIT_TRY(tacit_ot_receive_correlated(mask, choices + at, part, receiver, error));
        receiver->cipher->hash(mask, mask, &receiver->hash, receiver->hashed, part);
        receiver->hashed += part;
        TACIT_TRY(tacit_channel_receive(receiver->channel, masked, 2 * part * sizeof *masked, error));
        for (size_t k = 0; k < part; k++) {
            /* Both are read, one is kept. */
            tacit_wire both = tacit_wire_xor(masked[2 * k], masked[2 * k + 1]);
            tacit_wire one = tacit_wire_xor(masked[2 * k], tacit_wire_if(choices[at + k], both));
            chosen[at + k] = tacit_wire_xor(one, mask[k]);
        }
        sodium_memzero(mask, sizeof mask);
    }
    return TACIT_OK;
}
