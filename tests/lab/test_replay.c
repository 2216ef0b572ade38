/* The replay itself: it finds the largest ratio, catches an understated sensitivity, and does not depend on
 * threads. */
#include "lab/audit/audit.h"
#include "parties.h"

/* The worst known pair of avg, under a method that may lie. */
static tacit_status worst_pair(void *context, size_t number, tacit_pair *out, tacit_error *error) {
    const tacit_method *method = context;
    const tacit_auditable *avg = NULL;
    tacit_setting_value unit = { "unit", number % 2 == 0 ? "record" : "party" };
    tacit_audit_setup setup = { .epsilon = 1, .settings = &unit, .setting_count = 1 };
    char text[TACIT_AUDIT_TEXT];
    TACIT_TRY(tacit_auditable_require(&avg, "avg", error));
    TACIT_TRY(avg->pair(out, text, &setup, error));
    out->plan.method = method;
    return TACIT_OK;
}

static tacit_status understated(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                                tacit_error *error) {
    TACIT_TRY(tacit_method_avg.noise(plan, prepared, out, error));
    out->sensitivity /= 2;
    return TACIT_OK;
}

static tacit_replay replay(const tacit_method *method, size_t count, tacit_pool *pool) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_replay result;
    tacit_method copy = *method;
    CHECK_OK(tacit_replay_run(&result, worst_pair, &copy, count, 3, pool, &error), error);
    print_message("# %.6f of the declared %.4f\n", result.ratio, result.declared);
    return result;
}

static void the_worst_pair_is_reported(void **state) {
    (void)state;
    tacit_replay result = replay(&tacit_method_avg, 4, NULL);
    assert_true(result.ratio <= 1 && result.ratio > 0.999);
    assert_int_equal(result.pair, 1);
    CHECK_NEAR(result.shift / result.declared, result.ratio, 0);
    result = replay(&tacit_method_avg, 1, NULL);
    assert_true(result.ratio > 0.85 && result.ratio <= 1);
}

static void a_sensitivity_understated_by_two_is_caught(void **state) {
    (void)state;
    tacit_method liar = tacit_method_avg;
    liar.noise = understated;
    assert_true(replay(&liar, 1, NULL).ratio > 1.7);  /* by a record */
    assert_true(replay(&liar, 2, NULL).ratio > 1.99); /* by a party */
}

static void threads_change_nothing(void **state) {
    (void)state;
    tacit_replay alone = replay(&tacit_method_avg, 7, NULL);
    for (unsigned threads = 1; threads <= 3; threads++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_pool *pool = NULL;
        CHECK_OK(tacit_pool_create(&pool, threads, &error), error);
        tacit_replay shared = replay(&tacit_method_avg, 7, pool);
        assert_memory_equal(&shared, &alone, sizeof shared);
        tacit_pool_free(pool);
    }
}

static tacit_status failing_pair(void *context, size_t number, tacit_pair *out, tacit_error *error) {
    (void)context;
    TACIT_TRY(worst_pair((void *)&tacit_method_avg, number, out, error));
    return tacit_fail(error, TACIT_INPUT, "no such pair");
}

static void what_cannot_be_replayed_is_refused(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_replay result;
    tacit_method silent = tacit_method_avg;
    assert_int_equal(tacit_replay_run(&result, worst_pair, &silent, 0, 1, NULL, &error), TACIT_USAGE);
    silent.noise = NULL;
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_replay_run(&result, worst_pair, &silent, 1, 1, NULL, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "declares no noise"));
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_replay_run(&result, failing_pair, NULL, 2, 1, NULL, &error), TACIT_INPUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worst_pair_is_reported),
        cmocka_unit_test(a_sensitivity_understated_by_two_is_caught),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(what_cannot_be_replayed_is_refused),
    };
    return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
