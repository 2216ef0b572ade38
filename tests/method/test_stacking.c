/*
 * pst-s, pst-f and pst-h: one member is plr bit for bit; replacing a row of one part leaves what is made of
 * the other as it was; at fixed released weights the noise that the members need moves no further, and
 * stretches no more, than the proof allows; it has the promised law; and everybody pays for one answer.
 *
 * A Gamma(k) variable leaves [k - sqrt(2 k u), k + sqrt(2 k u) + u] with probability below 2 e^-u (Laurent
 * and Massart 2000): 1e-9 is the false-alarm rate of each check of a law, and each must also reject a scale
 * that is 10% off.
 */
#include "check.h"

#include "failing.h"
#include "method/private/stacking.h"
#include "parties.h"

static void set(parties *world, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(&world->plan, name, value, &error), error);
}

static parties world_of(tacit_dataset *data, size_t count, const tacit_method *method, double epsilon) {
    parties world;
    parties_make(&world, data, count, NULL);
    world.plan.method = method;
    world.plan.epsilon = epsilon;
    return world;
}

static stacking layout(const parties *world) {
    tacit_error error = TACIT_ERROR_INIT;
    stacking how = STACKING_INIT;
    CHECK_OK((world->plan.method == &tacit_method_pst_s ? stacking_of_blocks
                                                        : stacking_of_groups)(&how, &world->plan, &error),
             error);
    return how;
}

/* ---- one member ---- */

static void one_member_is_plr_to_the_last_bit(void **state) {
    (void)state;
    static const double lambdas[] = { 0.1, 1e-4 }; /* the second needs a Delta */
    for (int l = 0; l < 2; l++)
        for (int huber = 0; huber < 2; huber++)
            for (size_t count = 1; count <= 3; count += 2)
                for (int s = 0; s < 2; s++) {
                    const tacit_method *method = s ? &tacit_method_pst_s : &tacit_method_pst_f;
                    parties world = world_of(ball(61, 7, 5), count, &tacit_method_plr, 0.7);
                    world.plan.lambda = lambdas[l];
                    set(&world, "loss", huber ? "huber" : "logistic");
                    tacit_model *plr = parties_run(&world, 9, NULL);
                    world.plan.method = method;
                    world.plan.settings = (tacit_settings){ .table = NULL };
                    set(&world, "loss", huber ? "huber" : "logistic");
                    set(&world, s ? "blocks" : "groups", "1");
                    if (!s) set(&world, "rows", "normalise"); /* which is about several groups */
                    tacit_model *stack = parties_run(&world, 9, NULL);
                    assert_null(stack->stack);
                    assert_ptr_equal(stack->family, plr->family);
                    assert_memory_equal(stack->weights, plr->weights, 7 * sizeof(double));
                    tacit_model_free(plr);
                    tacit_model_free(stack);
                    parties_end(&world);
                }
}

/* ---- groups ---- */

static void groups_follow_importance(void **state) {
    (void)state;
    parties world = world_of(ball(40, 7, 5), 1, &tacit_method_pst_f, 1);
    set(&world, "groups", "3");
    set(&world, "importance", "1,5,0,2,0,4,0");
    stacking how = layout(&world);
    /* Ranks 1, 5 | 3, 0 | 2, 4, 6: the last is worth nothing and is left out. */
    assert_int_equal(how.stack->members, 2);
    assert_int_equal(how.stack->start[1], 2);
    assert_true(how.stack->column[0] == 1 && how.stack->column[1] == 5);
    assert_true(how.stack->column[2] == 0 && how.stack->column[3] == 3);
    CHECK_NEAR(how.stack->scale[0], 9.0 / 12, 1e-11);
    CHECK_NEAR(how.stack->scale[1], 3.0 / 12, 1e-11);
    assert_true(how.stack->scale[0] + how.stack->scale[1] <= 1);
    stacking_clear(&how);
    set(&world, "importance", "power:0.5");
    how = layout(&world);
    CHECK_NEAR(how.stack->scale[1] / how.stack->scale[0], (1 / 8.0 + 1 / 16.0) / (1 / 2.0 + 1 / 4.0), 1e-9);
    stacking_clear(&how);
    set(&world, "importance", "uniform");
    set(&world, "group-lambda", "0.3,0.2,0.1");
    how = layout(&world);
    bool seen[7] = { false };
    for (size_t c = 0; c < 7; c++) seen[how.stack->column[c]] = true;
    for (size_t j = 0; j < 7; j++) assert_true(seen[j]);
    CHECK_NEAR(how.stack->scale[0], 1 / 3.0, 1e-11);
    assert_true(how.lambda[0] == 0.3 && how.lambda[2] == 0.1);
    stacking_clear(&how);
    parties_end(&world);
}

