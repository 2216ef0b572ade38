/*
 * Between the three forms in which two servers hold a number: a Paillier ciphertext at server A (the garbler)
 * whose key server B (the evaluator) has, additive shares (share.h), and wires of a garbled circuit
 * (circuit.h). Each passage opens the number to one server under a mask of the other.
 *
 * Ciphertexts to shares. A adds to each slot a mask r, uniform on [0, 2^m), where m = 41 + the bits of V, |x|
 * <= V; re-randomises, and sends. B decrypts x + r.
 * Claim. What B sees of a slot is within 2^-40 of the same whatever x is. Proof. For two numbers x, x' the
 * distributions of x + r and x' + r are uniform on intervals of 2^m integers shifted by |x - x'| <= 2V <
 * 2^(m-40), so their statistical distance is |x - x'| / 2^m < 2^-40. The slot holds |x + r| <= 2^m + V <=
 * 2^43 V: it is planned for 2^43 times the sums. Ciphertexts are re-randomised, so nothing else of where they
 * come from is in them. B's share is (x + r) >> t, A's -(r >> t): these are integers, so no sum wraps, and
 * they add up to floor(x / 2^t) or one more, always. A uniform number that both know is added to one and
 * taken from the other, as tacit_shares_drop wants shares that are uniform each.
 *
 * Shares to wires: each server's share is its input, and the circuit adds. Nothing is opened. Wires to
 * shares: A draws a uniform mask modulo 2^128, its share; the circuit subtracts it and reveals the rest to B.
 * Perfectly hidden.
 *
 * Shares to ciphertexts, under any key. The circuit adds to x, |x| <= V, a mask r of A as above and reveals x
 * + r to B, who encrypts it and sends it to A, who subtracts r under encryption. B sees the same as above; A
 * sees a fresh encryption.
 *
 * Both servers call the same function with the same sizes at the same time; lengths are known beforehand, and
 * what does not have them, or is no ciphertext, is TACIT_PROTOCOL or TACIT_INPUT. Deadlines are the
 * channel's.
 */
#pragma once

#include "crypto/garble/circuit.h"
#include "crypto/garble/circuits_fixed.h"
#include "crypto/paillier/slots.h"
#include "crypto/share/share.h"
#include "net/channel.h"
#include "rand/stream.h"

enum { TACIT_MASK_BITS = 40 }; /* statistical security */

/* Slots for sums that are to be masked: as tacit_slots_plan, and room for the masks. Nodes pack with
 * `slots`. */
typedef struct tacit_masked_slots {
    tacit_slots slots;
    unsigned mask_bits; /* m */
} tacit_masked_slots;

/* TACIT_USAGE as tacit_slots_plan, and when there are 2^20 additions or more. */
tacit_status tacit_masked_slots_plan(tacit_masked_slots *out, const tacit_paillier_public *key, double range,
                                     unsigned fraction_bits, unsigned factor_bits, uint64_t additions,
                                     tacit_error *error);

/* What a conversion needs of a server. */
typedef struct tacit_converter {
    tacit_role role;
    tacit_channel *channel;
    tacit_stream *stream;   /* masks */
    tacit_entropy *entropy; /* randomness of encryption */
    tacit_pool *pool;       /* may be NULL */
} tacit_converter;

/* `count` numbers in slots. A gives the ciphertexts, which are only read, B the key; the other is NULL. The
 * numbers lose their lowest `drop` bits. */
tacit_status tacit_shares_from_ciphertexts(tacit_share *out, size_t count, const tacit_converter *self,
                                           const tacit_masked_slots *layout,
                                           const tacit_ciphertexts *ciphertexts,
                                           const tacit_paillier_secret *secret, unsigned drop,
                                           tacit_error *error);

/* `width` wires a number, 1 to 128: the numbers modulo 2^width. */
tacit_status tacit_shares_to_wires(tacit_wire *out, tacit_builder *builder, tacit_role role,
                                   const tacit_share *shares, size_t count, size_t width);

/* Signed numbers of `width` bits. */
tacit_status tacit_shares_from_wires(tacit_share *out, tacit_builder *builder, tacit_role role,
                                     tacit_stream *stream, const tacit_wire *wires, size_t count,
                                     size_t width);

/* Numbers within the range of the layout (beyond it the result is meaningless). At A: fills `out`,
 * tacit_slots_plaintexts(&layout->slots, count) ciphertexts under `key`; B passes NULL. */
tacit_status tacit_shares_to_ciphertexts(tacit_ciphertexts *out, const tacit_converter *self,
                                         tacit_builder *builder, const tacit_paillier_public *key,
                                         const tacit_masked_slots *layout, const tacit_share *shares,
                                         size_t count, tacit_error *error);
