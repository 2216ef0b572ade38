/* Imputed fits by method estimate through real gates: sets that stay, rows that are too few, numbers that are
 * withheld. */
#include "secure_bench.h"

#include <math.h>

#include "method/exact/estimate.h"
#include "method/methods.h"
#include "session/run.h"

enum { GROUP = 3, ROWS = 90, SETS = 4 };

static const char schema_text[] = "label: {name: y, classes: [a, b]}\ncolumns:\n"
                                  "  - {name: x, kind: number, low: -3, high: 4, missing: impute}\n"
                                  "  - {name: g, kind: category, levels: [u, v, w], missing: impute}\n"
                                  "  - {name: z, kind: number, low: 0, high: 1, missing: complete-case}\n";

typedef struct world {
    bench *bench;
    tacit_schema *schema;
    tacit_keep keep[GROUP];
    tacit_memo memo[GROUP];
} world;

/* Rows of which this many lack x, this many g, and this many z. */
static tacit_dataset *rows_of(const tacit_schema *schema, uint64_t seed, const size_t gaps[3]) {
    tacit_stream stream = tacit_stream_from_seed(seed);
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_input *input = NULL;
    tacit_dataset *data = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_buffer_print(&text, &error, "x,g,z,y\n"), error);
    for (size_t i = 0; i < ROWS; i++) {
        double x = tacit_stream_unit(&stream), z = tacit_stream_unit(&stream);
        char number[32] = "", level[2] = "", other[32] = "";
        if (i >= gaps[0]) snprintf(number, sizeof number, "%.6f", x);
        if (i < 20 || i >= 20 + gaps[1]) level[0] = "uvw"[tacit_stream_below(&stream, 3)];
        if (i < 60 || i >= 60 + gaps[2]) snprintf(other, sizeof other, "%.6f", z);
        CHECK_OK(tacit_buffer_print(&text, &error, "%s,%s,%s,%c\n", number, level, other,
                                    "ab"[x - z + 1.5 * (tacit_stream_unit(&stream) - 0.5) > 0]),
                 error);
    }
    CHECK_OK(tacit_input_open_memory(&input, tacit_buffer_text(&text), text.length, "t.csv", &error), error);
    CHECK_OK(tacit_dataset_read(&data, NULL, input, schema, NULL, &error), error);
    tacit_input_free(input);
    tacit_buffer_clear(&text);
    return data;
}

static world open_world(const size_t gaps[GROUP][3]) {
    world self = { .bench = bench_of(TACIT_SUMS_MASKED, GROUP, 3) };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_plan *plan = &self.bench->plan;
    CHECK_OK(tacit_schema_parse(&self.schema, schema_text, strlen(schema_text), "test", &error), error);
    plan->method = &tacit_method_estimate;
    plan->epsilon = INFINITY;
    plan->features = tacit_schema_features(self.schema);
    plan->classes = 2;
    plan->schema = self.schema;
    CHECK_OK(tacit_plan_set(plan, "impute", "4", &error), error);
    for (size_t k = 0; k < GROUP; k++) {
        site *one = &self.bench->sites[k];
        one->data = rows_of(self.schema, 3 + k, gaps[k]);
        one->policy.allow_exact = true;
        self.keep[k] = (tacit_keep){ read_kept, write_kept, one };
        one->party.rows = tacit_dataset_view(one->data);
        one->party.total_rows = one->data->rows;
    }
    return self;
}

static void seat(world *self, size_t k) {
    self->bench->sites[k].party.keep = &self->keep[k];
    self->bench->sites[k].party.memo = &self->memo[k];
}

static void close_world(world *self) {
    for (size_t k = 0; k < GROUP; k++) tacit_memo_clear(&self->memo[k]);
    bench_close(self->bench);
    tacit_schema_free(self->schema);
}

static tacit_status ask_sum(void *context, const tacit_question *question, uint64_t *total, size_t *parties,
                            tacit_error *error) {
    bench *self = context;
    tacit_question asked = *question;
    memcpy(asked.answer_id, &question->round, sizeof question->round);
    for (size_t k = 0; k < self->parties; k++)
        TACIT_TRY(tacit_party_contribute(&self->sites[k].party, &asked, total, error));
    *parties = self->parties;
    return TACIT_OK;
}

