#include "check.h"
#include "scratch.h"

#include <lzma.h>
#include <zlib.h>

#include "base/buffer.h"
#include "data/reading/input.h"
#include "data/schema/text.h"
#include "rand/stream.h"

/* Everything an input yields. */
static tacit_status read_all(tacit_buffer *out, tacit_input *input, tacit_error *error) {
    for (;;) {
        const uint8_t *bytes;
        size_t length;
        TACIT_TRY(tacit_input_next(input, &bytes, &length, error));
        if (length == 0) return TACIT_OK;
        TACIT_TRY(tacit_buffer_append(out, bytes, length, error));
    }
}

static tacit_status read_path(tacit_buffer *out, const char *path, tacit_error *error) {
    tacit_input *input = NULL;
    TACIT_TRY(tacit_input_open(&input, path, error));
    tacit_status status = read_all(out, input, error);
    assert_null(tacit_input_free(input));
    return status;
}

static void gzip(tacit_buffer *out, const uint8_t *bytes, size_t length) {
    z_stream stream = { 0 };
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    uint8_t *at;
    size_t room = deflateBound(&stream, length);
    assert_int_equal(tacit_buffer_reserve(out, room, &at, NULL), TACIT_OK);
    stream.next_in = (uint8_t *)(uintptr_t)bytes;
    stream.avail_in = (uInt)length;
    stream.next_out = at;
    stream.avail_out = (uInt)room;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out->length += room - stream.avail_out;
    deflateEnd(&stream);
}

static void xz(tacit_buffer *out, const uint8_t *bytes, size_t length) {
    uint8_t *at;
    size_t room = lzma_stream_buffer_bound(length), used = 0;
    assert_int_equal(tacit_buffer_reserve(out, room, &at, NULL), TACIT_OK);
    assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, bytes, length, at, &used, room),
                     LZMA_OK);
    out->length += used;
}

/* A megabyte: several chunks of every stage. */
static void make_text(tacit_buffer *out) {
    tacit_stream stream = tacit_stream_from_seed(1);
    while (out->length < 1000000)
        assert_int_equal(
            tacit_buffer_print(out, NULL, "%llu,", (unsigned long long)tacit_stream_u64(&stream)), TACIT_OK);
}

static void plain_gzip_and_xz_read_the_same_whatever_the_name(void **state) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    make_text(&text);
    for (int form = 0; form < 5; form++) {
        tacit_buffer file = TACIT_BUFFER_INIT, got = TACIT_BUFFER_INIT;
        size_t half = text.length / 2;
        tacit_error error = TACIT_ERROR_INIT;
        if (form == 0) assert_int_equal(tacit_buffer_append(&file, text.bytes, text.length, NULL), TACIT_OK);
        if (form == 1) gzip(&file, text.bytes, text.length);
        if (form == 2) xz(&file, text.bytes, text.length);
        if (form == 3) gzip(&file, text.bytes, half), gzip(&file, text.bytes + half, text.length - half);
        if (form == 4) xz(&file, text.bytes, half), xz(&file, text.bytes + half, text.length - half);
        const char *path = scratch_write(*state, "table.csv", file.bytes, file.length);
        CHECK_OK(read_path(&got, path, &error), error);
        assert_int_equal(got.length, text.length);
        assert_memory_equal(got.bytes, text.bytes, text.length);
        tacit_buffer_clear(&file);
        tacit_buffer_clear(&got);
    }
    tacit_buffer_clear(&text);
}

