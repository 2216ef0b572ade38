/*
 * What the halves of methods describe and describe-exact share: the layout of one vector of sums over a
 * study's rows, from public numbers alone (describe_plan.c), the party's sums (describe_rows.c), and the
 * tables made of them (describe_report.c).
 */
#pragma once

#include "data/reading/cells.h"
#include "method/one_release.h"
#include "num/noisy/count_tree.h"
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
    enum { DESCRIBE_TOGETHER, DESCRIBE_APART } sites;
    enum { DESCRIBE_MISSING_PLAIN, DESCRIBE_MISSING_COUNTED } missing;
} describe_settings;

static inline const describe_settings *describe_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(describe_settings, plan);
}

static inline bool describe_apart(const tacit_plan *plan) {
    return describe_settings_of(plan)->sites == DESCRIBE_APART;
}

/* A party whose figures are told by themselves. */
enum { DESCRIBE_SITE_NAME = 128 };
typedef struct describe_site {
    char name[DESCRIBE_SITE_NAME];
    double rows;
} describe_site;

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
    size_t place;              /* where its leaves or levels begin among the places that may be told */
} describe_variable;

typedef struct describe_pair {
    size_t first, second; /* variables */
    size_t counts, place;
} describe_pair;

typedef struct describe_design {
    tacit_cells cells;
    size_t variables, numbers, categories, pairs;
    describe_variable *variable;
    describe_pair pair[DESCRIBE_MOST_PAIRS];
    size_t by, groups;         /* by SIZE_MAX: one group, or sites */
    const describe_site *site; /* the groups are these, borrowed; NULL: they are not */
    tacit_count_tree tree;
    size_t length;                  /* of the vector: rows, then what the variables say */
    size_t missing, missing_counts; /* where they begin in the vector, and how many (describe_missing.c) */
    /* In exact mode: what may be told, and what the first sum is held to (describe_open.c). */
    size_t places;
    double threshold, veto;
    /* What a row counts, a moment, a cell of a tree, and a level or cross-table's cell is multiplied by. */
    double rows_weight, moment_weight, tree_weight, level_weight, missing_weight;
    double square; /* c */
    bool exact;
    tacit_sum_spec bounds;
    one_release release;
} describe_design;

/* TACIT_USAGE for a plan that cannot be described. */
tacit_status describe_make(describe_design *out, const tacit_plan *plan, tacit_error *error);
/* The same without groups: where their sizes may not be told. */
tacit_status describe_make_whole(describe_design *out, const tacit_plan *plan, tacit_error *error);
/* The layout of the sums of several parties beside each other; `sites` is borrowed. */
tacit_status describe_make_sites(describe_design *out, const tacit_plan *plan, const describe_site *sites,
                                 size_t count, tacit_error *error);
void describe_clear(describe_design *design);

const char *describe_level(const describe_variable *variable, size_t level, char scratch[32]);
size_t describe_counts(const describe_design *design, const describe_variable *variable); /* of one group */

/* The party's vector. */
tacit_status describe_sums(tacit_party *party, const describe_design *design, double *out,
                           tacit_error *error);

/* ---- missing=counted (describe_missing.c) ---- */

/* How many values of each column and of the label are missing, and how many rows were left out for it: this
 * many counts.
 * 0: they are not asked for. */
size_t describe_missing_counts(const tacit_plan *plan);
tacit_status describe_check_missing(const tacit_plan *plan, tacit_error *error);
/* A party's, added to `out`. */
tacit_status describe_count_missing(const tacit_party *party, double *out, tacit_error *error);
/* As a table of the report: counts, times `weight` so far, with the error of their noise. */
tacit_status describe_report_missing(tacit_report *report, const tacit_plan *plan, const double *counts,
                                     double weight, double noise, tacit_error *error);
/* Of describe-exact: ask for them in a sum of their own, and put them into the report. */
tacit_status describe_ask_missing(tacit_session *session, size_t parties, tacit_report *report,
                                  tacit_error *error);

/* ---- small cells of exact sums (describe_open.c) ---- */

/* How a party holds its counts back: as the sum is, or alone, by its owner's minimum. */
typedef struct describe_rule {
    bool real; /* false: in a simulation nothing is held back */
    bool alone;
    double minimum;
} describe_rule;

describe_rule describe_rule_of(const tacit_plan *plan, bool real, double minimum);
double describe_veto(double threshold, size_t parties);
/* The party's lower bounds of its counts, laid out like its sums, and zeros. */
void describe_bounds(const describe_design *design, const double *sums, const describe_rule *rule,
                     double *out);
/* What is told, of the sum of all bounds: for a number the leaves at which a piece begins, for a category the
 * levels that stand alone, and whole cross-tables. */
void describe_choose(const describe_design *design, const double *bounds, bool *told);
bool describe_groups_told(const describe_design *design, const bool *told);
/* Put together what is not told, in a party's sums; TACIT_REFUSED where its owner's minimum is against it. */
tacit_status describe_merge(const describe_design *design, const bool *told, const describe_rule *rule,
                            double *sums, tacit_error *error);

/* The report of a sum; `told` NULL: all of it. */
tacit_status describe_report(tacit_report **out, const describe_design *design, const tacit_plan *plan,
                             const double *sum, const bool *told, tacit_error *error);

/* ---- halves that share steps (describe.c, describe_sites.c) ---- */

tacit_status describe_answer_counts(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                    tacit_error *error);
/* Ask what may be told under a design: into *out, which is to be freed, and the message. */
tacit_status describe_ask_told(tacit_session *session, const describe_design *design, tacit_message *message,
                               bool **out, tacit_error *error);
tacit_status describe_finish(tacit_session *session, const describe_design *design, const tacit_sum *sum,
                             const bool *told, tacit_outcome *out, tacit_error *error);

tacit_handler describe_answer_site, describe_answer_exact_site;
tacit_status describe_usable_site(const tacit_plan *plan, const tacit_message *answer, tacit_error *error);
size_t describe_site_numbers(const tacit_plan *plan);
tacit_status describe_coordinate_sites(tacit_session *session, tacit_outcome *out, tacit_error *error);
