#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/sum/shamir.h"
#include "rand/stream.h"

enum { MOST = 40 };

typedef struct dealt {
    uint8_t secret[TACIT_SECRET_BYTES];
    uint8_t coefficients[MOST * TACIT_SECRET_BYTES];
    tacit_secret_share shares[MOST];
} dealt;

static void deal(dealt *out, tacit_stream *stream, size_t threshold, size_t count) {
    size_t places[TACIT_SHAMIR_PLACES];
    tacit_stream_bytes(stream, out->secret, sizeof out->secret);
    tacit_stream_bytes(stream, out->coefficients, sizeof out->coefficients);
    tacit_stream_permutation(stream, places, TACIT_SHAMIR_PLACES);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(tacit_shamir_share(&out->shares[i], (uint16_t)(places[i] + 1), out->secret,
                                            out->coefficients, threshold, NULL),
                         TACIT_OK);
}

static void any_threshold_of_shares_give_the_secret(void **state) {
    (void)state;
    const uint64_t seed = 20260101;
    print_message("# seed %llu\n", (unsigned long long)seed);
    tacit_stream stream = tacit_stream_from_seed(seed);
    for (size_t threshold = 1; threshold <= MOST; threshold += 3) {
        dealt all;
        deal(&all, &stream, threshold, MOST);
        for (int repeat = 0; repeat < 10; repeat++) {
            size_t order[MOST];
            tacit_secret_share some[MOST];
            uint8_t secret[TACIT_SECRET_BYTES];
            tacit_error error = TACIT_ERROR_INIT;
            tacit_stream_permutation(&stream, order, MOST);
            for (size_t i = 0; i < MOST; i++) some[i] = all.shares[order[i]];
            CHECK_OK(tacit_shamir_combine(secret, some, threshold, threshold, &error), error);
            assert_memory_equal(secret, all.secret, sizeof secret);
            if (threshold < 2) continue;
            some[0].bytes[7] ^= 1; /* every share counts */
            CHECK_OK(tacit_shamir_combine(secret, some, MOST, threshold, &error), error);
            assert_memory_not_equal(secret, all.secret, sizeof secret);
        }
    }
}

/* Carry-less product and long division, another way than the library's. */
static uint16_t product(uint16_t a, uint16_t b) {
    uint64_t wide = 0;
    for (int i = 0; i < 16; i++)
        if (b >> i & 1) wide ^= (uint64_t)a << i;
    for (int i = 31; i >= 16; i--)
        if (wide >> i & 1) wide ^= UINT64_C(0x1100B) << (i - 16);
    return (uint16_t)wide;
}

static uint16_t lane(const uint8_t *bytes, size_t i) {
    return (uint16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8);
}

static void a_share_is_the_value_of_the_polynomial(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(5);
    dealt all;
    deal(&all, &stream, 3, MOST);
    for (size_t s = 0; s < MOST; s++)
        for (size_t i = 0; i < TACIT_SECRET_BYTES / 2; i++) {
            uint16_t x = all.shares[s].place;
            uint16_t value = lane(all.secret, i) ^ product(lane(all.coefficients, i), x) ^
                             product(lane(all.coefficients + TACIT_SECRET_BYTES, i), product(x, x));
            assert_int_equal(lane(all.shares[s].bytes, i), value);
        }
}

/* With threshold 2, one share fits every secret: for any other secret there is a coefficient that gives the
 * same share. */
static void fewer_shares_fit_every_secret(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(6);
    dealt all, other;
    deal(&all, &stream, 2, 1);
    uint16_t x = all.shares[0].place, inverse = 1;
    for (int i = 0; i < 65534; i++) inverse = product(inverse, x); /* x^(2^16 - 2) */
    tacit_stream_bytes(&stream, other.secret, sizeof other.secret);
    for (size_t i = 0; i < TACIT_SECRET_BYTES / 2; i++) {
        uint16_t c = product(lane(all.shares[0].bytes, i) ^ lane(other.secret, i), inverse);
        other.coefficients[2 * i] = (uint8_t)c;
        other.coefficients[2 * i + 1] = (uint8_t)(c >> 8);
    }
    tacit_secret_share share;
    assert_int_equal(tacit_shamir_share(&share, x, other.secret, other.coefficients, 2, NULL), TACIT_OK);
    assert_memory_equal(share.bytes, all.shares[0].bytes, sizeof share.bytes);
    assert_memory_not_equal(other.secret, all.secret, sizeof other.secret);
}

static void too_few_or_equal_places_are_refused(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(7);
    dealt all;
    uint8_t secret[TACIT_SECRET_BYTES] = { 9 }, before[TACIT_SECRET_BYTES] = { 9 };
    tacit_error error = TACIT_ERROR_INIT;
    deal(&all, &stream, 4, 5);
    assert_int_equal(tacit_shamir_combine(secret, all.shares, 3, 4, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "3 shares"));
    all.shares[4].place = all.shares[1].place;
    assert_int_equal(tacit_shamir_combine(secret, all.shares, 5, 4, NULL), TACIT_INPUT);
    all.shares[4].place = 0;
    assert_int_equal(tacit_shamir_combine(secret, all.shares, 5, 4, NULL), TACIT_INPUT);
    assert_int_equal(tacit_shamir_combine(secret, all.shares, 4, 0, NULL), TACIT_INPUT);
    assert_memory_equal(secret, before, sizeof secret);
    assert_int_equal(tacit_shamir_share(&all.shares[0], 0, secret, all.coefficients, 4, NULL), TACIT_USAGE);
    assert_int_equal(tacit_shamir_share(&all.shares[0], 1, secret, all.coefficients, 0, NULL), TACIT_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_threshold_of_shares_give_the_secret),
        cmocka_unit_test(a_share_is_the_value_of_the_polynomial),
        cmocka_unit_test(fewer_shares_fit_every_secret),
        cmocka_unit_test(too_few_or_equal_places_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
