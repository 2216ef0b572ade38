/* What the tables of a description share (describe_report.c, describe_tables.c). */
#pragma once

#include "method/tables/describe.h"

typedef struct making {
    const describe_design *design;
    const double *sum;
    const bool *told; /* NULL: all */
    bool noisy;
    double rows, threshold;
    double moment_variance, tree_variance, level_variance; /* of the noise, in rows */
    double *size, size_variance;                           /* of the groups */
    bool closed;                                           /* a group has too few rows: no figures by group */
    tacit_report *report;
} making;

/* Move noisy counts of a histogram to the total that is known with a variance, by least squares; returns the
 * variance that each has then. */
double describe_fit_cells(double *count, size_t cells, double variance, double total, double total_variance);

/* ---- what is left out (describe_hide.c) ---- */

/* Whether a count is below the threshold; of exact ones 0 is not. */
bool describe_is_hidden(const making *self, double count);
/* NaN for these; of exact ones for more, where a small one would follow from the rest and the total. */
void describe_hide(const making *self, double *count, size_t cells);
/* NaN in `all`, a copy of the counts of all rows with NaN for those that are hidden, for the cells that are
 * hidden in every group: of exact counts. `group`: one after the other, those of each. */
void describe_hide_groups(const making *self, const double *group, size_t groups, double *all, size_t cells);
/* Whether exact counts have one that is hidden. */
bool describe_has_few(const making *self, const double *count, size_t cells);

/* Cross-tables, and their tests. */
tacit_status describe_add_pairs(making *self, tacit_error *error);

/* Quantiles of noisy counts, with the interval in which they are in 95% of all releases: places in [0, 1].
 * `p` ascends, and so do the intervals. */
tacit_status describe_quantile_intervals(const tacit_count_fit *fit, const double *p, size_t count,
                                         tacit_tree_quantile *out, tacit_error *error);
