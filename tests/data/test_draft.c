/* What a draft makes of files as people have them: dates, identifiers, decimal commas, rare levels, files of
 * other programs. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "check.h"

#include "data/dataset.h"
#include "data/schema/date.h"
#include "rand/stream.h"

static tacit_status read_rows(tacit_dataset **out, tacit_schema **drafted, const tacit_buffer *rows,
                              const tacit_schema *schema, bool tidy, tacit_error *error) {
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    tacit_input *input = NULL;
    options.tidy = tidy;
    TACIT_TRY(tacit_input_open_memory(&input, rows->bytes, rows->length, "rows.csv", error));
    tacit_status status = tacit_dataset_read(out, drafted, input, schema, &options, error);
    tacit_input_free(input);
    return status;
}

/* ---- dates ---- */

static void days_are_those_of_the_calendar(void **state) {
    (void)state;
    for (int32_t day = -700000; day < 2900000; day += 13) { /* years 54 to 9909 */
        time_t seconds = (time_t)day * 86400;
        struct tm parts;
        char text[2][40];
        int32_t found = 0;
        gmtime_r(&seconds, &parts);
        int year = parts.tm_year + 1900, month = parts.tm_mon + 1;
        snprintf(text[0], sizeof text[0], "%04d-%02d-%02d", year % 10000, month, parts.tm_mday);
        snprintf(text[1], sizeof text[1], "%d.%d.%04d 23:59", parts.tm_mday, month, year % 10000);
        for (size_t i = 0; i < 2; i++) {
            assert_true(tacit_text_to_day(text[i], strlen(text[i]), &found));
            assert_int_equal(found, day);
        }
        const tacit_date as_year = { TACIT_DATE_YEAR, 0 };
        assert_true(tacit_date_number(&as_year, day) == year);
    }
}

static void what_may_be_another_day_is_no_date(void **state) {
    (void)state;
    static const char *const good[] = {
        "2024-02-29", "2024/2/9",    "9.2.2024",  "2024-02-29T12:30:00Z", "2024-02-29 12:30", "0001-01-01",
        "20240229",   "29-Feb-2024", "29FEB2024", "1 mar 2024 08:15"
    };
    static const char *const bad[] = { "",           "2023-02-29",      "2024-04-31",  "02/03/2024",
                                       "2024-13-01", "2024-00-10",      "24-02-2024",  "2024-02",
                                       "2024.02.29", "2024-02-29 noon", "31.4.2024",   "20230229",
                                       "29-Feb-24",  "31-Apr-2024",     "29-Fxb-2024", "29-Feb 2024",
                                       "1.5",        "1-2-3",           "2024-02-29T", "0000-01-01" };
    int32_t day;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(tacit_text_to_day(good[i], strlen(good[i]), &day));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(tacit_text_to_day(bad[i], strlen(bad[i]), &day));
}

static void uses_of_dates_read_back(void **state) {
    (void)state;
    static const char *const phrases[] = { "days since 2000-01-01", "year", "age at 1999-12-31" };
    static const char *const bad[] = { "days",  "days since", "age at yesterday",
                                       "month", "years",      "days since 2000-02-30" };
    static const double numbers[] = { 31, 2000, -32 / 365.2425 };
    int32_t day = 0;
    assert_true(tacit_text_to_day("2000-02-01", 10, &day));
    for (size_t i = 0; i < 3; i++) {
        tacit_date date;
        char text[TACIT_DATE_TEXT];
        assert_true(tacit_date_parse(&date, phrases[i]));
        assert_string_equal(tacit_date_text(&date, text), phrases[i]);
        CHECK_NEAR(tacit_date_number(&date, day), numbers[i], 1e-12);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tacit_date date;
        assert_false(tacit_date_parse(&date, bad[i]));
    }
}

/* ---- a file as it comes ---- */

