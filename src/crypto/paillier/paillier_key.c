#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "base/memory.h"
#include "base/secret.h"
#include "crypto/paillier/paillier_parts.h"
#include "crypto/paillier/prime.h"

static const char PUBLIC_MARK[4] = { 'T', 'P', 'P', 'K' }, SECRET_MARK[4] = { 'T', 'P', 'S', 'K' };
enum { LIMB_BITS = 64, HEADER_BYTES = 8, SMALL_FACTOR_END = 1 << 16, CHECK_ROUNDS = 16 };

/* ---- The public key ---- */

/* Four times the level of security, in bits, that a modulus of this size gives (NIST SP 800-57, part 1, table
 * 2; the level of 4096 bits lies between its rows). */
static unsigned random_bits_for(unsigned bits) {
    return bits < 3072 ? 4 * 112 : bits < 4096 ? 4 * 128 : 4 * 152;
}

/* x: BLAKE2b of n, a block at a time, to 128 bits more than n so that the remainder is as good as uniform. */
static void stretch_modulus(mp_limb_t *x, const mp_limb_t *n, size_t limbs) {
    static const char label[] = "tacit paillier generator 1";
    uint8_t bytes[TACIT_PAILLIER_BITS_MOST / 8], block[crypto_generichash_BYTES_MAX];
    mp_limb_t stretched[TACIT_RESIDUE_LIMBS_MOST + 2 + 8], quotient[TACIT_RESIDUE_LIMBS_MOST];
    size_t wanted = limbs + 2, made = 0;
    tacit_limbs_to_bytes(bytes, n, limbs);
    for (uint8_t counter = 0; made < wanted; counter++, made += sizeof block / 8) {
        crypto_generichash_state state;
        crypto_generichash_init(&state, NULL, 0, sizeof block);
        crypto_generichash_update(&state, (const uint8_t *)label, sizeof label);
        crypto_generichash_update(&state, &counter, 1);
        crypto_generichash_update(&state, bytes, limbs * 8);
        crypto_generichash_final(&state, block, sizeof block);
        tacit_limbs_from_bytes(stretched + made, block, sizeof block / 8);
    }
    mpn_tdiv_qr(quotient, x, 0, stretched, (mp_size_t)wanted, n, (mp_size_t)limbs);
}

/* h = (-x^2 mod n)^n modulo n^2, as an element. */
static void make_generator(const tacit_modulus *n, mp_limb_t *h) {
    mp_limb_t x[TACIT_RESIDUE_LIMBS_MOST], plain[TACIT_PAIR_LIMBS_MOST] = { 0 };
    const mp_limb_t zero[TACIT_RESIDUE_LIMBS_MOST] = { 0 };
    stretch_modulus(x, n->m, n->limbs);
    tacit_residue_enter(n, plain, x);
    tacit_residue_multiply(n, plain, plain, x);
    tacit_residue_subtract(n, plain, zero, plain);
    tacit_pair_enter(n, h, plain);
    tacit_pair_power(n, h, h, n->m, n->limbs * LIMB_BITS);
}

static void fill_table(tacit_paillier_public *key) {
    size_t size = tacit_pair_limbs(&key->n);
    mp_limb_t base[TACIT_PAIR_LIMBS_MOST];
    make_generator(&key->n, base);
    for (size_t k = 0; k < key->windows; k++) {
        mp_limb_t *entry = key->table + k * TACIT_PAILLIER_ENTRIES * size;
        mpn_copyi(entry, key->n.pair_one, (mp_size_t)size);
        for (size_t i = 1; i < TACIT_PAILLIER_ENTRIES; i++, entry += size)
            tacit_pair_multiply(&key->n, entry + size, entry, base);
        tacit_pair_multiply(&key->n, base, entry, base);
    }
}

static void put_header(uint8_t *out, const char mark[4], unsigned bits) {
    memcpy(out, mark, 4);
    for (int i = 0; i < 4; i++) out[4 + i] = (uint8_t)(bits >> (8 * i));
}

