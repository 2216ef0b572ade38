/*
 * newton, privlogit-hessian and privlogit-local on a number, and newton on a count: what two center servers compute on numbers
 * that they do not see are the coefficients, standard errors and deviances that method estimate has, which are R's; what
 * cannot be proved to fit is refused; and with dp a replaced row moves no sum by more than what is declared. Seeds are fixed.
 */
#include "logit_world.h"
#include "memory_journal.h"

#include "lab/logit_decrypt.h"
#include "session/plan/wording.h"

static const tacit_method *const methods[] = { &tacit_method_newton, &tacit_method_privlogit_hessian,
                                               &tacit_method_privlogit_local };
static const char *const engines[] = { "yao", "shares" };
static const double LOW = -10, HIGH = 30, MOST_COUNT = 40;

static tacit_schema *schema_of(const char *label) {
    char text[512];
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    int used = snprintf(text, sizeof text,
                        "label: {name: y, %s}\ncolumns:\n"
                        "  - {name: a, kind: number, low: 0, high: 2}\n"
                        "  - {name: b, kind: number, low: -1, high: 1}\n"
                        "  - {name: c, kind: number, low: 0, high: 50}\n",
                        label);
    CHECK_OK(tacit_schema_parse(&schema, text, (size_t)used, "schema", &error), error);
    return schema;
}

static tacit_schema *numbers(void) { return schema_of("kind: number, low: -10, high: 30"); }
static tacit_schema *counts(void) { return schema_of("kind: count, low: 0, high: 40"); }

typedef double responder(const double *x, tacit_stream *stream);

static double number(const double *x, tacit_stream *stream) {
    double noise = 0;
    for (int k = 0; k < 12; k++) noise += tacit_stream_unit(stream) - 0.5;
    return fmin(HIGH, fmax(LOW, 3 + 4 * x[0] - 2 * x[1] + 0.1 * x[2] + 1.5 * noise));
}

static double exactly(const double *x, tacit_stream *stream) {
    (void)stream;
    return 3 + 4 * x[0] - 2 * x[1] + 0.1 * x[2];
}

static double middle(const double *x, tacit_stream *stream) {
    (void)x, (void)stream;
    return 10;
}

/* Of a Poisson law, by its distribution function. */
static double count(const double *x, tacit_stream *stream) {
    double mean = exp(0.3 + 0.8 * x[0] - 0.5 * x[1] + 0.01 * x[2]), u = tacit_stream_unit(stream);
    double chance = exp(-mean), below = chance, k = 0;
    for (; below < u && k < MOST_COUNT; below += chance) chance *= mean / ++k;
    return k;
}

/* Steep in c where c is at most 1, but nothing at the one row that lies far out: there the first step's mean is exp(60). */
static double far_out(const double *x, tacit_stream *stream) {
    const double near[3] = { 0, 0, 300 * x[2] };
    return x[2] > 1 ? 0 : count(near, stream);
}

static void begin_with(logit_world *world, tacit_schema *schema, responder *respond,
                       const tacit_method *method) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(11);
    *world = (logit_world){ .count = 0 };
    CHECK_OK(tacit_buffer_print(&text, &error, "a,b,c,y\n"), error);
    for (size_t i = 0; i < ROWS; i++) {
        double x[3];
        for (int j = 0; j < 3; j++) x[j] = tacit_stream_unit(&stream);
        x[0] *= 2;
        x[1] = 2 * x[1] - 1;
        x[2] *= respond != far_out ? 40 : i == 0 ? 50 / x[2] : 1;
        double y = respond(x, &stream);
        CHECK_OK(tacit_buffer_print(&text, &error, "%.17g,%.17g,%.17g,%.17g\n", x[0], x[1], x[2], y), error);
    }
    CHECK_OK(tacit_pool_create(&world->pool, 2, &error), error);
    parties_read(&world->parties, &text, schema, NODES, method);
    world->parties.plan.classes = 0;
    world->watch = (tacit_watch){ hear_beta, world };
}

