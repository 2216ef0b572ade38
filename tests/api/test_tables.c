/* Tables of mixed columns in memory: what the same rows are in a file. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "library.h"

enum { PEOPLE = 60, LEVELS = 3 };

static const char schema_text[] = "label: {name: outcome, classes: [\"no\", \"yes\"]}\n"
                                  "columns:\n"
                                  "  - {name: age, kind: number, low: 0, high: 100}\n"
                                  "  - {name: visits, kind: number, low: 0, high: 50}\n"
                                  "  - {name: weight, kind: number, low: 0, high: 200, missing: indicator}\n"
                                  "  - {name: smokes, kind: category, levels: [never, now, once]}\n"
                                  "  - {name: ward, kind: category, levels: [A, B, C], missing: level}\n"
                                  "  - {name: born, kind: number, date: year, low: 1900, high: 2020}\n"
                                  "  - {name: insured, kind: number, low: 0, high: 1}\n";

static const char *const smoking[LEVELS] = { "never", "now", "once" };
static const char *const wards[] = { "A", "B", "a ward with a long name" };
static const char *const outcomes[] = { "no", "yes" };

static struct people {
    double age[PEOPLE];
    int16_t visits[PEOPLE];
    float weight[PEOPLE];
    int8_t smokes[PEOPLE]; /* -1: not known */
    const char *ward[PEOPLE];
    int32_t born[PEOPLE];
    bool insured[PEOPLE];
    uint8_t insured_missing[PEOPLE];
    int64_t outcome[PEOPLE];
} people;

static void make_people(void) {
    for (int i = 0; i < PEOPLE; i++) {
        people.age[i] = 20 + i + 0.1 * (i % 7);
        people.visits[i] = (int16_t)(i * 7 % 50);
        people.weight[i] = i % 9 == 4 ? NAN : (float)(50 + i * 0.25);
        people.smokes[i] = (int8_t)(i % 4 - 1);
        people.ward[i] = i % 5 == 0 ? NULL : wards[i % 3];
        people.born[i] = -20000 + 300 * i; /* 1915 to 1963 */
        people.insured[i] = i % 3 == 0;
        people.insured_missing[i] = i % 11 == 3;
        people.outcome[i] = (i * 13 + i / 3) % 5 < 2;
    }
}

/* The same as a file; dates are counted by hand. */
static void write_people(const char *path) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "outcome,age,visits,weight,smokes,ward,born,insured\n");
    for (int i = 0; i < PEOPLE; i++) {
        int32_t day = people.born[i], year = 1970;
        while (day < 0) day += --year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 366 : 365;
        fprintf(file, "%s,%.17g,%d,", outcomes[people.outcome[i]], people.age[i], people.visits[i]);
        if (!isnan(people.weight[i])) fprintf(file, "%.9g", (double)people.weight[i]);
        fprintf(file, ",%s,%s,", people.smokes[i] < 0 ? "" : smoking[people.smokes[i]],
                people.ward[i] == NULL ? "" : people.ward[i]);
        /* the year is all that counts */
        fprintf(file, "%d-01-01,%s\n", year, people.insured_missing[i] ? "" : people.insured[i] ? "1" : "0");
    }
    fclose(file);
}

static char csv_path[] = "/tmp/tacit-tables-XXXXXX";

static int make(void **state) {
    (void)state;
    make_people();
    int file = mkstemp(csv_path);
    if (file < 0) return -1;
    close(file);
    write_people(csv_path);
    return 0;
}

static int unmake(void **state) {
    (void)state;
    return unlink(csv_path);
}

static tacit_frame *described(tacit_frame *frame) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_options *options = OPTIONS("schema-text", schema_text);
    CHECK_OK(tacit_frame_describe(frame, options, NULL, &error), error);
    tacit_options_free(options);
    return frame;
}

