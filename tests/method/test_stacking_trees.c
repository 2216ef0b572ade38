/*
 * pst-s with members that are trees: replacing a row moves one tree, or the high model, and no other; what a
 * tree's steps cost is the whole price, and the noise in a released tree has the law of that; everybody is
 * charged (epsilon, delta) for one answer; of several parties the stack says the mean of what theirs do; an
 * answer that is no such stack is refused; and trees find an interaction that linear members do not, which
 * are better where the signal is linear.
 *
 * Seeds are fixed, so the outcome is always the same. The law: the sum of squares of what is measured is
 * chi-squared; a Gamma(k) variable leaves [k - sqrt(2 k u), k + sqrt(2 k u) + u] with probability below 2
 * e^-u (Laurent and Massart 2000): with u = 21.5 that is 1e-9, the false-alarm rate, and noise that is 10%
 * off is noticed.
 */
#include "check.h"

#include <math.h>
#include <string.h>

#include "failing.h"
#include "method/private/stacking.h"
#include "parties.h"

static const char schema_text[] = "label: {name: y, classes: [no, yes]}\n"
                                  "columns:\n"
                                  "  - {name: a, kind: number, low: 0, high: 10}\n"
                                  "  - {name: b, kind: number, low: -1, high: 1}\n"
                                  "  - {name: arm, kind: category, levels: [x, y, z]}\n"
                                  "intercept: yes\n";

typedef enum signal {
    INTERACTION, /* yes with chance .9 where a is in the middle and arm is not y, else .1 */
    LINEAR,      /* a logistic model of a and b */
    NOTHING,     /* .3 in rows that are all alike */
} signal_kind;

typedef struct world {
    tacit_schema *schema;
    parties all;
} world;

static void set(world *self, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(&self->all.plan, name, value, &error), error);
}

static double chance_of(signal_kind kind, size_t a, double b, size_t arm) {
    if (kind == INTERACTION) return a > 3 && a <= 7 && arm != 1 ? 0.9 : 0.1;
    return kind == LINEAR ? 1 / (1 + exp(-4 * (((double)a - 5) / 5 + b))) : 0.3;
}

static void make(world *out, signal_kind kind, size_t rows, size_t parties_count) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(12);
    tacit_buffer text = TACIT_BUFFER_INIT;
    CHECK_OK(tacit_schema_parse(&out->schema, schema_text, sizeof schema_text - 1, "test", &error), error);
    CHECK_OK(tacit_buffer_print(&text, &error, "a,b,arm,y\n"), error);
    for (size_t i = 0; i < rows; i++) {
        size_t arm = tacit_stream_below(&stream, 3), a = tacit_stream_below(&stream, 11);
        double b = 2 * tacit_stream_unit(&stream) - 1, chance = chance_of(kind, a, b, arm);
        if (kind == NOTHING) a = arm = 0, b = 0;
        CHECK_OK(tacit_buffer_print(&text, &error, "%zu,%.3f,%c,%s\n", a, b, "xyz"[arm],
                                    tacit_stream_unit(&stream) < chance ? "yes" : "no"),
                 error);
    }
    parties_read(&out->all, &text, out->schema, parties_count, &tacit_method_pst_s);
    out->all.plan.lambda = 1e-3;
    set(out, "members", "tree");
    set(out, "blocks", "3");
}

static void end(world *self) {
    parties_end(&self->all);
    tacit_schema_free(self->schema);
}

/* ---- what a row moves ---- */

static size_t place_of_first(const stacking *how, size_t rows) {
    size_t *order = TACIT_NEW(size_t, rows), place = 0;
    assert_non_null(order);
    stacking_order(how, order, rows);
    while (order[place] != 0) place++;
    free(order);
    return place;
}

static bool same_member(const tacit_model *a, const tacit_model *b, size_t k) {
    const tacit_tree *first = tacit_stack_tree(a->stack, k), *second = tacit_stack_tree(b->stack, k);
    const size_t *at = a->stack->start, *other = b->stack->start;
    const size_t width = at[k + 1] - at[k];
    if (width != other[k + 1] - other[k] || (first == NULL) != (second == NULL)) return false;
    if (first != NULL && memcmp(first->node, second->node, width * sizeof *first->node) != 0) return false;
    return memcmp(a->weights + at[k], b->weights + other[k], width * sizeof(double)) == 0;
}

