#include "num/life_table.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/estimator.h"
#include "num/special.h"

static void set_hazard_interval(tacit_life_step *one, double quantile, tacit_life_interval interval) {
    double reach = quantile * one->hazard_error, hazard = one->hazard;
    if (interval == TACIT_LIFE_LOG || hazard == 0) {
        one->hazard_low = fmax(0, hazard - reach);
        one->hazard_high = hazard + reach;
    } else if (interval == TACIT_LIFE_PLAIN) {
        one->hazard_low = fmax(0, hazard - log1p(reach));
        one->hazard_high = reach < 1 ? hazard - log1p(-reach) : NAN;
    } else {
        one->hazard_low = hazard * exp(-reach / hazard);
        one->hazard_high = hazard * exp(reach / hazard);
    }
}

void tacit_life_set_interval(tacit_life_step *one, double quantile, tacit_life_interval interval) {
    double reach = quantile * one->error, middle = log(one->survival);
    set_hazard_interval(one, quantile, interval);
    one->low = one->high = NAN;
    if (!(one->survival > 0)) return;
    if (interval == TACIT_LIFE_LOG || one->survival == 1) {
        one->low = exp(middle - reach);
        one->high = fmin(1, exp(middle + reach));
    } else if (interval == TACIT_LIFE_PLAIN) {
        one->low = fmax(0, one->survival * (1 - reach));
        one->high = fmin(1, one->survival * (1 + reach));
    } else {
        one->low = exp(middle * exp(-reach / middle));
        one->high = exp(middle * exp(reach / middle));
    }
}

void tacit_life_fill(tacit_life_step *steps, size_t count, double level, tacit_life_interval interval) {
    double quantile = tacit_normal_tail_quantile(log((1 - level) / 2));
    double survival = 1, variance = 0, hazard = 0, hazard_variance = 0;
    for (size_t k = 0; k < count; k++) {
        tacit_life_step *one = &steps[k];
        double n = one->at_risk, d = one->events;
        if (d > 0) {
            survival *= (n - d) / n;
            variance += d / (n * (n - d)); /* infinite where nobody is left */
            hazard += d / n;
            hazard_variance += d / (n * n);
        }
        one->survival = survival;
        one->error = sqrt(variance);
        one->hazard = hazard;
        one->hazard_error = sqrt(hazard_variance);
        tacit_life_set_interval(one, quantile, interval);
    }
}

void tacit_life_set_incidence(tacit_life_incidence *one, double quantile, tacit_life_interval interval) {
    tacit_life_step shown = { .survival = one->share, .error = one->error / one->share };
    tacit_life_set_interval(&shown, quantile, interval);
    one->low = shown.low;
    one->high = shown.high;
    if (one->share == 0 && one->error > 0) { /* with noise; no scale but the plain one has a 0 */
        one->low = 0;
        one->high = fmin(1, quantile * one->error);
    }
}

/*
 * With n at risk, hazards h of all causes and c of this one at time k, S before it and F this cause's share
 * after it, one more event of the cause at k raises F(t) by S (1 - u), one of another lowers it by S u,
 * u = (F(t) - F)/(S (1 - h)), over n; rows at risk are multinomial, and different times add up:
 *
 *   Var F(t) = sum_k (S^2/n) [c (1 - c) - 2 c (1 - h) u + h (1 - h) u^2].
 *
 * u is linear in F(t), so three sums and their products with F do for all t.
 */
void tacit_life_fill_incidence(tacit_life_incidence *out, const tacit_life_step *steps, const double *events,
                               size_t count, double level, tacit_life_interval interval) {
    double quantile = tacit_normal_tail_quantile(log((1 - level) / 2));
    double survival = 1, share = 0, fixed = 0, once = 0, once_share = 0, twice[3] = { 0, 0, 0 };
    for (size_t k = 0; k < count; k++) {
        double n = steps[k].at_risk, h = steps[k].events / n, c = events[k] / n, left = survival * (1 - h);
        share = fmin(share + survival * c, 1);
        fixed += survival * survival / n * c * (1 - c);
        if (left > 0) {
            double one = 2 * survival * c / n, two = h / ((1 - h) * n);
            once += one;
            once_share += one * share;
            twice[0] += two;
            twice[1] += two * share;
            twice[2] += two * share * share;
        }
        double squares = twice[0] * share * share;
        double variance = fixed - (once * share - once_share) + (squares - 2 * twice[1] * share + twice[2]);
        /* Once everybody has had the event it is 0, and what the sums leave of it is rounding. */
        if (variance < 1e-14 * (fixed + squares)) variance = 0;
        out[k] = (tacit_life_incidence){ .share = share, .error = sqrt(variance) };
        tacit_life_set_incidence(&out[k], quantile, interval);
        survival = left;
    }
}

