/* The inner loops: AES against FIPS 197, every engine against the portable one, half gates against AND. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/cipher_parts.h"
#include "crypto/field128_parts.h"
#include "rand/stream.h"

static tacit_stream fresh(void) { return tacit_stream_from_seed(0x5eed); }

static tacit_wire draw(tacit_stream *stream) {
    tacit_wire wire;
    tacit_stream_bytes(stream, &wire, sizeof wire);
    return wire;
}

static tacit_wire wire_of(const char *hex) {
    uint8_t bytes[16];
    tacit_wire wire;
    for (int i = 0; i < 16; i++) {
        const char digits[3] = { hex[2 * i], hex[2 * i + 1], 0 };
        bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    memcpy(&wire, bytes, 16);
    return wire;
}

static void assert_wire_equal(tacit_wire a, tacit_wire b) { assert_memory_equal(&a, &b, sizeof a); }

#define FOR_EACH_ENGINE(engine)                                                                              \
    for (tacit_engine engine = TACIT_ENGINE_PORTABLE; engine < TACIT_ENGINES; engine++)                      \
        if (tacit_engine_available(engine))

/* FIPS 197, appendix A.1: the key schedule. */
static void keys_expand_as_in_the_standard(void **state) {
    (void)state;
    FOR_EACH_ENGINE(engine) {
        tacit_aes_key key;
        tacit_cipher_of(engine)->expand_key(&key, wire_of("2b7e151628aed2a6abf7158809cf4f3c"));
        assert_wire_equal(key.round[1], wire_of("a0fafe1788542cb123a339392a6c7605"));
        assert_wire_equal(key.round[10], wire_of("d014f9a8c9ee2589e13f0cc8b6630ca6"));
    }
}

/* The interface encrypts counters and hashes; both give AES of a block of one's choice. With x = s^-1(block)
 * and the key as start, H(x, 0) xor s(x) = AES_key(block). */
static tacit_wire aes_by_hash(tacit_engine engine, tacit_wire key, tacit_wire block) {
    tacit_hash_key hash = { .start = key };
    tacit_wire x = { { block.half[1] ^ block.half[0], block.half[0] } }, out;
    assert_wire_equal(tacit_orthomorphism(x), block);
    tacit_cipher_of(engine)->hash(&out, &x, &hash, 0, 1);
    return tacit_wire_xor(out, block);
}

static void blocks_encrypt_as_in_the_standard(void **state) {
    (void)state;
    FOR_EACH_ENGINE(engine) {
        /* Appendix B, appendix C.1. */
        assert_wire_equal(aes_by_hash(engine, wire_of("2b7e151628aed2a6abf7158809cf4f3c"),
                                      wire_of("3243f6a8885a308d313198a2e0370734")),
                          wire_of("3925841d02dc09fbdc118597196a0b32"));
        assert_wire_equal(aes_by_hash(engine, wire_of("000102030405060708090a0b0c0d0e0f"),
                                      wire_of("00112233445566778899aabbccddeeff")),
                          wire_of("69c4e0d86a7b0430d8cdb78070b4c55a"));
    }
}

static void check_counters(const tacit_cipher *cipher, tacit_stream *stream) {
    tacit_wire key = draw(stream), out[41];
    tacit_aes_key expanded;
    cipher->expand_key(&expanded, key);
    for (size_t count = 0; count <= 40; count++) {
        tacit_wire mark = draw(stream);
        out[count] = mark;
        cipher->counter(out, &expanded, 7, count);
        assert_wire_equal(out[count], mark);
        for (size_t k = 0; k < count; k++)
            assert_wire_equal(out[k], aes_by_hash(TACIT_ENGINE_PORTABLE, key, (tacit_wire){ { 7 + k, 0 } }));
    }
}

static void counters_are_aes_of_the_counter(void **state) {
    (void)state;
    tacit_stream stream = fresh();
    FOR_EACH_ENGINE(engine) check_counters(tacit_cipher_of(engine), &stream);
#if defined(__x86_64__) /* on a processor that has wide AES, too */
    if (tacit_engine_available(TACIT_ENGINE_AESNI)) check_counters(&tacit_cipher_aesni, &stream);
#endif
}

enum { MOST = 37 };

static void engines_agree(void **state) {
    (void)state;
    tacit_stream stream = fresh();
    for (int is_fixed = 0; is_fixed < 2; is_fixed++) FOR_EACH_ENGINE(engine) {
            const tacit_cipher *cipher = tacit_cipher_of(engine), *plain = &tacit_cipher_portable;
            tacit_hash_key key = { .start = draw(&stream), .is_fixed = is_fixed };
            plain->expand_key(&key.fixed, key.start);
            for (size_t count = 0; count <= MOST; count++) {
                tacit_wire a[MOST], b[MOST], out[2][MOST], delta = draw(&stream);
                uint8_t table[2][MOST * TACIT_GATE_BYTES + 1] = { { 0 } };
                uint64_t tweak = tacit_stream_u64(&stream);
                delta.half[0] |= 1;
                tacit_stream_bytes(&stream, a, sizeof a);
                tacit_stream_bytes(&stream, b, sizeof b);
                plain->hash(out[0], a, &key, tweak, count);
                cipher->hash(out[1], a, &key, tweak, count);
                assert_memory_equal(out[0], out[1], count * sizeof *a);
                plain->garble(out[0], table[0], a, b, delta, &key, tweak, count);
                cipher->garble(out[1], table[1], a, b, delta, &key, tweak, count);
                assert_memory_equal(out[0], out[1], count * sizeof *a);
                assert_memory_equal(table[0], table[1], sizeof table[0]);
                plain->evaluate(out[0], table[0], a, b, &key, tweak, count);
                cipher->evaluate(out[1], table[0], a, b, &key, tweak, count);
                assert_memory_equal(out[0], out[1], count * sizeof *a);
            }
        }
}

