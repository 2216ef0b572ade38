/*
 * Proof notes.
 *
 * Exponential (von Neumann 1951). Given x in (0, 1), let n be the length of the longest falling run
 * x > u1 > u2 > ... > un of fresh uniforms. P(run >= n) = x^n / n!, so P(n even) = sum (-x)^n / n! =
 * exp(-x). Keeping x when n is even gives a density proportional to exp(-x) on (0, 1); each refusal, of
 * probability 1/e, adds 1 to the whole part, and P(whole = l) = exp(-l)(1 - 1/e): together the density
 * exp(-(l + x)).
 *
 * Normal (Karney 2016, "Sampling exactly from the normal distribution", algorithm N). k is proposed with
 * weight exp(-k/2), kept with probability exp(-k(k-1)/2), and a uniform x with probability
 * exp(-x(2k+x)/2): the weight of k + x is exp(-(k^2 + 2kx + x^2)/2) = exp(-(k+x)^2/2). The last
 * probability is the (k+1)-st power of exp(-x c), c = (2k+x)/(2k+2), and exp(-x c) is von Neumann's run in
 * which each step must also pass a coin of probability c: P(run >= n) = (x c)^n / n!. The coin of
 * probability c takes a uniform integer f < 2k+2: f < 2k passes, f = 2k passes if a fresh uniform is below
 * x, f = 2k+1 does not.
 *
 * Two uniforms are compared from their first digit on until they differ: the order of the real numbers.
 * They agree in n digits with probability 2^-64n, so every comparison ends with probability 1, and so do
 * the loops, whose rounds are accepted independently with a probability that does not change.
 */
#include "rand/lazy_parts.h"

#include <sodium.h>
#include <string.h>

#include "base/memory.h"

void tacit_lazy_reset(tacit_lazy *x) {
    if (x->more != NULL) {
        sodium_memzero(x->more, x->room * sizeof *x->more);
        free(x->more);
    }
    *x = (tacit_lazy){ 0 };
}

/* Room for twice as many digits; by hand, so that the old place is wiped. */
static bool grow(tacit_lazy *x) {
    uint32_t room = x->room > 0 ? 2 * x->room : 8;
    uint64_t *more = room > x->room ? TACIT_NEW(uint64_t, room) : NULL;
    if (more == NULL) return false;
    if (x->more != NULL) {
        memcpy(more, x->more, x->room * sizeof *more);
        sodium_memzero(x->more, x->room * sizeof *more);
        free(x->more);
    }
    x->more = more;
    x->room = room;
    return true;
}

uint64_t tacit_lazy_digit(tacit_lazy *x, size_t i, tacit_bits *bits) {
    if (x->known == 0) {
        x->first = tacit_bits_word(bits);
        x->known = 1;
    }
    if (i == 0) return x->first;
    while (x->known <= i) {
        if (x->known - 1 == x->room && !grow(x)) {
            bits->failed = true;
            return 0;
        }
        x->more[x->known - 1] = tacit_bits_word(bits);
        x->known++;
    }
    return x->more[i - 1];
}

/* Whether the fraction of a is below that of b. */
static bool below(tacit_lazy *a, tacit_lazy *b, tacit_bits *bits) {
    for (size_t i = 0; !bits->failed; i++) {
        uint64_t left = tacit_lazy_digit(a, i, bits), right = tacit_lazy_digit(b, i, bits);
        if (left != right) return left < right;
    }
    return false;
}

/* A coin of probability (2k + x)/(2k + 2). */
static bool coin(uint64_t k, tacit_lazy *x, tacit_bits *bits) {
    uint64_t f = tacit_bits_below(bits, 2 * k + 2);
    if (f != 2 * k) return f < 2 * k;
    tacit_lazy fresh = { 0 };
    bool passes = below(&fresh, x, bits);
    tacit_lazy_reset(&fresh);
    return passes;
}

/* Whether the falling run below x has even length, when each step must also pass the coin of k (if asked
 * for): true with probability exp(-x), or exp(-x (2k + x)/(2k + 2)). */
static bool even_run(tacit_lazy *x, const uint64_t *k, tacit_bits *bits) {
    tacit_lazy step[2] = { { 0 }, { 0 } }, *least = x;
    unsigned length = 0;
    for (;; length++) {
        tacit_lazy *next = &step[length % 2];
        tacit_lazy_reset(next);
        if (!below(next, least, bits) || (k != NULL && !coin(*k, x, bits))) break;
        least = next;
    }
    tacit_lazy_reset(&step[0]);
    tacit_lazy_reset(&step[1]);
    return length % 2 == 0;
}

/* True with probability exp(-1/2): von Neumann's run below 1/2, whose first step is decided by one bit. */
static bool half_life(tacit_bits *bits) {
    tacit_lazy first = { 0 };
    bool even = tacit_lazy_digit(&first, 0, bits) >> 63 != 0 || !even_run(&first, NULL, bits);
    tacit_lazy_reset(&first);
    return even;
}

void tacit_lazy_uniform(tacit_lazy *x, tacit_bits *bits) {
    tacit_lazy_reset(x);
    x->negative = tacit_bits_flip(bits);
}

void tacit_lazy_exponential(tacit_lazy *x, tacit_bits *bits) {
    uint64_t whole = 0;
    for (;; whole++) {
        tacit_lazy_reset(x);
        if (even_run(x, NULL, bits) || bits->failed) break;
    }
    x->whole = whole;
}

void tacit_lazy_laplace(tacit_lazy *x, tacit_bits *bits) {
    tacit_lazy_exponential(x, bits);
    x->negative = tacit_bits_flip(bits);
}

/* k >= 0 with weight exp(-k^2/2). */
static uint64_t normal_whole(tacit_bits *bits) {
    for (;;) {
        uint64_t k = 0;
        while (half_life(bits) && !bits->failed) k++;
        uint64_t trials = k * (k > 0 ? k - 1 : 0);
        while (trials > 0 && half_life(bits)) trials--;
        if (trials == 0 || bits->failed) return k;
    }
}

void tacit_lazy_normal(tacit_lazy *x, tacit_bits *bits) {
    for (;;) {
        tacit_lazy_reset(x);
        uint64_t k = normal_whole(bits), passed = 0;
        while (passed <= k && even_run(x, &k, bits)) passed++;
        if (passed <= k && !bits->failed) continue;
        x->whole = k;
        x->negative = tacit_bits_flip(bits);
        return;
    }
}
