#include "crypto/sum/mask.h"

#include <endian.h>
#include <sodium.h>
#include <string.h>

/* Words worked on at a time: values and key stream together stay in the first-level cache while all masks are
 * added, so that a vector passes through memory once and not once a mask. A multiple of the 8 words of a
 * ChaCha20 block. */
enum { PIECE = 1024, BLOCK_WORDS = 8 };

typedef struct work {
    uint64_t *values;
    size_t length;
    const tacit_mask *masks;
    size_t mask_count;
} work;

static void add_words(uint64_t *values, const uint64_t *stream, size_t count) {
    for (size_t i = 0; i < count; i++) values[i] += le64toh(stream[i]);
}

static void subtract_words(uint64_t *values, const uint64_t *stream, size_t count) {
    for (size_t i = 0; i < count; i++) values[i] -= le64toh(stream[i]);
}

static void apply_to_piece(const work *self, size_t piece) {
    static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES] = { 0 };
    uint64_t stream[PIECE];
    size_t first = piece * PIECE;
    size_t count = self->length - first < PIECE ? self->length - first : PIECE;
    for (size_t m = 0; m < self->mask_count; m++) {
        memset(stream, 0, count * sizeof *stream);
        crypto_stream_chacha20_xor_ic((uint8_t *)stream, (const uint8_t *)stream, count * sizeof *stream,
                                      nonce, first / BLOCK_WORDS, self->masks[m].seed);
        if (self->masks[m].subtract)
            subtract_words(self->values + first, stream, count);
        else
            add_words(self->values + first, stream, count);
    }
    sodium_memzero(stream, sizeof stream);
}

static tacit_status apply(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    (void)worker;
    (void)error;
    for (size_t piece = begin; piece < end; piece++) apply_to_piece(context, piece);
    return TACIT_OK;
}

tacit_status tacit_mask_apply(uint64_t *values, size_t length, const tacit_mask *masks, size_t mask_count,
                              tacit_pool *pool, tacit_error *error) {
    work self = { values, length, masks, mask_count };
    return tacit_pool_for(pool, length / PIECE + (length % PIECE != 0), 1, apply, &self, error);
}
