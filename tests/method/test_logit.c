/*
 * newton, privlogit-hessian and privlogit-local: what two center servers compute on numbers that they do not
 * see is what the same optimiser computes in the clear, iteration by iteration.
 */
#include "logit_world.h"
#include "memory_journal.h"

static const tacit_method *const methods[] = { &tacit_method_newton, &tacit_method_privlogit_hessian,
                                               &tacit_method_privlogit_local };
static const char *const engines[] = { "yao", "shares" };

static void every_beta_is_that_of_the_optimiser_in_the_clear(void **state) {
    (void)state;
    logit_world world;
    world_make(&world, methods[0]);
    for (size_t m = 0; m < 3; m++)
        for (size_t e = 0; e < 2; e++) {
            world_use(&world, methods[m]);
            world_set(&world, "engine", engines[e]);
            tacit_model_free(world_run(&world));
            tacit_logit_reference plain = world_reference(&world, m == 0, 1e-6, 0);
            assert_int_equal(world.count, plain.iterations);
            for (size_t k = 0; k < world.count; k++)
                for (size_t j = 0; j < WIDTH; j++)
                    CHECK_NEAR(world.path[k][j], plain.path[(k + 1) * WIDTH + j], 1e-6);
            tacit_logit_reference_clear(&plain);
        }
    world_end(&world);
}

static void converged_comes_within_1e_4_of_the_maximum(void **state) {
    (void)state;
    logit_world world;
    world_make(&world, methods[0]);
    for (size_t m = 0; m < 3; m++) {
        world_use(&world, methods[m]);
        world_set(&world, "engine", "shares");
        world_set(&world, "stop", "converged");
        tacit_model_free(world_run(&world));
        tacit_logit_reference maximum = world_reference(&world, true, 0, 1e-10);
        for (size_t j = 0; j < WIDTH; j++)
            CHECK_NEAR(world.path[world.count - 1][j], tacit_logit_reference_last(&maximum)[j], 1e-4);
        tacit_logit_reference_clear(&maximum);
    }
    world_end(&world);
}

/* One row in thirty is of the other class, where PrivLogit creeps: 1 - p is small, and so is what the bound
 * overrates. */
static void converged_does_so_where_privlogit_creeps(void **state) {
    (void)state;
    logit_world world;
    world_make(&world, &tacit_method_privlogit_hessian);
    for (size_t i = 0; i < ROWS; i++) {
        world.parties.data->dense.values[i * WIDTH] = 0.5; /* a constant */
        world.parties.data->label[i] = i % 30 == 0;
    }
    world_set(&world, "engine", "shares");
    world_set(&world, "stop", "converged");
    tacit_model_free(world_run(&world));
    tacit_logit_reference maximum = world_reference(&world, true, 0, 1e-10);
    assert_true(world.count > 20);
    for (size_t j = 0; j < WIDTH; j++)
        CHECK_NEAR(world.path[world.count - 1][j], tacit_logit_reference_last(&maximum)[j], 1e-4);
    tacit_logit_reference_clear(&maximum);
    world_end(&world);
}

/* Two kinds of rows, a column each. One kind is all of one class, so that only the ridge holds its
 * coefficient, far out where PrivLogit creeps; the start lies near it, so that its steps are small from the
 * first. The other's are large at first and fall fast: the step after them looks like the end and is not, and
 * without the look between the servers the run would stop there. */
