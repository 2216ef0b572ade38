#include <math.h>

#include "num/glm/glm_parts.h"

/* The slope along the line grows with s (convexity). Newton's iteration for its root, kept inside a bracket
 * [low, high]; a point left of the root with slope f' <= 0 satisfies f(s) <= f(0) + s f'(s): a decrease. */
tacit_status glm_search(glm_trial *trial, void *context, double *step, tacit_error *error) {
    enum { MOST_TRIALS = 100 };
    const double share = 0.02;
    glm_line start, at;
    TACIT_TRY(trial(context, 0, &start, error));
    *step = 0;
    if (!(start.slope < 0)) return TACIT_OK;
    double low = 0, high = INFINITY, s = 1;
    for (int count = 0; count < MOST_TRIALS; count++) {
        TACIT_TRY(trial(context, s, &at, error));
        bool flat = fabs(at.slope) <= -share * start.slope;
        if (flat && (at.slope <= 0 || at.value <= start.value)) {
            *step = s;
            return TACIT_OK;
        }
        if (at.slope < 0) low = s;
        /* also when the slope is not a number */
        else
            high = s;
        if (isfinite(high) && high - low <= 1e-12 * high) break;
        double guess = at.curvature > 0 ? s - at.slope / at.curvature : NAN;
        if (isinf(high)) {
            s = guess > 1.1 * low && guess < 10 * low ? guess : 4 * low;
        } else {
            double edge = 0.02 * (high - low);
            bool inside = guess > low + edge && guess < high - edge && count % 3 != 2;
            if (inside)
                s = guess;
            else if (low == 0)
                s = 0.1 * high;
            else
                s = high > 100 * low ? sqrt(low * high) : 0.5 * (low + high);
        }
    }
    *step = low;
    return TACIT_OK;
}

/* The regulariser and the linear term are a parabola along the line. */
typedef struct margin_line {
    glm_work *work;
    const glm_point *point;
    const double *margin_change;
    double slope, curvature; /* of the parabola at s = 0 */
    glm_line start, last;    /* at 0, and at the last trial */
    double tried;
} margin_line;

static tacit_status margin_trial(void *context, double s, glm_line *out, tacit_error *error) {
    margin_line *line = context;
    *out = line->start;
    if (s == 0) return TACIT_OK;
    TACIT_TRY(glm_along(line->work, line->point, line->margin_change, s, out, error));
    out->value += s * (line->slope + 0.5 * s * line->curvature);
    out->slope += line->slope + s * line->curvature;
    out->curvature += line->curvature;
    line->last = *out;
    line->tried = s;
    return TACIT_OK;
}

/* Newton's iteration once more, for nothing: it squares what is left of the slope. Not where the loss's
 * curvature jumps. */
static double polished(const margin_line *line, double step) {
    double move = -line->last.slope / line->last.curvature;
    bool smooth = !line->work->problem->loss->kinked;
    return smooth && line->tried == step && fabs(move) < 0.05 * step ? step + move : step;
}

tacit_status glm_search_margins(glm_work *work, const glm_point *point, const double *direction,
                                const double *margin_change, double *step, tacit_error *error) {
    const tacit_glm_problem *problem = work->problem;
    margin_line line = { .work = work, .point = point, .margin_change = margin_change };
    line.start = (glm_line){ .value = point->loss, .slope = glm_dot(point->gradient, direction, work->size) };
    for (size_t j = 0; j < work->size; j++) {
        double lambda = glm_lambda(work, j), p = direction[j];
        double shift = point->weights[j] - (problem->prior != NULL ? problem->prior[j] : 0);
        line.slope += (lambda * shift + (problem->linear != NULL ? problem->linear[j] : 0)) * p;
        line.curvature += lambda * p * p;
    }
    TACIT_TRY(glm_search(margin_trial, &line, step, error));
    *step = polished(&line, *step);
    return TACIT_OK;
}
