/*
 * Which exact counts are told: describe-exact's rule for small cells.
 *
 * What a sum tells is held to the study's threshold T, a public number, where only sums are seen: under masks
 * or encryption, of three parties or more, two of which at least show nobody anything. There a count of the
 * sum is 0 or at least T. A first sum has a lower bound of each party's count c that says little about it,
 *
 *   0 if c = 0,   1 if c < h,   h if c < 2h,   2h if c < T,   T otherwise,      h = T/3 rounded up,
 *
 * so that the sum of the bounds is one of the count: 0 only where there are no rows, T or more only where
 * there are as many, and at least a third of a count below T each. Neighbouring cells of a number are put
 * together until that holds in every group, rare levels of a category likewise; a cross-table is told whole
 * or not at all.
 *
 * A party whose single contribution may be seen (sum: clear, two parties, sites apart), or whose owner's
 * minimum m is above T, holds its own counts to m: it answers with a veto, -V, where 0 < c < m, and V is more
 * than all bounds together. A category or cross-table with a veto is closed. A number with one is cut in
 * halves, and halves of them, as long as no half has a veto: then whatever follows from the pieces of any
 * such cutting is 0 or m rows of that party, also when it is asked again in another study. It refuses to tell
 * any other pieces.
 *
 * Both hold the coordinator to one choice in a version of a study. One that lies about the bounds learns
 * cells of the sum, however small; a party's it does not.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "method/tables/describe.h"

double describe_veto(double threshold, size_t parties) { return (double)parties * fmax(1, threshold) + 1; }

describe_rule describe_rule_of(const tacit_plan *plan, bool real, double minimum) {
    size_t survivors = tacit_plan_survivors(plan), colluders = tacit_plan_colluders(plan);
    bool sums = plan->sums != TACIT_SUMS_CLEAR && !describe_apart(plan) && survivors >= TACIT_SUM_LEAST &&
                survivors >= colluders + 2;
    double threshold = (double)describe_settings_of(plan)->threshold;
    return (
        describe_rule){ .real = real, .alone = real && (!sums || minimum > threshold), .minimum = minimum };
}

/* ---- the party's half: bounds ---- */

typedef struct bounding {
    const describe_design *design;
    const describe_rule *rule;
    const double *sums;
    double *out;
} bounding;

static double bound_of(const bounding *self, double count) {
    double most = self->design->threshold, third = ceil(most / 3);
    if (!(count > 0)) return 0;
    if (self->rule->alone && count < self->rule->minimum) return -self->design->veto;
    if (!self->rule->real || self->rule->alone || count >= most) return most;
    return count >= 2 * third ? 2 * third : count >= third ? third : 1;
}

static void bound_number(const bounding *self, const describe_variable *one, size_t group) {
    tacit_count_tree tree = self->design->tree;
    size_t at = one->counts + group * tacit_count_tree_size(tree), cells = tree.branch;
    double all = 0;
    for (size_t i = 0; i < tree.branch; i++) all += self->sums[at + i];
    self->out[one->moments + group * DESCRIBE_MOMENTS] = fmin(0, bound_of(self, all)); /* a veto on all */
    for (size_t l = 1; l <= tree.depth; l++, cells *= tree.branch)
        for (size_t i = 0; i < cells; i++) {
            size_t j = at + tacit_count_tree_level(tree, l) + i;
            double bound = bound_of(self, self->sums[j]);
            self->out[j] = l == tree.depth ? bound : fmin(0, bound);
        }
}

void describe_bounds(const describe_design *design, const double *sums, const describe_rule *rule,
                     double *out) {
    const bounding self = { design, rule, sums, out };
    for (size_t k = 0; k < design->variables; k++) {
        const describe_variable *one = &design->variable[k];
        for (size_t g = 0; one->number && g < one->groups; g++) bound_number(&self, one, g);
        for (size_t j = one->counts; !one->number && j < one->counts + one->groups * one->cells; j++)
            out[j] = bound_of(&self, sums[j]);
    }
    size_t tables = design->pairs > 0 ? design->pair[0].counts : design->length;
    for (size_t j = tables; j < design->length; j++) out[j] = bound_of(&self, sums[j]);
}

/* ---- the coordinator's half: what is told ---- */

typedef struct choosing {
    const describe_design *design;
    const double *bounds;
} choosing;

static bool vetoed(double bound) { return bound < -0.5; }

/* Without the vetoes. */
static double rows_of(const choosing *self, double bound) {
    double veto = self->design->veto;
    return vetoed(bound) ? bound + veto * ceil(-bound / veto) : bound;
}

static bool enough(const choosing *self, double rows) {
    return rows < 0.5 || rows > self->design->threshold - 0.5;
}

