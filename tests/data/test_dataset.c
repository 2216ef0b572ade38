#include "check.h"
#include "reading.h"
#include "scratch.h"

#include "data/dataset.h"
#include "data/generate.h"
#include "data/schema/text.h"
#include "rand/stream.h"

#define SCHEMA                                                                                               \
    "label: {name: y, classes: [no, yes]}\ncolumns:\n- {name: age, kind: number, low: 0, high: 100}\n"       \
    "- {name: sex, kind: category, levels: [f, m]}\n"

static const double root_half = 0.70710678118654752;

static void rows_are_encoded_as_the_schema_says(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(SCHEMA);
    tacit_dataset *dataset = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    /* other order, an extra column, out of bounds, missing, unknown */
    CHECK_OK(read_text(&dataset, NULL, "y,extra,sex,age\nyes,1,m,75\nno,2,f,150\nno,,NA,?\nyes,4,x,0\n",
                       schema, NULL, &error),
             error);
    assert_int_equal(dataset->rows, 4);
    assert_int_equal(dataset->features, 4);
    assert_false(dataset->is_sparse);
    assert_false(dataset->bounds_from_data);
    const double scale = root_half / sqrt(2); /* two columns, then the intercept */
    const double expected[4][4] = { { 0.5 * scale, 0, scale, root_half },
                                    { scale, scale, 0, root_half },
                                    { 0, 0, 0, root_half },
                                    { -scale, 0, 0, root_half } };
    static const int32_t labels[] = { 1, 0, 0, 1 };
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(dataset->label[i], labels[i]);
        for (size_t j = 0; j < 4; j++) CHECK_NEAR(dataset->dense.values[4 * i + j], expected[i][j], 1e-12);
    }
    assert_int_equal(dataset->counts.outside_bounds, 1);
    assert_int_equal(dataset->counts.missing, 2);
    assert_int_equal(dataset->counts.unknown_levels, 1);
    char scratch_text[32];
    assert_string_equal(tacit_dataset_feature_name(dataset, 2, scratch_text), "sex=m");
    assert_string_equal(tacit_dataset_feature_name(dataset, 3, scratch_text), "(intercept)");
    tacit_dataset_free(dataset);
    tacit_schema_free(schema);
}

static double first_value(const char *schema_text, const char *text) {
    tacit_schema *schema = schema_of(schema_text);
    tacit_dataset *dataset = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(read_text(&dataset, NULL, text, schema, NULL, &error), error);
    double value = dataset->dense.values[0];
    tacit_dataset_free(dataset);
    tacit_schema_free(schema);
    return value;
}

static void rows_get_inside_the_ball_in_three_ways(void **state) {
    (void)state;
    CHECK_NEAR(first_value(SCHEMA "intercept: no\nrows: bound\n", "age,sex,y\n75,f,no\n"), 0.5 / sqrt(2),
               1e-12);
    CHECK_NEAR(first_value(SCHEMA "intercept: no\nrows: unit\n", "age,sex,y\n75,f,no\n"), 0.5 / sqrt(1.25),
               1e-12);
    CHECK_NEAR(first_value(SCHEMA "intercept: no\nrows: {clip: 4}\n", "age,sex,y\n75,f,no\n"), 0.125, 1e-12);
    CHECK_NEAR(first_value(SCHEMA "intercept: no\nrows: {clip: 0.1}\n", "age,sex,y\n75,f,no\n"),
               0.5 / sqrt(1.25), 1e-12);
    CHECK_NEAR(first_value(SCHEMA "intercept: no\nrows: unit\n", "age,sex,y\n50,,no\n"), 0, 0);
}

