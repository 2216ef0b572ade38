/*
 * The inner loops of garbling and oblivious transfer, one table of them an engine. None branches, or reads
 * memory, on secret bits: AES is the processor's, or bitsliced; colours become masks.
 *
 * The hash. Guo, Katz, Wang, Weng and Yu (CRYPTO 2020) garble with a hash that is multi-instance tweakable
 * circular correlation robust: H(x, i) = E_i(s(x)) xor s(x), with the block cipher E keyed again for each
 * tweak i and the linear orthomorphism s(l || r) = (l xor r) || l. In the ideal-cipher model an attacker
 * gains about (queries x gates that share a tweak)/2^128; each garbling starts its tweaks at a random public
 * point, so that tweaks of different runs hardly ever meet. Key of tweak i: `start`, its low half plus i.
 *
 * Under a fixed key p = E_start, for comparison: TMMO, H(x, i) = p(p(x) xor i) xor p(x) (Guo, Katz, Wang and
 * Yu, IEEE S&P 2020), whose bound degrades with the number of gates.
 *
 * Half gates (Zahur, Rosulek, Evans, EUROCRYPT 2015), gate g, tweaks j = 2g and j + 1, A1 = A0 xor D, p =
 * colour:
 *     TG = H(A0,j) ^ H(A1,j) ^ pb D          WG = H(A0,j) ^ pa TG
 *     TE = H(B0,j+1) ^ H(B1,j+1) ^ A0        WE = H(B0,j+1) ^ pb (TE ^ A0)        W0 = WG ^ WE
 * and of the evaluator, with labels A, B and their colours sa, sb:
 *     W = H(A,j) ^ sa TG ^ H(B,j+1) ^ sb (TE ^ A)
 * The table of four gates is TG TG TG TG TE TE TE TE; of the last r < 4 gates of a call r TG and r TE.
 */
#pragma once

#include "crypto/engine.h"
#include "crypto/label.h"

enum { TACIT_GATE_BYTES = 32, TACIT_AES_ROUNDS = 10 };

/* An expanded AES-128 key; bytes as in FIPS 197. */
typedef struct tacit_aes_key {
    tacit_wire round[TACIT_AES_ROUNDS + 1];
} tacit_aes_key;

typedef struct tacit_hash_key {
    tacit_wire start;
    tacit_aes_key fixed; /* of `start`, for the fixed-key hash */
    int is_fixed;
} tacit_hash_key;

typedef struct tacit_cipher {
    void (*expand_key)(tacit_aes_key *out, tacit_wire key);

    /* AES of counter, counter + 1, ... (little-endian 64 bits, then zeros). */
    void (*counter)(tacit_wire *out, const tacit_aes_key *key, uint64_t counter, size_t blocks);

    /* H(in[k], tweak + k). `out` may be `in`. */
    void (*hash)(tacit_wire *out, const tacit_wire *in, const tacit_hash_key *key, uint64_t tweak,
                 size_t count);

    /* `count` independent gates with tweaks from `tweak` on, two a gate. `out` may be `a` or `b`. */
    void (*garble)(tacit_wire *out, uint8_t *table, const tacit_wire *a, const tacit_wire *b,
                   tacit_wire delta, const tacit_hash_key *key, uint64_t tweak, size_t count);
    void (*evaluate)(tacit_wire *out, const uint8_t *table, const tacit_wire *a, const tacit_wire *b,
                     const tacit_hash_key *key, uint64_t tweak, size_t count);

    /* 128 rows of `columns` bits (a multiple of 512), `stride` bytes apart, to `columns` wires: bit r of wire
     * c is bit c of row r. */
    void (*transpose)(tacit_wire *out, const uint8_t *rows, size_t stride, size_t columns);

    /* x_0 y^(blocks - 1) + ... + x_(blocks - 1) in the field of field128_parts.h; power[k] is y^(k + 1), and
     * `blocks` a multiple of 4. */
    tacit_wire (*polynomial)(const tacit_wire power[4], const tacit_wire *x, size_t blocks);
} tacit_cipher;

/* Borrowed, immutable. The engine must be available. */
const tacit_cipher *tacit_cipher_of(tacit_engine engine);

extern const tacit_cipher tacit_cipher_portable;
#if defined(__x86_64__)
extern const tacit_cipher tacit_cipher_aesni, tacit_cipher_vaes;
/* The same as the first, with AES of two blocks an instruction, for processors that have that without
 * AVX-512. */
extern const tacit_cipher tacit_cipher_aesni_wide;
tacit_wire tacit_polynomial_clmul(const tacit_wire power[4], const tacit_wire *x, size_t blocks);
#endif

/* The orthomorphism s; half[1] is the left half. */
static inline tacit_wire tacit_orthomorphism(tacit_wire x) {
    return (tacit_wire){ { x.half[1], x.half[0] ^ x.half[1] } };
}

static inline tacit_wire tacit_tweaked(tacit_wire start, uint64_t tweak) {
    return (tacit_wire){ { start.half[0] + tweak, start.half[1] } };
}
