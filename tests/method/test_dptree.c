/*
 * dptree: no neighbour moves an answer beyond what is declared, which is reached, and a sensitivity that is a
 * tenth too small would be noticed; a party answers a question in its place only, and no more columns or
 * leaves than the study has, nor one twice; the charges of all questions add up to the price; without noise
 * the tree finds what only a tree can say, with noise of each kind it does nearly so, and where there is
 * nothing to find it says what the base rate says.
 *
 * Seeds are fixed, so the outcome is always the same.
 */
#include "check.h"

#include <math.h>
#include <string.h>

#include "method/private/dptree.h"
#include "parties.h"

enum { ROWS = 4000, PARTIES = 4, COLUMNS = 3 };

static const char schema_text[] = "label: {name: y, classes: [no, yes]}\n"
                                  "columns:\n"
                                  "  - {name: a, kind: number, low: 0, high: 10}\n"
                                  "  - {name: b, kind: number, low: -1, high: 1}\n"
                                  "  - {name: arm, kind: category, levels: [x, y, z]}\n"
                                  "intercept: yes\n";

typedef struct world {
    tacit_schema *schema;
    parties all;
} world;

static void set(world *self, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(&self->all.plan, name, value, &error), error);
}

/* yes with chance .9 where a is in the middle of its range and arm is not y, else .1: no linear model of a
 * can say that. `signal` 0: .3 everywhere. */
static void make(world *out, bool signal, const char *noise) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(12);
    tacit_buffer text = TACIT_BUFFER_INIT;
    CHECK_OK(tacit_schema_parse(&out->schema, schema_text, sizeof schema_text - 1, "test", &error), error);
    CHECK_OK(tacit_buffer_print(&text, &error, "a,b,arm,y\n"), error);
    for (size_t i = 0; i < ROWS; i++) {
        size_t arm = tacit_stream_below(&stream, 3), a = tacit_stream_below(&stream, 11);
        double b = 2 * tacit_stream_unit(&stream) - 1;
        double chance = !signal ? 0.3 : a > 3 && a <= 7 && arm != 1 ? 0.9 : 0.1;
        CHECK_OK(tacit_buffer_print(&text, &error, "%zu,%.3f,%c,%s\n", a, b, "xyz"[arm],
                                    tacit_stream_unit(&stream) < chance ? "yes" : "no"),
                 error);
    }
    parties_read(&out->all, &text, out->schema, PARTIES, &tacit_method_dptree);
    if (noise != NULL) set(out, "noise", noise);
}

static void end(world *self) {
    parties_end(&self->all);
    tacit_schema_free(self->schema);
}

/* ---- sensitivity ---- */

/* What a question gives in a round; noise=coordinator, so that it is exact. */
static tacit_status answer(world *self, uint64_t round, const char *name, const dptree_question *question,
                           double *out, tacit_error *error) {
    tacit_stream root = tacit_stream_from_seed(1);
    dptree_design design;
    tacit_session session;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(dptree_describe(&self->all.plan, &design, error));
    const tacit_sum_spec *spec = &design.sum[round <= design.depth ? round : design.depth];
    TACIT_CHECK(tacit_local_begin(self->all.local, &self->all.plan, &root, NULL, &session, error));
    session.round = round;
    TACIT_CHECK(dptree_question_write(question, &message, error));
    TACIT_CHECK(tacit_ask_sum(&session, name, &message, spec, &sum, error));
    memcpy(out, sum.values, spec->length * sizeof *out);
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    dptree_clear(&design);
    return status;
}

/* A root, or one split by feature 0 where `threshold` is a number; all columns up to `columns`, both leaves
 * or the root. */
static dptree_question question_of(double threshold, size_t columns) {
    tacit_error error = TACIT_ERROR_INIT;
    const bool split = !isnan(threshold);
    dptree_question out;
    CHECK_OK(dptree_question_create(&out, split ? 3 : 1, columns, split ? 2 : 1, &error), error);
    if (split) out.tree->node[0] = (tacit_tree_node){ .left = 1, .right = 2, .threshold = threshold };
    for (size_t c = 0; c < columns; c++) out.column[c] = c;
    for (size_t s = 0; s < out.open; s++) out.leaf[s] = s + split;
    return out;
}

