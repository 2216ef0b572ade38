/*
 * pate: a student learns from noisy majority labels of some public points (Papernot et al. 2017, 2018:
 * GNMax).
 *
 *   party k:      trains a classifier h_k of any type on its rows and answers h_k(x_i), i = 1..N
 *   coordinator:  for T of the points: v_i = argmax_k (n_ik + z_ik),  n_ik the answers, z_ik ~ N(0, sigma^2)
 *                 w = argmin (1/T) sum_i loss(w; x_i, v_i) + (lambda/2)|w|^2
 *
 * Proof note. Adjacency: all rows of one party are replaced (unit party). Its answer to a query moves one
 *   count down and one up, sqrt(2) in L2 norm; all T queries together move the T K counts by at most S =
 *   sqrt(2 T). Adding N(0, sigma^2) to all counts with sigma = AG(epsilon, delta; S) is (epsilon, delta)-DP
 *   (mechanism.h), and taking the largest of each query, choosing lambda from the noisy labels, fitting the
 *   student and saying how much of it is noise are post-processing. This is the exact composition of the T
 *   Gaussian queries: Renyi accounting of alpha/sigma^2 a query, as in Papernot et al. 2018 for replacement,
 *   is never less. Their data-dependent accounting gives a smaller epsilon that itself depends on the votes
 *   and may not be published; it is not used.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "method/ensemble/after_release.h"
#include "method/ensemble/rehearsal.h"
#include "num/special.h"

static const double GRADIENT_TOLERANCE = 1e-7; /* the fit is post-processing */

static const tacit_parameter parameters[] = {
    TACIT_ENSEMBLE_PARAMETERS,
    TACIT_COUNT(tacit_ensemble_settings, queries, "queries", 1, 1e9,
                "points that are labelled; each costs noise on all"),
    TACIT_SETTINGS_END,
};

static size_t queries(const tacit_plan *plan) {
    size_t most = plan->points != NULL ? plan->points->rows.count : SIZE_MAX;
    size_t set = tacit_ensemble_settings_of(plan)->queries;
    return set < most ? set : most;
}

static tacit_mechanism mechanism(const tacit_plan *plan) {
    return (tacit_mechanism){
        .law = TACIT_LAW_GAUSSIAN,
        .sensitivity = sqrt(2 * (double)queries(plan)) * (1 + 1e-12),
        .price = { TACIT_UNIT_PARTY, plan->epsilon, plan->delta },
    };
}

static tacit_status price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                          tacit_error *error) {
    (void)prepared;
    out->charged = out->claimed = (tacit_price){ TACIT_UNIT_PARTY, plan->epsilon, plan->delta };
    if (isinf(plan->epsilon)) return TACIT_OK;
    tacit_mechanism used = mechanism(plan);
    return tacit_mechanism_event(&out->event, &used, error);
}

static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error) {
    (void)prepared;
    tacit_mechanism used = mechanism(plan);
    size_t dimension = queries(plan) * plan->classes;
    double scale;
    TACIT_TRY(tacit_mechanism_scale(&scale, &used, error));
    *out = (tacit_noise_law){
        .law = "Gaussian N(0, s^2)",
        .added_to = "the counts of votes, before the largest is taken",
        .dimension = dimension,
        .sensitivity = used.sensitivity,
        .scale = scale,
        .mean_norm = sqrt((double)dimension) * scale,
        .norm_in = "the counts",
    };
    return TACIT_OK;
}

/* The votes on T points only, evenly spread. */
static void keep_queries(tacit_votes *votes, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < votes->classes; k++)
            votes->count[i * votes->classes + k] =
                votes->count[i * votes->points / count * votes->classes + k];
    votes->points = count;
}

/* ---- how much of the student is noise ---- */

/*
 * From the noisy counts and sigma alone, which everybody may know, so it is free. Counts of a query sum to M,
 * so each is taken less the mean of its query. Of their variance about the class's mean over the queries
 * sigma^2 is noise, and what is left tau^2. The count without noise is thought to be where the best linear
 * predictor has it, tau^2/(tau^2 + sigma^2) of the way from the class's mean to the noisy one. Noise drawn
 * again would flip the label from there to class k with a probability of at most Q(margin_k/(sqrt(2) sigma)),
 * for two classes exactly that.
 */

