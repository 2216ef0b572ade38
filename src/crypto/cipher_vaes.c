/* Four AES blocks an instruction: four gates a vector, eight gates in flight. */
#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#include "crypto/cipher_parts.h"
#include "crypto/transpose_parts.h"

#define VAES __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,aes,vaes")))
#define VAES_INLINE                                                                                          \
    static inline __attribute__((always_inline, target("avx512f,avx512bw,avx512dq,avx512vl,aes,vaes")))
#define UNROLL _Pragma("GCC unroll 16")

static const uint8_t round_constant[TACIT_AES_ROUNDS] = { 0x01, 0x02, 0x04, 0x08, 0x10,
                                                          0x20, 0x40, 0x80, 0x1b, 0x36 };

/* Wires that a vector of up to four holds: two mask bits a wire. */
VAES_INLINE __mmask8 lanes(size_t count) { return (__mmask8)((1u << 2 * count) - 1); }

VAES_INLINE __m512i load(const void *from, __mmask8 which) { return _mm512_maskz_loadu_epi64(which, from); }
VAES_INLINE void store(void *to, __m512i value, __mmask8 which) {
    _mm512_mask_storeu_epi64(to, which, value);
}
VAES_INLINE __m512i four_times(const tacit_wire *wire) {
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)wire));
}

/* See cipher_aesni.c. */
VAES_INLINE __m512i next_key(__m512i key, int round) {
    const __m512i rotated_last = _mm512_set1_epi32(0x0c0f0e0d);
    __m512i last = _mm512_aesenclast_epi128(_mm512_shuffle_epi8(key, rotated_last),
                                            _mm512_set1_epi32(round_constant[round]));
    key = _mm512_xor_si512(key, _mm512_bslli_epi128(key, 4));
    return _mm512_ternarylogic_epi64(key, _mm512_bslli_epi128(key, 8), last, 0x96); /* three-way XOR */
}

VAES_INLINE __m512i orthomorphism(__m512i x) {
    __m512i swapped = _mm512_shuffle_epi32(x, _MM_PERM_BADC);
    return _mm512_mask_xor_epi64(swapped, 0xaa, swapped, x);
}

/* Both halves of each wire whose colour is 1. */
VAES_INLINE __mmask8 coloured(__m512i x) {
    return _mm512_test_epi64_mask(_mm512_unpacklo_epi64(x, x), _mm512_set1_epi64(1));
}

VAES_INLINE void rekeyed(__m512i *state, __m512i *key, int keys, int states) {
    UNROLL for (int k = 0; k < keys * states; k++) state[k] = _mm512_xor_si512(state[k], key[k / states]);
    UNROLL for (int r = 0; r < TACIT_AES_ROUNDS; r++) {
        UNROLL for (int k = 0; k < keys; k++) key[k] = next_key(key[k], r);
        UNROLL for (int k = 0; k < keys * states; k++) state[k] =
            r + 1 < TACIT_AES_ROUNDS ? _mm512_aesenc_epi128(state[k], key[k / states])
                                     : _mm512_aesenclast_epi128(state[k], key[k / states]);
    }
}

VAES_INLINE void permuted(__m512i *state, const tacit_aes_key *key, int states) {
    __m512i round = four_times(&key->round[0]);
    UNROLL for (int k = 0; k < states; k++) state[k] = _mm512_xor_si512(state[k], round);
    UNROLL for (int r = 1; r <= TACIT_AES_ROUNDS; r++) {
        round = four_times(&key->round[r]);
        UNROLL for (int k = 0; k < states; k++) state[k] = r < TACIT_AES_ROUNDS
                                                               ? _mm512_aesenc_epi128(state[k], round)
                                                               : _mm512_aesenclast_epi128(state[k], round);
    }
}

static VAES void vaes_expand_key(tacit_aes_key *out, tacit_wire key) {
    tacit_cipher_aesni.expand_key(out, key);
}

