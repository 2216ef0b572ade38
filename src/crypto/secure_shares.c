/*
 * The engine of shares. Every shared number x that is multiplied is opened once under a mask u, x - u; products of masks are
 * made beforehand (Beaver 1991):
 *     x y = (x - u)(y - v) + (x - u) v + u (y - v) + u v,
 * and a sum of products is dropped to its format once. For the order-d triangle A = L D L^T, c = L D, r = 1 / D, M = L^-1,
 * N = D^-1 M, the masks are U of L, V of c, s of r, Q of M, P of N, and the products
 *     factor    T_ij = sum_{k<j} U_ik V_jk,  S_ij = V_ij s_j
 *     inverse   X_ij = sum_{j<k<i} U_ik Q_kj,  Y_kj = s_k Q_kj,  Z_ij = sum_{k>i} Q_ki P_kj
 *     solution  W p, W the mask of A^-1 and p that of b.
 * Each mask is uniform and used for one number, so that what is opened is uniform: the views can be drawn without the numbers. A
 * reciprocal a column is garbled. Matrices here are whole squares by columns; above the diagonal they are zero.
 */
#include <sodium.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/secure_parts.h"

/* A number that is multiplied: its mask, and what was opened; the share itself is where it is computed. */
typedef struct masked {
    tacit_share *mask, *open;
} masked;

struct tacit_material {
    tacit_material *next;
    size_t order, solves, used;
    tacit_share *memory;
    size_t size;
    masked factor, product, pivot, inverse_factor, scaled, inverse; /* L, c, r, M, N, A^-1 */
    tacit_share *t, *s, *x, *y, *z;
    tacit_share *value, *result; /* shares of L and then r on the diagonal; of A^-1 */
    tacit_share *vectors, *vector_products, *vector_memory;
    bool inverted, masked_inverse;
};

static size_t at(size_t order, size_t row, size_t column) { return column * order + row; }

/* ---- ahead of time ---- */

tacit_material *tacit_material_free(tacit_material *material) {
    while (material != NULL) {
        tacit_material *next = material->next;
        if (material->memory != NULL)
            sodium_memzero(material->memory, material->size * sizeof *material->memory);
        if (material->vector_memory != NULL)
            sodium_memzero(material->vector_memory,
                           2 * material->solves * material->order * sizeof *material->vector_memory);
        free(material->memory);
        free(material->vector_memory);
        free(material);
        material = next;
    }
    return NULL;
}

void tacit_material_keep(tacit_material **list, tacit_material *material) {
    while (*list != NULL) list = &(*list)->next;
    *list = material;
}

/* The first of this order, taken out of the list; NULL when there is none. */
static tacit_material *take(tacit_material **list, size_t order) {
    while (*list != NULL && (*list)->order != order) list = &(*list)->next;
    tacit_material *found = *list;
    if (found == NULL) return NULL;
    *list = found->next;
    found->next = NULL;
    return found;
}

/* One block of memory, cut into squares. */
static tacit_status allocate(tacit_material *self, tacit_error *error) {
    size_t square = self->order * self->order;
    tacit_share **const squares[] = { &self->factor.mask,
                                      &self->factor.open,
                                      &self->product.mask,
                                      &self->product.open,
                                      &self->pivot.mask,
                                      &self->pivot.open,
                                      &self->inverse_factor.mask,
                                      &self->inverse_factor.open,
                                      &self->scaled.mask,
                                      &self->scaled.open,
                                      &self->inverse.mask,
                                      &self->inverse.open,
                                      &self->t,
                                      &self->s,
                                      &self->x,
                                      &self->y,
                                      &self->z,
                                      &self->value,
                                      &self->result };
    size_t count = sizeof squares / sizeof *squares;
    self->memory = TACIT_NEW(tacit_share, count * square);
    if (self->memory == NULL) return tacit_fail_memory(error);
    self->size = count * square;
    for (size_t k = 0; k < count; k++) *squares[k] = self->memory + k * square;
    return TACIT_OK;
}

/* Uniform below the diagonal. */
static void draw_triangle(tacit_share *square, size_t order, tacit_stream *stream) {
    for (size_t j = 0; j + 1 < order; j++)
        tacit_stream_bytes(stream, square + at(order, j + 1, j), (order - 1 - j) * sizeof *square);
}

