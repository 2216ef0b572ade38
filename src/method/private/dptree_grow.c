/*
 * What dptree's coordinator makes of counts with noise: post-processing all of it.
 *
 * Splits. Of n rows of a node, l_k of class k going left, and p_k the class's share in the node, the Gini
 * index times n falls by
 *
 *   G = sum_k (l_k - p_k l)^2 (1/l + 1/r),   l and r the rows that go left and right.
 *
 * Where a split tells nothing, noise of deviation s on each l_k alone makes that
 *
 *   E = sum_k ((1 - p_k)^2 + (K - 1) p_k^2) s^2 (1/l + 1/r) + sum_k p_k (1 - p_k),
 *
 * the last sum by the chance that rows are. The split with the largest G - E is taken, unless G < 2 E, or a
 * side has fewer rows than three deviations.
 *
 * Every column's counts add up to the node's, so that the node's counts are their mean, each weighed by the
 * number of its cells, and what a column has more than that is taken off its cells evenly.
 *
 * Leaves. Counts of leaves add up to those of the nodes above them. From the root on, a node's shares are
 * drawn towards those of its parent, q: with r what its own counts say and v the variance of that, by rows
 * and by noise, q + (r - q) t/(t + v), t = sum_k q_k (1 - q_k).
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "method/private/dptree.h"

static const double CLEAR = 2;      /* G over E at least */
static const double DEVIATIONS = 3; /* of noise in the rows of a side, at least; and rows: */
static const double FEWEST = 5;
static const double LEAST_CHANCE = 1e-3;

void dptree_end(dptree_growth *growth) {
    if (growth->next.tree != NULL) growth->next.tree->nodes = growth->room;
    dptree_question_clear(&growth->next);
    free(growth->gain);
    free(growth->chance);
    growth->gain = growth->chance = NULL;
}

tacit_status dptree_begin(dptree_growth *out, const dptree_design *design, tacit_error *error) {
    const size_t leaves = (size_t)1 << design->depth;
    *out = (dptree_growth){ .design = design, .room = 2 * leaves - 1 };
    TACIT_TRY(dptree_question_create(&out->next, out->room, design->columns, leaves, error));
    out->gain = TACIT_NEW(double, design->columns);
    out->chance = TACIT_NEW(double, out->room * design->classes);
    if (out->gain == NULL || out->chance == NULL) return tacit_fail_memory(error); /* dptree_end frees */
    out->next.tree->nodes = 1;
    out->next.open = 1;
    for (size_t c = 0; c < design->columns; c++) out->next.column[c] = c;
    return TACIT_OK;
}

/* ---- splits ---- */

typedef struct split {
    double worth; /* G - E; 0: there is none */
    tacit_tree_node node;
} split;

/* A node under consideration: its counts by class, with the variance of each in units of that of a cell. */
typedef struct considered {
    const dptree_design *design;
    const double *counts; /* of its columns' cells */
    double noise;         /* deviation of one cell */
    double total[DPTREE_MOST_CLASSES], rows, spread;
} considered;

static void add_up(considered *self, const dptree_question *question) {
    const size_t classes = self->design->classes;
    double weight = 0;
    memset(self->total, 0, sizeof self->total);
    for (size_t j = 0; j < question->columns; j++) {
        const size_t cells = self->design->column[question->column[j]].cells;
        const double *counts = self->counts + dptree_offset(self->design, question, j);
        weight += 1 / (double)cells;
        for (size_t i = 0; i < cells * classes; i++) self->total[i % classes] += counts[i] / (double)cells;
    }
    self->rows = 0;
    self->spread = 1 / weight;
    for (size_t k = 0; k < classes; k++) {
        self->total[k] = fmax(self->total[k] / weight, 0);
        self->rows += self->total[k];
    }
}

/* G - E of counts that go to one side; 0 where it is not clear. `spread`: of their noise, as above. */
static double worth_of(const considered *self, const double *side, double spread) {
    const size_t classes = self->design->classes;
    const double variance = self->noise * self->noise * spread,
                 few = fmax(FEWEST, DEVIATIONS * sqrt(variance));
    double left = 0, square = 0, by_noise = 0, by_chance = 0;
    for (size_t k = 0; k < classes; k++) left += fmin(fmax(side[k], 0), self->total[k]);
    const double right = self->rows - left;
    if (left < few || right < few) return 0;
    const double apart = 1 / left + 1 / right;
    for (size_t k = 0; k < classes; k++) {
        const double p = self->total[k] / self->rows, off = fmin(fmax(side[k], 0), self->total[k]) - p * left;
        square += off * off;
        by_noise += (1 - p) * (1 - p) + (double)(classes - 1) * p * p;
        by_chance += p * (1 - p);
    }
    const double gain = square * apart, expected = by_noise * variance * apart + by_chance;
    return gain >= CLEAR * expected ? gain - expected : 0;
}

