/*
 * output, plr and gop: the sensitivity that output declares holds for the models it computes; at a fixed
 * released weight the noise that a perturbed objective needs moves no further, and stretches no more, than
 * the proof allows; and the noise has the promised law.
 *
 * Noise. A Gamma(k) variable leaves [k - sqrt(2 k u), k + sqrt(2 k u) + u] with probability below 2 e^-u
 * (Laurent and Massart 2000): 1e-9 is the false-alarm rate of each check of a law, and each must also reject
 * a scale that is 10% off.
 */
#include "check.h"

#include "lab/replay.h"
#include "method/private/perturb.h"
#include "parties.h"

static const double U = 21.5; /* above ln(2e9) */

static bool is_gamma(double sum, double shape) {
    return sum >= shape - sqrt(2 * shape * U) && sum <= shape + sqrt(2 * shape * U) + U;
}

static parties world_of(tacit_dataset *data, size_t count, const tacit_method *method, const char *loss) {
    tacit_error error = TACIT_ERROR_INIT;
    parties world;
    parties_make(&world, data, count, NULL);
    world.plan.method = method;
    world.plan.delta = 0.01;
    CHECK_OK(tacit_plan_set(&world.plan, "loss", loss, &error), error);
    return world;
}

/* The same points with K classes, by the value of their first coordinate. */
static tacit_dataset *with_classes(tacit_dataset *data, size_t classes) {
    for (size_t k = data->classes.count; k < classes; k++) {
        char name[8];
        int32_t code;
        snprintf(name, sizeof name, "c%zu", k);
        assert_int_equal(tacit_levels_add(&data->classes, name, strlen(name), &code, NULL), TACIT_OK);
    }
    for (size_t i = 0; classes > 2 && i < data->rows; i++)
        data->label[i] = (int32_t)(fabs(data->dense.values[i * data->features]) * 1e6) % (int32_t)classes;
    return data;
}

/* ---- output: sensitivity ---- */

/* Pairs differ in the first row. */
typedef struct replaying {
    const parties *world;
    const double *row; /* NULL: another point of the ball each time */
    int32_t label;
} replaying;

static tacit_status replace_row(void *context, size_t number, tacit_pair *out, tacit_error *error) {
    const replaying *self = context;
    const tacit_dataset *data = self->world->data;
    size_t features = data->features;
    out->plan = self->world->plan;
    out->plan.epsilon = 1; /* replays run without noise, but ask what would be declared for it */
    out->statistic = TACIT_STATISTIC_MODEL;
    for (int side = 0; side < 2; side++) TACIT_TRY(tacit_pair_copy(&out->data[side], data, error));
    out->split = split_in_blocks(data->rows, 1);
    tacit_dataset *other = self->row == NULL ? ball(1, features, 900 + number) : NULL;
    memcpy(out->data[1]->dense.values, other != NULL ? other->dense.values : self->row,
           features * sizeof(double));
    out->data[1]->label[0] = other != NULL ? (int32_t)(number % data->classes.count) : self->label;
    tacit_dataset_free(other);
    return TACIT_OK;
}

static tacit_replay replay(const parties *world, const double *row, int32_t label, size_t count) {
    tacit_error error = TACIT_ERROR_INIT;
    replaying context = { world, row, label };
    tacit_replay result;
    CHECK_OK(tacit_replay_run(&result, replace_row, &context, count, 5, NULL, &error), error);
    return result;
}

static void random_neighbours_stay_within_the_sensitivity_of_output(void **state) {
    (void)state;
    static const double lambdas[] = { 0.2, 0.001 };
    for (size_t classes = 2; classes <= 4; classes += 2)
        for (int huber = 0; huber < (classes == 2 ? 2 : 1); huber++)
            for (size_t l = 0; l < 2; l++) {
                parties world = world_of(with_classes(ball(30, 4, 17), classes), 1, &tacit_method_output,
                                         huber ? "huber" : "logistic");
                world.plan.lambda = lambdas[l];
                assert_true(replay(&world, NULL, 0, 40).ratio <= 1);
                parties_end(&world);
            }
}

