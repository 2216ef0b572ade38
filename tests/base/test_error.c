#include "check.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"

static void the_deepest_writer_wins(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_fail(&error, TACIT_INPUT, "row %d", 7), TACIT_INPUT);
    assert_int_equal(tacit_fail(&error, TACIT_IO, "something else"), TACIT_IO);
    assert_string_equal(error.text, "row 7");
    assert_int_equal(error.status, TACIT_INPUT);
    assert_int_equal(tacit_fail_in(&error, TACIT_INPUT, "file %s", "a.csv"), TACIT_INPUT);
    assert_string_equal(error.text, "file a.csv: row 7");
}

static void context_alone_still_says_what_failed(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_fail_in(&error, TACIT_OK, "nothing"), TACIT_OK);
    assert_int_equal(error.status, TACIT_OK);
    tacit_fail_in(&error, TACIT_CORRUPT, "ledger");
    assert_string_equal(error.text, "ledger: stored state is damaged");
    assert_int_equal(tacit_fail(NULL, TACIT_INPUT, "unheard"), TACIT_INPUT);
    assert_int_equal(tacit_fail_in(NULL, TACIT_INPUT, "unheard"), TACIT_INPUT);
}

static void a_long_text_is_cut_not_overrun(void **state) {
    (void)state;
    char text[2 * TACIT_ERROR_TEXT_SIZE];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_fail(&error, TACIT_INPUT, "%s", text);
    for (int i = 0; i < 3; i++) tacit_fail_in(&error, TACIT_INPUT, "%s", text);
    assert_int_equal(strlen(error.text), TACIT_ERROR_TEXT_SIZE - 1);
}

static void the_system_s_reason_is_named(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    errno = ENOENT;
    tacit_fail_errno(&error, "opening", "x.csv");
    assert_string_equal(error.text, "opening x.csv: No such file or directory");
}

static void every_status_has_name_text_and_exit_code(void **state) {
    (void)state;
#define CHECK_STATUS(symbol, value, exit_code, text)                                                         \
    assert_string_equal(tacit_status_name(TACIT_##symbol), #symbol);                                         \
    assert_string_equal(tacit_status_text(TACIT_##symbol), text);                                            \
    assert_int_equal(tacit_status_exit_code(TACIT_##symbol), exit_code);
    TACIT_STATUS_MAP(CHECK_STATUS)
#undef CHECK_STATUS
    assert_string_equal(tacit_status_name((tacit_status)99), "UNKNOWN");
    assert_int_equal(tacit_status_exit_code((tacit_status)99), 1);
}

static void options_of_a_sentence_are_found(void **state) {
    (void)state;
    const char text[] =
        "the option 'Rows' is none; give the option 'test-fraction' or the option 'delta=1e-5', or "
        "the option 'open";
    tacit_named_option one = { .name = NULL };
    assert_true(tacit_text_option(text, &one));
    assert_memory_equal(one.begin, "the option 'test-fraction'", 26);
    assert_ptr_equal(one.end, one.begin + 26);
    assert_int_equal(one.name_length, strlen("test-fraction"));
    assert_memory_equal(one.name, "test-fraction", one.name_length);
    assert_null(one.value);
    assert_true(tacit_text_option(one.end, &one));
    assert_int_equal(one.name_length, strlen("delta"));
    assert_memory_equal(one.name, "delta=1e-5'", 11);
    assert_int_equal(one.value_length, strlen("1e-5"));
    assert_memory_equal(one.value, "1e-5", one.value_length);
    const char *last = one.end;
    assert_false(tacit_text_option(one.end, &one));
    assert_ptr_equal(one.end, last);
    assert_false(tacit_text_option("", &one));
}

static void sizes_that_overflow_are_refused(void **state) {
    (void)state;
    assert_null(tacit_allocate(SIZE_MAX / 2, 4));
    assert_null(tacit_grow(NULL, SIZE_MAX / 2, 4));
    assert_null(tacit_allocate_aligned(SIZE_MAX / 2, 4));
    double *values = tacit_allocate_aligned(3, sizeof *values);
    assert_int_equal((uintptr_t)values % 64, 0);
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_deepest_writer_wins),
        cmocka_unit_test(context_alone_still_says_what_failed),
        cmocka_unit_test(a_long_text_is_cut_not_overrun),
        cmocka_unit_test(the_system_s_reason_is_named),
        cmocka_unit_test(every_status_has_name_text_and_exit_code),
        cmocka_unit_test(options_of_a_sentence_are_found),
        cmocka_unit_test(sizes_that_overflow_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