/* The best split by one column. */
static split split_by(const considered *self, const dptree_column *column, const double *counts) {
    const size_t classes = self->design->classes;
    const double cells = (double)column->cells;
    double whole[DPTREE_MOST_CLASSES] = { 0 }, side[DPTREE_MOST_CLASSES], so_far[DPTREE_MOST_CLASSES] = { 0 };
    split best = { .worth = 0 };
    for (size_t i = 0; i < column->cells * classes; i++) whole[i % classes] += counts[i];
    for (size_t c = 0; c + 1 < column->cells; c++) {
        const double part = column->number ? (double)(c + 1) / cells : 1 / cells;
        for (size_t k = 0; k < classes; k++) {
            so_far[k] = (column->number ? so_far[k] : 0) + counts[c * classes + k];
            side[k] = so_far[k] + part * (self->total[k] - whole[k]);
        }
        const double spread = part * (1 - part) * cells + part * part * self->spread;
        const double worth = worth_of(self, side, spread);
        if (worth <= best.worth) continue;
        best.worth = worth;
        dptree_cut(column, c, &best.node);
    }
    return best;
}

/* Of one open leaf; `gain` notes the best of each column, where it is not NULL. */
static split best_split(const considered *self, const dptree_question *question, double *gain) {
    split best = { .worth = 0 };
    for (size_t j = 0; j < question->columns; j++) {
        const dptree_column *column = &self->design->column[question->column[j]];
        split one = split_by(self, column, self->counts + dptree_offset(self->design, question, j));
        if (gain != NULL) gain[question->column[j]] = one.worth;
        if (one.worth > best.worth) best = one;
    }
    return best;
}

/* The columns that split the root best, in the order of the schema. */
static void keep_columns(dptree_growth *growth) {
    const dptree_design *design = growth->design;
    dptree_question *next = &growth->next;
    next->columns = 0;
    for (size_t c = 0; c < design->columns; c++) {
        size_t better = 0;
        for (size_t other = 0; other < design->columns; other++)
            better += growth->gain[other] > growth->gain[c] ||
                      (growth->gain[other] == growth->gain[c] && other < c);
        if (better < design->kept) next->column[next->columns++] = c;
    }
}

tacit_status dptree_grow(dptree_growth *growth, size_t t, const double *counts, tacit_error *error) {
    const dptree_design *design = growth->design;
    dptree_question *next = &growth->next;
    const size_t stride = dptree_stride(design, next), leaves = next->open;
    size_t *leaf = TACIT_NEW(size_t, leaves + 1);
    if (leaf == NULL) return tacit_fail_memory(error);
    memcpy(leaf, next->leaf, leaves * sizeof *leaf);
    next->open = 0;
    for (size_t s = 0; s < leaves; s++) {
        considered node = { .design = design,
                            .counts = counts + s * stride,
                            .noise = design->release[t].deviation };
        add_up(&node, next);
        split found = best_split(&node, next, t == 0 ? growth->gain : NULL);
        if (!(found.worth > 0)) continue;
        tacit_tree_node *at = &next->tree->node[leaf[s]];
        *at = found.node;
        at->left = (uint32_t)next->tree->nodes++;
        at->right = (uint32_t)next->tree->nodes++;
        next->leaf[next->open++] = at->left;
        next->leaf[next->open++] = at->right;
    }
    free(leaf);
    if (t == 0) keep_columns(growth);
    return TACIT_OK;
}

void dptree_open_leaves(dptree_growth *growth) {
    dptree_question *next = &growth->next;
    next->columns = next->open = 0;
    for (size_t v = 0; v < next->tree->nodes; v++)
        if (tacit_tree_is_leaf(&next->tree->node[v])) next->leaf[next->open++] = v;
}

/* ---- leaves ---- */

/* Counts of all nodes, from those of leaves, and how many leaves they are of. */
static void gather(const dptree_growth *growth, const double *counts, double *all, double *leaves) {
    const tacit_tree *tree = growth->next.tree;
    const size_t classes = growth->design->classes;
    for (size_t s = 0; s < growth->next.open; s++) {
        memcpy(all + growth->next.leaf[s] * classes, counts + s * classes, classes * sizeof *all);
        leaves[growth->next.leaf[s]] = 1;
    }
    for (size_t v = tree->nodes; v-- > 0;) {
        const tacit_tree_node *node = &tree->node[v];
        if (tacit_tree_is_leaf(node)) continue;
        leaves[v] = leaves[node->left] + leaves[node->right];
        for (size_t k = 0; k < classes; k++)
            all[v * classes + k] = all[node->left * classes + k] + all[node->right * classes + k];
    }
}

