/*
 * Counts of rows in the cells of a tree over [0, 1]: level 1 cuts it into `branch` cells, level 2 each of
 * these into `branch`, and so on. Each level is a histogram of all rows, rows without a value in a cell of
 * their own, so that replacing a row moves it by sqrt(2) in L2 norm, and all levels by sqrt(2 depth).
 *
 * The same noise variance s^2 on every count. The fit is the least-squares solution under all sums of the
 * tree (Hay, Rastogi, Miklau and Suciu 2010, section 4), with the variance of every number known: from the
 * leaves up, a cell's own count and the sum of its children are weighed by their variances,
 *
 *   v_depth = s^2,   1/v_l = 1/s^2 + 1/(branch v_{l+1}),   missing: s^2/depth,
 *
 * then from the root down what is left of a cell is dealt out to its children in proportion to their
 * variances. The root is the number of rows, which is known, exactly or with a variance of its own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { TACIT_TREE_DEPTH = 8 };

typedef struct tacit_count_tree {
    size_t branch, depth;
} tacit_count_tree;

size_t tacit_count_tree_leaves(tacit_count_tree tree);
/* Counts of all levels, those of missing values included; where level l from 1 begins: its cells, then the
 * missing. */
size_t tacit_count_tree_size(tacit_count_tree tree);
size_t tacit_count_tree_level(tacit_count_tree tree, size_t level);

/* Add `weight` to the counts of a row at `place` in [0, 1], or NaN: missing. */
void tacit_count_tree_add(tacit_count_tree tree, double *counts, double place, double weight);

/* The tree with the least expected error of quantiles, where one level alone would have noise of variance
 * `noise` in shares of the rows; a cell's width counts as error too. */
tacit_count_tree tacit_count_tree_choose(double noise);

typedef struct tacit_count_fit {
    tacit_count_tree tree;
    double *cell;    /* consistent counts, laid out as they came */
    double *below;   /* rows with a value below each border of leaves: leaves + 1 of them */
    double variance; /* s^2 */
    double level[TACIT_TREE_DEPTH + 1]; /* v_l */
    double missing, missing_variance;
    double present, present_variance;
    double total_variance;
} tacit_count_fit;

/* From noisy counts and the total with its variance (0: exact). */
tacit_status tacit_count_fit_make(tacit_count_fit *out, tacit_count_tree tree, const double *counts,
                                  double variance, double total, double total_variance, tacit_error *error);

/* From exact counts of the leaves, of which neighbours may have been put together: a piece begins at each
 * leaf that is `told`, whose count is the piece's, and ends before the next one; NULL: all are told. What a
 * piece holds is spread evenly. Where not even the first leaf is told, all is one piece: the `total` less the
 * missing. */
tacit_status tacit_count_fit_exact(tacit_count_fit *out, tacit_count_tree tree, const double *counts,
                                   double total, const bool *told, tacit_error *error);

/* Whether the count of a cell of level l, from 1, follows from the pieces: they end where it does. */
bool tacit_count_tree_known(tacit_count_tree tree, const bool *told, size_t level, size_t cell);
/* The share of the range that the piece has in which a place is; 1: nothing is told. */
double tacit_count_tree_width(tacit_count_tree tree, const bool *told, double place);
void tacit_count_fit_clear(tacit_count_fit *fit);

/* The variance of the noise in a consistent count of level l, from 1. */
double tacit_count_fit_variance(const tacit_count_fit *fit, size_t level);

/* The standard deviation of the noise in (rows below) - p (rows with a value), at a share `within` of a
 * leaf. */
double tacit_count_fit_deviation(const tacit_count_fit *fit, size_t leaf, double within, double p);

/* A quantile of the rows with a value, as a place in [0, 1], and the bounds within which noise of
 * `deviations` standard deviations leaves it: all places where the share of rows below may be p. */
typedef struct tacit_tree_quantile {
    double value, low, high;
} tacit_tree_quantile;

tacit_tree_quantile tacit_count_fit_quantile(const tacit_count_fit *fit, double p, double deviations);
