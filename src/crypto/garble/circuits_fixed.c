#include "crypto/garble/circuits_fixed.h"

#include "crypto/garble/circuits_parts.h"
#include "crypto/garble/circuits_word.h"

/*
 * The signed product modulo 2^(w+f) is the unsigned one minus 2^w (sign(a) b + sign(b) a): only f bits of
 * that count. c(w) + 2f + 2(f - 1) gates.
 */
tacit_status tacit_fixed_multiply(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                  const tacit_wire *b, tacit_fixed format, size_t lanes) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    size_t width = format.width, low = format.fraction, all = width * lanes, some = low * lanes;
    tacit_wire *product = tacit_scratch(builder, 2 * all);
    tacit_wire *x = tacit_scratch(builder, 2 * some), *y = tacit_scratch(builder, 2 * some);
    if (product == NULL || x == NULL || y == NULL) return TACIT_NO_MEMORY;
    TACIT_TRY(tacit_word_multiply(builder, product, a, b, width, lanes));
    tacit_copy(x, b, some);
    tacit_copy(x + some, a, some);
    for (size_t i = 0; i < low; i++) {
        tacit_copy(y + i * lanes, a + all - lanes, lanes);
        tacit_copy(y + some + i * lanes, b + all - lanes, lanes);
    }
    TACIT_TRY(tacit_and(builder, x, x, y, 2 * some));
    for (int k = 0; k < 2 && low > 0; k++)
        TACIT_TRY(
            tacit_word_subtract(builder, product + all, product + all, x + (size_t)k * some, low, lanes));
    tacit_copy(out, product + some, all);
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

/* Magnitudes of both operands in lockstep; `sizes` is |a|, then |b|. 2(w - 1) gates. */
static tacit_status magnitudes(tacit_builder *builder, tacit_wire *sizes, const tacit_wire *a,
                               const tacit_wire *b, size_t width, size_t lanes) {
    tacit_wire *both = tacit_scratch(builder, 2 * width * lanes);
    if (both == NULL) return TACIT_NO_MEMORY;
    for (size_t i = 0; i < width; i++) {
        tacit_copy(both + 2 * i * lanes, a + i * lanes, lanes);
        tacit_copy(both + (2 * i + 1) * lanes, b + i * lanes, lanes);
    }
    const tacit_wire *signs = both + 2 * (width - 1) * lanes;
    TACIT_TRY(tacit_word_negate_if(builder, both, signs, both, width, 2 * lanes));
    for (size_t i = 0; i < width; i++) {
        tacit_copy(sizes + i * lanes, both + 2 * i * lanes, lanes);
        tacit_copy(sizes + (width + i) * lanes, both + (2 * i + 1) * lanes, lanes);
    }
    return TACIT_OK;
}

/*
 * Non-restoring division of A 2^f by B, A = |a|, B = |b|, to w - 1 bits. The quotient is less than 2^(w-1),
 * so the remainder may begin with the bits of A above the lowest w - 1 - f. Then, w - 1 times, with the next
 * bit d of A 2^f,
 *     R = 2R + d - B  if R >= 0,  2R + d + B  otherwise,
 * which stays in [-B, B) and thus in w bits; the quotient's bit is R >= 0. Adding or subtracting is one adder
 * whose second operand is turned over by the last bit: w - 1 gates a step, (w - 1)^2 in all and 3(w - 1) for
 * the signs.
 */
