/*
 * A verifiable random function: ECVRF-EDWARDS25519-SHA512-TAI of RFC 9381. With a secret key, each input has
 * exactly one value that a proof can be given for; without the key it cannot be told from random bytes; with
 * the public key and the proof anybody can check it.
 *
 * What is promised, and why (RFC 9381, sections 3 and 7):
 *   Full uniqueness. A proof shows that log_B(Y) = log_H(Gamma), H the point that the input is hashed to. So
 *   for a key Y of prime order, Gamma is x H for the one x with Y = x B, and the value is a hash of Gamma.
 *   Keys and Gammas outside the subgroup of prime order are refused, those with a false proof pass with
 *   probability at most 2^-128 per attempt (a challenge of 128 bits).
 *   Pseudorandomness. Under the decisional Diffie-Hellman assumption, in the random oracle model.
 * Hashing to the curve by trial takes a time that depends on the input: inputs are public here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
    TACIT_VRF_SEED_BYTES = 32,
    TACIT_VRF_KEY_BYTES = 32,
    TACIT_VRF_PROOF_BYTES = 80,
    TACIT_VRF_BYTES = 64
};

/* The public key of a secret seed. */
void tacit_vrf_public(uint8_t key[TACIT_VRF_KEY_BYTES], const uint8_t seed[TACIT_VRF_SEED_BYTES]);

/* Is it a point of prime order, in its one encoding? Check a key when it is registered. */
bool tacit_vrf_key_is_valid(const uint8_t key[TACIT_VRF_KEY_BYTES]);

/* The proof for an input; the same each time. */
tacit_status tacit_vrf_prove(uint8_t proof[TACIT_VRF_PROOF_BYTES], const uint8_t seed[TACIT_VRF_SEED_BYTES],
                             const void *input, size_t length, tacit_error *error);

/* The value that a proof shows. TACIT_REFUSED when it is no proof for this key and input. */
tacit_status tacit_vrf_verify(uint8_t value[TACIT_VRF_BYTES], const uint8_t key[TACIT_VRF_KEY_BYTES],
                              const void *input, size_t length, const uint8_t proof[TACIT_VRF_PROOF_BYTES],
                              tacit_error *error);