static void draw_symmetric(tacit_share *square, size_t order, tacit_stream *stream) {
    draw_triangle(square, order, stream);
    for (size_t j = 0; j < order; j++) {
        tacit_stream_bytes(stream, square + at(order, j, j), sizeof *square);
        for (size_t i = j + 1; i < order; i++) square[at(order, j, i)] = square[at(order, i, j)];
    }
}

/* Products collected, and made when there are enough. */
typedef struct batch {
    tacit_secure *secure;
    tacit_product products[512];
    size_t count;
} batch;

static tacit_status flush(batch *self, tacit_error *error) {
    TACIT_TRY(tacit_triples_multiply(self->secure->triples, self->products, self->count, error));
    self->count = 0;
    return TACIT_OK;
}

static tacit_status add(batch *self, tacit_product product, tacit_error *error) {
    if (product.length == 0) return TACIT_OK;
    self->products[self->count++] = product;
    self->secure->costs.products += product.length;
    return self->count == sizeof self->products / sizeof *self->products ? flush(self, error) : TACIT_OK;
}

static tacit_status make_factor(batch *to, tacit_material *m, tacit_error *error) {
    size_t d = m->order;
    for (size_t j = 0; j < d; j++) {
        for (size_t k = 0; k < j; k++) /* T_ij += V_jk U_ik, i >= j */
            TACIT_TRY(add(to,
                          (tacit_product){ &m->product.mask[at(d, j, k)], &m->factor.mask[at(d, j, k)], 1,
                                           d - j, &m->t[at(d, j, j)], 1 },
                          error));
        TACIT_TRY(add(to,
                      (tacit_product){ &m->pivot.mask[j], &m->product.mask[at(d, j, j) + 1], 1, d - 1 - j,
                                       &m->s[at(d, j, j) + 1], 1 },
                      error));
    }
    return TACIT_OK;
}

static tacit_status make_inverse(batch *to, tacit_material *m, tacit_error *error) {
    size_t d = m->order;
    for (size_t k = 1; k < d; k++) {
        for (size_t j = 0; j < k; j++) /* X_ij += Q_kj U_ik, i > k */
            TACIT_TRY(
                add(to,
                    (tacit_product){ &m->inverse_factor.mask[at(d, k, j)], &m->factor.mask[at(d, k, k) + 1],
                                     1, d - 1 - k, &m->x[at(d, k, j) + 1], 1 },
                    error));
        TACIT_TRY(add(to, /* Y_kj = s_k Q_kj, j < k */
                      (tacit_product){ &m->pivot.mask[k], &m->inverse_factor.mask[k], d, k, &m->y[k], d },
                      error));
        for (size_t i = 0; i < k; i++) /* Z_ij += Q_ki P_kj, j <= i */
            TACIT_TRY(add(to,
                          (tacit_product){ &m->inverse_factor.mask[at(d, k, i)], &m->scaled.mask[k], d, i + 1,
                                           &m->z[i], d },
                          error));
    }
    return TACIT_OK;
}

static tacit_status make_vectors(batch *to, tacit_material *m, tacit_error *error) {
    size_t d = m->order;
    for (size_t v = 0; v < m->solves; v++)
        for (size_t j = 0; j < d; j++)
            TACIT_TRY(add(to,
                          (tacit_product){ &m->vectors[v * d + j], &m->inverse.mask[at(d, 0, j)], 1, d,
                                           &m->vector_products[v * d], 1 },
                          error));
    return flush(to, error);
}

/* Masks for `solves` more right-hand sides. */
static tacit_status add_vectors(tacit_secure *self, tacit_material *m, size_t solves, tacit_error *error) {
    free(m->vector_memory);
    m->used = m->solves = 0;
    m->vector_memory = TACIT_NEW(tacit_share, 2 * solves * m->order);
    if (m->vector_memory == NULL && solves > 0) return tacit_fail_memory(error);
    m->solves = solves;
    m->vectors = m->vector_memory;
    m->vector_products = m->vectors + solves * m->order;
    if (solves > 0)
        tacit_stream_bytes(self->converter.stream, m->vectors, solves * m->order * sizeof *m->vectors);
    batch to = { .secure = self };
    return make_vectors(&to, m, error);
}

