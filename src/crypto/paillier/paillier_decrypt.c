/*
 * Decryption modulo p^2 and q^2. For c = (1 + n)^m s^n, modulo p^2 the units have order p (p - 1), so that
 *
 *     c^(p-1) = (1 + n)^(m (p-1)) = 1 + p t,   t = m (p - 1) q = -m q mod p,   m mod p = t (-1/q) mod p,
 *
 * and in the p-adic pairs of residue.h t is simply the upper half. The halves meet by Garner's formula.
 */
#include <sodium.h>

#include "crypto/paillier/paillier_parts.h"

enum { LIMB_BITS = 64, HALF_LIMBS = TACIT_RESIDUE_LIMBS_MOST / 2 };

/* m modulo p. */
static void decrypt_half(const tacit_paillier_half *half, mp_limb_t *m, const mp_limb_t *plain) {
    const tacit_modulus *p = &half->p;
    mp_limb_t pair[TACIT_RESIDUE_LIMBS_MOST], element[TACIT_PAIR_LIMBS_MOST];
    tacit_residue_shorten(p, pair, plain + 2 * p->limbs);
    tacit_residue_multiply(p, pair, pair, half->other);
    tacit_pair_gather(p, element, plain, pair); /* c = x0 + n x1 = x0 + p (q x1) */
    tacit_pair_power(p, element, element, half->exponent, p->limbs * LIMB_BITS);
    tacit_pair_leave(p, pair, element);
    tacit_residue_multiply(p, m, pair + p->limbs, half->scale);
    sodium_memzero(pair, sizeof pair);
    sodium_memzero(element, sizeof element);
}

void tacit_paillier_decrypt_one(const tacit_paillier_secret *secret, mp_limb_t *m, const mp_limb_t *element) {
    const tacit_modulus *p = &secret->p.p, *q = &secret->q.p;
    mp_size_t limbs = (mp_size_t)p->limbs;
    mp_limb_t plain[TACIT_PAIR_LIMBS_MOST], low[TACIT_RESIDUE_LIMBS_MOST] = { 0 }, gap[HALF_LIMBS],
                                            reduced[HALF_LIMBS];
    mp_limb_t unused;
    tacit_pair_leave(&secret->public->n, plain, element);
    decrypt_half(&secret->p, low, plain);
    decrypt_half(&secret->q, gap, plain);
    /* m = m_p + p ((m_q - m_p)/p mod q) */
    tacit_residue_reduce(q, reduced, low);
    tacit_residue_subtract(q, gap, gap, reduced);
    tacit_residue_multiply(q, gap, gap, secret->p_inverse);
    mpn_sec_mul(plain, gap, limbs, p->m, limbs, &unused);
    mpn_add_n(m, plain, low, 2 * limbs);
    sodium_memzero(plain, sizeof plain);
    sodium_memzero(low, sizeof low);
    sodium_memzero(gap, sizeof gap);
    sodium_memzero(reduced, sizeof reduced);
}

typedef struct batch {
    const tacit_paillier_secret *secret;
    tacit_plaintexts *out;
    const tacit_ciphertexts *ciphertexts;
} batch;

static tacit_status decrypt_some(void *context, size_t begin, size_t end, unsigned worker,
                                 tacit_error *error) {
    (void)worker, (void)error;
    const batch *self = context;
    for (size_t i = begin; i < end; i++)
        tacit_paillier_decrypt_one(self->secret, tacit_plaintext_at(self->out, i),
                                   tacit_ciphertext_at(self->ciphertexts, i));
    tacit_residue_forget();
    return TACIT_OK;
}

tacit_status tacit_paillier_decrypt(tacit_plaintexts *out, const tacit_paillier_secret *secret,
                                    const tacit_ciphertexts *ciphertexts, tacit_pool *pool,
                                    tacit_error *error) {
    batch self = { secret, out, ciphertexts };
    if (!tacit_paillier_same_key(secret->public, ciphertexts->key) ||
        !tacit_paillier_same_key(secret->public, out->key))
        return tacit_fail(error, TACIT_USAGE,
                          "the ciphertexts belong to another Paillier key than the secret one");
    if (out->count != ciphertexts->count)
        return tacit_fail(error, TACIT_USAGE, "%zu ciphertexts do not go into %zu plaintexts",
                          ciphertexts->count, out->count);
    return tacit_pool_for(pool, out->count, 1, decrypt_some, &self, error);
}
