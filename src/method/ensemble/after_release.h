/* Choosing lambda after a noisy statistic was released: everything here is post-processing of it and free. */
#pragma once

#include "method/ensemble/ensemble.h"

/* What was released: the statistic that a fit takes (tacit_ensemble_statistic), and the variance of its noise
 * in each of the coordinates that it was drawn in: contrasts, seen through the points' shape. */
typedef struct tacit_released_statistic {
    const double *values;
    double variance;
} tacit_released_statistic;

/* Whether the plan is small enough for it: (K - 1) d numbers at most. */
enum { TACIT_AFTER_MOST = 1000 };
bool tacit_after_release_suits(const tacit_plan *plan);

/*
 * The lambda of a grid, half decades from 1 down to 1e-5, whose model has the least estimated loss on the
 * shares without noise; the model, with its noise_share. With s~ = s + b released, w the fit to s~ and A the
 * public mean of log Z, the loss on the shares is A(w) - <s, w> = A(w) - <s~, w> + <b, w>, and Stein's
 * identity gives E <b, w(s~)> = v tr(L L^T dw/ds~) = v tr(L L^T (grad^2 A(w) + lambda)^-1) for Gaussian noise
 * of variance v seen through L; for gamma-norm noise it is an approximation with the same variance. Lambdas
 * for which this optimism is above .72 log K are left out, because there the estimate itself is mostly noise;
 * the largest of the grid stays. Where no lambda is thought to do better than the classes' shares alone, as
 * the statistic has them in a constant column of the points, noise_share is 1: the model then says of itself
 * that it is no better than the most frequent class.
 */
tacit_status tacit_after_release(tacit_session *session, const tacit_released_statistic *released,
                                 double tolerance, double *lambda, tacit_model **out, tacit_error *error);

/* A whole coordinator's half: ask for votes, learn from them. The learner is told the plan's lambda, and
 * where that is 0 says which it chose. `doubts`: its model also says how much of it is noise, which nobody
 * asks in a rehearsal. */
typedef tacit_status tacit_after_learner(tacit_session *session, tacit_votes *votes, bool doubts,
                                         double *lambda, tacit_model **out, tacit_error *error);
tacit_status tacit_after_coordinate(tacit_session *session, tacit_after_learner *learn, tacit_outcome *out,
                                    tacit_error *error);

/*
 * The noise_share of a model that was fitted to a released statistic under the plan's lambda: as above where
 * the plan suits, else the one below, which takes a matrix of d x d alone.
 *
 * Another share, which knows no weights: the noise's part in what columns add to scores. A fit whose scores
 * are small moves by (h C + lambda)^-1 ds in each contrast, C the second moments of the points and h = 1/4
 * (more classes: 1/K) the curvature of the loss where all classes are as likely. Scores about their mean over
 * the points have the mean square w^T (C - m m^T) w: of the noise in expectation, beside that of what was
 * released. Saturated scores, where the curvature is next to nothing, do not upset it. 0 for more
 * than TACIT_AFTER_MOST features.
 */
tacit_status tacit_after_doubt(const tacit_plan *plan, const tacit_released_statistic *released,
                               tacit_model *model, tacit_error *error);
tacit_status tacit_after_flat_share(const tacit_plan *plan, const tacit_released_statistic *released,
                                    double *out, tacit_error *error);

/* How the estimate comes out for one lambda: the loss on the released statistic, the optimism, and the
 * noise's part in the squared length of the weights. */
typedef struct tacit_after_estimate {
    double loss, optimism, noise_share;
} tacit_after_estimate;
tacit_status tacit_after_estimate_of(const tacit_plan *plan, const tacit_released_statistic *released,
                                     double lambda, const double *weights, tacit_after_estimate *out,
                                     tacit_error *error);
