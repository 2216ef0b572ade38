#include "crypto/garble/circuits_word.h"

#include "crypto/garble/circuits_parts.h"

void tacit_word_to_bits(uint8_t *bits, const uint64_t *values, size_t width, size_t lanes) {
    for (size_t i = 0; i < width; i++)
        for (size_t l = 0; l < lanes; l++) bits[i * lanes + l] = values[l] >> i & 1;
}

void tacit_word_from_bits(uint64_t *values, const uint8_t *bits, size_t width, size_t lanes) {
    for (size_t l = 0; l < lanes; l++) {
        uint64_t value = 0;
        for (size_t i = 0; i < width; i++) value |= (uint64_t)(bits[i * lanes + l] & 1) << i;
        values[l] = value;
    }
}

void tacit_fill(tacit_wire *out, tacit_wire value, size_t count) {
    for (size_t k = 0; k < count; k++) out[k] = value;
}

tacit_status tacit_ripple(tacit_builder *builder, tacit_wire *out, const tacit_wire *a, const tacit_wire *b,
                          const tacit_wire *flip, tacit_wire *carry, bool carries_out, size_t width,
                          size_t lanes) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    tacit_wire *x = tacit_scratch(builder, 2 * lanes), *y = x == NULL ? NULL : x + lanes;
    if (x == NULL) return TACIT_NO_MEMORY;
    for (size_t i = 0; i < width; i++) {
        for (size_t l = 0; l < lanes; l++) {
            tacit_wire second = b[i * lanes + l];
            if (flip != NULL) second = tacit_wire_xor(second, flip[l]);
            x[l] = tacit_wire_xor(a[i * lanes + l], carry[l]);
            y[l] = tacit_wire_xor(second, carry[l]);
            out[i * lanes + l] = tacit_wire_xor(x[l], second);
        }
        if (i + 1 == width && !carries_out) break;
        TACIT_TRY(tacit_and(builder, x, x, y, lanes));
        tacit_xor(carry, carry, x, lanes);
    }
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

tacit_status tacit_ripple_carry(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                tacit_wire *carry, bool carries_out, size_t width, size_t lanes) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    tacit_wire *x = tacit_scratch(builder, lanes);
    if (x == NULL) return TACIT_NO_MEMORY;
    for (size_t i = 0; i < width; i++) {
        tacit_copy(x, a + i * lanes, lanes);
        tacit_xor(out + i * lanes, x, carry, lanes);
        if (i + 1 == width && !carries_out) break;
        TACIT_TRY(tacit_and(builder, carry, carry, x, lanes));
    }
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

tacit_status tacit_word_add(tacit_builder *builder, tacit_wire *out, const tacit_wire *a, const tacit_wire *b,
                            size_t width, size_t lanes) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    tacit_wire *carry = tacit_scratch(builder, lanes);
    if (carry == NULL) return TACIT_NO_MEMORY;
    tacit_fill(carry, tacit_constant(builder, 0), lanes);
    TACIT_TRY(tacit_ripple(builder, out, a, b, NULL, carry, false, width, lanes));
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

/* a + ~b + 1; the carry out, when wanted, is 1 where a >= b. */
static tacit_status subtract(tacit_builder *builder, tacit_wire *out, tacit_wire *not_less,
                             const tacit_wire *a, const tacit_wire *b, size_t width, size_t lanes) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    tacit_wire *flip = tacit_scratch(builder, lanes), *carry = tacit_scratch(builder, lanes);
    if (flip == NULL || carry == NULL) return TACIT_NO_MEMORY;
    tacit_fill(flip, builder->one, lanes);
    tacit_fill(carry, builder->one, lanes);
    TACIT_TRY(tacit_ripple(builder, out, a, b, flip, carry, not_less != NULL, width, lanes));
    if (not_less != NULL) tacit_copy(not_less, carry, lanes);
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

tacit_status tacit_word_subtract(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                 const tacit_wire *b, size_t width, size_t lanes) {
    return subtract(builder, out, NULL, a, b, width, lanes);
}