static void impossible_settings_are_named(void **state) {
    (void)state;
    static const struct {
        const char *name, *value, *says;
    } wrong[] = {
        { "groups", "8", "cannot make 8 groups of 7 features" },
        { "groups", "2.5", "whole number" },
        { "importance", "1,2", "number 3 of '1,2' is missing" },
        { "importance", "1,2,3,4,5,6,7,8", "more than the 7 numbers" },
        { "importance", "0,0,0,0,0,0,0", "no feature has an importance above 0" },
        { "importance", "-1,2,3,4,5,6,7", "below 0" },
        { "importance", "power:-1", "needs a number A above 0" },
        { "importance", "points", "there are none" },
        { "group-lambda", "1,2", "number 3 of" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        parties world = world_of(ball(40, 7, 5), 1, &tacit_method_pst_f, 1);
        tacit_status status = tacit_plan_set(&world.plan, wrong[i].name, wrong[i].value, &error);
        if (status == TACIT_OK) status = tacit_plan_check(&world.plan, &error);
        assert_int_equal(status, TACIT_USAGE);
        if (strstr(error.text, wrong[i].says) == NULL) fail_msg("%s", error.text);
        parties_end(&world);
    }
    parties few = world_of(ball(5, 7, 5), 1, &tacit_method_pst_s, 1); /* two rows for five blocks */
    assert_int_equal(tacit_plan_check(&few.plan, NULL), TACIT_USAGE);
    parties_end(&few);
}

/* The groups of public points' variances, and the intercept of a schema in every group: plans as studies make
 * them. */
static void variances_of_public_points_are_importances(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_dataset *public = ball(200, 4, 8);
    for (size_t i = 0; i < 200; i++) {
        for (size_t j = 0; j < 4; j++) public->dense.values[4 * i + j] *= 0.9;
        public->dense.values[4 * i + 1] *= 0.1;
        public->dense.values[4 * i + 3] = 0.25; /* varies not at all */
    }
    tacit_rows rows = tacit_dataset_rows(public);
    tacit_points points = TACIT_POINTS_INIT;
    CHECK_OK(tacit_points_of(&points, &rows, NULL, &error), error);
    parties world = world_of(ball(40, 4, 5), 1, &tacit_method_pst_f, 1);
    world.plan.points = &points;
    set(&world, "groups", "4");
    set(&world, "importance", "points");
    stacking how = layout(&world);
    assert_int_equal(how.stack->members, 3);
    assert_int_equal(how.stack->column[2], 1);
    assert_true(how.stack->scale[2] < 0.01 && how.stack->scale[0] >= how.stack->scale[1]);
    stacking_clear(&how);
    parties_end(&world);
    tacit_points_clear(&points);
    tacit_dataset_free(public);
}

/* ---- combiners ---- */

static void every_combiner_learns(void **state) {
    (void)state;
    static const char *const combiners[] = { "high", "majority", "weighted" };
    static const tacit_method *const methods[] = { &tacit_method_pst_s, &tacit_method_pst_f };
    for (int m = 0; m < 2; m++)
        for (int c = 0; c < 3; c++) {
            parties world = world_of(ball(3000, 4, 3), 1, methods[m], 200);
            tacit_metrics metrics;
            tacit_error error = TACIT_ERROR_INIT;
            world.plan.lambda = 1e-3;
            set(&world, "combiner", combiners[c]);
            set(&world, m == 0 ? "blocks" : "groups", "3");
            tacit_model *model = parties_run(&world, 4, NULL);
            tacit_view view = tacit_dataset_view(world.data);
            assert_int_equal(tacit_model_size(model), (m == 0 ? 12 : 4) + (c == 0 ? 3 : 0));
            CHECK_OK(tacit_model_evaluate(model, &view, NULL, &metrics, &error), error);
            print_message("# %s, %s: accuracy %.3f, AUC %.3f\n", methods[m]->name, combiners[c],
                          metrics.accuracy, metrics.auc);
            assert_true(metrics.auc > 0.8 && metrics.accuracy > 0.75);
            assert_true(isnan(metrics.log_loss) == (c > 0));
            tacit_model_free(model);
            parties_end(&world);
        }
}

/* ---- rows of the two parts ---- */

/* Where row 0 is in the stack's order. */
static size_t place_of_first(const stacking *how, size_t rows) {
    size_t *order = TACIT_NEW(size_t, rows), place = 0;
    assert_non_null(order);
    stacking_order(how, order, rows);
    while (order[place] != 0) place++;
    free(order);
    return place;
}

/* The same noise on neighbours that differ in row 0, of D_l or of D_h. Without solver's error the other
 * part's numbers are the same; for D_l's row the high model may move, since it sees other members. */
static void a_row_moves_only_what_is_made_of_its_part(void **state) {
    (void)state;
    enum { D = 6, MOST = 60 };
    bool seen_low = false, seen_high = false;
    for (size_t rows = 40; rows < MOST && !(seen_low && seen_high); rows++)
        for (int m = 0; m < 2; m++) {
            const tacit_method *method = m == 0 ? &tacit_method_pst_s : &tacit_method_pst_f;
            parties first = world_of(ball(rows, D, 2), 1, method, 1),
                    second = world_of(ball(rows, D, 2), 1, method, 1);
            set(&first, m == 0 ? "blocks" : "groups", "3");
            set(&second, m == 0 ? "blocks" : "groups", "3");
            second.data->label[0] = 1 - second.data->label[0];
            stacking how = layout(&first);
            size_t place = place_of_first(&how, rows), low = stacking_low_rows(&how, rows);
            size_t low_size = tacit_stack_low_size(how.stack);
            tacit_model *a = parties_run(&first, 7, NULL), *b = parties_run(&second, 7, NULL);
            if (place >= low) {
                assert_memory_equal(a->weights, b->weights, low_size * sizeof(double));
                assert_true(memcmp(a->weights + low_size, b->weights + low_size, 3 * sizeof(double)) != 0);
                seen_high = true;
            } else {
                size_t moved = 0;
                for (size_t k = 0; k < 3; k++)
                    moved += memcmp(a->weights + how.stack->start[k], b->weights + how.stack->start[k],
                                    (how.stack->start[k + 1] - how.stack->start[k]) * sizeof(double)) != 0;
                assert_int_equal(moved, m == 0 ? 1 : 3); /* its block, or all groups */
                seen_low = true;
            }
            tacit_model_free(a);
            tacit_model_free(b);
            stacking_clear(&how);
            parties_end(&first);
            parties_end(&second);
        }
    assert_true(seen_low && seen_high);
}

/* ---- the noise that members need: b_k at fixed weights ---- */

static double pull(double t) { return 1 / (1 + exp(t)); }

typedef struct needed {
    double b[8];
    double bend; /* log det(n (lambda + Delta) I + sum loss'' x x^T), of groups of one or two features */
} needed;

/* b_k(w) = -n (lambda + Delta)(w - u) - sum loss' y x over D_l of group k; groups of at most two features for
 * the determinant. */
static needed needed_by(const tacit_dataset *data, const stacking *how, size_t k, double lambda,
                        const double *w, const double *u) {
    tacit_error error = TACIT_ERROR_INIT;
    size_t low = stacking_low_rows(how, data->rows), *order = TACIT_NEW(size_t, data->rows);
    uint32_t *index = TACIT_NEW(uint32_t, data->rows);
    assert_true(order != NULL && index != NULL);
    stacking_order(how, order, data->rows);
    for (size_t i = 0; i < data->rows; i++) index[i] = (uint32_t)order[i];
    tacit_view view = tacit_dataset_subset(data, index, low);
    tacit_stack_rows rows = TACIT_STACK_ROWS_INIT;
    CHECK_OK(tacit_stack_member_rows(&rows, how->stack, k, &view.rows, &error), error);
    size_t width = rows.rows.cols;
    needed out = { { 0 }, 0 };
    double n = (double)low, a[2][2] = { { n * lambda, 0 }, { 0, n * lambda } };
    for (size_t j = 0; j < width; j++) out.b[j] = -n * lambda * (w[j] - (u != NULL ? u[j] : 0));
    for (size_t i = 0; i < low; i++) {
        const double *x = rows.dense.values + i * width;
        double y = tacit_view_sign(&view, i), t = 0;
        for (size_t j = 0; j < width; j++) t += y * x[j] * w[j];
        for (size_t j = 0; j < width; j++) out.b[j] += pull(t) * y * x[j];
        for (size_t j = 0; width <= 2 && j < width; j++)
            for (size_t l = 0; l < width; l++) a[j][l] += pull(t) * pull(-t) * x[j] * x[l];
    }
    out.bend = width == 1 ? log(a[0][0]) : log(a[0][0] * a[1][1] - a[0][1] * a[1][0]);
    tacit_stack_rows_clear(&rows);
    free(order);
    free(index);
    return out;
}

/* Replay: over random neighbours and weights, sum_k |b_k - b_k'|/s plus the Jacobians stay within what the
 * noise pays for. */
static void the_members_stay_within_epsilon(void **state) {
    (void)state;
    enum { D = 6, ROWS = 9 };
    double most = 0, most_shift = 0;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_stream stream = tacit_stream_from_seed(seed);
        parties world = world_of(ball(ROWS, D, seed), 1, &tacit_method_pst_f, 0.5 + (double)(seed % 4));
        set(&world, "groups", "3");
        set(&world, "importance", seed % 3 == 0 ? "uniform" : "power:0.6");
        set(&world, "rows", seed % 2 ? "normalise" : "scale");
        set(&world, "combiner", "weighted"); /* all rows are the members' */
        if (seed % 5 == 0) set(&world, "calibration", "paper");
        world.plan.lambda = pow(10, 3 * tacit_stream_unit(&stream) - 3);
        stacking how = layout(&world);
        tacit_objective_noise noise[3];
        CHECK_OK(stacking_noise(noise, &world.plan, &how, ROWS, &error), error);
        tacit_dataset *second = ball(ROWS, D, seed), *other = ball(1, D, seed + 1000);
        memcpy(second->dense.values, other->dense.values, D * sizeof(double));
        second->label[0] = (int32_t)(seed % 2);
        for (int turn = 0; turn < 20; turn++) {
            double loss = 0, stretch = 0, shift = 0;
            for (size_t k = 0; k < 3; k++) {
                double w[2], square = 0;
                for (int j = 0; j < 2; j++) w[j] = 20 * (tacit_stream_unit(&stream) - 0.5);
                needed a = needed_by(world.data, &how, k, noise[k].lambda, w, NULL),
                       b = needed_by(second, &how, k, noise[k].lambda, w, NULL);
                for (int j = 0; j < 2; j++) square += (a.b[j] - b.b[j]) * (a.b[j] - b.b[j]);
                loss += sqrt(square) / noise[k].scale;
                shift += sqrt(square) / 2;
                stretch += a.bend - b.bend;
            }
            most = fmax(most, (loss + fabs(stretch) + 0.01 * world.plan.epsilon) / world.plan.epsilon);
            most_shift = fmax(most_shift, shift);
        }
        tacit_dataset_free(second);
        tacit_dataset_free(other);
        stacking_clear(&how);
        parties_end(&world);
    }
    print_message("# random neighbours: %.3f of epsilon, %.3f of the shift\n", most, most_shift);
    assert_true(most <= 1 && most_shift <= 1);
    assert_true(most > 0.3);
}

