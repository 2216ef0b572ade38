/* Lambda is chosen by rehearsal: from public quantities alone, the same every time, larger where noise is
 * larger. */
#include "check.h"

#include "lab/simulate.h"
#include "votes.h"

static const tacit_method *const ensemble[] = { &tacit_method_vote, &tacit_method_soft, &tacit_method_pate,
                                                &tacit_method_soft_stat };
/* The last two choose after their release, and rehearse only with very many weights. */
enum { METHODS = sizeof ensemble / sizeof *ensemble, REHEARSED = METHODS - 2 };

static double chosen(voters *self, double epsilon) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_plan plan = self->all.plan;
    plan.epsilon = epsilon;
    plan.lambda = 0;
    CHECK_OK(tacit_plan_choose_lambda(&plan, &error), error);
    return plan.lambda;
}

static void the_choice_is_the_same_every_time_and_on_the_grid(void **state) {
    (void)state;
    for (size_t m = 0; m < REHEARSED; m++)
        for (size_t classes = 2; classes <= 3; classes++) {
            voters self;
            voters_make(&self, ensemble[m], 50, classes, classes == 3, NULL);
            double lambda = chosen(&self, 3);
            CHECK_NEAR(chosen(&self, 3), lambda, 0);
            CHECK_NEAR(2 * log10(lambda), rint(2 * log10(lambda)), 1e-9);
            assert_true(lambda <= 1 && lambda >= 0.99e-5);
            voters_end(&self);
        }
}

static void less_epsilon_never_asks_for_less_lambda(void **state) {
    (void)state;
    for (size_t m = 1; m < 2; m++) { /* soft, whose noise goes with epsilon times parties */
        voters self;
        voters_make(&self, ensemble[m], 50, 2, false, NULL);
        double little = chosen(&self, 0.3), more = chosen(&self, 30), all = chosen(&self, INFINITY);
        print_message("# %s: lambda %g at epsilon 0.3, %g at 30, %g without noise\n", ensemble[m]->name,
                      little, more, all);
        assert_true(little > more);
        assert_true(more >= all);
        self.all.plan.parties = 5000; /* many more parties count like more epsilon */
        assert_true(chosen(&self, 0.3) < little);
        voters_end(&self);
    }
}

/* Neither the parties' rows nor any labels have a say: there are none here. */
static void only_public_things_have_a_say(void **state) {
    (void)state;
    for (size_t m = 0; m < METHODS; m++) {
        voters one, other;
        voters_make(&one, ensemble[m], 20, 2, false, NULL);
        voters_make(&other, ensemble[m], 20, 2, false, NULL);
        assert_null(one.auxiliary->label);
        for (size_t i = 0; i < other.all.data->rows; i++) other.all.data->label[i] = -12345;
        memset(other.all.data->dense.values, 0xff, other.all.data->rows * 6 * sizeof(double)); /* NaN */
        CHECK_NEAR(chosen(&one, 2), chosen(&other, 2), 0);
        voters_end(&one);
        voters_end(&other);
    }
}

static void a_given_lambda_is_kept(void **state) {
    (void)state;
    voters self;
    tacit_error error = TACIT_ERROR_INIT;
    voters_make(&self, &tacit_method_soft_stat, 20, 2, false, NULL);
    self.all.plan.lambda = 0.123;
    CHECK_OK(tacit_plan_choose_lambda(&self.all.plan, &error), error);
    CHECK_NEAR(self.all.plan.lambda, 0.123, 0);
    voters_end(&self);
}

/* What private points would choose, the published lambda would tell. */
static void private_points_choose_nothing(void **state) {
    (void)state;
    for (size_t m = 0; m < 2; m++) {
        voters self;
        voters_make(&self, ensemble[m], 20, 2, false, NULL);
        voters_set(&self, "aux_private", "yes");
        CHECK_NEAR(chosen(&self, 0.01), 0.01, 0);
        CHECK_NEAR(chosen(&self, 1000), 0.01, 0);
        voters_end(&self);
    }
}

static void without_points_it_is_the_usual_one(void **state) {
    (void)state;
    voters self;
    voters_make(&self, &tacit_method_soft, 20, 2, false, NULL);
    self.all.plan.points = NULL;
    CHECK_NEAR(chosen(&self, 1), 0.01, 0);
    voters_end(&self);
}