/* Counters in the low halves of four wires, `step` apart. */
VAES_INLINE __m512i counted(uint64_t from, int64_t step) {
    return _mm512_add_epi64(_mm512_maskz_set1_epi64(0x55, (int64_t)from),
                            _mm512_set_epi64(0, 3 * step, 0, 2 * step, 0, step, 0, 0));
}

static VAES void vaes_counter(tacit_wire *out, const tacit_aes_key *key, uint64_t counter, size_t blocks) {
    for (size_t at = 0; at < blocks; at += 16) {
        __m512i state[4];
        UNROLL for (size_t k = 0; k < 4; k++) state[k] = counted(counter + at + 4 * k, 1);
        permuted(state, key, 4);
        for (size_t k = 0; k < 4 && at + 4 * k < blocks; k++) {
            size_t left = blocks - at - 4 * k;
            store(&out[at + 4 * k], state[k], lanes(left < 4 ? left : 4));
        }
    }
}

/* H of `keys * states` vectors; vectors k * states ... have the tweaks of tweaks[k]. */
VAES_INLINE void hashed(__m512i *value, const tacit_hash_key *hash, const __m512i *tweaks, int keys,
                        int states) {
    __m512i fed[8], key[8];
    if (hash->is_fixed) {
        permuted(value, &hash->fixed, keys * states);
        UNROLL for (int k = 0; k < keys * states; k++) {
            fed[k] = value[k];
            value[k] = _mm512_xor_si512(value[k], tweaks[k / states]);
        }
        permuted(value, &hash->fixed, keys * states);
    } else {
        UNROLL for (int k = 0; k < keys; k++) key[k] = _mm512_add_epi64(four_times(&hash->start), tweaks[k]);
        UNROLL for (int k = 0; k < keys * states; k++) fed[k] = value[k] = orthomorphism(value[k]);
        rekeyed(value, key, keys, states);
    }
    UNROLL for (int k = 0; k < keys * states; k++) value[k] = _mm512_xor_si512(value[k], fed[k]);
}

static VAES void vaes_hash(tacit_wire *out, const tacit_wire *in, const tacit_hash_key *key, uint64_t tweak,
                           size_t count) {
    size_t at = 0;
    for (; count - at >= 16; at += 16) {
        __m512i value[4], tweaks[4];
        UNROLL for (size_t k = 0; k < 4; k++) {
            value[k] = _mm512_loadu_si512(&in[at + 4 * k]);
            tweaks[k] = counted(tweak + at + 4 * k, 1);
        }
        hashed(value, key, tweaks, 4, 1);
        UNROLL for (size_t k = 0; k < 4; k++) _mm512_storeu_si512(&out[at + 4 * k], value[k]);
    }
    for (; at < count; at += 4) {
        __mmask8 which = lanes(count - at < 4 ? count - at : 4);
        __m512i value = load(&in[at], which), tweaks = counted(tweak + at, 1);
        hashed(&value, key, &tweaks, 1, 1);
        store(&out[at], value, which);
    }
}

/* `vectors` (1 or 2) groups of gates; the groups have `in_group` gates each. */
VAES_INLINE void garble_gates(tacit_wire *out, uint8_t *table, const tacit_wire *a, const tacit_wire *b,
                              __m512i delta, const tacit_hash_key *key, uint64_t tweak, int vectors,
                              size_t in_group) {
    __m512i h[8], tweaks[4];
    __mmask8 which = lanes(in_group);
    UNROLL for (int v = 0; v < vectors; v++) {
        h[4 * v] = load(&a[4 * v], which);
        h[4 * v + 1] = _mm512_xor_si512(h[4 * v], delta);
        h[4 * v + 2] = load(&b[4 * v], which);
        h[4 * v + 3] = _mm512_xor_si512(h[4 * v + 2], delta);
        tweaks[2 * v] = counted(tweak + 8 * (uint64_t)v, 2);
        tweaks[2 * v + 1] = counted(tweak + 8 * (uint64_t)v + 1, 2);
    }
    hashed(h, key, tweaks, 2 * vectors, 2);
    UNROLL for (int v = 0; v < vectors; v++) {
        __m512i left = load(&a[4 * v], which);
        __mmask8 pa = coloured(left), pb = coloured(load(&b[4 * v], which));
        __m512i both = _mm512_xor_si512(h[4 * v + 2], h[4 * v + 3]);
        __m512i first = _mm512_xor_si512(h[4 * v], h[4 * v + 1]);
        first = _mm512_mask_xor_epi64(first, pb, first, delta);
        __m512i zero = _mm512_xor_si512(h[4 * v], h[4 * v + 2]);
        zero = _mm512_mask_xor_epi64(zero, pa, zero, first);
        zero = _mm512_mask_xor_epi64(zero, pb, zero, both);
        store(table + 128 * v, first, which);
        store(table + 128 * v + 16 * in_group, _mm512_xor_si512(both, left), which);
        store(&out[4 * v], zero, which);
    }
}

