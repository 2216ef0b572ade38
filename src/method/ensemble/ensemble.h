/*
 * What vote, soft, soft-stat and pate share (Hamm 2016): each party trains a classifier of any type on its
 * own rows, keeps it, and answers with the labels it predicts for the public auxiliary points; only the
 * counts of labels reach the coordinator, which fits one global model to them.
 *
 * For K classes a party's answer is K - 1 indicators a point (of classes 1..K-1), so that counts of class 0
 * follow from the number of parties, which is public.
 */
#pragma once

#include "privacy/mechanism/erm.h"
#include "session/session.h"

/* The settings of all of them; a method's table has some. */
typedef struct tacit_ensemble_settings {
    char local[TACIT_SETTING_SIZE];
    double local_lambda;
    tacit_calibration calibration;
    enum { TACIT_POINTS_PUBLIC, TACIT_POINTS_PRIVATE } aux_private;
    tacit_law_setting law;
    uint64_t queries;
} tacit_ensemble_settings;

extern const tacit_ensemble_settings tacit_ensemble_defaults;

static inline const tacit_ensemble_settings *tacit_ensemble_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(tacit_ensemble_settings, plan);
}

/* Those of the local half, for a method's table, and the classifiers that they name. */
#define TACIT_ENSEMBLE_PARAMETERS                                                                            \
    TACIT_TEXT(tacit_ensemble_settings, local, "local",                                                      \
               "what each party trains: logistic, svm, tree, bayes, bernoulli, knn, mlp, exec:CMD; a list "  \
               "is dealt "                                                                                   \
               "round robin"),                                                                               \
        TACIT_NUMBER(tacit_ensemble_settings, local_lambda, "local_lambda", 1e-12, 1e12,                     \
                     "weight of the regulariser in the parties' own models")
const char *tacit_ensemble_local(const tacit_plan *plan);

/* Those of vote and soft, and what they say. */
#define TACIT_ENSEMBLE_NOISE_PARAMETERS                                                                      \
    TACIT_CHOICE(tacit_ensemble_settings, calibration, "calibration", "tight|paper",                         \
                 "the smallest noise that is proved, or the printed"),                                       \
        TACIT_CHOICE(tacit_ensemble_settings, aux_private, "aux_private", "no|yes",                          \
                     "protect each auxiliary point like a party (more noise)")
bool tacit_ensemble_tight(const tacit_plan *plan);
bool tacit_ensemble_hides_points(const tacit_plan *plan);

/* What leaves a party, in words. */
#define TACIT_ENSEMBLE_LEAVES                                                                                \
    "the labels that the party's own classifier gives to the public auxiliary points, as one contribution "  \
    "to counts; neither rows nor classifier"

/* The same of those whose noise is in the weights (vote, soft). */
#define TACIT_ENSEMBLE_SEEN_BY                                                                               \
    "[sees=sum: the coordinator sees how many parties gave which label to each point, exactly, and "         \
    "no single party's labels][sees=each: the coordinator sees each party's labels, exactly]. "              \
    "Everybody sees the points and the final model"
#define TACIT_ENSEMBLE_GUARANTEE                                                                             \
    "epsilon-differential privacy (delta = 0) for replacing all rows of a party[aux_private=yes: , "         \
    "or one auxiliary point], towards everybody who sees the model. There is no such guarantee "             \
    "towards the coordinator, which sees exact labels[sees=sum:  of all parties together]"
#define TACIT_ENSEMBLE_ASSUMPTION                                                                            \
    "the auxiliary points lie in the unit ball[aux_private=no:  and may be known to all]; the "              \
    "coordinator adds the noise, publishes only noisy results and keeps the exact labels to itself"

/* The coordinator's half of a method that learns from votes by `learn`: choose_lambda and coordinate. Points
 * that are private may not choose anything that is published: then it is the usual lambda. */
#define TACIT_ENSEMBLE_HALVES(learn)                                                                         \
    static tacit_status choose_lambda(const tacit_plan *plan, double *out, tacit_error *error) {             \
        return tacit_ensemble_hides_points(plan) ? TACIT_OK                                                  \
                                                 : tacit_ensemble_rehearse(plan, learn, out, error);         \
    }                                                                                                        \
    static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {         \
        return tacit_ensemble_coordinate(session, learn, out, error);                                        \
    }                                                                                                        \
    _Static_assert(true, "")

/* Epsilon, and no delta. */
tacit_status tacit_ensemble_price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                                  tacit_error *error);