/* Row 0 becomes another: any numbers, also outside what the schema can make, any level or none, any class. */
static void change_row(tacit_dataset *data, tacit_stream *stream) {
    double *row = data->dense.values;
    size_t arm = tacit_stream_below(stream, 4);
    for (size_t j = 0; j < 2; j++) row[j] = (tacit_stream_unit(stream) - 0.5) * 2;
    for (size_t k = 0; k < 3; k++) row[2 + k] = k == arm ? 0.4 : 0;
    data->label[0] = (int32_t)tacit_stream_below(stream, 2);
}

static double distance(const double *a, const double *b, size_t count) {
    double square = 0;
    for (size_t j = 0; j < count; j++) square += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(square);
}

static void no_neighbour_moves_an_answer_beyond_what_is_declared(void **state) {
    enum { NEIGHBOURS = 60, MOST = 200 };
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(29);
    world self;
    dptree_design design;
    make(&self, true, "coordinator");
    set(&self, "depth", "2");
    set(&self, "columns", "2");
    self.all.plan.epsilon = 1;
    CHECK_OK(dptree_describe(&self.all.plan, &design, &error), error);
    for (size_t t = 0; t < 3; t++) {
        const size_t columns = t == 2 ? 0 : t == 1 ? 2 : COLUMNS, length = design.sum[t].length;
        double most = 0, before[MOST], after[MOST], all = 0;
        assert_true(length <= MOST);
        assert_int_equal(columns, dptree_asked(&design, t));
        for (int i = 0; i < NEIGHBOURS; i++) {
            dptree_question at =
                question_of(t == 0 ? NAN : (tacit_stream_unit(&stream) - 0.5) * 0.6, columns);
            change_row(self.all.data, &stream);
            CHECK_OK(answer(&self, t, t == 2 ? "leaves" : "splits", &at, before, &error), error);
            change_row(self.all.data, &stream);
            CHECK_OK(answer(&self, t, t == 2 ? "leaves" : "splits", &at, after, &error), error);
            most = fmax(most, distance(before, after, length));
            dptree_question_clear(&at);
        }
        for (size_t j = 0; j < length; j++) all += after[j];
        CHECK_NEAR(all, (double)(ROWS * (columns > 0 ? columns : 1)), 0); /* every row, once a column */
        double declared = design.release[t].mechanism.sensitivity;
        print_message("# question %zu: %.4f of what is declared\n", t, most / declared);
        assert_true(most <= declared);
        assert_true(most > 0.9 * declared); /* one that is a tenth smaller would be noticed */
    }
    dptree_clear(&design);
    end(&self);
}

static void a_party_answers_a_question_in_its_place_only(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    double out[400];
    world self;
    make(&self, true, "coordinator");
    set(&self, "depth", "2");
    set(&self, "columns", "2");
    self.all.plan.epsilon = 1;
    dptree_question root = question_of(NAN, COLUMNS), two = question_of(0, 2), leaves = question_of(0, 0);
    CHECK_OK(answer(&self, 0, "splits", &root, out, &error), error);
    CHECK_OK(answer(&self, 1, "splits", &two, out, &error), error);
    CHECK_OK(answer(&self, 2, "leaves", &leaves, out, &error), error);
    assert_int_equal(answer(&self, 0, "leaves", &leaves, out, &error), TACIT_REFUSED);
    assert_int_equal(answer(&self, 2, "splits", &two, out, &error), TACIT_REFUSED);
    assert_int_equal(answer(&self, 3, "leaves", &leaves, out, &error), TACIT_REFUSED);
    assert_int_equal(answer(&self, 0, "splits", &two, out, &error), TACIT_REFUSED);  /* too many leaves */
    assert_int_equal(answer(&self, 1, "splits", &root, out, &error), TACIT_REFUSED); /* too many columns */
    assert_int_equal(answer(&self, 2, "leaves", &two, out, &error), TACIT_REFUSED);
    two.column[1] = two.column[0];
    assert_int_equal(answer(&self, 1, "splits", &two, out, &error), TACIT_REFUSED);
    two.column[1] = 1;
    two.leaf[1] = two.leaf[0];
    assert_int_equal(answer(&self, 1, "splits", &two, out, &error), TACIT_REFUSED);
    two.leaf[1] = 2;
    two.tree->node[0].right = 1;
    assert_int_not_equal(answer(&self, 1, "splits", &two, out, &error), TACIT_OK); /* no tree */
    dptree_question_clear(&root);
    dptree_question_clear(&two);
    dptree_question_clear(&leaves);
    end(&self);
}

