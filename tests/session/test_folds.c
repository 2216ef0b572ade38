/* Cross-validation by method estimate through real gates: an honest study, and coordinators that ask for
 * more. */
#include "secure_bench.h"

#include <math.h>

#include "method/exact/estimate.h"
#include "method/methods.h"
#include "session/run.h"

enum { GROUP = 3, ROWS = 120, FOLDS = 4 };

static const char schema_text[] = "label: {name: y, classes: [a, b]}\ncolumns:\n"
                                  "  - {name: x, kind: number, low: 0, high: 1}\n"
                                  "  - {name: z, kind: number, low: 0, high: 1}\n";

typedef struct world {
    bench *bench;
    tacit_schema *schema;
    tacit_keep keep[GROUP];
    tacit_memo memo[GROUP];
    /* what a liar makes of the weights of a fold's question, and how often it asks for held-out scores */
    double scale;
    int again;
} world;

static tacit_dataset *rows_of(const tacit_schema *schema, uint64_t seed, size_t rows) {
    tacit_stream stream = tacit_stream_from_seed(seed);
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_input *input = NULL;
    tacit_dataset *data = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    options.identified = true;
    CHECK_OK(tacit_buffer_print(&text, &error, "x,z,y\n"), error);
    for (size_t i = 0; i < rows; i++) {
        double x = tacit_stream_unit(&stream), z = tacit_stream_unit(&stream);
        CHECK_OK(tacit_buffer_print(&text, &error, "%.6f,%.6f,%c\n", x, z,
                                    "ab"[x - z + 3 * (tacit_stream_unit(&stream) - 0.5) > 0]),
                 error);
    }
    CHECK_OK(tacit_input_open_memory(&input, tacit_buffer_text(&text), text.length, "t.csv", &error), error);
    CHECK_OK(tacit_dataset_read(&data, NULL, input, schema, &options, &error), error);
    tacit_input_free(input);
    tacit_buffer_clear(&text);
    return data;
}