/* Sixty rows as a clinic might export them. */
static void clinic_rows(tacit_buffer *out, char separator, bool comma) {
    tacit_error error = TACIT_ERROR_INIT;
    const char s = separator;
    CHECK_OK(tacit_buffer_print(out, &error, "patient_id%cseen%cward%cvalue%cname%csick\n", s, s, s, s, s),
             error);
    for (int i = 0; i < 60; i++) {
        static const char *const wards[] = { "north", "south", "east" };
        char rare[8], ward_text[8];
        snprintf(rare, sizeof rare, "w%d", i);
        snprintf(ward_text, sizeof ward_text, "%s", wards[i % 3]);
        CHECK_OK(tacit_buffer_print(out, &error, "%d%c2024-01-%02d%c%s%c%d%c%d%cperson %d%c%s\n",
                                    7 * i + 1000, s, 1 + i % 28, s, i % 15 == 7 ? rare : ward_text, s, i,
                                    comma ? ',' : '.', i % 10, s, i, s, i % 4 == 0 ? "no" : "yes"),
                 error);
    }
}

static const tacit_schema_column *column_of(const tacit_schema *schema, const char *name) {
    for (size_t i = 0; i < schema->cols; i++)
        if (strcmp(schema->columns[i].name, name) == 0) return &schema->columns[i];
    fail_msg("no column %s", name);
    return NULL;
}

static void a_draft_for_people_leaves_out_identifiers_and_joins_rare_levels(void **state) {
    (void)state;
    tacit_buffer rows = TACIT_BUFFER_INIT, text = TACIT_BUFFER_INIT;
    tacit_dataset *data = NULL, *again = NULL;
    tacit_schema *schema = NULL, *read = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    clinic_rows(&rows, ';', true);
    CHECK_OK(read_rows(&data, &schema, &rows, NULL, true, &error), error);
    assert_int_equal(column_of(schema, "patient_id")->kind, TACIT_SCHEMA_SKIP);
    assert_int_equal(column_of(schema, "name")->kind, TACIT_SCHEMA_SKIP);
    const tacit_schema_column *seen = column_of(schema, "seen"), *ward = column_of(schema, "ward");
    assert_int_equal(seen->date.use, TACIT_DATE_DAYS);
    assert_true(seen->low == 8700 && seen->high == 8800); /* 2024-01-01 is day 8,766 since 2000-01-01 */
    assert_int_equal(ward->levels.count, 4);
    assert_string_equal(ward->levels.text[ward->others], "other");
    assert_true(column_of(schema, "value")->high == 60); /* 59,9 */
    assert_string_equal(schema->classes.text[1], "no");  /* the rarer */
    CHECK_OK(tacit_schema_print(schema, NULL, &text, &error), error);
    CHECK_OK(tacit_schema_parse(&read, tacit_buffer_text(&text), text.length, "draft.yaml", &error), error);
    CHECK_OK(read_rows(&again, NULL, &rows, read, false, &error), error);
    assert_int_equal(again->counts.unknown_levels, 0); /* rare ones have their level */
    assert_memory_equal(again->dense.values, data->dense.values,
                        data->rows * data->dense.cols * sizeof(double));
    tacit_buffer_clear(&rows);
    tacit_buffer_clear(&text);
    tacit_dataset_free(data);
    tacit_dataset_free(again);
    tacit_schema_free(schema);
    tacit_schema_free(read);
}

/* Thirty rows of one column, beside one to learn from. */
static void print_column(tacit_buffer *out, const char *format, const int *numbers, size_t count) {
    tacit_error error = TACIT_ERROR_INIT;
    char text[40];
    CHECK_OK(tacit_buffer_print(out, &error, "x,other,y\n"), error);
    for (int i = 0; i < 30; i++) {
        int number = numbers[(size_t)i % count];
        if (format[0] == '|')
            snprintf(text, sizeof text, "%s", i % 3 == 0 ? format + 1 : i % 3 == 1 ? "50" : "61");
        else if (strcmp(format, "case") == 0)
            snprintf(text, sizeof text, "%s", i % 2 ? "Male" : "male");
        else if (strcmp(format, "number") == 0)
            snprintf(text, sizeof text, "%d", number);
        else /* two places of two digits each */
            snprintf(text, sizeof text, "%.*s%02d%s%02d%s", (int)(strchr(format, '#') - format), format,
                     1 + i % 12, strchr(format, '#') + 1, 10 + i % 15, "");
        CHECK_OK(tacit_buffer_print(out, &error, "\"%s\",%d,%s\n", text, 100 + i * i % 17,
                                    i % 4 == 0 ? "no" : "yes"),
                 error);
    }
}

