/*
 * How many values each missing-value choice of the schema filled, and how many rows it left out, counted
 * exactly: a few more numbers of a sum that a method without noise asks for anyway.
 *
 *   of each column of the schema, and of the label   rows in which it is missing, kept or left out
 *   behind them                                      rows left out
 *   then, of each of these numbers                   1 if the party withholds it: it has some, but fewer than
 *                                                    its owner's minimum of rows, and says 0
 *
 * Nothing is differentially private here: these are exact sums, like those that they are part of, and owners
 * who allow one allow the other.
 */
#pragma once

#include "model/report/estimates.h"
#include "model/report/report.h"
#include "session/party.h"
#include "session/session.h"

/* The setting. Definitions without its line mean `plain`: nothing is counted. */
#define MISSING_SUM_SETTING(S, member)                                                                       \
    TACIT_LATER_CHOICE(S, member, "missing", "counted|plain", "plain",                                       \
                       "counted: how many values of each column are missing and how many rows were left "    \
                       "out for it, where the schema says what becomes of missing values")
typedef enum missing_sum_setting { MISSING_SUM_COUNTED, MISSING_SUM_PLAIN } missing_sum_setting;

/* What the texts of such a method say of it (session/plan/wording.h). */
#define MISSING_SUM_LEAVE                                                                                    \
    "[counts=perhaps: ; once, where the schema says what becomes of missing values, how many values of "     \
    "each column are missing][counts=missing: ; once, how many values of each column are missing]"           \
    "[counts=missing|perhaps:  and how many rows were left out for it, unless few]"
#define MISSING_SUM_SEEN "[counts=missing: . The result says how many values of each column were missing]"

/* What becomes of a column's missing values, or of the label's, which is behind the columns. */
tacit_missing missing_rule_at(const tacit_schema *schema, size_t j);

/* For tacit_method.counts_missing. */
tacit_counted missing_sum_counted(const tacit_plan *plan, missing_sum_setting setting);

/* How many numbers they are, whatever the settings are; and behind those of another sum, where the method
 * counts them: else 0. */
size_t missing_sum_length(const tacit_schema *schema);
size_t missing_sum_behind(const tacit_plan *plan);

/* The party's: missing_sum_length numbers, each at most `most`. Of all holders of its rows together. */
tacit_status missing_sum_add_up(const tacit_party *party, double most, double *out, tacit_error *error);

/* The coordinator's: what all parties said, among estimates; or as a table of a report. A count below `least`
 * is not shown there. Nothing is done where `values` is NULL. */
tacit_status missing_sum_put(tacit_estimates *out, const tacit_schema *schema, const double *values,
                             tacit_error *error);
tacit_status missing_sum_add_table(tacit_report *report, const tacit_schema *schema, const double *values,
                                   double least, tacit_error *error);

/* A copy of what is behind the first `before` numbers of a sum, to be freed; NULL where nothing is. */
tacit_status missing_sum_keep(double **out, const tacit_plan *plan, const tacit_sum *sum, size_t before,
                              tacit_error *error);
