/*
 * Feature rows. A tacit_matrix or tacit_csr owns numbers; a tacit_rows is a borrowed view of some of their
 * rows in a chosen order, dense or sparse, and is what solvers, parties and metrics work on. Thousands of
 * simulated parties are thousands of views of one matrix.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Dense, row-major, contiguous: element (i, j) is values[i * cols + j]. Values aligned to 64 bytes. */
typedef struct tacit_matrix {
    size_t rows, cols;
    double *values;
} tacit_matrix;

#define TACIT_MATRIX_INIT                                                                                    \
    { 0, 0, NULL }

/* Zero-filled. */
tacit_status tacit_matrix_create(tacit_matrix *out, size_t rows, size_t cols, tacit_error *error);
void tacit_matrix_clear(tacit_matrix *matrix); /* accepts NULL and an empty matrix */

/* Compressed sparse rows: row i holds value[k] at column[k] for start[i] <= k < start[i + 1], columns
 * ascending within a row. */
typedef struct tacit_csr {
    size_t rows, cols;
    size_t *start; /* rows + 1 offsets */
    uint32_t *column;
    double *value;
} tacit_csr;

#define TACIT_CSR_INIT                                                                                       \
    { 0, 0, NULL, NULL, NULL }

tacit_status tacit_csr_create(tacit_csr *out, size_t rows, size_t cols, size_t entries, tacit_error *error);
void tacit_csr_clear(tacit_csr *csr);

/* View row i is stored row index[i], or first + i when index is NULL. */
typedef struct tacit_rows {
    size_t count, cols;
    const double *dense; /* NULL for a sparse view */
    size_t stride;
    const tacit_csr *sparse;
    const uint32_t *index;
    size_t first;
} tacit_rows;

tacit_rows tacit_rows_of_matrix(const tacit_matrix *matrix);
tacit_rows tacit_rows_of_csr(const tacit_csr *csr);

/* `count` view rows from `begin`, of any view. */
tacit_rows tacit_rows_slice(const tacit_rows *rows, size_t begin, size_t count);

/* The rows named by `index` (stored row numbers, borrowed) of a view that has no index itself. */
tacit_rows tacit_rows_select(const tacit_rows *rows, const uint32_t *index, size_t count);

static inline size_t tacit_rows_stored(const tacit_rows *rows, size_t i) {
    return rows->index != NULL ? rows->index[i] : rows->first + i;
}

/* Ask the memory for all rows of a small view of sparse rows at once. Rows in random order are cache misses,
 * and one after the other each would wait for its own. */
void tacit_rows_prefetch(const tacit_rows *rows);

/* Copy view row i into `out` (cols doubles), sparse rows expanded. */
void tacit_rows_copy(const tacit_rows *rows, size_t i, double *out);

double tacit_rows_dot(const tacit_rows *rows, size_t i, const double *weights);

/* One feature of a row. */
double tacit_rows_cell(const tacit_rows *rows, size_t i, size_t feature);

/* out[j] += scale * x_ij */
void tacit_rows_add(const tacit_rows *rows, size_t i, double scale, double *out);

double tacit_rows_norm(const tacit_rows *rows, size_t i);

/* Stored entries of all rows of a sparse view. */
size_t tacit_rows_entries(const tacit_rows *rows);