/* A sentence beside the column, which holds for this look and for no plain one. */
static void a_draft_says_what_cells_look_like(void **state) {
    (void)state;
    static const struct {
        const char *format;
        int numbers[4];
        const char *expected;            /* NULL: nothing */
    } cases[] = { { "#/", { 0 }, NULL }, /* 01/10: a level like any other */
                  { "#/20", { 0 }, "months like" },
                  { "#:", { 0 }, "times of day like '01:10'" },
                  { "<#.", { 0 }, "numbers like '<01.10'" },
                  { "|<5", { 0 }, "most values are numbers, and '<5' is none" },
                  { "case", { 0 }, "differ in case alone" },
                  { "number", { 41, 57, 60, 999 }, "999 lies far from all other values" },
                  { "number", { 41, 57, 60, 99 }, "99 lies far" },
                  { "number", { 41, 57, 98, 99 }, NULL },
                  { "number", { 0, 1, 1, -9 }, "-9 lies far" },
                  { "number", { 19400229, 19991231, 20240101, 19700115 }, "dates like 20240229" },
                  { "number", { 19400230, 19991231, 20240101, 19700115 }, NULL } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_buffer rows = TACIT_BUFFER_INIT;
        tacit_dataset *data = NULL;
        tacit_schema *schema = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        print_column(&rows, cases[i].format, cases[i].numbers, 4);
        CHECK_OK(read_rows(&data, &schema, &rows, NULL, true, &error), error);
        const char *note = column_of(schema, "x")->note;
        if (cases[i].expected != NULL && (note == NULL || strstr(note, cases[i].expected) == NULL))
            fail_msg("case %zu: '%s' does not say '%s'", i, note != NULL ? note : "nothing",
                     cases[i].expected);
        if (cases[i].expected == NULL && note != NULL && strstr(note, "rare") == NULL &&
            strstr(note, "its own") == NULL)
            fail_msg("case %zu: '%s'", i, note);
        tacit_buffer_clear(&rows);
        tacit_dataset_free(data);
        tacit_schema_free(schema);
    }
}

static void dates_that_can_be_read_in_two_ways_and_codes_are_said(void **state) {
    (void)state;
    tacit_buffer rows = TACIT_BUFFER_INIT;
    tacit_dataset *data = NULL;
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_buffer_print(&rows, &error, "seen,zip,other,y\n"), error);
    for (int i = 0; i < 30; i++)
        CHECK_OK(tacit_buffer_print(&rows, &error, "%02d/%02d/2020,%05d,%d,%s\n", 1 + i % 12, 1 + i % 28,
                                    i % 9 * 731, i % 7, i % 4 == 0 ? "no" : "yes"),
                 error);
    CHECK_OK(read_rows(&data, &schema, &rows, NULL, true, &error), error);
    assert_int_equal(column_of(schema, "seen")->kind, TACIT_SCHEMA_SKIP);
    assert_non_null(strstr(column_of(schema, "seen")->note, "dates like '01/01/2020'"));
    assert_non_null(strstr(column_of(schema, "zip")->note, "as codes do"));
    tacit_buffer_clear(&rows);
    tacit_dataset_free(data);
    tacit_schema_free(schema);
}

