#include "method/ensemble/ensemble.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/kernel/kernel.h"
#include "num/scores.h"
#include "num/special.h"
#include "privacy/mechanism/erm.h"
#include "session/party.h"

size_t tacit_ensemble_size(const tacit_plan *plan) {
    return plan->classes > 2 ? plan->classes * plan->features : plan->features;
}

double tacit_ensemble_kappa(const tacit_plan *plan) {
    return plan->points != NULL ? plan->points->kappa : TACIT_POINTS_LONGEST;
}

tacit_release_kind tacit_ensemble_kind(const tacit_plan *plan) {
    (void)plan;
    return TACIT_RELEASE_ENTRUSTED;
}

const tacit_ensemble_settings tacit_ensemble_defaults = { .local = "logistic",
                                                          .local_lambda = 1e-4,
                                                          .queries = 200 };

const char *tacit_ensemble_local(const tacit_plan *plan) { return tacit_ensemble_settings_of(plan)->local; }

bool tacit_ensemble_tight(const tacit_plan *plan) {
    return tacit_ensemble_settings_of(plan)->calibration == TACIT_CALIBRATION_TIGHT;
}

bool tacit_ensemble_hides_points(const tacit_plan *plan) {
    return tacit_ensemble_settings_of(plan)->aux_private == TACIT_POINTS_PRIVATE;
}

tacit_status tacit_ensemble_check(const tacit_plan *plan, tacit_error *error) {
    return tacit_classifier_check(tacit_ensemble_local(plan), true, error);
}

/* Whole numbers: one indicator a point and class but the first. */
static tacit_sum_spec votes_spec(const tacit_plan *plan) {
    return (tacit_sum_spec){ plan->points->rows.count * (plan->classes - 1), 1, 0 };
}

/* ---- the party's half ---- */

static tacit_status read_question(const tacit_party *party, const tacit_question *question,
                                  const char **kinds, double *lambda, tacit_error *error) {
    const double *number = NULL;
    if (party->plan->points == NULL)
        return tacit_fail(error, TACIT_REFUSED, "the study's auxiliary points are not here");
    tacit_sum_spec spec = votes_spec(party->plan);
    if (!question->wants_sum || !tacit_sum_spec_equal(&question->sum, &spec))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for another sum than the study defines");
    TACIT_TRY(tacit_message_text(question->message, "local", kinds, error));
    TACIT_TRY(tacit_message_numbers(question->message, "lambda", 1, &number, error));
    /* What was consented to, not what is asked now. */
    if (strcmp(*kinds, tacit_ensemble_local(party->plan)) != 0 ||
        *number != tacit_ensemble_settings_of(party->plan)->local_lambda)
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for another classifier than the study defines");
    *lambda = *number;
    return TACIT_OK;
}

/* The votes of one panel of models. Two classes: a positive score is a vote for class 1, and models that are
 * missing from the last panel score 0. */
static void add_panel(const tacit_rows *points, const tacit_weight_panel *panel, const tacit_model *model,
                      uint64_t *total) {
    enum { BLOCK = 128 };
    const tacit_kernels *kernels = tacit_kernels_choose();
    size_t vectors = tacit_model_scores_per_row(model);
    _Alignas(64) double scores[BLOCK * TACIT_SCORES_AT_ONCE];
    for (size_t begin = 0; begin < points->count; begin += BLOCK) {
        size_t rows = points->count - begin < BLOCK ? points->count - begin : BLOCK;
        tacit_rows_scores(points, begin, rows, panel, scores);
        if (vectors == 1) {
            kernels->count_positive(rows, scores, total + begin);
            continue;
        }
        for (size_t i = 0; i < rows; i++)
            for (size_t m = 0; m < panel->models; m += vectors) {
                int32_t label = tacit_model_class(model, scores + i * TACIT_SCORES_AT_ONCE + m);
                if (label > 0) total[(begin + i) * (vectors - 1) + (size_t)label - 1]++;
            }
    }
}

