/* How many rows a study expects, apart from the least that a party has. */
#include <unistd.h>

#include "../store/folder.h"
#include "definition_read.h"
#include "lab/planning.h"

/* What is expected tunes, the minimum guards; a definition that expects nothing is what it always was. */
static void expected_rows_are_part_of_the_definition_only_where_they_are_said(void **state) {
    (void)state;
    char text[DEFINITION_SIZE];
    tacit_study *without = parse(definition_with(text, NULL, NULL));
    assert_null(strstr(tacit_buffer_text(&without->canonical), "expected_rows"));
    assert_int_equal(without->plan.expected_rows, 0);
    CHECK_NEAR(tacit_plan_expected_rows(&without->plan), 15, 0); /* three parties of five */
    tacit_study *with = parse(definition_with(text, "expected_rows", "600"));
    assert_non_null(strstr(tacit_buffer_text(&with->canonical), "\nexpected_rows: 600\n"));
    assert_int_equal(with->plan.expected_rows, 600);
    assert_int_equal(with->plan.minimum_rows, 5);
    CHECK_NEAR(tacit_plan_expected_rows(&with->plan), 600, 0);
    assert_memory_not_equal(with->hash, without->hash, sizeof with->hash);
    tacit_study *again = parse(tacit_buffer_text(&with->canonical));
    assert_memory_equal(again->hash, with->hash, sizeof with->hash);
    tacit_study_free(again);
    tacit_study_free(with);
    tacit_study_free(without);
    fails(definition_with(text, "expected_rows", "14"), TACIT_INPUT, "14 is fewer");
    fails(definition_with(text, "expected_rows", "20.5"), TACIT_INPUT, "whole number");
    fails(definition_with(text, "expected_rows", "many"), TACIT_INPUT, "s.yaml:");
}

/* The hash of the definition of this file, as it was before anything was expected. */
static void an_earlier_definition_keeps_its_text(void **state) {
    (void)state;
    char text[DEFINITION_SIZE];
    tacit_study *study = parse(definition_with(text, NULL, NULL));
    const char *canonical = tacit_buffer_text(&study->canonical);
    assert_non_null(strstr(canonical, "\nminimum_rows: 5\npatience: 1.5\nsum: masked\ndropouts: 0.1\n"
                                      "colluders: 0.1\nschema: |\n"));
    tacit_study_free(study);
}

/* What a plan says of a method is what the study has: all settings, lambda, and the numbers that rounds
 * follow from. */
static void a_plan_and_a_study_of_the_same_numbers_are_set_alike(void **state) {
    (void)state;
    static const char *const methods[] = { "dpnewton", "dpgd" };
    for (size_t i = 0; i < 2; i++) {
        char text[DEFINITION_SIZE];
        snprintf(text, sizeof text,
                 "name: alike\ntitle: Alike\nmethod: %s\nset: {noise: shares}\nepsilon: 1\ndelta: 1e-5\n"
                 "parties: {expected: 6, minimum: 5}\nminimum_rows: 20\nexpected_rows: 3000\nschema: "
                 "schema.yaml\n",
                 methods[i]);
        folder at = folder_make();
        char path[PATH_MAX], schema[PATH_MAX];
        snprintf(path, sizeof path, "%s/study.yaml", at.path);
        snprintf(schema, sizeof schema, "%s/schema.yaml", at.path);
        write_text(path, text);
        write_text(schema, "label: {name: y, classes: [n, p]}\ncolumns:\n  - {name: a, kind: number, low: 0, "
                           "high: 1}\n");
        tacit_study *study = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(tacit_study_load(&study, path, &error), error);
        tacit_outlook_request request = { .belief = { .schema = study->schema },
                                          .parties = 6,
                                          .rows = 3000,
                                          .minimum_parties = 5,
                                          .minimum_rows = 20,
                                          .epsilon = 1,
                                          .delta = 1e-5,
                                          .dropouts = 0.1,
                                          .colluders = 0.1 };
        tacit_plan planned;
        CHECK_OK(tacit_outlook_plan(&planned, &request, study->plan.method, &error), error);
        memcpy(planned.study, study->plan.study, sizeof planned.study);
        assert_true(tacit_plan_equal(&planned, &study->plan));
        tacit_study_free(study);
        folder_remove(&at);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expected_rows_are_part_of_the_definition_only_where_they_are_said),
        cmocka_unit_test(an_earlier_definition_keeps_its_text),
        cmocka_unit_test(a_plan_and_a_study_of_the_same_numbers_are_set_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
