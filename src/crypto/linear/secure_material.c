/* Masks and products of masks, before the numbers are there. What they are for stands in secure_shares.c. */
#include <sodium.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/linear/secure_parts.h"

static void wipe_free(tacit_share *memory, size_t size) {
    if (memory != NULL) sodium_memzero(memory, size * sizeof *memory);
    free(memory);
}

tacit_material *tacit_material_free(tacit_material *material) {
    while (material != NULL) {
        tacit_material *next = material->next;
        wipe_free(material->memory, material->size);
        wipe_free(material->inverse_memory, material->inverse_size);
        wipe_free(material->vectors, 2 * material->vector_count * material->order);
        free(material);
        material = next;
    }
    return NULL;
}

void tacit_material_keep(tacit_material **list, tacit_material *material) {
    while (*list != NULL) list = &(*list)->next;
    *list = material;
}

tacit_material *tacit_material_take(tacit_material **list, size_t order) {
    while (*list != NULL && (*list)->order != order) list = &(*list)->next;
    tacit_material *found = *list;
    if (found == NULL) return NULL;
    *list = found->next;
    found->next = NULL;
    return found;
}

/* One block of memory, cut into `count` pieces of `size`, after what was cut before. */
static void cut(tacit_share **memory, tacit_share **const pieces[], size_t count, size_t size) {
    for (size_t k = 0; k < count; k++) {
        *pieces[k] = *memory;
        *memory += size;
    }
}

static tacit_status allocate_factor(tacit_material *self, tacit_error *error) {
    tacit_share **const squares[] = { &self->factor.mask,  &self->factor.open, &self->product.mask,
                                      &self->product.open, &self->t,           &self->s,
                                      &self->value };
    tacit_share **const vectors[] = { &self->pivot.mask,      &self->pivot.open,    &self->forward.mask,
                                      &self->forward.open,    &self->back.mask,     &self->back.open,
                                      &self->forward_product, &self->pivot_product, &self->back_product };
    enum { SQUARES = sizeof squares / sizeof *squares, VECTORS = sizeof vectors / sizeof *vectors };
    size_t square = self->order * self->order;
    self->size = SQUARES * square + VECTORS * self->order;
    self->memory = TACIT_NEW(tacit_share, self->size);
    if (self->memory == NULL) return tacit_fail_memory(error);
    tacit_share *left = self->memory;
    cut(&left, squares, SQUARES, square);
    cut(&left, vectors, VECTORS, self->order);
    return TACIT_OK;
}

static tacit_status allocate_inverse(tacit_material *self, tacit_error *error) {
    tacit_share **const squares[] = { &self->inverse_factor.mask,
                                      &self->inverse_factor.open,
                                      &self->scaled.mask,
                                      &self->scaled.open,
                                      &self->inverse.mask,
                                      &self->inverse.open,
                                      &self->x,
                                      &self->y,
                                      &self->z,
                                      &self->result };
    enum { SQUARES = sizeof squares / sizeof *squares };
    size_t square = self->order * self->order;
    self->inverse_size = SQUARES * square;
    self->inverse_memory = TACIT_NEW(tacit_share, self->inverse_size);
    if (self->inverse_memory == NULL) return tacit_fail_memory(error);
    tacit_share *left = self->inverse_memory;
    cut(&left, squares, SQUARES, square);
    return TACIT_OK;
}

/* Uniform below the diagonal. */
static void draw_triangle(tacit_share *square, size_t order, tacit_stream *stream) {
    for (size_t j = 0; j + 1 < order; j++)
        tacit_stream_bytes(stream, square + tacit_square(order, j + 1, j), (order - 1 - j) * sizeof *square);
}

static void draw_symmetric(tacit_share *square, size_t order, tacit_stream *stream) {
    draw_triangle(square, order, stream);
    for (size_t j = 0; j < order; j++) {
        tacit_stream_bytes(stream, square + tacit_square(order, j, j), sizeof *square);
        for (size_t i = j + 1; i < order; i++)
            square[tacit_square(order, j, i)] = square[tacit_square(order, i, j)];
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
                          (tacit_product){ &m->product.mask[tacit_square(d, j, k)],
                                           &m->factor.mask[tacit_square(d, j, k)], 1, d - j,
                                           &m->t[tacit_square(d, j, j)], 1 },
                          error));
        TACIT_TRY(add(to,
                      (tacit_product){ &m->pivot.mask[j], &m->product.mask[tacit_square(d, j, j) + 1], 1,
                                       d - 1 - j, &m->s[tacit_square(d, j, j) + 1], 1 },
                      error));
    }
    return TACIT_OK;
}

