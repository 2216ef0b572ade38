#include "model/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

tacit_tree *tacit_tree_free(tacit_tree *tree) {
    if (tree == NULL) return NULL;
    free(tree->node);
    free(tree);
    return NULL;
}

tacit_status tacit_tree_create(tacit_tree **out, size_t nodes, tacit_error *error) {
    tacit_tree *tree = TACIT_NEW(tacit_tree, 1);
    if (tree == NULL) return tacit_fail_memory(error);
    tree->nodes = nodes;
    tree->node = TACIT_NEW(tacit_tree_node, nodes);
    if (tree->node == NULL) {
        tacit_tree_free(tree);
        return tacit_fail_memory(error);
    }
    *out = tree;
    return TACIT_OK;
}

tacit_status tacit_tree_copy(tacit_tree **out, const tacit_tree *tree, tacit_error *error) {
    TACIT_TRY(tacit_tree_create(out, tree->nodes, error));
    memcpy((*out)->node, tree->node, tree->nodes * sizeof *tree->node);
    return TACIT_OK;
}

/* The depth of each node that is a child; `found` has a place for each. */
static tacit_status count_parents(const tacit_tree *tree, size_t features, unsigned char *found,
                                  tacit_error *error) {
    for (size_t v = 0; v < tree->nodes; v++) {
        const tacit_tree_node *node = &tree->node[v];
        if (node->left == 0 && node->right == 0) continue;
        if (node->left <= v || node->right <= v || node->left >= tree->nodes || node->right >= tree->nodes ||
            node->left == node->right || found[node->left] != 0 || found[node->right] != 0)
            return tacit_fail(error, TACIT_INPUT, "node %zu of a tree has no two children of its own", v);
        if (node->feature >= features || !isfinite(node->threshold))
            return tacit_fail(error, TACIT_INPUT,
                              "node %zu of a tree asks about no feature, or has no finite threshold", v);
        if (found[v] == TACIT_TREE_DEPTH_MOST)
            return tacit_fail(error, TACIT_INPUT, "a tree has at most %d nodes above a leaf",
                              (int)TACIT_TREE_DEPTH_MOST);
        found[node->left] = found[node->right] = (unsigned char)(found[v] + 1);
    }
    return TACIT_OK;
}

tacit_status tacit_tree_check(const tacit_tree *tree, size_t features, tacit_error *error) {
    if (tree->nodes == 0 || tree->nodes > TACIT_TREE_NODES_MOST)
        return tacit_fail(error, TACIT_INPUT, "a tree has 1 to %d nodes, not %zu", (int)TACIT_TREE_NODES_MOST,
                          tree->nodes);
    unsigned char *found = TACIT_NEW(unsigned char, tree->nodes);
    if (found == NULL) return tacit_fail_memory(error);
    tacit_status status = count_parents(tree, features, found, error);
    for (size_t v = 1; v < tree->nodes && status == TACIT_OK; v++)
        if (found[v] == 0) status = tacit_fail(error, TACIT_INPUT, "nothing leads to node %zu of a tree", v);
    free(found);
    return status;
}

size_t tacit_tree_leaf(const tacit_tree *tree, const double *row) {
    size_t v = 0;
    while (!tacit_tree_is_leaf(&tree->node[v]))
        v = row[tree->node[v].feature] <= tree->node[v].threshold ? tree->node[v].left : tree->node[v].right;
    return v;
}

size_t tacit_tree_leaf_of(const tacit_tree *tree, const tacit_rows *rows, size_t i) {
    size_t v = 0;
    while (!tacit_tree_is_leaf(&tree->node[v])) {
        const tacit_tree_node *node = &tree->node[v];
        v = tacit_rows_cell(rows, i, node->feature) <= node->threshold ? node->left : node->right;
    }
    return v;
}

/* ---- files ---- */

json_t *tacit_tree_to_json(const tacit_tree *tree) {
    json_t *feature = json_array(), *threshold = json_array(), *left = json_array(), *right = json_array();
    bool whole = true;
    for (size_t v = 0; v < tree->nodes && whole; v++) {
        const tacit_tree_node *node = &tree->node[v];
        whole = json_array_append_new(feature, json_integer((json_int_t)node->feature)) == 0 &&
                json_array_append_new(threshold, json_real(node->threshold)) == 0 &&
                json_array_append_new(left, json_integer((json_int_t)node->left)) == 0 &&
                json_array_append_new(right, json_integer((json_int_t)node->right)) == 0;
    }
    json_t *object = json_pack("{s:o,s:o,s:o,s:o}", "feature", feature, "threshold", threshold, "left", left,
                               "right", right);
    if (whole) return object;
    json_decref(object);
    return NULL;
}

static bool read_whole(const json_t *list, size_t v, uint32_t *out) {
    const json_t *number = json_array_get(list, v);
    json_int_t value = json_integer_value(number);
    if (!json_is_integer(number) || value < 0 || value > UINT32_MAX) return false;
    *out = (uint32_t)value;
    return true;
}

tacit_status tacit_tree_from_json(tacit_tree **out, const json_t *object, size_t features,
                                  tacit_error *error) {
    const json_t *feature = json_object_get(object, "feature"), *left = json_object_get(object, "left"),
                 *right = json_object_get(object, "right"), *threshold = json_object_get(object, "threshold");
    const size_t nodes = json_array_size(feature);
    tacit_tree *tree = NULL;
    tacit_status status;
    if (nodes == 0 || nodes > TACIT_TREE_NODES_MOST || json_array_size(left) != nodes ||
        json_array_size(right) != nodes || json_array_size(threshold) != nodes)
        return tacit_fail(error, TACIT_INPUT,
                          "a tree has as many features, thresholds and children as it has nodes, 1 to %d",
                          (int)TACIT_TREE_NODES_MOST);
    TACIT_CHECK(tacit_tree_create(&tree, nodes, error));
    for (size_t v = 0; v < nodes; v++) {
        tacit_tree_node *node = &tree->node[v];
        const json_t *number = json_array_get(threshold, v);
        node->threshold = json_number_value(number);
        if (!json_is_number(number) || !read_whole(feature, v, &node->feature) ||
            !read_whole(left, v, &node->left) || !read_whole(right, v, &node->right))
            TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "node %zu of a tree is no four numbers", v));
    }
    TACIT_CHECK(tacit_tree_check(tree, features, error));
    *out = tree;
    tree = NULL;
cleanup:
    tacit_tree_free(tree);
    return status;
}
