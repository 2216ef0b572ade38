/* What comes from outside: keys and ciphertexts that are wrong on purpose, and calls that do not go
 * together. */
#include "keys.h"

enum { HEADER = 24, EACH = 64 }; /* bytes, under the short key */

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

static tacit_buffer written(size_t count) {
    static const int64_t values[3] = { 5, -6, 7 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_ciphertexts *c = encrypted(key, values, count);
    CHECK_OK(tacit_ciphertexts_write(c, &bytes, &error), error);
    assert_int_equal(bytes.length, HEADER + count * EACH);
    tacit_ciphertexts_free(c);
    return bytes;
}

static void refused(const tacit_buffer *bytes, tacit_status status, const char *word) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_ciphertexts *out = NULL;
    assert_int_equal(tacit_ciphertexts_read(&out, key, bytes->bytes, bytes->length, 3, &error), status);
    assert_null(out);
    assert_non_null(strstr(error.text, word));
}

static void ciphertexts_survive_their_bytes(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t count = 0; count <= 3; count++) {
        tacit_buffer bytes = written(count), again = TACIT_BUFFER_INIT;
        tacit_ciphertexts *out = NULL;
        CHECK_OK(tacit_ciphertexts_read(&out, key, bytes.bytes, bytes.length, 3, &error), error);
        CHECK_OK(tacit_ciphertexts_write(out, &again, &error), error);
        assert_int_equal(again.length, bytes.length);
        assert_memory_equal(again.bytes, bytes.bytes, bytes.length);
        tacit_ciphertexts_free(out);
        tacit_buffer_clear(&again);
        tacit_buffer_clear(&bytes);
    }
}

/* Put a number in the place of the second ciphertext. */
static void replace(tacit_buffer *bytes, const mp_limb_t *number, size_t limbs) {
    mp_limb_t c[8] = { 0 };
    mpn_copyi(c, number, (mp_size_t)limbs);
    tacit_limbs_to_bytes(bytes->bytes + HEADER + EACH, c, 8);
}

static void numbers_that_no_encryption_gives_are_refused(void **state) {
    (void)state;
    tacit_buffer bytes = written(3);
    const mp_limb_t zero = 0, *n = key->n.m;
    mp_limb_t square[8], number[8], all[8];
    mpn_sqr(square, n, 4);
    memset(all, 0xff, sizeof all);
    replace(&bytes, &zero, 1);
    refused(&bytes, TACIT_INPUT, "ciphertext 1");
    replace(&bytes, square, 8);
    refused(&bytes, TACIT_INPUT, "ciphertext 1");
    mpn_add_1(number, square, 8, 1);
    replace(&bytes, number, 8);
    refused(&bytes, TACIT_INPUT, "ciphertext 1");
    replace(&bytes, all, 8);
    refused(&bytes, TACIT_INPUT, "ciphertext 1");
    replace(&bytes, n, 4);
    refused(&bytes, TACIT_INPUT, "ciphertext 1 shares a factor");
    replace(&bytes, secret->p.p.m, 2);
    refused(&bytes, TACIT_INPUT, "ciphertext 1 shares a factor");
    mpn_zero(number, 8);
    number[2] = mpn_mul_1(number, secret->q.p.m, 2, 12345);
    replace(&bytes, number, 8);
    refused(&bytes, TACIT_INPUT, "ciphertext 1 shares a factor");
    mpn_sub(number, square, 8, n, 4); /* n^2 - n, too */
    replace(&bytes, number, 8);
    refused(&bytes, TACIT_INPUT, "ciphertext 1 shares a factor");
    mpn_sub_1(number, square, 8, 1); /* n^2 - 1 = -1 is a unit */
    replace(&bytes, number, 8);
    tacit_ciphertexts *out = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_ciphertexts_read(&out, key, bytes.bytes, bytes.length, 3, &error), error);
    tacit_ciphertexts_free(out);
    tacit_buffer_clear(&bytes);
}

static void wrong_lengths_and_counts_are_refused(void **state) {
    (void)state;
    tacit_buffer bytes = written(3);
    size_t whole = bytes.length;
    for (bytes.length = 0; bytes.length < HEADER; bytes.length++)
        refused(&bytes, TACIT_INPUT, "not a vector");
    for (bytes.length = HEADER; bytes.length < whole; bytes.length++) refused(&bytes, TACIT_INPUT, "bytes");
    bytes.length = whole;
    bytes.bytes[4] = 4;
    refused(&bytes, TACIT_LIMIT, "at most 3");
    memset(bytes.bytes + 4, 0xff, 4);
    refused(&bytes, TACIT_LIMIT, "at most 3");
    memset(bytes.bytes + 4, 0, 4);
    refused(&bytes, TACIT_INPUT, "bytes");
    bytes.bytes[4] = 2;
    refused(&bytes, TACIT_INPUT, "bytes");
    bytes.bytes[4] = 3;
    bytes.bytes[0] = 'X';
    refused(&bytes, TACIT_INPUT, "not a vector");
    tacit_buffer_clear(&bytes);
}