static size_t leaf_at(const choosing *self, const describe_variable *one, size_t group) {
    tacit_count_tree tree = self->design->tree;
    return one->counts + group * tacit_count_tree_size(tree) + tacit_count_tree_level(tree, tree.depth);
}

static bool has_veto(const choosing *self, const describe_variable *one) {
    size_t end = one->counts + one->groups * describe_counts(self->design, one);
    for (size_t j = one->moments; j < end; j++)
        if (vetoed(self->bounds[j])) return true;
    return false;
}

/* Whether leaves from `first` on may be one piece in every group. */
static bool piece_stands(const choosing *self, const describe_variable *one, size_t first, size_t end) {
    for (size_t g = 0; g < one->groups; g++) {
        const double *leaf = self->bounds + leaf_at(self, one, g);
        double rows = 0;
        bool minimum = false; /* a party's own, where nobody objects to the whole piece */
        for (size_t k = first; k < end; k++) {
            rows += rows_of(self, leaf[k]);
            minimum = minimum || vetoed(leaf[k]);
        }
        if (!minimum && !enough(self, rows)) return false;
    }
    return true;
}

/* Whether anybody objects to cell i of level l, from 0. */
static bool cell_vetoed(const choosing *self, const describe_variable *one, size_t level, size_t i) {
    tacit_count_tree tree = self->design->tree;
    for (size_t g = 0; g < one->groups; g++) {
        size_t j = level == 0 ? one->moments + g * DESCRIBE_MOMENTS
                              : one->counts + g * tacit_count_tree_size(tree) +
                                    tacit_count_tree_level(tree, level) + i;
        if (vetoed(self->bounds[j])) return true;
    }
    return false;
}

/* Cut what begins at `at` in two, where the pieces on both sides may stand. */
static void cut(const choosing *self, const describe_variable *one, size_t at, bool *told) {
    size_t leaves = tacit_count_tree_leaves(self->design->tree), first = at, end = at + 1;
    while (!told[first]) first--;
    while (end < leaves && !told[end]) end++;
    told[at] = piece_stands(self, one, first, at) && piece_stands(self, one, at, end);
}

/* Borders of the coarsest level first, so that histograms have theirs. With a veto, only cells of the tree
 * that are pieces are cut. */
static void choose_number(const choosing *self, const describe_variable *one, bool *told) {
    tacit_count_tree tree = self->design->tree;
    size_t leaves = tacit_count_tree_leaves(tree), width = leaves;
    bool veto = has_veto(self, one);
    told[0] = !cell_vetoed(self, one, 0, 0) && piece_stands(self, one, 0, leaves);
    for (size_t l = 1; told[0] && l <= tree.depth; l++) {
        width /= 2;
        for (size_t at = width; at < leaves; at += 2 * width) {
            bool whole = told[at - width] && (at + width == leaves || told[at + width]);
            bool refused = veto && (!whole || cell_vetoed(self, one, l, at / width - 1) ||
                                    cell_vetoed(self, one, l, at / width));
            if (!refused) cut(self, one, at, told);
        }
    }
}

static double rest_of(const choosing *self, const describe_variable *one, const bool *told, size_t group) {
    double rest = 0;
    for (size_t j = 0; j < one->cells; j++)
        if (!told[j]) rest += rows_of(self, self->bounds[one->counts + group * one->cells + j]);
    return rest;
}

/* The level with the fewest rows among those that are told; SIZE_MAX: none has any. */
static size_t rarest(const choosing *self, const describe_variable *one, const bool *told) {
    size_t found = SIZE_MAX;
    double least = INFINITY;
    for (size_t j = 0; j < one->cells; j++) {
        double rows = 0;
        for (size_t g = 0; g < one->groups; g++)
            rows += rows_of(self, self->bounds[one->counts + g * one->cells + j]);
        if (!told[j] || rows < 0.5 || rows >= least) continue;
        least = rows;
        found = j;
    }
    return found;
}

/* Levels that are rare in any group are put together, with more until those have enough rows. */
static void choose_levels(const choosing *self, const describe_variable *one, bool *told) {
    for (size_t j = 0; j < one->cells; j++) {
        told[j] = true;
        for (size_t g = 0; g < one->groups; g++)
            told[j] = told[j] && enough(self, rows_of(self, self->bounds[one->counts + g * one->cells + j]));
    }
    bool stands = false, closed = has_veto(self, one);
    while (!stands && !closed) {
        stands = true;
        for (size_t g = 0; g < one->groups; g++) stands = stands && enough(self, rest_of(self, one, told, g));
        size_t next = stands ? SIZE_MAX : rarest(self, one, told);
        closed = !stands && next == SIZE_MAX;
        if (next != SIZE_MAX) told[next] = false;
    }
    if (closed) memset(told, 0, one->cells * sizeof *told);
}

