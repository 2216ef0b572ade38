/*
 * Problems with more columns than rows, solved in the span of the rows. With c = prior - linear/lambda,
 *
 *   F(w) = sum_i weight_i loss(x_i . w) + (lambda/2) |w - c|^2 + constant,
 *
 * so the minimiser is w = c + X^T a for an n-vector a (softmax: W = C + A^T X, A n x K). Margins are
 * t = X c + G a with the Gram matrix G = X X^T; the gradient is X^T rho, rho = residual + lambda a.
 */
#pragma once

#include "num/glm/glm_parts.h"

typedef struct glm_span {
    glm_work work; /* only what the losses and the certificate need; owns nothing */
    double lambda;
    size_t rows, outputs;
    size_t cols;       /* padded to whole vectors when the rows are copied */
    size_t row_stride; /* numbers between rows of G and of the factor; a multiple of 8 */
    void *arena;       /* one allocation holds everything below */
    const double **row;
    const double **gram_row;
    size_t x_stride;
    double *copy;             /* rows, when copied */
    double *gram, *matrix;    /* rows x row_stride */
    double *center, *weights; /* outputs x cols */
    double *gradient;         /* outputs x cols */
    /* rows x outputs each (two classes: padded to row_stride): */
    double *center_margin; /* X c */
    double *a, *gram_a;    /* G a */
    double *margin, *residual, *curvature, *rho, *gram_rho;
    double *delta, *gram_delta; /* the step in a, and G times it */
    double *extra[3];           /* conjugate gradients */
    double *room;               /* glm_loss_room * rows * outputs */
    double objective;           /* without the constant */
    double norm;                /* sqrt(rho^T G rho) */
} glm_span;

/* Margins, losses, rho and the gradient norm at span->a, given gram_a. */
void glm_span_evaluate(glm_span *span);

/* out = G v, for v of rows x outputs. */
void glm_span_gram_times(const glm_span *span, const double *v, double *out);

/* delta and gram_delta: a Newton step from a. False when it cannot be computed. */
bool glm_span_step_two_class(glm_span *span);
bool glm_span_step_softmax(glm_span *span, double tolerance);
