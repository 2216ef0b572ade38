#include "crypto/paillier/residue.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "crypto/paillier/residue_vector.h"

_Static_assert(GMP_NUMB_BITS == 64 && sizeof(mp_limb_t) == 8, "limbs of 64 bits without nails");

enum { LIMB_BITS = 64, WINDOW = 5, WINDOW_ENTRIES = 1 << WINDOW };

/* -1/m modulo 2^64: each step of Newton's doubles the right bits, and m itself has three. */
static mp_limb_t negated_inverse(mp_limb_t m) {
    mp_limb_t x = m;
    for (int bits = 3; bits < LIMB_BITS; bits *= 2) x *= 2 - m * x;
    return -x;
}

/* From value = carry R + r to value - m unless that is below 0; returns the new carry. */
static mp_limb_t reduce_once(const tacit_modulus *modulus, mp_limb_t *r, mp_limb_t carry) {
    carry -= mpn_sub_n(r, r, modulus->m, (mp_size_t)modulus->limbs);
    mp_limb_t below = carry >> (LIMB_BITS - 1);
    return carry + mpn_cnd_add_n(below, r, r, modulus->m, (mp_size_t)modulus->limbs);
}

/* Whether the reduction subtracted: needed where the subtracted m counts in the upper half of a pair. */
static mp_limb_t reduce_with_flag(const tacit_modulus *modulus, mp_limb_t *r, mp_limb_t carry) {
    carry -= mpn_sub_n(r, r, modulus->m, (mp_size_t)modulus->limbs);
    mp_limb_t below = carry >> (LIMB_BITS - 1);
    mpn_cnd_add_n(below, r, r, modulus->m, (mp_size_t)modulus->limbs);
    return 1 - below;
}

/* Montgomery's reduction: t + Q m = R r; t of two lengths is spent, Q is written, r's carry returned. */
static mp_limb_t reduce_product(const tacit_modulus *modulus, mp_limb_t *r, mp_limb_t *t, mp_limb_t *Q) {
    size_t limbs = modulus->limbs;
    for (size_t i = 0; i < limbs; i++) {
        Q[i] = t[i] * modulus->inverse;
        t[i] = mpn_addmul_1(t + i, modulus->m, (mp_size_t)limbs, Q[i]); /* t[i] was 0; its carry waits here */
    }
    return mpn_add_n(r, t + limbs, t, (mp_size_t)limbs);
}

static void product(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x, const mp_limb_t *y) {
    mp_limb_t scratch; /* mpn_sec_mul_itch is 0 for every length */
    mp_size_t limbs = (mp_size_t)modulus->limbs;
    mpn_sec_mul(out, x, limbs, y, limbs, &scratch);
}

void tacit_residue_multiply(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x,
                            const mp_limb_t *y) {
    mp_limb_t t[TACIT_PAIR_LIMBS_MOST], Q[TACIT_RESIDUE_LIMBS_MOST];
    product(modulus, t, x, y);
    reduce_once(modulus, out, reduce_product(modulus, out, t, Q));
}

void tacit_residue_add(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x, const mp_limb_t *y) {
    reduce_once(modulus, out, mpn_add_n(out, x, y, (mp_size_t)modulus->limbs));
}

void tacit_residue_subtract(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x,
                            const mp_limb_t *y) {
    mp_size_t limbs = (mp_size_t)modulus->limbs;
    mp_limb_t below = mpn_sub_n(out, x, y, limbs);
    mpn_cnd_add_n(below, out, out, modulus->m, limbs);
}

void tacit_residue_reduce(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x) {
    if (out != x) mpn_copyi(out, x, (mp_size_t)modulus->limbs);
    reduce_once(modulus, out, 0);
}

void tacit_residue_enter(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x) {
    if (out != x) mpn_copyi(out, x, (mp_size_t)modulus->limbs);
    for (size_t i = 0; i < modulus->limbs * LIMB_BITS; i++) tacit_residue_add(modulus, out, out, out);
}

void tacit_modulus_start(tacit_modulus *modulus, const mp_limb_t *m, size_t limbs, size_t bits) {
    assert(limbs >= 1 && limbs <= TACIT_RESIDUE_LIMBS_MOST && (m[0] & 1) == 1);
    assert(bits > (limbs - 1) * LIMB_BITS && bits <= limbs * LIMB_BITS);
    memset(modulus, 0, sizeof *modulus);
    modulus->limbs = limbs;
    modulus->inverse = negated_inverse(m[0]);
    mpn_copyi(modulus->m, m, (mp_size_t)limbs);
    modulus->one[limbs - 1] = (mp_limb_t)1 << ((bits - 1) % LIMB_BITS); /* below m: its highest bit alone */
    for (size_t i = bits - 1; i < limbs * LIMB_BITS; i++)
        tacit_residue_add(modulus, modulus->one, modulus->one, modulus->one);
}