/* Centers the counts of each query. `mean` has a number a class. Returns tau^2/(tau^2 + sigma^2). */
static double trust(tacit_votes *votes, double sigma, double *mean) {
    const size_t classes = votes->classes, points = votes->points;
    double square = 0;
    for (size_t i = 0; i < points; i++) {
        double *count = votes->count + i * classes, middle = 0;
        for (size_t k = 0; k < classes; k++) middle += count[k] / (double)classes;
        for (size_t k = 0; k < classes; k++) {
            count[k] -= middle;
            mean[k] += count[k] / (double)points;
        }
    }
    for (size_t i = 0; i < points; i++)
        for (size_t k = 0; k < classes; k++) square += pow(votes->count[i * classes + k] - mean[k], 2);
    if (points == 1) return 1;
    const double variance = square / ((double)(points - 1) * (double)(classes - 1));
    return variance > sigma * sigma ? 1 - sigma * sigma / variance : 0;
}

/* One less the sum of squared chances of a query's labels: the variance of its indicators, added up. */
static double label_variance(const double *count, const double *mean, size_t classes, double trusted,
                             double sigma, double *flips) {
    double most = -INFINITY, flipped = 0, squares = 0;
    size_t best = 0;
    for (size_t k = 0; k < classes; k++) {
        flips[k] = mean[k] + trusted * (count[k] - mean[k]);
        if (flips[k] <= most) continue;
        most = flips[k];
        best = k;
    }
    for (size_t k = 0; k < classes; k++) {
        flips[k] = k == best ? 0 : tacit_normal_tail((most - flips[k]) / (sqrt(2) * sigma));
        flipped += flips[k];
    }
    const double chance = 1 - 1 / (double)classes, within = flipped > chance ? chance / flipped : 1;
    for (size_t k = 0; k < classes; k++) squares += pow(within * flips[k], 2);
    return 1 - pow(1 - within * flipped, 2) - squares;
}

/* The mean over queries of the variance of a noisy label's indicators, in each of the K - 1 contrasts that a
 * statistic has; of two classes it has the indicator of one. */
static tacit_status flips_variance(tacit_votes *noisy, double sigma, double *out, tacit_error *error) {
    const size_t classes = noisy->classes;
    double *mean = TACIT_NEW(double, 2 * classes), sum = 0;
    if (mean == NULL) return tacit_fail_memory(error);
    const double trusted = trust(noisy, sigma, mean);
    for (size_t i = 0; i < noisy->points; i++)
        sum += label_variance(noisy->count + i * classes, mean, classes, trusted, sigma, mean + classes);
    *out = sum / (double)noisy->points / (classes > 2 ? (double)(classes - 1) : 2);
    free(mean);
    return TACIT_OK;
}

/* ---- the coordinator's half ---- */

/* Labels of the queries in place of the votes; *variance is that of the noise in a label. */
static tacit_status label_queries(tacit_session *session, tacit_votes *votes, double *variance,
                                  tacit_error *error) {
    const tacit_plan *plan = session->plan;
    tacit_mechanism used = mechanism(plan);
    const size_t count = queries(plan);
    double scale;
    *variance = 0;
    keep_queries(votes, count);
    TACIT_TRY(tacit_session_publish(session, &used, votes->count, count * votes->classes,
                                    (double)votes->parties, votes->count, error));
    if (isfinite(plan->epsilon)) {
        TACIT_TRY(tacit_mechanism_scale(&scale, &used, error));
        TACIT_TRY(flips_variance(votes, scale, variance, error));
    }
    tacit_votes_to_labels(votes);
    return TACIT_OK;
}

