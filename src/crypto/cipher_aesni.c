/* One AES block an instruction; two gates, their eight states and four key schedules, in flight at a time. */
#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#include "crypto/cipher_parts.h"
#include "crypto/transpose_parts.h"

#define AESNI __attribute__((target("aes,ssse3,sse4.1")))
#define AESNI_INLINE static inline __attribute__((always_inline, target("aes,ssse3,sse4.1")))
#define UNROLL _Pragma("GCC unroll 16")

/* Round constants of the key schedule, FIPS 197, 5.2. */
static const uint8_t round_constant[TACIT_AES_ROUNDS] = { 0x01, 0x02, 0x04, 0x08, 0x10,
                                                          0x20, 0x40, 0x80, 0x1b, 0x36 };

AESNI_INLINE __m128i load(const void *from) { return _mm_loadu_si128(from); }
AESNI_INLINE void store(void *to, __m128i value) { _mm_storeu_si128(to, value); }

/* The next round key. AESENCLAST on four equal columns is the S-box alone, and faster than
 * AESKEYGENASSIST. */
AESNI_INLINE __m128i next_key(__m128i key, int round) {
    const __m128i rotated_last = _mm_set1_epi32(0x0c0f0e0d);
    __m128i last =
        _mm_aesenclast_si128(_mm_shuffle_epi8(key, rotated_last), _mm_set1_epi32(round_constant[round]));
    key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
    key = _mm_xor_si128(key, _mm_slli_si128(key, 8));
    return _mm_xor_si128(key, last);
}

/* s(l || r) = (l xor r) || l */
AESNI_INLINE __m128i orthomorphism(__m128i x) {
    const __m128i left = _mm_set_epi64x(-1, 0);
    return _mm_xor_si128(_mm_shuffle_epi32(x, 0x4e), _mm_and_si128(x, left));
}

/* All ones where the colour is 1. */
AESNI_INLINE __m128i colour_mask(__m128i x) {
    __m128i bit = _mm_and_si128(_mm_shuffle_epi32(x, 0x44), _mm_set1_epi64x(1));
    return _mm_sub_epi64(_mm_setzero_si128(), bit);
}

static AESNI void aesni_expand_key(tacit_aes_key *out, tacit_wire key) {
    __m128i round = load(&key);
    store(&out->round[0], round);
    for (int r = 0; r < TACIT_AES_ROUNDS; r++) store(&out->round[r + 1], round = next_key(round, r));
}

/* `states` blocks under each of `keys` keys, which are made on the way. */
AESNI_INLINE void rekeyed(__m128i *state, __m128i *key, int keys, int states) {
    UNROLL for (int k = 0; k < keys * states; k++) state[k] = _mm_xor_si128(state[k], key[k / states]);
    UNROLL for (int r = 0; r < TACIT_AES_ROUNDS; r++) {
        UNROLL for (int k = 0; k < keys; k++) key[k] = next_key(key[k], r);
        UNROLL for (int k = 0; k < keys * states; k++) state[k] =
            r + 1 < TACIT_AES_ROUNDS ? _mm_aesenc_si128(state[k], key[k / states])
                                     : _mm_aesenclast_si128(state[k], key[k / states]);
    }
}

AESNI_INLINE void permuted(__m128i *state, const tacit_aes_key *key, int states) {
    UNROLL for (int k = 0; k < states; k++) state[k] = _mm_xor_si128(state[k], load(&key->round[0]));
    for (int r = 1; r <= TACIT_AES_ROUNDS; r++) {
        __m128i round = load(&key->round[r]);
        UNROLL for (int k = 0; k < states; k++) state[k] =
            r < TACIT_AES_ROUNDS ? _mm_aesenc_si128(state[k], round) : _mm_aesenclast_si128(state[k], round);
    }
}

/* Two blocks an instruction; as many as are a multiple of 16. */
static __attribute__((target("avx2,aes,vaes"))) size_t counter_wide(tacit_wire *out, const tacit_aes_key *key,
                                                                    uint64_t counter, size_t blocks) {
    size_t at = 0;
    for (; at + 16 <= blocks; at += 16) {
        __m256i state[8], round = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)&key->round[0]));
        UNROLL for (int k = 0; k < 8; k++) {
            const int64_t first = (int64_t)(counter + at + 2 * (size_t)k);
            state[k] = _mm256_xor_si256(_mm256_set_epi64x(0, first + 1, 0, first), round);
        }
        UNROLL for (int r = 1; r <= TACIT_AES_ROUNDS; r++) {
            round = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)&key->round[r]));
            UNROLL for (int k = 0; k < 8; k++) state[k] = r < TACIT_AES_ROUNDS
                                                              ? _mm256_aesenc_epi128(state[k], round)
                                                              : _mm256_aesenclast_epi128(state[k], round);
        }
        UNROLL for (int k = 0; k < 8; k++) _mm256_storeu_si256((void *)&out[at + 2 * (size_t)k], state[k]);
    }
    return at;
}

