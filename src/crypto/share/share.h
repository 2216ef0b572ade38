/*
 * Additive shares: a number x is x_A + x_B modulo 2^128, x_A with one server and x_B with the other, each
 * uniform or masked by a uniform number. Fixed-point numbers of f bits behind the point are the integers x
 * 2^f, signed.
 *
 * Why 128 bits: a product of two numbers with 32 bits behind the point has 64, and so still has 64 before it.
 * Then each server can drop bits of its own share, without a word (tacit_shares_drop).
 *
 * Sums, differences and multiples by public integers are computed by each on its own shares.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "crypto/garble/circuit.h"

__extension__ typedef unsigned __int128 tacit_share;
__extension__ typedef __int128 tacit_signed_share;

static inline tacit_share tacit_share_of(int64_t value) { return (tacit_share)(tacit_signed_share)value; }

static inline void tacit_shares_add(tacit_share *out, const tacit_share *a, const tacit_share *b,
                                    size_t count) {
    for (size_t k = 0; k < count; k++) out[k] = a[k] + b[k];
}

static inline void tacit_shares_subtract(tacit_share *out, const tacit_share *a, const tacit_share *b,
                                         size_t count) {
    for (size_t k = 0; k < count; k++) out[k] = a[k] - b[k];
}

/* Times a public integer; drop bits afterwards when it has a fraction. */
static inline void tacit_shares_scale(tacit_share *out, const tacit_share *a, int64_t factor, size_t count) {
    for (size_t k = 0; k < count; k++) out[k] = a[k] * tacit_share_of(factor);
}

/*
 * Divide by 2^bits (Mohassel and Zhang 2017). The result is floor(x / 2^bits) or one more, unless x_A wrapped
 * around: with |x| < 2^m and a uniform share that happens with probability 2^(m + 1 - 128), and then the
 * result is off by 2^(128 - bits). Claim. With x_A uniform and x_B = x - x_A: x_A >> bits and -((-x_B) >>
 * bits) add up to it. Proof. Put y = -x_B mod 2^128 = x_A - x mod 2^128. If 0 <= x_A - x < 2^128 as integers,
 * then y = x_A - x, and floor(x_A / 2^b) - floor((x_A - x) / 2^b) is floor(x / 2^b) or one more. Otherwise
 * x_A lies within |x| of an end.
 */
static inline void tacit_shares_drop(tacit_share *shares, unsigned bits, size_t count, tacit_role role) {
    for (size_t k = 0; k < count; k++)
        shares[k] = role == TACIT_GARBLER ? shares[k] >> bits : -((-shares[k]) >> bits);
}
