/* The two builders of Yao's protocol. What one sends in a function, the other receives in its counterpart
 * below it. */
#include "crypto/garble/garble.h"

#include <sodium.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/cipher_parts.h"
#include "crypto/ot/ot.h"

enum {
    BATCH = TACIT_CHANNEL_CHUNK / TACIT_GATE_BYTES / 4, /* gates whose tables are made or read at a time */
    INPUTS = 1024,                                      /* inputs or outputs at a time */
    VERSION = 2
};

typedef struct greeting {
    uint8_t name[8]; /* "tacit-y" */
    uint8_t version, fixed_key, zero[6];
    tacit_wire start;
} greeting;

typedef struct garble_builder {
    tacit_builder base;
    tacit_channel *channel;
    const tacit_cipher *cipher;
    tacit_hash_key hash;
    uint64_t tweak; /* of the next gate */
    tacit_stream own, *stream;
    tacit_ot_sender *sender;     /* the garbler's */
    tacit_ot_receiver *receiver; /* the evaluator's */
} garble_builder;

static tacit_error *error_of(garble_builder *self) { return &self->base.error; }

tacit_garble_settings tacit_garble_defaults(void) {
    return (tacit_garble_settings){ .engine = tacit_engine_best(), .fixed_key = false, .stream = NULL };
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* ---- gates ---- */

static tacit_status garbler_and(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                const tacit_wire *b, size_t count) {
    garble_builder *self = (garble_builder *)builder;
    for (size_t at = 0; at < count; at += BATCH) {
        size_t part = smaller(count - at, BATCH);
        uint8_t *table = NULL;
        TACIT_TRY(tacit_channel_space(&table, self->channel, part * TACIT_GATE_BYTES, error_of(self)));
        self->cipher->garble(out + at, table, a + at, b + at, builder->one, &self->hash, self->tweak, part);
        self->tweak += 2 * part;
        tacit_channel_sent(self->channel, part * TACIT_GATE_BYTES);
    }
    return TACIT_OK;
}

static tacit_status evaluator_and(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                  const tacit_wire *b, size_t count) {
    garble_builder *self = (garble_builder *)builder;
    for (size_t at = 0; at < count; at += BATCH) {
        size_t part = smaller(count - at, BATCH);
        const uint8_t *table = NULL;
        TACIT_TRY(tacit_channel_take(&table, self->channel, part * TACIT_GATE_BYTES, error_of(self)));
        self->cipher->evaluate(out + at, table, a + at, b + at, &self->hash, self->tweak, part);
        self->tweak += 2 * part;
    }
    return TACIT_OK;
}

/* ---- inputs ---- */

/* The garbler's own: fresh labels of zero, and to the evaluator the label of the bit. */
static tacit_status garbler_input_own(garble_builder *self, tacit_wire *out, const uint8_t *bits,
                                      size_t count) {
    for (size_t at = 0; at < count; at += INPUTS) {
        size_t part = smaller(count - at, INPUTS);
        tacit_wire labels[INPUTS];
        tacit_stream_bytes(self->stream, out + at, part * sizeof *out);
        for (size_t k = 0; k < part; k++)
            labels[k] = tacit_wire_xor(out[at + k], tacit_wire_if(bits[at + k], self->base.one));
        TACIT_TRY(tacit_channel_send(self->channel, labels, part * sizeof *labels, error_of(self)));
    }
    return TACIT_OK;
}

static tacit_status garbler_input(tacit_builder *builder, tacit_role owner, tacit_wire *out,
                                  const uint8_t *bits, size_t count) {
    garble_builder *self = (garble_builder *)builder;
    if (owner == TACIT_GARBLER && bits != NULL) return garbler_input_own(self, out, bits, count);
    if (owner == TACIT_EVALUATOR) return tacit_ot_send_correlated(out, count, self->sender, error_of(self));
    return tacit_fail(error_of(self), TACIT_USAGE, "an input belongs to one role, which gives its bits");
}

static tacit_status evaluator_input(tacit_builder *builder, tacit_role owner, tacit_wire *out,
                                    const uint8_t *bits, size_t count) {
    garble_builder *self = (garble_builder *)builder;
    if (owner == TACIT_GARBLER)
        return tacit_channel_receive(self->channel, out, count * sizeof *out, error_of(self));
    if (owner == TACIT_EVALUATOR && bits != NULL)
        return tacit_ot_receive_correlated(out, bits, count, self->receiver, error_of(self));
    return tacit_fail(error_of(self), TACIT_USAGE, "an input belongs to one role, which gives its bits");
}

/* ---- outputs: a bit is the colour of its label xor the colour of the label of zero ---- */

static tacit_status send_colours(garble_builder *self, const tacit_wire *wires, size_t count) {
    for (size_t at = 0; at < count; at += INPUTS) {
        size_t part = smaller(count - at, INPUTS);
        uint8_t colours[INPUTS / 8] = { 0 };
        for (size_t k = 0; k < part; k++)
            colours[k / 8] |= (uint8_t)(tacit_wire_colour(wires[at + k]) << k % 8);
        TACIT_TRY(tacit_channel_send(self->channel, colours, (part + 7) / 8, error_of(self)));
    }
    return tacit_channel_flush(self->channel, error_of(self));
}

/* Wires of this end, colours of the other. */
static tacit_status receive_colours(uint8_t *bits, garble_builder *self, const tacit_wire *wires,
                                    size_t count) {
    for (size_t at = 0; at < count; at += INPUTS) {
        size_t part = smaller(count - at, INPUTS);
        uint8_t colours[INPUTS / 8];
        TACIT_TRY(tacit_channel_receive(self->channel, colours, (part + 7) / 8, error_of(self)));
        for (size_t k = 0; k < part && bits != NULL; k++)
            bits[at + k] = tacit_wire_colour(wires[at + k]) ^ (colours[k / 8] >> k % 8 & 1);
    }
    return TACIT_OK;
}

static tacit_status garbler_reveal(tacit_builder *builder, tacit_role to, uint8_t *bits,
                                   const tacit_wire *wires, size_t count) {
    garble_builder *self = (garble_builder *)builder;
    if ((to & TACIT_EVALUATOR) != 0) TACIT_TRY(send_colours(self, wires, count));
    if ((to & TACIT_GARBLER) != 0) TACIT_TRY(receive_colours(bits, self, wires, count));
    return TACIT_OK;
}

static tacit_status evaluator_reveal(tacit_builder *builder, tacit_role to, uint8_t *bits,
                                     const tacit_wire *wires, size_t count) {
    garble_builder *self = (garble_builder *)builder;
    if ((to & TACIT_EVALUATOR) != 0) TACIT_TRY(receive_colours(bits, self, wires, count));
    if ((to & TACIT_GARBLER) != 0) TACIT_TRY(send_colours(self, wires, count));
    return TACIT_OK;
}

/* ---- the end: a word that both must have come to, after the same number of gates ---- */

static tacit_status garbler_finish(tacit_builder *builder) {
    garble_builder *self = (garble_builder *)builder;
    TACIT_TRY(
        tacit_channel_send(self->channel, &builder->and_count, sizeof builder->and_count, error_of(self)));
    return tacit_channel_flush(self->channel, error_of(self));
}

static tacit_status evaluator_finish(tacit_builder *builder) {
    garble_builder *self = (garble_builder *)builder;
    uint64_t theirs = 0;
    TACIT_TRY(tacit_channel_receive(self->channel, &theirs, sizeof theirs, error_of(self)));
    if (theirs == builder->and_count) return TACIT_OK;
    return tacit_fail(error_of(self), TACIT_PROTOCOL, "the garbler ran another circuit than this end");
}

/* ---- the beginning ---- */

static void garble_free(tacit_builder *builder) {
    garble_builder *self = (garble_builder *)builder;
    tacit_ot_sender_free(self->sender);
    tacit_ot_receiver_free(self->receiver);
    sodium_memzero(self, sizeof *self);
    free(self);
}

static const tacit_builder_kind garbler_kind = { garbler_and, garbler_input, garbler_reveal, garbler_finish,
                                                 garble_free };
static const tacit_builder_kind evaluator_kind = { evaluator_and, evaluator_input, evaluator_reveal,
                                                   evaluator_finish, garble_free };

static tacit_status check_engine(const tacit_garble_settings *settings, tacit_error *error) {
    if (tacit_engine_available(settings->engine)) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE, "this processor cannot run the %s engine; use tacit_engine_best",
                      tacit_engine_name(settings->engine));
}

