/*
 * The optimisers of newton, privlogit-hessian and privlogit-local in the clear, on all rows in one place:
 * what the protocols must agree with, iteration by iteration. Same scale, same start, same stopping rule
 * (logit.h); double precision.
 */
#pragma once

#include "base/pool.h"
#include "data/dataset.h"
#include "num/estimator.h"

typedef struct tacit_logit_reference_settings {
    bool newton; /* the true Hessian in each step; else the bound X^T X/4 */
    double scale, lambda, start;
    double likelihood_change; /* stop when the relative change is below; 0: never */
    double step;              /* stop when no coefficient moves by more; 0: never */
    size_t most_iterations;
    tacit_pool *pool; /* NULL: one thread */
} tacit_logit_reference_settings;

typedef struct tacit_logit_reference {
    size_t width, iterations;
    double *path;      /* beta_0, beta_1, ...: iterations + 1 vectors */
    double *objective; /* of each, regularised, over n */
    double seconds;
    bool stopped; /* by a rule, not by most_iterations or by running away */
} tacit_logit_reference;

/* All features of the rows are used as they are. A run that runs away ends there, and is no failure. */
tacit_status tacit_logit_reference_run(tacit_logit_reference *out, const tacit_view *rows,
                                       const tacit_logit_reference_settings *settings, tacit_error *error);
void tacit_logit_reference_clear(tacit_logit_reference *reference);

/* The last beta; borrowed. */
const double *tacit_logit_reference_last(const tacit_logit_reference *reference);
