/* Every allocation of reading, encoding and imputing rows with missing values fails once. */
#include "check.h"
#include "survive.h"

#include "data/dataset.h"
#include "data/impute/impute.h"

static const char rows_text[] = "age,sex,note,y\n5,f,a,no\n,m,b,yes\n90,,a,no\n7,f,a,\n3,m,,yes\n8,f,a,yes\n";
static const char schema_text[] =
    "label: {name: y, classes: [no, yes], missing: complete-case}\n"
    "columns:\n- {name: age, kind: number, low: 0, high: 99, missing: indicator}\n"
    "- {name: sex, kind: category, levels: [f, m], missing: level}\n"
    "- {name: note, kind: category, levels: [a, b], missing: {fill: b}}\n";

static tacit_status read_with_gaps(tacit_error *error) {
    tacit_schema *schema = NULL;
    tacit_input *input = NULL;
    tacit_dataset *data = NULL;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_schema_parse(&schema, schema_text, sizeof schema_text - 1, "s.yaml", error));
    TACIT_CHECK(tacit_schema_encoding_text(schema, &text, error));
    TACIT_CHECK(tacit_input_open_memory(&input, rows_text, sizeof rows_text - 1, "t", error));
    TACIT_CHECK(tacit_dataset_read(&data, NULL, input, schema, NULL, error));
    assert_true(data->rows == 5 && data->missing.count == 3 && data->missing.left_out == 1);
cleanup:
    tacit_dataset_free(data);
    tacit_input_free(input);
    tacit_schema_free(schema);
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status impute_both_kinds(tacit_error *error) {
    static const uint32_t first[] = { 1, 4 }, second[] = { 0, 2 };
    double values[8 * 4];
    for (size_t i = 0; i < 8; i++) {
        values[4 * i] = 1;
        values[4 * i + 1] = (double)(i * 5 % 7);
        values[4 * i + 2] = (double)(i % 2);
        values[4 * i + 3] = (double)(i * i % 5);
    }
    const tacit_impute_variable variable[] = {
        { .name = "a", .first = 1, .count = 1, .low = -9, .high = 9, .cells = 2, .row = first },
        { .name = "b", .first = 2, .count = 1, .category = true, .unit = 1, .cells = 2, .row = second },
    };
    const tacit_impute_problem problem = {
        .rows = 8, .width = 4, .values = values, .variables = 2, .variable = variable, .sweeps = 2
    };
    tacit_stream stream = tacit_stream_from_seed(1);
    return tacit_impute(&problem, &stream, error);
}

SURVIVES(read_with_gaps)
SURVIVES(impute_both_kinds)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_with_gaps_survives_any_failed_allocation),
        cmocka_unit_test(impute_both_kinds_survives_any_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
