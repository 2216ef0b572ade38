/* Schemas written and read again: nothing is lost, and what was read off rows is marked. */
#include <stdio.h>
#include <stdlib.h>

#include "schema_text.h"
#include "scratch.h"

#include "rand/stream.h"

static void layout_does_not_change_the_canonical_text(void **state) {
    (void)state;
    static const char *const layouts[] = {
        LABEL COLUMNS,
        "# comment\nrows: bound\nintercept: Yes\nmissing: fill\nstrict: no\n"
        "columns:\n  - name: 'a'\n    high: 1.0\n    low: -0.0\n    kind: number\n"
        "label:\n  classes:\n  - \"no\"\n  - 'yes'\n  name: y\n",
    };
    tacit_buffer text[2] = { TACIT_BUFFER_INIT, TACIT_BUFFER_INIT };
    for (int i = 0; i < 2; i++) {
        tacit_schema *schema = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(parse(&schema, layouts[i], &error), error);
        CHECK_OK(tacit_schema_canonical(schema, &text[i], &error), error);
        tacit_schema_free(schema);
    }
    assert_string_equal(tacit_buffer_text(&text[0]), tacit_buffer_text(&text[1]));
    tacit_buffer_clear(&text[0]);
    tacit_buffer_clear(&text[1]);
}

/* A random text of up to `most` code points, awkward ones among them. */
static void random_text(tacit_stream *stream, char *out, size_t most) {
    static const char *const pieces[] = { "a",
                                          "B",
                                          "0",
                                          " ",
                                          "\"",
                                          "'",
                                          "\\",
                                          "\n",
                                          "\t",
                                          "#",
                                          ":",
                                          "-",
                                          "[",
                                          "]",
                                          "{",
                                          "}",
                                          ",",
                                          "&",
                                          "*",
                                          "!",
                                          "|",
                                          ">",
                                          "%",
                                          "@",
                                          "`",
                                          "\x7f",
                                          "\x01",
                                          "\xc2\x85",
                                          "\xe2\x80\xa8",
                                          "\xef\xbb\xbf",
                                          "\xef\xbf\xbe",
                                          "\xc3\xa9",
                                          "\xf0\x9f\x98\x80",
                                          "~" };
    size_t count = 1 + tacit_stream_below(stream, most);
    out[0] = 0;
    while (count-- > 0) strcat(out, pieces[tacit_stream_below(stream, sizeof pieces / sizeof *pieces)]);
}

static void add_texts(tacit_levels *levels, size_t count, tacit_stream *stream) {
    while (levels->count < count) {
        char text[64];
        random_text(stream, text, 8);
        assert_int_equal(tacit_levels_add(levels, text, strlen(text), NULL, NULL), TACIT_OK);
    }
}

/* Texts beside the list that stand for one of it. */
static void add_recode(tacit_recode *recode, const tacit_levels *levels, tacit_stream *stream) {
    for (size_t count = tacit_stream_below(stream, 4); count > 0; count--) {
        char text[64];
        random_text(stream, text, 8);
        if (tacit_levels_find(levels, text, strlen(text)) >= 0 || tacit_text_is_missing(text, strlen(text)) ||
            tacit_levels_find(&recode->from, text, strlen(text)) >= 0)
            continue;
        int32_t level = (int32_t)tacit_stream_below(stream, levels->count);
        assert_int_equal(tacit_recode_add(recode, text, strlen(text), level, NULL), TACIT_OK);
    }
}

