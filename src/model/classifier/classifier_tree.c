/*
 * A decision tree (CART: Breiman, Friedman, Olshen and Stone 1984) with the Gini index and exact splits.
 *
 * Each feature's entries other than zero are sorted once. A node owns a range of each feature's entries, and
 * a split parts each range stably, so that it stays sorted: time is entries x depth, and zeros, which are
 * most of a one-hot row, cost nothing. Dense and sparse rows give the same tree.
 *
 * Among splits equally good the first wins, and features are tried in an order drawn from the training
 * stream: with few rows ties are common, and parties that all prefer the first feature would agree too much
 * for a vote.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/classifier/classifier_kinds.h"

enum { DEPTH_LIMIT = 20, SMALL_SORT = 32 };

/* A leaf has left == 0: the root is nobody's child. The right child follows the left one. */
typedef struct node {
    double threshold; /* left when at most this */
    uint32_t feature;
    uint32_t left;
    int32_t label;
} node;

typedef struct tree {
    tacit_classifier base;
    node *nodes;
    size_t count, capacity;
} tree;

typedef struct entry {
    double value;
    uint32_t row; /* of the view */
} entry;

typedef struct range {
    size_t begin, end;
} range;

/* A node's entries of one feature; features without any in the node are left out of its list. */
typedef struct column {
    range entries;
    uint32_t feature;
} column;

typedef struct split {
    double score; /* sum over both sides of sum_k count_k^2 / count: larger is purer */
    double threshold;
    size_t column; /* position in the node's list */
    bool found;
} split;

typedef struct growing {
    tree *tree;
    size_t rows, classes, least_leaf;
    int32_t *label;   /* of each row of the view */
    uint32_t *member; /* rows, grouped by node */
    uint32_t *spare;  /* scratch for parting members */
    bool *goes_left;  /* of each row */
    entry *entries;   /* grouped by feature, ascending values */
    entry *spare_entries;
    column *columns;                     /* lists of the nodes on the path, one after the other */
    size_t root_columns;                 /* how many features have entries at all */
    size_t *root, *whole, *left, *zeros; /* counts a class */
} growing;

static void grow_clear(growing *g) {
    free(g->label);
    free(g->member);
    free(g->spare);
    free(g->goes_left);
    free(g->entries);
    free(g->spare_entries);
    free(g->columns);
    free(g->root);
}

/* ---- sorting ---- */

static bool entry_before(const entry *a, const entry *b) {
    return a->value < b->value || (a->value == b->value && a->row < b->row);
}

static int compare_entries(const void *first, const void *second) {
    const entry *a = first, *b = second;
    return entry_before(b, a) - entry_before(a, b);
}

static void sort_entries(entry *entries, size_t count) {
    if (count > SMALL_SORT) {
        qsort(entries, count, sizeof *entries, compare_entries);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        entry moving = entries[i];
        size_t j = i;
        for (; j > 0 && entry_before(&moving, &entries[j - 1]); j--) entries[j] = entries[j - 1];
        entries[j] = moving;
    }
}

/* Group the entries by column, columns in random order; `start` is scratch of features + 1 places. */
static tacit_status fill_columns(growing *g, const tacit_view *rows, const tacit_training *training,
                                 size_t *start, tacit_error *error) {
    size_t features = rows->rows.cols, total = 0;
    tacit_stream stream = training->stream;
    size_t *order = TACIT_NEW(size_t, features);
    if (order == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < g->rows; i++)
        for (classifier_entries at = classifier_entries_of(&rows->rows, i); classifier_entries_next(&at);)
            start[at.column]++;
    tacit_stream_permutation(&stream, order, features);
    for (size_t p = 0; p < features; p++) {
        size_t j = order[p], count = start[j];
        if (count == 0) continue;
        g->columns[g->root_columns++] = (column){ { total, total + count }, (uint32_t)j };
        start[j] = total;
        total += count;
    }
    free(order);
    g->entries = TACIT_NEW(entry, total);
    g->spare_entries = TACIT_NEW(entry, total);
    if (g->entries == NULL || g->spare_entries == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < g->rows; i++)
        for (classifier_entries at = classifier_entries_of(&rows->rows, i); classifier_entries_next(&at);)
            g->entries[start[at.column]++] = (entry){ at.value, (uint32_t)i };
    return TACIT_OK;
}

