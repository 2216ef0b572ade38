/* soft-stat chooses lambda from the statistic that it released, and pate from its noisy labels: Stein's
 * estimate is what it says it is, the choice is made of nothing else, and a model of any ensemble that is
 * mostly noise says so. */
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
    CHECK_OK(self->all.plan.method->coordinate(&session, &outcome, &error), error);
    const double chosen = outcome.lambda;
    *noise_share = outcome.models[0]->noise_share;
    tacit_outcome_clear(&outcome);
    return chosen;
}

static void less_noise_takes_less_lambda_and_drowned_models_say_so(void **state) {
    static const struct {
        const tacit_method *method;
        size_t classes;
    } cases[] = { { &tacit_method_soft_stat, 2 }, { &tacit_method_soft_stat, 3 }, { &tacit_method_pate, 2 } };
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        voters self;
        double share;
        voters_make(&self, cases[c].method, 50, cases[c].classes, false, NULL);
        const double drowned = run(&self, 0.01, 0, &share);
        assert_true(share > 0.5);
        const double good = run(&self, 30, 0, &share);
        assert_true(share < 0.5);
        assert_true(good < drowned);
        CHECK_NEAR(run(&self, 30, 0, &share), good, 0); /* the same every time */
        CHECK_NEAR(run(&self, INFINITY, 0, &share), 1e-5, 1e-17);
        CHECK_NEAR(run(&self, 30, 0.123, &share), 0, 0); /* a given lambda is kept: none was chosen */
        assert_true(share > 0 && share < 0.5);
        CHECK_NEAR(run(&self, 0.01, 0.123, &share), 0, 0);
        assert_true(share > 0.5);
        voters_end(&self);
    }
}

/* Of more than two classes pate's lambda is known before the parties are asked. */
static void pate_rehearses_more_than_two_classes(void **state) {
    (void)state;
    for (size_t classes = 2; classes <= 3; classes++) {
        tacit_error error = TACIT_ERROR_INIT;
        voters self;
        voters_make(&self, &tacit_method_pate, 50, classes, false, NULL);
        tacit_plan *plan = &self.all.plan;
        plan->epsilon = 1;
        plan->delta = 1e-5;
        plan->lambda = 0;
        CHECK_OK(tacit_plan_choose_lambda(plan, &error), error);
        if (classes == 2)
            assert_true(plan->lambda == 0);
        else
            assert_true(plan->lambda >= 1e-5 && plan->lambda <= 1);
        voters_end(&self);
    }
}

/* ---- what the others say ---- */

typedef struct said {
    double weights[MOST], noise_share;
} said;

static said coordinate(voters *self, double epsilon, uint64_t seed) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    said out;
    self->all.plan.epsilon = epsilon;
    tacit_session session = parties_begin(&self->all, seed);
    CHECK_OK(self->all.plan.method->coordinate(&session, &outcome, &error), error);
    memcpy(out.weights, outcome.models[0]->weights, tacit_ensemble_size(&self->all.plan) * sizeof(double));
    out.noise_share = outcome.models[0]->noise_share;
    tacit_outcome_clear(&outcome);
    return out;
}

/* Squared, of the contrasts: what is common to all classes says nothing. */
static double distance(const voters *self, const double *a, const double *b) {
    const tacit_plan *plan = &self->all.plan;
    double gap[MOST], contrasts[MOST], square = 0;
    for (size_t j = 0; j < tacit_ensemble_size(plan); j++) gap[j] = a[j] - (b != NULL ? b[j] : 0);
    tacit_to_contrasts(plan, gap, contrasts);
    for (size_t j = 0; j < tacit_contrast_size(plan); j++) square += contrasts[j] * contrasts[j];
    return square;
}

/* The mean square of what columns add to scores of the points. */
static double energy(const voters *self, const double *a, const double *b) {
    const tacit_plan *plan = &self->all.plan;
    const size_t d = plan->features, n = plan->points->rows.count;
    double gap[MOST], contrasts[MOST], out = 0;
    for (size_t j = 0; j < tacit_ensemble_size(plan); j++) gap[j] = a[j] - (b != NULL ? b[j] : 0);
    tacit_to_contrasts(plan, gap, contrasts);
    for (size_t k = 0; k + 1 < plan->classes; k++) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < n; i++) {
            const double score = tacit_rows_dot(&plan->points->rows, i, contrasts + k * d);
            sum += score / (double)n;
            square += score * score / (double)n;
        }
        out += square - sum * sum;
    }
    return out;
}

