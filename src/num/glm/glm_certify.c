/*
 * The certificate: from the computed gradient to a bound on the exact one.
 *
 * Notation: u = 2^-53, gamma_k = k u/(1 - k u); a sum of products in which each product passes through at
 * most k - 1 additions is computed with an error of at most gamma_k times the sum of the products' sizes, in
 * any order and with or without fused operations (Higham 2002, section 3.1). Hats mark computed values. The
 * exact gradient is  g = A + R + L,  A = sum_i a_i x_i^T (a_i the weighted residual of row i, a number or,
 * for softmax, K numbers), R = lambda o (w - prior), L = linear.
 *
 *  1. Margins. |t^_i - t_i| <= gamma_c |x_i| |w| for dot products of c terms (Cauchy-Schwarz; for softmax in
 * the norm over classes, |W| the Frobenius norm). Softmax subtracts the largest margin before exponentiating:
 * each difference rounds by u (|t_k| + |t_max|), together at most u (1 + sqrt(K)) |x_i| |W| more.
 *  2. Residuals. The residual is a Lipschitz function of the margin, with the constant c of the loss (mean
 *     value theorem); evaluating it at a computed margin adds its `rounding` u. The notes beside each family
 *     (model/family) prove both. The weight 1/n rounds by u, the product with it by u. In sum |a^_i - a_i| <=
 *     weight_i (c gamma_c' |x_i| |w| + local u).
 *  3. Sums. With m the longest chain of additions, the computed A is off by at most
 *       sum_i |a^_i - a_i| |x_i| + gamma_m sum_i |a^_i| |x_i|,  |a_i| <= weight_i L. Chains: rows of a block,
 *                                                               then blocks of a group, then groups
 *                                                               (glm_eval.c); a sparse group is one
 * chain. Over holders, the reducer adds H partial sums in any order: H - 1 more.
 *  4. Regulariser. pull = lambda (w - prior) rounds twice, then pull + tilt and the sum with A: at most
 *     gamma_4 (|A^| + |R^| + |L|), computed norms, for all three.
 *
 * All sums of norms are themselves computed with relative errors far below the factor SLACK that covers them,
 * and what underflows in products and squared norms stays below TINY.
 */
#include <float.h>
#include <math.h>

#include "num/glm/glm_parts.h"

#define SLACK 1.001
#define TINY 1e-140

static double gamma_of(double k) {
    double ku = k * GLM_UNIT_ROUNDOFF;
    return ku < 0.5 ? ku / (1 - ku) : INFINITY;
}

double glm_sum_error(const glm_work *work) {
    double blocks = ceil((double)work->blocks / (double)work->groups) + 1;
    double rows = (double)work->block_rows;
    double chain = work->x.dense != NULL ? rows + blocks : rows * blocks;
    return gamma_of(chain + (double)work->groups + 2);
}

double glm_dot_terms(const glm_work *work) {
    /* A sparse row has at most cols entries too; kept simple, the bound stays far below any tolerance. */
    return (double)work->cols;
}

double glm_gradient_bound(const glm_work *work, double weights, double norm, double regular, double linear,
                          double data) {
    const glm_rounding *from = &work->rounding;
    const tacit_loss *loss = work->problem->loss;
    double terms = from->dot_terms, slope = loss->curvature(work->shape), residual = loss->slope;
    if (loss->classes != NULL) terms += 2 + sqrt((double)work->outputs);
    double local = loss->rounding(work->shape, work->outputs);
    local += 3 * residual; /* the weight, the product with it, second-order terms */
    double from_margins = slope * gamma_of(terms + 1) * weights * from->weighted_squares;
    double from_losses = local * GLM_UNIT_ROUNDOFF * from->weighted_norms;
    double from_sums = residual * (from->sum_error + gamma_of(from->holders) * from->weighted_norms);
    double from_terms = gamma_of(4) * (data + regular + linear);
    double rounding = (from_margins + from_losses + from_sums + from_terms) * SLACK + TINY;
    double norm_error = gamma_of((double)work->size + 4);
    return (norm * (1 + norm_error) + rounding) * (1 + 4 * DBL_EPSILON);
}
