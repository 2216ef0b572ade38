#include "crypto/garble/circuits_linear.h"

#include <math.h>

#include "crypto/garble/circuits_parts.h"
#include "crypto/garble/circuits_word.h"

enum {
    TOGETHER = 512
}; /* products in lockstep: enough to keep the processor busy, few enough for its cache */

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Number `from` of `count` in lane `lane` of `lanes`. */
static void take(tacit_wire *out, size_t lanes, size_t lane, const tacit_wire *numbers, size_t count,
                 size_t from, size_t width) {
    for (size_t i = 0; i < width; i++) out[i * lanes + lane] = numbers[i * count + from];
}

tacit_status tacit_fixed_reciprocal(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                    tacit_fixed format, size_t lanes) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    tacit_wire *one = tacit_scratch(builder, format.width * lanes);
    tacit_wire *quotient = tacit_scratch(builder, format.width * lanes);
    if (one == NULL || quotient == NULL) return TACIT_NO_MEMORY;
    tacit_fill(one, tacit_constant(builder, 0), format.width * lanes);
    tacit_fill(one + format.fraction * lanes, builder->one, lanes);
    TACIT_TRY(tacit_divide_steps(builder, quotient, one, a, format, lanes));
    tacit_copy(out, quotient, format.width * lanes);
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

/* ---- many sums of products at once ---- */

/* One sum: of left[l0 + k ls] right[r0 + k rs] over k, whose places in the two arrays are the lane's. */
typedef struct places {
    size_t left, right;
} places;

/* What the sums of a step have in common: the arrays, and where term k of the sum of lane l is in them. */
typedef struct sums {
    const tacit_wire *left, *right;
    size_t left_count, right_count;
    places (*place)(const struct sums *self, size_t term, size_t lane);
    size_t order, step; /* what `place` wants to know */
} sums;

static tacit_status sum_some(tacit_builder *builder, tacit_wire *out, size_t all, const sums *self,
                             tacit_fixed format, size_t terms, size_t first, size_t lanes) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    size_t width = format.width, flat = terms * lanes;
    tacit_wire *x = tacit_scratch(builder, width * flat), *y = tacit_scratch(builder, width * flat);
    tacit_wire *sum = tacit_scratch(builder, width * lanes);
    if (x == NULL || y == NULL || sum == NULL) return TACIT_NO_MEMORY;
    for (size_t k = 0; k < terms; k++)
        for (size_t l = 0; l < lanes; l++) {
            places at = self->place(self, k, first + l);
            take(x, flat, k * lanes + l, self->left, self->left_count, at.left, width);
            take(y, flat, k * lanes + l, self->right, self->right_count, at.right, width);
        }
    if (terms == 1)
        TACIT_TRY(tacit_fixed_multiply(builder, sum, x, y, format, lanes));
    else
        TACIT_TRY(tacit_fixed_dot(builder, sum, x, y, format, terms, lanes));
    for (size_t l = 0; l < lanes; l++) take(out, all, first + l, sum, lanes, l, width);
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

/* `lanes` sums of `terms` > 0 products each. */
static tacit_status sum_all(tacit_builder *builder, tacit_wire *out, const sums *self, tacit_fixed format,
                            size_t terms, size_t lanes) {
    size_t together = terms >= TOGETHER / 8 ? 8 : TOGETHER / terms;
    for (size_t first = 0; first < lanes; first += together)
        TACIT_TRY(
            sum_some(builder, out, lanes, self, format, terms, first, smaller(lanes - first, together)));
    return TACIT_OK;
}

/* The sign of numbers of `narrow` bits, up to `width`. */
static void extend(tacit_wire *numbers, size_t narrow, size_t width, size_t lanes) {
    for (size_t i = narrow; i < width; i++)
        tacit_copy(numbers + i * lanes, numbers + (narrow - 1) * lanes, lanes);
}

/* Lane l is row l / columns, column l mod columns. */
static places matrix_place(const sums *self, size_t term, size_t lane) {
    size_t columns = self->step, inner = self->order;
    return (places){ lane / columns * inner + term, term * columns + lane % columns };
}

tacit_status tacit_fixed_product(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                 const tacit_wire *b, tacit_fixed format, size_t rows, size_t inner,
                                 size_t columns) {
    sums self = { a, b, rows * inner, inner * columns, matrix_place, inner, columns };
    return sum_all(builder, out, &self, format, inner, rows * columns);
}

/* ---- A = L D L^T, column by column ---- */

/* Column j, row j + l: the sum over k < j of L_ik c_jk, where c = L D. */
static places factor_place(const sums *self, size_t term, size_t lane) {
    return (places){ tacit_triangle(self->step + lane, term), tacit_triangle(self->step, term) };
}

/* Row j + 1 + l: c_ij times 1 / D_j. */
static places scale_place(const sums *self, size_t term, size_t lane) {
    (void)term;
    return (places){ tacit_triangle(self->step + 1 + lane, self->step),
                     tacit_triangle(self->step, self->step) };
}

