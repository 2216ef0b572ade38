/* What becomes of missing values, column by column. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reading.h"

#include "data/encode.h"
#include "rand/stream.h"

#define LABEL "label: {name: y, classes: [no, yes]}\n"
#define AGE "{name: age, kind: number, low: 0, high: 100"
#define SEX "{name: sex, kind: category, levels: [f, m]"

static tacit_status parse(tacit_schema **out, const char *text, tacit_error *error) {
    return tacit_schema_parse(out, text, strlen(text), "s.yaml", error);
}

/* ---- the schema ---- */

static void a_schema_that_does_not_say_it_has_the_text_it_always_had(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = schema_of(LABEL "columns: [" AGE "}, " SEX "}]\nmissing: error\n");
    tacit_buffer text = TACIT_BUFFER_INIT, encoding = TACIT_BUFFER_INIT;
    CHECK_OK(tacit_schema_canonical(schema, &text, &error), error);
    assert_string_equal(tacit_buffer_text(&text),
                        "label:\n  name: \"y\"\n  classes: [\"no\", \"yes\"]\ncolumns:\n"
                        "  - {name: \"age\", kind: number, low: 0, high: 100}\n"
                        "  - {name: \"sex\", kind: category, levels: [\"f\", \"m\"]}\n"
                        "missing: error\nstrict: no\nintercept: yes\nrows: bound\n");
    CHECK_OK(tacit_schema_encoding_text(schema, &encoding, &error), error);
    assert_string_equal(tacit_buffer_text(&text), tacit_buffer_text(&encoding));
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&encoding);
    tacit_schema_free(schema);
}

static void what_leaves_rows_out_does_not_change_how_the_others_are_encoded(void **state) {
    (void)state;
    static const char *const same[] = {
        LABEL "columns: [" AGE "}, " SEX "}]\n",
        LABEL "columns: [" AGE ", missing: complete-case}, " SEX "}]\n",
        LABEL "columns: [" AGE "}, " SEX ", missing: complete-case}]\n",
        LABEL "columns: [" AGE "}, " SEX "}]\nmissing: complete-case\n",
        "label: {name: y, classes: [no, yes], missing: complete-case}\ncolumns: [" AGE "}, " SEX "}]\n",
        LABEL "columns: [" AGE ", missing: indicator}, " SEX "}]\n",
    };
    tacit_buffer text[6];
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t i = 0; i < 6; i++) {
        tacit_schema *schema = schema_of(same[i]);
        text[i] = (tacit_buffer)TACIT_BUFFER_INIT;
        CHECK_OK(tacit_schema_encoding_text(schema, &text[i], &error), error);
        tacit_schema_free(schema);
    }
    for (size_t i = 1; i < 5; i++)
        assert_string_equal(tacit_buffer_text(&text[0]), tacit_buffer_text(&text[i]));
    assert_string_not_equal(tacit_buffer_text(&text[0]), tacit_buffer_text(&text[5]));
    for (size_t i = 0; i < 6; i++) tacit_buffer_clear(&text[i]);
}

static void what_a_column_says_of_missing_values_survives_the_trip(void **state) {
    (void)state;
    static const char *const words[] = { "missing: error",        "missing: complete-case",
                                         "missing: indicator",    "missing: {fill: 30}",
                                         "missing: fill",         "missing: level",
                                         "missing: {fill: \"m\"}" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char source[256];
        tacit_error error = TACIT_ERROR_INIT;
        tacit_schema *again = NULL;
        tacit_buffer text = TACIT_BUFFER_INIT, second = TACIT_BUFFER_INIT;
        snprintf(source, sizeof source, LABEL "columns: [%s, %s}]\n", i < 5 ? AGE : SEX, words[i]);
        tacit_schema *schema = schema_of(source);
        CHECK_OK(tacit_schema_canonical(schema, &text, &error), error);
        assert_non_null(strstr(tacit_buffer_text(&text), words[i]));
        CHECK_OK(parse(&again, tacit_buffer_text(&text), &error), error);
        CHECK_OK(tacit_schema_canonical(again, &second, &error), error);
        assert_string_equal(tacit_buffer_text(&text), tacit_buffer_text(&second));
        assert_true(tacit_schema_counts_missing(schema));
        tacit_buffer_clear(&text);
        tacit_buffer_clear(&second);
        tacit_schema_free(schema);
        tacit_schema_free(again);
    }
}