static void a_buffer_with_a_limit_is_not_overrun(void **state) {
    (void)state;
    tacit_ciphertexts *c = new_ciphertexts(key, 3);
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(HEADER + 3 * EACH - 1);
    assert_int_equal(tacit_ciphertexts_write(c, &bytes, NULL), TACIT_LIMIT);
    assert_int_equal(bytes.length, 0);
    tacit_buffer_clear(&bytes);
    tacit_ciphertexts_free(c);
}

static void another_key_is_noticed(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_paillier_secret *stranger = NULL;
    CHECK_OK(tacit_paillier_generate_sized(&stranger, 256, 256, NULL, &error), error);
    const tacit_paillier_public *foreign = tacit_paillier_public_of(stranger);
    tacit_buffer bytes = written(3);
    tacit_ciphertexts *out = NULL, *ours = new_ciphertexts(key, 2), *theirs = new_ciphertexts(foreign, 2);
    tacit_plaintexts *plain = new_plaintexts(key, 2);
    const int64_t factor[2] = { 1, 1 };
    assert_int_equal(tacit_ciphertexts_read(&out, foreign, bytes.bytes, bytes.length, 3, &error),
                     TACIT_INPUT);
    assert_non_null(strstr(error.text, "another Paillier key"));
    assert_int_equal(tacit_paillier_add(ours, ours, theirs, NULL, NULL), TACIT_USAGE);
    assert_int_equal(tacit_paillier_add_plain(theirs, theirs, plain, NULL, NULL), TACIT_USAGE);
    assert_int_equal(tacit_paillier_multiply(ours, theirs, factor, 4, NULL, NULL), TACIT_USAGE);
    assert_int_equal(tacit_paillier_decrypt(plain, stranger, ours, NULL, NULL), TACIT_USAGE);
    assert_int_equal(tacit_paillier_decrypt(plain, secret, theirs, NULL, NULL), TACIT_USAGE);
    tacit_plaintexts_free(plain);
    tacit_ciphertexts_free(theirs);
    tacit_ciphertexts_free(ours);
    tacit_buffer_clear(&bytes);
    tacit_paillier_secret_free(stranger);
}

static void vectors_of_different_lengths_do_not_go_together(void **state) {
    (void)state;
    tacit_entropy *entropy = new_entropy();
    tacit_ciphertexts *two = new_ciphertexts(key, 2), *three = new_ciphertexts(key, 3);
    tacit_plaintexts *plain = new_plaintexts(key, 3);
    assert_int_equal(tacit_paillier_add(two, two, three, NULL, NULL), TACIT_USAGE);
    assert_int_equal(tacit_paillier_encrypt(two, plain, TACIT_PAILLIER_SHORT, entropy, NULL, NULL),
                     TACIT_USAGE);
    assert_int_equal(tacit_paillier_decrypt(plain, secret, two, NULL, NULL), TACIT_USAGE);
    tacit_plaintexts_free(plain);
    tacit_ciphertexts_free(three);
    tacit_ciphertexts_free(two);
    tacit_entropy_free(entropy);
}

static void a_plaintext_is_below_the_modulus(void **state) {
    (void)state;
    uint8_t bytes[32];
    mp_limb_t last[4];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_plaintexts *plain = new_plaintexts(key, 1);
    tacit_limbs_to_bytes(bytes, key->n.m, 4);
    assert_int_equal(tacit_plaintexts_set_bytes(plain, 0, bytes, 32, NULL), TACIT_INPUT);
    assert_int_equal(tacit_plaintexts_set_bytes(plain, 0, bytes, 31, NULL), TACIT_INPUT);
    mpn_sub_1(last, key->n.m, 4, 1);
    tacit_limbs_to_bytes(bytes, last, 4);
    CHECK_OK(tacit_plaintexts_set_bytes(plain, 0, bytes, 32, &error), error);
    tacit_plaintexts_free(plain);
}

/* ---- Keys ---- */

static void key_refused(const mp_limb_t *n, unsigned bits, size_t length, unsigned least, const char *word) {
    uint8_t bytes[8 + 512] = { 'T', 'P', 'P', 'K', (uint8_t)bits, (uint8_t)(bits >> 8) };
    tacit_paillier_public *out = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_limbs_to_bytes(bytes + 8, n, length / 8);
    assert_int_equal(tacit_paillier_public_read_sized(&out, bytes, 8 + length, least, &error), TACIT_INPUT);
    assert_null(out);
    if (strstr(error.text, word) == NULL) fail_msg("'%s' is not in '%s'", word, error.text);
}

