/* Vectors of plaintexts and ciphertexts, and ciphertexts as bytes. */
#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/paillier/paillier_parts.h"

static const char VECTOR_MARK[4] = { 'T', 'P', 'C', 'V' };
enum { MARK_BYTES = 4, FINGERPRINT_PREFIX = 16, HEADER_BYTES = MARK_BYTES + 4 + FINGERPRINT_PREFIX };

/* ---- Plaintexts ---- */

tacit_status tacit_plaintexts_create(tacit_plaintexts **out, const tacit_paillier_public *key, size_t count,
                                     tacit_error *error) {
    tacit_plaintexts *made = TACIT_NEW(tacit_plaintexts, 1);
    if (made == NULL) return tacit_fail_memory(error);
    made->limbs = tacit_allocate(count, key->limbs * sizeof(mp_limb_t));
    if (made->limbs == NULL && count > 0) {
        free(made);
        return tacit_fail_memory(error);
    }
    made->key = key;
    made->count = count;
    *out = made;
    return TACIT_OK;
}

tacit_plaintexts *tacit_plaintexts_free(tacit_plaintexts *plaintexts) {
    if (plaintexts == NULL) return NULL;
    if (plaintexts->limbs != NULL)
        sodium_memzero(plaintexts->limbs, plaintexts->count * plaintexts->key->limbs * sizeof(mp_limb_t));
    free(plaintexts->limbs);
    free(plaintexts);
    return NULL;
}

size_t tacit_plaintexts_count(const tacit_plaintexts *plaintexts) { return plaintexts->count; }

void tacit_plaintexts_set(tacit_plaintexts *plaintexts, size_t at, int64_t value) {
    assert(at < plaintexts->count);
    const tacit_modulus *n = &plaintexts->key->n;
    mp_limb_t *limbs = tacit_plaintext_at(plaintexts, at), negative = (uint64_t)value >> 63;
    mpn_zero(limbs, (mp_size_t)n->limbs);
    limbs[0] = ((uint64_t)value ^ -negative) + negative; /* the absolute value */
    mp_limb_t choice[2 * TACIT_RESIDUE_LIMBS_MOST];
    mpn_copyi(choice, limbs, (mp_size_t)n->limbs);
    mpn_sub_n(choice + n->limbs, n->m, limbs, (mp_size_t)n->limbs);
    mpn_sec_tabselect(limbs, choice, (mp_size_t)n->limbs, 2, (mp_size_t)negative);
    sodium_memzero(choice, sizeof choice);
}

/* m + 2^63 mod n is below 2^64 just when m is between -2^63 and 2^63. */
tacit_status tacit_plaintexts_get(int64_t *out, const tacit_plaintexts *plaintexts, size_t at,
                                  tacit_error *error) {
    assert(at < plaintexts->count);
    const tacit_modulus *n = &plaintexts->key->n;
    mp_limb_t shifted[TACIT_RESIDUE_LIMBS_MOST], offset[TACIT_RESIDUE_LIMBS_MOST] = { (mp_limb_t)1 << 63 };
    mp_limb_t high = 0;
    tacit_residue_add(n, shifted, tacit_plaintext_at(plaintexts, at), offset);
    for (size_t i = 1; i < n->limbs; i++) high |= shifted[i];
    mp_limb_t value = shifted[0] ^ (mp_limb_t)1 << 63;
    sodium_memzero(shifted, sizeof shifted);
    if (high != 0)
        return tacit_fail(error, TACIT_LIMIT,
                          "decrypted number %zu does not fit 64 bits; a sum or product went beyond its range",
                          at);
    memcpy(out, &value, sizeof value);
    return TACIT_OK;
}

tacit_status tacit_plaintexts_set_bytes(tacit_plaintexts *plaintexts, size_t at, const uint8_t *bytes,
                                        size_t length, tacit_error *error) {
    assert(at < plaintexts->count);
    const tacit_modulus *n = &plaintexts->key->n;
    mp_limb_t value[TACIT_RESIDUE_LIMBS_MOST], rest[TACIT_RESIDUE_LIMBS_MOST];
    if (length != n->limbs * 8)
        return tacit_fail(error, TACIT_INPUT, "a plaintext under this key has %zu bytes, not %zu",
                          n->limbs * 8, length);
    tacit_limbs_from_bytes(value, bytes, n->limbs);
    mp_limb_t below = mpn_sub_n(rest, value, n->m, (mp_size_t)n->limbs);
    if (below != 0) mpn_copyi(tacit_plaintext_at(plaintexts, at), value, (mp_size_t)n->limbs);
    sodium_memzero(value, sizeof value);
    sodium_memzero(rest, sizeof rest);
    if (below == 0)
        return tacit_fail(error, TACIT_INPUT, "plaintext %zu is not below the modulus of the key", at);
    return TACIT_OK;
}