/* A tacit_after_learner. */
static tacit_status teach(tacit_session *session, tacit_votes *votes, bool doubts, double *lambda,
                          tacit_model **out, tacit_error *error) {
    uint32_t *index = TACIT_NEW(uint32_t, queries(session->plan));
    double *statistic = TACIT_NEW(double, tacit_ensemble_size(session->plan));
    double variance;
    tacit_model *model = NULL;
    tacit_status status;
    if (index == NULL || statistic == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(label_queries(session, votes, &variance, error));
    /* The student sees the queried points and their labels, nothing else. */
    tacit_points asked = tacit_points_some(session->plan->points, votes->points, index);
    tacit_plan plan = *session->plan;
    tacit_session student = *session;
    plan.points = &asked;
    student.plan = &plan;
    tacit_ensemble_statistic(&plan, votes, statistic);
    const tacit_released_statistic seen = { statistic, variance / (double)votes->points };
    if (*lambda == 0)
        TACIT_CHECK(tacit_after_release(&student, &seen, GRADIENT_TOLERANCE, lambda, &model, error));
    else
        TACIT_CHECK(
            tacit_ensemble_fit(&student, statistic, *lambda, GRADIENT_TOLERANCE, false, &model, error));
    plan.lambda = *lambda;
    if (doubts) TACIT_CHECK(tacit_after_flat_share(&plan, &seen, &model->noise_share, error));
    *out = model;
    model = NULL;
cleanup:
    tacit_model_free(model);
    free(index);
    free(statistic);
    return status;
}

static tacit_status rehearse(tacit_session *session, tacit_votes *votes, tacit_model **out,
                             tacit_error *error) {
    double lambda = session->plan->lambda;
    return teach(session, votes, false, &lambda, out, error);
}

/* Of two classes. Of more, the noise that is estimated from flips is larger than it is, and lambda with it:
 * on Human Activity Recognition (six classes) a rehearsal does better. */
static bool suits_labels(const tacit_plan *plan) {
    return plan->classes == 2 && tacit_after_release_suits(plan);
}

static tacit_status choose_lambda(const tacit_plan *plan, double *out, tacit_error *error) {
    return tacit_ensemble_rehearse(plan, rehearse, out, error);
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    return tacit_after_coordinate(session, teach, out, error);
}

const tacit_method tacit_method_pate = {
    .name = "pate",
    .title = "a student taught by noisy majority labels of some public points",
    .reference = "Papernot et al. 2017, 2018 (GNMax)",
    .version = 1,
    .units = "party",
    .needs_points = true,
    .needs_delta = true,
    TACIT_SETTINGS_OF(parameters, tacit_ensemble_defaults),
    .local = tacit_ensemble_local,
    .leaves = TACIT_ENSEMBLE_LEAVES,
    .seen_by = "[sees=sum: the coordinator sees how many parties gave which label to each point, exactly, "
               "and no single party's labels][sees=each: the coordinator sees each party's labels, exactly]. "
               "Everybody sees the points, the noisy labels and the final model",
    .guarantee = "(epsilon, delta)-differential privacy for replacing all rows of a party, towards everybody "
                 "who sees the noisy labels or the model. There is no such guarantee towards the "
                 "coordinator, which sees exact labels[sees=sum:  of all parties together]",
    .assumption = "the auxiliary points may be known to all; the coordinator adds the noise, publishes only "
                  "noisy results and keeps the exact labels to itself",
    .theorem = "Gaussian noise by the analytic calibration on all counts together, of L2 sensitivity sqrt(2 "
               "T) for T queries; the largest of each and the student are post-processing",
    .claim = "the papers quote a data-dependent epsilon, smaller where parties agree, but itself private",
    .caveats = "noise grows with the number of queries, where that of soft-stat shrinks with the number of "
               "parties alone; a student on few labels is weak",
    .check = tacit_ensemble_check,
    .price = price,
    .choose_lambda = choose_lambda,
    .lambda_after = suits_labels,
    .lambda_rule = "a rehearsal on pretended votes on the points",
    .noise = noise_law,
    .release_kind = tacit_ensemble_kind,
    .exchanges = tacit_one_exchange,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = tacit_ensemble_handlers,
};
