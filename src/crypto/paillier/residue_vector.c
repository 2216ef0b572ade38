/*
 * The product of residue.h, its two halves in one loop over the digits of y. Step i adds to the accumulators
 *
 *     T: x0 y0[i] + m q[i],    S: x0 y1[i] + x1 y0[i] - q[i] + m s[i],
 *
 * q[i] and s[i] such that the lowest digit becomes 0, and drops it. q[i] is the digit i of Q, and is
 * subtracted where S has its digit i in front. Lanes collect less than 2^61 in all, in two's complement;
 * carries are made up for at the end. The loops run over public lengths, and nothing else decides anything.
 */
#include "crypto/paillier/residue_vector.h"

#include <string.h>

#if defined(__x86_64__) && !defined(TACIT_PARTY_ONLY)

#include <immintrin.h>

#define WITH_VECTORS __attribute__((target("avx512f,avx512ifma")))
#define INLINED __attribute__((always_inline)) static inline WITH_VECTORS
/* Loops over the vectors of a constant length must become straight code, or the arrays stay in memory. Clang
 * sees to it by itself. */
#ifdef __clang__
#define UNROLLED
#else
#define UNROLLED _Pragma("GCC unroll 10")
#endif

enum { LIMB_BITS = 64, LANES = 8, VECTORS_MOST = TACIT_RESIDUE_DIGITS_MOST / LANES };
static const uint64_t DIGIT_MASK = ((uint64_t)1 << TACIT_DIGIT_BITS) - 1;

bool tacit_vector_available(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512ifma");
}

/* The digits of a number, 0 beyond its end. Eight digits are 52 bytes; those at odd places start in
 * mid-byte. */
INLINED void split_digits(uint64_t *digit, const mp_limb_t *number, size_t limbs, size_t vectors) {
    mp_limb_t padded[TACIT_RESIDUE_LIMBS_MOST + 16];
    const __m512i start = _mm512_setr_epi64(0, 6, 13, 19, 26, 32, 39, 45);
    const __m512i shift = _mm512_setr_epi64(0, 4, 0, 4, 0, 4, 0, 4);
    memcpy(padded, number, limbs * sizeof *number);
    memset(padded + limbs, 0, 16 * sizeof *padded);
    for (size_t v = 0; v < vectors; v++) {
        __m512i bytes = _mm512_i64gather_epi64(start, (const char *)padded + v * 52, 1);
        bytes = _mm512_and_si512(_mm512_srlv_epi64(bytes, shift), _mm512_set1_epi64((long long)DIGIT_MASK));
        _mm512_storeu_si512(digit + v * LANES, bytes);
    }
}

WITH_VECTORS void tacit_vector_start(tacit_modulus *modulus) {
    /* a bit over m at least */
    size_t digits = (modulus->limbs * LIMB_BITS + TACIT_DIGIT_BITS) / TACIT_DIGIT_BITS;
    if (digits > TACIT_RESIDUE_DIGITS_MOST) return;
    modulus->digits = digits;
    modulus->digit_inverse = modulus->inverse & DIGIT_MASK;
    split_digits(modulus->digit, modulus->m, modulus->limbs, (digits + LANES - 1) / LANES);
}

/* Carries through, and the digits as limbs, one limb more than m has; the value is not negative. */
static void join_digits(mp_limb_t *out, const uint64_t *lane, size_t digits, size_t limbs) {
    uint8_t bytes[(TACIT_RESIDUE_DIGITS_MOST / 2 + 2) * 13];
    int64_t carry = 0;
    size_t at = 0;
    for (size_t i = 0; i < digits; i += 2, at += 13) {
        int64_t first = (int64_t)lane[i] + carry;
        carry = first >> TACIT_DIGIT_BITS;
        int64_t second = (int64_t)(i + 1 < digits ? lane[i + 1] : 0) + carry;
        carry = second >> TACIT_DIGIT_BITS;
        uint64_t low = ((uint64_t)first & DIGIT_MASK) | (uint64_t)second << TACIT_DIGIT_BITS;
        uint64_t high = ((uint64_t)second & DIGIT_MASK) >> (LIMB_BITS - TACIT_DIGIT_BITS);
        memcpy(bytes + at, &low, sizeof low);
        memcpy(bytes + at + 8, &high, sizeof high);
    }
    memset(bytes + at, 0, 16);
    memcpy(out, bytes, (limbs + 1) * sizeof *out);
}