static void use(logit_world *world, const tacit_method *method, const char *engine) {
    world->parties.plan.settings = (tacit_settings){ .table = NULL };
    world->parties.plan.method = method;
    world_set(world, "engine", engine);
}

static void end(logit_world *world, tacit_schema *schema) {
    world_end(world);
    tacit_schema_free(schema);
}

static tacit_model *in_clear(logit_world *world) {
    const tacit_plan plan = world->parties.plan;
    world->parties.plan.settings = (tacit_settings){ .table = NULL };
    world->parties.plan.method = &tacit_method_estimate;
    tacit_model *clear = parties_run(&world->parties, 3, NULL);
    world->parties.plan = plan;
    return clear;
}

static void near(double ours, double theirs, double relative, const char *what) {
    if (!(fabs(ours - theirs) <= relative * (1e-3 + fabs(theirs))))
        fail_msg("%s: %.12g and %.12g", what, ours, theirs);
}

static void compare(const tacit_model *secure, const tacit_model *clear, double relative) {
    const tacit_estimates *ours = secure->estimates, *theirs = clear->estimates;
    assert_non_null(ours);
    assert_ptr_equal(secure->family, clear->family);
    assert_string_equal(ours->family, theirs->family);
    assert_int_equal(ours->student, theirs->student);
    assert_int_equal(ours->count, theirs->count);
    for (size_t j = 0; j < ours->count; j++) {
        const tacit_coefficient *a = &ours->coefficient[j], *b = &theirs->coefficient[j];
        assert_string_equal(a->name, b->name);
        near(a->estimate, b->estimate, relative, a->name);
        near(a->error, b->error, relative, a->name);
        near(a->low, b->low, relative, a->name);
        near(a->p, b->p, relative, a->name);
    }
    near(ours->deviance, theirs->deviance, relative, "deviance");
    near(ours->null_deviance, theirs->null_deviance, relative, "null deviance");
    near(ours->aic, theirs->aic, relative, "AIC");
    near(ours->dispersion, theirs->dispersion, relative, "dispersion");
    for (size_t j = 0; j < tacit_model_size(secure); j++)
        near(secure->weights[j], clear->weights[j], relative, "weight");
}

static void a_number_is_fitted_as_method_estimate_does(void **state) {
    (void)state;
    logit_world world;
    tacit_schema *schema = numbers();
    begin_with(&world, schema, number, methods[0]);
    for (int penalised = 0; penalised < 2; penalised++) {
        world.parties.plan.lambda = penalised ? 0.01 : 0;
        tacit_model *clear = in_clear(&world);
        for (size_t m = 0; m < 3; m++)
            for (size_t e = 0; e < 2; e++) {
                use(&world, methods[m], engines[e]);
                world_set(&world, "stop", e == 0 ? "likelihood" : "converged");
                tacit_model *secure = world_run(&world);
                assert_int_equal(world.count, 2); /* the step, and one that says that it was all */
                if (!penalised) compare(secure, clear, 1e-6);
                for (size_t j = 0; penalised && j < tacit_model_size(secure); j++)
                    near(secure->weights[j], clear->weights[j], 1e-6, "weight");
                tacit_model_free(secure);
            }
        tacit_model_free(clear);
    }
    end(&world, schema);
}

static void a_count_is_fitted_as_method_estimate_does(void **state) {
    (void)state;
    logit_world world;
    tacit_schema *schema = counts();
    begin_with(&world, schema, count, methods[0]);
    tacit_model *clear = in_clear(&world);
    for (size_t e = 0; e < 2; e++)
        for (int converged = 0; converged < 2; converged++) {
            use(&world, methods[0], engines[e]);
            world_set(&world, "stop", converged ? "converged" : "likelihood");
            tacit_model *secure = world_run(&world);
            assert_in_range(world.count, 3, 7);
            compare(secure, clear, converged ? 1e-6 : 1e-4);
            tacit_model_free(secure);
        }
    tacit_model_free(clear);
    end(&world, schema);
}

