/*
 * Principal components: the directions in which rows vary most. What they are computed from must be public,
 * or the whole must be a simulation that says so: the components are statistics of those rows.
 */
#pragma once

#include "num/matrix.h"

typedef struct tacit_pca {
    size_t features, dimensions;
    double *mean;     /* features */
    double *axes;     /* dimensions x features, row-major, orthonormal; by falling variance */
    double *variance; /* along each axis, divided by the number of rows */
    double total;     /* the variance in all directions */
} tacit_pca;

#define TACIT_PCA_INIT                                                                                       \
    { 0, 0, NULL, NULL, NULL, 0 }

/* Eigenvectors of the covariance matrix. The entry of largest magnitude of each axis is positive, so that the
 * same rows give the same axes. TACIT_USAGE unless 1 <= dimensions <= columns, TACIT_INPUT without rows or
 * with a number that is not finite. */
tacit_status tacit_pca_fit(tacit_pca *out, const tacit_rows *rows, size_t dimensions, tacit_error *error);

/* The coordinates of `count` rows from view row `begin`: out is count x dimensions. `scratch` holds count x
 * features numbers. */
void tacit_pca_project(const tacit_pca *pca, const tacit_rows *rows, size_t begin, size_t count,
                       double *scratch, double *out);

/* Accepts NULL; leaves an empty one. */
void tacit_pca_clear(tacit_pca *pca);
