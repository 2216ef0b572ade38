#include "model/stack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- making ---- */

tacit_stack *tacit_stack_free(tacit_stack *stack) {
    if (stack == NULL) return NULL;
    free(stack->start);
    free(stack->column);
    free(stack->scale);
    for (size_t k = 0; stack->tree != NULL && k < stack->members; k++) tacit_tree_free(stack->tree[k]);
    free(stack->tree);
    free(stack);
    return NULL;
}

tacit_status tacit_stack_create(tacit_stack **out, size_t members, size_t columns, tacit_error *error) {
    tacit_stack *stack = TACIT_NEW(tacit_stack, 1);
    if (stack == NULL) return tacit_fail_memory(error);
    *stack = (tacit_stack){ .members = members,
                            .start = TACIT_NEW(size_t, members + 1),
                            .column = TACIT_NEW(uint32_t, columns),
                            .scale = TACIT_NEW(double, members) };
    if (stack->start == NULL || stack->column == NULL || stack->scale == NULL) {
        tacit_stack_free(stack);
        return tacit_fail_memory(error);
    }
    for (size_t k = 0; k < members; k++) stack->scale[k] = 1;
    *out = stack;
    return TACIT_OK;
}

tacit_status tacit_stack_plant(tacit_stack *stack, size_t member, tacit_tree *tree, tacit_error *error) {
    if (stack->tree == NULL) stack->tree = TACIT_NEW(tacit_tree *, stack->members);
    if (stack->tree == NULL) {
        tacit_tree_free(tree);
        return tacit_fail_memory(error);
    }
    tacit_tree_free(stack->tree[member]);
    stack->tree[member] = tree;
    return TACIT_OK;
}

size_t tacit_stack_trees(const tacit_stack *stack) {
    size_t trees = 0;
    for (size_t k = 0; k < stack->members; k++) trees += tacit_stack_tree(stack, k) != NULL;
    return trees;
}

/* A tree has as many places as nodes, and a linear member features that ascend. */
static tacit_status check_member(const tacit_stack *stack, size_t k, size_t features, tacit_error *error) {
    const tacit_tree *tree = tacit_stack_tree(stack, k);
    if (tree != NULL && tree->nodes != stack->start[k + 1] - stack->start[k])
        return tacit_fail(error, TACIT_INPUT,
                          "the tree that member %zu of the stack is has %zu nodes, not %zu", k + 1,
                          tree->nodes, stack->start[k + 1] - stack->start[k]);
    if (tree != NULL) return tacit_tree_check(tree, features, error);
    for (size_t c = stack->start[k]; c < stack->start[k + 1]; c++)
        if (stack->column[c] >= features || (c > stack->start[k] && stack->column[c] <= stack->column[c - 1]))
            return tacit_fail(error, TACIT_INPUT,
                              "the features of member %zu do not ascend, or pass the %zu there are", k + 1,
                              features);
    return TACIT_OK;
}

tacit_status tacit_stack_check(const tacit_stack *stack, size_t features, tacit_error *error) {
    if (stack->members == 0 || stack->members > TACIT_STACK_MEMBERS_MOST || stack->start[0] != 0)
        return tacit_fail(error, TACIT_INPUT, "a stack has 1 to %d members, not %zu",
                          (int)TACIT_STACK_MEMBERS_MOST, stack->members);
    for (size_t k = 0; k < stack->members; k++) {
        if (stack->start[k + 1] <= stack->start[k])
            return tacit_fail(error, TACIT_INPUT, "member %zu of the stack has no features", k + 1);
        if (!(stack->scale[k] > 0 && stack->scale[k] <= 1))
            return tacit_fail(error, TACIT_INPUT, "the scale of member %zu is %g, and not in (0, 1]", k + 1,
                              stack->scale[k]);
        TACIT_TRY(check_member(stack, k, features, error));
    }
    return TACIT_OK;
}

const char *tacit_stack_title(const tacit_stack *stack) {
    const size_t trees = tacit_stack_trees(stack);
    if (trees == 0) return "a stack of linear models";
    return trees == stack->members ? "a stack of decision trees"
                                   : "a stack of linear models and decision trees";
}

const char *tacit_combiner_name(tacit_combiner combiner) {
    static const char *const names[] = { "high", "majority", "weighted" };
    return names[combiner];
}

size_t tacit_stack_low_size(const tacit_stack *stack) { return stack->start[stack->members]; }

size_t tacit_stack_size(const tacit_stack *stack) {
    return tacit_stack_low_size(stack) + (stack->combiner == TACIT_COMBINE_HIGH ? stack->members : 0);
}

/* ---- the rows of a member ---- */

void tacit_stack_rows_clear(tacit_stack_rows *rows) {
    tacit_matrix_clear(&rows->dense);
    tacit_csr_clear(&rows->sparse);
    *rows = (tacit_stack_rows)TACIT_STACK_ROWS_INIT;
}

/* By what the features of one row are multiplied, given their norm. */
static double factor_of(const tacit_stack *stack, size_t member, double square) {
    double scale = stack->scale[member];
    if (stack->rows_normalised) return square > 0 ? scale * TACIT_STACK_INSIDE / sqrt(square) : 0;
    return scale == 1 ? 1 : scale * TACIT_STACK_INSIDE;
}

