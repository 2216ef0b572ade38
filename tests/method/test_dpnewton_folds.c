/*
 * Cross-validation of dpnewton: no neighbour moves the gradients of all models together, or the counts of
 * held-out rows, beyond what is declared, which is nearly reached; all questions together cost what the study
 * declares; a party answers each in its place; every row is counted once, by the model that has not seen it;
 * and without noise the published model is the mean of models that are each made without their fold.
 */
#include "check.h"

#include "method/private/dpnewton.h"
#include "model/report/evaluation.h"
#include "parties.h"
#include "rand/fast.h"

enum { FEATURES = 4, FOLDS = 5, ALL = FOLDS * FEATURES, ROWS = 60 };

static void set(tacit_plan *plan, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(plan, name, value, &error), error);
}

static parties world_of(tacit_dataset *data, size_t count, const char *noise, const char *folds) {
    parties world;
    parties_make(&world, data, count, NULL);
    world.plan.method = &tacit_method_dpnewton;
    world.plan.lambda = 0.01;
    world.plan.delta = 1e-5;
    set(&world.plan, "noise", noise);
    set(&world.plan, "folds", folds);
    return world;
}

static dpnewton_design design_of(const tacit_plan *plan) {
    tacit_error error = TACIT_ERROR_INIT;
    dpnewton_design design;
    CHECK_OK(dpnewton_describe(plan, &design, &error), error);
    return design;
}

/* With the sensitivities that noise is made for. */
static dpnewton_design noisy_design(const parties *self) {
    tacit_plan plan = self->plan;
    plan.epsilon = 1;
    return design_of(&plan);
}

static double distance(const double *a, const double *b, size_t count) {
    double square = 0;
    for (size_t j = 0; j < count; j++) square += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(square);
}

/* What one party with these rows answers without noise. */
static void answer(const parties *world, const tacit_dataset *data, const double *weights, double *gradients,
                   double *counts) {
    tacit_error error = TACIT_ERROR_INIT;
    dpnewton_design design = design_of(&world->plan);
    tacit_party party = { .plan = &world->plan, .rows = tacit_dataset_view(data), .total_rows = data->rows };
    CHECK_OK(dpnewton_sum_fold_gradients(&party, &design, weights, gradients, &error), error);
    CHECK_OK(dpnewton_count_held_out(&party, &design, weights, counts, &error), error);
}

static void no_neighbour_moves_an_answer_beyond_what_is_declared(void **state) {
    (void)state;
    enum { NEIGHBOURS = 300, MOST = 2 * TACIT_SCORE_CELLS };
    static const double size[] = { 0, 1, 40, 1e6, 1e11 };
    tacit_stream stream = tacit_stream_from_seed(29);
    tacit_dataset *data = ball(ROWS, FEATURES, 1);
    parties world = world_of(data, 1, "coordinator", "5");
    const dpnewton_design declared = noisy_design(&world);
    double most[2] = { 0, 0 };
    static double counts[2][MOST];
    for (int i = 0; i < NEIGHBOURS; i++) {
        double weights[ALL], gradients[2][ALL];
        size_t at = tacit_stream_below(&stream, ROWS);
        for (size_t j = 0; j < ALL; j++) weights[j] = (tacit_stream_unit(&stream) - 0.5) * size[i % 5];
        answer(&world, data, weights, gradients[0], counts[0]);
        tacit_dataset *other = ball(1, FEATURES, tacit_stream_u64(&stream));
        memcpy(data->dense.values + at * FEATURES, other->dense.values, FEATURES * sizeof(double));
        data->label[at] = (int32_t)tacit_stream_below(&stream, 2);
        tacit_dataset_free(other);
        answer(&world, data, weights, gradients[1], counts[1]);
        size_t length = design_of(&world.plan).counts.length;
        assert_true(length <= MOST);
        most[0] = fmax(most[0],
                       distance(gradients[0], gradients[1], ALL) / declared.release[1].mechanism.sensitivity);
        most[1] =
            fmax(most[1], distance(counts[0], counts[1], length) / declared.held_out.mechanism.sensitivity);
    }
    /* A row and its opposite, seen by four of five models. */
    double before[ALL], after[ALL], zero[ALL] = { 0 };
    memcpy(data->dense.values, (double[]){ 1, 0, 0, 0 }, FEATURES * sizeof(double));
    answer(&world, data, zero, before, counts[0]);
    data->dense.values[0] = -1;
    answer(&world, data, zero, after, counts[1]);
    double worst = distance(before, after, ALL) / declared.release[1].mechanism.sensitivity;
    print_message("# gradients %.3f, at worst %.4f; counts %.4f of what is declared\n", most[0], worst,
                  most[1]);
    assert_true(most[0] > 0.3 && most[0] <= 1 && worst > 0.99 && worst <= 1);
    assert_true(most[1] > 0.99 && most[1] <= 1);
    /* As if a row were in the sums of one model. */
    assert_true(distance(before, after, ALL) > 1.9);
    parties_end(&world);
}