/* F is 0 but for rounding, and no change is below a millionth of it; or all steps are 0. */
static void without_residuals_a_run_ends(void **state) {
    (void)state;
    static responder *const responders[] = { exactly, middle };
    for (size_t r = 0; r < 2; r++)
        for (int converged = 0; converged < 2; converged++) {
            logit_world world;
            tacit_schema *schema = numbers();
            begin_with(&world, schema, responders[r], methods[0]);
            for (size_t m = 0; m < 3; m++) {
                use(&world, methods[m], "shares");
                world_set(&world, "stop", converged ? "converged" : "likelihood");
                tacit_model *model = world_run(&world);
                assert_in_range(world.count, 1, 4);
                static const double truth[2][WIDTH] = { { 3, 4, -2, 0.1 }, { 10, 0, 0, 0 } };
                for (size_t j = 0; j < WIDTH; j++) {
                    CHECK_NEAR(model->estimates->coefficient[j].estimate, truth[r][j], 1e-6);
                    assert_true(model->estimates->coefficient[j].error < 1e-3);
                }
                assert_true(isfinite(model->estimates->aic));
                tacit_model_free(model);
            }
            end(&world, schema);
        }
}

/* With one factor for all iterations, which the second half has to make again. */
static void a_run_that_died_goes_on(void **state) {
    (void)state;
    for (int which = 0; which < 2; which++)
        for (size_t dies = 3; dies < 8; dies++) {
            logit_world world;
            tacit_schema *schema = which == 0 ? numbers() : counts();
            memory_journal stored = { .dies_after = dies };
            tacit_journal journal = { .read = read_memory,
                                      .write = write_memory,
                                      .read_checkpoint = no_checkpoint,
                                      .context = &stored };
            tacit_error error = TACIT_ERROR_INIT;
            tacit_outcome outcome = TACIT_OUTCOME_INIT;
            begin_with(&world, schema, which == 0 ? number : count, methods[0]);
            use(&world, methods[0], "shares");
            world_set(&world, "inference", "no");
            tacit_session session = world_begin(&world);
            session.journal = &journal;
            tacit_status status = world.parties.plan.method->coordinate(&session, &outcome, &error);
            if (status != TACIT_OK) assert_int_equal(status, TACIT_IO);
            tacit_outcome_clear(&outcome);
            outcome = (tacit_outcome)TACIT_OUTCOME_INIT;
            stored.dies_after = MOST_RECORDS;
            session = world_begin(&world);
            session.journal = &journal;
            error = (tacit_error)TACIT_ERROR_INIT;
            CHECK_OK(world.parties.plan.method->coordinate(&session, &outcome, &error), error);
            tacit_model *clear = in_clear(&world);
            for (size_t j = 0; j < WIDTH; j++)
                near(outcome.models[0]->weights[j], clear->weights[j], 1e-4, "weight");
            tacit_model_free(clear);
            tacit_outcome_clear(&outcome);
            for (size_t i = 0; i < stored.count; i++) tacit_buffer_clear(&stored.record[i]);
            end(&world, schema);
        }
}

/* ---- limits ---- */

static void refused(const logit_world *world, const char *says) {
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_plan_check(&world->parties.plan, &error), TACIT_USAGE);
    if (strstr(error.text, says) == NULL) fail_msg("'%s' is not in: %s", says, error.text);
}

static void what_has_no_bound_is_refused_with_what_to_choose(void **state) {
    (void)state;
    logit_world world;
    tacit_schema *schema = counts(), *wide = schema_of("kind: count, low: 0, high: 100000"),
                 *classes = schema_of("classes: [x, z, w]");
    begin_with(&world, schema, count, methods[0]);
    for (size_t m = 1; m < 3; m++) {
        use(&world, methods[m], "shares");
        refused(&world, "choose method newton");
    }
    use(&world, methods[0], "shares");
    world_set(&world, "dp", "1");
    refused(&world, "dpnewton");
    use(&world, methods[0], "shares");
    world_set(&world, "start", "0.5");
    refused(&world, "leave 'start' out");
    use(&world, methods[0], "shares");
    world.parties.plan.schema = wide;
    refused(&world, "counts as large as the schema allows");
    world_set(&world, "fraction", "30");
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_check(&world.parties.plan, &error), error);
    use(&world, methods[0], "shares");
    world.parties.plan.schema = NULL;
    refused(&world, "in a schema");
    world.parties.plan.schema = classes;
    world.parties.plan.classes = 3;
    refused(&world, "two classes");
    world.parties.plan.schema = schema;
    world.parties.plan.classes = 0;
    tacit_schema_free(wide);
    tacit_schema_free(classes);
    end(&world, schema);
}