/* The same noise on neighbours that differ in row 0, of D_l or of D_h. */
static void a_row_moves_what_is_made_of_its_part_only(void **state) {
    (void)state;
    static const char *const kinds[] = { "tree", "mixed" };
    bool seen_low = false, seen_high = false;
    for (size_t rows = 240; rows < 260 && !(seen_low && seen_high); rows++)
        for (int m = 0; m < 2; m++) {
            tacit_error error = TACIT_ERROR_INIT;
            stacking how = STACKING_INIT;
            world one, two;
            make(&one, INTERACTION, rows, 1);
            make(&two, INTERACTION, rows, 1);
            one.all.plan.epsilon = two.all.plan.epsilon = 2;
            set(&one, "members", kinds[m]);
            set(&two, "members", kinds[m]);
            two.all.data->label[0] = 1 - two.all.data->label[0];
            for (size_t j = 0; j < 2; j++) two.all.data->dense.values[j] *= -1;
            CHECK_OK(stacking_of_blocks(&how, &one.all.plan, &error), error);
            const size_t place = place_of_first(&how, rows), low = stacking_low_rows(&how, rows);
            tacit_model *a = parties_run(&one.all, 7, NULL), *b = parties_run(&two.all, 7, NULL);
            for (size_t k = 0; k < 3; k++) {
                const bool has_it = place >= low * k / 3 && place < low * (k + 1) / 3;
                assert_true((tacit_stack_tree(a->stack, k) != NULL) == (m == 0 || k == 1));
                assert_true(same_member(a, b, k) == !has_it);
            }
            const double *h = a->weights + tacit_stack_low_size(a->stack),
                         *g = b->weights + tacit_stack_low_size(b->stack);
            if (place >= low) assert_true(memcmp(h, g, 3 * sizeof *h) != 0);
            seen_high = seen_high || place >= low;
            seen_low = seen_low || place < low;
            tacit_model_free(a);
            tacit_model_free(b);
            stacking_clear(&how);
            end(&one);
            end(&two);
        }
    assert_true(seen_low && seen_high);
}

/* ---- price and noise ---- */

static void the_steps_of_a_tree_cost_the_price(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_accountant *accountant = NULL;
    tacit_spending spent;
    stacking how = STACKING_INIT;
    world self;
    make(&self, INTERACTION, 3000, 2);
    self.all.plan.epsilon = 1;
    CHECK_OK(stacking_of_blocks(&how, &self.all.plan, &error), error);
    CHECK_OK(tacit_accountant_create(&accountant, TACIT_REPLACE, &error), error);
    for (size_t t = 0; t <= how.design.depth; t++)
        CHECK_OK(tacit_accountant_add(accountant, &how.design.release[t].event, &error), error);
    CHECK_OK(tacit_accountant_epsilon(&spent, accountant, 1e-5, &error), error);
    assert_true(spent.epsilon <= 1 && spent.epsilon > 0.99);
    tacit_accountant_free(accountant);
    stacking_clear(&how);
    end(&self);
}

/* Where rows are all alike few trees have a split, and by noise that has nothing to do with that of their
 * leaves. The log-odds of one without are those of two counts with noise: with n_0 and n_1 rows of a block
 * their variance is s^2 (1/n_0^2 + 1/n_1^2), and what is left out of that is below a hundredth of it here. */
