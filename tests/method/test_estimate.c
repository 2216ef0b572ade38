/*
 * estimate: it ends where the derivative of all rows' loss vanishes, a run that died is taken up with the
 * same result to the last bit, and other parties in a later round are noticed.
 */
#include "check.h"

#include "parties.h"

enum { FEATURES = 3, ROWS = 240, PARTIES = 4, MOST_RECORDS = 400 };

/* Rows as generated: no columns, no intercept, and a label of the given kind. */
static tacit_schema *schema_of(const char *label) {
    char text[200];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = NULL;
    snprintf(text, sizeof text, "label: {name: y, %s}\nsparse: %d\nintercept: no\nrows: {clip: 1}\n", label,
             FEATURES);
    CHECK_OK(tacit_schema_parse(&schema, text, strlen(text), "test", &error), error);
    return schema;
}

typedef struct world {
    parties parties;
    tacit_schema *schema;
} world;

static void world_make(world *out, tacit_response response, const char *optimiser) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(11 + response);
    tacit_dataset *data = NULL;
    if (response == TACIT_RESPONSE_CLASS)
        CHECK_OK(tacit_generate_logistic(&data, ROWS, FEATURES, NULL, &stream, &error), error);
    else
        CHECK_OK(tacit_generate_response(&data, ROWS, FEATURES, response, NULL, &stream, &error), error);
    parties_make(&out->parties, data, PARTIES, NULL);
    out->schema = schema_of(response == TACIT_RESPONSE_CLASS    ? "classes: [a, b]"
                            : response == TACIT_RESPONSE_NUMBER ? "kind: number, low: -4, high: 4"
                                                                : "kind: count, low: 0, high: 200");
    tacit_plan *plan = &out->parties.plan;
    plan->method = &tacit_method_estimate;
    plan->schema = out->schema;
    plan->lambda = 0;
    CHECK_OK(tacit_plan_set(plan, "optimiser", optimiser, &error), error);
}

static void world_end(world *self) {
    parties_end(&self->parties);
    tacit_schema_free(self->schema);
}

/* sum_i (mean_i - y_i) x_ij, the same for the three likelihoods. */
static double score(const world *self, const tacit_model *model, size_t j) {
    const tacit_dataset *data = self->parties.data;
    double sum = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const double *x = data->dense.values + i * FEATURES;
        double t = 0, y = data->label != NULL ? data->label[i] : data->response[i];
        for (size_t k = 0; k < FEATURES; k++) t += model->weights[k] * x[k];
        double mean = data->label != NULL ? 1 / (1 + exp(-t)) : tacit_model_mean(model, t);
        sum += (mean - y) * x[j];
    }
    return sum;
}

static void the_estimate_solves_the_score_equations(void **state) {
    (void)state;
    for (int response = TACIT_RESPONSE_CLASS; response <= TACIT_RESPONSE_COUNT; response++)
        for (int lbfgs = 0; lbfgs < 2; lbfgs++) {
            world self;
            world_make(&self, (tacit_response)response, lbfgs ? "lbfgs" : "newton");
            tacit_model *model = parties_run(&self.parties, 1, NULL);
            for (size_t j = 0; j < FEATURES; j++) CHECK_NEAR(score(&self, model, j), 0, 1e-6);
            assert_non_null(model->estimates);
            assert_int_equal(model->estimates->count, FEATURES);
            assert_string_equal(model->estimates->coefficient[1].name, "x2");
            /* the schema's factor is 1 except for the last bits */
            CHECK_NEAR(model->estimates->coefficient[1].estimate, model->weights[1], 1e-9);
            tacit_model_free(model);
            world_end(&self);
        }
}

/* Bounds on a count that are far too wide cost no digits: the grid follows from the counts' own sum. */
static void wide_bounds_of_a_count_cost_nothing(void **state) {
    (void)state;
    world self;
    world_make(&self, TACIT_RESPONSE_COUNT, "newton");
    tacit_model *narrow = parties_run(&self.parties, 1, NULL);
    self.schema->high = 1e9;
    tacit_model *wide = parties_run(&self.parties, 1, NULL);
    for (size_t j = 0; j < FEATURES; j++) {
        CHECK_NEAR(wide->weights[j], narrow->weights[j], 1e-10);
        CHECK_NEAR(wide->estimates->coefficient[j].error, narrow->estimates->coefficient[j].error, 1e-10);
    }
    tacit_model_free(narrow);
    tacit_model_free(wide);
    world_end(&self);
}

