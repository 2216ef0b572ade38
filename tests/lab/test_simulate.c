/* Sweeps: reproducible on any number of threads, charged as the ledgers say, refusals counted. */
#include "check.h"

#include "lab/simulate.h"
#include "parties.h"

enum { ROWS = 400, TEST_ROWS = 100, PARTIES = 23, MOST_RUNS = 8 };

static const tacit_method *const all_methods[] = { &tacit_method_batch, &tacit_method_indiv,
                                                   &tacit_method_avg };

typedef struct lab {
    tacit_dataset *data;
    tacit_split *split;
    tacit_pool *pool;
    uint32_t test_rows[TEST_ROWS];
    double epsilons[2];
    tacit_simulation plan;
    tacit_run runs[MOST_RUNS];
    tacit_model *model;
} lab;

static void lab_open(lab *self, unsigned threads) {
    tacit_error error = TACIT_ERROR_INIT;
    *self = (lab){ .data = ball(ROWS + TEST_ROWS, 6, 4), .split = split_in_blocks(ROWS, PARTIES) };
    for (uint32_t i = 0; i < TEST_ROWS; i++) self->test_rows[i] = ROWS + i;
    CHECK_OK(tacit_pool_create(&self->pool, threads, &error), error);
    self->epsilons[0] = 0.5;
    self->epsilons[1] = 4;
    self->plan = (tacit_simulation){ .dataset = self->data,
                                     .split = self->split,
                                     .test = tacit_dataset_subset(self->data, self->test_rows, TEST_ROWS),
                                     .methods = all_methods,
                                     .method_count = 3,
                                     .epsilons = self->epsilons,
                                     .epsilon_count = 2,
                                     .lambda = 0.05,
                                     .trials = 3,
                                     .seed = 11,
                                     .pool = self->pool };
}

static void lab_close(lab *self) {
    tacit_model_free(self->model);
    tacit_pool_free(self->pool);
    tacit_split_free(self->split);
    tacit_dataset_free(self->data);
}

static void lab_run(lab *self) {
    tacit_error error = TACIT_ERROR_INIT;
    assert_true(tacit_simulation_runs(&self->plan) <= MOST_RUNS);
    CHECK_OK(tacit_simulate(&self->plan, self->runs, &self->model, &error), error);
}

/* All but the time. */
static void check_same_bits(const tacit_run *a, const tacit_run *b) {
    assert_ptr_equal(a->method, b->method);
    assert_memory_equal(&a->epsilon, &b->epsilon, sizeof a->epsilon);
    assert_memory_equal(&a->accuracy, &b->accuracy, sizeof a->accuracy);
    assert_memory_equal(&a->auc, &b->auc, sizeof a->auc);
    assert_memory_equal(&a->log_loss, &b->log_loss, sizeof a->log_loss);
    assert_int_equal(a->rounds, b->rounds);
    assert_int_equal(a->bytes_per_party, b->bytes_per_party);
    assert_int_equal(a->parties, b->parties);
}

static void the_same_seed_gives_the_same_bits_on_any_number_of_threads(void **state) {
    (void)state;
    lab one;
    lab_open(&one, 1);
    lab_run(&one);
    for (unsigned threads = 2; threads <= 3; threads++) {
        lab other;
        lab_open(&other, threads);
        lab_run(&other);
        for (size_t i = 0; i < 4; i++) check_same_bits(&one.runs[i], &other.runs[i]);
        assert_memory_equal(one.model->weights, other.model->weights, 6 * sizeof(double));
        lab_close(&other);
    }
    lab_close(&one);
}

static void another_seed_gives_other_noise_and_the_same_yardsticks(void **state) {
    (void)state;
    lab one, other;
    lab_open(&one, 2);
    lab_open(&other, 2);
    other.plan.seed = 12;
    lab_run(&one);
    lab_run(&other);
    check_same_bits(&one.runs[0], &other.runs[0]);
    check_same_bits(&one.runs[1], &other.runs[1]);
    assert_true(one.runs[2].log_loss.mean != other.runs[2].log_loss.mean);
    assert_true(memcmp(one.model->weights, other.model->weights, 6 * sizeof(double)) != 0);
    lab_close(&one);
    lab_close(&other);
}

static void a_noise_free_method_appears_once_and_the_others_at_each_epsilon(void **state) {
    (void)state;
    lab self;
    lab_open(&self, 1);
    assert_int_equal(tacit_simulation_runs(&self.plan), 4);
    lab_run(&self);
    assert_true(isinf(self.runs[0].epsilon) && isinf(self.runs[1].epsilon));
    assert_int_equal(self.runs[0].trials, 1);
    CHECK_NEAR(self.runs[2].epsilon, 0.5, 0);
    CHECK_NEAR(self.runs[3].epsilon, 4, 0);
    assert_int_equal(self.runs[3].trials, 3);
    assert_true(self.runs[3].log_loss.sd > 0);
    assert_true(self.runs[3].log_loss.sd < self.runs[2].log_loss.sd);
    lab_close(&self);
}

