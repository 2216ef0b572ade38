/*
 * Mechanisms that add noise. One call serves a simulation and a real release; what differs is the source of
 * the noise, and the result remembers it: a tacit_noised from a seeded stream can be told from one made of
 * exact noise, and nothing but the functions here can make either. So no method can pass the one off as the
 * other at the gate of a real party.
 *
 *   law                      sensitivity   guarantee
 *   TACIT_LAW_LAPLACE        L1            epsilon-DP, scale S/epsilon
 *   TACIT_LAW_GAMMA_NORM     L2            epsilon-DP, scale S/epsilon
 *   TACIT_LAW_GAUSSIAN       L2            (epsilon, delta)-DP, delta > 0, scale AG(epsilon, delta; S)
 *
 * Laws of integers are in privacy/mechanism/integer.h. The adjacency is that of S: a sensitivity under
 * replacement of a record or a party gives the guarantee under replacement of one.
 *
 * Proof note. The first two densities are proportional to exp(-|b|/s) in their norm, so moving the center by
 * at most S changes the density anywhere by a factor of at most exp(S/s) = exp(epsilon) (Dwork et al. 2006;
 * Chaudhuri, Monteleoni and Sarwate 2011). The Gaussian is calibrated to the exact delta of its privacy loss
 * (Balle and Wang 2018, Theorem 8: delta = Phi(S/(2s) - epsilon s/S) - e^epsilon Phi(-S/(2s) - epsilon s/S)),
 * rounded up (privacy/account/gaussian.h); in d dimensions the loss is that of one, along the shift. What
 * follows, rounding to the grid and clipping to the bound, is post-processing: for a real release the sum is
 * rounded once, in exact arithmetic (rand/exact.h).
 */
#pragma once

#include "privacy/account/release.h"
#include "rand/exact.h"
#include "rand/stream.h"

/* Where noise comes from: exactly one of the two. */
typedef struct tacit_noise_source {
    tacit_entropy *entropy; /* a real release */
    tacit_stream *stream;   /* a simulation */
} tacit_noise_source;

/* TACIT_USAGE unless it is exactly one. */
tacit_status tacit_noise_source_check(const tacit_noise_source *source, tacit_error *error);

/* What its noise will be worth: TACIT_NOISE_EXACT or TACIT_NOISE_SIMULATED. */
tacit_noise tacit_noise_source_grade(const tacit_noise_source *source);

typedef struct tacit_mechanism {
    tacit_law law;
    double sensitivity; /* in the law's norm, of the values as they are given: their rounding included */
    tacit_price price;  /* infinite epsilon: no noise, in simulations only */
} tacit_mechanism;

/* The scale of the noise, rounded up. TACIT_USAGE for a sensitivity or price that is not positive and finite,
 * a law not in the table above, or a Gaussian at delta 0. */
tacit_status tacit_mechanism_scale(double *out, const tacit_mechanism *mechanism, tacit_error *error);

/* An L2 norm that noise of scale s in d dimensions passes with probability below e^-40 < 1e-17 (a Laplace
 * vector's L1 norm is Gamma(d, s), and its L2 norm is less). Where noise is inside a sum, the sum's bound
 * must hold it. */
double tacit_noise_reach(tacit_law law, size_t dimension, double scale);

/* The same of a mechanism on `count` values: what falls beyond a bound chosen with it is clipped, which is
 * post-processing. 0 for an infinite epsilon. */
tacit_status tacit_mechanism_reach(double *out, const tacit_mechanism *mechanism, size_t count,
                                   tacit_error *error);

/* The event that the ledger composes: a Gaussian of standard deviation scale/S, a Laplace of scale/S, or, for
 * every other law, the price as a pure or approximate event. All are about what S is about, a replaced row or
 * party. Noise beyond what accountants take (accountant.h) and an infinite epsilon give count 0: not
 * known. */
tacit_status tacit_mechanism_event(tacit_event *out, const tacit_mechanism *mechanism, tacit_error *error);

/* Values with noise, in steps of 2^-grid_bits. */
typedef struct tacit_noised tacit_noised;

/* Add noise to `count` finite values and round to the grid. Values beyond `bound` (with their noise) are
 * moved to it; bound * 2^grid_bits must be below 2^62. */
tacit_status tacit_mechanism_release(tacit_noised **out, const tacit_noise_source *source,
                                     const tacit_mechanism *mechanism, const double *values, size_t count,
                                     int grid_bits, double bound, tacit_error *error);

/* The same at a scale found before, or larger than need be: checked to be enough for the price (TACIT_USAGE),
 * which is quicker than finding the smallest. */
tacit_status tacit_mechanism_release_at(tacit_noised **out, const tacit_noise_source *source,
                                        const tacit_mechanism *mechanism, double scale, const double *values,
                                        size_t count, int grid_bits, double bound, tacit_error *error);
tacit_noised *tacit_noised_free(tacit_noised *noised);

/* Several in one, in their order: all on one grid (else TACIT_USAGE), as good as the worst of them. It has no
 * event, for what they cost together is the method's to say. */
tacit_status tacit_noised_join(tacit_noised **out, const tacit_noised *const *parts, size_t count,
                               tacit_error *error);

const int64_t *tacit_noised_steps(const tacit_noised *noised);
size_t tacit_noised_count(const tacit_noised *noised);
int tacit_noised_grid_bits(const tacit_noised *noised);
tacit_noise tacit_noised_grade(const tacit_noised *noised); /* NONE, SIMULATED or EXACT */

/* The event of its mechanism, if the answer costs just what the mechanism did; else one of count 0, for then
 * there is more in the answer than this noise covers. */
tacit_event tacit_noised_event(const tacit_noised *noised, const tacit_price *price);
