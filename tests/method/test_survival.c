/*
 * survival: no neighbour moves the vector beyond what is declared, which is nearly reached; without noise the report has the figures of
 * survival-exact; noise of either kind leaves the curve near.
 */
#include "check.h"

#include <math.h>

#include "lab/replay.h"
#include "parties.h"

enum { ROWS = 900, PARTIES = 3 };

static const char schema_text[] = "label: {name: [weeks, ill], kind: time, low: 0, high: 60}\n"
                                  "columns:\n"
                                  "  - {name: age, kind: number, low: 0, high: 1}\n"
                                  "  - {name: arm, kind: category, levels: [a, b]}\n";

typedef struct world {
    tacit_schema *schema;
    parties all;
} world;

static void make(world *out, const tacit_method *method) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(12);
    tacit_buffer text = TACIT_BUFFER_INIT;
    CHECK_OK(tacit_schema_parse(&out->schema, schema_text, sizeof schema_text - 1, "test", &error), error);
    CHECK_OK(tacit_buffer_print(&text, &error, "age,arm,weeks,ill\n"), error);
    for (size_t i = 0; i < ROWS; i++) {
        bool arm = tacit_stream_below(&stream, 2) > 0;
        double time = -log(tacit_stream_unit(&stream)) * (arm ? 60 : 30),
               seen = 10 + 50 * tacit_stream_unit(&stream);
        CHECK_OK(tacit_buffer_print(&text, &error, "%.3f,%s,%.3f,%d\n", tacit_stream_unit(&stream),
                                    i % 90 == 0 ? "elsewhere"
                                    : arm       ? "a"
                                                : "b",
                                    fmin(time, seen), time <= seen),
                 error);
    }
    parties_read(&out->all, &text, out->schema, PARTIES, method);
}

static void end(world *self) {
    parties_end(&self->all);
    tacit_schema_free(self->schema);
}

static void set(world *self, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(&self->all.plan, name, value, &error), error);
}

/* ---- sensitivity ---- */

/* Another time, the event or none, the other arm. */
static tacit_status replace_row(void *context, size_t number, tacit_pair *out, tacit_error *error) {
    const world *self = context;
    const tacit_dataset *data = self->all.data;
    tacit_stream stream = tacit_stream_from_seed(number);
    out->plan = self->all.plan;
    out->plan.epsilon = 1;
    out->statistic = TACIT_STATISTIC_PUBLISHED;
    out->split = split_in_blocks(ROWS, PARTIES);
    for (int side = 0; side < 2; side++) TACIT_TRY(tacit_pair_copy(&out->data[side], data, error));
    size_t row = tacit_stream_below(&stream, ROWS), other = tacit_stream_below(&stream, ROWS);
    double *before = out->data[0]->response + 2 * row, *after = out->data[1]->response + 2 * row;
    for (size_t j = 0; j < data->features; j++)
        out->data[1]->dense.values[row * data->features + j] = data->dense.values[other * data->features + j];
    after[0] = 60 * tacit_stream_unit(&stream);
    after[1] = (double)tacit_stream_below(&stream, 2);
    if (number % 3 == 0) { /* both in the first cell, with the event or without */
        before[0] = after[0] = 0.1;
        before[1] = 1;
        after[1] = 0;
    }
    return TACIT_OK;
}

static void one_row_moves_the_vector_by_no_more_than_declared(void **state) {
    static const char *const ways[][2] = { { "by", "none" }, { "by", "arm" }, { "width", "13" } };
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        world self;
        tacit_error error = TACIT_ERROR_INIT;
        tacit_replay replay;
        make(&self, &tacit_method_survival);
        set(&self, ways[k][0], ways[k][1]);
        CHECK_OK(tacit_replay_run(&replay, replace_row, &self, 60, 1, NULL, &error), error);
        print_message("# %s=%s: %.4f of what is declared\n", ways[k][0], ways[k][1], replay.ratio);
        assert_true(replay.ratio <= 1);
        assert_true(replay.ratio > 0.99);
        end(&self);
    }
}

