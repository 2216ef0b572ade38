/* The certificate truly bounds the gradient: checked in long double, whose rounding is 2000 times finer. */
#include "problems.h"

#include <float.h>

static const tacit_loss *const losses[] = { &tacit_family_logistic.loss, &tacit_family_huber.loss,
                                            &tacit_family_softmax.loss };

static recipe random_recipe(uint64_t *random) {
    const tacit_loss *loss = losses[next_random(random) % 3];
    uint64_t bits = next_random(random);
    return (recipe){ .loss = loss,
                     .rows = 1 + next_random(random) % (bits & 64 ? 3000 : 60),
                     .cols = 1 + next_random(random) % 60,
                     .classes = loss == &tacit_family_softmax.loss ? 2 + next_random(random) % 6 : 2,
                     .sparse = bits & 1,
                     .indexed = bits & 2,
                     .weighted = bits & 4,
                     .linear = bits & 8,
                     .prior = bits & 16,
                     .lambda_each = bits & 32,
                     .lambda = pow(10, -8 + 9 * uniform(random)),
                     .spread = bits & 128 ? 1e6 : 1 };
}

static void the_bound_covers_every_rounding_error(void **state) {
    (void)state;
    if (LDBL_MANT_DIG < 64) skip();
    uint64_t seed = 20240611;
    double tightest = INFINITY;
    for (int repeat = 0; repeat < 400; repeat++) {
        uint64_t random = seed + (uint64_t)repeat;
        recipe r = random_recipe(&random);
        made m;
        make(&m, &r, random);
        size_t size = tacit_glm_size(&m.problem);
        double reach = pow(10, -2 + 5 * uniform(&random));
        double *w = random_vector(&random, size, -reach, reach), *gradient = TACIT_NEW(double, size);
        long double *exact = calloc(size, sizeof *exact), norm = 0, off = 0, computed = 0;
        tacit_glm_fit fit;
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(tacit_glm_certify(&m.problem, NULL, w, gradient, &fit, &error), error);
        long double objective = reference(&m, w, exact);
        for (size_t j = 0; j < size; j++) {
            norm += exact[j] * exact[j];
            computed += (long double)gradient[j] * gradient[j];
            off += (exact[j] - gradient[j]) * (exact[j] - gradient[j]);
        }
        long double slack = fit.gradient_bound - sqrtl(computed);
        if (!(sqrtl(norm) <= fit.gradient_bound) || !(sqrtl(off) <= slack))
            fail_msg("seed %llu: norm %Lg, bound %g, gradient off by %Lg, allowed %Lg",
                     (unsigned long long)(seed + (uint64_t)repeat), sqrtl(norm), fit.gradient_bound,
                     sqrtl(off), slack);
        CHECK_NEAR(fit.objective, (double)objective, 1e-12 * (1 + fabs((double)objective)));
        assert_true((double)slack < 1e-11 * (1 + reach) * (double)(1 + r.rows / 100)); /* and is not idle */
        if (off > 0) tightest = fmin(tightest, (double)(slack / sqrtl(off)));
        free(w);
        free(gradient);
        free(exact);
        unmake(&m);
    }
    assert_true(tightest >= 1);
}

/* The gradient is the derivative of the objective. */
static void the_gradient_matches_differences(void **state) {
    (void)state;
    for (uint64_t repeat = 0; repeat < 60; repeat++) {
        uint64_t random = 500 + repeat;
        recipe r = random_recipe(&random);
        r.rows = 1 + r.rows % 40;
        made m;
        make(&m, &r, random);
        size_t size = tacit_glm_size(&m.problem);
        double *w = random_vector(&random, size, -2, 2), *gradient = TACIT_NEW(double, size);
        tacit_glm_fit fit, up, down;
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(tacit_glm_certify(&m.problem, NULL, w, gradient, &fit, &error), error);
        for (int trial = 0; trial < 5; trial++) {
            size_t j = next_random(&random) % size;
            double at = w[j], h = 1e-5;
            w[j] = at + h;
            CHECK_OK(tacit_glm_certify(&m.problem, NULL, w, NULL, &up, &error), error);
            w[j] = at - h;
            CHECK_OK(tacit_glm_certify(&m.problem, NULL, w, NULL, &down, &error), error);
            w[j] = at;
            CHECK_NEAR(gradient[j], (up.objective - down.objective) / (2 * h), 2e-5);
        }
        free(w);
        free(gradient);
        unmake(&m);
    }
}

/* By strong convexity |w - w*| <= bound / lambda: two fits of different tolerance are no further apart. */
static void weights_are_as_close_as_promised(void **state) {
    (void)state;
    for (size_t l = 0; l < 3; l++) {
        recipe r = { .loss = losses[l],
                     .rows = 200,
                     .cols = 9,
                     .classes = losses[l] == &tacit_family_softmax.loss ? 3 : 2,
                     .lambda = 1e-3 };
        made m;
        make(&m, &r, 8);
        size_t size = tacit_glm_size(&m.problem);
        double *rough = TACIT_NEW(double, size), *fine = TACIT_NEW(double, size), apart = 0;
        tacit_glm_settings settings = tacit_glm_defaults();
        tacit_glm_fit fit_rough, fit_fine;
        tacit_error error = TACIT_ERROR_INIT;
        settings.gradient_tolerance = 1e-3;
        CHECK_OK(tacit_glm_solve(&m.problem, &settings, rough, &fit_rough, &error), error);
        settings.gradient_tolerance = 1e-12;
        CHECK_OK(tacit_glm_solve(&m.problem, &settings, fine, &fit_fine, &error), error);
        for (size_t j = 0; j < size; j++) apart += (rough[j] - fine[j]) * (rough[j] - fine[j]);
        assert_true(sqrt(apart) <= (fit_rough.gradient_bound + fit_fine.gradient_bound) / r.lambda);
        free(rough);
        free(fine);
        unmake(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bound_covers_every_rounding_error),
        cmocka_unit_test(the_gradient_matches_differences),
        cmocka_unit_test(weights_are_as_close_as_promised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
