/*
 * Every term of the declared sensitivities, rounding and solver included: replays see rows move, and rounding
 * is too small for them to see. And what a party refuses or does in a sum: another sum than the study's, rows
 * with the probability that is charged.
 */
#include "check.h"

#include "method/private/dpsgd.h"
#include "method/private/gradient.h"
#include "num/special.h"
#include "parties.h"
#include "privacy/mechanism/erm.h"

static void set(tacit_plan *plan, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(plan, name, value, &error), error);
}

static tacit_plan plan_of(const tacit_method *method, size_t classes) {
    return (tacit_plan){ .method = method,
                         .study = "test",
                         .epsilon = 1,
                         .delta = 1e-5,
                         .lambda = 1e-6, /* large weights make a coarse grid, whose rounding then counts */
                         .features = 7,
                         .classes = classes,
                         .parties = 3,
                         .minimum_parties = 1,
                         .minimum_rows = 40 };
}

static double declared(const tacit_plan *plan) {
    tacit_noise_law law;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_noise(plan, &law, &error), error);
    return law.sensitivity;
}

static void dpgd_pays_for_the_rounding_of_gradients_and_grid(void **state) {
    (void)state;
    for (size_t classes = 2; classes <= 4; classes++) {
        tacit_plan plan = plan_of(&tacit_method_dpgd, classes);
        tacit_sum_spec spec;
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(dpgd_sum(&plan, &spec, &error), error);
        double norm = classes > 2 ? sqrt(2) : 1, rounding = GRADIENT_ROUNDING + tacit_sum_rounding(&spec);
        assert_true(rounding > 0);
        assert_true(declared(&plan) >= 2 * norm + 2 * rounding);
        CHECK_NEAR(declared(&plan), 2 * norm + 2 * rounding, 1e-11);
    }
}

static void avg_pays_for_solver_and_grid(void **state) {
    (void)state;
    const tacit_plan plan = plan_of(&tacit_method_avg, 2);
    const double w = tacit_lambert_w(1 / M_E), largest = fmin(1 / plan.lambda, sqrt(w / plan.lambda));
    const double tolerance = tacit_fit_tolerance(plan.features, 2, 0.25, 1, 0, largest) / plan.lambda;
    tacit_sum_spec spec;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_sum_spec_for(&spec, plan.features, largest + tolerance, plan.parties, &error), error);
    const double shift = fmin(2 / ((double)plan.minimum_rows * plan.lambda), 2 * largest);
    const double least = shift + 2 * (tolerance + tacit_sum_rounding(&spec));
    assert_true(declared(&plan) >= least);
    CHECK_NEAR(declared(&plan) / least, 1, 1e-9);
    assert_true(least > shift * (1 + 1e-8)); /* so that this test can tell */
}

static void dpsgd_pays_for_the_rounding_of_clipped_gradients(void **state) {
    (void)state;
    tacit_plan plan = plan_of(&tacit_method_dpsgd, 2);
    dpsgd_setup setup;
    tacit_error error = TACIT_ERROR_INIT;
    set(&plan, "hidden", "30");
    CHECK_OK(dpsgd_setup_make(&plan, 0, &setup, &error), error);
    double rounding = tacit_sum_rounding(&setup.spec) + sqrt((double)setup.size) * 0x1p-33;
    assert_true(setup.row_shift >= 1 + 2 * rounding);
    CHECK_NEAR(setup.row_shift, 1 + 2 * rounding, 1e-11);
    assert_true(rounding > 1e-9);
    CHECK_NEAR(declared(&plan), 2 * setup.row_shift, 0);
}

static void a_party_answers_the_studys_own_sum_only(void **state) {
    (void)state;
    static const tacit_method *const methods[] = { &tacit_method_output, &tacit_method_plr,
                                                   &tacit_method_gop };
    for (size_t m = 0; m < 3; m++) {
        parties world;
        parties_make(&world, ball(30, 4, 2), 3, NULL);
        world.plan.method = methods[m];
        world.plan.epsilon = 1;
        world.plan.delta = 0.01;
        tacit_session session = parties_begin(&world, 1);
        tacit_sum_spec other; /* a grid so fine that rounding to it would hide little of the noise */
        tacit_sum sum = TACIT_SUM_INIT;
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(tacit_sum_spec_for(&other, 4, 1e-3, 3, &error), error);
        assert_int_not_equal(tacit_ask_sum(&session, "weights", NULL, &other, &sum, &error), TACIT_OK);
        assert_non_null(strstr(error.text, "0 parties answered")); /* all refused */
        tacit_sum_clear(&sum);
        parties_end(&world);
    }
}

/* Rows that are all alike, of which one step takes part: weights then move by the rows that were drawn over
 * those expected. */
static double moved(const char *sampling, const char *rate, double *at) {
    enum { ROWS = 200000 };
    parties world;
    tacit_dataset *data = ball(ROWS, 1, 4);
    for (size_t i = 0; i < ROWS; i++) {
        data->dense.values[i] = 1;
        data->label[i] = 1;
    }
    parties_make(&world, data, 2, NULL);
    world.plan.method = &tacit_method_dpsgd;
    world.plan.lambda = 0;
    set(&world.plan, "hidden", "none");
    set(&world.plan, "sampling", sampling);
    set(&world.plan, "epochs", sampling); /* one step */
    set(&world.plan, "clip", "0.001");
    set(&world.plan, "rate", rate);
    tacit_model *model = parties_run(&world, 9, NULL);
    double found = model->weights[0] - *at;
    tacit_model_free(model);
    parties_end(&world);
    return found;
}

/* Of 200,000 rows at q = 1/10 the number drawn has a standard deviation of .67% of its mean; 4.4% away is 6.5
 * of them: a false alarm in 1e10. A probability that is 10% off would be found with probability .999999. */
static void rows_take_part_with_the_probability_that_is_charged(void **state) {
    (void)state;
    double start = 0;
    start = moved("1", "1e-9", &start);
    double all = moved("1", "0.5", &start), some = moved("0.1", "0.5", &start);
    print_message("# drawn over expected: %.4f\n", some / all);
    assert_true(fabs(all) > 0);
    CHECK_NEAR(some / all, 1, 0.044);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dpgd_pays_for_the_rounding_of_gradients_and_grid),
        cmocka_unit_test(avg_pays_for_solver_and_grid),
        cmocka_unit_test(dpsgd_pays_for_the_rounding_of_clipped_gradients),
        cmocka_unit_test(a_party_answers_the_studys_own_sum_only),
        cmocka_unit_test(rows_take_part_with_the_probability_that_is_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
