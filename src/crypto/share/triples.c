#include "crypto/share/triples.h"

#include <sodium.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/cipher_parts.h"
#include "crypto/ot/ot.h"

enum {
    BITS = 128,
    HALF = BITS / 2,
    BLOCKS = 1 << 16,  /* sent at a time: 1 MiB */
    TOGETHER = 64,     /* products at a time, at most: 8,192 transfers */
    AT_ONCE = 16 << 10 /* bytes that every channel takes without the peer reading */
};

struct tacit_triples {
    tacit_role role;
    tacit_channel *channel;
    const tacit_cipher *cipher;
    tacit_ot_sender *sender;
    tacit_ot_receiver *receiver;
    tacit_hash_key hash;
    uint64_t tweak; /* of both directions: the labels differ */
    uint8_t choices[TOGETHER * BITS];
    tacit_wire sent[TOGETHER * BITS], received[TOGETHER * BITS]; /* q and t */
};

tacit_status tacit_exchange(void *theirs, const void *mine, size_t length, tacit_role role,
                            tacit_channel *channel, tacit_error *error) {
    bool sends_first = role == TACIT_GARBLER || length <= AT_ONCE;
    if (!sends_first) TACIT_TRY(tacit_channel_receive(channel, theirs, length, error));
    TACIT_TRY(tacit_channel_send(channel, mine, length, error));
    TACIT_TRY(tacit_channel_flush(channel, error));
    return sends_first ? tacit_channel_receive(channel, theirs, length, error) : TACIT_OK;
}

/* ---- making ---- */

static tacit_status create_sender(tacit_triples *self, tacit_stream *stream, tacit_engine engine,
                                  tacit_error *error) {
    return tacit_ot_sender_create(&self->sender, self->channel, stream, engine, error);
}

static tacit_status create_receiver(tacit_triples *self, tacit_stream *stream, tacit_engine engine,
                                    tacit_error *error) {
    return tacit_ot_receiver_create(&self->receiver, self->channel, stream, engine, error);
}

/* The sum of what both draw is the public point from which tweaks count. */
static tacit_status agree_on_hash(tacit_triples *self, tacit_stream *stream, tacit_error *error) {
    tacit_wire mine, theirs;
    tacit_stream_bytes(stream, &mine, sizeof mine);
    TACIT_TRY(tacit_exchange(&theirs, &mine, sizeof mine, self->role, self->channel, error));
    self->hash.start = tacit_wire_xor(mine, theirs);
    return TACIT_OK;
}

tacit_status tacit_triples_create(tacit_triples **out, tacit_role role, tacit_channel *channel,
                                  tacit_stream *stream, tacit_engine engine, tacit_error *error) {
    bool first = role == TACIT_GARBLER;
    tacit_triples *self = tacit_allocate_aligned((sizeof *self + 63) / 64 * 64, 1);
    if (self == NULL) return tacit_fail_memory(error);
    memset(self, 0, sizeof *self);
    tacit_status status = TACIT_OK;
    self->role = role;
    self->channel = channel;
    self->cipher = tacit_cipher_of(engine);
    TACIT_CHECK((first ? create_sender : create_receiver)(self, stream, engine, error));
    TACIT_CHECK((first ? create_receiver : create_sender)(self, stream, engine, error));
    TACIT_CHECK(agree_on_hash(self, stream, error));
    *out = self;
    self = NULL;
cleanup:
    tacit_triples_free(self);
    return status;
}

tacit_triples *tacit_triples_free(tacit_triples *triples) {
    if (triples == NULL) return NULL;
    tacit_ot_sender_free(triples->sender);
    tacit_ot_receiver_free(triples->receiver);
    sodium_memzero(triples, sizeof *triples);
    free(triples);
    return NULL;
}

/* ---- products ---- */

