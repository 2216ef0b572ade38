#include "keys.h"

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

static tacit_slots planned(double range, unsigned fraction_bits, unsigned factor_bits, uint64_t additions) {
    tacit_slots layout;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_slots_plan(&layout, key, range, fraction_bits, factor_bits, additions, &error), error);
    return layout;
}

static void every_number_at_every_extreme_comes_back(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = printed_stream();
    for (unsigned bits = 0; bits <= 62; bits++) {
        tacit_slots layout = planned(1, bits, 0, 1);
        size_t count = 3 * layout.slots - 1, many = tacit_slots_plaintexts(&layout, count);
        assert_int_equal(many, 3);
        int64_t *values = calloc(count, sizeof *values), *out = calloc(count, sizeof *out);
        tacit_plaintexts *plain = new_plaintexts(key, many);
        for (size_t i = 0; i < count; i++) {
            const int64_t edges[] = { 0, 1, -1, layout.most, -layout.most, layout.most - 1 };
            values[i] = edges[tacit_stream_below(&stream, 6)];
        }
        CHECK_OK(tacit_slots_pack(plain, &layout, values, count, &error), error);
        CHECK_OK(tacit_slots_unpack_integers(out, &layout, count, plain, &error), error);
        assert_memory_equal(out, values, count * sizeof *values);
        tacit_plaintexts_free(plain);
        free(values);
        free(out);
    }
}

/* The declared number of additions of the largest values, under encryption: the sum is right, one more is
 * refused. */
static void the_declared_additions_fit_and_more_are_refused(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    for (uint64_t additions = 1; additions <= 9; additions += 2) {
        tacit_slots layout = planned(100, 8, 0, additions);
        int64_t values[64], sums[64];
        size_t count = layout.slots;
        tacit_entropy *entropy = new_entropy();
        tacit_plaintexts *plain = new_plaintexts(key, 1);
        tacit_ciphertexts *one = new_ciphertexts(key, 1), *sum = new_ciphertexts(key, 1);
        assert_true(count <= 64 && layout.most == 25600);
        for (size_t i = 0; i < count; i++) values[i] = i % 3 == 0 ? 25600 : i % 3 == 1 ? -25600 : 0;
        CHECK_OK(tacit_slots_pack(plain, &layout, values, count, &error), error);
        CHECK_OK(tacit_paillier_encrypt(one, plain, TACIT_PAILLIER_SHORT, entropy, NULL, &error), error);
        for (uint64_t k = 0; k < additions; k++)
            CHECK_OK(tacit_paillier_add(sum, sum, one, NULL, &error), error);
        CHECK_OK(tacit_paillier_decrypt(plain, secret, sum, NULL, &error), error);
        CHECK_OK(tacit_slots_unpack_integers(sums, &layout, count, plain, &error), error);
        for (size_t i = 0; i < count; i++) assert_int_equal(sums[i], values[i] * (int64_t)additions);
        CHECK_OK(tacit_paillier_add(sum, sum, one, NULL, &error), error);
        CHECK_OK(tacit_paillier_decrypt(plain, secret, sum, NULL, &error), error);
        sums[0] = 77;
        assert_int_equal(tacit_slots_unpack_integers(sums, &layout, count, plain, NULL), TACIT_INPUT);
        assert_int_equal(sums[0], 77);
        tacit_ciphertexts_free(sum);
        tacit_ciphertexts_free(one);
        tacit_plaintexts_free(plain);
        tacit_entropy_free(entropy);
    }
}

static void products_use_all_of_a_wide_slot(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_slots layout = planned(0x1p30, 30, 60, 3); /* 2 + 60 + 59 + 2 bits */
    assert_int_equal(layout.slot_bits, 123);
    assert_int_equal(layout.slots, 2);
    const int64_t values[2] = { layout.most, -layout.most }, factor = ((int64_t)1 << 59) - 1;
    tacit_wide out[2];
    tacit_entropy *entropy = new_entropy();
    tacit_plaintexts *plain = new_plaintexts(key, 1);
    tacit_ciphertexts *c = new_ciphertexts(key, 1), *sum = new_ciphertexts(key, 1);
    CHECK_OK(tacit_slots_pack(plain, &layout, values, 2, &error), error);
    CHECK_OK(tacit_paillier_encrypt(c, plain, TACIT_PAILLIER_SHORT, entropy, NULL, &error), error);
    CHECK_OK(tacit_paillier_multiply(c, c, &factor, 60, NULL, &error), error);
    for (int k = 0; k < 3; k++) CHECK_OK(tacit_paillier_add(sum, sum, c, NULL, &error), error);
    CHECK_OK(tacit_paillier_decrypt(plain, secret, sum, NULL, &error), error);
    CHECK_OK(tacit_slots_unpack(out, &layout, 2, plain, &error), error);
    /* 3 * 2^60 * (2^59 - 1) = 2^119 + 2^120 - 2^60 - 2^61 */
    assert_true(out[0].low == -((uint64_t)3 << 60) && out[0].high == ((int64_t)3 << 55) - 1);
    assert_true(out[1].low == (uint64_t)3 << 60 && out[1].high == -((int64_t)3 << 55));
    assert_int_equal(tacit_slots_unpack_integers((int64_t[2]){ 0 }, &layout, 2, plain, NULL), TACIT_LIMIT);
    tacit_ciphertexts_free(sum);
    tacit_ciphertexts_free(c);
    tacit_plaintexts_free(plain);
    tacit_entropy_free(entropy);
}

