/*
 * intercepts=party: each party has an intercept of its own, which never leaves it. At the coordinator's
 * weights a party finds the intercept a that fits its own rows best, and answers the sums of the profile
 * likelihood:
 *
 *   loss and gradient at a (that of the intercept is 0), and H - h h^T/H_aa, h the intercept's column of H
 *
 * whose optimum and curvature in the other weights are those of a regression with a factor of parties, as in
 * R's y ~ x + factor(site). In the place of the intercept stands H_aa alone, so that the matrix can be
 * inverted. A party whose responses are all alike has no finite intercept and says nothing about the other
 * weights: it answers 0, the limit.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/exact/estimate.h"

bool tacit_estimate_apart_wanted(const tacit_plan *plan) {
    return tacit_estimate_settings_of(plan)->intercepts == TACIT_INTERCEPTS_PARTY;
}

tacit_status tacit_estimate_apart_check(const tacit_plan *plan, const tacit_family *family,
                                        const tacit_design *design, tacit_error *error) {
    const tacit_estimate_settings *settings = tacit_estimate_settings_of(plan);
    if (!tacit_estimate_apart_wanted(plan)) return TACIT_OK;
    bool columns = design->schema == NULL || (design->intercept != SIZE_MAX && design->width >= 2);
    if (!family->likelihood || family->loss.several != NULL || !columns)
        return tacit_fail(error, TACIT_USAGE,
                          "intercepts=party is for families linear, logistic and poisson, with an intercept "
                          "and columns beside it");
    if (settings->optimiser != TACIT_ESTIMATE_NEWTON || settings->bias != TACIT_ESTIMATE_PLAIN ||
        settings->errors != TACIT_ERRORS_MODEL || settings->influence != TACIT_INFLUENCE_NO ||
        tacit_estimate_sets(plan) > 0 || tacit_design_has_beside(design) || plan->lambda > 0)
        return tacit_fail(error, TACIT_USAGE,
                          "intercepts=party goes with optimiser newton, a lambda of 0 and errors from the "
                          "Hessian: leave 'bias', 'errors', 'influence', "
                          "imputed values, offset and weights out");
    return TACIT_OK;
}

static size_t entry(size_t i, size_t j) { return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i; }

/* Take the intercept's column out of a packed lower triangle. */
static void profile(double *lower, size_t width, size_t at) {
    double own = lower[entry(at, at)];
    for (size_t i = 0; i < width; i++)
        for (size_t j = 0; j <= i; j++)
            if (i != at && j != at && own > 0)
                lower[entry(i, j)] -= lower[entry(i, at)] * (lower[entry(j, at)] / own);
    for (size_t i = 0; i < width; i++)
        if (i != at) lower[entry(i, at)] = 0;
}

/* The mean of the responses; whether they are all alike, so that no intercept is finite. */
static tacit_status own_mean(const tacit_row_sums *how, const tacit_view *rows, double *out) {
    double sum = 0;
    for (size_t i = 0; i < rows->rows.count; i++) {
        double y[TACIT_RESPONSE_COLUMNS];
        how->response(how->context, rows, i, y);
        sum += y[0];
    }
    *out = sum / (double)rows->rows.count;
    return TACIT_OK;
}

/* Newton along the intercept; a score moves by at most 1 in a step, so that exp() stays within reach. */
static tacit_status find_own(double *sums, tacit_row_sums *how, double *w, const tacit_design *design,
                             const tacit_view *rows, tacit_error *error) {
    enum { STEPS = 100 };
    static const double NEAR = 1e-24;
    const size_t at = design->intercept, width = how->width;
    const double most = 1 / design->intercept_value;
    for (int k = 0; k < STEPS; k++) {
        TACIT_TRY(tacit_row_sums_make(sums, how, rows, error));
        double slope = sums[1 + at], curvature = sums[1 + width + entry(at, at)];
        if (!(curvature > 0) || slope * slope <= NEAR * curvature * curvature * most * most) break;
        double step = slope / curvature;
        w[at] -= how->family->quadratic ? step : fmin(fmax(step, -most), most);
    }
    return TACIT_OK;
}

tacit_status tacit_estimate_apart(double *out, tacit_row_sums *how, double *w, const tacit_design *design,
                                  const tacit_view *rows, tacit_error *error) {
    const tacit_row_weight wanted = how->weight;
    const size_t at = design->intercept, width = how->width, length = tacit_sums_length(wanted, width);
    double mean, *sums = TACIT_NEW(double, tacit_sums_length(TACIT_WEIGH_CURVATURE, width));
    tacit_status status = sums != NULL ? TACIT_OK : tacit_fail_memory(error);
    memcpy(w, how->w, width * sizeof *w);
    how->w = w;
    memset(out, 0, length * sizeof *out);
    if (status == TACIT_OK) status = own_mean(how, rows, &mean);
    if (status != TACIT_OK) goto cleanup;
    double first = how->family->link(mean);
    w[at] = isfinite(first) ? first / design->intercept_value : 0;
    if (!isfinite(first) || rows->rows.count == 0) goto cleanup;
    how->weight = TACIT_WEIGH_CURVATURE;
    TACIT_CHECK(find_own(sums, how, w, design, rows, error));
    how->weight = wanted;
    TACIT_CHECK(tacit_row_sums_make(out, how, rows, error));
    out[1 + at] = 0;
    if (wanted != TACIT_WEIGH_NONE) profile(out + 1 + width, width, at);
cleanup:
    how->weight = wanted;
    free(sums);
    return status;
}
