/* The solver finds the minimiser of every kind of problem, to the certified tolerance. */
#include "problems.h"

#include <stdio.h>

static void solve_and_check(const recipe *r, uint64_t seed, double tolerance) {
    made m;
    make(&m, r, seed);
    double *w = TACIT_NEW(double, tacit_glm_size(&m.problem));
    tacit_glm_settings settings = tacit_glm_defaults();
    settings.gradient_tolerance = tolerance;
    tacit_glm_fit fit = { 0 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_glm_solve(&m.problem, &settings, w, &fit, &error);
    double norm = status == TACIT_OK ? reference_norm(&m, w) : NAN;
    if (status != TACIT_OK || !(fit.gradient_bound <= tolerance) || !(norm <= fit.gradient_bound))
        fail_msg(
            "seed %llu loss %s %zux%zu classes %zu sparse %d indexed %d lambda %g spread %g: %s, bound %g, "
            "true norm %g",
            (unsigned long long)seed, loss_name(r->loss), r->rows, r->cols, r->classes, r->sparse, r->indexed,
            r->lambda, r->spread, error.text, fit.gradient_bound, norm);
    free(w);
    unmake(&m);
}

static const tacit_loss *const losses[] = { &tacit_family_logistic.loss, &tacit_family_huber.loss,
                                            &tacit_family_softmax.loss };

static void every_combination_of_parts_is_solved(void **state) {
    (void)state;
    static const size_t shapes[][2] = { { 60, 7 }, { 9, 40 } };
    for (unsigned bits = 0; bits < 64; bits++) {
        for (size_t l = 0; l < 3; l++) {
            for (size_t s = 0; s < 2; s++) {
                recipe r = { .loss = losses[l],
                             .rows = shapes[s][0],
                             .cols = shapes[s][1],
                             .lambda = 0.01,
                             .classes = losses[l] == &tacit_family_softmax.loss ? 4 : 2,
                             .sparse = bits & 1,
                             .indexed = bits & 2,
                             .weighted = bits & 4,
                             .linear = bits & 8,
                             .prior = bits & 16,
                             .lambda_each = bits & 32 };
                solve_and_check(&r, 1000 + bits, 1e-8);
            }
        }
    }
}

/* The logistic loss again, of responses of two numbers: the class, and one that changes nothing. */
static void numeric_rows(const tacit_kernels *kernels, double shape, size_t count, const double *y,
                         const double *t, double *loss, double *slope, double *curvature) {
    double class[512];
    for (size_t i = 0; i < count; i++) class[i] = y[2 * i];
    tacit_family_logistic.loss.rows(kernels, shape, count, class, t, loss, slope, curvature);
}

static void responses_of_several_numbers_are_solved_as_classes_are(void **state) {
    (void)state;
    static const size_t shapes[][2] = { { 900, 7 },
                                        { 9, 40 } }; /* several blocks, and the span of the rows */
    for (unsigned bits = 0; bits < 8; bits++)
        for (size_t s = 0; s < 2; s++) {
            recipe r = { .loss = losses[0],
                         .rows = shapes[s][0],
                         .cols = shapes[s][1],
                         .lambda = 0.01,
                         .classes = 2,
                         .sparse = bits & 1,
                         .indexed = bits & 2,
                         .weighted = bits & 4 };
            made m;
            make(&m, &r, 77 + bits);
            tacit_loss loss = tacit_family_logistic.loss;
            loss.rows = numeric_rows;
            loss.of_classes = false;
            loss.columns = 2;
            double *response = TACIT_NEW(double, 2 * m.dense.rows), *w = TACIT_NEW(double, 2 * r.cols),
                   *v = w + r.cols;
            for (size_t i = 0; i < m.dense.rows; i++) {
                response[2 * i] = m.label[i];
                response[2 * i + 1] = (double)i;
            }
            tacit_glm_settings settings = tacit_glm_defaults();
            tacit_glm_problem problem = m.problem;
            tacit_error error = TACIT_ERROR_INIT;
            problem.loss = &loss;
            problem.label = NULL;
            problem.response = response;
            assert_int_equal(tacit_glm_solve(&problem, &settings, v, NULL, NULL),
                             TACIT_USAGE); /* with classes */
            problem.classes = 0;
            CHECK_OK(tacit_glm_solve(&m.problem, &settings, w, NULL, &error), error);
            CHECK_OK(tacit_glm_solve(&problem, &settings, v, NULL, &error), error);
            assert_memory_equal(v, w, r.cols * sizeof *w);
            response[2 * tacit_rows_stored(&problem.x, 3) + 1] = NAN;
            assert_int_equal(tacit_glm_solve(&problem, &settings, v, NULL, NULL), TACIT_INPUT);
            free(response);
            free(w);
            unmake(&m);
        }
}

static void a_loss_without_bounds_is_not_certified(void **state) {
    (void)state;
    static const tacit_family *const unbounded[] = { &tacit_family_linear, &tacit_family_poisson };
    recipe r = { .loss = losses[0], .rows = 9, .cols = 3, .lambda = 0.01, .classes = 2 };
    made m;
    make(&m, &r, 5);
    for (size_t i = 0; i < 2; i++) {
        double response[9] = { 0 }, w[3] = { 0 };
        tacit_glm_settings settings = tacit_glm_defaults();
        tacit_error error = TACIT_ERROR_INIT;
        m.problem.loss = &unbounded[i]->loss;
        m.problem.response = response;
        m.problem.classes = 0;
        assert_int_equal(tacit_glm_solve(&m.problem, &settings, w, NULL, &error), TACIT_USAGE);
        assert_non_null(strstr(error.text, "bounded"));
    }
    unmake(&m);
}

static void any_lambda_and_conditioning_is_solved(void **state) {
    (void)state;
    static const size_t shapes[][2] = { { 300, 12 }, { 40, 40 }, { 22, 123 }, { 5, 600 }, { 120, 130 } };
    static const double lambdas[] = { 1e-8, 1e-6, 1e-4, 1e-2, 1, 10 };
    for (size_t l = 0; l < 3; l++)
        for (size_t s = 0; s < 5; s++)
            for (size_t k = 0; k < 6; k++)
                for (int hard = 0; hard < 4; hard++) {
                    recipe r = { .loss = losses[l],
                                 .rows = shapes[s][0],
                                 .cols = shapes[s][1],
                                 .classes = losses[l] == &tacit_family_softmax.loss ? 3 : 2,
                                 .lambda = lambdas[k],
                                 .spread = hard & 1 ? 1e4 : 1,
                                 .separable = hard & 2,
                                 .sparse = hard == 1 };
                    solve_and_check(&r, 7 + s, 1e-8);
                    if (lambdas[k] >= 1e-6) solve_and_check(&r, 70 + s, 1e-10);
                }
}

static void odd_shapes_are_solved(void **state) {
    (void)state;
    for (size_t l = 0; l < 3; l++) {
        size_t classes = losses[l] == &tacit_family_softmax.loss ? 3 : 2;
        for (int sparse = 0; sparse < 2; sparse++) {
            recipe one = {
                .loss = losses[l], .rows = 1, .cols = 5, .classes = classes, .lambda = 0.1, .sparse = sparse
            };
            solve_and_check(&one, 1, 1e-10);
            recipe single = {
                .loss = losses[l], .rows = 1, .cols = 1, .classes = classes, .lambda = 0.1, .sparse = sparse
            };
            solve_and_check(&single, 2, 1e-10);
            recipe constant = { .loss = losses[l],
                                .rows = 50,
                                .cols = 8,
                                .classes = classes,
                                .lambda = 1e-6,
                                .constant = true,
                                .sparse = sparse };
            solve_and_check(&constant, 3, 1e-9);
            recipe many = { .loss = losses[l],
                            .rows = 9000,
                            .cols = 3,
                            .classes = classes,
                            .lambda = 1e-4,
                            .sparse = sparse,
                            .weighted = true };
            solve_and_check(&many, 4, 1e-9);
            recipe sampled = { .loss = losses[l],
                               .rows = 40000,
                               .cols = 4,
                               .classes = classes,
                               .lambda = 1e-5,
                               .sparse = sparse,
                               .indexed = true };
            solve_and_check(&sampled, 5, 1e-9);
        }
    }
}

static void wide_problems_use_conjugate_gradients(void **state) {
    (void)state;
    recipe wide = { .loss = &tacit_family_logistic.loss,
                    .rows = 2500,
                    .cols = 2300,
                    .classes = 2,
                    .lambda = 1e-3,
                    .sparse = true,
                    .lambda_each = true };
    wide.rows = 60;
    solve_and_check(&wide, 1, 1e-8); /* the diagonal */
    recipe classes = {
        .loss = &tacit_family_softmax.loss, .rows = 400, .cols = 90, .classes = 5, .lambda = 1e-4
    };
    solve_and_check(&classes, 2, 1e-8); /* the common matrix */
    classes.lambda = 1e-8;
    solve_and_check(&classes, 2, 1e-8);
    recipe sampled = {
        .loss = &tacit_family_logistic.loss, .rows = 14000, .cols = 200, .classes = 2, .lambda = 1e-5
    };
    solve_and_check(&sampled, 3, 1e-8); /* a sampled Hessian */
}

/* lambda_each forces the general path; equal entries pose the same problem. */
static void both_paths_agree(void **state) {
    (void)state;
    for (size_t l = 0; l < 3; l++) {
        recipe r = { .loss = losses[l],
                     .rows = 22,
                     .cols = 123,
                     .lambda = 1e-3,
                     .linear = true,
                     .prior = true,
                     .classes = losses[l] == &tacit_family_softmax.loss ? 4 : 2,
                     .weighted = true };
        made m;
        make(&m, &r, 99);
        size_t size = tacit_glm_size(&m.problem);
        double *small = TACIT_NEW(double, size), *general = TACIT_NEW(double, size);
        double *each = random_vector(&(uint64_t){ 1 }, size, r.lambda, r.lambda);
        tacit_glm_settings settings = tacit_glm_defaults();
        settings.gradient_tolerance = 1e-11;
        tacit_glm_fit fit_small, fit_general;
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(tacit_glm_solve(&m.problem, &settings, small, &fit_small, &error), error);
        m.problem.lambda_each = each;
        CHECK_OK(tacit_glm_solve(&m.problem, &settings, general, &fit_general, &error), error);
        CHECK_NEAR(fit_small.objective, fit_general.objective, 1e-13);
        for (size_t j = 0; j < size; j++) CHECK_NEAR(small[j], general[j], 2e-11 / r.lambda);
        free(small);
        free(general);
        free(each);
        unmake(&m);
    }
}

static void a_warm_start_saves_iterations(void **state) {
    (void)state;
    static const size_t shapes[][2] = { { 500, 10 }, { 12, 50 } };
    for (size_t l = 0; l < 3; l++)
        for (size_t s = 0; s < 2; s++) {
            recipe r = { .loss = losses[l],
                         .rows = shapes[s][0],
                         .cols = shapes[s][1],
                         .lambda = 1e-3,
                         .classes = losses[l] == &tacit_family_softmax.loss ? 3 : 2 };
            made m;
            make(&m, &r, 5);
            double *w = TACIT_NEW(double, tacit_glm_size(&m.problem));
            tacit_glm_settings settings = tacit_glm_defaults();
            tacit_glm_fit cold, warm;
            tacit_error error = TACIT_ERROR_INIT;
            CHECK_OK(tacit_glm_solve(&m.problem, &settings, w, &cold, &error), error);
            CHECK_OK(tacit_glm_solve(&m.problem, &settings, w, &warm, &error), error);
            assert_true(cold.iterations > 1);
            assert_true(warm.iterations <= 1);
            assert_true(warm.gradient_bound <= 1e-8);
            free(w);
            unmake(&m);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_of_parts_is_solved),
        cmocka_unit_test(any_lambda_and_conditioning_is_solved),
        cmocka_unit_test(responses_of_several_numbers_are_solved_as_classes_are),
        cmocka_unit_test(a_loss_without_bounds_is_not_certified),
        cmocka_unit_test(odd_shapes_are_solved),
        cmocka_unit_test(wide_problems_use_conjugate_gradients),
        cmocka_unit_test(both_paths_agree),
        cmocka_unit_test(a_warm_start_saves_iterations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
