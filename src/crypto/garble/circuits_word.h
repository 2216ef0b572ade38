/*
 * Circuits on words: `lanes` independent numbers of `width` bits that go through the same operation in
 * lockstep. Bit i of lane l is wires[i * lanes + l], the lowest bit first, so that a step on all lanes is one
 * call of AND; eight lanes or more keep the processor busy. Signed numbers are in two's complement.
 *
 * Counts are AND gates a lane, w the width; the tests hold them. `out` may be an operand.
 */
#pragma once

#include "crypto/garble/circuit.h"

/* Words as bits of inputs and outputs, and back; the low `width` bits of each value. */
void tacit_word_to_bits(uint8_t *bits, const uint64_t *values, size_t width, size_t lanes);
void tacit_word_from_bits(uint64_t *values, const uint8_t *bits, size_t width, size_t lanes);

/* a + b and a - b modulo 2^w: w - 1 */
tacit_status tacit_word_add(tacit_builder *builder, tacit_wire *out, const tacit_wire *a, const tacit_wire *b,
                            size_t width, size_t lanes);
tacit_status tacit_word_subtract(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                 const tacit_wire *b, size_t width, size_t lanes);

/* -a in the lanes where `sign` is 1, a in the others, modulo 2^w: w - 1 */
tacit_status tacit_word_negate_if(tacit_builder *builder, tacit_wire *out, const tacit_wire *sign,
                                  const tacit_wire *a, size_t width, size_t lanes);

/* One wire a lane: a < b: w; a = b: w - 1. */
tacit_status tacit_word_less_unsigned(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                      const tacit_wire *b, size_t width, size_t lanes);
tacit_status tacit_word_less(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                             const tacit_wire *b, size_t width, size_t lanes);
tacit_status tacit_word_equal(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                              const tacit_wire *b, size_t width, size_t lanes);

/* a where `choice` is 1, else b: w */
tacit_status tacit_word_select(tacit_builder *builder, tacit_wire *out, const tacit_wire *choice,
                               const tacit_wire *a, const tacit_wire *b, size_t width, size_t lanes);

/* The whole product of unsigned numbers, 2w bits; `out` is no operand. Karatsuba down to 8 bits for even
 * widths from 16 on, else row by row: 2w^2 - w up to 8 bits, 464 for 16, 1,600 for 32, 5,216 for 64. */
tacit_status tacit_word_multiply(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                 const tacit_wire *b, size_t width, size_t lanes);
