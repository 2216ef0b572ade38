#include "check.h"

#include <sodium.h>
#include <string.h>

#include "crypto/prf/voprf.h"
#include "crypto/prf/vrf.h"

static size_t bytes_of(uint8_t *out, size_t most, const char *hex) {
    size_t length = 0;
    assert_int_equal(sodium_hex2bin(out, most, hex, strlen(hex), NULL, &length, NULL), 0);
    return length;
}

/* ---- the verifiable function ---- */

typedef struct vrf_vector {
    const char *seed, *key, *input, *proof, *value;
} vrf_vector;

/* RFC 9381, appendix B.3: ECVRF-EDWARDS25519-SHA512-TAI, examples 16 to 18. */
static const vrf_vector vrf_vectors[] = {
    { "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
      "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
      "8657106690b5526245a92b003bb079ccd1a92130477671f6fc01ad16f26f723f26f8a57ccaed74ee1b190bed1f479d97"
      "27d2d0f9b005a6e456a35d4fb0daab1268a1b0db10836d9826a528ca76567805",
      "90cf1df3b703cce59e2a35b925d411164068269d7b2d29f3301c03dd757876ff66b71dda49d2de59d03450451af02679"
      "8e8f81cd2e333de5cdf4f3e140fdd8ae" },
    { "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
      "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
      "f3141cd382dc42909d19ec5110469e4feae18300e94f304590abdced48aed5933bf0864a62558b3ed7f2fea45c92a465"
      "301b3bbf5e3e54ddf2d935be3b67926da3ef39226bbc355bdc9850112c8f4b02",
      "eb4440665d3891d668e7e0fcaf587f1b4bd7fbfe99d0eb2211ccec90496310eb5e33821bc613efb94db5e5b54c70a848"
      "a0bef4553a41befc57663b56373a5031" },
    { "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
      "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
      "9bc0f79119cc5604bf02d23b4caede71393cedfbb191434dd016d30177ccbf8096bb474e53895c362d8628ee9f9ea3c0"
      "e52c7a5c691b6c18c9979866568add7a2d41b00b05081ed0f58ee5e31b3a970e",
      "645427e5d00c62a23fb703732fa5d892940935942101e456ecca7bb217c61c452118fec1219202a0edcf038bb6373241"
      "578be7217ba85a2687f7a0310b2df19f" },
};
enum { VRF_VECTORS = sizeof vrf_vectors / sizeof vrf_vectors[0] };

static void the_published_vectors_of_the_verifiable_function_come_out(void **state) {
    (void)state;
    for (size_t i = 0; i < VRF_VECTORS; i++) {
        const vrf_vector *one = &vrf_vectors[i];
        uint8_t seed[32], key[32], expected[80], input[8], proof[80], made[32], value[64], right[64];
        bytes_of(seed, sizeof seed, one->seed);
        bytes_of(key, sizeof key, one->key);
        bytes_of(expected, sizeof expected, one->proof);
        bytes_of(right, sizeof right, one->value);
        size_t length = bytes_of(input, sizeof input, one->input);
        tacit_vrf_public(made, seed);
        assert_memory_equal(made, key, sizeof key);
        assert_int_equal(tacit_vrf_prove(proof, seed, input, length, NULL), TACIT_OK);
        assert_memory_equal(proof, expected, sizeof proof);
        assert_int_equal(tacit_vrf_verify(value, key, input, length, proof, NULL), TACIT_OK);
        assert_memory_equal(value, right, sizeof value);
    }
}

