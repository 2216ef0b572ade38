/*
 * soft-stat: soft labels as in soft, but the noise goes on the statistic through which they enter (ours).
 *
 *   party k:      trains a classifier h_k of any type on its rows and answers h_k(x_i), i = 1..N
 *   coordinator:  a_ik = (parties that say class k of x_i)/M
 *                 s_k = (1/N) sum_i a_ik x_i, publishes s + noise, shaped like the cloud of points
 *                 w = argmin (1/N) sum_i log Z(w; x_i) - <s + noise, w> + (lambda/2)|w|^2
 *
 * Proof note. Adjacency: all rows of one party are replaced (unit party). The logistic and softmax objectives
 * are
 *   linear in the shares, so what soft minimises depends on private data through s only. Let C = X^T X/N of
 *   the public points and L L^T >= C. Shares move by c with |c_i| <= 1/M for two classes (there s is one
 *   vector, of class 1), and by two entries of 1/M a point for more, so t = L^-1 s moves by at most S = 1/M
 *   in L2 norm, or sqrt(2)/M in Frobenius norm (points.h), plus twice its rounding (sums over points,
 *   contrasts over classes, the solution with L). Released with G(D, S/epsilon), t is epsilon-DP, with a
 *   Gaussian calibrated to AG(epsilon, delta; S) it is (epsilon, delta)-DP (mechanism.h); all that follows, s
 *   = L t, the fit, lambda and any optimiser, is post-processing of t and of public points. Of all shapes
 *   L^-1 this one makes the noise in s least, of variance proportional to trace C <= 1 where the same in
 *   every direction would need d kappa^2: for A with |A C^(1/2)| <= 1, trace A^-2 >= trace C.
 *   Shares sum to one, so s moves only in the (K - 1) d-dimensional subspace of contrasts, orthogonal to the
 *   public (1/K) mean of the points in every class: the noise is drawn there.
 *   It needs public points: with aux_private the log Z term would be private too.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "method/ensemble/after_release.h"
#include "method/ensemble/rehearsal.h"

/* The fit is post-processing, so its tolerance costs nothing and only has to be good enough. */
static const double GRADIENT_TOLERANCE = 1e-7;

static const tacit_parameter parameters[] = {
    TACIT_ENSEMBLE_PARAMETERS,
    TACIT_CHOICE(
        tacit_ensemble_settings, law, "law", "auto|pure|gaussian",
        "of the noise: gamma-norm (delta = 0) or Gaussian; auto is Gaussian where the study has a delta"),
    TACIT_SETTINGS_END,
};

static bool gaussian(const tacit_plan *plan) {
    return tacit_plan_gaussian(plan, tacit_ensemble_settings_of(plan)->law);
}

static tacit_status check(const tacit_plan *plan, tacit_error *error) {
    if (gaussian(plan) && plan->delta == 0)
        return tacit_fail(error, TACIT_USAGE,
                          "method soft-stat with law=gaussian needs a delta above 0, such as 1e-5");
    return tacit_ensemble_check(plan, error);
}

/* S of the proof note when `parties` answered. */
static tacit_mechanism mechanism(const tacit_plan *plan, size_t parties) {
    double shift = (plan->classes > 2 ? sqrt(2) : 1) / (double)parties, slack = 0;
    if (plan->points != NULL) {
        shift *= tacit_points_reach(plan->points);
        slack = sqrt((double)plan->classes) * tacit_points_shaped_rounding(plan->points, plan->classes);
    }
    return (tacit_mechanism){
        .law = gaussian(plan) ? TACIT_LAW_GAUSSIAN : TACIT_LAW_GAMMA_NORM,
        .sensitivity = (shift + 2 * slack) * (1 + 1e-12),
        .price = { TACIT_UNIT_PARTY, plan->epsilon, gaussian(plan) ? plan->delta : 0 },
    };
}