static tacit_status grow_prepare(growing *g, const tacit_view *rows, const tacit_training *training,
                                 tacit_error *error) {
    size_t features = rows->rows.cols, *start = TACIT_NEW(size_t, features);
    g->label = TACIT_NEW(int32_t, g->rows);
    g->member = TACIT_NEW(uint32_t, g->rows);
    g->spare = TACIT_NEW(uint32_t, g->rows);
    g->goes_left = TACIT_NEW(bool, g->rows);
    g->columns = TACIT_NEW(column, features);
    g->root = TACIT_NEW(size_t, 4 * g->classes);
    tacit_status status = TACIT_OK;
    if (start == NULL || g->label == NULL || g->member == NULL || g->spare == NULL || g->goes_left == NULL ||
        g->columns == NULL || g->root == NULL) {
        status = tacit_fail_memory(error);
        goto cleanup;
    }
    g->whole = g->root + g->classes;
    g->left = g->whole + g->classes;
    g->zeros = g->left + g->classes;
    for (size_t i = 0; i < g->rows; i++) {
        g->label[i] = tacit_view_label(rows, i);
        g->member[i] = (uint32_t)i;
        g->root[g->label[i]]++;
    }
    TACIT_CHECK(fill_columns(g, rows, training, start, error));
    for (size_t c = 0; c < g->root_columns; c++) {
        range entries = g->columns[c].entries;
        sort_entries(g->entries + entries.begin, entries.end - entries.begin);
    }
    /* The root's list, and one more for each left turn of a path. */
    column *columns = tacit_grow(g->columns, g->root_columns * (DEPTH_LIMIT + 1) + 1, sizeof *columns);
    if (columns == NULL)
        status = tacit_fail_memory(error);
    else
        g->columns = columns;
cleanup:
    free(start);
    return status;
}

/* ---- choosing a split ---- */

/* A scan from the smallest value of a column to the largest, moving rows from the right side to the left. */
typedef struct scan {
    const growing *g;
    size_t left_rows, right_rows;
    double left_squares, right_squares; /* sums over classes of count^2; exact below 2^53 */
    double last;                        /* the largest value on the left */
    size_t column;
    split *best;
} scan;

/* `count` rows of class k go left. */
static void move_left(scan *s, size_t k, size_t count) {
    double left = (double)s->g->left[k], right = (double)(s->g->whole[k] - s->g->left[k]), n = (double)count;
    s->left_squares += n * (2 * left + n);
    s->right_squares -= n * (2 * right - n);
    s->g->left[k] += count;
    s->left_rows += count;
    s->right_rows -= count;
}

/* Before rows with a larger `value` move: would a split here be the best so far? */
static void consider(scan *s, double value) {
    if (s->left_rows < s->g->least_leaf || s->right_rows < s->g->least_leaf || value == s->last) return;
    double score = s->left_squares / (double)s->left_rows + s->right_squares / (double)s->right_rows;
    if (s->best->found && !(score > s->best->score)) return;
    double middle = s->last + (value - s->last) / 2;
    *s->best = (split){
        .score = score, .threshold = middle < value ? middle : s->last, .column = s->column, .found = true
    };
}

static void scan_zeros(scan *s, size_t rows) {
    if (rows == 0) return;
    if (s->left_rows > 0) consider(s, 0);
    for (size_t k = 0; k < s->g->classes; k++)
        if (s->g->zeros[k] > 0) move_left(s, k, s->g->zeros[k]);
    s->last = 0;
}