tacit_status tacit_material_create(tacit_material **out, tacit_secure *self, size_t order, size_t solves,
                                   tacit_error *error) {
    double begin = tacit_secure_now();
    tacit_material *made = TACIT_NEW(tacit_material, 1);
    tacit_stream *stream = self->converter.stream;
    batch to = { .secure = self };
    tacit_status status = made == NULL ? tacit_fail_memory(error) : TACIT_OK;
    if (status != TACIT_OK) goto cleanup;
    made->order = order;
    TACIT_CHECK(allocate(made, error));
    draw_triangle(made->factor.mask, order, stream);
    draw_triangle(made->product.mask, order, stream);
    tacit_stream_bytes(stream, made->pivot.mask, order * sizeof *made->pivot.mask);
    draw_triangle(made->inverse_factor.mask, order, stream);
    draw_triangle(made->scaled.mask, order, stream);
    draw_symmetric(made->inverse.mask, order, stream);
    TACIT_CHECK(make_factor(&to, made, error));
    TACIT_CHECK(make_inverse(&to, made, error));
    TACIT_CHECK(flush(&to, error));
    TACIT_CHECK(add_vectors(self, made, solves, error));
    *out = made;
    made = NULL;
cleanup:
    tacit_material_free(made);
    self->ahead += tacit_secure_now() - begin;
    return status;
}

/* ---- online ---- */

/* open[k] = value[k] - mask[k], for both; `step` apart. */
static tacit_status open_under(tacit_secure *self, tacit_share *open, const tacit_share *value,
                               const tacit_share *mask, size_t step, size_t count, tacit_error *error) {
    tacit_share *mine = TACIT_NEW(tacit_share, 2 * count), *theirs = mine == NULL ? NULL : mine + count;
    if (mine == NULL) return count == 0 ? TACIT_OK : tacit_fail_memory(error);
    for (size_t k = 0; k < count; k++) mine[k] = value[k * step] - mask[k * step];
    tacit_status status = tacit_exchange(theirs, mine, count * sizeof *mine, self->converter.role,
                                         self->converter.channel, error);
    for (size_t k = 0; k < count && status == TACIT_OK; k++) open[k * step] = mine[k] + theirs[k];
    free(mine);
    return status;
}

/* sum[i] += x y[i] without the product of masks, for i < count: x opened and masked, y likewise. */
static void accumulate(tacit_share *sum, tacit_share x_open, tacit_share x_mask, const masked *y, size_t from,
                       size_t step, size_t count, bool first) {
    tacit_share with = first ? x_mask + x_open : x_mask;
    for (size_t i = 0; i < count; i++)
        sum[i] += y->open[from + i * step] * with + y->mask[from + i * step] * x_open;
}

static tacit_status reciprocal_wires(tacit_secure *self, tacit_share *out, const tacit_share *a) {
    tacit_scratch_mark mark = tacit_scratch_here(self->builder);
    size_t width = self->format.width;
    tacit_wire *x = tacit_scratch(self->builder, width);
    if (x == NULL) return TACIT_NO_MEMORY;
    TACIT_TRY(tacit_shares_to_wires(x, self->builder, self->converter.role, a, 1, width));
    TACIT_TRY(tacit_fixed_reciprocal(self->builder, x, x, self->format, 1));
    TACIT_TRY(tacit_shares_from_wires(out, self->builder, self->converter.role, self->converter.stream, x, 1,
                                      width));
    tacit_scratch_release(self->builder, mark);
    return TACIT_OK;
}