/* All rows but the first lie at the origin and have no gradient. */
static tacit_dataset *one_row_at(double x, size_t rows) {
    tacit_dataset *data = ball(rows, 1, 1);
    for (size_t i = 0; i < rows; i++) {
        data->dense.values[i] = 0;
        data->label[i] = 1;
    }
    data->dense.values[0] = x;
    return data;
}

static void adversarial_rows_come_near_the_sensitivity_of_output(void **state) {
    (void)state;
    static const double one = 1, w = 0.27846454276107379; /* W(1/e) */
    parties huber = world_of(one_row_at(1, 10), 1, &tacit_method_output, "huber");
    huber.plan.lambda = 1;
    double ratio = replay(&huber, &one, 0, 1).ratio; /* the other label */
    print_message("# huber, 1 -> -1: %.8f of the declared sensitivity\n", ratio);
    assert_true(ratio <= 1 && ratio > 0.999999);
    /* One row in all and a small lambda: the bound on the weights themselves. */
    parties alone = world_of(one_row_at(1, 1), 1, &tacit_method_output, "huber");
    alone.plan.lambda = 1;
    ratio = replay(&alone, &one, 0, 1).ratio;
    print_message("# huber, a party of one row: %.4f\n", ratio);
    assert_true(ratio <= 1 && ratio > 0.5);
    parties logistic = world_of(one_row_at(1, 1), 1, &tacit_method_output, "logistic");
    logistic.plan.lambda = w / ((1 + w) * (1 + w)); /* where t/(1 + e^t) is largest */
    ratio = replay(&logistic, &one, 0, 1).ratio;
    print_message("# logistic, a party of one row: %.6f\n", ratio);
    assert_true(ratio <= 1 && ratio > 0.999);
    parties_end(&huber);
    parties_end(&alone);
    parties_end(&logistic);
}

/* ---- perturbed objectives: b at a fixed w ---- */

enum { MOST_FEATURES = 8 };

/* -loss' and loss'' at the margin t; width 0 is the logistic loss. */
static double pull(double width, double t) {
    return width > 0 ? fmax(0, fmin(1, (1 + width - t) / (2 * width))) : 1 / (1 + exp(t));
}

static double bend(double width, double t) {
    if (width > 0) return fabs(t - 1) <= width ? 1 / (2 * width) : 0;
    return pull(0, t) * (1 - pull(0, t));
}

/* b(w) = -n (lambda + Delta) w - sum loss' y x */
static void b_of(double *b, const tacit_dataset *data, double width, double lambda, const double *w) {
    size_t features = data->features;
    for (size_t j = 0; j < features; j++) b[j] = -(double)data->rows * lambda * w[j];
    for (size_t i = 0; i < data->rows; i++) {
        const double *x = data->dense.values + i * features;
        double y = data->label[i] == 1 ? 1 : -1, t = 0;
        for (size_t j = 0; j < features; j++) t += y * x[j] * w[j];
        for (size_t j = 0; j < features; j++) b[j] += pull(width, t) * y * x[j];
    }
}

/* log det of n (lambda + Delta) I + sum loss'' x x^T, by Cholesky. */
static double log_det(const tacit_dataset *data, double width, double lambda, const double *w) {
    size_t d = data->features;
    double a[MOST_FEATURES][MOST_FEATURES] = { { 0 } }, sum = 0;
    for (size_t j = 0; j < d; j++) a[j][j] = (double)data->rows * lambda;
    for (size_t i = 0; i < data->rows; i++) {
        const double *x = data->dense.values + i * d;
        double y = data->label[i] == 1 ? 1 : -1, t = 0;
        for (size_t j = 0; j < d; j++) t += y * x[j] * w[j];
        for (size_t j = 0; j < d; j++)
            for (size_t k = 0; k < d; k++) a[j][k] += bend(width, t) * x[j] * x[k];
    }
    for (size_t j = 0; j < d; j++) {
        for (size_t k = 0; k < j; k++) a[j][j] -= a[j][k] * a[j][k];
        sum += log(a[j][j]);
        a[j][j] = sqrt(a[j][j]);
        for (size_t i = j + 1; i < d; i++) {
            for (size_t k = 0; k < j; k++) a[i][j] -= a[i][k] * a[j][k];
            a[i][j] /= a[j][j];
        }
    }
    return sum;
}