/* The generated coefficients are within 6.2 standard errors: false alarm below 1e-9 for each. */
static void the_truth_is_within_its_standard_errors(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(5);
    tacit_dataset *data = NULL;
    double truth[FEATURES];
    CHECK_OK(tacit_generate_response(&data, 5000, FEATURES, TACIT_RESPONSE_NUMBER, truth, &stream, &error),
             error);
    world self = { .schema = schema_of("kind: number, low: -4, high: 4") };
    parties_make(&self.parties, data, PARTIES, NULL);
    self.parties.plan.method = &tacit_method_estimate;
    self.parties.plan.schema = self.schema;
    self.parties.plan.lambda = 0;
    tacit_model *model = parties_run(&self.parties, 1, NULL);
    for (size_t j = 0; j < FEATURES; j++) {
        const tacit_coefficient *one = &model->estimates->coefficient[j];
        CHECK_NEAR(one->estimate, truth[j], 6.2 * one->error);
        assert_true(one->error < 0.05);
    }
    CHECK_NEAR(model->estimates->dispersion, 0.0625, 0.02);
    tacit_model_free(model);
    world_end(&self);
}

/* ---- a journal in memory that fails at a chosen write ---- */

typedef struct memory {
    tacit_buffer record[MOST_RECORDS], checkpoint;
    uint64_t checkpoint_round;
    size_t writes, fail_at, checkpoints;
    tacit_transport inner;
    size_t asked, change_at;
} memory;

static tacit_status read_record(void *context, uint64_t round, bool *found, tacit_buffer *out,
                                tacit_error *error) {
    memory *self = context;
    assert_true(round < MOST_RECORDS);
    *found = self->record[round].length > 0;
    return *found ? tacit_buffer_append(out, self->record[round].bytes, self->record[round].length, error)
                  : TACIT_OK;
}

static tacit_status write_record(void *context, uint64_t round, const uint8_t *bytes, size_t length,
                                 tacit_error *error) {
    memory *self = context;
    assert_true(round < MOST_RECORDS);
    if (++self->writes == self->fail_at) return tacit_fail(error, TACIT_IO, "the disk is full");
    return tacit_buffer_append(&self->record[round], bytes, length, error);
}

static tacit_status read_checkpoint(void *context, bool *found, uint64_t *round, tacit_buffer *out,
                                    tacit_error *error) {
    memory *self = context;
    *found = self->checkpoint.length > 0;
    *round = self->checkpoint_round;
    return *found ? tacit_buffer_append(out, self->checkpoint.bytes, self->checkpoint.length, error)
                  : TACIT_OK;
}

static tacit_status write_checkpoint(void *context, uint64_t round, const uint8_t *bytes, size_t length,
                                     tacit_error *error) {
    memory *self = context;
    tacit_buffer_clear(&self->checkpoint);
    self->checkpoint_round = round;
    self->checkpoints++;
    for (uint64_t k = 0; k < round; k++) tacit_buffer_clear(&self->record[k]); /* as a registry may */
    return tacit_buffer_append(&self->checkpoint, bytes, length, error);
}

static void memory_clear(memory *self) {
    for (size_t k = 0; k < MOST_RECORDS; k++) tacit_buffer_clear(&self->record[k]);
    tacit_buffer_clear(&self->checkpoint);
}

/* Counts questions, and from one on speaks for one party fewer. */
static tacit_status ask_sum(void *context, const tacit_question *question, uint64_t *total, size_t *count,
                            tacit_error *error) {
    memory *self = context;
    TACIT_TRY(self->inner.ask_sum(self->inner.context, question, total, count, error));
    if (++self->asked == self->change_at) (*count)--;
    return TACIT_OK;
}

static tacit_status run(world *self, memory *kept, tacit_model **out, tacit_error *error) {
    tacit_journal journal = { read_record, write_record, read_checkpoint, write_checkpoint, kept };
    tacit_session session = parties_begin(&self->parties, 1);
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    session.journal = &journal;
    kept->inner = session.transport;
    session.transport.ask_sum = ask_sum;
    session.transport.context = kept;
    tacit_status status = session.plan->method->coordinate(&session, &outcome, error);
    if (status == TACIT_OK) {
        *out = outcome.models[0];
        outcome.count = 0;
    }
    tacit_outcome_clear(&outcome);
    return status;
}