/* 2 S^2 with S^2 = 2 * 3 is below 64, as B of counts is not: 2 + 3 40 + 2 40 log 80, times S^2, and 4 bits to spare. */
static void ranges_are_those_of_the_schema(void **state) {
    (void)state;
    logit_world world;
    tacit_schema *number_schema = numbers(), *count_schema = counts();
    tacit_secure_settings settings = tacit_secure_defaults();
    begin_with(&world, number_schema, number, methods[0]);
    CHECK_NEAR(tacit_logit_scale(&world.parties.plan), sqrt(6), 1e-12);
    CHECK_NEAR(tacit_logit_range(&world.parties.plan), 64, 1e-12);
    assert_int_equal(tacit_logit_finer(&world.parties.plan), 5);
    CHECK_NEAR(tacit_logit_steepest(&world.parties.plan, 0), 1, 1e-12);
    CHECK_NEAR(tacit_logit_steepest(&world.parties.plan, 2), 3, 1e-12);
    world.parties.plan.lambda = 1.0 / 6e4; /* a ridge of 1e-4 */
    for (size_t m = 0; m < 3; m++) {       /* 2 sqrt(9) 1e4 takes 16 bits, 2 sqrt(2 96 1e4) = 2771 takes 12 */
        use(&world, methods[m], "yao");
        tacit_logit_widths(&settings, &world.parties.plan, 9, 1e4);
        assert_int_equal(settings.format.width, 36 + 16 + 1);
        assert_int_equal(settings.solution_width, 36 + 12 + 1);
    }
    world.parties.plan.schema = count_schema;
    use(&world, methods[0], "yao");
    CHECK_NEAR(tacit_logit_range(&world.parties.plan), 4096, 0); /* after 2836 */
    tacit_logit_widths(&settings, &world.parties.plan, 9, 1e4);
    assert_int_equal(settings.solution_width, settings.format.width);
    tacit_schema_free(count_schema);
    end(&world, number_schema);
}

/* At coefficients where a node's sums are beyond the range they are not sent, but a trace that no check lets pass; and so a fit
 * that runs away ends with what to do. */
static void sums_beyond_the_range_end_the_run(void **state) {
    (void)state;
    enum { HEAD = 4, LENGTH = HEAD + WIDTH + WIDTH * (WIDTH + 1) / 2 };
    logit_world world;
    tacit_schema *schema = counts();
    tacit_error error = TACIT_ERROR_INIT;
    tacit_paillier_secret *secret = NULL;
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    double beta[WIDTH] = { 0, 0, 0, 0 };
    int64_t sums[LENGTH];
    CHECK_OK(tacit_center_simulated_key(&secret, &error), error);
    begin_with(&world, schema, far_out, methods[0]);
    use(&world, methods[0], "shares");
    const tacit_plan *plan = &world.parties.plan;
    for (int far = 0; far < 2; far++) {
        beta[WIDTH - 1] = far ? 12 : 0;
        CHECK_OK(tacit_logit_decrypt_sum(sums, world.parties.local, plan, secret, ROWS, beta, WIDTH,
                                         TACIT_WEIGH_CURVATURE, &error),
                 error);
        double largest = ldexp(tacit_logit_range(plan), 36), trace = 0;
        for (size_t j = 0; j < WIDTH; j++) trace += (double)sums[HEAD + WIDTH + tacit_triangle(j, j)];
        assert_true(far ? trace == NODES * largest : trace < largest);
        for (size_t j = 0; j < LENGTH && far; j++)
            if (j != HEAD - 1 && j != HEAD + WIDTH) assert_int_equal(sums[j], 0);
    }
    world_set(&world, "stop", "converged");
    tacit_session session = world_begin(&world);
    assert_int_equal(plan->method->coordinate(&session, &outcome, &error), TACIT_LIMIT);
    assert_non_null(strstr(error.text, "iteration 2 "));
    assert_non_null(strstr(error.text, "counts of 0 only; raise lambda"));
    world.parties.plan.lambda = 0.01;
    world.count = 0;
    tacit_model *model = world_run(&world);
    tacit_model_free(model);
    tacit_paillier_secret_free(secret);
    end(&world, schema);
}

