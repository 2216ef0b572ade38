/*
 * How many values each missing-value choice of the schema filled, and how many rows it left out, as one
 * vector of counts that a private method releases beside its model (missing_counts.c has the proof). The
 * method gives it a share of its budget, noise and a question of its own.
 */
#pragma once

#include "session/party.h"

/* What the texts of such a method say of it (session/plan/wording.h). */
#define MISSING_COUNTS_LEAVE                                                                                 \
    "[counts=perhaps: ; where the schema says what becomes of missing values, at last, for "                 \
    "{missing_counts%} of the budget, how many values of each column are missing][counts=missing: ; at "     \
    "last, for {missing_counts%} of the budget, how many values of each column are "                         \
    "missing][counts=missing|perhaps,protects=record:  and how many rows were left out for it]"
#define MISSING_COUNTS_SEEN                                                                                  \
    "[counts=missing: . The result says how many values of each column were missing, with the noise in it]"
#define MISSING_COUNTS_BOUND                                                                                 \
    "[counts=missing|perhaps: , and, where missing values are counted, on D counts of sensitivity sqrt(D)]"
#define MISSING_COUNTS_SETTING(S, member)                                                                    \
    TACIT_LATER_NUMBER(                                                                                      \
        S, member, "missing_counts", 0, 0.5, "0",                                                            \
        "share of the budget for how many values were missing and how many rows were left out, by column, "  \
        "where the schema says what becomes of missing values; 0: not counted")
#define MISSING_COUNTS_MORE "[counts=missing: , and one about missing values]"

enum { MISSING_COUNTS_THRESHOLD = 10 }; /* counts with noise below it are left out of the result */

typedef struct missing_counts {
    size_t length;      /* of the vector: columns, the label, rows left out; 0: nothing is counted */
    double most;        /* of a person, in each number; 0: rows are protected one by one */
    double sensitivity; /* how far a replaced row, or person, moves the vector, in L2 norm */
} missing_counts;

/* A function of the plan alone. Nothing where the schema says nothing of missing values, or only that they
 * are errors. `person_most`: rows of a person that count, where persons are protected; else 0. */
missing_counts missing_counts_of(const tacit_plan *plan, uint64_t person_most);

/* The party's: the vector over its rows, each number at most `largest`. In all holders. */
tacit_status missing_counts_add_up(tacit_party *party, const missing_counts *counts, double largest,
                                   double *out, tacit_error *error);

/* The coordinator's: what was released, as a table of a report. `deviation`: of the noise in each number. */
tacit_status missing_counts_add_table(tacit_report *report, const tacit_plan *plan,
                                      const missing_counts *counts, const double *values, double deviation,
                                      tacit_error *error);
/* The same as a report of its own, with what it cost; `share`: of the
 * budget; `rows`: of all parties together, as the result has them. */
tacit_status missing_counts_report(tacit_report **out, const tacit_plan *plan, const missing_counts *counts,
                                   const double *values, double deviation, double share, double rows,
                                   tacit_error *error);