static double value_of(const tacit_life_step *one, tacit_life_curve curve) {
    return curve == TACIT_LIFE_SURVIVAL ? one->survival : curve == TACIT_LIFE_LOW ? one->low : one->high;
}

double tacit_life_quantile(const tacit_life_step *steps, size_t count, tacit_life_curve curve, double share) {
    static const double EQUAL = 1.4901161193847656e-8; /* as R compares */
    for (size_t k = 0; k < count; k++) {
        double here = value_of(&steps[k], curve);
        if (isnan(here)) return curve == TACIT_LIFE_LOW && steps[k].survival == 0 ? steps[k].time : NAN;
        if (here > share + EQUAL) continue;
        if (here < share - EQUAL) return steps[k].time;
        for (size_t j = k + 1; j < count; j++) {
            double later = value_of(&steps[j], curve);
            if (later < here || (isnan(later) && steps[j].survival == 0))
                return (steps[k].time + steps[j].time) / 2;
        }
        return steps[k].time;
    }
    return NAN;
}

double tacit_life_mean(const tacit_life_step *steps, size_t count, double from, double until, double *error) {
    double area = 0, variance = 0, survival = 1, time = from, all;
    for (size_t k = 0; k < count && steps[k].time < until; k++) {
        area += survival * (steps[k].time - time);
        time = steps[k].time;
        survival = steps[k].survival;
    }
    all = area + survival * (until - time);
    area = 0, survival = 1, time = from;
    for (size_t k = 0; k < count && steps[k].time < until; k++) {
        area += survival * (steps[k].time - time);
        time = steps[k].time;
        survival = steps[k].survival;
        double n = steps[k].at_risk, d = steps[k].events, after = all - area;
        if (d > 0 && n > d) variance += after * after * d / (n * (n - d));
    }
    *error = sqrt(variance);
    return all;
}

/* ---- tests ---- */

typedef struct test {
    double *difference, *covariance, *scale; /* of groups */
    bool *deficient;
} test;

static void add_time(double *difference, double *covariance, const double *at_risk, const double *events,
                     size_t groups, double n, double d, double weight) {
    double spread = n > 1 ? weight * weight * d * (n - d) / (n - 1) : 0;
    for (size_t k = 0; k < groups; k++) {
        difference[k] += weight * (events[k] - d * at_risk[k] / n);
        for (size_t j = 0; covariance != NULL && j <= k; j++)
            covariance[k * groups + j] += spread * at_risk[k] / n * ((k == j ? 1 : 0) - at_risk[j] / n);
    }
}

/* u V^-1 u over the groups but one, in `kept` order. */
static double solve(test *self, size_t groups, const size_t *kept, size_t count) {
    double statistic = 0, *matrix = self->scale + groups, *u = matrix + count * count, *solved = u + count;
    for (size_t k = 0; k < count; k++) {
        u[k] = solved[k] = self->difference[kept[k]];
        for (size_t j = 0; j <= k; j++) matrix[k * count + j] = self->covariance[kept[k] * groups + kept[j]];
    }
    if (tacit_cholesky_factor(matrix, count, 1e-12, self->scale, self->deficient) > 0) return NAN;
    tacit_cholesky_solve(matrix, count, self->scale, solved);
    for (size_t k = 0; k < count; k++) statistic += u[k] * solved[k];
    return statistic;
}

static double weigh(tacit_life_weight weight, double n, double survival) {
    return weight == TACIT_LIFE_LOG_RANK ? 1 : weight == TACIT_LIFE_PETO ? survival : n;
}

void tacit_life_differences(double *difference, double *covariance, tacit_life_weight weight,
                            const double *at_risk, const double *events, size_t times, size_t groups) {
    double survival = 1;
    memset(difference, 0, groups * sizeof *difference);
    for (size_t t = 0; t < times; t++) {
        double n = 0, d = 0;
        for (size_t k = 0; k < groups; k++) {
            n += at_risk[t * groups + k];
            d += events[t * groups + k];
        }
        if (d == 0 || !(n > 0)) continue;
        add_time(difference, covariance, at_risk + t * groups, events + t * groups, groups, n, d,
                 weigh(weight, n, survival));
        survival *= (n - d) / n;
    }
}

