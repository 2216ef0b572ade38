/* Stacks: scores as their definition says, back from a file as they were, damage refused; of linear members
 * and of trees. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"

static tacit_buffer text_of(const tacit_model *model) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_model_print(model, &text, &error), error);
    return text;
}

/* ---- of linear members ---- */

static const double stack_weights[] = { 1, -2, 0.5, 3, 0.25, 1.0 / 3, -7 };

/* Two members, of features 0 and 2 and of 1, 2 and 3, and h. */
static tacit_model *sample_stack(tacit_combiner combiner) {
    static const uint32_t columns[] = { 0, 2, 1, 2, 3 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stack *stack = NULL;
    tacit_model *model = NULL;
    CHECK_OK(tacit_stack_create(&stack, 2, 5, &error), error);
    memcpy(stack->column, columns, sizeof columns);
    stack->start[1] = 2;
    stack->start[2] = 5;
    stack->scale[0] = 0.75;
    stack->scale[1] = 0.25;
    stack->combiner = combiner;
    stack->is_centered = true;
    CHECK_OK(tacit_model_create_stack(&model, stack, 4, &error), error);
    memcpy(model->weights, stack_weights, tacit_model_size(model) * sizeof(double));
    return model;
}

static void a_stack_scores_as_its_definition_says(void **state) {
    (void)state;
    double x[2][4] = { { 0.5, -0.1, 0.2, 0.3 }, { -0.5, 0.4, 0.3, 0 } }, scores[2];
    tacit_rows rows = { .count = 2, .cols = 4, .dense = x[0], .stride = 4 };
    for (int c = TACIT_COMBINE_HIGH; c <= TACIT_COMBINE_WEIGHTED; c++) {
        tacit_model *model = sample_stack((tacit_combiner)c);
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(tacit_model_scores(model, &rows, NULL, scores, &error), error);
        for (int i = 0; i < 2; i++) {
            double t[2] = { 0.75 * (x[i][0] - 2 * x[i][2]),
                            0.25 * (0.5 * x[i][1] + 3 * x[i][2] + 0.25 * x[i][3]) };
            double sign[2] = { (t[0] > 0) - (t[0] < 0), (t[1] > 0) - (t[1] < 0) };
            double high = (tanh(t[0] / 2) / 3 - 7 * tanh(t[1] / 2)) / sqrt(2);
            double expected[] = { high, (sign[0] + sign[1]) / 2, 0.75 * sign[0] + 0.25 * sign[1] };
            CHECK_NEAR(scores[i], expected[c], 1e-11);
        }
        assert_true(tacit_model_has_probabilities(model) == (c == TACIT_COMBINE_HIGH));
        tacit_model_free(model);
    }
}

static void a_stack_survives_a_file(void **state) {
    (void)state;
    for (int c = TACIT_COMBINE_HIGH; c <= TACIT_COMBINE_WEIGHTED; c++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_model *model = sample_stack((tacit_combiner)c), *back = NULL;
        model->guarantee.lambda = 0.25;
        tacit_buffer text = text_of(model);
        CHECK_OK(tacit_model_parse(&back, text.bytes, text.length, "test", &error), error);
        assert_int_equal(tacit_model_size(back), tacit_model_size(model));
        assert_memory_equal(back->weights, model->weights, tacit_model_size(model) * sizeof(double));
        assert_memory_equal(back->stack->column, model->stack->column, 5 * sizeof(uint32_t));
        assert_memory_equal(back->stack->scale, model->stack->scale, 2 * sizeof(double));
        assert_int_equal(back->stack->combiner, c);
        assert_true(back->stack->is_centered && !back->stack->rows_normalised);
        tacit_buffer_clear(&text);
        tacit_model_free(model);
        tacit_model_free(back);
    }
}

static void a_damaged_stack_is_refused(void **state) {
    (void)state;
    static const char *const damage[][2] = {
        { "\"combiner\": \"high\"", "\"combiner\": \"mean\"" },
        { "\"combiner\": \"high\"", "\"combiner\": 3" },
        { "\"rows\": \"scale\"", "\"rows\": \"stale\"" },
        { "\"meta\": \"centred\"", "\"meta\": null" },
        { "\"scale\": 0.75", "\"scale\": 1.75" },
        { "\"scale\": 0.75", "\"scale\": \"x\"" },
        { "0.33333333333333331", "\"x\"" },
        { "\"members\"", "\"others\"" },
        { "\"columns\"", "\"rows\"" },
        { "\"features\": 4", "\"features\": 3" },
        { "\"loss\": \"logistic\"", "\"loss\": \"softmax\"" },
    };
    tacit_model *model = sample_stack(TACIT_COMBINE_HIGH), *back = NULL;
    tacit_buffer text = text_of(model);
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        const char *whole = tacit_buffer_text(&text), *at = strstr(whole, damage[i][0]);
        char changed[4096];
        if (at == NULL) fail_msg("no %s in %s", damage[i][0], whole);
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - whole), whole, damage[i][1],
                 at + strlen(damage[i][0]));
        assert_int_equal(tacit_model_parse(&back, changed, strlen(changed), "test", NULL), TACIT_INPUT);
    }
    tacit_buffer_clear(&text);
    tacit_model_free(model);
}