static void separators_are_found_or_named_by_the_first_line(void **state) {
    (void)state;
    static const char *const files[] = { "a|b|y\n1|2|no\n3|4|yes\n", "sep=;\na;b;y\n1;2;no\n3;4;yes\n",
                                         "sep=|\r\na|b|y\r\n1|2|no\r\n3|4|yes\r\n" };
    for (size_t i = 0; i < 3; i++) {
        tacit_buffer rows = TACIT_BUFFER_INIT;
        tacit_dataset *data = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(tacit_buffer_append(&rows, files[i], strlen(files[i]), &error), error);
        CHECK_OK(read_rows(&data, NULL, &rows, NULL, false, &error), error);
        assert_int_equal(data->rows, 2);
        assert_int_equal(data->dense.cols, 3); /* with the intercept */
        tacit_buffer_clear(&rows);
        tacit_dataset_free(data);
    }
}

static void decimal_commas_and_points_give_the_same_rows(void **state) {
    (void)state;
    tacit_dataset *data[3] = { NULL };
    tacit_error error = TACIT_ERROR_INIT;
    static const char separators[] = { ',', ';', '\t' };
    for (size_t i = 0; i < 3; i++) {
        tacit_buffer rows = TACIT_BUFFER_INIT;
        clinic_rows(&rows, separators[i], i > 0);
        CHECK_OK(read_rows(&data[i], NULL, &rows, NULL, false, &error), error);
        assert_int_equal(data[i]->rows, 60);
        assert_memory_equal(data[i]->dense.values, data[0]->dense.values,
                            60 * data[0]->dense.cols * sizeof(double));
        tacit_buffer_clear(&rows);
    }
    for (size_t i = 0; i < 3; i++) tacit_dataset_free(data[i]);
}

static void expect_failure(const char *text, const char *expected) {
    tacit_dataset *data = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer rows = TACIT_BUFFER_INIT;
    CHECK_OK(tacit_buffer_append(&rows, text, strlen(text), &error), error);
    assert_int_equal(read_rows(&data, NULL, &rows, NULL, false, &error), TACIT_INPUT);
    if (strstr(error.text, expected) == NULL) fail_msg("'%s' does not say '%s'", error.text, expected);
    tacit_buffer_clear(&rows);
}

static void rows_that_do_not_fit_are_explained(void **state) {
    (void)state;
    expect_failure("a,y\n\"1\",5,no\n\"2\",6,yes\n", "write.csv(rows, row.names = FALSE)");
    expect_failure("sep=;\na;y\n1;no\n2\n", "rows.csv:4:2 (y): the row has 1 field");
}

static void classes_that_differ_in_case_alone_are_refused(void **state) {
    (void)state;
    tacit_buffer rows = TACIT_BUFFER_INIT;
    tacit_dataset *data = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_buffer_print(&rows, &error, "a,y\n1,No\n2,yes\n3,no\n4,yes\n"), error);
    assert_int_equal(read_rows(&data, NULL, &rows, NULL, true, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "'No' and 'no' of label 'y' differ in case alone"));
    tacit_buffer_clear(&rows);
}

static void an_infinite_number_is_an_error_and_makes_no_category(void **state) {
    (void)state;
    expect_failure("a,y\n1,no\ninf,yes\n2,no\n", "rows.csv:3:1 (a): 'inf' is not a finite number");
    expect_failure("a,y\n1,no\n-Infinity,yes\n2,no\n", "not a finite number");
}

static void missing_values_of_numbers_are_counted(void **state) {
    (void)state;
    tacit_dataset *data = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer rows = TACIT_BUFFER_INIT;
    CHECK_OK(tacit_buffer_print(&rows, &error, "a,y\n1,no\nnan,yes\nNA,no\n,yes\n2,no\n"), error);
    CHECK_OK(read_rows(&data, NULL, &rows, NULL, false, &error), error);
    assert_int_equal(data->counts.missing, 3);
    tacit_buffer_clear(&rows);
    tacit_dataset_free(data);
}

/* Where they are read, only by their path, and these bytes are in memory. */
#ifdef TACIT_READSTAT
#define STATISTICAL(what) "a file of SAS, Stata or SPSS, which is read by its path"
#else
#define STATISTICAL(what) what
#endif

