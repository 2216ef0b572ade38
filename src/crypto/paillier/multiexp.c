#include "crypto/paillier/multiexp.h"

#include <sodium.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/paillier/paillier_parts.h"

enum { WIDEST_STRAUS = 6, WIDEST_PIPPENGER = 12 };

/* The weights in base 2^width, the digits of one place beside each other. */
typedef struct digits {
    unsigned width;
    size_t places, columns;
    uint16_t *digit; /* place k, column j at k columns + j */
} digits;

typedef struct work {
    const tacit_paillier_public *key;
    tacit_ciphertexts *out;
    const tacit_ciphertexts *matrix;
    tacit_ciphertexts *inverse; /* D of each row */
    digits weights;
    bool buckets;
    size_t scratch_limbs; /* a worker's */
    mp_limb_t *scratch;
} work;

static size_t straus_products(unsigned width, unsigned bits, size_t columns) {
    return columns * (((size_t)1 << width) - 2 + (bits + width - 1) / width);
}

static size_t pippenger_products(unsigned width, unsigned bits, size_t columns) {
    return (bits + width - 1) / width * (columns + ((size_t)2 << width));
}

typedef size_t products_for(unsigned width, unsigned bits, size_t columns);

static unsigned best_width(products_for *products, unsigned widest, unsigned bits, size_t columns) {
    unsigned best = 1;
    for (unsigned width = 2; width <= widest; width++)
        if (products(width, bits, columns) < products(best, bits, columns)) best = width;
    return best;
}

/* One decision for all factors, since each would take a time of its own. */
static tacit_status check_factors(const int64_t *factor, size_t count, unsigned bits, tacit_error *error) {
    if (bits < 2 || bits > 64)
        return tacit_fail(error, TACIT_USAGE, "factors have 2 to 64 bits, not %u", bits);
    const int64_t most = INT64_MAX >> (64 - bits);
    int beyond = 0;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) beyond |= (factor[i] > most) | (factor[i] < -most);
    if (beyond == 0) return TACIT_OK;
    while (factor[at] <= most && factor[at] >= -most) at++;
    return tacit_fail(error, TACIT_LIMIT, "factor %zu takes more than the declared %u bits; declare more", at,
                      bits);
}

/* u = factor + 2^(B-1), B = width places: up to 75 bits. */
static void put_digits(digits *self, size_t column, int64_t factor) {
    size_t top = self->width * self->places - 1;
    mp_limb_t u[2] = { (mp_limb_t)factor, -((uint64_t)factor >> 63) };
    mp_limb_t offset[2] = { 0, 0 };
    offset[top / 64] = (mp_limb_t)1 << (top % 64);
    mpn_add_n(u, u, offset, 2);
    for (size_t k = 0; k < self->places; k++)
        self->digit[k * self->columns + column] = (uint16_t)tacit_bits_of(u, 2, k * self->width, self->width);
    sodium_memzero(u, sizeof u);
}

static tacit_status make_digits(digits *out, const int64_t *factor, size_t columns, unsigned width,
                                unsigned bits, tacit_error *error) {
    out->width = width;
    out->places = (bits + width - 1) / width;
    out->columns = columns;
    out->digit = TACIT_NEW(uint16_t, out->places * columns);
    if (out->digit == NULL) return tacit_fail_memory(error);
    for (size_t j = 0; j < columns; j++) put_digits(out, j, factor[j]);
    return TACIT_OK;
}

static void wipe_digits(digits *self) {
    if (self->digit != NULL) sodium_memzero(self->digit, self->places * self->columns * sizeof *self->digit);
    free(self->digit);
    self->digit = NULL;
}

/* D^(2^(width-1)): D's weight is 2^(B-1), and B - width squarings follow. */
static void begin_row(const work *self, mp_limb_t *result, const mp_limb_t *inverse) {
    mpn_copyi(result, inverse, (mp_size_t)tacit_pair_limbs(&self->key->n));
    for (unsigned i = 1; i < self->weights.width; i++) tacit_pair_square(&self->key->n, result, result);
}

static void square_down(const work *self, mp_limb_t *result, size_t place) {
    if (place + 1 == self->weights.places) return;
    for (unsigned i = 0; i < self->weights.width; i++) tacit_pair_square(&self->key->n, result, result);
}

/* Scratch: the powers 0 to 2^width - 1 of each ciphertext of the row. */
static void straus_row(const work *self, mp_limb_t *result, const mp_limb_t *row, const mp_limb_t *inverse,
                       mp_limb_t *scratch) {
    const tacit_modulus *n = &self->key->n;
    const digits *weights = &self->weights;
    size_t size = tacit_pair_limbs(n), entries = (size_t)1 << weights->width;
    mp_limb_t entry[TACIT_PAIR_LIMBS_MOST];
    for (size_t j = 0; j < weights->columns; j++) {
        mp_limb_t *table = scratch + j * entries * size;
        mpn_copyi(table, n->pair_one, (mp_size_t)size);
        mpn_copyi(table + size, row + j * size, (mp_size_t)size);
        for (size_t i = 2; i < entries; i++)
            tacit_pair_multiply(n, table + i * size, table + (i - 1) * size, row + j * size);
    }
    begin_row(self, result, inverse);
    for (size_t k = weights->places; k-- > 0;) {
        square_down(self, result, k);
        for (size_t j = 0; j < weights->columns; j++) {
            tacit_pair_select(n, entry, scratch + j * entries * size, entries,
                              weights->digit[k * weights->columns + j]);
            tacit_pair_multiply(n, result, result, entry);
        }
    }
    sodium_memzero(entry, sizeof entry);
}

