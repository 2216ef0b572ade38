#include <math.h>

#include "num/glm_internal.h"

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
        if (at.slope < 0)
            low = s;
        else
            high = s; /* also when the slope is not a number */
        if (high - low <= 1e-12 * high) break;
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
