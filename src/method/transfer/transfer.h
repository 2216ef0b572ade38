/*
 * What dpiw and dphtl share (Wang 2018, chapter 4): rows seen along public directions, the fits, importance
 * weights over the public points, and the weights of hypotheses that explain a target's. Everything here is
 * arithmetic; privacy is in dpiw.c and dphtl.c.
 */
#pragma once

#include "data/projection.h"
#include "num/glm/glm.h"
#include "privacy/mechanism/erm.h"
#include "session/party.h"
#include "session/session.h"

/* Settings of both. */
typedef struct transfer_settings {
    char project[TACIT_SETTING_SIZE];
    double lambda_iw;
    tacit_law_setting law;
    tacit_calibration calibration;
} transfer_settings;

#define TRANSFER_DEFAULTS                                                                                    \
    { .project = "none", .lambda_iw = 0.05 }
#define TRANSFER_PARAMETERS                                                                                  \
    TACIT_TEXT(transfer_settings, project, "project",                                                        \
               "none, or public:P: rows along the top P right singular vectors of the public points, with "  \
               "norm 1"),                                                                                    \
        TACIT_NUMBER(transfer_settings, lambda_iw, "lambda_iw", 1e-9, 1e6,                                   \
                     "weight of the regulariser in the importance weights' fit"),                            \
        TACIT_CHOICE(transfer_settings, law, "law", "auto|pure|gaussian",                                    \
                     "of the noise: gamma-norm (delta = 0) or Gaussian; auto is Gaussian where the study "   \
                     "has a delta"),                                                                         \
        TACIT_CHOICE(transfer_settings, calibration, "calibration", "tight|paper",                           \
                     "how much noise: what the proof needs, or the constants that the paper prints")

static inline const transfer_settings *transfer_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(transfer_settings, plan);
}

/* Of dphtl; model: what the target makes. */
typedef enum dphtl_model {
    DPHTL_WHOLE,
    DPHTL_AVERAGE,
    DPHTL_SOURCE,
    DPHTL_SOURCES,
    DPHTL_SOFT,
    DPHTL_WEAK,
    DPHTL_TARGET,
    DPHTL_PPHTL
} dphtl_model;

typedef struct dphtl_settings {
    transfer_settings transfer;
    double labelled;
    enum { DPHTL_BY_OUTPUT, DPHTL_BY_OBJECTIVE } hypothesis;
    dphtl_model model;
    enum { DPHTL_PRIOR_AWARE, DPHTL_PRIOR_PAPER } prior;
    double target_labels, floor;
} dphtl_settings;

extern const dphtl_settings dphtl_defaults;
extern const tacit_parameter dphtl_parameters[];

bool transfer_gaussian(const tacit_plan *plan);
tacit_calibration transfer_calibration(const tacit_plan *plan);

/* P of project=public:P; 0: none. TACIT_USAGE for anything else. */
tacit_status transfer_dimensions(const tacit_plan *plan, size_t *out, tacit_error *error);

/* Numbers in a hypothesis: P, or the plan's features. */
size_t transfer_size(const tacit_plan *plan);

/* TACIT_USAGE for what neither method can do. */
tacit_status transfer_check(const tacit_plan *plan, tacit_error *error);

/* The first labels of a view, owned by the caller; NULL: out of memory. */
int32_t *transfer_labels(const tacit_view *view, size_t count);

/* A view's rows in two parts: the first `most` that have a label (or as many as have one), then all others.
 * Both are in the order of the view, and without rows that lack a label they are its beginning and its
 * end. */
typedef struct transfer_parts {
    tacit_view all; /* of both, one after the other */
    size_t labelled;
    uint32_t *index; /* stored rows */
} transfer_parts;

tacit_status transfer_divide(transfer_parts *out, const tacit_view *view, size_t most, tacit_error *error);
void transfer_parts_clear(transfer_parts *parts);

/* mu = sum_k w_k theta_k of `size` numbers, each with noise of variance r; returns the share of |mu|^2 that
 * is not noise. */