static void put_column(tacit_wire *triangle, size_t count, size_t column, size_t first,
                       const tacit_wire *values, size_t lanes, size_t width) {
    for (size_t l = 0; l < lanes; l++)
        take(triangle, count, tacit_triangle(first + l, column), values, lanes, l, width);
}

tacit_status tacit_fixed_factor(tacit_builder *builder, tacit_wire *out, const tacit_wire *a,
                                tacit_fixed format, size_t narrow, size_t order) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    size_t width = format.width, count = tacit_triangle(order, 0);
    tacit_fixed entry = { narrow, format.fraction };
    tacit_wire *products = tacit_scratch(builder, width * count); /* c */
    tacit_wire *column = tacit_scratch(builder, width * order), *sum = tacit_scratch(builder, width * order);
    tacit_wire *pivot = tacit_scratch(builder, width);
    if (products == NULL || column == NULL || sum == NULL || pivot == NULL) return TACIT_NO_MEMORY;
    for (size_t j = 0; j < order; j++) {
        size_t rows = order - j;
        for (size_t l = 0; l < rows; l++) take(column, rows, l, a, count, tacit_triangle(j + l, j), narrow);
        if (j > 0) {
            sums self = { out, products, count, count, factor_place, order, j };
            TACIT_TRY(sum_all(builder, sum, &self, entry, j, rows));
            TACIT_TRY(tacit_word_subtract(builder, column, column, sum, narrow, rows));
        }
        extend(column, narrow, width, rows);
        put_column(products, count, j, j, column, rows, width);
        take(pivot, 1, 0, column, rows, 0, width);
        TACIT_TRY(tacit_fixed_reciprocal(builder, pivot, pivot, format, 1));
        put_column(out, count, j, j, pivot, 1, width);
        if (rows == 1) break;
        sums self = { products, out, count, count, scale_place, order, j };
        TACIT_TRY(sum_all(builder, sum, &self, format, 1, rows - 1));
        put_column(out, count, j, j + 1, sum, rows - 1, width);
    }
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

/* ---- L D L^T x = b ---- */

/* Row i of L, on what is known of y. */
static places forward_place(const sums *self, size_t term, size_t lane) {
    (void)lane;
    return (places){ tacit_triangle(self->step, term), term };
}

/* Column i of L below the diagonal, on what is known of x. */
static places back_place(const sums *self, size_t term, size_t lane) {
    (void)lane;
    return (places){ tacit_triangle(self->step + 1 + term, self->step), self->step + 1 + term };
}

static places pivot_place(const sums *self, size_t term, size_t lane) {
    (void)self, (void)term;
    return (places){ tacit_triangle(lane, lane), lane };
}

/* x_i -= the sum, in the bits of `format`. */
static tacit_status substitute(tacit_builder *builder, tacit_wire *x, const sums *self, tacit_fixed format,
                               size_t terms) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    size_t width = format.width;
    tacit_wire *sum = tacit_scratch(builder, width), *old = tacit_scratch(builder, width);
    if (sum == NULL || old == NULL) return TACIT_NO_MEMORY;
    TACIT_TRY(sum_all(builder, sum, self, format, terms, 1));
    take(old, 1, 0, x, self->order, self->step, width);
    TACIT_TRY(tacit_word_subtract(builder, sum, old, sum, width, 1));
    take(x, self->order, self->step, sum, 1, 0, width);
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

tacit_status tacit_fixed_solve(tacit_builder *builder, tacit_wire *out, const tacit_wire *factor,
                               const tacit_wire *b, tacit_fixed format, size_t narrow, size_t order) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    size_t width = format.width, count = tacit_triangle(order, 0);
    tacit_fixed entry = { narrow, format.fraction };
    tacit_wire *x = tacit_scratch(builder, width * order);
    if (x == NULL) return TACIT_NO_MEMORY;
    tacit_copy(x, b, width * order);
    sums self = { factor, x, count, order, forward_place, order, 0 };
    for (self.step = 1; self.step < order; self.step++)
        TACIT_TRY(substitute(builder, x, &self, entry, self.step));
    extend(x, narrow, width, order);
    self.place = pivot_place;
    TACIT_TRY(sum_all(builder, x, &self, format, 1, order));
    self.place = back_place;
    for (self.step = order - 1; self.step-- > 0;)
        TACIT_TRY(substitute(builder, x, &self, entry, order - 1 - self.step));
    extend(x, narrow, width, order);
    tacit_copy(out, x, width * order);
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

/* ---- A^-1 = M^T D^-1 M, M = L^-1 ---- */

/* Diagonal m, column j: the sum over j < k < i = j + m of L_ik M_kj. */
static places diagonal_place(const sums *self, size_t term, size_t lane) {
    size_t k = lane + 1 + term;
    return (places){ tacit_triangle(lane + self->step, k), tacit_triangle(k, lane) };
}

