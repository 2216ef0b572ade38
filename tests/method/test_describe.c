/*
 * describe: exact numbers are those of the rows, one row moves the vector by no more than is declared, and exact counts of too few rows
 * are held back. How often noise intervals cover is in test_describe_coverage.c.
 */
#include "check.h"

#include <math.h>

#include "described_rows.h"
#include "lab/replay.h"
#include "method/tables/describe.h"

static double cell(const tacit_model *model, const char *table, const char *row, const char *column) {
    const tacit_report_table *found = tacit_report_find(model->report, table);
    assert_non_null(found);
    return tacit_report_value(found, row, column);
}

static void exact_numbers_are_those_of_the_rows(void **state) {
    (void)state;
    world self;
    make(&self, &tacit_method_describe_exact);
    set(&self, "threshold", "0");
    set(&self, "by", "outcome");
    set(&self, "cross", "site*outcome,arm*outcome");
    tacit_model *model = parties_run(&self.all, 1, NULL);
    double mean = self.sum / self.ages;
    CHECK_NEAR(model->report->rows, ROWS, 0);
    CHECK_NEAR(cell(model, "numbers", "age", "count"), self.ages, 0);
    CHECK_NEAR(cell(model, "numbers", "age", "missing"), ROWS - self.ages, 0);
    CHECK_NEAR(cell(model, "numbers", "age", "mean"), mean, 1e-7);
    CHECK_NEAR(cell(model, "numbers", "age", "sd"),
               sqrt((self.squares - self.ages * mean * mean) / (self.ages - 1)), 1e-7);
    CHECK_NEAR(cell(model, "levels", "site=a", "count"), self.sites[0], 0);
    CHECK_NEAR(cell(model, "levels", "site=(missing)", "count"), self.sites[3], 0);
    double by = cell(model, "numbers", "age [outcome=no]", "count") +
                cell(model, "numbers", "age [outcome=yes]", "count");
    CHECK_NEAR(by, self.ages, 0);
    CHECK_NEAR(cell(model, "levels", "arm=x", "count") + cell(model, "levels", "arm=y", "count"), ROWS, 0);
    assert_true(cell(model, "tests", "site*outcome", "df") == 2);
    tacit_model_free(model);
    end(&self);
}

typedef struct covering {
    const char *table, *row, *column;
    double truth;
    size_t covered;
} covering;

static double error_of(const tacit_model *model, const covering *one) {
    const tacit_report_table *table = tacit_report_find(model->report, one->table);
    return table
        ->error[tacit_report_row(table, one->row) * table->cols + tacit_report_column(table, one->column)];
}

/* ---- small cells of exact sums ---- */

/* A study among `count` parties, each with its part of the rows, and what they send in exact mode. */
typedef struct small_study {
    world world;
    describe_design design;
    size_t count;
    double *truth, *bounds, *sum, **each; /* of the design's length */
    bool *told;
} small_study;

static tacit_party party_of(small_study *self, size_t k) {
    tacit_party party = { .plan = &self->world.all.plan, .rows = tacit_dataset_view(self->world.all.data) };
    size_t rows = ROWS / self->count;
    party.rows = tacit_view_slice(&party.rows, k * rows, rows);
    party.total_rows = rows;
    return party;
}

static void begin_small(small_study *self, size_t count, const char *by, double minimum, bool clear) {
    tacit_error error = TACIT_ERROR_INIT;
    *self = (small_study){ .count = count };
    make(&self->world, &tacit_method_describe_exact);
    tacit_plan *plan = &self->world.all.plan;
    plan->parties = plan->minimum_parties = count;
    plan->sums = clear ? TACIT_SUMS_CLEAR : TACIT_SUMS_MASKED;
    set(&self->world, "by", by);
    set(&self->world, "cross", "site*arm,arm*outcome");
    CHECK_OK(describe_make(&self->design, plan, &error), error);
    size_t length = self->design.length;
    self->truth = calloc(length, sizeof(double));
    self->bounds = calloc(length, sizeof(double));
    self->sum = calloc(length, sizeof(double));
    self->each = calloc(count, sizeof *self->each);
    self->told = calloc(self->design.places, sizeof(bool));
    assert_true(self->truth != NULL && self->bounds != NULL && self->sum != NULL && self->each != NULL);
    assert_non_null(self->told);
    const describe_rule rule = describe_rule_of(plan, true, minimum);
    double *bounds = calloc(length, sizeof *bounds);
    for (size_t k = 0; k < count; k++) {
        tacit_party party = party_of(self, k);
        self->each[k] = calloc(length, sizeof(double));
        assert_true(self->each[k] != NULL && bounds != NULL);
        CHECK_OK(describe_sums(&party, &self->design, self->each[k], &error), error);
        memset(bounds, 0, length * sizeof *bounds);
        describe_bounds(&self->design, self->each[k], &rule, bounds);
        for (size_t j = 0; j < length; j++) self->truth[j] += self->each[k][j];
        for (size_t j = 0; j < length; j++) self->bounds[j] += bounds[j];
    }
    free(bounds);
    describe_choose(&self->design, self->bounds, self->told);
    if (!describe_groups_told(&self->design, self->told)) return;
    for (size_t k = 0; k < count; k++) {
        CHECK_OK(describe_merge(&self->design, self->told, &rule, self->each[k], &error), error);
        for (size_t j = 0; j < length; j++) self->sum[j] += self->each[k][j];
    }
}

