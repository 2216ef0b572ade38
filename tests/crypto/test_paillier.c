/* What decrypts to what. Properties hold for random numbers from a printed seed. */
#include "keys.h"

enum { COUNT = 40 };

static int64_t numbers[COUNT], others[COUNT], seen[COUNT];

static void draw_numbers(tacit_stream *stream) {
    static const int64_t edges[] = { 0, 1, -1, INT32_MAX, INT32_MIN, INT64_MAX / 4, INT64_MIN / 4 };
    for (size_t i = 0; i < COUNT; i++) {
        numbers[i] = i < 7 ? edges[i] : signed_below(stream, 62);
        others[i] = i < 7 ? edges[6 - i] : signed_below(stream, 62);
    }
}

static void numbers_come_back(void **state) {
    (void)state;
    tacit_stream stream = printed_stream();
    tacit_paillier_secret *secret = stored_key(SHORT_KEY);
    draw_numbers(&stream);
    numbers[0] = INT64_MIN;
    numbers[1] = INT64_MAX;
    tacit_ciphertexts *a = encrypted(tacit_paillier_public_of(secret), numbers, COUNT);
    decrypted(seen, secret, a);
    assert_memory_equal(seen, numbers, sizeof seen);
    tacit_ciphertexts_free(a);
    tacit_paillier_secret_free(secret);
}

static void sums_are_sums(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = printed_stream();
    tacit_paillier_secret *secret = stored_key(SHORT_KEY);
    const tacit_paillier_public *key = tacit_paillier_public_of(secret);
    draw_numbers(&stream);
    tacit_ciphertexts *a = encrypted(key, numbers, COUNT), *b = encrypted(key, others, COUNT);
    tacit_ciphertexts *sum = new_ciphertexts(key, COUNT);
    tacit_plaintexts *plain = new_plaintexts(key, COUNT);
    CHECK_OK(tacit_paillier_add(sum, a, b, NULL, &error), error);
    decrypted(seen, secret, sum);
    for (size_t i = 0; i < COUNT; i++) assert_int_equal(seen[i], numbers[i] + others[i]);
    for (size_t i = 0; i < COUNT; i++) tacit_plaintexts_set(plain, i, others[i]);
    CHECK_OK(tacit_paillier_add_plain(a, a, plain, NULL, &error), error); /* onto itself */
    decrypted(seen, secret, a);
    for (size_t i = 0; i < COUNT; i++) assert_int_equal(seen[i], numbers[i] + others[i]);
    tacit_plaintexts_free(plain);
    tacit_ciphertexts_free(sum);
    tacit_ciphertexts_free(b);
    tacit_ciphertexts_free(a);
    tacit_paillier_secret_free(secret);
}

static void products_are_products(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = printed_stream();
    tacit_paillier_secret *secret = stored_key(SHORT_KEY);
    const tacit_paillier_public *key = tacit_paillier_public_of(secret);
    int64_t factor[COUNT];
    for (unsigned bits = 2; bits <= 32; bits++) {
        for (size_t i = 0; i < COUNT; i++) {
            numbers[i] = signed_below(&stream, 31);
            factor[i] = signed_below(&stream, bits - 1);
        }
        factor[0] = ((int64_t)1 << (bits - 1)) - 1;
        factor[1] = -factor[0];
        factor[2] = 0;
        tacit_ciphertexts *a = encrypted(key, numbers, COUNT);
        CHECK_OK(tacit_paillier_multiply(a, a, factor, bits, NULL, &error), error);
        decrypted(seen, secret, a);
        for (size_t i = 0; i < COUNT; i++) assert_int_equal(seen[i], numbers[i] * factor[i]);
        factor[3] = (int64_t)1 << (bits - 1);
        assert_int_equal(tacit_paillier_multiply(a, a, factor, bits, NULL, NULL), TACIT_LIMIT);
        tacit_ciphertexts_free(a);
    }
    tacit_paillier_secret_free(secret);
}

