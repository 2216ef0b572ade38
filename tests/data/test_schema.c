#include <stdio.h>
#include <stdlib.h>

#include "schema_text.h"

#include "data/encode.h"
#include "rand/stream.h"

static void a_schema_reads_as_documented(void **state) {
    (void)state;
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(parse(&schema,
                   "label:\n  name: diagnosis\n  classes: [benign, malignant]\n  others: benign\n"
                   "columns:\n  - {name: age, kind: number, low: 0, high: 120}\n"
                   "  - name: sex\n    kind: category\n    levels: [f, m]\n  - {name: id, kind: skip}\n"
                   "missing: error\nstrict: yes\nintercept: no\nrows:\n  clip: 2.5\n",
                   &error),
             error);
    assert_string_equal(schema->label, "diagnosis");
    assert_string_equal(schema->classes.text[1], "malignant");
    assert_int_equal(schema->others, 0);
    assert_int_equal(schema->cols, 3);
    assert_true(schema->columns[0].high == 120 && schema->columns[1].levels.count == 2);
    assert_int_equal(schema->columns[2].kind, TACIT_SCHEMA_SKIP);
    assert_true(schema->missing_is_error && schema->strict && !schema->intercept);
    assert_int_equal(schema->rows, TACIT_ROWS_CLIP);
    assert_true(schema->clip == 2.5);
    assert_int_equal(tacit_schema_features(schema), 3);
    CHECK_NEAR(tacit_schema_density(schema), 2.0 / 3, 1e-15);
    char **names = NULL;
    CHECK_OK(tacit_schema_feature_names(&names, schema, &error), error);
    assert_string_equal(names[0], "age");
    assert_string_equal(names[2], "sex=m");
    tacit_feature_names_free(names, 3);
    tacit_schema_free(schema);
}

static void a_label_may_be_a_number_or_a_count(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    static const char *const good[] = { "label: {name: y, kind: number, low: -2.5, high: 10}\n" COLUMNS,
                                        "label: {name: y, kind: count, low: 0, high: 50}\n" COLUMNS,
                                        "label: {name: y, kind: class, classes: [no, yes]}\n" COLUMNS };
    static const tacit_response kinds[] = { TACIT_RESPONSE_NUMBER, TACIT_RESPONSE_COUNT,
                                            TACIT_RESPONSE_CLASS };
    for (size_t i = 0; i < 3; i++) {
        tacit_schema *schema = NULL, *again = NULL;
        tacit_buffer text = TACIT_BUFFER_INIT, second = TACIT_BUFFER_INIT;
        CHECK_OK(parse(&schema, good[i], &error), error);
        assert_int_equal(schema->response, kinds[i]);
        assert_int_equal(schema->classes.count, i < 2 ? 0 : 2);
        CHECK_OK(tacit_schema_canonical(schema, &text, &error), error);
        CHECK_OK(parse(&again, tacit_buffer_text(&text), &error), error);
        CHECK_OK(tacit_schema_canonical(again, &second, &error), error);
        assert_string_equal(tacit_buffer_text(&text), tacit_buffer_text(&second));
        tacit_buffer_clear(&text);
        tacit_buffer_clear(&second);
        tacit_schema_free(schema);
        tacit_schema_free(again);
    }
    static const char *const bad[][2] = {
        { "label: {name: y, kind: number, low: 0}\n", "needs low and high" },
        { "label: {name: y, kind: number, low: 1, high: 0}\n", "smaller than high" },
        { "label: {name: y, kind: count, low: -1, high: 5}\n", "whole numbers from 0" },
        { "label: {name: y, kind: count, low: 0, high: 5.5}\n", "whole numbers from 0" },
        { "label: {name: y, kind: colour, low: 0, high: 5}\n", "class, number or count" },
        { "label: {name: y, kind: time, low: 0, high: 5}\n", "two columns" },
        { "label: {name: [y], kind: time, low: 0, high: 5}\n", "two columns" },
        { "label: {name: [y, z, x, w], kind: time, low: 0, high: 5}\n", "more than 3" },
        { "label: {name: [y, y], kind: time, low: 0, high: 5}\n", "twice" },
        { "label: {name: [y, z], kind: time, low: -1, high: 5}\n", "not negative" },
        { "label: {name: [y, z], kind: number, low: 0, high: 5}\n", "one column" },
        { "label: {name: [y, z], kind: time, low: 0, high: 5, causes: [a]}\n", "at least two" },
        { "label: {name: y, kind: number, low: 0, high: 5, causes: [a, b]}\n", "of kind time" },
        { "label: {name: [y, z], classes: [a, b]}\n", "one column" },
        { "label: {name: y, kind: number, low: 0, high: 1, classes: [a, b]}\n", "has no classes" },
        { "label: {name: y, classes: [a, b], low: 0, high: 1}\n", "kind number or count" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tacit_schema *schema = NULL;
        char text[300];
        snprintf(text, sizeof text, "%s" COLUMNS, bad[i][0]);
        error = (tacit_error)TACIT_ERROR_INIT;
        assert_int_equal(parse(&schema, text, &error), TACIT_INPUT);
        if (strstr(error.text, bad[i][1]) == NULL) fail_msg("%s", error.text);
        assert_null(schema);
    }
}

static void a_label_may_have_two_columns(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = NULL, *again = NULL;
    tacit_buffer text = TACIT_BUFFER_INIT, second = TACIT_BUFFER_INIT;
    CHECK_OK(parse(&schema,
                   "label: {kind: time, name: [days, \"died, or not\"], low: 0, high: 3650}\n" COLUMNS,
                   &error),
             error);
    assert_int_equal(schema->response, TACIT_RESPONSE_TIME);
    assert_int_equal(tacit_response_columns(schema->response), 2);
    assert_string_equal(schema->label, "days");
    assert_string_equal(schema->event, "died, or not");
    CHECK_OK(tacit_schema_canonical(schema, &text, &error), error);
    CHECK_OK(parse(&again, tacit_buffer_text(&text), &error), error);
    CHECK_OK(tacit_schema_canonical(again, &second, &error), error);
    assert_string_equal(tacit_buffer_text(&text), tacit_buffer_text(&second));
    assert_string_equal(again->event, "died, or not");
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&second);
    tacit_schema_free(schema);
    tacit_schema_free(again);
}