typedef double measure(const voters *self, const double *a, const double *b);

/* Noise in what was released, as the models say and as it was: over many draws. Beside the exact weights, or
 * the mean ones where noise is not added to weights. */
static void compare(voters *self, double epsilon, measure *size, bool of_mean, double *says, double *was) {
    said exact = coordinate(self, INFINITY, 0);
    CHECK_NEAR(exact.noise_share, 0, 0);
    for (size_t j = 0; of_mean && j < tacit_ensemble_size(&self->all.plan); j++) exact.weights[j] = 0;
    for (uint64_t i = 0; of_mean && i < DRAWS; i++) {
        said one = coordinate(self, epsilon, i);
        for (size_t j = 0; j < tacit_ensemble_size(&self->all.plan); j++)
            exact.weights[j] += one.weights[j] / DRAWS;
    }
    *says = *was = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        said one = coordinate(self, epsilon, i);
        assert_true(one.noise_share > 0 && one.noise_share <= 1);
        *says += one.noise_share * size(self, one.weights, NULL) / DRAWS;
        *was += size(self, one.weights, exact.weights) / DRAWS;
    }
}

/* |b|^2 of gamma-norm noise in D numbers has a relative deviation of sqrt((D + 2)(D + 3)/(D (D + 1)) - 1),
 * below .85 for D >= 6, so that the mean of 400 is within 21% of what it should be; the false-alarm rate is
 * 1e-6. Noise of half or twice the scale would be 75% or 300% off. */
static void noise_on_weights_is_told_as_it_is(void **state) {
    static const char *const calibrations[] = { "tight", "paper" };
    (void)state;
    for (size_t classes = 2; classes <= 4; classes++)
        for (size_t c = 0; c < 4; c++) {
            voters self;
            double says, was, drowned = 0;
            voters_make(&self, c < 2 ? &tacit_method_soft : &tacit_method_vote, 50, classes, false, NULL);
            voters_set(&self, "calibration", calibrations[c % 2]);
            compare(&self, c < 2 ? 100 : 3000, distance, false, &says, &was);
            assert_true(fabs(says / was - 1) < 0.21);
            for (uint64_t i = 0; i < 40; i++) drowned += coordinate(&self, 0.1, i).noise_share / 40;
            assert_true(drowned > 0.5);
            voters_end(&self);
        }
}

/* Of a student of noisy labels the share is an estimate, by counts that are noisy too: right within a factor
 * of 1.5 where labels flip here and there, and on the right side of a half elsewhere, also where scores
 * saturate. */
static void a_student_of_flipped_labels_says_so(void **state) {
    (void)state;
    for (size_t classes = 2; classes <= 4; classes++) {
        voters self;
        double says, was, flipped = 0, clear = 0, saturated = 0;
        voters_make(&self, &tacit_method_pate, 50, classes, false, NULL);
        compare(&self, 3, energy, true, &says, &was);
        print_message("# %zu classes: a student says %.3f of what noise makes\n", classes, says / was);
        assert_true(says > was / 1.5 && says < 1.5 * was);
        for (uint64_t i = 0; i < 20; i++) {
            self.all.plan.lambda = 0.1;
            flipped += coordinate(&self, 0.01, i).noise_share / 20;
            clear += coordinate(&self, 30, i).noise_share / 20;
            self.all.plan.lambda = 1e-5;
            saturated += coordinate(&self, 30, i).noise_share / 20;
        }
        assert_true(flipped > 0.5);
        assert_true(clear < 0.25);
        assert_true(saturated < 0.25);
        voters_end(&self);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_optimism_is_the_divergence_of_the_fit),
        cmocka_unit_test(the_estimate_is_fair),
        cmocka_unit_test(less_noise_takes_less_lambda_and_drowned_models_say_so),
        cmocka_unit_test(pate_rehearses_more_than_two_classes),
        cmocka_unit_test(noise_on_weights_is_told_as_it_is),
        cmocka_unit_test(a_student_of_flipped_labels_says_so),
    };
    return cmocka_run_group_tests_name("after_release", tests, NULL, NULL);
}