static size_t put_public(uint8_t *out, const mp_limb_t *n, unsigned bits) {
    put_header(out, PUBLIC_MARK, bits);
    tacit_limbs_to_bytes(out + HEADER_BYTES, n, bits / LIMB_BITS);
    return HEADER_BYTES + bits / 8;
}

tacit_status tacit_paillier_public_make(tacit_paillier_public **out, const mp_limb_t *n, unsigned bits,
                                        tacit_error *error) {
    uint8_t bytes[HEADER_BYTES + TACIT_PAILLIER_BITS_MOST / 8];
    tacit_paillier_public *key = TACIT_NEW(tacit_paillier_public, 1);
    if (key == NULL) return tacit_fail_memory(error);
    key->bits = bits;
    key->limbs = bits / LIMB_BITS;
    key->random_bits = random_bits_for(bits);
    key->windows = (key->random_bits + TACIT_PAILLIER_WINDOW - 1) / TACIT_PAILLIER_WINDOW;
    key->table =
        tacit_allocate_aligned(key->windows * TACIT_PAILLIER_ENTRIES * 2 * key->limbs, sizeof(mp_limb_t));
    if (key->table == NULL) {
        tacit_paillier_public_free(key);
        return tacit_fail_memory(error);
    }
    tacit_modulus_start_pairs(&key->n, n, key->limbs, bits);
    fill_table(key);
    crypto_generichash(key->fingerprint, sizeof key->fingerprint, bytes, put_public(bytes, n, bits), NULL, 0);
    *out = key;
    return TACIT_OK;
}

tacit_paillier_public *tacit_paillier_public_free(tacit_paillier_public *key) {
    if (key == NULL) return NULL;
    free(key->table);
    free(key);
    return NULL;
}

unsigned tacit_paillier_bits(const tacit_paillier_public *key) { return key->bits; }
const uint8_t *tacit_paillier_fingerprint(const tacit_paillier_public *key) { return key->fingerprint; }

void tacit_paillier_fingerprint_text(char out[TACIT_PAILLIER_FINGERPRINT_TEXT],
                                     const tacit_paillier_public *key) {
    sodium_bin2hex(out, TACIT_PAILLIER_FINGERPRINT_TEXT, key->fingerprint, sizeof key->fingerprint);
}

bool tacit_paillier_same_key(const tacit_paillier_public *a, const tacit_paillier_public *b) {
    return a == b || (a->bits == b->bits && memcmp(a->n.m, b->n.m, a->limbs * sizeof(mp_limb_t)) == 0);
}

tacit_status tacit_paillier_public_write(const tacit_paillier_public *key, tacit_buffer *out,
                                         tacit_error *error) {
    uint8_t bytes[HEADER_BYTES + TACIT_PAILLIER_BITS_MOST / 8];
    return tacit_buffer_append(out, bytes, put_public(bytes, key->n.m, key->bits), error);
}

/* ---- Checking keys ---- */

static tacit_status check_size(unsigned bits, unsigned least, tacit_error *error) {
    if (bits == TACIT_PAILLIER_BITS || bits == 3072 || bits == TACIT_PAILLIER_BITS_MOST) return TACIT_OK;
    if (bits >= least && bits < TACIT_PAILLIER_BITS && bits % (2 * LIMB_BITS) == 0) return TACIT_OK;
    return tacit_fail(error, TACIT_INPUT,
                      "a Paillier key of %u bits is refused; make one of 2048, 3072 or 4096", bits);
}

/* The mark and the size in front; the cursor then stands on exactly bits / 8 bytes. */
static tacit_status read_header(tacit_cursor *cursor, unsigned *bits, const char mark[4], const char *what,
                                unsigned least, tacit_error *error) {
    char seen[4];
    uint32_t size;
    if (!tacit_cursor_read(cursor, seen, sizeof seen) || memcmp(seen, mark, sizeof seen) != 0 ||
        !tacit_cursor_read_u32(cursor, &size))
        return tacit_fail(error, TACIT_INPUT, "these bytes are not a Paillier %s key", what);
    TACIT_TRY(check_size(size, least, error));
    if (cursor->left != size / 8)
        return tacit_fail(error, TACIT_INPUT,
                          "a Paillier %s key of %u bits has %u bytes after its size, not %zu", what,
                          (unsigned)size, (unsigned)(size / 8), cursor->left);
    *bits = size;
    return TACIT_OK;
}