/* ---- with trees ---- */

/* A linear member of features 0 and 2, and a tree that asks about features 1 and then 3; and h. */
static tacit_model *sample_forest(tacit_combiner combiner) {
    static const double weights[] = { 1, -2, 0.1, 0.7, 0.2, -1.5, 3, 0.5, -7 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stack *stack = NULL;
    tacit_tree *tree = NULL;
    tacit_model *model = NULL;
    CHECK_OK(tacit_stack_create(&stack, 2, 7, &error), error);
    stack->column[1] = 2;
    stack->start[1] = 2;
    stack->start[2] = 7;
    stack->combiner = combiner;
    stack->is_centered = true;
    CHECK_OK(tacit_tree_create(&tree, 5, &error), error);
    tree->node[0] = (tacit_tree_node){ .feature = 1, .left = 1, .right = 2, .threshold = 0.25 };
    tree->node[2] = (tacit_tree_node){ .feature = 3, .left = 3, .right = 4, .threshold = -0.5 };
    CHECK_OK(tacit_stack_plant(stack, 1, tree, &error), error);
    CHECK_OK(tacit_model_create_stack(&model, stack, 4, &error), error);
    assert_int_equal(tacit_model_size(model), combiner == TACIT_COMBINE_HIGH ? 9 : 7);
    memcpy(model->weights, weights, tacit_model_size(model) * sizeof(double));
    return model;
}

/* Rows of all three leaves, one of them on a threshold; in a file the stack stays what it was. */
static void a_tree_in_a_stack_says_what_its_leaf_does(void **state) {
    (void)state;
    double x[3][4] = { { 0.5, 0.25, 0.2, 0.9 }, { -0.5, 0.4, 0.3, -0.6 }, { 0.1, 0.3, 0.9, 0.8 } }, scores[3];
    const double leaf[] = { 0.7, -1.5, 3 };
    tacit_rows rows = { .count = 3, .cols = 4, .dense = x[0], .stride = 4 };
    for (int c = TACIT_COMBINE_HIGH; c <= TACIT_COMBINE_WEIGHTED; c++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_model *model = sample_forest((tacit_combiner)c), *back = NULL;
        tacit_buffer text = text_of(model);
        CHECK_OK(tacit_model_parse(&back, text.bytes, text.length, "test", &error), error);
        CHECK_OK(tacit_model_scores(back, &rows, NULL, scores, &error), error);
        for (int i = 0; i < 3; i++) {
            double t = x[i][0] - 2 * x[i][2],
                   votes = ((t > 0) - (t < 0) + (leaf[i] > 0) - (leaf[i] < 0)) / 2.0;
            double high = (0.5 * tanh(t / 2) - 7 * tanh(leaf[i] / 2)) / sqrt(2);
            CHECK_NEAR(scores[i], c == TACIT_COMBINE_HIGH ? high : votes, 1e-11);
        }
        assert_memory_equal(back->weights, model->weights, tacit_model_size(model) * sizeof(double));
        assert_null(tacit_stack_tree(back->stack, 0));
        assert_memory_equal(tacit_stack_tree(back->stack, 1)->node, model->stack->tree[1]->node,
                            5 * sizeof(tacit_tree_node));
        tacit_buffer_clear(&text);
        tacit_model_free(model);
        tacit_model_free(back);
    }
}

static void a_damaged_tree_in_a_stack_is_refused(void **state) {
    (void)state;
    static const char *const damage[][2] = {
        { "\"tree\"", "\"trees\"" },                  /* neither columns nor a tree */
        { "\"tree\"", "\"columns\": [1], \"tree\"" }, /* both */
        { "\"features\": 4", "\"features\": 3" },     /* a node asks about a feature that is not there */
        { "\"left\"", "\"lift\"" },
        { "0.25", "\"x\"" }, /* a threshold */
        { "-1.5", "null" },  /* what a leaf says */
        { "0.10000000000000001,", "" },
    };
    tacit_model *model = sample_forest(TACIT_COMBINE_HIGH), *back = NULL;
    tacit_buffer text = text_of(model);
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        const char *whole = tacit_buffer_text(&text), *at = strstr(whole, damage[i][0]);
        char changed[4096];
        if (at == NULL) fail_msg("no %s in %s", damage[i][0], whole);
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - whole), whole, damage[i][1],
                 at + strlen(damage[i][0]));
        if (tacit_model_parse(&back, changed, strlen(changed), "test", NULL) != TACIT_INPUT)
            fail_msg("%s is taken", damage[i][1]);
    }
    tacit_buffer_clear(&text);
    tacit_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_scores_as_its_definition_says),
        cmocka_unit_test(a_stack_survives_a_file),
        cmocka_unit_test(a_damaged_stack_is_refused),
        cmocka_unit_test(a_tree_in_a_stack_says_what_its_leaf_does),
        cmocka_unit_test(a_damaged_tree_in_a_stack_is_refused),
    };
    return cmocka_run_group_tests_name("stack", tests, NULL, NULL);
}