static world open_world(const char *folds, size_t rows) {
    world self = { .bench = bench_of(TACIT_SUMS_MASKED, GROUP, 3), .scale = 1 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_plan *plan = &self.bench->plan;
    CHECK_OK(tacit_schema_parse(&self.schema, schema_text, strlen(schema_text), "test", &error), error);
    plan->method = &tacit_method_estimate;
    plan->epsilon = INFINITY;
    plan->lambda = 0;
    plan->features = tacit_schema_features(self.schema);
    plan->classes = 2;
    plan->schema = self.schema;
    CHECK_OK(tacit_plan_set(plan, "folds", folds, &error), error);
    for (size_t k = 0; k < GROUP; k++) {
        site *one = &self.bench->sites[k];
        one->data = rows_of(self.schema, 30 + k, rows);
        one->policy.allow_exact = true;
        self.keep[k] = (tacit_keep){ read_kept, write_kept, one };
        one->party.rows = tacit_dataset_view(one->data);
        one->party.total_rows = one->data->rows;
    }
    return self;
}

static void close_world(world *self) {
    for (size_t k = 0; k < GROUP; k++) tacit_memo_clear(&self->memo[k]);
    bench_close(self->bench);
    tacit_schema_free(self->schema);
}

/* The question with all weights multiplied. */
static tacit_status bend(const tacit_question *question, double scale, tacit_message *out,
                         tacit_error *error) {
    const double *numbers;
    const size_t width = 3;
    double scaled[FOLDS * 3];
    TACIT_TRY(tacit_message_numbers(question->message, "weights", FOLDS * width, &numbers, error));
    for (size_t j = 0; j < FOLDS * width; j++) scaled[j] = scale * numbers[j];
    TACIT_TRY(tacit_message_add_numbers(out, "weights", scaled, FOLDS * width, error));
    if (strcmp(question->name, "folds") != 0) return TACIT_OK;
    TACIT_TRY(tacit_message_numbers(question->message, "rows", 1, &numbers, error));
    TACIT_TRY(tacit_message_add_numbers(out, "rows", numbers, 1, error));
    TACIT_TRY(tacit_message_numbers(question->message, "response", TACIT_ESTIMATE_TERMS, &numbers, error));
    return tacit_message_add_numbers(out, "response", numbers, TACIT_ESTIMATE_TERMS, error);
}

static tacit_status contribute(world *self, const tacit_question *question, uint64_t *total,
                               tacit_error *error) {
    for (size_t k = 0; k < GROUP; k++)
        TACIT_TRY(tacit_party_contribute(&self->bench->sites[k].party, question, total, error));
    return TACIT_OK;
}

static tacit_status ask_sum(void *context, const tacit_question *question, uint64_t *total, size_t *parties,
                            tacit_error *error) {
    world *self = context;
    tacit_question asked = *question;
    const bool folds = strcmp(question->name, "folds") == 0, last = strcmp(question->name, "held-out") == 0;
    tacit_message scaled = TACIT_MESSAGE_INIT;
    tacit_status status;
    memcpy(asked.answer_id, &question->round, sizeof question->round);
    if (folds && self->scale != 1) {
        TACIT_CHECK(bend(question, self->scale, &scaled, error));
        asked.message = &scaled;
    }
    TACIT_CHECK(contribute(self, &asked, total, error));
    if (last && self->again > 0) { /* once more, at weights that are a little different */
        TACIT_CHECK(bend(question, 1 + 1e-9, &scaled, error));
        asked.message = &scaled;
        asked.answer_id[15] ^= 1;
        TACIT_CHECK(contribute(self, &asked, total, error));
    }
    *parties = GROUP;
cleanup:
    tacit_message_clear(&scaled);
    return status;
}

static tacit_status fit(world *self, tacit_outcome *outcome, tacit_error *error) {
    bench *parties = self->bench;
    for (size_t k = 0; k < GROUP; k++) {
        parties->sites[k].party.keep = &self->keep[k];
        parties->sites[k].party.memo = &self->memo[k];
    }
    parties->session =
        (tacit_session){ .plan = &parties->plan, .transport = { .ask_sum = ask_sum, .context = self } };
    return tacit_run_coordinate(&parties->session, outcome, error);
}

static void refused(world *self, const char *says) {
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(fit(self, &outcome, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, says));
    tacit_outcome_clear(&outcome);
    close_world(self);
}

static void test_an_honest_study_passes_the_gates(void **state) {
    (void)state;
    world self = open_world("4", ROWS);
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(fit(&self, &outcome, &error), error);
    const tacit_report *found = outcome.models[0]->validation;
    assert_non_null(found);
    assert_true(found->rows == GROUP * ROWS);
    const tacit_report_table *figures = tacit_report_find(found, "figures");
    assert_non_null(figures);
    double auc = tacit_report_value(figures, "auc", "value");
    assert_true(auc > 0.5 && auc < 0.95);
    tacit_outcome_clear(&outcome);
    close_world(&self);
}

static void test_weights_that_single_rows_out_are_refused(void **state) {
    (void)state;
    world self = open_world("4", ROWS);
    self.scale = 1e4;
    refused(&self, "scores beyond 100");
}

static void test_held_out_scores_are_counted_at_one_choice_of_weights(void **state) {
    (void)state;
    world self = open_world("4", ROWS);
    self.again = 1;
    refused(&self, "asks again at other numbers");
}

static void test_small_folds_are_refused_before_anything_leaves(void **state) {
    (void)state;
    world self = open_world("4", 39); /* 10 or 9 in a fold, and owners' minimum is 10 */
    refused(&self, "the smallest of 4 folds of this party's rows has 9");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_honest_study_passes_the_gates),
        cmocka_unit_test(test_weights_that_single_rows_out_are_refused),
        cmocka_unit_test(test_held_out_scores_are_counted_at_one_choice_of_weights),
        cmocka_unit_test(test_small_folds_are_refused_before_anything_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
