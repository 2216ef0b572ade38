/*
 * Randomised response: each unit answers one question with k possible answers, and the truth is told with
 * probability e^epsilon/(e^epsilon + k - 1), each other answer with probability 1/(e^epsilon + k - 1) (Warner
 * 1965; Kairouz, Oh and Viswanath 2016).
 *
 * Proof note. The probability of any answer is one of the two above, whatever the truth, and their ratio is
 * e^epsilon: so replacing the truth of one unit changes the probability of what it answers by a factor of at
 * most e^epsilon, and no other answer depends on it. The price holds for the unit that gives one answer: if a
 * record gives one answer, the unit is a record; a party that gives the answers of all its rows pays for each
 * of them.
 *
 * Exactness. An answer is drawn uniformly; the truth is kept, another is kept with probability e^-epsilon,
 * else drawn again: weights 1 and e^-epsilon, and the coin is exact when noise comes from entropy. How often
 * it is drawn depends neither on the truth nor on the answer, and the coin is thrown for the truth too, so
 * that the number of coins tells nothing; how long one coin takes depends on how it falls (docs/noise.md).
 */
#pragma once

#include "privacy/mechanism/selection.h"

typedef struct tacit_response {
    size_t answers; /* k >= 2 possible answers, numbered from 0 */
    /* of one answer; delta is not used. Infinite epsilon: the truth, in simulations only */
    tacit_price price;
} tacit_response;

/* The randomised answers of `count` units to one question each. TACIT_INPUT for a truth that is not below
 * k. */
tacit_status tacit_response_release(tacit_selected **out, const tacit_noise_source *source,
                                    const tacit_response *response, const size_t *truths, size_t count,
                                    tacit_error *error);

/* The analyst's side, on what was released: unbiased estimates of how many units hold each of the k answers
 * (they may be negative, and sum to `count`), and estimates of their standard errors. `counts` and, unless
 * NULL, `errors` have room for k numbers. TACIT_INPUT for a given answer that is not below k. */
tacit_status tacit_response_estimate(double *counts, double *errors, const tacit_response *response,
                                     const size_t *given, size_t count, tacit_error *error);
