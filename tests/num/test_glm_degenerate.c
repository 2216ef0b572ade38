/*
 * A solver that gave up on some rows and not on their neighbours would tell them apart. So it must not give
 * up: on no input within the limits that a study declares. TACIT_SOLVER_INPUTS in the environment says how
 * many are tried, from number TACIT_SOLVER_FIRST.
 */
#include "degenerate.h"

#include <stdio.h>

static uint64_t from_environment(const char *name, uint64_t usual) {
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : usual;
}

/* The certified bound and the tolerance; false when the solver gave up. */
static bool solve(const degenerate *one, double *bound, double *tolerance) {
    static double w[4096];
    tacit_glm_settings settings = tacit_glm_defaults();
    tacit_glm_fit fit = { .gradient_bound = INFINITY };
    tacit_error error = TACIT_ERROR_INIT;
    memset(w, 0, sizeof w);
    *tolerance = settings.gradient_tolerance = tacit_glm_tolerance(&one->limits, one->wanted);
    if (one->user == USER_ROUGH) settings.gradient_tolerance = one->wanted;
    settings.best_effort = one->user == USER_ROUGH;
    tacit_status status = tacit_glm_solve(&one->problem, &settings, w, &fit, &error);
    *bound = fit.gradient_bound;
    if (status != TACIT_OK) fprintf(stderr, "# %s\n", error.text);
    return status == TACIT_OK;
}

static void the_solver_reaches_its_public_tolerance_on_every_input(void **state) {
    (void)state;
    uint64_t first = from_environment("TACIT_SOLVER_FIRST", 0);
    uint64_t count = from_environment("TACIT_SOLVER_INPUTS", 20000), failed = 0, by_user[USERS] = { 0 };
    for (uint64_t number = first; number < first + count; number++) {
        degenerate one;
        double bound, tolerance;
        make_degenerate(&one, number);
        by_user[one.user]++;
        bool solved = solve(&one, &bound, &tolerance);
        if (!solved || (one.user != USER_ROUGH && bound > tolerance)) {
            failed++;
            fprintf(stderr, "# input %llu of %s: %zu x %zu, %s, lambda %g, linear %g: bound %g, not %g\n",
                    (unsigned long long)number, user_names[one.user], one.dense.rows, one.dense.cols,
                    loss_name(one.problem.loss), one.problem.lambda, one.limits.linear, bound, tolerance);
        }
        unmake_degenerate(&one);
    }
    printf("# %llu inputs, %llu given up\n", (unsigned long long)count, (unsigned long long)failed);
    for (unsigned u = 0; u < USERS; u++)
        printf("#   %s: %llu\n", user_names[u], (unsigned long long)by_user[u]);
    assert_int_equal(failed, 0);
}

/* On the first one a decrease that was only rounding led to ever steeper places. */
static void so_it_does_on_inputs_that_were_once_given_up(void **state) {
    (void)state;
    static const uint64_t numbers[] = { 12071464 };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        degenerate one;
        double bound, tolerance;
        make_degenerate(&one, numbers[i]);
        assert_true(solve(&one, &bound, &tolerance) && bound <= tolerance);
        unmake_degenerate(&one);
    }
}

static void so_it_does_where_nothing_can_be_factored(void **state) {
    (void)state;
    uint64_t count = from_environment("TACIT_SOLVER_WIDE", 60);
    for (uint64_t number = 0; number < count; number++) {
        degenerate one;
        double bound, tolerance;
        make_wide_degenerate(&one, number);
        bool solved = solve(&one, &bound, &tolerance) && bound <= tolerance;
        if (!solved)
            fprintf(stderr, "# wide input %llu: %zu x %zu, %s, lambda %g: bound %g, not %g\n",
                    (unsigned long long)number, one.problem.x.count, one.problem.x.cols,
                    loss_name(one.problem.loss), one.problem.lambda, bound, tolerance);
        assert_true(solved);
        unmake_degenerate(&one);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_solver_reaches_its_public_tolerance_on_every_input),
        cmocka_unit_test(so_it_does_on_inputs_that_were_once_given_up),
        cmocka_unit_test(so_it_does_where_nothing_can_be_factored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