/* Shares are at least LEAST_CHANCE over the number of classes, and add up to 1. */
static void settle_chances(double *chance, size_t classes) {
    double sum = 0;
    for (size_t k = 0; k < classes; k++) sum += chance[k] = fmax(chance[k], LEAST_CHANCE / (double)classes);
    for (size_t k = 0; k < classes; k++) chance[k] /= sum;
}

/* A child's shares, from its counts and its parent's shares. */
static void draw_towards(const dptree_growth *growth, const double *parent, const double *counts,
                         double leaves, double *out) {
    const size_t classes = growth->design->classes;
    const double noise = growth->design->release[growth->design->depth].deviation;
    double rows = 0, usual = 0, variance = 0;
    for (size_t k = 0; k < classes; k++) rows += counts[k];
    rows = fmax(rows, 1);
    for (size_t k = 0; k < classes; k++) {
        const double q = parent[k];
        usual += q * (1 - q);
        variance += q * (1 - q) / rows + noise * noise * leaves *
                                             ((1 - q) * (1 - q) + (double)(classes - 1) * q * q) /
                                             (rows * rows);
    }
    const double trust = usual / (usual + variance);
    for (size_t k = 0; k < classes; k++)
        out[k] = parent[k] + trust * (fmin(fmax(counts[k] / rows, 0), 1) - parent[k]);
    settle_chances(out, classes);
}

static void find_chances(dptree_growth *growth, const double *counts, const double *leaves) {
    const tacit_tree *tree = growth->next.tree;
    const size_t classes = growth->design->classes;
    for (size_t k = 0; k < classes; k++) growth->chance[k] = fmax(counts[k], 0) + 0.5;
    settle_chances(growth->chance, classes);
    for (size_t v = 0; v < tree->nodes; v++) {
        const uint32_t child[] = { tree->node[v].left, tree->node[v].right };
        for (size_t c = 0; c < 2 && !tacit_tree_is_leaf(&tree->node[v]); c++)
            draw_towards(growth, growth->chance + v * classes, counts + child[c] * classes, leaves[child[c]],
                         growth->chance + child[c] * classes);
    }
}

tacit_status dptree_finish(dptree_growth *growth, const double *counts, tacit_model **out,
                           tacit_error *error) {
    const dptree_design *design = growth->design;
    const size_t nodes = growth->next.tree->nodes, classes = design->classes;
    double *all = TACIT_NEW(double, nodes *(classes + 1));
    tacit_tree *tree = NULL;
    tacit_model *model = NULL;
    tacit_status status = all != NULL ? TACIT_OK : tacit_fail_memory(error);
    TACIT_CHECK(status);
    gather(growth, counts, all, all + nodes * classes);
    find_chances(growth, all, all + nodes * classes);
    TACIT_CHECK(tacit_tree_copy(&tree, growth->next.tree, error));
    TACIT_CHECK(tacit_model_create_tree(&model, tree, design->features, classes, error));
    const size_t each = tacit_model_scores_per_row(model);
    for (size_t v = 0; v < nodes; v++) {
        const double *chance = growth->chance + v * classes;
        for (size_t k = 0; k < each; k++)
            model->weights[v * each + k] = each == 1 ? log(chance[1] / chance[0]) : log(chance[k]);
    }
    *out = model;
cleanup:
    free(all);
    return status;
}

tacit_status dptree_make(const dptree_design *design, dptree_asker *ask, void *context, tacit_model **out,
                         tacit_error *error) {
    dptree_growth growth = { .room = 0 };
    double *counts = NULL;
    tacit_status status;
    TACIT_CHECK(dptree_begin(&growth, design, error));
    for (size_t t = 0; t < design->depth; t++) {
        TACIT_CHECK(ask(context, &growth, t, &counts, error));
        TACIT_CHECK(dptree_grow(&growth, t, counts, error));
        free(counts);
        counts = NULL;
    }
    dptree_open_leaves(&growth);
    TACIT_CHECK(ask(context, &growth, design->depth, &counts, error));
    TACIT_CHECK(dptree_finish(&growth, counts, out, error));
cleanup:
    free(counts);
    dptree_end(&growth);
    return status;
}
