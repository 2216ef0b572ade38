/*
 * Rubin's rules (1987): of m completed sets, the mean q of their estimates; the mean u of their variances;
 * the variance b between them; the total t = u + (1 + 1/m) b. With Barnard and Rubin's (1999) degrees of
 * freedom
 *
 *   lambda = (1 + 1/m) b/t,   old = (m - 1)/lambda^2,   seen = (n - p)(n - p + 1)/(n - p + 3) (1 - lambda),
 *   degrees = old seen/(old + seen)
 *
 * and the fraction of missing information (r + 2/(degrees + 3))/(1 + r), r = (1 + 1/m) b/u: as R's
 * mice::pool has them. The k coefficients of a term are tested together by D1 of Li, Raghunathan and Rubin
 * (1991),
 *
 *   r = (1 + 1/m) trace(B U^-1)/k,   D1 = q.U^-1 q/(k (1 + r)),
 *
 * an F with k and Reiter's (2007) degrees of freedom: as mice::D1 has it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/report/estimates.h"
#include "num/special.h"

static void pool_one(tacit_coefficient *out, tacit_estimates *const *sets, size_t count, size_t at,
                     double complete, double level) {
    double m = (double)count, mean = 0, within = 0, between = 0;
    for (size_t s = 0; s < count; s++) {
        const tacit_coefficient *one = &sets[s]->coefficient[at];
        mean += one->estimate / m;
        within += one->error * one->error / m;
    }
    for (size_t s = 0; s < count; s++) between += pow(sets[s]->coefficient[at].estimate - mean, 2) / (m - 1);
    double total = within + (1 + 1 / m) * between, r = (1 + 1 / m) * between / within;
    double lambda = fmax((1 + 1 / m) * between / total, 1e-4); /* as mice has it */
    double old = (m - 1) / (lambda * lambda);
    double seen = complete * (complete + 1) / (complete + 3) * (1 - lambda);
    out->estimate = mean;
    out->within = within;
    out->between = between;
    out->error = sqrt(total);
    out->degrees = old * seen / (old + seen);
    out->lost = (r + 2 / (out->degrees + 3)) / (1 + r);
    out->statistic = mean / out->error;
    out->p = 2 * tacit_student_tail(fabs(out->statistic), out->degrees);
    double reach = out->error * tacit_student_quantile((1 - level) / 2, out->degrees);
    out->low = mean - reach;
    out->high = mean + reach;
}

/* Reiter's second degrees of freedom, of k coefficients in m sets; with few of both (k (m - 1) <= 4) those of
 * many rows. */
static double reiter_degrees(double k, double m, double r, double complete) {
    double t = k * (m - 1), a = r * t / (t - 2), seen = complete * (complete + 1) / (complete + 3);
    double c0 = 1 / (t - 4), c1 = seen - 2 * (1 + a), c2 = seen - 4 * (1 + a), b = 1 + a;
    if (!(r > 0)) return seen;
    double large =
        t > 4 ? 4 + (t - 4) * pow(1 + (1 - 2 / t) / r, 2) : t * (1 + 1 / k) * pow(1 + 1 / r, 2) / 2;
    if (!(t > 4 && c2 > 0)) return fmin(large, seen);
    double more = c1 / (b * b * c2) + 8 * c1 / (b * c2 * c2) + 4 / (b * c2) + 4 / (c2 * c1) +
                  16 * c1 / (c2 * c2 * c2) + 8 / (c2 * c2);
    return 4 + 1 / (1 / c2 + c0 * a * a * more);
}

typedef struct pooling {
    size_t n;
    double *mean, *within, *scale, *work;
    bool *deficient;
} pooling;

static double over_within(const pooling *self, const double *value) {
    double sum = 0;
    memcpy(self->work, value, self->n * sizeof *value);
    tacit_cholesky_solve(self->within, self->n, self->scale, self->work);
    for (size_t i = 0; i < self->n; i++) sum += value[i] * self->work[i];
    return sum;
}

