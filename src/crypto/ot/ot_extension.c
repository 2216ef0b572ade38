/*
 * The extension: SoftSpokenOT (Roy, CRYPTO 2022) over small fields of 2^k elements, k = OT_BITS. For each of
 * the 128/k trees of ot_trees.c the receiver has all seeds s_x, x < 2^k, and the sender all but that of d,
 * the k bits of its delta that belong to the tree. G is AES in counter mode, and x in a product is a vector
 * of k bits, a row each:
 *     receiver    u = sum of all G(s_x),   v = sum of x G(s_x),   sends  c = u ^ r  with its choices r
 *     sender      w = sum of (x ^ d) G(s_x), in which s_d has the factor 0;   q = w ^ d c
 * Since w = v ^ d u, it has q = v ^ d r: over all trees, row i of 128 is q_i = v_i ^ delta_i r, and column k
 * of the matrices obeys q_k = v_k ^ r_k delta. Correlated transfers use these columns as they are; chosen
 * messages are masked with H(q_k, k) and H(q_k ^ delta, k). With k = 1 this is the extension of Ishai,
 * Kilian, Nissim and Petrank (2003); k = 4 sends a quarter of its bytes, 4 bytes a transfer, for twice its
 * AES.
 *
 * The check, for each batch. h is the polynomial hash of a row, as 128-bit blocks of the field of 2^128
 * elements, at a point y that is the hash of all that was sent, c of every tree; the last block of r is
 * random, and its transfers are thrown away.
 *     receiver    sends  a = h(r)  and a digest of all h(v_i)
 *     sender      compares with the digest of all h(q_i) ^ delta_i a
 * Claim. Say the receiver used the choices r_g with tree g: c ^ u, where u is that of the one set of seeds
 * which ot_trees.c leaves it, and which was fixed before the sender drew `start`. Of row i in tree g the
 * sender hashes h(v_i) ^ delta_i (h(r_g) ^ a). Where h(r_g) != a that passes for one value of the tree's k
 * bits at most, which the receiver must guess, independently for each tree. Where h(r_g) = a the r_g are the
 * same: two that differ have the same hash at no more than 64 points of 2^128, or for all 32^2/2 pairs with a
 * chance of 2^-113 for every y that the receiver tries. So whoever deviates in c trees is caught except with
 * a chance of 2^-kc, and has learnt these kc bits of delta if it is not: no more than it could have guessed.
 * To the sender a is uniform, for the last block has the factor 1 and is random; the digest follows from a
 * and what it has.
 */
#include <sodium.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/cipher_parts.h"
#include "crypto/digest.h"
#include "crypto/field128_parts.h"
#include "crypto/ot/ot.h"
#include "crypto/ot/ot_parts.h"

enum {
    BATCH = 8192,    /* transfers at a time: 1 KiB a row, 128 KiB in all, of which 32 are sent */
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
    tacit_aes_key seed[OT_GROUPS][OT_LEAVES];
    _Alignas(64) uint8_t leaf[OT_LEAVES][ROW], matrix[OT_WIDTH][ROW];
    _Alignas(64) uint8_t columns[OT_GROUPS * ROW]; /* a copy, which a peer with shared memory cannot change */
};

struct tacit_ot_receiver {
    tacit_channel *channel;
    const tacit_cipher *cipher;
    tacit_hash_key hash;
    uint64_t used, hashed;
    tacit_aes_key spare; /* of the random choices */
    tacit_aes_key seed[OT_GROUPS][OT_LEAVES];
    _Alignas(64) uint8_t leaf[OT_LEAVES][ROW], matrix[OT_WIDTH][ROW];
    _Alignas(64) uint8_t choices[ROW];
};

static size_t padded(size_t count) { return (count + SPARE + ROUND_TO - 1) / ROUND_TO * ROUND_TO; }

static void *allocate_zeroed(size_t size) {
    void *block = tacit_allocate_aligned((size + 63) / 64 * 64, 1);
    if (block != NULL) memset(block, 0, size);
    return block;
}

static void expand_keys(tacit_aes_key seed[OT_GROUPS][OT_LEAVES], const tacit_cipher *cipher,
                        const tacit_wire *leaves) {
    for (size_t i = 0; i < (size_t)OT_GROUPS * OT_LEAVES; i++)
        cipher->expand_key(&seed[i / OT_LEAVES][i % OT_LEAVES], leaves[i]);
}