/* Whose row it is: kept through the canonical text, which is that of before where nobody is named. */
static void a_schema_may_name_the_column_of_persons(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = NULL, *again = NULL, *without = NULL;
    tacit_buffer text = TACIT_BUFFER_INIT, plain = TACIT_BUFFER_INIT;
    CHECK_OK(parse(&schema, LABEL COLUMNS "person: \"patient, by number\"\n", &error), error);
    assert_string_equal(schema->person, "patient, by number");
    CHECK_OK(tacit_schema_canonical(schema, &text, &error), error);
    CHECK_OK(parse(&again, tacit_buffer_text(&text), &error), error);
    assert_string_equal(again->person, "patient, by number");
    CHECK_OK(parse(&without, LABEL COLUMNS, &error), error);
    CHECK_OK(tacit_schema_canonical(without, &plain, &error), error);
    assert_null(strstr(tacit_buffer_text(&plain), "person"));
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&plain);
    tacit_schema_free(schema);
    tacit_schema_free(again);
    tacit_schema_free(without);
}

static void the_linear_map_of_features_is_that_of_the_encoder(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = NULL;
    tacit_feature feature[4];
    CHECK_OK(parse(&schema,
                   LABEL "columns:\n  - {name: a, kind: number, low: 10, high: 30}\n"
                         "  - {name: b, kind: category, levels: [x, y]}\nrows: {clip: 3}\n",
                   &error),
             error);
    CHECK_OK(tacit_schema_linear(schema, feature, &error), error);
    double inside = tacit_schema_intercept_value(schema);
    CHECK_NEAR(feature[0].scale * 25 + feature[0].shift, inside / 3 * 0.5, 1e-15);
    assert_true(feature[2].column == 1 && feature[2].level == 1 && feature[3].column == SIZE_MAX);
    CHECK_NEAR(feature[2].scale, inside / 3, 1e-15);
    CHECK_NEAR(feature[3].scale, inside, 0);
    schema->columns[0].mean = 20;
    schema->columns[0].sd = 5;
    CHECK_OK(tacit_schema_linear(schema, feature, &error), error);
    CHECK_NEAR(feature[0].scale * 25 + feature[0].shift, inside / 3, 1e-15);
    schema->columns[1].effect = true;
    assert_int_equal(tacit_schema_linear(schema, feature, NULL), TACIT_USAGE);
    schema->columns[1].effect = false;
    schema->rows = TACIT_ROWS_UNIT;
    assert_int_equal(tacit_schema_linear(schema, feature, NULL), TACIT_USAGE);
    tacit_schema_free(schema);
}

