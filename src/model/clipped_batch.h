/*
 * Gradients of a batch of rows, clipped row by row and added up: what private training sends. Fast, in single
 * precision (double where layers are not all dense), on a pool's threads; and with a sensitivity that holds
 * for the *computed* sums, to the last bit:
 *
 *  - What a row contributes follows from that row and the parameters alone, whatever else is in the batch and
 *    on however many threads (num/kernel/layer.h: no sum over rows is rounded, and no row's own sums depend
 *    on where in a block it is).
 *  - Contributions are rounded towards zero, each on its own, to multiples of a fixed step, so that clipping
 *    still holds.
 *  - They are added exactly, as integers. The sum over a batch does not depend on any order.
 *
 * So a row that comes or goes moves the sum by its own contribution, within the bound, and by nothing else. A
 * row whose gradient is not finite contributes zero.
 *
 * Sums are in units of the bound: the sum of g_i/C clipped to norm 1, or of g_ij/B clipped to [-1, 1].
 */
#pragma once

#include "base/pool.h"
#include "model/network.h"

/* Rows in one sum, at most: beyond, TACIT_USAGE. */
#define TACIT_BATCH_MOST ((size_t)1 << 20)

/* Multiples of this are what the sums consist of. */
#define TACIT_BATCH_STEP 0x1p-42    /* of tacit_batch_sum */
#define TACIT_BATCH_CLAMPED 0x1p-20 /* of tacit_batch_sum_clamped */

/* A network at some parameters, with the memory to work in. Used by one thread at a time, which may have a
 * pool. */
typedef struct tacit_batch tacit_batch;

/* `class_weight`, one a class, multiplies a row's loss, and so its gradient before it is clipped; NULL: 1.
 * Copied, and the pool (NULL: one thread) is borrowed. */
tacit_status tacit_batch_create(tacit_batch **out, const tacit_network *network, const double *class_weight,
                                tacit_pool *pool, tacit_error *error);
tacit_batch *tacit_batch_free(tacit_batch *batch);

/* Multiply every row by `scale`, above 0, before it enters: a public number that brings features inside the
 * unit ball to the size that training likes. 1 at first. */
void tacit_batch_scale_rows(tacit_batch *batch, double scale);

/* Go to these parameters (tacit_network_size of them), rounded to single precision. */
void tacit_batch_load(tacit_batch *batch, const double *parameters);

/* sum_i (g_i/C) min(1, C/|g_i|) over the rows of the view; tacit_network_size numbers. The norm is that of a
 * row's whole gradient: in dense layers |g|^2 = (|a|^2 + 1)|d|^2 with a what the layer takes in and d the
 * derivative by what it gives out before its activation, so that no row's gradient is ever written down
 * (Goodfellow 2015); with layers of other kinds it is (clipped_batch_written.c). */
tacit_status tacit_batch_sum(tacit_batch *batch, const tacit_view *rows, double norm_bound, double *out,
                             tacit_error *error);

/* sum_i max(-1, min(1, g_ij/B)) for each parameter j. */
tacit_status tacit_batch_sum_clamped(tacit_batch *batch, const tacit_view *rows, double bound, double *out,
                                     tacit_error *error);

/* The plain sum of gradients in single precision, as one trains without privacy: rounding depends on the
 * order of rows. */
tacit_status tacit_batch_sum_plain(tacit_batch *batch, const tacit_view *rows, double *out,
                                   tacit_error *error);

/* The norm of each row's gradient, 0 where it is not finite. */
tacit_status tacit_batch_norms(tacit_batch *batch, const tacit_view *rows, double *out, tacit_error *error);