/* ---- what people read ---- */

/* Of the label that the study has, and of no other. */
static void what_is_opened_is_said_for_the_label(void **state) {
    (void)state;
    static const char *const own[] = { "the number of positive rows", "from which sigma^2 follows",
                                       "of y log y" };
    logit_world world;
    tacit_schema *schemas[] = { schema_of("classes: [no, yes]"), numbers(), counts() };
    begin_with(&world, numbers(), number, methods[0]);
    tacit_schema *first = (tacit_schema *)world.parties.plan.schema;
    for (size_t m = 0; m < 3; m++)
        for (size_t kind = 0; kind < (m == 0 ? 3 : 2); kind++)
            for (int inference = 0; inference < 2; inference++) {
                tacit_wording wording = TACIT_WORDING_INIT;
                tacit_error error = TACIT_ERROR_INIT;
                world.parties.plan.schema = schemas[kind];
                use(&world, methods[m], "shares");
                world_set(&world, "inference", inference ? "yes" : "no");
                CHECK_OK(tacit_wording_make(&wording, &world.parties.plan, &error), error);
                for (size_t other = 0; other < 3; other++)
                    assert_int_equal(strstr(wording.seen_by, own[other]) != NULL, inference && other == kind);
                assert_int_equal(strstr(wording.leaves, "squared residuals") != NULL, kind == 1);
                assert_null(strchr(wording.seen_by, '['));
                tacit_wording_clear(&wording);
            }
    for (size_t kind = 0; kind < 3; kind++) tacit_schema_free(schemas[kind]);
    end(&world, first);
}

/* ---- dp ---- */

/* Hardly any noise: what is left is the fit with the ridge 1/n that private runs have; of one step, and no more is opened. */
static void dp_takes_one_step_of_a_number_and_is_charged(void **state) {
    (void)state;
    for (size_t m = 0; m < 3; m++) {
        logit_world world;
        tacit_schema *schema = numbers();
        tacit_account account;
        tacit_error error = TACIT_ERROR_INIT;
        begin_with(&world, schema, number, methods[m]);
        use(&world, methods[m], "shares");
        world_set(&world, "dp", "1e6");
        assert_int_equal(tacit_logit_releases(&world.parties.plan), 2);
        tacit_model *model = world_run(&world);
        assert_int_equal(world.count, 1);
        assert_null(model->estimates);
        CHECK_OK(tacit_local_charged(world.parties.local, TACIT_UNIT_RECORD, &account, &error), error);
        CHECK_NEAR(account.spent_epsilon, 1e6, 1e-3);
        world.parties.plan.lambda = 1 / (ROWS * pow(tacit_logit_scale(&world.parties.plan), 2));
        tacit_model *clear = in_clear(&world);
        double moved = 0;
        for (size_t j = 0; j < WIDTH; j++) moved = fmax(moved, fabs(model->weights[j] - clear->weights[j]));
        print_message("# %s: %.2g\n", methods[m]->name, moved);
        assert_true(moved > 1e-6 && moved < 0.5);
        tacit_model_free(model);
        tacit_model_free(clear);
        end(&world, schema);
    }
}