double transfer_mean(double *mean, size_t size, size_t sources, const double *weights, double *const *theta,
                     double r);

/* The space in which a study works: the points' directions, or all features. */
tacit_status transfer_space(tacit_projection *out, const tacit_plan *plan, tacit_error *error);

/* Rows of one or two views one under the other, seen in a space. */
typedef struct transfer_rows {
    tacit_matrix dense;
    tacit_csr sparse;
    tacit_rows rows; /* of the one that is used */
} transfer_rows;

#define TRANSFER_ROWS_INIT                                                                                   \
    {                                                                                                        \
        TACIT_MATRIX_INIT, TACIT_CSR_INIT, { .count = 0 }                                                    \
    }

/* `second` may be NULL. */
tacit_status transfer_stack(transfer_rows *out, const tacit_projection *space, const tacit_rows *first,
                            const tacit_rows *second, tacit_error *error);
void transfer_rows_clear(transfer_rows *rows);

/* beta* of Algorithm 5: rows (label 1) against points (label 0), each side averaged; transfer_size numbers,
 * certified to a gradient norm. */
tacit_status transfer_density(double *beta, const tacit_projection *space, const tacit_rows *rows,
                              const tacit_rows *points, double lambda, double tolerance, tacit_pool *pool,
                              tacit_error *error);

/* w(x) = N exp(beta.x)/Z of each of N points. */
void transfer_importance(const tacit_rows *points, const double *beta, double *out);

/*
 * Equation (4.1): the w on the simplex that minimises f(w) = (1/N) sum_i t_i log(t_i/sum_k w_k s_ki) for
 * importance weights t of the target and s_k of the sources, all positive with mean 1.
 *
 * f is convex with gradient -g_k, g_k = (1/N) sum_i t_i s_ki/m_i, m = sum_k w_k s_k, and sum_k w_k g_k = 1.
 * So for the minimiser w*, f(w) - f(w*) <= gradient.(w - w*) <= max_k g_k - 1: a certificate that needs no
 * w*. Steps are w_k <- w_k g_k^a/sum: a = 1 is the EM algorithm, which never increases f; a grows while f
 * falls and is 1 again when it does not. *gap is the certificate, at most 1e-6 unless 20,000 steps do not do.
 */
tacit_status transfer_mixture(double *weights, size_t sources, size_t points, const double *target,
                              const double *const *source, double *gap, tacit_error *error);

/* argmin sum_i weight_i loss + (1/2) sum_j precision_j (theta_j - mean_j)^2: a logistic regression's MAP
 * under N(mean_j, v_j) on n rows where weight is 1/n (NULL: that) and precision 1/(n v_j). `mean` NULL:
 * zero. */
tacit_status transfer_map(double *theta, const tacit_rows *rows, const int32_t *label, const double *weight,
                          const double *mean, const double *precision, tacit_pool *pool, tacit_error *error);

/* ---- dpiw.c: the private half of importance weights, which dphtl answers with too ---- */

/* The L2 sensitivity of the computed beta for `rows` rows, rounded up. */
double dpiw_sensitivity(const tacit_plan *plan, size_t rows);

/* Room for beta and its noise when parties have `rows` rows or more; sums of `parties` of them. */
tacit_status dpiw_grid(const tacit_plan *plan, size_t rows, size_t parties, tacit_sum_spec *out,
                       tacit_error *error);

/* beta of some of a party's rows, with its noise: (epsilon, delta) of the plan. */
tacit_status dpiw_release(tacit_noised **out, tacit_party *party, const tacit_projection *space,
                          const tacit_rows *rows, const tacit_sum_spec *grid, tacit_error *error);

/* ---- dphtl.c ---- */

/* The weights of the hypotheses, as many as sources answered (`weights` has room for plan->parties): for
 * experiments. */
tacit_status dphtl_weights(tacit_session *session, double *weights, size_t *sources, tacit_error *error);

/* A logistic model of weights in the space, brought back to all features. */
tacit_status transfer_add_model(const tacit_plan *plan, const tacit_projection *space, const double *theta,
                                tacit_outcome *out, tacit_error *error);