static void end_small(small_study *self) {
    for (size_t k = 0; k < self->count; k++) free(self->each[k]);
    free(self->truth);
    free(self->bounds);
    free(self->sum);
    free(self->each);
    free(self->told);
    describe_clear(&self->design);
    end(&self->world);
}

static const describe_variable *variable_of(const small_study *self, const char *name) {
    for (size_t k = 0; k < self->design.variables; k++)
        if (strcmp(self->design.variable[k].name, name) == 0) return &self->design.variable[k];
    fail();
    return NULL;
}

static size_t told_of(const small_study *self, const char *name) {
    const describe_variable *one = variable_of(self, name);
    size_t told = 0, all = one->number ? tacit_count_tree_leaves(self->design.tree) : one->cells;
    for (size_t j = 0; j < all; j++) told += self->told[one->place + j];
    return told;
}

/* Every count but those of missing numbers is 0 or at least `minimum`, in what `values` has. */
static void check_none_small(const small_study *self, const double *values, double minimum) {
    const describe_design *design = &self->design;
    tacit_count_tree tree = design->tree;
    size_t leaf = tacit_count_tree_level(tree, tree.depth), leaves = tacit_count_tree_leaves(tree);
    for (size_t k = 0; k < design->variables; k++) {
        const describe_variable *one = &design->variable[k];
        size_t size = describe_counts(design, one), first = one->number ? leaf : 0;
        for (size_t g = 0; g < one->groups; g++)
            for (size_t j = first; j < (one->number ? leaf + leaves : size); j++) {
                double count = values[one->counts + g * size + j];
                assert_true(count == 0 || count >= minimum);
            }
    }
    size_t tables = design->pair[0].counts;
    for (size_t j = tables; j < design->length; j++) assert_true(values[j] == 0 || values[j] >= minimum);
}

/* Twenty sites of 30 rows: none has ten rows in a cell of a number, all together have. Site c has three rows in
 * all, and is told with another level. */
static void counts_are_told_where_all_parties_have_enough_rows(void **state) {
    static const char *const groups[] = { "none", "outcome" };
    (void)state;
    for (size_t way = 0; way < 2; way++) {
        small_study self;
        begin_small(&self, 20, groups[way], 10, false);
        assert_true(describe_groups_told(&self.design, self.told));
        check_none_small(&self, self.sum, 10);
        for (size_t j = 1; j < self.design.length; j++) /* bounds are bounds */
            assert_true(self.bounds[j] <= self.truth[j] || self.bounds[j] == 0);
        print_message("# %zu pieces of age, %zu of dose\n", told_of(&self, "age"), told_of(&self, "dose"));
        assert_true(told_of(&self, "age") >= (way == 0 ? 20 : 12));
        const describe_variable *site = variable_of(&self, "site"), *arm = variable_of(&self, "arm");
        assert_true(!self.told[site->place + 2] && (way == 1 || told_of(&self, "site") == 2));
        assert_true(told_of(&self, "arm") == arm->cells);
        assert_true(!self.told[self.design.pair[0].place] && self.told[self.design.pair[1].place]);
        CHECK_NEAR(self.sum[arm->counts], self.truth[arm->counts], 0);
        end_small(&self);
    }
}

