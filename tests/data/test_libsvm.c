#include "check.h"

#include <string.h>

#include "data/dataset.h"
#include "data/source/libsvm.h"

static tacit_status parse(tacit_libsvm *out, const char *text, size_t length, size_t dimension,
                          tacit_error *error) {
    tacit_input *input = NULL;
    TACIT_TRY(tacit_input_open_memory(&input, text, length, "t.svm", error));
    tacit_status status = tacit_libsvm_read(out, input, dimension, error);
    tacit_input_free(input);
    return status;
}

static void rows_are_read_into_csr(void **state) {
    (void)state;
    const char text[] = "# head\n+1 1:0.5 3:-2e1 # note\n\n-1\n1.5 2:1\r\n 7 1:1 2:2\t3:3";
    tacit_libsvm file = TACIT_LIBSVM_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(parse(&file, text, sizeof text - 1, 0, &error), error);
    assert_int_equal(file.rows.rows, 4);
    assert_int_equal(file.rows.cols, 3);
    static const size_t start[] = { 0, 2, 2, 3, 6 };
    static const uint32_t column[] = { 0, 2, 1, 0, 1, 2 };
    static const double value[] = { 0.5, -20, 1, 1, 2, 3 }, label[] = { 1, -1, 1.5, 7 };
    assert_memory_equal(file.rows.start, start, sizeof start);
    assert_memory_equal(file.rows.column, column, sizeof column);
    assert_memory_equal(file.rows.value, value, sizeof value);
    assert_memory_equal(file.label, label, sizeof label);
    tacit_libsvm_clear(&file);
    CHECK_OK(parse(&file, "1\n2\n", 4, 5, &error), error);
    assert_int_equal(file.rows.cols, 5);
    tacit_libsvm_clear(&file);
    tacit_libsvm_clear(NULL);
}

static void what_is_wrong_is_refused_with_its_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        { "", "t.svm has no rows" },
        { "# nothing\n", "t.svm has no rows" },
        { "1\n2\n", "t.svm has labels but no features" },
        { "1 1:1\nx 1:1\n", "t.svm:2:1: 'x': the label at the start of a line must be a number" },
        { "1 1:1 5\n", "t.svm:1:3: '5': expected index:value" },
        { "1 qid:3 1:2\n", "t.svm:1:2: 'qid:3': the index before ':' must be a whole number" },
        { "1 :3\n", "t.svm:1:2: ':3': the index before ':' must be a whole number" },
        { "1 0:3\n", "t.svm:1:2: '0:3': indices start at 1" },
        { "1 2:3 2:4\n", "t.svm:1:3: '2:4': indices must ascend" },
        { "1 3:3 2:4\n", "t.svm:1:3: '2:4': indices must ascend" },
        { "1 2:x\n", "t.svm:1:2: '2:x': the value after ':' must be a number" },
        { "1 2:nan\n", "must be a number" },
        { "1 2:\n", "must be a number" },
        { "1 99999999:1\n", "the index is larger than the limit" },
        { "1 99999999999999999999999999:1\n", "the index is larger than the limit" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_libsvm file = TACIT_LIBSVM_INIT;
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_equal(parse(&file, cases[i].text, strlen(cases[i].text), 0, &error), TACIT_INPUT);
        if (strstr(error.text, cases[i].sentence) == NULL)
            fail_msg("'%s' lacks '%s'", error.text, cases[i].sentence);
    }
    tacit_libsvm file = TACIT_LIBSVM_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    char wide[400] = "1 1:";
    memset(wide + 4, '1', 300);
    assert_int_equal(parse(&file, wide, 304, 0, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "too long"));
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(parse(&file, "1 \0", 3, 0, &error), TACIT_INPUT);
    assert_string_equal(error.text, "t.svm:1: a NUL byte; the file is not text");
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(parse(&file, "1 4:1\n", 6, 3, &error), TACIT_INPUT);
    assert_string_equal(error.text, "t.svm:1:2: '4:1': the index is larger than the dimension 3");
    assert_int_equal(parse(&file, "1 4:1\n", 6, (size_t)1 << 40, NULL), TACIT_USAGE);
}

static void the_format_is_told_from_csv(void **state) {
    (void)state;
    static const char *const yes[] = { "1 1:2\n", "-1.5\t3:4 5:6", "# c\n\n+1 1:1\n" };
    static const char *const no[] = { "", "a,b\n1,2\n", "1,2\n", "1 2\n", "1\n", "x 1:2\n", "1 a:2\n" };
    for (size_t i = 0; i < 3; i++)
        assert_true(tacit_libsvm_looks_like((const uint8_t *)yes[i], strlen(yes[i])));
    for (size_t i = 0; i < 7; i++)
        assert_false(tacit_libsvm_looks_like((const uint8_t *)no[i], strlen(no[i])));
}

static tacit_status load(tacit_dataset **out, tacit_schema **drafted, const char *text, const char *name,
                         const tacit_schema *schema, const tacit_load_options *options, tacit_error *error) {
    tacit_input *input = NULL;
    TACIT_TRY(tacit_input_open_memory(&input, text, strlen(text), name, error));
    tacit_status status = tacit_dataset_read(out, drafted, input, schema, options, error);
    tacit_input_free(input);
    return status;
}

