/* Numbers have a decimal point in everything that is read and written, whatever locale the program has set.
 * Run by tests/german.py. */
#include <limits.h>
#include <locale.h>
#include <stdio.h>

#include "../service/definition.h"
#include "base/number.h"
#include "data/schema/text.h"
#include "library.h"

static sample made;

static int make(void **state) {
    (void)state;
    sample_make(&made);
    return 0;
}

static void add(tacit_buffer *out, char *text) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_buffer_print(out, &error, "%s\n", text), error);
    tacit_string_free(text);
}

static tacit_frame *frame_of_memory(void) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = NULL;
    CHECK_OK(tacit_frame_dense(&frame, made.value, TACIT_NUMBER_DOUBLE, ROWS, COLUMNS, sizeof made.value[0],
                               sizeof(double), &error),
             error);
    CHECK_OK(tacit_frame_set_bounds(frame, made.low, made.high, true, &error), error);
    CHECK_OK(tacit_frame_set_classes(frame, made.label, 2, NULL, &error), error);
    return frame;
}

/* Fits, and all that a model is written as and read from. */
static void say_model(tacit_buffer *out, const tacit_frame *frame) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_options *options = OPTIONS("method", "plr", "epsilon", "1.5", "lambda", "0.125", "seed", "7");
    tacit_model *model = NULL, *again = NULL;
    char *text = NULL;
    void *bytes = NULL;
    size_t length = 0;
    CHECK_OK(tacit_frame_fit(&model, frame, options, NULL, NULL, &error), error);
    CHECK_OK(tacit_model_to_json(&text, model, &error), error);
    CHECK_OK(tacit_model_from_json(&again, text, strlen(text), &error), error);
    add(out, text);
    CHECK_OK(tacit_model_to_json(&text, again, &error), error);
    add(out, text);
    CHECK_OK(tacit_model_document(&text, again, &error), error);
    add(out, text);
    CHECK_OK(tacit_model_to_pmml(&text, again, &error), error);
    add(out, text);
    CHECK_OK(tacit_model_to_onnx(&bytes, &length, again, &error), error);
    CHECK_OK(tacit_buffer_append(out, bytes, length, &error), error);
    tacit_bytes_free(bytes);
    tacit_model_free(model);
    tacit_model_free(again);
    tacit_options_free(options);
}

static void say_simulation(tacit_buffer *out, const tacit_frame *frame) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_options *options = OPTIONS("method", "avg", "epsilon", "0.5", "lambda", "0.25", "seed", "7",
                                     "parties", "3", "test-fraction", "0.25");
    tacit_model *model = NULL;
    char *text = NULL;
    CHECK_OK(tacit_frame_simulate(&text, &model, frame, NULL, NULL, NULL, options, NULL, &error), error);
    char *seconds = strstr(text, "\"seconds\""); /* what differs from run to run */
    if (seconds != NULL) *seconds = 0;
    add(out, text);
    CHECK_OK(tacit_model_to_json(&text, model, &error), error);
    add(out, text);
    tacit_model_free(model);
    tacit_options_free(options);
}

static void say_promises(tacit_buffer *out) {
    tacit_error error = TACIT_ERROR_INIT, refused = TACIT_ERROR_INIT;
    tacit_options *options = OPTIONS("method", "gop", "epsilon", "0.75", "delta", "1e-5");
    tacit_options *wrong = OPTIONS("method", "gop", "epsilon", "0,75");
    tacit_ledger *ledger = NULL;
    char *text = NULL, path[PATH_MAX];
    CHECK_OK(tacit_explain_document(&text, options, &error), error);
    add(out, text);
    assert_int_equal(tacit_explain_document(&text, wrong, &refused), TACIT_USAGE);
    const char *folder = getenv("LOCPATH");
    assert_non_null(folder);
    snprintf(path, sizeof path, "%s/ledger.db", folder);
    CHECK_OK(tacit_ledger_at(&ledger, path, "rows", &error), error);
    CHECK_OK(tacit_ledger_limit(ledger, false, 2.5, 0.125, &error), error);
    CHECK_OK(tacit_ledger_document(&text, ledger, &error), error);
    assert_non_null(strstr(text, "2.5"));
    tacit_string_free(text);
    tacit_ledger_free(ledger);
    tacit_options_free(options);
    tacit_options_free(wrong);
}

/* A definition, with its schema: what is hashed and signed. */
static void say_definition(tacit_buffer *out) {
    char text[DEFINITION_SIZE];
    tacit_error error = TACIT_ERROR_INIT, refused = TACIT_ERROR_INIT;
    tacit_study *study = NULL;
    CHECK_OK(definition_parse(
                 &study,
                 definition_with(text, "schema",
                                 "|\n  label: {name: y, classes: [n, p]}\n  columns:\n    - {name: a, "
                                 "kind: number, low: 0.1234567890123456789, high: 1.5e10}"),
                 &error),
             error);
    CHECK_OK(tacit_buffer_append(out, study->canonical.bytes, study->canonical.length, &error), error);
    tacit_study_free(study);
    assert_int_equal(definition_parse(&study, definition_with(text, "epsilon", "0.0000001"), &refused),
                     TACIT_INPUT);
    CHECK_OK(tacit_buffer_print(out, &error, "%s\n", refused.text), error);
}

static void say_numbers(tacit_buffer *out) {
    static const double values[] = { 0.5, 1.0 / 3, 1e-300, -123456.789, 5e-324 };
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[TACIT_NUMBER_TEXT], line[64];
        double back = 0;
        tacit_number_to_text(values[i], text);
        assert_true(tacit_text_to_number(text, strlen(text), &back) && back == values[i]);
        assert_true(tacit_read_double(text, NULL) == values[i]);
        tacit_format(line, sizeof line, "%.3f", values[i]);
        CHECK_OK(tacit_buffer_print(out, &error, "%s %s %.17g\n", text, line, values[i]), error);
    }
}

static void say_all(tacit_buffer *out) {
    tacit_frame *frame = frame_of_memory();
    say_numbers(out);
    say_definition(out);
    say_promises(out);
    say_model(out, frame);
    say_simulation(out, frame);
    tacit_frame_free(frame);
}

static void a_decimal_comma_changes_nothing(void **state) {
    (void)state;
    tacit_buffer plain = TACIT_BUFFER_INIT, german = TACIT_BUFFER_INIT;
    char control[16];
    say_all(&plain);
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) fail_msg("no locale de_DE.UTF-8: run by tests/german.py");
    snprintf(control, sizeof control, "%.1f", 0.5);
    assert_string_equal(control, "0,5"); /* the locale is in force, and would show */
    say_all(&german);
    snprintf(control, sizeof control, "%.1f", 0.5);
    assert_string_equal(control, "0,5"); /* and the program still has it */
    assert_int_equal(plain.length, german.length);
    assert_memory_equal(plain.bytes, german.bytes, plain.length);
    tacit_buffer_clear(&plain);
    tacit_buffer_clear(&german);
    setlocale(LC_ALL, "C");
}

/* The C library keeps the parts of LOCPATH for good. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:__argz_add_sep"; }

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_decimal_comma_changes_nothing) };
    return cmocka_run_group_tests(tests, make, NULL);
}
