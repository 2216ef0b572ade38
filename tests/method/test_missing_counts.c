/*
 * Counts of missing values beside a private model (missing_counts): what they count; no neighbour moves them beyond the
 * declared sensitivity, which is reached, whether rows or persons are protected; all questions together cost what the
 * study declares, in every method that has them and whoever adds the noise; the question is answered in its place only,
 * and what was agreed on before it was there is as it was; 95% intervals by the stated errors cover in 94 to 96% of
 * draws; small counts are left out; and n stays the number that was declared. dpgd and evaluate: test_missing_beside.c.
 */
#include "check.h"

#include "lab/audit/audit.h"
#include "method/private/dpnewton_inference.h"
#include "method/time/dpcox.h"
#include "missing_rows.h"
#include "privacy/account/gaussian.h"

static const char TIMES[] =
    "label: {name: [age, ill], kind: time, low: 0, high: 100, missing: complete-case}\n";

/* The same without rows that are left out. */
static const char KEPT[] = "label: {name: ill, classes: [no, yes]}\n"
                           "person: who\n"
                           "columns:\n"
                           "  - {name: weight, kind: number, low: 0, high: 100, missing: indicator}\n"
                           "  - {name: arm, kind: category, levels: [a, b], missing: level}\n"
                           "  - {name: height, kind: number, low: 0, high: 2}\n"
                           "rows: bound\nintercept: yes\n";

/* What a study asks: both purposes, and times. */
static const struct subject {
    const char *label;
    const tacit_method *method;
    const char *purpose;
    uint64_t round; /* 0: after the steps */
} subjects[] = { { CLASSES, &tacit_method_dpnewton, "prediction", 0 },
                 { CLASSES, &tacit_method_dpnewton, "inference", 7 },
                 { NUMBER, &tacit_method_dpnewton, "inference", 1 },
                 { TIMES, &tacit_method_dpcox, NULL, 7 } };

static world subject_of(size_t k, const char *noise) {
    world out = world_of(subjects[k].label, subjects[k].method, noise);
    if (subjects[k].purpose != NULL) set(&out.all.plan, "purpose", subjects[k].purpose);
    return out;
}

static dpnewton_counting counting_of(const tacit_plan *plan) {
    tacit_error error = TACIT_ERROR_INIT;
    dpnewton_prepared how;
    dpcox_design times;
    if (plan->method == &tacit_method_dpcox) {
        CHECK_OK(dpcox_describe(plan, &times, &error), error);
        dpcox_clear(&times);
        return times.missing;
    }
    CHECK_OK(plan->method->prepare(plan, &how, &error), error);
    return dpnewton_infers(plan) ? how.inference.missing : how.prediction.missing;
}

/* Without noise, and in JSON and back: rows that are left out count in their columns too, and a label as a number or a
 * time like one of classes. */
static void they_are_what_the_files_lack(void **state) {
    (void)state;
    static const char *const labels[] = { "weight: indicator", "arm: complete-case", "height: fill",
                                          "ill: complete-case", "rows left out" };
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_buffer text = TACIT_BUFFER_INIT;
        world self = subject_of(k, "coordinator");
        self.all.plan.epsilon = INFINITY;
        tacit_model *model = parties_run(&self.all, 1, NULL), *again = NULL;
        CHECK_OK(tacit_model_print(model, &text, &error), error);
        CHECK_OK(tacit_model_parse(&again, text.bytes, text.length, "test", &error), error);
        const tacit_report_table *table = table_of(again);
        assert_int_equal(table->rows, 5);
        assert_false(again->missing_counts->noisy);
        for (size_t j = 0; j < 5; j++) {
            if (self.schema->response == TACIT_RESPONSE_TIME && j == 3)
                continue; /* the time, which none lacks */
            assert_string_equal(table->label[j], labels[j]);
            CHECK_NEAR(table->value[j], self.truth[j], 0);
        }
        tacit_buffer_clear(&text);
        tacit_model_free(model);
        tacit_model_free(again);
        end(&self);
    }
}

/* ---- sensitivity ---- */

/* What a party with these rows answers without noise; row 0 has these gaps, or person 0 in this many rows. */
static void answer(const tacit_schema *schema, unsigned gaps, size_t rows_of_first, bool persons,
                   const missing_counts *counts, double *out) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer text = TACIT_BUFFER_INIT;
    parties all;
    begin(&text);
    for (size_t i = 0; i < rows_of_first; i++) print_row(&text, 0, gaps, false);
    for (size_t i = 4; i < 40; i++) print_row(&text, i, gaps_of(i) & (persons ? 7 : 15), false);
    parties_read(&all, &text, schema, 1, &tacit_method_dpnewton);
    set(&all.plan, "unit", persons ? "person" : "record");
    all.plan.minimum_rows = 1;
    tacit_party party = { .plan = &all.plan,
                          .rows = tacit_dataset_view(all.data),
                          .total_rows = all.data->rows };
    CHECK_OK(missing_counts_add_up(&party, counts, GRADIENT_MOST_ROWS, out, &error), error);
    parties_end(&all);
}