/* ---- the report ---- */

static double cell(const tacit_model *model, const char *table, const char *row, const char *column) {
    const tacit_report_table *found = tacit_report_find(model->report, table);
    assert_non_null(found);
    return tacit_report_value(found, row, column);
}

static tacit_model *run(const tacit_method *method, double epsilon, const char *noise) {
    world self;
    make(&self, method);
    set(&self, "by", "arm");
    set(&self, "width", "3");
    set(&self, "until", "30");
    if (method == &tacit_method_survival_exact) set(&self, "least", "1");
    if (noise != NULL) set(&self, "noise", noise);
    self.all.plan.epsilon = epsilon;
    tacit_model *model = parties_run(&self.all, 4, NULL);
    end(&self);
    return model;
}

static void without_noise_the_figures_are_those_of_survival_exact(void **state) {
    static const char *const columns[] = { "at risk", "events", "censored", "survival", "hazard" };
    (void)state;
    tacit_model *exact = run(&tacit_method_survival_exact, INFINITY, NULL);
    tacit_model *same = run(&tacit_method_survival, INFINITY, NULL);
    assert_false(same->report->noisy);
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
        for (int week = 3; week <= 54; week += 3) {
            char label[8];
            snprintf(label, sizeof label, "%d", week);
            double theirs = cell(exact, "curve a", label, columns[k]);
            assert_true(fabs(cell(same, "curve a", label, columns[k]) - theirs) <= 1e-5 * fmax(1, theirs));
        }
    CHECK_NEAR(cell(same, "groups", "b", "median"), cell(exact, "groups", "b", "median"), 0);
    CHECK_NEAR(cell(same, "groups", "b", "mean"), cell(exact, "groups", "b", "mean"), 1e-5);
    assert_true(fabs(cell(same, "groups", "b", "mean error") / cell(exact, "groups", "b", "mean error") - 1) <
                0.2);
    CHECK_NEAR(cell(same, "tests", "log-rank", "chi-square"), cell(exact, "tests", "log-rank", "chi-square"),
               1e-3);
    tacit_model_free(exact);
    tacit_model_free(same);
}

/* Seeded; at epsilon 20 the noise in a prefix sum is below two rows. */
static void little_noise_leaves_curves_near_and_is_told_of(void **state) {
    static const char *const ways[] = { "shares", "party" };
    (void)state;
    tacit_model *exact = run(&tacit_method_survival_exact, INFINITY, NULL);
    for (size_t k = 0; k < 2; k++) {
        tacit_model *noisy = run(&tacit_method_survival, 20, ways[k]);
        assert_true(noisy->report->noisy);
        CHECK_NEAR(noisy->report->rows, ROWS, 0);
        for (int week = 3; week <= 36; week += 3) {
            char label[8];
            snprintf(label, sizeof label, "%d", week);
            double here = cell(noisy, "curve b", label, "survival");
            assert_true(fabs(here - cell(exact, "curve b", label, "survival")) < 0.05);
            assert_true(cell(noisy, "curve b", label, "error") > 0);
            assert_true(cell(noisy, "curve b", label, "low") <= here &&
                        here <= cell(noisy, "curve b", label, "high"));
        }
        assert_true(cell(noisy, "tests", "log-rank", "p") < 1e-4);
        tacit_model_free(noisy);
    }
    tacit_model_free(exact);
}

static void too_many_cells_are_refused(void **state) {
    (void)state;
    world self;
    tacit_error error = TACIT_ERROR_INIT;
    make(&self, &tacit_method_survival);
    set(&self, "width", "0.01");
    self.all.plan.epsilon = 1;
    assert_int_equal(tacit_plan_check(&self.all.plan, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "choose a larger width"));
    end(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_row_moves_the_vector_by_no_more_than_declared),
        cmocka_unit_test(without_noise_the_figures_are_those_of_survival_exact),
        cmocka_unit_test(little_noise_leaves_curves_near_and_is_told_of),
        cmocka_unit_test(too_many_cells_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