static void what_cannot_be_done_with_a_column_is_refused(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        { LABEL "columns: [" AGE ", missing: level}]\n", "write indicator for a number" },
        { LABEL "columns: [" SEX ", missing: indicator}]\n", "write level for a category" },
        { LABEL "columns: [" AGE ", missing: {fill: 101}}]\n", "fill must lie between low and high" },
        { LABEL "columns: [" SEX ", missing: {fill: x}}]\n", "fill must be one of the levels" },
        { LABEL "columns: [" AGE ", missing: drop}]\n", "missing must be error, complete-case" },
        { LABEL "columns: [" AGE ", missing: {value: 3}}]\n", "value" },
        { LABEL "columns: [" AGE "}, {name: b, kind: skip, missing: error}]\n", "skipped" },
        { LABEL "columns: [" AGE "}, {name: t, kind: text, hash: 8, missing: {fill: a}}]\n", "fill: VALUE" },
        { LABEL "columns: [" AGE "}]\nmissing: indicator\n", "a column can say more itself" },
        { "label: {name: y, classes: [no, yes], missing: fill}\ncolumns: [" AGE "}]\n", "complete-case" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_schema *schema = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_equal(parse(&schema, cases[i][0], &error), TACIT_INPUT);
        assert_non_null(strstr(error.text, cases[i][1]));
    }
}

/* ---- rows ---- */

static tacit_dataset *read_rows(const char *text, const tacit_schema *schema,
                                const tacit_load_options *options) {
    tacit_dataset *data = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(read_text(&data, NULL, text, schema, options, &error), error);
    return data;
}

static const char rows_with_gaps[] = "age,sex,who,y\n20,f,a,no\n,m,b,yes\n40,NA,c,yes\n60,m,d,\n80,?,e,no\n"
                                     "nan,,f,yes\n100,m,a,yes\n";

static void incomplete_rows_are_left_out_and_counted(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(LABEL "columns: [" AGE "}, " SEX "}]\nmissing: complete-case\n");
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    options.group = "who";
    tacit_dataset *data = read_rows(rows_with_gaps, schema, &options);
    assert_int_equal(data->rows, 2);
    assert_int_equal(data->counts.left_out, 5);
    assert_int_equal(data->counts.missing, 0);
    assert_int_equal(data->groups.count, 1); /* nobody of whom no row is here */
    uint64_t counts[3];
    tacit_view all = tacit_dataset_view(data), some = tacit_dataset_subset(data, (uint32_t[]){ 1 }, 1);
    assert_int_equal(tacit_view_missing(&all, 3, counts), 5);
    assert_int_equal(counts[0], 2);
    assert_int_equal(counts[1], 3);
    assert_int_equal(counts[2], 1);
    assert_int_equal(tacit_view_missing(&some, 3, counts), 0);
    assert_int_equal(counts[0] + counts[1] + counts[2], 0);
    tacit_dataset_free(data);
    tacit_schema_free(schema);
}

static void a_column_leaves_rows_out_and_others_fill(void **state) {
    (void)state;
    tacit_schema *schema =
        schema_of("label: {name: y, classes: [no, yes], missing: complete-case}\ncolumns: [" AGE
                  ", missing: {fill: 75}}, " SEX ", missing: complete-case}]\n"
                  "intercept: no\n");
    tacit_dataset *data = read_rows(rows_with_gaps, schema, NULL);
    uint64_t counts[3];
    tacit_view all = tacit_dataset_view(data);
    double row[3];
    assert_int_equal(data->rows, 3);
    assert_int_equal(tacit_view_missing(&all, 3, counts), 4);
    assert_true(counts[0] == 2 && counts[1] == 3 && counts[2] == 1);
    tacit_rows_copy(&all.rows, 1, row);
    CHECK_NEAR(row[0], 0.5 / sqrt(2), 1e-12);
    CHECK_NEAR(row[2], 1 / sqrt(2), 1e-12);
    tacit_dataset_free(data);
    tacit_schema_free(schema);
}