static tacit_frame *people_table(void) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = NULL;
    CHECK_OK(tacit_frame_table(&frame, PEOPLE, &error), error);
    CHECK_OK(tacit_frame_add_numbers(frame, "age", people.age, TACIT_VALUE_DOUBLE, 0, NULL, &error), error);
    CHECK_OK(tacit_frame_add_numbers(frame, "visits", people.visits, TACIT_VALUE_INT16, 0, NULL, &error),
             error);
    CHECK_OK(tacit_frame_add_numbers(frame, "weight", people.weight, TACIT_VALUE_FLOAT, 0, NULL, &error),
             error);
    CHECK_OK(tacit_frame_add_categories(frame, "smokes", people.smokes, TACIT_VALUE_INT8, 0, 0, smoking,
                                        LEVELS, &error),
             error);
    CHECK_OK(tacit_frame_add_texts(frame, "ward", people.ward, &error), error);
    CHECK_OK(tacit_frame_add_dates(frame, "born", people.born, NULL, &error), error);
    CHECK_OK(tacit_frame_add_numbers(frame, "insured", people.insured, TACIT_VALUE_BOOL, 0,
                                     people.insured_missing, &error),
             error);
    CHECK_OK(tacit_frame_add_categories(frame, "outcome", people.outcome, TACIT_VALUE_INT64, 0, 0, outcomes,
                                        2, &error),
             error);
    return frame;
}

/* What the file gives, byte for byte. */
static char *model_of_file(void) {
    char schema[] = "/tmp/tacit-tables-XXXXXX";
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = NULL;
    int file = mkstemp(schema);
    assert_true(file >= 0);
    assert_int_equal(write(file, schema_text, strlen(schema_text)), strlen(schema_text));
    close(file);
    tacit_options *reading = OPTIONS("schema", schema);
    CHECK_OK(tacit_frame_load(&frame, csv_path, reading, NULL, &error), error);
    tacit_model *model = fit_seeded(frame);
    char *text = model_text(model);
    tacit_options_free(reading);
    tacit_model_free(model);
    tacit_frame_free(frame);
    unlink(schema);
    return text;
}

static void a_table_gives_the_model_of_the_same_file(void **state) {
    (void)state;
    char *expected = model_of_file();
    check_same_model(described(people_table()), expected);
    tacit_string_free(expected);
}

static void a_model_with_categories_predicts_a_table_as_it_does_a_file(void **state) {
    (void)state;
    static double scores[2][PEOPLE * 2];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *table = described(people_table()), *file = NULL, *fresh = people_table();
    tacit_model *model = fit_seeded(table);
    tacit_options *reading = OPTIONS("label", "outcome");
    CHECK_OK(tacit_frame_load(&file, csv_path, reading, NULL, &error), error);
    tacit_options_free(reading);
    CHECK_OK(tacit_model_predict(scores[0], ROOM(scores[0]), NULL, 0, model, fresh, 2, &error), error);
    CHECK_OK(tacit_model_predict(scores[1], ROOM(scores[1]), NULL, 0, model, file, 2, &error), error);
    assert_memory_equal(scores[0], scores[1], sizeof scores[0]);
    tacit_model_free(model);
    tacit_frame_free(table);
    tacit_frame_free(file);
    tacit_frame_free(fresh);
}

/* ---- number types ---- */

