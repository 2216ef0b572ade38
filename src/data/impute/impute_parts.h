/* What the two kinds of regression of impute.h share. For its files only. */
#pragma once

#include "data/impute/impute.h"

typedef struct impute_work {
    const tacit_impute_problem *problem;
    size_t predictors;
    size_t *predictor; /* columns, ascending */
    double *room;      /* of all that follows */
    double *matrix;    /* X'X, or a Hessian: parameters x parameters, lower triangle */
    double *b;         /* parameters */
    double *draw, *gradient;
    double *mean, *spread; /* of the predictors, in the rows where the variable is there */
    double *pseudo;        /* one pseudo-row */
    bool *absent;          /* parameters that follow from those before them */
    size_t *level;         /* of each row, among the levels that occur */
} impute_work;

/* Cholesky's factor of the lower triangle, in place; parameters that follow from those before them are marked
 * absent. Returns how many. */
size_t impute_factor(double *a, size_t width, bool *absent);

/* L b' = b, and L' b' = b; 0 for absent ones. */
void impute_forward(const double *a, size_t width, const bool *absent, double *b);
void impute_backward(const double *a, size_t width, const bool *absent, double *b);

/* The predictors of a row times b. */
double impute_dot(const impute_work *work, const double *row, const double *b);

size_t impute_level(const tacit_impute_variable *of, const double *row);
void impute_set_level(const tacit_impute_variable *of, double *row, size_t level);

/* Draw a category's missing levels (impute_category.c). */
tacit_status impute_category(impute_work *work, const tacit_impute_variable *of, tacit_stream *stream,
                             tacit_error *error);