/* Every pair of rows, kept or left out. One number less in the bound would be wrong. */
static void no_row_moves_them_beyond_what_is_declared(void **state) {
    (void)state;
    enum { KINDS = 16 };
    tacit_schema *schema = schema_of(CLASSES, COLUMNS);
    const tacit_plan plan = { .method = &tacit_method_dpnewton, .schema = schema };
    const missing_counts counts = missing_counts_of(&plan, 0);
    double answers[KINDS][5], largest = 0;
    assert_int_equal(counts.length, 5);
    CHECK_NEAR(counts.sensitivity, sqrt(5), 1e-12);
    for (unsigned gaps = 0; gaps < KINDS; gaps++) answer(schema, gaps, 1, false, &counts, answers[gaps]);
    for (size_t a = 0; a < KINDS; a++)
        for (size_t b = 0; b < a; b++) largest = fmax(largest, apart(answers[a], answers[b], counts.length));
    assert_true(largest <= counts.sensitivity && largest > 0.999 * counts.sensitivity);
    assert_true(largest > sqrt(4)); /* without the rows left out */
    tacit_schema_free(schema);
}

/* All rows of a person, few or many. Without the bound on what a person counts it would not hold. */
static void no_person_moves_them_beyond_what_is_declared(void **state) {
    (void)state;
    enum { MOST = 4, KINDS = 8 };
    static const size_t rows[] = { 1, 3, 4, 60 };
    tacit_schema *schema = schema_of("", KEPT);
    const tacit_plan plan = { .method = &tacit_method_dpnewton, .schema = schema };
    const missing_counts counts = missing_counts_of(&plan, MOST), bare = missing_counts_of(&plan, 1000);
    double before[3], after[3], largest = 0, unbounded = 0;
    assert_int_equal(counts.length, 3);
    CHECK_NEAR(counts.sensitivity, MOST * sqrt(3), 1e-12);
    for (size_t r = 0; r < 4; r++)
        for (unsigned gaps = 0; gaps < KINDS; gaps++) {
            answer(schema, 0, 1, true, &counts, before);
            answer(schema, gaps, rows[r], true, &counts, after);
            largest = fmax(largest, apart(before, after, 3));
            answer(schema, gaps, rows[r], true, &bare, after);
            unbounded = fmax(unbounded, apart(before, after, 3));
        }
    assert_true(largest <= counts.sensitivity && largest > 0.999 * counts.sensitivity);
    assert_true(unbounded > 2 * counts.sensitivity);
    tacit_schema_free(schema);
}

/* Rows left out do not say whose they are: where persons are protected, neither they nor what leaves them out count. */
static void rows_left_out_are_not_counted_for_persons(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(CLASSES, COLUMNS);
    const tacit_plan plan = { .method = &tacit_method_dpnewton, .schema = schema };
    assert_int_equal(missing_counts_of(&plan, 4).length, 2); /* weight, height */
    tacit_schema_free(schema);
}

/* ---- price and place ---- */

static uint64_t runs_of(const tacit_plan *plan) {
    tacit_error error = TACIT_ERROR_INIT;
    dpnewton_prepared how;
    dpcox_design times;
    uint64_t runs = counting_of(plan).release.event.count;
    if (plan->method == &tacit_method_dpcox) {
        CHECK_OK(dpcox_describe(plan, &times, &error), error);
        for (size_t t = 0; t <= DPCOX_STEPS; t++) runs += times.release[t].event.count;
        dpcox_clear(&times);
        return runs;
    }
    CHECK_OK(plan->method->prepare(plan, &how, &error), error);
    if (dpnewton_infers(plan)) {
        const size_t last = how.inference.linear ? 0 : how.inference.steps + 1;
        for (size_t t = 0; t <= last; t++) runs += how.inference.release[t].event.count;
        return runs;
    }
    for (size_t t = 0; t <= how.prediction.rounds + how.prediction.asks_line; t++)
        runs += how.prediction.release[t].event.count;
    return runs;
}

