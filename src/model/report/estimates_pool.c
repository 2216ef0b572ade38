/*
 * Rubin's rules (1987): of m completed sets, the mean q of their estimates; the mean u of their variances; the
 * variance b between them; the total t = u + (1 + 1/m) b. With Barnard and Rubin's (1999) degrees of freedom
 *
 *   lambda = (1 + 1/m) b/t,   old = (m - 1)/lambda^2,   seen = (n - p)(n - p + 1)/(n - p + 3) (1 - lambda),
 *   degrees = old seen/(old + seen)
 *
 * and the fraction of missing information (r + 2/(degrees + 3))/(1 + r), r = (1 + 1/m) b/u: as R's
 * mice::pool has them.
 */
#include <math.h>
#include <stdlib.h>

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
    for (size_t k = 0; k < pooled->count; k++) {
        tacit_coefficient one = pooled->coefficient[k];
        pool_one(&one, sets, count, k, complete, pooled->level);
        pooled->coefficient[k] = one;
    }
    pooled->dispersion = dispersion;
    pooled->deviance = pooled->aic = NAN; /* of no single set */
    pooled->student = true;
    while (pooled->terms > 0) free(pooled->term[--pooled->terms].name); /* of one set */
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
