/*
 * Shares of noise: each party adds a share to its own numbers, only the sum is ever seen (secure summation),
 * and nobody knows the noise in it. Shares are integers on the grid of the sum, drawn exactly: a sum of
 * roundings is not the rounding of a sum, so real-valued noise cannot be shared this way.
 *
 * Of K shares, t may be missing or known to the one who looks (parties that vanished, that collude, that
 * lied). The guarantee is that of the other `shares` = K - t, whichever they are; what the rest adds is
 * independent, and adding it is post-processing. So a sum must not be opened over fewer than `shares` parties
 * plus the colluders: set its minimum accordingly (crypto/sum/graph.h).
 *
 *   law                          sensitivity of the sum   guarantee
 *   TACIT_LAW_POLYA              L1, whole number S       epsilon-DP
 *   TACIT_LAW_DISCRETE_GAUSSIAN  L2, S                    rho-zCDP, hence (epsilon, delta)-DP, delta > 0
 *
 * Sensitivities are in steps of the grid, rounding to it included. The adjacency is that of S.
 *
 * Proof notes.
 *
 * Polya. A share is the difference of two negative binomial numbers of shape 1/m and ratio exp(-1/s); m of
 * them add up to discrete Laplace noise of scale s, exactly (rand/exact_polya.c; Goryczka and Xiong 2017).
 * With s = S/epsilon that is epsilon-DP (privacy/mechanism/integer.h). Nothing is lost against a trusted
 * party that adds the noise, when t = 0.
 *
 * Discrete Gaussian. Let m shares of scale s >= 1/2 be added to each of d numbers. For every shift by whole
 * steps of L2 norm at most S and every order a >= 1 the Renyi divergence is at most
 *     (a/2) (S/(sqrt(m) s) + sqrt(d) tau)^2,    tau = 10 sum over k = 1 .. m - 1 of exp(-2 pi^2 s^2 k/(k +
 *                                               1))
 * (Kairouz, Liu and Steinke 2021, Proposition 14, its third bound): a sum of discrete Gaussians is not one,
 * and tau is the correction. So the sum is rho-zCDP with rho = (S/(sqrt(m) s) + sqrt(d) tau)^2/2. At s = 2
 * and m = 1,000, tau is below 1e-15.
 *
 * The sum is taken modulo 2^64, which is post-processing too: it is applied to the whole sum. Nothing may be
 * clipped between the share and the sum, because a sum of clipped shares is another law.
 */
#pragma once

#include "privacy/account/accountant.h"
#include "privacy/mechanism/mechanism.h"

/* Where the theorem begins, and what samplers take. */
#define TACIT_SHARE_SCALE_LEAST 0.5
#define TACIT_SHARE_SCALE_MOST 0x1p50

typedef struct tacit_shared_noise {
    tacit_law law;
    double sensitivity;
    tacit_price price; /* of all runs together; infinite epsilon: no noise, in simulations only */
    uint64_t shares;   /* K - t, 1 to 2^32 */
    size_t length;     /* numbers in a sum */
    uint64_t runs;     /* sums that the price is for, each with fresh shares */
    /* of a share, found before: by tacit_share_scale, or otherwise (dpsgd_setup.c); 0: it is found when one
     * is drawn */
    double scale;
} tacit_shared_noise;

/* The scale of every share, rounded up. Polya: that of the discrete Laplace noise that they add up to.
 * Gaussian: at least 1/2, where the theorem begins. TACIT_USAGE for what the table does not cover, a Gaussian
 * at delta 0, or a scale beyond 2^50. */
tacit_status tacit_share_scale(double *out, const tacit_shared_noise *noise, tacit_error *error);

/* The zCDP of one sum with discrete Gaussian shares of this scale, rounded up; the noise's price is not
 * looked at. Rhos of sums add. */
tacit_status tacit_share_rho(double *out, const tacit_shared_noise *noise, double scale, tacit_error *error);

/* Whether one sum with discrete Gaussian shares of this scale, for a sensitivity under replacement, is as
 * private as continuous noise of *sigma times that sensitivity, except for a probability of 1e-87 of giving
 * all away: then it is a Gaussian event marked as replaced. The noise that is counted is a part in 1e4 below
 * what there is. False where the grid is too coarse for that. */
bool tacit_share_gaussian(double *sigma, const tacit_shared_noise *noise, double scale);

/* An upper bound on the Renyi divergence of order `order` >= 1 of one sum with shares of this scale, by
 * either law. */
tacit_status tacit_share_renyi(double *out, const tacit_shared_noise *noise, double scale, double order,
                               tacit_error *error);

/*
 * `values` plus a share each, modulo 2^64, on the grid of 2^-grid_bits. To leave the party under masks only,
 * as a sealed release at the price of the sum: alone it is worth less than its grade says.
 */
tacit_status tacit_share_add(tacit_noised **out, const tacit_noise_source *source,
                             const tacit_shared_noise *noise, const int64_t *values, int grid_bits,
                             tacit_error *error);
