#include "check.h"

#include <string.h>

#include "crypto/sum/agreement.h"
#include "rand/stream.h"

typedef struct two {
    tacit_key_pair a, b;
    uint8_t context[TACIT_DIGEST_BYTES];
} two;

static two make_two(void) {
    two out;
    uint8_t secret[TACIT_KEY_BYTES];
    tacit_stream stream = tacit_stream_from_seed(1);
    tacit_stream_bytes(&stream, secret, sizeof secret);
    tacit_key_pair_from(&out.a, secret);
    tacit_stream_bytes(&stream, secret, sizeof secret);
    tacit_key_pair_from(&out.b, secret);
    tacit_stream_bytes(&stream, out.context, sizeof out.context);
    return out;
}

static void both_ends_agree_and_nothing_else_does(void **state) {
    (void)state;
    two keys = make_two();
    uint8_t ab[32], ba[32], other[32];
    assert_int_equal(tacit_agree(ab, &keys.a, keys.b.shown, keys.context, "use", NULL), TACIT_OK);
    assert_int_equal(tacit_agree(ba, &keys.b, keys.a.shown, keys.context, "use", NULL), TACIT_OK);
    assert_memory_equal(ab, ba, sizeof ab);
    assert_int_equal(tacit_agree(other, &keys.b, keys.a.shown, keys.context, "another use", NULL), TACIT_OK);
    assert_memory_not_equal(ab, other, sizeof ab);
    keys.context[31] ^= 1;
    assert_int_equal(tacit_agree(other, &keys.b, keys.a.shown, keys.context, "use", NULL), TACIT_OK);
    assert_memory_not_equal(ab, other, sizeof ab);
}

static void keys_of_small_order_are_refused(void **state) {
    (void)state;
    two keys = make_two();
    const uint8_t weak[2][TACIT_KEY_BYTES] = { { 0 }, { 1 } };
    uint8_t seed[32];
    for (int i = 0; i < 2; i++)
        assert_int_equal(tacit_agree(seed, &keys.a, weak[i], keys.context, "use", NULL), TACIT_PROTOCOL);
}

static void a_seal_opens_on_its_route_only(void **state) {
    (void)state;
    two keys = make_two();
    const uint8_t text[64] = "two shares of thirty-two bytes";
    uint8_t seed[32], sealed[64 + TACIT_SEAL_BYTES], back[64], opened[64];
    tacit_seal_route there = { keys.context, 3, 4 }, again = { keys.context, 4, 3 },
                     wrong = { keys.context, 3, 5 };
    assert_int_equal(tacit_agree(seed, &keys.a, keys.b.shown, keys.context, "use", NULL), TACIT_OK);
    tacit_seal(sealed, text, sizeof text, seed, &there);
    tacit_seal(back, text, sizeof back - TACIT_SEAL_BYTES, seed, &again);
    assert_memory_not_equal(sealed, back, 48); /* the other direction has another key */
    assert_int_equal(tacit_seal_open(opened, sizeof text, sealed, seed, &there, NULL), TACIT_OK);
    assert_memory_equal(opened, text, sizeof text);
    assert_int_equal(tacit_seal_open(opened, sizeof text, sealed, seed, &again, NULL), TACIT_PROTOCOL);
    assert_int_equal(tacit_seal_open(opened, sizeof text, sealed, seed, &wrong, NULL), TACIT_PROTOCOL);
    for (size_t bit = 0; bit < 8 * sizeof sealed; bit++) {
        sealed[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(tacit_seal_open(opened, sizeof text, sealed, seed, &there, NULL), TACIT_PROTOCOL);
        sealed[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    keys.context[0] ^= 1;
    assert_int_equal(tacit_seal_open(opened, sizeof text, sealed, seed, &there, NULL), TACIT_PROTOCOL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends_agree_and_nothing_else_does),
        cmocka_unit_test(keys_of_small_order_are_refused),
        cmocka_unit_test(a_seal_opens_on_its_route_only),
    };
    return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