static void numbers_are_standardised_and_categories_effect_coded_where_the_schema_says_so(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(
        "label: {name: y, classes: [no, yes]}\ncolumns:\n"
        "- {name: spent, kind: number, low: 0, high: 50, mean: 10, sd: 20}\n"
        "- {name: shop, kind: category, levels: [food, fuel, other], coding: effect}\nintercept: no\n");
    tacit_dataset *dataset = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(read_text(&dataset, NULL, "spent,shop,y\n20,food,no\n99,other,no\n,fuel,no\n0,,no\n", schema,
                       NULL, &error),
             error);
    assert_int_equal(dataset->features, 3);
    const double scale = 1 / sqrt(4 + 2); /* two deviations, and two features of the last level */
    const double expected[4][3] = { { 0.5, 1, 0 }, { 2, -1, -1 }, { 0, 0, 1 }, { -0.5, 0, 0 } };
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 3; j++)
            CHECK_NEAR(dataset->dense.values[3 * i + j], scale * expected[i][j], 1e-12);
    char scratch_text[32];
    assert_string_equal(tacit_dataset_feature_name(dataset, 2, scratch_text), "shop=fuel");
    tacit_dataset_free(dataset);
    tacit_schema_free(schema);
}

static void strict_schemas_refuse_with_the_place(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        { SCHEMA "strict: yes\n", "age,sex,y\n1,f,no\n2,x,no\n", "t.csv:3:2 (sex): 'x' is not one of f, m" },
        { SCHEMA "missing: error\n", "age,sex,y\n1,f,no\n,f,no\n", "t.csv:3:1 (age): a missing value" },
        { SCHEMA "missing: error\n", "age,sex,y\n1,,no\n", "t.csv:2:2 (sex): a missing value" },
        { SCHEMA, "age,sex,y\n1,f,maybe\n", "t.csv:2:3 (y): 'maybe' is not one of no, yes" },
        { SCHEMA, "age,sex,y\n1,f,\n", "t.csv:2:3 (y): a missing value" },
        { SCHEMA, "age,sex,y\nold,f,no\n", "t.csv:2:1 (age): 'old' is not a number; the schema says number" },
        { SCHEMA, "age,Sex,y\n1,f,no\n",
          "t.csv has no column 'sex' (schema); did you mean 'Sex'? Capitals count: write it alike in both" },
        { SCHEMA, "age,sex\n1,f\n", "t.csv has no column 'y' (the schema's label)" },
        { "label: {name: y, classes: [a, b]}\nsparse: 3\nrows: unit\n", "age,y\n1,a\n",
          "is not a LIBSVM file" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_schema *schema = schema_of(cases[i][0]);
        tacit_dataset *dataset = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_not_equal(read_text(&dataset, NULL, cases[i][1], schema, NULL, &error), TACIT_OK);
        assert_null(dataset);
        if (strstr(error.text, cases[i][2]) == NULL) fail_msg("'%s' lacks '%s'", error.text, cases[i][2]);
        tacit_schema_free(schema);
    }
}

static void labels_match_as_text_or_as_numbers_and_others_collect_the_rest(void **state) {
    (void)state;
    tacit_schema *schema = schema_of("label: {name: y, classes: [0, 1], others: 0}\n"
                                     "columns: [{name: a, kind: number, low: 0, high: 1}]\n");
    tacit_dataset *dataset = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(read_text(&dataset, NULL, "a,y\n0,1\n0,1.0\n0,0\n0,7\n0,x\n0,1e0\n", schema, NULL, &error),
             error);
    static const int32_t labels[] = { 1, 1, 0, 0, 0, 1 };
    assert_memory_equal(dataset->label, labels, sizeof labels);
    tacit_dataset_free(dataset);
    tacit_schema_free(schema);
}

static void a_file_without_labels_is_fine_when_asked(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(SCHEMA);
    tacit_dataset *dataset = NULL;
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    tacit_error error = TACIT_ERROR_INIT;
    options.label_optional = true;
    CHECK_OK(read_text(&dataset, NULL, "age,sex\n1,f\n", schema, &options, &error), error);
    assert_null(dataset->label);
    tacit_dataset_free(dataset);
    options.label = "z";
    assert_int_equal(read_text(&dataset, NULL, "age,sex\n1,f\n", schema, &options, &error), TACIT_USAGE);
    options.label = NULL, options.positive = "no";
    assert_int_equal(read_text(&dataset, NULL, "age,sex\n1,f\n", schema, &options, NULL), TACIT_USAGE);
    tacit_schema_free(schema);
}

