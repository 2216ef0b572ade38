/*
 * Shamir's secret sharing (1979) of 32-byte secrets: any `threshold` shares give the secret, fewer say
 * nothing about it.
 *
 * The field is GF(2^16), the polynomials over GF(2) modulo x^16 + x^12 + x^3 + x + 1; a secret is 16 field
 * elements, shared side by side. A share is the value of a polynomial of degree threshold - 1 at a public
 * place in 1..65535, whose value at 0 is the secret. Places are public, so every multiplication is of secret
 * elements by a public one: it branches on the public factor only, and no table is looked up.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { TACIT_SECRET_BYTES = 32, TACIT_SHAMIR_PLACES = 65535 };

typedef struct tacit_secret_share {
    uint16_t place; /* 1 .. TACIT_SHAMIR_PLACES */
    uint8_t bytes[TACIT_SECRET_BYTES];
} tacit_secret_share;

/*
 * The share of `secret` at `place`. `coefficients` are (threshold - 1) * 32 uniform random bytes, the same
 * for all shares of the secret and never used for another one. TACIT_USAGE for a threshold of 0 or a place of
 * 0.
 */
tacit_status tacit_shamir_share(tacit_secret_share *out, uint16_t place,
                                const uint8_t secret[TACIT_SECRET_BYTES], const uint8_t *coefficients,
                                size_t threshold, tacit_error *error);

/* The secret, from the first `threshold` of `count` shares. TACIT_INPUT when there are fewer, when a place is
 * 0, or when two are the same. Wrong shares give a wrong secret: what they are is for the caller to check. */
tacit_status tacit_shamir_combine(uint8_t secret[TACIT_SECRET_BYTES], const tacit_secret_share *shares,
                                  size_t count, size_t threshold, tacit_error *error);
