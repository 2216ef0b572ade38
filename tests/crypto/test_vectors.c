/* Every number that paillier_reference.py computed with plain integers. */
#include "keys.h"

static void check_integer(const tacit_paillier_public *key, const mp_limb_t *element, const char *text) {
    mp_limb_t c[TACIT_PAIR_LIMBS_MOST], expected[TACIT_PAIR_LIMBS_MOST];
    tacit_paillier_integer(key, c, element);
    limbs_of_text(expected, 2 * key->limbs, text);
    assert_memory_equal(c, expected, 2 * key->limbs * sizeof *c);
}

static void check_decryption(const tacit_paillier_secret *secret, const char *text, const mp_limb_t *m) {
    const tacit_paillier_public *key = tacit_paillier_public_of(secret);
    mp_limb_t c[TACIT_PAIR_LIMBS_MOST], element[TACIT_PAIR_LIMBS_MOST], got[TACIT_RESIDUE_LIMBS_MOST];
    limbs_of_text(c, 2 * key->limbs, text);
    assert_true(tacit_paillier_element(key, element, c));
    tacit_paillier_decrypt_one(secret, got, element);
    assert_memory_equal(got, m, key->limbs * sizeof *m);
}

static void check_vector(const tacit_paillier_secret *secret, const paillier_vector *vector) {
    const tacit_paillier_public *key = tacit_paillier_public_of(secret);
    mp_limb_t m[TACIT_RESIDUE_LIMBS_MOST], random[TACIT_RESIDUE_LIMBS_MOST], element[TACIT_PAIR_LIMBS_MOST];
    limbs_of_text(m, key->limbs, vector->m);
    limbs_of_text(random, TACIT_PAILLIER_EXPONENT_LIMBS_MOST, vector->r);
    tacit_paillier_short_mask(key, element, random);
    tacit_paillier_shift(key, element, element, m);
    check_integer(key, element, vector->short_c);
    check_decryption(secret, vector->short_c, m);
    limbs_of_text(random, key->limbs, vector->s);
    tacit_paillier_classic_mask(key, element, random);
    tacit_paillier_shift(key, element, element, m);
    check_integer(key, element, vector->classic_c);
    check_decryption(secret, vector->classic_c, m);
}

static void the_reference_is_met(void **state) {
    (void)state;
    for (int k = SHORT_KEY; k <= FULL_KEY; k++) {
        tacit_paillier_secret *secret = stored_key(k);
        char fingerprint[TACIT_PAILLIER_FINGERPRINT_TEXT];
        tacit_paillier_fingerprint_text(fingerprint, tacit_paillier_public_of(secret));
        assert_string_equal(fingerprint, paillier_cases[k].fingerprint);
        for (int i = 0; i < 8; i++) check_vector(secret, &paillier_cases[k].vector[i]);
        tacit_paillier_secret_free(secret);
    }
}

/* Decryption does not depend on which prime is the first. */
static void the_primes_may_be_exchanged(void **state) {
    (void)state;
    const paillier_case *stored = &paillier_cases[SHORT_KEY];
    mp_limb_t p[2], q[2], m[4];
    tacit_paillier_secret *secret = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    limbs_of_text(p, 2, stored->p);
    limbs_of_text(q, 2, stored->q);
    CHECK_OK(tacit_paillier_secret_make(&secret, q, p, stored->bits, &error), error);
    for (int i = 0; i < 8; i++) {
        limbs_of_text(m, 4, stored->vector[i].m);
        check_decryption(secret, stored->vector[i].short_c, m);
    }
    tacit_paillier_secret_free(secret);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reference_is_met),
        cmocka_unit_test(the_primes_may_be_exchanged),
    };
    return cmocka_run_group_tests_name("Paillier vectors", tests, NULL, NULL);
}