static const double U = 21.5; /* above ln(2e9) */

static bool is_gamma(double sum, double shape) {
    return sum >= shape - sqrt(2 * shape * U) && sum <= shape + sqrt(2 * shape * U) + U;
}

/* From released members compute the b_k they came from; |b_k|/s is Gamma(d_k), for groups about prior means
 * as well. */
static void the_members_noise_has_the_promised_law(void **state) {
    (void)state;
    enum { RUNS = 8000, D = 6, ROWS = 40 };
    static const double lambdas[] = { 0.5, 1e-4 };
    for (int l = 0; l < 2; l++) {
        tacit_error error = TACIT_ERROR_INIT;
        parties world = world_of(ball(ROWS, D, 3), 1, &tacit_method_pst_f, 0.8);
        set(&world, "groups", "3");
        set(&world, "importance", "power:0.7");
        world.plan.lambda = lambdas[l];
        stacking how = layout(&world);
        tacit_objective_noise noise[3];
        CHECK_OK(stacking_noise(noise, &world.plan, &how, ROWS / 2, &error), error);
        double sum[3] = { 0, 0, 0 };
        for (uint64_t run = 0; run < RUNS; run++) {
            tacit_model *model = parties_run(&world, 100 + run, NULL);
            for (size_t k = 0; k < 3; k++) {
                needed at = needed_by(world.data, &how, k, noise[k].lambda,
                                      model->weights + how.stack->start[k], NULL);
                sum[k] += hypot(at.b[0], at.b[1]) / noise[k].scale;
            }
            tacit_model_free(model);
        }
        for (size_t k = 0; k < 3; k++) {
            print_message("# lambda %g, group %zu: %.4f of the promised noise\n", lambdas[l], k,
                          sum[k] / (2.0 * RUNS));
            assert_true(is_gamma(sum[k], 2.0 * RUNS));
            assert_false(is_gamma(1.1 * sum[k], 2.0 * RUNS));
            assert_false(is_gamma(sum[k] / 1.1, 2.0 * RUNS));
        }
        stacking_clear(&how);
        parties_end(&world);
    }
}