/* The votes of linear models of one shape: several share one pass over the points. */
static tacit_status add_linear(const tacit_rows *points, const tacit_model *const *models, size_t count,
                               uint64_t *total, tacit_error *error) {
    size_t vectors = tacit_model_scores_per_row(models[0]), at_once = TACIT_SCORES_AT_ONCE / vectors;
    for (size_t done = 0; done < count; done += at_once) {
        size_t some = at_once < count - done ? at_once : count - done;
        const double *weights[TACIT_SCORES_AT_ONCE];
        tacit_weight_panel panel = TACIT_WEIGHT_PANEL_INIT;
        for (size_t m = 0; m < some * vectors; m++)
            weights[m] = models[done + m / vectors]->weights + m % vectors * points->cols;
        TACIT_TRY(tacit_weight_panel_create(&panel, weights, some * vectors, points->cols, error));
        add_panel(points, &panel, models[0], total);
        tacit_weight_panel_clear(&panel);
    }
    return TACIT_OK;
}

static tacit_status add_labels(tacit_party *party, const tacit_classifier *classifier, uint64_t *total,
                               tacit_error *error) {
    const tacit_rows *points = &party->plan->points->rows;
    size_t others = party->plan->classes - 1;
    int32_t *labels = TACIT_NEW(int32_t, points->count);
    if (labels == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_classifier_predict(classifier, points, labels, error);
    for (size_t i = 0; i < points->count && status == TACIT_OK; i++)
        if (labels[i] > 0) total[i * others + (size_t)labels[i] - 1]++;
    free(labels);
    return status;
}

/* Parties with linear classifiers are scored together; the others label the points by themselves. */
static tacit_status add_up_labels(tacit_party *parties, size_t count, const tacit_question *question,
                                  uint64_t *total, tacit_error *error) {
    const char *kinds;
    double lambda;
    size_t linear = 0, shape = parties[0].plan->classes > 2 ? parties[0].plan->classes : 1;
    TACIT_TRY(read_question(&parties[0], question, &kinds, &lambda, error));
    const tacit_model **models = TACIT_NEW(const tacit_model *, count);
    tacit_status status = models != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t k = 0; k < count && status == TACIT_OK; k++) {
        const tacit_classifier *classifier = NULL;
        status = tacit_party_classifier(&parties[k], kinds, lambda, &classifier, NULL, error);
        const tacit_model *model = status == TACIT_OK ? tacit_classifier_linear(classifier) : NULL;
        if (model != NULL && tacit_model_scores_per_row(model) == shape && shape <= TACIT_SCORES_AT_ONCE)
            models[linear++] = model;
        else if (status == TACIT_OK)
            status = add_labels(&parties[k], classifier, total, error);
        if (status != TACIT_OK) status = tacit_fail_in(error, status, "party %zu", parties[k].number + 1);
    }
    if (status == TACIT_OK && linear > 0)
        status = add_linear(&parties[0].plan->points->rows, models, linear, total, error);
    free(models);
    return status;
}

/* Labels of all points; owned by the caller. */
static tacit_status own_labels(tacit_party *party, const char *kinds, double lambda, int32_t **out,
                               tacit_error *error) {
    const tacit_rows *points = &party->plan->points->rows;
    const tacit_classifier *classifier = NULL;
    tacit_classifier *owned = NULL;
    int32_t *labels = TACIT_NEW(int32_t, points->count);
    tacit_status status = labels != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK) status = tacit_party_classifier(party, kinds, lambda, &classifier, &owned, error);
    if (status == TACIT_OK) status = tacit_classifier_predict(classifier, points, labels, error);
    tacit_classifier_free(owned);
    if (status != TACIT_OK) {
        free(labels);
        return status;
    }
    *out = labels;
    return TACIT_OK;
}

/* Indicators of the labels that this party's classifier gives to the points. */
static tacit_status answer_labels(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                  tacit_error *error) {
    const tacit_plan *plan = party->plan;
    const char *kinds;
    double lambda;
    int32_t *labels = NULL;
    tacit_prices prices = { .event = { .count = 0 } };
    TACIT_TRY(read_question(party, question, &kinds, &lambda, error));
    TACIT_TRY(tacit_party_price(party, &prices, error));
    TACIT_TRY(own_labels(party, kinds, lambda, &labels, error));
    size_t others = plan->classes - 1;
    reply->contribution = TACIT_NEW(double, question->sum.length);
    for (size_t i = 0; reply->contribution != NULL && i < plan->points->rows.count; i++)
        if (labels[i] > 0) reply->contribution[i * others + (size_t)labels[i] - 1] = 1;
    free(labels);
    if (reply->contribution == NULL) return tacit_fail_memory(error);
    reply->kind = tacit_ensemble_kind(plan);
    reply->price = prices.charged;
    reply->event = prices.event;
    reply->noise = isinf(plan->epsilon) ? TACIT_NOISE_NONE : tacit_noise_source_grade(&party->noise);
    return TACIT_OK;
}