/* Scratch: a bucket for each digit, the product of the ciphertexts that have it at this place; the product of
 * bucket[b]^b over b is that of the products over all b' >= b, one b after the other. */
static void pippenger_row(const work *self, mp_limb_t *result, const mp_limb_t *row, const mp_limb_t *inverse,
                          mp_limb_t *scratch) {
    const tacit_modulus *n = &self->key->n;
    const digits *weights = &self->weights;
    size_t size = tacit_pair_limbs(n), entries = (size_t)1 << weights->width;
    mp_limb_t above[TACIT_PAIR_LIMBS_MOST];
    begin_row(self, result, inverse);
    for (size_t k = weights->places; k-- > 0;) {
        square_down(self, result, k);
        for (size_t b = 1; b < entries; b++) mpn_copyi(scratch + b * size, n->pair_one, (mp_size_t)size);
        for (size_t j = 0; j < weights->columns; j++) {
            mp_limb_t *bucket = scratch + weights->digit[k * weights->columns + j] * size;
            if (bucket != scratch) tacit_pair_multiply(n, bucket, bucket, row + j * size);
        }
        mpn_copyi(above, n->pair_one, (mp_size_t)size);
        for (size_t b = entries - 1; b > 0; b--) {
            tacit_pair_multiply(n, above, above, scratch + b * size);
            tacit_pair_multiply(n, result, result, above);
        }
    }
}

static tacit_status multiply_rows(void *context, size_t begin, size_t end, unsigned worker,
                                  tacit_error *error) {
    (void)error;
    const work *self = context;
    mp_limb_t *scratch = self->scratch + worker * self->scratch_limbs, result[TACIT_PAIR_LIMBS_MOST];
    size_t size = tacit_pair_limbs(&self->key->n);
    for (size_t i = begin; i < end; i++) {
        const mp_limb_t *row = tacit_ciphertext_at(self->matrix, i * self->weights.columns);
        (self->buckets ? pippenger_row : straus_row)(self, result, row, tacit_ciphertext_at(self->inverse, i),
                                                     scratch);
        mpn_copyi(tacit_ciphertext_at(self->out, i), result, (mp_size_t)size);
    }
    return TACIT_OK;
}

static tacit_status multiply_up(void *context, size_t begin, size_t end, unsigned worker,
                                tacit_error *error) {
    (void)worker, (void)error;
    const work *self = context;
    for (size_t i = begin; i < end; i++) {
        mp_limb_t *product = tacit_ciphertext_at(self->inverse, i);
        for (size_t j = 0; j < self->weights.columns; j++)
            tacit_pair_multiply(&self->key->n, product, product,
                                tacit_ciphertext_at(self->matrix, i * self->weights.columns + j));
    }
    return TACIT_OK;
}

/* Invert each, with one inversion: that of the product of all, taken apart from the end. */
static tacit_status invert_all(tacit_ciphertexts *vector, tacit_error *error) {
    const tacit_modulus *n = &vector->key->n;
    size_t size = tacit_pair_limbs(n);
    mp_limb_t inverse[TACIT_PAIR_LIMBS_MOST], product[TACIT_PAIR_LIMBS_MOST];
    tacit_ciphertexts *before = NULL; /* products of all before each */
    TACIT_TRY(tacit_ciphertexts_create(&before, vector->key, vector->count, error));
    mpn_copyi(product, n->pair_one, (mp_size_t)size);
    for (size_t i = 0; i < vector->count; i++) {
        mpn_copyi(tacit_ciphertext_at(before, i), product, (mp_size_t)size);
        tacit_pair_multiply(n, product, product, tacit_ciphertext_at(vector, i));
    }
    bool unit = tacit_pair_invert(n, inverse, product);
    for (size_t i = vector->count; unit && i-- > 0;) {
        mp_limb_t *at = tacit_ciphertext_at(vector, i);
        tacit_pair_multiply(n, product, inverse, tacit_ciphertext_at(before, i));
        tacit_pair_multiply(n, inverse, inverse, at);
        mpn_copyi(at, product, (mp_size_t)size);
    }
    tacit_ciphertexts_free(before);
    if (!unit)
        return tacit_fail(
            error, TACIT_INPUT,
            "a ciphertext shares a factor with the modulus of its key; the key is unfit for use");
    return TACIT_OK;
}