static tacit_status dense_rows(tacit_stack_rows *out, const tacit_stack *stack, size_t member,
                               const tacit_rows *rows, tacit_error *error) {
    const uint32_t *column = stack->column + stack->start[member];
    size_t width = stack->start[member + 1] - stack->start[member];
    TACIT_TRY(tacit_matrix_create(&out->dense, rows->count, width, error));
    for (size_t i = 0; i < rows->count; i++) {
        const double *from = rows->dense + tacit_rows_stored(rows, i) * rows->stride;
        double *to = out->dense.values + i * width, square = 0;
        for (size_t j = 0; j < width; j++) square += from[column[j]] * from[column[j]];
        double factor = factor_of(stack, member, square);
        for (size_t j = 0; j < width; j++) to[j] = factor * from[column[j]];
    }
    out->rows = tacit_rows_of_matrix(&out->dense);
    return TACIT_OK;
}

/* Both lists ascend: walk them together and call those entries that the member has. */
typedef void entry_function(void *context, size_t position, double value);

static void entries_of(const tacit_stack *stack, size_t member, const tacit_csr *csr, size_t stored,
                       entry_function *function, void *context) {
    size_t c = stack->start[member], end = stack->start[member + 1];
    for (size_t e = csr->start[stored]; e < csr->start[stored + 1] && c < end; e++) {
        while (c < end && stack->column[c] < csr->column[e]) c++;
        if (c < end && stack->column[c] == csr->column[e])
            function(context, c - stack->start[member], csr->value[e]);
    }
}

typedef struct collecting {
    tacit_csr *csr; /* NULL: only count */
    size_t entries;
    double square;
} collecting;

static void collect(void *context, size_t position, double value) {
    collecting *self = context;
    if (self->csr != NULL) {
        self->csr->column[self->entries] = (uint32_t)position;
        self->csr->value[self->entries] = value;
    }
    self->entries++;
    self->square += value * value;
}

static tacit_status sparse_rows(tacit_stack_rows *out, const tacit_stack *stack, size_t member,
                                const tacit_rows *rows, tacit_error *error) {
    size_t width = stack->start[member + 1] - stack->start[member];
    collecting all = { NULL, 0, 0 };
    for (size_t i = 0; i < rows->count; i++)
        entries_of(stack, member, rows->sparse, tacit_rows_stored(rows, i), collect, &all);
    TACIT_TRY(tacit_csr_create(&out->sparse, rows->count, width, all.entries, error));
    all = (collecting){ &out->sparse, 0, 0 };
    for (size_t i = 0; i < rows->count; i++) {
        size_t first = all.entries;
        all.square = 0;
        entries_of(stack, member, rows->sparse, tacit_rows_stored(rows, i), collect, &all);
        double factor = factor_of(stack, member, all.square);
        for (size_t e = first; e < all.entries; e++) out->sparse.value[e] *= factor;
        out->sparse.start[i + 1] = all.entries;
    }
    out->rows = tacit_rows_of_csr(&out->sparse);
    return TACIT_OK;
}

tacit_status tacit_stack_member_rows(tacit_stack_rows *out, const tacit_stack *stack, size_t member,
                                     const tacit_rows *rows, tacit_error *error) {
    tacit_stack_rows made = TACIT_STACK_ROWS_INIT;
    TACIT_TRY(rows->sparse != NULL ? sparse_rows(&made, stack, member, rows, error)
                                   : dense_rows(&made, stack, member, rows, error));
    *out = made;
    /* The view must point to the numbers where they are now. */
    out->rows = rows->sparse != NULL ? tacit_rows_of_csr(&out->sparse) : tacit_rows_of_matrix(&out->dense);
    return TACIT_OK;
}

/* ---- scores ---- */

/* t_k of a row that lies expanded in x. */
static double margin(const tacit_stack *stack, const double *weights, size_t member, const double *x) {
    const tacit_tree *tree = tacit_stack_tree(stack, member);
    double sum = 0, square = 0;
    if (tree != NULL) return weights[stack->start[member] + tacit_tree_leaf(tree, x)];
    for (size_t c = stack->start[member]; c < stack->start[member + 1]; c++) {
        double value = x[stack->column[c]];
        sum += value * weights[c];
        square += value * value;
    }
    return factor_of(stack, member, square) * sum;
}

static double sigma(double t) { return 1 / (1 + exp(-t)); }

static double meta_feature(const tacit_stack *stack, double margin_of_member) {
    double part = sigma(margin_of_member);
    return TACIT_STACK_INSIDE * (stack->is_centered ? 2 * part - 1 : part) / sqrt((double)stack->members);
}

tacit_status tacit_stack_meta(const tacit_stack *stack, const double *weights, const tacit_rows *rows,
                              tacit_matrix *out, tacit_error *error) {
    double *x = TACIT_NEW(double, rows->cols);
    if (x == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_matrix_create(out, rows->count, stack->members, error);
    for (size_t i = 0; status == TACIT_OK && i < rows->count; i++) {
        tacit_rows_copy(rows, i, x);
        for (size_t k = 0; k < stack->members; k++)
            out->values[i * stack->members + k] = meta_feature(stack, margin(stack, weights, k, x));
    }
    free(x);
    return status;
}

double tacit_stack_score(const tacit_stack *stack, const double *weights, const tacit_rows *rows, size_t i,
                         double *scratch) {
    const double *high = weights + tacit_stack_low_size(stack);
    double score = 0, all = 0;
    tacit_rows_copy(rows, i, scratch);
    for (size_t k = 0; k < stack->members; k++) {
        double t = margin(stack, weights, k, scratch), vote = (double)((t > 0) - (t < 0));
        double weight = stack->combiner == TACIT_COMBINE_WEIGHTED ? stack->scale[k] : 1;
        score += stack->combiner == TACIT_COMBINE_HIGH ? high[k] * meta_feature(stack, t) : weight * vote;
        all += weight;
    }
    return stack->combiner == TACIT_COMBINE_HIGH ? score : score / all;
}
