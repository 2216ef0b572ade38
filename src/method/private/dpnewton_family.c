/*
 * What is special to a family in dpnewton: residuals and how they are clipped, the curvature that a step
 * divides by, and the line from the scores that the clipped equation gives to those that a model predicts by.
 *
 *            response        residual r        c        curvature of the clipped equation, from A and w alone
 *   logistic 0 or 1          sigma(z) - y              1/2          min(1/4, 1.5 E[sigma'(z) 1{unclipped}]) H
 *   softmax  0 .. K-1   p - e_y, in L2   1/sqrt(2)   G (x) H, G = 1.5 E[J] over the scores' law
 *                                                    (num/noisy/clipped_classes.h)
 *   linear   [-1, 1]         z - y                                 .3           H
 *   poisson  0 .. L   min(exp(z), L) - y   sqrt(L)   n exp(m + v/2)(S + u u^T), u = xbar + S w: rows taken to
 *                                                    be normal
 *                                                                               with mean xbar and covariance
 *                                                                               S, so that exp(w.x) tilts
 *                                                                               them by S w
 *
 * 1.5: DPNEWTON_DAMPED.
 */
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/private/dpnewton.h"
#include "num/blas.h"
#include "num/noisy/clipped_classes.h"
#include "num/noisy/clipped_count.h"
#include "num/noisy/clipped_link.h"
#include "num/noisy/noisy_moments.h"

/* ---- what families share ---- */

/* Mean of the scores x.w over rows, by Q. Without an intercept it is taken to be 0. */
static double mean_score(const dpnewton_design *design, const dpnewton_state *state, const double *w) {
    const dpnewton_scaling *by = &design->scaling;
    size_t d = design->width;
    double intercept = 0;
    if (!(by->encoded > 0)) return 0;
    for (size_t j = 0; j < d; j++) intercept += state->law[(d - 1) * d + j] * w[j];
    return intercept / (by->encoded * by->intercept);
}

static void score_law(const dpnewton_design *design, const dpnewton_state *state, const double *w,
                      double *mean, double *variance) {
    double square = tacit_moments_product(state->law, w, w, design->width), root = sqrt(square);
    *mean = fmin(fmax(mean_score(design, state, w), -root), root);
    *variance = fmax(square - *mean * *mean, 1e-6);
}

/* A number that is no number pulls like any other: a sum must not fail because of what is in it. */
static double clipped(double residual, double clip) {
    return residual > -clip ? (residual < clip ? residual : clip) : -clip;
}

/* T = 1.3 ln(n mu) + 4 ln(d/8), from 6 to 24: many columns are further from their minimum, few are lost to
 * noise sooner. */
static size_t usual_rounds(const tacit_plan *plan, double strength) {
    double wanted = isinf(strength)
                        ? 24
                        : 1.3 * log(dpnewton_rows(plan) * strength) + 4 * log((double)plan->features / 8);
    return (size_t)fmin(fmax(round(wanted), 6), 24);
}

/* l = 2c k/mu + .1, k = 1.8/sqrt(n mu/d) between .1 and .5. */
static double usual_ridge(const dpnewton_design *design, double rows, double strength) {
    double each = rows * strength / (double)design->width;
    double k = isinf(strength) ? 0 : fmin(fmax(1.8 / sqrt(each), 0.1), 0.5);
    return 2 * design->clip * k / strength + 0.1;
}

/* ---- logistic ---- */

/* The variance of a pull that is not seen. */
static const double UNSEEN = 1e6;

static double half(const dpnewton_design *design) {
    (void)design;
    return 0.5;
}

static void logistic_residuals(const dpnewton_design *design, const tacit_view *rows, size_t begin,
                               size_t count, double *scores) {
    double opposite[DPNEWTON_BLOCK] = { 0 }, loss[DPNEWTON_BLOCK], chance[DPNEWTON_BLOCK],
           curvature[DPNEWTON_BLOCK];
    for (size_t i = 0; i < count; i++) opposite[i] = -scores[i];
    design->kernels->logistic(count, opposite, loss, chance, curvature);
    for (size_t i = 0; i < count; i++)
        scores[i] = clipped(chance[i] - (tacit_view_label(rows, begin + i) == 1), 0.5);
}