static void converged_is_not_taken_in_by_a_fall_of_the_steps(void **state) {
    (void)state;
    logit_world world;
    char start[32];
    world_make(&world, &tacit_method_privlogit_hessian);
    double unit = 1 / tacit_logit_scale(&world.parties.plan);
    memset(world.parties.data->dense.values, 0, ROWS * WIDTH * sizeof(double));
    for (size_t i = 0; i < ROWS; i++) {
        bool creeps = i % 2 == 0;
        world.parties.data->dense.values[i * WIDTH + !creeps] = unit;
        world.parties.data->label[i] = creeps || i % 8 == 1;
    }
    world_set(&world, "engine", "shares");
    world_set(&world, "stop", "converged");
    tacit_logit_reference maximum = world_reference(&world, true, 0, 1e-10);
    const double *best = tacit_logit_reference_last(&maximum);
    snprintf(start, sizeof start, "%.9g", best[0] + 1e-3);
    world_set(&world, "start", start);
    tacit_model_free(world_run(&world));
    for (size_t j = 0; j < WIDTH; j++) CHECK_NEAR(world.path[world.count - 1][j], best[j], 1e-4);
    tacit_logit_reference_clear(&maximum);
    world_end(&world);
}

/* The same rows by method estimate, in clear sums, at a lambda that means the same. */
static tacit_model *estimate_in_clear(logit_world *world, double lambda) {
    const tacit_plan plan = world->parties.plan;
    world->parties.plan = (tacit_plan){ .method = &tacit_method_estimate,
                                        .study = "test",
                                        .epsilon = INFINITY,
                                        .lambda = lambda,
                                        .features = plan.features,
                                        .classes = 2,
                                        .parties = NODES,
                                        .minimum_parties = 1,
                                        .minimum_rows = 1 };
    tacit_model *clear = parties_run(&world->parties, 3, NULL);
    world->parties.plan = plan;
    return clear;
}

/* By default there is no penalty; a lambda is beside the mean loss, as in every other method. */
static void the_objective_is_that_of_method_estimate(void **state) {
    static const double lambdas[] = { 0, 0.01 };
    (void)state;
    logit_world world;
    world_make(&world, &tacit_method_newton);
    for (size_t l = 0; l < 2; l++) {
        tacit_model *clear = estimate_in_clear(&world, lambdas[l]);
        for (size_t m = 0; m < 3; m++) {
            world_use(&world, methods[m]);
            world.parties.plan.lambda = lambdas[l];
            world_set(&world, "penalty", "mean");
            world_set(&world, "stop", "converged");
            world.count = 0;
            tacit_model *secure = world_run(&world);
            double scale = tacit_logit_scale(&world.parties.plan);
            for (size_t j = 0; j < WIDTH; j++)
                CHECK_NEAR(secure->weights[j], clear->weights[j], 1e-4 * scale);
            tacit_model_free(secure);
        }
        tacit_model_free(clear);
    }
    world_end(&world);
}

static void standard_errors_and_deviances_are_those_of_the_sums_in_clear(void **state) {
    (void)state;
    logit_world world;
    world_make(&world, &tacit_method_newton);
    world.parties.plan.lambda = 0;
    world_set(&world, "inference", "yes");
    world_set(&world, "stop", "converged");
    tacit_model *secure = world_run(&world);
    tacit_model *clear = estimate_in_clear(&world, 0);
    const tacit_estimates *ours = secure->estimates, *theirs = clear->estimates;
    assert_non_null(ours);
    assert_int_equal(ours->count, WIDTH);
    for (size_t j = 0; j < WIDTH; j++) {
        const tacit_coefficient *a = &ours->coefficient[j], *b = &theirs->coefficient[j];
        assert_string_equal(a->name, b->name);
        CHECK_NEAR(a->estimate, b->estimate, 1e-3);
        CHECK_NEAR(a->error, b->error, 1e-4);
        CHECK_NEAR(a->p, b->p, 1e-4);
        CHECK_NEAR(a->high, b->high, 1e-3);
    }
    CHECK_NEAR(ours->deviance, theirs->deviance, 1e-3);
    CHECK_NEAR(ours->null_deviance, theirs->null_deviance, 1e-6);
    CHECK_NEAR(ours->aic, theirs->aic, 1e-3);
    tacit_model_free(secure);
    tacit_model_free(clear);
    world_end(&world);
}

