/*
 * Choosing lambda on public rows with labels: free, because nothing private is looked at. Each candidate is
 * tried as the release would be, with simulated noise, on parts of the public rows. What noise does depends
 * on rows times epsilon, so epsilon is raised by as much as the public part has fewer rows than the private
 * one; the number of private rows is no secret where rows are replaced.
 */
#pragma once

#include "lab/simulate.h"

typedef struct tacit_candidates {
    double lambda[32];
    size_t count;
} tacit_candidates;

/* "l1,l2,...": 2 to 32 numbers above 0. */
tacit_status tacit_candidates_parse(tacit_candidates *out, const char *text, tacit_error *error);

/* The candidate of the best mean AUC (accuracy with more than two classes) over some draws of training and
 * test rows from `rows`; of equals the largest. `plan` has method, settings, epsilon and delta. The same at
 * every call. */
tacit_status tacit_choose_lambda(double *out, const tacit_candidates *candidates, const tacit_plan *plan,
                                 const tacit_dataset *rows, size_t private_rows, tacit_pool *pool,
                                 tacit_error *error);
