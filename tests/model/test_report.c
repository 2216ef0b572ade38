/* Reports: the same through a file, damage refused, nothing predicted, and text that people and spreadsheets can read. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/export/export.h"
#include "model/model.h"

static tacit_report *sample(void) {
    static const char *const columns[] = { "mean", "sd, of rows", NULL };
    tacit_report *report = NULL;
    tacit_report_table *table = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_report_create(&report, "describe", true, 4000, &error), error);
    CHECK_OK(tacit_report_add_fact(report, "threshold", 10, NULL, &error), error);
    CHECK_OK(tacit_report_add_fact(report, "grid", NAN, "256 cells", &error), error);
    CHECK_OK(tacit_report_add_table(report, &table, "numbers", "Numbers", columns, &error), error);
    CHECK_OK(
        tacit_report_add_row(table, "age", (double[]){ 0.1 + 0.2, NAN }, (double[]){ 0.25, NAN }, &error),
        error);
    CHECK_OK(tacit_report_add_row(table, "=\"b\xc3\xbcro\"", (double[]){ -1e300, 3 }, NULL, &error), error);
    CHECK_OK(tacit_report_add_table(report, &table, "empty", "No rows", columns, &error), error);
    return report;
}

static tacit_model *sample_model(void) {
    tacit_model *model = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_model_create_report(&model, sample(), 4, 2, &error), error);
    snprintf(model->guarantee.method, sizeof model->guarantee.method, "describe");
    return model;
}

static tacit_buffer printed(const tacit_model *model) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_model_print(model, &text, &error), error);
    return text;
}

static void a_report_reads_back_as_it_was_written(void **state) {
    (void)state;
    tacit_model *model = sample_model(), *again = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer first = printed(model);
    CHECK_OK(tacit_model_parse(&again, first.bytes, first.length, "report", &error), error);
    assert_non_null(again->report);
    assert_int_equal(tacit_model_size(again), 0);
    tacit_buffer second = printed(again);
    assert_string_equal(tacit_buffer_text(&first), tacit_buffer_text(&second));
    const tacit_report_table *table = tacit_report_find(again->report, "numbers");
    assert_non_null(table);
    assert_true(tacit_report_value(table, "age", "mean") == 0.1 + 0.2);
    assert_true(isnan(tacit_report_value(table, "age", "sd, of rows")));
    assert_true(isnan(tacit_report_value(table, "nobody", "mean")));
    assert_true(table->error[0] == 0.25 && isnan(table->error[2]));
    assert_true(tacit_report_find_fact(again->report, "threshold")->number == 10);
    tacit_buffer_clear(&first);
    tacit_buffer_clear(&second);
    tacit_model_free(model);
    tacit_model_free(again);
}

static void a_damaged_report_is_refused(void **state) {
    static const char *const damage[][2] = {
        { "\"kind\": \"describe\"", "\"kind\": \"\"" },
        { "\"mode\": \"private\"", "\"mode\": \"secret\"" },
        { "\"name\": \"empty\"", "\"name\": \"numbers\"" },
        { "\"label\": \"age\"", "\"label\": \"\\u001b[2J\"" },
        { "\"title\": \"Numbers\"", "\"title\": 7" },
        { "0.25", "-0.25" },
        { "\"weights\": []", "\"weights\": [1.0]" },
        { "\"name\": \"threshold\"", "\"nome\": \"threshold\"" },
    };
    (void)state;
    tacit_model *model = sample_model();
    tacit_buffer whole = printed(model);
    for (size_t k = 0; k < sizeof damage / sizeof *damage; k++) {
        tacit_buffer text = TACIT_BUFFER_INIT;
        tacit_error error = TACIT_ERROR_INIT;
        tacit_model *read = NULL;
        const char *from = tacit_buffer_text(&whole), *at = strstr(from, damage[k][0]);
        assert_non_null(at);
        CHECK_OK(tacit_buffer_print(&text, &error, "%.*s%s%s", (int)(at - from), from, damage[k][1],
                                    at + strlen(damage[k][0])),
                 error);
        assert_int_equal(tacit_model_parse(&read, text.bytes, text.length, "report", &error), TACIT_INPUT);
        tacit_buffer_clear(&text);
    }
    tacit_buffer_clear(&whole);
    tacit_model_free(model);
}

static void a_report_predicts_and_exports_nothing(void **state) {
    (void)state;
    double x[4] = { 0 }, score;
    tacit_model *model = sample_model();
    tacit_matrix one = { .rows = 1, .cols = 4, .values = x };
    tacit_rows rows = tacit_rows_of_matrix(&one);
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_model_scores(model, &rows, NULL, &score, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "predicts nothing"));
    assert_int_equal(tacit_model_export_onnx(model, &bytes, NULL), TACIT_USAGE);
    assert_int_equal(tacit_model_export_pmml(model, &bytes, NULL), TACIT_USAGE);
    tacit_buffer_clear(&bytes);
    tacit_model_free(model);
}

static void tables_are_text_and_csv(void **state) {
    (void)state;
    tacit_report *report = sample();
    tacit_buffer text = TACIT_BUFFER_INIT, csv = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_report_print_text(report, &text, &error), error);
    CHECK_OK(tacit_report_print_csv(report, &csv, &error), error);
    assert_non_null(strstr(tacit_buffer_text(&text), "4000 rows; private"));
    assert_non_null(strstr(tacit_buffer_text(&text), "0.3 (0.25)"));
    assert_string_equal(tacit_buffer_text(&csv),
                        "table,row,column,value,noise_error\n"
                        "\"numbers\",\"age\",\"mean\",0.30000000000000004,0.25\n"
                        "\"numbers\",\"age\",\"sd, of rows\",,\n"
                        "\"numbers\",\"'=\"\"b\xc3\xbcro\"\"\",\"mean\",-1.0000000000000001e+300,\n"
                        "\"numbers\",\"'=\"\"b\xc3\xbcro\"\"\",\"sd, of rows\",3,\n");
    tacit_buffer_clear(&text);
    tacit_buffer_clear(&csv);
    tacit_report_free(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_reads_back_as_it_was_written),
        cmocka_unit_test(a_damaged_report_is_refused),
        cmocka_unit_test(a_report_predicts_and_exports_nothing),
        cmocka_unit_test(tables_are_text_and_csv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