static void one_point_is_enough(void **state) {
    (void)state;
    for (size_t m = 0; m < METHODS; m++) {
        voters self;
        uint32_t index[1];
        voters_make(&self, ensemble[m], 20, 3, false, NULL);
        tacit_points one = tacit_points_some(&self.points, 1, index);
        self.all.plan.points = &one;
        assert_true(m >= REHEARSED || chosen(&self, 1) > 0);
        self.all.plan.epsilon = 1;
        tacit_model_free(parties_run(&self.all, 1, NULL));
        voters_end(&self);
    }
}

/* Three quarters of the points lie in one heap and belong to one class, as most real data do. A lambda that is too large gives the
 * heap's class to all points, and costs only a quarter of them: it is found out nevertheless. */
static void classes_that_are_rare_are_learnt_without_noise(void **state) {
    (void)state;
    for (size_t m = 0; m < REHEARSED; m++) {
        voters self;
        voters_make(&self, ensemble[m], 200, 2, false, NULL);
        double *values = self.auxiliary->dense.values;
        size_t features = self.auxiliary->features;
        for (size_t i = 0; i < self.auxiliary->rows; i++)
            for (size_t j = 0; j < features; j++)
                values[i * features + j] = j == 0       ? 0.9
                                           : i % 4 == 0 ? 0.3 * values[i * features + j]
                                                        : 0.01 * values[i * features + j];
        double lambda = chosen(&self, INFINITY);
        print_message("# %s: lambda %g\n", ensemble[m]->name, lambda);
        assert_true(lambda <= 0.01);
        voters_end(&self);
    }
}

/* A whole sweep does not read the labels of its auxiliary rows. */
static void a_sweep_never_reads_the_labels_of_points(void **state) {
    (void)state;
    static const double epsilons[] = { 1, INFINITY };
    tacit_run runs[2][2 * METHODS];
    for (int poisoned = 0; poisoned < 2; poisoned++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_dataset *data = directed_rows(150, 6, 3, false, 1), *points = directed_rows(40, 6, 3, false, 2);
        tacit_dataset *test = directed_rows(50, 6, 3, false, 3);
        tacit_split *split = split_in_blocks(150, 15);
        for (size_t i = 0; i < 40 && poisoned == 1; i++) points->label[i] = -77;
        if (poisoned == 1) {
            free(points->label); /* or there are none */
            points->label = NULL;
        }
        tacit_simulation plan = { .dataset = data,
                                  .split = split,
                                  .test = tacit_dataset_view(test),
                                  .auxiliary = tacit_dataset_view(points),
                                  .methods = ensemble,
                                  .method_count = METHODS,
                                  .epsilons = epsilons,
                                  .epsilon_count = 2,
                                  .delta = 1e-5,
                                  .trials = 2,
                                  .seed = 5 };
        CHECK_OK(tacit_simulate(&plan, runs[poisoned], NULL, &error), error);
        tacit_split_free(split);
        tacit_dataset_free(data);
        tacit_dataset_free(points);
        tacit_dataset_free(test);
    }
    for (size_t i = 0; i < 2 * METHODS; i++) {
        CHECK_NEAR(runs[0][i].accuracy.mean, runs[1][i].accuracy.mean, 0);
        CHECK_NEAR(runs[0][i].log_loss.mean, runs[1][i].log_loss.mean, 0);
        if (!isnan(runs[0][i].lambda)) CHECK_NEAR(runs[0][i].lambda, runs[1][i].lambda, 0);
        assert_int_equal(runs[0][i].charged.unit, TACIT_UNIT_PARTY);
    }
    assert_true(runs[0][7].accuracy.mean > 0.6); /* soft-stat without noise learns */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_choice_is_the_same_every_time_and_on_the_grid),
        cmocka_unit_test(less_epsilon_never_asks_for_less_lambda),
        cmocka_unit_test(only_public_things_have_a_say),
        cmocka_unit_test(a_given_lambda_is_kept),
        cmocka_unit_test(private_points_choose_nothing),
        cmocka_unit_test(without_points_it_is_the_usual_one),
        cmocka_unit_test(one_point_is_enough),
        cmocka_unit_test(classes_that_are_rare_are_learnt_without_noise),
        cmocka_unit_test(a_sweep_never_reads_the_labels_of_points),
    };
    return cmocka_run_group_tests_name("rehearsal", tests, NULL, NULL);
}