static void a_variant_with_an_epsilon_of_its_own_appears_once_and_takes_the_sweeps_settings(void **state) {
    (void)state;
    lab self;
    lab_open(&self, 1);
    static const tacit_method *const methods[] = { &tacit_method_avg, &tacit_method_avg };
    static const tacit_variant variants[] = {
        { .method = "avg", .label = "alone", .lambda = 0.05, .epsilon = 7 },
        { .method = "avg", .lambda = 0.05 },
    };
    static const tacit_setting_value by_party = { "noise", "party" };
    self.plan.methods = methods;
    self.plan.method_count = 2;
    self.plan.variants = variants;
    assert_int_equal(tacit_simulation_runs(&self.plan), 3);
    lab_run(&self);
    CHECK_NEAR(self.runs[0].epsilon, 7, 0);
    CHECK_NEAR(self.runs[1].epsilon, 0.5, 0);
    CHECK_NEAR(self.runs[2].epsilon, 4, 0);
    assert_string_equal(self.runs[0].label, "alone");
    double before = self.runs[2].log_loss.sd;
    self.plan.settings = &by_party;
    self.plan.setting_count = 1;
    self.model = tacit_model_free(self.model);
    lab_run(&self);
    assert_true(self.runs[2].log_loss.sd > before); /* every party's noise instead of one */
    lab_close(&self);
}

static void what_is_charged_is_what_the_ledgers_hold(void **state) {
    (void)state;
    lab self;
    lab_open(&self, 2);
    lab_run(&self);
    assert_true(isinf(self.runs[0].charged.epsilon) && isinf(self.runs[1].charged.epsilon));
    CHECK_NEAR(self.runs[2].charged.epsilon, 0.5, 0);
    assert_int_equal(self.runs[2].charged.unit, TACIT_UNIT_RECORD);
    CHECK_NEAR(self.runs[3].charged.epsilon, 4, 0);
    lab_close(&self);
    const tacit_setting_value by_party[] = { { "unit", "party" } };
    lab_open(&self, 2);
    self.plan.settings = by_party;
    self.plan.setting_count = 1;
    lab_run(&self);
    CHECK_NEAR(self.runs[2].charged.epsilon, 0.5, 0);
    assert_int_equal(self.runs[2].charged.unit, TACIT_UNIT_PARTY);
    lab_close(&self);
}

static void every_partys_ledger_holds_one_charge_after_a_run(void **state) {
    (void)state;
    parties world;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_account account;
    parties_make(&world, ball(ROWS, 6, 4), PARTIES, NULL);
    world.plan.epsilon = 0.25;
    for (uint64_t run = 0; run < 3; run++) {
        tacit_model_free(parties_run(&world, run, NULL));
        CHECK_OK(tacit_local_charged(world.local, TACIT_UNIT_RECORD, &account, &error), error);
        CHECK_NEAR(account.spent_epsilon, 0.25, 0);
        CHECK_OK(tacit_local_charged(world.local, TACIT_UNIT_PARTY, &account, &error), error);
        CHECK_NEAR(account.spent_epsilon, 0, 0);
    }
    parties_end(&world);
}

/* 400 rows among 23 parties: some have 18 rows, most 17. */
static void a_party_with_too_few_rows_refuses_and_is_counted(void **state) {
    (void)state;
    lab self;
    size_t small = 0;
    lab_open(&self, 2);
    for (size_t k = 0; k < PARTIES; k++) small += tacit_split_count(self.split, k) < 18;
    assert_true(small > 0 && small < PARTIES);
    self.plan.methods = &all_methods[2];
    self.plan.method_count = 1;
    self.plan.minimum_rows = 18;
    lab_run(&self);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(self.runs[i].refusals, small);
        assert_int_equal(self.runs[i].parties, PARTIES - small);
        assert_non_null(strstr(self.runs[i].refusal, "17 rows and the study needs at least 18"));
    }
    assert_int_equal(self.model->guarantee.parties, PARTIES - small);
    lab_close(&self);
}

static void a_sweep_that_nobody_answers_is_refused(void **state) {
    (void)state;
    lab self;
    tacit_error error = TACIT_ERROR_INIT;
    lab_open(&self, 1);
    self.plan.methods = &all_methods[2];
    self.plan.method_count = 1;
    self.plan.minimum_rows = 1000;
    assert_int_equal(tacit_simulate(&self.plan, self.runs, &self.model, &error), TACIT_REFUSED);
    assert_null(self.model);
    lab_close(&self);
}

static void a_setting_that_no_method_has_is_a_mistake(void **state) {
    (void)state;
    lab self;
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_setting_value unknown[] = { { "mood", "good" } };
    lab_open(&self, 1);
    self.plan.settings = unknown;
    self.plan.setting_count = 1;
    assert_int_equal(tacit_simulate(&self.plan, self.runs, NULL, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "mood"));
    lab_close(&self);
}