/* 2 x modulo m^2. */
static void double_pair(const tacit_modulus *modulus, mp_limb_t *x) {
    mp_size_t limbs = (mp_size_t)modulus->limbs;
    mp_limb_t *low = x, *high = x + limbs;
    mp_limb_t over = reduce_with_flag(modulus, low, mpn_add_n(low, low, low, limbs));
    mp_limb_t carry = mpn_add_n(high, high, high, limbs);
    high[0] |= over; /* even so far; and 2 x1 + 1 is below 2 m */
    reduce_once(modulus, high, carry);
}

static void double_times(const tacit_modulus *modulus, mp_limb_t *x, size_t times) {
    for (size_t i = 0; i < times; i++) double_pair(modulus, x);
}

void tacit_modulus_start_pairs_with(tacit_modulus *modulus, const mp_limb_t *m, size_t limbs, size_t bits,
                                    bool vectors) {
    tacit_modulus_start(modulus, m, limbs, bits);
    /* Not even entered elsewhere: a compiler may use vectors from its first line on. */
    if (vectors && tacit_vector_available()) tacit_vector_start(modulus);
    size_t shift = modulus->digits > 0 ? modulus->digits * TACIT_DIGIT_BITS : limbs * LIMB_BITS;
    tacit_residue_enter(modulus, modulus->squared, modulus->one);
    modulus->pair_one[0] = 1;
    double_times(modulus, modulus->pair_one, shift);
    mpn_copyi(modulus->pair_squared, modulus->pair_one, (mp_size_t)(2 * limbs));
    double_times(modulus, modulus->pair_squared, shift);
    mpn_copyi(modulus->pair_gather, modulus->pair_squared, (mp_size_t)(2 * limbs));
    double_times(modulus, modulus->pair_gather, limbs * LIMB_BITS);
}

void tacit_modulus_start_pairs(tacit_modulus *modulus, const mp_limb_t *m, size_t limbs, size_t bits) {
    tacit_modulus_start_pairs_with(modulus, m, limbs, bits, tacit_vector_available());
}

/* The end of each product modulo m^2, from T = x0 y0 and S = x0 y1 + x1 y0 (carry in front), both spent.
 * S - Q, made non-negative by one m R, is below 2 m^2 or below m R; reduced it is below 3 m, with the m that
 * r may have had too much still below 3 m: two subtractions do. */
static void finish_pair(const tacit_modulus *modulus, mp_limb_t *out, mp_limb_t *T, mp_limb_t *S,
                        mp_limb_t carry) {
    mp_size_t limbs = (mp_size_t)modulus->limbs;
    mp_limb_t Q[TACIT_RESIDUE_LIMBS_MOST], unused[TACIT_RESIDUE_LIMBS_MOST];
    mp_limb_t over = reduce_with_flag(modulus, out, reduce_product(modulus, out, T, Q));
    mp_limb_t borrow = mpn_sub_n(S, S, Q, limbs);
    memset(unused, 0, sizeof *unused * modulus->limbs);
    unused[0] = borrow;
    carry -= mpn_sub_n(S + limbs, S + limbs, unused, limbs);
    carry += mpn_cnd_add_n(carry >> (LIMB_BITS - 1), S + limbs, S + limbs, modulus->m, limbs);
    mp_limb_t *high = out + limbs;
    carry += reduce_product(modulus, high, S, unused);
    memset(unused, 0, sizeof *unused * modulus->limbs);
    unused[0] = over;
    carry += mpn_add_n(high, high, unused, limbs);
    reduce_once(modulus, high, reduce_once(modulus, high, carry));
}

void tacit_pair_multiply(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x,
                         const mp_limb_t *y) {
    size_t limbs = modulus->limbs;
    if (modulus->digits > 0) {
        tacit_vector_multiply(modulus, out, x, y);
        return;
    }
    mp_limb_t T[TACIT_PAIR_LIMBS_MOST], S[TACIT_PAIR_LIMBS_MOST], U[TACIT_PAIR_LIMBS_MOST];
    product(modulus, T, x, y);
    product(modulus, S, x, y + limbs);
    product(modulus, U, x + limbs, y);
    mp_limb_t carry = mpn_add_n(S, S, U, (mp_size_t)(2 * limbs));
    finish_pair(modulus, out, T, S, carry);
}

