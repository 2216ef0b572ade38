/*
 * What the two halves of method dptree share: the plan (dptree_plan.c), a party's counts (dptree_rows.c), and
 * what the coordinator makes of them (dptree_grow.c). The method itself is in dptree.c.
 */
#pragma once

#include "method/private/dpnewton.h"

enum {
    DPTREE_MOST_DEPTH = 10,
    DPTREE_MOST_COLUMNS = 1024,
    DPTREE_MOST_CLASSES = 64,
    DPTREE_MOST_CELLS = 64,
    DPTREE_MOST_NUMBERS = 1 << 20, /* in one question */
};

/* Noise and declared rows are those of dpnewton, whose functions read them. */
typedef struct dptree_settings {
    dpnewton_settings engine;
    uint64_t depth, cells, columns; /* 0: chosen */
} dptree_settings;

static inline const dptree_settings *dptree_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(dptree_settings, plan);
}

/* A column of the schema as counts see it: a number's range in cells of equal width, or a category's levels
 * and one cell for none of them. Every row is in exactly one cell of it. */
typedef struct dptree_column {
    size_t first; /* feature; a category's has one a level */
    size_t cells;
    bool number;
    double low, width; /* of a number: cell c holds features in (low + c width, low + (c + 1) width] */
} dptree_column;

/* What follows from the plan alone. */
typedef struct dptree_design {
    size_t columns, classes, features;
    dptree_column *column;
    size_t depth; /* D: questions 0 .. D - 1 are about splits, and question D about leaves */
    size_t kept;  /* columns that are asked about after the first question */
    tacit_sum_spec sum[DPTREE_MOST_DEPTH + 1];
    dpnewton_release release[DPTREE_MOST_DEPTH + 1];
} dptree_design;

extern const dptree_settings dptree_defaults;
extern const tacit_parameter dptree_parameters[];

/* TACIT_USAGE for a plan that the method does not take. Clear it also after a failure. */
tacit_status dptree_describe(const tacit_plan *plan, dptree_design *out, tacit_error *error);
void dptree_clear(dptree_design *design);

tacit_status dptree_settle(tacit_plan *plan, tacit_error *error);
tacit_status dptree_noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error);

/* How many columns question t may ask about: none, that about leaves. */
size_t dptree_asked(const dptree_design *design, size_t t);

/* Where a split between cells c and c + 1 of a number, or of level c against the others, has its feature and
 * threshold. */
void dptree_cut(const dptree_column *column, size_t c, tacit_tree_node *out);

/* ---- a question: the tree so far, the leaves that are asked about, and by which columns ---- */

typedef struct dptree_question {
    tacit_tree *tree;
    size_t columns, open;
    size_t *column; /* ascending */
    size_t *leaf;   /* of the tree, each once */
} dptree_question;

tacit_status dptree_question_create(dptree_question *out, size_t nodes, size_t columns, size_t open,
                                    tacit_error *error);
void dptree_question_clear(dptree_question *question);
tacit_status dptree_question_write(const dptree_question *question, tacit_message *message,
                                   tacit_error *error);

/* What question t says, if it is one of this study: TACIT_REFUSED, or TACIT_PROTOCOL. */
tacit_status dptree_question_read(dptree_question *out, const dptree_design *design, size_t t,
                                  const tacit_message *message, tacit_error *error);

/* Nodes as they travel: feature, left and right of each, and thresholds. Reading checks the tree. */
void dptree_nodes_write(const tacit_tree *tree, int64_t *parts, double *thresholds);
tacit_status dptree_nodes_read(tacit_tree *tree, size_t features, const int64_t *parts,
                               const double *thresholds, tacit_error *error);

/* Numbers of one leaf in the answer, and where those of the j-th column asked about begin among them: cell by
 * cell, class by class. */
size_t dptree_stride(const dptree_design *design, const dptree_question *question);
size_t dptree_offset(const dptree_design *design, const dptree_question *question, size_t j);

/* The party's counts, in all holders. */
tacit_status dptree_count(tacit_party *party, const dptree_design *design, const dptree_question *question,
                          double *out, size_t length, tacit_error *error);

/* ---- the coordinator's tree ---- */

typedef struct dptree_growth {
    const dptree_design *design;
    dptree_question next; /* what is asked about now; its tree grows */
    size_t room;          /* nodes that the tree has memory for */
    double *gain;         /* of each column, by the first question */
    double *chance;       /* of each class, by node: what its counts say */
} dptree_growth;

/* The answer to question t, which growth->next is: the counts of all rows that the tree is made of, with
 * their noise, to be freed. */
typedef tacit_status dptree_asker(void *context, const dptree_growth *growth, size_t t, double **counts,
                                  tacit_error *error);

/* The tree, by all questions. Each is asked, also where nothing is left to split: what is charged does not
 * depend on answers. */
tacit_status dptree_make(const dptree_design *design, dptree_asker *ask, void *context, tacit_model **out,
                         tacit_error *error);

/* A root, and all columns to ask about; dptree_end is due also after a failure. */
tacit_status dptree_begin(dptree_growth *out, const dptree_design *design, tacit_error *error);
void dptree_end(dptree_growth *growth);

/* Split the open leaves by the answer to question t; their children are open next. After the last of these
 * questions, or where nothing is left to split, open all leaves. */
tacit_status dptree_grow(dptree_growth *growth, size_t t, const double *counts, tacit_error *error);
void dptree_open_leaves(dptree_growth *growth);

/* The model, from counts of the open leaves: all of them. */
tacit_status dptree_finish(dptree_growth *growth, const double *counts, tacit_model **out,
                           tacit_error *error);
