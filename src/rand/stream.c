#include "rand/stream.h"

#include <sodium.h>
#include <string.h>

tacit_stream tacit_stream_from_key(const uint8_t key[TACIT_STREAM_KEY_BYTES]) {
    tacit_stream stream = { .used = TACIT_STREAM_CACHE_BYTES };
    memcpy(stream.key, key, TACIT_STREAM_KEY_BYTES);
    return stream;
}

static void append_little_endian(uint8_t *out, uint64_t value) {
    for (size_t i = 0; i < 8; i++) out[i] = (uint8_t)(value >> (8 * i));
}

tacit_stream tacit_stream_from_seed(uint64_t seed) {
    static const char purpose[] = "tacit simulation seed";
    uint8_t input[sizeof purpose + 8], key[TACIT_STREAM_KEY_BYTES];
    memcpy(input, purpose, sizeof purpose);
    append_little_endian(input + sizeof purpose, seed);
    crypto_generichash(key, sizeof key, input, sizeof input, NULL, 0);
    return tacit_stream_from_key(key);
}

tacit_stream tacit_stream_from_entropy(void) {
    uint8_t key[TACIT_STREAM_KEY_BYTES];
    randombytes_buf(key, sizeof key);
    tacit_stream stream = tacit_stream_from_key(key);
    sodium_memzero(key, sizeof key);
    return stream;
}

tacit_stream tacit_stream_fork(const tacit_stream *parent, const char *purpose, uint64_t first,
                               uint64_t second) {
    uint8_t numbers[16], key[TACIT_STREAM_KEY_BYTES];
    append_little_endian(numbers, first);
    append_little_endian(numbers + 8, second);
    crypto_generichash_state hash;
    crypto_generichash_init(&hash, parent->key, sizeof parent->key, sizeof key);
    crypto_generichash_update(&hash, numbers, sizeof numbers);
    crypto_generichash_update(&hash, (const uint8_t *)purpose, strlen(purpose));
    crypto_generichash_final(&hash, key, sizeof key);
    tacit_stream child = tacit_stream_from_key(key);
    sodium_memzero(key, sizeof key);
    return child;
}

static void refill(tacit_stream *stream) {
    static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES];
    memset(stream->cache, 0, sizeof stream->cache);
    crypto_stream_chacha20_xor_ic(stream->cache, stream->cache, sizeof stream->cache, nonce, stream->block,
                                  stream->key);
    stream->block += sizeof stream->cache / 64;
    stream->used = 0;
}

void tacit_stream_bytes(tacit_stream *stream, void *out, size_t length) {
    uint8_t *at = out;
    while (length > 0) {
        if (stream->used == sizeof stream->cache) refill(stream);
        size_t piece = sizeof stream->cache - stream->used;
        if (piece > length) piece = length;
        memcpy(at, stream->cache + stream->used, piece);
        sodium_memzero(stream->cache + stream->used, piece); /* what was drawn cannot be read back */
        stream->used += piece;
        at += piece;
        length -= piece;
    }
}

uint64_t tacit_stream_u64(tacit_stream *stream) {
    uint8_t bytes[8];
    tacit_stream_bytes(stream, bytes, sizeof bytes);
    uint64_t value = 0;
    for (size_t i = 0; i < 8; i++) value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

uint64_t tacit_stream_below(tacit_stream *stream, uint64_t bound) {
    /* Reject the incomplete last run of residues, so that each is equally likely. */
    uint64_t excess = (UINT64_MAX % bound + 1) % bound, value;
    do value = tacit_stream_u64(stream);
    while (excess != 0 && value > UINT64_MAX - excess);
    return value % bound;
}

double tacit_stream_unit(tacit_stream *stream) {
    return ((double)(tacit_stream_u64(stream) >> 12) + 0.5) * 0x1p-52;
}

void tacit_stream_permutation(tacit_stream *stream, size_t *order, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t j = (size_t)tacit_stream_below(stream, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

void tacit_stream_wipe(tacit_stream *stream) { sodium_memzero(stream, sizeof *stream); }