static void nothing_but_incomplete_rows_is_an_error(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(LABEL "columns: [" AGE ", missing: complete-case}]\n");
    tacit_dataset *data = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(read_text(&data, NULL, "age,y\n,no\nNA,yes\n", schema, NULL, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "no complete row"));
    tacit_schema_free(schema);
}

/* One answer a row: none can be left out, and the model says nothing of incomplete ones. */
static void rows_to_predict_must_be_complete_where_the_others_were(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(LABEL "columns: [" AGE ", missing: complete-case}, " SEX "}]\n");
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    tacit_dataset *data = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    options.label_optional = true;
    assert_int_equal(read_text(&data, NULL, "age,sex\n1,f\n,m\n", schema, &options, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "t.csv:3:1 (age)"));
    data = read_rows("age,sex\n1,f\n2,\n", schema, &options);
    assert_int_equal(data->rows, 2);
    tacit_dataset_free(data);
    tacit_schema_free(schema);
}

static void an_indicator_and_a_level_are_features_with_names(void **state) {
    (void)state;
    tacit_schema *schema =
        schema_of(LABEL "columns: [" AGE ", missing: indicator}, " SEX ", missing: level}]\nintercept: no\n");
    tacit_error error = TACIT_ERROR_INIT;
    static const char *const expected[] = { "age", "age (missing)", "sex=f", "sex=m", "sex (missing)" };
    char **names = NULL;
    tacit_feature feature[5];
    assert_int_equal(tacit_schema_features(schema), 5);
    CHECK_OK(tacit_schema_feature_names(&names, schema, &error), error);
    for (size_t j = 0; j < 5; j++) assert_string_equal(names[j], expected[j]);
    tacit_feature_names_free(names, 5);
    CHECK_OK(tacit_schema_linear(schema, feature, &error), error);
    assert_true(!feature[0].missing && feature[1].missing && feature[1].column == 0 && feature[1].shift == 0);
    assert_true(feature[4].column == 1 && feature[4].level == 2);
    static const double wanted[2][5] = { { 0.5, 0, 0, 0, 1 }, { 0, 1, 0, 1, 0 } };
    for (int sparse = 0; sparse < 2; sparse++) {
        tacit_load_options options = TACIT_LOAD_DEFAULTS;
        options.storage = sparse ? TACIT_STORAGE_SPARSE : TACIT_STORAGE_DENSE;
        tacit_dataset *data = read_rows("age,sex,y\n75,,no\n?,m,yes\n", schema, &options);
        tacit_rows rows = tacit_dataset_rows(data);
        for (size_t i = 0; i < 2; i++) {
            double row[5];
            tacit_rows_copy(&rows, i, row);
            for (size_t j = 0; j < 5; j++) CHECK_NEAR(row[j], wanted[i][j] / sqrt(2), 1e-12);
        }
        assert_int_equal(data->missing.count, 2);
        assert_true(data->missing.column[0] == 1 && data->missing.row[1] == 1);
        tacit_dataset_free(data);
    }
    tacit_schema_free(schema);
}

/* ---- the bound ---- */

static void print_column(tacit_stream *stream, size_t i, tacit_buffer *out) {
    static const char *const number[] = { "", ", missing: indicator", ", missing: {fill: -1}",
                                          ", missing: fill" };
    static const char *const category[] = { "", ", missing: level", ", missing: {fill: c}" };
    if (tacit_stream_below(stream, 2) > 0) {
        bool scaled = tacit_stream_below(stream, 2) > 0;
        tacit_buffer_print(
            out, NULL, "  - {name: x%zu, kind: number, low: -1, high: %g%s%s}\n", i,
            tacit_stream_unit(stream) * 50,
            scaled ? (tacit_stream_below(stream, 2) > 0 ? ", mean: -0.5, sd: 0.1" : ", mean: -0.5, sd: 900")
                   : "",
            number[tacit_stream_below(stream, 4)]);
    } else {
        tacit_buffer_print(out, NULL, "  - {name: x%zu, kind: category, levels: [a, b, c]%s%s}\n", i,
                           category[tacit_stream_below(stream, 3)],
                           tacit_stream_below(stream, 2) > 0 ? ", coding: effect" : "");
    }
}

