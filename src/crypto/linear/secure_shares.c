/*
 * The engine of shares. Every shared number x that is multiplied is opened once under a mask u, x - u;
 * products of masks are made beforehand (Beaver 1991; secure_material.c):
 *     x y = (x - u)(y - v) + (x - u) v + u (y - v) + u v,
 * and a sum of products is dropped to its format once. Each mask is uniform and used for one number, so that
 * what is opened is uniform: what a server sees can be drawn without the numbers. The reciprocal of a pivot
 * is garbled.
 */
#include <sodium.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/linear/secure_parts.h"

/* open[k] = value[k] - mask[k], for both; `step` apart. */
static tacit_status open_under(tacit_secure *self, tacit_share *open, const tacit_share *value,
                               const tacit_share *mask, size_t step, size_t count, tacit_error *error) {
    if (count == 0) return TACIT_OK;
    tacit_share *mine = TACIT_NEW(tacit_share, 2 * count);
    if (mine == NULL) return tacit_fail_memory(error);
    tacit_share *theirs = mine + count;
    for (size_t k = 0; k < count; k++) mine[k] = value[k * step] - mask[k * step];
    tacit_status status = tacit_exchange(theirs, mine, count * sizeof *mine, self->converter.role,
                                         self->converter.channel, error);
    for (size_t k = 0; k < count && status == TACIT_OK; k++) open[k * step] = mine[k] + theirs[k];
    free(mine);
    return status;
}

/* sum[i] += x y[i] without the product of masks, for i < count: x opened and masked, y likewise. */
static void accumulate(tacit_share *sum, tacit_share x_open, tacit_share x_mask, const tacit_masked *y,
                       size_t from, size_t step, size_t count, bool first) {
    tacit_share with = first ? x_mask + x_open : x_mask;
    for (size_t i = 0; i < count; i++)
        sum[i] += y->open[from + i * step] * with + y->mask[from + i * step] * x_open;
}

/* Column j: c, r and L, opened under their masks. `column` has room for d. */
static tacit_status factor_column(tacit_secure *self, tacit_material *m, const tacit_share *triangle,
                                  size_t j, tacit_share *column, tacit_error *error) {
    size_t d = m->order, rows = d - j, below = rows - 1, diagonal = tacit_square(d, j, j);
    bool first = self->converter.role == TACIT_GARBLER;
    unsigned fraction = (unsigned)self->format.fraction;
    tacit_share *value = m->value + diagonal;
    memcpy(column, m->t + diagonal, rows * sizeof *column);
    for (size_t k = 0; k < j; k++)
        accumulate(column, m->product.open[tacit_square(d, j, k)], m->product.mask[tacit_square(d, j, k)],
                   &m->factor, tacit_square(d, j, k), 1, rows, first);
    tacit_shares_drop(column, fraction, rows, self->converter.role);
    for (size_t l = 0; l < rows; l++) column[l] = triangle[tacit_triangle(j + l, j)] - column[l];
    TACIT_TRY(tacit_secure_built(self, tacit_reciprocal_wires(self, value, column, 1), error));
    column[0] = value[0];
    TACIT_TRY(
        open_under(self, m->product.open + diagonal, column, m->product.mask + diagonal, 1, rows, error));
    m->pivot.open[j] = m->product.open[diagonal];
    memcpy(value + 1, m->s + diagonal + 1, below * sizeof *value);
    accumulate(value + 1, m->pivot.open[j], m->pivot.mask[j], &m->product, diagonal + 1, 1, below, first);
    tacit_shares_drop(value + 1, fraction, below, self->converter.role);
    return open_under(self, m->factor.open + diagonal + 1, value + 1, m->factor.mask + diagonal + 1, 1, below,
                      error);
}