static void labels_that_are_ignored_may_be_anything(void **state) {
    (void)state;
    static const char *const texts[] = { "age,sex\n1,f\n", "y,age,sex\nneither,1,f\n", "age,sex,y\n1,f,\n" };
    tacit_schema *schema = schema_of(SCHEMA);
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    options.label_ignored = true;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        tacit_dataset *dataset = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(read_text(&dataset, NULL, texts[i], schema, &options, &error), error);
        assert_int_equal(dataset->rows, 1);
        assert_null(dataset->label);
        tacit_dataset_free(dataset);
    }
    tacit_schema_free(schema);
}

static void a_draft_reads_bounds_off_the_data_and_says_so(void **state) {
    (void)state;
    tacit_schema *schema = NULL;
    tacit_dataset *dataset = NULL, *test = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(
        read_text(&dataset, &schema, "a,c,k,y\n1.23,u,5,10\n-17.9,v,5,9\n0,u,5,10\n", NULL, NULL, &error),
        error);
    assert_true(dataset->bounds_from_data);
    assert_string_equal(schema->label, "y");
    assert_string_equal(schema->classes.text[1], "10"); /* numeric order, not that of letters */
    assert_true(schema->columns[0].low == -18 && schema->columns[0].high == 1.3);
    assert_int_equal(schema->columns[1].levels.count, 2);
    assert_int_equal(schema->columns[2].kind, TACIT_SCHEMA_SKIP);
    assert_string_equal(schema->columns[2].note, "every value is the same");
    assert_int_equal(schema->rows, TACIT_ROWS_CLIP);
    assert_int_equal(dataset->counts.outside_bounds + dataset->counts.shortened_rows, 0);
    CHECK_OK(read_text(&test, NULL, "a,c,k,y\n100,w,5,9.0\n", schema, NULL, &error), error);
    assert_int_equal(test->counts.outside_bounds, 1);
    assert_int_equal(test->counts.unknown_levels, 1);
    assert_int_equal(test->label[0], 0);
    assert_true(test->bounds_from_data); /* whichever rows they were */
    assert_true(schema->label_from_rows && schema->clip_from_rows);
    for (size_t i = 0; i < schema->cols; i++) assert_true(schema->columns[i].from_rows);
    tacit_buffer text = TACIT_BUFFER_INIT;
    CHECK_OK(tacit_schema_print(schema, tacit_schema_draft_comment, &text, &error), error);
    assert_non_null(strstr(tacit_buffer_text(&text), "# DRAFT, NOT PRIVATE"));
    assert_non_null(strstr(tacit_buffer_text(&text), "kind: skip, from: rows} # every value is the same"));
    tacit_buffer_clear(&text);
    tacit_dataset_free(dataset);
    tacit_dataset_free(test);
    tacit_schema_free(schema);
}

static void expect_classes(const char *text, const char *label, const char *positive, const char *expected) {
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    options.label = label, options.positive = positive;
    tacit_dataset *dataset = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(read_text(&dataset, NULL, text, NULL, &options, &error), error);
    char got[100] = "";
    for (size_t k = 0; k < dataset->classes.count; k++) strcat(strcat(got, dataset->classes.text[k]), "|");
    for (size_t i = 0; i < dataset->rows; i++) sprintf(got + strlen(got), "%d", dataset->label[i]);
    assert_string_equal(got, expected);
    tacit_dataset_free(dataset);
}

static void label_and_positive_value_can_be_chosen(void **state) {
    (void)state;
    expect_classes("a,y\n1,no\n2,yes\n", NULL, NULL, "no|yes|01");
    expect_classes("a,y\n1,no\n2,yes\n", NULL, "no", "yes|no|10");
    expect_classes("y,a\n1,3\n2,4\n", "y", NULL, "1|2|01");
    expect_classes("a,y\n1,9\n2,10\n3,11\n", NULL, NULL, "9|10|11|012");
    expect_classes("a,y\n1,9\n2,10\n3,11\n", NULL, "10.0", "not 10|10|010");
    expect_classes("a,y\n1,c\n2,b\n3,a\n", NULL, "b", "not b|b|010");
}

