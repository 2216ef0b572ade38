/*
 * Sums of products. Of unsigned numbers x_k, y_k of w bits, in halves of h bits,
 *     sum x y = S(x0 y0) + 2^h (S((x0 + x1)(y0 + y1)) - S(x0 y0) - S(x1 y1)) + 2^2h S(x1 y1)
 * where each S is again a sum of products: the halves are put together once a sum. Short numbers are
 * multiplied column by column: a column's partial products and the carries from below are compressed three to
 * two until one is left.
 */
#include "crypto/garble/circuits_linear.h"
#include "crypto/garble/circuits_parts.h"
#include "crypto/garble/circuits_word.h"

enum {
    SPLIT_FROM = 10,     /* bits; shorter numbers cost more in halves */
    SPLIT_FROM_FEW = 16, /* when there are few terms to share the last step */
    FEW = 6
};

/* The bits of `terms`: a sum of that many numbers below 2^w is below 2^(w + this). */
static size_t growth(size_t terms) {
    size_t bits = 0;
    for (; terms > 1; terms -= terms / 2) bits++;
    return bits;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* ---- columns ---- */

/* One column: `count` items of `lanes` wires to one, at items[0]; what it carries goes to `carries`, unless
 * that is NULL. */
static tacit_status compress(tacit_builder *builder, tacit_wire *items, size_t count, tacit_wire *carries,
                             size_t *carried, tacit_wire *x, tacit_wire *y, size_t lanes) {
    while (count > 1) {
        tacit_wire *to = carries == NULL ? NULL : carries + *carried * lanes;
        if (count == 2) { /* half an adder */
            if (to != NULL) TACIT_TRY(tacit_and(builder, to, items, items + lanes, lanes));
            *carried += 1;
            tacit_xor(items, items, items + lanes, lanes);
            return TACIT_OK;
        }
        size_t adders = count / 3, all = adders * lanes, rest = count - 3 * adders;
        const tacit_wire *b = items + all, *c = items + 2 * all;
        for (size_t k = 0; k < all; k++) {
            x[k] = tacit_wire_xor(items[k], c[k]);
            y[k] = tacit_wire_xor(b[k], c[k]);
            items[k] = tacit_wire_xor(x[k], b[k]);
        }
        if (to != NULL) {
            TACIT_TRY(tacit_and(builder, to, x, y, all));
            tacit_xor(to, to, c, all);
        }
        *carried += adders;
        tacit_copy(items + all, items + 3 * all, rest * lanes);
        count = adders + rest;
    }
    return TACIT_OK;
}

typedef struct columns {
    tacit_wire *items, *carries, *x, *y;
    size_t count, lanes; /* items in the column of the moment */
} columns;

/* Room for columns to which `most` items are added each: carries at most double them. */
static tacit_status columns_begin(columns *self, tacit_builder *builder, size_t most, size_t lanes) {
    size_t room = (2 * most + 2) * lanes;
    *self = (columns){ .items = tacit_scratch(builder, room),
                       .carries = tacit_scratch(builder, room),
                       .x = tacit_scratch(builder, room),
                       .y = tacit_scratch(builder, room),
                       .lanes = lanes };
    if (self->items == NULL || self->carries == NULL || self->x == NULL || self->y == NULL)
        return TACIT_NO_MEMORY;
    return TACIT_OK;
}

/* The next bit of the sum; what is carried begins the next column. */
static tacit_status columns_next(columns *self, tacit_builder *builder, tacit_wire *out, bool last) {
    size_t carried = 0;
    if (self->count == 0) tacit_fill(self->items, tacit_constant(builder, 0), self->lanes);
    TACIT_TRY(compress(builder, self->items, self->count, last ? NULL : self->carries, &carried, self->x,
                       self->y, self->lanes));
    tacit_copy(out, self->items, self->lanes);
    tacit_wire *items = self->items;
    self->items = self->carries;
    self->carries = items;
    self->count = carried;
    return TACIT_OK;
}

/* ---- sums of products of unsigned numbers, modulo 2^bits ---- */

static tacit_status sum_products(tacit_builder *builder, tacit_wire *out, size_t bits, const tacit_wire *a,
                                 const tacit_wire *b, size_t width, size_t terms, size_t lanes);

static tacit_status sum_by_columns(tacit_builder *builder, tacit_wire *out, size_t bits, const tacit_wire *a,
                                   const tacit_wire *b, size_t width, size_t terms, size_t lanes) {
    size_t flat = terms * lanes;
    columns column;
    TACIT_TRY(columns_begin(&column, builder, width * terms, lanes));
    for (size_t s = 0; s < bits; s++) {
        for (size_t i = s < width ? 0 : s - width + 1; i <= s && i < width; i++) {
            TACIT_TRY(tacit_and(builder, column.items + column.count * lanes, a + i * flat,
                                b + (s - i) * flat, flat));
            column.count += terms;
        }
        TACIT_TRY(columns_next(&column, builder, out + s * lanes, s + 1 == bits));
    }
    return TACIT_OK;
}

/* out = low + high, h + 1 bits, where `high` has no more bits than `low`: h gates. */
static tacit_status add_halves(tacit_builder *builder, tacit_wire *out, const tacit_wire *a, size_t half,
                               size_t width, size_t lanes) {
    tacit_wire *carry = out + half * lanes;
    size_t both = width - half;
    tacit_fill(carry, tacit_constant(builder, 0), lanes);
    TACIT_TRY(tacit_ripple(builder, out, a, a + half * lanes, NULL, carry, true, both, lanes));
    return tacit_ripple_carry(builder, out + both * lanes, a + both * lanes, carry, true, half - both, lanes);
}

/* acc += value 2^at, or acc -= value 2^at, modulo 2^bits. */
static tacit_status accumulate(tacit_builder *builder, tacit_wire *acc, size_t bits, const tacit_wire *value,
                               size_t length, size_t at, bool subtract, size_t lanes) {
    if (at >= bits) return TACIT_OK;
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    tacit_wire *carry = tacit_scratch(builder, lanes), *flip = tacit_scratch(builder, lanes);
    if (carry == NULL || flip == NULL) return TACIT_NO_MEMORY;
    size_t both = smaller(length, bits - at), rest = bits - at - both;
    tacit_wire *upper = acc + (at + both) * lanes, sign = tacit_constant(builder, subtract);
    tacit_fill(carry, sign, lanes);
    tacit_fill(flip, sign, lanes);
    TACIT_TRY(
        tacit_ripple(builder, acc + at * lanes, acc + at * lanes, value, flip, carry, rest > 0, both, lanes));
    /* Adding ~0 and the carry to bits x is x - 1 + carry: turned over, ~x + (1 - carry). */
    if (subtract) {
        tacit_not(builder, upper, upper, rest * lanes);
        tacit_not(builder, carry, carry, lanes);
    }
    if (rest > 0) TACIT_TRY(tacit_ripple_carry(builder, upper, upper, carry, false, rest, lanes));
    if (subtract) tacit_not(builder, upper, upper, rest * lanes);
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

static tacit_status sum_by_halves(tacit_builder *builder, tacit_wire *out, size_t bits, const tacit_wire *a,
                                  const tacit_wire *b, size_t width, size_t terms, size_t lanes) {
    size_t half = (width + 1) / 2, flat = terms * lanes, more = growth(terms);
    size_t low_bits = smaller(2 * half + more, bits), rest = bits - half;
    size_t high_bits = smaller(2 * (width - half) + more, rest);
    size_t middle_bits = smaller(2 * half + 2 + more, rest);
    tacit_wire *low = tacit_scratch(builder, low_bits * lanes),
               *high = tacit_scratch(builder, high_bits * lanes),
               *middle = tacit_scratch(builder, middle_bits * lanes);
    tacit_wire *x = tacit_scratch(builder, (half + 1) * flat), *y = tacit_scratch(builder, (half + 1) * flat);
    if (low == NULL || high == NULL || middle == NULL || x == NULL || y == NULL) return TACIT_NO_MEMORY;
    TACIT_TRY(add_halves(builder, x, a, half, width, flat));
    TACIT_TRY(add_halves(builder, y, b, half, width, flat));
    TACIT_TRY(sum_products(builder, low, low_bits, a, b, half, terms, lanes));
    TACIT_TRY(
        sum_products(builder, high, high_bits, a + half * flat, b + half * flat, width - half, terms, lanes));
    TACIT_TRY(sum_products(builder, middle, middle_bits, x, y, half + 1, terms, lanes));
    TACIT_TRY(accumulate(builder, middle, middle_bits, low, low_bits, 0, true, lanes));
    TACIT_TRY(accumulate(builder, middle, middle_bits, high, high_bits, 0, true, lanes));
    tacit_copy(out, low, low_bits * lanes);
    tacit_fill(out + low_bits * lanes, tacit_constant(builder, 0), (bits - low_bits) * lanes);
    TACIT_TRY(accumulate(builder, out, bits, middle, middle_bits, half, false, lanes));
    return accumulate(builder, out, bits, high, high_bits, 2 * half, false, lanes);
}

static tacit_status sum_products(tacit_builder *builder, tacit_wire *out, size_t bits, const tacit_wire *a,
                                 const tacit_wire *b, size_t width, size_t terms, size_t lanes) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    size_t split = terms < FEW ? SPLIT_FROM_FEW : SPLIT_FROM;
    TACIT_TRY((width >= split && bits > width ? sum_by_halves : sum_by_columns)(builder, out, bits, a, b,
                                                                                width, terms, lanes));
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

/* ---- signed ---- */

/* The sum of all terms of both, modulo 2^bits: 2 gates a term and bit. */
static tacit_status sum_terms(tacit_builder *builder, tacit_wire *out, size_t bits, const tacit_wire *a,
                              const tacit_wire *b, size_t terms, size_t lanes) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    size_t flat = terms * lanes;
    columns column;
    TACIT_TRY(columns_begin(&column, builder, 2 * terms, lanes));
    for (size_t i = 0; i < bits; i++) {
        tacit_copy(column.items + column.count * lanes, a + i * flat, flat);
        tacit_copy(column.items + (column.count + terms) * lanes, b + i * flat, flat);
        column.count += 2 * terms;
        TACIT_TRY(columns_next(&column, builder, out + i * lanes, i + 1 == bits));
    }
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

/*
 * With O = 2^(w-1), x + O is the unsigned number whose top bit is turned over, and
 *     sum x y = sum (x + O)(y + O) - O sum ((x + O) + (y + O)) + terms O^2.
 * Modulo 2^(w+f) only f + 1 bits of the second sum count, and of the last none but the lowest, when f = w -
 * 1.
 */
tacit_status tacit_fixed_dot(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                             const tacit_wire *b, tacit_fixed format, size_t terms, size_t lanes) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    size_t width = format.width, flat = terms * lanes, bits = width + format.fraction;
    size_t top = (width - 1) * flat;
    tacit_wire *x = tacit_scratch(builder, width * flat), *y = tacit_scratch(builder, width * flat);
    tacit_wire *sum = tacit_scratch(builder, bits * lanes);
    tacit_wire *shift = tacit_scratch(builder, (format.fraction + 1) * lanes);
    if (x == NULL || y == NULL || sum == NULL || shift == NULL) return TACIT_NO_MEMORY;
    tacit_copy(x, a, top);
    tacit_copy(y, b, top);
    tacit_not(builder, x + top, a + top, flat);
    tacit_not(builder, y + top, b + top, flat);
    TACIT_TRY(sum_products(builder, sum, bits, x, y, width, terms, lanes));
    TACIT_TRY(sum_terms(builder, shift, format.fraction + 1, x, y, terms, lanes));
    TACIT_TRY(accumulate(builder, sum, bits, shift, format.fraction + 1, width - 1, true, lanes));
    if (format.fraction + 1 == width && terms % 2 == 1)
        tacit_not(builder, sum + (bits - 1) * lanes, sum + (bits - 1) * lanes, lanes);
    tacit_copy(out, sum + format.fraction * lanes, width * lanes);
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}
