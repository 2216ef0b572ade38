#include "num/noisy/count_tree.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

static size_t power(size_t base, size_t exponent) {
    size_t value = 1;
    while (exponent-- > 0) value *= base;
    return value;
}

size_t tacit_count_tree_leaves(tacit_count_tree tree) { return power(tree.branch, tree.depth); }

size_t tacit_count_tree_level(tacit_count_tree tree, size_t level) {
    size_t at = 0;
    for (size_t l = 1; l < level; l++) at += power(tree.branch, l) + 1;
    return at;
}

size_t tacit_count_tree_size(tacit_count_tree tree) { return tacit_count_tree_level(tree, tree.depth + 1); }

void tacit_count_tree_add(tacit_count_tree tree, double *counts, double place, double weight) {
    /* Numbers come back from encoded rows within rounding: one on a border of leaves is in the upper. */
    static const double ROUNDING = 1e-9;
    size_t leaves = tacit_count_tree_leaves(tree), leaf = leaves;
    if (!isnan(place)) leaf = (size_t)fmin(fmax(place * (double)leaves + ROUNDING, 0), (double)leaves - 1);
    for (size_t l = 1, cells = tree.branch; l <= tree.depth; l++, cells *= tree.branch) {
        counts[leaf == leaves ? cells : leaf / (leaves / cells)] += weight;
        counts += cells + 1;
    }
}

/* ---- variances ---- */

static void set_variances(double v[TACIT_TREE_DEPTH + 1], tacit_count_tree tree, double own) {
    v[tree.depth] = own;
    for (size_t l = tree.depth; l-- > 1;) v[l] = 1 / (1 / own + 1 / ((double)tree.branch * v[l + 1]));
}

/* The variance of (rows below) - p (rows with a value), `within` of the leaf included. The sum of counts
 * below is a x + noise of variance r given the count x of the cell around it: from the leaf up,
 *   a <- (c + a)/b,   r <- r + v (c + a^2 - (c + a)^2/b),   c the cell's place among its siblings. */
static double below_variance(tacit_count_tree tree, const double v[TACIT_TREE_DEPTH + 1], double missing,
                             double total, size_t leaf, double within, double p) {
    double b = (double)tree.branch, a = within, r = 0, c = 0;
    for (size_t l = tree.depth; l > 1; l--, leaf /= tree.branch) {
        c = (double)(leaf % tree.branch);
        r += v[l] * (c + a * a - (c + a) * (c + a) / b);
        a = (c + a) / b;
    }
    c = (double)leaf;
    double sum = b * v[1] + missing, first = v[1] * (c + a - b * p);
    double second = v[1] * (c * (1 - p) * (1 - p) + (a - p) * (a - p) + (b - c - 1) * p * p);
    double root = sum * total / (sum + total);
    return fmax(0, r + second - first * first / sum + first * first / (sum * sum) * root);
}

/* In shares of the rows, squared: the mean over deciles of the noise, and a cell's width. */
static double expected_error(tacit_count_tree tree, double noise) {
    double v[TACIT_TREE_DEPTH + 1], sum = 0, leaves = (double)tacit_count_tree_leaves(tree);
    double own = noise * (double)tree.depth;
    set_variances(v, tree, own);
    for (int k = 1; k < 10; k++)
        sum += below_variance(tree, v, own / (double)tree.depth, 0, (size_t)(0.1 * k * leaves), 0.5, 0.1 * k);
    return sum / 9 + 1 / (12 * leaves * leaves);
}

tacit_count_tree tacit_count_tree_choose(double noise) {
    static const tacit_count_tree choices[] = { { 16, 1 }, { 32, 1 }, { 64, 1 }, { 8, 2 },
                                                { 12, 2 }, { 16, 2 }, { 24, 2 }, { 32, 2 },
                                                { 5, 3 },  { 6, 3 },  { 8, 3 },  { 10, 3 } };
    size_t best = 0;
    for (size_t k = 1; k < sizeof choices / sizeof *choices; k++)
        if (expected_error(choices[k], noise) < expected_error(choices[best], noise)) best = k;
    return choices[best];
}

/* ---- fitting ---- */