/* n/2 and its neighbours, where the sign turns: as residues, since they fit no integer. */
static void the_largest_numbers_wrap_as_residues_do(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_paillier_secret *secret = stored_key(SHORT_KEY);
    const tacit_paillier_public *key = tacit_paillier_public_of(secret);
    uint8_t half[32], got[32], expected[32];
    mp_limb_t middle[4], last[4];
    tacit_plaintexts *plain = new_plaintexts(key, 1);
    tacit_ciphertexts *c = new_ciphertexts(key, 1);
    tacit_entropy *entropy = new_entropy();
    mpn_rshift(middle, key->n.m, 4, 1); /* (n - 1)/2 */
    tacit_limbs_to_bytes(half, middle, 4);
    CHECK_OK(tacit_plaintexts_set_bytes(plain, 0, half, 32, &error), error);
    CHECK_OK(tacit_paillier_encrypt(c, plain, TACIT_PAILLIER_CLASSIC, entropy, NULL, &error), error);
    CHECK_OK(tacit_paillier_add(c, c, c, NULL, &error), error); /* n - 1 = -1 */
    decrypted(seen, secret, c);
    assert_int_equal(seen[0], -1);
    CHECK_OK(tacit_paillier_add_plain(c, c, plain, NULL, &error), error);
    CHECK_OK(tacit_paillier_decrypt(plain, secret, c, NULL, &error), error);
    assert_int_equal(tacit_plaintexts_get(seen, plain, 0, &error), TACIT_LIMIT);
    tacit_plaintexts_get_bytes(got, plain, 0);
    mpn_sub_1(last, middle, 4, 1);
    tacit_limbs_to_bytes(expected, last, 4);
    assert_memory_equal(got, expected, 32);
    tacit_entropy_free(entropy);
    tacit_ciphertexts_free(c);
    tacit_plaintexts_free(plain);
    tacit_paillier_secret_free(secret);
}

static bool same_bytes(const tacit_ciphertexts *a, size_t i, const tacit_ciphertexts *b, size_t j) {
    return memcmp(tacit_ciphertext_at(a, i), tacit_ciphertext_at(b, j), tacit_pair_limbs(&a->key->n) * 8) ==
           0;
}

static void new_randomness_hides_the_old(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_paillier_secret *secret = stored_key(SHORT_KEY);
    const tacit_paillier_public *key = tacit_paillier_public_of(secret);
    tacit_entropy *entropy = new_entropy();
    const int64_t same[3] = { 7, 7, 7 };
    tacit_ciphertexts *a = encrypted(key, same, 3), *b = encrypted(key, same, 3);
    assert_false(same_bytes(a, 0, a, 1));
    assert_false(same_bytes(a, 0, b, 0));
    for (int kind = TACIT_PAILLIER_SHORT; kind <= TACIT_PAILLIER_CLASSIC; kind++) {
        memcpy(b->limbs, a->limbs, 3 * tacit_pair_limbs(&key->n) * sizeof *a->limbs);
        CHECK_OK(tacit_paillier_rerandomise(b, (tacit_paillier_randomness)kind, entropy, NULL, &error),
                 error);
        for (size_t i = 0; i < 3; i++) assert_false(same_bytes(a, i, b, i));
        decrypted(seen, secret, b);
        for (size_t i = 0; i < 3; i++) assert_int_equal(seen[i], 7);
    }
    tacit_entropy_free(entropy);
    tacit_ciphertexts_free(b);
    tacit_ciphertexts_free(a);
    tacit_paillier_secret_free(secret);
}

static void a_pool_computes_the_same(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = printed_stream();
    tacit_paillier_secret *secret = stored_key(SHORT_KEY);
    const tacit_paillier_public *key = tacit_paillier_public_of(secret);
    tacit_entropy *entropy = new_entropy();
    tacit_pool *pool = NULL;
    int64_t factor[COUNT];
    draw_numbers(&stream);
    for (size_t i = 0; i < COUNT; i++) factor[i] = i % 2 ? 3 : -2;
    CHECK_OK(tacit_pool_create(&pool, 3, &error), error);
    tacit_plaintexts *plain = new_plaintexts(key, COUNT);
    tacit_ciphertexts *c = new_ciphertexts(key, COUNT), *alone = new_ciphertexts(key, COUNT);
    for (size_t i = 0; i < COUNT; i++) tacit_plaintexts_set(plain, i, numbers[i] / 16);
    CHECK_OK(tacit_paillier_encrypt(c, plain, TACIT_PAILLIER_SHORT, entropy, pool, &error), error);
    CHECK_OK(tacit_paillier_rerandomise(c, TACIT_PAILLIER_SHORT, entropy, pool, &error), error);
    CHECK_OK(tacit_paillier_multiply(alone, c, factor, 5, NULL, &error), error);
    CHECK_OK(tacit_paillier_multiply(c, c, factor, 5, pool, &error), error);
    assert_memory_equal(c->limbs, alone->limbs, COUNT * tacit_pair_limbs(&key->n) * sizeof *c->limbs);
    CHECK_OK(tacit_paillier_add(c, c, c, pool, &error), error);
    CHECK_OK(tacit_paillier_decrypt(plain, secret, c, pool, &error), error);
    for (size_t i = 0; i < COUNT; i++) {
        CHECK_OK(tacit_plaintexts_get(&seen[i], plain, i, &error), error);
        assert_int_equal(seen[i], numbers[i] / 16 * factor[i] * 2);
    }
    tacit_ciphertexts_free(alone);
    tacit_ciphertexts_free(c);
    tacit_plaintexts_free(plain);
    tacit_pool_free(pool);
    tacit_entropy_free(entropy);
    tacit_paillier_secret_free(secret);
}

