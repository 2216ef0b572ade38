/*
 * The calibration arithmetic of private empirical risk minimisation (Chaudhuri, Monteleoni and Sarwate 2011;
 * Rajkumar and Agarwal 2012; Yao et al. 2019). Pure functions of public numbers.
 *
 *   F(w) = (1/n) sum_i l(y_i w.x_i) + (lambda/2)|w|^2,   |x_i| <= R,   l convex, -1 <= l' <= 0, l'' <= c
 *
 * Adjacency: one of the n rows is replaced, so n is the same on both sides and need not be hidden.
 *
 * Output perturbation. The minimiser moves by at most 2L/(n lambda) (L the largest norm of a row's gradient),
 * and by no more than twice its largest norm. A solver that stops at a certified gradient norm g is within
 * g/lambda of it.
 *
 * Objective perturbation releases the minimiser w* of F(w) + (Delta/2)|w|^2 + b.w/n. Proof note:
 *
 *  1. Given the rows, b and w* determine each other: b(w) = -n (lambda + Delta) w - sum_i l'(y_i w.x_i) y_i
 *     x_i, a Lipschitz bijection with a Lipschitz inverse (also where l'' jumps, as Huber's does), so w* has
 *     the density nu(b(w)) det A(w), A = n (lambda + Delta) I + sum_i l'' x_i x_i^T almost everywhere.
 *  2. Jacobian. Let A0 be A without the replaced row: A = A0 + a x x^T, A' = A0 + a' x' x'^T with a, a' in
 *     [0, c]. Then det A/det A' = (1 + a x^T A0^-1 x)/(1 + a' x'^T A0^-1 x') <= 1 + cR^2/(n (lambda +
 *     Delta)). The papers bound removing and adding separately and print the square of this factor.
 *  3. Shift. At the same w the two b differ by v = b' - b = a' z' - a z (z = y x, a = -l' in [0, 1]), |v| <=
 *     2R.
 *  4. Pure: b ~ G(d, 2R/epsilon'), so nu changes by at most exp(epsilon'), and
 *     epsilon' + log(1 + cR^2/(n (lambda + Delta))) is the loss. Where Delta = 0 would leave epsilon' less
 *     than half, Delta is raised until each part is half. (`paper`: twice the logarithm, and Delta only once
 *     epsilon' is not positive.)
 *  5. Gaussian, chi-square rule (`paper`): the loss of the shift is at most (4R|b| + 4R^2)/(2 s^2), so it is
 *     within epsilon~ unless |b|^2/s^2, a chi-square of d degrees, passes its (1 - delta) quantile q: s = R
 *     (sqrt(q) + sqrt(q + 2 epsilon~))/epsilon~. (The printed condition has lost a square: s^2 epsilon~, not
 *     s epsilon~.)
 *  6. Gaussian, `tight`: s = AG(epsilon~, delta; 2R), though v depends on b through w. With e^(epsilon -
 *     epsilon~) the bound of step 2, Pr[E] - e^epsilon Pr'[E] <= E_b max_v (1 - e^epsilon~ nu(b +
 *     v)/nu(b))_+, where log nu(b)/nu(b + v) = (2 b.v + |v|^2)/(2 s^2) is convex in v and v is linear in (a,
 *     a'), so that the maximum over [0, 1]^2 is at a corner: v in {0, -z, z', z' - z}. For z' = -z and |z| =
 *     R the three lie on one line, -2z always has the largest of the positive losses, and the expectation is
 *     exactly the delta of a Gaussian under a shift of 2R. That no other pair gives more is checked
 *     numerically, over angles, norms, epsilon and s (tests/privacy/test_erm.c): a computation, not a
 *     theorem. It needs l' in [-1, 0]; for two-sided l' see Redberg, Koskela and Wang 2023.
 *
 * Groups (Yao et al. 2019, Algorithm 3, Theorem 4). K models of the same rows, the k-th of features scaled to
 * |x_i| <= q_k R with sum_k q_k <= 1, its own lambda_k, and the regulariser (lambda_k/2)|w - u_k|^2 about a
 * public u_k. Given the rows the b_k are independent, so the losses add up: by step 3 the k-th shift is at
 * most 2 q_k R, and with b_k ~ G(d_k, 2R/epsilon') it loses q_k epsilon', all together epsilon'; by step 2
 * the Jacobians lose sum_k log(1 + c q_k^2 R^2/(n (lambda_k + Delta_k))). Where Delta = 0 would leave
 * epsilon' less than half, Delta_k is raised until the k-th Jacobian loses at most q_k times half of it. u_k
 * cancels in both steps, since b(w) = -n (lambda_k + Delta_k)(w - u_k) - ... differs between the data sets by
 * v alone. (`paper`: twice the logarithms, and Delta once epsilon' is not positive.) Whether groups share
 * features plays no part. With one group and q = 1 it is the calibration of one model, to the last bit. The K
 * approximate minima share the one epsilon_slack.
 *
 * Approximate minima (Iyengar et al. 2019). The solver sees b^, b rounded to a grid, and stops at a certified
 * gradient norm g (which it reaches on every input: num/glm/glm_tolerance.c), so its w^ is within r = (g +
 * |b^ - b|/n)/(lambda + Delta) of w*. By step 1 the difference w^ - w* is a function of the rows and w*. So
 * release w* in thought, at (epsilon - epsilon_slack, delta), and then w^ + G(d, 2r/epsilon_slack), which
 * given w* is a statistic of sensitivity 2r with its noise: by adaptive composition both together are
 * (epsilon, delta)-private, with delta > 0 as well, and what is really released is a part of them.
 * epsilon_slack is a hundredth.
 */
