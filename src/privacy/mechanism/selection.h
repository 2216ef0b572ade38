/*
 * Mechanisms that choose: which of k candidates has a high score, without telling the scores.
 *
 *   rule                             one choice at epsilon: law of the index
 *   TACIT_SELECT_EXPONENTIAL         probability proportional to exp(u_i/b) (McSherry and Talwar 2007)
 *   TACIT_SELECT_PERMUTE_AND_FLIP    candidates in random order, the first that wins a coin of probability
 *                                    exp(-(max u - u_i)/b) (McKenna and Sheldon 2020)
 *   TACIT_SELECT_NOISY_MAX           the largest u_i + exponential noise of mean b
 *
 * with b = 2 Delta/epsilon, or Delta/epsilon when the scores are monotone: replacing one record (or party, as
 * the unit says) moves all scores up, or all down, each by at most Delta. Counts under replacement are not
 * monotone in general: one goes up and another down. The expected score of permute-and-flip is never below
 * the exponential mechanism's (McKenna and Sheldon 2020): it is the one to use.
 *
 * Noisy top-n chooses n times, each time among those left, at epsilon/n: b is n times larger, and the n
 * choices, in their order, cost n (epsilon/n) = epsilon by basic composition (Dwork and Roth 2014, Theorem
 * 3.16; appendix B for adaptive choices).
 *
 * Proof notes. Adjacency: that of Delta.
 *   Exponential. Each weight exp(u_i/b) changes by a factor within exp(+-Delta/b) and so does their sum,
 *   together
 *     2 Delta/b = epsilon. Monotone: weight and sum change in the same direction, so the factor is at most
 *     Delta/b.
 *   Noisy max. Fix the noise of the others. Index i is chosen when its own noise passes t = max over j of
 *   (u_j + noise_j)
 *     - u_i, and t changes by at most 2 Delta (monotone: Delta). P(noise > t) = exp(-max(0, t)/b), so it
 *       changes by a factor
 *     of at most exp(2 Delta/b) = exp(epsilon). Average over the noise of the others.
 *   Permute-and-flip has the law of noisy max with exponential noise (Ding et al. 2021): put the candidates
 *   in order by
 *     uniform times; one with q_i = exp(-(max u - u_i)/b) whose time is t is chosen if it wins its coin and
 *     each other one comes later or loses, q_i * integral over t in (0, 1) of prod over j != i of (1 - t
 *     q_j). For noisy max integrate exp(-x) prod (1 - exp(-(x + (u_i - u_j)/b))) over the noise x of i from
 *     where all factors are >= 0, x = (max u - u_i)/b; with exp(-x) = t q_i it is the same. So noisy max is
 *     computed as permute-and-flip, and no noisy score ever exists.
 *
 * Exactness. Scores are first rounded down to a public grid whose step is Delta/2^20 or finer
 * (privacy/mechanism/selection_parts.h), so that differences are whole numbers. Rounding down commutes with
 * whole steps and keeps order, so two scores within Delta of each other stay within ceil(Delta/step) steps,
 * and monotone scores stay monotone: Delta grows by less than one part in 2^20, by nothing when it is a power
 * of two, and the choice is made at the grown Delta. Scores beyond 2^61 steps, and differences beyond 2^53,
 * are cut there; both cuts keep |u_i - u_i'| <= Delta and the direction of changes (a cut of the difference
 * is u_i <- max(u_i, max u - 2^53)). b is rounded up once, from public numbers. Each coin has probability
 * exp(-difference/b) of these real numbers exactly when noise comes from entropy (rand/exact.h). The
 * exponential mechanism draws an index uniformly and keeps it if its coin wins, else draws again.
 *
 * What time tells: how many coins are thrown depends on the scores; see docs/mechanisms.md.
 */
#pragma once

#include <stdbool.h>

#include "privacy/mechanism/mechanism.h"

typedef enum tacit_selection_rule {
    TACIT_SELECT_EXPONENTIAL,
    TACIT_SELECT_PERMUTE_AND_FLIP,
    TACIT_SELECT_NOISY_MAX
} tacit_selection_rule;

typedef struct tacit_selection {
    tacit_selection_rule rule;
    size_t choices;     /* n: 1, or more for noisy top-n */
    double sensitivity; /* Delta of each score as given: its rounding included */
    bool monotone;
    /* of all choices together; delta is not used. Infinite epsilon: no noise, in simulations only */
    tacit_price price;
} tacit_selection;

/* Chosen indices, and what their noise is worth; only mechanisms make one. */
typedef struct tacit_selected tacit_selected;

/* b of the table above, in score units, rounded up. TACIT_USAGE or TACIT_INPUT for a price or sensitivity
 * that is not positive and finite, no choices, an unknown rule. */
tacit_status tacit_selection_scale(double *out, const tacit_selection *selection, tacit_error *error);

/* Choose among `count` finite scores; 1 <= choices <= count. The order of the result is the order of
 * choice. */
tacit_status tacit_selection_release(tacit_selected **out, const tacit_noise_source *source,
                                     const tacit_selection *selection, const double *scores, size_t count,
                                     tacit_error *error);
tacit_selected *tacit_selected_free(tacit_selected *selected);

/* The indices as values on a grid, to be released beside others: what the selection was worth stays with
 * them. */
tacit_status tacit_selected_noised(tacit_noised **out, const tacit_selected *selected, int grid_bits,
                                   tacit_error *error);

const size_t *tacit_selected_indices(const tacit_selected *selected);
size_t tacit_selected_count(const tacit_selected *selected);
tacit_noise tacit_selected_grade(const tacit_selected *selected); /* NONE, SIMULATED or EXACT */