static void scan_column(growing *g, size_t place, range entries, size_t rows, double squares, split *best) {
    size_t zero_rows = rows - (entries.end - entries.begin);
    scan s = { .g = g, .right_rows = rows, .right_squares = squares, .column = place, .best = best };
    memset(g->left, 0, g->classes * sizeof *g->left);
    memcpy(g->zeros, g->whole, g->classes * sizeof *g->zeros);
    for (size_t e = entries.begin; e < entries.end; e++) g->zeros[g->label[g->entries[e].row]]--;
    bool zeros_done = false;
    for (size_t e = entries.begin; e < entries.end; e++) {
        const entry *at = &g->entries[e];
        if (at->value > 0 && !zeros_done) {
            scan_zeros(&s, zero_rows);
            zeros_done = true;
        }
        if (s.left_rows > 0) consider(&s, at->value);
        move_left(&s, (size_t)g->label[at->row], 1);
        s.last = at->value;
    }
    if (!zeros_done) scan_zeros(&s, zero_rows);
}

/* ---- growing ---- */

static tacit_status add_nodes(tree *t, size_t count, tacit_error *error) {
    if (t->count + count > t->capacity) {
        size_t capacity = 2 * t->capacity + 1;
        node *nodes = tacit_grow(t->nodes, capacity, sizeof *nodes);
        if (nodes == NULL) return tacit_fail_memory(error);
        t->nodes = nodes;
        t->capacity = capacity;
    }
    memset(t->nodes + t->count, 0, count * sizeof *t->nodes);
    t->count += count;
    return TACIT_OK;
}

/* The most frequent class; among equals that with more rows in the whole set, then the first. */
static int32_t majority(const growing *g) {
    size_t best = 0;
    for (size_t k = 1; k < g->classes; k++)
        if (g->whole[k] > g->whole[best] || (g->whole[k] == g->whole[best] && g->root[k] > g->root[best]))
            best = k;
    return (int32_t)best;
}

/* Which members go left: all those with a zero, or none, and then as the entries say. */
static void mark_sides(growing *g, const split *best, range members, range entries) {
    for (size_t m = members.begin; m < members.end; m++) g->goes_left[g->member[m]] = best->threshold >= 0;
    for (size_t e = entries.begin; e < entries.end; e++)
        g->goes_left[g->entries[e].row] = g->entries[e].value <= best->threshold;
}

/* Members that go left first, order kept; returns where the right side begins. */
static size_t part_members(growing *g, range members) {
    size_t left = members.begin, right = 0;
    for (size_t m = members.begin; m < members.end; m++) {
        uint32_t row = g->member[m];
        if (g->goes_left[row])
            g->member[left++] = row;
        else
            g->spare[right++] = row;
    }
    memcpy(g->member + left, g->spare, right * sizeof *g->spare);
    return left;
}

static size_t part_entries(growing *g, range entries) {
    size_t left = entries.begin, right = 0;
    for (size_t e = entries.begin; e < entries.end; e++) {
        entry at = g->entries[e];
        if (g->goes_left[at.row])
            g->entries[left++] = at;
        else
            g->spare_entries[right++] = at;
    }
    memcpy(g->entries + left, g->spare_entries, right * sizeof *g->spare_entries);
    return left;
}

/* Part all columns of a node. The left child's list is written to `left`; the right child's takes the place
 * of the node's own, which is not needed any more. */
static void part_columns(growing *g, column *own, size_t count, column *left, size_t *left_count,
                         size_t *right_count) {
    *left_count = *right_count = 0;
    for (size_t c = 0; c < count; c++) {
        column whole = own[c];
        size_t middle = part_entries(g, whole.entries);
        if (middle > whole.entries.begin)
            left[(*left_count)++] = (column){ { whole.entries.begin, middle }, whole.feature };
        if (middle < whole.entries.end)
            own[(*right_count)++] = (column){ { middle, whole.entries.end }, whole.feature };
    }
}

/* Decide about a node: label it, and find its best split if it should have one. */
static split choose(growing *g, size_t at, range members, const column *own, size_t count, size_t depth) {
    split best = { .found = false };
    size_t rows = members.end - members.begin;
    double squares = 0;
    memset(g->whole, 0, g->classes * sizeof *g->whole);
    for (size_t m = members.begin; m < members.end; m++) g->whole[g->label[g->member[m]]]++;
    for (size_t k = 0; k < g->classes; k++) squares += (double)g->whole[k] * (double)g->whole[k];
    int32_t label = g->tree->nodes[at].label = majority(g);
    if (depth == DEPTH_LIMIT || rows < 2 * g->least_leaf || g->whole[label] == rows) return best;
    for (size_t c = 0; c < count; c++) scan_column(g, c, own[c].entries, rows, squares, &best);
    return best;
}

