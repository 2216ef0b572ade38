/*
 * A stack of models (Yao et al. 2019): K members, each a weight vector over some of the features or a
 * decision tree, and a rule that combines what they say. For a row x, x_(k) being its features of member k:
 *
 *   margin of member k   t_k = q_k x_(k).w_k               or, with rows normalised,  q_k x_(k).w_k/|x_(k)|
 *                        of a tree: the log-odds of the leaf that x ends in
 *   combined by
 *     majority           (1/K) sum_k sign(t_k)
 *     weighted           sum_k q_k sign(t_k)/sum_k q_k
 *     high               m.h,  m_k = sigma(t_k)/sqrt(K), or centered (2 sigma(t_k) - 1)/sqrt(K);  h: one
 *                              weight a member
 *
 * |m| <= 1 whatever the members are, so that the model h is fitted to rows of the unit ball. The parts below
 * say where the numbers are; the numbers themselves are the weights of a tacit_model: those of member 0 (a
 * tree's are one a node), of member 1, ..., then h.
 */
#pragma once

#include "data/dataset.h"
#include "model/tree.h"
#include "num/matrix.h"

typedef enum tacit_combiner {
    TACIT_COMBINE_HIGH, /* a model of the members' predictions */
    TACIT_COMBINE_MAJORITY,
    TACIT_COMBINE_WEIGHTED,
} tacit_combiner;

enum { TACIT_STACK_MEMBERS_MOST = 10000 };

/* A last factor that keeps norms at most 1, roundings included. */
#define TACIT_STACK_INSIDE (1 - 0x1p-40)

typedef struct tacit_stack {
    size_t members;    /* K >= 1 */
    size_t *start;     /* K + 1 offsets into column, and into the weights */
    uint32_t *column;  /* features of each member, ascending; none of a tree's places is read */
    double *scale;     /* q_k of each, in (0, 1] */
    tacit_tree **tree; /* of each member that is one, else NULL; NULL: none is */
    tacit_combiner combiner;
    bool rows_normalised; /* each x_(k) is divided by its norm first */
    bool is_centered;     /* of the high model's features */
} tacit_stack;

/* K members with room for `columns` in all; the caller fills start and column, scales are 1. */
tacit_status tacit_stack_create(tacit_stack **out, size_t members, size_t columns, tacit_error *error);
tacit_stack *tacit_stack_free(tacit_stack *stack);

/* Member k is this tree, which the stack takes, also on failure: start is the caller's to set, a place a
 * node. */
tacit_status tacit_stack_plant(tacit_stack *stack, size_t member, tacit_tree *tree, tacit_error *error);
/* The tree that member k is; NULL: it is linear. */
static inline const tacit_tree *tacit_stack_tree(const tacit_stack *stack, size_t member) {
    return stack->tree != NULL ? stack->tree[member] : NULL;
}
/* How many of the members are trees. */
size_t tacit_stack_trees(const tacit_stack *stack);

/* TACIT_INPUT unless offsets ascend, columns are below `features` and ascend within a member, trees are sound
 * and have as many nodes as places, and scales are in (0, 1]. */
tacit_status tacit_stack_check(const tacit_stack *stack, size_t features, tacit_error *error);

/* What it is, for people: "a stack of linear models", "of decision trees", or of both. */
const char *tacit_stack_title(const tacit_stack *stack);

/* "high", "majority", "weighted". */
const char *tacit_combiner_name(tacit_combiner combiner);

/* How many weights there are: of all members, and with h. */
size_t tacit_stack_low_size(const tacit_stack *stack);
size_t tacit_stack_size(const tacit_stack *stack);

/* The rows that member k, a linear one, sees: q_k x_(k), dense or sparse as they are. Owned by the caller.
 * Norms are at most q_k if those of `rows` are at most 1, roundings included: a last factor of 1 - 2^-40
 * sees to it unless nothing is scaled. */
typedef struct tacit_stack_rows {
    tacit_matrix dense;
    tacit_csr sparse;
    tacit_rows rows; /* of either */
} tacit_stack_rows;

#define TACIT_STACK_ROWS_INIT                                                                                \
    {                                                                                                        \
        TACIT_MATRIX_INIT, TACIT_CSR_INIT, { 0 }                                                             \
    }

tacit_status tacit_stack_member_rows(tacit_stack_rows *out, const tacit_stack *stack, size_t member,
                                     const tacit_rows *rows, tacit_error *error);
void tacit_stack_rows_clear(tacit_stack_rows *rows);

/* The features of the high model, rows x K row-major, from the members' weights. */
tacit_status tacit_stack_meta(const tacit_stack *stack, const double *weights, const tacit_rows *rows,
                              tacit_matrix *out, tacit_error *error);

/* The combined score of view row i; `scratch` holds as many numbers as a row has features. */
double tacit_stack_score(const tacit_stack *stack, const double *weights, const tacit_rows *rows, size_t i,
                         double *scratch);
