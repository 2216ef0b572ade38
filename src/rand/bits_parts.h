/*
 * Where the exact samplers take their random bits. For this folder and its tests only: everyone else draws
 * through a `tacit_entropy *`, so that no seed can reach a real release. The samplers are written once over
 * this type; a test gives it a fill function of its own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rand/entropy.h"

enum { TACIT_BITS_WORDS = 64 };

typedef struct tacit_bits {
    /* Write `count` independent uniform words. */
    void (*fill)(void *context, uint64_t *words, size_t count);
    void *context;
    /* An allocation failed while drawing: loops end early and what they made is to be thrown away. Kept
     * here so that the inner loops stay free of status codes; whoever calls a sampler looks at it once. */
    bool failed;
    unsigned used, spare_count;
    uint64_t spare; /* bits of one word, handed out a few at a time */
    uint64_t words[TACIT_BITS_WORDS];
} tacit_bits;

/* An empty source over `fill`. */
void tacit_bits_init(tacit_bits *bits, void (*fill)(void *, uint64_t *, size_t), void *context);

void tacit_bits_refill(tacit_bits *bits);

static inline uint64_t tacit_bits_word(tacit_bits *bits) {
    if (bits->used == TACIT_BITS_WORDS) tacit_bits_refill(bits);
    uint64_t word = bits->words[bits->used];
    bits->words[bits->used++] = 0; /* what was drawn cannot be read back */
    return word;
}

/* `count` bits, 0 <= count <= 32, as a number. */
uint32_t tacit_bits_few(tacit_bits *bits, unsigned count);

static inline bool tacit_bits_flip(tacit_bits *bits) { return tacit_bits_few(bits, 1) != 0; }

/* Uniform on {0, ..., bound - 1} without bias; bound > 0. */
uint64_t tacit_bits_below(tacit_bits *bits, uint64_t bound);

/* The source inside an entropy handle, re-keyed first if need be. Borrowed, and good until the calling
 * function returns: a fork is noticed only here. */
tacit_status tacit_entropy_bits(tacit_bits **out, tacit_entropy *entropy, tacit_error *error);