/* Column j: c, r and L, opened under their masks. `column` has room for d. */
static tacit_status factor_column(tacit_secure *self, tacit_material *m, const tacit_share *triangle,
                                  size_t j, tacit_share *column, tacit_error *error) {
    size_t d = m->order, rows = d - j, below = rows - 1, diagonal = at(d, j, j);
    bool first = self->converter.role == TACIT_GARBLER;
    unsigned fraction = (unsigned)self->format.fraction;
    tacit_share *value = m->value + diagonal;
    memcpy(column, m->t + diagonal, rows * sizeof *column);
    for (size_t k = 0; k < j; k++)
        accumulate(column, m->product.open[at(d, j, k)], m->product.mask[at(d, j, k)], &m->factor,
                   at(d, j, k), 1, rows, first);
    tacit_shares_drop(column, fraction, rows, self->converter.role);
    for (size_t l = 0; l < rows; l++) column[l] = triangle[tacit_triangle(j + l, j)] - column[l];
    TACIT_TRY(tacit_secure_built(self, reciprocal_wires(self, value, column), error));
    TACIT_TRY(open_under(self, m->pivot.open + j, value, m->pivot.mask + j, 1, 1, error));
    TACIT_TRY(open_under(self, m->product.open + diagonal + 1, column + 1, m->product.mask + diagonal + 1, 1,
                         below, error));
    memcpy(value + 1, m->s + diagonal + 1, below * sizeof *value);
    accumulate(value + 1, m->pivot.open[j], m->pivot.mask[j], &m->product, diagonal + 1, 1, below, first);
    tacit_shares_drop(value + 1, fraction, below, self->converter.role);
    return open_under(self, m->factor.open + diagonal + 1, value + 1, m->factor.mask + diagonal + 1, 1, below,
                      error);
}

static tacit_status shares_factor(tacit_secure *self, tacit_factored *factor, const tacit_share *triangle,
                                  tacit_error *error) {
    factor->material = take(&self->prepared, factor->order);
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
            tacit_share sum = m->x[at(d, i, j)];
            for (size_t k = j + 1; k < i; k++)
                accumulate(&sum, m->inverse_factor.open[at(d, k, j)], m->inverse_factor.mask[at(d, k, j)],
                           &m->factor, at(d, i, k), 1, 1, first);
            tacit_shares_drop(&sum, (unsigned)self->format.fraction, 1, self->converter.role);
            value[at(d, i, j)] = -(m->value[at(d, i, j)] + sum);
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
            tacit_share *to = &value[at(d, k, j)];
            *to = k == j ? m->value[at(d, k, k)] : m->y[at(d, k, j)];
            if (k == j) continue;
            accumulate(to, m->pivot.open[k], m->pivot.mask[k], &m->inverse_factor, at(d, k, j), 1, 1, first);
            tacit_shares_drop(to, (unsigned)self->format.fraction, 1, self->converter.role);
        }
    for (size_t j = 0; j < d; j++) m->scaled.mask[at(d, j, j)] = value[at(d, j, j)]; /* opens as zero */
    return open_under(self, m->scaled.open, value, m->scaled.mask, 1, d * d, error);
}

/* A^-1_ij = N_ij + sum_{k>i} M_ki N_kj for j <= i, both halves. */
static void multiply_up(const tacit_secure *self, tacit_material *m, const tacit_share *scaled) {
    size_t d = m->order;
    bool first = self->converter.role == TACIT_GARBLER;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            tacit_share sum = m->z[at(d, i, j)];
            for (size_t k = i + 1; k < d; k++)
                accumulate(&sum, m->inverse_factor.open[at(d, k, i)], m->inverse_factor.mask[at(d, k, i)],
                           &m->scaled, at(d, k, j), 1, 1, first);
            tacit_shares_drop(&sum, (unsigned)self->format.fraction, 1, self->converter.role);
            m->result[at(d, i, j)] = m->result[at(d, j, i)] = scaled[at(d, i, j)] + sum;
        }
}

static tacit_status invert(tacit_secure *self, tacit_material *m, tacit_error *error) {
    if (m->inverted) return TACIT_OK;
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
        for (size_t j = 0; j <= i; j++) out[tacit_triangle(i, j)] = factor->material->result[at(d, i, j)];
    return TACIT_OK;
}