const tacit_handler_entry tacit_ensemble_handlers[] = {
    { .question = "labels", .answer = answer_labels, .repeatable = true, .add_up = add_up_labels },
    { .question = NULL },
};

/* ---- the coordinator's half ---- */

void tacit_votes_clear(tacit_votes *votes) {
    if (votes == NULL) return;
    free(votes->count);
    *votes = (tacit_votes)TACIT_VOTES_INIT;
}

tacit_status tacit_ask_votes(tacit_session *session, tacit_votes *out, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    if (plan->points == NULL)
        return tacit_fail(error, TACIT_USAGE, "method %s needs public auxiliary points", plan->method->name);
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_sum_spec spec = votes_spec(plan);
    double lambda = tacit_ensemble_settings_of(plan)->local_lambda;
    tacit_votes votes = { NULL, plan->points->rows.count, plan->classes, 0 };
    tacit_status status;
    TACIT_CHECK(tacit_message_add_text(&message, "local", tacit_ensemble_local(plan), error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "lambda", &lambda, 1, error));
    TACIT_CHECK(tacit_ask_sum(session, "labels", &message, &spec, &sum, error));
    votes.count = TACIT_NEW(double, votes.points *votes.classes);
    if (votes.count == NULL) TACIT_CHECK(tacit_fail_memory(error));
    votes.parties = sum.parties;
    for (size_t i = 0; i < votes.points; i++) {
        double first = (double)sum.parties;
        for (size_t k = 1; k < votes.classes; k++)
            first -= votes.count[i * votes.classes + k] = sum.values[i * (votes.classes - 1) + k - 1];
        votes.count[i * votes.classes] = first;
    }
    *out = votes;
    votes.count = NULL;
cleanup:
    free(votes.count);
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}

tacit_status tacit_ensemble_coordinate(tacit_session *session, tacit_ensemble_learner *learn,
                                       tacit_outcome *out, tacit_error *error) {
    tacit_votes votes = TACIT_VOTES_INIT;
    tacit_model *model = NULL;
    TACIT_TRY(tacit_ask_votes(session, &votes, error));
    out->parties = votes.parties;
    tacit_status status = learn(session, &votes, &model, error);
    tacit_votes_clear(&votes);
    return status == TACIT_OK ? tacit_outcome_add(out, model, error) : status;
}

void tacit_votes_to_shares(tacit_votes *votes) {
    for (size_t i = 0; i < votes->points * votes->classes; i++) votes->count[i] /= (double)votes->parties;
}

void tacit_votes_to_labels(tacit_votes *votes) {
    for (size_t i = 0; i < votes->points; i++) {
        double *count = votes->count + i * votes->classes;
        size_t best = 0;
        for (size_t k = 1; k < votes->classes; k++)
            if (count[k] > count[best]) best = k;
        for (size_t k = 0; k < votes->classes; k++) count[k] = k == best;
    }
}

void tacit_ensemble_statistic(const tacit_plan *plan, const tacit_votes *shares, double *out) {
    const tacit_rows *points = &plan->points->rows;
    size_t first = plan->classes > 2 ? 0 : 1;
    memset(out, 0, tacit_ensemble_size(plan) * sizeof *out);
    for (size_t i = 0; i < points->count; i++)
        for (size_t k = first; k < plan->classes; k++) {
            double share = shares->count[i * plan->classes + k];
            if (share != 0) tacit_rows_add(points, i, share, out + (k - first) * plan->features);
        }
    for (size_t j = 0; j < tacit_ensemble_size(plan); j++) out[j] /= (double)points->count;
}