/* TACIT_USAGE for local classifiers that do not exist. */
tacit_status tacit_ensemble_check(const tacit_plan *plan, tacit_error *error);

/* The party's half, and how its answer leaves: entrusted. */
extern const tacit_handler_entry tacit_ensemble_handlers[];
tacit_release_kind tacit_ensemble_kind(const tacit_plan *plan);

/* How many parties said what: count[i * classes + k] of point i and class k. */
typedef struct tacit_votes {
    double *count;
    size_t points, classes, parties;
} tacit_votes;

#define TACIT_VOTES_INIT                                                                                     \
    { NULL, 0, 0, 0 }

tacit_status tacit_ask_votes(tacit_session *session, tacit_votes *out, tacit_error *error);
void tacit_votes_clear(tacit_votes *votes);

/* The part of a coordinator's half that begins once the votes are there, with the plan's lambda. The votes
 * are the function's to change. */
typedef tacit_status tacit_ensemble_learner(tacit_session *session, tacit_votes *votes, tacit_model **out,
                                            tacit_error *error);

/* A whole coordinator's half: ask for votes, learn from them. */
tacit_status tacit_ensemble_coordinate(tacit_session *session, tacit_ensemble_learner *learn,
                                       tacit_outcome *out, tacit_error *error);

/* Count over parties: shares of each class (Hamm's alpha). Or all to the class with most votes, the first of
 * equals. */
void tacit_votes_to_shares(tacit_votes *votes);
void tacit_votes_to_labels(tacit_votes *votes);

/* Numbers in the statistic of shares, and in the weights of a model: features, or classes x features. */
size_t tacit_ensemble_size(const tacit_plan *plan);

/* The statistic that a fit needs (tacit_model_fit_statistic) from shares. */
void tacit_ensemble_statistic(const tacit_plan *plan, const tacit_votes *shares, double *out);

/* Fit the global model to a statistic, to a certified gradient norm. Kept for later trials when `repeats`. */
tacit_status tacit_ensemble_fit(tacit_session *session, const double *statistic, double lambda,
                                double tolerance, bool repeats, tacit_model **out, tacit_error *error);

/* The norm of any minimiser: lambda |w|^2 = -w.grad <= W((K-1)/e), W Lambert's function (see avg.c), whatever
 * the points and shares, and |w| <= L/lambda, L = 1 or sqrt(2) for more than two classes. Rounded up. */
double tacit_ensemble_largest(const tacit_plan *plan);

/* S of the proof notes of vote and soft: how far one party moves the minimiser of an objective of at least
 * this curvature whose gradient it moves by 1 (K > 2: sqrt(2); for two classes as printed: 2). `with_points`
 * is the factor where a point may be replaced too. */
double tacit_ensemble_sensitivity(const tacit_plan *plan, double curvature, double with_points);

/* Output perturbation, the end of vote and soft: fit to shares under the plan's lambda, then gamma-norm noise
 * for an L2 sensitivity S of the *exact* minimiser; what solver and rounding add is added here.
 * `in_contrasts` draws it in the (K - 1) d dimensions where the minimiser can move, else in all K d. The
 * model's noise_share follows from what was released and from public numbers. */
tacit_status tacit_ensemble_perturb(tacit_session *session, const tacit_votes *shares, double sensitivity,
                                    bool in_contrasts, tacit_model **out, tacit_error *error);
double tacit_ensemble_slack(const tacit_plan *plan); /* added to S */

/* The noise law of that, for explain. */
tacit_noise_law tacit_ensemble_law(const tacit_plan *plan, double sensitivity, bool in_contrasts);

/*
 * Between numbers for K classes that sum to something known (shares sum to 1, the softmax weights of a
 * regularised minimiser to 0) and K - 1 coordinates of where they can move: rows of the Helmert matrix,
 * orthonormal, so distances are kept and noise is drawn in (K - 1) d dimensions instead of K d. For two
 * classes both are one vector already.
 */
size_t tacit_contrast_size(const tacit_plan *plan);
void tacit_to_contrasts(const tacit_plan *plan, const double *values, double *out);
/* The way back; `mean` (features numbers, NULL: zero) is the known sum divided by the number of classes. */
void tacit_from_contrasts(const tacit_plan *plan, const double *contrasts, const double *mean, double *out);

/* sqrt(largest eigenvalue) of the points, see data/points.h; the most it can be when the points are not
 * known. */
double tacit_ensemble_kappa(const tacit_plan *plan);