static void a_wrong_label_or_value_is_a_usage_error(void **state) {
    (void)state;
    static const struct {
        const char *text, *label, *positive;
        tacit_status status;
        const char *sentence;
    } cases[] = {
        { "age,y\n1,a\n2,b\n", "yy", NULL, TACIT_USAGE,
          "t.csv has no column 'yy' (the option 'label'); did you mean 'y'?" },
        { "age,y\n1,a\n2,b\n", NULL, "zebra", TACIT_USAGE,
          "t.csv has no label value 'zebra' (the option 'positive'); there are a, b" },
        { "age,y\n1,a\n2,a\n", NULL, NULL, TACIT_INPUT, "label 'y' has one value only ('a')" },
        { "age,y\n1,a\n2,\n", NULL, NULL, TACIT_INPUT, "t.csv:3:2 (y): a missing value" },
        { "y\na\nb\n", NULL, NULL, TACIT_INPUT, "no column but the label" },
        { "", NULL, NULL, TACIT_INPUT, "t.csv is empty" },
        { "a,b\n", NULL, NULL, TACIT_INPUT, "t.csv has a header but no rows" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_load_options options = TACIT_LOAD_DEFAULTS;
        options.label = cases[i].label, options.positive = cases[i].positive;
        tacit_dataset *dataset = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_equal(read_text(&dataset, NULL, cases[i].text, NULL, &options, &error), cases[i].status);
        if (strstr(error.text, cases[i].sentence) == NULL)
            fail_msg("'%s' lacks '%s'", error.text, cases[i].sentence);
    }
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_buffer_print(&text, NULL, "a,y\n");
    for (int i = 0; i < 1500; i++) tacit_buffer_print(&text, NULL, "%d,%d.5\n", i, i);
    tacit_dataset *dataset = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(read_text(&dataset, NULL, tacit_buffer_text(&text), NULL, NULL, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "'y' has more than 1000 different values"));
    tacit_buffer_clear(&text);
}

static void a_group_column_names_parties_and_is_no_feature_of_a_draft(void **state) {
    (void)state;
    tacit_dataset *dataset = NULL;
    tacit_schema *schema = NULL;
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    options.group = "site";
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(read_text(&dataset, &schema, "site,a,y\n3,1,no\n1,2,yes\n3,5,no\n", NULL, &options, &error),
             error);
    static const int32_t groups[] = { 0, 1, 0 };
    assert_memory_equal(dataset->group, groups, sizeof groups);
    assert_string_equal(dataset->groups.text[1], "1");
    assert_int_equal(dataset->features, 2);
    assert_string_equal(schema->columns[0].note, "names the party");
    tacit_dataset_free(dataset);
    CHECK_OK(read_text(&dataset, NULL, "site,a,y\n3,1,no\n1,2,yes\n", schema, &options, &error), error);
    assert_int_equal(dataset->groups.count, 2);
    tacit_dataset_free(dataset);
    assert_int_equal(read_text(&dataset, NULL, "site,a,y\n3,1,no\n,2,yes\n", schema, &options, &error),
                     TACIT_INPUT);
    assert_non_null(strstr(error.text, "t.csv:3:1 (site): a missing value"));
    options.group = "sites";
    assert_int_equal(read_text(&dataset, NULL, "site,a,y\n3,1,no\n", schema, &options, NULL), TACIT_USAGE);
    tacit_schema_free(schema);
}

/* A random cell: in bounds, far outside, missing, or no level. */
static void random_cell(tacit_buffer *out, const tacit_schema_column *column, tacit_stream *stream) {
    char number[TACIT_NUMBER_TEXT];
    uint64_t choice = tacit_stream_below(stream, 10);
    if (choice == 0) return;
    if (column->kind == TACIT_SCHEMA_CATEGORY) {
        uint64_t level = tacit_stream_below(stream, column->levels.count + 1);
        tacit_buffer_print(out, NULL, "%s",
                           level < column->levels.count ? column->levels.text[level] : "unheard-of");
        return;
    }
    double width = column->high - column->low;
    double value = column->low + width * (choice == 1 ? 1e6 * (tacit_stream_unit(stream) - 0.5)
                                                      : tacit_stream_unit(stream));
    if (choice == 2) value = column->low;
    if (choice == 3) value = column->high;
    tacit_buffer_print(out, NULL, "%s", tacit_number_to_text(value, number));
}

static void no_row_ever_leaves_the_unit_ball(void **state) {
    (void)state;
    const uint64_t seed = 1618;
    print_message("# seed %llu\n", (unsigned long long)seed);
    tacit_stream stream = tacit_stream_from_seed(seed);
    for (int trial = 0; trial < 60; trial++) {
        tacit_buffer yaml = TACIT_BUFFER_INIT, csv = TACIT_BUFFER_INIT;
        size_t cols = 1 + tacit_stream_below(&stream, 40);
        tacit_buffer_print(&yaml, NULL,
                           "label: {name: y, classes: [a, b]}\nintercept: %s\nrows: %s\ncolumns:\n",
                           trial % 2 ? "yes" : "no",
                           trial % 3 == 0   ? "unit"
                           : trial % 3 == 1 ? "bound"
                                            : "{clip: 0.7}");
        for (size_t j = 0; j < cols; j++) {
            if (tacit_stream_below(&stream, 3) == 0)
                tacit_buffer_print(&yaml, NULL,
                                   "- {name: c%zu, kind: category, levels: [p, q, r, s, t, u]%s}\n", j,
                                   tacit_stream_below(&stream, 2) == 0 ? "" : ", coding: effect");
            else if (tacit_stream_below(&stream, 3) == 0)
                tacit_buffer_print(&yaml, NULL,
                                   "- {name: c%zu, kind: number, low: -7, high: 11, mean: %g, sd: %g}\n", j,
                                   4 * tacit_stream_unit(&stream), 1e-2 + 40 * tacit_stream_unit(&stream));
            else
                tacit_buffer_print(&yaml, NULL, "- {name: c%zu, kind: number, low: %g, high: %g}\n", j,
                                   -1e3 * tacit_stream_unit(&stream),
                                   1e-3 + 1e5 * tacit_stream_unit(&stream));
            tacit_buffer_print(&csv, NULL, "c%zu,", j);
        }
        tacit_buffer_print(&csv, NULL, "y\n");
        tacit_schema *schema = schema_of(tacit_buffer_text(&yaml));
        for (int i = 0; i < 100; i++) {
            for (size_t j = 0; j < cols; j++) {
                random_cell(&csv, &schema->columns[j], &stream);
                tacit_buffer_print(&csv, NULL, ",");
            }
            tacit_buffer_print(&csv, NULL, "a\n");
        }
        tacit_dataset *dense = NULL, *sparse = NULL;
        tacit_load_options options = TACIT_LOAD_DEFAULTS;
        tacit_error error = TACIT_ERROR_INIT;
        options.storage = TACIT_STORAGE_DENSE;
        CHECK_OK(read_text(&dense, NULL, tacit_buffer_text(&csv), schema, &options, &error), error);
        options.storage = TACIT_STORAGE_SPARSE;
        CHECK_OK(read_text(&sparse, NULL, tacit_buffer_text(&csv), schema, &options, &error), error);
        assert_true(sparse->is_sparse && !dense->is_sparse);
        tacit_rows full = tacit_dataset_rows(dense), thin = tacit_dataset_rows(sparse);
        for (size_t i = 0; i < 100; i++) {
            double row[2][300], square = 0;
            tacit_rows_copy(&full, i, row[0]);
            tacit_rows_copy(&thin, i, row[1]);
            assert_memory_equal(row[0], row[1], dense->features * sizeof(double));
            for (size_t j = dense->features; j-- > 0;) square += row[0][j] * row[0][j];
            assert_true(sqrt(square) <= 1 && tacit_rows_norm(&full, i) <= 1 &&
                        tacit_rows_norm(&thin, i) <= 1);
        }
        tacit_dataset_free(dense);
        tacit_dataset_free(sparse);
        tacit_schema_free(schema);
        tacit_buffer_clear(&yaml);
        tacit_buffer_clear(&csv);
    }
}

typedef struct visited {
    size_t rows, blocks, stop_at;
    int64_t labels;
} visited;

static tacit_status visit(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    visited *seen = context;
    assert_int_equal(first, seen->rows);
    if (seen->blocks == seen->stop_at) return tacit_fail(error, TACIT_CANCELLED, "enough");
    for (size_t i = 0; i < block->rows.count; i++) seen->labels += tacit_view_label(block, i);
    seen->rows += block->rows.count;
    seen->blocks++;
    return TACIT_OK;
}

static void mapping_visits_every_row_of_a_view_once_in_order(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(3);
    tacit_dataset *dataset = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_generate_ball(&dataset, 100, 3, NULL, &stream, &error), error);
    tacit_view view = tacit_dataset_view(dataset);
    visited seen = { 0, 0, SIZE_MAX, 0 };
    CHECK_OK(tacit_dataset_map(&view, 7, visit, &seen, &error), error);
    assert_int_equal(seen.rows, 100);
    assert_int_equal(seen.blocks, 15);
    int64_t labels = 0;
    for (size_t i = 0; i < 100; i++) labels += dataset->label[i];
    assert_int_equal(seen.labels, labels);
    static const uint32_t some[] = { 99, 0, 42 };
    tacit_view few = tacit_dataset_subset(dataset, some, 3);
    seen = (visited){ 0, 0, SIZE_MAX, 0 };
    CHECK_OK(tacit_dataset_map(&few, 0, visit, &seen, &error), error);
    assert_int_equal(seen.labels, dataset->label[99] + dataset->label[0] + dataset->label[42]);
    assert_true(tacit_view_sign(&few, 0) == (dataset->label[99] == 1 ? 1 : -1));
    seen = (visited){ 0, 0, 2, 0 };
    assert_int_equal(tacit_dataset_map(&view, 10, visit, &seen, &error), TACIT_CANCELLED);
    assert_int_equal(seen.rows, 20);
    tacit_dataset_free(dataset);
}

