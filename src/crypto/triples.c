#include "crypto/triples.h"

#include <sodium.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/cipher_parts.h"
#include "crypto/ot.h"

enum {
    BITS = 128,
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
    tacit_wire sent[TOGETHER * BITS], received[TOGETHER * BITS]; /* q; t */
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
static void pads(tacit_share *out, const tacit_triples *self, tacit_wire label, uint64_t tweak,
                 size_t length) {
    tacit_wire *wires = (tacit_wire *)(void *)out;
    for (size_t i = 0; i < length; i++) wires[i] = label;
    self->cipher->hash(wires, wires, &self->hash, tweak, length);
}

typedef struct room {
    tacit_share *mine, *theirs, *pad, *other;
} room;

/* y of every transfer, and what the sender keeps. */
static void send_part(tacit_triples *self, const tacit_product *product, const tacit_wire *labels,
                      uint64_t tweak, tacit_share *y, const room *at) {
    tacit_wire delta = tacit_ot_delta(self->sender);
    for (size_t b = 0; b < BITS; b++) {
        pads(at->pad, self, labels[b], tweak + b * product->length, product->length);
        pads(at->other, self, tacit_wire_xor(labels[b], delta), tweak + b * product->length, product->length);
        for (size_t i = 0; i < product->length; i++) {
            product->out[i * product->out_step] -= at->pad[i];
            y[b * product->length + i] = at->pad[i] + (product->u[i * product->u_step] << b) - at->other[i];
        }
    }
}

static void receive_part(tacit_triples *self, const tacit_product *product, const tacit_wire *labels,
                         const uint8_t *choices, uint64_t tweak, const tacit_share *y, const room *at) {
    for (size_t b = 0; b < BITS; b++) {
        tacit_share mask = -(tacit_share)choices[b];
        pads(at->pad, self, labels[b], tweak + b * product->length, product->length);
        for (size_t i = 0; i < product->length; i++)
            product->out[i * product->out_step] += at->pad[i] + (y[b * product->length + i] & mask);
    }
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
        blocks += BITS * products[p].length;
    }
    TACIT_TRY(
        tacit_exchange(at->theirs, at->mine, blocks * sizeof *at->mine, self->role, self->channel, error));
    blocks = 0;
    for (size_t p = 0; p < count; p++) {
        receive_part(self, &products[p], self->received + p * BITS, self->choices + p * BITS,
                     self->tweak + blocks, at->theirs + blocks, at);
        blocks += BITS * products[p].length;
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
    while (some < count && some < TOGETHER && (some == 0 || blocks + BITS * products[some].length <= BLOCKS))
        blocks += BITS * products[some++].length;
    return some;
}

tacit_status tacit_triples_multiply(tacit_triples *triples, const tacit_product *products, size_t count,
                                    tacit_error *error) {
    size_t longest = longest_of(products, count);
    size_t blocks = longest * BITS > BLOCKS ? longest * BITS : BLOCKS, all = 2 * blocks + 2 * longest;
    tacit_share *memory = tacit_allocate_aligned(all, sizeof *memory);
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
