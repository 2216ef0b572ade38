#include "num/partial_likelihood.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

size_t tacit_risk_length(size_t width) { return 1 + width + width * (width + 1) / 2; }

void tacit_risk_add(double *sum, size_t width, double risk, const double *x) {
    *sum++ += risk;
    for (size_t i = 0; i < width; i++) sum[i] += risk * x[i];
    sum += width;
    for (size_t i = 0; i < width; i++) {
        const double weight = risk * x[i];
        for (size_t j = 0; j <= i; j++) sum[j] += weight * x[j];
        sum += i + 1;
    }
}

/* Over the m terms of a group, z = S - (j/m) D and f = j/m: what the logarithms and their derivatives are
 * made of. */
typedef struct tie_sums {
    double log, inverse, inverse_f, square, square_f, square_ff;
} tie_sums;

static tacit_status add_ties(tie_sums *out, double at_risk, double died, double events, tacit_error *error) {
    *out = (tie_sums){ .log = 0 };
    for (double j = 0; j < events; j++) {
        double f = j / events, z = at_risk - f * died;
        if (!(z > 0) || !isfinite(z))
            return tacit_fail(error, TACIT_NOT_CONVERGED,
                              "the hazards of the rows at risk are too far apart to be added up");
        out->log += log(z);
        out->inverse += 1 / z;
        out->inverse_f += f / z;
        out->square += 1 / (z * z);
        out->square_f += f / (z * z);
        out->square_ff += f * f / (z * z);
    }
    return TACIT_OK;
}

/* `s` the sums at risk, `d` those of the events (NULL: Breslow) of a group with the given ties. */
static void add_group(tacit_cox_point *out, size_t width, const tie_sums *ties, const double *s,
                      const double *d) {
    const double *s1 = s + 1, *s2 = s1 + width;
    const double *d1 = d != NULL ? d + 1 : NULL, *d2 = d != NULL ? d1 + width : NULL;
    for (size_t i = 0; i < width; i++) {
        out->score[i] -= ties->inverse * s1[i] - (d != NULL ? ties->inverse_f * d1[i] : 0);
        double *row = out->information + i * width;
        for (size_t j = 0; j <= i; j++, s2++) {
            row[j] += ties->inverse * *s2 - ties->square * s1[i] * s1[j];
            if (d == NULL) continue;
            row[j] -= ties->inverse_f * *d2++;
            row[j] += ties->square_f * (s1[i] * d1[j] + d1[i] * s1[j]) - ties->square_ff * d1[i] * d1[j];
        }
    }
}

size_t tacit_cox_steps(size_t width) { return 2 + 3 * width; }

/* The sums over a group's ties of x_j weighted by 1, by 1/z_j and by (1 - f)/z_j follow from the same tie
 * sums. */
static void keep_steps(double *out, size_t width, const tie_sums *ties, double events, const double *s,
                       const double *d) {
    double *at_risk = out + 1, *mean = at_risk + width, *died = mean + width;
    out[0] = ties->inverse;
    died[0] = ties->inverse - ties->inverse_f;
    for (size_t i = 0; i < width; i++) {
        double s1 = s[1 + i], d1 = d != NULL ? d[1 + i] : 0;
        at_risk[i] = ties->square * s1 - ties->square_f * d1;
        mean[i] = events > 0 ? (ties->inverse * s1 - ties->inverse_f * d1) / events : 0;
        died[1 + i] = (ties->square - ties->square_f) * s1 - (ties->square_f - ties->square_ff) * d1;
    }
    if (d != NULL) return; /* by Breslow's way events count as the others */
    died[0] = ties->inverse;
    memcpy(died + 1, at_risk, width * sizeof *died);
}

/* One group's means and information, by a function of time. */
static tacit_status keep_trend(tacit_cox_point *out, size_t width, const tie_sums *ties, double time,
                               const double *s, const double *d, tacit_error *error) {
    double *score = TACIT_NEW(double, width *(width + 1)), *information = score + width;
    if (score == NULL) return tacit_fail_memory(error);
    tacit_cox_point one = { .score = score, .information = information };
    add_group(&one, width, ties, s, d);
    double *by_time = out->trend + width, *by_square = by_time + width * width;
    for (size_t i = 0; i < width; i++) {
        out->trend[i] -= time * score[i]; /* which has minus the means */
        for (size_t j = 0; j <= i; j++) {
            by_time[i * width + j] += time * information[i * width + j];
            by_square[i * width + j] += time * time * information[i * width + j];
        }
    }
    free(score);
    return TACIT_OK;
}

tacit_status tacit_cox_evaluate(tacit_cox_point *out, const tacit_cox_groups *groups, const double *w,
                                tacit_error *error) {
    const size_t width = groups->width, length = tacit_risk_length(width);
    double *at_risk = TACIT_NEW(double, length);
    tacit_status status = at_risk != NULL ? TACIT_OK : tacit_fail_memory(error);
    out->log_likelihood = 0;
    memcpy(out->score, groups->event_x, width * sizeof *out->score);
    memset(out->information, 0, width * width * sizeof *out->information);
    if (groups->time != NULL) memset(out->trend, 0, width * (1 + 2 * width) * sizeof *out->trend);
    for (size_t i = 0; i < width; i++) out->log_likelihood += w[i] * groups->event_x[i];
    for (size_t k = 0, begin = 0; k < groups->strata && status == TACIT_OK; begin = groups->end[k++]) {
        memset(at_risk, 0, length * sizeof *at_risk);
        for (size_t g = groups->end[k]; g-- > begin && status == TACIT_OK;) {
            const double events = groups->events[g], *leaving = groups->leaving + g * length;
            const double *died = groups->died != NULL && events > 1 ? groups->died + g * length : NULL;
            tie_sums ties;
            for (size_t j = 0; j < length; j++) at_risk[j] += leaving[j];
            status = add_ties(&ties, at_risk[0], died != NULL ? died[0] : 0, events, error);
            if (status != TACIT_OK) break;
            out->log_likelihood -= ties.log + events * groups->shift;
            if (out->hazard != NULL) out->hazard[g] = ties.inverse * exp(-groups->shift);
            add_group(out, width, &ties, at_risk, died);
            if (out->steps != NULL)
                keep_steps(out->steps + g * tacit_cox_steps(width), width, &ties, events, at_risk, died);
            if (groups->time != NULL && events > 0)
                status = keep_trend(out, width, &ties, groups->time[g], at_risk, died, error);
            if (groups->entering == NULL || g == begin) continue;
            for (size_t j = 0; j < length; j++) at_risk[j] -= groups->entering[g * length + j];
        }
    }
    free(at_risk);
    return status;
}
