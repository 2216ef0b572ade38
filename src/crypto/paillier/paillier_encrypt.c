/* Encryption, and what can be done to ciphertexts with the public key. */
#include <sodium.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/paillier/paillier_parts.h"

enum { LIMB_BITS = 64, GRAIN = 4 };

static size_t exponent_limbs(const tacit_paillier_public *key) {
    return (key->random_bits + LIMB_BITS - 1) / LIMB_BITS;
}

/* A product of one entry a window, found by reading the whole window. */
void tacit_paillier_short_mask(const tacit_paillier_public *key, mp_limb_t *out, const mp_limb_t *r) {
    size_t size = tacit_pair_limbs(&key->n), limbs = exponent_limbs(key);
    mp_limb_t entry[TACIT_PAIR_LIMBS_MOST], result[TACIT_PAIR_LIMBS_MOST];
    for (size_t k = 0; k < key->windows; k++) {
        unsigned digit = tacit_bits_of(r, limbs, k * TACIT_PAILLIER_WINDOW, TACIT_PAILLIER_WINDOW);
        const mp_limb_t *window = key->table + k * TACIT_PAILLIER_ENTRIES * size;
        tacit_pair_select(&key->n, k == 0 ? result : entry, window, TACIT_PAILLIER_ENTRIES, digit);
        if (k > 0) tacit_pair_multiply(&key->n, result, result, entry);
    }
    mpn_copyi(out, result, (mp_size_t)size);
    sodium_memzero(entry, sizeof entry);
    sodium_memzero(result, sizeof result);
}

/* The exponent is public, the base is not. */
void tacit_paillier_classic_mask(const tacit_paillier_public *key, mp_limb_t *out, const mp_limb_t *s) {
    mp_limb_t base[TACIT_PAIR_LIMBS_MOST] = { 0 };
    mpn_copyi(base, s, (mp_size_t)key->limbs);
    tacit_pair_enter(&key->n, base, base);
    tacit_pair_power(&key->n, out, base, key->n.m, key->bits);
    sodium_memzero(base, sizeof base);
}

/* (1 + n)^m = 1 + m n modulo n^2. */
void tacit_paillier_shift(const tacit_paillier_public *key, mp_limb_t *out, const mp_limb_t *x,
                          const mp_limb_t *m) {
    mp_limb_t factor[TACIT_PAIR_LIMBS_MOST] = { 1 };
    mpn_copyi(factor + key->limbs, m, (mp_size_t)key->limbs);
    tacit_pair_enter(&key->n, factor, factor);
    tacit_pair_multiply(&key->n, out, x, factor);
    sodium_memzero(factor, sizeof factor);
}

/* ---- Batches ---- */

typedef struct batch {
    const tacit_paillier_public *key;
    tacit_ciphertexts *out;
    const tacit_ciphertexts *a, *b;
    const tacit_plaintexts *plaintexts;
    tacit_paillier_randomness randomness;
    mp_limb_t *random; /* drawn before the loop, as a source of entropy serves one thread */
    size_t random_limbs;
} batch;

static tacit_status check_lengths(const tacit_paillier_public *key, size_t count,
                                  const tacit_paillier_public *other, size_t other_count,
                                  tacit_error *error) {
    if (!tacit_paillier_same_key(key, other))
        return tacit_fail(error, TACIT_USAGE, "the vectors belong to different Paillier keys");
    if (count != other_count)
        return tacit_fail(error, TACIT_USAGE, "vectors of %zu and of %zu numbers do not go together", count,
                          other_count);
    return TACIT_OK;
}

/* Uniform below n and not 0; the draws thrown away are all that the time tells. */
static tacit_status draw_below(mp_limb_t *out, const tacit_paillier_public *key, tacit_entropy *entropy,
                               tacit_error *error) {
    mp_size_t limbs = (mp_size_t)key->limbs;
    do {
        TACIT_TRY(tacit_entropy_bytes(out, key->limbs * sizeof *out, entropy, error));
    } while (mpn_cmp(out, key->n.m, limbs) >= 0 || mpn_zero_p(out, limbs));
    return TACIT_OK;
}

static tacit_status draw_short(mp_limb_t *out, const tacit_paillier_public *key, tacit_entropy *entropy,
                               tacit_error *error) {
    size_t limbs = exponent_limbs(key);
    TACIT_TRY(tacit_entropy_bytes(out, limbs * sizeof *out, entropy, error));
    if (key->random_bits % LIMB_BITS != 0) out[limbs - 1] >>= LIMB_BITS - key->random_bits % LIMB_BITS;
    return TACIT_OK;
}

static tacit_status draw_random(batch *self, size_t count, tacit_entropy *entropy, tacit_error *error) {
    bool brief = self->randomness == TACIT_PAILLIER_SHORT;
    self->random_limbs = brief ? exponent_limbs(self->key) : self->key->limbs;
    self->random = tacit_allocate(count, self->random_limbs * sizeof(mp_limb_t));
    if (self->random == NULL && count > 0) return tacit_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        mp_limb_t *at = self->random + i * self->random_limbs;
        TACIT_TRY(brief ? draw_short(at, self->key, entropy, error)
                        : draw_below(at, self->key, entropy, error));
    }
    return TACIT_OK;
}

