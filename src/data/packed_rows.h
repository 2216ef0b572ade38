/*
 * Dense rows for a method that passes over them many times: scaled, in single precision, side by side in the
 * order of their view, with their labels or responses. Rows of a view lie anywhere, and take twice the
 * memory.
 *
 * Row i is x_i as rounded, padded with zeros to `stride` numbers, and counts with factor[i] = min(1, 1/|x_i|)
 * of that rounded row: |factor x| <= 1 whatever the row is, up to the rounding of a norm of `cols` numbers in
 * double precision. A row that has a number too large, or that is none, is a row of zeros. Each depends on
 * its own row alone.
 */
#pragma once

#include "base/pool.h"
#include "data/dataset.h"
#include "num/kernel/kernel.h"

/* What a row's features are multiplied by, and its last one. */
typedef struct tacit_packing {
    double feature, last;
} tacit_packing;

typedef struct tacit_packed_rows {
    tacit_view view; /* count, labels and responses, in this order; its rows have no numbers */
    size_t cols, stride;
    float *x;
    double *factor;
    int32_t *label;
    double *response;
    tacit_packing how;
    tacit_rows of; /* what was packed */
} tacit_packed_rows;

/* More bytes than this are not packed. */
#define TACIT_PACKED_MOST ((size_t)1 << 30)

/* Whether rows of a view can be packed: dense ones, and not too many. */
bool tacit_rows_can_be_packed(const tacit_view *view);

tacit_status tacit_packed_rows_create(tacit_packed_rows **out, const tacit_view *view,
                                      const tacit_packing *how, tacit_pool *pool, tacit_error *error);
tacit_packed_rows *tacit_packed_rows_free(tacit_packed_rows *rows); /* NULL, always */

/* Whether these are the rows of that view, packed in that way. */
bool tacit_packed_rows_are(const tacit_packed_rows *rows, const tacit_view *view, const tacit_packing *how);