static double logistic_slope(const dpnewton_design *design, const dpnewton_state *state, const double *w) {
    double mean, variance;
    score_law(design, state, w, &mean, &variance);
    return fmin(0.25, DPNEWTON_DAMPED * fmax(0.02, tacit_clipped_slope(mean, variance)));
}

static tacit_status logistic_direction(const dpnewton_design *design, dpnewton_state *state, bool first,
                                       tacit_error *error) {
    state->factor = first ? 0.25 : logistic_slope(design, state, state->weights);
    return tacit_moments_solve(state->step, state->curvature, state->factor, state->ridge, state->room,
                               design->width, error);
}

/* The law of scores by what the moments are likely to be. Mean and variance are of one matrix, so that the
 * variance is not below 0 (a Schur complement); the intercept's own moment is that matrix's too. */
static void likely_law(const dpnewton_design *design, const dpnewton_state *state, const double *w,
                       double *mean, double *variance) {
    const size_t d = design->width;
    const double *last = state->likely + (d - 1) * d;
    double square = tacit_moments_product(state->likely, w, w, d), along = 0;
    *mean = 0;
    if (design->scaling.encoded > 0 && last[d - 1] > 0) {
        for (size_t j = 0; j < d; j++) along += last[j] * w[j];
        *mean = along / sqrt(last[d - 1]);
    }
    *variance = fmax(square - *mean * *mean, 1e-4);
}

static void logistic_watch(const dpnewton_design *design, dpnewton_state *state, double counts,
                           double noise) {
    const double *w = state->weights, unit = counts * noise;
    const size_t d = design->width;
    double mean, variance, along = 0, length = 0;
    for (size_t j = 0; j < d; j++) {
        along += state->step[j] * w[j];
        length += w[j] * w[j];
    }
    likely_law(design, state, w, &mean, &variance);
    dpnewton_watch *to = &state->watch;
    to->all += counts * state->step[d - 1];
    to->along += counts * along;
    to->noise[0] += unit * unit;
    to->noise[1] += unit * unit * w[d - 1];
    to->noise[2] += unit * unit * length;
    to->mean += counts * mean;
    to->variance += counts * variance;
}

static tacit_status logistic_line(const dpnewton_design *design, dpnewton_state *state, double *slope,
                                  double *offset, tacit_error *error) {
    (void)error;
    const double *w = state->mean, total = state->rows * state->shortening, of = state->counted;
    const dpnewton_watch *watch = &state->watch;
    const double square_of = of * of * total * total;
    double mean, widest, variance, length = 0;
    score_law(design, state, w, &mean, &widest);
    for (size_t j = 0; j < design->width; j++) length += w[j] * w[j];
    double curvature = logistic_slope(design, state, w) * total * (widest + mean * mean);
    double held = state->ridge * length;
    tacit_clipped_pulls seen = { .mean = watch->mean / of,
                                 .variance = watch->variance / of,
                                 .rows = total,
                                 .pull = { 0, watch->along / of / total },
                                 .noise = { UNSEEN, 0, watch->noise[2] / square_of },
                                 .held = held / fmax(curvature, held) };
    if (design->scaling.encoded > 0) {
        double intercept = design->scaling.encoded * design->scaling.intercept;
        seen.pull[0] = watch->all / of / total / intercept;
        seen.noise[0] = watch->noise[0] / square_of / (intercept * intercept);
        seen.noise[1] = watch->noise[1] / square_of / intercept;
    }
    likely_law(design, state, w, &mean, &variance);
    const dpnewton_line *line = &state->line;
    const tacit_clipped_pulls asked = { .mean = line->mean,
                                        .variance = line->variance,
                                        .rows = state->rows,
                                        .reach = DPNEWTON_LINE_REACH,
                                        .pull = { line->pull[0], line->pull[1] },
                                        .noise = { line->noise, 0, line->noise } };
    if (line->asked) seen.more = &asked;
    double noise = tacit_followed_noise_variance(&state->noise, 1 / total) / (of * of);
    state->noisy = seen.noisy = fmin(noise / variance, 1);
    tacit_clipped_log_odds(offset, slope, mean, variance, widest, &seen);
    return TACIT_OK;
}