static tacit_status check_small_factors(const mp_limb_t *n, size_t limbs, tacit_error *error) {
    uint32_t *primes;
    size_t count;
    tacit_status status = TACIT_OK;
    TACIT_TRY(tacit_prime_small(&primes, &count, SMALL_FACTOR_END, error));
    for (size_t i = 0; i < count && status == TACIT_OK; i++)
        if (mpn_mod_1(n, (mp_size_t)limbs, primes[i]) == 0)
            status = tacit_fail(error, TACIT_INPUT,
                                "the modulus of the Paillier key is divisible by %u; make a new key",
                                (unsigned)primes[i]);
    free(primes);
    return status;
}

static tacit_status check_modulus(const mp_limb_t *n, unsigned bits, tacit_error *error) {
    size_t limbs = bits / LIMB_BITS;
    mpz_t view;
    if (n[limbs - 1] >> (LIMB_BITS - 1) == 0)
        return tacit_fail(error, TACIT_INPUT, "the modulus of the Paillier key is shorter than its %u bits",
                          bits);
    if ((n[0] & 3) != 1)
        return tacit_fail(
            error, TACIT_INPUT,
            "the modulus of the Paillier key is not a product of two primes that are 3 modulo 4");
    TACIT_TRY(check_small_factors(n, limbs, error));
    if (tacit_prime_fermat(n, bits))
        return tacit_fail(error, TACIT_INPUT, "the modulus of the Paillier key is a prime; make a new key");
    if (mpz_perfect_power_p(mpz_roinit_n(view, n, (mp_size_t)limbs)))
        return tacit_fail(error, TACIT_INPUT, "the modulus of the Paillier key is a power; make a new key");
    return TACIT_OK;
}

tacit_status tacit_paillier_public_read_sized(tacit_paillier_public **out, const void *bytes, size_t length,
                                              unsigned least, tacit_error *error) {
    tacit_cursor cursor = tacit_cursor_over(bytes, length);
    mp_limb_t n[TACIT_RESIDUE_LIMBS_MOST];
    unsigned bits;
    TACIT_TRY(read_header(&cursor, &bits, PUBLIC_MARK, "public", least, error));
    tacit_limbs_from_bytes(n, cursor.bytes, bits / LIMB_BITS);
    TACIT_TRY(check_modulus(n, bits, error));
    return tacit_paillier_public_make(out, n, bits, error);
}

tacit_status tacit_paillier_public_read(tacit_paillier_public **out, const void *bytes, size_t length,
                                        tacit_error *error) {
    return tacit_paillier_public_read_sized(out, bytes, length, TACIT_PAILLIER_BITS, error);
}

/* ---- The secret key ---- */

/* x^(p-2) = 1/x, in Montgomery's form. */
static void invert_by_power(const tacit_modulus *p, mp_limb_t *out, const mp_limb_t *x) {
    mp_limb_t exponent[TACIT_RESIDUE_LIMBS_MOST];
    mp_limb_t scratch[TACIT_RESIDUE_LIMBS_MOST];
    mpn_sec_sub_1(exponent, p->m, (mp_size_t)p->limbs, 2, scratch);
    tacit_residue_power(p, out, x, exponent, p->limbs * LIMB_BITS);
    sodium_memzero(exponent, sizeof exponent);
    sodium_memzero(scratch, sizeof scratch);
}