typedef struct moved {
    double shift, stretch; /* |b - b'| and det A/det A' - 1, whichever way is larger, over their bounds */
} moved;

static moved move_between(const tacit_dataset *first, const tacit_dataset *second, double width,
                          double lambda, const double *w) {
    double b[2][MOST_FEATURES], square = 0, c = width > 0 ? 1 / (2 * width) : 0.25;
    b_of(b[0], first, width, lambda, w);
    b_of(b[1], second, width, lambda, w);
    for (size_t j = 0; j < first->features; j++) square += (b[0][j] - b[1][j]) * (b[0][j] - b[1][j]);
    double ratio = log_det(first, width, lambda, w) - log_det(second, width, lambda, w);
    return (moved){ sqrt(square) / 2, expm1(fabs(ratio)) * (double)first->rows * lambda / c };
}

static void the_noise_needed_stays_within_the_bounds_of_the_proof(void **state) {
    (void)state;
    static const double widths[] = { 0, 0.5, 0.1 };
    moved most = { 0, 0 };
    for (uint64_t seed = 1; seed <= 200; seed++) {
        tacit_stream stream = tacit_stream_from_seed(seed);
        size_t rows = 1 + seed % 12;
        tacit_dataset *first = ball(rows, 3, seed), *second = ball(rows, 3, seed),
                      *other = ball(1, 3, seed + 1000);
        memcpy(second->dense.values, other->dense.values, 3 * sizeof(double));
        second->label[0] = (int32_t)(seed % 2);
        for (int k = 0; k < 30; k++) {
            double w[3], lambda = pow(10, 4 * tacit_stream_unit(&stream) - 3);
            for (int j = 0; j < 3; j++) w[j] = 8 * (tacit_stream_unit(&stream) - 0.5);
            moved here = move_between(first, second, widths[k % 3], lambda, w);
            most.shift = fmax(most.shift, here.shift);
            most.stretch = fmax(most.stretch, here.stretch);
        }
        tacit_dataset_free(first);
        tacit_dataset_free(second);
        tacit_dataset_free(other);
    }
    print_message("# random neighbours: %.3f of the shift, %.3f of the Jacobian's factor\n", most.shift,
                  most.stretch);
    assert_true(most.shift <= 1 + 1e-12 && most.stretch <= 1 + 1e-9);
}

/* Shift: Huber's loss and another label. Jacobian: a row where the loss bends most, and one at the origin. */
static void adversarial_rows_attain_the_bounds_of_the_proof(void **state) {
    (void)state;
    static const double zero = 0, one = 1;
    tacit_dataset *there = one_row_at(1, 5), *turned = one_row_at(1, 5), *gone = one_row_at(0, 5);
    turned->label[0] = 0;
    CHECK_NEAR(move_between(there, turned, 0.5, 0.1, &zero).shift, 1, 1e-12);
    CHECK_NEAR(move_between(there, gone, 0, 0.1, &zero).stretch, 1, 1e-9); /* logistic: at margin 0 */
    CHECK_NEAR(move_between(there, gone, 0.5, 0.1, &one).stretch, 1,
               1e-9); /* Huber: anywhere in the corner */
    tacit_dataset_free(there);
    tacit_dataset_free(turned);
    tacit_dataset_free(gone);
}

/* ---- the law of the noise ---- */

static tacit_objective_noise noise_of(const parties *world, tacit_law law, size_t rows) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_objective_noise noise;
    CHECK_OK(perturb_objective_noise(&noise, &world->plan, law, rows, &error), error);
    return noise;
}

/* From each released w compute the b it came from; |b|/s is Gamma(d), (|b|/s)^2/2 for a Gaussian
 * Gamma(d/2). */
