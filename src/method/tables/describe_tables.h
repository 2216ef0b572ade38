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
    tacit_report *report;
} making;

/* Move noisy counts of a histogram to the total that is known with a variance, by least squares; returns the
 * variance that each has then. */
double describe_fit_cells(double *count, size_t cells, double variance, double total, double total_variance);

/* NaN for counts below the threshold; of exact ones not for 0, and for another one where a single cell would
 * follow from the rest. */
void describe_hide(const making *self, double *count, size_t cells);

/* Cross-tables, and their tests. */
tacit_status describe_add_pairs(making *self, tacit_error *error);

/* Quantiles of noisy counts, with the interval in which they are in 95% of all releases: places in [0, 1]. */
tacit_status describe_quantile_intervals(const tacit_count_fit *fit, const double *p, size_t count,
                                         tacit_tree_quantile *out, tacit_error *error);
