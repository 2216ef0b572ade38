/*
 * dpcox: no neighbour moves an answer beyond what is declared, which is nearly reached, and a sensitivity
 * that is a tenth too small would be noticed; a party answers a question in its place only, whatever numbers
 * are in it; without noise the coefficients, their errors and the baseline are those of cox; with noise of
 * each kind they are near, the table says so, and goes into a model's file and back.
 *
 * Seeds are fixed, so the outcome is always the same.
 */
#include "check.h"

#include <math.h>
#include <string.h>

#include "method/time/dpcox.h"
#include "parties.h"

enum { ROWS = 3000, PARTIES = 3, COLUMNS = 3, WIDTH = COLUMNS + DPCOX_CLOCK, CELLS = 20 };

static const char schema_text[] = "label: {name: [weeks, ill], kind: time, low: 0, high: 60}\n"
                                  "columns:\n"
                                  "  - {name: age, kind: number, low: 0, high: 1}\n"
                                  "  - {name: arm, kind: category, levels: [a, b, c]}\n"
                                  "intercept: yes\n";

typedef struct world {
    tacit_schema *schema;
    parties all;
} world;

static void set(world *self, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(&self->all.plan, name, value, &error), error);
}

/* Hazards exp(1.2 age + .8 [arm b])/60, everybody seen for 10 to 60 weeks. */
static void make(world *out, const tacit_method *method, const char *noise) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(12);
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_input *input = NULL;
    tacit_dataset *data = NULL;
    CHECK_OK(tacit_schema_parse(&out->schema, schema_text, sizeof schema_text - 1, "test", &error), error);
    CHECK_OK(tacit_buffer_print(&text, &error, "age,arm,weeks,ill\n"), error);
    for (size_t i = 0; i < ROWS; i++) {
        size_t arm = tacit_stream_below(&stream, 3);
        double age = tacit_stream_unit(&stream), risk = exp(1.2 * age + 0.8 * (arm == 1)) / 60;
        double time = -log(tacit_stream_unit(&stream)) / risk, seen = 10 + 50 * tacit_stream_unit(&stream);
        CHECK_OK(tacit_buffer_print(&text, &error, "%.3f,%c,%.3f,%d\n", age, "abc"[arm], fmin(time, seen),
                                    time <= seen),
                 error);
    }
    CHECK_OK(tacit_input_open_memory(&input, text.bytes, text.length, "rows.csv", &error), error);
    CHECK_OK(tacit_dataset_read(&data, NULL, input, out->schema, NULL, &error), error);
    tacit_input_free(input);
    tacit_buffer_clear(&text);
    parties_make(&out->all, data, PARTIES, NULL);
    out->all.plan.method = method;
    out->all.plan.schema = out->schema;
    out->all.plan.delta = 1e-5;
    out->all.plan.lambda = 0;
    set(out, "width", "3");
    if (noise != NULL) set(out, "noise", noise);
}

static void end(world *self) {
    parties_end(&self->all);
    tacit_schema_free(self->schema);
}

/* ---- sensitivity ---- */

typedef struct question {
    double weights[WIDTH], hazard[CELLS], clock[CELLS];
} question;

/* What a question in a round gives; noise=coordinator, so that it is exact. */
static tacit_status answer(world *self, uint64_t round, const question *at, double *out, tacit_error *error) {
    tacit_stream root = tacit_stream_from_seed(1);
    dpcox_design design;
    tacit_session session;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_TRY(dpcox_describe(&self->all.plan, &design, error));
    const tacit_sum_spec *spec = at == NULL ? &design.counts : &design.scores;
    TACIT_CHECK(tacit_local_begin(self->all.local, &self->all.plan, &root, NULL, &session, error));
    session.round = round;
    if (at != NULL) {
        TACIT_CHECK(tacit_message_add_numbers(&message, "weights", at->weights, WIDTH, error));
        TACIT_CHECK(tacit_message_add_numbers(&message, "hazard", at->hazard, CELLS, error));
        TACIT_CHECK(tacit_message_add_numbers(&message, "clock", at->clock, CELLS, error));
    }
    TACIT_CHECK(tacit_ask_sum(&session, at == NULL ? "counts" : "scores", &message, spec, &sum, error));
    memcpy(out, sum.values, spec->length * sizeof *out);
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    dpcox_clear(&design);
    return status;
}

