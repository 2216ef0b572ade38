/*
 * Paillier encryption (Paillier 1999), in the variant of Damgard, Jurik and Nielsen (2010) with short
 * randomness: whoever has the public key n encrypts, adds under encryption and multiplies by numbers it
 * knows; whoever has p and q decrypts. In a study the one who adds, the coordinator, never holds the secret
 * key.
 *
 *     c = (1 + n)^m h^r mod n^2,   h = (-x^2 mod n)^n mod n^2,
 *                                      x = BLAKE2b of n, stretched to 128 bits over n
 *
 *  - Plaintexts are integers modulo n, read as signed: between -n/2 and n/2.
 *  - Strength. n of 2048 bits, the default, gives about 112 bits of security; 3072 bits give 128 (NIST SP
 *    800-57). Shorter ones are refused.
 *  - p and q are safe primes (p = 2 p' + 1), so that p, q = 3 mod 4 and gcd(p - 1, q - 1) = 2, and h
 *    generates the n-th powers with Jacobi symbol +1, up to a chance below 2^-1000. As x comes from n by a
 *    hash, nobody can choose a weak h, and a received key needs no proof of it: it is an n-th power by
 *    construction.
 *  - Assumptions. Decisional composite residuosity; for TACIT_PAILLIER_SHORT also that h^r with r of four
 *    times the level of security in bits (448 at 2048 bits, 512 at 3072) cannot be told from h^r with r
 *    uniform: that short discrete logarithms are hard in this group (Koshiba and Kurosawa 2004 show the
 *    equivalence for groups of prime order; here it is assumed). The best known attack takes 2^224 steps.
 *    TACIT_PAILLIER_CLASSIC, c = (1 + n)^m s^n with s uniform, needs residuosity alone and takes about twenty
 *    times as long. Both decrypt alike and may be mixed.
 *  - What it does not give: anyone can change a ciphertext into one of a related number; a key holder that
 *    decrypts whatever it is handed is an oracle for everything encrypted. Who may ask is the protocol's
 *    affair.
 *
 * Constant time. No branch and no address depends on a plaintext, a random number, a factor or the secret
 * key, in encryption, decryption, addition, multiplication and slots. Ciphertexts and public keys are public,
 * and their checking and inversion take what time they take. So does the search for primes
 * (crypto/paillier/prime.h). Memory that held secrets is wiped before it is freed; GMP's own memory never
 * holds any (crypto/paillier/residue.h).
 *
 * Threads. Keys are never changed once made, and may be shared. A vector is used by one thread at a time;
 * calls with a pool share their loop over it (a NULL pool runs on the calling thread). Results do not depend
 * on it. A vector borrows its public key, which must outlive it. Outputs may be inputs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/pool.h"
#include "rand/entropy.h"

enum {
    TACIT_PAILLIER_BITS = 2048,
    TACIT_PAILLIER_BITS_MOST = 4096,
    TACIT_PAILLIER_FINGERPRINT_BYTES = 32,
    TACIT_PAILLIER_FINGERPRINT_TEXT = 65, /* as text, with the final NUL */
};

typedef struct tacit_paillier_public tacit_paillier_public;
typedef struct tacit_paillier_secret tacit_paillier_secret;

typedef enum tacit_paillier_randomness {
    TACIT_PAILLIER_SHORT,
    TACIT_PAILLIER_CLASSIC,
} tacit_paillier_randomness;

/* ---- Keys ---- */

/* A new key of 2048, 3072 or 4096 bits: seconds at 2048 bits, with the pool p and q at the same time. */
tacit_status tacit_paillier_generate(tacit_paillier_secret **out, unsigned bits, tacit_pool *pool,
                                     tacit_error *error);
tacit_paillier_secret *tacit_paillier_secret_free(tacit_paillier_secret *secret);
/* Borrowed from the secret key. */
const tacit_paillier_public *tacit_paillier_public_of(const tacit_paillier_secret *secret);

/* A public key as bytes, and back. What comes from outside is checked: the length, an allowed size, n odd, 1
 * modulo 4, without a factor below 2^16, not a prime and not a power. That n has two factors of the right
 * kind, its maker knows; a wrong n harms the secrecy that its maker could break anyway. */
tacit_status tacit_paillier_public_write(const tacit_paillier_public *key, tacit_buffer *out,
                                         tacit_error *error);
tacit_status tacit_paillier_public_read(tacit_paillier_public **out, const void *bytes, size_t length,
                                        tacit_error *error);
tacit_paillier_public *tacit_paillier_public_free(tacit_paillier_public *key);

/* A secret key as bytes (wipe them: sodium_memzero; and give the buffer all its room first, for a buffer that
 * grows leaves copies), and back: checked for size, p and q safe primes, different. */
tacit_status tacit_paillier_secret_write(const tacit_paillier_secret *secret, tacit_buffer *out,
                                         tacit_error *error);
tacit_status tacit_paillier_secret_read(tacit_paillier_secret **out, const void *bytes, size_t length,
                                        tacit_error *error);
/* Without looking at the primes: for a key that is part of the program. */
tacit_status tacit_paillier_secret_trust(tacit_paillier_secret **out, const void *bytes, size_t length,
                                         tacit_error *error);

