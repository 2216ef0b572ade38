/*
 * Whether outcomes come with given probabilities, by Pearson's statistic against the 1 - 1e-9 quantile of
 * chi-square (the closed form of rand/fit.h, degrees of freedom rounded up to an even number), and whether
 * the same test rejects a wrong law. No test may fail by chance: the control demands that the wrong law lies
 * so far off, in units of the statistic's root, that missing it takes a deviation of 7 standard errors (the
 * root is a length of which one coordinate is normal about the root of `far`, with a standard deviation of at
 * most max sqrt(right/wrong) < 1.15).
 */
#pragma once

#include "check.h"

#include "rand/fit.h"

#include "privacy/mechanism/mechanism.h"

static inline double pearson(const double *seen, const double *chance, size_t cells, double draws) {
    double sum = 0;
    for (size_t j = 0; j < cells; j++) {
        double expected = draws * chance[j];
        assert_true(expected > 100);
        sum += (seen[j] - expected) * (seen[j] - expected) / expected;
    }
    return sum;
}

static inline void check_chances(const char *what, const double *seen, const double *right,
                                 const double *wrong, size_t cells, double draws) {
    const double limit = chi_square_limit(cells - 1 + (cells - 1) % 2);
    double far = 0, fits = pearson(seen, right, cells, draws);
    for (size_t j = 0; j < cells; j++) {
        far += draws * (right[j] - wrong[j]) * (right[j] - wrong[j]) / wrong[j];
        assert_true(right[j] < 1.32 * wrong[j]);
    }
    if (!(sqrt(far) > sqrt(limit) + 8.05)) fail_msg("%s: too few draws for the control: %g", what, far);
    if (!(fits < limit)) fail_msg("%s does not fit: %g, limit %g", what, fits, limit);
    if (!(pearson(seen, wrong, cells, draws) > limit)) fail_msg("%s: 10%% off went unnoticed", what);
}

/* Both sources, for tests that run on each. */
typedef struct sources {
    tacit_stream stream;
    tacit_entropy *entropy;
    tacit_noise_source each[2]; /* simulated, exact */
} sources;

static inline void sources_begin(sources *self, uint64_t seed) {
    tacit_error error = TACIT_ERROR_INIT;
    self->entropy = NULL;
    self->stream = tacit_stream_from_seed(seed);
    CHECK_OK(tacit_entropy_create(&self->entropy, &error), error);
    self->each[0] = (tacit_noise_source){ .stream = &self->stream };
    self->each[1] = (tacit_noise_source){ .entropy = self->entropy };
}

static inline void sources_end(sources *self) { self->entropy = tacit_entropy_free(self->entropy); }