static tacit_status make_substitution(batch *to, tacit_material *m, tacit_error *error) {
    size_t d = m->order;
    for (size_t k = 0; k < d; k++) {
        TACIT_TRY(add(to, /* U_ik p_k, i > k */
                      (tacit_product){ &m->forward.mask[k], &m->factor.mask[tacit_square(d, k, k) + 1], 1,
                                       d - 1 - k, &m->forward_product[k] + 1, 1 },
                      error));
        TACIT_TRY(
            add(to, (tacit_product){ &m->pivot.mask[k], &m->forward.mask[k], 1, 1, &m->pivot_product[k], 1 },
                error));
        TACIT_TRY(add(to, /* U_ki q_k, i < k */
                      (tacit_product){ &m->back.mask[k], &m->factor.mask[k], d, k, m->back_product, 1 },
                      error));
    }
    return TACIT_OK;
}

static tacit_status make_inverse(batch *to, tacit_material *m, tacit_error *error) {
    size_t d = m->order;
    for (size_t k = 1; k < d; k++) {
        for (size_t j = 0; j < k; j++) /* X_ij += Q_kj U_ik, i > k */
            TACIT_TRY(add(to,
                          (tacit_product){ &m->inverse_factor.mask[tacit_square(d, k, j)],
                                           &m->factor.mask[tacit_square(d, k, k) + 1], 1, d - 1 - k,
                                           &m->x[tacit_square(d, k, j) + 1], 1 },
                          error));
        TACIT_TRY(add(to, /* Y_kj = s_k Q_kj, j < k */
                      (tacit_product){ &m->pivot.mask[k], &m->inverse_factor.mask[k], d, k, &m->y[k], d },
                      error));
        for (size_t i = 0; i < k; i++) /* Z_ij += Q_ki P_kj, j <= i */
            TACIT_TRY(add(to,
                          (tacit_product){ &m->inverse_factor.mask[tacit_square(d, k, i)], &m->scaled.mask[k],
                                           d, i + 1, &m->z[i], d },
                          error));
    }
    return TACIT_OK;
}

/* The seconds since `begin` were ahead of time. */
static tacit_status book(tacit_secure *self, double begin, tacit_status status) {
    self->ahead += tacit_secure_now() - begin;
    return status;
}

static tacit_status add_factor(tacit_secure *self, tacit_material *m, tacit_error *error) {
    tacit_stream *stream = self->converter.stream;
    batch to = { .secure = self };
    TACIT_TRY(allocate_factor(m, error));
    draw_triangle(m->factor.mask, m->order, stream);
    draw_triangle(m->product.mask, m->order, stream);
    tacit_stream_bytes(stream, m->pivot.mask, m->order * sizeof *m->pivot.mask);
    for (size_t j = 0; j < m->order; j++) /* r_j is opened with the column of c, in the place of c_jj */
        m->product.mask[tacit_square(m->order, j, j)] = m->pivot.mask[j];
    TACIT_TRY(make_factor(&to, m, error));
    return flush(&to, error);
}

static tacit_status add_substitution(tacit_secure *self, tacit_material *m, tacit_error *error) {
    batch to = { .secure = self };
    if (m->has_substitution) return TACIT_OK;
    tacit_stream_bytes(self->converter.stream, m->forward.mask, m->order * sizeof *m->forward.mask);
    tacit_stream_bytes(self->converter.stream, m->back.mask, m->order * sizeof *m->back.mask);
    TACIT_TRY(make_substitution(&to, m, error));
    TACIT_TRY(flush(&to, error));
    m->has_substitution = true;
    return TACIT_OK;
}

static tacit_status add_inverse(tacit_secure *self, tacit_material *m, tacit_error *error) {
    tacit_stream *stream = self->converter.stream;
    batch to = { .secure = self };
    if (m->inverse_memory != NULL) return TACIT_OK;
    TACIT_TRY(allocate_inverse(m, error));
    draw_triangle(m->inverse_factor.mask, m->order, stream);
    draw_triangle(m->scaled.mask, m->order, stream);
    draw_symmetric(m->inverse.mask, m->order, stream);
    TACIT_TRY(make_inverse(&to, m, error));
    return flush(&to, error);
}