/* Noise moves the result, the number of iterations is fixed, and each node is charged what dp says, once. */
static void dp_adds_noise_between_the_servers_and_is_charged(void **state) {
    (void)state;
    static const tacit_method *const private[] = { &tacit_method_newton, &tacit_method_privlogit_hessian,
                                                   &tacit_method_privlogit_local };
    for (size_t m = 0; m < 3; m++) {
        logit_world world;
        tacit_error error = TACIT_ERROR_INIT;
        tacit_account account;
        world_make(&world, private[m]);
        world_set(&world, "engine", "shares");
        world_set(&world, "dp", "200");
        world_set(&world, "dp-iterations", "3");
        world_set(&world, "inference", "yes"); /* and is not done: it would be another release */
        tacit_model *model = world_run(&world);
        assert_null(model->estimates);
        assert_int_equal(world.count, 3);
        tacit_logit_reference plain = world_reference(&world, m == 0, 1e-6, 0);
        double moved = 0;
        for (size_t j = 0; j < WIDTH; j++)
            moved = fmax(moved, fabs(world.path[0][j] - plain.path[WIDTH + j]));
        assert_true(moved > 1e-4); /* a deviation below has a chance of about (1e-4/0.02)^4 < 1e-9 */
        assert_true(moved < 10);
        CHECK_OK(tacit_local_charged(world.parties.local, TACIT_UNIT_RECORD, &account, &error), error);
        CHECK_NEAR(account.spent_epsilon, 200, 1e-6);
        tacit_model_free(model);
        tacit_logit_reference_clear(&plain);
        world_end(&world);
    }
}

/* The noise of dp=1e6 is near 4e-5 of a gradient, and less of a coefficient: what is left is the optimiser,
 * its ridge included, which servers and not nodes add. Without the ridge the first step alone would be hundredths off. */
static void with_hardly_any_noise_the_steps_at_the_nodes_are_those_in_the_clear(void **state) {
    (void)state;
    for (size_t e = 0; e < 2; e++) {
        logit_world world;
        double off = 0;
        world_make(&world, &tacit_method_privlogit_local);
        world.parties.plan.lambda = 20;
        world_set(&world, "engine", engines[e]);
        world_set(&world, "start", "0.5");
        world_set(&world, "dp", "1e6");
        world_set(&world, "dp-iterations", "3");
        tacit_model *model = world_run(&world);
        tacit_logit_reference plain = world_reference(&world, false, 1e-6, 0);
        assert_int_equal(world.count, 3);
        for (size_t k = 0; k < world.count; k++)
            for (size_t j = 0; j < WIDTH; j++)
                off = fmax(off, fabs(world.path[k][j] - plain.path[(k + 1) * WIDTH + j]));
        print_message("# %s: %.2g off\n", engines[e], off);
        assert_true(off < 0.005);
        tacit_model_free(model);
        tacit_logit_reference_clear(&plain);
        world_end(&world);
    }
}

/* ---- a run that died ---- */