static void the_defaults_are_intercept_fill_and_bound(void **state) {
    (void)state;
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(parse(&schema, LABEL COLUMNS, &error), error);
    assert_true(schema->intercept && !schema->strict && !schema->missing_is_error && schema->others == -1);
    assert_int_equal(schema->rows, TACIT_ROWS_BOUND);
    assert_string_equal(schema->classes.text[0], "no"); /* text, not a truth value */
    tacit_schema_free(schema);
    assert_null(tacit_schema_free(NULL));
}

static void scaled_rows_are_clipped_at_a_number_of_the_columns(void **state) {
    (void)state;
    tacit_schema *schema = NULL;
    CHECK_OK(parse(&schema, LABEL COLUMNS "rows: scaled\n", NULL), (tacit_error)TACIT_ERROR_INIT);
    assert_true(schema->rows == TACIT_ROWS_CLIP && !schema->clip_from_rows);
    CHECK_NEAR(schema->clip, sqrt(tacit_schema_reach(schema) / 8), 0);
    tacit_schema_free(schema);
}

static void what_is_wrong_is_refused_with_its_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        { "", "s.yaml: the schema is empty" },
        { "a: [", "not valid YAML" },
        { "\xff\xfe\xff", "s.yaml: not a text file" },
        { "just text\n", "s.yaml:1: the schema must be a mapping" },
        { COLUMNS, "s.yaml:1: the schema has no label" },
        { LABEL, "s.yaml:1: the schema must have either columns or sparse" },
        { LABEL COLUMNS "sparse: 3\n", "either columns or sparse" },
        { LABEL COLUMNS "colour: red\n",
          "s.yaml:3: unknown key 'colour' in the schema; the keys are label, columns" },
        { LABEL COLUMNS LABEL, "s.yaml:3: key 'label' appears twice" },
        { LABEL COLUMNS "person: ''\n", "s.yaml:3: person must" },
        { LABEL COLUMNS "person: [a]\n", "s.yaml:3: person must" },
        { "label: {name: y, classes: [a, b]}\ncolumns: [{name: u, kind: number, low: 0, high: 1}]\nperson: "
          "u\n",
          "s.yaml:3: person must name a column that is neither the label nor a feature" },
        { "label: {name: y, classes: [a, b]}\ncolumns: [{name: u, kind: number, low: 0, high: 1}]\nperson: "
          "y\n",
          "s.yaml:3: person must name a column that is neither the label nor a feature" },
        { COLUMNS "label: {classes: [a, b]}\n", "s.yaml:2: label has no name" },
        { COLUMNS "label: {name: y}\n", "s.yaml:2: label has no classes" },
        { COLUMNS "label: {name: y, classes: [a]}\n", "s.yaml:2: there must be at least two classes" },
        { COLUMNS "label: {name: y, classes: [a, a]}\n", "s.yaml:2: classes: 'a' appears twice" },
        { COLUMNS "label: {name: y, classes: a}\n", "s.yaml:2: classes must be a list" },
        { COLUMNS "label: {name: y, classes: [a, '']}\n", "s.yaml:2: classes must not be empty" },
        { COLUMNS "label: {name: y, classes: [a, \"b\\0\"]}\n", "s.yaml:2: classes holds a NUL" },
        { COLUMNS "label: {name: y, classes: [a, [b]]}\n", "s.yaml:2: classes must be a single text" },
        { COLUMNS "label: {name: y, classes: [a, b], others: c}\n",
          "s.yaml:2: others must be one of the classes" },
        { COLUMNS "label: {name: a, classes: [a, b]}\n",
          "s.yaml:1: the label 'a' must not be among the columns" },
        { LABEL "columns: {}\n", "s.yaml:2: columns must be a list" },
        { LABEL "columns: []\n", "s.yaml:2: every column is skipped" },
        { LABEL "columns:\n- {name: a, kind: skip}\n", "s.yaml:3: every column is skipped" },
        { LABEL "columns:\n- {kind: skip}\n", "s.yaml:3: a column has no name" },
        { LABEL "columns:\n- {name: a}\n", "s.yaml:3: column 'a' has no kind" },
        { LABEL "columns:\n- {name: a, kind: prose}\n",
          "s.yaml:3: kind must be number, category, text or skip" },
        { LABEL "columns:\n- {name: a, kind: skip}\n- {name: a, kind: skip}\n",
          "s.yaml:4: column 'a' appears twice" },
        { LABEL "columns:\n- {name: a, kind: number}\n", "s.yaml:3: number 'a' needs low and high" },
        { LABEL "columns:\n- {name: a, kind: number, low: 1, high: 1}\n",
          "s.yaml:3: low must be smaller than high" },
        { LABEL "columns:\n- {name: a, kind: number, low: 2, high: 1}\n",
          "s.yaml:3: low must be smaller than high" },
        { LABEL "columns:\n- {name: a, kind: number, low: 0, high: inf}\n",
          "high must be a finite number, not 'inf'" },
        { LABEL "columns:\n- {name: a, kind: number, low: 0, high: 1e200}\n", "high must be within 1e100" },
        { LABEL "columns:\n- {name: a, kind: number, low: -1e200, high: 1}\n", "low must be within 1e100" },
        { LABEL "columns:\n- {name: a, kind: number, low: 0, high: 1e-200}\n", "at least 1e-100 apart" },
        { LABEL "columns:\n- {name: a, kind: number, low: 0, high: 1, levels: [x]}\n",
          "levels, others, recode and coding belong to categories" },
        { LABEL "columns:\n- {name: a, kind: category, low: 0}\n", "low and high belong to numbers" },
        { LABEL "columns:\n- {name: a, kind: category}\n", "s.yaml:3: category 'a' needs levels" },
        { LABEL "columns:\n- {name: a, kind: category, levels: [x], coding: effect}\n",
          "s.yaml:3: effect coding needs at least two levels" },
        { LABEL "columns:\n- {name: a, kind: category, levels: [x, z], coding: dummy}\n",
          "s.yaml:3: coding must be effect or indicator" },
        { LABEL "columns:\n- {name: a, kind: category, levels: [x, z], mean: 0}\n",
          "mean, sd and date belong to numbers" },
        { LABEL "columns:\n- {name: a, kind: number, low: 0, high: 1, coding: effect}\n",
          "levels, others, recode and coding belong to categories" },
        { LABEL "columns:\n- {name: a, kind: number, low: 0, high: 1, mean: 0.5}\n",
          "s.yaml:3: number 'a' needs both mean and sd" },
        { LABEL "columns:\n- {name: a, kind: number, low: 0, high: 1, mean: 2, sd: 1}\n",
          "s.yaml:3: mean must lie between low and high" },
        { LABEL "columns:\n- {name: a, kind: number, low: 0, high: 1, mean: 0, sd: 0}\n",
          "s.yaml:3: sd must be positive" },
        { LABEL "columns:\n- {name: a, kind: number, low: 0, high: 1, mean: 0, sd: 1e-9}\n",
          "s.yaml:3: low and high must be within 1e6 times sd" },
        { LABEL "columns:\n- {name: a, kind: category, levels: []}\n",
          "s.yaml:3: category 'a' has no levels" },
        { LABEL COLUMNS "missing: drop\n", "s.yaml:3: missing must be error, complete-case, impute or fill" },
        { LABEL COLUMNS "strict: maybe\n", "s.yaml:3: strict must be yes or no" },
        { LABEL COLUMNS "intercept: 1\n", "s.yaml:3: intercept must be yes or no" },
        { LABEL COLUMNS "rows: clip\n", "s.yaml:3: rows must be bound, scaled, unit or {clip: C}" },
        { LABEL COLUMNS "rows: {}\n", "s.yaml:3: rows must be bound, scaled, unit or {clip: C}" },
        { LABEL COLUMNS "rows: {clip: 0}\n", "s.yaml:3: clip must be positive" },
        { LABEL COLUMNS "rows: {cut: 1}\n", "s.yaml:3: unknown key 'cut' in rows" },
        { LABEL "sparse: 1.5\nrows: unit\n", "s.yaml:2: sparse must be the number of features" },
        { LABEL "sparse: 5\n", "sparse rows have no bounds" },
        { LABEL "sparse: 5\nrows: bound\n", "s.yaml:3: sparse rows have no bounds" },
        { LABEL COLUMNS "---\na: b\n", "s.yaml:4: one YAML document" },
        { LABEL COLUMNS "? [x]\n: y\n", "s.yaml:3: a key must be a single text" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_schema *schema = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_equal(parse(&schema, cases[i].text, &error), TACIT_INPUT);
        assert_null(schema);
        if (strstr(error.text, cases[i].sentence) == NULL)
            fail_msg("case %zu: '%s' lacks '%s'", i, error.text, cases[i].sentence);
    }
}

