#include "check.h"

#include <string.h>

#include "base/buffer.h"

static void a_buffer_holds_what_was_appended(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer buffer = TACIT_BUFFER_INIT;
    CHECK_OK(tacit_buffer_append_u32(&buffer, 0x01020304, &error), error);
    CHECK_OK(tacit_buffer_append_u64(&buffer, 0x1122334455667788u, &error), error);
    CHECK_OK(tacit_buffer_append_double(&buffer, -0.1, &error), error);
    CHECK_OK(tacit_buffer_print(&buffer, &error, "%s-%d", "text", 7), error);
    assert_int_equal(buffer.bytes[0], 4); /* little-endian */
    tacit_cursor cursor = tacit_cursor_over(buffer.bytes, buffer.length);
    uint32_t small;
    uint64_t large;
    double number;
    char text[7] = "";
    assert_true(tacit_cursor_read_u32(&cursor, &small));
    assert_true(tacit_cursor_read_u64(&cursor, &large));
    assert_true(tacit_cursor_read_double(&cursor, &number));
    assert_true(tacit_cursor_read(&cursor, text, 6));
    assert_int_equal(small, 0x01020304);
    assert_true(large == 0x1122334455667788u);
    assert_true(number == -0.1);
    assert_string_equal(text, "text-7");
    assert_int_equal(cursor.left, 0);
    tacit_buffer_clear(&buffer);
}

static void a_cursor_never_reads_beyond_its_end(void **state) {
    (void)state;
    const uint8_t bytes[7] = { 1, 2, 3, 4, 5, 6, 7 };
    for (size_t length = 0; length <= sizeof bytes; length++) {
        tacit_cursor cursor = tacit_cursor_over(bytes, length);
        uint64_t large = 99;
        uint32_t small = 99;
        assert_false(tacit_cursor_read_u64(&cursor, &large));
        assert_int_equal(large, 99);
        assert_int_equal(cursor.left, length);
        assert_int_equal(tacit_cursor_read_u32(&cursor, &small), length >= 4);
        const uint8_t *start;
        assert_false(tacit_cursor_skip(&cursor, &start, SIZE_MAX));
    }
}

static void a_limit_is_kept_and_nothing_changes_beyond_it(void **state) {
    (void)state;
    for (size_t limit = 1; limit < 300; limit += 13) {
        tacit_buffer buffer = TACIT_BUFFER_LIMITED(limit);
        tacit_error error = TACIT_ERROR_INIT;
        for (size_t i = 0; i < limit; i++) CHECK_OK(tacit_buffer_append(&buffer, "x", 1, &error), error);
        assert_int_equal(tacit_buffer_append(&buffer, "y", 1, &error), TACIT_LIMIT);
        assert_int_equal(tacit_buffer_print(&buffer, NULL, "%d", 1), TACIT_LIMIT);
        assert_int_equal(buffer.length, limit);
        assert_int_equal(strlen(tacit_buffer_text(&buffer)), limit);
        tacit_buffer_clear(&buffer);
        CHECK_OK(tacit_buffer_append(&buffer, "z", 1, NULL), error); /* the limit stays, the room is back */
        tacit_buffer_clear(&buffer);
    }
}

static void an_empty_buffer_is_empty_text(void **state) {
    (void)state;
    tacit_buffer buffer = TACIT_BUFFER_INIT;
    assert_string_equal(tacit_buffer_text(&buffer), "");
    assert_int_equal(tacit_buffer_append(&buffer, NULL, 0, NULL), TACIT_OK);
    assert_int_equal(tacit_buffer_print(&buffer, NULL, "%s", ""), TACIT_OK);
    assert_string_equal(tacit_buffer_text(&buffer), "");
    tacit_buffer_clear(&buffer);
    tacit_buffer_clear(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_holds_what_was_appended),
        cmocka_unit_test(a_cursor_never_reads_beyond_its_end),
        cmocka_unit_test(a_limit_is_kept_and_nothing_changes_beyond_it),
        cmocka_unit_test(an_empty_buffer_is_empty_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
