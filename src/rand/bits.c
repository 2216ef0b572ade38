#include "rand/bits_parts.h"

#include <string.h>

void tacit_bits_init(tacit_bits *bits, void (*fill)(void *, uint64_t *, size_t), void *context) {
    memset(bits, 0, sizeof *bits);
    bits->fill = fill;
    bits->context = context;
    bits->used = TACIT_BITS_WORDS;
}

void tacit_bits_refill(tacit_bits *bits) {
    bits->fill(bits->context, bits->words, TACIT_BITS_WORDS);
    bits->used = 0;
}

uint32_t tacit_bits_few(tacit_bits *bits, unsigned count) {
    if (bits->spare_count < count) {
        bits->spare = tacit_bits_word(bits);
        bits->spare_count = 64;
    }
    uint32_t value = (uint32_t)(bits->spare & ((UINT64_C(1) << count) - 1));
    bits->spare >>= count;
    bits->spare_count -= count;
    return value;
}

uint64_t tacit_bits_below(tacit_bits *bits, uint64_t bound) {
    /* As many bits as bound - 1 has, again until they spell a number below the bound: under two tries
     * each. */
    unsigned length = bound > 1 ? 64 - (unsigned)__builtin_clzll(bound - 1) : 0;
    uint64_t value;
    do value = length <= 32 ? tacit_bits_few(bits, length) : tacit_bits_word(bits) >> (64 - length);
    while (value >= bound);
    return value;
}
