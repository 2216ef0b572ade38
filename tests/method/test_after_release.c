/* soft-stat chooses lambda from the statistic that it released: Stein's estimate is what it says it is, the
 * choice is made of nothing else, and a model that is mostly noise says so. */
#include "check.h"

#include "method/ensemble/after_release.h"
#include "votes.h"

enum { MOST = 5 * 6, DRAWS = 400 };

static void fit(voters *self, const double *statistic, double lambda, double *weights) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_session session = parties_begin(&self->all, 1);
    tacit_model *model = NULL;
    CHECK_OK(tacit_ensemble_fit(&session, statistic, lambda, 1e-11, false, &model, &error), error);
    memcpy(weights, model->weights, tacit_ensemble_size(&self->all.plan) * sizeof *weights);
    tacit_model_free(model);
}

/* The exact statistic of the parties' votes, and noise of variance 1 as soft-stat draws it. */
static void exact_statistic(voters *self, double *out) {
    tacit_votes votes = voters_ask(self);
    tacit_votes_to_shares(&votes);
    tacit_ensemble_statistic(&self->all.plan, &votes, out);
    tacit_votes_clear(&votes);
}

static void draw_noise(const voters *self, tacit_stream *stream, double *out) {
    const tacit_plan *plan = &self->all.plan;
    double contrasts[MOST];
    for (size_t j = 0; j < tacit_contrast_size(plan); j++) contrasts[j] = tacit_fast_normal(stream);
    tacit_points_unshape(plan->points, contrasts, plan->classes - 1);
    tacit_from_contrasts(plan, contrasts, NULL, out);
}

static tacit_after_estimate estimate(const voters *self, const double *statistic, double variance,
                                     double lambda, const double *weights) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_after_estimate out = { 0, 0, 0 };
    const tacit_released_statistic released = { statistic, variance };
    CHECK_OK(tacit_after_estimate_of(&self->all.plan, &released, lambda, weights, &out, &error), error);
    return out;
}

/* v tr(L L^T dw/ds): the sum over coordinates of the noise of what fits a little apart differ by. */
static void the_optimism_is_the_divergence_of_the_fit(void **state) {
    (void)state;
    for (size_t classes = 2; classes <= 4; classes++) {
        voters self;
        double statistic[MOST], weights[MOST], moved[MOST], step[MOST], unit[MOST], sum = 0, square = 0,
                                                                                    length = 0;
        voters_make(&self, &tacit_method_soft_stat, 50, classes, classes == 3, NULL);
        const tacit_plan *plan = &self.all.plan;
        const size_t size = tacit_ensemble_size(plan);
        exact_statistic(&self, statistic);
        fit(&self, statistic, 0.01, weights);
        for (size_t c = 0; c < tacit_contrast_size(plan); c++) {
            const double h = 1e-5;
            for (size_t j = 0; j < tacit_contrast_size(plan); j++) unit[j] = j == c;
            tacit_points_unshape(plan->points, unit, classes - 1);
            tacit_from_contrasts(plan, unit, NULL, step);
            for (size_t j = 0; j < size; j++) moved[j] = statistic[j] + h * step[j];
            fit(&self, moved, 0.01, moved);
            for (size_t j = 0; j < size; j++) {
                sum += step[j] * (moved[j] - weights[j]) / h;
                square += (moved[j] - weights[j]) * (moved[j] - weights[j]) / (h * h);
            }
        }
        for (size_t j = 0; j < size; j++) length += weights[j] * weights[j];
        tacit_after_estimate found = estimate(&self, statistic, 1e-4, 0.01, weights);
        CHECK_NEAR(found.optimism, 1e-4 * sum, 1e-3 * 1e-4 * sum);
        CHECK_NEAR(found.noise_share, 1e-4 * square / length, 2e-3 * 1e-4 * square / length);
        voters_end(&self);
    }
}

/* Over draws of noise, the mean of estimated minus true loss is 0 within 4.9 standard errors (false alarm
 * 1e-6); without the optimism it is not. */
static void the_estimate_is_fair(void **state) {
    (void)state;
    for (size_t classes = 2; classes <= 3; classes++) {
        voters self;
        double exact[MOST], noisy[MOST], weights[MOST], gap[DRAWS], bare[DRAWS], lambda = 0.01, v = 1e-3;
        tacit_stream stream = tacit_stream_from_seed(7);
        voters_make(&self, &tacit_method_soft_stat, 50, classes, false, NULL);
        exact_statistic(&self, exact);
        for (size_t i = 0; i < DRAWS; i++) {
            draw_noise(&self, &stream, noisy);
            for (size_t j = 0; j < tacit_ensemble_size(&self.all.plan); j++)
                noisy[j] = exact[j] + sqrt(v) * noisy[j];
            fit(&self, noisy, lambda, weights);
            tacit_after_estimate seen = estimate(&self, noisy, v, lambda, weights);
            const double truth = estimate(&self, exact, 0, lambda, weights).loss;
            gap[i] = seen.loss + seen.optimism - truth;
            bare[i] = seen.loss - truth;
        }
        double mean = 0, without = 0, square = 0;
        for (size_t i = 0; i < DRAWS; i++) mean += gap[i] / DRAWS, without += bare[i] / DRAWS;
        for (size_t i = 0; i < DRAWS; i++) square += (gap[i] - mean) * (gap[i] - mean) / (DRAWS - 1);
        const double error = sqrt(square / DRAWS);
        print_message("# %zu classes: bias %g, without the optimism %g, standard error %g\n", classes, mean,
                      without, error);
        assert_true(fabs(mean) < 4.9 * error);
        assert_true(fabs(without) > 4.9 * error);
        voters_end(&self);
    }
}

static double run(voters *self, double epsilon, double lambda, double *noise_share) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    self->all.plan.epsilon = epsilon;
    self->all.plan.delta = 1e-5;
    self->all.plan.lambda = lambda;
    tacit_session session = parties_begin(&self->all, 3);
    CHECK_OK(tacit_plan_check(&self->all.plan, &error), error);
    CHECK_OK(tacit_method_soft_stat.coordinate(&session, &outcome, &error), error);
    const double chosen = outcome.lambda;
    *noise_share = outcome.models[0]->noise_share;
    tacit_outcome_clear(&outcome);
    return chosen;
}

static void less_noise_takes_less_lambda_and_drowned_models_say_so(void **state) {
    (void)state;
    for (size_t classes = 2; classes <= 3; classes++) {
        voters self;
        double share;
        voters_make(&self, &tacit_method_soft_stat, 50, classes, false, NULL);
        const double drowned = run(&self, 0.01, 0, &share);
        assert_true(share > 0.5);
        const double good = run(&self, 30, 0, &share);
        assert_true(share < 0.5);
        assert_true(good < drowned);
        CHECK_NEAR(run(&self, 30, 0, &share), good, 0); /* the same every time */
        CHECK_NEAR(run(&self, INFINITY, 0, &share), 1e-5, 1e-17);
        CHECK_NEAR(run(&self, 30, 0.123, &share), 0, 0); /* a given lambda is kept: none was chosen */
        voters_end(&self);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_optimism_is_the_divergence_of_the_fit),
        cmocka_unit_test(the_estimate_is_fair),
        cmocka_unit_test(less_noise_takes_less_lambda_and_drowned_models_say_so),
    };
    return cmocka_run_group_tests_name("after_release", tests, NULL, NULL);
}
