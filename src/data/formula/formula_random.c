/* Random effects: (1 | site), (age | person), (1 + age | person). They are no columns of the design. */
#include <string.h>

#include "base/memory.h"
#include "data/formula/formula_parts.h"

bool formula_is_random(const formula_tree *tree, uint32_t node) {
    const formula_node *one = &tree->node[node];
    return one->kind == FORMULA_GROUP && tree->node[one->first].kind == FORMULA_BINARY &&
           tree->node[one->first].op == '|';
}

static bool is_one(const formula_tree *tree, uint32_t node) {
    return tree->node[node].kind == FORMULA_NUMBER && tree->node[node].number == 1;
}

/* What differs between groups: FORMULA_NONE for their intercepts alone. */
static tacit_status find_slope(const formula_tree *tree, uint32_t node, uint32_t *out, tacit_error *error) {
    const formula_node *one = &tree->node[node];
    *out = FORMULA_NONE;
    if (is_one(tree, node)) return TACIT_OK;
    if (one->kind == FORMULA_BINARY && one->op == '+' && is_one(tree, one->first))
        node = tree->node[one->first].next;
    *out = node;
    if (tree->node[node].kind == FORMULA_NAME) return TACIT_OK;
    return formula_fail(
        tree, node, error,
        "before | stands 1, for an intercept of each group, or a column, for an intercept and its effect");
}

tacit_status formula_keep_random(tacit_formula *formula, uint32_t node, tacit_error *error) {
    const formula_tree *tree = &formula->tree;
    uint32_t effect = tree->node[tree->node[node].first].first, group = tree->node[effect].next, slope;
    const char *person = formula->schema->person;
    if (formula->random != FORMULA_NONE)
        return formula_fail(tree, node, error, "there are random effects already");
    TACIT_TRY(find_slope(tree, effect, &slope, error));
    formula->random_party = formula_is(tree, group, "site") || formula_is(tree, group, "party");
    bool persons = formula_is(tree, group, "person") || (person != NULL && formula_is(tree, group, person));
    if (tree->node[group].kind != FORMULA_NAME || (!formula->random_party && !persons))
        return formula_fail(tree, group, error,
                            "after | stands person, for the schema's persons, or site, for each party");
    if (slope != FORMULA_NONE) {
        formula->random_slope = TACIT_NEW(char, tree->node[slope].length + 1);
        if (formula->random_slope == NULL) return tacit_fail_memory(error);
        memcpy(formula->random_slope, tree->text + tree->node[slope].at, tree->node[slope].length);
    }
    formula->random = node;
    return TACIT_OK;
}

bool tacit_formula_random(const tacit_formula *formula, bool *party, const char **slope) {
    if (formula->random == FORMULA_NONE) return false;
    *party = formula->random_party;
    *slope = formula->random_slope;
    return true;
}
