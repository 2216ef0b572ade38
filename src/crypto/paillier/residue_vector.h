/* Products modulo m^2 in vectors of eight digits of 52 bits, for residue.c. */
#pragma once

#include "crypto/paillier/residue.h"

enum { TACIT_DIGIT_BITS = 52 };

/* Whether the processor has the instructions (AVX-512 F and IFMA). */
bool tacit_vector_available(void);

/* Sets the digits of m; does nothing for an m longer than 80 digits or where the instructions are missing. */
void tacit_vector_start(tacit_modulus *modulus);

/* x y / 2^(52 digits), for pairs of limbs as in residue.h; out may be x or y. */
void tacit_vector_multiply(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x,
                           const mp_limb_t *y);

/* Entry `which` of `count`, `limbs` limbs each, found by reading all of them. */
void tacit_vector_select(mp_limb_t *out, const mp_limb_t *table, size_t limbs, size_t count, size_t which);
