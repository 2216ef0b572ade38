/* The arguments of a call. */
#include <math.h>
#include <string.h>

#include "data/formula/formula_parts.h"

static bool is_called(const formula_tree *tree, const formula_node *one, const char *name) {
    return one->label_size == strlen(name) && memcmp(tree->text + one->label, name, one->label_size) == 0;
}

uint32_t formula_argument(const formula_tree *tree, uint32_t call, const char *name, size_t place) {
    size_t unnamed = 0;
    for (uint32_t k = tree->node[call].first; k != FORMULA_NONE; k = tree->node[k].next) {
        const formula_node *one = &tree->node[k];
        if (one->label_size > 0 ? is_called(tree, one, name) : unnamed++ == place) return k;
    }
    return FORMULA_NONE;
}

tacit_status formula_check_arguments(const formula_tree *tree, uint32_t call, const char *const *names,
                                     size_t unnamed, tacit_error *error) {
    size_t bare = 0;
    for (uint32_t k = tree->node[call].first; k != FORMULA_NONE; k = tree->node[k].next) {
        const formula_node *one = &tree->node[k];
        bool known = one->label_size == 0;
        for (size_t i = 0; names[i] != NULL && !known; i++) known = is_called(tree, one, names[i]);
        if (!known)
            return formula_fail(tree, call, error, "there is no argument '%.*s' here", (int)one->label_size,
                                tree->text + one->label);
        bare += one->label_size == 0;
        for (uint32_t j = tree->node[call].first; j != k && one->label_size > 0; j = tree->node[j].next)
            if (tree->node[j].label_size == one->label_size &&
                memcmp(tree->text + tree->node[j].label, tree->text + one->label, one->label_size) == 0)
                return formula_fail(tree, call, error, "'%.*s' is given twice", (int)one->label_size,
                                    tree->text + one->label);
    }
    if (bare > unnamed)
        return formula_fail(tree, call, error,
                            "there are %zu arguments without a name, and at most %zu belong here", bare,
                            unnamed);
    return TACIT_OK;
}

static tacit_status read_constant(const formula_tree *tree, uint32_t node, double *out, tacit_error *error) {
    const formula_node *one = &tree->node[node];
    bool minus = one->kind == FORMULA_UNARY && one->op == '-';
    const formula_node *inner = minus ? &tree->node[one->first] : one;
    if (inner->kind != FORMULA_NUMBER)
        return formula_fail(tree, node, error, "a number belongs here, which all parties know before");
    *out = minus ? -inner->number : inner->number;
    return TACIT_OK;
}

tacit_status formula_list(const formula_tree *tree, uint32_t node, double *out, size_t most, size_t *count,
                          tacit_error *error) {
    *count = 0;
    if (!formula_is_call(tree, node, "c")) {
        *count = 1;
        return read_constant(tree, node, out, error);
    }
    for (uint32_t k = tree->node[node].first; k != FORMULA_NONE; k = tree->node[k].next) {
        if (*count == most) return formula_fail(tree, node, error, "at most %zu numbers belong here", most);
        TACIT_TRY(read_constant(tree, k, &out[(*count)++], error));
    }
    return TACIT_OK;
}

tacit_status formula_whole(const formula_tree *tree, uint32_t node, size_t least, size_t most, size_t *out,
                           tacit_error *error) {
    double value = 0;
    TACIT_TRY(read_constant(tree, node, &value, error));
    if (!(value >= (double)least && value <= (double)most) || value != floor(value))
        return formula_fail(tree, node, error, "this must be a whole number from %zu to %zu", least, most);
    *out = (size_t)value;
    return TACIT_OK;
}
