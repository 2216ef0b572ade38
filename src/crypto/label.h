/*
 * A wire of a circuit is its label: 128 bits. For the garbler it is the label of zero, for the evaluator the
 * label of the value it holds, for the plain builder the value itself in the lowest bit. XOR of labels is
 * therefore XOR of wires for all three (free XOR), and costs no call.
 *
 * The lowest bit of half[0] is the colour (point and permute).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Labels go to the wire as they lie in memory. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a little-endian machine");

typedef struct tacit_wire {
    _Alignas(16) uint64_t half[2];
} tacit_wire;

static inline tacit_wire tacit_wire_xor(tacit_wire a, tacit_wire b) {
    return (tacit_wire){ { a.half[0] ^ b.half[0], a.half[1] ^ b.half[1] } };
}

/* The wire when `bit` is 1, all zeros when it is 0; without a branch. */
static inline tacit_wire tacit_wire_if(uint64_t bit, tacit_wire a) {
    uint64_t mask = 0 - (bit & 1);
    return (tacit_wire){ { a.half[0] & mask, a.half[1] & mask } };
}

static inline uint8_t tacit_wire_colour(tacit_wire a) { return (uint8_t)(a.half[0] & 1); }
