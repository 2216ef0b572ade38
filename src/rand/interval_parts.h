/*
 * Interval arithmetic over lazily drawn reals, for this folder only. A space holds a fixed set of MPFR
 * numbers of one precision in memory of its own: the operations used (+, -, *, /, square root, floor) then
 * take no memory from GMP's allocator, which would end the process when there is none. Lower ends are
 * rounded down and upper ends up, so an interval always holds the real number it stands for.
 */
#pragma once

#include <mpfr.h>

#include "rand/lazy_parts.h"

enum { TACIT_SPACE_NUMBERS = 10, TACIT_SPACE_FIRST_WORDS = 4 };

typedef struct tacit_interval {
    mpfr_t low, high;
} tacit_interval;

typedef struct tacit_space {
    /* By what they stand for; each sampler says in a comment what it keeps where. */
    tacit_interval digits, noise, sum, square, factor;
    size_t known;         /* digits used of every lazy real */
    size_t words;         /* words of each number, known + 1 or more */
    mp_limb_t *limbs;     /* NULL while the numbers have always fitted into `first` */
    size_t room;          /* words of each number in `limbs` */
    uint64_t refinements; /* how often a decision needed more digits, for the tests */
    mp_limb_t first[TACIT_SPACE_NUMBERS * TACIT_SPACE_FIRST_WORDS];
} tacit_space;

/*
 * As many digits and words as leave a sum of noise of this scale undecided with a probability of about 2^-62
 * a coordinate (sqrt(d) times that in a gamma-norm vector), whatever the value: except for such a rare case
 * the work then depends on public parameters. The numbers start afresh; a space must not be moved while it is
 * in use.
 */
tacit_status tacit_space_start(tacit_space *space, double scale, int grid_bits, tacit_error *error);

/* Twice as many digits, as many words more; what the numbers held is lost. */
tacit_status tacit_space_refine(tacit_space *space, tacit_error *error);

/* Overwrite all that the numbers held; the memory stays for the next use. */
void tacit_space_wipe(tacit_space *space);

/* Overwrite and release. */
void tacit_space_clear(tacit_space *space);

/* Bounds of |x| from the digits known to the space, drawing them where need be. */
void tacit_interval_of(tacit_interval *out, tacit_lazy *x, const tacit_space *space, tacit_bits *bits);

/* x <- x * factor, for factor >= 0 and 0 <= x. */
void tacit_interval_scale(tacit_interval *x, double factor);

void tacit_interval_negate(tacit_interval *x);

/* sum <- sum + x; x <- x * by, both >= 0; x <- x^2, x >= 0. */
void tacit_interval_add(tacit_interval *sum, const tacit_interval *x);
void tacit_interval_multiply(tacit_interval *x, const tacit_interval *by);
void tacit_interval_square(tacit_interval *x);

/* out <- x / by, for x >= 0 and by >= 0; the upper end may be infinite. */
void tacit_interval_divide(tacit_interval *out, const tacit_interval *x, const tacit_interval *by);

/* x <- (x + value) 2^grid_bits + 1/2, of which the floor is the nearest grid step. */
void tacit_interval_place(tacit_interval *x, double value, int grid_bits);

/* The floor of x, if both ends have the same one. It is cut off at -TACIT_STEPS_END and TACIT_STEPS_END,
 * which stand for all that lies there or beyond. Changes x. */
#define TACIT_STEPS_END (INT64_C(1) << 62)
bool tacit_interval_floor(int64_t *out, tacit_interval *x, const tacit_space *space);