static tacit_status make_scratch(work *self, tacit_pool *pool, tacit_error *error) {
    size_t entries = (size_t)1 << self->weights.width;
    self->scratch_limbs =
        (self->buckets ? 1 : self->weights.columns) * entries * tacit_pair_limbs(&self->key->n);
    self->scratch = tacit_allocate(tacit_pool_threads(pool), self->scratch_limbs * sizeof(mp_limb_t));
    return self->scratch == NULL ? tacit_fail_memory(error) : TACIT_OK;
}

tacit_status tacit_paillier_multiply_matrix(tacit_ciphertexts *out, const tacit_ciphertexts *matrix,
                                            const int64_t *factor, size_t columns, unsigned factor_bits,
                                            tacit_factors kind, tacit_pool *pool, tacit_error *error) {
    work self = { .key = out->key, .out = out, .matrix = matrix };
    tacit_status status;
    if (!tacit_paillier_same_key(out->key, matrix->key))
        return tacit_fail(error, TACIT_USAGE, "the vectors belong to different Paillier keys");
    if (out == matrix || columns == 0 || matrix->count % columns != 0 ||
        matrix->count / columns != out->count)
        return tacit_fail(error, TACIT_USAGE, "%zu ciphertexts are not %zu rows of %zu", matrix->count,
                          out->count, columns);
    TACIT_TRY(check_factors(factor, columns, factor_bits, error));
    unsigned straus = best_width(straus_products, WIDEST_STRAUS, factor_bits, columns);
    unsigned pippenger = best_width(pippenger_products, WIDEST_PIPPENGER, factor_bits, columns);
    self.buckets = kind == TACIT_FACTORS_PUBLIC && pippenger_products(pippenger, factor_bits, columns) <
                                                       straus_products(straus, factor_bits, columns);
    TACIT_CHECK(
        make_digits(&self.weights, factor, columns, self.buckets ? pippenger : straus, factor_bits, error));
    TACIT_CHECK(make_scratch(&self, pool, error));
    TACIT_CHECK(tacit_ciphertexts_create(&self.inverse, self.key, out->count, error));
    TACIT_CHECK(tacit_pool_for(pool, out->count, 1, multiply_up, &self, error));
    TACIT_CHECK(invert_all(self.inverse, error));
    TACIT_CHECK(tacit_pool_for(pool, out->count, 1, multiply_rows, &self, error));
cleanup:
    tacit_ciphertexts_free(self.inverse);
    free(self.scratch);
    wipe_digits(&self.weights);
    return status;
}

/* ---- One factor a ciphertext: rows of one column, each with its own digits ---- */

typedef struct each {
    const tacit_paillier_public *key;
    tacit_ciphertexts *out, *inverse;
    const tacit_ciphertexts *a;
    const int64_t *factor;
    unsigned bits, width;
    size_t scratch_limbs;
    mp_limb_t *scratch;
} each;

static tacit_status multiply_some(void *context, size_t begin, size_t end, unsigned worker,
                                  tacit_error *error) {
    const each *self = context;
    mp_limb_t *scratch = self->scratch + worker * self->scratch_limbs, result[TACIT_PAIR_LIMBS_MOST];
    work row = { .key = self->key };
    TACIT_TRY(make_digits(&row.weights, self->factor + begin, 1, self->width, self->bits, error));
    for (size_t i = begin; i < end; i++) {
        put_digits(&row.weights, 0, self->factor[i]);
        straus_row(&row, result, tacit_ciphertext_at(self->a, i), tacit_ciphertext_at(self->inverse, i),
                   scratch);
        mpn_copyi(tacit_ciphertext_at(self->out, i), result, (mp_size_t)tacit_pair_limbs(&self->key->n));
    }
    wipe_digits(&row.weights);
    return TACIT_OK;
}

tacit_status tacit_paillier_multiply(tacit_ciphertexts *out, const tacit_ciphertexts *a,
                                     const int64_t *factor, unsigned factor_bits, tacit_pool *pool,
                                     tacit_error *error) {
    each self = { .key = out->key, .out = out, .a = a, .factor = factor, .bits = factor_bits };
    tacit_status status;
    if (!tacit_paillier_same_key(out->key, a->key) || out->count != a->count)
        return tacit_fail(error, TACIT_USAGE,
                          "a product needs a vector of the same length under the same Paillier key");
    TACIT_TRY(check_factors(factor, a->count, factor_bits, error));
    self.width = best_width(straus_products, WIDEST_STRAUS, factor_bits, 1);
    self.scratch_limbs = ((size_t)1 << self.width) * tacit_pair_limbs(&out->key->n);
    self.scratch = tacit_allocate(tacit_pool_threads(pool), self.scratch_limbs * sizeof(mp_limb_t));
    if (self.scratch == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(tacit_ciphertexts_create(&self.inverse, self.key, a->count, error));
    if (a->count > 0)
        memcpy(self.inverse->limbs, a->limbs, a->count * tacit_pair_limbs(&a->key->n) * sizeof(mp_limb_t));
    TACIT_CHECK(invert_all(self.inverse, error));
    TACIT_CHECK(tacit_pool_for(pool, a->count, 0, multiply_some, &self, error));
cleanup:
    tacit_ciphertexts_free(self.inverse);
    free(self.scratch);
    return status;
}
