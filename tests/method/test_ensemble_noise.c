/*
 * The noise of the ensemble methods: the sensitivity they declare is the one of their proof notes, written
 * down a second time; what the session publishes differs from the exact statistic by noise of that law and
 * scale.
 *
 * Chance. R releases of G(D, s) have radii that add up to a Gamma(R D) variable; those of N(0, s^2) have
 * squares that add up to a chi-square of R D degrees, twice a Gamma(R D/2). With u = ln(2e9) a Gamma(k)
 * variable leaves [k - sqrt(2 k u), k + sqrt(2 k u) + u] with probability below 1e-9 (Laurent and Massart
 * 2000): the false-alarm rate of each check. Each must also reject a scale that is 10% off.
 */
#include "check.h"

#include "votes.h"

static const double U = 21.5; /* above ln(2e9) */

enum { PARTIES = 8, MOST = 400, RUNS = 300, NUMBERS = 10000 /* drawn in all, for a law */ };

/* ---- declared ---- */

static double lambert_w(double x) {
    double low = 0, high = x;
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        if (middle * exp(middle) < x)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static double declared(const voters *self) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_noise_law law;
    CHECK_OK(tacit_plan_noise(&self->all.plan, &law, &error), error);
    return law.sensitivity;
}

/* Never below what is proved, and above it by little more than the solver's slack. */
static void check_declared(const voters *self, double proved) {
    double slack = 2e-9 / self->all.plan.lambda, s = declared(self);
    assert_true(s >= proved);
    CHECK_NEAR(s, proved, 1e-6 * proved + 1.1 * slack);
}

static void declared_sensitivities_are_those_of_the_proofs(void **state) {
    (void)state;
    static const double lambdas[] = { 1e-4, 1e-2, 0.3, 5 };
    for (size_t classes = 2; classes <= 4; classes++)
        for (size_t l = 0; l < 4; l++) {
            voters self;
            double lambda = lambdas[l], m = PARTIES, root = classes > 2 ? sqrt(2) : 1;
            double reach = 2 * fmin(root / lambda, sqrt(lambert_w((double)(classes - 1) / M_E) / lambda));
            voters_make(&self, &tacit_method_vote, PARTIES, classes, false, NULL);
            double kappa = self.points.kappa, n = (double)self.points.rows.count;
            assert_true(kappa < 0.9);
            self.all.plan.lambda = lambda;
            self.all.plan.epsilon = 1;
            check_declared(&self, fmin(root * kappa / lambda, reach));
            voters_set(&self, "aux_private", "yes");
            check_declared(&self, fmin(root * (n + 1) / n / lambda, reach));
            voters_set(&self, "calibration", "paper");
            check_declared(&self, classes > 2 ? root * (n + 1) / n / lambda : 2 / lambda);
            voters_set(&self, "aux_private", "no");
            check_declared(&self, classes > 2 ? root / lambda : 2 / lambda);
            self.all.plan.method = &tacit_method_soft;
            self.all.plan.settings = (tacit_settings){ .table = NULL };
            check_declared(&self, fmin(root * kappa / (m * lambda), reach));
            voters_set(&self, "aux_private", "yes");
            check_declared(&self, fmin(root * (n + 2 * m - 1) / n / (m * lambda), reach));
            voters_set(&self, "calibration", "paper");
            check_declared(&self, classes > 2 ? root * (n + 2 * m - 1) / n / (m * lambda)
                                              : 2 * (n + m - 1) / n / (m * lambda));
            voters_set(&self, "aux_private", "no");
            check_declared(&self, classes > 2 ? root / (m * lambda) : 2 / (m * lambda));
            self.all.plan.method = &tacit_method_soft_stat;
            self.all.plan.settings = (tacit_settings){ .table = NULL };
            check_declared(&self, root / m);
            self.all.plan.method = &tacit_method_pate;
            self.all.plan.delta = 1e-5;
            check_declared(&self, sqrt(2 * n));
            voters_set(&self, "queries", "7");
            check_declared(&self, sqrt(14));
            voters_end(&self);
        }
}

/* ---- drawn ---- */

typedef struct seen {
    double values[MOST];
    size_t count, releases;
} seen;

static void look(void *context, const double *values, size_t count) {
    seen *all = context;
    assert_true(count <= MOST);
    memcpy(all->values, values, count * sizeof *values);
    all->count = count;
    all->releases++;
}

static seen publish(voters *self, double epsilon, uint64_t seed) {
    tacit_error error = TACIT_ERROR_INIT;
    seen all = { .count = 0 };
    tacit_watch watch = { look, &all };
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    self->all.plan.epsilon = epsilon;
    tacit_session session = parties_begin(&self->all, seed);
    session.watch = &watch;
    CHECK_OK(self->all.plan.method->coordinate(&session, &outcome, &error), error);
    assert_int_equal(all.releases, 1);
    tacit_outcome_clear(&outcome);
    return all;
}

