/* What a program must not do is told, and does no harm: NULL where something is needed, and buffers that are
 * too small. */
#include "library.h"

static sample made;

static int make(void **state) {
    (void)state;
    sample_make(&made);
    return 0;
}

static tacit_frame *frame_of(size_t classes, int32_t label[ROWS]) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = NULL;
    for (size_t i = 0; i < ROWS; i++) label[i] = (int32_t)(i % classes);
    CHECK_OK(tacit_frame_dense(&frame, made.value, TACIT_NUMBER_DOUBLE, ROWS, COLUMNS, sizeof made.value[0],
                               sizeof(double), &error),
             error);
    CHECK_OK(tacit_frame_set_bounds(frame, made.low, made.high, true, &error), error);
    CHECK_OK(tacit_frame_set_classes(frame, label, classes, NULL, &error), error);
    return frame;
}

static tacit_model *model_of(const tacit_frame *frame) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_options *options = OPTIONS("method", "output", "epsilon", "1", "lambda", "0.1", "seed", "1");
    tacit_model *model = NULL;
    CHECK_OK(tacit_frame_fit(&model, frame, options, NULL, NULL, &error), error);
    tacit_options_free(options);
    return model;
}

/* Nothing is written where not everything fits, whatever the model is. */
static void a_buffer_that_is_too_small_is_not_written_to(void **state) {
    (void)state;
    enum { CLASSES = 40 };
    static double scores[ROWS * CLASSES + 1];
    static int32_t labels[ROWS + 1], label[ROWS];
    double out[CLASSES * (COLUMNS + 1) + 1];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = frame_of(CLASSES, label);
    tacit_model *model = model_of(frame);
    const size_t all = (size_t)ROWS * CLASSES, numbers = (size_t)CLASSES * (COLUMNS + 1);
    scores[0] = scores[all] = out[0] = out[numbers] = 123;
    labels[0] = labels[ROWS] = 123;
    CHECK_FAILS(tacit_model_predict(scores, 2, NULL, 0, model, frame, 1, failed), TACIT_LIMIT,
                "room for 2 scores");
    CHECK_FAILS(tacit_model_predict(scores, all - 1, NULL, 0, model, frame, 1, failed), TACIT_LIMIT,
                "300 times 40");
    CHECK_FAILS(tacit_model_predict(NULL, 0, labels, ROWS - 1, model, frame, 1, failed), TACIT_LIMIT,
                "room for 299 labels");
    CHECK_FAILS(tacit_model_predict(scores, all, labels, 0, model, frame, 1, failed), TACIT_LIMIT, "labels");
    CHECK_FAILS(tacit_model_coefficients(out, numbers - 1, model, failed), TACIT_LIMIT, "40 times 5");
    assert_true(scores[0] == 123 && out[0] == 123 && labels[0] == 123);
    CHECK_OK(tacit_model_predict(scores, all, labels, ROWS, model, frame, 2, &error), error);
    CHECK_OK(tacit_model_predict(NULL, 0, NULL, 0, model, frame, 1, &error), error);
    CHECK_OK(tacit_model_coefficients(out, numbers, model, &error), error);
    assert_true(scores[0] != 123 && out[0] != 123 && labels[0] != 123);
    assert_true(scores[all] == 123 && out[numbers] == 123 && labels[ROWS] == 123);
    tacit_model_free(model);
    tacit_frame_free(frame);
}

#define REFUSES(call) CHECK_FAILS(call, TACIT_USAGE, "NULL was given")