/* M_ij = -(L_ij + the sum): all on diagonal m = i - j need those before it, and not each other. */
static tacit_status invert_triangle(tacit_builder *builder, tacit_wire *out, const tacit_wire *factor,
                                    tacit_fixed format, size_t narrow, size_t order) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    size_t width = format.width, count = tacit_triangle(order, 0);
    tacit_fixed entry = { narrow, format.fraction };
    tacit_wire *value = tacit_scratch(builder, width * order), *sum = tacit_scratch(builder, width * order);
    tacit_wire *sign = tacit_scratch(builder, order);
    if (value == NULL || sum == NULL || sign == NULL) return TACIT_NO_MEMORY;
    tacit_fill(sign, builder->one, order);
    for (size_t m = 1; m < order; m++) {
        size_t lanes = order - m;
        for (size_t j = 0; j < lanes; j++)
            take(value, lanes, j, factor, count, tacit_triangle(j + m, j), narrow);
        if (m > 1) {
            sums self = { factor, out, count, count, diagonal_place, order, m };
            TACIT_TRY(sum_all(builder, sum, &self, entry, m - 1, lanes));
            TACIT_TRY(tacit_word_add(builder, value, value, sum, narrow, lanes));
        }
        TACIT_TRY(tacit_word_negate_if(builder, value, sign, value, narrow, lanes));
        extend(value, narrow, width, lanes);
        for (size_t j = 0; j < lanes; j++) take(out, count, tacit_triangle(j + m, j), value, lanes, j, width);
    }
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

/* Row k of M, times 1 / D_k. */
static places row_place(const sums *self, size_t term, size_t lane) {
    (void)term;
    return (places){ tacit_triangle(self->step, self->step), tacit_triangle(self->step, lane) };
}

/* Row i, column j: the sum over k > i of M_ki N_kj, N = D^-1 M. */
static places product_place(const sums *self, size_t term, size_t lane) {
    size_t k = self->step + 1 + term;
    return (places){ tacit_triangle(k, self->step), tacit_triangle(k, lane) };
}

tacit_status tacit_fixed_inverse(tacit_builder *builder, tacit_wire *out, const tacit_wire *factor,
                                 tacit_fixed format, size_t narrow, size_t order) {
    tacit_scratch_mark mark = tacit_scratch_here(builder);
    size_t width = format.width, count = tacit_triangle(order, 0);
    tacit_wire *inverse = tacit_scratch(builder, width * count); /* M */
    tacit_wire *scaled = tacit_scratch(builder, width * count);  /* N */
    tacit_wire *row = tacit_scratch(builder, 2 * width * order);
    if (inverse == NULL || scaled == NULL || row == NULL) return TACIT_NO_MEMORY;
    tacit_wire *sum = row + width * order;
    TACIT_TRY(invert_triangle(builder, inverse, factor, format, narrow, order));
    for (size_t k = 0; k < order; k++) {
        sums self = { factor, inverse, count, count, row_place, order, k };
        if (k > 0) TACIT_TRY(sum_all(builder, row, &self, format, 1, k));
        for (size_t j = 0; j < k; j++) take(scaled, count, tacit_triangle(k, j), row, k, j, width);
        take(scaled, count, tacit_triangle(k, k), factor, count, tacit_triangle(k, k), width);
    }
    for (size_t i = order; i-- > 0;) {
        size_t lanes = i + 1;
        for (size_t j = 0; j < lanes; j++) take(row, lanes, j, scaled, count, tacit_triangle(i, j), width);
        if (i + 1 < order) {
            sums self = { inverse, scaled, count, count, product_place, order, i };
            TACIT_TRY(sum_all(builder, sum, &self, format, order - 1 - i, lanes));
            TACIT_TRY(tacit_word_add(builder, row, row, sum, width, lanes));
        }
        for (size_t j = 0; j < lanes; j++) take(out, count, tacit_triangle(i, j), row, lanes, j, width);
    }
    tacit_scratch_release(builder, mark);
    return TACIT_OK;
}

/* ---- range ---- */

tacit_status tacit_fixed_check_range(tacit_fixed format, size_t order, double largest, double least,
                                     tacit_error *error) {
    double unit = ldexp(1, -(int)format.fraction),
           limit = ldexp(1, (int)(format.width - 1 - format.fraction));
    if (!(largest > 0) || !(least > 0) || !isfinite(largest) || !isfinite(least))
        return tacit_fail(error, TACIT_LIMIT,
                          "a matrix with entries up to %g and eigenvalues from %g on has no secure inverse; "
                          "add regularisation, or remove columns that are constant or repeated",
                          largest, least);
    double most = 1.5 * largest, rounding = unit * (1 + most * (most + 1) * (1 + sqrt((double)order)));
    if (!(2 * (double)order * rounding < least))
        return tacit_fail(error, TACIT_LIMIT,
                          "eigenvalues from %g on are too small for %zu columns with %zu bits behind the "
                          "point, which need %g; use more regularisation",
                          least, order, format.fraction, 2 * (double)order * rounding);
    if (!(2 * fmax(most, 1 / least) < limit))
        return tacit_fail(error, TACIT_LIMIT,
                          "a matrix with entries up to %g and eigenvalues from %g on overflows numbers below "
                          "%g; scale the columns, or use more regularisation",
                          largest, least, limit);
    return TACIT_OK;
}
