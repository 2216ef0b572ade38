/*
 * Proof note: why a decision taken here is the decision of the real numbers.
 *
 * The digits drawn so far put each lazy real x into [low, low + 2^-64n]; `low` is exact, because the
 * numbers hold n + 1 words. Every formula is evaluated with the lower end rounded down and the upper end up,
 * choosing operands by the monotonicity of the operation (the only operations are sums, products and
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
#include "rand/interval.h"

#include <sodium.h>

#include "base/memory.h"

_Static_assert(sizeof(mp_limb_t) == 8 && GMP_NAIL_BITS == 0, "a limb must be a word of 64 bits");
_Static_assert(sizeof(unsigned long) == 8, "a digit is handed to MPFR as an unsigned long");

static void lay_out(tacit_space *space, size_t known, mp_limb_t *limbs) {
    size_t words = known + 1;
    tacit_interval *intervals[] = { &space->digits, &space->noise, &space->sum, &space->square,
                                    &space->factor };
    mpfr_prec_t precision = (mpfr_prec_t)(64 * words);
    for (size_t i = 0; i < TACIT_SPACE_NUMBERS / 2; i++) {
        mpfr_custom_init_set(intervals[i]->low, MPFR_ZERO_KIND, 0, precision, limbs + 2 * i * words);
        mpfr_custom_init_set(intervals[i]->high, MPFR_ZERO_KIND, 0, precision, limbs + (2 * i + 1) * words);
    }
    space->known = known;
}

void tacit_space_start(tacit_space *space) { lay_out(space, TACIT_SPACE_FIRST_WORDS - 1, space->first); }

tacit_status tacit_space_refine(tacit_space *space, tacit_error *error) {
    size_t known = 2 * space->known;
    if (known + 1 > space->room) {
        mp_limb_t *limbs = TACIT_NEW(mp_limb_t, TACIT_SPACE_NUMBERS * (known + 1));
        if (limbs == NULL) return tacit_fail_memory(error);
        tacit_space_clear(space);
        space->limbs = limbs;
        space->room = known + 1;
    }
    lay_out(space, known, space->limbs);
    space->refinements++;
    return TACIT_OK;
}

void tacit_space_clear(tacit_space *space) {
    if (space->limbs != NULL) {
        sodium_memzero(space->limbs, TACIT_SPACE_NUMBERS * space->room * sizeof *space->limbs);
        free(space->limbs);
        space->limbs = NULL;
        space->room = 0;
    }
    sodium_memzero(space->first, sizeof space->first);
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
    int64_t low = cut_floor(x->low, space->known + 1), high = cut_floor(x->high, space->known + 1);
    *out = low;
    return low == high;
}