static void all_questions_together_cost_what_is_declared(void **state) {
    (void)state;
    static const char *const who[] = { "coordinator", "party", "shares" };
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++)
        for (size_t n = 0; n < 3; n++) {
            tacit_error error = TACIT_ERROR_INIT;
            world self = subject_of(k, who[n]);
            tacit_plan *plan = &self.all.plan;
            tacit_account account;
            tacit_prices total = { .event = { .count = 0 } };
            CHECK_OK(tacit_plan_price(plan, &total, &error), error);
            assert_int_equal(runs_of(plan), total.event.count);
            assert_int_equal(counting_of(plan).release.event.count, 20);
            tacit_model_free(parties_run(&self.all, 1, NULL));
            CHECK_OK(tacit_local_charged(self.all.local, TACIT_UNIT_RECORD, &account, &error), error);
            assert_true(tacit_amount_within(account.spent_epsilon, total.charged.epsilon));
            assert_true(account.spent_epsilon > 0.999);
            set(plan, "missing_counts", "0.1234");
            assert_int_equal(counting_of(plan).release.event.count, 123);
            assert_int_equal(runs_of(plan), total.event.count);
            end(&self);
        }
}

static tacit_status ask(world *self, uint64_t round, const dpnewton_counting *how) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_session session = parties_begin(&self->all, 1);
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    session.round = round;
    tacit_status status = tacit_ask_sum(&session, "missing", &message, &how->spec, &sum, &error);
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}

static void it_is_answered_in_its_place_only(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++) {
        world self = subject_of(k, "coordinator");
        const dpnewton_counting how = counting_of(&self.all.plan);
        if (subjects[k].round > 0) assert_int_equal(how.round, subjects[k].round);
        for (uint64_t round = 0; round < how.round + 3; round++)
            assert_true((ask(&self, round, &how) == TACIT_OK) == (round == how.round));
        set(&self.all.plan, "missing_counts", "0");
        for (uint64_t round = 0; round < how.round + 3; round++)
            assert_int_not_equal(ask(&self, round, &how), TACIT_OK);
        end(&self);
    }
}

/* A definition from before says nothing of it, and means what it meant; a schema that says nothing of missing values
 * has nothing to count. Neither has another noise than it had. */
static void without_them_a_study_is_as_it_was(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++) {
        world self = subject_of(k, "shares");
        tacit_plan *plan = &self.all.plan;
        const tacit_parameter *one = tacit_setting_find(plan->method->parameters, "missing_counts");
        assert_string_equal(one->before, "0");
        assert_int_equal(tacit_plan_counts_missing(plan), TACIT_COUNTED);
        set(plan, one->name, one->before);
        assert_int_equal(tacit_plan_counts_missing(plan), TACIT_COUNTED_NOT);
        assert_int_equal(counting_of(plan).counts.length, 0);
        tacit_model *model = parties_run(&self.all, 1, NULL);
        assert_null(model->missing_counts);
        tacit_model_free(model);
        end(&self);
    }
    tacit_schema *silent =
        schema_of("label: {name: ill, classes: [no, yes]}\n",
                  "columns:\n  - {name: weight, kind: number, low: 0, high: 100}\nmissing: fill\n");
    tacit_plan plan = { .method = &tacit_method_dpnewton, .schema = silent };
    assert_int_equal(tacit_plan_counts_missing(&plan), TACIT_COUNTED_NOT);
    plan.schema = NULL;
    assert_int_equal(tacit_plan_counts_missing(&plan), TACIT_COUNTED_PERHAPS);
    tacit_schema_free(silent);
}

/* ---- noise ---- */

/* Of 10,000 numbers, five in each of 2,000 draws, .95 has a standard deviation of .0022: outside 94 to 96% once in
 * 200,000 studies. Intervals that are a tenth shorter cover 92.2%, and are found out. */
static void intervals_by_the_stated_error_cover(void **state) {
    (void)state;
    enum { DRAWS = 2000 };
    static const char *const who[] = { "coordinator", "party", "shares" };
    for (size_t n = 0; n < 3; n++) {
        world self = subject_of(2, who[n]); /* two questions */
        double inside = 0, shorter = 0, all = 0;
        self.all.plan.epsilon = 20;
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
        print_message("# noise=%s: %.2f%% of intervals cover; a tenth shorter, %.2f%%\n", who[n],
                      100 * inside / all, 100 * shorter / all);
        assert_true(inside >= 0.94 * all && inside <= 0.96 * all);
        assert_true(shorter < 0.94 * all);
        end(&self);
    }
}