/* ---- across organisations ---- */

static double charged(const parties *world) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_account account;
    CHECK_OK(tacit_local_charged(world->local, TACIT_UNIT_RECORD, &account, &error), error);
    return account.spent_epsilon;
}

static void everybody_pays_for_one_answer(void **state) {
    (void)state;
    static const tacit_method *const methods[] = { &tacit_method_pst_s, &tacit_method_pst_f,
                                                   &tacit_method_pst_h };
    for (int m = 0; m < 3; m++) {
        size_t answered = 0;
        parties world = world_of(ball(120, 7, 5), 3, methods[m], 0.7);
        tacit_model_free(parties_run(&world, 3, &answered));
        assert_int_equal(answered, 3);
        assert_true(charged(&world) == 0.7);
        parties_end(&world);
    }
    parties lent = world_of(ball(120, 7, 5), 3, &tacit_method_pst_h, 0.7);
    set(&lent, "source-epsilon", "1.5");
    tacit_model_free(parties_run(&lent, 3, NULL));
    assert_true(charged(&lent) == 1.5); /* of the one who pays most */
    parties_end(&lent);
}

/* Without noise, a target of one group and a huge lambda has the source's model; with a small one, its
 * own. */
static void a_target_is_drawn_to_the_sources(void **state) {
    (void)state;
    static const char *const lambdas[] = { "1e3", "1e-3" };
    for (int l = 0; l < 2; l++) {
        parties world = world_of(ball(400, 3, 5), 2, &tacit_method_pst_h, INFINITY);
        for (size_t i = 0; i < 200; i++) world.data->label[i] = 1 - world.data->label[i]; /* the source's */
        set(&world, "groups", "1");
        set(&world, "source-lambda", "0.01");
        set(&world, "group-lambda", lambdas[l]);
        tacit_model *model = parties_run(&world, 1, NULL);
        tacit_view all = tacit_dataset_view(world.data);
        double agree = 0;
        for (size_t i = 200; i < 400; i++)
            agree += tacit_view_sign(&all, i) * tacit_rows_dot(&all.rows, i, model->weights) / 200;
        print_message("# lambda %s: the target's rows have a mean margin of %.3f\n", lambdas[l], agree);
        assert_true(l == 0 ? agree < -0.5 : agree > 0.5);
        tacit_model_free(model);
        parties_end(&world);
    }
}