void tacit_plaintexts_get_bytes(uint8_t *out, const tacit_plaintexts *plaintexts, size_t at) {
    assert(at < plaintexts->count);
    tacit_limbs_to_bytes(out, tacit_plaintext_at(plaintexts, at), plaintexts->key->limbs);
}

void tacit_plaintexts_negate(tacit_plaintexts *plaintexts) {
    const mp_limb_t zero[TACIT_RESIDUE_LIMBS_MOST] = { 0 };
    for (size_t at = 0; at < plaintexts->count; at++) {
        mp_limb_t *m = tacit_plaintext_at(plaintexts, at);
        tacit_residue_subtract(&plaintexts->key->n, m, zero, m);
    }
}

/* ---- Ciphertexts ---- */

tacit_status tacit_ciphertexts_create(tacit_ciphertexts **out, const tacit_paillier_public *key, size_t count,
                                      tacit_error *error) {
    tacit_ciphertexts *made = TACIT_NEW(tacit_ciphertexts, 1);
    if (made == NULL) return tacit_fail_memory(error);
    made->limbs = tacit_allocate(count, tacit_pair_limbs(&key->n) * sizeof(mp_limb_t));
    if (made->limbs == NULL && count > 0) {
        free(made);
        return tacit_fail_memory(error);
    }
    made->key = key;
    made->count = count;
    for (size_t i = 0; i < count; i++)
        mpn_copyi(tacit_ciphertext_at(made, i), key->n.pair_one, (mp_size_t)tacit_pair_limbs(&key->n));
    *out = made;
    return TACIT_OK;
}

tacit_ciphertexts *tacit_ciphertexts_free(tacit_ciphertexts *ciphertexts) {
    if (ciphertexts == NULL) return NULL;
    free(ciphertexts->limbs);
    free(ciphertexts);
    return NULL;
}

size_t tacit_ciphertexts_count(const tacit_ciphertexts *ciphertexts) { return ciphertexts->count; }
const tacit_paillier_public *tacit_ciphertexts_key(const tacit_ciphertexts *ciphertexts) {
    return ciphertexts->key;
}

/* c = x0 + n x1. */
void tacit_paillier_integer(const tacit_paillier_public *key, mp_limb_t *c, const mp_limb_t *element) {
    mp_size_t limbs = (mp_size_t)key->limbs;
    mp_limb_t plain[TACIT_PAIR_LIMBS_MOST], unused;
    tacit_pair_leave(&key->n, plain, element);
    mpn_sec_mul(c, plain + limbs, limbs, key->n.m, limbs, &unused);
    mp_limb_t carry = mpn_add_n(c, c, plain, limbs);
    mpn_add_1(c + limbs, c + limbs, limbs, carry); /* ends within: c is below n^2 */
}

bool tacit_paillier_element(const tacit_paillier_public *key, mp_limb_t *element, const mp_limb_t *c) {
    mp_size_t limbs = (mp_size_t)key->limbs;
    mp_limb_t quotient[TACIT_RESIDUE_LIMBS_MOST + 1], plain[TACIT_PAIR_LIMBS_MOST];
    if (mpn_zero_p(c, 2 * limbs)) return false;
    mpn_tdiv_qr(quotient, plain, 0, c, 2 * limbs, key->n.m, limbs);
    if (quotient[limbs] != 0 || mpn_cmp(quotient, key->n.m, limbs) >= 0) return false;
    mpn_copyi(plain + limbs, quotient, limbs);
    tacit_pair_enter(&key->n, element, plain);
    return true;
}

size_t tacit_ciphertexts_bytes(unsigned bits, size_t count) {
    return HEADER_BYTES + count * ((size_t)bits / 4);
}

tacit_status tacit_ciphertexts_write(const tacit_ciphertexts *ciphertexts, tacit_buffer *out,
                                     tacit_error *error) {
    const tacit_paillier_public *key = ciphertexts->key;
    size_t each = (size_t)key->bits / 4, before = out->length;
    if (ciphertexts->count > UINT32_MAX || ciphertexts->count > (SIZE_MAX - HEADER_BYTES) / each)
        return tacit_fail(error, TACIT_LIMIT, "a vector of %zu ciphertexts is too long to be sent",
                          ciphertexts->count);
    size_t length = tacit_ciphertexts_bytes(key->bits, ciphertexts->count);
    uint8_t *at;
    TACIT_TRY(tacit_buffer_reserve(out, length, &at, error));
    memcpy(at, VECTOR_MARK, MARK_BYTES);
    for (int i = 0; i < 4; i++) at[MARK_BYTES + i] = (uint8_t)(ciphertexts->count >> (8 * i));
    memcpy(at + MARK_BYTES + 4, key->fingerprint, FINGERPRINT_PREFIX);
    at += HEADER_BYTES;
    for (size_t i = 0; i < ciphertexts->count; i++, at += each) {
        mp_limb_t c[TACIT_PAIR_LIMBS_MOST];
        tacit_paillier_integer(key, c, tacit_ciphertext_at(ciphertexts, i));
        tacit_limbs_to_bytes(at, c, 2 * key->limbs);
    }
    out->length = before + length;
    return TACIT_OK;
}