/* The same small numbers in every type, two apart, so that a step is needed. */
#define WIDE(type, TYPE)                                                                                     \
    {                                                                                                        \
        static type wide[2 * PEOPLE];                                                                        \
        for (int i = 0; i < PEOPLE; i++) wide[2 * i] = (type)(i % 40);                                       \
        check_same_model(numbers_frame(wide, TACIT_VALUE_##TYPE, 2 * (ptrdiff_t)sizeof(type)), expected);    \
    }

static tacit_frame *numbers_frame(const void *values, tacit_value_type type, ptrdiff_t step) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = NULL;
    tacit_options *options = OPTIONS("schema-text", "{label: {name: y, classes: [\"0\", \"1\"]},"
                                                    " columns: [{name: x, kind: number, low: 0, high: 40}]}");
    CHECK_OK(tacit_frame_table(&frame, PEOPLE, &error), error);
    CHECK_OK(tacit_frame_add_numbers(frame, "x", values, type, step, NULL, &error), error);
    CHECK_OK(tacit_frame_add_numbers(frame, "y", people.outcome, TACIT_VALUE_INT64, 0, NULL, &error), error);
    CHECK_OK(tacit_frame_describe(frame, options, NULL, &error), error);
    tacit_options_free(options);
    return frame;
}

static void numbers_of_every_width_are_the_same_numbers(void **state) {
    (void)state;
    static double plain[PEOPLE];
    for (int i = 0; i < PEOPLE; i++) plain[i] = i % 40;
    tacit_frame *frame = numbers_frame(plain, TACIT_VALUE_DOUBLE, 0);
    tacit_model *model = fit_seeded(frame);
    char *expected = model_text(model);
    WIDE(double, DOUBLE)
    WIDE(float, FLOAT)
    WIDE(int8_t, INT8)
    WIDE(int16_t, INT16)
    WIDE(int32_t, INT32)
    WIDE(int64_t, INT64)
    WIDE(uint8_t, UINT8)
    WIDE(uint16_t, UINT16)
    WIDE(uint32_t, UINT32)
    WIDE(uint64_t, UINT64)
    tacit_string_free(expected);
    tacit_model_free(model);
    tacit_frame_free(frame);
}

/* ---- errors ---- */

static void errors_name_the_column_and_the_remedy(void **state) {
    (void)state;
    static const int8_t codes[2] = { 0, 3 };
    static const double numbers[2] = { 1, INFINITY }, labels[2] = { 0, 1 };
    static const char *const texts[2] = { "1", "lots" };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = NULL;
    tacit_options *options = OPTIONS("schema-text", "{label: {name: y, classes: [\"0\", \"1\"]},"
                                                    " columns: [{name: x, kind: number, low: 0, high: 9}]}");
    CHECK_FAILS(tacit_frame_table(&frame, 0, failed), TACIT_USAGE, "rows");
    CHECK_OK(tacit_frame_table(&frame, 2, &error), error);
    CHECK_FAILS(tacit_frame_add_categories(frame, "c", codes, TACIT_VALUE_INT8, 0, 0, smoking, 3, failed),
                TACIT_INPUT, "column c, row 2: level 3 of a category that has 3");
    CHECK_FAILS(tacit_frame_add_categories(frame, "c", labels, TACIT_VALUE_DOUBLE, 0, 0, smoking, 3, failed),
                TACIT_USAGE, "whole numbers");
    CHECK_FAILS(tacit_frame_add_numbers(frame, "x", NULL, TACIT_VALUE_DOUBLE, 0, NULL, failed), TACIT_USAGE,
                "column x needs its values");
    CHECK_OK(tacit_frame_add_numbers(frame, "x", numbers, TACIT_VALUE_DOUBLE, 0, NULL, &error), error);
    CHECK_FAILS(tacit_frame_add_texts(frame, "x", texts, failed), TACIT_USAGE, "rename one");
    CHECK_FAILS(tacit_frame_describe(frame, options, NULL, failed), TACIT_USAGE, "'y'"); /* no such column */
    CHECK_OK(tacit_frame_add_numbers(frame, "y", labels, TACIT_VALUE_DOUBLE, 0, NULL, &error), error);
    CHECK_FAILS(tacit_frame_describe(frame, options, NULL, failed), TACIT_INPUT,
                "row 2, column 1 (x): 'inf' is not a finite number; leave the cell empty");
    tacit_model *model = NULL;
    CHECK_FAILS(tacit_frame_fit(&model, frame, NULL, NULL, NULL, failed), TACIT_USAGE, "");
    tacit_frame_free(frame);
    CHECK_OK(tacit_frame_table(&frame, 2, &error), error);
    CHECK_OK(tacit_frame_add_texts(frame, "x", texts, &error), error);
    CHECK_OK(tacit_frame_add_numbers(frame, "y", labels, TACIT_VALUE_DOUBLE, 0, NULL, &error), error);
    CHECK_FAILS(tacit_frame_describe(frame, options, NULL, failed), TACIT_INPUT,
                "row 2, column 1 (x): 'lots' is not a number");
    CHECK_FAILS(tacit_frame_set_norm(frame, 1, true, failed), TACIT_USAGE, "schema");
    tacit_options_free(options);
    tacit_frame_free(frame);
}

/* Whose rows they are: whole persons where parties are counted, or as the caller says. */
static void rows_of_a_person_are_at_one_party(void **state) {
    (void)state;
    static double x[ROWS], y[ROWS], person[ROWS];
    static int32_t party[ROWS];
    for (int i = 0; i < ROWS; i++) {
        person[i] = i % 30;
        party[i] = i % 30 % 4;
        x[i] = i * 7 % 11;
        y[i] = x[i] + i % 30 % 5 + i * 3 % 7;
    }
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = NULL;
    tacit_options *about = OPTIONS("schema-text",
                                   "{label: {name: y, kind: number, low: 0, high: 30}, person: p,"
                                   " columns: [{name: x, kind: number, low: 0, high: 10}]}",
                                   "terms", "~ x + (1 | person)");
    CHECK_OK(tacit_frame_table(&frame, ROWS, &error), error);
    CHECK_OK(tacit_frame_add_numbers(frame, "x", x, TACIT_VALUE_DOUBLE, 0, NULL, &error), error);
    CHECK_OK(tacit_frame_add_numbers(frame, "y", y, TACIT_VALUE_DOUBLE, 0, NULL, &error), error);
    CHECK_OK(tacit_frame_add_numbers(frame, "p", person, TACIT_VALUE_DOUBLE, 0, NULL, &error), error);
    CHECK_FAILS(tacit_frame_set_parties(frame, party, 4, failed), TACIT_USAGE, "describe the table before");
    CHECK_OK(tacit_frame_describe(frame, about, NULL, &error), error);
    for (int told = 0; told < 2; told++) {
        tacit_options *options = told ? OPTIONS("method", "mixed", "seed", "1")
                                      : OPTIONS("method", "mixed", "parties", "4", "seed", "1");
        char *text = NULL;
        if (told) {
            CHECK_OK(tacit_frame_set_parties(frame, party, 4, &error), error);
        }
        CHECK_OK(tacit_frame_simulate(&text, NULL, frame, frame, NULL, NULL, options, NULL, &error), error);
        assert_non_null(strstr(text, "\"number\": 30.0")); /* persons, not more */
        tacit_string_free(text);
        tacit_options_free(options);
    }
    tacit_options_free(about);
    tacit_frame_free(frame);
}

static void without_a_schema_the_rows_decide_and_the_model_says_so(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = people_table();
    tacit_options *options = OPTIONS("label", "outcome");
    char *text = NULL;
    CHECK_OK(tacit_frame_describe(frame, options, NULL, &error), error);
    tacit_model *model = fit_seeded(frame);
    CHECK_OK(tacit_model_document(&text, model, &error), error);
    assert_non_null(strstr(text, "\"smokes\""));
    assert_non_null(strstr(text, "\"private\": false"));
    tacit_string_free(text);
    tacit_options_free(options);
    tacit_model_free(model);
    tacit_frame_free(frame);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_gives_the_model_of_the_same_file),
        cmocka_unit_test(a_model_with_categories_predicts_a_table_as_it_does_a_file),
        cmocka_unit_test(numbers_of_every_width_are_the_same_numbers),
        cmocka_unit_test(errors_name_the_column_and_the_remedy),
        cmocka_unit_test(rows_of_a_person_are_at_one_party),
        cmocka_unit_test(without_a_schema_the_rows_decide_and_the_model_says_so),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