/* Both primes have their highest bit set, so that q < 2 p. */
static void start_half(tacit_paillier_half *half, const mp_limb_t *p, const mp_limb_t *q, size_t limbs) {
    const mp_limb_t zero[TACIT_RESIDUE_LIMBS_MOST] = { 0 };
    tacit_modulus_start_pairs(&half->p, p, limbs, limbs * LIMB_BITS);
    mpn_copyi(half->exponent, p, (mp_size_t)limbs);
    half->exponent[0] -= 1; /* p is odd */
    tacit_residue_reduce(&half->p, half->other, q);
    tacit_residue_enter(&half->p, half->other, half->other);
    invert_by_power(&half->p, half->scale, half->other);
    tacit_residue_subtract(&half->p, half->scale, zero, half->scale);
}

tacit_status tacit_paillier_secret_make(tacit_paillier_secret **out, const mp_limb_t *p, const mp_limb_t *q,
                                        unsigned bits, tacit_error *error) {
    size_t limbs = bits / 2 / LIMB_BITS;
    mp_limb_t n[TACIT_RESIDUE_LIMBS_MOST], unused;
    tacit_status status;
    tacit_paillier_secret *secret = TACIT_NEW(tacit_paillier_secret, 1);
    if (secret == NULL) TACIT_CHECK(tacit_fail_memory(error));
    tacit_secret_lock(secret, sizeof *secret);
    mpn_sec_mul(n, p, (mp_size_t)limbs, q, (mp_size_t)limbs, &unused);
    TACIT_CHECK(tacit_paillier_public_make(&secret->public, n, bits, error));
    start_half(&secret->p, p, q, limbs);
    start_half(&secret->q, q, p, limbs);
    invert_by_power(&secret->q.p, secret->p_inverse, secret->q.other);
    tacit_residue_forget();
    *out = secret;
    return TACIT_OK;
cleanup:
    tacit_paillier_secret_free(secret);
    return status;
}

tacit_paillier_secret *tacit_paillier_secret_free(tacit_paillier_secret *secret) {
    if (secret == NULL) return NULL;
    tacit_paillier_public_free(secret->public);
    sodium_memzero(secret, sizeof *secret);
    free(secret);
    return NULL;
}

const tacit_paillier_public *tacit_paillier_public_of(const tacit_paillier_secret *secret) {
    return secret->public;
}

typedef struct search {
    unsigned bits; /* of each prime */
    mp_limb_t prime[2][TACIT_RESIDUE_LIMBS_MOST / 2];
} search;

static tacit_status find_prime(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    (void)worker;
    search *self = context;
    tacit_entropy *entropy = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_entropy_create(&entropy, error));
    for (size_t i = begin; i < end; i++)
        TACIT_CHECK(tacit_prime_safe(self->prime[i], self->bits, entropy, error));
cleanup:
    tacit_entropy_free(entropy);
    return status;
}

tacit_status tacit_paillier_generate_sized(tacit_paillier_secret **out, unsigned bits, unsigned least,
                                           tacit_pool *pool, tacit_error *error) {
    TACIT_TRY(check_size(bits, least, error));
    search found = { .bits = bits / 2 };
    size_t limbs = bits / 2 / LIMB_BITS, top = limbs < 2 ? limbs : 2;
    tacit_status status;
    /* Primes that agree in their first 128 bits would give n away; for random ones this never happens. */
    do {
        TACIT_CHECK(tacit_pool_for(pool, 2, 1, find_prime, &found, error));
    } while (sodium_memcmp(found.prime[0] + limbs - top, found.prime[1] + limbs - top,
                           top * sizeof(mp_limb_t)) == 0);
    TACIT_CHECK(tacit_paillier_secret_make(out, found.prime[0], found.prime[1], bits, error));
cleanup:
    tacit_residue_forget();
    sodium_memzero(&found, sizeof found);
    return status;
}

tacit_status tacit_paillier_generate(tacit_paillier_secret **out, unsigned bits, tacit_pool *pool,
                                     tacit_error *error) {
    return tacit_paillier_generate_sized(out, bits, TACIT_PAILLIER_BITS, pool, error);
}

