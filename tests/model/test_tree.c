/* Trees: which leaf a row ends in, files, and what is no tree. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "model/model.h"

static tacit_buffer text_of(const tacit_model *model) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_model_print(model, &text, &error), error);
    return text;
}

/* Of three leaves, whose scores are 1, -2 and 1/3; those of other nodes count for nothing. */
static tacit_model *sample_tree(void) {
    static const double weights[] = { 9, 1, 9, -2, 1.0 / 3 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_tree *tree = NULL;
    tacit_model *model = NULL;
    CHECK_OK(tacit_tree_create(&tree, 5, &error), error);
    tree->node[0] = (tacit_tree_node){ .feature = 3, .left = 1, .right = 2, .threshold = 0.25 };
    tree->node[2] = (tacit_tree_node){ .feature = 1, .left = 3, .right = 4, .threshold = 0 };
    CHECK_OK(tacit_model_create_tree(&model, tree, 4, 2, &error), error);
    memcpy(model->weights, weights, sizeof weights);
    return model;
}

static void a_tree_scores_by_its_leaves_and_survives_a_file(void **state) {
    (void)state;
    double x[3][4] = { { 0, 1, 0, 0.25 }, { 0, 0, 0, 0.3 }, { 0, 1e-9, 0, 0.3 } }, scores[3];
    static const double expected[] = { 1, -2, 1.0 / 3 };
    tacit_rows rows = { .count = 3, .cols = 4, .dense = x[0], .stride = 4 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_model *model = sample_tree(), *back = NULL;
    tacit_buffer text = text_of(model);
    CHECK_OK(tacit_model_parse(&back, text.bytes, text.length, "test", &error), error);
    assert_memory_equal(back->tree->node, model->tree->node, 5 * sizeof(tacit_tree_node));
    CHECK_OK(tacit_model_scores(back, &rows, NULL, scores, &error), error);
    for (size_t i = 0; i < 3; i++) CHECK_NEAR(scores[i], expected[i], 0);
    assert_true(tacit_model_has_probabilities(back) && !tacit_model_is_linear(back));
    tacit_buffer_clear(&text);
    tacit_model_free(model);
    tacit_model_free(back);
}

static void a_damaged_tree_is_refused(void **state) {
    (void)state;
    static const struct {
        size_t node;
        tacit_tree_node with;
    } damage[] = {
        { 0, { .feature = 4, .left = 1, .right = 2 } },          /* no such feature */
        { 0, { .left = 1, .right = 1 } },                        /* one child */
        { 0, { .left = 1 } },                                    /* one child */
        { 0, { .left = 3, .right = 4 } },                        /* nothing leads to 1 and 2 */
        { 2, { .left = 1, .right = 4 } },                        /* before its parent */
        { 2, { .left = 3, .right = 5 } },                        /* beyond the last */
        { 2, { .left = 3, .right = 4, .threshold = INFINITY } }, /* no number */
        { 1, { .left = 3, .right = 4 } },                        /* two parents */
    };
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        tacit_model *model = sample_tree();
        model->tree->node[damage[i].node] = damage[i].with;
        assert_int_equal(tacit_tree_check(model->tree, 4, NULL), TACIT_INPUT);
        if (isfinite(damage[i].with.threshold)) {
            tacit_model *back = NULL;
            tacit_buffer text = text_of(model);
            assert_int_equal(tacit_model_parse(&back, text.bytes, text.length, "test", NULL), TACIT_INPUT);
            tacit_buffer_clear(&text);
        }
        tacit_model_free(model);
    }
}

/* A chain of splits on one side, one deeper than a tree may be. */
static void a_tree_that_is_too_deep_is_refused(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t deep = TACIT_TREE_DEPTH_MOST; deep <= TACIT_TREE_DEPTH_MOST + 1; deep++) {
        tacit_tree *tree = NULL;
        CHECK_OK(tacit_tree_create(&tree, 2 * deep + 1, &error), error);
        for (size_t d = 0; d < deep; d++) {
            tree->node[2 * d].left = (uint32_t)(2 * d + 1);
            tree->node[2 * d].right = (uint32_t)(2 * d + 2);
        }
        assert_int_equal(tacit_tree_check(tree, 1, &error),
                         deep > TACIT_TREE_DEPTH_MOST ? TACIT_INPUT : TACIT_OK);
        tacit_tree_free(tree);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_scores_by_its_leaves_and_survives_a_file),
        cmocka_unit_test(a_damaged_tree_is_refused),
        cmocka_unit_test(a_tree_that_is_too_deep_is_refused),
    };
    return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
