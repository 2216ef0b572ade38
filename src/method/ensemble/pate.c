/*
 * pate: a student learns from noisy majority labels of some public points (Papernot et al. 2017, 2018:
 * GNMax).
 *
 *   party k:      trains a classifier h_k of any type on its rows and answers h_k(x_i), i = 1..N
 *   coordinator:  for T of the points: v_i = argmax_k (n_ik + z_ik),  n_ik the answers, z_ik ~ N(0, sigma^2)
 *                 w = argmin (1/T) sum_i loss(w; x_i, v_i) + (lambda/2)|w|^2
 *
 * Proof note. Adjacency: all rows of one party are replaced (unit party). Its answer to a query moves one
 * count down and
 *   one up, sqrt(2) in L2 norm; all T queries together move the T K counts by at most S = sqrt(2 T). Adding
 *   N(0, sigma^2) to all counts with sigma = AG(epsilon, delta; S) is (epsilon, delta)-DP (mechanism.h), and
 *   taking the largest of each query and fitting the student are post-processing. This is the exact
 *   composition of the T Gaussian queries: Renyi accounting of alpha/sigma^2 a query, as in Papernot et al.
 *   2018 for replacement, is never less. Their data-dependent accounting gives a smaller epsilon that itself
 *   depends on the votes and may not be published; it is not used.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "method/ensemble/ensemble.h"
#include "method/ensemble/rehearsal.h"

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

/* The coordinator's half, once the votes are there. */
static tacit_status learn(tacit_session *session, tacit_votes *votes, tacit_model **out, tacit_error *error) {
    tacit_mechanism used = mechanism(session->plan);
    size_t count = queries(session->plan);
    uint32_t *index = TACIT_NEW(uint32_t, count);
    double *statistic = TACIT_NEW(double, tacit_ensemble_size(session->plan));
    tacit_status status;
    if (index == NULL || statistic == NULL) TACIT_CHECK(tacit_fail_memory(error));
    keep_queries(votes, count);
    TACIT_CHECK(tacit_session_publish(session, &used, votes->count, count * votes->classes,
                                      (double)votes->parties, votes->count, error));
    tacit_votes_to_labels(votes);
    /* The student sees the queried points and their labels, nothing else. */
    tacit_points asked = tacit_points_some(session->plan->points, count, index);
    tacit_plan plan = *session->plan;
    tacit_session student = *session;
    plan.points = &asked;
    student.plan = &plan;
    tacit_ensemble_statistic(&plan, votes, statistic);
    TACIT_CHECK(tacit_ensemble_fit(&student, statistic, plan.lambda, GRADIENT_TOLERANCE, false, out, error));
cleanup:
    free(index);
    free(statistic);
    return status;
}

TACIT_ENSEMBLE_HALVES(learn);

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
    .noise = noise_law,
    .release_kind = tacit_ensemble_kind,
    .exchanges = tacit_one_exchange,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = tacit_ensemble_handlers,
};