/* ---- linear ---- */

static double linear_clip(const dpnewton_design *design) {
    (void)design;
    return 0.3;
}

static size_t linear_rounds(const tacit_plan *plan, double strength) {
    (void)plan;
    return isinf(strength) ? 24 : 4;
}

static double linear_ridge(const dpnewton_design *design, double rows, double strength) {
    (void)rows;
    return 2 * design->clip * 0.7 / strength + 1e-3;
}

static void linear_residuals(const dpnewton_design *design, const tacit_view *rows, size_t begin,
                             size_t count, double *scores) {
    for (size_t i = 0; i < count; i++) {
        double y = (tacit_view_response(rows, begin + i) - design->middle) / design->half;
        scores[i] = clipped((scores[i] - y) / (2 * design->clip), 0.5);
    }
}

static tacit_status linear_direction(const dpnewton_design *design, dpnewton_state *state, bool first,
                                     tacit_error *error) {
    (void)first;
    return tacit_moments_solve(state->step, state->curvature, 1, state->ridge, state->room, design->width,
                               error);
}

static tacit_status linear_line(const dpnewton_design *design, dpnewton_state *state, double *slope,
                                double *offset, tacit_error *error) {
    (void)error;
    (void)state;
    *slope = design->half;
    *offset = design->middle;
    return TACIT_OK;
}

/* ---- poisson ---- */

static double poisson_clip(const dpnewton_design *design) { return sqrt(fmax(design->most, 1)); }

static void poisson_residuals(const dpnewton_design *design, const tacit_view *rows, size_t begin,
                              size_t count, double *scores) {
    for (size_t i = 0; i < count; i++) {
        double rate = fmin(exp(scores[i]), design->most);
        scores[i] = clipped((rate - tacit_view_response(rows, begin + i)) / (2 * design->clip), 0.5);
    }
}

/* From the rate c/2: steps up are held by the trust region, and steps down are not small, since c/rate is
 * not. */
static void poisson_start(const dpnewton_design *design, dpnewton_state *state) {
    const dpnewton_scaling *by = &design->scaling;
    if (by->encoded > 0)
        state->weights[design->width - 1] = log(design->clip / 2) / (by->encoded * by->intercept);
}

/* The rate of all rows, clipping and cap taken into account, times the second moments of rows as exp(w.x)
 * tilts them. The mean is taken from the same matrix as its square is, so that S = M - q q^T/M_ll is positive
 * semidefinite (a Schur complement). */
static tacit_status poisson_direction(const dpnewton_design *design, dpnewton_state *state, bool first,
                                      tacit_error *error) {
    size_t d = design->width, last = d - 1;
    double *matrix = state->spare, *u = state->room, mean, variance, total = state->rows * state->shortening;
    (void)first;
    score_law(design, state, state->weights, &mean, &variance);
    double rate = fmin(exp(fmin(mean + variance / 2, 50)), fmax(design->most, 1));
    rate *= fmax(0.2, tacit_clipped_count_slope(mean, variance, design->clip));
    for (size_t i = 0; i < d * d; i++) matrix[i] = state->curvature[i] / total;
    if (design->scaling.encoded > 0) {
        const double root = sqrt(matrix[last * d + last]), *w = state->weights;
        double *center = u + d, along = 0;
        for (size_t j = 0; j < d; j++) center[j] = matrix[last * d + j] / root;
        for (size_t j = 0; j < d; j++) along += center[j] * w[j];
        for (size_t i = 0; i < d; i++) {
            u[i] = center[i] * (1 - along);
            for (size_t j = 0; j < d; j++) u[i] += matrix[i * d + j] * w[j];
        }
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++) matrix[i * d + j] += u[i] * u[j] - center[i] * center[j];
    }
    return tacit_moments_solve(state->step, matrix, total * rate, state->ridge, state->room, d, error);
}