/* Questions that an honest coordinator might ask, and those that none would. */
static question draw_question(tacit_stream *stream, int kind) {
    static const double size[] = { 0, 2, 40, 1e9, 1e308 };
    question out;
    for (size_t j = 0; j < WIDTH; j++) out.weights[j] = (tacit_stream_unit(stream) - 0.5) * size[kind % 5];
    for (size_t c = 0; c < CELLS; c++) {
        out.hazard[c] = tacit_stream_unit(stream) * (kind % 2 == 0 ? 0.05 : 3);
        out.clock[c] = tacit_stream_unit(stream) * (kind % 7 == 0 ? 1e300 : 1);
    }
    if (kind % 11 == 0) out.hazard[3] = -1e308;
    return out;
}

/* Row 0 becomes another: any columns in the ball, any time, with the event or without. */
static void change_row(tacit_dataset *data, tacit_stream *stream) {
    double *row = data->dense.values;
    size_t arm = tacit_stream_below(stream, 3);
    row[0] = (tacit_stream_below(stream, 2) > 0 ? 1 : -1) * 0.5;
    for (size_t k = 0; k < 3; k++) row[1 + k] = k == arm ? 0.5 : 0;
    data->response[0] = tacit_stream_below(stream, 3) == 0 ? 0.1 : 60 * tacit_stream_unit(stream);
    data->response[1] = (double)tacit_stream_below(stream, 2);
}

static double distance(const double *a, const double *b, size_t count) {
    double square = 0;
    for (size_t j = 0; j < count; j++) square += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(square);
}

static void no_neighbour_moves_an_answer_beyond_what_is_declared(void **state) {
    enum { NEIGHBOURS = 200, COUNTS = DPCOX_HEAD + 2 * CELLS, SCORES = WIDTH + WIDTH * (WIDTH + 1) / 2 };
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(29);
    double most[2] = { 0 };
    world self;
    dpcox_design design;
    make(&self, &tacit_method_dpcox, "coordinator");
    self.all.plan.epsilon = 1;
    CHECK_OK(dpcox_describe(&self.all.plan, &design, &error), error);
    assert_int_equal(design.scores.length, SCORES);
    tacit_dataset *data = self.all.data;
    for (int i = 0; i < NEIGHBOURS; i++) {
        double before[2][COUNTS > SCORES ? COUNTS : SCORES], after[2][COUNTS > SCORES ? COUNTS : SCORES];
        question at = draw_question(&stream, i);
        change_row(data, &stream);
        CHECK_OK(answer(&self, 0, NULL, before[0], &error), error);
        CHECK_OK(answer(&self, 1, &at, before[1], &error), error);
        change_row(data, &stream);
        CHECK_OK(answer(&self, 0, NULL, after[0], &error), error);
        CHECK_OK(answer(&self, 1, &at, after[1], &error), error);
        for (size_t j = 0; j < SCORES; j++) assert_true(isfinite(before[1][j]));
        most[0] = fmax(most[0], distance(before[0], after[0], COUNTS));
        most[1] = fmax(most[1], distance(before[1], after[1], SCORES));
    }
    for (int q = 0; q < 2; q++) {
        double declared = design.release[q].mechanism.sensitivity;
        print_message("# question %d: %.4f of what is declared\n", q, most[q] / declared);
        assert_true(most[q] <= declared);
        assert_true(most[q] > 0.9 * declared); /* one that is a tenth smaller would be noticed */
    }
    dpcox_clear(&design);
    end(&self);
}

static void a_party_answers_a_question_in_its_place_only(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(3);
    question at = draw_question(&stream, 1);
    double out[100];
    world self;
    make(&self, &tacit_method_dpcox, "coordinator");
    self.all.plan.epsilon = 1;
    assert_int_equal(answer(&self, 1, NULL, out, &error), TACIT_REFUSED);
    assert_int_equal(answer(&self, 0, &at, out, &error), TACIT_REFUSED);
    assert_int_equal(answer(&self, DPCOX_STEPS + 1, &at, out, &error), TACIT_REFUSED);
    CHECK_OK(answer(&self, DPCOX_STEPS, &at, out, &error), error);
    end(&self);
}

/* ---- estimates ---- */

