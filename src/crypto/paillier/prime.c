#include "crypto/paillier/prime.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "base/memory.h"

enum {
    LIMB_BITS = 64,
    SIEVE_END = 1 << 18, /* candidates with a factor below this are never tested */
    WINDOW = 1 << 16,    /* odd candidates a sieve */
    ROUNDS = 40          /* 4^-40 for a number chosen by an enemy; far less for a random one */
};

static size_t limbs_of(size_t bits) { return (bits + LIMB_BITS - 1) / LIMB_BITS; }

tacit_status tacit_prime_small(uint32_t **out, size_t *count, uint32_t end, tacit_error *error) {
    uint32_t half = end / 2; /* place i stands for 2 i + 1 */
    uint8_t *composite = TACIT_NEW(uint8_t, (size_t)half + 1);
    uint32_t *primes = TACIT_NEW(uint32_t, (size_t)half + 1);
    if (composite == NULL || primes == NULL) {
        free(composite);
        free(primes);
        return tacit_fail_memory(error);
    }
    size_t found = 0;
    for (uint32_t i = 1; i < half; i++) {
        if (composite[i]) continue;
        uint32_t prime = 2 * i + 1;
        primes[found++] = prime;
        for (uint64_t j = (uint64_t)prime * prime / 2; j < half; j += prime) composite[j] = 1;
    }
    free(composite);
    *out = primes;
    *count = found;
    return TACIT_OK;
}

/* 2^(m-1): squarings, and a doubling where the exponent has a bit. */
bool tacit_prime_fermat(const mp_limb_t *m, size_t bits) {
    tacit_modulus modulus;
    size_t limbs = limbs_of(bits);
    mp_limb_t x[TACIT_RESIDUE_LIMBS_MOST], twice[2 * TACIT_RESIDUE_LIMBS_MOST];
    tacit_modulus_start(&modulus, m, limbs, bits);
    mpn_copyi(x, modulus.one, (mp_size_t)limbs);
    for (size_t i = bits; i-- > 0;) {
        unsigned bit = i == 0 ? 0 : tacit_bits_of(m, limbs, i, 1); /* m is odd: m - 1 lacks its last bit */
        tacit_residue_multiply(&modulus, x, x, x);
        mpn_copyi(twice, x, (mp_size_t)limbs);
        tacit_residue_add(&modulus, twice + limbs, x, x);
        mpn_sec_tabselect(x, twice, (mp_size_t)limbs, 2, (mp_size_t)bit);
    }
    bool passed = sodium_memcmp(x, modulus.one, limbs * sizeof *x) == 0;
    sodium_memzero(x, sizeof x);
    sodium_memzero(twice, sizeof twice);
    sodium_memzero(&modulus, sizeof modulus);
    return passed;
}

/* Base^d, squared up to s - 1 times, m - 1 = 2^s d: passed when the first is 1 or any is -1. */
static bool passes(const tacit_modulus *modulus, const mp_limb_t *base, const mp_limb_t *d, size_t bits,
                   size_t s) {
    size_t limbs = modulus->limbs, size = limbs * sizeof(mp_limb_t);
    mp_limb_t x[TACIT_RESIDUE_LIMBS_MOST], minus_one[TACIT_RESIDUE_LIMBS_MOST];
    mpn_sub_n(minus_one, modulus->m, modulus->one, (mp_size_t)limbs);
    tacit_residue_power(modulus, x, base, d, bits);
    bool passed = sodium_memcmp(x, modulus->one, size) == 0;
    for (size_t i = 0; i < s; i++) {
        passed |= sodium_memcmp(x, minus_one, size) == 0;
        tacit_residue_multiply(modulus, x, x, x);
    }
    sodium_memzero(x, sizeof x);
    sodium_memzero(minus_one, sizeof minus_one);
    return passed;
}

tacit_status tacit_prime_probably(bool *out, const mp_limb_t *m, size_t bits, unsigned rounds,
                                  tacit_entropy *entropy, tacit_error *error) {
    tacit_modulus modulus;
    tacit_status status = TACIT_OK;
    size_t limbs = limbs_of(bits), s = 1;
    mp_limb_t d[TACIT_RESIDUE_LIMBS_MOST], base[TACIT_RESIDUE_LIMBS_MOST];
    bool passed = true;
    tacit_modulus_start(&modulus, m, limbs, bits);
    mpn_rshift(d, m, (mp_size_t)limbs, 1);
    while ((d[0] & 1) == 0) {
        mpn_rshift(d, d, (mp_size_t)limbs, 1);
        s++;
    }
    for (unsigned round = 0; round < rounds && passed; round++) {
        /* A random number below the power of two under m: in Montgomery's form just as random. */
        TACIT_CHECK(tacit_entropy_bytes(base, limbs * sizeof *base, entropy, error));
        base[limbs - 1] &= (((mp_limb_t)1 << ((bits - 1) % LIMB_BITS)) - 1);
        if (mpn_zero_p(base, (mp_size_t)limbs)) base[0] = 1;
        passed = passes(&modulus, base, d, bits, s);
    }
    *out = passed;
cleanup:
    sodium_memzero(&modulus, sizeof modulus);
    sodium_memzero(d, sizeof d);
    sodium_memzero(base, sizeof base);
    return status;
}