/* Every prefix of a small file, and a flipped bit anywhere in it, is either read right or refused by name. */
static void truncated_and_damaged_files_are_refused_by_name(void **state) {
    (void)state;
    const char text[] = "a,b\n1,2\n3,4\n1,2\n3,4\n1,2\n3,4\n5,6\n";
    for (int form = 0; form < 2; form++) {
        tacit_buffer file = TACIT_BUFFER_INIT;
        if (form == 0)
            gzip(&file, (const uint8_t *)text, sizeof text - 1);
        else
            xz(&file, (const uint8_t *)text, sizeof text - 1);
        for (size_t i = 0; i < 2 * file.length; i++) {
            bool cut = i < file.length;
            size_t at = cut ? i : i - file.length;
            if (cut && at < 6) continue; /* too short to be known as compressed */
            uint8_t saved = file.bytes[at];
            if (!cut) file.bytes[at] ^= 0x10;
            tacit_buffer got = TACIT_BUFFER_INIT;
            tacit_error error = TACIT_ERROR_INIT;
            tacit_input *input = NULL;
            tacit_status status =
                tacit_input_open_memory(&input, file.bytes, cut ? at : file.length, "rows.gz", &error);
            if (status == TACIT_OK) status = read_all(&got, input, &error);
            if (cut) assert_int_equal(status, TACIT_INPUT);
            if (status == TACIT_OK) {
                /* Bits that do not matter (a time stamp), or that make it no compressed file at all. */
                bool untouched = got.length == sizeof text - 1 && memcmp(got.bytes, text, got.length) == 0;
                assert_true(untouched || at < 6);
            } else {
                assert_non_null(strstr(error.text, "rows.gz"));
                assert_non_null(strstr(error.text, "the "));
            }
            file.bytes[at] = saved;
            tacit_input_free(input);
            tacit_buffer_clear(&got);
        }
        tacit_buffer_clear(&file);
    }
}

static void a_file_that_cannot_be_opened_is_named(void **state) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer got = TACIT_BUFFER_INIT;
    assert_int_equal(read_path(&got, scratch_name(*state, "absent.csv"), &error), TACIT_IO);
    assert_non_null(strstr(error.text, "absent.csv: "));
    assert_null(tacit_input_free(NULL));
}

static void every_form_begins_again_after_a_rewind(void **state) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    make_text(&text);
    for (int form = 0; form < 6; form++) { /* plain, gzip and xz; of a file and of memory */
        tacit_buffer packed = TACIT_BUFFER_INIT, got = TACIT_BUFFER_INIT;
        tacit_error error = TACIT_ERROR_INIT;
        tacit_input *input = NULL;
        const uint8_t *bytes = NULL;
        size_t length = 0;
        if (form / 2 == 0) assert_int_equal(tacit_buffer_append(&packed, text.bytes, text.length, NULL), 0);
        if (form / 2 == 1) gzip(&packed, text.bytes, text.length);
        if (form / 2 == 2) xz(&packed, text.bytes, text.length);
        const char *path = scratch_write(*state, "rows", packed.bytes, packed.length);
        CHECK_OK(form % 2 == 0 ? tacit_input_open(&input, path, &error)
                               : tacit_input_open_memory(&input, packed.bytes, packed.length, "rows", &error),
                 error);
        for (int when = 0; when < 3; when++) { /* after a peek, a chunk, all of it */
            CHECK_OK(tacit_input_peek(input, &bytes, &length, &error), error);
            if (when == 1) CHECK_OK(tacit_input_next(input, &bytes, &length, &error), error);
            if (when == 2) CHECK_OK(read_all(&got, input, &error), error);
            got.length = 0;
            CHECK_OK(tacit_input_rewind(input, &error), error);
        }
        CHECK_OK(read_all(&got, input, &error), error);
        assert_int_equal(got.length, text.length);
        assert_memory_equal(got.bytes, text.bytes, text.length);
        tacit_input_free(input);
        tacit_buffer_clear(&packed);
        tacit_buffer_clear(&got);
    }
    tacit_buffer_clear(&text);
}