tacit_status tacit_word_negate_if(tacit_builder *builder, tacit_wire *out, const tacit_wire *sign,
                                  const tacit_wire *a, size_t width, size_t lanes) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    tacit_wire *carry = tacit_scratch(builder, lanes), *flipped = tacit_scratch(builder, width * lanes);
    if (carry == NULL || flipped == NULL) return TACIT_NO_MEMORY;
    tacit_copy(carry, sign, lanes);
    for (size_t i = 0; i < width; i++) tacit_xor(flipped + i * lanes, a + i * lanes, sign, lanes);
    TACIT_TRY(tacit_ripple_carry(builder, out, flipped, carry, false, width, lanes));
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

/* ---- comparing and choosing ---- */

tacit_status tacit_word_less_unsigned(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                      const tacit_wire *b, size_t width, size_t lanes) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    tacit_wire *unused = tacit_scratch(builder, width * lanes), *not_less = tacit_scratch(builder, lanes);
    if (unused == NULL || not_less == NULL) return TACIT_NO_MEMORY;
    TACIT_TRY(subtract(builder, unused, not_less, a, b, width, lanes));
    tacit_not(builder, out, not_less, lanes);
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

/* Two's complement orders like the unsigned numbers with the sign bit turned over. */
tacit_status tacit_word_less(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                             const tacit_wire *b, size_t width, size_t lanes) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    tacit_wire *x = tacit_scratch(builder, width * lanes), *y = tacit_scratch(builder, width * lanes);
    if (x == NULL || y == NULL) return TACIT_NO_MEMORY;
    size_t sign = (width - 1) * lanes;
    tacit_copy(x, a, sign);
    tacit_copy(y, b, sign);
    tacit_not(builder, x + sign, a + sign, lanes);
    tacit_not(builder, y + sign, b + sign, lanes);
    TACIT_TRY(tacit_word_less_unsigned(builder, out, x, y, width, lanes));
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

tacit_status tacit_word_equal(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                              const tacit_wire *b, size_t width, size_t lanes) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    tacit_wire *same = tacit_scratch(builder, width * lanes);
    if (same == NULL) return TACIT_NO_MEMORY;
    tacit_xor(same, a, b, width * lanes);
    tacit_not(builder, same, same, width * lanes);
    /* Halve: the upper half of the bits meets the lower. */
    for (size_t left = width; left > 1;) {
        size_t pairs = left / 2, kept = left - pairs;
        TACIT_TRY(tacit_and(builder, same, same, same + kept * lanes, pairs * lanes));
        left = kept;
    }
    tacit_copy(out, same, lanes);
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

tacit_status tacit_word_select(tacit_builder *builder, tacit_wire *out, const tacit_wire *choice,
                               const tacit_wire *a, const tacit_wire *b, size_t width, size_t lanes) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    size_t all = width * lanes;
    tacit_wire *different = tacit_scratch(builder, all), *choices = tacit_scratch(builder, all);
    if (different == NULL || choices == NULL) return TACIT_NO_MEMORY;
    tacit_xor(different, a, b, all);
    for (size_t i = 0; i < width; i++) tacit_copy(choices + i * lanes, choice, lanes);
    TACIT_TRY(tacit_and(builder, different, different, choices, all));
    tacit_xor(out, different, b, all);
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

/* ---- multiplying ---- */

enum { KARATSUBA_FROM = 16 }; /* below, its additions cost more than the product saved */