static void what_a_call_cannot_do_without_is_asked_for(void **state) {
    (void)state;
    static int32_t label[ROWS];
    static const char *const names[COLUMNS] = { "a", "b", "c", "d" };
    tacit_frame *frame = frame_of(2, label), *none = NULL;
    tacit_model *model = model_of(frame);
    double numbers[2];
    int64_t start[2] = { 0, 0 };
    char *text = NULL;
    void *bytes = NULL;
    size_t length = 0;
    REFUSES(tacit_options_create(NULL, failed));
    REFUSES(tacit_options_set(NULL, "method", "plr", failed));
    REFUSES(tacit_frame_dense(NULL, numbers, TACIT_NUMBER_DOUBLE, 1, 2, 0, 8, failed));
    REFUSES(tacit_frame_sparse(NULL, numbers, start, start, TACIT_INDEX_INT64, 1, 2, failed));
    REFUSES(tacit_frame_load(NULL, "rows.csv", NULL, NULL, failed));
    REFUSES(tacit_frame_set_classes(NULL, label, 2, NULL, failed));
    REFUSES(tacit_frame_set_response(NULL, numbers, 0, 1, false, failed));
    REFUSES(tacit_frame_set_parties(NULL, label, 2, failed));
    REFUSES(tacit_frame_set_bounds(NULL, made.low, made.high, true, failed));
    REFUSES(tacit_frame_set_norm(NULL, 1, true, failed));
    REFUSES(tacit_frame_set_bounds_from_data(NULL, true, failed));
    REFUSES(tacit_frame_mark_from_data(NULL, true, true, failed));
    REFUSES(tacit_frame_refuse_missing(NULL, failed));
    REFUSES(tacit_frame_set_names(NULL, names, failed));
    REFUSES(tacit_frame_fit(&model, NULL, NULL, NULL, NULL, failed));
    REFUSES(tacit_frame_fit(NULL, frame, NULL, NULL, NULL, failed));
    REFUSES(tacit_frame_simulate(NULL, NULL, frame, NULL, NULL, NULL, NULL, NULL, failed));
    REFUSES(tacit_model_predict(numbers, 2, NULL, 0, NULL, frame, 1, failed));
    REFUSES(tacit_model_predict(numbers, 2, NULL, 0, model, NULL, 1, failed));
    REFUSES(tacit_model_coefficients(numbers, 2, NULL, failed));
    REFUSES(tacit_model_coefficients(NULL, 2, model, failed));
    REFUSES(tacit_model_document(&text, NULL, failed));
    REFUSES(tacit_model_document(NULL, model, failed));
    REFUSES(tacit_model_save(NULL, "model.json", failed));
    REFUSES(tacit_model_save(model, NULL, failed));
    REFUSES(tacit_model_load(&model, NULL, failed));
    REFUSES(tacit_model_load(NULL, "model.json", failed));
    REFUSES(tacit_model_to_json(&text, NULL, failed));
    REFUSES(tacit_model_to_json(NULL, model, failed));
    REFUSES(tacit_model_from_json(&model, NULL, 1, failed));
    REFUSES(tacit_model_from_json(NULL, "{}", 2, failed));
    REFUSES(tacit_model_to_onnx(&bytes, &length, NULL, failed));
    REFUSES(tacit_model_to_onnx(&bytes, NULL, model, failed));
    REFUSES(tacit_model_to_onnx(NULL, &length, model, failed));
    REFUSES(tacit_model_to_pmml(&text, NULL, failed));
    REFUSES(tacit_model_to_pmml(NULL, model, failed));
    assert_int_equal(tacit_frame_rows(NULL) + tacit_frame_columns(NULL), 0);
    assert_int_equal(tacit_model_outputs(NULL) + tacit_model_columns(NULL), 0);
    assert_true(text == NULL && bytes == NULL && none == NULL);
    tacit_model_free(model);
    tacit_frame_free(frame);
}

static void ledgers_sites_and_documents_ask_too(void **state) {
    (void)state;
    char *text = NULL;
    REFUSES(tacit_methods_document(NULL, failed));
    REFUSES(tacit_explain_document(NULL, NULL, failed));
    REFUSES(tacit_audit_document(NULL, NULL, NULL, failed));
    REFUSES(tacit_plan_document(NULL, NULL, NULL, failed));
    REFUSES(tacit_ledger_at(NULL, "ledger.db", "rows", failed));
    REFUSES(tacit_ledger_limit(NULL, false, 1, 0, failed));
    REFUSES(tacit_ledger_document(&text, NULL, failed));
    REFUSES(tacit_ledger_verdict(&text, NULL, failed));
    REFUSES(tacit_site_invited(NULL, "invitation", NULL, NULL, NULL, failed));
    REFUSES(tacit_site_joined(NULL, "study", NULL, NULL, NULL, failed));
    REFUSES(tacit_site_document(&text, NULL, failed));
    REFUSES(tacit_site_accept(NULL, failed));
    REFUSES(tacit_site_answer(NULL, NULL, failed));
    REFUSES(tacit_site_leave(NULL, NULL, failed));
    tacit_options_free(NULL);
    tacit_frame_free(NULL);
    tacit_model_free(NULL);
    tacit_ledger_free(NULL);
    tacit_site_free(NULL);
    tacit_string_free(NULL);
    tacit_bytes_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_that_is_too_small_is_not_written_to),
        cmocka_unit_test(what_a_call_cannot_do_without_is_asked_for),
        cmocka_unit_test(ledgers_sites_and_documents_ask_too),
    };
    return cmocka_run_group_tests(tests, make, NULL);
}
