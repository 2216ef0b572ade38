/*
 * What pst-s, pst-f and pst-h share (Yao et al. 2019): the settings, how a stack is laid out from what is
 * public, and a party's private stack of its own rows. Proof note, for a party of n rows of the unit ball,
 * one of which is replaced; n stays:
 *
 *  1. The rows are put in an order that depends on n alone; the first n_low are D_l, the others D_h. A
 *     replaced row stays where it is, so it is in one of the two, and what is released of both costs the
 *     larger of the two epsilons, not their sum (parallel composition): what is made of D_h may use what was
 *     released of D_l.
 *  2. D_l. Members of row blocks (pst-s): each block is perturbed for epsilon (privacy/mechanism/erm.h, steps
 *     1 to 4), or a tree is grown of it for (epsilon, delta) (stacking_trees.c), and the blocks are disjoint.
 *     Members of feature groups (pst-f, pst-h): all of them together
 *     cost epsilon (privacy/mechanism/erm.h, groups), whatever the groups share; scales and groups are
 *     public.
 *  3. D_h. Given the released members, a row's features of the high model follow from that row alone and have
 *     a norm of at most 1 (model/stack.h), so the high model is plr's on D_h: epsilon.
 *  4. majority and weighted need no D_h, nor does a stack of one member: then all rows are D_l, and a stack
 *     of one member is plr's model, bit for bit.
 *
 * Low and high models leave in one answer, whose price is epsilon, or (epsilon, delta) where members are
 * trees: a coordinator that asks again pays again. With several parties the coordinator takes the mean of
 * each number, as for plr; of trees, which have no numbers in common, the mean of what the parties' stacks
 * say.
 */
#pragma once

#include "method/private/dptree.h"
#include "method/private/perturb.h"
#include "model/stack.h"

/* How a party's stack is made: all of it public. */
typedef struct stacking {
    tacit_stack *stack;
    bool by_rows;        /* each member has rows of its own (pst-s) */
    double *lambda;      /* of each member */
    double *prior;       /* u of all members' weights; NULL: zero */
    double high_lambda;  /* of the high model */
    double share;        /* of the rows that are D_l */
    bool takes_all_rows; /* for D_l: nothing is fitted to D_h */
    double epsilon;
    bool *is_tree;        /* of each member; NULL: none is. A tree has no places in `stack` */
    dptree_design design; /* of every tree */
} stacking;

#define STACKING_INIT                                                                                        \
    { .stack = NULL }

/* pst-s: K members of all features. */
tacit_status stacking_of_blocks(stacking *out, const tacit_plan *plan, tacit_error *error);
/* plr: one member, of all features and all rows; reads no setting of stacks. */
tacit_status stacking_of_one(stacking *out, const tacit_plan *plan, tacit_error *error);
/* pst-f, pst-h: K groups of features, by importance. */
tacit_status stacking_of_groups(stacking *out, const tacit_plan *plan, tacit_error *error);
/* The same as first made, with no D_h: only what is answered of D_l (the source's step of pst-h). */
void stacking_low_only(stacking *how);
void stacking_clear(stacking *how);

/* TACIT_USAGE for a plan that makes no stack. */
tacit_status stacking_check(const tacit_plan *plan, const stacking *how, tacit_error *error);

/* The sum that a question asks for: all numbers of a stack. Of trees there are none, and what is asked for is
 * no sum, but linear members and the high model are released on its grid. */
tacit_status stacking_sum(const tacit_plan *plan, const stacking *how, tacit_sum_spec *out,
                          tacit_error *error);

/* What is released of a party's rows: each member's numbers, those of the high model behind them, and trees,
 * which have none. */
typedef struct stacking_released {
    size_t members;
    tacit_noised **part; /* one more than members; NULL: a tree, or not there */
    tacit_model **tree;  /* of each member; NULL: linear, or not there */
    tacit_noise grade;   /* the least of all */
} stacking_released;

/* The party's half: split the rows, fit and release the members, fit and release the high model. Clear it
 * also after a failure. */
tacit_status stacking_release(stacking_released *out, tacit_party *party, const stacking *how,
                              const tacit_sum_spec *spec, tacit_error *error);
void stacking_released_clear(stacking_released *released);

/* It as one model; the high model's weights are zeros where it is not there. */
tacit_status stacking_compose(tacit_model **out, const tacit_plan *plan, const stacking *how,
                              const stacking_released *released, int grid_bits, tacit_error *error);

/* The same in one list of numbers: of linear members. */
tacit_status stacking_answer(tacit_party *party, const stacking *how, const tacit_sum_spec *spec,
                             tacit_noised **out, tacit_error *error);

/* The coordinator's: the mean of the answers as the outcome's model, which is plain linear for one member. */
tacit_status stacking_finish(const tacit_plan *plan, const stacking *how, const tacit_sum *sum,
                             tacit_outcome *out, tacit_error *error);

/* Of the first member, or of all for feature groups; the norm is that in the members' weights. */
tacit_status stacking_law(const tacit_plan *plan, const stacking *how, tacit_noise_law *out,
                          tacit_error *error);

/* The noise of each member for a party of `low` rows in D_l; `out` has room for all. */
tacit_status stacking_noise(tacit_objective_noise *out, const tacit_plan *plan, const stacking *how,
                            size_t low, tacit_error *error);

/* How many of `rows` rows are D_l, and the order in which they are taken (rows numbers): public. */
size_t stacking_low_rows(const stacking *how, size_t rows);
void stacking_order(const stacking *how, size_t *out, size_t rows);

/* ---- members that are trees (stacking_trees.c, which holds the proof) ---- */