static void generated_rows_follow_their_papers(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(11);
    tacit_dataset *ball = NULL, *logistic = NULL;
    double w[10], beta[10];
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_generate_ball(&ball, 20000, 10, w, &stream, &error), error);
    CHECK_OK(tacit_generate_logistic(&logistic, 20000, 10, beta, &stream, &error), error);
    tacit_rows x = tacit_dataset_rows(ball), z = tacit_dataset_rows(logistic);
    double inner = 0, chance = 0, hits = 0;
    for (size_t i = 0; i < 20000; i++) {
        assert_true(tacit_rows_norm(&x, i) <= 1 && tacit_rows_norm(&z, i) <= 1);
        assert_int_equal(ball->label[i], tacit_rows_dot(&x, i, w) > 0);
        inner += tacit_rows_norm(&x, i) < pow(0.5, 0.1); /* half of the volume */
        double p = 1 / (1 + exp(-tacit_rows_dot(&z, i, beta)));
        chance += p, hits += logistic->label[i];
    }
    CHECK_NEAR(inner / 20000, 0.5, 0.02);
    CHECK_NEAR(hits / 20000, chance / 20000, 0.02);
    assert_int_equal(tacit_generate_ball(&ball, 0, 10, NULL, &stream, NULL), TACIT_USAGE);
    tacit_dataset_free(ball);
    tacit_dataset_free(logistic);
}