static tacit_status shares_factor(tacit_secure *self, tacit_factored *factor, const tacit_share *triangle,
                                  tacit_error *error) {
    factor->material = tacit_material_take(&self->prepared, factor->order);
    if (factor->material == NULL)
        TACIT_TRY(tacit_material_create(&factor->material, self, factor->order, 0, error));
    tacit_share *column = TACIT_NEW(tacit_share, factor->order);
    tacit_status status = column == NULL ? tacit_fail_memory(error) : TACIT_OK;
    for (size_t j = 0; j < factor->order && status == TACIT_OK; j++)
        status = factor_column(self, factor->material, triangle, j, column, error);
    if (column != NULL) sodium_memzero(column, factor->order * sizeof *column);
    free(column);
    return status;
}

/* M_ij = -(L_ij + sum_{j<k<i} L_ik M_kj), by diagonals i - j, into `value`. */
static tacit_status invert_factor(tacit_secure *self, tacit_material *m, tacit_share *value,
                                  tacit_error *error) {
    size_t d = m->order;
    bool first = self->converter.role == TACIT_GARBLER;
    for (size_t step = 1; step < d; step++) {
        for (size_t j = 0; j + step < d; j++) {
            size_t i = j + step;
            tacit_share sum = m->x[tacit_square(d, i, j)];
            for (size_t k = j + 1; k < i; k++)
                accumulate(&sum, m->inverse_factor.open[tacit_square(d, k, j)],
                           m->inverse_factor.mask[tacit_square(d, k, j)], &m->factor, tacit_square(d, i, k),
                           1, 1, first);
            tacit_shares_drop(&sum, (unsigned)self->format.fraction, 1, self->converter.role);
            value[tacit_square(d, i, j)] = -(m->value[tacit_square(d, i, j)] + sum);
        }
        TACIT_TRY(open_under(self, m->inverse_factor.open + step, value + step, m->inverse_factor.mask + step,
                             d + 1, d - step, error));
    }
    return TACIT_OK;
}

/* N_kj = r_k M_kj for j < k, and N_kk = r_k, into `value`; opened all at once. */
static tacit_status scale_rows(tacit_secure *self, tacit_material *m, tacit_share *value,
                               tacit_error *error) {
    size_t d = m->order;
    bool first = self->converter.role == TACIT_GARBLER;
    for (size_t j = 0; j < d; j++)
        for (size_t k = j; k < d; k++) {
            tacit_share *to = &value[tacit_square(d, k, j)];
            *to = k == j ? m->value[tacit_square(d, k, k)] : m->y[tacit_square(d, k, j)];
            if (k == j) continue;
            accumulate(to, m->pivot.open[k], m->pivot.mask[k], &m->inverse_factor, tacit_square(d, k, j), 1,
                       1, first);
            tacit_shares_drop(to, (unsigned)self->format.fraction, 1, self->converter.role);
        }
    /* opens as zero */
    for (size_t j = 0; j < d; j++) m->scaled.mask[tacit_square(d, j, j)] = value[tacit_square(d, j, j)];
    return open_under(self, m->scaled.open, value, m->scaled.mask, 1, d * d, error);
}

/* A^-1_ij = N_ij + sum_{k>i} M_ki N_kj for j <= i, both halves. */
static void multiply_up(const tacit_secure *self, tacit_material *m, const tacit_share *scaled) {
    size_t d = m->order;
    bool first = self->converter.role == TACIT_GARBLER;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            tacit_share sum = m->z[tacit_square(d, i, j)];
            for (size_t k = i + 1; k < d; k++)
                accumulate(&sum, m->inverse_factor.open[tacit_square(d, k, i)],
                           m->inverse_factor.mask[tacit_square(d, k, i)], &m->scaled, tacit_square(d, k, j),
                           1, 1, first);
            tacit_shares_drop(&sum, (unsigned)self->format.fraction, 1, self->converter.role);
            m->result[tacit_square(d, i, j)] = m->result[tacit_square(d, j, i)] =
                scaled[tacit_square(d, i, j)] + sum;
        }
}

