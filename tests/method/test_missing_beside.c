/*
 * Counts of missing values beside dpgd, where they are the last question, and beside evaluate, where they are part of the
 * one vector: they are what the files lack; all together costs what the study declares; no neighbour moves them further
 * than is declared; 95% intervals cover; and definitions from before are as they were. See test_missing_counts.c too.
 */
#include "missing_rows.h"

#include "method/tables/evaluate.h"
#include "privacy/account/gaussian.h"

/* ---- beside dpgd, whose rounds have equal shares ---- */

static void check_descent(const char *noise, const char *rounds, const char *schedule) {
    tacit_error error = TACIT_ERROR_INIT;
    world self = world_of(CLASSES, &tacit_method_dpgd, noise);
    tacit_plan *plan = &self.all.plan;
    tacit_account account;
    tacit_accountant *accountant = NULL;
    tacit_prices total = { .event = { .count = 0 } };
    tacit_spending whole;
    double alone = 0;
    set(plan, "rounds", rounds);
    set(plan, "schedule", schedule);
    /* what is held is what is declared */
    CHECK_OK(tacit_plan_price(plan, &total, &error), error);
    CHECK_OK(tacit_accountant_create(&accountant, TACIT_REPLACE, &error), error);
    CHECK_OK(tacit_accountant_add(accountant, &total.event, &error), error);
    CHECK_OK(tacit_accountant_epsilon(&whole, accountant, plan->delta, &error), error);
    assert_true(tacit_amount_within(whole.epsilon, total.charged.epsilon) && whole.epsilon > 0.999);
    tacit_accountant_free(accountant);
    /* and so is what is spent */
    tacit_model *model = parties_run(&self.all, 1, NULL);
    const tacit_report_table *table = table_of(model);
    CHECK_OK(tacit_local_charged(self.all.local, TACIT_UNIT_RECORD, &account, &error), error);
    assert_true(tacit_amount_within(account.spent_epsilon, total.charged.epsilon));
    assert_true(account.spent_epsilon > 0.999);
    /* by noise of public numbers, n parties' where each adds its own */
    CHECK_OK(tacit_gaussian_sigma(&alone, 1, plan->delta, 1, &error), error);
    const double adding = strcmp(noise, "party") == 0 ? PARTIES : 1;
    const double share = tacit_report_find_fact(model->missing_counts, "share")->number;
    assert_true(fabs(share - 0.02) < 0.001);
    assert_true(fabs(table->error[0] / (alone * sqrt(adding * 5 / share)) - 1) < 2e-3);
    tacit_model_free(model);
    end(&self);
}

static void descent_has_them_for_their_share(void **state) {
    (void)state;
    static const char *const who[] = { "coordinator", "party", "shares" };
    for (size_t n = 0; n < 3; n++) {
        check_descent(who[n], "1", "even");
        check_descent(who[n], "7", "even");
        check_descent(who[n], "7", "adaptive");
    }
    check_descent("shares", "1500", "even");
}

/* The same counts, and weights that do not know them; none of all rows of a party, or where none are asked for. */
static void descent_counts_what_the_files_lack(void **state) {
    (void)state;
    world self = world_of(CLASSES, &tacit_method_dpgd, "coordinator");
    self.all.plan.epsilon = INFINITY;
    set(&self.all.plan, "rounds", "5");
    tacit_model *with = parties_run(&self.all, 1, NULL);
    for (size_t j = 0; j < 5; j++) CHECK_NEAR(table_of(with)->value[j], self.truth[j], 0);
    set(&self.all.plan, "missing_counts", "0");
    tacit_model *without = parties_run(&self.all, 1, NULL);
    assert_null(without->missing_counts);
    for (size_t j = 0; j < tacit_model_size(with); j++) CHECK_NEAR(with->weights[j], without->weights[j], 0);
    tacit_model_free(without);
    set(&self.all.plan, "missing_counts", "0.02");
    set(&self.all.plan, "unit", "party");
    assert_int_equal(tacit_plan_counts_missing(&self.all.plan), TACIT_COUNTED_NOT);
    without = parties_run(&self.all, 1, NULL);
    assert_null(without->missing_counts);
    tacit_model_free(without);
    tacit_model_free(with);
    end(&self);
}