static void the_questions_together_cost_the_price(void **state) {
    static const char *const ways[] = { "shares", "party", "coordinator" };
    (void)state;
    for (size_t w = 0; w < 3; w++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_accountant *accountant = NULL;
        dptree_design design;
        double share = 0;
        tacit_spending spent;
        world self;
        make(&self, true, ways[w]);
        self.all.plan.epsilon = 1;
        CHECK_OK(dptree_describe(&self.all.plan, &design, &error), error);
        CHECK_OK(tacit_accountant_create(&accountant, TACIT_REPLACE, &error), error);
        for (size_t t = 0; t <= design.depth; t++) {
            share += design.release[t].share;
            CHECK_OK(tacit_accountant_add(accountant, &design.release[t].event, &error), error);
        }
        CHECK_OK(tacit_accountant_epsilon(&spent, accountant, 1e-5, &error), error);
        CHECK_NEAR(share, 1, 1e-12);
        assert_true(spent.epsilon <= 1 && spent.epsilon > 0.99);
        tacit_accountant_free(accountant);
        dptree_clear(&design);
        end(&self);
    }
}

/* ---- what it finds ---- */

static tacit_metrics run(bool signal, double epsilon, const char *noise, size_t *nodes) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_metrics metrics;
    world self;
    make(&self, signal, noise);
    self.all.plan.epsilon = epsilon;
    tacit_model *model = parties_run(&self.all, 4, NULL);
    tacit_view rows = tacit_dataset_view(self.all.data);
    assert_non_null(model->tree);
    *nodes = model->tree->nodes;
    CHECK_OK(tacit_model_evaluate(model, &rows, NULL, &metrics, &error), error);
    tacit_model_free(model);
    end(&self);
    return metrics;
}

static void without_noise_it_finds_what_only_a_tree_can_say(void **state) {
    (void)state;
    size_t nodes;
    tacit_metrics metrics = run(true, INFINITY, NULL, &nodes);
    assert_true(metrics.accuracy > 0.89 && metrics.auc > 0.85);
}

static void noise_of_each_kind_leaves_most_of_it(void **state) {
    static const char *const ways[] = { "shares", "party", "coordinator" };
    (void)state;
    for (size_t w = 0; w < 3; w++) {
        size_t nodes;
        tacit_metrics metrics = run(true, 1, ways[w], &nodes);
        print_message("# noise=%s: accuracy %.3f, AUC %.3f\n", ways[w], metrics.accuracy, metrics.auc);
        assert_true(metrics.accuracy > 0.85 && metrics.auc > 0.8);
    }
}

static void where_there_is_nothing_to_find_it_says_the_base_rate(void **state) {
    (void)state;
    const double base = -0.3 * log(0.3) - 0.7 * log(0.7);
    for (int k = 0; k < 3; k++) {
        static const double epsilon[] = { 0.1, 1, INFINITY };
        size_t nodes;
        tacit_metrics metrics = run(false, epsilon[k], NULL, &nodes);
        print_message("# epsilon %g: %zu nodes, log-loss %.4f\n", epsilon[k], nodes, metrics.log_loss);
        assert_true(metrics.log_loss < 1.03 * base);
    }
}

static void what_the_method_does_not_take_is_refused_in_advance(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    world self;
    make(&self, true, NULL);
    self.all.plan.epsilon = 1;
    CHECK_OK(tacit_plan_check(&self.all.plan, &error), error);
    set(&self, "cells", "1");
    assert_int_equal(tacit_plan_check(&self.all.plan, &error), TACIT_USAGE);
    set(&self, "cells", "0");
    self.all.plan.classes = 65;
    assert_int_equal(tacit_plan_check(&self.all.plan, &error), TACIT_USAGE);
    end(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_neighbour_moves_an_answer_beyond_what_is_declared),
        cmocka_unit_test(a_party_answers_a_question_in_its_place_only),
        cmocka_unit_test(the_questions_together_cost_the_price),
        cmocka_unit_test(without_noise_it_finds_what_only_a_tree_can_say),
        cmocka_unit_test(noise_of_each_kind_leaves_most_of_it),
        cmocka_unit_test(where_there_is_nothing_to_find_it_says_the_base_rate),
        cmocka_unit_test(what_the_method_does_not_take_is_refused_in_advance),
    };
    return cmocka_run_group_tests_name("dptree", tests, NULL, NULL);
}