/* As in residue.c. */
static mp_limb_t reduce(const tacit_modulus *modulus, mp_limb_t *r, mp_limb_t *carry) {
    mp_size_t limbs = (mp_size_t)modulus->limbs;
    *carry -= mpn_sub_n(r, r, modulus->m, limbs);
    mp_limb_t below = *carry >> (LIMB_BITS - 1);
    *carry += mpn_cnd_add_n(below, r, r, modulus->m, limbs);
    return 1 - below;
}

/* Both are below 2 m: T and Q m below m V, S below 2 m^2 and V over 2 m; -Q takes off less than 1 of S's
 * quotient, so that it stays whole and not negative. */
static void finish(const tacit_modulus *modulus, mp_limb_t *out, const uint64_t *T, const uint64_t *S) {
    size_t limbs = modulus->limbs;
    mp_limb_t low[TACIT_RESIDUE_LIMBS_MOST + 1], high[TACIT_RESIDUE_LIMBS_MOST + 1];
    mp_limb_t add[TACIT_RESIDUE_LIMBS_MOST] = { 0 };
    join_digits(low, T, modulus->digits, limbs);
    join_digits(high, S, modulus->digits, limbs);
    add[0] = reduce(modulus, low, &low[limbs]);
    high[limbs] += mpn_add_n(high, high, add, (mp_size_t)limbs);
    reduce(modulus, high, &high[limbs]);
    reduce(modulus, high, &high[limbs]);
    mpn_copyi(out, low, (mp_size_t)limbs);
    mpn_copyi(out + limbs, high, (mp_size_t)limbs);
}

/* Drop the lowest digit, whose carry goes to the next. */
INLINED void drop_digit(__m512i *lane, size_t vectors, int64_t lowest) {
    UNROLLED
    for (size_t v = 0; v + 1 < vectors; v++) lane[v] = _mm512_alignr_epi64(lane[v + 1], lane[v], 1);
    lane[vectors - 1] = _mm512_alignr_epi64(_mm512_setzero_si512(), lane[vectors - 1], 1);
    lane[0] =
        _mm512_add_epi64(lane[0], _mm512_zextsi128_si512(_mm_cvtsi64_si128(lowest >> TACIT_DIGIT_BITS)));
}

INLINED int64_t lowest_of(__m512i lanes) { return _mm_cvtsi128_si64(_mm512_castsi512_si128(lanes)); }

INLINED void multiply(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x, const mp_limb_t *y,
                      size_t vectors) {
    uint64_t x0[TACIT_RESIDUE_DIGITS_MOST], x1[TACIT_RESIDUE_DIGITS_MOST];
    uint64_t y0[TACIT_RESIDUE_DIGITS_MOST], y1[TACIT_RESIDUE_DIGITS_MOST];
    __m512i T[VECTORS_MOST], S[VECTORS_MOST], X0[VECTORS_MOST], X1[VECTORS_MOST], M[VECTORS_MOST];
    split_digits(x0, x, modulus->limbs, vectors);
    split_digits(x1, x + modulus->limbs, modulus->limbs, vectors);
    split_digits(y0, y, modulus->limbs, vectors);
    split_digits(y1, y + modulus->limbs, modulus->limbs, vectors);
    UNROLLED
    for (size_t v = 0; v < vectors; v++) {
        X0[v] = _mm512_loadu_si512(x0 + v * LANES);
        X1[v] = _mm512_loadu_si512(x1 + v * LANES);
        M[v] = _mm512_loadu_si512(modulus->digit + v * LANES);
        T[v] = S[v] = _mm512_setzero_si512();
    }
    for (size_t i = 0; i < modulus->digits; i++) {
        const __m512i a = _mm512_set1_epi64((long long)y0[i]), b = _mm512_set1_epi64((long long)y1[i]);
        UNROLLED
        for (size_t v = 0; v < vectors; v++) {
            T[v] = _mm512_madd52lo_epu64(T[v], X0[v], a);
            S[v] = _mm512_madd52lo_epu64(S[v], X0[v], b);
            S[v] = _mm512_madd52lo_epu64(S[v], X1[v], a);
        }
        uint64_t q = (uint64_t)lowest_of(T[0]) * modulus->digit_inverse & DIGIT_MASK;
        S[0] = _mm512_sub_epi64(S[0], _mm512_zextsi128_si512(_mm_cvtsi64_si128((long long)q)));
        uint64_t s = (uint64_t)lowest_of(S[0]) * modulus->digit_inverse & DIGIT_MASK;
        const __m512i Q = _mm512_set1_epi64((long long)q), P = _mm512_set1_epi64((long long)s);
        UNROLLED
        for (size_t v = 0; v < vectors; v++) {
            T[v] = _mm512_madd52lo_epu64(T[v], M[v], Q);
            S[v] = _mm512_madd52lo_epu64(S[v], M[v], P);
        }
        drop_digit(T, vectors, lowest_of(T[0]));
        drop_digit(S, vectors, lowest_of(S[0]));
        UNROLLED
        for (size_t v = 0; v < vectors; v++) {
            T[v] = _mm512_madd52hi_epu64(T[v], X0[v], a);
            T[v] = _mm512_madd52hi_epu64(T[v], M[v], Q);
            S[v] = _mm512_madd52hi_epu64(S[v], X0[v], b);
            S[v] = _mm512_madd52hi_epu64(S[v], X1[v], a);
            S[v] = _mm512_madd52hi_epu64(S[v], M[v], P);
        }
    }
    UNROLLED
    for (size_t v = 0; v < vectors; v++) {
        _mm512_storeu_si512(x0 + v * LANES, T[v]);
        _mm512_storeu_si512(x1 + v * LANES, S[v]);
    }
    finish(modulus, out, x0, x1);
}

