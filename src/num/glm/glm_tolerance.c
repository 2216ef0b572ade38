/*
 * A tolerance that the solver reaches on every input within public limits.
 *
 * The certificate (glm_certify.c) adds to the computed norm of the gradient a bound E on its rounding. Over
 * all rows of norm at most R and weights near a minimiser, E is at most the sum below: each line is the line
 * of that file with the largest values that the limits allow. At the minimiser the regulariser's pull is |A +
 * L|, so R's norm needs no limit of its own.
 *
 * What a solver in double precision can do is bring the computed gradient down to what the rounding of the
 * weights themselves moves it by, and what its own rounding hides: a few E. MARGIN is what is granted for
 * both; the certified bound is then below MARGIN times E. The result is a function of the limits alone: data
 * have no part in it.
 *
 * That the iterations get there is no theorem, but tried: on a million degenerate inputs none is given up
 * (tests/num/ test_glm_degenerate.c). Of three million more two were: one is mended and stays in that test,
 * and input 12880737, with lambda 4e-8 and a linear term of 3605, still misses its tolerance. Private fits
 * therefore ask for best_effort. Were the tolerance ever missed, at a bound g' > g, weights within g'/lambda
 * of the minimiser would be released with noise for g: a loss of epsilon (S + (g' - g)/lambda)/S, a little
 * more than epsilon, where a failure on one of two neighbours would have told them apart for certain.
 */
#include <math.h>

#include "num/glm/glm_parts.h"

static const double MARGIN = 8;
static const double HOLDERS = 1024; /* of parts of the rows, whose sums are added up */

static double gamma_of(double k) { return k * GLM_UNIT_ROUNDOFF / (1 - fmin(0.5, k * GLM_UNIT_ROUNDOFF)); }

double tacit_glm_tolerance(const tacit_glm_limits *limits, double wanted) {
    bool softmax = limits->classes > 2;
    double classes = (double)limits->classes, size = (double)limits->cols * (softmax ? classes : 1);
    double residual = softmax ? sqrt(2) : 1, terms = (double)limits->cols + (softmax ? 2 + sqrt(classes) : 0);
    double local = softmax ? classes + 10 : fmax(TACIT_SIGMOID_ULPS, 2 * limits->slope + 3);
    double norms = limits->weight * limits->radius, squares = norms * limits->radius;
    double pull = residual * norms + limits->linear;
    double margins = limits->slope * gamma_of(terms + 1) * limits->largest * squares;
    double losses = (local + 3 * residual) * GLM_UNIT_ROUNDOFF * norms;
    double sums = residual * norms * gamma_of(glm_longest_chain((double)limits->rows, size) + HOLDERS);
    double added = gamma_of(4) * (2 * pull + residual * norms + limits->linear + limits->prior_pull);
    /* w itself is rounded: lambda |w| is at most the pull and the prior's */
    double rounded =
        GLM_UNIT_ROUNDOFF * (limits->slope * squares * limits->largest + pull + limits->prior_pull);
    return fmax(wanted, MARGIN * (margins + losses + sums + added + rounded) * (1 + 1e-9));
}