/* Where the coordinator sees single contributions, and where an owner wants more rows than the study does, each
 * party's own counts have enough. The control: with the sum alone held to the threshold they have not. */
static void a_party_that_is_seen_alone_holds_its_own_counts_to_the_minimum(void **state) {
    (void)state;
    static const struct {
        double minimum;
        bool clear, alone;
    } ways[] = { { 10, true, true }, { 12, false, true }, { 10, false, false } };
    for (size_t way = 0; way < 3; way++) {
        small_study self;
        begin_small(&self, 3, "none", ways[way].minimum, ways[way].clear);
        double least = INFINITY;
        for (size_t k = 0; k < 3; k++)
            for (size_t j = 1; j < self.design.length; j++)
                if (self.each[k][j] > 0 && self.each[k][j] == floor(self.each[k][j]))
                    least = fmin(least, self.each[k][j]);
        for (size_t k = 0; ways[way].alone && k < 3; k++)
            check_none_small(&self, self.each[k], ways[way].minimum);
        if (!ways[way].alone) assert_true(least < 10);
        assert_true(told_of(&self, "age") > 4 && told_of(&self, "arm") == 3);
        end_small(&self);
    }
}

/* What a coordinator that lies may ask of a real party that is seen alone: everything, or pieces that are no
 * cells of the tree, so that those of two studies might differ by few rows. */
static void a_party_refuses_to_tell_what_it_objects_to(void **state) {
    (void)state;
    world self;
    describe_design design;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_policy policy = tacit_policy_default();
    tacit_gate gate = { .policy = &policy, .mode = TACIT_GATE_REAL };
    make(&self, &tacit_method_describe_exact);
    self.all.plan.sums = TACIT_SUMS_CLEAR;
    CHECK_OK(describe_make(&design, &self.all.plan, &error), error);
    tacit_party party = {
        .plan = &self.all.plan, .rows = tacit_dataset_view(self.all.data), .total_rows = ROWS, .gate = &gate
    };
    int64_t *told = calloc(design.places, sizeof *told);
    assert_non_null(told);
    for (int way = 0; way < 4; way++) { /* nothing, all, halves, thirds */
        tacit_message message = TACIT_MESSAGE_INIT;
        tacit_reply reply = { .message = TACIT_MESSAGE_INIT };
        for (size_t k = 0; k < design.places; k++) told[k] = way == 1;
        size_t age = design.variable[1].place;
        if (way >= 2) told[age] = told[age + (way == 2 ? 128 : 85)] = 1;
        CHECK_OK(tacit_message_add_integers(&message, "grouped", &(int64_t){ 0 }, 1, &error), error);
        CHECK_OK(tacit_message_add_integers(&message, "told", told, design.places, &error), error);
        tacit_question question = { .message = &message, .wants_sum = true, .sum = design.release.spec };
        tacit_status status = tacit_method_describe_exact.handlers[1].answer(&party, &question, &reply, NULL);
        assert_int_equal(status, way % 2 == 0 ? TACIT_OK : TACIT_REFUSED);
        tacit_reply_clear(&reply);
        tacit_message_clear(&message);
    }
    free(told);
    describe_clear(&design);
    end(&self);
}

typedef struct shelf {
    uint8_t bytes[256];
    size_t length;
} shelf;

static tacit_status take(void *context, const char *name, bool *found, tacit_buffer *out,
                         tacit_error *error) {
    const shelf *self = context;
    (void)name;
    *found = self->length > 0;
    return tacit_buffer_append(out, self->bytes, self->length, error);
}

static tacit_status put(void *context, const char *name, const uint8_t *bytes, size_t length,
                        tacit_error *error) {
    shelf *self = context;
    (void)name;
    (void)error;
    assert_true(length <= sizeof self->bytes);
    memcpy(self->bytes, bytes, length);
    self->length = length;
    return TACIT_OK;
}

/* A coordinator that lies asks for halves of a number, and then for the same with one border moved: the difference would
 * be the rows between the two. */
