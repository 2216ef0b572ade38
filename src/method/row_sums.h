/*
 * What an M-estimator asks of a party's rows: objective, gradient and, if wanted, a matrix (num/estimator.h),
 * over all rows of a view on the threads of a pool. Rows are summed in parts whose boundaries follow from
 * their number alone, and the parts are added in order: the same to the last bit on any number of threads.
 */
#pragma once

#include "base/pool.h"
#include "data/dataset.h"
#include "model/family/family.h"
#include "model/report/estimates.h"
#include "num/estimator.h"
#include "num/several.h"

/* The response of row i of a view, in the family's units: as many numbers as its loss has columns. */
typedef void tacit_response_function(const void *context, const tacit_view *rows, size_t i, double *y);

/* Of a view of two classes: 0 or 1. */
tacit_response_function tacit_row_class;

typedef struct tacit_row_sums {
    const tacit_family *family;
    tacit_row_weight weight;
    const tacit_several_shape *several; /* of a family with several scores a row; else NULL */
    size_t width;
    const double *w;            /* width */
    const size_t *kept;         /* the features that are used, ascending; NULL: all */
    const tacit_design *design; /* whose offset and weights of rows count; NULL: there are none */
    tacit_response_function *response;
    const void *context;
    tacit_pool *pool;       /* NULL: one thread */
    const double *adjusted; /* what adjustments of the gradient rest on (estimate.h); NULL: there are none */
} tacit_row_sums;

/* The offset of row i, in units of the score, and its weight; `design` NULL: there are none. */
static inline double tacit_row_offset(const tacit_design *design, const tacit_rows *rows, size_t i) {
    if (design == NULL || design->offset == SIZE_MAX) return 0;
    return design->offset_weight * tacit_rows_cell(rows, i, design->offset);
}
static inline double tacit_row_weight_of(const tacit_design *design, const tacit_rows *rows, size_t i) {
    if (design == NULL || design->weights == SIZE_MAX) return 1;
    return design->weights_scale * tacit_rows_cell(rows, i, design->weights);
}

/* Into tacit_sums_length(weight, width) numbers, as tacit_sums_pack orders them. */
tacit_status tacit_row_sums_make(double *out, const tacit_row_sums *how, const tacit_view *rows,
                                 tacit_error *error);
