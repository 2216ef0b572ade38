#include "keys.h"

#include "crypto/paillier/prime.h"

static void a_safe_prime_is_one_by_another_test(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_entropy *entropy = new_entropy();
    static const size_t sizes[] = { 64, 128, 256, 320 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        mp_limb_t p[TACIT_RESIDUE_LIMBS_MOST];
        mpz_t value;
        CHECK_OK(tacit_prime_safe(p, sizes[k], entropy, &error), error);
        mpz_init(value);
        mpz_import(value, sizes[k] / 64, -1, sizeof(mp_limb_t), 0, 0, p);
        assert_int_equal(mpz_sizeinbase(value, 2), sizes[k]);
        assert_true(mpz_tstbit(value, sizes[k] - 2));
        assert_int_not_equal(mpz_probab_prime_p(value, 30), 0);
        mpz_fdiv_q_2exp(value, value, 1);
        assert_int_not_equal(mpz_probab_prime_p(value, 30), 0);
        mpz_clear(value);
    }
    tacit_entropy_free(entropy);
}

static bool probably(mp_limb_t m, unsigned rounds) {
    bool out = false;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_entropy *entropy = new_entropy();
    CHECK_OK(tacit_prime_probably(&out, &m, 64 - (size_t)__builtin_clzll(m), rounds, entropy, &error), error);
    tacit_entropy_free(entropy);
    return out;
}

static void small_numbers_are_judged_right(void **state) {
    (void)state;
    uint32_t *primes;
    size_t count, at = 0;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_prime_small(&primes, &count, 2000, &error), error);
    for (mp_limb_t m = 3; m < 1999; m += 2) {
        bool prime = primes[at] == m;
        if (prime) at++;
        assert_int_equal(probably(m, 20), prime); /* a composite passes with a chance below 1e-12 */
    }
    assert_int_equal(count, 302); /* of the 303 primes below 2000 all but 2 */
    free(primes);
}

/* Composite numbers that pass Fermat's test with every base, or with base 2. */
static void pseudoprimes_are_found_out(void **state) {
    (void)state;
    static const mp_limb_t composites[] = { 341, 561, 1105, 1729, 3215031751, 3825123056546413051, 2047 };
    for (size_t i = 0; i < sizeof composites / sizeof *composites; i++) {
        assert_true(tacit_prime_fermat(&composites[i], 64 - (size_t)__builtin_clzll(composites[i])));
        assert_false(probably(composites[i], 40));
    }
    const mp_limb_t prime = 18446744073709551557u;
    assert_true(tacit_prime_fermat(&prime, 64));
    assert_true(probably(prime, 40));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_safe_prime_is_one_by_another_test),
        cmocka_unit_test(small_numbers_are_judged_right),
        cmocka_unit_test(pseudoprimes_are_found_out),
    };
    return cmocka_run_group_tests_name("primes", tests, NULL, NULL);
}
