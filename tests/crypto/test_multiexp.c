#include "keys.h"

#include "crypto/paillier/multiexp.h"
#include "crypto/paillier/slots.h"

static tacit_paillier_secret *secret;
static const tacit_paillier_public *key;

static int set_up(void **state) {
    (void)state;
    secret = stored_key(SHORT_KEY);
    key = tacit_paillier_public_of(secret);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    secret = tacit_paillier_secret_free(secret);
    return 0;
}

/* Both methods, alone and with a pool, against the sums of plain integers. */
static void check_matrix(tacit_stream *stream, size_t rows, size_t columns, unsigned bits, tacit_pool *pool) {
    tacit_error error = TACIT_ERROR_INIT;
    int64_t *values = calloc(rows * columns, sizeof *values), *factor = calloc(columns, sizeof *factor);
    int64_t *expected = calloc(rows, sizeof *expected), *seen = calloc(rows, sizeof *seen);
    for (size_t j = 0; j < columns; j++) factor[j] = signed_below(stream, bits - 1);
    if (columns > 2) factor[0] = -((int64_t)1 << (bits - 2)) * 2 + 1, factor[1] = -factor[0], factor[2] = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            /* Sums stay below 2^63 for every draw: of the widest factors only few count. */
            int64_t value = bits > 57 && j > 3 ? 0 : signed_below(stream, bits > 54 ? 1 : 54 - bits);
            values[i * columns + j] = value;
            expected[i] = (int64_t)((uint64_t)expected[i] + (uint64_t)value * (uint64_t)factor[j]);
        }
    tacit_ciphertexts *matrix = encrypted(key, values, rows * columns), *out = new_ciphertexts(key, rows);
    for (int kind = TACIT_FACTORS_SECRET; kind <= TACIT_FACTORS_PUBLIC; kind++) {
        CHECK_OK(tacit_paillier_multiply_matrix(out, matrix, factor, columns, bits, (tacit_factors)kind, pool,
                                                &error),
                 error);
        decrypted(seen, secret, out);
        assert_memory_equal(seen, expected, rows * sizeof *seen);
    }
    tacit_ciphertexts_free(out);
    tacit_ciphertexts_free(matrix);
    free(seen);
    free(expected);
    free(factor);
    free(values);
}

static void weighted_sums_agree_with_plain_ones(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = printed_stream();
    tacit_pool *pool = NULL;
    CHECK_OK(tacit_pool_create(&pool, 3, &error), error);
    static const unsigned bits[] = { 2, 3, 17, 32, 50, 62 };
    for (size_t k = 0; k < sizeof bits / sizeof *bits; k++) {
        check_matrix(&stream, 1, 1, bits[k], NULL);
        check_matrix(&stream, 5, 7, bits[k], pool);
        check_matrix(&stream, 2, 60, bits[k], k % 2 ? pool : NULL); /* where buckets win */
    }
    tacit_pool_free(pool);
}

/* H^-1 g with the columns of H^-1 packed: one product a column gives a row of coordinates. */
static void packed_columns_give_many_coordinates_at_once(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = printed_stream();
    enum { D = 6 };
    tacit_slots layout;
    CHECK_OK(tacit_slots_plan(&layout, key, 1, 16, 18, D, &error), error);
    assert_true(layout.slots >= D);
    int64_t matrix[D][D], g[D], seen[D];
    tacit_plaintexts *plain = new_plaintexts(key, 1);
    tacit_ciphertexts *columns = new_ciphertexts(key, D), *one = new_ciphertexts(key, 1);
    tacit_entropy *entropy = new_entropy();
    for (size_t j = 0; j < D; j++) {
        g[j] = signed_below(&stream, 17);
        for (size_t i = 0; i < D; i++) matrix[j][i] = signed_below(&stream, 16);
        CHECK_OK(tacit_slots_pack(plain, &layout, matrix[j], D, &error), error);
        CHECK_OK(tacit_paillier_encrypt(one, plain, TACIT_PAILLIER_SHORT, entropy, NULL, &error), error);
        memcpy(tacit_ciphertext_at(columns, j), one->limbs, tacit_pair_limbs(&key->n) * sizeof *one->limbs);
    }
    CHECK_OK(tacit_paillier_multiply_matrix(one, columns, g, D, 18, TACIT_FACTORS_SECRET, NULL, &error),
             error);
    CHECK_OK(tacit_paillier_decrypt(plain, secret, one, NULL, &error), error);
    CHECK_OK(tacit_slots_unpack_integers(seen, &layout, D, plain, &error), error);
    for (size_t i = 0; i < D; i++) {
        int64_t expected = 0;
        for (size_t j = 0; j < D; j++) expected += matrix[j][i] * g[j];
        assert_int_equal(seen[i], expected);
    }
    tacit_entropy_free(entropy);
    tacit_ciphertexts_free(one);
    tacit_ciphertexts_free(columns);
    tacit_plaintexts_free(plain);
}

static void shapes_and_factors_that_do_not_fit_are_refused(void **state) {
    (void)state;
    tacit_ciphertexts *matrix = new_ciphertexts(key, 6), *two = new_ciphertexts(key, 2);
    const int64_t factor[3] = { 1, 4, 3 };
    assert_int_equal(
        tacit_paillier_multiply_matrix(two, matrix, factor, 2, 4, TACIT_FACTORS_SECRET, NULL, NULL),
        TACIT_USAGE);
    assert_int_equal(
        tacit_paillier_multiply_matrix(two, matrix, factor, 0, 4, TACIT_FACTORS_SECRET, NULL, NULL),
        TACIT_USAGE);
    assert_int_equal(
        tacit_paillier_multiply_matrix(two, matrix, factor, 3, 3, TACIT_FACTORS_SECRET, NULL, NULL),
        TACIT_LIMIT);
    assert_int_equal(
        tacit_paillier_multiply_matrix(two, matrix, factor, 3, 1, TACIT_FACTORS_SECRET, NULL, NULL),
        TACIT_USAGE);
    assert_int_equal(
        tacit_paillier_multiply_matrix(two, matrix, factor, 3, 65, TACIT_FACTORS_SECRET, NULL, NULL),
        TACIT_USAGE);
    tacit_ciphertexts_free(two);
    tacit_ciphertexts_free(matrix);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weighted_sums_agree_with_plain_ones),
        cmocka_unit_test(packed_columns_give_many_coordinates_at_once),
        cmocka_unit_test(shapes_and_factors_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests_name("weighted sums", tests, set_up, tear_down);
}