static tacit_schema *random_schema(tacit_stream *stream) {
    tacit_schema *schema = NULL;
    tacit_levels names = TACIT_LEVELS_INIT;
    size_t cols = 1 + tacit_stream_below(stream, 6);
    assert_int_equal(tacit_schema_create(&schema, NULL), TACIT_OK);
    add_texts(&names, cols + 1, stream);
    schema->label = strdup(names.text[cols]);
    add_texts(&schema->classes, 2 + tacit_stream_below(stream, 3), stream);
    schema->others = (int32_t)tacit_stream_below(stream, 3) - 1;
    add_recode(&schema->recode, &schema->classes, stream);
    schema->intercept = tacit_stream_below(stream, 2) > 0;
    schema->strict = tacit_stream_below(stream, 2) > 0;
    schema->missing_is_error = tacit_stream_below(stream, 2) > 0;
    schema->complete_case = !schema->missing_is_error && tacit_stream_below(stream, 3) == 0;
    if (tacit_stream_below(stream, 4) == 0) schema->label_missing = TACIT_MISSING_COMPLETE_CASE;
    schema->rows = (tacit_schema_rows)tacit_stream_below(stream, 3);
    schema->clip = tacit_stream_unit(stream) * 10;
    schema->clip_from_rows = schema->rows == TACIT_ROWS_CLIP && tacit_stream_below(stream, 4) == 0;
    schema->label_from_rows = tacit_stream_below(stream, 4) == 0;
    for (size_t i = 0; i < cols; i++) {
        tacit_schema_column *column;
        tacit_schema_kind kind =
            i == 0 ? TACIT_SCHEMA_NUMBER : (tacit_schema_kind)tacit_stream_below(stream, 3);
        assert_int_equal(tacit_schema_add_column(schema, &column, names.text[i], kind, NULL), TACIT_OK);
        column->low = -tacit_stream_unit(stream);
        column->high = tacit_stream_unit(stream) * 1e6;
        column->from_rows = tacit_stream_below(stream, 4) == 0;
        if (kind == TACIT_SCHEMA_NUMBER && tacit_stream_below(stream, 2) > 0) {
            column->mean = column->high * tacit_stream_unit(stream);
            column->sd = 10 + tacit_stream_unit(stream);
        }
        if (kind == TACIT_SCHEMA_NUMBER && tacit_stream_below(stream, 4) == 0) {
            char text[64] = "the ";
            random_text(stream, text + strlen(text), 8);
            column->date = (tacit_date){ TACIT_DATE_AGE, 0 };
            column->date_at = strdup(text);
        }
        if (kind == TACIT_SCHEMA_CATEGORY) {
            add_texts(&column->levels, 1 + tacit_stream_below(stream, 5), stream);
            column->effect = column->levels.count > 1 && tacit_stream_below(stream, 2) > 0;
            add_recode(&column->recode, &column->levels, stream);
        }
        static const tacit_missing number[] = { TACIT_MISSING_DEFAULT,   TACIT_MISSING_ERROR,
                                                TACIT_MISSING_INDICATOR, TACIT_MISSING_VALUE,
                                                TACIT_MISSING_FILL,      TACIT_MISSING_IMPUTE },
                                   category[] = { TACIT_MISSING_DEFAULT, TACIT_MISSING_COMPLETE_CASE,
                                                  TACIT_MISSING_LEVEL, TACIT_MISSING_VALUE };
        if (kind == TACIT_SCHEMA_NUMBER) column->missing = number[tacit_stream_below(stream, 6)];
        if (kind == TACIT_SCHEMA_CATEGORY) column->missing = category[tacit_stream_below(stream, 4)];
        column->fill = column->high * tacit_stream_unit(stream);
    }
    tacit_levels_clear(&names);
    return schema;
}

static void random_schemas_survive_the_trip(void **state) {
    const uint64_t seed = 31415;
    print_message("# seed %llu\n", (unsigned long long)seed);
    tacit_stream stream = tacit_stream_from_seed(seed);
    for (int trial = 0; trial < 300; trial++) {
        tacit_schema *schema = random_schema(&stream), *back = NULL, *again = NULL;
        tacit_buffer text[4] = { TACIT_BUFFER_INIT, TACIT_BUFFER_INIT, TACIT_BUFFER_INIT, TACIT_BUFFER_INIT };
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(tacit_schema_print(schema, "one\n\ntwo", &text[0], &error), error);
        CHECK_OK(parse(&back, tacit_buffer_text(&text[0]), &error), error);
        CHECK_OK(tacit_schema_canonical(schema, &text[1], &error), error);
        CHECK_OK(tacit_schema_canonical(back, &text[2], &error), error);
        assert_string_equal(tacit_buffer_text(&text[1]), tacit_buffer_text(&text[2]));
        CHECK_OK(parse(&again, tacit_buffer_text(&text[1]), &error), error);
        CHECK_OK(tacit_schema_canonical(again, &text[3], &error), error);
        assert_string_equal(tacit_buffer_text(&text[1]), tacit_buffer_text(&text[3]));
        for (int i = 0; i < 4; i++) tacit_buffer_clear(&text[i]);
        tacit_schema_free(schema);
        tacit_schema_free(back);
        tacit_schema_free(again);
    }
    (void)state;
}

static const char marked[] =
    "label: {name: y, classes: [no, yes], from: rows}\n"
    "columns:\n  - {name: a, kind: number, low: 0, high: 1, from: rows}\n"
    "  - {name: b, kind: number, low: 0, high: 1}\n  - {name: c, kind: skip, from: rows}\n"
    "  - {name: d, kind: category, levels: [u, v], from: rows}\n"
    "  - {name: e, kind: text, terms: [fever, cough], from: rows}\nrows: {clip: 2, from: rows}\n";