static void short_keys_are_refused(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_paillier_public *out = NULL;
    tacit_paillier_secret *made = NULL;
    CHECK_OK(tacit_paillier_public_write(key, &bytes, &error), error);
    assert_int_equal(tacit_paillier_public_read(&out, bytes.bytes, bytes.length, NULL), TACIT_INPUT);
    bytes.length = 0;
    CHECK_OK(tacit_paillier_secret_write(secret, &bytes, &error), error);
    assert_int_equal(tacit_paillier_secret_read(&made, bytes.bytes, bytes.length, NULL), TACIT_INPUT);
    tacit_buffer_clear(&bytes);
    static const unsigned sizes[] = { 0, 128, 1024, 2047, 2049, 2560, 8192 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_int_equal(tacit_paillier_generate(&made, sizes[i], NULL, NULL), TACIT_INPUT);
    assert_null(made);
}

static void unfit_moduli_are_refused(void **state) {
    (void)state;
    mp_limb_t n[4], cube[6];
    const mp_limb_t *p = secret->p.p.m;
    mpn_copyi(n, key->n.m, 4);
    key_refused(n, 256, 24, 256, "bytes");
    n[0] ^= 1; /* even */
    key_refused(n, 256, 32, 256, "3 modulo 4");
    n[0] ^= 1;
    n[0] ^= 2; /* 3 modulo 4 */
    key_refused(n, 256, 32, 256, "3 modulo 4");
    n[0] ^= 2;
    n[3] &= ~((mp_limb_t)1 << 63);
    key_refused(n, 256, 32, 256, "shorter");
    mpn_sqr(n, p, 2);
    key_refused(n, 256, 32, 256, "power");
    mpz_t number;
    mpz_init(number);
    mpz_setbit(number, 255);
    do mpz_nextprime(number, number);
    while (mpz_fdiv_ui(number, 4) != 1);
    mpn_copyi(n, mpz_limbs_read(number), 4);
    key_refused(n, 256, 32, 256, "prime");
    while (mpz_fdiv_ui(number, 3) != 0 || mpz_fdiv_ui(number, 4) != 1) mpz_add_ui(number, number, 1);
    mpn_copyi(n, mpz_limbs_read(number), 4);
    key_refused(n, 256, 32, 256, "divisible by 3");
    mpz_ui_pow_ui(number, 2, 128); /* a prime just below it; its cube has 384 bits */
    mpz_sub_ui(number, number, 1000000);
    do mpz_nextprime(number, number);
    while (mpz_fdiv_ui(number, 4) != 1);
    mpz_pow_ui(number, number, 3);
    assert_int_equal(mpz_sizeinbase(number, 2), 384);
    mpn_copyi(cube, mpz_limbs_read(number), 6);
    key_refused(cube, 384, 48, 256, "power");
    mpz_clear(number);
}

static void a_damaged_secret_key_is_noticed(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_paillier_secret *out = NULL;
    CHECK_OK(tacit_paillier_secret_write(secret, &bytes, &error), error);
    for (size_t at = 8; at < bytes.length; at += 3) {
        bytes.bytes[at] ^= 4;
        assert_int_equal(tacit_paillier_secret_read_sized(&out, bytes.bytes, bytes.length, 256, NULL),
                         TACIT_CORRUPT);
        bytes.bytes[at] ^= 4;
    }
    for (size_t length = 0; length < bytes.length; length++)
        assert_int_equal(tacit_paillier_secret_read_sized(&out, bytes.bytes, length, 256, NULL), TACIT_INPUT);
    memcpy(bytes.bytes + 8, bytes.bytes + 8 + 16, 16); /* p = q */
    assert_int_equal(tacit_paillier_secret_read_sized(&out, bytes.bytes, bytes.length, 256, &error),
                     TACIT_CORRUPT);
    assert_non_null(strstr(error.text, "equal"));
    assert_null(out);
    tacit_buffer_clear(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ciphertexts_survive_their_bytes),
        cmocka_unit_test(numbers_that_no_encryption_gives_are_refused),
        cmocka_unit_test(wrong_lengths_and_counts_are_refused),
        cmocka_unit_test(a_buffer_with_a_limit_is_not_overrun),
        cmocka_unit_test(another_key_is_noticed),
        cmocka_unit_test(vectors_of_different_lengths_do_not_go_together),
        cmocka_unit_test(a_plaintext_is_below_the_modulus),
        cmocka_unit_test(short_keys_are_refused),
        cmocka_unit_test(unfit_moduli_are_refused),
        cmocka_unit_test(a_damaged_secret_key_is_noticed),
    };
    return cmocka_run_group_tests_name("Paillier input", tests, set_up, tear_down);
}