void describe_choose(const describe_design *design, const double *bounds, bool *told) {
    const choosing self = { design, bounds };
    memset(told, 0, design->places * sizeof *told);
    for (size_t k = 0; k < design->variables; k++) {
        const describe_variable *one = &design->variable[k];
        if (one->number)
            choose_number(&self, one, told + one->place);
        else
            choose_levels(&self, one, told + one->place);
    }
    for (size_t k = 0; k < design->pairs; k++) {
        const describe_pair *pair = &design->pair[k];
        size_t cells = design->variable[pair->first].cells * design->variable[pair->second].cells;
        bool *open = told + pair->place;
        *open = true;
        for (size_t j = pair->counts; j < pair->counts + cells; j++)
            *open = *open && !vetoed(bounds[j]) && enough(&self, bounds[j]);
    }
}

bool describe_groups_told(const describe_design *design, const bool *told) {
    if (design->by == SIZE_MAX) return true;
    const describe_variable *by = &design->variable[design->by];
    for (size_t j = 0; j < by->cells; j++)
        if (!told[by->place + j]) return false;
    return true;
}

/* ---- the party's half: counts ---- */

typedef struct merging {
    const describe_design *design;
    double minimum; /* of a party that is alone; 0: none */
    double *sums;
    bool refused;
} merging;

static void see(merging *self, double count) {
    self->refused = self->refused || (count > 0 && count < self->minimum);
}

/* Leaves of one group; whether the pieces of one that is alone are cells of the tree. */
static void merge_leaves(merging *self, const bool *told, double *leaf) {
    size_t leaves = tacit_count_tree_leaves(self->design->tree);
    for (size_t first = 0, end; first < leaves; first = end) {
        double sum = 0;
        for (end = first; end < leaves && (end == first || !told[end]); end++) {
            sum += leaf[end];
            leaf[end] = 0;
        }
        leaf[first] = told[0] ? sum : 0;
        size_t width = end - first;
        bool cell = (width & (width - 1)) == 0 && first % width == 0;
        if (told[0]) see(self, sum);
        self->refused = self->refused || (told[0] && self->minimum > 0 && !cell) || (!told[0] && told[first]);
    }
}

static void merge_number(merging *self, const describe_variable *one, const bool *told) {
    tacit_count_tree tree = self->design->tree;
    size_t size = tacit_count_tree_size(tree), last = tacit_count_tree_level(tree, tree.depth);
    for (size_t g = 0; g < one->groups; g++) {
        double *counts = self->sums + one->counts + g * size, missing = counts[tree.branch];
        memset(counts, 0, last * sizeof *counts);
        counts[tree.branch] = missing; /* the same at every level */
        merge_leaves(self, told, counts + last);
        for (size_t j = 0; !told[0] && j < DESCRIBE_MOMENTS; j++)
            self->sums[one->moments + g * DESCRIBE_MOMENTS + j] = 0;
    }
}

/* What is not told goes to the first such level; where none is told, nothing does. */
static void merge_levels(merging *self, const describe_variable *one, const bool *told) {
    bool any = false;
    for (size_t j = 0; j < one->cells; j++) any = any || told[j];
    for (size_t g = 0; g < one->groups; g++) {
        double *count = self->sums + one->counts + g * one->cells, rest = 0;
        size_t first = SIZE_MAX;
        for (size_t j = 0; j < one->cells; j++) {
            if (told[j]) see(self, count[j]);
            if (told[j]) continue;
            if (first == SIZE_MAX) first = j;
            rest += count[j];
            count[j] = 0;
        }
        if (any && first != SIZE_MAX) {
            count[first] = rest;
            see(self, rest);
        }
    }
}

tacit_status describe_merge(const describe_design *design, const bool *told, const describe_rule *rule,
                            double *sums, tacit_error *error) {
    merging self = { design, rule->alone ? rule->minimum : 0, sums, false };
    if (design->by != SIZE_MAX && !describe_groups_told(design, told)) self.refused = true;
    for (size_t k = 0; k < design->variables; k++) {
        const describe_variable *one = &design->variable[k];
        if (one->number)
            merge_number(&self, one, told + one->place);
        else
            merge_levels(&self, one, told + one->place);
    }
    for (size_t k = 0; k < design->pairs; k++) {
        const describe_pair *pair = &design->pair[k];
        size_t cells = design->variable[pair->first].cells * design->variable[pair->second].cells;
        for (size_t j = pair->counts; j < pair->counts + cells; j++) {
            if (!told[pair->place]) sums[j] = 0;
            see(&self, sums[j]);
        }
    }
    if (!self.refused) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "the coordinator asks for counts of fewer rows than this party's owner allows");
}
