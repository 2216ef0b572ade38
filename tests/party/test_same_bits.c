/* What must be the same bits on every processor: streams under a key, and the kernels that a library for parties has in
 * place of OpenBLAS, which use no operation that IEEE 754 leaves open. The digests were written on x86-64 and are read on aarch64. */
#include "check.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "num/portable/portable.h"
#include "rand/stream.h"

enum { SIDE = 24, ENTRIES = SIDE * SIDE, DIGEST = 16, TEXT = 2 * DIGEST + 1 };

static const char *digest(const void *bytes, size_t length, char out[TEXT]) {
    uint8_t hash[DIGEST];
    crypto_generichash(hash, sizeof hash, bytes, length, NULL, 0);
    return sodium_bin2hex(out, TEXT, hash, sizeof hash);
}

static void fill(tacit_stream *stream, double *out, size_t count) {
    for (size_t i = 0; i < count; i++) out[i] = 2 * tacit_stream_unit(stream) - 1;
}

static void streams_under_a_seed_are_the_same_bits(void **state) {
    uint8_t bytes[10000], others[sizeof bytes];
    uint64_t small[1000];
    char text[TEXT], again[TEXT];
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(7);
    tacit_stream fork = tacit_stream_fork(&stream, "party", 3, 5);
    tacit_stream_bytes(&fork, bytes, sizeof bytes);
    for (size_t i = 0; i < 1000; i++) small[i] = tacit_stream_below(&fork, 1000003);
    assert_string_equal(digest(bytes, sizeof bytes, text), "05670a49d5435021b6a43d9e930696d1");
    assert_string_equal(digest(small, sizeof small, again), "03fbce090e4a6d847327597a638b2263");
    fork = tacit_stream_fork(&stream, "party", 3, 6);
    tacit_stream_bytes(&fork, others, sizeof others);
    assert_string_not_equal(digest(others, sizeof others, again), text);
}

/* A product, a factor and its solution: sums in a fixed order, divisions and square roots. */
static void portable_kernels_are_the_same_bits(void **state) {
    double a[ENTRIES], b[ENTRIES], c[ENTRIES] = { 0 }, x[SIDE], values[SIDE], vectors[ENTRIES], trace = 0;
    char text[TEXT];
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(11);
    fill(&stream, a, ENTRIES), fill(&stream, b, ENTRIES), fill(&stream, x, SIDE);
    tacit_portable_product(false, true, SIDE, SIDE, SIDE, .7, a, SIDE, b, SIDE, 0, c, SIDE);
    assert_string_equal(digest(c, sizeof c, text), "6cb9837ff5645d4d0adb72afe3121b7d");
    tacit_portable_product(false, true, SIDE, SIDE, SIDE, 1, a, SIDE, a, SIDE, 0, c, SIDE);
    for (size_t i = 0; i < SIDE; i++) c[i * SIDE + i] += 1;
    memcpy(b, c, sizeof b);
    for (size_t i = 0; i < SIDE; i++) trace += c[i * SIDE + i];
    assert_int_equal(tacit_portable_cholesky(SIDE, c, SIDE, 1), 0);
    tacit_portable_backsolve(SIDE, c, SIDE, 1, x);
    assert_string_equal(digest(x, sizeof x, text), "e2d825fec0eb3019d398367e9ae3d506");
    assert_int_equal(tacit_portable_eigen(SIDE, b, values, vectors), 0);
    for (size_t i = 0; i < SIDE; i++)
        trace -= values[i]; /* rotations use hypot, which may differ in the last bit */
    CHECK_NEAR(trace, 0, 1e-10);
    x[0] = nextafter(x[0], 0); /* a single bit shows */
    assert_string_not_equal(digest(x, sizeof x, text), "e2d825fec0eb3019d398367e9ae3d506");
}

/* Right, and not only the same: what was solved solves. */
static void the_solution_solves(void **state) {
    double a[ENTRIES], c[ENTRIES] = { 0 }, kept[ENTRIES], x[SIDE], right[SIDE], product[SIDE] = { 0 };
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(13);
    fill(&stream, a, ENTRIES), fill(&stream, x, SIDE);
    memcpy(right, x, sizeof x);
    tacit_portable_product(false, true, SIDE, SIDE, SIDE, 1, a, SIDE, a, SIDE, 0, c, SIDE);
    for (size_t i = 0; i < SIDE; i++) c[i * SIDE + i] += 1;
    memcpy(kept, c, sizeof c);
    assert_int_equal(tacit_portable_cholesky(SIDE, c, SIDE, 1), 0);
    tacit_portable_backsolve(SIDE, c, SIDE, 1, x);
    tacit_portable_product(false, false, SIDE, 1, SIDE, 1, kept, SIDE, x, 1, 0, product, 1);
    for (size_t i = 0; i < SIDE; i++) CHECK_NEAR(product[i], right[i], 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_under_a_seed_are_the_same_bits),
        cmocka_unit_test(portable_kernels_are_the_same_bits),
        cmocka_unit_test(the_solution_solves),
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests_name("same bits", tests, NULL, NULL);
}