/* With A^-1 opened under its mask, a solution is a product, and one round. */
static tacit_status shares_solve(tacit_secure *self, tacit_share *out, tacit_factored *factor,
                                 const tacit_share *b, tacit_error *error) {
    tacit_material *m = factor->material;
    size_t d = factor->order;
    bool first = self->converter.role == TACIT_GARBLER;
    TACIT_TRY(invert(self, m, error));
    if (!m->masked_inverse)
        TACIT_TRY(open_under(self, m->inverse.open, m->result, m->inverse.mask, 1, d * d, error));
    m->masked_inverse = true;
    if (m->used == m->solves) {
        double begin = tacit_secure_now();
        tacit_status status = add_vectors(self, m, 1, error);
        self->ahead += tacit_secure_now() - begin;
        TACIT_TRY(status);
    }
    tacit_share *open = TACIT_NEW(tacit_share, 2 * d), *sum = open == NULL ? NULL : open + d;
    if (open == NULL) return tacit_fail_memory(error);
    const tacit_share *mask = m->vectors + m->used * d;
    tacit_status status = open_under(self, open, b, mask, 1, d, error);
    if (status == TACIT_OK) {
        memcpy(sum, m->vector_products + m->used * d, d * sizeof *sum);
        for (size_t j = 0; j < d; j++)
            accumulate(sum, open[j], mask[j], &m->inverse, at(d, 0, j), 1, d, first);
        tacit_shares_drop(sum, (unsigned)self->format.fraction, d, self->converter.role);
        memcpy(out, sum, d * sizeof *out);
        m->used++;
    }
    sodium_memzero(open, 2 * d * sizeof *open);
    free(open);
    return status;
}

/* ---- products of matrices ---- */

typedef struct matrix_product {
    tacit_share *memory, *a_mask, *b_mask, *product, *a_open, *b_open;
    size_t size;
} matrix_product;

/* Masks of a (by rows) and b (by rows), and their product: the side with fewer entries chooses. */
static tacit_status make_product(tacit_secure *self, matrix_product *m, size_t rows, size_t inner,
                                 size_t columns, tacit_error *error) {
    double begin = tacit_secure_now();
    batch to = { .secure = self };
    tacit_status status = TACIT_OK;
    tacit_stream_bytes(self->converter.stream, m->a_mask,
                       (rows * inner + inner * columns) * sizeof *m->a_mask);
    for (size_t k = 0; k < inner; k++) {
        for (size_t i = 0; i < rows && rows <= columns; i++)
            TACIT_CHECK(add(&to,
                            (tacit_product){ &m->a_mask[i * inner + k], &m->b_mask[k * columns], 1, columns,
                                             &m->product[i * columns], 1 },
                            error));
        for (size_t j = 0; j < columns && rows > columns; j++)
            TACIT_CHECK(add(&to,
                            (tacit_product){ &m->b_mask[k * columns + j], &m->a_mask[k], inner, rows,
                                             &m->product[j], columns },
                            error));
    }
    TACIT_CHECK(flush(&to, error));
cleanup:
    self->ahead += tacit_secure_now() - begin;
    return status;
}

static tacit_status shares_multiply(tacit_secure *self, tacit_share *out, const tacit_share *a,
                                    const tacit_share *b, size_t rows, size_t inner, size_t columns,
                                    tacit_error *error) {
    bool first = self->converter.role == TACIT_GARBLER;
    size_t left = rows * inner, right = inner * columns, all = rows * columns;
    matrix_product m = { .size = 2 * left + 2 * right + all };
    tacit_status status = TACIT_OK;
    m.memory = TACIT_NEW(tacit_share, m.size);
    if (m.memory == NULL) return tacit_fail_memory(error);
    m.a_mask = m.memory, m.b_mask = m.a_mask + left, m.a_open = m.b_mask + right, m.b_open = m.a_open + left;
    m.product = m.b_open + right;
    TACIT_CHECK(make_product(self, &m, rows, inner, columns, error));
    TACIT_CHECK(open_under(self, m.a_open, a, m.a_mask, 1, left, error));
    TACIT_CHECK(open_under(self, m.b_open, b, m.b_mask, 1, right, error));
    masked second = { m.b_mask, m.b_open };
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < inner; k++)
            accumulate(m.product + i * columns, m.a_open[i * inner + k], m.a_mask[i * inner + k], &second,
                       k * columns, 1, columns, first);
    tacit_shares_drop(m.product, (unsigned)self->format.fraction, all, self->converter.role);
    memcpy(out, m.product, all * sizeof *out);
cleanup:
    sodium_memzero(m.memory, m.size * sizeof *m.memory);
    free(m.memory);
    return status;
}

const tacit_secure_kind tacit_secure_shares = { shares_multiply, shares_factor, shares_solve,
                                                shares_inverse };