static tacit_status poisson_line(const dpnewton_design *design, dpnewton_state *state, double *slope,
                                 double *offset, tacit_error *error) {
    (void)error;
    double mean, variance;
    score_law(design, state, state->mean, &mean, &variance);
    tacit_clipped_count_line(offset, slope, mean, variance, design->clip);
    return TACIT_OK;
}

/* ---- softmax ---- */

static double softmax_clip(const dpnewton_design *design) {
    (void)design;
    return M_SQRT1_2;
}

/* One row: scores to (p - e_y)/2c, no longer than 1/2. */
static void softmax_residual(double *scores, size_t classes, size_t label, double clip) {
    double most = -INFINITY, sum = 0, square = 0;
    for (size_t k = 0; k < classes; k++) most = fmax(most, scores[k]);
    for (size_t k = 0; k < classes; k++) sum += scores[k] = exp(fmin(scores[k] - most, 0));
    for (size_t k = 0; k < classes; k++) {
        scores[k] = (isfinite(sum) ? scores[k] / sum : 1 / (double)classes) - (k == label);
        square += scores[k] * scores[k];
    }
    double by = fmin(1, clip / sqrt(square)) / (2 * clip);
    for (size_t k = 0; k < classes; k++) scores[k] *= by;
}

static void softmax_residuals(const dpnewton_design *design, const tacit_view *rows, size_t begin,
                              size_t count, double *scores) {
    size_t classes = design->scores;
    for (size_t i = 0; i < count; i++)
        softmax_residual(scores + i * classes, classes, (size_t)tacit_view_label(rows, begin + i),
                         design->clip);
}

/* Mean and covariance of a row's scores, K and K x K. */
static void softmax_law(const dpnewton_design *design, const dpnewton_state *state, const double *w,
                        double *mean, double *covariance) {
    size_t classes = design->scores, d = design->width;
    for (size_t k = 0; k < classes; k++) mean[k] = mean_score(design, state, w + k * d);
    for (size_t k = 0; k < classes; k++)
        for (size_t m = 0; m < classes; m++)
            covariance[k * classes + m] =
                tacit_moments_product(state->law, w + k * d, w + m * d, d) - mean[k] * mean[m];
}

/* The eigenvalues and eigenvectors (one after the other) of the curvature along the classes. */
static tacit_status softmax_axes(const dpnewton_design *design, const dpnewton_state *state, double *values,
                                 double *axes, tacit_error *error) {
    size_t classes = design->scores;
    double mean[DPNEWTON_MOST_CLASSES], *covariance = TACIT_NEW(double, classes *classes);
    if (covariance == NULL) return tacit_fail_memory(error);
    softmax_law(design, state, state->weights, mean, covariance);
    tacit_status status = tacit_clipped_classes_slope(axes, mean, covariance, classes, design->clip, error);
    free(covariance);
    if (status != TACIT_OK) return status;
    tacit_blas_one_thread();
    lapack_int n = (lapack_int)classes, info = LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'U', n, axes, n, values);
    if (info == LAPACK_WORK_MEMORY_ERROR) return tacit_fail_memory(error);
    return info == 0 ? TACIT_OK
                     : tacit_fail(error, TACIT_NOT_CONVERGED, "the curvature of %zu classes was not found",
                                  classes);
}

/* Along each axis of the classes the curvature is a number times H. Classes add up to 0: so does what is left
 * of the gradient, noise included, and the axis of all ones, whose eigenvalue is 0, has no part in it. */