static void wipe_random(batch *self, size_t count) {
    if (self->random != NULL) sodium_memzero(self->random, count * self->random_limbs * sizeof(mp_limb_t));
    free(self->random);
}

static void make_mask(const batch *self, mp_limb_t *out, size_t i) {
    const mp_limb_t *random = self->random + i * self->random_limbs;
    if (self->randomness == TACIT_PAILLIER_SHORT)
        tacit_paillier_short_mask(self->key, out, random);
    else
        tacit_paillier_classic_mask(self->key, out, random);
}

static tacit_status encrypt_some(void *context, size_t begin, size_t end, unsigned worker,
                                 tacit_error *error) {
    (void)worker, (void)error;
    const batch *self = context;
    mp_limb_t mask[TACIT_PAIR_LIMBS_MOST];
    for (size_t i = begin; i < end; i++) {
        make_mask(self, mask, i);
        tacit_paillier_shift(self->key, tacit_ciphertext_at(self->out, i), mask,
                             tacit_plaintext_at(self->plaintexts, i));
    }
    sodium_memzero(mask, sizeof mask);
    tacit_residue_forget();
    return TACIT_OK;
}

tacit_status tacit_paillier_encrypt(tacit_ciphertexts *out, const tacit_plaintexts *plaintexts,
                                    tacit_paillier_randomness randomness, tacit_entropy *entropy,
                                    tacit_pool *pool, tacit_error *error) {
    batch self = { .key = out->key, .out = out, .plaintexts = plaintexts, .randomness = randomness };
    TACIT_TRY(check_lengths(out->key, out->count, plaintexts->key, plaintexts->count, error));
    tacit_status status = draw_random(&self, out->count, entropy, error);
    if (status == TACIT_OK) status = tacit_pool_for(pool, out->count, GRAIN, encrypt_some, &self, error);
    wipe_random(&self, out->count);
    return status;
}

static tacit_status rerandomise_some(void *context, size_t begin, size_t end, unsigned worker,
                                     tacit_error *error) {
    (void)worker, (void)error;
    const batch *self = context;
    mp_limb_t mask[TACIT_PAIR_LIMBS_MOST];
    for (size_t i = begin; i < end; i++) {
        mp_limb_t *at = tacit_ciphertext_at(self->out, i);
        make_mask(self, mask, i);
        tacit_pair_multiply(&self->key->n, at, at, mask);
    }
    sodium_memzero(mask, sizeof mask);
    tacit_residue_forget();
    return TACIT_OK;
}

tacit_status tacit_paillier_rerandomise(tacit_ciphertexts *ciphertexts, tacit_paillier_randomness randomness,
                                        tacit_entropy *entropy, tacit_pool *pool, tacit_error *error) {
    batch self = { .key = ciphertexts->key, .out = ciphertexts, .randomness = randomness };
    tacit_status status = draw_random(&self, ciphertexts->count, entropy, error);
    if (status == TACIT_OK)
        status = tacit_pool_for(pool, ciphertexts->count, GRAIN, rerandomise_some, &self, error);
    wipe_random(&self, ciphertexts->count);
    return status;
}

static tacit_status add_some(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    (void)worker, (void)error;
    const batch *self = context;
    for (size_t i = begin; i < end; i++)
        tacit_pair_multiply(&self->key->n, tacit_ciphertext_at(self->out, i), tacit_ciphertext_at(self->a, i),
                            tacit_ciphertext_at(self->b, i));
    return TACIT_OK;
}

tacit_status tacit_paillier_add(tacit_ciphertexts *out, const tacit_ciphertexts *a,
                                const tacit_ciphertexts *b, tacit_pool *pool, tacit_error *error) {
    batch self = { .key = out->key, .out = out, .a = a, .b = b };
    TACIT_TRY(check_lengths(out->key, out->count, a->key, a->count, error));
    TACIT_TRY(check_lengths(out->key, out->count, b->key, b->count, error));
    return tacit_pool_for(pool, out->count, 0, add_some, &self, error);
}

static tacit_status shift_some(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    (void)worker, (void)error;
    const batch *self = context;
    for (size_t i = begin; i < end; i++)
        tacit_paillier_shift(self->key, tacit_ciphertext_at(self->out, i), tacit_ciphertext_at(self->a, i),
                             tacit_plaintext_at(self->plaintexts, i));
    tacit_residue_forget();
    return TACIT_OK;
}

tacit_status tacit_paillier_add_plain(tacit_ciphertexts *out, const tacit_ciphertexts *a,
                                      const tacit_plaintexts *b, tacit_pool *pool, tacit_error *error) {
    batch self = { .key = out->key, .out = out, .a = a, .plaintexts = b };
    TACIT_TRY(check_lengths(out->key, out->count, a->key, a->count, error));
    TACIT_TRY(check_lengths(out->key, out->count, b->key, b->count, error));
    return tacit_pool_for(pool, out->count, 0, shift_some, &self, error);
}