static AESNI void aesni_counter(tacit_wire *out, const tacit_aes_key *key, uint64_t counter, size_t blocks) {
    for (size_t at = 0; at < blocks; at += 8) {
        __m128i state[8];
        UNROLL for (int k = 0; k < 8; k++) state[k] = _mm_set_epi64x(0, (int64_t)(counter + at + (size_t)k));
        permuted(state, key, 8);
        for (size_t k = 0; k < 8 && at + k < blocks; k++) store(&out[at + k], state[k]);
    }
}

static void wide_counter(tacit_wire *out, const tacit_aes_key *key, uint64_t counter, size_t blocks) {
    size_t done = counter_wide(out, key, counter, blocks);
    aesni_counter(out + done, key, counter + done, blocks - done);
}

/* H of `keys * states` values; values k * states ... share tweak + k. */
AESNI_INLINE void hashed(__m128i *value, const tacit_hash_key *hash, uint64_t tweak, int keys, int states) {
    __m128i fed[8], key[8];
    if (hash->is_fixed) {
        permuted(value, &hash->fixed, keys * states);
        UNROLL for (int k = 0; k < keys * states; k++) {
            fed[k] = value[k];
            value[k] = _mm_xor_si128(value[k], _mm_set_epi64x(0, (int64_t)(tweak + (uint64_t)(k / states))));
        }
        permuted(value, &hash->fixed, keys * states);
    } else {
        UNROLL for (int k = 0; k < keys; k++) key[k] =
            _mm_add_epi64(load(&hash->start), _mm_set_epi64x(0, (int64_t)(tweak + (uint64_t)k)));
        UNROLL for (int k = 0; k < keys * states; k++) fed[k] = value[k] = orthomorphism(value[k]);
        rekeyed(value, key, keys, states);
    }
    UNROLL for (int k = 0; k < keys * states; k++) value[k] = _mm_xor_si128(value[k], fed[k]);
}

static AESNI void aesni_hash(tacit_wire *out, const tacit_wire *in, const tacit_hash_key *key, uint64_t tweak,
                             size_t count) {
    for (size_t at = 0; at < count; at += 4) {
        size_t part = count - at < 4 ? count - at : 4;
        __m128i value[4] = { _mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128(),
                             _mm_setzero_si128() };
        for (size_t k = 0; k < part; k++) value[k] = load(&in[at + k]);
        hashed(value, key, tweak + at, 4, 1);
        for (size_t k = 0; k < part; k++) store(&out[at + k], value[k]);
    }
}

/* `gates` (1 or 2) gates whose TG and TE entries are `apart` bytes from one another. */
AESNI_INLINE void garble_gates(tacit_wire *out, uint8_t *table, size_t apart, const tacit_wire *a,
                               const tacit_wire *b, __m128i delta, const tacit_hash_key *key, uint64_t tweak,
                               int gates) {
    __m128i h[8];
    UNROLL for (int k = 0; k < gates; k++) {
        h[4 * k] = load(&a[k]);
        h[4 * k + 1] = _mm_xor_si128(h[4 * k], delta);
        h[4 * k + 2] = load(&b[k]);
        h[4 * k + 3] = _mm_xor_si128(h[4 * k + 2], delta);
    }
    hashed(h, key, tweak, 2 * gates, 2);
    UNROLL for (int k = 0; k < gates; k++) {
        __m128i left = load(&a[k]), right = colour_mask(load(&b[k]));
        __m128i both = _mm_xor_si128(h[4 * k + 2], h[4 * k + 3]);
        __m128i first = _mm_xor_si128(_mm_xor_si128(h[4 * k], h[4 * k + 1]), _mm_and_si128(right, delta));
        __m128i zero = _mm_xor_si128(h[4 * k], _mm_and_si128(colour_mask(left), first));
        store(table + 16 * k, first);
        store(table + apart + 16 * k, _mm_xor_si128(both, left));
        store(&out[k], _mm_xor_si128(_mm_xor_si128(zero, h[4 * k + 2]), _mm_and_si128(right, both)));
    }
}

static AESNI void aesni_garble(tacit_wire *out, uint8_t *table, const tacit_wire *a, const tacit_wire *b,
                               tacit_wire delta, const tacit_hash_key *key, uint64_t tweak, size_t count) {
    __m128i difference = load(&delta);
    for (size_t at = 0; at < count;) {
        size_t group = at / 4 * 4, in_group = count - group < 4 ? count - group : 4;
        uint8_t *to = table + TACIT_GATE_BYTES * group + 16 * (at - group);
        if (count - at >= 2) {
            garble_gates(out + at, to, 16 * in_group, a + at, b + at, difference, key, tweak + 2 * at, 2);
            at += 2;
        } else {
            garble_gates(out + at, to, 16 * in_group, a + at, b + at, difference, key, tweak + 2 * at, 1);
            at++;
        }
    }
}

