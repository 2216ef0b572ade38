/* What the arithmetic circuits share. */
#pragma once

#include <stdbool.h>

#include "crypto/garble/circuits_fixed.h"

/*
 * out = a + b + carry over `width` bits, one AND a bit: with carry c into bit i,
 *     s = a ^ b ^ c,   c' = c ^ (a ^ c)(b ^ c).
 * `carry` (one wire a lane) is the carry in and, when `carries_out`, the carry out; without it the last bit
 * needs no AND. `flip` (one wire a lane, or NULL) is added to every bit of b: 1 makes ~b, for subtraction.
 */
tacit_status tacit_ripple(tacit_builder *builder, tacit_wire *out, const tacit_wire *a, const tacit_wire *b,
                          const tacit_wire *flip, tacit_wire *carry, bool carries_out, size_t width,
                          size_t lanes);

/* out = a + carry; `carry` is the carry out, too, when `carries_out`. */
tacit_status tacit_ripple_carry(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                tacit_wire *carry, bool carries_out, size_t width, size_t lanes);

/* `lanes` times the same public bit. */
void tacit_fill(tacit_wire *out, tacit_wire value, size_t count);

static inline void tacit_copy(tacit_wire *out, const tacit_wire *from, size_t count) {
    for (size_t k = 0; k < count; k++) out[k] = from[k];
}

/* A quotient of numbers that are not negative, to w - 1 bits: (w - 1)^2 gates. */
tacit_status tacit_divide_steps(tacit_builder *builder, tacit_wire *quotient, const tacit_wire *numerator,
                                const tacit_wire *divisor, tacit_fixed format, size_t lanes);