/* Row by row: w^2 partial products in one call, then w - 1 additions of w bits. */
static tacit_status multiply_rows(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                  const tacit_wire *b, size_t width, size_t lanes) {
    size_t all = width * lanes;
    tacit_wire *x = tacit_scratch(builder, width * all), *y = tacit_scratch(builder, width * all);
    tacit_wire *carry = tacit_scratch(builder, lanes);
    if (x == NULL || y == NULL || carry == NULL) return TACIT_NO_MEMORY;
    for (size_t j = 0; j < width; j++)
        for (size_t i = 0; i < width; i++) {
            tacit_copy(x + j * all + i * lanes, a + i * lanes, lanes);
            tacit_copy(y + j * all + i * lanes, b + j * lanes, lanes);
        }
    TACIT_TRY(tacit_and(builder, x, x, y, width * all));
    tacit_copy(out, x, all);
    for (size_t j = 1; j < width; j++) {
        /* The bit above the sum so far is the carry of the row before. */
        if (j == 1) tacit_fill(out + all, tacit_constant(builder, 0), lanes);
        tacit_fill(carry, tacit_constant(builder, 0), lanes);
        TACIT_TRY(tacit_ripple(builder, out + j * lanes, out + j * lanes, x + j * all, NULL, carry, true,
                               width, lanes));
        tacit_copy(out + j * lanes + all, carry, lanes);
    }
    if (width == 1) tacit_fill(out + all, tacit_constant(builder, 0), lanes);
    return TACIT_OK;
}

/* Copy `bits` bits between arrays of different numbers of lanes. */
static void move_lanes(tacit_wire *out, size_t out_lanes, const tacit_wire *from, size_t from_lanes,
                       size_t bits, size_t lanes) {
    for (size_t i = 0; i < bits; i++) tacit_copy(out + i * out_lanes, from + i * from_lanes, lanes);
}

/* The sums of the halves of both operands: `sums` 2 x lanes lanes of half the bits, `carries` 2 x lanes. */
static tacit_status add_halves(tacit_builder *builder, tacit_wire *sums, tacit_wire *carries,
                               const tacit_wire *a, const tacit_wire *b, size_t half, size_t lanes) {
    tacit_wire *high = tacit_scratch(builder, 2 * half * lanes);
    if (high == NULL) return TACIT_NO_MEMORY;
    move_lanes(sums, 2 * lanes, a, lanes, half, lanes);
    move_lanes(sums + lanes, 2 * lanes, b, lanes, half, lanes);
    move_lanes(high, 2 * lanes, a + half * lanes, lanes, half, lanes);
    move_lanes(high + lanes, 2 * lanes, b + half * lanes, lanes, half, lanes);
    tacit_fill(carries, tacit_constant(builder, 0), 2 * lanes);
    return tacit_ripple(builder, sums, sums, high, NULL, carries, true, half, 2 * lanes);
}

/*
 * middle (2h bits, then one more) is the product of the sums without their carries; add what the carries ca,
 * cb of the sums sa, sb bring: 2^h (ca sb + cb sa) + 2^2h ca cb. 4h + 1 gates.
 */
static tacit_status add_carries(tacit_builder *builder, tacit_wire *middle, const tacit_wire *sums,
                                const tacit_wire *carries, size_t half, size_t lanes) {
    size_t all = half * lanes;
    tacit_wire *x = tacit_scratch(builder, 2 * all + lanes), *y = tacit_scratch(builder, 2 * all + lanes);
    tacit_wire *carry = tacit_scratch(builder, lanes), *top = middle + 2 * all;
    if (x == NULL || y == NULL || carry == NULL) return TACIT_NO_MEMORY;
    move_lanes(x, lanes, sums + lanes, 2 * lanes, half, lanes); /* sb */
    move_lanes(x + all, lanes, sums, 2 * lanes, half, lanes);   /* sa */
    for (size_t i = 0; i < half; i++) {
        tacit_copy(y + i * lanes, carries, lanes);
        tacit_copy(y + all + i * lanes, carries + lanes, lanes);
    }
    tacit_copy(x + 2 * all, carries, lanes);
    tacit_copy(y + 2 * all, carries + lanes, lanes);
    TACIT_TRY(tacit_and(builder, x, x, y, 2 * all + lanes));
    tacit_fill(carry, tacit_constant(builder, 0), lanes);
    TACIT_TRY(tacit_ripple(builder, x, x, x + all, NULL, carry, true, half, lanes));
    tacit_xor(top, x + 2 * all, carry, lanes);
    tacit_fill(carry, tacit_constant(builder, 0), lanes);
    TACIT_TRY(tacit_ripple(builder, middle + all, middle + all, x, NULL, carry, true, half, lanes));
    tacit_xor(top, top, carry, lanes);
    return TACIT_OK;
}