static void a_coordinator_is_held_to_one_choice_of_cells(void **state) {
    (void)state;
    world self;
    describe_design design;
    shelf kept = { .length = 0 };
    const tacit_keep keep = { take, put, &kept };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_policy policy = tacit_policy_default();
    tacit_gate gate = { .policy = &policy, .mode = TACIT_GATE_REAL };
    make(&self, &tacit_method_describe_exact);
    self.all.plan.minimum_parties = PARTIES;
    CHECK_OK(describe_make(&design, &self.all.plan, &error), error);
    tacit_party party = { .plan = &self.all.plan,
                          .rows = tacit_dataset_view(self.all.data),
                          .total_rows = ROWS,
                          .gate = &gate,
                          .keep = &keep };
    int64_t *told = calloc(design.places, sizeof *told);
    assert_non_null(told);
    for (int way = 0; way < 3; way++) { /* halves, halves again, another border */
        tacit_message message = TACIT_MESSAGE_INIT;
        tacit_reply reply = { .message = TACIT_MESSAGE_INIT };
        size_t age = design.variable[1].place;
        memset(told, 0, design.places * sizeof *told);
        told[age] = told[age + (way < 2 ? 128 : 129)] = 1;
        CHECK_OK(tacit_message_add_integers(&message, "grouped", &(int64_t){ 0 }, 1, &error), error);
        CHECK_OK(tacit_message_add_integers(&message, "told", told, design.places, &error), error);
        tacit_question question = { .message = &message, .wants_sum = true, .sum = design.release.spec };
        tacit_status status = tacit_method_describe_exact.handlers[1].answer(&party, &question, &reply, NULL);
        assert_int_equal(status, way < 2 ? TACIT_OK : TACIT_REFUSED);
        tacit_reply_clear(&reply);
        tacit_message_clear(&message);
    }
    free(told);
    describe_clear(&design);
    end(&self);
}

/* ---- sites apart ---- */

/* The first party's rows, described alone, are the figures of its site; with noise these are near them, and the errors of
 * all rows are those of three sites. Seeded. */
static void figures_of_sites_are_those_of_their_rows(void **state) {
    (void)state;
    world self;
    make(&self, &tacit_method_describe_exact);
    set(&self, "threshold", "0");
    tacit_model *pooled = parties_run(&self.all, 1, NULL);
    set(&self, "sites", "apart");
    tacit_model *model = parties_run(&self.all, 1, NULL);
    CHECK_NEAR(cell(model, "numbers", "age", "mean"), cell(pooled, "numbers", "age", "mean"), 1e-9);
    CHECK_NEAR(cell(model, "quantiles", "age", "50%"), cell(pooled, "quantiles", "age", "50%"), 1e-9);
    double count = 0, sum = 0;
    for (int k = 1; k <= PARTIES; k++) {
        char row[32];
        snprintf(row, sizeof row, "age [site=%d]", k);
        count += cell(model, "numbers", row, "count");
        sum += cell(model, "numbers", row, "count") * cell(model, "numbers", row, "mean");
    }
    CHECK_NEAR(count, self.ages, 0);
    CHECK_NEAR(sum, self.sum, 1e-5);
    double exact = cell(model, "numbers", "age [site=2]", "mean");
    tacit_model_free(model);
    tacit_model_free(pooled);
    self.all.plan.method = &tacit_method_describe;
    self.all.plan.settings = (tacit_settings){ .table = NULL };
    self.all.plan.epsilon = 8;
    set(&self, "sites", "apart");
    assert_int_equal(tacit_plan_check(&self.all.plan, NULL),
                     TACIT_USAGE); /* shares of noise protect no single site */
    set(&self, "noise", "party");
    set(&self, "by", "outcome");
    assert_int_equal(tacit_plan_check(&self.all.plan, NULL), TACIT_USAGE);
    set(&self, "by", "none");
    model = parties_run(&self.all, 5, NULL);
    const covering site = { "numbers", "age [site=2]", "mean", exact, 0 };
    assert_true(fabs(cell(model, "numbers", "age [site=2]", "mean") - exact) <= 4 * error_of(model, &site));
    const covering missing[] = { { "numbers", "age", "missing", 0, 0 },
                                 { "numbers", "age [site=1]", "missing", 0, 0 } };
    CHECK_NEAR(error_of(model, &missing[0]) / error_of(model, &missing[1]), sqrt(3), 0.01);
    tacit_model_free(model);
    end(&self);
}

/* ---- sensitivity ---- */

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
    for (size_t j = 0; j < data->features; j++) {
        double *to = out->data[1]->dense.values + row * data->features + j;
        *to = data->dense.values[other * data->features + j];
        if (number % 3 == 0 && j < 2) { /* from one end of both numbers to the other */
            out->data[0]->dense.values[row * data->features + j] = 1;
            *to = -1;
        }
    }
    out->data[1]->label[row] = (int32_t)tacit_stream_below(&stream, 2);
    for (uint32_t j = 0; j <= self->schema->cols; j++) /* counted where that is asked for: all of the row */
        TACIT_TRY(tacit_missing_cells_add(&out->data[1]->missing, row, j, error));
    return TACIT_OK;
}