static void test_pooled(tacit_term *out, pooling *self, tacit_estimates *const *sets, size_t count, size_t at,
                        double complete) {
    const size_t n = self->n;
    double m = (double)count, k = (double)n, spread = 0;
    for (size_t s = 0; s < count; s++) {
        const double *sample = sets[s]->term[at].sample;
        for (size_t i = 0; i < n; i++) self->mean[i] += sample[i] / m;
        for (size_t i = 0; i < n * n; i++) self->within[i] += sample[n + i] / m;
    }
    out->statistic = out->p = NAN;
    if (tacit_cholesky_factor(self->within, n, 0, self->scale, self->deficient) > 0) return;
    double *apart = self->work + n;
    for (size_t s = 0; s < count; s++) {
        for (size_t i = 0; i < n; i++) apart[i] = sets[s]->term[at].sample[i] - self->mean[i];
        spread += over_within(self, apart) / (m - 1);
    }
    double r = (1 + 1 / m) * spread / k;
    out->statistic = over_within(self, self->mean) / (k * (1 + r));
    out->p = tacit_fisher_tail(out->statistic, k, reiter_degrees(k, m, r, complete));
}

/* The term becomes that of all sets. */
static tacit_status pool_term(tacit_estimates *const *sets, size_t count, size_t at, double complete,
                              tacit_error *error) {
    tacit_term *out = &sets[0]->term[at];
    const size_t n = out->count;
    pooling self = { .n = n,
                     .mean = TACIT_NEW(double, n),
                     .within = TACIT_NEW(double, n *n),
                     .scale = TACIT_NEW(double, n),
                     .work = TACIT_NEW(double, 2 * n),
                     .deficient = TACIT_NEW(bool, n) };
    bool room = self.mean != NULL && self.within != NULL && self.scale != NULL && self.work != NULL;
    tacit_status status = room && self.deficient != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK) test_pooled(out, &self, sets, count, at, complete);
    out->inflation = NAN; /* of one set */
    free(self.mean);
    free(self.within);
    free(self.scale);
    free(self.work);
    free(self.deficient);
    return status;
}

/* Whether all sets have the same terms, with what pooling needs. */
static bool have_samples(tacit_estimates *const *sets, size_t count) {
    for (size_t s = 0; s < count; s++) {
        if (sets[s]->terms != sets[0]->terms) return false;
        for (size_t k = 0; k < sets[s]->terms; k++)
            if (sets[s]->term[k].sample == NULL || sets[s]->term[k].count != sets[0]->term[k].count)
                return false;
    }
    return true;
}

static void drop_terms(tacit_estimates *of) {
    while (of->terms > 0) {
        tacit_term *last = &of->term[--of->terms];
        free(last->name);
        free(last->sample);
    }
}

static tacit_status pool_terms(tacit_estimates *const *sets, size_t count, double complete,
                               tacit_error *error) {
    if (!have_samples(sets, count)) {
        drop_terms(sets[0]);
        return TACIT_OK;
    }
    for (size_t k = 0; k < sets[0]->terms; k++) TACIT_TRY(pool_term(sets, count, k, complete, error));
    return TACIT_OK;
}

tacit_status tacit_estimates_pool(tacit_estimates **out, tacit_estimates **sets, size_t count,
                                  tacit_error *error) {
    if (count < 2) return tacit_fail(error, TACIT_INTERNAL, "there is nothing to pool in %zu sets", count);
    tacit_estimates *pooled = sets[0];
    double complete = tacit_estimates_degrees(pooled), dispersion = 0;
    for (size_t s = 0; s < count; s++) {
        if (sets[s]->count != pooled->count)
            return tacit_fail(error, TACIT_INTERNAL, "sets of different coefficients cannot be pooled");
        dispersion += sets[s]->dispersion / (double)count;
    }
    TACIT_TRY(pool_terms(sets, count, complete, error));
    for (size_t k = 0; k < pooled->count; k++) {
        tacit_coefficient one = pooled->coefficient[k];
        pool_one(&one, sets, count, k, complete, pooled->level);
        pooled->coefficient[k] = one;
    }
    pooled->dispersion = dispersion;
    pooled->deviance = pooled->aic = NAN; /* of no single set */
    pooled->student = true;
    pooled->sets = count;
    for (size_t s = 1; s < count; s++) {
        pooled->iterations = sets[s]->iterations;
        pooled->rounds = sets[s]->rounds;
        sets[s] = tacit_estimates_free(sets[s]);
    }
    sets[0] = NULL;
    *out = pooled;
    return TACIT_OK;
}
