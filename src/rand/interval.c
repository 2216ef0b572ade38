/*
 * Proof note: why a decision taken here is the decision of the real numbers.
 *
 * The digits drawn so far put each lazy real x into [low, low + 2^-64n]; `low` is exact, because the
 * numbers hold n + 1 words or more. Every formula is evaluated with the lower end rounded down and the upper
 * end up, choosing operands by the monotonicity of the operation (the only operations are sums, products and
 * quotients of non-negative intervals, negation, square roots), so the real result lies in the interval.
 * Floor is monotone: when both ends have the same floor, so has the real result, whatever the digits still
 * to be drawn. Otherwise more digits are drawn behind the same prefix. The output is therefore a function of
 * the infinite digit sequence that does not depend on when we stop looking: exactly floor(z 2^g + 1/2) of
 * the ideal real z.
 *
 * Termination: all formulas are continuous where they are used (|Z| > 0 with probability 1), so the
 * interval shrinks to a point as n and the precision grow. It stays undecided for ever only if that point
 * is a jump of floor, which has probability 0 for these laws, all of which have densities.
 */
#include "rand/interval_parts.h"

#include <math.h>
#include <sodium.h>

#include "base/memory.h"

_Static_assert(sizeof(mp_limb_t) == 8 && GMP_NAIL_BITS == 0, "a limb must be a word of 64 bits");
_Static_assert(sizeof(unsigned long) == 8, "a digit is handed to MPFR as an unsigned long");

static tacit_status lay_out(tacit_space *space, size_t known, size_t words, tacit_error *error) {
    if (words > TACIT_SPACE_FIRST_WORDS && words > space->room) {
        mp_limb_t *limbs = TACIT_NEW(mp_limb_t, TACIT_SPACE_NUMBERS * words);
        if (limbs == NULL) return tacit_fail_memory(error);
        tacit_space_clear(space);
        space->limbs = limbs;
        space->room = words;
    }
    mp_limb_t *at = words > TACIT_SPACE_FIRST_WORDS ? space->limbs : space->first;
    tacit_interval *intervals[] = { &space->digits, &space->noise, &space->sum, &space->square,
                                    &space->factor };
    mpfr_prec_t precision = (mpfr_prec_t)(64 * words);
    for (size_t i = 0; i < TACIT_SPACE_NUMBERS / 2; i++, at += 2 * words) {
        mpfr_custom_init_set(intervals[i]->low, MPFR_ZERO_KIND, 0, precision, at);
        mpfr_custom_init_set(intervals[i]->high, MPFR_ZERO_KIND, 0, precision, at + words);
    }
    space->known = known;
    space->words = words;
    return TACIT_OK;
}

/*
 * With scale 2^grid_bits < 2^e, n digits leave an interval of 2^(e - 64 n) steps, and w words add rounding
 * errors of 2^(63 - 64 w) steps to a sum of at most 2^62. The sum has a density of at most 2^(1 - e) per
 * step, so a boundary between two steps falls into the interval with probability below 2^(1 - 64 n) +
 * 2^(64 - e - 64 w): n = 1 will do for e <= 0, but there may be as many boundaries in reach as
 * the interval has steps, so for e > 0 it must also be short, e - 64 n <= -64.
 */
tacit_status tacit_space_start(tacit_space *space, double scale, int grid_bits, tacit_error *error) {
    int exponent;
    frexp(scale, &exponent); /* scale < 2^exponent */
    long e = (long)exponent + grid_bits;
    long digits = ((e > 0 ? e : 0) + 64 + 63) / 64, words = (64 - e + 64 + 63) / 64;
    if (words < digits + 1) words = digits + 1;
    return lay_out(space, (size_t)digits, (size_t)words, error);
}

tacit_status tacit_space_refine(tacit_space *space, tacit_error *error) {
    TACIT_TRY(lay_out(space, 2 * space->known, space->words + space->known, error));
    space->refinements++;
    return TACIT_OK;
}

void tacit_space_wipe(tacit_space *space) {
    if (space->limbs != NULL)
        sodium_memzero(space->limbs, TACIT_SPACE_NUMBERS * space->room * sizeof *space->limbs);
    sodium_memzero(space->first, sizeof space->first);
}

