#include "check.h"

#include <endian.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/sum/mask.h"

enum { MOST = 5000, MASKS = 3 };
static const size_t lengths[] = { 1, 7, 8, 9, 1023, 1024, 1025, 4096, MOST };

static void make_masks(tacit_mask masks[MASKS]) {
    for (int m = 0; m < MASKS; m++) {
        memset(masks[m].seed, 17 * m + 1, sizeof masks[m].seed);
        masks[m].subtract = m == 1;
    }
}

static void a_mask_is_the_key_stream_of_its_seed(void **state) {
    (void)state;
    static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES] = { 0 };
    tacit_mask masks[MASKS];
    make_masks(masks);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        uint64_t values[MOST], expected[MOST], stream[MOST];
        for (size_t i = 0; i < lengths[k]; i++) values[i] = expected[i] = i * UINT64_C(0x9E3779B97F4A7C15);
        for (int m = 0; m < MASKS; m++) {
            crypto_stream_chacha20((uint8_t *)stream, lengths[k] * 8, nonce, masks[m].seed);
            for (size_t i = 0; i < lengths[k]; i++)
                expected[i] += masks[m].subtract ? -le64toh(stream[i]) : le64toh(stream[i]);
        }
        assert_int_equal(tacit_mask_apply(values, lengths[k], masks, MASKS, NULL, NULL), TACIT_OK);
        assert_memory_equal(values, expected, lengths[k] * sizeof *values);
    }
}

static void threads_change_nothing_and_opposite_masks_cancel(void **state) {
    (void)state;
    tacit_mask masks[MASKS];
    tacit_pool *pool = NULL;
    uint64_t values[MOST], once[MOST];
    make_masks(masks);
    for (size_t i = 0; i < MOST; i++) values[i] = once[i] = i;
    assert_int_equal(tacit_pool_create(&pool, 3, NULL), TACIT_OK);
    assert_int_equal(tacit_mask_apply(values, MOST, masks, MASKS, pool, NULL), TACIT_OK);
    assert_int_equal(tacit_mask_apply(once, MOST, masks, MASKS, NULL, NULL), TACIT_OK);
    assert_memory_equal(values, once, sizeof values);
    for (int m = 0; m < MASKS; m++) masks[m].subtract = !masks[m].subtract;
    assert_int_equal(tacit_mask_apply(values, MOST, masks, MASKS, pool, NULL), TACIT_OK);
    for (size_t i = 0; i < MOST; i++) assert_int_equal(values[i], i);
    tacit_pool_free(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mask_is_the_key_stream_of_its_seed),
        cmocka_unit_test(threads_change_nothing_and_opposite_masks_cancel),
    };
    return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