/* How far two rows in place of each other move gradient and triangle, as parts of what is declared. */
static void replay(logit_world *world, const tacit_paillier_secret *secret, double x[2][WIDTH],
                   const double y[2], double part[2]) {
    enum { TRIANGLE = WIDTH * (WIDTH + 1) / 2, HEAD = 3 };
    static const double zero[WIDTH] = { 0 };
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_plan *plan = &world->parties.plan;
    int64_t sums[2][HEAD + WIDTH + TRIANGLE];
    for (int side = 0; side < 2; side++) {
        memcpy(world->parties.data->dense.values, x[side], sizeof x[side]);
        world->parties.data->response[0] = y[side];
        CHECK_OK(tacit_logit_decrypt_sum(sums[side], world->parties.local, plan, secret, ROWS, zero, WIDTH,
                                         plan->method == methods[0] ? TACIT_WEIGH_CURVATURE : TACIT_WEIGH_ONE,
                                         &error),
                 error);
        for (size_t j = 0; j < HEAD; j++) assert_int_equal(sums[side][j], 0);
        if (plan->method == methods[2])
            CHECK_OK(tacit_logit_decrypt_gradient(sums[side] + HEAD, world->parties.local, plan, secret, ROWS,
                                                  zero, WIDTH, &error),
                     error);
    }
    for (int k = 0; k < 2; k++) {
        tacit_logit_release release;
        double square = 0;
        CHECK_OK(tacit_logit_release_of(&release, plan, WIDTH, ROWS, zero, k == 1, &error), error);
        for (size_t j = 0; j < release.count; j++) {
            size_t at = HEAD + (k == 1 ? WIDTH : 0) + j;
            square += pow((double)(sums[0][at] - sums[1][at]), 2);
        }
        part[k] = sqrt(square) / release.sensitivity;
        assert_true(part[k] <= 1);
    }
}

/* Any rows of the ball and any labels, beyond the schema's bounds too; and the pairs that attain both bounds. */
static void no_replaced_row_moves_a_sum_of_numbers_beyond_what_is_declared(void **state) {
    (void)state;
    enum { PAIRS = 25 };
    tacit_stream stream = printed_stream();
    tacit_error error = TACIT_ERROR_INIT;
    tacit_paillier_secret *secret = NULL;
    CHECK_OK(tacit_center_simulated_key(&secret, &error), error);
    for (size_t m = 0; m < 3; m++) {
        static double axis[2][WIDTH] = { { 1 }, { 0, 1 } }, opposite[2][WIDTH] = { { 1 }, { -1 } };
        logit_world world;
        tacit_schema *schema = numbers();
        double part[2];
        begin_with(&world, schema, number, methods[m]);
        use(&world, methods[m], "shares");
        world_set(&world, "dp", "1");
        for (int pair = 0; pair < PAIRS; pair++) {
            double x[2][WIDTH], y[2];
            for (int side = 0; side < 2; side++) {
                double square = 0;
                for (size_t j = 0; j < WIDTH; j++) {
                    x[side][j] = tacit_stream_unit(&stream) - 0.5;
                    square += x[side][j] * x[side][j];
                }
                for (size_t j = 0; j < WIDTH; j++) x[side][j] /= sqrt(square) * (1 + 1e-12);
                y[side] = LOW - 10 + (HIGH - LOW + 20) * tacit_stream_unit(&stream);
            }
            replay(&world, secret, x, y, part);
        }
        replay(&world, secret, axis, (double[]){ HIGH, HIGH }, part);
        assert_true(part[1] > 1 - 1e-6);
        replay(&world, secret, opposite, (double[]){ HIGH, HIGH }, part);
        assert_true(part[0] > (m == 2 ? 0.9 : 1 - 1e-6)); /* privlogit-local has a coarser grid */
        end(&world, schema);
    }
    tacit_paillier_secret_free(secret);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_fitted_as_method_estimate_does),
        cmocka_unit_test(a_count_is_fitted_as_method_estimate_does),
        cmocka_unit_test(without_residuals_a_run_ends),
        cmocka_unit_test(a_run_that_died_goes_on),
        cmocka_unit_test(what_has_no_bound_is_refused_with_what_to_choose),
        cmocka_unit_test(ranges_are_those_of_the_schema),
        cmocka_unit_test(sums_beyond_the_range_end_the_run),
        cmocka_unit_test(what_is_opened_is_said_for_the_label),
        cmocka_unit_test(dp_takes_one_step_of_a_number_and_is_charged),
        cmocka_unit_test(no_replaced_row_moves_a_sum_of_numbers_beyond_what_is_declared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