void tacit_space_clear(tacit_space *space) {
    tacit_space_wipe(space);
    free(space->limbs);
    space->limbs = NULL;
    space->room = 0;
}

void tacit_interval_of(tacit_interval *out, tacit_lazy *x, const tacit_space *space, tacit_bits *bits) {
    long shift = (long)(64 * space->known);
    mpfr_set_ui(out->low, x->whole, MPFR_RNDD);
    for (size_t i = 0; i < space->known; i++) {
        mpfr_mul_2ui(out->low, out->low, 64, MPFR_RNDD);
        mpfr_add_ui(out->low, out->low, tacit_lazy_digit(x, i, bits), MPFR_RNDD);
    }
    mpfr_add_ui(out->high, out->low, 1, MPFR_RNDU);
    mpfr_mul_2si(out->low, out->low, -shift, MPFR_RNDD);
    mpfr_mul_2si(out->high, out->high, -shift, MPFR_RNDU);
}

void tacit_interval_scale(tacit_interval *x, double factor) {
    mpfr_mul_d(x->low, x->low, factor, MPFR_RNDD);
    mpfr_mul_d(x->high, x->high, factor, MPFR_RNDU);
}

void tacit_interval_negate(tacit_interval *x) {
    mpfr_swap(x->low, x->high);
    mpfr_neg(x->low, x->low, MPFR_RNDD);
    mpfr_neg(x->high, x->high, MPFR_RNDU);
}

void tacit_interval_add(tacit_interval *sum, const tacit_interval *x) {
    mpfr_add(sum->low, sum->low, x->low, MPFR_RNDD);
    mpfr_add(sum->high, sum->high, x->high, MPFR_RNDU);
}

void tacit_interval_multiply(tacit_interval *x, const tacit_interval *by) {
    mpfr_mul(x->low, x->low, by->low, MPFR_RNDD);
    mpfr_mul(x->high, x->high, by->high, MPFR_RNDU);
}

void tacit_interval_square(tacit_interval *x) {
    mpfr_sqr(x->low, x->low, MPFR_RNDD);
    mpfr_sqr(x->high, x->high, MPFR_RNDU);
}

void tacit_interval_divide(tacit_interval *out, const tacit_interval *x, const tacit_interval *by) {
    mpfr_div(out->low, x->low, by->high, MPFR_RNDD);
    mpfr_div(out->high, x->high, by->low, MPFR_RNDU);
}

void tacit_interval_place(tacit_interval *x, double value, int grid_bits) {
    mpfr_add_d(x->low, x->low, value, MPFR_RNDD);
    mpfr_add_d(x->high, x->high, value, MPFR_RNDU);
    mpfr_mul_2si(x->low, x->low, grid_bits, MPFR_RNDD);
    mpfr_mul_2si(x->high, x->high, grid_bits, MPFR_RNDU);
    mpfr_add_d(x->low, x->low, 0.5, MPFR_RNDD);
    mpfr_add_d(x->high, x->high, 0.5, MPFR_RNDU);
}

/* The floor of x, cut off at both ends of the range of steps. */
static int64_t cut_floor(mpfr_t x, size_t words) {
    bool negative = mpfr_sgn(x) < 0;
    if (!mpfr_inf_p(x)) mpfr_floor(x, x);
    if (mpfr_zero_p(x)) return 0;
    if (mpfr_inf_p(x) || mpfr_get_exp(x) > 62) return negative ? -TACIT_STEPS_END : TACIT_STEPS_END;
    /* An integer of at most 62 bits: the top of the significand, read without GMP's help. */
    const mp_limb_t *limbs = mpfr_custom_get_significand(x);
    int64_t magnitude = (int64_t)(limbs[words - 1] >> (64 - mpfr_get_exp(x)));
    return negative ? -magnitude : magnitude;
}

bool tacit_interval_floor(int64_t *out, tacit_interval *x, const tacit_space *space) {
    if (mpfr_nan_p(x->low) || mpfr_nan_p(x->high)) return false;
    int64_t low = cut_floor(x->low, space->words), high = cut_floor(x->high, space->words);
    *out = low;
    return low == high;
}
