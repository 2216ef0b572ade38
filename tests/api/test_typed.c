/* Numbers as numbers: options that are set and figures that are read without texts in between. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "library.h"

static sample made;

static int make(void **state) {
    (void)state;
    sample_make(&made);
    return 0;
}

static tacit_options *typed_options(void) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_options *options = NULL;
    CHECK_OK(tacit_options_create(&options, &error), error);
    CHECK_OK(tacit_options_set(options, "method", "plr", &error), error);
    CHECK_OK(tacit_options_set_number(options, "epsilon", 0.1 + 0.2, &error), error);
    CHECK_OK(tacit_options_set_number(options, "lambda", 1e-3, &error), error);
    CHECK_OK(tacit_options_set_count(options, "seed", UINT64_C(9007199254740991), &error), error);
    CHECK_OK(tacit_options_set_setting(options, "loss", "huber", &error), error);
    return options;
}

static void typed_options_are_those_that_are_written(void **state) {
    (void)state;
    tacit_frame *frame = bounded_frame(&made);
    tacit_model *model = fit_with(frame, OPTIONS("method", "plr", "epsilon", "0.30000000000000004", "lambda",
                                                 "0.001", "seed", "9007199254740991", "set", "loss=huber"));
    char *expected = model_text(model);
    tacit_model_free(model);
    model = fit_with(frame, typed_options());
    char *found = model_text(model);
    assert_string_equal(found, expected);
    tacit_string_free(expected);
    tacit_string_free(found);
    tacit_model_free(model);
    tacit_frame_free(frame);
}

static void what_is_no_number_is_refused(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_options *options = NULL;
    CHECK_OK(tacit_options_create(&options, &error), error);
    CHECK_FAILS(tacit_options_set_number(options, "epsilon", (double)NAN, failed), TACIT_USAGE, "NaN");
    CHECK_OK(tacit_options_set_number(options, "epsilon", (double)INFINITY, &error), error);
    CHECK_OK(tacit_options_set_flag(options, "no-header", true, &error), error);
    CHECK_FAILS(tacit_options_set_setting(options, "", "x", failed), TACIT_USAGE, "setting");
    tacit_options_free(options);
}

static void a_promise_is_read_as_numbers(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = bounded_frame(&made);
    tacit_promise promise = TACIT_PROMISE_INIT;
    tacit_model *model = fit_with(frame, OPTIONS("method", "plr", "epsilon", "0.5"));
    CHECK_OK(tacit_model_promise(&promise, model, &error), error);
    assert_true(promise.is_private && !promise.whole_party && !promise.simulated);
    CHECK_NEAR(promise.epsilon, 0.5, 1e-12);
    CHECK_NEAR(promise.delta, 0, 0);
    assert_int_equal(promise.size, sizeof promise);
    tacit_model_free(model);
    model = fit_seeded(frame);
    CHECK_OK(tacit_model_promise(&promise, model, &error), error);
    assert_true(!promise.is_private && promise.simulated && isinf(promise.epsilon));
    tacit_model_free(model);
    tacit_frame_free(frame);
}

/* A library that knows more than the caller writes no further than there is room; one with less room than ever was is refused. */
static void a_structure_is_filled_as_far_as_there_is_room(void **state) {
    (void)state;
    struct later {
        tacit_promise promise;
        char more[16];
    } later = { .promise = TACIT_PROMISE_INIT };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = bounded_frame(&made);
    tacit_model *model = fit_seeded(frame);
    memset(later.more, 7, sizeof later.more);
    later.promise.size = sizeof later; /* of a newer header */
    CHECK_OK(tacit_model_promise(&later.promise, model, &error), error);
    assert_int_equal(later.promise.size, sizeof later);
    for (size_t i = 0; i < sizeof later.more; i++) assert_int_equal(later.more[i], 7);
    later.promise.size = 4;
    CHECK_FAILS(tacit_model_promise(&later.promise, model, failed), TACIT_USAGE, "TACIT_PROMISE_INIT");
    tacit_model_free(model);
    tacit_frame_free(frame);
}

static void an_account_is_read_as_numbers(void **state) {
    (void)state;
    char folder[] = "/tmp/tacit-typed-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/ledger.db", folder);
    tacit_error error = TACIT_ERROR_INIT;
    tacit_spent spent = TACIT_SPENT_INIT;
    tacit_frame *frame = bounded_frame(&made);
    tacit_options *options = OPTIONS("method", "plr", "epsilon", "0.75");
    tacit_ledger *ledger = NULL;
    tacit_model *model = NULL;
    CHECK_OK(tacit_ledger_at(&ledger, path, "patients", &error), error);
    CHECK_OK(tacit_ledger_spent(&spent, ledger, false, &error), error);
    assert_true(!spent.limited && spent.epsilon == 0);
    CHECK_OK(tacit_ledger_limit(ledger, false, 2, 0, &error), error);
    CHECK_OK(tacit_frame_fit(&model, frame, options, ledger, NULL, &error), error);
    CHECK_OK(tacit_ledger_spent(&spent, ledger, false, &error), error);
    assert_true(spent.limited);
    CHECK_NEAR(spent.epsilon, 0.75, 1e-9);
    CHECK_NEAR(spent.limit_epsilon, 2, 0);
    CHECK_NEAR(spent.left_epsilon, 1.25, 1e-9);
    CHECK_OK(tacit_ledger_spent(&spent, ledger, true, &error), error);
    assert_true(!spent.limited);
    tacit_options_free(options);
    tacit_model_free(model);
    tacit_ledger_free(ledger);
    tacit_frame_free(frame);
    for (size_t i = 0; i < 3; i++) {
        static const char *const ends[] = { "", "-wal", "-shm" };
        char file[80];
        snprintf(file, sizeof file, "%s%s", path, ends[i]);
        unlink(file);
    }
    rmdir(folder);
}

static void the_header_tells_its_version(void **state) {
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", TACIT_VERSION_MAJOR, TACIT_VERSION_MINOR, TACIT_VERSION_PATCH);
    assert_string_equal(text, tacit_version());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typed_options_are_those_that_are_written),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(a_promise_is_read_as_numbers),
        cmocka_unit_test(a_structure_is_filled_as_far_as_there_is_room),
        cmocka_unit_test(an_account_is_read_as_numbers),
        cmocka_unit_test(the_header_tells_its_version),
    };
    return cmocka_run_group_tests(tests, make, NULL);
}
