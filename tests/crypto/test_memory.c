/* Every allocation of garbling and of secure linear algebra fails once: nothing crashes or leaks, and the
 * peer gets an error, not a wait. */
#include "pair.h"

#include "crypto/garble/circuits_fixed.h"
#include "crypto/garble/garble.h"
#include "crypto/linear/secure.h"
#include "failing.h"
#include "keys.h"

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

/* Run both while the `at`th allocation fails; false when there were not this many. */
static bool run_failing(pair_part *part, long at) {
    static bool roles[2] = { true, false };
    pair_thread both[2];
    for (int i = 0; i < 2; i++)
        both[i] = (pair_thread){ .part = part,
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
    bool failed = allocation_failed();
    if (failed) assert_true(both[0].status == TACIT_NO_MEMORY || both[1].status == TACIT_NO_MEMORY);
    for (int i = 0; i < 2; i++)
        assert_true(both[i].status == TACIT_OK ||
                    (failed && (both[i].status == TACIT_NO_MEMORY || both[i].status == TACIT_NETWORK)));
    return failed;
}

static void garbling_survives_every_allocation_that_fails(void **state) {
    (void)state;
    long at = 1;
    while (run_failing(play, at)) at++;
    assert_true(at > 6 && at < 200);
}

static const tacit_paillier_secret *key; /* B's; A has its public half, as all threads may */

static tacit_status convert(tacit_secure *secure, const tacit_share *shares, tacit_error *error) {
    const tacit_paillier_public *public = tacit_paillier_public_of(key);
    bool first = tacit_secure_role(secure) == TACIT_GARBLER;
    tacit_masked_slots layout;
    tacit_ciphertexts *ciphertexts = NULL;
    tacit_share back[2];
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_masked_slots_plan(&layout, public, 100, 5, 0, 1, error));
    if (first) TACIT_CHECK(tacit_ciphertexts_create(&ciphertexts, public, 1, error));
    TACIT_CHECK(tacit_secure_to_ciphertexts(secure, ciphertexts, public, &layout, shares, 2, error));
    TACIT_CHECK(
        tacit_secure_from_ciphertexts(secure, back, 2, &layout, ciphertexts, first ? NULL : key, 0, error));
cleanup:
    tacit_ciphertexts_free(ciphertexts);
    return status;
}

static tacit_status play_secure(tacit_channel *channel, tacit_stream *stream, tacit_secure_engine engine,
                                bool first, tacit_error *error) {
    static const int64_t values[3] = { 16, 3, 16 };
    tacit_secure_settings settings = tacit_secure_defaults();
    tacit_secure *secure = NULL;
    tacit_factored *factor = NULL;
    tacit_share matrix[3], inverse[3], vector[2];
    int64_t opened[2];
    bool less;
    tacit_status status = TACIT_OK;
    settings.engine = engine;
    settings.format = (tacit_fixed){ 12, 5 };
    settings.garble.stream = stream;
    TACIT_CHECK(
        tacit_secure_create(&secure, first ? TACIT_GARBLER : TACIT_EVALUATOR, channel, &settings, error));
    TACIT_CHECK(tacit_secure_input(secure, matrix, TACIT_GARBLER, first ? values : NULL, 3, error));
    TACIT_CHECK(tacit_secure_factor(secure, &factor, matrix, 2, error));
    TACIT_CHECK(tacit_secure_solve(secure, vector, factor, matrix, error));
    TACIT_CHECK(tacit_secure_multiply(secure, vector, matrix, vector, 1, 2, 1, error));
    TACIT_CHECK(tacit_secure_inverse(secure, inverse, factor, error));
    TACIT_CHECK(tacit_secure_all_less(secure, &less, vector, matrix, 1, error));
    TACIT_CHECK(tacit_secure_all_within(secure, &less, &(tacit_secure_range){ inverse, 3, 8, 12 }, 1, error));
    TACIT_CHECK(tacit_secure_open(secure, opened, vector, 1, error));
    TACIT_CHECK(convert(secure, matrix, error));
cleanup:
    tacit_factored_free(factor);
    tacit_secure_free(secure);
    return status;
}

static tacit_status play_yao(tacit_channel *channel, tacit_stream *stream, void *context,
                             tacit_error *error) {
    return play_secure(channel, stream, TACIT_SECURE_YAO, *(const bool *)context, error);
}

static tacit_status play_shares(tacit_channel *channel, tacit_stream *stream, void *context,
                                tacit_error *error) {
    return play_secure(channel, stream, TACIT_SECURE_SHARES, *(const bool *)context, error);
}

/* Setting up takes the time, so of the many allocations only some fail, in each test run others: each of the
 * two servers makes them in turn. */
static void linear_algebra_survives_allocations_that_fail(void **state) {
    (void)state;
    tacit_paillier_secret *secret = stored_key(SHORT_KEY);
    tacit_stream stream = printed_stream();
    key = secret;
    for (int engine = 0; engine < 2; engine++) {
        long at = 1 + (long)tacit_stream_below(&stream, 13);
        while (run_failing(engine == 0 ? play_yao : play_shares, at)) at += 13;
        assert_true(at > 30 && at < 1000);
    }
    tacit_paillier_secret_free(secret);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(garbling_survives_every_allocation_that_fails),
                                        cmocka_unit_test(linear_algebra_survives_allocations_that_fail) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
