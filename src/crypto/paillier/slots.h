/*
 * Many small signed numbers in one Paillier plaintext. A layout says how long each number may be and how many
 * may be added, and with that how wide a slot must be; then no sum can spill into its neighbour.
 *
 * Claim. Let each slot i hold s_i = sum over a = 1..A of k_a x_a, |x_a| <= X, |k_a| <= K, and let
 * w = 2 + the bits of A K X, so that |s_i| <= A K X < 2^(w-2). With at most (bits of n - 2) / w slots the
 * s_i can be read off the plaintext.
 * Proof. The plaintext is M = sum_i s_i 2^(w i) mod n, as each operation on ciphertexts (addition, or one
 * factor k for all slots) is linear. Put O = sum_i 2^(w-1) 2^(w i). M + O = sum_i (s_i + 2^(w-1)) 2^(w i),
 * whose digits in base 2^w lie between 1 and 2^w - 1: 0 <= M + O < 2^(w slots) <= 2^(bits - 2) < n. So M + O
 * mod n is this number itself, and its digits are the s_i + 2^(w-1).
 *
 * X is the declared range in units of the grid, rounded up; K = 1 without factors, else 2^(factor_bits - 1);
 * A the declared additions. Packing checks X of every value; A and K are the protocol's to keep. Unpacking
 * refuses a sum beyond A K X: for that a slot has one bit more than the claim needs, and sums up to twice the
 * bound are always seen. Beyond that they spill over, and may look like others.
 * Time does not depend on the numbers, except that an error is one.
 */
#pragma once

#include "crypto/paillier/paillier.h"

typedef struct tacit_slots {
    double range;           /* |value| <= range */
    unsigned fraction_bits; /* the grid: values are multiples of 2^-fraction_bits */
    unsigned factor_bits;   /* of the signed integers a slot is multiplied with; 0: none */
    uint64_t additions;     /* how many (products of) values are added up at most */
    int64_t most;           /* X, in units of the grid */
    unsigned slot_bits;     /* w */
    unsigned slots;         /* in a plaintext */
    uint64_t bound[2];      /* A K X, low half first */
} tacit_slots;

/* A layout for keys of this size. range > 0, additions > 0; TACIT_USAGE when a slot would be wider than 127
 * bits or the range wider than 2^62 units of the grid. */
tacit_status tacit_slots_plan(tacit_slots *out, const tacit_paillier_public *key, double range,
                              unsigned fraction_bits, unsigned factor_bits, uint64_t additions,
                              tacit_error *error);

/* The same, before there is a key. */
tacit_status tacit_slots_plan_for(tacit_slots *out, unsigned key_bits, double range, unsigned fraction_bits,
                                  unsigned factor_bits, uint64_t additions, tacit_error *error);

/* Plaintexts that `count` values take. */
size_t tacit_slots_plaintexts(const tacit_slots *layout, size_t count);

/* The nearest integer number of units; TACIT_LIMIT when the value is not finite or beyond the range. */
tacit_status tacit_slots_encode(int64_t *out, const tacit_slots *layout, const double *values, size_t count,
                                tacit_error *error);

/* Integers (units of the grid) into all of a vector of tacit_slots_plaintexts(layout, count) plaintexts;
 * slots left over hold 0. TACIT_LIMIT when one is beyond the range. */
tacit_status tacit_slots_pack(tacit_plaintexts *out, const tacit_slots *layout, const int64_t *values,
                              size_t count, tacit_error *error);

/* A signed number of 128 bits, two's complement. */
typedef struct tacit_wide {
    uint64_t low;
    int64_t high;
} tacit_wide;

/* The sums in the slots. TACIT_INPUT when one is beyond A K X. */
tacit_status tacit_slots_unpack(tacit_wide *out, const tacit_slots *layout, size_t count,
                                const tacit_plaintexts *plaintexts, tacit_error *error);
/* As 64-bit integers; TACIT_LIMIT when one does not fit. */
tacit_status tacit_slots_unpack_integers(int64_t *out, const tacit_slots *layout, size_t count,
                                         const tacit_plaintexts *plaintexts, tacit_error *error);