static void all_questions_together_cost_what_is_declared(void **state) {
    (void)state;
    static const char *const who[] = { "coordinator", "party", "shares" }, *const folds[] = { "2", "5",
                                                                                              "20" };
    for (size_t n = 0; n < 3; n++)
        for (size_t f = 0; f < 3; f++) {
            tacit_error error = TACIT_ERROR_INIT;
            parties world = world_of(ball(ROWS, 3, 1), 3, who[n], folds[f]);
            tacit_account account;
            tacit_prices total;
            set(&world.plan, "rounds", "3");
            world.plan.epsilon = 1;
            tacit_model_free(parties_run(&world, 1, NULL));
            CHECK_OK(tacit_local_charged(world.local, TACIT_UNIT_RECORD, &account, &error), error);
            CHECK_OK(tacit_plan_price(&world.plan, &total, &error), error);
            assert_true(tacit_amount_within(account.spent_epsilon, total.charged.epsilon));
            assert_true(account.spent_epsilon > 0.999);
            const dpnewton_design design = design_of(&world.plan);
            uint64_t runs = design.held_out.event.count;
            assert_true(design.held_out.event.parameter >= design.all.parameter && runs == 200);
            for (size_t t = 0; t <= design.rounds; t++) runs += design.release[t].event.count;
            assert_int_equal(runs, design.all.count);
            parties_end(&world);
        }
}

static tacit_status ask(parties *world, uint64_t round, const char *question, const tacit_sum_spec *spec,
                        const double *weights) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_session session = parties_begin(world, 1);
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    session.round = round;
    CHECK_OK(tacit_message_add_numbers(&message, "weights", weights, ALL, &error), error);
    tacit_status status = tacit_ask_sum(&session, question, &message, spec, &sum, &error);
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}

static void a_question_is_answered_in_its_place_only(void **state) {
    (void)state;
    double weights[ALL] = { 0 };
    parties world = world_of(ball(ROWS, FEATURES, 1), 3, "party", "5");
    set(&world.plan, "rounds", "4");
    world.plan.epsilon = 1;
    const dpnewton_design design = design_of(&world.plan);
    for (uint64_t round = 0; round < 7; round++) {
        assert_true((ask(&world, round, "gradient", &design.gradient, weights) == TACIT_OK) ==
                    (round >= 1 && round <= 4));
        assert_true((ask(&world, round, "held-out", &design.counts, weights) == TACIT_OK) == (round == 5));
    }
    weights[7] = 1e13; /* whatever the rows are */
    assert_int_not_equal(ask(&world, 5, "held-out", &design.counts, weights), TACIT_OK);
    parties_end(&world);
}