/* The mean square of |L z| for z of variance 1 in each coordinate: trace L L^T a contrast; 1 for points of
 * norm 1. */
static double spread(const tacit_plan *plan) {
    double trace = 1;
    size_t d = plan->features, contrasts = plan->classes - 1;
    if (plan->points != NULL) {
        const double *shape = plan->points->shape;
        trace = shape != NULL ? 0 : (double)d;
        for (size_t j = 0; shape != NULL && j < d * d; j++) trace += shape[j] * shape[j];
    }
    return trace * (double)contrasts;
}

static tacit_status price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                          tacit_error *error) {
    (void)prepared;
    out->charged = out->claimed =
        (tacit_price){ TACIT_UNIT_PARTY, plan->epsilon, gaussian(plan) ? plan->delta : 0 };
    if (isinf(plan->epsilon)) return TACIT_OK;
    tacit_mechanism used = mechanism(plan, plan->parties);
    return tacit_mechanism_event(&out->event, &used, error);
}

static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error) {
    (void)prepared;
    tacit_mechanism used = mechanism(plan, plan->parties);
    double scale, variance = gaussian(plan) ? 1 : (double)tacit_contrast_size(plan) + 1;
    TACIT_TRY(tacit_mechanism_scale(&scale, &used, error));
    *out = (tacit_noise_law){
        .law = gaussian(plan) ? "Gaussian N(0, s^2)" : "gamma-norm G(d, s)",
        .added_to = "the statistic (1/N) sum a_i x_i, seen through the points' shape",
        .dimension = tacit_contrast_size(plan),
        .sensitivity = used.sensitivity,
        .scale = scale,
        .mean_norm = scale * sqrt(variance * spread(plan)),
        .norm_in = "the statistic itself",
    };
    return TACIT_OK;
}

/* A K-th of the mean of the points: what the statistic's classes have in common, and public. */
static void common_part(const tacit_plan *plan, double *out) {
    const tacit_rows *points = &plan->points->rows;
    double each = 1 / ((double)points->count * (double)plan->classes);
    for (size_t i = 0; i < points->count; i++) tacit_rows_add(points, i, each, out);
}

/* What is published, in place of exact shares: the statistic with its noise. */
static tacit_status release(tacit_session *session, tacit_votes *votes, double *statistic,
                            tacit_error *error) {
    const tacit_plan *plan = session->plan;
    tacit_mechanism used = mechanism(plan, votes->parties);
    size_t moving = tacit_contrast_size(plan);
    double *contrasts = TACIT_NEW(double, moving), *mean = TACIT_NEW(double, plan->features);
    tacit_status status = TACIT_OK;
    if (contrasts == NULL || mean == NULL) TACIT_CHECK(tacit_fail_memory(error));
    tacit_votes_to_shares(votes);
    tacit_ensemble_statistic(plan, votes, statistic);
    tacit_to_contrasts(plan, statistic, contrasts);
    common_part(plan, mean);
    tacit_points_shape(plan->points, contrasts, plan->classes - 1);
    TACIT_CHECK(tacit_session_publish(session, &used, contrasts, moving, 2, contrasts, error));
    tacit_points_unshape(plan->points, contrasts, plan->classes - 1);
    tacit_from_contrasts(plan, contrasts, mean, statistic);
cleanup:
    free(contrasts);
    free(mean);
    return status;
}

/* The variance of the noise in each coordinate where it is drawn. */
static tacit_status variance_of(const tacit_plan *plan, size_t parties, double *out, tacit_error *error) {
    tacit_mechanism used = mechanism(plan, parties);
    double scale = 0;
    if (isfinite(plan->epsilon)) TACIT_TRY(tacit_mechanism_scale(&scale, &used, error));
    *out = scale * scale * (gaussian(plan) ? 1 : (double)tacit_contrast_size(plan) + 1);
    return TACIT_OK;
}

