/*
 * No branch and no address depends on a secret. The secrets are declared undefined memory, and valgrind
 * reports whatever is decided by undefined bits. Runs itself again under valgrind; skipped where there is
 * none. Negative control: the same watch must catch a decision by a secret bit.
 */
#include "keys.h"

#include <unistd.h>

#include "crypto/paillier/multiexp.h"
#include "crypto/paillier/slots.h"

#if defined(__has_feature) /* how clang says it */
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#if defined(__has_include) && !defined(__SANITIZE_ADDRESS__)
#if __has_include(<valgrind/memcheck.h>)
#define WATCHED 1
#include <valgrind/memcheck.h>
#endif
#endif

#ifdef WATCHED

enum { COUNT = 3 };

static void hide(const void *memory, size_t length) { (void)VALGRIND_MAKE_MEM_UNDEFINED(memory, length); }
static void show(const void *memory, size_t length) { (void)VALGRIND_MAKE_MEM_DEFINED(memory, length); }
static unsigned long complaints(void) { return VALGRIND_COUNT_ERRORS; }

/* All of the secret but what is public: the lengths and the public key. */
static void hide_half(tacit_paillier_half *half) {
    size_t limbs = half->p.limbs, digits = half->p.digits;
    hide(half, sizeof *half);
    half->p.limbs = limbs;
    half->p.digits = digits;
}

static void hide_secret(tacit_paillier_secret *secret) {
    hide_half(&secret->p);
    hide_half(&secret->q);
    hide(secret->p_inverse, sizeof secret->p_inverse);
}

static void watch_decryption(int which) {
    static const int64_t values[COUNT] = { 1, -2, INT64_MAX };
    int64_t seen[COUNT];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_paillier_secret *secret = stored_key(which);
    const tacit_paillier_public *key = tacit_paillier_public_of(secret);
    tacit_ciphertexts *c = encrypted(key, values, COUNT);
    tacit_plaintexts *plain = new_plaintexts(key, COUNT);
    unsigned long before = complaints();
    hide_secret(secret);
    CHECK_OK(tacit_paillier_decrypt(plain, secret, c, NULL, &error), error);
    assert_int_equal(complaints(), before);
    show(plain->limbs, COUNT * key->limbs * sizeof *plain->limbs);
    for (size_t i = 0; i < COUNT; i++) CHECK_OK(tacit_plaintexts_get(&seen[i], plain, i, &error), error);
    assert_memory_equal(seen, values, sizeof values);
    show(secret, sizeof *secret);
    tacit_plaintexts_free(plain);
    tacit_ciphertexts_free(c);
    tacit_paillier_secret_free(secret);
}

static void decryption_does_not_depend_on_the_key(void **state) {
    (void)state;
    watch_decryption(SHORT_KEY);
    watch_decryption(FULL_KEY); /* GMP chooses by length among its routines */
}

static void a_key_is_made_ready_without_looking_at_it(void **state) {
    (void)state;
    mp_limb_t p[2], q[2];
    tacit_modulus modulus;
    unsigned long before = complaints();
    limbs_of_text(p, 2, paillier_cases[SHORT_KEY].p);
    limbs_of_text(q, 2, paillier_cases[SHORT_KEY].q);
    p[0] &= ~(mp_limb_t)1;
    hide(p, sizeof p);
    p[0] |= 1; /* that it is odd is known */
    tacit_modulus_start_pairs(&modulus, p, 2, 128);
    tacit_residue_reduce(&modulus, q, q);
    tacit_residue_enter(&modulus, q, q);
    tacit_residue_power(&modulus, q, q, p, 128);
    assert_int_equal(complaints(), before);
    show(p, sizeof p);
    show(q, sizeof q);
    show(&modulus, sizeof modulus);
}

static void encryption_does_not_depend_on_number_or_randomness(void **state) {
    (void)state;
    tacit_paillier_secret *secret = stored_key(SHORT_KEY);
    const tacit_paillier_public *key = tacit_paillier_public_of(secret);
    mp_limb_t m[4], r[TACIT_PAILLIER_EXPONENT_LIMBS_MOST], s[4], element[8], other[8];
    unsigned long before = complaints();
    limbs_of_text(m, 4, paillier_cases[SHORT_KEY].vector[5].m);
    limbs_of_text(r, TACIT_PAILLIER_EXPONENT_LIMBS_MOST, paillier_cases[SHORT_KEY].vector[5].r);
    limbs_of_text(s, 4, paillier_cases[SHORT_KEY].vector[5].s);
    hide(m, sizeof m);
    hide(r, sizeof r);
    hide(s, sizeof s);
    tacit_paillier_short_mask(key, element, r);
    tacit_paillier_shift(key, element, element, m);
    tacit_paillier_classic_mask(key, other, s);
    tacit_paillier_shift(key, other, other, m);
    assert_int_equal(complaints(), before);
    show(element, sizeof element);
    show(other, sizeof other);
    mp_limb_t c[8], expected[8];
    tacit_paillier_integer(key, c, element);
    limbs_of_text(expected, 8, paillier_cases[SHORT_KEY].vector[5].short_c);
    assert_memory_equal(c, expected, sizeof c);
    tacit_paillier_secret_free(secret);
}