static void one_row_moves_the_vector_by_no_more_than_declared(void **state) {
    static const char *const ways[][2] = { { "threshold", "0" },
                                           { "by", "site" },
                                           { "cross", "site*arm" },
                                           { "missing", "counted" },
                                           { "sites", "apart" } };
    (void)state;
    for (size_t k = 0; k < 5; k++) {
        world self;
        tacit_error error = TACIT_ERROR_INIT;
        tacit_replay replay;
        make(&self, &tacit_method_describe);
        set(&self, ways[k][0], ways[k][1]);
        set(&self, "noise", k < 4 ? "shares" : "party");
        CHECK_OK(tacit_replay_run(&replay, replace_row, &self, 60, 1, NULL, &error), error);
        print_message("# %s: %.4f of what is declared\n", ways[k][0], replay.ratio);
        assert_true(replay.ratio <= 1);
        assert_true(replay.ratio > 0.85);
        end(&self);
    }
}

static void square_is_free(void **state) {
    (void)state;
    world self;
    describe_design design;
    tacit_error error = TACIT_ERROR_INIT;
    double most = 0, beyond = 0;
    make(&self, &tacit_method_describe);
    self.all.plan.epsilon = 1;
    CHECK_OK(describe_make(&design, &self.all.plan, &error), error);
    for (double u = -1; u <= 1; u += 0.002)
        for (double v = -1; v <= 1; v += 0.002) {
            double apart = (u - v) * (u - v), sum = (u + v) * (u + v);
            most = fmax(most, apart * (1 + design.square * design.square * sum));
            beyond = fmax(beyond, apart * (1 + 1.75 * 1.75 * sum));
        }
    assert_true(most <= 4 && beyond > 4);
    assert_true(2 * (1 + design.square * design.square / 4) <= 4);
    describe_clear(&design);
    end(&self);
}

static void the_same_sums_make_the_same_report(void **state) {
    (void)state;
    world self;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer text[2] = { TACIT_BUFFER_INIT, TACIT_BUFFER_INIT };
    make(&self, &tacit_method_describe);
    self.all.plan.epsilon = 1;
    set(&self, "cross", "site*outcome");
    for (int k = 0; k < 2; k++) {
        tacit_model *model = parties_run(&self.all, 4, NULL);
        assert_true(cell(model, "tests", "site*outcome", "p") > 0);
        CHECK_OK(tacit_report_print_csv(model->report, &text[k], &error), error);
        tacit_model_free(model);
    }
    assert_string_equal(tacit_buffer_text(&text[0]), tacit_buffer_text(&text[1]));
    tacit_buffer_clear(&text[0]);
    tacit_buffer_clear(&text[1]);
    end(&self);
}

static void what_cannot_be_described_is_refused(void **state) {
    static const char *const wrong[][2] = { { "by", "age" },
                                            { "by", "nothing" },
                                            { "cross", "site" },
                                            { "cross", "site*age" },
                                            { "cross", "site*arm,site*arm" } };
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        world self;
        make(&self, &tacit_method_describe);
        self.all.plan.epsilon = 1;
        set(&self, wrong[k][0], wrong[k][1]);
        assert_int_equal(tacit_plan_check(&self.all.plan, NULL), TACIT_USAGE);
        end(&self);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_numbers_are_those_of_the_rows),
        cmocka_unit_test(counts_are_told_where_all_parties_have_enough_rows),
        cmocka_unit_test(a_party_that_is_seen_alone_holds_its_own_counts_to_the_minimum),
        cmocka_unit_test(a_party_refuses_to_tell_what_it_objects_to),
        cmocka_unit_test(a_coordinator_is_held_to_one_choice_of_cells),
        cmocka_unit_test(figures_of_sites_are_those_of_their_rows),
        cmocka_unit_test(one_row_moves_the_vector_by_no_more_than_declared),
        cmocka_unit_test(square_is_free),
        cmocka_unit_test(the_same_sums_make_the_same_report),
        cmocka_unit_test(what_cannot_be_described_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