static void a_run_that_died_is_taken_up_with_the_same_result(void **state) {
    (void)state;
    for (int response = TACIT_RESPONSE_CLASS; response <= TACIT_RESPONSE_COUNT; response++)
        for (int lbfgs = 0; lbfgs < 2; lbfgs++) {
            world self;
            tacit_error error = TACIT_ERROR_INIT;
            world_make(&self, (tacit_response)response, lbfgs ? "lbfgs" : "newton");
            memory whole = { .fail_at = 0 };
            tacit_model *model = NULL;
            CHECK_OK(run(&self, &whole, &model, &error), error);
            assert_int_equal(whole.asked, whole.writes);
            if (lbfgs && response != TACIT_RESPONSE_NUMBER) assert_true(whole.checkpoints > 0);
            for (size_t at = 1; at <= whole.writes; at++) {
                memory died = { .fail_at = at };
                tacit_model *again = NULL;
                assert_int_equal(run(&self, &died, &again, NULL), TACIT_IO);
                CHECK_OK(run(&self, &died, &again, &error), error);
                assert_memory_equal(again->weights, model->weights, FEATURES * sizeof *model->weights);
                assert_true(again->estimates->coefficient[0].error == model->estimates->coefficient[0].error);
                assert_int_equal(died.asked, whole.asked + 1); /* only the open question twice */
                tacit_model_free(again);
                memory_clear(&died);
            }
            tacit_model_free(model);
            memory_clear(&whole);
            world_end(&self);
        }
}

static void the_last_look_is_taken_up_too(void **state) {
    (void)state;
    world self;
    tacit_error error = TACIT_ERROR_INIT;
    world_make(&self, TACIT_RESPONSE_COUNT, "newton");
    CHECK_OK(tacit_plan_set(&self.parties.plan, "errors", "HC3", &error), error);
    CHECK_OK(tacit_plan_set(&self.parties.plan, "influence", "yes", &error), error);
    memory whole = { .fail_at = 0 };
    tacit_model *model = NULL;
    CHECK_OK(run(&self, &whole, &model, &error), error);
    assert_string_equal(model->estimates->errors, "HC3");
    CHECK_NEAR(model->estimates->influence.leverage, FEATURES, 1e-9);
    for (size_t back = 0; back < 2; back++) { /* the two rounds more */
        memory died = { .fail_at = whole.writes - back };
        tacit_model *again = NULL;
        assert_int_equal(run(&self, &died, &again, NULL), TACIT_IO);
        CHECK_OK(run(&self, &died, &again, &error), error);
        for (size_t j = 0; j < FEATURES; j++)
            assert_true(again->estimates->coefficient[j].error == model->estimates->coefficient[j].error);
        tacit_model_free(again);
        memory_clear(&died);
    }
    memory changed = { .change_at = whole.asked };
    tacit_model *none = NULL;
    assert_int_equal(run(&self, &changed, &none, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "other parties answered 'middle'"));
    memory_clear(&changed);
    tacit_model_free(model);
    memory_clear(&whole);
    world_end(&self);
}

static void other_parties_in_a_later_round_are_noticed(void **state) {
    (void)state;
    world self;
    world_make(&self, TACIT_RESPONSE_CLASS, "newton");
    for (size_t at = 2; at <= 5; at++) {
        memory kept = { .change_at = at };
        tacit_error error = TACIT_ERROR_INIT;
        tacit_model *model = NULL;
        assert_int_equal(run(&self, &kept, &model, &error), TACIT_REFUSED);
        assert_non_null(strstr(error.text, "other parties answered"));
        memory_clear(&kept);
    }
    world_end(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_estimate_solves_the_score_equations),
        cmocka_unit_test(wide_bounds_of_a_count_cost_nothing),
        cmocka_unit_test(the_truth_is_within_its_standard_errors),
        cmocka_unit_test(a_run_that_died_is_taken_up_with_the_same_result),
        cmocka_unit_test(the_last_look_is_taken_up_too),
        cmocka_unit_test(other_parties_in_a_later_round_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
