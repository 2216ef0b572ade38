/*
 * M-estimators with several scores a row, K - 1 for K classes: what estimator.h is for one. A row's scores
 * are t_k = x.w_k, k = 1 .. m, of `base` features each. Either every score has weights of its own, w_1, w_2,
 * ... one after the other (multinomial), or all share those of the columns and differ in the intercept alone
 * (`parallel`: ordinal). Then the weights are those of the columns with their sign reversed, and after them
 * the m intercepts, whose feature is the last of the base.
 *
 * With W the map from the weights to all w_k, gradient and matrix are W^T g and W^T H W, H having the blocks
 * H_kl = sum_i C_kl x x^T, C the Hessian of a row's loss by its scores.
 */
#pragma once

#include "num/estimator.h"

typedef struct tacit_several_shape {
    size_t scores, base;
    bool parallel;
} tacit_several_shape;

enum { TACIT_SEVERAL_SCORES = 63 }; /* most */

/* How many weights there are. */
size_t tacit_several_width(const tacit_several_shape *shape);

/* All w_k, scores x base, from the weights; and the gradient by the weights from that by all w_k. */
void tacit_several_expand(const tacit_several_shape *shape, const double *weights, double *out);
void tacit_several_gather(const tacit_several_shape *shape, const double *all, double *out);

/* A sum under way. */
typedef struct tacit_several_sums {
    const tacit_loss *loss;
    tacit_several_shape shape;
    tacit_row_weight weight; /* not that of slopes */
    size_t weights;          /* a feature that is the weight of its row (estimator.h); SIZE_MAX: none */
    double weights_scale;
    double objective;
    double *w;        /* scores x base */
    double *gradient; /* the same */
    /* of each pair k >= l of scores; off the diagonal with their sign reversed. NULL without */
    double *tiles;
    double *packing, *room;
    const double **row;
} tacit_several_sums;

tacit_status tacit_several_create(tacit_several_sums *out, const tacit_loss *loss,
                                  const tacit_several_shape *shape, tacit_row_weight weight,
                                  const double *weights, tacit_error *error);
void tacit_several_clear(tacit_several_sums *sums);

/* As tacit_sums_add and tacit_sums_pack. */
void tacit_several_add(tacit_several_sums *sums, const tacit_rows *rows, const size_t *kept, const double *y);
void tacit_several_pack(const tacit_several_sums *sums, double *out);
