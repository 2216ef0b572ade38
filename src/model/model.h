/*
 * A classifier, what it was promised under, and the map from raw columns to its features: everything needed
 * to use it elsewhere. Saved as one JSON file.
 */
#pragma once

#include "base/pool.h"
#include "data/dataset.h"
#include "data/schema/schema.h"
#include "model/family/family.h"
#include "model/network.h"
#include "model/released_moments.h"
#include "model/report/estimates.h"
#include "model/report/report.h"
#include "model/stack.h"
#include "model/tree.h"
#include "num/glm/glm.h"
#include "privacy/account/release.h"

enum { TACIT_REASON_SIZE = 2 * TACIT_FROM_ROWS_TEXT };

/* Where a model's lambda is from: what people are told, and a file says. */
typedef enum tacit_lambda_from {
    TACIT_LAMBDA_GIVEN,     /* whoever ran it, or the study's definition, said so */
    TACIT_LAMBDA_RULE,      /* the method chose it from public numbers */
    TACIT_LAMBDA_USUAL,     /* the method's constant */
    TACIT_LAMBDA_VALIDATED, /* cross-validation inside the rows: a yardstick without privacy */
    TACIT_LAMBDA_PUBLIC,    /* tried on public rows */
    TACIT_LAMBDA_PAID       /* chosen on private rows, for a price */
} tacit_lambda_from;

/* "given", "public numbers", "default", "cross-validation", "public rows", "private rows". */
const char *tacit_lambda_from_name(tacit_lambda_from from);

/* How the model was made and what that guarantees; travels inside the file. */
typedef struct tacit_guarantee {
    char method[64];
    char study[64];      /* "" outside a study */
    bool is_private;     /* false: nothing is promised */
    tacit_price charged; /* to each party, when private */
    tacit_price claimed; /* by the paper, when private */
    tacit_noise noise;   /* where the noise came from */
    size_t parties;      /* whose answers are in it; 0: unknown */
    double lambda;
    tacit_lambda_from lambda_from;
    /* why nothing is promised; "" where something is, or nobody wrote it down */
    char reason[TACIT_REASON_SIZE];
    bool settled; /* what was read off rows has been asked: if anything was, the reason names it */
} tacit_guarantee;

/* Withdraw the promise of a model whose schema (may be NULL) has something that was read off rows, and say
 * why, once. */
void tacit_guarantee_settle(tacit_guarantee *guarantee, const tacit_schema *schema);

/* Promise nothing, because of `reason`. */
void tacit_guarantee_withdraw(tacit_guarantee *guarantee, const char *reason);

typedef struct tacit_model {
    const tacit_family *family;
    size_t features, classes; /* no classes: a numeric response */
    double shape;             /* of a loss that has one; else 0 */
    tacit_network network;    /* of layers; without layers the model is linear, a stack or a tree */
    tacit_stack *stack; /* how weights of several members are combined; NULL: one linear model or a network */
    tacit_tree *tree;   /* whose nodes' scores the weights are; NULL: it is none */
    /* features of them, classes x features row-major with a score a class, a stack's, a tree's, or a
     * network's parameters */
    double *weights;
    tacit_levels class_names;   /* as many as classes, or none */
    tacit_schema *schema;       /* the encoding; NULL when the model is used on encoded rows only */
    tacit_estimates *estimates; /* coefficients with their errors, where the method makes them; else NULL */
    tacit_released_moments *moments; /* what the study released of the columns, for later ones; else NULL */
    tacit_report *report;     /* tables: then there are no weights, and nothing is predicted; else NULL */
    tacit_report *validation; /* how good models without a part of the rows are on it; else NULL */
    /* how many values were missing, with noise, by what became of them; else NULL */
    tacit_report *missing_counts;
    tacit_guarantee guarantee;
    /* of what the model says, made by its noise, as far as released numbers tell; 0: not known */
    double noise_share;
} tacit_model;

/* Zero weights, nothing promised. */
tacit_status tacit_model_create(tacit_model **out, const tacit_family *family, size_t features,
                                size_t classes, tacit_error *error);

/* A stack over this many features, two classes: takes `stack`, also on failure. */
tacit_status tacit_model_create_stack(tacit_model **out, tacit_stack *stack, size_t features,
                                      tacit_error *error);
/* A network, all parameters zero: of a number or a count; of two classes, logistic, or of more, softmax. */
tacit_status tacit_model_create_network(tacit_model **out, const tacit_network *network, tacit_error *error);

/* A tree over this many features, all scores zero: takes `tree`, also on failure. */
tacit_status tacit_model_create_tree(tacit_model **out, tacit_tree *tree, size_t features, size_t classes,
                                     tacit_error *error);

/* A report about rows of this many features and classes (0: a numeric response): takes `report`, also on
 * failure. */