static void check_law(const tacit_method *method, tacit_law law, const char *loss, double lambda) {
    enum { RUNS = 1500, D = 6 };
    bool gaussian = law == TACIT_LAW_GAUSSIAN;
    parties world = world_of(ball(40, D, 3), 1, method, loss);
    double width = perturb_shape(&world.plan), sum = 0, shape = gaussian ? RUNS * D / 2.0 : RUNS * D;
    world.plan.epsilon = 0.8;
    world.plan.lambda = lambda;
    tacit_objective_noise noise = noise_of(&world, law, 40);
    for (uint64_t run = 0; run < RUNS; run++) {
        tacit_model *model = parties_run(&world, 100 + run, NULL);
        double b[D], square = 0;
        b_of(b, world.data, width, noise.lambda, model->weights);
        for (size_t j = 0; j < D; j++) square += b[j] * b[j] / (noise.scale * noise.scale);
        sum += gaussian ? square / 2 : sqrt(square);
        tacit_model_free(model);
    }
    double off = gaussian ? 1.21 : 1.1;
    print_message("# %s, %s, lambda %g: %.4f of the promised noise\n", method->name, loss, lambda,
                  sum / shape);
    assert_true(is_gamma(sum, shape));
    assert_false(is_gamma(sum * off, shape));
    assert_false(is_gamma(sum / off, shape));
    parties_end(&world);
}

static void the_objectives_noise_has_the_promised_law(void **state) {
    (void)state;
    check_law(&tacit_method_plr, TACIT_LAW_GAMMA_NORM, "logistic", 0.5);
    check_law(&tacit_method_plr, TACIT_LAW_GAMMA_NORM, "huber", 1e-4); /* with a Delta */
    check_law(&tacit_method_gop, TACIT_LAW_GAUSSIAN, "logistic", 1e-4);
    check_law(&tacit_method_gop, TACIT_LAW_GAUSSIAN, "huber", 0.5);
}

static void the_outputs_noise_has_the_promised_law(void **state) {
    (void)state;
    enum { RUNS = 4000, D = 3, ROWS = 40 };
    parties world = world_of(ball(ROWS, D, 8), 1, &tacit_method_output, "logistic");
    double scale = 2 / (ROWS * world.plan.lambda) / 0.7, sum = 0;
    tacit_model *exact = parties_run(&world, 1, NULL);
    world.plan.epsilon = 0.7;
    world.plan.minimum_rows = 10; /* the party's own number of rows counts */
    for (uint64_t run = 0; run < RUNS; run++) {
        tacit_model *noisy = parties_run(&world, 100 + run, NULL);
        double square = 0;
        for (size_t j = 0; j < D; j++) square += pow(noisy->weights[j] - exact->weights[j], 2);
        sum += sqrt(square) / scale;
        tacit_model_free(noisy);
    }
    assert_true(is_gamma(sum, RUNS * D));
    assert_false(is_gamma(sum * 1.1, RUNS * D));
    assert_false(is_gamma(sum / 1.1, RUNS * D));
    tacit_model_free(exact);
    parties_end(&world);
}

/* The promise behind the last noise: the solver ends within half its sensitivity of the exact minimiser. */
static void the_solvers_distance_is_covered(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    static const double lambdas[] = { 1e-3, 0.1, 10 };
    for (size_t l = 0; l < 3; l++) {
        parties world = world_of(ball(60, 5, 2), 1, &tacit_method_plr, "logistic");
        world.plan.epsilon = 1;
        world.plan.lambda = lambdas[l];
        tacit_objective_noise noise = noise_of(&world, TACIT_LAW_GAMMA_NORM, 60);
        double linear[5] = { 1.5, -0.2, 0.3, -2, 0.7 };
        tacit_view rows = tacit_dataset_view(world.data);
        tacit_linear_fit fit = { .lambda = noise.lambda,
                                 .linear = linear,
                                 .gradient_tolerance = noise.tolerance };
        tacit_model *model = NULL, *exact = NULL;
        CHECK_OK(tacit_model_fit_linear(&model, &rows, &fit, &error), error);
        fit.gradient_tolerance = 1e-13;
        CHECK_OK(tacit_model_fit_linear(&exact, &rows, &fit, &error), error);
        double square = 0;
        for (size_t j = 0; j < 5; j++) square += pow(model->weights[j] - exact->weights[j], 2);
        assert_true(sqrt(square) <= noise.last.sensitivity / 2);
        tacit_model_free(model);
        tacit_model_free(exact);
        parties_end(&world);
    }
}