unsigned tacit_paillier_bits(const tacit_paillier_public *key);
/* BLAKE2b-256 of the public key's bytes; borrowed. Parties compare it by another way before they trust a
 * key. */
const uint8_t *tacit_paillier_fingerprint(const tacit_paillier_public *key);
void tacit_paillier_fingerprint_text(char out[TACIT_PAILLIER_FINGERPRINT_TEXT],
                                     const tacit_paillier_public *key);
bool tacit_paillier_same_key(const tacit_paillier_public *a, const tacit_paillier_public *b);

/* ---- Plaintexts: a vector of signed integers between -n/2 and n/2, 0 at first; wiped when freed ---- */

typedef struct tacit_plaintexts tacit_plaintexts;

tacit_status tacit_plaintexts_create(tacit_plaintexts **out, const tacit_paillier_public *key, size_t count,
                                     tacit_error *error);
tacit_plaintexts *tacit_plaintexts_free(tacit_plaintexts *plaintexts);
size_t tacit_plaintexts_count(const tacit_plaintexts *plaintexts);

void tacit_plaintexts_set(tacit_plaintexts *plaintexts, size_t at, int64_t value);
/* TACIT_LIMIT when the number does not fit. */
tacit_status tacit_plaintexts_get(int64_t *out, const tacit_plaintexts *plaintexts, size_t at,
                                  tacit_error *error);

/* The residue modulo n, little-endian, bits / 8 bytes; TACIT_INPUT when it is not below n. */
tacit_status tacit_plaintexts_set_bytes(tacit_plaintexts *plaintexts, size_t at, const uint8_t *bytes,
                                        size_t length, tacit_error *error);
void tacit_plaintexts_get_bytes(uint8_t *out, const tacit_plaintexts *plaintexts, size_t at);

/* Each m to -m. */
void tacit_plaintexts_negate(tacit_plaintexts *plaintexts);

/* ---- Ciphertexts: a vector, each a valid unit modulo n^2; at first the ciphertext 1, of 0 without
 * randomness ---- */

typedef struct tacit_ciphertexts tacit_ciphertexts;

tacit_status tacit_ciphertexts_create(tacit_ciphertexts **out, const tacit_paillier_public *key, size_t count,
                                      tacit_error *error);
tacit_ciphertexts *tacit_ciphertexts_free(tacit_ciphertexts *ciphertexts);
size_t tacit_ciphertexts_count(const tacit_ciphertexts *ciphertexts);
const tacit_paillier_public *tacit_ciphertexts_key(const tacit_ciphertexts *ciphertexts);

/* Append the vector to a buffer: "TPCV", the count (4 bytes), 16 bytes of the key's fingerprint, and each as
 * bits / 4 bytes; all little-endian. */
tacit_status tacit_ciphertexts_write(const tacit_ciphertexts *ciphertexts, tacit_buffer *out,
                                     tacit_error *error);
/* How many bytes that is, of `count` under a key of `bits`. */
size_t tacit_ciphertexts_bytes(unsigned bits, size_t count);
/* From outside: exactly these bytes, under this key, at most `most` of them, each with 0 < c < n^2 and
 * gcd(c, n) = 1. TACIT_INPUT, or TACIT_LIMIT when there are too many, before anything is allocated. */
tacit_status tacit_ciphertexts_read(tacit_ciphertexts **out, const tacit_paillier_public *key,
                                    const void *bytes, size_t length, size_t most, tacit_error *error);

/* ---- Operations, each on whole vectors of one length under one key (TACIT_USAGE otherwise) ---- */

tacit_status tacit_paillier_encrypt(tacit_ciphertexts *out, const tacit_plaintexts *plaintexts,
                                    tacit_paillier_randomness randomness, tacit_entropy *entropy,
                                    tacit_pool *pool, tacit_error *error);
tacit_status tacit_paillier_decrypt(tacit_plaintexts *out, const tacit_paillier_secret *secret,
                                    const tacit_ciphertexts *ciphertexts, tacit_pool *pool,
                                    tacit_error *error);

tacit_status tacit_paillier_add(tacit_ciphertexts *out, const tacit_ciphertexts *a,
                                const tacit_ciphertexts *b, tacit_pool *pool, tacit_error *error);
tacit_status tacit_paillier_add_plain(tacit_ciphertexts *out, const tacit_ciphertexts *a,
                                      const tacit_plaintexts *b, tacit_pool *pool, tacit_error *error);
/* Times factor[i], |factor[i]| < 2^(factor_bits - 1), factor_bits from 2 to 64. The result keeps the
 * randomness of its input: re-randomise it before it leaves, or the holder of the input can find the factor
 * by trying. */
tacit_status tacit_paillier_multiply(tacit_ciphertexts *out, const tacit_ciphertexts *a,
                                     const int64_t *factor, unsigned factor_bits, tacit_pool *pool,
                                     tacit_error *error);
/* The same numbers under new randomness, so that nobody can tell where they came from. */
tacit_status tacit_paillier_rerandomise(tacit_ciphertexts *ciphertexts, tacit_paillier_randomness randomness,
                                        tacit_entropy *entropy, tacit_pool *pool, tacit_error *error);
