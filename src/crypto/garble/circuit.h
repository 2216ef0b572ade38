/*
 * Circuits are code. A circuit is a function that calls the gates below on a builder; the same function
 * garbles, evaluates, computes in the clear or counts, depending on who made the builder:
 *
 *     tacit_garbler_create, tacit_evaluator_create (crypto/garble/garble.h)     two parties over a channel
 *     tacit_plain_create                                                  values in the clear: tests, gate
 *                                                                         counts
 *
 * Nothing of a circuit is stored: memory holds the wires that the function holds. Both parties run the same
 * function with the same sizes; its control flow may depend on public numbers only, never on wires (it
 * cannot: they are labels).
 *
 *  - XOR and NOT are free, AND costs 32 bytes and a few dozen cycles. A call of AND with count > 1 is `count`
 *    independent gates, which run in lockstep, four to an instruction where the processor can: write circuits
 *    so that what is independent shares a call.
 *  - Inputs belong to one of the two roles; the bits are given by that one, the other passes NULL (in the
 *    clear both are given; NULL is zeros). Bits are bytes 0 or 1.
 *  - A call that fails leaves one sentence in builder->error, and a circuit just returns the status; its
 *    scratch goes with the builder, which is of no more use.
 *  - Arrays may overlap only where they are the same array.
 */
#pragma once

#include "base/error.h"
#include "crypto/label.h"

typedef enum tacit_role { TACIT_GARBLER = 1, TACIT_EVALUATOR = 2, TACIT_BOTH = 3 } tacit_role;

typedef struct tacit_builder tacit_builder;

/* What a kind of builder does. */
typedef struct tacit_builder_kind {
    tacit_status (*and_gates)(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                              const tacit_wire *b, size_t count);
    tacit_status (*input)(tacit_builder *builder, tacit_role owner, tacit_wire *out, const uint8_t *bits,
                          size_t count);
    tacit_status (*reveal)(tacit_builder *builder, tacit_role to, uint8_t *bits, const tacit_wire *wires,
                           size_t count);
    tacit_status (*finish)(tacit_builder *builder);
    void (*free)(tacit_builder *builder);
} tacit_builder_kind;

struct tacit_scratch_block;

typedef struct tacit_scratch_mark {
    struct tacit_scratch_block *block;
    size_t used;
} tacit_scratch_mark;

struct tacit_builder {
    const tacit_builder_kind *kind;
    tacit_wire one;      /* the constant 1, and what NOT adds */
    uint64_t and_count;  /* gates so far */
    uint64_t call_count; /* calls they came in */
    tacit_scratch_mark scratch;
    tacit_error error; /* the first failure */
};

/* ---- gates ---- */

/* out[k] = a[k] AND b[k] */
tacit_status tacit_and(tacit_builder *builder, tacit_wire *out, const tacit_wire *a, const tacit_wire *b,
                       size_t count);

static inline void tacit_xor(tacit_wire *out, const tacit_wire *a, const tacit_wire *b, size_t count) {
    for (size_t k = 0; k < count; k++) out[k] = tacit_wire_xor(a[k], b[k]);
}

static inline void tacit_not(const tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                             size_t count) {
    for (size_t k = 0; k < count; k++) out[k] = tacit_wire_xor(a[k], builder->one);
}

/* Public constants: zero is the label that is all zeros for both. */
static inline tacit_wire tacit_constant(const tacit_builder *builder, unsigned bit) {
    return tacit_wire_if(bit, builder->one);
}

tacit_status tacit_input_wires(tacit_builder *builder, tacit_role owner, tacit_wire *out, const uint8_t *bits,
                               size_t count);

/* Open wires to one role or to both. Out: the bits, for who may see them; the other passes NULL. */
tacit_status tacit_reveal(tacit_builder *builder, tacit_role to, uint8_t *bits, const tacit_wire *wires,
                          size_t count);

/* All that was garbled has left, all that came has been used. Call it when the circuit is done. */
tacit_status tacit_finish(tacit_builder *builder);

/* ---- scratch: wires that live until the mark is released ---- */

tacit_scratch_mark tacit_scratch_here(const tacit_builder *builder);

/* `count` wires, not initialised; NULL, with the error noted, when memory is out. */
tacit_wire *tacit_scratch(tacit_builder *builder, size_t count);
void tacit_scratch_release(tacit_builder *builder, tacit_scratch_mark mark);

/* ---- making and freeing ---- */

tacit_status tacit_plain_create(tacit_builder **out, tacit_error *error);
tacit_builder *tacit_builder_free(tacit_builder *builder);