/* Strike out what has a small factor itself, or whose double plus one has: place i is start + 2 i. */
static void strike(uint8_t *struck, const mp_limb_t *start, size_t limbs, const uint32_t *primes,
                   size_t count) {
    memset(struck, 0, WINDOW);
    for (size_t k = 0; k < count; k++) {
        uint64_t prime = primes[k], half = (prime + 1) / 2;
        uint64_t rest = mpn_mod_1(start, (mp_size_t)limbs, prime);
        /* start + 2 i = 0, that is i = -start/2; and 2 (start + 2 i) + 1 = 0, that is i = (-1/2 -
         * start)/2. */
        uint64_t first = (prime - rest) % prime * half % prime;
        uint64_t second = (2 * prime - half - rest) % prime * half % prime;
        for (uint64_t i = first; i < WINDOW; i += prime) struck[i] = 1;
        for (uint64_t i = second; i < WINDOW; i += prime) struck[i] = 1;
    }
}

/* Is q = p' prime, and p = 2 q + 1? Given that q is, one test proves p: 2^(p-1) = 1 and gcd(2^2 - 1, p) = 1,
 * as no factor of 3 passed the sieve, make every prime factor of p be 1 modulo q > sqrt(p) (Pocklington). */
static tacit_status test_candidate(bool *found, mp_limb_t *p, const mp_limb_t *q, size_t bits,
                                   tacit_entropy *entropy, tacit_error *error) {
    size_t limbs = limbs_of(bits);
    *found = false;
    if (!tacit_prime_fermat(q, bits - 1)) return TACIT_OK;
    mpn_lshift(p, q, (mp_size_t)limbs, 1);
    p[0] |= 1;
    if (!tacit_prime_fermat(p, bits)) return TACIT_OK;
    return tacit_prime_probably(found, q, bits - 1, ROUNDS, entropy, error);
}

static tacit_status search_window(bool *found, mp_limb_t *p, size_t bits, uint8_t *struck,
                                  const uint32_t *primes, size_t count, tacit_entropy *entropy,
                                  tacit_error *error) {
    size_t limbs = limbs_of(bits);
    mp_limb_t start[TACIT_RESIDUE_LIMBS_MOST], q[TACIT_RESIDUE_LIMBS_MOST];
    tacit_status status;
    TACIT_CHECK(tacit_entropy_bytes(start, limbs * sizeof *start, entropy, error));
    start[limbs - 1] = start[limbs - 1] >> 1 | (mp_limb_t)3 << (LIMB_BITS - 3);
    start[0] |= 1;
    strike(struck, start, limbs, primes, count);
    for (mp_limb_t i = 0; i < WINDOW && !*found; i++) {
        if (struck[i]) continue;
        mpn_add_1(q, start, (mp_size_t)limbs, 2 * i);
        if (q[limbs - 1] >> (LIMB_BITS - 1) != 0) break; /* grown by a bit */
        TACIT_CHECK(test_candidate(found, p, q, bits, entropy, error));
    }
cleanup:
    sodium_memzero(start, sizeof start);
    sodium_memzero(q, sizeof q);
    return status;
}

tacit_status tacit_prime_safe(mp_limb_t *out, size_t bits, tacit_entropy *entropy, tacit_error *error) {
    assert(bits >= LIMB_BITS && bits % LIMB_BITS == 0 && bits <= TACIT_RESIDUE_LIMBS_MOST * LIMB_BITS);
    uint32_t *primes = NULL;
    size_t count = 0;
    mp_limb_t p[TACIT_RESIDUE_LIMBS_MOST];
    bool found = false;
    tacit_status status;
    uint8_t *struck = TACIT_NEW(uint8_t, WINDOW);
    if (struck == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(tacit_prime_small(&primes, &count, SIEVE_END, error));
    while (!found) TACIT_CHECK(search_window(&found, p, bits, struck, primes, count, entropy, error));
    mpn_copyi(out, p, (mp_size_t)limbs_of(bits));
cleanup:
    sodium_memzero(p, sizeof p);
    if (struck != NULL) sodium_memzero(struck, WINDOW); /* tells residues of the prime */
    free(struck);
    free(primes);
    return status;
}