/* Grow below node `at` with its list of columns; the space after the list is free. Depth is limited, so
 * recursion is. A split that gains nothing is made too: of exclusive or, the first gains nothing. */
static tacit_status grow(growing *g, size_t at, range members, column *own, size_t count, size_t depth,
                         const tacit_training *training, tacit_error *error) {
    split best = choose(g, at, members, own, count, depth);
    if (!best.found) return TACIT_OK;
    TACIT_TRY(classifier_stopped(training, error));
    size_t child = g->tree->count, left_count, right_count;
    TACIT_TRY(add_nodes(g->tree, 2, error));
    node *self = &g->tree->nodes[at];
    self->feature = own[best.column].feature;
    self->threshold = best.threshold;
    self->left = (uint32_t)child;
    mark_sides(g, &best, members, own[best.column].entries);
    size_t middle = part_members(g, members);
    column *left = own + count;
    part_columns(g, own, count, left, &left_count, &right_count);
    TACIT_TRY(grow(g, child, (range){ members.begin, middle }, left, left_count, depth + 1, training, error));
    return grow(g, child + 1, (range){ middle, members.end }, own, right_count, depth + 1, training, error);
}

/* A leaf of one row in a small set, of five in a set of a thousand and more. */
static size_t least_leaf(size_t rows) {
    size_t least = rows / 200;
    return least < 1 ? 1 : least > 5 ? 5 : least;
}

static tacit_status train_tree(tacit_classifier **out, const char *argument, const tacit_view *rows,
                               const tacit_training *training, tacit_error *error) {
    (void)argument;
    growing g = { .tree = TACIT_NEW(tree, 1),
                  .rows = rows->rows.count,
                  .classes = rows->classes,
                  .least_leaf = least_leaf(rows->rows.count) };
    tacit_status status;
    if (g.tree == NULL) return tacit_fail_memory(error);
    TACIT_CHECK(grow_prepare(&g, rows, training, error));
    TACIT_CHECK(add_nodes(g.tree, 1, error));
    TACIT_CHECK(grow(&g, 0, (range){ 0, g.rows }, g.columns, g.root_columns, 0, training, error));
    *out = &g.tree->base;
cleanup:
    if (status != TACIT_OK) {
        free(g.tree->nodes);
        free(g.tree);
    }
    grow_clear(&g);
    return status;
}

/* ---- using ---- */

static double value_at(const tacit_rows *rows, size_t stored, uint32_t feature) {
    if (rows->dense != NULL) return rows->dense[stored * rows->stride + feature];
    const tacit_csr *csr = rows->sparse;
    size_t low = csr->start[stored], high = csr->start[stored + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (csr->column[middle] < feature)
            low = middle + 1;
        else
            high = middle;
    }
    return low < csr->start[stored + 1] && csr->column[low] == feature ? csr->value[low] : 0;
}

static tacit_status predict_tree(const tacit_classifier *base, const tacit_rows *points, int32_t *labels,
                                 tacit_error *error) {
    (void)error;
    const node *nodes = ((const tree *)base)->nodes;
    for (size_t i = 0; i < points->count; i++) {
        size_t stored = tacit_rows_stored(points, i), at = 0;
        while (nodes[at].left != 0)
            at = nodes[at].left + !(value_at(points, stored, nodes[at].feature) <= nodes[at].threshold);
        labels[i] = nodes[at].label;
    }
    return TACIT_OK;
}

static void clear_tree(tacit_classifier *base) { free(((tree *)base)->nodes); }

const classifier_kind classifier_tree = {
    .name = "tree",
    .shown = "tree",
    .train = train_tree,
    .predict = predict_tree,
    .clear = clear_tree,
};