/* As above: outside 94 to 96% once in 200,000 studies. */
static void intervals_of_descent_cover(void **state) {
    (void)state;
    enum { DRAWS = 2000 };
    world self = world_of(CLASSES, &tacit_method_dpgd, "shares");
    double inside = 0, shorter = 0, all = 0;
    self.all.plan.epsilon = 20;
    set(&self.all.plan, "rounds", "2");
    for (uint64_t seed = 1; seed <= DRAWS; seed++) {
        tacit_model *model = parties_run(&self.all, seed, NULL);
        const tacit_report_table *table = table_of(model);
        for (size_t j = 0; j < 5; j++, all++) {
            const double off = fabs(table->value[j] - self.truth[j]) / table->error[j];
            inside += off <= 1.959964;
            shorter += off <= 0.9 * 1.959964;
        }
        tacit_model_free(model);
    }
    print_message("# dpgd: %.2f%% of intervals cover; a tenth shorter, %.2f%%\n", 100 * inside / all,
                  100 * shorter / all);
    assert_true(inside >= 0.94 * all && inside <= 0.96 * all);
    assert_true(shorter < 0.94 * all);
    end(&self);
}

/* ---- beside evaluate, in its one vector ---- */

/* A model that scores rows by anything. */
static tacit_model *scores_of(const tacit_plan *plan) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_model *model = NULL;
    const tacit_family *family = plan->classes == 0 ? &tacit_family_linear : tacit_family_for(plan->classes);
    CHECK_OK(tacit_model_create(&model, family, plan->features, plan->classes, &error), error);
    model->weights[0] = 1;
    return model;
}

static world evaluated(const char *label, const char *noise, const char *law) {
    world out = world_of(label, &tacit_method_evaluate, noise);
    out.all.plan.model = scores_of(&out.all.plan);
    out.all.plan.lambda = 0;
    if (strcmp(law, "pure") == 0) out.all.plan.delta = 0;
    set(&out.all.plan, "law", law);
    set(&out.all.plan, "cells", "20");
    return out;
}

static void end_evaluated(world *self) {
    tacit_model_free((tacit_model *)self->all.plan.model);
    end(self);
}

/* In 500 draws of five counts: 2,500 intervals of 95% have a standard deviation of .44%, and are outside 93 to 97% once
 * in 200,000 studies. The noise of pure is of another law, whose 1.96 deviations hold 93.7%. */
static void check_evaluated(const char *label, const char *noise, const char *law) {
    enum { DRAWS = 500 };
    world self = evaluated(label, noise, law);
    const bool pure = strcmp(law, "pure") == 0;
    double inside = 0, all = 0, off = 0;
    self.all.plan.epsilon = 20;
    for (uint64_t seed = 1; seed <= DRAWS; seed++) {
        tacit_model *model = parties_run(&self.all, seed, NULL);
        const tacit_report_table *table = tacit_report_find(model->report, "missing");
        assert_non_null(table);
        assert_int_equal(table->rows, 5);
        for (size_t j = 0; j < 5; j++, all++) {
            inside += fabs(table->value[j] - self.truth[j]) <= 1.959964 * table->error[j];
            off += pow((table->value[j] - self.truth[j]) / table->error[j], 2);
        }
        tacit_model_free(model);
    }
    print_message("# evaluate, noise=%s, law=%s: %.2f%% of intervals cover\n", noise, law,
                  100 * inside / all);
    assert_true(inside >= (pure ? 0.91 : 0.93) * all && inside <= 0.97 * all);
    assert_true(fabs(off / all - 1) < 0.25);
    end_evaluated(&self);
}