tacit_status tacit_divide_steps(tacit_builder *builder, tacit_wire *quotient, const tacit_wire *numerator,
                                const tacit_wire *divisor, tacit_fixed format, size_t lanes) {
    size_t width = format.width, kept = width - 1 - format.fraction;
    tacit_wire zero = tacit_constant(builder, 0);
    tacit_wire *rest = tacit_scratch(builder, (width + 1) * lanes);
    tacit_wire *positive = tacit_scratch(builder, lanes), *carry = tacit_scratch(builder, lanes);
    if (rest == NULL || positive == NULL || carry == NULL) return TACIT_NO_MEMORY;
    for (size_t i = 0; i < width; i++)
        for (size_t l = 0; l < lanes; l++)
            rest[i * lanes + l] = i + kept < width ? numerator[(i + kept) * lanes + l] : zero;
    tacit_fill(positive, builder->one, lanes);
    for (size_t step = 0; step + 1 < width; step++) {
        for (size_t i = width; i-- > 1;) tacit_copy(rest + i * lanes, rest + (i - 1) * lanes, lanes);
        if (step < kept)
            tacit_copy(rest, numerator + (kept - 1 - step) * lanes, lanes);
        else
            tacit_fill(rest, zero, lanes);
        tacit_copy(carry, positive, lanes);
        TACIT_TRY(tacit_ripple(builder, rest, rest, divisor, positive, carry, false, width, lanes));
        tacit_not(builder, positive, rest + (width - 1) * lanes, lanes);
        tacit_copy(quotient + (width - 2 - step) * lanes, positive, lanes);
    }
    tacit_fill(quotient + (width - 1) * lanes, zero, lanes);
    return TACIT_OK;
}

tacit_status tacit_fixed_divide(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                const tacit_wire *b, tacit_fixed format, size_t lanes) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    size_t all = format.width * lanes;
    tacit_wire *sizes = tacit_scratch(builder, 2 * all), *sign = tacit_scratch(builder, lanes);
    tacit_wire *quotient = tacit_scratch(builder, all);
    if (sizes == NULL || sign == NULL || quotient == NULL) return TACIT_NO_MEMORY;
    tacit_xor(sign, a + all - lanes, b + all - lanes, lanes);
    TACIT_TRY(magnitudes(builder, sizes, a, b, format.width, lanes));
    TACIT_TRY(tacit_divide_steps(builder, quotient, sizes, sizes + all, format, lanes));
    TACIT_TRY(tacit_word_negate_if(builder, out, sign, quotient, format.width, lanes));
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

/* ---- square root ---- */

typedef struct root_state {
    tacit_wire *rest;     /* R, the lowest bit first; bits + 2 of them after `bits` steps */
    tacit_wire *root;     /* Q, the highest bit first: appended to */
    tacit_wire *addend;   /* Q in the order of R */
    tacit_wire *positive; /* R >= 0 */
    tacit_wire *carry;
    size_t bits, lanes;
} root_state;

/*
 * One bit of the root by the non-restoring method. With the next two bits d of the radicand,
 *     R' = 4R + d - (4Q + 1)  if R >= 0,   4R + d + (4Q + 3)  otherwise;
 * the root's next bit is R' >= 0. As -(4Q + 1) = 4(~Q) + 3, both are 4(R + (Q turned over where R >= 0)) + (d
 * + 3): the low two bits are d + 3 and carry when d > 0; above them is an adder of bits + 1 bits. R lies in
 * [-(2Q + 1), 2Q], which takes bits + 2. `bits` gates, and one for d > 0.
 */
static tacit_status root_step(tacit_builder *builder, root_state *self, const tacit_wire *high,
                              const tacit_wire *low) {
    size_t lanes = self->lanes, bits = self->bits;
    tacit_wire *rest = self->rest;
    for (size_t i = 0; i <= bits; i++)
        if (i < bits)
            tacit_copy(self->addend + i * lanes, self->root + (bits - 1 - i) * lanes, lanes);
        else
            tacit_fill(self->addend + i * lanes, tacit_constant(builder, 0), lanes);
    /* d1 or d0 = not (not d1 and not d0); of a radicand's public zeros it is zero. */
    if (high == NULL && low == NULL) {
        tacit_fill(self->carry, tacit_constant(builder, 0), lanes);
    } else if (high == NULL || low == NULL) {
        tacit_copy(self->carry, high == NULL ? low : high, lanes);
    } else {
        tacit_wire *not_low = self->addend + (bits + 1) * lanes;
        tacit_not(builder, self->carry, high, lanes);
        tacit_not(builder, not_low, low, lanes);
        TACIT_TRY(tacit_and(builder, self->carry, self->carry, not_low, lanes));
        tacit_not(builder, self->carry, self->carry, lanes);
    }
    for (size_t i = bits + 1; i-- > 0;) tacit_copy(rest + (i + 2) * lanes, rest + i * lanes, lanes);
    for (size_t l = 0; l < lanes; l++) {
        tacit_wire first = low == NULL ? tacit_constant(builder, 0) : low[l];
        tacit_wire second = high == NULL ? tacit_constant(builder, 0) : high[l];
        rest[l] = tacit_wire_xor(first, builder->one);
        rest[lanes + l] = tacit_wire_xor(tacit_wire_xor(second, first), builder->one);
    }
    tacit_wire *upper = rest + 2 * lanes;
    TACIT_TRY(tacit_ripple(builder, upper, upper, self->addend, self->positive, self->carry, false, bits + 1,
                           lanes));
    tacit_not(builder, self->positive, upper + bits * lanes, lanes);
    tacit_copy(self->root + bits * lanes, self->positive, lanes);
    self->bits++;
    return TACIT_OK;
}

