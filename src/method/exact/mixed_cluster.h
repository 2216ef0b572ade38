/*
 * The likelihood of one cluster of a regression with random effects, as a participant's own device can
 * compute it: y | b with linear predictor X beta + Z b, b ~ N(0, phi L L^T), L the relative Cholesky factor
 * with the entries theta = (L11), or (L11, L21, L22), and phi the residual variance of a linear model, 1 for
 * others (Bates et al. 2015). Z is a constant and, with two terms, one column.
 *
 * theta may have any sign: the likelihood does not change where a column of L does, so that a variance of 0
 * is an ordinary stationary point, and no boundary.
 */
#pragma once

#include "model/family/family.h"

enum { MIXED_TERMS = 2, MIXED_THETA = 3, MIXED_NODES = 100 };

static inline size_t mixed_theta_count(size_t terms) { return terms * (terms + 1) / 2; }

/* L, row-major, 2 x 2; what is not there is 0. */
void mixed_factor(size_t terms, const double *theta, double factor[4]);

/* ---- linear, in closed form ----
 *
 * With V = I + Z L L^T Z^T, M = I + L^T S L, S = Z^T Z, P = L M^-1 L^T and F = (X, y):
 * log|V| = log|M|, F^T V^-1 F = F^T F - (Z^T F)^T P (Z^T F). */

/* log|M| and the lower triangle of T^T P T, T = Z^T F with `columns` columns; then the same of their
 * derivatives by each theta. */
size_t mixed_linear_length(size_t terms, size_t columns);

/* Add those of a cluster; S is 2 x 2 and T 2 x columns, 0 where there is one term. */
void mixed_linear_add(size_t terms, const double *theta, const double *s, const double *t, size_t columns,
                      double *out);

/* ---- other families, by adaptive Gauss-Hermite quadrature ---- */

/* Nodes and logarithms of weights for exp(-x^2), at most MIXED_NODES. */
typedef struct mixed_quadrature {
    size_t nodes; /* 1: Laplace's approximation */
    double node[MIXED_NODES], log_weight[MIXED_NODES];
} mixed_quadrature;

void mixed_quadrature_make(mixed_quadrature *out, size_t nodes);

/* The rows of a cluster, and room that all clusters share. */
typedef struct mixed_rows {
    const tacit_family *family;
    size_t count, width, terms;
    const double *x; /* count x width */
    const double *z; /* of the second term: count; NULL: there is one term */
    const double *y;
    double *room; /* mixed_room(largest count, width, terms) */
} mixed_rows;

size_t mixed_room(size_t count, size_t width, size_t terms);

/* Log-likelihood, its gradient and the lower triangle of its Hessian by (beta, theta), without terms that
 * depend on y alone; added to `out`. False: the mode of the random effects was not found, which needs
 * scores beyond reach. */
size_t mixed_length(size_t width, size_t terms);
bool mixed_add(const mixed_rows *rows, const mixed_quadrature *quadrature, const double *beta,
               const double *theta, double *out);