tacit_status tacit_ensemble_fit(tacit_session *session, const double *statistic, double lambda,
                                double tolerance, bool repeats, tacit_model **out, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    size_t bytes = tacit_ensemble_size(plan) * sizeof(double);
    tacit_cache_key key = tacit_cache_key_begin("global model");
    tacit_model *model = NULL;
    if (repeats) {
        double numbers[] = { lambda, tolerance };
        tacit_cache_key_add(&key, numbers, sizeof numbers);
        tacit_cache_key_add(&key, &plan->points, sizeof plan->points); /* which points it is about */
        tacit_cache_key_add(&key, statistic, bytes);
        TACIT_TRY(tacit_model_create(&model, tacit_family_for(plan->classes), plan->features, plan->classes,
                                     error));
        if (tacit_result_cache_find(session->cache, &key, model->weights, bytes)) {
            *out = model;
            return TACIT_OK;
        }
        model = tacit_model_free(model);
    }
    tacit_progress quiet = { NULL, NULL,
                             NULL }; /* one step of many: it may be stopped, and reports nothing */
    if (session->progress != NULL)
        quiet = (tacit_progress){ NULL, session->progress->cancelled, session->progress->context };
    tacit_linear_fit fit = {
        .lambda = lambda,
        .gradient_tolerance = tolerance,
        .best_effort = true,
        .pool = session->pool,
        .progress = &quiet,
    };
    TACIT_TRY(tacit_model_fit_statistic(&model, &plan->points->rows, plan->classes, statistic, &fit, error));
    if (repeats) tacit_result_cache_keep(session->cache, &key, model->weights, bytes);
    *out = model;
    return TACIT_OK;
}

/* ---- contrasts ---- */

size_t tacit_contrast_size(const tacit_plan *plan) { return (plan->classes - 1) * plan->features; }

/* Row r = 1..K-1 of Helmert's matrix: (1, ..., 1, -r, 0, ..., 0)/sqrt(r (r + 1)), r ones. */
static double helmert(size_t r, size_t k) {
    double scale = 1 / sqrt((double)r * (double)(r + 1));
    return k < r ? scale : k == r ? -(double)r * scale : 0;
}

void tacit_to_contrasts(const tacit_plan *plan, const double *values, double *out) {
    size_t d = plan->features;
    if (plan->classes == 2) {
        memcpy(out, values, d * sizeof *out);
        return;
    }
    memset(out, 0, tacit_contrast_size(plan) * sizeof *out);
    for (size_t r = 1; r < plan->classes; r++)
        for (size_t k = 0; k <= r; k++)
            for (size_t j = 0; j < d; j++) out[(r - 1) * d + j] += helmert(r, k) * values[k * d + j];
}

void tacit_from_contrasts(const tacit_plan *plan, const double *contrasts, const double *mean, double *out) {
    size_t d = plan->features;
    if (plan->classes == 2) {
        memcpy(out, contrasts, d * sizeof *out);
        return;
    }
    for (size_t k = 0; k < plan->classes; k++)
        for (size_t j = 0; j < d; j++) {
            double value = mean != NULL ? mean[j] : 0;
            for (size_t r = k > 1 ? k : 1; r < plan->classes; r++)
                value += helmert(r, k) * contrasts[(r - 1) * d + j];
            out[k * d + j] = value;
        }
}

/* ---- output perturbation ---- */

double tacit_ensemble_largest(const tacit_plan *plan) {
    const tacit_family *family = tacit_family_for(plan->classes);
    double w = family->pull(0, plan->classes), slope = family->loss.slope * TACIT_POINTS_LONGEST;
    return fmin(slope / plan->lambda, sqrt(w / plan->lambda)) * (1 + 1e-12);
}

/* g: public, and reached on every input. The statistic's linear term is a difference of means of points. */
static double fit_tolerance(const tacit_plan *plan) {
    return tacit_fit_tolerance(plan->features, plan->classes,
                               tacit_family_for(plan->classes)->loss.curvature(0), 1,
                               2 * TACIT_POINTS_LONGEST, tacit_ensemble_largest(plan));
}

/* The computed weights are within (g + r)/lambda of the minimiser, r the rounding of the statistic, and their
 * contrasts are sums of K products whose coefficients have norm 1: on both sides of a pair of neighbours. */