static void a_peek_takes_nothing(void **state) {
    (void)state;
    tacit_input *input = NULL;
    const uint8_t *bytes;
    size_t length;
    assert_int_equal(tacit_input_open_memory(&input, "abc", 3, "x", NULL), TACIT_OK);
    for (int repeat = 0; repeat < 2; repeat++) {
        assert_int_equal(tacit_input_peek(input, &bytes, &length, NULL), TACIT_OK);
        assert_int_equal(length, 3);
    }
    assert_int_equal(tacit_input_next(input, &bytes, &length, NULL), TACIT_OK);
    assert_memory_equal(bytes, "abc", 3);
    assert_int_equal(tacit_input_next(input, &bytes, &length, NULL), TACIT_OK);
    assert_int_equal(length, 0);
    assert_string_equal(tacit_input_name(input), "x");
    tacit_input_free(input);
}

static bool number(const char *text, double *out) { return tacit_text_to_number(text, strlen(text), out); }

static void numbers_are_decimal_and_finite(void **state) {
    (void)state;
    static const char *const not_numbers[] = { "",    " ",     ".",     "-",      "e5",  "1e",
                                               "1e+", "0x10",  "inf",   "nan",    "1 2", "1,5",
                                               "--1", "1.2.3", "1e999", "-1e400", "1f",  "one" };
    double value;
    for (size_t i = 0; i < sizeof not_numbers / sizeof *not_numbers; i++)
        assert_false(number(not_numbers[i], &value));
    static const char *const numbers[] = { "0",
                                           "-0.0",
                                           "1",
                                           "+1",
                                           "1.",
                                           ".5",
                                           "1e3",
                                           "1E-3",
                                           " 12 ",
                                           "\t7",
                                           "123456789012345678901234567890",
                                           "0.1",
                                           "1e-400",
                                           "2.2250738585072011e-308",
                                           "9007199254740993",
                                           "17.99",
                                           "1.7976931348623157e308",
                                           "1e22",
                                           "1e23" };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        assert_true(number(numbers[i], &value));
        double expected = strtod(numbers[i], NULL);
        assert_memory_equal(&value, &expected, sizeof value);
    }
}

static void numbers_survive_the_trip_through_text(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(7);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = tacit_stream_u64(&stream);
        double value, back;
        memcpy(&value, &bits, sizeof value);
        if (i % 2 == 0) value = (double)(int64_t)(bits % 2000000) / 1000.0 - 1000;
        if (!isfinite(value)) continue;
        char text[TACIT_NUMBER_TEXT];
        tacit_number_to_text(value, text);
        assert_true(number(text, &back));
        assert_true(back == value);
    }
}

static void shown_text_is_short_and_printable(void **state) {
    (void)state;
    char out[TACIT_CELL_TEXT], shown[100] = "";
    assert_string_equal(tacit_text_shown("abc", 3, out), "abc");
    assert_string_equal(tacit_text_shown("a\n\x1b[31m\xff", 8, out), "a??[31m?");
    assert_string_equal(tacit_text_shown("\xc2\x9b"
                                         "1",
                                         3, out),
                        "?1");
    assert_string_equal(tacit_text_shown("\xc3\xa9t\xc3\xa9", 5, out), "\xc3\xa9t\xc3\xa9");
    for (int i = 0; i < 50; i++) strcat(shown, "x");
    assert_int_equal(strlen(tacit_text_shown(shown, 50, out)), 43);
}

static void utf8_is_checked_strictly(void **state) {
    (void)state;
    static const char *const good[] = {
        "", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"
    };
    static const char *const bad[] = {
        "\x80", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80",
        "\xff", "a\xe2\x82"
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(tacit_text_is_utf8(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(tacit_text_is_utf8(bad[i], strlen(bad[i])));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_gzip_and_xz_read_the_same_whatever_the_name),
        cmocka_unit_test(truncated_and_damaged_files_are_refused_by_name),
        cmocka_unit_test(a_file_that_cannot_be_opened_is_named),
        cmocka_unit_test(every_form_begins_again_after_a_rewind),
        cmocka_unit_test(a_peek_takes_nothing),
        cmocka_unit_test(numbers_are_decimal_and_finite),
        cmocka_unit_test(numbers_survive_the_trip_through_text),
        cmocka_unit_test(shown_text_is_short_and_printable),
        cmocka_unit_test(utf8_is_checked_strictly),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