static tacit_status make_room(tacit_count_fit *out, tacit_count_tree tree, const double *counts,
                              tacit_error *error) {
    size_t size = tacit_count_tree_size(tree);
    *out = (tacit_count_fit){ .tree = tree,
                              .cell = TACIT_NEW(double, size),
                              .below = TACIT_NEW(double, tacit_count_tree_leaves(tree) + 1) };
    if (out->cell == NULL || out->below == NULL) {
        tacit_count_fit_clear(out);
        return tacit_fail_memory(error);
    }
    memcpy(out->cell, counts, size * sizeof *counts);
    return TACIT_OK;
}

void tacit_count_fit_clear(tacit_count_fit *fit) {
    free(fit->cell);
    free(fit->below);
    fit->cell = fit->below = NULL;
}

static double *level_of(const tacit_count_fit *fit, size_t level) {
    return fit->cell + tacit_count_tree_level(fit->tree, level);
}

static double sum_of(const double *values, size_t count) {
    double sum = 0;
    for (size_t k = 0; k < count; k++) sum += values[k];
    return sum;
}

static void set_below(tacit_count_fit *fit) {
    const double *leaf = level_of(fit, fit->tree.depth);
    size_t leaves = tacit_count_tree_leaves(fit->tree);
    for (size_t k = 0; k < leaves; k++) fit->below[k + 1] = fit->below[k] + leaf[k];
    fit->present = fit->below[leaves];
}

/* From the leaves up: each cell's own count and its children's sum. */
static void go_up(tacit_count_fit *fit) {
    size_t b = fit->tree.branch;
    for (size_t l = fit->tree.depth; l-- > 1;) {
        double *own = level_of(fit, l), *children = level_of(fit, l + 1);
        double sum_variance = (double)b * fit->level[l + 1];
        double weight = sum_variance / (sum_variance + fit->variance);
        for (size_t i = 0; i < power(b, l); i++)
            own[i] = weight * own[i] + (1 - weight) * sum_of(children + i * b, b);
    }
}

static void go_down(tacit_count_fit *fit) {
    size_t b = fit->tree.branch;
    for (size_t l = 1; l < fit->tree.depth; l++) {
        double *own = level_of(fit, l), *children = level_of(fit, l + 1);
        for (size_t i = 0; i < power(b, l); i++) {
            double left = own[i] - sum_of(children + i * b, b);
            for (size_t k = 0; k < b; k++) children[i * b + k] += left / (double)b;
        }
    }
}

tacit_status tacit_count_fit_make(tacit_count_fit *out, tacit_count_tree tree, const double *counts,
                                  double variance, double total, double total_variance, tacit_error *error) {
    TACIT_TRY(make_room(out, tree, counts, error));
    double b = (double)tree.branch, missing_variance = variance / (double)tree.depth, missing = 0;
    out->variance = variance;
    set_variances(out->level, tree, variance);
    for (size_t l = 1; l <= tree.depth; l++)
        missing += level_of(out, l)[power(tree.branch, l)] / (double)tree.depth;
    go_up(out);
    double *first = level_of(out, 1);
    double sum_variance = b * out->level[1] + missing_variance;
    double left = total - missing - sum_of(first, tree.branch);
    double part = left / (sum_variance + total_variance); /* of each child's variance */
    for (size_t k = 0; k < tree.branch; k++) first[k] += part * out->level[1];
    out->missing = missing + part * missing_variance;
    out->missing_variance =
        missing_variance - missing_variance * missing_variance / (sum_variance + total_variance);
    double present = b * out->level[1];
    out->present_variance = present - present * present / (sum_variance + total_variance);
    out->total_variance = total_variance;
    go_down(out);
    for (size_t l = 1; l <= tree.depth; l++) level_of(out, l)[power(tree.branch, l)] = out->missing;
    set_below(out);
    return TACIT_OK;
}

/* The leaf after the piece that begins at `first`. */
static size_t piece_end(const bool *told, size_t leaves, size_t first) {
    size_t end = first + 1;
    while (told != NULL && end < leaves && !told[end]) end++;
    return end;
}