/* The error that stands beside a count is that of public numbers. */
static void the_noise_follows_from_public_numbers(void **state) {
    (void)state;
    world self = subject_of(0, "coordinator");
    const dpnewton_counting how = counting_of(&self.all.plan);
    double sigma = 0;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_gaussian_sigma(&sigma, 1, 1e-5, 1, &error), error);
    assert_true(fabs(how.release.deviation / (sigma * sqrt(5 / 0.02)) - 1) < 1e-3);
    tacit_model *model = parties_run(&self.all, 3, NULL);
    const tacit_report_table *table = table_of(model);
    for (size_t j = 0; j < 5; j++) {
        CHECK_NEAR(table->error[j], how.release.deviation, 0);
        assert_true(isnan(table->value[j]) || table->value[j] >= MISSING_COUNTS_THRESHOLD);
    }
    tacit_model_free(model);
    end(&self);
}

/* With noise of 59 rows about counts of 0, some are below the threshold in nearly every draw, and none is shown. */
static void small_counts_are_left_out(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    world self = subject_of(0, "coordinator");
    const double values[5] = { 9.999, 10, -50, 400, 0 };
    const missing_counts counts = missing_counts_of(&self.all.plan, 0);
    tacit_report *report = NULL;
    CHECK_OK(missing_counts_report(&report, &self.all.plan, &counts, values, 59, 0.02, 1200, &error), error);
    for (size_t j = 0; j < 5; j++) assert_true(isnan(report->table[0].value[j]) == (values[j] < 10));
    assert_true(report->noisy);
    tacit_report_free(report);
    end(&self);
}

/* Whatever was counted: the ridge is that of the declared rows. Without noise only shares differ, by which the last
 * iterates are averaged. */
static void the_model_does_not_depend_on_the_counts(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++) {
        tacit_error error = TACIT_ERROR_INIT;
        world self = subject_of(k, "coordinator");
        double lambda[2] = { 0, 0 };
        const bool ridge = self.all.plan.method == &tacit_method_dpnewton && !dpnewton_infers(&self.all.plan);
        if (ridge) CHECK_OK(dpnewton_lambda(&self.all.plan, &lambda[0], &error), error);
        self.all.plan.epsilon = INFINITY;
        tacit_model *with = parties_run(&self.all, 1, NULL);
        set(&self.all.plan, "missing_counts", "0");
        tacit_model *without = parties_run(&self.all, 1, NULL);
        for (size_t j = 0; j < tacit_model_size(with); j++)
            CHECK_NEAR(with->weights[j], without->weights[j], 1e-3);
        self.all.plan.epsilon = 1;
        if (ridge) CHECK_OK(dpnewton_lambda(&self.all.plan, &lambda[1], &error), error);
        CHECK_NEAR(lambda[0], lambda[1], 0);
        tacit_model_free(with);
        tacit_model_free(without);
        end(&self);
    }
}

/* ---- audit ---- */

/* A sound subject is called broken with probability at most 1e-10; the seed is fixed. */
static void an_audit_finds_most_of_what_is_charged(void **state) {
    (void)state;
    static const tacit_setting_value settings[] = { { "rounds", "2" }, { "noise", "party" } };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_audit audit = { .setup = { .epsilon = 3, .delta = 0.05, .settings = settings, .setting_count = 2 },
                          .runs = 10000,
                          .confidence = 1 - 1e-10,
                          .seed = 5 };
    tacit_audit_result result;
    CHECK_OK(tacit_auditable_require(&audit.subject, "dpnewton-missing", &error), error);
    CHECK_OK(tacit_audit_run(&result, &audit, &error), error);
    print_message("# charged %g: at least %.4f, reach %.4f\n", result.charged.epsilon, result.epsilon_lower,
                  result.reach);
    assert_false(result.broken);
    assert_true(result.epsilon_lower > 1.4 && result.reach > 0.95 && result.reach <= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_what_the_files_lack),
        cmocka_unit_test(no_row_moves_them_beyond_what_is_declared),
        cmocka_unit_test(no_person_moves_them_beyond_what_is_declared),
        cmocka_unit_test(rows_left_out_are_not_counted_for_persons),
        cmocka_unit_test(all_questions_together_cost_what_is_declared),
        cmocka_unit_test(it_is_answered_in_its_place_only),
        cmocka_unit_test(without_them_a_study_is_as_it_was),
        cmocka_unit_test(intervals_by_the_stated_error_cover),
        cmocka_unit_test(the_noise_follows_from_public_numbers),
        cmocka_unit_test(small_counts_are_left_out),
        cmocka_unit_test(the_model_does_not_depend_on_the_counts),
        cmocka_unit_test(an_audit_finds_most_of_what_is_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