tacit_status tacit_life_test(double *statistic, size_t *degrees, tacit_life_weight weight,
                             const double *at_risk, const double *events, size_t times, size_t groups,
                             const tacit_life_noise *noise, tacit_error *error) {
    test self = { TACIT_NEW(double, groups), TACIT_NEW(double, groups *groups),
                  TACIT_NEW(double, groups *groups + 4 * groups), TACIT_NEW(bool, groups) };
    size_t *kept = TACIT_NEW(size_t, groups), present = 0;
    tacit_status status = TACIT_OK;
    if (self.difference == NULL || self.covariance == NULL || self.scale == NULL || self.deficient == NULL ||
        kept == NULL)
        TACIT_CHECK(tacit_fail_memory(error));
    tacit_life_differences(self.difference, self.covariance, weight, at_risk, events, times, groups);
    for (size_t k = 0; noise != NULL && k < groups; k++) self.difference[k] = noise->difference[k];
    for (size_t k = 0; noise != NULL && k < groups * groups; k++) self.covariance[k] += noise->covariance[k];
    for (size_t k = 0; k < groups && times > 0; k++)
        if (at_risk[k] > 0) kept[present++] = k;
    *degrees = present > 1 ? present - 1 : 0;
    *statistic = *degrees > 0 ? solve(&self, groups, kept, *degrees) : NAN;
cleanup:
    free(self.difference);
    free(self.covariance);
    free(self.scale);
    free(self.deficient);
    free(kept);
    return status;
}

/* ---- hazard ratios ---- */

/* Score and information, lower triangle, of all groups but the first at `b`. */
static void add_ratios(const double *b, const double *at_risk, const double *events, size_t times,
                       size_t groups, double *score, double *information, double *part) {
    size_t width = groups - 1;
    memset(score, 0, width * sizeof *score);
    memset(information, 0, width * width * sizeof *information);
    for (size_t t = 0; t < times; t++) {
        const double *n = at_risk + t * groups, *d = events + t * groups;
        double all = 0, risk = 0;
        for (size_t g = 0; g < groups; g++) {
            all += d[g];
            part[g] = n[g] * (g > 0 ? exp(b[g - 1]) : 1);
            risk += part[g];
        }
        if (!(risk > 0)) continue;
        for (size_t g = 1; g < groups; g++) {
            score[g - 1] += d[g] - all * part[g] / risk;
            for (size_t h = 1; h <= g; h++)
                information[(g - 1) * width + h - 1] +=
                    all * part[g] / risk * ((g == h ? 1 : 0) - part[h] / risk);
        }
    }
}

/* Newton's method; whether it settled. The information is left as its factor. */
static bool find_ratios(double *b, const double *at_risk, const double *events, size_t times, size_t groups,
                        double *room, bool *deficient) {
    enum { STEPS = 60 };
    static const double FAR = 15, LONGEST = 1, SETTLED = 1e-11;
    size_t width = groups - 1;
    double *score = room, *scale = score + groups, *part = scale + groups, *information = part + groups;
    for (int k = 0; k < STEPS; k++) {
        double longest = 0;
        add_ratios(b, at_risk, events, times, groups, score, information, part);
        if (tacit_cholesky_factor(information, width, 1e-12, scale, deficient) > 0) return false;
        tacit_cholesky_solve(information, width, scale, score);
        for (size_t g = 0; g < width; g++) longest = fmax(longest, fabs(score[g]));
        for (size_t g = 0; g < width; g++) {
            b[g] += score[g] * fmin(1, LONGEST / longest);
            if (!(fabs(b[g]) < FAR)) return false;
        }
        if (longest < SETTLED) return true;
    }
    return false;
}

tacit_status tacit_life_ratios(double *log_ratio, double *ratio_error, const double *at_risk,
                               const double *events, size_t times, size_t groups, tacit_error *error) {
    double *room = TACIT_NEW(double, 4 * groups + groups * groups);
    bool *deficient = TACIT_NEW(bool, groups);
    tacit_status status = room != NULL && deficient != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK) {
        size_t width = groups - 1;
        double *scale = room + groups, *information = scale + 2 * groups,
               *column = information + width * width;
        memset(log_ratio, 0, groups * sizeof *log_ratio);
        memset(ratio_error, 0, groups * sizeof *ratio_error);
        bool settled = find_ratios(log_ratio + 1, at_risk, events, times, groups, room, deficient);
        for (size_t g = 0; g < width; g++) {
            for (size_t h = 0; h < width; h++) column[h] = g == h;
            if (settled) tacit_cholesky_solve(information, width, scale, column);
            ratio_error[g + 1] = settled ? sqrt(column[g]) : NAN;
            if (!settled) log_ratio[g + 1] = NAN;
        }
    }
    free(room);
    free(deficient);
    return status;
}