/* One copy for each length, so that the accumulators stay in registers. */
#define LENGTHS(COPY) COPY(1) COPY(2) COPY(3) COPY(4) COPY(5) COPY(6) COPY(7) COPY(8) COPY(9) COPY(10)
#define DEFINE(vectors)                                                                                      \
    WITH_VECTORS static void multiply_##vectors(const tacit_modulus *modulus, mp_limb_t *out,                \
                                                const mp_limb_t *x, const mp_limb_t *y) {                    \
        multiply(modulus, out, x, y, vectors);                                                               \
    }
LENGTHS(DEFINE)

void tacit_vector_multiply(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x,
                           const mp_limb_t *y) {
    static void (*const copies[])(const tacit_modulus *, mp_limb_t *, const mp_limb_t *,
                                  const mp_limb_t *) = {
#define NAME(vectors) multiply_##vectors,
        LENGTHS(NAME)
    };
    copies[(modulus->digits - 1) / LANES](modulus, out, x, y);
}

/* 8 `vectors` limbs of the entry; of one vector only `lanes`. */
INLINED void select_some(mp_limb_t *out, const mp_limb_t *table, size_t limbs, size_t count, size_t which,
                         size_t vectors, __mmask8 lanes) {
    __m512i sum[4];
    UNROLLED
    for (size_t v = 0; v < vectors; v++) sum[v] = _mm512_setzero_si512();
    for (size_t i = 0; i < count; i++, table += limbs) {
        const __m512i mask = _mm512_set1_epi64(-(long long)(((i ^ which) - 1) >> 63)); /* ones where equal */
        UNROLLED
        for (size_t v = 0; v < vectors; v++) {
            __m512i entry = _mm512_maskz_loadu_epi64(lanes, table + v * LANES);
            sum[v] = _mm512_ternarylogic_epi64(sum[v], entry, mask, 0xf8); /* sum | (entry & mask) */
        }
    }
    UNROLLED
    for (size_t v = 0; v < vectors; v++) _mm512_mask_storeu_epi64(out + v * LANES, lanes, sum[v]);
}

WITH_VECTORS void tacit_vector_select(mp_limb_t *out, const mp_limb_t *table, size_t limbs, size_t count,
                                      size_t which) {
    enum { WIDE = 4 };
    size_t at = 0;
    for (; at + WIDE * LANES <= limbs; at += WIDE * LANES)
        select_some(out + at, table + at, limbs, count, which, WIDE, 0xff);
    for (; at < limbs; at += LANES)
        select_some(out + at, table + at, limbs, count, which, 1,
                    limbs - at < LANES ? (__mmask8)((1u << (limbs - at)) - 1) : 0xff);
}

#else

bool tacit_vector_available(void) { return false; }

void tacit_vector_start(tacit_modulus *modulus) { (void)modulus; }

void tacit_vector_multiply(const tacit_modulus *modulus, mp_limb_t *out, const mp_limb_t *x,
                           const mp_limb_t *y) {
    (void)modulus, (void)out, (void)x, (void)y; /* never called: digits stays 0 */
}

void tacit_vector_select(mp_limb_t *out, const mp_limb_t *table, size_t limbs, size_t count, size_t which) {
    (void)out, (void)table, (void)limbs, (void)count, (void)which;
}

#endif