static void the_noise_in_a_tree_has_the_promised_law(void **state) {
    enum { RUNS = 3000, ROWS = 500 };
    static const double U = 21.5, WRONG[] = { 1, 1.1, 1 / 1.1 };
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    stacking how = STACKING_INIT;
    world self;
    double sum = 0, mean[2] = { 0, 0 };
    size_t order[ROWS], count[2][2] = { { 0, 0 }, { 0, 0 } }, seen = 0;
    make(&self, NOTHING, ROWS, 1);
    self.all.plan.epsilon = 4;
    set(&self, "blocks", "2");
    set(&self, "depth", "1");
    set(&self, "combiner", "majority"); /* all rows are the members' */
    CHECK_OK(stacking_of_blocks(&how, &self.all.plan, &error), error);
    stacking_order(&how, order, ROWS);
    for (size_t i = 0; i < ROWS; i++) count[i / (ROWS / 2)][self.all.data->label[order[i]]]++;
    for (int k = 0; k < 2; k++) mean[k] = log(((double)count[k][1] + 0.5) / ((double)count[k][0] + 0.5));
    for (uint64_t run = 0; run < RUNS; run++) {
        tacit_model *model = parties_run(&self.all, 100 + run, NULL);
        for (size_t k = 0; k < 2; k++) {
            const double off = model->weights[model->stack->start[k]] - mean[k],
                         s = how.design.release[1].scale;
            if (tacit_stack_tree(model->stack, k)->nodes > 1) continue;
            seen++;
            sum += off * off / (s * s * (pow((double)count[k][0], -2) + pow((double)count[k][1], -2)));
        }
        tacit_model_free(model);
    }
    print_message("# %.4f of the promised variance, in %zu trees\n", sum / (double)seen, seen);
    assert_true(seen > RUNS);
    for (int w = 0; w < 3; w++) { /* sum/2 is Gamma(seen/2) */
        const double shape = (double)seen / 2, half = sum / 2 * WRONG[w] * WRONG[w];
        const bool fits = half >= shape - sqrt(2 * shape * U) && half <= shape + sqrt(2 * shape * U) + U;
        assert_true(fits == (w == 0));
    }
    stacking_clear(&how);
    end(&self);
}

static void everybody_pays_for_one_answer(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_account account;
    tacit_prices prices = { .event = { .count = 0 } };
    size_t answered = 0;
    world self;
    make(&self, INTERACTION, 900, 3);
    self.all.plan.epsilon = 0.7;
    tacit_model *model = parties_run(&self.all, 3, &answered);
    assert_int_equal(answered, 3);
    assert_int_equal(model->stack->members, 9);
    assert_int_equal(tacit_stack_trees(model->stack), 9);
    CHECK_OK(tacit_local_charged(self.all.local, TACIT_UNIT_RECORD, &account, &error), error);
    assert_true(account.spent_epsilon == 0.7 && account.spent_delta == 1e-5);
    CHECK_OK(tacit_plan_price(&self.all.plan, &prices, &error), error);
    assert_true(prices.charged.epsilon == 0.7 && prices.charged.delta == 1e-5);
    set(&self, "members", "plr"); /* whose price has no delta */
    CHECK_OK(tacit_plan_price(&self.all.plan, &prices, &error), error);
    assert_true(prices.charged.epsilon == 0.7 && prices.charged.delta == 0);
    tacit_model_free(model);
    end(&self);
}

/* ---- several parties ---- */

/* Without noise: that of party k alone, with the same rows. */
static void the_stack_of_all_says_the_mean_of_theirs(void **state) {
    enum { PARTIES = 3, EACH = 400, ROWS = PARTIES * EACH };
    static double of_all[ROWS], alone[ROWS], mean[ROWS];
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    world self;
    make(&self, INTERACTION, ROWS, PARTIES);
    set(&self, "members", "mixed");
    tacit_rows rows = tacit_dataset_rows(self.all.data);
    tacit_model *model = parties_run(&self.all, 5, NULL);
    CHECK_OK(tacit_model_scores(model, &rows, NULL, of_all, &error), error);
    for (size_t p = 0; p < PARTIES; p++) {
        world one;
        make(&one, INTERACTION, EACH, 1);
        set(&one, "members", "mixed");
        for (size_t i = 0; i < EACH; i++) one.all.data->label[i] = self.all.data->label[p * EACH + i];
        memcpy(one.all.data->dense.values, self.all.data->dense.values + p * EACH * rows.cols,
               EACH * rows.cols * sizeof(double));
        tacit_model *own = parties_run(&one.all, 5, NULL);
        CHECK_OK(tacit_model_scores(own, &rows, NULL, alone, &error), error);
        for (size_t i = 0; i < ROWS; i++) mean[i] += alone[i] / PARTIES;
        tacit_model_free(own);
        end(&one);
    }
    for (size_t i = 0; i < ROWS; i++) CHECK_NEAR(of_all[i], mean[i], 1e-6); /* of linear members' solver */
    tacit_model_free(model);
    end(&self);
}