static void evaluation_has_them_with_their_noise(void **state) {
    (void)state;
    check_evaluated(CLASSES, "shares", "gaussian");
    check_evaluated(CLASSES, "coordinator", "gaussian");
    check_evaluated(CLASSES, "shares", "pure");
    check_evaluated(CLASSES, "coordinator", "pure");
    check_evaluated(NUMBER, "shares", "gaussian");
}

/* Every pair of first rows, kept or left out: the vector moves by no more than is declared, and by most of it. */
static void no_row_moves_an_evaluation_beyond_what_is_declared(void **state) {
    (void)state;
    enum { KINDS = 16, MOST = 64 };
    tacit_schema *schema = schema_of(CLASSES, COLUMNS);
    double answers[KINDS][MOST], largest = 0;
    evaluate_setup how;
    for (unsigned gaps = 0; gaps < KINDS; gaps++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_buffer text = TACIT_BUFFER_INIT;
        tacit_reply reply = { .contribution = NULL };
        parties all;
        begin(&text);
        print_row(&text, 0, gaps, false);
        for (size_t i = 4; i < 40; i++) print_row(&text, i, gaps_of(i), false);
        parties_read(&all, &text, schema, 1, &tacit_method_evaluate);
        set(&all.plan, "cells", "8");
        set(&all.plan, "noise", "coordinator");
        all.plan.epsilon = 1;
        all.plan.model = scores_of(&all.plan);
        CHECK_OK(evaluate_make_setup(&how, &all.plan, &error), error);
        assert_true(how.spec.length <= MOST && how.counts.length == 5);
        tacit_party party = { .plan = &all.plan,
                              .rows = tacit_dataset_view(all.data),
                              .total_rows = all.data->rows };
        CHECK_OK(evaluate_count_rows(&party, &how, &reply, &error), error);
        memcpy(answers[gaps], reply.contribution, how.spec.length * sizeof(double));
        free(reply.contribution);
        tacit_model_free((tacit_model *)all.plan.model);
        parties_end(&all);
    }
    for (size_t a = 0; a < KINDS; a++)
        for (size_t b = 0; b < a; b++)
            largest =
                fmax(largest, ldexp(apart(answers[a], answers[b], how.spec.length), how.spec.grid_bits));
    print_message("# an evaluation moves by %.4f of what is declared\n", largest / how.sensitivity);
    assert_true(largest <= how.sensitivity && largest > 0.7 * how.sensitivity);
    CHECK_NEAR(how.sensitivity, hypot(1024 * M_SQRT2, how.steps * sqrt(5)), 1e-6);
    tacit_schema_free(schema);
}

/* Exact ones, sites apart and definitions from before have none, and the noise that they had. */
static void an_evaluation_without_them_is_as_it_was(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    world self = evaluated(CLASSES, "shares", "gaussian");
    evaluate_setup how;
    const tacit_parameter *one = tacit_setting_find(self.all.plan.method->parameters, "missing_counts");
    assert_string_equal(one->before, "0");
    set(&self.all.plan, one->name, one->before);
    CHECK_OK(evaluate_make_setup(&how, &self.all.plan, &error), error);
    CHECK_NEAR(how.sensitivity, M_SQRT2, 1e-12);
    assert_int_equal(how.spec.grid_bits, 0);
    assert_int_equal(how.spec.length, 40);
    tacit_model *model = parties_run(&self.all, 1, NULL);
    assert_null(tacit_report_find(model->report, "missing"));
    tacit_model_free(model);
    set(&self.all.plan, "missing_counts", "0.02");
    set(&self.all.plan, "sites", "apart");
    assert_int_equal(tacit_plan_counts_missing(&self.all.plan), TACIT_COUNTED_NOT);
    end_evaluated(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descent_has_them_for_their_share),
        cmocka_unit_test(descent_counts_what_the_files_lack),
        cmocka_unit_test(intervals_of_descent_cover),
        cmocka_unit_test(evaluation_has_them_with_their_noise),
        cmocka_unit_test(no_row_moves_an_evaluation_beyond_what_is_declared),
        cmocka_unit_test(an_evaluation_without_them_is_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
