/*
 * Primes for keys. A safe prime is p = 2 p' + 1 with p' prime too: p is then 3 modulo 4, two different ones
 * have gcd(p - 1, q - 1) = 2, and the squares modulo p q form a cyclic group of order p' q' without small
 * subgroups.
 *
 * The tests of primality take time that depends on the length alone. The search does not: how many candidates
 * were tried, and the sieve's accesses to memory, depend on the primes found. It runs once a key.
 */
#pragma once

#include "crypto/paillier/residue.h"
#include "rand/entropy.h"

/* Out: a safe prime of exactly `bits` bits, the two highest of them set; bits / 64 limbs, bits a multiple of
 * 64. The first one at or after a random point (Brandt and Damgard 1992: little is lost against a uniform
 *     one). */
tacit_status tacit_prime_safe(mp_limb_t *out, size_t bits, tacit_entropy *entropy, tacit_error *error);

/* Whether m, odd, of exactly `bits` bits, passes `rounds` tests of Miller and Rabin with random bases, each
 * of which a composite number passes with probability at most 1/4. */
tacit_status tacit_prime_probably(bool *out, const mp_limb_t *m, size_t bits, unsigned rounds,
                                  tacit_entropy *entropy, tacit_error *error);

/* Whether 2^(m-1) = 1 modulo m; no prime above 2 fails. */
bool tacit_prime_fermat(const mp_limb_t *m, size_t bits);

/* The odd primes below `end` into a new array; *count of them. */
tacit_status tacit_prime_small(uint32_t **out, size_t *count, uint32_t end, tacit_error *error);
