/*
 * Missing values drawn from the rows that have them, by chained equations (van Buuren and Groothuis-Oudshoorn
 * 2011): each variable in turn is regressed on all others in the rows where it is there, parameters are drawn
 * from their posterior (flat prior), and its missing values from the model with these; several sweeps over
 * all variables, from random observed values. One call makes one completed set.
 *
 *   number     linear: sigma*^2 = RSS/chi^2(n - p), b* = b + sigma* (X'X)^(-1/2) z, x* = X b* + sigma* z
 *              ("norm" of R's mice)
 *   category   multinomial logistic over the levels that occur, b* = b + H^(-1/2) z, by maximum likelihood of
 *              the rows and of pseudo-rows of a total weight of p + 1 around the predictors' means (White,
 *              Daniel and Royston 2010), so that separated levels have an estimate too ("logreg"; for more
 *              than two levels "polyreg" with parameters drawn as well)
 *
 * A predictor that follows from those before it is left out. A draw depends on all rows: nothing here is
 * differentially private, and one row more changes what others get.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "rand/stream.h"

typedef struct tacit_impute_variable {
    const char *name;    /* for messages */
    size_t first, count; /* its columns: one of a number, one for each level but the first of a category */
    bool category;
    double low, high;    /* number: draws beyond are moved here */
    double unit;         /* category: what the column of a row's own level holds; the others hold 0 */
    size_t cells;        /* at least one */
    const uint32_t *row; /* in which it is missing, ascending */
} tacit_impute_variable;

typedef struct tacit_impute_problem {
    size_t rows, width;
    double *values; /* rows x width, row by row, one column being constant; what is missing is filled in */
    size_t variables;
    const tacit_impute_variable *variable;
    size_t sweeps; /* over all variables; 0: TACIT_IMPUTE_SWEEPS */
} tacit_impute_problem;

enum { TACIT_IMPUTE_SWEEPS = 10, TACIT_IMPUTE_MOST_PARAMETERS = 2000 };

/* TACIT_INPUT where a variable is missing in every row: there is nothing to draw it from. */
tacit_status tacit_impute(const tacit_impute_problem *problem, tacit_stream *stream, tacit_error *error);