/* Labels for 128 transfers a product, each way; the directions take turns. */
static tacit_status transfer(tacit_triples *self, const tacit_product *products, size_t count,
                             tacit_error *error) {
    for (size_t p = 0; p < count; p++)
        for (size_t b = 0; b < BITS; b++) self->choices[p * BITS + b] = (uint8_t)(*products[p].x >> b & 1);
    for (int turn = 0; turn < 2; turn++)
        if ((turn == 0) == (self->role == TACIT_GARBLER))
            TACIT_TRY(tacit_ot_send_correlated(self->sent, count * BITS, self->sender, error));
        else
            TACIT_TRY(tacit_ot_receive_correlated(self->received, self->choices, count * BITS, self->receiver,
                                                  error));
    return TACIT_OK;
}

/* H of one label, for each entry. */
static void pads(tacit_wire *out, const tacit_triples *self, tacit_wire label, uint64_t tweak,
                 size_t length) {
    for (size_t i = 0; i < length; i++) out[i] = label;
    self->cipher->hash(out, out, &self->hash, tweak, length);
}

typedef struct room {
    tacit_wire *mine, *theirs, *pad, *other;
} room;

static tacit_share number_of(tacit_wire block) { return (tacit_share)block.half[1] << HALF | block.half[0]; }

static tacit_wire block_of(tacit_share number) {
    return (tacit_wire){ { (uint64_t)number, (uint64_t)(number >> HALF) } };
}

/* Number i of those that take half a block. */
static uint64_t half_of(const tacit_wire *blocks, size_t i) { return blocks[i / 2].half[i % 2]; }

/*
 * The low 64 bits of a choice take a block an entry. Of the high ones 2^b u has no more than its upper 64
 * bits, so half a block will do: there, numbers are those modulo 2^64 that stand for their multiple of 2^64.
 */
static size_t low_blocks(size_t length) { return HALF * length; }
static size_t high_blocks(size_t length) { return (length + 1) / 2; }
static size_t blocks_of(size_t length) { return low_blocks(length) + HALF * high_blocks(length); }

/* y of every transfer, and what the sender keeps. */
static void send_low(tacit_triples *self, const tacit_product *product, const tacit_wire *labels,
                     uint64_t tweak, tacit_wire *y, const room *at) {
    tacit_wire delta = tacit_ot_delta(self->sender);
    size_t length = product->length;
    for (size_t b = 0; b < HALF; b++, y += length, tweak += length) {
        pads(at->pad, self, labels[b], tweak, length);
        pads(at->other, self, tacit_wire_xor(labels[b], delta), tweak, length);
        for (size_t i = 0; i < length; i++) {
            tacit_share pad = number_of(at->pad[i]);
            product->out[i * product->out_step] -= pad;
            y[i] = block_of(pad + (product->u[i * product->u_step] << b) - number_of(at->other[i]));
        }
    }
}

static void send_high(tacit_triples *self, const tacit_product *product, const tacit_wire *labels,
                      uint64_t tweak, tacit_wire *y, const room *at) {
    tacit_wire delta = tacit_ot_delta(self->sender);
    size_t length = product->length, blocks = high_blocks(length);
    for (size_t b = 0; b < HALF; b++, y += blocks, tweak += blocks) {
        pads(at->pad, self, labels[b], tweak, blocks);
        pads(at->other, self, tacit_wire_xor(labels[b], delta), tweak, blocks);
        for (size_t i = 0; i < length; i++) {
            uint64_t pad = half_of(at->pad, i);
            product->out[i * product->out_step] -= (tacit_share)pad << HALF;
            y[i / 2].half[i % 2] =
                pad + ((uint64_t)product->u[i * product->u_step] << b) - half_of(at->other, i);
        }
        if (length % 2 == 1) y[length / 2].half[1] = 0;
    }
}

static void receive_low(tacit_triples *self, const tacit_product *product, const tacit_wire *labels,
                        const uint8_t *choices, uint64_t tweak, const tacit_wire *y, const room *at) {
    size_t length = product->length;
    for (size_t b = 0; b < HALF; b++, y += length, tweak += length) {
        tacit_share mask = -(tacit_share)choices[b];
        pads(at->pad, self, labels[b], tweak, length);
        for (size_t i = 0; i < length; i++)
            product->out[i * product->out_step] += number_of(at->pad[i]) + (number_of(y[i]) & mask);
    }
}