/* 200 frauds of 2,000 expected, standard deviation 13; those far off are told by the numbers that are
 * shifted. */
static void generated_frauds_are_rare_and_mostly_far_off(void **state) {
    (void)state;
    tacit_dataset *dataset = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(6);
    CHECK_OK(tacit_generate_fraud(&dataset, 2000, 0.1, &stream, &error), error);
    tacit_rows rows = tacit_dataset_rows(dataset);
    size_t frauds = 0, far = 0, fine_far = 0;
    assert_int_equal(dataset->features, TACIT_FRAUD_FEATURES);
    for (size_t i = 0; i < 2000; i++) {
        const double *x = dataset->dense.values + i * TACIT_FRAUD_FEATURES;
        bool is_far = x[0] - x[9] + x[18] - x[21] > 0.6;
        assert_true(tacit_rows_norm(&rows, i) <= 1);
        frauds += dataset->label[i] == 1;
        far += dataset->label[i] == 1 && is_far;
        fine_far += dataset->label[i] == 0 && is_far;
    }
    assert_true(frauds > 110 && frauds < 290);
    assert_true((double)far > 0.4 * (double)frauds && fine_far < 100);
    tacit_dataset_free(dataset);
}

static void a_dataset_written_as_csv_reads_back(void **state) {
    tacit_stream stream = tacit_stream_from_seed(12);
    tacit_dataset *dataset = NULL, *back = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_generate_logistic(&dataset, 2000, 3, NULL, &stream, &error), error);
    CHECK_OK(tacit_dataset_write_csv(dataset, scratch_name(*state, "g.csv"), &error), error);
    CHECK_OK(tacit_dataset_load(&back, NULL, scratch_name(*state, "g.csv"), NULL, NULL, &error), error);
    assert_int_equal(back->rows, 2000);
    assert_memory_equal(back->label, dataset->label, 2000 * sizeof(int32_t));
    assert_string_equal(back->feature_names[2], "x3");
    tacit_dataset_free(back);
    tacit_table *table = NULL;
    tacit_source *source = NULL;
    CHECK_OK(tacit_source_open(&source, scratch_name(*state, "g.csv"), NULL, &error), error);
    CHECK_OK(tacit_table_load(&table, source, NULL, &error), error);
    tacit_source_free(source);
    assert_memory_equal(table->columns[0].number, (double[]){ dataset->dense.values[0] }, sizeof(double));
    tacit_table_free(table);
    assert_int_equal(tacit_dataset_write_csv(dataset, scratch_name(*state, "no/where.csv"), &error),
                     TACIT_IO);
    tacit_dataset_free(dataset);
}