static tacit_status invert(tacit_secure *self, tacit_material *m, tacit_error *error) {
    if (m->inverted) return TACIT_OK;
    TACIT_TRY(tacit_material_need_inverse(self, m, error));
    size_t square = m->order * m->order;
    tacit_share *value = TACIT_NEW(tacit_share, square);
    tacit_status status = value == NULL ? tacit_fail_memory(error) : TACIT_OK;
    if (status != TACIT_OK) goto cleanup;
    TACIT_CHECK(invert_factor(self, m, value, error));
    TACIT_CHECK(scale_rows(self, m, value, error));
    multiply_up(self, m, value);
    m->inverted = true;
cleanup:
    if (value != NULL) sodium_memzero(value, square * sizeof *value);
    free(value);
    return status;
}

static tacit_status shares_inverse(tacit_secure *self, tacit_share *out, tacit_factored *factor,
                                   tacit_error *error) {
    size_t d = factor->order;
    TACIT_TRY(invert(self, factor->material, error));
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++)
            out[tacit_triangle(i, j)] = factor->material->result[tacit_square(d, i, j)];
    return TACIT_OK;
}

/* One number of a vector is known: open it, and add its multiples of a column, or row, of L to `sum`. */
static tacit_status substitute(tacit_secure *self, const tacit_material *m, const tacit_masked *vector,
                               size_t k, const tacit_share *value, tacit_share *sum, bool forward,
                               tacit_error *error) {
    size_t d = m->order;
    bool first = self->converter.role == TACIT_GARBLER;
    TACIT_TRY(open_under(self, vector->open + k, value + k, vector->mask + k, 1, 1, error));
    if (forward)
        accumulate(sum + k + 1, vector->open[k], vector->mask[k], &m->factor, tacit_square(d, k, k) + 1, 1,
                   d - 1 - k, first);
    else
        accumulate(sum, vector->open[k], vector->mask[k], &m->factor, k, d, k, first);
    return TACIT_OK;
}

/* L y = b, z = D^-1 y, L^T x = z, in place; two rounds a column, and little to make ahead of time. */
static tacit_status solve_by_substitution(tacit_secure *self, tacit_share *x, tacit_material *m,
                                          tacit_error *error) {
    size_t d = m->order;
    tacit_role role = self->converter.role;
    unsigned fraction = (unsigned)self->format.fraction;
    for (size_t k = 0; k < d; k++) {
        tacit_share *sum = m->forward_product;
        if (k > 0) tacit_shares_drop(sum + k, fraction, 1, role);
        x[k] -= sum[k];
        TACIT_TRY(substitute(self, m, &m->forward, k, x, sum, true, error));
    }
    for (size_t k = 0; k < d; k++) {
        x[k] = m->pivot_product[k];
        accumulate(x + k, m->pivot.open[k], m->pivot.mask[k], &m->forward, k, 1, 1, role == TACIT_GARBLER);
        tacit_shares_drop(x + k, fraction, 1, role);
    }
    for (size_t k = d; k-- > 0;) {
        tacit_share *sum = m->back_product;
        if (k + 1 < d) tacit_shares_drop(sum + k, fraction, 1, role);
        x[k] -= sum[k];
        if (k > 0) TACIT_TRY(substitute(self, m, &m->back, k, x, sum, false, error));
    }
    return TACIT_OK;
}

/* With A^-1 opened under its mask a solution is a product, and one round. */
static tacit_status solve_by_inverse(tacit_secure *self, tacit_share *x, tacit_material *m,
                                     tacit_error *error) {
    size_t d = m->order;
    TACIT_TRY(invert(self, m, error));
    TACIT_TRY(tacit_material_need_vector(self, m, error));
    if (!m->is_open)
        TACIT_TRY(open_under(self, m->inverse.open, m->result, m->inverse.mask, 1, d * d, error));
    m->is_open = true;
    const tacit_share *mask = m->vectors + m->vectors_used * d;
    const tacit_share *product = mask + m->vector_count * d;
    tacit_share *open = TACIT_NEW(tacit_share, d);
    if (open == NULL) return tacit_fail_memory(error);
    tacit_status status = open_under(self, open, x, mask, 1, d, error);
    if (status == TACIT_OK) {
        memcpy(x, product, d * sizeof *x);
        for (size_t j = 0; j < d; j++)
            accumulate(x, open[j], mask[j], &m->inverse, tacit_square(d, 0, j), 1, d,
                       self->converter.role == TACIT_GARBLER);
        tacit_shares_drop(x, (unsigned)self->format.fraction, d, self->converter.role);
        m->vectors_used++;
    }
    free(open);
    return status;
}

