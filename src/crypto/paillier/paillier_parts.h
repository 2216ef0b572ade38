/* Inside Paillier: for src/crypto/paillier*.c, multiexp.c, slots.c and their tests only. Through these a
 * short key or chosen randomness could reach an encryption. */
#pragma once

#include "crypto/paillier/paillier.h"
#include "crypto/paillier/residue.h"

enum {
    TACIT_PAILLIER_WINDOW = 5, /* bits of an exponent that one entry of the table stands for */
    TACIT_PAILLIER_ENTRIES = 1 << TACIT_PAILLIER_WINDOW,
    TACIT_PAILLIER_EXPONENT_LIMBS_MOST = 10,
};

struct tacit_paillier_public {
    unsigned bits;
    size_t limbs;         /* of n */
    unsigned random_bits; /* of a short exponent */
    size_t windows;
    uint8_t fingerprint[TACIT_PAILLIER_FINGERPRINT_BYTES];
    tacit_modulus n;
    mp_limb_t *table; /* h^(i 32^k) at entry i of window k */
};

/* One half of the secret: what decryption modulo p^2 needs. `other` is q. */
typedef struct tacit_paillier_half {
    tacit_modulus p;
    mp_limb_t exponent[TACIT_RESIDUE_LIMBS_MOST / 2]; /* p - 1 */
    mp_limb_t other[TACIT_RESIDUE_LIMBS_MOST / 2];    /* q modulo p, in Montgomery's form */
    mp_limb_t scale[TACIT_RESIDUE_LIMBS_MOST / 2];    /* -1/q modulo p, in Montgomery's form */
} tacit_paillier_half;

struct tacit_paillier_secret {
    tacit_paillier_public *public;
    tacit_paillier_half p, q;
    mp_limb_t p_inverse[TACIT_RESIDUE_LIMBS_MOST / 2]; /* 1/p modulo q, in Montgomery's form */
};

struct tacit_plaintexts {
    const tacit_paillier_public *key;
    size_t count;
    mp_limb_t *limbs; /* residues modulo n, key->limbs each */
};

struct tacit_ciphertexts {
    const tacit_paillier_public *key;
    size_t count;
    mp_limb_t *limbs; /* elements modulo n^2, tacit_pair_limbs each */
};

/* As the calls without `_sized`, for any size that is a multiple of 128 bits and at least `least`. */
tacit_status tacit_paillier_generate_sized(tacit_paillier_secret **out, unsigned bits, unsigned least,
                                           tacit_pool *pool, tacit_error *error);
tacit_status tacit_paillier_public_read_sized(tacit_paillier_public **out, const void *bytes, size_t length,
                                              unsigned least, tacit_error *error);
tacit_status tacit_paillier_secret_read_sized(tacit_paillier_secret **out, const void *bytes, size_t length,
                                              unsigned least, tacit_error *error);

/* The key of n, unchecked. */
tacit_status tacit_paillier_public_make(tacit_paillier_public **out, const mp_limb_t *n, unsigned bits,
                                        tacit_error *error);
/* The key of p and q, unchecked; of bits / 2 bits each. */
tacit_status tacit_paillier_secret_make(tacit_paillier_secret **out, const mp_limb_t *p, const mp_limb_t *q,
                                        unsigned bits, tacit_error *error);

/* h^r for the short exponent r of key->random_bits bits, and s^n for s in the units modulo n: elements. */
void tacit_paillier_short_mask(const tacit_paillier_public *key, mp_limb_t *out, const mp_limb_t *r);
void tacit_paillier_classic_mask(const tacit_paillier_public *key, mp_limb_t *out, const mp_limb_t *s);

/* Element times (1 + n)^m. */
void tacit_paillier_shift(const tacit_paillier_public *key, mp_limb_t *out, const mp_limb_t *x,
                          const mp_limb_t *m);

/* The integer c below n^2 (two lengths of limbs) of an element, and back: false unless 0 < c < n^2. */
void tacit_paillier_integer(const tacit_paillier_public *key, mp_limb_t *c, const mp_limb_t *element);
bool tacit_paillier_element(const tacit_paillier_public *key, mp_limb_t *element, const mp_limb_t *c);

/* The residue modulo n of an element. */
void tacit_paillier_decrypt_one(const tacit_paillier_secret *secret, mp_limb_t *m, const mp_limb_t *element);

static inline mp_limb_t *tacit_plaintext_at(const tacit_plaintexts *plaintexts, size_t at) {
    return plaintexts->limbs + at * plaintexts->key->limbs;
}

static inline mp_limb_t *tacit_ciphertext_at(const tacit_ciphertexts *ciphertexts, size_t at) {
    return ciphertexts->limbs + at * tacit_pair_limbs(&ciphertexts->key->n);
}