/* A solver that cannot reach its tolerance stops the run, and when it does would depend on the rows: it must
 * not happen. */
static void the_tolerance_is_reachable(void **state) {
    (void)state;
    static const size_t rows[] = { 1, 30, 200 }, features[] = { 1, 40, 300 };
    static const double lambdas[] = { 1e-6, 1e-3, 0.1, 10 }, epsilons[] = { 0.01, 30 };
    const tacit_method *methods[] = { &tacit_method_plr, &tacit_method_gop };
    for (size_t r = 0; r < 3; r++)
        for (size_t f = 0; f < 3; f++)
            for (size_t m = 0; m < 4; m++) {
                parties world = world_of(ball(rows[r], features[f], 7 + m), 1, methods[m % 2],
                                         m < 2 ? "logistic" : "huber");
                for (size_t i = 0; i < 8; i++) {
                    world.plan.lambda = lambdas[i % 4];
                    world.plan.epsilon = epsilons[i / 4];
                    tacit_model_free(parties_run(&world, i, NULL));
                }
                parties_end(&world);
            }
}

/* ---- what they compute ---- */

static void without_noise_they_are_the_mean_of_the_parties_models(void **state) {
    (void)state;
    enum { PARTIES = 3, D = 4 };
    const tacit_method *methods[] = { &tacit_method_output, &tacit_method_plr, &tacit_method_gop };
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t m = 0; m < 6; m++) {
        const char *loss = m < 3 ? "logistic" : "huber";
        parties world = world_of(ball(90, D, 3), PARTIES, methods[m % 3], loss);
        double mean[D] = { 0 };
        tacit_linear_fit fit = { .lambda = world.plan.lambda,
                                 .gradient_tolerance = 1e-9,
                                 .family = perturb_family(&world.plan),
                                 .shape = perturb_shape(&world.plan) };
        for (size_t k = 0; k < PARTIES; k++) {
            tacit_model *local = NULL;
            tacit_view rows = tacit_split_view(world.split, world.data, k);
            CHECK_OK(tacit_model_fit_linear(&local, &rows, &fit, &error), error);
            for (size_t j = 0; j < D; j++) mean[j] += local->weights[j] / PARTIES;
            tacit_model_free(local);
        }
        size_t answered;
        tacit_model *model = parties_run(&world, 5, &answered);
        assert_int_equal(answered, PARTIES);
        assert_ptr_equal(model->family, m < 3 ? &tacit_family_logistic : &tacit_family_huber);
        for (size_t j = 0; j < D; j++) CHECK_NEAR(model->weights[j], mean[j], 1e-12);
        tacit_model_free(model);
        parties_end(&world);
    }
}

static void expect_usage(const parties *world, const char *says) {
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_plan_check(&world->plan, &error), TACIT_USAGE);
    if (strstr(error.text, says) == NULL) fail_msg("'%s' does not say '%s'", error.text, says);
}

static void what_they_cannot_do_is_said(void **state) {
    (void)state;
    const tacit_method *methods[] = { &tacit_method_plr, &tacit_method_gop };
    for (size_t m = 0; m < 2; m++) {
        parties many = world_of(with_classes(ball(30, 2, 1), 3), 1, methods[m], "logistic");
        many.plan.epsilon = 1;
        expect_usage(&many, "use method output");
        parties_end(&many);
    }
    parties many = world_of(with_classes(ball(30, 2, 1), 3), 1, &tacit_method_output, "huber");
    expect_usage(&many, "two classes");
    parties_end(&many);
    parties pure = world_of(ball(30, 2, 1), 1, &tacit_method_gop, "logistic");
    pure.plan.delta = 0;
    pure.plan.epsilon = 1;
    expect_usage(&pure, "plr");
    parties_end(&pure);
    tacit_error error = TACIT_ERROR_INIT;
    parties world = world_of(ball(30, 2, 1), 1, &tacit_method_plr, "logistic");
    replaying context = { &world, NULL, 0 };
    tacit_replay result;
    assert_int_equal(tacit_replay_run(&result, replace_row, &context, 1, 5, NULL, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "perturbs its objective"));
    parties_end(&world);
}