static void print_rows(tacit_stream *stream, const tacit_schema *schema, tacit_buffer *out) {
    static const char *const levels[] = { "a", "b", "c", "z", "", "NA" };
    for (size_t i = 0; i < schema->cols; i++) tacit_buffer_print(out, NULL, "x%zu,", i);
    tacit_buffer_print(out, NULL, "y\n");
    for (int row = 0; row < 40; row++) {
        for (size_t i = 0; i < schema->cols; i++) {
            if (schema->columns[i].kind == TACIT_SCHEMA_CATEGORY)
                tacit_buffer_print(out, NULL, "%s,", levels[tacit_stream_below(stream, 6)]);
            else if (tacit_stream_below(stream, 3) == 0)
                tacit_buffer_print(out, NULL, "nan,");
            else
                tacit_buffer_print(out, NULL, "%.17g,", 200 * tacit_stream_unit(stream) - 100);
        }
        tacit_buffer_print(out, NULL, "no\n");
    }
}

/* Whatever the schema says of missing values and whatever the rows are, the norm is at most 1, exactly: every
 * bound on sensitivity rests on it. */
static void no_row_leaves_the_unit_ball_whatever_is_missing(void **state) {
    (void)state;
    const uint64_t seed = 2718;
    print_message("# seed %llu\n", (unsigned long long)seed);
    tacit_stream stream = tacit_stream_from_seed(seed);
    static const char *const ways[] = { "bound", "unit", "{clip: 0.7}" };
    double longest = 0;
    for (int trial = 0; trial < 200; trial++) {
        tacit_buffer text = TACIT_BUFFER_INIT, table = TACIT_BUFFER_INIT;
        size_t cols = 1 + tacit_stream_below(&stream, 5);
        tacit_buffer_print(&text, NULL, LABEL "columns:\n");
        for (size_t i = 0; i < cols; i++) print_column(&stream, i, &text);
        tacit_buffer_print(&text, NULL, "intercept: %s\nrows: %s\n", trial % 2 ? "yes" : "no",
                           ways[trial % 3]);
        tacit_schema *schema = schema_of(tacit_buffer_text(&text));
        print_rows(&stream, schema, &table);
        tacit_dataset *data = read_rows(tacit_buffer_text(&table), schema, NULL);
        tacit_rows rows = tacit_dataset_rows(data);
        double *row = calloc(data->features, sizeof *row);
        assert_non_null(row);
        for (size_t i = 0; i < data->rows; i++) {
            double square = 0;
            tacit_rows_copy(&rows, i, row);
            for (size_t j = 0; j < data->features; j++) square += row[j] * row[j];
            assert_true(sqrt(square) <= 1);
            longest = fmax(longest, sqrt(square));
        }
        free(row);
        tacit_dataset_free(data);
        tacit_schema_free(schema);
        tacit_buffer_clear(&text);
        tacit_buffer_clear(&table);
    }
    assert_true(longest > 0.999); /* the bound is no more than it must be */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_schema_that_does_not_say_it_has_the_text_it_always_had),
        cmocka_unit_test(what_leaves_rows_out_does_not_change_how_the_others_are_encoded),
        cmocka_unit_test(what_a_column_says_of_missing_values_survives_the_trip),
        cmocka_unit_test(what_cannot_be_done_with_a_column_is_refused),
        cmocka_unit_test(incomplete_rows_are_left_out_and_counted),
        cmocka_unit_test(a_column_leaves_rows_out_and_others_fill),
        cmocka_unit_test(nothing_but_incomplete_rows_is_an_error),
        cmocka_unit_test(rows_to_predict_must_be_complete_where_the_others_were),
        cmocka_unit_test(an_indicator_and_a_level_are_features_with_names),
        cmocka_unit_test(no_row_leaves_the_unit_ball_whatever_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