/* The first by substitution, since there may be no other; then it pays to invert. */
static tacit_status shares_solve(tacit_secure *self, tacit_share *out, tacit_factored *factor,
                                 const tacit_share *b, tacit_error *error) {
    tacit_material *m = factor->material;
    memmove(out, b, m->order * sizeof *out);
    if (m->inverted || m->substituted) return solve_by_inverse(self, out, m, error);
    TACIT_TRY(tacit_material_need_substitution(self, m, error));
    m->substituted = true;
    return solve_by_substitution(self, out, m, error);
}

/* ---- products of matrices ---- */

static tacit_status shares_multiply(tacit_secure *self, tacit_share *out, const tacit_share *a,
                                    const tacit_share *b, size_t rows, size_t inner, size_t columns,
                                    tacit_error *error) {
    size_t left = rows * inner, right = inner * columns, all = rows * columns,
           size = 2 * left + 2 * right + all;
    tacit_share *memory = TACIT_NEW(tacit_share, size), *product = memory;
    tacit_status status = TACIT_OK;
    if (memory == NULL) return tacit_fail_memory(error);
    tacit_masked x = { product + all, product + all + left };
    tacit_masked y = { x.open + left, x.open + left + right };
    TACIT_CHECK(tacit_material_product(self, x.mask, y.mask, product, rows, inner, columns, error));
    TACIT_CHECK(open_under(self, x.open, a, x.mask, 1, left, error));
    TACIT_CHECK(open_under(self, y.open, b, y.mask, 1, right, error));
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < inner; k++)
            accumulate(product + i * columns, x.open[i * inner + k], x.mask[i * inner + k], &y, k * columns,
                       1, columns, self->converter.role == TACIT_GARBLER);
    tacit_shares_drop(product, (unsigned)self->format.fraction, all, self->converter.role);
    memcpy(out, product, all * sizeof *out);
cleanup:
    sodium_memzero(memory, size * sizeof *memory);
    free(memory);
    return status;
}

static tacit_status shares_scale_rows(tacit_secure *self, tacit_share *out, const tacit_share *factors,
                                      const tacit_share *b, size_t rows, size_t columns, tacit_error *error) {
    size_t all = rows * columns, size = 2 * rows + 3 * all;
    tacit_share *memory = TACIT_NEW(tacit_share, size), *product = memory;
    tacit_status status = TACIT_OK;
    if (memory == NULL) return tacit_fail_memory(error);
    tacit_masked x = { product + all, product + all + rows };
    tacit_masked y = { x.open + rows, x.open + rows + all };
    TACIT_CHECK(tacit_material_rows(self, x.mask, y.mask, product, rows, columns, error));
    TACIT_CHECK(open_under(self, x.open, factors, x.mask, 1, rows, error));
    TACIT_CHECK(open_under(self, y.open, b, y.mask, 1, all, error));
    for (size_t i = 0; i < rows; i++)
        accumulate(product + i * columns, x.open[i], x.mask[i], &y, i * columns, 1, columns,
                   self->converter.role == TACIT_GARBLER);
    tacit_shares_drop(product, (unsigned)self->format.fraction, all, self->converter.role);
    memcpy(out, product, all * sizeof *out);
cleanup:
    sodium_memzero(memory, size * sizeof *memory);
    free(memory);
    return status;
}

const tacit_secure_kind tacit_secure_shares = { shares_multiply, shares_scale_rows, shares_factor,
                                                shares_solve, shares_inverse };
