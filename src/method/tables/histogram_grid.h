/*
 * The public grid of method histogram: a cell for each combination of what the columns are and what the label
 * is. It follows from the schema and declared numbers, never from rows, and every row lies in exactly one
 * cell.
 *
 * Columns: m equal cells along each number between its bounds, a cell for each level of a category and one
 * for none. Label: its classes; L equal cells between the bounds of a number; of a count from low to high,
 * V = high - low + 1 values, L runs of neighbouring ones, j = y - low in run floor(j L/V), whose center is
 * their mean: with L = V each value is its own.
 *
 * Cells. A cell of width h moves a row by up to h, and the noise of the h^-d cells, each of standard
 * deviation near 2 sqrt(2)/epsilon, adds up to h^(-d/2) times that over n in the objective. They balance at
 * the paper's rate (2.21),
 *
 *     h = (c sqrt(log n)/n)^(2/(2 + d)),
 *
 * n = parties x minimum rows, d the number of columns that are numbers, and one more where the label is cut
 * up like them; the paper leaves c open, and here it is max(1, 2 sqrt(2)/epsilon). m = ceil(1/h), fewer
 * where the grid would have more than 2^20 counts, and L = m. A count of no more values than that has one
 * cell for each, and is none of the d.
 */
#pragma once

#include "method/tables/histogram.h"

enum { HISTOGRAM_MOST_AXES = 4, HISTOGRAM_MOST_COUNTS = 1 << 20 };

/* A column: features from `first`; a number within [-reach, reach], or a category. */
typedef struct histogram_axis {
    size_t first, cells;
    bool number;
    double reach; /* of a number; of a level, its value */
} histogram_axis;

typedef struct histogram_grid {
    size_t axes, cells; /* cells: of all columns together */
    histogram_axis axis[HISTOGRAM_MOST_AXES];
    double intercept; /* the last feature's value; 0: none */
    size_t along;     /* cells along a number */
    size_t labels;    /* of the label; a count for each cell of the columns and each of these */
    double low, high; /* of a label that is a number or a count */
    double values;    /* V of a count; 0: a number */
} histogram_grid;

/* TACIT_USAGE for more columns or counts than there may be, and for columns that cannot be cut up. */
tacit_status histogram_make_grid(histogram_grid *out, const tacit_plan *plan, tacit_error *error);

static inline size_t histogram_counts(const histogram_grid *grid) { return grid->cells * grid->labels; }

/* Which cell of the columns an encoded row lies in, and the encoded center of one. */
size_t histogram_cell_of(const histogram_grid *grid, const double *x);
void histogram_center_of(const histogram_grid *grid, size_t cell, size_t features, double *x);

/* The same of a label that is a number or a count; what is no number lies in the first cell. */
size_t histogram_label_cell(const histogram_grid *grid, double y);
double histogram_label_center(const histogram_grid *grid, size_t cell);
