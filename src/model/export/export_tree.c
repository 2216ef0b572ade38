/*
 * A tree's scores in both formats. ONNX has operators for trees in single precision only, so it is written
 * with comparisons and sums that are exact: right_v = 1 where a row would go right at node v, and a row is in
 * leaf l of depth D_l where
 *
 *   sum over the nodes above l of (right_v, or 1 - right_v where the way to l goes left) = D_l.
 *
 * PMML has it as nested conditions.
 */
#include <math.h>

#include "model/export/export_fields.h"
#include "model/export/export_graph.h"

/* The nodes that ask, the leaves, and for every node the one above it; UINT32_MAX: none. */
typedef struct tree_parts {
    size_t inner, leaves;
    uint32_t *place; /* of a node among those that ask, or among the leaves */
    uint32_t *above;
} tree_parts;

static bool take_apart(onnx_graph *g, const tacit_tree *tree, tree_parts *out) {
    *out = (tree_parts){ .place = graph_allocate(g, tree->nodes, sizeof *out->place),
                         .above = graph_allocate(g, tree->nodes, sizeof *out->above) };
    if (out->place == NULL || out->above == NULL) return false;
    out->above[0] = UINT32_MAX;
    for (size_t v = 0; v < tree->nodes; v++) {
        const tacit_tree_node *node = &tree->node[v];
        out->place[v] = (uint32_t)(tacit_tree_is_leaf(node) ? out->leaves++ : out->inner++);
        if (!tacit_tree_is_leaf(node)) out->above[node->left] = out->above[node->right] = (uint32_t)v;
    }
    return true;
}

/* 1 where a row goes right, a column a node that asks. */
static graph_value turns(onnx_graph *g, const tacit_tree *tree, const tree_parts *parts, graph_value rows) {
    uint32_t *column = graph_allocate(g, parts->inner, sizeof *column);
    double *threshold = graph_allocate(g, parts->inner, sizeof *threshold);
    for (size_t v = 0; v < tree->nodes && column != NULL && threshold != NULL; v++) {
        if (tacit_tree_is_leaf(&tree->node[v])) continue;
        column[parts->place[v]] = tree->node[v].feature;
        threshold[parts->place[v]] = tree->node[v].threshold;
    }
    if (column == NULL || threshold == NULL) return "";
    graph_value asked = graph_gather(g, rows, parts->inner, column);
    return graph_cast(g, GRAPH(g, "Greater", asked, graph_matrix(g, 1, parts->inner, threshold)),
                      GRAPH_NUMBER);
}

/* How many of the turns above each leaf a row takes, less their number, plus 1/2: positive in its leaf. */
static graph_value ways(onnx_graph *g, const tacit_tree *tree, const tree_parts *parts, graph_value right) {
    double *along = graph_allocate(g, parts->leaves * parts->inner, sizeof *along);
    double *less = graph_allocate(g, parts->leaves, sizeof *less);
    for (size_t v = 0; v < tree->nodes && along != NULL && less != NULL; v++) {
        if (!tacit_tree_is_leaf(&tree->node[v])) continue;
        const size_t leaf = parts->place[v];
        less[leaf] = 0.5;
        for (size_t at = v, from = parts->above[v]; from != UINT32_MAX; at = from, from = parts->above[at]) {
            const bool goes_right = tree->node[from].right == at;
            along[leaf * parts->inner + parts->place[from]] = goes_right ? 1 : -1;
            less[leaf] -= goes_right;
        }
    }
    if (along == NULL || less == NULL) return "";
    return graph_linear(g, right, parts->leaves, parts->inner, along, less);
}

graph_value graph_tree(onnx_graph *g, const tacit_tree *tree, size_t each, const double *scores,
                       graph_value rows) {
    tree_parts parts;
    if (!take_apart(g, tree, &parts)) return "";
    double *said = graph_allocate(g, each * parts.leaves, sizeof *said);
    if (said == NULL) return "";
    for (size_t v = 0; v < tree->nodes; v++)
        for (size_t k = 0; k < each && tacit_tree_is_leaf(&tree->node[v]); k++)
            said[k * parts.leaves + parts.place[v]] = scores[v * each + k];
    graph_value inside;
    if (parts.inner == 0) { /* every row is in the one leaf */
        const uint32_t first[] = { 0 };
        inside =
            graph_cast(g, GRAPH(g, "Equal", graph_gather(g, rows, 1, first), graph_gather(g, rows, 1, first)),
                       GRAPH_NUMBER);
    } else {
        graph_value way = ways(g, tree, &parts, turns(g, tree, &parts, rows));
        inside = graph_cast(g, GRAPH(g, "Greater", way, graph_number(g, 0)), GRAPH_NUMBER);
    }
    return graph_linear(g, inside, each, parts.leaves, said, NULL);
}

/* A node sends what is above its threshold right. */
static void node_expression(pmml *p, const tacit_tree *tree, const double *scores, size_t each, size_t v) {
    const tacit_tree_node *node = &tree->node[v];
    if (tacit_tree_is_leaf(node)) {
        pmml_constant(p, scores[v * each]);
        return;
    }
    pmml_apply(p, "if", NULL);
    pmml_apply(p, "greaterThan", NULL);
    pmml_ref(p, pmml_feature(p, node->feature).text);
    pmml_constant(p, node->threshold);
    pmml_end(p);
    node_expression(p, tree, scores, each, node->right);
    node_expression(p, tree, scores, each, node->left);
    pmml_end(p);
}

void pmml_tree(pmml *p, const tacit_tree *tree, size_t each, const double *scores, size_t k) {
    node_expression(p, tree, scores + k, each, 0);
}