void tacit_pair_square(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x) {
    size_t limbs = modulus->limbs;
    if (modulus->digits > 0) {
        tacit_vector_multiply(modulus, out, x, x);
        return;
    }
    mp_limb_t T[TACIT_PAIR_LIMBS_MOST], S[TACIT_PAIR_LIMBS_MOST];
    mp_limb_t scratch[2 * TACIT_PAIR_LIMBS_MOST];
    mpn_sec_sqr(T, x, (mp_size_t)limbs, scratch);
    product(modulus, S, x, x + limbs);
    mp_limb_t carry = mpn_add_n(S, S, S, (mp_size_t)(2 * limbs));
    finish_pair(modulus, out, T, S, carry);
}

void tacit_pair_enter(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *plain) {
    tacit_pair_multiply(modulus, out, plain, modulus->pair_squared);
}

void tacit_pair_leave(const tacit_modulus *modulus, mp_limb_t *plain, const mp_limb_t *x) {
    mp_limb_t one[TACIT_PAIR_LIMBS_MOST] = { 1 };
    tacit_pair_multiply(modulus, plain, x, one);
}

/* (x / R) R^2 / R. */
void tacit_residue_shorten(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x) {
    mp_limb_t t[TACIT_PAIR_LIMBS_MOST], Q[TACIT_RESIDUE_LIMBS_MOST];
    mpn_copyi(t, x, (mp_size_t)(2 * modulus->limbs));
    reduce_once(modulus, out, reduce_product(modulus, out, t, Q));
    tacit_residue_multiply(modulus, out, out, modulus->squared);
}

/* As if x were a product of lower halves: (x + m upper) / R; then times R V^2 / V. */
void tacit_pair_gather(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x,
                       const mp_limb_t *upper) {
    mp_limb_t T[TACIT_PAIR_LIMBS_MOST], S[TACIT_PAIR_LIMBS_MOST] = { 0 };
    mpn_copyi(T, x, (mp_size_t)(2 * modulus->limbs));
    mpn_copyi(S, upper, (mp_size_t)modulus->limbs);
    finish_pair(modulus, out, T, S, 0);
    tacit_pair_multiply(modulus, out, out, modulus->pair_gather);
}

unsigned tacit_bits_of(const mp_limb_t *number, size_t limbs, size_t at, unsigned width) {
    size_t limb = at / LIMB_BITS, shift = at % LIMB_BITS;
    if (limb >= limbs) return 0;
    mp_limb_t bits = number[limb] >> shift;
    if (shift + width > LIMB_BITS && limb + 1 < limbs) bits |= number[limb + 1] << (LIMB_BITS - shift);
    return (unsigned)(bits & (((mp_limb_t)1 << width) - 1));
}

void tacit_pair_select(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *table, size_t count,
                       size_t which) {
    size_t limbs = tacit_pair_limbs(modulus);
    if (modulus->digits > 0)
        tacit_vector_select(out, table, limbs, count, which);
    else
        mpn_sec_tabselect(out, table, (mp_size_t)limbs, (mp_size_t)count, (mp_size_t)which);
}

/* Windows of five bits from the top: five squarings and a product by an entry, whatever the bits are. */
void tacit_pair_power(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x,
                      const mp_limb_t *exponent, size_t bits) {
    size_t size = tacit_pair_limbs(modulus), limbs = (bits + LIMB_BITS - 1) / LIMB_BITS;
    mp_limb_t table[WINDOW_ENTRIES * TACIT_PAIR_LIMBS_MOST];
    mp_limb_t entry[TACIT_PAIR_LIMBS_MOST], result[TACIT_PAIR_LIMBS_MOST];
    mpn_copyi(table, modulus->pair_one, (mp_size_t)size);
    for (size_t i = 1; i < WINDOW_ENTRIES; i++)
        tacit_pair_multiply(modulus, table + i * size, table + (i - 1) * size, x);
    mpn_copyi(result, modulus->pair_one, (mp_size_t)size);
    for (size_t left = (bits + WINDOW - 1) / WINDOW; left-- > 0;) {
        for (int i = 0; i < WINDOW; i++) tacit_pair_square(modulus, result, result);
        tacit_pair_select(modulus, entry, table, WINDOW_ENTRIES,
                          tacit_bits_of(exponent, limbs, left * WINDOW, WINDOW));
        tacit_pair_multiply(modulus, result, result, entry);
    }
    mpn_copyi(out, result, (mp_size_t)size);
    sodium_memzero(table, sizeof table);
    sodium_memzero(entry, sizeof entry);
    sodium_memzero(result, sizeof result);
}