static void check_law(const tacit_method *method, size_t classes, const char *setting, double delta) {
    tacit_error error = TACIT_ERROR_INIT;
    voters self;
    tacit_noise_law law;
    voters_make(&self, method, PARTIES, classes, false, NULL);
    if (setting != NULL) voters_set(&self, "calibration", setting);
    self.all.plan.delta = delta;
    seen exact = publish(&self, INFINITY, 0);
    size_t runs = NUMBERS / exact.count;
    double sum = 0;
    for (uint64_t run = 0; run < runs; run++) {
        seen noisy = publish(&self, 0.7, run);
        double square = 0;
        assert_int_equal(noisy.count, exact.count);
        for (size_t j = 0; j < exact.count; j++)
            square += (noisy.values[j] - exact.values[j]) * (noisy.values[j] - exact.values[j]);
        sum += delta > 0 ? square / 2 : sqrt(square);
    }
    CHECK_OK(tacit_plan_noise(&self.all.plan, &law, &error), error);
    assert_int_equal(law.dimension, exact.count);
    double unit = delta > 0 ? law.scale * law.scale : law.scale;
    double k = (double)runs * (double)law.dimension / (delta > 0 ? 2 : 1);
    double low = k - sqrt(2 * k * U), high = k + sqrt(2 * k * U) + U, tenth = delta > 0 ? 1.21 : 1.1;
    print_message("# %s, %zu classes: %zu numbers, %.4f of the expected noise\n", method->name, classes,
                  law.dimension, sum / unit / k);
    assert_true(sum / unit > low && sum / unit < high);
    assert_true(sum / unit / tenth < low); /* a scale 10% larger, or smaller */
    assert_true(sum / unit * tenth > high);
    voters_end(&self);
}

static void noise_has_the_declared_law_and_scale(void **state) {
    (void)state;
    for (size_t classes = 2; classes <= 3; classes++) {
        check_law(&tacit_method_vote, classes, NULL, 0);
        check_law(&tacit_method_vote, classes, "paper", 0);
        check_law(&tacit_method_soft, classes, NULL, 0);
        check_law(&tacit_method_soft, classes, "paper", 0);
        check_law(&tacit_method_soft_stat, classes, NULL, 0);
        check_law(&tacit_method_soft_stat, classes, NULL, 1e-4);
        check_law(&tacit_method_pate, classes, NULL, 1e-4);
    }
}

/* More than two classes: tight noise lives in (K - 1) d dimensions and leaves the sum over classes alone. */
static void tight_noise_stays_in_the_contrasts(void **state) {
    (void)state;
    static const tacit_method *const methods[] = { &tacit_method_vote, &tacit_method_soft };
    for (size_t m = 0; m < 2; m++)
        for (int paper = 0; paper < 2; paper++) {
            voters self;
            voters_make(&self, methods[m], PARTIES, 3, false, NULL);
            self.all.plan.epsilon = 1;
            if (paper == 1) voters_set(&self, "calibration", "paper");
            tacit_model *model = parties_run(&self.all, 1, NULL);
            double sum = 0, size = 0;
            for (size_t j = 0; j < model->features; j++) {
                double column = model->weights[j] + model->weights[model->features + j] +
                                model->weights[2 * model->features + j];
                sum += column * column;
                size += model->weights[j] * model->weights[j];
            }
            assert_true(paper == 1 ? sum > 1e-3 * size : sum < 1e-20 * size);
            tacit_model_free(model);
            voters_end(&self);
        }
}

/* In the statistic itself, noise reaches each direction as far as the points do. */
static void shaped_noise_follows_the_points(void **state) {
    (void)state;
    voters self;
    voters_make(&self, &tacit_method_soft_stat, PARTIES, 2, false, NULL);
    /* The last feature hardly varies: so should the noise in it. */
    for (size_t i = 0; i < self.auxiliary->rows; i++) self.auxiliary->dense.values[i * 6 + 5] *= 0.01;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_rows rows = tacit_dataset_rows(self.auxiliary);
    tacit_points_clear(&self.points);
    CHECK_OK(tacit_points_of(&self.points, &rows, NULL, &error), error);
    seen exact = publish(&self, INFINITY, 0);
    double first = 0, last = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        seen noisy = publish(&self, 1, run);
        for (size_t j = 0; j < 6; j++) noisy.values[j] -= exact.values[j];
        tacit_points_unshape(&self.points, noisy.values, 1);
        first += noisy.values[0] * noisy.values[0];
        last += noisy.values[5] * noisy.values[5];
    }
    assert_true(last < 1e-3 * first);
    voters_end(&self);
}

static void a_law_without_its_delta_is_refused(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_prices prices;
    voters self;
    voters_make(&self, &tacit_method_soft_stat, PARTIES, 2, false, NULL);
    self.all.plan.epsilon = 1;
    voters_set(&self, "law", "gaussian");
    assert_int_equal(tacit_plan_check(&self.all.plan, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "delta"));
    self.all.plan.delta = 1e-6;
    CHECK_OK(tacit_plan_check(&self.all.plan, &error), error);
    voters_set(&self, "law", "pure"); /* and a delta that is not needed is not charged */
    CHECK_OK(tacit_plan_price(&self.all.plan, &prices, &error), error);
    CHECK_NEAR(prices.charged.delta, 0, 0);
    voters_set(&self, "law", "auto");
    CHECK_OK(tacit_plan_price(&self.all.plan, &prices, &error), error);
    CHECK_NEAR(prices.charged.delta, 1e-6, 0);
    voters_end(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(declared_sensitivities_are_those_of_the_proofs),
        cmocka_unit_test(noise_has_the_declared_law_and_scale),
        cmocka_unit_test(tight_noise_stays_in_the_contrasts),
        cmocka_unit_test(shaped_noise_follows_the_points),
        cmocka_unit_test(a_law_without_its_delta_is_refused),
    };
    return cmocka_run_group_tests_name("ensemble_noise", tests, NULL, NULL);
}
