/*
 * histogram: counts are those of the rows, one replaced row moves two of them by 1, an audit finds most of
 * epsilon and no more, and the grid is what the schema and the declared numbers say.
 */
#include "check.h"

#include "lab/audit/audit.h"
#include "lab/replay.h"
#include "parties.h"

enum { ROWS = 60, PARTIES = 3 };

static void make(parties *out, size_t features, const char *cells) {
    tacit_error error = TACIT_ERROR_INIT;
    parties_make(out, ball(ROWS, features, 3), PARTIES, NULL);
    out->plan.method = &tacit_method_histogram;
    CHECK_OK(tacit_plan_set(&out->plan, "cells", cells, &error), error);
}

static void counts_are_those_of_the_rows(void **state) {
    (void)state;
    enum { CELLS = 4 };
    parties self;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream seed = tacit_stream_from_seed(1);
    double *published = NULL, expected[CELLS * CELLS * 2] = { 0 };
    size_t length = 0;
    make(&self, 2, "4");
    for (size_t i = 0; i < ROWS; i++) {
        const double *x = self.data->dense.values + 2 * i;
        size_t a = (size_t)floor((x[0] + 1) * 2), b = (size_t)floor((x[1] + 1) * 2);
        expected[(a * CELLS + b) * 2 + (size_t)self.data->label[i]]++;
    }
    CHECK_OK(
        tacit_pair_run(&published, &length, self.local, &self.plan, TACIT_STATISTIC_PUBLISHED, &seed, &error),
        error);
    assert_int_equal(length, CELLS * CELLS * 2);
    for (size_t r = 0; r < length; r++) CHECK_NEAR(published[r], expected[r], 0);
    free(published);
    parties_end(&self);
}

/* Without noise and with fine cells the model is that of the rows themselves. */
static void fine_cells_give_the_model_of_the_rows(void **state) {
    (void)state;
    parties self;
    make(&self, 2, "400");
    self.plan.lambda = 0.01;
    tacit_model *cells = parties_run(&self, 1, NULL), *rows = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_view all = tacit_dataset_view(self.data);
    CHECK_OK(tacit_model_fit_linear(&rows, &all, &(tacit_linear_fit){ .lambda = 0.01 }, &error), error);
    for (size_t j = 0; j < 2; j++)
        CHECK_NEAR(cells->weights[j], rows->weights[j], 0.02 * (1 + fabs(rows->weights[j])));
    tacit_model_free(cells);
    tacit_model_free(rows);
    parties_end(&self);
}

static tacit_status replace_row(void *context, size_t number, tacit_pair *out, tacit_error *error) {
    const parties *self = context;
    tacit_stream stream = tacit_stream_from_seed(number);
    out->plan = self->plan;
    out->plan.epsilon = 1;
    out->statistic = TACIT_STATISTIC_PUBLISHED;
    out->split = split_in_blocks(ROWS, PARTIES);
    for (int side = 0; side < 2; side++) TACIT_TRY(tacit_pair_copy(&out->data[side], self->data, error));
    size_t row = tacit_stream_below(&stream, ROWS), other = tacit_stream_below(&stream, ROWS);
    memcpy(out->data[1]->dense.values + 2 * row, self->data->dense.values + 2 * other, 2 * sizeof(double));
    out->data[1]->label[row] = (int32_t)tacit_stream_below(&stream, 2);
    return TACIT_OK;
}

static void one_row_moves_two_counts(void **state) {
    (void)state;
    parties self;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_replay replay;
    make(&self, 2, "5");
    CHECK_OK(tacit_replay_run(&replay, replace_row, &self, 200, 1, NULL, &error), error);
    CHECK_NEAR(replay.ratio, 1, 1e-12);
    parties_end(&self);
}

/* The bound fails with probability 1e-9; the pair uses all of epsilon, so that little less must be found. */
static void an_audit_finds_epsilon_and_no_more(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_audit audit = { .setup = { .epsilon = 1 }, .runs = 20000, .confidence = 1 - 1e-9, .seed = 9 };
    tacit_audit_result result;
    CHECK_OK(tacit_auditable_require(&audit.subject, "histogram", &error), error);
    CHECK_OK(tacit_audit_run(&result, &audit, &error), error);
    assert_false(result.broken);
    assert_true(result.epsilon_lower > 0.7);
    CHECK_NEAR(result.reach, 1, 1e-12);
}

static void the_grid_follows_public_numbers(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_plan plan = { .method = &tacit_method_histogram,
                        .study = "test",
                        .epsilon = 1,
                        .lambda = 0.1,
                        .features = 2,
                        .classes = 2,
                        .parties = 10,
                        .minimum_parties = 1,
                        .minimum_rows = 100 };
    tacit_noise_law law;
    CHECK_OK(tacit_plan_noise(&plan, &law, &error), error);
    /* h = (2 sqrt 2 sqrt(log 1000)/1000)^(1/2) = 0.0862: 12 cells */
    assert_int_equal(law.dimension, 12 * 12 * 2);
    plan.minimum_rows = 100000000;
    CHECK_OK(tacit_plan_noise(&plan, &law, &error), error);
    assert_true(law.dimension <= 1 << 20);
    plan.features = 5;
    assert_int_equal(tacit_plan_check(&plan, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "at most 4 columns"));
    plan.features = 4;
    CHECK_OK(tacit_plan_set(&plan, "cells", "1000", &error), error);
    assert_int_equal(tacit_plan_check(&plan, &error), TACIT_USAGE);
}

static void a_schema_gives_levels_and_a_cell_for_none(void **state) {
    (void)state;
    static const char text[] = "label: {name: y, classes: [a, b]}\ncolumns:\n"
                               "  - {name: u, kind: number, low: 0, high: 10}\n"
                               "  - {name: id, kind: skip}\n"
                               "  - {name: v, kind: category, levels: [p, q, r]}\n";
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = NULL;
    CHECK_OK(tacit_schema_parse(&schema, text, sizeof text - 1, "test", &error), error);
    tacit_plan plan = { .method = &tacit_method_histogram,
                        .study = "test",
                        .epsilon = 1,
                        .lambda = 0.1,
                        .features = 5,
                        .classes = 2,
                        .parties = 1,
                        .minimum_parties = 1,
                        .minimum_rows = 50,
                        .schema = schema };
    tacit_noise_law law;
    CHECK_OK(tacit_plan_set(&plan, "cells", "6", &error), error);
    CHECK_OK(tacit_plan_noise(&plan, &law, &error), error);
    assert_int_equal(law.dimension, 6 * 4 * 2);
    tacit_schema_free(schema);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_the_rows),
        cmocka_unit_test(fine_cells_give_the_model_of_the_rows),
        cmocka_unit_test(one_row_moves_two_counts),
        cmocka_unit_test(an_audit_finds_epsilon_and_no_more),
        cmocka_unit_test(the_grid_follows_public_numbers),
        cmocka_unit_test(a_schema_gives_levels_and_a_cell_for_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
