/*
 * Real random numbers, digit by digit. A `tacit_lazy` is the real number +-(whole + 0.d0 d1 d2 ...) in base
 * 2^64; digits are drawn when somebody asks for them and never change once drawn, so the number is known to
 * lie in an interval that shrinks on demand. All decisions below compare digits, so they are made on the
 * real numbers themselves and nothing is rounded: the laws hold exactly. For this folder only.
 */
#pragma once

#include "rand/bits_parts.h"

typedef struct tacit_lazy {
    uint64_t whole;
    uint64_t first; /* d0, once known > 0 */
    uint64_t *more; /* d1, d2, ...; hardly ever needed */
    uint32_t known, room;
    bool negative;
} tacit_lazy;

/* Overwrite and release the digits; `x` is then 0 plus digits to be drawn: uniform on (0, 1). */
void tacit_lazy_reset(tacit_lazy *x);

/* Digit `i`, drawing up to it. Out of memory it is 0 and bits->failed is set. */
uint64_t tacit_lazy_digit(tacit_lazy *x, size_t i, tacit_bits *bits);

/* Each starts with a reset. */
void tacit_lazy_uniform(tacit_lazy *x, tacit_bits *bits);     /* on (-1, 1) */
void tacit_lazy_exponential(tacit_lazy *x, tacit_bits *bits); /* density exp(-x), x > 0 */
void tacit_lazy_laplace(tacit_lazy *x, tacit_bits *bits);     /* density exp(-|x|)/2 */
void tacit_lazy_normal(tacit_lazy *x, tacit_bits *bits);      /* mean 0, variance 1 */