/* Whether all factors or values are within their range is the one thing that is decided, once a call. */
static void weighted_sums_do_not_depend_on_the_weights(void **state) {
    (void)state;
    static const int64_t values[4] = { 5, -6, 7, 8 };
    int64_t factor[2] = { -3, 1000 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_paillier_secret *secret = stored_key(SHORT_KEY);
    const tacit_paillier_public *key = tacit_paillier_public_of(secret);
    tacit_ciphertexts *matrix = encrypted(key, values, 4), *out = new_ciphertexts(key, 2),
                      *pair = encrypted(key, values, 2);
    unsigned long before = complaints();
    hide(factor, sizeof factor);
    CHECK_OK(tacit_paillier_multiply_matrix(out, matrix, factor, 2, 12, TACIT_FACTORS_SECRET, NULL, &error),
             error);
    CHECK_OK(tacit_paillier_multiply(pair, pair, factor, 12, NULL, &error), error);
    assert_int_equal(complaints(), before + 2);
    show(out->limbs, 2 * tacit_pair_limbs(&key->n) * sizeof *out->limbs);
    show(pair->limbs, 2 * tacit_pair_limbs(&key->n) * sizeof *pair->limbs);
    int64_t seen[2];
    decrypted(seen, secret, out);
    assert_int_equal(seen[0], 5 * -3 - 6 * 1000);
    assert_int_equal(seen[1], 7 * -3 + 8 * 1000);
    decrypted(seen, secret, pair);
    assert_int_equal(seen[0], 5 * -3);
    assert_int_equal(seen[1], -6 * 1000);
    tacit_ciphertexts_free(pair);
    tacit_ciphertexts_free(out);
    tacit_ciphertexts_free(matrix);
    tacit_paillier_secret_free(secret);
}

static void slots_do_not_depend_on_what_they_hold(void **state) {
    (void)state;
    int64_t values[4] = { 5, -1000, 0, 999 }, seen[4];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_slots layout;
    tacit_paillier_secret *secret = stored_key(SHORT_KEY);
    tacit_plaintexts *plain = new_plaintexts(tacit_paillier_public_of(secret), 1);
    CHECK_OK(tacit_slots_plan(&layout, tacit_paillier_public_of(secret), 1000, 0, 0, 5, &error), error);
    unsigned long before = complaints();
    hide(values, sizeof values);
    CHECK_OK(tacit_slots_pack(plain, &layout, values, 4, &error), error);
    assert_int_equal(complaints(), before + 1);
    CHECK_OK(tacit_slots_unpack_integers(seen, &layout, 4, plain, &error), error);
    assert_int_equal(complaints(), before + 3); /* within the bound, and within 64 bits */
    show(values, sizeof values);
    show(seen, sizeof seen);
    assert_memory_equal(seen, values, sizeof values);
    show(plain->limbs, 4 * sizeof *plain->limbs);
    tacit_plaintexts_free(plain);
    tacit_paillier_secret_free(secret);
}

static void a_decision_by_a_secret_is_seen(void **state) {
    (void)state;
    volatile int taken = 0;
    mp_limb_t secret = 5;
    unsigned long before = complaints();
    hide(&secret, sizeof secret);
    if (secret & 4) taken = 1;
    assert_true(complaints() > before);
    assert_int_equal(taken, 1);
    /* Pippenger's buckets are chosen by the weights: the header says so, and it shows. */
    tacit_error error = TACIT_ERROR_INIT;
    tacit_paillier_secret *key_pair = stored_key(SHORT_KEY);
    const tacit_paillier_public *key = tacit_paillier_public_of(key_pair);
    tacit_ciphertexts *matrix = new_ciphertexts(key, 60), *out = new_ciphertexts(key, 1);
    int64_t factor[60];
    for (int j = 0; j < 60; j++) factor[j] = j * 7919;
    before = complaints();
    hide(factor, sizeof factor);
    CHECK_OK(tacit_paillier_multiply_matrix(out, matrix, factor, 60, 64, TACIT_FACTORS_PUBLIC, NULL, &error),
             error);
    assert_true(complaints() > before + 1); /* more than the range of the weights */
    tacit_ciphertexts_free(out);
    tacit_ciphertexts_free(matrix);
    tacit_paillier_secret_free(key_pair);
}

static int watch(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decryption_does_not_depend_on_the_key),
        cmocka_unit_test(a_key_is_made_ready_without_looking_at_it),
        cmocka_unit_test(encryption_does_not_depend_on_number_or_randomness),
        cmocka_unit_test(weighted_sums_do_not_depend_on_the_weights),
        cmocka_unit_test(slots_do_not_depend_on_what_they_hold),
        cmocka_unit_test(a_decision_by_a_secret_is_seen),
    };
    return cmocka_run_group_tests_name("constant time", tests, NULL, NULL);
}

int main(int count, char **arguments) {
    if (RUNNING_ON_VALGRIND) return watch();
    (void)count;
    execlp("valgrind", "valgrind", "--quiet", "--error-limit=no", "--log-file=/dev/null", arguments[0],
           (char *)NULL);
    puts("1..0 # SKIP valgrind is not installed");
    return 0;
}

#else

int main(void) {
    puts("1..0 # SKIP built without valgrind's headers, or with a sanitizer that excludes it");
    return 0;
}

#endif
