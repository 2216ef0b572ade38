#include "check.h"
#include "scratch.h"

#include "data/encode.h"
#include "data/schema/schema.h"
#include "rand/stream.h"

static tacit_status parse(tacit_schema **out, const char *text, tacit_error *error) {
    return tacit_schema_parse(out, text, strlen(text), "s.yaml", error);
}

#define LABEL "label: {name: y, classes: [no, yes]}\n"
#define COLUMNS "columns: [{name: a, kind: number, low: 0, high: 1}]\n"

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
          "levels, others and coding belong to categories" },
        { LABEL "columns:\n- {name: a, kind: category, low: 0}\n", "low and high belong to numbers" },
        { LABEL "columns:\n- {name: a, kind: category}\n", "s.yaml:3: category 'a' needs levels" },
        { LABEL "columns:\n- {name: a, kind: category, levels: [x], coding: effect}\n",
          "s.yaml:3: effect coding needs at least two levels" },
        { LABEL "columns:\n- {name: a, kind: category, levels: [x, z], coding: dummy}\n",
          "s.yaml:3: coding must be effect or indicator" },
        { LABEL "columns:\n- {name: a, kind: category, levels: [x, z], mean: 0}\n",
          "mean, sd and date belong to numbers" },
        { LABEL "columns:\n- {name: a, kind: number, low: 0, high: 1, coding: effect}\n",
          "levels, others and coding belong to categories" },
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

static tacit_schema *random_schema(tacit_stream *stream) {
    tacit_schema *schema = NULL;
    tacit_levels names = TACIT_LEVELS_INIT;
    size_t cols = 1 + tacit_stream_below(stream, 6);
    assert_int_equal(tacit_schema_create(&schema, NULL), TACIT_OK);
    add_texts(&names, cols + 1, stream);
    schema->label = strdup(names.text[cols]);
    add_texts(&schema->classes, 2 + tacit_stream_below(stream, 3), stream);
    schema->others = (int32_t)tacit_stream_below(stream, 3) - 1;
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
        if (kind == TACIT_SCHEMA_CATEGORY) {
            add_texts(&column->levels, 1 + tacit_stream_below(stream, 5), stream);
            column->effect = column->levels.count > 1 && tacit_stream_below(stream, 2) > 0;
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
        cmocka_unit_test(layout_does_not_change_the_canonical_text),
        cmocka_unit_test(random_schemas_survive_the_trip),
        cmocka_unit_test(each_mark_of_what_was_read_off_rows_is_refused_and_named),
        cmocka_unit_test(the_marks_survive_and_are_part_of_what_is_hashed),
        cmocka_unit_test(many_long_names_are_cut_and_counted),
        cmocka_unit_test(a_schema_is_saved_and_loaded),
        cmocka_unit_test(rounding_goes_outwards_to_two_digits),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