static void a_new_key_works_and_survives_its_bytes(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_paillier_secret *secret = NULL, *again = NULL;
    tacit_paillier_public *public = NULL;
    tacit_buffer bytes = TACIT_BUFFER_INIT, other = TACIT_BUFFER_INIT;
    const int64_t value = -123456789;
    CHECK_OK(tacit_paillier_generate_sized(&secret, 512, 512, NULL, &error), error);
    const tacit_paillier_public *key = tacit_paillier_public_of(secret);
    assert_int_equal(tacit_paillier_bits(key), 512);
    CHECK_OK(tacit_paillier_public_write(key, &bytes, &error), error);
    CHECK_OK(tacit_paillier_public_read_sized(&public, bytes.bytes, bytes.length, 512, &error), error);
    assert_true(tacit_paillier_same_key(key, public));
    assert_memory_equal(tacit_paillier_fingerprint(key), tacit_paillier_fingerprint(public), 32);
    CHECK_OK(tacit_paillier_secret_write(secret, &other, &error), error);
    CHECK_OK(tacit_paillier_secret_read_sized(&again, other.bytes, other.length, 512, &error), error);
    tacit_ciphertexts *c = encrypted(public, &value, 1);
    decrypted(seen, again, c);
    assert_int_equal(seen[0], value);
    tacit_ciphertexts_free(c);
    tacit_buffer_clear(&other);
    tacit_buffer_clear(&bytes);
    tacit_paillier_public_free(public);
    tacit_paillier_secret_free(again);
    tacit_paillier_secret_free(secret);
}

/* h has Jacobi symbol +1 and, to the power (p-1)(q-1)/2, which the group of such n-th powers has, gives 1. */
static void the_generator_lies_in_its_group(void **state) {
    (void)state;
    tacit_paillier_secret *secret = stored_key(SHORT_KEY);
    const tacit_paillier_public *key = tacit_paillier_public_of(secret);
    mp_limb_t c[8];
    mpz_t h, n, square, p, q, order;
    mpz_inits(h, n, square, p, q, order, NULL);
    tacit_paillier_integer(key, c, key->table + tacit_pair_limbs(&key->n));
    mpz_import(h, 8, -1, sizeof *c, 0, 0, c);
    mpz_import(n, 4, -1, sizeof *c, 0, 0, key->n.m);
    mpz_import(p, 2, -1, sizeof *c, 0, 0, secret->p.p.m);
    mpz_import(q, 2, -1, sizeof *c, 0, 0, secret->q.p.m);
    mpz_mul(square, n, n);
    assert_int_equal(mpz_jacobi(h, n), 1);
    mpz_sub_ui(p, p, 1);
    mpz_sub_ui(q, q, 1);
    mpz_mul(order, p, q);
    mpz_fdiv_q_2exp(order, order, 1);
    mpz_powm(n, h, order, square);
    assert_int_equal(mpz_cmp_ui(n, 1), 0);
    mpz_fdiv_q_2exp(order, order, 1); /* the squares' order: h = -x^2 is none of them */
    mpz_powm(n, h, order, square);
    assert_int_not_equal(mpz_cmp_ui(n, 1), 0);
    mpz_clears(h, n, square, p, q, order, NULL);
    tacit_paillier_secret_free(secret);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_back),
        cmocka_unit_test(sums_are_sums),
        cmocka_unit_test(products_are_products),
        cmocka_unit_test(the_largest_numbers_wrap_as_residues_do),
        cmocka_unit_test(new_randomness_hides_the_old),
        cmocka_unit_test(a_pool_computes_the_same),
        cmocka_unit_test(a_new_key_works_and_survives_its_bytes),
        cmocka_unit_test(the_generator_lies_in_its_group),
    };
    return cmocka_run_group_tests_name("Paillier", tests, NULL, NULL);
}