static void receive_high(tacit_triples *self, const tacit_product *product, const tacit_wire *labels,
                         const uint8_t *choices, uint64_t tweak, const tacit_wire *y, const room *at) {
    size_t length = product->length, blocks = high_blocks(length);
    for (size_t b = 0; b < HALF; b++, y += blocks, tweak += blocks) {
        uint64_t mask = -(uint64_t)choices[b];
        pads(at->pad, self, labels[b], tweak, blocks);
        for (size_t i = 0; i < length; i++)
            product->out[i * product->out_step] += (tacit_share)(half_of(at->pad, i) + (half_of(y, i) & mask))
                                                   << HALF;
    }
}

static void send_part(tacit_triples *self, const tacit_product *product, const tacit_wire *labels,
                      uint64_t tweak, tacit_wire *y, const room *at) {
    size_t low = low_blocks(product->length);
    send_low(self, product, labels, tweak, y, at);
    send_high(self, product, labels + HALF, tweak + low, y + low, at);
}

static void receive_part(tacit_triples *self, const tacit_product *product, const tacit_wire *labels,
                         const uint8_t *choices, uint64_t tweak, const tacit_wire *y, const room *at) {
    size_t low = low_blocks(product->length);
    receive_low(self, product, labels, choices, tweak, y, at);
    receive_high(self, product, labels + HALF, choices + HALF, tweak + low, y + low, at);
}

static void multiply_own(const tacit_product *product) {
    for (size_t i = 0; i < product->length; i++)
        product->out[i * product->out_step] += *product->x * product->u[i * product->u_step];
}

static tacit_status multiply_some(tacit_triples *self, const tacit_product *products, size_t count,
                                  const room *at, tacit_error *error) {
    TACIT_TRY(transfer(self, products, count, error));
    size_t blocks = 0;
    for (size_t p = 0; p < count; p++) {
        multiply_own(&products[p]);
        send_part(self, &products[p], self->sent + p * BITS, self->tweak + blocks, at->mine + blocks, at);
        blocks += blocks_of(products[p].length);
    }
    TACIT_TRY(
        tacit_exchange(at->theirs, at->mine, blocks * sizeof *at->mine, self->role, self->channel, error));
    blocks = 0;
    for (size_t p = 0; p < count; p++) {
        receive_part(self, &products[p], self->received + p * BITS, self->choices + p * BITS,
                     self->tweak + blocks, at->theirs + blocks, at);
        blocks += blocks_of(products[p].length);
    }
    self->tweak += blocks;
    return TACIT_OK;
}

static size_t longest_of(const tacit_product *products, size_t count) {
    size_t longest = 1;
    for (size_t p = 0; p < count; p++)
        if (products[p].length > longest) longest = products[p].length;
    return longest;
}

/* How many of the products go together. */
static size_t together(const tacit_product *products, size_t count) {
    size_t some = 0, blocks = 0;
    while (some < count && some < TOGETHER &&
           (some == 0 || blocks + blocks_of(products[some].length) <= BLOCKS))
        blocks += blocks_of(products[some++].length);
    return some;
}

tacit_status tacit_triples_multiply(tacit_triples *triples, const tacit_product *products, size_t count,
                                    tacit_error *error) {
    size_t longest = longest_of(products, count);
    size_t blocks = blocks_of(longest) > BLOCKS ? blocks_of(longest) : BLOCKS, all = 2 * blocks + 2 * longest;
    tacit_wire *memory = tacit_allocate_aligned(all, sizeof *memory);
    if (memory == NULL) return tacit_fail_memory(error);
    room at = { memory, memory + blocks, memory + 2 * blocks, memory + 2 * blocks + longest };
    tacit_status status = TACIT_OK;
    for (size_t done = 0, some = 0; done < count && status == TACIT_OK; done += some) {
        some = together(products + done, count - done);
        status = multiply_some(triples, products + done, some, &at, error);
    }
    sodium_memzero(memory, all * sizeof *memory);
    free(memory);
    return status;
}