static void a_file_becomes_a_dataset_with_an_intercept(void **state) {
    (void)state;
    tacit_dataset *dataset = NULL, *test = NULL;
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(load(&dataset, &schema, "1 1:3 2:4\n-1 3:1\n", "rows", NULL, NULL, &error), error);
    assert_true(dataset->is_sparse && dataset->bounds_from_data && dataset->has_intercept);
    assert_true(schema->label_from_rows && schema->clip_from_rows && schema->sparse_from_rows);
    assert_int_equal(dataset->features, 4);
    assert_string_equal(dataset->classes.text[0], "-1");
    assert_int_equal(dataset->label[0], 1);
    assert_true(schema->sparse == 3 && schema->clip == 5);
    double row[4];
    tacit_rows rows = tacit_dataset_rows(dataset);
    tacit_rows_copy(&rows, 0, row);
    CHECK_NEAR(row[0], 0.6 * sqrt(0.5), 1e-12);
    CHECK_NEAR(row[3], sqrt(0.5), 1e-12);
    assert_true(tacit_rows_norm(&rows, 0) <= 1);
    char scratch[32];
    assert_string_equal(tacit_dataset_feature_name(dataset, 1, scratch), "2");
    assert_string_equal(tacit_dataset_feature_name(dataset, 3, scratch), "(intercept)");
    CHECK_OK(load(&test, NULL, "1.0 1:30 2:40\n", "test.svm.gz", schema, NULL, &error), error);
    assert_int_equal(test->counts.shortened_rows, 1);
    tacit_dataset_free(test);
    tacit_dataset_free(dataset);
    assert_int_equal(load(&test, NULL, "2 1:1\n", "test", schema, NULL, &error), TACIT_INPUT);
    assert_string_equal(error.text, "test: row 1: label 2 is not one of the schema's classes");
    assert_int_equal(load(&test, NULL, "1 4:1\n", "test", schema, NULL, NULL), TACIT_INPUT);
    tacit_schema_free(schema);
}

static void the_extension_decides_before_the_content(void **state) {
    (void)state;
    tacit_dataset *dataset = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(load(&dataset, NULL, "1 1:2\n2 1:3\n", "t.csv.gz", NULL, NULL, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "label '1 1:2' has one value only"));
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(load(&dataset, NULL, "a,b\n1,2\n", "t.libsvm", NULL, NULL, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "t.libsvm:1:1: 'a,b': the label"));
}

static void what_does_not_apply_is_refused(void **state) {
    (void)state;
    tacit_dataset *dataset = NULL;
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    options.label = "y";
    assert_int_equal(load(&dataset, NULL, "1 1:1\n", "t", NULL, &options, NULL), TACIT_USAGE);
    options = (tacit_load_options)TACIT_LOAD_DEFAULTS;
    options.group = "y";
    assert_int_equal(load(&dataset, NULL, "1 1:1\n", "t", NULL, &options, NULL), TACIT_USAGE);
    options = (tacit_load_options)TACIT_LOAD_DEFAULTS;
    options.storage = TACIT_STORAGE_DENSE;
    assert_int_equal(load(&dataset, NULL, "1 1:1\n", "t", NULL, &options, NULL), TACIT_USAGE);
    assert_int_equal(load(&dataset, NULL, "1 1:1\n1 1:2\n", "t", NULL, NULL, NULL), TACIT_INPUT);
    assert_int_equal(load(&dataset, NULL, "1 1:1e101\n2 1:2\n", "t", NULL, NULL, NULL), TACIT_INPUT);
    const char yaml[] =
        "label: {name: y, classes: [1, 2]}\ncolumns: [{name: a, kind: number, low: 0, high: 1}]\n";
    tacit_schema *schema = NULL;
    assert_int_equal(tacit_schema_parse(&schema, yaml, sizeof yaml - 1, "s", NULL), TACIT_OK);
    assert_int_equal(load(&dataset, NULL, "1 1:1\n", "t", schema, NULL, NULL), TACIT_INPUT);
    tacit_schema_free(schema);
    assert_null(dataset);
}

static void labels_that_are_ignored_may_be_of_no_class(void **state) {
    (void)state;
    const char yaml[] = "label: {name: y, classes: [1, 2]}\nsparse: 3\nrows: unit\n";
    tacit_schema *schema = NULL;
    tacit_dataset *dataset = NULL;
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_schema_parse(&schema, yaml, sizeof yaml - 1, "s", &error), error);
    assert_int_equal(load(&dataset, NULL, "7 1:1\n0 2:1\n", "t", schema, &options, NULL), TACIT_INPUT);
    options.label_ignored = true;
    CHECK_OK(load(&dataset, NULL, "7 1:1\n0 2:1\n", "t", schema, &options, &error), error);
    assert_int_equal(dataset->rows, 2);
    assert_null(dataset->label);
    tacit_dataset_free(dataset);
    tacit_schema_free(schema);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_read_into_csr),
        cmocka_unit_test(what_is_wrong_is_refused_with_its_place),
        cmocka_unit_test(the_format_is_told_from_csv),
        cmocka_unit_test(a_file_becomes_a_dataset_with_an_intercept),
        cmocka_unit_test(the_extension_decides_before_the_content),
        cmocka_unit_test(what_does_not_apply_is_refused),
        cmocka_unit_test(labels_that_are_ignored_may_be_of_no_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