static void a_study_without_folds_holds_nothing_out(void **state) {
    (void)state;
    double weights[ALL] = { 0 };
    parties world = world_of(ball(ROWS, FEATURES, 1), 3, "party", "5");
    set(&world.plan, "rounds", "4");
    world.plan.epsilon = 1;
    const dpnewton_design design = design_of(&world.plan);
    set(&world.plan, "folds", "0");
    assert_int_not_equal(ask(&world, 5, "held-out", &design.counts, weights), TACIT_OK);
    parties_end(&world);
}

/* The class of a row follows from its first number except for the rows of one fold, so that the model which has
 * not seen these is wrong about them alone. Folds go by places: the first fold of a party's rows is known. */
static void each_row_is_scored_by_the_model_that_has_not_seen_it(void **state) {
    (void)state;
    enum { MANY = 400 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_dataset *data = ball(MANY, FEATURES, 3);
    parties world = world_of(data, 1, "coordinator", "2");
    const tacit_view view = tacit_dataset_view(data);
    tacit_folds folds;
    CHECK_OK(tacit_folds_assign_places(&folds, &view, (tacit_fold_plan){ 2, 1 }, &error), error);
    for (size_t i = 0; i < MANY; i++)
        data->label[i] = (data->dense.values[i * FEATURES] > 0) != (folds.fold[i] == 0);
    assert_int_equal(folds.start[1], MANY / 2);
    tacit_folds_clear(&folds);
    world.plan.lambda = 1e-6;
    tacit_model *model = parties_run(&world, 1, NULL);
    assert_non_null(model->validation);
    CHECK_NEAR(model->validation->rows, MANY, 1e-9);
    const tacit_report_table *figures = &model->validation->table[0];
    double auc = NAN;
    for (size_t r = 0; r < figures->rows; r++)
        if (strcmp(figures->label[r], "auc") == 0) auc = figures->value[r * figures->cols];
    print_message("# area %.3f, of a mean model with weight %.3f\n", auc, model->weights[0]);
    assert_true(auc < 0.1);                     /* each model has learnt the opposite of what it is shown */
    assert_true(fabs(model->weights[0]) < 1.0); /* and the two opposites cancel in the mean */
    tacit_model_free(model);
    parties_end(&world);
}

/* ---- the noise beside the figures ---- */

enum { FIGURES = 8, MANY_ROWS = 4000 };
static const char *const figure_names[FIGURES] = { "rows",
                                                   "prevalence",
                                                   "auc",
                                                   "brier",
                                                   "log_loss",
                                                   "calibration_slope",
                                                   "calibration_intercept",
                                                   "calibration_in_the_large" };

/* Outcomes of a logistic model, and weights as models of folds have them: the model's with noise. */
static void set_outcomes(tacit_dataset *data, double *weights, tacit_stream *stream) {
    static const double truth[FEATURES] = { 4, -3, 2, 1 };
    for (size_t i = 0; i < data->rows; i++) {
        double score = -1.5;
        for (size_t j = 0; j < FEATURES; j++) score += truth[j] * data->dense.values[i * FEATURES + j];
        data->label[i] = tacit_stream_unit(stream) < 1 / (1 + exp(-score));
    }
    for (size_t j = 0; j < ALL; j++) weights[j] = truth[j % FEATURES] + 0.5 * tacit_fast_normal(stream);
}

static tacit_report *report_of(const parties *world, const dpnewton_design *design, const double *counts,
                               double noise) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_score_wishes wishes = tacit_score_wishes_usual();
    tacit_model *model = NULL;
    tacit_report *report = NULL;
    CHECK_OK(tacit_model_create(&model, design->family->family, FEATURES, 2, &error), error);
    CHECK_OK(tacit_model_describe(model, &world->data->classes, NULL, &error), error);
    CHECK_OK(tacit_evaluation_report(&report, &design->tally, model, counts, noise, &wishes, &error), error);
    tacit_model_free(model);
    return report;
}