static tacit_model *run(const tacit_method *method, double epsilon, const char *noise) {
    world self;
    make(&self, method, noise);
    if (method == &tacit_method_cox) set(&self, "least", "1");
    self.all.plan.epsilon = epsilon;
    tacit_model *model = parties_run(&self.all, 4, NULL);
    end(&self);
    return model;
}

static double rise(const tacit_model *model, double until) {
    const tacit_baseline *baseline = model->estimates->baseline;
    double sum = 0;
    for (size_t k = 0; k < baseline->count && baseline->step[k].time <= until; k++)
        sum += baseline->step[k].hazard;
    return sum;
}

static void without_noise_the_estimates_are_those_of_cox(void **state) {
    (void)state;
    tacit_model *exact = run(&tacit_method_cox, INFINITY, NULL);
    tacit_model *same = run(&tacit_method_dpcox, INFINITY, NULL);
    assert_int_equal(same->estimates->count, COLUMNS);
    for (size_t k = 0; k < COLUMNS; k++) {
        const tacit_coefficient *one = &same->estimates->coefficient[k],
                                *theirs = &exact->estimates->coefficient[k];
        assert_string_equal(one->name, theirs->name);
        assert_true(fabs(one->estimate - theirs->estimate) < 0.2 * theirs->error);
        assert_true(fabs(one->error / theirs->error - 1) < 0.05);
        CHECK_NEAR(one->noise, 0, 1e-12);
    }
    assert_true(fabs(rise(same, 45) / rise(exact, 45) - 1) < 0.05);
    tacit_model_free(exact);
    tacit_model_free(same);
}

static void noise_of_each_kind_leaves_them_near_and_is_in_their_errors(void **state) {
    static const char *const ways[] = { "shares", "party", "coordinator" };
    (void)state;
    tacit_model *exact = run(&tacit_method_cox, INFINITY, NULL);
    for (size_t w = 0; w < 3; w++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_model *noisy = run(&tacit_method_dpcox, 4, ways[w]);
        assert_true(noisy->estimates->noisy);
        CHECK_NEAR(noisy->estimates->rows, ROWS, 0);
        for (size_t k = 0; k < COLUMNS; k++) {
            const tacit_coefficient *one = &noisy->estimates->coefficient[k];
            double truth = exact->estimates->coefficient[k].estimate;
            assert_true(fabs(one->estimate - truth) < 4 * one->error);
            assert_true(one->error > 1.05 * exact->estimates->coefficient[k].error);
            assert_true(one->noise > 0.1 && one->noise < 1);
        }
        json_t *document = tacit_estimates_to_json(noisy->estimates);
        tacit_estimates *again = NULL;
        CHECK_OK(tacit_estimates_from_json(&again, document, &error), error);
        CHECK_NEAR(again->coefficient[1].error, noisy->estimates->coefficient[1].error, 0);
        assert_int_equal(again->baseline->count, noisy->estimates->baseline->count);
        json_decref(document);
        tacit_estimates_free(again);
        tacit_model_free(noisy);
    }
    tacit_model_free(exact);
}

static void what_the_method_does_not_take_is_refused_in_advance(void **state) {
    static const char late[] = "label: {name: [since, weeks, ill], kind: time, low: 0, high: 60}\n"
                               "columns:\n  - {name: age, kind: number, low: 0, high: 1}\n";
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = NULL;
    world self;
    make(&self, &tacit_method_dpcox, NULL);
    self.all.plan.epsilon = 1;
    CHECK_OK(tacit_plan_check(&self.all.plan, &error), error);
    set(&self, "width", "0.01");
    assert_int_equal(tacit_plan_check(&self.all.plan, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "larger width"));
    set(&self, "width", "3");
    error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(tacit_schema_parse(&schema, late, sizeof late - 1, "test", &error), error);
    self.all.plan.schema = schema;
    self.all.plan.features = tacit_schema_features(schema);
    assert_int_equal(tacit_plan_check(&self.all.plan, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "'since'"));
    tacit_schema_free(schema);
    end(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_neighbour_moves_an_answer_beyond_what_is_declared),
        cmocka_unit_test(a_party_answers_a_question_in_its_place_only),
        cmocka_unit_test(without_noise_the_estimates_are_those_of_cox),
        cmocka_unit_test(noise_of_each_kind_leaves_them_near_and_is_in_their_errors),
        cmocka_unit_test(what_the_method_does_not_take_is_refused_in_advance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
