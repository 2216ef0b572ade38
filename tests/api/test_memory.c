/* Memory that runs out anywhere is an error and no leak; rows that can be used where they lie are not
 * copied. */
#include "failing.h"
#include "library.h"

static sample made;

static int make(void **state) {
    (void)state;
    sample_make(&made);
    return 0;
}

/* Everything a program does before and after a fit, once. */
static tacit_status go_through(char **text, tacit_error *error) {
    static double probability[ROWS][2];
    tacit_options *options = NULL;
    tacit_frame *frame = NULL;
    tacit_model *model = NULL;
    tacit_status status = tacit_options_create(&options, error);
    if (status == TACIT_OK) status = tacit_options_set(options, "method", "output", error);
    if (status == TACIT_OK) status = tacit_options_set(options, "epsilon", "1", error);
    if (status == TACIT_OK) status = tacit_options_set(options, "seed", "1", error);
    if (status == TACIT_OK) status = tacit_options_set(options, "threads", "1", error);
    if (status == TACIT_OK)
        status = tacit_frame_dense(&frame, made.value, TACIT_NUMBER_DOUBLE, ROWS, COLUMNS,
                                   sizeof made.value[0], sizeof(double), error);
    if (status == TACIT_OK) status = tacit_frame_set_classes(frame, made.label, 2, NULL, error);
    if (status == TACIT_OK) status = tacit_frame_set_bounds(frame, made.low, made.high, true, error);
    if (status == TACIT_OK) status = tacit_frame_fit(&model, frame, options, NULL, NULL, error);
    if (status == TACIT_OK)
        status = tacit_model_predict(&probability[0][0], ROOM(probability), NULL, 0, model, frame, 1, error);
    if (status == TACIT_OK) status = tacit_model_to_json(text, model, error);
    tacit_model_free(model);
    tacit_frame_free(frame);
    tacit_options_free(options);
    return status;
}

static void memory_may_run_out_anywhere(void **state) {
    (void)state;
    bool failed = true;
    for (long at = 1; failed; at++) {
        tacit_error error = TACIT_ERROR_INIT;
        char *text = NULL;
        fail_allocation(at);
        tacit_status status = go_through(&text, &error);
        failed = allocation_failed();
        if (failed && status != TACIT_OK)
            assert_null(text);
        else
            CHECK_OK(status, error); /* a cache that could not be made is no failure */
        tacit_string_free(text);
    }
}

/* Noise, a choice and a composition, once. */
static tacit_status draw_and_compose(char **text, tacit_error *error) {
    static const double values[] = { 1, 2, 3 };
    static const char *const words[][2] = { { "law", "gaussian" },
                                            { "sensitivity", "1" },
                                            { "epsilon", "1" },
                                            { "delta", "1e-5" },
                                            { "seed", "1" } };
    tacit_options *noise = NULL, *events = NULL;
    double out[3];
    tacit_status status = tacit_options_create(&noise, error);
    for (size_t k = 0; k < sizeof words / sizeof *words && status == TACIT_OK; k++)
        status = tacit_options_set(noise, words[k][0], words[k][1], error);
    if (status == TACIT_OK) status = tacit_noise_add(out, values, 3, noise, NULL, error);
    if (status == TACIT_OK) status = tacit_options_create(&events, error);
    if (status == TACIT_OK) status = tacit_options_set(events, "event", "pure epsilon=0.1 count=3", error);
    if (status == TACIT_OK) status = tacit_options_set(events, "delta", "1e-5", error);
    if (status == TACIT_OK) status = tacit_compose_document(text, events, error);
    tacit_options_free(events);
    tacit_options_free(noise);
    return status;
}

static void memory_may_run_out_while_noise_is_drawn_and_prices_composed(void **state) {
    (void)state;
    bool failed = true;
    for (long at = 1; failed; at++) {
        tacit_error error = TACIT_ERROR_INIT;
        char *text = NULL;
        fail_allocation(at);
        tacit_status status = draw_and_compose(&text, &error);
        failed = allocation_failed();
        if (failed && status != TACIT_OK)
            assert_null(text);
        else
            CHECK_OK(status, error);
        tacit_string_free(text);
    }
}

enum { MANY = 20000, FEW = 20 };

/* What a fit allocates, in bytes. */
static size_t bytes_of_fit(const double *values, const int32_t *label, double norm) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_frame *frame = NULL;
    CHECK_OK(tacit_frame_dense(&frame, values, TACIT_NUMBER_DOUBLE, MANY, FEW, FEW * sizeof(double),
                               sizeof(double), &error),
             error);
    CHECK_OK(tacit_frame_set_classes(frame, label, 2, NULL, &error), error);
    CHECK_OK(tacit_frame_set_norm(frame, norm, false, &error), error);
    size_t before = bytes_allocated();
    tacit_model_free(
        fit_with(frame, OPTIONS("method", "output", "epsilon", "1", "seed", "1", "threads", "1")));
    size_t after = bytes_allocated();
    tacit_frame_free(frame);
    return after - before;
}

static void rows_inside_the_ball_are_not_copied(void **state) {
    (void)state;
    double *values = calloc((size_t)MANY * FEW, sizeof *values);
    int32_t *label = calloc(MANY, sizeof *label);
    assert_true(values != NULL && label != NULL);
    for (size_t i = 0; i < MANY; i++) {
        for (size_t j = 0; j < FEW; j++) values[i * FEW + j] = (double)((i * 31 + j * 17) % 41) / 410 - 0.05;
        label[i] = values[i * FEW] > 0;
    }
    size_t in_place = bytes_of_fit(values, label, 1), copied = bytes_of_fit(values, label, 2);
    assert_true(copied >= in_place + (size_t)MANY * FEW * sizeof *values);
    values[5 * FEW] = 3; /* one row too long: now all are copied, and that one is shortened */
    assert_true(bytes_of_fit(values, label, 1) >= in_place + (size_t)MANY * FEW * sizeof *values);
    free(values);
    free(label);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(memory_may_run_out_while_noise_is_drawn_and_prices_composed),
        cmocka_unit_test(rows_inside_the_ball_are_not_copied),
    };
    return cmocka_run_group_tests(tests, make, NULL);
}