/* Those of the plan's members: TACIT_USAGE where it cannot have them. Nothing where it has none. */
bool stacking_has_trees(const tacit_plan *plan);
tacit_status stacking_plant(stacking *how, const tacit_plan *plan, tacit_error *error);

static inline bool stacking_is_tree(const stacking *how, size_t member) {
    return how->is_tree != NULL && how->is_tree[member];
}

/* A block of a party's rows, of which a tree is grown: the context of stacking_count, which answers its
 * steps. It stays where it was begun. */
typedef struct stacking_block {
    tacit_party party; /* with these rows, and the tree's plan */
    tacit_plan plan;
    tacit_noise grade; /* the least so far */
} stacking_block;

void stacking_block_begin(stacking_block *out, const tacit_party *party, const tacit_rows *rows);
dptree_asker stacking_count;

/* A member of these rows, and what its noise is worth. */
tacit_status stacking_grow(tacit_model **out, tacit_party *party, const stacking *how, const tacit_rows *rows,
                           tacit_noise *grade, tacit_error *error);

/* A stack: linear members as in how->stack, and trees, one a member that is one (borrowed). */
tacit_status stacking_model(tacit_model **out, const tacit_plan *plan, const stacking *how,
                            const tacit_tree *const *trees, tacit_error *error);

/* Both halves of the question for such a stack, and what checks a single answer. */
tacit_status stacking_trees_answer(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                   tacit_error *error);
tacit_status stacking_trees_usable(const tacit_plan *plan, const tacit_message *answer, tacit_error *error);
size_t stacking_trees_numbers(const tacit_plan *plan);
tacit_status stacking_trees_coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error);

/* ---- for a method that is one question for such a stack ---- */

typedef tacit_status stacking_maker(stacking *out, const tacit_plan *plan, tacit_error *error);

tacit_status stacking_plan_check(const tacit_plan *plan, stacking_maker *make, tacit_error *error);
/* The sum of such a question: what its method prepares, and both halves have. */
tacit_status stacking_plan_prepare(const tacit_plan *plan, stacking_maker *make, tacit_sum_spec *out,
                                   tacit_error *error);
tacit_status stacking_plan_law(const tacit_plan *plan, stacking_maker *make, tacit_noise_law *out,
                               tacit_error *error);
tacit_status stacking_plan_answer(tacit_party *party, const tacit_question *question, stacking_maker *make,
                                  tacit_reply *reply, tacit_error *error);
tacit_status stacking_plan_coordinate(tacit_session *session, stacking_maker *make, tacit_outcome *out,
                                      tacit_error *error);

/* Settings of all three; a method's table has some. */
typedef struct stacking_settings {
    perturb_settings perturb;
    tacit_combiner combiner;
    double low, high_lambda;
    enum { STACKING_CENTERED, STACKING_PROBABILITY } meta;
    uint64_t blocks; /* of rows */
    uint64_t groups; /* of features */
    char importance[TACIT_SETTING_SIZE], group_lambda[TACIT_SETTING_SIZE];
    enum { STACKING_SCALE, STACKING_NORMALISE } rows;
    uint64_t draw;
    uint64_t sources; /* of pst-h */
    double source_epsilon, source_lambda, eta;
    enum { STACKING_OF_PLR, STACKING_OF_TREES, STACKING_OF_BOTH } low_models; /* of pst-s */
    uint64_t depth, columns;                                                  /* of trees; 0: chosen */
} stacking_settings;

extern const stacking_settings stacking_defaults;

static inline const stacking_settings *stacking_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(stacking_settings, plan);
}

#define STACKING_PARAMETERS                                                                                  \
    TACIT_CHOICE(stacking_settings, combiner, "combiner", "high|majority|weighted",                          \
                 "who decides: a private model of the members' predictions, most members, or most weight"),  \
        TACIT_NUMBER(stacking_settings, low, "low", 0.01, 0.99,                                              \
                     "the share of a party's rows that the members are fitted to; the others are for the "   \
                     "high model"),                                                                          \
        TACIT_OPEN_NUMBER(stacking_settings, high_lambda, "high-lambda", 1e6,                                \
                          "the regulariser of the high model", "lambda"),                                    \
        TACIT_CHOICE(stacking_settings, meta, "meta", "centred|probability",                                 \
                     "what the high model sees of a member: 2p - 1, or p as printed, which needs an "        \
                     "intercept to classify well"),                                                          \
        PERTURB_LOSS_PARAMETERS(perturb_settings,                                                            \
                                "what is minimised: the logistic loss, or the Huberised hinge")

#define STACKING_GROUP_PARAMETERS                                                                            \
    TACIT_COUNT(stacking_settings, groups, "groups", 1, TACIT_STACK_MEMBERS_MOST,                            \
                "K: how many groups of features"),                                                           \
        TACIT_TEXT(                                                                                          \
            stacking_settings, importance, "importance",                                                     \
            "public knowledge of what matters: uniform (random groups of equal weight), points (variances "  \
            "of the public points), power:A (A^i for feature i), or one number a feature, v1,v2,..."),       \
        TACIT_TEXT(stacking_settings, group_lambda, "group-lambda",                                          \
                   "the regulariser of each group, l1,l2,...; the study's lambda by default"),               \
        TACIT_CHOICE(                                                                                        \
            stacking_settings, rows, "rows", "scale|normalise",                                              \
            "how a group's part of a row gets a norm of at most q_k: multiplied by q_k, or brought to it"),  \
        TACIT_COUNT(stacking_settings, draw, "draw", 0, 1e9, "which random groups, for importance=uniform")
