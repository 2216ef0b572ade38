/*
 * The field of 2^128 elements, polynomials modulo x^128 + x^7 + x^2 + x + 1; bit i of a wire is the
 * coefficient of x^i. Here without special instructions, in constant time.
 *
 * Carry-less products of 64 bits by integer multiplication with holes (after Pornin, BearSSL, ctmul64): of
 * every fourth bit at most 16 products meet, and their carries stay below the next one in the low 64 bits,
 * which is all that is kept; the upper half is the low one of the reversed factors.
 */
#pragma once

#include "crypto/label.h"

static inline uint64_t tacit_carryless_low(uint64_t x, uint64_t y) {
    const uint64_t hole = UINT64_C(0x1111111111111111);
    uint64_t a[4], b[4], out = 0;
    for (int i = 0; i < 4; i++) {
        a[i] = x & hole << i;
        b[i] = y & hole << i;
    }
    for (int i = 0; i < 4; i++) {
        uint64_t sum = 0;
        for (int j = 0; j < 4; j++) sum ^= a[j] * b[(i - j) & 3];
        out |= sum & hole << i;
    }
    return out;
}

static inline uint64_t tacit_reversed_bits(uint64_t x) {
    static const uint64_t mask[3] = { UINT64_C(0x5555555555555555), UINT64_C(0x3333333333333333),
                                      UINT64_C(0x0f0f0f0f0f0f0f0f) };
    for (int i = 0; i < 3; i++) x = (x >> (1 << i) & mask[i]) | (x & mask[i]) << (1 << i);
    return __builtin_bswap64(x);
}

/* Low half first. */
static inline tacit_wire tacit_carryless(uint64_t x, uint64_t y) {
    uint64_t high = tacit_reversed_bits(tacit_carryless_low(tacit_reversed_bits(x), tacit_reversed_bits(y)));
    return (tacit_wire){ { tacit_carryless_low(x, y), high >> 1 } };
}

static inline tacit_wire tacit_field_multiply(tacit_wire a, tacit_wire b) {
    tacit_wire low = tacit_carryless(a.half[0], b.half[0]), high = tacit_carryless(a.half[1], b.half[1]);
    tacit_wire middle = tacit_carryless(a.half[0] ^ a.half[1], b.half[0] ^ b.half[1]);
    middle = tacit_wire_xor(middle, tacit_wire_xor(low, high));
    low.half[1] ^= middle.half[0];
    high.half[0] ^= middle.half[1];
    /* x^128 = x^7 + x^2 + x + 1, first for the topmost 64 bits. */
    tacit_wire top = tacit_carryless(high.half[1], 0x87);
    low.half[1] ^= top.half[0];
    tacit_wire next = tacit_carryless(high.half[0] ^ top.half[1], 0x87);
    return tacit_wire_xor(low, next);
}
