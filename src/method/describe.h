/*
 * What the halves of methods describe and describe-exact share: the layout of one vector of sums over a
 * study's rows, from public numbers alone (describe_plan.c), the party's sums (describe_rows.c), and the
 * tables made of them (describe_report.c).
 */
#pragma once

#include "data/cells.h"
#include "method/one_release.h"
#include "num/count_tree.h"
#include "session/session.h"

enum {
    DESCRIBE_MOST_NUMBERS = 1 << 20, /* in the vector */
    DESCRIBE_MOST_PAIRS = 32,
    DESCRIBE_MOMENTS = 2 /* of a number: u, and c (u^2 - 1/2) */
};

typedef struct describe_settings {
    enum { DESCRIBE_BY_SHARES, DESCRIBE_BY_PARTY } noise;
    uint64_t threshold;
    char by[TACIT_SETTING_SIZE];
    char cross[TACIT_SETTING_SIZE];
    uint64_t cells;
    uint64_t exact; /* of describe-exact: no line in the table */
} describe_settings;

static inline const describe_settings *describe_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(describe_settings, plan);
}

static inline bool describe_by_shares(const tacit_plan *plan) {
    const describe_settings *settings = describe_settings_of(plan);
    return settings->exact == 0 && settings->noise == DESCRIBE_BY_SHARES;
}

/* Where the values of a variable come from. */
typedef enum describe_source {
    DESCRIBE_CELL,
    DESCRIBE_CLASS,
    DESCRIBE_RESPONSE,
    DESCRIBE_EVENT
} describe_source;

/* A column that is described, or the label. */
typedef struct describe_variable {
    const char *name;
    describe_source source;
    size_t cell; /* among the cells of a row */
    bool number;
    double low, high;
    const tacit_levels *names; /* of levels; NULL: 0, 1, ... */
    size_t levels;             /* of a category */
    size_t cells;              /* its levels, and one for the missing; a label is never missing */
    size_t groups;             /* 1, or those of `by` */
    size_t moments, counts;    /* where they begin in the vector; counts: a tree or the levels, by group */
    size_t parents;            /* where its parents begin among those that may be closed */
} describe_variable;

typedef struct describe_pair {
    size_t first, second; /* variables */
    size_t counts, parents;
} describe_pair;

typedef struct describe_design {
    tacit_cells cells;
    size_t variables, numbers, categories, pairs;
    describe_variable *variable;
    describe_pair pair[DESCRIBE_MOST_PAIRS];
    size_t by, groups; /* by SIZE_MAX: one group */
    tacit_count_tree tree;
    size_t length;    /* of the vector: rows, then what the variables say */
    size_t parents;   /* whose children may be closed in exact mode */
    size_t by_parent; /* that of the groups */
    /* What a row counts, a moment, a cell of a tree, and a level or cross-table's cell is multiplied by. */
    double rows_weight, moment_weight, tree_weight, level_weight;
    double square; /* c */
    bool exact;
    tacit_sum_spec flags;
    one_release release;
} describe_design;

/* TACIT_USAGE for a plan that cannot be described. */
tacit_status describe_make(describe_design *out, const tacit_plan *plan, tacit_error *error);
/* The same without groups: where their sizes may not be told. */
tacit_status describe_make_whole(describe_design *out, const tacit_plan *plan, tacit_error *error);
void describe_clear(describe_design *design);

const char *describe_level(const describe_variable *variable, size_t level, char scratch[32]);
size_t describe_counts(const describe_design *design, const describe_variable *variable); /* of one group */

/* The party's vector, and the flags of parents with a child of too few rows: 1 to minimum - 1. */
tacit_status describe_sums(tacit_party *party, const describe_design *design, double *out,
                           tacit_error *error);
void describe_small(const describe_design *design, const double *sums, double minimum, double *flags);
/* Close what is inside a closed parent. */
void describe_settle(const describe_design *design, bool *open);
/* Leave the children of closed parents out. */
void describe_close(const describe_design *design, const bool *open, double *sums);

/* The report of a sum; `open` NULL: all of it. */
tacit_status describe_report(tacit_report **out, const describe_design *design, const tacit_plan *plan,
                             const double *sum, const bool *open, tacit_error *error);