tacit_status tacit_paillier_secret_write(const tacit_paillier_secret *secret, tacit_buffer *out,
                                         tacit_error *error) {
    unsigned bits = secret->public->bits;
    uint8_t bytes[HEADER_BYTES + TACIT_PAILLIER_BITS_MOST / 8];
    put_header(bytes, SECRET_MARK, bits);
    tacit_limbs_to_bytes(bytes + HEADER_BYTES, secret->p.p.m, secret->p.p.limbs);
    tacit_limbs_to_bytes(bytes + HEADER_BYTES + bits / 16, secret->q.p.m, secret->q.p.limbs);
    tacit_status status = tacit_buffer_append(out, bytes, HEADER_BYTES + bits / 8, error);
    sodium_memzero(bytes, sizeof bytes);
    return status;
}

/* The two highest bits set, and p and (p - 1)/2 prime. Given that (p - 1)/2 is, one test proves p
 * (tacit_prime_safe), which has no factor of 3. */
static tacit_status check_prime(const mp_limb_t *p, size_t limbs, tacit_entropy *entropy,
                                tacit_error *error) {
    mp_limb_t half[TACIT_RESIDUE_LIMBS_MOST];
    bool prime = false, safe = false;
    tacit_status status = TACIT_OK;
    mpn_rshift(half, p, (mp_size_t)limbs, 1);
    if (p[limbs - 1] >> (LIMB_BITS - 2) == 3 && (p[0] & 3) == 3) {
        prime = mpn_mod_1(p, (mp_size_t)limbs, 3) != 0 && tacit_prime_fermat(p, limbs * LIMB_BITS);
        TACIT_CHECK(tacit_prime_probably(&safe, half, limbs * LIMB_BITS - 1, CHECK_ROUNDS, entropy, error));
    }
    if (!prime || !safe)
        status = tacit_fail(error, TACIT_CORRUPT,
                            "the stored Paillier secret key is damaged: a factor of its modulus is not a "
                            "safe prime; restore it from a backup");
cleanup:
    sodium_memzero(half, sizeof half);
    return status;
}

static tacit_status read_secret(tacit_paillier_secret **out, const void *bytes, size_t length, unsigned least,
                                bool trusted, tacit_error *error) {
    tacit_cursor cursor = tacit_cursor_over(bytes, length);
    mp_limb_t primes[TACIT_RESIDUE_LIMBS_MOST];
    tacit_entropy *entropy = NULL;
    unsigned bits;
    tacit_status status;
    TACIT_TRY(read_header(&cursor, &bits, SECRET_MARK, "secret", least, error));
    size_t limbs = bits / 2 / LIMB_BITS;
    TACIT_CHECK(tacit_entropy_create(&entropy, error));
    tacit_limbs_from_bytes(primes, cursor.bytes, 2 * limbs);
    for (int i = 0; i < 2 && !trusted; i++)
        TACIT_CHECK(check_prime(primes + (size_t)i * limbs, limbs, entropy, error));
    if (sodium_memcmp(primes, primes + limbs, limbs * sizeof *primes) == 0)
        TACIT_CHECK(tacit_fail(
            error, TACIT_CORRUPT,
            "the stored Paillier secret key is damaged: its primes are equal; restore it from a backup"));
    TACIT_CHECK(tacit_paillier_secret_make(out, primes, primes + limbs, bits, error));
cleanup:
    sodium_memzero(primes, sizeof primes);
    tacit_entropy_free(entropy);
    return status;
}

tacit_status tacit_paillier_secret_read_sized(tacit_paillier_secret **out, const void *bytes, size_t length,
                                              unsigned least, tacit_error *error) {
    return read_secret(out, bytes, length, least, false, error);
}

tacit_status tacit_paillier_secret_trust(tacit_paillier_secret **out, const void *bytes, size_t length,
                                         tacit_error *error) {
    return read_secret(out, bytes, length, TACIT_PAILLIER_BITS, true, error);
}

tacit_status tacit_paillier_secret_read(tacit_paillier_secret **out, const void *bytes, size_t length,
                                        tacit_error *error) {
    return tacit_paillier_secret_read_sized(out, bytes, length, TACIT_PAILLIER_BITS, error);
}
