/*
 * Streams of random bytes: ChaCha20 under a 256-bit key. A stream is a value; forking derives an
 * independent child key from the parent's key and a purpose (BLAKE2b), never from how much the parent has
 * been used, so that party k of round t draws the same numbers on any number of threads.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { TACIT_STREAM_KEY_BYTES = 32, TACIT_STREAM_CACHE_BYTES = 512 };

typedef struct tacit_stream {
    uint8_t key[TACIT_STREAM_KEY_BYTES];
    uint64_t block; /* next 64-byte ChaCha20 block */
    uint8_t cache[TACIT_STREAM_CACHE_BYTES];
    size_t used; /* bytes of the cache already handed out */
} tacit_stream;

/* A reproducible stream for simulations. */
tacit_stream tacit_stream_from_seed(uint64_t seed);

/* A stream under a given key, for state that must survive a restart. */
tacit_stream tacit_stream_from_key(const uint8_t key[TACIT_STREAM_KEY_BYTES]);

/* A stream under a key from the operating system. */
tacit_stream tacit_stream_from_entropy(void);

/* An independent stream for `purpose`, and for example party `first` in round `second`. */
tacit_stream tacit_stream_fork(const tacit_stream *parent, const char *purpose, uint64_t first,
                               uint64_t second);

void tacit_stream_bytes(tacit_stream *stream, void *out, size_t length);
uint64_t tacit_stream_u64(tacit_stream *stream);

/* Uniform on {0, ..., bound - 1} without bias; bound > 0. */
uint64_t tacit_stream_below(tacit_stream *stream, uint64_t bound);

/* Uniform in the open interval (0, 1), on a grid of 2^-53. */
double tacit_stream_unit(tacit_stream *stream);

/* A uniformly random order of 0..count-1 written to `order`. */
void tacit_stream_permutation(tacit_stream *stream, size_t *order, size_t count);

/* Overwrite the key and the cache. */
void tacit_stream_wipe(tacit_stream *stream);