/* The root of a 2^f, which has w - 1 + f bits, in pairs from the highest. */
tacit_status tacit_fixed_root(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                              tacit_fixed format, size_t lanes) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    size_t top = format.width - 1 + format.fraction, steps = (top + 1) / 2;
    root_state self = { .lanes = lanes };
    self.rest = tacit_scratch(builder, (steps + 3) * lanes);
    self.root = tacit_scratch(builder, steps * lanes);
    self.addend = tacit_scratch(builder, (steps + 2) * lanes);
    self.positive = tacit_scratch(builder, lanes);
    self.carry = tacit_scratch(builder, lanes);
    if (self.rest == NULL || self.root == NULL || self.addend == NULL || self.positive == NULL ||
        self.carry == NULL)
        return TACIT_NO_MEMORY;
    tacit_fill(self.rest, tacit_constant(builder, 0), 2 * lanes);
    tacit_fill(self.positive, builder->one, lanes);
    for (size_t pair = steps; pair-- > 0;) {
        const tacit_wire *digit[2] = { NULL, NULL };
        for (size_t k = 0; k < 2; k++) {
            size_t place = 2 * pair + k;
            if (place >= format.fraction && place < top) digit[k] = a + (place - format.fraction) * lanes;
        }
        TACIT_TRY(root_step(builder, &self, digit[1], digit[0]));
    }
    for (size_t i = 0; i < format.width; i++)
        if (i < steps)
            tacit_copy(out + i * lanes, self.root + (steps - 1 - i) * lanes, lanes);
        else
            tacit_fill(out + i * lanes, tacit_constant(builder, 0), lanes);
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

/* ---- the leading bit ---- */

/* If the upper 32 of the bits below the sign are 0, shift by 32; then 16, ...: in all by one less than 64 at
 * most. */
tacit_status tacit_fixed_normalise(tacit_builder *builder, tacit_wire *out, tacit_wire *shift,
                                   const tacit_wire *a, size_t width, size_t lanes) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    tacit_wire *moved = tacit_scratch(builder, width * lanes), *empty = tacit_scratch(builder, lanes),
               *digit = tacit_scratch(builder, lanes);
    if (moved == NULL || empty == NULL || digit == NULL) return TACIT_NO_MEMORY;
    tacit_copy(out, a, width * lanes);
    for (size_t k = TACIT_SHIFT_BITS; k-- > 0;) {
        const size_t by = (size_t)1 << k, top = width - 1;
        tacit_fill(shift + k * lanes, tacit_constant(builder, 0), lanes);
        if (by >= top) continue;
        tacit_fill(empty, builder->one, lanes);
        for (size_t i = top - by; i < top; i++) {
            tacit_not(builder, digit, out + i * lanes, lanes);
            TACIT_TRY(tacit_and(builder, empty, empty, digit, lanes));
        }
        tacit_fill(moved, tacit_constant(builder, 0), width * lanes);
        for (size_t i = by; i < top; i++) tacit_copy(moved + i * lanes, out + (i - by) * lanes, lanes);
        TACIT_TRY(tacit_word_select(builder, out, empty, moved, out, width, lanes));
        tacit_copy(shift + k * lanes, empty, lanes);
    }
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}