/* How often the exact figure is within 1.96 standard errors of the noise, of each figure. */
static void cover(double epsilon, size_t draws, double factor, double share[FIGURES]) {
    enum { MOST = 2 * TACIT_SCORE_CELLS };
    tacit_stream stream = tacit_stream_from_seed(41);
    tacit_dataset *data = ball(MANY_ROWS, FEATURES, 1);
    double weights[ALL], gradients[ALL], exact[MOST], noisy[MOST];
    parties world = world_of(data, 1, "coordinator", "5");
    set_outcomes(data, weights, &stream);
    world.plan.epsilon = epsilon;
    const dpnewton_design design = design_of(&world.plan);
    assert_true(design.counts.length <= MOST && design.held_out.deviation > 1);
    answer(&world, data, weights, gradients, exact);
    tacit_report *truth = report_of(&world, &design, exact, 0);
    memset(share, 0, FIGURES * sizeof *share);
    for (size_t d = 0; d < draws; d++) {
        for (size_t j = 0; j < design.counts.length; j++)
            noisy[j] = exact[j] + round(design.held_out.deviation * tacit_fast_normal(&stream));
        tacit_report *found = report_of(&world, &design, noisy, design.held_out.deviation);
        const tacit_report_table *table = tacit_report_find(found, "figures");
        for (size_t k = 0; k < FIGURES; k++) {
            size_t at = tacit_report_row(table, figure_names[k]) * table->cols;
            double figure = tacit_report_value(tacit_report_find(truth, "figures"), figure_names[k], "value");
            share[k] += fabs(table->value[at] - figure) <= 1.959964 * factor * table->error[at];
        }
        tacit_report_free(found);
    }
    for (size_t k = 0; k < FIGURES; k++) share[k] /= (double)draws;
    tacit_report_free(truth);
    parties_end(&world);
}

/* 6,000 seeded draws of each (a standard deviation of .28%), so that the outcome is always the same; 20,000 give 94.8 to 95.3%. */
static void noise_intervals_of_the_figures_cover(void **state) {
    static const double epsilons[] = { 1, 3 };
    (void)state;
    for (size_t e = 0; e < 2; e++) {
        double share[FIGURES], half[FIGURES];
        cover(epsilons[e], 6000, 1, share);
        cover(epsilons[e], 500, 0.5, half);
        for (size_t k = 0; k < FIGURES; k++) {
            print_message("# epsilon %g, %s: %.4f, with half the error %.3f\n", epsilons[e], figure_names[k],
                          share[k], half[k]);
            assert_true(share[k] >= 0.94 && share[k] <= 0.96);
            assert_true(half[k] < 0.8);
        }
    }
}

static void folds_go_by_places_and_not_by_what_is_in_rows(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_dataset *first = ball(ROWS, FEATURES, 1), *second = ball(ROWS, FEATURES, 2);
    tacit_folds folds[2];
    for (int k = 0; k < 2; k++) {
        const tacit_view view = tacit_dataset_view(k == 0 ? first : second);
        CHECK_OK(tacit_folds_assign_places(&folds[k], &view, (tacit_fold_plan){ FOLDS, 7 }, &error), error);
    }
    assert_memory_equal(folds[0].fold, folds[1].fold, ROWS);
    for (size_t f = 0; f < FOLDS; f++)
        assert_int_equal(folds[0].start[f + 1] - folds[0].start[f], ROWS / FOLDS);
    for (int k = 0; k < 2; k++) tacit_folds_clear(&folds[k]);
    tacit_dataset_free(first);
    tacit_dataset_free(second);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_neighbour_moves_an_answer_beyond_what_is_declared),
        cmocka_unit_test(all_questions_together_cost_what_is_declared),
        cmocka_unit_test(a_question_is_answered_in_its_place_only),
        cmocka_unit_test(a_study_without_folds_holds_nothing_out),
        cmocka_unit_test(each_row_is_scored_by_the_model_that_has_not_seen_it),
        cmocka_unit_test(noise_intervals_of_the_figures_cover),
        cmocka_unit_test(folds_go_by_places_and_not_by_what_is_in_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