/* Masks for `count` right-hand sides; those before are used up. */
static tacit_status add_vectors(tacit_secure *self, tacit_material *m, size_t count, tacit_error *error) {
    size_t d = m->order;
    batch to = { .secure = self };
    wipe_free(m->vectors, 2 * m->vector_count * d);
    m->vector_count = m->vectors_used = 0;
    m->vectors = TACIT_NEW(tacit_share, 2 * count * d);
    if (m->vectors == NULL) return tacit_fail_memory(error);
    m->vector_count = count;
    tacit_stream_bytes(self->converter.stream, m->vectors, count * d * sizeof *m->vectors);
    for (size_t v = 0; v < count; v++)
        for (size_t j = 0; j < d; j++)
            TACIT_TRY(add(&to,
                          (tacit_product){ &m->vectors[v * d + j], &m->inverse.mask[tacit_square(d, 0, j)], 1,
                                           d, &m->vectors[(count + v) * d], 1 },
                          error));
    return flush(&to, error);
}

tacit_status tacit_material_need_substitution(tacit_secure *self, tacit_material *material,
                                              tacit_error *error) {
    double begin = tacit_secure_now();
    return book(self, begin, add_substitution(self, material, error));
}

tacit_status tacit_material_need_inverse(tacit_secure *self, tacit_material *material, tacit_error *error) {
    double begin = tacit_secure_now();
    return book(self, begin, add_inverse(self, material, error));
}

tacit_status tacit_material_need_vector(tacit_secure *self, tacit_material *material, tacit_error *error) {
    double begin = tacit_secure_now();
    if (material->vectors_used < material->vector_count) return TACIT_OK;
    return book(self, begin, add_vectors(self, material, 1, error));
}

tacit_status tacit_material_create(tacit_material **out, tacit_secure *self, size_t order, size_t solves,
                                   tacit_error *error) {
    double begin = tacit_secure_now();
    tacit_material *made = TACIT_NEW(tacit_material, 1);
    tacit_status status = made == NULL ? tacit_fail_memory(error) : TACIT_OK;
    if (status != TACIT_OK) goto cleanup;
    made->order = order;
    TACIT_CHECK(add_factor(self, made, error));
    if (solves > 0) TACIT_CHECK(add_substitution(self, made, error));
    if (solves > 1) TACIT_CHECK(add_inverse(self, made, error));
    if (solves > 1) TACIT_CHECK(add_vectors(self, made, solves - 1, error));
    *out = made;
    made = NULL;
cleanup:
    tacit_material_free(made);
    return book(self, begin, status);
}

/* The side with fewer entries chooses. */
tacit_status tacit_material_product(tacit_secure *self, tacit_share *a_mask, tacit_share *b_mask,
                                    tacit_share *product, size_t rows, size_t inner, size_t columns,
                                    tacit_error *error) {
    double begin = tacit_secure_now();
    batch to = { .secure = self };
    tacit_status status = TACIT_OK;
    tacit_stream_bytes(self->converter.stream, a_mask, rows * inner * sizeof *a_mask);
    tacit_stream_bytes(self->converter.stream, b_mask, inner * columns * sizeof *b_mask);
    for (size_t k = 0; k < inner; k++) {
        for (size_t i = 0; i < rows && rows <= columns; i++)
            TACIT_CHECK(add(&to,
                            (tacit_product){ &a_mask[i * inner + k], &b_mask[k * columns], 1, columns,
                                             &product[i * columns], 1 },
                            error));
        for (size_t j = 0; j < columns && rows > columns; j++)
            TACIT_CHECK(add(
                &to,
                (tacit_product){ &b_mask[k * columns + j], &a_mask[k], inner, rows, &product[j], columns },
                error));
    }
    TACIT_CHECK(flush(&to, error));
cleanup:
    return book(self, begin, status);
}

tacit_status tacit_material_rows(tacit_secure *self, tacit_share *factor_mask, tacit_share *b_mask,
                                 tacit_share *product, size_t rows, size_t columns, tacit_error *error) {
    double begin = tacit_secure_now();
    batch to = { .secure = self };
    tacit_status status = TACIT_OK;
    tacit_stream_bytes(self->converter.stream, factor_mask, rows * sizeof *factor_mask);
    tacit_stream_bytes(self->converter.stream, b_mask, rows * columns * sizeof *b_mask);
    for (size_t i = 0; i < rows; i++)
        TACIT_CHECK(add(
            &to,
            (tacit_product){ &factor_mask[i], &b_mask[i * columns], 1, columns, &product[i * columns], 1 },
            error));
    TACIT_CHECK(flush(&to, error));
cleanup:
    return book(self, begin, status);
}
