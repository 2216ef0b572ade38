/* Labels of more than one column: read, bounded, mapped over, refused with the place. */
#include "reading.h"
#include "scratch.h"

#define SURVIVAL                                                                                             \
    "label: {name: [days, died], kind: time, low: 0, high: 100}\ncolumns:\n- {name: age, kind: number, "     \
    "low: 0, high: 100}\n"

static tacit_status add_responses(void *context, const tacit_view *block, size_t first, tacit_error *error) {
    double *sums = context;
    (void)first, (void)error;
    for (size_t i = 0; i < block->rows.count; i++) {
        sums[0] += tacit_view_responses(block, i)[0];
        sums[1] += tacit_view_responses(block, i)[1];
    }
    return TACIT_OK;
}

static void a_response_of_two_columns_is_read_bounded_and_mapped(void **state) {
    tacit_schema *schema = schema_of(SURVIVAL);
    tacit_dataset *dataset = NULL, *back = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    /* the second is beyond the bound: there the event was not seen yet */
    CHECK_OK(read_text(&dataset, NULL, "died,age,days\n1,50,10\n1,60,150\n0,70,30\n1,20,40.5\n", schema, NULL,
                       &error),
             error);
    static const double expected[] = { 10, 1, 100, 0, 30, 0, 40.5, 1 };
    assert_int_equal(dataset->response_columns, 2);
    assert_memory_equal(dataset->response, expected, sizeof expected);
    assert_null(dataset->label);
    assert_int_equal(dataset->features, 2); /* neither column of the label is a feature */
    assert_int_equal(dataset->counts.outside_bounds, 1);
    static const uint32_t order[] = { 3, 0, 1 };
    tacit_view view = tacit_dataset_subset(dataset, order, 3);
    assert_true(tacit_view_response(&view, 0) == 40.5 && tacit_view_responses(&view, 1)[1] == 1);
    double sums[2] = { 0, 0 };
    CHECK_OK(tacit_dataset_map(&view, 2, add_responses, sums, &error), error);
    assert_true(sums[0] == 150.5 && sums[1] == 2);
    CHECK_OK(tacit_dataset_write_csv(dataset, scratch_name(*state, "time.csv"), &error), error);
    tacit_schema *written = schema_of("label: {name: [label, event], kind: time, low: 0, high: "
                                      "100}\ncolumns:\n- {name: age, kind: number, low: -1, high: 1}\n");
    CHECK_OK(tacit_dataset_load(&back, NULL, scratch_name(*state, "time.csv"), written, NULL, &error), error);
    assert_memory_equal(back->response, expected, sizeof expected);
    tacit_dataset_free(dataset);
    tacit_dataset_free(back);
    tacit_schema_free(schema);
    tacit_schema_free(written);
}

static void a_response_of_two_columns_is_refused_with_the_place(void **state) {
    static const char *const bad[][2] = {
        { "days,died,age\n1,1,5\n1,2,5\n", "row 2: days is 1 and died is 2" },
        { "days,died,age\n-1,1,5\n", "days is -1" },
        { "days,age\n1,5\n", "'died'" },
        { "died,age\n1,5\n", "'days'" },
        { "days,died,age\n1,,5\n", "died" },
    };
    tacit_schema *schema = schema_of(SURVIVAL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tacit_dataset *dataset = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        assert_true(read_text(&dataset, NULL, bad[i][0], schema, NULL, &error) != TACIT_OK);
        if (strstr(error.text, bad[i][1]) == NULL) fail_msg("%s", error.text);
    }
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    options.label_optional = true; /* without both, for predictions; not with one of them */
    tacit_dataset *dataset = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(read_text(&dataset, NULL, "age\n5\n", schema, &options, &error), error);
    assert_null(dataset->response);
    dataset = tacit_dataset_free(dataset);
    assert_true(read_text(&dataset, NULL, "died,age\n1,5\n", schema, &options, &error) != TACIT_OK);
    tacit_schema_free(schema);
    schema = schema_of("label: {name: [days, died], kind: time, low: 0, high: 100}\nsparse: 3\nrows: unit\n");
    static const char sparse[] = "1 1:2\n1 2:1\n";
    const char *path = scratch_write(*state, "t.libsvm", sparse, sizeof sparse - 1);
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_dataset_load(&dataset, NULL, path, schema, NULL, &error), TACIT_INPUT);
    if (strstr(error.text, "has one label") == NULL) fail_msg("%s", error.text);
    tacit_schema_free(schema);
}