tacit_status tacit_model_create_report(tacit_model **out, tacit_report *report, size_t features,
                                       size_t classes, tacit_error *error);
tacit_model *tacit_model_free(tacit_model *model);

/* TACIT_USAGE, with a sentence, for a report: it has nothing to predict or to export. */
tacit_status tacit_model_check_predicts(const tacit_model *model, tacit_error *error);

/* How many weights there are, and how many scores a row gets: 1 (the margin) or `classes`. */
size_t tacit_model_size(const tacit_model *model);
size_t tacit_model_scores_per_row(const tacit_model *model);

/* Whether its scores are weighted sums of the features, by its weights. */
bool tacit_model_is_linear(const tacit_model *model);

/* Whether a score stands for a probability: not those of a hinge, of votes, or of a number. */
bool tacit_model_has_probabilities(const tacit_model *model);

/* How to fit a linear model; members left zero mean the default. */
typedef struct tacit_linear_fit {
    double lambda;
    const tacit_family *family; /* NULL: that of the rows' classes */
    double shape;               /* of a loss that has one; 0: the usual */
    const double *linear;       /* a term linear.w more; NULL: none */
    const double *prior;        /* (lambda/2)|w - prior|^2 instead of (lambda/2)|w|^2; NULL: zero */
    double gradient_tolerance;  /* 0: 1e-8 */
    /* where it is not reached, the best weights found: no failure that depends on the rows */
    bool best_effort;
    size_t total_rows; /* 0: those of the view */
    const tacit_reducer *reducer;
    tacit_pool *pool;
    const tacit_progress *progress;
} tacit_linear_fit;

/* Minimise (1/n) sum loss + (lambda/2)|w - prior|^2 + linear.w over the view to a certified gradient norm. */
tacit_status tacit_model_fit_linear(tacit_model **out, const tacit_view *rows, const tacit_linear_fit *fit,
                                    tacit_error *error);

/* The same on points without labels, given only what their labels would enter through: for shares a_ik of
 * class k,
 *   two classes:  statistic_j  = (1/N) sum_i a_i1 x_ij       (features numbers)
 *   K classes:    statistic_kj = (1/N) sum_i a_ik x_ij       (K x features)
 * because a l(t) + (1 - a) l(-t) = l(t) + (1 - a) t for the logistic loss, and the softmax loss is log Z -
 * sum_k a_k t_k, both linear in the shares (statistic.c). Any statistic will do, also a noisy one that no
 * shares have. */
tacit_status tacit_model_fit_statistic(tacit_model **out, const tacit_rows *points, size_t classes,
                                       const double *statistic, const tacit_linear_fit *fit,
                                       tacit_error *error);

/* Copy class names and encoding from where the rows came; the schema may be NULL. */
tacit_status tacit_model_describe(tacit_model *model, const tacit_levels *class_names,
                                  const tacit_schema *schema, tacit_error *error);

/* Scores of all rows: rows x scores_per_row, row-major. */
tacit_status tacit_model_scores(const tacit_model *model, const tacit_rows *rows, tacit_pool *pool,
                                double *out, tacit_error *error);

/* Whether the model predicts a number, and the mean of the response that a score stands for. */
bool tacit_model_is_numeric(const tacit_model *model);
double tacit_model_mean(const tacit_model *model, double score);

/* The predicted class of a row from its scores. */
int32_t tacit_model_class(const tacit_model *model, const double *scores);

/* NaN where a metric does not apply (AUC with more than two classes, or with one class present). The interval
 * of the AUC is DeLong's, of 95% confidence (data/measure/metrics.h). For a numeric response
 * the root of the mean squared error, and the mean deviance of a row, as its family has it: for linear the
 * squared error. Of times until an event the AUC is Harrell's concordance, and there is nothing else. */
typedef struct tacit_metrics {
    double accuracy, auc, log_loss;
    double rmse, deviance;
    double auc_low, auc_high;
    bool one_class; /* every row gets the same */
} tacit_metrics;

#define TACIT_METRICS_NONE                                                                                   \
    (tacit_metrics) { NAN, NAN, NAN, NAN, NAN, NAN, NAN, false }

tacit_status tacit_model_evaluate(const tacit_model *model, const tacit_view *rows, tacit_pool *pool,
                                  tacit_metrics *out, tacit_error *error);

/* One JSON document; a load checks every length and number. */
tacit_status tacit_model_print(const tacit_model *model, tacit_buffer *out, tacit_error *error);
tacit_status tacit_model_parse(tacit_model **out, const void *bytes, size_t length, const char *name,
                               tacit_error *error);
tacit_status tacit_model_save(const tacit_model *model, const char *path, tacit_error *error);
tacit_status tacit_model_load(tacit_model **out, const char *path, tacit_error *error);