static void no_bit_of_a_proof_can_be_changed(void **state) {
    (void)state;
    uint8_t seed[32] = { 7 }, key[32], proof[80], value[64], kept[64];
    tacit_vrf_public(key, seed);
    assert_int_equal(tacit_vrf_prove(proof, seed, "arm", 3, NULL), TACIT_OK);
    assert_int_equal(tacit_vrf_verify(kept, key, "arm", 3, proof, NULL), TACIT_OK);
    for (size_t bit = 0; bit < 8 * sizeof proof; bit++) {
        proof[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(tacit_vrf_verify(value, key, "arm", 3, proof, NULL), TACIT_REFUSED);
        proof[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_int_equal(tacit_vrf_verify(value, key, "arn", 3, proof, NULL), TACIT_REFUSED);
    uint8_t other_seed[32] = { 8 }, other[32];
    tacit_vrf_public(other, other_seed);
    assert_int_equal(tacit_vrf_verify(value, other, "arm", 3, proof, NULL), TACIT_REFUSED);
}

/* With a key of small order x B = Y has many x: such a participant could choose among values. */
static void keys_of_small_order_and_other_encodings_are_refused(void **state) {
    (void)state;
    static const char *const weak[] = {
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    };
    for (size_t i = 0; i < sizeof weak / sizeof weak[0]; i++) {
        uint8_t key[32], proof[80] = { 0 }, value[64];
        bytes_of(key, sizeof key, weak[i]);
        assert_false(tacit_vrf_key_is_valid(key));
        memcpy(proof, key, sizeof key);
        assert_int_equal(tacit_vrf_verify(value, key, "arm", 3, proof, NULL), TACIT_REFUSED);
    }
    /* A good point with a part of order two added is not of prime order. */
    uint8_t seed[32] = { 9 }, key[32], two[32], mixed[32];
    tacit_vrf_public(key, seed);
    bytes_of(two, sizeof two, weak[1]);
    assert_int_equal(crypto_core_ed25519_add(mixed, key, two), 0);
    assert_true(tacit_vrf_key_is_valid(key));
    assert_false(tacit_vrf_key_is_valid(mixed));
}

/* ---- the blind function ---- */

typedef struct blind_vector {
    const char *input[2], *blind[2], *blinded[2], *evaluated[2], *proof, *scalar, *value[2];
    size_t count;
} blind_vector;

#define INPUT_1 "00"
#define INPUT_2 "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a"
#define SCALAR_1 "64d37aed22a27f5191de1c1d69fadb899d8862b58eb4220029e036ec4c1f6706"
#define SCALAR_2 "222a5e897cf59db8145db8d16e597e8facb80ae7d4e26d9881aa6f61d645fc0e"
#define BLINDED_1 "863f330cc1a1259ed5a5998a23acfd37fb4351a793a5b3c090b642ddc439b945"
#define EVALUATED_1 "aa8fa048764d5623868679402ff6108d2521884fa138cd7f9c7669a9a014267e"
#define VALUE_1                                                                                              \
    "b58cfbe118e0cb94d79b5fd6a6dafb98764dff49c14e1770b566e42402da1a7d"                                       \
    "a4d8527693914139caee5bd03903af43a491351d23b430948dd50cde10d32b3c"
#define VALUE_2                                                                                              \
    "8a9a2f3c7f085b65933594309041fc1898d42d0858e59f90814ae90571a6df60"                                       \
    "356f4610bf816f27afdd84f47719e480906d27ecd994985890e5f539e7ea74b6"

/* RFC 9497, appendix A.1.2: ristretto255-SHA512, mode VOPRF. */
static const blind_vector blind_vectors[] = {
    { { INPUT_1 },
      { SCALAR_1 },
      { BLINDED_1 },
      { EVALUATED_1 },
      "ddef93772692e535d1a53903db24367355cc2cc78de93b3be5a8ffcc6985dd06"
      "6d4346421d17bf5117a2a1ff0fcb2a759f58a539dfbe857a40bce4cf49ec600d",
      SCALAR_2,
      { VALUE_1 },
      1 },
    { { INPUT_2 },
      { SCALAR_1 },
      { "cc0b2a350101881d8a4cba4c80241d74fb7dcbfde4a61fde2f91443c2bf9ef0c" },
      { "60a59a57208d48aca71e9e850d22674b611f752bed48b36f7a91b372bd7ad468" },
      "401a0da6264f8cf45bb2f5264bc31e109155600babb3cd4e5af7d181a2c9dc0a"
      "67154fabf031fd936051dec80b0b6ae29c9503493dde7393b722eafdf5a50b02",
      SCALAR_2,
      { VALUE_2 },
      1 },
    { { INPUT_1, INPUT_2 },
      { SCALAR_1, SCALAR_2 },
      { BLINDED_1, "90a0145ea9da29254c3a56be4fe185465ebb3bf2a1801f7124bbbadac751e654" },
      { EVALUATED_1, "cc5ac221950a49ceaa73c8db41b82c20372a4c8d63e5dded2db920b7eee36a2a" },
      "cc203910175d786927eeb44ea847328047892ddf8590e723c37205cb74600b0a"
      "5ab5337c8eb4ceae0494c2cf89529dcf94572ed267473d567aeed6ab873dee08",
      "419c4f4f5052c53c45f3da494d2b67b220d02118e0857cdbcf037f9ea84bbe0c",
      { VALUE_1, VALUE_2 },
      2 },
};
enum { BLIND_VECTORS = sizeof blind_vectors / sizeof blind_vectors[0] };

static void make_key(uint8_t secret[32], tacit_voprf_element *key) {
    uint8_t seed[32];
    memset(seed, 0xa3, sizeof seed);
    assert_int_equal(tacit_voprf_derive(secret, key, seed, "test key", NULL), TACIT_OK);
}

static void the_published_vectors_of_the_blind_function_come_out(void **state) {
    (void)state;
    uint8_t secret[32], expected[64];
    tacit_voprf_element key;
    make_key(secret, &key);
    bytes_of(expected, sizeof expected, "e6f73f344b79b379f1a0dd37e07ff62e38d9f71345ce62ae3a9bc60b04ccd909");
    assert_memory_equal(secret, expected, 32);
    bytes_of(expected, sizeof expected, "c803e2cc6b05fc15064549b5920659ca4a77b2cca6f04f6b357009335476ad4e");
    assert_memory_equal(key.bytes, expected, 32);
    for (size_t i = 0; i < BLIND_VECTORS; i++) {
        const blind_vector *one = &blind_vectors[i];
        uint8_t input[2][32], blind[2][32], fixed[32], proof[64], value[64];
        tacit_voprf_element blinded[2], evaluated[2];
        size_t length[2];
        for (size_t j = 0; j < one->count; j++) {
            length[j] = bytes_of(input[j], sizeof input[j], one->input[j]);
            bytes_of(fixed, sizeof fixed, one->blind[j]);
            assert_int_equal(tacit_voprf_blind(blind[j], &blinded[j], input[j], length[j], fixed, NULL),
                             TACIT_OK);
            bytes_of(expected, sizeof expected, one->blinded[j]);
            assert_memory_equal(blinded[j].bytes, expected, 32);
        }
        bytes_of(fixed, sizeof fixed, one->scalar);
        assert_int_equal(tacit_voprf_evaluate(evaluated, proof, secret, blinded, one->count, fixed, NULL),
                         TACIT_OK);
        bytes_of(expected, sizeof expected, one->proof);
        assert_memory_equal(proof, expected, sizeof proof);
        assert_int_equal(tacit_voprf_check(&key, blinded, evaluated, one->count, proof, NULL), TACIT_OK);
        for (size_t j = 0; j < one->count; j++) {
            bytes_of(expected, sizeof expected, one->evaluated[j]);
            assert_memory_equal(evaluated[j].bytes, expected, 32);
            bytes_of(expected, sizeof expected, one->value[j]);
            assert_int_equal(tacit_voprf_finish(value, input[j], length[j], blind[j], &evaluated[j], NULL),
                             TACIT_OK);
            assert_memory_equal(value, expected, sizeof value);
            assert_int_equal(tacit_voprf_value(value, secret, input[j], length[j], NULL), TACIT_OK);
            assert_memory_equal(value, expected, sizeof value);
        }
    }
}

/* The server marks a client by a key of its own, or by another element: the proof tells. */
static void an_evaluation_by_another_key_is_refused(void **state) {
    (void)state;
    uint8_t secret[32], other[32], seed[32] = { 1 }, blind[32], proof[64];
    tacit_voprf_element key, other_key, blinded[2], evaluated[2];
    make_key(secret, &key);
    assert_int_equal(tacit_voprf_derive(other, &other_key, seed, "another", NULL), TACIT_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(tacit_voprf_blind(blind, &blinded[i], &i, sizeof i, NULL, NULL), TACIT_OK);
    assert_int_equal(tacit_voprf_evaluate(evaluated, proof, other, blinded, 1, NULL, NULL), TACIT_OK);
    assert_int_equal(tacit_voprf_check(&key, blinded, evaluated, 1, proof, NULL), TACIT_REFUSED);
    assert_int_equal(tacit_voprf_check(&other_key, blinded, evaluated, 1, proof, NULL), TACIT_OK);
    assert_int_equal(tacit_voprf_evaluate(evaluated, proof, secret, blinded, 2, NULL, NULL), TACIT_OK);
    assert_int_equal(tacit_voprf_check(&key, blinded, evaluated, 2, proof, NULL), TACIT_OK);
    assert_int_equal(tacit_voprf_check(&key, blinded, evaluated, 1, proof, NULL), TACIT_REFUSED);
    tacit_voprf_element swapped[2];
    swapped[0] = evaluated[1];
    swapped[1] = evaluated[0];
    assert_int_equal(tacit_voprf_check(&key, blinded, swapped, 2, proof, NULL), TACIT_REFUSED);
    for (size_t bit = 0; bit < 8 * sizeof proof; bit++) {
        proof[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(tacit_voprf_check(&key, blinded, evaluated, 2, proof, NULL), TACIT_REFUSED);
        proof[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

static void what_is_no_element_is_not_evaluated(void **state) {
    (void)state;
    uint8_t secret[32], proof[64];
    tacit_voprf_element key, evaluated[1], wrong[1] = { { { 0 } } };
    make_key(secret, &key);
    assert_int_equal(tacit_voprf_evaluate(evaluated, proof, secret, wrong, 1, NULL, NULL), TACIT_PROTOCOL);
    memset(wrong[0].bytes, 0xff, 32);
    assert_int_equal(tacit_voprf_evaluate(evaluated, proof, secret, wrong, 1, NULL, NULL), TACIT_PROTOCOL);
    assert_int_equal(tacit_voprf_evaluate(evaluated, proof, secret, wrong, 0, NULL, NULL), TACIT_PROTOCOL);
}

/* What the server has seen fits every receipt alike: for any blinded element and any input there is a scalar that
 * makes one of the other. Here: the same blinded element, explained by two inputs. */
static void a_blinded_element_tells_nothing_of_its_input(void **state) {
    (void)state;
    uint8_t blind[32], again[32], one[32], two[32];
    tacit_voprf_element blinded, other;
    assert_int_equal(tacit_voprf_blind(blind, &blinded, "first", 5, NULL, NULL), TACIT_OK);
    assert_int_equal(tacit_voprf_blind(again, &other, "first", 5, NULL, NULL), TACIT_OK);
    assert_memory_not_equal(blinded.bytes, other.bytes, 32);
    /* Of hashed inputs nobody knows that scalar; of 2 and 3 times the base point it is known. */
    uint8_t two_scalar[32] = { 2 }, three_scalar[32] = { 3 }, inverse[32];
    assert_int_equal(crypto_scalarmult_ristretto255_base(one, two_scalar), 0);
    assert_int_equal(crypto_scalarmult_ristretto255_base(two, three_scalar), 0);
    assert_int_equal(crypto_scalarmult_ristretto255(blinded.bytes, blind, one), 0);
    crypto_core_ristretto255_scalar_invert(inverse, three_scalar);
    crypto_core_ristretto255_scalar_mul(again, blind, two_scalar);
    crypto_core_ristretto255_scalar_mul(again, again, inverse);
    assert_int_equal(crypto_scalarmult_ristretto255(other.bytes, again, two), 0);
    assert_memory_equal(blinded.bytes, other.bytes, 32);
}

int main(void) {
    if (sodium_init() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_vectors_of_the_verifiable_function_come_out),
        cmocka_unit_test(no_bit_of_a_proof_can_be_changed),
        cmocka_unit_test(keys_of_small_order_and_other_encodings_are_refused),
        cmocka_unit_test(the_published_vectors_of_the_blind_function_come_out),
        cmocka_unit_test(an_evaluation_by_another_key_is_refused),
        cmocka_unit_test(what_is_no_element_is_not_evaluated),
        cmocka_unit_test(a_blinded_element_tells_nothing_of_its_input),
    };
    return cmocka_run_group_tests_name("crypto/prf", tests, NULL, NULL);
}