static void an_event_has_the_causes_that_the_schema_names(void **state) {
    static const char *const bad[] = { "days,died,age\n1,3,5\n", "days,died,age\n1,1.5,5\n",
                                       "days,died,age\n1,-1,5\n" };
    tacit_schema *schema =
        schema_of("label: {name: [days, died], kind: time, low: 0, high: 100, causes: "
                  "[relapse, death]}\ncolumns:\n- {name: age, kind: number, low: 0, high: 100}\n");
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_dataset *dataset = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    (void)state;
    CHECK_OK(tacit_schema_canonical(schema, &text, &error), error);
    tacit_schema *again = schema_of(tacit_buffer_text(&text));
    assert_int_equal(tacit_schema_causes(again), 2);
    assert_string_equal(again->causes.text[1], "death");
    CHECK_OK(read_text(&dataset, NULL, "days,died,age\n1,2,5\n150,1,5\n3,0,5\n", again, NULL, &error), error);
    static const double expected[] = { 1, 2, 100, 0, 3, 0 };
    assert_memory_equal(dataset->response, expected, sizeof expected);
    tacit_dataset_free(dataset);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error = (tacit_error)TACIT_ERROR_INIT;
        assert_int_equal(read_text(&dataset, NULL, bad[i], schema, NULL, &error), TACIT_INPUT);
        if (strstr(error.text, "one of 2 causes") == NULL) fail_msg("%s", error.text);
    }
    tacit_buffer_clear(&text);
    tacit_schema_free(schema);
    tacit_schema_free(again);
}

static void a_schema_with_an_entry_reads_back_the_same(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer text = TACIT_BUFFER_INIT, second = TACIT_BUFFER_INIT;
    tacit_schema *schema = schema_of("label: {name: [since, days, died], kind: time, low: 0, high: 100}\n"
                                     "columns:\n- {name: age, kind: number, low: 0, high: 100}\n");
    assert_int_equal(tacit_schema_response_columns(schema), 3);
    assert_string_equal(schema->entry, "since");
    assert_string_equal(schema->label, "days");
    assert_string_equal(schema->event, "died");
    CHECK_OK(tacit_schema_canonical(schema, &text, &error), error);
    tacit_schema *again = schema_of(tacit_buffer_text(&text));
    CHECK_OK(tacit_schema_canonical(again, &second, &error), error);
    assert_string_equal(tacit_buffer_text(&text), tacit_buffer_text(&second));
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&second);
    tacit_schema_free(schema);
    tacit_schema_free(again);
}

static void an_entry_is_the_third_number_of_a_response(void **state) {
    tacit_schema *schema = schema_of("label: {name: [since, days, died], kind: time, low: 0, high: 100}\n"
                                     "columns:\n- {name: age, kind: number, low: 0, high: 100}\n");
    tacit_dataset *dataset = NULL, *back = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(read_text(&dataset, NULL, "died,age,days,since\n1,50,10,0\n1,60,150,20\n0,70,30,29\n", schema,
                       NULL, &error),
             error);
    static const double expected[] = { 10, 1, 0, 100, 0, 20, 30, 0, 29 };
    assert_int_equal(dataset->response_columns, 3);
    assert_int_equal(dataset->features, 2);
    assert_memory_equal(dataset->response, expected, sizeof expected);
    CHECK_OK(tacit_dataset_write_csv(dataset, scratch_name(*state, "entry.csv"), &error), error);
    tacit_schema *written = schema_of("label: {name: [entry, label, event], kind: time, low: 0, high: "
                                      "100}\ncolumns:\n- {name: age, kind: number, low: -1, high: 1}\n");
    CHECK_OK(tacit_dataset_load(&back, NULL, scratch_name(*state, "entry.csv"), written, NULL, &error),
             error);
    assert_memory_equal(back->response, expected, sizeof expected);
    dataset = tacit_dataset_free(dataset);
    static const char *const bad[] = { "1,50,10,10", "1,50,10,11", "1,50,10,-1", "1,50,10," };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[64];
        snprintf(text, sizeof text, "died,age,days,since\n%s\n", bad[i]);
        assert_true(read_text(&dataset, NULL, text, schema, NULL, &error) != TACIT_OK);
        if (strstr(error.text, "since") == NULL) fail_msg("%s", error.text);
    }
    tacit_dataset_free(back);
    tacit_schema_free(schema);
    tacit_schema_free(written);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_has_the_causes_that_the_schema_names),
        cmocka_unit_test(a_response_of_two_columns_is_read_bounded_and_mapped),
        cmocka_unit_test(a_response_of_two_columns_is_refused_with_the_place),
        cmocka_unit_test(a_schema_with_an_entry_reads_back_the_same),
        cmocka_unit_test(an_entry_is_the_third_number_of_a_response),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