/* out = low + 2^h middle + 2^2h high, where middle has 2h + 1 bits; 3h - 1 gates. */
static tacit_status assemble(tacit_builder *builder, tacit_wire *out, const tacit_wire *low,
                             const tacit_wire *middle, const tacit_wire *high, size_t half, size_t lanes) {
    size_t all = half * lanes;
    tacit_wire *carry = tacit_scratch(builder, lanes);
    if (carry == NULL) return TACIT_NO_MEMORY;
    tacit_copy(out, low, 2 * all);
    tacit_copy(out + 2 * all, high, 2 * all);
    tacit_fill(carry, tacit_constant(builder, 0), lanes);
    TACIT_TRY(tacit_ripple(builder, out + all, out + all, middle, NULL, carry, true, 2 * half + 1, lanes));
    size_t rest = 3 * all + lanes;
    return tacit_ripple_carry(builder, out + rest, out + rest, carry, false, half - 1, lanes);
}

/*
 * Karatsuba with h = w / 2: a0 b0, a1 b1 and (a0 + a1)(b0 + b1) are three products of h bits, computed in
 * lockstep as 3 x lanes lanes. 3 c(h) + 13 h gates.
 */
static tacit_status multiply_halves(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                    const tacit_wire *b, size_t half, size_t lanes) {
    size_t all = half * lanes, three = 3 * lanes;
    tacit_wire *sums = tacit_scratch(builder, 2 * all), *carries = tacit_scratch(builder, 2 * lanes);
    tacit_wire *x = tacit_scratch(builder, 3 * all), *y = tacit_scratch(builder, 3 * all);
    tacit_wire *products = tacit_scratch(builder, 6 * all);
    tacit_wire *part = tacit_scratch(builder, 3 * (2 * all + lanes));
    if (sums == NULL || carries == NULL || x == NULL || y == NULL || products == NULL || part == NULL)
        return TACIT_NO_MEMORY;
    TACIT_TRY(add_halves(builder, sums, carries, a, b, half, lanes));
    move_lanes(x, three, a, lanes, half, lanes);
    move_lanes(x + lanes, three, a + all, lanes, half, lanes);
    move_lanes(x + 2 * lanes, three, sums, 2 * lanes, half, lanes);
    move_lanes(y, three, b, lanes, half, lanes);
    move_lanes(y + lanes, three, b + all, lanes, half, lanes);
    move_lanes(y + 2 * lanes, three, sums + lanes, 2 * lanes, half, lanes);
    TACIT_TRY(tacit_word_multiply(builder, products, x, y, half, three));
    tacit_wire *low = part, *high = part + 2 * all + lanes, *middle = high + 2 * all + lanes;
    move_lanes(low, lanes, products, three, 2 * half, lanes);
    move_lanes(high, lanes, products + lanes, three, 2 * half, lanes);
    move_lanes(middle, lanes, products + 2 * lanes, three, 2 * half, lanes);
    TACIT_TRY(add_carries(builder, middle, sums, carries, half, lanes));
    /* Each has a zero above, for the widest of the three has 2h + 1 bits. */
    tacit_fill(low + 2 * all, tacit_constant(builder, 0), lanes);
    tacit_fill(high + 2 * all, tacit_constant(builder, 0), lanes);
    TACIT_TRY(tacit_word_subtract(builder, middle, middle, low, 2 * half + 1, lanes));
    TACIT_TRY(tacit_word_subtract(builder, middle, middle, high, 2 * half + 1, lanes));
    return assemble(builder, out, low, middle, high, half, lanes);
}

tacit_status tacit_word_multiply(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                 const tacit_wire *b, size_t width, size_t lanes) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    if (width >= KARATSUBA_FROM && width % 2 == 0)
        TACIT_TRY(multiply_halves(builder, out, a, b, width / 2, lanes));
    else
        TACIT_TRY(multiply_rows(builder, out, a, b, width, lanes));
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}