static bool always(void *context) {
    (void)context;
    return true;
}

static void loading_can_be_cancelled(void **state) {
    (void)state;
    tacit_progress progress = { .cancelled = always };
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    options.progress = &progress;
    tacit_dataset *dataset = NULL;
    assert_int_equal(read_text(&dataset, NULL, "a,y\n1,2\n", NULL, &options, NULL), TACIT_CANCELLED);
}

static void the_example_fits_its_schema(void **state) {
    (void)state;
    tacit_schema *schema = NULL;
    tacit_dataset *dataset = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_schema_load(&schema, EXAMPLES "/breast_cancer.schema.yaml", &error), error);
    CHECK_OK(tacit_dataset_load(&dataset, NULL, EXAMPLES "/breast_cancer.csv", schema, NULL, &error), error);
    assert_int_equal(dataset->rows, 569);
    assert_int_equal(dataset->features, 31);
    assert_string_equal(dataset->classes.text[1], "malignant");
    int64_t malignant = 0;
    for (size_t i = 0; i < 569; i++) malignant += dataset->label[i];
    assert_int_equal(malignant, 212);
    assert_int_equal(dataset->counts.missing + dataset->counts.unknown_levels, 0);
    assert_true(dataset->counts.outside_bounds < 569 * 30 / 10); /* usual ranges, not extremes */
    tacit_dataset_free(dataset);
    tacit_schema_free(schema);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_encoded_as_the_schema_says),
        cmocka_unit_test(rows_get_inside_the_ball_in_three_ways),
        cmocka_unit_test(numbers_are_standardised_and_categories_effect_coded_where_the_schema_says_so),
        cmocka_unit_test(strict_schemas_refuse_with_the_place),
        cmocka_unit_test(labels_match_as_text_or_as_numbers_and_others_collect_the_rest),
        cmocka_unit_test(a_file_without_labels_is_fine_when_asked),
        cmocka_unit_test(labels_that_are_ignored_may_be_anything),
        cmocka_unit_test(a_draft_reads_bounds_off_the_data_and_says_so),
        cmocka_unit_test(label_and_positive_value_can_be_chosen),
        cmocka_unit_test(a_wrong_label_or_value_is_a_usage_error),
        cmocka_unit_test(a_group_column_names_parties_and_is_no_feature_of_a_draft),
        cmocka_unit_test(no_row_ever_leaves_the_unit_ball),
        cmocka_unit_test(mapping_visits_every_row_of_a_view_once_in_order),
        cmocka_unit_test(generated_rows_follow_their_papers),
        cmocka_unit_test(generated_frauds_are_rare_and_mostly_far_off),
        cmocka_unit_test(a_dataset_written_as_csv_reads_back),
        cmocka_unit_test(loading_can_be_cancelled),
        cmocka_unit_test(the_example_fits_its_schema),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