static void files_of_other_programs_are_named(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *what;
        size_t length;
    } files[] = { { "PAR1\x15\x04", "a Parquet file, which is read by its path", 6 },
                  { "PK\x03\x04\x14", "an Excel or OpenDocument workbook", 5 },
                  { "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "old kind (.xls)", 8 },
                  { "\0\0\0\0\0\0\0\0\0\0\0\0\xC2\xEA\x81\x60\xB3\x14\x11\xCF\xBD\x92\x08\0",
                    STATISTICAL("a SAS file"), 24 },
                  { "<stata_dta><header>", STATISTICAL("a Stata file"), 19 },
                  { "$FL2@(#) SPSS", STATISTICAL("an SPSS file"), 13 },
                  { "<!DOCTYPE html><table>", "a web page (HTML)", 22 },
                  { "<?xml version=\"1.0\"?>", "an XML document", 21 },
                  { "SQLite format 3\0", "a SQLite database", 16 } };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        tacit_dataset *data = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        tacit_buffer rows = TACIT_BUFFER_INIT;
        CHECK_OK(tacit_buffer_append(&rows, files[i].bytes, files[i].length, &error), error);
        assert_int_equal(read_rows(&data, NULL, &rows, NULL, false, &error), TACIT_INPUT);
        if (strstr(error.text, files[i].what) == NULL)
            fail_msg("'%s' does not say '%s'", error.text, files[i].what);
        tacit_buffer_clear(&rows);
    }
}

static void dates_and_others_belong_where_they_do(void **state) {
    (void)state;
    static const struct {
        const char *column, *expected;
    } cases[] = { { "{name: a, kind: number, date: tomorrow, low: 0, high: 1}", "date must be" },
                  { "{name: a, kind: category, levels: [u], date: year}", "belong to numbers only" },
                  { "{name: a, kind: category, levels: [u], others: v}", "others must be one of the levels" },
                  { "{name: a, kind: number, low: 0, high: 1, others: v}", "belong to categories only" },
                  { "{name: a, kind: number, date: age at a, low: 0, high: 1}", "date must be" },
                  { "{name: a, kind: number, date: age at 2020-02-31, low: 0, high: 1}", "date must be" },
                  { "{name: a, kind: number, low: 0, high: 1, recode: {v: u}}", "belong to categories only" },
                  { "{name: a, kind: category, levels: [u], recode: {v: w}}", "'w' is none of the levels" },
                  { "{name: a, kind: category, levels: [u, w], recode: {u: w}}", "one of the levels itself" },
                  { "{name: a, kind: category, levels: [u], recode: {NA: u}}", "missing: {fill: LEVEL}" },
                  { "{name: a, kind: category, levels: [u], recode: [v]}", "recode must be a mapping" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_schema *schema = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        char text[200];
        snprintf(text, sizeof text, "label: {name: y, classes: [no, yes]}\ncolumns: [%s]\n", cases[i].column);
        assert_int_equal(tacit_schema_parse(&schema, text, strlen(text), "s.yaml", &error), TACIT_INPUT);
        if (strstr(error.text, cases[i].expected) == NULL)
            fail_msg("'%s' does not say '%s'", error.text, cases[i].expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_are_those_of_the_calendar),
        cmocka_unit_test(what_may_be_another_day_is_no_date),
        cmocka_unit_test(uses_of_dates_read_back),
        cmocka_unit_test(a_draft_for_people_leaves_out_identifiers_and_joins_rare_levels),
        cmocka_unit_test(a_draft_says_what_cells_look_like),
        cmocka_unit_test(dates_that_can_be_read_in_two_ways_and_codes_are_said),
        cmocka_unit_test(separators_are_found_or_named_by_the_first_line),
        cmocka_unit_test(rows_that_do_not_fit_are_explained),
        cmocka_unit_test(classes_that_differ_in_case_alone_are_refused),
        cmocka_unit_test(decimal_commas_and_points_give_the_same_rows),
        cmocka_unit_test(an_infinite_number_is_an_error_and_makes_no_category),
        cmocka_unit_test(missing_values_of_numbers_are_counted),
        cmocka_unit_test(files_of_other_programs_are_named),
        cmocka_unit_test(dates_and_others_belong_where_they_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