static void a_full_key_holds_a_dozen_numbers_or_more(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_slots layout;
    tacit_paillier_secret *full = stored_key(FULL_KEY);
    const tacit_paillier_public *public = tacit_paillier_public_of(full);
    /* Sums of 1000 products of numbers with 40 fractional bits. */
    CHECK_OK(tacit_slots_plan(&layout, public, 0x1p10, 40, 50, 1000, &error), error);
    assert_int_equal(layout.slots, 18);
    CHECK_OK(tacit_slots_plan(&layout, public, 0x1p11, 40, 64, 1 << 10, &error), error);
    assert_int_equal(layout.slot_bits, 127);
    assert_int_equal(layout.slots, 16);
    tacit_paillier_secret_free(full);
}

static void values_out_of_range_are_refused(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_slots layout = planned(10, 20, 0, 4);
    tacit_plaintexts *plain = new_plaintexts(key, 1);
    int64_t out[3] = { 0 };
    static const double bad[] = { 10.0000001, -11, 1e300, INFINITY, -INFINITY, NAN };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const double values[3] = { 1, bad[i], 2 };
        tacit_error reason = TACIT_ERROR_INIT;
        assert_int_equal(tacit_slots_encode(out, &layout, values, 3, &reason), TACIT_LIMIT);
        assert_non_null(strstr(reason.text, "value 1"));
    }
    const double good[3] = { -10, 0.1, 10 };
    CHECK_OK(tacit_slots_encode(out, &layout, good, 3, &error), error);
    assert_int_equal(out[0], -10485760);
    assert_int_equal(out[1], 104858); /* 0.1 2^20 = 104857.6 */
    assert_int_equal(out[2], 10485760);
    out[1] = layout.most + 1;
    assert_int_equal(tacit_slots_pack(plain, &layout, out, 3, NULL), TACIT_LIMIT);
    out[1] = INT64_MIN;
    assert_int_equal(tacit_slots_pack(plain, &layout, out, 3, NULL), TACIT_LIMIT);
    assert_int_equal(tacit_slots_pack(plain, &layout, out, 2 * layout.slots, NULL), TACIT_USAGE);
    tacit_plaintexts_free(plain);
}

static void impossible_layouts_are_refused(void **state) {
    (void)state;
    tacit_slots layout;
    assert_int_equal(tacit_slots_plan(&layout, key, 0, 10, 0, 1, NULL), TACIT_USAGE);
    assert_int_equal(tacit_slots_plan(&layout, key, NAN, 10, 0, 1, NULL), TACIT_USAGE);
    assert_int_equal(tacit_slots_plan(&layout, key, INFINITY, 10, 0, 1, NULL), TACIT_USAGE);
    assert_int_equal(tacit_slots_plan(&layout, key, 1, 63, 0, 1, NULL), TACIT_USAGE);
    assert_int_equal(tacit_slots_plan(&layout, key, 1, 4000000000u, 0, 1, NULL), TACIT_USAGE);
    assert_int_equal(tacit_slots_plan(&layout, key, 1, 10, 0, 0, NULL), TACIT_USAGE);
    assert_int_equal(tacit_slots_plan(&layout, key, 1, 10, 1, 1, NULL), TACIT_USAGE);
    assert_int_equal(tacit_slots_plan(&layout, key, 1, 10, 65, 1, NULL), TACIT_USAGE);
    assert_int_equal(tacit_slots_plan(&layout, key, 1, 62, 64, 1, NULL), TACIT_USAGE);
    assert_int_equal(tacit_slots_plan(&layout, key, 1, 62, 64, UINT64_MAX, NULL), TACIT_USAGE);
}

/* Whatever residue a liar's ciphertext decrypts to, unpacking ends in numbers within the bound or in an
 * error. */
static void garbage_is_refused_or_within_the_bound(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = printed_stream();
    tacit_slots layout = planned(1000, 10, 0, 3);
    tacit_plaintexts *plain = new_plaintexts(key, 1);
    int64_t out[64];
    unsigned refusals = 0;
    for (int k = 0; k < 300; k++) {
        uint8_t bytes[32];
        tacit_stream_bytes(&stream, bytes, sizeof bytes);
        bytes[31] &= 0x7f;
        CHECK_OK(tacit_plaintexts_set_bytes(plain, 0, bytes, 32, &error), error);
        if (tacit_slots_unpack_integers(out, &layout, layout.slots, plain, NULL) != TACIT_OK) {
            refusals++;
            continue;
        }
        for (unsigned i = 0; i < layout.slots; i++) assert_true(llabs(out[i]) <= 3 * layout.most);
    }
    assert_true(refusals > 250); /* each passes with a chance below 1 in 10,000 */
    tacit_plaintexts_free(plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_at_every_extreme_comes_back),
        cmocka_unit_test(the_declared_additions_fit_and_more_are_refused),
        cmocka_unit_test(products_use_all_of_a_wide_slot),
        cmocka_unit_test(a_full_key_holds_a_dozen_numbers_or_more),
        cmocka_unit_test(values_out_of_range_are_refused),
        cmocka_unit_test(impossible_layouts_are_refused),
        cmocka_unit_test(garbage_is_refused_or_within_the_bound),
    };
    return cmocka_run_group_tests_name("slots", tests, set_up, tear_down);
}