#pragma once

#include "privacy/mechanism/mechanism.h"

typedef enum tacit_calibration {
    TACIT_CALIBRATION_TIGHT, /* ours */
    TACIT_CALIBRATION_PAPER  /* the printed constants, misprints corrected */
} tacit_calibration;

/* All of it public. */
typedef struct tacit_erm {
    size_t rows, dimension;
    double lambda;
    double curvature; /* c */
    double radius;    /* R */
    double epsilon, delta;
    tacit_calibration calibration;
} tacit_erm;

/* How to perturb the objective, for (epsilon, delta) in all. */
typedef struct tacit_objective_noise {
    tacit_mechanism law;  /* draw b with it, around 0, by tacit_mechanism_release_at */
    double scale;         /* of b */
    int grid_bits;        /* b's grid, and the bound that goes with it */
    double bound;         /* far beyond anything b reaches */
    double lambda;        /* lambda + Delta */
    double tolerance;     /* g */
    tacit_mechanism last; /* release the fitted weights with it: sensitivity 2r at epsilon_slack */
    double largest;       /* |w^| with its last noise is beyond this with probability below 1e-16 */
} tacit_objective_noise;

/* `law` is TACIT_LAW_GAMMA_NORM (delta is not used) or TACIT_LAW_GAUSSIAN (delta > 0). TACIT_USAGE for
 * numbers that are not positive and finite. All roundings are against the user's favour: noise and Delta
 * up. */
tacit_status tacit_objective_noise_for(tacit_objective_noise *out, const tacit_erm *erm, tacit_law law,
                                       tacit_error *error);

/* `largest`, or for Gaussian noise a little more, without the search for AG: room for what will be
 * released. */
tacit_status tacit_objective_largest(double *out, const tacit_erm *erm, tacit_law law, tacit_error *error);

/* One of several models of the same rows. */
typedef struct tacit_erm_group {
    size_t dimension;
    double lambda;
    double scale; /* q_k: norms of its rows are at most q_k R */
    double prior; /* |u_k|, for `largest` */
} tacit_erm_group;

/* The noise of each of `count` models that are released together for epsilon, gamma-norm: dimension and
 * lambda come from the groups, the rest from `erm`. TACIT_USAGE for numbers as above, no groups, or scales
 * that are not positive or add up to more than 1. */
tacit_status tacit_group_noise_for(tacit_objective_noise *out, const tacit_erm *erm,
                                   const tacit_erm_group *groups, size_t count, tacit_error *error);

/* g of a fit that a sensitivity speaks of: 1e-9 or, where rounding alone is more, what the solver reaches on
 * every input (num/glm/glm_tolerance.c). Rows of norm at most 1 (a little more, for their own rounding) whose
 * weights sum to `weight`, a minimiser of norm at most `largest`, a linear term of at most `linear`; `slope`
 * bounds the loss's second derivative. Public numbers only: not the rows, of which up to 2^26 are provided
 * for. */
double tacit_fit_tolerance(size_t features, size_t classes, double slope, double weight, double linear,
                           double largest);

/* S of output perturbation: min(2L/(n lambda), 2 largest_weights) + 2g/lambda, `paper` without the minimum;
 * rounded up. */
double tacit_output_sensitivity(size_t rows, double lambda, double gradient, double largest_weights,
                                double tolerance, tacit_calibration calibration);