static tacit_status fit(world *self, tacit_outcome *outcome, tacit_error *error) {
    bench *parties = self->bench;
    for (size_t k = 0; k < GROUP; k++) seat(self, k);
    parties->session =
        (tacit_session){ .plan = &parties->plan, .transport = { .ask_sum = ask_sum, .context = parties } };
    return tacit_run_coordinate(&parties->session, outcome, error);
}

static void test_sets_are_pooled_and_small_numbers_withheld(void **state) {
    (void)state;
    static const size_t gaps[GROUP][3] = { { 15, 12, 3 }, { 0, 0, 11 }, { 20, 9, 0 } };
    world self = open_world(gaps);
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(fit(&self, &outcome, &error), error);
    const tacit_estimates *found = outcome.models[0]->estimates;
    assert_int_equal(found->sets, SETS);
    assert_true(found->rows == 3 * ROWS - 14);
    assert_true(found->left_out == 11 && found->left_out_withheld == 1);
    assert_true(found->missing[0].cells == 35 && found->missing[0].withheld == 0);
    assert_true(found->missing[1].cells == 12 && found->missing[1].withheld == 1);
    assert_true(found->missing[2].cells == 11 && found->missing[2].withheld == 1);
    for (size_t k = 0; k < found->count; k++) {
        const tacit_coefficient *one = &found->coefficient[k];
        CHECK_NEAR(one->error * one->error, one->within + 1.25 * one->between, 1e-9);
        assert_true(one->between > 0 && one->lost > 0 && one->lost < 1);
    }
    tacit_outcome_clear(&outcome);
    close_world(&self);
}

static void values_of(world *self, size_t k, size_t set, double *out, size_t count) {
    tacit_estimate_completed complete;
    tacit_error error = TACIT_ERROR_INIT;
    seat(self, k);
    CHECK_OK(tacit_estimate_complete(&complete, &self->bench->sites[k].party, set, &error), error);
    memcpy(out, complete.values.values, count * sizeof *out);
    tacit_estimate_completed_clear(&complete);
}

/* A program that was restarted has nothing in its memory, and the same seed on its disk. */
static void test_sets_are_the_same_after_a_restart(void **state) {
    (void)state;
    static const size_t gaps[GROUP][3] = { { 15, 12, 0 }, { 15, 12, 0 }, { 0, 0, 0 } };
    enum { COUNT = 400 };
    double before[COUNT], after[COUNT], other[COUNT];
    world self = open_world(gaps);
    values_of(&self, 0, 2, before, COUNT);
    tacit_memo_clear(&self.memo[0]);
    self.memo[0] = (tacit_memo){ .model = NULL };
    values_of(&self, 0, 2, after, COUNT);
    assert_memory_equal(before, after, sizeof before);
    values_of(&self, 0, 3, other, COUNT);
    assert_memory_not_equal(before, other, sizeof before);
    close_world(&self);
}

static void test_few_incomplete_rows_are_not_summed_twice(void **state) {
    (void)state;
    static const size_t gaps[GROUP][3] = { { 15, 0, 0 }, { 4, 0, 0 }, { 0, 0, 0 } };
    world self = open_world(gaps);
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(fit(&self, &outcome, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "4 of this party's rows lack a value that is to be imputed"));
    tacit_outcome_clear(&outcome);
    close_world(&self);
}

static void test_a_set_that_is_none_is_refused(void **state) {
    (void)state;
    static const size_t gaps[GROUP][3] = { { 15, 0, 0 }, { 15, 0, 0 }, { 0, 0, 0 } };
    world self = open_world(gaps);
    tacit_estimate_completed complete;
    tacit_error error = TACIT_ERROR_INIT;
    seat(&self, 0);
    assert_int_equal(tacit_estimate_complete(&complete, &self.bench->sites[0].party, SETS, &error),
                     TACIT_PROTOCOL);
    assert_int_equal(tacit_estimate_complete(&complete, &self.bench->sites[0].party, SIZE_MAX, &error),
                     TACIT_PROTOCOL);
    close_world(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets_are_pooled_and_small_numbers_withheld),
        cmocka_unit_test(test_sets_are_the_same_after_a_restart),
        cmocka_unit_test(test_few_incomplete_rows_are_not_summed_twice),
        cmocka_unit_test(test_a_set_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