/* ---- what the tight calibration is worth: the simulated data of Rajkumar and Agarwal 2012, section 6
 * ---- */

/* The mean test error over five sets of 1000 + 1000 rows in 10 dimensions, `trials` noises each. */
static double error_on_simulated_data(const char *calibration, double epsilon, int trials) {
    tacit_error error = TACIT_ERROR_INIT;
    double sum = 0;
    for (uint64_t set = 0; set < 5; set++) {
        parties world = { .data = ball(2000, 10, 40 + set), .split = split_in_blocks(1000, 1) };
        CHECK_OK(tacit_local_create(&world.local, world.data, world.split, NULL, &error), error);
        world.plan = (tacit_plan){ .method = &tacit_method_gop,
                                   .study = "test",
                                   .epsilon = epsilon,
                                   .delta = 0.05,
                                   .lambda = 0.01,
                                   .features = 10,
                                   .classes = 2,
                                   .parties = 1,
                                   .minimum_parties = 1,
                                   .minimum_rows = 1000 };
        CHECK_OK(tacit_plan_set(&world.plan, "calibration", calibration, &error), error);
        tacit_view all = tacit_dataset_view(world.data), test = tacit_view_slice(&all, 1000, 1000);
        for (int trial = 0; trial < trials; trial++) {
            tacit_model *model = parties_run(&world, (uint64_t)trial, NULL);
            tacit_metrics metrics;
            CHECK_OK(tacit_model_evaluate(model, &test, NULL, &metrics, &error), error);
            sum += (1 - metrics.accuracy) / (5 * trials);
            tacit_model_free(model);
        }
        parties_end(&world);
    }
    return sum;
}

static void tight_noise_turns_gop_from_chance_to_use(void **state) {
    (void)state;
    double paper = error_on_simulated_data("paper", 0.1, 12),
           tight = error_on_simulated_data("tight", 0.1, 12);
    double exact = error_on_simulated_data("tight", INFINITY, 1);
    print_message(
        "# error at epsilon .1, delta .05, lambda .01: %.3f as printed, %.3f tight, %.3f without noise\n",
        paper, tight, exact);
    assert_true(paper > 0.35 && paper < 0.5);
    assert_true(tight < 0.13 && exact < 0.04);
    paper = error_on_simulated_data("paper", 0.2, 12);
    tight = error_on_simulated_data("tight", 0.2, 12);
    print_message("# at epsilon .2: %.3f as printed, %.3f tight\n", paper, tight);
    assert_true(paper > 0.2 && tight < 0.09);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_neighbours_stay_within_the_sensitivity_of_output),
        cmocka_unit_test(adversarial_rows_come_near_the_sensitivity_of_output),
        cmocka_unit_test(the_noise_needed_stays_within_the_bounds_of_the_proof),
        cmocka_unit_test(adversarial_rows_attain_the_bounds_of_the_proof),
        cmocka_unit_test(the_objectives_noise_has_the_promised_law),
        cmocka_unit_test(the_outputs_noise_has_the_promised_law),
        cmocka_unit_test(the_solvers_distance_is_covered),
        cmocka_unit_test(the_tolerance_is_reachable),
        cmocka_unit_test(without_noise_they_are_the_mean_of_the_parties_models),
        cmocka_unit_test(what_they_cannot_do_is_said),
        cmocka_unit_test(tight_noise_turns_gop_from_chance_to_use),
    };
    return cmocka_run_group_tests_name("perturb", tests, NULL, NULL);
}