/* Equation (5), without noise: the target's model is where (1/n) sum loss + (lambda/2)|w|^2 + (eta/2)|w - u|^2
 * has no slope, u being the source's model. Without eta it is not. */
static void eta_is_a_second_regulariser(void **state) {
    (void)state;
    enum { SOURCE = 200, ALL = 400, D = 3 };
    const double lambda = 0.02, eta = 0.05;
    for (int pulled = 0; pulled < 2; pulled++) {
        tacit_error error = TACIT_ERROR_INIT;
        parties world = world_of(ball(ALL, D, 5), 2, &tacit_method_pst_h, INFINITY);
        tacit_view all = tacit_dataset_view(world.data), first = tacit_view_slice(&all, 0, SOURCE);
        tacit_linear_fit fit = { .lambda = 0.01, .gradient_tolerance = 1e-10 };
        tacit_model *source = NULL;
        double slope[D] = { 0 }, square = 0;
        world.plan.lambda = lambda;
        set(&world, "groups", "1");
        set(&world, "source-lambda", "0.01");
        if (pulled) set(&world, "eta", "0.05");
        tacit_model *model = parties_run(&world, 1, NULL);
        CHECK_OK(tacit_model_fit_linear(&source, &first, &fit, &error), error);
        for (size_t i = SOURCE; i < ALL; i++) {
            double y = tacit_view_sign(&all, i), x[D];
            tacit_rows_copy(&all.rows, i, x);
            double pull = -y / (1 + exp(y * tacit_rows_dot(&all.rows, i, model->weights)));
            for (size_t j = 0; j < D; j++) slope[j] += pull * x[j] / (ALL - SOURCE);
        }
        for (size_t j = 0; j < D; j++)
            square += pow(
                slope[j] + lambda * model->weights[j] + eta * (model->weights[j] - source->weights[j]), 2);
        assert_true(pulled ? sqrt(square) < 1e-6 : sqrt(square) > 1e-3);
        tacit_model_free(model);
        tacit_model_free(source);
        parties_end(&world);
    }
}

