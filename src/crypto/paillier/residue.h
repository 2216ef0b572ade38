/*
 * Arithmetic modulo an odd m, and modulo m^2, in which no branch and no address depends on the numbers.
 *
 * A residue modulo m^2 is kept as a pair (x0, x1), x = x0 + m x1, both below m. Products are Montgomery's.
 * Let R = 2^(64 limbs), T = x0 y0, and let Q be the multipliers that Montgomery's reduction of T finds on its
 * way: T + Q m = R r. Then, modulo m^2,
 *
 *     x y / R  =  r + m ((x0 y1 + x1 y0 - Q) / R mod m),
 *
 * which takes five products of m's length, where one of twice the length takes eight. On processors with
 * AVX-512 IFMA the same is done in vectors of digits of 52 bits (residue_vector.c), several times as fast.
 *
 * Only GMP's low-level functions without data-dependent time are used (mpn_sec_*, mpn_addmul_1, mpn_add_n and
 * their like); they allocate nothing, so that GMP, which ends the process when memory runs out, never asks
 * for any, and no secret stays behind in its hands. The lengths of m and of an exponent are public.
 *
 * Elements (what multiply, square, power work on) are opaque: only enter and leave know their form. Outputs
 * may be inputs. A modulus is not changed after its start and may be used by several threads.
 */
#pragma once

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* m of up to 4096 bits. */
enum {
    TACIT_RESIDUE_LIMBS_MOST = 64,
    TACIT_PAIR_LIMBS_MOST = 2 * TACIT_RESIDUE_LIMBS_MOST,
    TACIT_RESIDUE_DIGITS_MOST = 80, /* of 52 bits, in vectors of eight */
};

typedef struct tacit_modulus {
    size_t limbs;
    mp_limb_t inverse; /* -1/m modulo 2^64 */
    mp_limb_t m[TACIT_RESIDUE_LIMBS_MOST];
    mp_limb_t one[TACIT_RESIDUE_LIMBS_MOST]; /* R modulo m */
    /* Only after start_pairs. Modulo m^2 vectors of digits have their own R: V = 2^(52 digits), else V =
     * R. */
    mp_limb_t squared[TACIT_RESIDUE_LIMBS_MOST];   /* R^2 modulo m */
    mp_limb_t pair_one[TACIT_PAIR_LIMBS_MOST];     /* V modulo m^2 */
    mp_limb_t pair_squared[TACIT_PAIR_LIMBS_MOST]; /* V^2 modulo m^2 */
    mp_limb_t pair_gather[TACIT_PAIR_LIMBS_MOST];  /* R V^2 modulo m^2 */
    size_t digits;                                 /* of 52 bits; 0: whole limbs */
    uint64_t digit_inverse;                        /* -1/m modulo 2^52 */
    uint64_t digit[TACIT_RESIDUE_DIGITS_MOST];     /* of m */
} tacit_modulus;

/* m odd and above 1, of exactly `limbs` limbs, its `bits`th bit the highest one set. */
void tacit_modulus_start(tacit_modulus *modulus, const mp_limb_t *m, size_t limbs, size_t bits);
/* Also ready for pairs: in vectors (residue_vector.h) where the processor has the instructions. Elements of
 * the two kinds differ, what they stand for does not. */
void tacit_modulus_start_pairs(tacit_modulus *modulus, const mp_limb_t *m, size_t limbs, size_t bits);
void tacit_modulus_start_pairs_with(tacit_modulus *modulus, const mp_limb_t *m, size_t limbs, size_t bits,
                                    bool vectors);

/* Modulo m, for numbers of `limbs` limbs: x y / R. One argument in Montgomery's form (times R) and one plain
 * give a plain product. */
void tacit_residue_multiply(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x,
                            const mp_limb_t *y);
/* x R modulo m. */
void tacit_residue_enter(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x);
/* x + y and x - y modulo m; both below m. */
void tacit_residue_add(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x, const mp_limb_t *y);
void tacit_residue_subtract(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x,
                            const mp_limb_t *y);
/* x modulo m for x below 2 m. */
void tacit_residue_reduce(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x);
/* x modulo m for x of two lengths of limbs, below m R. After start_pairs. (GMP's mpn_sec_div_r looks the
 * divisor's first bits up in a table, and so tells them to the cache.) */
void tacit_residue_shorten(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x);
/* x^exponent in Montgomery's form; the exponent, of `bits` bits, is secret, `bits` is not. */
void tacit_residue_power(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x,
                         const mp_limb_t *exponent, size_t bits);

/* Limbs of an element modulo m^2. */
static inline size_t tacit_pair_limbs(const tacit_modulus *modulus) { return 2 * modulus->limbs; }

/* Between the plain pair (x0 first, then x1, each of `limbs` limbs) and an element. */
void tacit_pair_enter(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *plain);
void tacit_pair_leave(const tacit_modulus *modulus, mp_limb_t *plain, const mp_limb_t *x);
/* The element of x + m upper, x of two lengths of limbs and below m R, upper below m. */
void tacit_pair_gather(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x,
                       const mp_limb_t *upper);

void tacit_pair_multiply(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x,
                         const mp_limb_t *y);
void tacit_pair_square(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x);
/* x^exponent; the exponent, of `bits` bits, is secret, `bits` is not. */
void tacit_pair_power(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x,
                      const mp_limb_t *exponent, size_t bits);
/* 1/x into `out`; false when x shares a factor with m. Not constant in time: for ciphertexts, which are
 * public. */
bool tacit_pair_invert(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x);

/* Element `which` of a table of `count`, reading all of it. */
void tacit_pair_select(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *table, size_t count,
                       size_t which);

/* Bits [at, at + width) of a number; width <= 16. Bits beyond the number are 0. */
unsigned tacit_bits_of(const mp_limb_t *number, size_t limbs, size_t at, unsigned width);

/* Overwrite what the functions above may have left of their arguments on the stack. */
void tacit_residue_forget(void);

/* Little-endian bytes, 8 a limb. */
void tacit_limbs_to_bytes(uint8_t *out, const mp_limb_t *number, size_t limbs);
void tacit_limbs_from_bytes(mp_limb_t *out, const uint8_t *bytes, size_t limbs);