tacit_status tacit_count_fit_exact(tacit_count_fit *out, tacit_count_tree tree, const double *counts,
                                   double total, const bool *told, tacit_error *error) {
    size_t b = tree.branch, leaves = tacit_count_tree_leaves(tree);
    TACIT_TRY(make_room(out, tree, counts, error));
    out->missing = level_of(out, 1)[b];
    double *leaf = level_of(out, tree.depth);
    for (size_t first = 0, end; first < leaves; first = end) {
        end = piece_end(told, leaves, first);
        double held = told != NULL && !told[0] ? total - out->missing : leaf[first];
        for (size_t k = first; k < end; k++) leaf[k] = held / (double)(end - first);
    }
    for (size_t l = tree.depth; l-- > 1;)
        for (size_t i = 0; i < power(b, l); i++)
            level_of(out, l)[i] = sum_of(level_of(out, l + 1) + i * b, b);
    set_below(out);
    return TACIT_OK;
}

bool tacit_count_tree_known(tacit_count_tree tree, const bool *told, size_t level, size_t cell) {
    size_t leaves = tacit_count_tree_leaves(tree), inside = leaves / power(tree.branch, level);
    size_t end = (cell + 1) * inside;
    return told == NULL || (told[0] && told[cell * inside] && (end == leaves || told[end]));
}

double tacit_count_tree_width(tacit_count_tree tree, const bool *told, double place) {
    size_t leaves = tacit_count_tree_leaves(tree);
    size_t first = (size_t)fmin((double)leaves - 1, fmax(0, place * (double)leaves));
    if (told != NULL && !told[0]) return 1;
    while (told != NULL && !told[first]) first--;
    return (double)(piece_end(told, leaves, first) - first) / (double)leaves;
}

/* A count given the one of the cell around it has variance v (1 - 1/b), and 1/b of the cell's uncertainty. */
double tacit_count_fit_variance(const tacit_count_fit *fit, size_t level) {
    double b = (double)fit->tree.branch, missing = fit->variance / (double)fit->tree.depth;
    if (!(fit->variance > 0)) return 0;
    double sum = b * fit->level[1] + missing + fit->total_variance;
    double variance = fit->level[1] - fit->level[1] * fit->level[1] / sum;
    for (size_t l = 2; l <= level; l++) variance = fit->level[l] * (1 - 1 / b) + variance / (b * b);
    return variance;
}

double tacit_count_fit_deviation(const tacit_count_fit *fit, size_t leaf, double within, double p) {
    double missing = fit->variance / (double)fit->tree.depth;
    return sqrt(below_variance(fit->tree, fit->level, missing, fit->total_variance, leaf, within, p));
}

/* ---- quantiles ---- */

/* Where a line from `from` at 0 to `to` at 1 is 0. */
static double crossing(double from, double to) { return from == to ? 0.5 : from / (from - to); }

tacit_tree_quantile tacit_count_fit_quantile(const tacit_count_fit *fit, double p, double deviations) {
    size_t leaves = tacit_count_tree_leaves(fit->tree), last = leaves;
    double first = 1, final = 0, low = 1, high = 0;
    double before = -p * fit->present, margin_before = 0;
    bool noisy = fit->variance > 0, crossed = false, entered = false;
    for (size_t k = 0; k < leaves; k++) {
        double after = fit->below[k + 1] - p * fit->present;
        double margin = noisy ? deviations * tacit_count_fit_deviation(fit, k, 1, p) : 0;
        if (!crossed && after >= 0) {
            first = ((double)k + (before < 0 ? crossing(before, after) : 0)) / (double)leaves;
            crossed = true;
        }
        if (before < 0 && after >= 0) {
            final = ((double)k + crossing(before, after)) / (double)leaves;
            last = k;
        }
        if (!entered && after + margin >= 0) {
            double from = before + margin_before;
            low = ((double)k + (from < 0 ? crossing(from, after + margin) : 0)) / (double)leaves;
            entered = true;
        }
        if (before - margin_before <= 0) {
            double to = after - margin;
            high = ((double)k + (to > 0 ? crossing(before - margin_before, to) : 1)) / (double)leaves;
        }
        before = after;
        margin_before = margin;
    }
    if (last == leaves) final = first;
    double value = (first + fmax(first, final)) / 2;
    return (tacit_tree_quantile){ value, fmin(low, value), fmax(high, value) };
}
