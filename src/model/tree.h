/*
 * A decision tree over encoded features: a node sends a row to its left child where the row's feature is at
 * most the node's threshold, else to its right one, and a leaf says how likely each class is. Node 0 is the
 * root; a child's number is larger than its parent's. What nodes say are the weights of a tacit_model: as
 * many scores a node as the model has (log-odds for two classes, else the logarithms of the classes' shares);
 * those of a node that is no leaf are what a tree without its children would say.
 */
#pragma once

#include <jansson.h>

#include "num/matrix.h"

enum { TACIT_TREE_NODES_MOST = 1 << 16, TACIT_TREE_DEPTH_MOST = 64 };

typedef struct tacit_tree_node {
    uint32_t feature;
    uint32_t left, right; /* 0: a leaf */
    double threshold;
} tacit_tree_node;

typedef struct tacit_tree {
    size_t nodes; /* at least 1 */
    tacit_tree_node *node;
} tacit_tree;

/* That many leaves that nothing leads to: the caller fills them in. */
tacit_status tacit_tree_create(tacit_tree **out, size_t nodes, tacit_error *error);
tacit_tree *tacit_tree_free(tacit_tree *tree);
tacit_status tacit_tree_copy(tacit_tree **out, const tacit_tree *tree, tacit_error *error);

/* TACIT_INPUT unless every node but the root is the child of exactly one node before it, none is too deep,
 * features are below `features` and thresholds are finite. */
tacit_status tacit_tree_check(const tacit_tree *tree, size_t features, tacit_error *error);

static inline bool tacit_tree_is_leaf(const tacit_tree_node *node) { return node->left == 0; }

/* The leaf that a row ends in, and row i of a view. */
size_t tacit_tree_leaf(const tacit_tree *tree, const double *row);
size_t tacit_tree_leaf_of(const tacit_tree *tree, const tacit_rows *rows, size_t i);

/* { "feature": [...], "threshold": [...], "left": [...], "right": [...] }, a number of each a node; NULL when
 * out of memory. Reading checks every length and number (TACIT_INPUT). */
json_t *tacit_tree_to_json(const tacit_tree *tree);
tacit_status tacit_tree_from_json(tacit_tree **out, const json_t *object, size_t features,
                                  tacit_error *error);
