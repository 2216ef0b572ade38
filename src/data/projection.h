/*
 * The directions in which public points lie: their top right singular vectors. Rows seen along them have few
 * features, and noise in few dimensions is small. Computed from public points only, so it costs nothing.
 */
#pragma once

#include "num/matrix.h"

typedef struct tacit_projection {
    size_t features, dimensions;
    double *axes; /* features x dimensions, row-major, orthonormal columns; by falling singular value */
} tacit_projection;

#define TACIT_PROJECTION_INIT                                                                                \
    { 0, 0, NULL }

/* Subspace iteration from a fixed start, so that whoever has the same points gets the same axes. Memory and
 * time follow the points' non-zeros. TACIT_USAGE unless 1 <= dimensions <= min(points, features). */
tacit_status tacit_projection_of(tacit_projection *out, const tacit_rows *points, size_t dimensions,
                                 tacit_error *error);
void tacit_projection_clear(tacit_projection *projection);

/* View row i along the axes, brought to norm 1 (a zero row stays zero). Its norm, as computed in any order,
 * is at most 1. */
void tacit_projection_row(const tacit_projection *projection, const tacit_rows *rows, size_t i, double *out);

/* Weights of the projected features as weights of the features: the same sign of every score. */
void tacit_projection_back(const tacit_projection *projection, const double *weights, double *out);