/* One mark is enough, wherever it is; it names its part, and nothing else does. */
static void each_mark_of_what_was_read_off_rows_is_refused_and_named(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        { LABEL COLUMNS, "" },
        { "label: {name: y, classes: [no, yes], from: rows}\n" COLUMNS, "the classes of 'y'" },
        { "label: {name: y, kind: number, low: 0, high: 9, from: rows}\n" COLUMNS,
          "the bounds of the response 'y'" },
        { LABEL "columns: [{name: a, kind: number, low: 0, high: 1, mean: 0, sd: 1, from: rows}]\n",
          "the column 'a'" },
        { LABEL COLUMNS "rows: {clip: 2, from: rows}\n", "the longest row (clip)" },
        { LABEL "sparse: {features: 7, from: rows}\nrows: unit\n", "the number of features (sparse)" },
        { LABEL "sparse: {features: 7}\nrows: unit\n", "" },
        { marked, "the classes of 'y'; the columns 'a', 'c', 'd' and 1 more; the longest row (clip)" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_schema *schema = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        char text[TACIT_FROM_ROWS_TEXT];
        CHECK_OK(parse(&schema, cases[i][0], &error), error);
        bool public = cases[i][1][0] == 0;
        assert_string_equal(tacit_schema_from_rows_text(schema, text), cases[i][1]);
        assert_int_equal(tacit_schema_is_from_rows(schema), !public);
        assert_int_equal(tacit_schema_check_public(schema, &error), public ? TACIT_OK : TACIT_REFUSED);
        if (!public) assert_non_null(strstr(error.text, cases[i][1]));
        if (!public) assert_non_null(strstr(error.text, "remove 'from: rows'"));
        tacit_schema_free(schema);
    }
}

static void the_marks_survive_and_are_part_of_what_is_hashed(void **state) {
    (void)state;
    tacit_schema *schema = NULL, *back = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(parse(&schema, marked, &error), error);
    for (int canonical = 0; canonical < 2; canonical++) {
        tacit_buffer text = TACIT_BUFFER_INIT, again = TACIT_BUFFER_INIT;
        char said[2][TACIT_FROM_ROWS_TEXT];
        CHECK_OK(canonical ? tacit_schema_canonical(schema, &text, &error)
                           : tacit_schema_print(schema, NULL, &text, &error),
                 error);
        CHECK_OK(parse(&back, tacit_buffer_text(&text), &error), error);
        assert_string_equal(tacit_schema_from_rows_text(schema, said[0]),
                            tacit_schema_from_rows_text(back, said[1]));
        CHECK_OK(tacit_schema_canonical(back, &again, &error), error);
        assert_non_null(strstr(tacit_buffer_text(&again), "yes\"]\n  from: rows\n"));
        assert_non_null(strstr(tacit_buffer_text(&again), "rows: {clip: 2, from: rows}\n"));
        tacit_buffer_clear(&text);
        tacit_buffer_clear(&again);
        back = tacit_schema_free(back);
    }
    tacit_schema_free(schema);
}

/* Names of any length, and many of them, leave room for the end of the sentence. */
static void many_long_names_are_cut_and_counted(void **state) {
    (void)state;
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    char text[TACIT_FROM_ROWS_TEXT];
    CHECK_OK(parse(&schema, LABEL COLUMNS, &error), error);
    for (int i = 0; i < 50; i++) {
        tacit_schema_column *column = NULL;
        char name[600];
        memset(name, 'a' + i % 26, sizeof name - 1);
        name[sizeof name - 1] = 0;
        CHECK_OK(tacit_schema_add_column(schema, &column, name, TACIT_SCHEMA_SKIP, &error), error);
        column->from_rows = true;
    }
    schema->clip_from_rows = true;
    tacit_schema_from_rows_text(schema, text);
    assert_non_null(strstr(text, " and 47 more; the longest row (clip)"));
    assert_int_equal(tacit_schema_check_public(schema, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "remove 'from: rows' beside them"));
    tacit_schema_free(schema);
}

static void a_schema_is_saved_and_loaded(void **state) {
    tacit_schema *schema = NULL, *back = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(parse(&schema, LABEL COLUMNS, &error), error);
    CHECK_OK(tacit_schema_save(schema, tacit_schema_draft_comment, scratch_name(*state, "s.yaml"), &error),
             error);
    CHECK_OK(tacit_schema_load(&back, scratch_name(*state, "s.yaml"), &error), error);
    assert_string_equal(back->label, "y");
    tacit_schema_free(schema);
    tacit_schema_free(back);
    assert_int_equal(tacit_schema_load(&back, scratch_name(*state, "absent.yaml"), &error), TACIT_IO);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout_does_not_change_the_canonical_text),
        cmocka_unit_test(random_schemas_survive_the_trip),
        cmocka_unit_test(each_mark_of_what_was_read_off_rows_is_refused_and_named),
        cmocka_unit_test(the_marks_survive_and_are_part_of_what_is_hashed),
        cmocka_unit_test(many_long_names_are_cut_and_counted),
        cmocka_unit_test(a_schema_is_saved_and_loaded),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