/* A tacit_after_learner. */
static tacit_status learn_by(tacit_session *session, tacit_votes *votes, bool doubts, double *lambda,
                             tacit_model **out, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    tacit_released_statistic released = { NULL, 0 };
    double *statistic = TACIT_NEW(double, tacit_ensemble_size(plan));
    tacit_model *model = NULL;
    tacit_status status = statistic != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    TACIT_CHECK(release(session, votes, statistic, error));
    released.values = statistic;
    TACIT_CHECK(variance_of(plan, votes->parties, &released.variance, error));
    if (*lambda == 0) {
        status = tacit_after_release(session, &released, GRADIENT_TOLERANCE, lambda, out, error);
        goto cleanup;
    }
    TACIT_CHECK(tacit_ensemble_fit(session, statistic, *lambda, GRADIENT_TOLERANCE, isinf(plan->epsilon),
                                   &model, error));
    if (doubts) TACIT_CHECK(tacit_after_doubt(plan, &released, model, error));
    *out = model;
    model = NULL;
cleanup:
    tacit_model_free(model);
    free(statistic);
    return status;
}

static tacit_status rehearse(tacit_session *session, tacit_votes *votes, tacit_model **out,
                             tacit_error *error) {
    double lambda = session->plan->lambda;
    return learn_by(session, votes, false, &lambda, out, error);
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    return tacit_after_coordinate(session, learn_by, out, error);
}

/* Where there are too many numbers to choose from what was released. */
static tacit_status choose_lambda(const tacit_plan *plan, double *out, tacit_error *error) {
    return tacit_ensemble_rehearse(plan, rehearse, out, error);
}

const tacit_method tacit_method_soft_stat = {
    .name = "soft-stat",
    .title = "one model from a noisy statistic of the parties' votes on public points",
    .reference = "after Hamm et al. 2016, Algorithm 2; docs/methods/soft-stat.md",
    .version = 1,
    .units = "party",
    .needs_points = true,
    TACIT_SETTINGS_OF(parameters, tacit_ensemble_defaults),
    .local = tacit_ensemble_local,
    .leaves = TACIT_ENSEMBLE_LEAVES,
    .seen_by = "[sees=sum: the coordinator sees how many parties gave which label to each point, exactly, "
               "and no single party's labels][sees=each: the coordinator sees each party's labels, exactly]. "
               "Everybody sees the points, the noisy statistic and the final model",
    .guarantee = "[law=pure: epsilon-differential privacy (delta = 0)][law=gaussian: (epsilon, "
                 "delta)-differential privacy] for replacing all rows of a party, towards everybody who sees "
                 "the statistic or the model. There is no such guarantee towards the coordinator, which sees "
                 "exact labels[sees=sum:  of all parties together]",
    .assumption = "the auxiliary points lie in the unit ball and may be known to all; the coordinator adds "
                  "the noise, publishes only noisy results and keeps the exact labels to itself",
    .theorem = "gamma-norm noise of scale S/epsilon, or Gaussian noise by the analytic calibration, on the "
               "statistic seen through L^-1, L L^T >= X^T X/N of the points: its L2 sensitivity is S = 1/M "
               "(sqrt(2)/M for more than two classes), M parties answering, and the noise in the statistic "
               "itself is shaped like the points. With more than 2,000 features L is 1 and S is kappa/M, "
               "kappa <= 1 the norm of the longest point. The fit is post-processing",
    .claim = "not in the paper: its soft puts noise of scale 2/(M lambda epsilon) on the weights instead",
    .caveats = "logistic and softmax models only. One party alone moves little, but what all parties agree "
               "on is published, as in any method",
    .check = check,
    .price = price,
    .choose_lambda = choose_lambda,
    .lambda_after = tacit_after_release_suits,
    .lambda_rule = "a rehearsal on pretended votes on the points",
    .noise = noise_law,
    .release_kind = tacit_ensemble_kind,
    .exchanges = tacit_one_exchange,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = tacit_ensemble_handlers,
};