static void a_run_that_died_opens_no_number_twice(void **state) {
    (void)state;
    logit_world world;
    world_make(&world, methods[0]);
    for (size_t m = 1; m < 3; m++) {
        memory_journal stored = { .dies_after = 9 };
        tacit_journal journal = {
            .read = read_memory, .write = write_memory, .read_checkpoint = no_checkpoint, .context = &stored
        };
        tacit_error error = TACIT_ERROR_INIT;
        tacit_outcome outcome = TACIT_OUTCOME_INIT;
        double before[3][WIDTH];
        world_use(&world, methods[m]);
        world_set(&world, "engine", "shares"); /* whose roundings are drawn again in each run */
        tacit_session session = world_begin(&world);
        session.journal = &journal;
        assert_int_equal(world.parties.plan.method->coordinate(&session, &outcome, &error), TACIT_IO);
        assert_true(world.count >= 2 && world.count <= 4);
        size_t kept = world.count < 3 ? world.count : 3;
        memcpy(before, world.path, kept * sizeof before[0]);
        stored.dies_after = MOST_RECORDS;
        session = world_begin(&world);
        session.journal = &journal;
        error = (tacit_error)TACIT_ERROR_INIT;
        CHECK_OK(world.parties.plan.method->coordinate(&session, &outcome, &error), error);
        for (size_t k = 0; k < kept; k++) assert_memory_equal(world.path[k], before[k], sizeof before[k]);
        tacit_logit_reference plain = world_reference(&world, m == 0, 1e-6, 0);
        assert_int_equal(world.count, plain.iterations);
        for (size_t j = 0; j < WIDTH; j++)
            CHECK_NEAR(world.path[world.count - 1][j], tacit_logit_reference_last(&plain)[j], 1e-6);
        tacit_logit_reference_clear(&plain);
        tacit_outcome_clear(&outcome);
        for (size_t i = 0; i < stored.count; i++) tacit_buffer_clear(&stored.record[i]);
    }
    world_end(&world);
}

/* Also the bits that stop it. */
static void a_finished_run_is_told_again_from_its_journal(void **state) {
    (void)state;
    logit_world world;
    memory_journal stored = { .dies_after = MOST_RECORDS };
    tacit_journal journal = {
        .read = read_memory, .write = write_memory, .read_checkpoint = no_checkpoint, .context = &stored
    };
    size_t count = 0, records = 0;
    double path[MOST_BETAS][WIDTH];
    world_make(&world, &tacit_method_privlogit_hessian);
    world_set(&world, "engine", "shares");
    world_set(&world, "stop", "converged");
    for (int run = 0; run < 2; run++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_outcome outcome = TACIT_OUTCOME_INIT;
        tacit_session session = world_begin(&world);
        session.journal = &journal;
        CHECK_OK(world.parties.plan.method->coordinate(&session, &outcome, &error), error);
        tacit_outcome_clear(&outcome);
        if (run == 1) {
            assert_int_equal(world.count, count);
            assert_int_equal(stored.count, records);
            assert_memory_equal(world.path, path, count * sizeof path[0]);
        }
        memcpy(path, world.path, sizeof path);
        count = world.count;
        records = stored.count;
    }
    for (size_t i = 0; i < stored.count; i++) tacit_buffer_clear(&stored.record[i]);
    world_end(&world);
}

/* New noise on the same sums would be a second release. */
static void a_private_run_that_died_is_not_taken_up(void **state) {
    (void)state;
    logit_world world;
    memory_journal stored = { .dies_after = 4 };
    tacit_journal journal = {
        .read = read_memory, .write = write_memory, .read_checkpoint = no_checkpoint, .context = &stored
    };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    world_make(&world, &tacit_method_privlogit_hessian);
    world_set(&world, "engine", "shares");
    world_set(&world, "dp", "200");
    tacit_session session = world_begin(&world);
    session.journal = &journal;
    assert_int_equal(world.parties.plan.method->coordinate(&session, &outcome, &error), TACIT_IO);
    stored.dies_after = MOST_RECORDS;
    session = world_begin(&world);
    session.journal = &journal;
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(world.parties.plan.method->coordinate(&session, &outcome, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "start a new study"));
    assert_int_equal(world.count, 0);
    for (size_t i = 0; i < stored.count; i++) tacit_buffer_clear(&stored.record[i]);
    world_end(&world);
}

/* ---- limits ---- */

/* n = 10,000, lambda 1, S = 12: R = 96, 1/mu = 10^4. 2 sqrt(9) 10^4 takes 16 bits, 2 sqrt(2 R 10^4) = 2771
 * takes 12. */