/* What is nested deeply takes libyaml time that grows with the square of the depth. */
static void deep_nesting_is_refused_before_it_costs_time(void **state) {
    (void)state;
    enum { DEPTH = 200000 };
    char *text = malloc(2 * DEPTH + 1);
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    assert_non_null(text);
    memset(text, '[', DEPTH);
    memset(text + DEPTH, ']', DEPTH);
    assert_int_equal(tacit_schema_parse(&schema, text, 2 * DEPTH, "deep", &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "nested more than 64 deep"));
    for (size_t i = 0; i < DEPTH; i++) memcpy(text + 2 * i, "- ", 2);
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_schema_parse(&schema, text, 2 * DEPTH, "deep", &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "nested more than 64 deep"));
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_schema_parse(&schema, text, (size_t)5 << 20, "long", &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "more than the 4194304 that are read"));
    assert_null(schema);
    free(text);
}

static void rounding_goes_outwards_to_two_digits(void **state) {
    (void)state;
    static const double cases[][3] = {
        /* value, up, down */
        { 17.99, 18, 17 },
        { 0.1184, 0.12, 0.11 },
        { -17.99, -17, -18 },
        { 0, 0, 0 },
        { 100, 100, 100 },
        { 101, 110, 100 },
        { 99.5, 100, 99 },
        { 0.999, 1, 0.99 },
        { 1e-9, 1e-9, 1e-9 },
        { 0.29, 0.29, 0.29 },
        { 0.07, 0.07, 0.07 },
        { 123456, 130000, 120000 },
        { -0.001234, -0.0012, -0.0013 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(tacit_round_up(cases[i][0]) == cases[i][1]);
        assert_true(tacit_round_down(cases[i][0]) == cases[i][2]);
    }
    assert_true(tacit_round_up(5e-324) == 1e-290 && tacit_round_down(5e-324) == 0);
    tacit_stream stream = tacit_stream_from_seed(5);
    for (int i = 0; i < 5000; i++) {
        double value =
            (tacit_stream_unit(&stream) - 0.5) * pow(10, (double)tacit_stream_below(&stream, 80) - 40);
        double up = tacit_round_up(value), down = tacit_round_down(value);
        assert_true(down <= value && value <= up);
        assert_true(up - down <= 0.1001 * fabs(value));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_schema_reads_as_documented),
        cmocka_unit_test(the_defaults_are_intercept_fill_and_bound),
        cmocka_unit_test(a_label_may_be_a_number_or_a_count),
        cmocka_unit_test(a_label_may_have_two_columns),
        cmocka_unit_test(a_schema_may_name_the_column_of_persons),
        cmocka_unit_test(the_linear_map_of_features_is_that_of_the_encoder),
        cmocka_unit_test(scaled_rows_are_clipped_at_a_number_of_the_columns),
        cmocka_unit_test(what_is_wrong_is_refused_with_its_line),
        cmocka_unit_test(deep_nesting_is_refused_before_it_costs_time),
        cmocka_unit_test(rounding_goes_outwards_to_two_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