static void the_model_says_how_it_was_made(void **state) {
    (void)state;
    lab self;
    lab_open(&self, 1);
    lab_run(&self);
    const tacit_guarantee *guarantee = &self.model->guarantee;
    assert_string_equal(guarantee->method, "avg");
    assert_true(guarantee->is_private);
    assert_int_equal(guarantee->noise, TACIT_NOISE_SIMULATED);
    CHECK_NEAR(guarantee->charged.epsilon, 4, 0);
    assert_int_equal(guarantee->parties, PARTIES);
    CHECK_NEAR(guarantee->lambda, 0.05, 0);
    lab_close(&self);
    lab_open(&self, 1);
    self.plan.method_count = 1;
    lab_run(&self);
    assert_string_equal(self.model->guarantee.method, "batch");
    assert_false(self.model->guarantee.is_private);
    lab_close(&self);
}

/* Each party has a model of its own here, so the figures are means of theirs. */
static void the_figures_of_indiv_are_means_over_parties(void **state) {
    (void)state;
    lab self;
    tacit_error error = TACIT_ERROR_INIT;
    double sum = 0;
    lab_open(&self, 2);
    self.plan.methods = &all_methods[1];
    self.plan.method_count = 1;
    lab_run(&self);
    tacit_linear_fit fit = { .lambda = 0.05 };
    for (size_t k = 0; k < PARTIES; k++) {
        tacit_model *local = NULL;
        tacit_metrics metrics;
        tacit_view rows = tacit_split_view(self.split, self.data, k);
        CHECK_OK(tacit_model_fit_linear(&local, &rows, &fit, &error), error);
        CHECK_OK(tacit_model_evaluate(local, &self.plan.test, NULL, &metrics, &error), error);
        sum += metrics.log_loss;
        tacit_model_free(local);
    }
    CHECK_NEAR(self.runs[0].log_loss.mean, sum / PARTIES, 1e-6);
    assert_null(self.model);
    lab_close(&self);
}

/* ---- progress and stopping ---- */

typedef struct watcher {
    uint64_t most, total;
    size_t reports, stages;
    char stage[64];
    size_t patience; /* cancelled after this many reports; 0: never */
} watcher;

static void watch(void *context, const char *stage, uint64_t done, uint64_t total) {
    watcher *self = context;
    self->reports++;
    if (strcmp(stage, self->stage) != 0) {
        self->stages++;
        snprintf(self->stage, sizeof self->stage, "%s", stage);
    }
    assert_true(done >= self->most);
    assert_true(self->total == 0 || total == self->total);
    self->most = done;
    self->total = total;
}

static bool had_enough(void *context) {
    const watcher *self = context;
    return self->patience > 0 && self->reports >= self->patience;
}

static void a_sweep_is_one_whole_that_only_grows(void **state) {
    (void)state;
    lab self;
    watcher seen = { 0 };
    const tacit_progress progress = { watch, had_enough, &seen };
    lab_open(&self, 3);
    self.plan.methods = &all_methods[2];
    self.plan.method_count = 1;
    self.plan.progress = &progress;
    lab_run(&self);
    assert_int_equal(seen.stages, 2);
    assert_string_equal(seen.stage, "avg at epsilon 4");
    assert_int_equal(seen.most, seen.total);
    lab_close(&self);
}

static void a_sweep_can_be_stopped_at_any_report(void **state) {
    (void)state;
    for (size_t patience = 1;; patience++) {
        lab self;
        watcher seen = { .patience = patience };
        const tacit_progress progress = { watch, had_enough, &seen };
        lab_open(&self, 1);
        self.plan.methods = &all_methods[1];
        self.plan.method_count = 2;
        self.plan.progress = &progress;
        tacit_status status = tacit_simulate(&self.plan, self.runs, &self.model, NULL);
        bool ended = status == TACIT_OK;
        if (!ended) {
            assert_int_equal(status, TACIT_CANCELLED);
            assert_null(self.model);
        }
        lab_close(&self);
        if (ended) {
            assert_true(patience > 4);
            break;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_gives_the_same_bits_on_any_number_of_threads),
        cmocka_unit_test(another_seed_gives_other_noise_and_the_same_yardsticks),
        cmocka_unit_test(a_noise_free_method_appears_once_and_the_others_at_each_epsilon),
        cmocka_unit_test(a_variant_with_an_epsilon_of_its_own_appears_once_and_takes_the_sweeps_settings),
        cmocka_unit_test(what_is_charged_is_what_the_ledgers_hold),
        cmocka_unit_test(every_partys_ledger_holds_one_charge_after_a_run),
        cmocka_unit_test(a_party_with_too_few_rows_refuses_and_is_counted),
        cmocka_unit_test(a_sweep_that_nobody_answers_is_refused),
        cmocka_unit_test(a_setting_that_no_method_has_is_a_mistake),
        cmocka_unit_test(the_model_says_how_it_was_made),
        cmocka_unit_test(the_figures_of_indiv_are_means_over_parties),
        cmocka_unit_test(a_sweep_is_one_whole_that_only_grows),
        cmocka_unit_test(a_sweep_can_be_stopped_at_any_report),
    };
    return cmocka_run_group_tests_name("simulate", tests, NULL, NULL);
}
