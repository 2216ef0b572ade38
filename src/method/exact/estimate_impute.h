/* What the files of imputation in method estimate share: estimate_impute.c, and estimate_impute_terms.c for
 * terms. */
#pragma once

#include "data/impute/impute.h"
#include "method/exact/estimate.h"

/* A column that is imputed: where it is among the predictors and among the features, and where it is
 * missing. */
typedef struct estimate_gap {
    tacit_impute_variable variable;
    size_t feature; /* its number, or its first level; with terms its column of the schema */
    size_t first;   /* of its cells among all */
    uint32_t *row;  /* of the view */
} estimate_gap;

typedef struct estimate_gaps {
    const tacit_view *rows;
    tacit_design design;
    size_t width;                    /* of the predictors, without the response */
    size_t count, cells, incomplete; /* columns, cells, rows with any */
    estimate_gap *gap;
    size_t *of_column; /* the gap of each column of the schema; SIZE_MAX: none */
    size_t *at; /* with terms: the first predictor of each column of the schema; SIZE_MAX: none. Else NULL */
    const tacit_schema *schema; /* with terms */
} estimate_gaps;

/* With terms the predictors are the columns that the terms are made of, as they are before any
 * transformation: a constant, each number on [-1, 1], each level of a category but the first. What is drawn
 * goes through the terms. */
tacit_status estimate_terms_lay_out(estimate_gaps *self, const tacit_schema *schema, tacit_error *error);
void estimate_terms_place(estimate_gap *out, const estimate_gaps *self, const tacit_schema *schema,
                          size_t column);
void estimate_terms_predictors(double *out, const estimate_gaps *self, size_t row);

/* The rows that lacked something, with what was drawn in it, through the terms. */
tacit_status estimate_terms_put(tacit_estimate_completed *out, const estimate_gaps *self,
                                const tacit_schema *schema, const double *set, tacit_error *error);