static void numbers_are_as_wide_as_their_proof_asks(void **state) {
    (void)state;
    logit_world world;
    tacit_secure_settings settings = tacit_secure_defaults();
    world_make(&world, &tacit_method_privlogit_hessian);
    world_set(&world, "scale", "12");
    tacit_logit_widths(&settings, &world.parties.plan, 9, 1e4);
    assert_int_equal(settings.format.fraction, 36);
    assert_int_equal(settings.format.width, 36 + 16 + 1);
    assert_int_equal(settings.factor_width, 36 + 12 + 1);
    assert_int_equal(settings.solution_width, 36 + 12 + 1);
    world_set(&world, "start", "1");
    tacit_logit_widths(&settings, &world.parties.plan, 9, 1e4);
    assert_int_equal(settings.solution_width, 36 + 16 + 1);
    world_set(&world, "dp", "1");
    settings = tacit_secure_defaults();
    tacit_logit_widths(&settings, &world.parties.plan, 9, 1e4);
    assert_int_equal(settings.format.width, 64);
    assert_int_equal(settings.factor_width, 0);
    world_use(&world, &tacit_method_newton);
    world.parties.plan.lambda = 1e-9;
    tacit_logit_widths(&settings, &world.parties.plan, 9, 1e4);
    assert_int_equal(settings.format.width, 64);
    assert_int_equal(settings.solution_width, 64);
    world_end(&world);
}

static void a_singular_matrix_ends_the_run_with_the_remedy(void **state) {
    (void)state;
    logit_world world;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    world_make(&world, &tacit_method_newton);
    double *x = world.parties.data->dense.values;
    for (size_t i = 0; i < ROWS; i++) x[i * WIDTH + 1] = x[i * WIDTH] + 1e-5 * x[i * WIDTH + 1];
    world.parties.plan.lambda = 1e-9;
    world_set(&world, "fraction", "44");
    tacit_session session = world_begin(&world);
    assert_int_equal(world.parties.plan.method->coordinate(&session, &outcome, &error), TACIT_LIMIT);
    assert_non_null(strstr(error.text, "raise lambda"));
    assert_int_equal(world.count, 0); /* nothing was opened */
    world_end(&world);
}

static void what_would_overflow_is_refused_beforehand(void **state) {
    (void)state;
    logit_world world;
    tacit_error error = TACIT_ERROR_INIT;
    world_make(&world, &tacit_method_newton);
    world_set(&world, "scale", "9000");
    world_set(&world, "fraction", "40");
    assert_int_equal(tacit_plan_check(&world.parties.plan, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "overflow"));
    world_end(&world);
    world_make(&world, &tacit_method_privlogit_local);
    world.parties.plan.lambda = 1e-9;
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_session session = world_begin(&world);
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(world.parties.plan.method->coordinate(&session, &outcome, &error), TACIT_LIMIT);
    assert_non_null(strstr(error.text, "raise lambda"));
    world_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_beta_is_that_of_the_optimiser_in_the_clear),
        cmocka_unit_test(converged_comes_within_1e_4_of_the_maximum),
        cmocka_unit_test(converged_does_so_where_privlogit_creeps),
        cmocka_unit_test(converged_is_not_taken_in_by_a_fall_of_the_steps),
        cmocka_unit_test(the_objective_is_that_of_method_estimate),
        cmocka_unit_test(standard_errors_and_deviances_are_those_of_the_sums_in_clear),
        cmocka_unit_test(dp_adds_noise_between_the_servers_and_is_charged),
        cmocka_unit_test(with_hardly_any_noise_the_steps_at_the_nodes_are_those_in_the_clear),
        cmocka_unit_test(a_run_that_died_opens_no_number_twice),
        cmocka_unit_test(a_finished_run_is_told_again_from_its_journal),
        cmocka_unit_test(a_private_run_that_died_is_not_taken_up),
        cmocka_unit_test(a_singular_matrix_ends_the_run_with_the_remedy),
        cmocka_unit_test(numbers_are_as_wide_as_their_proof_asks),
        cmocka_unit_test(what_would_overflow_is_refused_beforehand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