/* Every value of both inputs and every colour of both labels of zero. */
static void half_gates_are_and_for_every_value_and_colour(void **state) {
    (void)state;
    tacit_stream stream = fresh();
    for (int is_fixed = 0; is_fixed < 2; is_fixed++) FOR_EACH_ENGINE(engine)
    for (size_t count = 1; count <= 9; count++)
        for (unsigned which = 0; which < 16; which++) {
            const tacit_cipher *cipher = tacit_cipher_of(engine);
            tacit_hash_key key = { .start = draw(&stream), .is_fixed = is_fixed };
            cipher->expand_key(&key.fixed, key.start);
            tacit_wire zero[2][9], label[2][9], out[9], got[9], delta = draw(&stream);
            uint8_t table[9 * TACIT_GATE_BYTES];
            unsigned value[9];
            delta.half[0] |= 1;
            for (size_t k = 0; k < count; k++) {
                value[k] = (which + (unsigned)k) % 16; /* a, b, colour of a, colour of b */
                for (unsigned side = 0; side < 2; side++) {
                    zero[side][k] = draw(&stream);
                    zero[side][k].half[0] =
                        (zero[side][k].half[0] & ~UINT64_C(1)) | (value[k] >> (2 + side) & 1);
                    label[side][k] = tacit_wire_xor(zero[side][k], tacit_wire_if(value[k] >> side, delta));
                }
            }
            cipher->garble(out, table, zero[0], zero[1], delta, &key, 99, count);
            cipher->evaluate(got, table, label[0], label[1], &key, 99, count);
            for (size_t k = 0; k < count; k++)
                assert_wire_equal(got[k],
                                  tacit_wire_xor(out[k], tacit_wire_if(value[k] & value[k] >> 1, delta)));
        }
}

static void rows_become_columns(void **state) {
    (void)state;
    tacit_stream stream = fresh();
    enum { COLUMNS = 1024, STRIDE = COLUMNS / 8 + 24 };
    static uint8_t rows[128 * STRIDE];
    static tacit_wire out[COLUMNS];
    FOR_EACH_ENGINE(engine) {
        tacit_stream_bytes(&stream, rows, sizeof rows);
        tacit_cipher_of(engine)->transpose(out, rows, STRIDE, COLUMNS);
        for (unsigned c = 0; c < COLUMNS; c++)
            for (unsigned r = 0; r < 128; r++)
                if ((out[c].half[r / 64] >> r % 64 & 1) != (rows[r * STRIDE + c / 8] >> c % 8 & 1u))
                    fail_msg("engine %s, row %u, column %u", tacit_engine_name(engine), r, c);
    }
}

/* Bit by bit: a b modulo x^128 + x^7 + x^2 + x + 1. */
static tacit_wire slow_product(tacit_wire a, tacit_wire b) {
    tacit_wire out = { { 0, 0 } };
    for (int i = 127; i >= 0; i--) {
        uint64_t carry = out.half[1] >> 63;
        out.half[1] = out.half[1] << 1 | out.half[0] >> 63;
        out.half[0] = out.half[0] << 1 ^ (carry != 0 ? 0x87 : 0);
        if ((b.half[i / 64] >> i % 64 & 1) != 0) out = tacit_wire_xor(out, a);
    }
    return out;
}

static void polynomials_are_those_of_the_field(void **state) {
    (void)state;
    enum { BLOCKS = 64, TRIALS = 50 };
    tacit_stream stream = fresh();
    const tacit_wire all = { { UINT64_MAX, UINT64_MAX } }, top = { { 0, UINT64_C(1) << 63 } };
    for (int trial = 0; trial < TRIALS; trial++) {
        tacit_wire x[BLOCKS], power[4] = { trial == 0 ? all : trial == 1 ? top : draw(&stream) };
        tacit_wire expected = { { 0, 0 } };
        for (int k = 1; k < 4; k++) {
            power[k] = slow_product(power[k - 1], power[0]);
            assert_wire_equal(tacit_field_multiply(power[k - 1], power[0]), power[k]);
        }
        for (int k = 0; k < BLOCKS; k++) {
            x[k] = trial % 3 == 0 ? all : draw(&stream);
            expected = tacit_wire_xor(slow_product(expected, power[0]), x[k]);
        }
        FOR_EACH_ENGINE(engine)
        assert_wire_equal(tacit_cipher_of(engine)->polynomial(power, x, BLOCKS), expected);
    }
}

static void the_best_engine_is_available(void **state) {
    (void)state;
    assert_true(tacit_engine_available(tacit_engine_best()));
    assert_true(tacit_engine_available(TACIT_ENGINE_PORTABLE));
    assert_string_equal(tacit_engine_name(TACIT_ENGINE_PORTABLE), "portable");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_expand_as_in_the_standard),
        cmocka_unit_test(blocks_encrypt_as_in_the_standard),
        cmocka_unit_test(counters_are_aes_of_the_counter),
        cmocka_unit_test(engines_agree),
        cmocka_unit_test(half_gates_are_and_for_every_value_and_colour),
        cmocka_unit_test(rows_become_columns),
        cmocka_unit_test(polynomials_are_those_of_the_field),
        cmocka_unit_test(the_best_engine_is_available),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