void tacit_residue_power(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x,
                         const mp_limb_t *exponent, size_t bits) {
    mp_size_t size = (mp_size_t)modulus->limbs;
    size_t limbs = (bits + LIMB_BITS - 1) / LIMB_BITS;
    mp_limb_t table[WINDOW_ENTRIES * TACIT_RESIDUE_LIMBS_MOST];
    mp_limb_t entry[TACIT_RESIDUE_LIMBS_MOST], result[TACIT_RESIDUE_LIMBS_MOST];
    mpn_copyi(table, modulus->one, size);
    for (mp_size_t i = 1; i < WINDOW_ENTRIES; i++)
        tacit_residue_multiply(modulus, table + i * size, table + (i - 1) * size, x);
    mpn_copyi(result, modulus->one, size);
    for (size_t left = (bits + WINDOW - 1) / WINDOW; left-- > 0;) {
        for (int i = 0; i < WINDOW; i++) tacit_residue_multiply(modulus, result, result, result);
        mpn_sec_tabselect(entry, table, size, WINDOW_ENTRIES,
                          (mp_size_t)tacit_bits_of(exponent, limbs, left * WINDOW, WINDOW));
        tacit_residue_multiply(modulus, result, result, entry);
    }
    mpn_copyi(out, result, size);
    sodium_memzero(table, sizeof table);
    sodium_memzero(entry, sizeof entry);
    sodium_memzero(result, sizeof result);
}

/* 1/x modulo m by the extended Euclidean algorithm on (x + m, m). */
static bool invert_residue(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x) {
    mp_size_t limbs = (mp_size_t)modulus->limbs, length;
    mp_limb_t u[TACIT_RESIDUE_LIMBS_MOST + 2], v[TACIT_RESIDUE_LIMBS_MOST + 1];
    mp_limb_t gcd[TACIT_RESIDUE_LIMBS_MOST + 1], s[TACIT_RESIDUE_LIMBS_MOST + 2];
    u[limbs] = mpn_add_n(u, x, modulus->m, limbs);
    mpn_copyi(v, modulus->m, limbs);
    mp_size_t gcd_limbs = mpn_gcdext(gcd, s, &length, u, limbs + (u[limbs] != 0), v, limbs);
    if (gcd_limbs != 1 || gcd[0] != 1) return false;
    mp_size_t used = length < 0 ? -length : length;
    mpn_zero(out, limbs);
    mpn_copyi(out, s, used);
    if (length < 0) mpn_sub_n(out, modulus->m, out, limbs);
    return true;
}

/* y0 = 1/x0 modulo m; then y = y0 (2 - x y0) is 1/x modulo m^2 (Hensel). */
bool tacit_pair_invert(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x) {
    size_t limbs = modulus->limbs;
    mp_limb_t plain[TACIT_PAIR_LIMBS_MOST], y[TACIT_PAIR_LIMBS_MOST], error[TACIT_PAIR_LIMBS_MOST];
    tacit_pair_leave(modulus, plain, x);
    if (!invert_residue(modulus, y, plain)) return false;
    mpn_zero(y + limbs, (mp_size_t)limbs);
    tacit_pair_enter(modulus, y, y);
    tacit_pair_multiply(modulus, error, x, y);
    tacit_pair_leave(modulus, error, error); /* 1 + m e; wanted is 1 - m e */
    const mp_limb_t zero[TACIT_RESIDUE_LIMBS_MOST] = { 0 };
    tacit_residue_subtract(modulus, error + limbs, zero, error + limbs);
    tacit_pair_enter(modulus, error, error);
    tacit_pair_multiply(modulus, out, y, error);
    return true;
}

/* Scratch of products (power wipes its own) takes less than 12 KiB below the caller. */
void tacit_residue_forget(void) { sodium_stackzero(16384); }

void tacit_limbs_to_bytes(uint8_t *out, const mp_limb_t *number, size_t limbs) {
    for (size_t i = 0; i < limbs; i++)
        for (int b = 0; b < 8; b++) *out++ = (uint8_t)(number[i] >> (8 * b));
}

void tacit_limbs_from_bytes(mp_limb_t *out, const uint8_t *bytes, size_t limbs) {
    for (size_t i = 0; i < limbs; i++) {
        out[i] = 0;
        for (int b = 0; b < 8; b++) out[i] |= (mp_limb_t)*bytes++ << (8 * b);
    }
}