/* ---- what is refused ---- */

static void impossible_settings_are_named(void **state) {
    (void)state;
    static const char *const wrong[][3] = {
        { "blocks", "1", "choose method dptree" },
        { "candidates", "0.1,0.2", "are for members=plr" },
        { "blocks", "9000", "are more than the 10000 members" },
    };
    world self;
    for (size_t i = 0; i < 3; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        make(&self, INTERACTION, 300, 2);
        self.all.plan.epsilon = 1;
        CHECK_OK(tacit_plan_check(&self.all.plan, &error), error);
        set(&self, wrong[i][0], wrong[i][1]);
        if (i == 1) set(&self, "select", "private:1");
        if (i == 1) self.all.plan.parties = 1;
        assert_int_equal(tacit_plan_check(&self.all.plan, &error), TACIT_USAGE);
        if (strstr(error.text, wrong[i][2]) == NULL) fail_msg("%s", error.text);
        end(&self);
    }
    tacit_error error = TACIT_ERROR_INIT;
    make(&self, INTERACTION, 300, 2);
    self.all.plan.epsilon = 1;
    self.all.plan.delta = 0;
    assert_int_equal(tacit_plan_check(&self.all.plan, &error), TACIT_USAGE);
    if (strstr(error.text, "needs a delta above 0") == NULL) fail_msg("%s", error.text);
    set(&self, "members", "plr");
    CHECK_OK(tacit_plan_check(&self.all.plan, &error), error);
    end(&self);
}

/* A study of linear members has no question for trees, and one of trees none for a sum. */
static void the_other_question_is_refused(void **state) {
    (void)state;
    static const char *const ways[][2] = { { "plr", "members" }, { "tree", "stack" } };
    for (int w = 0; w < 2; w++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_answers answers = TACIT_ANSWERS_INIT;
        tacit_sum sum = TACIT_SUM_INIT;
        tacit_sum_spec spec;
        world self;
        make(&self, INTERACTION, 300, 1);
        self.all.plan.epsilon = 1;
        set(&self, "members", ways[w][0]);
        tacit_session session = parties_begin(&self.all, 3);
        CHECK_OK(tacit_session_prepared(&session, &spec, &error), error);
        tacit_status status = w == 0 ? tacit_ask(&session, ways[w][1], NULL, &answers, &error)
                                     : tacit_ask_sum(&session, ways[w][1], NULL, &spec, &sum, &error);
        assert_int_equal(status, TACIT_REFUSED);
        tacit_answers_clear(&answers);
        tacit_sum_clear(&sum);
        end(&self);
    }
}

/* A root, split in one of the two trees. */
static void say_stack(tacit_message *out, int64_t size, int64_t left, double threshold, size_t weights) {
    tacit_error error = TACIT_ERROR_INIT;
    const int64_t sizes[] = { 1, size }, nodes[] = { 0, 0, 0, 0, left, 2, 0, 0, 0, 0, 0, 0 };
    const double thresholds[] = { 0, threshold, 0, 0 }, values[16] = { 0 };
    CHECK_OK(tacit_message_add_integers(out, "sizes", sizes, 2, &error), error);
    CHECK_OK(tacit_message_add_integers(out, "nodes", nodes, 12, &error), error);
    CHECK_OK(tacit_message_add_numbers(out, "thresholds", thresholds, 4, &error), error);
    CHECK_OK(tacit_message_add_numbers(out, "weights", values, weights, &error), error);
}