/* PPHTL: source and target each pay, once, whatever the pull. */
static void both_sides_of_one_model_pay(void **state) {
    (void)state;
    parties world = world_of(ball(120, 7, 5), 2, &tacit_method_pst_h, 0.7);
    set(&world, "groups", "1");
    set(&world, "eta", "0.05");
    tacit_model_free(parties_run(&world, 3, NULL));
    assert_true(charged(&world) == 0.7);
    parties_end(&world);
}

static void roles_are_checked(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    parties world = world_of(ball(120, 7, 5), 3, &tacit_method_pst_h, 1);
    set(&world, "sources", "3");
    assert_int_equal(tacit_plan_check(&world.plan, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "leaves a target"));
    parties_end(&world);
    parties alone = world_of(ball(120, 7, 5), 1, &tacit_method_pst_h, 1);
    assert_int_equal(tacit_plan_check(&alone.plan, NULL), TACIT_USAGE);
    parties_end(&alone);
}

/* ---- memory ---- */

static void stacks_survive_each_failed_allocation(void **state) {
    (void)state;
    static const tacit_method *const methods[] = { &tacit_method_pst_s, &tacit_method_pst_f,
                                                   &tacit_method_pst_h };
    for (int m = 0; m < 3; m++) {
        parties world = world_of(ball(24, 3, 1), 2, methods[m], 1);
        set(&world, m == 0 ? "blocks" : "groups", "2");
        long at = 1;
        for (bool failed = true; failed; at++) {
            tacit_error error = TACIT_ERROR_INIT;
            tacit_stream root = tacit_stream_from_seed(1);
            tacit_outcome outcome = TACIT_OUTCOME_INIT;
            tacit_session session;
            fail_allocation(at);
            tacit_status status = tacit_local_begin(world.local, &world.plan, &root, NULL, &session, &error);
            if (status == TACIT_OK) status = world.plan.method->coordinate(&session, &outcome, &error);
            failed = allocation_failed();
            if (status != TACIT_OK && !(failed && status == TACIT_NO_MEMORY))
                fail_msg("%s, allocation %ld: %s", methods[m]->name, at, error.text);
            tacit_outcome_clear(&outcome);
        }
        assert_true(at > 20);
        parties_end(&world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_member_is_plr_to_the_last_bit),
        cmocka_unit_test(groups_follow_importance),
        cmocka_unit_test(impossible_settings_are_named),
        cmocka_unit_test(variances_of_public_points_are_importances),
        cmocka_unit_test(every_combiner_learns),
        cmocka_unit_test(a_row_moves_only_what_is_made_of_its_part),
        cmocka_unit_test(the_members_stay_within_epsilon),
        cmocka_unit_test(the_members_noise_has_the_promised_law),
        cmocka_unit_test(everybody_pays_for_one_answer),
        cmocka_unit_test(a_target_is_drawn_to_the_sources),
        cmocka_unit_test(eta_is_a_second_regulariser),
        cmocka_unit_test(both_sides_of_one_model_pay),
        cmocka_unit_test(roles_are_checked),
        cmocka_unit_test(stacks_survive_each_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
