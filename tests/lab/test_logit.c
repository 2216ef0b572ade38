/* The experiments on secure logistic regression: their simulated rows, and a fit beside the same optimiser in
 * the clear. */
#include "check.h"

#include "lab/reproduce/logit_run.h"
#include "lab/reproduce/logit_sets.h"

static void a_simulated_set_lies_in_the_ball_and_has_its_scale(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(1);
    const tacit_logit_set *set = tacit_logit_set_find("SimuX10");
    tacit_dataset *data = NULL;
    double scale = 0, largest = 0, spread = 0;
    CHECK_OK(tacit_logit_set_read(&data, &scale, set, false, NULL, &stream, &error), error);
    assert_int_equal(data->rows, set->rows);
    assert_int_equal(data->features, set->columns);
    for (size_t i = 0; i < data->rows; i++) {
        double square = 0;
        for (size_t j = 0; j < data->features; j++)
            square += pow(data->dense.values[i * data->features + j], 2);
        largest = fmax(largest, square);
        spread += square * scale * scale;
    }
    assert_true(largest <= 1 && largest > 0.999);
    CHECK_NEAR(spread / (double)(data->rows * data->features), 1, 0.02); /* 10 standard deviations */
    tacit_dataset_free(data);
}

static void a_fit_takes_the_steps_of_the_optimiser_in_the_clear(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(1);
    tacit_dataset *data = NULL;
    double scale = 0;
    tacit_logit_fit fit;
    tacit_logit_reference plain;
    CHECK_OK(
        tacit_logit_set_read(&data, &scale, tacit_logit_set_find("SimuX10"), false, NULL, &stream, &error),
        error);
    tacit_logit_run_options options = { "privlogit-hessian", "shares", "likelihood", scale, 1, 5 };
    CHECK_OK(tacit_logit_fit_run(&fit, data, &options, 1, NULL, &error), error);
    tacit_view rows = tacit_dataset_view(data);
    tacit_logit_reference_settings settings = {
        .scale = scale, .lambda = 1, .likelihood_change = 1e-6, .most_iterations = 100
    };
    CHECK_OK(tacit_logit_reference_run(&plain, &rows, &settings, &error), error);
    assert_true(plain.stopped);
    assert_int_equal(fit.iterations, plain.iterations);
    assert_true(tacit_logit_fit_difference(&fit, &plain) < 1e-6);
    assert_true(fit.seconds > 0 && fit.report.center_seconds > 0 && fit.report.node_seconds > 0);
    tacit_logit_fit_clear(&fit);
    tacit_logit_reference_clear(&plain);
    tacit_dataset_free(data);
}

static void newton_may_run_away_and_privlogit_does_not(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(1);
    tacit_dataset *data = NULL;
    double scale = 0;
    CHECK_OK(
        tacit_logit_set_read(&data, &scale, tacit_logit_set_find("SimuX10"), false, NULL, &stream, &error),
        error);
    tacit_view rows = tacit_dataset_view(data);
    for (int newton = 0; newton < 2; newton++) {
        tacit_logit_reference run;
        tacit_logit_reference_settings settings = { .newton = newton,
                                                    .scale = scale,
                                                    .lambda = 1,
                                                    .start = 5,
                                                    .likelihood_change = 1e-6,
                                                    .most_iterations = 200 };
        CHECK_OK(tacit_logit_reference_run(&run, &rows, &settings, &error), error);
        assert_true(run.stopped == !newton);
        tacit_logit_reference_clear(&run);
    }
    tacit_dataset_free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_simulated_set_lies_in_the_ball_and_has_its_scale),
        cmocka_unit_test(a_fit_takes_the_steps_of_the_optimiser_in_the_clear),
        cmocka_unit_test(newton_may_run_away_and_privlogit_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
