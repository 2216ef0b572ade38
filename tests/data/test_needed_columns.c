/* What a file must hold for a schema, told to people who have none yet. */
#include <stdio.h>
#include <stdlib.h>

#include "reading.h"

#include "data/schema/needed_columns.h"

#define LABEL "label: {name: y, classes: [no, yes]}\n"

typedef struct heard {
    tacit_buffer text; /* name|role|values|missing, a line each */
    size_t stop_after; /* fail then; 0: never */
    size_t count;
} heard;

static tacit_status hear(void *context, const tacit_needed_column *needed, tacit_error *error) {
    heard *self = context;
    if (self->stop_after > 0 && ++self->count == self->stop_after)
        return tacit_fail(error, TACIT_IO, "enough");
    return tacit_buffer_print(&self->text, error, "%s|%s|%s|%s\n", needed->name, needed->role, needed->values,
                              needed->missing);
}

static void assert_needed(const char *yaml, const char *expected) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = schema_of(yaml);
    heard self = { .text = TACIT_BUFFER_INIT };
    CHECK_OK(tacit_schema_needed(schema, hear, &self, &error), error);
    assert_string_equal(tacit_buffer_text(&self.text), expected);
    tacit_buffer_clear(&self.text);
    tacit_schema_free(schema);
}

static void every_kind_of_column_says_what_may_stand_there(void **state) {
    (void)state;
    assert_needed(LABEL "columns:\n"
                        "  - {name: age, kind: number, low: 0, high: 120.5, missing: indicator}\n"
                        "  - {name: born, kind: number, date: age at 2020-01-01, low: 0, high: 110}\n"
                        "  - {name: sex, kind: category, levels: [f, m], missing: level}\n"
                        "  - {name: ward, kind: category, levels: [A, B, other], others: other}\n"
                        "  - {name: note, kind: text, hash: 64}\n"
                        "  - {name: id, kind: skip}\n",
                  "y|label|no or yes|error\n"
                  "age|column|a number from 0 to 120.5; what lies beyond counts as the bound|indicator\n"
                  "born|column|a date, taken as age at 2020-01-01, from 0 to 110; what lies beyond counts as "
                  "the bound|fill\n"
                  "sex|column|f or m|level\n"
                  "ward|column|A, B or other; anything else counts as other|fill\n"
                  "note|column|text|fill\n");
}

static void of_many_levels_the_first_are_named(void **state) {
    (void)state;
    assert_needed(LABEL "columns: [{name: c, kind: category, levels: [a, b, c, d, e, f, g, h, i, j]}]\n",
                  "y|label|no or yes|error\nc|column|a, b, c, d, e, f, g, h and 2 more|fill\n");
}

static void a_level_of_any_length_fits(void **state) {
    (void)state;
    char yaml[8192];
    size_t at = (size_t)snprintf(yaml, sizeof yaml, LABEL "columns: [{name: c, kind: category, levels: [");
    for (int i = 0; i < 9; i++)
        at += (size_t)snprintf(yaml + at, sizeof yaml - at, "%s%0300d", i > 0 ? ", l" : "l", i);
    snprintf(yaml + at, sizeof yaml - at, "]}]\n");
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = schema_of(yaml);
    heard self = { .text = TACIT_BUFFER_INIT };
    CHECK_OK(tacit_schema_needed(schema, hear, &self, &error), error);
    assert_true(self.text.length < 2 * TACIT_NEEDED_VALUES_SIZE);
    tacit_buffer_clear(&self.text);
    tacit_schema_free(schema);
}

static void a_time_has_two_columns_and_a_person_one(void **state) {
    (void)state;
    static const char yaml[] = "label: {name: [days, died], kind: time, low: 0, high: 3650}\n"
                               "columns: [{name: age, kind: number, low: 0, high: 99}]\nperson: patient\n";
    assert_needed(yaml, "days|label|a time from 0 to 3650; what lies beyond counts as the bound|error\n"
                        "died|label|1: the event was seen then; 0: it was not seen yet|error\n"
                        "patient|person|whose row it is; it never leaves|error\n"
                        "age|column|a number from 0 to 99; what lies beyond counts as the bound|fill\n");
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = schema_of(yaml);
    tacit_buffer header = TACIT_BUFFER_INIT;
    CHECK_OK(tacit_schema_header(schema, &header, &error), error);
    assert_string_equal(tacit_buffer_text(&header), "days,died,patient,age\n");
    tacit_buffer_clear(&header);
    tacit_schema_free(schema);
}

static void a_name_with_a_comma_reads_back(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = schema_of(LABEL "columns: [{name: \"a, b\", kind: number, low: 0, high: 1}]\n");
    tacit_buffer header = TACIT_BUFFER_INIT;
    CHECK_OK(tacit_schema_header(schema, &header, &error), error);
    assert_string_equal(tacit_buffer_text(&header), "y,\"a, b\"\n");
    tacit_buffer_clear(&header);
    tacit_schema_free(schema);
}

static void rows_without_columns_are_refused(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = schema_of(LABEL "sparse: 10\nrows: unit\n");
    heard self = { .text = TACIT_BUFFER_INIT };
    assert_int_equal(tacit_schema_needed(schema, hear, &self, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "LIBSVM"));
    tacit_schema_free(schema);
}

static void a_visitor_that_fails_ends_the_visit(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = schema_of(LABEL "columns: [{name: a, kind: number, low: 0, high: 1}]\n");
    heard self = { .text = TACIT_BUFFER_INIT, .stop_after = 2 };
    assert_int_equal(tacit_schema_needed(schema, hear, &self, &error), TACIT_IO);
    assert_int_equal(self.count, 2);
    tacit_buffer_clear(&self.text);
    tacit_schema_free(schema);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_column_says_what_may_stand_there),
        cmocka_unit_test(of_many_levels_the_first_are_named),
        cmocka_unit_test(a_level_of_any_length_fits),
        cmocka_unit_test(a_time_has_two_columns_and_a_person_one),
        cmocka_unit_test(a_name_with_a_comma_reads_back),
        cmocka_unit_test(rows_without_columns_are_refused),
        cmocka_unit_test(a_visitor_that_fails_ends_the_visit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
