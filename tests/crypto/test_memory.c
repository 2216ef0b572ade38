/* Every allocation of garbling fails once: nothing crashes or leaks, and the peer gets an error, not a wait. */
#include "pair.h"

#include "crypto/circuits_fixed.h"
#include "crypto/garble.h"
#include "failing.h"

enum { ALL = 16 };

static const tacit_fixed small = { 16, 8 };

static tacit_status play(tacit_channel *channel, tacit_stream *stream, void *context, tacit_error *error) {
    bool garbles = *(const bool *)context;
    tacit_garble_settings settings = tacit_garble_defaults();
    tacit_builder *builder = NULL;
    uint8_t bits[ALL] = { 1, 1 };
    settings.stream = stream;
    TACIT_TRY((garbles ? tacit_garbler_create : tacit_evaluator_create)(&builder, channel, &settings, error));
    tacit_status status = TACIT_NO_MEMORY;
    tacit_wire *x = tacit_scratch(builder, ALL), *y = tacit_scratch(builder, ALL);
    if (x == NULL || y == NULL) goto cleanup;
    /* Larger than a block of scratch, so that the circuit asks for one of its own. */
    if (tacit_scratch(builder, 1 << 14) == NULL) goto cleanup;
    TACIT_CHECK(tacit_input_wires(builder, TACIT_GARBLER, x, garbles ? bits : NULL, ALL));
    TACIT_CHECK(tacit_input_wires(builder, TACIT_EVALUATOR, y, garbles ? NULL : bits, ALL));
    TACIT_CHECK(tacit_fixed_multiply(builder, x, x, y, small, 1));
    TACIT_CHECK(tacit_fixed_divide(builder, x, x, y, small, 1));
    TACIT_CHECK(tacit_fixed_root(builder, x, x, small, 1));
    TACIT_CHECK(tacit_reveal(builder, TACIT_BOTH, bits, x, ALL));
    TACIT_CHECK(tacit_finish(builder));
cleanup:
    tacit_builder_free(builder);
    return status;
}

static void garbling_survives_every_allocation_that_fails(void **state) {
    (void)state;
    static bool roles[2] = { true, false };
    for (long at = 1; at < 200; at++) {
        pair_thread both[2];
        for (int i = 0; i < 2; i++)
            both[i] = (pair_thread){ .part = play,
                                     .context = &roles[i],
                                     .stream = tacit_stream_from_seed((uint64_t)i),
                                     .error = TACIT_ERROR_INIT };
        tacit_error error = TACIT_ERROR_INIT;
        pthread_t thread;
        CHECK_OK(tacit_channel_memory_pair(&both[0].channel, &both[1].channel, &error), error);
        for (int i = 0; i < 2; i++)
            tacit_channel_set_deadline(both[i].channel, tacit_clock_monotonic_ms() + PAIR_PATIENCE_MS);
        fail_allocation(at);
        assert_int_equal(pthread_create(&thread, NULL, pair_main, &both[1]), 0);
        pair_main(&both[0]);
        pthread_join(thread, NULL);
        if (!allocation_failed()) {
            assert_int_equal(both[0].status, TACIT_OK);
            assert_int_equal(both[1].status, TACIT_OK);
            assert_true(at > 6);
            return;
        }
        assert_true(both[0].status == TACIT_NO_MEMORY || both[1].status == TACIT_NO_MEMORY);
        for (int i = 0; i < 2; i++)
            assert_true(both[i].status == TACIT_NO_MEMORY || both[i].status == TACIT_NETWORK ||
                        both[i].status == TACIT_OK);
    }
    fail_msg("never done");
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(garbling_survives_every_allocation_that_fails) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