static tacit_status softmax_direction(const dpnewton_design *design, dpnewton_state *state, bool first,
                                      tacit_error *error) {
    size_t classes = design->scores, d = design->width;
    double values[DPNEWTON_MOST_CLASSES], *axes = TACIT_NEW(double, classes *classes),
                                          *along = TACIT_NEW(double, classes *d);
    tacit_status status = TACIT_OK;
    if (axes == NULL || along == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(softmax_axes(design, state, values, axes, error));
    for (size_t j = 0; j < d; j++) {
        double mean = 0;
        for (size_t k = 0; k < classes; k++) mean += state->step[k * d + j] / (double)classes;
        for (size_t k = 0; k < classes; k++) state->step[k * d + j] -= mean;
    }
    for (size_t a = 0; a < classes; a++)
        for (size_t k = 0; k < classes; k++)
            for (size_t j = 0; j < d; j++) along[a * d + j] += axes[a * classes + k] * state->step[k * d + j];
    memset(state->step, 0, classes * d * sizeof *state->step);
    for (size_t a = 0; a < classes; a++) {
        double slope = fmin(0.5, (first ? 1 : DPNEWTON_DAMPED) * fmax(0.04 / (double)classes, values[a]));
        TACIT_CHECK(
            tacit_moments_solve(along + a * d, state->curvature, slope, state->ridge, state->room, d, error));
        for (size_t k = 0; k < classes; k++)
            for (size_t j = 0; j < d; j++) state->step[k * d + j] += axes[a * classes + k] * along[a * d + j];
    }
cleanup:
    free(along);
    free(axes);
    return status;
}

static tacit_status softmax_line(const dpnewton_design *design, dpnewton_state *state, double *slope,
                                 double *offset, tacit_error *error) {
    size_t classes = design->scores;
    double mean[DPNEWTON_MOST_CLASSES], *covariance = TACIT_NEW(double, classes *classes);
    if (covariance == NULL) return tacit_fail_memory(error);
    softmax_law(design, state, state->mean, mean, covariance);
    tacit_status status =
        tacit_clipped_classes_line(slope, offset, mean, covariance, classes, design->clip, error);
    free(covariance);
    return status;
}

/* ---- the table ---- */

/* What classes and counts have in common. */
#define USUAL_SCHEDULE                                                                                       \
    .moments = 60, .growth = 3, .tail = 0.4, .lift = 0.5, .most_score = 10, .rounds = usual_rounds,          \
    .ridge = usual_ridge

static const dpnewton_family table[] = {
    { .family = &tacit_family_logistic,
      USUAL_SCHEDULE,
      .most_step = 2,
      .clip = half,
      .residuals = logistic_residuals,
      .direction = logistic_direction,
      .watch = logistic_watch,
      .law = likely_law,
      .calibrate = logistic_line },
    { .family = &tacit_family_softmax,
      USUAL_SCHEDULE,
      .most_step = 2,
      .clip = softmax_clip,
      .residuals = softmax_residuals,
      .direction = softmax_direction,
      .calibrate = softmax_line },
    { .family = &tacit_family_linear,
      .moments = 200,
      .growth = 1.2,
      .tail = 0.5,
      .least = 0.15,
      .lift = 0.25,
      .most_step = 1,
      .most_score = 1.5,
      .clip = linear_clip,
      .rounds = linear_rounds,
      .ridge = linear_ridge,
      .residuals = linear_residuals,
      .direction = linear_direction,
      .calibrate = linear_line },
    { .family = &tacit_family_poisson,
      USUAL_SCHEDULE,
      .most_step = 1,
      .clip = poisson_clip,
      .residuals = poisson_residuals,
      .start = poisson_start,
      .direction = poisson_direction,
      .calibrate = poisson_line },
};

const dpnewton_family *dpnewton_family_of(tacit_response response, size_t classes) {
    const tacit_family *wanted = tacit_family_of(response, classes);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].family == wanted) return &table[i];
    return NULL;
}