/* Is the number of `limbs` limbs prime to n? */
static bool prime_to_modulus(const tacit_paillier_public *key, const mp_limb_t *x) {
    mp_limb_t n[TACIT_RESIDUE_LIMBS_MOST], y[TACIT_RESIDUE_LIMBS_MOST], gcd[TACIT_RESIDUE_LIMBS_MOST];
    mp_size_t limbs = (mp_size_t)key->limbs, used = limbs;
    while (used > 0 && x[used - 1] == 0) used--;
    if (used == 0) return false;
    mpn_copyi(n, key->n.m, limbs);
    mpn_copyi(y, x, used);
    return mpn_gcd(gcd, n, limbs, y, used) == 1 && gcd[0] == 1;
}

/* One gcd for all: the product of the lower halves is prime to n just when each is. (The lower half of an
 * element, too, is c modulo n times a unit.) */
static tacit_status check_units(const tacit_ciphertexts *ciphertexts, tacit_error *error) {
    const tacit_paillier_public *key = ciphertexts->key;
    mp_limb_t product[TACIT_RESIDUE_LIMBS_MOST];
    mpn_copyi(product, key->n.one, (mp_size_t)key->limbs);
    for (size_t i = 0; i < ciphertexts->count; i++)
        tacit_residue_multiply(&key->n, product, product, tacit_ciphertext_at(ciphertexts, i));
    if (prime_to_modulus(key, product)) return TACIT_OK;
    size_t at = 0;
    while (at + 1 < ciphertexts->count && prime_to_modulus(key, tacit_ciphertext_at(ciphertexts, at))) at++;
    return tacit_fail(
        error, TACIT_INPUT,
        "ciphertext %zu shares a factor with the modulus, which no encryption does; refuse its sender", at);
}

static tacit_status read_header(tacit_cursor *cursor, size_t *count, const tacit_paillier_public *key,
                                size_t most, tacit_error *error) {
    char mark[MARK_BYTES];
    uint32_t number;
    uint8_t fingerprint[FINGERPRINT_PREFIX];
    if (!tacit_cursor_read(cursor, mark, sizeof mark) || memcmp(mark, VECTOR_MARK, sizeof mark) != 0 ||
        !tacit_cursor_read_u32(cursor, &number) ||
        !tacit_cursor_read(cursor, fingerprint, sizeof fingerprint))
        return tacit_fail(error, TACIT_INPUT, "these bytes are not a vector of Paillier ciphertexts");
    if (memcmp(fingerprint, key->fingerprint, sizeof fingerprint) != 0)
        return tacit_fail(error, TACIT_INPUT,
                          "the ciphertexts were made for another Paillier key; get the study's current key");
    if (number > most)
        return tacit_fail(error, TACIT_LIMIT, "%u ciphertexts came where at most %zu are expected",
                          (unsigned)number, most);
    if (cursor->left % (key->bits / 4) != 0 || cursor->left / (key->bits / 4) != number)
        return tacit_fail(error, TACIT_INPUT, "%u ciphertexts take %u bytes each, but %zu bytes came",
                          (unsigned)number, key->bits / 4, cursor->left);
    *count = number;
    return TACIT_OK;
}

tacit_status tacit_ciphertexts_read(tacit_ciphertexts **out, const tacit_paillier_public *key,
                                    const void *bytes, size_t length, size_t most, tacit_error *error) {
    tacit_cursor cursor = tacit_cursor_over(bytes, length);
    tacit_ciphertexts *made = NULL;
    tacit_status status;
    size_t count = 0;
    TACIT_TRY(read_header(&cursor, &count, key, most, error));
    TACIT_CHECK(tacit_ciphertexts_create(&made, key, count, error));
    for (size_t i = 0; i < count; i++) {
        mp_limb_t c[TACIT_PAIR_LIMBS_MOST];
        tacit_limbs_from_bytes(c, cursor.bytes + i * (key->bits / 4), 2 * key->limbs);
        if (!tacit_paillier_element(key, tacit_ciphertext_at(made, i), c))
            TACIT_CHECK(tacit_fail(
                error, TACIT_INPUT,
                "ciphertext %zu is not between 0 and the square of the modulus; refuse its sender", i));
    }
    TACIT_CHECK(check_units(made, error));
    *out = made;
    return TACIT_OK;
cleanup:
    tacit_ciphertexts_free(made);
    return status;
}