double tacit_ensemble_slack(const tacit_plan *plan) {
    double classes = (double)plan->classes;
    double rounding = plan->points != NULL ? sqrt(classes) * tacit_points_rounding(plan->points, 0) : 0;
    double solved = (fit_tolerance(plan) + rounding) / plan->lambda;
    double turned = sqrt(classes) * (classes + 2) * 0x1p-52 * (tacit_ensemble_largest(plan) + solved);
    return 2 * (solved + turned);
}

double tacit_ensemble_sensitivity(const tacit_plan *plan, double curvature, double with_points) {
    bool tight = tacit_ensemble_tight(plan);
    double shift = (plan->classes > 2 ? sqrt(2) : tight ? 1 : 2) / curvature;
    if (tacit_ensemble_hides_points(plan))
        shift *= with_points * TACIT_POINTS_LONGEST;
    else if (tight)
        shift *= tacit_ensemble_kappa(plan);
    return tight ? fmin(shift, 2 * tacit_ensemble_largest(plan)) : shift;
}

static size_t noise_dimension(const tacit_plan *plan, bool in_contrasts) {
    return in_contrasts ? tacit_contrast_size(plan) : tacit_ensemble_size(plan);
}

tacit_noise_law tacit_ensemble_law(const tacit_plan *plan, double sensitivity, bool in_contrasts) {
    size_t dimension = noise_dimension(plan, in_contrasts);
    double whole = (sensitivity + tacit_ensemble_slack(plan)) * (1 + 1e-12);
    return (tacit_noise_law){
        .law = "gamma-norm G(d, s)",
        .added_to = "the weights of the global model",
        .dimension = dimension,
        .sensitivity = whole,
        .scale = whole / plan->epsilon,
        .mean_norm = (double)dimension * whole / plan->epsilon,
    };
}

/* The noise's part in the squared length of the released weights, of which only the contrasts say anything:
 * G(D, s) has D (D + 1) s^2 in all, as much in each of its D directions. */
static double noise_share(const tacit_plan *plan, double sensitivity, size_t dimension,
                          const double *contrasts) {
    const double scale = sensitivity / plan->epsilon, moving = (double)tacit_contrast_size(plan);
    double square = 0;
    if (isinf(plan->epsilon)) return 0;
    for (size_t j = 0; j < tacit_contrast_size(plan); j++) square += contrasts[j] * contrasts[j];
    return square > 0 ? fmin(1, moving * ((double)dimension + 1) * scale * scale / square) : 1;
}

tacit_status tacit_ensemble_perturb(tacit_session *session, const tacit_votes *shares, double sensitivity,
                                    bool in_contrasts, tacit_model **out, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    size_t size = tacit_ensemble_size(plan), dimension = noise_dimension(plan, in_contrasts);
    tacit_mechanism gamma_norm = { TACIT_LAW_GAMMA_NORM,
                                   (sensitivity + tacit_ensemble_slack(plan)) * (1 + 1e-12),
                                   { TACIT_UNIT_PARTY, plan->epsilon, 0 } };
    double *statistic = TACIT_NEW(double, size), *values = TACIT_NEW(double, dimension);
    double bound = tacit_ensemble_largest(plan) + tacit_ensemble_slack(plan);
    tacit_model *model = NULL;
    tacit_status status = statistic != NULL && values != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    tacit_ensemble_statistic(plan, shares, statistic);
    TACIT_CHECK(
        tacit_ensemble_fit(session, statistic, plan->lambda, fit_tolerance(plan), true, &model, error));
    if (in_contrasts)
        tacit_to_contrasts(plan, model->weights, values);
    else
        memcpy(values, model->weights, size * sizeof *values);
    TACIT_CHECK(tacit_session_publish(session, &gamma_norm, values, dimension, bound, values, error));
    if (in_contrasts)
        tacit_from_contrasts(plan, values, NULL, model->weights);
    else
        memcpy(model->weights, values, size * sizeof *values);
    tacit_to_contrasts(plan, model->weights, values);
    model->noise_share = noise_share(plan, gamma_norm.sensitivity, dimension, values);
    *out = model;
    model = NULL;
cleanup:
    tacit_model_free(model);
    free(statistic);
    free(values);
    return status;
}

tacit_status tacit_ensemble_price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                                  tacit_error *error) {
    (void)prepared;
    (void)error;
    out->charged = out->claimed = (tacit_price){ TACIT_UNIT_PARTY, plan->epsilon, 0 };
    return TACIT_OK;
}