/* The sender draws the point from which the tweaks of its hashes count, for both, when the trees are
 * fixed. */
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
    tacit_wire leaves[OT_GROUPS * OT_LEAVES];
    tacit_status status = TACIT_OK;
    self->channel = channel;
    self->cipher = tacit_cipher_of(engine);
    tacit_stream_bytes(stream, &self->delta, sizeof self->delta);
    self->delta.half[0] |= 1;
    TACIT_CHECK(ot_trees_receive(leaves, self->delta, channel, stream, self->cipher, error));
    TACIT_CHECK(agree_on_hash(&self->hash, channel, stream, error));
    expand_keys(self->seed, self->cipher, leaves);
    *out = self;
    self = NULL;
cleanup:
    sodium_memzero(leaves, sizeof leaves);
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
    tacit_wire leaves[OT_GROUPS * OT_LEAVES], spare;
    tacit_status status = TACIT_OK;
    self->channel = channel;
    self->cipher = tacit_cipher_of(engine);
    tacit_stream_bytes(stream, &spare, sizeof spare);
    self->cipher->expand_key(&self->spare, spare);
    TACIT_CHECK(ot_trees_send(leaves, channel, stream, self->cipher, error));
    TACIT_CHECK(agree_on_hash(&self->hash, channel, NULL, error));
    expand_keys(self->seed, self->cipher, leaves);
    *out = self;
    self = NULL;
cleanup:
    sodium_memzero(leaves, sizeof leaves);
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

typedef uint64_t words __attribute__((vector_size(16)));

/* Rows b < k: the sum of the leaves whose number has bit b. And leaf 0: the sum of all. */
static void fold(uint8_t (*rows)[ROW], uint8_t (*leaf)[ROW], size_t bytes) {
    for (size_t at = 0; at < bytes; at += sizeof(words)) {
        words part[OT_LEAVES];
        _Pragma("GCC unroll 16") for (int x = 0; x < OT_LEAVES; x++)
            memcpy(&part[x], leaf[x] + at, sizeof part[x]);
        _Pragma("GCC unroll 4") for (int b = OT_BITS - 1; b >= 0; b--) {
            const int half = 1 << b;
            words sum = part[half];
            part[0] ^= part[half];
            _Pragma("GCC unroll 16") for (int x = 1; x < half; x++) {
                sum ^= part[half + x];
                part[x] ^= part[half + x];
            }
            memcpy(rows[b] + at, &sum, sizeof sum);
        }
        memcpy(leaf[0] + at, &part[0], sizeof part[0]);
    }
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
    tacit_digest_bytes(&digest, columns, OT_GROUPS * bytes);
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
    tacit_wire rows[OT_WIDTH];
    tacit_digest digest;
    for (size_t i = 0; i < OT_WIDTH; i++)
        rows[i] = tacit_wire_xor(hash_row(matrix + i * ROW, cipher, power, bytes),
                                 tacit_wire_if(ot_bit(delta, i), shift));
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
    memset(self->leaf[0], 0, bytes); /* nobody here knows it; no row has it */
    for (size_t g = 0; g < OT_GROUPS; g++) {
        for (size_t y = 1; y < OT_LEAVES; y++)
            fill_row(self->leaf[y], self->cipher, &self->seed[g][y], self->used, bytes);
        fold(self->matrix + g * OT_BITS, self->leaf, bytes);
    }
    TACIT_TRY(tacit_channel_receive(self->channel, self->columns, OT_GROUPS * bytes, error));
    draw_point(power, &self->hash, self->used, columns, bytes);
    self->used += bytes / sizeof(tacit_wire);
    for (size_t i = 0; i < OT_WIDTH; i++)
        add_row(self->matrix[i], columns + i / OT_BITS * bytes, 0 - (uint64_t)ot_bit(self->delta, i), bytes);
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
    TACIT_TRY(tacit_channel_space(&columns, self->channel, OT_GROUPS * bytes, error));
    pack_bits(self->choices, choices, count);
    fill_row(self->choices + bytes - SPARE / 8, self->cipher, &self->spare, self->used, SPARE / 8);
    for (size_t g = 0; g < OT_GROUPS; g++) {
        for (size_t x = 0; x < OT_LEAVES; x++)
            fill_row(self->leaf[x], self->cipher, &self->seed[g][x], self->used, bytes);
        fold(self->matrix + g * OT_BITS, self->leaf, bytes);
        add_row(self->leaf[0], self->choices, UINT64_MAX, bytes);
        memcpy(columns + g * bytes, self->leaf[0], bytes);
    }
    draw_point(power, &self->hash, self->used, columns, bytes);
    self->used += bytes / sizeof(tacit_wire);
    tacit_channel_sent(self->channel, OT_GROUPS * bytes);
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
