/*
 * Signed fixed-point numbers: w bits in two's complement, the low f of them behind the point; the value is
 * bits / 2^f. The two centers use 64 and 32. Adding, subtracting, comparing and choosing are those of words.
 * Lanes as in circuits_word.h; counts are AND gates a lane at 64 and 32.
 *
 * What does not fit: products keep the low w bits. A quotient is meaningless, as everything after it, when
 * the divisor is zero or the quotient is 2^(w-1-f) or more; so is the root of a negative number. Nothing else
 * happens: a circuit cannot tell its runners. Scale so that it does not occur.
 */
#pragma once

#include "crypto/garble/circuit.h"

typedef struct tacit_fixed {
    size_t width, fraction; /* fraction < width */
} tacit_fixed;

static const tacit_fixed tacit_fixed_center = { 64, 32 };

/* a b, rounded down to a multiple of 2^-f: 5,342 */
tacit_status tacit_fixed_multiply(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                  const tacit_wire *b, tacit_fixed format, size_t lanes);

/* a / b, rounded towards zero: 4,158 */
tacit_status tacit_fixed_divide(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                const tacit_wire *b, tacit_fixed format, size_t lanes);

/* The square root of a >= 0, rounded down: 1,159 */
tacit_status tacit_fixed_root(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                              tacit_fixed format, size_t lanes);

/* a > 0 shifted to the left until its highest bit but the sign's is 1, and by how many bits: 64 and 6 wires a
 * lane, TACIT_SHIFT_BITS. Of 0 it is 0, and all shifts: 435 */
enum { TACIT_SHIFT_BITS = 6 };
tacit_status tacit_fixed_normalise(tacit_builder *builder, tacit_wire *out, tacit_wire *shift,
                                   const tacit_wire *a, size_t width, size_t lanes);