/* NULL when memory is out. */
static garble_builder *start(const tacit_builder_kind *kind, tacit_channel *channel,
                             const tacit_garble_settings *settings) {
    garble_builder *self = tacit_allocate_aligned((sizeof *self + 63) / 64 * 64, 1);
    if (self == NULL) return NULL;
    memset(self, 0, sizeof *self);
    self->base.kind = kind;
    self->channel = channel;
    self->cipher = tacit_cipher_of(settings->engine);
    self->stream = settings->stream;
    if (self->stream == NULL) {
        self->own = tacit_stream_from_entropy();
        self->stream = &self->own;
    }
    return self;
}

static void use_hash(garble_builder *self, tacit_wire start_at, bool fixed_key) {
    self->hash.start = start_at;
    self->hash.is_fixed = fixed_key;
    self->cipher->expand_key(&self->hash.fixed, start_at);
}

tacit_status tacit_garbler_create(tacit_builder **out, tacit_channel *channel,
                                  const tacit_garble_settings *settings, tacit_error *error) {
    TACIT_TRY(check_engine(settings, error));
    garble_builder *self = start(&garbler_kind, channel, settings);
    if (self == NULL) return tacit_fail_memory(error);
    tacit_status status = TACIT_OK;
    greeting hello = { .name = "tacit-y", .version = VERSION, .fixed_key = settings->fixed_key };
    tacit_stream_bytes(self->stream, &hello.start, sizeof hello.start);
    use_hash(self, hello.start, settings->fixed_key);
    TACIT_CHECK(tacit_channel_send(channel, &hello, sizeof hello, error));
    TACIT_CHECK(tacit_ot_sender_create(&self->sender, channel, self->stream, settings->engine, error));
    self->base.one = tacit_ot_delta(self->sender);
    *out = &self->base;
    self = NULL;
cleanup:
    tacit_builder_free(self == NULL ? NULL : &self->base);
    return status;
}

tacit_status tacit_evaluator_create(tacit_builder **out, tacit_channel *channel,
                                    const tacit_garble_settings *settings, tacit_error *error) {
    TACIT_TRY(check_engine(settings, error));
    garble_builder *self = start(&evaluator_kind, channel, settings);
    if (self == NULL) return tacit_fail_memory(error);
    tacit_status status = TACIT_OK;
    greeting hello, expected = { .name = "tacit-y", .version = VERSION, .fixed_key = settings->fixed_key };
    TACIT_CHECK(tacit_channel_receive(channel, &hello, sizeof hello, error));
    if (memcmp(&hello, &expected, offsetof(greeting, start)) != 0)
        TACIT_CHECK(
            tacit_fail(error, TACIT_PROTOCOL,
                       "the peer does not garble as this end expects; use the same version and hash"));
    use_hash(self, hello.start, settings->fixed_key);
    TACIT_CHECK(tacit_ot_receiver_create(&self->receiver, channel, self->stream, settings->engine, error));
    *out = &self->base;
    self = NULL;
cleanup:
    tacit_builder_free(self == NULL ? NULL : &self->base);
    return status;
}