AESNI_INLINE void evaluate_gates(tacit_wire *out, const uint8_t *table, size_t apart, const tacit_wire *a,
                                 const tacit_wire *b, const tacit_hash_key *key, uint64_t tweak, int gates) {
    __m128i h[8];
    UNROLL for (int k = 0; k < gates; k++) {
        h[2 * k] = load(&a[k]);
        h[2 * k + 1] = load(&b[k]);
    }
    hashed(h, key, tweak, 2 * gates, 1);
    UNROLL for (int k = 0; k < gates; k++) {
        __m128i left = load(&a[k]), right = load(&b[k]);
        __m128i first = _mm_and_si128(colour_mask(left), load(table + 16 * k));
        __m128i second = _mm_and_si128(colour_mask(right), _mm_xor_si128(load(table + apart + 16 * k), left));
        store(&out[k], _mm_xor_si128(_mm_xor_si128(h[2 * k], first), _mm_xor_si128(h[2 * k + 1], second)));
    }
}

static AESNI void aesni_evaluate(tacit_wire *out, const uint8_t *table, const tacit_wire *a,
                                 const tacit_wire *b, const tacit_hash_key *key, uint64_t tweak,
                                 size_t count) {
    for (size_t at = 0; at < count;) {
        size_t left = count - at, in_group = left < 4 ? left : 4;
        const uint8_t *from = table + TACIT_GATE_BYTES * at;
        if (in_group == 4) {
            evaluate_gates(out + at, from, 64, a + at, b + at, key, tweak + 2 * at, 4);
        } else {
            for (size_t k = 0; k < in_group; k++)
                evaluate_gates(out + at + k, from + 16 * k, 16 * in_group, a + at + k, b + at + k, key,
                               tweak + 2 * (at + k), 1);
        }
        at += in_group;
    }
}

static AESNI void aesni_transpose(tacit_wire *out, const uint8_t *rows, size_t stride, size_t columns) {
    tacit_transpose_rows(out, rows, stride, columns);
}

/* ---- the field of 2^128 elements ---- */

#define CLMUL __attribute__((target("pclmul,ssse3,sse4.1")))
#define CLMUL_INLINE static inline __attribute__((always_inline, target("pclmul,ssse3,sse4.1")))

/* Add a b, 256 bits that are not reduced yet, in three overlapping parts. */
CLMUL_INLINE void add_product(__m128i part[3], __m128i a, __m128i b) {
    part[0] = _mm_xor_si128(part[0], _mm_clmulepi64_si128(a, b, 0x00));
    part[1] = _mm_xor_si128(
        part[1], _mm_xor_si128(_mm_clmulepi64_si128(a, b, 0x01), _mm_clmulepi64_si128(a, b, 0x10)));
    part[2] = _mm_xor_si128(part[2], _mm_clmulepi64_si128(a, b, 0x11));
}

CLMUL_INLINE __m128i reduced(const __m128i part[3]) {
    const __m128i rest = _mm_set_epi64x(0, 0x87);
    __m128i low = _mm_xor_si128(part[0], _mm_slli_si128(part[1], 8));
    __m128i high = _mm_xor_si128(part[2], _mm_srli_si128(part[1], 8));
    __m128i top = _mm_clmulepi64_si128(high, rest, 0x01);
    low = _mm_xor_si128(low, _mm_slli_si128(top, 8));
    high = _mm_xor_si128(high, _mm_srli_si128(top, 8));
    return _mm_xor_si128(low, _mm_clmulepi64_si128(high, rest, 0x00));
}

/* Four blocks a reduction. */
CLMUL tacit_wire tacit_polynomial_clmul(const tacit_wire power[4], const tacit_wire *x, size_t blocks) {
    const __m128i y1 = _mm_loadu_si128((const void *)&power[0]),
                  y2 = _mm_loadu_si128((const void *)&power[1]),
                  y3 = _mm_loadu_si128((const void *)&power[2]),
                  y4 = _mm_loadu_si128((const void *)&power[3]);
    __m128i sum = _mm_setzero_si128();
    for (size_t k = 0; k < blocks; k += 4) {
        __m128i part[3] = { _mm_loadu_si128((const void *)&x[k + 3]), _mm_setzero_si128(),
                            _mm_setzero_si128() };
        add_product(part, sum, y4);
        add_product(part, _mm_loadu_si128((const void *)&x[k]), y3);
        add_product(part, _mm_loadu_si128((const void *)&x[k + 1]), y2);
        add_product(part, _mm_loadu_si128((const void *)&x[k + 2]), y1);
        sum = reduced(part);
    }
    tacit_wire out;
    _mm_storeu_si128((void *)&out, sum);
    return out;
}

const tacit_cipher tacit_cipher_aesni = { aesni_expand_key,      aesni_counter,  aesni_hash,
                                          aesni_garble,          aesni_evaluate, aesni_transpose,
                                          tacit_polynomial_clmul };

const tacit_cipher tacit_cipher_aesni_wide = { aesni_expand_key,      wide_counter,   aesni_hash,
                                               aesni_garble,          aesni_evaluate, aesni_transpose,
                                               tacit_polynomial_clmul };
#else
typedef int tacit_no_aesni; /* a file must not be empty */
#endif
