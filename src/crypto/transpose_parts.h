/*
 * Transposing 128 rows of bits by recursive exchange (Eklundh): at step k every pair of rows 2^k apart
 * exchanges the off-diagonal blocks of 2^k bits. Vectors of 512 bits hold four 128 x 128 matrices side by
 * side; the compiler makes them of whatever registers the including file may use (SSE2, AVX-512, plain
 * words).
 */
#pragma once

#include <string.h>

#include "crypto/label.h"

typedef uint64_t tacit_bits512 __attribute__((vector_size(64)));

#define TACIT_TRANSPOSE_INLINE static inline __attribute__((always_inline))

TACIT_TRANSPOSE_INLINE void tacit_exchange_bits(tacit_bits512 *rows, unsigned step, uint64_t mask) {
    for (unsigned base = 0; base < 128; base += 2 * step)
        for (unsigned i = base; i < base + step; i++) {
            tacit_bits512 moved = ((rows[i] >> step) ^ rows[i + step]) & mask;
            rows[i + step] ^= moved;
            rows[i] ^= moved << step;
        }
}

TACIT_TRANSPOSE_INLINE void tacit_transpose_rows(tacit_wire *out, const uint8_t *rows, size_t stride,
                                                 size_t columns) {
    for (size_t at = 0; at < columns; at += 512) {
        tacit_bits512 block[128];
        for (unsigned r = 0; r < 128; r++) memcpy(&block[r], rows + r * stride + at / 8, sizeof block[r]);
        tacit_exchange_bits(block, 1, UINT64_C(0x5555555555555555));
        tacit_exchange_bits(block, 2, UINT64_C(0x3333333333333333));
        tacit_exchange_bits(block, 4, UINT64_C(0x0f0f0f0f0f0f0f0f));
        tacit_exchange_bits(block, 8, UINT64_C(0x00ff00ff00ff00ff));
        tacit_exchange_bits(block, 16, UINT64_C(0x0000ffff0000ffff));
        tacit_exchange_bits(block, 32, UINT64_C(0x00000000ffffffff));
        /* The last step moves whole words: row r gets the low words, row r + 64 the high ones. */
        for (unsigned r = 0; r < 64; r++)
            for (unsigned k = 0; k < 4; k++) {
                tacit_wire *to = out + at + 128 * k;
                to[r] = (tacit_wire){ { block[r][2 * k], block[r + 64][2 * k] } };
                to[r + 64] = (tacit_wire){ { block[r][2 * k + 1], block[r + 64][2 * k + 1] } };
            }
    }
}