static void an_answer_that_is_no_such_stack_is_refused(void **state) {
    (void)state;
    static const struct {
        int64_t size, left;
        double threshold;
        size_t weights;
        bool usable;
    } answers[] = {
        { 3, 1, 0.5, 6, true },   { 2, 1, 0.5, 6, false }, /* as many nodes as it says */
        { 3, 2, 0.5, 6, false },                           /* a node with one child twice */
        { 3, 1, 0.5, 5, false },  { -1, 1, 0.5, 6, false },
        { 3, -1, 0.5, 6, false }, { (int64_t)1 << 40, 1, 0.5, 6, false },
    };
    world self;
    make(&self, INTERACTION, 300, 1);
    self.all.plan.epsilon = 1;
    set(&self, "blocks", "2");
    const tacit_handler_entry *members = &tacit_method_pst_s.handlers[1];
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_message message = TACIT_MESSAGE_INIT;
        say_stack(&message, answers[i].size, answers[i].left, answers[i].threshold, answers[i].weights);
        tacit_status status = members->usable(&self.all.plan, &message, &error);
        if (status != (answers[i].usable ? TACIT_OK : TACIT_PROTOCOL))
            fail_msg("answer %zu: %s", i, error.text);
        tacit_message_clear(&message);
    }
    assert_true(members->answer_numbers(&self.all.plan) >= 2 + 5 * 4 + 6);
    end(&self);
}

/* ---- what it finds ---- */

/* At epsilon 2. */
static double auc_of(signal_kind kind, const char *members) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_metrics metrics;
    world self;
    make(&self, kind, 6000, 1);
    self.all.plan.epsilon = 2;
    set(&self, "members", members);
    tacit_model *model = parties_run(&self.all, 4, NULL);
    tacit_view rows = tacit_dataset_view(self.all.data);
    CHECK_OK(tacit_model_evaluate(model, &rows, NULL, &metrics, &error), error);
    print_message("# %s, members=%s: accuracy %.3f, AUC %.3f\n", kind == LINEAR ? "linear" : "interaction",
                  members, metrics.accuracy, metrics.auc);
    tacit_model_free(model);
    end(&self);
    return metrics.auc;
}

static void trees_find_what_linear_members_do_not(void **state) {
    (void)state;
    const double linear = auc_of(INTERACTION, "plr"), trees = auc_of(INTERACTION, "tree"),
                 both = auc_of(INTERACTION, "mixed");
    assert_true(trees > linear + 0.1 && both > linear + 0.1);
    assert_true(auc_of(LINEAR, "plr") > auc_of(LINEAR, "tree")); /* the control */
}

/* ---- memory ---- */

static void it_survives_each_failure(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    world self;
    bool failed = true;
    make(&self, INTERACTION, 60, 2);
    self.all.plan.epsilon = 1;
    set(&self, "members", "mixed");
    set(&self, "blocks", "2");
    tacit_model_free(parties_run(&self.all, 3, NULL));
    for (long at = 1; failed; at++) {
        tacit_stream root = tacit_stream_from_seed(3);
        tacit_session session;
        tacit_outcome outcome = TACIT_OUTCOME_INIT;
        CHECK_OK(tacit_local_begin(self.all.local, &self.all.plan, &root, NULL, &session, &error), error);
        fail_allocation(at);
        tacit_status status = tacit_method_pst_s.coordinate(&session, &outcome, &error);
        failed = allocation_failed();
        if (!failed) CHECK_OK(status, error);
        if (failed) assert_int_not_equal(status, TACIT_OK);
        tacit_outcome_clear(&outcome);
    }
    end(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_moves_what_is_made_of_its_part_only),
        cmocka_unit_test(the_steps_of_a_tree_cost_the_price),
        cmocka_unit_test(the_noise_in_a_tree_has_the_promised_law),
        cmocka_unit_test(everybody_pays_for_one_answer),
        cmocka_unit_test(the_stack_of_all_says_the_mean_of_theirs),
        cmocka_unit_test(impossible_settings_are_named),
        cmocka_unit_test(the_other_question_is_refused),
        cmocka_unit_test(an_answer_that_is_no_such_stack_is_refused),
        cmocka_unit_test(trees_find_what_linear_members_do_not),
        cmocka_unit_test(it_survives_each_failure),
    };
    return cmocka_run_group_tests_name("stacking_trees", tests, NULL, NULL);
}
