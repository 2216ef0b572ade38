/*
 * Masks: a seed of 32 bytes stands for a vector of uniform 64-bit integers, the ChaCha20 key stream under it
 * read as little-endian words. A vector plus a mask, modulo 2^64, is as good as random to whoever lacks the
 * seed.
 *
 * A seed makes one vector and is never used again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"

enum { TACIT_MASK_SEED_BYTES = 32 };

typedef struct tacit_mask {
    uint8_t seed[TACIT_MASK_SEED_BYTES];
    bool subtract;
} tacit_mask;

/* Add the `mask_count` masks to `values`, or subtract those that say so, modulo 2^64; the work is spread over
 * the pool (NULL: this thread). TACIT_NO_MEMORY leaves `values` undefined. */
tacit_status tacit_mask_apply(uint64_t *values, size_t length, const tacit_mask *masks, size_t mask_count,
                              tacit_pool *pool, tacit_error *error);