static VAES void vaes_garble(tacit_wire *out, uint8_t *table, const tacit_wire *a, const tacit_wire *b,
                             tacit_wire delta, const tacit_hash_key *key, uint64_t tweak, size_t count) {
    __m512i difference = four_times(&delta);
    size_t at = 0;
    for (; count - at >= 8; at += 8)
        garble_gates(out + at, table + TACIT_GATE_BYTES * at, a + at, b + at, difference, key, tweak + 2 * at,
                     2, 4);
    for (; at < count; at += 4)
        garble_gates(out + at, table + TACIT_GATE_BYTES * at, a + at, b + at, difference, key, tweak + 2 * at,
                     1, count - at < 4 ? count - at : 4);
}

VAES_INLINE void evaluate_gates(tacit_wire *out, const uint8_t *table, const tacit_wire *a,
                                const tacit_wire *b, const tacit_hash_key *key, uint64_t tweak, int vectors,
                                size_t in_group) {
    __m512i h[8], tweaks[8];
    __mmask8 which = lanes(in_group);
    UNROLL for (int v = 0; v < vectors; v++) {
        h[2 * v] = load(&a[4 * v], which);
        h[2 * v + 1] = load(&b[4 * v], which);
        tweaks[2 * v] = counted(tweak + 8 * (uint64_t)v, 2);
        tweaks[2 * v + 1] = counted(tweak + 8 * (uint64_t)v + 1, 2);
    }
    hashed(h, key, tweaks, 2 * vectors, 1);
    UNROLL for (int v = 0; v < vectors; v++) {
        __m512i left = load(&a[4 * v], which);
        __mmask8 sa = coloured(left), sb = coloured(load(&b[4 * v], which));
        __m512i second = _mm512_xor_si512(load(table + 128 * v + 16 * in_group, which), left);
        __m512i value = _mm512_xor_si512(h[2 * v], h[2 * v + 1]);
        value = _mm512_mask_xor_epi64(value, sa, value, load(table + 128 * v, which));
        value = _mm512_mask_xor_epi64(value, sb, value, second);
        store(&out[4 * v], value, which);
    }
}

static VAES void vaes_evaluate(tacit_wire *out, const uint8_t *table, const tacit_wire *a,
                               const tacit_wire *b, const tacit_hash_key *key, uint64_t tweak, size_t count) {
    size_t at = 0;
    for (; count - at >= 16; at += 16)
        evaluate_gates(out + at, table + TACIT_GATE_BYTES * at, a + at, b + at, key, tweak + 2 * at, 4, 4);
    for (; at < count; at += 4)
        evaluate_gates(out + at, table + TACIT_GATE_BYTES * at, a + at, b + at, key, tweak + 2 * at, 1,
                       count - at < 4 ? count - at : 4);
}

static VAES void vaes_transpose(tacit_wire *out, const uint8_t *rows, size_t stride, size_t columns) {
    tacit_transpose_rows(out, rows, stride, columns);
}

const tacit_cipher tacit_cipher_vaes = { vaes_expand_key,       vaes_counter,  vaes_hash,
                                         vaes_garble,           vaes_evaluate, vaes_transpose,
                                         tacit_polynomial_clmul };
#else
typedef int tacit_no_vaes; /* a file must not be empty */
#endif
